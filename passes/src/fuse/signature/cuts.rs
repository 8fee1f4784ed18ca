//! Cuts: of which words a word is a function.
//!
//! A cut of a value is a set of values that everything it is made of goes through. As in technology mapping of logic,
//! the cuts of a value are the unions of those of its operands, and only the best few are kept, so that the work is
//! linear in the size of a function. Here leaves are whole words in registers, and the functions are word-parallel
//! code, which has few words at its bottom and a mask of lanes somewhere in between; values that are not made with one
//! are not looked at.

use super::seed::{is_seed, is_weak_seed};
use super::table::MOST_LEAVES;
use crate::graph::{Graph, Origin, Use, ValueId};
use hashbrown::HashMap;
use ptxopt_grammar::meaning::term::{Op, Term, Terms};
use ptxopt_grammar::tree::StmtId;
use std::cmp::Reverse;
use std::rc::Rc;
use tinyvec::ArrayVec;

/// How many cuts of a value are kept.
const MOST_CUTS: usize = 12;

/// How many instructions lie between a value and its leaves, at most, one after the other.
const MOST_DEPTH: u8 = 24;

/// How far below a value a mask of lanes is, at most: the last steps of word-parallel code put lanes together that were
/// kept apart just before.
const MOST_DISTANCE: u8 = 6;

/// How many values a cut covers, at most.
const MOST_VALUES: usize = 64;

/// The leaves of a cut in order, with nothing in places that are not used.
pub(super) type Leaves = ArrayVec<[Leaf; MOST_LEAVES]>;

/// A value as a leaf; the default fills unused places.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub(super) struct Leaf(u32);

impl Leaf {
    fn of(value: ValueId) -> Self {
        Self(value.number())
    }

    pub(super) const fn value(self) -> ValueId {
        ValueId::of_input(self.0)
    }
}

/// A cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Cut {
    pub(super) leaves: Leaves,
    /// How many instructions lie between, one after the other.
    depth: u8,
    /// Whether one of them has a mask of lanes.
    pub(super) seeded: bool,
}

/// The cuts of the values of a function.
#[derive(Debug, Default)]
pub(super) struct Cuts {
    /// By value: how far below it a mask of lanes is; [`FAR`] if there is none. Empty until it is asked for.
    seeds: Vec<u8>,
    known: HashMap<ValueId, Rc<[Cut]>>,
    /// The moves of each value.
    moves: HashMap<ValueId, Vec<ValueId>>,
}

/// There is no mask of lanes near.
const FAR: u8 = u8::MAX;

/// The statement that computes a value without a guard, by an instruction that has a meaning.
pub(super) fn computed_by(graph: &Graph<'_, '_>, value: ValueId) -> Option<StmtId> {
    let entry = graph.value(value);
    let Origin::Result(stmt) = entry.origin else { return None };
    (entry.def.is_some() && entry.def == entry.core && graph.module().guard(stmt).is_none()).then_some(stmt)
}

/// The value in a register that this one is a copy of; what is loaded is a copy of what lies in memory.
fn copied(graph: &Graph<'_, '_>, value: ValueId) -> Option<ValueId> {
    computed_by(graph, value)?;
    let Op::Input(of) = graph.terms().op(graph.value(value).def?) else { return None };
    Some(ValueId::of_input(of)).filter(|&of| graph.register_of(of).is_some())
}

fn operands<'g>(graph: &'g Graph<'_, '_>, value: ValueId) -> impl Iterator<Item = ValueId> + 'g {
    graph.operands(value).filter(|&(_, slot)| slot == Use::Term).map(|(operand, _)| operand)
}

/// Whether a statement has a mask of lanes.
fn is_mask(graph: &Graph<'_, '_>, stmt: StmtId) -> bool {
    is_seed(graph.module(), stmt) || is_weak_seed(graph.module(), stmt)
}

impl Cuts {
    /// Whether a value is made with a mask of lanes.
    pub(super) fn is_seeded(&mut self, graph: &Graph<'_, '_>, value: ValueId) -> bool {
        if self.seeds.is_empty() {
            self.seeds = seeds(graph);
        }
        self.seeds[value.index()] <= MOST_DISTANCE
    }

