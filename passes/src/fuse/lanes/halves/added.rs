//! Weighted sums of numbers as halves.
//!
//! A word that holds two numbers is a number itself, so sums of such words are sums of both as long as each result fits
//! into its half. What is too large for that is clamped first, where all that is too large gives the same in the end.

use super::super::scaled::BOTH;
use super::super::words::Words;
use super::biased::{BIAS, Extremum, Halves, bias_of, constant, fit};
use super::{DEEPEST, Limits, NONE, Numbers};
use crate::recipe::Step;
use ptxopt_grammar::meaning::term::{Op, Term, ones, signed};
use ptxopt_grammar::table::instruction::op;

/// The most addends of a sum.
const MOST_ADDENDS: usize = 8;

/// A weighted sum of numbers.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
struct Weighted {
    number: i64,
    addends: Vec<(i64, Term)>,
}

impl Words {
    /// Weighted sums.
    pub(super) fn added_in_halves(
        &mut self,
        numbers: &Numbers,
        wanted: Limits,
        depth: usize,
    ) -> Option<Halves> {
        let (number, addends) = self.sums(numbers)?;
        let mut all = Vec::with_capacity(addends.len());
        for (weight, addend) in addends {
            // How far beyond its limits an addend lies makes no difference to the result.
            let wanted = if weight == 1 { self.wanted_of(&addend, numbers, wanted)? } else { NONE };
            all.push((weight, self.within(&addend, wanted, depth + 1)?));
        }
        let own = self.limits(numbers)?;
        let mut limits = sum_of(number, &all);
        if fit(&own) {
            limits = [limits[0].max(own[0]), limits[1].min(own[1])];
        } else if !fit(&limits) {
            self.clamp_one(&mut all, number, wanted)?;
            limits = sum_of(number, &all);
        }
        if !fit(&limits) {
            return None;
        }
        let whole = limits;
        // One signed number is added last, by an instruction that takes such numbers.
        let mut signed = None;
        let is_one = all.iter().filter(|(_, halves)| halves.is_signed()).count() == 1 && all.len() > 1;
        if let Some(at) = all.iter().position(|&(weight, halves)| is_one && weight == 1 && halves.is_signed())
        {
            signed = Some(all.remove(at).1);
            limits = Some(sum_of(number, &all)).filter(fit)?;
        }
        for (_, halves) in &mut all {
            *halves = self.without_signs(*halves);
        }
        let bias = bias_of(limits);
        // Words are numbers without what does not fit into them.
        let number = all.iter().fold(number.wrapping_add(bias), |sum, (weight, halves)| {
            sum.wrapping_sub(weight.wrapping_mul(halves.bias))
        });
        // What is added as it is comes first, so that a product is added as it is computed.
        all.sort_by_key(|&(weight, _)| weight != 1);
        let words = [0, 1].map(|which| {
            let mut total = (number != 0).then(|| constant(number.wrapping_mul(BOTH)));
            for &(weight, halves) in &all {
                let weight = (weight != 1).then(|| constant(weight));
                total = Some(self.plus(total, halves.words[which], weight));
            }
            total.expect("there is an addend")
        });
        let Some(signed) = signed else { return Some(Halves { words, bias, limits }) };
        let words = [0, 1].map(|at| self.push(Step::plain(op::ADD_S16X2, &[words[at], signed.words[at]])));
        Some(Halves { words, bias, limits: whole })
    }

