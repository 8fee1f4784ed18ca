//! The options of the main command, and their translation to the options of the optimiser.

use crate::cli::{SEMANTICS_HELP, semantics};
use crate::remarks::Format;
use clap::ValueEnum;
use ptxopt_grammar::meaning::disputed::Semantics;
use ptxopt_passes::Selection;
use ptxopt_passes::cost::Gpu;
use ptxopt_passes::optimiser::{Options, Raise};
use ptxopt_passes::verify::Check;
use std::num::NonZeroUsize;
use std::path::PathBuf;

const GROUP: &str = "optimise";
const CHOICES: &str = "choices";
const SHOWS: &str = "shows";

/// The groups that hold all arguments of the main command. None of these arguments has a default in clap, so an
/// argument is present only if the user wrote it.
pub(in crate::cli) const GROUPS: [&str; 3] = [GROUP, CHOICES, SHOWS];

#[derive(Debug, clap::Args)]
#[group(id = GROUP)]
pub(in crate::cli) struct Args {
    /// PTX files to read; `-` is standard input
    #[arg(required = true, value_name = "INPUT")]
    pub(super) inputs: Vec<PathBuf>,

    /// Output file, or a directory for files named like the inputs; the default, `-`, is standard output
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,

    /// Output directory, created if missing; files are named like the inputs
    #[arg(long, value_name = "DIR", conflicts_with = "output")]
    pub(super) out_dir: Option<PathBuf>,

    /// Write nothing, and compare: if FILE is not what would be written, print a diff and exit with status 1
    #[arg(long, value_name = "FILE", conflicts_with_all = ["output", "out_dir", "diff"])]
    pub(super) check_output: Option<PathBuf>,

    /// How many files, or functions of one, to work on at the same time; the default is one per core
    #[arg(short, long, value_name = "N", value_parser = at_least_one)]
    pub(super) jobs: Option<NonZeroUsize>,

    #[command(flatten)]
    pub(super) choices: Choices,

    #[command(flatten)]
    pub(super) shows: Shows,
}

/// What to do.
#[derive(Debug, clap::Args)]
#[group(id = CHOICES)]
#[command(next_help_heading = "What to do")]
pub(super) struct Choices {
    /// GPU to optimise for, such as `sm_90`, `90` or `sm_90a`; the default is the module's `.target`. For several,
    /// separated by commas, nothing is written that is worse on any of them
    #[arg(long, value_name = "GPU", value_parser = gpu, value_delimiter = ',')]
    gpu: Vec<Gpu>,

    /// Raise the head of a module where new instructions need it, and only as far as they need. Such a module no longer
    /// runs on older GPUs, or is no longer accepted by older assemblers
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    raise: Vec<Head>,

    /// Passes to run, separated by commas; the default is all passes, an empty list runs none
    #[arg(long, value_name = "LIST", value_parser = ptxopt_passes::select)]
    passes: Option<Selection>,

    /// How each rewrite is checked; the default is `proved`. At either level, every changed function is also replayed:
    /// run before and after on the same inputs
    #[arg(long, value_name = "LEVEL")]
    check: Option<CheckLevel>,

    #[arg(long, value_name = "POLICY", help = SEMANTICS_HELP, value_parser = semantics())]
    video_semantics: Option<Semantics>,

    /// Which statements with unused results to delete; the default is `freed`
    #[arg(long, value_name = "SCOPE")]
    dce: Option<DeadCode>,

    /// Leave a function unchanged if NVIDIA's assembler counts more spills after its rewrites, or more instructions with
    /// loops as they are written
    #[arg(long)]
    pub(super) keep_better: bool,

    /// Leave a function unchanged; what follows an equals sign is the reason, for remarks
    #[arg(long, value_name = "FUNCTION[=WHY]")]
    leave: Vec<String>,

    /// Reject unknown instructions, modifiers and directives instead of warning about them
    #[arg(long)]
    pub(super) strict: bool,

