//! Random fragments of code as terms, for tests that compare functions on terms.
//!
//! Each step applies an operation to what there is, so all operations occur on operands of all widths, and results
//! of some become operands of others.

use super::numbers::Numbers;
use ptxopt_grammar::meaning::term::{Term, Terms, ones};

/// The width of each input of a fragment, by its number.
pub(crate) const WIDTHS: [u32; 6] = [32, 32, 1, 8, 16, 64];

/// A few operations on a few inputs, and the result of each step.
pub(crate) fn fragment(numbers: &mut Numbers) -> (Terms, Vec<Term>) {
    let mut terms = Terms::new();
    let mut pool: Vec<Term> = (0..).zip(WIDTHS).map(|(number, width)| terms.input(number, width)).collect();
    for _step in 0..14 {
        let term = random_term(&mut terms, &pool, numbers);
        pool.push(term);
    }
    (terms, pool.split_off(WIDTHS.len()))
}

/// A value for each input of a fragment.
pub(crate) fn inputs(numbers: &mut Numbers) -> Vec<u128> {
    WIDTHS.iter().map(|&width| numbers.value() & ones(width)).collect()
}

/// Any term over what there is.
fn random_term(terms: &mut Terms, pool: &[Term], numbers: &mut Numbers) -> Term {
    let pick = |numbers: &mut Numbers| pool[numbers.below(pool.len())];
    let a = pick(numbers);
    let width = terms.width(a);
    let fit = |terms: &mut Terms, b: Term| match terms.width(b) {
        other if other > width => terms.extract(b, other - width, width),
        _ => terms.sign_extend(b, width),
    };
    let (b, c) = (pick(numbers), pick(numbers));
    let (b, c) = (fit(terms, b), fit(terms, c));
    match numbers.below(20) {
        0 => terms.not(a),
        1 => terms.and(a, b),
        2 => terms.or(a, b),
        3 => terms.xor(a, b),
        4 => terms.add(a, b),
        5 => terms.sub(a, b),
        6 => terms.mul(a, b),
        7 => terms.shl(a, b),
        8 => terms.lshr(a, b),
        9 => terms.ashr(a, b),
        10 => {
            let low = u32::try_from(numbers.below(width as usize)).expect("it is small");
            let kept = 1 + u32::try_from(numbers.below((width - low) as usize)).expect("it is small");
            terms.extract(a, low, kept)
        }
        11 if 2 * width <= 128 => terms.concat(a, b),
        12 if width < 100 => terms.zero_extend(a, width + 7),
        13 if width < 100 => terms.sign_extend(a, width + 9),
        14 => terms.equal(a, b),
        15 => terms.unsigned_less(a, b),
        16 => terms.signed_less(a, b),
        17 => {
            let condition = terms.extract(c, 0, 1);
            terms.choose(condition, a, b)
        }
        18 if width <= 32 => terms.unsigned_divide(a, b),
        19 if width <= 32 => terms.unsigned_remainder(a, b),
        _ => terms.constant(numbers.value(), width),
    }
}
