//! One input: reads, optimises and writes it, and collects what to report.

use super::Plan;
use crate::cli::{Console, Failure, Status, refused};
use crate::diff;
use crate::input::Input;
use crate::library::{Accepted, accept};
use crate::lines::Lines;
use crate::measure::{self, Count};
use crate::output::Output;
use crate::remarks::{self, Remark, Sources, View};
use crate::report::{Chapter, Subject};
use crate::summary::Tally;
use ptxopt_grammar::tree::Module;
use ptxopt_machine::replay::Difference;
use ptxopt_passes::optimiser::{Bound, Kind, Options, Outcome, Record};
use ptxopt_passes::verify::Wrong;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// An input and its output.
pub(super) struct Job {
    pub(super) input: Input,
    pub(super) output: Output,
}

/// The result for one input.
pub(super) struct Report {
    pub(super) result: Result<News, Failure>,
    pub(super) input: String,
}

/// What was done with an input.
pub(super) struct News {
    pub(super) read: usize,
    pub(super) written: usize,
    pub(super) statements: usize,
    pub(super) times: Times,
    pub(super) tally: Tally,
    pub(super) told: Told,
}

/// How long each phase took.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Times {
    pub(super) reading: Duration,
    pub(super) parsing: Duration,
    pub(super) passes: Duration,
    /// Assembling, with `--measure` or `--keep-better`.
    pub(super) assembling: Duration,
    pub(super) writing: Duration,
}

/// The output of the options that show something.
#[derive(Default)]
pub(super) struct Told {
    /// The module after each round, under headers.
    pub(super) rounds: Vec<u8>,
    pub(super) diff: Vec<u8>,
    pub(super) remarks: String,
    /// The part of the report.
    pub(super) chapter: Option<Chapter>,
    /// The message about an output that is not what would be written.
    pub(super) differs: String,
    /// What the assembler made of each function.
    pub(super) measured: String,
    /// Warnings about unknown parts of the input, rendered.
    pub(super) warnings: String,
    /// Bugs of ptxopt: wrong rewrites that were not made, and limits that were reached.
    pub(super) bugs: String,
}

impl Job {
    pub(super) fn run(&self, plan: &Plan, console: &Console) -> Report {
        Report { result: self.rewrite(plan, console), input: self.input.to_string() }
    }

    fn rewrite(&self, plan: &Plan, console: &Console) -> Result<News, Failure> {
        let Self { input, output } = self;
        let name = input.to_string();
        let mut clock = Clock(Instant::now());
        let mut times = Times::default();
        let text = input.read().map_err(|error| Failure::reading(console, input, &error))?;
        times.reading = clock.lap();
        let accepted = accept(&text, &plan.options.gpus, plan.strict)
            .map_err(|refusal| refused(console, input, &text, &refusal))?;
        let module = &accepted.module;
        let warnings = console.renderer.warnings(&name, &text, &accepted.warnings);
        let mut told = Told { warnings, ..Told::default() };
        times.parsing = clock.lap();
        let (outcome, count) = self.optimise(plan, &accepted, &mut told, &mut times).map_err(|failure| {
            let message = explained(&format!("`{name}` cannot be measured"), &failure, console);
            Failure { status: Status::Unreachable, message }
        })?;
        clock.lap();
        let statements = module.stmts().len();
        let tally = self.tell(plan, console, module, (&outcome, count.as_ref()), &mut told);
        if let (Some(count), Some(assembling)) = (count, &plan.assembling) {
            let release = assembling.assembler.release();
            for (gpu, comparison) in &count.comparisons {
                if plan.show.measure {
                    told.measured += &format!("{name}, assembled for {gpu} by ptxas {release}:\n");
                    told.measured += &measure::table(comparison);
                }
            }
            for note in &count.notes {
                told.measured += &format!("note: {name}: {note}\n");
            }
            if let Some(failure) = count.refused {
                let what =
                    format!("a bug of ptxopt, please report it: the optimised `{name}` was not written");
                told.bugs += &explained(&what, &failure, console);
            }
        }
        drop(accepted);
        let new = outcome.text.as_deref().unwrap_or(&text);
        if plan.show.diff {
            let changed = match output {
                Output::Stdout => format!("{name} (optimised)"),
                Output::File(path) => path.display().to_string(),
            };
            told.diff = diff::unified((&name, &text), (&changed, new), plan.diff_colour(console));
        }
        clock.lap();
        let mut written = 0;
        if plan.check_output {
            self.check(new, plan, console, &mut told)?;
        } else {
            write(new, plan.directory.as_deref(), output)
                .map_err(|error| Failure::writing(console, output, &error))?;
            written = new.len();
        }
        times.writing = clock.lap();
        Ok(News { read: text.len(), written, statements, times, tally, told })
    }

