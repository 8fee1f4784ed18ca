//! Blends, as they are written: their two products are weighted bytes, or halves that carry nothing.

use crate::{Proof, Query, Verdict, prove};
use ptxopt_grammar::meaning::term::{Term, Terms};

/// A step of a blend, `x + ((y - x) * factor >> 8)`, and `x * rest + y * factor >> 8`, as bytes, where `x` is the lowest
/// byte of a word of which the other bytes do not matter.
fn blends(factor: u32, rest: u32, by: u32) -> Verdict {
    let mut terms = Terms::new();
    let [x, y] = [0, 1].map(|number| terms.input(number, 32));
    let [low_x, low_y] = [x, y].map(|word| {
        let byte = terms.extract(word, 0, 8);
        terms.zero_extend(byte, 32)
    });
    let [factor, rest] = [factor, rest].map(|number| terms.constant(number.into(), 32));
    let difference = terms.sub(low_y, low_x);
    let part = terms.mul(difference, factor);
    let part = terms.extract(part, by, 32 - by);
    let part = terms.zero_extend(part, 32);
    let step = terms.add(part, x);
    let (first, second) = (terms.mul(low_x, rest), terms.mul(low_y, factor));
    let sum = terms.add(first, second);
    let (before, after) = (terms.extract(step, 0, 8), terms.extract(sum, 8, 8));
    prove(&Query::new(&terms, vec![before], vec![after]))
}

#[test]
fn a_step_of_a_blend_is_a_sum_of_weighted_bytes() {
    for factor in (1..256).step_by(19) {
        assert!(matches!(blends(factor, 256 - factor, 8), Verdict::Proved(_)), "{factor}");
    }
    assert_eq!(blends(77, 179, 8), Verdict::Proved(Proof::Structural));
    for (factor, rest, by) in [(77, 178, 8), (77, 180, 8), (77, 65_715, 8), (77, 179, 7), (77, 179, 9)] {
        let equal = rest == 65_715;
        let verdict = blends(factor, rest, by);
        assert_eq!(matches!(verdict, Verdict::Proved(_)), equal, "{factor} {rest} {by}: {verdict:?}");
        assert_eq!(matches!(verdict, Verdict::Refuted(_)), !equal, "{factor} {rest} {by}: {verdict:?}");
    }
}

/// A step of a blend by a number that nothing is known of, `x + ((y - x) * factor >> 8)`, and `x * (most - factor) + y *
/// factor >> 8`, where only the lower halves of both weights are multiplied; as bytes.
fn faded(most: u128, by: u32) -> Verdict {
    let mut terms = Terms::new();
    let bytes = [0, 1].map(|number| terms.input(number, 8));
    let [x, y] = bytes.map(|byte| terms.zero_extend(byte, 32));
    let factor = terms.input(2, 32);
    let difference = terms.sub(y, x);
    let part = terms.mul(difference, factor);
    let part = terms.extract(part, by, 8);
    let before = terms.add(bytes[0], part);
    let most = terms.constant(most, 32);
    let rest = terms.sub(most, factor);
    let weights = [rest, factor].map(|weight| {
        let half = terms.extract(weight, 0, 16);
        terms.zero_extend(half, 32)
    });
    let products = [terms.mul(x, weights[0]), terms.mul(y, weights[1])];
    let sum = terms.add(products[0], products[1]);
    let after = terms.extract(sum, by, 8);
    prove(&Query::new(&terms, vec![before], vec![after]))
}

#[test]
fn a_step_of_a_blend_by_any_number_is_a_sum_of_products_of_halves() {
    assert_eq!(faded(256, 8), Verdict::Proved(Proof::Structural));
    assert_eq!(faded(128, 7), Verdict::Proved(Proof::Structural));
    for (most, by) in [(255, 8), (257, 8), (256, 7), (512, 9)] {
        let verdict = faded(most, by);
        assert!(matches!(verdict, Verdict::Refuted(_)), "{most} {by}: {verdict:?}");
    }
}

