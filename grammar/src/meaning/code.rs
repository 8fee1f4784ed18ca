//! The instruction to which a meaning is being given: its modifiers, what it reads, what it writes.
//!
//! A function that gives a meaning takes each modifier that it understands off the list. If a modifier is left in the
//! end, or an operand has another width than the instruction requires, the form has no meaning: `None`.

use super::term::{Term, Terms};
use crate::constant;
use crate::names::{DeclKind, NameParts, Type};
use crate::special::is_special_register;
use crate::table::modifiers;
use crate::tree::{Module, NodeId, NodeKind, StmtId};
use crate::video::register_text;

/// Gives the instruction its meaning; `None` for a form that it does not know.
pub type Means = fn(&mut Code<'_, '_>) -> Option<()>;

/// Something with a value that an instruction reads or writes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Place {
    /// A register, by the name that uses it: a declared one, or a component of a declared vector. The name may
    /// have a selector, which is no part of the place: see [`Place::text`].
    Register(NodeId),
    /// A special register, by the name that uses it; with `.x` in a word of its own, the node around both.
    Special(NodeId),
    /// The address of a variable or function, by the name that uses it.
    Address(NodeId),
    /// The carry flag: one bit.
    Carry,
}

impl Place {
    /// The register, special register or symbol as the text names it, without a selector; `cc` for the carry.
    #[must_use]
    pub fn text<'t>(self, module: &Module<'t>) -> &'t [u8] {
        match self {
            Self::Register(node) => register_text(module, node),
            Self::Special(node) | Self::Address(node) => module.node_text(node),
            Self::Carry => b"cc",
        }
    }
}

/// What an instruction writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Write {
    /// The place that is written.
    pub place: Place,
    /// The value, as wide as the place.
    pub value: Term,
}

/// How the bits of a type are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Bits,
    Unsigned,
    Signed,
}

/// An integer type of an instruction, packed types included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Shape {
    pub(super) kind: Kind,
    /// Of one lane.
    pub(super) bits: u32,
    pub(super) lanes: u32,
}

impl Shape {
    /// The type that a modifier spells, without its dot; `pred` is one bit.
    fn parse(word: &[u8]) -> Option<Self> {
        if word == b"pred" {
            return Some(Self { kind: Kind::Bits, bits: 1, lanes: 1 });
        }
        let (&letter, number) = word.split_first()?;
        let kind = match letter {
            b'b' => Kind::Bits,
            b'u' => Kind::Unsigned,
            b's' => Kind::Signed,
            _ => return None,
        };
        let (bits, lanes) = match number {
            b"8" => (8, 1),
            b"16" => (16, 1),
            b"32" => (32, 1),
            b"64" => (64, 1),
            b"128" if kind == Kind::Bits => (128, 1),
            b"8x4" if kind != Kind::Bits => (8, 4),
            b"16x2" if kind != Kind::Bits => (16, 2),
            _ => return None,
        };
        Some(Self { kind, bits, lanes })
    }

    pub(super) fn signed(self) -> bool {
        self.kind == Kind::Signed
    }

    /// Of all lanes.
    pub(super) fn width(self) -> u32 {
        self.bits * self.lanes
    }
}

/// An instruction being given a meaning.
pub struct Code<'c, 't> {
    pub(super) module: &'c Module<'t>,
    pub(super) stmt: StmtId,
    pub(super) terms: &'c mut Terms,
    words: Vec<&'c [u8]>,
    operands: Vec<NodeId>,
    read: &'c mut dyn FnMut(&mut Terms, Place, u32) -> Option<Term>,
    writes: Vec<Write>,
}

impl std::fmt::Debug for Code<'_, '_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Code").field("stmt", &self.stmt).field("writes", &self.writes).finish_non_exhaustive()
    }
}

impl<'c, 't> Code<'c, 't> {
    pub(super) fn new(
        module: &'c Module<'t>,
        stmt: StmtId,
        terms: &'c mut Terms,
        read: &'c mut dyn FnMut(&mut Terms, Place, u32) -> Option<Term>,
    ) -> Option<Self> {
        let (spelling, _token) = module.opcode(stmt)?;
        let words = modifiers(module.spellings().words(spelling, module.text())).collect();
        let operands = module.operands(stmt);
        Some(Self { module, stmt, terms, words, operands, read, writes: Vec::new() })
    }

