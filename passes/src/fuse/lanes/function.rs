//! What a lane is a function of: for each of its cuts, what computes it of the lanes of the cut.

use super::cuts::Cut;
use super::evaluated::Evaluated;
use super::field::Field;
use super::operation::{Behaviour, Function, Operation, Table, WithNumber};
use super::words::Words;
use ptxopt_grammar::meaning::term::{Op, Term, Terms};
use ptxopt_grammar::video::Sign;
use std::rc::Rc;

/// What lanes are made of: a function of words whose lanes are these.
#[derive(Clone, Debug)]
pub(super) struct Made {
    pub(super) function: Key,
    pub(super) operands: Vec<Term>,
}

/// What must be the same for lanes to be computed together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Key {
    /// A lane as it is.
    Same,
    /// A SIMD instruction.
    Simd(Operation),
    /// A comparison, with ones in all bits in the place of 1.
    Mask(Operation),
    /// The second where the first, ones or zeros, is ones, else the third.
    Choice,
    /// Half the sum of two lanes with this sign, rounded down.
    Floor(Sign),
    /// A SIMD instruction on lanes whose highest bits are inverted, and so are those of its result.
    Biased(Operation),
    /// The first, but not less than the second, nor greater than the third.
    Clamp(Sign),
    /// Bit by bit, of two.
    Logic(u8),
    /// One and the bits that are kept of it, then those that are inverted.
    Masked,
    /// One, shifted by so many bits.
    Shifted(Shift),
    /// A field of one.
    Field(Field),
}

/// How the bits of a lane are moved.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Shift {
    Left(u32),
    Right(u32),
    /// To the right, and copies of the highest bit come in at the left.
    Signed(u32),
    /// To the left, and what falls out comes in at the right.
    Around(u32),
}

impl Shift {
    /// All that change a lane of so many bits.
    fn all(bits: u32) -> impl Iterator<Item = Self> {
        (1..bits).flat_map(|by| [Self::Left(by), Self::Right(by), Self::Signed(by), Self::Around(by)])
    }

    fn of(self, lane: u32, bits: u32) -> u32 {
        let ones = u32::MAX >> (32 - bits);
        match self {
            Self::Left(by) => lane << by & ones,
            Self::Right(by) => lane >> by,
            Self::Signed(by) => {
                ((lane << (32 - bits)).cast_signed() >> (32 - bits + by)).cast_unsigned() & ones
            }
            Self::Around(by) => lane << by & ones | lane >> (bits - by),
        }
    }
}

impl Words {
    /// How a lane can be made of others, the simplest first.
    pub(super) fn alternatives(&mut self, lane: Term) -> Rc<[Made]> {
        if let Some(known) = self.made.get(&lane) {
            return Rc::clone(known);
        }
        let mut all = Vec::new();
        for (at, cut) in self.pieces.cuts(lane).iter().enumerate() {
            let leaves = self.pieces.operands(cut);
            let asked = (lane, at, leaves.first().copied());
            let known = self.pieces.made.get(&asked).map(Rc::clone);
            let made = known.unwrap_or_else(|| {
                let made: Rc<[Made]> = self.functions(lane, cut, &leaves).into();
                self.pieces.made.insert(asked, Rc::clone(&made));
                made
            });
            all.extend(made.iter().cloned());
        }
        if let Op::Choose(condition, then, otherwise) = self.pieces.terms.op(lane) {
            let mask = self.pieces.terms.sign_extend(condition, self.lanes.bits());
            all.push(Made { function: Key::Choice, operands: vec![mask, then, otherwise] });
        }
        let all: Rc<[Made]> = all.into();
        self.made.insert(lane, Rc::clone(&all));
        all
    }

