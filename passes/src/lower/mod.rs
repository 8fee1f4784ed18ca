//! Lowering: what a SIMD video instruction can be made of.
//!
//! Few GPUs execute these instructions themselves; the assembler of the others computes lane by lane, in 19 to 50
//! machine instructions. Here are shorter sequences: all lanes at once in plain words, packed instructions of halves
//! and bytes, sums by dot products, and single lanes as numbers of their own. Each operation has a generator in a
//! file of its own, made of the same building blocks.
//!
//! Sequences are for all GPUs at once and not compared: the caller drops what a target lacks, prices the rest and
//! has what it chooses proved. The tests prove every candidate of every form, so that a wrong one is found there.

mod absdiff;
mod add_sub;
mod average;
mod build;
mod choice;
mod compare;
mod halves;
mod lanes;
mod logic;
mod min_max;
mod packed;
mod route;
mod saturate;
mod signs;
mod single;
mod sums;
#[cfg(test)]
mod tests;
mod wide;
mod zeros;

use crate::graph::ValueId;
use crate::recipe::{Code, Recipe, Source, Step};
use build::Build;
use choice::Choices;
pub(crate) use halves::{ANY, HalfRange, with_zeros};
use lanes::{Job, Operand};
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::video::{Form, Sign, Simd, SimdArithmetic, SimdOp, SimdThen};

/// The most sequences that are proposed for a form.
pub(crate) const MOST: usize = 60;

/// The most sequences that are built for a form: different choices often give the same one.
const MOST_BUILT: usize = 800;

/// What sequences may be made of, beyond what every GPU has. All else is left to the caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Available {
    /// Functions of three words as one instruction; else they are spelled with `and`, `or`, `xor` and `not`.
    pub lop3: bool,
}

/// What is computed, without where its operands come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Work {
    op: SimdOp,
    a_signed: bool,
    b_signed: bool,
}

/// Where lanes are computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Layout {
    /// Anywhere.
    Any,
    /// In halves, two to a word.
    Halves,
}

/// Sequences of other instructions that compute what a SIMD video instruction computes.
///
/// `sources` are `a`, `b`, and `c` where the form reads it; any may be a constant, which is then folded into tables,
/// selectors and immediates. None for sources that are too few.
#[must_use]
pub(crate) fn spellings(form: &Simd, sources: &[Source], with: Available) -> Vec<Recipe> {
    spellings_after(&[], form, sources, with, &|_| halves::ANY)
}

/// The same after other steps, which `sources` may be: what they compute need not be put together and taken apart
/// again. The sequences contain those of the steps that they need. `values` says what the halves of values are.
#[must_use]
pub(crate) fn spellings_after(
    before: &[Step],
    form: &Simd,
    sources: &[Source],
    with: Available,
    values: &dyn Fn(ValueId) -> HalfRange,
) -> Vec<Recipe> {
    between(before, form, sources, (before.len(), &[]), (with, Layout::Any), values)
}

/// The same with steps behind it, which continue it: to those that come with `at`, its result is `Source::Step(at)`, and
/// theirs are those after that; those before are steps of `before`. They are folded into the sequences where that can be.
#[must_use]
pub(crate) fn spellings_between(
    before: &[Step],
    form: &Simd,
    sources: &[Source],
    behind: (usize, &[Step]),
    (with, layout): (Available, Layout),
) -> Vec<Recipe> {
    between(before, form, sources, behind, (with, layout), &|_| halves::ANY)
}

fn between(
    before: &[Step],
    form: &Simd,
    sources: &[Source],
    (at, behind): (usize, &[Step]),
    (with, layout): (Available, Layout),
    values: &dyn Fn(ValueId) -> HalfRange,
) -> Vec<Recipe> {
    let &[a, b, ref rest @ ..] = sources else { return Vec::new() };
    // Without a `c`, all lanes are computed and nothing is added: any will do.
    let c = rest.first().copied().unwrap_or(a);
    let mut all = sequences(before, with, values, &|build| {
        let result = generate(build, form, [a, b, c], layout)?;
        Some(build.continued(result, at, behind))
    });
    let first = forms(before, form);
    all.retain(|recipe| forms(&recipe.steps, form) <= first);
    all
}

