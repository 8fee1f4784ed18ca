//! The variant in which bytes that are carried side by side are carried in words, with accesses to words where both are
//! found: registers that a load of a vector gives have a word only then.
//!
//! What it begins with is proved once it was run, for those words by which something was gained: most are none, and a
//! proof takes longer than a run. Where not all are left, it is run once more with these.

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

    /// The run of the variant, with the words and accesses that were worth it; `None` if there are none, or if it is not
    /// proved of any that the function does the same.
    pub(super) fn carried_best(
        &self,
        carried: BTreeMap<usize, Carried>,
        words: &BTreeMap<usize, Words>,
        run: &mut dyn FnMut(Begun) -> Ended,
    ) -> Option<Ended> {
        let of_carried = |words: &BTreeMap<usize, Words>, carried: &BTreeMap<usize, Carried>| {
            let with = words.iter().filter(|(number, _)| carried.contains_key(*number));
            with.map(|(&number, words)| (number, words.clone())).collect::<BTreeMap<_, _>>()
        };
        let found: Vec<usize> = carried.keys().copied().collect();
        let words = of_carried(words, &carried);
        let all = run(self.with(&words, &carried));
        let idle = self.idle(&carried, &all.outcome);
        let left = self.without(carried, &idle);
        let useful = of_carried(&self.useful(&words, &all.outcome), &left);
        let (left, useful) = self.proved_carried(left, useful);
        if left.is_empty() {
            return None;
        }
        let is_all = idle.is_empty() && useful == words && left.keys().copied().eq(found);
        Some(if is_all { all } else { run(self.with(&useful, &left)) })
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
