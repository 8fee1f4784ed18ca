//! Lanes that are weighted sums of other lanes, as the filters and blends of images have them.
//!
//! Two lanes of a word are far enough apart for sums of 16 bits: the even ones are kept as halves of one word, the odd
//! ones as halves of another, and a multiplication of such a word by a number multiplies both. What is in a half stays
//! there if no sum is negative or has more than 16 bits; that is why the weights are taken together and the least and
//! the greatest sum computed.

use super::words::Words;
use crate::recipe::{Source, Step};
use ptxopt_grammar::meaning::term::{Op, Term, ones};
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::video::Lanes;

/// The most lanes of which one is a sum.
const MOST_ADDENDS: usize = 8;

/// How deep the term of a sum is looked at.
const DEEPEST: usize = 24;

/// The lanes of a word, the even ones and the odd ones.
const EVEN: u64 = 0x00ff_00ff;
const ODD: u64 = 0x4341;

/// Once in each half.
const BOTH: i64 = 0x0001_0001;

/// A lane as bits of a sum: where they begin, and the sum.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Scaled {
    shift: u32,
    number: i64,
    addends: Vec<Addend>,
}

/// A lane with its weight.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Addend {
    weight: i64,
    lane: Term,
}

impl Scaled {
    /// Takes off the zeros below the sum, where a lane was added up in its place.
    fn reduce(&mut self) {
        self.addends.retain(|addend| addend.weight != 0);
        let numbers = self.addends.iter().map(|addend| addend.weight).chain([self.number]);
        let zeros = numbers.map(i64::trailing_zeros).min().unwrap_or(0).min(self.shift);
        self.shift -= zeros;
        self.number >>= zeros;
        self.addends.iter_mut().for_each(|addend| addend.weight >>= zeros);
    }
}

impl Words {
    /// A word whose lanes are all the same weighted sum of lanes of other words.
    pub(super) fn scaled(&mut self, lanes: &[Option<Term>], depth: usize) -> Option<Source> {
        if self.lanes != Lanes::Four || lanes.iter().flatten().count() < 3 {
            return None;
        }
        let mut all: Vec<Option<Scaled>> = Vec::with_capacity(lanes.len());
        for lane in lanes {
            all.push(match lane {
                Some(lane) => Some(self.sum_of(*lane)?),
                None => None,
            });
        }
        let first = all.iter().flatten().next()?.clone();
        let weights = |sum: &Scaled| sum.addends.iter().map(|addend| addend.weight).collect::<Vec<_>>();
        let is_alike = |sum: &Scaled| {
            (sum.shift, sum.number) == (first.shift, first.number) && weights(sum) == weights(&first)
        };
        if !all.iter().flatten().all(is_alike) {
            return None;
        }
        let mut words = Vec::with_capacity(first.addends.len());
        for at in 0..first.addends.len() {
            let lanes: Vec<Option<Term>> =
                all.iter().map(|sum| sum.as_ref().map(|sum| sum.addends[at].lane)).collect();
            words.push((first.addends[at].weight, self.word(&lanes, depth + 1)?));
        }
        let even = self.added_up(&words, first.number, |words, word| {
            words.push(Step::plain(op::AND_B32, &[word, Source::Constant(EVEN)]))
        });
        let odd = self.added_up(&words, first.number, |words, word| {
            words.push(Step::plain(op::PRMT_B32, &[word, Source::Constant(0), Source::Constant(ODD)]))
        });
        Some(self.interleaved(even?, odd?, first.shift))
    }

    /// A weighted sum of words of which `halves` takes two lanes.
    fn added_up(
        &mut self,
        words: &[(i64, Source)],
        number: i64,
        halves: fn(&mut Self, Source) -> Source,
    ) -> Option<Source> {
        let constant = |value: i64| Source::Constant((value & i64::from(u32::MAX)).cast_unsigned());
        let mut total = (number != 0).then(|| constant(number * BOTH));
        // What is added as it is comes first, so that a product is added as it is computed.
        let (plain, weighted): (Vec<_>, Vec<_>) = words.iter().partition(|(weight, _)| *weight == 1);
        for &(weight, word) in plain.into_iter().chain(weighted) {
            let halves = match word {
                Source::Constant(_) => return None,
                Source::Value(_) | Source::Step(_) => halves(self, word),
            };
            let step = match (total, weight) {
                (None, 1) => {
                    total = Some(halves);
                    continue;
                }
                (None, _) => Step::plain(op::MUL_LO_U32, &[halves, constant(weight)]),
                (Some(total), 1) => Step::plain(op::ADD_U32, &[halves, total]),
                (Some(total), _) => Step::plain(op::MAD_LO_U32, &[halves, constant(weight), total]),
            };
            total = Some(self.push(step));
        }
        total
    }

