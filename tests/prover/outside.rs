//! The prover and the evaluator against a solver that shares nothing with them but the text of the question.
//!
//! The operations of terms are claimed to be those of SMT-LIB, which Z3 implements independently. It is asked for the
//! value of every operation on inputs that are given, and for a verdict on the known pairs and on mutants of them:
//! what it decides, the prover must not decide otherwise. Where it says that two words differ, they are evaluated.

use crate::fragments::{fragment, inputs};
use crate::mutants::{changes_of, mutant};
use crate::numbers::Numbers;
use crate::pairs::{Code, Expected, PAIRS};
use crate::z3::{Answer, Z3};
use ptxopt_grammar::meaning::concrete::evaluate;
use ptxopt_grammar::meaning::term::{Op, Term, Terms};
use ptxopt_prover::{Budget, Query, Verdict, prove};
use std::collections::BTreeMap;

/// Z3's steps for one question: a few tenths of a second.
const LIMIT: u64 = 400_000;

/// How often Z3 and the prover proved, refuted, or left open.
#[derive(Default, Debug)]
struct Counts {
    asked: usize,
    both_proved: usize,
    both_refuted: usize,
    /// Left open by Z3 alone, by the prover alone, by both.
    only_prover: usize,
    only_z3: usize,
    neither: usize,
}

impl Counts {
    /// Compares two answers to the same question.
    fn add(&mut self, name: &str, terms: &Terms, pair: (Term, Term), ours: &Verdict, theirs: &Answer) {
        self.asked += 1;
        if let Answer::Different(values) = theirs {
            let mut inputs = vec![0; 3];
            values.iter().for_each(|&(number, value)| inputs[number as usize] = value);
            let results = evaluate(terms, &[pair.0, pair.1], &inputs);
            assert_ne!(results[0], results[1], "{name}: Z3 calls {inputs:x?} a difference");
        }
        *match (ours, theirs) {
            (Verdict::Proved(_), Answer::Equal) => &mut self.both_proved,
            (Verdict::Refuted(_), Answer::Different(_)) => &mut self.both_refuted,
            (Verdict::Proved(_) | Verdict::Refuted(_), Answer::Undecided) => &mut self.only_prover,
            (Verdict::Unproved, Answer::Equal | Answer::Different(_)) => &mut self.only_z3,
            (Verdict::Unproved, Answer::Undecided) => &mut self.neither,
            (Verdict::Proved(_), Answer::Different(_)) | (Verdict::Refuted(_), Answer::Equal) => {
                panic!("{name}: {ours:?}, but Z3 says {theirs:?}")
            }
        } += 1;
    }
}

#[test]
fn z3_agrees_on_the_pairs() {
    let Some(mut z3) = Z3::start(LIMIT) else { return };
    let mut counts = Counts::default();
    for pair in PAIRS {
        let mut code = Code::new();
        let sides = (pair.build)(&mut code);
        let ours = prove(&Query::new(&code.terms, vec![sides.0], vec![sides.1]));
        let theirs = z3.equal(&code.terms, &[sides], &[]);
        counts.add(pair.name, &code.terms, sides, &ours, &theirs);
    }
    println!("pairs: {counts:?}");
    assert!(counts.both_proved > 10 && counts.both_refuted == 4, "{counts:?}");
}

#[test]
fn z3_agrees_on_mutants() {
    let Some(mut z3) = Z3::start(LIMIT) else { return };
    let mut numbers = Numbers::new(11);
    let mut counts = Counts::default();
    for pair in PAIRS.iter().filter(|pair| pair.expected == Expected::Equal) {
        let mut code = Code::new();
        let (before, after) = (pair.build)(&mut code);
        let all = changes_of(&code.terms, &[after, before]);
        for _mutant in 0..60 {
            let (side, place, change) = all[numbers.below(all.len())];
            let mut terms = code.terms.clone();
            let changed = mutant(&mut terms, side, place, change);
            let mut query = Query::new(&terms, vec![before], vec![changed]);
            query.budget = Budget { step: 200, total: 4000 };
            let ours = prove(&query);
            // Most mutants are wrong; one in four of those is enough.
            if changed == side || matches!(ours, Verdict::Refuted(_)) && numbers.below(4) != 0 {
                continue;
            }
            let theirs = z3.equal(&terms, &[(before, changed)], &[]);
            let name = format!("{}: {place:?} {change:?}", pair.name);
            counts.add(&name, &terms, (before, changed), &ours, &theirs);
        }
    }
    println!("mutants: {counts:?}");
    assert!(counts.both_proved > 50 && counts.both_refuted > 150, "{counts:?}");
}

