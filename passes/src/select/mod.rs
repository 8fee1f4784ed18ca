//! Selection: one spelling for each statement of a function, so that everything together costs least.
//!
//! A statement has spellings: sequences of instructions over values of the function. What two spellings have in common
//! is one node, which is computed and paid for once, and what no spelling reads any more need not be computed at all.
//! So what a spelling costs depends on all other choices. Selection begins with the original text and changes one
//! choice, or the choices that share a node, as long as everything gets cheaper. After the whole function was looked at
//! once, only places near a change are ([`near`]).
//!
//! Nothing here is relied upon: whatever is selected is proved before it is written, and the original is always among
//! the spellings. The order of statements and spellings decides between equal ones, so the result is always the same;
//! and the number of sweeps is bounded, so that work grows with the number of spellings.

mod decided;
mod near;
mod nodes;
mod search;
#[cfg(test)]
mod tests;
mod uses;

pub(crate) use near::Near;
pub(crate) use nodes::{Nodes, StepId};
pub(crate) use search::{Candidate, Gain, Place, Search};
pub(crate) use uses::{Price, Uses, dead, reads, underlying};
