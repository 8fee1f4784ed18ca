//! One operation on facts: logic, wiring and comparisons; sums, products and shifts are next door.
//!
//! Each function gives bits and ranges that hold for every pair of numbers that the operands stand for. The
//! sharpening of the parts by each other does the rest, so a rule says only what the other parts cannot.

use super::arithmetic::{divide, multiply, remainder, sum};
use super::fact::{Fact, signed_limits};
use super::shift::{Shift, shifted};
use ptxopt_grammar::meaning::term::{Op, ones, signed};

/// What is known of an operation of one or two operands; with one, it stands in for the other. Of inputs, constants
/// and choices nothing is said.
pub(crate) fn transfer(op: Op, width: u32, a: &Fact, b: &Fact) -> Fact {
    if a.is_bottom() || b.is_bottom() {
        return Fact::bottom(width);
    }
    match op {
        Op::Input(_) | Op::Constant(_) | Op::Choose(..) => Fact::top(width),
        Op::Not(_) => not(a),
        Op::And(..) => {
            let greatest = a.unsigned().1.min(b.unsigned().1);
            let fact = Fact::top(width).with_bits(a.zeros() | b.zeros(), a.ones() & b.ones());
            both_negative(fact.with_unsigned(0, greatest), a, b).refined()
        }
        Op::Or(..) => {
            // `a | b` is `!(!a & !b)`: at least as large as both.
            let least = a.unsigned().0.max(b.unsigned().0);
            let fact = Fact::top(width).with_bits(a.zeros() & b.zeros(), a.ones() | b.ones());
            neither_negative(fact.with_unsigned(least, ones(width)), a, b).refined()
        }
        Op::Xor(..) => {
            let same = a.zeros() & b.zeros() | a.ones() & b.ones();
            let different = a.zeros() & b.ones() | a.ones() & b.zeros();
            Fact::from_bits(same, different, width)
        }
        Op::Add(..) => sum(a, b, false),
        Op::Mul(..) => multiply(a, b),
        Op::UnsignedDivide(..) => divide(a, b),
        Op::UnsignedRemainder(..) => remainder(a, b),
        Op::Shl(..) => shifted(Shift::Left, a, b),
        Op::Lshr(..) => shifted(Shift::Right, a, b),
        Op::Ashr(..) => shifted(Shift::Arithmetic, a, b),
        Op::Extract(_, low) => extract(a, low, width),
        Op::Concat(..) => concat(a, b),
        Op::ZeroExtend(_) => {
            let above = ones(width) & !ones(a.width());
            let (least, greatest) = a.unsigned();
            Fact::top(width).with_bits(a.zeros() | above, a.ones()).with_unsigned(least, greatest).refined()
        }
        Op::SignExtend(_) => {
            let extended = |bits| signed(bits, a.width()).cast_unsigned();
            let (least, greatest) = a.signed();
            let fact = Fact::top(width).with_bits(extended(a.zeros()), extended(a.ones()));
            fact.with_signed(least, greatest).refined()
        }
        Op::Equal(..) => decided(equal(a, b)),
        Op::UnsignedLess(..) => decided(less(a.unsigned(), b.unsigned())),
        Op::SignedLess(..) => decided(less(a.signed(), b.signed())),
    }
}

/// One bit, if it is known.
fn decided(bit: Option<bool>) -> Fact {
    bit.map_or(Fact::top(1), |bit| Fact::exact(bit.into(), 1))
}

fn equal(a: &Fact, b: &Fact) -> Option<bool> {
    match (a.constant(), b.constant()) {
        (Some(a), Some(b)) => Some(a == b),
        (_, _) => a.meet(b).is_bottom().then_some(false),
    }
}

/// Whether every number of the first range is less than every one of the second, or none.
fn less<T: Ord + Copy>(a: (T, T), b: (T, T)) -> Option<bool> {
    if a.1 < b.0 {
        Some(true)
    } else if a.0 >= b.1 {
        Some(false)
    } else {
        None
    }
}

/// Each bit inverted: the order of numbers turns around.
pub(super) fn not(a: &Fact) -> Fact {
    let all = ones(a.width());
    let ((least, greatest), (lowest, highest)) = (a.unsigned(), a.signed());
    Fact::top(a.width())
        .with_bits(a.ones(), a.zeros())
        .with_unsigned(!greatest & all, !least & all)
        .with_signed(!highest, !lowest)
}

/// Of two negative numbers, the bitwise and is at most the lesser.
fn both_negative(fact: Fact, a: &Fact, b: &Fact) -> Fact {
    let highest = a.signed().1.min(b.signed().1);
    let negative = a.signed().1 < 0 && b.signed().1 < 0;
    if negative { fact.with_signed(i128::MIN, highest) } else { fact }
}

/// Or-ing sets bits below the sign only, if neither is negative: the result is at least the greater.
fn neither_negative(fact: Fact, a: &Fact, b: &Fact) -> Fact {
    let lowest = a.signed().0.max(b.signed().0);
    let positive = a.signed().0 >= 0 && b.signed().0 >= 0;
    if positive { fact.with_signed(lowest, i128::MAX) } else { fact }
}

/// `width` bits from `low` upwards. A range stays one if nothing above the bits that are kept changes within it.
fn extract(a: &Fact, low: u32, width: u32) -> Fact {
    let all = ones(width);
    let mut fact = Fact::top(width).with_bits(a.zeros() >> low, a.ones() >> low);
    let (least, greatest) = (a.unsigned().0 >> low, a.unsigned().1 >> low);
    if width == 128 || least >> width == greatest >> width {
        fact = fact.with_unsigned(least & all, greatest & all);
    }
    // One bit has no range that its known bit does not say.
    if width > 1 {
        let (lowest, highest) = (a.signed().0 >> low, a.signed().1 >> low);
        let window = |number: i128| ((number >> (width - 1)) + 1) >> 1;
        if window(lowest) == window(highest) {
            let cut = |number: i128| signed(number.cast_unsigned() & all, width);
            fact = fact.with_signed(cut(lowest), cut(highest));
        }
    }
    fact.refined()
}

/// `a` above `b`: ordered by `a` first.
fn concat(a: &Fact, b: &Fact) -> Fact {
    let (width, under) = (a.width() + b.width(), b.width());
    let (bottom, top) = b.unsigned();
    let ((least, greatest), (lowest, highest)) = (a.unsigned(), a.signed());
    Fact::top(width)
        .with_bits(a.zeros() << under | b.zeros(), a.ones() << under | b.ones())
        .with_unsigned(least << under | bottom, greatest << under | top)
        .with_signed(lowest << under | bottom.cast_signed(), highest << under | top.cast_signed())
        .refined()
}

/// Whether a signed number is one of the width.
pub(super) fn fits(number: i128, width: u32) -> bool {
    let (least, greatest) = signed_limits(width);
    (least..=greatest).contains(&number)
}
