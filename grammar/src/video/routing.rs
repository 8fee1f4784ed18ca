//! Which parts of which registers go where: selectors and masks.
//!
//! A [`Routing`] can only be made with a mask of at least one lane and selectors whose picks exist, so the evaluator
//! and the printer index without further checks.

use std::fmt;

/// A part of a register that a scalar instruction reads or writes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Part {
    /// Bits 7 to 0.
    B0,
    /// Bits 15 to 8.
    B1,
    /// Bits 23 to 16.
    B2,
    /// Bits 31 to 24.
    B3,
    /// Bits 15 to 0.
    H0,
    /// Bits 31 to 16.
    H1,
}

impl Part {
    /// All parts.
    pub const ALL: [Self; 6] = [Self::B0, Self::B1, Self::B2, Self::B3, Self::H0, Self::H1];

    /// The part that a selector without its dot means.
    #[must_use]
    pub fn parse(selector: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|part| part.word().as_bytes()[1..] == *selector)
    }

    /// How it is written, with its dot.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::B0 => ".b0",
            Self::B1 => ".b1",
            Self::B2 => ".b2",
            Self::B3 => ".b3",
            Self::H0 => ".h0",
            Self::H1 => ".h1",
        }
    }

    /// How many bits it has.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Self::B0 | Self::B1 | Self::B2 | Self::B3 => 8,
            Self::H0 | Self::H1 => 16,
        }
    }

    /// Its lowest bit.
    #[must_use]
    pub const fn shift(self) -> u32 {
        match self {
            Self::B0 | Self::H0 => 0,
            Self::B1 => 8,
            Self::B2 | Self::H1 => 16,
            Self::B3 => 24,
        }
    }
}

/// How many lanes a SIMD instruction has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Lanes {
    /// Two halves.
    Two,
    /// Four bytes.
    Four,
}

impl Lanes {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Two, Self::Four];

    /// How many there are.
    #[must_use]
    pub const fn count(self) -> u8 {
        match self {
            Self::Two => 2,
            Self::Four => 4,
        }
    }

    /// How many bits each has.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Self::Two => 16,
            Self::Four => 8,
        }
    }

    /// A word with a number in every lane.
    #[must_use]
    pub const fn every(self, lane: u32) -> u32 {
        match self {
            Self::Two => 0x0001_0001 * lane,
            Self::Four => 0x0101_0101 * lane,
        }
    }

    /// The letter that begins a mask or a selector.
    pub(super) const fn letter(self) -> char {
        match self {
            Self::Two => 'h',
            Self::Four => 'b',
        }
    }

    /// The mask of all lanes.
    #[must_use]
    pub const fn full_mask(self) -> u8 {
        (1 << self.count()) - 1
    }

    /// The digits of a mask or a selector; `None` if the letter is wrong or a digit is not `below`.
    fn digits(self, word: &[u8], below: u8) -> Option<impl Iterator<Item = u8> + '_> {
        let (&letter, digits) = word.split_first()?;
        let good = char::from(letter) == self.letter()
            && digits.iter().all(|&digit| digit.checked_sub(b'0').is_some_and(|digit| digit < below));
        good.then(|| digits.iter().map(|&digit| digit - b'0'))
    }

    /// The lanes that a mask without its dot names: at least one, each once, the highest first.
    pub(super) fn parse_mask(self, word: &[u8]) -> Option<u8> {
        let mut digits = self.digits(word, self.count())?;
        let (mask, _lowest) = digits.try_fold((0, u8::MAX), |(mask, above), digit| {
            (digit < above).then_some((mask | 1 << digit, digit))
        })?;
        (mask != 0).then_some(mask)
    }

    /// The picks of a selector without its dot, the highest lane first.
    pub(super) fn parse_selector(self, word: &[u8]) -> Option<Selector> {
        if word.len() != usize::from(self.count()) + 1 {
            return None;
        }
        let digits = self.digits(word, 2 * self.count())?;
        Some(Selector(digits.fold(0, |picks, digit| picks << 4 | u16::from(digit))))
    }
}

/// Where the lanes of a source come from: for each lane a place in the pool that `a` and `b` make, `a` first.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Selector(u16);

