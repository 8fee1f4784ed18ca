//! A body cut into blocks, for the prover alone.
//!
//! Blocks begin at labels and end at what can leave them. A jump without a guard does nothing but lead somewhere, so
//! a block that is entered from a single jump is joined to where that comes from, and one that only jumps can be left
//! out: what remains is the flow of control, whatever labels and jumps a text spells it with. Where control can go is
//! read from the instruction table; an instruction that the table lacks falls through, unless it names a label: then
//! nothing is claimed.

use super::Stop;
use super::fold::{Step, Way};
use hashbrown::HashMap;
use ptxopt_grammar::names::DeclKind;
use ptxopt_grammar::table::Control;
use ptxopt_grammar::tree::{DeclId, Module, NodeId, NodeKind, StmtId, StmtKind};
use std::ops::Range;

/// The blocks of a body; the first is where it is entered.
pub(super) struct Cut {
    pub(super) blocks: Vec<Block>,
}

/// Statements that are executed one after the other, and how they end.
pub(super) struct Block {
    /// Its first label, for messages.
    pub(super) name: Option<String>,
    /// The instructions and pragmas.
    pub(super) steps: Vec<Step>,
    pub(super) end: End,
}

/// Where control goes after a block.
#[derive(Clone, Debug)]
pub(super) enum End {
    /// To another block.
    Jump(usize),
    /// To one of two, by the statement's guard.
    Branch { stmt: StmtId, taken: usize, next: usize },
    /// To one of several by number, or on to the next if the guard fails.
    Indirect { stmt: StmtId, targets: Vec<usize>, next: Option<usize> },
    /// Out of the function or the thread, or on to the next if the guard fails; without a statement, over the end of
    /// the body.
    Leave { stmt: Option<StmtId>, next: Option<usize> },
}

impl End {
    /// All blocks that it can lead to, in a fixed order: those of the statement, then the next.
    pub(super) fn targets(&self) -> Vec<usize> {
        match self {
            Self::Jump(to) => vec![*to],
            Self::Branch { taken, next, .. } => vec![*taken, *next],
            Self::Indirect { targets, next, .. } => targets.iter().copied().chain(*next).collect(),
            Self::Leave { next, .. } => next.iter().copied().collect(),
        }
    }

    fn each(&mut self, mut change: impl FnMut(&mut usize)) {
        match self {
            Self::Jump(to) => change(to),
            Self::Branch { taken, next, .. } => [taken, next].into_iter().for_each(change),
            Self::Indirect { targets, next, .. } => targets.iter_mut().chain(next).for_each(change),
            Self::Leave { next, .. } => next.iter_mut().for_each(change),
        }
    }

    /// The statement that ends the block, if one does.
    pub(super) fn stmt(&self) -> Option<StmtId> {
        match self {
            Self::Jump(_) => None,
            Self::Branch { stmt, .. } | Self::Indirect { stmt, .. } => Some(*stmt),
            Self::Leave { stmt, .. } => *stmt,
        }
    }
}

impl Cut {
    /// The blocks of the statements between the braces of a body; `leave_out`: without those that only jump.
    pub(super) fn new(module: &Module<'_>, body: &Range<usize>, leave_out: bool) -> Result<Self, Stop> {
        let ranges = ranges(module, body);
        let labels = labels(module, &ranges);
        let mut blocks = Vec::with_capacity(ranges.len());
        for (at, range) in ranges.iter().enumerate() {
            let next = (at + 1 < ranges.len()).then_some(at + 1);
            blocks.push(block(module, range, next, &labels)?);
        }
        let mut cut = Self { blocks };
        if leave_out {
            cut.leave_out_empty();
        }
        cut.join();
        Ok(cut)
    }

    /// Leads every edge past blocks that only jump.
    fn leave_out_empty(&mut self) {
        let past: Vec<usize> = (0..self.blocks.len()).map(|at| self.behind(at)).collect();
        for block in &mut self.blocks {
            block.end.each(|to| *to = past[*to]);
        }
        // The first block stays where it is; that it may be empty does no harm.
    }

