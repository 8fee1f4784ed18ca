//! Idioms of byte-wise code, and kernels of real programs, in the spellings of several producers.
//!
//! `tests/corpus/make.py idioms` compiles the same sources with several compilers; hand-written modules stand beside
//! theirs. A kernel is called `IDIOM__SPELLING`; those of `real` have no spellings, and those of `near` are nearly
//! idioms, so that not all of their lanes can be fused.

use crate::assemblers::Assemblers;
use crate::by_hand;
use crate::jobs::each;
use crate::measured::{Kernel, Measured, gpu_of, measure};
use crate::modules::{TestModule, below};
use crate::reasons::Reason;
use ptxopt_passes::cost::Gpu;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

/// The tables: their titles, and the names of the modules that they are about; the first is about all others.
pub(crate) const TABLES: [(&str, &str); 3] =
    [("Idioms", ""), ("Kernels of real programs", "real"), ("Near misses", "near")];

/// All kernels of one kind.
#[derive(Default)]
pub(crate) struct Table {
    /// By kernel, and then by producer.
    rows: BTreeMap<String, BTreeMap<String, Kernel>>,
    /// The modules, and how many seconds each took.
    pub(crate) seconds: Vec<(String, f64)>,
}

/// The tables of [`TABLES`], for a GPU.
///
/// # Errors
///
/// If a module cannot be measured, by its name.
pub(crate) fn tables(assemblers: &Assemblers, gpu: Gpu) -> Result<[Table; TABLES.len()], String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/idioms");
    let modules = below(&folder);
    let mut tables = <[Table; TABLES.len()]>::default();
    for result in each(&modules, |module| one(assemblers, module, gpu)) {
        let Some((name, producer, measured)) = result? else { continue };
        let table = &mut tables[TABLES.iter().position(|(_, of)| *of == name).unwrap_or_default()];
        table.seconds.push((format!("{producer} {name}"), measured.seconds));
        for (kernel, counts) in measured.kernels {
            table.rows.entry(kernel).or_default().insert(producer.clone(), counts);
        }
    }
    Ok(tables)
}

/// The name of a module, who produced it, and what was measured.
type One = Option<(String, String, Measured)>;

fn one(assemblers: &Assemblers, module: &TestModule, gpu: Gpu) -> Result<One, String> {
    let Some(gpu) = gpu_of(&module.text, gpu) else { return Ok(None) };
    let measured =
        measure(assemblers, &module.text, gpu).map_err(|error| format!("{}: {error}", module.name))?;
    let path = Path::new(&module.name);
    let part = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    let producer = part(path.parent().and_then(Path::file_name));
    let file = part(path.file_name());
    let file = file.trim_end_matches(".gz").trim_end_matches(".ptx");
    let (name, target) = file.rsplit_once(".sm_").unwrap_or((file, ""));
    let producer = if target.is_empty() { producer } else { format!("{producer} sm_{target}") };
    Ok(Some((name.to_owned(), producer, measured)))
}

impl Table {
    /// All producers, in the order of their names.
    pub(crate) fn producers(&self) -> BTreeSet<&str> {
        self.rows.values().flat_map(|row| row.keys().map(String::as_str)).collect()
    }

    /// All kernels of all producers.
    pub(crate) fn cells(&self) -> impl Iterator<Item = (&str, &str, &Kernel)> {
        self.rows.iter().flat_map(|(name, row)| {
            row.iter().map(move |(producer, kernel)| (name.as_str(), producer.as_str(), kernel))
        })
    }

    /// The fewest instructions of any spelling of the idiom by producers for the same GPU, to see what is left to do.
    pub(crate) fn fewest(&self, name: &str, producer: &str) -> u32 {
        let same = |(other, by, _): &(&str, &str, &Kernel)| {
            idiom(other) == idiom(name) && is_family(by) == is_family(producer)
        };
        self.cells().filter(same).map(|(.., kernel)| kernel.after).min().unwrap_or_default()
    }