    /// Compares what would be written with what the output is.
    fn check(&self, new: &[u8], plan: &Plan, console: &Console, told: &mut Told) -> Result<(), Failure> {
        let Output::File(path) = &self.output else { return Ok(()) };
        let committed = Input::from(path.clone());
        let old = committed.read().map_err(|error| Failure::reading(console, &committed, &error))?;
        if old != new {
            let changed = format!("{} (optimised)", self.input);
            let names = (&*committed.to_string(), &*old);
            told.diff = diff::unified(names, (&changed, new), plan.diff_colour(console));
            let message = format!("`{committed}` is not what ptxopt makes of `{}`", self.input);
            let help = format!("`-o {committed}` instead of `--check-output` writes it");
            told.differs = console.renderer.refusal(&message, &help);
        }
        Ok(())
    }

    /// Optimises, measures if that is asked for, and records how long each took.
    fn optimise(
        &self,
        plan: &Plan,
        accepted: &Accepted<'_>,
        told: &mut Told,
        times: &mut Times,
    ) -> Result<(Outcome, Option<Count>), measure::AssemblerFailure> {
        let Some(assembling) = &plan.assembling else {
            return Ok((self.passes(plan, accepted, &plan.options, told, times), None));
        };
        let start = Instant::now();
        let mut passes = |options: &Options| {
            told.rounds.clear();
            self.passes(plan, accepted, options, told, times)
        };
        let (outcome, count) = assembling.run(&accepted.module, &plan.options, &mut passes)?;
        times.assembling = start.elapsed().saturating_sub(times.passes);
        Ok((outcome, Some(count)))
    }

    fn passes(
        &self,
        plan: &Plan,
        accepted: &Accepted<'_>,
        options: &Options,
        told: &mut Told,
        times: &mut Times,
    ) -> Outcome {
        let start = Instant::now();
        let clock = || start.elapsed();
        let mut watch = |round: u32, text: &[u8]| {
            told.rounds.extend(format!("// {} after round {round}\n", self.input).as_bytes());
            told.rounds.extend(text);
        };
        let outcome = accepted.optimise(options, &clock, plan.show.print_after.then_some(&mut watch));
        times.passes += start.elapsed();
        outcome
    }

    fn tell(
        &self,
        plan: &Plan,
        console: &Console,
        module: &Module<'_>,
        (outcome, count): (&Outcome, Option<&Count>),
        told: &mut Told,
    ) -> Tally {
        let name = self.input.to_string();
        let lines = Lines::of(if outcome.records.is_empty() { b"" } else { module.text() });
        let shows_sources = plan.show.remarks.is_some() || plan.show.report.is_some();
        let sources = if shows_sources { Sources::of(module) } else { Sources::default() };
        let gpus: Vec<String> = outcome.gpus.iter().map(ToString::to_string).collect();
        let gpus = gpus.join(",");
        let mut remarks = remarks::remarks(&outcome.records, &name, &lines, &sources, &gpus);
        if let Some(format) = plan.show.remarks {
            let view = View { format, colour: plan.remarks_colour(console), times: plan.show.time };
            told.remarks = remarks::write(&mut remarks, view);
        }
        told.bugs = remarks.iter().filter_map(|remark| bug(remark, console)).collect();
        let mut tally = Tally::of(outcome, &remarks, module.stmts().len());
        for (_, comparison) in count.iter().flat_map(|count| &count.comparisons) {
            tally.measured(comparison.instructions());
        }
        if plan.show.report.is_some() {
            let release = plan.assembling.as_ref().map(|assembling| assembling.assembler.release());
            told.chapter = Some(Chapter::new(&Subject {
                name: &name,
                output: &self.output.to_string(),
                module,
                outcome,
                remarks: &remarks,
                tally: &tally,
                counted: count.map(|count| &*count.comparisons).zip(release),
            }));
        }
        tally
    }
}

