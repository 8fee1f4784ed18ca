//! The operands of a video instruction: registers, constants, and the selectors and signs on them.
//!
//! Every rule here is the assembler's, tried with ptxas 11.8, 12.9 and 13.5. Operands that some of them accept but that
//! the manual does not describe (`%r1+4`, the name of a function) are [`Refusal::Foreign`]: no error, but without a
//! known meaning.

use super::opcode::Opcode;
use super::{OperandSource, modifiers};
use crate::diagnostic::Diagnostic;
use crate::names::{DeclKind, Type};
use crate::special::is_special_register;
use crate::tree::{Module, NodeId, NodeKind, Span, StmtId};

/// Why an instruction is not decoded.
pub(super) enum Refusal {
    /// The assembler rejects it.
    Illegal(Box<Diagnostic>),
    /// Some assembler may take it, but what it means is unknown.
    Foreign,
}

impl From<Diagnostic> for Refusal {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::Illegal(Box::new(diagnostic))
    }
}

pub(super) type Read<T> = Result<T, Refusal>;

/// Which operand.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    D,
    A,
    B,
    C,
}

impl Role {
    fn name(self) -> &'static str {
        match self {
            Self::D => "destination `d`",
            Self::A => "source `a`",
            Self::B => "source `b`",
            Self::C => "source `c`",
        }
    }
}

/// An operand, taken apart.
pub(super) struct Operand<'t> {
    pub(super) source: OperandSource,
    /// The selector without its dot, and where it is, with it.
    pub(super) selector: Option<(&'t [u8], Span)>,
    pub(super) negated: bool,
    /// The outermost node, its sign included.
    pub(super) root: NodeId,
}

/// The operands of a statement, guard left out: the first five, and how many there are.
pub(super) fn roots(module: &Module<'_>, stmt: StmtId) -> ([Option<NodeId>; 5], usize) {
    let mut range = module.node_range(stmt);
    range.start += if module.guard(stmt).is_some() { 2 } else { 0 };
    let backwards = || {
        let mut end = range.end;
        std::iter::from_fn(move || {
            let root = end.checked_sub(1).filter(|_| end > range.start)?;
            end = root - module.nodes[root as usize].below();
            Some(NodeId(root))
        })
    };
    let count = backwards().count();
    let mut first = [None; 5];
    for (index, root) in (0..count).rev().zip(backwards()) {
        if let Some(place) = first.get_mut(index) {
            *place = Some(root);
        }
    }
    (first, count)
}

impl<'t> Operand<'t> {
    /// Takes apart what stands at `node` in the place of `role`.
    pub(super) fn read(module: &Module<'t>, opcode: Opcode, node: NodeId, role: Role) -> Read<Self> {
        let span = || module.node_span(node);
        let kind = module.node_kind(node);
        if let NodeKind::Name | NodeKind::Suffixed = kind {
            return named(module, opcode, node, role);
        }
        if role == Role::D {
            return Err(not_a_register(opcode, span(), role).into());
        }
        if kind == NodeKind::Negated {
            return negated(module, opcode, node, role);
        }
        if kind == NodeKind::Float {
            let found = Diagnostic::new(span(), format!("{} is a floating-point constant", role.name()));
            return Err(found.label("expected a register or an integer").into());
        }
        if kind == NodeKind::Offset && opcode.lanes().is_none() {
            return Err(Refusal::Foreign);
        }
        if !matches!(kind, NodeKind::Int | NodeKind::Constant) {
            return Err(not_a_register(opcode, span(), role).into());
        }
        if opcode.lanes().is_some() {
            let found = Diagnostic::new(span(), format!("`{}` takes no constants", opcode.name()));
            return Err(found.label("expected a register").into());
        }
        Ok(Self { source: OperandSource::Constant(node), selector: None, negated: false, root: node })
    }

    /// The register in the place of the destination.
    pub(super) fn node(&self) -> NodeId {
        match self.source {
            OperandSource::Register(node) | OperandSource::Constant(node) => node,
        }
    }
}

fn not_a_register(opcode: Opcode, span: Span, role: Role) -> Diagnostic {
    let constants = role != Role::D && opcode.lanes().is_none();
    Diagnostic::new(span, format!("{} of `{}` is not a register", role.name(), opcode.name()))
        .label(if constants { "expected a register or an integer" } else { "expected a register" })
}

/// `-%r1`. The sign has no effect in most instructions, but ptxas rejects it on a pair of halves.
fn negated<'t>(module: &Module<'t>, opcode: Opcode, node: NodeId, role: Role) -> Read<Operand<'t>> {
    let operand = named(module, opcode, NodeId(node.0 - 1), role)?;
    let ty = module.decl_of(operand.node()).map(|decl| module.decl(decl).ty);
    if let Some(ty @ (Type::F16x2 | Type::Bf16x2)) = ty {
        let found = Diagnostic::new(module.node_span(node), format!("a `{}` register is negated", ty.word()));
        return Err(found.label("expected a register without a sign").into());
    }
    Ok(Operand { negated: true, root: node, ..operand })
}

/// `%r1`, `%r1.b0` or `%r1 .b0`
fn named<'t>(module: &Module<'t>, opcode: Opcode, node: NodeId, role: Role) -> Read<Operand<'t>> {
    if module.node_kind(node) != NodeKind::Suffixed {
        return register(module, opcode, node, None, role);
    }
    let (name, suffix) = (NodeId(node.0 - 2), NodeId(node.0 - 1));
    let selector = module.node_text(suffix).get(1..).unwrap_or_default();
    let suffix = (selector, module.node_span(suffix));
    let operand = register(module, opcode, name, Some(suffix), role)?;
    Ok(Operand { root: node, ..operand })
}

