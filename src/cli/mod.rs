//! The command line: one file per subcommand; this file has what they share.

mod completions;
mod dump;
mod eval;
mod explain;
mod graph;
mod man;
mod optimise;
mod progress;
mod prove;
mod ptxas;
mod run;

use crate::front::{self, Helper};
use crate::input::Input;
use crate::library::{self, Refusal};
use crate::measure::accuracy;
use crate::render::{Colour, Renderer};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{ArgAction, ColorChoice, CommandFactory, FromArgMatches, Parser, Subcommand};
use log::LevelFilter;
use ptxopt_grammar::meaning::disputed::Semantics;
use ptxopt_grammar::tree::Module;
use ptxopt_passes::cost::Gpu;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

/// Makes the video instructions and the byte-wise code of PTX cheaper, and proves every rewrite for all inputs.
///
/// Every changed function is also replayed: run before and after on the same inputs, and the results compared. All
/// other text is written back unchanged. Neither a GPU nor CUDA is needed. On a terminal, a summary follows; elsewhere
/// nothing is printed unless something goes wrong or `-v` is given.
#[derive(Debug, Parser)]
#[command(
    name = "ptxopt",
    version,
    subcommand_negates_reqs = true,
    override_usage = "ptxopt [OPTIONS] <INPUT>...\n       ptxopt [OPTIONS] <COMMAND>",
    max_term_width = 100,
    after_help = after_help()
)]
struct Cli {
    #[command(flatten)]
    optimise: optimise::Args,

    #[command(subcommand)]
    command: Option<Command>,

    /// Print what was done and how long it took; `-vv` prints more detail
    #[arg(short, long, global = true, action = ArgAction::Count, help_heading = None::<&'static str>)]
    verbose: u8,

    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", help_heading = None::<&'static str>)]
    color: ColorChoice,
}

const EXAMPLES: &str = "\
Examples:
  ptxopt in.ptx -o out.ptx                write the result to a file
  ptxopt - <in.ptx >out.ptx               the same through pipes
  ptxopt a.ptx b.ptx --out-dir out        several files at once
  ptxopt in.ptx -o out.ptx --diff         also show what changed
  ptxopt explain                          list the rewrite rules
  ptxopt dump in.ptx                      show what each statement is, reads and writes
  ptxopt in.ptx -o out.ptx --keep-better  skip functions that NVIDIA's assembler makes worse
";

const EXIT_STATUS: &str = "\
Exit status:
  0  everything was written
  1  an input is not valid PTX, or `--check-output` found a difference
  2  the command line is wrong, or code for an input's `.target` does not run on the `--gpu`
  3  something could not be read or written
  4  ptxopt found a bug in itself and left the function unchanged: please report it
  5 to 8  results of `run` and `prove`: see `ptxopt help run`, `ptxopt help prove`
  With several inputs, the highest status of all. Each output is written completely or not at all;
  an input that fails does not prevent the others from being written.";

fn after_help() -> String {
    let accuracy = accuracy::sentence();
    format!(
        "{EXAMPLES}\nSavings are estimated from the cost of each instruction by itself. {accuracy}\n\
         `--measure` counts them with the `ptxas` of your CUDA.\n\n{EXIT_STATUS}"
    )
}

#[derive(Debug, Subcommand)]
enum Command {
    Dump(dump::Args),
    Eval(eval::Args),
    Explain(explain::Args),
    Graph(graph::Args),
    Prove(prove::Args),
    Ptxas(ptxas::Args),
    Run(run::Args),
    Completions(completions::Args),
    Man(man::Args),
}

const SEMANTICS_HELP: &str = "Meaning of video instructions on which the manual and NVIDIA's assembler disagree; the \
                              default is `undisputed`";

/// The values of `--video-semantics`.
fn semantics() -> impl TypedValueParser<Value = Semantics> {
    let value = |semantics: Semantics| {
        PossibleValue::new(semantics.name()).help(match semantics {
            Semantics::Undisputed => {
                "Unknown: such instructions are not rewritten, and proofs that depend on them fail"
            }
            Semantics::Manual => "What the manual says",
        })
    };
    PossibleValuesParser::new(Semantics::ALL.map(value)).map(|name| {
        let named = Semantics::ALL.into_iter().find(|semantics| semantics.name() == name);
        named.expect("the parser takes these names alone")
    })
}

