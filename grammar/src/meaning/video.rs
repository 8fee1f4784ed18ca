//! What the video instructions compute, as the manual's pseudocode says.
//!
//! Numbers are wide enough to be exact until the pseudocode cuts or clamps them, so nothing here depends on how wide
//! the manual's intermediate results are. Where the pseudocode is ambiguous, incomplete or mistyped, the meaning is the
//! assembler's: lanes outside a mask come from `c`; a merged lane is cut to its width; `vset` gives 1; `vmad` saturates
//! by the signs of its operands.

use super::code::Code;
use super::term::{Term, Terms};
use crate::video::{
    Compare, Direction, Form, Instance, Lanes, Mad, OperandSource, Part, Scalar, ScalarOp, Selector,
    ShiftMode, Sign, Simd, SimdArithmetic, SimdOp, SimdThen, Sum, Then, decode,
};

/// The bits of an exact sum, difference or mean of two words of any sign, and of `c`.
const EXACT: u32 = 34;
/// The bits of a word shifted left by at most 32.
const SHIFTED: u32 = 66;
/// The bits of an exact product and sum.
const PRODUCT: u32 = 67;

pub(crate) fn means(code: &mut Code<'_, '_>) -> Option<()> {
    let Instance { form, d, a, b, c } = decode(code.module, code.stmt)?.ok()?;
    code.forget_modifiers();
    let mut value = |source| match source {
        OperandSource::Register(node) => code.word(node),
        OperandSource::Constant(node) => code.value(node, 32),
    };
    let (a, b) = (value(a)?, value(b)?);
    let c = match c {
        Some(c) => value(c)?,
        None => code.terms.constant(0, 32),
    };
    let result = result(code.terms, form, [a, b, c]);
    code.write_word(d, result);
    Some(())
}

/// What a form computes of `a`, `b` and `c`, all words; `c` counts only if the form reads it.
pub fn result(terms: &mut Terms, form: Form, sources: [Term; 3]) -> Term {
    match form {
        Form::Scalar(form) => scalar(terms, form, sources),
        Form::Mad(form) => mad(terms, form, sources),
        Form::Simd(form) => simd(terms, form, sources),
    }
}

fn extend(terms: &mut Terms, value: Term, sign: Sign, width: u32) -> Term {
    match sign {
        Sign::Unsigned => terms.zero_extend(value, width),
        Sign::Signed => terms.sign_extend(value, width),
    }
}

fn select(terms: &mut Terms, word: Term, part: Option<Part>, sign: Sign, width: u32) -> Term {
    let value = part.map_or(word, |part| terms.extract(word, part.shift(), part.bits()));
    extend(terms, value, sign, width)
}

/// A signed number clamped to what `bits` bits of the sign hold, still as wide.
fn clamp(terms: &mut Terms, value: Term, sign: Sign, bits: u32) -> Term {
    let width = terms.width(value);
    let (lowest, highest) = match sign {
        Sign::Unsigned => (0, (1_i128 << bits) - 1),
        Sign::Signed => (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1),
    };
    let [lowest, highest] = [lowest, highest].map(|end| terms.constant(end.cast_unsigned(), width));
    let value = larger(terms, value, lowest);
    smaller(terms, value, highest)
}

fn smaller(terms: &mut Terms, a: Term, b: Term) -> Term {
    let less = terms.signed_less(b, a);
    terms.choose(less, b, a)
}

fn larger(terms: &mut Terms, a: Term, b: Term) -> Term {
    let less = terms.signed_less(a, b);
    terms.choose(less, b, a)
}

fn absolute(terms: &mut Terms, value: Term) -> Term {
    let width = terms.width(value);
    let negative = terms.extract(value, width - 1, 1);
    let opposite = terms.neg(value);
    terms.choose(negative, opposite, value)
}

/// The mean, a half rounded away from zero: where the sum is not negative, one more is halved.
fn average(terms: &mut Terms, a: Term, b: Term) -> Term {
    let sum = terms.add(a, b);
    let width = terms.width(sum);
    let negative = terms.extract(sum, width - 1, 1);
    let up = terms.not(negative);
    let up = terms.zero_extend(up, width);
    let sum = terms.add(sum, up);
    let one = terms.constant(1, width);
    terms.ashr(sum, one)
}

