//! Numbers that branches decide, by the conditions of these.

use crate::fuse::lanes::pieces::Pieces;
use crate::numbers::{MOST_TERMS, is_bit, numbers_of};
use ptxopt_grammar::meaning::term::{Op, Term};

impl Pieces {
    /// The two numbers that a term is one of, by choices, the larger first.
    pub(super) fn two_numbers(&self, root: Term) -> Option<[u128; 2]> {
        let [smaller, larger] = numbers_of(&self.terms, root, |_| None)?[..] else { return None };
        Some([larger, smaller])
    }

    /// Whether a term that is one of some numbers, by choices, is a certain one; `None` if it is anything else.
    pub(super) fn is_number(&mut self, term: Term, number: u128) -> Option<Term> {
        let mut left = MOST_TERMS;
        self.is_number_within(term, number, &mut left)
    }

    /// The same, if so many terms are enough.
    fn is_number_within(&mut self, term: Term, number: u128, left: &mut usize) -> Option<Term> {
        *left = left.checked_sub(1)?;
        let op = self.terms.op(term);
        if let Some(value) = self.terms.value(term) {
            return Some(self.terms.bit(value == number));
        }
        if let Op::Choose(condition, then, otherwise) = op {
            let [then, otherwise] = [then, otherwise].map(|of| self.is_number_within(of, number, left));
            return Some(self.terms.choose(condition, then?, otherwise?));
        }
        let Op::ZeroExtend(inner) = op else { return None };
        if !is_bit(&self.terms, term) {
            return self.is_number_within(inner, number, left);
        }
        Some(match number {
            0 => self.terms.not(inner),
            1 => inner,
            _ => self.terms.bit(false),
        })
    }
}
