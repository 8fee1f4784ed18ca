//! Addition, multiplication and their like, plain and packed, with and without the carry flag.

use super::code::{Code, Kind, Shape};
use super::term::{Term, Terms, ones};
use crate::tree::NodeId;

/// Which half of a product.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    Low,
    High,
    Wide,
}

const HALVES: [(&str, Half); 3] = [("lo", Half::Low), ("hi", Half::High), ("wide", Half::Wide)];

/// Two operands computed lane by lane.
fn lanes(
    terms: &mut Terms,
    shape: Shape,
    a: Term,
    b: Term,
    mut op: impl FnMut(&mut Terms, Term, Term) -> Term,
) -> Term {
    let mut result = None;
    for lane in 0..shape.lanes {
        let x = terms.extract(a, lane * shape.bits, shape.bits);
        let y = terms.extract(b, lane * shape.bits, shape.bits);
        let value = op(terms, x, y);
        result = Some(result.map_or(value, |under| terms.concat(value, under)));
    }
    result.expect("there is at least one lane")
}

pub(super) fn extend(terms: &mut Terms, shape: Shape, value: Term, width: u32) -> Term {
    if shape.signed() { terms.sign_extend(value, width) } else { terms.zero_extend(value, width) }
}

pub(super) fn less(terms: &mut Terms, signed: bool, a: Term, b: Term) -> Term {
    if signed { terms.signed_less(a, b) } else { terms.unsigned_less(a, b) }
}

/// A signed number clamped to the range of one lane of the shape, and cut to it.
pub(super) fn saturate(terms: &mut Terms, shape: Shape, value: Term) -> Term {
    let width = terms.width(value);
    let (lowest, highest) = if shape.signed() {
        (!(ones(shape.bits) >> 1), ones(shape.bits) >> 1)
    } else {
        (0, ones(shape.bits))
    };
    let [lowest, highest] = [lowest, highest].map(|end| terms.constant(end, width));
    let below = terms.signed_less(value, lowest);
    let value = terms.choose(below, lowest, value);
    let above = terms.signed_less(highest, value);
    let value = terms.choose(above, highest, value);
    terms.extract(value, 0, shape.bits)
}

/// The sum or difference of two lanes.
fn sum(terms: &mut Terms, shape: Shape, minus: bool, clamped: bool, a: Term, b: Term) -> Term {
    if !clamped {
        return if minus { terms.sub(a, b) } else { terms.add(a, b) };
    }
    let exact = shape.bits + 2;
    let (a, b) = (extend(terms, shape, a, exact), extend(terms, shape, b, exact));
    let sum = if minus { terms.sub(a, b) } else { terms.add(a, b) };
    saturate(terms, shape, sum)
}

pub(crate) fn add(code: &mut Code<'_, '_>) -> Option<()> {
    add_or_sub(code, false)
}

pub(crate) fn sub(code: &mut Code<'_, '_>) -> Option<()> {
    add_or_sub(code, true)
}

fn add_or_sub(code: &mut Code<'_, '_>, minus: bool) -> Option<()> {
    let (clamped, carries) = (code.flag("sat"), code.flag("cc"));
    let shape =
        code.shape().filter(|shape| shape.kind != Kind::Bits && (shape.lanes == 1 || shape.width() == 32))?;
    if shape.bits < 16 && shape.lanes == 1 || carries && (clamped || !has_carry(shape)) {
        return None;
    }
    // Only the packed types and these saturate.
    let saturates = shape.lanes > 1 || shape.bits == 32 && (shape.signed() || !minus);
    if clamped && !saturates {
        return None;
    }
    if carries {
        let none = code.terms.bit(false);
        return with_carry(code, shape, minus, none, true);
    }
    code.each(shape.width(), |terms, [a, b]| {
        lanes(terms, shape, a, b, |terms, a, b| sum(terms, shape, minus, clamped, a, b))
    })
}

