//! What a function could begin with in other variants than as it came: accesses to words, and bytes that are carried in
//! words. They are found where the function is analysed anyway, in the first round of the run of the text as it came.

use super::carried::Carried;
use super::record::Record;
use super::splice::Fresh;
use super::visible::Declarations;
use super::words::Words;
use crate::graph::Graph;
use crate::site::Knowledge;
use std::collections::BTreeSet;

/// What was found in a function.
pub(super) struct Beginning {
    /// The accesses that can be accesses to words.
    pub(super) words: Option<Words>,
    /// Of those that cannot.
    pub(super) refused: Vec<Record>,
    /// The bytes that could be carried in words.
    pub(super) carried: Option<Carried>,
}

impl Beginning {
    /// Whether the function can begin with something.
    pub(super) const fn is_something(&self) -> bool {
        self.words.is_some() || self.carried.is_some()
    }

    pub(super) fn of(
        graph: &Graph<'_, '_>,
        knowledge: &Knowledge,
        declarations: &Declarations,
        fresh: &Fresh,
    ) -> Self {
        let (words, refused) = Words::of(graph);
        let carried = Carried::of(graph, knowledge, declarations, fresh, &BTreeSet::new());
        Self { words, refused, carried }
    }
}
