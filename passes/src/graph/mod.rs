//! A function as a dataflow graph: blocks, and values that flow between them.
//!
//! A register is assigned many times, under guards, in nested scopes; a value is assigned once. Every write of a
//! register is a value of its own; a guarded write is a choice between the new value and the old one; where paths
//! join, a phi takes the value of the edge that was taken. A value whose instruction has a meaning holds it as a term
//! over the values that it reads; any other value is opaque. What is not a value (a store, a branch, a call) is a
//! sink that reads values whole.
//!
//! **Undefined registers.** A register that some path leaves unwritten may yield a different number at each read. So
//! each read of such a register is a value of its own, of which nothing is known.
//!
//! Sound because values are named as control flow graphs in SSA form are: a value's operands dominate it, so its
//! term holds wherever it may be read. The roles of operands and the scopes of names are the grammar's.

mod build;
mod dominators;
mod flow;
mod gates;
mod hammocks;
mod held;
mod lists;
mod names;
mod opaque;
mod phis;
mod registers;
mod slice;
mod step;
#[cfg(test)]
mod tests;

pub(crate) use build::inputs_of;
pub use flow::{BlockId, Flow, Unmodelled};
pub use registers::{Access, Register};
pub use step::Join;

use hashbrown::HashMap;
pub(crate) use lists::Lists;
use ptxopt_grammar::function::Function;
use ptxopt_grammar::meaning::disputed::Semantics;
use ptxopt_grammar::meaning::term::{Term, Terms};
use ptxopt_grammar::names::{Component, Part};
use ptxopt_grammar::table::Control;
use ptxopt_grammar::tree::{DeclId, Module, NodeId, StmtId};
use slice::Slice;

/// A value of a function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ValueId(u32);

impl ValueId {
    /// Its place in the list of values; the number of the input that stands for it in terms.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The number of the input that stands for it in terms.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0
    }

    /// The value that an input of a term stands for.
    #[must_use]
    pub const fn of_input(number: u32) -> Self {
        Self(number)
    }

    pub(crate) fn numbered(index: usize) -> Self {
        Self(u32::try_from(index).expect("a text below 4 GiB has fewer values"))
    }
}

/// Where a value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// A register that was never written.
    Undefined,
    /// One read of a register that may be undefined.
    Read(ValueId),
    /// Something of which nothing is known: a parameter, memory, a special register, an address.
    Opaque,
    /// What a statement writes.
    Result(StmtId),
    /// A phi: the value of the incoming edge through which control entered the block.
    Phi(BlockId),
    /// Not a value: a statement that reads values and has an effect.
    Sink(StmtId),
}

/// A value.
#[derive(Clone, Debug)]
pub struct Value {
    /// How many bits it has; none for a sink.
    pub width: u32,
    /// Where it comes from.
    pub origin: Origin,
    /// The register that holds it, if one does.
    pub register: Option<Register>,
    /// What it is in terms of other values: its instruction's meaning, and the old value where a guard fails.
    pub def: Option<Term>,
    /// The instruction's meaning alone, as if there were no guard.
    pub core: Option<Term>,
    /// Of a phi: what it is in terms of values that dominate it, chosen by the conditions of the branches.
    pub gated: Option<Term>,
}

/// How a value is used by another, or by a sink.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Use {
    /// In its term.
    Term,
    /// All of it, for something that has no term.
    Whole,
    /// So many of its lowest bits, which are stored.
    Low(u32),
    /// Unchanged, when control comes from this predecessor.
    Phi(u32),
}

/// An edge of the graph: a value, what uses it, and how.
#[derive(Clone, Copy)]
struct Link {
    from: ValueId,
    to: ValueId,
    slot: Use,
}

