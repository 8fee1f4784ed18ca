//! Renaming every register, label and local name through the tree keeps the machine code.
//!
//! A name that the resolver ties to the wrong declaration, or a use that it misses, changes what the assembler
//! makes or is rejected by it.

use crate::jobs::each;
use crate::modules::{TestModule, modules};
use crate::ptxas::{Assemblers, target};
use ptxopt_grammar::edit::Edits;
use ptxopt_grammar::names::{DeclKind, NameParts};
use ptxopt_grammar::tree::{DeclId, Module, NodeId, NodeKind, ScopeId, StmtKind};
use std::collections::HashSet;

#[test]
fn renamed_modules_assemble_to_the_same_code() {
    let Some(assemblers) = Assemblers::find() else { return };
    let modules = modules();
    let (mut names, mut code, mut wrong) = (0, 0, Vec::new());
    for (module, found) in modules.iter().zip(each(&modules, |module| same_code(&assemblers, module))) {
        match found {
            Ok((renamed, bytes)) => {
                names += renamed;
                code += bytes;
            }
            Err(problem) => wrong.push(format!("{}: {problem}", module.name)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("{} modules, {} names renamed, {} bytes of machine code the same", modules.len(), names, code);
}

/// How many names were renamed, and how much machine code was compared.
fn same_code(assemblers: &Assemblers, module: &TestModule) -> Result<(usize, usize), String> {
    let tree = ptxopt_grammar::parse(&module.text).map_err(|errors| errors[0].message.clone())?;
    let (renamed, names) = rename(&tree);
    let target = target(&module.text);
    let before = assemblers.assemble(&module.text, &target)?;
    let after = assemblers.assemble(&renamed, &target).map_err(|said| format!("renamed: {said}"))?;
    if before != after {
        return Err("the machine code differs".to_owned());
    }
    Ok((names, before.len()))
}

/// The text with every local name replaced by a new one, and how many declarations that were.
fn rename(tree: &Module<'_>) -> (Vec<u8>, usize) {
    let kept = kept(tree);
    // The code of a module for debuggers depends on the spelling of its registers: renaming one by hand changes it.
    let debug = tree
        .stmts()
        .any(|stmt| tree.kind(stmt) == StmtKind::Target && tree.stmt_text(stmt).ends_with(b"debug"));
    let fresh = fresh_stem(tree.text());
    let mut renamed = HashSet::new();
    let mut edits = Edits::new();
    for stmt in tree.stmts() {
        for node in tree.stmt_nodes(stmt) {
            let Some(decl) = tree.decl_of(node).filter(|decl| is_local(tree, *decl) && !kept.contains(decl))
            else {
                continue;
            };
            if debug && tree.decl(decl).kind == DeclKind::Register {
                continue;
            }
            renamed.insert(decl);
            let parts = NameParts::new(tree.node_text(node));
            let span = tree.node_span(node);
            let stem = if tree.decl(decl).family.is_some() && tree.node_kind(node) == NodeKind::Name {
                parts.prefix.len()
            } else {
                parts.base.len()
            };
            edits.replace(span.start..span.start + stem, new_name(decl, &fresh, parts.base));
        }
    }
    let text = edits.apply(tree.text()).expect("every name is a token of its own").to_vec();
    (text, renamed.len())
}

/// It ends in no digit, for the elements of families, and begins as before, for it may follow a type without a blank.
fn new_name(decl: DeclId, stem: &str, base: &[u8]) -> String {
    let sigil = if base.starts_with(b"%") { "%" } else { "" };
    format!("{sigil}{stem}{}_", decl.index())
}

/// Letters that occur nowhere in the text. They are few: the assemblers up to 12.9 crash on long names of
/// registers in large functions.
fn fresh_stem(text: &[u8]) -> String {
    let mut stem = "z".to_owned();
    while text.windows(stem.len()).any(|window| window == stem.as_bytes()) {
        stem.push('z');
    }
    stem
}

/// Names that the module does not show to others: all but functions, their prototypes' parameters and variables of
/// the module.
fn is_local(tree: &Module<'_>, decl: DeclId) -> bool {
    let found = tree.decl(decl);
    match found.kind {
        DeclKind::Function => false,
        DeclKind::Register | DeclKind::Label | DeclKind::Table | DeclKind::SectionLabel => true,
        DeclKind::Parameter => true,
        DeclKind::Variable => tree.decl_scope(decl) != ScopeId::MODULE,
    }
}

/// Labels that a list of targets names by a family, `N<3>`: their numbers mean something.
fn kept(tree: &Module<'_>) -> HashSet<DeclId> {
    let mut prefixes = HashSet::new();
    for stmt in tree.stmts().filter(|&stmt| tree.kind(stmt) == StmtKind::BranchTargets) {
        let nodes: Vec<NodeId> = tree.stmt_nodes(stmt).collect();
        for window in nodes.windows(3) {
            if tree.node_kind(window[2]) == NodeKind::Family {
                prefixes.insert(tree.node_text(window[0]));
            }
        }
    }
    let in_family = |decl: &DeclId| {
        let parts = NameParts::new(tree.decl_name(*decl));
        tree.decl(*decl).kind == DeclKind::Label && parts.index.is_some() && prefixes.contains(parts.prefix)
    };
    tree.decls().filter(in_family).collect()
}
