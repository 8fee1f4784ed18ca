//! A warp: the registers of its lanes as arrays, and the groups of lanes that are at the same instruction.
//!
//! Lanes that diverge become groups. Of the groups that can run, the one in the deepest frame runs, among those the
//! one with the lowest program counter: a group that is behind catches up, so groups meet again at the first
//! instruction that both reach, and merge. A warp has `W` lanes: 32, or 1 for blocks of one thread.

use super::code::{Class, Function, Guard, Slot};
use super::meant::Room;
use super::races::Clock;

/// The lanes of a warp at one instruction of one frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    pub(super) frame: usize,
    pub(super) pc: u32,
    pub(super) mask: u32,
    pub(super) wait: Wait,
}

/// What a group waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Wait {
    /// Nothing: it can run.
    No,
    /// Other lanes of the warp at the same instruction.
    Lanes,
    /// A barrier of the block: its number, and how many threads it is for, 0 for all.
    Block(u32, u32),
}

/// What `f` makes of each lane.
///
/// A loop of our own and not `array::from_fn`: that is several functions, which are inlined only where the compiler
/// puts them into the same unit.
#[inline(always)]
pub(super) fn each<T: Copy + Default, const W: usize>(mut f: impl FnMut(usize) -> T) -> [T; W] {
    let mut values = [T::default(); W];
    for (lane, value) in values.iter_mut().enumerate() {
        *value = f(lane);
    }
    values
}

/// A call in progress.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) function: usize,
    pub(super) words: usize,
    pub(super) longs: usize,
    pub(super) predicates: usize,
    pub(super) local: usize,
    pub(super) depth: u32,
    /// The frame to return to and the call in it; `None` for the entry.
    pub(super) caller: Option<(usize, u32)>,
    /// Lanes that have not returned.
    pub(super) mask: u32,
}

/// The registers and the control flow of a warp.
pub(super) struct Warp<const W: usize> {
    pub(super) words: Vec<[u32; W]>,
    pub(super) longs: Vec<[u64; W]>,
    pub(super) predicates: Vec<u32>,
    /// Lanes whose register has been written with something defined.
    pub(super) words_defined: Vec<u32>,
    pub(super) longs_defined: Vec<u32>,
    pub(super) predicates_defined: Vec<u32>,
    /// Local memory of each lane, and which of its bytes are defined.
    pub(super) local: Vec<Vec<u8>>,
    pub(super) local_defined: Vec<Vec<bool>>,
    /// Room for meanings to be computed in.
    pub(super) room: Room<W>,
    pub(super) frames: Vec<Frame>,
    /// The frame of the group that runs.
    pub(super) frame: Frame,
    pub(super) current: Group,
    pub(super) others: Vec<Group>,
    /// Where the running group may meet another: it must stop there.
    pub(super) stop: u32,
    /// Lanes that have not exited.
    pub(super) live: u32,
    /// Which warp of the block it is.
    pub(super) number: u32,
    /// What orders its accesses to memory with those of others.
    pub(super) clock: Clock,
}

impl<const W: usize> Warp<W> {
    /// All lanes of a full warp.
    pub(super) const FULL: u32 = if W >= 32 { u32::MAX } else { (1 << W) - 1 };

    pub(super) fn new(number: u32, live: u32) -> Self {
        let frame = Frame {
            function: 0,
            words: 0,
            longs: 0,
            predicates: 0,
            local: 0,
            depth: 0,
            caller: None,
            mask: live,
        };
        Self {
            words: Vec::new(),
            longs: Vec::new(),
            predicates: Vec::new(),
            words_defined: Vec::new(),
            longs_defined: Vec::new(),
            predicates_defined: Vec::new(),
            local: vec![Vec::new(); W],
            local_defined: vec![Vec::new(); W],
            room: Room::default(),
            frames: Vec::new(),
            frame,
            current: Group { frame: 0, pc: 0, mask: live, wait: Wait::No },
            others: Vec::new(),
            stop: u32::MAX,
            live,
            number,
            clock: Clock::default(),
        }
    }

    /// Makes a frame: its registers are undefined, its constants are there. `local` is where its memory begins.
    pub(super) fn push_frame(
        &mut self,
        (function, shape): (usize, &Function),
        local: usize,
        caller: Option<(usize, u32)>,
        mask: u32,
    ) -> usize {
        let frame = Frame {
            function,
            words: self.words.len(),
            longs: self.longs.len(),
            predicates: self.predicates.len(),
            local,
            depth: caller.map_or(0, |(frame, _)| self.frames[frame].depth + 1),
            caller,
            mask,
        };
        self.resize_registers(
            frame.words + shape.words as usize,
            frame.longs + shape.longs as usize,
            frame.predicates + shape.predicates as usize,
        );
        for &(slot, value) in &shape.word_constants {
            self.words[frame.words + slot as usize] = [value; W];
            self.words_defined[frame.words + slot as usize] = u32::MAX;
        }
        for &(slot, value) in &shape.long_constants {
            self.longs[frame.longs + slot as usize] = [value; W];
            self.longs_defined[frame.longs + slot as usize] = u32::MAX;
        }
        let end = local + shape.local as usize;
        for lane in (0..W).filter(|lane| mask >> lane & 1 == 1) {
            self.local[lane].truncate(local);
            self.local[lane].resize(end, 0);
            self.local_defined[lane].truncate(local);
            self.local_defined[lane].resize(end, false);
        }
        self.frames.push(frame);
        self.frames.len() - 1
    }