/// A function as a graph.
pub struct Graph<'m, 't> {
    module: &'m Module<'t>,
    function: Function,
    flow: Flow,
    terms: Terms,
    values: Vec<Value>,
    /// By value: what it is made of, in the order in which it was found.
    operands: Lists<(ValueId, Use)>,
    /// By value: what is made of it.
    uses: Lists<(ValueId, Use)>,
    registers: registers::Registers,
    /// For each statement of the body, what it reads and writes.
    accesses: registers::Accesses,
    /// For each access, the value that is read or written.
    seen: Vec<ValueId>,
    /// The accesses that are writes under a guard, sorted, with the values that stay where the guard fails.
    old: Vec<(u32, ValueId)>,
    /// For each access that reads what may be undefined, the value that stands for this read.
    reads: HashMap<usize, ValueId>,
    semantics: Semantics,
    /// By register: the statements that write it, in the order of the text.
    writers: Lists<StmtId>,
    /// The values that are addresses, and of what.
    addresses: HashMap<ValueId, DeclId>,
    /// The branches that decide nothing but what phis are.
    decisions: hammocks::Decisions,
    /// The part that has terms; `None` for all of it.
    slice: Option<Slice>,
}

impl std::fmt::Debug for Graph<'_, '_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Graph").field("function", &self.function.name).finish_non_exhaustive()
    }
}

impl<'m, 't> Graph<'m, 't> {
    /// The module that the function is of.
    #[must_use]
    pub fn module(&self) -> &'m Module<'t> {
        self.module
    }

    /// The function.
    #[must_use]
    pub fn function(&self) -> &Function {
        &self.function
    }

    /// Its control flow.
    #[must_use]
    pub fn flow(&self) -> &Flow {
        &self.flow
    }

    /// The arena of all terms.
    #[must_use]
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// The meaning that disputed forms were given.
    #[must_use]
    pub fn semantics(&self) -> Semantics {
        self.semantics
    }

    /// All values, sinks included.
    pub fn values(&self) -> impl ExactSizeIterator<Item = ValueId> + use<> {
        (0..self.values.len()).map(ValueId::numbered)
    }

    /// A value.
    #[must_use]
    pub fn value(&self, value: ValueId) -> &Value {
        &self.values[value.index()]
    }

    /// What a value is in terms of values that dominate it: its definition, or that of a phi after branches that only
    /// choose what is computed.
    #[must_use]
    pub fn made_of(&self, value: ValueId) -> Option<Term> {
        let entry = self.value(value);
        entry.def.or(entry.gated)
    }

    /// The branches, as sinks, that decide what a phi is and have no other effect; none for any other value.
    pub(crate) fn decisions(&self, value: ValueId) -> &[ValueId] {
        match self.value(value).origin {
            Origin::Phi(join) => self.decisions.at(join),
            Origin::Undefined | Origin::Read(_) | Origin::Opaque | Origin::Result(_) | Origin::Sink(_) => &[],
        }
    }

    /// Whether branches decide what a value is: it is a phi that is known as a choice.
    pub(crate) fn is_decided(&self, value: ValueId) -> bool {
        self.value(value).gated.is_some()
    }

