//! What the lanes of a word are weighted sums of: the lanes that are added up, with their weights.

use super::scaled::WORD;
use super::words::Words;
use ptxopt_grammar::meaning::term::{Op, Term, ones};

/// The most lanes of which one is a sum.
const MOST_ADDENDS: usize = 8;

/// How deep the term of a sum is looked at.
const DEEPEST: usize = 24;

/// How many bits a half has.
const HALF: u32 = 16;

/// A lane as bits of a sum: where they begin, and the sum.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Scaled {
    pub(super) shift: u32,
    pub(super) number: i64,
    pub(super) addends: Vec<Addend>,
    /// How the sum is divided, of which the lowest bits are taken then.
    pub(super) division: Option<Division>,
}

/// A lane with its weight.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Addend {
    pub(super) weight: i64,
    pub(super) lane: Term,
    /// What it is multiplied by besides, of 32 bits. It may as well be the other way round.
    pub(super) factor: Option<Term>,
}

impl Addend {
    /// Whether the lanes of both are multiplied by the same.
    pub(super) fn is_added_as(&self, other: &Self) -> bool {
        (self.weight, self.factor) == (other.weight, other.factor)
    }
}

/// A number that is divided, and how.
struct Quotient {
    of: Term,
    division: Division,
}

/// Ways to write a division.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Division {
    /// As bits of a product.
    Multiplied { factor: u64, added: u64, low: u32 },
    /// As bits of the sum of the number, its bits from the eighth upwards, and another number.
    Folded { added: u64 },
}

impl Division {
    /// That of numbers of 16 bits by 255, rounded down.
    const BY_255: Self = Self::Multiplied { factor: 0x8081, added: 0, low: 23 };

    /// The quotient of a number of 16 bits.
    fn of(self, number: u64) -> Option<u64> {
        Some(match self {
            Self::Multiplied { factor, added, low } => {
                number.checked_mul(factor)?.checked_add(added)?.checked_shr(low)?
            }
            Self::Folded { added } => number.checked_add(number >> 8)?.checked_add(added)? >> 8,
        })
    }

    /// The same quotient of a multiple, and what that is multiplied by: a third is 85 times the number, divided by 255.
    fn by_255(self) -> (i64, Self) {
        let is_by = |divisor: u64| {
            let mut edges = (1..=255).flat_map(|multiple| [multiple * divisor - 1, multiple * divisor]);
            edges.all(|number| self.of(number) == Some(number / divisor))
        };
        // Quotients by 255 are left as they are, in any rounding.
        let found = [3_u8, 5, 15, 17, 51, 85].into_iter().find(|&divisor| is_by(divisor.into()));
        found.map_or((1, self), |divisor| ((u8::MAX / divisor).into(), Self::BY_255))
    }

    /// What must be added to numbers up to the greatest one, so that folding alone divides them in the same way. It is
    /// looked for where quotients change; the proof is of all numbers.
    pub(super) fn added(self, greatest: u64) -> Option<u64> {
        let around = |multiple: u64| multiple.saturating_sub(1)..=multiple + 1;
        let edges = (0..=257).flat_map(|at| [at * 255, at * 256]).flat_map(around);
        let edges: Vec<u64> = edges.filter(|&number| number <= greatest).collect();
        let more = match self {
            Self::Multiplied { factor, added, .. } => added / factor.max(1),
            Self::Folded { added } => added,
        };
        [more, more.saturating_add(1)].into_iter().find(|more| {
            let folded = |number: u64| Self::Folded { added: 0 }.of(number.checked_add(*more)?);
            edges.iter().all(|&number| self.of(number).is_some_and(|it| Some(it) == folded(number)))
        })
    }
}

impl Scaled {
    /// Whether two sums differ in nothing but their lanes, what these are multiplied by besides numbers, and what is added
    /// to them all.
    pub(super) fn is_shaped_as(&self, other: &Self) -> bool {
        let weights = |sum: &Self| sum.addends.iter().map(|addend| addend.weight).collect::<Vec<_>>();
        let bits = |sum: &Self| (sum.shift, sum.division);
        bits(self) == bits(other) && weights(self) == weights(other)
    }

    /// Whether two sums differ in nothing but their lanes, and what is added to them.
    pub(super) fn has_weights_of(&self, other: &Self) -> bool {
        let mut pairs = self.addends.iter().zip(&other.addends);
        self.is_shaped_as(other) && pairs.all(|(one, other)| one.factor == other.factor)
    }

