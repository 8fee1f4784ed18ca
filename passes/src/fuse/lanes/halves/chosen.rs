//! Numbers as halves that are one of two: the lesser or the greater one, or by a condition.
//!
//! A condition of all lanes is a mask, computed of bytes where it compares bytes.

use super::super::scaled::BOTH;
use super::super::words::Words;
use super::biased::{BIAS, Extremum, Halves, constant};
use super::{DEEPEST, Limits, Numbers};
use crate::recipe::{Source, Step};
use ptxopt_grammar::meaning::term::{Op, Term};
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::video::{Compare, SimdOp};

impl Words {
    /// Numbers that are one of two: the lesser or the greater one, or by a condition.
    pub(super) fn chosen_in_halves(
        &mut self,
        numbers: &Numbers,
        wanted: Limits,
        depth: usize,
    ) -> Option<Halves> {
        let mut of_each: [Numbers; 3] = Default::default();
        let mut extremum: Option<Option<Extremum>> = None;
        for &number in numbers {
            let Some(number) = number else {
                of_each.iter_mut().for_each(|of| of.push(None));
                continue;
            };
            let [condition, then, otherwise] = self.pieces.choice(number)?;
            for (of, term) in of_each.iter_mut().zip([condition, then, otherwise]) {
                of.push(Some(term));
            }
            let own = self.which_extremum(number, [condition, then, otherwise]);
            if *extremum.get_or_insert(own) != own {
                return None;
            }
        }
        let [conditions, then, otherwise] = of_each;
        if let Some(extremum) = extremum? {
            if let Some(both) = self.opposite_halves(&then, &otherwise, depth) {
                return self.extremum_of_halves(extremum, both);
            }
            let limits = [self.limits(&then)?, self.limits(&otherwise)?];
            // Of what is greater than the greatest that the other can be the lesser is the other.
            let wanted_beside = |[least, most]: Limits| match extremum {
                Extremum::Least => [wanted[0], wanted[1].min(most)],
                Extremum::Greatest => [wanted[0].max(least), wanted[1]],
            };
            let one = self.within(&then, wanted_beside(limits[1]), depth + 1)?;
            let other = self.within(&otherwise, wanted_beside(limits[0]), depth + 1)?;
            return self.extremum_of_halves(extremum, [one, other]);
        }
        let masks = self.masks_in_halves(&conditions, depth)?;
        let both = [self.halves(&then, depth + 1)?, self.halves(&otherwise, depth + 1)?];
        let [one, other] = self.alike_biased(both)?;
        let words = [0, 1].map(|at| match (one.words[at], other.words[at]) {
            (one, Source::Constant(0)) => self.push(Step::plain(op::AND_B32, &[masks[at], one])),
            (one, other) => {
                self.push(Step::plain(op::LOP3_B32, &[masks[at], one, other, Source::Constant(0xca)]))
            }
        });
        let limits = [one.limits[0].min(other.limits[0]), one.limits[1].max(other.limits[1])];
        Some(Halves { words, limits, ..one })
    }

    /// Numbers and their opposites, of which the greater one is how far a number is from zero: the opposites are what the
    /// numbers lack to twice the bias.
    fn opposite_halves(&mut self, then: &Numbers, otherwise: &Numbers, depth: usize) -> Option<[Halves; 2]> {
        let terms = &mut self.pieces.terms;
        let mut are_opposite = |of: &Numbers, to: &Numbers| {
            let mut pairs = of.iter().zip(to);
            pairs.all(|(of, to)| of.zip(*to).is_none_or(|(of, to)| terms.neg(of) == to))
        };
        let numbers = if are_opposite(then, otherwise) {
            then
        } else if are_opposite(otherwise, then) {
            otherwise
        } else {
            return None;
        };
        let [least, most] = self.limits(numbers).filter(|limits| limits[0] < 0)?;
        if least <= -BIAS || most >= BIAS {
            return None;
        }
        let halves = self.halves(numbers, depth + 1)?;
        let halves = self.biased_by(halves, BIAS);
        let twice = constant(2 * BIAS * BOTH);
        let words = halves.words.map(|word| self.push(Step::plain(op::SUB_U32, &[twice, word])));
        Some([halves, Halves { words, bias: BIAS, limits: [-most, -least] }])
    }

