//! `ptxopt in.ptx -o out.ptx`: reads, checks, rewrites and writes, many files at once.
//!
//! Files do not know of each other. Threads take them one by one; what each run has to say is kept until those of
//! all earlier files are said, so that the order is that of the command line whatever the number of threads.

use super::progress::Progress;
use super::{Console, Failure, Status, usage_error};
use crate::input::Input;
use crate::output::Output;
use ptxopt_passes::Selection;
use ptxopt_passes::cost::Gpu;
use ptxopt_passes::door::Check;
use ptxopt_passes::graph::Semantics;
use ptxopt_passes::optimiser::{self, Options};
use std::collections::BTreeMap;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// What the parser of arguments calls all of [`Args`].
pub(super) const GROUP: &str = "optimise";

#[derive(Debug, clap::Args)]
#[group(id = GROUP)]
pub(super) struct Args {
    /// PTX to read; `-` is standard input
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<PathBuf>,

    /// Where to write; `-`, the default, is standard output, a directory gets files named as the inputs
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// The directory to write to, created if missing; files are named as the inputs
    #[arg(long, value_name = "DIR", conflicts_with = "output")]
    out_dir: Option<PathBuf>,

    /// The GPU to write for; the default is the module's `.target`
    #[arg(long, value_name = "GPU", value_parser = gpu)]
    gpu: Option<Gpu>,

    /// Passes to run, separated by commas; the default is all, an empty list none
    #[arg(long, value_name = "LIST", value_parser = ptxopt_passes::select)]
    passes: Option<Selection>,

    /// How many files to work on at once; the default is one per core
    #[arg(short, long, value_name = "N", value_parser = at_least_one)]
    jobs: Option<NonZeroUsize>,
}

fn gpu(name: &str) -> Result<Gpu, &'static str> {
    Gpu::parse(name).ok_or("expected a GPU such as `sm_90`")
}

fn at_least_one(number: &str) -> Result<NonZeroUsize, &'static str> {
    number.parse().map_err(|_| "expected a number from 1")
}

/// What is read and where it goes.
struct Plan {
    jobs: Vec<Job>,
    /// The directory to create before the first output is written.
    directory: Option<PathBuf>,
    options: Options,
}

struct Job {
    input: Input,
    output: Output,
}

/// Reads, checks and writes everything; a usage error if the arguments do not say where to.
pub(super) fn run(args: &Args, console: &Console) -> Result<Status, clap::Error> {
    let plan = Plan::new(args).map_err(usage_error)?;
    let cores = || thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let threads = args.jobs.map_or_else(cores, NonZeroUsize::get).min(plan.jobs.len());
    let next = AtomicUsize::new(0);
    let (sender, reports) = mpsc::channel();
    Ok(thread::scope(|scope| {
        for _ in 0..threads {
            let (plan, next, sender) = (&plan, &next, sender.clone());
            scope.spawn(move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = plan.jobs.get(index) else { break };
                    // The other side listens until all threads have ended.
                    let _heard = sender.send((index, job.run(plan, console)));
                }
            });
        }
        drop(sender);
        tell(&reports, plan.jobs.len(), console)
    }))
}

impl Plan {
    fn new(args: &Args) -> Result<Self, String> {
        let inputs = args.inputs.iter().cloned().map(Input::from);
        let options = Options {
            passes: args.passes.clone().unwrap_or_else(Selection::all).groups(),
            gpu: args.gpu,
            check: Check::Proved,
            semantics: Semantics::Undisputed,
            limit: None,
        };
        let given = args.output.as_ref().filter(|path| path.is_dir()).or(args.out_dir.as_ref());
        if let Some(directory) = given {
            let jobs = jobs_into(directory, inputs)?;
            return Ok(Self { jobs, directory: args.out_dir.clone(), options });
        }
        if args.inputs.len() > 1 {
            return Err("several inputs need `--out-dir DIR` to go to".to_owned());
        }
        let output = args.output.as_deref().map_or(Ok(Output::Stdout), file_named)?;
        let jobs = inputs.map(|input| Job { input, output: output.clone() }).collect();
        Ok(Self { jobs, directory: None, options })
    }
}

