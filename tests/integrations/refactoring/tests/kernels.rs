//! Whether the kernels are what they were: `ptxopt` must be in `PATH`, or `PTXOPT` must name it.
//!
//! - `kernels/` is what people edit,
//! - `optimised/` is what the package ships, made of it by `ptxopt kernels/blend.ptx --gpu sm_86 -o optimised/blend.ptx`,
//! - `reference/` is how the kernels were when somebody last checked that they are right.

use std::process::Command;

/// Runs ptxopt; what it prints, and its exit status.
fn ptxopt(arguments: &[&str]) -> (String, Option<i32>) {
    let program = std::env::var_os("PTXOPT").unwrap_or_else(|| "ptxopt".into());
    let output = Command::new(program).args(arguments).output().expect("ptxopt is installed");
    let printed = [&output.stdout[..], &output.stderr].map(String::from_utf8_lossy).concat();
    (printed, output.status.code())
}

#[test]
fn the_kernel_computes_what_the_reference_does() {
    let (answer, status) = ptxopt(&["prove", "reference/blend.ptx", "kernels/blend.ptx"]);
    assert_eq!(status, Some(0), "{answer}");
}

#[test]
fn what_is_shipped_is_what_ptxopt_makes_of_the_kernel() {
    let (diff, status) =
        ptxopt(&["kernels/blend.ptx", "--gpu", "sm_86", "--check-output", "optimised/blend.ptx"]);
    assert_eq!(status, Some(0), "{diff}");
}

#[test]
fn what_ptxopt_says_of_the_kernel_was_reviewed() {
    let (remarks, _) =
        ptxopt(&["kernels/blend.ptx", "--gpu", "sm_86", "-o", "/dev/null", "--remarks", "text"]);
    insta::assert_snapshot!(remarks);
}
