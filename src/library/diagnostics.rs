//! Why a text was not optimised, as data: what is wrong, and where.

use crate::foreign::Foreign;
use crate::lines::Lines;
use crate::printable::shown;
use ptxopt_grammar::diagnostic::{Diagnostic as Found, Position};
use ptxopt_grammar::gpu::Gpu;
use std::fmt;
use std::ops::Range;

/// Why a text was refused.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// It is not valid PTX, or it has unknown parts, which was ruled out.
    Wrong(Vec<Found>),
    /// It is something else.
    Foreign(Foreign),
    /// Code for its target does not run on the GPU.
    Older { target: Gpu, gpu: Gpu },
}

/// What stands against optimising a text. It prints as one line per diagnostic, each with line and column.
///
/// ```
/// use ptxopt::{DiagnosticsKind, Options, optimize};
///
/// let wrong = optimize(b".version 8.0\n.target sm_90\n.func f() { bra away; }\n", &Options::new());
/// let wrong = wrong.expect_err("there is no such label");
/// assert_eq!(wrong.kind(), DiagnosticsKind::Invalid);
/// let first = wrong.iter().next().expect("it says what is wrong");
/// assert_eq!((first.line(), first.column()), (3, 17));
/// assert!(wrong.to_string().starts_with("3:17: "));
/// ```
#[derive(Clone, Debug)]
pub struct Diagnostics {
    kind: DiagnosticsKind,
    /// At least one.
    list: Vec<Diagnostic>,
}

/// What kind of obstacle it is.
///
/// ```
/// use ptxopt::{DiagnosticsKind, Options, optimize};
///
/// let kind = |text: &[u8], options| optimize(text, &options).map(drop).map_err(|wrong| wrong.kind());
/// let old = Options::new().gpu("sm_70")?;
/// assert_eq!(kind(b".version 8.0\n.target sm_90\n", old), Err(DiagnosticsKind::Target));
/// assert_eq!(kind(b"; ModuleID = 'kernel.ll'\n", Options::new()), Err(DiagnosticsKind::Foreign));
/// assert_eq!(kind(b"ret;", Options::new()), Err(DiagnosticsKind::Invalid));
/// # Ok::<(), ptxopt::UnknownName>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DiagnosticsKind {
    /// The text is not valid PTX, or it has unknown parts and [`Options::strict`](crate::Options::strict) was asked
    /// for.
    Invalid,
    /// The text is something else than PTX, such as a cubin or LLVM IR.
    Foreign,
    /// Code for the module's `.target` does not run on a GPU that was asked for.
    Target,
}

/// One thing that is wrong with a text.
///
/// ```
/// use ptxopt::{Options, optimize};
///
/// let text = b".version 8.0\n.target sm_90\n.func f()\n{\n    bra away;\n}\n";
/// let wrong = optimize(text, &Options::new()).expect_err("there is no such label");
/// let one = wrong.iter().next().expect("there is at least one");
/// assert_eq!((one.line(), one.column(), &text[one.span()]), (5, 9, &b"away"[..]));
/// assert!(one.message().contains("`away`") && one.to_string().contains(one.message()));
/// # drop((one.expected(), one.help()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    found: Found,
    position: Option<Position>,
}

impl Diagnostics {
    pub(crate) fn new(text: &[u8], refusal: Refusal) -> Self {
        let nowhere = |message: String, help: String| Diagnostic {
            found: Found::new(0..0, message).help(help),
            position: None,
        };
        let lines = Lines::of(text);
        let placed = |found| Diagnostic::at(&lines, found);
        match refusal {
            Refusal::Wrong(mut found) => {
                found.sort_by_key(|one| (one.span.start, one.span.end));
                Self { kind: DiagnosticsKind::Invalid, list: found.into_iter().map(placed).collect() }
            }
            Refusal::Foreign(foreign) => {
                let all = || nowhere(format!("this is {}", foreign.what), foreign.help.to_owned());
                let list = vec![foreign.diagnostic().map_or_else(all, placed)];
                Self { kind: DiagnosticsKind::Foreign, list }
            }
            Refusal::Older { target, gpu } => {
                let message = format!("code for `.target {target}` does not run on {gpu}");
                let help = format!("choose a GPU that runs code for {target}, or compile for {gpu}");
                Self { kind: DiagnosticsKind::Target, list: vec![nowhere(message, help)] }
            }
        }
    }

    /// What kind of obstacle it is.
    #[must_use]
    pub const fn kind(&self) -> DiagnosticsKind {
        self.kind
    }

    /// All of them, in the order of the text; there is at least one.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Diagnostic> {
        self.list.iter()
    }
}

impl Diagnostic {
    pub(super) fn at(lines: &Lines, found: Found) -> Self {
        let position = Some(lines.position(found.span.start));
        Self { found, position }
    }

    /// What is wrong: lower case, no full stop, code in backticks. It may quote the text.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.found.message
    }

    /// The line, from 1; 0 if it is about the whole text.
    #[must_use]
    pub fn line(&self) -> usize {
        self.position.map_or(0, |position| position.line)
    }

    /// The column in bytes, from 1; 0 if it is about the whole text.
    #[must_use]
    pub fn column(&self) -> usize {
        self.position.map_or(0, |position| position.column)
    }

    /// The bytes of the text that it is about; none if it is about the whole text.
    #[must_use]
    pub fn span(&self) -> Range<usize> {
        self.found.span.clone()
    }

    /// What was expected there, or what is odd about it.
    #[must_use]
    pub fn expected(&self) -> Option<&str> {
        Some(&*self.found.label).filter(|label| !label.is_empty())
    }

    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> Option<&str> {
        self.found.help.as_deref()
    }
}

impl fmt::Display for Diagnostic {
    /// On one line, which is safe to print.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(Position { line, column }) = self.position {
            write!(f, "{line}:{column}: ")?;
        }
        f.write_str(&shown(self.message()))?;
        for more in [self.expected(), self.help()].into_iter().flatten() {
            write!(f, "; {}", shown(more))?;
        }
        Ok(())
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, diagnostic) in self.list.iter().enumerate() {
            write!(f, "{}{diagnostic}", if number == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}
