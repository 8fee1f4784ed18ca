//! The groups of plain instructions that are measured together: what the assembler may make one instruction of.
//!
//! Every instruction of a list is tried as the only user of every other one, and the table has those pairs whose cost
//! is not the sum of the costs of their parts.

use crate::assembler::Sample;
use crate::rows::Row;
use ptxopt_grammar::table::instruction::Instruction;
use ptxopt_passes::cost::fused::{TREE, logic};
use ptxopt_passes::recipe::{Source, Step};
use std::collections::BTreeSet;
use std::ops::RangeFrom;

/// Instructions with their sources: `@` is the result of another instruction, `r` a register, `small` a constant that
/// every GPU takes as it is, `wide` another one, and `any` a selector or a table.
const PIECES: &[(&str, &[&str])] = &[
    ("and.b32", &["@ r", "@ small", "@ wide"]),
    ("or.b32", &["@ r", "@ small", "@ wide"]),
    ("xor.b32", &["@ r", "@ small", "@ wide"]),
    ("not.b32", &["@"]),
    ("lop3.b32", &["@ r r any", "r @ r any", "r r @ any", "@ r wide any", "@ wide wide any"]),
    ("shl.b32", &["@ small"]),
    ("shr.u32", &["@ small"]),
    ("shr.s32", &["@ small"]),
    ("add.u32", &["@ r", "@ small", "@ wide"]),
    ("sub.u32", &["@ r", "r @", "small @", "wide @"]),
    ("neg.s32", &["@"]),
    ("abs.s32", &["@"]),
    ("mul.lo.u32", &["@ r", "@ small", "@ wide"]),
    ("mul.hi.u32", &["@ r", "@ wide"]),
    ("mul.hi.s32", &["@ r", "@ wide"]),
    (
        "mad.lo.u32",
        &["@ r r", "r r @", "@ small r", "r small @", "@ wide r", "r wide @", "@ small small", "@ wide wide"],
    ),
    ("mad.hi.u32", &["@ r r", "r r @", "@ wide r", "r wide @"]),
    ("mad.hi.s32", &["@ r r", "r r @", "@ wide r", "r wide @"]),
    ("min.u32", &["@ r", "@ small", "@ wide"]),
    ("max.u32", &["@ r", "@ small", "@ wide"]),
    ("min.s32", &["@ r", "@ zero", "@ small", "@ wide"]),
    ("max.s32", &["@ r", "@ zero", "@ small", "@ wide"]),
    ("add.sat.s32", &["@ r", "@ wide"]),
    ("add.u16x2", &["@ r", "@ wide"]),
    ("min.u16x2", &["@ r", "@ zero", "@ wide"]),
    ("max.u16x2", &["@ r", "@ zero", "@ wide"]),
    ("min.s16x2", &["@ r", "@ zero", "@ wide"]),
    ("max.s16x2", &["@ r", "@ zero", "@ wide"]),
    ("min.relu.s16x2", &["@ r"]),
    ("max.relu.s16x2", &["@ r"]),
    ("add.u8x4", &["@ r"]),
    ("add.sat.u8x4", &["@ r"]),
    ("add.sat.s8x4", &["@ r"]),
    ("sub.u8x4", &["@ r", "r @"]),
    ("sub.sat.u8x4", &["@ r", "r @"]),
    ("sub.sat.s8x4", &["@ r", "r @"]),
    ("min.u8x4", &["@ r"]),
    ("max.u8x4", &["@ r"]),
    ("min.s8x4", &["@ r"]),
    ("max.s8x4", &["@ r"]),
    ("prmt.b32", &["@ r any", "@ zero any", "r @ any", "@ wide any"]),
    ("bfe.u32", &["@ small small"]),
    ("bfe.s32", &["@ small small"]),
    ("bfi.b32", &["@ r small small", "r @ small small"]),
    ("shf.r.wrap.b32", &["@ r small", "r @ small"]),
    ("shf.l.wrap.b32", &["@ r small", "r @ small"]),
    ("sad.u32", &["@ r r", "r r @"]),
    ("sad.s32", &["@ r r", "r r @"]),
    ("dp4a.u32.u32", &["@ r r", "r r @"]),
    ("dp4a.s32.s32", &["@ r r", "r r @"]),
];

