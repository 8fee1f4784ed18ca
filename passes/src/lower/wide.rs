//! Bytes as halves: two lanes to a word, each extended, so that results are exact and nothing carries.
//!
//! Two lanes take one word, three and four take two. The packed halves of sm_90 and later clamp by minima and maxima,
//! which the assembler joins with the sum before them.

use super::Work;
use super::build::Build;
use super::route::{Pick, Routes};
use super::single::bounds;
use crate::recipe::Source;
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::video::{Sign, SimdArithmetic, SimdOp, SimdThen};

/// Whether it is bytes that are computed.
pub(super) fn fits(routes: &Routes) -> bool {
    routes.geometry.is_bytes()
}

/// The exact results are known up to this.
#[derive(Clone, Copy, Debug)]
struct Halves {
    word: Source,
    /// What was added to each half.
    bias: i64,
    least: i64,
    most: i64,
}

/// The lanes, two to a word.
pub(super) fn compute(build: &mut Build<'_>, work: Work, routes: &Routes, c: Source) -> Option<Source> {
    let SimdOp::Arithmetic { op, dtype, then } = work.op else { return None };
    let saturates = then == SimdThen::Saturate;
    if matches!(op, SimdArithmetic::AbsDiff | SimdArithmetic::Average) {
        return None;
    }
    let signed = work.a_signed && work.b_signed && (dtype == Sign::Signed || !saturates);
    let adds = matches!(op, SimdArithmetic::Add | SimdArithmetic::Sub);
    if signed && routes.is_full() && saturates == adds && build.any(&[false, true]) {
        return biased(build, work, op, routes, c);
    }
    let pairs = routes.pairs();
    let words = pairs.len().div_ceil(2);
    // A full word of bytes that need no more than a byte is no better as two.
    if words == 2 && !saturates && matches!(op, SimdArithmetic::Add | SimdArithmetic::Sub) {
        return None;
    }
    let packed = build.any(if needs_packed(work, op, saturates) { &[true][..] } else { &[false, true] });
    let mut made = Vec::new();
    for word in 0..words {
        // Neighbours go to different words: with all lanes in place, the even and the odd ones.
        let of: Vec<(Pick, Pick)> = pairs.iter().skip(word).step_by(words).copied().collect();
        let to = saturates.then_some(dtype == Sign::Signed);
        let halves = exact(build, work, op, to, &of, packed)?;
        let halves = if saturates { clamped(build, halves, dtype == Sign::Signed, packed) } else { halves };
        made.push(halves.word);
    }
    Some(collected(build, routes, &made, c))
}

/// Signed bytes with 128 added, so that they are zero-extended like unsigned ones: clamping a sum at zero is then part
/// of clamping it at the other end.
fn biased(
    build: &mut Build<'_>,
    work: Work,
    op: SimdArithmetic,
    routes: &Routes,
    c: Source,
) -> Option<Source> {
    const BIAS: Source = Source::Constant(0x8080_8080);
    const MOST: Source = Source::Constant(0x00ff_00ff);
    let pairs = routes.pairs();
    let words = pairs.len().div_ceil(2);
    let mut lift = |pick: Pick| Pick { source: build.xor(pick.source, BIAS), ..pick };
    let lifted: Vec<(Pick, Pick)> = pairs.iter().map(|&(a, b)| (lift(a), lift(b))).collect();
    let second = op == SimdArithmetic::Add && build.any(&[false, true]);
    let mut made = Vec::new();
    for word in 0..words {
        let of = |pairs: &[(Pick, Pick)]| -> (Vec<Pick>, Vec<Pick>) {
            pairs.iter().skip(word).step_by(words).copied().unzip()
        };
        let ((a, b), (lifted_a, lifted_b)) = (of(&pairs), of(&lifted));
        let (from, by) = if second { (&lifted_b, &a) } else { (&lifted_a, &b) };
        let x = extended(build, from, false, 0)?;
        made.push(match op {
            SimdArithmetic::Add => {
                let y = extended(build, by, true, 0)?;
                let sum = build.packed(op::ADD_S16X2, x, y);
                build.packed(op::MIN_RELU_S16X2, sum, MOST)
            }
            SimdArithmetic::Sub => {
                let y = extended(build, by, true, 0)?;
                let difference = build.difference(x, y);
                build.packed(op::MIN_RELU_S16X2, difference, MOST)
            }
            SimdArithmetic::Min | SimdArithmetic::Max => {
                let y = extended(build, &lifted_b, false, 0)?;
                let [x, y] = if work.commutes() && y < x { [y, x] } else { [x, y] };
                build.packed(if op == SimdArithmetic::Min { op::MIN_U16X2 } else { op::MAX_U16X2 }, x, y)
            }
            SimdArithmetic::AbsDiff | SimdArithmetic::Average => return None,
        });
    }
    let result = collected(build, routes, &made, c);
    Some(build.xor(result, BIAS))
}

/// The lanes of a word and those of another one, where they belong.
fn collected(build: &mut Build<'_>, routes: &Routes, made: &[Source], c: Source) -> Source {
    let (pairs, words) = (routes.pairs(), made.len());
    let result = |item: &super::route::Item| {
        let at = pairs.iter().position(|&pair| pair == (item.a, item.b)).unwrap_or(0);
        (made[at % words], if at / words == 0 { 0 } else { 2 })
    };
    let results: Vec<(Source, u8)> = routes.items.iter().map(result).collect();
    routes.collect(build, &results, c)
}

