//! Few lanes as numbers of their own: each brought to a word, computed exactly, clamped, and merged.

use super::Work;
use super::build::Build;
use super::lanes::{Geometry, Job, Operand};
use super::route::{Pick, Routes, nibbles};
use crate::recipe::{Source, Step};
use ptxopt_grammar::meaning::disputed::disputed;
use ptxopt_grammar::table::instruction::{Instruction, op};
use ptxopt_grammar::video::{
    Arithmetic, Compare, Form, Part, Scalar, ScalarOp, Sign, SimdArithmetic, SimdOp, SimdThen, Then,
};

/// Whether few enough numbers are computed.
pub(super) fn fits(routes: &Routes) -> bool {
    routes.pairs().len() <= 2
}

/// The lanes, each computed as a word.
pub(super) fn compute(build: &mut Build<'_>, work: Work, routes: &Routes, c: Source) -> Option<Source> {
    let methods = methods(work);
    // Two bytes are better computed as halves, unless they need not be extracted.
    let many = routes.geometry.is_bytes() && routes.pairs().len() == 2;
    let methods: Vec<LaneMethod> =
        methods.iter().copied().filter(|&method| !many || method == LaneMethod::Video).collect();
    if methods.is_empty() {
        return None;
    }
    let method = build.any(&methods);
    if method == LaneMethod::Video && build.any(&[true, false]) {
        return merged(build, work, routes, c);
    }
    let mut results = Vec::new();
    for item in &routes.items {
        let result = number(build, work, routes.geometry, (item.a, item.b), method)?;
        results.push((result, 0));
    }
    Some(routes.collect(build, &results, c))
}

/// Lane after lane, each put where it belongs by the instruction that computes it.
fn merged(build: &mut Build<'_>, work: Work, routes: &Routes, c: Source) -> Option<Source> {
    let mut items = routes.items.iter();
    let mut word = c;
    if routes.is_full() {
        // The lanes above the lowest are overwritten.
        let lowest = items.next().filter(|item| item.lane == 0)?;
        word = number(build, work, routes.geometry, (lowest.a, lowest.b), LaneMethod::Video)?;
    }
    for item in items {
        let into = Some((part(routes.geometry, item.lane), word));
        let (x, y) = (
            Operand { source: item.a.source, signed: work.a_signed },
            Operand { source: item.b.source, signed: work.b_signed },
        );
        let job = Job { geometry: routes.geometry, x, y, active: 1 };
        let parts = [part(routes.geometry, item.a.lane), part(routes.geometry, item.b.lane)];
        word = video(build, work, job, parts, into)?;
    }
    Some(word)
}

/// How a number is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LaneMethod {
    /// Of extracted lanes, by arithmetic.
    First,
    /// The same, with a detail done differently.
    Second,
    /// By a scalar video instruction, which extracts the lanes itself.
    Video,
}

/// The alternatives that an operation has.
pub(super) fn methods(work: Work) -> &'static [LaneMethod] {
    match work.op {
        SimdOp::Arithmetic { op: SimdArithmetic::Average, .. } => &[LaneMethod::First, LaneMethod::Second],
        SimdOp::Set { compare, .. } if !matches!(compare, Compare::Eq | Compare::Ne) => {
            &[LaneMethod::Video, LaneMethod::First, LaneMethod::Second]
        }
        SimdOp::Arithmetic { .. } | SimdOp::Set { .. } => &[LaneMethod::Video, LaneMethod::First],
    }
}

/// A lane as a number.
pub(super) fn extract(build: &mut Build<'_>, geometry: Geometry, pick: Pick, signed: bool) -> Source {
    let last = u64::from(u32::from(pick.lane + 1) * geometry.bits() / 8 - 1);
    let fill = if signed { last | 8 } else { 4 };
    let own = nibbles(geometry, pick.lane, false, 0);
    let selector = (0..4 - geometry.bits() / 8).map(|at| fill << (12 - 4 * at)).sum::<u64>() | own;
    build.prmt(pick.source, Source::Constant(0), selector)
}

