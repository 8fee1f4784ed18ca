//! The command `ptxopt`: everything that touches files, terminals, clocks and threads.
//!
//! Parsing and the meaning of PTX are in `ptxopt-grammar`, analyses and rewrites in `ptxopt-passes`; neither depends on
//! this package.

pub mod cli;
pub mod diff;
pub mod dot;
pub mod foreign;
pub mod input;
pub mod measure;
pub mod output;
pub mod remarks;
pub mod render;
pub mod summary;
