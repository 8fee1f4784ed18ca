//! What instructions compute: terms over what they read.
//!
//! The row of the instruction table names a function of this module; it takes the instruction apart, asks the caller
//! for the value of everything that is read, and says what is written. Evaluating, testing and proving read the terms,
//! so they agree by construction. A form with a modifier or an operand that the function does not handle has no
//! meaning. Where the manual and the assembler disagree, the meaning is the manual's; [`disputed`] lists those forms.

pub(crate) mod choice;
mod code;
pub mod concrete;
pub mod disputed;
pub(crate) mod integer;
mod lanes;
pub(crate) mod logic;
mod node;
pub mod samples;
pub mod smt;
pub mod term;
pub mod video;
pub mod wide;

pub use code::{Code, Means, Place, Write};

use crate::tree::{Module, StmtId};
use term::{Term, Terms};

/// What `stmt` writes, in terms of what it reads; the caller has to account for its guard.
///
/// `read` gives the value of a place, with the asked number of bits, or refuses. `None` if it refuses, if `stmt` is
/// no instruction, or if its form has no meaning here.
pub fn meaning(
    module: &Module<'_>,
    stmt: StmtId,
    terms: &mut Terms,
    read: &mut dyn FnMut(&mut Terms, Place, u32) -> Option<Term>,
) -> Option<Vec<Write>> {
    let (spelling, _token) = module.opcode(stmt)?;
    let means = module.spellings().row(spelling)?.means?;
    let mut code = Code::new(module, stmt, terms, read)?;
    means(&mut code)?;
    code.writes()
}