    /// The cuts of a value, those with the fewest leaves first, then the deepest.
    pub(super) fn of(&mut self, graph: &Graph<'_, '_>, value: ValueId) -> Rc<[Cut]> {
        let mut stack = vec![value];
        while let Some(&top) = stack.last() {
            if self.known.contains_key(&top) {
                stack.pop();
                continue;
            }
            let stmt = computed_by(graph, top).filter(|_| !graph.is_looked_up(top));
            let before = stack.len();
            if stmt.is_some() {
                // Operands dominate what is made of them, and phis are leaves, so this ends.
                stack.extend(operands(graph, top).filter(|operand| !self.known.contains_key(operand)));
            }
            if stack.len() == before {
                let cuts = self.join(graph, top, stmt);
                self.known.insert(top, cuts.into());
                stack.pop();
            }
        }
        Rc::clone(&self.known[&value])
    }

    /// The cuts of a value whose operands have theirs.
    fn join(&mut self, graph: &Graph<'_, '_>, value: ValueId, stmt: Option<StmtId>) -> Vec<Cut> {
        if let Some(of) = copied(graph, value) {
            self.moves.entry(of).or_default().push(value);
            return self.known[&of].to_vec();
        }
        let mut cuts: Vec<Cut> = Vec::new();
        if let Some(stmt) = stmt {
            cuts.push(Cut { leaves: Leaves::new(), depth: 0, seeded: is_mask(graph, stmt) });
            for operand in operands(graph, value) {
                let more = &self.known[&operand];
                let pairs = cuts.iter().flat_map(|cut| more.iter().map(move |other| cut.with(other)));
                cuts = best(pairs.flatten().collect());
            }
            for cut in &mut cuts {
                cut.depth += 1;
            }
            cuts.retain(|cut| cut.depth <= MOST_DEPTH);
        }
        if graph.value(value).width == 32 && graph.register_of(value).is_some() {
            let leaves = std::iter::once(Leaf::of(value)).collect();
            cuts.push(Cut { leaves, depth: 0, seeded: false });
        }
        cuts
    }

    /// A value that is the same as a leaf and that a register holds where `held` says so.
    pub(super) fn held(&self, leaf: ValueId, held: &dyn Fn(ValueId) -> bool) -> Option<ValueId> {
        if held(leaf) {
            return Some(leaf);
        }
        self.moves.get(&leaf)?.iter().copied().find(|&copy| held(copy))
    }
}

impl Cut {
    /// Both; `None` if that has too many leaves.
    fn with(&self, other: &Self) -> Option<Self> {
        let mut leaves = self.leaves;
        for leaf in &other.leaves {
            if let Err(at) = leaves.binary_search(leaf) {
                if leaves.len() == MOST_LEAVES {
                    return None;
                }
                leaves.insert(at, *leaf);
            }
        }
        Some(Self { leaves, depth: self.depth.max(other.depth), seeded: self.seeded || other.seeded })
    }

    /// What it says that a value is, over its leaves as inputs in their order; `None` if that is too much.
    pub(super) fn function(&self, graph: &Graph<'_, '_>, value: ValueId, terms: &mut Terms) -> Option<Term> {
        let mut built: HashMap<ValueId, Term> = HashMap::new();
        for (number, leaf) in (0..).zip(&self.leaves) {
            built.insert(leaf.value(), terms.input(number, 32));
        }
        let mut left = MOST_VALUES;
        let mut stack = vec![value];
        while let Some(&top) = stack.last() {
            if built.contains_key(&top) {
                stack.pop();
                continue;
            }
            let def = graph.value(top).def.filter(|_| computed_by(graph, top).is_some())?;
            let before = stack.len();
            stack.extend(operands(graph, top).filter(|operand| !built.contains_key(operand)));
            if stack.len() == before {
                left = left.checked_sub(1)?;
                let term = terms.import(graph.terms(), def, &mut |number| built[&ValueId::of_input(number)]);
                built.insert(top, term);
                stack.pop();
            }
        }
        Some(built[&value])
    }
}

/// The best of these, each set of leaves once.
fn best(mut cuts: Vec<Cut>) -> Vec<Cut> {
    cuts.sort_by_key(|cut| (cut.leaves.len(), cut.leaves, Reverse(cut.seeded), Reverse(cut.depth)));
    cuts.dedup_by_key(|cut| cut.leaves);
    cuts.sort_by_key(|cut| (cut.leaves.len(), Reverse(cut.depth)));
    cuts.truncate(MOST_CUTS);
    cuts
}

/// How far below each value a mask of lanes is.
fn seeds(graph: &Graph<'_, '_>) -> Vec<u8> {
    let mut seeds = vec![FAR; graph.values().len()];
    for value in graph.values() {
        let Some(stmt) = computed_by(graph, value) else { continue };
        let below = operands(graph, value).map(|operand| seeds[operand.index()]).min().unwrap_or(FAR);
        seeds[value.index()] = if is_mask(graph, stmt) { 0 } else { below.saturating_add(1) };
    }
    seeds
}
