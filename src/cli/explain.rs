//! `ptxopt explain`: the rules, each with its law and its examples, which are optimised when the command runs.

use super::{Console, Failure, Status};
use crate::diff;
use crate::output::to_stdout;
use ptxopt_grammar::meaning::disputed::DISPUTES;
use ptxopt_passes::cost::{Gpu, table::GENERATIONS};
use ptxopt_passes::optimiser::{Kind, Options, Outcome, optimise};
use ptxopt_passes::rules::{Rule, SWEEPS, Sweep, UNNAMED, example_module, rules};
use ptxopt_passes::{PASSES, stage_of};
use std::fmt::Write;
use std::time::Duration;

/// Explain a rule by its law and examples, or list all rules
///
/// The examples are optimised with all rules when the command runs. If other rules do better, or if nothing is cheaper,
/// the output says so.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Rule to explain; `disputed` lists the instructions on whose meaning the manual and the assembler disagree
    rule: Option<String>,

    /// GPU to optimise the examples for; the default is the newest on which the rule is used
    #[arg(long, value_name = "GPU", value_parser = super::optimise::gpu)]
    gpu: Option<Gpu>,
}

pub(super) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    let text = match args.rule.as_deref() {
        None => list(),
        Some("disputed") => disputes(),
        Some(name) => match (rules().find(|rule| rule.name == name), sweep(name)) {
            (Some(rule), _) => explain(rule, args.gpu),
            (None, Some(Sweep { name, law, pass })) => {
                format!("{name} (pass `{}`): {law}\n", stage_of(*pass).name)
            }
            (None, None) => {
                let message = format!("there is no rule `{name}`; `ptxopt explain` lists them");
                let message = console.renderer.failure(&message);
                return Err(Failure { status: Status::Usage, message });
            }
        },
    };
    to_stdout(|out| out.write_all(text.as_bytes()))
        .map_err(|error| Failure::writing(console, "<stdout>", &error))
}

fn sweep(name: &str) -> Option<&'static Sweep> {
    SWEEPS.into_iter().find(|sweep| sweep.name == name)
}

/// All rules by pass.
fn list() -> String {
    let mut out = String::new();
    let width = rules().map(|rule| rule.name.len()).max().unwrap_or(0);
    let swept = SWEEPS.iter().map(|sweep| (sweep.pass, sweep.name, sweep.law));
    let all: Vec<_> = rules().map(|rule| (rule.pass, rule.name, rule.law)).chain(swept).collect();
    for stage in PASSES {
        writeln!(out, "{}: {}", stage.name, stage.summary).expect("a string can be written to");
        for (_, name, law) in all.iter().filter(|(pass, ..)| *pass == stage.pass) {
            writeln!(out, "  {name:<width$}  {law}").expect("a string can be written to");
        }
    }
    out
}

fn disputes() -> String {
    let mut out = String::new();
    for dispute in &DISPUTES {
        let lines = [
            format!("{}: {}", dispute.name, dispute.forms),
            format!("  the manual:    {}", dispute.manual),
            format!("  the assembler: {}", dispute.assembler),
            format!("  seen in:       {}", dispute.evidence),
        ];
        for line in lines {
            writeln!(out, "{line}").expect("a string can be written to");
        }
    }
    out
}

fn explain(rule: &Rule, gpu: Option<Gpu>) -> String {
    let mut out = format!("{} (pass `{}`): {}\n", rule.name, stage_of(rule.pass).name, rule.law);
    for example in rule.examples {
        let text = example_module(&format!("{}\n", lines(example).join("\n")));
        let newest_first = GENERATIONS.iter().rev();
        let all = || newest_first.filter_map(|generation| Gpu::parse(generation.gpu)).collect();
        let gpus: Vec<Gpu> = gpu.map_or_else(all, |gpu| vec![gpu]);
        let outcomes = gpus.into_iter().map(|gpu| (gpu, optimised(&text, gpu)));
        let mut outcomes: Vec<(Gpu, Outcome)> = outcomes.collect();
        let pays =
            outcomes.iter().position(|(_, outcome)| trails(outcome).any(|trail| trail.contains(&rule.name)));
        let (gpu, outcome) = outcomes.swap_remove(pays.unwrap_or(0));
        out.push_str(&shown(rule, example, &text, gpu, &outcome));
    }
    out
}

/// The statements of an example, one per line.
fn lines(example: &str) -> Vec<String> {
    let stmts = example.split_inclusive(';').map(|stmt| stmt.trim().to_owned());
    stmts.filter(|stmt| !stmt.is_empty()).collect()
}

fn optimised(text: &str, gpu: Gpu) -> Outcome {
    let module = ptxopt_grammar::parse(text.as_bytes()).expect("the tests parse all examples");
    let options = Options { gpus: vec![gpu], ..Options::default() };
    optimise(&module, &options, &|| Duration::ZERO)
}

/// The rules of each rewrite that was made.
fn trails(outcome: &Outcome) -> impl Iterator<Item = &[&'static str]> {
    let passed = outcome.records.iter().filter(|record| matches!(record.kind, Kind::Passed(_)));
    passed.map(|record| record.rules.as_slice())
}

/// An example before and after.
fn shown(rule: &Rule, example: &str, text: &str, gpu: Gpu, outcome: &Outcome) -> String {
    let count = |lines: usize| u32::try_from(lines).expect("an example is short");
    let first = text.lines().count() - lines(example).len() - 3;
    let new = outcome.text.as_deref().map(String::from_utf8_lossy);
    let new = new.as_deref().unwrap_or(text);
    let mut out = format!("\non {gpu}:\n");
    for line in diff::marked(text, new, count(first - 1)..count(text.lines().count() - 4)) {
        writeln!(out, "  {line}").expect("a string can be written to");
    }
    let others = trails(outcome).flatten().copied();
    let others: Vec<&str> = others.filter(|&name| name != rule.name && name != UNNAMED.name).collect();
    let by = if trails(outcome).any(|trail| trail.contains(&rule.name)) {
        if others.is_empty() { String::new() } else { format!("  with {}\n", others.join(", ")) }
    } else if others.is_empty() {
        "  unchanged: no rule finds cheaper code here\n".to_owned()
    } else {
        format!("  other rules do better here: {}\n", others.join(", "))
    };
    out + &by
}
