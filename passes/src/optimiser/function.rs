//! One function, once: candidates, costs, the door, the edits.
//!
//! Statements are looked at in the order of the text. What an earlier edit made dead is gone for later ones. All
//! proofs are about the original, so the edits do not depend on each other: see the door.

use super::choose::{self, Spelling, Target};
use super::live::{self, Readers};
use super::memo::Memo;
use super::record::{Bound, How, Kind, Record, Why, one_line};
use super::rounds::Progress;
use super::stays::Stays;
use super::visible::{Declarations, Scopes, is_integer};
use super::weave::{self, Fresh};
use super::{Clock, Options};
use crate::cost::Cost;
use crate::door::{Candidate, Door};
use crate::graph::{Function, Graph, Register, ValueId};
use crate::recipe::{Code, Recipe, Source, Step, Text, is_move};
use crate::rules::{DEAD, Pass, Rule};
use crate::site::Knowledge;
use hashbrown::HashSet;
use ptxopt_grammar::edit::Edits;
use ptxopt_grammar::legal::{self, Fault, Given};
use ptxopt_grammar::meaning::disputed::disputed;
use ptxopt_grammar::names::Type;
use ptxopt_grammar::tree::{Module, StmtId, StmtKind};
use ptxopt_grammar::video;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// A function being optimised.
pub(super) struct Work<'w, 'm, 't> {
    pub(super) module: &'m Module<'t>,
    options: &'w Options,
    pub(super) target: Target,
    rules: &'w [&'static Rule],
    on_plain: &'w [&'static Rule],
    door: &'w mut Door,
    fresh: &'w Fresh,
    progress: &'w mut Progress,
    memo: &'w mut Memo,
    clock: Clock<'w>,
    pub(super) graph: Graph<'m, 't>,
    knowledge: Knowledge,
    readers: Readers,
    scopes: Scopes<'w>,
    /// How many new registers of each width there are.
    counts: BTreeMap<u32, u32>,
    replaced: BTreeMap<StmtId, Replacement>,
    deleted: BTreeSet<StmtId>,
    /// The records of replacements that were found dead afterwards, by number.
    retracted: HashSet<usize>,
}

/// What is to stand in the place of a statement.
struct Replacement {
    lines: Vec<String>,
    /// The new registers: their widths and numbers.
    fresh: Vec<(u32, u32)>,
    /// The statements that it freed.
    freed: Vec<StmtId>,
    /// The number of its record.
    record: usize,
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
}

/// A candidate that may be written, with what it saves.
struct Offer {
    spelling: Spelling,
    text: Text,
    cost: Cost,
    /// What would be freed.
    freed: Vec<StmtId>,
    /// How much less it costs, at least.
    gain: u32,
}

/// Decides and makes the edits of one function.
pub(super) fn run(
    module: &Module<'_>,
    function: &Function,
    shared: &Shared<'_>,
    door: &mut Door,
    progress: &mut Progress,
    memo: &mut Memo,
    edits: &mut Edits,
) -> Vec<Record> {
    if let Some(reason) = shared.options.leave.get(&function.name) {
        return left(module, function, reason);
    }
    let graph = match Graph::new(module, function.clone(), shared.options.semantics) {
        Ok(graph) => graph,
        Err(unmodelled) => {
            let why = Why::Unmodelled(unmodelled.reason);
            return vec![Record::about(module, &function.name, unmodelled.stmt, Kind::Missed(why))];
        }
    };
    door.begin();
    let knowledge = Knowledge::of(&graph);
    let readers = Readers::of(&graph);
    let mut work = Work {
        module,
        options: shared.options,
        target: shared.target,
        rules: shared.rules,
        on_plain: shared.on_plain,
        door,
        fresh: shared.fresh,
        progress,
        memo,
        clock: shared.clock,
        scopes: Scopes::of(module, function, shared.declarations),
        counts: weave::declared(module, function, shared.fresh),
        graph,
        knowledge,
        readers,
        replaced: BTreeMap::new(),
        deleted: BTreeSet::new(),
        retracted: HashSet::new(),
    };
    let mut records = Vec::new();
    work.sweep(&mut records);
    let body = function.body.clone().filter_map(StmtId::new);
    for stmt in body.filter(|&stmt| module.kind(stmt) == StmtKind::Instruction) {
        work.stmt(stmt, &mut records);
    }
    let retracted = std::mem::take(&mut work.retracted);
    work.write(edits);
    let kept = records.into_iter().enumerate().filter(|(number, _)| !retracted.contains(number));
    kept.map(|(_, record)| record).collect()
}

/// The records of a function that is left alone.
fn left(module: &Module<'_>, function: &Function, reason: &str) -> Vec<Record> {
    let mut body = function.body.clone().filter_map(StmtId::new);
    let first = body.find(|&stmt| module.kind(stmt) == StmtKind::Instruction);
    let kind = Kind::Missed(Why::Left(reason.to_owned()));
    first.map(|stmt| Record::about(module, &function.name, stmt, kind)).into_iter().collect()
}

