//! The optimiser's output is legal wherever its input is, and no function has more machine instructions.
//!
//! Each module is optimised for its own target and for a few other GPUs; where that changed something, input and output
//! are assembled for the GPU that the output was written for, and for the module's own, where these take the input. Only
//! the first counts instructions: on others it may be worse, as the user was told.
//!
//! Loops stay rolled up on both sides: the assembler unrolls short ones, and a loop that has become short enough would
//! count as longer for that.

use crate::jobs::each;
use crate::modules::{TestModule, its_own_and, modules_to_optimise};
use crate::numbers::Numbers;
use crate::programs;
use crate::ptxas::{Assemblers, target};
use arbitrary::Unstructured;
use ptxopt::measure::rolled;
use ptxopt::measure::{Comparison, Measured};
use ptxopt_passes::cost::Gpu;
use ptxopt_passes::optimiser::{self, Kind, Options};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Display, Formatter};
use std::sync::Mutex;
use std::time::Duration;

/// The GPUs that modules are optimised for besides their own targets.
const GPUS: [&str; 4] = ["sm_35", "sm_75", "sm_90", "sm_120"];

/// What was found over many modules.
#[derive(Debug, Default)]
struct Totals {
    modules: usize,
    changed: usize,
    runs: usize,
    rewrites: usize,
    functions: usize,
    before: u64,
    after: u64,
    /// What must never be.
    wrong: Vec<String>,
    /// Functions that have more machine instructions.
    longer: Vec<Grown>,
    /// Functions that need more registers.
    registers: Vec<Grown>,
    /// Functions that spill more.
    spills: Vec<Grown>,
}

/// A function that has more of something.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Grown {
    what: String,
    was: u32,
    is: u32,
}

impl Display for Grown {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} -> {}", self.what, self.was, self.is)
    }
}

impl Display for Totals {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        writeln!(
            f,
            "{} modules, {} changed in {} runs by {} rewrites; {} functions, {} instructions before, {} after",
            self.modules, self.changed, self.runs, self.rewrites, self.functions, self.before, self.after
        )?;
        for (all, what) in
            [(&self.longer, "instructions"), (&self.registers, "registers"), (&self.spills, "spills")]
        {
            writeln!(f, "{} functions need more {what}", all.len())?;
            all.iter().try_for_each(|one| writeln!(f, "  {one}"))?;
        }
        Ok(())
    }
}

/// A module's measurements by target; `None` where the assembler rejects it.
type Found = BTreeMap<String, Option<Measured>>;

