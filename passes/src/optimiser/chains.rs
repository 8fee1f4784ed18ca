//! Chains: a statement spelled together with the statements that compute its operands.
//!
//! Bytes that are computed as halves are packed at the end of one statement and unpacked at the beginning of the next.
//! Spelled after the steps that computed its operand, a statement reads their halves directly, and the packed word is
//! not needed unless something else reads it. Such a spelling contains the steps of the other statement; selection
//! pays for them once.
//!
//! Like every spelling it is proved as a whole, so what is looked through here decides only what is tried.

use super::choose::{Spelling, Target};
use super::function::Work;
use super::gather::{Offer, Spelled};
use crate::graph::{Origin, ValueId};
use crate::lower;
use crate::recipe::{Code, Recipe, Source, Sources, Step};
use crate::rules::{LOWER, Pass, Rule};
use hashbrown::HashMap;
use ptxopt_grammar::tree::StmtId;
use ptxopt_grammar::video::{Form, Simd};
use std::collections::BTreeMap;

/// The most steps of a spelling that others are spelled after. A chain begins anew with the word that lies there.
const MOST_STEPS: usize = 32;

/// How many spellings after given steps are kept, those that cost least.
const KEPT: usize = 2;

/// What was found for chains of the same shape, values numbered in the order in which they are read.
#[derive(Debug, Default)]
pub(super) struct Chains(HashMap<(Vec<Step>, Simd, Vec<Source>), Vec<Spelling>>);

/// A recipe with the numbers of its values in the place of values, and the values.
fn numbered(steps: &[Step], sources: &[Source]) -> (Vec<Step>, Vec<Source>, Vec<ValueId>) {
    let mut values: Vec<ValueId> = Vec::new();
    let mut number = |source: &Source| match *source {
        Source::Value(value) => {
            let known = values.iter().position(|&known| known == value);
            let at = known.unwrap_or_else(|| {
                values.push(value);
                values.len() - 1
            });
            Source::Value(ValueId::of_input(u32::try_from(at).expect("a recipe reads few values")))
        }
        Source::Step(_) | Source::Constant(_) => *source,
    };
    let sources: Vec<Source> = sources.iter().map(&mut number).collect();
    let steps = steps.iter().map(|step| step.over(&mut number)).collect();
    (steps, sources, values)
}

/// The same with the values again.
fn named(recipe: &Recipe, values: &[ValueId]) -> Recipe {
    let name = |source: &Source| match *source {
        Source::Value(number) => Source::Value(values[number.index()]),
        Source::Step(_) | Source::Constant(_) => *source,
    };
    Recipe::of(recipe.steps.iter().map(|step| step.over(name)).collect())
}

impl Chains {
    /// The spellings of a SIMD instruction after other steps.
    fn spell(&mut self, before: &[Step], form: Simd, sources: &[Source], target: &Target) -> Vec<Spelling> {
        let (before, sources, values) = numbered(before, sources);
        let named = |all: &[Spelling]| -> Vec<Spelling> {
            let name = |spelling: &Spelling| Spelling {
                recipe: named(&spelling.recipe, &values),
                ..spelling.clone()
            };
            all.iter().map(name).collect()
        };
        let key = (before, form, sources);
        if let Some(known) = self.0.get(&key) {
            return named(known);
        }
        let made = target.available().iter();
        let made = made.flat_map(|&with| lower::spellings_after(&key.0, &key.1, &key.2, with));
        let short = made.filter(|recipe| recipe.steps.len() <= MOST_STEPS);
        let mut made: Vec<Spelling> = short.map(|recipe| Spelling::of(recipe, Vec::new(), target)).collect();
        made.retain(|spelling| spelling.lacks.is_none() && spelling.cost().most != u32::MAX);
        made.sort_by_key(|spelling| spelling.cost().most);
        made.truncate(KEPT);
        let named = named(&made);
        self.0.insert(key, made);
        named
    }
}

/// A spelling that can be continued: its steps, and the rules that led to it.
type Before<'s> = (&'s [Step], &'s [&'static Rule]);

