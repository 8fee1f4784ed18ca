//! Extremes of many words: the smallest or the greatest, in one order.
//!
//! `max(max(x, y), z)` is `max(x, max(y, z))`, but not by its gates. So an extreme of extremes is taken as one of all of
//! the words, each once, which are compared in the order of their bits: it is the same gates however they came
//! together. Words are told by their bits without the zeros and the copies of the sign above them, so one that was
//! extended in between is the same. The upper bits of an extreme are the extreme of the upper bits, since to leave out
//! lower bits never changes the order of two words but to make them equal.

use super::aig::{Aig, Lit, Watch};
use super::compared::Extreme;
use hashbrown::HashMap;
use std::rc::Rc;

/// The most words of which one is an extreme.
const MOST: usize = 64;

/// A word that is compared: the bits that say what it is, and whether it may be negative, the last being the sign.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct Compared {
    bits: Vec<Lit>,
    may_be_negative: bool,
}

impl Compared {
    /// A word that is compared as a signed one or as an unsigned one.
    fn of(bits: &[Lit], signed: bool) -> Self {
        let mut bits = bits.to_vec();
        let may_be_negative = signed && bits.last() != Some(&Lit::FALSE);
        let is_idle = |bits: &[Lit]| match *bits {
            [.., below, last] if may_be_negative => below == last,
            [.., last] => !may_be_negative && last == Lit::FALSE,
            [] => false,
        };
        while is_idle(&bits) {
            bits.pop();
        }
        Self { bits, may_be_negative }
    }

    /// How many bits a signed number of it has.
    fn signed_width(&self) -> usize {
        self.bits.len() + usize::from(!self.may_be_negative)
    }

    fn extended(&self, width: usize) -> Vec<Lit> {
        let fill = self.bits.last().copied().filter(|_| self.may_be_negative).unwrap_or(Lit::FALSE);
        let mut bits = self.bits.clone();
        bits.resize(width, fill);
        bits
    }
}

/// The words of which one is an extreme, in order.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Set {
    is_greater: bool,
    words: Rc<[Compared]>,
}

impl Set {
    /// `None` if there are too many words.
    fn of(is_greater: bool, mut words: Vec<Compared>) -> Option<Self> {
        words.sort_unstable();
        words.dedup();
        (words.len() <= MOST).then_some(Self { is_greater, words: words.into() })
    }

    fn is_signed(&self) -> bool {
        self.words.iter().any(|word| word.may_be_negative)
    }

    /// The extreme.
    fn made<W: Watch>(&self, graph: &mut Aig<W>) -> Compared {
        let signed = self.is_signed();
        let width = |word: &Compared| if signed { word.signed_width() } else { word.bits.len() };
        let width = self.words.iter().map(width).max().expect("an extreme is of at least one word");
        let mut words = self.words.iter().map(|word| word.extended(width));
        let first = words.next().expect("an extreme is of at least one word");
        let of_two = Extreme { words: [0; 2], signed, is_greater: self.is_greater };
        let made = words.fold(first, |made, word| of_two.bits([&made, &word], graph));
        Compared::of(&made, signed)
    }
}

/// The extremes of a circuit, by their bits, and by the numbers of their words.
#[derive(Default)]
pub(super) struct Extremes {
    known: HashMap<(Compared, bool), Set>,
    of_word: HashMap<u32, Set>,
}

impl Extremes {
    /// The bits of the extreme of two words, which is word `at`.
    pub(super) fn bits<W: Watch>(
        &mut self,
        at: u32,
        extreme: Extreme,
        words: [&[Lit]; 2],
        graph: &mut Aig<W>,
    ) -> Vec<Lit> {
        let width = words[0].len();
        let both = words.map(|bits| Compared::of(bits, extreme.signed));
        let parts = both.into_iter().flat_map(|word| self.parts(word, extreme.is_greater));
        let Some(set) = Set::of(extreme.is_greater, parts.collect()) else {
            return extreme.bits(words, graph);
        };
        self.of_word.insert(at, set.clone());
        self.noted(set, graph).extended(width)
    }

    /// The bits of word `at` from one on, if it is an extreme.
    pub(super) fn above<W: Watch>(
        &mut self,
        at: u32,
        (low, width): (usize, usize),
        graph: &mut Aig<W>,
    ) -> Option<Vec<Lit>> {
        let set = self.of_word.get(&at)?;
        let upper = |word: &Compared| Compared::of(&word.extended(low + width)[low..], word.may_be_negative);
        let parts = set.words.iter().map(upper).flat_map(|word| self.parts(word, set.is_greater));
        let set = Set::of(set.is_greater, parts.collect())?;
        Some(self.noted(set, graph).extended(width))
    }

