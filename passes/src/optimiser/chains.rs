//! Chains: a statement spelled together with the statements that compute its operands.
//!
//! Bytes that are computed as halves are packed at the end of one statement and unpacked at the beginning of the next.
//! Spelled after the steps that computed its operand, a statement reads their halves directly, and the packed word is
//! not needed unless something else reads it. Such a spelling contains the steps of the other statement; selection
//! pays for them once.
//!
//! Like every spelling it is proved as a whole, so what is looked through here decides only what is tried.

use super::function::Work;
use super::gather::{Offer, Spelled};
use super::spell::{self, Spelling, Target, Trail};
use crate::graph::{Origin, ValueId};
use crate::lower::{self, Available};
use crate::recipe::{Code, Packing, Recipe, Source, Sources, Step};
use crate::rules::{LOWER, Pass, Rule};
use hashbrown::HashMap;
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::tree::StmtId;
use ptxopt_grammar::video::{Form, Lanes, Simd};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The most steps of a spelling that others are spelled after. A chain begins anew with the word that lies there.
const MOST_STEPS: usize = 32;

/// How many spellings after given steps are kept, those that cost least.
const KEPT: usize = 2;

/// What was found for chains of the same shape, values numbered in the order in which they are read.
#[derive(Debug, Default)]
pub(super) struct Chains(HashMap<ChainShape, Vec<Spelling>>);

/// What is spelled after other steps, without its sources.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Last {
    /// A SIMD instruction.
    Simd(Simd),
    /// A comparison of lanes, and the multiplication that makes lanes of ones of its ones.
    Masks(Simd),
    /// A move of bytes.
    Move(Step),
}

/// Steps, what is spelled after them with its sources, and what the halves of the values are.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct ChainShape {
    before: Vec<Step>,
    last: Last,
    sources: Vec<Source>,
    ranges: Vec<lower::HalfRange>,
}

/// Steps, and what is spelled after them, with numbers in the place of values, and the values.
fn numbered(steps: &[Step], sources: &[Source]) -> (Vec<Step>, Vec<Source>, Arc<[ValueId]>) {
    let mut values: Vec<ValueId> = Vec::new();
    let mut number = |value: ValueId| {
        let known = values.iter().position(|&known| known == value);
        Some(known.unwrap_or_else(|| {
            values.push(value);
            values.len() - 1
        }))
    };
    let all = "each value gets a number";
    let sources = sources.iter().map(|source| source.numbered(&mut number).expect(all)).collect();
    let steps = steps.iter().map(|step| step.numbered(&mut number).expect(all)).collect();
    (steps, sources, values.into())
}

impl Chains {
    /// The spellings of an instruction after other steps; `range` says what the halves of values are.
    fn spell(
        &mut self,
        before: &[Step],
        last: Last,
        sources: &[Source],
        target: &Target,
        range: &dyn Fn(ValueId) -> lower::HalfRange,
    ) -> Vec<Spelling> {
        let (before, sources, values) = numbered(before, sources);
        let named = |all: &[Spelling]| -> Vec<Spelling> {
            let name = |spelling: &Spelling| spelling.over(|recipe| Some(recipe.over(&values)));
            all.iter().filter_map(name).collect()
        };
        let ranges = values.iter().map(|&value| range(value)).collect();
        let key = ChainShape { before, last, sources, ranges };
        if let Some(known) = self.0.get(&key) {
            return named(known);
        }
        let mut made: Vec<Spelling> = target
            .available()
            .iter()
            .flat_map(|&with| key.recipes(with))
            .filter(|recipe| recipe.steps.len() <= MOST_STEPS)
            .map(|recipe| Spelling::of(recipe, Trail::default(), target))
            .collect();
        made.retain(|spelling| spelling.lacks.is_none() && spelling.cost().most != u32::MAX);
        made.sort_by_key(|spelling| spelling.cost().most);
        spell::keep(&mut made, KEPT, |spelling| &spelling.recipe, &[]);
        let named = named(&made);
        self.0.insert(key, made);
        named
    }
}

