//! Places that move what the same branches decide.
//!
//! The branches go only when nothing needs what they decide, so all these places are tried together, each with its
//! cheapest spelling that reads nothing of that kind.

use super::search::{Group, TOGETHER, alone};
use super::uses::taken;
use super::{Candidate, Nodes, Place, Uses, reads};
use crate::graph::{Graph, Origin, ValueId};
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::tree::StmtId;
use std::collections::BTreeSet;
use std::rc::Rc;

/// How many values are looked at for the branches that decide one.
const MOST_DECIDED: usize = 800;

/// A place that moves what branches decide, and these branches.
struct Decided<'p> {
    place: &'p Place,
    branches: BTreeSet<ValueId>,
}

/// The places by branches that they have in common; those that can do without.
pub(super) fn groups<'p>(uses: &Uses<'_, '_, '_>, nodes: &Nodes, places: &'p [Place]) -> Vec<Group<'p>> {
    let graph = uses.graph();
    let mut groups: Vec<Vec<Decided<'p>>> = Vec::new();
    for place in places {
        let Some(value) = moved(graph, place.stmt) else { continue };
        let branches = branches_of(graph, value);
        let meets =
            |group: &Vec<Decided<'p>>| group.iter().any(|decided| !decided.branches.is_disjoint(&branches));
        let (met, others): (Vec<_>, Vec<_>) = groups.into_iter().partition(meets);
        let mut group: Vec<Decided<'p>> = met.into_iter().flatten().collect();
        group.push(Decided { place, branches });
        groups = others;
        groups.push(group);
    }
    let cheapest = |place: &'p Place| {
        let is_free = |to: &&Rc<Candidate>| !uses.reads_of(to).any(|read| is_decided(graph, read));
        Some((place, place.candidates.iter().filter(is_free).min_by_key(|to| alone(nodes, to))?))
    };
    let spelled = |group: Vec<Decided<'p>>| {
        let sharers = group.iter().map(|decided| cheapest(decided.place)).collect::<Option<Vec<_>>>()?;
        Some(Group { nodes: Vec::new(), sharers })
    };
    groups.into_iter().filter(|group| group.len() <= TOGETHER).filter_map(spelled).collect()
}

/// Whether branches decide what a value is.
fn is_decided(graph: &Graph<'_, '_>, value: ValueId) -> bool {
    graph.value(value).gated.is_some()
}

/// What a statement moves, if branches decide it.
fn moved(graph: &Graph<'_, '_>, stmt: StmtId) -> Option<ValueId> {
    let is_move = graph.module().row(stmt).is_some_and(|row| row.is(op::MOV));
    reads(graph, stmt).next().filter(|&value| is_move && is_decided(graph, value))
}

/// The branches that decide what a value is, and what it is computed of, as sinks.
fn branches_of(graph: &Graph<'_, '_>, value: ValueId) -> BTreeSet<ValueId> {
    let (mut seen, mut branches) = (BTreeSet::new(), BTreeSet::new());
    let mut work = vec![value];
    while let Some(value) = work.pop() {
        if seen.len() == MOST_DECIDED || !seen.insert(value) {
            continue;
        }
        match graph.value(value).origin {
            Origin::Phi(_) if is_decided(graph, value) => {
                branches.extend(graph.decisions(value));
                work.extend(taken(graph, value));
            }
            Origin::Result(stmt) if graph.only_computes(stmt) => work.extend(reads(graph, stmt)),
            Origin::Sink(branch) => work.extend(reads(graph, branch)),
            Origin::Phi(_) | Origin::Result(_) | Origin::Undefined | Origin::Read(_) | Origin::Opaque => {}
        }
    }
    branches
}
