//! `cvt` between integer and floating-point types, and `cvta`: chains of lane operations.
//!
//! A chain rounds in one link at most, so nothing is rounded twice; its other links are exact or carry out a
//! modifier. A combination of types and modifiers for which there is no such chain is not decoded.

use super::{Decoder, Words};
use crate::code::{Class, Slot};
use crate::lanes::Lane as L;
use ptxopt_grammar::names::Type;
use ptxopt_grammar::tree::NodeId;

/// A type as `cvt` converts it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Number {
    Integer { signed: bool, bits: u32 },
    F16,
    F32,
    F64,
}

fn number(ty: Type) -> Option<Number> {
    let integer = |signed, bits| Some(Number::Integer { signed, bits });
    match ty {
        Type::U8 => integer(false, 8),
        Type::U16 => integer(false, 16),
        Type::U32 => integer(false, 32),
        Type::U64 => integer(false, 64),
        Type::S8 => integer(true, 8),
        Type::S16 => integer(true, 16),
        Type::S32 => integer(true, 32),
        Type::S64 => integer(true, 64),
        Type::F16 => Some(Number::F16),
        Type::F32 => Some(Number::F32),
        Type::F64 => Some(Number::F64),
        _ => None,
    }
}

/// How a conversion rounds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Even,
    Zero,
    Down,
    Up,
}

impl Decoder<'_, '_> {
    pub(super) fn convert(&mut self, words: &Words<'_>, operands: &[NodeId]) -> Option<()> {
        if words.opcode != "cvt" {
            return None;
        }
        Self::only(words, &["rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi", "ftz", "sat"])?;
        Self::count(operands, 2)?;
        let [to, from] = words.types()[..] else { return None };
        let (to, from) = (number(to)?, number(from)?);
        let d = self.slot(operands[0])?;
        let source = self.source(operands[1], from)?;
        let chain = chain(words, to, from, source, d)?;
        self.run_chain(&chain, source, d);
        Some(())
    }

    /// What is converted, a register that may be wider than its type, or a constant.
    fn source(&mut self, node: NodeId, from: Number) -> Option<Slot> {
        if let Some(slot) = self.slot(node) {
            return matches!(slot.class, Class::Word | Class::Long).then_some(slot);
        }
        let long = matches!(from, Number::F64 | Number::Integer { bits: 64, .. });
        let bits = if long { 64 } else { 32 };
        let index = if long { self.long(node)? } else { self.word(node, 32)? };
        Some(Slot { class: if long { Class::Long } else { Class::Word }, index, bits })
    }

    fn run_chain(&mut self, chain: &[L], source: Slot, d: Slot) {
        let mut at = source.index;
        for (position, &lane) in chain.iter().enumerate() {
            let next = if position + 1 == chain.len() {
                d.index
            } else {
                let long = to_long(lane);
                self.temporary(if long { Class::Long } else { Class::Word }, if long { 64 } else { 32 }).index
            };
            self.lane(lane, [next, at, 0, 0, 0]);
            at = next;
        }
    }
}

/// Whether the result of an operation is a long.
fn to_long(lane: L) -> bool {
    use crate::lanes::Shape;
    match lane.shape() {
        Shape::L1
        | Shape::KL1
        | Shape::L2
        | Shape::L3
        | Shape::LofLW
        | Shape::LofW
        | Shape::LofW2
        | Shape::LofW2L => true,
        Shape::W1
        | Shape::W2
        | Shape::W3
        | Shape::K3
        | Shape::W4
        | Shape::WofL
        | Shape::PofW2
        | Shape::PofL2 => false,
    }
}

