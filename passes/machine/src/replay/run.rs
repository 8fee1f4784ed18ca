//! One pass of a replay: a function from its first statement on, in several lanes, each a run of its own.
//!
//! Lanes share nothing but the instructions that are decoded for all of them at once. A lane ends at the end of the
//! function, where its work is bounded, or where the original depends on a register that was never written.

use super::inputs::{Inputs, Mix, Source};
use super::memory::{LaneMemory, number};
use super::trace::{RunEnd, Store, Trace};
use super::{LANES, MOST_TURNS};
use crate::code::{Around, Base, Code, Function, Inst, MadeUp, Op, Slot, Space, Transfer};
use crate::execute::{compute, jump, lanes};
use crate::warp::{Warp, each};
use ptxopt_grammar::tree::StmtId;

/// Which of the two texts is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Text {
    /// The original: values that depend on a register that was never written are marked.
    Original,
    /// The new text: such a register holds an arbitrary number, another one than in the original.
    New,
}

/// A function that is to be run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Replayable<'r> {
    pub(super) code: &'r Code,
    pub(super) function: usize,
    pub(super) results: &'r [Transfer],
    pub(super) shift: u32,
}

/// A pass over all lanes.
pub(super) struct Pass<'r> {
    of: Replayable<'r>,
    shape: &'r Function,
    inputs: &'r Inputs,
    warp: Warp<LANES>,
    memory: LaneMemory<'r>,
    traces: Vec<Trace>,
    turns: [u32; LANES],
    steps: u64,
    /// The operations of the function that some lane came to, its guard allowing it.
    reached: Vec<bool>,
}

/// What a pass saw.
pub(super) struct Seen {
    pub(super) traces: Vec<Trace>,
    pub(super) reached: Vec<bool>,
    pub(super) steps: u64,
}

impl<'r> Pass<'r> {
    pub(super) fn new(of: Replayable<'r>, inputs: &'r Inputs, text: Text) -> Self {
        let shape = &of.code.functions[of.function];
        let mut warp = Warp::<LANES>::new(0, Warp::<LANES>::FULL);
        warp.push_frame((of.function, shape), 0, None, Warp::<LANES>::FULL);
        warp.frame = warp.frames[0];
        warp.current.pc = shape.start;
        let mut pass = Self {
            of,
            shape,
            inputs,
            warp,
            memory: LaneMemory::new(inputs, &shape.parameters),
            traces: vec![Trace::new(); LANES],
            turns: [0; LANES],
            steps: 0,
            reached: vec![false; (shape.end - shape.start) as usize],
        };
        pass.fill(text);
        pass
    }

    /// Fills the registers: those of parameters with what the caller hands over, the others with anything.
    fn fill(&mut self, text: Text) {
        let (inputs, warp) = (self.inputs, &mut self.warp);
        // Another class number, another stream of numbers.
        let salt = if text == Text::New { 8 } else { 0 };
        let constant = |masks: u32| masks != 0;
        for slot in 0..warp.words.len() {
            if !constant(warp.words_defined[slot]) {
                let source = Source::Register(salt, slot as u32);
                warp.words[slot] = each(|lane| inputs.number(lane, source) as u32);
            }
        }
        for slot in 0..warp.longs.len() {
            if !constant(warp.longs_defined[slot]) {
                let source = Source::Register(salt + 1, slot as u32);
                warp.longs[slot] = each(|lane| inputs.number(lane, source));
            }
        }
        for slot in 0..warp.predicates.len() {
            let source = Source::Register(salt + 2, slot as u32);
            let bit = |lane| (inputs.number(lane, source).count_ones() & 1) << lane;
            warp.predicates[slot] = (0..LANES).fold(0, |bits, lane| bits | bit(lane));
        }
        for &(slot, bits) in &self.shape.narrow {
            warp.words[slot as usize].iter_mut().for_each(|word| *word &= (1 << bits) - 1);
        }
        if text == Text::New {
            warp.words_defined.fill(u32::MAX);
            warp.longs_defined.fill(u32::MAX);
            warp.predicates_defined.fill(u32::MAX);
        }
    }

    /// Defines the registers that are parameters, by their place in the list.
    pub(super) fn with_parameters(mut self, parameters: &[Transfer]) -> Self {
        for (at, &parameter) in (0_u64..).zip(parameters) {
            if let Transfer::Register(slot) = parameter {
                for lane in 0..LANES {
                    let half = |half| self.inputs.parameter(lane, 2 * at + half, slot.bits / 8);
                    self.warp.write(slot, lane, u128::from(half(0)) | u128::from(half(1)) << 64, true);
                }
            }
        }
        self
    }

