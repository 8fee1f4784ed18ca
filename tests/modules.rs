//! Every legal module of the repository parses into a lossless tree.

#![expect(clippy::print_stdout, reason = "tests say how much they covered")]

#[path = "support/invariants.rs"]
mod invariants;
#[path = "support/modules.rs"]
mod support;

use ptxopt_grammar::diagnostic::position;
use ptxopt_grammar::function::functions;
use ptxopt_grammar::tree::StmtKind;
use std::path::Path;

#[test]
fn every_module_is_lossless() {
    let mut bytes = 0;
    let modules = support::modules();
    for module in &modules {
        let tree = ptxopt_grammar::parse(&module.text).unwrap_or_else(|errors| {
            let error = &errors[0];
            let at = position(&module.text, error.span.start);
            panic!("{}:{}:{}: {}", module.name, at.line, at.column, error.message)
        });
        if let Err(problem) = invariants::check(&tree) {
            panic!("{}: {problem}", module.name);
        }
        bytes += module.text.len();
    }
    println!("{} modules, {bytes} bytes", modules.len());
}

#[test]
fn nothing_compilers_write_is_unknown() {
    for module in support::modules() {
        let tree = ptxopt_grammar::parse(&module.text).expect("the modules are legal");
        let compiled = module.name.starts_with("corpus");
        let warnings = tree.warnings();
        assert!(!compiled || warnings.is_empty(), "{}: {}", module.name, warnings[0].message);
        for stmt in tree.stmts() {
            let text = String::from_utf8_lossy(tree.stmt_text(stmt));
            assert!(!compiled || tree.kind(stmt) != StmtKind::Unknown, "{}: {text}", module.name);
            assert!(
                tree.opcode(stmt).is_none() || tree.row(stmt).is_some(),
                "{}: the table lacks {text}",
                module.name
            );
        }
    }
}

/// `cargo run --release --example fused -- --write` writes the page; a change of the idioms must not be forgotten there.
#[test]
fn the_page_about_what_is_fused_names_every_idiom() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page =
        std::fs::read_to_string(root.join("docs/fused.md")).expect("the page is part of the repository");
    let modules = support::below(&root.join("tests/corpus/idioms"));
    assert!(modules.len() > 40, "idioms are missing: found {}", modules.len());
    for module in modules {
        let tree = ptxopt_grammar::parse(&module.text).expect("the modules are legal");
        for function in functions(&tree) {
            assert!(page.contains(&format!("| `{}` |", function.name)), "{}: {}", module.name, function.name);
        }
    }
}
