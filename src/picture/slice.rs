//! Which part of a graph is drawn: all of it, or some statements and what is around them.
//!
//! A picture of a whole kernel shows nothing, so a slice is bounded: so many nodes, and so many neighbours of each. What
//! is left out is counted, at the nodes and in all.

use super::{Edge, EdgeKind, Fate, Node, Picture, Shape, clean, one_line};
use crate::lines::Lines;
use ptxopt_grammar::tree::StmtId;
use ptxopt_passes::cost::{Cost, Costs, Gpu};
use ptxopt_passes::graph::{BlockId, Flow, Graph, Origin, Use, ValueId};
use std::collections::{BTreeMap, BTreeSet};

/// What to draw.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part<'s> {
    /// The whole function.
    All,
    /// Statements, and what is so many steps around them.
    Around {
        /// The statements.
        seeds: &'s BTreeSet<StmtId>,
        /// How many steps.
        depth: usize,
        /// How many nodes there are at most.
        most: usize,
        /// How many neighbours of a node come with it at most, on either side.
        neighbours: usize,
    },
}

/// What a node of the picture stands for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Key {
    /// What comes from outside, and phis.
    Value(ValueId),
    Statement(StmtId),
}

/// The graph, by what is drawn as one node.
struct Whole<'g, 'm, 't> {
    graph: &'g Graph<'m, 't>,
    /// For each node, in order, its values.
    values: BTreeMap<Key, Vec<ValueId>>,
}

/// Draws a part of a function. `fates` are the statements of which something becomes; costs are those on the GPUs.
pub(crate) fn slice(
    graph: &Graph<'_, '_>,
    lines: &Lines,
    gpus: &[Gpu],
    fates: &BTreeMap<StmtId, Fate>,
    part: Part<'_>,
) -> Picture {
    let whole = Whole::of(graph);
    let (keys, left_out) = whole.chosen(part);
    let places: BTreeMap<Key, usize> = keys.iter().enumerate().map(|(place, &key)| (key, place)).collect();
    let costs = (!gpus.is_empty()).then(|| Costs::on(gpus));
    let nodes = keys.iter().map(|&key| whole.node(key, &keys, lines, costs, fates)).collect();
    let numbers: BTreeSet<usize> =
        keys.iter().filter_map(|&key| whole.block(key)).map(BlockId::index).collect();
    let order = graph.flow().order().iter().filter(|block| numbers.contains(&block.index()));
    Picture {
        function: clean(&graph.function().name),
        nodes,
        edges: whole.edges(&places),
        blocks: order.map(|&block| (block.index(), block_label(graph, block))).collect(),
        left_out,
    }
}

impl<'g, 'm, 't> Whole<'g, 'm, 't> {
    fn of(graph: &'g Graph<'m, 't>) -> Self {
        let mut values: BTreeMap<Key, Vec<ValueId>> = BTreeMap::new();
        let mut whole = Self { graph, values: BTreeMap::new() };
        for value in graph.values() {
            let key = whole.key(value);
            let drawn = match key {
                Key::Statement(_) => whole.block(key).is_some(),
                // What has no name, such as the contents of memory, says nothing.
                Key::Value(_) => graph.uses(value).next().is_some() && graph.register_of(value).is_some(),
            };
            if drawn {
                values.entry(key).or_default().push(value);
            }
        }
        whole.values = values;
        whole
    }

    fn key(&self, value: ValueId) -> Key {
        match self.graph.value(value).origin {
            Origin::Result(stmt) | Origin::Sink(stmt) => Key::Statement(stmt),
            Origin::Phi(_) | Origin::Undefined | Origin::Read(_) | Origin::Opaque => Key::Value(value),
        }
    }

    /// The block of a node; `None` for what comes from outside, and for what control does not reach.
    fn block(&self, key: Key) -> Option<BlockId> {
        let flow = self.graph.flow();
        let block = match key {
            Key::Statement(stmt) => Some(flow.block(stmt)),
            Key::Value(value) => match self.graph.value(value).origin {
                Origin::Phi(block) => Some(block),
                Origin::Undefined
                | Origin::Read(_)
                | Origin::Opaque
                | Origin::Result(_)
                | Origin::Sink(_) => None,
            },
        };
        block.filter(|&block| flow.reachable(block) && block != Flow::ENTRY)
    }

    /// The nodes whose values a node reads, in order.
    fn operands(&self, key: Key) -> BTreeSet<Key> {
        let values = self.values.get(&key).into_iter().flatten();
        let operands = values.flat_map(|&value| self.graph.operands(value).map(|(operand, _)| operand));
        self.drawn(operands, key)
    }

    /// The nodes that read what a node computes, in order.
    fn users(&self, key: Key) -> BTreeSet<Key> {
        let values = self.values.get(&key).into_iter().flatten();
        let users = values.flat_map(|&value| self.graph.uses(value).map(|(user, _)| user));
        self.drawn(users, key)
    }

    fn drawn(&self, values: impl Iterator<Item = ValueId>, but: Key) -> BTreeSet<Key> {
        let keys = values.map(|value| self.key(value));
        keys.filter(|key| *key != but && self.values.contains_key(key)).collect()
    }

