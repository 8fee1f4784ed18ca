//! The least and the greatest value of a weighted sum of literals, some of which are products of two others.
//!
//! Taken each by itself, the literals of `x * a + y * (255 - a)` can add up to twice what the sum can be. But the sum
//! is linear in `a`, whatever `x` and `y` are, so it is greatest where `a` is 0 or where `a` is 255, and so is what it is
//! at least.
//!
//! A number like `a` is any group of literals that count for the same in the sum, but for powers of two: alone, and
//! multiplied by each other literal. The sum is linear in it for that reason alone, so it does not matter what the
//! literals are, or whether one depends on another: what is said holds of all values that they could have.

use super::aig::{Aig, Gate, Watch};
use std::collections::BTreeMap;

/// The most literals of a sum that is looked at like this.
const MOST_LITERALS: usize = 600;

/// The most literals of which all values are tried.
const MOST_TRIED: usize = 9;

/// Literals, none inverted, with their weights.
type Weights = BTreeMap<u32, i128>;

/// What a literal counts for in a sum: what is not multiplied by it, and what each literal counts for that is.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
struct Share {
    alone: i128,
    times: Vec<(u32, i128)>,
}

impl Share {
    /// The share without a common power of two, and that.
    fn normalised(&self) -> (Self, u32) {
        let weights = self.times.iter().map(|&(_, weight)| weight).chain([self.alone]);
        let zeros = weights.filter(|&weight| weight != 0).map(i128::trailing_zeros).min().unwrap_or(0);
        let times = self.times.iter().map(|&(node, weight)| (node, weight >> zeros)).collect();
        (Self { alone: self.alone >> zeros, times }, zeros)
    }
}

/// The least and the greatest value of a weighted sum; `None` if it is too long. No weight has more than 64 bits.
pub(super) fn bounds<W: Watch>(weights: &[(u32, i128)], graph: &Aig<W>) -> Option<(i128, i128)> {
    if weights.len() > MOST_LITERALS {
        return None;
    }
    let mut found = ends_of_named(weights, graph);
    for (number, bits) in numbers(weights, graph) {
        let places: Vec<(u32, i128)> = bits.iter().map(|(&node, &zeros)| (node, 1 << zeros)).collect();
        let (_, most) = ends_of_named(&places, graph);
        // The sum without the number, and what is added to it where the number is as great as it can be.
        let mut rest: Weights = BTreeMap::new();
        for &(node, weight) in weights {
            let is_of_number = bits.contains_key(&node)
                || factors(node, graph).is_some_and(|of| of.iter().any(|factor| bits.contains_key(factor)));
            if !is_of_number {
                rest.insert(node, weight);
            }
        }
        let without = ends(rest.values().copied());
        for (node, weight) in number.times {
            *rest.entry(node).or_default() += weight * most;
        }
        let with = ends_of_few(&rest, graph).unwrap_or_else(|| ends(rest.into_values()));
        let alone = number.alone * most;
        let low = without.0.min(with.0 + alone);
        let high = without.1.max(with.1 + alone);
        found = (found.0.max(low), found.1.min(high));
    }
    Some(found)
}

/// The least and the greatest sum of some of these.
fn ends(weights: impl Iterator<Item = i128>) -> (i128, i128) {
    weights.fold((0, 0), |(low, high), weight| (low + weight.min(0), high + weight.max(0)))
}

/// The same where literals that are bits of a named number have no other values than its bits.
fn ends_of_named<W: Watch>(weights: &[(u32, i128)], graph: &Aig<W>) -> (i128, i128) {
    let mut rest: Weights = weights.iter().copied().collect();
    let (mut low, mut high) = (0, 0);
    for number in graph.watch.numbers() {
        let nodes = number.bits.iter().map(|bit| bit.node());
        let own: Weights = nodes.filter_map(|node| Some((node, rest.remove(&node)?))).collect();
        let (least, most) = number.ends(|node| own.get(&node).copied().unwrap_or(0));
        (low, high) = (low + least, high + most);
    }
    let (least, most) = ends(rest.into_values());
    (low + least, high + most)
}

/// The same of literals that are made of a few, for all values of those: what a number counts for besides its square.
fn ends_of_few<W: Watch>(weights: &Weights, graph: &Aig<W>) -> Option<(i128, i128)> {
    let parts = |node: u32| factors(node, graph).unwrap_or([node, node]);
    let mut few: Vec<u32> = weights.keys().flat_map(|&node| parts(node)).collect();
    few.sort_unstable();
    few.dedup();
    if few.len() > MOST_TRIED {
        return None;
    }
    let bit = |node: u32| few.binary_search(&node).map_or(0, |at| 1_u32 << at);
    let masks: Vec<(u32, i128)> = weights
        .iter()
        .map(|(&node, &weight)| (parts(node).into_iter().fold(0, |mask, part| mask | bit(part)), weight))
        .collect();
    let sum = |values: u32| -> i128 {
        masks.iter().filter(|(mask, _)| values & mask == *mask).map(|(_, weight)| weight).sum()
    };
    let sums = (0..1 << few.len()).map(sum);
    Some(sums.fold((i128::MAX, i128::MIN), |(low, high), sum| (low.min(sum), high.max(sum))))
}

/// The literals that a literal is the product of.
fn factors<W: Watch>(node: u32, graph: &Aig<W>) -> Option<[u32; 2]> {
    match graph.gates()[node as usize] {
        Gate::And(a, b) if !a.inverted() && !b.inverted() => Some([a.node(), b.node()]),
        Gate::False | Gate::Input | Gate::And(..) | Gate::Xor(..) => None,
    }
}

/// The numbers in which the sum is linear: what each counts for, and its bits with the powers of two that they have.
fn numbers<W: Watch>(weights: &[(u32, i128)], graph: &Aig<W>) -> Vec<(Share, BTreeMap<u32, u32>)> {
    let mut shares: BTreeMap<u32, Share> = BTreeMap::new();
    for &(node, weight) in weights {
        if let Some([a, b]) = factors(node, graph) {
            shares.entry(a).or_default().times.push((b, weight));
            shares.entry(b).or_default().times.push((a, weight));
        }
    }
    for &(node, weight) in weights {
        if let Some(share) = shares.get_mut(&node) {
            share.alone += weight;
        }
    }
    let mut all: BTreeMap<Share, BTreeMap<u32, u32>> = BTreeMap::new();
    for (node, mut share) in shares {
        share.times.sort_unstable();
        let (share, zeros) = share.normalised();
        all.entry(share).or_default().insert(node, zeros);
    }
    all.retain(|_, bits| bits.len() > 1);
    // Literals that are multiplied by the same are never multiplied by each other, since there is no product of a
    // literal with itself.
    for (share, bits) in &all {
        debug_assert!(share.times.iter().all(|(node, _)| !bits.contains_key(node)), "{share:?}: {bits:?}");
    }
    all.into_iter().collect()
}
