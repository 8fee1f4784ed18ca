//! The terms of both functions, the inputs that they are made of, and their values on a few vectors.
//!
//! An input stands for one number: a parameter, what an instruction gave that nothing is known of, what a register
//! held where several paths join. Both sides use the same input only for what is proved to be the same number, or
//! assumed to be by the induction that is at hand. The values on a few vectors only choose what is worth a question.

use crate::Assumption;
use crate::vectors::Draw;
use hashbrown::HashMap;
use ptxopt_grammar::meaning::term::{Op, Term, Terms, ones, signed};

use super::registers::RegisterId;

/// How many vectors.
const VECTORS: usize = 8;

/// The values of a term on all vectors.
pub(super) type Values = [u128; VECTORS];

/// What an input stands for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Input {
    /// A register that the function takes, by its place.
    Parameter(usize),
    /// A special register or the address of a symbol.
    Named(String),
    /// What a register holds at the beginning of a pair of blocks, on the old side.
    Meeting(usize, RegisterId),
    /// The other bits, on the new side.
    Rest(usize, RegisterId),
    /// Whether a register has been written there.
    Written(usize, RegisterId, usize),
    /// Something else, by number: a result, a read of what may not have been written.
    Unknown(u32),
}

/// The terms of both sides.
pub(super) struct Arena {
    pub(super) terms: Terms,
    numbers: HashMap<Input, u32>,
    inputs: Vec<Input>,
    assumptions: Vec<Assumption>,
    values: Vec<Values>,
    draw: Draw,
}

impl Arena {
    pub(super) fn new() -> Self {
        Self {
            terms: Terms::new(),
            numbers: HashMap::new(),
            inputs: Vec::new(),
            assumptions: Vec::new(),
            values: Vec::new(),
            draw: Draw::new(0x7074_786f),
        }
    }

    /// The number of an input, the same for the same input; the assumption is that of the first time.
    pub(super) fn number(&mut self, input: Input, assumption: Assumption) -> u32 {
        let next = u32::try_from(self.inputs.len()).expect("inputs have 32-bit numbers");
        let number = *self.numbers.entry(input.clone()).or_insert(next);
        if number == next {
            self.inputs.push(input);
            self.assumptions.push(assumption);
        }
        number
    }

    /// The term of an input.
    pub(super) fn input(&mut self, input: Input, width: u32, assumption: Assumption) -> Term {
        let number = self.number(input, assumption);
        self.terms.input(number, width)
    }

    /// An input that nothing else is.
    pub(super) fn fresh(&mut self, width: u32) -> Term {
        let number = u32::try_from(self.inputs.len()).expect("inputs have 32-bit numbers");
        self.input(Input::Unknown(number), width, Assumption::NONE)
    }

    pub(super) fn what(&self, number: u32) -> &Input {
        &self.inputs[number as usize]
    }

    pub(super) fn assumption(&self, number: u32) -> Assumption {
        self.assumptions[number as usize]
    }

    /// The values of a term on the vectors.
    pub(super) fn values(&mut self, term: Term) -> Values {
        let new: Vec<Term> = self.terms.iter().skip(self.values.len()).collect();
        for term in new {
            let values = self.evaluate(term);
            self.values.push(values);
        }
        self.values[term.index()]
    }

    fn evaluate(&mut self, term: Term) -> Values {
        let width = self.terms.width(term);
        let mut values = [0; VECTORS];
        if let Op::Input(number) = self.terms.op(term) {
            let assumption = self.assumptions[number as usize];
            for (at, value) in values.iter_mut().enumerate() {
                let drawn = u128::from(self.draw.next()) << 64 | u128::from(self.draw.next());
                *value = admitted(&assumption, if at == 0 { drawn & 0x0101_0101 } else { drawn }, width);
            }
            return values;
        }
        for (at, value) in values.iter_mut().enumerate() {
            *value = apply(&self.terms, term, |child| self.values[child.index()][at]) & ones(width);
        }
        values
    }
}

/// The value, changed as far as needed to be as assumed.
fn admitted(assumption: &Assumption, value: u128, width: u32) -> u128 {
    let place = |value: u128| (value & !assumption.known | assumption.value & assumption.known) & ones(width);
    let mut value = place(value & ones(width));
    if let Some((low, high)) = assumption.unsigned
        && !(low..=high).contains(&value)
    {
        value = place(low + value % (high - low).saturating_add(1));
    }
    if let Some((low, high)) = assumption.signed
        && !(low..=high).contains(&signed(value, width))
    {
        let span = high.wrapping_sub(low).cast_unsigned().saturating_add(1);
        value = place(low.cast_unsigned().wrapping_add(value % span));
    }
    if assumption.admits(value, width) { value } else { assumption.unsigned.map_or(value, |(low, _)| low) }
}

/// An operation on numbers; bits above the width may be wrong.
fn apply(terms: &Terms, term: Term, of: impl Fn(Term) -> u128) -> u128 {
    let width = terms.width(term);
    match terms.op(term) {
        Op::Input(_) => 0,
        Op::Constant(value) => value,
        Op::Not(a) => !of(a),
        Op::And(a, b) => of(a) & of(b),
        Op::Or(a, b) => of(a) | of(b),
        Op::Xor(a, b) => of(a) ^ of(b),
        Op::Add(a, b) => of(a).wrapping_add(of(b)),
        Op::Mul(a, b) => of(a).wrapping_mul(of(b)),
        Op::UnsignedDivide(a, b) => of(a).checked_div(of(b)).unwrap_or(u128::MAX),
        Op::UnsignedRemainder(a, b) => of(a).checked_rem(of(b)).unwrap_or(of(a)),
        Op::Shl(a, b) => shift(of(b), width).map_or(0, |by| of(a) << by),
        Op::Lshr(a, b) => shift(of(b), width).map_or(0, |by| of(a) >> by),
        Op::Ashr(a, b) => {
            let by = shift(of(b), width).unwrap_or(width - 1);
            (signed(of(a), width) >> by).cast_unsigned()
        }
        Op::Extract(a, low) => of(a) >> low,
        Op::Concat(a, b) => of(a) << terms.width(b) | of(b),
        Op::ZeroExtend(a) => of(a),
        Op::SignExtend(a) => signed(of(a), terms.width(a)).cast_unsigned(),
        Op::Equal(a, b) => u128::from(of(a) == of(b)),
        Op::UnsignedLess(a, b) => u128::from(of(a) < of(b)),
        Op::SignedLess(a, b) => u128::from(signed(of(a), terms.width(a)) < signed(of(b), terms.width(b))),
        Op::Choose(a, b, c) => {
            if of(a) == 1 {
                of(b)
            } else {
                of(c)
            }
        }
    }
}

/// A distance of a shift that leaves something.
fn shift(by: u128, width: u32) -> Option<u32> {
    u32::try_from(by).ok().filter(|&by| by < width)
}
