//! The relation between both sides where control-flow paths join, as a greatest fixed point.
//!
//! A round walks through all pairs of blocks under what is assumed of each meeting, then shows the assumptions that
//! the proofs used on every edge ([`super::edges`]). What fails there is weakened, and the next round begins; since
//! assumptions only get weaker, there is a last round, and rounds are bounded besides. What fails under stronger
//! assumptions than can be shown fails under those as well, so a proof is given up at once when an event or a
//! condition is not equal.

use super::cut::{Cut, End};
use super::fold::Step;
use super::invariants;
use super::packed::{Packed, Words};
use super::product::Product;
use super::registers::RegisterId;
use super::terms::Input;
use super::walk::{Held, Walk};
use super::{Stop, shape};
use crate::{Assumption, Proof};
use hashbrown::{HashMap, HashSet};
use ptxopt_grammar::meaning::term::{Term, ones};
use ptxopt_grammar::roles::Role;
use ptxopt_grammar::table::Control;
use ptxopt_grammar::tree::{StmtId, StmtKind};
use std::collections::{BTreeMap, BTreeSet};

/// More rounds than any loop of a compiler needs.
const MOST_ROUNDS: usize = 200;

/// A register at the beginning of a pair of blocks.
pub(super) type Place = (usize, RegisterId);

/// What is assumed where values meet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meeting {
    /// The bits that both sides hold alike.
    pub(super) bits: u128,
    pub(super) written: WrittenOn,
    /// What is known of what the old side holds.
    pub(super) known: Assumption,
}

/// Whether a register was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum WrittenOn {
    /// On both sides.
    Always,
    /// On both sides or on none.
    Alike,
    /// On the sides that are marked; of the others nothing is known.
    Apart([bool; 2]),
}

/// What comes over an edge.
#[derive(Clone, Copy)]
pub(super) struct Incoming {
    /// What the register holds on both sides.
    pub(super) held: [Option<Held>; 2],
    /// One bit, of the old side: whether control takes the edge; `None` if it always does.
    pub(super) condition: Option<Term>,
}

pub(super) struct Relation<'r, 'm, 't> {
    pub(super) walk: Walk<'m, 't>,
    cuts: &'r [Cut; 2],
    product: &'r Product,
    /// The registers that the functions take, and those that they return.
    parameters: [[Vec<RegisterId>; 2]; 2],
    /// The registers whose values meet at each pair.
    meet: Vec<Vec<RegisterId>>,
    pub(super) words: Words,
    pub(super) assumed: HashMap<Place, Meeting>,
    pub(super) incoming: BTreeMap<Place, Vec<Incoming>>,
}

impl<'r, 'm, 't> Relation<'r, 'm, 't> {
    pub(super) fn new(
        mut walk: Walk<'m, 't>,
        cuts: &'r [Cut; 2],
        product: &'r Product,
        packed: &[Packed],
    ) -> Result<Self, Stop> {
        let strange = || Stop::plain("it has parameters that the prover does not follow");
        let mut parameters = Vec::new();
        for side in &mut walk.sides {
            parameters.push(side.names.parameters(&mut walk.registers).ok_or_else(strange)?);
        }
        let parameters: [[Vec<RegisterId>; 2]; 2] = parameters.try_into().expect("there are two sides");
        let mut relation = Self {
            walk,
            cuts,
            product,
            parameters,
            meet: Vec::new(),
            words: Words::new(),
            assumed: HashMap::new(),
            incoming: BTreeMap::new(),
        };
        let writes = relation.writes()?;
        relation.resolve(packed)?;
        relation.meet = product.meetings(&writes)?;
        // What words hold is said by what the registers hold of which they are made.
        for meeting in &mut relation.meet {
            meeting.sort_by_key(|register| relation.words.contains_key(register));
        }
        Ok(relation)
    }

