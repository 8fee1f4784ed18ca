//! Comparisons of lanes: the answer in the highest bit of each, in all of its bits, or as 0 and 1.
//!
//! `x > y` if `x` and the complement of `y` have a mean of at least half the range, which shows in the highest bit of
//! the mean; or if subtracting borrows. Signed lanes are unsigned ones with the highest bit inverted.

use super::build::Build;
use super::lanes::{Job, half_sum, low_difference, spread};
use crate::recipe::Source;
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::video::Compare;

/// Whether `x > y` where the highest bit of one of them says so, since the other is the number in the middle of the
/// range, or the one below it.
fn by_highest(job: Job) -> Option<Top> {
    let (signed, geometry) = (job.signed()?, job.geometry);
    let all = Source::Constant(u64::from(u32::MAX));
    let [below, middle] = if signed { [all, Source::Constant(0)] } else { [geometry.low(), geometry.high()] };
    match job.words() {
        [x, y] if x == middle => Some(Top { word: y, inverted: !signed }),
        [x, y] if y == below => Some(Top { word: x, inverted: signed }),
        _ => None,
    }
}

/// The operands in the order in which it is easier to say which is greater.
pub(super) fn easier(job: Job) -> Job {
    let exchanged = job.exchanged();
    if by_highest(job).is_none() && by_highest(exchanged).is_some() { exchanged } else { job }
}

/// The highest bit of every lane: whether `x > y`.
fn greater(build: &mut Build<'_>, job: Job) -> Top {
    if let Some(top) = by_highest(job) {
        return top;
    }
    let by_mean = build.any(&[true, false]);
    let word = if by_mean { greater_by_mean(build, job) } else { greater_by_borrow(build, job) };
    Top { word, inverted: false }
}

fn greater_by_mean(build: &mut Build<'_>, job: Job) -> Source {
    let ([x, y], geometry) = (job.words(), job.geometry);
    let differ = build.logic([x, y, geometry.but_lowest()], |x, y, rest| !(x ^ y) & rest);
    let both = if job.signed() == Some(true) {
        build.logic([x, y, geometry.high()], |x, y, high| (x ^ high) & !(y ^ high))
    } else {
        build.logic2([x, y], |x, y| x & !y)
    };
    let mean = half_sum(build, both, differ);
    match (job.x.signed, job.y.signed) {
        // A negative y is less than every unsigned x, and a negative x than every unsigned y.
        (false, true) => build.logic2([mean, y], |mean, y| mean | y),
        (true, false) => build.logic2([mean, x], |mean, x| mean & !x),
        (false, false) | (true, true) => mean,
    }
}

fn greater_by_borrow(build: &mut Build<'_>, job: Job) -> Source {
    let [x, y] = job.words();
    // Set where the low bits of y are at least those of x.
    let low = low_difference(build, job.exchanged());
    match (job.x.signed, job.y.signed) {
        (false, false) => build.logic([x, y, low], |x, y, low| x & !y | !(x ^ y) & !low),
        (true, true) => build.logic([x, y, low], |x, y, low| !x & y | !(x ^ y) & !low),
        (false, true) => build.logic([x, y, low], |x, y, low| x | y | !low),
        (true, false) => build.logic([x, y, low], |x, y, low| !(x | y | low)),
    }
}

/// The highest bit of every lane: whether the comparison holds, or whether it does not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Top {
    word: Source,
    inverted: bool,
}

impl Top {
    /// Of the opposite comparison.
    const fn otherwise(self) -> Self {
        Self { inverted: !self.inverted, ..self }
    }
}

fn top(build: &mut Build<'_>, compare: Compare, job: Job) -> Top {
    match compare {
        Compare::Gt => greater(build, job),
        Compare::Lt => greater(build, job.exchanged()),
        Compare::Le => greater(build, job).otherwise(),
        Compare::Ge => greater(build, job.exchanged()).otherwise(),
        Compare::Eq => Top { word: different(build, job, true), inverted: false },
        Compare::Ne => Top { word: different(build, job, false), inverted: false },
    }
}

/// The highest bit of every lane: whether the lanes differ, or whether they are equal.
fn different(build: &mut Build<'_>, job: Job, equal: bool) -> Source {
    let ([x, y], low) = (job.words(), job.geometry.low());
    let differ = build.logic([x, y, low], |x, y, low| (x ^ y) & low);
    // Any bit that differs carries into the highest.
    let carried = build.add(differ, low);
    let invert = if equal { 0xff } else { 0 };
    if job.signed().is_some() {
        build.logic([carried, x, y], |carried, x, y| (carried | x ^ y) ^ invert)
    } else {
        // With the highest bit set, one is negative and the other is not.
        build.logic([carried, x, y], |carried, x, y| (carried | x | y) ^ invert)
    }
}

