//! Integer instructions that have a lane operation of their own.
//!
//! Each also has a meaning in the instruction table, and the tests compare the operation with it. A form that is not
//! listed here runs its meaning.

use super::{Decoder, Words};
use crate::code::Class;
use crate::lanes::Lane as L;
use ptxopt_grammar::names::Type;
use ptxopt_grammar::tree::NodeId;

/// How the bits of a type count.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Unsigned,
    Signed,
    Bits,
}

pub(super) fn kind(ty: Type) -> Option<(Kind, u32)> {
    let kind = match ty.word().as_bytes().get(1)? {
        b'u' => Kind::Unsigned,
        b's' => Kind::Signed,
        b'b' => Kind::Bits,
        _ => return None,
    };
    Some((kind, ty.bits()?))
}

impl Decoder<'_, '_> {
    pub(super) fn integer(&mut self, words: &Words<'_>, operands: &[NodeId]) -> Option<()> {
        match words.opcode {
            "setp" => return self.setp(words, operands),
            "selp" => return self.selp(words, operands),
            "mov" => return self.mov(words, operands),
            "dp4a" | "dp2a" => return self.dot(words, operands),
            _ => {}
        }
        let [ty] = words.types()[..] else { return None };
        if ty == Type::Pred {
            return self.predicate_logic(words, operands);
        }
        let (kind, bits) = kind(ty)?;
        match words.opcode {
            "shl" | "shr" => self.shift(words, operands, kind, bits),
            "mul" | "mad" => self.multiply(words, operands, kind, bits),
            "lop3" => {
                Self::only(words, &[])?;
                Self::count(operands, 5)?;
                let d = self.target(operands[0], Class::Word).filter(|d| d.bits == 32)?;
                let [a, b, c] = [1, 2, 3].map(|at| self.word(operands[at], 32));
                let table = u32::try_from(self.constant(operands[4], false)?).ok()?;
                self.lane(L::Lop3, [d.index, a?, b?, c?, table]);
                Some(())
            }
            "prmt" if bits == 32 => {
                Self::only(words, &[])?;
                Self::count(operands, 4)?;
                self.words_to_word(L::Prmt, operands, 32)
            }
            "shf" => {
                let lane = match (words.has("l"), words.has("wrap")) {
                    (true, true) => L::ShfLWrap,
                    (true, false) => L::ShfLClamp,
                    (false, true) => L::ShfRWrap,
                    (false, false) => L::ShfRClamp,
                };
                Self::only(words, &["l", "r", "wrap", "clamp"])?;
                Self::count(operands, 4)?;
                self.words_to_word(lane, operands, 32)
            }
            _ => self.plain(words, operands, kind, bits),
        }
    }

