//! What is optimised for several GPUs at once is worse on none of them.

use crate::jobs::each;
use crate::modules::{half_of, modules_to_optimise};
use crate::ptxas::Assemblers;
use ptxopt::measure::Comparison;
use ptxopt::measure::rolled;
use ptxopt_grammar::gpu::Gpu;
use ptxopt_grammar::head::Head;
use ptxopt_passes::optimiser::{self, Options};
use std::sync::Mutex;
use std::time::Duration;

/// Lists of GPUs; the emulations of video instructions on those of a list differ.
const LISTS: [[&str; 2]; 2] = [["sm_61", "sm_90"], ["sm_75", "sm_120"]];

#[test]
fn nothing_is_longer_on_any_of_several_gpus() {
    let Some(assemblers) = Assemblers::find() else { return };
    let modules = modules_to_optimise();
    let on_each = |test| half_of(&LISTS, test).into_iter().map(move |list| (test, list));
    let jobs: Vec<_> = modules.iter().flat_map(on_each).collect();
    let (wrong, totals) = (Mutex::new(Vec::new()), Mutex::new([0_u64; 3]));
    each(&jobs, |&(test, list)| {
        let module = ptxopt_grammar::parse(&test.text).expect("the module is legal");
        let gpus = list.map(|name| Gpu::parse(name).expect("it is a GPU")).to_vec();
        let Some(own) = Head::of(&module).filter(|own| gpus.iter().all(|gpu| gpu.runs(own.gpu))) else {
            return;
        };
        let options = Options { gpus, ..Options::default() };
        let Some(text) = optimiser::optimise(&module, &options, &|| Duration::ZERO).text else { return };
        for name in list {
            let Ok(before) = assemblers.measure(&rolled(&test.text).expect("it is a module"), name) else {
                continue;
            };
            let what = format!("{} of {own:?} for {name}", test.name);
            let after = assemblers
                .measure(&rolled(&text).expect("it is a module"), name)
                .unwrap_or_else(|said| panic!("{what}: {said}"));
            let comparison = Comparison::new(&before, &after);
            let worse = comparison.worse();
            let worse = worse.iter().map(|(function, worse)| format!("{what}: `{function}`: {worse}"));
            wrong.lock().expect("no thread panics").extend(worse);
            let (old, now) = comparison.instructions();
            let mut totals = totals.lock().expect("no thread panics");
            totals.iter_mut().zip([1, old, now]).for_each(|(total, more)| *total += more);
        }
    });
    let wrong = wrong.into_inner().expect("no thread panics");
    let [changed, before, after] = totals.into_inner().expect("no thread panics");
    println!("{changed} modules changed, by GPU; {before} instructions before, {after} after");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(changed > 10, "hardly anything was changed");
}