    /// The words of which a word is an extreme, or itself.
    fn parts(&self, word: Compared, is_greater: bool) -> Vec<Compared> {
        let key = (word, is_greater);
        self.known.get(&key).map_or_else(|| vec![key.0.clone()], |set| set.words.to_vec())
    }

    fn noted<W: Watch>(&mut self, set: Set, graph: &mut Aig<W>) -> Compared {
        let made = set.made(graph);
        self.known.insert((made.clone(), set.is_greater), set);
        made
    }
}

#[cfg(test)]
mod tests {
    use crate::{Proof, Query, Verdict, prove};
    use ptxopt_grammar::meaning::term::{Term, Terms};

    type Less = fn(&mut Terms, Term, Term) -> Term;

    fn greater(terms: &mut Terms, less: Less, x: Term, y: Term) -> Term {
        let is_less = less(terms, x, y);
        terms.choose(is_less, y, x)
    }

    /// The greatest byte of four words, byte by byte in the order of the words, with each byte extended.
    fn one_by_one(terms: &mut Terms, words: &[Term], less: Less, signed: bool) -> Term {
        let mut greatest: Option<Term> = None;
        for &word in words {
            for low in [0, 8, 16, 24] {
                let byte = terms.extract(word, low, 8);
                let byte = if signed { terms.sign_extend(byte, 16) } else { terms.zero_extend(byte, 16) };
                greatest = Some(greatest.map_or(byte, |other| greater(terms, less, other, byte)));
            }
        }
        terms.extract(greatest.expect("there are words"), 0, 8)
    }

    /// The same by halves, of which the upper byte counts, so that the lower ones need not be zeros.
    fn by_halves(terms: &mut Terms, words: &[Term], less: Less) -> Term {
        let mut greatest: Option<Term> = None;
        for &word in words {
            for low in [0, 16] {
                let half = terms.extract(word, low, 16);
                let below = terms.extract(half, 0, 8);
                let zeros = terms.constant(0, 8);
                let moved = terms.concat(below, zeros);
                for half in [half, moved] {
                    greatest = Some(greatest.map_or(half, |other| greater(terms, less, half, other)));
                }
            }
        }
        terms.extract(greatest.expect("there are words"), 8, 8)
    }

    fn verdict(ones: Less, halves: Less, signed: bool, all: usize) -> Verdict {
        let mut terms = Terms::new();
        let words: Vec<Term> = (0..4).map(|number| terms.input(number, 32)).collect();
        let before = one_by_one(&mut terms, &words, ones, signed);
        let after = by_halves(&mut terms, &words[..all], halves);
        prove(&Query::new(&terms, vec![before], vec![after]))
    }

    #[test]
    fn the_greatest_of_sixteen_bytes_is_that_of_halves() {
        let (unsigned, signed): (Less, Less) = (Terms::unsigned_less, Terms::signed_less);
        assert_eq!(verdict(unsigned, unsigned, false, 4), Verdict::Proved(Proof::Structural));
        assert_eq!(verdict(signed, unsigned, false, 4), Verdict::Proved(Proof::Structural));
        assert_eq!(verdict(signed, signed, true, 4), Verdict::Proved(Proof::Structural));
    }

    #[test]
    fn neither_with_another_sign_nor_without_a_word() {
        let (unsigned, signed): (Less, Less) = (Terms::unsigned_less, Terms::signed_less);
        for verdict in [
            verdict(unsigned, signed, false, 4),
            verdict(signed, unsigned, true, 4),
            verdict(unsigned, unsigned, false, 3),
        ] {
            assert!(matches!(verdict, Verdict::Refuted(_)), "{verdict:?}");
        }
    }

    #[test]
    fn the_lower_bits_of_the_greatest_word_are_not_the_greatest_lower_bits() {
        let mut terms = Terms::new();
        let words = [0, 1, 2].map(|number| terms.input(number, 8));
        let less: Less = Terms::unsigned_less;
        let of = |terms: &mut Terms, [x, y, z]: [Term; 3]| {
            let two = greater(terms, less, x, y);
            greater(terms, less, two, z)
        };
        let greatest = of(&mut terms, words);
        let before = terms.extract(greatest, 0, 4);
        let lower = words.map(|word| terms.extract(word, 0, 4));
        let after = of(&mut terms, lower);
        let verdict = prove(&Query::new(&terms, vec![before], vec![after]));
        assert!(matches!(verdict, Verdict::Refuted(_)), "{verdict:?}");
    }
}