/// How the command ended; the number is the exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Status {
    /// Everything was written.
    Done = 0,
    /// An input is not valid PTX, or an output is not what it should be.
    Invalid = 1,
    /// The command line is wrong.
    Usage = 2,
    /// Something could not be read or written.
    Unreachable = 3,
    /// ptxopt found a bug in itself; what it affects was not changed.
    Bug = 4,
    /// A kernel that was run had a fault, or did not finish.
    Faulty = 5,
    /// A kernel that was run reached an instruction that cannot be evaluated.
    NotEvaluated = 6,
    /// Two pieces of code are not equal.
    Different = 7,
    /// It is unknown whether two pieces of code are equal.
    Undecided = 8,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(status as u8)
    }
}

/// Why something was not done: the exit status and the message for the user.
#[derive(Debug)]
struct Failure {
    status: Status,
    message: String,
}

impl Failure {
    fn reading(console: &Console, input: &Input, error: &io::Error) -> Self {
        let message = console.renderer.failure(&format!("cannot read `{input}`: {error}"));
        Self { status: Status::Unreachable, message }
    }

    fn writing(console: &Console, output: impl std::fmt::Display, error: &io::Error) -> Self {
        let message = console.renderer.failure(&format!("cannot write `{output}`: {error}"));
        Self { status: Status::Unreachable, message }
    }
}

/// Messages to the user, apart from the results.
#[derive(Debug)]
struct Console {
    renderer: Renderer,
    stdout_colour: Colour,
    stderr_colour: Colour,
    /// Whether to print a summary.
    summary: bool,
}

impl Console {
    fn new(choice: ColorChoice) -> Self {
        let (stdout, stderr) = (io::stdout().is_terminal(), io::stderr().is_terminal());
        let colour = |terminal: bool| match choice {
            ColorChoice::Always => Colour::Terminal,
            ColorChoice::Auto if terminal && !refuses_colour() => Colour::Terminal,
            ColorChoice::Auto | ColorChoice::Never => Colour::None,
        };
        let (stdout_colour, stderr_colour) = (colour(stdout), colour(stderr));
        let summary = stderr || log::log_enabled!(log::Level::Info);
        Self { renderer: Renderer::new(stderr_colour), stdout_colour, stderr_colour, summary }
    }

    fn say(&self, message: &str) {
        self.say_bytes(message.as_bytes());
    }

    fn say_bytes(&self, message: &[u8]) {
        // If standard error cannot be written, this cannot be reported.
        let _unheard = io::stderr().write_all(message);
    }
}

/// Whether the environment asks for output without colours; see <https://no-color.org>.
fn refuses_colour() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
        || std::env::var_os("TERM").is_some_and(|value| value == "dumb")
}

/// Runs the command that the arguments of the process ask for.
#[must_use]
pub fn main() -> ExitCode {
    start(std::env::args_os().next().is_some_and(|program| front::is_called(&program)))
}

/// Stands for NVIDIA's assembler, whose arguments the process has.
#[must_use]
pub fn ptxas() -> ExitCode {
    start(true)
}

fn start(as_assembler: bool) -> ExitCode {
    match front::helper() {
        Some(Helper::Ended(code)) => code,
        Some(Helper::Optimiser(arguments)) => command(arguments),
        None if as_assembler => front::run(&std::env::args_os().skip(1).collect::<Vec<_>>()),
        None => command(std::env::args_os().collect()),
    }
}

fn command(arguments: Vec<OsString>) -> ExitCode {
    match parse_arguments(arguments).and_then(|cli| run(&cli)) {
        Ok(code) => code,
        Err(error) => {
            // Standard output or standard error may be closed; that is not an error here.
            let _unheard = error.print();
            ExitCode::from(if error.use_stderr() { 2 } else { 0 })
        }
    }
}

