//! Lanes that are chosen by how larger numbers compare.
//!
//! The numbers are compared as halves, but what is chosen are bytes that are there, so that four are chosen at a time.

use super::super::words::Words;
use super::compared::Flags;
use super::{FEWEST, Numbers};
use crate::recipe::{Source, Step};
use hashbrown::HashSet;
use ptxopt_grammar::meaning::term::{Op, Term};
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::video::Lanes;

/// How many choices or conditions are looked through, at most.
const MOST_CHOSEN: usize = 64;

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
        let is_it = self.compares_larger(condition) && self.is_plain(then) && self.is_plain(otherwise);
        is_it.then_some(choice)
    }

    /// Whether a lane is a number or there, or one of several such lanes, each of which is looked at once.
    fn is_plain(&mut self, lane: Term) -> bool {
        let mut seen: HashSet<Term> = HashSet::from([lane]);
        let mut waiting = vec![lane];
        while let Some(lane) = waiting.pop() {
            if let Some([_, then, otherwise]) = self.pieces.choice(lane) {
                waiting.extend([then, otherwise].into_iter().filter(|&of| seen.insert(of)));
            } else if self.pieces.terms.value(lane).is_none()
                && !matches!(self.pieces.terms.op(lane), Op::Input(_))
            {
                return false;
            }
            if seen.len() > MOST_CHOSEN {
                return false;
            }
        }
        true
    }

    /// Whether a condition, or one of those that it joins, compares numbers that are no lanes; each is looked at once.
    fn compares_larger(&mut self, condition: Term) -> bool {
        let is_larger = |words: &Self, of: Term| words.pieces.terms.width(of) >= 2 * words.lanes.bits();
        let mut seen: HashSet<Term> = HashSet::from([condition]);
        let mut waiting = vec![condition];
        while let Some(condition) = waiting.pop().filter(|_| seen.len() <= MOST_CHOSEN) {
            let op = self.pieces.terms.op(condition);
            if let Op::And(a, b) | Op::Or(a, b) = op {
                waiting.extend([b, a].into_iter().filter(|&of| seen.insert(of)));
            } else if self
                .compared(condition)
                .is_some_and(|both| both.into_iter().all(|of| is_larger(self, of)))
            {
                return true;
            }
        }
        false
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
