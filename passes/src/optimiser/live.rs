//! Use counts of values: which statements become unused once another reads something else.
//!
//! Counted are all reads in the text, even those that change nothing, the old values that guarded statements keep,
//! and the operands of live phis. A statement is deleted if it only computes, if a result of it was used before, and
//! none is now. A result that was unused from the start has no use to lose, so its statement stays, unless the user
//! asks for those too. Then every statement is deleted that only computes and whose results reach, over any number of
//! uses, only statements that only compute. That includes a loop counter that is used by its own increment alone,
//! whose use count never becomes zero.

use crate::graph::{Graph, Origin, ValueId};
use hashbrown::HashMap;
use ptxopt_grammar::tree::{StmtId, StmtKind};
use std::collections::BTreeSet;

/// The use counts of all values.
#[derive(Debug)]
pub(super) struct Readers {
    count: Vec<i64>,
    deleted: BTreeSet<StmtId>,
    /// For each statement with a new text, the values that the new text reads.
    replaced: HashMap<StmtId, Vec<ValueId>>,
}

/// Changes that are not made yet.
#[derive(Default)]
struct Change {
    count: HashMap<ValueId, i64>,
    deleted: BTreeSet<StmtId>,
}

impl Readers {
    pub(super) fn of(graph: &Graph<'_, '_>) -> Self {
        Self::without(graph, BTreeSet::new())
    }

    /// The use counts without some statements.
    pub(super) fn without(graph: &Graph<'_, '_>, deleted: BTreeSet<StmtId>) -> Self {
        let mut readers = Self { count: vec![0; graph.values().len()], deleted, replaced: HashMap::new() };
        let stmts = reachable(graph).filter(|&stmt| !readers.is_deleted(stmt));
        let mut work: Vec<ValueId> = stmts.flat_map(|stmt| reads(graph, stmt)).collect();
        while let Some(value) = work.pop() {
            let count = &mut readers.count[value.index()];
            *count += 1;
            if *count == 1 {
                work.extend(incoming(graph, value));
            }
        }
        readers
    }

    /// Whether the value is used.
    pub(super) fn is_read(&self, value: ValueId) -> bool {
        self.count[value.index()] > 0
    }

    /// Whether the statement was deleted.
    pub(super) fn is_deleted(&self, stmt: StmtId) -> bool {
        self.deleted.contains(&stmt)
    }

    /// Whether the text may read a value: what writes it is still there.
    pub(super) fn is_there(&self, graph: &Graph<'_, '_>, value: ValueId) -> bool {
        match graph.value(value).origin {
            Origin::Result(stmt) => !self.is_deleted(stmt),
            Origin::Phi(_) => self.is_read(value),
            Origin::Read(of) => self.is_there_once(graph, of),
            Origin::Opaque => true,
            Origin::Undefined | Origin::Sink(_) => false,
        }
    }

    /// The same for the value behind a read of a possibly undefined register, which may itself be undefined.
    fn is_there_once(&self, graph: &Graph<'_, '_>, value: ValueId) -> bool {
        match graph.value(value).origin {
            Origin::Result(stmt) => !self.is_deleted(stmt),
            Origin::Phi(_) => self.is_read(value),
            Origin::Opaque | Origin::Undefined => true,
            Origin::Read(_) | Origin::Sink(_) => false,
        }
    }

    /// The statements that would go if `stmt` read `added` in the place of its sources.
    pub(super) fn freed(&self, graph: &Graph<'_, '_>, stmt: StmtId, added: &[ValueId]) -> BTreeSet<StmtId> {
        self.change(graph, stmt, added).deleted
    }

    /// Makes the change, and deletes what becomes unused if asked to.
    pub(super) fn apply(
        &mut self,
        graph: &Graph<'_, '_>,
        stmt: StmtId,
        added: &[ValueId],
        delete: bool,
    ) -> BTreeSet<StmtId> {
        if !delete {
            for value in added.iter().map(|&value| underlying(graph, value)) {
                self.count[value.index()] += 1;
            }
            return BTreeSet::new();
        }
        let Change { count, deleted } = self.change(graph, stmt, added);
        count.into_iter().for_each(|(value, by)| self.count[value.index()] += by);
        self.deleted.extend(&deleted);
        self.replaced.insert(stmt, added.iter().map(|&value| underlying(graph, value)).collect());
        deleted
    }

