//! Draws a picture as SVG: for a page, or as a file of its own.
//!
//! Where nodes and edges go is found by `placed.rs`. Sizes of text are reckoned for a fixed-width font, in which every character is 0.6 of its height wide.

use super::colours::written_out;
use super::placed::{Placed, Route, placed};
use super::{
    CHANGED, DELETED, EFFECT, Edge, EdgeKind, Fate, NEW, Node, OUTSIDE, PHI, Picture, STATEMENT, Shape, TERM,
    VIA_PHI, WHOLE, cut,
};
use graphlay::{LayoutError, Point, Size};
use maud::{Markup, html};

/// The style sheet of pictures, with the names of colours.
pub(crate) const STYLE: &str = include_str!("picture.css");

/// How wide a character is, and how high a line of text.
const CHARACTER: f64 = 7.55;
const LINE: f64 = 17.0;
/// Between the border of a node and its text, and around the whole picture.
const PADDING: f64 = 10.0;
/// How far the corners of edges are rounded.
const ROUND: f64 = 7.0;
/// How long the head of an arrow is.
const HEAD: f64 = 7.0;
/// How many characters of a line are shown, and how many lines of a replacement.
const MOST_OF_LINE: usize = 48;
const MOST_LINES: usize = 5;

/// A line of text of a node, with the name of its style.
struct Text {
    style: &'static str,
    text: String,
}

/// The picture for a page, with what it is for those who cannot see it.
pub(crate) fn inline(picture: &Picture, what: &str) -> Markup {
    match Drawing::of(picture) {
        Ok(drawing) => {
            let (width, height) = drawing.size();
            html! {
                // It shrinks where there is too little room, but not so far that it cannot be read.
                svg class="dfg" role="img" aria-label=(what)
                    style=(format!("--wide:{}px", number(width)))
                    viewBox=(format!("0 0 {} {}", number(width), number(height))) { (drawing.body()) }
            }
        }
        Err(error) => html! { p { "This part is too large to draw: " (error.to_string()) } },
    }
}

/// The picture as a file, with a legend below it; `costs` says which GPU the costs are those of.
///
/// # Errors
///
/// If there are too many nodes.
pub(crate) fn standalone(picture: &Picture, costs: &str) -> Result<String, LayoutError> {
    let drawing = Drawing::of(picture)?;
    let (width, height) = drawing.size();
    let items = items(picture);
    let left_out = picture.left_out;
    let mut notes: Vec<String> = Vec::new();
    notes.extend(Some(costs.to_owned()).filter(|costs| !costs.is_empty()));
    notes.extend((left_out > 0).then(|| format!("{left_out} more changed statements are not drawn")));
    let rows = items.len() + notes.len();
    let longest = items
        .iter()
        .map(|(_, what)| what.chars().count())
        .chain(notes.iter().map(|note| note.chars().count()));
    let width = width.max(characters(longest.max().unwrap_or(0)) + 80.0);
    let top = height + PADDING;
    let height = top + LINE * 1.2 * rows_high(rows) + PADDING;
    let row = |at: usize| top + LINE * 1.2 * rows_high(at);
    let title = format!("Dataflow of {}", picture.function);
    let body = html! {
        svg xmlns="http://www.w3.org/2000/svg" class="dfg" role="img" aria-label=(title)
            width=(number(width)) height=(number(height))
            viewBox=(format!("0 0 {} {}", number(width), number(height))) {
            title { (title) }
            style { (maud::PreEscaped(written_out(STYLE))) }
            rect class="ground" width="100%" height="100%" {}
            (drawing.body())
            @for (at, (swatch, what)) in items.iter().enumerate() {
                g transform=(format!("translate({} {})", number(PADDING), number(row(at)))) {
                    (swatch.body())
                    text x="44" y="13" { (what) }
                }
            }
            @for (at, note) in notes.iter().enumerate() {
                text class="note" x=(number(PADDING)) y=(number(row(items.len() + at) + 13.0)) { (note) }
            }
        }
    };
    Ok(body.into_string() + "\n")
}

/// What the looks of a picture mean, as a list for a page.
pub(crate) fn legend(picture: &Picture) -> Markup {
    html! {
        ul class="legend" {
            @for (swatch, what) in items(picture) {
                li {
                    svg class="dfg" width="36" height="18" viewBox="0 0 36 18" aria-hidden="true" { (swatch.body()) }
                    (what)
                }
            }
        }
    }
}

