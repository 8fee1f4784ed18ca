//! `ptxopt in.ptx -o out.ptx`: reads, checks, rewrites and writes, many files at once.
//!
//! Files are independent of each other, and threads take them one by one. The messages about a file are printed after
//! those about all earlier files, so their order is that of the command line, whatever the number of threads.

mod args;
mod job;
mod tell;

pub(super) use args::{Args, GROUPS, Head, gpu, raise};

use super::{Console, Failure, Status, similar_subcommand, usage_error};
use crate::input::Input;
use crate::measure::{Assembler, Assembling};
use crate::output::{Begun, Output, leads_to};
use crate::remarks::Format;
use crate::render::Colour;
use job::Job;
use ptxopt_passes::optimiser::Options;
use std::collections::HashMap;
use std::fs;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

/// The inputs with their outputs, what to do with them, and what to show.
struct Plan {
    jobs: Vec<Job>,
    /// The directory to create before the first output is written.
    directory: Option<PathBuf>,
    options: Options,
    /// The assembler, if the results are measured.
    assembling: Option<Assembling>,
    /// Whether warnings are errors.
    strict: bool,
    /// Whether outputs are compared with what would be written, and not written.
    check_output: bool,
    show: Show,
}

/// The outputs beside the results, if there are any.
struct Aside {
    remarks: Option<Begun>,
    report: Option<Begun>,
}

/// What to show.
#[derive(Clone, Debug)]
struct Show {
    diff: bool,
    remarks: Option<Format>,
    /// Where the remarks are written; standard error if `None`.
    remarks_output: Option<Output>,
    /// Where the page is written.
    report: Option<Output>,
    print_after: bool,
    measure: bool,
    time: bool,
    stats: bool,
}

/// Processes all inputs.
///
/// # Errors
///
/// If the arguments contradict each other or leave an output undefined.
pub(super) fn run(args: &Args, console: &Console) -> Result<Status, clap::Error> {
    if let Some(message) = meant_a_subcommand(args) {
        return Err(usage_error(None, message));
    }
    let mut plan = Plan::new(args).map_err(|message| usage_error(None, message))?;
    if args.shows.measure || args.choices.keep_better {
        match Assembler::find(args.shows.ptxas.as_deref()) {
            Ok(assembler) => {
                plan.assembling = Some(Assembling { assembler, keep_better: args.choices.keep_better });
            }
            Err(failure) => {
                console.say(&console.renderer.failure(&failure.to_string()));
                return Ok(Status::Unreachable);
            }
        }
    }
    // Nobody sees why statements stay but in remarks and sums.
    plan.options.explain =
        plan.show.remarks.is_some() || plan.show.report.is_some() || plan.show.stats || console.summary;
    let cores = || thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let all = args.jobs.map_or_else(cores, NonZeroUsize::get);
    // Threads that no file takes work on the functions of the others.
    plan.options.threads = (all / plan.jobs.len().max(1)).max(1);
    let plan = plan;
    // If remarks or the report cannot be written, that must be found before any output is written.
    let begun = plan.begin(plan.show.remarks_output.as_ref());
    let begun = begun.and_then(|remarks| Ok((remarks, plan.begin(plan.show.report.as_ref())?)));
    let aside = match begun {
        Ok((remarks, report)) => Aside { remarks, report },
        Err((output, error)) => {
            console.say(&Failure::writing(console, output, &error).message);
            return Ok(Status::Unreachable);
        }
    };
    let threads = all.min(plan.jobs.len());
    let next = AtomicUsize::new(0);
    let (sender, reports) = mpsc::channel();
    Ok(thread::scope(|scope| {
        for _ in 0..threads {
            let (plan, next, sender) = (&plan, &next, sender.clone());
            scope.spawn(move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = plan.jobs.get(index) else { break };
                    // The receiver exists until all threads have ended.
                    let _heard = sender.send((index, job.run(plan, console)));
                }
            });
        }
        drop(sender);
        tell::tell(&reports, &plan, aside, console)
    }))
}

/// Refuses to raise a `.target` without a GPU.
pub(super) fn raises_to_something(options: &Options) -> Result<(), String> {
    if options.raise.target && options.gpus.is_empty() {
        return Err("`--raise target` needs `--gpu`, which says how far".to_owned());
    }
    Ok(())
}

impl Plan {
    fn new(args: &Args) -> Result<Self, String> {
        let inputs = args.inputs.iter().cloned().map(Input::from);
        let (options, strict, show) = (args.choices.options(), args.choices.strict, Show::new(args)?);
        if args.shows.ptxas.is_some() && !(args.shows.measure || args.choices.keep_better) {
            return Err("`--ptxas` needs `--measure` or `--keep-better`".to_owned());
        }
        raises_to_something(&options)?;
        let given = args.output.as_ref().filter(|path| path.is_dir()).or(args.out_dir.as_ref());
        if let Some(directory) = given {
            let jobs = jobs_into(directory, inputs)?;
            keep_apart(&jobs, &show)?;
            return Ok(Self {
                jobs,
                directory: args.out_dir.clone(),
                options,
                strict,
                check_output: false,
                assembling: None,
                show,
            });
        }
        if args.inputs.len() > 1 {
            return Err(match args.check_output {
                Some(_) => "`--check-output` is for one input".to_owned(),
                None => "several inputs need `--out-dir DIR`".to_owned(),
            });
        }
        let output = args.output.as_deref().or(args.check_output.as_deref());
        let output = output.map_or(Ok(Output::Stdout), file_named)?;
        if args.check_output.is_some() && output == Output::Stdout {
            return Err("`--check-output` compares with a file".to_owned());
        }
        let jobs: Vec<Job> = inputs.map(|input| Job { input, output: output.clone() }).collect();
        keep_apart(&jobs, &show)?;
        let check_output = args.check_output.is_some();
        Ok(Self { jobs, directory: None, options, strict, check_output, assembling: None, show })
    }

