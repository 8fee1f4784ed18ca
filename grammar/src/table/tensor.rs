//! Matrix instructions.
//!
//! Source of each row: the instruction's own page of the
//! [manual](https://docs.nvidia.com/cuda/parallel-thread-execution/#instruction-set).

use super::{Row, row};

pub(super) const ROWS: &[Row] = &[
    row("spcompress").writes_two().since(9, 4).on("107a"),
    row("spdecompress").writes_first().since(9, 4).on("107a"),
    row("wmma.load").writes_first().since(6, 0).on("70").reads_memory().convergent(),
    row("wmma.store").since(6, 0).on("70").acts().convergent(),
    row("wmma.mma").writes_first().since(6, 0).on("70").convergent(),
    row("mma").writes_first().since(6, 4).on("70").convergent(),
    row("mma.sp").writes_first().since(7, 1).on("80").convergent(),
    row("ldmatrix").writes_first().since(6, 5).on("75").reads_memory().convergent(),
    row("stmatrix").since(7, 8).on("90").acts().convergent(),
    row("movmatrix").writes_first().since(7, 8).on("75").convergent(),
    row("wgmma.mma_async").updates_first().since(8, 0).on("90a").reads_memory().acts().convergent(),
    row("wgmma.mma_async.sp").updates_first().since(8, 2).on("90a").reads_memory().acts().convergent(),
    row("wgmma.fence").since(8, 0).on("90a").reads_memory().acts().convergent(),
    row("wgmma.commit_group").since(8, 0).on("90a").reads_memory().acts().convergent(),
    row("wgmma.wait_group").since(8, 0).on("90a").reads_memory().acts().convergent(),
    row("tcgen05.alloc").since(8, 6).on("100a 100f").reads_memory().acts().convergent(),
    row("tcgen05.dealloc").since(8, 6).on("100a 100f").reads_memory().acts().convergent(),
    row("tcgen05.relinquish_alloc_permit").since(8, 6).on("100a 100f").reads_memory().acts().convergent(),
    row("tcgen05.ld").writes_first().since(8, 6).on("100a 100f").reads_memory().acts().convergent(),
    row("tcgen05.ld.red").writes_two().since(8, 8).on("100a 100f").reads_memory().acts().convergent(),
    row("tcgen05.st").since(8, 6).on("100a 100f").reads_memory().acts().convergent(),
    row("tcgen05.wait").since(8, 6).on("100a 100f").reads_memory().acts().convergent(),
    row("tcgen05.cp").since(8, 6).on("100a 100f").reads_memory().acts(),
    row("tcgen05.shift").since(8, 6).on("100a 100f").reads_memory().acts(),
    row("tcgen05.mma").since(8, 6).on("100a 100f").reads_memory().acts(),
    row("tcgen05.mma.sp").since(8, 6).on("100a 100f").reads_memory().acts(),
    row("tcgen05.mma.ws").since(8, 6).on("100a 100f").reads_memory().acts(),
    row("tcgen05.mma.ws.sp").since(8, 6).on("100a 100f").reads_memory().acts(),
    row("tcgen05.fence").since(8, 6).on("100a 100f").reads_memory().acts(),
    row("tcgen05.commit").since(8, 6).on("100a 100f").reads_memory().acts(),
];
