//! The walk through a pair of blocks: the old one first, then the new one, which is compared with it.
//!
//! What a statement computes is a term; what it does is an event ([`super::events`]). A value of the new block that
//! is proved to be one of the old function's is that term from then on, so a proof need not look behind it again.
//!
//! **Registers that may not have been written** come with the bit that says whether they were. A read of one that was
//! not is a number of its own. Such a read in the new block is taken for one of the old block's, each for another
//! one: whatever number the new code may read, the old code may read too. A read in excess of the old block's is not
//! equal to anything.

use super::Stop;
use super::cut::ends_block;
use super::events::{Changes, Event};
use super::fold::{Step, Way};
use super::in_flight::{Guarded, Touch};
use super::packed::halves;
use super::questions::{Answer, Effort, Questions};
use super::registers::{CARRY, Names, RegisterId, Registers};
use super::shape::{Class, Shape};
use super::terms::{Arena, Input, Values};
use super::words::WORD;
use crate::special;
use hashbrown::{HashMap, HashSet};
use ptxopt_grammar::meaning::disputed::{Semantics, disputed_at};
use ptxopt_grammar::meaning::term::{Op, Term, Terms, ones};
use ptxopt_grammar::meaning::{Place, Write, meaning};
use ptxopt_grammar::roles::Role;
use ptxopt_grammar::table::{Control, Effects};
use ptxopt_grammar::tree::{Module, NodeId, StmtId, StmtKind};

/// How many old values or instructions a new one is compared with at most.
pub(super) const CANDIDATES: usize = 3;

/// What a register holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Held {
    pub(super) value: Term,
    /// One bit: whether it was written; if not, the value means nothing.
    pub(super) written: Term,
}

/// One of the two functions at a point of the walk.
pub(super) struct Side<'m, 't> {
    pub(super) names: Names<'m, 't>,
    /// By number of the register.
    held: Vec<Option<Held>>,
    undo: Vec<(RegisterId, Option<Held>)>,
}

/// A read of what may not have been written, by the old block.
struct Unwritten {
    register: RegisterId,
    text: Vec<u8>,
    value: Term,
    taken: bool,
}

/// The operands and the results of an instruction.
type Application = (Vec<Term>, Vec<Term>);

/// Both functions at a point of the walk, and what is known of the instructions before it.
pub(super) struct Walk<'m, 't> {
    pub(super) arena: Arena,
    pub(super) questions: Questions,
    pub(super) registers: Registers,
    pub(super) sides: [Side<'m, 't>; 2],
    /// What was proved to be equal and has effects: whatever these are made of must be as assumed.
    pub(super) roots: Vec<Term>,
    pub(super) events: Vec<Event>,
    /// What registers of the new side are assumed to hold where paths join.
    pub(super) met: HashSet<Term>,
    /// The next ordered event, and how many that may change memory came before, on each side.
    pub(super) next: usize,
    pub(super) changes: [Changes; 2],
    unwritten: Vec<Unwritten>,
    /// What names registers in flight under a guard, on each side, and in the old block so far.
    pub(super) guarded: [Guarded; 2],
    pub(super) touches: Vec<Touch>,
    pub(super) pure: HashMap<String, Vec<Application>>,
    pub(super) exact: HashMap<(String, Vec<Term>), Vec<Term>>,
    /// The operands that the result of a pure instruction depends on.
    pub(super) operands: HashMap<Term, Vec<Term>>,
    /// The values of the old function, by width and by what they are on a few vectors.
    olds: HashMap<(u32, Values), Vec<Term>>,
    known: HashSet<Term>,
    /// The condition under which control comes to the statement at hand.
    here: Term,
    /// What instructions with two meanings mean.
    semantics: Semantics,
}

