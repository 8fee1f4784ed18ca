//! Rules on generated code: seeded bodies of byte moves, video instructions and masks.
//!
//! Whatever a rule proposes is proved, or relies on undemanded bits, which `verify` reports; it is never wrong.

use super::example_module as module;
use super::tests::{Tried, all_proposals};
use super::{Rule, rules};
use crate::verify::Judgement;
use std::collections::BTreeMap;

/// How many bodies are tried.
const BODIES: u64 = 40;

/// A generator of numbers that are the same everywhere.
struct Seeded(u64);

impl Seeded {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn pick<'w>(&mut self, words: &[&'w str]) -> &'w str {
        let at = self.below(words.len() as u64);
        words[usize::try_from(at).expect("it is below the length")]
    }

    fn digits(&mut self, count: u64, below: u64) -> String {
        (0..count).map(|_| self.below(below).to_string()).collect()
    }

    fn mask(&mut self) -> String {
        let byte =
            |seeded: &mut Self| seeded.pick(&["00", "00", "ff", "ff", "ff", "01", "80", "7f"]).to_owned();
        let bytes: String = (0..4).map(|_| byte(self)).collect();
        format!("0x{bytes}")
    }

    /// A byte move from `a`, `b` and what was moved before into `to`.
    fn moved(&mut self, to: &str, from: &[&str]) -> String {
        let (x, y) = (self.pick(from), self.pick(from));
        let eights = 8 * self.below(4);
        match self.below(10) {
            0..=2 => {
                let digits: String = (0..4).map(|_| format!("{:x}", self.below(9).min(7))).collect();
                format!("prmt.b32 {to}, {x}, {y}, 0x{digits};")
            }
            3 => format!("and.b32 {to}, {x}, {};", self.mask()),
            4 => format!("{} {to}, {x}, {eights};", self.pick(&["shl.b32", "shr.u32", "shr.s32"])),
            5 => format!(
                "{} {to}, {x}, {eights}, {};",
                self.pick(&["bfe.u32", "bfe.s32"]),
                8 + 8 * self.below(2)
            ),
            6 => format!("bfi.b32 {to}, {x}, {y}, {eights}, 8;"),
            7 => format!("mov.b32 {to}, {};", self.pick(&["0", "0", "0x01010101", "0x80808080", "-1"])),
            8 => format!("mov.b32 {{%h0, %h1}}, {x}; mov.b32 {to}, {{%h1, %h0}};"),
            _ => format!("mov.b32 {to}, {x};"),
        }
    }

    /// The opcode and modifiers of a SIMD instruction, and how many lanes it has.
    fn simd(&mut self) -> (String, u64) {
        let lanes = 2 + 2 * self.below(2);
        let signs = ["u32", "u32", "s32"];
        let types = format!("{}.{}", self.pick(&signs), self.pick(&signs));
        if self.below(5) == 0 {
            let compare = self.pick(&["eq", "ne", "lt", "le", "gt", "ge"]);
            return (format!("vset{lanes}.{types}.{compare}{}", self.pick(&["", ".add"])), lanes);
        }
        let op = self.pick(&["vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"]);
        let then = self.pick(&["", "", ".add", ".sat"]);
        (format!("{op}{lanes}.{}.{types}{then}", self.pick(&signs)), lanes)
    }

    fn simd_instruction(&mut self, words: &str, lanes: u64, to: &str, c: &str) -> String {
        let letter = if lanes == 4 { 'b' } else { 'h' };
        let mask: String =
            (0..lanes).rev().filter(|_| self.below(2) == 0).map(|lane| lane.to_string()).collect();
        let mask =
            if mask.is_empty() || self.below(3) == 0 { String::new() } else { format!(".{letter}{mask}") };
        let source = |seeded: &mut Self| {
            let source = seeded.pick(&["%a", "%b", "%e", "%f"]);
            let selected = seeded.below(3) == 0;
            if selected {
                format!("{source}.{letter}{}", seeded.digits(lanes, 2 * lanes))
            } else {
                source.to_owned()
            }
        };
        let (x, y) = (source(self), source(self));
        format!("{words} {to}{mask}, {x}, {y}, {c};")
    }

    fn scalar(&mut self) -> String {
        let signs = ["u32", "u32", "s32"];
        let types = format!("{}.{}", self.pick(&signs), self.pick(&signs));
        match self.below(4) {
            0 => format!("vset.{types}.{}", self.pick(&["eq", "lt", "ge"])),
            _ => {
                let op = self.pick(&["vadd", "vsub", "vabsdiff", "vmin", "vmax"]);
                format!("{op}.{}.{types}", self.pick(&signs))
            }
        }
    }

    fn scalar_instruction(&mut self, words: &str, adds: bool, to: &str, c: &str) -> String {
        let part = |seeded: &mut Self| seeded.pick(&["", ".b0", ".b1", ".b2", ".b3", ".h0", ".h1"]);
        let (x, y) = (self.pick(&["%a", "%b", "%e", "%f"]), self.pick(&["%a", "%b", "%e", "%f"]));
        let (x, y) = (format!("{x}{}", part(self)), format!("{y}{}", part(self)));
        if adds {
            return format!("{words}.add {to}, {x}, {y}, {c};");
        }
        let merged = self.pick(&[".b0", ".b1", ".b2", ".b3", ".h0"]);
        format!("{words} {to}{merged}, {x}, {y}, {c};")
    }

    fn body(&mut self) -> String {
        let mut body = vec![self.moved("%e", &["%a", "%b"]), self.moved("%f", &["%a", "%b", "%e"])];
        let scalar = self.below(3) == 0;
        let adds = self.below(2) == 0;
        let (mut words, mut lanes) = if scalar { (self.scalar(), 1) } else { self.simd() };
        for (to, c) in [("%r0", "%c"), ("%r1", "%r0"), ("%r2", "%r1")] {
            if self.below(5) == 0 {
                (words, lanes) = if scalar { (self.scalar(), 1) } else { self.simd() };
            }
            body.push(match lanes {
                1 => self.scalar_instruction(&words, adds, to, c),
                lanes => self.simd_instruction(&words, lanes, to, c),
            });
        }
        body.push(match self.below(3) {
            0 => "mov.b32 %d, %r2;".to_owned(),
            _ => format!("and.b32 %d, %r2, {};", self.mask()),
        });
        body.join(" ")
    }
}

