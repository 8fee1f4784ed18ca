//! One function, once: the spellings of its statements, the cheapest set of them, their proofs, the edits.
//!
//! Statements are looked at in the order of the text, and their spellings gathered; selection chooses among all of
//! them together; then each chosen spelling is proved. One that is not proved is struck out, and selection begins again.
//! All proofs are about the original, so the edits do not depend on each other: see `verify`.

use super::beginning::Beginning;
use super::chains::Chains;
use super::gather::Spelled;
use super::memo::Memo;
use super::profit::{Compared, Profit};
use super::record::{How, Kind, Record, Why};
use super::repeats::Repeats;
use super::rounds::Progress;
use super::settled::Hashes;
use super::spell::Target;
use super::splice::{self, Fresh};
use super::visible::{Declarations, Scopes};
use super::wanted::Wanted;
use super::{Clock, Options};
use crate::cost::Cost;
use crate::graph::{Graph, ValueId};
use crate::rules::{DEAD, Pass, Rule};
use crate::select::dead;
use crate::site::Knowledge;
use crate::verify::Verifier;
use ptxopt_grammar::edit::Edits;
use ptxopt_grammar::function::Function;
use ptxopt_grammar::tree::{Module, StmtId, StmtKind};
use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

/// A function being optimised.
pub(super) struct Work<'w, 'm, 't> {
    pub(super) module: &'m Module<'t>,
    pub(super) options: &'w Options,
    pub(super) rules: &'w [&'static Rule],
    pub(super) on_plain: &'w [&'static Rule],
    pub(super) verifier: &'w mut Verifier,
    pub(super) fresh: &'w Fresh,
    pub(super) progress: &'w mut Progress,
    pub(super) memo: &'w mut Memo,
    pub(super) chains: Chains,
    pub(super) clock: Clock<'w>,
    pub(super) profit: Profit<'w, 'm, 't>,
    pub(super) knowledge: &'w Knowledge,
    /// Whether the function has video instructions, or words that are kept as halves in their place.
    pub(super) has_video: bool,
    pub(super) scopes: Scopes<'w>,
    /// The statements that selection could change.
    pub(super) wanted: Wanted,
    /// The statements that were unused in the text as it came, if those are deleted.
    pub(super) dead: BTreeSet<StmtId>,
    /// How many new registers of each width there are.
    pub(super) counts: BTreeMap<u32, u32>,
}

/// What all functions share.
pub(super) struct Shared<'w> {
    pub(super) options: &'w Options,
    pub(super) target: Target,
    pub(super) rules: &'w [&'static Rule],
    /// Those of them that look at plain code.
    pub(super) on_plain: &'w [&'static Rule],
    pub(super) fresh: &'w Fresh,
    pub(super) clock: Clock<'w>,
    pub(super) declarations: &'w Declarations,
    /// Whether to find what functions could begin with.
    pub(super) seeks: bool,
}

/// What came of a function.
pub(super) struct Examined {
    pub(super) records: Vec<Record>,
    /// What it could begin with, if that was asked and the whole function was analysed.
    pub(super) beginning: Option<Beginning>,
}

impl From<Vec<Record>> for Examined {
    fn from(records: Vec<Record>) -> Self {
        Self { records, beginning: None }
    }
}

