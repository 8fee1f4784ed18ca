//! What integer and byte instructions mean, by what the assembler computes itself.
//!
//! The assembler replaces many an instruction whose operands are constants by its result. Each legal form stands in
//! a kernel, several times, with corner values in the registers that it reads, and stores what it writes; where the
//! machine code stores a number that it was given, that number must be the one that we compute. Where it computes
//! instead, nothing is compared, and which instructions these are is printed. That it takes every form is tested too.

use crate::folded::{Stored, stored};
use crate::forms::{GROUPS, Group};
use crate::numbers::Numbers;
use crate::one::{One, REGISTERS};
use crate::ptxas::Assemblers;
use ptxopt_grammar::meaning::concrete::evaluate;
use ptxopt_grammar::table;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many forms one kernel has, and one module.
const IN_KERNEL: usize = 20;
const IN_MODULE: usize = 25 * IN_KERNEL;

/// How many bytes the results of one form have.
const ROOM: usize = 1024;

/// One form with several lists of operands, and what it must store where.
struct Case {
    form: String,
    /// The opcode with its modifiers.
    opcode: String,
    text: String,
    expected: Vec<Expected>,
}

/// A number that must be stored.
struct Expected {
    offset: u32,
    value: u128,
    /// What is written, with which operands.
    what: String,
}

/// How often results were seen as numbers, and how many there were.
#[derive(Clone, Copy, Default)]
struct Counts {
    compared: usize,
    all: usize,
}

#[test]
fn the_assembler_folds_to_what_we_compute() {
    let Some(assemblers) = Assemblers::find() else { return };
    let mut modules: Vec<(&str, &Group, Vec<Case>)> = Vec::new();
    for group in &GROUPS {
        for version in ["13.5", "12.9"].into_iter().take(if group.version < "9" { 2 } else { 1 }) {
            let mut numbers = Numbers::new(17);
            let forms = group.forms().into_iter().filter(|form| !crashes(form)).enumerate();
            let mut cases =
                forms.map(|(at, form)| Case::new(group, form, at % IN_KERNEL, &mut numbers)).peekable();
            while cases.peek().is_some() {
                modules.push((version, group, cases.by_ref().take(IN_MODULE).collect()));
            }
        }
    }
    let next = AtomicUsize::new(0);
    let (counts, wrong) = (Mutex::new(BTreeMap::new()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some((version, group, cases)) = modules.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let problems = check(&assemblers, version, group, cases, &counts);
                    wrong.lock().expect("no thread panics").extend(problems);
                }
            });
        }
    });
    let (counts, mut wrong) =
        (counts.into_inner().expect("no thread panics"), wrong.into_inner().expect("no thread panics"));
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
        assert!(compared > all / 4 * 3, "hardly anything was folded");
    }
}

/// Forms on which ptxas 13.5 ends with an internal error if the first source is a constant, from `-O1` on.
fn crashes(form: &str) -> bool {
    form.starts_with("set.") && form.contains("8x4")
}

impl Case {
    /// The form as the one with this number in its kernel.
    fn new(group: &Group, form: String, number: usize, numbers: &mut Numbers) -> Self {
        let one = One::new(group, &form).unwrap_or_else(|| panic!("`{form}` has no meaning"));
        let opcode = form.split(' ').next().unwrap_or_default().to_owned();
        let name = table::lookup(opcode.as_bytes()).expect("the instruction has a row").name;
        let times = if matches!(name, "set" | "setp") { 2 } else { 8 };
        let mut case = Self { opcode, text: String::new(), expected: Vec::new(), form };
        for _instance in 0..times {
            let values = one.draw(numbers);
            // The manual leaves open what a divisor of zero gives; the assembler and the code that it makes differ.
            if !matches!(name, "div" | "rem") || values[1] != 0 {
                case.add(&one, &values, number * ROOM);
            }
        }
        case
    }

    /// Adds the instruction once more, with these operands; results are stored from `start` on.
    fn add(&mut self, one: &One, values: &[u128], start: usize) {
        let form = self.form.clone();
        let minus = form.starts_with("sub");
        write!(self.text, "{{ {REGISTERS} .reg .b16 %s<2>; .reg .b32 %t<4>; .reg .b64 %w<4>; ")
            .expect("a string grows");
        for ((name, _), &value) in one.reads.iter().zip(values) {
            self.text += &load(name, value, minus);
        }
        write!(self.text, "{form}; ").expect("a string grows");
        let operands: Vec<String> =
            one.reads.iter().zip(values).map(|((name, _), value)| format!("{name}={value:#x}")).collect();
        let results = evaluate(one.terms(), &one.outputs(), values);
        for ((name, _), value) in one.writes.iter().zip(results) {
            let offset = u32::try_from(start + 16 * self.expected.len()).expect("kernels are small");
            self.text += &store(name, offset, minus);
            let what = format!("{name} of `{form}` with {}", operands.join(" "));
            // The borrow is seen as zero less it.
            let value = if name == "cc" && minus { value * 0xffff_ffff } else { value };
            self.expected.push(Expected { offset, value, what });
        }
        self.text += "}\n";
    }
}

