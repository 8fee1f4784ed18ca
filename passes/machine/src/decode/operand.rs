//! Operands as slots: registers, constants, addresses of variables, special registers.
//!
//! An operand is taken only if its register has the class and the width that the instruction reads, so an operation
//! never reads bits that the operand does not have.

use super::layout::Location;
use super::{Decoder, Words};
use crate::code::{Class, Op, Slot, Transfer};
use crate::lanes::Lane;
use crate::special;
use ptxopt_grammar::constant;
use ptxopt_grammar::names::{DeclKind, Part};
use ptxopt_grammar::tree::{DeclId, NodeId, NodeKind};

/// The bits of a floating-point literal, as an `f32` if `single`.
pub(super) fn float_bits(text: &[u8], single: bool) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?;
    let hex = |digits: &str| u64::from_str_radix(digits, 16).ok();
    match text.as_bytes() {
        [b'0', b'f' | b'F', ..] => {
            let bits = u32::try_from(hex(&text[2..])?).ok()?;
            Some(if single { bits.into() } else { f64::from(f32::from_bits(bits)).to_bits() })
        }
        [b'0', b'd' | b'D', ..] => {
            let bits = hex(&text[2..])?;
            Some(if single { u64::from((f64::from_bits(bits) as f32).to_bits()) } else { bits })
        }
        _ => {
            let value: f64 = text.parse().ok()?;
            Some(if single { u64::from((value as f32).to_bits()) } else { value.to_bits() })
        }
    }
}

impl Decoder<'_, '_> {
    /// The register that `node` writes; it must be one of `class`.
    pub(super) fn target(&mut self, node: NodeId, class: Class) -> Option<Slot> {
        if self.module.node_kind(node) != NodeKind::Name {
            return None;
        }
        if self.module.node_text(node) == b"_" {
            let bits = if class == Class::Long { 64 } else { 32 };
            return Some(self.temporary(class, bits));
        }
        self.slot(node).filter(|slot| slot.class == class)
    }

    /// The predicate that `node` names.
    pub(super) fn predicate(&mut self, node: NodeId) -> Option<u32> {
        let slot = self.slot(node)?;
        (slot.class == Class::Predicate).then_some(slot.index)
    }

    /// The predicate at `node` and whether it is negated.
    pub(super) fn source_predicate(&mut self, node: NodeId) -> Option<(u32, bool)> {
        if self.module.node_kind(node) == NodeKind::Complement {
            let inner = *self.module.children(node).first()?;
            return Some((self.predicate(inner)?, true));
        }
        Some((self.predicate(node)?, false))
    }

    /// The constant at `node`, if it is one.
    pub(super) fn constant(&self, node: NodeId, single: bool) -> Option<u64> {
        match self.module.node_kind(node) {
            NodeKind::Int | NodeKind::Constant => constant::value(self.module, node),
            NodeKind::Float => float_bits(self.module.node_text(node), single),
            _ => None,
        }
    }

    /// The word at `node`: a register of exactly `bits` bits, or a constant cut to them.
    pub(super) fn word(&mut self, node: NodeId, bits: u32) -> Option<u32> {
        if let Some(value) = self.constant(node, true) {
            let kept = if bits >= 32 { u32::MAX } else { (1 << bits) - 1 };
            return Some(self.constant_word(value as u32 & kept));
        }
        if let Some(slot) = self.slot(node) {
            return (slot.class == Class::Word && slot.bits == bits).then_some(slot.index);
        }
        if let Some(number) = self.special(node) {
            let slot = self.temporary(Class::Word, 32).index;
            self.emit(Op::Special32, [slot, 0, 0, 0, number]);
            return Some(slot);
        }
        let (place, plus) = self.address_of(node)?;
        let value = match place {
            Location::Frame(offset, _) => {
                let slot = self.temporary(Class::Word, 32).index;
                let offset = u32::try_from(i64::from(offset) + plus).ok()?;
                self.emit(Op::LocalAddress32, [slot, 0, 0, 0, offset]);
                return Some(slot);
            }
            place => self.fixed(place)?.wrapping_add_signed(plus),
        };
        Some(self.constant_word(u32::try_from(value).ok()?))
    }

