//! Words of bits of two others, by a mask: `lop3` takes each bit from the one or from the other.
//!
//! A mask that a comparison left in each half chooses the halves of sums, so what is chosen is a sum too: the smaller or
//! the greater one. Terms have no tables, only logic of words and numbers, so the table of each bit is computed from it.

use super::aig::{Lit, Watch};
use super::canonical::Kind;
use super::compared::Extreme;
use super::integer::Integer;
use super::linear::Linear;
use super::words::Circuit;

/// How many bits the words and their halves have.
const WORD: u32 = 32;
const HALF: u32 = 16;

/// The most words that a table is of, and that are looked at for it: a table of three words is written in 21 at most, if
/// numbers are not counted.
const MOST_WORDS: usize = 3;
const MOST_LOOKED_AT: usize = 48;

/// The rows of a table in which each of its words is set.
const SET: [u8; MOST_WORDS] = [0xf0, 0xcc, 0xaa];

/// For each bit of a word the rows in which it is set.
type Rows = [u8; WORD as usize];

/// Where a bit of a merged word comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Taken {
    Number(bool),
    /// From the same place of a word.
    Word(u32),
}

/// A word of the bits of two others.
struct Merge {
    mask: u32,
    /// Where each bit comes from if the mask is set there, and if it is not.
    both: [Vec<Taken>; 2],
}

/// The words of a table.
struct Table {
    inputs: Vec<u32>,
    left: usize,
}

impl Table {
    /// The rows in which a word is set.
    fn input(&mut self, at: u32) -> Option<Rows> {
        let known = self.inputs.iter().position(|&known| known == at);
        let place = known.unwrap_or(self.inputs.len());
        let set = SET.get(place).copied()?;
        if known.is_none() {
            self.inputs.push(at);
        }
        Some([set; WORD as usize])
    }

    /// The word that takes bits from others, if one does.
    fn merge(&self, rows: &Rows) -> Option<Merge> {
        self.inputs.iter().zip(SET).find_map(|(&mask, set)| {
            let side = |set: u8| rows.iter().map(|&rows| self.taken(rows, set)).collect::<Option<_>>();
            Some(Merge { mask, both: [side(set)?, side(!set)?] })
        })
    }

    /// What a bit is, in some of the rows of its table.
    fn taken(&self, rows: u8, within: u8) -> Option<Taken> {
        let is = |of: u8| (rows ^ of) & within == 0;
        let number = [false, true].into_iter().find(|&set| is(if set { u8::MAX } else { 0 }));
        let word = || self.inputs.iter().zip(SET).find(|&(_, set)| is(set));
        number.map(Taken::Number).or_else(|| word().map(|(&at, _)| Taken::Word(at)))
    }
}

