//! Inputs on which two pieces of code differ, made small, and shown lane by lane.
//!
//! Every smaller input is evaluated before it is kept, so what is shown is always an input on which the sides differ.

use super::Question;
use super::aig::Lit;
use super::decide::{Plain, in_ranges, value};
use super::query::Budget;
use super::sweep::{Search, Sweep};
use ptxopt_grammar::meaning::term::{ones, signed};
use std::fmt::Write;

/// The value of an input in a counterexample.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InputValue {
    /// Its number in the terms.
    pub number: u32,
    /// How many bits it has.
    pub width: u32,
    /// Its value.
    pub value: u128,
    /// Whether the sides may be equal with another value of it and the same values of the inputs that matter.
    pub matters: bool,
}

/// Whether there are other inputs that tell the sides apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Uniqueness {
    /// There are none but for inputs that do not matter.
    Only,
    /// There are others.
    OneOfSeveral,
    /// It was not found out.
    Unknown,
    /// Nor were the inputs made small.
    Drawn,
}

/// Inputs on which two pieces of code differ.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counterexample {
    /// The inputs, in order of their first use.
    pub inputs: Vec<InputValue>,
    /// The results of the first piece with the demanded bits and the width of each.
    pub before: Vec<u128>,
    /// The results of the second.
    pub after: Vec<u128>,
    /// The bits of each result that count.
    pub demanded: Vec<u128>,
    /// The widths of the results.
    pub widths: Vec<u32>,
    /// Whether it is the only one.
    pub uniqueness: Uniqueness,
}

impl Counterexample {
    /// The counterexample as text, several lines, with the names that `name` gives to inputs and `result` to results.
    #[must_use]
    pub fn describe(&self, name: impl Fn(u32) -> String, result: impl Fn(usize) -> String) -> String {
        let mut text = String::new();
        let mut line = |what: &str, name: &str, value: u128, width: u32, note: &str| {
            let shown = format!("{what:<7} {name} = {}{note}", word(value, width));
            writeln!(text, "  {}", shown.trim_end()).expect("a string can be written to");
        };
        for input in &self.inputs {
            let note = if input.matters { "" } else { "   (does not matter)" };
            line("input", &name(input.number), input.value, input.width, note);
        }
        for (at, (&before, &after)) in self.before.iter().zip(&self.after).enumerate() {
            if (before ^ after) & self.demanded[at] == 0 {
                continue;
            }
            let (name, width) = (result(at), self.widths[at]);
            line("before", &name, before, width, "");
            line("after", &name, after, width, &difference(before, after, self.demanded[at], width));
        }
        let unique = match self.uniqueness {
            Uniqueness::Only => "minimised; no other inputs differ",
            Uniqueness::OneOfSeveral => "minimised; other inputs differ too",
            Uniqueness::Unknown => "minimised",
            Uniqueness::Drawn => "not minimised",
        };
        writeln!(text, "  ({unique})").expect("a string can be written to");
        text
    }
}

impl std::fmt::Display for Counterexample {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.describe(|number| format!("x{number}"), |result| format!("result {result}")))
    }
}

/// A word in hexadecimal, and its bytes if it has several.
fn word(value: u128, width: u32) -> String {
    let digits = width.div_ceil(4) as usize;
    let whole = format!("0x{value:0digits$x}");
    if !width.is_multiple_of(8) || width == 8 || width > 64 {
        return whole;
    }
    let lanes: Vec<u128> = (0..width / 8).rev().map(|lane| value >> (8 * lane) & 0xff).collect();
    let hexadecimal: Vec<String> = lanes.iter().map(|lane| format!("{lane:02x}")).collect();
    let decimal: Vec<String> = lanes.iter().map(|&lane| signed(lane, 8).to_string()).collect();
    format!("{whole}   lanes {} (s8: {})", hexadecimal.join(" "), decimal.join(" "))
}

/// Which lanes differ, or which bits where there are no lanes.
fn difference(before: u128, after: u128, demanded: u128, width: u32) -> String {
    if !width.is_multiple_of(8) || width == 8 || width > 64 {
        return String::new();
    }
    let lane = |word: u128, lane: u32| word >> (8 * lane) & 0xff;
    let differ = |&at: &u32| lane((before ^ after) & demanded, at) != 0;
    let lanes: Vec<String> = (0..width / 8)
        .filter(differ)
        .map(|at| format!("lane {at}: want {:02x}, got {:02x}", lane(before, at), lane(after, at)))
        .collect();
    format!("   {}", lanes.join("; "))
}

/// Makes a counterexample small: inputs to zero, then all but one byte, then bytes to at most 15, then bits.
pub(super) fn minimised(question: &Question, plain: &mut Plain, values: Vec<u128>) -> Counterexample {
    let mut values = values;
    // Each replacement lowers an input, so it ends.
    while let Some(smaller) = smaller(question, plain, &values) {
        values = smaller;
    }
    finished(question, plain, &values)
}

