//! Bits that are extracted from sums and products, as sums of no more than they need.
//!
//! Arithmetic modulo a power of two: the lowest bits of a sum or a product are those of the lowest bits of its operands,
//! and bits in the middle are whole units and the carries from below. So the same bits are the same gates, whether the
//! words that they come from were made with 16 bits or with 32, alone or side by side.

use super::aig::{Lit, Watch};
use super::canonical::{Kind, Word};
use super::linear::Linear;
use super::words::Circuit;
use ptxopt_grammar::meaning::term::ones;

/// How many sums of sums are taken apart, one in the other.
const MOST_SUMS: u32 = 6;

impl<W: Watch> Circuit<'_, W> {
    /// Bits of a sum as a sum of whole units and carries, or of the lane that they lie in.
    pub(super) fn apart(&mut self, at: u32, low: u32, width: u32) -> Option<Linear> {
        let (at, low) = self.behind_moves(at, low, width);
        let lowest = self.lowest(at, low + width, MOST_SUMS);
        let sum = lowest.as_ref().or(self.linear[at as usize].as_ref())?;
        sum.above(low, width).or_else(|| sum.lane(low, width, &mut self.graph))
    }

    /// The word from which these bits of a word are moved, and where they are there.
    pub(super) fn behind_moves(&self, at: u32, low: u32, width: u32) -> (u32, u32) {
        let (mut at, mut low) = (at, low);
        loop {
            let word = self.cone.words[at as usize];
            let [a, b, _] = word.operands;
            let width_of = |at: u32| self.cone.words[at as usize].width;
            (at, low) = match word.kind {
                Kind::Extract => (a, low + u32::try_from(word.low()).expect("a bit's number is small")),
                Kind::Concat if low >= width_of(b) => (a, low - width_of(b)),
                Kind::Concat if low + width <= width_of(b) => (b, low),
                Kind::ZeroExtend | Kind::SignExtend if low + width <= width_of(a) => (a, low),
                Kind::Input
                | Kind::Constant
                | Kind::Not
                | Kind::And
                | Kind::Or
                | Kind::Xor
                | Kind::Add
                | Kind::Mul
                | Kind::UnsignedDivide
                | Kind::UnsignedRemainder
                | Kind::Shl
                | Kind::Lshr
                | Kind::Ashr
                | Kind::Concat
                | Kind::ZeroExtend
                | Kind::SignExtend
                | Kind::Equal
                | Kind::UnsignedLess
                | Kind::SignedLess
                | Kind::Choose => return (at, low),
            };
        }
    }

    /// The same bits where they are, with zeros around them, if the mask of a word is one run of ones.
    pub(super) fn apart_in_place(&mut self, a: u32, b: u32) -> Option<Vec<Lit>> {
        let (sum, mask) = self.cone.with_constant(a, b).filter(|_| self.takes_apart())?;
        let (low, count) = (mask.trailing_zeros(), mask.count_ones());
        if count == 0 || mask >> low != ones(count) {
            return None;
        }
        let middle = self.apart(sum, low, count)?.bits(&mut self.graph);
        let mut bits = vec![Lit::FALSE; low as usize];
        bits.extend(middle);
        bits.resize(self.cone.words[sum as usize].width as usize, Lit::FALSE);
        Some(bits)
    }

    /// The lowest bits of a sum or a product of words which were extended from at least as many bits: they are the sum
    /// or the product of the lowest bits of the words, even where the extended ones are no sums. `None` if there is no
    /// such word in it, or if the product is too large to be taken apart.
    fn lowest(&mut self, at: u32, width: u32, depth: u32) -> Option<Linear> {
        let Word { kind, operands: [a, b, _], .. } = self.cone.words[at as usize];
        if matches!(kind, Kind::ZeroExtend | Kind::SignExtend) {
            let inner = self.linear[a as usize].as_ref().filter(|inner| inner.width() >= width)?;
            return Some(inner.cut(width));
        }
        if !matches!(kind, Kind::Add | Kind::Mul) || depth == 0 {
            return None;
        }
        let [x, y] = [a, b].map(|part| self.lowest(part, width, depth - 1));
        if x.is_none() && y.is_none() {
            return None;
        }
        let x = x.unwrap_or_else(|| self.as_linear(a).cut(width));
        let y = y.unwrap_or_else(|| self.as_linear(b).cut(width));
        if kind == Kind::Add {
            return Some(x.plus(&y));
        }
        x.may_multiply(&y).then(|| x.times(&y, &mut self.graph))
    }
}
