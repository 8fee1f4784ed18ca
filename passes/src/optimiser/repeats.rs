//! Instructions that a function repeats: the assembler computes them once, so one of several that goes saves nothing.
//!
//! Statements are numbered by what they compute, in the order of the blocks: two that do the same with the same operands
//! are one, if the first is executed before the second on every way. Only prices depend on it.

use crate::graph::{BlockId, Graph, ValueId};
use crate::recipe::{Source, Step};
use hashbrown::HashMap;
use ptxopt_grammar::tree::{StmtId, StmtKind};

/// For each statement that is repeated, or repeats another, the result of the first of them.
#[derive(Debug, Default)]
pub(super) struct Repeats(HashMap<StmtId, ValueId>);

impl Repeats {
    /// Those of a function.
    pub(super) fn of(graph: &Graph<'_, '_>) -> Self {
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
        Self(all)
    }

    /// What stands for all that compute the same as a statement, if there are several.
    pub(super) fn get(&self, stmt: StmtId) -> Option<ValueId> {
        self.0.get(&stmt).copied()
    }
}