    /// Adds a lane times a weight; `None` if there are too many lanes.
    fn add(&mut self, lane: Term, weight: i64) -> Option<()> {
        if let Some(same) =
            self.addends.iter_mut().find(|addend| addend.lane == lane && addend.factor.is_none())
        {
            same.weight = same.weight.checked_add(weight)?;
            return Some(());
        }
        self.push(Addend { weight, lane, factor: None })
    }

    /// Adds a lane as it is; `None` if there are too many.
    pub(super) fn push(&mut self, addend: Addend) -> Option<()> {
        if self.addends.len() == MOST_ADDENDS {
            return None;
        }
        self.addends.push(addend);
        Some(())
    }

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

/// Something of each sum that there is.
pub(super) fn of_each<T>(sums: &[Option<Scaled>], of: impl Fn(&Scaled) -> T) -> Vec<Option<T>> {
    sums.iter().map(|sum| sum.as_ref().map(&of)).collect()
}

impl Words {
    /// A lane as bits of a weighted sum of lanes that stays within a half.
    pub(super) fn sum_of(&mut self, lane: Term) -> Option<Scaled> {
        if let Some(sum) = self.quotient(lane) {
            return Some(sum);
        }
        let terms = &self.pieces.terms;
        let shifted =
            |term: Term| if let Op::Extract(sum, shift) = terms.op(term) { Some((sum, shift)) } else { None };
        let is_computed = |term: Term| {
            shifted(term).is_some_and(|(sum, _)| matches!(terms.op(sum), Op::Add(..) | Op::Mul(..)))
        };
        // What is added to the bits of a sum may be added to the sum instead.
        let (bits, more) = if let Op::Add(a, b) = terms.op(lane) {
            if is_computed(b) { (b, Some(a)) } else { (a, Some(b)) }
        } else {
            (lane, None)
        };
        // Or it is a sum of multiples itself, of which only the low bits were computed.
        let multiplies = |term: Term| matches!(terms.op(term), Op::Mul(..));
        let is_sum = multiplies(lane) || terms.children(lane).any(multiplies);
        let (sum, shift, more) = match shifted(bits) {
            Some((sum, shift)) => (sum, shift, more),
            None if is_sum => (lane, 0, None),
            None => return None,
        };
        let mut scaled = Scaled { shift, number: 0, addends: Vec::new(), division: None };
        self.collect(sum, 1, 0, &mut scaled)?;
        if let Some(more) = more {
            self.collect(more, 1 << shift, 0, &mut scaled)?;
        }
        self.join_opposites(&mut scaled);
        scaled.reduce();
        let multiplied = scaled.addends.iter().filter(|addend| addend.factor.is_some());
        let is_weighted = scaled.shift > 0 || scaled.addends.iter().any(|addend| addend.weight != 1);
        // Products are added as they are.
        let are_plain = multiplied.clone().all(|addend| addend.weight == 1);
        let sums = scaled.addends.len() > 1 || multiplied.count() == 1 || is_sum;
        (scaled.shift + 8 <= HALF && is_weighted && are_plain && sums).then_some(scaled)
    }

    /// A lane as the quotient of a sum by 255, or by `65536 / 257`, rounded in any way, in any spelling.
    fn quotient(&mut self, lane: Term) -> Option<Scaled> {
        let Op::Extract(of, low) = self.pieces.terms.op(lane) else { return None };
        let quotient = self.multiplied(of, low).or_else(|| self.folding(of, low))?;
        let (times, division) = quotient.division.by_255();
        let mut sum = Scaled { shift: 8, number: 0, addends: Vec::new(), division: Some(division) };
        self.collect(quotient.of, times, 0, &mut sum)?;
        let are_plain = sum.addends.iter().all(|addend| addend.weight == 1 || addend.factor.is_none());
        are_plain.then_some(sum)
    }

    /// Bits of a number times a constant, and one added; above those that a weighted sum of 16 bits has.
    fn multiplied(&self, of: Term, low: u32) -> Option<Quotient> {
        if low < HALF {
            return None;
        }
        let terms = &self.pieces.terms;
        let (product, added) = self.without_constant(of);
        let Op::Mul(number, factor) = terms.op(product) else { return None };
        let factor = u64::try_from(terms.value(factor)?).ok()?;
        Some(Quotient { of: self.inner(number), division: Division::Multiplied { factor, added, low } })
    }

