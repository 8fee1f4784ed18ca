//! Records: what was done, what was nearly done, and why.

use crate::cost::Cost;
use crate::door::{Judgement, Wrong};
use crate::prover::Proof;
use crate::rules::Pass;
use ptxopt_grammar::tree::{Module, StmtId};
use std::time::Duration;

/// What happened at one place.
#[derive(Clone, Debug)]
pub struct Record {
    /// What kind of news it is.
    pub kind: Kind,
    /// The pass of the last rule.
    pub pass: Pass,
    /// The rules, in the order in which they were applied; the name of the reason where no rule was.
    pub rules: Vec<&'static str>,
    /// The function.
    pub function: String,
    /// The offset of the statement in the text as it came, exact or as near as is known.
    pub offset: usize,
    /// The statement before.
    pub before: String,
    /// What stands in its place, or would.
    pub after: Vec<String>,
    /// What it cost, and what the new text costs; machine instructions.
    pub cost: Option<(Cost, Cost)>,
    /// The statements that nobody needs any more.
    pub freed: Vec<String>,
    /// How long the decision took, where there is a clock.
    pub time: Duration,
}

/// Kinds of news.
#[derive(Clone, PartialEq, Debug)]
pub enum Kind {
    /// A rewrite that was made, and how it was checked.
    Passed(How),
    /// One that was not made.
    Missed(Why),
    /// A rewrite that would have been wrong: a bug.
    Wrong(Box<Wrong>),
    /// A rewrite to an instruction that PTX does not have, by its opcode: a bug.
    Illegal(String),
    /// Work that did not end where it must: a bug.
    Unending(Bound),
}

/// Bounds that are far above what any input needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// How many rounds there are.
    Rounds,
    /// How many spellings rules make of one instruction.
    Spellings,
}

impl std::fmt::Display for Bound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Rounds => f.write_str("rounds of rewrites had no end"),
            Self::Spellings => f.write_str("spellings of one instruction had no end"),
        }
    }
}

/// How a rewrite was checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum How {
    /// For all inputs.
    Proved(Proof),
    /// On some inputs.
    Sampled,
    /// By counting its readers: there are none.
    Dead,
    /// By looking for its name, which nothing mentions: a declaration.
    Unnamed,
}

/// Why a rewrite was not made.
#[derive(Clone, PartialEq, Debug)]
pub enum Why {
    /// It was not proved within the budget.
    Unproved,
    /// It would rely on what is not known here.
    Unfounded,
    /// The manual and the assembler disagree on what the instruction means.
    Disputed(&'static str),
    /// The function cannot be modelled.
    Unmodelled(String),
    /// Debug sections name registers.
    Debug,
    /// A comment or a line marker stands inside the statement.
    Comment,
    /// The assembler gets the cheaper form wrong.
    Faulty(&'static str),
    /// The costs of this GPU are not known.
    NoCosts,
    /// The limit of rewrites was reached.
    Limit,
}

/// Text on one line, with single blanks.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Record {
    /// News about a statement of a function, with nothing more to tell.
    pub(super) fn about(module: &Module<'_>, function: &str, stmt: StmtId, kind: Kind) -> Self {
        Self {
            kind,
            pass: Pass::Simplify,
            rules: Vec::new(),
            function: function.to_owned(),
            offset: module.stmt_span(stmt).start,
            before: one_line(&String::from_utf8_lossy(module.stmt_text(stmt))),
            after: Vec::new(),
            cost: None,
            freed: Vec::new(),
            time: Duration::ZERO,
        }
    }
}

impl Why {
    /// What users call it.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Unproved => "unproved",
            Self::Unfounded => "unfounded",
            Self::Disputed(_) => "disputed",
            Self::Unmodelled(_) => "unmodelled",
            Self::Debug => "debug",
            Self::Comment => "comment",
            Self::Faulty(_) => "faulty",
            Self::NoCosts => "no-costs",
            Self::Limit => "limit",
        }
    }

    /// Whether it is about a function or a module rather than about one rewrite.
    #[must_use]
    pub const fn is_general(&self) -> bool {
        match self {
            Self::Unmodelled(_) | Self::Debug | Self::NoCosts => true,
            Self::Unproved
            | Self::Unfounded
            | Self::Disputed(_)
            | Self::Comment
            | Self::Faulty(_)
            | Self::Limit => false,
        }
    }
}

impl std::fmt::Display for Why {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unproved => f.write_str("not proved within the budget"),
            Self::Unfounded => f.write_str("it would rely on what is not known here"),
            Self::Disputed(class) => {
                write!(f, "the manual and the assembler disagree on what it means (`{class}`)")
            }
            Self::Unmodelled(reason) => write!(f, "the function cannot be modelled: {reason}"),
            Self::Debug => f.write_str("debug sections name registers"),
            Self::Comment => f.write_str("a comment or a line marker stands inside the statement"),
            Self::Faulty(fault) => write!(f, "the assembler gets the cheaper form wrong: {fault}"),
            Self::NoCosts => f.write_str("the costs of this GPU are not known"),
            Self::Limit => f.write_str("the limit of rewrites was reached"),
        }
    }
}

impl std::fmt::Display for How {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Proved(proof) => write!(f, "proved ({proof})"),
            Self::Sampled => f.write_str("sampled, not proved"),
            Self::Dead => f.write_str("nobody reads it"),
            Self::Unnamed => f.write_str("nothing names it"),
        }
    }
}

impl Kind {
    /// What the door's answer means for the record; `None` where there is nothing to tell.
    #[must_use]
    pub fn of(judgement: Judgement) -> Option<Self> {
        match judgement {
            Judgement::Proved(proof) => Some(Self::Passed(How::Proved(proof))),
            Judgement::Sampled => Some(Self::Passed(How::Sampled)),
            Judgement::Unproved => Some(Self::Missed(Why::Unproved)),
            Judgement::Unfounded => Some(Self::Missed(Why::Unfounded)),
            Judgement::Unclear => None,
            Judgement::Wrong(wrong) => Some(Self::Wrong(wrong)),
        }
    }
}
