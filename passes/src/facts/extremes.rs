//! The greater of two numbers less the lesser of them: how far apart they are, which is at least zero.
//!
//! A sum alone is not known to be so small, since what is known of its operands does not say that they are made of the
//! same two numbers.

use super::arithmetic::{Difference, Minuend, gap};
use super::cone::ByPlace;
use super::fact::Fact;
use super::store::Known;
use ptxopt_grammar::meaning::term::Op;

/// A choice of the lesser or the greater of two numbers.
#[derive(PartialEq, Eq)]
struct Extreme {
    greatest: bool,
    signed: bool,
    /// The places of the two, the lower one first.
    of: [u32; 2],
}

impl Extreme {
    /// The one that is at a place, if it is one. What is extended is in the same order as before.
    fn at(nodes: &(impl ByPlace + ?Sized), place: u32) -> Option<Self> {
        let node = nodes.node(place);
        if let Op::ZeroExtend(_) | Op::SignExtend(_) = node.op {
            let inner = Self::at(nodes, node.operands[0])?;
            return keeps_order(node.op, inner.signed).then_some(inner);
        }
        let Op::Choose(..) = node.op else { return None };
        let [condition, then, otherwise] = node.operands;
        let mut condition = nodes.node(condition);
        let mut branches = [then, otherwise];
        if let Op::Not(_) = condition.op {
            condition = nodes.node(condition.operands[0]);
            branches.reverse();
        }
        let signed = matches!(condition.op, Op::SignedLess(..));
        if !signed && !matches!(condition.op, Op::UnsignedLess(..)) {
            return None;
        }
        let [a, b, _] = condition.operands;
        let is = |branch: u32, compared: u32| {
            let node = nodes.node(branch);
            branch == compared || keeps_order(node.op, signed) && node.operands[0] == compared
        };
        let [then, otherwise] = branches;
        let greatest = is(then, b) && is(otherwise, a);
        let least = is(then, a) && is(otherwise, b);
        if !greatest && !least {
            return None;
        }
        branches.sort_unstable();
        Some(Self { greatest, signed, of: branches })
    }
}

/// Whether an operation extends numbers as their sign says, so that they stay in order.
fn keeps_order(op: Op, signed: bool) -> bool {
    if signed { matches!(op, Op::SignExtend(_)) } else { matches!(op, Op::ZeroExtend(_)) }
}

/// What is known of a difference that is how far two numbers are apart; `None` if it is another one.
pub(super) fn distance(
    nodes: &(impl ByPlace + ?Sized),
    facts: &impl Known,
    difference: &Difference,
    width: u32,
) -> Option<Fact> {
    let Minuend::Place(from) = difference.from else { return None };
    let most = Extreme::at(nodes, from).filter(|extreme| extreme.greatest)?;
    let least = Extreme::at(nodes, difference.less)?;
    if least != (Extreme { greatest: false, ..most }) {
        return None;
    }
    let (least, most) = gap(&facts.at(from), &facts.at(difference.less), most.signed, 0)?;
    Some(Fact::from_unsigned(least, most, width))
}

#[cfg(test)]
mod tests {
    use super::super::forward;
    use super::*;
    use ptxopt_grammar::meaning::term::{Term, Terms};

    type Less = fn(&mut Terms, Term, Term) -> Term;

    /// What is known of one number less another, both made of the same two by `of`.
    fn known(width: u32, of: impl Fn(&mut Terms, [Term; 2]) -> [Term; 2]) -> Fact {
        let mut terms = Terms::new();
        let both = [0, 1].map(|number| terms.input(number, 8));
        let [from, less] = of(&mut terms, both).map(|one| terms.zero_extend(one, width));
        let apart = terms.sub(from, less);
        forward(&terms, apart, &mut |_, width| Fact::top(width))
    }

    fn extreme(terms: &mut Terms, less: Less, [a, b]: [Term; 2], greatest: bool) -> Term {
        let is_less = less(terms, a, b);
        if greatest { terms.choose(is_less, b, a) } else { terms.choose(is_less, a, b) }
    }

    #[test]
    fn the_greater_less_the_lesser_is_not_negative() {
        for width in [8, 16, 32] {
            let fact = known(width, |terms, both| {
                [true, false].map(|greatest| extreme(terms, Terms::unsigned_less, both, greatest))
            });
            assert_eq!(fact.unsigned(), (0, 255), "{width}");
        }
    }

    #[test]
    fn the_order_of_both_and_of_their_operands_makes_no_difference() {
        let fact = known(16, |terms, [a, b]| {
            let greatest = extreme(terms, Terms::unsigned_less, [a, b], true);
            [greatest, extreme(terms, Terms::unsigned_less, [b, a], false)]
        });
        assert_eq!(fact.unsigned(), (0, 255));
    }

    #[test]
    fn the_lesser_less_the_greater_may_be_negative() {
        let fact = known(16, |terms, both| {
            [false, true].map(|greatest| extreme(terms, Terms::unsigned_less, both, greatest))
        });
        assert!(fact.contains(0xff01));
    }

    #[test]
    fn extremes_of_other_numbers_may_be_in_any_order() {
        let fact = known(16, |terms, [a, b]| {
            let [few, many] = [7, 200].map(|number| terms.constant(number, 8));
            let greatest = extreme(terms, Terms::unsigned_less, [a, few], true);
            [greatest, extreme(terms, Terms::unsigned_less, [b, many], false)]
        });
        // Of 0 and 100, 7 less 100.
        assert!(fact.contains(0xffa3));
    }

    #[test]
    fn signed_numbers_that_are_extended_with_zeros_may_be_in_any_order() {
        let fact = known(16, |terms, both| {
            [true, false].map(|greatest| extreme(terms, Terms::signed_less, both, greatest))
        });
        // Of -128 and 1, 1 less 128.
        assert!(fact.contains(0xff81));
    }
}
