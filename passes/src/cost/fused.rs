//! What instructions cost together: where one is the only user of another, the assembler often makes one machine
//! instruction of both.
//!
//! The table beside this file has the pairs whose cost is not the sum of their costs, measured like all others; what
//! it does not have costs the sum. A pair may also cost more than its parts, because a machine instruction needs its
//! sources in other registers than the one before it leaves them. Trees of `and`, `or`, `xor` and `not` with at most
//! three different leaves are one row for each kind of leaves, since such a tree is one `LOP3`, however large it is;
//! a `lop3` of the text is never combined with its neighbours.

use super::table::{self, Cells};
use super::{Cost, Costs};
use crate::recipe::{Code, Source, Step};
use hashbrown::HashMap;
use std::sync::LazyLock;

/// The instructions whose trees are one `LOP3`; the last is an instruction of its own where it is the outermost.
pub const LOGIC: [&str; 4] = ["and.b32", "or.b32", "xor.b32", "not.b32"];

/// What the rows of such trees are called.
pub const TREE: &str = "logic";

/// Instructions that are the same on words of 32 bits; the second has the rows.
const SAME: [(&str, &str); 6] = [
    ("add.s32", "add.u32"),
    ("sub.s32", "sub.u32"),
    ("mul.lo.s32", "mul.lo.u32"),
    ("mad.lo.s32", "mad.lo.u32"),
    ("shr.b32", "shr.u32"),
    ("add.s16x2", "add.u16x2"),
];

/// Instructions whose first two sources may change places.
const COMMUTATIVE: [&str; 28] = [
    "and.b32",
    "or.b32",
    "xor.b32",
    "add.u32",
    "mul.lo.u32",
    "mul.hi.u32",
    "mul.hi.s32",
    "mad.lo.u32",
    "mad.hi.u32",
    "mad.hi.s32",
    "min.u32",
    "max.u32",
    "min.s32",
    "max.s32",
    "add.u16x2",
    "min.u16x2",
    "max.u16x2",
    "min.s16x2",
    "max.s16x2",
    "min.relu.s16x2",
    "max.relu.s16x2",
    "add.u8x4",
    "min.u8x4",
    "max.u8x4",
    "min.s8x4",
    "max.s8x4",
    "sad.u32",
    "sad.s32",
];

/// A source as the rows name it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Place {
    /// The instruction has no such source.
    None,
    /// The result of the other instruction.
    Inner,
    Register,
    Zero,
    /// A constant that fits the 20 bits that older GPUs have for one.
    Small,
    Wide,
    /// A selector or the table of a `lop3`.
    Any,
}

impl Place {
    /// `None` for what no row has.
    fn of(constant: u64) -> Option<Self> {
        let low = u32::try_from(constant & u64::from(u32::MAX)).expect("it was cut to 32 bits").cast_signed();
        Some(match low {
            0 => Self::Zero,
            -1 => return None,
            -0x8_0000..=0x7_ffff => Self::Small,
            _ => Self::Wide,
        })
    }

    fn parse(word: &str) -> Self {
        match word {
            "r" => Self::Register,
            "zero" => Self::Zero,
            "small" => Self::Small,
            "wide" => Self::Wide,
            "any" => Self::Any,
            _ => panic!("`{word}` is no kind of source"),
        }
    }
}

/// An instruction: the number of its opcode and modifiers, and its sources.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Shape {
    words: u16,
    places: [Place; 4],
}

/// What a row is found by.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Key {
    Pair(Shape, Shape),
    Tree([Place; 3]),
}

struct Table {
    words: HashMap<String, u16>,
    commutative: Vec<bool>,
    rows: HashMap<Key, Vec<Cells>>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table { words: HashMap::new(), commutative: Vec::new(), rows: HashMap::new() };
    for (name, columns) in table::rows(include_str!("fused.tsv")) {
        let key = table.parse(&name);
        table.rows.insert(key, columns);
    }
    for (other, same) in SAME {
        if let Some(&number) = table.words.get(same) {
            table.words.insert(other.to_owned(), number);
        }
    }
    table
});

