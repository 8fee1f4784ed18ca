//! The abstract value of a word: known bits, an unsigned and a signed range.
//!
//! A fact stands for all numbers that agree with its known bits and lie in both ranges. Every operation here gives a
//! fact that stands for at least the numbers it should, never fewer. The parts sharpen each other after every
//! change, which drops only numbers that another part has excluded already; a fact that no number fits has one
//! form, [`Fact::bottom`].

use ptxopt_grammar::meaning::term::{ones, signed};
use ptxopt_prover::Assumption;

/// How often the parts of a fact sharpen each other: it settles in two rounds nearly always, and stopping early only
/// keeps more numbers.
const ROUNDS: u32 = 4;

/// What is known of a word.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Fact {
    width: u32,
    /// The bits that are zero.
    zeros: u128,
    /// The bits that are one.
    ones: u128,
    /// The least and the greatest unsigned number.
    unsigned: (u128, u128),
    /// The least and the greatest signed number.
    signed: (i128, i128),
}

/// The least and the greatest signed number of `width` bits.
pub(super) const fn signed_limits(width: u32) -> (i128, i128) {
    let unused = 128 - width;
    (i128::MIN >> unused, i128::MAX >> unused)
}

impl Fact {
    /// How many numbers it is made of.
    pub(super) const NUMBERS: usize = 6;

    /// The numbers that it is made of, none with bits above the width.
    pub(super) fn numbers(&self) -> [u128; Self::NUMBERS] {
        let cut = |number: i128| number.cast_unsigned() & ones(self.width);
        let (low, high) = self.signed;
        [self.zeros, self.ones, self.unsigned.0, self.unsigned.1, cut(low), cut(high)]
    }

    /// What is made of these numbers.
    pub(super) fn of_numbers(numbers: [u128; Self::NUMBERS], width: u32) -> Self {
        let [zeros, ones, least, most, low, high] = numbers;
        let signed = (signed(low, width), signed(high, width));
        Self { width, zeros, ones, unsigned: (least, most), signed }
    }

    /// Nothing is known.
    #[must_use]
    pub fn top(width: u32) -> Self {
        assert!((1..=128).contains(&width), "a word has 1 to 128 bits, not {width}");
        Self { width, zeros: 0, ones: 0, unsigned: (0, ones(width)), signed: signed_limits(width) }
    }

    /// No number is possible: the value is never computed.
    #[must_use]
    pub fn bottom(width: u32) -> Self {
        let (least, greatest) = signed_limits(width);
        let all = ones(width);
        Self { width, zeros: all, ones: all, unsigned: (all, 0), signed: (greatest, least) }
    }

    /// This number; bits above the width are dropped.
    #[must_use]
    pub fn exact(value: u128, width: u32) -> Self {
        let value = value & ones(width);
        let number = signed(value, width);
        let zeros = !value & ones(width);
        Self { width, zeros, ones: value, unsigned: (value, value), signed: (number, number) }
    }

    /// The bits of `zeros` are zero and those of `ones` are one; a bit in both makes it unreachable.
    #[must_use]
    pub fn from_bits(zeros: u128, ones: u128, width: u32) -> Self {
        Self::top(width).with_bits(zeros, ones).refined()
    }

    /// An unsigned number of this range.
    #[must_use]
    pub fn from_unsigned(least: u128, greatest: u128, width: u32) -> Self {
        Self::top(width).with_unsigned(least, greatest).refined()
    }

    /// A signed number of this range.
    #[must_use]
    pub fn from_signed(least: i128, greatest: i128, width: u32) -> Self {
        Self::top(width).with_signed(least, greatest).refined()
    }

    /// These bits as well; to be refined.
    pub(super) fn with_bits(mut self, zeros: u128, ones_: u128) -> Self {
        self.zeros |= zeros & ones(self.width);
        self.ones |= ones_ & ones(self.width);
        self
    }

    /// This unsigned range as well; to be refined.
    pub(super) fn with_unsigned(mut self, least: u128, greatest: u128) -> Self {
        self.unsigned = (self.unsigned.0.max(least), self.unsigned.1.min(greatest));
        self
    }

    /// This signed range as well; to be refined.
    pub(super) fn with_signed(mut self, least: i128, greatest: i128) -> Self {
        self.signed = (self.signed.0.max(least), self.signed.1.min(greatest));
        self
    }

