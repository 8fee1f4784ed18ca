//! Bitwise logic, shifts, bit fields, permutations and counting.

use super::choice::SECONDS;
use super::code::{Code, Kind, Shape};
use super::term::{Term, Terms};

/// A type of bits: 16, 32 or 64, or a predicate where `predicates`.
fn bits(code: &mut Code<'_, '_>, predicates: bool) -> Option<u32> {
    let shape = code.plain_shape().filter(|shape| shape.kind == Kind::Bits)?;
    let good = matches!(shape.bits, 16 | 32 | 64) || predicates && shape.bits == 1;
    good.then_some(shape.bits)
}

/// A type of 32 or 64 bits and this kind.
fn word(code: &mut Code<'_, '_>, kinds: &[Kind]) -> Option<Shape> {
    code.plain_shape().filter(|shape| kinds.contains(&shape.kind) && matches!(shape.bits, 32 | 64))
}

pub(crate) fn and(code: &mut Code<'_, '_>) -> Option<()> {
    let width = bits(code, true)?;
    code.each(width, |terms, [a, b]| terms.and(a, b))
}

pub(crate) fn or(code: &mut Code<'_, '_>) -> Option<()> {
    let width = bits(code, true)?;
    code.each(width, |terms, [a, b]| terms.or(a, b))
}

pub(crate) fn xor(code: &mut Code<'_, '_>) -> Option<()> {
    let width = bits(code, true)?;
    code.each(width, |terms, [a, b]| terms.xor(a, b))
}

pub(crate) fn not(code: &mut Code<'_, '_>) -> Option<()> {
    let width = bits(code, true)?;
    code.each(width, |terms, [a]| terms.not(a))
}

pub(crate) fn cnot(code: &mut Code<'_, '_>) -> Option<()> {
    let width = bits(code, false)?;
    code.each(width, |terms, [a]| {
        let zero = terms.constant(0, width);
        let empty = terms.equal(a, zero);
        terms.zero_extend(empty, width)
    })
}

/// For each bit, the bit at `4a + 2b + c` of the table. With `.or` or `.and` the destination is `d|p`: `p` says whether
/// `d` is not zero, combined with a predicate.
pub(crate) fn lop3(code: &mut Code<'_, '_>) -> Option<()> {
    let second = code.one_of(&SECONDS[..2]);
    if bits(code, false)? != 32 {
        return None;
    }
    let (target, [a, b, c, table], other) = if second.is_some() {
        let [target, a, b, c, table, other] = code.operands()?;
        (target, [a, b, c, table], Some(other))
    } else {
        let [target, a, b, c, table] = code.operands()?;
        (target, [a, b, c, table], None)
    };
    let table = crate::constant::value(code.module, table)?;
    let inputs = [code.value(a, 32)?, code.value(b, 32)?, code.value(c, 32)?];
    let result = by_table(code.terms, inputs, table & 0xff);
    let (Some(second), Some(other)) = (second, other) else { return code.write(target, result) };
    let [d, p] = code.module.children(target).try_into().ok()?;
    let other = code.value(other, 1)?;
    let zero = code.terms.constant(0, 32);
    let empty = code.terms.equal(result, zero);
    let some = code.terms.not(empty);
    let holds = second(code.terms, some, other);
    code.write(d, result)?;
    code.write(p, holds)
}

fn by_table(terms: &mut Terms, [a, b, c]: [Term; 3], table: u64) -> Term {
    let mut result = terms.constant(0, 32);
    for row in (0..8).filter(|row| table >> row & 1 == 1) {
        let mut product = terms.constant(u128::MAX, 32);
        for (input, bit) in [(a, 4), (b, 2), (c, 1)] {
            let factor = if row & bit == 0 { terms.not(input) } else { input };
            product = terms.and(product, factor);
        }
        result = terms.or(result, product);
    }
    result
}

/// A word as a shift amount of `width` bits; amounts above `width` become `width`, which shifts out every bit too.
fn amount(terms: &mut Terms, word: Term, width: u32) -> Term {
    if width >= 32 {
        return terms.zero_extend(word, width);
    }
    let most = terms.constant(width.into(), 32);
    let large = terms.unsigned_less(most, word);
    let least = terms.choose(large, most, word);
    terms.extract(least, 0, width)
}

