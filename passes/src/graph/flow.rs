//! Control flow: a function cut into blocks, the edges between them, and which block dominates which.
//!
//! Statements are never moved, so a block is a range of them. The first block is the entry: it is empty, nothing
//! comes back to it, and what the caller hands over is defined in it. So a loop whose head is the first statement of
//! the body has an incoming edge from outside like any other loop. Where control can go after an instruction is read
//! from the instruction table; an indirect branch may go to every label of its function, a superset of its targets. A
//! function with an unknown instruction has no flow, since that may jump anywhere. Nothing here recurses, so the
//! depth of a function's control flow cannot overflow the stack.

use petgraph::algo::dominators::simple_fast;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{DfsPostOrder, EdgeRef};
use ptxopt_grammar::table::Control;
use ptxopt_grammar::tree::{DeclId, Module, NodeKind, StmtId, StmtKind};
use std::collections::BTreeMap;
use std::ops::Range;

/// A block, by its number in the order of the text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BlockId(u32);

impl BlockId {
    /// Its place in the list of blocks.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    fn node(self) -> NodeIndex {
        NodeIndex::new(self.index())
    }

    fn of(node: NodeIndex) -> Self {
        Self(u32::try_from(node.index()).expect("petgraph counts nodes in 32 bits"))
    }
}

/// Why a function has no graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmodelled {
    /// The statement that cannot be modelled.
    pub stmt: StmtId,
    /// What about it.
    pub reason: String,
}

/// The control flow of a function.
#[derive(Debug)]
pub struct Flow {
    graph: DiGraph<Range<usize>, ()>,
    first: usize,
    block_of: Vec<BlockId>,
    idom: Vec<Option<BlockId>>,
    order: Vec<BlockId>,
    /// Numbers of entering and leaving each block in a walk of the dominator tree: a dominator's span contains the
    /// spans of the blocks that it dominates.
    spans: Vec<(u32, u32)>,
}

impl Flow {
    /// Where control comes from the caller: no statements, and no edge leads back to it.
    pub const ENTRY: BlockId = BlockId(0);

    /// The flow of the statements of a body, braces left out.
    ///
    /// # Errors
    ///
    /// The first statement that cannot be modelled.
    pub fn new(module: &Module<'_>, body: &Range<usize>) -> Result<Self, Unmodelled> {
        let mut flow = Self::cut(module, body);
        flow.connect(module)?;
        flow.dominate();
        Ok(flow)
    }

    /// Blocks begin at labels and after what can leave; the entry comes before all of them.
    fn cut(module: &Module<'_>, body: &Range<usize>) -> Self {
        let mut graph = DiGraph::new();
        graph.add_node(body.start..body.start);
        let mut block_of = Vec::with_capacity(body.len());
        let mut start = body.start;
        for at in body.clone() {
            let stmt = id(at);
            if module.kind(stmt) == StmtKind::Label && at > start {
                graph.add_node(start..at);
                start = at;
            }
            block_of.push(BlockId::of(NodeIndex::new(graph.node_count())));
            if control(module, stmt).is_some_and(|control| !matches!(control, Control::Next | Control::Call))
            {
                graph.add_node(start..at + 1);
                start = at + 1;
            }
        }
        // The last block, empty or not, is where control falls out of the body.
        graph.add_node(start..body.end);
        Self { graph, first: body.start, block_of, idom: Vec::new(), order: Vec::new(), spans: Vec::new() }
    }

