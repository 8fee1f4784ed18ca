//! `--measure` and `--keep-better`: optimises, and measures the result with NVIDIA's assembler.
//!
//! With `--keep-better`, the module is optimised again without the functions that got worse, until none is worse. A
//! function without rewrites can still be worse if another was inlined into it; then the whole module is left
//! unchanged. Each run excludes more functions than the one before, so this terminates. The result depends only on the
//! input, the options and the assembler.

use crate::measure::{Assembler, AssemblerFailure, Comparison, Measured, architecture};
use ptxopt_grammar::function::functions;
use ptxopt_grammar::tree::Module;
use ptxopt_passes::cost::Gpu;
use ptxopt_passes::optimiser::{Options, Outcome};

/// What was asked for.
#[derive(Debug)]
pub(super) struct Assembling {
    pub(super) assembler: Assembler,
    /// Whether functions that got worse are left unchanged.
    pub(super) keep_better: bool,
}

/// What was counted.
#[derive(Debug)]
pub(super) struct Count {
    /// For each GPU that the module was assembled for.
    pub(super) comparisons: Vec<(String, Comparison)>,
    /// What the assembler says if it accepts the input but rejects the output; then nothing was changed.
    pub(super) refused: Option<AssemblerFailure>,
}

impl Assembling {
    /// Optimises by `optimise`, with the options that it is given, and measures.
    ///
    /// # Errors
    ///
    /// If the assembler cannot be run or rejects the input.
    pub(super) fn run(
        &self,
        module: &Module<'_>,
        options: &Options,
        optimise: &mut dyn FnMut(&Options) -> Outcome,
    ) -> Result<(Outcome, Count), AssemblerFailure> {
        let none = || AssemblerFailure::Broken("its `.target` is not a GPU of NVIDIA".to_owned());
        let own = Gpu::of(module).ok_or_else(none)?;
        let mut gpus: Vec<String> = options.gpus.iter().map(|&gpu| architecture(own, Some(gpu))).collect();
        if gpus.is_empty() {
            gpus.push(architecture(own, None));
        }
        let all = |text: &[u8]| -> Result<Vec<Measured>, AssemblerFailure> {
            gpus.iter().map(|gpu| self.assembler.assemble(text, gpu)).collect()
        };
        let before = all(module.text())?;
        let mut options = options.clone();
        let mut refused = None;
        let (outcome, comparisons) = loop {
            let outcome = optimise(&options);
            let after = match &outcome.text {
                None => before.clone(),
                Some(text) => match all(text) {
                    Ok(after) => after,
                    Err(error @ AssemblerFailure::Refused(_)) => {
                        refused = Some(error);
                        leave_all(module, &mut options, "the assembler rejects the result");
                        continue;
                    }
                    Err(error) => return Err(error),
                },
            };
            let comparisons: Vec<Comparison> =
                before.iter().zip(&after).map(|(before, after)| Comparison::new(before, after)).collect();
            let changed = outcome.text.is_some();
            if !(self.keep_better && changed && leave_worse(module, &comparisons, &mut options)) {
                break (outcome, comparisons);
            }
        };
        let comparisons = gpus.into_iter().zip(comparisons).collect();
        Ok((outcome, Count { comparisons, refused }))
    }
}

/// Excludes the functions that got worse on any GPU from the next run; returns whether there were any.
fn leave_worse(module: &Module<'_>, comparisons: &[Comparison], options: &mut Options) -> bool {
    let worse: Vec<_> = comparisons.iter().flat_map(Comparison::worse).collect();
    if worse.is_empty() {
        return false;
    }
    let known = options.leave.len();
    for (name, worse) in worse {
        options.leave.entry(name).or_insert_with(|| format!("it would get worse: {worse}"));
    }
    if options.leave.len() == known {
        leave_all(module, options, "a function into which it is inlined would get worse");
    }
    true
}

fn leave_all(module: &Module<'_>, options: &mut Options, why: &str) {
    for function in functions(module) {
        options.leave.entry(function.name).or_insert_with(|| why.to_owned());
    }
}
