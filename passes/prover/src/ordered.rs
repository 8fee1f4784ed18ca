//! Sums in order: which of two is less, the smaller and the greater one, and how far a sum is from zero.
//!
//! `x + b < y + b` is `x < y`, and `max(b + s, b - s)` is `b + |s|`, but not by the gates of the words, since an adder
//! makes other bits of each. So where two words are sums that are known to fit, what is made of them is made of their
//! difference: an integer, from which what both have in common is gone. Which of the two comes first, and what all weights
//! of the difference have in common, makes no other gates.

use super::aig::{Aig, Lit, Watch};
use super::canonical::{Kind, Word};
use super::compared::{Extreme, less};
use super::distance::{are_opposite, distance};
use super::linear::{Linear, gcd};
use super::words::Circuit;

/// A gate of two literals.
type Logic<W> = fn(&mut Aig<W>, Lit, Lit) -> Lit;

/// The widest words that are compared as sums.
const WIDEST: u32 = 64;

/// The most literals of two sums that are compared.
const MOST_LITERALS: usize = 160;

/// How many extremes of extremes are taken apart.
const DEEPEST: u32 = 4;

/// How many bits the halves of words have.
const HALF: u32 = 16;

impl<W: Watch> Circuit<'_, W> {
    /// Whether one sum is less than another.
    pub(super) fn less_of_sums(&mut self, word: &Word) -> Option<Lit> {
        let [a, b, _] = word.operands;
        let is_signed = word.kind == Kind::SignedLess;
        if let Some([a, b]) = self.integers([a, b], is_signed) {
            return Some(a.minus(&b).is_negative(&mut self.graph));
        }
        let [a, b] = if is_signed { None } else { self.integers([a, b], true) }?;
        // Negative numbers are greater than all others here.
        let fixed = [&a, &b].map(|of| of.weights.is_empty().then_some(of.constant));
        let is_less = a.minus(&b).is_negative(&mut self.graph);
        let [is_negative, is_other] = [&a, &b].map(|of| of.is_negative(&mut self.graph));
        match fixed {
            [_, Some(number)] if number < 0 => Some(self.graph.or(is_less, !is_negative)),
            [_, Some(_)] => Some(self.graph.and(is_less, !is_negative)),
            [Some(number), None] if number < 0 => Some(self.graph.and(is_less, is_other)),
            [Some(_), None] => Some(self.graph.or(is_less, is_other)),
            [None, None] => None,
        }
    }

    /// A bit of a sum that says whether what it and those below it are is negative, or so great; or logic of such bits.
    pub(super) fn sign_of_sum(&mut self, word: &Word) -> Option<Lit> {
        let low = u32::try_from(word.low()).expect("a bit's number is small");
        if word.width == 1 && low < WIDEST { self.sign_at(word.operands[0], low, 0) } else { None }
    }

    fn sign_at(&mut self, at: u32, low: u32, depth: u32) -> Option<Lit> {
        if self.known_sum(at).is_some() {
            return self.sign_in_sum(at, low);
        }
        let word = self.word(at);
        let [a, b, _] = word.operands;
        if depth == DEEPEST {
            return None;
        }
        if word.kind == Kind::Not {
            return Some(!self.sign_at(a, low, depth + 1)?);
        }
        let gates: [(Kind, Logic<W>); 3] =
            [(Kind::And, Aig::and), (Kind::Or, Aig::or), (Kind::Xor, Aig::xor)];
        let (_, gate) = gates.into_iter().find(|&(kind, _)| kind == word.kind)?;
        let both = [a, b].map(|of| self.sign_at(of, low, depth + 1));
        if both == [None, None] {
            return None;
        }
        let [a, b] = [0, 1].map(|at| both[at].unwrap_or_else(|| self.bits(word.operands[at])[low as usize]));
        Some(gate(&mut self.graph, a, b))
    }

    fn sign_in_sum(&mut self, at: u32, low: u32) -> Option<Lit> {
        let sum = self.known_sum(at).filter(|sum| !sum.is_plain())?.cut(low + 1);
        // Of two halves of a word the lower one may neither carry nor borrow.
        let upper = if low > HALF { sum.rising_from(HALF, low + 1, &self.graph) } else { None };
        let (low, sum) = upper.map_or((low, sum), |upper| (low - HALF, upper));
        if let Some(number) = Integer::of(&sum, true) {
            return Some(number.is_negative(&mut self.graph));
        }
        let mut number = Integer::of(&sum, false)?;
        number.constant -= 1 << low;
        Some(!number.is_negative(&mut self.graph))
    }

    /// The choice of one of two sums that is the smaller or the greater one, or how far one of them is from zero.
    pub(super) fn chosen_sum(&mut self, word: &Word) -> Option<Linear> {
        let made = if let Some(extreme) = Extreme::of(word, &self.cone.words) {
            let both = self.integers(extreme.words, extreme.signed)?;
            Integer::extreme(both, extreme.is_greater, &mut self.graph)
        } else {
            let [condition, then, otherwise] = word.operands;
            let [opposite, sum] = [self.known_sum(then)?, self.known_sum(otherwise)?];
            if !are_opposite(opposite, sum) {
                return None;
            }
            let [opposite, sum] = [Integer::of(opposite, true)?, Integer::of(sum, true)?];
            let condition = self.bits(condition)[0];
            // Where both are zero, it does not matter which is chosen.
            let is_magnitude = condition == sum.is_negative(&mut self.graph)
                || condition == !opposite.is_negative(&mut self.graph);
            is_magnitude.then(|| sum.magnitude(&mut self.graph))?
        };
        Some(made.in_word(word.width))
    }

    /// Bits of an extreme that are not its lowest ones: those of the extreme of what is above in both words.
    pub(super) fn upper_of_sums(&mut self, word: &Word) -> Option<Linear> {
        let low = u32::try_from(word.low()).expect("a bit's number is small");
        let of = word.operands[0];
        let is_extreme = low > 0 && Extreme::of(&self.word(of), &self.cone.words).is_some();
        Some(if is_extreme { self.bits_from(of, low, 0) } else { None }?.cut(word.width))
    }

    /// The bits of a word from one on.
    fn bits_from(&mut self, at: u32, low: u32, depth: u32) -> Option<Linear> {
        let word = self.word(at);
        let Some(extreme) = Extreme::of(&word, &self.cone.words).filter(|_| depth < DEEPEST) else {
            return match self.known_sum(at) {
                Some(sum) => sum.rising_from(low, word.width, &self.graph),
                None => Some(Linear::of_bits(&self.bits(at)[low as usize..])),
            };
        };
        let [one, other] = extreme.words.map(|at| self.bits_from(at, low, depth + 1));
        let (one, other) = (one?, other?);
        if one.is_plain() && other.is_plain() {
            let [one, other] = [one, other].map(|word| word.bits(&mut self.graph));
            return Some(Linear::of_bits(&extreme.bits([&one, &other], &mut self.graph)));
        }
        let both = [Integer::of(&one, extreme.signed)?, Integer::of(&other, extreme.signed)?];
        let made = Integer::extreme(both, extreme.is_greater, &mut self.graph);
        Some(made.in_word(word.width - low))
    }

    /// Two words side by side, if one of them is no plain word.
    pub(super) fn side_by_side(&mut self, [high, low]: [u32; 2]) -> Option<Linear> {
        let is_sum = |at: u32| self.known_sum(at).is_some_and(|sum| !sum.is_plain());
        if !is_sum(high) && !is_sum(low) {
            return None;
        }
        let [high, low] = [high, low].map(|at| self.as_linear(at));
        let raised = high.raised(low.width());
        Some(raised.plus(&low.zero_extended(raised.width())?))
    }

    /// The integers that two words are, if one of them is no plain word.
    fn integers(&mut self, words: [u32; 2], signed: bool) -> Option<[Integer; 2]> {
        let width = self.word(words[0]).width;
        let is_sum = |at: u32| self.known_sum(at).is_some_and(|sum| !sum.is_plain());
        if width > WIDEST || !words.into_iter().any(is_sum) {
            return None;
        }
        let [a, b] = words.map(|at| self.as_linear(at));
        if a.len() + b.len() > MOST_LITERALS {
            return None;
        }
        Some([Integer::of(&a, signed)?, Integer::of(&b, signed)?])
    }
}

