//! All rules on all kinds of video instructions, sampled: nothing they propose is wrong, and most is proved.
//!
//! Forms are enumerated by operation, types and what becomes of the result; masks, selectors and operands are drawn
//! by a fixed generator. Operands are arbitrary, equal, known, or known in part.

use super::example_module as module;
use super::tests::{Tried, all_proposals};
use super::{Rule, rules};
use crate::verify::Judgement;
use ptxopt_grammar::meaning::concrete::evaluate;
use ptxopt_grammar::meaning::disputed::disputed;
use ptxopt_grammar::meaning::term::Terms;
use ptxopt_grammar::meaning::video::result;
use ptxopt_grammar::video::{Form, Lanes, Mad, Part, Routing, Scalar, Simd};
use std::collections::BTreeMap;
use std::fmt::Write;

/// A fixed sequence of numbers that look random.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % end
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

fn part(dice: &mut Dice) -> Option<Part> {
    if dice.below(2) == 0 { None } else { Some(dice.pick(&Part::ALL)) }
}

fn scalar_forms(dice: &mut Dice) -> Vec<Form> {
    Scalar::all().map(|form| Form::Scalar(Scalar { a: part(dice), b: part(dice), ..form })).collect()
}

fn mad_forms(dice: &mut Dice) -> Vec<Form> {
    Mad::all().map(|form| Form::Mad(Mad { a: part(dice), b: part(dice), ..form })).collect()
}

/// Default selectors, or permuted, crossing or repeated ones.
fn routing(dice: &mut Dice, lanes: Lanes) -> Routing {
    let count = lanes.count();
    let mask = if dice.below(2) == 0 {
        lanes.full_mask()
    } else {
        dice.pick(&[1, 2, 3, 5, 7, 14]) & lanes.full_mask()
    };
    let plain = Routing::plain(lanes).masked(mask.max(1)).expect("at least one lane");
    let permuted = |dice: &mut Dice, first: u8| {
        let by = dice.pick(&[0, 1, 2, 3]);
        (0..count).map(|lane| first + ((lane ^ by) & (count - 1))).collect::<Vec<u8>>()
    };
    let (a, b) = match dice.below(5) {
        0 | 1 => return plain,
        2 => (permuted(dice, 0), permuted(dice, count)),
        3 => {
            let mut any = || {
                (0..count).map(|_| dice.pick(&[0, 1, 2, 3, 4, 5, 6, 7]) % (2 * count)).collect::<Vec<u8>>()
            };
            (any(), any())
        }
        _ => {
            let (a, b) = (dice.pick(&[0, 1]), dice.pick(&[0, 1]));
            (vec![a; usize::from(count)], vec![count + b; usize::from(count)])
        }
    };
    plain.selected(&a, &b).expect("picks are in range")
}

fn simd_forms(dice: &mut Dice, lanes: Lanes) -> Vec<Form> {
    Simd::all(lanes)
        .flat_map(|form| {
            let routings = [form.routing, routing(dice, lanes)];
            routings.map(|routing| Form::Simd(Simd { routing, ..form }))
        })
        .collect()
}

/// Registers of which something is known.
const PREAMBLE: &str = "and.b32 %r0, %a, 0x7f7f7f7f; and.b32 %r1, %b, 0x0f0f0f0f; or.b32 %r2, %a, 0x10101010;
mov.b32 %r3, 0; mov.b32 %r4, -1; mov.b32 %r5, 0x80808080; mov.b32 %r6, 0x01020304; and.b32 %r7, %b, 0xffff;
shr.u32 %r8, %a, 27; prmt.b32 %r9, %a, 0, 0x0123;
";

/// Operands by kind: arbitrary, equal, with a known one, known in part.
fn operands(dice: &mut Dice) -> (&'static str, &'static str, &'static str) {
    let c = dice.pick(&["%c", "%c", "%a", "%r3"]);
    let (a, b) = match dice.below(5) {
        0 => ("%a", "%b"),
        1 => dice.pick(&[("%a", "%a"), ("%a", "%r9")]),
        2 => ("%a", dice.pick(&["%r3", "%r4", "%r5", "%r6"])),
        3 => (dice.pick(&["%r3", "%r4", "%r5", "%r6"]), "%b"),
        _ => (dice.pick(&["%r0", "%r1", "%r7", "%r8"]), dice.pick(&["%r0", "%r1", "%r2", "%r7", "%r8"])),
    };
    (a, b, c)
}

/// Modules of a few statements each; what is stored of a result is sometimes a part.
fn modules(forms: &[Form], dice: &mut Dice) -> Vec<String> {
    let body = |forms: &[Form], dice: &mut Dice| {
        let mut body = String::from(PREAMBLE);
        for (at, form) in forms.iter().enumerate() {
            let (a, b, c) = operands(dice);
            let text = form.encode("%d", a, b, Some(c));
            let Some(text) = text else { continue };
            let stored = dice.pick(&["b32", "b32", "b32", "b16", "b8"]);
            writeln!(body, "{text};\nst.global.{stored} [%in+{}], %d;", 16 + 4 * at).expect("a string grows");
        }
        // In every second module all bits of the known registers matter; else it depends on the forms which do.
        let kept = if dice.below(2) == 0 { 10 } else { 0 };
        for number in 0..kept {
            writeln!(body, "st.global.b32 [%in+{}], %r{number};", 1000 + 4 * number).expect("a string grows");
        }
        module(&body)
    };
    forms.chunks(16).map(|forms| body(forms, dice)).collect()
}