/// Decides and makes the edits of one function.
pub(super) fn run(
    module: &Module<'_>,
    function: &Function,
    shared: &Shared<'_>,
    verifier: &mut Verifier,
    progress: &mut Progress,
    memo: &mut Memo,
    edits: &mut Edits,
) -> Examined {
    if let Some(reason) = shared.options.leave.get(&function.name) {
        return left(module, function, reason).into();
    }
    let keeps_halves = splice::keeps_halves(module, function, shared.fresh);
    let wanted =
        if keeps_halves { Wanted::Everything } else { Wanted::of(module, function, &shared.options.passes) };
    let takes = |stmt| wanted.takes(module, stmt);
    let part: Option<&dyn Fn(StmtId) -> bool> =
        if shared.options.explain || wanted == Wanted::Everything { None } else { Some(&takes) };
    let graph = match Graph::about(module, function.clone(), shared.options.semantics, part) {
        Ok(graph) => graph,
        Err(unmodelled) => {
            let why = Why::Unmodelled(unmodelled.reason);
            return vec![Record::about(module, &function.name, unmodelled.stmt, Kind::Missed(why))].into();
        }
    };
    verifier.begin(&function.name);
    let holds_half = |value: ValueId| {
        let decl = graph.register_of(value).and_then(|register| graph.declaration(register));
        decl.is_some_and(|decl| shared.fresh.declares_halves(module.decl_name(decl)))
    };
    let knowledge = Knowledge::with_whole(&graph, &holds_half).knowing(std::mem::take(&mut memo.functions));
    let seeks = shared.seeks && part.is_none();
    let beginning = seeks.then(|| Beginning::of(&graph, &knowledge, shared.declarations, shared.fresh));
    let repeats = Repeats::of(&graph);
    let compared = Compared::default();
    let mut work = Work {
        module,
        options: shared.options,
        rules: shared.rules,
        on_plain: shared.on_plain,
        verifier,
        fresh: shared.fresh,
        progress,
        memo,
        chains: Chains::default(),
        clock: shared.clock,
        profit: Profit {
            graph: &graph,
            target: shared.target,
            keeps_halves,
            knowledge: &knowledge,
            repeats: &repeats,
            compared: &compared,
        },
        knowledge: &knowledge,
        has_video: false,
        scopes: Scopes::of(module, function, shared.declarations),
        wanted,
        dead: BTreeSet::new(),
        counts: splice::declared(module, function, shared.fresh),
    };
    let mut records = Vec::new();
    work.has_video = keeps_halves || instructions(module, function).any(|stmt| work.profit.is_video(stmt));
    work.sweep(&mut records);
    let explain = shared.options.explain;
    let asked = |stmt: &StmtId| (explain || wanted.takes(module, *stmt)) && !work.dead.contains(stmt);
    let all: Vec<StmtId> = instructions(module, function).filter(asked).collect();
    // If only a part is looked at, hashes would depend on whether somebody asks why statements stay.
    let hashes = LazyCell::new(|| (wanted == Wanted::Everything).then(|| Hashes::new(&graph, &knowledge)));
    let settled = |work: &Work<'_, '_, '_>, stmt| {
        let settled = Some(&work.memo.settled).filter(|settled| !settled.is_empty())?;
        settled.get(hashes.as_ref()?, &graph, stmt)
    };
    let others = all.iter().copied().filter(|&stmt| settled(&work, stmt).is_none());
    let hopeless = !work.has_video && !explain && !work.has_prospects(others);
    let mut spelled: BTreeMap<StmtId, Spelled> = BTreeMap::new();
    for stmt in all.into_iter().filter(|_| !hopeless) {
        let next = settled(&work, stmt).unwrap_or_else(|| work.gather(stmt, &spelled, &mut records));
        spelled.insert(stmt, next);
    }
    work.memo.functions = knowledge.pieces.clear();
    let open = spelled.values().any(|spelled| spelled.offers.iter().any(|offer| offer.obstacle.is_none()));
    if open || shared.options.explain || !work.dead.is_empty() {
        records.extend(work.settle(&spelled, edits));
    }
    // What was found is remembered for a later round or a variant, if there will be one.
    let changes = records.iter().any(|record| matches!(record.kind, Kind::Passed(_)));
    let begins = beginning.as_ref().is_some_and(Beginning::is_something);
    if let Some(hashes) = (changes || begins || work.has_video).then(|| hashes.as_ref()).flatten() {
        spelled.iter().for_each(|(&stmt, spelled)| work.memo.settled.insert(hashes, stmt, spelled));
    }
    Examined { records, beginning }
}

/// The instructions of a function, in the order of the text.
pub(super) fn instructions<'m, 't>(
    module: &'m Module<'t>,
    function: &Function,
) -> impl Iterator<Item = StmtId> + use<'m, 't> {
    let body = function.body.clone().filter_map(StmtId::new);
    body.filter(|&stmt| module.kind(stmt) == StmtKind::Instruction)
}

/// The records of a function that is left alone.
fn left(module: &Module<'_>, function: &Function, reason: &str) -> Vec<Record> {
    let first = instructions(module, function).next();
    let kind = Kind::Missed(Why::Left(reason.to_owned()));
    first.map(|stmt| Record::about(module, &function.name, stmt, kind)).into_iter().collect()
}

impl Work<'_, '_, '_> {
    /// Takes what was unused in the text as it came, if asked to: one rewrite, however many statements go.
    fn sweep(&mut self, records: &mut Vec<Record>) {
        let asked = self.options.dce_all && self.deletes();
        if !asked {
            return;
        }
        let dead = dead(self.profit.graph);
        if dead.is_empty() || self.progress.is_over() {
            return;
        }
        self.progress.count();
        for &stmt in &dead {
            let cost = Some((self.profit.cost_of(stmt), Cost::NOTHING));
            records.push(Record { cost, ..self.deleted(stmt, How::Dead) });
        }
        self.dead = dead;
    }

    /// Whether statements that become unused are deleted.
    pub(super) fn deletes(&self) -> bool {
        self.options.passes.contains(&Pass::Dce)
    }

    /// The record of a statement that goes.
    pub(super) fn deleted(&self, stmt: StmtId, how: How) -> Record {
        let record = self.missed(stmt, Why::Unproved);
        Record { kind: Kind::Passed(how), pass: Pass::Dce, rules: vec![DEAD.name], ..record }
    }

    pub(super) fn missed(&self, stmt: StmtId, why: Why) -> Record {
        Record::about(self.module, &self.profit.graph.function().name, stmt, Kind::Missed(why))
    }
}
