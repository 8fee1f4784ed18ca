//! The builder of a sequence: steps that occur once, with constants folded and no step unused.
//!
//! What is commutative has its operands in one order, and a byte move of a byte move is one. So the same building
//! block gives the same steps wherever it is used, and a selection over a whole function finds them shared.

use super::Available;
use super::choice::Choices;
use super::halves;
use super::lanes::Job;
use super::zeros;
use crate::graph::ValueId;
use crate::recipe::{Code, Half, Recipe, Source, Step};
use hashbrown::HashMap;
use ptxopt_grammar::table::instruction::{Instruction, op};
use ptxopt_grammar::video::{Form, Scalar, Simd};

/// All bits of a word.
pub(super) const ALL: u64 = 0xffff_ffff;

/// How many steps a sequence may have in the usual case: room is made for these.
const USUAL_STEPS: usize = 28;

/// A sequence in the making.
pub(super) struct Build<'c> {
    pub(super) with: Available,
    /// What the halves of values are.
    values: &'c dyn Fn(ValueId) -> halves::HalfRange,
    pub(super) steps: Vec<Step>,
    /// By step: what both of its halves are, at least and at most, as signed numbers.
    ranges: Vec<(i64, i64)>,
    /// By step: the bits that are known to be zero.
    zeros: Vec<u32>,
    known: HashMap<Step, usize>,
    choices: &'c mut Choices,
}

/// What a byte of a word is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ByteOrigin {
    Number(u8),
    /// This byte of a source, or copies of its highest bit.
    Of {
        source: Source,
        byte: u8,
        sign: bool,
    },
}

impl<'c> Build<'c> {
    /// A sequence that begins with these steps.
    pub(super) fn after(
        before: &[Step],
        with: Available,
        values: &'c dyn Fn(ValueId) -> halves::HalfRange,
        choices: &'c mut Choices,
    ) -> Self {
        let (steps, ranges, zeros) = (Vec::new(), Vec::new(), Vec::new());
        let known = HashMap::with_capacity(before.len() + USUAL_STEPS);
        let mut build = Self { with, values, steps, ranges, zeros, known, choices };
        for step in before {
            build.append(*step, build.zeros_of(step));
        }
        build
    }