/// A GPU to optimise for, none for the module's own, and its name for the assembler.
type Wanted = (Option<&'static str>, String);

#[test]
fn optimised_modules_assemble_and_have_no_more_instructions() {
    let Some(assemblers) = Assemblers::find() else { return };
    let totals = check_all(&assemblers, &modules_to_optimise(), |module| {
        let parsed = ptxopt_grammar::parse(&module.text).expect("the module is legal");
        let gpus = its_own_and(&GPUS, module, &parsed).into_iter();
        gpus.map(|gpu| (gpu, gpu.map_or_else(|| own(module), ToOwned::to_owned))).collect()
    });
    println!("{totals}");
    assert!(totals.wrong.is_empty(), "{}", totals.wrong.join("\n"));
    assert!(totals.longer.is_empty(), "{totals}");
    assert!(totals.spills.is_empty(), "{totals}");
    assert!(totals.changed > 10, "hardly anything was changed");
}

/// How many random kernels are tried; `PTXOPT_KERNELS` says it otherwise.
const KERNELS: u64 = 60;

/// How many more instructions are tolerated as chance.
const A_HAIR: u32 = 5;

/// For random code, the assembler's order and registers vary by chance, so a small increase is allowed.
#[test]
fn optimised_random_kernels_assemble_and_have_hardly_more_instructions() {
    let Some(assemblers) = Assemblers::find() else { return };
    let count = std::env::var("PTXOPT_KERNELS").map(|count| count.parse().expect("it is a number"));
    let kernels: Vec<TestModule> = (0..count.unwrap_or(KERNELS)).map(random_kernel).collect();
    let totals = check_all(&assemblers, &kernels, |module| vec![(None, own(module))]);
    println!("{totals}");
    assert!(totals.wrong.is_empty(), "{}", totals.wrong.join("\n"));
    let much = |one: &&Grown| one.is - one.was > (one.was / 10).max(A_HAIR);
    let much: Vec<&Grown> = totals.longer.iter().filter(much).collect();
    assert!(much.is_empty(), "much longer: {much:#?}");
    assert!(totals.longer.len() * 50 <= totals.functions, "too many are longer: {totals}");
    assert!(totals.functions * 3 > kernels.len() * 2, "the assembler takes too few kernels: {totals}");
    assert!(totals.after * 10 < totals.before * 9, "they are hardly shorter: {totals}");
}

fn random_kernel(seed: u64) -> TestModule {
    let mut numbers = Numbers::new(seed);
    let bytes: Vec<u8> = (0..256).flat_map(|_| numbers.next().to_le_bytes()).collect();
    let text = programs::program(&mut Unstructured::new(&bytes)).expect("there are bytes enough");
    TestModule { name: format!("kernel {seed}"), text: text.into_bytes() }
}

fn check_all(
    assemblers: &Assemblers,
    modules: &[TestModule],
    targets: impl Fn(&TestModule) -> Vec<Wanted> + Sync,
) -> Totals {
    let totals = Mutex::new(Totals { modules: modules.len(), ..Totals::default() });
    each(modules, |module| check(assemblers, module, &targets(module), &totals));
    let mut totals = totals.into_inner().expect("no thread panics");
    totals.wrong.sort();
    totals.longer.sort();
    totals.registers.sort();
    totals
}

/// The module's own target, in the form that the assembler expects.
fn own(module: &TestModule) -> String {
    const GONE: [&str; 8] = ["sm_10", "sm_11", "sm_12", "sm_13", "sm_20", "sm_21", "sm_30", "sm_32"];
    let own = target(&module.text).replace("compute", "sm");
    if GONE.contains(&own.as_str()) { "sm_35".to_owned() } else { own }
}

fn check(assemblers: &Assemblers, test: &TestModule, all: &[Wanted], totals: &Mutex<Totals>) {
    let module = ptxopt_grammar::parse(&test.text).expect("the module is legal");
    let mut before: Option<Found> = None;
    let mut known: BTreeMap<Vec<u8>, Found> = BTreeMap::new();
    for (gpu, arch) in all {
        let outcome = optimiser::optimise(&module, &options(gpu.and_then(Gpu::parse)), &|| Duration::ZERO);
        let Some(text) = outcome.text else { continue };
        let rewrites = outcome.records.iter().filter(|record| matches!(record.kind, Kind::Passed(_))).count();
        let before = before.get_or_insert_with(|| {
            totals.lock().expect("no thread panics").changed += 1;
            measure(assemblers, &test.text, all.iter().map(|(_, arch)| arch))
        });
        // What takes the input takes the output: the GPU in question, and the module's own.
        let (own, after) = (&all[0].1, known.entry(text.clone()).or_default());
        let is_new = |&arch: &&String| before[arch].is_some() && !after.contains_key(arch);
        let found = measure(assemblers, &text, BTreeSet::from([own, arch]).into_iter().filter(is_new));
        after.extend(found);
        let mut totals = totals.lock().expect("no thread panics");
        totals.runs += 1;
        totals.rewrites += rewrites;
        for (other, found) in &*after {
            if found.is_none() {
                let wrong = format!("{}: for {gpu:?}: `{other}` takes the input, not the output", test.name);
                totals.wrong.push(wrong);
            }
        }
        let (Some(was), Some(Some(is))) = (&before[arch], after.get(arch)) else { continue };
        totals.compare(&format!("{} for {arch}", test.name), was, is);
    }
}

impl Totals {
    fn compare(&mut self, what: &str, before: &Measured, after: &Measured) {
        for (function, (was, is)) in Comparison::new(before, after).functions {
            let what = format!("{what}: `{function}`");
            if is.instructions() == 0 {
                self.wrong.push(format!("{what} is gone"));
                continue;
            }
            self.functions += 1;
            self.before += u64::from(was.instructions());
            self.after += u64::from(is.instructions());
            if is.instructions() > was.instructions() {
                let (was, is) = (was.instructions(), is.instructions());
                self.longer.push(Grown { what: what.clone(), was, is });
            }
            if is.registers > was.registers {
                let registers = [was.registers, is.registers].map(Option::unwrap_or_default);
                self.registers.push(Grown { what: what.clone(), was: registers[0], is: registers[1] });
            }
            if is.spills > was.spills {
                self.spills.push(Grown { what, was: was.spills, is: is.spills });
            }
        }
    }
}

/// Assembles for these targets.
fn measure<'a>(assemblers: &Assemblers, text: &[u8], targets: impl Iterator<Item = &'a String>) -> Found {
    let text = &rolled(text).expect("it is a module");
    targets.map(|arch| (arch.clone(), assemblers.measure(text, arch).ok())).collect()
}

fn options(gpu: Option<Gpu>) -> Options {
    Options { gpus: gpu.into_iter().collect(), ..Options::default() }
}