    /// What a lane is as a function of the lanes of a cut.
    fn functions(&mut self, lane: Term, cut: &Cut, leaves: &[Term]) -> Vec<Made> {
        let table = Table::of(self.lanes);
        let (terms, function) = self.pieces.function(lane, cut);
        let Some(evaluated) = Evaluated::of(&terms, function) else { return Vec::new() };
        let run = |pairs: &[[u32; 2]]| evaluated.results(pairs).expect("a lane has few bits");
        let behaviour: Behaviour = run(&table.samples).try_into().expect("there is a result for each sample");
        let ordered = |[x, y]: [Term; 2], swapped| if swapped { vec![y, x] } else { vec![x, y] };
        match *leaves {
            [x, y] => match table.function(&behaviour) {
                Some(Function::Simd(operation, swapped)) => {
                    let orders =
                        if table.commutes(operation) { vec![swapped, !swapped] } else { vec![swapped] };
                    let made =
                        |swapped| Made { function: Key::Simd(operation), operands: ordered([x, y], swapped) };
                    orders.into_iter().map(made).collect()
                }
                Some(Function::Mask(operation, swapped)) => {
                    vec![Made { function: Key::Mask(operation), operands: ordered([x, y], swapped) }]
                }
                Some(Function::Floor(sign)) => {
                    vec![Made { function: Key::Floor(sign), operands: vec![x, y] }]
                }
                Some(Function::Biased(operation, swapped)) => {
                    vec![Made { function: Key::Biased(operation), operands: ordered([x, y], swapped) }]
                }
                Some(Function::Logic(0b1100)) => vec![Made { function: Key::Same, operands: vec![x] }],
                Some(Function::Logic(0b1010)) => vec![Made { function: Key::Same, operands: vec![y] }],
                Some(Function::Logic(table)) => {
                    vec![Made { function: Key::Logic(table), operands: vec![x, y] }]
                }
                None => Vec::new(),
            },
            [x] => {
                let bits = self.lanes.bits();
                let is = |of: &dyn Fn(u32) -> u32| {
                    let mut all = behaviour.iter().zip(&table.samples);
                    all.all(|(&result, &[lane, _])| result == of(lane))
                };
                let shift = Shift::all(bits).find(|shift| is(&|lane| shift.of(lane, bits)));
                if let Some(shift) = shift {
                    return vec![Made { function: Key::Shifted(shift), operands: vec![x] }];
                }
                let numbers: Vec<[u32; 2]> =
                    self.numbers(&terms, function).into_iter().map(|number| [number, 0]).collect();
                let results =
                    numbers.iter().zip(run(&numbers)).map(|(&[number, _], result)| [number, result]);
                let found = table.with_number(&behaviour, &results.collect::<Vec<_>>());
                if !found.is_empty() {
                    return found
                        .into_iter()
                        .map(|(with, numbers)| self.with_number(x, with, numbers))
                        .collect();
                }
                let field = Field::of(bits, |lane| run(&[[lane, 0]])[0]);
                let field = field.filter(|field| is(&|lane| field.at(lane)));
                let made = |field| Made { function: Key::Field(field), operands: vec![x] };
                field.map(made).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    fn with_number(&mut self, lane: Term, with: WithNumber, [first, second]: [u32; 2]) -> Made {
        let bits = self.lanes.bits();
        let mut number = |number: u32| self.pieces.terms.constant(number.into(), bits);
        match with {
            WithNumber::Logic => {
                Made { function: Key::Masked, operands: vec![lane, number(first), number(second)] }
            }
            WithNumber::Clamp(sign) => {
                Made { function: Key::Clamp(sign), operands: vec![lane, number(first), number(second)] }
            }
            WithNumber::Simd(operation, true) => {
                Made { function: Key::Simd(operation), operands: vec![number(first), lane] }
            }
            WithNumber::Simd(operation, false) => {
                Made { function: Key::Simd(operation), operands: vec![lane, number(first)] }
            }
            WithNumber::Mask(operation, true) => {
                Made { function: Key::Mask(operation), operands: vec![number(first), lane] }
            }
            WithNumber::Mask(operation, false) => {
                Made { function: Key::Mask(operation), operands: vec![lane, number(first)] }
            }
        }
    }

    /// The numbers that a lane could be computed with: those of its function and their neighbours. A lane that was left
    /// where it is in its word is compared with a number that lies there too.
    pub(super) fn numbers(&self, terms: &Terms, function: Term) -> Vec<u32> {
        let bits = self.lanes.bits();
        let ones = u32::MAX >> (32 - bits);
        let mut all = vec![0, 1, ones];
        for term in terms.cone(function) {
            if let Op::Constant(value) = terms.op(term) {
                for at in (0..terms.width(term)).step_by(bits as usize) {
                    let value = u32::try_from(value >> at & u128::from(ones)).expect("it was cut to a lane");
                    let near =
                        [value, value.wrapping_add(1), value.wrapping_sub(1), value.wrapping_neg(), !value];
                    all.extend(near.map(|number| number & ones));
                }
            }
        }
        all.sort_unstable();
        all.dedup();
        all
    }
}
