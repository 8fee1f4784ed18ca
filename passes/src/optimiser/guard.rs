//! After the rounds: changed functions are compared with the original, and those that are wrong go back to it.
//!
//! Every function that changed is replayed, before and after. One that does something else, and one in which a
//! rewrite would have been wrong or work had no end, is written as it came: nothing of a function is kept once one of
//! its rewrites has shown that an assumption of the optimiser about it is wrong. Functions do not depend on each
//! other's edits, so the others stay as they are.

use super::batches::batches;
use super::record::{How, Kind, Record, Statements};
use super::rounds::{Run, parsed};
use super::{Clock, Options, Outcome, Seen};
use crate::threads::on_threads;
use ptxopt_grammar::function::{Function, functions};
use ptxopt_grammar::tree::{Module, StmtId, StmtKind};
use ptxopt_machine::replay::{Changed, Difference, Replay, Shown, replay};
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
    let Some(text) = outcome.text.take() else { return };
    let start = clock();
    let changed = changed(module, &outcome.records);
    let new = parsed(&text);
    let replay_of = Replay::new(module, &new, &changed);
    let shown = on_threads(options.threads, (0..changed.len()).collect(), &|at| replay_of.function(at));
    drop(new);
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
    let stmts = Statements::of(module);
    let instruction =
        |offset: usize| stmts.at(offset).filter(|&stmt| module.kind(stmt) == StmtKind::Instruction);
    let mut changed: BTreeMap<&str, BTreeSet<StmtId>> = BTreeMap::new();
    for record in records.iter().filter(|record| matches!(record.kind, Kind::Passed(_))) {
        changed.entry(&record.function).or_default().extend(instruction(record.offset));
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
    // The limit counts rewrites; what they free and what then is no longer named follows from them.
    let counted = |record: &&Record| {
        let rewrites = matches!(record.kind, Kind::Passed(How::Proved(_) | How::Sampled));
        let sweeps = options.dce_all && record.kind == Kind::Passed(How::Dead);
        record.function == changed.function && (rewrites || sweeps)
    };
    let mut batches = batches(&functions(module), options.check);
    let mut with = |limit: u64| {
        let options = Options { limit: Some(limit), ..options.clone() };
        let empty = Outcome::empty(options.gpus.clone(), Seen::default());
        Run::new(most_rounds, module, &options, clock, &mut batches, empty)
            .only(module, &changed.function)
            .finish(module, None)
    };
    let differs = |outcome: &Outcome| {
        let text = outcome.text.as_deref()?;
        replay(module, &parsed(text), std::slice::from_ref(changed)).pop()??.difference
    };
    let (mut good, mut bad) = (0, records.iter().filter(counted).count() as u64);
    let mut guilty = None;
    while good < bad {
        let middle = good + (bad - good) / 2;
        let outcome = with(middle);
        if differs(&outcome).is_some() {
            bad = middle;
            guilty = outcome.records.into_iter().rfind(|record| counted(&record));
        } else {
            good = middle + 1;
        }
    }
    let passed =
        |record: &&Record| record.function == changed.function && matches!(record.kind, Kind::Passed(_));
    let guilty = guilty.or_else(|| records.iter().rfind(passed).cloned());
    let record = guilty.expect("a function without rewrites is not replayed");
    Record { kind: Kind::Diverged(Box::new(difference)), ..record }
}

#[cfg(test)]
mod tests {
    use super::super::record::Bound;
    use super::*;

    const TEXT: &str = ".version 8.0\n.target sm_75\n.address_size 64\n\
        .func (.reg .b32 r) one(.reg .b32 a)\n{ // one\n\tand.b32 r, a, 255;\n\tret;\n}\n\
        .func (.reg .b32 r) two(.reg .b32 a)\n{ // two\n\tand.b32 r, a, 255;\n\tret;\n}\n";

    /// What is left of edits of both functions, each with the record of one rewrite and a kind for more.
    fn guarded(one: &str, two: &str, more: Option<Kind>) -> (Option<String>, Vec<Record>) {
        let module = parsed(TEXT.as_bytes());
        let text = TEXT.replacen("and.b32 r, a, 255;", one, 1);
        let at = text.find("two(").expect("it is there");
        let text = text[..at].to_owned() + &text[at..].replace("and.b32 r, a, 255;", two);
        let stmts = module.stmts().filter(|&stmt| module.stmt_text(stmt).starts_with(b"and"));
        let record = |(stmt, function): (StmtId, &str)| {
            Record::about(&module, function, stmt, Kind::Passed(super::super::How::Sampled))
        };
        let mut outcome =
            Outcome { text: Some(text.into_bytes()), ..Outcome::empty(Vec::new(), Seen::default()) };
        outcome.records = stmts.zip(["one", "two"]).map(record).collect();
        let bug = more.map(|kind| Record { kind, ..outcome.records[0].clone() });
        outcome.records.extend(bug);
        guard(&module, &mut outcome, &Options::default(), 10, &|| Duration::ZERO);
        assert_eq!(outcome.replayed.reached, outcome.replayed.changed);
        (outcome.text.map(|text| String::from_utf8(text).expect("it is text")), outcome.records)
    }

    #[test]
    fn what_does_the_same_is_kept() {
        let (text, records) = guarded("bfe.u32 r, a, 0, 8;", "bfe.u32 r, a, 0, 8;", None);
        assert_eq!(text.expect("it changed").matches("bfe").count(), 2);
        assert!(records.iter().all(|record| matches!(record.kind, Kind::Passed(_))));
    }

    #[test]
    fn a_function_that_does_something_else_goes_back_and_the_other_does_not() {
        let (text, records) = guarded("bfe.u32 r, a, 0, 7;", "bfe.u32 r, a, 0, 8;", None);
        let expected = TEXT.replace("{ // two\n\tand.b32 r, a, 255;", "{ // two\n\tbfe.u32 r, a, 0, 8;");
        assert_eq!(text.expect("the second changed"), expected);
        let kinds: Vec<(&str, bool)> =
            records.iter().map(|record| (record.function.as_str(), record.kind.is_bug())).collect();
        assert_eq!(kinds, [("two", false), ("one", true)]);
        assert!(matches!(records[1].kind, Kind::Diverged(_)));
    }

    #[test]
    fn any_other_bug_takes_all_edits_of_its_function_back() {
        let bug = Kind::Unending(Bound::Spellings);
        let (text, records) = guarded("bfe.u32 r, a, 0, 8;", "bfe.u32 r, a, 0, 8;", Some(bug));
        let text = text.expect("the second changed");
        assert!(text.contains("{ // one\n\tand") && text.contains("{ // two\n\tbfe"), "{text}");
        assert_eq!(records.iter().filter(|record| record.kind.is_bug()).count(), 1);
        let (text, _) = guarded("bfe.u32 r, a, 0, 7;", "bfe.u32 r, a, 0, 7;", None);
        assert_eq!(text, None, "nothing is left");
    }
}
