//! Sums and differences of lanes that are clamped.
//!
//! In general the highest bits of the operands and the carry into them say what the exact result is in units of half
//! a range, so functions of these three bits say where it leaves the range, and to which side. Unsigned lanes need
//! less: `x + min(y, ~x)` cannot overflow, and `x - min(x, y)` cannot borrow.

use super::add_sub::{self, add_guarded, sub_guarded};
use super::build::Build;
use super::lanes::{Job, low_difference, low_sum, spread};
use super::min_max::{Extremum, extremum};
use crate::recipe::Source;
use ptxopt_grammar::table::instruction::op;

/// `x+y` in every lane, clamped.
pub(super) fn add(build: &mut Build<'_>, job: Job, to_signed: bool) -> Option<Source> {
    saturated(build, job, to_signed, true)
}

/// `x-y` in every lane, clamped.
pub(super) fn sub(build: &mut Build<'_>, job: Job, to_signed: bool) -> Option<Source> {
    saturated(build, job, to_signed, false)
}

#[derive(Clone, Copy)]
enum Method {
    Packed,
    Minimum,
    ClampedOperand,
    Overflow,
    Cases,
}

fn saturated(build: &mut Build<'_>, job: Job, to_signed: bool, adds: bool) -> Option<Source> {
    let of_one_type = job.signed() == Some(to_signed);
    let mut methods = Vec::new();
    // Halves have no packed subtraction; the signed one is an addition of complements.
    if of_one_type && (job.geometry.is_bytes() || adds || to_signed) {
        methods.push(Method::Packed);
    }
    if of_one_type && !to_signed {
        methods.push(Method::Minimum);
    }
    if of_one_type && to_signed && !job.geometry.is_bytes() {
        methods.push(Method::ClampedOperand);
    }
    // Bytes that wrap are not cheaper than the low bits alone, but for those of a negated word.
    let negates = matches!(job.x.source, Source::Constant(0)) && !adds;
    if of_one_type && to_signed && (negates || !job.geometry.is_bytes()) {
        methods.push(Method::Overflow);
    }
    methods.push(Method::Cases);
    Some(match build.any(&methods) {
        Method::Packed => packed(build, job, to_signed, adds),
        Method::Minimum => minimum(build, job, adds),
        Method::ClampedOperand => clamped_operand(build, job, adds),
        Method::Overflow => overflow(build, job, adds)?,
        Method::Cases => cases(build, job, to_signed, adds),
    })
}

fn packed(build: &mut Build<'_>, job: Job, to_signed: bool, adds: bool) -> Source {
    let [x, y] = job.words();
    let of = job.geometry.packed(to_signed);
    if adds {
        return build.packed(op::ADD.with(&[op::SAT, of]), x, y);
    }
    if job.geometry.is_bytes() {
        return build.packed(op::SUB.with(&[op::SAT, of]), x, y);
    }
    // Clamping is symmetric under complement: x-y = ~(~x+y).
    let x = build.not(x);
    let sum = build.packed(op::ADD.with(&[op::SAT, of]), x, y);
    build.not(sum)
}

/// Unsigned lanes: what is added or subtracted is limited first.
fn minimum(build: &mut Build<'_>, job: Job, adds: bool) -> Source {
    let [x, y] = job.words();
    // Lanes that do not matter are limited as well, so that none carries or borrows.
    let job = Job { active: job.geometry.lanes.full_mask(), ..job };
    if adds {
        let room = build.not(x);
        let added = extremum(build, job.of(y, room, false), Extremum::Min);
        build.add(x, added)
    } else {
        let removed = extremum(build, job, Extremum::Min);
        build.sub(x, removed)
    }
}

/// Signed halves: the second operand is limited to what the first leaves room for.
fn clamped_operand(build: &mut Build<'_>, job: Job, adds: bool) -> Source {
    let [x, y] = job.words();
    let x = if adds { x } else { build.not(x) };
    let zero = Source::Constant(0);
    let greatest = build.packed(op::MAX_S16X2, x, zero);
    let most = build.xor(greatest, job.geometry.low());
    // -32768 - min(x, 0) = ~min(x, 0) + 0x8001
    let least = build.packed(op::MIN_S16X2, x, zero);
    let least = build.not(least);
    let least = build.packed(op::ADD_S16X2, least, job.geometry.every(0x8001));
    let y = build.packed(op::MAX_S16X2, y, least);
    let y = build.packed(op::MIN_S16X2, y, most);
    let sum = build.packed(op::ADD_S16X2, x, y);
    if adds { sum } else { build.not(sum) }
}