/// Puts a number into a register. The flag is set by a sum or, for those who read a borrow, by a difference.
fn load(name: &str, value: u128, minus: bool) -> String {
    let (low, high) = (value & u128::from(u64::MAX), value >> 64);
    match name.get(..2) {
        Some("%h") => format!("mov.b16 {name}, {value}; "),
        Some("%r") => format!("mov.b32 {name}, {value:#x}; "),
        Some("%d") => format!("mov.b64 {name}, {value:#x}; "),
        Some("%q") => {
            format!("mov.b64 %w0, {low:#x}; mov.b64 %w1, {high:#x}; mov.b128 {name}, {{%w0, %w1}}; ")
        }
        Some("%b") => format!("mov.b16 %s0, {value}; cvt.u8.u16 {name}, %s0; "),
        Some("%p") => format!("mov.b32 %t0, {value}; setp.ne.b32 {name}, %t0, 0; "),
        Some("cc") if minus => format!("mov.b32 %t0, {value}; mov.b32 %t2, 0; sub.cc.u32 %t1, %t2, %t0; "),
        Some("cc") => format!("mov.b32 %t0, {value}; add.cc.u32 %t1, %t0, 0xffffffff; "),
        _other => panic!("`{name}` is no register of the forms"),
    }
}

/// Stores a register, or the flag as a number.
fn store(name: &str, offset: u32, minus: bool) -> String {
    let word = format!("st.volatile.global.b32 [%base+{offset}], %t1; ");
    match name.get(..2) {
        Some("%h") => format!("st.volatile.global.b16 [%base+{offset}], {name}; "),
        Some("%r") => format!("st.volatile.global.b32 [%base+{offset}], {name}; "),
        Some("%d") => format!("st.volatile.global.b64 [%base+{offset}], {name}; "),
        Some("%q") => format!(
            "mov.b128 {{%w2, %w3}}, {name}; st.volatile.global.b64 [%base+{offset}], %w2; \
             st.volatile.global.b64 [%base+{}], %w3; ",
            offset + 8
        ),
        Some("%b") => format!("cvt.u16.u8 %s1, {name}; st.volatile.global.b16 [%base+{offset}], %s1; "),
        Some("%p") => format!("selp.b32 %t1, 1, 0, {name}; {word}"),
        Some("cc") => format!("{}.u32 %t1, 0, 0; {word}", if minus { "subc" } else { "addc" }),
        _other => panic!("`{name}` is no register of the forms"),
    }
}

/// The disagreements of a module.
fn check(
    assemblers: &Assemblers,
    version: &'static str,
    group: &Group,
    cases: &[Case],
    counts: &Mutex<BTreeMap<(&'static str, String), Counts>>,
) -> Vec<String> {
    let text = module(group, cases);
    let stored = match assemblers.disassembled(version, text.as_bytes(), group.target) {
        Ok(listing) => stored(&listing),
        // Which form is to blame shows when each stands alone.
        Err(_) if cases.len() > 1 => {
            let alone = |case| check(assemblers, version, group, std::slice::from_ref(case), counts);
            return cases.iter().flat_map(alone).collect();
        }
        Err(said) => return vec![format!("ptxas {version} says {said} to\n{text}")],
    };
    let mut wrong = Vec::new();
    let mut counts = counts.lock().expect("no thread panics");
    for (number, case) in cases.iter().enumerate() {
        let stored = stored.get(&format!("k{}", number / IN_KERNEL));
        for Expected { offset, value, what } in &case.expected {
            let found = stored.and_then(|stored| number_at(stored, *offset));
            let count = counts.entry((version, case.opcode.clone())).or_default();
            count.all += 1;
            count.compared += usize::from(found.is_some());
            if let Some(found) = found.filter(|found| found != value) {
                wrong.push(format!("{what}: ptxas {version} says {found:#x}, we {value:#x}"));
            }
        }
    }
    wrong
}

/// The text of a module, in which each kernel has a few cases.
fn module(group: &Group, cases: &[Case]) -> String {
    let mut text = format!(".version {}\n.target {}\n.address_size 64\n", group.version, group.target);
    for (number, cases) in cases.chunks(IN_KERNEL).enumerate() {
        let body: String = cases.iter().map(|case| case.text.as_str()).collect();
        write!(
            text,
            ".visible .entry k{number}(.param .u64 p) {{ .reg .b64 %base; ld.param.u64 %base, [p];\n{body}ret; }}\n"
        )
        .expect("a string grows");
    }
    text
}

/// The number that is stored there; 128 bits are two numbers of 64.
fn number_at(stored: &BTreeMap<u32, Stored>, offset: u32) -> Option<u128> {
    let low = stored.get(&offset)?.number?;
    match stored.get(&(offset + 8)) {
        Some(high) => Some(u128::from(high.number?) << 64 | u128::from(low)),
        None => Some(low.into()),
    }
}