/// An example of a look.
enum Swatch {
    Node(Shape, Option<&'static str>),
    Edge(EdgeKind),
}

/// The looks that a picture has, and what they mean.
fn items(picture: &Picture) -> Vec<(Swatch, &'static str)> {
    let mut items = Vec::new();
    for (name, what) in [("changed", CHANGED), ("deleted", DELETED), ("new", NEW)] {
        if picture.nodes.iter().any(|node| fate(node) == Some(name)) {
            items.push((Swatch::Node(Shape::Statement, Some(name)), what));
        }
    }
    for (shape, what) in
        [(Shape::Statement, STATEMENT), (Shape::Effect, EFFECT), (Shape::Phi, PHI), (Shape::Outside, OUTSIDE)]
    {
        if picture.nodes.iter().any(|node| node.shape == shape) {
            items.push((Swatch::Node(shape, None), what));
        }
    }
    for (kind, what) in [(EdgeKind::Term, TERM), (EdgeKind::Whole, WHOLE), (EdgeKind::Phi, VIA_PHI)] {
        if picture.edges.iter().any(|edge| edge.kind == kind) {
            items.push((Swatch::Edge(kind), what));
        }
    }
    items
}

impl Swatch {
    fn body(&self) -> Markup {
        match self {
            Self::Node(shape, fate) => html! {
                g class=(classes(*shape, *fate)) { (frame(*shape, 1.0, 2.0, 32.0, 14.0)) }
            },
            Self::Edge(kind) => html! {
                path class=(edge_class(*kind)) d="M1 9H28" {}
                path class="head" d="M34 9L27 5.5V12.5Z" {}
            },
        }
    }
}

fn fate(node: &Node) -> Option<&'static str> {
    node.fate.as_ref().map(|fate| match fate {
        Fate::Changed(_) => "changed",
        Fate::Deleted => "deleted",
        Fate::New => "new",
    })
}

fn classes(shape: Shape, fate: Option<&str>) -> String {
    let shape = match shape {
        Shape::Statement => "statement",
        Shape::Effect => "effect",
        Shape::Phi => "phi",
        Shape::Outside => "outside",
    };
    fate.map_or_else(|| shape.to_owned(), |fate| format!("{shape} {fate}"))
}

fn edge_class(kind: EdgeKind) -> &'static str {
    match kind {
        EdgeKind::Term => "flow",
        EdgeKind::Whole => "flow whole",
        EdgeKind::Phi => "flow phi",
    }
}

/// The border of a node.
fn frame(shape: Shape, x: f64, y: f64, width: f64, height: f64) -> Markup {
    let round = match shape {
        Shape::Statement | Shape::Effect => 4.0,
        Shape::Phi | Shape::Outside => height / 2.0,
    };
    html! {
        rect class="box" x=(number(x)) y=(number(y)) width=(number(width)) height=(number(height)) rx=(number(round)) {}
        @if shape == Shape::Effect {
            rect class="inner" x=(number(x + 3.0)) y=(number(y + 3.0)) width=(number(width - 6.0))
                height=(number(height - 6.0)) rx="2" {}
        }
    }
}

/// A picture, and where everything is.
struct Drawing<'p> {
    picture: &'p Picture,
    texts: Vec<Vec<Text>>,
    sizes: Vec<Size>,
    placed: Placed,
}

impl<'p> Drawing<'p> {
    fn of(picture: &'p Picture) -> Result<Self, LayoutError> {
        let texts: Vec<Vec<Text>> = picture.nodes.iter().map(texts).collect();
        let sizes: Vec<Size> = texts.iter().map(|text| size(text)).collect();
        let placed = placed(&sizes, &picture.edges)?;
        Ok(Self { picture, texts, sizes, placed })
    }

    fn size(&self) -> (f64, f64) {
        let Size { width, height } = self.placed.size;
        (width + 2.0 * PADDING, height + 2.0 * PADDING)
    }

    fn body(&self) -> Markup {
        html! {
            @for (edge, route) in self.picture.edges.iter().zip(&self.placed.edges) { (edge_body(edge, route)) }
            @for (at, node) in self.picture.nodes.iter().enumerate() { (self.node(node, at)) }
        }
    }

    fn node(&self, node: &Node, at: usize) -> Markup {
        let (text, centre) = (&self.texts[at], padded(self.placed.nodes[at]));
        let Size { width, height } = self.sizes[at];
        let (left, top) = (centre.x - width / 2.0, centre.y - height / 2.0);
        let base = |at: usize| top + PADDING * 0.7 + LINE * (rows_high(at) + 0.75);
        html! {
            g class=(classes(node.shape, fate(node))) {
                title { (node.text) }
                (frame(node.shape, left, top, width, height))
                @for (at, line) in text.iter().enumerate() {
                    text class=(line.style) x=(number(left + PADDING)) y=(number(base(at))) { (line.text) }
                }
            }
        }
    }
}

