//! Distances of lanes, `|x-y|`.
//!
//! Bytes of one type have an instruction on most GPUs. Else the greater minus the lesser, which does not borrow if
//! both are unsigned; or halves as numbers of their own. Of an unsigned `u` and a signed `v`, the distance is
//! `|u - max(v, 0)| + max(-v, 0)`.

use super::build::Build;
use super::compare::{easier, mask};
use super::lanes::{Clamp, Job, Operand, clamp};
use super::min_max::distance as byte_distance;
use super::saturate;
use super::saturate::wrapped;
use crate::recipe::Source;
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::video::Compare;

#[derive(Clone, Copy)]
enum Method {
    Instruction,
    Extremes,
    Biased,
    Wrapping,
    Mask,
    Xor,
    Halves,
    Stacked,
    Parts,
}

/// `|x-y|` in every lane, cut to the lane.
pub(super) fn distance(build: &mut Build<'_>, job: Job) -> Option<Source> {
    let methods: &[Method] = match (job.signed(), job.geometry.is_bytes()) {
        (Some(false), true) => &[Method::Instruction, Method::Extremes, Method::Mask, Method::Xor],
        (Some(true), true) => &[Method::Instruction, Method::Extremes, Method::Biased, Method::Mask],
        (None, true) => &[Method::Instruction, Method::Parts, Method::Mask],
        (Some(false), false) => {
            &[Method::Extremes, Method::Stacked, Method::Halves, Method::Mask, Method::Xor]
        }
        (Some(true), false) => {
            &[Method::Biased, Method::Wrapping, Method::Stacked, Method::Halves, Method::Mask]
        }
        (None, false) => &[Method::Halves, Method::Mask],
    };
    let [x, y] = job.words();
    Some(match build.any(methods) {
        Method::Instruction => byte_distance(build, x, y, [job.x.signed, job.y.signed]),
        Method::Extremes => extremes(build, job),
        Method::Biased => {
            let [x, y] = [x, y].map(|word| build.xor(word, job.geometry.high()));
            extremes(build, job.of(x, y, false))
        }
        Method::Wrapping => wrapping(build, job),
        Method::Mask => by_mask(build, job),
        Method::Xor => {
            let (job, [x, y]) = (easier(job), easier(job).words());
            let mask = mask(build, Compare::Gt, job);
            let most = build.select(mask, x, y);
            let least = build.logic([x, y, most], |x, y, most| x ^ y ^ most);
            build.sub(most, least)
        }
        Method::Halves => halves(build, job, None),
        Method::Stacked => stacked(build, job),
        Method::Parts => {
            let [near, negative] = parts(build, job);
            wrapped(build, job.of(near, negative, false), true)
        }
    })
}

/// `max-min`; of signed bytes as packed ones, since plain words would borrow.
fn extremes(build: &mut Build<'_>, job: Job) -> Source {
    let [x, y] = job.words();
    let of = job.geometry.packed(job.x.signed);
    let most = build.packed(op::MAX.of(of), x, y);
    let least = build.packed(op::MIN.of(of), x, y);
    if job.x.signed { build.packed(op::SUB_U8X4, most, least) } else { build.sub(most, least) }
}

/// Signed halves: `max-min`, which wraps.
fn wrapping(build: &mut Build<'_>, job: Job) -> Source {
    let [x, y] = job.words();
    let most = build.packed(op::MAX_S16X2, x, y);
    let least = build.packed(op::MIN_S16X2, x, y);
    build.difference(most, least)
}

/// The greater minus the lesser, both chosen by a mask.
fn by_mask(build: &mut Build<'_>, job: Job) -> Source {
    let job = easier(job);
    let mask = mask(build, Compare::Gt, job);
    let [x, y] = job.words();
    match job.signed() {
        Some(signed) => {
            // Signed lanes with their highest bits inverted are unsigned ones that borrow nothing.
            let flip = if signed { job.geometry.high() } else { Source::Constant(0) };
            let (most, least) = (build.select(mask, x, y), build.select(mask, y, x));
            let (most, least) = (build.xor(most, flip), build.xor(least, flip));
            build.sub(most, least)
        }
        None => {
            let (most, least) = (build.select(mask, x, y), build.select(mask, y, x));
            wrapped(build, job.of(most, least, false), false)
        }
    }
}

/// `|u - max(v, 0)|` and `max(-v, 0)` of an unsigned `u` and a signed `v`: each a byte.
fn parts(build: &mut Build<'_>, job: Job) -> [Source; 2] {
    let [unsigned, signed] = job.sorted();
    let positive = clamp(build, job.geometry, signed, Clamp::Negative);
    let near = byte_distance(build, unsigned, positive, [false; 2]);
    let negative = byte_distance(build, signed, positive, [true; 2]);
    [near, negative]
}

/// A half as a number of its own.
pub(super) fn half(build: &mut Build<'_>, operand: Operand, upper: bool) -> Source {
    let selector = match (operand.signed, upper) {
        (false, false) => 0x4410,
        (false, true) => 0x4432,
        (true, false) => 0x9910,
        (true, true) => 0xbb32,
    };
    build.prmt(operand.source, Source::Constant(0), selector)
}

/// The distance of the lower halves as numbers, to which that of the upper halves is added where it lies.
fn stacked(build: &mut Build<'_>, job: Job) -> Source {
    let (x, y) = (half(build, job.x, false), half(build, job.y, false));
    let low = build.plain(op::SAD_S32, &[x, y, Source::Constant(0)]);
    let upper = Source::Constant(0xffff_0000);
    let [x, y] = job.words().map(|word| build.and(word, upper));
    build.plain(if job.x.signed { op::SAD_S32 } else { op::SAD_U32 }, &[x, y, low])
}

/// Halves as numbers of their own, at most `most`.
fn halves(build: &mut Build<'_>, job: Job, most: Option<u64>) -> Source {
    let mut one = |upper: bool| {
        let (x, y) = (half(build, job.x, upper), half(build, job.y, upper));
        let result = build.plain(op::SAD_S32, &[x, y, Source::Constant(0)]);
        match most {
            Some(most) => build.plain(op::MIN_U32, &[result, Source::Constant(most)]),
            None => result,
        }
    };
    let (low, high) = (one(false), one(true));
    build.prmt(low, high, 0x5410)
}

/// `|x-y|` in every lane, clamped.
pub(super) fn saturated(build: &mut Build<'_>, job: Job, to_signed: bool) -> Option<Source> {
    if job.signed().is_some() {
        let result = distance(build, job)?;
        return Some(if to_signed { clamp(build, job.geometry, result, Clamp::Large) } else { result });
    }
    if job.geometry.is_bytes() {
        let [near, negative] = parts(build, job);
        return saturate::add(build, job.of(near, negative, false), to_signed);
    }
    let most = if to_signed { 0x7fff } else { 0xffff };
    Some(halves(build, job, Some(most)))
}
