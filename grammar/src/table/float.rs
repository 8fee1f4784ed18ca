//! Floating-point instructions that have no integer form.
//!
//! Source of each row: the instruction's own page of the
//! [manual](https://docs.nvidia.com/cuda/parallel-thread-execution/#instruction-set).

use super::{Row, form, row};

pub(super) const ROWS: &[Row] = &[
    row("fma")
        .takes(&["FLT/HALF/f32x2: =0 0 0 0", "ANY ANY ..: *.."])
        .writes_leading(1)
        .since(2, 0)
        .on("20")
        .forms(&[
            form("f64", (1, 4), "13"),
            form("f32x2", (8, 6), "100"),
            form("f16", (4, 2), "53"),
            form("f16x2", (4, 2), "53"),
            form("bf16", (7, 0), "80"),
            form("bf16x2", (7, 0), "80"),
        ]),
    row("rcp").takes(&["FLT: =0 0"]).writes_leading(1),
    row("sqrt").takes(&["FLT: =0 0"]).writes_leading(1),
    row("rsqrt").takes(&["FLT: =0 0"]).writes_leading(1),
    row("sin").takes(&["f32: =0 0"]).writes_leading(1),
    row("cos").takes(&["f32: =0 0"]).writes_leading(1),
    row("lg2").takes(&["f32: =0 0"]).writes_leading(1),
    row("ex2").takes(&["f32/HALF: =0 0"]).writes_leading(1).forms(&[
        form("f16", (7, 0), "75"),
        form("f16x2", (7, 0), "75"),
        form("bf16", (7, 8), "90"),
        form("bf16x2", (7, 8), "90"),
    ]),
    row("tanh").takes(&["f32/HALF: =0 0"]).writes_leading(1).since(7, 0).on("75"),
    row("copysign").takes(&["FLT: =0 0 0"]).writes_leading(1).since(2, 0).on("20"),
    row("testp").takes(&["FLT: =p 0"]).writes_leading(1).since(2, 0).on("20"),
];
