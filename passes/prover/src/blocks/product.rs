//! Both functions as one: pairs of blocks that control reaches together.
//!
//! Two walks start where the functions are entered and take the same edges, so a pair is made of blocks to which the
//! same sequence of edges leads. Each block must come in one pair only; else the flow of control differs, and
//! nothing is claimed. That conditions are equal is not looked at here: it is proved, like everything else, when the
//! walks are executed. The entry is a pair of its own without statements, so the first block may be the head of a
//! loop like any other.

use super::Stop;
use super::cut::{Cut, End};
use super::registers::RegisterId;
use ptxopt_grammar::tree::{Module, StmtId};

/// How many places there may be at which values meet.
const MOST_MEETINGS: usize = 2_000_000;

/// The pairs of blocks; the first is the entry, which has none.
pub(super) struct Product {
    /// The numbers of the old and the new block.
    pub(super) pairs: Vec<Option<[usize; 2]>>,
    /// Where control goes from each pair, in the order of the edges of its ends.
    pub(super) successors: Vec<Vec<usize>>,
    /// The pairs from which control comes; several times where several edges do.
    pub(super) predecessors: Vec<Vec<usize>>,
    /// The pairs that each one dominates immediately.
    pub(super) dominated: Vec<Vec<usize>>,
    idom: Vec<usize>,
}

impl Product {
    pub(super) fn new(modules: [&Module<'_>; 2], cuts: [&Cut; 2]) -> Result<Self, Stop> {
        let mut product = Self {
            pairs: vec![None],
            successors: vec![Vec::new()],
            predecessors: Vec::new(),
            dominated: Vec::new(),
            idom: Vec::new(),
        };
        let mut of = [vec![usize::MAX; cuts[0].blocks.len()], vec![usize::MAX; cuts[1].blocks.len()]];
        let first = product.pair([0, 0], &mut of).expect("the first blocks are in no pair yet");
        product.successors[0].push(first);
        let mut at = first;
        while let Some(&pair) = product.pairs.get(at) {
            let pair = pair.expect("only the entry has no blocks");
            let [old, new] = [0, 1].map(|side| &cuts[side].blocks[pair[side]].end);
            if !alike(modules, [old, new]) {
                return Err(differs(old, new));
            }
            for targets in old.targets().into_iter().zip(new.targets()) {
                let to = product.pair([targets.0, targets.1], &mut of).ok_or_else(|| differs(old, new))?;
                product.successors[at].push(to);
            }
            at += 1;
        }
        product.dominate();
        Ok(product)
    }

    /// The number of a pair; `None` if one of its blocks is in another one.
    fn pair(&mut self, blocks: [usize; 2], of: &mut [Vec<usize>; 2]) -> Option<usize> {
        let known = [of[0][blocks[0]], of[1][blocks[1]]];
        if known == [usize::MAX; 2] {
            let number = self.pairs.len();
            self.pairs.push(Some(blocks));
            self.successors.push(Vec::new());
            (of[0][blocks[0]], of[1][blocks[1]]) = (number, number);
            return Some(number);
        }
        (known[0] == known[1]).then_some(known[0])
    }

    /// Predecessors and immediate dominators, by iteration over the reverse post-order.
    fn dominate(&mut self) {
        let count = self.pairs.len();
        self.predecessors = vec![Vec::new(); count];
        for (from, successors) in self.successors.iter().enumerate() {
            successors.iter().for_each(|&to| self.predecessors[to].push(from));
        }
        let order = self.reverse_post_order();
        let mut place = vec![0; count];
        order.iter().enumerate().for_each(|(at, &pair)| place[pair] = at);
        let mut idom = vec![usize::MAX; count];
        idom[0] = 0;
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for &pair in &order[1..] {
                let known = self.predecessors[pair].iter().copied().filter(|&from| idom[from] != usize::MAX);
                let common = known.reduce(|mut a, mut b| {
                    while a != b {
                        let later = if place[a] > place[b] { &mut a } else { &mut b };
                        *later = idom[*later];
                    }
                    a
                });
                let common = common.expect("a predecessor comes earlier in the order");
                changed |= std::mem::replace(&mut idom[pair], common) != common;
            }
        }
        self.dominated = vec![Vec::new(); count];
        order[1..].iter().for_each(|&pair| self.dominated[idom[pair]].push(pair));
        self.idom = idom;
    }

