//! Why a statement stays as it is: the obstacle to each of its spellings, and which of these reasons is recorded.
//!
//! Nothing here decides anything: it only describes what the search has found. A video instruction always gets a
//! reason, since it is what users look for; a plain instruction gets one only if a cheaper spelling was at hand.

use super::choose::Spelling;
use super::function::Work;
use super::record::{Record, Why};
use crate::cost::Cost;
use crate::recipe::Recipe;
use crate::rules::{Pass, Rule};
use ptxopt_grammar::tree::StmtId;

/// A reason, with the spelling that it is about, if any.
#[derive(Clone, Debug)]
pub(super) struct Stays {
    why: Why,
    trail: Vec<&'static Rule>,
    /// What the statement and that spelling cost.
    cost: Option<(Cost, Cost)>,
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
        Self { why, trail: Vec::new(), cost: None }
    }
}

impl Stays {
    /// How far the spelling was from being written, and what it costs; the nearest is the one that is recorded.
    fn distance(&self) -> (Distance, u32) {
        let cost = self.cost.map_or(u32::MAX, |(_, cost)| cost.most);
        let blocked = matches!(self.why, Why::Lacks { .. } | Why::Unheld | Why::Unclear);
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
    /// What stands against a recipe that costs `cost` in the place of a statement that costs `own`, and of what is
    /// freed, which costs `saved`; `None` if it pays.
    pub(super) fn too_dear(
        &self,
        stmt: StmtId,
        [own, saved]: [Cost; 2],
        recipe: &Recipe,
        cost: Cost,
    ) -> Option<Why> {
        let before = own + saved;
        let gain = before.least.checked_sub(cost.most);
        let least = self.least_gain(stmt, own, recipe);
        if gain.is_some_and(|gain| gain >= least) {
            return None;
        }
        let may_pay = self.is_video(stmt) && before.most != u32::MAX && cost.most < before.most;
        Some(if cost.most == u32::MAX {
            self.lacks(recipe).unwrap_or(Why::Uncosted)
        } else if may_pay || gain.is_some_and(|gain| gain > 0) {
            Why::Noise
        } else {
            Why::Dearer
        })
    }

    /// The reason if the module cannot have a recipe's instructions.
    pub(super) fn lacks(&self, recipe: &Recipe) -> Option<Why> {
        let instruction = self.target.lacks(recipe)?;
        let target = self.target.gpu.map_or_else(|| "the target".to_owned(), |gpu| gpu.to_string());
        Some(Why::Lacks { instruction, target, ptx: self.target.ptx })
    }

    /// A reason that is about a spelling.
    pub(super) fn obstacle(why: Why, spelling: Spelling, before: Cost, cost: Cost) -> Stays {
        Stays { why, trail: spelling.trail, cost: Some((before, cost)) }
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
        if !self.is_video(stmt) && stays.distance().0 > Distance::Doubtful {
            return None;
        }
        let Stays { why, trail, cost } = stays;
        let cost = cost.filter(|(_, after)| after.most != u32::MAX);
        Some(Record {
            pass: trail.last().map_or(Pass::Simplify, |rule| rule.pass),
            rules: trail.iter().map(|rule| rule.name).collect(),
            cost,
            ..self.missed(stmt, why)
        })
    }
}
