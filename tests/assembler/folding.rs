//! What integer and byte instructions mean, by what the assembler computes itself.
//!
//! The assembler replaces many an instruction whose operands are constants by its result. Each legal form stands in
//! a kernel, several times, with corner values in the registers that it reads, and stores what it writes; where the
//! machine code stores a number that it was given, that number must be the one that we compute. Where it computes
//! instead, nothing is compared, and which instructions these are is printed. That it takes every form is tested too.
//!
//! Other seeds and more vectors meet three differences that these do not. ptxas 12.9 gets two wrong that 13.5 gets
//! right: `sub.sat.s32` of a constant 0x80000000 is a sum with it, and `slct.s32.s32` takes a constant
//! 0x7fffffff or 0x80000000 for what has the other sign. `fns` with the offset 0x80000000, whose magnitude is no
//! number of 32 bits, is zero to both, and by the manual's loop not found.

use crate::constants::{Case, Expected, IN_KERNEL, module};
use crate::folded::{Stored, stored};
use crate::forms::{GROUPS, Group};
use crate::jobs::each;
use crate::numbers::Numbers;
use crate::ptxas::Assemblers;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// How many forms one module has.
const IN_MODULE: usize = 25 * IN_KERNEL;

/// How often results were seen as numbers, and how many there were.
#[derive(Clone, Copy, Default)]
struct Counts {
    compared: usize,
    all: usize,
}

/// An assembler and the GPU that it assembles for.
#[derive(Clone, Copy)]
struct Run {
    version: &'static str,
    target: &'static str,
}

/// The assemblers that a group is given to; a newer GPU has other instructions, and the assembler folds others.
fn runs(group: &Group) -> Vec<Run> {
    if group.version > "9" {
        return vec![Run { version: "13.5", target: group.target }];
    }
    let runs = [("13.5", group.target), ("13.5", "sm_120"), ("12.9", group.target)];
    runs.into_iter().map(|(version, target)| Run { version, target }).collect()
}

#[test]
fn the_assembler_folds_to_what_we_compute() {
    let Some(assemblers) = Assemblers::find() else { return };
    let mut modules: Vec<(Run, &Group, Vec<Case>)> = Vec::new();
    for group in &GROUPS {
        for (run, seed) in runs(group).into_iter().zip(17..) {
            let mut numbers = Numbers::new(seed);
            let forms = group.forms().into_iter().filter(|form| !crashes(form)).enumerate();
            let mut cases =
                forms.map(|(at, form)| Case::new(group, &form, at % IN_KERNEL, &mut numbers)).peekable();
            while cases.peek().is_some() {
                modules.push((run, group, cases.by_ref().take(IN_MODULE).collect()));
            }
        }
    }
    let counts = Mutex::new(BTreeMap::new());
    let found = each(&modules, |&(run, group, ref cases)| check(&assemblers, run, group, cases, &counts));
    let mut wrong: Vec<_> = found.into_iter().flatten().collect();
    let counts = counts.into_inner().expect("no thread panics");
    wrong.sort();
    report(&counts);
    assert!(wrong.is_empty(), "{} disagree:\n{}", wrong.len(), wrong.join("\n"));
}

/// Says what was compared, and that it is not little.
fn report(counts: &BTreeMap<(&'static str, String), Counts>) {
    for version in ["13.5", "12.9"] {
        let of_version = || counts.iter().filter(|((of, _), _)| *of == version);
        let (compared, all) = of_version()
            .fold((0, 0), |(compared, all), (_, count)| (compared + count.compared, all + count.all));
        let opcodes = of_version().count();
        let never: Vec<&str> = of_version()
            .filter(|(_, count)| count.compared == 0)
            .map(|((_, opcode), _)| opcode.as_str())
            .collect();
        println!(
            "ptxas {version}: {compared} of {all} results compared, of {} of {} opcodes with modifiers; never folded: {}",
            opcodes - never.len(),
            opcodes,
            never.join(" ")
        );
        assert!(compared > all / 2, "hardly anything was folded");
    }
}

/// Forms on which ptxas 13.5 ends with an internal error if the first source is a constant, from `-O1` on.
fn crashes(form: &str) -> bool {
    form.starts_with("set.") && form.contains("8x4")
}

/// The disagreements of a module.
fn check(
    assemblers: &Assemblers,
    Run { version, target }: Run,
    group: &Group,
    cases: &[Case],
    counts: &Mutex<BTreeMap<(&'static str, String), Counts>>,
) -> Vec<String> {
    let text = module(group, cases);
    let stored = match assemblers.disassembled(version, text.as_bytes(), target) {
        Ok(listing) => stored(&listing),
        // Which form is to blame shows when each stands alone.
        Err(_) if cases.len() > 1 => {
            let alone =
                |case| check(assemblers, Run { version, target }, group, std::slice::from_ref(case), counts);
            return cases.iter().flat_map(alone).collect();
        }
        Err(said) => return vec![format!("ptxas {version} says {said} to\n{text}")],
    };
    let mut wrong = Vec::new();
    let mut counts = counts.lock().expect("no thread panics");
    for (number, case) in cases.iter().enumerate() {
        let stored = stored.get(&format!("k{}", number / IN_KERNEL));
        let opcode = case.form.split(' ').next().unwrap_or_default();
        for Expected { offset, value, what, .. } in case.expected.iter().filter(|one| !one.disputed) {
            let found = stored.and_then(|stored| number_at(stored, *offset));
            let count = counts.entry((version, opcode.to_owned())).or_default();
            count.all += 1;
            count.compared += usize::from(found.is_some());
            if let Some(found) = found.filter(|found| found != value) {
                wrong.push(format!("{what}: ptxas {version} says {found:#x}, we {value:#x}"));
            }
        }
    }
    wrong
}

/// The number that is stored there; 128 bits are two numbers of 64.
fn number_at(stored: &BTreeMap<u32, Stored>, offset: u32) -> Option<u128> {
    let low = stored.get(&offset)?.number?;
    match stored.get(&(offset + 8)) {
        Some(high) => Some(u128::from(high.number?) << 64 | u128::from(low)),
        None => Some(low.into()),
    }
}
