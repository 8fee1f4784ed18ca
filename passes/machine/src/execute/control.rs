//! Control flow: jumps, calls, returns, the end of threads, and barriers.
//!
//! A branch splits the running group by lanes, so each lane goes where its own guard or index sends it.

use super::{Context, Stop, fault};
use crate::code::{Inst, Op, Transfer};
use crate::outcome::FaultKind;
use crate::warp::{Frame, Group, Wait, Warp};

/// How deeply calls may be nested, which is deeper than any GPU's stack.
const DEEPEST: u32 = 1000;

pub(super) fn run<const W: usize>(
    cx: &mut Context<'_>,
    warp: &mut Warp<W>,
    i: &Inst,
    op: Op,
    mask: u32,
) -> Result<(), Stop> {
    cx.count(warp.current.mask);
    if cx.steps >= cx.budget {
        return Err(Stop::BudgetSpent { stmt: i.stmt });
    }
    match op {
        Op::Jump => jump(warp, mask, i.x),
        Op::JumpTable => jump_table(cx, warp, i, mask)?,
        Op::Call => call(cx, warp, i, mask)?,
        Op::Return => leave(cx, warp, mask),
        Op::Exit => exit(warp, mask),
        Op::Trap => return Err(fault(FaultKind::Trap, warp, i, mask)),
        Op::Barrier => barrier(cx, warp, i, mask)?,
        Op::WarpBarrier => warp_barrier(warp, i, mask)?,
        _ => debug_assert!(false, "only control flow comes here"),
    }
    Ok(())
}

#[inline]
pub(crate) fn jump<const W: usize>(warp: &mut Warp<W>, mask: u32, target: u32) {
    if mask == warp.current.mask {
        warp.current.pc = target;
        if !warp.others.is_empty() {
            warp.reschedule();
        }
    } else {
        warp.split(mask, target);
        warp.reschedule();
    }
}

/// A branch to where an index says; threads whose index says nothing end.
fn jump_table<const W: usize>(
    cx: &mut Context<'_>,
    warp: &mut Warp<W>,
    i: &Inst,
    mask: u32,
) -> Result<(), Stop> {
    let (index, defined) = warp.word(i.a);
    let undefined = mask & !defined;
    if undefined != 0 {
        cx.faults.note(FaultKind::Undefined("the index of the branch"), warp, i, undefined)?;
        exit(warp, undefined);
    }
    let targets = &cx.code.tables[i.x as usize];
    for lane in lanes(mask & defined) {
        if let Some(&target) = targets.get(index[lane] as usize) {
            warp.split(1 << lane, target);
        } else {
            let past = FaultKind::Undefined("a branch past its list of targets");
            cx.faults.note(past, warp, i, 1 << lane)?;
            exit(warp, 1 << lane);
        }
    }
    warp.reschedule();
    Ok(())
}

/// The lanes of `mask`.
pub(crate) fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let lane = rest.trailing_zeros();
        rest &= rest.wrapping_sub(1);
        (lane < 32).then_some(lane as usize)
    })
}

fn call<const W: usize>(cx: &Context<'_>, warp: &mut Warp<W>, i: &Inst, mask: u32) -> Result<(), Stop> {
    let call = &cx.code.calls[i.x as usize];
    if warp.frame.depth >= DEEPEST {
        return Err(fault(FaultKind::TooDeep, warp, i, mask));
    }
    let (callee, shape) = (call.callee, &cx.code.functions[call.callee]);
    let local = warp.frame.local + cx.code.functions[warp.frame.function].local as usize;
    let local = local.next_multiple_of(16);
    let caller = (warp.current.frame, warp.current.pc - 1);
    let frame = warp.push_frame((callee, shape), local, Some(caller), mask);
    let (from, to) = (warp.frame, warp.frames[frame]);
    for &(source, target) in &call.arguments {
        copy(warp, mask, (&from, source), (&to, target));
    }
    warp.current.mask &= !mask;
    warp.put_aside(Group { frame, pc: shape.start, mask, wait: Wait::No });
    warp.reschedule();
    Ok(())
}

