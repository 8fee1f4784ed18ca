//! Optimises the kernels of this package.

fn main() {
    ptxopt::build::Ptx::new().file("kernels/blend.ptx").gpu("sm_86").compile();
}
