//! What plain instructions cost: those that byte code is written with.
//!
//! A row of the table is an instruction with the kinds of its sources. A constant is found by its value where that
//! was measured, then by its kind, then as any constant; what is found nowhere has the interval that promises
//! nothing.

use super::table::{self, Cells};
use super::{Cost, OperandKind};
use crate::recipe::is_move;
use hashbrown::HashMap;
use std::sync::LazyLock;

/// By opcode and modifiers, the rows that differ in their sources.
static TABLE: LazyLock<HashMap<String, Vec<Row>>> = LazyLock::new(|| {
    let mut table: HashMap<String, Vec<Row>> = HashMap::new();
    for (name, columns) in table::rows(include_str!("plain.tsv")) {
        let mut fields = name.split(' ');
        let words = fields.next().expect("a name has words").to_owned();
        table.entry(words).or_default().push(Row { sources: fields.map(Source::parse).collect(), columns });
    }
    table
});

struct Row {
    sources: Vec<Source>,
    columns: Vec<Cells>,
}

/// A source as the table names it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Register,
    Value(i64),
    Kind(Kind),
    Any,
}

/// Constants that the assembler treats alike.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Zero,
    One,
    Ones,
    Power,
    /// It fits the 20 bits that older GPUs have for a constant.
    Small,
    Wide,
}

impl Kind {
    const fn of(value: i64) -> Self {
        match value {
            0 => Self::Zero,
            1 => Self::One,
            -1 => Self::Ones,
            _ if value.count_ones() == 1 => Self::Power,
            -0x8_0000..=0x7_ffff => Self::Small,
            _ => Self::Wide,
        }
    }
}

impl Source {
    fn parse(word: &str) -> Self {
        match word {
            "r" => Self::Register,
            "any" => Self::Any,
            "zero" => Self::Kind(Kind::Zero),
            "one" => Self::Kind(Kind::One),
            "ones" => Self::Kind(Kind::Ones),
            "power" => Self::Kind(Kind::Power),
            "small" => Self::Kind(Kind::Small),
            "wide" => Self::Kind(Kind::Wide),
            value => Self::Value(value.parse().expect("every other source in the table is a number")),
        }
    }
}

/// How precisely a row names constants.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Precision {
    Value,
    Kind,
    Any,
}

impl Precision {
    /// The source of a row that stands for `operand`.
    const fn source(self, operand: OperandKind) -> Source {
        match (operand, self) {
            (OperandKind::Register, _) => Source::Register,
            (OperandKind::Constant(value), Self::Value) => Source::Value(value),
            (OperandKind::Constant(value), Self::Kind) => Source::Kind(Kind::of(value)),
            (OperandKind::Constant(_), Self::Any) => Source::Any,
        }
    }
}

/// The cost of an instruction on a generation.
pub(super) fn cost(generation: usize, words: &str, operands: &[OperandKind]) -> Cost {
    if is_move(words) && matches!(operands, [OperandKind::Constant(_)]) {
        // The instruction that uses the constant has it as its own, and is measured with it.
        return Cost::NOTHING;
    }
    let moved = any_selector(words, operands);
    let operands = moved.as_ref().map_or(operands, |operands| operands.as_slice());
    let rows = TABLE.get(words).map(Vec::as_slice).unwrap_or_default();
    let found = [Precision::Value, Precision::Kind, Precision::Any].into_iter().find_map(|precision| {
        let wanted = || operands.iter().map(|&operand| precision.source(measured(words, precision, operand)));
        rows.iter().find(|row| row.sources.iter().copied().eq(wanted()))
    });
    let cells = found.and_then(|row| row.columns[generation].as_deref());
    cells.map_or(Cost::UNKNOWN, |cells| cells[0])
}

/// A byte move within one word costs the same with any selector, so it is found as one whose selector is a register.
fn any_selector(words: &str, operands: &[OperandKind]) -> Option<[OperandKind; 3]> {
    let &[word, OperandKind::Constant(0), OperandKind::Constant(_)] = operands else { return None };
    (words == SELECTS && word == OperandKind::Register).then_some([
        word,
        OperandKind::Constant(0),
        OperandKind::Register,
    ])
}

/// The instruction that moves bytes as a selector says.
const SELECTS: &str = "prmt.b32";

/// What stands for an operand in the table. By its kind alone an amount that shifts a word by less than its width is
/// no small constant, since those shift everything out: all such amounts cost the same, and one stands for them.
fn measured(words: &str, precision: Precision, operand: OperandKind) -> OperandKind {
    match operand {
        OperandKind::Constant(1..32)
            if precision == Precision::Kind
                && matches!(words, "shl.b32" | "shr.b32" | "shr.u32" | "shr.s32") =>
        {
            OperandKind::Constant(1)
        }
        OperandKind::Constant(_) | OperandKind::Register => operand,
    }
}
