//! What must hold of any input at all: the bodies of the fuzz targets, which tests run too.

use crate::invariants;
use arbitrary::{Arbitrary, Unstructured};
use ptxopt::render::{Colour, Renderer};
use ptxopt_grammar::MOST_DIAGNOSTICS;
use ptxopt_grammar::tree::{Module, StmtKind};

/// Arbitrary bytes: a lossless tree, or a few errors that can be shown.
pub(crate) fn bytes(text: &[u8]) {
    match ptxopt_grammar::parse(text) {
        Ok(module) => {
            invariants::check(&module).unwrap_or_else(|problem| panic!("{problem}"));
            ask_everything(&module);
        }
        Err(errors) => {
            assert!((1..=MOST_DIAGNOSTICS).contains(&errors.len()), "{} errors", errors.len());
            for error in &errors {
                assert!(error.span.start <= error.span.end && error.span.end <= text.len(), "{error:?}");
            }
            assert!(
                errors.is_sorted_by_key(|error| error.span.start),
                "errors come in the order of the text"
            );
            assert!(!Renderer::new(Colour::None).diagnostics("input", text, &errors).is_empty());
        }
    }
}

/// Every question that can be asked of a tree has an answer.
fn ask_everything(module: &Module<'_>) {
    assert!(module.warnings().len() <= MOST_DIAGNOSTICS);
    for stmt in module.stmts() {
        let roles = module.roles(stmt);
        assert!(module.kind(stmt) == StmtKind::Instruction || roles.is_empty());
        let _ = (module.effects(stmt), module.stmt_text(stmt));
        if let Some(Ok(instance)) = ptxopt_grammar::video::decode(module, stmt) {
            assert!(!instance.form.to_string().is_empty());
        }
    }
    for decl in module.decls() {
        let _ = (module.decl_name(decl), module.scope(module.decl_scope(decl)));
    }
}

/// Modules that are nearly legal: real ones with pieces left out, doubled, exchanged or replaced.
pub(crate) fn nearly_legal(u: &mut Unstructured<'_>) -> arbitrary::Result<()> {
    let source = u.choose(SOURCES)?;
    let mut pieces = pieces(source);
    for _ in 0..u.int_in_range(0..=12)? {
        let at = u.choose_index(pieces.len())?;
        let other = u.choose_index(pieces.len())?;
        match u.int_in_range(0..=5)? {
            0 => pieces[at] = b"",
            1 => pieces[at] = pieces[other],
            2 => pieces.swap(at, other),
            3 => pieces.insert(at, pieces[other]),
            4 => pieces[at] = u.choose(WORDS)?.as_bytes(),
            _ => pieces.insert(at, u.choose(WORDS)?.as_bytes()),
        }
    }
    let mut text = pieces.concat();
    if bool::arbitrary(u)? {
        let end = u.int_in_range(0..=text.len())?;
        text.truncate(end);
    }
    bytes(&text);
    Ok(())
}

/// Cuts a text into words and what is between them.
fn pieces(text: &[u8]) -> Vec<&[u8]> {
    let class = |byte: u8| match byte {
        b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | b'%' | b'.' => 1,
        b' ' | b'\t' | b'\n' | b'\r' => 2,
        punctuation => i32::from(punctuation) + 3,
    };
    text.chunk_by(|&a, &b| class(a) == class(b)).collect()
}

const SOURCES: &[&[u8]] = &[
    include_bytes!("../cases/readme.ptx"),
    include_bytes!("../cases/syntax/odd_but_accepted.ptx"),
    include_bytes!("../cases/syntax/scopes_shadowing.ptx"),
    include_bytes!("../cases/syntax/scopes_label_lookup.ptx"),
    include_bytes!("../cases/unknown/directive_of_the_module.ptx"),
    include_bytes!("../cases/unknown/form_of_an_unknown_opcode.ptx"),
    include_bytes!("../cases/video/selector_on_c.ptx"),
    include_bytes!("../cli/sad.ptx"),
];

const WORDS: &[&str] = &[
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    ";",
    ",",
    ":",
    "@",
    "!",
    "|",
    "+",
    "-",
    "?",
    "=",
    "\"",
    "/*",
    "*/",
    "//",
    "\n",
    "#",
    "# 1 \"f\"\n",
    "#line 1 \"f\"\n",
    "@@DWARF\n",
    "\0",
    "\u{e9}",
    "4294967296",
    "0x",
    "1.",
    "0f3f800000",
    "%r1",
    "%r01",
    "%r",
    "_",
    "L",
    ".reg .b32 %r<5>;",
    ".reg .b32 %r<4294967295>;",
    ".reg",
    ".b32",
    ".global",
    ".visible",
    ".entry",
    ".func",
    ".param",
    ".align 4",
    ".section",
    ".loc 1 2 3",
    ".pragma \"x\";",
    ".branchtargets",
    ".callprototype",
    "call",
    "bra",
    "vadd4.u32.u32.u32",
    "vset.u32.u32.lt",
    ".b3210",
    ".sat",
    "WARP_SZ",
    ".source_begin",
    "{ {",
    "L: L:",
];
