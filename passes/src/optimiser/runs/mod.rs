//! Runs of accesses to neighbouring bytes and halves as accesses to the words that these make up.
//!
//! Four loads of bytes become a load of their word, where the first of them stands, and moves of the bytes, where each
//! of them stands; four stores become a store of the word, where the last of them stands.
//!
//! It is sound because a run is no more than that:
//!
//! - Its bytes fill a word, none twice: the same bytes are read or written, and no others.
//! - The word is aligned. That follows from how variables and parameters are declared, from numbers, and from the lowest
//!   bits of what is added to them, which are known to be zero ([`crate::address`]). Of a pointer that the caller gives
//!   nothing is known.
//! - Accesses are weak, without a guard, in one block. That other threads access the bytes between the accesses is a
//!   data race, and a program that has one means nothing
//!   ([memory consistency](https://docs.nvidia.com/cuda/parallel-thread-execution/#memory-consistency-model)).
//! - Nothing between them may overlap or order: between loads, nothing writes to their state space, or to what may be any;
//!   between stores, nothing else writes memory at all, and nothing reads their state space; nor does any barrier,
//!   call, atomic operation, or other instruction with an effect come between.
//! - The address of the word is that of the access in whose place it is accessed, less a number, so its register holds
//!   it there. What is stored is read where it was read, unless its register still holds it at the end.
//!
//! All of that but the last part of the third is proved once more, by the block prover, before anything is written.

mod find;
mod spelled;

pub(super) use find::find;
pub(super) use spelled::are_possible;

use super::elements::{Holder, Place, WORD, put_together};
use super::words::Part;
use ptxopt_grammar::tree::StmtId;
use spelled::Way;
use std::collections::BTreeMap;

/// How many bytes a word has.
const BYTES: u64 = WORD as u64 / 8;

/// A run of accesses that are one to a word.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Run {
    /// In the order of the text.
    pieces: Vec<Piece>,
    way: Way,
    /// The operand that is the address of the word, in the first place for loads, in the last for stores.
    address: String,
}

/// An access to a part of a word.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Piece {
    stmt: StmtId,
    /// Each register, and where its element lies in the word.
    parts: Vec<(Part, Place)>,
    /// Whether what is stored must be read where the access stands.
    is_copied: bool,
}

impl Run {
    /// The first of the accesses.
    pub(super) fn first(&self) -> StmtId {
        self.pieces[0].stmt
    }

    /// The accesses, in the order of the text.
    pub(super) fn stmts(&self) -> impl Iterator<Item = StmtId> + '_ {
        self.pieces.iter().map(|piece| piece.stmt)
    }

    /// The statements that stand for each access; `fresh` makes the names of new registers of 32 bits.
    pub(super) fn lines(&self, fresh: &mut dyn FnMut() -> String) -> Vec<(StmtId, Vec<String>)> {
        let (word, opcode, address) = (fresh(), &self.way.opcode, &self.address);
        if self.way.is_load {
            let mut load = vec![format!("{opcode}.b32 {word}, {address};")];
            let moves = |piece: &Piece| {
                let mut lines = std::mem::take(&mut load);
                for (part, place) in &piece.parts {
                    lines.extend(part.taken_from(&word, *place, fresh));
                }
                (piece.stmt, lines)
            };
            return self.pieces.iter().map(moves).collect();
        }
        let mut stored: BTreeMap<usize, (u32, Holder)> = BTreeMap::new();
        let mut all = Vec::new();
        for piece in &self.pieces {
            let mut lines = Vec::new();
            for (part, place) in &piece.parts {
                let holder = &part.holder;
                let holder = if piece.is_copied { holder.widened(fresh, &mut lines) } else { holder.clone() };
                stored.insert(place.first, (place.bits, holder));
            }
            all.push((piece.stmt, lines));
        }
        let (_, lines) = all.last_mut().expect("a run has at least two accesses");
        put_together(&word, stored.into_values().collect(), fresh, lines);
        lines.push(format!("{opcode}.b32 {address}, {word};"));
        all
    }
}
