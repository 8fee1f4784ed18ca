//! From the tree to compact code, once per module.
//!
//! What cannot be evaluated becomes an operation that says so when control flow gets there; it is never guessed. A
//! form that has a lane operation of its own is decoded to it; any other form that has a meaning runs that meaning.

mod compare;
mod constant;
mod control;
mod convert;
mod float;
mod integer;
mod layout;
mod made_up;
mod meaning;
mod memory;
mod moves;
mod operand;
mod simd;

pub(super) use layout::{Initial, SharedVariable};

use super::code::{Class, Code, Function, Guard, Inst, Op, Slot, Transfer};
use super::lanes::Lane;
use super::watch::{Sight, Watched};
use layout::{Layout, Location};
use ptxopt_grammar::names::{Component, DeclKind, Part, Type};
use ptxopt_grammar::roles::Role;
use ptxopt_grammar::tree::{DeclId, Module, NodeId, StmtId, StmtKind};
use std::collections::HashMap;

/// A module, decoded.
pub(super) struct Decoded {
    pub(super) code: Code,
    /// What the module's own variables hold at first, in the order of their allocations.
    pub(super) initial: Vec<Initial>,
    /// Why these are too large for a launch.
    pub(super) too_large: Option<String>,
    pub(super) static_shared: u32,
    pub(super) shared_variables: Vec<SharedVariable>,
    pub(super) address_bits: u32,
}

/// What an integer instruction becomes if it can be both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Prefer {
    /// A lane operation of its own, which is fast.
    Lanes,
    /// Its meaning, which says what is right; the tests compare the two.
    Meaning,
}

/// Whether the code can be watched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Watch {
    /// It cannot.
    No,
    /// It can: every register is shown where a statement names it.
    Registers,
}

/// What code is decoded for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Purpose {
    /// To be launched: what cannot be evaluated says so.
    Launch,
    /// To be replayed: whatever acts, and whatever cannot be evaluated, is made up.
    Replay,
}

/// A function that was decoded to be replayed: its number, what it hands back, and what it is handed.
pub(super) struct Replayed {
    pub(super) number: usize,
    pub(super) results: Vec<Transfer>,
    pub(super) parameters: Vec<Transfer>,
}

/// Decodes the named functions of `module` to be replayed; none for a name that no function with a body has.
pub(super) fn decode_to_replay(module: &Module<'_>, names: &[&str]) -> (Code, u32, Vec<Option<Replayed>>) {
    let layout = Layout::new(module);
    let shift = layout.shift();
    let mut decoder = Decoder::new(module, layout, Prefer::Lanes, Watch::No);
    decoder.purpose = Purpose::Replay;
    decoder.code.functions = decoder.layout.functions.iter().map(|header| header.shape.clone()).collect();
    let mut replayed = Vec::new();
    for name in names {
        let number = decoder.layout.by_name.get(name.as_bytes()).copied();
        replayed.push(number.map(|number| {
            decoder.body(number);
            let header = &decoder.layout.functions[number];
            let (results, parameters) = header.transfers.split_at(header.results);
            let [results, parameters] =
                [results, parameters].map(|all| all.iter().flatten().copied().collect());
            Replayed { number, results, parameters }
        }));
    }
    (decoder.code, shift, replayed)
}

/// Decodes all bodies of `module`.
pub(super) fn decode(module: &Module<'_>, prefer: Prefer, watch: Watch) -> Decoded {
    let layout = Layout::new(module);
    let (static_shared, address_bits) = (layout.shared, layout.address_bits);
    let too_large = layout.too_large.clone();
    let mut decoder = Decoder::new(module, layout, prefer, watch);
    decoder.run();
    let initial = std::mem::take(&mut decoder.layout.initial);
    let shared_variables = std::mem::take(&mut decoder.layout.shared_variables);
    Decoded { code: decoder.code, initial, too_large, static_shared, shared_variables, address_bits }
}

struct Decoder<'m, 't> {
    module: &'m Module<'t>,
    layout: Layout,
    code: Code,
    function: usize,
    registers: HashMap<(DeclId, Part), Slot>,
    words: HashMap<u32, u32>,
    /// The constants that word slots hold.
    constants: HashMap<u32, u32>,
    longs: HashMap<u64, u32>,
    labels: HashMap<DeclId, u32>,
    /// Jumps whose target is not known yet.
    jumps: Vec<(usize, DeclId)>,
    tables: Vec<(usize, Vec<DeclId>)>,
    /// Where variables and parameters in frames lie.
    places: HashMap<DeclId, Location>,
    /// The carry flag of the function.
    carry: Option<u32>,
    stmt: StmtId,
    guard: Guard,
    /// Whether the next micro-operation is the first of its instruction.
    first: bool,
    prefer: Prefer,
    watch: Watch,
    purpose: Purpose,
}

/// An opcode and its modifiers.
struct Words<'a> {
    opcode: &'a str,
    modifiers: Vec<&'a str>,
}

