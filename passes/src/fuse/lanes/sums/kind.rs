//! What is added up of lanes, found by how it behaves.
//!
//! It only chooses what to propose: functions that differ on other operands are told apart by the proof.

use super::super::operation::{Operation, SAMPLES, Table};
use ptxopt_grammar::video::{Lanes, Sign, SimdOp, SimdThen};

/// What is added up of lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// Products of lanes with these signs.
    Product(Sign, Sign),
    /// A lane with this sign, times a number.
    Weighted(Sign),
    /// A lane with this sign, times itself.
    Square(Sign),
    /// The difference of two lanes, times itself.
    SquaredDifference(Operation),
    /// What a SIMD instruction adds up.
    Simd(Operation),
}

/// The form that adds its lanes up.
pub(super) const fn adding(op: SimdOp) -> SimdOp {
    match op {
        SimdOp::Arithmetic { op, dtype, .. } => SimdOp::Arithmetic { op, dtype, then: SimdThen::Add },
        SimdOp::Set { compare, .. } => SimdOp::Set { compare, accumulate: true },
    }
}

/// What gives these results of one or two lanes: the weight of a lane, and whether two lanes are in the other order.
pub(super) fn classify(results: &[u32], of: usize, lanes: Lanes) -> Option<(Kind, i64, bool)> {
    let table = Table::of(lanes);
    let bits = lanes.bits();
    assert_eq!(results.len(), SAMPLES, "there is a result for each sample");
    let is = |compute: &dyn Fn(u32, u32) -> i64| {
        let cut = |sum: i64| sum & i64::from(u32::MAX);
        let same = |(&[x, y], &result): (&[u32; 2], &u32)| cut(compute(x, y)) == i64::from(result);
        table.samples.iter().zip(results).all(same)
    };
    let value = |lane: u32, sign: Sign| match sign {
        Sign::Unsigned => i64::from(lane),
        Sign::Signed => i64::from((lane << (32 - bits)).cast_signed() >> (32 - bits)),
    };
    if of == 1 {
        let one = table.samples.iter().position(|&[x, _]| x == 1).expect("one is among the samples");
        let weight = i64::from(results[one].cast_signed());
        let square = |sign: &Sign| is(&|x, _| value(x, *sign) * value(x, *sign));
        if let Some(sign) = Sign::ALL.into_iter().find(square).filter(|_| lanes == Lanes::Four) {
            return Some((Kind::Square(sign), 0, false));
        }
        let sign = Sign::ALL.into_iter().find(|&sign| is(&|x, _| weight * value(x, sign)))?;
        return (weight != 0).then_some((Kind::Weighted(sign), weight, false));
    }
    for one in Sign::ALL {
        for other in Sign::ALL {
            if is(&|x, y| value(x, one) * value(y, other)) {
                return Some((Kind::Product(one, other), 0, false));
            }
        }
    }
    // A difference of bytes is a byte; for larger ones there is no instruction that multiplies them.
    for operation in table.sums().filter(|operation| operation.is_distance() && lanes == Lanes::Four) {
        let square = |x, y| i64::from(operation.uncut(x, y, bits)).pow(2);
        if is(&square) {
            return Some((Kind::SquaredDifference(operation), 0, false));
        }
    }
    for operation in table.sums() {
        for exchanged in [false, true] {
            let compute = |x, y| {
                let (x, y) = if exchanged { (y, x) } else { (x, y) };
                operation.uncut(x, y, bits).into()
            };
            if is(&compute) {
                return Some((Kind::Simd(operation), 0, exchanged));
            }
        }
    }
    None
}
