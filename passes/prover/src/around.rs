//! What two functions must have in common before what they compute can be compared: how they are launched, their
//! parameters, and what they name.
//!
//! Loads, calls and addresses are unknowns by the names of parameters, variables and functions, so a name must mean
//! the same on both sides: a parameter of the same type at the same place, a variable of the same type, size and
//! first value, a function of the same head. What a declaration names counts as well. What decides how a text is run
//! must be the same too: the target, or a later one that means the same, the size of addresses, the function's linkage,
//! its launch directives; and of a version what changed the meaning of older texts. Declarations are compared token by token as they are written;
//! what is written otherwise is not taken for the same.

use super::fragment::line;
use ptxopt_grammar::function::Function;
use ptxopt_grammar::head::{Head, hindrance, target};
use ptxopt_grammar::names::{Decl, DeclKind};
use ptxopt_grammar::token::Tok;
use ptxopt_grammar::tree::{DeclId, Module, NodeKind, StmtId, StmtKind, TokenId};
use std::collections::{BTreeMap, BTreeSet};

/// A function, and the module that it is in.
pub(crate) type InModule<'s, 'm, 't> = (&'m Module<'t>, &'s Function);

/// Why nothing can be said of two functions; `None` if what surrounds them is the same.
#[must_use]
pub fn difference(before: InModule<'_, '_, '_>, after: InModule<'_, '_, '_>) -> Option<String> {
    header(before.0, after.0)
        .or_else(|| launch(before, after))
        .or_else(|| given(before, after))
        .or_else(|| named(before, after))
        .or_else(|| shared(before, after))
}

/// Whether the heads and the bodies of two functions have the same tokens, debug directives left out. In the same
/// surroundings they then do the same, whatever it is.
#[must_use]
pub fn same_text(before: InModule<'_, '_, '_>, after: InModule<'_, '_, '_>) -> bool {
    let [mut old, mut new] = [before, after].map(|(module, function)| {
        let stmts = std::iter::once(function.head).chain(function.body.clone().filter_map(StmtId::new));
        let counts = |&stmt: &StmtId| match module.kind(stmt) {
            StmtKind::Loc
            | StmtKind::LineMarker
            | StmtKind::DwarfLine
            | StmtKind::File
            | StmtKind::Section => false,
            StmtKind::Version
            | StmtKind::Target
            | StmtKind::AddressSize
            | StmtKind::Pragma
            | StmtKind::Alias
            | StmtKind::Variable
            | StmtKind::Register
            | StmtKind::Entry
            | StmtKind::Function
            | StmtKind::Open
            | StmtKind::Close
            | StmtKind::Label
            | StmtKind::Instruction
            | StmtKind::BranchTargets
            | StmtKind::CallTargets
            | StmtKind::CallPrototype
            | StmtKind::Unknown => true,
        };
        stmts.filter(counts).flat_map(move |stmt| tokens(module, stmt).map(|(_, text)| text))
    });
    old.by_ref().eq(new.by_ref())
}

/// The tokens of a statement, each with its text.
fn tokens<'m>(module: &'m Module<'_>, stmt: StmtId) -> impl Iterator<Item = (TokenId, &'m [u8])> {
    let ids = module.stmt_tokens(stmt).filter_map(|token| TokenId::new(token as usize));
    let ids = ids.filter(|&token| module.tokens().kind(token) != Tok::LineMarker);
    ids.map(|token| (token, &module.text()[module.tokens().span(token)]))
}

fn joined<'a>(texts: impl Iterator<Item = &'a [u8]>) -> String {
    texts.map(|text| String::from_utf8_lossy(text)).collect::<Vec<_>>().join(" ")
}

fn shown(text: Option<&String>) -> String {
    text.map_or_else(|| "none".to_owned(), |text| format!("`{text}`"))
}

fn two(what: &str, old: Option<&String>, new: Option<&String>) -> Option<String> {
    let differs = || {
        let (old, new) = (shown(old), shown(new));
        format!("{what} differs: {old} in the first file, {new} in the second")
    };
    (old != new).then(differs)
}

/// From this version on, newer ones only added to what there was: texts of older ones may change their meaning with
/// their version, as the memory model did.
const SETTLED: (u32, u32) = (6, 0);

