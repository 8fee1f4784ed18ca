//! Floating-point instructions that have no integer form.
//!
//! Source of each row: the instruction's own page of the
//! [manual](https://docs.nvidia.com/cuda/parallel-thread-execution/#instruction-set).

use super::{Row, form, row};

pub(super) const ROWS: &[Row] = &[
    row("fma").writes_leading(1).since(2, 0).on("20").forms(&[
        form("f64", (1, 4), "13"),
        form("f32x2", (8, 6), "100"),
        form("f16", (4, 2), "53"),
        form("f16x2", (4, 2), "53"),
        form("bf16", (7, 0), "80"),
        form("bf16x2", (7, 0), "80"),
    ]),
    row("rcp").writes_leading(1),
    row("sqrt").writes_leading(1),
    row("rsqrt").writes_leading(1),
    row("sin").writes_leading(1),
    row("cos").writes_leading(1),
    row("lg2").writes_leading(1),
    row("ex2").writes_leading(1).forms(&[
        form("f16", (7, 0), "75"),
        form("f16x2", (7, 0), "75"),
        form("bf16", (7, 8), "90"),
        form("bf16x2", (7, 8), "90"),
    ]),
    row("tanh").writes_leading(1).since(7, 0).on("75"),
    row("copysign").writes_leading(1).since(2, 0).on("20"),
    row("testp").writes_leading(1).since(2, 0).on("20"),
];
