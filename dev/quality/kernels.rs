//! Whole kernels before and after: what real programs gain.

use crate::assemblers::Assemblers;
use crate::measured::{Bench, Counts};
use crate::modules;
use ptxopt::measure::Comparison;
use ptxopt_passes::cost::Gpu;
use std::path::Path;

/// The kernels of `tests/kernels` that the GPU runs.
///
/// # Errors
///
/// If a kernel is not assembled after it was changed.
pub(crate) fn measure(bench: &Bench) -> Result<Vec<Counts>, String> {
    let assemblers = Assemblers::installed().ok_or("NVIDIA's assemblers are missing")?;
    let assembler = assemblers.version(bench.version);
    let gpu = Gpu::parse(&bench.gpu).ok_or("the table's GPUs are targets")?;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels");
    let mut counts = Vec::new();
    for kernel in modules::below(&folder) {
        let module = ptxopt_grammar::parse(&kernel.text).map_err(|errors| format!("{errors:?}"))?;
        if !Gpu::of(&module).is_some_and(|own| gpu.runs(own)) {
            continue;
        }
        let after = bench.optimised(kernel.text.clone())?;
        let measure = |text: &[u8]| {
            let measured = assembler.assemble(text, &bench.gpu);
            measured.map_err(|error| format!("{}: {error}", kernel.name))
        };
        // Some modules are newer than the assembler.
        let Ok(before) = measure(&kernel.text) else { continue };
        for (function, (before, after)) in Comparison::new(&before, &measure(&after)?).functions {
            let (assembler, ours) = (before.instructions(), after.instructions());
            counts.push(Counts { name: function.clone(), assembler, ours, best: None });
        }
    }
    Ok(counts)
}