fn arithmetic(terms: &mut Terms, op: SimdArithmetic, a: Term, b: Term) -> Term {
    match op {
        SimdArithmetic::Add => terms.add(a, b),
        SimdArithmetic::Sub => terms.sub(a, b),
        SimdArithmetic::Average => average(terms, a, b),
        SimdArithmetic::AbsDiff => {
            let difference = terms.sub(a, b);
            absolute(terms, difference)
        }
        SimdArithmetic::Min => smaller(terms, a, b),
        SimdArithmetic::Max => larger(terms, a, b),
    }
}

/// One bit: whether the comparison of two signed numbers holds.
fn compare(terms: &mut Terms, compare: Compare, a: Term, b: Term) -> Term {
    match compare {
        Compare::Eq => terms.equal(a, b),
        Compare::Ne => {
            let equal = terms.equal(a, b);
            terms.not(equal)
        }
        Compare::Lt => terms.signed_less(a, b),
        Compare::Ge => {
            let less = terms.signed_less(a, b);
            terms.not(less)
        }
        Compare::Gt => terms.signed_less(b, a),
        Compare::Le => {
            let more = terms.signed_less(b, a);
            terms.not(more)
        }
    }
}

/// `a`, an exact number of [`SHIFTED`] bits, shifted by the word `b`.
fn shift(terms: &mut Terms, direction: Direction, mode: ShiftMode, a: Term, b: Term) -> Term {
    let amount = match mode {
        ShiftMode::Wrap => terms.extract(b, 0, 5),
        ShiftMode::Clamp => {
            let low = terms.extract(b, 0, 6);
            let most = terms.constant(32, 32);
            let below = terms.unsigned_less(b, most);
            let most = terms.constant(32, 6);
            terms.choose(below, low, most)
        }
    };
    let amount = terms.zero_extend(amount, SHIFTED);
    match direction {
        Direction::Left => terms.shl(a, amount),
        Direction::Right => terms.ashr(a, amount),
    }
}

fn scalar(terms: &mut Terms, form: Scalar, [a, b, c]: [Term; 3]) -> Term {
    let Scalar { op, atype, a: part_a, b: part_b, then } = form;
    let tmp = match op {
        ScalarOp::Arithmetic { op, btype, .. } => {
            let a = select(terms, a, part_a, atype, EXACT);
            let b = select(terms, b, part_b, btype, EXACT);
            arithmetic(terms, op.into(), a, b)
        }
        ScalarOp::Shift { direction, mode, .. } => {
            let a = select(terms, a, part_a, atype, SHIFTED);
            let b = select(terms, b, part_b, Sign::Unsigned, 32);
            shift(terms, direction, mode, a, b)
        }
        ScalarOp::Set { compare: how, btype } => {
            let a = select(terms, a, part_a, atype, EXACT);
            let b = select(terms, b, part_b, btype, EXACT);
            let holds = compare(terms, how, a, b);
            terms.zero_extend(holds, EXACT)
        }
    };
    let bits = if let Then::Merge(part) = then { part.bits() } else { 32 };
    let tmp = if op.saturates() { clamp(terms, tmp, op.dtype(), bits) } else { tmp };
    combine(terms, then, op.dtype(), tmp, c)
}

/// The secondary operation, or the merge.
fn combine(terms: &mut Terms, then: Then, dtype: Sign, tmp: Term, c: Term) -> Term {
    let low = terms.extract(tmp, 0, 32);
    let wide = extend(terms, c, dtype, terms.width(tmp));
    match then {
        Then::Store => low,
        Then::Add => terms.add(low, c),
        Then::Min => {
            let less = smaller(terms, tmp, wide);
            terms.extract(less, 0, 32)
        }
        Then::Max => {
            let more = larger(terms, tmp, wide);
            terms.extract(more, 0, 32)
        }
        Then::Merge(part) => {
            let value = terms.extract(tmp, 0, part.bits());
            insert(terms, c, value, part.shift())
        }
    }
}

