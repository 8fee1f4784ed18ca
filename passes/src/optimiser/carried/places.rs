//! Where statements are added: where paths join, and where the last of some values is written.
//!
//! A place that is not the right one is found by the proof, which fails then.

use crate::graph::{BlockId, Graph, Origin, ValueId};
use ptxopt_grammar::table::Control;
use ptxopt_grammar::tree::{StmtId, StmtKind};

/// Where statements are added: before a statement, or after it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Place {
    Before(StmtId),
    After(StmtId),
}

/// The first instruction of a block.
pub(super) fn first(graph: &Graph<'_, '_>, block: BlockId) -> Option<StmtId> {
    graph.flow().stmts(block).find(|&stmt| graph.module().kind(stmt) == StmtKind::Instruction)
}

/// Where the last of some values is written, all others being there; `None` if none is the last.
pub(super) fn last(graph: &Graph<'_, '_>, values: &[ValueId]) -> Option<Place> {
    let place = |value: &ValueId| match graph.value(*value).origin {
        Origin::Result(stmt) => {
            let goes_on = graph.module().row(stmt).is_some_and(|row| row.control == Control::Next);
            goes_on.then_some((graph.flow().block(stmt), Place::After(stmt)))
        }
        Origin::Phi(block) => Some((block, Place::Before(first(graph, block)?))),
        Origin::Undefined | Origin::Read(_) | Origin::Opaque | Origin::Sink(_) => None,
    };
    let places: Vec<(BlockId, Place)> = values.iter().map(place).collect::<Option<_>>()?;
    let is_after = |(block, place): (BlockId, Place), (before, other): (BlockId, Place)| {
        if block == before { is_later(place, other) } else { graph.flow().dominates(before, block) }
    };
    let found = places.iter().find(|&&place| places.iter().all(|&other| is_after(place, other)));
    found.map(|&(_, place)| place)
}

/// Whether a place of a block is another one or comes after it.
fn is_later(place: Place, other: Place) -> bool {
    match (place, other) {
        (Place::Before(_), Place::After(_)) => false,
        (Place::After(_), Place::Before(_)) => true,
        (Place::Before(one), Place::Before(other)) | (Place::After(one), Place::After(other)) => one >= other,
    }
}