fn has_carry(shape: Shape) -> bool {
    shape.kind != Kind::Bits && shape.lanes == 1 && matches!(shape.bits, 32 | 64)
}

pub(crate) fn addc(code: &mut Code<'_, '_>) -> Option<()> {
    chained(code, false)
}

pub(crate) fn subc(code: &mut Code<'_, '_>) -> Option<()> {
    chained(code, true)
}

fn chained(code: &mut Code<'_, '_>, minus: bool) -> Option<()> {
    let carries = code.flag("cc");
    let shape = code.shape().filter(|&shape| has_carry(shape))?;
    let carry = code.carry()?;
    with_carry(code, shape, minus, carry, carries)
}

/// A sum with a carry in and perhaps out. For a difference the flag is the borrow, as the manual says. The assembler
/// keeps the inverted borrow; a chain of `sub.cc` and `subc` gives the same results with either.
fn with_carry(code: &mut Code<'_, '_>, shape: Shape, minus: bool, carry: Term, carries: bool) -> Option<()> {
    let [d, a, b] = code.operands()?;
    let (a, b) = (code.value(a, shape.bits)?, code.value(b, shape.bits)?);
    let (b, carry) = if minus { (code.terms.not(b), code.terms.not(carry)) } else { (b, carry) };
    let total = carried_sum(code.terms, a, b, carry);
    finish_carried(code, d, total, carries, minus)
}

/// `a + b + carry`, with one bit more.
fn carried_sum(terms: &mut Terms, a: Term, b: Term, carry: Term) -> Term {
    let width = terms.width(a) + 1;
    let [a, b, carry] = [a, b, carry].map(|term| terms.zero_extend(term, width));
    let sum = terms.add(a, b);
    terms.add(sum, carry)
}

fn finish_carried(code: &mut Code<'_, '_>, d: NodeId, total: Term, carries: bool, minus: bool) -> Option<()> {
    let bits = code.terms.width(total) - 1;
    let result = code.terms.extract(total, 0, bits);
    if carries {
        let carry = code.terms.extract(total, bits, 1);
        let flag = if minus { code.terms.not(carry) } else { carry };
        code.write_carry(flag);
    }
    code.write(d, result)
}

/// The half of the product, as wide as the operands or twice as wide.
fn product(terms: &mut Terms, shape: Shape, half: Half, a: Term, b: Term) -> Term {
    if half == Half::Low {
        return terms.mul(a, b);
    }
    let double = 2 * shape.bits;
    let (a, b) = (extend(terms, shape, a, double), extend(terms, shape, b, double));
    let whole = terms.mul(a, b);
    if half == Half::Wide { whole } else { terms.extract(whole, shape.bits, shape.bits) }
}

/// The half and the type of a multiplication.
fn multiplication(code: &mut Code<'_, '_>) -> Option<(Half, Shape)> {
    let half = code.one_of(&HALVES)?;
    let shape = code.plain_shape().filter(|shape| shape.kind != Kind::Bits && shape.bits >= 16)?;
    (half != Half::Wide || shape.bits < 64).then_some((half, shape))
}

pub(crate) fn mul(code: &mut Code<'_, '_>) -> Option<()> {
    let (half, shape) = multiplication(code)?;
    let [d, a, b] = code.operands()?;
    let (a, b) = (code.value(a, shape.bits)?, code.value(b, shape.bits)?);
    let result = product(code.terms, shape, half, a, b);
    code.write(d, result)
}

pub(crate) fn mad(code: &mut Code<'_, '_>) -> Option<()> {
    let (clamped, carries) = (code.flag("sat"), code.flag("cc"));
    let (half, shape) = multiplication(code)?;
    let saturates = half == Half::High && shape.signed() && shape.bits == 32;
    if clamped && (!saturates || carries) || carries && (half == Half::Wide || !has_carry(shape)) {
        return None;
    }
    let [d, a, b, c] = code.operands()?;
    let (a, b) = (code.value(a, shape.bits)?, code.value(b, shape.bits)?);
    let product = product(code.terms, shape, half, a, b);
    let c = code.value(c, code.terms.width(product))?;
    if carries {
        let none = code.terms.bit(false);
        let total = carried_sum(code.terms, product, c, none);
        return finish_carried(code, d, total, true, false);
    }
    let result = sum(code.terms, shape, false, clamped, product, c);
    code.write(d, result)
}