impl Words<'_> {
    fn has(&self, modifier: &str) -> bool {
        self.modifiers.contains(&modifier)
    }

    /// The types among the modifiers.
    fn types(&self) -> Vec<Type> {
        let parse = |word: &&str| Type::parse(format!(".{word}").as_bytes());
        self.modifiers.iter().map(parse).filter(|ty| ty.is_known()).collect()
    }

    /// Whether every modifier is one of `known` or a type.
    fn only(&self, known: &[&str]) -> bool {
        self.modifiers
            .iter()
            .all(|word| known.contains(word) || Type::parse(format!(".{word}").as_bytes()).is_known())
    }
}

impl<'m, 't> Decoder<'m, 't> {
    fn new(module: &'m Module<'t>, layout: Layout, prefer: Prefer, watch: Watch) -> Self {
        let stmt = StmtId::new(0).expect("0 fits");
        Self {
            module,
            layout,
            code: Code::default(),
            function: 0,
            registers: HashMap::new(),
            words: HashMap::new(),
            constants: HashMap::new(),
            longs: HashMap::new(),
            labels: HashMap::new(),
            jumps: Vec::new(),
            tables: Vec::new(),
            places: HashMap::new(),
            carry: None,
            stmt,
            guard: Guard::NONE,
            first: true,
            prefer,
            watch,
            purpose: Purpose::Launch,
        }
    }

    fn run(&mut self) {
        self.code.functions = self.layout.functions.iter().map(|header| header.shape.clone()).collect();
        for number in 0..self.layout.functions.len() {
            self.body(number);
        }
        self.join_calls();
    }

    fn body(&mut self, number: usize) {
        self.function = number;
        self.registers.clear();
        self.words.clear();
        self.constants.clear();
        self.longs.clear();
        self.labels.clear();
        self.carry = None;
        let header = self.layout.functions[number].clone();
        self.places = header.places.clone();
        self.shape().start = self.pc();
        for index in header.body.clone() {
            let stmt = StmtId::new(index).expect("it is the number of a statement");
            self.stmt = stmt;
            match self.module.kind(stmt) {
                StmtKind::Label => {
                    let pc = self.pc();
                    let declared =
                        self.module.stmt_nodes(stmt).next().and_then(|node| self.module.decl_of(node));
                    self.labels.extend(declared.map(|decl| (decl, pc)));
                }
                StmtKind::Instruction => {
                    self.show(stmt, false);
                    self.instruction(stmt);
                    self.show(stmt, true);
                }
                StmtKind::Unknown => self.cannot("the statement"),
                _ => {}
            }
        }
        self.guard = Guard::NONE;
        self.first = true;
        self.emit(Op::Return, [0; 5]);
        self.shape().end = self.pc();
        self.resolve_jumps();
        self.formals(&header.formals);
    }

    /// Finds the registers of parameters that are registers.
    fn formals(&mut self, formals: &[DeclId]) {
        let slots: Vec<_> = formals.iter().map(|&decl| self.transfer_of(decl)).collect();
        self.layout.functions[self.function].transfers = slots;
    }

    fn resolve_jumps(&mut self) {
        for (at, label) in std::mem::take(&mut self.jumps) {
            match self.labels.get(&label) {
                Some(&pc) => self.code.insts[at].x = pc,
                None => self.code.insts[at].op = Op::Trap,
            }
        }
        for (at, labels) in std::mem::take(&mut self.tables) {
            let targets = labels.iter().map(|label| self.labels.get(label).copied().unwrap_or(0));
            self.code.tables[at] = targets.collect();
        }
    }

    fn shape(&mut self) -> &mut Function {
        &mut self.code.functions[self.function]
    }

    fn pc(&self) -> u32 {
        u32::try_from(self.code.insts.len()).expect("a text of 4 GiB has fewer instructions")
    }

    fn instruction(&mut self, stmt: StmtId) {
        let Some((spelling, _)) = self.module.opcode(stmt) else { return };
        let text = self.module.spellings().words(spelling, self.module.text());
        let text = String::from_utf8_lossy(text).into_owned();
        let mut parts = text.split('.');
        let opcode = parts.next().unwrap_or_default();
        let words = Words { opcode, modifiers: parts.collect() };
        self.guard = Guard::NONE;
        self.first = true;
        if let Some((name, negated)) = self.module.guard(stmt) {
            match self.predicate(name) {
                Some(slot) => self.guard = Guard::new(self.lasting(stmt, slot), negated),
                None => return self.cannot("its guard"),
            }
        }
        if self.purpose == Purpose::Replay && !self.is_replayed(stmt, &words) {
            return self.made_up(stmt, &words);
        }
        let operands = self.module.operands(stmt);
        let start = self.code.insts.len();
        if self.prefer == Prefer::Meaning && self.meaning(stmt).is_some() {
            return;
        }
        self.code.insts.truncate(start);
        self.first = true;
        let done = self
            .control(&words, &operands)
            .or_else(|| self.memory(&words, &operands))
            .or_else(|| self.float(&words, &operands))
            .or_else(|| self.convert(&words, &operands))
            .or_else(|| self.integer(&words, &operands))
            .or_else(|| self.video(stmt));
        if done.is_none() {
            self.code.insts.truncate(start);
            self.first = true;
            if self.meaning(stmt).is_none() {
                self.code.insts.truncate(start);
                self.first = true;
                match self.purpose {
                    Purpose::Launch => self.cannot(""),
                    Purpose::Replay => self.made_up(stmt, &words),
                }
            }
        }
    }

