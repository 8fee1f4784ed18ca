//! What is known of loads and stores, which have no meaning: how many bits they move, and how a load fills the rest.
//!
//! Sound because the width is the one that the type in the text gives; for any other type nothing is said.

use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::table::{Effects, modifiers};
use ptxopt_grammar::tree::{Module, NodeId, NodeKind, StmtId};

/// How many bits of what `stmt` writes are not filled in: those of the type that is loaded.
pub(super) fn loaded_bits(module: &Module<'_>, stmt: StmtId) -> Option<u32> {
    let (_, bits) = loaded(module, stmt)?;
    Some(bits)
}

/// Whether the rest is filled with the sign.
pub(super) fn is_signed(module: &Module<'_>, stmt: StmtId) -> bool {
    loaded(module, stmt).is_some_and(|(signed, _)| signed)
}

/// The names of the values that a plain store writes to memory, and how many of their low bits it takes.
pub(super) fn stored(module: &Module<'_>, stmt: StmtId) -> Option<(Vec<NodeId>, u32)> {
    module.row(stmt).filter(|row| row.is(op::ST))?;
    let (_, bits) = accessed(module, stmt)?;
    let [_address, values] = module.operands(stmt)[..] else { return None };
    let vector = module.node_kind(values) == NodeKind::Vector;
    let values = if vector { module.children(values) } else { vec![values] };
    Some((values, bits))
}

fn loaded(module: &Module<'_>, stmt: StmtId) -> Option<(bool, u32)> {
    let row = module.row(stmt).filter(|row| row.is(op::LD) || row.is(op::LDU))?;
    row.effects.has(Effects::READS_MEMORY).then_some(())?;
    accessed(module, stmt)
}

/// The type of an access: whether it is signed, and how many bits it has.
fn accessed(module: &Module<'_>, stmt: StmtId) -> Option<(bool, u32)> {
    let (spelling, _) = module.opcode(stmt)?;
    let ty = modifiers(module.spellings().words(spelling, module.text())).last()?;
    match ty {
        b"u8" | b"b8" => Some((false, 8)),
        b"s8" => Some((true, 8)),
        b"u16" | b"b16" => Some((false, 16)),
        b"s16" => Some((true, 16)),
        b"u32" | b"b32" => Some((false, 32)),
        b"s32" => Some((true, 32)),
        _ => None,
    }
}
