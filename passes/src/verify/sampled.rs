//! A first look: both sides evaluated on corner cases and seeded inputs, the same ones every time.
//!
//! It finds most wrong rewrites in microseconds, and proves nothing.

use ptxopt_grammar::meaning::concrete::evaluate;
use ptxopt_grammar::meaning::term::ones;
use ptxopt_prover::{Assumption, Query};

/// How many inputs the evaluator tries.
const SAMPLES: u64 = 24;

/// The bits in which both sides differ on one of the inputs that are tried.
pub(super) fn sampled(query: &Query<'_>, inputs: &[u32]) -> Option<u128> {
    const CORNERS: [u128; 8] = [
        0,
        u128::MAX,
        0x8080_8080_8080_8080,
        0x7f7f_7f7f_7f7f_7f7f,
        0x0101_0101_0101_0101,
        0x8000_0000_8000_0000,
        0x7fff_ffff_7fff_ffff,
        0xff00_ff00_ff00_ff00,
    ];
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state ^ state >> 29
    };
    let demanded = query.demanded.first().copied().unwrap_or(u128::MAX);
    for sample in 0..SAMPLES {
        let value = |(number, &width): (u32, &u32)| {
            let random = u128::from(next()) << 64 | u128::from(next());
            let pick = usize::try_from(random >> 80 & 7).expect("three bits");
            let value = if sample % 3 == 0 { CORNERS[pick] } else { random };
            let assumption = query.assumptions.get(&number).unwrap_or(&Assumption::NONE);
            moved(value & ones(width), assumption)
        };
        let values: Vec<u128> = (0..).zip(inputs).map(value).collect();
        let admitted = query.assumptions.iter().all(|(&number, assumption)| {
            let at = number as usize;
            assumption.admits(values[at], inputs[at])
        });
        if !admitted {
            continue;
        }
        let results = evaluate(query.terms, &[query.before[0], query.after[0]], &values);
        let difference = (results[0] ^ results[1]) & demanded;
        if difference != 0 {
            return Some(difference);
        }
    }
    None
}

/// The value moved to where it is as assumed, as far as that is easy.
fn moved(value: u128, assumption: &Assumption) -> u128 {
    let value = value & !assumption.known | assumption.value & assumption.known;
    match assumption.unsigned {
        // The corners stay what they are: the greatest value is one of them.
        Some((low, high)) => value.clamp(low, high),
        None => value,
    }
}
