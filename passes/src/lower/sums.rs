//! The forms that add all lanes to `c`.
//!
//! A sum does not care where a lane lies, so selectors and masks are weights of a dot product. Where there is none,
//! the distances of bytes to a number are summed by the instruction for that.

mod distance;
mod extremes;
mod total;

use super::Work;
use super::average;
use super::build::{ALL, Build};
use super::compare;
use super::lanes::Job;
use super::min_max::Extremum;
use super::packed::scalar_sum;
use super::route::{Item, Pick, Routes, Slots};
use super::single;
use crate::recipe::Source;
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::video::{Compare, Part, SimdArithmetic, SimdOp};
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
                SimdArithmetic::AbsDiff => distance::distance(build, work, routes, c),
                SimdArithmetic::Min => extremes::extremes(build, work, Extremum::Min, routes, c),
                SimdArithmetic::Max => extremes::extremes(build, work, Extremum::Max, routes, c),
                SimdArithmetic::Average => means(build, work, routes, c),
            }
        }
    }
}

/// Each lane as a number of its own.
fn numbers(build: &mut Build<'_>, work: Work, routes: &Routes, c: Source) -> Option<Source> {
    let method = build.any(single::methods(work));
    let mut acc = c;
    for item in &routes.items {
        let pair = (item.a, item.b);
        if let SimdOp::Arithmetic { op: SimdArithmetic::AbsDiff, .. } = work.op {
            let x = single::extract(build, routes.geometry, item.a, work.a_signed);
            let y = single::extract(build, routes.geometry, item.b, work.b_signed);
            let (x, y) = if y < x { (y, x) } else { (x, y) };
            acc = build.plain(op::SAD_S32, &[x, y, acc]);
            continue;
        }
        let number = single::number(build, work, routes.geometry, pair, method)?;
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
    let op = op.scalar()?;
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
    enum Method {
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
    let methods: &[Method] = match negated {
        Some(_) => &[Method::Complement, Method::Mask, Method::Count, Method::Bits],
        None => &[Method::Mask, Method::Count, Method::Bits],
    };
    let method = build.any(methods);
    let (job, counts) = placed(build, work, routes)?;
    match method {
        Method::Bits => {
            let lanes = compare::bits(build, relation, job)?;
            if !geometry.is_bytes() && counts == [1, 1, 0, 0] && build.any(&[true, false]) {
                // Ones and zeros are bytes as well.
                return Some(distances(build, lanes, Source::Constant(0), [false; 2], c));
            }
            total(build, Total { geometry, lanes, signed: false, counts }, c)
        }
        Method::Mask => {
            let mask = compare::mask(build, relation, job);
            total::negatives(build, job, mask, counts, false, c)
        }
        Method::Complement => {
            let mask = compare::mask(build, negated?, job);
            total::negatives(build, job, mask, counts, true, c)
        }
        Method::Count => {
            if counts.iter().any(|&count| count > 1) {
                return None;
            }
            let tops = compare::highest(build, relation, job, geometry.whole(job.active));
            let count = build.plain(op::POPC_B32, &[tops]);
            Some(build.add(count, c))
        }
    }
}
