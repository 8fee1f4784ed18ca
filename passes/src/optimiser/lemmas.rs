//! Lemmas: what was proved of one statement is used in the proofs of those behind it.
//!
//! The longer a chain of statements is, the longer a text is that computes its end of what it began with, and the harder
//! it is to prove. But such a text often begins with the text of a statement of the chain, which was proved by itself: to
//! agree with that statement's value on all of its demanded bits, whatever else the words hold that it reads. So it is
//! enough to prove what follows of any word that agrees with that value on its demanded bits, and this is what is asked
//! about a text that reads the value itself.
//!
//! Both are about the same moment: the statement stands before in the same block, so it was executed with the values that
//! the text reads. It has no guard, so it has written its value. A text that may read undefined registers is left out,
//! since each read of one could be another number.

use crate::graph::{Graph, Origin, ValueId};
use crate::recipe::{Recipe, Source, Step};
use hashbrown::HashMap;
use ptxopt_grammar::tree::StmtId;

/// What was proved of the statements of a function.
#[derive(Debug, Default)]
pub(super) struct Lemmas {
    /// By what computes a value: the statement that writes it, and the value.
    known: HashMap<Vec<Step>, (StmtId, ValueId)>,
}

/// A recipe that begins with values in the place of what was proved to compute them.
#[derive(Debug)]
pub(super) struct Shortened {
    pub(super) recipe: Recipe,
    /// For each of its steps the number that it had.
    pub(super) numbers: Vec<usize>,
}

impl Lemmas {
    /// Notes that a recipe was proved to compute the value that a statement writes.
    pub(super) fn note(&mut self, graph: &Graph<'_, '_>, stmt: StmtId, value: ValueId, recipe: &Recipe) {
        let is_defined =
            |value: ValueId| !matches!(graph.value(value).origin, Origin::Undefined | Origin::Read(_));
        let is_always = graph.module().guard(stmt).is_none();
        if let Some(last) = recipe.steps.len().checked_sub(1)
            && is_always
            && recipe.values().all(is_defined)
        {
            self.known.entry(below(&recipe.steps, last)).or_insert((stmt, value));
        }
    }

    /// A recipe for a statement with what was proved in it taken as known; `None` if nothing was.
    pub(super) fn shorten(&self, graph: &Graph<'_, '_>, stmt: StmtId, recipe: &Recipe) -> Option<Shortened> {
        let steps = &recipe.steps;
        let last = steps.len().checked_sub(1).filter(|_| !self.known.is_empty())?;
        let block = graph.flow().block(stmt);
        let proved = |at: usize| {
            let &(before, value) = self.known.get(&below(steps, at))?;
            (before < stmt && graph.flow().block(before) == block).then_some(value)
        };
        let known: Vec<Option<ValueId>> = (0..last).map(proved).chain([None]).collect();
        let mut needed = vec![false; steps.len()];
        needed[last] = true;
        for at in (0..=last).rev().filter(|&at| known[at].is_none()) {
            if needed[at] {
                steps_of(&steps[at]).for_each(|before| needed[before] = true);
            }
        }
        let numbers: Vec<usize> = (0..=last).filter(|&at| needed[at] && known[at].is_none()).collect();
        let over = |source: &Source| match *source {
            Source::Step(at) => known[at].map_or_else(
                || Source::Step(numbers.binary_search(&at).expect("what a step reads is needed")),
                Source::Value,
            ),
            Source::Value(_) | Source::Constant(_) => *source,
        };
        let shorter = numbers.iter().map(|&at| steps[at].over(over)).collect();
        (numbers.len() < steps.len()).then(|| Shortened { recipe: Recipe::of(shorter), numbers })
    }
}

/// A step and all that it is made of, in an order that depends on nothing else.
fn below(steps: &[Step], root: usize) -> Vec<Step> {
    let mut places: Vec<Option<usize>> = vec![None; root + 1];
    let mut found = Vec::new();
    let mut stack = vec![root];
    while let Some(&at) = stack.last() {
        let waiting = steps_of(&steps[at]).find(|&before| places[before].is_none());
        if let Some(before) = waiting {
            stack.push(before);
            continue;
        }
        stack.pop();
        if places[at].is_none() {
            places[at] = Some(found.len());
            let place = |source: &Source| match *source {
                Source::Step(before) => Source::Step(places[before].expect("it was found before")),
                Source::Value(_) | Source::Constant(_) => *source,
            };
            found.push(steps[at].over(place));
        }
    }
    found
}

/// The steps that a step reads.
fn steps_of(step: &Step) -> impl Iterator<Item = usize> + '_ {
    step.sources.iter().filter_map(|source| match *source {
        Source::Step(at) => Some(at),
        Source::Value(_) | Source::Constant(_) => None,
    })
}
