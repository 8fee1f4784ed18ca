//! The spellings of a statement: what rules make of it, and what stands against writing each where it stands.
//!
//! Nothing is decided here but what may be written at all: registers must hold the values that a spelling reads, and
//! their names must mean them; instructions must be legal for the module's target. What then is proved and cheaper is
//! decided for the whole function.

use super::applied::Applied;
use super::function::Work;
use super::profit::is_fused;
use super::raise::Reach;
use super::record::{Bound, Kind, Record, Why};
use super::spell::{self, Proposed, Spelling};
use super::splice;
use super::stays::Stays;
use super::visible::is_integer;
use crate::cost::Cost;
use crate::graph::{Graph, Register, ValueId};
use crate::recipe::{Code, Recipe, Source, Step};
use crate::rules::{Pass, Rule, is_dot_product};
use crate::select::underlying;
use ptxopt_grammar::legal::{Fault, Given};
use ptxopt_grammar::meaning::disputed::Semantics;
use ptxopt_grammar::meaning::disputed::disputed;
use ptxopt_grammar::names::Type;
use ptxopt_grammar::tree::StmtId;
use ptxopt_grammar::video;
use std::collections::BTreeMap;

/// A statement with its spellings.
#[derive(Debug)]
pub(super) struct Spelled {
    /// Its result; none if there is nothing to choose, for the reason in `stays`.
    pub(super) own: Option<ValueId>,
    /// Other spellings.
    pub(super) offers: Box<[Offer]>,
    /// A reason that is about the statement and not about a spelling.
    pub(super) stays: Option<Box<Stays>>,
}

/// Another spelling of a statement.
#[derive(Debug)]
pub(super) struct Offer {
    pub(super) spelling: Spelling,
    /// Where its first steps are written, which copy words whose registers are overwritten before the statement: before
    /// the statements that overwrite them.
    pub(super) early: Box<[StmtId]>,
    /// Why it cannot be written, if so.
    pub(super) obstacle: Option<Box<Why>>,
    /// How far the module's head must be raised for it, if nothing else stands against it.
    pub(super) reach: Option<Reach>,
}

/// The type of a new register of so many bits.
fn untyped(width: u32) -> Type {
    if width == 1 { Type::Pred } else { Type::parse(format!(".b{width}").as_bytes()) }
}

/// Whether a recipe does, step by step, what was done for an instruction already. It would be no gain, but might seem to
/// be one, since what it has in one piece is priced in one piece; and it would be found again in the next round.
fn computes_again(
    graph: &Graph<'_, '_>,
    constant: &dyn Fn(Source) -> Option<u64>,
    own: &Step,
    recipe: &Applied,
) -> bool {
    let steps: Vec<Step> = recipe.steps().collect();
    // Each step, and what it is the same as.
    let mut same: Vec<Option<ValueId>> = vec![None; steps.len()];
    let mut open = vec![(*own, steps.len() - 1)];
    while let Some((old, at)) = open.pop() {
        let new = &steps[at];
        if (old.code, old.width, old.sources.len()) != (new.code, new.width, new.sources.len()) {
            return false;
        }
        for (&old, &new) in old.sources.iter().zip(&new.sources) {
            let number = match new {
                Source::Step(step) => {
                    steps[step].copied().filter(|copied| matches!(copied, Source::Constant(_)))
                }
                Source::Constant(_) => Some(new),
                Source::Value(_) => None,
            };
            if let Some(Source::Constant(number)) = number {
                if constant(old) != Some(number) {
                    return false;
                }
                continue;
            }
            let Source::Value(old) = old else { return false };
            match new {
                Source::Value(new) if underlying(graph, old) == underlying(graph, new) => {}
                Source::Step(step) if same[step] == Some(old) => {}
                Source::Step(step) => {
                    let Some(definition) = graph.definition(old) else { return false };
                    same[step] = Some(old);
                    open.push((definition, step));
                }
                Source::Value(_) | Source::Constant(_) => return false,
            }
        }
    }
    true
}

