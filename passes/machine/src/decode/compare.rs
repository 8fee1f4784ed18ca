//! Comparisons, choices, and the logic of predicates.
//!
//! A comparison is decoded to the operation of its very type and width, for floats the one that also agrees on NaN; a
//! form without such an operation is not decoded here.

use super::integer::{Kind, kind};
use super::{Decoder, Words};
use crate::code::{Class, Op};
use crate::lanes::Lane as L;
use ptxopt_grammar::names::Type;
use ptxopt_grammar::tree::{NodeId, NodeKind};

impl Decoder<'_, '_> {
    pub(super) fn selp(&mut self, words: &Words<'_>, operands: &[NodeId]) -> Option<()> {
        Self::only(words, &[])?;
        Self::count(operands, 4)?;
        let [ty] = words.types()[..] else { return None };
        let bits = ty.bits()?;
        let (p, negated) = self.source_predicate(operands[3])?;
        let (a, b) = if negated { (operands[2], operands[1]) } else { (operands[1], operands[2]) };
        if bits == 64 {
            let d = self.target(operands[0], Class::Long)?;
            let (a, b) = (self.long(a)?, self.long(b)?);
            self.emit(Op::Select64, [d.index, a, b, p, 0]);
        } else {
            let d = self.target(operands[0], Class::Word).filter(|d| d.bits == bits)?;
            let (a, b) = (self.word(a, bits)?, self.word(b, bits)?);
            self.emit(Op::Select32, [d.index, a, b, p, 0]);
        }
        Some(())
    }

    pub(super) fn predicate_logic(&mut self, words: &Words<'_>, operands: &[NodeId]) -> Option<()> {
        Self::only(words, &[])?;
        let d = self.target(*operands.first()?, Class::Predicate)?.index;
        let (a, a_negated) = self.source_predicate(*operands.get(1)?)?;
        let (b, b_negated) = operands.get(2).map_or(Some((a, false)), |&b| self.source_predicate(b))?;
        let (a_table, b_table) = (if a_negated { 0x0f } else { 0xf0 }, if b_negated { 0x33 } else { 0xcc });
        let table = match (words.opcode, operands.len()) {
            ("and", 3) => a_table & b_table,
            ("or", 3) => a_table | b_table,
            ("xor", 3) => a_table ^ b_table,
            ("not", 2) => 0xff ^ a_table,
            _ => return None,
        };
        self.emit(Op::Logic, [d, a, b, b, table]);
        Some(())
    }

    pub(super) fn setp(&mut self, words: &Words<'_>, operands: &[NodeId]) -> Option<()> {
        let [ty] = words.types()[..] else { return None };
        let compare = *words.modifiers.iter().find(|word| {
            Type::parse(format!(".{word}").as_bytes()) == Type::Unknown
                && !["and", "or", "xor", "ftz"].contains(word)
        })?;
        Self::only(words, &[compare, "and", "or", "xor", "ftz"])?;
        let (lane, swapped, negated) = self.comparison(ty, compare)?;
        let (a, b) =
            if swapped { (operands.get(2)?, operands.get(1)?) } else { (operands.get(1)?, operands.get(2)?) };
        let bits = ty.bits()?;
        let (mut a, mut b) = if bits == 64 {
            (self.long(*a)?, self.long(*b)?)
        } else {
            (self.word(*a, bits)?, self.word(*b, bits)?)
        };
        if words.has("ftz") {
            (a, b) = (self.flushed(a), self.flushed(b));
        }
        let combine = ["and", "or", "xor"].into_iter().find(|word| words.has(word));
        let pair = self.module.node_kind(operands[0]) == NodeKind::Pair;
        let (p, q) = if pair {
            let [p, q] = self.module.children(operands[0]).try_into().ok()?;
            let (p, q) = (self.target(p, Class::Predicate)?.index, self.target(q, Class::Predicate)?.index);
            // It is unspecified which result a predicate holds that is named as both.
            (p != q).then_some((p, Some(q)))?
        } else {
            (self.target(operands[0], Class::Predicate)?.index, None)
        };
        if combine.is_none() && q.is_none() && !negated {
            Self::count(operands, 3)?;
            self.lane(lane, [p, a, b, 0, 0]);
            return Some(());
        }
        let result = self.temporary(Class::Predicate, 1).index;
        self.lane(lane, [result, a, b, 0, 0]);
        let table = if negated { 0x0f } else { 0xf0 };
        let (c, c_table) = match combine {
            None => (result, 0),
            Some(_) => {
                let (c, negated) = self.source_predicate(*operands.get(3)?)?;
                // A copy: the first result may replace it before the second is computed.
                let copy = self.temporary(Class::Predicate, 1).index;
                self.emit(Op::Logic, [copy, c, c, c, 0x80]);
                (copy, if negated { 0x33 } else { 0xcc })
            }
        };
        let with = |table: u32| match combine {
            None => table,
            Some("and") => table & c_table,
            Some("or") => table | c_table,
            Some(_) => table ^ c_table,
        };
        self.emit(Op::Logic, [p, result, c, c, with(table)]);
        if let Some(q) = q {
            self.emit(Op::Logic, [q, result, c, c, with(0xff ^ table)]);
        }
        Some(())
    }

