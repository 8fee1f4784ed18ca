//! Lanes that are weighted sums whose lanes cannot be multiplied two at a time: of others by weights of any size, as
//! where images are blended by a number that nothing is known of, and of others by weights that differ from lane to
//! lane, as where an image is multiplied by another one.
//!
//! Each sum is a dot product of its own, and its lanes need not be taken out of their words. Only the lower half of a
//! sum is of use, so the lower halves of weights are enough.

use super::addends::{Addend, Scaled, of_each};
use super::scaled::Weight;
use super::words::Words;
use crate::recipe::{Source, Step};
use ptxopt_grammar::meaning::term::Term;
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::video::Sign;

/// The bits of a half.
const HALF: u64 = 0xffff;

/// The bits of a byte.
const BYTE: u64 = 0xff;

/// The lanes of two words in pairs: the lower two of each, and the upper two.
const PAIRS: [u64; 2] = [0x5140, 0x7362];

/// The lower halves of two words.
const LOWER_HALVES: u64 = 0x5410;

impl Words {
    /// The word whose lanes are these sums of lanes in pairs, which differ in nothing but these lanes and a number.
    pub(super) fn blended(&mut self, sums: &[Option<Scaled>], depth: usize) -> Option<Source> {
        let first = sums.iter().flatten().next()?;
        let count = first.addends.len();
        if first.division.is_some() || count == 0 || count % 2 == 1 {
            return None;
        }
        let mut dots = of_each(sums, |sum| Source::Constant(sum.number.cast_unsigned() & HALF));
        for at in (0..count).step_by(2) {
            let weights =
                [self.lower_half(first.addends[at], depth)?, self.lower_half(first.addends[at + 1], depth)?];
            let weights = self.both_halves(weights);
            let lanes = [at, at + 1].map(|at| of_each(sums, |sum| sum.addends[at].lane));
            let words = [self.word(&lanes[0], depth + 1)?, self.word(&lanes[1], depth + 1)?];
            let unsigned = Sign::Unsigned.modifier();
            for (lane, dot) in dots.iter_mut().enumerate() {
                let Some(total) = *dot else { continue };
                let pairs = self.in_pairs(words, lane);
                let product = op::DP2A.with(&[[op::LO, op::HI][lane % 2], unsigned, unsigned]);
                *dot = Some(self.push(Step::plain(product, &[weights, pairs, total])));
            }
        }
        self.of_dots(&dots, first)
    }

    /// The word whose lanes are these sums of one or two products of lanes, which differ in nothing but these lanes and a
    /// number.
    pub(super) fn multiplied_lane_by_lane(
        &mut self,
        sums: &[Option<Scaled>],
        depth: usize,
    ) -> Option<Source> {
        let first = sums.iter().flatten().next().filter(|first| first.addends.len() <= 2)?;
        // What is above the lane is of no use, if the sum is not divided.
        let divided = sums.iter().flatten().filter(|sum| sum.division.is_some());
        let added: Option<Vec<i64>> = divided.map(|sum| self.added(sum)).collect();
        let added = added?.into_iter().max().unwrap_or(0);
        let mut words = Vec::with_capacity(first.addends.len());
        for at in 0..first.addends.len() {
            let [ones, others] = [
                of_each(sums, |sum| sum.addends[at].lane),
                of_each(sums, |sum| sum.addends[at].factor.expect("these are products")),
            ];
            let others: Vec<Option<Term>> =
                others.into_iter().map(|lane| Some(self.pieces.part(lane?, 0, 8))).collect();
            words.push([self.word(&ones, depth + 1)?, self.word(&others, depth + 1)?]);
        }
        let unsigned = Sign::Unsigned.modifier();
        let dot = op::DP4A.with(&[unsigned, unsigned]);
        let dots = sums.iter().enumerate().map(|(at, sum)| {
            let total = Source::Constant((sum.as_ref()?.number + added).cast_unsigned() & HALF);
            let ([ones, others], mask) = match words[..] {
                [only] => (only, BYTE << (8 * at)),
                [[x, y], [z, w]] => {
                    ([self.in_pairs([x, z], at), self.in_pairs([y, w], at)], HALF << (16 * (at % 2)))
                }
                _ => return None,
            };
            let own = self.push(Step::plain(op::AND_B32, &[ones, Source::Constant(mask)]));
            Some(self.push(Step::plain(dot, &[own, others, total])))
        });
        let dots: Vec<Option<Source>> = dots.collect();
        self.of_dots(&dots, first)
    }

    /// The word whose lanes are bits of these sums, which are all that there are of these sums but for lanes that may be
    /// anything.
    fn of_dots(&mut self, dots: &[Option<Source>], sum: &Scaled) -> Option<Source> {
        let &[first, second, third, fourth] = dots else { return None };
        let mut halves = [self.pair([first, third])?, self.pair([second, fourth])?];
        if sum.division.is_some() {
            halves = halves.map(|halves| self.folded(halves));
        }
        Some(self.interleaved(halves[0], halves[1], sum.shift))
    }

    /// A word with the lower halves of two, of which one may be anything.
    fn pair(&mut self, [low, high]: [Option<Source>; 2]) -> Option<Source> {
        Some(match (low, high) {
            (Some(low), Some(high)) => self.both_halves([low, high]),
            (Some(low), None) => low,
            (None, Some(high)) => self.push(Step::plain(op::SHL_B32, &[high, Source::Constant(16)])),
            (None, None) => return None,
        })
    }

    /// Half of the lanes of two words, those that stand at a place and beside it: one of each, in turns.
    fn in_pairs(&mut self, words: [Source; 2], at: usize) -> Source {
        let one = self.register(words[0]);
        self.push(Step::plain(op::PRMT_B32, &[one, words[1], Source::Constant(PAIRS[at / 2])]))
    }

    /// The weight of an addend, or its lower half.
    fn lower_half(&mut self, addend: Addend, depth: usize) -> Option<Source> {
        Some(match self.weight(addend, depth)? {
            Weight::Number(number) => Source::Constant(number.cast_unsigned() & HALF),
            Weight::Register(word) => word,
        })
    }

    /// A word of the lower halves of two.
    fn both_halves(&mut self, words: [Source; 2]) -> Source {
        let (words, selector) = match words {
            [Source::Constant(low), Source::Constant(high)] => return Source::Constant(high << 16 | low),
            [low @ Source::Constant(_), high] => ([high, low], 0x1054),
            _ => (words, LOWER_HALVES),
        };
        self.push(Step::plain(op::PRMT_B32, &[words[0], words[1], Source::Constant(selector)]))
    }
}
