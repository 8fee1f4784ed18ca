//! `ptxopt completions`: a script that completes the options in a shell.

use super::{Cli, Console, Failure};
use crate::output::to_stdout;
use clap::CommandFactory;
use clap_complete::Shell;

/// Print a script that completes the options in a shell
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Shell to print the script for
    shell: Shell,
}

pub(super) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    // The generator panics where it cannot write, so it writes to memory.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "ptxopt", &mut script);
    to_stdout(|out| out.write_all(&script)).map_err(|error| Failure::writing(console, "<stdout>", &error))
}