impl Work<'_, '_, '_> {
    /// The spellings of a SIMD instruction after those of its operands.
    pub(super) fn chained(
        &mut self,
        stmt: StmtId,
        own: &Step,
        spelled: &BTreeMap<StmtId, Spelled>,
    ) -> Vec<Spelling> {
        let Code::Video(Form::Simd(form)) = own.code else { return Vec::new() };
        let [a, b, ..] = own.sources.as_slice() else { return Vec::new() };
        if !self.options.passes.contains(&Pass::Lower) {
            return Vec::new();
        }
        let (of_a, of_b) = (self.continued(stmt, *a, spelled), self.continued(stmt, *b, spelled));
        let of_b = if a == b { Vec::new() } else { of_b };
        let first = of_a.iter().map(|before| [Some(*before), None]);
        let second = of_b.iter().map(|before| [None, Some(*before)]);
        let both = of_a.first().zip(of_b.first()).map(|(a, b)| [Some(*a), Some(*b)]);
        let ways: Vec<[Option<Before<'_>>; 2]> = first.chain(second).chain(both).collect();
        let mut all: Vec<Spelling> = Vec::new();
        for way in ways {
            let (steps, sources, trail) = joined(own, way);
            if steps.len() <= MOST_STEPS {
                for spelling in self.chains.spell(&steps, form, &sources, &self.worth.target) {
                    if !all.iter().any(|known| known.recipe == spelling.recipe) {
                        all.push(Spelling { trail: trail.clone(), ..spelling });
                    }
                }
            }
        }
        all
    }

    /// The spellings of an operand that a statement in the same block can continue.
    fn continued<'s>(
        &self,
        stmt: StmtId,
        source: Source,
        spelled: &'s BTreeMap<StmtId, Spelled>,
    ) -> Vec<Before<'s>> {
        let graph = self.worth.graph;
        let Source::Value(value) = source else { return Vec::new() };
        let Origin::Result(writer) = graph.value(value).origin else { return Vec::new() };
        let here =
            graph.flow().block(writer) == graph.flow().block(stmt) && graph.module().guard(writer).is_none();
        let Some(spelled) = spelled.get(&writer).filter(|_| here) else { return Vec::new() };
        let plain = |step: &Step| matches!(step.code, Code::Plain(_));
        let fits = |offer: &&Offer| {
            offer.obstacle.is_none()
                && offer.spelling.cost().most != u32::MAX
                && offer.spelling.recipe.steps.last().is_some_and(plain)
        };
        let mut offers: Vec<&Offer> = spelled.offers.iter().filter(fits).collect();
        offers.sort_by_key(|offer| offer.spelling.cost().most);
        let packs = |offer: &&Offer| offer.spelling.recipe.packs();
        let packed = offers.iter().copied().filter(packs).take(1);
        let nearest = offers.iter().copied().filter(|offer| !packs(offer)).take(1);
        packed
            .chain(nearest)
            .map(|offer| (offer.spelling.recipe.steps.as_slice(), offer.spelling.trail.as_slice()))
            .collect()
    }
}

/// The steps before an instruction, its sources after them, and the rules that led to all this.
fn joined(own: &Step, way: [Option<Before<'_>>; 2]) -> (Vec<Step>, Sources, Vec<&'static Rule>) {
    let mut steps: Vec<Step> = Vec::new();
    let mut trail: Vec<&'static Rule> = Vec::new();
    let mut sources = own.sources;
    for (at, before) in way.into_iter().enumerate() {
        let Some((more, rules)) = before else { continue };
        let result = append(&mut steps, more);
        // A `c` that is not read repeats an operand, which need not be computed any more.
        for (source, old) in sources.iter_mut().zip(&own.sources) {
            if *old == own.sources[at] {
                *source = result;
            }
        }
        for &rule in rules {
            if !trail.iter().any(|known| known.name == rule.name) {
                trail.push(rule);
            }
        }
    }
    if trail.is_empty() {
        trail.push(&LOWER);
    }
    (steps, sources, trail)
}

/// Adds the steps of a recipe after others, each once; the step with its result.
fn append(steps: &mut Vec<Step>, more: &[Step]) -> Source {
    let mut places: Vec<usize> = Vec::with_capacity(more.len());
    for step in more {
        let source = |source: &Source| match *source {
            Source::Step(earlier) => Source::Step(places[earlier]),
            Source::Value(_) | Source::Constant(_) => *source,
        };
        let step = step.over(source);
        let known = steps.iter().position(|known| *known == step);
        places.push(known.unwrap_or_else(|| {
            steps.push(step);
            steps.len() - 1
        }));
    }
    Source::Step(*places.last().expect("a recipe has a step"))
}
