//! Straight-line functions that differ: inputs for which they do, and the first register that tells them apart.
//!
//! Both functions are taken for terms over unknowns (`fragment`), and the prover looks for unknowns that make them
//! differ. It knows nothing of how unknowns depend on each other, so what it finds is tried in a world that could be
//! (`possible.rs`), and what does not differ there is not said to differ.

use super::around::InModule;
use super::fragment::{Computed, compute};
use super::{Query, Reads, Verdict, parting, possible, prove, special};
use ptxopt_grammar::meaning::term::{Op, Term, Terms};

/// How two pieces of straight-line code differ, if they are found to do so for some inputs.
#[must_use]
pub fn refuted((before, old): InModule<'_, '_, '_>, (after, new): InModule<'_, '_, '_>) -> Option<String> {
    let (mut terms, mut reads) = (Terms::new(), Reads::new());
    let [first, second] = [(before, old), (after, new)];
    let old = compute(first.0, first.1, &mut terms, &mut reads).ok()?;
    let new = compute(second.0, second.1, &mut terms, &mut reads).ok()?;
    let shape = |computed: &Computed| -> Vec<(String, u32)> {
        computed.results.iter().map(|(what, term)| (what.clone(), terms.width(*term))).collect()
    };
    // A load is an unknown, identified by the place that it reads: loads of other places are other unknowns.
    if shape(&old) != shape(&new) || old.loads != new.loads {
        return None;
    }
    let sides = [&old, &new].map(|computed| computed.results.iter().map(|&(_, term)| term).collect());
    let [results, news]: [Vec<Term>; 2] = sides;
    let mut query = Query::new(&terms, results, news);
    query.undefined = reads.all_undefined();
    for term in terms.iter() {
        let Op::Input(number) = terms.op(term) else { continue };
        let name = reads.register(number).filter(|name| name.starts_with('%'));
        let known = name.map(|name| (number, special::read(name.as_bytes(), terms.width(term)).known));
        query.assumptions.extend(known);
    }
    let Verdict::Refuted(counterexample) = prove(&query) else { return None };
    // A register that was not written may hold anything: a difference that depends on its value refutes nothing.
    if counterexample.inputs.iter().any(|input| input.matters && query.undefined.contains(&input.number)) {
        return None;
    }
    let counterexample = possible::possible(&terms, &reads, first, [&old, &new], &counterexample)?;
    let input = |number| reads.register(number).cloned().unwrap_or_default();
    let mut text = counterexample.describe(input, |result| old.results[result].0.clone());
    text.extend(parting(&terms, &old, (after, &new), &counterexample));
    Some(text)
}
