//! Ranges of halves: what is known of the upper byte of each half of a word that a sequence computes.
//!
//! Bytes that are computed as halves are clamped, so their upper bytes are zeros or copies of a sign. A sequence that
//! goes on with them need not clear those bytes again. Like everything about a sequence, this only chooses what is
//! tried: a range that is too narrow makes a proof fail.

use crate::recipe::{Code, Source, Step};
use ptxopt_grammar::table::instruction::op;

/// The least and the greatest number of both halves, signed.
pub(crate) type HalfRange = (i64, i64);

/// Any half.
pub(crate) const ANY: HalfRange = (-0x8000, 0x7fff);

/// The range of a word with these bits known to be zero.
#[must_use]
pub(crate) fn with_zeros(zeros: u32) -> HalfRange {
    let most = (!zeros & 0xffff).max(!zeros >> 16);
    if most > 0x7fff { ANY } else { (0, most.into()) }
}

/// The upper byte of a half.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Upper {
    /// A number.
    Number(u8),
    /// Copies of the highest bit of the lower byte.
    Sign,
}

/// What the upper bytes of halves in a range are.
pub(super) fn upper((least, most): HalfRange) -> Option<Upper> {
    if least >> 8 == most >> 8 {
        return Some(Upper::Number(u8::try_from(least >> 8 & 0xff).expect("it was cut to eight bits")));
    }
    (-0x80 <= least && most <= 0x7f).then_some(Upper::Sign)
}

fn within(range: HalfRange) -> HalfRange {
    if ANY.0 <= range.0 && range.1 <= ANY.1 { range } else { ANY }
}

/// The range of a number.
pub(super) fn of_number(word: u64) -> HalfRange {
    let half = |shift: u32| {
        let half = u16::try_from(word >> shift & 0xffff).expect("it was cut to 16 bits");
        i64::from(half.cast_signed())
    };
    (half(0).min(half(16)), half(0).max(half(16)))
}

/// The range of what a step computes.
pub(super) fn range(step: &Step, of: &dyn Fn(Source) -> HalfRange) -> HalfRange {
    let Code::Plain(instruction) = step.code else { return ANY };
    match (instruction, &step.sources[..]) {
        (op::MOV_B32, &[x]) => of(x),
        (op::PRMT_B32, &[x, y, Source::Constant(selector)]) => moved(x, y, selector),
        (op::ADD_U16X2 | op::ADD_S16X2, &[x, y]) => {
            let (x, y) = (of(x), of(y));
            within((x.0 + y.0, x.1 + y.1))
        }
        // Without a carry or a borrow a word is two halves.
        (op::ADD_U32, &[x, y]) if of(x).0 >= 0 && of(y).0 >= 0 => {
            let (x, y) = (of(x), of(y));
            within((x.0 + y.0, x.1 + y.1))
        }
        (op::SUB_U32, &[x, y]) if of(y).0 >= 0 && of(x).0 >= of(y).1 => {
            let (x, y) = (of(x), of(y));
            (x.0 - y.1, x.1 - y.0)
        }
        (op::MIN_RELU_S16X2, &[x, y]) => (of(x).0.min(of(y).0).max(0), of(x).1.min(of(y).1).max(0)),
        (op::MAX_RELU_S16X2, &[x, y]) => (of(x).0.max(of(y).0).max(0), of(x).1.max(of(y).1).max(0)),
        (op::MIN_S16X2, &[x, y]) => (of(x).0.min(of(y).0), of(x).1.min(of(y).1)),
        (op::MAX_S16X2, &[x, y]) => (of(x).0.max(of(y).0), of(x).1.max(of(y).1)),
        // The smaller of two numbers without a sign is at most one that has none.
        (op::MIN_U16X2, &[x, y]) => match (of(x), of(y)) {
            (x, y) if x.0 >= 0 && y.0 >= 0 => (x.0.min(y.0), x.1.min(y.1)),
            (x, _) if x.0 >= 0 => (0, x.1),
            (_, y) if y.0 >= 0 => (0, y.1),
            _ => ANY,
        },
        (op::MAX_U16X2, &[x, y]) if of(x).0 >= 0 && of(y).0 >= 0 => {
            (of(x).0.max(of(y).0), of(x).1.max(of(y).1))
        }
        (op::NOT_B32, &[x]) => (-1 - of(x).1, -1 - of(x).0),
        _ => ANY,
    }
}

