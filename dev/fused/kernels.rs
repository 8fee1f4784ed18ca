//! The kernels of `tests/kernels` before and after, beside what they have when they are fused by hand.

use crate::assemblers::Assemblers;
use crate::by_hand;
use crate::jobs::each;
use crate::measured::{Kernel, gpu_of, measure};
use crate::modules::below;
use ptxopt_passes::cost::Gpu;
use std::path::Path;

/// A kernel on a GPU.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) name: String,
    /// Machine instructions before, with loops as they are written.
    pub(crate) before: u32,
    /// And after.
    pub(crate) after: u32,
    /// The same where the assembler may unroll loops.
    pub(crate) unrolled: (u32, u32),
    /// What it has when it is fused by hand, where that is known.
    pub(crate) by_hand: Option<u32>,
}

/// All kernels that the GPU can run, in the order of their names.
///
/// # Errors
///
/// If one cannot be measured, by its name.
pub(crate) fn rows(assemblers: &Assemblers, gpu: Gpu) -> Result<Vec<Row>, String> {
    let modules = below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels"));
    let measured = each(&modules, |module| {
        let Some(gpu) = gpu_of(&module.text, gpu) else { return Ok(Vec::new()) };
        let measured = measure(assemblers, &module.text, gpu);
        let measured = measured.map_err(|error| format!("{}: {error}", module.name))?;
        let row = |(name, kernel): (String, Kernel)| {
            let by_hand = by_hand::count(&name, gpu);
            let Kernel { before, after, unrolled, .. } = kernel;
            Row { name, before, after, unrolled, by_hand }
        };
        Ok(measured.kernels.into_iter().map(row).collect())
    });
    let lists: Result<Vec<Vec<Row>>, String> = measured.into_iter().collect();
    Ok(lists?.into_iter().flatten().collect())
}

/// What holds of all rows together.
pub(crate) fn summary(gpu: Gpu, rows: &[Row]) -> String {
    let changed = rows.iter().filter(|row| row.after != row.before).count();
    let longer = rows.iter().filter(|row| row.after > row.before).count();
    let known = || rows.iter().filter_map(|row| Some((row.after, row.by_hand?)));
    let above = known().filter(|(after, by_hand)| after > by_hand).count();
    format!(
        "| {gpu} | {} | {changed} | {longer} | {:.3} | {:.3} | {} | {above} | {:.3} |",
        rows.len(),
        crate::mean(rows.iter().map(|row| (row.before, row.after))),
        crate::mean(rows.iter().map(|row| row.unrolled)),
        known().count(),
        crate::mean(rows.iter().filter_map(|row| Some((row.before, row.by_hand?)))),
    )
}