/// Whether plain words do not do.
fn needs_packed(work: Work, op: SimdArithmetic, saturates: bool) -> bool {
    match op {
        SimdArithmetic::Add => saturates,
        SimdArithmetic::Sub => saturates || work.a_signed || work.b_signed,
        SimdArithmetic::Min | SimdArithmetic::Max => true,
        SimdArithmetic::AbsDiff | SimdArithmetic::Average => false,
    }
}

/// Two bytes as halves; `fill` is what stands above each if it is not the sign.
fn extended(build: &mut Build<'_>, picks: &[Pick], signed: bool, fill: u64) -> Option<Source> {
    let first = picks.first()?;
    let second = picks.get(1).unwrap_or(first);
    let above = |own: u64| if signed { own | 8 } else { 4 };
    if first.source == second.source {
        let (low, high) = (u64::from(first.lane), u64::from(second.lane));
        let selector = low | above(low) << 4 | high << 8 | above(high) << 12;
        return Some(build.prmt(first.source, Source::Constant(fill), selector));
    }
    // Of two words: first side by side, then extended.
    let (low, high) = (u64::from(first.lane), u64::from(second.lane) | 4);
    if signed {
        return Some(build.prmt(
            first.source,
            second.source,
            low | (low | 8) << 4 | high << 8 | (high | 8) << 12,
        ));
    }
    let both = build.prmt(first.source, second.source, low | high << 8);
    Some(build.logic(
        [both, Source::Constant(0x00ff_00ff), Source::Constant(fill * 0x0100_0100)],
        |word, mask, fill| word & mask | fill & !mask,
    ))
}

fn exact(
    build: &mut Build<'_>,
    work: Work,
    op: SimdArithmetic,
    to_signed: Option<bool>,
    pairs: &[(Pick, Pick)],
    packed: bool,
) -> Option<Halves> {
    let saturates = to_signed.is_some();
    // Where only the low byte matters, any extension does.
    let keep = saturates || matches!(op, SimdArithmetic::Min | SimdArithmetic::Max);
    let (a_signed, b_signed) = (keep && work.a_signed, keep && work.b_signed);
    let (of_a, of_b): (Vec<Pick>, Vec<Pick>) = pairs.iter().copied().unzip();
    let geometry = super::lanes::Geometry { lanes: ptxopt_grammar::video::Lanes::Four };
    let (a, b) = (bounds(geometry, a_signed), bounds(geometry, b_signed));
    // A difference of unsigned bytes does not borrow if the first has one more bit above.
    let lifted = op == SimdArithmetic::Sub && !a_signed && !b_signed;
    let x = extended(build, &of_a, a_signed, u64::from(lifted))?;
    let y = extended(build, &of_b, b_signed, 0)?;
    let [x, y] = if work.commutes() && y < x { [y, x] } else { [x, y] };
    let signed = a_signed || b_signed;
    let halves = |word, least, most| Halves { word, bias: 0, least, most };
    Some(match op {
        SimdArithmetic::Add => {
            let word = if packed { build.packed(op::ADD_S16X2, x, y) } else { build.add(x, y) };
            halves(word, a.0 + b.0, a.1 + b.1)
        }
        SimdArithmetic::Sub if lifted && to_signed == Some(false) && build.any(&[true, false]) => {
            let x = extended(build, &of_a, false, 0)?;
            if build.any(&[true, false]) {
                // x - min(x, y) does not borrow.
                let least = build.packed(op::MIN_U16X2, x, y);
                let word = build.sub(x, least);
                halves(word, 0, a.1)
            } else {
                let word = build.difference(x, y);
                halves(word, a.0 - b.1, a.1 - b.0)
            }
        }
        SimdArithmetic::Sub if lifted => {
            let word = build.sub(x, y);
            Halves { word, bias: 256, least: a.0 - b.1, most: a.1 - b.0 }
        }
        SimdArithmetic::Sub => {
            let word = build.difference(x, y);
            halves(word, a.0 - b.1, a.1 - b.0)
        }
        SimdArithmetic::Min | SimdArithmetic::Max => {
            let mnemonic = if op == SimdArithmetic::Min { op::MIN } else { op::MAX };
            let word = build.packed(mnemonic.of(if signed { op::S16X2 } else { op::U16X2 }), x, y);
            let (least, most) = if op == SimdArithmetic::Min {
                (a.0.min(b.0), a.1.min(b.1))
            } else {
                (a.0.max(b.0), a.1.max(b.1))
            };
            halves(word, least, most)
        }
        SimdArithmetic::AbsDiff | SimdArithmetic::Average => return None,
    })
}

/// The halves in the range of a byte.
fn clamped(build: &mut Build<'_>, halves: Halves, to_signed: bool, packed: bool) -> Halves {
    let geometry = super::lanes::Geometry { lanes: ptxopt_grammar::video::Lanes::Four };
    let (low, high) = bounds(geometry, to_signed);
    let both = |number: i64| {
        let half = number.cast_unsigned() & 0xffff;
        Source::Constant(half << 16 | half)
    };
    let mut word = halves.word;
    debug_assert!(packed, "plain words have no minima of halves");
    if halves.most > high {
        word = build.packed(op::MIN_S16X2, word, both(high + halves.bias));
    }
    if halves.least < low {
        word = build.packed(op::MAX_S16X2, word, both(low + halves.bias));
    }
    Halves { word, ..halves }
}
