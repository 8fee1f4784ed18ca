//! The prover on pairs whose verdict is known, and on mutants of them.

mod pairs;

use pairs::{Code, Expected, PAIRS};
use ptxopt_grammar::meaning::term::Term;
use ptxopt_passes::prover::{Query, Verdict, prove};

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
