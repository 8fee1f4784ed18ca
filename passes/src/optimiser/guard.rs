//! What is held against the original once the rounds are over, and what goes back to it.
//!
//! Every function that changed is replayed, before and after. One that does something else, and one in which a rewrite
//! would have been wrong or work had no end, is written as it came: nothing of a function is kept once one of its
//! rewrites has shown that something that the optimiser believes of it is not so. Functions do not depend on each
//! other's edits, so the others stay as they are.

use super::record::{Kind, Record};
use super::rounds::Run;
use super::{Clock, Options, Outcome};
use crate::graph::{Function, functions};
use crate::machine::replay::{Changed, Difference, Shown, replay};
use ptxopt_grammar::tree::{Module, StmtId, StmtKind};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// What replays have covered.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Replayed {
    /// How many functions were replayed.
    pub functions: u64,
    /// How many of the changed statements some run came to.
    pub reached: u64,
    /// How many statements of the original are others now, or gone.
    pub changed: u64,
    /// How long it took.
    pub time: Duration,
}

/// Replays what changed, and gives back what must not be written.
pub(super) fn guard(
    module: &Module<'_>,
    outcome: &mut Outcome,
    options: &Options,
    most_rounds: u32,
    clock: Clock<'_>,
) {
    let start = clock();
    let changed = changed(module, &outcome.records);
    let Some(text) = outcome.text.take() else { return };
    let shown = replay(module, &parsed(&text), &changed);
    let mut bugs = Vec::new();
    for (changed, shown) in changed.iter().zip(shown) {
        let Some(Shown { reached: (reached, all), difference }) = shown else { continue };
        outcome.replayed.functions += 1;
        outcome.replayed.reached += reached as u64;
        outcome.replayed.changed += all as u64;
        if let Some(difference) = difference {
            bugs.push(blame(module, options, most_rounds, clock, &outcome.records, (changed, difference)));
        }
    }
    outcome.records.extend(bugs);
    outcome.replayed.time = clock().saturating_sub(start);
    let bad: BTreeSet<String> = outcome
        .records
        .iter()
        .filter(|record| record.kind.is_bug())
        .map(|record| record.function.clone())
        .collect();
    outcome
        .records
        .retain(|record| !(bad.contains(&record.function) && matches!(record.kind, Kind::Passed(_))));
    let text = if bad.is_empty() { text } else { restored(module, &text, &bad) };
    outcome.text = (text != module.text()).then_some(text);
}

/// The functions with rewrites, and the statements that these are about.
fn changed(module: &Module<'_>, records: &[Record]) -> Vec<Changed> {
    let starts: Vec<usize> = module.stmts().map(|stmt| module.stmt_span(stmt).start).collect();
    let stmt_at = |offset: usize| {
        let before = starts.partition_point(|&start| start <= offset).checked_sub(1)?;
        StmtId::new(before).filter(|&stmt| module.kind(stmt) == StmtKind::Instruction)
    };
    let mut changed: BTreeMap<&str, BTreeSet<StmtId>> = BTreeMap::new();
    for record in records.iter().filter(|record| matches!(record.kind, Kind::Passed(_))) {
        changed.entry(&record.function).or_default().extend(stmt_at(record.offset));
    }
    let changed = changed.into_iter();
    changed.map(|(function, stmts)| Changed { function: function.to_owned(), stmts }).collect()
}

/// The text, with some functions as they came.
pub(super) fn restored(module: &Module<'_>, text: &[u8], names: &BTreeSet<String>) -> Vec<u8> {
    let new = parsed(text);
    let mut whole = Vec::with_capacity(text.len());
    let mut from = 0;
    for (old, now) in functions(module).iter().zip(&functions(&new)) {
        if names.contains(&old.name) {
            let (old, now) = (inside(module, old), inside(&new, now));
            whole.extend(&text[from..now.start]);
            whole.extend(&module.text()[old]);
            from = now.end;
        }
    }
    whole.extend(&text[from..]);
    whole
}

/// What stands between the braces of a body.
fn inside(module: &Module<'_>, function: &Function) -> std::ops::Range<usize> {
    let brace = |at: usize| module.stmt_span(StmtId::new(at).expect("a body stands between two statements"));
    brace(function.body.start - 1).end..brace(function.body.end).start
}

/// The rewrite after which a function does something else: the last of the fewest with which it does.
fn blame(
    module: &Module<'_>,
    options: &Options,
    most_rounds: u32,
    clock: Clock<'_>,
    records: &[Record],
    (changed, difference): (&Changed, Difference),
) -> Record {
    let passed =
        |record: &&Record| record.function == changed.function && matches!(record.kind, Kind::Passed(_));
    let with = |limit: u64| {
        let options = Options { limit: Some(limit), ..options.clone() };
        let empty = Outcome::empty(options.gpu);
        Run::new(most_rounds, module, &options, clock, empty)
            .only(module, &changed.function)
            .finish(module, &mut |_, _| ())
    };
    let differs = |outcome: &Outcome| {
        let text = outcome.text.as_deref()?;
        replay(module, &parsed(text), std::slice::from_ref(changed)).pop()??.difference
    };
    let (mut good, mut bad) = (0, records.iter().filter(passed).count() as u64);
    let mut guilty = None;
    while good < bad {
        let middle = good + (bad - good) / 2;
        let outcome = with(middle);
        if differs(&outcome).is_some() {
            bad = middle;
            guilty = outcome.records.into_iter().rfind(|record| passed(&record));
        } else {
            good = middle + 1;
        }
    }
    let guilty = guilty.or_else(|| records.iter().rfind(passed).cloned());
    let record = guilty.expect("a function without rewrites is not replayed");
    Record { kind: Kind::Diverged(Box::new(difference)), ..record }
}

fn parsed(text: &[u8]) -> Module<'_> {
    ptxopt_grammar::parse(text).expect("what the rounds leave is legal")
}