    /// The pairs that write each register that is not local to one pair, on either side.
    fn writes(&mut self) -> Result<Vec<(RegisterId, Vec<usize>)>, Stop> {
        let mut writes: BTreeMap<RegisterId, Vec<usize>> = BTreeMap::new();
        let mut crossing: BTreeSet<RegisterId> =
            self.parameters.iter().flatten().flatten().copied().collect();
        crossing.insert(super::registers::CARRY);
        for (pair, blocks) in self.product.pairs.iter().enumerate() {
            for side in 0..2 {
                let Some(blocks) = blocks else {
                    let taken = self.parameters[side][0].iter();
                    taken.for_each(|&register| writes.entry(register).or_default().push(pair));
                    continue;
                };
                let block = &self.cuts[side].blocks[blocks[side]];
                let mut written: HashSet<RegisterId> = HashSet::new();
                let steps = block.steps.iter().filter_map(Step::stmt);
                for (stmt, is_always) in steps.chain(block.end.stmt().map(|stmt| (stmt, true))) {
                    let (reads, news) = self.accesses(side, stmt).map_err(|stop| stop.on(side))?;
                    crossing.extend(reads.into_iter().filter(|register| !written.contains(register)));
                    let guarded = !is_always || self.walk.sides[side].names.module.guard(stmt).is_some();
                    for register in news {
                        writes.entry(register).or_default().push(pair);
                        if guarded {
                            crossing.insert(register);
                        } else {
                            written.insert(register);
                        }
                    }
                }
            }
        }
        Ok(writes.into_iter().filter(|(register, _)| crossing.contains(register)).collect())
    }

    /// The registers that a statement may read, and those that it may write.
    fn accesses(&mut self, side: usize, stmt: StmtId) -> Result<(Vec<RegisterId>, Vec<RegisterId>), Stop> {
        let Walk { registers, sides, .. } = &mut self.walk;
        let names = &mut sides[side].names;
        let module = names.module;
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        if module.kind(stmt) != StmtKind::Instruction {
            return Ok((reads, writes));
        }
        for (node, role) in module.roles(stmt) {
            let strange = || Stop::at(stmt, "names a register that the prover does not follow");
            let found = names.registers(registers, node).ok_or_else(strange)?;
            if role != Role::Write {
                reads.extend(&found);
            }
            if role != Role::Read {
                writes.extend(&found);
            }
        }
        let effects = module.effects(stmt);
        let call = module.row(stmt).is_none_or(|row| row.control == Control::Call);
        if effects.has(ptxopt_grammar::table::Effects::WRITES_CARRY) || call {
            writes.push(super::registers::CARRY);
        }
        Ok((reads, writes))
    }

    /// Proves the functions equal, with invariants only if the proof needs them.
    pub(super) fn carried(&mut self) -> Result<Proof, Stop> {
        let plain = self.settled();
        let Err(stop) = plain else { return plain };
        self.assumed.clear();
        self.walk_through([true, false])?;
        let guessed = invariants::guess(&self.walk.arena, &self.incoming);
        if guessed.is_empty() {
            return Err(stop);
        }
        self.assumed.clear();
        for (place, known) in guessed.into_iter().filter(|(place, _)| !self.words.contains_key(&place.1)) {
            let width = self.walk.registers.width(place.1);
            self.assumed.insert(place, Meeting { known, ..Meeting::all(width) });
        }
        self.settled()
    }

    /// Weakens the relation until it implies itself over every edge.
    fn settled(&mut self) -> Result<Proof, Stop> {
        for _ in 0..MOST_ROUNDS {
            self.walk_through([true; 2])?;
            if !self.shown() {
                let conflicts = self.walk.questions.conflicts;
                let searched = self.walk.questions.searched;
                return Ok(if searched { Proof::Sat { conflicts } } else { Proof::Structural });
            }
        }
        Err(Stop::plain("the relation between the two did not settle"))
    }

