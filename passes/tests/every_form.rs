//! Every video form is accounted for: with constant operands it becomes a number, and where it stays there is a
//! reason.

#![expect(clippy::print_stdout, reason = "tests say how much they covered")]

#[path = "../../tests/support/simd_forms.rs"]
mod simd_forms;

use ptxopt_grammar::meaning::concrete::evaluate;
use ptxopt_grammar::meaning::disputed::disputed;
use ptxopt_grammar::meaning::term::Terms;
use ptxopt_grammar::meaning::video::result;
use ptxopt_grammar::tree::Module;
use ptxopt_grammar::video::Form;
use ptxopt_passes::cost::Gpu;
use ptxopt_passes::optimiser::{Kind, Options, Outcome, optimise};
use simd_forms::simd_forms;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

fn optimised(module: &Module<'_>, gpu: &str) -> Outcome {
    let options = Options { gpus: vec![Gpu::parse(gpu).expect("it is a target")], ..Options::default() };
    optimise(module, &options, &|| Duration::ZERO)
}

fn parsed(text: &str) -> Module<'_> {
    ptxopt_grammar::parse(text.as_bytes()).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"))
}

// ---- numbers ----------------------------------------------------------------------------------------------

/// A fixed sequence of numbers that look random.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 16
    }

    fn below(&mut self, bound: u8) -> u8 {
        u8::try_from(self.next() % u64::from(bound)).expect("it is below the bound")
    }

    /// A word of corner cases and of others.
    fn word(&mut self) -> u32 {
        let corner = |byte: u64| match byte & 7 {
            0 => 0,
            1 => 0x7f,
            2 => 0x80,
            3 => 0xff,
            _ => byte >> 8 & 0xff,
        };
        (0..4).fold(0, |word, _| word << 8 | u32::try_from(corner(self.next())).expect("it is a byte"))
    }

    /// A row with any parts, selectors and mask.
    fn form(&mut self, row: Form) -> Form {
        row.drawn(&mut |bound| usize::try_from(self.next()).expect("48 bits") % bound)
    }
}

/// How many forms are in one function.
const MOST_FORMS: usize = 64;

#[test]
fn every_form_of_constants_is_a_number() {
    let mut draw = Draw(0x9e37_79b9_7f4a_7c15);
    let rows: Vec<Form> = Form::all().collect();
    let mut tried = 0;
    for (gpu, every) in [("sm_90", 1), ("sm_90", 1), ("sm_35", 3), ("sm_50", 3), ("sm_75", 3), ("sm_120", 3)]
    {
        let forms = rows.iter().step_by(every).map(|&row| draw.form(row));
        let forms: Vec<Form> = forms.filter(|&form| disputed(form).is_none()).collect();
        for forms in forms.chunks(MOST_FORMS) {
            tried += numbers(forms, gpu, &mut draw);
        }
    }
    println!("{tried} forms of constants");
    assert!(tried > 4500, "only {tried} forms could be written");
}

/// Has forms of constants optimised in one function, and returns how many there were.
fn numbers(forms: &[Form], gpu: &str, draw: &mut Draw) -> usize {
    let mut text = format!(
        ".version 8.0\n.target {gpu}\n.address_size 64\n.visible .entry k(.param .u64 p)\n{{\n\
         .reg .b32 %d<{MOST_FORMS}>, %a<{MOST_FORMS}>, %b<{MOST_FORMS}>, %c<{MOST_FORMS}>;\n.reg .b64 %p;\n\
         ld.param.u64 %p, [p];\n"
    );
    let mut expected = Vec::new();
    for (number, &form) in forms.iter().enumerate() {
        let words = [(); 3].map(|()| draw.word());
        let registers = ["a", "b", "c"].map(|name| format!("%{name}{number}"));
        // Scalar forms take numbers themselves, as one of the sources or both.
        let literal = words.map(|word| word.cast_signed().to_string());
        let as_numbers = usize::from(draw.below(4));
        let literals = [as_numbers & 1 != 0, as_numbers & 2 != 0, false];
        let mixed = [0, 1, 2].map(|at| if literals[at] { &literal[at] } else { &registers[at] });
        let to = format!("%d{number}");
        let written = form.encode(&to, mixed[0], mixed[1], Some(mixed[2]));
        let in_registers = || form.encode(&to, &registers[0], &registers[1], Some(&registers[2]));
        let Some(instruction) = written.or_else(in_registers) else { continue };
        for (register, word) in registers.iter().zip(words) {
            writeln!(text, "mov.b32 {register}, {word:#x};").expect("a string can be written to");
        }
        writeln!(text, "{instruction};\nst.global.u32 [%p+{}], {to};", 4 * number)
            .expect("a string can be written to");
        let mut terms = Terms::new();
        let sources = words.map(|word| terms.constant(u128::from(word), 32));
        let value = result(&mut terms, form, sources);
        expected.push((instruction, words, to, evaluate(&terms, &[value], &[])[0]));
    }
    text.push_str("ret;\n}\n");
    let outcome = optimised(&parsed(&text), gpu);
    let new = String::from_utf8(outcome.text.unwrap_or_default()).expect("the text is ASCII");
    for (instruction, words, to, value) in &expected {
        let line = new.lines().find_map(|line| line.strip_prefix(&format!("mov.b32 {to}, ")));
        let number = line.and_then(|line| line.strip_suffix(';')).map(|number| {
            let digits = number.strip_prefix("0x");
            digits.map_or_else(|| number.parse(), |digits| u128::from_str_radix(digits, 16))
        });
        assert_eq!(number, Some(Ok(*value)), "{gpu}: {instruction} on {words:x?}");
    }
    expected.len()
}

