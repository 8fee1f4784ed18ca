//! Means of lanes, halves rounded away from zero.
//!
//! `(x+y+1)/2 = (x|y) - ((x^y)>>1)` and `(x+y)/2 = (x&y) + ((x^y)>>1)`, with the bits that leave a lane masked away.
//! Signed lanes are computed with the highest bit inverted, downwards, and get one more where the sum is odd and not
//! negative.

use super::build::Build;
use super::lanes::{Clamp, Geometry, Job, clamp, half_sum, spread};
use crate::recipe::Source;
use ptxopt_grammar::table::instruction::op;

/// The means of the lanes.
pub(super) fn mean(build: &mut Build<'_>, job: Job) -> Option<Source> {
    Some(match job.signed() {
        Some(false) => unsigned(build, job),
        Some(true) => signed(build, job),
        None => mixed(build, job),
    })
}

fn unsigned(build: &mut Build<'_>, job: Job) -> Source {
    let ([x, y], geometry) = (job.words(), job.geometry);
    let differ = build.logic([x, y, geometry.but_lowest()], |x, y, rest| (x ^ y) & rest);
    if build.any(&[false, true]) {
        let neither = build.logic2([x, y], |x, y| !(x | y));
        let complement = half_sum(build, neither, differ);
        return build.not(complement);
    }
    let either = build.logic2([x, y], |x, y| x | y);
    let half = build.shr(differ, 1);
    build.sub(either, half)
}

fn signed(build: &mut Build<'_>, job: Job) -> Source {
    let ([x, y], geometry) = (job.words(), job.geometry);
    let sign = job.bits() - 1;
    let differ = build.logic([x, y, geometry.but_lowest()], |x, y, rest| (x ^ y) & rest);
    let both = build.logic([x, y, geometry.high()], |x, y, high| (x ^ high) & (y ^ high));
    let floor = half_sum(build, both, differ);
    if build.any(&[false, true]) {
        let odd = build.xor(x, y);
        let odd = build.shl(odd, sign);
        let more = build.logic([floor, odd, geometry.high()], |floor, odd, high| floor & odd & high);
        let floor = build.xor(floor, geometry.high());
        let more = build.shr(more, sign);
        return build.add(more, floor);
    }
    let odd = build.logic([x, y, geometry.one()], |x, y, one| (x ^ y) & one);
    let positive = build.shr(floor, sign);
    let more = build.and(positive, odd);
    let result = build.add(floor, more);
    build.xor(result, geometry.high())
}

/// Half a range below zero becomes zero: a quarter range that is added to every lane.
pub(super) fn quarter(geometry: Geometry) -> Source {
    geometry.every(1 << (geometry.bits() - 2))
}

/// Means of an unsigned and a signed operand, plus a quarter range: at least zero, and in range.
pub(super) fn lifted(build: &mut Build<'_>, job: Job) -> Source {
    let ([unsigned, signed], geometry) = (job.sorted(), job.geometry);
    // The signed operand with its highest bit inverted is half a range more, the mean a quarter.
    let differ = build.logic([unsigned, signed, geometry.but_lowest()], |x, y, rest| (x ^ y) & rest);
    let differ = build.xor(differ, geometry.high());
    let both = build.logic([unsigned, signed, geometry.high()], |x, y, high| x & (y ^ high));
    let floor = half_sum(build, both, differ);
    // One more where the sum is odd and not negative: where one of the two highest bits is set.
    let odd = build.logic([unsigned, signed, geometry.one()], |x, y, one| (x ^ y) & one);
    let top = build.shr(floor, job.bits() - 1);
    let second = build.shr(floor, job.bits() - 2);
    let more = build.logic([odd, top, second], |odd, top, second| odd & (top | second));
    build.add(floor, more)
}

/// A quarter range taken from every lane, without borrows between lanes.
fn lowered(build: &mut Build<'_>, geometry: Geometry, word: Source) -> Source {
    if build.any(&[true, false]) {
        return packed_difference(build, geometry, word);
    }
    // The two highest bits count down by one: the second is inverted, the first where the second was not set.
    let second = build.shl(word, 1);
    let flipped = build.logic([word, second, geometry.high()], |word, second, high| word ^ second & high);
    build.xor(flipped, geometry.every(3 << (geometry.bits() - 2)))
}

/// The same by the packed instructions.
fn packed_difference(build: &mut Build<'_>, geometry: Geometry, word: Source) -> Source {
    if geometry.is_bytes() {
        return build.packed(op::SUB_U8X4, word, quarter(geometry));
    }
    build.packed(op::ADD_U16X2, word, geometry.every(0xc000))
}

fn mixed(build: &mut Build<'_>, job: Job) -> Source {
    let result = lifted(build, job);
    lowered(build, job.geometry, result)
}

/// The means of the lanes, clamped.
pub(super) fn saturated(build: &mut Build<'_>, job: Job, to_signed: bool) -> Option<Source> {
    let geometry = job.geometry;
    let Some(signed) = job.signed() else { return Some(clamped_mixed(build, job, to_signed)) };
    let result = mean(build, job)?;
    Some(match (signed, to_signed) {
        (false, true) => clamp(build, geometry, result, Clamp::Large),
        (true, false) => clamp(build, geometry, result, Clamp::Negative),
        (false, false) | (true, true) => result,
    })
}

/// Means of mixed types, clamped while they are a quarter range more: then the two highest bits tell the cases.
fn clamped_mixed(build: &mut Build<'_>, job: Job, to_signed: bool) -> Source {
    let geometry = job.geometry;
    let lifted = lifted(build, job);
    let of = geometry.packed(false);
    let packed = build.any(&[true, false]);
    if to_signed {
        // Three quarters of a range less one.
        let most = geometry.every(3 * (1 << (geometry.bits() - 2)) - 1);
        let limited = if packed {
            build.packed(op::MIN.of(of), lifted, most)
        } else {
            let second = build.shl(lifted, 1);
            let large = build.logic2([lifted, second], |top, second| top & second);
            let large = spread(build, geometry, large);
            build.select(large, most, lifted)
        };
        return lowered(build, geometry, limited);
    }
    let least = quarter(geometry);
    let limited = if packed {
        build.packed(op::MAX.of(of), lifted, least)
    } else {
        let second = build.shl(lifted, 1);
        let positive = build.logic2([lifted, second], |top, second| top | second);
        let positive = spread(build, geometry, positive);
        build.select(positive, lifted, least)
    };
    build.sub(limited, least)
}
