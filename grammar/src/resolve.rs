//! Resolves names by scope, in one walk over the statements.
//!
//! The rules are the assembler's. A declaration is in force from where it stands to the end of its scope. A name means
//! the innermost declaration of it; if the innermost family is too small for the index, the next family outward is
//! tried. Labels are in force in the whole of their scope: a branch goes to a label of its own scope, else to the
//! innermost enclosing label that stands before it, else to the innermost enclosing label that stands after it.

use crate::diagnostic::Diagnostic;
use crate::names::{Decl, DeclKind, NameParts};
use crate::scope::{Active, NONE, Names, Slot, Visible};
use crate::special::is_special_register;
use crate::table::Control;
use crate::tree::{Module, Node, NodeKind, ScopeId, Span, StmtId, StmtKind, TokenId, index32};

/// Resolves every name of `module`; returns an error for each name that cannot be resolved.
pub(crate) fn resolve(module: &mut Module<'_>) -> Vec<Diagnostic> {
    let labels = LabelsByScope::new(module);
    let mut resolver =
        Resolver { visible: Visible::new(), diagnostics: Vec::new(), next_decl: 0, parameters: 0..0 };
    for label in labels.of(0) {
        resolver.hoist(module, label);
    }
    for index in 0..module.stmts.len() {
        if resolver.diagnostics.len() >= crate::parse::MOST_DIAGNOSTICS {
            break;
        }
        resolver.statement(module, StmtId(index32(index)), &labels);
    }
    resolve_debug_names(module);
    resolver.diagnostics
}

struct Resolver {
    visible: Visible,
    diagnostics: Vec<Diagnostic>,
    next_decl: usize,
    /// The declarations of the last function header, for the scope that the function's body opens.
    parameters: std::ops::Range<usize>,
}

impl Resolver {
    fn statement(&mut self, module: &mut Module<'_>, stmt: StmtId, labels: &LabelsByScope) {
        let declared = self.take_decls(module, stmt);
        match module.kind(stmt) {
            StmtKind::Label => declared.for_each(|decl| self.pass(module, decl)),
            StmtKind::Open => {
                self.visible.open();
                for label in labels.of(module.stmts[stmt.index()].payload) {
                    self.hoist(module, label);
                }
                for decl in std::mem::take(&mut self.parameters) {
                    if module.decls[decl].kind != DeclKind::Function {
                        module.decls[decl].scope = ScopeId(module.stmts[stmt.index()].payload);
                        self.declare(module, decl);
                    }
                }
            }
            StmtKind::Close => self.visible.close(),
            StmtKind::Register => declared.for_each(|decl| self.declare(module, decl)),
            StmtKind::Variable => self.variable(module, stmt, declared),
            StmtKind::Entry | StmtKind::Function => {
                for decl in declared.clone() {
                    if module.decls[decl].kind == DeclKind::Function {
                        self.declare(module, decl);
                    }
                }
                self.parameters = declared;
            }
            StmtKind::BranchTargets => {
                declared.for_each(|decl| self.declare(module, decl));
                self.uses(module, stmt, Use::Label);
            }
            StmtKind::CallTargets | StmtKind::CallPrototype | StmtKind::Alias => {
                declared.for_each(|decl| self.declare(module, decl));
                self.uses(module, stmt, Use::Any);
            }
            StmtKind::Instruction => {
                let kind =
                    match module.spellings.row(crate::tree::SpellingId(module.stmts[stmt.index()].payload)) {
                        None => Use::Unchecked,
                        Some(row) if row.control == Control::Branch => Use::Label,
                        Some(_) => Use::Any,
                    };
                self.uses(module, stmt, kind);
            }
            StmtKind::Version
            | StmtKind::Target
            | StmtKind::AddressSize
            | StmtKind::LineMarker
            | StmtKind::DwarfLine
            | StmtKind::File
            | StmtKind::Section
            | StmtKind::Pragma
            | StmtKind::Loc
            | StmtKind::Unknown => {}
        }
    }

    /// The declarations of `stmt`: they are in the order of the text.
    fn take_decls(&mut self, module: &Module<'_>, stmt: StmtId) -> std::ops::Range<usize> {
        let start = self.next_decl;
        while module.decls.get(self.next_decl).is_some_and(|decl| decl.stmt == stmt) {
            self.next_decl += 1;
        }
        if matches!(module.kind(stmt), StmtKind::Entry | StmtKind::Function) {
            self.parameters = 0..0;
        }
        start..self.next_decl
    }

