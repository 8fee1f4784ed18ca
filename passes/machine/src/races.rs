//! Races: which thread touched which bytes when, and whether anything orders two threads.
//!
//! Two accesses to a byte race if different threads make them, nothing orders them, and one of them changes it
//! without being atomic. A barrier that all threads of a block pass orders what they did before it with what they do
//! after it, a barrier that all lanes of a warp pass orders these lanes, and nothing orders two blocks. That is
//! enough to call a launch exact. Fences order threads as well, together with flags that this analysis does not
//! follow, and so do barriers for some threads only: where they may have, no race is reported and the launch is not
//! called exact. The same holds where both accesses are volatile, relaxed or stronger, so that the program asked for
//! that order to be open; and where one is a load and the other atomic, as in a loop that tries to exchange what it
//! has loaded.
//!
//! Only the last accesses to a byte are kept, as in FastTrack (Flanagan and Freund, 2009): the last write, and the
//! reads since then as far as they are not ordered. If several threads read, the smallest group that has them all is
//! kept: the lanes of a warp, the warps of a block, blocks. A later access that is not ordered after the whole group
//! is not ordered after one of its members. The time that is kept is that of the newest member, which says nothing
//! about the others if that member makes the later access itself: where fences, or barriers for some threads only, lie
//! between the members, the group is mixed, and a thread of it that has executed a fence may come after all others.
//!
//! [`super::shadow`] keeps this per byte; here is what orders two accesses.

use super::code::AtomicOp;

/// When threads of a warp accessed memory: all its accesses between two synchronisations have the same one.
#[derive(Clone, Copy, Debug)]
struct Moment {
    block: u32,
    warp: u32,
    epoch: u32,
    warp_epoch: u32,
    /// How many fences the launch had executed.
    fences: u32,
}

/// How many moments are kept, 20 bytes each. Then the search ends.
const MOST_MOMENTS: usize = 1 << 23;
/// The bit of a stamp that says that the group is mixed. Moments lie below it.
const MIXED: u32 = 1 << 31;
const _: () = assert!(MOST_MOMENTS << 7 <= MIXED as usize);

/// The threads that accessed a byte: the moment of the newest, its lane, the group of threads, and whether the group
/// is mixed. 0 is no thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Stamp(u32);

/// The smallest group of threads that contains all in question.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Group {
    Thread,
    Lanes,
    Warps,
    Blocks,
}

impl Stamp {
    pub(super) const NOBODY: Self = Self(0);

    fn new(moment: u32, group: Group, lane: u32) -> Self {
        Self(moment << 7 | (group as u32) << 5 | lane)
    }

    /// The thread on `lane` at a moment.
    pub(super) fn thread(moment: u32, lane: u32) -> Self {
        Self::new(moment, Group::Thread, lane)
    }

    fn moment(self) -> usize {
        ((self.0 & !MIXED) >> 7) as usize
    }

    fn group(self) -> Group {
        match self.0 >> 5 & 3 {
            0 => Group::Thread,
            1 => Group::Lanes,
            2 => Group::Warps,
            _ => Group::Blocks,
        }
    }

    /// Whether fences, or barriers for some threads only, lie between the accesses of the group.
    fn is_mixed(self) -> bool {
        self.0 & MIXED != 0
    }

    /// Whether threads of several blocks are among them, which no later access can be ordered after.
    pub(super) fn is_everybody(self) -> bool {
        self != Self::NOBODY && self.group() == Group::Blocks
    }
}

/// The epochs of a block: how many barriers were passed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Epochs {
    /// Grows with every barrier.
    pub(super) now: u32,
    /// What it was after the last barrier that all passed.
    pub(super) full: u32,
}

impl Epochs {
    /// A barrier is passed, by all or by some.
    pub(super) fn pass(&mut self, all: bool) {
        self.now += 1;
        if all {
            self.full = self.now;
        }
    }
}

/// What orders the accesses of a warp with those of others.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Clock {
    pub(super) epochs: Epochs,
    /// The number of the last fence that the warp, or one that it met at a barrier, executed.
    pub(super) fenced: u32,
    /// The moment of the last access, and the epochs and fences at which it began.
    moment: u32,
    began: [u32; 3],
}

/// The threads that access memory: one lane of a warp, or several of which `lane` is one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Who {
    moment: u32,
    block: u32,
    warp: u32,
    epochs: Epochs,
    warp_epochs: Epochs,
    fenced: u32,
    pub(super) lane: u32,
    several: bool,
}

impl Who {
    pub(super) fn stamp(&self) -> Stamp {
        Stamp::new(self.moment, if self.several { Group::Lanes } else { Group::Thread }, self.lane)
    }

    pub(super) fn moment(&self) -> u32 {
        self.moment
    }

    /// The same warp at the same time, on one lane.
    pub(super) fn on(self, lane: usize) -> Self {
        Self { lane: lane as u32, several: false, ..self }
    }

    /// The lanes of `mask`.
    pub(super) fn lanes(self, mask: u32) -> Self {
        Self { lane: mask.trailing_zeros(), several: mask.count_ones() > 1, ..self }
    }
}

/// How memory is accessed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct How {
    pub(super) writes: bool,
    pub(super) strength: Strength,
}

/// The memory order that an access demands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Strength {
    /// Nothing.
    Weak,
    /// It is volatile, relaxed, acquire or release.
    Strong,
    /// It is atomic.
    Atomic(AtomicOp),
}

/// Whether an access comes after others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Order {
    After,
    /// Unknown: a fence, or a barrier that not all passed, may have ordered them.
    Unsure,
    Concurrent,
}

