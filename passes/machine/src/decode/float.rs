//! Floating-point instructions whose result the manual fixes to the last bit.
//!
//! The approximate ones are left alone: no two GPUs need agree on them.

use super::{Decoder, Words};
use crate::arithmetic::soft;
use crate::code::Class;
use crate::lanes::Lane as L;
use ptxopt_grammar::names::Type;
use ptxopt_grammar::tree::NodeId;

impl Decoder<'_, '_> {
    pub(super) fn float(&mut self, words: &Words<'_>, operands: &[NodeId]) -> Option<()> {
        let [ty @ (Type::F32 | Type::F64)] = words.types()[..] else { return None };
        if matches!(words.opcode, "cvt" | "setp" | "selp" | "mov" | "ld" | "st") {
            return None;
        }
        Self::only(words, &["rn", "rz", "rm", "rp", "ftz", "sat"])?;
        let double = ty == Type::F64;
        let pick = |single, wide| if double { wide } else { single };
        let (count, lane, operation) = match words.opcode {
            "add" => (3, pick(L::FAdd32, L::FAdd64), soft::ADD),
            "sub" => (3, pick(L::FSub32, L::FSub64), soft::SUB),
            "mul" => (3, pick(L::FMul32, L::FMul64), soft::MUL),
            "div" => (3, pick(L::FDiv32, L::FDiv64), soft::DIV),
            "fma" | "mad" => (4, pick(L::FFma32, L::FFma64), soft::FMA),
            "min" => (3, pick(L::FMin32, L::FMin64), soft::ADD),
            "max" => (3, pick(L::FMax32, L::FMax64), soft::ADD),
            "abs" => (2, pick(L::FAbs32, L::FAbs64), soft::ADD),
            "neg" => (2, pick(L::FNeg32, L::FNeg64), soft::ADD),
            "copysign" => (3, pick(L::CopySign32, L::CopySign64), soft::ADD),
            "sqrt" => (2, pick(L::Sqrt32, L::Sqrt64), soft::ADD),
            "rcp" => (2, pick(L::FDiv32, L::FDiv64), soft::DIV),
            _ => return None,
        };
        // Without a rounding mode, these are approximations.
        let named = ["rn", "rz", "rm", "rp"].into_iter().find(|mode| words.has(mode));
        if matches!(words.opcode, "div" | "sqrt" | "rcp" | "fma" | "mad") && named.is_none() {
            return None;
        }
        let mode = match named {
            None | Some("rn") => None,
            Some("rz") => Some(soft::ZERO),
            Some("rm") => Some(soft::DOWN),
            Some(_) => Some(soft::UP),
        };
        if mode.is_some() && words.opcode == "sqrt" {
            return None;
        }
        Self::count(operands, count)?;
        let class = if double { Class::Long } else { Class::Word };
        let bits = if double { 64 } else { 32 };
        let d = self.target(operands[0], class).filter(|d| d.bits == bits)?.index;
        let ftz = words.has("ftz") && !double;
        let mut sources = [0; 3];
        // 1/x has one operand more than it is written with.
        let count = if words.opcode == "rcp" { 3 } else { count };
        if words.opcode == "rcp" {
            sources[0] = if double {
                self.constant_long(1.0_f64.to_bits())
            } else {
                self.constant_word(1.0_f32.to_bits())
            };
            sources[1] = if double { self.long(operands[1])? } else { self.word(operands[1], 32)? };
        } else {
            for (source, &node) in sources.iter_mut().zip(&operands[1..]) {
                *source = if double { self.long(node)? } else { self.word(node, 32)? };
            }
        }
        if ftz {
            for source in sources.iter_mut().take(count - 1) {
                *source = self.flushed(*source);
            }
        }
        let sat = words.has("sat");
        let plain = if ftz || sat { self.temporary(class, bits).index } else { d };
        let [a, b, c] = sources;
        match mode {
            None => self.lane(lane, [plain, a, b, c, 0]),
            Some(mode) => self.lane(pick(L::FSoft32, L::FSoft64), [plain, a, b, c, mode | operation]),
        }
        if ftz {
            self.lane(L::Flush32, [if sat { plain } else { d }, plain, 0, 0, 0]);
        }
        if sat {
            self.lane(pick(L::Saturate32, L::Saturate64), [d, plain, 0, 0, 0]);
        }
        Some(())
    }

    /// The word with subnormals made zero.
    pub(super) fn flushed(&mut self, word: u32) -> u32 {
        let slot = self.temporary(Class::Word, 32).index;
        self.lane(L::Flush32, [slot, word, 0, 0, 0]);
        slot
    }
}
