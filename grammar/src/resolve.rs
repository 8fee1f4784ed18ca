//! Resolves names by scope, in one walk over the statements.
//!
//! As the assembler does it: a declaration counts from its own point on, to the end of its scope; the innermost
//! one that has the name wins; a family whose size is too small for an index lets it fall through to the next one
//! outward. Labels count in the whole of their scope: a branch goes to a label of its own scope, else to the
//! innermost one around it that was already seen, else to the innermost one that is still to come. Nothing is linear in the nesting depth:
//! each name keeps a stack of its declarations, and the families on a stack are searched by jump pointers along
//! the chain of ever larger sizes (Myers, "An applicative random-access stack", 1983).

use crate::diagnostic::Diagnostic;
use crate::names::{Decl, DeclKind, NameParts, is_special_register};
use crate::table::Control;
use crate::tree::{Module, Node, NodeKind, ScopeId, Span, StmtId, StmtKind, TokenId};
use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

/// Resolves every name of `module`; what cannot be resolved is told.
pub(crate) fn resolve(module: &mut Module<'_>) -> Vec<Diagnostic> {
    let labels = LabelsByScope::new(module);
    let mut resolver = Resolver {
        names: Names::default(),
        stack: Vec::new(),
        opened: vec![0],
        undo: Vec::new(),
        diagnostics: Vec::new(),
        next_decl: 0,
        parameters: 0..0,
    };
    for label in labels.of(0) {
        resolver.hoist(module, label);
    }
    for index in 0..module.stmts.len() {
        if resolver.diagnostics.len() >= crate::parse::MOST_DIAGNOSTICS {
            break;
        }
        resolver.statement(module, StmtId(index as u32), &labels);
    }
    resolve_debug_names(module);
    resolver.diagnostics
}

const NONE: u32 = u32::MAX;

/// What one name can mean at the moment, each the top of a stack in [`Resolver::stack`].
#[derive(Clone, Copy)]
struct Name {
    start: u32,
    length: u32,
    single: u32,
    family: u32,
    /// Labels of the open scopes, those to come included.
    label: u32,
    /// Labels of the open scopes that were passed already.
    seen: u32,
    /// Whether a single name was ever declared that is this one and digits.
    has_numbered: bool,
}

#[derive(Default)]
struct Names {
    list: Vec<Name>,
    by_text: HashTable<u32>,
    hasher: DefaultHashBuilder,
    recent: Recent,
}

/// Names of at most eight bytes that were looked up lately: nearly all lookups are of a handful of prefixes.
struct Recent {
    /// The bytes of a name, none of which is zero, and its number.
    slots: [(u64, u32); Recent::SIZE],
}

impl Default for Recent {
    fn default() -> Self {
        Self { slots: [(0, 0); Self::SIZE] }
    }
}

impl Recent {
    const SIZE: usize = 256;

    fn key(name: &[u8]) -> Option<u64> {
        let fits = name.len() <= 8 && !name.is_empty();
        fits.then(|| name.iter().fold(0, |key, &byte| key << 8 | u64::from(byte)))
    }

    fn slot(key: u64) -> usize {
        // The golden ratio spreads keys that differ in few bits.
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize
    }
}

impl Name {
    fn span(&self) -> Span {
        self.start as usize..(self.start + self.length) as usize
    }
}

impl Names {
    /// As [`Self::find`], for names that are looked up over and over.
    fn find_often(&mut self, text: &[u8], name: &[u8]) -> Option<u32> {
        let Some(key) = Recent::key(name) else { return self.find(text, name) };
        let slot = Recent::slot(key);
        if self.recent.slots[slot].0 == key {
            return Some(self.recent.slots[slot].1);
        }
        let found = self.find(text, name)?;
        self.recent.slots[slot] = (key, found);
        Some(found)
    }

    fn find(&self, text: &[u8], name: &[u8]) -> Option<u32> {
        let hash = self.hasher.hash_one(name);
        self.by_text.find(hash, |&id| &text[self.list[id as usize].span()] == name).copied()
    }

    fn intern(&mut self, text: &[u8], span: Span) -> u32 {
        let Self { list, by_text, hasher, .. } = self;
        let name = &text[span.clone()];
        let found = by_text.entry(
            hasher.hash_one(name),
            |&id| &text[list[id as usize].span()] == name,
            |&id| hasher.hash_one(&text[list[id as usize].span()]),
        );
        match found {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(free) => {
                let id = list.len() as u32;
                free.insert(id);
                let (start, length) = (span.start as u32, span.len() as u32);
                list.push(Name {
                    start,
                    length,
                    single: NONE,
                    family: NONE,
                    label: NONE,
                    seen: NONE,
                    has_numbered: false,
                });
                id
            }
        }
    }
}

/// A declaration that is in force, on the stack of its name.
#[derive(Clone, Copy)]
struct Active {
    decl: u32,
    depth: u32,
    below: u32,
    /// For families: the size, the next one outward that is larger, and a jump along that chain.
    size: u32,
    larger: u32,
    jump: u32,
    height: u32,
}

