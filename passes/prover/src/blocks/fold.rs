//! Ways that part and meet again, with nothing but computations in between, as one block.
//!
//! What is computed on such a way is executed under the condition that control comes there: each block of the ways once,
//! in an order in which every block comes after those that lead to it. A register that is written there keeps what it
//! held where the condition fails. So a text that branches to choose between two values is the same as one that selects
//! one of them, and nothing of its flow of control is left to compare.
//!
//! Sound because control always comes to the join if it comes to the head: the ways have no loop, no other end, and no
//! other entry. The condition of a block is that of the edges that lead there, one of which is taken if and only if the
//! block is executed; blocks in between that are not executed write nothing.

use super::cut::{Block, Cut, End};
use super::walk::only_computes;
use hashbrown::HashMap;
use ptxopt_grammar::tree::{Module, StmtId};

/// The most blocks between a head and a join.
const MOST_BLOCKS: usize = 16;

/// A way on which control may come: the number of its condition.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Way(u32);

impl Way {
    /// Control always comes here, once it has come to the block.
    pub(super) const ALWAYS: Self = Self(0);
}

/// What a block does, one after the other.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// It executes a statement, if control comes this way.
    Execute(StmtId, Way),
    /// Control goes on from one way: to the first of two if the guard of a branch holds, else to the second. What leads
    /// to the join is no way of its own.
    Part(StmtId, Way, [Option<Way>; 2]),
    /// Control goes on from one way to another.
    Go(Way, Way),
}

impl Step {
    /// The statement, and whether it is always executed.
    pub(super) fn stmt(&self) -> Option<(StmtId, bool)> {
        match *self {
            Self::Execute(stmt, way) | Self::Part(stmt, way, _) => Some((stmt, way == Way::ALWAYS)),
            Self::Go(..) => None,
        }
    }

    /// The same, where control comes to the block on a way.
    fn under(self, way: Way) -> Self {
        let of = |own: Way| if own == Way::ALWAYS { way } else { own };
        match self {
            Self::Execute(stmt, own) => Self::Execute(stmt, of(own)),
            Self::Part(stmt, own, to) => Self::Part(stmt, of(own), to),
            Self::Go(from, to) => Self::Go(of(from), to),
        }
    }
}

impl Cut {
    /// Makes all ways that part and meet again one block each; whether there are any.
    pub(super) fn fold(&mut self, module: &Module<'_>) -> bool {
        let mut entered = self.entered();
        let (mut ways, mut folds) = (0, false);
        let mut order = self.reachable();
        // Those further below may lie on the ways of those above.
        order.sort_unstable_by(|one, other| other.cmp(one));
        for head in order {
            while entered[head] > 0 && self.fold_at(head, module, &mut entered, &mut ways) {
                self.join_at(head, &mut entered);
                folds = true;
            }
        }
        folds
    }

    fn fold_at(&mut self, head: usize, module: &Module<'_>, entered: &mut [usize], ways: &mut u32) -> bool {
        let End::Branch { .. } = self.blocks[head].end else { return false };
        let Some((inner, join)) = self.between(head, module, entered) else { return false };
        let mut way_of: HashMap<usize, Way> = HashMap::new();
        for &block in &inner {
            *ways += 1;
            way_of.insert(block, Way(*ways));
        }
        let parted = |end: &End, from: Way| match end {
            End::Branch { stmt, taken, next } => {
                vec![Step::Part(*stmt, from, [taken, next].map(|to| way_of.get(to).copied()))]
            }
            End::Jump(to) => way_of.get(to).map(|&to| Step::Go(from, to)).into_iter().collect(),
            End::Indirect { .. } | End::Leave { .. } => Vec::new(),
        };
        let mut steps = std::mem::take(&mut self.blocks[head].steps);
        steps.extend(parted(&self.blocks[head].end, Way::ALWAYS));
        for &block in &inner {
            let own = std::mem::take(&mut self.blocks[block].steps);
            let way = way_of[&block];
            steps.extend(own.into_iter().map(|step| step.under(way)));
            steps.extend(parted(&self.blocks[block].end, way));
            entered[block] = 0;
        }
        let edges = |at: &usize| self.blocks[*at].end.targets().into_iter().filter(|&to| to == join).count();
        entered[join] -= inner.iter().chain([&head]).map(edges).sum::<usize>();
        entered[join] += 1;
        let folded = &mut self.blocks[head];
        (folded.steps, folded.end) = (steps, End::Jump(join));
        true
    }

    /// The blocks between a head and the join of its ways, each after those that lead to it; `None` if there is none.
    fn between(&self, head: usize, module: &Module<'_>, entered: &[usize]) -> Option<(Vec<usize>, usize)> {
        let mut open: HashMap<usize, usize> = HashMap::new();
        let lead = |open: &mut HashMap<usize, usize>, block: &Block| {
            block.end.targets().into_iter().for_each(|to| *open.entry(to).or_default() += 1);
        };
        lead(&mut open, &self.blocks[head]);
        let mut inner = Vec::new();
        loop {
            if open.len() == 1 {
                let join = *open.keys().next().expect("there is one");
                return (join != head && join != 0).then_some((inner, join));
            }
            let is_next = |at: usize, edges: usize| {
                edges == entered[at] && at != head && at != 0 && computes(module, &self.blocks[at])
            };
            let next = open.iter().filter(|&(&at, &edges)| is_next(at, edges)).map(|(&at, _)| at).min()?;
            if inner.len() == MOST_BLOCKS {
                return None;
            }
            open.remove(&next);
            inner.push(next);
            lead(&mut open, &self.blocks[next]);
        }
    }
}

/// Whether a block only computes what has a meaning, and leads on.
fn computes(module: &Module<'_>, block: &Block) -> bool {
    let has_meaning = |stmt: StmtId| module.row(stmt).is_some_and(|row| row.means.is_some());
    let computes = |step: &Step| match *step {
        Step::Execute(stmt, _) => only_computes(module, stmt) && has_meaning(stmt),
        Step::Part(..) | Step::Go(..) => true,
    };
    matches!(block.end, End::Jump(_) | End::Branch { .. }) && block.steps.iter().all(computes)
}
