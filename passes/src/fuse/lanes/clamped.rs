//! Words whose lanes are numbers that are clamped to what a lane can be, as `cvt.pack` puts them side by side.
//!
//! The numbers are whole registers, which may be computed of anything, so they are no lanes of other words. Which number
//! a lane is made of is found by how both behave: of those below the lane, one that gives the lane, clamped, on all
//! samples. The proof tells what only the samples do not.
//!
//! A constant that is added to lanes after they were clamped, as the zero point of quantised numbers, is added to the
//! numbers before, where the instruction then clamps to the same lanes.
//!
//! A lane may have less room on one side than its bits have, as from -127 to 127: then that side is clamped before, and
//! the other one by the instruction that packs.

use super::halves::constant;
use super::pieces::Pieces;
use super::sampler::Sampler;
use super::scaled::WORD;
use super::words::Words;
use crate::graph::Join;
use crate::recipe::{Recipe, Source, Step};
use crate::rules::{Pass, Rule};
use crate::site::Site;
use ptxopt_grammar::meaning::term::{Op, Term, ones};
use ptxopt_grammar::table::instruction::{Mnemonic, op};
use ptxopt_grammar::video::{Lanes, Sign};

/// How many instructions that put bits together are looked at.
const MOST_JOINED: usize = 32;

/// How many numbers must be clamped for others beside them to be packed with them.
const LEAST_CLAMPED: usize = 2;

/// The rule for numbers of four bits, which are no lanes of SIMD instructions.
pub(super) const RULE: Rule = Rule {
    name: "nibbles",
    pass: Pass::Fuse,
    law: "numbers that are clamped to four bits and put side by side are packed by instructions that clamp",
    examples: &["max.s32 %r0, %a, -8; min.s32 %r0, %r0, 7; and.b32 %d, %r0, 15; \
         max.s32 %r1, %b, -8; min.s32 %r1, %r1, 7; and.b32 %r2, %r1, 15; bfi.b32 %d, %r2, %d, 4, 4; \
         max.s32 %r3, %c, -8; min.s32 %r3, %r3, 7; and.b32 %r2, %r3, 15; bfi.b32 %d, %r2, %d, 8, 4; \
         and.b32 %r2, %r0, 15; bfi.b32 %d, %r2, %d, 12, 4; and.b32 %r2, %r1, 15; bfi.b32 %d, %r2, %d, 16, 4; \
         and.b32 %r2, %r3, 15; bfi.b32 %d, %r2, %d, 20, 4; and.b32 %r2, %r1, 15; bfi.b32 %d, %r2, %d, 24, 4; \
         and.b32 %r2, %r0, 15; bfi.b32 %d, %r2, %d, 28, 4;"],
    propose: nibbles,
};

fn nibbles(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let width = site.graph.value(site.value).width;
    let is_part = site.graph.joined(site.value) == Some(Join::Or);
    if !matches!(width, 16 | 32) || is_part || !joins_clamped(site) {
        return;
    }
    Pieces::each(site, 8, |mut pieces| {
        // Above the last one are zeros, or what is undemanded.
        let demanded = site.demanded & ones(width);
        let count = (u128::BITS - demanded.leading_zeros()).div_ceil(4);
        let root = pieces.root;
        let mut nibbles: Vec<Term> = (0..count).map(|at| pieces.part(root, 4 * at, 4)).collect();
        while nibbles.last().is_some_and(|&last| pieces.terms.value(last) == Some(0)) {
            nibbles.pop();
        }
        let mut words = Words::over(pieces, Lanes::Four);
        // Each instruction packs two.
        let packs = nibbles.len().is_multiple_of(2);
        let word = packs.then(|| words.all_clamped(&nibbles)).flatten();
        let value = word.map(|word| words.cut(word, width));
        out.extend(value.and_then(|value| words.made_of(value)));
        words.pieces
    });
}