/// What was not done, and the assembler's messages about it, one per line.
fn explained(what: &str, failure: &measure::AssemblerFailure, console: &Console) -> String {
    let said = failure.to_string();
    let mut lines = said.lines();
    let mut message = console.renderer.failure(&format!("{what}: {}", lines.next().unwrap_or_default()));
    for line in lines {
        writeln!(message, "  {}", remarks::shown(line)).expect("a string can be written to");
    }
    message
}

/// The message about a bug of ptxopt that ptxopt itself found; `None` for other records.
fn bug(remark: &Remark<'_>, console: &Console) -> Option<String> {
    match &remark.record.kind {
        Kind::Passed(_) | Kind::Missed(_) => None,
        Kind::Wrong(wrong) => Some(wrong_rewrite(wrong, remark, console)),
        Kind::Diverged(difference) => Some(diverged(difference, remark, console)),
        Kind::Misplaced(why) => Some(misplaced(why, remark, console)),
        Kind::Illegal(words) => Some(illegal(words, remark, console)),
        Kind::Unending(bound) => Some(unending(*bound, remark, console)),
    }
}

fn diverged(difference: &Difference, remark: &Remark<'_>, console: &Console) -> String {
    let Record { rules, function, before, after, .. } = remark.record;
    let title = format!(
        "a replay of `{function}` in `{}` gave another result after a rewrite in line {}, and the function was left \
         unchanged: a bug of ptxopt, please report it with the lines below",
        remark.file, remark.position.line
    );
    let mut message = console.renderer.failure(&title);
    write!(
        message,
        "  rules   {}\n  before  {}\n  after   {}\n  replay  {}\n",
        rules.join(", "),
        remarks::shown(before),
        remarks::shown(&after.join(" ")),
        remarks::shown(&difference.to_string())
    )
    .expect("a string can be written to");
    message
}

fn misplaced(why: &str, remark: &Remark<'_>, console: &Console) -> String {
    let Record { function, before, after, .. } = remark.record;
    let title = format!(
        "moves that keep words of `{function}` as halves, line {} of `{}`, would have been wrong, and the function was \
         left unchanged: a bug of ptxopt, please report it with the lines below",
        remark.position.line, remark.file
    );
    let mut message = console.renderer.failure(&title);
    let (before, after) = (remarks::shown(before), remarks::shown(&after.join(" ")));
    let why = remarks::shown(why);
    writeln!(message, "  near    {before}\n  at      {after}\n  why     it {why}")
        .expect("a string can be written to");
    message
}

fn illegal(words: &str, remark: &Remark<'_>, console: &Console) -> String {
    let Record { rules, function, before, after, .. } = remark.record;
    let title = format!(
        "a rewrite in `{function}`, line {} of `{}`, would have produced `{words}`, which PTX does not have, \
         and was not made: a bug of ptxopt, please report it",
        remark.position.line, remark.file
    );
    let mut message = console.renderer.failure(&title);
    let (before, after) = (remarks::shown(before), remarks::shown(&after.join(" ")));
    writeln!(message, "  rules   {}\n  before  {before}\n  after   {after}", rules.join(", "))
        .expect("a string can be written to");
    message
}

fn unending(bound: Bound, remark: &Remark<'_>, console: &Console) -> String {
    let Record { function, before, .. } = remark.record;
    let title = format!(
        "{bound} in `{function}`, line {} of `{}`, and were stopped: a bug of ptxopt, please report it",
        remark.position.line, remark.file
    );
    let mut message = console.renderer.failure(&title);
    writeln!(message, "  at      {}", remarks::shown(before)).expect("a string can be written to");
    message
}

fn wrong_rewrite(wrong: &Wrong, remark: &Remark<'_>, console: &Console) -> String {
    let Record { rules, function, before, after, .. } = remark.record;
    let title = format!(
        "a rewrite in `{function}`, line {} of `{}`, would have been wrong and was not made: \
         a bug of ptxopt, please report it with the lines below",
        remark.position.line, remark.file
    );
    let mut message = console.renderer.failure(&title);
    let name = |number: u32| remarks::shown(wrong.names.get(&number).map_or("?", String::as_str));
    let difference = wrong.counterexample.describe(name, |_result| "the result".to_owned());
    write!(
        message,
        "  rules   {}\n  before  {}\n  after   {}\n{difference}",
        rules.join(", "),
        remarks::shown(before),
        remarks::shown(&after.join(" "))
    )
    .expect("a string can be written to");
    message
}

