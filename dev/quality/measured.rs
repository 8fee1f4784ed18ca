//! Measures the code of a few instructions before and after optimising.

use crate::assembler::{Sample, SampleAssembler};
use crate::assemblers::{Assemblers, VERSIONS};
use crate::best;
use ptxopt_grammar::video::Form;
use ptxopt_passes::cost::Gpu;
use ptxopt_passes::optimiser::{Options, optimise};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What is measured.
pub(crate) struct Entry {
    pub(crate) name: String,
    sample: Sample,
    /// How many of its instructions are stores.
    stores: u32,
    best: Option<u32>,
}

impl Entry {
    /// A form on registers.
    pub(crate) fn of(bench: &Bench, form: Form) -> Self {
        let name = form.encode("d", "a", "b", Some("c")).expect("every form takes registers");
        let text = form.encode("%r0", "%r1", "%r2", Some("%r3")).expect("every form takes registers");
        let best = best::count(&name, &bench.gpu);
        Self { name, sample: Sample { text, result: 'r' }, stores: 0, best }
    }

    /// Several instructions that write `%r0`, and the sum of the best sequences known of their parts.
    pub(crate) const fn chain(name: String, text: String, stores: u32, best: Option<u32>) -> Self {
        Self { name, sample: Sample { text, result: 'r' }, stores, best }
    }
}

/// Machine instructions.
pub(crate) struct Counts {
    pub(crate) name: String,
    /// What the assembler makes of the text as it is.
    pub(crate) assembler: u32,
    /// What it makes of the optimised text.
    pub(crate) ours: u32,
    /// The fewest that are known.
    pub(crate) best: Option<u32>,
}

/// An assembler for one GPU, and the counts that were found before.
pub(crate) struct Bench {
    pub(crate) gpu: String,
    pub(crate) version: &'static str,
    assembler: SampleAssembler,
}

impl Bench {
    pub(crate) fn new(gpu: &str) -> Result<Self, String> {
        let number = gpu[3..].trim_end_matches(char::is_alphabetic).parse::<u32>();
        let number = number.map_err(|_| format!("`{gpu}` is no GPU"))?;
        let version = VERSIONS.iter().find(|(_, lowest)| *lowest <= number);
        let version = version.ok_or(format!("no assembler takes `{gpu}`"))?.0;
        Assemblers::installed().ok_or("NVIDIA's assemblers are missing; `sh .ci/tools` installs them")?;
        Ok(Self { gpu: gpu.to_owned(), version, assembler: SampleAssembler::new(version, gpu).with_waits() })
    }

    /// The text of a module, optimised for the GPU.
    ///
    /// # Errors
    ///
    /// If it is no PTX.
    pub(crate) fn optimised(&self, text: Vec<u8>) -> Result<Vec<u8>, String> {
        let new = {
            let module = ptxopt_grammar::parse(&text).map_err(|errors| format!("{errors:?}"))?;
            let gpu = Some(Gpu::parse(&self.gpu).ok_or("the table's GPUs are targets")?);
            let outcome = optimise(
                &module,
                &Options { gpus: gpu.into_iter().collect(), ..Options::default() },
                &|| Duration::ZERO,
            );
            outcome.text
        };
        Ok(new.unwrap_or(text))
    }

    /// # Errors
    ///
    /// If the optimised text is not assembled, or the counts cannot be kept.
    pub(crate) fn measure(&self, entries: Vec<Entry>) -> Result<Vec<Counts>, String> {
        let samples: Vec<Sample> = entries.iter().map(|entry| entry.sample.clone()).collect();
        let before = self.known(&samples)?;
        let after = self.assembler.costs_after(&samples, &|text| self.optimised(text))?;
        let counts = entries.into_iter().zip(after).map(|(entry, after)| {
            let Entry { name, sample, stores, best } = entry;
            let assembler = before[&sample.text].saturating_sub(stores);
            Counts { name, assembler, ours: after.saturating_sub(stores), best }
        });
        Ok(counts.collect())
    }

    /// What the assembler makes of samples, measured where that is not known yet.
    fn known(&self, samples: &[Sample]) -> Result<BTreeMap<String, u32>, String> {
        let path = self.path();
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let pair =
            |line: &str| line.split_once('\t').and_then(|(text, n)| Some((text.to_owned(), n.parse().ok()?)));
        let mut known: BTreeMap<String, u32> = text.lines().filter_map(pair).collect();
        let missing: BTreeSet<&Sample> =
            samples.iter().filter(|sample| !known.contains_key(&sample.text)).collect();
        let missing: Vec<Sample> = missing.into_iter().cloned().collect();
        for (sample, cost) in missing.iter().zip(self.assembler.costs(&missing)) {
            let cost =
                cost.ok_or_else(|| format!("{}: the assembler rejects `{}`", self.gpu, sample.text))?;
            known.insert(sample.text.clone(), cost);
        }
        let mut text = String::new();
        for (sample, count) in &known {
            writeln!(text, "{sample}\t{count}").expect("a string can be written to");
        }
        let kept =
            path.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(&path, text));
        kept.map_err(|error| format!("`{}` cannot be written: {error}", path.display()))?;
        Ok(known)
    }

    fn path(&self) -> PathBuf {
        let file = format!("{}-{}.tsv", self.gpu, self.version);
        Path::new(env!("CARGO_MANIFEST_DIR")).join("target/quality").join(file)
    }
}