    /// How many bits the word has.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.width
    }

    /// The bits that are known to be zero.
    #[must_use]
    pub fn zeros(&self) -> u128 {
        self.zeros
    }

    /// The bits that are known to be one.
    #[must_use]
    pub fn ones(&self) -> u128 {
        self.ones
    }

    /// The bits that are known, and their values.
    #[must_use]
    pub fn known(&self) -> (u128, u128) {
        (self.zeros | self.ones, self.ones)
    }

    /// The least and the greatest unsigned number; the least is greater if the fact is unreachable.
    #[must_use]
    pub fn unsigned(&self) -> (u128, u128) {
        self.unsigned
    }

    /// The least and the greatest signed number; the least is greater if the fact is unreachable.
    #[must_use]
    pub fn signed(&self) -> (i128, i128) {
        self.signed
    }

    /// The number, if there is only one.
    #[must_use]
    pub fn constant(&self) -> Option<u128> {
        (self.unsigned.0 == self.unsigned.1).then_some(self.unsigned.0)
    }

    /// Whether the number, which has no bits above the width, is possible.
    #[must_use]
    pub fn contains(&self, value: u128) -> bool {
        let number = signed(value, self.width);
        value & self.zeros == 0
            && !value & self.ones == 0
            && (self.unsigned.0..=self.unsigned.1).contains(&value)
            && (self.signed.0..=self.signed.1).contains(&number)
    }

    /// Whether nothing is known.
    #[must_use]
    pub fn is_top(&self) -> bool {
        *self == Self::top(self.width)
    }

    /// Whether no number is possible.
    #[must_use]
    pub fn is_bottom(&self) -> bool {
        self.unsigned.0 > self.unsigned.1
    }

    /// What holds if either holds, for a value that comes from two places.
    #[must_use]
    pub fn join(&self, other: &Self) -> Self {
        if self == other { *self } else { self.hull(other).refined() }
    }

    /// [`Self::join`] without sharpening.
    fn hull(&self, other: &Self) -> Self {
        assert_eq!(self.width, other.width, "only words of one width meet");
        if self.is_bottom() {
            return *other;
        }
        if other.is_bottom() {
            return *self;
        }
        Self {
            width: self.width,
            zeros: self.zeros & other.zeros,
            ones: self.ones & other.ones,
            unsigned: (self.unsigned.0.min(other.unsigned.0), self.unsigned.1.max(other.unsigned.1)),
            signed: (self.signed.0.min(other.signed.0), self.signed.1.max(other.signed.1)),
        }
    }

    /// What holds if both hold.
    #[must_use]
    pub fn meet(&self, other: &Self) -> Self {
        assert_eq!(self.width, other.width, "only words of one width meet");
        self.with_bits(other.zeros, other.ones)
            .with_unsigned(other.unsigned.0, other.unsigned.1)
            .with_signed(other.signed.0, other.signed.1)
            .refined()
    }

    /// A [`Self::join`] of which every chain ends: what a loop feeds back is widened, with what was known before as
    /// `old`.
    ///
    /// An end of a range that still moves is dropped to what the known bits imply. So each step that changes
    /// something loses a known bit, of which there are at most as many as bits, or moves one of four ends to where
    /// only the loss of a known bit moves it again. For that to hold the result is not sharpened.
    #[must_use]
    pub fn widen(old: &Self, new: &Self) -> Self {
        if old.is_bottom() {
            return *new;
        }
        let mut wide = old.hull(new);
        let implied = Self::top(wide.width).with_bits(wide.zeros, wide.ones).ends_from_bits();
        if wide.unsigned.0 < old.unsigned.0 {
            wide.unsigned.0 = implied.unsigned.0;
        }
        if wide.unsigned.1 > old.unsigned.1 {
            wide.unsigned.1 = implied.unsigned.1;
        }
        if wide.signed.0 < old.signed.0 {
            wide.signed.0 = implied.signed.0;
        }
        if wide.signed.1 > old.signed.1 {
            wide.signed.1 = implied.signed.1;
        }
        wide
    }

    /// The fact as the prover takes it; `None` if it is unreachable, as that would prove everything.
    #[must_use]
    pub fn assumption(&self) -> Option<Assumption> {
        if self.is_bottom() {
            return None;
        }
        let all = Self::top(self.width);
        Some(Assumption {
            known: self.zeros | self.ones,
            value: self.ones,
            unsigned: (self.unsigned != all.unsigned).then_some(self.unsigned),
            signed: (self.signed != all.signed).then_some(self.signed),
        })
    }

    /// Each part sharpened by the others.
    #[must_use]
    pub(super) fn refined(mut self) -> Self {
        for _round in 0..ROUNDS {
            let before = self;
            self.exchange_ranges();
            if self.contradicts() {
                return Self::bottom(self.width);
            }
            self.bits_from_range();
            if self.contradicts() {
                return Self::bottom(self.width);
            }
            self = self.ends_from_bits();
            if self.contradicts() {
                return Self::bottom(self.width);
            }
            if self == before {
                break;
            }
        }
        self
    }

    fn contradicts(&self) -> bool {
        self.zeros & self.ones != 0 || self.unsigned.0 > self.unsigned.1 || self.signed.0 > self.signed.1
    }

    /// The bits that both ends of the unsigned range share from the top are shared by all between them. A signed
    /// range with such bits is on one side of zero, where the unsigned range is the same.
    fn bits_from_range(&mut self) {
        let (least, greatest) = self.unsigned;
        let free = 128 - (least ^ greatest).leading_zeros();
        let shared = ones(self.width) & !ones_below(free);
        self.zeros |= !least & shared;
        self.ones |= least & shared;
    }

    /// Each end moved to the next number that has the known bits; an empty range where there is none.
    fn ends_from_bits(mut self) -> Self {
        let all = ones(self.width);
        if let Some(ends) = rounded(self.unsigned, self.zeros, self.ones, all) {
            self.unsigned = ends;
        } else {
            self.unsigned = (all, 0);
        }
        // With the sign inverted, signed numbers are in the order of unsigned ones.
        let sign = 1 << (self.width - 1);
        let swapped = |a: u128, b: u128| a & !sign | b & sign;
        let biased = |number: i128| number.cast_unsigned() & all ^ sign;
        let ends = (biased(self.signed.0), biased(self.signed.1));
        let (zeros, ones) = (swapped(self.zeros, self.ones), swapped(self.ones, self.zeros));
        if let Some((least, greatest)) = rounded(ends, zeros, ones, all) {
            self.signed = (signed(least ^ sign, self.width), signed(greatest ^ sign, self.width));
        } else {
            let (least, greatest) = signed_limits(self.width);
            self.signed = (greatest, least);
        }
        self
    }

    /// The ranges sharpened by each other. One that does not cross the border of the other kind is a range of that
    /// kind too; one that does is two pieces, and may keep only one of them.
    fn exchange_ranges(&mut self) {
        let all = ones(self.width);
        let (mut least, mut greatest) = self.unsigned;
        let (mut lowest, mut highest) = self.signed;
        let (from, to) = (lowest.cast_unsigned() & all, highest.cast_unsigned() & all);
        if (lowest < 0) == (highest < 0) {
            (least, greatest) = (least.max(from), greatest.min(to));
        } else if lowest < 0 {
            if least > to {
                least = least.max(from);
            }
            if greatest < from {
                greatest = greatest.min(to);
            }
        }
        let (from, to) = (signed(least, self.width), signed(greatest, self.width));
        if (from < 0) == (to < 0) {
            (lowest, highest) = (lowest.max(from), highest.min(to));
        } else if from >= 0 {
            if lowest > to {
                lowest = lowest.max(from);
            }
            if highest < from {
                highest = highest.min(to);
            }
        }
        (self.unsigned, self.signed) = ((least, greatest), (lowest, highest));
    }
}

