//! Masks and merges: what remains of an instruction without its undemanded lanes.
//!
//! A merge writes some lanes of a word. Lanes that are undemanded, that are there already or that add nothing need
//! not be computed; and merges into merges are one instruction with a larger mask.

use super::Rule;

mod join;
mod narrow;

/// All, in the order in which they are tried.
pub(super) static RULES: &[&[Rule]] = &[narrow::RULES, join::RULES];
