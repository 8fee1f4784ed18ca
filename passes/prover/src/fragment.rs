//! What a straight-line function computes: the values that it stores and returns, as terms.
//!
//! Statements run in order on terms. A load is an unknown that is the same for the same address, width and guard
//! after the same number of stores; a store is a result with its guard and address. A register that was never
//! written is a new unknown at each read. Whatever is not understood ends the run with its line and no answer, so
//! nothing is claimed of code with branches, calls, barriers or ordered accesses.

use super::{Reads, special};
use hashbrown::HashMap;
use ptxopt_grammar::constant;
use ptxopt_grammar::diagnostic::position;
use ptxopt_grammar::function::Function;
use ptxopt_grammar::meaning::disputed::{Dispute, disputed_at};
use ptxopt_grammar::meaning::term::{Term, Terms};
use ptxopt_grammar::meaning::{Place, meaning};
use ptxopt_grammar::names::{Component, DeclKind, Part, Type};
use ptxopt_grammar::tree::{DeclId, Module, NodeId, NodeKind, StmtId, StmtKind};
use std::collections::BTreeSet;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What a function computes.
#[derive(Clone, Debug, Default)]
pub struct Computed {
    /// The results, each with what it is.
    pub results: Vec<(String, Term)>,
    /// What it reads from memory.
    pub loads: BTreeSet<String>,
    /// The registers that are written, in order.
    pub written: Vec<Written>,
    /// What it accesses, and which addresses it converts, in order.
    pub events: Vec<Event>,
    /// The first instruction to which the manual and the assembler give different meanings; here the manual counts.
    pub disputed: Option<Disputed>,
}

/// Something by which unknowns depend on each other: of two loads of a place both find the same.
#[derive(Clone, Debug)]
pub enum Event {
    /// What is read is an unknown.
    Load(Access),
    /// What is stored.
    Store(Access),
    /// An address in another space is an unknown.
    Convert {
        /// The space, which is not the generic one.
        space: String,
        /// Whether the unknown is the address in that space, and not the generic one.
        into: bool,
        /// The unknown.
        to: Term,
        /// The other address.
        from: Term,
    },
}

/// A plain access to memory.
#[derive(Clone, Debug)]
pub struct Access {
    /// The state space, or `generic`.
    pub space: String,
    /// The address.
    pub at: Term,
    /// How many bits are accessed.
    pub bits: u32,
    /// What is stored, or the unknown that is read.
    pub value: Term,
    /// One bit: whether it happens.
    pub guard: Term,
}

/// A register that is written.
#[derive(Clone, Debug)]
pub struct Written {
    /// Its name.
    pub register: String,
    /// What writes it.
    pub stmt: StmtId,
    /// What it holds then.
    pub value: Term,
}

/// An instruction with two meanings.
#[derive(Clone, Debug)]
pub struct Disputed {
    /// The line, from 1.
    pub line: usize,
    /// The instruction without its operands.
    pub what: String,
    /// What the two are.
    pub dispute: &'static Dispute,
}

/// Why a function was not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unclear {
    /// The line, from 1.
    pub line: usize,
    /// What stands there.
    pub what: String,
}

/// A register, or a component of one.
type Register = (DeclId, Part);

struct Run<'r, 'm, 't> {
    module: &'m Module<'t>,
    terms: &'r mut Terms,
    reads: &'r mut Reads<String>,
    registers: HashMap<Register, Term>,
    carry: Option<Term>,
    stores: usize,
    parameter_stores: usize,
    /// The statement at hand.
    stmt: StmtId,
    computed: Computed,
}

/// Statements that belong to control flow, or that are not understood.
const OBSTACLES: [StmtKind; 4] =
    [StmtKind::Unknown, StmtKind::BranchTargets, StmtKind::CallTargets, StmtKind::CallPrototype];

/// Runs a function on terms. Both sides of a question share `terms` and `reads`.
///
/// # Errors
///
/// The first statement that is not understood.
pub fn compute(
    module: &Module<'_>,
    function: &Function,
    terms: &mut Terms,
    reads: &mut Reads<String>,
) -> Result<Computed, Unclear> {
    let registers = HashMap::new();
    let computed = Computed::default();
    let mut run = Run {
        module,
        terms,
        reads,
        registers,
        carry: None,
        stores: 0,
        parameter_stores: 0,
        stmt: function.head,
        computed,
    };
    let outputs = run.parameters(function);
    for stmt in function.body.clone().filter_map(StmtId::new) {
        let unclear = || Unclear { line: line(module, stmt), what: what(module, stmt) };
        let kind = module.kind(stmt);
        if OBSTACLES.contains(&kind) {
            return Err(unclear());
        }
        if kind == StmtKind::Instruction
            && let Flow::End = run.instruction(stmt).ok_or_else(unclear)?
        {
            break;
        }
    }
    for (at, (decl, width)) in outputs.into_iter().enumerate() {
        let value = run.register(&(decl, Part::default()), width);
        run.computed.results.push((format!("return value {at}"), value));
    }
    Ok(run.computed)
}

