//! The page about what is fused, and what is to be said about it that is not on the page.

use crate::assemblers::Assemblers;
use crate::idioms::{TABLES, Table, tables};
use crate::intrinsics;
use crate::kernels;
use crate::reasons::Reason;
use ptxopt_passes::cost::Gpu;
use std::collections::BTreeSet;
use std::fmt::Write;

/// All that was measured for a GPU.
pub(crate) struct Section {
    gpu: Gpu,
    tables: [Table; TABLES.len()],
    kernels: Vec<kernels::Row>,
    intrinsics: Vec<intrinsics::Row>,
    /// The instructions of a kernel that computes nothing.
    frame: u32,
}

impl Section {
    /// Nothing.
    pub(crate) fn of(gpu: Gpu) -> Self {
        let tables = <[Table; TABLES.len()]>::default();
        Self { gpu, tables, kernels: Vec::new(), intrinsics: Vec::new(), frame: 0 }
    }

    /// With the kernels.
    ///
    /// # Errors
    ///
    /// If a module cannot be measured.
    pub(crate) fn with_kernels(self, assemblers: &Assemblers) -> Result<Self, String> {
        Ok(Self { kernels: kernels::rows(assemblers, self.gpu)?, ..self })
    }

    /// With the intrinsics.
    ///
    /// # Errors
    ///
    /// If a module cannot be measured.
    pub(crate) fn with_intrinsics(self, assemblers: &Assemblers) -> Result<Self, String> {
        let intrinsics = intrinsics::rows(assemblers, self.gpu)?;
        let frame = if intrinsics.is_empty() { 0 } else { intrinsics::frame(assemblers, self.gpu)? };
        Ok(Self { intrinsics, frame, ..self })
    }

    /// Everything.
    ///
    /// # Errors
    ///
    /// If a module cannot be measured.
    pub(crate) fn all(assemblers: &Assemblers, gpu: Gpu) -> Result<Self, String> {
        Self { tables: tables(assemblers, gpu)?, ..Self::of(gpu) }
            .with_kernels(assemblers)?
            .with_intrinsics(assemblers)
    }
}

/// The page.
pub(crate) struct Page {
    pub(crate) sections: Vec<Section>,
    pub(crate) reasons: Vec<Reason>,
}

const HEAD: &str = "# What is fused

Written by `cargo run --release --example fused -- --write`. All counts are machine instructions of whole kernels, as
NVIDIA's assembler makes them, with loads, stores and addresses, without padding: before and after. Loops are counted
as they are written: the assembler unrolls short ones, and a loop that got short enough can count as longer for that;
where it does, *unrolled* says so. Each module is optimised for the GPU named, with `--raise target`; modules for
`sm_120f` are measured on that GPU, since no other can run them.
";

const IDIOMS: &str = "A row is an idiom and its spelling, a column a compiler and the target that it compiled for; the sources are in
`tests/corpus/src/idioms`. After the counts stand the rules that fused it (`ptxopt explain RULE`), or in parentheses
those that made it shorter in another way. Where nothing did, there is the reason: one word of [the
remarks](remarks.md), *unseen* where no rule proposed anything, or the number of a reason below the tables. *Shortest* is
what was left as it is and is as short as any spelling of the same idiom that was fused.
";

const SUMMARY: &str = "| producer | kernels | fused | shortest | longer | before | after | geometric mean |\n|---|---|---|---|---|---|---|---|\n";

impl Page {
    pub(crate) fn markdown(&self) -> String {
        let mut out = HEAD.to_owned();
        let mut add = |text: &str| write!(out, "{text}").expect("a string can be written to");
        for section in &self.sections {
            let gpu = section.gpu;
            for ((title, _), table) in TABLES.iter().zip(&section.tables) {
                if table.producers().is_empty() {
                    continue;
                }
                add(&format!("\n## {title}, on {gpu}\n\n"));
                if *title == TABLES[0].0 {
                    add(IDIOMS);
                    add("\n");
                }
                add(SUMMARY);
                table.summary().iter().for_each(|line| add(&format!("{line}\n")));
                add(&format!("\n{}", table.markdown(&self.reasons, gpu)));
            }
        }
        if !self.reasons.is_empty() {
            add("\nReasons:\n\n");
            for (number, reason) in (1..).zip(&self.reasons) {
                add(&format!("{number}. {}\n", reason.text));
            }
        }
        add(&self.kernels());
        add(&self.intrinsics());
        out
    }

    fn kernels(&self) -> String {
        let with = || self.sections.iter().filter(|section| !section.kernels.is_empty());
        if with().next().is_none() {
            return String::new();
        }
        let mut out = "\n## Kernels of `tests/kernels`\n\n\
                       | GPU | kernels | changed | longer | geometric mean | the same, unrolled | fused by hand too | above those | geometric mean of those by hand |\n\
                       |---|---|---|---|---|---|---|---|---|\n"
            .to_owned();
        for section in with() {
            writeln!(out, "{}", kernels::summary(section.gpu, &section.kernels))
                .expect("a string can be written to");
        }
        out += "\nBefore, after, and by hand:\n\n| |";
        out += &with().map(|section| format!(" {} |", section.gpu)).collect::<String>();
        out += "\n|---|";
        out += &"---|".repeat(with().count());
        out.push('\n');
        let names: BTreeSet<&str> =
            with().flat_map(|section| section.kernels.iter().map(|row| row.name.as_str())).collect();
        for name in names {
            write!(out, "| `{name}` |").expect("a string can be written to");
            for section in with() {
                let cell = section.kernels.iter().find(|row| row.name == name).map(|row| {
                    let by_hand = row.by_hand.map(|count| format!(", {count}")).unwrap_or_default();
                    let counts = (row.before != row.after).then(|| format!("{} → ", row.before));
                    format!("{}{}{by_hand}", counts.unwrap_or_default(), row.after)
                });
                write!(out, " {} |", cell.unwrap_or_default()).expect("a string can be written to");
            }
            out.push('\n');
        }
        out
    }

