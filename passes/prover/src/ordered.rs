//! Sums in order: which of two is less, the smaller and the greater one, and how far a sum is from zero.
//!
//! `x + b < y + b` is `x < y`, and `max(b + s, b - s)` is `b + |s|`, but not by the gates of the words, since an adder
//! makes other bits of each. So where two words are sums that are known to fit, what is made of them is made of their
//! difference: an integer, from which what both have in common is gone. Which of the two comes first, and what all weights
//! of the difference have in common, makes no other gates.

use super::aig::{Aig, Lit, Watch};
use super::canonical::{Kind, Word};
use super::compared::Extreme;
use super::distance::are_opposite;
use super::integer::Integer;
use super::linear::Linear;
use super::words::Circuit;
use hashbrown::HashMap;

/// A gate of two literals.
type Logic<W> = fn(&mut Aig<W>, Lit, Lit) -> Lit;

/// The widest words that are compared as sums.
const WIDEST: u32 = 64;

/// How many extremes of extremes are taken apart.
const DEEPEST: u32 = 4;

/// How many bits the halves of words have.
const HALF: u32 = 16;

/// What was found of the sums of a circuit.
#[derive(Default)]
pub(super) struct Differences {
    /// Whether anything was made of a difference.
    pub(super) are_any: bool,
    /// The bits of words from one on.
    uppers: HashMap<(u32, u32), Option<Linear>>,
    /// Bits of words that are signs.
    signs: HashMap<(u32, u32), Option<Lit>>,
}

impl<W: Watch> Circuit<'_, W> {
    /// Whether one sum is less than another.
    pub(super) fn less_of_sums(&mut self, word: &Word) -> Option<Lit> {
        self.differences()?;
        let [a, b, _] = word.operands;
        let less = self.less_of_integers([a, b], word.kind == Kind::SignedLess)?;
        self.differences()?.are_any = true;
        Some(less)
    }

    fn less_of_integers(&mut self, [a, b]: [u32; 2], is_signed: bool) -> Option<Lit> {
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
        if let Some(&known) = self.differences()?.signs.get(&(at, low)) {
            return known;
        }
        let sign = self.found_sign(at, low, depth);
        let differences = self.differences()?;
        differences.are_any |= sign.is_some();
        differences.signs.insert((at, low), sign);
        sign
    }

    fn found_sign(&mut self, at: u32, low: u32, depth: u32) -> Option<Lit> {
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
        self.differences()?;
        let made = if let Some(extreme) = Extreme::of(word, &self.cone.words) {
            let both = self.integers(extreme.words, extreme.signed)?;
            Integer::extreme(both, extreme.is_greater, &mut self.graph)
        } else {
            let [condition, then, otherwise] = word.operands;
            let both = self.integers([then, otherwise], true)?;
            let condition = self.bits(condition)[0];
            let is_greater = self.takes_greater(condition, &both)?;
            let are_opposite = are_opposite(self.known_sum(then)?, self.known_sum(otherwise)?);
            match both {
                [sum, _] if is_greater && are_opposite => sum.magnitude(&mut self.graph),
                both => Integer::extreme(both, is_greater, &mut self.graph),
            }
        };
        self.differences()?.are_any = true;
        Some(made.in_word(word.width))
    }

    /// Whether a literal chooses the greater of two numbers, the first one where it is set; `None` if it chooses neither that
    /// nor the smaller one.
    pub(super) fn takes_greater(&mut self, chooses: Lit, [then, otherwise]: &[Integer; 2]) -> Option<bool> {
        let [is_less, is_more] = [then.minus(otherwise), otherwise.minus(then)]
            .map(|difference| difference.is_negative(&mut self.graph));
        // Where both are equal, it does not matter which is taken.
        match chooses {
            _ if chooses == is_less || chooses == !is_more => Some(false),
            _ if chooses == is_more || chooses == !is_less => Some(true),
            _ => None,
        }
    }

    /// Bits of an extreme that are not its lowest ones: those of the extreme of what is above in both words.
    pub(super) fn upper_of_sums(&mut self, word: &Word) -> Option<Linear> {
        let low = u32::try_from(word.low()).expect("a bit's number is small");
        let of = word.operands[0];
        let is_extreme = low > 0 && Extreme::of(&self.word(of), &self.cone.words).is_some();
        let upper = if is_extreme { self.bits_from(of, low, 0) } else { None }?;
        self.differences()?.are_any = true;
        Some(upper.cut(word.width))
    }

    /// The bits of a word from one on.
    pub(super) fn bits_from(&mut self, at: u32, low: u32, depth: u32) -> Option<Linear> {
        if let Some(known) = self.differences()?.uppers.get(&(at, low)) {
            return known.clone();
        }
        let upper = self.found_bits_from(at, low, depth);
        self.differences()?.uppers.insert((at, low), upper.clone());
        upper
    }

    fn found_bits_from(&mut self, at: u32, low: u32, depth: u32) -> Option<Linear> {
        let word = self.word(at);
        let Some(extreme) = Extreme::of(&word, &self.cone.words).filter(|_| depth < DEEPEST) else {
            return match self.known_sum(at) {
                Some(sum) => sum.rising_from(low, word.width, &self.graph),
                None => Some(Linear::of_bits(&self.bits(at)[low as usize..])),
            };
        };
        let [one, other] = extreme.words.map(|at| self.bits_from(at, low, depth + 1));
        self.extreme_of(extreme, [one?, other?])
    }

    /// The smaller or the greater of two sums.
    pub(super) fn extreme_of(&mut self, extreme: Extreme, both: [Linear; 2]) -> Option<Linear> {
        if both.iter().all(Linear::is_plain) {
            let [one, other] = both.map(|word| word.bits(&mut self.graph));
            return Some(Linear::of_bits(&extreme.bits([&one, &other], &mut self.graph)));
        }
        let width = both[0].width();
        let [one, other] = both.map(|sum| Integer::of(&sum, extreme.signed));
        let made = Integer::extreme([one?, other?], extreme.is_greater, &mut self.graph);
        Some(made.in_word(width))
    }

    /// Whether a word is a sum, and no plain word.
    fn is_sum(&self, at: u32) -> bool {
        self.known_sum(at).is_some_and(|sum| !sum.is_plain())
    }

    /// Two words side by side, if one of them is no plain word.
    pub(super) fn side_by_side(&mut self, [high, low]: [u32; 2]) -> Option<Linear> {
        self.differences()?;
        if !self.is_sum(high) && !self.is_sum(low) {
            return None;
        }
        let [high, low] = [high, low].map(|at| self.as_linear(at));
        let raised = high.raised(low.width());
        Some(raised.plus(&low.zero_extended(raised.width())?))
    }

    /// The integers that two words are, if one of them is no plain word.
    fn integers(&mut self, words: [u32; 2], signed: bool) -> Option<[Integer; 2]> {
        let width = self.word(words[0]).width;
        if width > WIDEST || !words.into_iter().any(|at| self.is_sum(at)) {
            return None;
        }
        let [a, b] = words.map(|at| self.as_linear(at));
        Some([Integer::of(&a, signed)?, Integer::of(&b, signed)?])
    }
}

