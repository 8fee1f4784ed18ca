//! Every video form: the operations with their types and what becomes of the result.
//!
//! Forms read whole registers, in order, and write all lanes; parts, selectors and masks multiply them by thousands,
//! and who needs those chooses them with [`Routing`] and [`Part::ALL`]. The order is that of the tables of costs.

use super::form::{Form, Mad, Scalar, ScalarOp, Simd, SimdOp, SimdThen, Sum, Then};
use super::opcode::{Arithmetic, Direction, SimdArithmetic};
use super::routing::{Lanes, Part, Routing};
use super::words::{Compare, Scale, ShiftMode, Sign};

/// All pairs, those with the first of `a` first.
fn pairs<A: Copy, B: Copy, const N: usize, const M: usize>(
    a: [A; N],
    b: [B; M],
) -> impl Iterator<Item = (A, B)> {
    a.into_iter().flat_map(move |a| b.into_iter().map(move |b| (a, b)))
}

const SWITCH: [bool; 2] = [false, true];

impl Then {
    /// All that may become of a scalar result.
    pub const ALL: [Self; 10] = [
        Self::Store,
        Self::Add,
        Self::Min,
        Self::Max,
        Self::Merge(Part::B0),
        Self::Merge(Part::B1),
        Self::Merge(Part::B2),
        Self::Merge(Part::B3),
        Self::Merge(Part::H0),
        Self::Merge(Part::H1),
    ];
}

impl ScalarOp {
    /// All operations of scalar forms but `vmad`.
    pub fn all() -> impl Iterator<Item = Self> {
        let typed =
            pairs(Sign::ALL, SWITCH).flat_map(|(dtype, saturate)| {
                let arithmetic = pairs(Arithmetic::ALL, Sign::ALL).map(move |(op, btype)| Self::Arithmetic {
                    op,
                    dtype,
                    btype,
                    saturate,
                });
                let shifts = pairs(Direction::ALL, ShiftMode::ALL)
                    .map(move |(direction, mode)| Self::Shift { direction, mode, dtype, saturate });
                arithmetic.chain(shifts)
            });
        let sets = pairs(Compare::ALL, Sign::ALL).map(|(compare, btype)| Self::Set { compare, btype });
        typed.chain(sets)
    }
}

impl Scalar {
    /// All scalar forms but `vmad`, on whole registers.
    pub fn all() -> impl Iterator<Item = Self> {
        ScalarOp::all().flat_map(|op| {
            pairs(Sign::ALL, Then::ALL).map(move |(atype, then)| Self { op, atype, a: None, b: None, then })
        })
    }
}

impl Mad {
    /// All forms of `vmad`, on whole registers.
    pub fn all() -> impl Iterator<Item = Self> {
        let types = pairs(Sign::ALL, Sign::ALL);
        types.flat_map(|(dtype, atype)| {
            pairs(Sign::ALL, SWITCH).flat_map(move |(btype, saturate)| {
                pairs(Scale::ALL, Sum::ALL).map(move |(scale, sum)| Self {
                    dtype,
                    atype,
                    btype,
                    saturate,
                    scale,
                    sum,
                    a: None,
                    b: None,
                })
            })
        })
    }
}

impl SimdOp {
    /// All operations of SIMD forms.
    pub fn all() -> impl Iterator<Item = Self> {
        let arithmetic = pairs(SimdArithmetic::ALL, Sign::ALL).flat_map(|(op, dtype)| {
            SimdThen::ALL.into_iter().map(move |then| Self::Arithmetic { op, dtype, then })
        });
        let sets = pairs(Compare::ALL, SWITCH).map(|(compare, accumulate)| Self::Set { compare, accumulate });
        arithmetic.chain(sets)
    }
}

impl Routing {
    fn drawn(lanes: Lanes, below: &mut dyn FnMut(usize) -> usize) -> Self {
        let mut up_to = |bound: u8| u8::try_from(below(bound.into())).expect("it is below the bound");
        let count = lanes.count();
        let mut picks = |first: u8| -> Vec<u8> {
            let whole = up_to(2) == 0;
            (0..count).map(|lane| if whole { first + lane } else { up_to(2 * count) }).collect()
        };
        let (a, mut b) = (picks(0), picks(count));
        let twice = up_to(3) == 0;
        for (b, a) in b.iter_mut().zip(&a) {
            if twice && up_to(2) == 0 {
                *b = *a;
            }
        }
        let full = lanes.full_mask();
        let mask = if up_to(2) == 0 { full } else { 1 + up_to(full) };
        let plain = Self::plain(lanes).masked(mask).expect("at least one lane");
        plain.selected(&a, &b).expect("picks are below the number of places")
    }
}

impl Simd {
    /// All forms with this many lanes, all of them computed, each from the same lane of `a` and `b`.
    pub fn all(lanes: Lanes) -> impl Iterator<Item = Self> {
        let routing = Routing::plain(lanes);
        SimdOp::all().flat_map(move |op| {
            pairs(Sign::ALL, Sign::ALL).map(move |(atype, btype)| Self { op, atype, btype, routing })
        })
    }
}

impl Form {
    /// The form with parts, selectors and a mask that `below` chooses: any number below the one that it gets.
    ///
    /// Half of the selectors and of the masks are the default ones, and lanes are read by both selectors more often
    /// than by chance.
    #[must_use]
    pub fn drawn(self, below: &mut dyn FnMut(usize) -> usize) -> Self {
        let mut part = || Part::ALL.get(below(Part::ALL.len() + 1)).copied();
        match self {
            Self::Scalar(scalar) => Self::Scalar(Scalar { a: part(), b: part(), ..scalar }),
            Self::Mad(mad) => Self::Mad(Mad { a: part(), b: part(), ..mad }),
            Self::Simd(simd) => {
                Self::Simd(Simd { routing: Routing::drawn(simd.routing.lanes(), below), ..simd })
            }
        }
    }

    /// All forms on whole registers and with all lanes.
    pub fn all() -> impl Iterator<Item = Self> {
        let scalar = Scalar::all().map(Self::Scalar).chain(Mad::all().map(Self::Mad));
        scalar.chain(Lanes::ALL.into_iter().flat_map(Simd::all).map(Self::Simd))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_form_is_there_once() {
        let all: Vec<Form> = Form::all().collect();
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
        // 5 operations × 16, 4 shifts × 8 and 6 comparisons × 4 by types and `.sat`, each with 10 ends; `vmad`.
        assert_eq!(Scalar::all().count(), (5 * 16 + 4 * 8 + 6 * 4) * 10);
        assert_eq!(Mad::all().count(), 8 * 2 * 3 * 4);
        // 6 operations × 8 types × 3 ends, and 6 comparisons × 4 types × 2.
        assert_eq!(Simd::all(Lanes::Two).count(), 6 * 8 * 3 + 6 * 4 * 2);
        assert_eq!(all.len(), 1360 + 192 + 2 * 192);
    }

    #[test]
    fn every_instruction_has_forms() {
        let opcodes: HashSet<_> = Form::all().map(Form::opcode).collect();
        assert_eq!(opcodes.len(), 23);
    }
}