impl Work<'_, '_, '_> {
    /// The spellings of a statement; `before` has those of the statements before it.
    pub(super) fn gather(
        &mut self,
        stmt: StmtId,
        before: &BTreeMap<StmtId, Spelled>,
        records: &mut Vec<Record>,
    ) -> Spelled {
        let stays =
            |why: Why| Spelled { own: None, offers: Box::default(), stays: Some(Box::new(why.into())) };
        if let Some(class) = self.disputed(stmt) {
            return stays(Why::Disputed(class));
        }
        if !self.profit.graph.flow().reachable(self.profit.graph.flow().block(stmt)) {
            return stays(Why::Unreachable);
        }
        let Some(step) = self.profit.graph.step(stmt) else { return stays(Why::Unknown) };
        let value = self.profit.graph.results(stmt).next().expect("what is one step has a result");
        if self.knowledge.demanded[value.index()] == 0 {
            return stays(Why::Unused);
        }
        let mut spellings = self.spellings((stmt, step), value, records);
        spellings.extend(self.chained(stmt, &step, before));
        let (graph, constant) = (self.profit.graph, &|source| self.knowledge.constant(source));
        // What is computed as halves on purpose looks like an operation on words, which it was.
        let is_new = |spelling: &Spelling| {
            !self.profit.keeps_halves && !computes_again(graph, constant, &step, &spelling.recipe)
        };
        spellings.retain(|spelling| !is_fused(spelling) || is_new(spelling));
        let offer = |spelling: Spelling| {
            let (spelling, early) = self.copied_early(stmt, spelling);
            let (obstacle, reach) = self.obstacle_to((stmt, value), &spelling, &early);
            Offer { spelling, early, obstacle: obstacle.map(Box::new), reach }
        };
        Spelled { own: Some(value), offers: spellings.into_iter().map(offer).collect(), stays: None }
    }

    /// Whether a function without video instructions may change: its byte moves or dot products may, or a statement
    /// means what a video instruction does. Where there is none of these, no other change is made: see
    /// [`super::wanted`].
    pub(super) fn has_prospects(&self, mut stmts: impl Iterator<Item = StmtId>) -> bool {
        let (graph, fuses) = (self.profit.graph, |rule: &&Rule| rule.pass == Pass::Fuse);
        let fusing: Vec<&Rule> = self.rules.iter().copied().filter(fuses).collect();
        let has_prospects = |stmt: StmtId| {
            if self.module.row(stmt).is_some_and(is_dot_product) {
                return true;
            }
            let moves = self.profit.is_byte_move(stmt) || self.profit.is_pack(stmt);
            let rules = if moves { self.on_plain } else { &fusing };
            let value = graph.results(stmt).next().filter(|_| self.wanted.takes(self.module, stmt));
            value.zip(graph.step(stmt)).is_some_and(|(value, step)| {
                !Proposed::of(graph, self.knowledge, &step, value, rules).is_empty()
            })
        };
        stmts.any(has_prospects)
    }

    fn disputed(&self, stmt: StmtId) -> Option<&'static str> {
        if self.options.semantics == Semantics::Manual || self.module.row(stmt)?.video.is_none() {
            return None;
        }
        let instance = video::decode(self.module, stmt)?.ok()?;
        disputed(instance.form).map(|dispute| dispute.name)
    }

    /// What the rules make of an instruction, from memory where it is one like others.
    fn spellings(
        &mut self,
        (stmt, step): (StmtId, Step),
        value: ValueId,
        records: &mut Vec<Record>,
    ) -> Vec<Spelling> {
        let (graph, is_video) = (self.profit.graph, self.profit.is_video(stmt));
        let rules = if is_video { self.rules } else { self.on_plain };
        let proposed = || Proposed::of(graph, self.knowledge, &step, value, rules);
        // For most plain code there is nothing, and that is known sooner than what it is made of.
        let first = (!is_video).then(proposed);
        if first.as_ref().is_some_and(Proposed::is_empty) {
            return Vec::new();
        }
        let shape = self.memo.shape(graph, self.knowledge, &step, value);
        if let Some((shape, numbers)) = &shape
            && let Some(known) = self.memo.get(shape, numbers)
        {
            return known;
        }
        let (first, own) = (first.unwrap_or_else(proposed), (step, value));
        let (lowered, target) = (&mut self.memo.lowered, &self.profit.target);
        let found = spell::spellings(graph, self.knowledge, own, first, rules, target, lowered);
        if found.too_many {
            records.push(Record { kind: Kind::Unending(Bound::Spellings), ..self.missed(stmt, Why::Limit) });
        }
        if let Some((shape, numbers)) = shape
            && numbers.show(graph, &found.asked)
        {
            self.memo.put(shape, &numbers, &found.spellings);
        }
        found.spellings
    }

    /// Why a spelling cannot be written where a statement stands, if so; and how far the module's head must be raised
    /// for it, if that is all.
    fn obstacle_to(
        &self,
        (stmt, value): (StmtId, ValueId),
        spelling: &Spelling,
        early: &[StmtId],
    ) -> (Option<Why>, Option<Reach>) {
        if !splice::is_plain(self.module, stmt) || early.iter().any(|&stmt| self.module.has_own_pragma(stmt))
        {
            return (Some(Why::Comment), None);
        }
        let unheld = self.unheld((stmt, value), &spelling.recipe, early);
        let reach = spelling.reach.filter(|_| unheld.is_none());
        (self.lacks(spelling).or(unheld), reach)
    }

    /// A spelling that says what code means reads words from far above, whose registers are often used again in
    /// between: `prmt.b32 %r, %r, 0, 0xba98`. It is given copies of those, made before they are overwritten. These
    /// are written where the value is still held, in the same block, to registers that nothing else writes.
    fn copied_early(&self, stmt: StmtId, spelling: Spelling) -> (Spelling, Box<[StmtId]>) {
        let graph = self.profit.graph;
        let mut lost: Vec<(StmtId, ValueId)> = Vec::new();
        if is_fused(&spelling) {
            let values = spelling.recipe.values().filter(|&value| !graph.holds(value, stmt));
            lost.extend(values.filter_map(|value| Some((graph.overwritten_by(value, stmt)?, value))));
            lost.sort_unstable();
            lost.dedup();
        }
        if lost.is_empty() {
            return (spelling, Box::default());
        }
        let first = lost.len();
        let copy =
            |&(_, value): &(StmtId, ValueId)| Step::copy(Source::Value(value), graph.value(value).width);
        let from = |source: &Source| match *source {
            Source::Value(value) => {
                let at = lost.iter().position(|&(_, lost)| lost == value);
                at.map_or(*source, Source::Step)
            }
            Source::Step(step) => Source::Step(step + first),
            Source::Constant(_) => *source,
        };
        let steps = lost.iter().map(copy).chain(spelling.recipe.steps().map(|step| step.over(from)));
        let costs = lost.iter().map(|_| Cost::NOTHING).chain(spelling.costs.iter().copied());
        let spelling = Spelling {
            recipe: Recipe::of(steps.collect()).into(),
            meant: None,
            costs: costs.collect(),
            ..spelling
        };
        (spelling, lost.into_iter().map(|(stmt, _)| stmt).collect())
    }

    /// The reason if a recipe reads a value that no register holds where the statement stands, or where it is copied.
    fn unheld(&self, (stmt, value): (StmtId, ValueId), recipe: &Applied, early: &[StmtId]) -> Option<Why> {
        // The assembler takes a float's register for untyped moves only.
        let copies = recipe.steps().all(|step| step.copied().is_some());
        // And it takes a component of a vector for plain instructions only.
        let plain = recipe.steps().all(|step| !matches!(step.code, Code::Video(_)));
        let may_name = |register: Register, stmt: StmtId| {
            self.scopes.means(self.profit.graph, register, stmt)
                && (copies || is_integer(self.profit.graph, register))
                && (plain || !self.profit.graph.is_component(register))
        };
        let names = |value: ValueId, stmt: StmtId| {
            self.profit.graph.register_of(value).is_some_and(|register| may_name(register, stmt))
        };
        let holds = |(at, step): (usize, Step)| {
            let stmt = early.get(at).copied().unwrap_or(stmt);
            let here = |value: ValueId| self.profit.graph.holds(value, stmt) && names(value, stmt);
            step.sources.iter().all(|source| !matches!(*source, Source::Value(value) if !here(value)))
        };
        let all = recipe.steps().enumerate().all(holds);
        (!names(value, stmt) || !all).then_some(Why::Unheld)
    }

    /// Whether PTX has each instruction of a recipe, by the table, and it takes the registers in question. A rule that
    /// spells one that does not exist is a bug, recorded here; that a register has a type which the instruction does
    /// not take is none.
    pub(super) fn is_legal(
        &mut self,
        stmt: StmtId,
        value: ValueId,
        (recipe, spelling): (&Recipe, &Spelling),
        records: &mut Vec<Record>,
    ) -> bool {
        let typed = |value: ValueId| {
            let decl = self
                .profit
                .graph
                .register_of(value)
                .and_then(|register| self.profit.graph.declaration(register));
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
                Code::Half(_) => std::iter::once(Given::Vector).chain(from).collect(),
                Code::Plain(_) | Code::Video(_) => std::iter::once(to).chain(from).collect(),
            };
            match self.memo.legal.instruction(step.spelled(), &given) {
                Ok(()) => {}
                Err(Fault::Operands) => return false,
                Err(Fault::Form) => {
                    let mut record = self.missed(stmt, Why::Unproved);
                    record.rules = spelling.trail.iter().map(|rule| rule.name).collect();
                    records.push(Record { kind: Kind::Illegal(step.spelled().to_string()), ..record });
                    return false;
                }
            }
        }
        true
    }
}