    /// Runs all lanes to their ends; `work` bounds what all of them do together.
    pub(super) fn run(mut self, work: u64) -> Seen {
        while self.warp.current.mask != 0 || self.warp.choose() {
            self.step();
            if self.steps > work {
                break;
            }
        }
        Seen { traces: self.traces, reached: self.reached, steps: self.steps }
    }

    fn step(&mut self) {
        let code = self.of.code;
        let i = &code.insts[self.warp.current.pc as usize];
        self.steps += u64::from(i.counts);
        let mask = match self.warp.guarded(i.guard, self.warp.current.mask) {
            Ok(mask) => mask,
            Err(undefined) => return self.end(undefined, RunEnd::Free),
        };
        let at = self.warp.current.pc;
        self.warp.current.pc += 1;
        if mask != 0 {
            self.reached[(at - self.shape.start) as usize] = true;
            if !compute(code, &mut self.warp, i, i.op, mask) {
                self.act(i, at, mask);
            }
        }
        if self.warp.current.mask != 0 && self.warp.current.pc >= self.warp.stop {
            self.warp.reschedule();
        }
    }

    /// Takes lanes out of the run.
    fn end(&mut self, mask: u32, end: RunEnd) {
        for lane in lanes(mask) {
            self.traces[lane].end = end;
        }
        self.warp.live &= !mask;
        self.warp.current.mask &= !mask;
    }

    /// Everything that is not computing.
    fn act(&mut self, i: &Inst, at: u32, mask: u32) {
        match i.op {
            Op::Jump => {
                let mask = if i.x <= at { self.turn(mask) } else { mask };
                if mask != 0 {
                    jump(&mut self.warp, mask, i.x);
                }
            }
            Op::JumpTable => self.jump_table(i, at, mask),
            Op::Special32 => {
                let value = each(|lane| self.inputs.special(lane, i.x) as u32);
                self.warp.set_word(i.d, mask, &value, u32::MAX);
            }
            Op::Special64 => {
                let value = each(|lane| self.inputs.special(lane, i.x));
                self.warp.set_long(i.d, mask, &value, u32::MAX);
            }
            Op::Access => self.access(i, mask),
            Op::MadeUp => self.make_up(i, mask),
            Op::Return => {
                for lane in lanes(mask) {
                    let warp = &self.warp;
                    let operands = self.of.results.iter().filter_map(|&result| given(warp, result, lane));
                    self.traces[lane].event(i.stmt, 0, operands);
                }
                self.end(mask, RunEnd::Whole);
            }
            Op::Exit | Op::Trap => {
                let key = 1 + u64::from(i.op == Op::Trap);
                lanes(mask).for_each(|lane| self.traces[lane].event(i.stmt, key, []));
                self.end(mask, RunEnd::Whole);
            }
            Op::Fence | Op::Nothing => {}
            Op::Lane(_)
            | Op::Meant
            | Op::Video
            | Op::Select32
            | Op::Select64
            | Op::Logic
            | Op::LocalAddress32
            | Op::LocalAddress64
            | Op::Atomic
            | Op::Call
            | Op::Barrier
            | Op::WarpBarrier
            | Op::Exchange
            | Op::Unknown
            | Op::Watch => debug_assert!(false, "it was computed, or is decoded for a launch only"),
        }
    }

    /// The lanes that may go round once more.
    fn turn(&mut self, mask: u32) -> u32 {
        let mut tired = 0;
        for lane in lanes(mask) {
            self.turns[lane] += 1;
            tired |= u32::from(self.turns[lane] > MOST_TURNS) << lane;
        }
        if tired != 0 {
            self.end(tired, RunEnd::Turns);
        }
        mask & !tired
    }

    fn jump_table(&mut self, i: &Inst, at: u32, mask: u32) {
        let (index, defined) = self.warp.word(i.a);
        let targets = &self.of.code.tables[i.x as usize];
        for lane in lanes(mask) {
            match targets.get(index[lane] as usize) {
                // Beyond the list anything may happen.
                None => self.end(1 << lane, RunEnd::Free),
                Some(_) if defined >> lane & 1 == 0 => self.end(1 << lane, RunEnd::Free),
                Some(&target) => {
                    let mask = if target <= at { self.turn(1 << lane) } else { 1 << lane };
                    self.warp.split(mask, target);
                }
            }
        }
        self.warp.reschedule();
    }