/// What messages call a statement: an instruction without its operands, else its text.
pub(super) fn what(module: &Module<'_>, stmt: StmtId) -> String {
    module.opcode(stmt).map_or_else(
        || text(module.stmt_text(stmt)),
        |(spelling, _)| text(module.spellings().words(spelling, module.text())),
    )
}

/// The line of a statement, from 1.
#[must_use]
pub fn line(module: &Module<'_>, stmt: StmtId) -> usize {
    position(module.text(), module.stmt_span(stmt).start).line
}

enum Flow {
    On,
    End,
}

impl Run<'_, '_, '_> {
    /// Makes inputs of the registers that a function takes; gives those that it returns.
    fn parameters(&mut self, function: &Function) -> Vec<(DeclId, u32)> {
        let of_head = |decl: &DeclId| self.module.decl(*decl).stmt == function.head;
        let all: Vec<DeclId> = self.module.decls().filter(of_head).collect();
        let kind = |decl: DeclId| self.module.decl(decl).kind;
        let own = all.iter().copied().find(|&decl| kind(decl) == DeclKind::Function);
        let own = own.map(|decl| self.module.decl(decl).name);
        let mut outputs = Vec::new();
        let mut taken = 0;
        for decl in all.into_iter().filter(|&decl| kind(decl) == DeclKind::Register) {
            let Some(width) = self.width(decl) else { continue };
            if Some(self.module.decl(decl).name) < own {
                outputs.push((decl, width));
            } else {
                let input = self.reads.defined(self.terms, format!("parameter {taken}"), width);
                self.registers.insert((decl, Part::default()), input);
                taken += 1;
            }
        }
        outputs
    }

    fn width(&self, decl: DeclId) -> Option<u32> {
        let ty = self.module.decl(decl).ty;
        if ty == Type::Pred { Some(1) } else { ty.bits() }
    }

    /// The register that a name means; `None` for several, and for what is none.
    fn key(&self, node: NodeId) -> Option<Register> {
        let (decl, part) = self.module.register_of(node)?;
        let one = match part.component {
            Component::Whole => self.module.decl(decl).lanes == 1,
            Component::One(_) => true,
            Component::Unknown => false,
        };
        one.then_some((decl, part))
    }

    fn register(&mut self, key: &Register, width: u32) -> Term {
        match self.registers.get(key) {
            Some(&term) => term,
            None => {
                let name = self.module.register_name(key.0, key.1);
                self.reads.undefined(self.terms, format!("undefined {name}"), width)
            }
        }
    }

    /// The value of a register, a number, an address, or one of these and a number.
    fn value(&mut self, node: NodeId, width: u32) -> Option<Term> {
        let kind = self.module.node_kind(node);
        if matches!(kind, NodeKind::Int | NodeKind::Constant) {
            let value = constant::value(self.module, node)?.cast_signed();
            return Some(self.terms.constant(i128::from(value).cast_unsigned(), width));
        }
        if kind == NodeKind::Offset {
            let [base, offset] = self.module.children(node).try_into().ok()?;
            let (base, offset) = (self.value(base, width)?, self.value(offset, width)?);
            return Some(self.terms.add(base, offset));
        }
        if kind != NodeKind::Name {
            return None;
        }
        let Some(key) = self.key(node) else {
            let decl = self.module.decl_of(node)?;
            (self.module.decl(decl).kind != DeclKind::Register).then_some(())?;
            let name = symbol(self.module, node)?;
            return Some(self.reads.defined(self.terms, name, width));
        };
        let own = self.width(key.0)?;
        (own >= width).then_some(())?;
        let value = self.register(&key, own);
        Some(self.terms.extract(value, 0, width))
    }

    fn guard(&mut self, stmt: StmtId) -> Option<Term> {
        let Some((register, negated)) = self.module.guard(stmt) else { return Some(self.terms.bit(true)) };
        let key = self.key(register)?;
        let guard = self.register(&key, 1);
        Some(if negated { self.terms.not(guard) } else { guard })
    }

    fn instruction(&mut self, stmt: StmtId) -> Option<Flow> {
        let (spelling, _token) = self.module.opcode(stmt)?;
        let opcode = text(self.module.spellings().words(spelling, self.module.text()));
        let guard = self.guard(stmt)?;
        let always = self.terms.bit(true);
        self.stmt = stmt;
        if self.computed.disputed.is_none()
            && let Some(dispute) = disputed_at(self.module, stmt)
        {
            let line = line(self.module, stmt);
            self.computed.disputed = Some(Disputed { line, what: opcode.clone(), dispute });
        }
        let words: Vec<&str> = opcode.split('.').collect();
        match words[0] {
            "ret" | "exit" if guard == always => return Some(Flow::End),
            "ld" | "ldu" => self.load(stmt, &words[1..], guard)?,
            "cvta" => self.convert_address(stmt, &opcode, guard)?,
            "st" => self.store(stmt, &words[1..], guard)?,
            _ => self.compute(stmt, guard)?,
        }
        Some(Flow::On)
    }

    /// The same address in another space: an unknown, the same one for the same address.
    fn convert_address(&mut self, stmt: StmtId, opcode: &str, guard: Term) -> Option<()> {
        let [to, from] = self.module.operands(stmt).try_into().ok()?;
        let (decl, _) = self.key(to)?;
        let width = self.width(decl)?;
        let address = self.value(from, width)?;
        let value = self.reads.defined(self.terms, format!("{opcode} #{}", address.index()), width);
        let mut words = opcode.split('.').skip(1).peekable();
        let into = words.next_if_eq(&"to").is_some();
        let space = words.next()?.to_owned();
        self.computed.events.push(Event::Convert { space, into, to: value, from: address });
        self.write(to, value, guard)
    }

    fn compute(&mut self, stmt: StmtId, guard: Term) -> Option<()> {
        let module = self.module;
        // Each read of an unwritten register may yield another number, even two operands of one instruction.
        let mut seen: HashMap<NodeId, Term> = HashMap::new();
        let keys: HashMap<usize, (Register, u32)> = module
            .stmt_nodes(stmt)
            .filter_map(|node| {
                let key = self.key(node)?;
                let width = self.width(key.0)?;
                Some((node.index(), (key, width)))
            })
            .collect();
        let (registers, reads, carry) = (&self.registers, &mut *self.reads, self.carry);
        let mut read = |terms: &mut Terms, place: Place, width: u32| match place {
            Place::Register(node) => {
                let (key, own) = keys.get(&node.index())?;
                (*own == width).then_some(())?;
                let value = registers.get(key).copied();
                Some(value.unwrap_or_else(|| {
                    let fresh = || {
                        reads.undefined(terms, format!("undefined {}", text(module.node_text(node))), width)
                    };
                    *seen.entry(node).or_insert_with(fresh)
                }))
            }
            Place::Special(node) => {
                let name = text(module.node_text(node));
                let varies =
                    ["clock", "timer", "pm", "smid", "warpid"].iter().any(|word| name.contains(word));
                let special::Read { name, bits, .. } = special::read(name.as_bytes(), width);
                (!varies).then(|| {
                    let value = reads.defined(terms, name, bits);
                    terms.extract(value, 0, width)
                })
            }
            Place::Address(node) => Some(reads.defined(terms, symbol(module, node)?, width)),
            Place::Carry => carry,
        };
        let writes = meaning(module, stmt, self.terms, &mut read)?;
        for write in writes {
            match write.place {
                Place::Register(node) => self.write(node, write.value, guard)?,
                Place::Carry if guard == self.terms.bit(true) => self.carry = Some(write.value),
                Place::Carry => {
                    let old = self.carry?;
                    self.carry = Some(self.terms.choose(guard, write.value, old));
                }
                Place::Special(_) | Place::Address(_) => return None,
            }
        }
        Some(())
    }

    fn write(&mut self, node: NodeId, value: Term, guard: Term) -> Option<()> {
        let key = self.key(node)?;
        let width = self.terms.width(value);
        (self.width(key.0)? == width).then_some(())?;
        let value = if guard == self.terms.bit(true) {
            value
        } else {
            // Without an old value each later read would have to be an unknown of its own.
            let old = *self.registers.get(&key)?;
            self.terms.choose(guard, value, old)
        };
        self.registers.insert(key, value);
        let register = text(Place::Register(node).text(self.module));
        self.computed.written.push(Written { register, stmt: self.stmt, value });
        Some(())
    }

    /// The space, the type and the place of a plain access: its operands are the address and the rest.
    fn access<'w>(&mut self, address: NodeId, words: &[&'w str]) -> Option<(String, &'w str, Term)> {
        const PLAIN: [&str; 14] = [
            "param", "global", "shared", "local", "const", "v2", "v4", "nc", "ca", "cg", "cs", "lu", "wb",
            "weak",
        ];
        let (&ty, rest) = words.split_last()?;
        rest.iter().all(|word| PLAIN.contains(word)).then_some(())?;
        let named = rest.iter().find(|word| PLAIN[..5].contains(word)).copied();
        let space = named.or_else(|| self.module.implied_space(self.stmt, address)).unwrap_or("generic");
        let [place] = self.module.children(address).try_into().ok()?;
        let width = match self.base(place).and_then(|base| self.key(base)) {
            Some((decl, _)) => self.width(decl)?,
            None => 64,
        };
        Some((space.to_owned(), ty, self.value(place, width)?))
    }

    fn base(&self, place: NodeId) -> Option<NodeId> {
        if self.module.node_kind(place) == NodeKind::Offset {
            self.module.children(place).first().copied()
        } else {
            Some(place)
        }
    }

    /// The operands of a vector, or the operand.
    fn elements(&self, node: NodeId) -> Vec<NodeId> {
        if self.module.node_kind(node) == NodeKind::Vector { self.module.children(node) } else { vec![node] }
    }

    fn load(&mut self, stmt: StmtId, words: &[&str], guard: Term) -> Option<()> {
        let [to, address] = self.module.operands(stmt).try_into().ok()?;
        let (space, ty, at) = self.access(address, words)?;
        let (bits, signed) = bits(ty)?;
        for (element, register) in self.elements(to).into_iter().enumerate() {
            let step = self.terms.constant(element as u128 * u128::from(bits / 8), self.terms.width(at));
            let at = self.terms.add(at, step);
            // Nothing but a store to a parameter changes one.
            let (stores, place) = if space == "param" {
                let place = text(self.module.node_text(address));
                (self.parameter_stores, place.split_whitespace().collect())
            } else {
                (self.stores, format!("#{}", at.index()))
            };
            let mut key = format!("{space}.b{bits} {place}");
            for (what, count) in [("element", element), ("stores before", stores), ("guard", guard.index())] {
                if what != "guard" && count > 0 || what == "guard" && guard != self.terms.bit(true) {
                    key += &format!(", {what} {count}");
                }
            }
            self.computed.loads.insert(key.clone());
            let value = self.reads.defined(self.terms, key, bits);
            self.computed.events.push(Event::Load(Access { space: space.clone(), at, bits, value, guard }));
            let (decl, _) = self.key(register)?;
            let width = self.width(decl)?;
            (width >= bits).then_some(())?;
            let value = if signed {
                self.terms.sign_extend(value, width)
            } else {
                self.terms.zero_extend(value, width)
            };
            self.write(register, value, guard)?;
        }
        Some(())
    }

    fn store(&mut self, stmt: StmtId, words: &[&str], guard: Term) -> Option<()> {
        let [address, from] = self.module.operands(stmt).try_into().ok()?;
        let (space, ty, at) = self.access(address, words)?;
        let (bits, _) = bits(ty)?;
        for (element, value) in self.elements(from).into_iter().enumerate() {
            let value = self.value(value, bits)?;
            let step = self.terms.constant(element as u128 * u128::from(bits / 8), self.terms.width(at));
            let at = self.terms.add(at, step);
            self.computed.events.push(Event::Store(Access { space: space.clone(), at, bits, value, guard }));
            let what = format!("store {} ({space}, {bits} bits)", self.stores);
            let nothing = self.terms.constant(0, bits);
            let nowhere = self.terms.constant(0, self.terms.width(at));
            let (value, at) =
                (self.terms.choose(guard, value, nothing), self.terms.choose(guard, at, nowhere));
            self.computed.results.push((what.clone(), value));
            self.computed.results.push((format!("address of {what}"), at));
            self.computed.results.push((format!("guard of {what}"), guard));
            self.stores += 1;
            self.parameter_stores += usize::from(space == "param");
        }
        Some(())
    }
}

/// What the address of a variable is called; `None` if several things have the name.
fn symbol(module: &Module<'_>, node: NodeId) -> Option<String> {
    let decl = module.decl_of(node)?;
    let alike = module.decls().filter(|&other| module.decl_name(other) == module.decl_name(decl));
    (alike.count() == 1).then(|| format!("{ADDRESS}{}", text(module.node_text(node))))
}

/// How the name of the address of a variable begins.
pub(super) const ADDRESS: &str = "address of ";

/// The width of a type, and whether it is signed.
fn bits(ty: &str) -> Option<(u32, bool)> {
    let bits = ty.get(1..)?.parse().ok().filter(|bits| [8, 16, 32, 64].contains(bits))?;
    matches!(ty.as_bytes()[0], b'b' | b'u' | b's' | b'f').then_some((bits, ty.starts_with('s')))
}