/// A difference between the heads of two modules.
fn header(before: &Module<'_>, after: &Module<'_>) -> Option<String> {
    let text = |module: &Module<'_>, kind: StmtKind| {
        let stmt = module.stmts().find(|&stmt| module.kind(stmt) == kind)?;
        Some(joined(tokens(module, stmt).map(|(_, text)| text)))
    };
    let raised = raised(before, after);
    for (what, kind) in [("`.target`", StmtKind::Target), ("`.address_size`", StmtKind::AddressSize)] {
        let [old, new] = [before, after].map(|module| text(module, kind));
        let found = two(what, old.as_ref(), new.as_ref());
        if found.is_some() && !(raised.is_some() && kind == StmtKind::Target) {
            return found;
        }
    }
    for (what, kind) in [
        ("the list of `.alias` directives", StmtKind::Alias),
        ("the list of `.pragma` directives of the module", StmtKind::Pragma),
    ] {
        let [old, new] = [before, after].map(|module| outermost(module, kind));
        if let Some(found) = two(what, Some(&old), Some(&new)) {
            return Some(found);
        }
    }
    let [old, new] = [before, after].map(|module| text(module, StmtKind::Version));
    let settled = |text: &Option<String>| {
        let number = text.as_ref()?.split_whitespace().next_back()?;
        let (major, minor) = number.split_once('.')?;
        Some((major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?) >= SETTLED)
    };
    if raised.is_some() || settled(&old) == Some(true) && settled(&new) == Some(true) {
        return None;
    }
    two("`.version`", old.as_ref(), new.as_ref())
}

/// The text of the statements of a kind that are in no function.
fn outermost(module: &Module<'_>, kind: StmtKind) -> String {
    let mut depth = 0_usize;
    let is_outermost = |&stmt: &StmtId| {
        let found = module.kind(stmt);
        depth += usize::from(found == StmtKind::Open);
        depth -= usize::from(found == StmtKind::Close && depth > 0);
        depth == 0 && found == kind
    };
    let all = module.stmts().filter(is_outermost);
    joined(all.flat_map(|stmt| tokens(module, stmt).map(|(_, text)| text)))
}

/// The heads of two modules, if that of the second has a later target, which the first module may have as well, and
/// nothing else is another one. The same instructions then mean the same.
#[must_use]
pub fn raised(before: &Module<'_>, after: &Module<'_>) -> Option<(Head, Head)> {
    let (old, new) = (Head::of(before)?, Head::of(after)?);
    let options = |module: &Module<'_>| {
        let (stmt, gpu) = target(module)?;
        let words = module.stmt_nodes(stmt).filter(|&node| node != gpu);
        Some(words.map(|node| module.node_text(node).to_vec()).collect::<Vec<_>>())
    };
    let later = old.gpu != new.gpu && new.gpu.runs(old.gpu) && new.ptx >= old.ptx;
    let same = options(before).is_some_and(|options_before| Some(options_before) == options(after));
    (later && same && hindrance(before, old, new).is_none()).then_some((old, new))
}

/// A difference between the heads of two functions, parameters left out: linking and launch directives.
fn launch(before: InModule<'_, '_, '_>, after: InModule<'_, '_, '_>) -> Option<String> {
    let heads = [before, after].map(|(module, function)| {
        let stmt = function.head;
        let own = own(module, function).map(|decl| module.decl(decl).name);
        let (mut parts, mut depth, mut closed) = ([Vec::new(), Vec::new()], 0_usize, false);
        let mut in_attribute = false;
        for (token, text) in tokens(module, stmt) {
            in_attribute |= module.tokens().kind(token) == Tok::Attribute;
            if in_attribute {
                parts[usize::from(closed)].push(text);
            }
            match text {
                b"(" => depth += 1,
                b")" => {
                    depth = depth.saturating_sub(1);
                    in_attribute &= depth > 0;
                }
                // The parameters of the function itself and of what it returns are compared on their own.
                _ if depth > 0 || in_attribute => {}
                _ if Some(token) == own => closed = true,
                _ => parts[usize::from(closed)].push(text),
            }
        }
        parts.map(|part| joined(part.into_iter()))
    });
    let [[old_linking, old_launch], [new_linking, new_launch]] = &heads;
    two("what it is declared as", Some(old_linking), Some(new_linking))
        .or_else(|| two("how it is launched", Some(old_launch), Some(new_launch)))
}

