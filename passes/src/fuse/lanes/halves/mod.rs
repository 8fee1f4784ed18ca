//! Words of bytes that are low bits of larger numbers: these are computed two at a time, as halves of words.
//!
//! Filters and predictions compute with more than eight bits and clamp at the end. All lanes of such a word are the same
//! expression of bytes; where no number in it has more than 16 bits, the even lanes are computed as halves of one word
//! and the odd ones as halves of another. A half holds its number with a number added to it, the bias, so that it is not
//! negative. Sums are then sums of whole words, since no half gets a carry from the other one, and least and greatest
//! numbers are those of unsigned halves. What a number can be is known from facts; as everywhere, the proof of the text
//! tells whether it is what was computed.

mod added;
mod biased;
mod choices;
mod chosen;
mod compared;
mod products;
mod sampled;

use super::scaled::{BOTH, WORD};
use super::words::Words;
use crate::recipe::{Source, Step};
pub(super) use biased::constant;
use biased::{Halves, MOST, bias_of, fit, in_turns};
use hashbrown::HashMap;
use ptxopt_grammar::meaning::term::{Op, Term, Terms, signed};
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::video::Lanes;
pub(super) use sampled::Sampled;

/// How deep an expression is followed.
const DEEPEST: usize = 24;

/// How many terms are looked at for one site, in each way.
const MOST_TERMS: usize = 600;

/// How many bits a number has that is looked at.
const WIDEST: u32 = WORD;

/// How many lanes of a word are computed together at least.
const FEWEST: usize = 3;

/// The same number of each lane, of which those that are `None` may be anything.
type Numbers = Vec<Option<Term>>;

/// The least and the greatest that numbers can be.
type Limits = [i64; 2];

/// Limits beyond which no number is.
const NONE: Limits = [i64::MIN / 4, i64::MAX / 4];

/// What was found out about numbers, so that it is once.
#[derive(Default)]
pub(super) struct Wide {
    /// The larger numbers of which lanes are the low bits.
    larger: HashMap<Term, Option<Term>>,
    /// Numbers as halves, within the limits that were wanted; `None` if they cannot be, or are being tried.
    halves: HashMap<(Numbers, Limits), Option<Halves>>,
    /// Whether numbers are how far two bytes are apart.
    distances: HashMap<Term, bool>,
    /// How many terms were looked at.
    seen: usize,
}

impl Wide {
    /// Forgets what is made in one way.
    pub(super) fn turn(&mut self) {
        self.halves.clear();
        self.seen = 0;
    }

    /// Looks at one more term, if there are not too many.
    fn look(&mut self) -> Option<()> {
        self.seen += 1;
        (self.seen <= MOST_TERMS).then_some(())
    }
}

impl Words {
    /// The larger numbers of which most lanes of a word are the low bits, at least three.
    pub(super) fn larger_numbers(&mut self, lanes: &[Option<Term>]) -> Option<Numbers> {
        if self.lanes != Lanes::Four {
            return None;
        }
        let numbers: Numbers = lanes.iter().map(|lane| self.number_of((*lane)?, 0)).collect();
        (numbers.iter().flatten().count() >= FEWEST).then_some(numbers)
    }

    /// A word whose lanes are the low bits of these numbers.
    pub(super) fn low_bits(&mut self, numbers: &Numbers, depth: usize) -> Option<Source> {
        let halves = self.halves(numbers, depth)?;
        let whole = (halves.bias + 0xff) & !0xff;
        let Halves { words: [even, odd], .. } = self.biased_by(halves, whole);
        Some(self.interleaved(even, odd, 0))
    }

    /// The larger number of which a lane is the low bits.
    fn number_of(&mut self, lane: Term, depth: usize) -> Option<Term> {
        if let Some(&known) = self.wide.larger.get(&lane) {
            return known;
        }
        let number = if depth < DEEPEST { self.found_number_of(lane, depth) } else { None };
        self.wide.larger.insert(lane, number);
        number
    }

