//! Control flow, barriers, votes, shuffles and what belongs to a thread as a whole.
//!
//! Source of each row: the instruction's own page of the
//! [manual](https://docs.nvidia.com/cuda/parallel-thread-execution/#instruction-set).

use super::{Control, Row, form, row};

pub(super) const ROWS: &[Row] = &[
    row("bra").takes(&[": *"]).control(Control::Branch),
    row("brx.idx").since(6, 0).on("30").control(Control::IndirectBranch),
    row("call").writes_results().reads_memory().acts().control(Control::Call).convergent(),
    row("ret").takes(&[":"]).control(Control::Return),
    row("exit").takes(&[":"]).control(Control::Exit),
    row("trap").takes(&[":"]).acts().control(Control::Trap),
    row("brkpt").takes(&[":"]).acts(),
    row("bar").reads_memory().acts().convergent(),
    row("bar.red").writes_leading(1).since(2, 0).on("20").reads_memory().acts().convergent(),
    row("bar.warp.sync").since(6, 0).on("30").reads_memory().acts().convergent(),
    row("barrier").since(6, 0).on("30").reads_memory().acts().convergent(),
    row("barrier.red").writes_leading(1).since(6, 0).on("30").reads_memory().acts().convergent(),
    row("barrier.cluster").since(7, 8).on("90").reads_memory().acts().convergent(),
    row("membar").since(1, 4).acts(),
    row("fence").since(6, 0).on("70").acts(),
    row("vote")
        .takes(&["pred: =p p", "b32: =0 p"])
        .writes_leading(1)
        .since(1, 2)
        .on("12..62")
        .convergent()
        .forms(&[form("ballot", (2, 0), "20..62")]),
    row("vote.sync")
        .takes(&["pred: =p p u32", "b32: =0 p u32"])
        .writes_leading(1)
        .since(6, 0)
        .on("30")
        .convergent(),
    row("match.sync").writes_leading(1).since(6, 0).on("70").convergent(),
    row("activemask").takes(&["b32: =0"]).writes_leading(1).since(6, 2).on("30").convergent(),
    row("redux.sync")
        .takes(&["u32/s32/b32/f32: =0 0 u32"])
        .writes_leading(1)
        .since(7, 0)
        .on("80")
        .convergent()
        .forms(&[form("f32", (8, 6), "100a 100f 103a 103f 107a 107f")]),
    row("shfl").takes(&["b32: =0|p 0 0 0"]).writes_leading(1).since(3, 0).on("30..62").convergent(),
    row("shfl.sync").takes(&["b32: =0|p 0 0 0 u32"]).writes_leading(1).since(6, 0).on("30").convergent(),
    row("elect.sync").writes_leading(1).since(8, 0).on("90").convergent(),
    row("griddepcontrol").since(7, 8).on("90").acts(),
    row("alloca").writes_leading(1).since(7, 3).on("52").acts(),
    row("stacksave").writes_leading(1).since(7, 3).on("52").acts(),
    row("stackrestore").since(7, 3).on("52").acts(),
    row("nanosleep").takes(&["u32: 0"]).since(6, 2).on("70").acts(),
    row("pmevent").since(1, 4).acts(),
    row("setmaxnreg")
        .since(8, 0)
        .on("90a 100a 100f 103a 103f 107a 107f 110a 110f 120a 120f 121a 121f")
        .acts()
        .convergent(),
];
