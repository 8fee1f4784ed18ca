//! Raised heads: the assembler takes what is written under them, and refuses what `head.rs` says they have no more.

use crate::jobs::each;
use crate::modules::modules_to_optimise;
use crate::ptxas::Assemblers;
use crate::roles::{Instance, instances, plain_kernel};
use ptxopt::measure::Comparison;
use ptxopt::measure::rolled;
use ptxopt_grammar::gpu::{Gpu, Suffix};
use ptxopt_grammar::head::Head;
use ptxopt_passes::optimiser::{self, Options, Raise};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The GPUs that modules are raised for.
const GPUS: [&str; 4] = ["sm_62", "sm_75", "sm_90", "sm_120f"];

#[test]
fn raised_modules_assemble_and_are_not_longer() {
    let Some(assemblers) = Assemblers::find() else { return };
    let modules = modules_to_optimise();
    let jobs: Vec<_> = modules.iter().flat_map(|module| GPUS.map(|gpu| (module, gpu))).collect();
    let (wrong, longer, totals) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()), Mutex::new([0_u64; 4]));
    each(&jobs, |&(test, name)| {
        let module = ptxopt_grammar::parse(&test.text).expect("the module is legal");
        let (Some(own), Some(gpu)) = (Head::of(&module), Gpu::parse(name)) else { return };
        if !gpu.runs(own.gpu) {
            return;
        }
        let options = |raise| Options { gpus: vec![gpu], raise, ..Options::default() };
        let all = options(Raise { target: true, version: true });
        let Some(text) = optimiser::optimise(&module, &all, &|| Duration::ZERO).text else { return };
        let new = ptxopt_grammar::parse(&text).expect("what was written is legal");
        let Ok(before) = assemblers.measure(&rolled(&test.text).expect("it is a module"), name) else {
            return;
        };
        let head = Head::of(&new).expect("it has a target");
        let what = format!("{} for {name}, {head:?}", test.name);
        let after = match assemblers.measure(&rolled(&text).expect("it is a module"), name) {
            Ok(after) => after,
            Err(said) => return wrong.lock().expect("no thread panics").push(format!("{what}: {said}")),
        };
        let comparison = Comparison::new(&before, &after);
        let worse = comparison.worse();
        longer.lock().expect("no thread panics").extend(worse.keys().map(|name| format!("{what}: `{name}`")));
        let (old, now) = comparison.instructions();
        let mut totals = totals.lock().expect("no thread panics");
        let raised = u64::from(head != own);
        for (total, more) in totals.iter_mut().zip([1, raised, old, now]) {
            *total += more;
        }
    });
    let wrong = wrong.into_inner().expect("no thread panics");
    let longer = longer.into_inner().expect("no thread panics");
    let [changed, raised, before, after] = totals.into_inner().expect("no thread panics");
    println!(
        "{changed} modules changed, {raised} of them raised; {before} instructions before, {after} after"
    );
    println!("{} functions are longer or spill more\n{}", longer.len(), longer.join("\n"));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(longer.is_empty(), "{}", longer.join("\n"));
    assert!(raised > 10, "hardly any was raised");
}

/// The heads to which instances are raised.
const HEADS: [(&str, (u8, u8)); 3] = [("sm_62", (6, 5)), ("sm_90", (9, 5)), ("sm_120", (9, 5))];

/// Every instruction of an older head is there under a later one, but for those that the table says have ended.
#[test]
fn what_a_later_head_has_no_more_is_known() {
    let Some(assemblers) = Assemblers::find() else { return };
    let (wrong, ended) = (Mutex::new(Vec::new()), AtomicUsize::new(0));
    each(&instances(), |instance: &Instance| {
        let text = plain_kernel(instance);
        let module = ptxopt_grammar::parse(text.as_bytes()).expect("instances are legal");
        let own = Head::of(&module).expect("instances have a target");
        for (name, ptx) in HEADS {
            let to = Head { gpu: Gpu::parse(name).expect("it is a GPU"), ptx };
            if own.gpu.suffix() != Suffix::Portable || to.gpu <= own.gpu || to.ptx < own.ptx {
                continue;
            }
            let (major, minor) = ptx;
            let version = format!(".version {}\n.target {}\n", instance.version, instance.target);
            let raised = text.replacen(&version, &format!(".version {major}.{minor}\n.target {name}\n"), 1);
            let refused = assemblers.refusal(raised.as_bytes(), name);
            let opcode = instance.text.split([' ', ';']).find(|word| !word.starts_with('@'));
            let allowed = to.allows(opcode.expect("an instance has an opcode").as_bytes());
            if !allowed {
                ended.fetch_add(1, Ordering::Relaxed);
            }
            if refused.is_some() == allowed {
                let text = &instance.text;
                wrong.lock().expect("no thread panics").push(format!("{name}: `{text}`: {refused:?}"));
            }
        }
    });
    let wrong = wrong.into_inner().expect("no thread panics");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(ended.into_inner() > 10, "hardly any has ended");
}

#[test]
fn the_first_version_of_a_target_is_accepted() {
    let Some(assemblers) = Assemblers::find() else { return };
    let gpus: Vec<Gpu> = Gpu::known().filter(|gpu| gpu.number() != 101).collect();
    each(&gpus, |gpu| {
        let (major, minor) = gpu.first_version().expect("it is known");
        let text = |minor| format!(".version {major}.{minor}\n.target {gpu}\n.entry k() {{ ret; }}\n");
        let refused = |text: String| assemblers.refusal(text.as_bytes(), &gpu.to_string());
        assert_eq!(refused(text(minor)), None, "{gpu}");
        // Older versions exist for all but the last of a major one; sm_70 was in a preview before its first.
        if minor > 0 && (major, minor) > (2, 3) && gpu.number() != 70 {
            assert!(refused(text(minor - 1)).is_some(), "{gpu}");
        }
    });
}
