//! The forms of video instructions: everything but the registers.
//!
//! The types have no value for a form that the assembler rejects: a shift has a mode and an unsigned amount, a
//! comparison has neither destination type nor saturation, SIMD instructions saturate or accumulate but not both, and a
//! scalar one has a secondary operation or merges but not both. Spellings that are accepted and have no effect are not
//! represented: two negated factors, an unused fourth operand, `.sat` twice.

use super::opcode::{Arithmetic, Direction, Opcode, SimdArithmetic};
use super::routing::{Part, Routing};
use super::words::{Compare, Scale, ShiftMode, Sign};
use crate::table::instruction::{Instruction, Mnemonic, op};
use crate::table::words::Modifier;
use std::fmt;

/// A video instruction without its registers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Form {
    /// `vadd`, `vsub`, `vabsdiff`, `vmin`, `vmax`, `vshl`, `vshr`, `vset`
    Scalar(Scalar),
    /// `vmad`
    Mad(Mad),
    /// All with two or four lanes.
    Simd(Simd),
}

/// A scalar instruction but `vmad`: extract and extend, compute, clamp, then combine with `c`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Scalar {
    /// What it computes.
    pub op: ScalarOp,
    /// The type of `a`.
    pub atype: Sign,
    /// The part of `a` that is read; `None`: the whole.
    pub a: Option<Part>,
    /// The part of `b` that is read; `None`: the whole.
    pub b: Option<Part>,
    /// What becomes of the result.
    pub then: Then,
}

/// What a scalar instruction computes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ScalarOp {
    /// `vadd`, `vsub`, `vabsdiff`, `vmin`, `vmax`
    Arithmetic {
        /// Which of them.
        op: Arithmetic,
        /// The type of `d` and `c`.
        dtype: Sign,
        /// The type of `b`.
        btype: Sign,
        /// `.sat`: the result is clamped to the range of `dtype`, or of the merged part.
        saturate: bool,
    },
    /// `vshl`, `vshr`; the amount `b` is unsigned.
    Shift {
        /// Which of them.
        direction: Direction,
        /// What becomes of large amounts.
        mode: ShiftMode,
        /// The type of `d` and `c`.
        dtype: Sign,
        /// `.sat`: the result is clamped to the range of `dtype`, or of the merged part.
        saturate: bool,
    },
    /// `vset`: 1 where the comparison holds, else 0; `d` and `c` are unsigned.
    Set {
        /// The comparison.
        compare: Compare,
        /// The type of `b`.
        btype: Sign,
    },
}

/// What becomes of a scalar result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Then {
    /// It is `d`; `c` is not read.
    Store,
    /// `.add`: it is added to `c`.
    Add,
    /// `.min`: the smaller of it and `c`.
    Min,
    /// `.max`: the larger of it and `c`.
    Max,
    /// It becomes this part of `d`; the other bytes come from `c`.
    Merge(Part),
}

impl Then {
    /// How it is written among the modifiers.
    #[must_use]
    pub const fn modifier(self) -> Option<Modifier> {
        match self {
            Self::Store | Self::Merge(_) => None,
            Self::Add => Some(op::ADDED),
            Self::Min => Some(op::MINIMUM),
            Self::Max => Some(op::MAXIMUM),
        }
    }
}

/// `vmad`: the product and `c`, shifted, then clamped.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Mad {
    /// The type of `d`, without any effect but on `.sat`.
    pub dtype: Sign,
    /// The type of `a`.
    pub atype: Sign,
    /// The type of `b`.
    pub btype: Sign,
    /// `.sat`: the result is clamped to 32 bits.
    pub saturate: bool,
    /// The shift.
    pub scale: Scale,
    /// The sum.
    pub sum: Sum,
    /// The part of `a` that is read; `None`: the whole.
    pub a: Option<Part>,
    /// The part of `b` that is read; `None`: the whole.
    pub b: Option<Part>,
}

/// What `vmad` sums up. Negated factors are counted together: two cancel, as they do in ptxas 13.5.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Sum {
    /// `a*b + c`
    Plain,
    /// `.po`: `a*b + c + 1`
    PlusOne,
    /// `-a*b + c`
    NegatedProduct,
    /// `a*b - c`
    NegatedAddend,
}

impl Sum {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Plain, Self::PlusOne, Self::NegatedProduct, Self::NegatedAddend];
}

/// A SIMD instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Simd {
    /// What it computes in each lane.
    pub op: SimdOp,
    /// The type of the lanes that the selector of `a` picks.
    pub atype: Sign,
    /// The type of the lanes that the selector of `b` picks.
    pub btype: Sign,
    /// Which lanes, and from what.
    pub routing: Routing,
}

/// What a SIMD instruction computes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SimdOp {
    /// All but `vset2` and `vset4`.
    Arithmetic {
        /// Which of them.
        op: SimdArithmetic,
        /// The type of `d`, without any effect but on `.sat`.
        dtype: Sign,
        /// What becomes of the results.
        then: SimdThen,
    },
    /// `vset2`, `vset4`: 1 where the comparison holds, else 0.
    Set {
        /// The comparison.
        compare: Compare,
        /// `.add`: the ones are added to `c`, instead of merged into it.
        accumulate: bool,
    },
}