#[cfg(test)]
mod tests {
    use super::{Linear, Lit};
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
    fn words_of_literals_are_plain_whichever_are_inverted() {
        for inverted in 0..8_u32 {
            let bits: Vec<Lit> = (0..3).map(|at| Lit::new(at + 1, inverted >> at & 1 == 1)).collect();
            let word = Linear::of_bits(&bits);
            assert!(word.is_plain(), "{inverted:b}");
            let zeros = [&bits[..], &[Lit::FALSE, Lit::TRUE]].concat();
            assert!(Linear::of_bits(&zeros).is_plain(), "{inverted:b}");
            assert!(!word.times_constant(3).is_plain(), "{inverted:b}");
            assert!(!Linear::of_bits(&zeros).plus_constant(2).is_plain(), "{inverted:b}");
        }
    }

    /// A sum of a word's width has no room for the sign of what it is far from zero, whatever that width is.
    #[test]
    fn words_of_any_width_are_compared() {
        for width in [64, 65, 99, 100, 101, 126, 127, 128] {
            let mut terms = Terms::new();
            let [x, y, z] = [0, 1, 2].map(|number| terms.input(number, width));
            let difference = terms.sub(x, y);
            let sum = terms.add(difference, z);
            let zero = terms.constant(0, width);
            let opposite = terms.sub(zero, sum);
            let sign = terms.extract(sum, width - 1, 1);
            let before = terms.choose(sign, opposite, sum);
            let is_less = terms.signed_less(sum, zero);
            let after = terms.choose(is_less, opposite, sum);
            assert_eq!(verdict(&terms, before, after), Verdict::Proved(Proof::Structural), "{width}");
            let is_less = terms.signed_less(sum, opposite);
            let other = terms.choose(is_less, opposite, sum);
            let budget = crate::Budget { step: 1, total: 1 };
            let query = Query { budget, ..Query::new(&terms, vec![before], vec![other]) };
            assert!(!matches!(prove(&query), Verdict::Proved(Proof::Structural)), "{width}");
        }
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