    /// A variable's initialiser may name what stands before it in the same statement.
    fn variable(&mut self, module: &mut Module<'_>, stmt: StmtId, declared: std::ops::Range<usize>) {
        let mut declared = declared.peekable();
        for node in module.node_range(stmt) {
            let Node { first, .. } = module.nodes[node as usize];
            if module.nodes[node as usize].kind() == NodeKind::Name {
                while let Some(decl) = declared.next_if(|&decl| module.decls[decl].name.0 < first) {
                    self.declare(module, decl);
                }
                self.name(module, node, Use::Any);
            }
        }
        declared.for_each(|decl| self.declare(module, decl));
    }

    fn uses(&mut self, module: &mut Module<'_>, stmt: StmtId, kind: Use) {
        let range = module.node_range(stmt);
        let guarded = kind != Use::Any && module.guard(stmt).is_some();
        for node in range.clone() {
            if module.nodes[node as usize].kind() == NodeKind::Name {
                let kind = if guarded && node == range.start { Use::Any } else { kind };
                self.name(module, node, kind);
            }
        }
    }

    fn name(&mut self, module: &mut Module<'_>, node: u32, kind: Use) {
        let token = TokenId(module.nodes[node as usize].first);
        let text = module.text;
        let parts = NameParts::new(&text[module.tokens.span(token)]);
        let found = match kind {
            Use::Label => self.visible.label(text, parts.base),
            Use::Any | Use::Unchecked => {
                self.visible.lookup(text, &parts).or_else(|| self.visible.label(text, parts.base))
            }
        };
        if let Some(decl) = found {
            module.nodes[node as usize].link = decl;
            if let Some(suffix) = parts.suffix.filter(|_| kind != Use::Unchecked) {
                self.check_suffix(module, token, &parts, suffix, decl);
            }
            return;
        }
        if parts.base == b"_"
            && module.nodes.get(node as usize + 1).is_some_and(|next| next.kind().is_guard())
        {
            self.diagnostics.push(
                Diagnostic::new(module.tokens.span(token), "`_` is no guard").label("expected a predicate"),
            );
            return;
        }
        if parts.base == b"_" || kind == Use::Unchecked || is_special_register(parts.base) {
            return;
        }
        // `bra` over a table of targets, `N<3>`, names no label itself.
        let family = module.nodes.get(node as usize + 2).is_some_and(|next| next.kind() == NodeKind::Family);
        if kind == Use::Label && family {
            return;
        }
        self.unresolved(module, token, &parts, kind);
    }

    fn unresolved(&mut self, module: &Module<'_>, token: TokenId, parts: &NameParts<'_>, kind: Use) {
        let name = String::from_utf8_lossy(parts.base).into_owned();
        let mut span = module.tokens.span(token);
        span.end = span.start + parts.base.len();
        let diagnostic = match kind {
            Use::Label => match self.visible.lookup(module.text, parts) {
                Some(other) => {
                    let Decl { kind, name: at, .. } = module.decls[other as usize];
                    Diagnostic::new(span, format!("`{name}` is a {}, not a label", kind.name()))
                        .label("expected a label")
                        .related(module.tokens.span(at), "declared here")
                }
                None => Diagnostic::new(span, format!("unknown label `{name}`"))
                    .label("expected a label of this scope or one around it"),
            },
            Use::Any | Use::Unchecked => {
                let found = Diagnostic::new(span, format!("unknown name `{name}`"))
                    .label("expected a name declared before this point");
                match self.too_small(module, parts) {
                    Some((at, size)) => {
                        found.related(at, format!("this family ends with number {}", i64::from(size) - 1))
                    }
                    None => found,
                }
            }
        };
        self.diagnostics.push(diagnostic);
    }

