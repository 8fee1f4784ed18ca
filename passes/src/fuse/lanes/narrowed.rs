//! Words of bytes that are bits of halves, at the same place in each: the halves are moved down two at a time, and one
//! move takes the bytes out of both words.
//!
//! So samples of ten or sixteen bits become bytes. The halves are words that are there, or are computed as words. The
//! lowest bytes of halves are computed as bytes, since nothing above them matters.

use super::words::{Way, Words};
use crate::recipe::{Recipe, Source, Step};
use ptxopt_grammar::meaning::term::{Op, Term};
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::video::Lanes;

/// The bits of a byte, and of a half.
const BYTE: u32 = 8;
const HALF: u32 = 16;

/// The selectors of the lower and of the upper bytes of the halves of two words.
const LOWER: u64 = 0x6420;
const UPPER: u64 = 0x7531;

impl Words {
    /// Words whose bytes are bits of halves.
    pub(super) fn narrowed(&mut self, lanes: &[Option<Term>]) -> Vec<Recipe> {
        let Some((low, halves)) = self.halves_of_bytes(lanes) else { return Vec::new() };
        let mut all = Vec::new();
        for way in [Way::Gathered, Way::Computed] {
            self.turn_to(way);
            let words: Option<Vec<Source>> = halves.chunks(2).map(|both| self.word(both, 1)).collect();
            let word = words.map(|words| self.bytes_at(low, &words));
            all.extend(word.and_then(|word| self.made_of(word)));
        }
        self.turn_to(Way::Gathered);
        all
    }

    /// The halves of which bytes are bits, the lowest first, and the place of these bits.
    fn halves_of_bytes(&mut self, lanes: &[Option<Term>]) -> Option<(u32, Vec<Option<Term>>)> {
        if self.lanes != Lanes::Two {
            return None;
        }
        let mut place = None;
        let mut halves = Vec::with_capacity(4);
        for (lane, low) in lanes.iter().flat_map(|&lane| [(lane, 0), (lane, BYTE)]) {
            let Some(lane) = lane else {
                halves.push(None);
                continue;
            };
            let byte = self.pieces.part(lane, low, BYTE);
            let Op::Extract(inner, at) = self.pieces.terms.op(byte) else { return None };
            let is_of_half = at > 0 && at + BYTE <= HALF && self.pieces.terms.width(inner) >= HALF;
            if !is_of_half || *place.get_or_insert(at) != at {
                return None;
            }
            halves.push(Some(self.pieces.part(inner, 0, HALF)));
        }
        Some((place?, halves))
    }

    /// The bits of the halves of two words from a place upwards, as bytes.
    fn bytes_at(&mut self, low: u32, words: &[Source]) -> Source {
        let moved = |words: &mut Self, word: Source| match low {
            BYTE => word,
            _ => words.push(Step::plain(op::SHR_U32, &[word, Source::Constant(low.into())])),
        };
        let words: Vec<Source> = words.iter().map(|&word| moved(self, word)).collect();
        let selector = Source::Constant(if low == BYTE { UPPER } else { LOWER });
        self.push(Step::plain(op::PRMT_B32, &[words[0], words[1], selector]))
    }
}