    /// Instructions all of whose operands have the type.
    fn plain(&mut self, words: &Words<'_>, operands: &[NodeId], kind: Kind, bits: u32) -> Option<()> {
        let sat = words.has("sat");
        Self::only(words, &["sat"])?;
        let signed = kind == Kind::Signed;
        let (count, lane) = match (words.opcode, bits) {
            ("add", 32) if sat && signed => (3, L::AddSat32),
            ("sub", 32) if sat && signed => (3, L::SubSat32),
            _ if sat => return None,
            ("add", 32) => (3, L::Add32),
            ("add", 64) => (3, L::Add64),
            ("add", 16) => (3, L::Add16),
            ("sub", 32) => (3, L::Sub32),
            ("sub", 64) => (3, L::Sub64),
            ("sub", 16) => (3, L::Sub16),
            ("and", 16 | 32) => (3, L::And32),
            ("and", 64) => (3, L::And64),
            ("or", 16 | 32) => (3, L::Or32),
            ("or", 64) => (3, L::Or64),
            ("xor", 16 | 32) => (3, L::Xor32),
            ("xor", 64) => (3, L::Xor64),
            ("not", 32) => (2, L::Not32),
            ("not", 16) => (2, L::Not16),
            ("not", 64) => (2, L::Not64),
            ("neg", 32) => (2, L::Neg32),
            ("neg", 16) => (2, L::Neg16),
            ("neg", 64) => (2, L::Neg64),
            ("abs", 32) => (2, L::Abs32),
            ("abs", 16) => (2, L::Abs16),
            ("abs", 64) => (2, L::Abs64),
            ("min", 32) if signed => (3, L::MinS32),
            ("min", 64) if signed => (3, L::MinS64),
            ("min", 16) if signed => (3, L::MinS16),
            ("min", 16 | 32) => (3, L::MinU32),
            ("min", 64) => (3, L::MinU64),
            ("max", 32) if signed => (3, L::MaxS32),
            ("max", 64) if signed => (3, L::MaxS64),
            ("max", 16) if signed => (3, L::MaxS16),
            ("max", 16 | 32) => (3, L::MaxU32),
            ("max", 64) => (3, L::MaxU64),
            ("sad", 32) if signed => (4, L::SadS32),
            ("sad", 32) => (4, L::SadU32),
            ("div", 32) if signed => (3, L::DivS32),
            ("div", 32) => (3, L::DivU32),
            ("div", 64) if signed => (3, L::DivS64),
            ("div", 64) => (3, L::DivU64),
            ("div", 16) if signed => (3, L::DivS16),
            ("div", 16) => (3, L::DivU16),
            ("rem", 32) if signed => (3, L::RemS32),
            ("rem", 32) => (3, L::RemU32),
            ("rem", 64) if signed => (3, L::RemS64),
            ("rem", 64) => (3, L::RemU64),
            ("rem", 16) if signed => (3, L::RemS16),
            ("rem", 16) => (3, L::RemU32),
            ("cnot", 16 | 32) => (2, L::Cnot32),
            ("brev", 32) => (2, L::Brev32),
            ("brev", 64) => (2, L::Brev64),
            ("popc", 32) => (2, L::Popc32),
            ("clz", 32) => (2, L::Clz32),
            ("bfind", 32) if signed => (2, L::BfindS32),
            ("bfind", 32) => (2, L::BfindU32),
            ("bfe", 32) if signed => (4, L::BfeS32),
            ("bfe", 32) => (4, L::BfeU32),
            ("bfi", 32) => {
                Self::count(operands, 5)?;
                let d = self.target(operands[0], Class::Word).filter(|d| d.bits == 32)?;
                let [a, b, c, x] = [1, 2, 3, 4].map(|at| self.word(operands[at], 32));
                self.lane(L::Bfi32, [d.index, a?, b?, c?, x?]);
                return Some(());
            }
            ("popc" | "clz" | "bfind", 64) => {
                Self::count(operands, 2)?;
                let lane = match (words.opcode, signed) {
                    ("popc", _) => L::Popc64,
                    ("clz", _) => L::Clz64,
                    (_, true) => L::BfindS64,
                    (_, false) => L::BfindU64,
                };
                let d = self.target(operands[0], Class::Word).filter(|d| d.bits == 32)?;
                let a = self.long(operands[1])?;
                self.lane(lane, [d.index, a, 0, 0, 0]);
                return Some(());
            }
            _ => return None,
        };
        Self::count(operands, count)?;
        if bits == 64 { self.longs_to_long(lane, operands) } else { self.words_to_word(lane, operands, bits) }
    }

    fn shift(&mut self, words: &Words<'_>, operands: &[NodeId], kind: Kind, bits: u32) -> Option<()> {
        Self::only(words, &[])?;
        Self::count(operands, 3)?;
        let right = words.opcode == "shr";
        let lane = match (right, kind == Kind::Signed, bits) {
            (false, _, 16) => L::Shl16,
            (false, _, 32) => L::Shl32,
            (false, _, 64) => L::Shl64,
            (true, true, 16) => L::ShrS16,
            (true, true, 32) => L::ShrS32,
            (true, true, 64) => L::ShrS64,
            (true, false, 16 | 32) => L::ShrU32,
            (true, false, 64) => L::ShrU64,
            _ => return None,
        };
        let class = if bits == 64 { Class::Long } else { Class::Word };
        let d = self.target(operands[0], class).filter(|d| d.bits == bits)?;
        let a = if bits == 64 { self.long(operands[1])? } else { self.word(operands[1], bits)? };
        let b = self.word(operands[2], 32)?;
        self.lane(lane, [d.index, a, b, 0, 0]);
        Some(())
    }

