//! What is done besides the rules, which propose something where it is cheaper: what is unused is deleted, by counting
//! uses, and what the assembler fails at is written in another way.
//!
//! How, and why it is sound, is described in `select/uses.rs`, `optimiser/unused.rs` and `optimiser/faults.rs`; here are
//! the names by which remarks and users know these sweeps.

use super::Pass;

/// Something that is done besides the rules.
#[derive(Debug)]
pub struct Sweep {
    /// What users call it.
    pub name: &'static str,
    /// The pass that it belongs to.
    pub pass: Pass,
    /// What is done, and when.
    pub law: &'static str,
}

/// Statements.
pub const DEAD: Sweep = Sweep {
    name: "dead",
    pass: Pass::Dce,
    law: "a statement that only computes is deleted once a rewrite has removed the last use of its results",
};

/// Declarations.
pub const UNNAMED: Sweep = Sweep {
    name: "unnamed",
    pass: Pass::Dce,
    law: "a register's declaration is deleted once rewrites have left nothing else that names it",
};

/// Comparisons.
pub const FAULTS: Sweep = Sweep {
    name: "faults",
    pass: Pass::Lower,
    law: "a comparison at which NVIDIA's assembler ends in a segmentation fault is written in another way, in functions \
          that changed",
};

/// All of them.
pub const SWEEPS: [&Sweep; 3] = [&DEAD, &UNNAMED, &FAULTS];
