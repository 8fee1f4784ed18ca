//! Stores of what branches decide, such as what `a && b && c` is where each condition has a branch, or a word of which a
//! branch exchanges each lane.
//!
//! What is stored is in a register that several paths write, so no statement computes it, and no rule can spell it. Here
//! it is moved to another register before it is stored: the move is such a statement, which rules may spell as what the
//! branches decide together; then nothing reads what the paths write, and it goes. A move that stays has gained nothing,
//! and the caller leaves the store as it was.
//!
//! It is sound because a register that is moved and one that is stored have the same value; that a function does the
//! same with these moves is proved too before it is written (`variants`).

use super::splice;
use crate::graph::{Graph, ValueId};
use crate::numbers::numbers_of;
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::tree::{NodeId, StmtId, StmtKind};

/// A store of what branches decide.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Stored {
    pub(super) stmt: StmtId,
    opcode: String,
    address: String,
    register: String,
    width: u32,
}

impl Stored {
    /// A statement as such a store, if it is one.
    pub(super) fn of(graph: &Graph<'_, '_>, stmt: StmtId) -> Option<Self> {
        let module = graph.module();
        let stores = |stmt| module.row(stmt).is_some_and(|row| row.is(op::ST));
        if module.kind(stmt) != StmtKind::Instruction || !stores(stmt) || module.guard(stmt).is_some() {
            return None;
        }
        let [address, register] = module.operands(stmt)[..] else { return None };
        let (_, value) = graph.accesses(stmt).find(|(access, _)| access.node == Some(register))?;
        if !is_decided(graph, value) || !splice::is_plain(module, stmt) {
            return None;
        }
        let text = |node: NodeId| String::from_utf8_lossy(module.node_text(node)).into_owned();
        Some(Self {
            stmt,
            opcode: module.instruction(stmt)?.to_string(),
            address: text(address),
            register: text(register),
            width: graph.value(value).width,
        })
    }

    /// The statements that stand for it.
    pub(super) fn lines(&self, fresh: &mut dyn FnMut(u32) -> String) -> [String; 2] {
        let Self { opcode, address, register, width, .. } = self;
        let moved = fresh(*width);
        [format!("mov.b{width} {moved}, {register};"), format!("{opcode} {address}, {moved};")]
    }
}

/// Whether branches decide what a value is: a word, or one of two numbers.
fn is_decided(graph: &Graph<'_, '_>, value: ValueId) -> bool {
    let entry = graph.value(value);
    let Some(gated) = entry.gated else { return false };
    let defined = |number| graph.value(ValueId::of_input(number)).def;
    let are_two = || numbers_of(graph.terms(), gated, defined).is_some_and(|numbers| numbers.len() == 2);
    entry.width == 32 || entry.width == 16 && are_two()
}