    /// The operation, whether its operands are swapped, and whether its result is negated.
    fn comparison(&self, ty: Type, compare: &str) -> Option<(L, bool, bool)> {
        if matches!(ty, Type::F32 | Type::F64) {
            return float_comparison(ty == Type::F64, compare);
        }
        let (kind, bits) = kind(ty)?;
        let (less, less_equal, equal, differ) = match (bits, kind == Kind::Signed) {
            (16, true) => (L::LtS16, L::LeS16, L::Eq32, L::Ne32),
            (32, true) => (L::LtS32, L::LeS32, L::Eq32, L::Ne32),
            (16 | 32, false) => (L::LtU32, L::LeU32, L::Eq32, L::Ne32),
            (64, true) => (L::LtS64, L::LeS64, L::Eq64, L::Ne64),
            (64, false) => (L::LtU64, L::LeU64, L::Eq64, L::Ne64),
            _ => return None,
        };
        Some(match compare {
            "eq" => (equal, false, false),
            "ne" => (differ, false, false),
            "lt" | "lo" => (less, false, false),
            "le" | "ls" => (less_equal, false, false),
            "gt" | "hi" => (less, true, false),
            "ge" | "hs" => (less_equal, true, false),
            _ => return None,
        })
    }
}

fn float_comparison(double: bool, compare: &str) -> Option<(L, bool, bool)> {
    let pick = |single, wide| if double { wide } else { single };
    Some(match compare {
        "eq" => (pick(L::FEq32, L::FEq64), false, false),
        "ne" => (pick(L::FLg32, L::FLg64), false, false),
        "lt" => (pick(L::FLt32, L::FLt64), false, false),
        "le" => (pick(L::FLe32, L::FLe64), false, false),
        "gt" => (pick(L::FLt32, L::FLt64), true, false),
        "ge" => (pick(L::FLe32, L::FLe64), true, false),
        "equ" => (pick(L::FEqu32, L::FEqu64), false, false),
        "neu" => (pick(L::FNeu32, L::FNeu64), false, false),
        "ltu" => (pick(L::FLtu32, L::FLtu64), false, false),
        "leu" => (pick(L::FLeu32, L::FLeu64), false, false),
        "gtu" => (pick(L::FLtu32, L::FLtu64), true, false),
        "geu" => (pick(L::FLeu32, L::FLeu64), true, false),
        "num" => (pick(L::FNum32, L::FNum64), false, false),
        "nan" => (pick(L::FNan32, L::FNan64), false, false),
        _ => return None,
    })
}
