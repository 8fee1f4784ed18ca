//! Sets of the inputs that gates depend on.

use std::ops::{BitAnd, BitOr, Not};

/// How many words a set has.
const WORDS: usize = 6;

/// Numbers of free bits of inputs, as a set.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Support([u128; WORDS]);

impl Support {
    /// No inputs.
    pub(super) const NONE: Self = Self([0; WORDS]);

    /// One input; `None` if its number is too large.
    pub(super) fn of(input: usize) -> Option<Self> {
        let mut words = [0; WORDS];
        *words.get_mut(input / 128)? = 1 << (input % 128);
        Some(Self(words))
    }

    pub(super) fn is_empty(self) -> bool {
        self == Self::NONE
    }

    /// How many inputs there are.
    pub(super) fn count(self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Whether the sets have an input in common.
    pub(super) fn meets(self, other: Self) -> bool {
        !(self & other).is_empty()
    }
}

impl BitAnd for Support {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] & other.0[at]))
    }
}

impl BitOr for Support {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] | other.0[at]))
    }
}

impl Not for Support {
    type Output = Self;

    fn not(self) -> Self {
        Self(self.0.map(|word| !word))
    }
}
