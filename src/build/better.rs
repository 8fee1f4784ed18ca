//! Where NVIDIA's assembler is at hand, functions that would get worse are left as they were.
//!
//! An assembler is never needed: where there is none, or it rejects the file as it came, since it is older than the file
//! for instance, what was proved is kept as it is.

use crate::library::{self, Options, Outcome, Refusal, TIMELESS};
use crate::measure::{Assembler, AssemblerFailure, Assembling, KEEP, STARTED, VARIABLE};
use std::ffi::OsString;

/// The assembler that there is, and, where one was asked for that cannot be used, why.
pub(super) fn assembling(
    variable: &dyn Fn(&str) -> Option<OsString>,
) -> (Option<Assembling>, Option<AssemblerFailure>) {
    // A script that was started in place of an assembler may be what is named as one, and would start itself for ever.
    let is_started = variable(STARTED).is_some();
    if is_started || variable(KEEP).is_some_and(|value| value == "always") {
        return (None, None);
    }
    let is_asked_for = variable(VARIABLE).is_some_and(|value| !value.is_empty());
    match Assembler::search(None, variable) {
        Ok(assembler) => (Some(Assembling { assembler, keep_better: true }), None),
        Err(failure) => (None, Some(failure).filter(|_| is_asked_for)),
    }
}

/// As [`optimize`](crate::optimize) does; with an assembler, without the functions that would get worse. If the assembler
/// takes the file and not what was made of it, nothing is changed, and what it says is the second part.
pub(super) fn outcome(
    text: &[u8],
    options: &Options,
    assembling: Option<&Assembling>,
) -> Result<(Outcome, Option<AssemblerFailure>), Refusal> {
    let mut refused = None;
    let outcome = library::outcome_by(text, options, |accepted, options| {
        let optimise = |options: &_| accepted.optimise(options, TIMELESS, None);
        let first = optimise(options);
        let Some(assembling) = assembling.filter(|_| first.text.is_some()) else { return first };
        // The first time, it asks for what is there already.
        let mut made = Some(first);
        let mut again = |options: &_| made.take().unwrap_or_else(|| optimise(options));
        match assembling.run(&accepted.module, options, &mut again) {
            Ok((outcome, count)) => {
                refused = count.refused;
                outcome
            }
            Err(_) => again(options),
        }
    })?;
    Ok((outcome, refused))
}
