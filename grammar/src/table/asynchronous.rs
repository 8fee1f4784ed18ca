//! Asynchronous copies, barriers in memory, multicast and cluster launch control.
//!
//! Source of each row: the instruction's own page of the
//! [manual](https://docs.nvidia.com/cuda/parallel-thread-execution/#instruction-set).

use super::{Row, row};

pub(super) const ROWS: &[Row] = &[
    row("st.async").since(8, 1).on("90").acts(),
    row("st.bulk").since(8, 6).on("100").acts(),
    row("multimem.ld_reduce").writes_leading(1).since(8, 1).on("90").reads_memory().acts(),
    row("multimem.st").since(8, 1).on("90").acts(),
    row("multimem.red").since(8, 1).on("90").acts(),
    row("multimem.st.async").since(9, 3).on("100").acts(),
    row("multimem.red.async").since(9, 3).on("100").acts(),
    row("multimem.cp.async.bulk").since(9, 1).on("90").reads_memory().acts(),
    row("multimem.cp.reduce.async.bulk").since(9, 1).on("90").reads_memory().acts(),
    row("red.async").since(8, 1).on("90").reads_memory().acts(),
    row("cp.async").since(7, 0).on("80").reads_memory().acts(),
    row("cp.async.commit_group").since(7, 0).on("80").reads_memory().acts(),
    row("cp.async.wait_group").since(7, 0).on("80").reads_memory().acts(),
    row("cp.async.wait_all").since(7, 0).on("80").reads_memory().acts(),
    row("cp.async.bulk").since(8, 0).on("90").reads_memory().acts(),
    row("cp.reduce.async.bulk").since(8, 0).on("90").reads_memory().acts(),
    row("cp.async.bulk.prefetch").since(8, 0).on("90").reads_memory().acts(),
    row("cp.async.bulk.tensor").since(8, 0).on("90").reads_memory().acts(),
    row("cp.reduce.async.bulk.tensor").since(8, 0).on("90").reads_memory().acts(),
    row("cp.async.bulk.prefetch.tensor").since(8, 0).on("90").reads_memory().acts(),
    row("cp.async.bulk.commit_group").since(8, 0).on("90").reads_memory().acts(),
    row("cp.async.bulk.wait_group").since(8, 0).on("90").reads_memory().acts(),
    row("cp.async.mbarrier.arrive").since(7, 0).on("80").reads_memory().acts(),
    row("tensormap.replace")
        .since(8, 3)
        .on("90a 100a 100f 103a 103f 107a 107f 110a 110f 120a 120f 121a 121f")
        .acts(),
    row("tensormap.query")
        .writes_leading(1)
        .since(9, 5)
        .on("90a 100a 100f 103a 103f 107a 107f 110a 110f 120a 120f 121a 121f")
        .reads_memory(),
    row("tensormap.cp_fenceproxy").since(8, 3).on("90").reads_memory().acts().convergent(),
    row("fabric.try_get").since(9, 3).on("100").reads_memory().acts(),
    row("fabric.try_put").since(9, 3).on("100").reads_memory().acts(),
    row("fabric.try_red").since(9, 3).on("100").reads_memory().acts(),
    row("fabric.try_pullred").since(9, 3).on("100").reads_memory().acts().convergent(),
    row("fabric.submit").since(9, 3).on("100").reads_memory().acts(),
    row("fabric.submit.commit_group").since(9, 5).on("100").reads_memory().acts(),
    row("fabric.try_atom").since(9, 4).on("100").reads_memory().acts(),
    row("fabric.wait").since(9, 3).on("100").reads_memory().acts(),
    row("mbarrier.init").since(7, 0).on("80").reads_memory().acts(),
    row("mbarrier.inval").since(7, 0).on("80").reads_memory().acts(),
    row("mbarrier.expect_tx").since(8, 0).on("90").reads_memory().acts(),
    row("mbarrier.complete_tx").since(8, 0).on("90").reads_memory().acts(),
    row("mbarrier.arrive").writes_leading(1).since(7, 0).on("80").reads_memory().acts(),
    row("mbarrier.arrive_drop").writes_leading(1).since(7, 0).on("80").reads_memory().acts(),
    row("mbarrier.test_wait").writes_report().since(7, 0).on("80").reads_memory().acts(),
    row("mbarrier.try_wait").writes_report().since(7, 8).on("90").reads_memory().acts(),
    row("mbarrier.pending_count").writes_leading(1).since(7, 0).on("80"),
    row("mbarrier.check_layout").writes_leading(1).since(9, 3).on("90").reads_memory().acts(),
    row("clusterlaunchcontrol.try_cancel").since(8, 6).on("100").acts(),
    row("clusterlaunchcontrol.query_cancel").writes_leading(1).since(8, 6).on("100"),
];
