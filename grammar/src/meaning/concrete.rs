//! Evaluates terms on numbers: a program of steps over slots is made once and run often.
//!
//! Every slot holds its value with zeros above its width, so zero extension costs nothing; sums and products are
//! cut after each step. Every step reads slots that earlier steps wrote, because children come before the terms
//! made of them.

use super::term::{Op, Term, Terms, ones};
use hashbrown::{HashMap, HashSet};
use std::ops::{BitAnd, BitOr, BitXor, Not, Shl, Shr};

/// A machine word that holds the values of terms.
pub trait Word:
    Copy
    + Default
    + Eq
    + Ord
    + Not<Output = Self>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
{
    /// How many bits it has.
    const BITS: u32;
    /// One.
    const ONE: Self;
    /// The lowest bits of a number.
    fn cut(value: u128) -> Self;
    /// The number.
    fn whole(self) -> u128;
    /// The sum, wrapping.
    fn plus(self, other: Self) -> Self;
    /// The difference, wrapping.
    fn minus(self, other: Self) -> Self;
    /// The product, wrapping.
    fn times(self, other: Self) -> Self;
    /// The quotient and the remainder; all ones and the dividend for a divisor of zero.
    fn divided(self, other: Self) -> (Self, Self);
    /// Shifted left by `up`, then right by `down` with copies of the sign.
    fn signed_shifts(self, up: u32, down: u32) -> Self;
    /// Whether it is less, both signed.
    fn signed_less(self, other: Self) -> bool;
    /// The number, at most 255.
    fn amount(self) -> u32;
}

macro_rules! words {
    ($($word:ident)*) => {$(
        impl Word for $word {
            const BITS: u32 = Self::BITS;
            const ONE: Self = 1;

            fn cut(value: u128) -> Self {
                Self::try_from(value & u128::from(Self::MAX)).expect("only as many bits are left")
            }

            fn whole(self) -> u128 {
                self.into()
            }

            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }

            fn divided(self, other: Self) -> (Self, Self) {
                (self.checked_div(other).unwrap_or(Self::MAX), self.checked_rem(other).unwrap_or(self))
            }

            fn signed_shifts(self, up: u32, down: u32) -> Self {
                ((self << up).cast_signed() >> down).cast_unsigned()
            }

            fn signed_less(self, other: Self) -> bool {
                self.cast_signed() < other.cast_signed()
            }

            fn amount(self) -> u32 {
                u8::try_from(self).unwrap_or(u8::MAX).into()
            }
        }
    )*};
}

words! { u32 u64 u128 }

/// Where a value is.
pub(super) type Slot = u32;

/// One step. `mask` is the ones of the result's width.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step<W> {
    Input {
        number: u32,
        mask: W,
    },
    Not(Slot, W),
    And(Slot, Slot),
    Or(Slot, Slot),
    Xor(Slot, Slot),
    Add(Slot, Slot, W),
    AddConstant(Slot, W, W),
    Sub(Slot, Slot, W),
    Neg(Slot, W),
    Mul(Slot, Slot, W),
    Divide(Slot, Slot, W),
    Remainder(Slot, Slot),
    Shl(Slot, Slot, W),
    Lshr(Slot, Slot),
    Ashr {
        value: Slot,
        amount: Slot,
        unused: u32,
        mask: W,
    },
    Extract(Slot, u32, W),
    /// Bits from a place upwards, extended: shifted up so that the sign is on top, down, and cut.
    Signed {
        value: Slot,
        up: u32,
        down: u32,
        mask: W,
    },
    Concat {
        high: Slot,
        low: Slot,
        shift: u32,
    },
    Equal(Slot, Slot),
    UnsignedLess(Slot, Slot),
    SignedLess {
        a: Slot,
        b: Slot,
        unused: u32,
    },
    Choose(Slot, Slot, Slot),
    /// The lesser of two signed numbers; `SignedMost` is the greater.
    SignedLeast {
        a: Slot,
        b: Slot,
        unused: u32,
    },
    SignedMost {
        a: Slot,
        b: Slot,
        unused: u32,
    },
}

/// Terms ready to run.
#[derive(Clone, Debug)]
pub struct Program<W = u64> {
    steps: Vec<(Slot, Step<W>)>,
    slots: Vec<W>,
    /// The slots that hold constants, which no step writes.
    constants: Vec<(Slot, W)>,
    outputs: Vec<Slot>,
    inputs: usize,
}