pub(crate) fn madc(code: &mut Code<'_, '_>) -> Option<()> {
    let carries = code.flag("cc");
    let (half, shape) = multiplication(code)?;
    if half == Half::Wide || !has_carry(shape) {
        return None;
    }
    let [d, a, b, c] = code.operands()?;
    let (a, b, c) = (code.value(a, shape.bits)?, code.value(b, shape.bits)?, code.value(c, shape.bits)?);
    let carry = code.carry()?;
    let product = product(code.terms, shape, half, a, b);
    let total = carried_sum(code.terms, product, c, carry);
    finish_carried(code, d, total, carries, false)
}

/// The product of the low 24 bits: its lowest 32 bits or bits 16 to 47.
fn product24(terms: &mut Terms, shape: Shape, half: Half, a: Term, b: Term) -> Term {
    let [a, b] = [a, b].map(|word| {
        let low = terms.extract(word, 0, 24);
        extend(terms, shape, low, 48)
    });
    let whole = terms.mul(a, b);
    terms.extract(whole, if half == Half::High { 16 } else { 0 }, 32)
}

/// The quotient and the remainder, rounded towards zero. The manual leaves open what a divisor of zero gives; here
/// it is what NVIDIA's code gives: all ones, and the dividend; the assembler folds both to all ones.
fn division(terms: &mut Terms, shape: Shape, a: Term, b: Term) -> (Term, Term) {
    if !shape.signed() {
        return (terms.unsigned_divide(a, b), terms.unsigned_remainder(a, b));
    }
    let [x, y] = [a, b].map(|value| magnitude(terms, value));
    let (quotient, remainder) = (terms.unsigned_divide(x, y), terms.unsigned_remainder(x, y));
    let [a_negative, b_negative] = [a, b].map(|value| terms.extract(value, shape.bits - 1, 1));
    let differ = terms.xor(a_negative, b_negative);
    let quotient = negated_where(terms, differ, quotient);
    let (zero, all) = (terms.constant(0, shape.bits), terms.constant(u128::MAX, shape.bits));
    let by_zero = terms.equal(b, zero);
    (terms.choose(by_zero, all, quotient), negated_where(terms, a_negative, remainder))
}

fn negated_where(terms: &mut Terms, condition: Term, value: Term) -> Term {
    let opposite = terms.neg(value);
    terms.choose(condition, opposite, value)
}

/// The value without its sign; the lowest number stays what it is, which is right unsigned.
fn magnitude(terms: &mut Terms, value: Term) -> Term {
    let negative = terms.extract(value, terms.width(value) - 1, 1);
    negated_where(terms, negative, value)
}

pub(crate) fn div(code: &mut Code<'_, '_>) -> Option<()> {
    let shape = code.plain_shape().filter(|shape| shape.kind != Kind::Bits && shape.bits >= 16)?;
    code.each(shape.bits, |terms, [a, b]| division(terms, shape, a, b).0)
}

pub(crate) fn rem(code: &mut Code<'_, '_>) -> Option<()> {
    let shape = code.plain_shape().filter(|shape| shape.kind != Kind::Bits && shape.bits >= 16)?;
    code.each(shape.bits, |terms, [a, b]| division(terms, shape, a, b).1)
}

pub(crate) fn mul24(code: &mut Code<'_, '_>) -> Option<()> {
    let half = code.one_of(&HALVES[..2])?;
    let shape = code.plain_shape().filter(|shape| shape.kind != Kind::Bits && shape.bits == 32)?;
    code.each(32, |terms, [a, b]| product24(terms, shape, half, a, b))
}