    fn access(&mut self, i: &Inst, mask: u32) {
        let code = self.of.code;
        let access = &code.accesses[i.x as usize];
        for lane in lanes(mask) {
            let (base, defined) = match access.base {
                Base::Absolute => (0, true),
                Base::Frame => (self.warp.frame.local as u64, true),
                Base::Word(slot) => {
                    let (words, defined) = self.warp.word(slot);
                    (u64::from(words[lane]), defined >> lane & 1 == 1)
                }
                Base::Long(slot) => {
                    let (longs, defined) = self.warp.long(slot);
                    (longs[lane], defined >> lane & 1 == 1)
                }
            };
            if !defined {
                self.end(1 << lane, RunEnd::Free);
                continue;
            }
            let (space, address) =
                access.space.resolve(base.wrapping_add_signed(access.offset), self.of.shift);
            for (element, slot) in access.elements.iter().enumerate() {
                let address = address.wrapping_add(element as u64 * u64::from(access.size));
                let Some(slot) = *slot else { continue };
                if access.stores {
                    self.store(lane, i.stmt, (number(space), address, access.size), slot);
                } else {
                    let (value, defined) = self.memory.read(lane, number(space), address, access.size);
                    let shift = 64 - 8 * access.size;
                    let value = if access.signed { ((value << shift) as i64 >> shift) as u64 } else { value };
                    self.warp.write(slot, lane, value.into(), defined);
                }
            }
        }
    }

    fn store(&mut self, lane: usize, stmt: StmtId, (space, address, size): (u8, u64, u32), slot: Slot) {
        let (value, defined) = self.warp.read(slot, lane);
        let value = value as u64 & u64::MAX >> (64 - 8 * size);
        self.memory.write(lane, space, address, size, (value, defined));
        self.traces[lane].stores.push(Store { stmt, space, address, size, value, defined });
    }

    fn make_up(&mut self, i: &Inst, mask: u32) {
        let code = self.of.code;
        let MadeUp { key, inputs, outputs, loads, around } = &code.made_up[i.x as usize];
        for lane in lanes(mask) {
            let warp = &self.warp;
            let operands = inputs.iter().map(|&slot| {
                let (value, defined) = warp.read(slot, lane);
                (value & u128::MAX >> (128 - slot.bits), defined)
            });
            let mut mix = Mix::new().word(*key);
            let mut defined = true;
            for (value, is_defined) in operands.clone() {
                mix = mix.word(value as u64).word((value >> 64) as u64);
                defined &= is_defined;
            }
            if *around != Around::Nothing {
                mix = mix.word(self.traces[lane].events.len() as u64);
            }
            if matches!(around, Around::Acts | Around::Leaves) {
                self.traces[lane].event(i.stmt, *key, operands);
            }
            let result = mix.finish();
            for (at, &output) in (0_u32..).zip(outputs) {
                let half = |half| self.inputs.number(lane, Source::Result(result, 2 * at + half));
                let value = u128::from(half(0)) | u128::from(half(1)) << 64;
                let value = loads.map_or(value, |(bits, signed)| extended(value, bits, signed));
                self.hand_over(lane, output, value, defined);
            }
        }
        if *around == Around::Leaves {
            self.end(mask, RunEnd::Whole);
        }
    }

    /// Writes what an instruction gives to a register, or to the memory that a call writes.
    fn hand_over(&mut self, lane: usize, to: Transfer, value: u128, defined: bool) {
        match to {
            Transfer::Register(slot) => self.warp.write(slot, lane, value, defined),
            Transfer::Memory(offset, size) => {
                let local = number(Space::Local);
                for from in (0..size).step_by(8) {
                    let part = Mix::new().word(value as u64).word(from.into()).finish();
                    let address = self.warp.frame.local as u64 + u64::from(offset + from);
                    self.memory.write(lane, local, address, (size - from).min(8), (part, defined));
                }
            }
        }
    }
}

/// A result of the function that is a register; what is in memory was stored.
fn given(warp: &Warp<LANES>, result: Transfer, lane: usize) -> Option<(u128, bool)> {
    match result {
        Transfer::Register(slot) => Some(warp.read(slot, lane)),
        Transfer::Memory(..) => None,
    }
}

/// The low bits of a number, with zeros or copies of the highest of them above.
fn extended(value: u128, bits: u32, signed: bool) -> u128 {
    let rest = 128 - bits.clamp(1, 128);
    let value = value << rest;
    if signed { (value.cast_signed() >> rest).cast_unsigned() } else { value >> rest }
}
