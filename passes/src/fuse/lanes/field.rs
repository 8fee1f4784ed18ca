//! Lanes that are a field of another lane, multiplied and added to a number.
//!
//! A field is bits of a lane without what lies below and above them. As long as no multiple leaves its lane, all lanes of a
//! word are multiplied by multiplying the word. Fields are found by what one bit at a time does; as everywhere, what
//! is found is only proposed.

use super::words::Words;
use crate::recipe::{Source, Step};
use ptxopt_grammar::table::instruction::op;

/// `(lane >> low & mask) * factor + number`, which stays within a lane.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Field {
    low: u32,
    mask: u32,
    factor: i64,
    number: u32,
}

impl Field {
    /// The field that a function of lanes of so many bits takes, if it may be one.
    pub(super) fn of(bits: u32, mut function: impl FnMut(u32) -> u32) -> Option<Self> {
        let number = function(0);
        let mut weights = Vec::with_capacity(bits as usize);
        weights.extend((0..bits).map(|bit| i64::from(function(1 << bit)) - i64::from(number)));
        let lowest = weights.iter().position(|&weight| weight != 0)?;
        // The bits are moved down no further than the factor asks for.
        let place = u32::try_from(lowest).ok()?;
        let low = place.saturating_sub(weights[lowest].trailing_zeros());
        let factor = weights[lowest] >> (place - low);
        let is_in = |(bit, &weight): (usize, &i64)| {
            let times = (bit >= lowest).then(|| factor.checked_shl(u32::try_from(bit).ok()? - low))??;
            (weight == 0 || weight == times).then_some(u32::from(weight != 0) << bit)
        };
        let mask = weights.iter().enumerate().skip(lowest).map(is_in).sum::<Option<u32>>()? >> low;
        let most = i64::from(u32::MAX >> (32 - bits));
        let end = i64::from(number) + factor.checked_mul(mask.into())?;
        (0..=most).contains(&end).then_some(Self { low, mask, factor, number })
    }

    /// What it is where the highest bit of a lane is set, if it is that bit alone, and zero elsewhere.
    fn of_highest_bit(self, bits: u32) -> Option<u32> {
        let is_highest = self.mask << self.low == 1 << (bits - 1) && self.number == 0;
        u32::try_from(i64::from(self.mask) * self.factor).ok().filter(|_| is_highest)
    }

    /// What it is of a lane.
    pub(super) fn at(self, lane: u32) -> u32 {
        let times = i64::from(lane >> self.low & self.mask) * self.factor;
        u32::try_from(times + i64::from(self.number)).unwrap_or(u32::MAX)
    }
}

impl Words {
    /// A field of all lanes of a word.
    pub(super) fn field(&mut self, field: Field, word: Source) -> Source {
        let every = |words: &Self, lane: u32| Source::Constant(words.lanes.every(lane).into());
        let word = self.register(word);
        if let Some(times) = field.of_highest_bit(self.lanes.bits()) {
            let signs = self.signs(word);
            return self.push(Step::plain(op::AND_B32, &[signs, every(self, times)]));
        }
        let moved = match field.low {
            0 => word,
            low => self.push(Step::plain(op::SHR_U32, &[word, Source::Constant(low.into())])),
        };
        let kept = self.push(Step::plain(op::AND_B32, &[moved, every(self, field.mask)]));
        let factor = Source::Constant((field.factor & i64::from(u32::MAX)).cast_unsigned());
        let up = Source::Constant(field.factor.trailing_zeros().into());
        let is_power = field.factor > 0 && field.factor.count_ones() == 1;
        let step = match (field.factor, field.number) {
            (1, 0) => return kept,
            (1, number) => Step::plain(op::ADD_U32, &[kept, every(self, number)]),
            (_, 0) if is_power => Step::plain(op::SHL_B32, &[kept, up]),
            (_, 0) => Step::plain(op::MUL_LO_U32, &[kept, factor]),
            (_, number) => Step::plain(op::MAD_LO_U32, &[kept, factor, every(self, number)]),
        };
        self.push(step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(function: impl Fn(u32) -> u32) -> Option<Field> {
        let field = Field::of(8, |lane| function(lane) & 0xff)?;
        (0..256).all(|lane| field.at(lane) == function(lane) & 0xff).then_some(field)
    }

    #[test]
    fn a_field_is_moved_no_further_than_its_factor_asks_for() {
        assert_eq!(of(|x| (x >> 5) * 36), Some(Field { low: 3, mask: 0x1c, factor: 9, number: 0 }));
        assert_eq!(of(|x| x >> 1 & 3), Some(Field { low: 1, mask: 3, factor: 1, number: 0 }));
        assert_eq!(of(|x| (x & 15) * 17), Some(Field { low: 0, mask: 15, factor: 17, number: 0 }));
        assert_eq!(of(|x| (x & 6) << 4), Some(Field { low: 0, mask: 6, factor: 16, number: 0 }));
    }

    #[test]
    fn a_field_may_be_subtracted_from_a_number() {
        assert_eq!(of(|x| 200 - (x >> 6) * 5), Some(Field { low: 6, mask: 3, factor: -5, number: 200 }));
    }

    #[test]
    fn what_leaves_the_lane_or_is_not_linear_is_no_field() {
        assert_eq!(of(|x| (x >> 4) * 18), None);
        assert_eq!(of(|x| 10_u32.wrapping_sub(x & 15)), None);
        assert_eq!(of(|x| (x & 3) + (x >> 4)), None);
        assert_eq!(of(|x| (x & 15).pow(2)), None);
        assert_eq!(of(|_| 7), None);
    }
}
