//! Optimises modules and has NVIDIA's assembler count what that saves.

use crate::assemblers::Assemblers;
use crate::jobs::each;
use crate::modules::TestModule;
use ptxopt::measure::accuracy::Row;
use ptxopt::measure::{Comparison, Measured, architecture};
use ptxopt_grammar::table::lookup;
use ptxopt_grammar::tree::Module;
use ptxopt_passes::cost::Gpu;
use ptxopt_passes::optimiser::{self, How, Kind, Options, Outcome};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What was found over many modules and GPUs.
#[derive(Debug, Default)]
pub(crate) struct Gains {
    /// Of the functions of changed modules, by module, GPU and name: machine instructions before and after.
    pub(crate) functions: BTreeMap<String, (u32, u32)>,
    /// Machine instructions that were estimated to be saved, and of how many.
    pub(crate) estimated: u64,
    pub(crate) of: u64,
    /// How often each rule had a part in a rewrite of plain code.
    pub(crate) on_plain: BTreeMap<&'static str, u64>,
    /// Modules that the assembler takes before and not after.
    pub(crate) wrong: Vec<String>,
    /// Modules that the assembler does not take.
    pub(crate) refused: Vec<String>,
}

impl Gains {
    /// The functions that have more machine instructions than before.
    pub(crate) fn longer(&self) -> impl Iterator<Item = (&String, &(u32, u32))> {
        self.functions.iter().filter(|(_, (before, after))| after > before)
    }

    /// Machine instructions before and after.
    pub(crate) fn counted(&self) -> (u64, u64) {
        self.functions
            .values()
            .fold((0, 0), |sum, pair| (sum.0 + u64::from(pair.0), sum.1 + u64::from(pair.1)))
    }

    fn add(&mut self, other: Self) {
        self.functions.extend(other.functions);
        self.estimated += other.estimated;
        self.of += other.of;
        for (rule, count) in other.on_plain {
            *self.on_plain.entry(rule).or_default() += count;
        }
        self.wrong.extend(other.wrong);
        self.refused.extend(other.refused);
    }
}

impl fmt::Display for Gains {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (before, after) = self.counted();
        let changed = self.functions.values().filter(|pair| pair.0 != pair.1).count();
        writeln!(
            f,
            "{} functions in changed modules, {changed} of them with another count; {before} machine instructions \
             before, {after} after: {} fewer, {} of {} estimated",
            self.functions.len(),
            before.cast_signed() - after.cast_signed(),
            self.estimated,
            self.of
        )?;
        let grown: u64 = self.longer().map(|(_, pair)| u64::from(pair.1 - pair.0)).sum();
        writeln!(f, "{} functions got longer, by {grown}", self.longer().count())?;
        for (function, (before, after)) in self.longer() {
            writeln!(f, "  {function}: {before} -> {after}")?;
        }
        for (rule, count) in &self.on_plain {
            writeln!(f, "  {count:>5} rewrites of plain code with {rule}")?;
        }
        self.refused.iter().try_for_each(|line| writeln!(f, "  not assembled: {line}"))?;
        self.wrong.iter().try_for_each(|line| writeln!(f, "  WRONG: {line}"))
    }
}

/// Measurements by text and GPU: the same text need not be assembled twice.
type Known = HashMap<(Vec<u8>, String), Result<Arc<Measured>, String>>;

/// Measures, and remembers.
pub(crate) struct Measurer<'a> {
    assemblers: &'a Assemblers,
    known: Mutex<Known>,
}

impl<'a> Measurer<'a> {
    pub(crate) fn new(assemblers: &'a Assemblers) -> Self {
        Self { assemblers, known: Mutex::default() }
    }

    fn measure(&self, text: &[u8], gpu: &str) -> Result<Arc<Measured>, String> {
        let key = (text.to_vec(), gpu.to_owned());
        if let Some(known) = self.known.lock().expect("no thread panics").get(&key) {
            return known.clone();
        }
        let found = self.assemblers.measure(text, gpu).map(Arc::new).map_err(|failure| failure.to_string());
        self.known.lock().expect("no thread panics").insert(key, found.clone());
        found
    }

