//! Writes a dataflow graph in the language of Graphviz.
//!
//! One frame per block and one node per value or sink, in the order of the graph's numbers, so that the same input
//! gives the same text. Text from the input is quoted.

use crate::remarks::shown;
use ptxopt_grammar::tree::StmtId;
use ptxopt_passes::graph::{BlockId, Flow, Graph, Origin, Use, ValueId};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The colours of changed and of deleted statements.
const CHANGED: &str = "lightgoldenrod1";
const DELETED: &str = "mistyrose";

/// The graph. `changes` are the statements that would be changed, with their replacements.
#[must_use]
pub fn dot(graph: &Graph<'_, '_>, changes: &BTreeMap<StmtId, Vec<String>>) -> String {
    let mut out = format!("digraph {} {{\n", quoted(&graph.function().name));
    let mut add = |line: String| writeln!(out, "{line}").expect("a string can be written to");
    add("  node [shape=box, fontname=monospace];".to_owned());
    let mut blocks: BTreeMap<usize, Vec<ValueId>> = BTreeMap::new();
    let mut outside = Vec::new();
    for value in graph.values() {
        match block(graph, value) {
            Some(block) => blocks.entry(block.index()).or_default().push(value),
            None if graph.uses(value).next().is_some() => outside.push(value),
            None => {}
        }
    }
    for &block in graph.flow().order().iter().filter(|&&block| block != Flow::ENTRY) {
        add(format!("  subgraph cluster_{} {{", block.index()));
        add(format!("    label={};", quoted(&block_label(graph, block))));
        for value in blocks.remove(&block.index()).into_iter().flatten() {
            add(format!("    {}", node(graph, value, changes)));
        }
        add("  }".to_owned());
    }
    for value in outside {
        add(format!("  {}", node(graph, value, changes)));
    }
    for value in graph.values() {
        let mut operands: Vec<(ValueId, Use)> = graph.operands(value).collect();
        operands.sort_unstable();
        for (operand, how) in operands {
            add(format!("  v{} -> v{}{};", operand.number(), value.number(), edge(graph, operand, how)));
        }
    }
    out + "}\n"
}

fn block(graph: &Graph<'_, '_>, value: ValueId) -> Option<BlockId> {
    match graph.value(value).origin {
        Origin::Result(stmt) | Origin::Sink(stmt) => Some(graph.flow().block(stmt)),
        Origin::Phi(block) => Some(block),
        Origin::Undefined | Origin::Read(_) | Origin::Opaque => None,
    }
    .filter(|&block| graph.flow().reachable(block))
}

fn block_label(graph: &Graph<'_, '_>, block: BlockId) -> String {
    let names = |blocks: &[BlockId]| -> String {
        let names: Vec<String> = blocks.iter().map(|block| format!("B{}", block.index())).collect();
        names.join(" ")
    };
    let head = if graph.flow().is_loop_head(block) { " (loop)" } else { "" };
    let to = names(graph.flow().successors(block));
    let arrow = if to.is_empty() { "" } else { " -> " };
    format!("B{}{head}{arrow}{to}", block.index())
}

/// A node, with a colour if its statement changes.
fn node(graph: &Graph<'_, '_>, value: ValueId, changes: &BTreeMap<StmtId, Vec<String>>) -> String {
    let text = |stmt| String::from_utf8_lossy(graph.module().stmt_text(stmt)).into_owned();
    let register = graph.register_of(value).and_then(|register| graph.register_text(register));
    let register = register.unwrap_or_default();
    let (label, style) = match graph.value(value).origin {
        Origin::Result(stmt) | Origin::Sink(stmt) => {
            let own = one_line(&text(stmt));
            // An instruction with several results has a node for each.
            let own = if graph.results(stmt).count() > 1 { format!("{register}: {own}") } else { own };
            match changes.get(&stmt).map(Vec::as_slice) {
                None => (own, String::new()),
                Some([]) => {
                    (format!("{own}\n-> deleted"), format!(", style=\"filled,dashed\", fillcolor={DELETED}"))
                }
                Some(lines) => (
                    format!("{own}\n-> {}", lines.join("\n   ")),
                    format!(", style=filled, fillcolor={CHANGED}"),
                ),
            }
        }
        Origin::Phi(_) => (format!("{register} = phi"), ", shape=ellipse".to_owned()),
        Origin::Undefined => (format!("{register} undefined"), ", shape=plaintext".to_owned()),
        Origin::Read(_) => (format!("{register} undefined at this read"), ", shape=plaintext".to_owned()),
        Origin::Opaque => (format!("{register} from outside"), ", shape=plaintext".to_owned()),
    };
    let sink = match graph.value(value).origin {
        Origin::Sink(_) => ", peripheries=2",
        Origin::Undefined | Origin::Read(_) | Origin::Opaque | Origin::Result(_) | Origin::Phi(_) => "",
    };
    format!("v{} [label={}{style}{sink}];", value.number(), quoted(label.trim()))
}

/// How a value is used: by a known operation, as a whole by an unknown one, or by a phi for one incoming edge.
fn edge(graph: &Graph<'_, '_>, operand: ValueId, how: Use) -> String {
    let register = graph.register_of(operand).and_then(|register| graph.register_text(register));
    let register = register.unwrap_or_default();
    match how {
        Use::Term if register.is_empty() => String::new(),
        Use::Term => format!(" [label={}]", quoted(&register)),
        Use::Whole => format!(" [label={}, style=bold]", quoted(&register)),
        Use::Low(bits) => {
            format!(" [label={}, style=bold]", quoted(&format!("{register}, {bits} bits")))
        }
        Use::Phi(edge) => {
            format!(" [label={}, style=dashed]", quoted(&format!("{register}, incoming edge {edge}")))
        }
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A string in quotes, with its lines aligned to the left.
fn quoted(text: &str) -> String {
    let lines: Vec<String> =
        text.split('\n').map(|line| shown(line).replace('\\', "\\\\").replace('"', "\\\"")).collect();
    let end = if lines.len() > 1 { "\\l" } else { "" };
    format!("\"{}{end}\"", lines.join("\\l"))
}
