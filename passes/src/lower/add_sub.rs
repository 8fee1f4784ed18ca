//! Sums and differences of lanes that wrap.
//!
//! A carry hurts only where a lane that matters lies above one that overflows. So few lanes need less care: a single
//! lane none but zeros below it, lanes with gaps only zeros in the gaps, and lanes whose sums are known to fit need nothing.

use super::build::Build;
use super::lanes::{Job, low_difference, low_sum};
use super::packed::UPPER_BYTES;
use crate::recipe::Source;
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::video::{Arithmetic, Part, Scalar, ScalarOp, Sign, Then};

type Method = fn(&mut Build<'_>, Job) -> Source;

/// What carries do to the lanes that matter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Carries {
    /// Nothing lies below the only lane.
    None,
    /// Nothing that matters lies directly below a lane that does.
    Gaps {
        /// Only one lane matters.
        single: bool,
    },
    /// They must be kept out.
    Everywhere,
}

fn carries(job: Job) -> Carries {
    match job.active {
        1 => Carries::None,
        active if active & active << 1 == 0 => Carries::Gaps { single: active.is_power_of_two() },
        _ => Carries::Everywhere,
    }
}

/// `x+y` in every lane.
pub(super) fn add(build: &mut Build<'_>, job: Job) -> Option<Source> {
    if build.carries_nothing(job) {
        return Some(plain_add(build, job));
    }
    let mut methods: Vec<Method> = match carries(job) {
        Carries::None => vec![plain_add],
        Carries::Gaps { single: true } => vec![add_one_masked],
        Carries::Gaps { single: false } => vec![add_both_masked],
        Carries::Everywhere if job.geometry.is_bytes() => vec![add_by_halves, add_guarded],
        Carries::Everywhere => vec![add_corrected, add_two_words, add_scalar, add_guarded],
    };
    methods.insert(0, add_packed);
    Some(build.any(&methods)(build, job))
}

/// `x-y` in every lane.
pub(super) fn sub(build: &mut Build<'_>, job: Job) -> Option<Source> {
    let mut methods: Vec<Method> = match carries(job) {
        Carries::None => vec![plain_sub],
        Carries::Everywhere if build.has_room(job) => vec![sub_of_small],
        Carries::Gaps { single: true } => vec![sub_one_masked],
        Carries::Gaps { single: false } => vec![sub_both_masked],
        Carries::Everywhere if job.geometry.is_bytes() => vec![sub_guarded],
        Carries::Everywhere => vec![sub_corrected, sub_two_words, sub_scalar, sub_guarded],
    };
    methods.insert(0, sub_packed);
    Some(build.any(&methods)(build, job))
}

fn plain_add(build: &mut Build<'_>, job: Job) -> Source {
    build.add(job.x.source, job.y.source)
}

fn plain_sub(build: &mut Build<'_>, job: Job) -> Source {
    build.sub(job.x.source, job.y.source)
}

/// Zeros below the only lane that matters, in one operand: nothing is carried into it.
fn add_one_masked(build: &mut Build<'_>, job: Job) -> Source {
    // A number is masked for nothing.
    let (x, y) = match job.words() {
        [x, y @ Source::Constant(_)] => (y, x),
        [x, y] => (x, y),
    };
    let x = build.and(x, job.geometry.whole(job.active));
    build.add(x, y)
}

fn sub_one_masked(build: &mut Build<'_>, job: Job) -> Source {
    let y = build.and(job.y.source, job.geometry.whole(job.active));
    build.sub(job.x.source, y)
}

/// Zeros in the gaps take up the carries.
fn add_both_masked(build: &mut Build<'_>, job: Job) -> Source {
    let mask = job.geometry.whole(job.active);
    let [x, y] = job.words().map(|word| build.and(word, mask));
    build.add(x, y)
}

/// Ones in the gaps have something to borrow from.
fn sub_both_masked(build: &mut Build<'_>, job: Job) -> Source {
    let mask = job.geometry.whole(job.active);
    let x = build.logic2([job.x.source, mask], |x, mask| x | !mask);
    let y = build.and(job.y.source, mask);
    build.sub(x, y)
}

/// Where no lane has its highest bit, what is borrowed from comes from that bit.
fn sub_of_small(build: &mut Build<'_>, job: Job) -> Source {
    let high = job.geometry.high();
    let x = build.add(job.x.source, high);
    let difference = build.sub(x, job.y.source);
    build.xor(difference, high)
}

fn add_packed(build: &mut Build<'_>, job: Job) -> Source {
    let instruction = if job.geometry.is_bytes() { op::ADD_U8X4 } else { op::ADD_U16X2 };
    build.packed(instruction, job.x.source, job.y.source)
}

