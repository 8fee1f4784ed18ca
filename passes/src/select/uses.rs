//! Use counts that follow every choice, and the cost of what is used: a choice is tried, priced and taken back.
//!
//! Counted are all reads in the text, even those that change nothing, the old values that guarded statements keep,
//! and the operands of used phis. A used phi also uses the branches that decide what it is, if they decide nothing else.
//! A statement goes when it only computes, or is such a branch, when a result of it was used before, and none is now; it
//! comes back when a result is used again. A result that was unused from the start has no use to lose, so its statement
//! stays. Each node is counted too, once however many spellings contain it.
//!
//! A choice changes counts by what the new spelling reads less what the old one read, so taking it back restores
//! every count: what is used follows from the choices alone, not from the order in which they were tried.

use super::{Candidate, Gain, Nodes, StepId};
use crate::graph::{Graph, Origin, ValueId};
use hashbrown::HashMap;
use ptxopt_grammar::tree::{StmtId, StmtKind};
use std::collections::BTreeSet;
use std::rc::Rc;

/// What an instruction of the original costs: its own share, and the parts that it may share with others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Price {
    /// What it costs beside its parts.
    pub(crate) own: u32,
    /// Operands that the assembler takes apart into so many lanes, once for all that read them.
    pub(crate) parts: [Option<(ValueId, u32)>; 2],
}

impl Price {
    /// What it costs alone.
    fn alone(&self) -> u32 {
        self.own + self.parts().map(|(_, lanes)| lanes).sum::<u32>()
    }

    fn parts(&self) -> impl Iterator<Item = (ValueId, u32)> + use<> {
        self.parts.into_iter().flatten()
    }
}

/// What is used at present, and what all of it costs.
pub(crate) struct Uses<'u, 'm, 't> {
    graph: &'u Graph<'m, 't>,
    price: &'u dyn Fn(StmtId) -> Price,
    /// Whether what becomes unused is deleted.
    deletes: bool,
    /// By value: how often it is used.
    count: Vec<u32>,
    /// The same in the original.
    at_first: Vec<u32>,
    /// By node: how many chosen spellings pay for it.
    refs: Vec<u32>,
    parts: HashMap<(ValueId, u32), u32>,
    /// The statement with number 0 in what follows.
    first: usize,
    /// By statement: whether it is present, that is not deleted.
    present: Vec<bool>,
    /// By statement: whether a result was used from the start.
    used: Vec<bool>,
    /// By statement: the spelling that was chosen for it.
    chosen: Vec<Option<Rc<Candidate>>>,
    /// By statement: what its own instruction costs, once that was asked.
    prices: Vec<Option<Price>>,
    /// What everything costs, less what it cost in the beginning; machine instructions.
    total: i64,
    /// The statements that went since the last choice.
    gone: Vec<StmtId>,
    scratch: Scratch,
}

/// What a statement's own instruction costs, and what everything costs with it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Baseline {
    own: (u32, u32),
    total: i64,
}

/// Lists that are empty between choices, and keep their memory.
#[derive(Default)]
struct Scratch {
    new: Vec<ValueId>,
    old: Vec<ValueId>,
    work: Vec<ValueId>,
}

impl<'u, 'm, 't> Uses<'u, 'm, 't> {
    /// The use counts of the original without some statements; `emulated` share parts of operands.
    pub(crate) fn of(
        graph: &'u Graph<'m, 't>,
        without: &BTreeSet<StmtId>,
        deletes: bool,
        price: &'u dyn Fn(StmtId) -> Price,
        emulated: impl IntoIterator<Item = StmtId>,
    ) -> Self {
        let body = graph.function().body.clone();
        let mut uses = Self {
            graph,
            price,
            deletes,
            count: vec![0; graph.values().len()],
            at_first: Vec::new(),
            refs: Vec::new(),
            parts: HashMap::new(),
            first: body.start,
            present: vec![false; body.len()],
            used: vec![false; body.len()],
            chosen: vec![None; body.len()],
            prices: vec![None; body.len()],
            scratch: Scratch::default(),
            total: 0,
            gone: Vec::new(),
        };
        let stmts: Vec<StmtId> = reachable(graph).filter(|stmt| !without.contains(stmt)).collect();
        for &stmt in &stmts {
            let at = uses.at(stmt);
            uses.present[at] = true;
        }
        for value in stmts.iter().flat_map(|&stmt| reads(graph, stmt)) {
            uses.add(value, &Nodes::default());
        }
        for &stmt in &stmts {
            let at = uses.at(stmt);
            uses.used[at] = graph.results(stmt).any(|value| uses.is_used(value));
        }
        for decision in graph.all_decisions() {
            if let Origin::Sink(branch) = graph.value(decision).origin {
                let at = uses.at(branch);
                uses.used[at] |= uses.is_used(decision);
            }
        }
        uses.at_first.clone_from(&uses.count);
        for stmt in emulated.into_iter().filter(|&stmt| uses.is_present(stmt)).collect::<Vec<_>>() {
            uses.charge(stmt);
        }
        uses.total = 0;
        uses
    }

