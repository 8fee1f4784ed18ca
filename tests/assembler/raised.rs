//! Raised heads: the assembler takes what is written under them, and refuses what `head.rs` says they have no more.

use crate::jobs::each;
use crate::modules::{half_of, modules_to_optimise};
use crate::ptxas::Assemblers;
use crate::roles::{Instance, instances, plain_kernels};
use ptxopt::measure::Comparison;
use ptxopt::measure::rolled;
use ptxopt_grammar::gpu::{Gpu, Suffix};
use ptxopt_grammar::head::Head;
use ptxopt_passes::optimiser::{self, Options, Raise};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

/// The GPUs that modules are raised for.
const GPUS: [&str; 4] = ["sm_62", "sm_75", "sm_90", "sm_120f"];

#[test]
fn raised_modules_assemble_and_are_not_longer() {
    let Some(assemblers) = Assemblers::find() else { return };
    let modules = modules_to_optimise();
    let on_each = |test| half_of(&GPUS, test).into_iter().map(move |gpu| (test, gpu));
    let jobs: Vec<_> = modules.iter().flat_map(on_each).collect();
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

/// How many instances are assembled at once.
const TOGETHER: usize = 40;

/// Every instruction of an older head is there under a later one, but for those that the table says have ended.
#[test]
fn what_a_later_head_has_no_more_is_known() {
    let Some(assemblers) = Assemblers::find() else { return };
    let mut ended = 0;
    let mut jobs: Vec<(&str, bool, Vec<Instance>)> = Vec::new();
    for (name, ptx) in HEADS {
        let to = Head { gpu: Gpu::parse(name).expect("it is a GPU"), ptx };
        let mut allowed: BTreeMap<Vec<String>, Vec<Instance>> = BTreeMap::new();
        for raised in instances().into_iter().filter_map(|instance| raised(instance, to)) {
            let opcode = raised.text.split([' ', ';']).find(|word| !word.starts_with('@'));
            if to.allows(opcode.expect("an instance has an opcode").as_bytes()) {
                allowed.entry(raised.module.clone()).or_default().push(raised);
            } else {
                ended += 1;
                jobs.push((name, false, vec![raised]));
            }
        }
        // They are in one module if they need the same around them.
        let groups = allowed.values().flat_map(|alike| alike.chunks(TOGETHER));
        jobs.extend(groups.map(|group| (name, true, group.to_vec())));
    }
    let wrong: Vec<String> = each(&jobs, |(name, allowed, group)| {
        let refused = |group: &[&Instance]| assemblers.refusal(plain_kernels(group).as_bytes(), name);
        let all: Vec<&Instance> = group.iter().collect();
        if refused(&all).is_some() != *allowed {
            return Vec::new();
        }
        let alone = all.iter().map(|instance| (instance, refused(&[*instance])));
        let wrong = alone.filter(|(_, refused)| refused.is_some() == *allowed);
        wrong.map(|(instance, refused)| format!("{name}: `{}`: {refused:?}", instance.text)).collect()
    })
    .concat();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(ended > 10, "hardly any has ended");
}

/// An instance under another head; `None` if that is not later than its own.
fn raised(mut instance: Instance, to: Head) -> Option<Instance> {
    let text = plain_kernels(&[&instance]);
    let module = ptxopt_grammar::parse(text.as_bytes()).expect("instances are legal");
    let own = Head::of(&module).expect("instances have a target");
    let is_later = own.gpu.suffix() == Suffix::Portable && to.gpu > own.gpu && to.ptx >= own.ptx;
    let (major, minor) = to.ptx;
    (instance.target, instance.version) = (to.gpu.to_string(), format!("{major}.{minor}"));
    is_later.then_some(instance)
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
