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
use crate::recipe::{Source, Step};
use hashbrown::{HashMap, HashSet};
use ptxopt_grammar::table::instruction::{Instruction, Mnemonic, op};
use std::sync::{LazyLock, OnceLock};

/// The instructions whose trees are one `LOP3`; the last is an instruction of its own where it is the outermost.
#[must_use]
pub fn logic() -> Vec<Instruction> {
    Mnemonic::all().filter(|mnemonic| mnemonic.row().bitwise).map(|mnemonic| mnemonic.of(op::B32)).collect()
}

/// What the rows of such trees are called.
pub const TREE: &str = "logic";

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

/// An instruction and its sources.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Shape {
    instruction: Instruction,
    places: [Place; 4],
}

/// What a row is found by.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Key {
    Pair(Shape, Shape),
    Tree([Place; 3]),
}

/// The rows that begin with one word: those of an outer instruction, or all trees.
struct Rows {
    text: &'static str,
    /// Read when they are asked for first.
    read: OnceLock<Read>,
}

/// Rows as they are looked up.
#[derive(Default)]
struct Read {
    rows: HashMap<Key, Vec<Cells>>,
    /// The inner instructions of pairs: most pairs have no row, and that is sooner known by these.
    inner: HashSet<Instruction>,
}

impl Rows {
    fn read(&self) -> &Read {
        self.read.get_or_init(|| {
            let mut read = Read::default();
            for (name, columns) in table::rows_of(self.text, []) {
                let key = Key::parse(&name);
                if let Key::Pair(_, inner) = key {
                    read.inner.insert(inner.instruction);
                }
                read.rows.insert(key, columns);
            }
            read
        })
    }
}

struct Table {
    pairs: HashMap<Instruction, Rows>,
    trees: Rows,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let (numbered, rows) = table::parts(include_str!("fused.tsv"));
    assert!(numbered.is_empty(), "there is one cell for each generation");
    let (mut pairs, mut trees) = (HashMap::new(), None);
    for (words, text) in table::blocks(rows) {
        let rows = Rows { text, read: OnceLock::new() };
        if words == TREE {
            trees = Some(rows);
        } else {
            pairs.insert(instruction(words), rows);
        }
    }
    Table { pairs, trees: trees.expect("trees were measured") }
});

/// The instruction of a row.
fn instruction(words: &str) -> Instruction {
    Instruction::parse(words.as_bytes()).expect("rows are of instructions that there are")
}

impl Key {
    /// The key of a row: `add.u32 (shl.b32 r small) r`, `logic r r wide`.
    fn parse(name: &str) -> Self {
        if let Some(leaves) = name.strip_prefix(TREE) {
            let mut places = [Place::None; 3];
            places.iter_mut().zip(leaves.split_whitespace()).for_each(|(to, word)| *to = Place::parse(word));
            return Self::Tree(places);
        }
        let (before, rest) = name.split_once('(').expect("a row has an inner instruction in brackets");
        let (inner, after) = rest.split_once(')').expect("what is opened is closed");
        let outer = format!("{before}({after}");
        Self::Pair(Shape::parse(&outer), Shape::parse(inner))
    }
}

impl Shape {
    /// An instruction of a row, with `(` where the other one was.
    fn parse(text: &str) -> Self {
        let mut fields = text.split_whitespace();
        let instruction = instruction(fields.next().expect("an instruction has words"));
        let mut places = [Place::None; 4];
        for (to, word) in places.iter_mut().zip(fields) {
            *to = if word == "(" { Place::Inner } else { Place::parse(word) };
        }
        Self { instruction, places }
    }
}

impl Shape {
    /// That of a step, where `inner` says which source is the result of the other one; `None` if no row has one.
    fn of(step: &Step, inner: Option<usize>) -> Option<Self> {
        let instruction = step.instruction()?.representative();
        let mut places = [Place::None; 4];
        let pattern = step.has_pattern().then(|| step.sources.len() - 1);
        for (at, (to, source)) in places.iter_mut().zip(&step.sources).enumerate() {
            *to = match source {
                _ if inner == Some(at) => Place::Inner,
                Source::Constant(_) if pattern == Some(at) => Place::Any,
                Source::Constant(value) => Place::of(*value)?,
                Source::Value(_) | Source::Step(_) => Place::Register,
            };
        }
        if instruction.row().commutes && places[1] < places[0] {
            places.swap(0, 1);
        }
        Some(Self { instruction, places })
    }
}

impl Costs {
    /// The cost of `outer` and `inner`, which is its source number `at` and has no other use, on one GPU.
    pub(super) fn pair(&self, outer: &Step, at: usize, inner: &Step) -> Option<Cost> {
        let read = TABLE.pairs.get(&outer.instruction()?.representative())?.read();
        if !read.inner.contains(&inner.instruction()?.representative()) {
            return None;
        }
        let key = Key::Pair(Shape::of(outer, Some(at))?, Shape::of(inner, None)?);
        Some(read.rows.get(&key)?[self.numbers().next()?].as_deref()?[0])
    }

    /// The cost of a tree of logic with these leaves, on one GPU.
    pub(super) fn tree(&self, leaves: &Leaves) -> Option<Cost> {
        let key = Key::Tree(leaves.places()?);
        Some(TABLE.trees.read().rows.get(&key)?[self.numbers().next()?].as_deref()?[0])
    }
}

/// Whether it may be in a tree of logic.
pub(super) fn is_logic(step: &Step) -> bool {
    step.instruction().is_some_and(|of| of.row().bitwise && of == of.mnemonic().of(op::B32))
}

/// Whether it may be the outermost instruction of a tree of logic: all but the complement.
pub(super) fn heads_tree(step: &Step) -> bool {
    is_logic(step) && step.sources.len() > 1
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
