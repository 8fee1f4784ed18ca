//! Moves, with vectors put together and taken apart.
//!
//! The widths of the parts must add up to the width of the whole, as the manual demands; other moves are not decoded.

use super::{Decoder, Words};
use crate::code::{Class, Op};
use crate::lanes::Lane as L;
use ptxopt_grammar::names::Type;
use ptxopt_grammar::tree::{NodeId, NodeKind};

impl Decoder<'_, '_> {
    pub(super) fn mov(&mut self, words: &Words<'_>, operands: &[NodeId]) -> Option<()> {
        Self::only(words, &[])?;
        Self::count(operands, 2)?;
        let [ty] = words.types()[..] else { return None };
        if ty == Type::Pred {
            let d = self.target(operands[0], Class::Predicate)?;
            let (a, negated) = self.source_predicate(operands[1])?;
            self.emit(Op::Logic, [d.index, a, a, a, if negated { 0x01 } else { 0x80 }]);
            return Some(());
        }
        let vector = |node| self.module.node_kind(node) == NodeKind::Vector;
        match (vector(operands[0]), vector(operands[1])) {
            (false, false) if ty.bits()? <= 32 => self.words_to_word(L::Mov32, operands, ty.bits()?),
            (false, false) if ty.bits()? == 64 => self.longs_to_long(L::Mov64, operands),
            (false, true) => self.pack(operands, ty.bits()?),
            (true, false) => self.unpack(operands, ty.bits()?),
            _ => None,
        }
    }

    fn pack(&mut self, operands: &[NodeId], bits: u32) -> Option<()> {
        let parts = self.module.children(operands[1]);
        match (bits, parts.len()) {
            (64, 2) => {
                let d = self.target(operands[0], Class::Long)?;
                let (a, b) = (self.word(parts[0], 32)?, self.word(parts[1], 32)?);
                self.lane(L::Pack32, [d.index, a, b, 0, 0]);
            }
            (32, 2) => {
                let d = self.target(operands[0], Class::Word).filter(|d| d.bits == 32)?;
                let (a, b) = (self.word(parts[0], 16)?, self.word(parts[1], 16)?);
                self.lane(L::Pack16, [d.index, a, b, 0, 0]);
            }
            (64, 4) => {
                let d = self.target(operands[0], Class::Long)?;
                let mut halves = [0; 2];
                for (half, pair) in halves.iter_mut().zip(parts.chunks(2)) {
                    let (a, b) = (self.word(pair[0], 16)?, self.word(pair[1], 16)?);
                    *half = self.temporary(Class::Word, 32).index;
                    self.lane(L::Pack16, [*half, a, b, 0, 0]);
                }
                self.lane(L::Pack32, [d.index, halves[0], halves[1], 0, 0]);
            }
            (32, 4) => {
                let d = self.target(operands[0], Class::Word).filter(|d| d.bits == 32)?;
                let mut slots = [0; 4];
                for (slot, &part) in slots.iter_mut().zip(&parts) {
                    *slot = self.word(part, 8)?;
                }
                self.lane(L::Pack4, [d.index, slots[0], slots[1], slots[2], slots[3]]);
            }
            (16, 2) => {
                let d = self.target(operands[0], Class::Word).filter(|d| d.bits == 16)?;
                let (a, b) = (self.word(parts[0], 8)?, self.word(parts[1], 8)?);
                self.lane(L::Pack8, [d.index, a, b, 0, 0]);
            }
            _ => return None,
        }
        Some(())
    }

    fn unpack(&mut self, operands: &[NodeId], bits: u32) -> Option<()> {
        let parts = self.module.children(operands[0]);
        let count = u32::try_from(parts.len()).ok()?;
        if count == 0 || !bits.is_multiple_of(count) || bits > 64 {
            return None;
        }
        let part_bits = bits / count;
        // Every part is a shift and a cut of a copy, so that a part may replace the source.
        let source = if bits == 64 {
            let copy = self.temporary(Class::Long, 64).index;
            let source = self.long(operands[1])?;
            self.lane(L::Mov64, [copy, source, 0, 0, 0]);
            copy
        } else {
            let copy = self.temporary(Class::Word, 32).index;
            let source = self.word(operands[1], bits)?;
            self.lane(L::Mov32, [copy, source, 0, 0, 0]);
            copy
        };
        let zero = self.constant_word(0);
        for (at, &part) in (0..).zip(&parts) {
            let d = self.target(part, Class::Word)?;
            if d.bits != part_bits && self.module.node_text(part) != b"_" {
                return None;
            }
            let shifted = if bits == 64 {
                let (long, low) =
                    (self.temporary(Class::Long, 64).index, self.temporary(Class::Word, 32).index);
                let amount = self.constant_word(at * part_bits);
                self.lane(L::ShrU64, [long, source, amount, 0, 0]);
                self.lane(L::Low32, [low, long, 0, 0, 0]);
                low
            } else {
                source
            };
            let offset = if bits == 64 { zero } else { self.constant_word(at * part_bits) };
            let length = self.constant_word(part_bits);
            self.lane(L::BfeU32, [d.index, shifted, offset, length, 0]);
        }
        Some(())
    }
}
