//! Recipes that many statements have in common, each over values of its own.
//!
//! Kernels repeat their shapes, so what is made of one statement is remembered with numbers in the place of values.
//! Another one of the same shape shares the steps, and keeps only which values the numbers are.

use crate::graph::ValueId;
use crate::recipe::{Packing, Recipe, Source, Step, packing};
use std::sync::Arc;

/// The steps of a recipe, and the values that they read.
#[derive(Clone, Debug)]
pub(super) struct Applied {
    steps: Arc<[Step]>,
    /// The values that the steps read, by number; `None` where the steps have the values themselves.
    values: Option<Arc<[ValueId]>>,
}

impl From<Recipe> for Applied {
    fn from(recipe: Recipe) -> Self {
        Self { steps: recipe.steps.into(), values: None }
    }
}

impl Applied {
    /// The same over these values in the place of numbers.
    pub(super) fn over(&self, values: &Arc<[ValueId]>) -> Self {
        let values = match &self.values {
            None => Arc::clone(values),
            Some(numbers) => numbers.iter().map(|number| values[number.index()]).collect(),
        };
        Self { steps: Arc::clone(&self.steps), values: Some(values) }
    }

    /// The same over numbers in the place of values; `None` if one has none.
    pub(super) fn numbered(&self, mut number: impl FnMut(ValueId) -> Option<usize>) -> Option<Self> {
        let (steps, values) = match &self.values {
            None => (self.steps.iter().map(|step| step.numbered(&mut number)).collect::<Option<_>>()?, None),
            Some(values) => {
                let numbers = values.iter().map(|&value| number(value).map(ValueId::numbered));
                (Arc::clone(&self.steps), Some(numbers.collect::<Option<_>>()?))
            }
        };
        Some(Self { steps, values })
    }

    /// How many steps there are.
    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    /// The steps, in order.
    pub(super) fn steps(&self) -> impl DoubleEndedIterator<Item = Step> + ExactSizeIterator {
        let read = |source: &Source| match (*source, &self.values) {
            (Source::Value(number), Some(values)) => Source::Value(values[number.index()]),
            _ => *source,
        };
        self.steps.iter().map(move |step| step.over(read))
    }

    /// Its only step, if it has one.
    pub(super) fn single(&self) -> Option<Step> {
        self.steps().next().filter(|_| self.len() == 1)
    }

    /// The values that it reads, in order, with repeats.
    pub(super) fn values(&self) -> impl Iterator<Item = ValueId> {
        let read = self.steps.iter().flat_map(|step| &step.sources);
        read.filter_map(|source| match (*source, &self.values) {
            (Source::Value(number), Some(values)) => Some(values[number.index()]),
            (Source::Value(value), None) => Some(value),
            (Source::Step(_) | Source::Constant(_), _) => None,
        })
    }

    /// The recipe.
    pub(super) fn recipe(&self) -> Recipe {
        Recipe::of(self.steps().collect())
    }

    /// Whether it is this recipe.
    pub(super) fn is(&self, recipe: &Recipe) -> bool {
        self.len() == recipe.steps.len() && self.steps().eq(recipe.steps.iter().copied())
    }

    /// How it puts its result together.
    pub(super) fn packing(&self) -> Packing {
        packing(&self.steps)
    }
}
