//! Recipes step by step, and the byte moves that several rules end with.
//!
//! What is built here is only proposed; `verify` proves it before it is written.

use super::operands::Operand;
use crate::recipe::{Recipe, Source, Step};
use ptxopt_grammar::table::instruction::{Instruction, op};
use ptxopt_grammar::video::{Part, Sign};

/// The steps of a recipe so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Building {
    steps: Vec<Step>,
}

/// What a byte of a word is to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum WantedByte {
    /// Undemanded: any byte will do.
    Any,
    /// A number.
    Number(u8),
    /// This byte of a source.
    Of(Source, u8),
}

impl Building {
    /// One more step, with a result of 32 bits.
    pub(super) fn plain(&mut self, instruction: Instruction, sources: &[Source]) -> Source {
        self.push(Step::plain(instruction, sources))
    }

    /// One more step.
    pub(super) fn push(&mut self, step: Step) -> Source {
        self.steps.push(step);
        Source::Step(self.steps.len() - 1)
    }

    /// The recipe for a word.
    pub(super) fn finish(mut self, result: Source) -> Recipe {
        let last = self.steps.len().checked_sub(1).map(Source::Step);
        if last != Some(result) {
            self.steps.push(Step::copy(result, 32));
        }
        Recipe::of(self.steps)
    }

    /// An operand as a whole word with its sign.
    pub(super) fn extract(&mut self, operand: &Operand) -> Source {
        if operand.bits == 32 {
            return operand.source;
        }
        if let Some(number) = operand.constant() {
            return word(number);
        }
        let signed = operand.sign == Sign::Signed && operand.range.0 < 0;
        let (low, bits) = (operand.low, operand.bits);
        // At either end of the word a mask or a shift does it, which is the cheapest everywhere.
        if low + bits == 32 {
            let instruction = if signed { op::SHR_S32 } else { op::SHR_U32 };
            return self.plain(instruction, &[operand.source, Source::Constant(low.into())]);
        }
        if low == 0 && !signed {
            return self.plain(op::AND_B32, &[operand.source, Source::Constant((1 << bits) - 1)]);
        }
        let at = u64::from(low / 8);
        let last = at + u64::from(bits / 8) - 1;
        let (fill, zeros) = if signed { (last | 8, operand.source) } else { (4, Source::Constant(0)) };
        let second = if bits == 16 { last } else { fill };
        let selector = fill << 12 | fill << 8 | second << 4 | at;
        self.plain(op::PRMT_B32, &[operand.source, zeros, Source::Constant(selector)])
    }

    /// `into` with its part replaced by the low bits of `value`.
    pub(super) fn merge(&mut self, value: Source, part: Part, into: Source) -> Source {
        let (first, count) = (part.shift() / 8, part.bits() / 8);
        let nibble = |byte: u32| {
            let from = if (first..first + count).contains(&byte) { byte - first } else { byte + 4 };
            u64::from(from) << (4 * byte)
        };
        let selector = Source::Constant((0..4).map(nibble).sum());
        self.plain(op::PRMT_B32, &[value, into, selector])
    }

    /// A word of these bytes.
    pub(super) fn gather(&mut self, bytes: [WantedByte; 4]) -> Source {
        let number = bytes.iter().rev().fold(0_u64, |word, byte| match byte {
            WantedByte::Number(number) => word << 8 | u64::from(*number),
            WantedByte::Any | WantedByte::Of(..) => word << 8,
        });
        let number = Source::Constant(number);
        // Where each byte lies: in which source, at which place.
        let placed = |lane: u8| match bytes[usize::from(lane)] {
            WantedByte::Any => None,
            WantedByte::Number(_) => Some((number, lane)),
            WantedByte::Of(source, byte) => Some((source, byte)),
        };
        let mut sources: Vec<Source> = (0..4).filter_map(placed).map(|(source, _)| source).collect();
        // Numbers last, as the assembler requires; each source once.
        sources.sort_by_key(|&source| source == number);
        sources.dedup();
        let mut distinct: Vec<Source> = Vec::new();
        for source in sources {
            if !distinct.contains(&source) {
                distinct.push(source);
            }
        }
        let Some((&first, rest)) = distinct.split_first() else { return Source::Constant(0) };
        // So far: `word` holds the bytes of all sources before, those of the first at their old places if `moved` is
        // not.
        let (mut word, mut moved) = (first, false);
        let of_first = |lane: u8| placed(lane).filter(|&(source, _)| source == first);
        let in_place = (0..4).all(|lane| of_first(lane).is_none_or(|(_, byte)| byte == lane));
        if rest.is_empty() {
            let selector = (0..4).map(|lane| of_first(lane).map_or(u64::from(lane), |(_, byte)| byte.into()));
            let selector = selector.enumerate().map(|(lane, nibble)| nibble << (4 * lane)).sum();
            let selected = [first, Source::Constant(0), Source::Constant(selector)];
            return if in_place { first } else { self.plain(op::PRMT_B32, &selected) };
        }
        for &next in rest {
            let nibble = |lane: u8| {
                let from = match placed(lane) {
                    Some((source, byte)) if source == next => byte + 4,
                    Some((source, byte)) if source == first && !moved => byte,
                    Some(_) | None => lane,
                };
                u64::from(from) << (4 * lane)
            };
            let selector = Source::Constant((0..4).map(nibble).sum());
            word = self.plain(op::PRMT_B32, &[word, next, selector]);
            moved = true;
        }
        word
    }
}

/// A number as a word.
pub(super) fn word(number: i128) -> Source {
    let low = u64::try_from(number & i128::from(u32::MAX)).expect("it was cut to 32 bits");
    Source::Constant(low)
}
