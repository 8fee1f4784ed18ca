//! What video instructions cost: which forms are measured, and where a form is found among them.
//!
//! The rows of the table are [`Form::all`]: operations with their types and secondary operations, reading whole
//! registers, in order, and writing all lanes. The cells are the masks and the combinations of source operands. Where
//! not every combination is measured, a cell is the interval of a sample, and a form between cells gets an interval
//! around them, which may be wide but is not a guess at a single number.

use super::Cost;
use super::table::{self, Cells};
use hashbrown::HashMap;
use ptxopt_grammar::video::{
    Form, Lanes, Mad, Part, Routing, Scalar, Selector, Simd, SimdArithmetic, SimdOp, Then,
};
use std::sync::{LazyLock, OnceLock};

/// The name of a row: its instruction on registers that are called `d`, `a`, `b` and `c`.
#[must_use]
pub fn name(row: Form) -> String {
    row.encode("d", "a", "b", Some("c")).expect("names are registers, which every form takes")
}

/// The cells of a row: for each the instructions whose costs it spans, on `%r0` to `%r3`.
#[must_use]
pub fn cells(row: Form) -> Vec<Vec<String>> {
    let text =
        |form: Form, b: &str| form.encode("%r0", "%r1", b, Some("%r3")).expect("only `b` is a constant");
    match row {
        Form::Scalar(_) | Form::Mad(_) => grid(row)
            .map(|(a, b)| match b {
                B::Constant => CONSTANTS.map(|b| text(with_parts(row, a, None), b)).to_vec(),
                B::Register(b) => vec![text(with_parts(row, a, b), "%r2")],
            })
            .collect(),
        Form::Simd(simd) => {
            let lanes = simd.routing.lanes();
            let form = |routing| text(Form::Simd(Simd { routing, ..simd }), "%r2");
            let masks = (1..=lanes.full_mask()).map(|mask| vec![form(masked(Routing::plain(lanes), mask))]);
            let classes = CLASSES.into_iter().flat_map(|class| {
                let samples = class.samples(lanes).into_iter();
                let lowest = samples.clone().skip(1).map(|routing| form(masked(routing, 1)));
                [samples.map(form).collect(), lowest.collect()]
            });
            masks.chain(classes).collect()
        }
    }
}

/// Zero, a constant `b` that every GPU takes as it is, and one that is too wide for most.
const CONSTANTS: [&str; 3] = ["0", "100", "-305419897"];

#[derive(Clone, Copy, PartialEq, Eq)]
enum B {
    Register(Option<Part>),
    Constant,
}

/// The parts of `a` and the kinds of `b` that are measured. All bytes cost the same, and so do both halves.
fn grid(row: Form) -> impl Iterator<Item = (Option<Part>, B)> {
    let (a, b) = ([None, Some(Part::B2), Some(Part::H1)], [None, Some(Part::B1), Some(Part::H0)]);
    let all = a
        .into_iter()
        .flat_map(move |a| b.map(B::Register).into_iter().chain([B::Constant]).map(move |b| (a, b)));
    let merges = matches!(row, Form::Scalar(Scalar { then: Then::Merge(_), .. }));
    // Both of a kind, or a byte and a constant: what programs merge.
    all.enumerate().filter(move |(i, _)| !merges || matches!(i, 0 | 5 | 7 | 10)).map(|(_, cell)| cell)
}

fn with_parts(row: Form, a: Option<Part>, b: Option<Part>) -> Form {
    match row {
        Form::Scalar(scalar) => Form::Scalar(Scalar { a, b, ..scalar }),
        Form::Mad(mad) => Form::Mad(Mad { a, b, ..mad }),
        Form::Simd(_) => row,
    }
}

fn masked(routing: Routing, mask: u8) -> Routing {
    routing.masked(mask).expect("at least one lane, and no more than there are")
}

/// Which selectors are not the default ones.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    A,
    B,
    Both,
}

const CLASSES: [Class; 3] = [Class::A, Class::B, Class::Both];

impl Class {
    /// `None` where both are the default.
    fn of(routing: Routing) -> Option<Self> {
        let lanes = routing.lanes();
        let a = routing.a() != Selector::whole_a(lanes);
        let b = routing.b() != Selector::whole_b(lanes);
        match (a, b) {
            (false, false) => None,
            (true, false) => Some(Self::A),
            (false, true) => Some(Self::B),
            (true, true) => Some(Self::Both),
        }
    }

    /// Lanes in reverse, one lane everywhere, and lanes of both registers.
    fn samples(self, lanes: Lanes) -> [Routing; 3] {
        let (plain, a, b): (_, [&[u8]; 3], [&[u8]; 3]) = match lanes {
            Lanes::Two => ([&[0, 1][..], &[2, 3]], [&[1, 0], &[0, 0], &[0, 3]], [&[3, 2], &[2, 2], &[2, 1]]),
            Lanes::Four => (
                [&[0, 1, 2, 3][..], &[4, 5, 6, 7]],
                [&[3, 2, 1, 0], &[0, 0, 0, 0], &[0, 4, 6, 2]],
                [&[7, 6, 5, 4], &[4, 4, 4, 4], &[4, 0, 3, 6]],
            ),
        };
        [0, 1, 2].map(|i| {
            let (a, b) = match self {
                Self::A => (a[i], plain[1]),
                Self::B => (plain[0], b[i]),
                Self::Both => (a[i], b[i]),
            };
            Routing::plain(lanes).selected(a, b).expect("there are such lanes")
        })
    }
}

