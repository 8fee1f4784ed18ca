//! Warnings: opcodes, modifiers, directives and targets that no known version of PTX has.
//!
//! A newer version may have them, so they are no errors: the text is kept, and nothing is assumed about what it
//! does.

use crate::builder::PROPERTIES;
use crate::diagnostic::Diagnostic;
use crate::header::doubtful_targets;
use crate::names::Type;
use crate::nearest::nearest;
use crate::parse::MOST_DIAGNOSTICS;
use crate::table::{rows, words};
use crate::token::Tok;
use crate::tree::{Module, NodeKind, SpellingId, StmtId, StmtKind};

/// Known directives that the tree keeps as [`StmtKind::Unknown`] all the same; they get no warning.
const KEPT: [&[u8]; 1] = [b".nv_intermediate_source_section"];

/// The directives that a message may suggest in place of an unknown one.
const DIRECTIVES: [&str; 14] = [
    ".alias",
    ".branchtargets",
    ".callprototype",
    ".calltargets",
    ".const",
    ".entry",
    ".extern",
    ".file",
    ".func",
    ".global",
    ".loc",
    ".pragma",
    ".reg",
    ".visible",
];

impl Module<'_> {
    /// One warning for each unknown spelling of an opcode, where it occurs first, for each unknown directive and for each
    /// target that is newer than the known ones; in the order of the text, at most [`MOST_DIAGNOSTICS`].
    #[must_use]
    pub fn warnings(&self) -> Vec<Diagnostic> {
        let opcodes = self.spellings.iter().filter_map(|spelling| self.unknown_opcode(spelling));
        let mut warnings: Vec<Diagnostic> = opcodes.take(MOST_DIAGNOSTICS).collect();
        let statements = self.stmts().flat_map(|stmt| {
            let kind = self.kind(stmt);
            if kind == StmtKind::Unknown {
                self.unknown_statement(stmt).into_iter().collect()
            } else if matches!(kind, StmtKind::Entry | StmtKind::Function | StmtKind::CallPrototype) {
                self.unknown_properties(stmt)
            } else {
                Vec::new()
            }
        });
        warnings.extend(statements.take(MOST_DIAGNOSTICS));
        warnings.extend(doubtful_targets(self));
        warnings.sort_by_key(|warning| warning.span.start);
        warnings.truncate(MOST_DIAGNOSTICS);
        warnings
    }

    fn unknown_opcode(&self, spelling: SpellingId) -> Option<Diagnostic> {
        let text = self.spellings.words(spelling, self.text);
        let Some(row) = self.spellings.row(spelling) else {
            return Some(unknown_instruction(self.spellings.span(spelling), text));
        };
        // Unknown modifiers of video instructions are errors, which their decoder reports.
        let (at, modifier) = words::unknown(text).filter(|_| row.video.is_none())?;
        let shown = String::from_utf8_lossy(modifier);
        let near = nearest(&shown, words::known());
        let message = format!(
            "unknown modifier `.{shown}` of `{}`{}",
            row.name,
            meant(near.map(|near| format!(".{near}")))
        );
        let span = crate::legal::modifier_span(self, spelling, at);
        Some(Diagnostic::new(span, message).label("instructions with this modifier are left alone"))
    }

    /// One warning for each unknown directive in the head of a function, or in a prototype; its other words are checked by the parser.
    fn unknown_properties(&self, stmt: StmtId) -> Vec<Diagnostic> {
        let directives = self.stmt_nodes(stmt).filter(|&node| self.node_kind(node) == NodeKind::Directive);
        let words = directives.filter(|&node| {
            let text = self.node_text(node);
            let first = crate::tree::TokenId(self.node_tokens(node).start);
            self.tokens.kind(first) == Tok::Directive
                && !Type::parse(text).is_known()
                && !matches!(text, b".v2" | b".v4")
                && PROPERTIES.iter().all(|(property, ..)| *property != text)
        });
        let known = || PROPERTIES.iter().filter_map(|(property, ..)| std::str::from_utf8(property).ok());
        words
            .map(|node| {
                let shown = String::from_utf8_lossy(self.node_text(node)).into_owned();
                let near = nearest(&shown, known()).map(str::to_owned);
                let message = format!("unknown directive `{shown}`{}", meant(near));
                Diagnostic::new(self.node_span(node), message).label("kept as it is")
            })
            .collect()
    }

    fn unknown_statement(&self, stmt: StmtId) -> Option<Diagnostic> {
        let tokens = self.stmt_tokens(stmt);
        let first = crate::tree::TokenId(tokens.start);
        let span = self.tokens.span(first);
        let text = &self.text[span.clone()];
        if self.tokens.kind(first) == Tok::Opaque {
            return Some(unknown_instruction(span, text));
        }
        if KEPT.contains(&text) {
            return None;
        }
        let shown = String::from_utf8_lossy(text);
        let near = nearest(&shown, DIRECTIVES.into_iter());
        let message = format!("unknown directive `{shown}`{}", meant(near.map(str::to_owned)));
        Some(Diagnostic::new(span, message).label("kept as it is"))
    }
}

fn unknown_instruction(mut span: crate::tree::Span, text: &[u8]) -> Diagnostic {
    let name = text.split(|&byte| byte == b'.').next().unwrap_or(text);
    let shown = String::from_utf8_lossy(name);
    let known = rows().map(|row| row.name.split('.').next().unwrap_or(row.name));
    let near = nearest(&shown, known);
    span.end = span.start + name.len();
    let message = format!("unknown instruction `{shown}`{}", meant(near.map(str::to_owned)));
    Diagnostic::new(span, message).label("the function is left alone")
}

fn meant(near: Option<String>) -> String {
    near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default()
}
