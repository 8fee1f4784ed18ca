//! Several choices of spellings compared with the one that is made: on each of several GPUs, and with a later head.
//!
//! For several GPUs, spellings are chosen by what they cost on all of them together. What must hold on each is checked
//! here: no choice may cost more on any GPU than the original, everything else as it was chosen, and on one of them it
//! must be worth a change.

use super::function::Work;
use super::gather::{Offer, Spelled};
use super::profit::Profit;
use super::raise::Reach;
use super::settle::Settling;
use super::spell::Target;
use crate::cost::{Cost, Costs};
use crate::recipe::Step;
use crate::select::{Candidate, Gain, Place, StepId, Uses};
use hashbrown::HashMap;
use ptxopt_grammar::tree::StmtId;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// How often choices that are worse somewhere are taken back one by one, before all of a function are.
const PATIENCE: usize = 16;

/// The choices that share steps, by their places in the list; those that share none are in no group.
fn groups(chosen: &[(StmtId, Rc<Candidate>)]) -> Vec<Vec<usize>> {
    // A union-find forest: each choice leads to an earlier one of its group, the first of a group to itself.
    let mut parents: Vec<usize> = (0..chosen.len()).collect();
    let mut first: HashMap<StepId, usize> = HashMap::new();
    for (at, (_, candidate)) in chosen.iter().enumerate() {
        for &node in &candidate.paid {
            let other = *first.entry(node).or_insert(at);
            let (one, other) = (root(&mut parents, at), root(&mut parents, other));
            parents[one.max(other)] = one.min(other);
        }
    }
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for at in 0..chosen.len() {
        groups.entry(root(&mut parents, at)).or_default().push(at);
    }
    groups.into_values().filter(|group| group.len() > 1).collect()
}

/// The first of a group; the path to it gets shorter.
fn root(parents: &mut [usize], mut at: usize) -> usize {
    while parents[at] != at {
        parents[at] = parents[parents[at]];
        at = parents[at];
    }
    at
}