    /// Walks through all pairs, each after those that dominate it: through both sides, or through the old one alone.
    fn walk_through(&mut self, sides: [bool; 2]) -> Result<(), Stop> {
        self.walk.begin();
        self.incoming.clear();
        let mut stack = vec![(0, None)];
        while let Some((pair, marks)) = stack.pop() {
            if let Some(marks) = marks {
                self.walk.leave(marks);
                continue;
            }
            stack.push((pair, Some(self.walk.marks())));
            let name = self.name(pair);
            self.pair(pair, sides).map_err(|stop| stop.within(name))?;
            stack.extend(self.product.dominated[pair].iter().rev().map(|&below| (below, None)));
        }
        Ok(())
    }

    /// What messages call a pair.
    fn name(&self, pair: usize) -> Option<String> {
        let blocks = self.product.pairs[pair]?;
        self.cuts[1].blocks[blocks[1]].name.clone()
    }

    fn pair(&mut self, pair: usize, sides: [bool; 2]) -> Result<(), Stop> {
        self.walk.begin_pair();
        let conditions = match self.product.pairs[pair] {
            None => {
                self.enter();
                vec![None]
            }
            Some(blocks) => {
                for register in self.meet[pair].clone() {
                    self.meet(pair, register);
                }
                for side in (0..2).filter(|&side| sides[side]) {
                    let cuts = self.cuts;
                    self.walk.block(side, &cuts[side].blocks[blocks[side]].steps)?;
                }
                if sides[1] { self.end(blocks)? } else { self.old_end(blocks)? }
            }
        };
        for (&to, condition) in self.product.successors[pair].iter().zip(conditions) {
            for register in self.meet[to].clone() {
                let mut held = [0, 1].map(|side| self.walk.held(side, register));
                if self.words.contains_key(&register) {
                    held[0] = self.word(register);
                }
                self.incoming.entry((to, register)).or_default().push(Incoming { held, condition });
            }
        }
        Ok(())
    }

    /// What the caller gives.
    fn enter(&mut self) {
        for side in 0..2 {
            for (at, register) in self.parameters[side][0].clone().into_iter().enumerate() {
                let width = self.walk.registers.width(register);
                let arena = &mut self.walk.arena;
                let value = arena.input(Input::Parameter(at), width, Assumption::NONE);
                let written = arena.terms.bit(true);
                if side == 0 {
                    self.walk.remember(value);
                }
                self.walk.set(side, register, Held { value, written });
            }
        }
    }

    /// Gives both sides what is assumed of a register.
    fn meet(&mut self, pair: usize, register: RegisterId) {
        let width = self.walk.registers.width(register);
        let Meeting { bits, written, known } =
            *self.assumed.entry((pair, register)).or_insert_with(|| Meeting::all(width));
        let word = self.word(register).map(|held| held.value);
        let arena = &mut self.walk.arena;
        let common = word.unwrap_or_else(|| arena.input(Input::Meeting(pair, register), width, known));
        for side in 0..2 {
            let arena = &mut self.walk.arena;
            let value = if side == 0 || bits == ones(width) {
                common
            } else {
                let rest = arena.input(Input::Rest(pair, register), width, Assumption::NONE);
                let (kept, others) = (arena.terms.constant(bits, width), arena.terms.constant(!bits, width));
                let (kept, others) = (arena.terms.and(common, kept), arena.terms.and(rest, others));
                arena.terms.or(kept, others)
            };
            let mut bit = |which| arena.input(Input::Written(pair, register, which), 1, Assumption::NONE);
            let written = match written {
                WrittenOn::Alike => bit(0),
                WrittenOn::Apart(sure) if !sure[side] => bit(side),
                WrittenOn::Apart(_) | WrittenOn::Always => arena.terms.bit(true),
            };
            if side == 0 {
                self.walk.remember(value);
            } else {
                self.walk.met.insert(value);
            }
            self.walk.set(side, register, Held { value, written });
        }
    }

