//! Lanes that are another lane multiplied by a fraction, rounded in any way and clamped: bits of a multiple and a number.
//!
//! Compilers divide by a constant in four or five ways, and none is much like another; what a lane becomes is the same.
//! So a multiple of 16 bits is looked for that gives all 256 results, and two lanes of a word are multiplied at a time.
//! Where results end before lanes do, as those of levels and contrast, lanes are clamped first.

use super::scaled::BOTH;
use super::words::Words;
use crate::recipe::{Source, Step};
use ptxopt_grammar::table::instruction::op;

/// How many bits a lane has.
const BITS: u32 = 8;

/// The distance of the results that are looked at first: those of most functions do not rise all the way.
const STRIDE: u32 = 15;

/// `lane * factor + number >> low`, of a multiple that fits into a half.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Quotient {
    factor: i64,
    number: i64,
    low: u32,
}

/// A quotient of a lane that is clamped first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Clamped {
    pub(super) quotient: Quotient,
    /// The least and the greatest lane that there is then.
    pub(super) ends: [u32; 2],
}

impl Clamped {
    /// That which gives the same as a function of lanes, if there is one; `results` are those of some lanes. What is
    /// clamped least is best.
    pub(super) fn of(results: impl Fn(&[u32]) -> Vec<u32>) -> Option<Self> {
        let some: Vec<u32> = (0..=u8::MAX.into()).step_by(STRIDE as usize).collect();
        if !is_monotone(&results(&some)) {
            return None;
        }
        let all: Vec<u32> = (0..=u8::MAX.into()).collect();
        let all: Vec<i64> = results(&all).into_iter().map(i64::from).collect();
        let first = all.iter().rposition(|result| *result == all[0])?;
        let last = all.iter().position(|result| all.last() == Some(result))?;
        let greatest = all.len() - 1;
        let all_ends = [[0, greatest], [0, last], [first, greatest], [first, last]];
        all_ends.into_iter().find_map(|[least, most]| {
            let results = all.get(least..=most).filter(|results| results.len() > 2)?;
            let quotient = Quotient::of(results, i64::try_from(least).ok()?)?;
            Some(Self { quotient, ends: [u32::try_from(least).ok()?, u32::try_from(most).ok()?] })
        })
    }
}

impl Quotient {
    /// That which has these results for lanes from the first one on.
    fn of(results: &[i64], first: i64) -> Option<Self> {
        // Bytes that begin where the upper half of a number does need no shift, and those that end below the next lane no
        // mask.
        let mut lows = [BITS].into_iter().chain(0..BITS).chain(BITS + 1..2 * BITS);
        lows.find_map(|low| Self::with_low(results, first, low))
    }

    /// The same with a given first bit.
    fn with_low(results: &[i64], lane: i64, low: u32) -> Option<Self> {
        let (first, last) = (*results.first()?, *results.last()?);
        let distance = i64::try_from(results.len()).ok()? - 1;
        // Where the multiples of the two ends may lie, at least and at most.
        let unit = 1_i64 << low;
        let around = |rise: i64| rise * unit / distance;
        let factors = around(last - first - 1) - 1..=around(last - first + 1) + 1;
        let fits = |factor: i64| {
            let bounds = results.iter().zip(lane..).map(|(result, lane)| {
                let least = result * unit - factor * lane;
                (least, least + unit - 1)
            });
            let (least, most) = bounds
                .fold((i64::MIN, i64::MAX), |(least, most), (low, high)| (least.max(low), most.min(high)));
            // None is best.
            let number = 0_i64.clamp(least, most.max(least));
            let ends = [lane, lane + distance].map(|lane| number + factor * lane);
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

    const WHOLE: [u32; 2] = [0, 255];

    /// The factor, the number and the first bit, and between which ends lanes are clamped.
    fn of(function: impl Fn(i64) -> i64) -> Option<((i64, i64, u32), [u32; 2])> {
        let result = |lane: u32| u32::try_from(function(lane.into())).expect("it is a byte");
        let Clamped { quotient: Quotient { factor, number, low }, ends } =
            Clamped::of(|lanes| lanes.iter().copied().map(result).collect())?;
        let at = |lane: i64| lane.clamp(ends[0].into(), ends[1].into()) * factor + number;
        assert!((0..256).all(|lane| at(lane) >> low == function(lane)));
        Some(((factor, number, low), ends))
    }

    #[test]
    fn quotients_by_numbers_are_multiples() {
        assert_eq!(of(|x| x / 3), Some(((85, 85, 8), WHOLE)));
        assert_eq!(of(|x| x / 10), Some(((51, 50, 9), WHOLE)));
        assert_eq!(of(|x| x / 100), Some(((41, 0, 12), WHOLE)));
    }

    #[test]
    fn fractions_and_levels_are_too() {
        assert_eq!(of(|x| x * 2 / 3), Some(((171, 0, 8), WHOLE)));
        assert_eq!(of(|x| 16 + x * 2 / 3), Some(((171, 16 << 8, 8), WHOLE)));
        assert_eq!(of(|x| 255 - x / 2).map(|((factor, ..), _)| factor < 0), Some(true));
    }

    #[test]
    fn results_may_end_before_lanes_do() {
        assert_eq!(of(|x| (x * 5 / 4).min(255)).map(|(_, ends)| ends), Some([0, 204]));
        assert_eq!(
            of(|x| ((((x - 128) * 3) >> 1) + 128).clamp(0, 255)).map(|(_, ends)| ends),
            Some([43, 213])
        );
        assert_eq!(of(|x| (x - 16).max(0) * 2 / 3).map(|(_, ends)| ends), Some([17, 255]));
    }

    #[test]
    fn what_is_no_multiple_is_none() {
        assert_eq!(of(|x| x * x / 255), None);
        assert_eq!(of(|x| x * 219 / 255), None, "the multiple has more bits");
        assert_eq!(of(|x| if x < 100 { x / 3 } else { x / 2 }), None);
        assert_eq!(of(|x| if x > 100 { 9 } else { 0 }), None, "all results lie at an end");
        assert_eq!(of(|x| x / 51 * 51), None);
        assert_eq!(of(|_| 7), None);
    }
}
