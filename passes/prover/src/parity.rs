//! Whether two literals are the same exclusive or, in whatever order it is chained: both chains are taken apart until
//! nothing is left but what is added once.
//!
//! Sound because an exclusive or of a bit with itself is zero, and the operands of a chain may stand in any order. What
//! is no exclusive or is not looked into, so nothing is known of literals that are not found equal.

use super::aig::{Gate, Lit};
use std::collections::BinaryHeap;

/// How many gates are taken apart, at most.
const MOST_STEPS: usize = 4096;

/// Whether the two are known to be equal in that way. Operands have smaller numbers than what is made of them.
pub(super) fn are_equal(gates: &[Gate], a: Lit, b: Lit) -> bool {
    let mut inverted = a.inverted() != b.inverted();
    let mut open = BinaryHeap::from([a.node(), b.node()]);
    for _ in 0..MOST_STEPS {
        let Some(node) = open.pop() else { return !inverted };
        if open.peek() == Some(&node) {
            open.pop();
            continue;
        }
        match gates[node as usize] {
            Gate::False => {}
            Gate::Xor(x, y) => {
                inverted ^= x.inverted() != y.inverted();
                open.extend([x.node(), y.node()]);
            }
            Gate::And(..) | Gate::Input => return false,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::super::aig::{Aig, Unwatched};
    use super::*;

    /// Enough operands that the graph itself does not sort them.
    const MANY: usize = 24;

    fn chain(graph: &mut Aig<Unwatched>, of: impl Iterator<Item = Lit>) -> Lit {
        of.fold(Lit::FALSE, |sum, lit| graph.xor(sum, lit))
    }

    fn graph() -> (Aig<Unwatched>, Vec<Lit>) {
        let mut graph = Aig::new(Unwatched);
        let inputs = (0..MANY).map(|_| graph.input()).collect();
        (graph, inputs)
    }

    #[test]
    fn chains_in_another_order_are_equal() {
        let (mut graph, inputs) = graph();
        let one = chain(&mut graph, inputs.iter().copied());
        let other = chain(&mut graph, inputs.iter().rev().copied());
        assert_ne!(one, other, "the graph does not find it itself");
        assert!(are_equal(graph.gates(), one, other));
        assert!(are_equal(graph.gates(), !one, !other));
    }

    #[test]
    fn an_inverted_operand_counts() {
        let (mut graph, mut inputs) = graph();
        let one = chain(&mut graph, inputs.iter().copied());
        inputs[7] = !inputs[7];
        let other = chain(&mut graph, inputs.iter().rev().copied());
        assert!(!are_equal(graph.gates(), one, other));
        assert!(are_equal(graph.gates(), one, !other));
    }

    #[test]
    fn one_operand_less_makes_a_difference() {
        let (mut graph, inputs) = graph();
        let one = chain(&mut graph, inputs.iter().copied());
        let other = chain(&mut graph, inputs.iter().skip(1).copied());
        assert!(!are_equal(graph.gates(), one, other));
    }

    #[test]
    fn what_cancels_itself_does_not_count() {
        let (mut graph, inputs) = graph();
        let one = chain(&mut graph, inputs.iter().copied());
        let other = chain(&mut graph, inputs.iter().rev().chain(&inputs[3..5]).chain(&inputs[3..5]).copied());
        assert!(are_equal(graph.gates(), one, other));
    }

    #[test]
    fn conjunctions_are_not_looked_into() {
        let (mut graph, inputs) = graph();
        let all = chain(&mut graph, inputs.iter().copied());
        let both = graph.and(all, inputs[0]);
        assert!(!are_equal(graph.gates(), both, all));
    }
}