impl Work<'_, '_, '_> {
    /// The choices that cost more than the original on one of several GPUs, or are worth a change on none of them.
    /// Choices that share steps are looked at together too: each alone may cost no more only because the other pays.
    pub(super) fn worse_somewhere(
        &self,
        settling: &Settling<'_>,
        uses: &Uses<'_, '_, '_>,
    ) -> Vec<(StmtId, usize)> {
        let all = self.profit.target.costs;
        if all.each().count() == 1 {
            return Vec::new();
        }
        let chosen = settling.chosen(uses);
        let groups = groups(&chosen);
        let chosen: Vec<(StmtId, usize)> =
            chosen.iter().map(|(stmt, candidate)| (*stmt, candidate.number)).collect();
        let (mut worse, mut paying) = (BTreeSet::new(), BTreeSet::new());
        for costs in all.each() {
            let Some(gains) = self.gains(settling, &chosen, &groups, costs) else { return chosen };
            for (at, (saved, pays)) in gains.into_iter().enumerate() {
                worse.extend((saved < 0).then_some(at));
                paying.extend(pays.then_some(at));
            }
        }
        let good = |at: &usize| !worse.contains(at) && paying.contains(at);
        (0..chosen.len()).filter(|at| !good(at)).map(|at| chosen[at]).collect()
    }

    /// For each choice, what it saves on one GPU beside all others, or its group if that saves less, and whether that is
    /// worth a change; `None` if all of them together cost more, or what they cost is unknown.
    fn gains(
        &self,
        settling: &Settling<'_>,
        chosen: &[(StmtId, usize)],
        groups: &[Vec<usize>],
        costs: Costs,
    ) -> Option<Vec<(i64, bool)>> {
        let target = Target { costs, ..self.profit.target };
        let profit = Profit { target, ..self.profit };
        let price = |stmt: StmtId| profit.price(stmt);
        let spelled = settling.spelled;
        let emulated = spelled.keys().copied().filter(|&stmt| profit.shares(stmt));
        let mut uses = Uses::of(profit.graph, &self.dead, self.deletes(), &price, emulated);
        let open = |offer: &Offer| offer.obstacle.is_none();
        let here = Settling::of(spelled, self, &uses, &target, &open);
        let places: HashMap<StmtId, &Place> = here.places.iter().map(|place| (place.stmt, place)).collect();
        let candidate = |&(stmt, number): &(StmtId, usize)| {
            places.get(&stmt)?.candidates.iter().find(|candidate| candidate.number == number).cloned()
        };
        let candidates: Vec<Rc<Candidate>> = chosen.iter().map(candidate).collect::<Option<_>>()?;
        let choose = |at: usize, uses: &mut Uses<'_, '_, '_>, new: bool| {
            uses.choose(&here.nodes, chosen[at].0, new.then(|| Rc::clone(&candidates[at])));
        };
        (0..chosen.len()).for_each(|at| choose(at, &mut uses, true));
        let all = uses.total();
        let spelling = |(stmt, number): (StmtId, usize)| &spelled[&stmt].offers[number].spelling;
        let mut gains = Vec::with_capacity(chosen.len());
        for (at, &(stmt, _)) in chosen.iter().enumerate() {
            let baseline = uses.baseline(&here.nodes, stmt);
            choose(at, &mut uses, true);
            let gain = uses.gain(stmt, baseline);
            gains.push((gain.saved, profit.pays(&gain, &spelling)));
        }
        for group in groups {
            group.iter().for_each(|&at| choose(at, &mut uses, false));
            let saved = uses.total() - all;
            group.iter().for_each(|&at| choose(at, &mut uses, true));
            group.iter().for_each(|&at| gains[at].0 = gains[at].0.min(saved));
        }
        // What goes and comes back with several choices may make all of them cost more than each.
        (all <= 0 || gains.iter().any(|&(saved, _)| saved < 0)).then_some(gains)
    }

    /// What a statement's own instruction and the steps of a spelling of it cost on each of several GPUs by itself; nothing
    /// for one GPU. What costs nothing on all of them together is what other statements pay for.
    pub(super) fn on_each(&self, stmt: StmtId, offer: &Offer) -> Vec<(Costs, Vec<Cost>)> {
        let all = self.profit.target.costs;
        if all.each().count() == 1 {
            return Vec::new();
        }
        let spelling = &offer.spelling;
        let own = self.profit.graph.step(stmt);
        let each = |costs: Costs| {
            let recipe = spelling.recipe.recipe();
            let alone = costs.shares(&recipe.steps);
            let steps = recipe.steps.iter().zip(&*spelling.costs).zip(alone);
            let cost = |((step, &together), alone): ((&Step, &Cost), Cost)| match &own {
                _ if together == Cost::NOTHING => Cost::NOTHING,
                // As on all of them together.
                Some(own) if self.profit.graph.are_alike(step, own) => Cost::exactly(costs.step(own).least),
                Some(_) | None => alone,
            };
            (costs, steps.map(cost).collect())
        };
        all.each().map(each).collect()
    }

    /// Takes back what is worse on one of several GPUs beside what was chosen in the end.
    pub(super) fn keep_good_everywhere(&self, settling: &Settling<'_>, uses: &mut Uses<'_, '_, '_>) {
        for _ in 0..PATIENCE {
            let worse = self.worse_somewhere(settling, uses);
            if worse.is_empty() {
                return;
            }
            for (stmt, _) in worse {
                uses.choose(&settling.nodes, stmt, None);
            }
        }
        for (stmt, _) in settling.chosen(uses) {
            uses.choose(&settling.nodes, stmt, None);
        }
    }

    /// Estimates what the function would save more if the head of the module were raised further; the function as it
    /// is now saves `-total`.
    pub(super) fn note_potential<'u, 'm, 't>(
        &mut self,
        spelled: &BTreeMap<StmtId, Spelled>,
        total: i64,
        unchanged: &dyn Fn() -> Uses<'u, 'm, 't>,
        pays: &dyn Fn(&Gain<'_>) -> bool,
    ) {
        let limit = self.profit.target.heads.limit();
        let offers = || spelled.values().flat_map(|spelled| &spelled.offers);
        let mut saved = 0;
        for reach in Reach::ALL.into_iter().filter(|&reach| reach > limit) {
            if self.progress.potential.is_none() {
                return;
            }
            if offers().any(|offer| offer.reach == Some(reach)) {
                let mut uses = unchanged();
                let open = |offer: &Offer| offer.reach.is_some_and(|needed| needed <= reach);
                let settling = Settling::of(spelled, self, &uses, &self.profit.target, &open);
                settling.search(&OnceCell::new(), pays).everywhere(&mut uses);
                saved = saved.max(total - uses.total());
            }
            if let Some(potential) = &mut self.progress.potential {
                potential.add(reach, saved);
            }
        }
    }
}