pub(crate) fn mad24(code: &mut Code<'_, '_>) -> Option<()> {
    let clamped = code.flag("sat");
    let half = code.one_of(&HALVES[..2])?;
    let shape = code.plain_shape().filter(|shape| shape.kind != Kind::Bits && shape.bits == 32)?;
    if clamped && !(half == Half::High && shape.signed()) {
        return None;
    }
    code.each(32, |terms, [a, b, c]| {
        let product = product24(terms, shape, half, a, b);
        sum(terms, shape, false, clamped, product, c)
    })
}

pub(crate) fn sad(code: &mut Code<'_, '_>) -> Option<()> {
    let shape = code.plain_shape().filter(|shape| shape.kind != Kind::Bits && shape.bits >= 16)?;
    code.each(shape.bits, |terms, [a, b, c]| {
        let below = less(terms, shape.signed(), a, b);
        let (up, down) = (terms.sub(b, a), terms.sub(a, b));
        let difference = terms.choose(below, up, down);
        terms.add(c, difference)
    })
}

pub(crate) fn min(code: &mut Code<'_, '_>) -> Option<()> {
    extreme(code, false)
}

pub(crate) fn max(code: &mut Code<'_, '_>) -> Option<()> {
    extreme(code, true)
}

fn extreme(code: &mut Code<'_, '_>, largest: bool) -> Option<()> {
    let relu = code.flag("relu");
    let shape =
        code.shape().filter(|shape| shape.kind != Kind::Bits && (shape.bits >= 16 || shape.lanes > 1))?;
    if relu && !(shape.signed() && shape.width() == 32) {
        return None;
    }
    code.each(shape.width(), |terms, [a, b]| {
        lanes(terms, shape, a, b, |terms, a, b| {
            let below = less(terms, shape.signed(), a, b);
            let chosen = if largest { terms.choose(below, b, a) } else { terms.choose(below, a, b) };
            let zero = terms.constant(0, shape.bits);
            let negative = terms.extract(chosen, shape.bits - 1, 1);
            if relu { terms.choose(negative, zero, chosen) } else { chosen }
        })
    })
}

pub(crate) fn abs(code: &mut Code<'_, '_>) -> Option<()> {
    let shape = code.plain_shape().filter(|shape| shape.signed() && shape.bits >= 16)?;
    code.each(shape.bits, |terms, [a]| magnitude(terms, a))
}

pub(crate) fn neg(code: &mut Code<'_, '_>) -> Option<()> {
    let shape = code.shape().filter(|shape| shape.signed())?;
    if !matches!((shape.bits, shape.lanes), (16 | 32 | 64, 1) | (8, 4)) {
        return None;
    }
    code.each(shape.width(), |terms, [a]| {
        let zero = terms.constant(0, shape.width());
        lanes(terms, shape, zero, a, Terms::sub)
    })
}

/// Signs of the lanes of `a` and `b` in the two types of a dot product.
fn dot(code: &mut Code<'_, '_>, a_bits: u32, b_low: u32) -> Option<()> {
    let (atype, btype) = (code.plain_shape()?, code.plain_shape()?);
    if [atype, btype].iter().any(|shape| shape.kind == Kind::Bits || shape.bits != 32) {
        return None;
    }
    code.each(32, |terms, [a, b, c]| {
        (0..32 / a_bits).fold(c, |total, lane| {
            let x = terms.extract(a, lane * a_bits, a_bits);
            let y = terms.extract(b, b_low + lane * 8, 8);
            let (x, y) = (extend(terms, atype, x, 32), extend(terms, btype, y, 32));
            let product = terms.mul(x, y);
            terms.add(total, product)
        })
    })
}

pub(crate) fn dp4a(code: &mut Code<'_, '_>) -> Option<()> {
    dot(code, 8, 0)
}

pub(crate) fn dp2a(code: &mut Code<'_, '_>) -> Option<()> {
    let b_low = code.one_of(&[("lo", 0), ("hi", 16)])?;
    dot(code, 16, b_low)
}