/// A name, with a selector that follows in the same word or, given as `detached`, after a blank.
fn register<'t>(
    module: &Module<'t>,
    opcode: Opcode,
    node: NodeId,
    detached: Option<(&'t [u8], Span)>,
    role: Role,
) -> Read<Operand<'t>> {
    let span = module.node_span(node);
    let (base, suffix) = split(&module.text()[span.clone()]);
    let name = || String::from_utf8_lossy(base).into_owned();
    let attached = suffix.map(|suffix| (suffix, span.start + base.len()..span.end));
    let mut selector = match (attached, detached) {
        (Some(_), Some((_, second))) => {
            return Err(Diagnostic::new(second, "two selectors").label("expected only one").into());
        }
        (one, other) => one.or(other),
    };
    let Some(decl) = module.decl_of(node).map(|decl| module.decl(decl)) else {
        return match undeclared(opcode, base, span, role) {
            Some(found) => Err(found.into()),
            None => {
                Ok(Operand { source: OperandSource::Register(node), selector, negated: false, root: node })
            }
        };
    };
    match decl.kind {
        DeclKind::Register => {}
        DeclKind::Function if opcode.lanes().is_none() && role != Role::D => return Err(Refusal::Foreign),
        DeclKind::Function
        | DeclKind::Variable
        | DeclKind::Parameter
        | DeclKind::Label
        | DeclKind::Table
        | DeclKind::SectionLabel => return Err(not_a_register(opcode, span, role).into()),
    }
    if decl.lanes > 1 {
        // An element of a vector; ptxas 11.8 takes it in scalar instructions, newer ones nowhere.
        if !names_element(suffix) || opcode.lanes().is_some() {
            let found = Diagnostic::new(span, format!("`{}` is a vector", name()));
            return Err(found.label("expected a scalar register").into());
        }
        selector = None;
    }
    if !fits(decl.ty, opcode, role) {
        let found = format!("`{}` has type `{}`", name(), decl.ty.word());
        let found = Diagnostic::new(span, found).label("expected a 32-bit integer register");
        return Err(found.related(module.tokens().span(decl.name), "declared here").into());
    }
    Ok(Operand { source: OperandSource::Register(node), selector, negated: false, root: node })
}

/// A name and its suffix, without the dot.
pub(super) fn split(name: &[u8]) -> (&[u8], Option<&[u8]>) {
    match name.iter().position(|&byte| byte == b'.') {
        Some(dot) => (&name[..dot], Some(&name[dot + 1..])),
        None => (name, None),
    }
}

/// What is wrong with an undeclared name. Unknown names are not reported here: the resolver of names does that.
fn undeclared(opcode: Opcode, base: &[u8], span: Span, role: Role) -> Option<Diagnostic> {
    match base {
        b"_" if role == Role::D => {
            let found = format!("the result of `{}` cannot be discarded", opcode.name());
            Some(Diagnostic::new(span, found).label("expected a register"))
        }
        b"_" => Some(not_a_register(opcode, span, role)),
        base if is_special_register(base) => {
            let found = format!("`{}` takes no special register", opcode.name());
            let found = Diagnostic::new(span, found).label("expected an ordinary register");
            Some(found.help(format!("copy `{}` with `mov` first", String::from_utf8_lossy(base))))
        }
        _ => None,
    }
}

/// Whether a suffix is a component of a vector.
fn names_element(suffix: Option<&[u8]>) -> bool {
    matches!(suffix, Some([b'x' | b'y' | b'z' | b'w' | b'r' | b'g' | b'b' | b'a']))
}

/// Whether a register of the type may be an operand of a video instruction: `.b32`, `.u32` and `.s32` may, and a pair
/// of halves wherever the operand has a type, which `d` and `c` of a comparison do not have.
fn fits(ty: Type, opcode: Opcode, role: Role) -> bool {
    let typed = opcode.types() == 3 || matches!(role, Role::A | Role::B);
    match ty {
        Type::Unknown | Type::U32 | Type::S32 | Type::B32 => true,
        Type::F16x2 | Type::Bf16x2 => typed,
        Type::None
        | Type::U8
        | Type::U16
        | Type::U64
        | Type::S8
        | Type::S16
        | Type::S64
        | Type::B8
        | Type::B16
        | Type::B64
        | Type::B128
        | Type::F16
        | Type::Bf16
        | Type::F32
        | Type::F64
        | Type::Pred
        | Type::E2m1x4
        | Type::E2m3x4
        | Type::E3m2x4
        | Type::Ue8m0x4
        | Type::Texref
        | Type::Samplerref
        | Type::Surfref => false,
    }
}

/// Where a modifier of `stmt` stands, or for `None` its whole opcode.
pub(super) fn opcode_span(module: &Module<'_>, stmt: StmtId, fault: &modifiers::Fault) -> Span {
    let Some((spelling, first)) = module.opcode(stmt) else { return module.stmt_span(stmt) };
    let dots = module.spellings().words(spelling, module.text()).iter().filter(|&&byte| byte == b'.').count();
    let start = module.tokens().start(first);
    let text = module.text();
    // Blanks and comments may stand before a modifier: only the tokens say where its dot is.
    let mut found = Vec::with_capacity(dots);
    let mut end = module.tokens().span(first).end;
    for token in first.0..module.stmt_tokens(stmt).end {
        if found.len() == dots {
            break;
        }
        let span = module.tokens().span(crate::tree::TokenId(token));
        end = span.end;
        let at: Vec<usize> = span.clone().filter(|&byte| text[byte] == b'.').collect();
        let ends = at.iter().skip(1).copied().chain([span.end]);
        found.extend(at.iter().copied().zip(ends).map(|(from, to)| from..to));
    }
    match fault.modifier {
        Some(index) => found.get(index).cloned().unwrap_or(start..end),
        None => start..end,
    }
}
