//! Hammocks: joins that are reached from the block that dominates them by a few blocks without a loop.
//!
//! Which path was taken is decided by the guards of the branches between the two; what a phi of the join is on each of
//! them says [`super::gates`].
//!
//! Where nothing between the two has an effect, the branches decide nothing but what the phis are. Once no phi of the
//! join is used, they may go: control then comes to the join by way of statements that only compute what is unused.
//! Sound because a register that is written on the way and read behind the join needs a phi there, and because control
//! that no branch turns aside goes on from one block of the hammock to the next, of which there are few and no loop, until
//! it is at the join.

use super::build::only_computes;
use super::flow::control;
use super::names::Named;
use super::{BlockId, Flow, Origin, Value, ValueId};
use hashbrown::{HashMap, HashSet};
use ptxopt_grammar::table::Control;
use ptxopt_grammar::tree::{Module, StmtId};

/// The most blocks between a join and its dominator.
const MOST_BLOCKS: usize = 12;

/// Whether a value is a phi that is given a gate if it has one: lanes are held in words and halves, and conditions in
/// bits.
pub(super) fn may_be_gated(value: &Value) -> bool {
    matches!(value.origin, Origin::Phi(_)) && matches!(value.width, 1 | 16 | 32)
}

/// Where control goes at the end of a block of a hammock.
#[derive(Clone, Copy, Debug)]
pub(super) enum Exit {
    /// To a block, if it reaches the join.
    To(BlockId),
    /// To the first if the guard of the branch holds, else to the second.
    Either(StmtId, [BlockId; 2]),
}

/// A join, and the blocks between it and its dominator.
#[derive(Debug)]
pub(super) struct Hammock {
    pub(super) head: BlockId,
    pub(super) exits: HashMap<BlockId, Exit>,
}

impl Hammock {
    fn at(module: &Module<'_>, flow: &Flow, join: BlockId) -> Option<Self> {
        let head = flow.immediate_dominator(join)?;
        let mut inner: Vec<BlockId> = Vec::new();
        let mut work = flow.predecessors(join).to_vec();
        while let Some(block) = work.pop() {
            if block == head || inner.contains(&block) {
                continue;
            }
            if inner.len() == MOST_BLOCKS {
                return None;
            }
            inner.push(block);
            work.extend_from_slice(flow.predecessors(block));
        }
        if !are_in_order(flow, head, &inner) {
            return None;
        }
        let leads = |next: &BlockId| *next == join || inner.contains(next);
        let exit = |block: BlockId| {
            let next: Vec<BlockId> = flow.successors(block).iter().copied().filter(leads).collect();
            match next[..] {
                [next] => Some(Exit::To(next)),
                [one, other] => {
                    let branch = flow.stmts(block).next_back()?;
                    let decides = control(module, branch) == Some(Control::Branch);
                    module.guard(branch).filter(|_| decides)?;
                    let falls = BlockId::numbered(block.index() + 1);
                    let taken = if one == falls { other } else { one };
                    (falls == one || falls == other).then_some(Exit::Either(branch, [taken, falls]))
                }
                _ => None,
            }
        };
        let blocks = inner.iter().copied().chain([head]);
        let exits = blocks.map(|block| Some((block, exit(block)?))).collect::<Option<_>>()?;
        Some(Self { head, exits })
    }

    /// The branches without a guard that may go with the others: without them control comes to the next block of the
    /// text, which leads to the join as well. That it gets there is sure where control goes down the text alone.
    fn jumps(&self, module: &Module<'_>, flow: &Flow, join: BlockId) -> Vec<StmtId> {
        let down = |(block, exit): (&BlockId, &Exit)| match exit {
            Exit::To(next) => next > block,
            Exit::Either(_, next) => next.iter().all(|next| next > block),
        };
        if !self.exits.iter().all(down) {
            return Vec::new();
        }
        let jump = |block: BlockId| {
            let next = BlockId::numbered(block.index() + 1);
            let last = flow.stmts(block).next_back()?;
            let leads = next == join || self.exits.contains_key(&next);
            let is_jump = control(module, last) == Some(Control::Branch) && module.guard(last).is_none();
            (is_jump && leads).then_some(last)
        };
        self.exits.keys().filter_map(|&block| jump(block)).collect()
    }

