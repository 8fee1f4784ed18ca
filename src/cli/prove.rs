//! `ptxopt prove`: decides whether two files compute the same, function by function.

use super::{Console, Failure, SEMANTICS_HELP, Status, parse, semantics};
use crate::input::Input;
use crate::output::to_stdout;
use ptxopt_grammar::function::{Function, functions};
use ptxopt_grammar::head::INDEPENDENT_THREADS;
use ptxopt_grammar::meaning::disputed::Dispute;
use ptxopt_grammar::meaning::disputed::Semantics;
use ptxopt_grammar::tree::Module;
use ptxopt_machine::{Argument, Launch, Machine};
use ptxopt_prover::blocks::{self, Effort, Outcome, packed};
use ptxopt_prover::fragment::Disputed;
use ptxopt_prover::{around, straight};
use std::path::PathBuf;

/// Decide whether two files compute the same for all inputs
///
/// Functions of the same name are compared, if their launch directives, parameters and the declarations that they use
/// are the same, and their targets; the second file's may be later, as `--raise` makes it. If they have the same control flow, they are compared block by block, and loops by induction:
/// all stores, loads, calls, barriers, branches and returned values must be equal. Calls of the same function are
/// assumed to be equal, since the called function has an answer of its own. If the proof fails, straight-line code is
/// refuted by inputs for which it differs, and other kernels are run on pseudo-random inputs, which can refute but not
/// prove.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Args {
    /// PTX file before the change; `-` is standard input
    before: PathBuf,

    /// PTX file after the change
    after: PathBuf,

    #[arg(long, value_name = "POLICY", help = SEMANTICS_HELP, value_parser = semantics())]
    video_semantics: Option<Semantics>,
}

const AFTER_HELP: &str = "\
A line for each function:
  NAME: proved (same text)            equal but for blanks, comments and debug directives
  NAME: proved (structural)           equal after simplification, for all inputs
  NAME: proved (sat, N conflicts)     proved by a SAT solver, for all inputs
  NAME: refuted                       different, with inputs and the results and lanes that differ
  NAME: tested, no difference: …      not proved, and why; no difference in runs of the kernel
  NAME: cannot decide: …              neither proved nor refuted nor run, and why

Then one for each variable of the modules that is not the same, whether a function names it or not:
  variable NAME: …                    how it differs

Exit status:
  0  every function was proved, and no variable differs
  1  an input is not valid PTX
  2  the command line is wrong
  3  something could not be read or written
  7  some function was refuted, or a test found a difference
  8  none was refuted, but some could not be proved, or variables differ";

/// The answer for a function.
enum Answer {
    /// With the kind of proof.
    Proved(String),
    Refuted(String),
    Tested(String),
    Undecided(String),
}

pub(super) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    let texts = [&args.before, &args.after].map(|path| Input::from(path.clone()));
    let [before, after] = texts.map(|input| (input.read(), input));
    let before_text = before.0.map_err(|error| Failure::reading(console, &before.1, &error))?;
    let after_text = after.0.map_err(|error| Failure::reading(console, &after.1, &error))?;
    let before = parse(console, &before.1, &before_text)?;
    let after = parse(console, &after.1, &after_text)?;
    let answers = compare(&before, &after, args.video_semantics.unwrap_or_default());
    let variables = around::variables(&before, &after);
    if let Some((old, new)) = around::raised(&before, &after)
        && old.gpu.number() < INDEPENDENT_THREADS
        && new.gpu.number() >= INDEPENDENT_THREADS
    {
        console.say(&format!(
            "note: from sm_{INDEPENDENT_THREADS} on, the threads of a warp are scheduled independently: what is said of \
             the change from {} to {} holds for code that does not rely on warps in lockstep\n",
            old.gpu, new.gpu
        ));
    }
    to_stdout(|out| {
        answers.iter().try_for_each(|(name, answer)| match answer {
            Answer::Proved(proof) => writeln!(out, "{name}: proved ({proof})"),
            Answer::Refuted(how) => write!(out, "{name}: refuted\n{how}"),
            Answer::Tested(how) => writeln!(out, "{name}: tested, no difference: {how}"),
            Answer::Undecided(why) => writeln!(out, "{name}: cannot decide: {why}"),
        })?;
        variables.iter().try_for_each(|(name, why)| writeln!(out, "variable {name}: {why}"))
    })
    .map_err(|error| Failure::writing(console, "<stdout>", &error))?;
    let count = |wanted: fn(&Answer) -> bool| answers.iter().filter(|(_, answer)| wanted(answer)).count();
    let refuted = count(|answer| matches!(answer, Answer::Refuted(_)));
    let open = count(|answer| matches!(answer, Answer::Tested(_) | Answer::Undecided(_)));
    let fail = |status, message: String| Err(Failure { status, message: console.renderer.failure(&message) });
    match (refuted, open) {
        (0, 0) if variables.is_empty() => Ok(()),
        (0, 0) => fail(Status::Undecided, "not proved: variables differ".to_owned()),
        (0, open) => fail(Status::Undecided, format!("not proved: {open} of {} functions", answers.len())),
        (refuted, _) => {
            fail(Status::Different, format!("different: {refuted} of {} functions", answers.len()))
        }
    }
}

