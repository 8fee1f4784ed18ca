//! The instructions of dot products: of the bytes of two words, and of the halves of one and two bytes of another.

use super::Sum;
use super::kind::Kind;
use crate::graph::ValueId;
use crate::recipe::{Source, Step};
use ptxopt_grammar::meaning::term::{Op, Term};
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::table::words::Modifier;
use ptxopt_grammar::video::{Lanes, Sign};

/// A byte of a word in a register, or a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    In(ValueId, usize),
    Number(u64),
}

impl Sum {
    /// The lanes of a word times others, added to a total.
    pub(super) fn product(
        &mut self,
        signs: [Sign; 2],
        first: Source,
        second: &[Option<Term>],
        total: Source,
    ) -> Option<Source> {
        // Where nothing is multiplied, one of the two must be zero.
        let zero = self.words.pieces.terms.constant(0, Lanes::Four.bits());
        let second: Vec<Term> = second.iter().map(|lane| lane.unwrap_or(zero)).collect();
        let (second, which) = match second[..] {
            [low, high] => self.pair_of_bytes([low, high])?,
            _ => (self.words.word(&second.into_iter().map(Some).collect::<Vec<_>>(), 1)?, op::LO),
        };
        Some(self.dot(which, signs, [first, second, total]))
    }

    /// Those lanes of a word that there are, each times itself, added to a total.
    pub(super) fn squared(
        &mut self,
        sign: Sign,
        word: Source,
        lanes: &[Option<Term>],
        total: Source,
    ) -> Source {
        let other = self.those_of(word, lanes, u32::MAX >> (32 - self.words.lanes.bits()));
        self.dot(op::LO, [sign, sign], [word, other, total])
    }

    /// A word without what stands in lanes that there are not, given the bits that a lane may have.
    pub(super) fn those_of(&mut self, word: Source, lanes: &[Option<Term>], kept: u32) -> Source {
        let bits = self.words.lanes.bits();
        let there = (0..).zip(lanes).filter(|(_, lane)| lane.is_some());
        let mask = there.fold(0, |mask, (at, _)| mask | u64::from(kept) << (at * bits));
        match lanes.iter().all(Option::is_some) {
            true => word,
            false => self.words.push(Step::plain(op::AND_B32, &[word, Source::Constant(mask)])),
        }
    }

    /// The lanes of a word times numbers, added to a total; `None` if the numbers do not fit into bytes.
    pub(super) fn weighted(
        &mut self,
        sign: Sign,
        first: Source,
        weights: &[i64],
        total: Source,
    ) -> Option<Source> {
        let signed = if weights.iter().all(|weight| (0..256).contains(weight)) {
            Sign::Unsigned
        } else if weights.iter().all(|weight| (-128..128).contains(weight)) {
            Sign::Signed
        } else {
            return None;
        };
        let bytes = weights.iter().rev().fold(0_u64, |word, &weight| {
            word << 8 | u64::try_from(weight & 0xff).expect("it was cut to a byte")
        });
        Some(self.dot(op::LO, [sign, signed], [first, Source::Constant(bytes), total]))
    }

    /// The instruction; of halves, with the lower or upper two bytes of the second word.
    fn dot(&mut self, which: Modifier, signs: [Sign; 2], sources: [Source; 3]) -> Source {
        let [one, other] = signs.map(Sign::modifier);
        let instruction = match self.words.lanes {
            Lanes::Four => op::DP4A.with(&[one, other]),
            Lanes::Two => op::DP2A.with(&[which, one, other]),
        };
        self.words.push(Step::plain(instruction, &sources))
    }

    /// A product of halves one of which is a byte: the half first, then the byte.
    pub(super) fn half_and_byte(&self, signs: [Sign; 2], lanes: &[Term]) -> Option<(Kind, Vec<Term>)> {
        let terms = &self.words.pieces.terms;
        let byte = |lane: Term| {
            let (Op::ZeroExtend(byte) | Op::SignExtend(byte)) = terms.op(lane) else { return None };
            (terms.width(byte) == Lanes::Four.bits()).then_some(byte)
        };
        let &[x, y] = lanes else { return None };
        let [one, other] = signs;
        match (byte(x), byte(y)) {
            (_, Some(y)) => Some((Kind::Product(one, other), vec![x, y])),
            (Some(x), None) => Some((Kind::Product(other, one), vec![y, x])),
            (None, None) => None,
        }
    }

    /// A word that holds two bytes as its lower or its upper ones.
    fn pair_of_bytes(&mut self, bytes: [Term; 2]) -> Option<(Source, Modifier)> {
        let [all_low, all_high] = bytes.map(|byte| self.places(byte));
        for &low in &all_low {
            for &high in &all_high {
                match (low, high) {
                    (Place::In(word, 0), Place::In(other, 1)) if word == other => {
                        return Some((Source::Value(word), op::LO));
                    }
                    (Place::In(word, 2), Place::In(other, 3)) if word == other => {
                        return Some((Source::Value(word), op::HI));
                    }
                    (Place::Number(low), Place::Number(high)) => {
                        return Some((Source::Constant(high << 8 | low), op::LO));
                    }
                    _ => {}
                }
            }
        }
        let word = |place: Place| match place {
            Place::In(word, at) => (Source::Value(word), at),
            Place::Number(number) => (Source::Constant(number), 0),
        };
        let ((low, at), (high, other)) = (word(*all_low.first()?), word(*all_high.first()?));
        let selector = Source::Constant((at | (4 + other) << 4) as u64);
        Some((self.words.push(Step::plain(op::PRMT_B32, &[low, high, selector])), op::LO))
    }

    /// Where a byte can be read.
    fn places(&mut self, byte: Term) -> Vec<Place> {
        let pieces = &mut self.words.pieces;
        if let Some(value) = pieces.terms.value(byte) {
            return vec![Place::Number(u64::try_from(value).expect("a byte has few bits"))];
        }
        let mut places = Vec::new();
        if let Op::Extract(half, low) = pieces.terms.op(byte)
            && low % Lanes::Four.bits() == 0
        {
            let at = (low / Lanes::Four.bits()) as usize;
            places.extend(pieces.homes(half).map(|(word, lane)| Place::In(word, 2 * lane + at)));
        }
        let bits = Lanes::Two.bits();
        for extended in [pieces.terms.zero_extend(byte, bits), pieces.terms.sign_extend(byte, bits)] {
            places.extend(pieces.homes(extended).map(|(word, lane)| Place::In(word, 2 * lane)));
        }
        places
    }
}
