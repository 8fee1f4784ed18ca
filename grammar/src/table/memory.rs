//! Loads, stores, atomics, textures, surfaces, addresses.
//!
//! Source of each row: the instruction's own page of the
//! [manual](https://docs.nvidia.com/cuda/parallel-thread-execution/#instruction-set).

use super::{Row, row};

pub(super) const ROWS: &[Row] = &[
    row("cvta").writes_first().since(2, 0).on("20"),
    row("isspacep").writes_first().since(2, 0).on("20"),
    row("mapa").writes_first().since(7, 8).on("90"),
    row("getctarank").writes_first().since(7, 8).on("90"),
    row("istypep").writes_first().since(4, 0).on("30"),
    row("createpolicy").writes_first().since(7, 4).on("80"),
    row("ld").writes_first().reads_memory(),
    row("ldu").writes_first().since(2, 0).on("20").reads_memory(),
    row("st").acts(),
    row("prefetch").since(2, 0).on("20").acts(),
    row("prefetchu").since(2, 0).on("20").acts(),
    row("applypriority").since(7, 4).on("80").acts(),
    row("discard").since(7, 4).on("80").acts(),
    row("atom").writes_first().since(1, 1).on("11").reads_memory().acts(),
    row("red").since(1, 2).on("11").reads_memory().acts(),
    row("tex").writes_first().reads_memory(),
    row("tld4").writes_first().since(2, 2).on("20").reads_memory(),
    row("txq").writes_first().since(1, 5).reads_memory(),
    row("suld").writes_first().since(1, 5).on("20").reads_memory(),
    row("sust").since(1, 5).on("20").acts(),
    row("sured").since(2, 0).on("20").reads_memory().acts(),
    row("suq").writes_first().since(1, 5).reads_memory(),
];