/// The range of halves whose bytes are moved there: a number above makes the byte below it one without a sign.
fn moved(x: Source, y: Source, selector: u64) -> HalfRange {
    let nibble = |byte: u32| selector >> (4 * byte) & 15;
    let half = |low: u32| {
        let (below, above) = (nibble(low), nibble(low + 1));
        let source = if above & 4 == 0 { x } else { y };
        match source {
            Source::Constant(word) if above & 8 == 0 => {
                let byte = i64::from(
                    word.to_le_bytes()[usize::try_from(above & 3).expect("two bits")].cast_signed(),
                );
                (byte << 8, byte << 8 | 0xff)
            }
            _ if above == below | 8 => (-0x80, 0x7f),
            Source::Constant(_) | Source::Value(_) | Source::Step(_) => ANY,
        }
    };
    let (low, high) = (half(0), half(2));
    (low.0.min(high.0), low.1.max(high.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::ValueId;
    use ptxopt_grammar::table::instruction::Instruction;

    fn word() -> Source {
        Source::Value(ValueId::of_input(0))
    }

    fn of(instruction: Instruction, sources: &[Source]) -> HalfRange {
        range(&Step::plain(instruction, sources), &|source| match source {
            Source::Constant(word) => of_number(word),
            Source::Value(_) | Source::Step(_) => ANY,
        })
    }

    #[test]
    fn zeros_bound_both_halves() {
        assert_eq!(with_zeros(0xff00_ff00), (0, 255));
        assert_eq!(with_zeros(0xff00_fe00), (0, 511));
        assert_eq!(with_zeros(0x7f00_ff00), ANY);
    }

    #[test]
    fn bytes_below_a_number_or_their_sign_are_in_the_range_of_a_byte() {
        let zeros = of(op::PRMT_B32, &[word(), Source::Constant(0), Source::Constant(0x4240)]);
        assert_eq!((zeros, upper(zeros)), ((0, 255), Some(Upper::Number(0))));
        let signs = of(op::PRMT_B32, &[word(), Source::Constant(0), Source::Constant(0xa280)]);
        assert_eq!((signs, upper(signs)), ((-128, 127), Some(Upper::Sign)));
        let lifted = of(op::PRMT_B32, &[word(), Source::Constant(1), Source::Constant(0x4240)]);
        assert_eq!((lifted, upper(lifted)), ((256, 511), Some(Upper::Number(1))));
        let other = of(op::PRMT_B32, &[word(), Source::Constant(0), Source::Constant(0x3210)]);
        assert_eq!((other, upper(other)), (ANY, None));
    }

    #[test]
    fn a_clamp_bounds_and_a_sum_without_one_does_not() {
        let most = of(op::MIN_U16X2, &[word(), Source::Constant(0x00ff_00ff)]);
        assert_eq!(upper(most), Some(Upper::Number(0)));
        assert_eq!(upper(of(op::MIN_S16X2, &[word(), Source::Constant(0x00ff_00ff)])), None);
        assert_eq!(
            upper(of(op::ADD_U16X2, &[Source::Constant(0x00ff_00ff), Source::Constant(0x0001_0001)])),
            Some(Upper::Number(1))
        );
        assert_eq!(of(op::ADD_U16X2, &[word(), Source::Constant(0)]), ANY);
        assert_eq!(of(op::SUB_U32, &[Source::Constant(1), word()]), ANY);
    }
}
