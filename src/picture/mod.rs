//! A part of a function's dataflow, as it is drawn: by `ptxopt graph`, and in reports.
//!
//! A statement is one node, however many results it has; what is no statement, a phi or what comes from outside, is a
//! node of its own. Nodes are in the order of the text and edges in that of the nodes, so that the same input gives
//! the same picture. Text of the input is made harmless before it is drawn.

mod colours;
mod dot;
mod placed;
mod slice;
mod svg;

pub(crate) use colours::variables;
pub(crate) use dot::dot;
pub(crate) use slice::{Part, slice};
pub(crate) use svg::{STYLE, inline, legend, standalone};

use crate::printable::harmless;
use ptxopt_passes::cost::Cost;

/// A part of a function.
#[derive(Debug)]
pub(crate) struct Picture {
    /// The function.
    pub(crate) function: String,
    pub(crate) nodes: Vec<Node>,
    pub(crate) edges: Vec<Edge>,
    /// The blocks that the nodes are in: their numbers, and what is said of each.
    pub(crate) blocks: Vec<(usize, String)>,
    /// How many statements were asked for and left out, since there are too many.
    pub(crate) left_out: usize,
}

/// What becomes of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is replaced, by these lines where they are drawn with it.
    Changed(Vec<String>),
    /// It is deleted.
    Deleted,
    /// It takes the place of another.
    New,
}

/// What a node stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A statement that only computes.
    Statement,
    /// A statement that uses memory or has another effect: it loads, stores, branches, calls.
    Effect,
    /// A choice between values by where control comes from.
    Phi,
    /// A value that no statement of the function computes.
    Outside,
}

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) shape: Shape,
    /// The line of the statement, from 1.
    pub(crate) line: Option<usize>,
    /// On one line.
    pub(crate) text: String,
    pub(crate) fate: Option<Fate>,
    /// In machine instructions, estimated, on each of the GPUs whose costs differ; nothing where it is unknown.
    pub(crate) costs: Vec<Cost>,
    /// The number of its block.
    pub(crate) block: Option<usize>,
    /// How many statements that it reads from, and that read from it, are not in the picture.
    pub(crate) hidden: (usize, usize),
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    /// Places in the list of nodes.
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// Which registers, where the node that it comes from does not say so.
    pub(crate) label: String,
    pub(crate) kind: EdgeKind,
}

/// How a value is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EdgeKind {
    /// By an instruction whose meaning is known bit by bit.
    Term,
    /// As a whole, by an effect or by an instruction of which that is not known.
    Whole,
    /// If control comes that way.
    Phi,
}

/// What pictures say about their nodes and edges.
pub(crate) const CHANGED: &str = "changed";
pub(crate) const DELETED: &str = "deleted";
pub(crate) const NEW: &str = "new";
pub(crate) const STATEMENT: &str = "only computes";
pub(crate) const EFFECT: &str = "uses memory, or has another effect";
pub(crate) const PHI: &str = "phi: depends on where control comes from";
pub(crate) const OUTSIDE: &str = "from outside the function, or undefined";
pub(crate) const WHOLE: &str = "used as a whole";
pub(crate) const TERM: &str = "used bit by bit";
pub(crate) const VIA_PHI: &str = "if control comes that way";

impl Node {
    /// What stands below the statement: its line, its cost, and how much is left out around it.
    pub(crate) fn notes(&self) -> String {
        let mut notes = Vec::new();
        notes.extend(self.line.map(|line| format!("line {line}")));
        let mut costs: Vec<String> = self.costs.iter().map(ToString::to_string).collect();
        costs.dedup();
        if !costs.is_empty() {
            notes.push(format!("cost {}", costs.join("/")));
        }
        let hidden = self.hidden.0 + self.hidden.1;
        if hidden > 0 {
            notes.push(format!("+{hidden} not shown"));
        }
        notes.join(" · ")
    }
}

/// Text of the input for a picture or a page: control characters become symbols, and characters that change the
/// direction of writing, or that XML does not allow, a replacement.
pub(crate) fn clean(text: &str) -> String {
    let harmless_here = |character: char| match character {
        '\u{61c}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}'
        | '\u{2028}'
        | '\u{2029}'
        | '\u{fffe}'
        | '\u{ffff}' => char::REPLACEMENT_CHARACTER,
        other => harmless(other),
    };
    text.chars().map(harmless_here).collect()
}

/// The first characters of a text, with a mark where it was cut.
pub(crate) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Bytes of the input as text: what is not UTF-8 is read as Latin-1.
pub(crate) fn decoded(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|&byte| char::from(byte)));
    }
    text
}

/// Text on one line, with single blanks.
pub(crate) fn one_line(text: &[u8]) -> String {
    let text = decoded(text);
    clean(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}
