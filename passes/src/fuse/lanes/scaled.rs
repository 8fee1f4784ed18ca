//! Lanes that are weighted sums of other lanes, as the filters and blends of images have them.
//!
//! Two lanes of a word are far enough apart for sums of 16 bits: the even ones are kept as halves of one word, the odd
//! ones as halves of another, and a multiplication of such a word by a number multiplies both. What is in a half stays
//! there if no sum is negative or has more than 16 bits; that is why the weights are taken together and the least and
//! the greatest sum computed. Lanes with a sign have 128 added first, and sums that may be negative a number that leaves
//! the bits of the lane as they are. A lane may also be multiplied by a register that is the same for all lanes, as where an
//! image is faded, or a pixel is multiplied by its own alpha. Halves that are divided by 255 get their own upper bytes
//! added, and are divided by 256.

use super::addends::{Addend, Scaled, of_each};
use super::words::{Way, Words};
use crate::graph::ValueId;
use crate::recipe::{Source, Step};
use ptxopt_grammar::meaning::term::{Op, Term, ones};
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::video::Lanes;

/// Of how many numbers the factors of a sum may be made.
const MOST_NUMBERS: usize = 2;

/// How many bits a word has.
pub(super) const WORD: u32 = 32;

/// The lanes of a word, the even ones and the odd ones.
const EVEN: u64 = 0x00ff_00ff;
const ODD: u64 = 0x4341;

/// Once in each half.
pub(super) const BOTH: i64 = 0x0001_0001;

/// `constant + slope * number`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Affine {
    constant: i64,
    slope: i64,
    number: Term,
}

impl Affine {
    fn at(self, number: i64) -> Option<i64> {
        self.slope.checked_mul(number)?.checked_add(self.constant)
    }
}

/// What the lanes of a word are multiplied by.
#[derive(Clone, Copy)]
pub(super) enum Weight {
    Number(i64),
    Register(Source),
}

impl Words {
    /// A word of which at least three lanes are the same weighted sum of lanes of other words, and the others are
    /// there or can be made.
    pub(super) fn scaled(&mut self, lanes: &[Option<Term>], depth: usize) -> Option<Source> {
        if self.lanes != Lanes::Four || lanes.iter().flatten().count() < 3 {
            return None;
        }
        let mut all: Vec<Option<Scaled>> = lanes.iter().map(|lane| self.sum_of((*lane)?)).collect();
        self.orient(&mut all);
        let wanted = lanes.iter().flatten().count().min(3);
        let alike = |all: &[Option<Scaled>], is_alike: fn(&Scaled, &Scaled) -> bool| {
            let first = all.iter().flatten().next()?;
            let alike = |sum: &Option<Scaled>| sum.clone().filter(|sum| is_alike(sum, first));
            let alike: Vec<Option<Scaled>> = all.iter().map(alike).collect();
            (alike.iter().flatten().count() >= wanted).then_some(alike)
        };
        let (all, word) = if let Some(all) = alike(&all, Scaled::has_weights_of) {
            let word = match self.numbers_of_lanes(&all) {
                Some(numbers) => self.in_halves(&all, numbers, depth)?,
                None => self.is_made(Way::OneByOne).then(|| self.blended(&all, depth))??,
            };
            (all, word)
        } else {
            self.orient_words(&mut all);
            let all = alike(&all, Scaled::is_shaped_as)?;
            let word = self.is_made(Way::OneByOne).then(|| self.multiplied_lane_by_lane(&all, depth))??;
            (all, word)
        };
        let rest: Vec<Option<Term>> =
            lanes.iter().zip(&all).map(|(lane, sum)| lane.filter(|_| sum.is_none())).collect();
        self.merged(word, &rest, depth)
    }

    /// What is added in each lane to sums that stay in halves then.
    fn numbers_of_lanes(&mut self, all: &[Option<Scaled>]) -> Option<[i64; 4]> {
        let mut numbers = [None; 4];
        for (number, sum) in numbers.iter_mut().zip(all) {
            if let Some(sum) = sum {
                *number = Some(sum.number + self.added(sum)?);
            }
        }
        // A lane that may be anything gets what another one gets.
        let any = numbers.into_iter().flatten().next()?;
        Some(numbers.map(|number| number.unwrap_or(any)))
    }

