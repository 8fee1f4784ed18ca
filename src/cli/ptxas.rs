//! `ptxopt ptxas`: stands for NVIDIA's assembler in a build.

use clap::{Arg, ArgAction, ColorChoice, value_parser};
use std::ffi::OsString;
use std::process::ExitCode;

/// Stand for NVIDIA's assembler in a build: optimise what it is given, then run it
///
/// The arguments are those of `ptxas`; `ptxopt-ptxas`, and a link to it named `ptxas`, take them without `ptxopt ptxas
/// --`. The exit status, the messages and the output are those of the real assembler. Inputs are optimised for its
/// `--gpu-name`. Where that changed something, it is assembled before and after with the same options, and functions
/// that got longer or spill more go back to what they were; an unchanged input is assembled once. An input that cannot
/// be optimised is assembled as it is, and a line on standard error says why, as where no `--gpu-name` is given. With
/// `-g`, nothing is optimised.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP, override_usage = USAGE, args = without_meaning())]
pub(super) struct Args {
    /// Arguments for `ptxas`
    #[arg(last = true, value_name = "ARGUMENT")]
    arguments: Vec<OsString>,
}

/// Generated, it would have options, and the two dashes as if they could be left out.
const USAGE: &str = "ptxopt ptxas -- [ARGUMENT]...";

const AFTER_HELP: &str = "\
Environment variables:
  PTXOPT_PTXAS        NVIDIA's assembler, a path or a name in `PATH`; the default is the first
                      `ptxas` in `PATH` that is not ptxopt, then that of `CUDA_HOME` and `CUDA_PATH`
  PTXOPT_DISABLE=1    run the assembler and do nothing else
  PTXOPT_KEEP=always  keep what changed without measuring it; the default is `better`
  PTXOPT_LOG=FILE     append a line about each run that assembles: what came of it, or why
                      nothing was optimised
  PTXOPT_REMARKS=DIR  write remarks on each input there, as JSON
  PTXOPT_SECONDS=N    assemble an input as it is if optimising it takes longer than 60 s, or N
  PTXOPT_MEMORY=N     the same if it takes more than 8192 MiB, or N

Exit status: that of the assembler, or 127 if there is none";

/// The options of all commands. All that is printed here is the assembler's, so they have no effect and are not shown;
/// shells still complete them, with the help. By their names they take the place of those that `ptxopt` reads.
fn without_meaning() -> [Arg; 2] {
    let verbose = Arg::new("verbose").short('v').long("verbose").action(ArgAction::Count);
    let color = Arg::new("color").long("color").value_parser(value_parser!(ColorChoice));
    [verbose, color].map(|option| option.global(true).hide(true).help("No effect"))
}

pub(super) fn run(args: &Args) -> ExitCode {
    crate::front::run(&args.arguments)
}
