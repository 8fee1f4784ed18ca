//! Kernels of instructions whose operands are constants, with what they must store.
//!
//! Each form stands there several times, with corner values moved into the registers that it reads; everything that
//! it writes is stored in a place of its own, and what must be found there is what evaluating its terms gives.

use super::forms::Group;
use super::numbers::Numbers;
use super::one::{One, REGISTERS};
use ptxopt_grammar::meaning::concrete::evaluate;
use ptxopt_grammar::table;
use std::fmt::Write;

/// How many forms one kernel has.
pub(crate) const IN_KERNEL: usize = 20;

/// How many bytes the results of one form have.
pub(crate) const ROOM: usize = 1024;

/// One form with several lists of operands, and what it must store where.
pub(crate) struct Case {
    pub(crate) form: String,
    text: String,
    pub(crate) expected: Vec<Expected>,
}

/// A number that must be stored.
pub(crate) struct Expected {
    pub(crate) offset: u32,
    pub(crate) value: u128,
    /// What is written, with which operands.
    pub(crate) what: String,
    /// Whether the manual and the assembler may disagree on it; it is what the manual says.
    pub(crate) disputed: bool,
}

impl Case {
    /// The form as the one with this number in its kernel.
    pub(crate) fn new(group: &Group, form: &str, number: usize, numbers: &mut Numbers) -> Self {
        let one = One::new(group, form).unwrap_or_else(|| panic!("`{form}` has no meaning"));
        let opcode = form.split(' ').next().unwrap_or_default();
        let name = table::lookup(opcode.as_bytes()).expect("the instruction has a row").name;
        let times = if matches!(name, "set" | "setp") { 2 } else { 8 };
        let mut case = Self { text: String::new(), expected: Vec::new(), form: form.to_owned() };
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
            // Both agree on fields of 64 bits, wherever position and length have no more than eight.
            let field = form.starts_with("bf") && form.contains("64 %d");
            let disputed = field && values[values.len() - 2..].iter().any(|&place| place > 255);
            self.expected.push(Expected { offset, value, what, disputed });
        }
        self.text += "}\n";
    }
}

/// Puts a number into a register. The flag is set by a sum or, for instructions that read a borrow, by a difference.
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
        _ => panic!("`{name}` is no register of the forms"),
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
        _ => panic!("`{name}` is no register of the forms"),
    }
}

/// The text of a module, in which each kernel has a few cases.
pub(crate) fn module(group: &Group, cases: &[Case]) -> String {
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