    /// The word whose lanes are these sums, which differ in nothing but their lanes and what is added to them: two at a
    /// time as halves, in which they stay with these numbers added.
    fn in_halves(&mut self, all: &[Option<Scaled>], numbers: [i64; 4], depth: usize) -> Option<Source> {
        let first = all.iter().flatten().next()?;
        let mut words = Vec::with_capacity(first.addends.len());
        for (at, &addend) in first.addends.iter().enumerate() {
            let weight = self.weight(addend, depth)?;
            let lanes = of_each(all, |sum| sum.addends[at].lane);
            words.push((weight, self.word(&lanes, depth + 1)?));
        }
        let both = |low: i64, high: i64| low + (high << 16);
        let even = self.added_up(&words, both(numbers[0], numbers[2]), Self::even_lanes);
        let odd = self.added_up(&words, both(numbers[1], numbers[3]), Self::odd_lanes);
        let (mut even, mut odd) = (even?, odd?);
        if first.division.is_some() {
            (even, odd) = (self.folded(even), self.folded(odd));
        }
        Some(self.interleaved(even, odd, first.shift))
    }

    /// What the lanes of an addend are multiplied by.
    pub(super) fn weight(&mut self, addend: Addend, depth: usize) -> Option<Weight> {
        Some(match addend.factor {
            None => Weight::Number(addend.weight),
            Some(factor) => Weight::Register(self.factor(factor, depth)?),
        })
    }

    /// The word with some lanes from elsewhere.
    pub(super) fn merged(&mut self, word: Source, rest: &[Option<Term>], depth: usize) -> Option<Source> {
        if rest.iter().all(Option::is_none) {
            return Some(word);
        }
        let other = self.word(rest, depth + 1)?;
        let places = rest.iter().zip(0_u64..).map(|(lane, at)| if lane.is_some() { at + 4 } else { at });
        let selector = places.zip(0..).fold(0, |selector, (place, at)| selector | place << (4 * at));
        Some(self.push(Step::plain(op::PRMT_B32, &[word, other, Source::Constant(selector)])))
    }

    /// A word that lanes are multiplied by.
    pub(super) fn factor(&mut self, factor: Term, depth: usize) -> Option<Source> {
        if self.pieces.fact(factor).unsigned().1 > u128::from(u8::MAX) {
            let word = self.pieces.word(factor).map(Source::Value);
            return word.or_else(|| self.complement(factor, depth));
        }
        let zero = self.pieces.terms.constant(0, 8);
        let lane = self.pieces.part(factor, 0, 8);
        let word = self.word(&[lane, zero, zero, zero].map(Some), depth + 1);
        word.or_else(|| self.extended(lane))
    }

    /// Sees to it that what the products of all lanes have in common is their factor, and puts the addends in order.
    fn orient(&mut self, all: &mut [Option<Scaled>]) {
        let mut common: Option<Vec<Term>> = None;
        for sum in all.iter().flatten() {
            let mut own: Vec<Term> = Vec::new();
            for &addend in &sum.addends {
                own.extend(addend.factor);
                own.extend(self.turned(addend).and_then(|turned| turned.factor));
            }
            match &mut common {
                None => common = Some(own),
                Some(common) => common.retain(|factor| own.contains(factor)),
            }
        }
        let common = common.unwrap_or_default();
        for sum in all.iter_mut().flatten() {
            for at in 0..sum.addends.len() {
                let addend = sum.addends[at];
                if addend.factor.is_some_and(|factor| !common.contains(&factor))
                    && let Some(turned) = self.turned(addend)
                {
                    sum.addends[at] = turned;
                }
            }
            let home = |lane: Term| self.pieces.homes(lane).next();
            sum.addends.sort_by_key(|addend| (addend.factor, addend.weight, home(addend.lane)));
        }
        self.line_up(all);
    }

    /// Puts addends that are added alike in such an order that those of all lanes come from few words, and from
    /// neighbouring lanes of these: a word moved by a lane is one operand then, whatever lies beside it.
    fn line_up(&self, all: &mut [Option<Scaled>]) {
        // Where the addends in each place came from so far, less the number of the lane.
        let mut seen: Vec<Vec<(ValueId, i64)>> = Vec::new();
        for (sum, number) in all.iter_mut().zip(0..).filter_map(|(sum, number)| Some((sum.as_mut()?, number)))
        {
            seen.resize(seen.len().max(sum.addends.len()), Vec::new());
            let from = |addend: &Addend| {
                let (word, at) = self.pieces.homes(addend.lane).next()?;
                Some((word, i64::try_from(at).ok()? - number))
            };
            let fits = |addend: &Addend, place: usize| match from(addend) {
                Some(from) if seen[place].contains(&from) => 2,
                Some((word, _)) => i32::from(seen[place].iter().any(|&(other, _)| other == word)),
                None => 0,
            };
            for place in 0..sum.addends.len() {
                let own = sum.addends[place];
                let others = place + 1..sum.addends.len();
                let alike = others.filter(|&at| sum.addends[at].is_added_as(&own));
                // What two addends gain by changing places.
                let gain = |&at: &usize| {
                    let other = sum.addends[at];
                    fits(&other, place) + fits(&own, at) - fits(&own, place) - fits(&other, at)
                };
                if let Some(best) = alike.max_by_key(gain).filter(|at| gain(at) > 0) {
                    sum.addends.swap(place, best);
                }
            }
            for (seen, addend) in seen.iter_mut().zip(&sum.addends) {
                seen.extend(from(addend));
            }
        }
    }

