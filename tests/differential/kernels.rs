//! The modules of the repository: compiled ones, hand-written cases, and the kernels that have a reference.

use crate::differential::{Case, Compared, claims_hold, same_memory};
use crate::jobs::each;
use crate::modules::{TestModule, is_in_a_third, its_own_and, modules_to_optimise};
use crate::optimised::{Tally, is_consistent, is_the_same_quietly, optimise, options};

const CASES: [Case; 2] = [
    Case { threads: 64, buffer: 16384, seed: 1, budget: 20_000 },
    Case { threads: 1, buffer: 16384, seed: 2, budget: 20_000 },
];

/// Runs a check over all modules on all cores; panics with everything that does not hold.
fn over_all_modules(check: impl Fn(&TestModule) -> Result<Tally, String> + Sync) -> Tally {
    let modules = modules_to_optimise();
    let (mut wrong, mut tally) = (Vec::new(), Tally::default());
    for (module, found) in modules.iter().zip(each(&modules, &check)) {
        match found {
            Ok(one) => tally.add(&one),
            Err(problem) => wrong.push(format!("{}: {problem}", module.name)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    tally
}

#[test]
fn every_module_leaves_the_same_memory_after_optimising() {
    let tally = over_all_modules(|test| {
        let module = ptxopt_grammar::parse(&test.text).expect("the module is legal");
        let mut tally = Tally::default();
        for gpu in its_own_and(&["sm_75", "sm_90"], test, &module) {
            let options = options(gpu.and_then(ptxopt_passes::cost::Gpu::parse));
            let outcome = optimise(&module, &options);
            tally.count(&outcome);
            let problem = |problem| format!("{gpu:?}: {problem}");
            is_consistent(&module, &outcome, &options).map_err(problem)?;
            // One GPU, and every third module, shows whether reasons or threads change anything.
            if gpu.is_none() && is_in_a_third(test) {
                is_the_same_quietly(&module, &outcome, &options).map_err(problem)?;
            }
            if let Some(text) = &outcome.text {
                let after = ptxopt_grammar::parse(text).expect("it was looked at");
                tally.compared += same_memory(&module, &after, &CASES).map_err(problem)?;
            }
        }
        Ok(tally)
    });
    println!("{tally}");
}

#[test]
fn every_claim_about_every_module_holds() {
    let tally = over_all_modules(|test| {
        let module = ptxopt_grammar::parse(&test.text).expect("the module is legal");
        Ok(Tally { modules: 1, compared: claims_hold(&module, &CASES)?, ..Tally::default() })
    });
    let Compared { finished, checks, .. } = tally.compared;
    assert!(finished > 300 && checks > 100_000, "too little was checked: {tally}");
    println!("{tally}");
}
