//! Functions in batches: a thread takes a batch after the other, and the functions of a batch share what is remembered.
//!
//! Batches follow from the text as it came alone, and nothing that one does depends on another. So the result is the
//! same however many threads there are, and whichever of them takes what. A batch has several small functions, since
//! what was found for one is often asked for again in the next.

use super::memo::Memo;
use crate::verify::{Check, Verifier};
use ptxopt_grammar::function::Function;
use std::ops::Range;
use std::time::Duration;

/// How many statements a batch has at least, but for the last one.
const LEAST: usize = 512;
/// How many batches there are at most.
const MOST: usize = 64;

/// Functions that follow each other, by number, and what is remembered of them.
pub(super) struct Batch {
    pub(super) functions: Range<usize>,
    pub(super) verifier: Verifier,
    pub(super) memo: Memo,
}

/// All functions in batches. Several runs over one module can have the same ones after each other.
pub(super) fn batches(functions: &[Function], check: Check) -> Vec<Batch> {
    let size = |function: &Function| function.body.len() + 1;
    let least = functions.iter().map(size).sum::<usize>().div_ceil(MOST).max(LEAST);
    let mut batches = Vec::new();
    let (mut start, mut statements) = (0, 0);
    for (number, function) in functions.iter().enumerate() {
        statements += size(function);
        if statements >= least || number + 1 == functions.len() {
            let functions = start..number + 1;
            batches.push(Batch { functions, verifier: Verifier::new(check), memo: Memo::default() });
            (start, statements) = (number + 1, 0);
        }
    }
    batches
}

/// How many proofs were not made because they were remembered.
pub(super) fn remembered(batches: &[Batch]) -> u64 {
    batches.iter().map(|batch| batch.verifier.remembered()).sum()
}

/// How long proofs took, those that failed included.
pub(super) fn proving(batches: &[Batch]) -> Duration {
    batches.iter().map(|batch| batch.verifier.spent()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptxopt_grammar::tree::StmtId;

    fn functions(sizes: &[usize]) -> Vec<Function> {
        let head = StmtId::new(0).expect("it is a number");
        sizes.iter().map(|&size| Function { name: String::new(), head, body: 1..size }).collect()
    }

    fn cut(sizes: &[usize]) -> Vec<Range<usize>> {
        batches(&functions(sizes), Check::Proved).into_iter().map(|batch| batch.functions).collect()
    }

    #[test]
    fn small_functions_share_a_batch_and_each_is_in_one() {
        assert_eq!(cut(&[]), []);
        assert_eq!(cut(&[10, 10, 10]), vec![0..3]);
        assert_eq!(cut(&[LEAST, 10, LEAST - 10, 1]), [0..1, 1..3, 3..4]);
        assert!(cut(&[LEAST; 10 * MOST]).len() <= MOST);
    }
}
