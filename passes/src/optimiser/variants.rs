//! A module optimised in several variants: as it came, with words kept as halves, with accesses to
//! bytes and halves as accesses to words, and with bytes that are carried side by side in a word; each function as it
//! is best.
//!
//! All are whole runs with all their proofs, on the same original, so functions can be taken from any of them. What a
//! variant begins with changes nothing by itself, which is proved (see `halves`, `words` and `carried`); whether it pays
//! is known at the end.

mod carrying;

use super::batches::{Batch, batches, proving, remembered};
use super::beginning::Beginning;
use super::carried::Carried;
use super::guard::restored;
use super::halves::{Kept, checked, frequencies, keeps};
use super::record::{Record, Statements};
use super::rounds::{Run, parsed};
use super::runs;
use super::splice::{Fresh, is_written};
use super::spliced::Spliced;
use super::visible::declarations;
use super::words::Words;
use super::{Clock, Options, Outcome, Watch};
use crate::cost::Costs;
use crate::graph::{Flow, Graph};
use crate::rules::Pass;
use ptxopt_grammar::edit::Edits;
use ptxopt_grammar::function::{Function, functions};
use ptxopt_grammar::tree::Module;
use ptxopt_prover::blocks;
use std::collections::{BTreeMap, BTreeSet};

/// What a variant begins with.
#[derive(Default)]
pub(super) struct Begun {
    /// The edits of the first round.
    pub(super) edits: Edits,
    /// Their records, by the numbers of the functions that are changed.
    pub(super) records: BTreeMap<usize, Vec<Record>>,
}

/// A run that is over, and the number and the text of every round that changed something.
struct Ended {
    outcome: Outcome,
    rounds: Vec<(u32, Vec<u8>)>,
}

/// A module and how it is to be optimised.
struct Task<'t, 'm> {
    most_rounds: u32,
    module: &'t Module<'m>,
    options: &'t Options,
    clock: Clock<'t>,
    /// The functions that may be changed, by their numbers.
    functions: Vec<(usize, Function)>,
    fresh: Fresh,
    /// Whether somebody asks for the texts of rounds.
    keeps_rounds: bool,
}

/// How a run begins.
enum Begins<'b> {
    /// With the text as it came.
    AsItCame,
    /// So too, and what functions could begin with is noted, by their numbers.
    Seeking(&'b mut BTreeMap<usize, Beginning>),
    With(Begun),
}

/// Runs until nothing changes; `watch` is shown the number and the text of every round that changed something.
pub(super) fn best(
    most_rounds: u32,
    module: &Module<'_>,
    options: &Options,
    clock: Clock<'_>,
    empty: &Outcome,
    watch: Option<Watch<'_>>,
) -> Outcome {
    let functions = functions(module);
    let mut batches = batches(&functions, options.check);
    let functions = functions.into_iter().enumerate();
    let functions = functions.filter(|(_, function)| !options.leave.contains_key(&function.name)).collect();
    let fresh = Fresh::new(module.text());
    let keeps_rounds = watch.is_some();
    let task = Task { most_rounds, module, options, clock, functions, fresh, keeps_rounds };
    let none = || Outcome::empty(empty.gpus.clone(), empty.seen);
    let mut beginnings = BTreeMap::new();
    let fuses = task.runs(&[Pass::Fuse, Pass::Lower, Pass::Dce]);
    let begins = if fuses { Begins::Seeking(&mut beginnings) } else { Begins::AsItCame };
    let mut best = task.run(&mut batches, none(), begins);
    let (halves, bugs) = task.halves();
    let (words, refused) = task.words(&mut beginnings);
    let of_function = |(number, beginning): (usize, Beginning)| Some((number, beginning.carried?));
    let carried: BTreeMap<usize, Carried> = beginnings.into_iter().filter_map(of_function).collect();
    let mut told: Vec<Record> = bugs.into_iter().chain(refused).collect();
    // Variants have most of their statements in common, so what is remembered of one is of use to the others.
    let mut run = |begun| task.run(&mut batches, none(), Begins::With(begun));
    if let Some(halves) = halves {
        best = task.better(best, run(halves));
    }
    if !words.is_empty() {
        let all = run(task.with(&words, &BTreeMap::new()));
        let (useful, unproved) = task.proved(task.useful(&words, &all.outcome));
        told.extend(unproved);
        let all = if useful == words { all } else { run(task.with(&useful, &BTreeMap::new())) };
        best = task.better(best, all);
    }
    if !carried.is_empty() {
        best = task.carried_best(best, &carried, &words, &mut run);
    }
    best.outcome.remembered = remembered(&batches);
    best.outcome.proving = proving(&batches);
    if let Some(watch) = watch {
        best.rounds.iter().for_each(|(round, text)| watch(*round, text));
    }
    with(best.outcome, told)
}

/// An outcome with more records.
fn with(outcome: Outcome, more: Vec<Record>) -> Outcome {
    let records = outcome.records.into_iter().chain(more).collect();
    Outcome { records, ..outcome }
}