/// What a lane holds where its comparison holds; elsewhere it is zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    /// All bits of the lane.
    Ones,
    /// Its highest bit.
    Highest,
}

/// The same for a comparison of lanes that gives other bits of a lane in the place of 1. None for other forms, and for
/// those that take lanes of `c` as they are.
#[must_use]
pub(crate) fn masks(
    before: &[Step],
    form: &Simd,
    sources: &[Source],
    (at, behind): (usize, &[Step]),
    (with, answer): (Available, Answer),
) -> Vec<Recipe> {
    let (SimdOp::Set { compare, accumulate: false }, &[a, b, ..]) = (form.op, sources) else {
        return Vec::new();
    };
    if form.routing.mask() != form.routing.lanes().full_mask() {
        return Vec::new();
    }
    let work = Work::of(form);
    let routes = route::Routes::of(form.routing, [a, b]);
    sequences(before, with, &|_| halves::ANY, &|build| {
        let slots = build.any(&routes.slots());
        let job = routes.job(build, work, slots)?;
        let result = match answer {
            Answer::Ones => compare::mask(build, compare, job),
            Answer::Highest => {
                let all = job.geometry.whole(form.routing.mask());
                compare::highest(build, compare, job, all)
            }
        };
        let result = routes.merge(build, slots, result, a)?;
        Some(build.continued(result, at, behind))
    })
}

