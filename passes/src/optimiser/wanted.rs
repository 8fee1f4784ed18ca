//! Which statements of a function selection could change at all, decided before anything is analysed.
//!
//! Nothing is given up by that. [`Profit::is_left_to_the_assembler`](super::profit::Profit::is_left_to_the_assembler)
//! refuses every change of plain code, unless a video instruction changes or goes with it, or the statement moves bytes
//! itself, or means what a video instruction does. So a function without video instructions, and without a sign of code
//! that means them, changes in its byte moves alone, and one that has neither does not change. The reasons why other statements stay are recorded only if somebody asks for them.

use crate::fuse::{half_seed, is_seed};
use crate::rules::{Pass, is_byte_move, is_dot_product};
use ptxopt_grammar::function::Function;
use ptxopt_grammar::tree::{Module, StmtId, StmtKind};

/// The statements of a function that selection could change.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Wanted {
    /// None.
    Nothing,
    /// Those that move bytes.
    ByteMoves,
    /// Any: with a video instruction, other statements may go or share steps, and any may be fused to one or added to
    /// a dot product.
    Everything,
}

impl Wanted {
    /// Those of a function that some passes could change.
    pub(super) fn of(module: &Module<'_>, function: &Function, passes: &[Pass]) -> Self {
        let fuses = passes.contains(&Pass::Fuse);
        let mut wanted = Self::Nothing;
        let mut halves = [false; 2];
        for stmt in function.body.clone().filter_map(StmtId::new) {
            if module.kind(stmt) != StmtKind::Instruction {
                continue;
            }
            if fuses {
                let here = half_seed(module, stmt);
                halves = [0, 1].map(|sign| halves[sign] || here[sign]);
                if halves == [true; 2] {
                    return Self::Everything;
                }
            }
            match module.row(stmt) {
                Some(row) if row.video.is_some() || is_dot_product(row) => return Self::Everything,
                Some(_) if fuses && is_seed(module, stmt) => return Self::Everything,
                Some(row) if is_byte_move(row) => wanted = Self::ByteMoves,
                Some(_) | None => {}
            }
        }
        wanted
    }

    /// Whether a statement is one of them.
    pub(super) fn takes(self, module: &Module<'_>, stmt: StmtId) -> bool {
        match self {
            Self::Nothing => false,
            Self::ByteMoves => module.row(stmt).is_some_and(is_byte_move),
            Self::Everything => true,
        }
    }
}