    /// Ones in the halves in which a condition holds, else zeros.
    fn masks_in_halves(&mut self, conditions: &Numbers, depth: usize) -> Option<[Source; 2]> {
        if depth > DEEPEST {
            return None;
        }
        self.wide.look()?;
        let first = self.pieces.terms.op(conditions.iter().flatten().copied().next()?);
        if let Op::Not(_) = first {
            let [inner, _] =
                self.pairs(conditions, |op| if let Op::Not(inner) = op { Some([inner; 2]) } else { None })?;
            let masks = self.masks_in_halves(&inner, depth + 1)?;
            let ones = Source::Constant(u32::MAX.into());
            return Some(masks.map(|mask| self.push(Step::plain(op::XOR_B32, &[mask, ones]))));
        }
        let both = self.pairs(conditions, |op| if let Op::And(a, b) = op { Some([a, b]) } else { None });
        let joined = both.map(|both| (both, op::AND_B32)).or_else(|| {
            let both = self.pairs(conditions, |op| if let Op::Or(a, b) = op { Some([a, b]) } else { None });
            both.map(|both| (both, op::OR_B32))
        });
        if let Some((both, join)) = joined {
            let [one, other] = both.map(|of| self.masks_in_halves(&of, depth + 1));
            let (one, other) = (one?, other?);
            return Some([0, 1].map(|at| self.push(Step::plain(join, &[one[at], other[at]]))));
        }
        self.compared_as_bytes(conditions, depth).or_else(|| self.compared_in_halves(conditions, depth))
    }

    /// What conditions are made of.
    fn pairs(&self, conditions: &Numbers, of: fn(Op) -> Option<[Term; 2]>) -> Option<[Numbers; 2]> {
        let mut both: [Numbers; 2] = Default::default();
        for condition in conditions {
            let pair = match condition {
                None => [None; 2],
                Some(condition) => of(self.pieces.terms.op(*condition))?.map(Some),
            };
            both[0].push(pair[0]);
            both[1].push(pair[1]);
        }
        Some(both)
    }

    /// The masks of conditions that compare bytes.
    fn compared_as_bytes(&mut self, conditions: &Numbers, depth: usize) -> Option<[Source; 2]> {
        let mut lanes = Vec::with_capacity(conditions.len());
        for &condition in conditions {
            let Some(condition) = condition else {
                lanes.push(None);
                continue;
            };
            let both = self.compared(condition)?;
            both.iter().all(|&of| self.pieces.sign_of_lane(of).is_some()).then_some(())?;
            lanes.push(Some(self.pieces.terms.sign_extend(condition, self.lanes.bits())));
        }
        let word = self.word(&lanes, depth + 1)?;
        Some([0x2200, 0x3311].map(|selector| {
            let sources = [word, Source::Constant(0), Source::Constant(selector)];
            self.push(Step::plain(op::PRMT_B32, &sources))
        }))
    }

    /// The masks of conditions that compare numbers of halves.
    fn compared_in_halves(&mut self, conditions: &Numbers, depth: usize) -> Option<[Source; 2]> {
        let mut both: [Numbers; 2] = Default::default();
        let mut compare: Option<(Compare, bool)> = None;
        for &condition in conditions {
            let Some(condition) = condition else {
                both.iter_mut().for_each(|of| of.push(None));
                continue;
            };
            let pair = self.compared(condition)?;
            let op = self.pieces.terms.op(condition);
            let own = if let Op::Equal(..) = op { Compare::Eq } else { Compare::Lt };
            let own = (own, matches!(op, Op::UnsignedLess(..)));
            if *compare.get_or_insert(own) != own {
                return None;
            }
            both[0].push(Some(pair[0]));
            both[1].push(Some(pair[1]));
        }
        let (compare, is_unsigned) = compare?;
        let [one, other] = both;
        let both = [self.halves(&one, depth + 1)?, self.halves(&other, depth + 1)?];
        if is_unsigned && both.iter().any(|halves| halves.limits[0] < 0) {
            return None;
        }
        let [one, other] = self.alike_biased(both)?;
        Some([0, 1].map(|at| {
            let op = SimdOp::Set { compare, accumulate: false };
            let bit = self.half_step(op, [one.words[at], other.words[at]]);
            self.push(Step::plain(op::MUL_LO_U32, &[bit, Source::Constant(0xffff)]))
        }))
    }
}