impl Task<'_, '_> {
    /// Whether all of some passes run, and all that they find is written.
    fn runs(&self, passes: &[Pass]) -> bool {
        // The limit counts rewrites one by one, and what a variant begins with comes all together.
        passes.iter().all(|pass| self.options.passes.contains(pass)) && self.options.limit.is_none()
    }

    fn run(&self, batches: &mut [Batch], empty: Outcome, begins: Begins<'_>) -> Ended {
        let Self { most_rounds, module, options, clock, .. } = *self;
        let run = Run::new(most_rounds, module, options, clock, batches, empty);
        let run = match begins {
            Begins::AsItCame => run,
            Begins::Seeking(beginnings) => run.seeking(beginnings),
            Begins::With(begun) => run.begun(begun),
        };
        let mut rounds = Vec::new();
        let mut keep = |round, text: &[u8]| rounds.push((round, text.to_vec()));
        let outcome = run.finish(module, self.keeps_rounds.then_some(&mut keep));
        Ended { outcome, rounds }
    }

    /// The variant that keeps words as halves, if that is worth a try, and records of those of which it is not proved
    /// that this changes nothing.
    fn halves(&self) -> (Option<Begun>, Vec<Record>) {
        let gpus = self.options.gpus_of(self.module);
        if gpus.is_empty() || !self.runs(&[Pass::Lower, Pass::Dce]) {
            return (None, Vec::new());
        }
        let (costs, declarations) = (Costs::on(&gpus), declarations(self.module));
        let mut kept = BTreeMap::new();
        for (number, function) in self.functions.iter().filter(|(_, function)| keeps(self.module, function)) {
            let graph = Graph::new(self.module, function.clone(), self.options.semantics);
            let Ok(graph) = graph else { continue };
            kept.extend(
                Kept::of(&graph, costs, &declarations, &self.fresh).map(|of_function| (*number, of_function)),
            );
        }
        let (kept, bugs) = checked(self.module, kept);
        let mut begun = Begun::default();
        for (number, kept) in kept {
            let records = kept.insert(&mut begun.edits).to_vec();
            begun.records.insert(number, records);
        }
        ((!begun.records.is_empty()).then_some(begun), bugs)
    }

    /// The accesses that can be accesses to words, by the numbers of the functions, and records of those that cannot.
    fn words(&self, beginnings: &mut BTreeMap<usize, Beginning>) -> (BTreeMap<usize, Words>, Vec<Record>) {
        let (mut found, mut refused) = (BTreeMap::new(), Vec::new());
        if self.runs(&[Pass::Fuse, Pass::Lower, Pass::Dce]) {
            for (number, function) in &self.functions {
                let (words, records) = match beginnings.get_mut(number) {
                    Some(beginning) => (beginning.words.take(), std::mem::take(&mut beginning.refused)),
                    None => self.words_alone(function),
                };
                found.extend(words.map(|words| (*number, words)));
                refused.extend(records.into_iter().filter(|_| self.options.explain));
            }
        }
        (found, refused)
    }

    /// Those of a function that was not analysed as a whole, which are runs: vectors of bytes suggest that there is
    /// more to recognise.
    fn words_alone(&self, function: &Function) -> (Option<Words>, Vec<Record>) {
        let may_run = !is_written(self.module, function) && runs::are_possible(self.module, function);
        let graph = may_run.then(|| Graph::new(self.module, function.clone(), self.options.semantics).ok());
        graph.flatten().map_or_else(Default::default, |graph| Words::of(&graph))
    }

    /// The variant that has accesses to words, and carries bytes in words.
    fn with(&self, words: &BTreeMap<usize, Words>, carried: &BTreeMap<usize, Carried>) -> Begun {
        let mut begun = Begun::default();
        let mut spliced = Spliced::default();
        for (number, function) in &self.functions {
            let mut records = Vec::new();
            if let Some(words) = words.get(number) {
                let to = (&mut spliced, &mut begun.edits);
                records.extend(words.write(self.module, function, &self.fresh, to));
            }
            if let Some(carried) = carried.get(number) {
                records.extend_from_slice(carried.insert(&mut spliced, &mut begun.edits));
            }
            if !records.is_empty() {
                records.sort_by_key(|record| record.offset);
                begun.records.insert(*number, records);
            }
        }
        spliced.write(self.module, &mut begun.edits);
        begun
    }

    /// The accesses that were worth it.
    fn useful(&self, words: &BTreeMap<usize, Words>, outcome: &Outcome) -> BTreeMap<usize, Words> {
        let text = outcome.text.as_deref().unwrap_or(self.module.text());
        let module = parsed(text);
        let functions = functions(&module);
        let useful = |(&number, words): (&usize, &Words)| {
            Some((number, words.useful(&self.fresh, &module, &functions[number])?))
        };
        words.iter().filter_map(useful).collect()
    }