/// The constants that a word stands for; each sample takes another one.
fn constants(words: &str, kind: &str) -> &'static [i64] {
    let opcode = words.split('.').next().expect("a word has a first part");
    match (kind, opcode) {
        ("zero", _) => &[0],
        ("small", "shl" | "shr" | "shf" | "bfe" | "bfi") => &[8, 1, 16, 7, 24, 31],
        ("small", _) => &[255, 100, -2, 8],
        ("wide", _) => &[0x7f7f_7f7f, 0x1234_5678, -0x00ff_0100, 0x0100_0000],
        ("any", "lop3") => &[0x96, 0xe8, 0xca, 0x1d],
        ("any", _) => &[0x5140, 0x4140, 0x9a98, 0x6420],
        _ => &[],
    }
}

/// How many samples a pair has.
const SAMPLES: usize = 4;

/// The rows of the table of fused instructions.
pub(crate) fn rows() -> Vec<Row> {
    let pieces = || PIECES.iter().flat_map(|(words, all)| all.iter().map(move |sources| (*words, *sources)));
    let mut rows = Vec::new();
    for (outer, sources) in pieces() {
        let mut names = BTreeSet::new();
        for (inner, of_inner) in pieces() {
            let name = format!("{inner} {}", of_inner.replace('@', "r"));
            // What differs only in the place of the other result is the same here.
            if !names.insert(name.clone()) {
                continue;
            }
            let samples = (0..SAMPLES).map(|number| {
                // Their constants differ.
                let (first, second) = (
                    Piece { words: inner, sources: of_inner, number },
                    Piece { words: outer, sources, number: number + SAMPLES / 2 },
                );
                let mut next = 1..;
                let both = [first.text("%t0", None, &mut next), second.text("%r0", Some("%t0"), &mut next)];
                let alone = [first, second].map(|piece| sample(piece.text("%r0", None, &mut (1..))));
                (sample(both.join("; ")), alone.to_vec())
            });
            rows.push(Row::compared(
                format!("{outer} {}", sources.replace('@', &format!("({name})"))),
                samples.collect(),
            ));
        }
    }
    rows.extend(trees());
    rows
}

const fn sample(text: String) -> Sample {
    Sample { text, result: 'r' }
}

/// An instruction of the list, with the constants that have this number.
#[derive(Clone, Copy)]
struct Piece {
    words: &'static str,
    sources: &'static str,
    number: usize,
}

impl Piece {
    /// Its text, which reads the registers that are next, or `inner` where there is one.
    fn text(self, result: &str, inner: Option<&str>, next: &mut RangeFrom<u32>) -> String {
        let mut moves = String::new();
        let mut number = || next.next().expect("there is no last number");
        let sources = self.sources.split(' ').enumerate().map(|(place, source)| match (source, inner) {
            ("@", Some(inner)) => inner.to_owned(),
            ("@" | "r", _) => format!("%r{}", number()),
            (kind, _) => {
                let all = constants(self.words, kind);
                let value = all[(self.number + place) % all.len()];
                if is_packed(self.words) {
                    let register = format!("%t{}", number());
                    moves += &format!("mov.b32 {register}, {value}; ");
                    register
                } else {
                    value.to_string()
                }
            }
        });
        let sources: Vec<String> = sources.collect();
        format!("{moves}{} {result}, {}", self.words, sources.join(", "))
    }
}

/// The leaves of trees of logic.
const LEAVES: [&str; 9] =
    ["r", "r r", "r r r", "r small", "r wide", "r r small", "r r wide", "r small wide", "r wide wide"];

/// How many trees there are for each kind of leaves, and of how many instructions they are at least and at most.
const TREES: usize = 24;
const SIZES: [usize; 2] = [3, 5];