impl Table {
    /// The key of a row: `add.u32 (shl.b32 r small) r`, `logic r r wide`.
    fn parse(&mut self, name: &str) -> Key {
        if let Some(leaves) = name.strip_prefix(TREE) {
            let mut places = [Place::None; 3];
            places.iter_mut().zip(leaves.split_whitespace()).for_each(|(to, word)| *to = Place::parse(word));
            return Key::Tree(places);
        }
        let (before, rest) = name.split_once('(').expect("a row has an inner instruction in brackets");
        let (inner, after) = rest.split_once(')').expect("what is opened is closed");
        let outer = format!("{before}({after}");
        Key::Pair(self.shape(&outer), self.shape(inner))
    }

    /// An instruction of a row, with `(` where the other one was.
    fn shape(&mut self, text: &str) -> Shape {
        let mut fields = text.split_whitespace();
        let words = fields.next().expect("an instruction has words");
        let next = u16::try_from(self.words.len()).expect("there are few instructions");
        let number = *self.words.entry(words.to_owned()).or_insert_with(|| {
            self.commutative.push(COMMUTATIVE.contains(&words));
            next
        });
        let mut places = [Place::None; 4];
        for (to, word) in places.iter_mut().zip(fields) {
            *to = if word == "(" { Place::Inner } else { Place::parse(word) };
        }
        Shape { words: number, places }
    }

    /// The shape of a step, where `inner` says which source is the result of the other one; `None` if no row has one.
    fn of(&self, step: &Step, inner: Option<usize>) -> Option<Shape> {
        let Code::Plain(words) = &step.code else { return None };
        let words = *self.words.get(words.as_str())?;
        let mut places = [Place::None; 4];
        if step.sources.len() > places.len() {
            return None;
        }
        let pattern = step.has_pattern().then(|| step.sources.len() - 1);
        for (at, (to, source)) in places.iter_mut().zip(&step.sources).enumerate() {
            *to = match source {
                _ if inner == Some(at) => Place::Inner,
                Source::Constant(_) if pattern == Some(at) => Place::Any,
                Source::Constant(value) => Place::of(*value)?,
                Source::Value(_) | Source::Step(_) => Place::Register,
            };
        }
        if self.commutative[usize::from(words)] && places[1] < places[0] {
            places.swap(0, 1);
        }
        Some(Shape { words, places })
    }
}

impl Costs {
    /// The cost of `outer` and `inner`, which is its source number `at` and has no other use, on one GPU.
    pub(super) fn pair(&self, outer: &Step, at: usize, inner: &Step) -> Option<Cost> {
        let table = &*TABLE;
        let key = Key::Pair(table.of(outer, Some(at))?, table.of(inner, None)?);
        Some(table.rows.get(&key)?[self.numbers().next()?].as_deref()?[0])
    }

    /// The cost of a tree of logic with these leaves, on one GPU.
    pub(super) fn tree(&self, leaves: &Leaves) -> Option<Cost> {
        let key = Key::Tree(leaves.places()?);
        Some(TABLE.rows.get(&key)?[self.numbers().next()?].as_deref()?[0])
    }
}

/// Whether it may be in a tree of logic.
pub(super) fn is_logic(step: &Step) -> bool {
    matches!(&step.code, Code::Plain(words) if LOGIC.contains(&words.as_str()))
}

/// Whether it may be the outermost instruction of a tree of logic.
pub(super) fn heads_tree(step: &Step) -> bool {
    matches!(&step.code, Code::Plain(words) if LOGIC[..LOGIC.len() - 1].contains(&words.as_str()))
}

/// The different leaves of a tree: at most three.
#[derive(Clone, Copy, Default)]
pub(super) struct Leaves {
    all: [Option<Source>; 3],
}

impl Leaves {
    /// Whether there is a place for it.
    pub(super) fn add(&mut self, source: Source) -> bool {
        for slot in &mut self.all {
            match slot {
                Some(known) if *known == source => return true,
                Some(_) => {}
                None => {
                    *slot = Some(source);
                    return true;
                }
            }
        }
        false
    }

    /// Their kinds in the order of the rows; -1 and 0 vanish in the table of a `LOP3`.
    fn places(&self) -> Option<[Place; 3]> {
        let mut places = [Place::None; 3];
        for (to, source) in places.iter_mut().zip(self.all.into_iter().flatten()) {
            *to = match source {
                Source::Value(_) | Source::Step(_) => Place::Register,
                Source::Constant(value) => match Place::of(value) {
                    Some(Place::Zero) | None => return None,
                    Some(place) => place,
                },
            };
        }
        let count = self.all.iter().flatten().count();
        places[..count].sort_unstable();
        Some(places)
    }
}
