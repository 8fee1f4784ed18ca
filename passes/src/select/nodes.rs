//! Nodes: the steps of all spellings of a function, each once.
//!
//! Two steps are the same node if they are the same instruction over the same sources in the same block: what the first
//! spelling that is written computes is then there for those that follow. Across blocks nothing is shared, since a block
//! need not have been executed before another, and a value that is kept longer needs a register for longer.

use crate::graph::BlockId;
use crate::recipe::{Source, Step};
use hashbrown::HashMap;

/// A node, by its number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct NodeId(u32);

impl NodeId {
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// All nodes of a function.
#[derive(Debug, Default)]
pub(crate) struct Nodes {
    /// By node: what it costs.
    costs: Vec<u32>,
    /// A [`Source::Step`] in one of these is a node.
    known: HashMap<(BlockId, Step), NodeId>,
}

impl Nodes {
    /// The nodes of the steps of a recipe in a block but the last, whose result is the statement's own.
    pub(crate) fn of(&mut self, block: BlockId, steps: &[Step], costs: &[u32]) -> Vec<NodeId> {
        let mut nodes: Vec<NodeId> = Vec::with_capacity(steps.len());
        let inner = steps.len().saturating_sub(1);
        for (step, &cost) in steps[..inner].iter().zip(costs) {
            let source = |source: &Source| match *source {
                Source::Step(earlier) => Source::Step(nodes[earlier].index()),
                Source::Value(_) | Source::Constant(_) => *source,
            };
            let step = step.over(source);
            let next = NodeId(u32::try_from(self.costs.len()).expect("a function has fewer nodes"));
            let node = *self.known.entry((block, step)).or_insert(next);
            if node == next {
                self.costs.push(cost);
            }
            // What is free where it is fused with its only use costs something elsewhere.
            let known = &mut self.costs[node.index()];
            *known = cost.max(*known);
            nodes.push(node);
        }
        nodes
    }

    /// What a node costs where it is computed for itself.
    pub(crate) fn cost(&self, node: NodeId) -> u32 {
        self.costs[node.index()]
    }

    /// All of them, in order.
    pub(crate) fn all(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..u32::try_from(self.costs.len()).expect("a function has fewer nodes")).map(NodeId)
    }

    /// How many nodes there are.
    pub(crate) fn len(&self) -> usize {
        self.costs.len()
    }
}
