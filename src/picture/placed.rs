//! Where the nodes and edges of a picture go.
//!
//! A library for layered graphs places one connected part at a time; all parts in one row would be wide and low, so
//! they fill rows of a picture that is about as wide as a screen. The same picture is always placed the same.

use super::{Edge, svg};
use graphlay::{
    Direction, Edge as Line, Effort, GraphBuilder, Layout, LayoutError, LayoutOptions, Node, NodeId, Point,
    PortSides, Size,
};
use petgraph::unionfind::UnionFind;
use std::collections::BTreeMap;

/// More nodes than this are a picture for nobody, and take long to place.
const MOST_NODES: usize = 2000;
/// From this many nodes on, less work is done to avoid crossings.
const MANY_NODES: usize = 150;
/// Between connected parts.
const GAP: f64 = 36.0;
/// How wide a row of parts is at most, unless one part is wider.
const WIDEST: f64 = 1600.0;

/// Where everything is; the left upper corner is at zero.
pub(super) struct Placed {
    /// The middles of the nodes.
    pub(super) nodes: Vec<Point>,
    pub(super) edges: Vec<Route>,
    pub(super) size: Size,
}

/// The way of an edge.
#[derive(Clone, Default)]
pub(super) struct Route {
    pub(super) points: Vec<Point>,
    /// The middle of its label.
    pub(super) label: Option<Point>,
}

/// A connected part: places of its nodes and edges in the lists of the picture.
#[derive(Default)]
struct Component {
    nodes: Vec<usize>,
    edges: Vec<usize>,
}

/// Places boxes of such sizes with edges between them.
///
/// # Errors
///
/// If there are too many nodes.
pub(super) fn placed(sizes: &[Size], edges: &[Edge]) -> Result<Placed, LayoutError> {
    // The library's own limits are of one part.
    for (what, got, limit) in [("nodes", sizes.len(), MOST_NODES), ("edges", edges.len(), 4 * MOST_NODES)] {
        if got > limit {
            return Err(LayoutError::TooLarge { what, got, limit });
        }
    }
    let options = options(sizes.len());
    let mut all = Placed {
        nodes: vec![Point::default(); sizes.len()],
        edges: vec![Route::default(); edges.len()],
        size: Size::new(0.0, 0.0),
    };
    let mut laid = Vec::new();
    for part in parts(sizes.len(), edges) {
        let layout = laid_out(&part, sizes, edges, &options)?;
        let corners = corners(&part, edges, &layout);
        laid.push((part, layout, corners));
    }
    let widths = laid.iter().map(|(_, _, [least, most])| most.x - least.x);
    let widest = widths.fold(WIDEST, f64::max);
    // The left upper corner of the next part, and the height of its row so far.
    let (mut next, mut row) = (Point::new(0.0, 0.0), 0.0);
    for (part, layout, [least, most]) in &laid {
        let (width, height) = (most.x - least.x, most.y - least.y);
        if next.x > 0.0 && next.x + width > widest {
            (next, row) = (Point::new(0.0, next.y + row + GAP), 0.0);
        }
        let moved = |point: Point| Point::new(point.x - least.x + next.x, point.y - least.y + next.y);
        for (&node, place) in part.nodes.iter().zip(&layout.nodes) {
            all.nodes[node] = moved(place.center);
        }
        for (&edge, route) in part.edges.iter().zip(&layout.edges) {
            let points = route.points.iter().map(|&point| moved(point)).collect();
            all.edges[edge] = Route { points, label: route.label_anchor.map(moved) };
        }
        all.size = Size::new(all.size.width.max(next.x + width), all.size.height.max(next.y + height));
        (next.x, row) = (next.x + width + GAP, row.max(height));
    }
    Ok(all)
}

/// The connected parts, in the order of their first nodes.
fn parts(nodes: usize, edges: &[Edge]) -> Vec<Component> {
    let mut union = UnionFind::<usize>::new(nodes);
    for edge in edges {
        union.union(edge.from, edge.to);
    }
    let mut parts: Vec<Component> = Vec::new();
    let mut of: BTreeMap<usize, usize> = BTreeMap::new();
    for node in 0..nodes {
        let part = *of.entry(union.find(node)).or_insert(parts.len());
        if part == parts.len() {
            parts.push(Component::default());
        }
        parts[part].nodes.push(node);
    }
    for (at, edge) in edges.iter().enumerate() {
        parts[of[&union.find(edge.from)]].edges.push(at);
    }
    parts
}

