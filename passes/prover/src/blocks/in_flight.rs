//! Registers in flight: what other instructions do to them before they have been waited for.
//!
//! What such a register holds until then is in no text: the walk takes the result of an instruction as being there at
//! once. So the new text may do no more to registers in flight than the old one does: each of its statements that names
//! one while it is in flight must stand in the old text too, as often, in the block to which the same edges lead, and
//! after as many of the instructions there that begin, fence or wait. These are executed in the same order on both
//! sides, as all that has an effect is, so on every way such a statement then comes between the same two of them. That
//! counts because a register may be there before it is known here: where a wait leaves something in flight, or is not
//! executed on all ways. What is in flight where paths join is what is in flight on any of them. The guard of such a
//! statement must be proved to be that of its counterpart: where the result is the same, nothing else asks for it. And
//! what is begun must be begun with the same registers, since nothing else tells which of them are in flight for how long.

use super::Stop;
use super::cut::Cut;
use super::fold::Step;
use super::product::Product;
use super::registers::Names;
use super::walk::Walk;
use crate::around::InModule;
use hashbrown::HashMap;
use ptxopt_grammar::constant;
use ptxopt_grammar::function::Function;
use ptxopt_grammar::meaning::term::Term;
use ptxopt_grammar::names::Part;
use ptxopt_grammar::roles::Role;
use ptxopt_grammar::table::{Flight, InFlight};
use ptxopt_grammar::tree::{DeclId, Module, NodeId, NodeKind, StmtId};
use std::collections::BTreeSet;

/// A register that is in flight. Of a vector that is all of it.
type Flying = (Flight, DeclId, u32);

/// A statement that names registers in flight and does not begin something itself.
struct Named {
    stmt: StmtId,
    /// How many instructions of its block that begin, fence or wait come before it.
    after: usize,
    /// Whether it is executed whenever control comes to its block, its guard aside.
    is_always: bool,
}

/// The statements of a side that name registers in flight under a guard, each with how many instructions of its block
/// that begin, fence or wait come before it.
pub(super) type Guarded = HashMap<StmtId, usize>;

