//! Sums, differences, products and quotients of facts.
//!
//! A range of exact results is a range of wrapped ones if all of it wraps equally often; else it is unbounded. Bits
//! of a sum are known where both operands' bits and the carry are, and a carry is known if it is the same for the
//! least and the greatest operands that the known bits allow, because carries only grow with the operands.

use super::cone::{ByPlace, Node};
use super::fact::Fact;
use super::transfer::{fits, not};
use ptxopt_grammar::meaning::term::{Op, ones, signed};

/// The bits of `a + b + carry` that are zero and one, and where the carry into a bit is known.
struct SumBits {
    zeros: u128,
    ones: u128,
    carries: u128,
}

fn sum_bits(a: &Fact, b: &Fact, carry: bool) -> SumBits {
    let all = ones(a.width());
    let add = |a: u128, b: u128| a.wrapping_add(b).wrapping_add(carry.into());
    let greatest = add(!a.zeros() & all, !b.zeros() & all);
    let least = add(a.ones(), b.ones());
    let no_carry = !(greatest ^ a.zeros() ^ b.zeros());
    let carry = least ^ a.ones() ^ b.ones();
    let carries = (no_carry | carry) & all;
    let known = a.known().0 & b.known().0 & carries;
    SumBits { zeros: known & !greatest, ones: known & least, carries }
}

/// The bits of the sum into which the carry is known.
pub(super) fn known_carries(a: &Fact, b: &Fact) -> u128 {
    sum_bits(a, b, false).carries
}

/// `a + b + carry`, wrapping.
pub(super) fn sum(a: &Fact, b: &Fact, carry: bool) -> Fact {
    let width = a.width();
    if a.is_bottom() || b.is_bottom() {
        return Fact::bottom(width);
    }
    let bits = sum_bits(a, b, carry);
    let mut fact = Fact::top(width).with_bits(bits.zeros, bits.ones);
    let least = unsigned_sum(a.unsigned().0, b.unsigned().0, carry, width);
    let greatest = unsigned_sum(a.unsigned().1, b.unsigned().1, carry, width);
    if least.1 == greatest.1 {
        fact = fact.with_unsigned(least.0, greatest.0);
    }
    let least = signed_sum(a.signed().0, b.signed().0, carry, width);
    let greatest = signed_sum(a.signed().1, b.signed().1, carry, width);
    if least.1 == greatest.1 {
        fact = fact.with_signed(least.0, greatest.0);
    }
    fact.refined()
}

/// The wrapped sum and whether it wrapped.
fn unsigned_sum(a: u128, b: u128, carry: bool, width: u32) -> (u128, bool) {
    let (sum, over) = a.overflowing_add(b);
    let (sum, more) = sum.overflowing_add(carry.into());
    (sum & ones(width), over || more || sum > ones(width))
}

/// The wrapped sum, and whether it wrapped upwards, downwards or not at all.
fn signed_sum(a: i128, b: i128, carry: bool, width: u32) -> (i128, i32) {
    let (sum, over) = a.overflowing_add(b);
    let (sum, more) = sum.overflowing_add(carry.into());
    // A carry may undo an overflow downwards, and else can only overflow upwards.
    let wraps = match (over, more) {
        (true, false) if a < 0 => -1,
        (true, false) | (false, true) => 1,
        (true, true) | (false, false) if fits(sum, width) => 0,
        (true, true) | (false, false) => sum.signum().try_into().expect("a sign is small"),
    };
    (signed(sum.cast_unsigned(), width), wraps)
}

/// `a - b`, wrapping.
pub(super) fn difference(a: &Fact, b: &Fact) -> Fact {
    sum(a, &not(b), true)
}

/// What a difference is taken from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Minuend {
    Place(u32),
    Constant(u128),
}

/// A sum that spells a difference: terms say `a - b` as `a + (!b + 1)`, with a constant `a` folded into the one.
#[derive(Clone, Copy)]
pub(super) struct Difference {
    pub(super) from: Minuend,
    pub(super) less: u32,
}

impl Difference {
    /// The difference that the sum `node` is, if it is one.
    pub(super) fn of(nodes: &(impl ByPlace + ?Sized), node: &Node) -> Option<Self> {
        if !matches!(node.op, Op::Add(..)) {
            return None;
        }
        let [a, b, _] = node.operands;
        if let Some((less, constant)) = complement_and_constant(nodes, node) {
            return Some(Self { from: Minuend::Constant(constant.wrapping_sub(1)), less });
        }
        [(a, b), (b, a)].into_iter().find_map(|(from, negated)| {
            let (less, constant) = complement_and_constant(nodes, &nodes.node(negated))?;
            (constant == 1).then_some(Self { from: Minuend::Place(from), less })
        })
    }

