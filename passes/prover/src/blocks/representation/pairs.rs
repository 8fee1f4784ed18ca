//! The statements of a new text beside those of the old one, and that names mean the same in both.
//!
//! Which statements were inserted is read from the edits. That is a hint and no more: all others must be the statements
//! of the old text, in their order, none left out, and each name in them must mean the declaration that corresponds.
//! A statement that is textually the same and whose names mean the same is the same statement.

use super::{Failure, Stop};
use ptxopt_grammar::edit::{Edited, Place};
use ptxopt_grammar::function::Function;
use ptxopt_grammar::tree::{DeclId, Module, StmtId, StmtKind};

/// A module before and after statements were inserted.
pub struct Pairs<'m, 't> {
    pub(super) old: &'m Module<'t>,
    pub(super) new: &'m Module<'t>,
    /// By statement of the new text: the one of the old text that it is; `None` if it was inserted.
    old_stmts: Vec<Option<StmtId>>,
    /// By declaration of the new text: the same of the old text; `None` if it was inserted.
    old_decls: Vec<Option<DeclId>>,
}

impl std::fmt::Debug for Pairs<'_, '_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pairs").field("old_stmts", &self.old_stmts).finish_non_exhaustive()
    }
}

impl<'m, 't> Pairs<'m, 't> {
    /// The statements of `new`, which `edited` is the text of, beside those of `old`, its original.
    ///
    /// # Errors
    ///
    /// Why the new text is not the old one with statements inserted into its functions.
    pub fn new(old: &'m Module<'t>, new: &'m Module<'t>, edited: &Edited<'_>) -> Result<Self, String> {
        let mut left = old.stmts();
        let (mut old_stmts, mut depth) = (Vec::with_capacity(new.stmts().len()), 0_usize);
        for stmt in new.stmts() {
            let found = match edited.to_old(new.stmt_span(stmt).start) {
                Place::Within(_) if depth > 0 => None,
                Place::Within(_) => return Err("a statement stands where no function is".to_owned()),
                Place::At(offset) => {
                    let same = |&before: &StmtId| {
                        old.stmt_span(before).start == offset
                            && old.kind(before) == new.kind(stmt)
                            && old.stmt_text(before) == new.stmt_text(stmt)
                    };
                    Some(left.next().filter(same).ok_or("a statement is another one than it was")?)
                }
            };
            match (new.kind(stmt), found) {
                (StmtKind::Open, Some(_)) => depth += 1,
                (StmtKind::Close, Some(_)) => depth = depth.saturating_sub(1),
                (_, _) => {}
            }
            old_stmts.push(found);
        }
        if left.next().is_some() {
            return Err("a statement is missing".to_owned());
        }
        let mut pairs = Self { old, new, old_stmts, old_decls: Vec::new() };
        pairs.old_decls = pairs.declarations()?;
        Ok(pairs)
    }

    /// By declaration of the new text: the same of the old text. Both texts have them in their order.
    fn declarations(&self) -> Result<Vec<Option<DeclId>>, String> {
        let mut left = self.old.decls();
        let mut all = Vec::with_capacity(self.new.decls().len());
        for decl in self.new.decls() {
            let declared = self.new.decl(decl);
            let Some(stmt) = self.old_stmt(declared.stmt) else {
                all.push(None);
                continue;
            };
            let same = |&before: &DeclId| {
                let (old, name) = (self.old.decl(before), self.old.decl_name(before));
                old.stmt == stmt && old.kind == declared.kind && name == self.new.decl_name(decl)
            };
            let found = left.next().filter(same).ok_or("a declaration is another one than it was")?;
            all.push(Some(found));
        }
        Ok(all)
    }

    /// The statement of the old text that one of the new text is; `None` if it was inserted.
    pub(super) fn old_stmt(&self, stmt: StmtId) -> Option<StmtId> {
        self.old_stmts[stmt.index()]
    }

    /// The declaration of the old text that one of the new text is; `None` if it was inserted.
    pub(super) fn old_decl(&self, decl: DeclId) -> Option<DeclId> {
        self.old_decls[decl.index()]
    }

    /// Whether the names in the statements of a function mean what they meant, and nothing but instructions and registers
    /// was inserted.
    pub(super) fn names(&self, function: &Function) -> Result<(), Stop> {
        for stmt in function.body.clone().filter_map(StmtId::new) {
            let Some(before) = self.old_stmt(stmt) else {
                if !matches!(self.new.kind(stmt), StmtKind::Instruction | StmtKind::Register) {
                    return Err(Stop::at(stmt, "was inserted and is no instruction"));
                }
                continue;
            };
            let (mut new, mut old) = (self.new.stmt_nodes(stmt), self.old.stmt_nodes(before));
            let same = new.by_ref().zip(old.by_ref()).all(|(new, old)| {
                let means = self.new.decl_of(new).map(|decl| self.old_decl(decl));
                self.new.node_kind(new) == self.old.node_kind(old) && means == self.old.decl_of(old).map(Some)
            });
            if !same || new.next().is_some() || old.next().is_some() {
                return Err(Stop::at(stmt, "has a name that means something else than it did"));
            }
        }
        Ok(())
    }

    /// What a stop is to the caller.
    pub(super) fn failure(&self, function: &Function, stop: &Stop) -> Failure {
        let stmt = stop.stmt.unwrap_or(function.head);
        let before = self.old_stmts[..=stmt.index()].iter().rev().find_map(|&old| old);
        let text = String::from_utf8_lossy(self.new.stmt_text(stmt)).into_owned();
        Failure {
            near: before.expect("a module begins with a statement of the old text"),
            stmt: text.split_whitespace().collect::<Vec<_>>().join(" "),
            why: stop.why.clone(),
        }
    }
}
