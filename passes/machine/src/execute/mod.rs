//! Running a grid: block after block, the warps of a block in turn, each until it waits or ends.
//!
//! The order is fixed, so a launch gives the same result every time. Where another order could give another result,
//! the outcome says so, or the program has a race and that is an error.

mod access;
mod block;
mod control;
mod exchange;
mod together;

pub(super) use block::Block;
pub(super) use control::{jump, lanes};

use super::arguments::product;
use super::code::{Code, Inst, Op};
use super::faults::{Faults, Wrong};
use super::lanes as operations;
use super::memory::{Memory, Shared};
use super::outcome::FaultKind;
use super::races::{Races, Who};
use super::shadow::Shadow;
use super::warp::{Wait, Warp, each};
use super::watch::Watcher;
use ptxopt_grammar::tree::StmtId;
use std::collections::BTreeSet;

/// What all warps of a block share.
pub(super) struct Context<'m> {
    pub(super) code: &'m Code,
    pub(super) memory: &'m mut Memory,
    pub(super) shared: Shared,
    pub(super) parameters: &'m [u8],
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
    /// Which block of the grid it is, and its number in the order in which they run.
    pub(super) at: [u32; 3],
    pub(super) number: u32,
    /// Instructions so far, and how many may be.
    pub(super) steps: u64,
    pub(super) budget: u64,
    /// Instructions so far lane by lane, up to step `counted`.
    pub(super) lane_steps: u64,
    pub(super) counted: u64,
    pub(super) inexact: &'m mut BTreeSet<&'static str>,
    pub(super) faults: &'m mut Faults,
    pub(super) races: &'m mut Races,
    /// The shadows of all allocations, if races in global memory are looked for.
    pub(super) global: Option<&'m mut Vec<Shadow>>,
    /// Threads that arrived at a barrier without waiting.
    pub(super) arrivals: [u32; 16],
    pub(super) dynamic_shared: u32,
    pub(super) watcher: Option<&'m mut (dyn Watcher + 'm)>,
}

/// Why a launch ends before all threads do.
#[derive(Debug)]
pub(super) enum Stop {
    /// A fault after which nothing can go on.
    Fault {
        wrong: Wrong,
        stmt: StmtId,
        thread: u32,
    },
    /// As many faults as there may be were noted.
    EnoughFaults,
    Unknown {
        stmt: StmtId,
        reason: u32,
    },
    BudgetSpent {
        stmt: StmtId,
    },
}

/// Why a warp pauses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Pause {
    /// All its lanes ended.
    Ended,
    /// It waits for others.
    Waits,
    /// It ran for long enough.
    Yields,
}

/// After so many instructions another warp gets its turn, in case this one waits for it.
const TURN: u64 = 1 << 20;

impl Context<'_> {
    /// The lanes of `warp` as the threads that access memory now.
    #[inline]
    pub(super) fn who<const W: usize>(&mut self, warp: &mut Warp<W>) -> Who {
        self.races.who(&mut warp.clock, (self.number, warp.number), self.shared.epochs)
    }

    /// The moment at which `warp` accesses memory now.
    #[inline]
    pub(super) fn now<const W: usize>(&mut self, warp: &mut Warp<W>) -> u32 {
        self.races.now(&mut warp.clock, (self.number, warp.number), self.shared.epochs)
    }

    /// How many threads the launch has.
    pub(super) fn threads(&self) -> u64 {
        product(self.grid).saturating_mul(product(self.block))
    }

    /// Counts the instructions since the last time for the lanes of `mask`.
    #[inline]
    pub(super) fn count(&mut self, mask: u32) {
        self.lane_steps += (self.steps - self.counted) * u64::from(mask.count_ones());
        self.counted = self.steps;
    }
}

#[cold]
pub(super) fn fault<const W: usize>(kind: FaultKind, warp: &Warp<W>, i: &Inst, lanes: u32) -> Stop {
    let lane = lanes.trailing_zeros().min(31);
    Stop::Fault { wrong: kind.into(), stmt: i.stmt, thread: warp.number * 32 + lane }
}

/// Runs a warp until it pauses.
pub(super) fn run<const W: usize>(cx: &mut Context<'_>, warp: &mut Warp<W>) -> Result<Pause, Stop> {
    if warp.current.mask == 0 && !warp.choose() {
        return pause(warp);
    }
    let turn = cx.steps + TURN;
    let code = cx.code;
    loop {
        let i = &code.insts[warp.current.pc as usize];
        cx.steps += u64::from(i.counts);
        let mask = match warp.guarded(i.guard, warp.current.mask) {
            Ok(mask) => mask,
            Err(lanes) => {
                cx.faults.note(FaultKind::Undefined("the guard"), warp, i, lanes)?;
                cx.count(warp.current.mask);
                control::exit(warp, lanes);
                if warp.current.mask == 0 && !warp.choose() {
                    return pause(warp);
                }
                continue;
            }
        };
        warp.current.pc += 1;
        if mask != 0 {
            match i.op {
                Op::Lane(lane) => operations::run(warp, lane, i, mask),
                op => {
                    step(cx, warp, i, op, mask)?;
                    if warp.current.mask == 0 && !warp.choose() {
                        return pause(warp);
                    }
                    if cx.steps >= turn && matches!(op, Op::Jump | Op::JumpTable) {
                        return Ok(Pause::Yields);
                    }
                }
            }
        }
        if warp.current.pc >= warp.stop {
            cx.count(warp.current.mask);
            if !warp.reschedule() {
                return pause(warp);
            }
        }
    }
}

