//! Nodes: the steps of all spellings of a function, each once.
//!
//! Two steps are the same node if they are the same instruction over the same sources in the same block: what the first
//! spelling that is written computes is then there for those that follow. Across blocks nothing is shared, since a block
//! need not have been executed before another, and a value that is kept longer needs a register for longer.

use crate::cost::Cost;
use crate::graph::BlockId;
use crate::recipe::{Source, Step};
use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

/// A step in a block, by the number of its node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct StepId(u32);

impl StepId {
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// All nodes of a function.
#[derive(Debug, Default)]
pub(crate) struct Nodes {
    /// By node: what it costs.
    costs: Vec<u32>,
    /// By node: where it is computed, and how. A [`Source::Step`] in one of these is a node.
    steps: Vec<(BlockId, Step)>,
    /// The numbers of all nodes, by what they are. Steps lie in the order in which they were found, so those of one
    /// recipe are near each other.
    known: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Nodes {
    /// The nodes of the steps of a recipe in a block but the last, whose result is the statement's own.
    pub(crate) fn of(
        &mut self,
        block: BlockId,
        steps: impl ExactSizeIterator<Item = Step>,
        costs: &[Cost],
    ) -> Vec<StepId> {
        let mut nodes: Vec<StepId> = Vec::with_capacity(steps.len());
        let inner = steps.len().saturating_sub(1);
        for (step, cost) in steps.take(inner).zip(costs) {
            let source = |source: &Source| match *source {
                Source::Step(earlier) => Source::Step(nodes[earlier].index()),
                Source::Value(_) | Source::Constant(_) => *source,
            };
            let node = self.node((block, step.over(source)));
            // What is free where it is fused with its only use costs something elsewhere.
            let known = &mut self.costs[node.index()];
            *known = cost.most.max(*known);
            nodes.push(node);
        }
        nodes
    }

    /// Forgets what the nodes are: no more are found, and what they cost is all that is asked.
    pub(crate) fn seal(&mut self) {
        self.steps = Vec::new();
        self.known = HashTable::new();
    }

    /// The node of a step.
    fn node(&mut self, step: (BlockId, Step)) -> StepId {
        let Self { costs, steps, known, hasher } = self;
        let found = known.entry(
            hasher.hash_one(step),
            |&node| steps[node as usize] == step,
            |&node| hasher.hash_one(steps[node as usize]),
        );
        match found {
            Entry::Occupied(node) => StepId(*node.get()),
            Entry::Vacant(free) => {
                let node = u32::try_from(steps.len()).expect("a function has fewer nodes");
                free.insert(node);
                steps.push(step);
                costs.push(0);
                StepId(node)
            }
        }
    }

    /// What a node costs where it is computed for itself.
    pub(crate) fn cost(&self, node: StepId) -> u32 {
        self.costs[node.index()]
    }

    /// All of them, in order.
    pub(crate) fn all(&self) -> impl Iterator<Item = StepId> + use<> {
        (0..u32::try_from(self.costs.len()).expect("a function has fewer nodes")).map(StepId)
    }

    /// How many nodes there are.
    pub(crate) fn len(&self) -> usize {
        self.costs.len()
    }
}
