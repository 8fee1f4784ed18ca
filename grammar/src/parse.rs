//! Text in, tree or diagnostics out.
//!
//! A text is cut into tokens once and parsed by a parser without error recovery, which is faster. After an error it is
//! parsed again, by a parser that recovers at the end of statements and bodies, so that one run reports several errors.
//! A statement with an unknown opcode may have operands of any form: if they do not parse, it is kept verbatim.

use crate::backslash;
use crate::builder::Builder;
use crate::diagnostic::Diagnostic;
use crate::header;
use crate::legal;
use crate::resolve::resolve;
use crate::table;
use crate::token::{Tok, Tokens};
use crate::tree::{Module, TokenId, index32};
use crate::video;
use lalrpop_util::ParseError;

#[allow(
    clippy::all,
    clippy::pedantic,
    clippy::restriction,
    unused,
    missing_docs,
    unreachable_pub,
    reason = "generated code"
)]
mod fast {
    lalrpop_util::lalrpop_mod!(pub(crate) grammar, "/fast/ptx.rs");
}

#[allow(
    clippy::all,
    clippy::pedantic,
    clippy::restriction,
    unused,
    missing_docs,
    unreachable_pub,
    reason = "generated code"
)]
mod recovering {
    lalrpop_util::lalrpop_mod!(pub(crate) grammar, "/recovering/ptx.rs");
}

/// The most errors that one text reports.
pub const MOST_DIAGNOSTICS: usize = 20;

/// The most unknown opcodes of one text whose statements are kept verbatim; each costs another parse.
const MOST_OPAQUE: usize = 64;

type Failure = ParseError<u32, Tok, ()>;

/// Parses a module.
///
/// The input is bytes: any byte is legal in a comment. NULs at the end, as driver strings have them, are kept and
/// not looked at.
///
/// # Errors
///
/// At least one and at most [`MOST_DIAGNOSTICS`] diagnostics, in the order of the text.
pub fn parse(text: &[u8]) -> Result<Module<'_>, Vec<Diagnostic>> {
    if u32::try_from(text.len()).is_err() {
        return Err(vec![Diagnostic::new(0..0, "the input is 4 GiB or larger")]);
    }
    let end = text.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    let mut tokens = Tokens::new(&text[..end]);
    let mut opaque = 0;
    loop {
        let mut builder = Builder::new(text, &tokens);
        let result = fast::grammar::ModuleParser::new().parse(&mut builder, grammar_tokens(&tokens));
        let Builder { mut stmts, mut nodes, decls, scopes, spellings, mut diagnostics, .. } = builder;
        match result {
            Ok(()) => {
                stmts.shrink_to_fit();
                nodes.shrink_to_fit();
                let mut module = Module { text, tokens, stmts, nodes, decls, scopes, spellings };
                diagnostics.extend(header::check(&module));
                diagnostics.extend(backslash::check(&module));
                diagnostics.extend(resolve(&mut module));
                // After a wrong declaration, every use of the name would be reported too.
                let declared = diagnostics.is_empty();
                diagnostics.extend(legal::check(&module, declared));
                diagnostics.extend(video::check(&module).take(MOST_DIAGNOSTICS));
                return if diagnostics.is_empty() { Ok(module) } else { Err(finish(diagnostics)) };
            }
            Err(failure) => {
                if opaque < MOST_OPAQUE && make_opaque(text, &mut tokens, &failure) {
                    opaque += 1;
                    continue;
                }
                return Err(recover(text, &tokens, failure));
            }
        }
    }
}

/// The tokens as the grammar reads them. A line marker may stand inside any statement, and belongs to it; only
/// one between statements is a statement of its own.
fn grammar_tokens(tokens: &Tokens) -> impl Iterator<Item = Result<(u32, Tok, u32), ()>> + '_ {
    let kinds = tokens.kinds();
    kinds.iter().enumerate().filter_map(move |(index, &kind)| {
        if kind == Tok::LineMarker && !between_statements(&kinds[..index]) {
            return None;
        }
        Some(Ok((index32(index), kind, index32(index) + 1)))
    })
}

fn between_statements(before: &[Tok]) -> bool {
    before.last().is_none_or(|last| {
        matches!(last, Tok::Semicolon | Tok::RBrace | Tok::Colon | Tok::LineMarker | Tok::DwarfLine)
    })
}