/// A constant and weighted literals, none inverted, in ascending order.
#[derive(Clone)]
struct Integer {
    constant: i128,
    weights: Vec<(u32, i128)>,
}

impl Integer {
    /// The integer that a sum is, if it is known to fit in its word.
    fn of(sum: &Linear, signed: bool) -> Option<Self> {
        // With room for the sign of an unsigned number.
        let width = sum.width() + 1;
        let (constant, weights) =
            if signed { sum.sign_extended(width) } else { sum.zero_extended(width) }?.integers();
        Some(Self { constant, weights })
    }

    fn in_word(&self, width: u32) -> Linear {
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

    fn minus(&self, other: &Self) -> Self {
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
        let weights = || self.weights.iter().map(|&(_, weight)| weight);
        let least: i128 = self.constant + weights().map(|weight| weight.min(0)).sum::<i128>();
        let most: i128 = self.constant + weights().map(|weight| weight.max(0)).sum::<i128>();
        // Of a negative number the bits that differ from its sign are those of one less its opposite.
        let bits = |value: i128| i128::BITS - (if value < 0 { !value } else { value }).leading_zeros();
        self.in_word(bits(least).max(bits(most)) + 1).bits(graph)
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
        let mut ends = [Vec::new(), Vec::new()];
        let constants = (0..i128::BITS).filter(|at| self.constant.unsigned_abs() >> at & 1 == 1);
        let constants = constants.map(|at| (Lit::TRUE, self.constant.signum() << at));
        let literals = self.weights.iter().map(|&(node, weight)| (Lit::new(node, false), weight));
        for (lit, weight) in literals.chain(constants) {
            let (end, place) = (&mut ends[usize::from(weight < 0)], weight.unsigned_abs());
            let at = place.trailing_zeros() as usize;
            end.resize(end.len().max(at + 1), Lit::FALSE);
            if !place.is_power_of_two() || end[at] != Lit::FALSE {
                return None;
            }
            end[at] = lit;
        }
        let width = ends[0].len().max(ends[1].len()).max(1);
        Some(ends.map(|mut end| {
            end.resize(width, Lit::FALSE);
            end
        }))
    }

    /// Whether it is less than zero.
    fn is_negative<W: Watch>(&self, graph: &mut Aig<W>) -> Lit {
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
    fn magnitude<W: Watch>(&self, graph: &mut Aig<W>) -> Self {
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
    fn extreme<W: Watch>([one, other]: [Self; 2], is_greater: bool, graph: &mut Aig<W>) -> Self {
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
        // One of the two, and what the other is more or less by, if it is the one that is chosen.
        let (base, more) =
            if difference.is_turned() { (one, difference.times(-1)) } else { (other, difference) };
        let is_negative = more.is_negative(graph);
        let is_chosen = is_negative.inverted_if(is_greater);
        let bits: Vec<Lit> = more.bits(graph).into_iter().map(|bit| graph.and(bit, is_chosen)).collect();
        base.plus(&Self::of_bits(&bits))
    }
}

/// A signed number in so many bits.
fn extended(mut bits: Vec<Lit>, width: usize) -> Vec<Lit> {
    let sign = *bits.last().expect("a number has a sign");
    bits.resize(width, sign);
    bits
}

#[cfg(test)]
mod tests {
    use crate::{Proof, Query, Verdict, prove};
    use ptxopt_grammar::meaning::term::{Term, Terms};

    /// A gradient of six bytes of words in so many bits: what three of them are greater by than the others, the middle
    /// ones counted so often.
    fn gradient(terms: &mut Terms, width: u32, lane: u32, middle: u128) -> Term {
        let mut sum = terms.constant(0, width);
        for number in 0..6 {
            let word = terms.input(number, 32);
            let byte = terms.extract(word, 8 * lane, 8);
            let byte = terms.zero_extend(byte, width);
            let weight = if matches!(number, 1 | 4) { middle } else { 1 };
            let weight = terms.constant(weight, width);
            let weighted = terms.mul(byte, weight);
            sum = if number < 3 { terms.add(sum, weighted) } else { terms.sub(sum, weighted) };
        }
        sum
    }

    /// How far a gradient is from zero, by its sign.
    fn magnitude(terms: &mut Terms, lane: u32, middle: u128) -> Term {
        let sum = gradient(terms, 32, lane, middle);
        let sign = terms.extract(sum, 31, 1);
        let zero = terms.constant(0, 32);
        let opposite = terms.sub(zero, sum);
        terms.choose(sign, opposite, sum)
    }

    fn extreme(terms: &mut Terms, [x, y]: [Term; 2], is_greater: bool) -> Term {
        let is_less = terms.unsigned_less(x, y);
        if is_greater { terms.choose(is_less, y, x) } else { terms.choose(is_less, x, y) }
    }

    /// The magnitudes of the gradients of two lanes as halves of a word, each with a bias.
    fn biased(terms: &mut Terms, bias: u128, middle: u128) -> Term {
        let [low, high] = [0, 1].map(|lane| gradient(terms, 32, lane, middle));
        let sixteen = terms.constant(16, 32);
        let high = terms.shl(high, sixteen);
        let sums = terms.add(high, low);
        let [biases, twice] = [0x10001, 0x20002].map(|of: u128| terms.constant(of * bias, 32));
        let sums = terms.add(sums, biases);
        let opposites = terms.sub(twice, sums);
        let halves = [0, 16].map(|low| {
            let both = [sums, opposites].map(|word| terms.extract(word, low, 16));
            extreme(terms, both, true)
        });
        terms.concat(halves[1], halves[0])
    }

    fn verdict(terms: &Terms, before: Term, after: Term) -> Verdict {
        prove(&Query::new(terms, vec![before], vec![after]))
    }

    /// Whether the magnitudes of gradients with these weights of the middle bytes, in halves with a bias, are those one by
    /// one.
    fn magnitudes_in_halves(bias: u128, [middle, other]: [u128; 2]) -> Verdict {
        let mut terms = Terms::new();
        let halves = biased(&mut terms, bias, middle);
        let biases = terms.constant(bias * 0x10001, 32);
        let after = terms.sub(halves, biases);
        let [low, high] = [0, 1].map(|lane| {
            let magnitude = magnitude(&mut terms, lane, other);
            terms.extract(magnitude, 0, 16)
        });
        let before = terms.concat(high, low);
        verdict(&terms, before, after)
    }

    #[test]
    fn magnitudes_are_the_greater_of_a_biased_sum_and_its_opposite() {
        assert_eq!(magnitudes_in_halves(0x8000, [2, 2]), Verdict::Proved(Proof::Structural));
        assert_eq!(magnitudes_in_halves(0x800, [2, 2]), Verdict::Proved(Proof::Structural));
        assert_eq!(magnitudes_in_halves(0x8000, [10, 10]), Verdict::Proved(Proof::Structural));
    }

    #[test]
    fn magnitudes_of_other_sums_and_without_room_are_others() {
        for (bias, weights) in [(0x8000, [2, 3]), (0x8000, [1, 2]), (1019, [2, 2]), (0, [2, 2])] {
            let verdict = magnitudes_in_halves(bias, weights);
            assert!(matches!(verdict, Verdict::Refuted(_)), "{bias} {weights:?} {verdict:?}");
        }
    }

    /// Whether gradients clamped by one number as halves are those clamped by another number one by one.
    fn clamped([number, other]: [u128; 2]) -> Verdict {
        let mut terms = Terms::new();
        let halves = biased(&mut terms, 0x8000, 2);
        let most = terms.constant(0x8000 + number, 16);
        let lanes = [0, 16].map(|low| {
            let half = terms.extract(halves, low, 16);
            let least = extreme(&mut terms, [half, most], false);
            terms.extract(least, 0, 8)
        });
        let after = terms.concat(lanes[1], lanes[0]);
        let most = terms.constant(other, 32);
        let lanes = [0, 1].map(|lane| {
            let magnitude = magnitude(&mut terms, lane, 2);
            let is_less = terms.signed_less(magnitude, most);
            let least = terms.choose(is_less, magnitude, most);
            terms.extract(least, 0, 8)
        });
        let before = terms.concat(lanes[1], lanes[0]);
        verdict(&terms, before, after)
    }

    #[test]
    fn sums_are_clamped_with_and_without_a_bias() {
        assert_eq!(clamped([255, 255]), Verdict::Proved(Proof::Structural));
        assert_eq!(clamped([200, 200]), Verdict::Proved(Proof::Structural));
        assert!(matches!(clamped([255, 254]), Verdict::Refuted(_)));
    }

    /// Whether a sum of two gradients is greater than a number, told by the highest bit of a half, is whether it is greater
    /// than another one.
    fn greater([number, other]: [u128; 2]) -> Verdict {
        let mut terms = Terms::new();
        let sum = gradient(&mut terms, 16, 0, 2);
        let offset = terms.constant(0x7fff - number, 16);
        let biased = terms.add(sum, offset);
        let after = terms.extract(biased, 15, 1);
        let sum = gradient(&mut terms, 32, 0, 2);
        let number = terms.constant(other, 32);
        let before = terms.signed_less(number, sum);
        verdict(&terms, before, after)
    }

    /// Whether the distance of a gradient from a number is less than another one, told by an unsigned comparison and by two
    /// signs of halves, the last of them by one more or less.
    fn between([least, most]: [i64; 2], more: i64) -> Verdict {
        let mut terms = Terms::new();
        let number = |terms: &mut Terms, number: i64| {
            terms.constant(u128::from(number.cast_unsigned() & 0xffff_ffff), 32)
        };
        let sum = gradient(&mut terms, 32, 0, 2);
        let offset = number(&mut terms, -least);
        let moved = terms.add(sum, offset);
        let end = number(&mut terms, most - least);
        let before = terms.unsigned_less(moved, end);
        let sum = gradient(&mut terms, 16, 0, 2);
        let [at_least, less] = [0x8000 - least, 0x8000 - most - more].map(|offset| {
            let offset = terms.constant(u128::from(offset.cast_unsigned()), 16);
            let biased = terms.add(sum, offset);
            terms.extract(biased, 15, 1)
        });
        let less = terms.not(less);
        let after = if most < least { terms.or(at_least, less) } else { terms.and(at_least, less) };
        verdict(&terms, before, after)
    }

    #[test]
    fn unsigned_comparisons_of_signed_sums_are_two_of_signed_ones() {
        for ends in [[-41, 100], [41, -40], [-70, 70]] {
            assert_eq!(between(ends, 0), Verdict::Proved(Proof::Structural), "{ends:?}");
            for more in [-1, 1] {
                // Few inputs tell, so it may not be refuted.
                assert!(!matches!(between(ends, more), Verdict::Proved(_)), "{ends:?} {more}");
            }
        }
    }

    #[test]
    fn sums_are_compared_by_the_sign_of_a_difference() {
        assert_eq!(greater([100, 100]), Verdict::Proved(Proof::Structural));
        assert!(matches!(greater([100, 99]), Verdict::Refuted(_)));
        assert!(matches!(greater([100, 101]), Verdict::Refuted(_)));
    }

    /// The greater halves of sums, found as those of whole words: the upper ones first, then the lower ones under these.
    #[test]
    fn upper_halves_decide_between_whole_words() {
        let mut terms = Terms::new();
        let after = biased(&mut terms, 0x8000, 2);
        let [low, high] = [0, 1].map(|lane| gradient(&mut terms, 32, lane, 2));
        let sixteen = terms.constant(16, 32);
        let high = terms.shl(high, sixteen);
        let sums = terms.add(high, low);
        let [biases, twice] = [0x8000_8000, 0x1_0000].map(|of| terms.constant(of, 32));
        let sums = terms.add(sums, biases);
        let opposites = terms.sub(twice, sums);
        let greater = extreme(&mut terms, [sums, opposites], true);
        let upper = terms.extract(greater, 16, 16);
        let under = |terms: &mut Terms, word: Term| {
            let lower = terms.extract(word, 0, 16);
            terms.concat(upper, lower)
        };
        let both = [sums, opposites].map(|word| under(&mut terms, word));
        let before = extreme(&mut terms, both, true);
        assert_eq!(verdict(&terms, before, after), Verdict::Proved(Proof::Structural));
        let swapped = extreme(&mut terms, both, false);
        assert!(matches!(verdict(&terms, swapped, after), Verdict::Refuted(_)));
    }
}