    /// The nodes of a part, in order, and how many statements of it are too many.
    fn chosen(&self, part: Part<'_>) -> (BTreeSet<Key>, usize) {
        let Part::Around { seeds, depth, most, neighbours } = part else {
            return (self.values.keys().copied().collect(), 0);
        };
        let seeds: Vec<Key> = seeds.iter().map(|&stmt| Key::Statement(stmt)).collect();
        let seeds: Vec<Key> = seeds.into_iter().filter(|seed| self.values.contains_key(seed)).collect();
        // Statements without what is around them say little, so that has room too.
        let most_seeds = (most * 2 / 3).max(1);
        let left_out = seeds.len().saturating_sub(most_seeds);
        let mut chosen: BTreeSet<Key> = seeds.into_iter().take(most_seeds).collect();
        let mut edge: Vec<Key> = chosen.iter().copied().collect();
        for _ in 0..depth {
            let mut next = Vec::new();
            for key in edge {
                for side in [self.operands(key), self.users(key)] {
                    for neighbour in side.into_iter().take(neighbours) {
                        if chosen.len() < most && chosen.insert(neighbour) {
                            next.push(neighbour);
                        }
                    }
                }
            }
            edge = next;
        }
        (chosen, left_out)
    }

    fn node(
        &self,
        key: Key,
        chosen: &BTreeSet<Key>,
        lines: &Lines,
        costs: Option<Costs>,
        fates: &BTreeMap<StmtId, Fate>,
    ) -> Node {
        let (graph, module) = (self.graph, self.graph.module());
        let hidden = |side: BTreeSet<Key>| side.difference(chosen).count();
        let mut node = Node {
            shape: Shape::Outside,
            line: None,
            text: String::new(),
            fate: None,
            costs: Vec::new(),
            block: self.block(key).map(BlockId::index),
            hidden: (hidden(self.operands(key)), hidden(self.users(key))),
        };
        match key {
            Key::Statement(stmt) => {
                let sinks = |value: &ValueId| matches!(graph.value(*value).origin, Origin::Sink(_));
                let effect = self.values.get(&key).is_some_and(|values| values.iter().any(sinks));
                node.shape = if effect { Shape::Effect } else { Shape::Statement };
                node.line = Some(lines.position(module.stmt_span(stmt).start).line);
                node.text = one_line(module.stmt_text(stmt));
                node.fate = fates.get(&stmt).cloned();
                let each = costs.iter().flat_map(|costs| costs.each());
                let cost =
                    |costs: Costs| Some(costs.step(&graph.step(stmt)?)).filter(|&cost| cost != Cost::UNKNOWN);
                node.costs = each.map(cost).collect::<Option<_>>().unwrap_or_default();
            }
            Key::Value(value) => {
                let register = clean(&self.register(value));
                (node.shape, node.text) = match graph.value(value).origin {
                    Origin::Phi(_) => (Shape::Phi, format!("{register} = phi")),
                    Origin::Undefined => (Shape::Outside, format!("{register} undefined")),
                    Origin::Read(_) => (Shape::Outside, format!("{register} undefined at this read")),
                    Origin::Opaque | Origin::Result(_) | Origin::Sink(_) => {
                        (Shape::Outside, format!("{register} from outside"))
                    }
                };
                node.text = node.text.trim().to_owned();
            }
        }
        node
    }

    fn register(&self, value: ValueId) -> String {
        let register = self.graph.register_of(value).and_then(|register| self.graph.register_text(register));
        register.unwrap_or_default()
    }

    /// The edges between nodes that are drawn: one from each node to another, with all registers that flow there.
    fn edges(&self, places: &BTreeMap<Key, usize>) -> Vec<Edge> {
        let mut found: BTreeMap<(usize, usize), Vec<(ValueId, Use)>> = BTreeMap::new();
        for (&key, &to) in places {
            for &value in self.values.get(&key).into_iter().flatten() {
                for (operand, how) in self.graph.operands(value) {
                    if let Some(&from) = places.get(&self.key(operand)) {
                        found.entry((from, to)).or_default().push((operand, how));
                    }
                }
            }
        }
        found.into_iter().map(|((from, to), uses)| self.edge(from, to, uses)).collect()
    }

    fn edge(&self, from: usize, to: usize, mut uses: Vec<(ValueId, Use)>) -> Edge {
        uses.sort_unstable();
        uses.dedup();
        let mut labels: Vec<String> = Vec::new();
        let mut kind = EdgeKind::Term;
        for (operand, how) in uses {
            let several = match self.graph.value(operand).origin {
                Origin::Result(stmt) => self.graph.results(stmt).count() > 1,
                Origin::Phi(_) | Origin::Undefined | Origin::Read(_) | Origin::Opaque | Origin::Sink(_) => {
                    false
                }
            };
            let register = if several { clean(&self.register(operand)) } else { String::new() };
            let (this, label) = match how {
                Use::Term => (EdgeKind::Term, register),
                Use::Whole | Use::Low(_) => (EdgeKind::Whole, register),
                Use::Phi(edge) => (EdgeKind::Phi, format!("{register} edge {edge}").trim().to_owned()),
            };
            kind = if this == EdgeKind::Term { kind } else { this };
            if !label.is_empty() && !labels.contains(&label) {
                labels.push(label);
            }
        }
        Edge { from, to, label: labels.join(", "), kind }
    }
}

fn block_label(graph: &Graph<'_, '_>, block: BlockId) -> String {
    let names: Vec<String> =
        graph.flow().successors(block).iter().map(|block| format!("B{}", block.index())).collect();
    let head = if graph.flow().is_loop_head(block) { " (loop)" } else { "" };
    let arrow = if names.is_empty() { "" } else { " -> " };
    format!("B{}{head}{arrow}{}", block.index(), names.join(" "))
}
