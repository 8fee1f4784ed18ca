//! Spellings without SIMD instructions: what the generators make of those that have one, remembered by shape.
//!
//! What generators make depends on which sources are equal and on their order, not on which values they are. So it is
//! made and priced once for all spellings that are the same up to the numbers of their values in order.

use super::applied::Applied;
use super::profit::is_fused;
use super::raise::{Having, Reach};
use super::spell::{self, Spelling, Target, Trail};
use crate::cost::Cost;
use crate::graph::ValueId;
use crate::lower::{self, Answer, Available, Layout};
use crate::recipe::{Code, Packing, Recipe, Source, Step};
use crate::rules::LOWER;
use crate::site::Knowledge;
use hashbrown::{HashMap, HashSet};
use ptxopt_grammar::table::instruction::{Instruction, op};
use ptxopt_grammar::video::{Form, Simd, SimdOp};
use std::sync::Arc;

/// How many spellings are lowered, and how many are kept of what they become.
const MOST_LOWERED: usize = 16;
const MOST_KEPT: usize = 24;

/// How many are kept in any case of what each spelling becomes: a dearer one may set more free.
const KEPT_OF_EACH: usize = 2;

/// How many sequences are continued that have another SIMD instruction in them, and how many where a spelling has more of
/// these than so many: the work grows with the square of their number.
const MOST_OPEN: usize = 4;
const MOST_OPEN_OF_MANY: usize = 2;
const MANY_SIMD: usize = 12;

/// How many are kept that the module must not have, for each head that it would need.
const MOST_BLOCKED: usize = 4;

/// How many instructions on bytes are computed as halves together, at least.
const LEAST_IN_HALVES: usize = 3;

/// How many more of each are remembered than one spelling can add to those that are kept, since others may be the same.
const SPARE: usize = 8;

/// What was made of which recipes, values numbered in their order.
#[derive(Debug, Default)]
pub(super) struct Lowered {
    known: HashMap<Vec<Step>, Arc<[Made]>>,
    /// Which heads have which instructions.
    having: Having,
}

/// A sequence, and what does not depend on which values it reads.
#[derive(Debug)]
struct Made {
    recipe: Applied,
    costs: Arc<[Cost]>,
    /// The most and the least that all of it costs: of two that may cost as much, the one that may cost less is better.
    price: (u32, u32),
    lacks: Option<Instruction>,
    reach: Option<Reach>,
}

impl Made {
    fn of(recipe: Recipe, target: &Target, having: &mut Having) -> Self {
        let reach = target.heads.reach_knowing(&recipe, having);
        let Spelling { recipe, costs, lacks, .. } =
            Spelling::reaching(reach, recipe, Trail::default(), target);
        let Cost { least, most } = costs.iter().copied().sum();
        Self { recipe, costs, price: (most, least), lacks, reach }
    }

    /// Whether it is known what it costs.
    fn is_priced(&self) -> bool {
        self.price.0 != u32::MAX
    }

    /// The cheapest ones come first, and of those that cost the same, the ones for which the head is raised least.
    fn rank(&self) -> ((u32, u32), Option<Reach>) {
        (self.price, self.reach)
    }
}

/// Drops what is never kept of what one spelling becomes, in the order of [`Made::rank`]: many are tried.
fn forget(all: &mut Vec<Made>) {
    let mut blocked: HashMap<Option<Reach>, usize> = HashMap::new();
    let mut packed: HashMap<Packing, usize> = HashMap::new();
    let mut kept = 0;
    all.retain(|made| {
        if made.lacks.is_some() {
            let count = blocked.entry(made.reach).or_default();
            *count += 1;
            return *count <= MOST_BLOCKED + SPARE;
        }
        let packing = made.recipe.packing();
        let count = packed.entry(packing).or_default();
        *count += 1;
        kept += 1;
        kept <= MOST_KEPT + SPARE || packing != Packing::None && *count <= SPARE
    });
}