    /// Bits of a number with its own upper bits added, and a constant.
    fn folding(&self, of: Term, low: u32) -> Option<Quotient> {
        let terms = &self.pieces.terms;
        let (sum, outer) = self.without_constant(of);
        let Op::Add(a, b) = terms.op(sum) else { return None };
        if low != 8 {
            return None;
        }
        [(a, b), (b, a)].into_iter().find_map(|(rest, high)| {
            let Op::Extract(of, 8) = terms.op(self.inner(high)) else { return None };
            let ((number, own), (same, more)) = (self.without_constant(of), self.without_constant(rest));
            let added = outer.checked_add(more)?.checked_sub(own).filter(|_| number == same)?;
            Some(Quotient { of, division: Division::Folded { added } })
        })
    }

    /// A sum without the constant in it, and that.
    fn without_constant(&self, sum: Term) -> (Term, u64) {
        let terms = &self.pieces.terms;
        let value = |term| terms.value(term).and_then(|value| u64::try_from(value).ok());
        let Op::Add(a, b) = terms.op(sum) else { return (sum, 0) };
        match value(b) {
            Some(added) => (a, added),
            None => (sum, 0),
        }
    }

    /// What a term is extended from.
    fn inner(&self, term: Term) -> Term {
        if let Op::ZeroExtend(inner) = self.pieces.terms.op(term) { inner } else { term }
    }

    /// Adds the addends of a term, times a weight, to those of a sum; `None` if it is no such sum.
    pub(super) fn collect(&mut self, term: Term, weight: i64, depth: usize, sum: &mut Scaled) -> Option<()> {
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
                (None, None) => return self.collect_product([a, b], weight, depth, sum),
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

    /// The same of a lane times something.
    fn collect_product(
        &mut self,
        [a, b]: [Term; 2],
        weight: i64,
        depth: usize,
        sum: &mut Scaled,
    ) -> Option<()> {
        let width = self.pieces.terms.width(a);
        if !(16..=WORD).contains(&width) {
            return None;
        }
        if self.collect_difference([a, b], weight, depth, sum).is_some() {
            return Some(());
        }
        let (lane, up, factor) = match (self.moved_up(a), self.moved_up(b)) {
            // The same number may have been extended from any width.
            (Some((lane, up)), Some((factor, further))) => (lane, up + further, factor),
            (Some((lane, up)), None) => (lane, up, b),
            (None, Some((lane, up))) => (lane, up, a),
            (None, None) => return None,
        };
        let weight = weight.checked_mul(1 << up)?;
        let factor = self.pieces.terms.zero_extend(factor, WORD);
        sum.push(Addend { weight, lane, factor: Some(factor) })
    }

    /// The only byte of a term that is not zero, wherever it begins, and how far up it is.
    fn moved_up(&mut self, term: Term) -> Option<(Term, u32)> {
        let fact = self.pieces.fact(term);
        let zeros = fact.zeros().trailing_ones().min(self.pieces.terms.width(term) - 8);
        let is_lane = |up: &u32| fact.unsigned().1 >> up <= u128::from(u8::MAX);
        // A byte may end with zeros of its own.
        let up = [zeros / 8 * 8, zeros].into_iter().find(is_lane)?;
        Some((self.pieces.part(term, up, 8), up))
    }

    /// The same of a term that is a lane, perhaps inverted or moved up, and extended.
    fn collect_lane(&mut self, term: Term, weight: i64, depth: usize, sum: &mut Scaled) -> Option<()> {
        let terms = &self.pieces.terms;
        if let Op::SignExtend(inner) = terms.op(term)
            && terms.width(inner) == 8
        {
            // With its highest bit inverted it is greater by 128, and not negative.
            let highest = self.pieces.terms.constant(0x80, 8);
            let lane = self.pieces.terms.xor(inner, highest);
            sum.number = sum.number.checked_sub(weight.checked_mul(0x80)?)?;
            return sum.add(lane, weight);
        }
        let inner = if let Op::ZeroExtend(inner) = terms.op(term) { inner } else { term };
        let width = terms.width(inner);
        if let Op::Concat(high, low) = terms.op(inner)
            && terms.value(low) == Some(0)
        {
            let moved = weight.checked_mul(1 << terms.width(low).min(WORD))?;
            return self.collect(high, moved, depth + 1, sum);
        }
        if let Op::Not(a) = terms.op(inner) {
            let most = i64::try_from(ones(width)).ok()?;
            sum.number = sum.number.checked_add(weight.checked_mul(most)?)?;
            return self.collect(a, weight.checked_neg()?, depth + 1, sum);
        }
        if width < 8 {
            return None;
        }
        let (lane, up) = self.moved_up(inner)?;
        sum.add(lane, weight.checked_mul(1_i64.checked_shl(up)?)?)
    }
}
