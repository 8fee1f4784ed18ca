//! The 23 video instructions by name.
//!
//! The rows of the instruction table are made from these, so each name is written once; the kind of instruction decides
//! how many types and which modifiers it takes.

use super::routing::Lanes;

/// A video instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Opcode {
    /// `vadd`, `vsub`, `vabsdiff`, `vmin`, `vmax`
    Arithmetic(Arithmetic),
    /// `vshl`, `vshr`
    Shift(Direction),
    /// `vset`
    Set,
    /// `vmad`
    Mad,
    /// `vadd2`, `vadd4` and their like
    Simd(SimdArithmetic, Lanes),
    /// `vset2`, `vset4`
    SimdSet(Lanes),
}

/// What a scalar video instruction computes of two numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Arithmetic {
    /// The sum.
    Add,
    /// The difference.
    Sub,
    /// The absolute value of the difference.
    AbsDiff,
    /// The smaller one.
    Min,
    /// The larger one.
    Max,
}

/// What a SIMD video instruction computes of two lanes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SimdArithmetic {
    /// The sum.
    Add,
    /// The difference.
    Sub,
    /// The mean, a half rounded away from zero.
    Average,
    /// The absolute value of the difference.
    AbsDiff,
    /// The smaller one.
    Min,
    /// The larger one.
    Max,
}

/// Where a shift moves bits to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Direction {
    /// `vshl`
    Left,
    /// `vshr`
    Right,
}

impl Arithmetic {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Add, Self::Sub, Self::AbsDiff, Self::Min, Self::Max];
}

impl SimdArithmetic {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Add, Self::Sub, Self::Average, Self::AbsDiff, Self::Min, Self::Max];
}

impl Direction {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Left, Self::Right];
}

impl From<Arithmetic> for SimdArithmetic {
    fn from(scalar: Arithmetic) -> Self {
        match scalar {
            Arithmetic::Add => Self::Add,
            Arithmetic::Sub => Self::Sub,
            Arithmetic::AbsDiff => Self::AbsDiff,
            Arithmetic::Min => Self::Min,
            Arithmetic::Max => Self::Max,
        }
    }
}

impl SimdArithmetic {
    /// The operation of scalar instructions that does the same; there is no mean among those.
    #[must_use]
    pub const fn scalar(self) -> Option<Arithmetic> {
        Some(match self {
            Self::Add => Arithmetic::Add,
            Self::Sub => Arithmetic::Sub,
            Self::AbsDiff => Arithmetic::AbsDiff,
            Self::Min => Arithmetic::Min,
            Self::Max => Arithmetic::Max,
            Self::Average => return None,
        })
    }
}

impl Opcode {
    /// How it is written.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Arithmetic(Arithmetic::Add) => "vadd",
            Self::Arithmetic(Arithmetic::Sub) => "vsub",
            Self::Arithmetic(Arithmetic::AbsDiff) => "vabsdiff",
            Self::Arithmetic(Arithmetic::Min) => "vmin",
            Self::Arithmetic(Arithmetic::Max) => "vmax",
            Self::Shift(Direction::Left) => "vshl",
            Self::Shift(Direction::Right) => "vshr",
            Self::Set => "vset",
            Self::Mad => "vmad",
            Self::Simd(SimdArithmetic::Add, Lanes::Two) => "vadd2",
            Self::Simd(SimdArithmetic::Sub, Lanes::Two) => "vsub2",
            Self::Simd(SimdArithmetic::Average, Lanes::Two) => "vavrg2",
            Self::Simd(SimdArithmetic::AbsDiff, Lanes::Two) => "vabsdiff2",
            Self::Simd(SimdArithmetic::Min, Lanes::Two) => "vmin2",
            Self::Simd(SimdArithmetic::Max, Lanes::Two) => "vmax2",
            Self::SimdSet(Lanes::Two) => "vset2",
            Self::Simd(SimdArithmetic::Add, Lanes::Four) => "vadd4",
            Self::Simd(SimdArithmetic::Sub, Lanes::Four) => "vsub4",
            Self::Simd(SimdArithmetic::Average, Lanes::Four) => "vavrg4",
            Self::Simd(SimdArithmetic::AbsDiff, Lanes::Four) => "vabsdiff4",
            Self::Simd(SimdArithmetic::Min, Lanes::Four) => "vmin4",
            Self::Simd(SimdArithmetic::Max, Lanes::Four) => "vmax4",
            Self::SimdSet(Lanes::Four) => "vset4",
        }
    }

    /// How many types its modifiers have: `d`, `a` and `b`, or without `d` where the result is always unsigned.
    #[must_use]
    pub const fn types(self) -> usize {
        match self {
            Self::Set | Self::SimdSet(_) => 2,
            Self::Arithmetic(_) | Self::Shift(_) | Self::Mad | Self::Simd(..) => 3,
        }
    }

    /// The lanes of a SIMD instruction; `None` for a scalar one.
    #[must_use]
    pub const fn lanes(self) -> Option<Lanes> {
        match self {
            Self::Simd(_, lanes) | Self::SimdSet(lanes) => Some(lanes),
            Self::Arithmetic(_) | Self::Shift(_) | Self::Set | Self::Mad => None,
        }
    }
}