    /// A guard that lasts as long as its statement: a copy if the statement writes it, since it may be several
    /// operations.
    fn lasting(&mut self, stmt: StmtId, guard: u32) -> u32 {
        let roles = self.module.roles(stmt);
        if !roles.into_iter().any(|(node, role)| role != Role::Read && self.predicate(node) == Some(guard)) {
            return guard;
        }
        let copy = self.temporary(Class::Predicate, 1).index;
        self.first = false;
        self.emit(Op::Logic, [copy, guard, guard, guard, 0x80]);
        self.first = true;
        copy
    }

    /// Shows the registers that a statement reads, or has written, to the watcher.
    fn show(&mut self, stmt: StmtId, written: bool) {
        if self.watch == Watch::No {
            return;
        }
        (self.guard, self.first) = (Guard::NONE, false);
        let other = if written { Role::Read } else { Role::Write };
        for (node, _) in self.module.roles(stmt).into_iter().filter(|(_, role)| *role != other) {
            for (decl, part) in self.module.registers_of(node) {
                let Some(slot) = self.register(decl, part) else { continue };
                let number = u32::try_from(self.code.watched.len()).expect("a text of 4 GiB has fewer names");
                self.code.watched.push(Watched { sight: Sight { stmt, node, part, written }, slot });
                self.emit(Op::Watch, [0, 0, 0, 0, number]);
            }
        }
    }

    /// Says that the statement at hand cannot be evaluated.
    fn cannot(&mut self, why: &str) {
        let number = u32::try_from(self.code.unknown.len()).expect("there are fewer than instructions");
        self.code.unknown.push(why.to_owned());
        self.emit(Op::Unknown, [0, 0, 0, 0, number]);
    }

    fn emit(&mut self, op: Op, [d, a, b, c, x]: [u32; 5]) {
        let counts = u32::from(std::mem::replace(&mut self.first, false));
        self.code.insts.push(Inst { op, counts, guard: self.guard, d, a, b, c, x, stmt: self.stmt });
    }

    fn lane(&mut self, lane: Lane, operands: [u32; 5]) {
        let (lane, operands) = self.controlled(lane, operands);
        self.emit(Op::Lane(lane), operands);
    }

    // ---- registers -----------------------------------------------------------------------------------------

    /// A fresh slot.
    fn temporary(&mut self, class: Class, bits: u32) -> Slot {
        let shape = self.shape();
        let (counter, size) = match class {
            Class::Predicate => (&mut shape.predicates, 1),
            Class::Word => (&mut shape.words, 1),
            Class::Long => (&mut shape.longs, 1),
            Class::Quad => (&mut shape.longs, 2),
        };
        let index = *counter;
        *counter += size;
        if class == Class::Word && bits < 32 {
            shape.narrow.push((index, bits));
        }
        Slot { class, index, bits }
    }

    /// The slot of a register; `None` for a vector as a whole.
    fn register(&mut self, decl: DeclId, part: Part) -> Option<Slot> {
        if let Some(&slot) = self.registers.get(&(decl, part)) {
            return Some(slot);
        }
        let declared = self.module.decl(decl);
        let is_vector = declared.lanes > 1 && part.component == Component::Whole;
        if declared.kind != DeclKind::Register || is_vector || part.component == Component::Unknown {
            return None;
        }
        let (class, bits) = match (declared.ty, declared.ty.bits()) {
            (Type::Pred, _) => (Class::Predicate, 1),
            (_, Some(bits @ ..=32)) => (Class::Word, bits),
            (_, Some(64)) => (Class::Long, 64),
            (_, Some(128)) => (Class::Quad, 128),
            _ => return None,
        };
        let slot = self.temporary(class, bits);
        self.registers.insert((decl, part), slot);
        Some(slot)
    }

    /// The register that `node` names; `None` for a vector.
    fn slot(&mut self, node: NodeId) -> Option<Slot> {
        let mut registers = self.module.registers_of(node);
        let (decl, part) = registers.next().filter(|_| registers.next().is_none())?;
        self.register(decl, part)
    }

    /// The slot of a constant word.
    fn constant_word(&mut self, value: u32) -> u32 {
        if let Some(&slot) = self.words.get(&value) {
            return slot;
        }
        let slot = self.temporary(Class::Word, 32).index;
        self.shape().word_constants.push((slot, value));
        self.words.insert(value, slot);
        self.constants.insert(slot, value);
        slot
    }

    /// The slot of a constant long.
    fn constant_long(&mut self, value: u64) -> u32 {
        if let Some(&slot) = self.longs.get(&value) {
            return slot;
        }
        let slot = self.temporary(Class::Long, 64).index;
        self.shape().long_constants.push((slot, value));
        self.longs.insert(value, slot);
        slot
    }
}