    /// Puts products of lanes and the lanes of each in the order of the words that these are read from, those last that
    /// are computed. A sum of other products is none.
    fn orient_words(&mut self, all: &mut [Option<Scaled>]) {
        for sum in all.iter_mut() {
            let in_order = |addend: Addend| {
                let turned = self.turned(addend)?;
                Some(if self.place(turned.lane) < self.place(addend.lane) { turned } else { addend })
            };
            let addends: Option<Vec<Addend>> =
                sum.as_ref().and_then(|sum| sum.addends.iter().copied().map(in_order).collect());
            *sum = sum.take().zip(addends).map(|(sum, addends)| Scaled { addends, ..sum });
        }
        for sum in all.iter_mut().flatten() {
            sum.addends.sort_by_key(|addend| self.place(addend.lane));
        }
    }

    /// Whether a lane is computed, and the first word that it is read from.
    fn place(&self, lane: Term) -> (bool, Option<ValueId>) {
        let word = self.pieces.homes(lane).map(|(word, _)| word).next();
        (word.is_none(), word)
    }

    /// The lane as the factor, and the factor as the lane, if it is one.
    fn turned(&mut self, addend: Addend) -> Option<Addend> {
        let factor = addend.factor?;
        if self.pieces.fact(factor).unsigned().1 > u128::from(u8::MAX) {
            return None;
        }
        let lane = self.pieces.part(factor, 0, 8);
        let factor = self.pieces.terms.zero_extend(addend.lane, WORD);
        Some(Addend { lane, factor: Some(factor), ..addend })
    }

