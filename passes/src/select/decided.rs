//! Places that move what the same branches decide.
//!
//! The branches go only when nothing needs what they decide, so all these places are tried together, each with its
//! cheapest spelling that reads nothing of that kind.

use super::search::{Group, TOGETHER, alone};
use super::uses::taken;
use super::{Candidate, Nodes, Place, Uses, reads};
use crate::graph::{Graph, Origin, ValueId};
use hashbrown::HashMap;
use petgraph::unionfind::UnionFind;
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::tree::StmtId;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// How many values are looked at for the branches that decide one.
const MOST_DECIDED: usize = 800;

/// The places by branches that they have in common; those that can do without.
pub(super) fn groups<'p>(uses: &Uses<'_, '_, '_>, nodes: &Nodes, places: &'p [Place]) -> Vec<Group<'p>> {
    let graph = uses.graph();
    let moving: Vec<(&Place, ValueId)> =
        places.iter().filter_map(|place| Some((place, moved(graph, place.stmt)?))).collect();
    // By branch, the first place that it decides for.
    let mut first: HashMap<ValueId, usize> = HashMap::new();
    let mut common = UnionFind::new(moving.len());
    for (at, &(_, value)) in moving.iter().enumerate() {
        for branch in branches_of(graph, value) {
            common.union(*first.entry(branch).or_insert(at), at);
        }
    }
    let mut groups: BTreeMap<usize, Vec<&'p Place>> = BTreeMap::new();
    for (at, &(place, _)) in moving.iter().enumerate() {
        groups.entry(common.find(at)).or_default().push(place);
    }
    let cheapest = |place: &'p Place| {
        let is_free = |to: &&Rc<Candidate>| !uses.reads_of(to).any(|read| graph.is_decided(read));
        Some((place, place.candidates.iter().filter(is_free).min_by_key(|to| alone(nodes, to))?))
    };
    let spelled = |group: Vec<&'p Place>| {
        let sharers = group.into_iter().map(cheapest).collect::<Option<Vec<_>>>()?;
        Some(Group { nodes: Vec::new(), sharers })
    };
    groups.into_values().filter(|group| group.len() <= TOGETHER).filter_map(spelled).collect()
}

/// What a statement moves, if branches decide it.
fn moved(graph: &Graph<'_, '_>, stmt: StmtId) -> Option<ValueId> {
    let is_move = graph.module().row(stmt).is_some_and(|row| row.is(op::MOV));
    reads(graph, stmt).next().filter(|&value| is_move && graph.is_decided(value))
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
            Origin::Phi(_) if graph.is_decided(value) => {
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
