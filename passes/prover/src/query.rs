//! What is asked: whether two lists of words are equal for all inputs, on the bits that matter.
//!
//! Everything that the answer depends on is part of the question, so an answer can be remembered and used again.

use super::canonical::{low_half, mix};
use ptxopt_grammar::meaning::term::{Term, Terms, ones, signed};
use std::collections::{BTreeMap, BTreeSet};

/// A question to the prover. The two sides have the same number of results, with the same widths in pairs.
///
/// **Inputs that may be undefined.** A register that was never written may read differently at each use, so the
/// caller takes a new input number for *each read* of such a register and lists it in
/// [`Self::undefined`]. The prover adds one more safeguard: a listed input that occurs on both sides is two
/// unknowns, one for each side.
#[derive(Clone, Debug)]
pub struct Query<'t> {
    /// The arena of all terms below.
    pub terms: &'t Terms,
    /// The results as they are.
    pub before: Vec<Term>,
    /// The results as they would be.
    pub after: Vec<Term>,
    /// The bits of each result that are read; missing entries are all bits.
    pub demanded: Vec<u128>,
    /// What is known of inputs, by their number. Together they must be satisfiable by the inputs that they are
    /// about: what contradicts itself proves everything.
    pub assumptions: BTreeMap<u32, Assumption>,
    /// The inputs that may be undefined.
    pub undefined: BTreeSet<u32>,
    /// How much work to do at most.
    pub budget: Budget,
}

impl<'t> Query<'t> {
    /// Whether `before` equals `after` in all bits for all inputs.
    #[must_use]
    pub fn new(terms: &'t Terms, before: Vec<Term>, after: Vec<Term>) -> Self {
        Self {
            terms,
            before,
            after,
            demanded: Vec::new(),
            assumptions: BTreeMap::new(),
            undefined: BTreeSet::new(),
            budget: Budget::default(),
        }
    }

    /// The demanded bits of a result.
    pub(super) fn demanded(&self, result: usize) -> u128 {
        let all = ones(self.terms.width(self.before[result]));
        self.demanded.get(result).map_or(all, |demanded| demanded & all)
    }
}

/// What is known of an input.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Assumption {
    /// The bits that are known …
    pub known: u128,
    /// … and their values.
    pub value: u128,
    /// The least and the greatest value as an unsigned number.
    pub unsigned: Option<(u128, u128)>,
    /// The least and the greatest value as a signed number.
    pub signed: Option<(i128, i128)>,
}

impl Assumption {
    /// Nothing is known.
    pub const NONE: Self = Self { known: 0, value: 0, unsigned: None, signed: None };

    /// Whether a value of an input of this width is as assumed.
    #[must_use]
    pub fn admits(&self, value: u128, width: u32) -> bool {
        let number = signed(value, width);
        value & self.known == self.value & self.known
            && self.unsigned.is_none_or(|(low, high)| (low..=high).contains(&value))
            && self.signed.is_none_or(|(low, high)| (low..=high).contains(&number))
    }

    /// A number that tells assumptions apart.
    pub(super) fn fingerprint(&self) -> u64 {
        let (low, high) = self.unsigned.unwrap_or((1, 0));
        let (least, most) = self.signed.unwrap_or((1, 0));
        [self.known, self.value, low, high, least.cast_unsigned(), most.cast_unsigned()]
            .iter()
            .fold(0, |hash, &word| mix(mix(hash, low_half(word)), low_half(word >> 64)))
    }
}

/// How much effort of the solver a proof may take: in conflicts, which cost more where the circuit is large. That
/// repeats exactly, unlike time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Budget {
    /// For a single question to the solver.
    pub step: u64,
    /// For everything.
    pub total: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self { step: 300, total: 60_000 }
    }
}
