//! Facts: what is known of a value without running anything, and which bits of the inputs a value depends on.
//!
//! Both are read off terms, so that an instruction needs no rules of its own: whoever gives it a meaning has given it
//! facts. Going forward, a [`Fact`] contains every value that a term may take ([`forward()`]); going backward,
//! [`demanded()`] says which bits of the inputs can change the bits of the result that somebody reads.

mod arithmetic;
mod branch;
mod cone;
mod demanded;
mod fact;
mod forward;
mod shift;
#[cfg(test)]
mod tests;
mod transfer;

pub use cone::Cone;
pub use demanded::demanded;
pub use fact::Fact;
pub use forward::forward;
