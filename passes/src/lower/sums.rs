//! The forms that add all lanes to `c`.
//!
//! A sum does not care where a lane lies, so selectors and masks are weights of a dot product. Where there is none,
//! the distances of bytes to a number are summed by the instruction for that.

mod total;

use super::Work;
use super::absdiff;
use super::average;
use super::build::{ALL, Build};
use super::compare;
use super::lanes::{Clamp, Job, Operand, clamp, spread};
use super::min_max::{self, Extremum, extremum};
use super::packed::scalar_sum;
use super::route::{Item, Pick, Routes, Slots};
use super::single;
use crate::recipe::Source;
use ptxopt_grammar::video::{Arithmetic, Compare, Part, SimdArithmetic, SimdOp};
use total::{Total, distances, dot, total, weights};

/// The sum of the lanes and `c`.
pub(super) fn sum(build: &mut Build<'_>, work: Work, routes: &Routes, c: Source) -> Option<Source> {
    // Few lanes can be added one by one.
    let few = routes.items.len() <= 2;
    let apart = few && build.any(&[false, true]);
    if apart {
        return numbers(build, work, routes, c);
    }
    match work.op {
        SimdOp::Set { compare, .. } => comparisons(build, work, compare, routes, c),
        SimdOp::Arithmetic { op, .. } => {
            if !routes.geometry.is_bytes() && build.any(&[false, true]) {
                return scalar(build, work, op, routes, c);
            }
            match op {
                SimdArithmetic::Add | SimdArithmetic::Sub => linear(build, work, op, routes, c),
                SimdArithmetic::AbsDiff => distance(build, work, routes, c),
                SimdArithmetic::Min => extremes(build, work, Extremum::Min, routes, c),
                SimdArithmetic::Max => extremes(build, work, Extremum::Max, routes, c),
                SimdArithmetic::Average => means(build, work, routes, c),
            }
        }
    }
}

/// Each lane as a number of its own.
fn numbers(build: &mut Build<'_>, work: Work, routes: &Routes, c: Source) -> Option<Source> {
    let way = build.any(single::ways(work));
    let mut acc = c;
    for item in &routes.items {
        let pair = (item.a, item.b);
        if let SimdOp::Arithmetic { op: SimdArithmetic::AbsDiff, .. } = work.op {
            let x = single::extract(build, routes.geometry, item.a, work.a_signed);
            let y = single::extract(build, routes.geometry, item.b, work.b_signed);
            let (x, y) = if y < x { (y, x) } else { (x, y) };
            acc = build.plain("sad.s32", &[x, y, acc]);
            continue;
        }
        let number = single::number(build, work, routes.geometry, pair, way)?;
        acc = build.add(number, acc);
    }
    Some(acc)
}

/// Halves by the scalar instructions that add.
fn scalar(
    build: &mut Build<'_>,
    work: Work,
    op: SimdArithmetic,
    routes: &Routes,
    c: Source,
) -> Option<Source> {
    let op = match op {
        SimdArithmetic::Add => Arithmetic::Add,
        SimdArithmetic::Sub => Arithmetic::Sub,
        SimdArithmetic::AbsDiff => Arithmetic::AbsDiff,
        SimdArithmetic::Min => Arithmetic::Min,
        SimdArithmetic::Max => Arithmetic::Max,
        SimdArithmetic::Average => return None,
    };
    let part = |pick: Pick| if pick.lane == 0 { Part::H0 } else { Part::H1 };
    let mut acc = c;
    for Item { a, b, .. } in &routes.items {
        let operands = [(a.source, work.a_signed, part(*a)), (b.source, work.b_signed, part(*b))];
        acc = scalar_sum(build, op, operands, acc);
    }
    Some(acc)
}

/// What is read of a word, and how often each lane of it is added.
#[derive(Clone, Copy, Debug)]
struct Weighted {
    source: Source,
    signed: bool,
    weights: [i8; 4],
}

