//! Halves that are bytes of one word, extended with zeros or their sign: one move takes two of them out of it, and one
//! shift multiplies both by a power of two.
//!
//! Taken one by one, each byte needs a move of its own, and putting them together another one. A byte that is extended
//! with zeros and shifted to the left stays in its half, so all of the word is shifted.

use super::words::Words;
use crate::graph::ValueId;
use crate::recipe::{Source, Step};
use ptxopt_grammar::meaning::term::{Op, Term};
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::video::Lanes;

/// The bits of a byte.
const BYTE: u32 = 8;

/// The digit of a selector that takes a zero out of the second operand.
pub(super) const ZERO: u64 = 4;

/// What makes a digit of a selector take copies of a byte's sign instead of the byte.
pub(super) const SIGN: u64 = 8;

/// A byte of a half, extended to a half.
#[derive(Clone, Copy)]
struct Extended {
    half: Term,
    /// The number of the byte in the half.
    at: u64,
    signed: bool,
    /// How far it is shifted to the left.
    shift: u32,
}

impl Words {
    /// A word whose halves are bytes of one word that is there, extended.
    pub(super) fn widened_bytes(&mut self, lanes: &[Option<Term>]) -> Option<Source> {
        // What is no word as a whole, such as an extremum of its lanes, is not computed of other words for that.
        if self.lanes != Lanes::Two || !self.widens {
            return None;
        }
        let byte = |lane: &Option<Term>| lane.map_or(Some(None), |lane| self.extended_byte(lane).map(Some));
        let bytes: Vec<Option<Extended>> = lanes.iter().map(byte).collect::<Option<_>>()?;
        let &Extended { half: first, shift, .. } = bytes.iter().flatten().next()?;
        if bytes.iter().flatten().any(|byte| byte.shift != shift) {
            return None;
        }
        let of_word = |(word, _)| Some((word, self.digits_of(word, &bytes)?));
        let (word, digits) = self.pieces.homes(first).find_map(of_word)?;
        let selector = digits.iter().rev().fold(0, |all, &[low, high]| all << 8 | high << 4 | low);
        let operands = [Source::Value(word), Source::Constant(0), Source::Constant(selector)];
        let moved = self.push(Step::plain(op::PRMT_B32, &operands));
        Some(match shift {
            0 => moved,
            _ => self.push(Step::plain(op::SHL_B32, &[moved, Source::Constant(shift.into())])),
        })
    }

    /// The digits of a selector, two for each half, that take bytes out of a word, if it has them all.
    fn digits_of(&self, word: ValueId, bytes: &[Option<Extended>]) -> Option<Vec<[u64; 2]>> {
        let digits = |byte: &Option<Extended>| {
            // A half that may be anything is taken as zero.
            let Some(byte) = byte else { return Some([ZERO; 2]) };
            let place = self.pieces.homes(byte.half).find(|&(home, _)| home == word)?.1;
            let low = 2 * place as u64 + byte.at;
            Some([low, if byte.signed { low | SIGN } else { ZERO }])
        };
        bytes.iter().map(digits).collect()
    }

    /// The byte that a half is, extended and then shifted.
    fn extended_byte(&self, lane: Term) -> Option<Extended> {
        let terms = &self.pieces.terms;
        let (Op::ZeroExtend(inner) | Op::SignExtend(inner)) = terms.op(lane) else { return None };
        let signed = matches!(terms.op(lane), Op::SignExtend(_));
        let (mut byte, mut shift) = (inner, 0);
        if let Op::Concat(high, low) = terms.op(inner)
            && !signed
            && terms.value(low) == Some(0)
        {
            (byte, shift) = (high, terms.width(low));
        }
        let Op::Extract(half, low) = terms.op(byte) else { return None };
        let is_byte = terms.width(byte) == BYTE && low % BYTE == 0;
        is_byte.then(|| Extended { half, at: u64::from(low / BYTE), signed, shift })
    }
}
