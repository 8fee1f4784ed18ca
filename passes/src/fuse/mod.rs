//! Byte-wise code in any spelling, understood as SIMD video instructions.
//!
//! A recogniser finds out what a word means and proposes video instructions that compute it; what these are made of on
//! a GPU is for the generators of [`crate::lower`], and whether that is cheaper for selection. Like all rules,
//! recognisers only propose: each proposal is proved before it is written, so one that sees too much costs time, and
//! nothing else.

mod booleans;
mod lanes;
mod signature;

pub(crate) use lanes::{AllFunctions, AllPieces};
pub(crate) use signature::Signatures;

use crate::rules::Rule;
use ptxopt_grammar::constant;
use ptxopt_grammar::table::Row;
use ptxopt_grammar::table::instruction::{Instruction, op};
use ptxopt_grammar::tree::{Module, StmtId};

/// The recognisers.
pub(crate) static RULES: &[&[Rule]] = &[lanes::RULES, signature::RULES, booleans::RULES];

/// Whether a statement suggests that there are words of bytes or halves to recognise: functions without one are not
/// analysed, so this is quick, and is asked of every statement.
#[must_use]
pub(crate) fn is_seed(module: &Module<'_>, stmt: StmtId) -> bool {
    signature::is_seed(module, stmt)
        || module.row(stmt).is_some_and(|row| {
            lanes::is_seed(module, stmt, row)
                || accesses_parts(module, stmt, row)
                || tests_bit(module, stmt, row)
        })
}

/// Whether a statement takes a half out of a word, and whether it computes with a half: a function with both may have
/// halves to recognise too.
#[must_use]
pub(crate) fn half_seed(module: &Module<'_>, stmt: StmtId) -> [bool; 2] {
    module.row(stmt).map_or([false; 2], |row| lanes::half_seed(module, stmt, row))
}

/// Whether a statement compares the lowest bit of a word.
fn tests_bit(module: &Module<'_>, stmt: StmtId, row: &Row) -> bool {
    let second = module.operands(stmt).get(2).and_then(|&node| constant::value(module, node));
    row.is(op::SETP)
        && module.instruction(stmt).is_some_and(|instruction| booleans::is_seed(instruction, second))
}

/// Whether a statement loads or stores several bytes or halves at once.
fn accesses_parts(module: &Module<'_>, stmt: StmtId, row: &Row) -> bool {
    let accesses = |instruction: Instruction| {
        let narrow = instruction.last_bits().is_some_and(|bits| bits < 32);
        narrow && instruction.modifiers().any(|modifier| modifier == op::V2 || modifier == op::V4)
    };
    (row.is(op::LD) || row.is(op::ST)) && module.instruction(stmt).is_some_and(accesses)
}
