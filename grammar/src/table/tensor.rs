//! Matrix instructions.
//!
//! Source of each row: the instruction's own page of the
//! [manual](https://docs.nvidia.com/cuda/parallel-thread-execution/#instruction-set).

use super::{Flight, InFlight, Row, row};

pub(super) const ROWS: &[Row] = &[
    row("spcompress").writes_leading(2).since(9, 4).on("107a"),
    row("spdecompress").writes_leading(1).since(9, 4).on("107a"),
    row("wmma.load")
        .writes_leading(1)
        .since(6, 0)
        .ends_without("aligned", 6, 3)
        .on("70")
        .reads_memory()
        .convergent(),
    row("wmma.store").since(6, 0).ends_without("aligned", 6, 3).on("70").acts().convergent(),
    row("wmma.mma").writes_leading(1).since(6, 0).ends_without("aligned", 6, 3).on("70").convergent(),
    row("mma").writes_leading(1).since(6, 4).on("70").convergent(),
    row("mma.sp").writes_leading(1).since(7, 1).on("80").convergent(),
    row("ldmatrix").writes_leading(1).since(6, 5).on("75").reads_memory().convergent(),
    row("stmatrix").since(7, 8).on("90").acts().convergent(),
    row("movmatrix").writes_leading(1).since(7, 8).on("75").convergent(),
    row("wgmma.mma_async")
        .updates_first()
        .since(8, 0)
        .on("90a")
        .reads_memory()
        .acts()
        .convergent()
        .in_flight(InFlight::Begins(Flight::Product)),
    row("wgmma.mma_async.sp")
        .updates_first()
        .since(8, 2)
        .on("90a")
        .reads_memory()
        .acts()
        .convergent()
        .in_flight(InFlight::Begins(Flight::Product)),
    row("wgmma.fence")
        .since(8, 0)
        .on("90a")
        .reads_memory()
        .acts()
        .convergent()
        .in_flight(InFlight::Fences(Flight::Product)),
    row("wgmma.commit_group").since(8, 0).on("90a").reads_memory().acts().convergent(),
    row("wgmma.wait_group")
        .since(8, 0)
        .on("90a")
        .reads_memory()
        .acts()
        .convergent()
        .in_flight(InFlight::Waits(Flight::Product)),
    row("tcgen05.alloc")
        .since(8, 6)
        .on("100a 100f 103a 103f 107a 107f 110a 110f")
        .reads_memory()
        .acts()
        .convergent(),
    row("tcgen05.dealloc")
        .since(8, 6)
        .on("100a 100f 103a 103f 107a 107f 110a 110f")
        .reads_memory()
        .acts()
        .convergent(),
    row("tcgen05.relinquish_alloc_permit")
        .since(8, 6)
        .on("100a 100f 103a 103f 107a 107f 110a 110f")
        .reads_memory()
        .acts()
        .convergent(),
    row("tcgen05.ld")
        .writes_leading(1)
        .since(8, 6)
        .on("100a 100f 103a 103f 107a 107f 110a 110f")
        .reads_memory()
        .acts()
        .convergent()
        .in_flight(InFlight::Begins(Flight::TensorLoad)),
    row("tcgen05.ld.red")
        .writes_leading(2)
        .since(8, 8)
        .on("103a 103f 107a 107f 110a 110f")
        .reads_memory()
        .acts()
        .convergent()
        .in_flight(InFlight::Begins(Flight::TensorLoad)),
    row("tcgen05.ld.spcompress")
        .writes_leading(2)
        .since(9, 4)
        .on("107a")
        .reads_memory()
        .acts()
        .convergent()
        .in_flight(InFlight::Begins(Flight::TensorLoad)),
    row("tcgen05.ld.red.spcompress")
        .writes_leading(3)
        .since(9, 4)
        .on("107a")
        .reads_memory()
        .acts()
        .convergent()
        .in_flight(InFlight::Begins(Flight::TensorLoad)),
    row("tcgen05.st")
        .since(8, 6)
        .on("100a 100f 103a 103f 107a 107f 110a 110f")
        .reads_memory()
        .acts()
        .convergent()
        .in_flight(InFlight::Begins(Flight::TensorStore)),
    row("tcgen05.wait::ld")
        .since(8, 6)
        .on("100a 100f 103a 103f 107a 107f 110a 110f")
        .reads_memory()
        .acts()
        .convergent()
        .in_flight(InFlight::Waits(Flight::TensorLoad)),
    row("tcgen05.wait::st")
        .since(8, 6)
        .on("100a 100f 103a 103f 107a 107f 110a 110f")
        .reads_memory()
        .acts()
        .convergent()
        .in_flight(InFlight::Waits(Flight::TensorStore)),
    row("tcgen05.cp").since(8, 6).on("100a 100f 103a 103f 107a 107f 110a 110f").reads_memory().acts(),
    row("tcgen05.shift").since(8, 6).on("100a 103a 107a 110a").reads_memory().acts(),
    row("tcgen05.mma").since(8, 6).on("100a 100f 103a 103f 107a 107f 110a 110f").reads_memory().acts(),
    row("tcgen05.mma.sp").since(8, 6).on("100a 100f 103a 103f 107a 107f 110a 110f").reads_memory().acts(),
    row("tcgen05.mma.ws").since(8, 6).on("100a 100f 103a 103f 107a 107f 110a 110f").reads_memory().acts(),
    row("tcgen05.mma.ws.sp").since(8, 6).on("100a 100f 103a 103f 107a 107f 110a 110f").reads_memory().acts(),
    row("tcgen05.fence").since(8, 6).on("100a 100f 103a 103f 107a 107f 110a 110f").reads_memory().acts(),
    row("tcgen05.commit").since(8, 6).on("100a 100f 103a 103f 107a 107f 110a 110f").reads_memory().acts(),
];
