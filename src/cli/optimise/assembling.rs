//! `--measure` and `--keep-better`: optimises, and measures the result with NVIDIA's assembler.
//!
//! With `--keep-better`, the module is optimised again without the functions that got worse, until none is worse. A
//! function without rewrites can still be worse if another was inlined into it; then the whole module is left
//! unchanged. Each run excludes more functions than the one before, so this terminates. The result depends only on the
//! input, the options and the assembler.

use crate::measure::{Assembler, Comparison, Failure, architecture};
use ptxopt_grammar::tree::Module;
use ptxopt_passes::cost::Gpu;
use ptxopt_passes::graph::functions;
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
    pub(super) comparison: Comparison,
    /// The GPU that the module was assembled for.
    pub(super) gpu: String,
    /// What the assembler says if it accepts the input but rejects the output; then nothing was changed.
    pub(super) refused: Option<Failure>,
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
    ) -> Result<(Outcome, Count), Failure> {
        let none = || Failure::Broken("its `.target` is not a GPU of NVIDIA".to_owned());
        let own = Gpu::of(module).ok_or_else(none)?;
        let gpu = architecture(own, options.gpu);
        let before = self.assembler.assemble(module.text(), &gpu)?;
        let mut options = options.clone();
        let mut refused = None;
        let (outcome, comparison) = loop {
            let outcome = optimise(&options);
            let after = match &outcome.text {
                None => before.clone(),
                Some(text) => match self.assembler.assemble(text, &gpu) {
                    Ok(after) => after,
                    Err(error @ Failure::Refused(_)) => {
                        refused = Some(error);
                        leave_all(module, &mut options, "the assembler rejects the result");
                        continue;
                    }
                    Err(error) => return Err(error),
                },
            };
            let comparison = Comparison::new(&before, &after);
            let changed = outcome.text.is_some();
            if !(self.keep_better && changed && leave_worse(module, &comparison, &mut options)) {
                break (outcome, comparison);
            }
        };
        Ok((outcome, Count { comparison, gpu, refused }))
    }
}

/// Excludes the functions that got worse from the next run; returns whether there were any.
fn leave_worse(module: &Module<'_>, comparison: &Comparison, options: &mut Options) -> bool {
    let worse = comparison.worse();
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