impl<W: Word> Program<W> {
    /// Makes a program that computes `outputs`; `None` if one of the values does not fit in the word.
    #[must_use]
    pub fn compile(terms: &Terms, outputs: &[Term]) -> Option<Self> {
        let needed = needed(terms, outputs, |_| false);
        let mut program = Self {
            steps: Vec::new(),
            slots: Vec::new(),
            constants: Vec::new(),
            outputs: Vec::new(),
            inputs: 0,
        };
        let mut places: HashMap<Term, Slot> = HashMap::with_capacity(needed.len());
        for term in needed {
            if terms.width(term) > W::BITS {
                return None;
            }
            let slot = program.add(terms, term, &places);
            places.insert(term, slot);
        }
        program.outputs = outputs.iter().map(|output| places[output]).collect();
        Some(program)
    }

    /// Adds a term; its slot.
    fn add(&mut self, terms: &Terms, term: Term, places: &HashMap<Term, Slot>) -> Slot {
        let slot = u32::try_from(self.slots.len()).expect("there are no more slots than terms");
        match terms.op(term) {
            Op::Constant(value) => {
                self.slots.push(W::cut(value));
                self.constants.push((slot, W::cut(value)));
                return slot;
            }
            Op::ZeroExtend(inner) => return places[&inner],
            Op::Input(number) => self.inputs = self.inputs.max(number as usize + 1),
            Op::Not(_)
            | Op::And(..)
            | Op::Or(..)
            | Op::Xor(..)
            | Op::Add(..)
            | Op::Mul(..)
            | Op::UnsignedDivide(..)
            | Op::UnsignedRemainder(..)
            | Op::Shl(..)
            | Op::Lshr(..)
            | Op::Ashr(..)
            | Op::Extract(..)
            | Op::Concat(..)
            | Op::SignExtend(_)
            | Op::Equal(..)
            | Op::UnsignedLess(..)
            | Op::SignedLess(..)
            | Op::Choose(..) => {}
        }
        self.slots.push(W::default());
        self.steps.push((slot, step(terms, term, |term| places[&term])));
        slot
    }

    pub(super) fn steps(&self) -> &[(Slot, Step<W>)] {
        &self.steps
    }

    pub(super) fn slots(&self) -> &[W] {
        &self.slots
    }

    pub(super) fn constants(&self) -> &[(Slot, W)] {
        &self.constants
    }

    pub(super) fn outputs(&self) -> &[Slot] {
        &self.outputs
    }

    /// How many inputs it reads: one more than the highest number.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// How many steps it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether it has no steps: every output is a constant.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Computes the outputs; bits of an input above its width do not count.
    ///
    /// # Panics
    ///
    /// If there are fewer inputs or results than the program has.
    pub fn run(&mut self, inputs: &[W], results: &mut [W]) {
        let Self { steps, slots, .. } = self;
        for &(slot, step) in &*steps {
            slots[slot as usize] = step.run(|slot| slots[slot as usize], inputs);
        }
        assert!(results.len() >= self.outputs.len(), "every output has a place");
        for (result, &output) in results.iter_mut().zip(&self.outputs) {
            *result = self.slots[output as usize];
        }
    }
}

/// Evaluates terms once.
#[must_use]
pub fn evaluate(terms: &Terms, outputs: &[Term], inputs: &[u128]) -> Vec<u128> {
    let mut program = Program::<u128>::compile(terms, outputs).expect("no term is wider than 128 bits");
    let mut results = vec![0; outputs.len()];
    program.run(inputs, &mut results);
    results
}

/// The terms that need a step, in order, but what is there already: those that outputs reach through the operands of
/// steps. A step may absorb a child of its term and read the child's children instead.
pub(super) fn needed(terms: &Terms, outputs: &[Term], is_there: impl Fn(Term) -> bool) -> Vec<Term> {
    let mut needed: HashSet<Term> = HashSet::new();
    let mut waiting: Vec<Term> = outputs.to_vec();
    while let Some(term) = waiting.pop() {
        if !is_there(term) && needed.insert(term) {
            waiting.extend(operands(terms, term).into_iter().flatten());
        }
    }
    let mut needed: Vec<Term> = needed.into_iter().collect();
    needed.sort_unstable();
    needed
}

/// `b` if the term is `!b + 1`.
fn negated(terms: &Terms, term: Term) -> Option<Term> {
    let Op::Add(inverted, one) = terms.op(term) else { return None };
    match (terms.op(inverted), terms.value(one)) {
        (Op::Not(inner), Some(1)) => Some(inner),
        (_, _) => None,
    }
}

