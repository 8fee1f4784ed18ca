//! Lanes in a word: constants, operands, and what keeps lanes apart.
//!
//! In a plain word, lanes affect each other only by carries and borrows. Those are kept inside a lane by computing
//! without the highest bit of each, which is then put in by logic.

use super::build::Build;
use crate::recipe::Source;
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::table::words::Modifier;
use ptxopt_grammar::video::Lanes;

/// What lanes a word has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Geometry {
    pub(super) lanes: Lanes,
}

/// A word of lanes, and whether they have a sign.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Operand {
    pub(super) source: Source,
    pub(super) signed: bool,
}

/// Two words of lanes that an operation combines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Job {
    pub(super) geometry: Geometry,
    pub(super) x: Operand,
    pub(super) y: Operand,
    /// The lanes whose results matter.
    pub(super) active: u8,
}

impl Geometry {
    /// The bits of a lane.
    pub(super) const fn bits(self) -> u32 {
        self.lanes.bits()
    }

    pub(super) fn is_bytes(self) -> bool {
        self.lanes == Lanes::Four
    }

    /// A number in every lane.
    pub(super) const fn every(self, number: u32) -> Source {
        Source::Constant(self.lanes.every(number) as u64)
    }

    /// The highest bit of every lane.
    pub(super) const fn high(self) -> Source {
        self.every(1 << (self.bits() - 1))
    }

    /// All bits of every lane but the highest.
    pub(super) const fn low(self) -> Source {
        self.every((1 << (self.bits() - 1)) - 1)
    }

    /// The lowest bit of every lane.
    pub(super) const fn one(self) -> Source {
        self.every(1)
    }

    /// All bits of every lane but the lowest.
    pub(super) const fn but_lowest(self) -> Source {
        self.every((1 << self.bits()) - 2)
    }

    /// All bits of the lanes of a mask.
    pub(super) fn whole(self, mask: u8) -> Source {
        let lane = |lane: u8| ((1_u64 << self.bits()) - 1) << (u32::from(lane) * self.bits());
        Source::Constant((0..self.lanes.count()).filter(|at| mask >> at & 1 == 1).map(lane).sum())
    }

    /// The packed type of these lanes.
    pub(super) const fn packed(self, signed: bool) -> Modifier {
        match (self.lanes, signed) {
            (Lanes::Two, false) => op::U16X2,
            (Lanes::Two, true) => op::S16X2,
            (Lanes::Four, false) => op::U8X4,
            (Lanes::Four, true) => op::S8X4,
        }
    }
}

impl Job {
    pub(super) const fn bits(self) -> u32 {
        self.geometry.bits()
    }

    /// Whether all lanes matter.
    pub(super) fn is_full(self) -> bool {
        self.active == self.geometry.lanes.full_mask()
    }

    /// Both words.
    pub(super) const fn words(self) -> [Source; 2] {
        [self.x.source, self.y.source]
    }

    /// The common type, if both have one.
    pub(super) fn signed(self) -> Option<bool> {
        (self.x.signed == self.y.signed).then_some(self.x.signed)
    }

    /// The same with the operands exchanged.
    pub(super) const fn exchanged(self) -> Self {
        Self { x: self.y, y: self.x, ..self }
    }

    /// Other words of these types.
    pub(super) const fn of(self, x: Source, y: Source, signed: bool) -> Self {
        Self { x: Operand { source: x, signed }, y: Operand { source: y, signed }, ..self }
    }

    /// The unsigned and the signed operand of two that differ.
    pub(super) const fn sorted(self) -> [Source; 2] {
        if self.x.signed { [self.y.source, self.x.source] } else { [self.x.source, self.y.source] }
    }
}

/// The highest bit of every lane in all of its bits.
pub(super) fn spread(build: &mut Build<'_>, geometry: Geometry, word: Source) -> Source {
    let selector = match geometry.lanes {
        Lanes::Four => 0xba98,
        Lanes::Two => 0xbb99,
    };
    build.prmt(word, Source::Constant(0), selector)
}

/// `x+y` without the highest bits: theirs is the carry.
pub(super) fn low_sum(build: &mut Build<'_>, job: Job) -> Source {
    let (x, y) = (build.and(job.x.source, job.geometry.low()), build.and(job.y.source, job.geometry.low()));
    build.add(x, y)
}

/// `x-y` without the highest bits: theirs is set where nothing is borrowed.
pub(super) fn low_difference(build: &mut Build<'_>, job: Job) -> Source {
    let x = build.logic2([job.x.source, job.geometry.high()], |x, high| x | high);
    let y = build.and(job.y.source, job.geometry.low());
    build.sub(x, y)
}

/// `(x+y)/2` downwards, where `both` and `differ` are the bits that `x` and `y` have in common and the others.
pub(super) fn half_sum(build: &mut Build<'_>, both: Source, differ: Source) -> Source {
    let half = build.shr(differ, 1);
    build.add(half, both)
}

/// What an out-of-range lane is clamped to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Clamp {
    /// Negative lanes become zero.
    Negative,
    /// Lanes above the greatest signed number become that.
    Large,
}

/// Lanes clamped where their highest bit is set.
pub(super) fn clamp(build: &mut Build<'_>, geometry: Geometry, word: Source, how: Clamp) -> Source {
    if build.any(&[false, true]) {
        // The packed instructions know the bound.
        return match how {
            Clamp::Negative => {
                let instruction = if geometry.is_bytes() { op::MAX_S8X4 } else { op::MAX_S16X2 };
                build.packed(instruction, word, Source::Constant(0))
            }
            Clamp::Large => {
                let instruction = if geometry.is_bytes() { op::MIN_U8X4 } else { op::MIN_U16X2 };
                build.packed(instruction, word, geometry.low())
            }
        };
    }
    let mask = spread(build, geometry, word);
    match how {
        Clamp::Negative => build.logic2([word, mask], |word, mask| word & !mask),
        Clamp::Large => build.logic([word, mask, geometry.low()], |word, mask, low| (word | mask) & low),
    }
}