/// A third of the sums of three bytes; and two such sums as halves of a word, so many times, with as much added, and
/// divided by 255.
fn third(times: u128, added: u128) -> Verdict {
    let mut terms = Terms::new();
    let words = [0, 1, 2].map(|number| terms.input(number, 32));
    let (factor, by) = (terms.constant(0xaaaa_aaab, 64), 33);
    let before = [0, 16].map(|low| {
        let lanes = words.map(|word| {
            let lane = terms.extract(word, low, 8);
            terms.zero_extend(lane, 64)
        });
        let sum = lanes.into_iter().reduce(|sum, lane| terms.add(sum, lane)).expect("there are lanes");
        let product = terms.mul(sum, factor);
        terms.extract(product, by, 8)
    });
    let (mask, times) = (terms.constant(0x00ff_00ff, 32), terms.constant(times, 32));
    let added = terms.constant(added * 0x0001_0001, 32);
    let sum = words.into_iter().fold(added, |sum, word| {
        let halves = terms.and(word, mask);
        let product = terms.mul(halves, times);
        terms.add(sum, product)
    });
    let eight = terms.constant(8, 32);
    let high = terms.lshr(sum, eight);
    let high = terms.and(high, mask);
    let folded = terms.add(sum, high);
    let after = [8, 24].map(|low| terms.extract(folded, low, 8));
    prove(&Query::new(&terms, before.to_vec(), after.to_vec()))
}

#[test]
fn a_third_is_85_times_as_much_divided_by_255() {
    assert_eq!(third(85, 1), Verdict::Proved(Proof::Structural));
    for (times, added) in [(85, 0), (84, 1), (86, 1), (85, 600)] {
        let verdict = third(times, added);
        assert!(matches!(verdict, Verdict::Refuted(_)), "{times} {added}: {verdict:?}");
    }
}

/// The products of a blend by a byte, `x * a + y * (most - a) + added`.
struct Blend {
    a: Term,
    rest: Term,
}

impl Blend {
    fn new(terms: &mut Terms, most: u128) -> Self {
        let a = terms.input(2, 8);
        let a = terms.zero_extend(a, 32);
        let most = terms.constant(most, 32);
        Self { a, rest: terms.sub(most, a) }
    }

    fn of(&self, terms: &mut Terms, [x, y]: [Term; 2], added: u128) -> Term {
        let products = [terms.mul(x, self.a), terms.mul(y, self.rest)];
        let added = terms.constant(added, 32);
        products.into_iter().fold(added, |sum, product| terms.add(sum, product))
    }
}

/// Two lanes of words that are blended, each by itself, and both at once as halves of a word.
fn blended(most: u128, added: u128) -> Verdict {
    let mut terms = Terms::new();
    let blend = Blend::new(&mut terms, most);
    let words = [0, 1].map(|number| terms.input(number, 32));
    let before = [0, 16].map(|low| {
        let lanes = words.map(|word| {
            let lane = terms.extract(word, low, 8);
            terms.zero_extend(lane, 32)
        });
        let sum = blend.of(&mut terms, lanes, added);
        terms.extract(sum, 8, 8)
    });
    let mask = terms.constant(0x00ff_00ff, 32);
    let halves = words.map(|word| terms.and(word, mask));
    let sum = blend.of(&mut terms, halves, added * 0x0001_0001);
    let after = [8, 24].map(|low| terms.extract(sum, low, 8));
    prove(&Query::new(&terms, before.to_vec(), after.to_vec()))
}

#[test]
fn halves_that_are_blended_by_a_byte_carry_nothing() {
    for (most, added) in [(255, 0), (255, 128), (255, 510), (256, 0), (256, 255), (128, 0)] {
        let verdict = blended(most, added);
        let carries = most == 128;
        assert_eq!(verdict == Verdict::Proved(Proof::Structural), !carries, "{most} {added}: {verdict:?}");
        assert_eq!(matches!(verdict, Verdict::Refuted(_)), carries, "{most} {added}: {verdict:?}");
    }
}

#[test]
fn halves_that_carry_once_are_not_proved() {
    for (most, added) in [(255, 511), (256, 256), (257, 1), (300, 0)] {
        let verdict = blended(most, added);
        assert!(!matches!(verdict, Verdict::Proved(_)), "{most} {added}: {verdict:?}");
    }
}

#[test]
fn a_blend_by_a_byte_has_no_more_bits_than_its_lanes() {
    for (most, added) in [(255, 0), (255, 510), (256, 0), (256, 255), (256, 256), (300, 0)] {
        let mut terms = Terms::new();
        let blend = Blend::new(&mut terms, most);
        let lanes = [0, 1].map(|number| {
            let lane = terms.input(number, 8);
            terms.zero_extend(lane, 32)
        });
        let sum = blend.of(&mut terms, lanes, added);
        let above = terms.extract(sum, 8, 24);
        let lane = terms.extract(sum, 8, 8);
        let lane = terms.zero_extend(lane, 24);
        let verdict = prove(&Query::new(&terms, vec![above], vec![lane]));
        let fits = 255 * most + added < 1 << 16;
        assert_eq!(verdict == Verdict::Proved(Proof::Structural), fits, "{most} {added}: {verdict:?}");
        assert_eq!(matches!(verdict, Verdict::Proved(_)), fits, "{most} {added}: {verdict:?}");
    }
}