    fn at(&self, stmt: StmtId) -> usize {
        stmt.index() - self.first
    }

    /// Whether a statement is present: it was not deleted.
    pub(crate) fn is_present(&self, stmt: StmtId) -> bool {
        self.present[self.at(stmt)]
    }

    /// Whether a value is used.
    pub(crate) fn is_used(&self, value: ValueId) -> bool {
        self.count[value.index()] > 0
    }

    /// How often a value is used in the original.
    pub(crate) fn reads_at_first(&self, value: ValueId) -> usize {
        self.at_first[value.index()] as usize
    }

    /// The results of a statement.
    pub(crate) fn results(&self, stmt: StmtId) -> impl Iterator<Item = ValueId> + use<'u, 'm, 't> {
        self.graph.results(stmt)
    }

    /// What a statement's own instruction reads, with repeats.
    pub(crate) fn sources(&self, stmt: StmtId) -> impl Iterator<Item = ValueId> + use<'u, 'm, 't> {
        sources(self.graph, stmt)
    }

    /// What a spelling reads.
    pub(crate) fn reads_of(&self, candidate: &Candidate) -> impl Iterator<Item = ValueId> {
        candidate.values.iter().map(|&value| underlying(self.graph, value))
    }

    /// The function.
    pub(super) fn graph(&self) -> &'u Graph<'m, 't> {
        self.graph
    }

    /// What everything costs, less what it cost in the beginning.
    pub(crate) fn total(&self) -> i64 {
        self.total
    }

    /// The statements that the last choice deleted.
    pub(crate) fn gone(&self) -> &[StmtId] {
        &self.gone
    }

    /// The spelling chosen for a statement; `None`: its own.
    pub(crate) fn chosen(&self, stmt: StmtId) -> Option<&Rc<Candidate>> {
        self.chosen[self.at(stmt)].as_ref()
    }

    /// What a statement's own instruction costs alone, and what it costs beside the parts that others need too.
    pub(crate) fn own_cost(&mut self, stmt: StmtId) -> (u32, u32) {
        let mine = u32::from(self.is_present(stmt) && self.chosen(stmt).is_none());
        let price = self.priced(stmt);
        let shared = price.parts().filter(|part| self.parts.get(part).copied().unwrap_or(0) > mine);
        let shared: u32 = shared.map(|(_, lanes)| lanes).sum();
        (price.alone(), price.alone() - shared)
    }

    /// Gives a statement its own instruction again, and says what the gain of a spelling is measured by.
    pub(crate) fn baseline(&mut self, nodes: &Nodes, stmt: StmtId) -> Baseline {
        self.choose(nodes, stmt, None);
        Baseline { own: self.own_cost(stmt), total: self.total }
    }

    /// What the spelling that was chosen last, for this statement, gains beside all others as they are.
    pub(crate) fn gain(&self, stmt: StmtId, over: Baseline) -> Gain<'_> {
        let number = self.chosen(stmt).expect("a spelling was chosen").number;
        let saved = over.total - self.total;
        Gain { stmt, number, own: over.own, saved, gone: &self.gone, together: &[] }
    }

    /// Chooses a spelling for a statement, or its own again; returns the one that was chosen before.
    pub(crate) fn choose(
        &mut self,
        nodes: &Nodes,
        stmt: StmtId,
        to: Option<Rc<Candidate>>,
    ) -> Option<Rc<Candidate>> {
        self.gone.clear();
        let at = self.at(stmt);
        let before = std::mem::replace(&mut self.chosen[at], to);
        let to = self.chosen[at].clone();
        if !self.present[at] || before.is_none() && to.is_none() {
            return before;
        }
        // What both use stays used throughout.
        let Scratch { mut new, mut old, .. } = std::mem::take(&mut self.scratch);
        self.sources_of(stmt, to.as_deref(), &mut new);
        self.sources_of(stmt, before.as_deref(), &mut old);
        match &to {
            Some(to) => self.hold(nodes, to),
            None => self.charge(stmt),
        }
        new.drain(..).for_each(|value| self.add(value, nodes));
        match &before {
            Some(before) => self.release(nodes, before),
            None => self.refund(stmt),
        }
        self.remove(&mut old, stmt, nodes);
        (self.scratch.new, self.scratch.old) = (new, old);
        before
    }

    /// Chooses another spelling that reads the same values; what goes is what went by the last choice.
    pub(crate) fn exchange(&mut self, nodes: &Nodes, stmt: StmtId, to: &Rc<Candidate>) {
        let at = self.at(stmt);
        let before = self.chosen[at].replace(Rc::clone(to)).expect("another spelling was chosen");
        debug_assert_eq!(before.values, to.values, "what is used stays the same");
        self.hold(nodes, to);
        self.release(nodes, &before);
    }

    /// Adds what a statement reads besides its guard and what stays where that fails, with a spelling or its own text.
    fn sources_of(&self, stmt: StmtId, spelling: Option<&Candidate>, to: &mut Vec<ValueId>) {
        match spelling {
            Some(spelling) => to.extend(spelling.values.iter().map(|&value| underlying(self.graph, value))),
            None => to.extend(sources(self.graph, stmt)),
        }
    }

    /// One more use of a value; what computes it comes back if it had gone.
    fn add(&mut self, value: ValueId, nodes: &Nodes) {
        let mut work = std::mem::take(&mut self.scratch.work);
        work.push(value);
        while let Some(value) = work.pop() {
            self.count[value.index()] += 1;
            if self.count[value.index()] > 1 {
                continue;
            }
            match self.graph.value(value).origin {
                Origin::Phi(_) => work.extend(taken(self.graph, value)),
                Origin::Result(writer) | Origin::Sink(writer)
                    if self.used[self.at(writer)] && !self.is_present(writer) =>
                {
                    let at = self.at(writer);
                    self.present[at] = true;
                    self.gone.retain(|&stmt| stmt != writer);
                    self.reads_now(writer, &mut work);
                    match self.chosen[at].clone() {
                        Some(candidate) => self.hold(nodes, &candidate),
                        None => self.charge(writer),
                    }
                }
                Origin::Result(_)
                | Origin::Undefined
                | Origin::Read(_)
                | Origin::Opaque
                | Origin::Sink(_) => {}
            }
        }
        self.scratch.work = work;
    }

    /// One use less of each value; what becomes unused goes, but `stays` does not.
    fn remove(&mut self, work: &mut Vec<ValueId>, stays: StmtId, nodes: &Nodes) {
        while let Some(value) = work.pop() {
            self.count[value.index()] -= 1;
            if self.count[value.index()] > 0 {
                continue;
            }
            match self.graph.value(value).origin {
                Origin::Phi(_) => work.extend(taken(self.graph, value)),
                // In a loop the last use of a result can be in the statement itself, which stays, with its new text.
                Origin::Result(writer) | Origin::Sink(writer) if writer != stays && self.may_go(writer) => {
                    let at = self.at(writer);
                    self.present[at] = false;
                    self.gone.push(writer);
                    self.reads_now(writer, work);
                    match self.chosen[at].clone() {
                        Some(candidate) => self.release(nodes, &candidate),
                        None => self.refund(writer),
                    }
                }
                Origin::Result(_)
                | Origin::Undefined
                | Origin::Read(_)
                | Origin::Opaque
                | Origin::Sink(_) => {}
            }
        }
    }

    fn may_go(&self, stmt: StmtId) -> bool {
        self.deletes
            && self.is_present(stmt)
            && self.used[self.at(stmt)]
            && (self.graph.only_computes(stmt) || self.graph.is_branch(stmt))
            // A pragma that is about it would be about the next statement.
            && !self.graph.module().has_own_pragma(stmt)
            && !self.graph.results(stmt).any(|value| self.is_used(value))
    }

    /// Adds what a statement reads as it is now: what its new text reads, if it has one, in the place of the old.
    fn reads_now(&self, stmt: StmtId, to: &mut Vec<ValueId>) {
        let Some(new) = self.chosen(stmt) else { return to.extend(reads(self.graph, stmt)) };
        self.sources_of(stmt, Some(new), to);
        let guard = self.graph.module().guard(stmt).and_then(|(node, _)| self.graph.read_at(stmt, node));
        to.extend(self.graph.kept(stmt).chain(guard).map(|value| underlying(self.graph, value)));
    }

    fn priced(&mut self, stmt: StmtId) -> Price {
        let (price, at) = (self.price, self.at(stmt));
        *self.prices[at].get_or_insert_with(|| price(stmt))
    }

    /// Counts a statement's own instruction.
    fn charge(&mut self, stmt: StmtId) {
        let price = self.priced(stmt);
        self.total += i64::from(price.own);
        for part in price.parts() {
            let count = self.parts.entry(part).or_default();
            *count += 1;
            self.total += if *count == 1 { i64::from(part.1) } else { 0 };
        }
    }

    /// The same instruction is not there any more.
    fn refund(&mut self, stmt: StmtId) {
        let price = self.priced(stmt);
        self.total -= i64::from(price.own);
        for part in price.parts() {
            let count = self.parts.entry(part).or_default();
            *count = count.saturating_sub(1);
            self.total -= if *count == 0 { i64::from(part.1) } else { 0 };
        }
    }

    /// Counts a chosen spelling.
    fn hold(&mut self, nodes: &Nodes, candidate: &Candidate) {
        self.refs.resize(nodes.len(), 0);
        self.total += i64::from(candidate.last);
        for &node in &candidate.paid {
            let refs = &mut self.refs[node.index()];
            *refs += 1;
            self.total += if *refs == 1 { i64::from(nodes.cost(node)) } else { 0 };
        }
    }

    /// The same spelling is not there any more.
    fn release(&mut self, nodes: &Nodes, candidate: &Candidate) {
        self.total -= i64::from(candidate.last);
        for &node in &candidate.paid {
            let refs = &mut self.refs[node.index()];
            *refs -= 1;
            self.total -= if *refs == 0 { i64::from(nodes.cost(node)) } else { 0 };
        }
    }

    /// How many chosen spellings pay for a node.
    pub(crate) fn refs(&self, node: StepId) -> u32 {
        self.refs.get(node.index()).copied().unwrap_or(0)
    }
}