impl<W: Watch> Circuit<'_, W> {
    /// A word of which both halves are the smaller or the greater ones of those of two words.
    pub(super) fn merged_sums(&mut self, [a, b]: [u32; 2]) -> Option<Linear> {
        self.differences()?;
        if self.word(a).width != WORD {
            return None;
        }
        let mut table = Table { inputs: Vec::with_capacity(MOST_WORDS), left: MOST_LOOKED_AT };
        let (one, other) = (self.rows(a, &mut table)?, self.rows(b, &mut table)?);
        let merge = table.merge(&std::array::from_fn(|bit| one[bit] | other[bit]))?;
        let mask = self.bits(merge.mask).to_vec();
        let low = self.merged_half(&mask, &merge.both, 0)?;
        let high = self.merged_half(&mask, &merge.both, HALF)?;
        self.differences()?.are_any = true;
        Some(low.plus(&high.cut(HALF).raised(HALF)))
    }

    /// The rows of each bit of a word; `None` if there are too many words.
    fn rows(&self, at: u32, table: &mut Table) -> Option<Rows> {
        table.left = table.left.checked_sub(1)?;
        let word = self.word(at);
        let [a, b, _] = word.operands;
        // What is inverted may be the opposite of a sum, which is the same table of the sum.
        if word.kind == Kind::Not {
            return Some(self.rows(a, table)?.map(|rows| !rows));
        }
        if word.kind == Kind::Constant {
            let set = |bit: usize| word.value >> bit & 1 == 1;
            return Some(std::array::from_fn(|bit| if set(bit) { u8::MAX } else { 0 }));
        }
        let is_gate = matches!(word.kind, Kind::And | Kind::Or) && self.known_sum(at).is_none();
        if !is_gate {
            return table.input(at);
        }
        let (one, other) = (self.rows(a, table)?, self.rows(b, table)?);
        let gate = |one: u8, other: u8| if word.kind == Kind::And { one & other } else { one | other };
        Some(std::array::from_fn(|bit| gate(one[bit], other[bit])))
    }

    /// The half from a bit on of such a word, as a number.
    fn merged_half(&mut self, mask: &[Lit], both: &[Vec<Taken>; 2], low: u32) -> Option<Linear> {
        let half = low as usize..(low + HALF) as usize;
        let decides = mask[half.start];
        if decides.is_constant() || mask[half.clone()].iter().any(|&bit| bit != decides) {
            return None;
        }
        let [then, otherwise] = both.each_ref().map(|taken| self.half_of(&taken[half.clone()], low));
        let both = [then?, otherwise?];
        let numbers = [Integer::of(&both[0], false)?, Integer::of(&both[1], false)?];
        let is_greater = self.takes_greater(decides, &numbers)?;
        let extreme = self.extreme_of(Extreme { words: [0; 2], signed: false, is_greater }, both)?;
        // What its literals could add up to may be more than a half has.
        extreme.zero_extended(WORD).or_else(|| {
            let bits = extreme.bits(&mut self.graph);
            Linear::of_bits(&bits).zero_extended(WORD)
        })
    }

    /// The half from a bit on whose bits are taken from there.
    fn half_of(&mut self, taken: &[Taken], low: u32) -> Option<Linear> {
        if let Taken::Word(at) = taken[0]
            && taken.iter().all(|&bit| bit == taken[0])
            && let Some(sum) = self.known_sum(at)
        {
            return if low == 0 { Some(sum.cut(HALF)) } else { self.bits_from(at, low, 0) };
        }
        let bits = taken.iter().zip(low as usize..).map(|(&taken, place)| match taken {
            Taken::Number(bit) => Lit::constant(bit),
            Taken::Word(at) => self.bits(at)[place],
        });
        let bits: Vec<Lit> = bits.collect();
        Some(Linear::of_bits(&bits))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Proof, Query, Verdict, prove};
    use ptxopt_grammar::meaning::term::{Term, Terms};

    /// How halves are taken from two words.
    #[derive(Clone, Copy)]
    struct How {
        /// Added to how much the second half is greater, before its sign is told.
        offset: u128,
        is_greater: bool,
        /// Whether the products are written as rows of a table.
        by_rows: bool,
    }

    const LEAST: How = How { offset: 0x7fff_7fff, is_greater: false, by_rows: false };

    /// A sum of a byte of one word and three times that of another, less that of a third, in so many bits.
    fn sum(terms: &mut Terms, first: u32, lane: u32, width: u32) -> Term {
        let bytes = [0, 1, 2].map(|number| {
            let word = terms.input(first + number, 32);
            let byte = terms.extract(word, 8 * lane, 8);
            terms.zero_extend(byte, width)
        });
        let three = terms.constant(3, width);
        let more = terms.mul(bytes[1], three);
        let sum = terms.add(bytes[0], more);
        terms.sub(sum, bytes[2])
    }

    /// The smaller or the greater of two sums, one by one, biased as well.
    fn one_by_one(terms: &mut Terms, lane: u32, is_greater: bool) -> Term {
        let [x, y] = [0, 3].map(|first| sum(terms, first, lane, 32));
        let is_less = terms.signed_less(x, y);
        let [then, otherwise] = if is_greater { [y, x] } else { [x, y] };
        let extreme = terms.choose(is_less, then, otherwise);
        let bias = terms.constant(0x8000, 32);
        let biased = terms.add(extreme, bias);
        terms.extract(biased, 0, 16)
    }

    /// Both halves of what a mask takes from words of biased sums.
    fn by_mask(terms: &mut Terms, how: How) -> Term {
        let bias = terms.constant(0x8000_8000, 32);
        let [x, y] = [0, 3].map(|first| {
            let sixteen = terms.constant(16, 32);
            let [low, high] = [0, 2].map(|lane| sum(terms, first, lane, 32));
            let high = terms.shl(high, sixteen);
            let sums = terms.add(high, low);
            terms.add(sums, bias)
        });
        let difference = terms.sub(y, x);
        let offset = terms.constant(how.offset, 32);
        let biased = terms.add(difference, offset);
        let [low, high] = [15, 31].map(|place| {
            let sign = terms.extract(biased, place, 1);
            terms.sign_extend(sign, 16)
        });
        let mask = terms.concat(high, low);
        let rest = terms.not(mask);
        let [then, otherwise] = if how.is_greater { [y, x] } else { [x, y] };
        if how.by_rows {
            let (no, not) = (terms.not(then), terms.not(otherwise));
            let all =
                [(mask, then, otherwise), (mask, then, not), (rest, then, otherwise), (rest, no, otherwise)];
            let rows = all.map(|(by, one, other)| {
                let both = terms.and(one, other);
                terms.and(by, both)
            });
            let [a, b, c, d] = rows;
            let (first, second) = (terms.or(a, b), terms.or(c, d));
            terms.or(first, second)
        } else {
            let (first, second) = (terms.and(mask, then), terms.and(rest, otherwise));
            terms.or(first, second)
        }
    }

    fn verdict(how: How, is_greater: bool) -> Verdict {
        let mut terms = Terms::new();
        let [low, high] = [0, 2].map(|lane| one_by_one(&mut terms, lane, is_greater));
        let before = terms.concat(high, low);
        let after = by_mask(&mut terms, how);
        prove(&Query::new(&terms, vec![before], vec![after]))
    }

    #[test]
    fn halves_of_sums_taken_by_a_mask_are_the_smaller_or_the_greater_ones() {
        for by_rows in [false, true] {
            // Where both are equal, either may be taken.
            for offset in [0x7fff_7fff, 0x8000_8000] {
                for is_greater in [false, true] {
                    let how = How { offset, is_greater, by_rows };
                    assert_eq!(verdict(how, is_greater), Verdict::Proved(Proof::Structural), "{offset:#x}");
                }
            }
        }
    }

    #[test]
    fn halves_taken_by_other_signs_are_refuted() {
        let others = [
            (LEAST, true),
            (How { is_greater: true, ..LEAST }, false),
            (How { offset: 0x7ffe_7ffe, ..LEAST }, false),
            (How { offset: 0x8001_7fff, ..LEAST }, false),
        ];
        for (how, is_greater) in others {
            for by_rows in [false, true] {
                let verdict = verdict(How { by_rows, ..how }, is_greater);
                assert!(matches!(verdict, Verdict::Refuted(_)), "{:#x} {verdict:?}", how.offset);
            }
        }
    }

    /// The lower byte of a sum clamped to a byte, by its sign or with a bias.
    fn clamped(terms: &mut Terms, [least, most]: [u128; 2], bias: u128) -> Term {
        let of = sum(terms, 0, 0, 32);
        let [bias, low, high] = [bias, bias + least, bias + most].map(|number| terms.constant(number, 32));
        let of = terms.add(of, bias);
        let is_less = terms.signed_less(of, low);
        let raised = terms.choose(is_less, low, of);
        let is_more = terms.signed_less(high, raised);
        let clamped = terms.choose(is_more, high, raised);
        let plain = terms.sub(clamped, bias);
        terms.extract(plain, 0, 8)
    }

    #[test]
    fn clamped_sums_are_the_same_with_and_without_a_bias() {
        for (other, is_same) in [([0, 255], true), ([0, 254], false), ([1, 255], false)] {
            let mut terms = Terms::new();
            let before = clamped(&mut terms, [0, 255], 0);
            let after = clamped(&mut terms, other, 0x8000);
            let verdict = prove(&Query::new(&terms, vec![before], vec![after]));
            assert_eq!(verdict == Verdict::Proved(Proof::Structural), is_same, "{other:?} {verdict:?}");
        }
    }
}
