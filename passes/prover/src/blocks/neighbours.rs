//! Accesses to the parts of a word, one after the other, that are one access to the word.
//!
//! Four loads of the bytes at `a` to `a + 3` read what a load of the word at `a` reads, and four stores write what a
//! store of the word writes, if
//!
//! - `a` is a multiple of four, or the access to the word would fail;
//! - the parts fill the word, none of them twice: the same bytes are read or written, no others;
//! - all of them are weak, and in one state space, through one cache operator, without a guard: that other threads may
//!   see or make changes between them is what a program without data races does not notice;
//! - nothing that may change what is read comes between the loads, and no other ordered event between the stores. A
//!   load between two of the stores has not the same ordered events before it when these are one, so it is refused where it is
//!   compared, unless the space it reads is another one.
//!
//! All addresses and the alignment are proved as everything else is. What is known of the addresses of variables and
//! parameters is how they were declared. A word that lies within a constant or a parameter of an entry may be read if only
//! some of its parts were: the rest is there too and never changes, and of what is read there nothing is known.

use super::Stop;
use super::events::Event;
use super::questions::Answer;
use super::shape::{Class, Shape};
use super::walk::Walk;
use super::words::{BYTE, Space, WORD};
use ptxopt_grammar::address;
use ptxopt_grammar::meaning::term::{Term, ones};
use ptxopt_grammar::tree::StmtId;

/// The bits of an address that are zero where a word is.
const WITHIN: u128 = (WORD / BYTE) as u128 - 1;

impl Walk<'_, '_> {
    /// What a load of a word reads, if loads of the old block read its parts.
    pub(super) fn load_of_parts(&mut self, stmt: StmtId, shape: &Shape) -> Result<Option<Term>, Stop> {
        if !self.is_word(shape) {
            return Ok(None);
        }
        let changes = self.changes[1].of(shape.space);
        let fits = |event: &Event| {
            !event.taken
                && event.shape.class == Class::Load
                && event.changes == changes
                && is_part(event, shape)
        };
        let parts: Vec<usize> = (0..self.events.len()).filter(|&at| fits(&self.events[at])).collect();
        let is_declared = self.is_declared(stmt, shape);
        let Some(parts) = self.in_order(&parts, shape, is_declared) else { return Ok(None) };
        self.is_aligned(stmt, shape)?;
        let mut results = Vec::with_capacity(parts.len());
        for part in parts {
            results.push(match part {
                Some(at) => self.events[at].results[0],
                None => self.arena.fresh(BYTE),
            });
            part.into_iter().for_each(|at| self.take(at, shape));
        }
        Ok(self.arena.terms.side_by_side(results))
    }

    /// Whether a word lies within a constant or a parameter of an entry, as that is declared.
    fn is_declared(&mut self, stmt: StmtId, shape: &Shape) -> bool {
        if !matches!(shape.space, Some(Space::Const | Space::Param)) {
            return false;
        }
        let names = &mut self.sides[1].names;
        let [_, node] = names.module.operands(stmt)[..] else { return false };
        let Some((base, first)) = address::parts(names.module, node) else { return false };
        let size = names.size(base);
        let end = first.checked_add(u64::from(WORD / BYTE));
        end.zip(size).is_some_and(|(end, size)| end <= size)
    }

    /// How many ordered events of the old block, from number `first` on, a store of a word is together, if these store
    /// its parts.
    pub(super) fn store_of_parts(
        &mut self,
        stmt: StmtId,
        first: usize,
        shape: &Shape,
    ) -> Result<Option<usize>, Stop> {
        if !self.is_word(shape) || !is_part(&self.events[first], shape) {
            return Ok(None);
        }
        let (mut parts, mut bits) = (Vec::new(), 0);
        let ordered =
            (first..self.events.len()).filter(|&at| matches!(self.events[at].shape.class, Class::Ordered(_)));
        for at in ordered {
            if bits >= WORD || !is_part(&self.events[at], shape) {
                break;
            }
            bits += self.events[at].shape.part.as_ref().map_or(0, |part| part.bits);
            parts.push(at);
        }
        let last = *parts.last().expect("the first is a part");
        let ordered = self.in_order(&parts, shape, false);
        let ordered: Option<Vec<usize>> = ordered.and_then(|ordered| ordered.into_iter().collect());
        let Some(ordered) = ordered.filter(|ordered| ordered.len() == parts.len()) else { return Ok(None) };
        self.is_aligned(stmt, shape)?;
        let values: Vec<Term> = ordered.iter().map(|&at| self.events[at].shape.operands[2]).collect();
        let old = self.arena.terms.side_by_side(values).expect("there is at least one part");
        if self.questions.equal(&mut self.arena, old, shape.operands[2], ones(WORD)) != Answer::Equal {
            let why = "stores a word that was not proved to be the parts that the first file stores";
            return Err(Stop::at(stmt, why).beside(self.events[first].stmt));
        }
        let count = ordered.len();
        ordered.into_iter().for_each(|at| self.take(at, shape));
        self.next = last + 1;
        Ok(Some(count))
    }

    /// Whether an access is to one whole word, and always executed.
    fn is_word(&self, shape: &Shape) -> bool {
        let is_word = shape.part.as_ref().is_some_and(|part| part.bits == WORD && part.whole == shape.text);
        is_word && self.arena.terms.value(shape.guard) == Some(1)
    }

    /// Those of some parts that fill the word of an access, the lowest first, if there are such. If bytes may be missing,
    /// nothing stands for each of them.
    fn in_order(
        &mut self,
        parts: &[usize],
        shape: &Shape,
        may_lack_bytes: bool,
    ) -> Option<Vec<Option<usize>>> {
        let address = shape.operands[1];
        let width = self.arena.terms.width(address);
        let (mut found, mut bits) = (Vec::new(), 0);
        while bits < WORD {
            let offset = self.arena.terms.constant(u128::from(bits / BYTE), width);
            let place = self.arena.terms.add(address, offset);
            let values = self.arena.values(place);
            let at = parts.iter().copied().find(|&at| {
                let old = self.events[at].shape.operands[1];
                self.arena.terms.width(old) == width
                    && self.arena.values(old) == values
                    && self.questions.equal(&mut self.arena, old, place, ones(width)) == Answer::Equal
            });
            bits += match at {
                Some(at) => self.events[at].shape.part.as_ref()?.bits,
                None if may_lack_bytes => BYTE,
                None => return None,
            };
            found.push(at);
        }
        (bits == WORD && found.iter().any(Option::is_some)).then_some(found)
    }

    /// Proves that the address of an access is a multiple of the size of a word.
    fn is_aligned(&mut self, stmt: StmtId, shape: &Shape) -> Result<(), Stop> {
        let address = shape.operands[1];
        let nothing = self.arena.terms.constant(0, self.arena.terms.width(address));
        match self.questions.equal(&mut self.arena, address, nothing, WITHIN) {
            Answer::Equal => Ok(()),
            Answer::Differs(_) | Answer::Unknown => {
                Err(Stop::at(stmt, "accesses a word whose alignment was not proved"))
            }
        }
    }
}

/// Whether an event of the old block accesses less than the word of an access, in the same way, and always.
fn is_part(event: &Event, shape: &Shape) -> bool {
    let (Some(part), Some(word)) = (&event.shape.part, &shape.part) else { return false };
    part.bits < WORD && part.whole == word.whole && event.shape.operands[0] == shape.operands[0]
}
