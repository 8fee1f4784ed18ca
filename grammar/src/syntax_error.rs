//! Turns the parser's errors into messages.
//!
//! A parser notices a missing `;` at the next token, but it belongs at the end of the one before; malformed tokens
//! have messages of their own.

use crate::diagnostic::Diagnostic;
use crate::token::{Tok, Tokens};
use crate::tree::{Span, TokenId, index32};
use lalrpop_util::ParseError;

/// The most expected tokens that a message lists.
const MOST_EXPECTED: usize = 4;

/// The error for an unterminated string. Once a closing quote is missing, all later quotes pair up wrongly, so the
/// error is reported at the first string that extends over a line break.
pub(crate) fn unclosed_string(text: &[u8], tokens: &Tokens) -> Option<Diagnostic> {
    let last = tokens.iter().next_back()?;
    if tokens.kind(last) != Tok::UnclosedString {
        return None;
    }
    let over_a_line =
        |&token: &TokenId| tokens.kind(token) == Tok::Str && text[tokens.span(token)].contains(&b'\n');
    let begin = tokens.span(tokens.iter().find(over_a_line).unwrap_or(last)).start;
    Some(Diagnostic::new(begin..begin + 1, "unterminated string").label("expected a closing `\"` after this"))
}

pub(crate) fn explain(text: &[u8], tokens: &Tokens, failure: &ParseError<u32, Tok, ()>) -> Diagnostic {
    match failure {
        ParseError::UnrecognizedToken { token: (at, tok, _), expected } => {
            unexpected(text, tokens, *at, *tok, expected)
        }
        ParseError::ExtraToken { token: (at, tok, _) } => unexpected(text, tokens, *at, *tok, &[]),
        ParseError::UnrecognizedEof { expected, .. } => {
            let label = expectation(expected).unwrap_or_else(|| "expected `}`".to_owned());
            let end = tokens.start(TokenId(index32(tokens.len())));
            Diagnostic::new(end..end, "unexpected end of the input").label(label)
        }
        // The grammar raises no errors of its own and has no invalid tokens: malformed ones are tokens too.
        ParseError::InvalidToken { location } => {
            Diagnostic::new(tokens.span(TokenId(*location)), "invalid token")
        }
        ParseError::User { .. } => Diagnostic::new(0..0, "invalid module"),
    }
}

fn unexpected(text: &[u8], tokens: &Tokens, at: u32, tok: Tok, expected: &[String]) -> Diagnostic {
    let span = tokens.span(TokenId(at));
    let word = shown(text, &span);
    if tok == Tok::UnclosedComment {
        return Diagnostic::new(span.start..span.start + 2, "unterminated comment")
            .label("expected a `*/` after this");
    }
    if tok == Tok::UnclosedSource {
        return Diagnostic::new(span.start..span.start + ".source_begin".len(), "unterminated source text")
            .label("expected a `.source_end` after this");
    }
    if tok == Tok::Junk {
        return Diagnostic::new(span, format!("unexpected character `{word}`"))
            .label("expected an ASCII character of PTX");
    }
    if tok == Tok::BadNumber {
        return Diagnostic::new(span, format!("malformed number `{word}`"))
            .label("expected a literal such as `10`, `0x1f`, `1.5` or `0f3f800000`");
    }
    if let Some(version) = (0..at).rev().take(3).find(|&t| &text[tokens.span(TokenId(t))] == b".version") {
        return Diagnostic::new(tokens.span(TokenId(version)), "malformed `.version`")
            .label("expected a version such as `.version 8.0`, on one line");
    }
    let wants = |wanted: &str| expected.iter().any(|e| e.trim_matches('"') == wanted);
    if wants(";") && at > 0 && starts_line(text, tokens, at) {
        let end = tokens.span(TokenId(at - 1)).end;
        return Diagnostic::new(end..end, "missing `;`")
            .label("expected `;` here")
            .related(span, "the next statement begins here");
    }
    let label = expectation(expected).unwrap_or_default();
    Diagnostic::new(span, format!("unexpected `{word}`")).label(label)
}

fn starts_line(text: &[u8], tokens: &Tokens, at: u32) -> bool {
    text[tokens.span(TokenId(at - 1)).end..tokens.start(TokenId(at))].contains(&b'\n')
}

/// The first bytes of a token.
fn shown(text: &[u8], span: &Span) -> String {
    const MOST: usize = 40;
    let bytes = &text[span.clone()];
    let word = String::from_utf8_lossy(&bytes[..bytes.len().min(MOST)]).into_owned();
    let word = word.lines().next().unwrap_or_default().to_owned();
    if bytes.len() > word.len() { format!("{word}…") } else { word }
}

/// `expected …`; `None` if too many different tokens would be legal.
fn expectation(expected: &[String]) -> Option<String> {
    let wants = |wanted: &str| expected.iter().any(|e| e.trim_matches('"') == wanted);
    if wants(".entry") {
        return Some("expected a function, a declaration or a directive".to_owned());
    }
    if wants("@") {
        return Some("expected a statement".to_owned());
    }
    let mut names: Vec<&str> = Vec::new();
    for token in expected {
        let name = name_of(token.trim_matches('"'));
        if !name.is_empty() && !names.contains(&name) {
            names.push(name);
        }
    }
    let (last, rest) = names.split_last()?;
    match rest {
        [] => Some(format!("expected {last}")),
        _ if names.len() <= MOST_EXPECTED => Some(format!("expected {} or {last}", rest.join(", "))),
        _ => None,
    }
}

/// The name of a terminal of the grammar in messages; empty if it is not mentioned.
fn name_of(terminal: &str) -> &str {
    match terminal {
        "word" | "call" => "a name",
        "dotted word" => "",
        "integer" => "a number",
        "float" | "WARP_SZ" => "",
        "string" => "a string",
        "opaque" | "line marker" | "@@ line" | "source text" => "",
        "operator" => "an operator",
        "+" | "-" | "|" | "<" | ">" | "?" | "!" | "~" => "an operator",
        "directive" => "a directive",
        "linkage" | "state space" | ".align" | ".attribute" | ".ptr" | ".reg" => "a declaration",
        ";" => "`;`",
        "," => "`,`",
        ":" => "`:`",
        "{" => "`{`",
        "}" => "`}`",
        "[" => "`[`",
        "]" => "`]`",
        "(" => "`(`",
        ")" => "`)`",
        "=" => "`=`",
        "@" => "a guard",
        other => other,
    }
}
