//! What the optimiser writes is proved against what it read, function by function, by the prover of `ptxopt prove`,
//! which shares neither graph nor facts nor rules with it.
//!
//! CI takes a part of the modules; `PTXOPT_PROVE=all` takes all of them, and `PTXOPT_PROVE_FOLDER` another folder.

use crate::jobs::each;
use crate::support::{TestModule, its_own_and, modules_to_optimise};
use ptxopt_grammar::function::functions;
use ptxopt_grammar::meaning::disputed::Semantics;
use ptxopt_passes::cost::Gpu;
use ptxopt_passes::optimiser::{self, Options};
use ptxopt_prover::around;
use ptxopt_prover::blocks::{Effort, Outcome, compare_packed, packed::told};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The GPUs that modules are optimised for besides their own targets.
const GPUS: [&str; 3] = ["sm_75", "sm_90", "sm_120"];

#[derive(Default)]
struct Counts {
    changed: usize,
    proved: usize,
    slowest: (Duration, String),
    reasons: BTreeMap<String, usize>,
    open: Vec<String>,
}

#[test]
fn outputs_are_proved_but_for_few() {
    let all = std::env::var("PTXOPT_PROVE").is_ok_and(|which| which == "all");
    let modules: Vec<TestModule> = match std::env::var("PTXOPT_PROVE_FOLDER") {
        Ok(folder) => folder_of(Path::new(&folder)),
        Err(_) => modules_to_optimise(),
    };
    let modules: Vec<TestModule> = modules
        .into_iter()
        .enumerate()
        .filter(|(at, _)| all || at % 4 == 0)
        .map(|(_, module)| module)
        .collect();
    let counts = Mutex::new(Counts::default());
    each(&modules, |module| {
        let Ok(parsed) = ptxopt_grammar::parse(&module.text) else { return };
        its_own_and(&GPUS, module, &parsed).into_iter().for_each(|gpu| prove(module, gpu, &counts));
    });
    let mut counts = counts.into_inner().expect("no thread panics");
    counts.open.sort();
    counts.open.iter().for_each(|line| println!("{line}"));
    println!("{:#?}", counts.reasons);
    println!("slowest: {:?} {}", counts.slowest.0, counts.slowest.1);
    println!("{} of {} changed functions are proved", counts.proved, counts.changed);
    assert!(counts.changed > 20, "hardly anything was changed");
    assert!(counts.proved * 20 >= counts.changed * 19, "too few are proved");
}

#[test]
fn all_optimised_cases_are_proved() {
    let root = Path::new("tests/cases/optimise");
    let listed = std::fs::read_dir(root).expect("the folder is there");
    let folders = listed.map(|entry| entry.expect("it can be listed").path()).filter(|path| path.is_dir());
    let folders = folders.chain([root.to_path_buf()]);
    let cases: Vec<TestModule> = folders.flat_map(|folder| folder_of(&folder)).collect();
    let counts = Mutex::new(Counts::default());
    each(&cases, |case| prove(case, None, &counts));
    let mut counts = counts.into_inner().expect("no thread panics");
    assert!(counts.changed > 500, "only {} functions were changed", counts.changed);
    counts.open.sort();
    assert_eq!(counts.open, Vec::<String>::new());
}

fn folder_of(folder: &Path) -> Vec<TestModule> {
    let files = std::fs::read_dir(folder).expect("the folder is there");
    let mut paths: Vec<_> = files.map(|file| file.expect("it can be listed").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "ptx"));
    paths.sort();
    paths.iter().map(|path| module(path)).collect()
}

fn module(path: &Path) -> TestModule {
    TestModule { name: path.display().to_string(), text: std::fs::read(path).expect("the file can be read") }
}

fn prove(test: &TestModule, gpu: Option<&str>, counts: &Mutex<Counts>) {
    let Ok(before) = ptxopt_grammar::parse(&test.text) else { return };
    let options = Options { gpus: gpu.and_then(Gpu::parse).into_iter().collect(), ..Options::default() };
    let outcome = optimiser::optimise(&before, &options, &|| Duration::ZERO);
    let Some(text) = outcome.text else { return };
    let after = ptxopt_grammar::parse(&text).expect("the optimiser writes what is legal");
    let news = functions(&after);
    for old in functions(&before) {
        let new = news.iter().find(|new| new.name == old.name).expect("no function goes");
        let name = format!("{} for {}: `{}`", test.name, gpu.unwrap_or("its own target"), old.name);
        assert_eq!(around::difference((&before, &old), (&after, new)), None, "{name}");
        if around::same_text((&before, &old), (&after, new)) {
            continue;
        }
        let start = Instant::now();
        let packed = told((&before, &old), (&after, new));
        let sides = [(&before, &old), (&after, new)];
        let outcome = compare_packed(sides[0], sides[1], Semantics::Undisputed, &packed, Effort::Most);
        let took = start.elapsed();
        let mut counts = counts.lock().expect("no thread panics");
        counts.changed += 1;
        if took > counts.slowest.0 {
            counts.slowest = (took, name.clone());
        }
        let why = match outcome {
            Outcome::Proved(_) => {
                counts.proved += 1;
                continue;
            }
            Outcome::Disputed { disputed, .. } => format!("`{}` has two meanings", disputed.what),
            Outcome::Stopped(why) => why,
        };
        counts.open.push(format!("{name}: {why}"));
        let kind: String = why.split('`').step_by(2).collect();
        *counts.reasons.entry(kind.replace(|letter: char| letter.is_ascii_digit(), "")).or_default() += 1;
    }
}