    fn resize_registers(&mut self, words: usize, longs: usize, predicates: usize) {
        self.words.resize(words, [0; W]);
        self.words_defined.resize(words, 0);
        self.longs.resize(longs, [0; W]);
        self.longs_defined.resize(longs, 0);
        self.predicates.resize(predicates, 0);
        self.predicates_defined.resize(predicates, 0);
    }

    /// Forgets the frames at the end that no lane is in any more.
    pub(super) fn pop_frames(&mut self) {
        while let Some(&frame) = self.frames.last()
            && frame.mask & self.live == 0
            && self.frames.len() > 1
        {
            self.frames.pop();
            self.resize_registers(frame.words, frame.longs, frame.predicates);
        }
    }

    // ---- groups --------------------------------------------------------------------------------------------

    /// Puts the running group aside and lets the one run that is to run next; `false` if none can.
    #[cold]
    pub(super) fn reschedule(&mut self) -> bool {
        let current = self.current;
        self.put_aside(current);
        self.choose()
    }

    /// Adds a group to those that do not run, merged with one at the same place.
    pub(super) fn put_aside(&mut self, group: Group) {
        if group.mask == 0 {
            return;
        }
        let meets = |other: &Group| !matches!(other.wait, Wait::Block(..));
        let same = |other: &&mut Group| {
            other.pc == group.pc && other.frame == group.frame && meets(other) && meets(&group)
        };
        match self.others.iter_mut().find(same) {
            Some(other) => {
                other.mask |= group.mask;
                other.wait = Wait::No;
            }
            None => self.others.push(group),
        }
    }

    /// Lets the group run that is to run next; `false` if none can.
    pub(super) fn choose(&mut self) -> bool {
        self.current.mask = 0;
        let frames = &self.frames;
        let runnable = self.others.iter().enumerate().filter(|(_, group)| group.wait == Wait::No);
        let best =
            runnable.min_by_key(|(_, group)| (u32::MAX - frames[group.frame].depth, group.pc, group.frame));
        let Some((best, _)) = best else { return false };
        self.current = self.others.swap_remove(best);
        self.frame = self.frames[self.current.frame];
        self.find_stop();
        true
    }

    /// Finds where the running group may meet another.
    pub(super) fn find_stop(&mut self) {
        let current = self.current;
        let ahead = self.others.iter().filter(|group| group.frame == current.frame && group.pc > current.pc);
        self.stop = ahead.map(|group| group.pc).min().unwrap_or(u32::MAX);
    }

    /// Takes the lanes of `mask` out of the running group and puts them at `pc`.
    pub(super) fn split(&mut self, mask: u32, pc: u32) {
        self.current.mask &= !mask;
        self.put_aside(Group { mask, pc, ..self.current });
    }

    // ---- registers -----------------------------------------------------------------------------------------

    /// The lanes that `guard` lets through, or those on which it is undefined.
    #[inline]
    pub(super) fn guarded(&self, guard: Guard, mask: u32) -> Result<u32, u32> {
        if guard == Guard::NONE {
            return Ok(mask);
        }
        let slot = self.frame.predicates + (guard.0 >> 1) as usize;
        let undefined = mask & !self.predicates_defined[slot];
        if undefined != 0 {
            return Err(undefined);
        }
        let value = self.predicates[slot];
        Ok(mask & if guard.0 & 1 == 1 { !value } else { value })
    }

    #[inline]
    pub(super) fn word(&self, slot: u32) -> ([u32; W], u32) {
        let slot = self.frame.words + slot as usize;
        (self.words[slot], self.words_defined[slot])
    }

    #[inline]
    pub(super) fn long(&self, slot: u32) -> ([u64; W], u32) {
        let slot = self.frame.longs + slot as usize;
        (self.longs[slot], self.longs_defined[slot])
    }

    #[inline]
    pub(super) fn predicate(&self, slot: u32) -> (u32, u32) {
        let slot = self.frame.predicates + slot as usize;
        (self.predicates[slot], self.predicates_defined[slot])
    }

