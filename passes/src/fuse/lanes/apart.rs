//! Comparisons of how far two lanes are apart, as compilers write them: `|a - b| < 12` is `a - b + 11 < 23`, without a
//! sign, since all that lies on one side of the range wraps around.

use super::pieces::Pieces;
use ptxopt_grammar::meaning::term::{Op, Term, ones};

/// The most terms of a sum that is looked at, of which a difference and a number have seven.
const MOST_TERMS: usize = 8;

/// Two terms of which one is taken from the other, and a number that is added.
struct Apart {
    from: Term,
    less: Term,
    number: u128,
}

impl Pieces {
    /// A comparison of two numbers without a sign, the first less than the second, as one of how far two lanes are
    /// apart, if it is such.
    pub(super) fn compared_apart(&mut self, [a, b]: [Term; 2]) -> Option<Term> {
        let all = ones(self.terms.width(a));
        // Less than so many; what is greater than a number is not less than the next one.
        let (sum, below, inverted) = match (self.terms.value(a), self.terms.value(b)) {
            (None, Some(below)) => (a, below, false),
            (Some(most), None) if most < all => (b, most + 1, true),
            _ => return None,
        };
        let Apart { from, less, number } = self.apart(sum)?;
        // Numbers that wrap around are those between -number and below - number - 1; or all others are these.
        let beyond = !number & all;
        let (most, inside) = if below == 2 * number + 1 {
            (number, true)
        } else if below.wrapping_sub(number) & all == beyond.wrapping_neg() & all {
            (beyond, false)
        } else {
            return None;
        };
        if most >= ones(self.bits) {
            return None;
        }
        let bits = self.bits;
        let [x, y] = [from, less].map(|of| self.part(of, 0, bits));
        let terms = &mut self.terms;
        let is_less = terms.unsigned_less(x, y);
        let [up, down] = [terms.sub(y, x), terms.sub(x, y)];
        let distance = terms.choose(is_less, up, down);
        let below = terms.constant(most + 1, bits);
        let is_near = terms.unsigned_less(distance, below);
        Some(if inverted == inside { terms.not(is_near) } else { is_near })
    }

    /// Whether a sum is the difference of two numbers that fit a lane, with or without a number that is added.
    pub(super) fn is_difference(&mut self, sum: Term) -> bool {
        matches!(self.terms.op(sum), Op::Add(..)) && self.apart(sum).is_some()
    }

    /// A sum as the difference of two numbers that fit a lane, and a number.
    fn apart(&mut self, sum: Term) -> Option<Apart> {
        let width = self.terms.width(sum);
        let (mut from, mut less, mut number) = (None, None, 0_u128);
        let mut waiting = vec![sum];
        let mut left = MOST_TERMS;
        while let Some(term) = waiting.pop() {
            left = left.checked_sub(1)?;
            let op = self.terms.op(term);
            if let Op::Add(a, b) = op {
                waiting.extend([a, b]);
            } else if let Op::Constant(value) = op {
                number = number.wrapping_add(value);
            } else if let Op::Not(inner) = op {
                // The complement is one less than the negated number.
                number = number.wrapping_sub(1);
                less.replace(inner).is_none().then_some(())?;
            } else {
                from.replace(term).is_none().then_some(())?;
            }
        }
        let (from, less) = (from?, less?);
        [from, less].into_iter().all(|of| self.fits_lane(of)).then_some(())?;
        Some(Apart { from, less, number: number & ones(width) })
    }
}
