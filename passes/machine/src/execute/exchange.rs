//! Exchanges between the lanes of a warp: shuffles, votes, matches, reductions.
//!
//! Executed only when all lanes of the mask are there, so every lane gives the value that it has at this instruction;
//! without a mask the result depends on which lanes run together, and is not called exact.

use super::control::{gather, lanes};
use super::{Context, Stop, fault};
use crate::code::{Exchange, ExchangeOp as E, Inst};
use crate::outcome::FaultKind;
use crate::warp::Warp;

pub(super) fn run<const W: usize>(
    cx: &mut Context<'_>,
    warp: &mut Warp<W>,
    i: &Inst,
    mask: u32,
) -> Result<(), Stop> {
    let exchange = &cx.code.exchanges[i.x as usize];
    if exchange.members.is_none() {
        cx.inexact.insert("which lanes of a warp execute an instruction without a mask of lanes together");
    }
    let Some(mask) = gather(warp, i, exchange.members, mask)? else { return Ok(()) };
    let mut values = [0_u128; 32];
    let mut undefined = 0;
    if let Some(a) = exchange.a {
        for lane in lanes(mask) {
            let (value, defined) = warp.read(a, lane);
            values[lane] = if exchange.negate { value ^ 1 } else { value };
            undefined |= u32::from(!defined) << lane;
        }
    }
    match exchange.op {
        E::ShuffleUp | E::ShuffleDown | E::ShuffleButterfly | E::ShuffleIndexed => {
            shuffle(warp, i, exchange, mask, (&values, undefined))
        }
        E::MatchAny | E::MatchAll => {
            defined_or(warp, i, undefined)?;
            compare(warp, exchange, mask, &values);
            Ok(())
        }
        E::Elect => {
            let leader = mask.trailing_zeros();
            for lane in lanes(mask) {
                write(warp, exchange, lane, u128::from(leader), lane as u32 == leader);
            }
            Ok(())
        }
        op => {
            defined_or(warp, i, undefined)?;
            let result = combine(op, mask, &values);
            lanes(mask).for_each(|lane| write(warp, exchange, lane, result, false));
            Ok(())
        }
    }
}

fn defined_or<const W: usize>(warp: &Warp<W>, i: &Inst, undefined: u32) -> Result<(), Stop> {
    if undefined == 0 { Ok(()) } else { Err(fault(FaultKind::Undefined("the value"), warp, i, undefined)) }
}

fn write<const W: usize>(warp: &mut Warp<W>, exchange: &Exchange, lane: usize, value: u128, p: bool) {
    if let Some(d) = exchange.d {
        warp.write(d, lane, value, true);
    }
    if let Some(slot) = exchange.p {
        warp.set_predicate(slot, 1 << lane, u32::from(p) << lane, u32::MAX);
    }
}

/// What every lane of a vote or a reduction gets.
fn combine(op: E, mask: u32, values: &[u128; 32]) -> u128 {
    let ballot = lanes(mask).fold(0, |bits, lane| bits | ((values[lane] & 1) as u32) << lane);
    let fold = |f: fn(u32, u32) -> u32| {
        u128::from(lanes(mask).map(|lane| values[lane] as u32).reduce(f).unwrap_or_default())
    };
    match op {
        E::VoteAll => u128::from(ballot == mask),
        E::VoteAny => u128::from(ballot != 0),
        E::VoteUniform => u128::from(ballot == mask || ballot == 0),
        E::Ballot => u128::from(ballot),
        E::ActiveMask => u128::from(mask),
        E::ReduceAdd => fold(u32::wrapping_add),
        E::ReduceMinUnsigned => fold(u32::min),
        E::ReduceMaxUnsigned => fold(u32::max),
        E::ReduceMinSigned => fold(|x, y| (x as i32).min(y as i32) as u32),
        E::ReduceMaxSigned => fold(|x, y| (x as i32).max(y as i32) as u32),
        E::ReduceAnd => fold(|x, y| x & y),
        E::ReduceOr => fold(|x, y| x | y),
        E::ReduceXor => fold(|x, y| x ^ y),
        E::ShuffleUp
        | E::ShuffleDown
        | E::ShuffleButterfly
        | E::ShuffleIndexed
        | E::MatchAny
        | E::MatchAll
        | E::Elect => 0,
    }
}

fn compare<const W: usize>(warp: &mut Warp<W>, exchange: &Exchange, mask: u32, values: &[u128; 32]) {
    for lane in lanes(mask) {
        let same =
            lanes(mask).filter(|&other| values[other] == values[lane]).fold(0, |bits, l| bits | 1 << l);
        let all = same == mask;
        let result = if exchange.op == E::MatchAny || all { same } else { 0_u32 };
        write(warp, exchange, lane, u128::from(result), all);
    }
}

fn shuffle<const W: usize>(
    warp: &mut Warp<W>,
    i: &Inst,
    exchange: &Exchange,
    mask: u32,
    (values, undefined): (&[u128; 32], u32),
) -> Result<(), Stop> {
    let ((b, b_defined), (c, c_defined)) = (warp.word(exchange.b), warp.word(exchange.c));
    if mask & !(b_defined & c_defined) != 0 {
        let which = mask & !(b_defined & c_defined);
        return Err(fault(FaultKind::Undefined("the lane to read from"), warp, i, which));
    }
    for lane in lanes(mask) {
        let (own, wanted) = (lane as u32, b[lane] & 31);
        let (clamp, segment) = (c[lane] & 31, c[lane] >> 8 & 31);
        let highest = own & segment | clamp & !segment;
        let lowest = own & segment;
        let (source, valid) = match exchange.op {
            E::ShuffleUp => (own.wrapping_sub(wanted), own as i32 - wanted as i32 >= highest as i32),
            E::ShuffleDown => (own + wanted, own + wanted <= highest),
            E::ShuffleButterfly => (own ^ wanted, (own ^ wanted) <= highest),
            _ => (lowest | wanted & !segment, (lowest | wanted & !segment) <= highest),
        };
        let source = if valid { source } else { own };
        // What a lane that does not take part would give is undefined.
        let defined = (mask & !undefined) >> source & 1 == 1;
        if let Some(d) = exchange.d {
            warp.write(d, lane, values[source as usize & 31], defined);
        }
        if let Some(p) = exchange.p {
            warp.set_predicate(p, 1 << lane, u32::from(valid) << lane, u32::MAX);
        }
    }
    Ok(())
}