    #[inline(always)]
    pub(super) fn set_word(&mut self, slot: u32, mask: u32, value: &[u32; W], defined: u32) {
        let slot = self.frame.words + slot as usize;
        let old = self.words_defined[slot];
        self.words_defined[slot] = old & !mask | defined & mask;
        if mask == Self::FULL {
            self.words[slot] = *value;
            return;
        }
        self.blend_word(slot, mask, value);
    }

    /// Out of line: every operation ends here, and few of them with lanes missing.
    #[inline(never)]
    fn blend_word(&mut self, slot: usize, mask: u32, value: &[u32; W]) {
        let kept = &mut self.words[slot];
        for lane in 0..W {
            let take = 0_u32.wrapping_sub(mask >> lane & 1);
            kept[lane] = value[lane] & take | kept[lane] & !take;
        }
    }

    #[inline(always)]
    pub(super) fn set_long(&mut self, slot: u32, mask: u32, value: &[u64; W], defined: u32) {
        let slot = self.frame.longs + slot as usize;
        let old = self.longs_defined[slot];
        self.longs_defined[slot] = old & !mask | defined & mask;
        if mask == Self::FULL {
            self.longs[slot] = *value;
            return;
        }
        self.blend_long(slot, mask, value);
    }

    /// Out of line: every operation ends here, and few of them with lanes missing.
    #[inline(never)]
    fn blend_long(&mut self, slot: usize, mask: u32, value: &[u64; W]) {
        let kept = &mut self.longs[slot];
        for lane in 0..W {
            let take = 0_u64.wrapping_sub(u64::from(mask >> lane & 1));
            kept[lane] = value[lane] & take | kept[lane] & !take;
        }
    }

    #[inline]
    pub(super) fn set_predicate(&mut self, slot: u32, mask: u32, value: u32, defined: u32) {
        let slot = self.frame.predicates + slot as usize;
        self.predicates[slot] = self.predicates[slot] & !mask | value & mask;
        self.predicates_defined[slot] = self.predicates_defined[slot] & !mask | defined & mask;
    }

    /// The bits of any register of `frame` on one lane, and whether they are defined.
    pub(super) fn read_in(&self, frame: &Frame, slot: Slot, lane: usize) -> (u128, bool) {
        let bit = |masks: u32| masks >> lane & 1 == 1;
        match slot.class {
            Class::Predicate => {
                let at = frame.predicates + slot.index as usize;
                (u128::from(self.predicates[at] >> lane & 1), bit(self.predicates_defined[at]))
            }
            Class::Word => {
                let at = frame.words + slot.index as usize;
                (u128::from(self.words[at][lane]), bit(self.words_defined[at]))
            }
            Class::Long => {
                let at = frame.longs + slot.index as usize;
                (u128::from(self.longs[at][lane]), bit(self.longs_defined[at]))
            }
            Class::Quad => {
                let at = frame.longs + slot.index as usize;
                let value = u128::from(self.longs[at + 1][lane]) << 64 | u128::from(self.longs[at][lane]);
                (value, bit(self.longs_defined[at] & self.longs_defined[at + 1]))
            }
        }
    }

    /// The bits of any register on one lane, and whether they are defined.
    #[inline]
    pub(super) fn read(&self, slot: Slot, lane: usize) -> (u128, bool) {
        self.read_in(&self.frame, slot, lane)
    }

    /// Writes a register of `frame` on one lane, cut to its width.
    pub(super) fn write_in(&mut self, frame: &Frame, slot: Slot, lane: usize, value: u128, defined: bool) {
        let set = |masks: &mut u32| *masks = *masks & !(1 << lane) | u32::from(defined) << lane;
        match slot.class {
            Class::Predicate => {
                let at = frame.predicates + slot.index as usize;
                self.predicates[at] = self.predicates[at] & !(1 << lane) | ((value & 1) as u32) << lane;
                set(&mut self.predicates_defined[at]);
            }
            Class::Word => {
                let at = frame.words + slot.index as usize;
                let kept = if slot.bits >= 32 { u32::MAX } else { (1 << slot.bits) - 1 };
                self.words[at][lane] = value as u32 & kept;
                set(&mut self.words_defined[at]);
            }
            Class::Long => {
                let at = frame.longs + slot.index as usize;
                self.longs[at][lane] = value as u64;
                set(&mut self.longs_defined[at]);
            }
            Class::Quad => {
                let at = frame.longs + slot.index as usize;
                self.longs[at][lane] = value as u64;
                self.longs[at + 1][lane] = (value >> 64) as u64;
                set(&mut self.longs_defined[at]);
                set(&mut self.longs_defined[at + 1]);
            }
        }
    }

    /// Writes a register on one lane, cut to its width.
    #[inline]
    pub(super) fn write(&mut self, slot: Slot, lane: usize, value: u128, defined: bool) {
        let frame = self.frame;
        self.write_in(&frame, slot, lane, value, defined);
    }
}
