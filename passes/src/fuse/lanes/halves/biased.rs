//! Numbers as halves of two words, and what is done with such words.
//!
//! A half holds its number with the bias added to it, or, where instructions on signed halves are used, the number as it
//! is. What the numbers can be tells which biases they may have.

use super::super::scaled::BOTH;
use super::super::words::{Way, Words};
use super::Limits;
use crate::recipe::{Source, Step};
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::video::{Form, Lanes, Routing, Sign, Simd, SimdArithmetic, SimdOp, SimdThen};

/// The bias of numbers that may be negative. Its bits shifted down are none of a byte.
pub(super) const BIAS: i64 = 0x8000;

/// The greatest number of a half.
pub(super) const MOST: i64 = 0xffff;

/// Numbers as halves: those of the even lanes, and those of the odd ones.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Halves {
    pub(super) words: [Source; 2],
    /// What was added to each.
    pub(super) bias: i64,
    pub(super) limits: Limits,
}

/// Which of two numbers is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Extremum {
    Least,
    Greatest,
}

impl Extremum {
    pub(super) fn of(self, one: i64, other: i64) -> i64 {
        match self {
            Self::Least => one.min(other),
            Self::Greatest => one.max(other),
        }
    }

    /// What it can be of two numbers.
    pub(super) fn limits(self, [one, other]: [Halves; 2]) -> Limits {
        [0, 1].map(|at| self.of(one.limits[at], other.limits[at]))
    }
}

impl Words {
    /// Whether halves may be signed numbers, as instructions on two halves take them.
    pub(super) fn is_signed(&self) -> bool {
        self.way() == Way::SignedHalves
    }

    /// Halves that may be signed, as they may be in this way.
    pub(super) fn lifted(&mut self, halves: Halves) -> Halves {
        if self.is_signed() { halves } else { self.without_signs(halves) }
    }

    /// The same numbers, biased if some may be negative as they are.
    pub(super) fn without_signs(&mut self, halves: Halves) -> Halves {
        if halves.is_signed() { self.biased_by(halves, BIAS) } else { halves }
    }

    /// The same numbers with another bias.
    pub(super) fn biased_by(&mut self, halves: Halves, bias: i64) -> Halves {
        if bias == halves.bias {
            return halves;
        }
        // Halves do not carry where the highest bit of each is inverted.
        let halves = match halves.is_signed() {
            true => {
                let inverted = |word| Step::plain(op::XOR_B32, &[word, constant(BIAS * BOTH)]);
                Halves { words: halves.words.map(|word| self.push(inverted(word))), bias: BIAS, ..halves }
            }
            false => halves,
        };
        let more = (bias - halves.bias) * BOTH;
        let words = halves.words.map(|word| match word {
            _ if more == 0 => word,
            Source::Constant(number) => constant(number.cast_signed() + more),
            Source::Value(_) | Source::Step(_) => {
                self.push(Step::plain(op::ADD_U32, &[word, constant(more)]))
            }
        });
        Halves { words, bias, ..halves }
    }

    /// Two with the same bias, which both can have.
    pub(super) fn alike_biased(&mut self, both: [Halves; 2]) -> Option<[Halves; 2]> {
        let fits = |bias: &i64| {
            both.iter().all(|halves| halves.limits[0] + bias >= 0 && halves.limits[1] + bias <= MOST)
        };
        let bias = both.iter().map(|halves| halves.bias).chain([BIAS, 0]).find(fits)?;
        Some(both.map(|halves| self.biased_by(halves, bias)))
    }

    /// The lesser or the greater ones of numbers.
    pub(super) fn extremum_of_halves(&mut self, extremum: Extremum, both: [Halves; 2]) -> Option<Halves> {
        let limits = extremum.limits(both);
        // What is never greater than the other is the lesser one.
        let is_taken = |one: Halves, other: Halves| match extremum {
            Extremum::Least => one.limits[1] <= other.limits[0],
            Extremum::Greatest => one.limits[0] >= other.limits[1],
        };
        let [one, other] = both;
        if is_taken(one, other) || is_taken(other, one) {
            return Some(if is_taken(one, other) { one } else { other });
        }
        let is_alike = both[0].bias == both[1].bias && both.iter().all(|halves| !halves.is_signed());
        let fit = both.iter().all(|halves| halves.limits[1] < BIAS);
        if self.is_signed() && fit && !is_alike {
            let [one, other] = both.map(|halves| self.signed(halves));
            let words = [0, 1].map(|at| self.signed_extremum(extremum, [one.words[at], other.words[at]]));
            return Some(Halves { words, bias: 0, limits });
        }
        let [one, other] = self.alike_biased(both)?;
        if let Some(chosen) = self.chosen_by_signs(extremum, [one, other]) {
            return Some(chosen);
        }
        let op = match extremum {
            Extremum::Least => SimdArithmetic::Min,
            Extremum::Greatest => SimdArithmetic::Max,
        };
        let op = SimdOp::Arithmetic { op, dtype: Sign::Unsigned, then: SimdThen::Store };
        let words = [0, 1].map(|at| self.half_step(op, [one.words[at], other.words[at]]));
        Some(Halves { words, limits, ..one })
    }