/// What a lane computes, as a word.
pub(super) fn number(
    build: &mut Build<'_>,
    work: Work,
    geometry: Geometry,
    (a, b): (Pick, Pick),
    method: LaneMethod,
) -> Option<Source> {
    let operand = |build: &mut Build<'_>, pick: Pick, signed: bool| Operand {
        source: if method == LaneMethod::Video {
            pick.source
        } else {
            extract(build, geometry, pick, signed)
        },
        signed,
    };
    let (x, y) = (operand(build, a, work.a_signed), operand(build, b, work.b_signed));
    if method == LaneMethod::Video {
        let job = Job { geometry, x, y, active: 1 };
        return video(build, work, job, [part(geometry, a.lane), part(geometry, b.lane)], None);
    }
    let [x, y] = work.ordered(x, y);
    let job = Job { geometry, x, y, active: 1 };
    Some(match work.op {
        SimdOp::Set { compare, .. } => comparison(build, compare, job.words(), method),
        SimdOp::Arithmetic { op, dtype, then } => {
            let result = exact(build, op, job, method);
            let signed = dtype == Sign::Signed;
            if then == SimdThen::Saturate { clamped(build, op, job, signed, result) } else { result }
        }
    })
}

/// The part of a word that a lane is.
fn part(geometry: Geometry, lane: u8) -> Part {
    let parts = if geometry.is_bytes() {
        [Part::B0, Part::B1, Part::B2, Part::B3]
    } else {
        [Part::H0, Part::H1, Part::H0, Part::H1]
    };
    parts[usize::from(lane)]
}

/// A number by a scalar video instruction, clamped by others: what those clamp to is disputed. `into` is the part of a
/// word that it becomes, if it is put there at once.
fn video(
    build: &mut Build<'_>,
    work: Work,
    job: Job,
    [a, b]: [Part; 2],
    into: Option<(Part, Source)>,
) -> Option<Source> {
    let sign = |signed: bool| if signed { Sign::Signed } else { Sign::Unsigned };
    let btype = sign(job.y.signed);
    let (op, limits) = match work.op {
        SimdOp::Set { compare, .. } => (ScalarOp::Set { compare, btype }, Vec::new()),
        SimdOp::Arithmetic { op, dtype, then } => {
            let clamps = then == SimdThen::Saturate;
            let limits = if clamps { limits(op, job, dtype == Sign::Signed) } else { Vec::new() };
            (ScalarOp::Arithmetic { op: op.scalar()?, dtype: Sign::Signed, btype, saturate: false }, limits)
        }
    };
    let form = Scalar { op, atype: sign(job.x.signed), a: Some(a), b: Some(b), then: Then::Store };
    let Some((last, rest)) = limits.split_last() else { return put(build, form, &job.words(), into) };
    let mut result = build.scalar(form, &job.words());
    for &(extreme, limit) in rest {
        result = build.extreme(extreme.plain(), result, word(limit));
    }
    if into.is_none() {
        return Some(build.extreme(last.0.plain(), result, word(last.1)));
    }
    let (dtype, btype) = (Sign::Signed, Sign::Signed);
    let op = ScalarOp::Arithmetic { op: last.0.scalar(), dtype, btype, saturate: false };
    let form = Scalar { op, atype: Sign::Signed, a: None, b: None, then: Then::Store };
    put(build, form, &[result, word(last.1)], into)
}

/// A scalar instruction, whose result becomes a part of a word if one is given; `None` if it is disputed what that means.
fn put(
    build: &mut Build<'_>,
    form: Scalar,
    sources: &[Source],
    into: Option<(Part, Source)>,
) -> Option<Source> {
    let Some((part, word)) = into else { return Some(build.scalar(form, sources)) };
    let merging = Scalar { then: Then::Merge(part), ..form };
    if disputed(Form::Scalar(merging)).is_some() {
        return None;
    }
    let sources: Vec<Source> = sources.iter().copied().chain([word]).collect();
    Some(build.scalar(merging, &sources))
}

fn exact(build: &mut Build<'_>, op: SimdArithmetic, job: Job, method: LaneMethod) -> Source {
    let [x, y] = job.words();
    match op {
        SimdArithmetic::Add => build.add(x, y),
        SimdArithmetic::Sub => build.sub(x, y),
        SimdArithmetic::Min => build.extreme(op::MIN_S32, x, y),
        SimdArithmetic::Max => build.extreme(op::MAX_S32, x, y),
        SimdArithmetic::AbsDiff => build.plain(op::SAD_S32, &[x, y, Source::Constant(0)]),
        SimdArithmetic::Average => {
            let sum = build.add(x, y);
            let more = build.add(sum, Source::Constant(1));
            // One less where the sum is negative.
            let twice = match method {
                _ if job.signed() == Some(false) => more,
                LaneMethod::First => {
                    let negative = build.shr(sum, 31);
                    build.sub(more, negative)
                }
                LaneMethod::Second | LaneMethod::Video => {
                    let negative = build.sar(sum, 31);
                    build.add(more, negative)
                }
            };
            build.sar(twice, 1)
        }
    }
}