    /// A separate output of the remarks or of the report, if there is one.
    fn begin<'o>(&self, output: Option<&'o Output>) -> Result<Option<Begun>, (&'o Output, io::Error)> {
        let Some(output) = output else { return Ok(None) };
        let begin = || {
            if let (Output::File(path), Some(directory)) = (output, &self.directory)
                && path.parent() == Some(directory)
            {
                fs::create_dir_all(directory)?;
            }
            output.begin()
        };
        begin().map(Some).map_err(|error| (output, error))
    }

    /// Whether no result is written to standard output.
    fn leaves_stdout(&self) -> bool {
        self.jobs.iter().all(|job| job.output != Output::Stdout)
    }

    fn diff_colour(&self, console: &Console) -> Colour {
        if self.leaves_stdout() { console.stdout_colour } else { console.stderr_colour }
    }

    /// Remarks in a file never have colours: they are for other programs.
    fn remarks_colour(&self, console: &Console) -> Colour {
        match self.show.remarks_output {
            None => console.stderr_colour,
            Some(Output::Stdout) => console.stdout_colour,
            Some(Output::File(_)) => Colour::None,
        }
    }
}

impl Show {
    fn new(args: &Args) -> Result<Self, String> {
        let shows = &args.shows;
        let remarks_output = shows.remarks_output.as_deref().map(file_named).transpose()?;
        Ok(Self {
            diff: shows.diff,
            remarks: shows.remarks,
            remarks_output,
            report: shows.report.as_deref().map(file_named).transpose()?,
            print_after: shows.print_after,
            measure: shows.measure,
            time: shows.time,
            stats: shows.stats,
        })
    }
}

/// The message about a first input that does not exist and is similar to the name of a subcommand.
fn meant_a_subcommand(args: &Args) -> Option<String> {
    let word = args.inputs.first().filter(|path| !path.exists())?.to_str()?;
    let meant = similar_subcommand(word)?;
    Some(format!("there is no file `{word}` and no such subcommand; did you mean `{meant}`?"))
}

/// One output per input, in `directory`.
fn jobs_into(directory: &Path, inputs: impl Iterator<Item = Input>) -> Result<Vec<Job>, String> {
    let mut jobs = Vec::new();
    for input in inputs {
        let name = match &input {
            Input::Stdin => {
                return Err("standard input has no name; give it an output with `-o FILE`".to_owned());
            }
            Input::File(path) => path.file_name().ok_or_else(|| format!("`{input}` has no file name"))?,
        };
        let output = Output::File(directory.join(name));
        jobs.push(Job { input, output });
    }
    Ok(jobs)
}

/// Refuses results that would replace each other, and remarks or a report that would replace an input, a result, or each
/// other.
fn keep_apart(jobs: &[Job], show: &Show) -> Result<(), String> {
    let file = |output: &Output| match output {
        Output::Stdout => None,
        Output::File(path) => leads_to(path),
    };
    let aside = [("the remarks", &show.remarks_output), ("the report", &show.report)];
    let mut others: Vec<(&str, &Output, Option<PathBuf>)> = Vec::new();
    for (what, output) in aside.into_iter().filter_map(|(what, output)| Some((what, output.as_ref()?))) {
        let place = file(output);
        for (other, earlier, known) in &others {
            if earlier == &output || place.is_some() && place == *known {
                return Err(format!("{other} and {what} would both go to {}", place_of(output)));
            }
        }
        others.push((what, output, place));
    }
    let mut results = HashMap::new();
    for job in jobs {
        let Job { input, output } = job;
        let result = file(output);
        for (what, other, place) in &others {
            let same = result.is_some() && result == *place;
            if same || *output == Output::Stdout && *other == output {
                return Err(format!("the result and {what} would both go to {}", place_of(output)));
            }
            if let Input::File(path) = input
                && place.is_some()
                && leads_to(path) == *place
            {
                return Err(format!("{what} would replace the input `{input}`"));
            }
        }
        let place = result.map_or_else(|| output.clone(), Output::File);
        if let Some(earlier) = results.insert(place.clone(), job) {
            let place = if earlier.output == *output { output } else { &place };
            return Err(format!("`{}` and `{input}` would both be written to `{place}`", earlier.input));
        }
    }
    Ok(())
}

/// An output, in a sentence.
fn place_of(output: &Output) -> String {
    match output {
        Output::Stdout => "standard output".to_owned(),
        Output::File(_) => format!("`{output}`"),
    }
}

/// The output at `path`, which is not an existing directory; a name that ends in a slash is an error.
fn file_named(path: &Path) -> Result<Output, String> {
    let directory = path.as_os_str().to_string_lossy().ends_with(std::path::is_separator);
    if directory {
        return Err(format!("there is no directory `{0}`; `--out-dir {0}` creates it", path.display()));
    }
    Ok(Output::from(path.to_owned()))
}
