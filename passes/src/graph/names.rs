//! Values for every access of a register: SSA construction.
//!
//! A register with one write that comes before all its reads on every path needs no phi: its reads see that write.
//! For all others, phis stand where paths from different writes join (the iterated dominance frontiers), and a walk
//! down the dominator tree names what each access sees. Sound because that is the textbook construction of SSA form;
//! the short cut is the case in which none of the phis that it would place is used.

use super::registers::{Access, Accesses, Register, Registers};
use super::{BlockId, Flow, Origin, Use, Value, ValueId};
use petgraph::graph::DiGraph;
use ptxopt_grammar::tree::StmtId;

/// The values of a function before they have terms.
pub(super) struct Named {
    pub(super) values: DiGraph<Value, Use>,
    /// For each access, the value read or written.
    pub(super) seen: Vec<ValueId>,
    /// For each access that is a write under a guard, the value that stays where the guard fails.
    pub(super) old: Vec<Option<ValueId>>,
}

/// The place of an access: a block and a position among all accesses.
#[derive(Clone, Copy)]
struct At {
    block: BlockId,
    access: usize,
}

struct Naming<'a> {
    flow: &'a Flow,
    accesses: &'a Accesses,
    registers: &'a Registers,
    named: Named,
    /// The value of each register at this point of the walk.
    current: Vec<Option<ValueId>>,
    undefined: Vec<Option<ValueId>>,
    phis: Vec<Vec<(Register, ValueId)>>,
}

/// Names every access; `parameters` are defined from the start.
pub(super) fn name(
    flow: &Flow,
    registers: &Registers,
    accesses: &Accesses,
    parameters: &[Register],
    guarded: &dyn Fn(StmtId) -> bool,
) -> Named {
    let count = registers.len();
    let placeholder = ValueId(0);
    let named = Named {
        values: DiGraph::new(),
        seen: vec![placeholder; accesses.list.len()],
        old: vec![None; accesses.list.len()],
    };
    let mut naming = Naming {
        flow,
        accesses,
        registers,
        named,
        current: vec![None; count],
        undefined: vec![None; count],
        phis: vec![Vec::new(); flow.len()],
    };
    for &parameter in parameters {
        let value = naming.add(Origin::Opaque, parameter);
        naming.current[parameter.index()] = Some(value);
    }
    naming.place_phis(parameters, guarded);
    naming.walk(guarded);
    naming.named
}

impl Naming<'_> {
    fn add(&mut self, origin: Origin, register: Register) -> ValueId {
        let width = self.registers.named(register).width;
        let value = Value { width, origin, register: Some(register), def: None, core: None };
        ValueId::of(self.named.values.add_node(value))
    }

    fn undefined(&mut self, register: Register) -> ValueId {
        if let Some(value) = self.undefined[register.index()] {
            return value;
        }
        let value = self.add(Origin::Undefined, register);
        self.undefined[register.index()] = Some(value);
        value
    }

    /// Phis for the registers that need them.
    fn place_phis(&mut self, parameters: &[Register], guarded: &dyn Fn(StmtId) -> bool) {
        let lists = self.lists(guarded);
        let frontiers = self.flow.frontiers();
        let mut marked: Vec<usize> = vec![usize::MAX; self.flow.len()];
        for (index, Lists { reads, writes }) in lists.iter().enumerate() {
            let register = Register::numbered(index);
            if writes.is_empty() || !parameters.contains(&register) && self.is_simple(reads, writes) {
                continue;
            }
            let mut work: Vec<BlockId> = writes.iter().map(|at| at.block).collect();
            while let Some(block) = work.pop() {
                for &join in &frontiers[block.index()] {
                    if std::mem::replace(&mut marked[join.index()], index) != index {
                        let phi = self.add(Origin::Phi(join), register);
                        self.phis[join.index()].push((register, phi));
                        work.push(join);
                    }
                }
            }
        }
    }

    /// Where each register is read and written; a guarded write reads what it keeps.
    fn lists(&self, guarded: &dyn Fn(StmtId) -> bool) -> Vec<Lists> {
        let mut lists: Vec<Lists> = Vec::new();
        lists.resize_with(self.registers.len(), Lists::default);
        for &block in self.flow.order() {
            for stmt in self.flow.stmts(block) {
                for access in self.accesses.range(stmt) {
                    let Access { register, write, .. } = self.accesses.list[access];
                    let list = &mut lists[register.index()];
                    if write {
                        list.writes.push(At { block, access });
                    }
                    if !write || guarded(stmt) {
                        list.reads.push(At { block, access });
                    }
                }
            }
        }
        lists
    }

    /// Whether there is one write, and all reads come after it on every path.
    fn is_simple(&self, reads: &[At], writes: &[At]) -> bool {
        let [write] = writes else { return false };
        reads.iter().all(|read| {
            if read.block == write.block {
                read.access > write.access
            } else {
                self.flow.dominates(write.block, read.block)
            }
        })
    }

    /// The walk down the dominator tree, with what each register holds.
    fn walk(&mut self, guarded: &dyn Fn(StmtId) -> bool) {
        let below = self.flow.dominated();
        let Some(&entry) = self.flow.order().first() else { return };
        let mut stack = vec![Step::Enter(entry)];
        let mut undo: Vec<(Register, Option<ValueId>)> = Vec::new();
        while let Some(step) = stack.pop() {
            match step {
                Step::Leave(mark) => {
                    for (register, value) in undo.drain(mark..).rev() {
                        self.current[register.index()] = value;
                    }
                }
                Step::Enter(block) => {
                    stack.push(Step::Leave(undo.len()));
                    self.block(block, guarded, &mut undo);
                    stack.extend(below[block.index()].iter().rev().map(|&child| Step::Enter(child)));
                }
            }
        }
    }

    fn set(&mut self, register: Register, value: ValueId, undo: &mut Vec<(Register, Option<ValueId>)>) {
        undo.push((register, self.current[register.index()].replace(value)));
    }

    fn get(&mut self, register: Register) -> ValueId {
        self.current[register.index()].unwrap_or_else(|| self.undefined(register))
    }

    fn block(
        &mut self,
        block: BlockId,
        guarded: &dyn Fn(StmtId) -> bool,
        undo: &mut Vec<(Register, Option<ValueId>)>,
    ) {
        for (register, phi) in self.phis[block.index()].clone() {
            self.set(register, phi, undo);
        }
        for stmt in self.flow.stmts(block) {
            for at in self.accesses.range(stmt) {
                let Access { register, write, .. } = self.accesses.list[at];
                if !write {
                    self.named.seen[at] = self.get(register);
                    continue;
                }
                if guarded(stmt) {
                    self.named.old[at] = Some(self.get(register));
                }
                let value = self.add(Origin::Result(stmt), register);
                self.named.seen[at] = value;
                self.set(register, value, undo);
            }
        }
        for next in self.flow.successors(block) {
            let from = self.flow.predecessors(next).iter().position(|&before| before == block);
            let from = from.expect("the edges of a flow are known at both ends");
            let slot = Use::Phi(u32::try_from(from).expect("blocks have 32-bit numbers"));
            for (register, phi) in self.phis[next.index()].clone() {
                let value = self.get(register);
                self.named.values.add_edge(value.node(), phi.node(), slot);
            }
        }
    }
}

/// The accesses of a register.
#[derive(Default)]
struct Lists {
    reads: Vec<At>,
    writes: Vec<At>,
}

enum Step {
    Enter(BlockId),
    /// Forgets what was set since.
    Leave(usize),
}