fn shifted(code: &mut Code<'_, '_>, width: u32, shift: fn(&mut Terms, Term, Term) -> Term) -> Option<()> {
    let [d, a, b] = code.operands()?;
    let (a, b) = (code.value(a, width)?, code.value(b, 32)?);
    let amount = amount(code.terms, b, width);
    let result = shift(code.terms, a, amount);
    code.write(d, result)
}

pub(crate) fn shl(code: &mut Code<'_, '_>) -> Option<()> {
    let width = bits(code, false)?;
    shifted(code, width, Terms::shl)
}

pub(crate) fn shr(code: &mut Code<'_, '_>) -> Option<()> {
    let shape = code.plain_shape().filter(|shape| matches!(shape.bits, 16 | 32 | 64))?;
    shifted(code, shape.bits, if shape.signed() { Terms::ashr } else { Terms::lshr })
}

pub(crate) fn shf(code: &mut Code<'_, '_>) -> Option<()> {
    let left = code.one_of(&[("l", true), ("r", false)])?;
    let wrap = code.one_of(&[("wrap", true), ("clamp", false)])?;
    if bits(code, false)? != 32 {
        return None;
    }
    code.each(32, |terms, [low, high, count]| {
        let both = terms.concat(high, low);
        let count = if wrap {
            terms.extract(count, 0, 5)
        } else {
            let most = terms.constant(32, 32);
            let large = terms.unsigned_less(most, count);
            terms.choose(large, most, count)
        };
        let count = terms.zero_extend(count, 64);
        let moved = if left { terms.shl(both, count) } else { terms.lshr(both, count) };
        terms.extract(moved, if left { 32 } else { 0 }, 32)
    })
}

/// The lowest byte of a word, as wide as asked.
fn byte(terms: &mut Terms, word: Term, width: u32) -> Term {
    let low = terms.extract(word, 0, 8);
    terms.zero_extend(low, width)
}

/// Ones in the lowest places, as many as `count` says.
fn low_ones(terms: &mut Terms, count: Term) -> Term {
    let all = terms.constant(u128::MAX, terms.width(count));
    let above = terms.shl(all, count);
    terms.not(above)
}

pub(crate) fn bfe(code: &mut Code<'_, '_>) -> Option<()> {
    let shape = word(code, &[Kind::Unsigned, Kind::Signed])?;
    let width = shape.bits;
    let [d, a, position, length] = code.operands()?;
    let a = code.value(a, width)?;
    let (position, length) = (code.value(position, 32)?, code.value(length, 32)?);
    let terms = &mut *code.terms;
    let (position, length) = (byte(terms, position, width), byte(terms, length, width));
    let result = if !shape.signed() {
        let field = terms.lshr(a, position);
        let mask = low_ones(terms, length);
        terms.and(field, mask)
    } else if let Some((position, length)) = terms.value(position).zip(terms.value(length)) {
        fixed_signed_field(terms, a, position, length)
    } else {
        signed_field(terms, a, position, length)
    };
    code.write(d, result)
}

/// A signed field whose place is known: some bits, and copies of the highest of them above.
fn fixed_signed_field(terms: &mut Terms, a: Term, position: u128, length: u128) -> Term {
    let width = terms.width(a);
    if length == 0 {
        return terms.constant(0, width);
    }
    let least = |number: u128, bound: u32| u32::try_from(number).map_or(bound, |number| number.min(bound));
    // Bits beyond the highest one of the word are copies of it.
    let low = least(position, width - 1);
    let field = terms.extract(a, low, least(length, width - low));
    terms.sign_extend(field, width)
}