/// A point in the picture.
fn padded(point: Point) -> Point {
    Point::new(point.x + PADDING, point.y + PADDING)
}

fn edge_body(edge: &Edge, route: &Route) -> Markup {
    let points: Vec<Point> = route.points.iter().map(|&point| padded(point)).collect();
    let Some(&[before, end]) = points.last_chunk() else { return html! {} };
    let (dx, dy) = unit(before, end);
    let back = Point::new(end.x - HEAD * dx, end.y - HEAD * dy);
    let side = |way: f64| Point::new(back.x - way * dy * HEAD / 2.0, back.y + way * dx * HEAD / 2.0);
    let head = format!("M{}L{}L{}Z", at(end), at(side(1.0)), at(side(-1.0)));
    html! {
        path class=(edge_class(edge.kind)) d=(rounded(&points, back)) {}
        path class="head" d=(head) {}
        @if let Some(anchor) = route.label.map(padded) {
            @let width = label_size(&edge.label).width;
            rect class="ground" x=(number(anchor.x - width / 2.0)) y=(number(anchor.y - LINE / 2.0))
                width=(number(width)) height=(number(LINE)) {}
            text class="label" text-anchor="middle" x=(number(anchor.x)) y=(number(anchor.y + 4.0)) {
                (edge.label)
            }
        }
    }
}

/// The lines of a node: the opcode, its operands, what takes its place, and notes.
fn texts(node: &Node) -> Vec<Text> {
    let line = |style, text: &str| Text { style, text: cut(text, MOST_OF_LINE) };
    let mut lines = Vec::new();
    match (node.shape, opcode(&node.text)) {
        (Shape::Statement | Shape::Effect, Some((opcode, operands))) => {
            lines.push(line("op", opcode));
            lines.push(line("", operands));
        }
        _ => lines.push(line("op", &node.text)),
    }
    match &node.fate {
        Some(Fate::Changed(after)) => {
            lines.extend(after.iter().take(MOST_LINES).map(|new| line("becomes", &format!("→ {new}"))));
            if after.len() > MOST_LINES {
                lines.push(line("note", &format!("→ and {} more", after.len() - MOST_LINES)));
            }
        }
        Some(Fate::Deleted) => lines.push(line("note", "→ deleted")),
        Some(Fate::New) | None => {}
    }
    lines.extend(Some(node.notes()).filter(|notes| !notes.is_empty()).map(|notes| line("note", &notes)));
    lines
}

/// A statement cut after its opcode, which a guard may stand before.
fn opcode(text: &str) -> Option<(&str, &str)> {
    let guard = if text.starts_with('@') { text.find(' ')? + 1 } else { 0 };
    let end = guard + text[guard..].find(' ')?;
    Some((&text[..end], text[end..].trim_start()))
}

fn size(text: &[Text]) -> Size {
    let longest = text.iter().map(|line| line.text.chars().count()).max().unwrap_or(0);
    Size::new(characters(longest) + 2.0 * PADDING, LINE * rows_high(text.len()) + 1.4 * PADDING)
}

/// How large the label of an edge is.
pub(super) fn label_size(label: &str) -> Size {
    Size::new(characters(label.chars().count()), LINE)
}

fn characters(count: usize) -> f64 {
    CHARACTER * rows_high(count)
}

/// A small number as one that can be multiplied.
fn rows_high(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

/// The direction from one point to another; down if they are the same.
fn unit(from: Point, to: Point) -> (f64, f64) {
    let (dx, dy) = (to.x - from.x, to.y - from.y);
    let length = dx.hypot(dy);
    if length > 0.0 { (dx / length, dy / length) } else { (0.0, 1.0) }
}

/// A path through points with rounded corners, which ends at `end` before the last of them.
fn rounded(points: &[Point], end: Point) -> String {
    let mut path = format!("M{}", at(points[0]));
    for corner in points.windows(3) {
        let [before, here, after] = [corner[0], corner[1], corner[2]];
        let room = |other: Point| ROUND.min((other.x - here.x).hypot(other.y - here.y) / 2.0);
        let towards = |other: Point| {
            let (dx, dy) = unit(here, other);
            Point::new(here.x + dx * room(other), here.y + dy * room(other))
        };
        path += &format!("L{}Q{} {}", at(towards(before)), at(here), at(towards(after)));
    }
    path + &format!("L{}", at(end))
}

fn at(point: Point) -> String {
    format!("{} {}", number(point.x), number(point.y))
}

/// A number with one digit after the point, if it needs one.
fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    let short = text.strip_suffix(".0").unwrap_or(&text);
    if short == "-0" { "0".to_owned() } else { short.to_owned() }
}
