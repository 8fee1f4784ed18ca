//! Several choices of spellings compared with the one that is made: on each of several GPUs, and with a later head.
//!
//! For several GPUs, spellings are chosen by what they cost on all of them together. What must hold on each is checked
//! here: no choice may cost more on any GPU than the original, everything else as it was chosen, and on one of them it
//! must be worth a change.

use super::choose::Target;
use super::function::Work;
use super::gather::{Offer, Spelled};
use super::raise::Reach;
use super::settle::Settling;
use super::worth::Worth;
use crate::cost::Costs;
use crate::select::{Gain, Uses, search};
use ptxopt_grammar::tree::StmtId;
use std::collections::{BTreeMap, BTreeSet};

/// How often choices that are worse somewhere are taken back one by one, before all of a function are.
const PATIENCE: usize = 16;

impl Work<'_, '_, '_> {
    /// The choices that cost more than the original on one of several GPUs, or are worth a change on none of them.
    pub(super) fn worse_somewhere(
        &self,
        settling: &Settling<'_>,
        uses: &Uses<'_, '_, '_>,
    ) -> Vec<(StmtId, usize)> {
        let all = self.worth.target.costs;
        if all.each().count() == 1 {
            return Vec::new();
        }
        let chosen: Vec<(StmtId, usize)> =
            settling.chosen(uses).iter().map(|(stmt, candidate)| (*stmt, candidate.number)).collect();
        let (mut worse, mut paying) = (BTreeSet::new(), BTreeSet::new());
        for costs in all.each() {
            for (at, gain) in self.gains(settling, &chosen, costs).into_iter().enumerate() {
                match gain {
                    Some((saved, pays)) if saved >= 0 => paying.extend(pays.then_some(at)),
                    Some(_) | None => worse.extend([at]),
                }
            }
        }
        let good = |at: &usize| !worse.contains(at) && paying.contains(at);
        (0..chosen.len()).filter(|at| !good(at)).map(|at| chosen[at]).collect()
    }

    /// For each choice, what it saves on one GPU beside all others, and whether that is worth a change; `None` if what
    /// it costs there is unknown.
    fn gains(
        &self,
        settling: &Settling<'_>,
        chosen: &[(StmtId, usize)],
        costs: Costs,
    ) -> Vec<Option<(i64, bool)>> {
        let target = Target { costs, ..self.worth.target };
        let worth = Worth { graph: self.worth.graph, target };
        let price = |stmt: StmtId| worth.price(stmt);
        let spelled = settling.spelled;
        let emulated = spelled.keys().copied().filter(|&stmt| worth.is_video(stmt));
        let mut uses = Uses::of(worth.graph, &self.dead, self.deletes(), &price, emulated);
        let open = |offer: &Offer| offer.obstacle.is_none();
        let here = Settling::of(spelled, self, &uses, &target, &open);
        let candidate = |&(stmt, number): &(StmtId, usize)| {
            let place = here.places.iter().find(|place| place.stmt == stmt)?;
            place.candidates.iter().find(|candidate| candidate.number == number).cloned()
        };
        let candidates: Vec<_> = chosen.iter().map(candidate).collect();
        for (&(stmt, _), candidate) in chosen.iter().zip(&candidates) {
            uses.choose(&here.nodes, stmt, candidate.clone());
        }
        let mut gain = |(&(stmt, number), candidate): (&(StmtId, usize), _)| {
            let candidate: Option<_> = candidate;
            candidate.as_ref()?;
            uses.choose(&here.nodes, stmt, None);
            let (total, own) = (uses.total(), uses.own_cost(stmt));
            uses.choose(&here.nodes, stmt, candidate);
            let saved = total - uses.total();
            let gain = Gain { stmt, number, own, saved, gone: uses.gone() };
            Some((saved, worth.pays(&gain, &spelled[&stmt].offers[number].spelling.recipe)))
        };
        chosen.iter().zip(candidates).map(&mut gain).collect()
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
        let limit = self.worth.target.heads.limit();
        let offers = || spelled.values().flat_map(|spelled| &spelled.offers);
        let mut saved = 0;
        for reach in Reach::ALL.into_iter().filter(|&reach| reach > limit) {
            if self.progress.potential.is_none() {
                return;
            }
            if offers().any(|offer| offer.reach == Some(reach)) {
                let mut uses = unchanged();
                let open = |offer: &Offer| offer.reach.is_some_and(|needed| needed <= reach);
                let settling = Settling::of(spelled, self, &uses, &self.worth.target, &open);
                search(&mut uses, &settling.nodes, &settling.places, pays);
                saved = saved.max(total - uses.total());
            }
            if let Some(potential) = &mut self.progress.potential {
                potential.add(reach, saved);
            }
        }
    }
}
