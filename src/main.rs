//! The command `ptxopt`. All of its code is in the library, so that tests can use it.

use std::process::ExitCode;

fn main() -> ExitCode {
    ptxopt::cli::main()
}
