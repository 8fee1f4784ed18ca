//! What plain instructions cost: those that byte code is written with.
//!
//! A row of the table is an instruction with the kinds of its sources. A constant is found by its value where that
//! was measured, then by its kind, then as any constant; what is found nowhere has the interval that promises
//! nothing.

use super::table::{self, Cells};
use super::{Cost, OperandKind};
use hashbrown::HashMap;
use ptxopt_grammar::table::instruction::{Instruction, op};
use ptxopt_grammar::table::types::TypeWord;
use std::sync::{LazyLock, OnceLock};

/// By instruction: most programs have few, so the rows of each are read when they are asked for first.
static TABLE: LazyLock<HashMap<Instruction, Rows>> = LazyLock::new(|| {
    let block = |(words, text): (&str, _)| {
        let instruction =
            Instruction::parse(words.as_bytes()).expect("rows are of instructions that there are");
        (instruction, Rows { text, read: OnceLock::new() })
    };
    let (numbered, rows) = table::parts(include_str!("plain.tsv"));
    assert!(numbered.is_empty(), "costs of plain instructions are short");
    table::blocks(rows).map(block).collect()
});

/// The rows of an instruction, by its sources.
struct Rows {
    text: &'static str,
    read: OnceLock<HashMap<Sources, Vec<Cells>>>,
}

/// The sources of an instruction, as the table has them; the places that it does not have are [`Source::None`].
type Sources = [Source; 4];

impl Rows {
    fn get(&self, sources: &Sources) -> Option<&Vec<Cells>> {
        let row = |(name, columns): (String, Vec<Cells>)| {
            let mut sources = [Source::None; 4];
            sources.iter_mut().zip(name.split(' ').skip(1)).for_each(|(to, word)| *to = Source::parse(word));
            (sources, columns)
        };
        self.read.get_or_init(|| table::rows_of(self.text, []).map(row).collect()).get(sources)
    }
}

/// A source as the table names it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Source {
    None,
    Register,
    Value(i64),
    Kind(Kind),
    Any,
}

/// Constants that the assembler treats alike.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
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
pub(super) fn cost(generation: usize, instruction: Instruction, operands: &[OperandKind]) -> Cost {
    if instruction.is_move() && matches!(operands, [OperandKind::Constant(_)]) {
        // The instruction that uses the constant has it as its own, and is measured with it.
        return Cost::NOTHING;
    }
    if instruction == op::MOV_PRED {
        // A copy like others. It cannot be measured, since what is done under two copies of a predicate is branched
        // around together.
        return Cost::NOTHING;
    }
    let Some(rows) = TABLE.get(&instruction) else { return Cost::UNKNOWN };
    let mut found = None;
    // Without a constant, all are the same.
    let constant = operands.iter().any(|operand| matches!(operand, OperandKind::Constant(_)));
    let precisions = [Precision::Value, Precision::Kind, Precision::Any];
    for precision in precisions.into_iter().take(if constant { 3 } else { 1 }) {
        let mut sources = [Source::None; 4];
        for (at, source) in sources.iter_mut().enumerate().take(operands.len()) {
            *source = precision.source(measured(instruction, precision, operands, at));
        }
        found = rows.get(&sources);
        if found.is_some() {
            break;
        }
    }
    let cells = found.and_then(|columns| columns[generation].as_deref());
    let cost = cells.map_or(Cost::UNKNOWN, |cells| cells[0]);
    // A row for any constants says little. A zero that is added is a register to the assembler, which always has one.
    let vague = cost.least < cost.most;
    let as_register = vague.then(|| added_zero_as_register(generation, instruction, operands)).flatten();
    Cost { most: as_register.map_or(cost.most, |other| other.most.clamp(cost.least, cost.most)), ..cost }
}

/// What an instruction costs with a register in the place of a zero as its third source, if that makes no difference
/// where all others are registers.
fn added_zero_as_register(
    generation: usize,
    instruction: Instruction,
    operands: &[OperandKind],
) -> Option<Cost> {
    let &[first, second, OperandKind::Constant(0)] = operands else { return None };
    let registers = [OperandKind::Register; 3];
    let only_zero = [OperandKind::Register, OperandKind::Register, OperandKind::Constant(0)];
    let others = [first, second, OperandKind::Register];
    let cost = |operands: &[OperandKind]| cost(generation, instruction, operands);
    (others != registers && cost(&only_zero) == cost(&registers)).then(|| cost(&others))
}

/// What stands for an operand in the table, where its value says more than its kind.
///
/// An amount that shifts a word or a half by less than its width is no small constant, since those shift everything out:
/// all such amounts cost the same, and one stands for them. All selectors of `prmt` cost the same that read its first
/// source at all, whatever number they are.
fn measured(
    instruction: Instruction,
    precision: Precision,
    operands: &[OperandKind],
    at: usize,
) -> OperandKind {
    let shifts_by = |amount: i64| {
        let bits = instruction.types().next().and_then(TypeWord::bits).filter(|bits| matches!(bits, 16 | 32));
        instruction.row().shifts && bits.is_some_and(|bits| (1..i64::from(bits)).contains(&amount))
    };
    let OperandKind::Constant(value) = operands[at] else { return OperandKind::Register };
    match value {
        _ if precision != Precision::Kind => operands[at],
        amount if shifts_by(amount) => OperandKind::Constant(1),
        selector
            if instruction == op::PRMT_B32
                && at == 2
                && (0..4).any(|byte| selector >> (4 * byte) & 4 == 0) =>
        {
            OperandKind::Constant(100)
        }
        _ => operands[at],
    }
}
