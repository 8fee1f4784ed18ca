//! Lanes that are extrema of numbers outside of lanes: `max(max(h - 11, e - 1), 0)`, as the recurrences of alignments have
//! them, where neither difference need be a lane.
//!
//! The nearest lane to the greater of two numbers is the greater of the lanes that are nearest to either, since to take the
//! nearest lane keeps numbers in order; and so it is with bounds that the extremum has already. So it is the extremum of
//! two lanes, each of which is bounded on its own, as the results of saturating sums and differences are.

use super::clamped::limits;
use super::pieces::Pieces;
use ptxopt_grammar::meaning::term::{Op, Term};
use ptxopt_grammar::video::Sign;

/// How many bounds of an extremum are looked through.
const MOST_BOUNDS: usize = 3;

/// The lesser or the greater of two numbers.
#[derive(Clone, Copy)]
struct Extremum {
    order: Order,
    of: [Term; 2],
}

/// Which of two numbers is taken, and how they are compared.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Order {
    is_greatest: bool,
    sign: Sign,
}

impl Pieces {
    /// A lane that is an extremum of numbers of which one may be no lane, as one of two lanes.
    pub(super) fn bounded_apart(&mut self, lane: Term) -> Option<Term> {
        let mut extremum = self.extremum_of_lane(lane)?;
        let sign = extremum.order.sign;
        let whole = self.taken(extremum);
        let within = self.sign_of_lane(whole)?;
        let mut bounds: Vec<(Order, Term)> = Vec::new();
        while let Some((number, bound)) = self.bound(extremum) {
            if bounds.len() == MOST_BOUNDS {
                return None;
            }
            bounds.push((extremum.order, bound));
            extremum = self.extremum(number).filter(|inner| inner.order.sign == sign)?;
        }
        if extremum.of.iter().all(|&number| self.sign_of_lane(number).is_some()) {
            return None;
        }
        let of = extremum.of.map(|number| {
            let inner_first = bounds.iter().rev();
            let bounded = inner_first
                .fold(number, |number, &(order, bound)| self.taken(Extremum { order, of: [number, bound] }));
            self.nearest_lane(bounded, within, sign)
        });
        if of.iter().any(|&number| self.sign_of_lane(number).is_none()) {
            return None;
        }
        let apart = self.taken(Extremum { of, ..extremum });
        Some(self.part(apart, 0, self.bits))
    }

    /// A comparison of a lane with a number that may lie beyond all lanes, on the side where it is not less than any of them,
    /// or not greater, as one of two lanes: so it is of the lane that is nearest to the number, too.
    pub(super) fn compared_with_nearest(&mut self, condition: Term) -> Option<Term> {
        let (sign, [less, greater]) = self.ordered(condition)?;
        let [fits, other] = [less, greater].map(|number| self.sign_of_lane(number));
        let is_least = fits.is_none();
        let (within, number) = fits.xor(other).zip(Some(if is_least { less } else { greater }))?;
        // A number that is compared with a constant is bounded by that, not compared.
        let is_constant = [less, greater].iter().any(|&of| self.terms.value(of).is_some());
        let fact = self.fact(number);
        let [least, most] = limits(within, self.bits).map(i128::from);
        let is_on_side = match (sign, is_least) {
            (Sign::Signed, true) => fact.signed().0 >= least,
            (Sign::Signed, false) => fact.signed().1 <= most,
            (Sign::Unsigned, _) => within == Sign::Unsigned && is_least,
        };
        if is_constant || !is_on_side {
            return None;
        }
        let nearest = self.nearest_lane(number, within, sign);
        self.sign_of_lane(nearest)?;
        Some(match is_least {
            true => self.is_less(sign, [nearest, greater]),
            false => self.is_less(sign, [less, nearest]),
        })
    }

    /// The lesser or the greater of two numbers of which a lane is the lowest bits.
    fn extremum_of_lane(&mut self, lane: Term) -> Option<Extremum> {
        let lowest = |pieces: &mut Self, number: Term| {
            let is_whole = pieces.terms.width(number) >= pieces.bits;
            is_whole.then(|| pieces.part(number, 0, pieces.bits))
        };
        self.extremum_by(lane, lowest)
    }

    fn extremum(&mut self, number: Term) -> Option<Extremum> {
        self.extremum_by(number, |_, number| Some(number))
    }

    /// A choice of one of two numbers that are compared, or of what either of them `is` in the choice.
    fn extremum_by(&mut self, choice: Term, is: fn(&mut Self, Term) -> Option<Term>) -> Option<Extremum> {
        let Op::Choose(condition, then, otherwise) = self.terms.op(choice) else { return None };
        let (sign, of) = self.ordered(condition)?;
        let made = of.map(|number| is(self, number));
        let is_greatest = made == [otherwise, then].map(Some);
        let is_least = made == [then, otherwise].map(Some);
        (is_greatest != is_least).then_some(Extremum { order: Order { is_greatest, sign }, of })
    }

    /// Which of two numbers is the lesser where a condition holds, and how they are compared.
    fn ordered(&mut self, condition: Term) -> Option<(Sign, [Term; 2])> {
        let op = self.terms.op(condition);
        if let Op::SignedLess(a, b) = op {
            Some((Sign::Signed, [a, b]))
        } else if let Op::UnsignedLess(a, b) = op {
            Some((Sign::Unsigned, [a, b]))
        } else if let Op::Extract(a, low) = op
            && low + 1 == self.terms.width(a)
        {
            // What is less than zero has its highest bit set.
            Some((Sign::Signed, [a, self.terms.constant(0, low + 1)]))
        } else {
            None
        }
    }

    fn is_less(&mut self, sign: Sign, [a, b]: [Term; 2]) -> Term {
        match sign {
            Sign::Unsigned => self.terms.unsigned_less(a, b),
            Sign::Signed => self.terms.signed_less(a, b),
        }
    }

    /// The number that an extremum bounds, and by which number it does.
    fn bound(&self, extremum: Extremum) -> Option<(Term, Term)> {
        let [a, b] = extremum.of;
        [(a, b), (b, a)].into_iter().find(|&(_, bound)| self.terms.value(bound).is_some())
    }

    /// The extremum as a term.
    fn taken(&mut self, Extremum { order, of: [a, b] }: Extremum) -> Term {
        let is_less = self.is_less(order.sign, [a, b]);
        let [then, otherwise] = if order.is_greatest { [b, a] } else { [a, b] };
        self.terms.choose(is_less, then, otherwise)
    }

    /// The lane that is nearest to a number: bounded where it may be too small or too large for one.
    fn nearest_lane(&mut self, mut number: Term, within: Sign, sign: Sign) -> Term {
        let limits = limits(within, self.bits).map(i128::from);
        for (is_greatest, limit) in [true, false].into_iter().zip(limits) {
            let fact = self.fact(number);
            let fits = match (sign, is_greatest) {
                (Sign::Signed, true) => fact.signed().0 >= limit,
                (Sign::Signed, false) => fact.signed().1 <= limit,
                (Sign::Unsigned, true) => limit <= 0 || fact.unsigned().0 >= limit.cast_unsigned(),
                (Sign::Unsigned, false) => fact.unsigned().1 <= limit.cast_unsigned(),
            };
            if !fits {
                let limit = self.terms.constant(limit.cast_unsigned(), self.terms.width(number));
                number = self.taken(Extremum { order: Order { is_greatest, sign }, of: [number, limit] });
            }
        }
        number
    }
}