fn write(text: &[u8], directory: Option<&Path>, output: &Output) -> std::io::Result<()> {
    directory.map_or(Ok(()), fs::create_dir_all)?;
    output.write(std::iter::once(text))
}

/// Measures the time between calls of [`lap`](Self::lap).
struct Clock(Instant);

impl Clock {
    fn lap(&mut self) -> Duration {
        let now = Instant::now();
        now - std::mem::replace(&mut self.0, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ColorChoice;
    use ptxopt_grammar::diagnostic::Position;
    use ptxopt_grammar::meaning::term::Terms;
    use ptxopt_passes::rules::Pass;
    use ptxopt_prover::{Query, Verdict, prove};

    #[test]
    fn a_wrong_rewrite_is_told_with_its_rules_and_lane_by_lane() {
        let mut terms = Terms::new();
        let (a, b) = (terms.input(0, 32), terms.input(1, 32));
        let Verdict::Refuted(counterexample) = prove(&Query::new(&terms, vec![a], vec![b])) else {
            panic!("two inputs are not equal");
        };
        let names = [(0, "%a".to_owned()), (1, "%b".to_owned())].into();
        let record = Record {
            kind: Kind::Wrong(Box::new(Wrong { counterexample, names })),
            pass: Pass::Simplify,
            rules: vec!["one", "two"],
            function: "f".to_owned(),
            offset: 0,
            before: "mov.b32 %d, %a;".to_owned(),
            after: vec!["mov.b32 %d, %b;".to_owned()],
            cost: None,
            here: None,
            each: Vec::new(),
            freed: Vec::new(),
            time: Duration::ZERO,
        };
        let position = Position { line: 7, column: 1 };
        let remark = Remark { record: &record, file: "x.ptx", position, source: None, gpu: "", time: None };
        let said = bug(&remark, &Console::new(ColorChoice::Never)).expect("it is wrong");
        assert!(
            said.starts_with("error: a rewrite in `f`, line 7 of `x.ptx`, would have been wrong"),
            "{said}"
        );
        for line in ["  rules   one, two\n", "  before  mov.b32 %d, %a;\n", "input   %a = 0x", "lane "] {
            assert!(said.contains(line), "{said}");
        }
    }

    #[test]
    fn moves_that_would_be_wrong_are_told_as_a_bug() {
        let record = Record {
            kind: Kind::Misplaced("reads a word that its register does not hold here".to_owned()),
            pass: Pass::Lower,
            rules: vec!["lower"],
            function: "f".to_owned(),
            offset: 0,
            before: "mov.b32 %b, %a;".to_owned(),
            after: vec!["mov.b32 %b, %a;".to_owned()],
            cost: None,
            here: None,
            each: Vec::new(),
            freed: Vec::new(),
            time: Duration::ZERO,
        };
        let position = Position { line: 7, column: 1 };
        let remark = Remark { record: &record, file: "x.ptx", position, source: None, gpu: "", time: None };
        let said = bug(&remark, &Console::new(ColorChoice::Never)).expect("it is a bug");
        for part in
            ["of `f` as halves, line 7 of `x.ptx`", "at      mov.b32 %b, %a;\n", "why     it reads a word"]
        {
            assert!(said.contains(part), "{said}");
        }
    }

    #[test]
    fn a_rewrite_to_an_instruction_that_does_not_exist_is_told_as_a_bug() {
        let record = Record {
            kind: Kind::Illegal("mov.b8".to_owned()),
            pass: Pass::Fold,
            rules: vec!["fold-constant"],
            function: "f".to_owned(),
            offset: 0,
            before: "cvt.u8.u32 %b, %a;".to_owned(),
            after: vec!["mov.b8 %b, 5;".to_owned()],
            cost: None,
            here: None,
            each: Vec::new(),
            freed: Vec::new(),
            time: Duration::ZERO,
        };
        let position = Position { line: 7, column: 1 };
        let remark = Remark { record: &record, file: "x.ptx", position, source: None, gpu: "", time: None };
        let said = bug(&remark, &Console::new(ColorChoice::Never)).expect("it is a bug");
        for part in ["line 7 of `x.ptx`", "`mov.b8`, which PTX does not have", "after   mov.b8 %b, 5;\n"] {
            assert!(said.contains(part), "{said}");
        }
    }
}
