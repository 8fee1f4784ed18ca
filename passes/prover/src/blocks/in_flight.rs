//! Registers in flight: what other instructions do to them before they have been waited for.
//!
//! What such a register holds until then is in no text: the walk takes the result of an instruction as being there at
//! once. So the new text may do no more to registers in flight than the old one does: each of its statements that names
//! one while it is in flight must stand in the old text too, and as often. What is in flight where paths join is what
//! is in flight on any of them.

use super::Stop;
use super::cut::Cut;
use super::fold::Step;
use hashbrown::HashMap;
use ptxopt_grammar::constant;
use ptxopt_grammar::function::Function;
use ptxopt_grammar::names::Part;
use ptxopt_grammar::table::{Flight, InFlight};
use ptxopt_grammar::tree::{DeclId, Module, NodeId, StmtId};
use std::collections::BTreeSet;

/// A register that is in flight. Of a vector that is all of it.
type Flying = (Flight, DeclId, u32);

/// Whether the new function names no more registers in flight than the old one.
pub(super) fn check(old: (&Module<'_>, &Function), new: (&Module<'_>, &Function)) -> Result<(), Stop> {
    if all_named(new.0, new.1).is_empty() {
        return Ok(());
    }
    let mut known: HashMap<&[u8], usize> = HashMap::new();
    for stmt in uses(old).map_err(|stop| stop.on(0))? {
        *known.entry(old.0.stmt_text(stmt)).or_default() += 1;
    }
    for stmt in uses(new).map_err(|stop| stop.on(1))? {
        let left = known.get_mut(new.0.stmt_text(stmt)).filter(|left| **left > 0);
        *left.ok_or_else(|| Stop::at(stmt, "names a register that has not been waited for"))? -= 1;
    }
    Ok(())
}

fn in_flight(module: &Module<'_>, stmt: StmtId) -> Option<InFlight> {
    module.row(stmt)?.in_flight
}

/// The statements that name registers in flight and do not begin something themselves, in the order of blocks.
fn uses((module, function): (&Module<'_>, &Function)) -> Result<Vec<StmtId>, Stop> {
    let cut = Cut::new(module, &function.body, false)?;
    let all = all_named(module, function);
    let mut entered: Vec<BTreeSet<Flying>> = vec![BTreeSet::new(); cut.blocks.len()];
    let mut open: BTreeSet<usize> = (0..cut.blocks.len()).collect();
    while let Some(at) = open.pop_first() {
        let mut flying = entered[at].clone();
        stmts_of(&cut, at).for_each(|stmt| step(module, stmt, &all, &mut flying));
        for next in cut.blocks[at].end.targets() {
            let before = entered[next].len();
            entered[next].extend(&flying);
            if entered[next].len() > before {
                open.insert(next);
            }
        }
    }
    let mut uses = Vec::new();
    for (at, mut flying) in entered.into_iter().enumerate() {
        for stmt in stmts_of(&cut, at) {
            let begins = matches!(in_flight(module, stmt), Some(InFlight::Begins(_)));
            let is_flying = |(decl, element)| flying.iter().any(|&(_, of, at)| (of, at) == (decl, element));
            if !begins && named(module, stmt).any(is_flying) {
                uses.push(stmt);
            }
            step(module, stmt, &all, &mut flying);
        }
    }
    Ok(uses)
}

fn stmts_of(cut: &Cut, block: usize) -> impl Iterator<Item = StmtId> {
    let block = &cut.blocks[block];
    block.steps.iter().filter_map(Step::stmt).map(|(stmt, _)| stmt).chain(block.end.stmt())
}

/// What is in flight after a statement.
fn step(module: &Module<'_>, stmt: StmtId, all: &BTreeSet<Flying>, flying: &mut BTreeSet<Flying>) {
    match in_flight(module, stmt) {
        Some(InFlight::Begins(flight)) => {
            flying.extend(named(module, stmt).map(|(decl, element)| (flight, decl, element)));
        }
        Some(InFlight::Fences(flight)) => flying.extend(all.iter().filter(|flying| flying.0 == flight)),
        Some(InFlight::Waits(flight)) if waits_for_all(module, stmt) => {
            flying.retain(|flying| flying.0 != flight);
        }
        Some(InFlight::Waits(_)) | None => {}
    }
}

/// All registers that are ever in flight.
fn all_named(module: &Module<'_>, function: &Function) -> BTreeSet<Flying> {
    let mut all = BTreeSet::new();
    for stmt in function.body.clone().filter_map(StmtId::new) {
        if let Some(InFlight::Begins(flight)) = in_flight(module, stmt) {
            all.extend(named(module, stmt).map(|(decl, element)| (flight, decl, element)));
        }
    }
    all
}

/// Whether what waits has no number of how much may be left, or that is 0; and no guard.
fn waits_for_all(module: &Module<'_>, stmt: StmtId) -> bool {
    let is_zero = |&node: &NodeId| constant::value(module, node) == Some(0);
    module.guard(stmt).is_none() && module.operands(stmt).iter().all(is_zero)
}

/// The registers that a statement names.
fn named(module: &Module<'_>, stmt: StmtId) -> impl Iterator<Item = (DeclId, u32)> {
    let nodes = module.roles(stmt).into_iter().map(|(node, _)| node);
    nodes.flat_map(|node| module.registers_of(node)).map(|(decl, Part { element, .. })| (decl, element))
}
