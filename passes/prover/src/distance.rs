//! Distances: the greater of two words less the smaller one.
//!
//! `max(x, y) - min(x, y)` is never negative, but as a sum of the bits of both it looks as if it could be, so it would
//! seem to borrow from the lane above it. So where the greater and the smaller of the same two words are there, their
//! difference in a sum is replaced by the distance of the words, which is neither negative nor wider than they are: the
//! two are equal as integers, whatever the words are. It is also what `|x - y|` is.

use super::aig::{Aig, Lit, Watch};
use super::compared::{Extreme, in_order, less};
use super::linear::Linear;
use hashbrown::HashMap;
use ptxopt_grammar::meaning::term::MOST_BITS;

/// How many bits more than the words have, so that any weighted sum of the bits of two words is there as an integer.
const ROOM: usize = 3;

/// The most distances that are looked for in each sum.
const MOST: usize = 64;

/// The pairs of the smaller and the greater of two words.
#[derive(Default)]
pub(super) struct Distances {
    /// By two words and whether they are compared as signed ones: the smaller and the greater one, if they are there.
    ends: HashMap<([u32; 2], bool), [Option<u32>; 2]>,
    all: Vec<Distance>,
}

/// A distance of two words.
struct Distance {
    /// The greater one less the smaller one, as the bits of both.
    difference: Linear,
    words: [u32; 2],
    signed: bool,
    /// The distance as bits of its own, once it was made.
    made: Option<Linear>,
}

impl Distances {
    /// Notes that a word of so many bits is one end; the smaller and the greater one, once both are there and sums of them
    /// fit in the widest word.
    pub(super) fn note(&mut self, at: u32, width: usize, extreme: Extreme) -> Option<[u32; 2]> {
        let ends = self.ends.entry((extreme.words, extreme.signed)).or_default();
        ends[usize::from(extreme.is_greater)] = Some(at);
        let [Some(smaller), Some(greater)] = *ends else { return None };
        (self.all.len() < MOST && width + ROOM <= MOST_BITS as usize).then_some([smaller, greater])
    }

    /// Takes both ends, whose bits are given.
    pub(super) fn insert(&mut self, extreme: Extreme, [smaller, greater]: [&[Lit]; 2]) {
        let Extreme { words, signed, .. } = extreme;
        let difference = minus(&wider(greater, signed), &wider(smaller, signed));
        self.all.push(Distance { difference, words, signed, made: None });
    }

    /// A difference that is in a sum as a whole: its number, what is left of the sum, and how often it is in it.
    pub(super) fn in_sum(&self, sum: &Linear) -> Option<(usize, Linear, u128)> {
        self.all.iter().enumerate().find_map(|(at, distance)| {
            let (rest, times) = sum.without(&distance.difference)?;
            Some((at, rest, times))
        })
    }

    /// The words that a distance is one of.
    pub(super) fn words(&self, at: usize) -> [u32; 2] {
        self.all[at].words
    }

    /// The distance, of which the bits of the two words are given.
    pub(super) fn made<W: Watch>(&mut self, at: usize, words: [&[Lit]; 2], graph: &mut Aig<W>) -> &Linear {
        let Distance { signed, made, .. } = &mut self.all[at];
        made.get_or_insert_with(|| {
            let mut bits = distance(words, *signed, graph);
            bits.resize(words[0].len() + ROOM, Lit::FALSE);
            Linear::of_bits(&bits)
        })
    }
}

/// The bits of how far two words of one width are apart.
pub(super) fn distance<W: Watch>(words: [&[Lit]; 2], signed: bool, graph: &mut Aig<W>) -> Vec<Lit> {
    let [a, b] = in_order(words);
    let less = less(graph, a, b, signed);
    // It is not negative, and no wider than the words, of which the bits are left out that both have extended.
    let width = narrowest(a, signed).max(narrowest(b, signed));
    let [a, b] = [a, b].map(|word| wider(&word[..width], signed));
    let (up, down) = (minus(&b, &a).bits(graph), minus(&a, &b).bits(graph));
    let chosen = up.into_iter().zip(down).take(width);
    chosen.map(|(up, down)| graph.choose(less, up, down)).collect()
}

