//! A module optimised with and without words that are kept as halves; each function as it is better.
//!
//! Both are whole runs with all their proofs, on the same original, so functions can be taken from either.

use super::guard::restored;
use super::halves::{Kept, checked, frequencies, keeps};
use super::record::{Record, Statements};
use super::rounds::{Run, parsed};
use super::splice::Fresh;
use super::visible::declarations;
use super::{Clock, Options, Outcome};
use crate::cost::Costs;
use crate::graph::Graph;
use crate::rules::Pass;
use ptxopt_grammar::function::{Function, functions};
use ptxopt_grammar::tree::Module;
use std::collections::{BTreeMap, BTreeSet};

/// Runs until nothing changes; `watch` is shown the number and the text of every round that changed something.
pub(super) fn better(
    most_rounds: u32,
    module: &Module<'_>,
    options: &Options,
    clock: Clock<'_>,
    empty: Outcome,
    watch: &mut dyn FnMut(u32, &[u8]),
) -> Outcome {
    let (kept, bugs) = checked(module, kept(module, options));
    let begin = |empty| Run::new(most_rounds, module, options, clock, empty);
    if kept.is_empty() {
        return with(begin(empty).finish(module, watch), bugs);
    }
    let other = Outcome::empty(empty.gpus.clone(), empty.seen);
    let (mut rounds, mut other_rounds) = (Vec::new(), Vec::new());
    let plain = begin(empty).finish(module, &mut |round, text| rounds.push((round, text.to_vec())));
    let halved = begin(other)
        .halved(&kept)
        .finish(module, &mut |round, text| other_rounds.push((round, text.to_vec())));
    let names = shorter(module, options, &plain, &halved, &kept);
    let rounds = if names.is_empty() { rounds } else { other_rounds };
    rounds.iter().for_each(|(round, text)| watch(*round, text));
    with(if names.is_empty() { plain } else { joined(module, plain, halved, &names) }, bugs)
}

/// An outcome with more records.
fn with(outcome: Outcome, more: Vec<Record>) -> Outcome {
    let records = outcome.records.into_iter().chain(more).collect();
    Outcome { records, ..outcome }
}

/// What is worth a try, by the numbers of the functions.
fn kept(module: &Module<'_>, options: &Options) -> BTreeMap<usize, Kept> {
    let gpus = options.gpus_of(module);
    let passes = [Pass::Lower, Pass::Dce].iter().all(|pass| options.passes.contains(pass));
    // The limit counts rewrites one by one, and these come all together.
    if gpus.is_empty() || !passes || options.limit.is_some() {
        return BTreeMap::new();
    }
    let (costs, declarations, fresh) = (Costs::on(&gpus), declarations(module), Fresh::new(module.text()));
    let try_one = |function: Function| {
        let left = options.leave.contains_key(&function.name);
        if left || !keeps(module, &function) {
            return None;
        }
        let graph = Graph::new(module, function, options.semantics).ok()?;
        Kept::of(&graph, costs, &declarations, &fresh)
    };
    let functions = functions(module).into_iter().enumerate();
    functions.filter_map(|(number, function)| Some((number, try_one(function)?))).collect()
}

/// The names of the functions that are better with halves: what is executed in loops counts more, but none may be longer
/// than it came.
fn shorter(
    module: &Module<'_>,
    options: &Options,
    plain: &Outcome,
    halved: &Outcome,
    kept: &BTreeMap<usize, Kept>,
) -> BTreeSet<String> {
    let stmts = Statements::of(module);
    let mut names = BTreeSet::new();
    for (number, function) in functions(module).into_iter().enumerate() {
        if !kept.contains_key(&number) {
            continue;
        }
        let name = function.name.clone();
        let Ok(graph) = Graph::new(module, function, options.semantics) else { continue };
        let often = frequencies(graph.flow());
        let weight = |record: &Record| {
            let stmt = stmts.at(record.offset).filter(|stmt| graph.function().body.contains(&stmt.index()));
            stmt.and_then(|stmt| often.get(&graph.flow().block(stmt)).copied()).unwrap_or(1)
        };
        let saved = |outcome: &Outcome| -> (i64, i64) {
            let records = outcome.records.iter().filter(|record| record.function == name);
            let each = records.filter_map(|record| Some((record.estimate()?.saved, weight(record))));
            each.fold((0, 0), |(all, often), (saved, weight)| (all + saved, often + saved * weight))
        };
        let bug = halved.records.iter().any(|record| record.function == name && record.kind.is_bug());
        let (before, after) = (saved(plain), saved(halved));
        if !bug && before.1 < after.1 && before.0.min(1) <= after.0 {
            names.insert(name);
        }
    }
    names
}

/// The functions of one outcome with some of another.
fn joined(module: &Module<'_>, plain: Outcome, halved: Outcome, names: &BTreeSet<String>) -> Outcome {
    let is_named = |record: &Record| names.contains(&record.function);
    let text = {
        let (plain, halved) = (plain.text.as_deref(), halved.text.as_deref());
        let from = halved.expect("what saves something has changed something");
        restored(&parsed(from), plain.unwrap_or(module.text()), names)
    };
    let mut records: Vec<Record> = plain.records.into_iter().filter(|record| !is_named(record)).collect();
    records.extend(halved.records.into_iter().filter(is_named));
    records.sort_by_key(|record| record.offset);
    Outcome {
        text: Some(text),
        records,
        rounds: plain.rounds.max(halved.rounds),
        remembered: plain.remembered + halved.remembered,
        ..plain
    }
}
