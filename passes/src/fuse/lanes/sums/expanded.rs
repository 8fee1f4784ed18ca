//! Products of lanes less words of which nothing is known, as quantised numbers with zero points have them, multiplied out.
//!
//! `(x - a) * (y - b)` is `x * y - b * x - a * y + a * b`. Added up over lanes, that is one dot product of lanes, and for
//! each word a sum of lanes and words that it multiplies once. All of it wraps.

use super::super::words::Way;
use super::kind::{Kind, low};
use super::{Addend, Operand, Sum, add_to, count, merge};
use crate::recipe::{Source, Step};
use crate::rules::is_dot_product;
use crate::site::Site;
use ptxopt_grammar::meaning::term::{Op, Term};
use ptxopt_grammar::table::instruction::{Instruction, op};

/// How many additions a factor has, at most, one below the other.
const DEEPEST: u32 = 4;

/// How many instructions a sum is added to one after the other, at most, to be multiplied out.
const MOST_ABOVE: usize = 40;

/// How many lanes are multiplied by a word together, at most, and how many additions are looked through for them: there
/// are bounds to what a proof takes products of sums apart into.
pub(super) const MOST_LANES: usize = 16;

/// Whether a sum that ends with a product of differences is added to a dot product, and that to few others: each part of a
/// long sum that is multiplied out takes a round.
pub(super) fn is_added_to_products(site: &Site<'_, '_, '_>) -> bool {
    let is_difference = |&source: &Source| {
        let step = site.definition(source);
        let row = step.as_ref().and_then(Step::instruction).map(Instruction::row);
        row.is_some_and(|row| row.is(op::SUB) || row.is(op::ADD))
    };
    let is_mad = site.instruction().map(Instruction::representative) == Some(op::MAD_LO_U32);
    if !is_mad || !site.step.sources.iter().take(2).any(is_difference) {
        return false;
    }
    let mut value = site.value;
    for above in 0..MOST_ABOVE {
        let mut users = site.graph.uses(value).map(|(user, _)| user);
        let (Some(user), None) = (users.next(), users.next()) else { return above > 0 };
        let step = site.graph.definition(user);
        let row = step.as_ref().and_then(Step::instruction).map(Instruction::row);
        match row {
            Some(row) if is_dot_product(row) => value = user,
            Some(row) if above > 0 && row.is(op::MAD) => value = user,
            _ => return above > 0,
        }
    }
    false
}

/// Whether no more lanes may be multiplied by some word.
pub(super) fn is_full(all: &[Operand]) -> bool {
    let by = |operand: &Operand| match operand {
        Operand::Multiplied(by, Part::Lane(_)) => Some(*by),
        Operand::Multiplied(..)
        | Operand::Lanes(_)
        | Operand::Word(_)
        | Operand::Product(_)
        | Operand::Inverted(..) => None,
    };
    let count = |word: Term| all.iter().filter(|operand| by(operand) == Some(word)).count();
    all.iter().filter_map(by).any(|word| count(word) >= MOST_LANES)
}

/// A factor: a lane, a word and a number, the first two times 1 or -1, added up.
#[derive(Default)]
struct Factor {
    lane: Option<(Addend, i64)>,
    word: Option<(Term, i64)>,
    number: i64,
}

/// What is multiplied by a word.
pub(super) enum Part {
    Lane(Addend),
    /// Another word, times a number.
    Word(Term, i64),
    Number(i64),
}

/// All that is multiplied by a word.
pub(super) struct Multiple {
    by: Term,
    lanes: Vec<(Kind, Vec<Addend>)>,
    words: Vec<(Term, i64)>,
    number: i64,
}

impl Multiple {
    /// Adds to what is multiplied by a word.
    pub(super) fn push(all: &mut Vec<Self>, by: Term, part: Part) {
        let at = all.iter().position(|multiple| multiple.by == by).unwrap_or_else(|| {
            all.push(Self { by, lanes: Vec::new(), words: Vec::new(), number: 0 });
            all.len() - 1
        });
        let multiple = &mut all[at];
        match part {
            Part::Lane(addend) => add_to(&mut multiple.lanes, addend),
            Part::Number(number) => multiple.number += number,
            Part::Word(word, times) => count(&mut multiple.words, word, times),
        }
    }
}

