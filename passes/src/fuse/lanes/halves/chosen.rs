//! Numbers as halves that are one of two: the lesser or the greater one, or by a condition.
//!
//! A condition of all lanes is a mask, computed of bytes where it compares bytes.

use super::super::scaled::BOTH;
use super::super::words::Words;
use super::biased::{BIAS, Extremum, Halves, constant};
use super::{Limits, Numbers};
use crate::recipe::{Source, Step};
use ptxopt_grammar::table::instruction::op;

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
        if let Some((whole, low)) = self.shifted_magnitudes(&conditions, [&then, &otherwise]) {
            return self.without_lowest(&whole, low, wanted, depth);
        }
        if let Some(extremum) = extremum? {
            if let Some(both) = self.opposite_halves(&then, &otherwise, depth) {
                let by_signs = match extremum {
                    Extremum::Greatest => self.magnitudes_by_signs(both),
                    Extremum::Least => None,
                };
                return by_signs.or_else(|| self.extremum_of_halves(extremum, both));
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

    /// How far numbers are from zero, and how many of their lowest bits are left out, where one of two is chosen that
    /// are without them.
    fn shifted_magnitudes(&mut self, conditions: &Numbers, both: [&Numbers; 2]) -> Option<(Numbers, u32)> {
        let [(then, low), (otherwise, other)] =
            [self.all_shifted_of(both[0])?, self.all_shifted_of(both[1])?];
        let are_opposite = self.are_opposite(&then, &otherwise) || self.are_opposite(&otherwise, &then);
        if low != other || low == 0 || !are_opposite {
            return None;
        }
        let lanes = conditions.iter().zip(then.iter().zip(&otherwise));
        let terms = &mut self.pieces.terms;
        let chosen = lanes
            .map(|(condition, (then, otherwise))| Some(terms.choose((*condition)?, (*then)?, (*otherwise)?)));
        Some((chosen.collect(), low))
    }

    /// Whether each of one of both is zero less that of the other one.
    fn are_opposite(&mut self, of: &Numbers, to: &Numbers) -> bool {
        let terms = &mut self.pieces.terms;
        of.iter().zip(to).all(|(of, to)| of.zip(*to).is_none_or(|(of, to)| terms.neg(of) == to))
    }

    /// Numbers and their opposites, of which the greater one is how far a number is from zero: the opposites are what the
    /// numbers lack to twice the bias.
    fn opposite_halves(&mut self, then: &Numbers, otherwise: &Numbers, depth: usize) -> Option<[Halves; 2]> {
        let numbers = if self.are_opposite(then, otherwise) {
            then
        } else if self.are_opposite(otherwise, then) {
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
}
