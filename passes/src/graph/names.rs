//! Values for every access of a register: SSA construction.
//!
//! A register with one write that comes before all its reads on every path needs no phi: its reads see that write. For
//! all others, phis stand where paths from different writes join and the register is read before it is written again
//! (see `phis`), and a walk down the dominator tree names what each access sees. Sound because that is the textbook
//! construction of pruned SSA form; the short cut is the case in which none of the phis that it would place is used.

use super::lists::Lists;
use super::phis::{Lives, Phis};
use super::registers::{Access, Accesses, Register, Registers};
use super::{BlockId, Flow, Link, Origin, Use, Value, ValueId};

/// The values of a function before they have terms.
pub(super) struct Named {
    pub(super) values: Vec<Value>,
    /// The operands of phis.
    pub(super) links: Vec<Link>,
    /// For each access, the value read or written.
    pub(super) seen: Vec<ValueId>,
    /// The accesses that are writes under a guard, sorted, with the values that stay where the guard fails.
    pub(super) old: Vec<(u32, ValueId)>,
}

impl Named {
    /// The value that stays where the guard of a write fails.
    pub(super) fn old(&self, access: usize) -> Option<ValueId> {
        old(&self.old, access)
    }
}

/// The value that stays where the guard of a write fails.
pub(super) fn old(kept: &[(u32, ValueId)], access: usize) -> Option<ValueId> {
    let at = kept.binary_search_by_key(&access, |&(access, _)| access as usize).ok()?;
    Some(kept[at].1)
}

struct Naming<'a> {
    flow: &'a Flow,
    accesses: &'a Accesses,
    registers: &'a Registers,
    named: Named,
    /// By register: whether it needs phis, so that what it holds depends on the block.
    joins: Vec<bool>,
    /// By register: what it holds at this point of the walk.
    current: Vec<Option<ValueId>>,
    undefined: Vec<Option<ValueId>>,
    /// By block: its phis.
    phis: Lists<(Register, ValueId)>,
    /// What the registers that need phis held before they were written, in the order of the writes.
    undo: Vec<(Register, Option<ValueId>)>,
}

/// Names every access; `parameters` are defined from the start.
pub(super) fn name(
    flow: &Flow,
    registers: &Registers,
    accesses: &Accesses,
    parameters: &[Register],
) -> Named {
    let count = registers.len();
    let named = Named {
        values: Vec::with_capacity(accesses.writes() + parameters.len()),
        links: Vec::new(),
        seen: vec![ValueId(0); accesses.list.len()],
        old: Vec::new(),
    };
    let mut naming = Naming {
        flow,
        accesses,
        registers,
        named,
        joins: vec![false; count],
        current: vec![None; count],
        undefined: vec![None; count],
        phis: Lists::default(),
        undo: Vec::new(),
    };
    for &parameter in parameters {
        let value = naming.add(Origin::Opaque, parameter);
        naming.current[parameter.index()] = Some(value);
    }
    naming.find_joins(parameters);
    naming.place_phis();
    naming.walk();
    naming.named.old.sort_unstable();
    naming.named
}

/// The writes of a register.
#[derive(Clone, Copy)]
enum Writes {
    None,
    /// The number of the access, and its block.
    One(usize, BlockId),
    Many,
}