fn signed_field(terms: &mut Terms, a: Term, position: Term, length: Term) -> Term {
    let width = terms.width(a);
    let field = terms.lshr(a, position);
    let mask = low_ones(terms, length);
    let field = terms.and(field, mask);
    let sign = field_sign(terms, a, position, length);
    let fill = terms.not(mask);
    // Bits of the field beyond the highest bit of the word are copies of the sign too.
    let all = terms.constant(u128::MAX, width);
    let moved = terms.lshr(all, position);
    let missing = terms.not(moved);
    let fill = terms.or(fill, missing);
    let filled = terms.or(field, fill);
    terms.choose(sign, filled, field)
}

/// The bit that fills a signed field: its highest bit, or that of the word if the field reaches beyond it; zero if the
/// field is empty.
fn field_sign(terms: &mut Terms, a: Term, position: Term, length: Term) -> Term {
    let width = terms.width(a);
    let (zero, one) = (terms.constant(0, width), terms.constant(1, width));
    let end = terms.add(position, length);
    let last = terms.sub(end, one);
    let most = terms.constant((width - 1).into(), width);
    let over = terms.unsigned_less(most, last);
    let last = terms.choose(over, most, last);
    let moved = terms.lshr(a, last);
    let bit = terms.extract(moved, 0, 1);
    let empty = terms.equal(length, zero);
    let none = terms.bit(false);
    terms.choose(empty, none, bit)
}

pub(crate) fn bfi(code: &mut Code<'_, '_>) -> Option<()> {
    let width = word(code, &[Kind::Bits])?.bits;
    let [d, a, b, position, length] = code.operands()?;
    let (a, b) = (code.value(a, width)?, code.value(b, width)?);
    let (position, length) = (code.value(position, 32)?, code.value(length, 32)?);
    let terms = &mut *code.terms;
    let (position, length) = (byte(terms, position, width), byte(terms, length, width));
    let mask = low_ones(terms, length);
    let mask = terms.shl(mask, position);
    let field = terms.shl(a, position);
    let field = terms.and(field, mask);
    let rest = terms.not(mask);
    let kept = terms.and(b, rest);
    let result = terms.or(kept, field);
    code.write(d, result)
}

/// The modes of `prmt`: for each value of the lowest two bits of `c`, the selector.
const MODES: [(&str, [u16; 4]); 6] = [
    ("f4e", [0x3210, 0x4321, 0x5432, 0x6543]),
    ("b4e", [0x5670, 0x6701, 0x7012, 0x0123]),
    ("rc8", [0x0000, 0x1111, 0x2222, 0x3333]),
    ("ecl", [0x3210, 0x3211, 0x3222, 0x3333]),
    ("ecr", [0x0000, 0x1110, 0x2210, 0x3210]),
    ("rc16", [0x1010, 0x3232, 0x1010, 0x3232]),
];

pub(crate) fn prmt(code: &mut Code<'_, '_>) -> Option<()> {
    let mode = code.one_of(&MODES);
    if bits(code, false)? != 32 {
        return None;
    }
    code.each(32, |terms, [a, b, c]| {
        let pool = terms.concat(b, a);
        let selector = match mode {
            None => c,
            Some(selectors) => {
                let [k0, k1] = [0, 1].map(|bit| terms.extract(c, bit, 1));
                let [s0, s1, s2, s3] = selectors.map(|selector| terms.constant(selector.into(), 32));
                let (low, high) = (terms.choose(k0, s1, s0), terms.choose(k0, s3, s2));
                terms.choose(k1, high, low)
            }
        };
        let bytes = [0, 1, 2, 3].map(|lane| permuted(terms, pool, selector, lane));
        let low = terms.concat(bytes[1], bytes[0]);
        let high = terms.concat(bytes[3], bytes[2]);
        terms.concat(high, low)
    })
}

/// The byte that a nibble of the selector picks, or eight copies of that byte's highest bit.
fn permuted(terms: &mut Terms, pool: Term, selector: Term, lane: u32) -> Term {
    let [k0, k1, k2, replicate] = [0, 1, 2, 3].map(|bit| terms.extract(selector, 4 * lane + bit, 1));
    let pairs: [Term; 4] = [0, 1, 2, 3].map(|pair| {
        let (low, high) = (terms.extract(pool, 16 * pair, 8), terms.extract(pool, 16 * pair + 8, 8));
        terms.choose(k0, high, low)
    });
    let (low, high) = (terms.choose(k1, pairs[1], pairs[0]), terms.choose(k1, pairs[3], pairs[2]));
    let byte = terms.choose(k2, high, low);
    let sign = terms.extract(byte, 7, 1);
    let signs = terms.sign_extend(sign, 8);
    terms.choose(replicate, signs, byte)
}