    /// What is written, if every modifier has been taken and no place is written twice.
    pub(super) fn writes(self) -> Option<Vec<Write>> {
        let twice = |at: usize| {
            let same = |write: &Write| self.same(write.place, self.writes[at].place);
            self.writes[..at].iter().any(same)
        };
        let good = self.words.is_empty() && !(0..self.writes.len()).any(twice);
        good.then_some(self.writes)
    }

    fn same(&self, a: Place, b: Place) -> bool {
        match (a, b) {
            (Place::Register(a), Place::Register(b)) => {
                let parts = |node| NameParts::new(register_text(self.module, node));
                let (x, y) = (parts(a), parts(b));
                self.module.decl_of(a) == self.module.decl_of(b) && (x.index, x.suffix) == (y.index, y.suffix)
            }
            (a, b) => a == b,
        }
    }

    /// Takes a modifier; returns whether it was present.
    pub(super) fn flag(&mut self, wanted: &str) -> bool {
        let found = self.words.iter().position(|&word| word == wanted.as_bytes());
        found.map(|at| self.words.remove(at)).is_some()
    }

    /// Takes the first of these modifiers that is present, and returns its value.
    pub(super) fn one_of<T: Copy>(&mut self, choices: &[(&str, T)]) -> Option<T> {
        choices.iter().find(|(word, _)| self.flag(word)).map(|&(_, value)| value)
    }

