//! Forward: what is known of a term, given what is known of its inputs.
//!
//! One loop over the cone, operands first. Each fact contains every value that its term takes on inputs that are as
//! given, since each operation's does on its operands; two operations look further than their operands: sums, with
//! which terms spell differences, blends and quotients, and choices, which know their condition.

use super::arithmetic;
use super::blend::blend;
use super::branch;
use super::cone::{ByPlace, Cone, Node};
use super::extremes::distance;
use super::fact::Fact;
use super::store::Known;
use super::transfer::transfer;
use ptxopt_grammar::meaning::term::{Op, Term, Terms};

/// What is known of `root`, given what is known of the inputs, which are asked for by number and width.
pub fn forward(terms: &Terms, root: Term, input: &mut dyn FnMut(u32, u32) -> Fact) -> Fact {
    let facts = Cone::new(terms, &[root]).forward(input);
    *facts.last().expect("the root is in its cone, after everything else")
}

impl Cone {
    /// What is known of each of [`Cone::terms`], given what is known of the inputs, which are asked for by number
    /// and width.
    pub fn forward(&self, input: &mut dyn FnMut(u32, u32) -> Fact) -> Vec<Fact> {
        let mut facts = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let fact = evaluate(self.nodes.as_slice(), &facts, node, input);
            facts.push(fact);
        }
        facts
    }
}

/// What is known of a node, given what is known of those before it.
pub(super) fn evaluate(
    nodes: &(impl ByPlace + ?Sized),
    facts: &impl Known,
    node: &Node,
    input: &mut dyn FnMut(u32, u32) -> Fact,
) -> Fact {
    let operand = |number: usize| facts.at(node.operands[number]);
    match node.op {
        Op::Input(number) => {
            let fact = input(number, node.width);
            assert_eq!(fact.width(), node.width, "the fact is about a word of the input's width");
            fact
        }
        Op::Constant(value) => Fact::exact(value, node.width),
        Op::Add(..) => {
            let sum = arithmetic::sum(&operand(0), &operand(1), false);
            match arithmetic::Difference::of(nodes, node) {
                Some(difference) => {
                    let fact = sum.meet(&difference.fact(node.width, |place| facts.at(place)));
                    distance(nodes, facts, &difference, node.width).map_or(fact, |apart| fact.meet(&apart))
                }
                None => {
                    let others = [blend(nodes, facts, node), branch::of_either_sign(nodes, facts, node)];
                    others.into_iter().flatten().fold(sum, |all, other| all.meet(&other))
                }
            }
        }
        Op::Choose(..) => branch::choose(nodes, facts, node),
        Op::Not(_)
        | Op::And(..)
        | Op::Or(..)
        | Op::Xor(..)
        | Op::Mul(..)
        | Op::UnsignedDivide(..)
        | Op::UnsignedRemainder(..)
        | Op::Shl(..)
        | Op::Lshr(..)
        | Op::Ashr(..)
        | Op::Extract(..)
        | Op::Concat(..)
        | Op::ZeroExtend(_)
        | Op::SignExtend(_)
        | Op::Equal(..)
        | Op::UnsignedLess(..)
        | Op::SignedLess(..) => transfer(node.op, node.width, &operand(0), &operand(1)),
    }
}
