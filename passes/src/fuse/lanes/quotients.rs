//! Lanes that are another lane multiplied by a fraction, rounded in any way: bits of a multiple and a number.
//!
//! Compilers divide by a constant in four or five ways, and none is much like another; what a lane becomes is the same.
//! So a multiple of 16 bits is looked for that gives all 256 results, and two lanes of a word are multiplied at a time.

use super::scaled::BOTH;
use super::words::Words;
use crate::recipe::{Source, Step};
use ptxopt_grammar::table::instruction::op;

/// How many bits a lane has.
const BITS: u32 = 8;

/// The greatest lane.
const GREATEST: i64 = (1 << BITS) - 1;

/// The distance of the results that are looked at first: those of most functions do not rise all the way.
const STRIDE: u32 = 15;

/// `lane * factor + number >> low`, of a multiple that fits into a half.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Quotient {
    factor: i64,
    number: i64,
    low: u32,
}

impl Quotient {
    /// That which gives the same as a function of lanes, if there is one; `results` are those of some lanes.
    pub(super) fn of(results: impl Fn(&[u32]) -> Vec<u32>) -> Option<Self> {
        let some: Vec<u32> = (0..=u8::MAX.into()).step_by(STRIDE as usize).collect();
        if !is_monotone(&results(&some)) {
            return None;
        }
        let all: Vec<u32> = (0..=u8::MAX.into()).collect();
        let all: Vec<i64> = results(&all).into_iter().map(i64::from).collect();
        // Bytes that begin where the upper half of a number does need no shift, and those that end below the next lane no
        // mask.
        let lows = [BITS].into_iter().chain(0..BITS).chain(BITS + 1..2 * BITS);
        lows.filter_map(|low| Self::with_low(&all, low)).next()
    }

    /// The same with a given first bit.
    fn with_low(results: &[i64], low: u32) -> Option<Self> {
        let (first, last) = (*results.first()?, *results.last()?);
        // Where the multiples of the two ends may lie, at least and at most.
        let unit = 1_i64 << low;
        let around = |rise: i64| rise * unit / GREATEST;
        let factors = around(last - first - 1) - 1..=around(last - first + 1) + 1;
        let fits = |factor: i64| {
            let bounds = results.iter().zip(0..).map(|(result, lane)| {
                let least = result * unit - factor * lane;
                (least, least + unit - 1)
            });
            let (least, most) = bounds
                .fold((i64::MIN, i64::MAX), |(least, most), (low, high)| (least.max(low), most.min(high)));
            // None is best.
            let number = 0_i64.clamp(least, most.max(least));
            let ends = [number, number + factor * GREATEST];
            let stays = ends.iter().all(|end| (0..=u16::MAX.into()).contains(end));
            (least <= most && stays).then_some(Self { factor, number, low })
        };
        let found = factors.filter(|&factor| factor != 0).filter_map(fits);
        found.min_by_key(|quotient| quotient.number != 0)
    }
}

/// Whether results rise or fall all the way, and are not all the same.
fn is_monotone(results: &[u32]) -> bool {
    (results.is_sorted() || results.iter().rev().is_sorted()) && results.first() != results.last()
}

impl Words {
    /// A quotient of all lanes of a word.
    pub(super) fn quotient_of(&mut self, quotient: Quotient, word: Source) -> Source {
        let Quotient { factor, number, low } = quotient;
        let word = self.register(word);
        let constant = |value: i64| Source::Constant((value & i64::from(u32::MAX)).cast_unsigned());
        let halves = [self.even_lanes(word), self.odd_lanes(word)];
        let [even, odd] = halves.map(|halves| {
            let total = (number != 0).then(|| constant(number * BOTH));
            self.plus(total, halves, Some(constant(factor)).filter(|_| factor != 1))
        });
        if low <= BITS {
            return self.interleaved(even, odd, low);
        }
        // What is left of a half has fewer bits than a lane.
        let left = Source::Constant((u64::from(u16::MAX) >> low) * BOTH.cast_unsigned());
        let [even, odd] = [even, odd].map(|halves| {
            let moved = self.push(Step::plain(op::SHR_U32, &[halves, Source::Constant(low.into())]));
            self.push(Step::plain(op::AND_B32, &[moved, left]))
        });
        self.interleaved(even, odd, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(function: impl Fn(i64) -> i64) -> Option<(i64, i64, u32)> {
        let result = |lane: u32| u32::try_from(function(lane.into())).expect("it is a byte");
        let Quotient { factor, number, low } =
            Quotient::of(|lanes| lanes.iter().copied().map(result).collect())?;
        let all = 0..=GREATEST;
        assert!(all.into_iter().all(|lane| (lane * factor + number) >> low == function(lane)));
        Some((factor, number, low))
    }

    #[test]
    fn quotients_by_numbers_are_multiples() {
        assert_eq!(of(|x| x / 3), Some((85, 85, 8)));
        assert_eq!(of(|x| x / 10), Some((51, 50, 9)));
        assert_eq!(of(|x| x / 100), Some((41, 0, 12)));
    }

    #[test]
    fn fractions_and_levels_are_too() {
        assert_eq!(of(|x| x * 2 / 3), Some((171, 0, 8)));
        assert_eq!(of(|x| 16 + x * 2 / 3), Some((171, 16 << 8, 8)));
        assert_eq!(of(|x| 255 - x / 2).map(|(factor, ..)| factor < 0), Some(true));
    }

    #[test]
    fn what_is_no_multiple_is_none() {
        assert_eq!(of(|x| x * x / 255), None);
        assert_eq!(of(|x| x * 219 / 255), None, "the multiple has more bits");
        assert_eq!(of(|x| if x < 100 { x } else { 100 }), None);
        assert_eq!(of(|x| x / 51 * 51), None);
        assert_eq!(of(|_| 7), None);
    }
}
