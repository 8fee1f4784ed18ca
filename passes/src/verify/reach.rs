//! How far a region reaches: which values it takes apart into what they are made of, and which it keeps whole.
//!
//! Nothing here decides what is true. A region that keeps too much whole fails to prove what holds; whatever it proves
//! holds for all that the values at its edge can be.

use super::Rewrite;
use crate::graph::{Graph, ValueId, inputs_of};
use std::collections::{BTreeMap, BTreeSet};

/// How far a region reaches.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// So many values, those nearest to what either text reads, down to phis.
    Around(usize),
    /// So many values, between what the old text reads and what the new text reads: nothing that both read is taken
    /// apart, which would only hide that it is the same.
    Between(usize),
    /// The same, but what is made of nothing else than what both read is taken apart as well, and the rest of that is
    /// assumed to be no greater than it was proved to be.
    Founded(usize),
}

/// Whether phis are taken apart that branches choose.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gates {
    /// They are values like others.
    Open,
    /// They are at the edge, as other phis are.
    Shut,
}

/// The values that are replaced by what they are made of, with the values that this reads.
pub(super) type Inner = BTreeMap<ValueId, BTreeSet<ValueId>>;

/// What a region takes apart.
pub(super) struct Reach {
    pub(super) inner: Inner,
    /// Whether everything that can be expanded is expanded.
    pub(super) whole: bool,
    /// Whether everything between what the old text and what the new text reads is.
    pub(super) has_all_between: bool,
    /// Whether it is asked how great a value can be that is kept whole.
    pub(super) most: bool,
    /// Whether both texts could be equal: not where the new text reads what the old one is not made of.
    pub(super) may_be_equal: bool,
}

impl Reach {
    /// What the region of a rewrite takes apart; `None` if it is not known what the old text computes.
    pub(super) fn of(graph: &Graph<'_, '_>, rewrite: &Rewrite<'_>, extent: Extent) -> Option<Self> {
        let core = graph.value(rewrite.value).core?;
        let mut roots: BTreeSet<ValueId> = inputs_of(graph.terms(), core);
        let read: BTreeSet<ValueId> = rewrite.recipe.values().collect();
        Some(match extent {
            Extent::Around(size) => {
                roots.extend(read);
                Self::around(graph, roots, size)
            }
            Extent::Between(size) => {
                let found = Found::new(graph, roots, &read, size, Gates::Open);
                Self { has_all_between: found.all, whole: false, ..found.reach() }
            }
            Extent::Founded(size) => {
                let (made, kept): (BTreeSet<ValueId>, BTreeSet<ValueId>) =
                    read.iter().partition(|&&value| is_made_of(graph, value, &read));
                roots.extend(made);
                let found = Found::new(graph, roots, &kept, size, Gates::Open);
                Self { whole: false, most: true, ..found.reach() }
            }
        })
    }

    /// The values nearest to some.
    pub(super) fn around(graph: &Graph<'_, '_>, roots: BTreeSet<ValueId>, size: usize) -> Self {
        Found::new(graph, roots, &BTreeSet::new(), size, Gates::Shut).reach()
    }
}

/// The values nearest to some roots.
struct Found {
    inner: Inner,
    /// The values that are kept whole and were not met.
    missed: BTreeSet<ValueId>,
    /// Whether these are all that can be taken apart.
    all: bool,
}

impl Found {
    fn new(
        graph: &Graph<'_, '_>,
        roots: BTreeSet<ValueId>,
        kept: &BTreeSet<ValueId>,
        size: usize,
        gates: Gates,
    ) -> Self {
        let mut found = Self { inner: Inner::new(), missed: kept.clone(), all: true };
        let mut front = roots;
        while !front.is_empty() {
            let mut next = BTreeSet::new();
            for value in front {
                found.missed.remove(&value);
                let open = !found.inner.contains_key(&value) && !kept.contains(&value);
                let Some(def) = graph.made_of(value).filter(|_| open) else { continue };
                if gates == Gates::Shut && graph.is_decided(value) {
                    found.all = false;
                    continue;
                }
                if found.inner.len() == size {
                    found.all = false;
                    return found;
                }
                let read = inputs_of(graph.terms(), def);
                next.extend(&read);
                found.inner.insert(value, read);
            }
            front = next;
        }
        found
    }

    fn reach(self) -> Reach {
        let Self { inner, missed, all } = self;
        Reach { inner, whole: all, has_all_between: false, most: false, may_be_equal: missed.is_empty() }
    }
}

/// Whether a value is computed of these and of constants alone.
fn is_made_of(graph: &Graph<'_, '_>, value: ValueId, of: &BTreeSet<ValueId>) -> bool {
    let inputs = |value: ValueId| graph.made_of(value).map(|def| inputs_of(graph.terms(), def));
    let is_constant = |value: &ValueId| inputs(*value).is_some_and(|inputs| inputs.is_empty());
    let Some(mut inputs) = inputs(value) else { return false };
    inputs.retain(|input| !is_constant(input));
    !inputs.is_empty() && inputs.is_subset(of)
}
