//! The command `ptxopt`: everything that touches files, terminals, clocks and threads.
//!
//! What PTX is lives in `ptxopt-grammar`, what is done to it in `ptxopt-passes`; both know nothing of this package.

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
