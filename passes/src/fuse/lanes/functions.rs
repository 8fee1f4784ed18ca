//! Functions of lanes, and what computes them: the same ones come again in other kernels, in later rounds and in variants.
//!
//! A function is a term whose inputs are the lanes of a cut, in their order. What computes it depends on it alone, so it
//! is found once.

use super::function::Shape;
use hashbrown::HashMap;
use ptxopt_grammar::meaning::term::{Term, Terms};
use std::sync::Arc;

/// The most terms that are kept from one function of a module to the next. Each batch of functions has its own, and all
/// are there until the end.
const MOST_KEPT: usize = 1 << 13;

/// Functions of lanes of one size.
#[derive(Debug, Default)]
pub(super) struct Functions {
    pub(super) terms: Terms,
    /// What computes a function of so many lanes.
    pub(super) shapes: HashMap<(Term, usize), Arc<[Shape]>>,
}

impl Functions {
    /// These, or none if they are very many.
    pub(super) fn kept(self) -> Self {
        if self.terms.len() > MOST_KEPT { Self::default() } else { self }
    }
}

/// Those of lanes of each size.
#[derive(Debug, Default)]
pub(crate) struct AllFunctions(pub(super) [Functions; 3]);