/// Sums and differences: each word by itself, with weights.
fn linear(
    build: &mut Build<'_>,
    work: Work,
    op: SimdArithmetic,
    routes: &Routes,
    c: Source,
) -> Option<Source> {
    let geometry = routes.geometry;
    if geometry.is_bytes() && build.any(&[false, true]) {
        return linear_distances(build, work, op, routes, c);
    }
    let mut words: Vec<Weighted> = Vec::new();
    let mut add = |pick: Pick, signed: bool, weight: i8| {
        let own = |word: &&mut Weighted| word.source == pick.source && word.signed == signed;
        match words.iter_mut().find(own) {
            Some(word) => word.weights[usize::from(pick.lane)] += weight,
            None => {
                let mut weights = [0; 4];
                weights[usize::from(pick.lane)] = weight;
                words.push(Weighted { source: pick.source, signed, weights });
            }
        }
    };
    let second = if op == SimdArithmetic::Sub { -1 } else { 1 };
    for item in &routes.items {
        add(item.a, work.a_signed, 1);
        add(item.b, work.b_signed, second);
    }
    words.sort_by_key(|word| (word.source, word.signed));
    let mut acc = c;
    for word in words {
        acc = dot(build, geometry, word.source, word.signed, weights(word.weights), acc);
    }
    Some(acc)
}

/// `v = |v-0|`, `-v = |v-255| - 255`, and the like for signed bytes.
fn linear_distances(
    build: &mut Build<'_>,
    work: Work,
    op: SimdArithmetic,
    routes: &Routes,
    c: Source,
) -> Option<Source> {
    let (job, _) = apart(build, work, routes)?;
    let bytes = zeroed(build, job);
    let (mut acc, mut offset) = (c, 0);
    for (bytes, (signed, negative)) in
        bytes.into_iter().zip([(job.x.signed, false), (job.y.signed, op == SimdArithmetic::Sub)])
    {
        // All four bytes are summed, so zeros count as well.
        let (from, lifted) = match (signed, negative) {
            (false, false) => (Source::Constant(0), 0),
            (false, true) => (Source::Constant(ALL), 4 * 255),
            (true, false) => (job.geometry.high(), 4 * 128),
            (true, true) => (job.geometry.low(), 4 * 127),
        };
        acc = distances(build, bytes, from, [signed; 2], acc);
        offset -= lifted;
    }
    Some(build.add(acc, single::word(offset)))
}

/// The operands in slots of their own, each for one lane.
fn apart(build: &mut Build<'_>, work: Work, routes: &Routes) -> Option<(Job, Slots)> {
    let slots = build.any(&routes.slots());
    let single = routes.counts(slots).iter().all(|&count| count <= 1);
    Some((routes.job(build, work, slots).filter(|_| single)?, slots))
}

/// The operands in slots.
fn placed(build: &mut Build<'_>, work: Work, routes: &Routes) -> Option<(Job, [u8; 4])> {
    let slots = build.any(&routes.slots());
    Some((routes.job(build, work, slots)?, routes.counts(slots)))
}

/// Both words with the lanes that do not matter zero.
fn zeroed(build: &mut Build<'_>, job: Job) -> [Source; 2] {
    if job.is_full() {
        return job.words();
    }
    job.words().map(|word| build.and(word, job.geometry.whole(job.active)))
}

/// Both words with the lanes that do not matter equal.
fn equalled(build: &mut Build<'_>, job: Job) -> [Source; 2] {
    let [x, y] = job.words();
    if job.is_full() {
        return [x, y];
    }
    let selector = (0..4).map(|lane| {
        let from = if job.active >> lane & 1 == 1 { lane } else { lane + 4 };
        from << (4 * lane)
    });
    let selector = selector.sum();
    [build.prmt(x, y, selector), y]
}

