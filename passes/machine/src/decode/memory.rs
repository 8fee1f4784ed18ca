//! Loads, stores, atomic operations, and addresses as values.
//!
//! An access is decoded only if its space, its type and all of its modifiers are known; any other cannot be
//! evaluated, and says so when control flow gets there.

use super::layout::Location;
use super::{Decoder, Words};
use crate::code::{Access, Atomic, AtomicOp, Base, Class, Consistency, Op, Slot, Space};
use crate::lanes::Lane as L;
use crate::memory::{LOCAL_WINDOW, PARAMETER_WINDOW, SHARED_WINDOW};
use ptxopt_grammar::names::Type;
use ptxopt_grammar::tree::{NodeId, NodeKind};

/// Modifiers that say how memory is cached or ordered, which makes no difference to what is loaded or stored here.
const HARMLESS: &[&str] = &[
    "weak",
    "volatile",
    "relaxed",
    "acquire",
    "release",
    "acq_rel",
    "cta",
    "cluster",
    "gpu",
    "sys",
    "ca",
    "cg",
    "cs",
    "lu",
    "cv",
    "wb",
    "wt",
    "nc",
    "unified",
    "L1::evict_normal",
    "L1::evict_last",
    "L1::evict_first",
    "L1::no_allocate",
    "L1::evict_unchanged",
    "L2::64B",
    "L2::128B",
    "L2::256B",
    "global",
    "shared",
    "shared::cta",
    "local",
    "param",
    "param::entry",
    "param::func",
    "const",
    "v2",
    "v4",
    "v8",
    "mmio",
];

impl Decoder<'_, '_> {
    pub(super) fn memory(&mut self, words: &Words<'_>, operands: &[NodeId]) -> Option<()> {
        match words.opcode {
            "ld" | "ldu" => self.access(words, operands, false),
            "st" => self.access(words, operands, true),
            "atom" | "red" => self.atomic(words, operands),
            "cvta" => self.convert_address(words, operands),
            "isspacep" => self.is_in_space(words, operands),
            "prefetch" | "prefetchu" | "applypriority" => {
                self.emit(Op::Nothing, [0; 5]);
                Some(())
            }
            _ => None,
        }
    }

    fn space(&self, words: &Words<'_>, base: Base, place: Option<Location>) -> Option<Space> {
        let has = |name: &str| {
            words
                .modifiers
                .iter()
                .any(|m| *m == name || m.strip_prefix(name).is_some_and(|r| r.starts_with("::")))
        };
        Some(match () {
            () if has("global") => Space::Global,
            () if has("shared") => Space::Shared,
            () if has("local") => Space::Local,
            () if has("const") => Space::Constant,
            () if has("param") => match (base, place) {
                (_, Some(Location::Parameter(_))) => Space::Parameter,
                (Base::Frame, _) => Space::Local,
                // An address in parameter memory that was computed: of an entry or of a function.
                (_, None) if self.code.functions[self.function].is_entry => Space::Parameter,
                (_, None) => Space::Local,
                _ => return None,
            },
            // Without a space it is that of the variable that the address names.
            () => match place {
                None | Some(Location::Allocation(_)) => Space::Generic,
                Some(Location::Shared(_) | Location::SharedEnd) => Space::Shared,
                Some(Location::Frame(..)) => Space::Local,
                Some(Location::Parameter(_)) => Space::Parameter,
            },
        })
    }

    /// What an address operand begins with, a constant, and the variable if it names one.
    fn address(&mut self, node: NodeId) -> Option<(Base, i64, Option<Location>)> {
        let inner = match self.module.node_kind(node) {
            NodeKind::Address => {
                let [inner] = self.module.children(node).try_into().ok()?;
                inner
            }
            _ => node,
        };
        if let Some((place, plus)) = self.address_of(inner) {
            return Some(match place {
                Location::Frame(offset, _) => (Base::Frame, i64::from(offset) + plus, Some(place)),
                fixed => (Base::Absolute, self.fixed(fixed)?.cast_signed() + plus, Some(place)),
            });
        }
        if let Some(value) = self.constant(inner, false) {
            return Some((Base::Absolute, value.cast_signed(), None));
        }
        let (register, plus) = match self.module.node_kind(inner) {
            NodeKind::Offset => {
                let [register, plus] = self.module.children(inner).try_into().ok()?;
                (register, self.constant(plus, false)?.cast_signed())
            }
            _ => (inner, 0),
        };
        let slot = self.slot(register)?;
        let base = match slot.class {
            Class::Word if slot.bits == 32 => Base::Word(slot.index),
            Class::Long => Base::Long(slot.index),
            Class::Predicate | Class::Word | Class::Quad => return None,
        };
        Some((base, plus, None))
    }

