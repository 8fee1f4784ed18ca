//! Records: what was done, what was nearly done, and why.
//!
//! A record describes a decision that was made elsewhere. Only the record of a bug has an effect, and a safe one: its
//! function is written as it came.

use super::Estimate;
use crate::cost::Cost;
use crate::rules::Pass;
use crate::verify::{Judgement, Wrong};
use ptxopt_grammar::tree::{Module, StmtId};
use ptxopt_machine::replay::Difference;
use ptxopt_prover::Proof;
use std::time::Duration;

/// What happened at one place.
#[derive(Clone, Debug)]
pub struct Record {
    /// What kind of record it is.
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
    /// What it cost, with what became unused by it, and what the new text costs; machine instructions.
    pub cost: Option<(Cost, Cost)>,
    /// The same of this statement alone, if others became unused by it: they have it in their own records.
    pub here: Option<(Cost, Cost)>,
    /// The same on each GPU by itself, in the order of [`Costs::each`](crate::cost::Costs::each), if costs are those of
    /// several together; empty if they are those of one, or the same on all.
    pub each: Vec<(Cost, Cost)>,
    /// The statements that became unused.
    pub freed: Vec<String>,
    /// How long the decision took, where there is a clock.
    pub time: Duration,
}

/// Kinds of records.
#[derive(Clone, PartialEq, Debug)]
pub enum Kind {
    /// A rewrite that was made, and how it was checked.
    Passed(How),
    /// One that was not made.
    Missed(Why),
    /// A rewrite that would have been wrong: a bug.
    Wrong(Box<Wrong>),
    /// A rewrite after which a replay of the function did something else: a bug.
    Diverged(Box<Difference>),
    /// Moves between a word and its halves of which it is not proved that they change nothing, and why: a bug.
    Misplaced(String),
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
    /// Its result was unused in the text as it came.
    Dead,
    /// Its result is unused since a rewrite, whose record lists it.
    Freed,
    /// Its result is kept as halves from then on, and it is proved that this changes nothing.
    Halved,
    /// Its lanes are carried in a word from then on, and it is proved that this changes nothing.
    Carried,
    /// The same bytes of memory are accessed, as words.
    Words,
    /// The same value is stored, after it was moved.
    Moved,
    /// For a declaration: the name was searched for and occurs nowhere else.
    Unnamed,
    /// For the head of a module: new instructions need it.
    Raised {
        /// Whether the threads of a warp are scheduled independently from now on.
        independent: bool,
    },
}

/// Why accesses to neighbouring bytes are not one access to a word.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Apart {
    /// It is not proved that the word is aligned.
    Unaligned,
    /// What comes between them may overlap with them or order them.
    Interrupted,
    /// Some bytes of the word are not accessed.
    Incomplete,
    /// They are under guards.
    Guarded,
    /// They are volatile, ordered, or have a policy of their own.
    Strong,
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
    /// A comment or a line marker stands inside the statement, or a pragma is about it.
    Comment,
    /// The assembler gets the cheaper form wrong.
    Faulty(&'static str),
    /// The costs of this GPU are not known.
    NoCosts,
    /// The limit of rewrites was reached.
    Limit,
    /// A spelling that costs less, or whose cost is unknown, needs an instruction that the module cannot have.
    Lacks {
        /// The instruction, such as `lop3.b32`.
        instruction: String,
        /// The module's target, such as `sm_35`.
        target: String,
        /// Its version of PTX.
        ptx: (u8, u8),
    },
    /// The head of the module is not raised as far as was allowed.
    Hindered {
        /// The latest target that it may have, such as `sm_62`; its own if none.
        at: Option<String>,
        /// What stands against a later one.
        why: String,
    },
    /// With a later head, a module would save more.
    Raise {
        /// The options that allow it, such as `--raise target`.
        options: String,
        /// How many machine instructions more.
        saved: u64,
    },
    /// The costs of the GPU were not measured, and those of another one count.
    PricedLike {
        /// The GPU, such as `sm_130`.
        gpu: String,
        /// The other one.
        like: &'static str,
    },
    /// A spelling that costs less reads a value that no register holds where the statement stands.
    Unheld,
    /// A spelling costs less, and cannot be put in the place of the statement to be proved.
    Unclear,
    /// A spelling costs less, by no more than the tables can be wrong by.
    Noise,
    /// What a spelling costs on this GPU, or the instruction itself, is unknown.
    Uncosted,
    /// All spellings that the rules find cost as much or more.
    Dearer,
    /// The rules find no other spelling.
    Unspelled,
    /// It is one machine instruction, or none.
    Native,
    /// What it means is unknown.
    Unknown,
    /// Nothing uses a bit of its result.
    Unused,
    /// Control does not reach it.
    Unreachable,
    /// Plain code, of which the assembler makes what a cheaper spelling would save, as far as was measured.
    Plain,
    /// Accesses to neighbouring bytes are not one to a word.
    Apart(Apart),
    /// The caller asked to leave the function alone, for this reason.
    Left(String),
}