/// The least and the greatest result.
fn range(op: SimdArithmetic, job: Job) -> (i64, i64) {
    let of = |signed: bool| bounds(job.geometry, signed);
    let (x, y) = (of(job.x.signed), of(job.y.signed));
    match op {
        SimdArithmetic::Add => (x.0 + y.0, x.1 + y.1),
        SimdArithmetic::Sub => (x.0 - y.1, x.1 - y.0),
        SimdArithmetic::Min => (x.0.min(y.0), x.1.min(y.1)),
        SimdArithmetic::Max => (x.0.max(y.0), x.1.max(y.1)),
        SimdArithmetic::AbsDiff => (0, (x.1 - y.0).max(y.1 - x.0)),
        SimdArithmetic::Average => ((x.0 + y.0) >> 1, (x.1 + y.1 + 1) >> 1),
    }
}

/// The least and the greatest number of a lane.
pub(super) fn bounds(geometry: Geometry, signed: bool) -> (i64, i64) {
    let bits = geometry.bits();
    if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

/// A number as a word.
pub(super) fn word(number: i64) -> Source {
    Source::Constant(number.cast_unsigned() & super::build::ALL)
}

/// Where the results of an operation leave the range of a lane, in order: the operations that keep them there, and the
/// numbers.
fn limits(op: SimdArithmetic, job: Job, signed: bool) -> Vec<(Limit, i64)> {
    let ((least, most), (low, high)) = (range(op, job), bounds(job.geometry, signed));
    let above = (most > high).then_some((Limit::Most, high));
    let below = (least < low).then_some((Limit::Least, low));
    above.into_iter().chain(below).collect()
}

/// A limit of numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Limit {
    Most,
    Least,
}

impl Limit {
    fn plain(self) -> Instruction {
        match self {
            Self::Most => op::MIN_S32,
            Self::Least => op::MAX_S32,
        }
    }

    fn scalar(self) -> Arithmetic {
        match self {
            Self::Most => Arithmetic::Min,
            Self::Least => Arithmetic::Max,
        }
    }
}

fn clamped(build: &mut Build<'_>, op: SimdArithmetic, job: Job, signed: bool, result: Source) -> Source {
    let limits = limits(op, job, signed).into_iter();
    limits.fold(result, |result, (limit, number)| build.extreme(limit.plain(), result, word(number)))
}

/// 1 where the comparison of two small numbers holds, else 0.
pub(super) fn comparison(
    build: &mut Build<'_>,
    compare: Compare,
    [x, y]: [Source; 2],
    method: LaneMethod,
) -> Source {
    let ([x, y], or_equal) = match compare {
        Compare::Lt => ([x, y], false),
        Compare::Gt => ([y, x], false),
        Compare::Le => ([x, y], true),
        Compare::Ge => ([y, x], true),
        Compare::Eq => return chosen(build, op::SETP_EQ_S32, [x, y]),
        Compare::Ne => return chosen(build, op::SETP_NE_S32, [x, y]),
    };
    if method == LaneMethod::Second {
        return chosen(build, if or_equal { op::SETP_LE_S32 } else { op::SETP_LT_S32 }, [x, y]);
    }
    // The sign of the difference.
    let difference = build.sub(x, y);
    let difference = if or_equal { build.add(difference, word(-1)) } else { difference };
    build.shr(difference, 31)
}

/// 1 where a condition on two words holds, else 0.
fn chosen(build: &mut Build<'_>, instruction: Instruction, sources: [Source; 2]) -> Source {
    let [x, y] = match sources {
        // The assembler takes a number in the second place.
        [x @ Source::Constant(_), y] => [build.register(x), y],
        sources => sources,
    };
    let condition = build.push(Step::wide(instruction, &[x, y], 1));
    build.plain(op::SELP_B32, &[Source::Constant(1), Source::Constant(0), condition])
}
