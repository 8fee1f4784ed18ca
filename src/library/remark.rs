//! What was done at one place, or why nothing was, as data.

use crate::lines::Lines;
use crate::printable::shown;
use ptxopt_passes::optimiser::{Kind, Record, Why};
use ptxopt_passes::stage_of;
use std::fmt;

/// What was done at one place, or why nothing was.
///
/// It prints as one line, as below. Remarks of the kind [`Passed`](RemarkKind::Passed) are always there, others only
/// where [`Options::explain`](crate::Options::explain) asks for them.
///
/// ```
/// use ptxopt::{Options, RemarkKind, optimize};
///
/// let text = b".version 8.0\n.target sm_90\n.func (.reg .b32 %d) f(.reg .b32 %a)\n{
///     vadd.s32.s32.s32 %d, %a, 5;\n    ret;\n}\n";
/// let outcome = optimize(text, &Options::new())?;
/// let remark = &outcome.remarks[0];
/// assert_eq!((remark.kind, remark.line, &*remark.function), (RemarkKind::Passed, 5, "f"));
/// assert_eq!(remark.before, "vadd.s32.s32.s32 %d, %a, 5;");
/// assert_eq!(remark.after, ["add.u32 %d, %a, 5;"]);
/// assert!(remark.to_string().starts_with("5:5: passed in `f`: "), "{remark}");
/// # Ok::<(), ptxopt::Diagnostics>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Remark {
    /// What kind of remark it is.
    pub kind: RemarkKind,
    /// The pass of the last rule.
    pub pass: &'static str,
    /// The rules, in the order in which they were applied.
    pub rules: Vec<&'static str>,
    /// The function; empty if it is about the module.
    pub function: String,
    /// The line of the statement in the text as it came, from 1.
    pub line: usize,
    /// Its column in bytes, from 1.
    pub column: usize,
    /// The statement before.
    pub before: String,
    /// What stands in its place, or would, line by line; nothing if it was deleted.
    pub after: Vec<String>,
    /// The statements that became unused by it.
    pub freed: Vec<String>,
    /// How it was checked, or why nothing was done.
    pub verdict: String,
}

/// Kinds of remarks.
///
/// ```
/// use ptxopt::{Options, RemarkKind, optimize};
///
/// let text = b".version 8.0\n.target sm_90\n.func (.reg .b32 %d) f(.reg .b32 %a)\n{
///     vadd.s32.s32.s32 %d, %a, 5;\n    ret;\n}\n";
/// let remarks = optimize(text, &Options::new().explain(true))?.remarks;
/// let made = remarks.iter().filter(|remark| remark.kind == RemarkKind::Passed);
/// assert_eq!(made.count(), 1);
/// assert!(remarks.iter().all(|remark| remark.kind != RemarkKind::Failure));
/// assert_eq!(RemarkKind::Passed.name(), "passed");
/// # Ok::<(), ptxopt::Diagnostics>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RemarkKind {
    /// A rewrite that was made.
    Passed,
    /// One that was nearly possible.
    Missed,
    /// A statement that stays, or a word about a function or the module.
    Analysis,
    /// A rewrite that ptxopt's own checks refused, after which the function was left as it was: a bug, please report it.
    Failure,
}

impl RemarkKind {
    pub(crate) fn of(kind: &Kind) -> Self {
        match kind {
            Kind::Passed(_) => Self::Passed,
            Kind::Missed(Why::Native | Why::Unused | Why::Unreachable) => Self::Analysis,
            Kind::Missed(why) if why.is_general() => Self::Analysis,
            Kind::Missed(_) => Self::Missed,
            Kind::Wrong(_)
            | Kind::Diverged(_)
            | Kind::Misplaced(_)
            | Kind::Illegal(_)
            | Kind::Unending(_) => Self::Failure,
        }
    }

    /// Its name, as in LLVM's optimisation records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Missed => "missed",
            Self::Analysis => "analysis",
            Self::Failure => "failure",
        }
    }
}

impl Remark {
    pub(super) fn new(record: Record, lines: &Lines) -> Self {
        let position = lines.position(record.offset);
        Self {
            kind: RemarkKind::of(&record.kind),
            pass: stage_of(record.pass).name,
            rules: record.rules,
            function: record.function,
            line: position.line,
            column: position.column,
            before: record.before,
            after: record.after,
            freed: record.freed,
            verdict: verdict(&record.kind),
        }
    }
}

impl fmt::Display for Remark {
    /// On one line, which is safe to print.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.kind.name())?;
        if !self.function.is_empty() {
            write!(f, " in `{}`", shown(&self.function))?;
        }
        if !self.rules.is_empty() {
            write!(f, ": {}", self.rules.join(", "))?;
        }
        write!(f, ": {}: `{}`", self.verdict, shown(&self.before))?;
        if self.after.is_empty() { Ok(()) } else { write!(f, " -> `{}`", shown(&self.after.join(" "))) }
    }
}

/// How it was checked, or why nothing was done.
pub(crate) fn verdict(kind: &Kind) -> String {
    match kind {
        Kind::Passed(how) => how.to_string(),
        Kind::Missed(why) => shown(&why.to_string()),
        Kind::Wrong(_) => "the rewrite would have been wrong: a bug of ptxopt".to_owned(),
        Kind::Diverged(difference) => {
            format!("a replay shows a difference: {difference}: a bug of ptxopt")
        }
        Kind::Misplaced(why) => {
            format!("inserted, it would change what the function does: {why}: a bug of ptxopt")
        }
        Kind::Illegal(words) => format!("PTX has no `{}`: a bug of ptxopt", shown(words)),
        Kind::Unending(bound) => format!("{bound}: a bug of ptxopt"),
    }
}