    /// The branches of all joins that decide nothing but what phis are, as sinks.
    pub(crate) fn all_decisions(&self) -> impl Iterator<Item = ValueId> + '_ {
        self.decisions.all()
    }

    /// Whether a statement is a branch.
    #[must_use]
    pub fn is_branch(&self, stmt: StmtId) -> bool {
        flow::control(self.module, stmt) == Some(Control::Branch)
    }

    /// The uses of a value, and how each uses it.
    pub fn uses(&self, value: ValueId) -> impl Iterator<Item = (ValueId, Use)> + '_ {
        self.uses.get(value.index()).iter().rev().copied()
    }

    /// The operands of a value, and how it uses each.
    pub fn operands(&self, value: ValueId) -> impl ExactSizeIterator<Item = (ValueId, Use)> + '_ {
        self.operands.get(value.index()).iter().rev().copied()
    }

    /// Whether a value is the same at each read: not that of a register that may be undefined.
    #[must_use]
    pub(crate) fn is_defined(&self, value: ValueId) -> bool {
        !matches!(self.value(value).origin, Origin::Undefined | Origin::Read(_))
    }

    /// Whether everything that a value is made of has its terms.
    #[must_use]
    pub(crate) fn is_known(&self, value: ValueId) -> bool {
        self.slice.as_ref().is_none_or(|slice| slice.is_known(value))
    }

    /// Whether everything that is made of a value has its terms.
    #[must_use]
    pub(crate) fn is_followed(&self, value: ValueId) -> bool {
        self.slice.as_ref().is_none_or(|slice| slice.is_followed(value))
    }

    /// What a value is the address of, if it is that of a variable or a function.
    #[must_use]
    pub(crate) fn address_of(&self, value: ValueId) -> Option<DeclId> {
        self.addresses.get(&value).copied()
    }

    /// What a statement reads and writes: each use of a register with its value.
    pub fn accesses(&self, stmt: StmtId) -> impl Iterator<Item = (Access, ValueId)> + '_ {
        self.accesses.range(stmt).map(|at| {
            let shielded = self.reads.get(&at).filter(|_| !self.accesses.list[at].write);
            (self.accesses.list[at], shielded.copied().unwrap_or(self.seen[at]))
        })
    }

    /// The values that a statement writes.
    pub fn results(&self, stmt: StmtId) -> impl Iterator<Item = ValueId> + '_ {
        self.accesses(stmt).filter(|(access, _)| access.write).map(|(_, value)| value)
    }

    /// The values that stay in the registers a statement writes where its guard fails.
    pub fn kept(&self, stmt: StmtId) -> impl Iterator<Item = ValueId> + '_ {
        let range = self.accesses.range(stmt);
        let from = self.old.partition_point(|&(at, _)| (at as usize) < range.start);
        let kept = self.old[from..].iter().take_while(move |&&(at, _)| (at as usize) < range.end);
        kept.map(|&(_, value)| value)
    }

    /// Whether all that a statement does is to compute.
    #[must_use]
    pub fn only_computes(&self, stmt: StmtId) -> bool {
        build::only_computes(self.module, stmt)
    }

    /// The value that the name `node` of a statement reads.
    #[must_use]
    pub fn read_at(&self, stmt: StmtId, node: NodeId) -> Option<ValueId> {
        let found = self.accesses(stmt).find(|(access, _)| access.node == Some(node) && !access.write);
        found.map(|(_, value)| value)
    }

    /// The register that holds a value, or that a read reads.
    #[must_use]
    pub fn register_of(&self, value: ValueId) -> Option<Register> {
        let entry = self.value(value);
        match entry.origin {
            Origin::Read(of) => self.value(of).register,
            Origin::Undefined | Origin::Opaque | Origin::Result(_) | Origin::Phi(_) | Origin::Sink(_) => {
                entry.register
            }
        }
    }

    /// The declaration of a register; `None` for the carry flag.
    #[must_use]
    pub fn declaration(&self, register: Register) -> Option<DeclId> {
        self.registers.named(register).decl
    }

    /// The declaration of a register, and which register of it; `None` for the carry flag.
    #[must_use]
    pub fn declared(&self, register: Register) -> Option<(DeclId, Part)> {
        let named = self.registers.named(register);
        Some((named.decl?, named.part))
    }

    /// Whether a register is a component of a vector.
    #[must_use]
    pub fn is_component(&self, register: Register) -> bool {
        self.registers.named(register).part.component != Component::Whole
    }

    /// The name of a register, the same however the text spells it.
    #[must_use]
    pub fn register_text(&self, register: Register) -> Option<String> {
        let named = self.registers.named(register);
        Some(self.module.register_name(named.decl?, named.part))
    }

    /// Whether a register is in flight somewhere in the function: what a product of matrices or an access to tensor
    /// memory reads or writes until it has been waited for.
    #[must_use]
    pub fn is_in_flight(&self, register: Register) -> bool {
        self.registers.is_in_flight(register)
    }
}