    /// The same numbers as signed ones.
    pub(super) fn signed(&mut self, halves: Halves) -> Halves {
        let words = halves.words.map(|word| match (word, halves.bias) {
            (word, 0) => word,
            (Source::Constant(number), bias) => {
                let half = |low: u32| ((number.cast_signed() >> low) - bias) & MOST;
                constant(half(16) << 16 | half(0))
            }
            (word, bias) => {
                let less = self.register(constant((-bias & MOST) * BOTH));
                self.push(Step::plain(op::ADD_S16X2, &[word, less]))
            }
        });
        Halves { words, bias: 0, ..halves }
    }

    /// The lesser or the greater of signed halves. Zero as the least is a part of another instruction.
    fn signed_extremum(&mut self, extremum: Extremum, sources: [Source; 2]) -> Source {
        const ZERO: Source = Source::Constant(0);
        let sources = match sources {
            [Source::Constant(number), other] => [other, Source::Constant(number)],
            _ => sources,
        };
        let of = match sources[0] {
            Source::Step(step) => Some(self.steps[step]),
            Source::Value(_) | Source::Constant(_) => None,
        };
        let is_max = extremum == Extremum::Greatest;
        let step = match (of, sources[1]) {
            (Some(of), ZERO) if is_max && of.is(op::MIN_S16X2) => {
                Step::plain(op::MIN_RELU_S16X2, &of.sources)
            }
            (Some(of), limit) if !is_max && of.is(op::MAX_S16X2) && self.is_zero(of.sources[1]) => {
                let limit = self.register(limit);
                Step::plain(op::MIN_RELU_S16X2, &[of.sources[0], limit])
            }
            _ => {
                let sources = sources.map(|source| self.register(source));
                Step::plain(if is_max { op::MAX_S16X2 } else { op::MIN_S16X2 }, &sources)
            }
        };
        self.push(step)
    }

    /// Whether a source is a register with zeros.
    fn is_zero(&self, source: Source) -> bool {
        matches!(source, Source::Step(step) if self.steps[step].sources[..] == [Source::Constant(0)])
    }

    /// An instruction on unsigned halves.
    pub(super) fn half_step(&mut self, op: SimdOp, sources: [Source; 2]) -> Source {
        let (atype, btype) = (Sign::Unsigned, Sign::Unsigned);
        let form = Form::Simd(Simd { op, atype, btype, routing: Routing::plain(Lanes::Two) });
        let sources = sources.map(|source| self.register(source));
        self.push(Step::video(form, &sources))
    }
}

impl Halves {
    /// The same number in all lanes.
    pub(super) fn of(number: i64) -> Self {
        let bias = bias_of([number; 2]);
        Self { words: [constant((number + bias) * BOTH); 2], bias, limits: [number; 2] }
    }

    /// Whether some may be negative numbers as they are.
    pub(super) const fn is_signed(&self) -> bool {
        self.limits[0] + self.bias < 0
    }

    /// The number, if it is known and the same in all lanes.
    pub(super) fn number(&self) -> Option<i64> {
        (self.limits[0] == self.limits[1]).then_some(self.limits[0])
    }

    /// The same, knowing that the numbers are within some limits.
    pub(super) fn clamped(self, [least, most]: Limits) -> Self {
        Self { limits: [self.limits[0].max(least), self.limits[1].min(most)], ..self }
    }
}

/// Whether halves can be numbers within these limits.
pub(super) const fn fit(limits: &Limits) -> bool {
    let bias = bias_of(*limits);
    limits[0] + bias >= 0 && limits[1] + bias <= MOST
}

/// The bias of numbers within these limits: one bit, the highest if that leaves room for the greatest number.
pub(super) const fn bias_of([least, most]: Limits) -> i64 {
    if least >= 0 {
        0
    } else if least < -BIAS || most < BIAS {
        BIAS
    } else {
        least.unsigned_abs().next_power_of_two().cast_signed()
    }
}

/// A number of 32 bits.
pub(in super::super) fn constant(number: i64) -> Source {
    Source::Constant((number & 0xffff_ffff).cast_unsigned())
}

/// Numbers of all lanes as halves, in turns.
pub(super) fn in_turns(numbers: &[i64]) -> [Source; 2] {
    [0, 1].map(|at| constant((numbers[at] & MOST) | (numbers[at + 2] & MOST) << 16))
}
