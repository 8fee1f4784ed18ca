//! What ptxopt does to PTX: the passes, and the pipeline that runs them.
//!
//! A function becomes a graph of values (`graph`), about which facts are found (`facts`, `analysis`, `lanes`); rules
//! and generators propose other spellings (`rules`, `fuse`, `lower`), costs choose (`cost`), every rewrite is proved (`verify`,
//! with the package `ptxopt-prover`), and what is proved and cheaper is spliced into the text (`optimiser`), after the
//! package `ptxopt-machine` has run it. Nothing here uses a file or a clock; functions are worked on by as many threads
//! as the caller allows.

mod address;
mod analysis;
pub mod cost;
pub mod facts;
mod fuse;
pub mod graph;
mod lanes;
mod lower;
mod numbers;
pub mod optimiser;
pub mod recipe;
pub mod rules;
mod select;
pub mod site;
mod threads;
pub mod verify;

use rules::Pass;

/// One stage of the pipeline: a pass, as users know it.
#[derive(Debug)]
pub struct Stage {
    /// What users call it.
    pub name: &'static str,
    /// What it achieves, in one line.
    pub summary: &'static str,
    /// The pass, as rules name the one that they belong to.
    pub pass: Pass,
}

/// The pipeline: all passes. Their rules are tried together, statement by statement, until nothing changes.
pub static PASSES: &[Stage] = &[
    Stage { name: "fold", summary: "constants, and what constants decide", pass: Pass::Fold },
    Stage { name: "simplify", summary: "the same value by a cheaper instruction", pass: Pass::Simplify },
    Stage { name: "mask", summary: "masks, merges and unused lanes", pass: Pass::Mask },
    Stage { name: "fuse", summary: "byte-wise code as SIMD video instructions", pass: Pass::Fuse },
    Stage { name: "lower", summary: "SIMD video instructions as sequences of others", pass: Pass::Lower },
    Stage { name: "dce", summary: "statements that the other passes made dead", pass: Pass::Dce },
];

/// The stage of a pass: what users call it.
#[must_use]
pub fn stage_of(pass: Pass) -> &'static Stage {
    PASSES.iter().find(|stage| stage.pass == pass).expect("every pass is in the pipeline")
}

/// The passes that run, in the order of the pipeline.
#[derive(Clone, Debug)]
pub struct Selection(Vec<&'static Stage>);

impl Selection {
    /// The whole pipeline.
    #[must_use]
    pub fn all() -> Self {
        Self(PASSES.iter().collect())
    }

    /// The passes that run.
    #[must_use]
    pub fn passes(&self) -> Vec<Pass> {
        self.0.iter().map(|stage| stage.pass).collect()
    }

    /// Their stages, in the order in which they run.
    pub fn stages(&self) -> impl ExactSizeIterator<Item = &'static Stage> {
        self.0.iter().copied()
    }
}

/// A name that is no pass's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownPass {
    /// The name.
    pub name: String,
}

impl std::fmt::Display for UnknownPass {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "there is no pass `{}`; ", self.name)?;
        let names: Vec<_> = PASSES.iter().map(|pass| format!("`{}`", pass.name)).collect();
        write!(f, "valid are {}", names.join(", "))
    }
}

impl std::error::Error for UnknownPass {}

/// The passes that `list` names, separated by commas; an empty list names none.
///
/// The order of the list does not matter: passes run in the order of the pipeline, each at most once.
///
/// # Errors
///
/// The first name that is no pass's.
pub fn select(list: &str) -> Result<Selection, UnknownPass> {
    let names: Vec<_> = list.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    if let Some(name) = names.iter().find(|name| PASSES.iter().all(|pass| pass.name != **name)) {
        return Err(UnknownPass { name: (*name).to_owned() });
    }
    Ok(Selection(PASSES.iter().filter(|pass| names.contains(&pass.name)).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_list_selects_nothing() {
        for list in ["", " ", ",", " , "] {
            assert_eq!(select(list).expect("it names no pass").stages().len(), 0);
        }
    }

    #[test]
    fn every_pass_is_selected_by_its_name_and_an_unknown_name_is_refused() {
        for pass in PASSES {
            let selection = select(pass.name).expect("it is in the list");
            assert_eq!(selection.stages().map(|pass| pass.name).collect::<Vec<_>>(), [pass.name]);
        }
        let name = "no_such_pass".to_owned();
        assert_eq!(select("no_such_pass").err(), Some(UnknownPass { name }));
    }
}
