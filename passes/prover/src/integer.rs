//! Sums as integers: weighted literals that are known to fit in their word.
//!
//! What is made of an integer does not depend on the word that it was in, on what all of its weights have in common, or on
//! whether it or its opposite is given, as far as that makes no difference.

use super::aig::{Aig, Lit, Watch};
use super::compared::{Extreme, less};
use super::distance::distance;
use super::linear::{Linear, ends, gcd};
use std::cmp::Ordering;

/// The most literals of a sum that is compared.
const MOST_LITERALS: usize = 160;

/// A constant and weighted literals, none inverted, in ascending order.
#[derive(Clone)]
pub(super) struct Integer {
    pub(super) constant: i128,
    pub(super) weights: Vec<(u32, i128)>,
}

impl Integer {
    /// The integer that a sum is, if it is known to fit in its word.
    pub(super) fn of(sum: &Linear, signed: bool) -> Option<Self> {
        if sum.len() > MOST_LITERALS {
            return None;
        }
        // With room for the sign of an unsigned number.
        let width = sum.width() + 1;
        let (constant, weights) =
            if signed { sum.sign_extended(width) } else { sum.zero_extended(width) }?.integers();
        Some(Self { constant, weights })
    }

    pub(super) fn in_word(&self, width: u32) -> Linear {
        let weights =
            self.weights.iter().map(|&(node, weight)| (Lit::new(node, false), weight.cast_unsigned()));
        Linear::collect(width, self.constant.cast_unsigned(), weights)
    }