/// The bits of a difference of two unsigned words where it is not negative, and of its opposite where it is; `None` if a
/// sum is no such difference, or has no room for all of them.
pub(super) fn magnitude<W: Watch>(difference: &Linear, graph: &mut Aig<W>) -> Option<Vec<Lit>> {
    let [mut a, mut b] = difference.ends()?;
    let width = a.len().max(b.len()).max(1);
    a.resize(width, Lit::FALSE);
    b.resize(width, Lit::FALSE);
    let mut magnitude = distance([&a, &b], false, graph);
    magnitude.resize(difference.width() as usize, Lit::FALSE);
    Some(magnitude)
}

/// Whether a sum is zero less another one. Most that are chosen between differ in the number of their literals.
pub(super) fn are_opposite(one: &Linear, other: &Linear) -> bool {
    one.len() == other.len() && *one == other.times_constant(u128::MAX)
}

/// How many bits a word has without those that it was extended by.
fn narrowest(bits: &[Lit], signed: bool) -> usize {
    let is_extended =
        |&width: &usize| if signed { bits[width] == bits[width - 1] } else { bits[width] == Lit::FALSE };
    let extended = (1..bits.len()).rev().take_while(is_extended).count();
    bits.len() - extended
}

/// A word with room for sums of it.
fn wider(bits: &[Lit], signed: bool) -> Linear {
    let sign = bits.last().copied().filter(|_| signed).unwrap_or(Lit::FALSE);
    let mut bits = bits.to_vec();
    bits.resize(bits.len() + ROOM, sign);
    Linear::of_bits(&bits)
}

