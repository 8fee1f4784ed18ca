//! Registers as numbers, and which of them each statement reads and writes.
//!
//! A register is a declaration, the element of a family, and the component of a vector: `%r01` and `%r1` are one,
//! `V.x` and `V.r` too. A vector named as a whole is all its components. The carry flag is a register that no text
//! names. The roles are the grammar's; the guard is read, and what a guarded statement writes keeps its old value
//! where the guard fails.

use hashbrown::HashMap;
use ptxopt_grammar::names::{Part, Type};
use ptxopt_grammar::roles::Role;
use ptxopt_grammar::table::{Control, Effects, InFlight};
use ptxopt_grammar::tree::{DeclId, Module, NodeId, StmtId, StmtKind};
use std::collections::BTreeSet;
use std::ops::Range;

/// A register of a function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Register(u32);

impl Register {
    /// The carry flag.
    pub const CARRY: Self = Self(0);

    pub(super) const fn index(self) -> usize {
        self.0 as usize
    }

    pub(super) fn numbered(index: usize) -> Self {
        Self(u32::try_from(index).expect("a text below 4 GiB has fewer names"))
    }
}

/// A statement's use of a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// The name that uses it; `None` for the carry flag, and for what a call or a return does to registers.
    pub node: Option<NodeId>,
    /// Which.
    pub register: Register,
    /// Whether it is written; else read.
    pub write: bool,
    /// Whether the statement has a guard; what such a statement writes keeps its old value where the guard fails.
    pub guarded: bool,
}

/// The registers of a function.
#[derive(Debug)]
pub(super) struct Registers {
    numbers: HashMap<(DeclId, Part), Register>,
    list: Vec<RegisterName>,
    /// Those that a statement names from which on they are in flight.
    in_flight: BTreeSet<Register>,
}

/// What a register is in the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct RegisterName {
    /// The declaration; `None` for the carry flag.
    pub(super) decl: Option<DeclId>,
    /// Which of it.
    pub(super) part: Part,
    pub(super) width: u32,
}

/// The accesses of all statements, one after the other: reads before writes.
#[derive(Debug, Default)]
pub(super) struct Accesses {
    pub(super) list: Vec<Access>,
    ends: Vec<u32>,
    first: usize,
    writes: usize,
}

impl Accesses {
    pub(super) fn range(&self, stmt: StmtId) -> Range<usize> {
        let at = stmt.index() - self.first;
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        start..self.ends[at] as usize
    }

    /// The accesses of consecutive statements.
    pub(super) fn of_all(&self, mut stmts: impl DoubleEndedIterator<Item = StmtId>) -> Range<usize> {
        let Some(first) = stmts.next() else { return 0..0 };
        let last = stmts.next_back().unwrap_or(first);
        self.range(first).start..self.range(last).end
    }

    /// How many of them are writes.
    pub(super) fn writes(&self) -> usize {
        self.writes
    }
}

impl Registers {
    pub(super) fn new() -> Self {
        let carry = RegisterName { decl: None, part: Part::default(), width: 1 };
        Self { numbers: HashMap::new(), list: vec![carry], in_flight: BTreeSet::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn named(&self, register: Register) -> RegisterName {
        self.list[register.index()]
    }

    /// Whether a register is ever in flight.
    pub(super) fn is_in_flight(&self, register: Register) -> bool {
        self.in_flight.contains(&register)
    }

    fn number(&mut self, decl: DeclId, part: Part, width: u32) -> Register {
        let next = Register::numbered(self.list.len());
        let register = *self.numbers.entry((decl, part)).or_insert(next);
        if register == next {
            self.list.push(RegisterName { decl: Some(decl), part, width });
        }
        register
    }

    /// The registers that a name stands for: one, or all components of a vector; none for other names.
    pub(super) fn of_name(
        &mut self,
        module: &Module<'_>,
        node: NodeId,
    ) -> impl Iterator<Item = Register> + use<> {
        let (mut found, mut count) = ([Register::CARRY; 4], 0);
        for (decl, part) in module.registers_of(node) {
            let ty = module.decl(decl).ty;
            let width = if ty == Type::Pred { 1 } else { ty.bits().unwrap_or(0) };
            found[count] = self.number(decl, part, width);
            count += 1;
        }
        found.into_iter().take(count)
    }

    /// What each statement of `body` reads and writes.
    pub(super) fn accesses(&mut self, module: &Module<'_>, head: StmtId, body: &Range<usize>) -> Accesses {
        let returned = self.returned(module, head);
        let mut accesses = Accesses { first: body.start, ..Accesses::default() };
        accesses.ends.reserve_exact(body.len());
        for at in body.clone() {
            let stmt = StmtId::new(at).expect("the body is made of statements");
            if module.kind(stmt) == StmtKind::Instruction {
                self.of_stmt(module, stmt, &returned, &mut accesses.list);
            }
            let end = u32::try_from(accesses.list.len()).expect("a text below 4 GiB has fewer names");
            accesses.ends.push(end);
        }
        accesses.list.shrink_to_fit();
        accesses.writes = accesses.list.iter().filter(|access| access.write).count();
        accesses
    }

    fn of_stmt(&mut self, module: &Module<'_>, stmt: StmtId, returned: &[Register], list: &mut Vec<Access>) {
        let roles = module.roles(stmt);
        let effects = module.effects(stmt);
        let row = module.row(stmt);
        let control = row.map_or(Control::Unknown, |row| row.control);
        let first = list.len();
        let guarded = module.guard(stmt).is_some();
        let access = |node, register, write| Access { node, register, write, guarded };
        for &(node, _) in roles.iter().filter(|(_, role)| *role != Role::Write) {
            list.extend(self.of_name(module, node).map(|register| access(Some(node), register, false)));
        }
        if effects.has(Effects::READS_CARRY) {
            list.push(access(None, Register::CARRY, false));
        }
        if matches!(control, Control::Return | Control::Exit) {
            list.extend(returned.iter().map(|&register| access(None, register, false)));
        }
        for &(node, _) in roles.iter().filter(|(_, role)| *role != Role::Read) {
            list.extend(self.of_name(module, node).map(|register| access(Some(node), register, true)));
        }
        // The carry flag does not survive a call.
        if effects.has(Effects::WRITES_CARRY) || control == Control::Call {
            list.push(access(None, Register::CARRY, true));
        }
        if matches!(row.and_then(|row| row.in_flight), Some(InFlight::Begins(_))) {
            self.in_flight.extend(list[first..].iter().map(|access| access.register));
        }
    }

    /// The registers that the head of a function declares: its parameters and what it returns.
    pub(super) fn returned(&mut self, module: &Module<'_>, head: StmtId) -> Vec<Register> {
        module.stmt_nodes(head).flat_map(|node| self.of_name(module, node).collect::<Vec<_>>()).collect()
    }
}