/// The first replacement of one input by a smaller value with which the sides still differ.
fn smaller(question: &Question, plain: &Plain, values: &[u128]) -> Option<Vec<u128>> {
    let mut candidates: Vec<Vec<u128>> = Vec::new();
    let mut offer = |at: usize, value: u128| {
        if value < values[at] {
            let mut candidate = values.to_vec();
            candidate[at] = value;
            candidates.push(candidate);
        }
    };
    (0..values.len()).for_each(|at| offer(at, 0));
    for (at, &value) in values.iter().enumerate() {
        (0..16).for_each(|lane| offer(at, value & 0xff << (8 * lane)));
    }
    for (at, &value) in values.iter().enumerate() {
        for lane in (0..16).filter(|lane| value >> (8 * lane) & 0xff > 0) {
            let others = value & !(0xff << (8 * lane));
            (0..16).for_each(|small| offer(at, others | small << (8 * lane)));
        }
    }
    for (at, &value) in values.iter().enumerate() {
        (0..128).rev().for_each(|bit| offer(at, value & !(1 << bit)));
    }
    let mut batches = candidates.chunks(64);
    batches.find_map(|batch| first_difference(question, plain, batch))
}

fn first_difference(question: &Question, plain: &Plain, batch: &[Vec<u128>]) -> Option<Vec<u128>> {
    let words = run(plain, batch);
    let differ = plain.differences(&words);
    let admitted = |values: &[u128]| {
        let inputs = question.cone.inputs.iter().zip(values);
        inputs.into_iter().all(|(input, &value)| input.assumption.admits(value, input.width))
    };
    let mut good = batch.iter().enumerate().filter(|(at, values)| differ >> at & 1 == 1 && admitted(values));
    good.next().map(|(_, values)| values.clone())
}

/// All gates on at most 64 vectors.
fn run(plain: &Plain, batch: &[Vec<u128>]) -> Vec<u64> {
    let mut free = Vec::new();
    for (input, bits) in plain.inputs.iter().enumerate() {
        for (at, _) in bits.iter().enumerate().filter(|(_, lit)| !lit.is_constant()) {
            let bit = |values: &Vec<u128>| u64::try_from(values[input] >> at & 1).expect("it is one bit");
            free.push(
                batch.iter().enumerate().fold(0, |word, (vector, values)| word | bit(values) << vector),
            );
        }
    }
    let mut free = free.into_iter();
    plain.run(|| free.next().expect("there is a word for every free bit"))
}

/// What more there is to say of a counterexample takes at most this many conflicts a question.
const REMARKS: Budget = Budget { step: 1000, total: 5000 };

fn finished(question: &Question, plain: &mut Plain, values: &[u128]) -> Counterexample {
    let words = run(plain, &[values.to_vec()]);
    let result = |bits: &Vec<Lit>| {
        bits.iter().rev().fold(0, |word, &lit| word << 1 | u128::from(value(&words, lit) & 1))
    };
    let before = plain.before.iter().map(result).collect();
    let after = plain.after.iter().map(result).collect();
    let (matters, uniqueness) = remarks(question, plain, values);
    let inputs = question.cone.inputs.iter().zip(values).zip(matters).enumerate();
    let inputs = inputs.map(|(at, ((input, &value), matters))| InputValue {
        number: u32::try_from(at).expect("inputs have such numbers"),
        width: input.width,
        value: value & ones(input.width),
        matters,
    });
    Counterexample {
        inputs: inputs.collect(),
        before,
        after,
        demanded: question.demanded.clone(),
        widths: question.cone.before.iter().map(|&word| question.cone.words[word as usize].width).collect(),
        uniqueness,
    }
}

/// Which inputs matter, and whether others differ.
fn remarks(question: &Question, plain: &mut Plain, values: &[u128]) -> (Vec<bool>, Uniqueness) {
    let mut differ = Lit::FALSE;
    for &(before, after) in &plain.pairs {
        let bit = plain.graph.xor(before, after);
        differ = plain.graph.or(differ, bit);
    }
    let allowed = in_ranges(&question.cone.inputs, &plain.inputs, &mut plain.graph);
    let fixed: Vec<Vec<Lit>> = plain
        .inputs
        .iter()
        .zip(values)
        .map(|(bits, value)| {
            bits.iter().enumerate().map(|(at, bit)| bit.inverted_if(value >> at & 1 == 0)).collect()
        })
        .collect();
    let mut solver = Sweep::new(Vec::new(), REMARKS, 0);
    let mut matters = vec![true; values.len()];
    for at in 0..values.len() {
        matters[at] = false;
        let mut lits = vec![!differ, allowed];
        lits.extend(fixed.iter().zip(&matters).filter(|(_, matters)| **matters).flat_map(|(bits, _)| bits));
        match solver.solve(plain.graph.gates(), &lits, REMARKS.step) {
            Search::Never => {}
            Search::Found(_) | Search::Unknown => matters[at] = true,
        }
    }
    let important = fixed.iter().zip(&matters).filter(|(_, matters)| **matters).flat_map(|(bits, _)| bits);
    let these = important.fold(Lit::TRUE, |all, &lit| plain.graph.and(all, lit));
    let uniqueness = match solver.solve(plain.graph.gates(), &[differ, allowed, !these], REMARKS.step) {
        Search::Found(_) => Uniqueness::OneOfSeveral,
        Search::Never => Uniqueness::Only,
        Search::Unknown => Uniqueness::Unknown,
    };
    (matters, uniqueness)
}
