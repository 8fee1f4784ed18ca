//! A block: its warps in turn, and the barriers at which they wait for each other.
//!
//! A warp runs until it waits, ends, or has had its share of instructions, so no warp can keep another from running;
//! where all that are left wait and no barrier is complete, that is a deadlock.

use super::control::lanes;
use super::{Context, Pause, Stop, run, waits_at_barrier};
use crate::code::Reduction;
use crate::outcome::FaultKind;
use crate::warp::{Group, Wait, Warp};
use ptxopt_grammar::tree::StmtId;

/// The warps of a block.
pub(crate) struct Block<const W: usize> {
    warps: Vec<Warp<W>>,
}

impl<const W: usize> Block<W> {
    /// All threads of a block at the beginning of the entry.
    pub(crate) fn new(cx: &Context<'_>, entry: usize) -> Self {
        let threads = cx.block.iter().product::<u32>();
        let shape = &cx.code.functions[entry];
        let warps = (0..threads.div_ceil(W as u32)).map(|number| {
            let lanes = (threads - number * W as u32).min(W as u32);
            let live = if lanes >= 32 { u32::MAX } else { (1 << lanes) - 1 };
            let mut warp = Warp::new(number, live);
            warp.push_frame((entry, shape), 0, None, live);
            warp.frame = warp.frames[0];
            warp.current.pc = shape.start;
            warp
        });
        Self { warps: warps.collect() }
    }

    /// Runs all threads to their end.
    pub(crate) fn run(&mut self, cx: &mut Context<'_>) -> Result<(), Stop> {
        loop {
            let mut ended = true;
            let mut yielded = false;
            for warp in &mut self.warps {
                if warp.live == 0 {
                    continue;
                }
                let pause = run(cx, warp)?;
                ended &= pause == Pause::Ended;
                yielded |= pause == Pause::Yields;
            }
            if ended {
                return Ok(());
            }
            if !self.release(cx) && !yielded {
                return Err(self.deadlock(cx));
            }
        }
    }

    /// Resumes the threads whose barrier is complete; whether there were any.
    fn release(&mut self, cx: &mut Context<'_>) -> bool {
        let mut waiting: [Option<u32>; 16] = [None; 16];
        let mut arrived = [0; 16];
        let mut whole = cx.arrivals;
        for warp in &self.warps {
            for group in &warp.others {
                if let Wait::Block(number, threads) = group.wait {
                    let number = number as usize;
                    waiting[number] = Some(waiting[number].unwrap_or(0).max(threads));
                    arrived[number] += group.mask.count_ones();
                    whole[number] += if group.mask == warp.live { 32 } else { group.mask.count_ones() };
                }
            }
        }
        let live: u32 = self.warps.iter().map(|warp| warp.live.count_ones()).sum();
        let mut any = false;
        for number in 0..16 {
            let Some(threads) = waiting[number] else { continue };
            let complete = if threads == 0 { arrived[number] >= live } else { whole[number] >= threads };
            if complete {
                self.reduce(cx, number as u32);
                self.wake(number as u32);
                cx.arrivals[number] = 0;
                let all = if threads == 0 { live } else { cx.block.iter().product() };
                cx.shared.epochs.pass(arrived[number] >= all);
                any = true;
            }
        }
        any
    }

    /// Resumes the threads that wait at a barrier; what a fence of one warp ordered is ordered for all of them now.
    fn wake(&mut self, number: u32) {
        let waits = |group: &Group| matches!(group.wait, Wait::Block(at, _) if at == number);
        let waiting = |warp: &&mut Warp<W>| warp.others.iter().any(waits);
        let fenced = self.warps.iter_mut().filter(waiting).map(|warp| warp.clock.fenced).max();
        for warp in self.warps.iter_mut().filter(waiting) {
            warp.clock.fenced = fenced.unwrap_or(0);
            for group in warp.others.iter_mut().filter(|group| waits(group)) {
                group.wait = Wait::No;
            }
        }
    }

    /// Gives every waiting thread what the barrier reduces.
    fn reduce(&mut self, cx: &Context<'_>, number: u32) {
        let (mut count, mut all, mut any) = (0, true, false);
        let mut targets = Vec::new();
        for (at, warp) in self.warps.iter().enumerate() {
            for group in &warp.others {
                if !matches!(group.wait, Wait::Block(n, _) if n == number) {
                    continue;
                }
                let inst = &cx.code.insts[group.pc as usize - 1];
                let Some((reduction, d, p, negated)) = cx.code.barriers[inst.x as usize].reduction else {
                    continue;
                };
                let frame = warp.frames[group.frame];
                let value = warp.predicates[frame.predicates + p as usize];
                let value = if negated { !value } else { value } & group.mask;
                count += value.count_ones();
                all &= value == group.mask;
                any |= value != 0;
                targets.push((at, *group, reduction, d));
            }
        }
        for (at, group, reduction, d) in targets {
            let value = match reduction {
                Reduction::Count => count,
                Reduction::And => u32::from(all),
                Reduction::Or => u32::from(any),
            };
            let frame = self.warps[at].frames[group.frame];
            for lane in lanes(group.mask) {
                self.warps[at].write_in(&frame, d, lane, u128::from(value), true);
            }
        }
    }

    /// No thread can continue: names one that waits.
    fn deadlock(&self, cx: &Context<'_>) -> Stop {
        let waiting = self.warps.iter().flat_map(|warp| warp.others.iter().map(move |group| (warp, group)));
        let first = waiting.min_by_key(|(warp, group)| (warp.number, group.pc));
        let (stmt, thread, at_barrier) = first.map_or((StmtId::new(0), 0, false), |(warp, group)| {
            let stmt = cx.code.insts[group.pc.saturating_sub(1) as usize].stmt;
            (Some(stmt), warp.number * 32 + group.mask.trailing_zeros(), waits_at_barrier(warp))
        });
        let what =
            if at_barrier { "not all threads reach this barrier" } else { "lanes wait for each other" };
        Stop::Fault {
            wrong: FaultKind::Deadlock(what).into(),
            stmt: stmt.unwrap_or_else(|| cx.code.insts[0].stmt),
            thread,
        }
    }
}