    fn plus(&self, other: &Self) -> Self {
        let mut weights: Vec<(u32, i128)> = [&self.weights[..], &other.weights].concat();
        weights.sort_by_key(|&(node, _)| node);
        weights.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            if is_same {
                kept.1 += next.1;
            }
            is_same
        });
        weights.retain(|&(_, weight)| weight != 0);
        Self { constant: self.constant + other.constant, weights }
    }

    pub(super) fn minus(&self, other: &Self) -> Self {
        self.plus(&other.times(-1))
    }

    fn times(&self, factor: i128) -> Self {
        let weights = self.weights.iter().map(|&(node, weight)| (node, weight * factor)).collect();
        Self { constant: self.constant * factor, weights }
    }

    /// What all weights have in common; one where there are none.
    fn common(&self) -> i128 {
        let common = self.weights.iter().fold(0, |common, &(_, weight)| gcd(common, weight.unsigned_abs()));
        i128::try_from(common.max(1)).expect("a weight has fewer bits")
    }

    /// The greatest integer that is no greater than a part of it, by which all weights can be divided.
    fn floored(&self, parts: i128) -> Self {
        let weights = self.weights.iter().map(|&(node, weight)| (node, weight / parts)).collect();
        Self { constant: self.constant.div_euclid(parts), weights }
    }

    /// Whether its opposite stands for both of them.
    fn is_turned(&self) -> bool {
        self.weights.first().is_some_and(|&(_, weight)| weight < 0)
    }

    /// The bits of it as a signed number, no more than are needed if each literal has a value of its own.
    fn bits<W: Watch>(&self, graph: &mut Aig<W>) -> Vec<Lit> {
        // Of a negative number the bits that differ from its sign are those of one less its opposite.
        let bits = |value: i128| i128::BITS - (if value < 0 { !value } else { value }).leading_zeros();
        let [least, most] = self.limits();
        self.in_word(bits(least).max(bits(most)) + 1).bits(graph)
    }

    /// The least and the greatest that it can be, if each literal has a value of its own.
    fn limits(&self) -> [i128; 2] {
        let limit = |limit: fn(i128, i128) -> i128| {
            self.constant + self.weights.iter().map(|&(_, weight)| limit(weight, 0)).sum::<i128>()
        };
        [limit(i128::min), limit(i128::max)]
    }

    /// The same number as the bits that it has above its least one, if it is known to be within limits that its literals do
    /// not show.
    fn within<W: Watch>(self, [least, most]: [i128; 2], graph: &mut Aig<W>) -> Self {
        let [shown_least, shown_most] = self.limits();
        if shown_least >= least || shown_most <= most {
            return self;
        }
        let above = Self { constant: self.constant - least, ..self };
        let mut bits = above.in_word(i128::BITS - (most - least).max(1).leading_zeros()).bits(graph);
        bits.push(Lit::FALSE);
        let named = Self::of_bits(&bits);
        Self { constant: named.constant + least, ..named }
    }

    /// The sum of signed bits.
    fn of_bits(bits: &[Lit]) -> Self {
        let (sign, below) = bits.split_last().expect("a number has a sign");
        let weights = below.iter().enumerate().map(|(at, &bit)| (bit, 1_i128 << at));
        let all = weights.chain([(*sign, -(1 << below.len()))]);
        let width = u32::try_from(bits.len()).expect("a number has few bits") + 1;
        let sum = Linear::collect(width, 0, all.map(|(bit, weight)| (bit, weight.cast_unsigned())));
        let (constant, weights) = sum.integers();
        Self { constant, weights }
    }

    /// Two unsigned words whose difference it is, where each of both is a word of bits or a constant.
    fn ends(&self) -> Option<[Vec<Lit>; 2]> {
        let constants = (0..i128::BITS).filter(|at| self.constant.unsigned_abs() >> at & 1 == 1);
        let constants = constants.map(|at| (Lit::TRUE, self.constant.signum() << at));
        let literals = self.weights.iter().map(|&(node, weight)| (Lit::new(node, false), weight));
        let ends = ends(literals.chain(constants))?;
        let width = ends[0].len().max(ends[1].len()).max(1);
        Some(ends.map(|mut end| {
            end.resize(width, Lit::FALSE);
            end
        }))
    }

    /// Whether it is less than zero.
    pub(super) fn is_negative<W: Watch>(&self, graph: &mut Aig<W>) -> Lit {
        // What is below the units of the weights decides nothing.
        let units = self.floored(self.common());
        if let Some([a, b]) = units.ends() {
            return less(graph, &a, &b, false);
        }
        let is_turned = units.is_turned();
        // It is not negative if one less its opposite is.
        let units = if is_turned { units.inverted() } else { units };
        units.sign(graph).inverted_if(is_turned)
    }

    /// One less its opposite.
    fn inverted(&self) -> Self {
        let opposite = self.times(-1);
        Self { constant: opposite.constant - 1, ..opposite }
    }

    fn sign<W: Watch>(&self, graph: &mut Aig<W>) -> Lit {
        *self.bits(graph).last().expect("a number has a sign")
    }

    /// How far it is from zero.
    pub(super) fn magnitude<W: Watch>(&self, graph: &mut Aig<W>) -> Self {
        let common = gcd(self.common().unsigned_abs(), self.constant.unsigned_abs());
        let common = i128::try_from(common).expect("it is no greater than a weight");
        let units = self.floored(common);
        let mut bits = if let Some([a, b]) = units.ends() {
            distance([&a, &b], false, graph)
        } else {
            let units = if units.is_turned() { units.times(-1) } else { units };
            let is_negative = units.is_negative(graph);
            let [up, down] = [units.bits(graph), units.times(-1).bits(graph)];
            let width = up.len().max(down.len());
            let [up, down] = [up, down].map(|bits| extended(bits, width));
            // Both of them fit, so what is chosen has no sign.
            let pairs = up.into_iter().zip(down).take(width - 1);
            pairs.map(|(up, down)| graph.choose(is_negative, down, up)).collect()
        };
        bits.push(Lit::FALSE);
        Self::of_bits(&bits).times(common)
    }

    /// The smaller or the greater of two.
    pub(super) fn extreme<W: Watch>(both: [Self; 2], is_greater: bool, graph: &mut Aig<W>) -> Self {
        if both.iter().all(|of| !of.weights.is_empty()) {
            return Self::extreme_of_sums(both, is_greater, graph);
        }
        let limits = both.each_ref().map(Self::limits);
        let limit = |at: usize| {
            let [one, other] = limits.map(|of| of[at]);
            if is_greater { one.max(other) } else { one.min(other) }
        };
        Self::extreme_of_sums(both, is_greater, graph).within([limit(0), limit(1)], graph)
    }

    fn extreme_of_sums<W: Watch>([one, other]: [Self; 2], is_greater: bool, graph: &mut Aig<W>) -> Self {
        let difference = one.minus(&other);
        let common = difference.common();
        if (common | difference.constant) & 1 == 0 {
            // As far from the middle of the two as each of them is.
            let half = difference.floored(2);
            let distance = half.magnitude(graph);
            let distance = if is_greater { distance } else { distance.times(-1) };
            return other.plus(&half).plus(&distance);
        }
        if let Some([a, b]) = difference.ends() {
            let of_two = Extreme { words: [0; 2], signed: false, is_greater };
            let mut extreme = of_two.bits([&a, &b], graph);
            extreme.push(Lit::FALSE);
            let mut end = a;
            end.push(Lit::FALSE);
            return one.minus(&Self::of_bits(&end)).plus(&Self::of_bits(&extreme));
        }
        // One of the two, and what the other is more or less by, if it is the one that is chosen: that whose literals show
        // more of what the chosen one can be.
        let [shown, others] = [&one, &other].map(|of| of.limits()[usize::from(!is_greater)]);
        let is_first = match shown.cmp(&others) {
            Ordering::Equal => difference.is_turned(),
            Ordering::Greater => is_greater,
            Ordering::Less => !is_greater,
        };
        let (base, more) = if is_first { (one, difference.times(-1)) } else { (other, difference) };
        let is_negative = more.is_negative(graph);
        let is_chosen = is_negative.inverted_if(is_greater);
        let mut bits = more.bits(graph);
        bits.pop();
        let mut bits: Vec<Lit> = bits.into_iter().map(|bit| graph.and(bit, is_chosen)).collect();
        // Only what is positive is added to the smaller one, and only what is negative to the greater one.
        bits.push(if is_greater { Lit::FALSE } else { is_chosen });
        base.plus(&Self::of_bits(&bits))
    }
}

/// A signed number in so many bits.
fn extended(mut bits: Vec<Lit>, width: usize) -> Vec<Lit> {
    let sign = *bits.last().expect("a number has a sign");
    bits.resize(width, sign);
    bits
}