impl Selector {
    /// A selector whose lane `i` reads place `picks[i]` of the pool; `None` if the pool has no such place or the
    /// number of picks is not the number of lanes.
    #[must_use]
    pub fn new(lanes: Lanes, picks: &[u8]) -> Option<Self> {
        let good =
            picks.len() == usize::from(lanes.count()) && picks.iter().all(|&pick| pick < 2 * lanes.count());
        good.then(|| Self(picks.iter().rev().fold(0, |all, &pick| all << 4 | u16::from(pick))))
    }

    /// The lanes of `a` in order, `.h10` or `.b3210`: what a missing selector of `a` means.
    #[must_use]
    pub const fn whole_a(lanes: Lanes) -> Self {
        match lanes {
            Lanes::Two => Self(0x10),
            Lanes::Four => Self(0x3210),
        }
    }

    /// The lanes of `b` in order, `.h32` or `.b7654`: what a missing selector of `b` means.
    #[must_use]
    pub const fn whole_b(lanes: Lanes) -> Self {
        match lanes {
            Lanes::Two => Self(0x32),
            Lanes::Four => Self(0x7654),
        }
    }

    /// The place in the pool that `lane` reads: below the number of lanes from `a`, else from `b`.
    #[must_use]
    pub const fn pick(self, lane: u8) -> u8 {
        (self.0 >> (4 * lane) & 15) as u8
    }

    /// The same bytes once `a` and `b` have changed places.
    #[must_use]
    pub const fn exchanged(self, lanes: Lanes) -> Self {
        match lanes {
            Lanes::Two => Self(self.0 ^ 0x22),
            Lanes::Four => Self(self.0 ^ 0x4444),
        }
    }

    /// Whether it is `.b1024`, which ptxas takes up to CUDA 11.8 and later reads as a type.
    #[must_use]
    pub const fn is_unwritable(self) -> bool {
        self.0 == 0x1024
    }

    /// Writes it with its dot.
    pub(super) fn write(self, lanes: Lanes, f: &mut impl fmt::Write) -> fmt::Result {
        write!(f, ".{}", lanes.letter())?;
        (0..lanes.count()).rev().try_for_each(|lane| write!(f, "{}", self.pick(lane)))
    }
}

impl fmt::Debug for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Selector({:x})", self.0)
    }
}

/// Which lanes a SIMD instruction computes, and from what.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Routing {
    lanes: Lanes,
    mask: u8,
    a: Selector,
    b: Selector,
}

impl Routing {
    /// All lanes, each from the same lane of `a` and `b`.
    #[must_use]
    pub const fn plain(lanes: Lanes) -> Self {
        Self { lanes, mask: lanes.full_mask(), a: Selector::whole_a(lanes), b: Selector::whole_b(lanes) }
    }

    /// Only the lanes whose bits are set in `mask`; `None` if `mask` is empty or has more lanes than there are.
    #[must_use]
    pub const fn masked(self, mask: u8) -> Option<Self> {
        if mask == 0 || mask > self.lanes.full_mask() { None } else { Some(Self { mask, ..self }) }
    }

    /// Lane `i` from the places `a[i]` and `b[i]` of the pool; `None` where the pool has no such place.
    #[must_use]
    pub fn selected(self, a: &[u8], b: &[u8]) -> Option<Self> {
        Some(Self { a: Selector::new(self.lanes, a)?, b: Selector::new(self.lanes, b)?, ..self })
    }

    pub(super) const fn with_selectors(self, a: Selector, b: Selector) -> Self {
        Self { a, b, ..self }
    }

    /// How many lanes there are.
    #[must_use]
    pub const fn lanes(self) -> Lanes {
        self.lanes
    }

    /// The lanes that are computed, lane `i` as bit `i`; never zero.
    #[must_use]
    pub const fn mask(self) -> u8 {
        self.mask
    }

    /// Where the first source's lanes come from.
    #[must_use]
    pub const fn a(self) -> Selector {
        self.a
    }

    /// Where the second source's lanes come from.
    #[must_use]
    pub const fn b(self) -> Selector {
        self.b
    }

    /// The same bytes once `a` and `b` have changed places.
    #[must_use]
    pub const fn exchanged(self) -> Self {
        Self { a: self.a.exchanged(self.lanes), b: self.b.exchanged(self.lanes), ..self }
    }
}
