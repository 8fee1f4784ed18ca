//! Lanes whose bits tell whether conditions hold. Each condition becomes a word of its own: in each lane, the lowest bit,
//! the highest or all of them are set where it holds.
//!
//! Such a lane is made of comparisons and not of bits of other lanes, so it is not among the functions of lanes that are
//! looked up. Where conditions are joined by and, or and not, so are their words.

use super::function::{Key, Made};
use super::words::Words;
use ptxopt_grammar::meaning::term::{Op, Term};

/// Both, one or the other, and only one of them, bit by bit.
const AND: u8 = 0b1000;
const OR: u8 = 0b1110;
const XOR: u8 = 0b0110;

/// How many conditions that are joined are brought in order, at most.
const MOST_JOINED: usize = 16;

/// Which bits of a lane tell whether a condition holds; all others are zero.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Told {
    Lowest,
    Highest,
    All,
}

/// Whether a bit compares something, or joins such bits.
pub(super) const fn is_condition(op: Op) -> bool {
    matches!(
        op,
        Op::Equal(..) | Op::UnsignedLess(..) | Op::SignedLess(..) | Op::Not(_) | Op::And(..) | Op::Or(..)
    )
}

impl Words {
    /// A lane of bits that tell conditions, as what is made of simpler ones.
    pub(super) fn of_conditions(&mut self, lane: Term) -> Vec<Made> {
        match self.told(lane) {
            Some((condition, told)) => self.of_condition(condition, told),
            None => self.of_bits(lane).or_else(|| self.of_several(lane)).into_iter().collect(),
        }
    }

    /// The only condition that a lane tells, and how.
    pub(super) fn told(&self, lane: Term) -> Option<(Term, Told)> {
        self.told_bit(lane).filter(|&(bit, _)| is_condition(self.pieces.terms.op(bit)))
    }

    /// A lane that tells a bit of logic of two others, as whether signs of numbers differ.
    fn of_bits(&mut self, lane: Term) -> Option<Made> {
        let (bit, told) = self.told_bit(lane)?;
        let (join, bits) = self.joined_bits(bit)?;
        let operands = bits.map(|of| self.telling(of, told)).to_vec();
        Some(Made { function: Key::Logic(join), operands })
    }

    /// The two bits that another one is made of, or the logic of words that it is cut out of, and how.
    fn joined_bits(&mut self, bit: Term) -> Option<(u8, [Term; 2])> {
        let bit = self.pieces.part(bit, 0, 1);
        let op = self.pieces.terms.op(bit);
        if let Op::And(x, y) = op {
            Some((AND, [x, y]))
        } else if let Op::Or(x, y) = op {
            Some((OR, [x, y]))
        } else if let Op::Xor(x, y) = op {
            Some((XOR, [x, y]))
        } else {
            None
        }
    }

    /// Whether a lane that tells a bit is made of conditions or of lanes that tell other bits.
    pub(super) fn can_be_told(&mut self, bit: Term) -> bool {
        is_condition(self.pieces.terms.op(bit)) || self.joined_bits(bit).is_some()
    }

    /// The only bit that a lane tells, and how.
    fn told_bit(&self, lane: Term) -> Option<(Term, Told)> {
        let (terms, op) = (&self.pieces.terms, self.pieces.terms.op(lane));
        let (bit, told) = if let Op::ZeroExtend(bit) = op {
            (bit, Told::Lowest)
        } else if let Op::SignExtend(bit) = op {
            (bit, Told::All)
        } else if let Op::Concat(bit, zeros) = op
            && terms.value(zeros) == Some(0)
        {
            (bit, Told::Highest)
        } else {
            return None;
        };
        (terms.width(bit) == 1).then_some((bit, told))
    }

    /// A condition as a lane.
    pub(super) fn telling(&mut self, condition: Term, told: Told) -> Term {
        let (terms, bits) = (&mut self.pieces.terms, self.lanes.bits());
        match told {
            Told::Lowest => terms.zero_extend(condition, bits),
            Told::All => terms.sign_extend(condition, bits),
            Told::Highest => {
                let zeros = terms.constant(0, bits - 1);
                terms.concat(condition, zeros)
            }
        }
    }

    /// A lane that tells one condition: conditions that are joined, or a comparison that is told otherwise.
    fn of_condition(&mut self, condition: Term, told: Told) -> Vec<Made> {
        let Some((join, joined)) = self.joined_bits(condition) else { return self.of_one(condition, told) };
        let [x, y] = self.in_order(condition, joined).map(|of| self.telling(of, told));
        [[x, y], [y, x]]
            .map(|operands| Made { function: Key::Logic(join), operands: operands.to_vec() })
            .into()
    }

