//! Optimises, and measures the result with NVIDIA's assembler: for `--measure`, `--keep-better` and build scripts.
//!
//! Where what is better is kept, the module is optimised again without the functions that got worse, until none is worse
//! (`leave.rs`). The result depends only on the input, the options and the assembler.

use super::{Assembler, AssemblerFailure, Comparison, Leave, Measured, architecture, rolled};
use ptxopt_grammar::function::functions;
use ptxopt_grammar::tree::Module;
use ptxopt_passes::cost::Gpu;
use ptxopt_passes::optimiser::{Options, Outcome};

/// What was asked for.
#[derive(Debug)]
pub(crate) struct Assembling {
    pub(crate) assembler: Assembler,
    /// Whether functions that got worse are left unchanged.
    pub(crate) keep_better: bool,
}

/// What was counted.
#[derive(Debug)]
pub(crate) struct Count {
    /// For each GPU that the module was assembled for.
    pub(crate) comparisons: Vec<(String, Comparison)>,
    /// What the assembler says if it accepts the input but rejects the output; then nothing was changed.
    pub(crate) refused: Option<AssemblerFailure>,
    /// What is to be said of functions that got longer and were changed.
    pub(crate) notes: Vec<String>,
}

impl Assembling {
    /// Optimises by `optimise`, with the options that it is given, and measures.
    ///
    /// # Errors
    ///
    /// If the assembler cannot be run or rejects the input.
    pub(crate) fn run(
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
        let mut leave = Leave::default();
        let mut refused = None;
        let (outcome, comparisons) = loop {
            let outcome = optimise(&leaving(options, &leave, module));
            let after = match &outcome.text {
                None => before.clone(),
                Some(text) => match all(text) {
                    Ok(after) => after,
                    Err(error @ AssemblerFailure::Refused(_)) => {
                        refused = Some(error);
                        leave.all = Some("the assembler rejects the result");
                        continue;
                    }
                    Err(error) => return Err(error),
                },
            };
            let comparisons = compared(&before, &after);
            let Some(text) = outcome.text.as_deref() else { break (outcome, comparisons) };
            let as_written = || {
                let Some((before, after)) = rolled(module.text()).zip(rolled(text)) else {
                    return Ok(Vec::new());
                };
                match all(&before).and_then(|before| Ok(compared(&before, &all(&after)?))) {
                    Err(AssemblerFailure::Refused(_)) => Ok(Vec::new()),
                    compared => compared,
                }
            };
            if !(leave.worse(&comparisons, as_written)? && self.keep_better) {
                break (outcome, comparisons);
            }
        };
        let comparisons = gpus.into_iter().zip(comparisons).collect();
        Ok((outcome, Count { comparisons, refused, notes: leave.notes().collect() }))
    }
}

/// What was measured before and after, GPU by GPU.
fn compared(before: &[Measured], after: &[Measured]) -> Vec<Comparison> {
    before.iter().zip(after).map(|(before, after)| Comparison::new(before, after)).collect()
}

/// The options without the functions that are left.
fn leaving(options: &Options, leave: &Leave, module: &Module<'_>) -> Options {
    let mut options = options.clone();
    let named = leave.functions.iter().map(|(name, why)| (name.clone(), why.clone()));
    let all = leave
        .all
        .into_iter()
        .flat_map(|why| functions(module).into_iter().map(move |function| (function.name, why.to_owned())));
    for (name, why) in named.chain(all) {
        options.leave.entry(name).or_insert(why);
    }
    options
}