/// What a generator makes, each sequence once.
fn sequences(
    before: &[Step],
    with: Available,
    values: &dyn Fn(ValueId) -> HalfRange,
    generate: &dyn Fn(&mut Build<'_>) -> Option<Source>,
) -> Vec<Recipe> {
    let mut all: Vec<Recipe> = Vec::new();
    let (mut none, mut choices) = (Choices::default(), Choices::default());
    let first = Build::after(before, with, values, &mut none);
    for _built in 0..MOST_BUILT {
        let mut build = first.again(&mut choices);
        let made = generate(&mut build).map(|result| build.finish(result));
        if let Some(recipe) = made
            && !all.contains(&recipe)
        {
            all.push(recipe);
        }
        if all.len() == MOST || !choices.next() {
            break;
        }
    }
    all
}

/// Whether an instruction only moves bytes, inverts bits that a number has, or copies.
#[must_use]
pub(crate) fn is_move(step: &Step) -> bool {
    let number = matches!(step.sources.last(), Some(Source::Constant(_)));
    match step.instruction() {
        Some(op::PRMT_B32 | op::XOR_B32) => number,
        Some(instruction) => instruction.is_move() && step.width == 32,
        None => false,
    }
}

/// A byte move, an inversion or a copy after other steps, as one sequence; `None` for other instructions.
#[must_use]
pub(crate) fn moved_after(
    before: &[Step],
    step: &Step,
    sources: &[Source],
    with: Available,
    values: &dyn Fn(ValueId) -> HalfRange,
) -> Option<Recipe> {
    let mut choices = Choices::default();
    let mut build = Build::after(before, with, values, &mut choices);
    let result = match (step.instruction(), sources) {
        (Some(op::PRMT_B32), &[x, y, Source::Constant(selector)]) => build.prmt(x, y, selector),
        (Some(op::XOR_B32), &[x, y]) => build.xor(x, y),
        (_, &[x]) => x,
        _ => return None,
    };
    Some(build.finish(result))
}

/// How many of some steps are the instruction itself.
fn forms(steps: &[Step], form: &Simd) -> usize {
    steps.iter().filter(|step| step.code == Code::Video(Form::Simd(*form))).count()
}

/// One sequence; which one is what the choices say.
fn generate(build: &mut Build<'_>, form: &Simd, [a, b, c]: [Source; 3], layout: Layout) -> Option<Source> {
    let work = Work::of(form);
    let routes = route::Routes::of(form.routing, [a, b]);
    if work.adds() {
        return if layout == Layout::Any { sums::sum(build, work, &routes, c) } else { None };
    }
    /// How the lanes are brought to where they are computed.
    #[derive(Clone, Copy)]
    enum Method {
        InPlace,
        Wide,
        Single,
    }
    let mut methods = Vec::new();
    if layout == Layout::Any {
        methods.push(Method::InPlace);
    }
    if layout == Layout::Any && single::fits(&routes) {
        methods.push(Method::Single);
    }
    if wide::fits(&routes) {
        methods.push(Method::Wide);
    }
    if methods.is_empty() {
        return None;
    }
    match build.any(&methods) {
        Method::InPlace => in_place(build, work, &routes, c),
        Method::Wide => wide::compute(build, work, &routes, c),
        Method::Single => single::compute(build, work, &routes, c),
    }
}

/// The lanes computed where they lie, then moved to where they belong.
fn in_place(build: &mut Build<'_>, work: Work, routes: &route::Routes, c: Source) -> Option<Source> {
    let slots = build.any(&routes.slots());
    let job = routes.job(build, work, slots)?;
    let result = lanes(build, work, job)?;
    routes.merge(build, slots, result, c)
}

/// The lanes of a word; none of them is added to anything.
fn lanes(build: &mut Build<'_>, work: Work, job: Job) -> Option<Source> {
    match work.op {
        SimdOp::Set { compare, .. } => compare::bits(build, compare, job),
        SimdOp::Arithmetic { op, dtype, then } => {
            let target = (then == SimdThen::Saturate).then_some(dtype == Sign::Signed);
            arithmetic(build, op, target, job)
        }
    }
}

/// The lanes of a word; `target` is whether they are clamped to signed or to unsigned ones.
fn arithmetic(build: &mut Build<'_>, op: SimdArithmetic, target: Option<bool>, job: Job) -> Option<Source> {
    match (op, target) {
        (SimdArithmetic::Add, None) => add_sub::add(build, job),
        (SimdArithmetic::Sub, None) => add_sub::sub(build, job),
        (SimdArithmetic::Add, Some(signed)) => saturate::add(build, job, signed),
        (SimdArithmetic::Sub, Some(signed)) => saturate::sub(build, job, signed),
        (SimdArithmetic::Min, None) => min_max::min(build, job),
        (SimdArithmetic::Max, None) => min_max::max(build, job),
        (SimdArithmetic::Min, Some(signed)) => min_max::saturated_min(build, job, signed),
        (SimdArithmetic::Max, Some(signed)) => min_max::saturated_max(build, job, signed),
        (SimdArithmetic::AbsDiff, None) => absdiff::distance(build, job),
        (SimdArithmetic::AbsDiff, Some(signed)) => absdiff::saturated(build, job, signed),
        (SimdArithmetic::Average, None) => average::mean(build, job),
        (SimdArithmetic::Average, Some(signed)) => average::saturated(build, job, signed),
    }
}

impl Work {
    fn of(form: &Simd) -> Self {
        Self { op: form.op, a_signed: form.atype == Sign::Signed, b_signed: form.btype == Sign::Signed }
    }

    /// Whether the lanes are added to `c`.
    fn adds(self) -> bool {
        matches!(
            self.op,
            SimdOp::Arithmetic { then: SimdThen::Add, .. } | SimdOp::Set { accumulate: true, .. }
        )
    }

    /// Whether the first and the second operand may change places.
    fn commutes(self) -> bool {
        use ptxopt_grammar::video::Compare;
        match self.op {
            SimdOp::Arithmetic { op, .. } => op != SimdArithmetic::Sub,
            SimdOp::Set { compare, .. } => matches!(compare, Compare::Eq | Compare::Ne),
        }
    }

    /// The operands in one order wherever the operation allows it, so that what several instructions need is one step.
    fn ordered(self, x: Operand, y: Operand) -> [Operand; 2] {
        if self.commutes() && (y.signed, y.source) < (x.signed, x.source) { [y, x] } else { [x, y] }
    }
}