/// The operations that make a `to` in `d` of a `from` in `source`.
fn chain(words: &Words<'_>, to: Number, from: Number, source: Slot, d: Slot) -> Option<Vec<L>> {
    let sat = words.has("sat");
    let ftz = words.has("ftz");
    let rounds = |names: [&str; 4]| {
        let modes = [Mode::Even, Mode::Zero, Mode::Down, Mode::Up];
        names.iter().position(|name| words.has(name)).map(|at| modes[at])
    };
    let to_integer = rounds(["rni", "rzi", "rmi", "rpi"]);
    let to_float = rounds(["rn", "rz", "rm", "rp"]);
    let mut chain = Vec::new();
    if ftz && from == Number::F32 {
        chain.push(L::Flush32);
    }
    match (from, to) {
        (Number::Integer { signed, bits }, Number::Integer { signed: to_signed, bits: to_bits }) => {
            let long = extend(&mut chain, signed, bits, source);
            integers(&mut chain, (signed, long), (to_signed, to_bits), sat, d)?;
        }
        (Number::Integer { signed, bits }, Number::F32 | Number::F64) => {
            if to_float.is_some_and(|mode| mode != Mode::Even) {
                return None;
            }
            let long = extend(&mut chain, signed, bits, source);
            chain.push(match (to == Number::F64, long, signed) {
                (false, false, true) => L::F32OfS32,
                (false, false, false) => L::F32OfU32,
                (false, true, true) => L::F32OfS64,
                (false, true, false) => L::F32OfU64,
                (true, false, true) => L::F64OfS32,
                (true, false, false) => L::F64OfU32,
                (true, true, true) => L::F64OfS64,
                (true, true, false) => L::F64OfU64,
            });
        }
        (Number::F32 | Number::F64, Number::Integer { signed, bits }) => {
            float_to_integer(&mut chain, from == Number::F64, (signed, bits), to_integer?, d)?;
        }
        (Number::F32, Number::F64) => chain.push(L::F64OfF32),
        (Number::F64, Number::F32) if to_float == Some(Mode::Even) => chain.push(L::F32OfF64),
        (Number::F32, Number::F32) => chain.push(match to_integer {
            None => L::Mov32,
            Some(Mode::Even) => L::RoundEven32,
            Some(Mode::Zero) => L::RoundZero32,
            Some(Mode::Down) => L::RoundDown32,
            Some(Mode::Up) => L::RoundUp32,
        }),
        (Number::F64, Number::F64) => chain.push(match to_integer {
            None => L::Mov64,
            Some(Mode::Even) => L::RoundEven64,
            Some(Mode::Zero) => L::RoundZero64,
            Some(Mode::Down) => L::RoundDown64,
            Some(Mode::Up) => L::RoundUp64,
        }),
        (Number::F16, Number::F32) => chain.push(L::F32OfF16),
        (Number::F32, Number::F16) if to_float == Some(Mode::Even) && !sat => chain.push(L::F16OfF32),
        _ => return None,
    }
    if to == Number::F32 && ftz {
        chain.push(L::Flush32);
    }
    if sat && to == Number::F32 {
        chain.push(L::Saturate32);
    }
    if sat && to == Number::F64 {
        chain.push(L::Saturate64);
    }
    let wanted = match to {
        Number::F64 => Class::Long,
        Number::F16 | Number::F32 => Class::Word,
        Number::Integer { .. } => d.class,
    };
    (d.class == wanted).then_some(chain)
}

/// Extends the low `bits` of the source to 32 or 64 bits; whether it is 64.
fn extend(chain: &mut Vec<L>, signed: bool, bits: u32, source: Slot) -> bool {
    if source.class == Class::Long {
        if bits == 64 {
            return true;
        }
        chain.push(L::Low32);
    }
    match (bits, signed) {
        (8, true) => chain.push(L::Sext8To32),
        (8, false) if source.bits > 8 => chain.push(L::Zext8),
        (16, true) => chain.push(L::Sext16To32),
        (16, false) if source.bits > 16 => chain.push(L::Zext16),
        _ => {}
    }
    false
}

