//! What names mean on both sides: registers and symbols by name and scope.
//!
//! A register of one text is taken for that of the other which has the same name in the same scope, scopes being
//! counted in the order of the text, and the same width. That is a guess and no more: what such registers hold is
//! equal only where it is proved. Symbols of the same name and scope are the same thing, since what surrounds the two
//! functions was compared before.

use crate::Assumption;
use hashbrown::HashMap;
use ptxopt_grammar::alignment::Extents;
use ptxopt_grammar::meaning::term::ones;
use ptxopt_grammar::names::{Component, DeclKind, Part, Type};
use ptxopt_grammar::tree::{DeclId, Module, NodeId, ScopeId, StmtId};

use ptxopt_grammar::function::Function;

/// A register, or a component of one, by its number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) struct RegisterId(u32);

impl RegisterId {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The carry flag: one bit.
pub(super) const CARRY: RegisterId = RegisterId(0);

/// The number of the scope that is the whole body.
const OUTERMOST: usize = 0;

/// What a register is called on both sides.
fn key(name: &str, scope: usize) -> String {
    format!("{name}@{scope}")
}

/// The registers of both sides.
pub(super) struct Registers {
    numbers: HashMap<(String, u32), RegisterId>,
    /// Their widths.
    list: Vec<u32>,
}

impl Registers {
    pub(super) fn new() -> Self {
        Self { numbers: HashMap::new(), list: vec![1] }
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn width(&self, register: RegisterId) -> u32 {
        self.list[register.index()]
    }

    /// The register of this name and width that is declared where the bodies begin, if one is known.
    pub(super) fn outermost(&self, name: &str, width: u32) -> Option<RegisterId> {
        self.numbers.get(&(key(name, OUTERMOST), width)).copied()
    }
}

/// One of the two functions, with what its names mean.
pub(super) struct Names<'m, 't> {
    pub(super) module: &'m Module<'t>,
    pub(super) function: &'m Function,
    /// The number of each scope of the function, in the order of the text.
    scopes: HashMap<ScopeId, usize>,
    known: HashMap<(DeclId, Part), Option<RegisterId>>,
    /// The memory of what is declared.
    extents: Extents,
}

impl<'m, 't> Names<'m, 't> {
    pub(super) fn new(module: &'m Module<'t>, function: &'m Function) -> Self {
        let open = function.body.start.checked_sub(1);
        let braces = open.into_iter().chain(function.body.clone()).filter_map(StmtId::new);
        let mut scopes = HashMap::new();
        for scope in braces.filter_map(|stmt| module.scope_of_brace(stmt)) {
            let next = scopes.len();
            scopes.entry(scope).or_insert(next);
        }
        Self { module, function, scopes, known: HashMap::new(), extents: Extents::default() }
    }

    /// The scope of a declaration as both sides call it; `None` for the module.
    pub(super) fn scope(&self, decl: DeclId) -> Option<usize> {
        self.scopes.get(&self.module.decl_scope(decl)).copied()
    }

    /// Whether a register belongs to the module, so that other functions can change it.
    pub(super) fn is_shared(&self, decl: DeclId) -> bool {
        self.scope(decl).is_none()
    }

    /// The registers that a name stands for: one, or all components of a vector; empty for other names, `None` if one
    /// is not understood.
    pub(super) fn registers(&mut self, all: &mut Registers, node: NodeId) -> Option<Vec<RegisterId>> {
        let found: Vec<_> = self.module.registers_of(node).collect();
        found.into_iter().map(|(decl, part)| self.register(all, decl, part)).collect()
    }

    /// The number of a register.
    pub(super) fn register(&mut self, all: &mut Registers, decl: DeclId, part: Part) -> Option<RegisterId> {
        if let Some(&known) = self.known.get(&(decl, part)) {
            return known;
        }
        let declared = self.module.decl(decl);
        let width = if declared.ty == Type::Pred { Some(1) } else { declared.ty.bits() };
        let understood = part.component != Component::Unknown
            && (part.component != Component::Whole || declared.lanes == 1);
        let number = width.filter(|_| understood && !self.is_shared(decl)).map(|width| {
            let scope = self.scope(decl).unwrap_or(OUTERMOST);
            let name = self.module.register_name(decl, part);
            let key = (key(&name, scope), width);
            let next = RegisterId(u32::try_from(all.list.len()).expect("registers have 32-bit numbers"));
            *all.numbers.entry(key).or_insert_with(|| {
                all.list.push(width);
                next
            })
        });
        self.known.insert((decl, part), number);
        number
    }

    /// Whether a name of this side that was looked at means this register.
    pub(super) fn has(&self, register: RegisterId) -> bool {
        self.known.values().any(|&known| known == Some(register))
    }

    /// What a name that is no register is called on both sides.
    pub(super) fn symbol(&self, node: NodeId) -> String {
        let text = String::from_utf8_lossy(self.module.node_text(node)).into_owned();
        match self.module.decl_of(node).map(|decl| self.scope(decl)) {
            Some(Some(scope)) => format!("{text}@{scope}"),
            Some(None) | None => text,
        }
    }

    /// What is known of the address of a variable or parameter: it is aligned as it was declared.
    pub(super) fn alignment(&mut self, node: NodeId) -> Assumption {
        let Some(decl) = self.module.decl_of(node) else { return Assumption::NONE };
        let bits = self.extents.zero_bits(self.module, decl);
        Assumption { known: ones(bits), ..Assumption::NONE }
    }

    /// How many bytes a variable or parameter has, if that is declared.
    pub(super) fn size(&mut self, node: NodeId) -> Option<u64> {
        self.extents.size(self.module, self.module.decl_of(node)?)
    }

    /// The registers that the function takes and those that it returns, in order.
    pub(super) fn parameters(&mut self, all: &mut Registers) -> Option<[Vec<RegisterId>; 2]> {
        let module = self.module;
        let head = self.function.head;
        let decls: Vec<DeclId> = module.decls().filter(|&decl| module.decl(decl).stmt == head).collect();
        let kind = |decl: DeclId| module.decl(decl).kind;
        let own = decls.iter().find(|&&decl| kind(decl) == DeclKind::Function);
        let own = own.map(|&decl| module.decl(decl).name);
        let (mut taken, mut returned) = (Vec::new(), Vec::new());
        for decl in decls.into_iter().filter(|&decl| kind(decl) == DeclKind::Register) {
            let list = if Some(module.decl(decl).name) < own { &mut returned } else { &mut taken };
            list.push(self.register(all, decl, Part::default())?);
        }
        Some([taken, returned])
    }
}