    /// The same of a condition that joins no others: the opposite of one that does, or a comparison.
    fn of_one(&mut self, condition: Term, told: Told) -> Vec<Made> {
        let terms = &self.pieces.terms;
        if let Op::Not(inner) = terms.op(condition)
            && matches!(terms.op(inner), Op::And(..) | Op::Or(..))
        {
            return vec![self.inverted(inner, told)];
        }
        let mut all = Vec::new();
        if told == Told::Highest {
            let lowest = self.telling(condition, Told::Lowest);
            all.extend(self.alternatives(lowest).iter().filter_map(Made::told_by_highest));
        }
        if let Some(apart) = self.pieces.compared_with_nearest(condition) {
            let lane = self.telling(apart, told);
            all.extend(self.alternatives(lane).iter().cloned());
        }
        all
    }

    /// What a condition joins, as the first of these conditions and all others. Their order is that of the numbers in them,
    /// so that it is the same for all lanes, however they were written.
    fn in_order(&mut self, condition: Term, joined: [Term; 2]) -> [Term; 2] {
        let terms = &self.pieces.terms;
        let is_and = matches!(terms.op(condition), Op::And(..));
        let mut all = Vec::new();
        let mut waiting = vec![condition];
        while let Some(next) = waiting.pop() {
            let op = terms.op(next);
            if let Op::And(x, y) = op
                && is_and
            {
                waiting.extend([y, x]);
            } else if let Op::Or(x, y) = op
                && !is_and
            {
                waiting.extend([y, x]);
            } else {
                all.push(next);
            }
            if all.len() > MOST_JOINED {
                return joined;
            }
        }
        // Two are tried in both orders.
        if all.len() == 2 {
            return joined;
        }
        all.sort_by_cached_key(|&one| self.pieces.numbers_in(one));
        let terms = &mut self.pieces.terms;
        let mut others = all.drain(1..);
        let second = others.next().expect("at least two are joined");
        let others = others.fold(second, |x, y| if is_and { terms.and(x, y) } else { terms.or(x, y) });
        [all[0], others]
    }

    /// The opposite of a condition.
    fn inverted(&mut self, condition: Term, told: Told) -> Made {
        let bits = self.lanes.bits();
        let ones = u128::MAX >> (u128::BITS - bits);
        let flipped = match told {
            Told::Lowest => 1,
            Told::Highest => 1 << (bits - 1),
            Told::All => ones,
        };
        let lane = self.telling(condition, told);
        self.masked(lane, ones, flipped)
    }

    /// A lane that tells several conditions: all but the highest of them, and that one; or only one, as a bit of a mask.
    fn of_several(&mut self, lane: Term) -> Option<Made> {
        let (terms, bits) = (&self.pieces.terms, self.lanes.bits());
        let op = terms.op(lane);
        let inner = if let Op::ZeroExtend(inner) = op { terms.op(inner) } else { op };
        if !matches!(inner, Op::Concat(..) | Op::Or(..)) {
            return None;
        }
        let parts: Vec<Term> = (0..bits).map(|at| self.pieces.part(lane, at, 1)).collect();
        let terms = &mut self.pieces.terms;
        let is_zero = |part: Term| terms.value(part) == Some(0);
        if !parts.iter().all(|&part| is_zero(part) || is_condition(terms.op(part))) {
            return None;
        }
        let told = parts.iter().copied().zip(0_u32..).filter(|&(part, _)| !is_zero(part));
        let (highest, at) = told.last()?;
        if parts[..at as usize].iter().any(|&part| !is_zero(part)) {
            let low = self.pieces.part(lane, 0, at);
            let terms = &mut self.pieces.terms;
            let zeros = terms.constant(0, at);
            let high = terms.concat(highest, zeros);
            let operands = [low, high].map(|part| terms.zero_extend(part, bits)).to_vec();
            return Some(Made { function: Key::Logic(OR), operands });
        }
        let mask = terms.sign_extend(highest, bits);
        Some(self.masked(mask, 1 << at, 0))
    }
}

impl Made {
    /// A comparison that tells by the lowest bit, told by the highest.
    fn told_by_highest(&self) -> Option<Self> {
        let function = if let Key::Between(between) = self.function {
            Some(Key::Between(between.told_by_highest()))
        } else if let Key::Simd(operation) = self.function {
            operation.compares().then_some(Key::Highest(operation))
        } else {
            None
        };
        Some(Self { function: function?, operands: self.operands.clone() })
    }
}
