//! Shifts of facts by facts: all amounts that are possible, one after the other.
//!
//! Shifts by constants are wiring already, so amounts are unknown here, but often bounded: at most one more than the
//! width are different.

use super::fact::{Fact, signed_limits};
use super::transfer::fits;
use ptxopt_grammar::meaning::term::{ones, signed};

/// The kind of shift.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shift {
    Left,
    Right,
    Arithmetic,
}

/// `a` shifted by `amount`, which is unsigned; from the width on all of it is shifted out.
pub(super) fn shifted(shift: Shift, a: &Fact, amount: &Fact) -> Fact {
    let width = a.width();
    let within = |amount: u128| u32::try_from(amount).map_or(width, |amount| amount.min(width));
    let (least, most) = (within(amount.unsigned().0), within(amount.unsigned().1));
    let (zeros, ones_) = bits(shift, a, amount, (least, most));
    let fact = Fact::top(width).with_bits(zeros, ones_);
    let fact = match shift {
        Shift::Left => left_ranges(fact, a, least, most),
        Shift::Right => {
            let right = |value: u128, amount: u32| value.checked_shr(amount).unwrap_or(0);
            fact.with_unsigned(right(a.unsigned().0, most), right(a.unsigned().1, least))
        }
        Shift::Arithmetic => {
            // Shifting moves every number towards zero or minus one.
            let right = |number: i128, amount: u32| number >> amount.min(127);
            let (lowest, highest) = a.signed();
            let (near, far) = (least, most);
            let lowest = right(lowest, if lowest < 0 { near } else { far });
            fact.with_signed(lowest, right(highest, if highest < 0 { far } else { near }))
        }
    };
    fact.refined()
}

/// The bits that are zero, and those that are one, for all amounts between two at most the width. Where an amount is
/// not less than the width, it stands for all larger ones.
fn bits(shift: Shift, a: &Fact, amount: &Fact, (least, most): (u32, u32)) -> (u128, u128) {
    let (width, all) = (a.width(), ones(a.width()));
    let (must, may_not) = (amount.ones(), amount.zeros());
    let (mut zeros, mut ones_) = (all, all);
    for amount in least..=most {
        let number = u128::from(amount);
        if amount < width && (number & may_not != 0 || !number & must != 0) {
            continue;
        }
        let (zero, one) = once(shift, a, amount);
        (zeros, ones_) = (zeros & zero, ones_ & one);
        if zeros == 0 && ones_ == 0 {
            break;
        }
    }
    (zeros, ones_)
}

/// The known bits of `a` shifted by a number.
fn once(shift: Shift, a: &Fact, amount: u32) -> (u128, u128) {
    let (width, all) = (a.width(), ones(a.width()));
    match shift {
        Shift::Left | Shift::Right if amount >= width => (all, 0),
        Shift::Left => (a.zeros() << amount & all | !(u128::MAX << amount), a.ones() << amount & all),
        Shift::Right => (a.zeros() >> amount | all & !(all >> amount), a.ones() >> amount),
        Shift::Arithmetic => {
            let moved = |bits| (signed(bits, width) >> amount.min(width - 1)).cast_unsigned() & all;
            (moved(a.zeros()), moved(a.ones()))
        }
    }
}

/// The ranges of `a` shifted left, if nothing is shifted out.
fn left_ranges(mut fact: Fact, a: &Fact, least: u32, most: u32) -> Fact {
    let width = a.width();
    if most >= width {
        return fact;
    }
    let (low, high) = a.unsigned();
    if high <= ones(width) >> most {
        fact = fact.with_unsigned(low << least, high << most);
    }
    let (low, high) = a.signed();
    let (lowest, highest) = signed_limits(width);
    if low >= lowest >> most && high <= highest >> most {
        let low = low << if low < 0 { most } else { least };
        let high = high << if high < 0 { least } else { most };
        debug_assert!(fits(low, width) && fits(high, width), "nothing is shifted out");
        fact = fact.with_signed(low, high);
    }
    fact
}
