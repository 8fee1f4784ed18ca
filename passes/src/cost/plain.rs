//! What plain instructions cost: those that byte code is written with.
//!
//! A row of the table is an instruction with the kinds of its sources. A constant is found by its value where that
//! was measured, then by its kind, then as any constant; what is found nowhere has the interval that promises
//! nothing.

use super::table::{self, Cells};
use super::{Cost, OperandKind};
use hashbrown::HashMap;
use std::fmt::Write;
use std::sync::LazyLock;

static TABLE: LazyLock<HashMap<String, Vec<Cells>>> =
    LazyLock::new(|| table::rows(include_str!("plain.tsv")).collect());

/// How precisely a key names a constant.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Precision {
    Value,
    Kind,
    Any,
}

/// The cost of an instruction on a generation.
pub(super) fn cost(generation: usize, words: &str, operands: &[OperandKind]) -> Cost {
    if words.starts_with("mov.") && matches!(operands, [OperandKind::Constant(_)]) {
        // The instruction that uses the constant has it as its own, and is measured with it.
        return Cost::NOTHING;
    }
    let mut key = String::with_capacity(64);
    for precision in [Precision::Value, Precision::Kind, Precision::Any] {
        key.clear();
        key.push_str(words);
        for operand in operands {
            push(&mut key, words, *operand, precision);
        }
        if let Some(row) = TABLE.get(key.as_str()) {
            return row[generation].as_deref().map_or(Cost::UNKNOWN, |cells| cells[0]);
        }
    }
    Cost::UNKNOWN
}

fn push(key: &mut String, words: &str, operand: OperandKind, precision: Precision) {
    match (operand, precision) {
        (OperandKind::Register, _) => key.push_str(" r"),
        (OperandKind::Constant(value), Precision::Value) => {
            write!(key, " {value}").expect("writing to a string cannot fail");
        }
        (OperandKind::Constant(value), Precision::Kind) => {
            key.push(' ');
            key.push_str(if is_amount(words, value) { "one" } else { kind(value) });
        }
        (OperandKind::Constant(_), Precision::Any) => key.push_str(" any"),
    }
}

/// Whether a constant is an amount that shifts a word by less than its width. All of these cost the same, and one
/// stands for them: what stands for small constants elsewhere shifts everything out.
fn is_amount(words: &str, value: i64) -> bool {
    matches!(words, "shl.b32" | "shr.b32" | "shr.u32" | "shr.s32") && (1..32).contains(&value)
}

/// The kinds of constants that the assembler treats alike: powers of two, what fits the 20 bits that older GPUs
/// have for a constant, and the rest.
fn kind(value: i64) -> &'static str {
    match value {
        0 => "zero",
        1 => "one",
        -1 => "ones",
        _ if value.count_ones() == 1 => "power",
        -0x8_0000..=0x7_ffff => "small",
        _wide => "wide",
    }
}
