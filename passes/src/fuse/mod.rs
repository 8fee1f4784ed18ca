//! Byte-wise code in any spelling, understood as SIMD video instructions.
//!
//! A recogniser finds out what a word means and proposes video instructions that compute it; what these are made of on
//! a GPU is for the generators of [`crate::lower`], and whether that is cheaper for selection. Like all rules,
//! recognisers only propose: each proposal is proved before it is written, so one that sees too much costs time, and
//! nothing else.

mod signature;

pub use signature::Signatures;

use crate::rules::Rule;
use ptxopt_grammar::tree::{Module, StmtId};

/// The recognisers.
pub static RULES: &[&[Rule]] = &[signature::RULES];

/// Whether a statement suggests that there are words of bytes or halves to recognise: functions without one are not
/// analysed, so this is quick, and is asked of every statement.
#[must_use]
pub fn is_seed(module: &Module<'_>, stmt: StmtId) -> bool {
    signature::is_seed(module, stmt)
}
