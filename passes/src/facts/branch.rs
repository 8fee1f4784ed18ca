//! Choices: what is known of each branch where its condition holds.
//!
//! `a < b ? b - a : a - b` is small because of what the condition says, and so is `x < 0 ? 0 : x`; a signed field is
//! filled with ones where its highest bit is one. So a branch is evaluated once more with what its condition implies
//! for the operands of a comparison, as far as the branch is computed from them in a few steps. A branch is chosen
//! only where its condition holds, so what is known under the condition is known of the choice.

use super::arithmetic::{Difference, Minuend, gap, sum};
use super::cone::{ByPlace, Node};
use super::fact::{Fact, signed_limits};
use super::store::Known;
use super::transfer::transfer;
use ptxopt_grammar::meaning::term::{Op, ones};

/// How many steps below a branch the operands of a comparison are looked for: `a - b` is three, a field four.
const DEPTH: u32 = 4;
/// How many parts of a condition are looked at, joined by "and" or "or".
const PARTS: usize = 4;

/// What is known of a choice.
pub(super) fn choose(nodes: &(impl ByPlace + ?Sized), facts: &impl Known, node: &Node) -> Fact {
    let [condition, then, otherwise] = node.operands;
    let branch = |place, holds: bool| {
        if facts.at(condition).contains(holds.into()) {
            Under::new(nodes, facts, condition, holds).fact(place)
        } else {
            Fact::bottom(node.width)
        }
    };
    branch(then, true).join(&branch(otherwise, false))
}

/// What is known of the sum of a number and of something that is made of its sign, if it is one: what is known for either
/// sign. Where compilers divide by a power of two, they add as much less one to negative numbers only, so no sum is
/// greater than the number can be.
pub(super) fn of_either_sign(
    nodes: &(impl ByPlace + ?Sized),
    facts: &impl Known,
    node: &Node,
) -> Option<Fact> {
    let [a, b, _] = node.operands;
    let sign = [(a, b), (b, a)].into_iter().find_map(|(number, made)| {
        let (sign, whole) = sign_in(nodes, made)?;
        let is_extended = || matches!(nodes.node(number).op, Op::SignExtend(_));
        (number == whole || is_extended() && nodes.node(number).operands[0] == whole).then_some(sign)
    })?;
    let under = |is_negative| {
        let under = Under::new(nodes, facts, sign, is_negative);
        transfer(node.op, node.width, &under.fact(a), &under.fact(b))
    };
    Some(under(false).join(&under(true)))
}

/// The places of a sign that a term is made of, and of the number that has it, if they are found in a few steps.
fn sign_in(nodes: &(impl ByPlace + ?Sized), mut place: u32) -> Option<(u32, u32)> {
    for _ in 0..DEPTH {
        let node = nodes.node(place);
        let whole = node.operands[0];
        if let Op::Extract(_, low) = node.op
            && node.width == 1
            && low + 1 == nodes.node(whole).width
        {
            return Some((place, whole));
        }
        place = whole;
    }
    None
}

/// An order that a condition says two terms to have.
#[derive(Clone, Copy)]
struct Order {
    lesser: u32,
    greater: u32,
    /// One if they are not equal either.
    gap: u128,
    signed: bool,
}

/// What is known where a condition holds.
struct Under<'c, N: ?Sized, F> {
    nodes: &'c N,
    facts: &'c F,
    /// What it says of some terms, by place.
    sharper: [Option<(u32, Fact)>; 2 * PARTS],
    order: Option<Order>,
    /// The lowest of these places.
    lowest: u32,
    /// Whether it never holds.
    never: bool,
}

impl<'c, N: ByPlace + ?Sized, F: Known> Under<'c, N, F> {
    fn new(nodes: &'c N, facts: &'c F, condition: u32, holds: bool) -> Self {
        let mut under =
            Self { nodes, facts, sharper: [None; 2 * PARTS], order: None, lowest: u32::MAX, never: false };
        let mut waiting = [Some((condition, holds)), None, None, None];
        let mut count = 1;
        let mut next = 0;
        while next < count {
            let (place, holds) = waiting[next].expect("it has been put there");
            next += 1;
            let parts = under.assume(place, holds);
            for part in parts.into_iter().flatten().take(PARTS - count) {
                waiting[count] = Some(part);
                count += 1;
            }
        }
        under
    }