    /// Checks what follows the dot of a name: an element of a vector, or one selector of a scalar register, which the
    /// decoder of video instructions checks further.
    fn check_suffix(
        &mut self,
        module: &Module<'_>,
        token: TokenId,
        parts: &NameParts<'_>,
        suffix: &[u8],
        decl: u32,
    ) {
        let Decl { kind, lanes, .. } = module.decls[decl as usize];
        let span = module.tokens.span(token);
        let span = span.start + parts.base.len()..span.end;
        let shown = String::from_utf8_lossy(suffix);
        let element =
            [b"xyzw", b"rgba"].iter().find_map(|names| names.iter().position(|&name| [name] == *suffix));
        let message = match kind {
            DeclKind::Register
                if lanes > 1 && element.is_some_and(|element| element < usize::from(lanes)) =>
            {
                return;
            }
            DeclKind::Register if lanes > 1 => format!("a vector of {lanes} has no element `.{shown}`"),
            DeclKind::Register if suffix.contains(&b'.') => format!("`.{shown}` is more than one selector"),
            DeclKind::Register => return,
            DeclKind::Variable
            | DeclKind::Parameter
            | DeclKind::Function
            | DeclKind::Label
            | DeclKind::Table
            | DeclKind::SectionLabel => format!("a {} has no elements", kind.name()),
        };
        self.diagnostics
            .push(Diagnostic::new(span, message).label("expected the name alone, or an element of a vector"));
    }

    fn too_small(&self, module: &Module<'_>, parts: &NameParts<'_>) -> Option<(Span, u32)> {
        parts.index?;
        let active = self.visible.innermost_family(module.text, parts.prefix)?;
        Some((module.tokens.span(module.decls[active.decl as usize].name), active.size))
    }

    fn hoist(&mut self, module: &mut Module<'_>, decl: u32) {
        let span = module.tokens.span(module.decls[decl as usize].name);
        let name = self.visible.names.intern(module.text, span.clone());
        let below = self.visible.names.list[name as usize].label;
        if let Some(active) =
            self.visible.stack.get(below as usize).filter(|active| active.depth == self.visible.depth())
        {
            self.duplicate(module, decl as usize, active.decl);
        }
        self.visible.push(
            name,
            Slot::Label,
            Active { decl, depth: self.visible.depth(), ..Active::bottom(below) },
        );
    }

    fn pass(&mut self, module: &Module<'_>, decl: usize) {
        let name = self.visible.names.intern(module.text, module.tokens.span(module.decls[decl].name));
        let below = self.visible.names.list[name as usize].seen;
        self.visible.push(
            name,
            Slot::Seen,
            Active { decl: index32(decl), depth: self.visible.depth(), ..Active::bottom(below) },
        );
    }

    fn declare(&mut self, module: &mut Module<'_>, decl: usize) {
        let Decl { name: token, kind, family, .. } = module.decls[decl];
        let span = module.tokens.span(token);
        let parts = NameParts::new(&module.text[span.clone()]);
        if parts.base == b"_" {
            if kind != DeclKind::Parameter {
                let found = Diagnostic::new(span, format!("`_` cannot be the name of a {}", kind.name()));
                self.diagnostics.push(found.label("expected a name"));
            }
            return;
        }
        let depth = self.visible.depth();
        let name = self.visible.names.intern(module.text, span.clone());
        if let Some(size) = family {
            let below = self.visible.names.list[name as usize].family;
            if let Some(active) =
                self.visible.stack.get(below as usize).filter(|active| active.depth == depth)
            {
                self.duplicate(module, decl, active.decl);
            }
            let active = self.visible.family(index32(decl), depth, below, size);
            self.visible.push(name, Slot::Family, active);
            return;
        }
        let below = self.visible.names.list[name as usize].single;
        let label = self.visible.names.list[name as usize].label;
        for other in [below, label] {
            let Some(active) = self.visible.stack.get(other as usize).filter(|active| active.depth == depth)
            else {
                continue;
            };
            let other = module.decls[active.decl as usize];
            if depth == 1 && other.kind == kind && !is_definition(module, &other) {
                continue;
            }
            self.duplicate(module, decl, active.decl);
        }
        if let Some(index) = parts.index {
            let prefix = self.visible.names.intern(module.text, span.start..span.start + parts.prefix.len());
            self.visible.names.list[prefix as usize].has_numbered = true;
            let top = self.visible.names.list[prefix as usize].family;
            let canonical =
                parts.base.len() == parts.prefix.len() + 1 || parts.base[parts.prefix.len()] != b'0';
            let family = self.visible.stack.get(top as usize).filter(|f| f.depth == depth && f.size > index);
            if let Some(active) = family.filter(|_| canonical) {
                self.duplicate(module, decl, active.decl);
            }
        }
        self.visible.push(name, Slot::Single, Active { decl: index32(decl), depth, ..Active::bottom(below) });
    }