    fn found_number_of(&mut self, lane: Term, depth: usize) -> Option<Term> {
        let op = self.pieces.terms.op(lane);
        if let Op::Extract(inner, low) = op {
            let width = self.pieces.terms.width(inner);
            let above = self.pieces.terms.extract(inner, low, width - low);
            return (16..=WIDEST).contains(&width).then(|| self.pieces.terms.sign_extend(above, width));
        }
        if let Op::ZeroExtend(bits) = op
            && let Op::Extract(inner, _) = self.pieces.terms.op(bits)
        {
            let width = self.pieces.terms.width(inner);
            return (16..=WIDEST).contains(&width).then(|| self.pieces.terms.zero_extend(bits, width));
        }
        if let Op::Add(inner, added) = op
            && let Some(added) = self.pieces.terms.value(added)
        {
            let number = self.number_of(inner, depth + 1)?;
            let width = self.pieces.terms.width(number);
            let added = self.pieces.terms.constant(added, width);
            return Some(self.pieces.terms.add(number, added));
        }
        if let Op::Mul(a, b) = op {
            self.multiple(lane)?;
            return self.combined_number_of(Terms::mul, [a, b], depth);
        }
        if let Op::Add(a, b) = op {
            return self.combined_number_of(Terms::add, [a, b], depth);
        }
        let Op::Choose(condition, then, otherwise) = op else { return None };
        if [then, otherwise].iter().all(|&of| self.pieces.terms.value(of).is_some()) {
            return None;
        }
        let compared = self.compared(condition);
        let larger = |words: &mut Self, of: Term| {
            let bits = words.lanes.bits();
            let is_it = |words: &mut Self, number: Term| {
                (16..=WIDEST).contains(&words.pieces.terms.width(number))
                    && words.pieces.part(number, 0, bits) == of
            };
            if let Some(number) = compared.into_iter().flatten().find(|&number| is_it(words, number)) {
                return number;
            }
            let number = words.number_of(of, depth + 1);
            number.unwrap_or_else(|| words.pieces.terms.zero_extend(of, WORD))
        };
        let [then, otherwise] = [then, otherwise].map(|of| larger(self, of));
        let width = [then, otherwise].map(|of| self.pieces.terms.width(of)).into_iter().max()?;
        let [then, otherwise] = [then, otherwise].map(|of| self.pieces.terms.sign_extend(of, width));
        Some(self.pieces.terms.choose(condition, then, otherwise))
    }

    /// The sum or the product of larger numbers of which a sum or a product has the low bits, if one of both is one.
    fn combined_number_of(
        &mut self,
        combine: fn(&mut Terms, Term, Term) -> Term,
        parts: [Term; 2],
        depth: usize,
    ) -> Option<Term> {
        let numbers = parts.map(|part| self.number_of(part, depth + 1));
        let width = numbers.into_iter().flatten().map(|number| self.pieces.terms.width(number)).max()?;
        let terms = &mut self.pieces.terms;
        let larger = |terms: &mut Terms, part: Term, number: Option<Term>| match number {
            Some(number) => terms.sign_extend(number, width),
            // The number that is nearest to zero.
            None if terms.value(part).is_some() => terms.sign_extend(part, width),
            None => terms.zero_extend(part, width),
        };
        let [a, b] = [0, 1].map(|at| larger(terms, parts[at], numbers[at]));
        Some(combine(terms, a, b))
    }

    /// The numbers that a condition compares; a sign bit compares its number with zero.
    fn compared(&mut self, condition: Term) -> Option<[Term; 2]> {
        let op = self.pieces.terms.op(condition);
        if let Op::SignedLess(a, b) | Op::UnsignedLess(a, b) | Op::Equal(a, b) = op {
            Some([a, b])
        } else if let Op::Not(inner) = op {
            self.compared(inner)
        } else if let Op::Extract(inner, low) = op
            && low + 1 == self.pieces.terms.width(inner)
        {
            let zero = self.pieces.terms.constant(0, low + 1);
            Some([inner, zero])
        } else {
            None
        }
    }

    /// Numbers as halves.
    fn halves(&mut self, numbers: &Numbers, depth: usize) -> Option<Halves> {
        self.tried(numbers, NONE, depth)
    }

    /// Numbers as halves, where one that lies beyond a limit may be any other that does.
    fn within(&mut self, numbers: &Numbers, wanted: Limits, depth: usize) -> Option<Halves> {
        self.halves(numbers, depth).or_else(|| self.tried(numbers, wanted, depth))
    }

    fn tried(&mut self, numbers: &Numbers, wanted: Limits, depth: usize) -> Option<Halves> {
        if depth > DEEPEST {
            return None;
        }
        let asked = (numbers.clone(), wanted);
        if let Some(&known) = self.wide.halves.get(&asked) {
            return known;
        }
        self.wide.halves.insert(asked.clone(), None);
        let halves = match wanted {
            NONE => self.numbers_as_halves(numbers, depth),
            _ => self.computed_within(numbers, wanted, depth),
        };
        self.wide.halves.insert(asked, halves);
        halves
    }

    fn numbers_as_halves(&mut self, numbers: &Numbers, depth: usize) -> Option<Halves> {
        let limits = self.limits(numbers).filter(fit)?;
        let known = self.known(numbers, limits).or_else(|| self.leaves(numbers, limits, depth));
        known.or_else(|| self.computed_within(numbers, NONE, depth)).map(|halves| halves.clamped(limits))
    }

