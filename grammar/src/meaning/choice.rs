//! Comparisons, selection, conversions and moves.

use super::code::{Code, Kind, Shape};
use super::integer::{extend, less, saturate};
use super::term::{Term, Terms};
use crate::tree::{NodeId, NodeKind};

/// A comparison of integers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// The names of all comparisons; the last four compare unsigned numbers only.
const COMPARISONS: [(&str, Compare); 10] = [
    ("eq", Compare::Eq),
    ("ne", Compare::Ne),
    ("lt", Compare::Lt),
    ("le", Compare::Le),
    ("gt", Compare::Gt),
    ("ge", Compare::Ge),
    ("lo", Compare::Lt),
    ("ls", Compare::Le),
    ("hi", Compare::Gt),
    ("hs", Compare::Ge),
];

/// A second operation on the result of a comparison.
pub(super) type Second = fn(&mut Terms, Term, Term) -> Term;

pub(super) const SECONDS: [(&str, Second); 3] = [("and", Terms::and), ("or", Terms::or), ("xor", Terms::xor)];

/// The comparison that a modifier names and whether it is one for unsigned numbers only.
fn comparison(code: &mut Code<'_, '_>) -> Option<(Compare, bool)> {
    if let Some(compare) = code.one_of(&COMPARISONS[..6]) {
        return Some((compare, false));
    }
    Some((code.one_of(&COMPARISONS[6..])?, true))
}

/// Whether a type has a comparison: bits are equal or not, but neither is less.
fn has(shape: Shape, (compare, unsigned_only): (Compare, bool)) -> bool {
    let equality = matches!(compare, Compare::Eq | Compare::Ne);
    (shape.kind != Kind::Bits || equality) && (!unsigned_only || shape.kind == Kind::Unsigned)
}

fn holds(terms: &mut Terms, compare: Compare, signed: bool, a: Term, b: Term) -> Term {
    match compare {
        Compare::Eq => terms.equal(a, b),
        Compare::Ne => {
            let equal = terms.equal(a, b);
            terms.not(equal)
        }
        Compare::Lt => less(terms, signed, a, b),
        Compare::Ge => {
            let less = less(terms, signed, a, b);
            terms.not(less)
        }
        Compare::Gt => less(terms, signed, b, a),
        Compare::Le => {
            let more = less(terms, signed, b, a);
            terms.not(more)
        }
    }
}

/// All ones where the comparison of integers holds, or the float one; else zero.
pub(crate) fn set(code: &mut Code<'_, '_>) -> Option<()> {
    let compare = comparison(code)?;
    let second = code.one_of(&SECONDS);
    let float = code.first_is("f32");
    if !float {
        let first = code.shape()?;
        if first.lanes > 1 {
            let exists = second.is_none() && has(first, compare);
            return if exists { set_lanes(code, first, compare.0) } else { None };
        }
        if first.kind == Kind::Bits || first.bits != 32 {
            return None;
        }
    }
    let shape = code.plain_shape().filter(|&shape| has(shape, compare) && (16..=64).contains(&shape.bits))?;
    let (target, sources) = compared(code, second.is_some())?;
    let result = outcome(code, compare.0, shape, second, sources)?;
    let result = if float {
        let (one, zero) = (code.terms.constant(0x3f80_0000, 32), code.terms.constant(0, 32));
        code.terms.choose(result, one, zero)
    } else {
        code.terms.sign_extend(result, 32)
    };
    code.write(target, result)
}

/// Whole lanes of ones where the comparison holds.
fn set_lanes(code: &mut Code<'_, '_>, shape: Shape, compare: Compare) -> Option<()> {
    code.each(shape.width(), |terms, [a, b]| {
        let mut lane = |number| {
            let [x, y] = [a, b].map(|word| terms.extract(word, number * shape.bits, shape.bits));
            let holds = holds(terms, compare, shape.signed(), x, y);
            terms.sign_extend(holds, shape.bits)
        };
        let lanes: Vec<Term> = (0..shape.lanes).map(&mut lane).collect();
        terms.side_by_side(lanes).expect("there are lanes")
    })
}

/// The destination and the sources of a comparison, the third only with a second operation.
fn compared(code: &Code<'_, '_>, second: bool) -> Option<(NodeId, [Option<NodeId>; 3])> {
    if second {
        let [d, a, b, c] = code.operands()?;
        return Some((d, [Some(a), Some(b), Some(c)]));
    }
    let [d, a, b] = code.operands()?;
    Some((d, [Some(a), Some(b), None]))
}