/// The number whose lowest `count` bits, at most 128, are set.
fn ones_below(count: u32) -> u128 {
    if count == 0 { 0 } else { ones(count) }
}

/// The ends of a range moved inwards to numbers with these known bits; `None` if there are none.
fn rounded((least, greatest): (u128, u128), zeros: u128, ones: u128, all: u128) -> Option<(u128, u128)> {
    let least = round_up(least, zeros, ones, all)?;
    let greatest = !round_up(!greatest & all, ones, zeros, all)? & all;
    Some((least, greatest))
}

/// The least number from `least` on that has these known bits.
fn round_up(least: u128, zeros: u128, ones: u128, all: u128) -> Option<u128> {
    let wrong = (least & zeros | !least & ones) & all;
    if wrong == 0 {
        return Some(least);
    }
    // Above the highest wrong bit everything may stay. If that bit must be set, setting it is enough; if it must
    // not, the number has to grow at the lowest free place above. Below, the known ones are the least.
    let place = wrong.ilog2();
    let place = if least >> place & 1 == 0 {
        place
    } else {
        let free = !least & !zeros & all & !ones_below(place + 1);
        if free == 0 {
            return None;
        }
        free.trailing_zeros()
    };
    Some(least & !ones_below(place + 1) | 1 << place | ones & ones_below(place))
}