impl<'m, 't> Walk<'m, 't> {
    pub(super) fn new(
        names: [Names<'m, 't>; 2],
        guarded: [Guarded; 2],
        semantics: Semantics,
        effort: Effort,
    ) -> Self {
        let side = |names| Side { names, held: Vec::new(), undo: Vec::new() };
        let mut arena = Arena::new();
        Self {
            semantics,
            here: arena.terms.bit(true),
            arena,
            questions: Questions::new(effort),
            registers: Registers::new(),
            sides: names.map(side),
            roots: Vec::new(),
            met: HashSet::new(),
            events: Vec::new(),
            next: 0,
            changes: [Changes::default(); 2],
            unwritten: Vec::new(),
            guarded,
            touches: Vec::new(),
            pure: HashMap::new(),
            exact: HashMap::new(),
            operands: HashMap::new(),
            olds: HashMap::new(),
            known: HashSet::new(),
        }
    }

    /// Forgets all terms: another round begins.
    pub(super) fn begin(&mut self) {
        self.questions.begin(self.arena.terms.len());
        self.arena = Arena::new();
        self.here = self.arena.terms.bit(true);
        self.roots.clear();
        self.met.clear();
        self.pure.clear();
        self.exact.clear();
        self.operands.clear();
        self.olds.clear();
        self.known.clear();
        for side in &mut self.sides {
            side.held = vec![None; self.registers.len()];
            side.undo.clear();
        }
    }

    /// Another pair of blocks begins.
    pub(super) fn begin_pair(&mut self) {
        self.events.clear();
        self.next = 0;
        self.changes = [Changes::default(); 2];
        self.unwritten.clear();
        self.touches.clear();
    }

    /// Where the walk is, for [`Self::leave`].
    pub(super) fn marks(&self) -> [usize; 2] {
        [self.sides[0].undo.len(), self.sides[1].undo.len()]
    }

    /// Makes all registers what they were.
    pub(super) fn leave(&mut self, marks: [usize; 2]) {
        for (side, mark) in self.sides.iter_mut().zip(marks) {
            for (register, held) in side.undo.drain(mark..).rev() {
                side.held[register.index()] = held;
            }
        }
    }

    pub(super) fn held(&self, side: usize, register: RegisterId) -> Option<Held> {
        self.sides[side].held.get(register.index()).copied().flatten()
    }

    pub(super) fn set(&mut self, side: usize, register: RegisterId, held: Held) {
        let Side { held: all, undo, .. } = &mut self.sides[side];
        if all.len() <= register.index() {
            all.resize(register.index() + 1, None);
        }
        undo.push((register, all[register.index()].replace(held)));
    }

    /// Executes the statements of a block on a side, the old side first.
    pub(super) fn block(&mut self, side: usize, steps: &[Step]) -> Result<(), Stop> {
        let always = self.arena.terms.bit(true);
        let mut ways = HashMap::from([(Way::ALWAYS, always)]);
        for step in steps {
            self.step(side, step, &mut ways).map_err(|stop| stop.on(side))?;
        }
        self.here = always;
        let left = |event: &&Event| matches!(event.shape.class, Class::Ordered(_)) && !event.taken;
        match self.events.iter().find(left) {
            Some(event) if side == 1 => Err(Stop::at(event.stmt, "has no counterpart").in_first()),
            _ => Ok(()),
        }
    }

    /// Executes a step; `ways` has the conditions under which control comes on each way.
    fn step(&mut self, side: usize, step: &Step, ways: &mut HashMap<Way, Term>) -> Result<(), Stop> {
        let never = self.arena.terms.bit(false);
        let here = |ways: &HashMap<Way, Term>, way: Way| ways.get(&way).copied().unwrap_or(never);
        let edges = match *step {
            Step::Execute(stmt, way) => {
                self.here = here(ways, way);
                return self.stmt(side, stmt);
            }
            Step::Go(from, to) => vec![(Some(to), here(ways, from))],
            Step::Part(branch, way, to) => {
                self.here = here(ways, way);
                let guard = self.guard(side, branch)?;
                let otherwise = self.arena.terms.not(guard);
                let conditions = [guard, otherwise].map(|guard| self.arena.terms.and(self.here, guard));
                to.into_iter().zip(conditions).collect()
            }
        };
        for (to, condition) in edges {
            if let Some(to) = to {
                let known = here(ways, to);
                ways.insert(to, self.arena.terms.or(known, condition));
            }
        }
        Ok(())
    }

