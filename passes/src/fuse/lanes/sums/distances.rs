//! How far lanes are apart, as the greater one less the smaller one, which a sum adds and subtracts anywhere.
//!
//! Compilers choose both of two lanes by one comparison and reorder the additions, so nothing is left of the differences
//! in between. Sums wrap, so it makes no difference in which order they were added up.

use super::super::operation::{Operation, Table};
use super::kind::Kind;
use super::{Addend, Operand, Sum, Summand};
use crate::recipe::Source;
use ptxopt_grammar::meaning::term::Term;
use ptxopt_grammar::video::{Sign, SimdArithmetic};

impl Sum {
    /// Joins each operand that is subtracted with one that is added, where both together are the distance of two lanes.
    pub(super) fn pair(&mut self, all: &mut [Operand]) {
        for at in 0..all.len() {
            let Operand::Inverted(_, subtracted) = all[at] else { continue };
            if let Some((place, distance)) = self.with_subtracted(subtracted, all) {
                all[place] = Operand::Lanes(distance);
                // With all bits inverted it was one less than the opposite.
                all[at] = Operand::Word(Source::Constant(u32::MAX.into()));
            }
        }
    }

    /// The operand that is a distance together with one that is subtracted, by its place, and that distance.
    fn with_subtracted(&mut self, subtracted: Term, all: &[Operand]) -> Option<(usize, Addend)> {
        let terms = &mut self.words.pieces.terms;
        let width = terms.width(subtracted).max(u32::BITS);
        let subtracted = terms.zero_extend(subtracted, width);
        let table = Table::of(self.words.lanes);
        let smaller = Sign::ALL.map(|sign| (sign, table.extremum(SimdArithmetic::Min, sign).map(Kind::Simd)));
        let is_smaller = |summand: &Summand| smaller.iter().any(|&(_, kind)| kind == Some(summand.kind));
        let Addend { kind, lanes, .. } = self.addend(subtracted, is_smaller)?;
        let &(sign, _) = smaller.iter().find(|&&(_, smaller)| smaller == Some(kind))?;
        let greater = table.extremum(SimdArithmetic::Max, sign).map(Kind::Simd);
        let exchanged: Vec<Term> = lanes.iter().rev().copied().collect();
        let (place, added) = all.iter().enumerate().find_map(|(place, operand)| {
            let Operand::Lanes(addend) = operand else { return None };
            let is_of_both = addend.lanes == lanes || addend.lanes == exchanged;
            (Some(addend.kind) == greater && is_of_both).then_some((place, addend.term))
        })?;
        let is_it = |operation: &Operation| operation.is_distance() && operation.atype == sign;
        let kind = Kind::Simd(table.sums().find(is_it)?);
        let term = self.words.pieces.terms.sub(added, subtracted);
        Some((place, Addend { kind, term, lanes, weight: 0 }))
    }
}