    /// Takes in that a condition holds or does not; the conditions that follow and are to be taken in too.
    fn assume(&mut self, place: u32, holds: bool) -> [Option<(u32, bool)>; 2] {
        let node = &self.nodes.node(place);
        let [a, b, _] = node.operands;
        match node.op {
            Op::Not(_) => return [Some((a, !holds)), None],
            Op::And(..) if holds => return [Some((a, true)), Some((b, true))],
            Op::Or(..) if !holds => return [Some((a, false)), Some((b, false))],
            Op::UnsignedLess(..) => self.ordered(a, b, holds, false),
            Op::SignedLess(..) => self.ordered(a, b, holds, true),
            Op::Equal(..) => self.equal(a, b, holds),
            Op::Extract(_, low) => {
                if node.width == 1 {
                    let bit = 1 << low;
                    let (zeros, ones) = if holds { (0, bit) } else { (bit, 0) };
                    self.sharpen(a, self.at(a).with_bits(zeros, ones).refined());
                }
            }
            Op::Input(_)
            | Op::Constant(_)
            | Op::And(..)
            | Op::Or(..)
            | Op::Xor(..)
            | Op::Add(..)
            | Op::Mul(..)
            | Op::UnsignedDivide(..)
            | Op::UnsignedRemainder(..)
            | Op::Shl(..)
            | Op::Lshr(..)
            | Op::Ashr(..)
            | Op::Concat(..)
            | Op::ZeroExtend(_)
            | Op::SignExtend(_)
            | Op::Choose(..) => {}
        }
        [None; 2]
    }

    /// `a < b`, or `b <= a` where that does not hold.
    fn ordered(&mut self, a: u32, b: u32, holds: bool, signed: bool) {
        let (lesser, greater, gap) = if holds { (a, b, 1) } else { (b, a, 0) };
        self.order = Some(Order { lesser, greater, gap, signed });
        let (low, high) = (self.at(lesser), self.at(greater));
        let all = ones(low.width());
        let (low, high) = if signed {
            let (least, greatest) = signed_limits(low.width());
            let step = i128::from(holds);
            let top = high.signed().1.checked_sub(step);
            let bottom = low.signed().0.checked_add(step);
            (
                top.map(|top| low.with_signed(least, top)),
                bottom.map(|bottom| high.with_signed(bottom, greatest)),
            )
        } else {
            let top = high.unsigned().1.checked_sub(gap);
            let bottom = low.unsigned().0.checked_add(gap);
            (top.map(|top| low.with_unsigned(0, top)), bottom.map(|bottom| high.with_unsigned(bottom, all)))
        };
        let never = Fact::bottom(self.at(a).width());
        self.sharpen(lesser, low.map_or(never, Fact::refined));
        self.sharpen(greater, high.map_or(never, Fact::refined));
    }

    fn equal(&mut self, a: u32, b: u32, holds: bool) {
        let (x, y) = (self.at(a), self.at(b));
        if holds {
            let both = x.meet(&y);
            self.sharpen(a, both);
            self.sharpen(b, both);
        } else {
            self.sharpen(a, without(x, &y));
            self.sharpen(b, without(y, &x));
        }
    }

    fn sharpen(&mut self, place: u32, fact: Fact) {
        self.never |= fact.is_bottom();
        self.lowest = self.lowest.min(place);
        let free = self.sharper.iter_mut().find(|slot| slot.is_none_or(|(known, _)| known == place));
        *free.expect("each part of a condition is about two places at most") = Some((place, fact));
    }

    fn said(&self, place: u32) -> Option<Fact> {
        self.sharper.iter().flatten().find(|(known, _)| *known == place).map(|&(_, fact)| fact)
    }

    /// What is known of a place, with what the condition says of it itself.
    fn at(&self, place: u32) -> Fact {
        self.said(place).unwrap_or(self.facts.at(place))
    }

    /// What is known of a place, with what the condition says of its operands.
    fn fact(&self, place: u32) -> Fact {
        if self.never {
            return Fact::bottom(self.nodes.node(place).width);
        }
        self.again(place, DEPTH).unwrap_or(self.facts.at(place))
    }

