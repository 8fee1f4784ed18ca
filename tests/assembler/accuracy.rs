//! The accuracy that ptxopt states for its estimates is right: the table that it quotes is measured again.

use crate::gains::{Measurer, rows};
use crate::modules::corpus;
use crate::ptxas::Assemblers;
use ptxopt::measure::accuracy::{self, Row};

/// How much of a number may have changed, in per cent, before it must be written again: a rule that does a little more
/// need not change what users are told.
const TOLERANCE: u64 = 2;
/// And how many machine instructions.
const A_FEW: u64 = 20;

/// Whether a number that users are told is near enough to what was measured.
pub(crate) fn is_near(told: u64, measured: u64) -> bool {
    told.abs_diff(measured) <= (measured * TOLERANCE / 100).max(A_FEW)
}

#[test]
fn estimates_are_as_good_as_ptxopt_says() {
    let Some(assemblers) = Assemblers::find() else { return };
    let measured = rows(&Measurer::new(assemblers.measuring()), &corpus());
    let told = accuracy::rows();
    let names = |rows: &[Row]| rows.iter().map(|row| (row.producer.clone(), row.modules)).collect::<Vec<_>>();
    assert_eq!(names(&told), names(&measured), "{AGAIN}");
    for (told, measured) in told.iter().zip(&measured) {
        println!("{told:?}, now {measured:?}");
        assert!(
            is_near(told.estimated, measured.estimated)
                && is_near(told.counted.unsigned_abs(), measured.counted.unsigned_abs()),
            "told {told:?}, measured {measured:?}: {AGAIN}"
        );
    }
}

const AGAIN: &str = "`cargo run --release --example gains -- --write` measures again";