/// Text on one line, with single blanks.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The statements of a module, to be found by offset.
pub(super) struct Statements(Vec<usize>);

impl Statements {
    pub(super) fn of(module: &Module<'_>) -> Self {
        Self(module.stmts().map(|stmt| module.stmt_span(stmt).start).collect())
    }

    /// The last statement that begins at `offset` or before it.
    pub(super) fn at(&self, offset: usize) -> Option<StmtId> {
        StmtId::new(self.0.partition_point(|&start| start <= offset).checked_sub(1)?)
    }
}

impl Record {
    /// A record about a statement of a function, without details.
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
            here: None,
            each: Vec::new(),
            freed: Vec::new(),
            time: Duration::ZERO,
        }
    }
}

impl Record {
    /// What the rewrite saves at least by the tables, if it was made and its costs are known; less than nothing for one
    /// that pays for others.
    #[must_use]
    pub fn estimate(&self) -> Option<Estimate> {
        self.cost.filter(|_| matches!(self.kind, Kind::Passed(_))).map(Estimate::of)
    }

    /// The same of this statement alone: each that became unused by it has a record of its own.
    pub(super) fn estimate_here(&self) -> Option<Estimate> {
        self.here.or(self.cost).filter(|_| matches!(self.kind, Kind::Passed(_))).map(Estimate::of)
    }

