//! Writes a picture in the language of Graphviz: blocks as frames, and a legend.
//!
//! Text from the input is quoted.

use super::{
    CHANGED, DELETED, EFFECT, Edge, EdgeKind, Fate, NEW, Node, OUTSIDE, PHI, Picture, STATEMENT, Shape, TERM,
    VIA_PHI, WHOLE,
};
use std::fmt::Write;

/// The picture; `costs` says which GPU the costs are those of.
#[must_use]
pub(crate) fn dot(picture: &Picture, costs: &str) -> String {
    let mut out = format!("digraph {} {{\n", quoted(&picture.function));
    let mut add = |line: String| writeln!(out, "{line}").expect("a string can be written to");
    if picture.left_out > 0 {
        add(format!(
            "  // {} more changed statements are not drawn; `--all` draws everything",
            picture.left_out
        ));
    }
    add("  node [shape=box, fontname=monospace];".to_owned());
    let placed = || picture.nodes.iter().enumerate();
    for (number, label) in &picture.blocks {
        add(format!("  subgraph cluster_{number} {{"));
        add(format!("    label={};", quoted(label)));
        for (place, node) in placed().filter(|(_, node)| node.block == Some(*number)) {
            add(format!("    n{place} {};", attributes(node)));
        }
        add("  }".to_owned());
    }
    for (place, node) in placed().filter(|(_, node)| node.block.is_none()) {
        add(format!("  n{place} {};", attributes(node)));
    }
    for edge in &picture.edges {
        add(format!("  n{} -> n{}{};", edge.from, edge.to, edge_attributes(edge)));
    }
    for line in legend(picture, costs) {
        add(line);
    }
    out + "}\n"
}

/// The look of a node, apart from its label.
fn style(shape: Shape, fate: Option<&Fate>) -> String {
    let shape = match shape {
        Shape::Statement => "",
        Shape::Effect => ", peripheries=2",
        Shape::Phi => ", shape=ellipse",
        Shape::Outside => ", shape=plaintext",
    };
    let fate = match fate {
        None => "",
        Some(Fate::Changed(_)) => ", style=filled, fillcolor=lightgoldenrod1",
        Some(Fate::Deleted) => ", style=\"filled,dashed\", fillcolor=mistyrose",
        Some(Fate::New) => ", style=\"filled,bold\", fillcolor=palegreen",
    };
    format!("{fate}{shape}")
}

fn attributes(node: &Node) -> String {
    let mut lines = vec![node.text.clone()];
    match &node.fate {
        Some(Fate::Changed(after)) => {
            let arrows = ["-> "].into_iter().chain(std::iter::repeat("   "));
            lines.extend(arrows.zip(after).map(|(arrow, line)| format!("{arrow}{line}")));
        }
        Some(Fate::Deleted) => lines.push("-> deleted".to_owned()),
        Some(Fate::New) | None => {}
    }
    lines.extend(Some(node.notes()).filter(|notes| !notes.is_empty()));
    format!("[label={}{}]", quoted(&lines.join("\n")), style(node.shape, node.fate.as_ref()))
}

fn edge_attributes(edge: &Edge) -> String {
    let look = match edge.kind {
        EdgeKind::Term => "",
        EdgeKind::Whole => "style=bold",
        EdgeKind::Phi => "style=dashed",
    };
    let label = if edge.label.is_empty() { String::new() } else { format!("label={}", quoted(&edge.label)) };
    let both: Vec<&str> = [label.as_str(), look].into_iter().filter(|part| !part.is_empty()).collect();
    if both.is_empty() { String::new() } else { format!(" [{}]", both.join(", ")) }
}

/// A frame with a node of each kind and an edge of each kind that there are.
fn legend(picture: &Picture, costs: &str) -> Vec<String> {
    let mut lines = vec!["  subgraph cluster_legend {".to_owned()];
    let title = if costs.is_empty() { "legend".to_owned() } else { format!("legend; {costs}") };
    lines.push(format!("    label={};", quoted(&title)));
    let has = |is: &dyn Fn(&Node) -> bool| picture.nodes.iter().any(is);
    let kinds: [(&str, Shape, Option<Fate>); 7] = [
        (CHANGED, Shape::Statement, Some(Fate::Changed(Vec::new()))),
        (DELETED, Shape::Statement, Some(Fate::Deleted)),
        (NEW, Shape::Statement, Some(Fate::New)),
        (STATEMENT, Shape::Statement, None),
        (EFFECT, Shape::Effect, None),
        (PHI, Shape::Phi, None),
        (OUTSIDE, Shape::Outside, None),
    ];
    for (at, (what, shape, fate)) in kinds.iter().enumerate() {
        let alike = |one: &Option<Fate>| {
            one.as_ref().map(std::mem::discriminant) == fate.as_ref().map(std::mem::discriminant)
        };
        // A colour is explained once, whatever the shape.
        if has(&|node| alike(&node.fate) && (fate.is_some() || node.shape == *shape)) {
            lines.push(format!("    legend{at} [label={}{}];", quoted(what), style(*shape, fate.as_ref())));
        }
    }
    for (at, (kind, what)) in
        [(EdgeKind::Term, TERM), (EdgeKind::Whole, WHOLE), (EdgeKind::Phi, VIA_PHI)].iter().enumerate()
    {
        if picture.edges.iter().any(|edge| edge.kind == *kind) {
            let edge = Edge { from: 0, to: 0, label: (*what).to_owned(), kind: *kind };
            lines.push(format!("    from{at} [shape=point]; to{at} [shape=point];"));
            lines.push(format!("    from{at} -> to{at}{};", edge_attributes(&edge)));
        }
    }
    lines.push("  }".to_owned());
    lines
}

/// A string in quotes, with its lines aligned to the left.
fn quoted(text: &str) -> String {
    let lines: Vec<String> =
        text.split('\n').map(|line| line.replace('\\', "\\\\").replace('"', "\\\"")).collect();
    let end = if lines.len() > 1 { "\\l" } else { "" };
    format!("\"{}{end}\"", lines.join("\\l"))
}
