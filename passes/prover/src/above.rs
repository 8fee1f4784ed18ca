//! The bits of a weighted sum from one upwards.
//!
//! They are whole units, and what the weights below carry into them or borrow from them. Written like this, they are the
//! same however the sum was put together: from one product of a difference or from two products, in a word of its own or
//! beside another sum.

use super::aig::{Aig, Gate, Lit, Watch};
use super::linear::{Linear, signed_digits};

impl Linear {
    /// The bits from `low` upwards, if what is below them is known to carry nothing into them.
    pub(super) fn above(&self, low: u32, width: u32) -> Option<Self> {
        let unit = 1_u128 << low;
        let mut high = Self { width: self.width - low, constant: self.constant >> low, weights: Vec::new() };
        let mut most = self.constant % unit;
        for &(node, weight) in &self.weights {
            match (weight / unit, weight % unit) {
                (weight, 0) => high.weights.push((node, weight)),
                (0, weight) => most = most.checked_add(weight)?,
                (_, _) => return None,
            }
        }
        (most < unit).then(|| high.cut(width))
    }

    /// Whether a literal counts both for the bits from `low` upwards and for those below, as in
    /// `x + (77 * (y - x) >> 8)`, which is the same as `179 * x + 77 * y >> 8`, from bit 8 upwards.
    fn counts_for_both(&self, low: u32) -> bool {
        let unit = 1_u128 << low;
        self.weights.iter().any(|&(_, weight)| weight > unit && is_factor(weight, self.width))
    }

    /// Whether a product is subtracted that borrows from the bits from `low` upwards, as in `x + (t * (y - x) >> 8)`.
    fn borrows<W: Watch>(&self, low: u32, graph: &Aig<W>) -> bool {
        let unit = 1_u128 << low;
        let is_product = |node: u32| matches!(graph.gates()[node as usize], Gate::And(..));
        self.weights.iter().any(|&(node, weight)| weight > unit && weight % unit != 0 && is_product(node))
    }

    /// The bits from `low` upwards as a sum of whole units and the carries of what is below them.
    ///
    /// For any weights, the sum is that of `weight / unit`, in units, and of `weight % unit`; these remainders do not
    /// depend on how many units were added to a weight.
    fn with_carries<W: Watch>(&self, low: u32, width: u32, graph: &mut Aig<W>) -> Self {
        let unit = 1_u128 << low;
        let part = |of: &dyn Fn(u128) -> u128| -> Vec<(u32, u128)> {
            self.weights
                .iter()
                .map(|&(node, weight)| (node, of(weight)))
                .filter(|&(_, part)| part != 0)
                .collect()
        };
        let (units, below) = (part(&|weight| weight / unit), part(&|weight| weight % unit));
        let high =
            Self { width: self.width - low, constant: self.constant >> low, weights: units }.cut(width);
        let (constant, weights, low) = without_lowest(self.constant % unit, &below, low);
        let most = weights.iter().fold(constant, |sum, &(_, weight)| sum + weight);
        let rest = Self { width: u128::BITS - most.leading_zeros(), constant, weights };
        let carries = rest.bits(graph);
        let carries = carries.get(low as usize..).unwrap_or_default().iter();
        let carries = carries.take(width as usize).enumerate().map(|(at, &carry)| (carry, 1 << at));
        high.plus(&Self::collect(width, 0, carries))
    }

    /// The bits from `low` upwards, made of no more of the sum than they need: without what lies above them, and without
    /// the lanes below them that are known to carry nothing and to borrow nothing. So the bits of a sum are the same
    /// gates whether it stands alone or in the upper half of a word.
    pub(super) fn lane<W: Watch>(&self, low: u32, width: u32, graph: &mut Aig<W>) -> Option<Self> {
        let lane =
            (0..=low).rev().find_map(|place| Some((place, self.rising_from(place, low + width, graph)?)));
        let (place, sum) = lane?;
        let below = low - place;
        if !sum.counts_for_both(below) && !sum.borrows(below, graph) {
            let bits = sum.bits_within(graph);
            return Some(Self::of_bits(&bits[below as usize..]));
        }
        let kept = sum.width_within(graph).saturating_sub(below).min(width);
        let bits = sum.with_carries(below, kept, graph);
        if kept == width {
            return Some(bits);
        }
        let mut bits = bits.bits(graph);
        bits.resize(width as usize, Lit::FALSE);
        Some(Self::of_bits(&bits))
    }
}

/// A sum of weights below `1 << low` without its lowest lanes, if those are known to carry nothing into the others; and
/// where the bits from `low` upwards are then.
fn without_lowest(constant: u128, weights: &[(u32, u128)], low: u32) -> (u128, Vec<(u32, u128)>, u32) {
    let carries_nothing = |&place: &u32| {
        let unit = 1 << place;
        let below = weights.iter().filter(|&&(_, weight)| weight % unit != 0);
        below.clone().all(|&(_, weight)| weight < unit)
            && below.fold(constant % unit, |sum, &(_, weight)| sum + weight) < unit
    };
    let place = (0..low).rev().find(carries_nothing).unwrap_or(0);
    let kept = weights.iter().filter(|&&(_, weight)| weight >> place != 0);
    (constant >> place, kept.map(|&(node, weight)| (node, weight >> place)).collect(), low - place)
}

/// Whether a weight is that of a bit in a product, and not the place of a bit, added or subtracted, or of a lane of ones.
fn is_factor(weight: u128, width: u32) -> bool {
    let (up, down) = signed_digits(weight, width);
    up.count_ones() + down.count_ones() > 2
}
