//! Instructions that a function repeats: the assembler computes them once, so one of several that goes saves nothing.
//!
//! Statements are numbered by what they compute, in the order of the blocks: two that do the same with the same operands
//! are one, if the first is executed before the second on every way. Registers of the machine have 32 bits, so a byte that
//! is extended to 16 bits and to 32 is extended once. Only prices depend on it, so it is found out when the first price
//! is asked for.

use crate::graph::{BlockId, Graph, ValueId};
use crate::recipe::{Source, Step};
use crate::select::underlying;
use hashbrown::HashMap;
use ptxopt_grammar::meaning::term::{Op, Term};
use ptxopt_grammar::tree::{StmtId, StmtKind};
use std::cell::OnceCell;

/// How many moves and extensions are looked through.
const MOST_MOVES: usize = 12;

/// The repeated instructions of a function.
#[derive(Debug)]
pub(super) struct Repeats<'g, 'm, 't> {
    graph: &'g Graph<'m, 't>,
    /// For each statement that is repeated, or repeats another, the result of the first of them.
    found: OnceCell<HashMap<StmtId, ValueId>>,
}

/// What a statement computes.
#[derive(PartialEq, Eq, Hash)]
enum Computed {
    Step(Step),
    /// The lowest bits of a value, and zeros or copies of their sign above them.
    Extended {
        signed: bool,
        bits: u32,
        of: ValueId,
    },
}

/// The extension that a value is, to no more bits than a register has.
fn extended(graph: &Graph<'_, '_>, value: ValueId) -> Option<Computed> {
    let def = graph.value(value).def.filter(|_| graph.value(value).width <= 32)?;
    let op = graph.terms().op(def);
    let (Op::SignExtend(inner) | Op::ZeroExtend(inner)) = op else { return None };
    let signed = matches!(op, Op::SignExtend(_));
    let bits = graph.terms().width(inner);
    Some(Computed::Extended { signed, bits, of: lowest(graph, inner, bits)? })
}

/// Whether a value is the extension of one of fewer bits, so that the machine's register has copies of its sign.
pub(super) fn is_sign_extended(graph: &Graph<'_, '_>, value: ValueId) -> bool {
    let width = graph.value(value).width;
    extended(graph, underlying(graph, value)).is_some_and(|computed| match computed {
        Computed::Extended { signed, bits, .. } => signed || bits < width,
        Computed::Step(_) => false,
    })
}

/// The value whose lowest bits are those of a term, behind all that only widens or narrows it.
fn lowest(graph: &Graph<'_, '_>, term: Term, bits: u32) -> Option<ValueId> {
    let mut term = term;
    let mut found = None;
    for _each in 0..MOST_MOVES {
        let op = graph.terms().op(term);
        let inner = if let Op::Input(number) = op {
            let value = underlying(graph, ValueId::of_input(number));
            found = Some(value);
            graph.value(value).def
        } else if let Op::SignExtend(inner) | Op::ZeroExtend(inner) = op {
            Some(inner).filter(|&inner| graph.terms().width(inner) >= bits)
        } else if let Op::Extract(inner, 0) = op {
            Some(inner)
        } else {
            None
        };
        let Some(inner) = inner else { break };
        term = inner;
    }
    found
}

impl<'g, 'm, 't> Repeats<'g, 'm, 't> {
    /// Those of a function.
    pub(super) fn of(graph: &'g Graph<'m, 't>) -> Self {
        Self { graph, found: OnceCell::new() }
    }

    fn find(graph: &Graph<'_, '_>) -> HashMap<StmtId, ValueId> {
        let mut same: HashMap<ValueId, ValueId> = HashMap::new();
        let mut first: HashMap<Computed, (StmtId, BlockId, ValueId)> = HashMap::new();
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
                let computed = extended(graph, value).unwrap_or(Computed::Step(step));
                match first.get(&computed) {
                    Some(&(before, above, known)) if graph.flow().dominates(above, block) => {
                        same.insert(value, known);
                        all.extend([(before, known), (stmt, known)]);
                    }
                    Some(_) | None => drop(first.insert(computed, (stmt, block, value))),
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
