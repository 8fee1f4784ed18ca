//! Laws of arithmetic and of byte moves, by what they look at.
//!
//! A law here may hold only in some places: facts and demanded bits choose when to propose it, and `verify` proves
//! every proposal by itself.

use super::Rule;

mod carry;
mod identity;
mod moves;
mod plain;
mod scalar;
mod types;
mod widen;

/// All, in the order in which they are tried.
pub(super) static RULES: &[&[Rule]] =
    &[identity::RULES, types::RULES, scalar::RULES, plain::RULES, carry::RULES, moves::RULES, widen::RULES];
