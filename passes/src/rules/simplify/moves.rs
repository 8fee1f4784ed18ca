//! To be written.

use crate::rules::Rule;

pub(super) static RULES: &[Rule] = &[];
