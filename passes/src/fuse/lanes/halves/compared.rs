//! Conditions that compare numbers in halves, as masks of halves or of lanes.
//!
//! Whether one number is less than another is the sign of what the one lacks to the other, so one sum of words tells it of
//! two lanes.

use super::super::scaled::BOTH;
use super::super::words::{Way, Words};
use super::biased::{BIAS, Extremum, Halves, constant};
use super::{DEEPEST, Numbers};
use crate::recipe::{Source, Step};
use ptxopt_grammar::meaning::term::{Op, Term};
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::video::{Compare, SimdOp};

/// How numbers are compared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Equal,
    Less,
    /// Whether one is less where negative numbers are greater than all others.
    Wrapped,
}

/// Which of two conditions must hold.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Join {
    Both,
    Either,
}

/// Words that tell whether conditions hold: by the highest bit of each half or lane, or where they are spread by all bits.
#[derive(Clone, Copy)]
pub(super) struct Flags<const N: usize> {
    pub(super) words: [Source; N],
    is_spread: bool,
    /// Whether they are clear where the conditions hold.
    pub(super) is_inverted: bool,
}

/// What tells conditions that are not made of others.
type Leaf<const N: usize> = fn(&mut Words, &Numbers, usize) -> Option<Flags<N>>;

impl Words {
    /// Ones in the halves in which a condition holds, else zeros.
    pub(super) fn masks_in_halves(&mut self, conditions: &Numbers, depth: usize) -> Option<[Source; 2]> {
        let in_halves: Leaf<2> = |words, conditions, depth| {
            let in_bytes = words.compared_as_bytes(conditions, depth);
            let spread = in_bytes.map(|word| words.masks_of_bytes(word));
            spread.or_else(|| words.compared_in_halves(conditions, depth))
        };
        let flags = self.flags(conditions, in_halves, depth)?;
        let words = self.spread_over_halves(flags);
        Some(self.upright(Flags { words, ..flags }))
    }

    /// Words of flags that are all bits of halves.
    fn spread_over_halves(&mut self, flags: Flags<2>) -> [Source; 2] {
        let spread = |word| Step::plain(op::PRMT_B32, &[word, Source::Constant(0), Source::Constant(0xbb99)]);
        match flags.is_spread {
            true => flags.words,
            false => flags.words.map(|word| self.push(spread(word))),
        }
    }

    /// Ones in the lanes in which a condition holds and zeros in the others, or the other way around.
    pub(super) fn mask_of_lanes(&mut self, conditions: &Numbers, depth: usize) -> Option<Flags<1>> {
        let in_lanes: Leaf<1> = |words, conditions, depth| {
            let in_bytes = words.compared_as_bytes(conditions, depth);
            in_bytes.map(|word| Flags { words: [word], is_spread: true, is_inverted: false }).or_else(|| {
                let flags = words.compared_in_halves(conditions, depth)?;
                let [even, odd] = flags.words;
                let word = match flags.is_spread {
                    true => words.interleaved(even, odd, 0),
                    false => words.push(Step::plain(op::PRMT_B32, &[even, odd, Source::Constant(0xfbd9)])),
                };
                Some(Flags { words: [word], is_spread: true, is_inverted: flags.is_inverted })
            })
        };
        self.flags(conditions, in_lanes, depth)
    }

    /// What tells conditions, which may be made of others.
    fn flags<const N: usize>(
        &mut self,
        conditions: &Numbers,
        leaf: Leaf<N>,
        depth: usize,
    ) -> Option<Flags<N>> {
        if depth > DEEPEST {
            return None;
        }
        self.wide.look()?;
        let inner =
            self.pairs(conditions, |op| if let Op::Not(inner) = op { Some([inner; 2]) } else { None });
        if let Some([inner, _]) = inner {
            let flags = self.flags(&inner, leaf, depth + 1)?;
            return Some(Flags { is_inverted: !flags.is_inverted, ..flags });
        }
        let both = self.pairs(conditions, |op| if let Op::And(a, b) = op { Some([a, b]) } else { None });
        let joined = both.map(|both| (both, Join::Both)).or_else(|| {
            let both = self.pairs(conditions, |op| if let Op::Or(a, b) = op { Some([a, b]) } else { None });
            both.map(|both| (both, Join::Either))
        });
        if let Some(([one, other], join)) = joined {
            let (one, other) = (self.flags(&one, leaf, depth + 1)?, self.flags(&other, leaf, depth + 1)?);
            return Some(self.joined_flags([one, other], join));
        }
        leaf(self, conditions, depth)
    }