    /// The bytes that begin at a bit of each half of two words, in turns.
    fn interleaved(&mut self, even: Source, odd: Source, shift: u32) -> Source {
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

    /// A lane as bits of a weighted sum of lanes that stays within a half.
    fn sum_of(&mut self, lane: Term) -> Option<Scaled> {
        let terms = &self.pieces.terms;
        let shifted =
            |term: Term| if let Op::Extract(sum, shift) = terms.op(term) { Some((sum, shift)) } else { None };
        // What is added to the bits of a sum may be added to the sum instead.
        let (sum, shift, more) = match (terms.op(lane), shifted(lane)) {
            (_, Some((sum, shift))) => (sum, shift, None),
            (Op::Add(a, b), None) => match (shifted(a), shifted(b)) {
                (Some((sum, shift)), _) => (sum, shift, Some(b)),
                (None, Some((sum, shift))) => (sum, shift, Some(a)),
                (None, None) => return None,
            },
            (_, None) => return None,
        };
        let mut scaled = Scaled { shift, number: 0, addends: Vec::new() };
        self.collect(sum, 1, 0, &mut scaled)?;
        if let Some(more) = more {
            self.collect(more, 1 << shift, 0, &mut scaled)?;
        }
        scaled.reduce();
        let most = i64::from(u8::MAX);
        let (mut least, mut greatest) = (scaled.number, scaled.number);
        for addend in &scaled.addends {
            let bound = addend.weight.checked_mul(most)?;
            if bound < 0 { least += bound } else { greatest += bound }
        }
        let stays = least >= 0 && greatest <= i64::from(u16::MAX) && scaled.shift + 8 <= 16;
        let is_weighted = scaled.shift > 0 || scaled.addends.iter().any(|addend| addend.weight != 1);
        let home = |lane: Term| self.pieces.homes(lane).first().copied();
        scaled.addends.sort_by_key(|addend| (addend.weight, home(addend.lane)));
        (stays && is_weighted && scaled.addends.len() > 1).then_some(scaled)
    }

    /// Adds the addends of a term, times a weight, to those of a sum; `None` if it is no such sum.
    fn collect(&mut self, term: Term, weight: i64, depth: usize, sum: &mut Scaled) -> Option<()> {
        if depth > DEEPEST || weight.unsigned_abs() > u64::from(u32::MAX) {
            return None;
        }
        let terms = &self.pieces.terms;
        let width = terms.width(term);
        let signed = |value: u128| {
            let value = i64::try_from(value).ok()?;
            Some(if width <= 32 && value >> (width - 1) != 0 { value - (1 << width) } else { value })
        };
        let op = terms.op(term);
        if let Op::Constant(value) = op {
            sum.number = sum.number.checked_add(weight.checked_mul(signed(value)?)?)?;
        } else if let Op::Add(a, b) = op {
            self.collect(a, weight, depth + 1, sum)?;
            self.collect(b, weight, depth + 1, sum)?;
        } else if let Op::Mul(a, b) = op {
            let (factor, other) = match (terms.value(a), terms.value(b)) {
                (_, Some(factor)) => (factor, a),
                (Some(factor), _) => (factor, b),
                (None, None) => return None,
            };
            let weight = weight.checked_mul(signed(factor)?)?;
            self.collect(other, weight, depth + 1, sum)?;
        } else if let (Op::Extract(inner, 0), true) = (op, width > 8) {
            // The bits that are cut off are above those of the lane.
            self.collect(inner, weight, depth + 1, sum)?;
        } else if let (Op::Not(a), true) = (op, width > 8) {
            sum.number = sum.number.checked_sub(weight)?;
            self.collect(a, weight.checked_neg()?, depth + 1, sum)?;
        } else {
            self.collect_lane(term, weight, depth, sum)?;
        }
        Some(())
    }

    /// The same of a term that is a lane, perhaps inverted or moved up, and extended.
    fn collect_lane(&mut self, term: Term, weight: i64, depth: usize, sum: &mut Scaled) -> Option<()> {
        let terms = &self.pieces.terms;
        let inner = if let Op::ZeroExtend(inner) = terms.op(term) { inner } else { term };
        let width = terms.width(inner);
        if let Op::Concat(high, low) = terms.op(inner)
            && terms.value(low) == Some(0)
        {
            let moved = weight.checked_mul(1 << terms.width(low).min(16))?;
            return self.collect(high, moved, depth + 1, sum);
        }
        if let Op::Not(a) = terms.op(inner) {
            let most = i64::try_from(ones(width)).ok()?;
            sum.number = sum.number.checked_add(weight.checked_mul(most)?)?;
            return self.collect(a, weight.checked_neg()?, depth + 1, sum);
        }
        if sum.addends.len() == MOST_ADDENDS {
            return None;
        }
        let most = self.pieces.fact(inner).unsigned().1;
        if width < 8 || most > u128::from(u8::MAX) {
            return None;
        }
        let lane = self.pieces.part(inner, 0, 8);
        match sum.addends.iter_mut().find(|addend| addend.lane == lane) {
            Some(addend) => addend.weight += weight,
            None => sum.addends.push(Addend { weight, lane }),
        }
        Some(())
    }
}
