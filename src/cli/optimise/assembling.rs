//! `--measure` and `--keep-better`: optimises, and has NVIDIA's assembler say what came of it.
//!
//! With `--keep-better`, functions that got worse are left alone in another run, until none is worse. A function that is
//! left alone can still be worse if another was inlined into it; then nothing of the module is changed. So each run
//! leaves more functions alone than the one before, and there is a last run. The result depends on the input, the
//! options and the assembler alone.

use crate::measure::{Assembler, Comparison, Failure, architecture};
use ptxopt_grammar::tree::Module;
use ptxopt_passes::cost::Gpu;
use ptxopt_passes::graph::functions;
use ptxopt_passes::optimiser::{Options, Outcome};

/// What was asked for.
#[derive(Debug)]
pub(super) struct Assembling {
    pub(super) assembler: Assembler,
    /// Whether functions that got worse are left alone.
    pub(super) keep_better: bool,
}

/// What was counted.
#[derive(Debug)]
pub(super) struct Count {
    pub(super) comparison: Comparison,
    /// The GPU that it was assembled for.
    pub(super) gpu: String,
    /// What the assembler says of an output that it does not take, though it takes the input; then nothing was changed.
    pub(super) refused: Option<Failure>,
}

impl Assembling {
    /// Optimises by `optimise`, with the options that it is given, and measures.
    ///
    /// # Errors
    ///
    /// What the assembler says if it cannot be run or does not take the input.
    pub(super) fn run(
        &self,
        module: &Module<'_>,
        options: &Options,
        optimise: &mut dyn FnMut(&Options) -> Outcome,
    ) -> Result<(Outcome, Count), Failure> {
        let none = || Failure::Broken("its `.target` is no GPU of NVIDIA's".to_owned());
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
                        leave_all(module, &mut options, "the assembler does not take the result");
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

/// Leaves alone what got worse, and says whether anything did.
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
        leave_all(module, options, "it would make a function worse into which it is inlined");
    }
    true
}

fn leave_all(module: &Module<'_>, options: &mut Options, why: &str) {
    for function in functions(module) {
        options.leave.entry(function.name).or_insert_with(|| why.to_owned());
    }
}