    /// Executes a statement, if control comes there.
    fn stmt(&mut self, side: usize, stmt: StmtId) -> Result<(), Stop> {
        if self.questions.is_spent() {
            return Err(Stop::at(stmt, "was reached when the budget of the search was spent"));
        }
        let module = self.sides[side].names.module;
        if module.kind(stmt) == StmtKind::Pragma {
            // What is about one instruction is part of its shape; one that only computes ignores it.
            let is_part = |about| !ends_block(module, about) && !only_computes(module, about);
            if module.is_about(stmt).is_some_and(is_part) {
                return Ok(());
            }
            let text = String::from_utf8_lossy(module.stmt_text(stmt)).into_owned();
            let guard = self.arena.terms.bit(true);
            let class = Class::Ordered(false);
            let (operands, results, targets) = (Vec::new(), Vec::new(), Vec::new());
            let shape = Shape { text, class, operands, results, targets, guard, space: None, part: None };
            return self.event(side, stmt, shape);
        }
        self.touch(side, stmt)?;
        // Of what has two meanings only that is known which is true of both: it does the same for the same operands.
        let has_one = self.semantics == Semantics::Manual || disputed_at(module, stmt).is_none();
        if has_one && only_computes(module, stmt) && self.meant(side, stmt)?.is_some() {
            return Ok(());
        }
        if self.here != self.arena.terms.bit(true) {
            return Err(Stop::at(stmt, "is executed on one of several ways, and has no meaning"));
        }
        let shape = self.shape(side, stmt)?;
        self.event(side, stmt, shape)
    }

    /// Executes a statement by its meaning, if it has one.
    fn meant(&mut self, side: usize, stmt: StmtId) -> Result<Option<()>, Stop> {
        let module = self.sides[side].names.module;
        if module.row(stmt).is_none_or(|row| row.means.is_none()) {
            return Ok(None);
        }
        // Only forms that have a meaning read their operands as numbers of their own.
        let mut dry = Terms::new();
        let mut number = 0;
        let mut any = |terms: &mut Terms, _place, width| {
            number += 1;
            Some(terms.input(number, width))
        };
        let Some(writes) = meaning(module, stmt, &mut dry, &mut any) else { return Ok(None) };
        let Some(targets) = self.targets(side, stmt, &writes, &dry)? else { return Ok(None) };
        let guard = self.guard(side, stmt)?;
        let guard = self.arena.terms.and(guard, self.here);
        let mut read: HashMap<NodeId, Term> = HashMap::new();
        for (node, role) in module.roles(stmt) {
            if role == Role::Write || module.guard(stmt).is_some_and(|(guard, _)| guard == node) {
                continue;
            }
            if let [register] = self.named(side, stmt, node)?[..] {
                let value = self.read(side, register, stmt);
                read.insert(node, value);
            }
        }
        let carry = module.effects(stmt).has(Effects::READS_CARRY).then(|| self.read(side, CARRY, stmt));
        let mut terms = std::mem::take(&mut self.arena.terms);
        let (arena, names) = (&mut self.arena, &mut self.sides[side].names);
        let writes = meaning(module, stmt, &mut terms, &mut |terms, place, width| {
            let value = match place {
                Place::Register(node) => *read.get(&node)?,
                Place::Carry => carry?,
                Place::Special(node) => {
                    let special::Read { name, bits, known } = special::read(module.node_text(node), width);
                    let value = terms.input(arena.number(Input::Named(name), known), bits);
                    terms.extract(value, 0, width)
                }
                Place::Address(node) => {
                    // In 32 bits an address is another number than in 64.
                    let name = format!("address of {}", names.symbol(node));
                    let name = if width == 64 { name } else { format!("{width} bits of {name}") };
                    terms.input(arena.number(Input::Named(name), names.alignment(node)), width)
                }
            };
            (terms.width(value) == width).then_some(value)
        });
        self.arena.terms = terms;
        let Some(writes) = writes else { return Ok(None) };
        for (Write { value, .. }, register) in writes.into_iter().zip(targets) {
            self.write(side, register, value, guard);
        }
        Ok(Some(()))
    }