fn minus(a: &Linear, b: &Linear) -> Linear {
    a.plus(&b.times_constant(u128::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Proof, Query, Verdict, prove};
    use ptxopt_grammar::meaning::term::{Term, Terms};

    type Less = fn(&mut Terms, Term, Term) -> Term;

    /// The smaller and the greater of two words, and their distance, found with another comparison.
    fn of(terms: &mut Terms, [x, y]: [Term; 2], less: Less, other: Less) -> [Term; 3] {
        let is_less = less(terms, x, y);
        let [smaller, greater] = [terms.choose(is_less, x, y), terms.choose(is_less, y, x)];
        let is_less = other(terms, x, y);
        let (up, down) = (terms.sub(y, x), terms.sub(x, y));
        [smaller, greater, terms.choose(is_less, up, down)]
    }

    /// Whether the greater halves of two words less the smaller halves, as a difference of words, are the distances of the
    /// halves side by side.
    fn side_by_side(less: Less, other: Less) -> Verdict {
        let mut terms = Terms::new();
        let words = [0, 1].map(|number| terms.input(number, 32));
        let halves = [0, 16].map(|low| {
            let halves = words.map(|word| terms.extract(word, low, 16));
            of(&mut terms, halves, less, other)
        });
        let [smaller, greater, after] = [0, 1, 2].map(|at| terms.concat(halves[1][at], halves[0][at]));
        let before = terms.sub(greater, smaller);
        prove(&Query::new(&terms, vec![before], vec![after]))
    }

    #[test]
    fn differences_of_ends_are_distances() {
        let verdict = side_by_side(Terms::unsigned_less, Terms::unsigned_less);
        assert_eq!(verdict, Verdict::Proved(Proof::Structural));
    }

    /// Whether the greater bytes of two words less the smaller ones, as a difference of words, are the distances of the
    /// bytes in their lanes, found by comparing them as halves, all added up.
    fn added_up(is_signed: bool) -> Verdict {
        let mut terms = Terms::new();
        let words = [0, 1].map(|number| terms.input(number, 32));
        let less: Less = if is_signed { Terms::signed_less } else { Terms::unsigned_less };
        let extended = if is_signed { Terms::sign_extend } else { Terms::zero_extend };
        let zero = terms.constant(0, 32);
        let mut before = zero;
        let lanes = [0, 8, 16, 24].map(|low| {
            let bytes = words.map(|word| terms.extract(word, low, 8));
            let halves = bytes.map(|byte| extended(&mut terms, byte, 16));
            let [smaller, greater, _] = of(&mut terms, halves, less, less);
            let distance = terms.sub(greater, smaller);
            let distance = terms.zero_extend(distance, 32);
            before = terms.add(before, distance);
            of(&mut terms, bytes, less, less)
        });
        let [smaller, greater] = [0, 1].map(|at| {
            let lanes = lanes.map(|ends| ends[at]).into_iter();
            terms.side_by_side(lanes).expect("there are four")
        });
        let difference = terms.sub(greater, smaller);
        let after = [0, 8, 16, 24].into_iter().fold(zero, |sum, low| {
            let byte = terms.extract(difference, low, 8);
            let byte = terms.zero_extend(byte, 32);
            terms.add(sum, byte)
        });
        prove(&Query::new(&terms, vec![before], vec![after]))
    }

    #[test]
    fn distances_of_bytes_are_those_of_the_bytes_in_wider_words() {
        assert_eq!(added_up(false), Verdict::Proved(Proof::Structural));
    }

    #[test]
    fn differences_of_words_of_signed_bytes_are_no_distances_of_bytes() {
        assert!(matches!(added_up(true), Verdict::Refuted(_)));
    }

    #[test]
    fn differences_of_signed_ends_are_distances_where_they_have_room() {
        let mut terms = Terms::new();
        let words = [0, 1].map(|number| terms.input(number, 8));
        let less: Less = Terms::signed_less;
        let [smaller, greater, distance] = of(&mut terms, words, less, less);
        let [smaller, greater] = [smaller, greater].map(|end| terms.sign_extend(end, 16));
        let (before, after) = (terms.sub(greater, smaller), terms.zero_extend(distance, 16));
        let verdict = prove(&Query::new(&terms, vec![before], vec![after]));
        assert_eq!(verdict, Verdict::Proved(Proof::Structural));
    }

    #[test]
    fn differences_of_signed_ends_borrow_from_the_lane_above() {
        let verdict = side_by_side(Terms::signed_less, Terms::signed_less);
        assert!(matches!(verdict, Verdict::Refuted(_)), "{verdict:?}");
    }

    /// Whether a difference of two halves, in words of so many bits, or its opposite where it is negative, is their
    /// distance.
    fn magnitude_of_difference(width: u32, is_greater: bool) -> Verdict {
        let mut terms = Terms::new();
        let halves = [0, 1].map(|number| terms.input(number, 16));
        let [x, y] = halves.map(|half| terms.zero_extend(half, width));
        let [difference, opposite] = [terms.sub(x, y), terms.sub(y, x)];
        let zero = terms.constant(0, width);
        let before = if is_greater {
            let is_negative = terms.signed_less(opposite, zero);
            terms.choose(is_negative, difference, opposite)
        } else {
            let is_negative = terms.signed_less(difference, zero);
            let opposite = terms.sub(zero, difference);
            terms.choose(is_negative, opposite, difference)
        };
        let less: Less = Terms::unsigned_less;
        let [smaller, greater, _] = of(&mut terms, halves, less, less);
        let after = terms.sub(greater, smaller);
        let after = terms.zero_extend(after, width);
        prove(&Query::new(&terms, vec![before], vec![after]))
    }

    #[test]
    fn magnitudes_of_differences_are_distances() {
        for is_greater in [false, true] {
            let verdict = magnitude_of_difference(32, is_greater);
            assert_eq!(verdict, Verdict::Proved(Proof::Structural), "{is_greater}");
            let verdict = magnitude_of_difference(17, is_greater);
            assert_eq!(verdict, Verdict::Proved(Proof::Structural), "{is_greater}");
        }
    }

    #[test]
    fn magnitudes_of_differences_without_room_for_a_sign_are_no_distances() {
        assert!(matches!(magnitude_of_difference(16, false), Verdict::Refuted(_)));
    }

    #[test]
    fn a_difference_shows_its_words_where_it_has_room_for_a_sign() {
        let word = |first: u32, count: u32, width: usize| {
            let mut bits: Vec<Lit> = (first..first + count).map(|node| Lit::new(node, false)).collect();
            bits.resize(width, Lit::FALSE);
            bits
        };
        let ends = |width: usize| {
            let [half, byte] = [word(1, 16, width), word(17, 8, width)].map(|bits| Linear::of_bits(&bits));
            minus(&half, &byte).ends()
        };
        assert_eq!(ends(17), Some([word(1, 16, 16), word(17, 8, 8)]));
        assert_eq!(ends(16), None);
        let [half, byte] = [word(1, 16, 32), word(17, 8, 32)].map(|bits| Linear::of_bits(&bits));
        assert_eq!(minus(&half, &byte).plus_constant(1).ends(), None);
        assert_eq!(minus(&half.times_constant(3), &byte).ends(), None);
    }

    /// Whether the magnitudes of two differences, added up, are the sum of the distances; `is_other` says that a third
    /// word is in the place of one.
    fn sum_of_magnitudes(is_other: bool) -> Verdict {
        let mut terms = Terms::new();
        let halves = [0, 1, 2, 3, 4].map(|number| terms.input(number, 16));
        let zero = terms.constant(0, 32);
        let magnitude = |terms: &mut Terms, pair: [Term; 2]| {
            let [x, y] = pair.map(|half| terms.zero_extend(half, 32));
            let difference = terms.sub(x, y);
            let is_negative = terms.signed_less(difference, zero);
            let opposite = terms.sub(zero, difference);
            terms.choose(is_negative, opposite, difference)
        };
        let pairs = [[halves[0], halves[1]], [halves[2], halves[3 + usize::from(is_other)]]];
        let [one, other] = pairs.map(|pair| magnitude(&mut terms, pair));
        let before = terms.add(one, other);
        let less: Less = Terms::unsigned_less;
        let after = [[halves[2], halves[3]], [halves[0], halves[1]]].into_iter().fold(zero, |sum, pair| {
            let [smaller, greater, _] = of(&mut terms, pair, less, less);
            let [smaller, greater] = [smaller, greater].map(|end| terms.zero_extend(end, 32));
            let sum = terms.add(sum, greater);
            terms.sub(sum, smaller)
        });
        prove(&Query::new(&terms, vec![before], vec![after]))
    }

    #[test]
    fn sums_of_magnitudes_are_sums_of_distances_in_any_order() {
        assert_eq!(sum_of_magnitudes(false), Verdict::Proved(Proof::Structural));
        assert!(matches!(sum_of_magnitudes(true), Verdict::Refuted(_)));
    }

    #[test]
    fn words_without_room_for_sums_have_no_distances() {
        for width in 124..=128 {
            let mut terms = Terms::new();
            let words = [0, 1].map(|number| terms.input(number, width));
            let less: Less = Terms::unsigned_less;
            let [smaller, greater, distance] = of(&mut terms, words, less, less);
            let lowest = [smaller, greater, distance].map(|word| {
                let bit = terms.extract(word, 0, 1);
                terms.zero_extend(bit, 2)
            });
            let [one, other, of_both] = lowest;
            let both = terms.add(one, other);
            let query = Query::new(&terms, vec![smaller, greater, both], vec![smaller, greater, of_both]);
            let verdict = prove(&query);
            assert!(matches!(verdict, Verdict::Refuted(_)), "{width}: {verdict:?}");
        }
    }

    #[test]
    fn distances_of_signed_words_are_no_distances_of_unsigned_ones() {
        let verdict = side_by_side(Terms::unsigned_less, Terms::signed_less);
        assert!(matches!(verdict, Verdict::Refuted(_)), "{verdict:?}");
    }
}
