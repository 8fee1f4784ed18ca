//! Minima and maxima of lanes.
//!
//! Chosen by a mask of the comparison; from the distance, since `max - min = |x-y|`; or by minima of wider lanes: the
//! highest lane of a word decides, so the others are compared once the lanes above them are made equal.

use super::build::Build;
use super::compare::{easier, mask};
use super::lanes::{Clamp, Job, clamp};
use super::packed::UPPER_BYTES;
use crate::recipe::Source;
use ptxopt_grammar::table::instruction::{Instruction, op};
use ptxopt_grammar::table::words::Modifier;
use ptxopt_grammar::video::{Compare, Lanes, Routing, Sign, Simd, SimdArithmetic, SimdOp, SimdThen};

/// Which of the two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Extremum {
    Min,
    Max,
}

type Method = fn(&mut Build<'_>, Job, Extremum) -> Source;

impl Extremum {
    /// The instruction on a type.
    fn instruction(self, of: Modifier) -> Instruction {
        match self {
            Self::Min => op::MIN.of(of),
            Self::Max => op::MAX.of(of),
        }
    }
}

/// The lesser lanes.
pub(super) fn min(build: &mut Build<'_>, job: Job) -> Option<Source> {
    Some(extremum(build, job, Extremum::Min))
}

/// The greater lanes.
pub(super) fn max(build: &mut Build<'_>, job: Job) -> Option<Source> {
    Some(extremum(build, job, Extremum::Max))
}

pub(super) fn extremum(build: &mut Build<'_>, job: Job, which: Extremum) -> Source {
    let highest = job.active == 1 << (job.geometry.lanes.count() - 1);
    let methods: &[Method] = match (job.signed(), job.geometry.lanes) {
        (Some(_), _) if highest => &[packed, whole],
        (Some(false), Lanes::Four) => &[packed, by_halves, chosen, by_distance],
        (Some(true), Lanes::Four) => &[packed, by_halves, swapped_halves, chosen, by_distance],
        (Some(false), Lanes::Two) => &[packed, under_common_move, under_common_half, shifted, chosen],
        (Some(true), Lanes::Two) => &[packed, shifted, chosen],
        (None, _) => &[chosen, common_type],
    };
    build.any(methods)(build, job, which)
}

/// By a mask of the comparison.
fn chosen(build: &mut Build<'_>, job: Job, which: Extremum) -> Source {
    let job = easier(job);
    let mask = mask(build, Compare::Gt, job);
    let [x, y] = job.words();
    match which {
        Extremum::Min => build.select(mask, y, x),
        Extremum::Max => build.select(mask, x, y),
    }
}

fn packed(build: &mut Build<'_>, job: Job, which: Extremum) -> Source {
    let instruction = which.instruction(job.geometry.packed(job.x.signed));
    build.packed(instruction, job.x.source, job.y.source)
}

/// The highest lane alone: it decides between whole words.
fn whole(build: &mut Build<'_>, job: Job, which: Extremum) -> Source {
    let instruction = which.instruction(if job.x.signed { op::S32 } else { op::U32 });
    build.commutative(instruction, job.x.source, job.y.source)
}

/// `|x-y|` of bytes by the instruction that many GPUs have.
pub(super) fn distance(build: &mut Build<'_>, x: Source, y: Source, signed: [bool; 2]) -> Source {
    let [atype, btype] = signed.map(|signed| if signed { Sign::Signed } else { Sign::Unsigned });
    let op = SimdOp::Arithmetic { op: SimdArithmetic::AbsDiff, dtype: Sign::Unsigned, then: SimdThen::Store };
    build.simd(Simd { op, atype, btype, routing: Routing::plain(Lanes::Four) }, &[x, y])
}

/// `min = (x&y) + ((x^y) - |x-y|)/2`, `max = (x|y) - ((x^y) - |x-y|)/2`
fn by_distance(build: &mut Build<'_>, job: Job, which: Extremum) -> Source {
    let ([x, y], high) = (job.words(), job.geometry.high());
    let signed = job.x.signed;
    let distance = distance(build, x, y, [signed; 2]);
    let differ = build.xor(x, y);
    let twice = build.sub(differ, distance);
    let half = build.shr(twice, 1);
    // Signed lanes are computed with the highest bit inverted.
    let flip = if signed { 0xff } else { 0 };
    let result = match which {
        Extremum::Min => {
            let both = build.logic([x, y, high], |x, y, high| (x ^ high & flip) & (y ^ high & flip));
            build.add(half, both)
        }
        Extremum::Max => {
            let either = build.logic([x, y, high], |x, y, high| x ^ high & flip | y ^ high & flip);
            build.sub(either, half)
        }
    };
    if signed { build.xor(result, high) } else { result }
}

/// Bytes by packed halves: the upper bytes decide; under equal upper bytes the lower ones do.
fn by_halves(build: &mut Build<'_>, job: Job, which: Extremum) -> Source {
    let [x, y] = job.words();
    let instruction = which.instruction(if job.x.signed { op::S16X2 } else { op::U16X2 });
    let high = build.packed(instruction, x, y);
    if job.x.signed {
        let [x, y] = [x, y].map(|word| build.prmt(word, Source::Constant(0), 0xa280));
        let low = build.packed(instruction, x, y);
        return build.select(UPPER_BYTES, high, low);
    }
    let [x, y] = [x, y].map(|word| build.select(UPPER_BYTES, high, word));
    build.packed(instruction, x, y)
}

/// Signed bytes by packed halves: once as they are, once exchanged.
fn swapped_halves(build: &mut Build<'_>, job: Job, which: Extremum) -> Source {
    let [x, y] = job.words();
    let instruction = which.instruction(op::S16X2);
    let high = build.packed(instruction, x, y);
    let [x, y] = [x, y].map(|word| build.prmt(word, Source::Constant(0), 0x2301));
    let low = build.packed(instruction, x, y);
    build.prmt(high, low, 0x3715)
}

/// Halves by whole words: the upper halves as they lie, the lower ones moved up.
fn shifted(build: &mut Build<'_>, job: Job, which: Extremum) -> Source {
    let [x, y] = job.words();
    let instruction = which.instruction(if job.x.signed { op::S32 } else { op::U32 });
    let high = build.commutative(instruction, x, y);
    let [x, y] = [x, y].map(|word| build.shl(word, 16));
    let low = build.commutative(instruction, x, y);
    build.prmt(low, high, 0x7632)
}

/// Unsigned halves by whole words: the lower ones under equal upper ones.
fn under_common_half(build: &mut Build<'_>, job: Job, which: Extremum) -> Source {
    let [x, y] = job.words();
    let instruction = which.instruction(op::U32);
    let high = build.commutative(instruction, x, y);
    let upper = Source::Constant(0xffff_0000);
    let [x, y] = [x, y].map(|word| build.select(upper, high, word));
    build.commutative(instruction, x, y)
}

/// The same with byte moves.
fn under_common_move(build: &mut Build<'_>, job: Job, which: Extremum) -> Source {
    let [x, y] = job.words();
    let instruction = which.instruction(op::U32);
    let high = build.commutative(instruction, x, y);
    let [x, y] = [x, y].map(|word| build.prmt(word, high, 0x7610));
    build.commutative(instruction, x, y)
}

/// Lanes of different types: a minimum is at most the greatest signed number, a maximum at least zero, so the other
/// operand is clamped to that and both are of one type.
fn common_type(build: &mut Build<'_>, job: Job, which: Extremum) -> Source {
    let [unsigned, signed] = job.sorted();
    match which {
        Extremum::Min => {
            let unsigned = clamp(build, job.geometry, unsigned, Clamp::Large);
            extremum(build, job.of(unsigned, signed, true), which)
        }
        Extremum::Max => {
            let signed = clamp(build, job.geometry, signed, Clamp::Negative);
            extremum(build, job.of(unsigned, signed, false), which)
        }
    }
}

/// The lesser lanes, clamped.
pub(super) fn saturated_min(build: &mut Build<'_>, job: Job, to_signed: bool) -> Option<Source> {
    Some(saturated(build, job, to_signed, Extremum::Min))
}

/// The greater lanes, clamped.
pub(super) fn saturated_max(build: &mut Build<'_>, job: Job, to_signed: bool) -> Option<Source> {
    Some(saturated(build, job, to_signed, Extremum::Max))
}

fn saturated(build: &mut Build<'_>, job: Job, to_signed: bool, which: Extremum) -> Source {
    let to = if to_signed { Clamp::Large } else { Clamp::Negative };
    match (job.signed(), which) {
        (Some(signed), _) if signed == to_signed => extremum(build, job, which),
        (Some(_), _) => {
            let result = extremum(build, job, which);
            clamp(build, job.geometry, result, to)
        }
        // Of a signed and an unsigned number, the lesser fits the signed type and the greater the unsigned one.
        (None, Extremum::Min) if to_signed => extremum(build, job, which),
        (None, Extremum::Max) if !to_signed => extremum(build, job, which),
        (None, _) => {
            let [unsigned, signed] = job.sorted();
            let clamped = clamp(build, job.geometry, if to_signed { unsigned } else { signed }, to);
            let other = if to_signed { signed } else { unsigned };
            extremum(build, job.of(other, clamped, to_signed), which)
        }
    }
}