    /// Words of flags that are set where the conditions hold.
    fn upright<const N: usize>(&mut self, flags: Flags<N>) -> [Source; N] {
        let ones = Source::Constant(u32::MAX.into());
        match flags.is_inverted {
            true => flags.words.map(|word| self.push(Step::plain(op::XOR_B32, &[word, ones]))),
            false => flags.words,
        }
    }

    /// Whether one of two conditions holds or both do.
    fn joined_flags<const N: usize>(&mut self, flags: [Flags<N>; 2], join: Join) -> Flags<N> {
        let is_spread = flags.iter().all(|flags| flags.is_spread);
        // Neither holds where none of both does, and so for the other way around.
        let is_inverted = flags.iter().all(|flags| flags.is_inverted);
        let op = if (join == Join::Both) != is_inverted { op::AND_B32 } else { op::OR_B32 };
        let [one, other] = flags.map(|flags| if is_inverted { flags.words } else { self.upright(flags) });
        let words = std::array::from_fn(|at| self.push(Step::plain(op, &[one[at], other[at]])));
        Flags { words, is_spread, is_inverted }
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

    /// The mask of conditions that compare bytes.
    fn compared_as_bytes(&mut self, conditions: &Numbers, depth: usize) -> Option<Source> {
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
        self.word(&lanes, depth + 1)
    }

    /// A mask of bytes as masks of halves.
    fn masks_of_bytes(&mut self, word: Source) -> Flags<2> {
        let words = [0x2200, 0x3311].map(|selector| {
            let sources = [word, Source::Constant(0), Source::Constant(selector)];
            self.push(Step::plain(op::PRMT_B32, &sources))
        });
        Flags { words, is_spread: true, is_inverted: false }
    }

    /// What conditions that compare numbers of halves are told by.
    fn compared_in_halves(&mut self, conditions: &Numbers, depth: usize) -> Option<Flags<2>> {
        let (compare, both) = self.compared_numbers(conditions, depth)?;
        if compare == Comparison::Wrapped {
            return self.wrapped(both);
        }
        if compare == Comparison::Less
            && let Some(flags) = self.less(both)
        {
            return Some(flags);
        }
        let compare = if compare == Comparison::Equal { Compare::Eq } else { Compare::Lt };
        let [one, other] = self.alike_biased(both)?;
        let words = [0, 1].map(|at| {
            let op = SimdOp::Set { compare, accumulate: false };
            let bit = self.half_step(op, [one.words[at], other.words[at]]);
            self.push(Step::plain(op::MUL_LO_U32, &[bit, Source::Constant(0xffff)]))
        });
        Some(Flags { words, is_spread: true, is_inverted: false })
    }

    /// The numbers that all conditions compare, and how.
    fn compared_numbers(&mut self, conditions: &Numbers, depth: usize) -> Option<(Comparison, [Halves; 2])> {
        let mut both: [Numbers; 2] = Default::default();
        let mut compare: Option<Comparison> = None;
        for &condition in conditions {
            let Some(condition) = condition else {
                both.iter_mut().for_each(|of| of.push(None));
                continue;
            };
            let pair = self.compared(condition)?;
            let op = self.pieces.terms.op(condition);
            let own = if let Op::Equal(..) = op {
                Comparison::Equal
            } else if let Op::UnsignedLess(..) = op {
                Comparison::Wrapped
            } else {
                Comparison::Less
            };
            if *compare.get_or_insert(own) != own {
                return None;
            }
            both[0].push(Some(pair[0]));
            both[1].push(Some(pair[1]));
        }
        let compare = compare?;
        let [one, other] = both;
        let both = [self.halves(&one, depth + 1)?, self.halves(&other, depth + 1)?];
        let wraps = both.iter().any(|halves| halves.limits[0] < 0);
        Some((if compare == Comparison::Wrapped && !wraps { Comparison::Less } else { compare }, both))
    }

    /// Whether a number and one that is the same for all lanes are in order where negative numbers are the greatest.
    fn wrapped(&mut self, [one, other]: [Halves; 2]) -> Option<Flags<2>> {
        let (sides, is_either) = match (one.number(), other.number()) {
            (_, Some(number)) => ([Halves::of(-1), one], number < 0),
            (Some(number), None) => ([other, Halves::of(0)], number >= 0),
            (None, None) => return None,
        };
        let flags = [self.less(sides)?, self.less([one, other])?];
        Some(self.joined_flags(flags, if is_either { Join::Either } else { Join::Both }))
    }

    /// The lesser or the greater ones of numbers with the same bias, chosen by the signs of their differences.
    pub(super) fn chosen_by_signs(&mut self, extremum: Extremum, both: [Halves; 2]) -> Option<Halves> {
        // Bytes are compared four at a time by the steps that follow.
        let are_bytes = both.iter().all(|of| of.limits[0] >= 0 && of.limits[1] <= i64::from(u8::MAX));
        if are_bytes || !self.is_made(Way::SignsOfHalves) {
            return None;
        }
        // What is compared with a number needs nothing subtracted.
        let [one, other] = both;
        let both = if one.number().is_some() { [other, one] } else { both };
        let flags = self.less(both)?;
        Some(self.chosen_by_flags(extremum, both, flags))
    }

    /// The greater ones of numbers and their opposites, both with the greatest bias, chosen by the signs of the numbers.
    pub(super) fn magnitudes_by_signs(&mut self, [numbers, opposites]: [Halves; 2]) -> Option<Halves> {
        if !self.is_made(Way::SignsOfHalves) {
            return None;
        }
        let flags = Flags { words: numbers.words, is_spread: false, is_inverted: true };
        Some(self.chosen_by_flags(Extremum::Greatest, [numbers, opposites], flags))
    }

    /// The lesser or the greater ones of numbers, where flags tell whether the first is less.
    fn chosen_by_flags(&mut self, extremum: Extremum, both: [Halves; 2], flags: Flags<2>) -> Halves {
        let [one, other] = both;
        let masks = self.spread_over_halves(flags);
        let is_first = (extremum == Extremum::Least) != flags.is_inverted;
        let [then, otherwise] = if is_first { [one, other] } else { [other, one] };
        let words = [0, 1].map(|at| {
            let sources = [masks[at], then.words[at], otherwise.words[at], Source::Constant(0xca)];
            self.push(Step::plain(op::LOP3_B32, &sources))
        });
        Halves { words, limits: extremum.limits(both), ..one }
    }

    /// Whether one number is less than another one: whether how much greater that is, less one, is not negative. Whether it
    /// is less than a number that is known is whether what it is greater by is negative, which may be there.
    fn less(&mut self, [one, other]: [Halves; 2]) -> Option<Flags<2>> {
        let [one, other] = [one, other].map(|halves| self.without_signs(halves));
        // Without a number to add where that can be.
        let is_inverted = other.number().is_some() || one.bias == other.bias + BIAS;
        let ([from, minus], less) = if is_inverted { ([one, other], 0) } else { ([other, one], 1) };
        let least = from.limits[0] - minus.limits[1] - less;
        let most = from.limits[1] - minus.limits[0] - less;
        if least < -BIAS || most >= BIAS {
            return None;
        }
        let number = BIAS - less - from.bias + minus.bias;
        let words = [0, 1].map(|at| {
            let mut sum = number * BOTH;
            let mut added = Vec::with_capacity(2);
            for (word, weight) in [(from.words[at], 1), (minus.words[at], -1)] {
                match word {
                    Source::Constant(word) => sum = sum.wrapping_add(word.cast_signed() * weight),
                    Source::Value(_) | Source::Step(_) => added.push((word, weight)),
                }
            }
            let total = (sum & i64::from(u32::MAX) != 0).then(|| constant(sum));
            let plus = |total, (word, weight): (Source, i64)| {
                Some(self.plus(total, word, (weight != 1).then(|| constant(weight))))
            };
            added.into_iter().fold(total, plus).unwrap_or(Source::Constant(0))
        });
        Some(Flags { words, is_spread: false, is_inverted })
    }
}