/// From a word or long to an integer type in register `d`.
fn integers(
    chain: &mut Vec<L>,
    (signed, long): (bool, bool),
    (to_signed, to_bits): (bool, u32),
    sat: bool,
    d: Slot,
) -> Option<()> {
    if sat {
        if long || to_bits == 64 {
            return None;
        }
        match (signed, to_signed, to_bits) {
            (true, true, 8) => chain.push(L::SaturateS32To8),
            (true, false, 8) => chain.push(L::SaturateS32ToU8),
            (true, true, 16) => chain.push(L::SaturateS32ToS16),
            (true, false, 16) => chain.push(L::SaturateS32ToU16),
            (true, false, 32) => chain.push(L::SaturateS32ToU32),
            (false, true, 8) => chain.push(L::SaturateU32ToS8),
            (false, false, 8) => chain.push(L::SaturateU32ToU8),
            (false, true, 16) => chain.push(L::SaturateU32ToS16),
            (false, false, 16) => chain.push(L::SaturateU32ToU16),
            (false, true, 32) => chain.push(L::SaturateU32ToS32),
            _ => return None,
        }
    }
    if to_bits == 64 {
        chain.push(match (long, signed) {
            (true, _) => L::Mov64,
            (false, true) => L::Sext32To64,
            (false, false) => L::Zext32To64,
        });
        return (d.class == Class::Long).then_some(());
    }
    if long {
        chain.push(L::Low32);
    }
    narrow(chain, to_signed, to_bits, d)
}

/// Cuts a word to a type and extends it to register `d`.
fn narrow(chain: &mut Vec<L>, signed: bool, bits: u32, d: Slot) -> Option<()> {
    if d.bits < bits {
        return None;
    }
    match (bits, signed) {
        (8, true) if d.bits > 8 => chain.push(L::Sext8To32),
        (8, _) => chain.push(L::Zext8),
        (16, true) if d.bits > 16 => chain.push(L::Sext16To32),
        (16, _) => chain.push(L::Zext16),
        _ => {}
    }
    match (d.class, signed) {
        (Class::Long, true) => chain.push(L::Sext32To64),
        (Class::Long, false) => chain.push(L::Zext32To64),
        (Class::Word, true) if d.bits == 16 && bits == 8 => chain.push(L::Zext16),
        _ => {}
    }
    if chain.is_empty() {
        chain.push(L::Mov32);
    }
    Some(())
}

fn float_to_integer(
    chain: &mut Vec<L>,
    double: bool,
    (signed, bits): (bool, u32),
    mode: Mode,
    d: Slot,
) -> Option<()> {
    if bits == 64 {
        if !double {
            chain.push(L::F64OfF32);
        }
        chain.push(match (signed, mode) {
            (true, Mode::Even) => L::S64OfF64Even,
            (true, Mode::Zero) => L::S64OfF64Zero,
            (true, Mode::Down) => L::S64OfF64Down,
            (true, Mode::Up) => L::S64OfF64Up,
            (false, Mode::Even) => L::U64OfF64Even,
            (false, Mode::Zero) => L::U64OfF64Zero,
            (false, Mode::Down) => L::U64OfF64Down,
            (false, Mode::Up) => L::U64OfF64Up,
        });
        return (d.class == Class::Long).then_some(());
    }
    chain.push(match (double, signed || bits < 32, mode) {
        (false, true, Mode::Even) => L::S32OfF32Even,
        (false, true, Mode::Zero) => L::S32OfF32Zero,
        (false, true, Mode::Down) => L::S32OfF32Down,
        (false, true, Mode::Up) => L::S32OfF32Up,
        (false, false, Mode::Even) => L::U32OfF32Even,
        (false, false, Mode::Zero) => L::U32OfF32Zero,
        (false, false, Mode::Down) => L::U32OfF32Down,
        (false, false, Mode::Up) => L::U32OfF32Up,
        (true, true, Mode::Even) => L::S32OfF64Even,
        (true, true, Mode::Zero) => L::S32OfF64Zero,
        (true, true, Mode::Down) => L::S32OfF64Down,
        (true, true, Mode::Up) => L::S32OfF64Up,
        (true, false, Mode::Even) => L::U32OfF64Even,
        (true, false, Mode::Zero) => L::U32OfF64Zero,
        (true, false, Mode::Down) => L::U32OfF64Down,
        (true, false, Mode::Up) => L::U32OfF64Up,
    });
    match (signed, bits) {
        (true, 8) => chain.push(L::SaturateS32To8),
        (false, 8) => chain.push(L::SaturateS32ToU8),
        (true, 16) => chain.push(L::SaturateS32ToS16),
        (false, 16) => chain.push(L::SaturateS32ToU16),
        _ => {}
    }
    narrow(chain, signed, bits, d)
}