    /// The registers that a meaning writes; `None` if these are not all, or not as wide.
    fn targets(
        &mut self,
        side: usize,
        stmt: StmtId,
        writes: &[Write],
        terms: &Terms,
    ) -> Result<Option<Vec<RegisterId>>, Stop> {
        let module = self.sides[side].names.module;
        let mut targets = Vec::with_capacity(writes.len());
        for write in writes {
            let register = match write.place {
                Place::Register(node) => match self.named(side, stmt, node)?[..] {
                    [register] => register,
                    _ => return Ok(None),
                },
                Place::Carry => CARRY,
                Place::Special(_) | Place::Address(_) => return Ok(None),
            };
            if self.registers.width(register) != terms.width(write.value) {
                return Ok(None);
            }
            targets.push(register);
        }
        let mut written = usize::from(module.effects(stmt).has(Effects::WRITES_CARRY));
        for (node, role) in module.roles(stmt) {
            if role != Role::Read {
                written += self.named(side, stmt, node)?.len();
            }
        }
        Ok((written == targets.len()).then_some(targets))
    }

    fn named(&mut self, side: usize, stmt: StmtId, node: NodeId) -> Result<Vec<RegisterId>, Stop> {
        let names = &mut self.sides[side].names;
        let strange = || Stop::at(stmt, "names a register that the prover does not follow");
        names.registers(&mut self.registers, node).ok_or_else(strange)
    }

    /// One bit: whether a statement is executed.
    pub(super) fn guard(&mut self, side: usize, stmt: StmtId) -> Result<Term, Stop> {
        let module = self.sides[side].names.module;
        let Some((node, negated)) = module.guard(stmt) else { return Ok(self.arena.terms.bit(true)) };
        let strange = || Stop::at(stmt, "has a guard that the prover does not follow");
        let [register] = self.named(side, stmt, node)?[..] else { return Err(strange()) };
        let guard = self.read(side, register, stmt);
        if self.arena.terms.width(guard) != 1 {
            return Err(strange());
        }
        Ok(if negated { self.arena.terms.not(guard) } else { guard })
    }

    /// What a statement reads in a register.
    pub(super) fn read(&mut self, side: usize, register: RegisterId, stmt: StmtId) -> Term {
        let held = self.held(side, register);
        if let Some(held) = held
            && self.arena.terms.value(held.written) == Some(1)
        {
            // That it was written is assumed. The read shows nowhere if the term cancels, as in `x ^ x`, but each read
            // of an unwritten register is a number of its own.
            if side == 1 && self.met.contains(&held.value) {
                self.roots.push(held.value);
            }
            return held.value;
        }
        // On a way that the write lies on too.
        if let Some(held) = held
            && conjuncts(&self.arena.terms, held.written).is_subset(&conjuncts(&self.arena.terms, self.here))
        {
            return held.value;
        }
        let unknown = self.unwritten(side, register, stmt);
        held.map_or(unknown, |held| self.arena.terms.choose(held.written, held.value, unknown))
    }