/// Trees of logic: each instruction reads the one before it and a leaf, or two that are done.
fn trees() -> Vec<Row> {
    let mut seed = 1_u32;
    let mut below = |bound: usize| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) as usize % bound
    };
    let logic: Vec<String> = logic().iter().map(ToString::to_string).collect();
    let row = |leaves: &str| {
        let mut samples = Vec::new();
        for number in 0..TREES {
            let mut next = 1..;
            let leaves = leaves.split(' ').enumerate().map(|(place, kind)| match kind {
                "r" => format!("%r{}", next.next().expect("there is no last number")),
                kind => {
                    let all = constants("and", kind);
                    all[(number + place) % all.len()].to_string()
                }
            });
            let leaves: Vec<String> = leaves.collect();
            let size = SIZES[0] + number % (SIZES[1] + 1 - SIZES[0]);
            let (mut steps, mut open, mut alone) = (Vec::new(), Vec::new(), Vec::new());
            let mut unused: Vec<&String> = leaves.iter().rev().collect();
            for at in 0..size {
                let words = &logic[if at + 1 == size { below(3) } else { below(logic.len()) }];
                let mut source = |registers: bool| {
                    let leaf = unused.pop_if(|leaf| !registers || leaf.starts_with('%'));
                    let registers = leaves.iter().filter(|leaf| leaf.starts_with('%')).count();
                    leaf.unwrap_or_else(|| &leaves[below(registers)]).clone()
                };
                let first = open.pop().unwrap_or_else(|| source(true));

                let result = if at + 1 == size { "%r0".to_owned() } else { format!("%t{at}") };
                let sources =
                    if words.starts_with("not") { first } else { format!("{first}, {}", source(false)) };
                let registers = if words.starts_with("not") { "%r1" } else { "%r1, %r2" };
                alone.push(sample(format!("{words} %r0, {registers}")));
                steps.push(format!("{words} {result}, {sources}"));
                open.push(result);
            }
            samples.push((sample(steps.join("; ")), alone));
        }
        Row::compared(format!("{TREE} {leaves}"), samples)
    };
    LEAVES.map(row).into()
}

/// Registers that a sequence reads are steps from here on.
const REGISTERS: usize = 100;

/// What sequences are drawn from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Drawn {
    /// All instructions of the list.
    All,
    /// Logic above all, of which much is read more than once.
    Logic,
}

/// A sequence of instructions of the list, each of which reads the one before it, and now and then others.
pub(crate) fn drawn(of: Drawn, length: usize, below: &mut dyn FnMut(usize) -> usize) -> (Vec<Step>, Sample) {
    let logic = logic();
    let is_logic = |words: &str| logic.iter().any(|of| of.to_string() == words);
    let pieces: Vec<_> = match of {
        Drawn::All => PIECES.to_vec(),
        Drawn::Logic => {
            let (logic, others): (Vec<_>, Vec<_>) = PIECES.iter().partition(|(words, _)| is_logic(words));
            let others = others.into_iter().filter(|(words, _)| ["shr.u32", "add.u32"].contains(words));
            logic.iter().cycle().take(3 * logic.len()).copied().chain(others).collect()
        }
    };
    let seldom = if of == Drawn::All { 6 } else { 2 };
    let mut steps = Vec::new();
    for at in 0..length {
        let (words, all) = pieces[below(pieces.len())];
        // Operations on a register and itself are simplified, which no cost says.
        let mut register = REGISTERS + below(7);
        let sources = all[below(all.len())].split(' ').map(|source| match source {
            "@" if at > 0 => Source::Step(at - 1),
            "r" if at > 1 && below(seldom) == 0 => Source::Step(below(at - 1)),
            "@" | "r" => {
                register += 1;
                Source::Step(REGISTERS + 1 + register % 7)
            }
            kind => {
                let all = constants(words, kind);
                Source::Constant(u64::from(
                    u32::try_from(all[below(all.len())] & 0xffff_ffff).expect("a word"),
                ))
            }
        });
        let sources: Vec<Source> = sources.collect();
        let instruction = Instruction::parse(words.as_bytes()).expect("the list has instructions");
        steps.push(Step::plain(instruction, &sources));
    }
    let sample = sample(written(&steps));
    (steps, sample)
}

/// The text of a sequence.
fn written(steps: &[Step]) -> String {
    let mut lines = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        let words = step.spelled().to_string();
        let names = step.sources.iter().enumerate().map(|(place, source)| match *source {
            Source::Step(from) if from > REGISTERS => format!("%r{}", from - REGISTERS),
            Source::Step(from) => format!("%t{from}"),
            Source::Constant(value) if is_packed(&words) => {
                lines.push(format!("mov.b32 %t{place}{at}, {value}"));
                format!("%t{place}{at}")
            }
            Source::Constant(value) => value.to_string(),
            Source::Value(_) => unreachable!("there is no graph"),
        });
        let names = names.collect::<Vec<_>>().join(", ");
        let to = if at + 1 == steps.len() { "%r0".to_owned() } else { format!("%t{at}") };
        lines.push(format!("{words} {to}, {names}"));
    }
    lines.join("; ")
}

/// Whether PTX takes no constants in it, though the machine does.
fn is_packed(words: &str) -> bool {
    words.ends_with("x2") || words.ends_with("x4")
}