    /// What is known of it, given what is known of the places.
    pub(super) fn fact(&self, width: u32, at: impl Fn(u32) -> Fact) -> Fact {
        let from = match self.from {
            Minuend::Place(place) => at(place),
            Minuend::Constant(value) => Fact::exact(value, width),
        };
        difference(&from, &at(self.less))
    }
}

/// The place of `b` and the constant, for the sum `!b + constant`. A constant stands last.
fn complement_and_constant(nodes: &(impl ByPlace + ?Sized), node: &Node) -> Option<(u32, u128)> {
    let Op::Add(..) = node.op else { return None };
    let [a, b] = [0, 1].map(|number: usize| nodes.node(node.operands[number]));
    let (Op::Not(_), Op::Constant(value)) = (a.op, b.op) else { return None };
    Some((a.operands[0], value))
}

/// The product, wrapping.
pub(super) fn multiply(a: &Fact, b: &Fact) -> Fact {
    let width = a.width();
    let (zeros, ones_) = product_bits(a, b);
    let mut fact = Fact::top(width).with_bits(zeros, ones_);
    let within = |product: &u128| *product <= ones(width);
    if let Some(greatest) = a.unsigned().1.checked_mul(b.unsigned().1).filter(within) {
        // The least product is not greater, so it did not wrap either.
        fact = fact.with_unsigned(a.unsigned().0.wrapping_mul(b.unsigned().0), greatest);
    }
    let ends = |(least, greatest): (i128, i128)| [least, greatest];
    let products = ends(a.signed()).map(|a| ends(b.signed()).map(|b| a.checked_mul(b)));
    let products = [products[0][0], products[0][1], products[1][0], products[1][1]];
    if products.iter().all(|product| product.is_some_and(|product| fits(product, width))) {
        let products = products.map(|product| product.expect("all are there"));
        let least = products.into_iter().min().expect("there are four");
        fact = fact.with_signed(least, products.into_iter().max().expect("there are four"));
    }
    fact.refined()
}

/// The low bits of a product: where `a = 2^i (x + 2^m …)` and `b = 2^j (y + 2^n …)` with known `x` and `y`, it is
/// `2^(i+j) (xy + 2^min(m, n) …)`.
fn product_bits(a: &Fact, b: &Fact) -> (u128, u128) {
    let zeros = |fact: &Fact| fact.zeros().trailing_ones();
    let odd = |fact: &Fact| fact.known().0.trailing_ones() - zeros(fact);
    let count = zeros(a) + zeros(b) + odd(a).min(odd(b));
    let known = if count == 0 { 0 } else { ones(count) };
    let product = a.ones().wrapping_mul(b.ones());
    (!product & known, product & known)
}

/// The quotient of unsigned numbers; all ones for a divisor of zero.
pub(super) fn divide(a: &Fact, b: &Fact) -> Fact {
    let all = ones(a.width());
    let ((least, greatest), (smallest, largest)) = (a.unsigned(), b.unsigned());
    let low = least.checked_div(largest).unwrap_or(all);
    let high = greatest.checked_div(smallest).unwrap_or(all);
    Fact::from_unsigned(low, high, a.width())
}

/// The remainder of unsigned numbers; the dividend for a divisor of zero.
pub(super) fn remainder(a: &Fact, b: &Fact) -> Fact {
    let ((_, greatest), (smallest, largest)) = (a.unsigned(), b.unsigned());
    if largest == 0 || greatest < smallest {
        return *a;
    }
    // What is taken away is a multiple of the divisor, whose low zeros leave these bits of the dividend alone.
    let kept = b.zeros().trailing_ones();
    let kept = if kept == 0 { 0 } else { ones(kept) };
    let most = if smallest == 0 { greatest } else { greatest.min(largest - 1) };
    let fact = Fact::top(a.width()).with_bits(a.zeros() & kept, a.ones() & kept);
    fact.with_unsigned(0, most).refined()
}

/// The unsigned range of `greater - lesser`, if the one is known to be at least `gap` more than the other in this
/// order: the exact difference is not negative and fits in the width.
pub(super) fn gap(greater: &Fact, lesser: &Fact, signed_order: bool, gap: u128) -> Option<(u128, u128)> {
    let most = if signed_order {
        let (most, least) = (greater.signed().1, lesser.signed().0);
        (most >= least).then(|| most.wrapping_sub(least).cast_unsigned() & ones(greater.width()))?
    } else {
        greater.unsigned().1.checked_sub(lesser.unsigned().0)?
    };
    Some((gap, most))
}
