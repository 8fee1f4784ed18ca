//! Control flow: a function cut into blocks, the edges between them, and which block dominates which.
//!
//! Statements are never moved, so a block is a range of them. The first block is the entry: it is empty, nothing
//! comes back to it, and what the caller hands over is defined in it. So a loop whose head is the first statement of
//! the body has an incoming edge from outside like any other loop. Where control can go after an instruction is read
//! from the instruction table; an indirect branch may go to every label of its function, a superset of its targets. A
//! function with an unknown instruction has no flow, since that may jump anywhere. Nothing here recurses, so the
//! depth of a function's control flow cannot overflow the stack.

use super::dominators;
use super::lists::Lists;
use hashbrown::HashSet;
use petgraph::visit::{DfsPostOrder, GraphBase, IntoNeighbors, VisitMap, Visitable};
use ptxopt_grammar::table::Control;
use ptxopt_grammar::tree::{DeclId, Module, NodeKind, StmtId, StmtKind};
use std::iter::{Copied, Rev};
use std::ops::Range;
use std::slice::Iter;

/// A block, by its number in the order of the text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BlockId(pub(super) u32);

impl BlockId {
    /// Its place in the list of blocks.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    pub(super) fn numbered(index: usize) -> Self {
        Self(u32::try_from(index).expect("there are no more blocks than statements"))
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
    /// The statements of each block.
    blocks: Vec<Range<u32>>,
    first: usize,
    block_of: Vec<BlockId>,
    /// Where control goes, in the order of the text.
    successors: Lists<BlockId>,
    /// Where control comes from, in the order of the text, blocks out of reach left out.
    predecessors: Lists<BlockId>,
    idom: Vec<Option<BlockId>>,
    order: Vec<BlockId>,
    /// The blocks that each dominates immediately, in the order of [`Self::order`].
    dominated: Lists<BlockId>,
    /// Numbers of entering and leaving each block in a walk of the dominator tree: a dominator's span contains the
    /// spans of the blocks that it dominates.
    spans: Vec<(u32, u32)>,
}

/// An edge: the block that control leaves, and the one that it enters.
type Edge = (BlockId, BlockId);

/// The edges as petgraph's walks see them.
struct Edges(Lists<BlockId>);

impl GraphBase for Edges {
    type NodeId = BlockId;
    type EdgeId = Edge;
}

impl<'e> IntoNeighbors for &'e Edges {
    type Neighbors = Rev<Copied<Iter<'e, BlockId>>>;

    fn neighbors(self, block: BlockId) -> Self::Neighbors {
        // A walk pushes neighbours on a stack, so the last one comes first.
        self.0.get(block.index()).iter().copied().rev()
    }
}

impl Visitable for Edges {
    type Map = Seen;

    fn visit_map(&self) -> Seen {
        Seen(vec![false; self.0.len()])
    }

    fn reset_map(&self, map: &mut Seen) {
        map.0.clear();
        map.0.resize(self.0.len(), false);
    }
}

/// The blocks that a walk has been to.
struct Seen(Vec<bool>);

impl VisitMap<BlockId> for Seen {
    fn visit(&mut self, block: BlockId) -> bool {
        !std::mem::replace(&mut self.0[block.index()], true)
    }

    fn is_visited(&self, block: &BlockId) -> bool {
        self.0[block.index()]
    }