/// How many bits are set, as a word.
fn ones_in(terms: &mut Terms, a: Term) -> Term {
    (0..terms.width(a)).fold(terms.constant(0, 32), |count, bit| {
        let bit = terms.extract(a, bit, 1);
        let bit = terms.zero_extend(bit, 32);
        terms.add(count, bit)
    })
}

/// The number of the highest bit that is set, as a word; `none` if no bit is.
fn highest(terms: &mut Terms, a: Term, none: Term) -> Term {
    (0..terms.width(a)).fold(none, |found, number| {
        let bit = terms.extract(a, number, 1);
        let number = terms.constant(number.into(), 32);
        terms.choose(bit, number, found)
    })
}

pub(crate) fn popc(code: &mut Code<'_, '_>) -> Option<()> {
    let width = word(code, &[Kind::Bits])?.bits;
    let [d, a] = code.operands()?;
    let a = code.value(a, width)?;
    let result = ones_in(code.terms, a);
    code.write(d, result)
}

pub(crate) fn clz(code: &mut Code<'_, '_>) -> Option<()> {
    let width = word(code, &[Kind::Bits])?.bits;
    let [d, a] = code.operands()?;
    let a = code.value(a, width)?;
    // With -1 for "no bit set", `width - 1 - found` is the width, as it should be for a word of zeros.
    let none = code.terms.constant(u128::MAX, 32);
    let found = highest(code.terms, a, none);
    let last = code.terms.constant((width - 1).into(), 32);
    let result = code.terms.sub(last, found);
    code.write(d, result)
}

pub(crate) fn brev(code: &mut Code<'_, '_>) -> Option<()> {
    let width = word(code, &[Kind::Bits])?.bits;
    code.each(width, |terms, [a]| reversed(terms, a))
}

/// The bits in the opposite order.
fn reversed(terms: &mut Terms, a: Term) -> Term {
    let width = terms.width(a);
    let lowest = terms.extract(a, width - 1, 1);
    (1..width).fold(lowest, |under, bit| {
        let above = terms.extract(a, width - 1 - bit, 1);
        terms.concat(above, under)
    })
}

pub(crate) fn bfind(code: &mut Code<'_, '_>) -> Option<()> {
    let as_amount = code.flag("shiftamt");
    let shape = word(code, &[Kind::Unsigned, Kind::Signed])?;
    let [d, a] = code.operands()?;
    let a = code.value(a, shape.bits)?;
    let terms = &mut *code.terms;
    let a = if shape.signed() {
        let sign = terms.extract(a, shape.bits - 1, 1);
        let flipped = terms.not(a);
        terms.choose(sign, flipped, a)
    } else {
        a
    };
    let none = terms.constant(u128::MAX, 32);
    let found = highest(terms, a, none);
    let result = if as_amount {
        let last = terms.constant((shape.bits - 1).into(), 32);
        let amount = terms.sub(last, found);
        let zero = terms.constant(0, shape.bits);
        let empty = terms.equal(a, zero);
        terms.choose(empty, none, amount)
    } else {
        found
    };
    code.write(d, result)
}