    fn behind(&self, from: usize) -> usize {
        let mut at = from;
        for _ in 0..self.blocks.len() {
            match &self.blocks[at] {
                Block { steps, end: End::Jump(to), .. } if steps.is_empty() => at = *to,
                _ => return at,
            }
        }
        // A loop of nothing but jumps.
        from
    }

    /// Joins each block that is entered from a single jump to the block with that jump.
    fn join(&mut self) {
        let mut entered = self.entered();
        for at in self.reachable() {
            self.join_at(at, &mut entered);
        }
    }

    /// Joins a block to those behind it that are entered from it alone.
    pub(super) fn join_at(&mut self, at: usize, entered: &mut [usize]) {
        while let End::Jump(to) = self.blocks[at].end
            && entered[to] == 1
            && to != at
        {
            let steps = std::mem::take(&mut self.blocks[to].steps);
            let end = std::mem::replace(&mut self.blocks[to].end, End::Leave { stmt: None, next: None });
            let name = self.blocks[to].name.take();
            let block = &mut self.blocks[at];
            block.steps.extend(steps);
            block.end = end;
            block.name = block.name.take().or(name);
            entered[to] = 0;
        }
    }

    /// By block: how many edges lead there.
    pub(super) fn entered(&self) -> Vec<usize> {
        let mut entered = vec![0_usize; self.blocks.len()];
        entered[0] = 1;
        for at in self.reachable() {
            self.blocks[at].end.targets().into_iter().for_each(|to| entered[to] += 1);
        }
        entered
    }

    /// The blocks that control can reach, in no particular order.
    pub(super) fn reachable(&self) -> Vec<usize> {
        let mut seen = vec![false; self.blocks.len()];
        let (mut order, mut work) = (Vec::new(), vec![0]);
        while let Some(at) = work.pop() {
            if !std::mem::replace(&mut seen[at], true) {
                order.push(at);
                work.extend(self.blocks[at].end.targets());
            }
        }
        order
    }
}

/// The statements of each block, labels and ends included; the last is where control falls out of the body.
fn ranges(module: &Module<'_>, body: &Range<usize>) -> Vec<Range<usize>> {
    let (mut ranges, mut start) = (Vec::new(), body.start);
    for at in body.clone() {
        let stmt = id(at);
        if module.kind(stmt) == StmtKind::Label && at > start {
            ranges.push(start..at);
            start = at;
        }
        if ends_block(module, stmt) {
            ranges.push(start..at + 1);
            start = at + 1;
        }
    }
    ranges.push(start..body.end);
    ranges
}

fn labels(module: &Module<'_>, ranges: &[Range<usize>]) -> HashMap<DeclId, usize> {
    let mut labels = HashMap::new();
    for (block, range) in ranges.iter().enumerate() {
        for stmt in range.clone().map(id).filter(|&stmt| module.kind(stmt) == StmtKind::Label) {
            labels.extend(
                module.stmt_nodes(stmt).find_map(|node| module.decl_of(node)).map(|label| (label, block)),
            );
        }
    }
    labels
}

