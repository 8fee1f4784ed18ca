//! `ptxopt graph`: draws the dataflow of a function around what changes, around a line, or all of it.
//!
//! Pictures in SVG are drawn here; those in other formats need Graphviz, which gets the text that is written otherwise.

use super::optimise::{Head, raise, raises_to_something};
use super::{Console, Failure, Status};
use crate::input::Input;
use crate::lines::Lines;
use crate::output::Output;
use crate::picture::{self, Fate, Part, Picture, slice};
use crate::remarks::{Statements, in_its_place};
use ptxopt_grammar::function::{Function, functions};
use ptxopt_grammar::meaning::disputed::Semantics;
use ptxopt_grammar::tree::{Module, StmtId, StmtKind};
use ptxopt_passes::cost::Gpu;
use ptxopt_passes::graph::Graph;
use ptxopt_passes::optimiser::{How, Kind, Options, Outcome, Record, optimise};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Draw the dataflow of a function, around what changes
///
/// The picture has the statements that the optimiser would change, with what takes their place, and the statements next
/// to them; `--line` asks for another part, `--all` for the whole function. An arrow leads from a statement to each
/// that uses its result. Blocks are frames where Graphviz draws them. A legend says what colours and lines mean.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// PTX file to read; `-` is standard input
    file: PathBuf,

    /// Function to draw; may be omitted if the module has only one, or only one that changes
    #[arg(long, value_name = "NAME")]
    function: Option<String>,

    /// Draw what is around the statements that begin in this line of the input, or the last ones before it
    #[arg(long, value_name = "N", conflicts_with_all = ["function", "all"])]
    line: Option<usize>,

    /// Draw the whole function. Of a large one, SVG is drawn in seconds, up to 2000 nodes; Graphviz has no limit and takes
    /// minutes
    #[arg(long)]
    all: bool,

    /// How many steps around a statement to draw; the default is 1
    #[arg(long, value_name = "N", default_value_t = 1, hide_default_value = true, conflicts_with = "all")]
    depth: usize,

    /// Output file: a picture if its name ends in `.svg`, or, by Graphviz, in `.png` or `.pdf`; else text for Graphviz,
    /// and its name ends in `.dot` or `.gv` or has no ending. The default is standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// GPU to optimise for; the default is the module's `.target`
    #[arg(long, value_name = "GPU", value_parser = super::optimise::gpu)]
    gpu: Option<Gpu>,

    /// Raise the head of the module where new instructions need it, as when it is optimised so
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    raise: Vec<Head>,
}

/// How many nodes a part of a function has at most.
const MOST_NODES: usize = 40;
/// How many neighbours of a statement come with it on either side.
const MOST_NEIGHBOURS: usize = 6;

/// What is written.
#[derive(Clone, Copy)]
enum Format {
    /// Text for Graphviz.
    Text,
    /// A picture that is drawn here.
    Svg,
    /// A picture that Graphviz draws, by the name of its format.
    Drawn(&'static str),
}

pub(super) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    let refuse = |status, message: &str| Failure { status, message: console.renderer.failure(message) };
    let format = format_of(args.output.as_deref()).map_err(|message| refuse(Status::Usage, &message))?;
    let input = Input::from(args.file.clone());
    let text = input.read().map_err(|error| Failure::reading(console, &input, &error))?;
    let module = super::parse(console, &input, &text)?;
    super::refuse_older(console, &input, &module, args.gpu.as_slice())?;
    let lines = Lines::of(&text);
    let options =
        Options { gpus: args.gpu.into_iter().collect(), raise: raise(&args.raise), ..Options::default() };
    raises_to_something(&options).map_err(|message| refuse(Status::Usage, &message))?;
    let outcome = optimise(&module, &options, &|| Duration::ZERO);
    let function =
        choose(&module, &lines, args, &outcome).map_err(|message| refuse(Status::Usage, &message))?;
    let graph = Graph::new(&module, function, Semantics::Undisputed).map_err(|unmodelled| {
        refuse(Status::Undecided, &format!("the function cannot be modelled: {}", unmodelled.reason))
    })?;
    let picture = draw(&graph, &lines, args, &outcome).map_err(|message| refuse(Status::Usage, &message))?;
    if picture.left_out > 0 {
        console.say(&format!(
            "note: {} more changed statements are not drawn; `--line N` draws around a line, `--all` everything\n",
            picture.left_out
        ));
    }
    let costs = costs(&outcome.gpus);
    let bytes = match format {
        Format::Text => picture::dot(&picture, &costs).into_bytes(),
        Format::Svg => picture::standalone(&picture, &costs)
            .map_err(|error| {
                refuse(
                    Status::Usage,
                    &format!("the function is too large to draw: {error}; text for Graphviz has no limit"),
                )
            })?
            .into_bytes(),
        Format::Drawn(format) => by_graphviz(&picture::dot(&picture, &costs), format, console)?,
    };
    let output = Output::from(args.output.clone().unwrap_or_else(|| "-".into()));
    output
        .write(std::iter::once(bytes.as_slice()))
        .map_err(|error| Failure::writing(console, &output, &error))
}

