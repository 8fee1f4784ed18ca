//! What a bit tests, as conditions of which any holds, or none.
//!
//! Conditions that are joined by and hold together where none of their opposites does. Words that differ, and bits that
//! are set in what several words are joined to, are conditions on each of their lanes.

use crate::fuse::lanes::sums::Sum;
use ptxopt_grammar::meaning::term::{Op, Term};

/// The fewest conditions that are worth it.
const LEAST_CONDITIONS: usize = 2;

/// How many conditions are tested together, at most.
const MOST_CONDITIONS: usize = 64;

/// How many conditions, and what joins them, one condition is made of, at most.
const MOST_JOINED: usize = 16;

/// A condition on lanes.
#[derive(Clone, Copy)]
pub(super) enum Condition {
    /// One of these bits of a lane is set.
    IsSet(Term, u32),
    /// A bit is set.
    Holds(Term),
}

impl Sum {
    /// The conditions of which any holds where a bit is set, or where it is not.
    pub(super) fn conditions(&mut self, root: Term, set: bool) -> Option<Vec<Condition>> {
        let mut all = Vec::new();
        let mut waiting = vec![(root, set)];
        while let Some((bit, set)) = waiting.pop() {
            if all.len() + waiting.len() > MOST_CONDITIONS {
                return None;
            }
            // The bit of what is joined is what the bits of it are joined to.
            let bit = self.words.pieces.part(bit, 0, 1);
            let op = self.words.pieces.terms.op(bit);
            if let Op::Not(inner) = op {
                waiting.push((inner, !set));
            } else if let Some(bit) = self.decided(op) {
                waiting.push((bit, set));
            } else if let (Op::Or(x, y), true) | (Op::And(x, y), false) = (op, set) {
                waiting.extend([(y, set), (x, set)]);
            } else {
                self.condition(bit, set, &mut all)?;
            }
        }
        (all.len() >= LEAST_CONDITIONS).then_some(all)
    }

    /// Whether numbers that branches decide are a certain one, by the conditions of the branches.
    fn decided(&mut self, op: Op) -> Option<Term> {
        let Op::Equal(x, y) = op else { return None };
        let terms = &self.words.pieces.terms;
        let (number, of) = terms.value(y).map(|number| (number, x)).or_else(|| Some((terms.value(x)?, y)))?;
        let is_choice = matches!(terms.op(of), Op::Choose(..) | Op::ZeroExtend(_));
        is_choice.then(|| self.words.pieces.is_number(of, number))?
    }

    /// A bit, or its opposite, as conditions of which any holds; `None` if it always does.
    fn condition(&mut self, bit: Term, set: bool, all: &mut Vec<Condition>) -> Option<()> {
        let (terms, bits) = (&mut self.words.pieces.terms, self.words.lanes.bits());
        let op = terms.op(bit);
        if let (Op::Equal(x, y), false) = (op, set) {
            return self.differ([x, y], all);
        }
        if let Op::UnsignedLess(x, y) = op
            && let Some((word, low)) = self.reaches([x, y], set)
        {
            return self.has_bit_from(word, low, all);
        }
        let terms = &mut self.words.pieces.terms;
        if let Op::Extract(lane, at) = op
            && terms.width(lane) == bits
        {
            let lane = if set { lane } else { terms.not(lane) };
            return self.set_bits(lane, 1 << at, all);
        }
        let holds = if set { bit } else { terms.not(bit) };
        self.joins_few(holds).then(|| all.push(Condition::Holds(holds)))
    }

    /// Whether a condition joins few others, each as often as it is in it: those in one lane are brought in order in every
    /// way.
    fn joins_few(&self, condition: Term) -> bool {
        let terms = &self.words.pieces.terms;
        let mut waiting = vec![condition];
        for _ in 0..MOST_JOINED {
            let Some(next) = waiting.pop() else { return true };
            let op = terms.op(next);
            if let Op::Not(inner) = op {
                waiting.push(inner);
            } else if let Op::And(x, y) | Op::Or(x, y) | Op::Xor(x, y) = op {
                waiting.extend([x, y]);
            }
        }
        waiting.is_empty()
    }

    /// The word that a comparison finds to be at least a power of two, and which power; the comparison holds, or it does
    /// not.
    fn reaches(&self, [x, y]: [Term; 2], holds: bool) -> Option<(Term, u32)> {
        let terms = &self.words.pieces.terms;
        let (word, bound) = if holds { (y, terms.value(x)?.checked_add(1)?) } else { (x, terms.value(y)?) };
        let power = bound.is_power_of_two().then(|| bound.trailing_zeros())?;
        (power < terms.width(word)).then_some((word, power))
    }

    /// That a word has a bit from some place on.
    fn has_bit_from(&mut self, word: Term, low: u32, all: &mut Vec<Condition>) -> Option<()> {
        let pieces = &mut self.words.pieces;
        let width = pieces.terms.width(word);
        let mut high = pieces.part(word, low, width - low);
        if low > 0 {
            let zeros = pieces.terms.constant(0, low);
            high = pieces.terms.concat(high, zeros);
        }
        let zero = pieces.terms.constant(0, width);
        self.differ([high, zero], all)
    }

    /// That two words differ: in any of their lanes.
    fn differ(&mut self, words: [Term; 2], all: &mut Vec<Condition>) -> Option<()> {
        let (pieces, bits) = (&mut self.words.pieces, self.words.lanes.bits());
        let width = pieces.terms.width(words[0]);
        let mut differences = Vec::new();
        for low in (0..width).step_by(bits as usize) {
            let [x, y] = words.map(|of| {
                let part = pieces.part(of, low, bits.min(width - low));
                pieces.terms.zero_extend(part, bits)
            });
            differences.push(pieces.terms.xor(x, y));
        }
        let every = self.words.every_bit();
        differences.into_iter().try_for_each(|lane| self.set_bits(lane, every, all))
    }

    /// That some bits of a lane are not zero: if they are what several lanes have, that those of one of them are not.
    fn set_bits(&mut self, lane: Term, mask: u32, all: &mut Vec<Condition>) -> Option<()> {
        let mut waiting = vec![(lane, mask)];
        while let Some((lane, mask)) = waiting.pop() {
            // What is joined again and again is as often in it.
            if all.len() + waiting.len() > MOST_CONDITIONS {
                return None;
            }
            let terms = &mut self.words.pieces.terms;
            let op = terms.op(lane);
            if let Some(value) = terms.value(lane) {
                if value & u128::from(mask) != 0 {
                    return None;
                }
            } else if let Op::Or(x, y) = op {
                waiting.extend([(y, mask), (x, mask)]);
            } else if let Op::Not(inner) = op
                && let Op::And(x, y) = terms.op(inner)
            {
                waiting.extend([y, x].map(|of| (terms.not(of), mask)));
            } else if let Op::And(x, y) = op
                && let Some(kept) = terms.value(y)
            {
                waiting.push((x, mask & u32::try_from(kept).expect("a lane has at most 16 bits")));
            } else {
                all.push(Condition::IsSet(lane, mask));
            }
        }
        Some(())
    }
}