impl Naming<'_> {
    fn add(&mut self, origin: Origin, register: Register) -> ValueId {
        let width = self.registers.named(register).width;
        let value = Value { width, origin, register: Some(register), def: None, core: None, gated: None };
        let id = ValueId::numbered(self.named.values.len());
        self.named.values.push(value);
        id
    }

    fn undefined(&mut self, register: Register) -> ValueId {
        if let Some(value) = self.undefined[register.index()] {
            return value;
        }
        let value = self.add(Origin::Undefined, register);
        self.undefined[register.index()] = Some(value);
        value
    }

    /// Every access that control can reach, with its number and its block.
    fn all(&self) -> impl Iterator<Item = (BlockId, usize, Access)> + use<'_> {
        let accesses = self.accesses;
        let blocks = self.flow.order().iter();
        blocks.flat_map(move |&block| {
            let range = accesses.of_all(self.flow.stmts(block));
            range.map(move |at| (block, at, accesses.list[at]))
        })
    }

    /// Finds the registers of which more than one write can be seen by some read, a guarded write reading what it keeps.
    fn find_joins(&mut self, parameters: &[Register]) {
        let mut writes = vec![Writes::None; self.registers.len()];
        for (block, at, access) in self.all().filter(|(_, _, access)| access.write) {
            let writes = &mut writes[access.register.index()];
            *writes = match *writes {
                Writes::None => Writes::One(at, block),
                Writes::One(..) | Writes::Many => Writes::Many,
            };
        }
        let mut joins = vec![false; self.registers.len()];
        for (block, at, access) in self.all().filter(|(_, _, access)| !access.write || access.guarded) {
            if let Writes::One(write, above) = writes[access.register.index()] {
                let after = if block == above { at > write } else { self.flow.dominates(above, block) };
                joins[access.register.index()] |= !after;
            }
        }
        for &parameter in parameters {
            joins[parameter.index()] = true;
        }
        for (join, writes) in joins.iter_mut().zip(&writes) {
            match writes {
                Writes::None => *join = false,
                Writes::One(..) => {}
                Writes::Many => *join = true,
            }
        }
        self.joins = joins;
    }

    /// Phis for the registers that need them.
    fn place_phis(&mut self) {
        if !self.joins.contains(&true) {
            self.phis = Lists::of(self.flow.len(), std::iter::empty);
            return;
        }
        let lives = self.lives();
        let mut phis = Phis::of(self.flow);
        let mut placed: Vec<(BlockId, (Register, ValueId))> = Vec::new();
        let mut blocks = Vec::new();
        for register in 0..self.registers.len() {
            if !self.joins[register] {
                continue;
            }
            phis.place(lives.written(register), lives.read(register), &mut blocks);
            for &block in &blocks {
                let register = Register::numbered(register);
                placed.push((block, (register, self.add(Origin::Phi(block), register))));
            }
        }
        self.phis = Lists::of(self.flow.len(), || placed.iter().map(|&(block, phi)| (block.index(), phi)));
    }

    /// In which blocks the registers that need phis are written, and in which they are read before.
    fn lives(&self) -> Lives {
        // The last block in which each register was seen to be written, and the one in which it was read before.
        let nowhere = BlockId(u32::MAX);
        let mut last = vec![[nowhere; 2]; self.registers.len()];
        let (mut written, mut read) = (Vec::new(), Vec::new());
        for (block, _, access) in self.all().filter(|(_, _, access)| self.joins[access.register.index()]) {
            let [last_written, last_read] = &mut last[access.register.index()];
            if (!access.write || access.guarded) && *last_written != block && *last_read != block {
                *last_read = block;
                read.push((access.register.index(), block));
            }
            if access.write && *last_written != block {
                *last_written = block;
                written.push((access.register.index(), block));
            }
        }
        Lives::of(self.registers.len(), &written, &read)
    }

    /// The walk down the dominator tree, with what each register holds.
    fn walk(&mut self) {
        let Some(&entry) = self.flow.order().first() else { return };
        let mut stack = vec![Visit::Enter(entry)];
        while let Some(step) = stack.pop() {
            match step {
                Visit::Leave(mark) => {
                    for (register, value) in self.undo.drain(mark..).rev() {
                        self.current[register.index()] = value;
                    }
                }
                Visit::Enter(block) => {
                    stack.push(Visit::Leave(self.undo.len()));
                    self.block(block);
                    stack.extend(self.flow.dominated(block).iter().rev().map(|&child| Visit::Enter(child)));
                }
            }
        }
    }

    fn set(&mut self, register: Register, value: ValueId) {
        let before = self.current[register.index()].replace(value);
        if self.joins[register.index()] {
            self.undo.push((register, before));
        }
    }

    fn get(&mut self, register: Register) -> ValueId {
        self.current[register.index()].unwrap_or_else(|| self.undefined(register))
    }

    fn block(&mut self, block: BlockId) {
        for at in 0..self.phis.get(block.index()).len() {
            let (register, phi) = self.phis.get(block.index())[at];
            self.set(register, phi);
        }
        for stmt in self.flow.stmts(block) {
            for at in self.accesses.range(stmt) {
                let Access { register, write, guarded, .. } = self.accesses.list[at];
                if !write {
                    self.named.seen[at] = self.get(register);
                    continue;
                }
                if guarded {
                    let old = self.get(register);
                    let at = u32::try_from(at).expect("a text below 4 GiB has fewer names");
                    self.named.old.push((at, old));
                }
                let value = self.add(Origin::Result(stmt), register);
                self.named.seen[at] = value;
                self.set(register, value);
            }
        }
        for &next in self.flow.successors(block) {
            if self.phis.get(next.index()).is_empty() {
                continue;
            }
            let from = self.flow.predecessors(next).binary_search(&block);
            let from = from.expect("the edges of a flow are known at both ends");
            let slot = Use::Phi(u32::try_from(from).expect("blocks have 32-bit numbers"));
            for at in 0..self.phis.get(next.index()).len() {
                let (register, phi) = self.phis.get(next.index())[at];
                let value = self.get(register);
                self.named.links.push(Link { from: value, to: phi, slot });
            }
        }
    }
}

enum Visit {
    Enter(BlockId),
    /// Forgets what was set since.
    Leave(usize),
}