    /// What all numbers are weighted sums of: the same number, and numbers with the same weights.
    fn sums(&mut self, numbers: &Numbers) -> Option<(i64, Vec<(i64, Numbers)>)> {
        let mut sums: Vec<Option<Weighted>> = Vec::with_capacity(numbers.len());
        for &number in numbers {
            let Some(number) = number else {
                sums.push(None);
                continue;
            };
            let mut sum = Weighted::default();
            self.add_up(number, 1, 0, &mut sum)?;
            sum.addends.retain(|&(weight, _)| weight != 0);
            if sum.addends.is_empty() || sum.addends == [(1, number)] && sum.number == 0 {
                return None;
            }
            sum.addends.sort_by_key(|&(weight, addend)| (weight, self.place_of(addend)));
            sums.push(Some(sum));
        }
        let first = sums.iter().flatten().next()?.clone();
        let weights = |sum: &Weighted| sum.addends.iter().map(|&(weight, _)| weight).collect::<Vec<_>>();
        if sums.iter().flatten().any(|sum| sum.number != first.number || weights(sum) != weights(&first)) {
            return None;
        }
        let of_each = |(at, &(weight, _)): (usize, &(i64, Term))| {
            (weight, sums.iter().map(|sum| sum.as_ref().map(|sum| sum.addends[at].1)).collect())
        };
        Some((first.number, first.addends.iter().enumerate().map(of_each).collect()))
    }

    /// Within which limits an addend must be known for the sum to be.
    fn wanted_of(&mut self, addend: &Numbers, numbers: &Numbers, wanted: Limits) -> Option<Limits> {
        let ([least, most], [sum_least, sum_most]) = (self.limits(addend)?, self.limits(numbers)?);
        // What else is added.
        let [other_least, other_most] = [sum_least - least, sum_most - most];
        let is_known = other_least <= other_most;
        Some(match is_known {
            true => [wanted[0].saturating_sub(other_most), wanted[1].saturating_sub(other_least)],
            false => NONE,
        })
    }

    /// Clamps a number of a sum, so that the sum fits into halves and is what it was within some limits.
    fn clamp_one(&mut self, all: &mut [(i64, Halves)], number: i64, wanted: Limits) -> Option<()> {
        let spread = |at: &usize| {
            let (weight, halves) = &all[*at];
            if *weight == 1 { halves.limits[1] - halves.limits[0] } else { -1 }
        };
        let at = (0..all.len()).max_by_key(spread).filter(|&at| all[at].0 == 1)?;
        let others: Vec<_> =
            all.iter().enumerate().filter(|&(other, _)| other != at).map(|(_, &it)| it).collect();
        let [other_least, other_most] = sum_of(number, &others);
        let least = (-BIAS).checked_sub(other_least)?;
        let most = (BIAS - 1).checked_sub(other_most)?;
        if most < wanted[1].saturating_sub(other_least) || least > wanted[0].saturating_sub(other_most) {
            return None;
        }
        let mut halves = all[at].1;
        let too_large = (Extremum::Least, most, halves.limits[1] > most);
        let too_small = (Extremum::Greatest, least, halves.limits[0] < least);
        for (extremum, limit, _) in [too_large, too_small].into_iter().filter(|&(_, _, is)| is) {
            halves = self.extremum_of_halves(extremum, [halves, Halves::of(limit)])?;
        }
        all[at].1 = halves;
        Some(())
    }

    /// Where what a number is made of lies, so that the numbers of all lanes are in the same order.
    fn place_of(&self, number: Term) -> impl Ord + use<> {
        let inputs = self.pieces.inputs_of(number);
        let place = |input: Term| self.pieces.homes(input).map(|(word, _)| word).next();
        let count = inputs.len();
        (count, inputs.into_iter().map(place).min())
    }

