//! The options of the main command, and what they ask of the optimiser.

use crate::remarks::Format;
use clap::ValueEnum;
use ptxopt_passes::Selection;
use ptxopt_passes::cost::Gpu;
use ptxopt_passes::door::Check;
use ptxopt_passes::graph::Semantics;
use ptxopt_passes::optimiser::Options;
use std::num::NonZeroUsize;
use std::path::PathBuf;

const GROUP: &str = "optimise";
const CHOICES: &str = "choices";
const SHOWS: &str = "shows";

/// What the parser of arguments calls all arguments of the main command; none of them has a default of the parser's, so
/// they are there if the user wrote them.
pub(in crate::cli) const GROUPS: [&str; 3] = [GROUP, CHOICES, SHOWS];

#[derive(Debug, clap::Args)]
#[group(id = GROUP)]
pub(in crate::cli) struct Args {
    /// PTX to read; `-` is standard input
    #[arg(required = true, value_name = "INPUT")]
    pub(super) inputs: Vec<PathBuf>,

    /// Where to write; `-`, the default, is standard output, a directory gets files named as the inputs
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,

    /// The directory to write to, created if missing; files are named as the inputs
    #[arg(long, value_name = "DIR", conflicts_with = "output")]
    pub(super) out_dir: Option<PathBuf>,

    /// How many files to work on at once; the default is one per core
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
    /// The GPU to write for, such as `sm_90`, `90` or `sm_90a`; the default is the module's `.target`
    #[arg(long, value_name = "GPU", value_parser = gpu)]
    gpu: Option<Gpu>,

    /// Passes to run, separated by commas; the default is all, an empty list none
    #[arg(long, value_name = "LIST", value_parser = ptxopt_passes::select)]
    passes: Option<Selection>,

    /// How sure to be of each rewrite, before each changed function is replayed; the default is `proved`
    #[arg(long, value_name = "HOW")]
    check: Option<Sureness>,

    /// Whose word counts on instructions on which the manual and the assembler disagree; the default is `undisputed`
    #[arg(long, value_name = "WHOSE")]
    video_semantics: Option<Disputed>,

    /// Which statements go that nobody reads; the default is `freed`
    #[arg(long, value_name = "WHICH")]
    dce: Option<Dead>,

    /// Leave alone every function that the assembler makes longer, or lets spill more, for its rewrites
    #[arg(long)]
    pub(super) keep_better: bool,

    /// Refuse instructions, modifiers and directives that are unknown, instead of warning
    #[arg(long)]
    pub(super) strict: bool,

    /// Make at most so many rewrites in each input: halving N finds the one to blame
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
}

/// What to show of it.
#[derive(Debug, clap::Args)]
#[group(id = SHOWS)]
#[command(next_help_heading = "What to show")]
pub(super) struct Shows {
    /// Show what changed, on standard output, or on standard error if the result goes there
    #[arg(long)]
    pub(super) diff: bool,

    /// Say what was done at each place, and why video instructions stay, on standard error
    #[arg(long, value_name = "FORMAT")]
    pub(super) remarks: Option<Format>,

    /// The file that the remarks go to
    #[arg(long, value_name = "FILE", requires = "remarks")]
    pub(super) remarks_output: Option<PathBuf>,

    /// Print the module after each round that changed it, on standard error
    #[arg(long)]
    pub(super) print_after: bool,

    /// Say how long each phase took, and in remarks how long each decision took
    #[arg(long)]
    pub(super) time: bool,

    /// Assemble before and after, and say what became of each function, on standard error
    #[arg(long)]
    pub(super) measure: bool,

    /// NVIDIA's assembler, for `--measure` and `--keep-better`; the default is `$PTXOPT_PTXAS`, then `ptxas` in `PATH`
    #[arg(long, value_name = "PATH")]
    pub(super) ptxas: Option<PathBuf>,

    /// Say how often each rule was applied, and how much was proved
    #[arg(long)]
    pub(super) stats: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Sureness {
    /// Evaluated on corner cases and on seeded inputs
    Sampled,
    /// Proved for all inputs
    Proved,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Disputed {
    /// Nobody's: such instructions are left alone
    Undisputed,
    /// The manual's
    Manual,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Dead {
    /// Those that a rewrite left without a reader
    Freed,
    /// Those too that had none from the start
    All,
}

impl Choices {
    pub(super) fn options(&self) -> Options {
        Options {
            passes: self.passes.clone().unwrap_or_else(Selection::all).groups(),
            gpu: self.gpu,
            check: match self.check {
                Some(Sureness::Sampled) => Check::Sampled,
                Some(Sureness::Proved) | None => Check::Proved,
            },
            semantics: match self.video_semantics {
                Some(Disputed::Undisputed) | None => Semantics::Undisputed,
                Some(Disputed::Manual) => Semantics::Manual,
            },
            limit: self.limit,
            dce_all: match self.dce {
                Some(Dead::Freed) | None => false,
                Some(Dead::All) => true,
            },
            ..Options::default()
        }
    }
}

pub(in crate::cli) fn gpu(name: &str) -> Result<Gpu, String> {
    Gpu::named(name)
}

fn at_least_one(number: &str) -> Result<NonZeroUsize, &'static str> {
    number.parse().map_err(|_| "expected a number from 1")
}