/// Whether a chain that puts bits together has several operands that are minima or maxima. That is quick to see, and of
/// most chains it is not so.
fn joins_clamped(site: &Site<'_, '_, '_>) -> bool {
    let mut stack = vec![*site.step];
    let (mut clamped, mut seen) = (0, 0);
    while let Some(step) = stack.pop() {
        seen += 1;
        let is = |some: &[Mnemonic]| {
            step.instruction().is_some_and(|own| some.iter().any(|&one| own.row().is(one)))
        };
        if is(&[op::MIN, op::MAX]) {
            clamped += 1;
        } else if seen <= MOST_JOINED && is(&[op::OR, op::BFI, op::ADD, op::SHL, op::AND]) {
            stack.extend(step.sources.iter().filter_map(|&source| site.definition(source)));
        }
    }
    clamped > 1
}

/// How numbers are clamped: to numbers with this sign, of which the highest bit is inverted then or not, and whether what
/// is added to the lanes is added to the numbers instead.
#[derive(Clone, Copy, Debug)]
struct Clamp {
    sign: Sign,
    inverts: bool,
    adds: bool,
}

impl Clamp {
    /// All, the simplest first.
    fn all() -> impl Iterator<Item = Self> {
        let of = |adds: bool| {
            let signs = move |inverts| Sign::ALL.map(|sign| Self { sign, inverts, adds });
            [false, true].into_iter().flat_map(signs)
        };
        [false, true].into_iter().flat_map(of)
    }

    /// Whether a number without a sign that fits stays what it is.
    const fn keeps_what_fits(self) -> bool {
        matches!(self, Self { sign: Sign::Unsigned, inverts: false, adds: false })
    }

    /// What is added to a number that makes a lane.
    const fn added(self, to_lane: i64) -> i64 {
        if self.adds { to_lane } else { 0 }
    }

    /// What a number becomes in so many bits.
    fn of(self, number: i64, bits: u32) -> u64 {
        let [least, most] = limits(self.sign, bits);
        let clamped = number.clamp(least, most).cast_unsigned() & (u64::MAX >> (64 - bits));
        if self.inverts { clamped ^ 1 << (bits - 1) } else { clamped }
    }

    /// The number of so many bits that becomes this.
    fn number(self, lane: u64, bits: u32) -> i64 {
        let lane = if self.inverts { lane ^ 1 << (bits - 1) } else { lane };
        match self.sign {
            Sign::Unsigned => lane.cast_signed(),
            Sign::Signed => sign_extended(lane, bits),
        }
    }
}

/// A side on which numbers are bounded, and by what.
#[derive(Clone, Copy, Debug)]
enum Bound {
    Least(i64),
    Most(i64),
}

impl Bound {
    /// The bound of numbers between these, where they have less room on one side than so many bits have.
    fn of([least, most]: [i64; 2], sign: Sign, bits: u32) -> Option<Self> {
        let limits = limits(sign, bits);
        match (least > limits[0], most < limits[1]) {
            (true, false) => Some(Self::Least(least)),
            (false, true) => Some(Self::Most(most)),
            (true, true) | (false, false) => None,
        }
    }

    fn apply(self, number: i64) -> i64 {
        match self {
            Self::Least(least) => number.max(least),
            Self::Most(most) => number.min(most),
        }
    }

    /// The instruction that bounds a word.
    fn step(self, word: Source) -> Step {
        let (instruction, bound) = match self {
            Self::Least(least) => (op::MAX_S32, least),
            Self::Most(most) => (op::MIN_S32, most),
        };
        Step::plain(instruction, &[word, constant(bound)])
    }
}

/// A number that is clamped to make a lane: a word, by its place among all, with something added, bounded before or not.
#[derive(Clone, Copy, Debug)]
struct Number {
    word: usize,
    added: i64,
    bound: Option<Bound>,
}

impl Words {
    /// A word of clamped numbers.
    pub(super) fn clamped(&mut self, lanes: &[Option<Term>]) -> Option<Source> {
        let lanes: Vec<Term> = lanes.iter().copied().collect::<Option<_>>()?;
        self.all_clamped(&lanes)
    }

    /// A word of numbers that are clamped to as many bits as each of these parts has, the lowest first.
    fn all_clamped(&mut self, parts: &[Term]) -> Option<Source> {
        let bits = self.pieces.terms.width(*parts.first()?);
        let (Clamp { sign, inverts, .. }, numbers) = self.numbers_of(parts)?;
        let word = self.packed(sign, bits, &numbers);
        let highest = parts.iter().fold(0, |all, _| all << bits | 1 << (bits - 1));
        Some(match inverts {
            true => self.push(Step::plain(op::XOR_B32, &[word, Source::Constant(highest)])),
            false => word,
        })
    }

