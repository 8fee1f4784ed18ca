//! The variant in which bytes that are carried side by side are carried in words, with accesses to words where both are
//! found: registers that a load of a vector gives have a word only then.
//!
//! What it begins with is proved once it was run, and where the run is better: most are not, and a proof takes longer than
//! a run. Where some words gain nothing by themselves, it is run once more without them, which is proved likewise: they
//! may be in the way of the others, or of use to them. A function is taken from a run only if all that it began with there
//! is proved together.

use super::super::carried::{Carried, Lanes};
use super::super::rounds::parsed;
use super::super::visible::declarations;
use super::super::words::Words;
use super::{Begun, Ended, Outcome, Task};
use crate::graph::Graph;
use crate::site::Knowledge;
use ptxopt_grammar::function::functions;
use ptxopt_prover::blocks::{self, Effort};
use std::collections::{BTreeMap, BTreeSet};

impl Task<'_, '_> {
    /// Those of which it is proved that the function does the same: with its accesses to words, or without.
    fn proved_carried(
        &self,
        mut carried: BTreeMap<usize, Carried>,
        mut words: BTreeMap<usize, Words>,
    ) -> (BTreeMap<usize, Carried>, BTreeMap<usize, Words>) {
        let mut asked: BTreeSet<usize> = carried.keys().copied().collect();
        while !asked.is_empty() {
            let edited = self.with(&words, &carried).edits.apply(self.module.text());
            let text = edited.expect("edits are of statements, which do not overlap").to_vec();
            let new = parsed(&text);
            let (before, after) = (functions(self.module), functions(&new));
            asked.retain(|&number| {
                let [before, after] = [(self.module, &before[number]), (&new, &after[number])];
                let packed = &carried[&number].packed;
                let outcome =
                    blocks::compare_packed(before, after, self.options.semantics, packed, Effort::Little);
                !matches!(outcome, blocks::Outcome::Proved(_))
            });
            asked.retain(|number| {
                let had_words = words.remove(number).is_some();
                if !had_words {
                    carried.remove(number);
                }
                had_words
            });
        }
        (carried, words)
    }

    /// The functions of a run, or of the variant where they are better there: with all words and accesses, of which some
    /// that gain nothing themselves may help others, or with those that are worth it.
    pub(super) fn carried_best(
        &self,
        best: Ended,
        carried: &BTreeMap<usize, Carried>,
        words: &BTreeMap<usize, Words>,
        run: &mut dyn FnMut(Begun) -> Ended,
    ) -> Ended {
        let words = those(words, |number| carried.contains_key(number));
        let all = run(self.with(&words, carried));
        let idle = self.idle(carried, &all.outcome);
        let useful = self.useful(&words, &all.outcome);
        let is_useful =
            |number: &usize| !idle.contains_key(number) && useful.get(number) == words.get(number);
        let gains = self.shorter(&best.outcome, &all.outcome);
        let is_gain = |number: &usize| gains.contains(number);
        let (proved, accesses) = self.proved_carried(those(carried, is_gain), those(&words, is_gain));
        let is_as_run = |number: &&usize| accesses.get(number) == words.get(number);
        let as_run: BTreeSet<usize> = proved.keys().filter(is_as_run).copied().collect();
        let best = self.taking(best, all, &as_run);

        // Not run yet: what is proved without its accesses only, and what had words or accesses that gain nothing.
        let mut left = proved;
        left.retain(|number, _| is_useful(number) && !as_run.contains(number));
        let partly = self.without(those(carried, |number| !is_useful(number)), &idle);
        let accesses = those(&useful, |number| partly.contains_key(number));
        let (partly, accesses) = self.proved_carried(partly, accesses);
        left.extend(partly);
        if left.is_empty() { best } else { self.better(best, run(self.with(&accesses, &left))) }
    }

    /// The words by which nothing was gained, of the functions that have such.
    fn idle(
        &self,
        carried: &BTreeMap<usize, Carried>,
        outcome: &Outcome,
    ) -> BTreeMap<usize, BTreeSet<Lanes>> {
        let module = parsed(outcome.text.as_deref().unwrap_or(self.module.text()));
        let functions = functions(&module);
        let of = carried.iter().map(|(&number, carried)| (number, carried.idle(&module, &functions[number])));
        of.filter(|(_, idle)| !idle.is_empty()).collect()
    }

    /// The same without some words.
    fn without(
        &self,
        mut carried: BTreeMap<usize, Carried>,
        idle: &BTreeMap<usize, BTreeSet<Lanes>>,
    ) -> BTreeMap<usize, Carried> {
        let declarations = declarations(self.module);
        for (number, function) in &self.functions {
            if let Some(idle) = idle.get(number) {
                carried.remove(number);
                let graph = Graph::new(self.module, function.clone(), self.options.semantics);
                let graph = graph.expect("words were found in a graph of this function");
                let knowledge = Knowledge::of(&graph);
                let left = Carried::of(&graph, &knowledge, &declarations, &self.fresh, idle);
                carried.extend(left.map(|left| (*number, left)));
            }
        }
        carried
    }
}

/// What is known of some functions, by their numbers.
fn those<T: Clone>(all: &BTreeMap<usize, T>, is_one: impl Fn(&usize) -> bool) -> BTreeMap<usize, T> {
    let those = all.iter().filter(|&(number, _)| is_one(number));
    those.map(|(&number, of)| (number, of.clone())).collect()
}