impl Lowered {
    /// What becomes of a recipe, values numbered, each once; those that cost least first, and of those that cost the
    /// same, the ones for which the head is raised least.
    fn of(&mut self, steps: &[Step], values: &[ValueId], target: &Target) -> Arc<[Made]> {
        let number = |value: ValueId| values.binary_search(&value).ok();
        let steps = steps.iter().map(|step| step.numbered(number)).collect::<Option<Vec<Step>>>();
        let steps = steps.expect("these are all values of the recipe");
        if let Some(known) = self.known.get(&steps) {
            return Arc::clone(known);
        }
        let mut seen: HashSet<Recipe> = HashSet::new();
        let mut all = Vec::new();
        let has_many = count_simd(steps.iter().copied()) > MANY_SIMD;
        let most_open = if has_many { MOST_OPEN_OF_MANY } else { MOST_OPEN };
        for &with in target.available() {
            // Of several SIMD instructions the last is spelled first, then those before it, in the cheapest ways.
            let mut front = without_simd(&steps, with, Layout::Any);
            while !front.is_empty() {
                // A SIMD instruction that is left may be one that the GPU executes itself: it stays a candidate.
                let new = front.into_iter().filter(|recipe| seen.insert(recipe.clone()));
                let new: Vec<Made> = new.map(|recipe| Made::of(recipe, target, &mut self.having)).collect();
                let mut open: Vec<&Made> = new.iter().filter(|made| has_simd(made.recipe.steps())).collect();
                open.sort_by_key(|made| made.price.0);
                // Cheaper ones that the module must not have are not in the way of others.
                let mut counts: HashMap<Option<Reach>, usize> = HashMap::new();
                open.retain(|made| {
                    let count = counts.entry(made.reach.filter(|_| made.lacks.is_some())).or_default();
                    *count += 1;
                    *count <= most_open
                });
                let next = |made: &&Made| without_simd(&made.recipe.recipe().steps, with, Layout::Any);
                front = open.iter().flat_map(next).collect();
                all.extend(new.into_iter().filter(Made::is_priced));
            }
            let halves = self.in_halves(&steps, with, target);
            all.extend(halves.filter(|made| seen.insert(made.recipe.recipe())));
        }
        all.sort_by_key(Made::rank);
        forget(&mut all);
        let written = |made: Made| match in_registers(&made.recipe) {
            Some(recipe) => Made::of(recipe, target, &mut self.having),
            None => made,
        };
        let all: Arc<[Made]> = all.into_iter().map(written).collect();
        self.known.insert(steps, Arc::clone(&all));
        all
    }

    /// A sequence of several instructions on bytes that computes all of them as halves, as far as it can. One such
    /// instruction between others is longer than what is done in place, so what is cheapest step by step never gets there.
    fn in_halves(&mut self, steps: &[Step], with: Available, target: &Target) -> Option<Made> {
        if count_simd(steps.iter().copied()) < LEAST_IN_HALVES {
            return None;
        }
        let mut last: Option<Made> = None;
        loop {
            let recipe = last.as_ref().map(|made| made.recipe.recipe());
            let steps = recipe.as_ref().map_or(steps, |recipe| &recipe.steps);
            let count = count_simd(steps.iter().copied());
            if count == 0 {
                return last;
            }
            let mut next = without_simd(steps, with, Layout::Halves);
            if next.is_empty() {
                next = without_simd(steps, with, Layout::Any);
            }
            let made = next.into_iter().map(|recipe| Made::of(recipe, target, &mut self.having));
            let fewer = |made: &Made| count_simd(made.recipe.steps()) < count;
            last = Some(made.filter(|made| made.is_priced() && fewer(made)).min_by_key(Made::rank)?);
        }
    }

    /// What becomes of spellings with a SIMD instruction when that is spelled by other instructions, those that cost
    /// least.
    pub(super) fn spellings(
        &mut self,
        all: &[Spelling],
        target: &Target,
        knowledge: &Knowledge,
    ) -> Vec<Spelling> {
        let from: Vec<&Spelling> =
            all.iter().filter(|spelling| has_simd(spelling.recipe.steps())).take(MOST_LOWERED).collect();
        let mut meant: Vec<Option<Applied>> = Vec::new();
        let mut made: Vec<(usize, Arc<[Made]>, usize, Applied)> = Vec::new();
        let mut seen: HashSet<Recipe> = HashSet::new();
        for (number, spelling) in from.iter().enumerate() {
            let recipe = with_numbers(&spelling.recipe.recipe(), knowledge);
            let mut values: Vec<ValueId> = recipe.values().collect();
            values.sort_unstable();
            values.dedup();
            let own = Applied::from(recipe.clone());
            meant.push(is_fused(spelling).then(|| in_registers(&own).map_or(own, Applied::from)));
            let found = self.of(&recipe.steps, &values, target);
            let values: Arc<[ValueId]> = values.into();
            for (at, one) in found.iter().enumerate() {
                let recipe = one.recipe.over(&values);
                // What one spelling becomes is there once.
                if from.len() == 1 || seen.insert(recipe.recipe()) {
                    made.push((number, Arc::clone(&found), at, recipe));
                }
            }
        }
        // Of those that cost the same, the ones for which the head is raised least come first.
        made.sort_by_key(|(_, found, at, _)| found[*at].rank());
        let (mut made, blocked): (Vec<_>, Vec<_>) =
            made.into_iter().partition(|(_, found, at, _)| found[*at].lacks.is_none());
        let mut of_each = vec![0; from.len()];
        let is_first = |&(from, ..): &(usize, _, _, _)| {
            of_each[from] += 1;
            of_each[from] <= KEPT_OF_EACH
        };
        let kept: Vec<bool> = made.iter().map(is_first).collect();
        spell::keep(&mut made, MOST_KEPT, |(.., recipe)| recipe, &kept);
        // Those that the module must not have say what it lacks, and what it would save with a later head.
        let mut counts: HashMap<Option<Reach>, usize> = HashMap::new();
        let blocked = blocked.into_iter().filter(|(_, found, at, _)| {
            let count = counts.entry(found[*at].reach).or_default();
            *count += 1;
            *count <= MOST_BLOCKED
        });
        let trail = |spelling: &&Spelling| spelling.trail.iter().copied().chain([&LOWER]).collect();
        let trails: Vec<Trail> = from.iter().map(trail).collect();
        made.into_iter()
            .chain(blocked)
            .map(|(of, found, at, recipe)| {
                let Made { ref costs, lacks, reach, .. } = found[at];
                let (trail, meant, costs) = (Arc::clone(&trails[of]), meant[of].clone(), Arc::clone(costs));
                Spelling { recipe, trail, meant, costs, lacks, reach }
            })
            .collect()
    }
}

