//! What the `dce` pass takes away: not by rules that propose something, but by counting who reads or names it.
//!
//! How it counts stands where it is done, in the optimiser; here are the names by which remarks and users know it.

/// Something that goes when nobody needs it.
#[derive(Debug)]
pub struct Sweep {
    /// What users call it.
    pub name: &'static str,
    /// When it goes.
    pub law: &'static str,
}

/// Statements.
pub const DEAD: Sweep = Sweep {
    name: "dead",
    law: "a statement that only computes goes once a rewrite has taken the last reader of its results",
};

/// Declarations.
pub const UNNAMED: Sweep = Sweep {
    name: "unnamed",
    law: "a register's declaration goes once rewrites have left nothing that names it",
};

/// All of them.
pub const SWEEPS: [&Sweep; 2] = [&DEAD, &UNNAMED];