/// How a sum is computed: as a sum, a sum with a constant, a difference or a negation.
enum Sum {
    Plain(Term, Term),
    Constant(Term, u128),
    Difference(Term, Term),
    Opposite(Term),
}

fn sum(terms: &Terms, term: Term, a: Term, b: Term) -> Sum {
    if let Some(inner) = negated(terms, term) {
        Sum::Opposite(inner)
    } else if let Some(value) = terms.value(b) {
        Sum::Constant(a, value)
    } else if let Some(inner) = negated(terms, b) {
        Sum::Difference(a, inner)
    } else if let Some(inner) = negated(terms, a) {
        Sum::Difference(b, inner)
    } else {
        Sum::Plain(a, b)
    }
}

/// How a choice is computed: as a choice, a minimum or a maximum.
enum Choice {
    Plain,
    /// The lesser of two signed numbers.
    Least(Term, Term),
    /// The greater.
    Most(Term, Term),
}

fn choice(terms: &Terms, condition: Term, then: Term, otherwise: Term) -> Choice {
    let Op::SignedLess(a, b) = terms.op(condition) else { return Choice::Plain };
    match (then, otherwise) {
        branches if branches == (a, b) => Choice::Least(a, b),
        branches if branches == (b, a) => Choice::Most(a, b),
        (_, _) => Choice::Plain,
    }
}

/// The terms that the step of `term` reads.
pub(super) fn operands(terms: &Terms, term: Term) -> [Option<Term>; 3] {
    match terms.op(term) {
        Op::Input(_) | Op::Constant(_) => [None; 3],
        Op::Add(a, b) => match sum(terms, term, a, b) {
            Sum::Plain(a, b) | Sum::Difference(a, b) => [Some(a), Some(b), None],
            Sum::Constant(a, _) | Sum::Opposite(a) => [Some(a), None, None],
        },
        Op::SignExtend(inner) => {
            let whole = if let Op::Extract(whole, _) = terms.op(inner) { whole } else { inner };
            [Some(whole), None, None]
        }
        Op::Choose(condition, then, otherwise) => match choice(terms, condition, then, otherwise) {
            Choice::Plain => [Some(condition), Some(then), Some(otherwise)],
            Choice::Least(a, b) | Choice::Most(a, b) => [Some(a), Some(b), None],
        },
        Op::Not(_)
        | Op::Extract(..)
        | Op::ZeroExtend(_)
        | Op::And(..)
        | Op::Or(..)
        | Op::Xor(..)
        | Op::Mul(..)
        | Op::UnsignedDivide(..)
        | Op::UnsignedRemainder(..)
        | Op::Shl(..)
        | Op::Lshr(..)
        | Op::Ashr(..)
        | Op::Concat(..)
        | Op::Equal(..)
        | Op::UnsignedLess(..)
        | Op::SignedLess(..) => {
            let mut children = terms.children(term);
            [children.next(), children.next(), None]
        }
    }
}