/// Why no group of `warp` can run.
fn pause<const W: usize>(warp: &mut Warp<W>) -> Result<Pause, Stop> {
    Ok(if warp.live == 0 { Pause::Ended } else { Pause::Waits })
}

/// Everything that is not the same on every lane. The operation may leave the group without lanes.
fn step<const W: usize>(
    cx: &mut Context<'_>,
    warp: &mut Warp<W>,
    i: &Inst,
    op: Op,
    mask: u32,
) -> Result<(), Stop> {
    if compute(cx.code, warp, i, op, mask) {
        return Ok(());
    }
    match op {
        Op::Special32 => {
            let value = each(|lane| super::special::value(cx, warp, i.x, lane) as u32);
            warp.set_word(i.d, mask, &value, u32::MAX);
        }
        Op::Special64 => {
            let value = each(|lane| super::special::value(cx, warp, i.x, lane));
            warp.set_long(i.d, mask, &value, u32::MAX);
        }
        Op::Access => access::run(cx, warp, i, mask)?,
        Op::Atomic => access::atomic(cx, warp, i, mask)?,
        Op::Exchange => exchange::run(cx, warp, i, mask)?,
        Op::Fence => cx.races.fence(&mut warp.clock),
        Op::Nothing => {}
        Op::Watch => super::watch::run(cx, warp, i, mask),
        Op::Lane(_)
        | Op::Meant
        | Op::Video
        | Op::Select32
        | Op::Select64
        | Op::Logic
        | Op::LocalAddress32
        | Op::LocalAddress64
        | Op::MadeUp => debug_assert!(false, "it was computed, or is decoded for a replay only"),
        Op::Unknown => return Err(Stop::Unknown { stmt: i.stmt, reason: i.x }),
        Op::Jump
        | Op::JumpTable
        | Op::Call
        | Op::Return
        | Op::Exit
        | Op::Trap
        | Op::Barrier
        | Op::WarpBarrier => control::run(cx, warp, i, op, mask)?,
    }
    Ok(())
}

/// Runs an operation that reads and writes registers alone; `false` for any other.
#[inline]
pub(super) fn compute<const W: usize>(code: &Code, warp: &mut Warp<W>, i: &Inst, op: Op, mask: u32) -> bool {
    match op {
        Op::Lane(lane) => operations::run(warp, lane, i, mask),
        Op::Meant => super::meant::run(&code.meanings[i.x as usize], warp, mask),
        Op::Video => super::video::run(&code.videos[i.x as usize], warp, i, mask),
        Op::Select32 => {
            let ((a, da), (b, db), (c, dc)) = (warp.word(i.a), warp.word(i.b), warp.predicate(i.c));
            let value = each(|lane| {
                let take = 0_u32.wrapping_sub(c >> lane & 1);
                a[lane] & take | b[lane] & !take
            });
            warp.set_word(i.d, mask, &value, dc & (da & c | db & !c));
        }
        Op::Select64 => {
            let ((a, da), (b, db), (c, dc)) = (warp.long(i.a), warp.long(i.b), warp.predicate(i.c));
            let value = each(|lane| if c >> lane & 1 == 1 { a[lane] } else { b[lane] });
            warp.set_long(i.d, mask, &value, dc & (da & c | db & !c));
        }
        Op::Logic => {
            let ((a, da), (b, db), (c, dc)) = (warp.predicate(i.a), warp.predicate(i.b), warp.predicate(i.c));
            warp.set_predicate(i.d, mask, super::controlled::lop3(i.x)(a, b, c), da & db & dc);
        }
        Op::LocalAddress32 => {
            let value = warp.frame.local as u32 + i.x;
            warp.set_word(i.d, mask, &[value; W], u32::MAX);
        }
        Op::LocalAddress64 => {
            let value = warp.frame.local as u64 + u64::from(i.x);
            warp.set_long(i.d, mask, &[value; W], u32::MAX);
        }
        _ => return false,
    }
    true
}

/// Whether some group of `warp` waits at a barrier of the block.
pub(super) fn waits_at_barrier<const W: usize>(warp: &Warp<W>) -> bool {
    warp.others.iter().any(|group| matches!(group.wait, Wait::Block(..)))
}
