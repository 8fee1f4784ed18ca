//! Backslashes between tokens: blanks before an instruction, and wrong anywhere else.
//!
//! The assembler ignores a backslash that stands directly before an instruction, and rejects any other. The lexer
//! treats all backslashes as blanks, because it keeps no state between tokens; the misplaced ones are found here, and
//! only in texts that contain a backslash at all.

use crate::diagnostic::Diagnostic;
use crate::parse::MOST_DIAGNOSTICS;
use crate::token::Tok;
use crate::tree::{Module, TokenId, index32};

pub(crate) fn check(module: &Module<'_>) -> Vec<Diagnostic> {
    if memchr::memchr(b'\\', module.text).is_none() {
        return Vec::new();
    }
    let tokens = &module.tokens;
    let count = index32(tokens.len());
    let mut found = Vec::new();
    let mut start = 0;
    for next in 0..=count {
        let end = if next < count { tokens.start(TokenId(next)) } else { module.text.len() };
        let wrong = in_gap(&module.text[start..end]).filter(|_| !before_instruction(module, next));
        found.extend(wrong.map(|at| {
            Diagnostic::new(start + at..start + at + 1, "unexpected `\\`")
                .label("expected nothing here; a backslash may stand only before an instruction")
        }));
        if found.len() >= MOST_DIAGNOSTICS || next == count {
            break;
        }
        start = tokens.span(TokenId(next)).end;
    }
    found
}

/// The first backslash between two tokens that is not inside a comment.
fn in_gap(gap: &[u8]) -> Option<usize> {
    let mut at = 0;
    while at < gap.len() {
        match &gap[at..] {
            [b'\\', ..] => return Some(at),
            [b'/', b'/', ..] => at += memchr::memchr(b'\n', &gap[at..]).unwrap_or(gap.len() - at),
            [b'/', b'*', ..] => {
                at += 2 + memchr::memmem::find(&gap[at + 2..], b"*/").map_or(gap.len(), |end| end + 2);
            }
            _ => at += 1,
        }
    }
    None
}

/// Whether a token is the first word of an instruction, after its guard if it has one.
fn before_instruction(module: &Module<'_>, token: u32) -> bool {
    let first = module.stmts.binary_search_by_key(&token, |stmt| stmt.first).is_ok();
    let kind = |back: u32| {
        let before = token.checked_sub(back)?;
        (before < index32(module.tokens.len())).then(|| module.tokens.kind(TokenId(before)))
    };
    let word = matches!(kind(0), Some(Tok::Word | Tok::Dotted | Tok::Call));
    let guarded = kind(1) == Some(Tok::Word)
        && (kind(2) == Some(Tok::At) || kind(2) == Some(Tok::Bang) && kind(3) == Some(Tok::At));
    word && (first || guarded)
}