impl ChainShape {
    fn recipes(&self, with: Available) -> Vec<Recipe> {
        let range = |number: ValueId| self.ranges[number.index()];
        match &self.last {
            Last::Simd(form) => lower::spellings_after(&self.before, form, &self.sources, with, &range),
            Last::Masks(form) => {
                lower::masks(&[], form, &self.sources, (0, &[]), (with, lower::Answer::Ones))
            }
            Last::Move(step) => {
                let moved = lower::moved_after(&self.before, step, &self.sources, with, &range);
                moved.into_iter().collect()
            }
        }
    }
}

/// A spelling that can be continued: its steps, and the rules that led to it.
struct Before<'s> {
    steps: Vec<Step>,
    trail: &'s [&'static Rule],
}

impl Work<'_, '_, '_> {
    /// The spellings of a SIMD instruction, or of a move of bytes, after those of its operands.
    pub(super) fn chained(
        &mut self,
        stmt: StmtId,
        own: &Step,
        spelled: &BTreeMap<StmtId, Spelled>,
    ) -> Vec<Spelling> {
        if !self.options.passes.contains(&Pass::Lower) {
            return Vec::new();
        }
        if let Some((form, sources)) = self.multiplied(stmt, own) {
            let range = |_| lower::ANY;
            let made = self.chains.spell(&[], Last::Masks(form), &sources, &self.profit.target, &range);
            return made.into_iter().map(|made| Spelling { trail: [&LOWER].into(), ..made }).collect();
        }
        let last = match own.code {
            Code::Video(Form::Simd(form)) => Last::Simd(form),
            // Its own sources are not those that it has after the steps.
            _ if lower::is_move(own) => Last::Move(Step { sources: Sources::new(), ..*own }),
            Code::Video(_) | Code::Plain(_) | Code::Pack | Code::Half(_) => return Vec::new(),
        };
        let number = |source: &Source| match last {
            Last::Simd(_) => self.knowledge.constant(*source).map_or(*source, Source::Constant),
            Last::Masks(_) | Last::Move(_) => *source,
        };
        let own = &own.over(number);
        let &[a, ref rest @ ..] = own.sources.as_slice() else { return Vec::new() };
        let b = rest.first().copied().unwrap_or(a);
        // Without video instructions, plain code stays, so what a second run would find there must not be found now.
        let from = |writer| self.has_video || self.profit.is_byte_move(writer);
        let of = |source| self.continued(stmt, source, spelled, &from);
        let (of_a, of_b) = (of(a), of(b));
        let of_b = if a == b { Vec::new() } else { of_b };
        let first = of_a.iter().map(|before| [Some(before), None]);
        let second = of_b.iter().map(|before| [None, Some(before)]);
        let both = of_a.first().zip(of_b.first()).map(|(a, b)| [Some(a), Some(b)]);
        let prefixes: Vec<[Option<&Before<'_>>; 2]> = first.chain(second).chain(both).collect();
        let knowledge = self.knowledge;
        let range = |value: ValueId| {
            let zeros = knowledge.facts.get(value.index()).zeros() & u128::from(u32::MAX);
            lower::with_zeros(u32::try_from(zeros).expect("it was cut to 32 bits"))
        };
        let mut all: Vec<Spelling> = Vec::new();
        for prefix in prefixes {
            let (steps, sources, trail) = joined(own, prefix);
            if steps.len() <= MOST_STEPS {
                let spellings = self.chains.spell(&steps, last, &sources, &self.profit.target, &range);
                for spelling in spellings {
                    let recipe = spelling.recipe.recipe();
                    if !all.iter().any(|known| known.recipe.is(&recipe)) {
                        all.push(Spelling { trail: Arc::clone(&trail), ..spelling });
                    }
                }
            }
        }
        all
    }

    /// The comparison of lanes, and what it compares, whose ones a statement multiplies to lanes of ones.
    fn multiplied(&self, stmt: StmtId, own: &Step) -> Option<(Simd, Sources)> {
        let graph = self.profit.graph;
        own.instruction().filter(|instruction| instruction.is_typed(op::MUL, &[op::LO]))?;
        let number = |source: Source| self.knowledge.constant(source);
        let (value, by) = match own.sources[..] {
            [Source::Value(value), by] if number(by).is_some() => (value, number(by)?),
            [by, Source::Value(value)] => (value, number(by)?),
            _ => return None,
        };
        let Origin::Result(writer) = graph.value(value).origin else { return None };
        let compared = graph.step(writer).filter(|_| graph.module().guard(writer).is_none())?;
        let Code::Video(Form::Simd(form)) = compared.code else { return None };
        let ones = match form.routing.lanes() {
            Lanes::Four => 0xff,
            Lanes::Two => 0xffff,
        };
        let here = graph.flow().block(writer) == graph.flow().block(stmt);
        (here && by == ones).then_some((form, compared.sources))
    }

    /// The spellings of an operand that a statement in the same block can continue: itself if it moves bytes, and those
    /// that are offered for it if it is one of `from`.
    fn continued<'s>(
        &self,
        stmt: StmtId,
        source: Source,
        spelled: &'s BTreeMap<StmtId, Spelled>,
        from: &dyn Fn(StmtId) -> bool,
    ) -> Vec<Before<'s>> {
        let graph = self.profit.graph;
        let Source::Value(value) = source else { return Vec::new() };
        let Origin::Result(writer) = graph.value(value).origin else { return Vec::new() };
        let here =
            graph.flow().block(writer) == graph.flow().block(stmt) && graph.module().guard(writer).is_none();
        let Some(spelled) = spelled.get(&writer).filter(|_| here) else { return Vec::new() };
        let plain = |step: Step| matches!(step.code, Code::Plain(_));
        let fits = |offer: &&Offer| {
            offer.obstacle.is_none()
                && offer.spelling.cost().most != u32::MAX
                && offer.spelling.recipe.steps().next_back().is_some_and(plain)
        };
        let offers = spelled.offers.iter().filter(|_| from(writer));
        let mut offers: Vec<&Offer> = offers.filter(fits).collect();
        offers.sort_by_key(|offer| offer.spelling.cost().most);
        let of = |packing: Packing| {
            offers.iter().copied().find(move |offer| offer.spelling.recipe.packing() == packing)
        };
        let kinds = [Packing::Halves, Packing::Biased, Packing::None].into_iter().filter_map(of);
        let offered = kinds.map(|offer| {
            let Spelling { recipe, trail, .. } = &offer.spelling;
            Before { steps: recipe.steps().collect(), trail }
        });
        let own = spelled.own.and_then(|_| graph.step(writer)).filter(lower::is_move);
        own.into_iter().map(|own| Before { steps: vec![own], trail: &[] }).chain(offered).collect()
    }
}

