//! Kernels, as they are committed: whoever builds this package does not need ptxopt.

/// `kernels/blend.ptx`, optimised for sm_86.
pub const BLEND: &str = include_str!("../optimised/blend.ptx");