#[derive(Clone, Copy, Default, Debug)]
struct Count {
    proved: u32,
    unproved: u32,
    unfounded: u32,
    unclear: u32,
}

/// What becomes of the proposals of all rules, by rule.
fn counted(texts: &[String]) -> BTreeMap<&'static str, Count> {
    let rules: Vec<&'static Rule> = rules().collect();
    let mut counts: BTreeMap<&'static str, Count> = BTreeMap::new();
    for text in texts {
        for Tried { rule, stmt, text, judgement, .. } in all_proposals(&rules, text) {
            let count = counts.entry(rule).or_default();
            match judgement {
                Judgement::Proved(_) => count.proved += 1,
                Judgement::Unproved => count.unproved += 1,
                Judgement::Unfounded => count.unfounded += 1,
                Judgement::Unclear => count.unclear += 1,
                Judgement::Sampled => panic!("proofs were asked for"),
                Judgement::Wrong(wrong) => panic!("`{rule}`: `{stmt}` -> {text:?}: {wrong:?}"),
            }
        }
    }
    counts
}

/// Nothing is wrong; of each rule that proposed, nearly all was proved.
#[expect(clippy::print_stdout, reason = "how often each rule was tried is worth knowing")]
fn check(forms: &[Form], dice: &mut Dice) {
    let counts = counted(&modules(forms, dice));
    println!("{} forms", forms.len());
    for (rule, count) in &counts {
        println!("{rule}: {count:?}");
    }
    assert!(!counts.is_empty());
    for (rule, count) in counts {
        let others = count.unproved + count.unfounded + count.unclear;
        assert!(count.proved > 4 * others, "`{rule}` proposes what is not proved: {count:?}");
    }
}

#[test]
fn rules_are_right_on_scalar_forms() {
    let mut dice = Dice(1);
    let forms = scalar_forms(&mut dice);
    check(&forms, &mut dice);
}

#[test]
fn rules_are_right_on_vmad() {
    let mut dice = Dice(2);
    let forms = mad_forms(&mut dice);
    check(&forms, &mut dice);
}

#[test]
fn rules_are_right_on_bytes() {
    let mut dice = Dice(3);
    let forms = simd_forms(&mut dice, Lanes::Four);
    check(&forms, &mut dice);
}

#[test]
fn rules_are_right_on_halves() {
    let mut dice = Dice(4);
    let forms = simd_forms(&mut dice, Lanes::Two);
    check(&forms, &mut dice);
}

/// Inputs at which signs, carries and clamps show.
const WORDS: [u32; 6] = [0x0102_0304, 0xff80_7f01, 0x8000_0000, 0x7fff_ffff, 0xffff_ffff, 0x8081_0023];

#[test]
fn forms_of_constants_are_the_number_that_the_evaluator_says() {
    let mut dice = Dice(5);
    let mut forms = scalar_forms(&mut dice);
    forms.extend(mad_forms(&mut dice));
    forms.extend(simd_forms(&mut dice, Lanes::Four));
    forms.extend(simd_forms(&mut dice, Lanes::Two));
    let fold: Vec<&'static Rule> = rules().filter(|rule| rule.name == "fold-constant").collect();
    let mut folded = 0;
    for forms in forms.chunks(16) {
        let (mut body, mut expected) = (String::new(), Vec::new());
        for (at, &form) in forms.iter().enumerate() {
            let [a, b, c] = [(); 3].map(|()| dice.pick(&WORDS));
            let text = form.encode("%d", "%r0", "%r1", Some("%r2")).expect("registers have every form");
            let head = format!("mov.b32 %r0, {a}; mov.b32 %r1, {b}; mov.b32 %r2, {c};");
            writeln!(body, "{head}\n{text};\nst.global.b32 [%in+{}], %d;", 16 + 4 * at)
                .expect("a string grows");
            if disputed(form).is_none() {
                expected.push((text, number(form, [a, b, c])));
            }
        }
        let tried = all_proposals(&fold, &module(&body));
        assert_eq!(tried.len(), expected.len(), "{body}");
        for (tried, (text, number)) in tried.into_iter().zip(expected) {
            let found = tried.text.concat();
            let found = found.strip_prefix("mov.b32 %d, ").and_then(|rest| rest.strip_suffix(';'));
            let found = found.expect("a number is moved");
            let found = match found.strip_prefix("0x") {
                Some(digits) => u128::from_str_radix(digits, 16),
                None => found.parse(),
            };
            assert_eq!(found, Ok(number), "{text}");
            assert!(matches!(tried.judgement, Judgement::Proved(_)), "{text}");
            folded += 1;
        }
    }
    assert!(folded > 1000, "{folded} forms were folded");
}

/// What a form computes of three words.
fn number(form: Form, words: [u32; 3]) -> u128 {
    let mut terms = Terms::new();
    let sources = words.map(|word| terms.constant(word.into(), 32));
    let result = result(&mut terms, form, sources);
    evaluate(&terms, &[result], &[])[0]
}