    /// The numbers of 32 bits that lanes are, or parts of lanes, clamped, and how.
    fn numbers_of(&mut self, lanes: &[Term]) -> Option<(Clamp, Vec<Source>)> {
        let terms = &self.pieces.terms;
        let chooses = |term: Term| matches!(terms.op(term), Op::Choose(..));
        let is_clamped = |&lane: &Term| {
            let inner = if let Op::Add(inner, _) | Op::Xor(inner, _) = terms.op(lane) { inner } else { lane };
            chooses(lane) || chooses(inner)
        };
        // What is not clamped is a number that fits: an alpha beside three colours that are computed.
        let clamped: Vec<Term> = lanes.iter().copied().filter(is_clamped).collect();
        let fits = clamped.len() < lanes.len();
        if fits && (clamped.len() < LEAST_CLAMPED || 2 * clamped.len() < lanes.len()) {
            return None;
        }
        let words = self.pieces.all_words();
        let all: Vec<Term> = words.iter().chain(&clamped).copied().collect();
        let bits = terms.width(*lanes.first()?);
        let mut sampler = Sampler::of(terms, &all, self.lanes)?;
        // For each way to clamp, those that each lane may still be.
        let of_each = vec![(0..words.len()).collect::<Vec<usize>>(); clamped.len()];
        // What is added to lanes that are clamped may be added before instead, where there is room for it: the zero points
        // of quantised numbers.
        let added = |&lane: &Term| {
            let Op::Add(_, number) = terms.op(lane) else { return Some(0) };
            Some(sign_extended(u64::try_from(terms.value(number)?).ok()?, bits))
        };
        let added: Vec<i64> = clamped.iter().map(|lane| added(lane).unwrap_or(0)).collect();
        let adds = added.iter().any(|&more| more != 0);
        let ways = Clamp::all().filter(|clamp| (adds || !clamp.adds) && (!fits || clamp.keeps_what_fits()));
        let mut left: Vec<(Clamp, Vec<Vec<usize>>)> = ways.map(|clamp| (clamp, of_each.clone())).collect();
        sampler.each(|results| {
            let (values, results) = results.split_at(words.len());
            left.retain_mut(|(clamp, of_each)| {
                for ((left, &result), &more) in of_each.iter_mut().zip(results).zip(&added) {
                    let more = clamp.added(more);
                    left.retain(|&word| clamp.of(sign_extended(values[word], WORD) + more, bits) == result);
                }
                !of_each.iter().any(Vec::is_empty)
            });
            !left.is_empty()
        });
        // Terms are made of earlier ones, so the first numbers have the most of what is computed above them.
        let firsts = |of_each: &[Vec<usize>]| of_each.iter().map(|left| left[0]).collect::<Vec<_>>();
        let (clamp, of_each) = left.iter().min_by_key(|(_, of_each)| firsts(of_each))?;
        let firsts = firsts(of_each).into_iter().zip(added);
        let number = |(word, more)| Number { word, added: clamp.added(more), bound: None };
        let clamped_to = Clamped { clamp: *clamp, bits, numbers: firsts.map(number).collect() };
        let mut numbers = clamped_to.bounded(&mut sampler).into_iter();
        let zero = self.pieces.terms.constant(0, bits);
        let number = |lane: &Term| match clamped.contains(lane) {
            true => {
                let Number { word, added, bound } = numbers.next()?;
                let word = self.pieces.word(words[word]).map(Source::Value)?;
                let word = match added {
                    0 => word,
                    _ => self.push(Step::plain(op::ADD_U32, &[word, constant(added)])),
                };
                Some(bound.map_or(word, |bound| self.push(bound.step(word))))
            }
            // The bits above it must be zeros whatever becomes of what is undemanded.
            false => {
                let mut alone = vec![Some(zero); usize::from(self.lanes.count())];
                alone[0] = Some(*lane);
                self.gathered(&alone)
            }
        };
        Some((*clamp, lanes.iter().map(number).collect::<Option<_>>()?))
    }

