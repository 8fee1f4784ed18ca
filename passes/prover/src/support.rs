//! Sets of the inputs that gates depend on.

use super::aig::{Aig, Gate, Lit, Unwatched};
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

/// The free bits of inputs that each gate depends on which some of `roots` are made of; `None` if there are too many.
/// Only inputs that are reached are numbered, so sets of two answers are not comparable.
pub(super) fn supports(graph: &Aig<Unwatched>, roots: impl Iterator<Item = u32>) -> Option<Vec<Support>> {
    let (gates, reached) = (graph.gates(), graph.reached(roots));
    let mut inputs = 0;
    let mut all: Vec<Support> = Vec::with_capacity(gates.len());
    for (&gate, reached) in gates.iter().zip(reached) {
        let of = |lit: Lit| all[lit.node() as usize];
        all.push(match gate {
            _ if !reached => Support::NONE,
            Gate::False => Support::NONE,
            Gate::Input => {
                inputs += 1;
                Support::of(inputs - 1)?
            }
            Gate::And(a, b) | Gate::Xor(a, b) => of(a) | of(b),
        });
    }
    Some(all)
}