    fn reverse_post_order(&self) -> Vec<usize> {
        let mut seen = vec![false; self.pairs.len()];
        let (mut order, mut stack) = (Vec::new(), vec![(0, 0)]);
        seen[0] = true;
        while let Some((pair, next)) = stack.last_mut() {
            if let Some(&to) = self.successors[*pair].get(*next) {
                *next += 1;
                if !std::mem::replace(&mut seen[to], true) {
                    stack.push((to, 0));
                }
            } else {
                order.push(*pair);
                stack.pop();
            }
        }
        order.reverse();
        order
    }

    /// For each pair the registers whose values meet there: the iterated frontiers of dominance of their writes.
    /// `writes` has the pairs that write each register.
    pub(super) fn meetings(&self, writes: &[(RegisterId, Vec<usize>)]) -> Result<Vec<Vec<RegisterId>>, Stop> {
        let large = || Stop::plain("its flow of control is too large to be compared");
        let frontiers = self.frontiers().ok_or_else(large)?;
        let mut count = 0;
        let mut meetings = vec![Vec::new(); self.pairs.len()];
        let mut marked = vec![usize::MAX; self.pairs.len()];
        for (number, (register, writes)) in writes.iter().enumerate() {
            let mut work = writes.clone();
            while let Some(pair) = work.pop() {
                for &join in &frontiers[pair] {
                    if std::mem::replace(&mut marked[join], number) != number {
                        meetings[join].push(*register);
                        work.push(join);
                        count += 1;
                    }
                }
            }
            if count > MOST_MEETINGS {
                return Err(large());
            }
        }
        Ok(meetings)
    }

    /// For each pair, where its dominance ends; `None` if these are too many.
    fn frontiers(&self) -> Option<Vec<Vec<usize>>> {
        let mut count = 0;
        let mut frontiers: Vec<Vec<usize>> = vec![Vec::new(); self.pairs.len()];
        for (join, predecessors) in self.predecessors.iter().enumerate() {
            for &from in predecessors.iter().filter(|_| predecessors.len() >= 2) {
                let mut runner = from;
                while runner != self.idom[join] {
                    if frontiers[runner].last() != Some(&join) {
                        frontiers[runner].push(join);
                        count += 1;
                    }
                    runner = self.idom[runner];
                }
            }
            if count > MOST_MEETINGS {
                return None;
            }
        }
        Some(frontiers)
    }
}

/// Whether two ends are spelled alike, operands aside, and lead to as many blocks.
fn alike(modules: [&Module<'_>; 2], ends: [&End; 2]) -> bool {
    let words = |side: usize, stmt: StmtId| {
        let module = modules[side];
        module.opcode(stmt).map(|(spelling, _)| module.spellings().words(spelling, module.text()))
    };
    match ends {
        [End::Jump(_), End::Jump(_)] => true,
        [End::Branch { stmt: old, .. }, End::Branch { stmt: new, .. }] => words(0, *old) == words(1, *new),
        [
            End::Indirect { stmt: old, targets: olds, next: old_next },
            End::Indirect { stmt: new, targets: news, next: new_next },
        ] => {
            words(0, *old) == words(1, *new)
                && olds.len() == news.len()
                && old_next.is_some() == new_next.is_some()
        }
        [End::Leave { stmt: Some(old), next: old_next }, End::Leave { stmt: Some(new), next: new_next }] => {
            words(0, *old) == words(1, *new) && old_next.is_some() == new_next.is_some()
        }
        [End::Leave { stmt: None, .. }, End::Leave { stmt: None, .. }] => true,
        [End::Jump(_) | End::Branch { .. } | End::Indirect { .. } | End::Leave { .. }, _] => false,
    }
}

fn differs(old: &End, new: &End) -> Stop {
    let why = "the flow of control differs";
    match (new.stmt(), old.stmt()) {
        (Some(stmt), _) => {
            Stop::at(stmt, "leads elsewhere than its counterpart: the flow of control differs")
        }
        (None, Some(stmt)) => Stop::at(stmt, "has no counterpart: the flow of control differs").in_first(),
        (None, None) => Stop::plain(why),
    }
}