    fn change(&self, graph: &Graph<'_, '_>, stmt: StmtId, added: &[ValueId]) -> Change {
        let mut change = Change::default();
        for value in added.iter().map(|&value| underlying(graph, value)) {
            *change.count.entry(value).or_default() += 1;
        }
        let mut work: Vec<ValueId> = sources(graph, stmt).collect();
        while let Some(value) = work.pop() {
            let by = change.count.entry(value).or_default();
            *by -= 1;
            if self.count[value.index()] + *by > 0 {
                continue;
            }
            match graph.value(value).origin {
                Origin::Phi(_) => work.extend(incoming(graph, value)),
                // In a loop the last use of a result can be in the statement itself, which stays, with its new text.
                Origin::Result(writer) if writer != stmt && self.may_go(graph, writer, &change) => {
                    if change.deleted.insert(writer) {
                        work.extend(self.reads_now(graph, writer));
                    }
                }
                Origin::Result(_)
                | Origin::Undefined
                | Origin::Read(_)
                | Origin::Opaque
                | Origin::Sink(_) => {}
            }
        }
        change
    }

    /// What a statement reads as it is now: the sources of its new text, if it has one, in the place of the old.
    fn reads_now(&self, graph: &Graph<'_, '_>, stmt: StmtId) -> Vec<ValueId> {
        let Some(new) = self.replaced.get(&stmt) else { return reads(graph, stmt).collect() };
        let guard = graph.module().guard(stmt).and_then(|(node, _)| graph.read_at(stmt, node));
        let kept = graph.kept(stmt).chain(guard).map(|value| underlying(graph, value));
        new.iter().copied().chain(kept).collect()
    }

    fn may_go(&self, graph: &Graph<'_, '_>, stmt: StmtId, change: &Change) -> bool {
        let left = |value: ValueId| {
            self.count[value.index()] + change.count.get(&value).copied().unwrap_or_default()
        };
        graph.only_computes(stmt)
            && !self.is_deleted(stmt)
            && graph.results(stmt).all(|value| left(value) <= 0)
    }
}

/// The statements that only compute and whose results reach only such statements.
pub(super) fn dead(graph: &Graph<'_, '_>) -> BTreeSet<StmtId> {
    let computes = |stmt: StmtId| graph.only_computes(stmt) && graph.results(stmt).next().is_some();
    let (mut dead, acting): (BTreeSet<StmtId>, BTreeSet<StmtId>) =
        reachable(graph).partition(|&stmt| computes(stmt));
    let mut seen = vec![false; graph.values().len()];
    let mut work: Vec<ValueId> = acting.into_iter().flat_map(|stmt| reads(graph, stmt)).collect();
    while let Some(value) = work.pop() {
        if std::mem::replace(&mut seen[value.index()], true) {
            continue;
        }
        match graph.value(value).origin {
            Origin::Phi(_) => work.extend(incoming(graph, value)),
            Origin::Result(writer) if dead.remove(&writer) => work.extend(reads(graph, writer)),
            Origin::Result(_) | Origin::Undefined | Origin::Read(_) | Origin::Opaque | Origin::Sink(_) => {}
        }
    }
    dead
}

/// The instructions that control can reach.
fn reachable<'g>(graph: &'g Graph<'_, '_>) -> impl Iterator<Item = StmtId> + 'g {
    let stmts = graph.flow().order().iter().flat_map(|&block| graph.flow().stmts(block));
    stmts.filter(|&stmt| graph.module().kind(stmt) == StmtKind::Instruction)
}

/// The value that is read, where a read has a value of its own.
fn underlying(graph: &Graph<'_, '_>, value: ValueId) -> ValueId {
    match graph.value(value).origin {
        Origin::Read(of) => of,
        Origin::Undefined | Origin::Opaque | Origin::Result(_) | Origin::Phi(_) | Origin::Sink(_) => value,
    }
}

/// What a statement reads: its sources, its guard, and what stays where the guard fails.
fn reads<'g>(graph: &'g Graph<'_, '_>, stmt: StmtId) -> impl Iterator<Item = ValueId> + 'g {
    let named = graph.accesses(stmt).filter(|(access, _)| !access.write).map(|(_, value)| value);
    named.chain(graph.kept(stmt)).map(|value| underlying(graph, value))
}

/// What a statement reads besides its guard and what stays where the guard fails.
fn sources<'g>(graph: &'g Graph<'_, '_>, stmt: StmtId) -> impl Iterator<Item = ValueId> + 'g {
    let guard = graph.module().guard(stmt).map(|(node, _)| node);
    let named = graph.accesses(stmt).filter(move |(access, _)| !access.write && access.node != guard);
    named.map(|(_, value)| underlying(graph, value))
}

/// The operands of a phi; none for any other value.
fn incoming<'g>(graph: &'g Graph<'_, '_>, value: ValueId) -> impl Iterator<Item = ValueId> + 'g {
    let phi = matches!(graph.value(value).origin, Origin::Phi(_));
    graph.operands(value).filter(move |_| phi).map(|(operand, _)| operand)
}
