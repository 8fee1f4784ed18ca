//! Differences of lanes that are multiplied, as where one image fades into another: `x + ((y - x) * t >> 8)`.
//!
//! The product is that of each lane, so this is `y` times `t` and `x` times `256 - t`: a sum of two lanes with weights,
//! like a blend that was written with both weights.

use super::addends::{Addend, Scaled};
use super::scaled::WORD;
use super::words::Words;
use crate::recipe::{Source, Step};
use ptxopt_grammar::meaning::term::{Op, Term, Terms};
use ptxopt_grammar::table::instruction::op;

impl Words {
    /// A word whose lanes are other lanes with products added to them, computed as one sum.
    pub(super) fn faded(&mut self, lanes: &[Option<Term>], depth: usize) -> Option<Source> {
        let first = *lanes.iter().flatten().next()?;
        if !matches!(self.pieces.terms.op(first), Op::Add(..)) {
            return None;
        }
        let multiplies = self.sum_of(first)?.addends.iter().any(|addend| addend.factor.is_some());
        if multiplies { self.scaled(lanes, depth) } else { None }
    }

    /// Adds the products of a difference of two lanes and something else to those of a sum; `None` if there is none.
    pub(super) fn collect_difference(
        &mut self,
        [a, b]: [Term; 2],
        weight: i64,
        depth: usize,
        sum: &mut Scaled,
    ) -> Option<()> {
        let (lanes, factor) = self
            .difference(a, depth)
            .map(|lanes| (lanes, b))
            .or_else(|| Some((self.difference(b, depth)?, a)))?;
        let terms = &mut self.pieces.terms;
        let factor = terms.zero_extend(factor, WORD);
        let opposite = terms.neg(factor);
        for Addend { weight: sign, lane, .. } in lanes {
            let factor = Some(if sign < 0 { opposite } else { factor });
            sum.push(Addend { weight, lane, factor })?;
        }
        Some(())
    }

    /// The two lanes that a term is the difference of.
    fn difference(&mut self, term: Term, depth: usize) -> Option<Vec<Addend>> {
        if !matches!(self.pieces.terms.op(term), Op::Add(..)) {
            return None;
        }
        let mut lanes = Scaled::default();
        self.collect(term, 1, depth + 1, &mut lanes)?;
        let weight_of = |addend: &Addend| (addend.factor.is_none(), addend.weight);
        let mut weights: Vec<(bool, i64)> = lanes.addends.iter().map(weight_of).collect();
        weights.sort_unstable();
        (lanes.number == 0 && weights == [(true, -1), (true, 1)]).then_some(lanes.addends)
    }

    /// Joins a lane times a number and the same lane times the opposite of a factor: that is the lane times the number
    /// less the factor.
    pub(super) fn join_opposites(&mut self, sum: &mut Scaled) {
        let terms = &mut self.pieces.terms;
        let is_opposite = |factor: Term, terms: &Terms| {
            let Op::Add(inner, one) = terms.op(factor) else { return false };
            matches!(terms.op(inner), Op::Not(_)) && terms.value(one) == Some(1)
        };
        for at in 0..sum.addends.len() {
            let Addend { weight: 1, lane, factor: Some(factor) } = sum.addends[at] else { continue };
            let is_other = |other: &Addend| other.lane == lane && other.factor.is_none();
            let Some(other) = sum.addends.iter().position(is_other).filter(|_| is_opposite(factor, terms))
            else {
                continue;
            };
            let Ok(number) = u32::try_from(sum.addends[other].weight) else { continue };
            let number = terms.constant(number.into(), WORD);
            sum.addends[at].factor = Some(terms.add(factor, number));
            sum.addends[other].weight = 0;
        }
        sum.addends.retain(|addend| addend.weight != 0);
    }

    /// The difference of a number and a word, as a factor that has no register of its own.
    pub(super) fn complement(&mut self, factor: Term, depth: usize) -> Option<Source> {
        let terms = &self.pieces.terms;
        let Op::Add(inner, number) = terms.op(factor) else { return None };
        let (Op::Not(of), Some(number)) = (terms.op(inner), terms.value(number)) else { return None };
        // All bits inverted is one less than the opposite.
        let number = u64::try_from(number).ok()?.checked_sub(1)?;
        let word = self.factor(of, depth)?;
        Some(self.push(Step::plain(op::SUB_U32, &[Source::Constant(number), word])))
    }
}
