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
            return (inner.signed == matches!(node.op, Op::SignExtend(_))).then_some(inner);
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
            let extends = if signed {
                matches!(node.op, Op::SignExtend(_))
            } else {
                matches!(node.op, Op::ZeroExtend(_))
            };
            branch == compared || extends && node.operands[0] == compared
        };
        let [then, otherwise] = branches;
        let greatest = is(then, b) && is(otherwise, a);
        if !greatest && !(is(then, a) && is(otherwise, b)) {
            return None;
        }
        branches.sort_unstable();
        Some(Self { greatest, signed, of: branches })
    }
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
