//! What became of a module: the text, the remarks, the counts.

use super::{Accepted, Diagnostic, Remark};
use crate::lines::Lines;
use ptxopt_passes::optimiser::{self, How, Kind, Record};

/// What became of a module.
///
/// ```
/// use ptxopt::{Options, optimize};
///
/// let text = b".version 8.0\n.target sm_90\n.func f(.reg .b32 %a)\n{\n    frobnicate.b32 %a;\n    ret;\n}\n";
/// let outcome = optimize(text, &Options::new())?;
/// assert!(outcome.text.is_none() && outcome.remarks.is_empty());
/// assert_eq!(outcome.warnings[0].line(), 5);
/// # Ok::<(), ptxopt::Diagnostics>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The new text; `None` if nothing changed.
    pub text: Option<Vec<u8>>,
    /// What was done, and why not more if that was asked for, in the order of the text.
    pub remarks: Vec<Remark>,
    /// What unknown parts of the module there are; they were kept, and nothing was assumed about what they do.
    pub warnings: Vec<Diagnostic>,
    /// How much was done.
    pub counts: Counts,
}

/// How much was done.
///
/// ```
/// use ptxopt::{Options, optimize};
///
/// let text = b".version 8.0\n.target sm_90\n.func (.reg .b32 %d) f(.reg .b32 %a)\n{
///     vadd.s32.s32.s32 %d, %a, 5;\n    ret;\n}\n";
/// let counts = optimize(text, &Options::new())?.counts;
/// assert_eq!((counts.functions, counts.rewritten, counts.deleted, counts.failures), (1, 1, 0, 0));
/// assert!(u64::try_from(counts.estimated_saving).is_ok_and(|saved| saved < counts.estimated_before));
/// # Ok::<(), ptxopt::Diagnostics>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Functions with a body.
    pub functions: u64,
    /// Statements that were replaced.
    pub rewritten: u64,
    /// Statements that were deleted, since their results had become unused.
    pub deleted: u64,
    /// Functions that were left as they were, because ptxopt's own checks refused a rewrite in them: a bug, please
    /// report it; the remarks have the details.
    pub failures: u64,
    /// How many fewer machine instructions that makes, by the tables of costs. An estimate: only NVIDIA's assembler can
    /// count.
    pub estimated_saving: i64,
    /// How many machine instructions the changed statements cost before, estimated in the same way.
    pub estimated_before: u64,
}

impl Outcome {
    pub(super) fn new(accepted: &Accepted<'_>, outcome: optimiser::Outcome) -> Self {
        let counts = Counts::of(&outcome);
        let positions = !(outcome.records.is_empty() && accepted.warnings.is_empty());
        let lines = Lines::of(if positions { accepted.module.text() } else { b"" });
        let mut records = outcome.records;
        records.sort_by_key(|record| record.offset);
        // A statement that a rewrite left unused is part of the remark on that rewrite.
        records.retain(|record| record.kind != Kind::Passed(How::Freed));
        Self {
            text: outcome.text,
            remarks: records.into_iter().map(|record| Remark::new(record, &lines)).collect(),
            warnings: accepted.warnings.iter().map(|found| Diagnostic::at(&lines, found.clone())).collect(),
            counts,
        }
    }
}

impl Counts {
    fn of(outcome: &optimiser::Outcome) -> Self {
        let estimate = outcome.estimate();
        let count =
            |is: &dyn Fn(&Record) -> bool| outcome.records.iter().filter(|record| is(record)).count() as u64;
        let rewritten = |how| matches!(how, How::Proved(_) | How::Sampled);
        let deleted = |how| matches!(how, How::Dead | How::Freed);
        let made =
            |record: &Record, which: fn(How) -> bool| matches!(record.kind, Kind::Passed(how) if which(how));
        Self {
            functions: outcome.seen.functions,
            rewritten: count(&|record| made(record, rewritten)),
            deleted: count(&|record| made(record, deleted)),
            failures: count(&|record| record.kind.is_bug()),
            estimated_saving: estimate.saved,
            estimated_before: estimate.of,
        }
    }
}
