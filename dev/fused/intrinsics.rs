//! The SIMD intrinsics of CUDA, as several compilers spell them, beside what the newest compiler makes of them.

use crate::assemblers::Assemblers;
use crate::jobs::each;
use crate::measured::{Kernel, gpu_of, measure};
use crate::modules::{TestModule, below};
use ptxopt_passes::cost::Gpu;
use std::collections::BTreeMap;
use std::path::Path;

/// The file of the newest compiler for a GPU.
fn newest(gpu: Gpu) -> String {
    format!("nvrtc-13.5-compute_{}", gpu.to_string().trim_start_matches("sm_"))
}

/// What a compiler makes of all intrinsics, on one GPU.
pub(crate) struct Row {
    pub(crate) producer: String,
    /// By intrinsic: machine instructions before, after, and of the newest compiler.
    pub(crate) counts: BTreeMap<String, (u32, u32, u32)>,
}

/// All producers that a GPU can run; none where the newest compiler did not compile for it.
///
/// # Errors
///
/// If a module cannot be measured, by its name.
pub(crate) fn rows(assemblers: &Assemblers, gpu: Gpu) -> Result<Vec<Row>, String> {
    let modules = below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/intrinsics"));
    let one = |module: &TestModule| {
        let measured = gpu_of(&module.text, gpu)
            .filter(|own| *own == gpu)
            .map(|gpu| measure(assemblers, &module.text, gpu))
            .transpose()
            .map_err(|error| format!("{}: {error}", module.name))?;
        Ok(measured.map(|measured| (stem(&module.name), measured.kernels)))
    };
    let all: Result<Vec<_>, String> = each(&modules, one).into_iter().collect();
    let all: BTreeMap<String, BTreeMap<String, Kernel>> = all?.into_iter().flatten().collect();
    let Some(own) = all.get(&newest(gpu)) else { return Ok(Vec::new()) };
    let row = |(producer, kernels): (&String, &BTreeMap<String, Kernel>)| {
        let counts = kernels.iter().map(|(name, kernel)| {
            let newest = own.get(name).map_or(0, |kernel| kernel.before);
            (name.clone(), (kernel.before, kernel.after, newest))
        });
        Row { producer: producer.clone(), counts: counts.collect() }
    };
    Ok(all.iter().map(row).collect())
}

fn stem(path: &str) -> String {
    Path::new(path).file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

impl Row {
    /// The intrinsics that have more instructions than the newest compiler makes of them.
    pub(crate) fn above(&self) -> impl Iterator<Item = (&String, &(u32, u32, u32))> {
        self.counts.iter().filter(|(_, (_, after, newest))| after > newest)
    }

    /// The sums, without what loads, stores and addresses take: `frame` instructions a kernel.
    pub(crate) fn summary(&self, gpu: Gpu, frame: u32) -> String {
        let sum = |count: fn(&(u32, u32, u32)) -> u32| {
            self.counts.values().map(|counts| count(counts).saturating_sub(frame)).sum::<u32>()
        };
        let (before, after, newest) =
            (sum(|counts| counts.0), sum(|counts| counts.1), sum(|counts| counts.2));
        let changed = self.counts.values().filter(|(before, after, _)| before != after).count();
        format!(
            "| {} | {gpu} | {} | {changed} | {before} | {after} | {newest} | {:.3} | {} |",
            self.producer,
            self.counts.len(),
            f64::from(after) / f64::from(newest),
            self.above().count()
        )
    }
}

/// The machine instructions of a kernel that loads two words and stores one.
///
/// # Errors
///
/// If it cannot be assembled.
pub(crate) fn frame(assemblers: &Assemblers, gpu: Gpu) -> Result<u32, String> {
    const KERNEL: &str = ".version 8.8\n.target sm_90\n.address_size 64\n\
        .visible .entry frame(.param .u64 a, .param .u64 b)\n{\n\
        .reg .b64 %a<5>;\n.reg .b32 %r<3>;\nld.param.u64 %a1, [a];\nld.param.u64 %a2, [b];\n\
        cvta.to.global.u64 %a3, %a1;\ncvta.to.global.u64 %a4, %a2;\nld.global.u32 %r1, [%a3];\n\
        ld.global.u32 %r2, [%a3+4];\nadd.u32 %r1, %r1, %r2;\nst.global.u32 [%a4], %r1;\nret;\n}\n";
    let measured = assemblers.measure(KERNEL.as_bytes(), &gpu.to_string());
    let measured = measured.map_err(|failure| failure.to_string())?;
    // All but the addition.
    Ok(measured
        .functions
        .values()
        .map(ptxopt::measure::Function::instructions)
        .sum::<u32>()
        .saturating_sub(1))
}