/// Halves have a packed addition only: `x-y = x+(-y) = ~(~x+y)`.
fn sub_packed(build: &mut Build<'_>, job: Job) -> Source {
    let (x, y) = (job.x.source, job.y.source);
    if job.geometry.is_bytes() {
        return build.packed(op::SUB_U8X4, x, y);
    }
    if build.any(&[true, false]) { build.difference(x, y) } else { build.complement(x, y) }
}

/// Without the highest bits, which are put in by logic.
pub(super) fn add_guarded(build: &mut Build<'_>, job: Job) -> Source {
    let sum = low_sum(build, job);
    with_highest(build, job, sum, 0)
}

/// Without the highest bits, which are put in by logic.
pub(super) fn sub_guarded(build: &mut Build<'_>, job: Job) -> Source {
    let difference = low_difference(build, job);
    with_highest(build, job, difference, 0xff)
}

/// `low ^ ((x ^ y ^ invert) & high)`
fn with_highest(build: &mut Build<'_>, job: Job, low: Source, invert: u8) -> Source {
    let ([x, y], high) = (job.words(), job.geometry.high());
    for (number, other) in [(x, y), (y, x)] {
        // Highest bits that are alike in all lanes of a number are known where the logic is written.
        let constant = build.and(number, high);
        if constant == high || constant == Source::Constant(0) {
            let invert = if constant == high { !invert } else { invert };
            return build.logic([low, other, high], |low, other, high| low ^ (other ^ invert) & high);
        }
    }
    let top = build.logic([x, y, high], |x, y, high| (x ^ y ^ invert) & high);
    build.xor(low, top)
}

/// The upper bytes of the halves without what the lower ones carry, and the lower bytes as they are.
fn add_by_halves(build: &mut Build<'_>, job: Job) -> Source {
    let low = build.packed(op::ADD_U16X2, job.x.source, job.y.source);
    let upper = build.and(job.x.source, UPPER_BYTES);
    let high = build.packed(op::ADD_U16X2, upper, job.y.source);
    build.select(UPPER_BYTES, high, low)
}

/// The carry into the upper half shows in `x^y^(x+y)`, and is taken back.
fn carried(build: &mut Build<'_>, job: Job, result: Source) -> Source {
    let carry = build.logic([job.x.source, job.y.source, result], |x, y, sum| x ^ y ^ sum);
    build.and(carry, Source::Constant(0x1_0000))
}

fn add_corrected(build: &mut Build<'_>, job: Job) -> Source {
    let sum = build.add(job.x.source, job.y.source);
    let carry = carried(build, job, sum);
    build.sub(sum, carry)
}

fn sub_corrected(build: &mut Build<'_>, job: Job) -> Source {
    let difference = build.sub(job.x.source, job.y.source);
    let carry = carried(build, job, difference);
    build.add(difference, carry)
}

/// The lower half of the sum, and the upper half of a sum with zeros below.
fn add_two_words(build: &mut Build<'_>, job: Job) -> Source {
    let low = build.add(job.x.source, job.y.source);
    let upper = build.and(job.x.source, Source::Constant(0xffff_0000));
    let high = build.add(upper, job.y.source);
    build.prmt(low, high, 0x7610)
}

fn sub_two_words(build: &mut Build<'_>, job: Job) -> Source {
    let low = build.sub(job.x.source, job.y.source);
    let upper = build.and(job.y.source, Source::Constant(0xffff_0000));
    let high = build.sub(job.x.source, upper);
    build.prmt(low, high, 0x7610)
}

/// The upper half by a scalar video instruction, which extracts it.
fn add_scalar(build: &mut Build<'_>, job: Job) -> Source {
    let low = build.add(job.x.source, job.y.source);
    upper_scalar(build, job, low, Arithmetic::Add)
}

fn sub_scalar(build: &mut Build<'_>, job: Job) -> Source {
    let low = build.sub(job.x.source, job.y.source);
    upper_scalar(build, job, low, Arithmetic::Sub)
}

fn upper_scalar(build: &mut Build<'_>, job: Job, low: Source, op: Arithmetic) -> Source {
    let (btype, dtype) = (Sign::Unsigned, Sign::Signed);
    let form = Scalar {
        op: ScalarOp::Arithmetic { op, dtype, btype, saturate: false },
        atype: Sign::Unsigned,
        a: Some(Part::H1),
        b: Some(Part::H1),
        then: Then::Store,
    };
    let high = build.scalar(form, &job.words());
    build.prmt(low, high, 0x5410)
}
