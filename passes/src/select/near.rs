//! Which places a choice can matter to: those that read or compute a value that it reads or computes too, or whose
//! spellings could share a step with it.
//!
//! Where nothing near a place has changed, looking at it again would find what was found before. So this only saves
//! work: a function is searched as a whole once, and then where something changes.

use super::search::TOGETHER;
use super::{Nodes, Place, Uses};
use crate::graph::Lists;

/// How many values or steps lie between two places that are near each other, at most.
const DISTANCE: usize = 2;

/// The places of a function, and what they have in common.
pub(crate) struct Near {
    /// By place: the numbers of what it has to do with.
    touched: Lists<u32>,
    /// By those numbers: the places.
    places: Lists<u32>,
}

fn number(index: usize) -> u32 {
    u32::try_from(index).expect("a function has fewer values and steps")
}

impl Near {
    pub(crate) fn of(uses: &Uses<'_, '_, '_>, nodes: &Nodes, places: &[Place]) -> Self {
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for (at, place) in places.iter().enumerate() {
            let spelled = place.candidates.iter();
            let values = spelled.clone().flat_map(|candidate| uses.reads_of(candidate));
            let values = values.chain(uses.sources(place.stmt)).chain(uses.results(place.stmt));
            let steps = spelled.flat_map(|candidate| &candidate.paid);
            let first = pairs.len();
            pairs.extend(values.map(|value| (number(at), number(nodes.len() + value.index()))));
            pairs.extend(steps.map(|node| (number(at), number(node.index()))));
            pairs[first..].sort_unstable();
        }
        pairs.dedup();
        let count = pairs.iter().map(|&(_, touched)| touched as usize + 1).max().unwrap_or(0);
        Self {
            touched: Lists::of(places.len(), || pairs.iter().map(|&(at, touched)| (at as usize, touched))),
            places: Lists::of(count, || pairs.iter().map(|&(at, touched)| (touched as usize, at))),
        }
    }

    /// These places and those near them, in order. What many have in common brings none of them near each other.
    pub(super) fn around(&self, from: impl IntoIterator<Item = usize>) -> Vec<usize> {
        let mut is_near = vec![false; self.touched.len()];
        let mut all: Vec<usize> = Vec::new();
        let mut add = |at: usize, all: &mut Vec<usize>| {
            if !std::mem::replace(&mut is_near[at], true) {
                all.push(at);
            }
        };
        from.into_iter().for_each(|at| add(at, &mut all));
        let mut first = 0;
        for _ in 0..DISTANCE {
            let last = all.len();
            for at in first..last {
                let common =
                    self.touched.get(all[at]).iter().map(|&touched| self.places.get(touched as usize));
                for &near in common.filter(|places| places.len() <= TOGETHER).flatten() {
                    add(near as usize, &mut all);
                }
            }
            first = last;
        }
        all.sort_unstable();
        all
    }
}