/// The other side of a race.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Rival {
    /// A thread: the number of its block, and its number in it.
    Thread(u32, u32),
    OfWarp,
    OfBlock,
    OfGrid,
}

/// The moments of a launch, which say in what order accesses are.
#[derive(Debug)]
pub(super) struct Races {
    /// The first stands for no thread.
    moments: Vec<Moment>,
    fences: u32,
    /// Whether more moments are needed than are kept.
    pub(super) full: bool,
}

impl Races {
    pub(super) fn new() -> Self {
        let none = Moment { block: 0, warp: 0, epoch: 0, warp_epoch: 0, fences: 0 };
        Self { moments: vec![none], fences: 0, full: false }
    }

    /// A warp executes a fence, or an access that is one.
    pub(super) fn fence(&mut self, clock: &mut Clock) {
        self.fences = self.fences.saturating_add(1);
        clock.fenced = self.fences;
    }

    /// The moment at which a warp of a block accesses memory now.
    #[inline]
    pub(super) fn now(&mut self, clock: &mut Clock, warp: (u32, u32), epochs: Epochs) -> u32 {
        let began = [epochs.now, clock.epochs.now, self.fences];
        if clock.moment == 0 || clock.began != began {
            clock.moment = self.moment(warp, began);
            clock.began = began;
        }
        clock.moment
    }

    /// The thread that accesses memory now: the first lane of a warp of a block.
    #[inline]
    pub(super) fn who(&mut self, clock: &mut Clock, (block, warp): (u32, u32), epochs: Epochs) -> Who {
        Who {
            moment: self.now(clock, (block, warp), epochs),
            block,
            warp,
            epochs,
            warp_epochs: clock.epochs,
            fenced: clock.fenced,
            lane: 0,
            several: false,
        }
    }

    #[cold]
    fn moment(&mut self, (block, warp): (u32, u32), [epoch, warp_epoch, fences]: [u32; 3]) -> u32 {
        self.full |= self.moments.len() >= MOST_MOMENTS;
        if !self.full {
            self.moments.push(Moment { block, warp, epoch, warp_epoch, fences });
        }
        (self.moments.len() - 1) as u32
    }

    /// Whether two moments are of the same warp of the same block.
    #[inline]
    pub(super) fn same_warp(&self, moment: u32, who: &Who) -> bool {
        let then = &self.moments[moment as usize];
        (then.block, then.warp) == (who.block, who.warp)
    }

    /// Whether `who` comes after all of `stamp`.
    pub(super) fn order(&self, stamp: Stamp, who: &Who) -> Order {
        let then = &self.moments[stamp.moment()];
        let group = stamp.group();
        // The newest member is a thread of another warp, or nothing lies between it and the others.
        let certain = !(stamp.is_mixed() && self.same_warp(stamp.moment() as u32, who));
        let fenced = who.fenced > then.fences;
        if then.block != who.block {
            return if fenced { Order::Unsure } else { Order::Concurrent };
        }
        if group == Group::Blocks {
            // Only a fence can order blocks, and without one of its own, `who` comes after no other block.
            let alone = who.fenced == 0 || !fenced && !stamp.is_mixed();
            return if alone { Order::Concurrent } else { Order::Unsure };
        }
        let same_warp = then.warp == who.warp && group <= Group::Lanes;
        let same_thread =
            same_warp && stamp == Stamp::thread(stamp.moment() as u32, who.lane) && !who.several;
        let passed = |block: u32, warp: u32| then.epoch < block || same_warp && then.warp_epoch < warp;
        if same_thread || passed(who.epochs.full, who.warp_epochs.full) {
            Order::After
        } else if fenced || !certain || passed(who.epochs.now, who.warp_epochs.now) {
            Order::Unsure
        } else {
            Order::Concurrent
        }
    }

    /// Whether the newest of `stamp` is one that `who` does not come after, if there is any.
    pub(super) fn is_newest(&self, stamp: Stamp, who: &Who) -> bool {
        let then = &self.moments[stamp.moment()];
        then.block != who.block || then.warp != who.warp && stamp.group() != Group::Blocks
    }

    /// Those of `stamp` that `who` does not come after, and `who`.
    pub(super) fn join(&self, stamp: Stamp, who: &Who) -> Stamp {
        let own = who.stamp();
        let order = if stamp == Stamp::NOBODY { Order::After } else { self.order(stamp, who) };
        if order == Order::After {
            return own;
        }
        let fences = self.moments[who.moment as usize].fences;
        let then = &self.moments[stamp.moment()];
        let apart = match () {
            () if then.block != who.block => Group::Blocks,
            () if then.warp != who.warp => Group::Warps,
            () => Group::Lanes,
        };
        let mixed = stamp.is_mixed() || order == Order::Unsure || then.fences != fences;
        let joined = Stamp::new(who.moment, apart.max(stamp.group()), who.lane);
        Stamp(joined.0 | if mixed { MIXED } else { 0 })
    }

    /// One of `stamp` that is not `who`.
    pub(super) fn rival(&self, stamp: Stamp, who: &Who) -> Rival {
        let then = &self.moments[stamp.moment()];
        let lane = stamp.0 & 31;
        let itself = (then.block, then.warp, lane) == (who.block, who.warp, who.lane);
        match stamp.group() {
            Group::Lanes if itself => Rival::OfWarp,
            Group::Warps if itself => Rival::OfBlock,
            Group::Blocks if then.block == who.block => Rival::OfGrid,
            _ => Rival::Thread(then.block, then.warp * 32 + lane),
        }
    }
}