    /// The condition of each edge on the old side.
    fn old_end(&mut self, blocks: [usize; 2]) -> Result<Vec<Option<Term>>, Stop> {
        let end = &self.cuts[0].blocks[blocks[0]].end;
        let mut conditions = vec![None; end.targets().len()];
        if let End::Branch { stmt, .. } = end {
            let guard = self.walk.guard(0, *stmt)?;
            conditions = vec![Some(guard), Some(self.walk.arena.terms.not(guard))];
        }
        Ok(conditions)
    }

    /// Compares how a pair ends; the condition of each edge.
    fn end(&mut self, blocks: [usize; 2]) -> Result<Vec<Option<Term>>, Stop> {
        let cuts = self.cuts;
        let ends = [&cuts[0].blocks[blocks[0]].end, &cuts[1].blocks[blocks[1]].end];
        let targets = ends[0].targets().len();
        let (Some(old), Some(new)) = (ends[0].stmt(), ends[1].stmt()) else {
            if matches!(ends[0], End::Leave { .. }) {
                self.returned(None, [None, None])?;
            }
            return Ok(vec![None; targets]);
        };
        let guards = [self.walk.guard(0, old)?, self.walk.guard(1, new)?];
        let guard = self.walk.condition(new, "guard", guards)?;
        let otherwise = self.walk.arena.terms.not(guard);
        let mut conditions = vec![None; targets];
        match ends[0] {
            End::Jump(_) => {}
            End::Branch { taken, next, .. } if taken == next => {}
            End::Branch { .. } => conditions = vec![Some(guard), Some(otherwise)],
            End::Indirect { next, .. } => {
                let shapes = [self.walk.shape(0, old)?, self.walk.shape(1, new)?];
                self.alike(new, &shapes)?;
                if next.is_some() {
                    conditions[targets - 1] = Some(otherwise);
                }
            }
            End::Leave { next, .. } => {
                let shapes = [self.walk.shape(0, old)?, self.walk.shape(1, new)?];
                self.alike(new, &shapes)?;
                let returns = self.walk.sides[1].names.module.row(new);
                if returns.is_some_and(|row| row.control == Control::Return) {
                    self.returned(Some(guard), [Some(old), Some(new)])?;
                }
                if next.is_some() {
                    conditions[targets - 1] = Some(otherwise);
                }
            }
        }
        Ok(conditions)
    }

    fn alike(&mut self, stmt: StmtId, shapes: &[shape::Shape; 2]) -> Result<(), Stop> {
        let [old, new] = shapes;
        if old.text != new.text || old.operands.len() != new.operands.len() {
            return Err(Stop::at(stmt, "differs from what the first file has there"));
        }
        for (at, (&old, &new)) in old.operands.iter().zip(&new.operands).enumerate() {
            self.walk.condition(stmt, &format!("operand {at}"), [old, new])?;
        }
        Ok(())
    }

    /// Proves that the functions return the same.
    fn returned(&mut self, guard: Option<Term>, stmts: [Option<StmtId>; 2]) -> Result<(), Stop> {
        let [old, new] = [self.parameters[0][1].clone(), self.parameters[1][1].clone()];
        for (at, registers) in old.into_iter().zip(new).enumerate() {
            let sides = [(0, registers.0), (1, registers.1)];
            let values = sides.map(|(side, register)| {
                let function = self.walk.sides[side].names.function;
                let value = self.walk.read(side, register, stmts[side].unwrap_or(function.head));
                let nothing = self.walk.arena.terms.constant(0, self.walk.arena.terms.width(value));
                guard.map_or(value, |guard| self.walk.arena.terms.choose(guard, value, nothing))
            });
            let head = self.walk.sides[1].names.function.head;
            let what = format!("returned value {at}");
            self.walk.condition(stmts[1].unwrap_or(head), &what, values)?;
        }
        Ok(())
    }
}

impl Meeting {
    /// Everything is alike, nothing is known.
    fn all(width: u32) -> Self {
        Self { bits: ones(width), written: WrittenOn::Always, known: Assumption::NONE }
    }
}