    fn intrinsics(&self) -> String {
        let mut out = String::new();
        for section in &self.sections {
            for row in &section.intrinsics {
                if out.is_empty() {
                    out += "\n## SIMD intrinsics of CUDA\n\n\
                            Without loads, stores and addresses; *newest* is what NVRTC 13.5 for the same GPU makes of them.\n\n\
                            | producer | GPU | intrinsics | changed | before | after | newest | after of newest | above newest |\n\
                            |---|---|---|---|---|---|---|---|---|\n";
                }
                writeln!(out, "{}", row.summary(section.gpu, section.frame))
                    .expect("a string can be written to");
            }
        }
        out
    }

    /// What got longer, what took long, and what is longer than it is by hand or by the newest compiler.
    pub(crate) fn concerns(&self, slow: f64) -> Vec<String> {
        let mut lines = Vec::new();
        for section in &self.sections {
            let gpu = section.gpu;
            for table in &section.tables {
                for (name, producer, kernel) in
                    table.cells().filter(|(.., kernel)| kernel.after > kernel.before)
                {
                    let (before, after) = (kernel.before, kernel.after);
                    lines.push(format!("{gpu}: longer: {name}, {producer}: {before} -> {after}"));
                }
                for (name, producer, kernel) in table.cells() {
                    let (before, after) = kernel.unrolled;
                    if after > before && kernel.after <= kernel.before {
                        let line =
                            format!("{gpu}: unrolled, longer: {name}, {producer}: {before} -> {after}");
                        lines.push(line);
                    }
                }
                for (module, seconds) in table.seconds.iter().filter(|(_, seconds)| *seconds > slow) {
                    lines.push(format!("{gpu}: slow: {module}: {seconds:.1} s"));
                }
            }
            for row in &section.kernels {
                let (name, before, after) = (&row.name, row.before, row.after);
                if after > before {
                    lines.push(format!("{gpu}: longer: {name}: {before} -> {after}"));
                }
                if row.unrolled.1 > row.unrolled.0 {
                    let (before, after) = row.unrolled;
                    lines.push(format!("{gpu}: unrolled, longer: {name}: {before} -> {after}"));
                }
                if let Some(by_hand) = row.by_hand.filter(|by_hand| after > *by_hand) {
                    lines.push(format!(
                        "{gpu}: above by hand: {name}: {before} -> {after}, by hand {by_hand}"
                    ));
                }
            }
            for row in &section.intrinsics {
                for (name, (before, after, _)) in row.counts.iter().filter(|(_, counts)| counts.1 > counts.0)
                {
                    let by = &row.producer;
                    lines.push(format!("{gpu}: longer: {name}, {by}: {before} -> {after}"));
                }
                for (name, (before, after, newest)) in row.above() {
                    let by = &row.producer;
                    lines.push(format!(
                        "{gpu}: above newest: {name}, {by}: {before} -> {after}, newest {newest}"
                    ));
                }
            }
        }
        lines
    }

    /// The cells with at least so many instructions more than another spelling of the same idiom.
    pub(crate) fn left(&self, least: u32) -> Vec<String> {
        let mut lines = Vec::new();
        for section in &self.sections {
            let [idioms, ..] = &section.tables;
            for (name, producer, kernel) in idioms.cells() {
                let fewest = idioms.fewest(name, producer);
                if kernel.after >= fewest + least {
                    let (before, after) = (kernel.before, kernel.after);
                    let why = kernel.reason.unwrap_or("unseen");
                    lines.push(format!(
                        "{}: left: {name}, {producer}: {before} -> {after}, elsewhere {fewest}; {why}",
                        section.gpu
                    ));
                }
            }
        }
        lines
    }

    /// The reasons that are about something that is fused, or about nothing.
    pub(crate) fn outdated(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for reason in &self.reasons {
            let tables = self.sections.iter().flat_map(|section| &section.tables);
            let cells: Vec<_> = tables
                .flat_map(Table::cells)
                .filter(|(name, producer, _)| reason.is_about(name, producer))
                .collect();
            if cells.is_empty() {
                lines.push(format!("there is no {}", reason.about()));
            }
            for (name, producer, kernel) in cells.into_iter().filter(|(.., kernel)| kernel.is_fused()) {
                let (before, after) = (kernel.before, kernel.after);
                lines.push(format!(
                    "{name}, {producer}, is fused ({before} -> {after}); the reason for {} says that it cannot be",
                    reason.about()
                ));
            }
        }
        lines
    }
}
