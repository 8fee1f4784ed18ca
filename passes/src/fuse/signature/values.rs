//! What values are for the fixed vectors of the [`table`](super::table), as functions of the words of a cut.
//!
//! A value is one instruction away from its operands, so its numbers follow from theirs: the program of an instruction
//! is made once, and what it gives for the leaves of a cut serves all values above it that have the same leaves. So a
//! function is evaluated before anything is built of it, and most are of no instruction in the table.

use super::cuts::{Leaves, computed_by};
use super::table::{INPUTS, Signature, VECTORS, by_bit};
use crate::graph::{Graph, ValueId, inputs_of};
use hashbrown::HashMap;
use ptxopt_grammar::meaning::concrete::Program;
use ptxopt_grammar::meaning::term::{Term, Terms};

/// How many values are evaluated for one function, at most, besides those that are known.
const MOST_VALUES: usize = 64;

/// How many values are known at a time, at most: about a megabyte.
const MOST_KNOWN: usize = 1 << 12;

/// A value for each vector.
type Numbers = [u64; VECTORS];

/// What was evaluated: values as functions of leaves.
type Known = HashMap<(ValueId, Leaves), Numbers>;

/// The instruction that computes a value.
#[derive(Debug)]
struct Node {
    /// Its operands are the inputs, in this order.
    operands: Vec<ValueId>,
    program: Program<u64>,
}

/// The values of a function over the leaves of cuts.
#[derive(Debug, Default)]
pub(super) struct Values {
    /// Nothing for a value that is not computed by an instruction, or by one that cannot be evaluated.
    nodes: HashMap<ValueId, Option<Node>>,
    known: Known,
}

impl Values {
    /// The signature of a value as a function of leaves; `None` if it cannot be evaluated or takes too long.
    pub(super) fn signature(
        &mut self,
        graph: &Graph<'_, '_>,
        value: ValueId,
        leaves: &Leaves,
    ) -> Option<Signature> {
        if self.known.len() > MOST_KNOWN {
            self.known.clear();
        }
        let mut left = MOST_VALUES;
        let mut stack = vec![value];
        while let Some(&top) = stack.last() {
            if is_known(&self.known, top, leaves) {
                stack.pop();
                continue;
            }
            let node = self.nodes.entry(top).or_insert_with(|| Node::of(graph, top)).as_ref()?;
            let before = stack.len();
            let (known, operands) = (&self.known, &node.operands);
            stack.extend(operands.iter().filter(|&&operand| !is_known(known, operand, leaves)));
            if stack.len() == before {
                left = left.checked_sub(1)?;
                let numbers = self.evaluate(top, leaves);
                self.known.insert((top, *leaves), numbers);
                stack.pop();
            }
        }
        let numbers = numbers(&self.known, value, leaves);
        Some(by_bit(&numbers.map(|number| u32::try_from(number).expect("the function is of a word"))))
    }

    /// The numbers of a value whose operands have theirs.
    fn evaluate(&mut self, value: ValueId, leaves: &Leaves) -> Numbers {
        let Self { nodes, known } = self;
        let node = nodes.get_mut(&value).and_then(Option::as_mut).expect("it was just made");
        let operands: Vec<Numbers> =
            node.operands.iter().map(|&operand| numbers(known, operand, leaves)).collect();
        let mut inputs = vec![0; operands.len()];
        std::array::from_fn(|vector| {
            inputs.iter_mut().zip(&operands).for_each(|(input, numbers)| *input = numbers[vector]);
            let mut result = [0];
            node.program.run(&inputs, &mut result);
            result[0]
        })
    }
}

fn leaf(value: ValueId, leaves: &Leaves) -> Option<usize> {
    leaves.iter().position(|leaf| leaf.value() == value)
}

/// Whether a value is a leaf or was evaluated.
fn is_known(known: &Known, value: ValueId, leaves: &Leaves) -> bool {
    leaf(value, leaves).is_some() || known.contains_key(&(value, *leaves))
}

/// The numbers of such a value.
fn numbers(known: &Known, value: ValueId, leaves: &Leaves) -> Numbers {
    match leaf(value, leaves) {
        Some(leaf) => INPUTS.map(|words| words[leaf].into()),
        None => known[&(value, *leaves)],
    }
}

impl Node {
    fn of(graph: &Graph<'_, '_>, value: ValueId) -> Option<Self> {
        computed_by(graph, value)?;
        let def = graph.value(value).def?;
        let operands: Vec<ValueId> = inputs_of(graph.terms(), def).into_iter().collect();
        // A program takes as long to make as its arena is large, so it gets one of its own.
        let mut terms = Terms::new();
        let input = |(at, &operand): (u32, &ValueId)| terms.input(at, graph.value(operand).width);
        let inputs: Vec<Term> = (0..).zip(&operands).map(input).collect();
        let def = terms.import(graph.terms(), def, &mut |number| {
            let at = operands.binary_search(&ValueId::of_input(number));
            inputs[at.expect("these are all inputs of the term")]
        });
        Some(Self { operands, program: Program::compile(&terms, &[def])? })
    }
}
