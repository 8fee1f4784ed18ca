//! Lanes that are chosen by how larger numbers compare.
//!
//! The numbers are compared as halves, but what is chosen are bytes that are there, so that four are chosen at a time.

use super::super::words::Words;
use super::compared::Flags;
use super::{DEEPEST, FEWEST, Numbers};
use crate::recipe::{Source, Step};
use ptxopt_grammar::meaning::term::{Op, Term};
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::video::Lanes;

impl Words {
    /// The conditions of lanes that are one of two lanes each, by how larger numbers compare, and the two; `None` for other
    /// lanes, of which there are few.
    pub(in super::super) fn larger_choices(&mut self, lanes: &[Option<Term>]) -> Option<[Numbers; 3]> {
        if self.lanes != Lanes::Four {
            return None;
        }
        let mut all: [Numbers; 3] = Default::default();
        for &lane in lanes {
            let choice = lane.and_then(|lane| self.larger_choice(lane));
            for (at, of) in all.iter_mut().enumerate() {
                of.push(choice.map(|choice| choice[at]));
            }
        }
        (all[0].iter().flatten().count() >= FEWEST).then_some(all)
    }

    fn larger_choice(&mut self, lane: Term) -> Option<[Term; 3]> {
        let choice = self.pieces.choice(lane)?;
        let [condition, then, otherwise] = choice;
        let is_it =
            self.compares_larger(condition, 0) && self.is_plain(then, 0) && self.is_plain(otherwise, 0);
        is_it.then_some(choice)
    }

    /// Whether a lane is a number or there, or one of two such lanes.
    fn is_plain(&mut self, lane: Term, depth: usize) -> bool {
        if depth == DEEPEST {
            return false;
        }
        match self.pieces.choice(lane) {
            Some([_, then, otherwise]) => {
                self.is_plain(then, depth + 1) && self.is_plain(otherwise, depth + 1)
            }
            None => {
                self.pieces.terms.value(lane).is_some() || matches!(self.pieces.terms.op(lane), Op::Input(_))
            }
        }
    }

    /// Whether a condition compares numbers that are no lanes.
    fn compares_larger(&mut self, condition: Term, depth: usize) -> bool {
        if depth == DEEPEST {
            return false;
        }
        let op = self.pieces.terms.op(condition);
        if let Op::And(a, b) | Op::Or(a, b) = op {
            return [a, b].into_iter().any(|of| self.compares_larger(of, depth + 1));
        }
        let is_larger = |words: &Self, of: Term| words.pieces.terms.width(of) >= 2 * words.lanes.bits();
        self.compared(condition).is_some_and(|both| both.into_iter().all(|of| is_larger(self, of)))
    }

    /// A word whose lanes are one of two lanes each, by conditions.
    pub(in super::super) fn chosen_by_halves(
        &mut self,
        [conditions, then, otherwise]: &[Numbers; 3],
        depth: usize,
    ) -> Option<Source> {
        let Flags { words: [mask], is_inverted, .. } = self.mask_of_lanes(conditions, depth)?;
        let both = if is_inverted { [otherwise, then] } else { [then, otherwise] };
        let [then, otherwise] = both.map(|lanes| match self.constant(lanes) {
            Some(number) => Some(Source::Constant(number.into())),
            None => self.word(lanes, depth + 1),
        });
        let (then, otherwise) = (then?, otherwise?);
        let (Source::Constant(number), Source::Constant(other)) = (then, otherwise) else {
            return Some(
                self.push(Step::plain(op::LOP3_B32, &[mask, then, otherwise, Source::Constant(0xca)])),
            );
        };
        let word = match number ^ other {
            0xffff_ffff => mask,
            differ => self.push(Step::plain(op::AND_B32, &[mask, Source::Constant(differ)])),
        };
        Some(match other {
            0 => word,
            _ => self.push(Step::plain(op::XOR_B32, &[word, otherwise])),
        })
    }
}
