//! What two functions must have in common before what they compute can be compared: their parameters and variables.
//!
//! Loads are unknowns by the names of parameters and variables, so a name must mean the same on both sides: a
//! parameter of the same type at the same place, a variable of the same type, size and first value. Declarations are
//! compared as they are written; what is written otherwise is not taken for the same.

use crate::graph::Function;
use ptxopt_grammar::names::{Decl, DeclKind};
use ptxopt_grammar::tree::{Module, NodeKind, StmtId};
use std::collections::BTreeMap;

/// Why nothing can be said of two functions; `None` if what surrounds them is the same.
#[must_use]
pub fn difference(before: (&Module<'_>, &Function), after: (&Module<'_>, &Function)) -> Option<String> {
    for (what, returned) in [("return value", true), ("parameter", false)] {
        let [old, new] = [before, after].map(|(module, function)| parameters(module, function, returned));
        for at in 0..old.len().max(new.len()) {
            let shown =
                |one: Option<&String>| one.map_or_else(|| "none".to_owned(), |one| format!("`{one}`"));
            let (old, new) = (old.get(at), new.get(at));
            if old != new {
                let (old, new) = (shown(old), shown(new));
                return Some(format!("{what} {at} is {old} in the first file, {new} in the second"));
            }
        }
    }
    let [old, new] = [before, after].map(|(module, function)| variables(module, function));
    let other = old.keys().find(|name| new.get(*name).is_some_and(|text| *text != old[*name]))?;
    Some(format!("`{other}` is `{}` in the first file, `{}` in the second", old[other], new[other]))
}

fn words(text: &[u8]) -> String {
    String::from_utf8_lossy(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The parameters of a function, or those that it returns: space, type and size, and the names of those in memory.
fn parameters(module: &Module<'_>, function: &Function, returned: bool) -> Vec<String> {
    let all: Vec<&Decl> =
        module.decls().map(|id| module.decl(id)).filter(|decl| decl.stmt == function.head).collect();
    let own = all.iter().find(|decl| decl.kind == DeclKind::Function).map(|decl| decl.name);
    let text = |decl: &&Decl| {
        let vector = if decl.lanes > 1 { format!(".v{} ", decl.lanes) } else { String::new() };
        let end = |from: usize| {
            let ends = |byte| b",)".contains(byte);
            from + module.text()[from..].iter().position(ends).unwrap_or_default()
        };
        let name = module.tokens().span(decl.name);
        let (space, rest) = match decl.kind {
            DeclKind::Register => (".reg", name.end..end(name.end)),
            DeclKind::Parameter => (".param", name.start..end(name.end)),
            DeclKind::Function
            | DeclKind::Variable
            | DeclKind::Label
            | DeclKind::Table
            | DeclKind::SectionLabel => return None,
        };
        let rest = words(&module.text()[rest]);
        Some(format!("{space} {vector}{} {rest}", decl.ty.word()).trim_end().to_owned())
    };
    all.iter().filter(|decl| (Some(decl.name) < own) == returned).filter_map(text).collect()
}

/// The variables that a function names, each with its declaration.
fn variables(module: &Module<'_>, function: &Function) -> BTreeMap<String, String> {
    let nodes = function.body.clone().filter_map(StmtId::new).flat_map(|stmt| module.stmt_nodes(stmt));
    nodes
        .filter(|&node| module.node_kind(node) == NodeKind::Name)
        .filter_map(|node| module.decl_of(node))
        .filter(|&decl| module.decl(decl).kind == DeclKind::Variable)
        .map(|decl| (words(module.decl_name(decl)), words(module.stmt_text(module.decl(decl).stmt))))
        .collect()
}
