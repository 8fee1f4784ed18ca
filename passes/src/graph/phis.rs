//! Where phis stand: the joins of paths from different writes of a register at which it is still read.
//!
//! The blocks in question are the iterated dominance frontier of the writes, cut to those at whose beginning the
//! register is live (pruned SSA form). Frontiers are never made as lists, which would be quadratic for nested loops:
//! writes are taken from the bottom of the dominator tree up, and the tree below each is searched for edges that lead
//! out of it, every block once for all writes (Sreedhar and Gao, "A Linear Time Algorithm for Placing φ-Nodes", 1995).
//!
//! Only blocks at whose beginning the register is live are searched. That loses no phi. Let an edge lead from `y`, below a
//! write in `x`, to a join at which the register is live, and let a block `c` between the two in the tree be one at
//! whose beginning it is not. Then every path from `c` to `y` writes the register, so either `y` or a block between
//! `c` and `y` in the tree writes it, or paths from several writes below `c` join between the two, where a phi is
//! placed. Each of these is a write itself, and lies at or below `c`, so the edge is found from there.

use super::lists::Lists;
use super::{BlockId, Flow};
use std::collections::BinaryHeap;

/// By register: the blocks in which it is written, and those in which it is read before it is written.
pub(super) struct Lives {
    written: Lists<BlockId>,
    read: Lists<BlockId>,
}

impl Lives {
    /// These blocks, each with the number of a register below `count`.
    pub(super) fn of(count: usize, written: &[(usize, BlockId)], read: &[(usize, BlockId)]) -> Self {
        let lists = |pairs: &[(usize, BlockId)]| Lists::of(count, || pairs.iter().copied());
        Self { written: lists(written), read: lists(read) }
    }

    /// The blocks in which a register is written.
    pub(super) fn written(&self, register: usize) -> &[BlockId] {
        self.written.get(register)
    }

    /// The blocks in which it is read before it is written there.
    pub(super) fn read(&self, register: usize) -> &[BlockId] {
        self.read.get(register)
    }
}

/// What is known of a block for the register at hand: each is the number of the register for which it was true last.
#[derive(Clone, Copy, Default)]
struct Marks {
    written: u32,
    live: u32,
    searched: u32,
    phi: u32,
    /// Whether `child` is about this register.
    parent: u32,
    /// The first block that it dominates immediately and at whose beginning the register is live.
    child: u32,
    /// The next one that its own dominator dominates.
    sibling: u32,
}

/// No block.
const NONE: u32 = u32::MAX;

/// Places phis for one register after the other.
pub(super) struct Phis<'f> {
    flow: &'f Flow,
    /// By block: how deep it lies in the dominator tree.
    depths: Vec<u32>,
    marks: Vec<Marks>,
    /// The number of the register at hand, in the order in which phis are placed, from 1 on.
    turn: u32,
    work: Vec<BlockId>,
    /// The writes and phis whose blocks are still to be searched, by depth.
    roots: BinaryHeap<(u32, BlockId)>,
}

impl<'f> Phis<'f> {
    pub(super) fn of(flow: &'f Flow) -> Self {
        let mut depths = vec![0; flow.len()];
        for &block in flow.order() {
            if let Some(above) = flow.immediate_dominator(block) {
                depths[block.index()] = depths[above.index()] + 1;
            }
        }
        let marks = vec![Marks::default(); flow.len()];
        Self { flow, depths, marks, turn: 0, work: Vec::new(), roots: BinaryHeap::new() }
    }

    /// Finds the blocks at whose beginning a register needs a phi, in the order of the text. It is written in the blocks
    /// of `written`, and read before it is written in those of `read`.
    pub(super) fn place(&mut self, written: &[BlockId], read: &[BlockId], found: &mut Vec<BlockId>) {
        self.turn += 1;
        found.clear();
        for block in written {
            self.marks[block.index()].written = self.turn;
        }
        self.find_live(read);
        for &block in written {
            self.roots.push((self.depths[block.index()], block));
        }
        while let Some((depth, root)) = self.roots.pop() {
            self.search(root, depth, found);
        }
        found.sort_unstable();
    }

