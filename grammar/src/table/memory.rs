//! Loads, stores, atomics, textures, surfaces, addresses.
//!
//! Source of each row: the instruction's own page of the
//! [manual](https://docs.nvidia.com/cuda/parallel-thread-execution/#instruction-set).

use super::{Row, form, row};

pub(super) const ROWS: &[Row] = &[
    row("cvta").takes(&["u32/u64: =0 0"]).writes_leading(1).since(2, 0).on("20").forms(&[form(
        "param",
        (7, 7),
        "70",
    )]),
    row("isspacep").takes(&[": =p *"]).writes_leading(1).since(2, 0).on("20").forms(&[form(
        "param",
        (7, 7),
        "70",
    )]),
    row("mapa").writes_leading(1).since(7, 8).on("90"),
    row("getctarank").writes_leading(1).since(7, 8).on("90"),
    row("istypep").writes_leading(1).since(4, 0).on("30"),
    row("createpolicy").writes_leading(1).since(7, 4).on("80"),
    row("ld").takes(&["b8/u8/s8/BITS/INT/FLT/b128: =v0 @ *?"]).writes_leading(1).reads_memory().forms(&[
        form("v8", (8, 8), "100"),
        form("v4 b64", (8, 8), "100"),
        form("nc", (3, 1), "32"),
        form("L2::cache_hint", (7, 4), "80"),
        form("relaxed", (6, 0), "70"),
        form("acquire", (6, 0), "70"),
    ]),
    row("ldu")
        .takes(&["b8/u8/s8/BITS/INT/FLT/b128: =v0 @"])
        .writes_leading(1)
        .since(2, 0)
        .on("20")
        .reads_memory(),
    row("st").takes(&["b8/u8/s8/BITS/INT/FLT/b128: @ v0 *?"]).acts(),
    row("prefetch").since(2, 0).on("20").acts(),
    row("prefetchu").since(2, 0).on("20").acts(),
    row("applypriority").since(7, 4).on("80").acts(),
    row("discard").since(7, 4).on("80").acts(),
    row("atom").writes_leading(1).since(1, 1).on("11").reads_memory().acts(),
    row("red").since(1, 2).on("11").reads_memory().acts(),
    row("tex").writes_leading(1).reads_memory(),
    row("tld4").writes_leading(1).since(2, 2).on("20").reads_memory(),
    row("txq").writes_leading(1).since(1, 5).reads_memory(),
    row("suld").writes_leading(1).since(1, 5).on("20").reads_memory(),
    row("sust").since(1, 5).on("20").acts(),
    row("sured").since(2, 0).on("20").reads_memory().acts(),
    row("suq").writes_leading(1).since(1, 5).reads_memory(),
];