    /// The accesses of those functions of which it is proved that they do the same with accesses to words, and records of
    /// the runs of others. A function of which that is not proved keeps those of vectors, if it is proved with these.
    fn proved(&self, words: BTreeMap<usize, Words>) -> (BTreeMap<usize, Words>, Vec<Record>) {
        let (mut proved, unproved) = self.proved_whole(words);
        let (mut vectors, mut records) = (BTreeMap::new(), Vec::new());
        for (number, words) in unproved {
            let function = self.functions.iter().find(|(other, _)| *other == number);
            let (_, function) = function.expect("only functions that may be changed have words");
            let (left, runs) = words.without_runs(self.module, function);
            // Without runs, all of it was tried.
            vectors.extend(left.filter(|_| !runs.is_empty()).map(|left| (number, left)));
            records.extend(runs.into_iter().filter(|_| self.options.explain));
        }
        proved.extend(self.proved_whole(vectors).0);
        (proved, records)
    }

    /// The accesses of those functions of which it is proved that they do the same with all of them, and of those of
    /// which it is not.
    fn proved_whole(
        &self,
        words: BTreeMap<usize, Words>,
    ) -> (BTreeMap<usize, Words>, BTreeMap<usize, Words>) {
        if words.is_empty() {
            return (words, BTreeMap::new());
        }
        let edited = self.with(&words, &BTreeMap::new()).edits.apply(self.module.text());
        let text = edited.expect("edits are of statements, which do not overlap").to_vec();
        let new = parsed(&text);
        let (before, after) = (functions(self.module), functions(&new));
        words.into_iter().partition(|&(number, _)| {
            let [before, after] = [(self.module, &before[number]), (&new, &after[number])];
            matches!(blocks::compare(before, after, self.options.semantics), blocks::Outcome::Proved(_))
        })
    }

    /// The functions of one run, and of another those that are better there.
    fn better(&self, one: Ended, other: Ended) -> Ended {
        let numbers = self.shorter(&one.outcome, &other.outcome);
        self.taking(one, other, &numbers)
    }

    /// The functions of one run, and of another those with these numbers.
    fn taking(&self, one: Ended, other: Ended, numbers: &BTreeSet<usize>) -> Ended {
        let taken = self.functions.iter().filter(|(number, _)| numbers.contains(number));
        let names: BTreeSet<String> = taken.map(|(_, function)| function.name.clone()).collect();
        if names.is_empty() {
            let mut one = one;
            // A bug is told, whichever variant it is of, and takes all edits of its function back.
            let bugs = other.outcome.records.into_iter().filter(|record| record.kind.is_bug());
            one.outcome.records.extend(bugs);
            return one;
        }
        Ended { outcome: joined(self.module, one.outcome, other.outcome, &names), rounds: other.rounds }
    }

    /// The functions that are better in a variant: what is executed in loops counts more, but none may be longer than it
    /// came.
    fn shorter(&self, plain: &Outcome, variant: &Outcome) -> BTreeSet<usize> {
        let stmts = Statements::of(self.module);
        let mut numbers = BTreeSet::new();
        for (number, function) in &self.functions {
            let (before, after) = (of_function(plain, function), of_function(variant, function));
            let bug = after.iter().any(|record| record.kind.is_bug());
            if bug || after.iter().all(|record| record.estimate().is_none()) {
                continue;
            }
            let Ok(flow) = Flow::new(self.module, &function.body) else { continue };
            let often = frequencies(&flow);
            let weight = |record: &Record| {
                let stmt = stmts.at(record.offset).filter(|stmt| function.body.contains(&stmt.index()));
                stmt.and_then(|stmt| often.get(&flow.block(stmt)).copied()).unwrap_or(1)
            };
            let saved = |records: &[&Record]| -> (i64, i64) {
                let all =
                    records.iter().filter_map(|record| record.estimate()).map(|estimate| estimate.saved);
                let often =
                    records.iter().filter_map(|record| Some(record.estimate_here()?.saved * weight(record)));
                (all.sum(), often.sum())
            };
            let (before, after) = (saved(&before), saved(&after));
            if before.1 < after.1 && before.0.min(1) <= after.0 {
                numbers.insert(*number);
            }
        }
        numbers
    }
}

/// The records of a function.
fn of_function<'o>(outcome: &'o Outcome, function: &Function) -> Vec<&'o Record> {
    outcome.records.iter().filter(|record| record.function == function.name).collect()
}

/// The functions of one outcome with some of another.
fn joined(module: &Module<'_>, plain: Outcome, variant: Outcome, names: &BTreeSet<String>) -> Outcome {
    let is_named = |record: &Record| names.contains(&record.function);
    let text = {
        let (plain, variant) = (plain.text.as_deref(), variant.text.as_deref());
        let from = variant.expect("what saves something has changed something");
        restored(&parsed(from), plain.unwrap_or(module.text()), names)
    };
    let mut records: Vec<Record> = plain.records.into_iter().filter(|record| !is_named(record)).collect();
    let counts = |record: &Record| is_named(record) || record.kind.is_bug();
    records.extend(variant.records.into_iter().filter(counts));
    records.sort_by_key(|record| record.offset);
    Outcome { text: Some(text), records, rounds: plain.rounds.max(variant.rounds), ..plain }
}