/// The place of the bit of `mask` that is set and the `offset`-th from `base` on, upwards, or downwards for a negative
/// offset; for zero `base` itself if its bit is set. All ones if there is none, and for a base above 31: the manual
/// leaves open what that gives, and the assembler folds it so.
pub(crate) fn fns(code: &mut Code<'_, '_>) -> Option<()> {
    if bits(code, false)? != 32 {
        return None;
    }
    code.each(32, |terms, [mask, base, offset]| {
        let zero = terms.constant(0, 32);
        let (one, last) = (terms.constant(1, 32), terms.constant(31, 32));
        let (here, down) = (terms.equal(offset, zero), terms.signed_less(offset, zero));
        // Searching downwards is searching upwards in the reversed word.
        let (turned_mask, turned_base) = (reversed(terms, mask), terms.sub(last, base));
        let turned_offset = terms.neg(offset);
        let (mask, base) = (terms.choose(down, turned_mask, mask), terms.choose(down, turned_base, base));
        let count = terms.choose(down, turned_offset, offset);
        let count = terms.choose(here, one, count);
        let (from, only) = (terms.constant(u128::MAX, 32), one);
        let window = terms.choose(here, only, from);
        let window = terms.shl(window, base);
        let candidates = terms.and(mask, window);
        let none = terms.constant(u128::MAX, 32);
        let place = nth_set(terms, candidates, count, none);
        let missing = terms.equal(place, none);
        let turned_place = terms.sub(last, place);
        let stays = terms.not(down);
        let stays = terms.or(stays, missing);
        terms.choose(stays, place, turned_place)
    })
}

/// The place of the `count`-th bit that is set, the lowest being the first; `none` if there is none.
fn nth_set(terms: &mut Terms, a: Term, count: Term, none: Term) -> Term {
    let (mut found, mut seen) = (none, terms.constant(0, 32));
    for place in 0..terms.width(a) {
        let bit = terms.extract(a, place, 1);
        let step = terms.zero_extend(bit, 32);
        seen = terms.add(seen, step);
        let enough = terms.equal(seen, count);
        let hit = terms.and(bit, enough);
        let place = terms.constant(place.into(), 32);
        found = terms.choose(hit, place, found);
    }
    found
}

/// A word used as a count: cut to five bits, or at most 32.
fn count(terms: &mut Terms, wrap: bool, word: Term) -> Term {
    if wrap {
        let low = terms.extract(word, 0, 5);
        return terms.zero_extend(low, 32);
    }
    let most = terms.constant(32, 32);
    let large = terms.unsigned_less(most, word);
    terms.choose(large, most, word)
}

pub(crate) fn szext(code: &mut Code<'_, '_>) -> Option<()> {
    let wrap = code.one_of(&[("wrap", true), ("clamp", false)])?;
    let shape = word(code, &[Kind::Unsigned, Kind::Signed]).filter(|shape| shape.bits == 32)?;
    code.each(32, |terms, [a, n]| {
        let n = count(terms, wrap, n);
        let mask = low_ones(terms, n);
        let kept = terms.and(a, mask);
        if !shape.signed() {
            return kept;
        }
        let zero = terms.constant(0, 32);
        let sign = field_sign(terms, a, zero, n);
        let above = terms.not(mask);
        let filled = terms.or(kept, above);
        terms.choose(sign, filled, kept)
    })
}

pub(crate) fn bmsk(code: &mut Code<'_, '_>) -> Option<()> {
    let wrap = code.one_of(&[("wrap", true), ("clamp", false)])?;
    if bits(code, false)? != 32 {
        return None;
    }
    code.each(32, |terms, [position, length]| {
        let (position, length) = (count(terms, wrap, position), count(terms, wrap, length));
        let ones = low_ones(terms, length);
        terms.shl(ones, position)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meaning::concrete::evaluate;

    #[test]
    fn signed_fields_are_the_same_whether_their_place_is_known() {
        for width in [32, 64] {
            let mut terms = Terms::new();
            let [a, position, length] = [0, 1, 2].map(|number| terms.input(number, width));
            let general = signed_field(&mut terms, a, position, length);
            for at in (0..70).chain([127, 128, 255]) {
                for bits in (0..70).chain([127, 128, 255]) {
                    let fixed = fixed_signed_field(&mut terms, a, at, bits);
                    for word in [0, 1, 0x80, 0xff, 0x7fff_ffff_8000_0000, 0x1234_5678_9abc_def0, u128::MAX] {
                        let word = word & (u128::MAX >> (128 - width));
                        let results = evaluate(&terms, &[general, fixed], &[word, at, bits]);
                        assert_eq!(results[0], results[1], "{bits} bits of {word:#x} from {at}");
                    }
                }
            }
        }
    }
}
