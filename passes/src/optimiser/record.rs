//! Records: what was done, what was nearly done, and why.

use crate::cost::Cost;
use crate::door::{Judgement, Wrong};
use crate::prover::Proof;
use crate::rules::Pass;
use ptxopt_grammar::tree::{Module, StmtKind};
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

/// The record that says why a module is left alone: at its `.target`.
pub(super) fn of_module(module: &Module<'_>, why: Why) -> Record {
    let target = module.stmts().find(|&stmt| module.kind(stmt) == StmtKind::Target);
    let text = |stmt| String::from_utf8_lossy(module.stmt_text(stmt)).into_owned();
    Record {
        kind: Kind::Missed(why),
        pass: Pass::Simplify,
        rules: Vec::new(),
        function: String::new(),
        offset: target.map_or(0, |stmt| module.stmt_span(stmt).start),
        before: target.map(text).unwrap_or_default(),
        after: Vec::new(),
        cost: None,
        freed: Vec::new(),
        time: Duration::ZERO,
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