    /// The long at `node`: a 64-bit register or a constant.
    pub(super) fn long(&mut self, node: NodeId) -> Option<u32> {
        if let Some(value) = self.constant(node, false) {
            return Some(self.constant_long(value));
        }
        if let Some(slot) = self.slot(node) {
            return (slot.class == Class::Long).then_some(slot.index);
        }
        if let Some(number) = self.special(node) {
            let slot = self.temporary(Class::Long, 64).index;
            self.emit(Op::Special64, [slot, 0, 0, 0, number]);
            return Some(slot);
        }
        let (place, plus) = self.address_of(node)?;
        if let Location::Frame(offset, _) = place {
            let slot = self.temporary(Class::Long, 64).index;
            let offset = u32::try_from(i64::from(offset) + plus).ok()?;
            self.emit(Op::LocalAddress64, [slot, 0, 0, 0, offset]);
            return Some(slot);
        }
        let value = self.fixed(place)?.wrapping_add_signed(plus);
        Some(self.constant_long(value))
    }

    /// The number of the special register at `node`.
    fn special(&self, node: NodeId) -> Option<u32> {
        let name = match self.module.node_kind(node) {
            NodeKind::Name => node,
            NodeKind::Suffixed => *self.module.children(node).first()?,
            _ => return None,
        };
        if self.module.decl_of(name).is_some() {
            return None;
        }
        let text: Vec<u8> =
            self.module.node_text(node).iter().copied().filter(|b| !b.is_ascii_whitespace()).collect();
        special::find(&text)
    }

    /// The variable or parameter at `node`, and a constant that is added.
    pub(super) fn address_of(&self, node: NodeId) -> Option<(Location, i64)> {
        let (name, plus) = match self.module.node_kind(node) {
            NodeKind::Name => (node, 0),
            NodeKind::Offset | NodeKind::Element => {
                let [name, plus] = self.module.children(node).try_into().ok()?;
                (name, self.constant(plus, false)?.cast_signed())
            }
            _ => return None,
        };
        let decl = self.module.decl_of(name)?;
        let scale = if self.module.node_kind(node) == NodeKind::Element {
            i64::from(self.module.decl(decl).ty.bits()? / 8)
        } else {
            1
        };
        let place = self.places.get(&decl).or_else(|| self.layout.places.get(&decl))?;
        Some((*place, plus.checked_mul(scale)?))
    }

    /// The address of something that always lies at the same place.
    pub(super) fn fixed(&self, place: Location) -> Option<u64> {
        match place {
            Location::Allocation(number) => Some((number + 4) << self.layout.shift()),
            Location::Shared(offset) | Location::Parameter(offset) => Some(offset.into()),
            Location::SharedEnd => Some(self.layout.shared.into()),
            Location::Frame(..) => None,
        }
    }

    /// Where an argument or a result of a call stands.
    pub(super) fn transfer_of(&mut self, decl: DeclId) -> Option<Transfer> {
        if self.module.decl(decl).kind == DeclKind::Register {
            return self.register(decl, Part::default()).map(Transfer::Register);
        }
        match self.places.get(&decl)? {
            Location::Frame(offset, size) => Some(Transfer::Memory(*offset, *size)),
            Location::Allocation(_) | Location::Shared(_) | Location::SharedEnd | Location::Parameter(_) => {
                None
            }
        }
    }

    /// An operation on words, all of `bits` bits; the first operand is the target.
    pub(super) fn words_to_word(&mut self, lane: Lane, operands: &[NodeId], bits: u32) -> Option<()> {
        let d = self.target(*operands.first()?, Class::Word).filter(|d| d.bits == bits)?;
        let mut slots = [0; 3];
        for (slot, &node) in slots.iter_mut().zip(&operands[1..]) {
            *slot = self.word(node, bits)?;
        }
        self.lane(lane, [d.index, slots[0], slots[1], slots[2], 0]);
        Some(())
    }

    /// An operation on longs; the first operand is the target.
    pub(super) fn longs_to_long(&mut self, lane: Lane, operands: &[NodeId]) -> Option<()> {
        let d = self.target(*operands.first()?, Class::Long)?;
        let mut slots = [0; 3];
        for (slot, &node) in slots.iter_mut().zip(&operands[1..]) {
            *slot = self.long(node)?;
        }
        self.lane(lane, [d.index, slots[0], slots[1], slots[2], 0]);
        Some(())
    }

    /// Whether the statement has so many operands.
    pub(super) fn count(operands: &[NodeId], count: usize) -> Option<()> {
        (operands.len() == count).then_some(())
    }

    /// Whether the modifiers are types and `known` ones only.
    pub(super) fn only(words: &Words<'_>, known: &[&str]) -> Option<()> {
        words.only(known).then_some(())
    }
}