/// What the name of an output asks for.
fn format_of(output: Option<&Path>) -> Result<Format, String> {
    let Some(ending) = output.and_then(Path::extension) else { return Ok(Format::Text) };
    match ending.to_string_lossy().to_ascii_lowercase().as_str() {
        "dot" | "gv" => Ok(Format::Text),
        "svg" => Ok(Format::Svg),
        "png" => Ok(Format::Drawn("png")),
        "pdf" => Ok(Format::Drawn("pdf")),
        other => Err(format!(
            "there is no format `.{other}`; pictures are `.svg`, `.png` and `.pdf`, text for Graphviz is `.dot`"
        )),
    }
}

/// Whose costs a picture has.
fn costs(gpus: &[Gpu]) -> String {
    let names: Vec<String> = gpus.iter().map(ToString::to_string).collect();
    if names.is_empty() {
        String::new()
    } else {
        format!("cost: machine instructions on {}, estimated", names.join(", "))
    }
}

/// The function that is asked for.
fn choose(module: &Module<'_>, lines: &Lines, args: &Args, outcome: &Outcome) -> Result<Function, String> {
    let mut all = functions(module);
    let names: Vec<String> = all.iter().map(|function| format!("`{}`", function.name)).collect();
    if all.is_empty() {
        return Err("there is no function with a body".to_owned());
    }
    if let Some(line) = args.line {
        let here = |function: &Function| {
            let last =
                StmtId::new(function.body.end).map_or(usize::MAX, |end| first_line(module, lines, end));
            (first_line(module, lines, function.head)..=last).contains(&line)
        };
        return all.into_iter().find(here).ok_or_else(|| format!("line {line} is in no function"));
    }
    if let Some(name) = &args.function {
        let found = all.into_iter().find(|function| function.name == *name);
        return found
            .ok_or_else(|| format!("there is no function `{name}`; the functions are {}", names.join(", ")));
    }
    if all.len() > 1 {
        let passed = outcome.records.iter().filter(|record| matches!(record.kind, Kind::Passed(_)));
        let changed: BTreeSet<&str> = passed.map(|record| record.function.as_str()).collect();
        all.retain(|function| changed.contains(function.name.as_str()));
    }
    match all.len() {
        1 => Ok(all.swap_remove(0)),
        0 => Err(format!("nothing changes; choose a function with `--function`: {}", names.join(", "))),
        _ => {
            let names: Vec<String> = all.iter().map(|function| format!("`{}`", function.name)).collect();
            Err(format!("several functions change; choose one with `--function`: {}", names.join(", ")))
        }
    }
}

fn first_line(module: &Module<'_>, lines: &Lines, stmt: StmtId) -> usize {
    lines.position(module.stmt_span(stmt).start).line
}