/// What a comparison gives, after its second operation.
fn outcome(
    code: &mut Code<'_, '_>,
    compare: Compare,
    shape: Shape,
    second: Option<Second>,
    [a, b, c]: [Option<NodeId>; 3],
) -> Option<Term> {
    let (a, b) = (code.value(a?, shape.bits)?, code.value(b?, shape.bits)?);
    let result = holds(code.terms, compare, shape.signed(), a, b);
    let Some(second) = second else { return Some(result) };
    let c = code.value(c?, 1)?;
    Some(second(code.terms, result, c))
}

/// `p|q`: `q` is the opposite comparison with the same second operation, which is not the opposite of `p`.
pub(crate) fn setp(code: &mut Code<'_, '_>) -> Option<()> {
    let compare = comparison(code)?;
    let second = code.one_of(&SECONDS);
    let shape =
        code.plain_shape().filter(|&shape| has(shape, compare) && shape.bits >= 16 && shape.bits <= 64)?;
    let (target, [a, b, c]) = compared(code, second.is_some())?;
    let (a, b) = (code.value(a?, shape.bits)?, code.value(b?, shape.bits)?);
    let p = holds(code.terms, compare.0, shape.signed(), a, b);
    let q = code.terms.not(p);
    let (p, q) = match second {
        None => (p, q),
        Some(second) => {
            let c = code.value(c?, 1)?;
            (second(code.terms, p, c), second(code.terms, q, c))
        }
    };
    if code.module.node_kind(target) != NodeKind::Pair {
        return code.write(target, p);
    }
    let [first, other] = code.module.children(target).try_into().ok()?;
    code.write(first, p)?;
    code.write(other, q)
}

pub(crate) fn selp(code: &mut Code<'_, '_>) -> Option<()> {
    let width = moved(code).filter(|width| matches!(width, 16 | 32 | 64))?;
    let [d, a, b, condition] = code.operands()?;
    let (a, b) = (code.value(a, width)?, code.value(b, width)?);
    let condition = code.value(condition, 1)?;
    let result = code.terms.choose(condition, a, b);
    code.write(d, result)
}

/// `a` if `c` is not negative, else `b`: `c` is a signed number or a float. A float zero of either sign is not
/// negative; NaN selects `b`.
pub(crate) fn slct(code: &mut Code<'_, '_>) -> Option<()> {
    let flushes = code.flag("ftz");
    let width = match code.first()? {
        b"b16" | b"u16" | b"s16" => 16,
        b"b32" | b"u32" | b"s32" | b"f32" => 32,
        b"b64" | b"u64" | b"s64" | b"f64" => 64,
        _ => return None,
    };
    let by = code.first()?;
    let [d, a, b, c] = code.operands()?;
    let (a, b, c) = (code.value(a, width)?, code.value(b, width)?, code.value(c, 32)?);
    let negative = match by {
        b"s32" if !flushes => code.terms.extract(c, 31, 1),
        b"f32" => not_from_zero_on(code.terms, flushes, c),
        _ => return None,
    };
    let result = code.terms.choose(negative, b, a);
    code.write(d, result)
}

/// Whether a 32-bit float is less than zero or NaN; with `flushes`, subnormal numbers are zero.
fn not_from_zero_on(terms: &mut Terms, flushes: bool, value: Term) -> Term {
    let sign = terms.extract(value, 31, 1);
    let magnitude = terms.extract(value, 0, 31);
    let (infinity, least) = (terms.constant(0x7f80_0000, 31), if flushes { 0x0080_0000 } else { 1 });
    let least = terms.constant(least, 31);
    let nan = terms.unsigned_less(infinity, magnitude);
    let zero = terms.unsigned_less(magnitude, least);
    let not_zero = terms.not(zero);
    let below = terms.and(sign, not_zero);
    terms.or(below, nan)
}

/// A source may be wider than its type, and is cut; so may the destination be, and the result is extended.
pub(crate) fn cvt(code: &mut Code<'_, '_>) -> Option<()> {
    let clamped = code.flag("sat");
    let (to, from) = (code.plain_shape()?, code.plain_shape()?);
    if [to, from].iter().any(|shape| shape.kind == Kind::Bits) {
        return None;
    }
    let [d, a] = code.operands()?;
    let value = code.low_bits(a, from.bits)?;
    // One bit more than both makes every value a signed number.
    let exact = to.bits.max(from.bits) + 1;
    let value = extend(code.terms, from, value, exact);
    let value = if clamped { saturate(code.terms, to, value) } else { code.terms.extract(value, 0, to.bits) };
    let width = code.register_width(d).filter(|&width| width >= to.bits)?;
    let result = extend(code.terms, to, value, width);
    code.write(d, result)
}