    /// The least and the greatest value of a sum, whatever its lanes are.
    ///
    /// Factors may be made of the same number, as `a` and `255 - a` are. The greatest sum is a convex function of each
    /// such number, and the least one a concave function, so both are found where the numbers are at their limits.
    fn range(&mut self, sum: &Scaled) -> Option<(i64, i64)> {
        let affine: Vec<Option<Affine>> =
            sum.addends.iter().map(|addend| Some(self.affine(addend.factor?))).collect();
        let mut numbers: Vec<Term> = affine.iter().flatten().map(|affine| affine.number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        if numbers.len() > MOST_NUMBERS {
            return None;
        }
        let limits: Vec<(u128, u128)> =
            numbers.iter().map(|&number| self.pieces.fact(number).unsigned()).collect();
        let at_corner = |corner: usize| {
            let (mut least, mut greatest) = (sum.number, sum.number);
            for (addend, affine) in sum.addends.iter().zip(&affine) {
                let times = match affine {
                    None => 1,
                    Some(affine) => {
                        let at = numbers.binary_search(&affine.number).ok()?;
                        let (low, high) = limits[at];
                        affine.at(i64::try_from(if corner >> at & 1 == 0 { low } else { high }).ok()?)?
                    }
                };
                let bound = addend.weight.checked_mul(i64::from(u8::MAX))?.checked_mul(times)?;
                least = least.checked_add(bound.min(0))?;
                greatest = greatest.checked_add(bound.max(0))?;
            }
            Some((least, greatest))
        };
        let corners: Option<Vec<(i64, i64)>> = (0..1 << numbers.len()).map(at_corner).collect();
        let (least, greatest): (Vec<i64>, Vec<i64>) = corners?.into_iter().unzip();
        Some((least.into_iter().min()?, greatest.into_iter().max()?))
    }

    /// What must be added to a sum so that it is not negative and stays within 16 bits, and where it is divided. What
    /// is a multiple of all that a lane can be leaves the lane as it is.
    pub(super) fn added(&mut self, sum: &Scaled) -> Option<i64> {
        let (least, greatest) = self.range(sum)?;
        let most = i64::from(u16::MAX);
        let Some(division) = sum.division else {
            let whole = 1_i64 << (sum.shift + 8);
            let added = least.min(0).checked_neg()?.checked_add(whole - 1)? / whole * whole;
            return (greatest.checked_add(added)? <= most).then_some(added);
        };
        if least < 0 || greatest > most {
            return None;
        }
        let added = i64::try_from(division.added(greatest.unsigned_abs())?).ok()?;
        let folded = greatest + added + ((greatest + added) >> 8);
        (folded <= most).then_some(added)
    }

    /// A factor as a multiple of a number and a constant.
    fn affine(&self, factor: Term) -> Affine {
        let terms = &self.pieces.terms;
        let (mut constant, mut slope, mut number) = (0_i64, 1_i64, factor);
        loop {
            let width = terms.width(number);
            // A sum of 32 bits is taken as signed; it is not known to fit once it was extended.
            let whole = width == WORD;
            let added = |a: Term, b: Term| {
                let value = i64::try_from(terms.value(b).filter(|_| whole)?).ok()?;
                Some((a, if value >> (WORD - 1) == 0 { value } else { value - (1 << WORD) }))
            };
            // All bits inverted of a number that was extended.
            let inverted = |a: Term, b: Term| {
                let Op::ZeroExtend(inner) = terms.op(a) else { return None };
                let most = ones(terms.width(inner));
                Some((inner, i64::try_from(most).ok().filter(|_| terms.value(b) == Some(most))?))
            };
            let op = terms.op(number);
            if let Op::ZeroExtend(inner) = op {
                number = inner;
            } else if let Op::Xor(a, b) = op
                && let Some((inner, most)) = inverted(a, b).or_else(|| inverted(b, a))
            {
                constant += slope * most;
                slope = -slope;
                number = inner;
            } else if let (Op::Not(inner), Ok(most)) = (op, i64::try_from(ones(width))) {
                constant += slope * if whole { -1 } else { most };
                slope = -slope;
                number = inner;
            } else if let Op::Add(a, b) = op
                && let Some((inner, value)) = added(a, b).or_else(|| added(b, a))
            {
                constant += slope * value;
                number = inner;
            } else {
                return Affine { constant, slope, number };
            }
        }
    }

    /// A weighted sum of words of which `halves` takes two lanes, and a number.
    fn added_up(
        &mut self,
        words: &[(Weight, Source)],
        number: i64,
        halves: fn(&mut Self, Source) -> Source,
    ) -> Option<Source> {
        let constant = |value: i64| Source::Constant((value & i64::from(u32::MAX)).cast_unsigned());
        let mut total = (number != 0).then(|| constant(number));
        // What is added as it is comes first, so that a product is added as it is computed.
        let is_plain = |(weight, _): &&(Weight, Source)| matches!(weight, Weight::Number(1));
        let (plain, weighted): (Vec<_>, Vec<_>) = words.iter().partition(is_plain);
        for &(weight, word) in plain.into_iter().chain(weighted) {
            let halves = match word {
                Source::Constant(_) => return None,
                Source::Value(_) | Source::Step(_) => halves(self, word),
            };
            let weight = match weight {
                Weight::Number(1) => None,
                Weight::Number(weight) => Some(constant(weight)),
                Weight::Register(register) => Some(register),
            };
            total = Some(self.plus(total, halves, weight));
        }
        total
    }

    /// A sum so far and a word, times a weight if there is one.
    pub(super) fn plus(&mut self, total: Option<Source>, word: Source, weight: Option<Source>) -> Source {
        let step = match (total, weight) {
            (None, None) => return word,
            (None, Some(weight)) => Step::plain(op::MUL_LO_U32, &[word, weight]),
            (Some(total), None) => Step::plain(op::ADD_U32, &[word, total]),
            (Some(total), Some(weight)) => Step::plain(op::MAD_LO_U32, &[word, weight, total]),
        };
        self.push(step)
    }

    /// The even bytes of a word as halves.
    pub(super) fn even_lanes(&mut self, word: Source) -> Source {
        self.push(Step::plain(op::AND_B32, &[word, Source::Constant(EVEN)]))
    }

    /// The odd bytes of a word as halves.
    pub(super) fn odd_lanes(&mut self, word: Source) -> Source {
        self.push(Step::plain(op::PRMT_B32, &[word, Source::Constant(0), Source::Constant(ODD)]))
    }

    /// Halves with their own upper bytes added.
    pub(super) fn folded(&mut self, halves: Source) -> Source {
        let high = self.odd_lanes(halves);
        self.push(Step::plain(op::ADD_U32, &[halves, high]))
    }

    /// The bytes that begin at a bit of each half of two words, in turns.
    pub(super) fn interleaved(&mut self, even: Source, odd: Source, shift: u32) -> Source {
        let (from, selector) = match shift {
            0 => ([even, odd], 0x6240),
            8 => ([even, odd], 0x7351),
            _ => {
                let shifted = |words: &mut Self, word| {
                    words.push(Step::plain(op::SHR_U32, &[word, Source::Constant(shift.into())]))
                };
                ([shifted(self, even), shifted(self, odd)], 0x6240)
            }
        };
        self.push(Step::plain(op::PRMT_B32, &[from[0], from[1], Source::Constant(selector)]))
    }
}