/// The steps before an instruction, its sources after them, and the rules that led to all this.
fn joined(own: &Step, prefix: [Option<&Before<'_>>; 2]) -> (Vec<Step>, Sources, Trail) {
    let mut steps: Vec<Step> = Vec::new();
    let mut trail: Vec<&'static Rule> = Vec::new();
    let mut sources = own.sources;
    for (at, before) in prefix.into_iter().enumerate() {
        let Some(Before { steps: more, trail: rules }) = before else { continue };
        let result = append(&mut steps, more);
        // A `c` that is not read repeats an operand, which need not be computed any more.
        for (source, old) in sources.iter_mut().zip(&own.sources) {
            if *old == own.sources[at] {
                *source = result;
            }
        }
        for &rule in *rules {
            if !trail.iter().any(|known| known.name == rule.name) {
                trail.push(rule);
            }
        }
    }
    if trail.is_empty() {
        trail.push(&LOWER);
    }
    (steps, sources, trail.into())
}

/// Adds the steps of a recipe after others, each once, and copies not at all; its result.
fn append(steps: &mut Vec<Step>, more: &[Step]) -> Source {
    let mut places: Vec<Source> = Vec::with_capacity(more.len());
    for step in more {
        let step = step.over(|source| match *source {
            Source::Step(earlier) => places[earlier],
            Source::Value(_) | Source::Constant(_) => *source,
        });
        let known = steps.iter().position(|known| *known == step);
        places.push(match (step.copied(), known) {
            (Some(of @ (Source::Value(_) | Source::Step(_))), _) => of,
            (_, Some(known)) => Source::Step(known),
            _ => {
                steps.push(step);
                Source::Step(steps.len() - 1)
            }
        });
    }
    *places.last().expect("a recipe has a step")
}
