//! Integer instructions that have a lane operation of their own, and all others by their meaning.

use super::{Decoder, Words};
use crate::machine::code::{Class, Op};
use crate::machine::lanes::Lane as L;
use crate::machine::meant::Meant;
use ptxopt_grammar::meaning::{self, Place as Touched};
use ptxopt_grammar::names::Type;
use ptxopt_grammar::tree::{NodeId, NodeKind, StmtId};

/// How the bits of a type count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Unsigned,
    Signed,
    Bits,
}

fn kind(ty: Type) -> Option<(Kind, u32)> {
    let kind = match ty.word().as_bytes().get(1)? {
        b'u' => Kind::Unsigned,
        b's' => Kind::Signed,
        b'b' => Kind::Bits,
        _float => return None,
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
            _other => {}
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
            _plain => self.plain(words, operands, kind, bits),
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
            _other => return None,
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
            _no_such => return None,
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
                _no_such => return None,
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
            _other => return None,
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

    fn selp(&mut self, words: &Words<'_>, operands: &[NodeId]) -> Option<()> {
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

    fn mov(&mut self, words: &Words<'_>, operands: &[NodeId]) -> Option<()> {
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
            _other => None,
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
            _other => return None,
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

    fn predicate_logic(&mut self, words: &Words<'_>, operands: &[NodeId]) -> Option<()> {
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
            _other => return None,
        };
        self.emit(Op::Logic, [d, a, b, b, table]);
        Some(())
    }

    fn setp(&mut self, words: &Words<'_>, operands: &[NodeId]) -> Option<()> {
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
            (self.target(p, Class::Predicate)?.index, Some(self.target(q, Class::Predicate)?.index))
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
            Some(_xor) => table ^ c_table,
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
            _other => return None,
        };
        Some(match compare {
            "eq" => (equal, false, false),
            "ne" => (differ, false, false),
            "lt" | "lo" => (less, false, false),
            "le" | "ls" => (less_equal, false, false),
            "gt" | "hi" => (less, true, false),
            "ge" | "hs" => (less_equal, true, false),
            _other => return None,
        })
    }

    /// Runs what the instruction means, term by term.
    pub(super) fn meaning(&mut self, stmt: StmtId) -> Option<()> {
        let mut terms = meaning::term::Terms::new();
        let mut inputs = Vec::new();
        let module = self.module;
        let writes = meaning::meaning(module, stmt, &mut terms, &mut |terms, place, width| {
            let slot = match place {
                Touched::Register(node) => self.slot(node)?,
                Touched::Carry => self.carry(),
                Touched::Special(node) | Touched::Address(node) => {
                    let (class, index) = match width {
                        32 => (Class::Word, self.word(node, 32)?),
                        64 => (Class::Long, self.long(node)?),
                        _other => return None,
                    };
                    crate::machine::code::Slot { class, index, bits: width }
                }
            };
            inputs.push(slot);
            Some(terms.input(u32::try_from(inputs.len() - 1).ok()?, width))
        })?;
        let mut outputs = Vec::new();
        for write in &writes {
            outputs.push(match write.place {
                Touched::Register(node) => self.slot(node)?,
                Touched::Carry => self.carry(),
                Touched::Special(_) | Touched::Address(_) => return None,
            });
        }
        let values: Vec<_> = writes.iter().map(|write| write.value).collect();
        let number = u32::try_from(self.code.meanings.len()).ok()?;
        self.code.meanings.push(Meant::new(&terms, &values, inputs, outputs)?);
        self.emit(Op::Meant, [0, 0, 0, 0, number]);
        Some(())
    }

    /// The carry flag of the function.
    fn carry(&mut self) -> crate::machine::code::Slot {
        let index = match self.carry {
            Some(index) => index,
            None => self.temporary(Class::Predicate, 1).index,
        };
        self.carry = Some(index);
        crate::machine::code::Slot { class: Class::Predicate, index, bits: 1 }
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
        _other => return None,
    })
}