/// Copies between registers and local memory of two frames.
fn copy<const W: usize>(
    warp: &mut Warp<W>,
    mask: u32,
    (from, source): (&Frame, Transfer),
    (to, target): (&Frame, Transfer),
) {
    for lane in lanes(mask) {
        match (source, target) {
            (Transfer::Register(source), Transfer::Register(target)) => {
                let (value, defined) = warp.read_in(from, source, lane);
                warp.write_in(to, target, lane, value, defined);
            }
            (Transfer::Register(source), Transfer::Memory(offset, size)) => {
                let (value, defined) = warp.read_in(from, source, lane);
                let at = to.local + offset as usize;
                let size = (size as usize).min(16);
                warp.local[lane][at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
                warp.local_defined[lane][at..at + size].fill(defined);
            }
            (Transfer::Memory(offset, size), Transfer::Register(target)) => {
                let at = from.local + offset as usize;
                let size = (size as usize).min(16);
                let mut bytes = [0; 16];
                bytes[..size].copy_from_slice(&warp.local[lane][at..at + size]);
                let defined = warp.local_defined[lane][at..at + size].iter().all(|&defined| defined);
                warp.write_in(to, target, lane, u128::from_le_bytes(bytes), defined);
            }
            (Transfer::Memory(source, size), Transfer::Memory(target, room)) => {
                let (source, target) = (from.local + source as usize, to.local + target as usize);
                let size = size.min(room) as usize;
                warp.local[lane].copy_within(source..source + size, target);
                warp.local_defined[lane].copy_within(source..source + size, target);
            }
        }
    }
}

/// Back to the caller; from an entry, the end.
fn leave<const W: usize>(cx: &Context<'_>, warp: &mut Warp<W>, mask: u32) {
    let Some((caller, pc)) = warp.frame.caller else { return exit(warp, mask) };
    let call = &cx.code.calls[cx.code.insts[pc as usize].x as usize];
    let (from, to) = (warp.frame, warp.frames[caller]);
    for &(source, target) in &call.results {
        copy(warp, mask, (&from, source), (&to, target));
    }
    let frame = warp.current.frame;
    warp.frames[frame].mask &= !mask;
    warp.current.mask &= !mask;
    warp.put_aside(Group { frame: caller, pc: pc + 1, mask, wait: Wait::No });
    warp.reschedule();
    warp.pop_frames();
}

pub(super) fn exit<const W: usize>(warp: &mut Warp<W>, mask: u32) {
    warp.live &= !mask;
    warp.current.mask &= !mask;
}

fn barrier<const W: usize>(
    cx: &mut Context<'_>,
    warp: &mut Warp<W>,
    i: &Inst,
    mask: u32,
) -> Result<(), Stop> {
    let barrier = &cx.code.barriers[i.x as usize];
    let uniform = |(value, defined): ([u32; W], u32)| {
        let first = value[mask.trailing_zeros() as usize];
        (mask & !defined == 0 && lanes(mask).all(|lane| value[lane] == first)).then_some(first)
    };
    let number = uniform(warp.word(barrier.number)).filter(|&number| number < 16);
    let threads = barrier.threads.map_or(Some(0), |slot| uniform(warp.word(slot)));
    let (Some(number), Some(threads)) = (number, threads) else {
        return Err(fault(FaultKind::Undefined("the number of the barrier"), warp, i, mask));
    };
    if barrier.aligned && mask != warp.live {
        return Err(fault(FaultKind::DivergentBarrier, warp, i, warp.live & !mask));
    }
    if barrier.arrives {
        cx.arrivals[number as usize] += if barrier.aligned { 32 } else { mask.count_ones() };
        return Ok(());
    }
    warp.current.mask &= !mask;
    warp.put_aside(Group { mask, wait: Wait::Block(number, threads), ..warp.current });
    Ok(())
}

fn warp_barrier<const W: usize>(warp: &mut Warp<W>, i: &Inst, mask: u32) -> Result<(), Stop> {
    if gather(warp, i, Some(i.a), mask)?.is_some() {
        warp.clock.epochs.pass(mask == warp.live);
    }
    Ok(())
}

/// The lanes that take part in something that needs the lanes of a mask together; `None` if they are not all here
/// yet, and then the group waits for them.
pub(super) fn gather<const W: usize>(
    warp: &mut Warp<W>,
    i: &Inst,
    members: Option<u32>,
    mask: u32,
) -> Result<Option<u32>, Stop> {
    let Some(slot) = members else { return Ok(Some(mask)) };
    let (members, defined) = warp.word(slot);
    if mask & !defined != 0 {
        return Err(fault(FaultKind::Undefined("the mask of lanes"), warp, i, mask & !defined));
    }
    let wanted = lanes(mask).fold(0, |all, lane| all | members[lane]) & warp.live;
    if wanted & !mask == 0 {
        return Ok(Some(mask));
    }
    let can_come = warp.others.iter().any(|group| group.mask & wanted != 0 && group.wait != Wait::Lanes);
    if !can_come {
        let what = FaultKind::Deadlock("lanes of the mask never come here");
        return Err(fault(what, warp, i, wanted & !mask));
    }
    warp.current.mask &= !mask;
    warp.put_aside(Group { pc: warp.current.pc - 1, mask, wait: Wait::Lanes, ..warp.current });
    Ok(None)
}