    /// Numbers that are clamped to so many bits side by side, two with each instruction.
    pub(super) fn packed(&mut self, sign: Sign, bits: u32, numbers: &[Source]) -> Source {
        let [unsigned, signed] = match bits {
            4 => [op::U4, op::S4],
            8 => [op::U8, op::S8],
            _ => [op::U16, op::S16],
        };
        let ty = if sign == Sign::Signed { signed } else { unsigned };
        let mut word = Source::Constant(0);
        for pair in numbers.rchunks(2) {
            let [low, high] = [pair[0], pair[pair.len() - 1]];
            // Two halves are a whole word.
            word = self.push(match bits {
                16 => Step::plain(op::CVT_PACK.with(&[op::PACK, op::SAT, ty, op::S32]), &[high, low]),
                _ => {
                    let pack = op::CVT_PACK.with(&[op::PACK, op::SAT, ty, op::S32, op::B32]);
                    Step::plain(pack, &[high, low, word])
                }
            });
        }
        word
    }
}

/// Lanes that are clamped to so many bits, with the first numbers that they are.
struct Clamped {
    clamp: Clamp,
    bits: u32,
    numbers: Vec<Number>,
}

impl Clamped {
    /// The numbers that the lanes are: where one always fits, an earlier one that it is if that is bounded on one side before.
    fn bounded(&self, sampler: &mut Sampler) -> Vec<Number> {
        let bounds = self.bounds(sampler);
        let until = |(number, bound): (&Number, &Option<Bound>)| bound.map_or(0, |_| number.word);
        let mut earlier: Vec<Vec<usize>> =
            self.numbers.iter().zip(&bounds).map(|both| (0..until(both)).collect()).collect();
        sampler.each(|results| {
            let (words, lanes) = results.split_at(results.len() - self.numbers.len());
            let of_each = self.numbers.iter().zip(&bounds).zip(lanes);
            for (earlier, ((number, bound), &lane)) in earlier.iter_mut().zip(of_each) {
                let bounded = |word: usize| {
                    let number = sign_extended(words[word], WORD) + number.added;
                    bound.map(|bound| self.clamp.of(bound.apply(number), self.bits))
                };
                earlier.retain(|&word| bounded(word) == Some(lane));
            }
            earlier.iter().any(|earlier| !earlier.is_empty())
        });
        let of_each = self.numbers.iter().zip(bounds).zip(earlier);
        let number = |((&first, bound), earlier): ((&Number, Option<Bound>), Vec<usize>)| match earlier[..] {
            [word, ..] => Number { word, bound, ..first },
            [] => first,
        };
        of_each.map(number).collect()
    }

    /// On which side the numbers are bounded, where they are so on one side and always fit.
    fn bounds(&self, sampler: &mut Sampler) -> Vec<Option<Bound>> {
        let mut ends = vec![Some([i64::MAX, i64::MIN]); self.numbers.len()];
        sampler.each(|results| {
            let lanes = &results[results.len() - self.numbers.len()..];
            for ((ends, number), &lane) in ends.iter_mut().zip(&self.numbers).zip(lanes) {
                let number = sign_extended(results[number.word], WORD) + number.added;
                let fits = self.clamp.number(lane, self.bits) == number;
                *ends = ends.filter(|_| fits).map(|[least, most]| [least.min(number), most.max(number)]);
            }
            ends.iter().any(Option::is_some)
        });
        ends.into_iter().map(|ends| Bound::of(ends?, self.clamp.sign, self.bits)).collect()
    }
}

/// The lowest bits of a word as a number with a sign.
const fn sign_extended(word: u64, bits: u32) -> i64 {
    word.cast_signed() << (64 - bits) >> (64 - bits)
}

/// The least and the greatest number of so many bits with a sign.
pub(super) fn limits(sign: Sign, bits: u32) -> [i64; 2] {
    let half = 1 << (bits - 1);
    match sign {
        Sign::Unsigned => [0, 2 * half - 1],
        Sign::Signed => [-half, half - 1],
    }
}