    /// A place evaluated once more; `None` if the condition says nothing of what it is made of.
    fn again(&self, place: u32, depth: u32) -> Option<Fact> {
        // Nothing below the lowest place is made of any of them.
        if place < self.lowest {
            return None;
        }
        if let Some(fact) = self.said(place) {
            return Some(fact);
        }
        let node = &self.nodes.node(place);
        let leaf = matches!(node.op, Op::Input(_) | Op::Constant(_) | Op::Choose(..));
        if depth == 0 || leaf {
            return None;
        }
        let [a, b, _] = node.operands;
        let x = self.again(a, depth - 1);
        let y = if a == b { x } else { self.again(b, depth - 1) };
        if x.is_none() && y.is_none() {
            return None;
        }
        let known = |fact: Option<Fact>, place: u32| fact.unwrap_or(self.facts.at(place));
        let (x, y) = (known(x, a), known(y, b));
        let fact = match node.op {
            Op::Add(..) => sum(&x, &y, false),
            Op::Input(_)
            | Op::Constant(_)
            | Op::Not(_)
            | Op::And(..)
            | Op::Or(..)
            | Op::Xor(..)
            | Op::Mul(..)
            | Op::UnsignedDivide(..)
            | Op::UnsignedRemainder(..)
            | Op::Shl(..)
            | Op::Lshr(..)
            | Op::Ashr(..)
            | Op::Extract(..)
            | Op::Concat(..)
            | Op::ZeroExtend(_)
            | Op::SignExtend(_)
            | Op::Equal(..)
            | Op::UnsignedLess(..)
            | Op::SignedLess(..)
            | Op::Choose(..) => transfer(node.op, node.width, &x, &y),
        };
        let fact = fact.meet(&self.facts.at(place));
        Some(Difference::of(self.nodes, node).map_or(fact, |difference| {
            self.apart(difference, fact.meet(&difference.fact(node.width, |place| self.at(place))))
        }))
    }

    /// A difference of the two terms whose order is known is at least zero.
    fn apart(&self, difference: Difference, fact: Fact) -> Fact {
        let Some(order) = self.order else { return fact };
        if difference.from != Minuend::Place(order.greater) || difference.less != order.lesser {
            return fact;
        }
        let range = gap(&self.at(order.greater), &self.at(order.lesser), order.signed, order.gap);
        range.map_or(fact, |(least, most)| fact.with_unsigned(least, most).refined())
    }
}

/// `x` where it is not `y`: if that is a number at an end of a range, the range is shorter.
fn without(x: Fact, y: &Fact) -> Fact {
    let Some(value) = y.constant() else { return x };
    if x.constant() == Some(value) {
        return Fact::bottom(x.width());
    }
    let ((least, greatest), (lowest, highest)) = (x.unsigned(), x.signed());
    let number = y.signed().0;
    x.with_unsigned(
        least.saturating_add((least == value).into()),
        greatest.saturating_sub((greatest == value).into()),
    )
    .with_signed(
        lowest.saturating_add((lowest == number).into()),
        highest.saturating_sub((highest == number).into()),
    )
    .refined()
}

#[cfg(test)]
mod tests {
    use super::super::forward;
    use super::*;
    use ptxopt_grammar::meaning::term::Terms;

    /// What is known of the sum of a signed byte and seven where a byte is negative: the same or another one.
    fn quotient(of_same: bool, extended_to: u32) -> (i128, i128) {
        let mut terms = Terms::new();
        let [byte, other] = [0, 1].map(|number| terms.input(number, 8));
        let sign = terms.extract(if of_same { byte } else { other }, 7, 1);
        let seven = terms.sign_extend(sign, 3);
        let [number, added] = [terms.sign_extend(byte, extended_to), terms.zero_extend(seven, extended_to)];
        let sum = terms.add(number, added);
        forward(&terms, sum, &mut |_, width| Fact::top(width)).signed()
    }

    #[test]
    fn what_is_added_to_negative_numbers_only_leaves_the_greatest_sum_as_it_is() {
        for width in [9, 16, 32] {
            assert_eq!(quotient(true, width), (-121, 127), "{width}");
        }
    }

    #[test]
    fn what_is_added_by_another_sign_may_be_added_to_the_greatest() {
        assert_eq!(quotient(false, 32), (-128, 134));
    }
}