/// The part that is asked for.
fn draw(graph: &Graph<'_, '_>, lines: &Lines, args: &Args, outcome: &Outcome) -> Result<Picture, String> {
    let fates = fates(graph.module(), &graph.function().name, outcome);
    let mut seeds: BTreeSet<StmtId> = fates.keys().copied().collect();
    if let Some(line) = args.line {
        seeds = at_line(graph, lines, line)?;
    }
    let part = match (args.all, seeds.is_empty()) {
        (true, _) => Part::All,
        (false, false) => {
            Part::Around { seeds: &seeds, depth: args.depth, most: MOST_NODES, neighbours: MOST_NEIGHBOURS }
        }
        (false, true) if graph.function().body.len() <= MOST_NODES => Part::All,
        (false, true) => {
            return Err(format!(
                "nothing in `{}` changes; `--line N` draws what is around a line, `--all` the whole function",
                graph.function().name
            ));
        }
    };
    Ok(slice(graph, lines, &outcome.gpus, &fates, part))
}

/// The instructions that begin in a line, or in the last one before it that has any.
fn at_line(graph: &Graph<'_, '_>, lines: &Lines, line: usize) -> Result<BTreeSet<StmtId>, String> {
    let module = graph.module();
    let stmts = graph.function().body.clone().filter_map(StmtId::new);
    let instructions = stmts.filter(|&stmt| module.kind(stmt) == StmtKind::Instruction);
    let before: Vec<(usize, StmtId)> = instructions
        .map(|stmt| (first_line(module, lines, stmt), stmt))
        .take_while(|&(at, _)| at <= line)
        .collect();
    let Some(&(last, _)) = before.last() else {
        return Err(format!("there is no instruction of `{}` before line {line}", graph.function().name));
    };
    Ok(before.into_iter().filter(|&(at, _)| at == last).map(|(_, stmt)| stmt).collect())
}

/// What becomes of the statements that the optimiser changes.
fn fates(module: &Module<'_>, function: &str, outcome: &Outcome) -> BTreeMap<StmtId, Fate> {
    let statements = Statements::of(module);
    let passed = outcome.records.iter().filter(|record| {
        matches!(record.kind, Kind::Passed(how) if how != How::Unnamed) && record.function == function
    });
    let mut all: BTreeMap<StmtId, Vec<&Record>> = BTreeMap::new();
    for record in passed {
        if let Some(stmt) = statements.at(record.offset) {
            all.entry(stmt).or_default().push(record);
        }
    }
    let fate = |(stmt, records): (StmtId, Vec<&Record>)| {
        let after = in_its_place(&picture::one_line(module.stmt_text(stmt)), &records);
        let after: Vec<String> = after.iter().map(|line| picture::clean(line)).collect();
        (stmt, if after.is_empty() { Fate::Deleted } else { Fate::Changed(after) })
    };
    all.into_iter().map(fate).collect()
}

/// Draws a picture with Graphviz.
fn by_graphviz(drawn: &str, format: &str, console: &Console) -> Result<Vec<u8>, Failure> {
    let fail = |message: String| Failure {
        status: Status::Unreachable,
        message: console.renderer.failure(&message),
    };
    let child =
        Command::new("dot").arg(format!("-T{format}")).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut child = child.map_err(|error| {
        if error.kind() == io::ErrorKind::NotFound {
            let missing = format!(
                "`.{format}` needs `dot` of Graphviz, which is not in `PATH`; `.svg` and `.dot` do not need it"
            );
            fail(missing)
        } else {
            fail(format!("cannot run `dot`: {error}"))
        }
    })?;
    let mut stdin = child.stdin.take().expect("it is piped");
    let text = drawn.to_owned();
    // A thread writes, since `dot` may write before it has read everything.
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let output = child.wait_with_output().map_err(|error| fail(format!("cannot run `dot`: {error}")))?;
    let written = writer.join().expect("writing does not panic");
    match (written, output.status.success()) {
        (Ok(()), true) => Ok(output.stdout),
        (Err(error), true) => Err(fail(format!("cannot write to `dot`: {error}"))),
        (_, false) => Err(fail(format!("`dot` failed: {}", output.status))),
    }
}
