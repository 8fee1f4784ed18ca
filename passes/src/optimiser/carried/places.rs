//! Where statements are added: where paths join, and where the last of some values is written.
//!
//! A place that is not the right one is found by the proof, which fails then.

use crate::graph::{BlockId, Graph, Origin, ValueId};
use ptxopt_grammar::table::{Control, InFlight, Row};
use ptxopt_grammar::tree::{StmtId, StmtKind};

/// Where statements are added: before a statement, or after it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Insertion {
    Before(StmtId),
    After(StmtId),
}

impl Insertion {
    /// The statement before or after which they are added.
    pub(super) const fn stmt(self) -> StmtId {
        let (Self::Before(stmt) | Self::After(stmt)) = self;
        stmt
    }
}

/// The first instruction of a block; none if a pragma is about it, which is to stand directly before it.
pub(super) fn first(graph: &Graph<'_, '_>, block: BlockId) -> Option<StmtId> {
    let module = graph.module();
    let first = graph.flow().stmts(block).find(|&stmt| module.kind(stmt) == StmtKind::Instruction);
    first.filter(|&stmt| !module.has_own_pragma(stmt))
}

/// Where the last of some values is written, all others being there; `None` if none is the last.
pub(super) fn last(graph: &Graph<'_, '_>, values: &[ValueId]) -> Option<Insertion> {
    let place = |value: &ValueId| match graph.value(*value).origin {
        Origin::Result(stmt) => {
            // What was not waited for is not there yet.
            let is_there = |row: &Row| {
                row.control == Control::Next && !matches!(row.in_flight, Some(InFlight::Begins(_)))
            };
            let is_there = graph.module().row(stmt).is_some_and(is_there);
            is_there.then_some((graph.flow().block(stmt), Insertion::After(stmt)))
        }
        Origin::Phi(block) => Some((block, Insertion::Before(first(graph, block)?))),
        Origin::Undefined | Origin::Read(_) | Origin::Opaque | Origin::Sink(_) => None,
    };
    let places: Vec<(BlockId, Insertion)> = values.iter().map(place).collect::<Option<_>>()?;
    let is_after = |(block, place): (BlockId, Insertion), (before, other): (BlockId, Insertion)| {
        if block == before { is_later(place, other) } else { graph.flow().dominates(before, block) }
    };
    let found = places.iter().find(|&&place| places.iter().all(|&other| is_after(place, other)));
    found.map(|&(_, place)| place)
}

/// Whether a place of a block is another one or comes after it.
fn is_later(place: Insertion, other: Insertion) -> bool {
    match (place, other) {
        (Insertion::Before(_), Insertion::After(_)) => false,
        (Insertion::After(_), Insertion::Before(_)) => true,
        (Insertion::Before(one), Insertion::Before(other))
        | (Insertion::After(one), Insertion::After(other)) => one >= other,
    }
}