/// If the failure is in a statement with an unknown opcode, marks the tokens of all statements with this opcode as
/// [`Tok::Opaque`], so that they are kept verbatim. Returns whether it did; it does not where it is unclear at which
/// `;` such a statement ends.
fn make_opaque(text: &[u8], tokens: &mut Tokens, failure: &Failure) -> bool {
    let ParseError::UnrecognizedToken { token: (at, ..), .. } = *failure else { return false };
    let ends = |kind| matches!(kind, Tok::Semicolon | Tok::LBrace | Tok::RBrace | Tok::Colon);
    let first = (0..at).rev().take_while(|&t| tokens.kind(TokenId(t)) != Tok::Semicolon);
    let opcode = first.filter(|&t| {
        let starts = t == 0 || ends(tokens.kind(TokenId(t - 1)));
        starts && matches!(tokens.kind(TokenId(t)), Tok::Word | Tok::Dotted)
    });
    let Some(opcode) = opcode.last() else { return false };
    let words = text[tokens.span(TokenId(opcode))].to_vec();
    if table::lookup(&words).is_some() {
        return false;
    }
    let mut changed = false;
    let mut at_start = true;
    for index in 0..index32(tokens.len()) {
        let kind = tokens.kind(TokenId(index));
        if at_start && kind == Tok::Dotted && text[tokens.span(TokenId(index))] == words[..] {
            let end = (index..index32(tokens.len())).find(|&t| ends_unknown(tokens.kind(TokenId(t))));
            let Some(end) = end.filter(|&end| tokens.kind(TokenId(end)) == Tok::Semicolon) else {
                return false;
            };
            for token in index..end {
                tokens.set_kind(TokenId(token), Tok::Opaque);
            }
            changed = true;
        }
        at_start = ends(kind);
    }
    changed
}

/// Tokens that cannot be inside a statement of unknown form: its end, and what only other statements contain.
fn ends_unknown(kind: Tok) -> bool {
    matches!(
        kind,
        Tok::Semicolon
            | Tok::Version
            | Tok::Entry
            | Tok::Func
            | Tok::Reg
            | Tok::Loc
            | Tok::UnclosedComment
            | Tok::UnclosedString
            | Tok::UnclosedSource
            | Tok::Junk
            | Tok::BadNumber
    )
}

/// Parses once more, to find all errors.
fn recover(text: &[u8], tokens: &Tokens, first: Failure) -> Vec<Diagnostic> {
    let mut builder = Builder::new(text, tokens);
    let last = recovering::grammar::ModuleParser::new().parse(&mut builder, grammar_tokens(tokens)).err();
    let mut diagnostics = std::mem::take(&mut builder.diagnostics);
    let unclosed = crate::syntax_error::unclosed_string(text, tokens);
    let recovered = std::mem::take(&mut builder.recoveries).into_iter().map(|recovery| recovery.error);
    let mut failures: Vec<Failure> = std::iter::once(first).chain(recovered).chain(last).collect();
    failures.sort_by_key(position_of);
    if let Some(lost) = failures.iter().position(|failure| loses_the_thread(tokens, failure)) {
        failures.truncate(lost + 1);
    }
    diagnostics.extend(failures.iter().map(|failure| crate::syntax_error::explain(text, tokens, failure)));
    if let Some(unclosed) = unclosed {
        diagnostics.retain(|diagnostic| diagnostic.span.end <= unclosed.span.start);
        diagnostics.push(unclosed);
    }
    finish(diagnostics)
}

fn position_of(failure: &Failure) -> u32 {
    match failure {
        ParseError::UnrecognizedToken { token: (at, ..), .. }
        | ParseError::ExtraToken { token: (at, ..) } => *at,
        ParseError::UnrecognizedEof { .. } | ParseError::InvalidToken { .. } | ParseError::User { .. } => {
            u32::MAX
        }
    }
}

/// Whether later errors would be unreliable: braces of a list may have been taken for those of a body, or the braces
/// before an instruction outside of a body do not match.
fn loses_the_thread(tokens: &Tokens, failure: &Failure) -> bool {
    let ParseError::UnrecognizedToken { token: (at, tok, _), expected } = failure else { return false };
    let outside = expected.iter().any(|expected| expected == "\".entry\"");
    if outside && matches!(tok, Tok::Word | Tok::Dotted | Tok::Call | Tok::At | Tok::RBrace) {
        return true;
    }
    let before =
        (0..*at).rev().map(|token| tokens.kind(TokenId(token))).take_while(|&kind| kind != Tok::Semicolon);
    let after = (*at..index32(tokens.len()))
        .map(|token| tokens.kind(TokenId(token)))
        .take_while(|&kind| kind != Tok::Semicolon);
    let lists = before.take_while(|&kind| kind != Tok::RBrace).filter(|&kind| kind == Tok::LBrace).count();
    lists > 0 && after.filter(|&kind| kind == Tok::RBrace).count() > 0
}

/// Sorts the diagnostics, and keeps the first at each place, at most [`MOST_DIAGNOSTICS`].
fn finish(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    diagnostics.sort_by_key(|diagnostic| (diagnostic.span.start, diagnostic.span.end));
    diagnostics.dedup_by_key(|diagnostic| diagnostic.span.start);
    diagnostics.truncate(MOST_DIAGNOSTICS);
    diagnostics
}