fn laid_out(
    part: &Component,
    sizes: &[Size],
    edges: &[Edge],
    options: &LayoutOptions,
) -> Result<Layout, LayoutError> {
    let mut graph = GraphBuilder::new();
    let add = |&node: &usize| (node, graph.add_node(Node { size: sizes[node], ..Node::default() }));
    let nodes: BTreeMap<usize, NodeId> = part.nodes.iter().map(add).collect();
    for edge in part.edges.iter().map(|&edge| &edges[edge]) {
        let label_size = Some(&*edge.label).filter(|label| !label.is_empty()).map(svg::label_size);
        graph.add_edge(Line { label_size, ..Line::new(nodes[&edge.from], nodes[&edge.to]) });
    }
    graphlay::layout(&graph.build(), options)
}

/// The left upper and the right lower corner of what is drawn of a part.
fn corners(part: &Component, edges: &[Edge], layout: &Layout) -> [Point; 2] {
    // The layout counts the place of a label, not its size.
    let mut corners = [layout.bounds.min, layout.bounds.max];
    for (&edge, route) in part.edges.iter().zip(&layout.edges) {
        if let Some(anchor) = route.label_anchor {
            let half = svg::label_size(&edges[edge].label).width / 2.0;
            corners[0].x = corners[0].x.min(anchor.x - half);
            corners[1].x = corners[1].x.max(anchor.x + half);
        }
    }
    corners
}

/// How to place parts of a picture with so many nodes in all.
fn options(nodes: usize) -> LayoutOptions {
    let mut options = LayoutOptions::process_map();
    options.direction = Direction::TopBottom;
    options.spacing.layer_gap = 34.0;
    options.spacing.node_gap = 22.0;
    options.spacing.dummy_gap = 16.0;
    options.spacing.port_gap = 14.0;
    options.spacing.port_stroke_clear = 8.0;
    options.spacing.stub = 10.0;
    options.spacing.edge_label_margin = 14.0;
    options.spacing.isolated_gap = 16.0;
    options.routing.port_sides = PortSides::FacingOnly;
    options.effort = if nodes > MANY_NODES { Effort::Fast } else { Effort::Balanced };
    options.limits.max_dummies = Some(40 * MOST_NODES);
    options
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::EdgeKind;

    fn edge((from, to): (usize, usize)) -> Edge {
        Edge { from, to, label: String::new(), kind: EdgeKind::Term }
    }

    /// Places pairs of boxes that are 400 wide.
    fn pairs(count: usize) -> Placed {
        let edges: Vec<Edge> = (0..count).map(|at| edge((2 * at, 2 * at + 1))).collect();
        placed(&vec![Size::new(400.0, 50.0); 2 * count], &edges).expect("few nodes can be placed")
    }

    #[test]
    fn parts_that_are_not_connected_fill_rows() {
        let (few, many) = (pairs(3), pairs(20));
        assert!(few.nodes[0].y == few.nodes[4].y, "one row");
        assert!(many.size.width <= WIDEST && many.size.height > 5.0 * few.size.height, "{:?}", many.size);
    }

    #[test]
    fn no_two_boxes_touch() {
        let nodes = pairs(20).nodes;
        for (at, one) in nodes.iter().enumerate() {
            for other in &nodes[..at] {
                let apart = (one.x - other.x).abs() > 400.0 || (one.y - other.y).abs() > 50.0;
                assert!(apart, "{one:?} {other:?}");
            }
        }
    }

    #[test]
    fn too_many_nodes_are_refused_however_few_are_connected() {
        let sizes = vec![Size::new(10.0, 10.0); MOST_NODES + 1];
        let error = placed(&sizes, &[]).err().expect("that is a node too many");
        assert!(error.to_string().contains("2001"), "{error}");
    }

    #[test]
    fn a_wide_part_is_as_wide_as_it_is() {
        let fan: Vec<Edge> = (1..9).map(|to| edge((0, to))).collect();
        let fan = placed(&[Size::new(400.0, 50.0); 9], &fan).expect("few nodes can be placed");
        assert!(fan.size.width > 8.0 * 400.0, "{:?}", fan.size);
    }
}