    /// Optimises modules for GPUs (`None`: each for its own), without some rules where plain code stands.
    pub(crate) fn gains(
        &self,
        modules: &[TestModule],
        gpus: &[Option<Gpu>],
        without: &[&'static str],
    ) -> Gains {
        let jobs: Vec<(&TestModule, Option<Gpu>)> =
            modules.iter().flat_map(|module| gpus.iter().map(move |&gpu| (module, gpu))).collect();
        let found = each(&jobs, |&(module, gpu)| self.one(module, gpu, without));
        let mut all = Gains::default();
        found.into_iter().flatten().for_each(|gains| all.add(gains));
        all
    }

    fn one(&self, test: &TestModule, gpu: Option<Gpu>, without: &[&'static str]) -> Option<Gains> {
        let module = ptxopt_grammar::parse(&test.text).ok()?;
        let options =
            Options { gpus: gpu.into_iter().collect(), without: without.to_vec(), ..Options::default() };
        let outcome = optimiser::optimise(&module, &options, &|| Duration::ZERO);
        let text = outcome.text.as_deref()?;
        let target = assembled_for(&module, gpu)?;
        let name = format!("{} for {target}", test.name);
        let mut gains = Gains::default();
        let before = match self.measure(&test.text, &target) {
            Ok(before) => before,
            Err(error) => {
                gains.refused.push(format!("{name}: {}", error.lines().nth(1).unwrap_or_default()));
                return Some(gains);
            }
        };
        match self.measure(text, &target) {
            Ok(after) => {
                for (function, (before, after)) in Comparison::new(&before, &after).functions {
                    let pair = (before.instructions(), after.instructions());
                    gains.functions.insert(format!("{name}: {function}"), pair);
                }
            }
            Err(error) => gains.wrong.push(format!("{name}: {error}")),
        }
        gains.estimate(&outcome);
        Some(gains)
    }
}

impl Gains {
    fn estimate(&mut self, outcome: &Outcome) {
        let estimate = outcome.estimate();
        self.estimated += u64::try_from(estimate.saved).unwrap_or(0);
        self.of += estimate.of;
        let made =
            outcome.records.iter().filter(|record| matches!(record.kind, Kind::Passed(How::Proved(_))));
        for record in made.filter(|record| is_plain(&record.before)) {
            for &rule in &record.rules {
                *self.on_plain.entry(rule).or_default() += 1;
            }
        }
    }
}

/// Whether a statement is an instruction other than a video instruction.
fn is_plain(statement: &str) -> bool {
    let opcode = statement.split_whitespace().find(|word| !word.starts_with('@')).unwrap_or_default();
    lookup(opcode.trim_end_matches(';').as_bytes()).is_some_and(|row| row.video.is_none())
}

/// The GPU to assemble a module for; `None` for a GPU that is older than the module's.
fn assembled_for(module: &Module<'_>, gpu: Option<Gpu>) -> Option<String> {
    let own = Gpu::of(module)?;
    gpu.is_none_or(|gpu| gpu.number() >= own.number()).then(|| architecture(own, gpu))
}

/// The rows of the table of the accuracy of estimates: one for each compiler that made modules of the corpus.
pub(crate) fn rows(measurer: &Measurer<'_>, modules: &[TestModule]) -> Vec<Row> {
    let mut sets: BTreeMap<String, Vec<TestModule>> = BTreeMap::new();
    for module in modules {
        let folder = module.name.rsplit('/').nth(1).unwrap_or_default();
        let module = TestModule { name: module.name.clone(), text: module.text.clone() };
        sets.entry(folder.to_owned()).or_default().push(module);
    }
    let row = |(producer, modules): (String, Vec<TestModule>)| {
        let gains = measurer.gains(&modules, &[None], &[]);
        let (before, after) = gains.counted();
        Row {
            producer,
            modules: modules.len() as u64,
            estimated: gains.estimated,
            counted: before.cast_signed() - after.cast_signed(),
        }
    };
    sets.into_iter().map(row).collect()
}