    /// Whether a kernel was left as it is and is as short as any spelling of its idiom that was fused.
    fn is_shortest(&self, name: &str, producer: &str, kernel: &Kernel) -> bool {
        let fewest = self.fewest(name, producer);
        let fused = |(other, by, cell): (&str, &str, &Kernel)| {
            idiom(other) == idiom(name) && is_family(by) == is_family(producer) && cell.is_fused()
        };
        !kernel.is_fused()
            && kernel.before <= fewest
            && kernel.after == kernel.before
            && self.cells().any(fused)
    }

    /// One line for each producer.
    pub(crate) fn summary(&self) -> Vec<String> {
        let line = |producer: &str| {
            let cells: Vec<&Kernel> =
                self.cells().filter(|(_, by, _)| *by == producer).map(|(.., kernel)| kernel).collect();
            let fused = cells.iter().filter(|kernel| kernel.is_fused()).count();
            let own = self.cells().filter(|(_, by, _)| *by == producer);
            let shortest = own.filter(|(name, by, kernel)| self.is_shortest(name, by, kernel)).count();
            let longer = cells.iter().filter(|kernel| kernel.after > kernel.before).count();
            let sum = |count: fn(&Kernel) -> u32| cells.iter().map(|kernel| count(kernel)).sum::<u32>();
            format!(
                "| {producer} | {} | {fused} | {shortest} | {longer} | {} | {} | {:.3} |",
                cells.len(),
                sum(|kernel| kernel.before),
                sum(|kernel| kernel.after),
                crate::mean(cells.iter().map(|kernel| (kernel.before, kernel.after)))
            )
        };
        self.producers().into_iter().map(line).collect()
    }

    /// The table in Markdown, with the numbers of reasons that were written by hand, and the counts of what was fused by
    /// hand for the GPU.
    pub(crate) fn markdown(&self, reasons: &[Reason], gpu: Gpu) -> String {
        let producers = self.producers();
        let by_hand = self.rows.keys().any(|name| by_hand::count(name, gpu).is_some());
        let last = by_hand.then_some("fused by hand");
        let heads: Vec<&str> = producers.iter().copied().chain(last).collect();
        let mut out = format!("| | {} |\n|---|{}\n", heads.join(" | "), "---|".repeat(heads.len()));
        for (name, row) in &self.rows {
            let cells = producers.iter().map(|producer| {
                let kernel = row.get(*producer);
                kernel.map_or_else(String::new, |kernel| match self.is_shortest(name, producer, kernel) {
                    true => format!("{} *shortest*", kernel.before),
                    false => cell(kernel, reasons, name, producer),
                })
            });
            let count = || by_hand::count(name, gpu).map_or_else(String::new, |count| count.to_string());
            let cells: Vec<String> = cells.chain(by_hand.then(count)).collect();
            writeln!(out, "| `{name}` | {} |", cells.join(" | ")).expect("a string can be written to");
        }
        out
    }
}

/// What the spellings of an idiom have in common.
fn idiom(name: &str) -> &str {
    name.split("__").next().unwrap_or_default()
}

/// Whether a producer's code is for a family of GPUs, on which it is measured.
fn is_family(producer: &str) -> bool {
    producer.ends_with('f')
}

/// `33 → 20 lanes`, or `33` and why not; with what the assembler makes of it where that is longer.
fn cell(kernel: &Kernel, reasons: &[Reason], name: &str, producer: &str) -> String {
    let Kernel { before, after, unrolled, fused, others, reason } = kernel;
    let mut counts = if before == after { before.to_string() } else { format!("{before} → {after}") };
    if unrolled.1 > unrolled.0 {
        write!(counts, " (unrolled {} → {})", unrolled.0, unrolled.1).expect("a string can be written to");
    }
    if kernel.is_fused() {
        let rules: Vec<&str> = fused.iter().copied().collect();
        return format!("{counts} {}", rules.join(", "));
    }
    if after < before {
        let rules: Vec<&str> = others.iter().copied().collect();
        return format!("{counts} (by {})", rules.join(", "));
    }
    let by_hand = reasons.iter().position(|reason| reason.is_about(name, producer));
    match (by_hand, reason) {
        (Some(at), _) => format!("{counts} ({})", at + 1),
        (None, Some(reason)) => format!("{counts} *{reason}*"),
        (None, None) => format!("{counts} *unseen*"),
    }
}
