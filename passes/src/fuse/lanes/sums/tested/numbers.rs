//! Numbers that branches decide, by the conditions of these.

use crate::fuse::lanes::pieces::Pieces;
use ptxopt_grammar::meaning::term::{Op, Term};

/// How many terms are looked at of a choice of numbers.
const MOST_TERMS: usize = 64;

impl Pieces {
    /// The two numbers that a term is one of, by choices, the larger first.
    pub(super) fn two_numbers(&self, root: Term) -> Option<[u128; 2]> {
        let mut numbers: Vec<u128> = Vec::new();
        let mut waiting = vec![root];
        for _ in 0..MOST_TERMS {
            let Some(term) = waiting.pop() else { break };
            let op = self.terms.op(term);
            if let Op::Choose(_, then, otherwise) = op {
                waiting.extend([then, otherwise]);
            } else if let Some(number) = self.terms.value(term) {
                numbers.push(number);
            } else if self.is_bit(term) {
                numbers.extend([0, 1]);
            } else if let Op::ZeroExtend(lane) = op {
                waiting.push(lane);
            } else {
                return None;
            }
        }
        numbers.sort_unstable();
        numbers.dedup();
        let [smaller, larger] = numbers[..] else { return None };
        waiting.is_empty().then_some([larger, smaller])
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
        if !self.is_bit(term) {
            return self.is_number_within(inner, number, left);
        }
        Some(match number {
            0 => self.terms.not(inner),
            1 => inner,
            _ => self.terms.bit(false),
        })
    }

    /// Whether a term is a bit as a number.
    fn is_bit(&self, term: Term) -> bool {
        let op = self.terms.op(term);
        if let Op::ZeroExtend(bit) = op { self.terms.width(bit) == 1 } else { false }
    }
}