    /// Make at most N rewrites in each input; a faulty rewrite can be found by bisecting N
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
}

/// What to show of it.
#[derive(Debug, clap::Args)]
#[group(id = SHOWS)]
#[command(next_help_heading = "What to show")]
pub(super) struct Shows {
    /// Print a diff of what changed on standard output, or on standard error if the result goes to standard output
    #[arg(long)]
    pub(super) diff: bool,

    /// Print every rewrite, and why other video instructions were left unchanged, on standard error
    #[arg(long, value_name = "FORMAT")]
    pub(super) remarks: Option<Format>,

    /// Write the remarks to a file instead
    #[arg(long, value_name = "FILE", requires = "remarks")]
    pub(super) remarks_output: Option<PathBuf>,

    /// Write a page that shows what changed: lines side by side, rules, proofs, savings, the dataflow around each change.
    /// It is one HTML file for any browser, without scripts, and needs nothing else
    #[arg(long, value_name = "FILE")]
    pub(super) report: Option<PathBuf>,

    /// Print the module on standard error after each round of passes that changed it
    #[arg(long)]
    pub(super) print_after: bool,

    /// Print how long each phase took and, in remarks, how long each decision took
    #[arg(long)]
    pub(super) time: bool,

    /// Assemble before and after, and print the instructions, registers and spills of each function on standard error
    #[arg(long)]
    pub(super) measure: bool,

    /// NVIDIA's assembler for `--measure` and `--keep-better`, a path or a name in `PATH`; the default is
    /// `$PTXOPT_PTXAS`, then `ptxas`
    #[arg(long, value_name = "PATH")]
    pub(super) ptxas: Option<PathBuf>,

    /// Print how often each rule was applied and how many rewrites were proved
    #[arg(long)]
    pub(super) stats: bool,
}

/// What of a module's head may be raised.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(in crate::cli) enum Head {
    /// `.target`, up to the `--gpu`, and `.version` with it. From sm_70 on, the threads of a warp are scheduled
    /// independently: code for older GPUs that relies on warps in lockstep without barriers must not be raised so far
    Target,
    /// `.version`
    Version,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum CheckLevel {
    /// Rewrites are evaluated on corner cases and pseudo-random inputs, then the function is replayed
    Sampled,
    /// Rewrites are proved for all inputs, then the function is replayed
    Proved,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum DeadCode {
    /// Those whose results became unused by a rewrite
    Freed,
    /// Also those whose results were unused in the input
    All,
}

/// How far a head may be raised.
pub(in crate::cli) fn raise(heads: &[Head]) -> Raise {
    Raise { target: heads.contains(&Head::Target), version: heads.contains(&Head::Version) }
}

impl Choices {
    pub(super) fn options(&self) -> Options {
        Options {
            passes: self.passes.clone().unwrap_or_else(Selection::all).passes(),
            gpus: self.gpu.clone(),
            raise: raise(&self.raise),
            check: match self.check {
                Some(CheckLevel::Sampled) => Check::Sampled,
                Some(CheckLevel::Proved) | None => Check::Proved,
            },
            semantics: self.video_semantics.unwrap_or_default(),
            limit: self.limit,
            dce_all: match self.dce {
                Some(DeadCode::Freed) | None => false,
                Some(DeadCode::All) => true,
            },
            leave: self.leave.iter().map(|named| left(named)).collect(),
            ..Options::default()
        }
    }
}

pub(in crate::cli) fn gpu(name: &str) -> Result<Gpu, String> {
    Gpu::named(name)
}

/// A function and the reason why it is left unchanged.
fn left(named: &str) -> (String, String) {
    let (function, why) = named.split_once('=').unwrap_or((named, "`--leave` names it"));
    (function.to_owned(), why.to_owned())
}

fn at_least_one(number: &str) -> Result<NonZeroUsize, &'static str> {
    number.parse().map_err(|_| "expected a positive integer")
}