/// The type of a new register of so many bits.
fn untyped(width: u32) -> Type {
    if width == 1 { Type::Pred } else { Type::parse(format!(".b{width}").as_bytes()) }
}

/// Whether all that is left to do is to move a register to itself.
fn is_idle(lines: &[String]) -> bool {
    let [line] = lines else { return false };
    let Some((words, operands)) = line.strip_suffix(';').and_then(|line| line.split_once(' ')) else {
        return false;
    };
    is_move(words) && operands.split_once(", ").is_some_and(|(to, from)| to == from)
}

fn text(bytes: &[u8]) -> String {
    one_line(&String::from_utf8_lossy(bytes))
}

impl Work<'_, '_, '_> {
    /// Deletes what was unused in the text as it came, if asked to: one rewrite, however many statements it takes.
    fn sweep(&mut self, records: &mut Vec<Record>) {
        let asked = self.options.dce_all && self.options.passes.contains(&Pass::Dce);
        if !asked {
            return;
        }
        let dead = live::dead(&self.graph);
        if dead.is_empty() || self.progress.is_over() {
            return;
        }
        self.progress.count();
        for &stmt in &dead {
            let mut record = self.dead(stmt);
            record.cost = Some((self.cost_of(stmt), Cost::NOTHING));
            records.push(record);
        }
        self.readers = Readers::without(&self.graph, dead.clone());
        self.deleted.extend(dead);
    }

    fn dead(&self, stmt: StmtId) -> Record {
        let mut record = self.missed(stmt, Why::Unproved);
        record.kind = Kind::Passed(How::Dead);
        record.pass = Pass::Dce;
        record.rules = vec![DEAD.name];
        record
    }

    fn stmt(&mut self, stmt: StmtId, records: &mut Vec<Record>) {
        if self.readers.is_deleted(stmt) {
            return;
        }
        let told = records.len();
        let stays = self.rewrite(stmt, records);
        // The attempt has recorded its own reason.
        if records.len() == told {
            records.extend(stays.and_then(|stays| self.stays(stmt, stays)));
        }
    }

    /// Rewrites a statement if that pays and is proved; else the reason why it stays.
    fn rewrite(&mut self, stmt: StmtId, records: &mut Vec<Record>) -> Option<Stays> {
        if let Some(class) = self.disputed(stmt) {
            return Some(Why::Disputed(class).into());
        }
        if !self.graph.flow().reachable(self.graph.flow().block(stmt)) {
            return Some(Why::Unreachable.into());
        }
        let Some(step) = self.graph.step(stmt) else { return Some(Why::Unknown.into()) };
        let value = self.graph.results(stmt).next().expect("what is one step has a result");
        if self.knowledge.demanded[value.index()] == 0 || !self.readers.is_read(value) {
            return Some(Why::Unused.into());
        }
        let own = Recipe::one(step.clone());
        let alone = self.target.cost(&own);
        let before = self.cost_here(stmt, &own);
        let (mut offers, mut obstacles) = (Vec::new(), Vec::new());
        for spelling in self.spellings((stmt, step), value, records) {
            match self.offer(stmt, value, before, spelling) {
                Ok(offer) => offers.push(offer),
                Err(obstacle) => obstacles.push(obstacle),
            }
        }
        offers.retain(|offer| self.is_legal(stmt, value, offer, records));
        // There is no record of what the door does not understand.
        let offered = offers.first().map(|offer: &Offer| (offer.spelling.clone(), offer.cost));
        obstacles.extend(offered.map(|(spelling, cost)| Self::obstacle(Why::Unclear, spelling, alone, cost)));
        // The best first; equal ones by fewest lines, by most that goes, then in the order of the rules.
        offers.sort_by_key(|offer: &Offer| {
            (Reverse(offer.gain), offer.text.lines.len(), offer.cost.most, Reverse(offer.freed.len()))
        });
        for offer in offers {
            if self.accept(stmt, value, alone, offer, records) {
                return None;
            }
        }
        Some(Self::nearest(alone, obstacles))
    }

    /// What the rules make of an instruction, from memory where it is one like others.
    fn spellings(
        &mut self,
        (stmt, step): (StmtId, Step),
        value: ValueId,
        records: &mut Vec<Record>,
    ) -> Vec<Spelling> {
        let shape = self.memo.shape(&self.graph, &self.knowledge, &step, value);
        if let Some((shape, numbers)) = &shape
            && let Some(known) = self.memo.get(shape, numbers)
        {
            return known;
        }
        let rules = if self.is_video(stmt) { self.rules } else { self.on_plain };
        let (found, too_many) =
            choose::spellings(&self.graph, &self.knowledge, step, value, rules, &self.target);
        if too_many {
            records.push(Record { kind: Kind::Unending(Bound::Spellings), ..self.missed(stmt, Why::Limit) });
        }
        if let Some((shape, numbers)) = shape {
            self.memo.put(shape, &numbers, &found);
        }
        found
    }

    pub(super) fn is_video(&self, stmt: StmtId) -> bool {
        self.module.row(stmt).is_some_and(|row| row.video.is_some())
    }

    fn disputed(&self, stmt: StmtId) -> Option<&'static str> {
        if self.options.semantics == crate::graph::Semantics::Manual || self.module.row(stmt)?.video.is_none()
        {
            return None;
        }
        let instance = video::decode(self.module, stmt)?.ok()?;
        disputed(instance.form).map(|dispute| dispute.name)
    }

    pub(super) fn missed(&self, stmt: StmtId, why: Why) -> Record {
        Record::about(self.module, &self.graph.function().name, stmt, Kind::Missed(why))
    }

    /// A spelling as something that can be written here for less.
    fn offer(&self, stmt: StmtId, value: ValueId, before: Cost, spelling: Spelling) -> Result<Offer, Stays> {
        let read: Vec<ValueId> = spelling.recipe.values().collect();
        let cost = self.target.cost(&spelling.recipe);
        let delete = self.options.passes.contains(&Pass::Dce);
        let freed = if delete { self.readers.freed(&self.graph, stmt, &read) } else { BTreeSet::new() };
        let saved: Cost = freed.iter().map(|&stmt| self.cost_of(stmt)).sum();
        let obstacle = |why, spelling: Spelling| Err(Self::obstacle(why, spelling, before + saved, cost));
        if let Some(why) = self.too_dear(stmt, [before, saved], &spelling.recipe, cost) {
            return obstacle(why, spelling);
        }
        if self.is_left_to_the_assembler(stmt, &freed) {
            return obstacle(Why::Plain, spelling);
        }
        // The assembler takes a float's register for untyped moves only.
        let copies = spelling.recipe.steps.iter().all(|step| step.copied().is_some());
        // And it takes a component of a vector for plain instructions only.
        let plain = spelling.recipe.steps.iter().all(|step| !matches!(step.code, Code::Video(_)));
        let may_name = |&register: &Register| {
            self.scopes.means(&self.graph, register, stmt)
                && (copies || is_integer(&self.graph, register))
                && (plain || !self.graph.is_component(register))
        };
        let here = |&value: &ValueId| {
            self.graph.holds(value, stmt)
                && self.readers.is_there(&self.graph, value)
                && self.graph.register_of(value).as_ref().is_some_and(may_name)
        };
        if let Some(why) = self.lacks(&spelling.recipe) {
            return obstacle(why, spelling);
        }
        let to = self.graph.register_of(value).filter(may_name);
        let to = to.and_then(|register| self.graph.register_text(register));
        let Some(to) = to.filter(|_| read.iter().all(here)) else {
            return obstacle(Why::Unheld, spelling);
        };
        let widths: Vec<u32> = spelling.recipe.steps.iter().map(|step| step.width).collect();
        let fresh = |step: usize| {
            let before = widths[..step].iter().filter(|&&width| width == widths[step]).count();
            let first = self.counts.get(&widths[step]).copied().unwrap_or(0);
            self.fresh.name(widths[step], first + u32::try_from(before).expect("a recipe is short"))
        };
        let Some(text) = spelling.recipe.text(&self.graph, &to, &fresh) else {
            return obstacle(Why::Unheld, spelling);
        };
        let gain = (before + saved).least.saturating_sub(cost.most);
        Ok(Offer { spelling, text, cost, freed: freed.into_iter().collect(), gain })
    }

    /// Whether PTX has each instruction of an offer, by the table. A rule that spells one that does not exist is a
    /// bug; that a register has a type which the instruction does not take is none.
    fn is_legal(&self, stmt: StmtId, value: ValueId, offer: &Offer, records: &mut Vec<Record>) -> bool {
        let recipe = &offer.spelling.recipe;
        let typed = |value: ValueId| {
            let decl = self.graph.register_of(value).and_then(|register| self.graph.declaration(register));
            decl.map_or(Given::Other, |decl| Given::Register(self.module.decl(decl).ty))
        };
        let fresh = |step: &Step| Given::Register(untyped(step.width));
        for (at, step) in recipe.steps.iter().enumerate() {
            let to = if at + 1 == recipe.steps.len() { typed(value) } else { fresh(step) };
            let from = step.sources.iter().map(|source| match *source {
                Source::Value(value) => typed(value),
                Source::Step(step) => fresh(&recipe.steps[step]),
                Source::Constant(_) => Given::Whole,
            });
            let given: Vec<Given> = match step.code {
                Code::Pack => vec![to, Given::Vector],
                Code::Plain(_) | Code::Video(_) => std::iter::once(to).chain(from).collect(),
            };
            match legal::instruction(step.words().as_bytes(), &given) {
                Ok(()) => {}
                Err(Fault::Operands) => return false,
                Err(Fault::Form) => {
                    let mut record = self.missed(stmt, Why::Unproved);
                    record.rules = offer.spelling.trail.iter().map(|rule| rule.name).collect();
                    record.after.clone_from(&offer.text.lines);
                    records.push(Record { kind: Kind::Illegal(step.words()), ..record });
                    return false;
                }
            }
        }
        true
    }

    /// Takes an offer if the door lets it through.
    fn accept(
        &mut self,
        stmt: StmtId,
        value: ValueId,
        before: Cost,
        offer: Offer,
        records: &mut Vec<Record>,
    ) -> bool {
        let Offer { spelling, text, cost, freed, .. } = offer;
        let mut record = self.missed(stmt, Why::Unproved);
        record.pass = spelling.trail.last().map_or(Pass::Simplify, |rule| rule.pass);
        record.rules = spelling.trail.iter().map(|rule| rule.name).collect();
        if !is_idle(&text.lines) {
            record.after.clone_from(&text.lines);
        }
        if let Some(last) = record.after.last_mut() {
            *last = self::text(format!("{}{last}", weave::guard(self.module, stmt)).as_bytes());
        }
        record.cost = Some((before, cost));
        self.credit(&freed, &mut record);
        if !weave::is_plain(self.module, stmt) {
            record.kind = Kind::Missed(Why::Comment);
            records.push(record);
            return true;
        }
        if let Some(fault) = choose::faulty(&spelling.recipe, self.module.guard(stmt).is_some()) {
            record.kind = Kind::Missed(Why::Faulty(fault));
            records.push(record);
            return false;
        }
        if self.progress.is_over() {
            record.kind = Kind::Missed(Why::Limit);
            records.push(record);
            return true;
        }
        let start = (self.clock)();
        let candidate = Candidate { stmt, value, recipe: &spelling.recipe, text: &text };
        let judgement = self.door.judge(&self.graph, &self.knowledge, &candidate);
        record.time = (self.clock)().saturating_sub(start);
        let Some(kind) = Kind::of(judgement) else { return false };
        let passed = matches!(kind, Kind::Passed(_));
        record.kind = kind;
        records.push(record);
        if passed {
            self.progress.count();
            self.replace(stmt, &spelling.recipe, text, records);
        }
        passed
    }

    /// Counts what is freed as saved by a rewrite.
    fn credit(&self, freed: &[StmtId], record: &mut Record) {
        let saved: Cost = freed.iter().map(|&stmt| self.cost_of(stmt)).sum();
        record.cost = record.cost.map(|(before, after)| (before + saved, after));
        record.freed.extend(freed.iter().map(|&stmt| text(self.module.stmt_text(stmt))));
    }

    fn replace(&mut self, stmt: StmtId, recipe: &Recipe, text: Text, records: &mut Vec<Record>) {
        let record = records.len() - 1;
        let number = |&(_, width): &(String, u32)| {
            let count = self.counts.entry(width).or_default();
            *count += 1;
            (width, *count - 1)
        };
        let fresh = text.fresh.iter().map(number).collect();
        let read: Vec<ValueId> = recipe.values().collect();
        let delete = self.options.passes.contains(&Pass::Dce);
        let gone = self.readers.apply(&self.graph, stmt, &read, delete);
        let mut freed = Vec::new();
        for &stmt in &gone {
            records.push(Record { kind: Kind::Passed(How::Freed), ..self.dead(stmt) });
            // Its own new text is never written. What that text freed stays free: it is unused either way.
            if let Some(never) = self.replaced.remove(&stmt) {
                self.retracted.insert(never.record);
                self.credit(&never.freed, &mut records[record]);
                freed.extend(never.freed);
            }
        }
        freed.extend(&gone);
        self.deleted.extend(gone);
        self.replaced.insert(stmt, Replacement { lines: text.lines, fresh, freed, record });
    }

    fn write(self, edits: &mut Edits) {
        let mut counts = weave::declared(self.module, self.graph.function(), self.fresh);
        for (&stmt, Replacement { lines, fresh, .. }) in &self.replaced {
            if is_idle(lines) {
                weave::delete(self.module, stmt, edits);
            } else {
                weave::replace(self.module, stmt, lines, edits);
            }
            for &(width, number) in fresh {
                let count = counts.entry(width).or_default();
                *count = (*count).max(number + 1);
            }
        }
        for &stmt in &self.deleted {
            weave::delete(self.module, stmt, edits);
        }
        weave::declare(self.module, self.graph.function(), self.fresh, &counts, edits);
    }
}
