//! Tests that need NVIDIA's assembler: that renaming through the tree keeps the machine code, that the roles of
//! the table are right, that what is called illegal is, that instructions mean what it folds them to, that raised
//! heads are legal, and that optimising makes no function longer.
//!
//! The assembler is looked for in `target/nvidia`, where `sh .ci/tools` puts it. Where it is absent these
//! tests say so and pass, unless `PTXOPT_REQUIRE_ASSEMBLER` is set.

#![expect(clippy::print_stdout, reason = "tests say how much they covered, and what they skipped")]

mod acceptance;
mod accuracy;
#[path = "../support/assemblers.rs"]
mod assemblers;
#[path = "../../dev/quality/best.rs"]
mod best;
#[path = "../support/constants.rs"]
mod constants;
mod differences;
mod first_page;
mod folded;
mod folding;
#[path = "../support/forms.rs"]
mod forms;
#[path = "../support/gains.rs"]
mod gains;
#[path = "../support/jobs.rs"]
mod jobs;
mod legal;
mod loops;
mod measured;
mod mutants;
#[path = "../support/numbers.rs"]
mod numbers;
#[path = "../support/one.rs"]
mod one;
mod optimised;
#[path = "../support/programs/mod.rs"]
mod programs;
mod ptxas;
mod raised;
mod renaming;
#[path = "../support/results.rs"]
mod results;
mod roles;
#[path = "../../dev/costs/assembler.rs"]
mod samples;
mod several;
mod shortest;
#[path = "../support/simd_forms.rs"]
mod simd_forms;

#[path = "../support/modules.rs"]
mod modules;