impl SimdOp {
    /// Whether the type of `d` has an effect, or is the unsigned one: all others compute the same as one of these.
    #[must_use]
    pub const fn is_canonical(self) -> bool {
        match self {
            Self::Arithmetic { dtype, then, .. } => {
                matches!(then, SimdThen::Saturate) || matches!(dtype, Sign::Unsigned)
            }
            Self::Set { .. } => true,
        }
    }
}

/// What becomes of the results of the lanes. Lanes outside the mask come from `c`, or add nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SimdThen {
    /// Each is cut to its lane of `d`.
    Store,
    /// `.sat`: each is clamped to the range of its lane of `d`.
    Saturate,
    /// `.add`: all, uncut, are added to `c`.
    Add,
}

impl SimdThen {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Store, Self::Saturate, Self::Add];

    /// How it is written among the modifiers.
    #[must_use]
    pub const fn modifier(self) -> Option<Modifier> {
        match self {
            Self::Store => None,
            Self::Saturate => Some(op::SAT),
            Self::Add => Some(op::ADDED),
        }
    }
}

impl ScalarOp {
    /// The type of `d` and `c`.
    #[must_use]
    pub const fn dtype(self) -> Sign {
        match self {
            Self::Arithmetic { dtype, .. } | Self::Shift { dtype, .. } => dtype,
            Self::Set { .. } => Sign::Unsigned,
        }
    }

    /// The type of `b`.
    #[must_use]
    pub const fn btype(self) -> Sign {
        match self {
            Self::Arithmetic { btype, .. } | Self::Set { btype, .. } => btype,
            Self::Shift { .. } => Sign::Unsigned,
        }
    }

    /// Whether the result is clamped.
    #[must_use]
    pub const fn saturates(self) -> bool {
        match self {
            Self::Arithmetic { saturate, .. } | Self::Shift { saturate, .. } => saturate,
            Self::Set { .. } => false,
        }
    }
}

impl Form {
    /// The instruction.
    #[must_use]
    pub const fn opcode(self) -> Opcode {
        match self {
            Self::Scalar(Scalar { op, .. }) => match op {
                ScalarOp::Arithmetic { op, .. } => Opcode::Arithmetic(op),
                ScalarOp::Shift { direction, .. } => Opcode::Shift(direction),
                ScalarOp::Set { .. } => Opcode::Set,
            },
            Self::Mad(_) => Opcode::Mad,
            Self::Simd(Simd { op, routing, .. }) => match op {
                SimdOp::Arithmetic { op, .. } => Opcode::Simd(op, routing.lanes()),
                SimdOp::Set { .. } => Opcode::SimdSet(routing.lanes()),
            },
        }
    }

    /// Whether `c` is read.
    #[must_use]
    pub const fn reads_c(self) -> bool {
        match self {
            Self::Scalar(scalar) => !matches!(scalar.then, Then::Store),
            Self::Mad(_) | Self::Simd(_) => true,
        }
    }

    /// The opcode with its modifiers, in the order of the manual.
    #[must_use]
    pub fn instruction(self) -> Instruction {
        let sat = |saturate: bool| saturate.then_some(op::SAT);
        let modifiers = match self {
            Self::Scalar(Scalar { op, atype, then, .. }) => {
                let (d, a, b) = (op.dtype().modifier(), atype.modifier(), op.btype().modifier());
                let then = then.modifier();
                match op {
                    ScalarOp::Arithmetic { saturate, .. } => {
                        [Some(d), Some(a), Some(b), sat(saturate), then, None]
                    }
                    ScalarOp::Shift { mode, saturate, .. } => {
                        [Some(d), Some(a), Some(b), sat(saturate), Some(mode.modifier()), then]
                    }
                    ScalarOp::Set { compare, .. } => {
                        [Some(a), Some(b), Some(compare.modifier()), then, None, None]
                    }
                }
            }
            Self::Mad(Mad { dtype, atype, btype, saturate, scale, sum, .. }) => {
                let po = (sum == Sum::PlusOne).then_some(op::PO);
                let (d, a, b) = (dtype.modifier(), atype.modifier(), btype.modifier());
                [Some(d), Some(a), Some(b), po, sat(saturate), scale.modifier()]
            }
            Self::Simd(Simd { op, atype, btype, .. }) => {
                let (a, b) = (atype.modifier(), btype.modifier());
                match op {
                    SimdOp::Arithmetic { dtype, then, .. } => {
                        [Some(dtype.modifier()), Some(a), Some(b), then.modifier(), None, None]
                    }
                    SimdOp::Set { compare, accumulate } => {
                        let add = accumulate.then_some(op::ADDED);
                        [Some(a), Some(b), Some(compare.modifier()), add, None, None]
                    }
                }
            }
        };
        let mut all = Mnemonic::of_video(self.opcode()).with(&[]);
        for modifier in modifiers.into_iter().flatten() {
            all = all.and(modifier);
        }
        all
    }
}

/// Its text without operands.
impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.instruction().fmt(f)
    }
}