#[test]
fn z3_computes_every_operation_alike() {
    let Some(mut z3) = Z3::start(LIMIT) else { return };
    let mut numbers = Numbers::new(5);
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for _fragment in 0..400 {
        let (mut terms, _results) = fragment(&mut numbers);
        let inputs = inputs(&mut numbers);
        let all: Vec<Term> = terms.iter().collect();
        let values = evaluate(&terms, &all, &inputs);
        for &term in &all {
            for what in kinds(&terms, term, &values) {
                *seen.entry(what).or_default() += 1;
            }
        }
        let mut pair = |term: Term, value: u128| (term, terms.constant(value, terms.width(term)));
        let right: Vec<_> = all.iter().zip(&values).map(|(&term, &value)| pair(term, value)).collect();
        // A question to which the answer is no, or a solver that says yes to everything would pass.
        let wrong = numbers.below(all.len());
        let wrong = pair(all[wrong], values[wrong] ^ 1);
        let given: Vec<_> = (0..).zip(inputs).collect();
        assert_eq!(z3.equal(&terms, &right, &given), Answer::Equal, "{given:x?} {terms:?}");
        assert!(matches!(z3.equal(&terms, &[wrong], &given), Answer::Different(_)), "{given:x?} {terms:?}");
    }
    println!("operations: {seen:?}");
    for (what, least) in WANTED {
        assert!(seen.get(what).is_some_and(|&count| count >= least), "{what} too seldom: {seen:?}");
    }
}

/// How often each operation, and each of its corners, must have been compared.
const WANTED: [(&str, usize); 26] = [
    ("input", 100),
    ("constant", 100),
    ("not", 100),
    ("and", 100),
    ("or", 100),
    ("xor", 100),
    ("add", 100),
    ("mul", 100),
    ("udiv", 100),
    ("udiv by zero", 30),
    ("urem", 100),
    ("urem by zero", 30),
    ("shl", 100),
    ("shl over the width", 30),
    ("lshr", 100),
    ("lshr over the width", 30),
    ("ashr", 100),
    ("ashr over the width", 30),
    ("extract", 100),
    ("concat", 100),
    ("zero_extend", 100),
    ("sign_extend", 100),
    ("equal", 100),
    ("ult", 100),
    ("slt", 100),
    ("choose", 100),
];

/// The operation of a term, and its corner if the values of its operands are one.
fn kinds(terms: &Terms, term: Term, values: &[u128]) -> Vec<&'static str> {
    let corner = |name, holds: bool, corner| if holds { vec![name, corner] } else { vec![name] };
    let long = |amount: Term| values[amount.index()] >= u128::from(terms.width(term));
    match terms.op(term) {
        Op::Input(_) => vec!["input"],
        Op::Constant(_) => vec!["constant"],
        Op::Not(_) => vec!["not"],
        Op::And(..) => vec!["and"],
        Op::Or(..) => vec!["or"],
        Op::Xor(..) => vec!["xor"],
        Op::Add(..) => vec!["add"],
        Op::Mul(..) => vec!["mul"],
        Op::UnsignedDivide(_, b) => corner("udiv", values[b.index()] == 0, "udiv by zero"),
        Op::UnsignedRemainder(_, b) => corner("urem", values[b.index()] == 0, "urem by zero"),
        Op::Shl(_, b) => corner("shl", long(b), "shl over the width"),
        Op::Lshr(_, b) => corner("lshr", long(b), "lshr over the width"),
        Op::Ashr(_, b) => corner("ashr", long(b), "ashr over the width"),
        Op::Extract(..) => vec!["extract"],
        Op::Concat(..) => vec!["concat"],
        Op::ZeroExtend(_) => vec!["zero_extend"],
        Op::SignExtend(_) => vec!["sign_extend"],
        Op::Equal(..) => vec!["equal"],
        Op::UnsignedLess(..) => vec!["ult"],
        Op::SignedLess(..) => vec!["slt"],
        Op::Choose(..) => vec!["choose"],
    }
}