#[derive(Clone, Copy)]
enum Slot {
    Single,
    Family,
    Label,
    Seen,
}

struct Resolver {
    names: Names,
    stack: Vec<Active>,
    /// Where in `undo` each open scope begins.
    opened: Vec<usize>,
    undo: Vec<(u32, Slot)>,
    diagnostics: Vec<Diagnostic>,
    next_decl: usize,
    /// The declarations of the function header at hand, for the scope that its body opens.
    parameters: std::ops::Range<usize>,
}

impl Resolver {
    fn statement(&mut self, module: &mut Module<'_>, stmt: StmtId, labels: &LabelsByScope) {
        let declared = self.take_decls(module, stmt);
        match module.kind(stmt) {
            StmtKind::Label => declared.for_each(|decl| self.pass(module, decl)),
            StmtKind::Open => {
                self.opened.push(self.undo.len());
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
            StmtKind::Close => self.close(),
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
            match module.nodes[node as usize].kind() {
                NodeKind::Name => {
                    while let Some(decl) = declared.next_if(|&decl| module.decls[decl].name.0 < first) {
                        self.declare(module, decl);
                    }
                    self.name(module, node, Use::Any);
                }
                _other => {}
            }
        }
        declared.for_each(|decl| self.declare(module, decl));
    }

    fn uses(&mut self, module: &mut Module<'_>, stmt: StmtId, kind: Use) {
        let range = module.node_range(stmt);
        let guarded = module.guard(stmt).is_some();
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
            Use::Label => self.label(text, parts.base),
            Use::Any | Use::Unchecked => self.lookup(text, &parts).or_else(|| self.label(text, parts.base)),
        };
        if let Some(decl) = found {
            module.nodes[node as usize].link = decl;
            if let Some(suffix) = parts.suffix.filter(|_| kind != Use::Unchecked) {
                self.check_suffix(module, token, &parts, suffix, decl);
            }
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
            Use::Label => match self.lookup(module.text, parts) {
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

    /// A vector's elements have names; what may follow another register is the video decoder's to say, but it is
    /// one word.
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
            other => format!("a {} has no elements", other.name()),
        };
        self.diagnostics
            .push(Diagnostic::new(span, message).label("expected the name alone, or an element of a vector"));
    }

    fn too_small(&self, module: &Module<'_>, parts: &NameParts<'_>) -> Option<(Span, u32)> {
        parts.index?;
        let name = self.names.find(module.text, parts.prefix)?;
        let active = self.stack.get(self.names.list[name as usize].family as usize)?;
        Some((module.tokens.span(module.decls[active.decl as usize].name), active.size))
    }

    fn label(&self, text: &[u8], base: &[u8]) -> Option<u32> {
        let name = &self.names.list[self.names.find(text, base)? as usize];
        let own = self.stack.get(name.label as usize).filter(|active| active.depth == self.depth());
        let seen = self.stack.get(name.seen as usize);
        own.or(seen).or_else(|| self.stack.get(name.label as usize)).map(|active| active.decl)
    }

    /// The innermost declaration that has the name.
    fn lookup(&mut self, text: &[u8], parts: &NameParts<'_>) -> Option<u32> {
        let mut family = None;
        if let Some(index) = parts.index {
            if let Some(prefix) = self.names.find_often(text, parts.prefix) {
                let name = &self.names.list[prefix as usize];
                family = self.stack.get(self.element(name.family, index) as usize);
                if !name.has_numbered {
                    return family.map(|active| active.decl);
                }
            } else {
                return None;
            }
        }
        let single = self.names.find(text, parts.base);
        let single = single.and_then(|name| self.stack.get(self.names.list[name as usize].single as usize));
        match (single, family) {
            (Some(single), Some(family)) if family.depth >= single.depth => Some(family.decl),
            (Some(single), _) => Some(single.decl),
            (None, family) => family.map(|active| active.decl),
        }
    }

    /// Where on the stack the innermost family from `top` outward is that has an element `index`.
    fn element(&self, top: u32, index: u32) -> u32 {
        let mut at = top;
        while let Some(active) = self.stack.get(at as usize).filter(|active| active.size <= index) {
            at = match self.stack.get(active.jump as usize) {
                // The outermost one jumps to itself.
                Some(jump) if jump.size <= index && active.larger != NONE => active.jump,
                Some(_) | None => active.larger,
            };
        }
        at
    }

    fn hoist(&mut self, module: &mut Module<'_>, decl: u32) {
        let span = module.tokens.span(module.decls[decl as usize].name);
        let name = self.names.intern(module.text, span.clone());
        let below = self.names.list[name as usize].label;
        if let Some(active) = self.stack.get(below as usize).filter(|active| active.depth == self.depth()) {
            self.duplicate(module, decl as usize, active.decl);
        }
        self.push(name, Slot::Label, Active { decl, depth: self.depth(), ..Active::bottom(below) });
    }

    fn pass(&mut self, module: &Module<'_>, decl: usize) {
        let name = self.names.intern(module.text, module.tokens.span(module.decls[decl].name));
        let below = self.names.list[name as usize].seen;
        self.push(
            name,
            Slot::Seen,
            Active { decl: decl as u32, depth: self.depth(), ..Active::bottom(below) },
        );
    }

    fn depth(&self) -> u32 {
        self.opened.len() as u32
    }

    fn declare(&mut self, module: &mut Module<'_>, decl: usize) {
        let Decl { name: token, kind, family, .. } = module.decls[decl];
        let span = module.tokens.span(token);
        let parts = NameParts::new(&module.text[span.clone()]);
        if parts.base == b"_" {
            return;
        }
        let depth = self.depth();
        let name = self.names.intern(module.text, span.clone());
        if let Some(size) = family {
            let below = self.names.list[name as usize].family;
            if let Some(active) = self.stack.get(below as usize).filter(|active| active.depth == depth) {
                self.duplicate(module, decl, active.decl);
            }
            let active = self.family(decl as u32, depth, below, size);
            self.push(name, Slot::Family, active);
            return;
        }
        let below = self.names.list[name as usize].single;
        let label = self.names.list[name as usize].label;
        for other in [below, label] {
            let Some(active) = self.stack.get(other as usize).filter(|active| active.depth == depth) else {
                continue;
            };
            let other = module.decls[active.decl as usize];
            if depth == 1 && other.kind == kind && !is_definition(module, &other) {
                continue;
            }
            self.duplicate(module, decl, active.decl);
        }
        if let Some(index) = parts.index {
            let prefix = self.names.intern(module.text, span.start..span.start + parts.prefix.len());
            self.names.list[prefix as usize].has_numbered = true;
            let top = self.names.list[prefix as usize].family;
            let canonical =
                parts.base.len() == parts.prefix.len() + 1 || parts.base[parts.prefix.len()] != b'0';
            let family = self.stack.get(top as usize).filter(|f| f.depth == depth && f.size > index);
            if let Some(active) = family.filter(|_| canonical) {
                self.duplicate(module, decl, active.decl);
            }
        }
        self.push(name, Slot::Single, Active { decl: decl as u32, depth, ..Active::bottom(below) });
    }

    fn family(&self, decl: u32, depth: u32, below: u32, size: u32) -> Active {
        let mut active = Active { decl, depth, size, ..Active::bottom(below) };
        // The next one outward that is larger is the innermost that has the element `size`.
        let at = self.element(below, size);
        let Some(larger) = self.stack.get(at as usize) else {
            active.jump = self.stack.len() as u32;
            return active;
        };
        let jump = self.stack[larger.jump as usize];
        let further = self.stack[jump.jump as usize];
        let balanced = larger.height - jump.height == jump.height - further.height;
        active.larger = at;
        active.height = larger.height + 1;
        active.jump = if balanced { jump.jump } else { at };
        active
    }

    fn push(&mut self, name: u32, slot: Slot, active: Active) {
        let top = self.stack.len() as u32;
        self.stack.push(active);
        *self.top(name, slot) = top;
        self.undo.push((name, slot));
    }

    fn top(&mut self, name: u32, slot: Slot) -> &mut u32 {
        let name = &mut self.names.list[name as usize];
        match slot {
            Slot::Single => &mut name.single,
            Slot::Family => &mut name.family,
            Slot::Label => &mut name.label,
            Slot::Seen => &mut name.seen,
        }
    }

    fn close(&mut self) {
        let keep = self.opened.pop().unwrap_or(0);
        while self.undo.len() > keep {
            let Some((name, slot)) = self.undo.pop() else { break };
            let Some(active) = self.stack.pop() else { break };
            *self.top(name, slot) = active.below;
        }
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

/// Whether a name of the module is defined there, not only announced: prototypes repeat, and so do variables that
/// are `.extern`. Whether repetitions agree is not looked at.
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

impl Active {
    fn bottom(below: u32) -> Self {
        Self { decl: NONE, depth: 0, below, size: 0, larger: NONE, jump: NONE, height: 1 }
    }
}

/// How a name is used.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// As a label.
    Label,
    /// As anything else; it must be known.
    Any,
    /// By an instruction nobody has heard of: it may be a keyword.
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
        let scope_of: Vec<_> = labels.map(|(index, decl)| (decl.scope.0, index as u32)).collect();
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

    fn of(&self, scope: u32) -> impl Iterator<Item = u32> + use<> {
        let range = self.starts[scope as usize] as usize..self.starts[scope as usize + 1] as usize;
        self.labels[range].to_vec().into_iter()
    }
}

/// Debug sections and `.loc` name labels anywhere in the module, before and after; unknown ones are legal.
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
            name.single = if name.single == NONE { index as u32 } else { name.single };
        }
    }
    for index in 0..module.stmts.len() {
        if !debug(module.stmts[index].kind) {
            continue;
        }
        for node in module.node_range(StmtId(index as u32)) {
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