impl Sum {
    /// The product of two factors as a sum of products, if one of them is a lane and a word.
    pub(super) fn multiplied_out(&mut self, term: Term) -> Option<Vec<Operand>> {
        let Op::Mul(a, b) = self.words.pieces.terms.op(term) else { return None };
        if self.width != 32 || self.words.pieces.terms.width(term) != 32 {
            return None;
        }
        let [one, other] = [self.factor(a)?, self.factor(b)?];
        let is_mixed = |factor: &Factor| factor.lane.is_some() && factor.word.is_some();
        if !is_mixed(&one) && !is_mixed(&other) {
            return None;
        }
        if !self.words.is_made(Way::MultipliedOut) {
            return None;
        }
        let mut all = Vec::new();
        if let (Some((x, p)), Some((y, q))) = (&one.lane, &other.lane) {
            let product = self.words.pieces.terms.mul(x.term, y.term);
            let is_product = |kind: Kind| matches!(kind, Kind::Product(..) | Kind::Square(_));
            let addend = self.addend(product, |summand| is_product(summand.kind))?;
            if p * q != 1 {
                return None;
            }
            all.push(Operand::Lanes(addend));
        }
        if let (Some((word, p)), Some((with, q))) = (one.word, other.word) {
            all.push(Operand::Multiplied(word, Part::Word(with, p * q)));
        }
        for (factor, with) in [(&one, &other), (&other, &one)] {
            if let Some((lane, p)) = &factor.lane {
                if let Some((word, q)) = with.word {
                    all.push(Operand::Multiplied(word, Part::Lane(self.times(lane, p * q))));
                }
                if with.number != 0 {
                    all.push(Operand::Lanes(self.times(lane, p * with.number)));
                }
            }
            if let Some((word, p)) = factor.word.filter(|_| with.number != 0) {
                all.push(Operand::Multiplied(word, Part::Number(p * with.number)));
            }
        }
        let number = one.number.wrapping_mul(other.number);
        all.extend((number != 0).then(|| Operand::Word(Source::Constant(low(number).into()))));
        Some(all)
    }

    /// A term as a factor.
    fn factor(&mut self, term: Term) -> Option<Factor> {
        let mut factor = Factor::default();
        self.add_term(&mut factor, term, 1, 0)?;
        Some(factor)
    }

    /// Adds a term, times 1 or -1, to a factor.
    fn add_term(&mut self, factor: &mut Factor, term: Term, sign: i64, depth: u32) -> Option<()> {
        let terms = &self.words.pieces.terms;
        if depth > DEEPEST || terms.width(term) != 32 {
            return None;
        }
        if let Some(value) = terms.value(term) {
            let value = u32::try_from(value).expect("it has 32 bits").cast_signed();
            factor.number += sign * i64::from(value);
        } else if let Op::Add(a, b) = terms.op(term) {
            self.add_term(factor, a, sign, depth + 1)?;
            self.add_term(factor, b, sign, depth + 1)?;
        } else if let Op::Not(inner) = terms.op(term) {
            factor.number -= sign;
            self.add_term(factor, inner, -sign, depth + 1)?;
        } else if let Some(lane) = self.lane(term).filter(|_| factor.lane.is_none()) {
            factor.lane = Some((lane, sign));
        } else {
            self.words.pieces.word(term).filter(|_| factor.word.is_none())?;
            factor.word = Some((term, sign));
        }
        Some(())
    }

    /// A term as a lane of a word with others.
    fn lane(&mut self, term: Term) -> Option<Addend> {
        let is_lane = |kind: Kind, weight: i64| matches!(kind, Kind::Weighted(_)) && weight == 1;
        let addend = self.addend(term, |summand| is_lane(summand.kind, summand.weight))?;
        let pieces = &self.words.pieces;
        let is_beside = pieces.homes(addend.lanes[0]).any(|(word, _)| !pieces.is_single(word));
        is_beside.then_some(addend)
    }

    /// A lane, times a number.
    fn times(&mut self, lane: &Addend, weight: i64) -> Addend {
        let terms = &mut self.words.pieces.terms;
        let number = terms.constant(low(weight).into(), 32);
        Addend { term: terms.mul(lane.term, number), weight, ..lane.clone() }
    }

    /// What is multiplied by a word, and added to a total.
    pub(super) fn multiplied(&mut self, multiple: Multiple, total: Source) -> Option<Source> {
        let by = self.words.pieces.word(multiple.by).map(Source::Value)?;
        let mut inner = Source::Constant(low(multiple.number).into());
        for (word, times) in multiple.words.into_iter().filter(|&(_, times)| times != 0) {
            let word = self.words.pieces.word(word).map(Source::Value)?;
            let product = self.times_number(word, times.abs());
            inner = match (times < 0, inner) {
                (false, Source::Constant(0)) => product,
                (false, _) => self.words.push(Step::plain(op::ADD_U32, &[inner, product])),
                (true, _) => self.words.push(Step::plain(op::SUB_U32, &[inner, product])),
            };
        }
        for (kind, mut group) in multiple.lanes {
            merge(&mut group);
            for some in self.bunches(kind, group) {
                inner = self.added(kind, &some, inner)?;
            }
        }
        let product = match total == Source::Constant(0) {
            true => Step::plain(op::MUL_LO_U32, &[inner, by]),
            false => Step::plain(op::MAD_LO_U32, &[inner, by, total]),
        };
        Some(self.words.push(product))
    }

    /// A word, times a positive number.
    pub(super) fn times_number(&mut self, word: Source, number: i64) -> Source {
        let number = number.unsigned_abs();
        let (instruction, by) = match number {
            1 => return word,
            _ if number.is_power_of_two() => (op::SHL_B32, number.trailing_zeros().into()),
            _ => (op::MUL_LO_U32, number),
        };
        self.words.push(Step::plain(instruction, &[word, Source::Constant(by)]))
    }
}
