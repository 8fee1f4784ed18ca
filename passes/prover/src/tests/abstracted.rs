//! What is made of lanes of products: it is compared without the products where that is enough.

use super::{Numbers, two_bytes_that_differ};
use crate::{Proof, Query, Verdict, prove};
use ptxopt_grammar::meaning::term::{Term, Terms};

/// The words that lanes are bytes of, and the byte that all are multiplied by, as 32 bits.
fn words(terms: &mut Terms) -> ([Term; 2], Term) {
    let words = [0, 1].map(|number| terms.input(number, 32));
    let factor = terms.input(2, 8);
    (words, terms.zero_extend(factor, 32))
}

fn lane(terms: &mut Terms, word: Term, low: u32) -> Term {
    let byte = terms.extract(word, low, 8);
    terms.zero_extend(byte, 32)
}

fn least(terms: &mut Terms, a: Term, b: Term) -> Term {
    let is_less = terms.unsigned_less(a, b);
    terms.choose(is_less, a, b)
}

/// `min(x + (y * factor >> 8), 255)` of each lane, as a word.
fn added_and_saturated(terms: &mut Terms) -> Term {
    let ([x, y], factor) = words(terms);
    let most = terms.constant(255, 32);
    let lanes = [0, 8, 16, 24].map(|low| {
        let [x, y] = [x, y].map(|word| lane(terms, word, low));
        let product = terms.mul(y, factor);
        let part = terms.extract(product, 8, 24);
        let part = terms.zero_extend(part, 32);
        let sum = terms.add(x, part);
        let sum = least(terms, sum, most);
        terms.extract(sum, 0, 8)
    });
    terms.side_by_side(lanes).expect("there are lanes")
}

/// `x + min(y * factor >> 8, 255 - x)` of each lane, where the products are those of two lanes at a time, and `more` is
/// added to the factor.
fn added_in_halves(terms: &mut Terms, more: u128) -> Term {
    let ([x, y], factor) = words(terms);
    let more = terms.constant(more, 32);
    let factor = terms.add(factor, more);
    let (mask, eight) = (terms.constant(0x00ff_00ff, 32), terms.constant(8, 32));
    let even = terms.and(y, mask);
    let odd = terms.lshr(y, eight);
    let odd = terms.and(odd, mask);
    let products = [even, odd].map(|halves| terms.mul(halves, factor));
    let lanes = [(0, 8), (1, 8), (0, 24), (1, 24)].into_iter().zip([0, 8, 16, 24]);
    let lanes: Vec<Term> = lanes
        .map(|((product, low), place)| {
            let (x, part) = (terms.extract(x, place, 8), terms.extract(products[product], low, 8));
            let room = terms.not(x);
            let part = least(terms, part, room);
            terms.add(x, part)
        })
        .collect();
    terms.side_by_side(lanes).expect("there are lanes")
}

fn saturated(more: u128) -> Verdict {
    let mut terms = Terms::new();
    let before = added_and_saturated(&mut terms);
    let after = added_in_halves(&mut terms, more);
    prove(&Query::new(&terms, vec![before], vec![after]))
}

#[test]
fn what_is_made_of_lanes_of_products_is_compared_without_them() {
    let verdict = saturated(0);
    let Verdict::Proved(Proof::Sat { conflicts }) = verdict else { panic!("{verdict:?}") };
    assert!(conflicts < 3000, "{conflicts} conflicts are not those of four sums");
}

#[test]
fn lanes_of_other_products_are_refuted() {
    assert!(matches!(saturated(1), Verdict::Refuted(_)));
}

#[test]
fn what_holds_of_products_only_is_proved_with_them() {
    let mut terms = Terms::new();
    let ([x, _], factor) = words(&mut terms);
    let x = lane(&mut terms, x, 8);
    let product = terms.mul(x, factor);
    let part = terms.extract(product, 8, 8);
    // The upper byte of a product of bytes is never 255.
    let (most, below) = (terms.constant(254, 8), terms.constant(253, 8));
    for (bound, holds) in [(most, true), (below, false)] {
        let bounded = least(&mut terms, part, bound);
        let verdict = prove(&Query::new(&terms, vec![part], vec![bounded]));
        assert_eq!(matches!(verdict, Verdict::Proved(_)), holds, "{verdict:?}");
        assert_eq!(matches!(verdict, Verdict::Refuted(_)), !holds, "{verdict:?}");
    }
}

/// A function of lanes of a product of two bytes, drawn from some that are often equal.
fn function(terms: &mut Terms, numbers: &mut Numbers, product: Term) -> Term {
    let low = [0, 4, 8, 8][numbers.below(4)];
    let part = terms.extract(product, low, 8);
    let bound = terms.constant([254, 253, 128][numbers.below(3)], 8);
    match numbers.below(4) {
        0 => part,
        1 => least(terms, part, bound),
        2 => {
            let inverted = terms.not(part);
            let sum = terms.and(part, inverted);
            terms.or(sum, part)
        }
        _ => terms.xor(part, bound),
    }
}

#[test]
fn functions_of_lanes_of_products_are_proved_only_where_they_are_equal() {
    let mut numbers = Numbers::new(12);
    let mut proved = 0;
    for _question in 0..200 {
        let mut terms = Terms::new();
        let [x, y] = [0, 1].map(|number| terms.input(number, 8));
        // One side multiplies words of 16 bits, the other one of 32.
        let sides = [16, 32].map(|width| {
            let [x, y] = [x, y].map(|byte| terms.zero_extend(byte, width));
            let product = terms.mul(x, y);
            function(&mut terms, &mut numbers, product)
        });
        let [before, after] = sides;
        let verdict = prove(&Query::new(&terms, vec![before], vec![after]));
        let differs = two_bytes_that_differ(&terms, before, after);
        proved += u32::from(matches!(verdict, Verdict::Proved(_)));
        assert_eq!(matches!(verdict, Verdict::Proved(_)), differs.is_none(), "{verdict:?} {differs:?}");
    }
    assert!(proved > 10, "{proved}");
}
