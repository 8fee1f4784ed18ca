//! What the `dce` pass deletes: not by rules that propose something, but by counting uses.
//!
//! The counting, and why it is sound, is described in `select/uses.rs` and `optimiser/unused.rs`; here are the
//! names by which remarks and users know the two sweeps.

/// Something that is deleted once it is unused.
#[derive(Debug)]
pub struct Sweep {
    /// What users call it.
    pub name: &'static str,
    /// When it is deleted.
    pub law: &'static str,
}

/// Statements.
pub const DEAD: Sweep = Sweep {
    name: "dead",
    law: "a statement that only computes is deleted once a rewrite has removed the last use of its results",
};

/// Declarations.
pub const UNNAMED: Sweep = Sweep {
    name: "unnamed",
    law: "a register's declaration is deleted once rewrites have left nothing else that names it",
};

/// All of them.
pub const SWEEPS: [&Sweep; 2] = [&DEAD, &UNNAMED];
