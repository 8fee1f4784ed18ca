//! The functions of a module: their names and the statements of their bodies.
//!
//! A body ends at the brace that matches its opening one, so nested scopes belong to it.

use crate::names::DeclKind;
use crate::tree::{DeclId, Module, StmtId, StmtKind};
use std::ops::Range;

/// A function or an entry with a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The statement before the body.
    pub head: StmtId,
    /// The numbers of the statements between the braces of the body.
    pub body: Range<usize>,
}

/// The functions and entries of a module that have a body, in the order of the text.
#[must_use]
pub fn functions(module: &Module<'_>) -> Vec<Function> {
    let mut all: Vec<Function> = Vec::new();
    let (mut depth, mut head) = (0_usize, None);
    for stmt in module.stmts() {
        match module.kind(stmt) {
            StmtKind::Entry | StmtKind::Function => head = Some(stmt),
            StmtKind::Open => {
                if let (0, Some(head)) = (depth, head) {
                    let body = stmt.index() + 1..stmt.index() + 1;
                    all.push(Function { name: name(module, head), head, body });
                }
                depth += 1;
            }
            StmtKind::Close => {
                depth = depth.saturating_sub(1);
                if let (0, Some(function)) = (depth, all.last_mut()) {
                    function.body.end = stmt.index();
                    head = None;
                }
            }
            StmtKind::Version
            | StmtKind::Target
            | StmtKind::AddressSize
            | StmtKind::LineMarker
            | StmtKind::DwarfLine
            | StmtKind::File
            | StmtKind::Section
            | StmtKind::Pragma
            | StmtKind::Alias
            | StmtKind::Variable
            | StmtKind::Register
            | StmtKind::Label
            | StmtKind::Instruction
            | StmtKind::Loc
            | StmtKind::BranchTargets
            | StmtKind::CallTargets
            | StmtKind::CallPrototype
            | StmtKind::Unknown => {}
        }
    }
    all
}

fn name(module: &Module<'_>, head: StmtId) -> String {
    let nodes = module.stmt_nodes(head).filter_map(|node| module.decl_of(node));
    let own = |&decl: &DeclId| module.decl(decl).stmt == head && module.decl(decl).kind == DeclKind::Function;
    let decl = nodes.into_iter().find(own);
    decl.map_or_else(String::new, |decl| String::from_utf8_lossy(module.decl_name(decl)).into_owned())
}