// ---- lookup ------------------------------------------------------------------------------------------------

/// By row of the table: its cells, read when they are asked for first.
static TABLE: LazyLock<HashMap<Form, OnceLock<Option<Vec<Cells>>>>> =
    LazyLock::new(|| Form::all().map(|row| (row, OnceLock::new())).collect());

/// The table as text.
struct Text {
    /// The cells that are numbered.
    numbered: Vec<&'static str>,
    /// The rows by the words that they begin with, which may stand in several places.
    blocks: HashMap<&'static str, Vec<&'static str>>,
}

static TEXT: LazyLock<Text> = LazyLock::new(|| {
    let (numbered, rows) = table::parts(include_str!("video.tsv"));
    let mut blocks: HashMap<_, Vec<_>> = HashMap::new();
    table::blocks(rows).for_each(|(words, block)| blocks.entry(words).or_default().push(block));
    Text { numbered, blocks }
});

/// The cells of a row; `None` if it was not measured.
fn measured(row: Form) -> Option<&'static [Cells]> {
    let read = || {
        let name = name(row);
        let Text { numbered, blocks } = &*TEXT;
        let blocks = blocks.get(name.split(' ').next()?)?;
        let mut rows = blocks.iter().flat_map(|block| table::rows_of(block, numbered));
        rows.find(|(read, _)| *read == name).map(|(_, columns)| columns)
    };
    TABLE.get(&row)?.get_or_init(read).as_deref()
}

/// The cost of `form` on a generation, where `constants` says which of `a`, `b` and `c` are.
pub(super) fn cost(generation: usize, form: Form, [a, b, c]: [bool; 3]) -> Cost {
    let Some(cells) = measured(row(form)).and_then(|columns| columns[generation].as_deref()) else {
        return Cost::UNKNOWN;
    };
    if a || c {
        // What the assembler folds is not measured; it is never dearer than to load the constants first.
        return Cost { least: 0, most: span(cells).most + u32::from(a) + u32::from(b) + u32::from(c) };
    }
    match form {
        Form::Scalar(Scalar { a, b: part, .. }) | Form::Mad(Mad { a, b: part, .. }) => {
            let class = |part: Option<Part>| part.map(Part::bits);
            let wanted = (class(a), if b { None } else { Some(class(part)) });
            let found = grid(row(form)).position(|(a, b)| {
                let b = match b {
                    B::Register(part) => Some(class(part)),
                    B::Constant => None,
                };
                (class(a), b) == wanted
            });
            found.map_or_else(|| span(cells), |i| cells[i])
        }
        Form::Simd(form) => simd(cells, form),
    }
}

fn simd(cells: &[Cost], form: Simd) -> Cost {
    let routing = form.routing;
    let full = routing.lanes().full_mask();
    let Some(class) = Class::of(routing) else { return cells[usize::from(routing.mask()) - 1] };
    let first =
        usize::from(full) + 2 * CLASSES.iter().position(|&other| other == class).expect("all are there");
    let (all, one) = (cells[first], cells[first + 1]);
    let cost = widened(if routing.mask() == full { all } else { all.or(one) });
    let least = match (read_twice(routing), routing.mask().count_ones()) {
        (twice, lanes) if !folds_equals(form) => {
            // The lane is taken out of its word, and extended, once for both.
            debug_assert!(twice <= lanes, "lanes outside the mask are not computed");
            cost.least.saturating_sub(2 * twice).max(1)
        }
        (twice, lanes) if twice == lanes => 0,
        // All lanes cost the same, and a single lane already needs what they share.
        (twice, lanes) => (cost.least * (lanes - twice) / lanes).max(1),
    };
    Cost { least, ..cost }
}

/// How many of the lanes that are computed read one lane as both operands.
fn read_twice(routing: Routing) -> u32 {
    let twice =
        |&lane: &u8| routing.mask() >> lane & 1 == 1 && routing.a().pick(lane) == routing.b().pick(lane);
    let count = (0..routing.lanes().count()).filter(twice).count();
    u32::try_from(count).expect("there are four lanes at most")
}

/// Whether the assembler simplifies an operation on a lane and itself: their difference, extrema, mean or comparison
/// is a constant or the lane, their sum is neither.
fn folds_equals(form: Simd) -> bool {
    let sum = matches!(form.op, SimdOp::Arithmetic { op: SimdArithmetic::Add, .. });
    form.atype == form.btype && !sum
}

/// A few selectors stand for thousands, so their interval gets a margin; `--sample` shows that it holds for others.
fn widened(cost: Cost) -> Cost {
    let slack = |count: u32| 1 + count / 8;
    Cost { least: cost.least.saturating_sub(slack(cost.least)).max(1), most: cost.most + slack(cost.most) }
}

/// The row of a form.
fn row(form: Form) -> Form {
    match form {
        Form::Scalar(_) | Form::Mad(_) => with_parts(form, None, None),
        Form::Simd(simd) => Form::Simd(Simd { routing: Routing::plain(simd.routing.lanes()), ..simd }),
    }
}

/// The interval around all cells.
fn span(cells: &[Cost]) -> Cost {
    cells.iter().copied().reduce(Cost::or).unwrap_or(Cost::UNKNOWN)
}
