//! Control flow, barriers, votes, shuffles and what belongs to a thread as a whole.
//!
//! Source of each row: the instruction's own page of the
//! [manual](https://docs.nvidia.com/cuda/parallel-thread-execution/#instruction-set).

use super::{Control, Row, form, row};

pub(super) const ROWS: &[Row] = &[
    row("bra").control(Control::Branch),
    row("brx.idx").since(6, 0).on("30").control(Control::IndirectBranch),
    row("call").writes_results().reads_memory().acts().control(Control::Call).convergent(),
    row("ret").control(Control::Return),
    row("exit").control(Control::Exit),
    row("trap").acts().control(Control::Trap),
    row("brkpt").acts(),
    row("bar").reads_memory().acts().convergent(),
    row("bar.red").writes_leading(1).since(2, 0).on("20").reads_memory().acts().convergent(),
    row("bar.warp.sync").since(6, 0).on("30").reads_memory().acts().convergent(),
    row("barrier").since(6, 0).on("30").reads_memory().acts().convergent(),
    row("barrier.red").writes_leading(1).since(6, 0).on("30").reads_memory().acts().convergent(),
    row("barrier.cluster").since(7, 8).on("90").reads_memory().acts().convergent(),
    row("membar").since(1, 4).acts(),
    row("fence").since(6, 0).on("70").acts(),
    row("vote").writes_leading(1).since(1, 2).on("12..62").convergent().forms(&[form(
        "ballot",
        (2, 0),
        "20..62",
    )]),
    row("vote.sync").writes_leading(1).since(6, 0).on("30").convergent(),
    row("match.sync").writes_leading(1).since(6, 0).on("70").convergent(),
    row("activemask").writes_leading(1).since(6, 2).on("30").convergent(),
    row("redux.sync").writes_leading(1).since(7, 0).on("80").convergent().forms(&[form(
        "f32",
        (8, 6),
        "100a 100f 103a 103f 107a 107f",
    )]),
    row("shfl").writes_leading(1).since(3, 0).on("30..62").convergent(),
    row("shfl.sync").writes_leading(1).since(6, 0).on("30").convergent(),
    row("elect.sync").writes_leading(1).since(8, 0).on("90").convergent(),
    row("griddepcontrol").since(7, 8).on("90").acts(),
    row("alloca").writes_leading(1).since(7, 3).on("52").acts(),
    row("stacksave").writes_leading(1).since(7, 3).on("52").acts(),
    row("stackrestore").since(7, 3).on("52").acts(),
    row("nanosleep").since(6, 2).on("70").acts(),
    row("pmevent").since(1, 4).acts(),
    row("setmaxnreg")
        .since(8, 0)
        .on("90a 100a 100f 103a 103f 107a 107f 110a 110f 120a 120f 121a 121f")
        .acts()
        .convergent(),
];