/// Signed lanes: what wraps, and where it did the end of the range that has the sign of the first operand.
fn overflow(build: &mut Build<'_>, job: Job, adds: bool) -> Option<Source> {
    let [x, y] = job.words();
    let result = if adds { add_sub::add(build, job)? } else { add_sub::sub(build, job)? };
    let out = if adds {
        build.logic([x, y, result], |x, y, sum| (sum ^ x) & (sum ^ y))
    } else {
        build.logic([x, y, result], |x, y, difference| (x ^ y) & (x ^ difference))
    };
    let (out, side) = (spread(build, job.geometry, out), spread(build, job.geometry, x));
    let end = build.logic([out, side, job.geometry.low()], |out, side, low| out & (side ^ low));
    Some(build.logic([out, end, result], |out, end, result| end | !out & result))
}

/// What the highest bits of x and y, and the carry into them, say of the exact result: tables of three bits.
#[derive(Clone, Copy, Default, Debug)]
struct Cases {
    /// It is below the range.
    below: u8,
    /// It is above the range.
    above: u8,
    /// The highest bit of the clamped result.
    top: u8,
}

impl Cases {
    fn of(job: Job, to_signed: bool, adds: bool) -> Self {
        let mut cases = Self::default();
        for row in 0..8_u8 {
            let bit = |at: u8| i32::from(row >> at & 1);
            let x = if job.x.signed { -bit(2) } else { bit(2) };
            let y = if job.y.signed { -bit(1) } else { bit(1) };
            // The result in units of half a range, downwards. A difference without a borrow has the carry set.
            let halves = if adds { x + y + bit(0) } else { x - y + bit(0) - 1 };
            let (least, most) = if to_signed { (-1, 0) } else { (0, 1) };
            let (below, above) = (halves < least, halves > most);
            let top = if below {
                to_signed
            } else if above {
                !to_signed
            } else {
                halves & 1 == 1
            };
            cases.below |= u8::from(below) << row;
            cases.above |= u8::from(above) << row;
            cases.top |= u8::from(top) << row;
        }
        cases
    }
}

/// The low bits by a sum of words, the highest by a table, and what leaves the range replaced by a mask.
fn cases(build: &mut Build<'_>, job: Job, to_signed: bool, adds: bool) -> Source {
    let geometry = job.geometry;
    let low = if adds { low_sum(build, job) } else { low_difference(build, job) };
    let cases = Cases::of(job, to_signed, adds);
    let tops = [job.x.source, job.y.source, low];
    let top_of = |build: &mut Build<'_>, table: u8| build.by_table(tops, table);
    if cases.below != 0 && cases.above != 0 {
        let out = top_of(build, cases.below | cases.above);
        let (out, top) = (spread(build, geometry, out), top_of(build, cases.top));
        let side = spread(build, geometry, top);
        // Signed lanes end at the complement of their highest bit, unsigned ones at copies of it.
        let flip = if to_signed { 0xff } else { 0 };
        let rest = build.logic([out, side, low], |out, side, low| out & (side ^ flip) | !out & low);
        return build.select(geometry.high(), top, rest);
    }
    let to_ones = cases.above != 0;
    let out = top_of(build, cases.below | cases.above);
    let out = spread(build, geometry, out);
    let fill = |word: u8, out: u8| if to_ones { word | out } else { word & !out };
    if !to_signed {
        let differ = if adds { 0 } else { 0xff };
        let top =
            build.logic([job.x.source, job.y.source, geometry.high()], |x, y, high| (x ^ y ^ differ) & high);
        return build.logic([low, top, out], |low, top, out| fill(low ^ top, out));
    }
    if cases.top == 0 {
        return build.logic([low, out, geometry.low()], |word, out, low| fill(word, out) & low);
    }
    let top = top_of(build, cases.top);
    let rest = build.logic2([low, out], fill);
    build.select(geometry.high(), top, rest)
}

/// The sum or the difference of lanes that are known to stay in range but for carries.
pub(super) fn wrapped(build: &mut Build<'_>, job: Job, adds: bool) -> Source {
    if adds { add_guarded(build, job) } else { sub_guarded(build, job) }
}
