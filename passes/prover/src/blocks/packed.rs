//! Words of the new side that hold lanes of registers of the old side, wherever paths join.
//!
//! A new function may carry in one word what the old one carries in several registers, so no register of the old side
//! holds the same. The word is taken for one of the old side too, which nothing there names: at every moment it holds
//! the lowest bits of these registers side by side. That defines it, so it changes nothing of what the old function
//! does. From then on it is a register like all others: where paths join, both sides are assumed to hold the same in
//! it, which is shown on every edge, and given up where it cannot be shown.
//!
//! What is assumed of a word appears in terms as the registers of which it is made, so it is shown in any case, and not
//! only if a proof is found to use it.

use super::Stop;
use super::registers::RegisterId;
use super::relation::{Place, Relation};
use super::walk::Held;
use ptxopt_grammar::names::Part;
use ptxopt_grammar::tree::DeclId;
use std::collections::BTreeMap;

/// How many bits a word has.
const WIDTH: u32 = 32;

/// A word of a new function that holds the lowest bits of registers of the old one, the first of them lowest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Packed {
    /// Its name. It is declared where the body begins, and the old function has no register of this name.
    pub word: String,
    /// The registers, as the old text declares them: two halves or four bytes.
    pub parts: Vec<(DeclId, Part)>,
}

/// By word, what it is made of.
pub(super) type Words = BTreeMap<RegisterId, Vec<RegisterId>>;

impl Relation<'_, '_, '_> {
    /// Finds the words and what they are made of, all names being known.
    pub(super) fn resolve(&mut self, packed: &[Packed]) -> Result<(), Stop> {
        for Packed { word, parts } in packed {
            let walk = &mut self.walk;
            let Some(word) = walk.registers.outermost(word, WIDTH) else { continue };
            let names = &mut walk.sides[0].names;
            if names.has(word) {
                return Err(Stop::plain("a word that stands for registers of the first file is one of them"));
            }
            let parts: Option<Vec<RegisterId>> =
                parts.iter().map(|&(decl, part)| names.register(&mut walk.registers, decl, part)).collect();
            let parts = parts.filter(|parts| matches!(parts.len(), 2 | 4));
            let lanes = parts.as_ref().map_or(0, |parts| WIDTH / lanes(parts));
            let fits = |part: &RegisterId| walk.registers.width(*part) >= lanes;
            let parts = parts.filter(|parts| parts.iter().all(fits));
            self.words.insert(word, parts.ok_or_else(|| Stop::plain("a word is made of strange registers"))?);
        }
        Ok(())
    }

    /// What a word holds on the old side; `None` for other registers, or if one was never written that it is made of.
    pub(super) fn word(&mut self, word: RegisterId) -> Option<Held> {
        let parts = self.words.get(&word)?;
        let held: Vec<Held> = parts.iter().map(|&part| self.walk.held(0, part)).collect::<Option<_>>()?;
        let (bits, terms) = (WIDTH / lanes(parts), &mut self.walk.arena.terms);
        let lanes: Vec<Held> =
            held.into_iter().map(|held| Held { value: terms.extract(held.value, 0, bits), ..held }).collect();
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

/// How many lanes a word has that is made of these.
fn lanes(parts: &[RegisterId]) -> u32 {
    u32::try_from(parts.len()).expect("a word has two or four lanes")
}

#[cfg(test)]
mod tests;