/// The step of a term that is neither a constant nor a zero extension.
pub(super) fn step<W: Word>(terms: &Terms, term: Term, at: impl Fn(Term) -> Slot) -> Step<W> {
    let width = terms.width(term);
    let mask = W::cut(ones(width));
    match terms.op(term) {
        Op::Constant(_) | Op::ZeroExtend(_) => unreachable!("they have no step"),
        Op::Input(number) => Step::Input { number, mask },
        Op::Not(a) => Step::Not(at(a), mask),
        Op::And(a, b) => Step::And(at(a), at(b)),
        Op::Or(a, b) => Step::Or(at(a), at(b)),
        Op::Xor(a, b) => Step::Xor(at(a), at(b)),
        Op::Add(a, b) => match sum(terms, term, a, b) {
            Sum::Plain(a, b) => Step::Add(at(a), at(b), mask),
            Sum::Constant(a, value) => Step::AddConstant(at(a), W::cut(value), mask),
            Sum::Difference(a, b) => Step::Sub(at(a), at(b), mask),
            Sum::Opposite(a) => Step::Neg(at(a), mask),
        },
        Op::Mul(a, b) => Step::Mul(at(a), at(b), mask),
        Op::UnsignedDivide(a, b) => Step::Divide(at(a), at(b), mask),
        Op::UnsignedRemainder(a, b) => Step::Remainder(at(a), at(b)),
        Op::Shl(a, b) => Step::Shl(at(a), at(b), mask),
        Op::Lshr(a, b) => Step::Lshr(at(a), at(b)),
        Op::Ashr(a, b) => Step::Ashr { value: at(a), amount: at(b), unused: W::BITS - width, mask },
        Op::Extract(a, low) => Step::Extract(at(a), low, mask),
        Op::SignExtend(inner) => {
            let (value, low) =
                if let Op::Extract(whole, low) = terms.op(inner) { (whole, low) } else { (inner, 0) };
            let up = W::BITS - low - terms.width(inner);
            Step::Signed { value: at(value), up, down: up + low, mask }
        }
        Op::Concat(high, low) => Step::Concat { high: at(high), low: at(low), shift: terms.width(low) },
        Op::Equal(a, b) => Step::Equal(at(a), at(b)),
        Op::UnsignedLess(a, b) => Step::UnsignedLess(at(a), at(b)),
        Op::SignedLess(a, b) => Step::SignedLess { a: at(a), b: at(b), unused: W::BITS - terms.width(a) },
        Op::Choose(condition, then, otherwise) => {
            let unused = W::BITS - width;
            match choice(terms, condition, then, otherwise) {
                Choice::Plain => Step::Choose(at(condition), at(then), at(otherwise)),
                Choice::Least(a, b) => Step::SignedLeast { a: at(a), b: at(b), unused },
                Choice::Most(a, b) => Step::SignedMost { a: at(a), b: at(b), unused },
            }
        }
    }
}

/// The lesser of two signed numbers below unused bits.
#[inline]
pub(super) fn least<W: Word>(a: W, b: W, unused: u32) -> W {
    if (a << unused).signed_less(b << unused) { a } else { b }
}

/// The greater.
#[inline]
pub(super) fn most<W: Word>(a: W, b: W, unused: u32) -> W {
    if (a << unused).signed_less(b << unused) { b } else { a }
}

impl<W: Word> Step<W> {
    #[inline]
    pub(super) fn run(self, at: impl Fn(Slot) -> W, inputs: &[W]) -> W {
        let truth = |holds: bool| if holds { W::ONE } else { W::default() };
        match self {
            Self::Input { number, mask } => inputs[number as usize] & mask,
            Self::Not(a, mask) => !at(a) & mask,
            Self::And(a, b) => at(a) & at(b),
            Self::Or(a, b) => at(a) | at(b),
            Self::Xor(a, b) => at(a) ^ at(b),
            Self::Add(a, b, mask) => at(a).plus(at(b)) & mask,
            Self::AddConstant(a, value, mask) => at(a).plus(value) & mask,
            Self::Sub(a, b, mask) => at(a).minus(at(b)) & mask,
            Self::Neg(a, mask) => W::default().minus(at(a)) & mask,
            Self::Mul(a, b, mask) => at(a).times(at(b)) & mask,
            Self::Divide(a, b, mask) => at(a).divided(at(b)).0 & mask,
            Self::Remainder(a, b) => at(a).divided(at(b)).1,
            Self::Shl(a, b, mask) => match at(b).amount() {
                amount if amount < W::BITS => at(a) << amount & mask,
                _ => W::default(),
            },
            Self::Lshr(a, b) => match at(b).amount() {
                amount if amount < W::BITS => at(a) >> amount,
                _ => W::default(),
            },
            Self::Ashr { value, amount, unused, mask } => {
                let down = (unused + at(amount).amount()).min(W::BITS - 1);
                at(value).signed_shifts(unused, down) & mask
            }
            Self::Extract(a, low, mask) => at(a) >> low & mask,
            Self::Signed { value, up, down, mask } => at(value).signed_shifts(up, down) & mask,
            Self::Concat { high, low, shift } => at(high) << shift | at(low),
            Self::Equal(a, b) => truth(at(a) == at(b)),
            Self::UnsignedLess(a, b) => truth(at(a) < at(b)),
            Self::SignedLess { a, b, unused } => truth((at(a) << unused).signed_less(at(b) << unused)),
            Self::SignedLeast { a, b, unused } => least(at(a), at(b), unused),
            Self::SignedMost { a, b, unused } => most(at(a), at(b), unused),
            Self::Choose(condition, then, otherwise) => {
                if at(condition) == W::default() {
                    at(otherwise)
                } else {
                    at(then)
                }
            }
        }
    }
}
