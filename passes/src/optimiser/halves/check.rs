//! Whether words kept as halves change nothing: proved for each function, on the text with the statements inserted.
//!
//! The proof works from the two texts and knows nothing of how registers were chosen
//! ([`ptxopt_prover::blocks::representation`]). Here it is said what the halves of a word are, and what becomes of a
//! function for which it fails: that is a bug, which is reported, and no word of the function is kept.

use super::super::record::{Kind, Record};
use super::Kept;
use crate::rules::{LOWER, Pass};
use ptxopt_grammar::edit::Edits;
use ptxopt_grammar::function::{Function, functions};
use ptxopt_grammar::meaning::term::{Term, Terms};
use ptxopt_grammar::tree::{Module, StmtId};
use ptxopt_prover::blocks::representation::{Outcome, Pairs, check};
use std::collections::BTreeMap;

/// Every second byte of a word with something added, each with a zero above it, from the bit `low` on.
pub(super) fn half(terms: &mut Terms, word: Term, bias: u32, low: u128) -> Term {
    let [bias, bytes] = [bias, 0x00ff_00ff].map(|number| terms.constant(number.into(), 32));
    let low = terms.constant(low, 32);
    let biased = terms.xor(word, bias);
    let shifted = terms.lshr(biased, low);
    terms.and(shifted, bytes)
}

/// The functions for which it is proved that their words can be kept, by number, and a record for each of the others.
pub(in super::super) fn checked(
    module: &Module<'_>,
    mut kept: BTreeMap<usize, Kept>,
) -> (BTreeMap<usize, Kept>, Vec<Record>) {
    let mut bugs = Vec::new();
    if kept.is_empty() {
        return (kept, bugs);
    }
    let functions = functions(module);
    match outcomes(module, &functions, &kept) {
        Ok(outcomes) => {
            for (number, outcome) in outcomes {
                if outcome != Outcome::Proved {
                    kept.remove(&number);
                }
                if let Outcome::Failed(failure) = outcome {
                    let record = bug(module, &functions[number], failure.near, failure.why);
                    bugs.push(Record { after: vec![failure.stmt], ..record });
                }
            }
        }
        Err(why) => {
            let numbers = std::mem::take(&mut kept).into_keys();
            let functions = numbers.map(|number| &functions[number]);
            bugs.extend(functions.map(|function| bug(module, function, function.head, why.clone())));
        }
    }
    (kept, bugs)
}

/// What is found of each function with words that are kept, by number; else why nothing can be said of the whole text.
fn outcomes(
    module: &Module<'_>,
    functions_before: &[Function],
    kept: &BTreeMap<usize, Kept>,
) -> Result<Vec<(usize, Outcome)>, String> {
    let mut edits = Edits::new();
    for kept in kept.values() {
        kept.insert(&mut edits);
    }
    let edited = edits.apply(module.text()).map_err(|conflict| conflict.to_string())?;
    let text = edited.to_vec();
    let new = ptxopt_grammar::parse(&text).map_err(|_| "makes the text illegal".to_owned())?;
    let pairs = Pairs::new(module, &new, &edited)?;
    let mut outcomes = Vec::new();
    for (number, (before, after)) in functions_before.iter().zip(&functions(&new)).enumerate() {
        match kept.get(&number) {
            Some(kept) => outcomes.push((number, check(&pairs, (before, after), &kept.words))),
            None if before.body.len() == after.body.len() => {}
            None => return Err("stands in another function".to_owned()),
        }
    }
    Ok(outcomes)
}

fn bug(module: &Module<'_>, function: &Function, near: StmtId, why: String) -> Record {
    let mut record = Record::about(module, &function.name, near, Kind::Misplaced(why));
    record.pass = Pass::Lower;
    record.rules = vec![LOWER.name];
    record
}
