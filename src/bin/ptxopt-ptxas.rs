//! The command `ptxopt-ptxas`, which stands for NVIDIA's assembler in a build: `ptxopt ptxas` under a name of its own.

use std::process::ExitCode;

fn main() -> ExitCode {
    ptxopt::cli::ptxas()
}
