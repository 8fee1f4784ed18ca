//! A module before and after, kernel by kernel: machine instructions, and which rules had a part in it.

use crate::assemblers::Assemblers;
use ptxopt::measure::{Comparison, Function, architecture, rolled};
use ptxopt_grammar::gpu::Suffix;
use ptxopt_passes::cost::Gpu;
use ptxopt_passes::optimiser::{How, Kind, Options, Outcome, Raise, optimise};
use ptxopt_passes::rules::{Pass, Rule, rules};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// A kernel.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kernel {
    /// Machine instructions before, with loops as they are written.
    pub(crate) before: u32,
    /// And after.
    pub(crate) after: u32,
    /// Before and after where the assembler may unroll loops: it unrolls more often what got shorter.
    pub(crate) unrolled: (u32, u32),
    /// The rules that joined operations on parts of words.
    pub(crate) fused: BTreeSet<&'static str>,
    /// Other rules of which rewrites were proved.
    pub(crate) others: BTreeSet<&'static str>,
    /// Why something that was proposed was not written, in one word of the remarks.
    pub(crate) reason: Option<&'static str>,
}

impl Kernel {
    /// Whether bytes or halves were fused, and that made it shorter.
    pub(crate) fn is_fused(&self) -> bool {
        !self.fused.is_empty() && self.after < self.before
    }
}

/// What became of a module.
pub(crate) struct Measured {
    /// Its kernels by name.
    pub(crate) kernels: BTreeMap<String, Kernel>,
    /// How long it took to optimise it, in seconds.
    pub(crate) seconds: f64,
}

/// The GPU for which a module is measured when one is asked for: that one if it can run the module, or else the
/// module's own if it is of a family, which no other GPU can run; `None` if the GPU is older than the module.
pub(crate) fn gpu_of(text: &[u8], asked: Gpu) -> Option<Gpu> {
    let module = ptxopt_grammar::parse(text).ok()?;
    let own = Gpu::of(&module)?;
    if asked.runs(own) { Some(asked) } else { (own.suffix() != Suffix::Portable).then_some(own) }
}

/// Optimises a module for a GPU, as far as that GPU allows, and has it assembled before and after.
///
/// # Errors
///
/// If it is not legal, the optimiser found a bug of its own, or the assembler rejects the module before or after.
pub(crate) fn measure(assemblers: &Assemblers, text: &[u8], gpu: Gpu) -> Result<Measured, String> {
    let module = ptxopt_grammar::parse(text).map_err(|errors| format!("{errors:?}"))?;
    let own = Gpu::of(&module).ok_or("the module names no target")?;
    let began = Instant::now();
    let options =
        Options { gpus: vec![gpu], raise: Raise { target: true, ..Raise::default() }, ..Options::default() };
    let outcome = optimise(&module, &options, &|| began.elapsed());
    let seconds = began.elapsed().as_secs_f64();
    if let Some(bug) = outcome.records.iter().find(|record| record.kind.is_bug()) {
        return Err(format!("a bug of the optimiser in `{}`: {:?}", bug.function, bug.kind));
    }
    let target = architecture(own, Some(gpu));
    let counted = |text: &[u8]| assemblers.measure(text, &target).map_err(|failure| failure.to_string());
    let after = outcome.text.as_deref().unwrap_or(text);
    let as_written = |text: &[u8]| counted(&rolled(text).expect("it is a module"));
    let written = Comparison::new(&as_written(text)?, &as_written(after)?);
    let unrolled = Comparison::new(&counted(text)?, &counted(after)?);
    let joining = joining();
    let kernels = written.functions.into_iter().map(|(name, pair)| {
        let counts = |(before, after): &(Function, Function)| (before.instructions(), after.instructions());
        let (before, after) = counts(&pair);
        let unrolled = unrolled.functions.get(&name).map_or((before, after), counts);
        let kernel = Kernel { before, after, unrolled, ..said(&outcome, &joining, &name) };
        (name, kernel)
    });
    Ok(Measured { kernels: kernels.collect(), seconds })
}

/// The rule of `simplify` that makes one move of several.
const MOVES: &str = "one-move";

/// The rules that join operations on parts of words, by name: those that recognise them and those of merges and moves.
/// Others are about single instructions.
fn joining() -> BTreeSet<&'static str> {
    let joins = |rule: &&Rule| matches!(rule.pass, Pass::Fuse | Pass::Mask) || rule.name == MOVES;
    rules().filter(joins).map(|rule| rule.name).collect()
}

/// What the records say about a kernel.
fn said(outcome: &Outcome, joining: &BTreeSet<&str>, name: &str) -> Kernel {
    let mut kernel = Kernel::default();
    for record in outcome.records.iter().filter(|record| record.function == name) {
        let joins = |rule: &&&'static str| joining.contains(**rule) || record.pass == Pass::Fuse;
        match &record.kind {
            Kind::Passed(how) => {
                kernel.fused.extend(record.rules.iter().filter(joins));
                if matches!(how, How::Proved(_)) {
                    kernel.others.extend(record.rules.iter().filter(|rule| !joins(rule)));
                }
            }
            Kind::Missed(why) if why.is_near() && !why.is_general() => {
                // A reason about fusing is worth more than one about a single instruction.
                if kernel.reason.is_none() || record.rules.iter().any(|rule| joins(&rule)) {
                    kernel.reason = Some(why.name());
                }
            }
            Kind::Missed(_)
            | Kind::Wrong(_)
            | Kind::Diverged(_)
            | Kind::Misplaced(_)
            | Kind::Illegal(_)
            | Kind::Unending(_) => {}
        }
    }
    kernel
}
