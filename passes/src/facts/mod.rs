//! Facts: what is known of a value without running anything, and which bits of the inputs a value depends on.
//!
//! Both are derived from terms, so an instruction needs no rules of its own: its meaning in the table is enough, and
//! facts and meaning cannot disagree. Going forward, a [`Fact`] contains every value that a term may take
//! ([`forward()`]); going backward, [`demanded()`] says which bits of the inputs can change the demanded bits of the
//! result.

mod arithmetic;
mod blend;
mod branch;
mod cone;
mod demanded;
mod extremes;
mod fact;
mod forward;
mod growing;
mod queue;
mod shift;
mod store;
#[cfg(test)]
mod tests;
mod transfer;

pub use cone::Cone;
pub use demanded::demanded;
pub use fact::Fact;
pub use forward::forward;
pub(crate) use growing::Growing;
pub(crate) use queue::Queue;
pub use store::{Facts, Masks};
