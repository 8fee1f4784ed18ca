//! What ptxopt does to PTX: the passes, and the pipeline that runs them.
//!
//! A pass looks at a module and asks for edits; it never sees a file. The edits of all passes are spliced into the
//! text once, at the end, so that whatever no pass asked for stays as it was, byte for byte. There are no passes
//! yet: the pipeline is empty, and running it changes nothing.

pub mod cost;
pub mod machine;
pub mod prover;

use ptxopt_grammar::edit::Edits;
use ptxopt_grammar::tree::Module;

/// One step of the pipeline.
#[derive(Debug)]
pub struct Pass {
    /// What users call it.
    pub name: &'static str,
    /// What it achieves, in one line.
    pub summary: &'static str,
    /// Asks for the edits that it wants.
    pub run: fn(&Module<'_>, &mut Edits),
}

/// The pipeline: all passes in the order in which they run.
pub static PASSES: &[Pass] = &[];

/// The passes that run, in the order of the pipeline.
#[derive(Clone, Debug)]
pub struct Selection(Vec<&'static Pass>);

impl Selection {
    /// The whole pipeline.
    #[must_use]
    pub fn all() -> Self {
        Self(PASSES.iter().collect())
    }

    /// The passes, in the order in which they run.
    pub fn passes(&self) -> impl ExactSizeIterator<Item = &'static Pass> {
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
        match names.as_slice() {
            [] => write!(f, "this version has no passes, so only an empty list is valid"),
            names => write!(f, "valid are {}", names.join(", ")),
        }
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

/// Runs the selected passes over `module` and returns the edits they ask for.
#[must_use]
pub fn run(module: &Module<'_>, selection: &Selection) -> Edits {
    let mut edits = Edits::new();
    for pass in selection.passes() {
        (pass.run)(module, &mut edits);
    }
    edits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_list_selects_nothing() {
        for list in ["", " ", ",", " , "] {
            assert_eq!(select(list).expect("it names no pass").passes().len(), 0);
        }
    }

    #[test]
    fn every_pass_is_selected_by_its_name_and_an_unknown_name_is_refused() {
        for pass in PASSES {
            let selection = select(pass.name).expect("it is in the list");
            assert_eq!(selection.passes().map(|pass| pass.name).collect::<Vec<_>>(), [pass.name]);
        }
        let name = "no_such_pass".to_owned();
        assert_eq!(select("no_such_pass").err(), Some(UnknownPass { name }));
    }
}
