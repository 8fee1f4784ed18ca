//! The numbers that a term can be, where choices decide which.

use ptxopt_grammar::meaning::term::{Op, Term, Terms};

/// How many terms are looked at of a choice of numbers, each as often as it is in it.
pub(crate) const MOST_TERMS: usize = 64;

/// The numbers that a term can be, in order; `None` if it can be anything else. `defined` says what an input is made of.
pub(crate) fn numbers_of(
    terms: &Terms,
    root: Term,
    defined: impl Fn(u32) -> Option<Term>,
) -> Option<Vec<u128>> {
    let mut numbers: Vec<u128> = Vec::new();
    let mut waiting = vec![root];
    for _ in 0..MOST_TERMS {
        let Some(term) = waiting.pop() else { break };
        let op = terms.op(term);
        if let Some(number) = terms.value(term) {
            numbers.push(number);
        } else if let Op::Choose(_, then, otherwise) = op {
            waiting.extend([then, otherwise]);
        } else if is_bit(terms, term) {
            numbers.extend([0, 1]);
        } else if let Op::ZeroExtend(inner) = op {
            waiting.push(inner);
        } else if let Op::Input(number) = op {
            waiting.push(defined(number)?);
        } else {
            return None;
        }
    }
    numbers.sort_unstable();
    numbers.dedup();
    waiting.is_empty().then_some(numbers)
}

/// Whether a term is a bit as a number.
pub(crate) fn is_bit(terms: &Terms, term: Term) -> bool {
    let op = terms.op(term);
    if let Op::ZeroExtend(bit) = op { terms.width(bit) == 1 } else { false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_followed_to_their_numbers() {
        let mut terms = Terms::new();
        let [a, b] = [0, 1].map(|number| terms.input(number, 1));
        let [three, five] = [3, 5].map(|number| terms.constant(number, 8));
        let inner = terms.choose(a, three, five);
        let outer = terms.choose(b, inner, three);
        let wide = terms.zero_extend(outer, 32);
        assert_eq!(numbers_of(&terms, wide, |_| None), Some(vec![3, 5]));
    }

    #[test]
    fn a_bit_is_zero_or_one() {
        let mut terms = Terms::new();
        let bit = terms.input(0, 1);
        let number = terms.zero_extend(bit, 32);
        assert_eq!(numbers_of(&terms, number, |_| None), Some(vec![0, 1]));
    }

    #[test]
    fn inputs_are_what_they_are_made_of() {
        let mut terms = Terms::new();
        let (bit, word) = (terms.input(0, 1), terms.input(1, 32));
        let [one, two] = [1, 2].map(|number| terms.constant(number, 32));
        let either = terms.choose(bit, word, two);
        assert_eq!(numbers_of(&terms, either, |number| (number == 1).then_some(one)), Some(vec![1, 2]));
        assert_eq!(numbers_of(&terms, either, |_| None), None);
    }
}
