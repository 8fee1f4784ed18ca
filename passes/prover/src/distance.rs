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
            let [a, b] = in_order(words);
            let less = less(graph, a, b, *signed);
            // It is not negative, and no wider than the words, of which the bits are left out that both have extended.
            let width = narrowest(a, *signed).max(narrowest(b, *signed));
            let [a, b] = [a, b].map(|word| wider(&word[..width], *signed));
            let (up, down) = (minus(&b, &a).bits(graph), minus(&a, &b).bits(graph));
            let chosen = up.into_iter().zip(down).take(width);
            let mut distance: Vec<Lit> = chosen.map(|(up, down)| graph.choose(less, up, down)).collect();
            distance.resize(words[0].len() + ROOM, Lit::FALSE);
            Linear::of_bits(&distance)
        })
    }
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
            lanes.reduce(|low, high| terms.concat(high, low)).expect("there are four")
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