/// `a` and `b`, each clamped, `a` above `b`, and both above the low half of `c`.
pub(crate) fn cvt_pack(code: &mut Code<'_, '_>) -> Option<()> {
    if !(code.flag("pack") && code.flag("sat")) {
        return None;
    }
    let narrow: &[(&str, (Kind, u32))] = &[
        ("u16", (Kind::Unsigned, 16)),
        ("s16", (Kind::Signed, 16)),
        ("u8", (Kind::Unsigned, 8)),
        ("s8", (Kind::Signed, 8)),
        ("u4", (Kind::Unsigned, 4)),
        ("s4", (Kind::Signed, 4)),
        ("u2", (Kind::Unsigned, 2)),
        ("s2", (Kind::Signed, 2)),
    ];
    let (kind, bits) = code.one_of(narrow)?;
    let to = Shape { kind, bits, lanes: 1 };
    if !code.flag("s32") {
        return None;
    }
    let pack = move |terms: &mut Terms, a: Term, b: Term| {
        let [a, b] = [a, b].map(|word| {
            let exact = terms.sign_extend(word, 33);
            saturate(terms, to, exact)
        });
        terms.concat(a, b)
    };
    if bits == 16 && !code.flag("b32") {
        return code.each(32, |terms, [a, b]| pack(terms, a, b));
    }
    if bits == 16 || !code.flag("b32") {
        return None;
    }
    code.each(32, |terms, [a, b, c]| {
        let packed = pack(terms, a, b);
        let above = terms.extract(c, 0, 32 - 2 * bits);
        terms.concat(above, packed)
    })
}

/// The width of a type whose bits are only moved, floating-point types included.
fn moved(code: &mut Code<'_, '_>) -> Option<u32> {
    let floats = [("f16", 16), ("bf16", 16), ("f16x2", 32), ("bf16x2", 32), ("f32", 32), ("f64", 64)];
    code.plain_shape().map(|shape| shape.bits).or_else(|| code.one_of(&floats))
}

/// A whole value, a vector put together (its first element lowest), or one taken apart; with `.v2` or `.v4` as many
/// values. A vector register without a component is not a single place, so it has no meaning here.
pub(crate) fn mov(code: &mut Code<'_, '_>) -> Option<()> {
    let lanes = code.one_of(&[("v2", 2), ("v4", 4)]);
    let width = moved(code)?;
    let [d, a] = code.operands()?;
    let vector = |node| code.module.node_kind(node) == NodeKind::Vector;
    if let Some(lanes) = lanes {
        let both = vector(d) && vector(a) && matches!(width, 16 | 32 | 64);
        return if both { mov_each(code, lanes, width, d, a) } else { None };
    }
    match (vector(d), vector(a)) {
        (false, false) => {
            let value = code.value(a, width)?;
            code.write(d, value)
        }
        (false, true) => {
            let elements = code.module.children(a);
            let each = element_width(width, elements.len())?;
            let mut result = None;
            for element in elements {
                let value = code.value(element, each)?;
                result = Some(result.map_or(value, |under| code.terms.concat(value, under)));
            }
            code.write(d, result?)
        }
        (true, false) => {
            let elements = code.module.children(d);
            let each = element_width(width, elements.len())?;
            let value = code.value(a, width)?;
            let mut low = 0;
            for element in elements {
                let part = code.terms.extract(value, low, each);
                code.write(element, part)?;
                low += each;
            }
            Some(())
        }
        (true, true) => None,
    }
}

/// Each element into the one at the same place; all are read before one is written.
fn mov_each(code: &mut Code<'_, '_>, lanes: usize, width: u32, d: NodeId, a: NodeId) -> Option<()> {
    let (to, from) = (code.module.children(d), code.module.children(a));
    if to.len() != lanes || from.len() != lanes {
        return None;
    }
    for (target, source) in to.into_iter().zip(from) {
        let value = code.value(source, width)?;
        code.write(target, value)?;
    }
    Some(())
}

/// How wide each of so many elements is.
fn element_width(width: u32, count: usize) -> Option<u32> {
    let count = u32::try_from(count).ok().filter(|&count| matches!(count, 2 | 4))?;
    let each = width / count;
    (each >= 8).then_some(each)
}