fn own(module: &Module<'_>, function: &Function) -> Option<DeclId> {
    let declared = |&decl: &DeclId| {
        module.decl(decl).stmt == function.head && module.decl(decl).kind == DeclKind::Function
    };
    module.decls().find(declared)
}

/// A difference between the parameters of two functions, or between what they return.
fn given(before: InModule<'_, '_, '_>, after: InModule<'_, '_, '_>) -> Option<String> {
    for (what, returned) in [("return value", true), ("parameter", false)] {
        let [old, new] = [before, after].map(|(module, function)| parameters(module, function, returned));
        for at in 0..old.len().max(new.len()) {
            let (old, new) = (old.get(at), new.get(at));
            if old != new {
                let (old, new) = (shown(old), shown(new));
                return Some(format!("{what} {at} is {old} in the first file, {new} in the second"));
            }
        }
    }
    None
}

/// The parameters of a function, or those that it returns: space, type and size, and the names of those in memory.
fn parameters(module: &Module<'_>, function: &Function, returned: bool) -> Vec<String> {
    let all: Vec<&Decl> =
        module.decls().map(|id| module.decl(id)).filter(|decl| decl.stmt == function.head).collect();
    let own = all.iter().find(|decl| decl.kind == DeclKind::Function).map(|decl| decl.name);
    // From the last comma or bracket before the name to the next one after it.
    let text = |decl: &&Decl| {
        let register = match decl.kind {
            DeclKind::Register => true,
            DeclKind::Parameter => false,
            DeclKind::Function
            | DeclKind::Variable
            | DeclKind::Label
            | DeclKind::Table
            | DeclKind::SectionLabel => return None,
        };
        let mut words: Vec<&[u8]> = Vec::new();
        for (token, text) in tokens(module, function.head) {
            match text {
                b"," | b"(" | b")" if token > decl.name => break,
                b"," | b"(" | b")" => words.clear(),
                _ if token == decl.name && register => {}
                _ => words.push(text),
            }
        }
        Some(joined(words.into_iter()))
    };
    all.iter().filter(|decl| (Some(decl.name) < own) == returned).filter_map(text).collect()
}

/// A difference between what two functions name: variables, functions, prototypes, and what these name.
fn named(before: InModule<'_, '_, '_>, after: InModule<'_, '_, '_>) -> Option<String> {
    let [old, new] = [before, after].map(|(module, function)| declarations(module, function));
    let differs = |name: &&(usize, String)| new.get(*name).is_some_and(|new| new.text != old[*name].text);
    let name = old.keys().find(differs)?;
    Some(format!("`{}` {}", name.1, declared(&old[name], &new[name])))
}

/// How two declarations differ.
fn declared(old: &Declared, new: &Declared) -> String {
    if old.shown.len() + new.shown.len() < 160 && old.shown != new.shown {
        format!("is `{}` in the first file, `{}` in the second", old.shown, new.shown)
    } else {
        format!("differs: line {} of the first file, line {} of the second", old.line, new.line)
    }
}

/// A declaration.
struct Declared {
    line: usize,
    text: String,
    /// The text as it is shown.
    shown: String,
}

impl Declared {
    fn new(module: &Module<'_>, stmt: StmtId) -> Self {
        let shown = String::from_utf8_lossy(module.stmt_text(stmt));
        Self {
            line: line(module, stmt),
            text: joined(tokens(module, stmt).map(|(_, text)| text)),
            shown: shown.split_whitespace().collect::<Vec<_>>().join(" "),
        }
    }
}

