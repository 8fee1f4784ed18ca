//! What the optimiser writes is legal wherever its input was, and no function has more machine instructions.
//!
//! Each module is optimised for its own target and for a few GPUs; where that changed something, input and output are
//! assembled for every one of these that takes the input. Only the GPU that a text was written for counts instructions:
//! for others it may be worse, as the user was told.
//!
//! Loops stay rolled up on both sides: the assembler unrolls short ones, and a loop that has become short enough would
//! count as longer for that.

use crate::ptxas::{Assemblers, Measured, target};
use crate::support::{TestModule, modules_to_optimise};
use ptxopt_grammar::tree::StmtKind;
use ptxopt_passes::cost::Gpu;
use ptxopt_passes::optimiser::{self, Kind, Options};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The GPUs that modules are optimised for besides their own targets.
const GPUS: [&str; 4] = ["sm_35", "sm_75", "sm_90", "sm_120"];

#[derive(Debug, Default)]
struct Totals {
    changed: usize,
    runs: usize,
    rewrites: usize,
    functions: usize,
    before: u64,
    after: u64,
    /// Functions that need more registers.
    registers: Vec<String>,
}

/// A module's measurements by target; `None` where the assembler rejects it.
type Found = BTreeMap<String, Option<BTreeMap<String, Measured>>>;

#[test]
fn optimised_modules_assemble_and_have_no_more_instructions() {
    let Some(assemblers) = Assemblers::find() else { return };
    let modules = modules_to_optimise();
    let next = AtomicUsize::new(0);
    let (wrong, totals) = (Mutex::new(Vec::new()), Mutex::new(Totals::default()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(module) = modules.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let problems = check(&assemblers, module, &totals);
                    wrong.lock().expect("no thread panics").extend(problems);
                }
            });
        }
    });
    let (mut wrong, totals) =
        (wrong.into_inner().expect("no thread panics"), totals.into_inner().expect("no thread panics"));
    wrong.sort();
    println!(
        "{} modules, {} changed in {} runs by {} rewrites; {} functions, {} instructions before, {} after",
        modules.len(),
        totals.changed,
        totals.runs,
        totals.rewrites,
        totals.functions,
        totals.before,
        totals.after
    );
    println!("{} functions need more registers", totals.registers.len());
    for line in &totals.registers {
        println!("  {line}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(totals.changed > 10, "hardly anything was changed");
}

/// The module's own target, as the assembler must be told, and the GPUs.
fn targets(module: &TestModule) -> Vec<(Option<&'static str>, String)> {
    let own = target(&module.text).replace("compute", "sm");
    let own =
        if ["sm_10", "sm_11", "sm_12", "sm_13", "sm_20", "sm_21", "sm_30", "sm_32"].contains(&own.as_str()) {
            "sm_35".to_owned()
        } else {
            own
        };
    std::iter::once((None, own)).chain(GPUS.map(|gpu| (Some(gpu), gpu.to_owned()))).collect()
}

fn check(assemblers: &Assemblers, test: &TestModule, totals: &Mutex<Totals>) -> Vec<String> {
    let module = ptxopt_grammar::parse(&test.text).expect("the module is legal");
    let all = targets(test);
    let mut wrong = Vec::new();
    let mut before: Option<Found> = None;
    let mut known: BTreeMap<Vec<u8>, Found> = BTreeMap::new();
    for (gpu, arch) in &all {
        let outcome = optimiser::optimise(&module, &options(gpu.and_then(Gpu::parse)), &|| Duration::ZERO);
        let Some(text) = outcome.text else { continue };
        let rewrites = outcome.records.iter().filter(|record| matches!(record.kind, Kind::Passed(_))).count();
        let before = before.get_or_insert_with(|| {
            totals.lock().expect("no thread panics").changed += 1;
            measure(assemblers, &test.text, &all, None)
        });
        let after =
            known.entry(text).or_insert_with_key(|text| measure(assemblers, text, &all, Some(before)));
        let mut totals = totals.lock().expect("no thread panics");
        totals.runs += 1;
        totals.rewrites += rewrites;
        for (other, found) in &*before {
            if found.is_some() && after[other].is_none() {
                wrong.push(format!("{}: for {gpu:?}: `{other}` takes the input, not the output", test.name));
            }
        }
        let (Some(was), Some(is)) = (&before[arch], &after[arch]) else { continue };
        compare(&mut totals, &mut wrong, &format!("{} for {arch}", test.name), (was, is));
    }
    wrong
}

fn compare(
    totals: &mut Totals,
    wrong: &mut Vec<String>,
    what: &str,
    (before, after): (&BTreeMap<String, Measured>, &BTreeMap<String, Measured>),
) {
    for (function, was) in before {
        let Some(is) = after.get(function) else {
            wrong.push(format!("{what}: `{function}` is gone"));
            continue;
        };
        totals.functions += 1;
        totals.before += u64::from(was.instructions);
        totals.after += u64::from(is.instructions);
        if is.instructions > was.instructions {
            let (was, is) = (was.instructions, is.instructions);
            wrong.push(format!("{what}: `{function}` has {is} instructions, had {was}"));
        }
        if is.registers > was.registers {
            let (was, is) = (was.registers, is.registers);
            totals.registers.push(format!("{what}: `{function}` {was} -> {is}"));
        }
    }
}

/// Assembles for all targets, or for those that took the input.
fn measure(
    assemblers: &Assemblers,
    text: &[u8],
    targets: &[(Option<&str>, String)],
    input: Option<&Found>,
) -> Found {
    let mut found = Found::new();
    let text = &rolled(text);
    for (_, arch) in targets {
        let wanted = input.is_none_or(|input| input[arch].is_some());
        found.insert(arch.clone(), if wanted { assemblers.measure(text, arch).ok() } else { None });
    }
    found
}

/// The text with a word to the assembler to leave loops as they are.
fn rolled(text: &[u8]) -> Vec<u8> {
    let module = ptxopt_grammar::parse(text).expect("the module is legal");
    let head = [StmtKind::Version, StmtKind::Target, StmtKind::AddressSize];
    let last = module.stmts().rfind(|&stmt| head.contains(&module.kind(stmt)));
    let end = module.stmt_span(last.expect("a module has a head")).end;
    [&text[..end], b"\n.pragma \"nounroll\";\n", &text[end..]].concat()
}

fn options(gpu: Option<Gpu>) -> Options {
    Options { gpu, ..Options::default() }
}
