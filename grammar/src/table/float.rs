//! Floating-point instructions that have no integer form.
//!
//! Source of each row: the instruction's own page of the
//! [manual](https://docs.nvidia.com/cuda/parallel-thread-execution/#instruction-set).

use super::{Row, row};

pub(super) const ROWS: &[Row] = &[
    row("fma").writes_first().since(1, 4).on("13"),
    row("rcp").writes_first(),
    row("sqrt").writes_first(),
    row("rsqrt").writes_first(),
    row("sin").writes_first(),
    row("cos").writes_first(),
    row("lg2").writes_first(),
    row("ex2").writes_first(),
    row("tanh").writes_first().since(7, 0).on("75"),
    row("copysign").writes_first().since(2, 0).on("20"),
    row("testp").writes_first().since(2, 0).on("20"),
];
