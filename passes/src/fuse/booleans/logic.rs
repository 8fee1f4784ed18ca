//! A function of one or two bits as logic of predicates.
//!
//! A bit is read where it is there: as a predicate, or as a word that is one of two numbers. Of a function and its
//! opposite, and of bits and their opposites, those are taken that need fewer steps.

use super::{Cut, Homes, MOST_BITS};
use crate::graph::ValueId;
use crate::recipe::{Source, Step};
use ptxopt_grammar::table::instruction::{Instruction, op};

/// Where a bit can be read.
#[derive(Clone, Copy, Debug)]
pub(super) enum Home {
    /// A predicate.
    Predicate(ValueId),
    /// A word in whose demanded bits the bit shows.
    Word(Word),
}

/// A word that is one of two numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word {
    pub(super) value: ValueId,
    pub(super) width: u32,
    /// What it is where the bit is not set.
    pub(super) unset: u64,
    /// The bits of it to compare: all, or those that are demanded, since others may be changed.
    pub(super) mask: Option<u64>,
}

/// Logic of the bits of a cut.
pub(super) struct Logic<'b> {
    homes: &'b Homes,
    cut: &'b Cut,
    steps: Vec<Step>,
}

impl<'b> Logic<'b> {
    /// The function with this table of results, and the steps that make it.
    pub(super) fn of(homes: &'b Homes, cut: &'b Cut, truth: u8) -> Option<(Source, Vec<Step>)> {
        let mut logic = Self { homes, cut, steps: Vec::new() };
        let bit = logic.function(truth)?;
        Some((bit, logic.steps))
    }

    fn push(&mut self, instruction: Instruction, sources: &[Source]) -> Source {
        self.steps.push(Step::wide(instruction, sources, 1));
        Source::Step(self.steps.len() - 1)
    }

    /// Whether a bit, or its negation, costs no step.
    fn is_there(&self, at: usize, wanted: bool) -> bool {
        matches!(self.homes[&self.cut[at]][usize::from(!wanted)], Some(Home::Predicate(_)))
    }

    /// A bit, or its negation.
    fn literal(&mut self, at: usize, wanted: bool) -> Source {
        let homes = self.homes[&self.cut[at]];
        let [same, opposite] = if wanted { homes } else { [homes[1], homes[0]] };
        if let Some(Home::Predicate(value)) = same {
            return Source::Value(value);
        }
        if let Some(Home::Predicate(value)) = opposite {
            return self.push(op::NOT.of(op::PRED), &[Source::Value(value)]);
        }
        let (word, compare) = match (same, opposite) {
            (Some(Home::Word(word)), _) => (word, op::NE),
            (_, Some(Home::Word(word))) => (word, op::EQ),
            _ => unreachable!("a bit of a cut can be read"),
        };
        let ty = if word.width == 16 { op::B16 } else { op::B32 };
        let mut compared = (Source::Value(word.value), word.unset);
        if let Some(mask) = word.mask {
            let sources = [compared.0, Source::Constant(mask)];
            self.steps.push(Step::wide(op::AND.of(ty), &sources, word.width));
            compared = (Source::Step(self.steps.len() - 1), word.unset & mask);
        }
        self.push(op::SETP.with(&[compare, ty]), &[compared.0, Source::Constant(compared.1)])
    }

    /// The function with this table of results, the first bit of the cut lowest; `None` for one without inputs.
    fn function(&mut self, truth: u8) -> Option<Source> {
        match truth {
            0b1010 => return Some(self.literal(0, true)),
            0b0101 => return Some(self.literal(0, false)),
            _ if self.cut.len() < MOST_BITS => return None,
            0b1100 => return Some(self.literal(1, true)),
            0b0011 => return Some(self.literal(1, false)),
            0b0110 | 0b1001 => {
                // Two negations cancel each other, so each bit is taken as it is there.
                let mut as_is = [0, 1].map(|at| self.is_there(at, true) || !self.is_there(at, false));
                let even = as_is[0] == as_is[1];
                as_is[1] ^= even != (truth == 0b0110);
                let sources = [self.literal(0, as_is[0]), self.literal(1, as_is[1])];
                return Some(self.push(op::XOR.of(op::PRED), &sources));
            }
            _ => {}
        }
        // What is left is true or false for one combination only.
        let only = match truth.count_ones() {
            1 => truth.trailing_zeros(),
            3 => (!truth).trailing_zeros(),
            _ => return None,
        };
        let is_and = truth.count_ones() == 1;
        let wanted = [0, 1].map(|at| (only >> at & 1 == 1) == is_and);
        let missing =
            |wanted: [bool; 2]| (0..).zip(wanted).filter(|&(at, wanted)| !self.is_there(at, wanted)).count();
        let opposite = wanted.map(|wanted| !wanted);
        let inverted = missing(opposite) + 1 < missing(wanted);
        let wanted = if inverted { opposite } else { wanted };
        let join = if is_and == inverted { op::OR } else { op::AND };
        let sources = [self.literal(0, wanted[0]), self.literal(1, wanted[1])];
        let joined = self.push(join.of(op::PRED), &sources);
        Some(if inverted { self.push(op::NOT.of(op::PRED), &[joined]) } else { joined })
    }
}
