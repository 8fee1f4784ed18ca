//! The part of a function that matters to a few of its statements: only that part gets terms and is analysed.
//!
//! It is what these statements are made of, through computations, phis and the old values that guarded statements keep,
//! and all that is made of any of that, up to what has effects. So a fact about what they are made of never rests on a
//! value outside the part, and neither do demanded bits: all uses are in it. Of other values nothing is known, and all
//! of their bits count as demanded. That is sound as long as only the statements in question are changed: whatever
//! their changes alter is made of them, and so lies in the part.

use super::build::only_computes;
use super::hammocks::{self, Hammocks};
use super::lists::Lists;
use super::names::Named;
use super::registers::Accesses;
use super::{BlockId, Flow, Origin, ValueId};
use ptxopt_grammar::tree::{Module, StmtId, StmtKind};

/// A part of a function.
#[derive(Debug)]
pub(super) struct Slice {
    first: usize,
    /// By statement: whether it has terms.
    stmts: Vec<bool>,
    /// By value: whether all that it is made of has terms.
    known: Vec<bool>,
    /// By value: whether all that is made of it has terms.
    followed: Vec<bool>,
}

impl Slice {
    /// The part that matters to the statements that are `wanted`.
    pub(super) fn of(
        module: &Module<'_>,
        flow: &Flow,
        accesses: &Accesses,
        (named, hammocks): (&Named, &Hammocks),
        wanted: &dyn Fn(StmtId) -> bool,
    ) -> Self {
        let stmts = || flow.order().iter().flat_map(|&block| flow.stmts(block));
        let instructions = || stmts().filter(|&stmt| module.kind(stmt) == StmtKind::Instruction);
        let first = flow.first_stmt();
        let count = named.values.len();
        let mut slice = Self {
            first,
            stmts: vec![false; flow.stmt_count()],
            known: vec![false; count],
            followed: vec![false; count],
        };
        let wanted: Vec<StmtId> = instructions().filter(|&stmt| wanted(stmt)).collect();
        if wanted.is_empty() {
            return slice;
        }
        let pure: Vec<bool> = {
            let mut pure = vec![false; flow.stmt_count()];
            instructions().for_each(|stmt| pure[stmt.index() - first] = only_computes(module, stmt));
            pure
        };
        let around = Around { module, first, accesses, named, hammocks, pure };
        let phis = Lists::of(count, || named.links.iter().map(|link| (link.to.index(), link.from)));
        let below = slice.go_up(&around, &phis, wanted);
        drop(phis);
        let read = || {
            instructions().flat_map(|stmt| {
                let range = accesses.range(stmt);
                let read = range.clone().filter(|&at| !accesses.list[at].write).map(|at| named.seen[at]);
                let kept = range.filter_map(|at| named.old(at));
                read.chain(kept).map(move |value| (value.index(), stmt))
            })
        };
        let readers = Lists::of(count, read);
        let joins = Lists::of(count, || named.links.iter().map(|link| (link.from.index(), link.to)));
        slice.go_down(&around, &readers, &joins, below);
        slice
    }

    /// Takes in what statements are made of; returns the values that are.
    fn go_up(
        &mut self,
        around: &Around<'_, '_>,
        phis: &Lists<ValueId>,
        mut work: Vec<StmtId>,
    ) -> Vec<ValueId> {
        let mut found = Vec::new();
        let mut values = Vec::new();
        while let Some(stmt) = work.pop() {
            if std::mem::replace(&mut self.stmts[stmt.index() - self.first], true) {
                continue;
            }
            around.operands(stmt, &mut values);
            found.extend(around.results(stmt));
            while let Some(value) = values.pop() {
                match around.named.values[value.index()].origin {
                    Origin::Result(writer) => work.push(writer),
                    Origin::Phi(join) if !std::mem::replace(&mut self.known[value.index()], true) => {
                        found.push(value);
                        values.extend_from_slice(phis.get(value.index()));
                        around.conditions(join, value, &mut values);
                    }
                    Origin::Undefined | Origin::Opaque if !self.known[value.index()] => found.push(value),
                    Origin::Undefined
                    | Origin::Opaque
                    | Origin::Phi(_)
                    | Origin::Read(_)
                    | Origin::Sink(_) => {}
                }
                self.known[value.index()] = true;
            }
        }
        for value in &found {
            self.known[value.index()] = true;
        }
        found
    }

    /// Takes in what is made of values.
    fn go_down(
        &mut self,
        around: &Around<'_, '_>,
        readers: &Lists<StmtId>,
        joins: &Lists<ValueId>,
        mut work: Vec<ValueId>,
    ) {
        while let Some(value) = work.pop() {
            if std::mem::replace(&mut self.followed[value.index()], true) {
                continue;
            }
            work.extend_from_slice(joins.get(value.index()));
            for &reader in readers.get(value.index()) {
                self.stmts[reader.index() - self.first] = true;
                if around.is_pure(reader) || around.keeps(reader) {
                    work.extend(around.results(reader));
                }
            }
        }
    }

    /// Whether a statement has terms.
    pub(super) fn has(&self, stmt: StmtId) -> bool {
        self.stmts[stmt.index() - self.first]
    }

    /// Whether all that a value is made of has terms. Values that were made with the terms are known by them.
    pub(super) fn is_known(&self, value: ValueId) -> bool {
        self.known.get(value.index()).is_none_or(|&known| known)
    }

    /// Whether all that is made of a value has terms.
    pub(super) fn is_followed(&self, value: ValueId) -> bool {
        self.followed.get(value.index()).is_none_or(|&followed| followed)
    }
}

/// What the walks look at.
struct Around<'a, 't> {
    module: &'a Module<'t>,
    first: usize,
    accesses: &'a Accesses,
    named: &'a Named,
    hammocks: &'a Hammocks,
    /// By statement: whether all that it does is to compute.
    pure: Vec<bool>,
}

impl Around<'_, '_> {
    fn is_pure(&self, stmt: StmtId) -> bool {
        self.pure[stmt.index() - self.first]
    }

    /// Whether what a statement writes depends on a guard and on what was there before.
    fn keeps(&self, stmt: StmtId) -> bool {
        self.accesses.range(stmt).any(|at| self.accesses.list[at].write && self.accesses.list[at].guarded)
    }

    /// The conditions that choose what a phi is.
    fn conditions(&self, join: BlockId, phi: ValueId, values: &mut Vec<ValueId>) {
        if !hammocks::may_be_gated(&self.named.values[phi.index()]) {
            return;
        }
        for stmt in self.hammocks.branches(join) {
            let guard = self.module.guard(stmt).map(|(node, _)| node);
            let read = self.accesses.range(stmt).filter(|&at| self.accesses.list[at].node == guard);
            values.extend(read.map(|at| self.named.seen[at]));
        }
    }

    fn results(&self, stmt: StmtId) -> impl Iterator<Item = ValueId> + '_ {
        let writes = self.accesses.range(stmt).filter(|&at| self.accesses.list[at].write);
        writes.map(|at| self.named.seen[at])
    }

    /// What the results of a statement are made of. The results of one that has an effect are opaque: only its guard and
    /// what it keeps count, and its guard is among what it reads.
    fn operands(&self, stmt: StmtId, values: &mut Vec<ValueId>) {
        let range = self.accesses.range(stmt);
        if self.is_pure(stmt) || self.keeps(stmt) {
            let reads = range.clone().filter(|&at| !self.accesses.list[at].write);
            values.extend(reads.map(|at| self.named.seen[at]));
            values.extend(range.filter_map(|at| self.named.old(at)));
        }
    }
}