    /// Takes the first modifier.
    pub(super) fn first(&mut self) -> Option<&'c [u8]> {
        (!self.words.is_empty()).then(|| self.words.remove(0))
    }

    /// Takes the first modifier if it is this one; returns whether it was.
    pub(super) fn first_is(&mut self, wanted: &str) -> bool {
        let is = self.words.first().is_some_and(|&word| word == wanted.as_bytes());
        is && self.first().is_some()
    }

    /// Takes the first type.
    pub(super) fn shape(&mut self) -> Option<Shape> {
        let at = self.words.iter().position(|word| Shape::parse(word).is_some())?;
        Shape::parse(self.words.remove(at))
    }

    /// Takes the first type, which must have one lane.
    pub(super) fn plain_shape(&mut self) -> Option<Shape> {
        self.shape().filter(|shape| shape.lanes == 1)
    }

    /// Takes all modifiers, for instructions whose own decoder reads them.
    pub(super) fn forget_modifiers(&mut self) {
        self.words.clear();
    }

    /// The operands, if there are exactly `N`.
    pub(super) fn operands<const N: usize>(&self) -> Option<[NodeId; N]> {
        self.operands.as_slice().try_into().ok()
    }

    /// The width of the declared register or component that `name` uses, in bits.
    pub(super) fn register_width(&self, name: NodeId) -> Option<u32> {
        let decl = self.module.decl(self.module.decl_of(name)?);
        let component = NameParts::new(self.module.node_text(name)).suffix;
        let whole = if decl.lanes > 1 { is_component(component?) } else { component.is_none() };
        if decl.kind != DeclKind::Register || !whole {
            return None;
        }
        if decl.ty == Type::Pred { Some(1) } else { decl.ty.bits() }
    }

    /// The value of the operand `node`, which must have exactly `width` bits unless it is a constant.
    pub(super) fn value(&mut self, node: NodeId, width: u32) -> Option<Term> {
        match self.module.node_kind(node) {
            NodeKind::Name if self.register_width(node).is_none() => self.named(node, width),
            NodeKind::Name => {
                let exact = self.register_width(node) == Some(width);
                exact.then(|| (self.read)(self.terms, Place::Register(node), width))?
            }
            NodeKind::Suffixed => self.named(node, width),
            NodeKind::Int | NodeKind::Constant => {
                let value = constant::value(self.module, node)?;
                Some(self.terms.constant(i128::from(value.cast_signed()).cast_unsigned(), width))
            }
            NodeKind::Complement if width == 1 => {
                let inner = *self.module.children(node).first()?;
                let inner = self.value(inner, 1)?;
                Some(self.terms.not(inner))
            }
            NodeKind::Offset => {
                let [base, offset] = self.module.children(node).try_into().ok()?;
                let base = self.value(base, width)?;
                let offset = self.value(offset, width)?;
                Some(self.terms.add(base, offset))
            }
            NodeKind::Declared
            | NodeKind::Word
            | NodeKind::Float
            | NodeKind::Str
            | NodeKind::Directive
            | NodeKind::Negated
            | NodeKind::Complement
            | NodeKind::Pair
            | NodeKind::Element
            | NodeKind::Vector
            | NodeKind::Address
            | NodeKind::List
            | NodeKind::Guard
            | NodeKind::GuardNot
            | NodeKind::Family
            | NodeKind::Dimension
            | NodeKind::Initialiser
            | NodeKind::Align
            | NodeKind::Attribute => None,
        }
    }

    /// The word in a register that may have a selector; the decoder of the instruction has checked its type.
    pub(super) fn word(&mut self, name: NodeId) -> Option<Term> {
        (self.read)(self.terms, Place::Register(name), 32)
    }

    /// Records that such a register is written.
    pub(super) fn write_word(&mut self, name: NodeId, value: Term) {
        self.writes.push(Write { place: Place::Register(name), value });
    }

    /// A special register or an address.
    fn named(&mut self, node: NodeId, width: u32) -> Option<Term> {
        let split = self.module.node_kind(node) == NodeKind::Suffixed;
        let name = if split { *self.module.children(node).first()? } else { node };
        let place = match self.module.decl_of(name).map(|decl| self.module.decl(decl).kind) {
            None if is_special_register(NameParts::new(self.module.node_text(name)).base) => {
                Place::Special(node)
            }
            Some(DeclKind::Variable | DeclKind::Function) if name == node => Place::Address(node),
            None
            | Some(
                DeclKind::Variable
                | DeclKind::Function
                | DeclKind::Register
                | DeclKind::Parameter
                | DeclKind::Label
                | DeclKind::Table
                | DeclKind::SectionLabel,
            ) => return None,
        };
        (self.read)(self.terms, place, width)
    }

    /// The low `width` bits of the operand `node`, which may be wider.
    pub(super) fn low_bits(&mut self, node: NodeId, width: u32) -> Option<Term> {
        let whole = self.register_width(node).unwrap_or(width).max(width);
        let value = self.value(node, whole)?;
        Some(self.terms.extract(value, 0, width))
    }

    /// The carry flag.
    pub(super) fn carry(&mut self) -> Option<Term> {
        (self.read)(self.terms, Place::Carry, 1)
    }

    /// Records that the carry flag is written.
    pub(super) fn write_carry(&mut self, value: Term) {
        self.writes.push(Write { place: Place::Carry, value });
    }

    /// Records that the register at `node` is written. Nothing is recorded for the sink `_`, which is legal.
    pub(super) fn write(&mut self, node: NodeId, value: Term) -> Option<()> {
        if self.is_sink(node) {
            return Some(());
        }
        let good = self.module.node_kind(node) == NodeKind::Name
            && self.register_width(node) == Some(self.terms.width(value));
        good.then(|| self.writes.push(Write { place: Place::Register(node), value }))
    }

    /// Whether `node` is `_`.
    pub(super) fn is_sink(&self, node: NodeId) -> bool {
        self.module.node_kind(node) == NodeKind::Name && self.module.node_text(node) == b"_"
    }

    /// One operation whose sources are all as wide as its result.
    pub(super) fn each<const N: usize>(
        &mut self,
        width: u32,
        compute: impl FnOnce(&mut Terms, [Term; N]) -> Term,
    ) -> Option<()> {
        let (&target, sources) = self.operands.split_first()?;
        let sources: [NodeId; N] = sources.try_into().ok()?;
        let mut values = [None; N];
        for (value, node) in values.iter_mut().zip(sources) {
            *value = Some(self.value(node, width)?);
        }
        let values = values.map(|value| value.expect("every place has just been filled"));
        let result = compute(self.terms, values);
        self.write(target, result)
    }
}

fn is_component(suffix: &[u8]) -> bool {
    matches!(suffix, [b'x' | b'y' | b'z' | b'w' | b'r' | b'g' | b'b' | b'a'])
}