fn block(
    module: &Module<'_>,
    range: &Range<usize>,
    next: Option<usize>,
    labels: &HashMap<DeclId, usize>,
) -> Result<Block, Stop> {
    let (mut name, mut steps, mut end) = (None, Vec::new(), None);
    for stmt in range.clone().map(id) {
        match module.kind(stmt) {
            StmtKind::Label => {
                let label = module.stmt_nodes(stmt).find_map(|node| module.decl_of(node));
                let text = label.map(|label| String::from_utf8_lossy(module.decl_name(label)).into_owned());
                name = name.or(text);
            }
            StmtKind::Pragma => steps.push(Step::Execute(stmt, Way::ALWAYS)),
            StmtKind::Unknown => return Err(Stop::at(stmt, "not understood")),
            StmtKind::Instruction => match self::end(module, stmt, next, labels)? {
                Some(found) => end = Some(found),
                None => steps.push(Step::Execute(stmt, Way::ALWAYS)),
            },
            StmtKind::Version
            | StmtKind::Target
            | StmtKind::AddressSize
            | StmtKind::LineMarker
            | StmtKind::DwarfLine
            | StmtKind::File
            | StmtKind::Section
            | StmtKind::Alias
            | StmtKind::Variable
            | StmtKind::Register
            | StmtKind::Entry
            | StmtKind::Function
            | StmtKind::Open
            | StmtKind::Close
            | StmtKind::Loc
            | StmtKind::BranchTargets
            | StmtKind::CallTargets
            | StmtKind::CallPrototype => {}
        }
    }
    let falls = || next.map_or(End::Leave { stmt: None, next: None }, End::Jump);
    Ok(Block { name, steps, end: end.unwrap_or_else(falls) })
}

/// How an instruction ends its block; `None` if control just goes on.
fn end(
    module: &Module<'_>,
    stmt: StmtId,
    next: Option<usize>,
    labels: &HashMap<DeclId, usize>,
) -> Result<Option<End>, Stop> {
    let guarded = module.guard(stmt).is_some();
    let label = |node: NodeId| {
        let decl = (module.node_kind(node) == NodeKind::Name).then(|| module.decl_of(node))??;
        labels.get(&decl).copied()
    };
    let unclear = || Stop::at(stmt, "leads to where the prover does not follow");
    let next = next.filter(|_| guarded);
    Ok(Some(match control(module, stmt).unwrap_or(Control::Unknown) {
        Control::Next | Control::Call => return Ok(None),
        Control::Unknown => {
            let is_label = |node| {
                let decl = module.decl_of(node);
                decl.is_some_and(|decl| matches!(module.decl(decl).kind, DeclKind::Label | DeclKind::Table))
            };
            if module.stmt_nodes(stmt).any(is_label) {
                return Err(unclear());
            }
            return Ok(None);
        }
        Control::Branch => {
            let [target] = module.operands(stmt)[..] else { return Err(unclear()) };
            let taken = label(target).ok_or_else(unclear)?;
            match next {
                Some(next) => End::Branch { stmt, taken, next },
                None if guarded => return Err(unclear()),
                None => End::Jump(taken),
            }
        }
        Control::IndirectBranch => {
            let [_index, table] = module.operands(stmt)[..] else { return Err(unclear()) };
            let table = module.decl_of(table).ok_or_else(unclear)?;
            let listed = module.decl(table).stmt;
            if module.kind(listed) != StmtKind::BranchTargets {
                return Err(unclear());
            }
            let names = module.stmt_nodes(listed).filter(|&node| module.node_kind(node) == NodeKind::Name);
            let targets: Option<Vec<usize>> = names.map(label).collect();
            End::Indirect { stmt, targets: targets.ok_or_else(unclear)?, next }
        }
        Control::Return | Control::Exit | Control::Trap => End::Leave { stmt: Some(stmt), next },
    }))
}

fn id(index: usize) -> StmtId {
    StmtId::new(index).expect("the index is that of a statement")
}

/// Whether a statement is an instruction that is the end of its block.
pub(super) fn ends_block(module: &Module<'_>, stmt: StmtId) -> bool {
    matches!(
        control(module, stmt),
        Some(Control::Branch | Control::IndirectBranch | Control::Return | Control::Exit | Control::Trap)
    )
}

/// Where control can go after a statement; `None` for what is no instruction.
fn control(module: &Module<'_>, stmt: StmtId) -> Option<Control> {
    let instruction = module.kind(stmt) == StmtKind::Instruction;
    instruction.then(|| module.row(stmt).map_or(Control::Unknown, |row| row.control))
}
