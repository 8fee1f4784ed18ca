//! Quotients as bits of smaller products.
//!
//! Compilers divide by a number by multiplying with its reciprocal, of as many bits as any dividend of 16 or 32 bits asks
//! for, and the product leaves a half. A dividend that is a byte, or little more, asks for fewer: `x / 10` is
//! `x * 52429 >> 19` of 16 bits and `x * 205 >> 11` of eight. Both are compared for all dividends.

use super::super::scaled::WORD;
use super::super::words::Words;
use super::Limits;
use ptxopt_grammar::meaning::term::{Op, Term, signed};

/// How far from zero a dividend may be for which a smaller factor is looked for.
const MOST: i64 = 0xfff;

/// A product with a factor, and the first of its bits that are taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Product {
    factor: i64,
    low: u32,
}

impl Product {
    /// The bits of the product with a number, rounded down.
    const fn of(self, number: i64) -> i64 {
        (number * self.factor) >> self.low
    }

    /// The same bits of a product that fits into a half, of all numbers within limits.
    fn within_half(self, [least, most]: Limits) -> Option<Self> {
        let half = if least < 0 { i16::MIN.into()..=i16::MAX.into() } else { 0..=i64::from(u16::MAX) };
        (0..self.low.min(u16::BITS)).rev().find_map(|low| {
            let smaller = Self { factor: (self.factor >> (self.low - low)) + 1, low };
            let fits = [least, most].iter().all(|number| half.contains(&(number * smaller.factor)));
            (fits && (least..=most).all(|number| self.of(number) == smaller.of(number))).then_some(smaller)
        })
    }
}

impl Words {
    /// What a number is a product of with a constant, and that.
    pub(super) fn multiple(&self, number: Term) -> Option<(Term, u128)> {
        let terms = &self.pieces.terms;
        let Op::Mul(a, b) = terms.op(number) else { return None };
        [(a, b), (b, a)].into_iter().find_map(|(of, by)| Some((of, terms.value(by)?)))
    }

    /// Bits of a product, from `low` on, as those of one that fits into a half, if they are the same.
    pub(super) fn of_smaller_product(&mut self, of: Term, low: u32) -> Option<(Term, u32)> {
        let (number, factor) = self.multiple(of)?;
        let width = self.pieces.terms.width(of);
        let factor = i64::try_from(signed(factor, width)).ok().filter(|factor| *factor > 0)?;
        let (least, most) = self.pieces.fact(number).signed();
        let limits @ [least, most] = [i64::try_from(least).ok()?, i64::try_from(most).ok()?];
        // The product must be all of it, with its sign.
        let end = 1_i64 << (width - 1).min(i64::BITS - 2);
        let is_whole = |number: i64| number.checked_mul(factor).is_some_and(|it| it >= -end && it < end);
        if least < -MOST || most > MOST || !is_whole(least) || !is_whole(most) {
            return None;
        }
        let smaller = Product { factor, low }.within_half(limits)?;
        let terms = &mut self.pieces.terms;
        let number = terms.extract(number, 0, width.min(WORD));
        let factor = terms.constant(u128::try_from(smaller.factor).ok()?, width.min(WORD));
        Some((terms.mul(number, factor), smaller.low))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn smaller(factor: i64, low: u32, limits: Limits) -> Option<(i64, u32)> {
        Product { factor, low }.within_half(limits).map(|product| (product.factor, product.low))
    }

    #[test]
    fn reciprocals_of_bytes_are_short() {
        assert_eq!(smaller(52429, 19, [0, 255]), Some((205, 11)));
        assert_eq!(smaller(43691, 17, [0, 255]), Some((171, 9)));
        assert_eq!(smaller(0xcccd, 18, [0, 255]), Some((205, 10)));
    }

    #[test]
    fn those_of_signed_bytes_round_down_too() {
        assert_eq!(smaller(0x5556, 16, [-128, 127]), Some((171, 9)));
    }

    #[test]
    fn a_dividend_that_asks_for_more_has_none() {
        assert_eq!(smaller(0x8e39, 18, [0, 9 * 255]), None);
        assert_eq!(smaller(52429, 19, [0, 4 * 255]), None);
        assert_eq!(smaller(0x5556, 16, [-1024, 1023]), None);
    }
}