    fn connect(&mut self, module: &Module<'_>) -> Result<(), Unmodelled> {
        let labels = self.labels(module);
        for block in 0..self.graph.node_count() {
            let node = NodeIndex::new(block);
            let range = self.graph[node].clone();
            let mut falls = block + 1 < self.graph.node_count();
            let last = range.clone().last().map(id);
            if let Some(stmt) = last
                && let Some(control) = control(module, stmt)
            {
                let guarded = module.guard(stmt).is_some();
                match control {
                    Control::Next | Control::Call => {}
                    Control::Return | Control::Exit | Control::Trap => falls &= guarded,
                    Control::Branch => {
                        let target = target(module, stmt).and_then(|label| labels.get(&label));
                        let &target =
                            target.ok_or_else(|| unmodelled(stmt, "where it branches to is unclear"))?;
                        self.graph.update_edge(node, target.node(), ());
                        falls &= guarded;
                    }
                    Control::IndirectBranch => {
                        for target in labels.values() {
                            self.graph.update_edge(node, target.node(), ());
                        }
                        falls &= guarded;
                    }
                    Control::Unknown => {
                        return Err(unmodelled(stmt, "it is unknown where control goes from here"));
                    }
                }
            }
            if falls {
                self.graph.update_edge(node, NodeIndex::new(block + 1), ());
            }
        }
        Ok(())
    }

    fn labels(&self, module: &Module<'_>) -> BTreeMap<DeclId, BlockId> {
        let mut labels = BTreeMap::new();
        for (at, &block) in self.block_of.iter().enumerate() {
            let stmt = id(self.first + at);
            if module.kind(stmt) == StmtKind::Label {
                let declared = module.stmt_nodes(stmt).find_map(|node| module.decl_of(node));
                labels.extend(declared.map(|label| (label, block)));
            }
        }
        labels
    }

    fn dominate(&mut self) {
        let entry = Self::ENTRY.node();
        let dominators = simple_fast(&self.graph, entry);
        let mut walk = DfsPostOrder::new(&self.graph, entry);
        while let Some(node) = walk.next(&self.graph) {
            self.order.push(BlockId::of(node));
        }
        self.order.reverse();
        let count = self.graph.node_count();
        self.idom = (0..count)
            .map(|block| dominators.immediate_dominator(NodeIndex::new(block)).map(BlockId::of))
            .collect();
        let mut below: Vec<Vec<BlockId>> = vec![Vec::new(); count];
        for &block in self.order.iter().rev() {
            if let Some(above) = self.idom[block.index()] {
                below[above.index()].push(block);
            }
        }
        self.spans = vec![(u32::MAX, 0); count];
        let (mut clock, mut stack) = (0, vec![(Self::ENTRY, false)]);
        while let Some((block, done)) = stack.pop() {
            if done {
                self.spans[block.index()].1 = clock;
                continue;
            }
            self.spans[block.index()].0 = clock;
            clock += 1;
            stack.push((block, true));
            stack.extend(below[block.index()].iter().map(|&child| (child, false)));
        }
    }

    /// The blocks that control can reach, each after those that dominate it.
    #[must_use]
    pub fn order(&self) -> &[BlockId] {
        &self.order
    }

