//! What rewrites cost on each of several GPUs adds up to what they cost on all of them together.

use ptxopt_passes::cost::{Costs, Gpu};
use ptxopt_passes::optimiser::{Options, optimise};
use std::path::{Path, PathBuf};
use std::time::Duration;

fn modules_below(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).expect("the folder of cases is there");
    for entry in entries.map(|entry| entry.expect("it can be listed").path()) {
        if entry.is_dir() {
            modules_below(&entry, found);
        } else if entry.extension().is_some_and(|ending| ending == "ptx") {
            found.push(entry);
        }
    }
}

#[test]
fn the_costs_of_each_gpu_add_up() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases/optimise");
    let mut modules = Vec::new();
    modules_below(&cases.join("lower"), &mut modules);
    modules_below(&cases.join("simplify"), &mut modules);
    modules.sort();
    let named = |name: &&str| Gpu::named(name).expect("it is one");
    let gpus: Vec<Gpu> = ["sm_86", "sm_90", "sm_120"].iter().map(named).collect();
    let count = Costs::on(&gpus).each().count();
    assert!(count > 1, "their costs differ");
    let mut compared = 0;
    for path in modules {
        let text = std::fs::read(&path).expect("a case can be read");
        let module = ptxopt_grammar::parse(&text).expect("a case is legal");
        if Gpu::of(&module).is_none_or(|own| !gpus.iter().all(|gpu| gpu.runs(own))) {
            continue;
        }
        let options = Options { gpus: gpus.clone(), explain: false, ..Options::default() };
        for record in optimise(&module, &options, &|| Duration::ZERO).records {
            if record.each.is_empty() || record.estimate().is_none() {
                continue;
            }
            assert_eq!(record.each.len(), count);
            let each = (0..count).map(|place| record.estimate_on(place).expect("its costs are known"));
            assert_eq!(Some(each.sum()), record.estimate(), "{}: {}", path.display(), record.before);
            compared += 1;
        }
    }
    assert!(compared > 50, "only {compared} rewrites");
}
