//! Words of the new side that hold lanes of registers of the old side, wherever paths join.
//!
//! A new function may carry in one word what the old one carries in several registers, so no register of the old side
//! holds the same; or in two words of halves what the old one carries in a word of bytes. The word is taken for one of
//! the old side too, which nothing there names: at every moment it holds these bits of these registers side by side.
//! That defines it, so it changes nothing of what the old function does. From then on it is a register like all others:
//! where paths join, both sides are assumed to hold the same in it, which is shown on every edge, and given up where it
//! cannot be shown.
//!
//! What is assumed of a word appears in terms as the registers of which it is made, so it is shown in any case, and not
//! only if a proof is found to use it.

pub use self::told::{comment, told};
use super::Stop;
use super::registers::RegisterId;
use super::relation::{Place, Relation};
use super::walk::Held;
use super::words::{BYTE, WORD};
use ptxopt_grammar::meaning::term::{Term, Terms, ones};
use ptxopt_grammar::names::Part;
use ptxopt_grammar::tree::DeclId;
use std::collections::BTreeMap;

/// A word of a new function that holds lanes of registers of the old one, the first of them lowest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Packed {
    /// Its name. It is declared where the body begins, and the old function has no register of this name.
    pub word: String,
    /// Two halves or four bytes.
    pub lanes: Vec<Lane<(DeclId, Part)>>,
}

/// What a lane of a word is made of, whose register is named in some way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lane<R> {
    /// The register.
    pub register: R,
    /// Which of its bytes the lane holds, with zeros above it; if none, it holds the lowest bits.
    pub byte: Option<u32>,
    /// The bits of the lane that are inverted.
    pub inverted: u32,
}

impl<R> Lane<R> {
    /// The lowest bits of a register.
    #[must_use]
    pub fn lowest(register: R) -> Self {
        Self { register, byte: None, inverted: 0 }
    }

    /// The same of a register that is named in another way.
    fn named<S>(&self, register: S) -> Lane<S> {
        Lane { register, byte: self.byte, inverted: self.inverted }
    }

    /// What the lane holds, of so many bits, when the register holds this.
    fn of(&self, terms: &mut Terms, value: Term, bits: u32) -> Term {
        let whole = match self.byte {
            Some(byte) => {
                let byte = terms.extract(value, byte * BYTE, BYTE);
                terms.zero_extend(byte, bits)
            }
            None => terms.extract(value, 0, bits),
        };
        let inverted = terms.constant(u128::from(self.inverted) & ones(bits), bits);
        terms.xor(whole, inverted)
    }

    /// How many bits a register must have for a lane of so many.
    fn least(&self, bits: u32) -> u32 {
        self.byte.map_or(bits, |byte| byte.saturating_add(1).saturating_mul(BYTE))
    }
}

/// By word, what it is made of.
pub(super) type Words = BTreeMap<RegisterId, Vec<Lane<RegisterId>>>;

impl Relation<'_, '_, '_> {
    /// Finds the words and what they are made of, all names being known; those of which that makes no sense are ignored.
    pub(super) fn resolve(&mut self, packed: &[Packed]) -> Result<(), Stop> {
        for Packed { word, lanes } in packed {
            let walk = &mut self.walk;
            let Some(word) = walk.registers.outermost(word, WORD) else { continue };
            let names = &mut walk.sides[0].names;
            if names.has(word) {
                return Err(Stop::plain("a word that stands for registers of the first file is one of them"));
            }
            let mut known = |lane: &Lane<(DeclId, Part)>| {
                let (decl, part) = lane.register;
                Some(lane.named(names.register(&mut walk.registers, decl, part)?))
            };
            let lanes: Option<Vec<Lane<RegisterId>>> = lanes.iter().map(&mut known).collect();
            let Some(lanes) = lanes.filter(|lanes| matches!(lanes.len(), 2 | 4)) else { continue };
            let bits = width(&lanes);
            if lanes.iter().all(|lane| walk.registers.width(lane.register) >= lane.least(bits)) {
                self.words.insert(word, lanes);
            }
        }
        Ok(())
    }

    /// What a word holds on the old side; `None` for other registers, or if one was never written that it is made of.
    pub(super) fn word(&mut self, word: RegisterId) -> Option<Held> {
        let lanes = self.words.get(&word)?;
        let bits = width(lanes);
        let held: Vec<(Lane<RegisterId>, Held)> = lanes
            .iter()
            .map(|&lane| Some((lane, self.walk.held(0, lane.register)?)))
            .collect::<Option<_>>()?;
        let terms = &mut self.walk.arena.terms;
        let lane =
            |(lane, held): (Lane<RegisterId>, Held)| Held { value: lane.of(terms, held.value, bits), ..held };
        let lanes: Vec<Held> = held.into_iter().map(lane).collect();
        lanes.into_iter().reduce(|low, high| Held {
            value: terms.concat(high.value, low.value),
            written: terms.and(high.written, low.written),
        })
    }

    /// Where something is assumed of words.
    pub(super) fn joined_words(&self) -> Vec<Place> {
        let is_assumed = |place: &Place| self.assumed.get(place).is_some_and(|meeting| meeting.bits != 0);
        self.incoming
            .keys()
            .filter(|place| self.words.contains_key(&place.1) && is_assumed(place))
            .copied()
            .collect()
    }
}

/// The bytes of a word as halves: the even and the odd ones, with zeros above them, and the same of signed bytes, to
/// which 128 is added.
pub(super) fn halves(terms: &mut Terms, word: Term) -> [Term; 4] {
    [(0, 0), (1, 0), (0, 128), (1, 128)].map(|(first, inverted)| {
        let lane = |byte| Lane { register: (), byte: Some(byte), inverted };
        let [low, high] = [first, first + 2].map(|byte| lane(byte).of(terms, word, WORD / 2));
        terms.concat(high, low)
    })
}

/// How many bits each lane of a word has.
fn width<R>(lanes: &[Lane<R>]) -> u32 {
    WORD / u32::try_from(lanes.len()).expect("a word has two or four lanes")
}

#[cfg(test)]
mod tests;
mod told;