/// Checks that the new function names no more registers in flight than the old one, and in the same places.
pub(super) fn check(
    sides: [InModule<'_, '_, '_>; 2],
    cuts: &[Cut; 2],
    product: &Product,
) -> Result<[Guarded; 2], Stop> {
    if all_named(sides[1].0, sides[1].1).is_empty() {
        return Ok(Default::default());
    }
    let [old, new] = [0, 1].map(|side| uses(sides[side], &cuts[side]));
    let names = sides.map(|(module, function)| Names::new(module, function));
    let key = |side: usize, named: &Named| (Meant::new(&names[side], named.stmt), named.after);
    let is_named = new.iter().any(|named| !named.is_empty());
    for &[from, to] in product.pairs.iter().flatten() {
        if is_named {
            let [old, new] = [(0, from), (1, to)].map(|(side, at)| begun(&names[side], &cuts[side], at));
            let same = |at: usize| old.get(at).is_some_and(|old| old.1 == new[at].1);
            if let Some(at) = (0..new.len()).find(|&at| !same(at)) {
                let why =
                    "begins with registers other than those of the first file, where some are not waited for";
                return Err(Stop::at(new[at].0, why));
            }
            (old.len() == new.len()).then_some(()).ok_or_else(|| Stop::plain("less is begun"))?;
        }
        let mut known: HashMap<(Meant, usize), usize> = HashMap::new();
        for named in old[from].iter().filter(|named| named.is_always) {
            *known.entry(key(0, named)).or_default() += 1;
        }
        for named in &new[to] {
            let left = known.get_mut(&key(1, named)).filter(|left| named.is_always && **left > 0);
            let unknown = || Stop::at(named.stmt, "names a register that has not been waited for");
            *left.ok_or_else(unknown)? -= 1;
        }
    }
    let guarded = |side: usize, named: &[Vec<Named>]| {
        let all = named.iter().flatten().filter(|named| sides[side].0.guard(named.stmt).is_some());
        all.map(|named| (named.stmt, named.after)).collect()
    };
    Ok([guarded(0, &old), guarded(1, &new)])
}

/// What a statement says: its text, and the scopes of what it names, since a name means something else in each.
#[derive(PartialEq, Eq, Hash)]
struct Meant {
    text: Vec<u8>,
    scopes: Vec<Option<usize>>,
}

impl Meant {
    fn new(names: &Names<'_, '_>, stmt: StmtId) -> Self {
        let module = names.module;
        let decls = module.stmt_nodes(stmt).filter_map(|node| module.decl_of(node));
        let scopes = decls.map(|decl| names.scope(decl)).collect();
        Self { text: module.stmt_text(stmt).to_vec(), scopes }
    }
}

/// A statement of the old block that names registers in flight under a guard.
pub(super) struct Touch {
    meant: Meant,
    after: usize,
    guard: Term,
}

impl Walk<'_, '_> {
    /// Remembers the guard of such a statement on the old side, and proves it to be that of its counterpart on the new one.
    pub(super) fn touch(&mut self, side: usize, stmt: StmtId) -> Result<(), Stop> {
        let Some(&after) = self.guarded[side].get(&stmt) else { return Ok(()) };
        let guard = self.guard(side, stmt)?;
        let meant = Meant::new(&self.sides[side].names, stmt);
        if side == 0 {
            self.touches.push(Touch { meant, after, guard });
            return Ok(());
        }
        for at in 0..self.touches.len() {
            let old = &self.touches[at];
            let (fits, old) = (old.meant == meant && old.after == after, old.guard);
            if fits && self.same(&[old], &[guard]).is_none() {
                self.touches.swap_remove(at);
                self.roots.extend([old, guard]);
                return Ok(());
            }
        }
        let why =
            "names a register that has not been waited for, under a guard that was not proved to be the same";
        Err(Stop::at(stmt, why))
    }
}

fn in_flight(module: &Module<'_>, stmt: StmtId) -> Option<InFlight> {
    module.row(stmt)?.in_flight
}

/// By block: the statements that name registers in flight.
fn uses((module, function): InModule<'_, '_, '_>, cut: &Cut) -> Vec<Vec<Named>> {
    let all = all_named(module, function);
    let entered = entered(module, cut, &all);
    entered.into_iter().enumerate().map(|(at, flying)| uses_in(module, cut, at, (&all, flying))).collect()
}

/// By block: what is in flight where it begins.
fn entered(module: &Module<'_>, cut: &Cut, all: &BTreeSet<Flying>) -> Vec<BTreeSet<Flying>> {
    let mut entered: Vec<BTreeSet<Flying>> = vec![BTreeSet::new(); cut.blocks.len()];
    let mut open: BTreeSet<usize> = (0..cut.blocks.len()).collect();
    while let Some(at) = open.pop_first() {
        let mut flying = entered[at].clone();
        stmts_of(cut, at).for_each(|(stmt, _)| step(module, stmt, all, &mut flying));
        for next in cut.blocks[at].end.targets() {
            let before = entered[next].len();
            entered[next].extend(&flying);
            if entered[next].len() > before {
                open.insert(next);
            }
        }
    }
    entered
}

/// The statements of a block that name registers in flight.
fn uses_in(
    module: &Module<'_>,
    cut: &Cut,
    block: usize,
    (all, mut flying): (&BTreeSet<Flying>, BTreeSet<Flying>),
) -> Vec<Named> {
    let (mut uses, mut after) = (Vec::new(), 0);
    for (stmt, is_always) in stmts_of(cut, block) {
        let done = in_flight(module, stmt);
        let is_flying = |(decl, element)| flying.iter().any(|&(_, of, at)| (of, at) == (decl, element));
        if !matches!(done, Some(InFlight::Begins(_))) && named(module, stmt).any(is_flying) {
            uses.push(Named { stmt, after, is_always });
        }
        after += usize::from(done.is_some());
        step(module, stmt, all, &mut flying);
    }
    uses
}

/// The statements of a block, and whether each is always executed.
fn stmts_of(cut: &Cut, block: usize) -> impl Iterator<Item = (StmtId, bool)> {
    let block = &cut.blocks[block];
    block.steps.iter().filter_map(Step::stmt).chain(block.end.stmt().map(|stmt| (stmt, true)))
}

/// Registers by their names and scopes.
type Called = Vec<(Vec<u8>, Option<usize>)>;

/// What a block begins, each with its registers: what it writes, and what stands in vectors.
fn begun(names: &Names<'_, '_>, cut: &Cut, block: usize) -> Vec<(StmtId, Called)> {
    let module = names.module;
    let begins = |&(stmt, _): &(StmtId, bool)| matches!(in_flight(module, stmt), Some(InFlight::Begins(_)));
    let all = stmts_of(cut, block).filter(begins).map(|(stmt, _)| {
        let is_vector = |&node: &NodeId| module.node_kind(node) == NodeKind::Vector;
        let vectors = module.operands(stmt).into_iter().filter(is_vector);
        let elements: BTreeSet<NodeId> = vectors.flat_map(|vector| module.children(vector)).collect();
        let roles = module.roles(stmt).into_iter();
        let counts = roles.filter(|(node, role)| *role != Role::Read || elements.contains(node));
        let called = counts.map(|(node, _)| {
            let scope = module.decl_of(node).and_then(|decl| names.scope(decl));
            (module.node_text(node).to_vec(), scope)
        });
        (stmt, called.collect())
    });
    all.collect()
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
