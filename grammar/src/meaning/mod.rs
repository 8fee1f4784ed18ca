//! What instructions compute.
//!
//! The meaning of an instruction is a term over its operands, made once; evaluating, testing and proving read it.

pub mod term;
