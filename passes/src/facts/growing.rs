//! What is known of the terms of an arena that grows: each term is looked at once, after those that it is made of.
//!
//! The terms are their own cone, so places are their numbers, and what is known of one follows from what is known of
//! earlier ones, whatever is added later.

use super::cone::Node;
use super::fact::Fact;
use super::forward::evaluate;
use super::store::Facts;
use ptxopt_grammar::meaning::term::{Term, Terms};

/// What is known of the first terms of an arena, whatever their inputs are.
#[derive(Debug, Default)]
pub(crate) struct Growing(Facts);

impl Growing {
    /// What is known of a term; always of the same arena.
    pub(crate) fn of(&mut self, terms: &Terms, term: Term) -> Fact {
        let Self(facts) = self;
        if facts.len() <= term.index() {
            for next in terms.since(facts.len()) {
                let node = Node::of(terms, next);
                let fact = evaluate(terms, facts, &node, &mut |_number, width| Fact::top(width));
                facts.push(&fact);
            }
        }
        facts.get(term.index())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::forward;

    #[test]
    fn what_is_known_of_terms_that_are_added_is_what_is_known_of_their_cones() {
        let mut terms = Terms::new();
        let mut growing = Growing::default();
        let (x, y) = (terms.input(0, 8), terms.input(1, 8));
        let mut last = terms.zero_extend(x, 32);
        let other = terms.zero_extend(y, 32);
        for number in 0..40 {
            last = match number % 4 {
                0 => terms.add(last, other),
                1 => {
                    let less = terms.unsigned_less(last, other);
                    let apart = terms.sub(other, last);
                    terms.choose(less, apart, last)
                }
                2 => terms.xor(last, other),
                _ => {
                    let low = terms.extract(last, 0, 9);
                    terms.zero_extend(low, 32)
                }
            };
            let known = growing.of(&terms, last);
            assert_eq!(known, forward(&terms, last, &mut |_, width| Fact::top(width)), "{number}");
        }
    }
}
