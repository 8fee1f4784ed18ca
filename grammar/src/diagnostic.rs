//! Diagnostics: what is wrong, and where, as plain data; the caller renders them.

use crate::tree::Span;

/// One thing that is wrong with an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What is wrong: lower case, no full stop, code in backticks.
    pub message: String,
    /// The bytes it is about.
    pub span: Span,
    /// What was expected there, or what is odd about it; may be empty.
    pub label: String,
    /// Another place that explains this one.
    pub related: Option<(Span, String)>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A message about the bytes of `span`.
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        Self { message: message.into(), span, label: String::new(), related: None, help: None }
    }

    /// Says what was expected at the span.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Points at another place.
    #[must_use]
    pub fn related(mut self, span: Span, label: impl Into<String>) -> Self {
        self.related = Some((span, label.into()));
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// A line and a column of a text, both counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line, from 1.
    pub line: usize,
    /// The column in bytes, from 1.
    pub column: usize,
}

/// Where `offset` lies in `text`. Takes time linear in the offset.
#[must_use]
pub fn position(text: &[u8], offset: usize) -> Position {
    let before = &text[..offset.min(text.len())];
    let line = memchr::memchr_iter(b'\n', before).count() + 1;
    let column = before.len() - memchr::memrchr(b'\n', before).map_or(0, |at| at + 1) + 1;
    Position { line, column }
}