/// A recipe with numbers in the place of what SIMD instructions read, where that is known to be one: their text has none,
/// but other instructions can have.
fn with_numbers(recipe: &Recipe, knowledge: &Knowledge) -> Recipe {
    let copied =
        |step: usize| recipe.steps[step].copied().filter(|copied| matches!(copied, Source::Constant(_)));
    let number = |source: &Source| match *source {
        Source::Step(step) => copied(step).unwrap_or(*source),
        Source::Value(_) | Source::Constant(_) => {
            knowledge.constant(*source).map_or(*source, Source::Constant)
        }
    };
    let of = |step: &Step| if is_simd(step).is_some() { step.over(number) } else { *step };
    Recipe::of(recipe.steps.iter().map(of).collect())
}

/// A recipe with the numbers in registers that SIMD instructions read which are left in it; `None` if they read none.
fn in_registers(recipe: &Applied) -> Option<Recipe> {
    let is_number = |source: &Source| matches!(source, Source::Constant(_));
    let reads_number = |step: &Step| is_simd(step).is_some() && step.sources.iter().any(is_number);
    if !recipe.steps().any(|step| reads_number(&step)) {
        return None;
    }
    let mut steps: Vec<Step> = Vec::new();
    let mut places: Vec<usize> = Vec::new();
    for step in recipe.steps() {
        let mut step = step.over(|source| match *source {
            Source::Step(at) => Source::Step(places[at]),
            Source::Value(_) | Source::Constant(_) => *source,
        });
        if reads_number(&step) {
            for number in step.sources.iter_mut().filter(|source| is_number(source)) {
                steps.push(Step::copy(*number, 32));
                *number = Source::Step(steps.len() - 1);
            }
        }
        places.push(steps.len());
        steps.push(step);
    }
    // A number may be in a register for others already.
    Some(Recipe::of(steps).shared())
}

fn is_simd(step: &Step) -> Option<Simd> {
    match step.code {
        Code::Video(Form::Simd(form)) => Some(form),
        Code::Video(Form::Scalar(_) | Form::Mad(_)) | Code::Plain(_) | Code::Pack | Code::Half(_) => None,
    }
}

fn has_simd(mut steps: impl Iterator<Item = Step>) -> bool {
    steps.any(|step| is_simd(&step).is_some())
}

fn count_simd(steps: impl Iterator<Item = Step>) -> usize {
    steps.filter(|step| is_simd(step).is_some()).count()
}

/// What a step makes of the ones that a comparison at a place gives, if that is found together with it.
fn answers(step: &Step, at: usize, form: Simd) -> Option<Answer> {
    let bits = form.routing.lanes().bits();
    let &[Source::Step(compared), Source::Constant(number)] = &step.sources[..] else { return None };
    if compared != at || !matches!(form.op, SimdOp::Set { accumulate: false, .. }) {
        return None;
    }
    let spreads = step.is(op::MUL_LO_U32) && number == (1 << bits) - 1;
    let moves = step.is(op::SHL_B32) && number == u64::from(bits) - 1;
    if spreads { Some(Answer::Ones) } else { moves.then_some(Answer::Highest) }
}

/// Steps with the last SIMD instruction spelled by others.
fn without_simd(steps: &[Step], with: Available, layout: Layout) -> Vec<Recipe> {
    let simd = steps.iter().enumerate().rev().find_map(|(at, step)| Some((at, is_simd(step)?)));
    let Some((at, form)) = simd else { return Vec::new() };
    let (before, behind) = (&steps[..at], &steps[at + 1..]);
    let sources = &steps[at].sources;
    // Other bits of a lane in the place of 1 are found together with the comparison, if nothing else reads that.
    let reads = |step: &Step| step.sources.contains(&Source::Step(at));
    let answered = behind
        .split_first()
        .filter(|(_, rest)| !rest.iter().any(reads))
        .and_then(|(step, behind)| Some((answers(step, at, form)?, behind)));
    if let Some((answer, behind)) = answered {
        lower::masks(before, &form, sources, (at + 1, behind), (with, answer))
    } else {
        lower::spellings_between(before, &form, sources, (at, behind), (with, layout))
    }
}