    /// What a statement reads in a register that was not written.
    fn unwritten(&mut self, side: usize, register: RegisterId, stmt: StmtId) -> Term {
        let text = self.sides[side].names.module.stmt_text(stmt);
        if side == 1 {
            let mut free: Vec<&mut Unwritten> =
                self.unwritten.iter_mut().filter(|read| read.register == register && !read.taken).collect();
            let alike = free.iter().position(|read| read.text == text).unwrap_or(0);
            if let Some(read) = free.get_mut(alike) {
                read.taken = true;
                return read.value;
            }
        }
        let value = self.arena.fresh(self.registers.width(register));
        if side == 0 {
            self.unwritten.push(Unwritten { register, text: text.to_vec(), value, taken: false });
        }
        value
    }

    pub(super) fn write(&mut self, side: usize, register: RegisterId, value: Term, guard: Term) {
        let terms = &mut self.arena.terms;
        let always = terms.bit(true);
        let mut new = Held { value, written: always };
        if guard != always {
            let old = self.sides[side].held.get(register.index()).copied().flatten().unwrap_or_else(|| {
                let nothing = terms.constant(0, terms.width(value));
                Held { value: nothing, written: terms.bit(false) }
            });
            // What was never written means nothing.
            let is_first = terms.value(old.written) == Some(0);
            new.value = if is_first { value } else { chosen(terms, guard, value, old.value) };
            new.written = terms.or(guard, old.written);
        }
        if side == 0 {
            self.remember(new.value);
            self.remember_halves(new.value);
        } else {
            new.value = self.canonical(new.value);
        }
        self.set(side, register, new);
    }

    /// Remembers a value of the old function.
    pub(super) fn remember(&mut self, value: Term) {
        if self.known.insert(value) {
            let key = (self.arena.terms.width(value), self.arena.values(value));
            self.olds.entry(key).or_default().push(value);
        }
    }

    /// Remembers the bytes of a value of the old function in the halves in which the new one may keep them.
    fn remember_halves(&mut self, value: Term) {
        let terms = &self.arena.terms;
        let counts = terms.width(value) == WORD && terms.value(value).is_none();
        if counts && self.questions.effort == Effort::Most {
            for halves in halves(&mut self.arena.terms, value) {
                self.remember(halves);
            }
        }
    }

    /// The value of the old function that a value of the new one is proved to be; itself if there is none.
    fn canonical(&mut self, value: Term) -> Term {
        if self.known.contains(&value) || self.arena.terms.value(value).is_some() {
            return value;
        }
        let width = self.arena.terms.width(value);
        let key = (width, self.arena.values(value));
        let Some(candidates) = self.olds.get(&key) else { return value };
        let candidates: Vec<Term> = candidates.iter().rev().take(CANDIDATES).copied().collect();
        for old in candidates {
            if self.questions.equal(&mut self.arena, old, value, ones(width)) == Answer::Equal {
                return old;
            }
        }
        value
    }
}

/// Whether all that an instruction does is to compute its results from its operands.
/// The conditions that all hold where one does.
fn conjuncts(terms: &Terms, condition: Term) -> HashSet<Term> {
    let (mut all, mut work) = (HashSet::new(), vec![condition]);
    while let Some(next) = work.pop() {
        if let Op::And(first, second) = terms.op(next) {
            work.extend([first, second]);
        } else {
            all.insert(next);
        }
    }
    all
}

/// One of two values, by one condition after the other where several must hold: selections are spelled so.
fn chosen(terms: &mut Terms, condition: Term, value: Term, other: Term) -> Term {
    if let Op::And(first, second) = terms.op(condition) {
        let inner = chosen(terms, second, value, other);
        return terms.choose(first, inner, other);
    }
    terms.choose(condition, value, other)
}

pub(super) fn only_computes(module: &Module<'_>, stmt: StmtId) -> bool {
    let effects = module.effects(stmt);
    let others =
        [Effects::READS_MEMORY, Effects::ACTS, Effects::CONVERGENT, Effects::ORDERED, Effects::IMPURE];
    module.row(stmt).is_some_and(|row| row.control == Control::Next)
        && others.iter().all(|&other| !effects.has(other))
}
