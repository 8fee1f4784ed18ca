//! Video instructions; their forms are decoded in [`crate::video`].
//!
//! Source of each row: the instruction's own page of the
//! [manual](https://docs.nvidia.com/cuda/parallel-thread-execution/#instruction-set).

use super::{Row, row};

pub(super) const ROWS: &[Row] = &[
    row("vadd").writes_first().since(2, 0).on("20"),
    row("vsub").writes_first().since(2, 0).on("20"),
    row("vabsdiff").writes_first().since(2, 0).on("20"),
    row("vmin").writes_first().since(2, 0).on("20"),
    row("vmax").writes_first().since(2, 0).on("20"),
    row("vshl").writes_first().since(2, 0).on("20"),
    row("vshr").writes_first().since(2, 0).on("20"),
    row("vset").writes_first().since(2, 0).on("20"),
    row("vmad").writes_first().since(2, 0).on("20"),
    row("vadd2").writes_first().since(3, 0).on("30"),
    row("vsub2").writes_first().since(3, 0).on("30"),
    row("vavrg2").writes_first().since(3, 0).on("30"),
    row("vabsdiff2").writes_first().since(3, 0).on("30"),
    row("vmin2").writes_first().since(3, 0).on("30"),
    row("vmax2").writes_first().since(3, 0).on("30"),
    row("vset2").writes_first().since(3, 0).on("30"),
    row("vadd4").writes_first().since(3, 0).on("30"),
    row("vsub4").writes_first().since(3, 0).on("30"),
    row("vavrg4").writes_first().since(3, 0).on("30"),
    row("vabsdiff4").writes_first().since(3, 0).on("30"),
    row("vmin4").writes_first().since(3, 0).on("30"),
    row("vmax4").writes_first().since(3, 0).on("30"),
    row("vset4").writes_first().since(3, 0).on("30"),
];