    /// Marks the blocks at whose beginning the register is live, and links them below their dominators.
    fn find_live(&mut self, read: &[BlockId]) {
        let turn = self.turn;
        self.work.extend_from_slice(read);
        while let Some(block) = self.work.pop() {
            if std::mem::replace(&mut self.marks[block.index()].live, turn) == turn {
                continue;
            }
            if let Some(above) = self.flow.immediate_dominator(block) {
                let parent = &mut self.marks[above.index()];
                let child = if parent.parent == turn { parent.child } else { NONE };
                (parent.parent, parent.child) = (turn, block.0);
                self.marks[block.index()].sibling = child;
            }
            for &before in self.flow.predecessors(block) {
                let marks = self.marks[before.index()];
                if marks.written != turn && marks.live != turn {
                    self.work.push(before);
                }
            }
        }
    }

    /// Searches the tree below a write for edges that lead out of it.
    fn search(&mut self, root: BlockId, depth: u32, found: &mut Vec<BlockId>) {
        let turn = self.turn;
        self.work.push(root);
        while let Some(block) = self.work.pop() {
            if std::mem::replace(&mut self.marks[block.index()].searched, turn) == turn {
                continue;
            }
            for &next in self.flow.successors(block) {
                let marks = &mut self.marks[next.index()];
                let leads_out = self.depths[next.index()] <= depth;
                if leads_out && marks.live == turn && std::mem::replace(&mut marks.phi, turn) != turn {
                    found.push(next);
                    self.roots.push((self.depths[next.index()], next));
                }
            }
            let marks = self.marks[block.index()];
            let mut child = if marks.parent == turn { marks.child } else { NONE };
            while child != NONE {
                self.work.push(BlockId(child));
                child = self.marks[child as usize].sibling;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptxopt_grammar::tree::StmtKind;
    use std::collections::BTreeSet;
    use std::fmt::Write;

    /// A body of so many blocks that branch at random.
    fn flow(count: usize, below: &mut dyn FnMut(usize) -> usize) -> Flow {
        let mut text =
            ".version 8.0\n.target sm_90\n.address_size 64\n.func f()\n{\n.reg .pred p;\n".to_owned();
        for block in 0..count {
            let guard = ["", "@p "][below(2)];
            writeln!(text, "L{block}: {guard}bra L{};", below(count)).expect("strings can be written to");
        }
        text.push_str("ret;\n}\n");
        let module = ptxopt_grammar::parse(text.as_bytes()).expect("it is legal");
        let open = module.stmts().find(|&stmt| module.kind(stmt) == StmtKind::Open).expect("there is a body");
        let close = module.stmts().next_back().expect("there is a body");
        Flow::new(&module, &(open.index() + 1..close.index())).expect("it can be modelled")
    }

    /// The iterated dominance frontier of the writes, cut to live blocks, by the definitions.
    fn defined(flow: &Flow, written: &[BlockId], read: &[BlockId]) -> Vec<BlockId> {
        let mut live: BTreeSet<BlockId> = read.iter().copied().collect();
        let mut phis: BTreeSet<BlockId> = BTreeSet::new();
        loop {
            let before = (live.len(), phis.len());
            for &block in flow.order() {
                let passes = |next: &BlockId| live.contains(next) && !written.contains(&block);
                if flow.successors(block).iter().any(passes) {
                    live.insert(block);
                }
            }
            for &join in flow.order() {
                let is_outside = |write: BlockId| {
                    let reaches = |from: &BlockId| flow.dominates(write, *from);
                    let inside = write != join && flow.dominates(write, join);
                    !inside && flow.predecessors(join).iter().any(reaches)
                };
                if live.contains(&join) && written.iter().chain(&phis).any(|&write| is_outside(write)) {
                    phis.insert(join);
                }
            }
            if (live.len(), phis.len()) == before {
                return phis.into_iter().collect();
            }
        }
    }

    #[test]
    fn they_stand_where_the_definition_says() {
        let mut state = 1_u64;
        let mut below = |bound: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            usize::try_from(state >> 33).expect("it has 31 bits") % bound
        };
        let mut some = 0;
        for _ in 0..300 {
            let count = 1 + below(14);
            let flow = flow(count, &mut below);
            let mut phis = Phis::of(&flow);
            for _ in 0..4 {
                let mut pick = || -> Vec<BlockId> {
                    flow.order()
                        .iter()
                        .copied()
                        .filter(|&block| block != Flow::ENTRY && below(4) == 0)
                        .collect()
                };
                let (written, read) = (pick(), pick());
                let mut found = Vec::new();
                phis.place(&written, &read, &mut found);
                assert_eq!(found, defined(&flow, &written, &read), "{flow:?}: {written:?}, {read:?}");
                some += found.len();
            }
        }
        assert!(some > 300, "too few phis: {some}");
    }
}