#[test]
fn nothing_wrong_is_proposed_for_seeded_code() {
    let rules: Vec<&'static Rule> = rules().collect();
    let mut proved: BTreeMap<&str, u64> = BTreeMap::new();
    let mut others = Vec::new();
    for seed in 0..BODIES {
        let body = Seeded(seed * 0x9e37_79b9 + 1).body();
        let all = all_proposals(&rules, &module(&body));
        for Tried { rule, stmt, text, judgement, .. } in all.into_iter().filter(|tried| tried.held) {
            match judgement {
                Judgement::Proved(_) => *proved.entry(rule).or_default() += 1,
                Judgement::Sampled => panic!("proofs were asked for"),
                Judgement::Unproved | Judgement::Unfounded | Judgement::Unclear => {
                    others.push(format!("`{rule}`: `{stmt}` -> {text:?}: {judgement:?}\n  in `{body}`"));
                }
                Judgement::Wrong(wrong) => panic!("`{rule}`: `{stmt}` -> {text:?}: {wrong:?}\n  in `{body}`"),
            }
        }
    }
    let total: u64 = proved.values().sum();
    assert!(total > 20 * others.len() as u64, "{total} were proved, and these not: {}", others.join("\n"));
    for rule in ["join-merges", "join-sums", "one-move", "parts-for-moves", "selectors-for-moves"] {
        assert!(proved.get(rule).is_some_and(|&count| count > 0), "`{rule}` was not tried");
    }
}
