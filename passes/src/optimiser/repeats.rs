//! Instructions that a function repeats: the assembler computes them once, so one of several that goes saves nothing.
//!
//! Statements are numbered by what they compute, in the order of the blocks: two that do the same with the same operands
//! are one, if the first is executed before the second on every way. Only prices depend on it, so it is found out when
//! the first price is asked for.

use crate::graph::{BlockId, Graph, ValueId};
use crate::recipe::{Source, Step};
use hashbrown::HashMap;
use ptxopt_grammar::tree::{StmtId, StmtKind};
use std::cell::OnceCell;

/// The repeated instructions of a function.
#[derive(Debug)]
pub(super) struct Repeats<'g, 'm, 't> {
    graph: &'g Graph<'m, 't>,
    /// For each statement that is repeated, or repeats another, the result of the first of them.
    found: OnceCell<HashMap<StmtId, ValueId>>,
}

impl<'g, 'm, 't> Repeats<'g, 'm, 't> {
    /// Those of a function.
    pub(super) fn of(graph: &'g Graph<'m, 't>) -> Self {
        Self { graph, found: OnceCell::new() }
    }

    fn find(graph: &Graph<'_, '_>) -> HashMap<StmtId, ValueId> {
        let mut same: HashMap<ValueId, ValueId> = HashMap::new();
        let mut first: HashMap<Step, (StmtId, BlockId, ValueId)> = HashMap::new();
        let mut all = HashMap::new();
        for &block in graph.flow().order() {
            for stmt in graph.flow().stmts(block) {
                if graph.module().kind(stmt) != StmtKind::Instruction || graph.module().guard(stmt).is_some()
                {
                    continue;
                }
                let (Some(step), Some(value)) = (graph.step(stmt), graph.results(stmt).next()) else {
                    continue;
                };
                let step = step.over(|source| match *source {
                    Source::Value(value) => Source::Value(same.get(&value).copied().unwrap_or(value)),
                    Source::Step(_) | Source::Constant(_) => *source,
                });
                if let Some(Source::Value(copied)) = step.copied() {
                    same.insert(value, copied);
                    continue;
                }
                match first.get(&step) {
                    Some(&(before, above, known)) if graph.flow().dominates(above, block) => {
                        same.insert(value, known);
                        all.extend([(before, known), (stmt, known)]);
                    }
                    Some(_) | None => drop(first.insert(step, (stmt, block, value))),
                }
            }
        }
        all
    }

    /// What stands for all that compute the same as a statement, if there are several.
    pub(super) fn get(&self, stmt: StmtId) -> Option<ValueId> {
        self.found.get_or_init(|| Self::find(self.graph)).get(&stmt).copied()
    }
}
