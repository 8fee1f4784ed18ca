//! How great a value can be, proved from what it is made of.
//!
//! What lies between two texts is often proved only where a value that both read is known to be small, and not where it
//! is taken apart: `min(w, 256)` is no easier to multiply than any number up to 256, and hides that it is the same on
//! both sides. So the facts say how great it may be, the prover whether that is so, and only then is it assumed.

use super::region::Alone;
use crate::graph::{Graph, ValueId};
use crate::site::Knowledge;
use ptxopt_prover::{Brief, Budget, Prover, Query};

/// The greatest value that is of use: numbers of the prover have no more bits.
const MOST: u128 = 0xffff;

/// How many values a value is taken apart into.
const NEAR: usize = 12;

/// The effort of a proof. Most need none.
const BUDGET: Budget = Budget { step: 100, total: 300 };

/// The greatest value that a value can have; `None` if it is too great, or not proved.
pub(super) fn most(
    prover: &mut Prover,
    graph: &Graph<'_, '_>,
    knowledge: &Knowledge,
    value: ValueId,
) -> Option<u128> {
    let (_, most) = knowledge.facts.get(value.index()).assumption()?.unsigned?;
    if most > MOST || graph.value(value).def.is_none() {
        return None;
    }
    let Alone { mut terms, term, assumptions } = Alone::new(graph, knowledge, value, NEAR);
    let bound = terms.constant(most, terms.width(term));
    let exceeds = terms.unsigned_less(bound, term);
    let never = terms.constant(0, 1);
    let mut query = Query::new(&terms, vec![exceeds], vec![never]);
    query.assumptions = assumptions;
    query.budget = BUDGET;
    matches!(prover.decide_briefly(&query), Brief::Proved(_)).then_some(most)
}
