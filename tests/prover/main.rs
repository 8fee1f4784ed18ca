//! The prover on pairs whose verdict is known, and on mutants of them; an outside solver on both.
//!
//! The solver is looked for where `sh .ci/tools` puts it. Where it is absent its tests say so and pass, unless
//! `PTXOPT_REQUIRE_ASSEMBLER` is set.

#![expect(clippy::cast_possible_truncation, reason = "inputs of 32 bits come in wider words")]
#![expect(clippy::print_stdout, reason = "tests say how much they covered")]

mod blocks;
#[path = "../support/fragments.rs"]
mod fragments;
mod in_flight;
#[path = "../support/jobs.rs"]
mod jobs;
mod masks;
mod mutants;
#[path = "../support/numbers.rs"]
mod numbers;
mod outputs;
mod outside;
mod pairs;
mod straight;
#[path = "../support/modules.rs"]
mod support;
mod surroundings;
mod words;
mod z3;

use pairs::{Code, Expected, PAIRS};
use ptxopt_grammar::meaning::term::{Term, Terms};
use ptxopt_prover::{Assumption, Prover, Query, Verdict, prove};

fn verdict(build: fn(&mut Code) -> (Term, Term)) -> Verdict {
    let mut code = Code::new();
    let (before, after) = build(&mut code);
    prove(&Query::new(&code.terms, vec![before], vec![after]))
}

#[test]
fn every_pair_has_its_verdict() {
    for pair in PAIRS {
        match (verdict(pair.build), pair.expected) {
            (Verdict::Proved(_), Expected::Equal) | (Verdict::Refuted(_), Expected::Different) => {}
            (other, expected) => panic!("{}: {other:?}, not {expected:?}", pair.name),
        }
    }
}

#[test]
fn verdicts_repeat_whatever_was_asked_before() {
    let cheap = || PAIRS.iter().filter(|pair| pair.reference < 100.0);
    let first: Vec<Verdict> = cheap().map(|pair| verdict(pair.build)).collect();
    let mut again: Vec<Verdict> = cheap().rev().map(|pair| verdict(pair.build)).collect();
    again.reverse();
    assert_eq!(first, again);
    // In one arena, after terms that have nothing to do with them, and with inputs of other numbers' age.
    let mut code = Code::new();
    let (a, b) = (code.b, code.a);
    let junk = code.terms.mul(a, b);
    let junk = code.terms.sub(junk, code.c);
    code.terms.xor(junk, b);
    let pairs: Vec<&pairs::Pair> = cheap().collect();
    for (pair, first) in pairs.iter().zip(&first).rev() {
        let (before, after) = (pair.build)(&mut code);
        let shared = prove(&Query::new(&code.terms, vec![before], vec![after]));
        assert_eq!(&shared, first, "{}", pair.name);
    }
}

#[test]
fn answers_are_remembered_whatever_the_inputs_are_called() {
    let mut prover = Prover::new();
    for numbers in [[0, 1], [7, 3]] {
        let mut terms = Terms::new();
        let [a, b] = numbers.map(|number| terms.input(number, 32));
        let (sum, differ) = (terms.add(a, b), terms.xor(a, b));
        let verdict = prover.decide(&Query::new(&terms, vec![sum], vec![differ]));
        let Verdict::Refuted(counterexample) = verdict else { panic!("{verdict:?}") };
        assert!(counterexample.inputs.iter().all(|input| numbers.contains(&input.number)));
    }
    assert_eq!(prover.remembered(), 1);
}

#[test]
fn assumptions_and_demanded_bits_count() {
    let mut terms = Terms::new();
    let (a, b) = (terms.input(0, 32), terms.input(1, 32));
    let (sum, either) = (terms.add(a, b), terms.or(a, b));
    let mut query = Query::new(&terms, vec![sum], vec![either]);
    assert!(matches!(prove(&query), Verdict::Refuted(_)));
    let known = |known| Assumption { known, ..Assumption::NONE };
    query.assumptions.insert(0, known(0xff));
    query.assumptions.insert(1, known(0xffff_ff00));
    assert!(matches!(prove(&query), Verdict::Proved(_)));
    query.assumptions.clear();
    query.demanded = vec![1];
    assert!(matches!(prove(&query), Verdict::Refuted(_)));
    let differ = terms.xor(a, b);
    let mut query = Query::new(&terms, vec![sum], vec![differ]);
    query.demanded = vec![1];
    assert!(matches!(prove(&query), Verdict::Proved(_)));
}

#[test]
fn ranges_count() {
    let mut terms = Terms::new();
    let a = terms.input(0, 32);
    let (byte, signed) = (terms.extract(a, 0, 8), terms.extract(a, 0, 8));
    let (byte, signed) = (terms.zero_extend(byte, 32), terms.sign_extend(signed, 32));
    let within = |result, unsigned, signed| {
        let mut query = Query::new(&terms, vec![a], vec![result]);
        query.assumptions.insert(0, Assumption { unsigned, signed, ..Assumption::NONE });
        matches!(prove(&query), Verdict::Proved(_))
    };
    assert!(within(byte, Some((0, 255)), None));
    assert!(!within(byte, Some((0, 256)), None));
    assert!(within(signed, None, Some((-128, 127))));
    assert!(!within(signed, None, Some((-129, 127))));
    assert!(within(byte, None, Some((3, 200))));
}

#[test]
fn an_undefined_input_is_another_one_on_each_side() {
    let mut terms = Terms::new();
    let a = terms.input(0, 32);
    let off = terms.not(a);
    let b = terms.input(1, 32);
    let before = terms.xor(a, b);
    let after = terms.xor(off, b);
    let after = terms.not(after);
    let mut query = Query::new(&terms, vec![before], vec![after]);
    assert!(matches!(prove(&query), Verdict::Proved(_)));
    query.undefined.insert(0);
    assert!(matches!(prove(&query), Verdict::Refuted(_)));
}

#[test]
fn a_counterexample_is_small_and_shown_by_lanes() {
    let mut code = Code::new();
    let (before, after) = (pairs::vadd4(&mut code), code.terms.add(code.a, code.b));
    let Verdict::Refuted(counterexample) = prove(&Query::new(&code.terms, vec![before], vec![after])) else {
        panic!("a carry crosses lanes")
    };
    let shown =
        counterexample.describe(|number| ["a", "b", "c"][number as usize].to_owned(), |_| "d".to_owned());
    assert!(shown.contains("input   a = 0x00"), "{shown}");
    assert!(shown.contains("want"), "{shown}");
    println!("{shown}");
}
