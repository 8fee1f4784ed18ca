//! What PTX is: lexer, grammar, lossless tree, names, edits and the instruction table.
//!
//! This package reads and writes text; it does not use files or terminals, and contains no
//! optimisation.

pub mod address;
pub mod alignment;
pub mod constant;
pub mod diagnostic;
pub mod edit;
pub mod function;
pub mod gpu;
pub mod head;
pub mod legal;
pub mod meaning;
pub mod names;
pub mod roles;
pub mod special;
pub mod spelling;
pub mod table;
pub mod token;
pub mod tree;
pub mod video;

mod backslash;
mod builder;
pub mod header;
mod kind;
mod nearest;
mod parse;
mod resolve;
mod scope;
mod syntax_error;
mod warnings;

pub use parse::{MOST_DIAGNOSTICS, parse};
