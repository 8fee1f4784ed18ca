//! The library: a text in, a cheaper text out, for programs that generate or load PTX.
//!
//! The command reads, optimises and reports through the same two steps, [`accept`] and [`Accepted::optimise`], and adds
//! only what needs files, clocks and terminals. So what is true of one is true of the other.

mod diagnostics;
mod options;
mod outcome;
mod remark;

pub use diagnostics::{Diagnostic, Diagnostics, DiagnosticsKind};
pub use options::{Options, UnknownName};
pub use outcome::{Counts, Outcome};
pub use remark::{Remark, RemarkKind};

pub(crate) use diagnostics::Refusal;
#[cfg(feature = "cli")]
pub(crate) use remark::verdict;

use crate::foreign;
use ptxopt_grammar::diagnostic::Diagnostic as Found;
use ptxopt_grammar::gpu::Gpu;
use ptxopt_grammar::tree::Module;
use ptxopt_passes::optimiser::{self, Clock, Watch};
use std::time::Duration;

/// Makes a module cheaper: its video instructions and byte-wise code become shorter on the GPU that will run them.
///
/// Every rewrite is proved for all inputs, and every function that changed is run before and after on the same inputs;
/// what is not rewritten stays as it is, byte for byte. The same text and options always give the same result.
/// Nothing is read or written, and no clock is asked.
///
/// A module without video instructions or byte-wise code takes about as long as reading it does, some fifteen
/// microseconds for a kernel of ten lines. One that has such code takes up to some milliseconds even where none of it
/// is rewritten; a module in which something is proved takes up to some twenty, the first one in a process up to thirty.
///
/// # Errors
///
/// If the text is not PTX, or code for its `.target` does not run on a GPU that was asked for. Whoever only wants the
/// cheaper text goes on with the one that they have.
///
/// # Panics
///
/// Only on a bug of ptxopt that its own checks did not catch.
///
/// A thread with less than 512 KiB of stack may end the process: without optimisation (`opt-level = 0`), up to 192 KiB
/// are used for the modules of ptxopt's tests. The threads of Rust's standard library have 2 MiB.
///
/// # Examples
///
/// ```
/// use ptxopt::{Options, optimize};
///
/// let text = b".version 8.0
/// .target sm_90
/// .address_size 64
/// .visible .entry average(.param .u64 words)
/// {
///     .reg .b32 %r<4>;
///     .reg .b64 %rd<2>;
///     ld.param.u64 %rd1, [words];
///     ld.global.u32 %r1, [%rd1];
///     ld.global.u32 %r2, [%rd1+4];
///     vavrg4.u32.u32.u32 %r3, %r1, %r2, %r1;
///     st.global.u32 [%rd1], %r3;
///     ret;
/// }
/// ";
/// let outcome = optimize(text, &Options::new())?;
/// let new = outcome.text.as_deref().unwrap_or(text);
/// assert!(!String::from_utf8_lossy(new).contains("vavrg4"));
/// assert_eq!(outcome.counts.rewritten, 1);
/// assert!(outcome.counts.estimated_saving > 20);
/// # Ok::<(), ptxopt::Diagnostics>(())
/// ```
pub fn optimize(text: &[u8], options: &Options) -> Result<Outcome, Diagnostics> {
    outcome(text, options).map_err(|refusal| Diagnostics::new(text, refusal))
}

/// The clock of callers who do not ask how long it takes.
pub(crate) const TIMELESS: Clock<'_> = &|| Duration::ZERO;

/// As [`optimize`], for callers who show the refusal in their own way.
pub(crate) fn outcome(text: &[u8], options: &Options) -> Result<Outcome, Refusal> {
    outcome_by(text, options, |accepted, options| accepted.optimise(options, TIMELESS, None))
}

/// The same for callers who optimise in their own way.
pub(crate) fn outcome_by(
    text: &[u8],
    options: &Options,
    optimise: impl FnOnce(&Accepted<'_>, &optimiser::Options) -> optimiser::Outcome,
) -> Result<Outcome, Refusal> {
    let accepted = accept(text, &options.optimiser.gpus, options.strict)?;
    let outcome = optimise(&accepted, &options.optimiser);
    Ok(Outcome::new(&accepted, outcome))
}

/// A module that may be optimised.
pub(crate) struct Accepted<'t> {
    pub(crate) module: Module<'t>,
    /// What in it is unknown.
    pub(crate) warnings: Vec<Found>,
}

/// Reads a text, and refuses what cannot be optimised as asked.
pub(crate) fn accept<'t>(text: &'t [u8], gpus: &[Gpu], strict: bool) -> Result<Accepted<'t>, Refusal> {
    let module = read(text)?;
    refuse_older(&module, gpus)?;
    let warnings = module.warnings();
    if strict && !warnings.is_empty() {
        Err(Refusal::Wrong(warnings))
    } else {
        Ok(Accepted { module, warnings })
    }
}

impl Accepted<'_> {
    /// Optimises it; `watch` is shown the number and the text of every round that changed something.
    pub(crate) fn optimise(
        &self,
        options: &optimiser::Options,
        clock: Clock<'_>,
        watch: Option<Watch<'_>>,
    ) -> optimiser::Outcome {
        optimiser::optimise_watched(&self.module, options, clock, watch)
    }
}

/// Parses a text.
pub(crate) fn read(text: &[u8]) -> Result<Module<'_>, Refusal> {
    ptxopt_grammar::parse(text).map_err(|wrong| match foreign::recognise(text) {
        None => Refusal::Wrong(wrong),
        Some(foreign) => Refusal::Foreign(foreign),
    })
}

/// Refuses a GPU on which code for the module's target does not run.
pub(crate) fn refuse_older(module: &Module<'_>, gpus: &[Gpu]) -> Result<(), Refusal> {
    let Some(target) = Gpu::of(module) else { return Ok(()) };
    let older = gpus.iter().find(|gpu| !gpu.runs(target));
    older.map_or(Ok(()), |&gpu| Err(Refusal::Older { target, gpu }))
}

#[cfg(test)]
mod tests;