    fn access(&mut self, words: &Words<'_>, operands: &[NodeId], stores: bool) -> Option<()> {
        Self::only(words, HARMLESS)?;
        Self::count(operands, 2)?;
        let [ty] = words.types()[..] else { return None };
        let (data, address) = if stores { (operands[1], operands[0]) } else { (operands[0], operands[1]) };
        let (base, offset, place) = self.address(address)?;
        let space = self.space(words, base, place)?;
        let elements = self.elements(data, ty, stores)?;
        let signed = is_signed(ty);
        let size = ty.bits()?.min(64) / 8;
        let number = u32::try_from(self.code.accesses.len()).ok()?;
        let consistency = match () {
            () if orders(words) => Consistency::Ordering,
            () if ["volatile", "relaxed", "mmio"].into_iter().any(|word| words.has(word)) => {
                Consistency::Relaxed
            }
            () => Consistency::Weak,
        };
        let elements = elements.into();
        let access = Access { space, base, offset, size, signed, stores, consistency, elements };
        self.code.accesses.push(access);
        self.emit(Op::Access, [0, 0, 0, 0, number]);
        Some(())
    }

    /// What is loaded or stored: the elements of a vector, or one.
    fn elements(&mut self, data: NodeId, ty: Type, stores: bool) -> Option<Vec<Option<Slot>>> {
        let nodes = match self.module.node_kind(data) {
            NodeKind::Vector => self.module.children(data),
            _ => vec![data],
        };
        let bits = ty.bits()?;
        let mut elements = Vec::new();
        for node in nodes {
            let registers: Vec<_> = self.module.registers_of(node).collect();
            if registers.len() > 1 {
                for (decl, part) in registers {
                    elements.push(Some(self.register(decl, part).filter(|slot| holds(*slot, bits))?));
                }
            } else if bits == 128 {
                let slot = self.slot(node).filter(|slot| slot.class == Class::Quad)?;
                let half = |half| Some(Slot { class: Class::Long, index: slot.index + half, bits: 64 });
                elements.extend([0, 1].map(half));
            } else {
                elements.push(self.element(node, ty, stores)?);
            }
        }
        matches!(elements.len(), 1 | 2 | 4 | 8).then_some(elements)
    }

    /// A register or constant that is loaded or stored; it may be wider than the type.
    fn element(&mut self, node: NodeId, ty: Type, stores: bool) -> Option<Option<Slot>> {
        let bits = ty.bits()?;
        if !stores && self.module.node_text(node) == b"_" {
            return Some(None);
        }
        if let Some(slot) = self.slot(node) {
            return holds(slot, bits).then_some(Some(slot));
        }
        if !stores {
            return None;
        }
        let (class, index, bits) = if bits == 64 {
            (Class::Long, self.long(node)?, 64)
        } else {
            (Class::Word, self.word(node, 32)?, 32)
        };
        Some(Some(Slot { class, index, bits }))
    }

