//! Why a statement stays as it is: the obstacle to each of its spellings, and which of these reasons is recorded.
//!
//! Nothing here decides anything: it only describes what the search has found. A video instruction always gets a
//! reason, since it is what users look for; a plain instruction gets one only if a cheaper spelling was at hand.

use super::function::Work;
use super::record::{Record, Why};
use super::spell::Spelling;
use crate::cost::Cost;
use crate::rules::{Pass, Rule};
use ptxopt_grammar::head::version;
use ptxopt_grammar::tree::StmtId;

/// A reason, with the spelling that it is about, if any.
#[derive(Clone, Debug)]
pub(super) struct Stays {
    why: Why,
    trail: Vec<&'static Rule>,
    /// What the statement and that spelling cost.
    cost: Option<(Cost, Cost)>,
    /// The text that would stand in its place, if it is recorded.
    after: Vec<String>,
}

/// How far a spelling was from being written, the nearest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Distance {
    /// It costs less, but cannot be written where the statement stands.
    Blocked,
    /// It seems to cost less.
    Doubtful,
    /// It needs what the module cannot have, and what it would cost is unknown.
    Missing,
    /// What it costs is unknown.
    Unknown,
    /// It does not cost less.
    Dearer,
}

impl From<Why> for Stays {
    fn from(why: Why) -> Self {
        Self { why, trail: Vec::new(), cost: None, after: Vec::new() }
    }
}

impl Stays {
    /// A reason that is about a spelling, which costs `cost` where all that it replaces costs `before`.
    pub(super) fn about(why: Why, trail: Vec<&'static Rule>, before: Cost, cost: Cost) -> Self {
        Self { why, trail, cost: Some((before, cost)), after: Vec::new() }
    }

    /// The same with the text that would stand there.
    pub(super) fn with(self, after: Vec<String>) -> Self {
        Self { after, ..self }
    }

    /// How far the spelling was from being written, and what it costs; the nearest is the one that is recorded.
    fn distance(&self) -> (Distance, u32) {
        let cost = self.cost.map_or(u32::MAX, |(_, cost)| cost.most);
        let blocked = matches!(self.why, Why::Lacks { .. } | Why::Unheld | Why::Unclear | Why::Comment);
        let distance = if blocked && cost != u32::MAX {
            Distance::Blocked
        } else if matches!(self.why, Why::Noise | Why::Plain) {
            Distance::Doubtful
        } else if matches!(self.why, Why::Lacks { .. }) {
            Distance::Missing
        } else if matches!(self.why, Why::Uncosted) {
            Distance::Unknown
        } else {
            Distance::Dearer
        };
        (distance, cost)
    }
}

impl Work<'_, '_, '_> {
    /// The reason if the module cannot have a spelling's instructions.
    pub(super) fn lacks(&self, spelling: &Spelling) -> Option<Why> {
        let instruction = spelling.lacks?.to_string();
        let head = self.profit.target.heads.allowed();
        let target = head.map_or_else(|| "the target".to_owned(), |head| head.gpu.to_string());
        let ptx = head.map_or_else(|| version(self.module), |head| head.ptx);
        Some(Why::Lacks { instruction, target, ptx })
    }

    /// The reason to record for a statement that costs `alone` and whose spellings have these obstacles.
    pub(super) fn nearest(alone: Cost, obstacles: Vec<Stays>) -> Stays {
        let nearest = obstacles.into_iter().min_by_key(Stays::distance);
        let near = nearest.as_ref().is_some_and(|stays| stays.distance().0 <= Distance::Doubtful);
        if !near && alone.most <= 1 {
            return Why::Native.into();
        }
        if !near && alone.most == u32::MAX {
            return Why::Uncosted.into();
        }
        nearest.unwrap_or_else(|| Why::Unspelled.into())
    }

    /// The record of a statement that stays, if its reason is recorded.
    pub(super) fn stays(&self, stmt: StmtId, stays: Stays) -> Option<Record> {
        if !self.profit.is_video(stmt) && stays.distance().0 > Distance::Doubtful {
            return None;
        }
        let Stays { why, trail, cost, after } = stays;
        let cost = cost.filter(|(_, after)| after.most != u32::MAX);
        Some(Record {
            pass: trail.last().map_or(Pass::Simplify, |rule| rule.pass),
            rules: trail.iter().map(|rule| rule.name).collect(),
            cost,
            after,
            ..self.missed(stmt, why)
        })
    }
}