fn compare(before: &Module<'_>, after: &Module<'_>, semantics: Semantics) -> Vec<(String, Answer)> {
    let (olds, news) = (functions(before), functions(after));
    let mut answers = Vec::new();
    for old in &olds {
        let new = news.iter().find(|new| new.name == old.name);
        let missing = || Answer::Undecided("the second file does not have it".to_owned());
        let answer = new.map_or_else(missing, |new| function((before, old), (after, new), semantics));
        answers.push((old.name.clone(), answer));
    }
    for new in news.iter().filter(|new| olds.iter().all(|old| old.name != new.name)) {
        answers.push((new.name.clone(), Answer::Undecided("the first file does not have it".to_owned())));
    }
    if answers.is_empty() {
        answers
            .push(("the files".to_owned(), Answer::Undecided("there is no function with a body".to_owned())));
    }
    answers
}

fn function(
    (before, old): (&Module<'_>, &Function),
    (after, new): (&Module<'_>, &Function),
    semantics: Semantics,
) -> Answer {
    if let Some(difference) = around::difference((before, old), (after, new)) {
        return Answer::Undecided(difference);
    }
    if around::same_text((before, old), (after, new)) {
        return Answer::Proved("same text".to_owned());
    }
    let told = packed::told((before, old), (after, new));
    match blocks::compare_packed((before, old), (after, new), semantics, &told, Effort::Most) {
        Outcome::Proved(proof) => Answer::Proved(proof.to_string()),
        Outcome::Disputed { file, disputed } => Answer::Undecided(dispute(file, &disputed)),
        Outcome::Stopped(why) => {
            let refuted = straight::refuted((before, old), (after, new)).map(Answer::Refuted);
            refuted.unwrap_or_else(|| tested(before, after, &old.name, &why))
        }
    }
}

/// Why functions with an instruction of disputed meaning are not decided.
fn dispute(file: &str, disputed: &Disputed) -> String {
    let Disputed { line, what, dispute } = disputed;
    let Dispute { name, manual, assembler, .. } = dispute;
    format!(
        "`{what}` in line {line} of the {file} file has two meanings ({name}): by the manual, {manual}; by NVIDIA's \
         assembler, {assembler}; `--video-semantics manual` selects the manual's"
    )
}

/// How many seeds a kernel is run with.
const SEEDS: u64 = 8;
/// The size of each buffer in bytes; all of it is compared.
const BUFFER: usize = 1 << 16;

/// Runs two functions that were not proved equal, if they are kernels.
fn tested(before: &Module<'_>, after: &Module<'_>, name: &str, reason: &str) -> Answer {
    let [old, new] = [before, after].map(Machine::new);
    for seed in 0..SEEDS {
        let [Some(x), Some(y)] = [&old, &new].map(|machine| outputs(machine, name, seed)) else {
            return Answer::Undecided(reason.to_owned());
        };
        if x != y {
            let difference = x.iter().zip(&y).enumerate().find_map(|(buffer, (x, y))| {
                let at = x.iter().zip(y).position(|(x, y)| x != y)?;
                let message = format!(
                    "  seed {seed}: byte {at} of buffer {buffer} is {:02x} before and {:02x} after\n",
                    x[at], y[at]
                );
                Some(message)
            });
            return Answer::Refuted(
                difference.unwrap_or_else(|| format!("  seed {seed}: the parameters differ\n")),
            );
        }
    }
    Answer::Tested(format!("{SEEDS} seeded runs of 32 threads, nothing proved; {reason}"))
}

/// The contents of a kernel's buffers after a run, if the run ends and its result is exact.
fn outputs(machine: &Machine<'_, '_>, name: &str, seed: u64) -> Option<Vec<Vec<u8>>> {
    let entry = machine.entries().find(|entry| entry.name == name)?;
    let mut memory = machine.memory();
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut draw = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state >> 24
    };
    let (mut arguments, mut buffers) = (Vec::new(), Vec::new());
    for (_, size) in &entry.parameters {
        if *size == 8 {
            let byte = |choice: u64| match choice & 3 {
                0 => {
                    [0x00, 0x01, 0x7f, 0x80, 0x81, 0xfe, 0xff, 0x00][usize::from(choice.to_le_bytes()[1] & 7)]
                }
                _ => choice.to_le_bytes()[1],
            };
            let buffer = memory.allocate((0..BUFFER).map(|_| byte(draw())).collect());
            buffers.push(buffer);
            arguments.push(Argument::Buffer(buffer));
        } else if matches!(size, 1 | 2 | 4) {
            arguments.push(Argument::Number(1 + draw() % 64));
        } else {
            let mut bytes = vec![0; *size as usize];
            bytes.iter_mut().step_by(8).for_each(|byte| *byte = 1 + (draw() % 64) as u8);
            arguments.push(Argument::Bytes(bytes));
        }
    }
    let launch = Launch { block: entry.block_of(32), budget: 5_000_000, ..Launch::of(name) };
    let outcome = machine.launch(&launch, &arguments, &mut memory);
    outcome.is_exact().then(|| buffers.iter().map(|&buffer| memory.bytes(buffer).to_vec()).collect())
}