/// The statements that only compute and whose results reach only such statements, over any number of uses. That
/// includes a loop counter that is used by its own increment alone, whose use count never becomes zero.
pub(crate) fn dead(graph: &Graph<'_, '_>) -> BTreeSet<StmtId> {
    let computes = |stmt: StmtId| {
        let only_computes = graph.only_computes(stmt) && graph.results(stmt).next().is_some();
        only_computes && !graph.module().has_own_pragma(stmt)
    };
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
pub(crate) fn underlying(graph: &Graph<'_, '_>, value: ValueId) -> ValueId {
    match graph.value(value).origin {
        Origin::Read(of) => of,
        Origin::Undefined | Origin::Opaque | Origin::Result(_) | Origin::Phi(_) | Origin::Sink(_) => value,
    }
}

/// What a statement reads: its sources, its guard, and what stays where the guard fails.
pub(crate) fn reads<'g>(graph: &'g Graph<'_, '_>, stmt: StmtId) -> impl Iterator<Item = ValueId> + 'g {
    let named = graph.accesses(stmt).filter(|(access, _)| !access.write).map(|(_, value)| value);
    named.chain(graph.kept(stmt)).map(|value| underlying(graph, value))
}

/// What a statement reads besides its guard and what stays where the guard fails.
fn sources<'g>(graph: &'g Graph<'_, '_>, stmt: StmtId) -> impl Iterator<Item = ValueId> + 'g {
    let guard = graph.module().guard(stmt).map(|(node, _)| node);
    let named = graph.accesses(stmt).filter(move |(access, _)| !access.write && access.node != guard);
    named.map(|(_, value)| underlying(graph, value))
}

/// What a phi uses: its operands, and the branches that decide what it is and nothing else.
pub(super) fn taken<'g>(graph: &'g Graph<'_, '_>, phi: ValueId) -> impl Iterator<Item = ValueId> + 'g {
    incoming(graph, phi).chain(graph.decisions(phi).iter().copied())
}

/// The operands of a phi; none for any other value.
fn incoming<'g>(graph: &'g Graph<'_, '_>, value: ValueId) -> impl Iterator<Item = ValueId> + 'g {
    let phi = matches!(graph.value(value).origin, Origin::Phi(_));
    graph.operands(value).filter(move |_| phi).map(|(operand, _)| operand)
}