fn distance(build: &mut Build<'_>, work: Work, routes: &Routes, c: Source) -> Option<Source> {
    #[derive(Clone, Copy)]
    enum Way {
        Instruction,
        Total,
        Parts,
        PartsByDot,
    }
    let geometry = routes.geometry;
    let mixed = work.a_signed != work.b_signed;
    let ways: &[Way] = match (geometry.is_bytes(), mixed) {
        (true, false) => &[Way::Instruction, Way::Total],
        (true, true) if routes.are_independent() => &[Way::Instruction, Way::Parts, Way::PartsByDot],
        (true, true) => &[Way::Instruction],
        (false, _) => &[Way::Total],
    };
    match build.any(ways) {
        Way::Instruction => {
            let (job, _) = apart(build, work, routes)?;
            let [x, y] = if mixed { zeroed(build, job) } else { equalled(build, job) };
            Some(distances(build, x, y, [job.x.signed, job.y.signed], c))
        }
        Way::Total => {
            let (job, counts) = placed(build, work, routes)?;
            // Distances of mixed types do not fit their lanes.
            if mixed {
                return None;
            }
            let result = absdiff::distance(build, job)?;
            total(build, Total { geometry, lanes: result, signed: false, counts }, c)
        }
        // Of an unsigned u and a signed v: |u - max(v, 0)| + max(-v, 0).
        Way::Parts => {
            let (job, _) = apart(build, work, routes)?;
            let [x, y] = zeroed(build, job);
            let job = Job { x: Operand { source: x, ..job.x }, y: Operand { source: y, ..job.y }, ..job };
            let [unsigned, signed] = job.sorted();
            let positive = clamp(build, geometry, signed, Clamp::Negative);
            let near = distances(build, unsigned, positive, [false; 2], c);
            Some(distances(build, signed, positive, [true; 2], near))
        }
        Way::PartsByDot => {
            let (job, counts) = placed(build, work, routes)?;
            let [unsigned, signed] = job.sorted();
            let mask = spread(build, geometry, signed);
            let positive = build.logic2([signed, mask], |signed, mask| signed & !mask);
            let negative = build.and(signed, mask);
            let near = min_max::distance(build, unsigned, positive, [false; 2]);
            let acc = dot(build, geometry, near, false, weights(counts.map(|count| count.cast_signed())), c);
            let minus = counts.map(|count| -count.cast_signed());
            Some(dot(build, geometry, negative, true, weights(minus), acc))
        }
    }
}

fn extremes(
    build: &mut Build<'_>,
    work: Work,
    which: Extremum,
    routes: &Routes,
    c: Source,
) -> Option<Source> {
    #[derive(Clone, Copy)]
    enum Way {
        Total,
        Distance,
        DistanceOnly,
    }
    let geometry = routes.geometry;
    let of_one_type = work.a_signed == work.b_signed;
    let ways: &[Way] = if geometry.is_bytes() && of_one_type && routes.are_independent() {
        &[Way::Total, Way::Distance, Way::DistanceOnly]
    } else {
        &[Way::Total]
    };
    match build.any(ways) {
        Way::Total => {
            let (job, counts) = placed(build, work, routes)?;
            let lanes = extremum(build, job, which);
            // Of a signed and an unsigned number, the lesser fits the signed type and the greater the unsigned one.
            let signed = job.signed().unwrap_or(which == Extremum::Min);
            total(build, Total { geometry, lanes, signed, counts }, c)
        }
        Way::Distance => {
            let (job, counts) = placed(build, work, routes)?;
            twice_by_dot(build, job, counts, which, c)
        }
        Way::DistanceOnly => {
            let (job, _) = apart(build, work, routes)?;
            Some(twice_by_distances(build, job, which, c))
        }
    }
}

/// `2 max = x + y + |x-y|`, and `-2 min = -x - y + |x-y|`
fn twice_by_dot(
    build: &mut Build<'_>,
    job: Job,
    counts: [u8; 4],
    which: Extremum,
    c: Source,
) -> Option<Source> {
    let geometry = job.geometry;
    let [x, y] = job.words();
    let signed = job.x.signed;
    let plus = weights(counts.map(|count| count.cast_signed()));
    let of_each = match which {
        Extremum::Max => plus,
        Extremum::Min => weights(counts.map(|count| -count.cast_signed())),
    };
    let none = Source::Constant(0);
    let sum = if job.is_full() && counts == [1; 4] {
        distances(build, x, y, [signed; 2], none)
    } else {
        let distance = min_max::distance(build, x, y, [signed; 2]);
        dot(build, geometry, distance, false, plus, none)
    };
    let sum = dot(build, geometry, x, signed, of_each, sum);
    let sum = dot(build, geometry, y, signed, of_each, sum);
    let half = build.sar(sum, 1);
    Some(match which {
        Extremum::Max => build.add(half, c),
        Extremum::Min => build.sub(c, half),
    })
}

