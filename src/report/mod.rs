//! `--report`: what was done, as a page that shows it: lines side by side, the rules, the proofs, the savings, and the
//! dataflow around each change.
//!
//! A page is one file that needs nothing else, no network and no script. It says nothing that the remarks and the
//! summary do not say: their words are used. Text of the input is escaped by the library that writes the page, control
//! characters are made visible before. However large a module is, its part of a page is bounded, and says what it leaves
//! out.

mod bars;
mod changes;
mod sides;
mod steps;
#[cfg(test)]
mod tests;
mod view;
mod words;

use crate::measure::Comparison;
use crate::remarks::Remark;
use crate::summary::Tally;
use changes::Budget;
use ptxopt_grammar::tree::Module;
use ptxopt_passes::optimiser::Outcome;

/// How much of one module is shown.
const BUDGET: Budget = Budget { functions: 60, rows: 3000, changes: 250, pictures: 100 };

/// A module that was optimised.
pub(crate) struct Subject<'a> {
    /// The input and the output, as users know them.
    pub(crate) name: &'a str,
    pub(crate) output: &'a str,
    pub(crate) module: &'a Module<'a>,
    pub(crate) outcome: &'a Outcome,
    pub(crate) remarks: &'a [Remark<'a>],
    pub(crate) tally: &'a Tally,
    /// What was counted for each GPU, and the release of the assembler that did.
    pub(crate) counted: Option<(&'a [(String, Comparison)], &'a str)>,
}

/// The part of a page about one module.
#[derive(Debug)]
pub(crate) struct Chapter {
    name: String,
    headline: String,
    body: maud::PreEscaped<String>,
}

impl Chapter {
    /// About a module.
    pub(crate) fn new(subject: &Subject<'_>) -> Self {
        let release = subject.counted.map(|(_, release)| release);
        Self {
            name: subject.name.to_owned(),
            headline: subject.tally.headline(release),
            body: view::module(subject, BUDGET),
        }
    }
}

/// The page about some modules.
pub(crate) fn page(chapters: &[Chapter]) -> String {
    view::page(chapters)
}