    fn computed_within(&mut self, numbers: &Numbers, wanted: Limits, depth: usize) -> Option<Halves> {
        self.wide.look()?;
        let sum = self.added_in_halves(numbers, wanted, depth);
        let chosen = sum.or_else(|| self.chosen_in_halves(numbers, wanted, depth));
        chosen.or_else(|| self.shifted_in_halves(numbers, wanted, depth))
    }

    /// What the numbers can be.
    fn limits(&mut self, numbers: &Numbers) -> Option<Limits> {
        let all: Vec<Limits> =
            numbers.iter().flatten().map(|&number| self.limits_of(number)).collect::<Option<_>>()?;
        all.into_iter()
            .reduce(|[least, most], [other_least, other_most]| [least.min(other_least), most.max(other_most)])
    }

    /// What a number can be.
    fn limits_of(&mut self, number: Term) -> Option<Limits> {
        if self.pieces.terms.width(number) > WIDEST {
            return None;
        }
        let (least, greatest) = self.pieces.fact(number).signed();
        // A difference that is how far two bytes are apart is not known to be positive.
        if least < 0 && self.is_distance(number) {
            return Some([0, i64::from(u8::MAX)]);
        }
        Some([i64::try_from(least).ok()?, i64::try_from(greatest).ok()?])
    }

    /// Numbers that are known.
    fn known(&mut self, numbers: &Numbers, limits: Limits) -> Option<Halves> {
        let terms = &self.pieces.terms;
        let value = |term: Term| i64::try_from(signed(terms.value(term)?, terms.width(term))).ok();
        let values: Vec<i64> =
            numbers.iter().map(|number| number.map_or(Some(0), value)).collect::<Option<_>>()?;
        let bias = bias_of(limits);
        let values: Vec<i64> = values.into_iter().map(|value| value + bias).collect();
        Some(Halves { words: in_turns(&values), bias, limits })
    }

    /// Numbers that are read from words, or computed as bytes.
    fn leaves(&mut self, numbers: &Numbers, limits: Limits, depth: usize) -> Option<Halves> {
        let [least, greatest] = limits;
        let first = numbers.iter().flatten().copied().next()?;
        let bits = self.lanes.bits();
        let is_alone = numbers.iter().flatten().all(|&number| number == first);
        if is_alone && let Some(word) = self.pieces.word(first) {
            let pair = Step::plain(
                op::PRMT_B32,
                &[Source::Value(word), Source::Constant(0), Source::Constant(0x1010)],
            );
            let pair = self.push(pair);
            return Some(self.lifted(Halves { words: [pair; 2], bias: 0, limits }));
        }
        let is_leaf = |words: &Self, number: Term| {
            let op = words.pieces.terms.op(number);
            let inner = if let Op::ZeroExtend(inner) | Op::SignExtend(inner) = op { inner } else { number };
            let op = words.pieces.terms.op(inner);
            // A number that was shifted is a multiple of another one.
            let is_shifted = matches!(op, Op::Concat(_, low) if words.pieces.terms.value(low) == Some(0));
            matches!(op, Op::Input(_) | Op::Concat(..)) && !is_shifted
        };
        let is_leaf = numbers.iter().flatten().all(|&number| is_leaf(self, number));
        let is_byte = least >= 0 && greatest < 1 << bits;
        let is_signed = least >= -(1 << (bits - 1)) && greatest < 1 << (bits - 1);
        let lanes: Vec<Option<Term>> =
            numbers.iter().map(|number| number.map(|number| self.pieces.part(number, 0, bits))).collect();
        if is_byte || is_signed && is_leaf {
            if !is_leaf && !self.are_computed_as_bytes(&lanes) {
                return None;
            }
            let word = self.word(&lanes, depth + 1)?;
            if !is_byte && self.is_signed() {
                let selectors = [0xa280, 0xb391].map(Source::Constant);
                let words = selectors.map(|selector| {
                    self.push(Step::plain(op::PRMT_B32, &[word, Source::Constant(0), selector]))
                });
                return Some(Halves { words, bias: 0, limits });
            }
            let bias = if is_byte { 0 } else { 1 << (bits - 1) };
            let word = match bias {
                0 => word,
                _ => self.push(Step::plain(op::XOR_B32, &[word, Source::Constant(0x8080_8080)])),
            };
            let words = [self.even_lanes(word), self.odd_lanes(word)];
            return Some(Halves { words, bias, limits });
        }
        if !is_leaf {
            return None;
        }
        // Halves that lie in words.
        let mut words = [Source::Constant(0); 2];
        for (at, word) in words.iter_mut().enumerate() {
            let mut lanes = Vec::new();
            for number in [numbers[at], numbers[at + 2]] {
                let half = number.map(|number| {
                    let width = self.pieces.terms.width(number).max(WORD);
                    self.pieces.terms.sign_extend(number, width)
                });
                lanes.extend([0, bits].map(|low| Some(self.pieces.part(half?, low, bits))));
            }
            *word = self.gathered(&lanes)?;
        }
        Some(self.lifted(Halves { words, bias: 0, limits }))
    }

