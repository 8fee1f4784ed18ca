//! Which registers a new text may name where it stands.
//!
//! A name means the innermost declaration around it that has the name, and a declaration counts from its own point
//! on, so a register has a name at a statement only if its declaration stands before, in a scope around the
//! statement, and no scope in between has a declaration that hides it. A declaration that hides it only further down
//! counts as well, which refuses some names that would be right, and never accepts a wrong one.

use crate::graph::{Graph, Register};
use hashbrown::{HashMap, HashSet};
use ptxopt_grammar::function::Function;
use ptxopt_grammar::names::{NameParts, Type};
use ptxopt_grammar::tree::{DeclId, Module, ScopeId, StmtId, StmtKind};
use std::iter::successors;

/// The declarations of each scope inside functions.
pub(super) type Declarations = HashMap<ScopeId, Vec<DeclId>>;

/// The declarations of each scope inside functions.
pub(super) fn declarations(module: &Module<'_>) -> Declarations {
    let mut scopes = Declarations::new();
    for decl in module.decls() {
        let scope = module.decl_scope(decl);
        if scope != ScopeId::MODULE {
            scopes.entry(scope).or_default().push(decl);
        }
    }
    scopes
}

/// The scopes of a function.
pub(super) struct Scopes<'d> {
    /// The innermost one of each statement.
    of: HashMap<StmtId, ScopeId>,
    declarations: &'d Declarations,
}

impl<'d> Scopes<'d> {
    pub(super) fn of(module: &Module<'_>, function: &Function, declarations: &'d Declarations) -> Self {
        let mut of = HashMap::new();
        let open = function.body.start.checked_sub(1).and_then(StmtId::new);
        let mut stack: Vec<ScopeId> = open.and_then(|open| module.scope_of_brace(open)).into_iter().collect();
        for stmt in function.body.clone().filter_map(StmtId::new) {
            match module.scope_of_brace(stmt) {
                Some(scope) if module.kind(stmt) == StmtKind::Open => stack.push(scope),
                Some(_) => drop(stack.pop()),
                None => drop(stack.last().map(|&scope| of.insert(stmt, scope))),
            }
        }
        Self { of, declarations }
    }

    /// Whether the name of a register means it where a statement stands.
    pub(super) fn means(&self, graph: &Graph<'_, '_>, register: Register, stmt: StmtId) -> bool {
        let module = graph.module();
        let (Some(decl), Some(name)) = (graph.declaration(register), graph.register_text(register)) else {
            return false;
        };
        let declared = module.decl(decl);
        if declared.stmt > stmt {
            return false;
        }
        let name = NameParts::new(name.as_bytes());
        let mut scope = self.of.get(&stmt).copied();
        while let Some(inner) = scope {
            if inner == declared.scope {
                return true;
            }
            if self.declarations.get(&inner).into_iter().flatten().any(|&other| hides(module, other, name)) {
                return false;
            }
            scope = module.scope(inner).parent;
        }
        false
    }
}

/// How many scopes around one are looked at for what a declaration may hide.
const MOST_SCOPES: usize = 64;

/// The names that each scope declares, without the numbers at their ends.
pub(super) struct Stems<'t>(HashSet<(ScopeId, &'t [u8])>);

impl<'t> Stems<'t> {
    pub(super) fn of(module: &'t Module<'_>) -> Self {
        Self(module.decls().map(|decl| (module.decl_scope(decl), stem(module, decl))).collect())
    }

    /// Whether a scope around that of a declaration may have one that this declaration hides.
    pub(super) fn may_hide(&self, module: &'t Module<'_>, decl: DeclId) -> bool {
        let parent = |scope: ScopeId| module.scope(scope).parent;
        let around = successors(parent(module.decl_scope(decl)), |&scope| parent(scope));
        let (name, mut looked) = (stem(module, decl), 0);
        around.into_iter().any(|scope| {
            looked += 1;
            looked > MOST_SCOPES || self.0.contains(&(scope, name))
        })
    }
}

fn stem<'t>(module: &'t Module<'_>, decl: DeclId) -> &'t [u8] {
    NameParts::new(module.decl_name(decl)).prefix
}

/// Whether a declaration has a name.
fn hides(module: &Module<'_>, decl: DeclId, name: NameParts<'_>) -> bool {
    let declared = module.decl(decl);
    let text = module.decl_name(decl);
    let within = |count| name.index.is_some_and(|index| index < count);
    text == name.base || declared.family.is_some_and(within) && text == name.prefix
}

/// Whether integer instructions take a register.
pub(super) fn is_integer(graph: &Graph<'_, '_>, register: Register) -> bool {
    graph.declaration(register).is_some_and(|decl| is_integer_type(graph.module().decl(decl).ty))
}

/// Whether integer instructions take registers of a type.
pub(super) const fn is_integer_type(ty: Type) -> bool {
    match ty {
        Type::U8
        | Type::U16
        | Type::U32
        | Type::U64
        | Type::S8
        | Type::S16
        | Type::S32
        | Type::S64
        | Type::B8
        | Type::B16
        | Type::B32
        | Type::B64
        | Type::B128
        | Type::Pred => true,
        Type::None
        | Type::Unknown
        | Type::F16
        | Type::F16x2
        | Type::Bf16
        | Type::Bf16x2
        | Type::F32
        | Type::F64
        | Type::E2m1x4
        | Type::E2m3x4
        | Type::E3m2x4
        | Type::Ue8m0x4
        | Type::Texref
        | Type::Samplerref
        | Type::Surfref => false,
    }
}
