//! What becomes of statements, collected from all who change them before any of it is written.
//!
//! One change may take a statement away beside which another adds lines. As edits of the text the two touch the same
//! bytes, since a statement goes with its line; here the lines stand in its place.

use super::splice;
use ptxopt_grammar::edit::Edits;
use ptxopt_grammar::tree::{Module, StmtId};
use std::collections::BTreeMap;

/// The lines that stand before, in the place of, and after statements.
#[derive(Clone, Default)]
pub(super) struct Spliced(BTreeMap<StmtId, Around>);

#[derive(Clone, Default)]
struct Around {
    before: Vec<String>,
    /// `None` for a statement that stays.
    instead: Option<Vec<String>>,
    after: Vec<String>,
}

impl Spliced {
    fn at(&mut self, stmt: StmtId) -> &mut Around {
        self.0.entry(stmt).or_default()
    }

    /// Adds lines before a statement, without its guard, behind those that were added before.
    pub(super) fn before(&mut self, stmt: StmtId, lines: impl IntoIterator<Item = String>) {
        self.at(stmt).before.extend(lines);
    }

    /// Adds lines after a statement, without its guard.
    pub(super) fn after(&mut self, stmt: StmtId, lines: impl IntoIterator<Item = String>) {
        self.at(stmt).after.extend(lines);
    }

    /// Puts lines in the place of a statement, the last of them under its guard; without lines it goes.
    pub(super) fn replace(&mut self, stmt: StmtId, lines: Vec<String>) {
        self.at(stmt).instead = Some(lines);
    }

    /// Takes a statement away.
    pub(super) fn delete(&mut self, stmt: StmtId) {
        self.replace(stmt, Vec::new());
    }

    /// Takes in what others do to statements of the same function; of a statement that both replace, what they put there.
    pub(super) fn extend(&mut self, other: Self) {
        for (stmt, Around { before, instead, after }) in other.0 {
            let own = self.at(stmt);
            own.before.extend(before);
            own.instead = instead.or(own.instead.take());
            own.after.extend(after);
        }
    }

    /// The edits of the text.
    pub(super) fn write(self, module: &Module<'_>, edits: &mut Edits) {
        for (stmt, Around { before, instead, after }) in self.0 {
            if instead.as_ref().is_some_and(Vec::is_empty) {
                match [before, after].concat() {
                    lines if lines.is_empty() => splice::delete(module, stmt, edits),
                    lines => splice::replace_bare(module, stmt, &lines, edits),
                }
                continue;
            }
            splice::insert_before(module, stmt, &before, edits);
            if let Some(lines) = instead {
                splice::replace(module, stmt, &lines, edits);
            }
            splice::insert_after_bare(module, stmt, &after, edits);
        }
    }
}
