//! The variant in which bytes that are carried side by side are carried in words, with accesses to words where both are
//! found: registers that a load of a vector gives have a word only then.
//!
//! What it begins with is proved before it is run, and once more where fewer words or accesses are left in the end.

use super::super::carried::{Carried, Lanes};
use super::super::rounds::parsed;
use super::super::visible::declarations;
use super::super::words::Words;
use super::{Begun, Ended, Outcome, Task};
use crate::rules::Pass;
use ptxopt_grammar::function::functions;
use ptxopt_prover::blocks::{self, Effort};
use std::collections::{BTreeMap, BTreeSet};

impl Task<'_, '_> {
    /// The bytes that could be carried in words, by the numbers of the functions, with their accesses that can be
    /// accesses to words: those of which it is proved that this changes nothing.
    pub(super) fn carried(
        &self,
        words: &BTreeMap<usize, Words>,
    ) -> (BTreeMap<usize, Carried>, BTreeMap<usize, Words>) {
        let mut found = BTreeMap::new();
        if self.runs(&[Pass::Fuse, Pass::Lower, Pass::Dce]) {
            let declarations = declarations(self.module);
            for (number, function) in &self.functions {
                let semantics = self.options.semantics;
                let own = (self.module, function);
                let carried = Carried::of(own, &declarations, semantics, &self.fresh, &BTreeSet::new());
                found.extend(carried.map(|carried| (*number, carried)));
            }
        }
        let of_found = words.iter().filter(|(number, _)| found.contains_key(*number));
        let of_found = of_found.map(|(&number, words)| (number, words.clone())).collect();
        let asked = found.keys().copied().collect();
        self.proved_carried(found, of_found, asked)
    }

    /// Those of which it is proved that the function does the same: with its accesses to words, or without. Of the
    /// functions that are not asked about it was proved before.
    fn proved_carried(
        &self,
        mut carried: BTreeMap<usize, Carried>,
        mut words: BTreeMap<usize, Words>,
        mut asked: BTreeSet<usize>,
    ) -> (BTreeMap<usize, Carried>, BTreeMap<usize, Words>) {
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

    /// The run of the variant, with the accesses that were worth it.
    pub(super) fn carried_best(
        &self,
        carried: BTreeMap<usize, Carried>,
        words: &BTreeMap<usize, Words>,
        run: &mut dyn FnMut(Option<Begun>) -> Ended,
    ) -> Ended {
        let all = run(Some(self.with(words, &carried)));
        let useful = self.useful(words, &all.outcome);
        let idle = self.idle(&carried, &all.outcome);
        if useful == *words && idle.is_empty() {
            return all;
        }
        let carried = self.without(carried, &idle);
        let is_other = |number: &usize| idle.contains_key(number) || useful.get(number) != words.get(number);
        let asked = carried.keys().copied().filter(is_other).collect();
        let (carried, useful) = self.proved_carried(carried, useful, asked);
        run(Some(self.with(&useful, &carried)))
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
                let own = (self.module, function);
                let left = Carried::of(own, &declarations, self.options.semantics, &self.fresh, idle);
                carried.extend(left.map(|left| (*number, left)));
            }
        }
        carried
    }
}