    /// How many blocks there are, those out of reach included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.graph.node_count()
    }

    /// Whether there are none; never, since there is the entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.graph.node_count() == 0
    }

    /// Whether control can reach a block.
    #[must_use]
    pub fn reachable(&self, block: BlockId) -> bool {
        self.spans[block.index()].0 != u32::MAX
    }

    /// The statements of a block.
    pub fn stmts(&self, block: BlockId) -> impl DoubleEndedIterator<Item = StmtId> + use<> {
        self.graph[block.node()].clone().map(id)
    }

    /// The block that a statement lies in.
    #[must_use]
    pub fn block(&self, stmt: StmtId) -> BlockId {
        self.block_of[stmt.index() - self.first]
    }

    /// The blocks from which control comes, in the order of the text.
    #[must_use]
    pub fn predecessors(&self, block: BlockId) -> Vec<BlockId> {
        let edges = self.graph.edges_directed(block.node(), petgraph::Direction::Incoming);
        let mut blocks: Vec<BlockId> = edges.map(|edge| BlockId::of(edge.source())).collect();
        blocks.retain(|&block| self.reachable(block));
        blocks.sort_unstable();
        blocks
    }

    /// The blocks to which control goes.
    #[must_use]
    pub fn successors(&self, block: BlockId) -> Vec<BlockId> {
        let mut blocks: Vec<BlockId> = self.graph.neighbors(block.node()).map(BlockId::of).collect();
        blocks.sort_unstable();
        blocks
    }

    /// Whether control may reach the end of the body.
    pub(super) fn falls_out(&self, module: &Module<'_>) -> bool {
        let last = BlockId::of(NodeIndex::new(self.len() - 1));
        let end = self.stmts(last).next_back();
        let leaves = end.and_then(|stmt| control(module, stmt)).is_some_and(|control| {
            matches!(control, Control::Return | Control::Exit | Control::Trap | Control::Branch)
        });
        self.reachable(last) && !leaves
    }

    /// The immediate dominator of a block: the last block before it through which all paths to it go.
    #[must_use]
    pub fn immediate_dominator(&self, block: BlockId) -> Option<BlockId> {
        self.idom[block.index()]
    }

    /// Whether all paths from the entry to `below` go through `above`.
    #[must_use]
    pub fn dominates(&self, above: BlockId, below: BlockId) -> bool {
        let (outer, inner) = (self.spans[above.index()], self.spans[below.index()]);
        outer.0 <= inner.0 && inner.1 <= outer.1 && inner.0 != u32::MAX
    }

    /// Whether control can come back to a block from one that it dominates: the head of a loop.
    #[must_use]
    pub fn is_loop_head(&self, block: BlockId) -> bool {
        self.predecessors(block).iter().any(|&from| self.dominates(block, from))
    }

    /// For each block, where its dominance ends: the blocks that it does not strictly dominate, one of whose
    /// predecessors it does.
    #[must_use]
    pub fn frontiers(&self) -> Vec<Vec<BlockId>> {
        let mut frontiers = vec![Vec::new(); self.len()];
        for &block in &self.order {
            let from = self.predecessors(block);
            let Some(above) = self.idom[block.index()].filter(|_| from.len() >= 2) else { continue };
            for mut runner in from {
                while runner != above {
                    let frontier: &mut Vec<BlockId> = &mut frontiers[runner.index()];
                    if frontier.last() != Some(&block) {
                        frontier.push(block);
                    }
                    runner = self.idom[runner.index()].expect("the entry dominates all that leads to a join");
                }
            }
        }
        frontiers
    }

    /// The blocks that each dominates immediately.
    #[must_use]
    pub fn dominated(&self) -> Vec<Vec<BlockId>> {
        let mut below = vec![Vec::new(); self.len()];
        for &block in &self.order {
            if let Some(above) = self.idom[block.index()] {
                below[above.index()].push(block);
            }
        }
        below
    }
}

fn id(index: usize) -> StmtId {
    StmtId::new(index).expect("the index is that of a statement")
}

fn unmodelled(stmt: StmtId, reason: &str) -> Unmodelled {
    Unmodelled { stmt, reason: reason.to_owned() }
}

/// Where control can go after a statement; `None` for what is no instruction.
pub(super) fn control(module: &Module<'_>, stmt: StmtId) -> Option<Control> {
    match module.kind(stmt) {
        StmtKind::Instruction => Some(module.row(stmt).map_or(Control::Unknown, |row| row.control)),
        StmtKind::Unknown => Some(Control::Unknown),
        StmtKind::Version
        | StmtKind::Target
        | StmtKind::AddressSize
        | StmtKind::LineMarker
        | StmtKind::DwarfLine
        | StmtKind::File
        | StmtKind::Section
        | StmtKind::Pragma
        | StmtKind::Alias
        | StmtKind::Variable
        | StmtKind::Register
        | StmtKind::Entry
        | StmtKind::Function
        | StmtKind::Open
        | StmtKind::Close
        | StmtKind::Label
        | StmtKind::Loc
        | StmtKind::BranchTargets
        | StmtKind::CallTargets
        | StmtKind::CallPrototype => None,
    }
}

fn target(module: &Module<'_>, stmt: StmtId) -> Option<DeclId> {
    let operand = *module.operands(stmt).first()?;
    (module.node_kind(operand) == NodeKind::Name).then(|| module.decl_of(operand))?
}