    fn atomic(&mut self, words: &Words<'_>, operands: &[NodeId]) -> Option<()> {
        let ops = ["add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"];
        let name = ops.into_iter().find(|op| words.has(op))?;
        let known: Vec<_> =
            HARMLESS.iter().copied().chain(ops).filter(|m| !["v2", "v4", "v8"].contains(m)).collect();
        Self::only(words, &known)?;
        let [ty] = words.types()[..] else { return None };
        let signed = is_signed(ty);
        let op = match (name, ty) {
            ("add", Type::F32) => AtomicOp::AddF32,
            ("add", Type::F64) => AtomicOp::AddF64,
            (_, Type::F32 | Type::F64 | Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2) => return None,
            ("add", _) => AtomicOp::Add,
            ("min", _) if signed => AtomicOp::MinSigned,
            ("min", _) => AtomicOp::MinUnsigned,
            ("max", _) if signed => AtomicOp::MaxSigned,
            ("max", _) => AtomicOp::MaxUnsigned,
            ("and", _) => AtomicOp::And,
            ("or", _) => AtomicOp::Or,
            ("xor", _) => AtomicOp::Xor,
            ("exch", _) => AtomicOp::Exchange,
            ("cas", _) => AtomicOp::CompareAndSwap,
            ("inc", _) => AtomicOp::Increment,
            _ => AtomicOp::Decrement,
        };
        let atom = words.opcode == "atom";
        let mut rest = operands.iter().copied();
        let d = if atom { self.element(rest.next()?, ty, false)? } else { None };
        let (base, offset, place) = self.address(rest.next()?)?;
        let space = self.space(words, base, place)?;
        let b = self.element(rest.next()?, ty, true)??;
        let c = match rest.next() {
            Some(node) => Some(self.element(node, ty, true)??),
            None => None,
        };
        if c.is_some() != (op == AtomicOp::CompareAndSwap) {
            return None;
        }
        let number = u32::try_from(self.code.atomics.len()).ok()?;
        let (size, orders) = (ty.bits()? / 8, orders(words));
        self.code.atomics.push(Atomic { space, base, offset, size, op, orders, d, b, c });
        self.emit(Op::Atomic, [0, 0, 0, 0, number]);
        Some(())
    }

    /// The first generic address of a space; 0 where addresses are generic already.
    fn window(&self, words: &Words<'_>) -> Option<u64> {
        let shift = self.layout.shift();
        Some(match () {
            () if words.has("shared") || words.has("shared::cta") => SHARED_WINDOW << shift,
            () if words.has("local") => LOCAL_WINDOW << shift,
            () if words.has("param") || words.has("param::entry") => {
                let entry = self.code.functions[self.function].is_entry;
                (if entry { PARAMETER_WINDOW } else { LOCAL_WINDOW }) << shift
            }
            () if words.has("global") || words.has("const") => 0,
            () => return None,
        })
    }

    fn convert_address(&mut self, words: &Words<'_>, operands: &[NodeId]) -> Option<()> {
        Self::count(operands, 2)?;
        let [ty] = words.types()[..] else { return None };
        let window = self.window(words)?;
        let to = words.has("to");
        if ty.bits()? == 64 {
            let d = self.target(operands[0], Class::Long)?.index;
            let a = self.long(operands[1])?;
            let window = self.constant_long(window);
            self.lane(if to { L::Sub64 } else { L::Add64 }, [d, a, window, 0, 0]);
        } else {
            let d = self.target(operands[0], Class::Word)?.index;
            let a = self.word(operands[1], 32)?;
            let window = self.constant_word(u32::try_from(window).ok()?);
            self.lane(if to { L::Sub32 } else { L::Add32 }, [d, a, window, 0, 0]);
        }
        Some(())
    }

    fn is_in_space(&mut self, words: &Words<'_>, operands: &[NodeId]) -> Option<()> {
        Self::count(operands, 2)?;
        let window = self.window(words)? >> self.layout.shift();
        if self.layout.address_bits != 64 || words.has("const") {
            return None;
        }
        let p = self.target(operands[0], Class::Predicate)?.index;
        let a = self.long(operands[1])?;
        let high = self.temporary(Class::Word, 32).index;
        self.lane(L::High32, [high, a, 0, 0, 0]);
        let (lane, bound) = if window == 0 { (L::LtU32, 3) } else { (L::Eq32, u32::try_from(window).ok()?) };
        let bound = self.constant_word(bound);
        let (a, b) = if window == 0 { (bound, high) } else { (high, bound) };
        self.lane(lane, [p, a, b, 0, 0]);
        Some(())
    }
}

/// Whether an access orders other accesses.
fn orders(words: &Words<'_>) -> bool {
    ["acquire", "release", "acq_rel"].into_iter().any(|word| words.has(word))
}

/// Whether a register holds a word of so many bits; it may be wider.
fn holds(slot: Slot, bits: u32) -> bool {
    matches!(slot.class, Class::Word | Class::Long) && slot.bits >= bits
}

/// Whether a word of the type is extended by its sign.
pub(super) fn is_signed(ty: Type) -> bool {
    matches!(ty, Type::S8 | Type::S16 | Type::S32 | Type::S64)
}