    /// Numbers without their lowest bits.
    fn shifted_in_halves(&mut self, numbers: &Numbers, wanted: Limits, depth: usize) -> Option<Halves> {
        let (of, low) = self.all_shifted_of(numbers)?;
        self.without_lowest(&of, low, wanted, depth)
    }

    /// Numbers as others without so many of their lowest bits.
    fn all_shifted_of(&mut self, numbers: &Numbers) -> Option<(Numbers, u32)> {
        let mut of: Numbers = Vec::with_capacity(numbers.len());
        let mut low: Option<u32> = None;
        for &number in numbers {
            let Some(number) = number else {
                of.push(None);
                continue;
            };
            let (inner, by) = self.shifted_of(number)?;
            if *low.get_or_insert(by) != by {
                return None;
            }
            of.push(Some(inner));
        }
        Some((of, low?))
    }

    /// Numbers without so many of their lowest bits, given the whole ones.
    fn without_lowest(&mut self, of: &Numbers, low: u32, wanted: Limits, depth: usize) -> Option<Halves> {
        let below = (1_i64 << low) - 1;
        let [least, most] = wanted;
        let up = |limit: i64| limit.saturating_mul(below + 1);
        let wanted = if wanted == NONE { NONE } else { [up(least), up(most).saturating_add(below)] };
        let halves = self.within(of, wanted, depth + 1)?;
        if low == 0 {
            return Some(halves);
        }
        // What is left of the bias is a number only if it has no lower bits.
        let halves = match halves.bias & below {
            0 if !halves.is_signed() => halves,
            _ => self.biased_by(halves, bias_of(halves.limits)),
        };
        let words = halves.words.map(|word| {
            let moved = self.push(Step::plain(op::SHR_U32, &[word, Source::Constant(low.into())]));
            self.push(Step::plain(op::AND_B32, &[moved, constant((MOST >> low) * BOTH)]))
        });
        Some(Halves { words, bias: halves.bias >> low, limits: halves.limits.map(|limit| limit >> low) })
    }

    /// A number as another one without so many of its lowest bits.
    fn shifted_of(&mut self, number: Term) -> Option<(Term, u32)> {
        let terms = &self.pieces.terms;
        let op = terms.op(number);
        if let Op::Ashr(of, by) = op {
            return Some((of, u32::try_from(terms.value(by)?).ok().filter(|by| *by < 16)?));
        }
        let inner = if let Op::SignExtend(inner) | Op::ZeroExtend(inner) = op { inner } else { number };
        if let Op::Concat(high, part) = terms.op(inner)
            && let Op::Extract(of, low) = terms.op(part)
            && low + terms.width(part) == terms.width(of)
        {
            // The bits of a number that is put together from others.
            let whole = self.pieces.terms.concat(high, of);
            let is_signed = !matches!(op, Op::ZeroExtend(_));
            let whole = match is_signed {
                true => self.pieces.terms.sign_extend(whole, WORD),
                false => self.pieces.terms.zero_extend(whole, WORD),
            };
            return (low < 16).then_some((whole, low));
        }
        let Op::Extract(of, low) = terms.op(inner) else { return None };
        let width = terms.width(inner);
        let (of, low) = self.of_smaller_product(of, low).filter(|_| low >= 16).unwrap_or((of, low));
        let whole = self.pieces.terms.width(of);
        let is_signed = !matches!(op, Op::ZeroExtend(_));
        // What is shifted as a byte stays one.
        if !is_signed && (16..WORD).contains(&whole) && low + width == whole {
            return (low < 16).then(|| (self.pieces.terms.zero_extend(of, WORD), low));
        }
        // What is cut off above must be copies of the sign, or zeros.
        let [least, greatest] = self.limits_of(of)?;
        let (least, greatest) = (least >> low, greatest >> low);
        let fits = match is_signed {
            true => least >= -(1_i64 << (width.min(48) - 1)) && greatest < 1_i64 << (width.min(48) - 1),
            false => least >= 0 && greatest < 1_i64 << width.min(48),
        };
        (fits && low < 16 && low < whole).then_some((of, low))
    }
}
