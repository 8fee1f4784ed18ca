//! Quotients as bits of smaller products.
//!
//! Compilers divide by a number by multiplying with its reciprocal, of as many bits as any dividend of 16 or 32 bits asks
//! for, and the product leaves a half. A dividend that is a byte, or little more, asks for fewer: `x / 10` is
//! `x * 52429 >> 19` of 16 bits and `x * 205 >> 11` of eight. Both are compared for all dividends.

use super::super::words::Words;
use ptxopt_grammar::meaning::term::{Op, Term};

/// The greatest dividend for which a smaller factor is looked for.
const MOST: u64 = 0xfff;

/// A product of a number that is not negative, by its factor, and the first of its bits that are taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Product {
    factor: u64,
    low: u32,
}

impl Product {
    /// The bits of the product with a number.
    fn of(self, number: u64) -> Option<u64> {
        number.checked_mul(self.factor)?.checked_shr(self.low)
    }

    /// The same bits of a product that fits into a half, of all numbers up to the greatest one.
    fn within_half(self, greatest: u64) -> Option<Self> {
        (0..self.low.min(u16::BITS)).rev().find_map(|low| {
            let factor = (self.factor >> (self.low - low)) + 1;
            let fits = greatest.checked_mul(factor)? <= u16::MAX.into();
            let smaller = Self { factor, low };
            (fits && (0..=greatest).all(|number| self.of(number) == smaller.of(number))).then_some(smaller)
        })
    }
}

impl Words {
    /// Bits of a product, from `low` on, as those of one that fits into a half, if they are the same.
    pub(super) fn of_smaller_product(&mut self, of: Term, low: u32) -> Option<(Term, u32)> {
        let terms = &self.pieces.terms;
        let Op::Mul(a, b) = terms.op(of) else { return None };
        let (number, factor) = match (terms.value(a), terms.value(b)) {
            (_, Some(factor)) => (a, factor),
            (Some(factor), _) => (b, factor),
            (None, None) => return None,
        };
        let product = Product { factor: u64::try_from(factor).ok()?, low };
        let greatest = u64::try_from(self.pieces.fact(number).unsigned().1).ok()?;
        // The product must be all of it.
        let width = self.pieces.terms.width(of);
        let is_whole =
            greatest.checked_mul(product.factor)?.checked_shr(width).is_none_or(|above| above == 0);
        if greatest > MOST || !is_whole {
            return None;
        }
        let smaller = product.within_half(greatest)?;
        let factor = self.pieces.terms.constant(smaller.factor.into(), width);
        Some((self.pieces.terms.mul(number, factor), smaller.low))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn smaller(factor: u64, low: u32, greatest: u64) -> Option<(u64, u32)> {
        Product { factor, low }.within_half(greatest).map(|product| (product.factor, product.low))
    }

    #[test]
    fn reciprocals_of_bytes_are_short() {
        assert_eq!(smaller(52429, 19, 255), Some((205, 11)));
        assert_eq!(smaller(43691, 17, 255), Some((171, 9)));
        assert_eq!(smaller(0xcccd, 18, 255), Some((205, 10)));
    }

    #[test]
    fn a_dividend_that_asks_for_more_has_none() {
        assert_eq!(smaller(0x8e39, 18, 9 * 255), None);
        assert_eq!(smaller(52429, 19, 4 * 255), None);
    }
}
