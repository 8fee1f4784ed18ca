//! Blends: `x * a + y * (c - a)` is `c` times a mean of `x` and `y`, so it is no greater than `c` times the greater one.
//!
//! Each product taken by itself can be as great as that, so the range of their sum would be twice as wide, and a byte
//! that is blended would seem to leave its lane.

use super::arithmetic::{Difference, Minuend};
use super::cone::{ByPlace, Node};
use super::fact::Fact;
use super::store::Known;
use ptxopt_grammar::meaning::term::{Op, ones};

/// What is known of a sum because it is a blend, if it is one that does not wrap.
pub(super) fn blend(nodes: &(impl ByPlace + ?Sized), facts: &impl Known, node: &Node) -> Option<Fact> {
    let [one, other] = [0, 1].map(|number: usize| nodes.node(node.operands[number]));
    if !matches!((node.op, one.op, other.op), (Op::Add(..), Op::Mul(..), Op::Mul(..))) {
        return None;
    }
    let factors = |product: &Node| [(0, 1), (1, 0)].map(|(a, b)| (product.operands[a], product.operands[b]));
    let pairs = [(&one, &other), (&other, &one)];
    let ways = pairs
        .into_iter()
        .flat_map(|(one, other)| factors(one).into_iter().flat_map(move |x| factors(other).map(|y| (x, y))));
    ways.into_iter().find_map(|((x, weight), (y, rest))| {
        let Difference { from: Minuend::Constant(whole), less } =
            Difference::of(nodes, &nodes.node(rest)).filter(|rest| rest.less == weight)?
        else {
            return None;
        };
        if facts.at(less).unsigned().1 > whole {
            return None;
        }
        let [x, y] = [x, y].map(|place| facts.at(place).unsigned());
        let most = x.1.max(y.1).checked_mul(whole).filter(|&most| most <= ones(node.width))?;
        Some(Fact::from_unsigned(x.0.min(y.0) * whole, most, node.width))
    })
}
