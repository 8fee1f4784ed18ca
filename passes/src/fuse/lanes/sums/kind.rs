//! What is added up of lanes, found by how it behaves.
//!
//! It only chooses what to propose: functions that differ on other operands are told apart by the proof.

use super::super::evaluated::Evaluated;
use super::super::operation::{Operation, Table};
use hashbrown::HashMap;
use ptxopt_grammar::video::{Lanes, Sign, SimdOp, SimdThen};
use std::sync::LazyLock;

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
    /// One where a condition holds, which the highest bit of a lane tells.
    Told,
}

/// The form that adds its lanes up.
pub(super) const fn adding(op: SimdOp) -> SimdOp {
    match op {
        SimdOp::Arithmetic { op, dtype, .. } => SimdOp::Arithmetic { op, dtype, then: SimdThen::Add },
        SimdOp::Set { compare, .. } => SimdOp::Set { compare, accumulate: true },
    }
}

/// How many samples tell nearly all functions apart, so that only few are computed for all.
const HEAD: usize = 64;

/// The kinds of two lanes by what they give for the first samples, in the order in which they are tried; and whether
/// the two lanes are in the other order.
type Kinds = HashMap<[u32; HEAD], Vec<(Kind, bool)>>;

static KINDS_OF_BYTES: LazyLock<Kinds> = LazyLock::new(|| kinds(Lanes::Four));
static KINDS_OF_HALVES: LazyLock<Kinds> = LazyLock::new(|| kinds(Lanes::Two));

fn kinds(lanes: Lanes) -> Kinds {
    let table = Table::of(lanes);
    let signs = || Sign::ALL.into_iter();
    let products = signs().flat_map(|one| signs().map(move |other| Kind::Product(one, other)));
    // A difference of bytes is a byte; for larger ones there is no instruction that multiplies them.
    let distances = table.sums().filter(|operation| operation.is_distance() && lanes == Lanes::Four);
    let simd =
        table.sums().flat_map(|operation| [false, true].map(|exchanged| (Kind::Simd(operation), exchanged)));
    let all = products.chain(distances.map(Kind::SquaredDifference)).map(|kind| (kind, false)).chain(simd);
    let mut kinds = Kinds::new();
    for (kind, exchanged) in all {
        let head = std::array::from_fn(|at| kind.of(table.samples[at], exchanged, lanes));
        kinds.entry(head).or_default().push((kind, exchanged));
    }
    kinds
}

impl Kind {
    /// What is added up of two lanes, as a word.
    fn of(self, [x, y]: [u32; 2], exchanged: bool, lanes: Lanes) -> u32 {
        let (bits, [x, y]) = (lanes.bits(), if exchanged { [y, x] } else { [x, y] });
        let word = match self {
            Self::Product(one, other) => value(x, one, bits) * value(y, other, bits),
            Self::SquaredDifference(operation) => i64::from(operation.uncut(x, y, bits)).pow(2),
            Self::Simd(operation) => operation.uncut(x, y, bits).into(),
            Self::Weighted(_) | Self::Square(_) | Self::Told => unreachable!("these are of one lane"),
        };
        low(word)
    }
}

/// A lane as a number.
fn value(lane: u32, sign: Sign, bits: u32) -> i64 {
    match sign {
        Sign::Unsigned => lane.into(),
        Sign::Signed => ((lane << (32 - bits)).cast_signed() >> (32 - bits)).into(),
    }
}

/// The lower bits of a number.
pub(super) fn low(number: i64) -> u32 {
    u32::try_from(number & i64::from(u32::MAX)).expect("it was cut to a word")
}

/// What a function of one or two lanes is: the kind, the weight of a lane, and whether two lanes are in the other order.
pub(super) fn classify(function: &Evaluated, of: usize, lanes: Lanes) -> Option<(Kind, i64, bool)> {
    let samples = &Table::of(lanes).samples;
    let head: [u32; HEAD] = function.results(&samples[..HEAD])?.try_into().expect("each has a result");
    let all = || function.results(samples);
    if of == 1 {
        of_one(&head, samples, lanes)?;
        let (kind, weight) = of_one(&all()?, samples, lanes)?;
        return Some((kind, weight, false));
    }
    let kinds = if lanes == Lanes::Four { &KINDS_OF_BYTES } else { &KINDS_OF_HALVES };
    let likely = kinds.get(&head)?;
    let all = all()?;
    let is = |(kind, exchanged): &&(Kind, bool)| {
        samples.iter().zip(&all).all(|(&pair, &result)| kind.of(pair, *exchanged, lanes) == result)
    };
    let &(kind, exchanged) = likely.iter().find(is)?;
    Some((kind, 0, exchanged))
}

/// What gives these results of one lane, for the first samples, and its weight.
fn of_one(results: &[u32], samples: &[[u32; 2]], lanes: Lanes) -> Option<(Kind, i64)> {
    let bits = lanes.bits();
    let is = |compute: &dyn Fn(i64) -> i64, sign: Sign| {
        let same = |(&result, &[x, _]): (&u32, &[u32; 2])| low(compute(value(x, sign, bits))) == result;
        results.iter().zip(samples).all(same)
    };
    let one = samples.iter().position(|&[x, _]| x == 1).expect("one is among the samples");
    let weight = i64::from(results[one].cast_signed());
    let square = |sign: &Sign| is(&|x| x * x, *sign);
    if let Some(sign) = Sign::ALL.into_iter().find(square).filter(|_| lanes == Lanes::Four) {
        return Some((Kind::Square(sign), 0));
    }
    let sign = Sign::ALL.into_iter().find(|&sign| is(&|x| weight * x, sign))?;
    (weight != 0).then_some((Kind::Weighted(sign), weight))
}