/// Lanes of ones where the comparison holds, else of zeros.
pub(super) fn mask(build: &mut Build<'_>, compare: Compare, job: Job) -> Source {
    let top = top(build, compare, job);
    if top.inverted && build.any(&[true, false]) {
        let word = build.not(top.word);
        return spread(build, job.geometry, word);
    }
    let mask = spread(build, job.geometry, top.word);
    if top.inverted { build.not(mask) } else { mask }
}

/// The highest bit of every lane where the comparison holds; all other bits are zero.
pub(super) fn highest(build: &mut Build<'_>, compare: Compare, job: Job, lanes: Source) -> Source {
    let top = top(build, compare, job);
    let Source::Constant(lanes) = lanes else { unreachable!("lanes are given as a number") };
    let Source::Constant(high) = job.geometry.high() else { unreachable!("it is a number") };
    build.kept(top.word, top.inverted, lanes & high)
}

/// Lanes of one where the comparison holds, else of zero.
pub(super) fn bits(build: &mut Build<'_>, compare: Compare, job: Job) -> Option<Source> {
    #[derive(Clone, Copy)]
    enum Method {
        Shift,
        Mask,
        Packed,
        Greatest,
    }
    let methods: &[Method] = match (job.signed(), compare) {
        (Some(_), Compare::Eq | Compare::Ne) => &[Method::Shift, Method::Mask, Method::Packed],
        (Some(_), _) => &[Method::Shift, Method::Mask, Method::Packed, Method::Greatest],
        (None, _) => &[Method::Shift, Method::Mask],
    };
    let one = job.geometry.one();
    let (word, inverted) = match build.any(methods) {
        Method::Shift => {
            let top = top(build, compare, job);
            (build.shr(top.word, job.bits() - 1), top.inverted)
        }
        Method::Mask => {
            let top = top(build, compare, job);
            (spread(build, job.geometry, top.word), top.inverted)
        }
        Method::Packed => return Some(packed(build, compare, job)),
        Method::Greatest => {
            let (job, inverted) = ascending(compare, job);
            let instruction = op::MAX.of(job.geometry.packed(job.x.signed));
            let greatest = build.packed(instruction, job.x.source, job.y.source);
            // Not zero where x > y.
            let excess = build.xor(greatest, job.y.source);
            return Some(nonzero(build, job, excess, inverted));
        }
    };
    let invert = if inverted { 0xff } else { 0 };
    Some(build.logic2([word, one], |word, one| (word ^ invert) & one))
}

/// The operands so that `x > y` is asked, and whether the answer is the other one.
fn ascending(compare: Compare, job: Job) -> (Job, bool) {
    match compare {
        Compare::Gt => (job, false),
        Compare::Le => (job, true),
        Compare::Lt => (job.exchanged(), false),
        Compare::Ge | Compare::Eq | Compare::Ne => (job.exchanged(), true),
    }
}

/// Lanes of one where a word is not zero; or where it is.
fn nonzero(build: &mut Build<'_>, job: Job, word: Source, inverted: bool) -> Source {
    let one = job.geometry.one();
    if inverted && job.geometry.is_bytes() {
        return build.packed(op::SUB_SAT_U8X4, one, word);
    }
    let instruction = op::MIN.of(job.geometry.packed(false));
    let nonzero = build.packed(instruction, word, one);
    if inverted { build.xor(nonzero, one) } else { nonzero }
}

/// By packed instructions: differences that saturate, and minima with one.
fn packed(build: &mut Build<'_>, compare: Compare, job: Job) -> Source {
    if matches!(compare, Compare::Eq | Compare::Ne) {
        let differ = build.xor(job.x.source, job.y.source);
        return nonzero(build, job, differ, compare == Compare::Eq);
    }
    let (job, inverted) = ascending(compare, job);
    let [x, y] = job.words();
    match (job.geometry.is_bytes(), job.x.signed) {
        (true, false) => {
            let excess = build.packed(op::SUB_SAT_U8X4, x, y);
            nonzero(build, job, excess, inverted)
        }
        (false, false) => {
            let least = build.packed(op::MIN_U16X2, x, y);
            let excess = build.sub(x, least);
            nonzero(build, job, excess, inverted)
        }
        (true, true) => {
            let excess = build.packed(op::SUB_SAT_S8X4, x, y);
            let excess = build.packed(op::MAX_S8X4, excess, Source::Constant(0));
            nonzero(build, job, excess, inverted)
        }
        (false, true) => {
            let least = build.packed(op::MIN_S16X2, x, y);
            let excess = build.xor(x, least);
            nonzero(build, job, excess, inverted)
        }
    }
}