    fn multiply(&mut self, words: &Words<'_>, operands: &[NodeId], kind: Kind, bits: u32) -> Option<()> {
        Self::only(words, &["lo", "hi", "wide"])?;
        let adds = words.opcode == "mad";
        Self::count(operands, if adds { 4 } else { 3 })?;
        let signed = kind == Kind::Signed;
        if words.has("wide") {
            let lane = match (bits, signed, adds) {
                (32, true, false) => L::MulWideS32,
                (32, false, false) => L::MulWideU32,
                (32, true, true) => L::MadWideS32,
                (32, false, true) => L::MadWideU32,
                (16, true, false) => L::MulWideS16,
                (16, false, false) => L::MulWideU16,
                (16, true, true) => L::MadWideS16,
                (16, false, true) => L::MadWideU16,
                _ => return None,
            };
            let (class, wide) = if bits == 32 { (Class::Long, 64) } else { (Class::Word, 32) };
            let d = self.target(operands[0], class).filter(|d| d.bits == wide)?;
            let (a, b) = (self.word(operands[1], bits)?, self.word(operands[2], bits)?);
            let c = match operands.get(3) {
                None => 0,
                Some(&c) if bits == 32 => self.long(c)?,
                Some(&c) => self.word(c, 32)?,
            };
            self.lane(lane, [d.index, a, b, c, 0]);
            return Some(());
        }
        let lane = match (words.has("hi"), bits, signed, adds) {
            (false, 16, _, false) => L::Mul16,
            (false, 16, _, true) => L::Mad16,
            (false, 32, _, false) => L::Mul32,
            (false, 32, _, true) => L::Mad32,
            (false, 64, _, false) => L::Mul64,
            (false, 64, _, true) => L::Mad64,
            (true, 16, true, false) => L::MulHiS16,
            (true, 16, false, false) => L::MulHiU16,
            (true, 32, true, false) => L::MulHiS32,
            (true, 32, false, false) => L::MulHiU32,
            (true, 32, true, true) => L::MadHiS32,
            (true, 32, false, true) => L::MadHiU32,
            (true, 64, true, false) => L::MulHiS64,
            (true, 64, false, false) => L::MulHiU64,
            _ => return None,
        };
        if bits == 64 { self.longs_to_long(lane, operands) } else { self.words_to_word(lane, operands, bits) }
    }

    fn dot(&mut self, words: &Words<'_>, operands: &[NodeId]) -> Option<()> {
        let [a @ (Type::U32 | Type::S32), b @ (Type::U32 | Type::S32)] = words.types()[..] else {
            return None;
        };
        Self::count(operands, 4)?;
        let (a, b) = (a == Type::S32, b == Type::S32);
        if words.opcode == "dp4a" {
            Self::only(words, &[])?;
            let lane = match (a, b) {
                (false, false) => L::Dp4aUU,
                (false, true) => L::Dp4aUS,
                (true, false) => L::Dp4aSU,
                (true, true) => L::Dp4aSS,
            };
            return self.words_to_word(lane, operands, 32);
        }
        Self::only(words, &["lo", "hi"])?;
        let d = self.target(operands[0], Class::Word).filter(|d| d.bits == 32)?;
        let slots = [1, 2, 3].map(|at| self.word(operands[at], 32));
        let mode = u32::from(a) | u32::from(b) << 1 | u32::from(words.has("hi")) << 2;
        self.lane(L::Dp2a, [d.index, slots[0]?, slots[1]?, slots[2]?, mode]);
        Some(())
    }
}