    /// The same on one of the GPUs whose costs count, by its place in the order of
    /// [`Costs::each`](crate::cost::Costs::each).
    #[must_use]
    pub fn estimate_on(&self, place: usize) -> Option<Estimate> {
        let cost = self.each.get(place).copied().or(self.cost);
        cost.filter(|_| matches!(self.kind, Kind::Passed(_))).map(Estimate::of)
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
            Self::Lacks { .. } => "lacks",
            Self::Hindered { .. } => "hindered",
            Self::Raise { .. } => "raise",
            Self::PricedLike { .. } => "priced-like",
            Self::Unheld => "unheld",
            Self::Unclear => "unclear",
            Self::Noise => "noise",
            Self::Uncosted => "uncosted",
            Self::Dearer => "dearer",
            Self::Unspelled => "unspelled",
            Self::Native => "native",
            Self::Unknown => "unknown",
            Self::Unused => "unused",
            Self::Unreachable => "unreachable",
            Self::Plain => "plain",
            Self::Apart(Apart::Unaligned) => "unaligned",
            Self::Apart(Apart::Interrupted) => "interrupted",
            Self::Apart(Apart::Incomplete) => "incomplete",
            Self::Apart(Apart::Guarded) => "guarded",
            Self::Apart(Apart::Strong) => "strong",
            Self::Left(_) => "left",
        }
    }

    /// Whether it is about a function or a module rather than about one rewrite.
    #[must_use]
    pub const fn is_general(&self) -> bool {
        matches!(
            self,
            Self::Unmodelled(_)
                | Self::Debug
                | Self::NoCosts
                | Self::Left(_)
                | Self::Hindered { .. }
                | Self::Raise { .. }
                | Self::PricedLike { .. }
        )
    }

    /// Whether a rewrite was near: a spelling costs less, or may, and a single obstacle kept it from being written.
    #[must_use]
    pub const fn is_near(&self) -> bool {
        !matches!(
            self,
            Self::Uncosted
                | Self::Dearer
                | Self::Unspelled
                | Self::Native
                | Self::Plain
                | Self::Unknown
                | Self::Unused
                | Self::Unreachable
                | Self::Apart(Apart::Incomplete)
        )
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
            Self::Comment => {
                f.write_str("a comment or a line marker stands inside the statement, or a pragma is about it")
            }
            Self::Faulty(fault) => write!(f, "the assembler gets the cheaper form wrong: {fault}"),
            Self::NoCosts => f.write_str("the costs of this GPU are not known"),
            Self::Limit => f.write_str("the limit of rewrites was reached"),
            Self::Lacks { instruction, target, ptx: (major, minor) } => {
                write!(
                    f,
                    "another spelling needs `{instruction}`, which {target} with PTX {major}.{minor} lacks"
                )
            }
            Self::Hindered { at, why } => match at {
                Some(gpu) => write!(f, "the head is raised no further than {gpu}: {why}"),
                None => write!(f, "the head cannot be raised: {why}"),
            },
            Self::Raise { options, saved } => {
                write!(f, "`{options}` would save about {saved} more machine instructions (estimate)")
            }
            Self::PricedLike { gpu, like } => {
                write!(f, "the costs of {gpu} are not known, and those of {like} are taken for them")
            }
            Self::Unheld => f.write_str("a cheaper spelling reads a value that no register holds here"),
            Self::Unclear => f.write_str("a cheaper spelling is not understood where it would stand"),
            Self::Noise => f.write_str("a cheaper spelling saves no more than the estimates can be wrong by"),
            Self::Uncosted => f.write_str("what it or another spelling costs on this GPU is unknown"),
            Self::Dearer => f.write_str("all spellings known cost as much or more"),
            Self::Unspelled => f.write_str("no other spelling is known"),
            Self::Native => f.write_str("it is one machine instruction already"),
            Self::Unknown => f.write_str("what it means is unknown"),
            Self::Unused => f.write_str("no bit of its result is used; `--dce all` deletes what is unused"),
            Self::Unreachable => f.write_str("control does not reach it"),
            Self::Plain => f.write_str("plain code is left to the assembler, which makes it cheaper itself"),
            Self::Apart(apart) => write!(f, "neighbouring bytes are not accessed as a word: {apart}"),
            Self::Left(reason) => f.write_str(reason),
        }
    }
}

impl std::fmt::Display for Apart {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Unaligned => "its alignment is not proved",
            Self::Interrupted => "what comes between may overlap or order them",
            Self::Incomplete => "some of its bytes are not accessed",
            Self::Guarded => "they are accessed under guards",
            Self::Strong => "they are volatile, ordered, or have a policy of their own",
        })
    }
}

impl std::fmt::Display for How {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Proved(proof) => write!(f, "proved ({proof})"),
            Self::Sampled => f.write_str("sampled, not proved"),
            Self::Dead => f.write_str("its result is unused"),
            Self::Freed => f.write_str("its result is unused since a rewrite"),
            Self::Halved => f.write_str("put together again, the halves are the same word"),
            Self::Carried => f.write_str("taken out of the word again, the lanes are the same"),
            Self::Words => f.write_str("the word is made up of the same bytes"),
            Self::Moved => f.write_str("the same value is stored"),
            Self::Unnamed => f.write_str("nothing names it"),
            Self::Raised { independent: false } => f.write_str("new instructions need it"),
            Self::Raised { independent: true } => f.write_str(
                "new instructions need it; from now on the threads of a warp are scheduled independently, so the code must \
                 not rely on warps in lockstep",
            ),
        }
    }
}

impl Kind {
    /// Whether it is a bug of the optimiser, after which nothing of the function is written.
    #[must_use]
    pub const fn is_bug(&self) -> bool {
        match self {
            Self::Passed(_) | Self::Missed(_) => false,
            Self::Wrong(_)
            | Self::Diverged(_)
            | Self::Misplaced(_)
            | Self::Illegal(_)
            | Self::Unending(_) => true,
        }
    }

    /// What the answer of verification means for the record; `None` where there is nothing to record.
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
