//! Immediate dominators, in time that hardly grows faster than the number of edges.
//!
//! This is the SEMI-NCA algorithm (Georgiadis, "Linear-Time Algorithms for Dominators and Related Problems", 2005): a
//! depth-first walk numbers the blocks; a semidominator is the lowest number from which a block is reached through
//! higher numbers alone; the immediate dominator is the nearest ancestor in the tree of the walk that is no higher.
//! petgraph's `simple_fast` goes up the tree of dominators for every incoming edge, once a pass, which is quadratic for
//! loops nested deeply; the tests compare the two.

use super::BlockId;
use super::lists::Lists;

/// No block.
const NONE: u32 = u32::MAX;

/// The walk, by numbers in its order, and what is known of each.
struct Walk {
    /// By number: the block.
    blocks: Vec<u32>,
    /// By block: its number.
    numbers: Vec<u32>,
    /// By number: the number from which the walk came; where paths have been shortened, one further up.
    above: Vec<u32>,
    /// By number: the number with the least semidominator on the path that was shortened.
    label: Vec<u32>,
    /// By number: its semidominator, as far as it is known.
    semi: Vec<u32>,
}

/// For each block the immediate dominator, if control can reach it from `entry` and it is not `entry` itself.
pub(super) fn immediate(
    successors: &Lists<BlockId>,
    predecessors: &Lists<BlockId>,
    entry: BlockId,
) -> Vec<Option<BlockId>> {
    let mut walk = Walk::of(successors, entry);
    let tree = walk.above.clone();
    let mut waiting = Vec::new();
    for number in (1..tree.len()).rev() {
        let mut least = tree[number];
        for from in predecessors.get(walk.blocks[number] as usize) {
            let from = walk.numbers[from.index()];
            if from != NONE {
                let label = walk.lowest(from, number, &mut waiting);
                least = least.min(walk.semi[label as usize]);
            }
        }
        walk.semi[number] = least;
    }
    let mut dominators = tree;
    let mut found = vec![None; walk.numbers.len()];
    for number in 1..dominators.len() {
        let mut above = dominators[number];
        while above > walk.semi[number] {
            above = dominators[above as usize];
        }
        dominators[number] = above;
        found[walk.blocks[number] as usize] = Some(BlockId(walk.blocks[above as usize]));
    }
    found
}

impl Walk {
    /// The numbers of a depth-first walk.
    fn of(successors: &Lists<BlockId>, entry: BlockId) -> Self {
        let mut walk = Self {
            blocks: Vec::new(),
            numbers: vec![NONE; successors.len()],
            above: Vec::new(),
            label: Vec::new(),
            semi: Vec::new(),
        };
        walk.enter(entry, 0);
        let mut stack = vec![(entry, 0)];
        while let Some((block, next)) = stack.last_mut() {
            let Some(&to) = successors.get(block.index()).get(*next) else {
                stack.pop();
                continue;
            };
            *next += 1;
            if walk.numbers[to.index()] == NONE {
                let from = walk.numbers[block.index()];
                walk.enter(to, from);
                stack.push((to, 0));
            }
        }
        walk
    }

    fn enter(&mut self, block: BlockId, above: u32) {
        let number = u32::try_from(self.blocks.len()).expect("blocks have 32-bit numbers");
        self.numbers[block.index()] = number;
        self.blocks.push(block.0);
        self.above.push(above);
        self.label.push(number);
        self.semi.push(number);
    }

    /// The number with the least semidominator on the path up from `from`, through numbers above `limit` alone. The path
    /// is shortened for the next time.
    fn lowest(&mut self, from: u32, limit: usize, waiting: &mut Vec<u32>) -> u32 {
        let is_done = |above: &[u32], number: u32| above[number as usize] as usize <= limit;
        let mut number = from;
        while !is_done(&self.above, number) {
            waiting.push(number);
            number = self.above[number as usize];
        }
        let mut last = number;
        while let Some(number) = waiting.pop() {
            let (at, up) = (number as usize, last as usize);
            self.above[at] = self.above[up];
            let (own, higher) = (self.label[at], self.label[up]);
            if self.semi[higher as usize] < self.semi[own as usize] {
                self.label[at] = higher;
            }
            last = number;
        }
        self.label[last as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use petgraph::algo::dominators::simple_fast;
    use petgraph::graph::{DiGraph, NodeIndex};

    #[test]
    fn they_are_those_that_petgraph_finds() {
        let mut state = 1_u64;
        let mut below = |bound: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            usize::try_from(state >> 33).expect("it has 31 bits") % bound
        };
        for round in 0..2_000 {
            let count = 1 + below(30);
            let edges: Vec<(usize, usize)> =
                (0..below(3 * count)).map(|_| (below(count), below(count))).collect();
            let lists = |turn: fn(&(usize, usize)) -> (usize, usize)| {
                Lists::of(count, || edges.iter().map(turn).map(|(from, to)| (from, BlockId::numbered(to))))
            };
            let found = immediate(&lists(|&edge| edge), &lists(|&(from, to)| (to, from)), BlockId(0));
            let mut graph = DiGraph::<(), ()>::new();
            for _ in 0..count {
                graph.add_node(());
            }
            graph.extend_with_edges(
                edges.iter().map(|&(from, to)| (NodeIndex::new(from), NodeIndex::new(to))),
            );
            let all = simple_fast(&graph, NodeIndex::new(0));
            let above = |block| all.immediate_dominator(NodeIndex::new(block));
            let expected: Vec<Option<BlockId>> =
                (0..count).map(|block| above(block).map(|above| BlockId::numbered(above.index()))).collect();
            assert_eq!(found, expected, "round {round}: {edges:?}");
        }
    }
}