fn parse_arguments(arguments: Vec<OsString>) -> Result<Cli, clap::Error> {
    let mut command = Cli::command();
    let matches = command.try_get_matches_from_mut(arguments)?;
    let name =
        matches.subcommand_name().filter(|_| optimise::GROUPS.iter().any(|group| matches.contains_id(group)));
    if let Some(name) = name {
        let message =
            format!("`{name}` takes its arguments after its name; a file of that name is `./{name}`");
        return Err(error_of(Some(name), ErrorKind::ArgumentConflict, message));
    }
    Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

fn run(cli: &Cli) -> Result<ExitCode, clap::Error> {
    start_logging(cli.verbose);
    let console = Console::new(cli.color);
    let result = match &cli.command {
        None => return optimise::run(&cli.optimise, &console).map(ExitCode::from),
        Some(Command::Dump(args)) => dump::run(args, &console),
        Some(Command::Eval(args)) => eval::run(args, &console),
        Some(Command::Explain(args)) => explain::run(args, &console),
        Some(Command::Graph(args)) => graph::run(args, &console),
        Some(Command::Prove(args)) => prove::run(args, &console),
        Some(Command::Ptxas(args)) => return Ok(ptxas::run(args)),
        Some(Command::Run(args)) => run::run(args, &console),
        Some(Command::Completions(args)) => completions::run(args, &console),
        Some(Command::Man(args)) => man::run(args, &console),
    };
    let status = result.map_or_else(
        |failure| {
            console.say(&failure.message);
            failure.status
        },
        |()| Status::Done,
    );
    Ok(status.into())
}

fn start_logging(verbose: u8) {
    let level = match verbose {
        0 => LevelFilter::Warn,
        1 => LevelFilter::Info,
        _ => LevelFilter::Debug,
    };
    env_logger::Builder::new()
        .filter_level(level)
        .format(|out, record| writeln!(out, "{}: {}", record.level().as_str().to_lowercase(), record.args()))
        .init();
}

/// A message about the command line in the form of clap's own messages, with the usage of a subcommand or of the main
/// command.
fn usage_error(subcommand: Option<&str>, message: String) -> clap::Error {
    error_of(subcommand, ErrorKind::ValueValidation, message)
}

fn error_of(subcommand: Option<&str>, kind: ErrorKind, message: String) -> clap::Error {
    let mut command = Cli::command();
    command.build();
    let about = subcommand.and_then(|name| command.find_subcommand_mut(name));
    match about {
        Some(subcommand) => subcommand.error(kind, message),
        None => command.error(kind, message),
    }
}

/// The subcommand whose name is most similar to a word, if one is similar enough.
fn similar_subcommand(word: &str) -> Option<String> {
    let command = Cli::command();
    let names = command.get_subcommands().map(clap::Command::get_name).chain(["help"]);
    let distance = |name: &str| strsim::damerau_levenshtein(word, name);
    let nearest = names.min_by_key(|name| distance(name))?;
    (distance(nearest) <= nearest.len() / 3).then(|| nearest.to_owned())
}

/// Parses an input; the failure says what is wrong with it.
fn parse<'t>(console: &Console, input: &Input, text: &'t [u8]) -> Result<Module<'t>, Failure> {
    library::read(text).map_err(|refusal| refused(console, input, text, &refusal))
}

/// Refuses a GPU on which code for the module's target does not run.
fn refuse_older(console: &Console, input: &Input, module: &Module<'_>, gpus: &[Gpu]) -> Result<(), Failure> {
    library::refuse_older(module, gpus).map_err(|refusal| refused(console, input, module.text(), &refusal))
}

/// Why an input was refused, for people.
fn refused(console: &Console, input: &Input, text: &[u8], refusal: &Refusal) -> Failure {
    let status = match refusal {
        Refusal::Wrong(_) | Refusal::Foreign(_) => Status::Invalid,
        Refusal::Older { .. } => Status::Usage,
    };
    Failure { status, message: console.renderer.refused(&input.to_string(), text, refusal) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_slip_of_the_finger_means_the_nearest_subcommand() {
        for (word, meant) in [
            ("dmup", Some("dump")),
            ("prov", Some("prove")),
            ("complettions", Some("completions")),
            ("hlep", Some("help")),
            ("kernel", None),
            ("x", None),
            ("out", None),
        ] {
            assert_eq!(similar_subcommand(word).as_deref(), meant, "{word}");
        }
    }
}
