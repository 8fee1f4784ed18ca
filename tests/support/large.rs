//! Large modules: real ones, joined, over and over, every function under a new name each time.

use crate::modules::modules;
use ptxopt_grammar::edit::Edits;
use ptxopt_grammar::tree::{Module, ScopeId, StmtKind};

/// A legal module of at least `bytes` bytes.
pub(crate) fn large_module(bytes: usize) -> Vec<u8> {
    let sources: Vec<Vec<u8>> =
        modules().into_iter().filter(|m| m.name.contains("nvrtc")).map(|m| m.text).collect();
    let trees: Vec<Module<'_>> = sources
        .iter()
        .map(|text| ptxopt_grammar::parse(text).expect("the modules are legal"))
        .filter(|tree| {
            tree.stmts().all(|stmt| !matches!(tree.kind(stmt), StmtKind::Section | StmtKind::File))
        })
        .collect();
    let mut text = b".version 9.5\n.target sm_90\n.address_size 64\n".to_vec();
    for copy in 0.. {
        for tree in &trees {
            append(&mut text, tree, copy);
            if text.len() >= bytes {
                return text;
            }
        }
    }
    text
}

/// The module without its head, with the names that it shows to others made unique.
fn append(text: &mut Vec<u8>, tree: &Module<'_>, copy: usize) {
    let mut edits = Edits::new();
    let number = text.len();
    for stmt in tree.stmts() {
        if matches!(tree.kind(stmt), StmtKind::Version | StmtKind::Target | StmtKind::AddressSize) {
            edits.replace(tree.stmt_span(stmt), "");
        }
        for node in tree.stmt_nodes(stmt) {
            let shown = tree.decl_of(node).is_some_and(|decl| tree.decl_scope(decl) == ScopeId::MODULE);
            if shown {
                let end = tree.node_span(node).end;
                edits.replace(end..end, format!("_{copy}_{number}"));
            }
        }
    }
    let edited = edits.apply(tree.text()).expect("every name is a token of its own");
    edited.slices().for_each(|slice| text.extend_from_slice(slice));
    text.push(b'\n');
}