/// One output per input, in `directory`.
fn jobs_into(directory: &Path, inputs: impl Iterator<Item = Input>) -> Result<Vec<Job>, String> {
    let mut names = BTreeMap::new();
    let mut jobs = Vec::new();
    for input in inputs {
        let name = match &input {
            Input::Stdin => {
                return Err("standard input has no name; give it an output with `-o FILE`".to_owned());
            }
            Input::File(path) => {
                path.file_name().ok_or_else(|| format!("`{input}` has no file name"))?.to_owned()
            }
        };
        let output = directory.join(&name);
        if let Some(earlier) = names.insert(name, input.clone()) {
            return Err(format!("`{earlier}` and `{input}` would both be written to `{}`", output.display()));
        }
        jobs.push(Job { input, output: Output::File(output) });
    }
    Ok(jobs)
}

/// The output at `path`, which is no directory, though it may look like one.
fn file_named(path: &Path) -> Result<Output, String> {
    let directory = path.as_os_str().to_string_lossy().ends_with(std::path::is_separator);
    if directory {
        return Err(format!("there is no directory `{0}`; `--out-dir {0}` creates it", path.display()));
    }
    Ok(Output::from(path.to_owned()))
}

/// What there is to say of one input.
struct Report {
    result: Result<Numbers, Failure>,
    input: String,
}

/// What `-v` shows.
struct Numbers {
    read: usize,
    statements: usize,
    written: usize,
    reading: Duration,
    parsing: Duration,
    passes: Duration,
    writing: Duration,
}

impl Job {
    fn run(&self, plan: &Plan, console: &Console) -> Report {
        Report { result: self.rewrite(plan, console), input: self.input.to_string() }
    }

    fn rewrite(&self, plan: &Plan, console: &Console) -> Result<Numbers, Failure> {
        let Self { input, output } = self;
        let mut clock = Clock(Instant::now());
        let text = input.read().map_err(|error| Failure::reading(console, input, &error))?;
        let reading = clock.lap();
        let module = ptxopt_grammar::parse(&text).map_err(|diagnostics| Failure {
            status: Status::Invalid,
            message: console.renderer.diagnostics(&input.to_string(), &text, &diagnostics),
        })?;
        let parsing = clock.lap();
        let statements = module.stmts().len();
        let start = Instant::now();
        let outcome = optimiser::optimise(&module, &plan.options, &|| start.elapsed());
        drop(module);
        let passes = clock.lap();
        let new = outcome.text.as_deref().unwrap_or(&text);
        write(new, plan.directory.as_deref(), output)
            .map_err(|error| Failure::writing(console, output, &error))?;
        let (read, written, writing) = (text.len(), new.len(), clock.lap());
        Ok(Numbers { read, statements, written, reading, parsing, passes, writing })
    }
}

fn write(text: &[u8], directory: Option<&Path>, output: &Output) -> std::io::Result<()> {
    directory.map_or(Ok(()), fs::create_dir_all)?;
    output.write(std::iter::once(text))
}

/// The time since the last look.
struct Clock(Instant);

impl Clock {
    fn lap(&mut self) -> Duration {
        let now = Instant::now();
        now - std::mem::replace(&mut self.0, now)
    }
}

/// Says what the reports say, in the order of the inputs, and returns the worst.
fn tell(reports: &mpsc::Receiver<(usize, Report)>, total: usize, console: &Console) -> Status {
    let mut progress = Progress::new(total);
    let mut waiting = BTreeMap::new();
    let mut next = 0;
    let mut worst = Status::Done;
    for (index, report) in reports {
        progress.advance();
        waiting.insert(index, report);
        while let Some(report) = waiting.remove(&next) {
            progress.aside(|| report.tell(console));
            worst = worst.max(report.result.map_or_else(|failure| failure.status, |_| Status::Done));
            next += 1;
        }
    }
    worst
}

impl Report {
    fn tell(&self, console: &Console) {
        let numbers = match &self.result {
            Ok(numbers) => numbers,
            Err(failure) => return console.say(&failure.message),
        };
        let Numbers { read, statements, written, reading, parsing, passes, writing } = numbers;
        let total = *reading + *parsing + *passes + *writing;
        let input = &self.input;
        log::info!(
            "`{input}`: {read} bytes, {statements} statements, {written} bytes written in {total:.1?}"
        );
        log::debug!(
            "reading {reading:.1?}, parsing {parsing:.1?}, passes {passes:.1?}, writing {writing:.1?}"
        );
    }
}
