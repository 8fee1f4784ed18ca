//! Sums of the lanes of a word: by dot products, by distances of bytes, or by scalar instructions.

use crate::lower::build::{ALL, Build};
use crate::lower::lanes::{Geometry, Job};
use crate::lower::packed::scalar_sum;
use crate::lower::single;
use crate::recipe::Source;
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::video::{Arithmetic, Lanes, Part, Routing, Sign, Simd, SimdArithmetic, SimdOp, SimdThen};

/// Weights as the bytes of a number, the lowest for the lowest lane.
pub(super) fn weights(of: [i8; 4]) -> u64 {
    of.into_iter().enumerate().map(|(lane, weight)| u64::from(weight.cast_unsigned()) << (8 * lane)).sum()
}

/// `acc` and the weighted lanes of a word.
pub(super) fn dot(
    build: &mut Build<'_>,
    geometry: Geometry,
    word: Source,
    signed: bool,
    weights: u64,
    acc: Source,
) -> Source {
    if let Source::Constant(word) = word {
        let lane = |lane: u32| {
            let (word, weight) = (word >> (lane * geometry.bits()), (weights >> (8 * lane)).to_le_bytes()[0]);
            let (least, most) = single::bounds(geometry, signed);
            let number = i64::try_from(word & ((1 << geometry.bits()) - 1)).expect("it was cut to a lane");
            let number = if number > most { number + 2 * least } else { number };
            number * i64::from(weight.cast_signed())
        };
        let sum = (0..geometry.lanes.count()).map(|at| lane(at.into())).sum();
        return build.add(acc, single::word(sum));
    }
    let instruction = match (geometry.lanes, signed) {
        (Lanes::Four, false) => op::DP4A_U32_S32,
        (Lanes::Four, true) => op::DP4A_S32_S32,
        (Lanes::Two, false) => op::DP2A_LO_U32_S32,
        (Lanes::Two, true) => op::DP2A_LO_S32_S32,
    };
    build.dot(instruction, word, weights, acc)
}

/// `acc` and the distances of four bytes.
pub(super) fn distances(
    build: &mut Build<'_>,
    x: Source,
    y: Source,
    signed: [bool; 2],
    acc: Source,
) -> Source {
    let [atype, btype] = signed.map(|signed| if signed { Sign::Signed } else { Sign::Unsigned });
    let op = SimdOp::Arithmetic { op: SimdArithmetic::AbsDiff, dtype: Sign::Unsigned, then: SimdThen::Add };
    build.simd(Simd { op, atype, btype, routing: Routing::plain(Lanes::Four) }, &[x, y, acc])
}

/// Lanes to be summed, each so often.
#[derive(Clone, Copy, Debug)]
pub(super) struct Total {
    pub(super) geometry: Geometry,
    pub(super) lanes: Source,
    pub(super) signed: bool,
    pub(super) counts: [u8; 4],
}

/// `acc` and the lanes.
pub(super) fn total(build: &mut Build<'_>, of: Total, acc: Source) -> Option<Source> {
    let Total { geometry, lanes, signed, counts } = of;
    let by_dot = build.any(&[true, false]);
    if by_dot {
        let plus = weights(counts.map(u8::cast_signed));
        return Some(dot(build, geometry, lanes, signed, plus, acc));
    }
    if counts.iter().any(|&count| count > 1) {
        return None;
    }
    let mask = (0..4).filter(|&lane| counts[lane] == 1).fold(0, |mask, lane| mask | 1 << lane);
    if geometry.is_bytes() {
        let full = mask == geometry.lanes.full_mask();
        let bytes = if full { lanes } else { build.and(lanes, geometry.whole(mask)) };
        if !signed {
            return Some(distances(build, bytes, Source::Constant(0), [false; 2], acc));
        }
        let sum = distances(build, bytes, geometry.high(), [true; 2], acc);
        return Some(build.add(sum, single::word(-4 * 128)));
    }
    let half = |part: Part| (lanes, signed, part);
    let zero = (Source::Constant(0), signed, Part::H0);
    Some(match mask {
        1 => scalar_sum(build, Arithmetic::Add, [half(Part::H0), zero], acc),
        2 => scalar_sum(build, Arithmetic::Add, [half(Part::H1), zero], acc),
        _ => scalar_sum(build, Arithmetic::Add, [half(Part::H0), half(Part::H1)], acc),
    })
}

/// `acc` and one for each lane that is all ones; or for each that is not.
pub(super) fn negatives(
    build: &mut Build<'_>,
    job: Job,
    mask: Source,
    counts: [u8; 4],
    inverted: bool,
    acc: Source,
) -> Option<Source> {
    let geometry = job.geometry;
    let all: i64 = counts.iter().copied().map(i64::from).sum();
    if build.any(&[true, false]) {
        let scale = if inverted { 1 } else { -1 };
        let by = weights(counts.map(|count| count.cast_signed() * scale));
        let acc = if inverted { build.add(acc, single::word(all)) } else { acc };
        return Some(dot(build, geometry, mask, true, by, acc));
    }
    if counts.iter().any(|&count| count > 1) {
        return None;
    }
    // The distance of a byte of ones to zero is one, and so is that of zeros to a byte of ones.
    let own = (0..4).filter(|&lane| counts[lane] == 1).fold(0, |mask, lane| mask | 1 << lane);
    let (Source::Constant(whole), Source::Constant(low_bytes)) = (
        geometry.whole(own),
        if geometry.is_bytes() { Source::Constant(ALL) } else { Source::Constant(0x00ff_00ff) },
    ) else {
        return None;
    };
    let bytes = Source::Constant(whole & low_bytes);
    Some(if inverted {
        let mask = build.logic2([mask, bytes], |mask, bytes| mask | !bytes);
        distances(build, mask, Source::Constant(ALL), [true; 2], acc)
    } else {
        let mask = build.and(mask, bytes);
        distances(build, mask, Source::Constant(0), [true; 2], acc)
    })
}
