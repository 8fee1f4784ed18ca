//! Zeros: the bits that no word of a sequence has set, whatever its inputs are.
//!
//! Where lanes were masked or shifted, their sums may be known to stay in the lane, and then words are added as they
//! are. Like everything about a sequence, this only chooses what is tried: a proof finds what is wrong.

use crate::recipe::{Code, Source, Step};
use ptxopt_grammar::table::instruction::op;

/// The bits that are zero in what a step computes, of those of its sources.
pub(super) fn zeros(step: &Step, of: &dyn Fn(Source) -> u32) -> u32 {
    let Code::Plain(instruction) = step.code else { return 0 };
    match (instruction, &step.sources[..]) {
        (op::MOV_B32, &[x]) => of(x),
        (op::AND_B32, &[x, y]) => of(x) | of(y),
        (op::POPC_B32, &[x]) if of(x) == u32::MAX => u32::MAX,
        (op::LOP3_B32, &[x, y, z, Source::Constant(table)]) => !of_table([x, y, z], table, of),
        (op::OR_B32 | op::XOR_B32, &[x, y]) => of(x) & of(y),
        (op::SHR_U32, &[x, Source::Constant(by @ 0..32)]) => !(!of(x) >> by),
        (op::SHL_B32, &[x, Source::Constant(by @ 0..32)]) => !(!of(x) << by),
        (op::PRMT_B32, &[x, y, Source::Constant(selector)]) => of_move([of(x), of(y)], selector),
        // More carries are not possible than where all bits are set that may be.
        (op::ADD_U32, &[x, y]) => {
            let (x, y) = (!of(x), !of(y));
            !(x | y | x.wrapping_add(y) ^ x ^ y)
        }
        _ => 0,
    }
}

/// The zeros of bytes that a selector moves out of words with these zeros.
fn of_move(words: [u32; 2], selector: u64) -> u32 {
    let all = u64::from(words[1]) << 32 | u64::from(words[0]);
    (0..4).fold(0, |zeros, at| {
        let digit = selector >> (4 * at) & 0xf;
        let byte = (all >> (8 * (digit & 7)) & 0xff) as u8;
        // Copies of a sign are zeros if the sign is.
        let copies = if byte & 0x80 == 0 { 0 } else { 0xff };
        zeros | u32::from(if digit & 8 == 0 { byte } else { copies }) << (8 * at)
    })
}

/// The bits that may be set in a function of three words, given by its table.
fn of_table([x, y, z]: [Source; 3], table: u64, of: &dyn Fn(Source) -> u32) -> u32 {
    // The bits of a word that may be zero, and those that may be one.
    let may_be = |source: Source| {
        let zeros = of(source);
        [if matches!(source, Source::Constant(_)) { zeros } else { u32::MAX }, !zeros]
    };
    let words = [may_be(x), may_be(y), may_be(z)];
    // The same word is not two things at once.
    let same = [x == y, y == z, x == z];
    (0..8).filter(|row| table >> row & 1 == 1).fold(0, |all, row: usize| {
        let [x, y, z] = [row >> 2 & 1, row >> 1 & 1, row & 1];
        let differ = [x != y, y != z, x != z];
        let can_be = !(0..3).any(|pair| same[pair] && differ[pair]);
        all | if can_be { words[0][x] & words[1][y] & words[2][z] } else { 0 }
    })
}

/// Whether lanes of so many bits that have these zeros stay in range when they are added up, but for the highest one.
pub(super) fn carry_nothing(bits: u32, [x, y]: [u32; 2]) -> bool {
    let (x, y) = (!x, !y);
    let carried = (u64::from(x) + u64::from(y)) ^ u64::from(x ^ y);
    (1..32 / bits).all(|lane| carried >> (lane * bits) & 1 == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::ValueId;
    use ptxopt_grammar::table::instruction::Instruction;

    const WORD: Source = Source::Value(ValueId::of_input(0));

    /// The zeros of what is computed of a word, which has these zeros, and of a number.
    fn of(instruction: Instruction, word: u32, number: u32) -> u32 {
        let step = Step::plain(instruction, &[WORD, Source::Constant(number.into())]);
        zeros(&step, &|source| if source == WORD { word } else { !number })
    }

    #[test]
    fn masks_and_shifts_leave_zeros() {
        assert_eq!(of(op::AND_B32, 0, 0x7f7f_7f7f), 0x8080_8080);
        assert_eq!(of(op::AND_B32, 0x0000_ffff, 0x7f7f_7f7f), 0x8080_ffff);
        assert_eq!(of(op::OR_B32, 0xff00_ff00, 0x0000_0001), 0xff00_ff00);
        assert_eq!(of(op::SHR_U32, 0, 8), 0xff00_0000);
        assert_eq!(of(op::SHL_B32, 0x8000_0000, 1), 1);
    }

    #[test]
    fn moved_bytes_have_the_zeros_of_what_they_are_or_of_their_sign() {
        let moved = |word: u32, number: u32, selector: u64| {
            let sources = [WORD, Source::Constant(number.into()), Source::Constant(selector)];
            let step = Step::plain(op::PRMT_B32, &sources);
            zeros(&step, &|source| if source == WORD { word } else { !number })
        };
        assert_eq!(moved(0, 0, 0x4140), 0xff00_ff00);
        assert_eq!(moved(0x0000_00f0, 0, 0x4040), 0xfff0_fff0);
        assert_eq!(moved(0x0000_0080, 0, 0x4498), 0xffff_00ff);
        assert_eq!(moved(0x0000_0040, 0, 0x4448), 0xffff_ff00);
    }

    #[test]
    fn a_function_of_three_words_has_the_zeros_that_its_table_and_masks_leave() {
        let of = |words: [Source; 3], table: u64| {
            let [x, y, z] = words;
            let step = Step::plain(op::LOP3_B32, &[x, y, z, Source::Constant(table)]);
            zeros(&step, &|source| match source {
                Source::Constant(number) => !u32::try_from(number).expect("it is a word"),
                Source::Value(_) | Source::Step(_) => 0,
            })
        };
        let (number, other) = (Source::Constant(0xfefe_fefe), Source::Value(ValueId::of_input(1)));
        assert_eq!(of([WORD, number, other], 0x0c), 0x0101_0101);
        assert_eq!(of([WORD, number, WORD], 0x08), u32::MAX);
        assert_eq!(of([WORD, number, other], 0xca), 0);
        assert_eq!(of([number, WORD, other], 0x20), 0x0101_0101);
    }

    #[test]
    fn a_sum_has_the_zeros_that_no_carry_reaches() {
        assert_eq!(of(op::ADD_U32, 0x8080_8080, 0x7f7f_7f7f), 0);
        assert_eq!(of(op::ADD_U32, 0xc0c0_c0c0, 0x3f3f_3f3f), 0x8080_8080);
        assert_eq!(of(op::ADD_U32, 0, 1), 0);
    }

    #[test]
    fn lanes_that_are_small_enough_carry_nothing() {
        assert!(carry_nothing(8, [0x8080_8080, 0x8080_8080]));
        assert!(carry_nothing(8, [0x0080_8080, 0x8080_8080]));
        assert!(!carry_nothing(8, [0x8080_8000, 0x8080_8080]));
        assert!(carry_nothing(16, [0x0000_8000, 0x8000_8000]));
        assert!(!carry_nothing(16, [0x0000_4000, 0x8000_8000]));
    }
}