    /// The same sequence, to be continued with other choices.
    pub(super) fn again<'n>(&self, choices: &'n mut Choices) -> Build<'n>
    where
        'c: 'n,
    {
        let Self { with, values, ref steps, ref ranges, ref zeros, ref known, .. } = *self;
        let (steps, ranges) = (steps.clone(), ranges.clone());
        Build { with, values, steps, ranges, zeros: zeros.clone(), known: known.clone(), choices }
    }

    /// Adds a step, of which these bits are known to be zero.
    fn append(&mut self, step: Step, zeros: u32) {
        let range = halves::range(&step, &|source| self.range(source));
        let special = self.without_borrow(&step).or_else(|| self.negated(&step));
        self.ranges.push(special.unwrap_or(range));
        self.zeros.push(zeros);
        self.known.insert(step, self.steps.len());
        self.steps.push(step);
    }

    /// The range of `x - min(x, y)`, which cannot borrow.
    fn without_borrow(&self, step: &Step) -> Option<halves::HalfRange> {
        let &[x, Source::Step(least)] = step.sources.as_slice() else { return None };
        let least = &self.steps[least];
        let is_least = least.is(op::MIN_U16X2) && least.sources.contains(&x);
        let range = self.range(x);
        (step.is(op::SUB_U32) && is_least && range.0 >= 0).then_some((0, range.1))
    }

    /// The range of a word whose halves are negated, as [`Self::negated_halves`] does it.
    fn negated(&self, step: &Step) -> Option<halves::HalfRange> {
        let &[Source::Step(negation), _] = step.sources.as_slice() else { return None };
        let &[Source::Step(half)] = self.steps[negation].sources.as_slice() else { return None };
        let is_negated = step.code == Code::Pack && self.steps[negation].is(op::NEG_S16);
        let half = &self.steps[half];
        let (least, most) = self.range(*half.sources.first()?);
        (is_negated && matches!(half.code, Code::Half(_)) && least > halves::ANY.0).then_some((-most, -least))
    }

    /// What both halves of a source are, at least and at most, as signed numbers.
    fn range(&self, source: Source) -> (i64, i64) {
        match source {
            Source::Step(step) => self.ranges[step],
            Source::Value(value) => (self.values)(value),
            Source::Constant(word) => halves::of_number(word),
        }
    }

    /// The bits of a source that are known to be zero.
    fn zeros(&self, source: Source) -> u32 {
        match source {
            Source::Step(step) => self.zeros[step],
            Source::Value(_) => 0,
            Source::Constant(word) => !u32::try_from(word & ALL).expect("it was cut to a word"),
        }
    }

    /// Whether no bits of a source can be set but those of a mask.
    pub(super) fn has_no_bits_but(&self, source: Source, mask: u64) -> bool {
        u64::from(self.zeros(source)) | mask == ALL
    }

    /// The bits that are known to be zero in what a step computes.
    fn zeros_of(&self, step: &Step) -> u32 {
        zeros::zeros(step, &|source| self.zeros(source))
    }

    /// Whether lanes are known not to affect each other when words are added.
    pub(super) fn carries_nothing(&self, job: Job) -> bool {
        zeros::carry_nothing(job.bits(), job.words().map(|word| self.zeros(word)))
    }

    /// Whether the highest bits of all lanes are known to be zero in both words.
    pub(super) fn has_room(&self, job: Job) -> bool {
        let high = self.zeros(job.geometry.high());
        job.words().into_iter().all(|word| self.zeros(word) | high == u32::MAX)
    }

    /// One of these alternatives; the generator runs once for each.
    pub(super) fn any<T: Copy>(&mut self, alternatives: &[T]) -> T {
        if let [alternative] = alternatives {
            return *alternative;
        }
        alternatives[self.choices.one_of(alternatives.len())]
    }

    /// A step, or the one that does the same already, or zero.
    pub(super) fn push(&mut self, step: Step) -> Source {
        let step = step.over(|source| self.copied(*source));
        if let Some(&known) = self.known.get(&step) {
            return Source::Step(known);
        }
        let zeros = self.zeros_of(&step);
        // A number that is copied is wanted in a register.
        if zeros == u32::MAX && step.copied().is_none() {
            return Source::Constant(0);
        }
        self.append(step, zeros);
        Source::Step(self.steps.len() - 1)
    }

    /// What steps compute that continue a result: to them it is `Source::Step(at)`, theirs are those after that, and those
    /// before are the steps that the sequence began with.
    pub(super) fn continued(&mut self, result: Source, at: usize, behind: &[Step]) -> Source {
        let mut places = vec![result];
        for step in behind {
            let step = step.over(|source| match *source {
                Source::Step(step) => step.checked_sub(at).map_or(*source, |step| places[step]),
                Source::Value(_) | Source::Constant(_) => *source,
            });
            places.push(match (step.instruction(), &step.sources[..]) {
                (Some(op::NOT_B32), &[x]) => self.not(x),
                (Some(op::AND_B32), &[x, y]) => self.and(x, y),
                (Some(op::OR_B32), &[x, y]) => self.logic2([x, y], |x, y| x | y),
                (Some(op::XOR_B32), &[x, y]) => self.xor(x, y),
                (Some(op::PRMT_B32), &[x, y, Source::Constant(selector)]) => self.prmt(x, y, selector),
                (Some(op::LOP3_B32), &[x, y, z, Source::Constant(table)]) => {
                    let table = u8::try_from(table).expect("a table has eight bits");
                    self.function_of_signs([x, y, z], table).unwrap_or_else(|| self.push(step))
                }
                _ => self.push(step),
            });
        }
        *places.last().expect("the result itself is there")
    }

    /// What a source is a copy of: itself, or what was there before.
    fn copied(&self, source: Source) -> Source {
        match source {
            Source::Step(step) => match self.steps[step].copied() {
                Some(of @ (Source::Value(_) | Source::Step(_))) => self.copied(of),
                _ => source,
            },
            Source::Value(_) | Source::Constant(_) => source,
        }
    }

    /// An instruction.
    pub(super) fn plain(&mut self, instruction: Instruction, sources: &[Source]) -> Source {
        self.push(Step::plain(instruction, sources))
    }

    /// A commutative instruction of two sources.
    pub(super) fn commutative(&mut self, instruction: Instruction, x: Source, y: Source) -> Source {
        let (x, y) = if y < x { (y, x) } else { (x, y) };
        self.plain(instruction, &[x, y])
    }

    /// `x+y`
    pub(super) fn add(&mut self, x: Source, y: Source) -> Source {
        match (x, y) {
            (Source::Constant(x), Source::Constant(y)) => Source::Constant((x + y) & ALL),
            (x, Source::Constant(0)) | (Source::Constant(0), x) => x,
            (x, y) => self.commutative(op::ADD_U32, x, y),
        }
    }

    /// `x-y`
    pub(super) fn sub(&mut self, x: Source, y: Source) -> Source {
        match (x, y) {
            (Source::Constant(x), Source::Constant(y)) => Source::Constant(x.wrapping_sub(y) & ALL),
            (x, Source::Constant(0)) => x,
            (x, y) => self.plain(op::SUB_U32, &[x, y]),
        }
    }

    /// The least or the greatest of two signed words.
    pub(super) fn extreme(&mut self, instruction: Instruction, x: Source, y: Source) -> Source {
        match (x, y) {
            (Source::Constant(x), Source::Constant(y)) => {
                let flipped = |word: u64| word ^ 0x8000_0000;
                let least = flipped(x) < flipped(y);
                Source::Constant(if least == (instruction == op::MIN_S32) { x } else { y })
            }
            // A number stands last.
            (x @ Source::Constant(_), y) => self.plain(instruction, &[y, x]),
            (x, y @ Source::Constant(_)) => self.plain(instruction, &[x, y]),
            (x, y) => self.commutative(instruction, x, y),
        }
    }

    /// A shift right by a number, filled with zeros.
    pub(super) fn shr(&mut self, x: Source, by: u32) -> Source {
        match x {
            Source::Constant(x) => Source::Constant(x >> by),
            Source::Value(_) | Source::Step(_) => self.plain(op::SHR_U32, &[x, Source::Constant(by.into())]),
        }
    }

    /// A shift right by a number, filled with the sign.
    pub(super) fn sar(&mut self, x: Source, by: u32) -> Source {
        match x {
            Source::Constant(x) => Source::Constant((extended(x, 31) >> by).cast_unsigned() & ALL),
            Source::Value(_) | Source::Step(_) => self.plain(op::SHR_S32, &[x, Source::Constant(by.into())]),
        }
    }

    /// A shift left by a number.
    pub(super) fn shl(&mut self, x: Source, by: u32) -> Source {
        match x {
            Source::Constant(x) => Source::Constant(x << by & ALL),
            Source::Value(_) | Source::Step(_) => self.plain(op::SHL_B32, &[x, Source::Constant(by.into())]),
        }
    }

    /// A source in a register: packed and video instructions take no constant.
    pub(super) fn register(&mut self, source: Source) -> Source {
        match source {
            Source::Constant(_) => self.push(Step::copy(source, 32)),
            Source::Value(_) | Source::Step(_) => source,
        }
    }

    /// A packed instruction of two sources.
    pub(super) fn packed(&mut self, instruction: Instruction, x: Source, y: Source) -> Source {
        let (x, y) = (self.register(x), self.register(y));
        if instruction.row().commutes {
            self.commutative(instruction, x, y)
        } else {
            self.plain(instruction, &[x, y])
        }
    }

    /// Both halves of a word negated, which is a part of the machine instruction where the word is added to another one.
    pub(super) fn negated_halves(&mut self, word: Source) -> Source {
        if let Source::Constant(number) = word {
            let half = |shift: u32| (number >> shift & 0xffff).wrapping_neg() & 0xffff;
            return Source::Constant(half(16) << 16 | half(0));
        }
        let halves = [Half::Low, Half::High].map(|half| {
            let half = self.push(Step::half(half, word));
            self.push(Step::wide(op::NEG_S16, &[half], 16))
        });
        self.push(Step::pack(halves))
    }

    /// `x-y` in both halves. A number that a negated word is added to is no part of the machine instruction, so that is
    /// `~(~x+y)`.
    pub(super) fn difference(&mut self, x: Source, y: Source) -> Source {
        if matches!(x, Source::Constant(1..)) && !matches!(y, Source::Constant(_)) {
            return self.complement(x, y);
        }
        let negated = self.negated_halves(y);
        self.packed(op::ADD_S16X2, x, negated)
    }

    /// `~(~x+y)`, which is `x-y`, in both halves.
    pub(super) fn complement(&mut self, x: Source, y: Source) -> Source {
        let x = self.not(x);
        let sum = self.packed(op::ADD_S16X2, x, y);
        self.not(sum)
    }

    /// `acc` and the products of the bytes of `x` with numbers.
    pub(super) fn dot(&mut self, instruction: Instruction, x: Source, weights: u64, acc: Source) -> Source {
        if weights == 0 {
            return acc;
        }
        self.plain(instruction, &[x, Source::Constant(weights), acc])
    }

    /// A SIMD instruction.
    pub(super) fn simd(&mut self, form: Simd, sources: &[Source]) -> Source {
        let sources: Vec<Source> = sources.iter().map(|&source| self.register(source)).collect();
        self.push(Step::video(Form::Simd(form), &sources))
    }

    /// A scalar instruction. A `b` of which no part is picked may be a number.
    pub(super) fn scalar(&mut self, form: Scalar, sources: &[Source]) -> Source {
        let number = |at: usize| at == 1 && form.b.is_none();
        let sources = sources.iter().enumerate();
        let sources: Vec<Source> =
            sources.map(|(at, &source)| if number(at) { source } else { self.register(source) }).collect();
        self.push(Step::video(Form::Scalar(form), &sources))
    }

    /// The bytes that a selector picks from `x` (0 to 3) and `y` (4 to 7); bit 3 picks copies of the sign.
    pub(super) fn prmt(&mut self, x: Source, y: Source, selector: u64) -> Source {
        let bytes = self.picked(x, y, selector);
        self.joined(bytes).unwrap_or_else(|| self.plain(op::PRMT_B32, &[x, y, Source::Constant(selector)]))
    }

    /// What the bytes of a byte move are.
    fn picked(&self, x: Source, y: Source, selector: u64) -> [ByteOrigin; 4] {
        [0, 1, 2, 3].map(|lane| {
            let nibble = u8::try_from(selector >> (4 * lane) & 15).expect("it has four bits");
            let (source, byte, sign) = (if nibble & 4 == 0 { x } else { y }, nibble & 3, nibble & 8 != 0);
            self.byte(source, byte, sign)
        })
    }

    fn byte(&self, source: Source, byte: u8, sign: bool) -> ByteOrigin {
        let source = self.copied(source);
        match source {
            Source::Constant(value) => {
                let number = value.to_le_bytes()[usize::from(byte)];
                ByteOrigin::Number(if sign { if number & 0x80 == 0 { 0 } else { 0xff } } else { number })
            }
            Source::Step(step) => match (self.steps[step].code, &self.steps[step].sources[..]) {
                (Code::Plain(op::PRMT_B32), &[x, y, Source::Constant(selector)]) => {
                    match self.picked(x, y, selector)[usize::from(byte)] {
                        ByteOrigin::Number(number) => ByteOrigin::Number(if sign {
                            if number & 0x80 == 0 { 0 } else { 0xff }
                        } else {
                            number
                        }),
                        ByteOrigin::Of { source, byte, sign: signs } => {
                            ByteOrigin::Of { source, byte, sign: sign | signs }
                        }
                    }
                }
                _ => self.bounded(source, byte, sign),
            },
            Source::Value(_) => self.bounded(source, byte, sign),
        }
    }

    /// A byte of a word whose halves are in a range.
    fn bounded(&self, source: Source, byte: u8, sign: bool) -> ByteOrigin {
        match halves::upper(self.range(source)).filter(|_| byte % 2 == 1) {
            Some(halves::Upper::Number(number)) => {
                ByteOrigin::Number(if sign { if number & 0x80 == 0 { 0 } else { 0xff } } else { number })
            }
            Some(halves::Upper::Sign) => ByteOrigin::Of { source, byte: byte - 1, sign: true },
            None => ByteOrigin::Of { source, byte, sign },
        }
    }

    /// These bytes as one word by one instruction at most, if they come from at most two words.
    fn joined(&mut self, bytes: [ByteOrigin; 4]) -> Option<Source> {
        let mut sources: Vec<Source> = Vec::new();
        let mut number = 0_u64;
        let mut numbers = false;
        for (lane, byte) in bytes.iter().enumerate() {
            match *byte {
                ByteOrigin::Of { source, .. } if !sources.contains(&source) => sources.push(source),
                ByteOrigin::Of { .. } => {}
                ByteOrigin::Number(byte) => {
                    numbers = true;
                    number |= u64::from(byte) << (8 * lane);
                }
            }
        }
        sources.sort();
        let is = |x: &Source| (0..4).zip(&bytes).all(|(lane, &byte)| self.byte(*x, lane, false) == byte);
        if let Some(&x) = sources.iter().find(|x| is(x)) {
            return Some(x);
        }
        let (x, y) = match (sources.as_slice(), numbers) {
            ([], _) => return Some(Source::Constant(number)),
            (&[x], _) => (x, Source::Constant(number)),
            (&[x, y], false) => (x, y),
            _ => return None,
        };
        let nibble = |(lane, byte): (usize, &ByteOrigin)| match *byte {
            ByteOrigin::Of { source, byte, sign } => {
                (u64::from(byte) | if source == x { 0 } else { 4 } | if sign { 8 } else { 0 }) << (4 * lane)
            }
            // Zeros are all alike, so they are always picked from the same place.
            ByteOrigin::Number(_) if number == 0 => 4 << (4 * lane),
            ByteOrigin::Number(_) => (4 | lane as u64) << (4 * lane),
        };
        let selector: u64 = bytes.iter().enumerate().map(nibble).sum();
        if selector == 0x3210 {
            return Some(x);
        }
        Some(self.plain(op::PRMT_B32, &[x, y, Source::Constant(selector)]))
    }

    /// Whether a source is a byte move.
    pub(super) fn is_move(&self, source: Source) -> bool {
        let Source::Step(step) = source else { return false };
        self.steps[step].is(op::PRMT_B32)
    }

    /// The recipe of a word: the steps that it needs.
    pub(super) fn finish(mut self, result: Source) -> Recipe {
        let result = match result {
            Source::Step(step) => step,
            Source::Value(_) | Source::Constant(_) => {
                self.steps.push(Step::copy(result, 32));
                self.steps.len() - 1
            }
        };
        let mut needed = vec![false; self.steps.len()];
        needed[result] = true;
        for at in (0..=result).rev().filter(|&at| needed[at]).collect::<Vec<_>>() {
            mark(&self.steps, &mut needed, at);
        }
        let mut places = vec![0; self.steps.len()];
        let mut kept = Vec::new();
        for (at, mut step) in self.steps.into_iter().enumerate().filter(|&(at, _)| needed[at]) {
            for source in &mut step.sources {
                if let Source::Step(of) = source {
                    *of = places[*of];
                }
            }
            places[at] = kept.len();
            kept.push(step);
        }
        Recipe::of(kept)
    }
}

/// Marks what a step reads.
fn mark(steps: &[Step], needed: &mut [bool], at: usize) {
    let mut work = vec![at];
    while let Some(at) = work.pop() {
        for source in &steps[at].sources {
            if let Source::Step(of) = *source
                && !needed[of]
            {
                needed[of] = true;
                work.push(of);
            }
        }
    }
}

/// The low bits of a number up to its sign, as a signed number.
pub(super) fn extended(value: u64, sign: u32) -> i64 {
    let unused = 63 - sign;
    (value << unused).cast_signed() >> unused
}