/// The same with the sums of `x` and `y` as distances to the least or the greatest number.
fn twice_by_distances(build: &mut Build<'_>, job: Job, which: Extremum, c: Source) -> Source {
    let geometry = job.geometry;
    let [x, y] = zeroed(build, job);
    let signed = job.x.signed;
    let (from, lifted) = match (which, signed) {
        (Extremum::Max, false) => (Source::Constant(0), 0),
        (Extremum::Max, true) => (geometry.high(), -4 * 128),
        (Extremum::Min, false) => (Source::Constant(ALL), 4 * 255),
        (Extremum::Min, true) => (geometry.low(), 4 * 127),
    };
    let sum = distances(build, x, y, [signed; 2], Source::Constant(0));
    let sum = distances(build, x, from, [signed; 2], sum);
    let sum = distances(build, y, from, [signed; 2], sum);
    let half = build.sar(sum, 1);
    let result = match which {
        Extremum::Max => build.add(half, c),
        Extremum::Min => build.sub(c, half),
    };
    build.add(result, single::word(lifted))
}

fn means(build: &mut Build<'_>, work: Work, routes: &Routes, c: Source) -> Option<Source> {
    let geometry = routes.geometry;
    let (job, counts) = placed(build, work, routes)?;
    if let Some(signed) = job.signed() {
        let lanes = average::mean(build, job)?;
        return total(build, Total { geometry, lanes, signed, counts }, c);
    }
    // A quarter range more each, which is taken back from the sum.
    let lanes = average::lifted(build, job);
    let all: i64 = counts.iter().copied().map(i64::from).sum();
    let c = build.add(c, single::word(-all << (geometry.bits() - 2)));
    total(build, Total { geometry, lanes, signed: false, counts }, c)
}

fn comparisons(
    build: &mut Build<'_>,
    work: Work,
    relation: Compare,
    routes: &Routes,
    c: Source,
) -> Option<Source> {
    #[derive(Clone, Copy)]
    enum Way {
        Mask,
        Complement,
        Bits,
        Count,
    }
    let geometry = routes.geometry;
    let negated = match relation {
        Compare::Le => Some(Compare::Gt),
        Compare::Ge => Some(Compare::Lt),
        Compare::Eq | Compare::Ne | Compare::Lt | Compare::Gt => None,
    };
    let ways: &[Way] = match negated {
        Some(_) => &[Way::Complement, Way::Mask, Way::Count, Way::Bits],
        None => &[Way::Mask, Way::Count, Way::Bits],
    };
    let way = build.any(ways);
    let (job, counts) = placed(build, work, routes)?;
    match way {
        Way::Bits => {
            let lanes = compare::bits(build, relation, job)?;
            if !geometry.is_bytes() && counts == [1, 1, 0, 0] && build.any(&[true, false]) {
                // Ones and zeros are bytes as well.
                return Some(distances(build, lanes, Source::Constant(0), [false; 2], c));
            }
            total(build, Total { geometry, lanes, signed: false, counts }, c)
        }
        Way::Mask => {
            let mask = compare::mask(build, relation, job);
            total::negatives(build, job, mask, counts, false, c)
        }
        Way::Complement => {
            let mask = compare::mask(build, negated?, job);
            total::negatives(build, job, mask, counts, true, c)
        }
        Way::Count => {
            if counts.iter().any(|&count| count > 1) {
                return None;
            }
            let tops = compare::highest(build, relation, job, geometry.whole(job.active));
            let count = build.plain("popc.b32", &[tops]);
            Some(build.add(count, c))
        }
    }
}
