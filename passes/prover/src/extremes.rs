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

/// How many bits of words are compared, together; what is left is made of two words at a time.
const MOST_COMPARED: usize = 1 << 16;

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

    /// How many bits the words have for a comparison.
    fn width(&self) -> usize {
        let signed = self.is_signed();
        let width = |word: &Compared| if signed { word.signed_width() } else { word.bits.len() };
        self.words.iter().map(width).max().expect("an extreme is of at least one word")
    }

    /// The extreme.
    fn made<W: Watch>(&self, graph: &mut Aig<W>) -> Compared {
        let (signed, width) = (self.is_signed(), self.width());
        let mut words = self.words.iter().map(|word| word.extended(width));
        let first = words.next().expect("an extreme is of at least one word");
        let of_two = Extreme { words: [0; 2], signed, is_greater: self.is_greater };
        let made = words.fold(first, |made, word| of_two.bits([&made, &word], graph));
        Compared::of(&made, signed)
    }
}

/// The extremes of a circuit, by their bits, and by the numbers of their words.
pub(super) struct Extremes {
    known: HashMap<(Compared, bool), Set>,
    of_word: HashMap<u32, Set>,
    /// How many more bits may be compared.
    left: usize,
}

impl Default for Extremes {
    fn default() -> Self {
        Self { known: HashMap::new(), of_word: HashMap::new(), left: MOST_COMPARED }
    }
}

impl Extremes {
    /// Whether all extremes are of all words, which are not too many.
    pub(super) fn are_whole(&self) -> bool {
        self.left > 0
    }

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
            self.left = 0;
            return extreme.bits(words, graph);
        };
        let Some(made) = self.noted(set.clone(), graph) else { return extreme.bits(words, graph) };
        self.of_word.insert(at, set);
        made.extended(width)
    }

    /// The bits of word `at` from one on, if it is an extreme.
    pub(super) fn above<W: Watch>(
        &mut self,
        at: u32,
        (low, width): (usize, usize),
        graph: &mut Aig<W>,
    ) -> Option<Vec<Lit>> {
        let set = self.of_word.get(&at)?;
        // A word may have more bits than the extreme, of which those above are known to be zero.
        let upper = |word: &Compared| {
            let all = word.extended((low + width).max(word.bits.len()));
            Compared::of(&all[low..], word.may_be_negative)
        };
        let parts = set.words.iter().map(upper).flat_map(|word| self.parts(word, set.is_greater));
        let set = Set::of(set.is_greater, parts.collect())?;
        Some(self.noted(set, graph)?.extended(width))
    }

    /// The words of which a word is an extreme, or itself.
    fn parts(&self, word: Compared, is_greater: bool) -> Vec<Compared> {
        let key = (word, is_greater);
        self.known.get(&key).map_or_else(|| vec![key.0.clone()], |set| set.words.to_vec())
    }

    /// The extreme of a set, noted as that; `None` if too much was compared.
    fn noted<W: Watch>(&mut self, set: Set, graph: &mut Aig<W>) -> Option<Compared> {
        self.left = self.left.saturating_sub(set.words.len() * set.width());
        if self.left == 0 {
            return None;
        }
        let made = set.made(graph);
        self.known.insert((made.clone(), set.is_greater), set);
        Some(made)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Budget, Proof, Query, Verdict, prove};
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

    /// The upper half of the smaller of a byte and of the lowest byte of the smaller of a word of nine bits and 255, before
    /// and after the halves are taken; the highest bit of the word is lost if that is done first. It differs only where
    /// two words happen to differ by a number, so that vectors do not tell.
    #[test]
    fn a_word_may_have_more_bits_than_the_extreme() {
        let mut terms = Terms::new();
        let smaller = |terms: &mut Terms, x: Term, y: Term| {
            let is_less = terms.unsigned_less(x, y);
            terms.choose(is_less, x, y)
        };
        let (wide, byte) = (terms.input(0, 9), terms.input(1, 8));
        let most = terms.constant(255, 9);
        let least = smaller(&mut terms, wide, most);
        let least = terms.extract(least, 0, 8);
        let least = smaller(&mut terms, least, byte);
        let before = terms.extract(least, 4, 4);
        let [wide, byte] = [wide, byte].map(|word| terms.extract(word, 4, 4));
        let after = smaller(&mut terms, wide, byte);
        let words = [2, 3].map(|number| terms.input(number, 32));
        let (differ, number) = (terms.xor(words[0], words[1]), terms.constant(0x1234_5789, 32));
        let by_chance = terms.equal(differ, number);
        let zero = terms.constant(0, 4);
        let [before, after] = [before, after].map(|half| terms.choose(by_chance, half, zero));
        let verdict = prove(&Query::new(&terms, vec![before], vec![after]));
        assert!(matches!(verdict, Verdict::Refuted(_)), "{verdict:?}");
    }

    #[test]
    fn of_too_many_words_it_is_not_proved_but_ends() {
        let mut terms = Terms::new();
        let words: Vec<Term> = (0..200).map(|number| terms.input(number, 64)).collect();
        let less: Less = Terms::signed_less;
        let chained = |terms: &mut Terms, words: &mut dyn Iterator<Item = Term>| {
            words.reduce(|one, other| greater(terms, less, one, other)).expect("there are words")
        };
        let before = chained(&mut terms, &mut words.iter().copied());
        let after = chained(&mut terms, &mut words.iter().rev().copied());
        let budget = Budget { step: 1, total: 1 };
        let verdict = prove(&Query { budget, ..Query::new(&terms, vec![before], vec![after]) });
        assert_eq!(verdict, Verdict::Unproved);
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
