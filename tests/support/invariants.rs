//! What holds of every tree: it is lossless, and every byte that says something is in exactly one leaf.
//!
//! The gaps between leaves are checked by a scanner of its own for blanks and comments, not by the lexer.

use ptxopt_grammar::edit::Edits;
use ptxopt_grammar::token::Tok;
use ptxopt_grammar::tree::Module;
use std::collections::HashSet;

/// Checks a tree against its text; `Err` says what is wrong.
pub(crate) fn check(module: &Module<'_>) -> Result<(), String> {
    let text = module.text();
    let mut end = 0;
    let mut nodes = HashSet::new();
    let mut tokens = 0;
    for leaf in module.leaves() {
        let span = module.tokens().span(leaf.token);
        if span.start < end || span.is_empty() {
            return Err(format!("two leaves share byte {}", span.start));
        }
        blank(&text[end..span.start]).map_err(|at| format!("byte {} is in no leaf", end + at))?;
        let in_node = leaf.node.is_some();
        if in_node && !nodes.insert(leaf.node) {
            return Err(format!("the leaf at byte {} is there twice", span.start));
        }
        let names = matches!(module.tokens().kind(leaf.token), Tok::Dotted | Tok::Str | Tok::Float);
        let opcode = module.opcode(leaf.stmt).is_some_and(|(_, token)| token == leaf.token);
        let plain = !matches!(module.kind(leaf.stmt), ptxopt_grammar::tree::StmtKind::Unknown);
        if names && !in_node && !opcode && plain && !inside_constant(module, &leaf) {
            return Err(format!("the word at byte {} is in no node", span.start));
        }
        end = span.end;
        tokens += 1;
    }
    let rest = text[end..].iter().rposition(|&byte| byte != 0).map_or(end, |last| end + last + 1);
    blank(&text[end..rest]).map_err(|at| format!("byte {} is in no leaf", end + at))?;
    if tokens != module.tokens().len() {
        return Err(format!("{tokens} leaves, but {} tokens", module.tokens().len()));
    }
    let leaf_nodes = module.stmts().flat_map(|stmt| module.stmt_nodes(stmt));
    if leaf_nodes.filter(|&node| module.node_kind(node).is_leaf()).count() != nodes.len() {
        return Err("a leaf node has no token of its own".to_owned());
    }
    let printed = Edits::new().apply(text).map_err(|conflict| conflict.to_string())?.to_vec();
    if printed != text { Err("the text is not written back as it was".to_owned()) } else { Ok(()) }
}

/// Literals inside constant expressions and initialisers belong to them.
fn inside_constant(module: &Module<'_>, leaf: &ptxopt_grammar::tree::Leaf) -> bool {
    use ptxopt_grammar::tree::NodeKind;
    module.stmt_nodes(leaf.stmt).any(|node| {
        matches!(module.node_kind(node), NodeKind::Constant | NodeKind::Initialiser)
            && module.node_tokens(node).any(|token| token as usize == leaf.token.index())
    })
}

/// The first byte of `gap` that is neither blank nor comment.
fn blank(gap: &[u8]) -> Result<(), usize> {
    let mut at = 0;
    while at < gap.len() {
        let rest = &gap[at..];
        at += match rest {
            [b' ' | b'\t' | b'\r' | b'\n' | 0x0c | 0x1a | b'\\', ..] => 1,
            [b'/', b'/', ..] => rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len()),
            [b'/', b'*', ..] => match rest[2..].windows(2).position(|pair| pair == b"*/") {
                Some(end) => end + 4,
                None => return Err(at),
            },
            _ => return Err(at),
        };
    }
    Ok(())
}
