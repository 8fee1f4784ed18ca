//! What instructions cost: how many machine instructions NVIDIA's assembler makes of one of PTX.
//!
//! The numbers were measured with the assembler itself, by `cargo run --release --example costs`, and lie next to
//! this file; nothing is run or read when a cost is asked for. A cost is an interval: exact where the very form was
//! measured, wide where only its neighbours were, and unbounded where nothing is known. An edit pays only if the most
//! that the new text can cost is less than the least that the old text can, so an interval that is too wide loses an
//! edit and never makes a bad one.
//!
//! Neighbouring instructions change the count a little: the assembler then needs a copy more or less. The tables were
//! measured on an instruction that stands alone between volatile loads and a store; elsewhere the count of a long
//! emulation differs by up to a tenth.
//!
//! A copy between registers costs nothing, and neither does a constant: the assembler gives both registers one
//! place, or writes the constant into the instruction that uses it. A constant that is too wide for that is
//! counted where it is used.

pub mod fused;
pub mod table;
pub mod video;

mod forbidden;
mod plain;
mod repeated;
mod sequence;
#[cfg(test)]
mod tests;

pub use forbidden::forbidden;
pub use ptxopt_grammar::gpu::Gpu;

use ptxopt_grammar::table::instruction::Instruction;
use ptxopt_grammar::video::Form;
use std::fmt;
use std::iter::Sum;
use std::ops::Add;

/// How many machine instructions there are, at least and at most.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cost {
    /// Never fewer.
    pub least: u32,
    /// Never more.
    pub most: u32,
}

impl Cost {
    /// None at all.
    pub const NOTHING: Self = Self { least: 0, most: 0 };
    /// Unknown: neither deleting nor writing such an instruction is known to pay.
    pub const UNKNOWN: Self = Self { least: 0, most: u32::MAX };

    /// Exactly so many.
    #[must_use]
    pub const fn exactly(count: u32) -> Self {
        Self { least: count, most: count }
    }

    /// Whether it is cheaper than `other`, whatever the numbers are.
    #[must_use]
    pub const fn beats(self, other: Self) -> bool {
        self.most < other.least
    }

    /// One or the other.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        let least = if self.least < other.least { self.least } else { other.least };
        let most = if self.most > other.most { self.most } else { other.most };
        Self { least, most }
    }
}

impl Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { least: self.least.saturating_add(other.least), most: self.most.saturating_add(other.most) }
    }
}

impl Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        costs.fold(Self::NOTHING, Self::add)
    }
}

/// `5`, or `5-7`, or `5+` where there is no upper bound.
impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.least == self.most {
            write!(f, "{}", self.least)
        } else if self.most == u32::MAX {
            write!(f, "{}+", self.least)
        } else {
            write!(f, "{}-{}", self.least, self.most)
        }
    }
}

/// A source of a plain instruction.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum OperandKind {
    /// A register.
    #[default]
    Register,
    /// A constant, as a number of the width of the instruction: -1 and not 4294967295.
    Constant(i64),
}

/// What instructions cost on a GPU; on several, what they cost on all of them together, those that are alike counted
/// once.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Costs {
    /// A bit for each generation.
    generations: u16,
}

impl Costs {
    /// The costs on `gpu`. One that was not measured costs what the newest generation before it does.
    #[must_use]
    pub fn of(gpu: &Gpu) -> Self {
        let number = gpu.number();
        let like = |generation: &table::Generation| generation.like_it.contains(&number);
        let before = || {
            let elders = table::GENERATIONS.iter().enumerate().filter(|(_, other)| other.number() <= number);
            elders.max_by_key(|(_, other)| other.number()).map(|(i, _)| i)
        };
        let generation = table::GENERATIONS.iter().position(like).or_else(before);
        Self { generations: 1 << generation.unwrap_or(0) }
    }

    /// The costs on all of these GPUs together.
    #[must_use]
    pub fn on(gpus: &[Gpu]) -> Self {
        Self { generations: gpus.iter().fold(0, |all, gpu| all | Self::of(gpu).generations) }
    }

    /// The costs on each of the GPUs; of those that are alike once.
    pub fn each(self) -> impl Iterator<Item = Self> {
        self.numbers().map(|number| Self { generations: 1 << number })
    }

    /// The names of the GPUs that were measured for these costs.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        self.numbers().map(|number| table::GENERATIONS[number].gpu)
    }

    fn numbers(self) -> impl Iterator<Item = usize> {
        let mut left = self.generations;
        std::iter::from_fn(move || {
            let number = left.trailing_zeros() as usize;
            left &= left.checked_sub(1)?;
            Some(number)
        })
    }

    /// The cost of a video instruction; `constants` says which of the sources `a`, `b` and `c` are constants.
    #[must_use]
    pub fn video(&self, form: Form, constants: [bool; 3]) -> Cost {
        self.numbers().map(|generation| video::cost(generation, form, constants)).sum()
    }

    /// The cost of another instruction and its sources.
    ///
    /// A predicate that is read counts as a register. [`Cost::UNKNOWN`] for what was not measured, and for what
    /// this GPU does not have.
    #[must_use]
    pub fn plain(&self, instruction: Instruction, operands: &[OperandKind]) -> Cost {
        self.numbers().map(|generation| plain::cost(generation, instruction, operands)).sum()
    }
}