/// `word` with `value` at bit `low`.
fn insert(terms: &mut Terms, word: Term, value: Term, low: u32) -> Term {
    let (width, end) = (terms.width(word), low + terms.width(value));
    let mut result = value;
    if low > 0 {
        let under = terms.extract(word, 0, low);
        result = terms.concat(result, under);
    }
    if end < width {
        let above = terms.extract(word, end, width - end);
        result = terms.concat(above, result);
    }
    result
}

fn mad(terms: &mut Terms, form: Mad, [a, b, c]: [Term; 3]) -> Term {
    let Mad { dtype: _, atype, btype, saturate, scale, sum, a: part_a, b: part_b } = form;
    let negated = matches!(sum, Sum::NegatedProduct | Sum::NegatedAddend);
    let signed = atype == Sign::Signed || btype == Sign::Signed || negated;
    let sign = if signed { Sign::Signed } else { Sign::Unsigned };
    // Without a shift or a clamp, upper bits decide nothing.
    let width = if saturate || scale.bits() > 0 { PRODUCT } else { 32 };
    let a = select(terms, a, part_a, atype, width);
    let b = select(terms, b, part_b, btype, width);
    let product = terms.mul(a, b);
    let (product, c, one) = match sum {
        Sum::Plain => (product, c, 0),
        Sum::PlusOne => (product, c, 1),
        Sum::NegatedProduct => (terms.not(product), c, 1),
        Sum::NegatedAddend => (product, terms.not(c), 1),
    };
    let c = extend(terms, c, sign, width);
    let one = terms.constant(one, width);
    let tmp = terms.add(product, c);
    let tmp = terms.add(tmp, one);
    let amount = terms.constant(scale.bits().into(), width);
    let tmp = terms.ashr(tmp, amount);
    if width == 32 {
        return tmp;
    }
    // The manual keeps 64 bits of the sum, and clamps the number that they give.
    let tmp = terms.extract(tmp, 0, 64);
    let tmp = extend(terms, tmp, sign, width);
    let tmp = if saturate { clamp(terms, tmp, sign, 32) } else { tmp };
    terms.extract(tmp, 0, 32)
}

/// The lane of `a` and `b` that a selector picks, extended.
fn pick(terms: &mut Terms, lanes: Lanes, selector: Selector, lane: u8, sign: Sign, words: [Term; 2]) -> Term {
    let place = selector.pick(lane);
    let (word, place) =
        if place < lanes.count() { (words[0], place) } else { (words[1], place - lanes.count()) };
    let value = terms.extract(word, u32::from(place) * lanes.bits(), lanes.bits());
    // Two bits more hold every sum and difference of lanes of any sign, and their clamps.
    extend(terms, value, sign, lanes.bits() + 2)
}

fn simd(terms: &mut Terms, form: Simd, [a, b, c]: [Term; 3]) -> Term {
    let Simd { op, atype, btype, routing } = form;
    let lanes = routing.lanes();
    let accumulate = match op {
        SimdOp::Arithmetic { then, .. } => then == SimdThen::Add,
        SimdOp::Set { accumulate, .. } => accumulate,
    };
    // Results have two bits more than lanes; two more again hold the sum of four.
    let sum_bits = lanes.bits() + 4;
    let mut sum = terms.constant(0, sum_bits);
    let mut result = c;
    for lane in (0..lanes.count()).filter(|lane| routing.mask() >> lane & 1 == 1) {
        let x = pick(terms, lanes, routing.a(), lane, atype, [a, b]);
        let y = pick(terms, lanes, routing.b(), lane, btype, [a, b]);
        let value = match op {
            SimdOp::Arithmetic { op, dtype, then } => {
                let value = arithmetic(terms, op, x, y);
                let saturate = then == SimdThen::Saturate;
                if saturate { clamp(terms, value, dtype, lanes.bits()) } else { value }
            }
            SimdOp::Set { compare: how, .. } => {
                let holds = compare(terms, how, x, y);
                terms.zero_extend(holds, lanes.bits() + 2)
            }
        };
        if accumulate {
            let value = terms.sign_extend(value, sum_bits);
            sum = terms.add(sum, value);
        } else {
            let value = terms.extract(value, 0, lanes.bits());
            result = insert(terms, result, value, u32::from(lane) * lanes.bits());
        }
    }
    let sum = terms.sign_extend(sum, 32);
    terms.add(result, sum)
}