    /// Whether all that is done between the head and the join is to compute, and control goes nowhere else from there.
    fn only_computes(&self, module: &Module<'_>, flow: &Flow) -> bool {
        let is_idle = |stmt: StmtId| match control(module, stmt) {
            Some(Control::Next) => only_computes(module, stmt),
            Some(Control::Branch) | None => true,
            Some(_) => false,
        };
        let stays = |(&block, exit): (&BlockId, &Exit)| {
            let ways = if matches!(exit, Exit::To(_)) { 1 } else { 2 };
            flow.successors(block).len() == ways && flow.stmts(block).all(is_idle)
        };
        self.exits.iter().filter(|(block, _)| **block != self.head).all(stays)
    }
}

/// Whether blocks can be executed one after the other, each after all that lead to it, from the head on: there is no loop
/// among them, be it entered in one place or in several. A loop through the join has the join among the blocks.
fn are_in_order(flow: &Flow, head: BlockId, blocks: &[BlockId]) -> bool {
    let mut placed = vec![head];
    while placed.len() <= blocks.len() {
        let leads = |before: &BlockId| placed.contains(before);
        let is_next =
            |block: &&BlockId| !placed.contains(block) && flow.predecessors(**block).iter().all(leads);
        let Some(&next) = blocks.iter().find(is_next) else { return false };
        placed.push(next);
    }
    true
}

/// The hammocks of a function, by the joins at which there are phis.
#[derive(Debug)]
pub(super) struct Hammocks(HashMap<BlockId, Hammock>);

impl Hammocks {
    /// The hammock of a join.
    pub(super) fn at(&self, join: BlockId) -> Option<&Hammock> {
        self.0.get(&join)
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn of(module: &Module<'_>, flow: &Flow, named: &Named) -> Self {
        let mut all = HashMap::new();
        let mut seen = HashSet::new();
        for value in named.values.iter().filter(|value| may_be_gated(value)) {
            if let Origin::Phi(join) = value.origin
                && seen.insert(join)
            {
                all.extend(Hammock::at(module, flow, join).map(|hammock| (join, hammock)));
            }
        }
        Self(all)
    }

    /// The branches that decide which way a join is reached.
    pub(super) fn branches(&self, join: BlockId) -> impl Iterator<Item = StmtId> + '_ {
        let exits = self.0.get(&join).into_iter().flat_map(|hammock| hammock.exits.values());
        exits.filter_map(|exit| match *exit {
            Exit::Either(branch, _) => Some(branch),
            Exit::To(_) => None,
        })
    }
}

/// By join, the branches that decide nothing but which values its phis take, as the sinks that they are.
#[derive(Debug, Default)]
pub(super) struct Decisions(HashMap<BlockId, Vec<ValueId>>);

impl Decisions {
    /// Those of the joins of a function; `sinks` are the values that stand for statements.
    pub(super) fn of(module: &Module<'_>, flow: &Flow, hammocks: &Hammocks, values: &[Value]) -> Self {
        let idle = hammocks.0.iter().filter(|(_, hammock)| hammock.only_computes(module, flow));
        let joins: Vec<BlockId> = idle.map(|(&join, _)| join).collect();
        if joins.is_empty() {
            return Self::default();
        }
        let mut sinks: HashMap<StmtId, ValueId> = HashMap::new();
        for (at, value) in values.iter().enumerate() {
            if let Origin::Sink(stmt) = value.origin {
                sinks.insert(stmt, ValueId::numbered(at));
            }
        }
        let of = |join: BlockId| {
            let mut branches: Vec<StmtId> = hammocks.branches(join).collect();
            branches.extend(hammocks.0[&join].jumps(module, flow, join));
            branches.sort_unstable();
            branches.iter().filter_map(|branch| sinks.get(branch).copied()).collect()
        };
        Self(joins.into_iter().map(|join| (join, of(join))).collect())
    }

    /// Those of all joins; one that decides at several joins comes as often.
    pub(super) fn all(&self) -> impl Iterator<Item = ValueId> + '_ {
        self.0.values().flatten().copied()
    }

    /// Those that decide what the phis of a join are.
    pub(super) fn at(&self, join: BlockId) -> &[ValueId] {
        self.0.get(&join).map_or(&[], Vec::as_slice)
    }
}
