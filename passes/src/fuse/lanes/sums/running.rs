//! Sums of sums of the same, as in checksums: one total is added to another one after each byte.
//!
//! Written out, the first byte of sixteen is added sixteen times. So operands are counted: a sum that is an operand in
//! several places is looked at once, with how often it is added. What is added up of a lane then is a lane with a weight.
//! Sums wrap, so it makes no difference how they are counted.

use super::kind::Kind;
use super::{MOST_OPERANDS, Operand, Sum};
use crate::recipe::{Recipe, Source};
use ptxopt_grammar::meaning::term::{Op, Term, ones};
use std::collections::BTreeMap;

/// How many additions are looked at, at most.
const MOST_ADDITIONS: usize = 200;

/// How often an operand may be added, at most: that is the weight of a lane, which is a signed byte.
const MOST_TIMES: u32 = 127;

impl Sum {
    /// A sum as one of operands that are counted, if some sum is an operand in several places.
    pub(super) fn running(&mut self, root: Term) -> Option<Recipe> {
        let mut all = Vec::new();
        for (term, times) in self.counted_operands(root)? {
            self.add_times(term, times, &mut all)?;
        }
        self.of_operands(all)
    }

    /// What is added up, and how often.
    fn counted_operands(&self, root: Term) -> Option<Vec<(Term, u32)>> {
        let terms = &self.words.pieces.terms;
        let width = terms.width(root);
        let mut waiting: BTreeMap<Term, u32> = BTreeMap::from([(root, 1)]);
        let (mut operands, mut additions, mut is_running) = (Vec::new(), 0, false);
        // Terms are made after what they are made of, so the last one is an operand of none that waits.
        while let Some((term, times)) = waiting.pop_last() {
            if times > MOST_TIMES {
                return None;
            }
            if let Op::Add(a, b) = terms.op(term)
                && terms.width(term) == width
            {
                additions += 1;
                is_running |= times > 1;
                for operand in [a, b] {
                    *waiting.entry(operand).or_default() += times;
                }
            } else {
                operands.push((term, times));
            }
            if additions > MOST_ADDITIONS || operands.len() > MOST_OPERANDS[1] {
                return None;
            }
        }
        is_running.then_some(operands)
    }

    /// Adds an operand so many times: a lane with a weight, a number, or a word.
    fn add_times(&mut self, term: Term, times: u32, all: &mut Vec<Operand>) -> Option<()> {
        let is_weighted = |kind: Kind| matches!(kind, Kind::Weighted(_));
        if let Some(mut addend) = self.addend(term, |summand| is_weighted(summand.kind)) {
            addend.weight *= i64::from(times);
            all.push(Operand::Lanes(addend));
            return Some(());
        }
        if let Some(number) = self.words.pieces.terms.value(term) {
            let number = number.wrapping_mul(times.into()) & ones(u32::BITS);
            all.push(Operand::Word(Source::Constant(u64::try_from(number).ok()?)));
            return Some(());
        }
        for _ in 0..times {
            all.push(self.rest(term)?);
        }
        Some(())
    }
}
