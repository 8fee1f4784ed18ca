//! Every legal module of the repository parses into a lossless tree.

#![expect(clippy::print_stdout, reason = "tests say how much they covered")]

#[path = "support/invariants.rs"]
mod invariants;
#[path = "support/modules.rs"]
mod support;

use ptxopt_grammar::diagnostic::position;
use ptxopt_grammar::tree::StmtKind;

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
