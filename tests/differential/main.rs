//! Optimised kernels do what they did: every module of the repository and random ones, run before and after.
//!
//! The claims of the analysis are checked too: known bits and ranges against every register that a launch reads or
//! writes; and bits that are claimed to be unused are changed at random.

#![expect(clippy::print_stdout, reason = "tests say how much they covered")]

#[path = "../support/differential.rs"]
mod differential;
#[path = "../support/jobs.rs"]
mod jobs;
#[path = "../support/modules.rs"]
mod modules;
#[path = "../support/optimised.rs"]
mod optimised;
#[path = "../support/programs/mod.rs"]
mod programs;

mod kernels;
mod random;
mod traps;