    /// Adds a number times a weight to a sum, as what it is the sum of.
    fn add_up(&mut self, number: Term, weight: i64, depth: usize, sum: &mut Weighted) -> Option<()> {
        if depth == DEEPEST {
            return None;
        }
        self.wide.look()?;
        let is_distance = self.is_distance(number);
        let terms = &self.pieces.terms;
        let (op, width) = (terms.op(number), terms.width(number));
        let most = 1_i64 << (width.min(48) - 1);
        let fits = |[least, greatest]: Limits| least >= -most && greatest < most;
        if let Some(value) = terms.value(number) {
            let value = i64::try_from(signed(value, width)).ok()?;
            sum.number = sum.number.checked_add(weight.checked_mul(value)?)?;
            return Some(());
        }
        if let Op::Add(a, b) = op
            && !is_distance
        {
            let (one, other) = (self.limits_of(a)?, self.limits_of(b)?);
            if fits([one[0] + other[0], one[1] + other[1]]) {
                self.add_up(a, weight, depth + 1, sum)?;
                return self.add_up(b, weight, depth + 1, sum);
            }
        } else if let Op::Mul(..) = op {
            if let Some((of, factor)) = self.multiple(number) {
                let factor = i64::try_from(signed(factor, width)).ok()?;
                let [least, greatest] = self.limits_of(of)?;
                let ends = [least.checked_mul(factor)?, greatest.checked_mul(factor)?];
                if fits([ends[0].min(ends[1]), ends[0].max(ends[1])]) {
                    return self.add_up(of, weight.checked_mul(factor)?, depth + 1, sum);
                }
            }
        } else if let Op::Not(inner) = op {
            sum.number = sum.number.checked_sub(weight)?;
            return self.add_up(inner, weight.checked_neg()?, depth + 1, sum);
        } else if let Op::SignExtend(inner) = op {
            if terms.width(inner) > self.lanes.bits() && !matches!(terms.op(inner), Op::Extract(..)) {
                return self.add_up(inner, weight, depth + 1, sum);
            }
        } else if let Op::ZeroExtend(inner) = op {
            if let Op::Concat(high, low) = terms.op(inner)
                && terms.value(low) == Some(0)
            {
                let up = terms.width(low);
                let high = self.pieces.terms.zero_extend(high, width);
                return self.add_up(high, weight.checked_mul(1 << up)?, depth + 1, sum);
            }
            if terms.width(inner) > self.lanes.bits()
                && !matches!(terms.op(inner), Op::Extract(..))
                && self.limits_of(inner)?[0] >= 0
            {
                return self.add_up(inner, weight, depth + 1, sum);
            }
            if let Some((of, factor)) = self.whole_multiple(inner) {
                let of = self.pieces.terms.zero_extend(of, width);
                return self.add_up(of, weight.checked_mul(factor)?, depth + 1, sum);
            }
        } else if let Op::Extract(inner, 0) = op {
            if fits(self.limits_of(inner)?) {
                return self.add_up(inner, weight, depth + 1, sum);
            }
        } else if let Op::Concat(high, low) = op
            && terms.value(low) == Some(0)
        {
            let weight = weight.checked_mul(1 << terms.width(low))?;
            let half = 1_i64 << (terms.width(high).min(48) - 1);
            // A number that is shifted loses its highest bits, which may be copies of its sign.
            if let Op::Extract(whole, 0) = terms.op(high)
                && terms.width(whole) == width
                && self.limits_of(whole).is_some_and(|[least, most]| least >= -half && most < half)
            {
                return self.add_up(whole, weight, depth + 1, sum);
            }
            let high = self.pieces.terms.sign_extend(high, width);
            return self.add_up(high, weight, depth + 1, sum);
        }
        if let Some(same) = sum.addends.iter_mut().find(|(_, addend)| *addend == number) {
            same.0 = same.0.checked_add(weight)?;
        } else if sum.addends.len() < MOST_ADDENDS {
            sum.addends.push((weight, number));
        } else {
            return None;
        }
        Some(())
    }

    /// What a number is a multiple of, if that has no more bits as a number that is not negative; and which multiple.
    fn whole_multiple(&mut self, number: Term) -> Option<(Term, i64)> {
        let (of, factor) = self.multiple(number)?;
        let greatest = self.pieces.fact(of).unsigned().1.checked_mul(factor)?;
        (greatest <= ones(self.pieces.terms.width(number))).then_some((of, i64::try_from(factor).ok()?))
    }
}

/// What a weighted sum can be.
fn sum_of(number: i64, addends: &[(i64, Halves)]) -> Limits {
    addends.iter().fold([number; 2], |[least, most], (weight, halves)| {
        let [one, other] = halves.limits.map(|limit| limit.saturating_mul(*weight));
        [least.saturating_add(one.min(other)), most.saturating_add(one.max(other))]
    })
}