/// The declarations that a function names, by the number of their scope and their name.
fn declarations(module: &Module<'_>, function: &Function) -> BTreeMap<(usize, String), Declared> {
    let mut seen: BTreeSet<DeclId> = BTreeSet::new();
    let mut work: Vec<StmtId> = function.body.clone().filter_map(StmtId::new).collect();
    // Scopes are counted, since statements may have gone: 0 is the module, 1 the function's own.
    let opens = (function.body.start - 1..function.body.end).filter_map(StmtId::new);
    let opens: BTreeMap<StmtId, usize> =
        opens.filter(|&stmt| module.kind(stmt) == StmtKind::Open).zip(1..).collect();
    let scope = |decl: DeclId| {
        let open = module.scope(module.decl_scope(decl)).open;
        open.and_then(|open| opens.get(&open)).copied().unwrap_or(0)
    };
    let mut found = BTreeMap::new();
    while let Some(stmt) = work.pop() {
        for node in module.stmt_nodes(stmt).filter(|&node| module.node_kind(node) == NodeKind::Name) {
            let Some(decl) = module.decl_of(node).filter(|&decl| counts(module, decl)) else { continue };
            if !seen.insert(decl) {
                continue;
            }
            let declared = module.decl(decl).stmt;
            let name = String::from_utf8_lossy(module.decl_name(decl)).into_owned();
            found.insert((scope(decl), name), Declared::new(module, declared));
            work.push(declared);
        }
    }
    found
}

/// The special registers that depend on all shared variables of a module, used or not.
const SHARED_SIZES: [&[u8]; 2] = [b"%total_smem_size", b"%aggr_smem_size"];

/// A difference between the shared variables of two modules, if either function can see how large they are together.
fn shared(before: InModule<'_, '_, '_>, after: InModule<'_, '_, '_>) -> Option<String> {
    let sees = |(module, function): InModule<'_, '_, '_>| {
        let body = function.body.clone().filter_map(StmtId::new);
        let mut names = body.flat_map(|stmt| module.stmt_nodes(stmt));
        names.any(|node| SHARED_SIZES.contains(&module.node_text(node)))
    };
    if !sees(before) && !sees(after) {
        return None;
    }
    let [old, new] = [before, after].map(|(module, _)| {
        let all = module.stmts().filter(|&stmt| module.kind(stmt) == StmtKind::Variable);
        let texts = all.map(|stmt| joined(tokens(module, stmt).map(|(_, text)| text)));
        texts.filter(|text| text.contains(".shared")).collect::<Vec<_>>().join(" ")
    });
    two("the shared memory, whose size is read,", Some(&old), Some(&new))
}

/// What two modules do not have alike besides functions: variables that the host or other modules can see, whether a
/// function names them or not, each with how it differs.
#[must_use]
pub fn variables(before: &Module<'_>, after: &Module<'_>) -> Vec<(String, String)> {
    let [old, new] = [before, after].map(lasting);
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let differs = |name: &String| {
        let why = match (old.get(name), new.get(name)) {
            (Some(_), None) => "the second file does not have it".to_owned(),
            (None, Some(_)) => "the first file does not have it".to_owned(),
            (Some(old), Some(new)) if old.text != new.text => declared(old, new),
            (_, _) => return None,
        };
        Some((name.clone(), why))
    };
    names.into_iter().filter_map(differs).collect()
}

/// The variables of a module that last longer than a block of threads, by their names.
fn lasting(module: &Module<'_>) -> BTreeMap<String, Declared> {
    let is_lasting = |&decl: &DeclId| {
        let declared = module.decl(decl);
        let is_outermost = module.scope(module.decl_scope(decl)).open.is_none();
        let mut words = tokens(module, declared.stmt).take_while(|&(token, _)| token < declared.name);
        declared.kind == DeclKind::Variable
            && is_outermost
            && module.kind(declared.stmt) == StmtKind::Variable
            && !words.any(|(_, text)| text == b".shared" || text == b".local")
    };
    let mut found: BTreeMap<String, Declared> = BTreeMap::new();
    for decl in module.decls().filter(is_lasting) {
        let name = String::from_utf8_lossy(module.decl_name(decl)).into_owned();
        let new = Declared::new(module, module.decl(decl).stmt);
        // A variable may be declared before it is defined.
        match found.get_mut(&name) {
            Some(known) => known.text.push_str(&new.text),
            None => drop(found.insert(name, new)),
        }
    }
    found
}

/// Whether a declaration says what a name means outside the function's own code.
fn counts(module: &Module<'_>, decl: DeclId) -> bool {
    let declared = module.decl(decl);
    match declared.kind {
        DeclKind::Variable | DeclKind::Function => true,
        DeclKind::Table => module.kind(declared.stmt) != StmtKind::BranchTargets,
        DeclKind::Parameter => module.kind(declared.stmt) == StmtKind::Variable,
        DeclKind::Register | DeclKind::Label | DeclKind::SectionLabel => false,
    }
}