    fn duplicate(&mut self, module: &Module<'_>, decl: usize, first: u32) {
        let [new, old] = [&module.decls[decl], &module.decls[first as usize]];
        let span = module.tokens.span(new.name);
        let name = String::from_utf8_lossy(&module.text[span.clone()]).into_owned();
        self.diagnostics.push(
            Diagnostic::new(span, format!("`{name}` is declared twice in one scope"))
                .label(format!("expected a new name for this {}", new.kind.name()))
                .related(module.tokens.span(old.name), "first declared here"),
        );
    }
}

/// Whether a declaration of the module is a definition: prototypes and `.extern` variables may be declared several
/// times. Whether such declarations agree is not checked.
fn is_definition(module: &Module<'_>, decl: &Decl) -> bool {
    match decl.kind {
        DeclKind::Function => {
            let next = StmtId(decl.stmt.0 + 1);
            next.index() < module.stmts.len() && module.kind(next) == StmtKind::Open
        }
        DeclKind::Variable => !module.stmt_text(decl.stmt).starts_with(b".extern"),
        DeclKind::Register
        | DeclKind::Parameter
        | DeclKind::Label
        | DeclKind::Table
        | DeclKind::SectionLabel => true,
    }
}

/// How a name is used.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// As a label.
    Label,
    /// As anything else; it must be known.
    Any,
    /// By an unknown instruction: the name may be a keyword of that instruction.
    Unchecked,
}

/// The labels of each scope, in the order of the text.
struct LabelsByScope {
    starts: Vec<u32>,
    labels: Vec<u32>,
}

impl LabelsByScope {
    fn new(module: &Module<'_>) -> Self {
        let labels = module.decls.iter().enumerate().filter(|(_, decl)| decl.kind == DeclKind::Label);
        let scope_of: Vec<_> = labels.map(|(index, decl)| (decl.scope.0, index32(index))).collect();
        let mut starts = vec![0_u32; module.scopes.len() + 1];
        for &(scope, _) in &scope_of {
            starts[scope as usize + 1] += 1;
        }
        for scope in 1..starts.len() {
            starts[scope] += starts[scope - 1];
        }
        let mut next = starts.clone();
        let mut labels = vec![0; scope_of.len()];
        for (scope, label) in scope_of {
            labels[next[scope as usize] as usize] = label;
            next[scope as usize] += 1;
        }
        Self { starts, labels }
    }

    fn of(&self, scope: u32) -> impl Iterator<Item = u32> {
        let range = self.starts[scope as usize] as usize..self.starts[scope as usize + 1] as usize;
        self.labels[range].iter().copied()
    }
}

/// Debug sections and `.loc` may name labels anywhere in the module; unknown ones are legal.
fn resolve_debug_names(module: &mut Module<'_>) {
    let debug = |kind| matches!(kind, StmtKind::Section | StmtKind::Loc);
    if !module.stmts.iter().any(|stmt| debug(stmt.kind)) {
        return;
    }
    let mut names = Names::default();
    for (index, decl) in module.decls.iter().enumerate() {
        let named = matches!(
            decl.kind,
            DeclKind::Label | DeclKind::SectionLabel | DeclKind::Function | DeclKind::Variable
        );
        if named && decl.family.is_none() {
            let name = names.intern(module.text, module.tokens.span(decl.name));
            let name = &mut names.list[name as usize];
            name.single = if name.single == NONE { index32(index) } else { name.single };
        }
    }
    for index in 0..module.stmts.len() {
        if !debug(module.stmts[index].kind) {
            continue;
        }
        for node in module.node_range(StmtId(index32(index))) {
            let Node { first, .. } = module.nodes[node as usize];
            if module.nodes[node as usize].kind() == NodeKind::Name {
                let name = names.find(module.text, &module.text[module.tokens.span(TokenId(first))]);
                if let Some(name) = name {
                    module.nodes[node as usize].link = names.list[name as usize].single;
                }
            }
        }
    }
}