    fn unvisit(&mut self, block: BlockId) -> bool {
        std::mem::replace(&mut self.0[block.index()], false)
    }
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
        let edges = flow.edges(module)?;
        flow.connect(&edges);
        flow.dominate();
        Ok(flow)
    }

    /// Blocks begin at labels that something branches to, and after what can leave; the entry comes before all of them.
    /// Other labels are there for debuggers only.
    fn cut(module: &Module<'_>, body: &Range<usize>) -> Self {
        let targets = targets(module, body);
        let [first, end] =
            [body.start, body.end].map(|at| u32::try_from(at).expect("statements have 32-bit numbers"));
        let mut blocks = Vec::new();
        blocks.push(first..first);
        let mut block_of = Vec::with_capacity(body.len());
        let mut start = first;
        for at in first..end {
            let stmt = id(at as usize);
            let entered = || label(module, stmt).is_some_and(|label| targets.contains(label));
            if module.kind(stmt) == StmtKind::Label && at > start && entered() {
                blocks.push(start..at);
                start = at;
            }
            block_of.push(BlockId::numbered(blocks.len()));
            if control(module, stmt).is_some_and(|control| !matches!(control, Control::Next | Control::Call))
            {
                blocks.push(start..at + 1);
                start = at + 1;
            }
        }
        // The last block, empty or not, is where control falls out of the body.
        blocks.push(start..end);
        Self {
            blocks,
            first: body.start,
            block_of,
            successors: Lists::default(),
            predecessors: Lists::default(),
            idom: Vec::new(),
            order: Vec::new(),
            dominated: Lists::default(),
            spans: Vec::new(),
        }
    }

    /// All edges: of one block those of its branch first, then the one to the next block.
    fn edges(&self, module: &Module<'_>) -> Result<Vec<Edge>, Unmodelled> {
        let labels = self.labels(module);
        let target_of = |label: DeclId| {
            let at = labels.binary_search_by_key(&label, |&(label, _)| label).ok()?;
            Some(labels[at].1)
        };
        let mut edges: Vec<Edge> = Vec::with_capacity(2 * self.blocks.len());
        for (number, range) in self.blocks.iter().enumerate() {
            let block = BlockId::numbered(number);
            let mut falls = number + 1 < self.blocks.len();
            let begin = edges.len();
            if let Some(stmt) = range.clone().last().map(|at| id(at as usize))
                && let Some(control) = control(module, stmt)
            {
                let guarded = module.guard(stmt).is_some();
                match control {
                    Control::Next | Control::Call => {}
                    Control::Return | Control::Exit | Control::Trap => falls &= guarded,
                    Control::Branch => {
                        let target = target(module, stmt).and_then(target_of);
                        let target =
                            target.ok_or_else(|| unmodelled(stmt, "where it branches to is unclear"))?;
                        edges.push((block, target));
                        falls &= guarded;
                    }
                    Control::IndirectBranch => {
                        edges.extend(labels.iter().map(|&(_, target)| (block, target)));
                        falls &= guarded;
                    }
                    Control::Unknown => {
                        return Err(unmodelled(stmt, "it is unknown where control goes from here"));
                    }
                }
            }
            // Each target begins a block of its own, so only the next block can be there twice.
            let next = (block, BlockId::numbered(number + 1));
            if falls && !edges[begin..].contains(&next) {
                edges.push(next);
            }
        }
        Ok(edges)
    }

    /// The labels and their blocks, sorted by label.
    fn labels(&self, module: &Module<'_>) -> Vec<(DeclId, BlockId)> {
        let mut labels = Vec::new();
        for (at, &block) in self.block_of.iter().enumerate() {
            let stmt = id(self.first + at);
            if module.kind(stmt) == StmtKind::Label {
                labels.extend(label(module, stmt).map(|label| (label, block)));
            }
        }
        labels.sort_unstable();
        labels
    }

    /// Takes the edges in, and finds the order of the blocks that control can reach.
    fn connect(&mut self, edges: &[Edge]) {
        let count = self.blocks.len();
        let as_made = Edges(Lists::of(count, || edges.iter().map(|&(from, to)| (from.index(), to))));
        let mut walk = DfsPostOrder::new(&as_made, Self::ENTRY);
        while let Some(block) = walk.next(&as_made) {
            self.order.push(block);
        }
        self.order.reverse();
        let Seen(reached) = walk.finished;
        let Edges(mut successors) = as_made;
        (0..count).for_each(|block| successors.get_mut(block).sort_unstable());
        self.successors = successors;
        let here = |&&(from, _): &&Edge| reached[from.index()];
        self.predecessors =
            Lists::of(count, || edges.iter().filter(here).map(|&(from, to)| (to.index(), from)));
        self.idom = dominators::immediate(&self.successors, &self.predecessors, Self::ENTRY);
    }

    /// Numbers the tree of dominators.
    fn dominate(&mut self) {
        let count = self.blocks.len();
        let below = |block: &BlockId| self.idom[block.index()].map(|above| (above.index(), *block));
        self.dominated = Lists::of(count, || self.order.iter().filter_map(below));
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
            stack.extend(self.dominated.get(block.index()).iter().map(|&child| (child, false)));
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
        self.blocks.len()
    }

    /// Whether there are none; never, since there is the entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Whether control can reach a block.
    #[must_use]
    pub fn reachable(&self, block: BlockId) -> bool {
        self.spans[block.index()].0 != u32::MAX
    }

    /// The statements of a block.
    pub fn stmts(&self, block: BlockId) -> impl DoubleEndedIterator<Item = StmtId> + use<> {
        self.blocks[block.index()].clone().map(|at| id(at as usize))
    }

    /// The number of the first statement of the body.
    pub(super) fn first_stmt(&self) -> usize {
        self.first
    }

    /// How many statements the body has.
    pub(super) fn stmt_count(&self) -> usize {
        self.block_of.len()
    }

    /// The block that a statement lies in.
    #[must_use]
    pub fn block(&self, stmt: StmtId) -> BlockId {
        self.block_of[stmt.index() - self.first]
    }

    /// The blocks from which control comes, in the order of the text.
    #[must_use]
    pub fn predecessors(&self, block: BlockId) -> &[BlockId] {
        self.predecessors.get(block.index())
    }

    /// The blocks to which control goes, in the order of the text.
    #[must_use]
    pub fn successors(&self, block: BlockId) -> &[BlockId] {
        self.successors.get(block.index())
    }

    /// Whether control may reach the end of the body.
    pub(super) fn falls_out(&self, module: &Module<'_>) -> bool {
        let last = BlockId::numbered(self.len() - 1);
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

    /// The blocks that a block dominates immediately.
    #[must_use]
    pub fn dominated(&self, block: BlockId) -> &[BlockId] {
        self.dominated.get(block.index())
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

/// The labels of a function that control can come to other than from the statement before.
enum Targets {
    Some(HashSet<DeclId>),
    All,
}

impl Targets {
    fn contains(&self, label: DeclId) -> bool {
        match self {
            Self::Some(some) => some.contains(&label),
            Self::All => true,
        }
    }
}

/// Where branches lead: an indirect one to any label.
fn targets(module: &Module<'_>, body: &Range<usize>) -> Targets {
    let mut some = HashSet::new();
    for stmt in body.clone().map(id) {
        match control(module, stmt) {
            Some(Control::Branch) => some.extend(target(module, stmt)),
            Some(Control::IndirectBranch | Control::Unknown) => return Targets::All,
            Some(Control::Next | Control::Call | Control::Return | Control::Exit | Control::Trap) | None => {}
        }
    }
    Targets::Some(some)
}

/// The name that a label defines.
fn label(module: &Module<'_>, stmt: StmtId) -> Option<DeclId> {
    module.stmt_nodes(stmt).find_map(|node| module.decl_of(node))
}

fn target(module: &Module<'_>, stmt: StmtId) -> Option<DeclId> {
    let operand = *module.operands(stmt).first()?;
    (module.node_kind(operand) == NodeKind::Name).then(|| module.decl_of(operand))?
}