// ---- reasons ----------------------------------------------------------------------------------------------

/// A module with a kernel for each form.
fn kernels(forms: &[Form], target: &str) -> String {
    let mut text = format!(".version 8.0\n.target {target}\n.address_size 64\n");
    for (number, form) in forms.iter().enumerate() {
        let instruction =
            form.encode("%r0", "%r1", "%r2", Some("%r3")).expect("the selectors can be written");
        writeln!(
            text,
            ".visible .entry k{number}(.param .u64 p)\n{{\n.reg .b32 %r<4>;\n.reg .b64 %p;\n\
             ld.param.u64 %p, [p];\nld.global.u32 %r1, [%p];\nld.global.u32 %r2, [%p+4];\n\
             ld.global.u32 %r3, [%p+8];\n{instruction};\nst.global.u32 [%p+12], %r0;\nret;\n}}"
        )
        .expect("a string can be written to");
    }
    text
}

#[test]
fn every_form_that_stays_has_a_reason() {
    let forms = simd_forms();
    assert_eq!(forms.len(), 956);
    // The GPUs that differ, and a module that must not have what its GPU does.
    for (target, gpu) in
        [("sm_35", "sm_35"), ("sm_50", "sm_50"), ("sm_75", "sm_75"), ("sm_90", "sm_90"), ("sm_35", "sm_90")]
    {
        let text = kernels(&forms, target);
        let module = parsed(&text);
        let outcome = optimised(&module, gpu);
        let (mut changed, mut reasons, mut silent) = (0, BTreeMap::new(), Vec::new());
        let mut told: BTreeMap<&str, Vec<&Kind>> = BTreeMap::new();
        for record in &outcome.records {
            told.entry(&record.function).or_default().push(&record.kind);
        }
        for (number, form) in forms.iter().enumerate() {
            let kinds = told.get(format!("k{number}").as_str()).map_or(&[][..], Vec::as_slice);
            let missed = kinds.iter().find_map(|kind| match kind {
                Kind::Missed(why) => Some(why.name()),
                Kind::Passed(_)
                | Kind::Wrong(_)
                | Kind::Diverged(_)
                | Kind::Misplaced(_)
                | Kind::Illegal(_)
                | Kind::Unending(_) => None,
            });
            if kinds.iter().any(|kind| matches!(kind, Kind::Passed(_))) {
                changed += 1;
            } else if let Some(why) = missed {
                *reasons.entry(why).or_insert(0) += 1;
            } else {
                silent.push(form.to_string());
            }
        }
        println!("{target} for {gpu}: {changed} changed, {reasons:?}, {} silent", silent.len());
        assert_eq!(silent, Vec::<String>::new());
        if target != gpu {
            assert!(reasons.contains_key("lacks"), "nothing lacks what sm_35 has not");
        }
        let disputed_ones = forms.iter().filter(|&&form| disputed(form).is_some()).count();
        assert_eq!(reasons.get("disputed").copied().unwrap_or(0), disputed_ones);
    }
}
