//! `ptxopt graph`: draws the dataflow graph of a function.

use super::{Console, Failure, Status};
use crate::dot;
use crate::input::Input;
use crate::output::Output;
use ptxopt_grammar::function::{Function, functions};
use ptxopt_grammar::meaning::disputed::Semantics;
use ptxopt_grammar::tree::{Module, StmtId};
use ptxopt_passes::cost::Gpu;
use ptxopt_passes::graph::Graph;
use ptxopt_passes::optimiser::{Kind, Options, optimise};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Draw the dataflow graph of a function
///
/// Blocks are drawn as frames, values as boxes with the statements that compute them, and an arrow leads from a value
/// to each of its uses. Statements that the optimiser would change are coloured and show their replacements.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// PTX file to read; `-` is standard input
    file: PathBuf,

    /// Function to draw; may be omitted if the module has only one
    #[arg(long, value_name = "NAME")]
    function: Option<String>,

    /// Output file: a picture if its name ends in `.svg`, else text for Graphviz; the default is standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// GPU to optimise for; the default is the module's `.target`
    #[arg(long, value_name = "GPU", value_parser = super::optimise::gpu)]
    gpu: Option<Gpu>,
}

pub(super) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    let input = Input::from(args.file.clone());
    let text = input.read().map_err(|error| Failure::reading(console, &input, &error))?;
    let module = super::parse(console, &input, &text)?;
    super::refuse_older(console, &input, &module, args.gpu.as_slice())?;
    let refuse = |status, message: &str| Failure { status, message: console.renderer.failure(message) };
    let function = choose(functions(&module), args.function.as_deref())
        .map_err(|message| refuse(Status::Usage, &message))?;
    let graph = Graph::new(&module, function, Semantics::Undisputed).map_err(|unmodelled| {
        refuse(Status::Undecided, &format!("the function cannot be modelled: {}", unmodelled.reason))
    })?;
    let drawn = dot::dot(&graph, &changes(&module, &graph.function().name, args.gpu));
    let output = Output::from(args.output.clone().unwrap_or_else(|| "-".into()));
    let picture = args.output.as_deref().is_some_and(|path| path.extension().is_some_and(|end| end == "svg"));
    let bytes = if picture { svg(&drawn, console)? } else { drawn.into_bytes() };
    output
        .write(std::iter::once(bytes.as_slice()))
        .map_err(|error| Failure::writing(console, &output, &error))
}

fn choose(all: Vec<Function>, name: Option<&str>) -> Result<Function, String> {
    let names: Vec<String> = all.iter().map(|function| format!("`{}`", function.name)).collect();
    match name {
        _ if all.is_empty() => Err("there is no function with a body".to_owned()),
        None if all.len() > 1 => {
            Err(format!("there are several functions; choose one with `--function`: {}", names.join(", ")))
        }
        None => Ok(all.into_iter().next().expect("there is one")),
        Some(name) => all
            .into_iter()
            .find(|function| function.name == name)
            .ok_or_else(|| format!("there is no function `{name}`; the functions are {}", names.join(", "))),
    }
}

/// The statements that the optimiser changes, with their replacements; a deleted statement has none.
fn changes(module: &Module<'_>, function: &str, gpu: Option<Gpu>) -> BTreeMap<StmtId, Vec<String>> {
    let options = Options { gpus: gpu.into_iter().collect(), ..Options::default() };
    let outcome = optimise(module, &options, &|| Duration::ZERO);
    let starts: BTreeMap<usize, StmtId> =
        module.stmts().map(|stmt| (module.stmt_span(stmt).start, stmt)).collect();
    let passed = outcome.records.into_iter().filter(|record| matches!(record.kind, Kind::Passed(_)));
    let here = passed.filter(|record| record.function == function);
    // A later round may rewrite the result of an earlier one; the last record replaces the others.
    here.filter_map(|record| Some((*starts.get(&record.offset)?, record.after))).collect()
}

/// Draws the graph with Graphviz.
fn svg(drawn: &str, console: &Console) -> Result<Vec<u8>, Failure> {
    let fail = |message: String| Failure {
        status: Status::Unreachable,
        message: console.renderer.failure(&message),
    };
    let child = Command::new("dot").arg("-Tsvg").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut child = child.map_err(|error| {
        if error.kind() == io::ErrorKind::NotFound {
            let missing =
                "a picture needs `dot` of Graphviz, which is not in `PATH`; other names than `.svg` do not need it";
            fail(missing.to_owned())
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
