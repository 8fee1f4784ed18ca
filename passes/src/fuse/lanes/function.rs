//! What a lane is a function of: for each of its cuts, what computes it of the lanes of the cut.

use super::cuts::Cut;
use super::evaluated::Evaluated;
use super::field::Field;
use super::linear::Linear;
use super::operation::{Behaviour, Function, Operation, Table, WithNumber};
use super::quotients::{Clamped, Quotient};
use super::sets::{Between, of_set};
use super::words::Words;
use ptxopt_grammar::meaning::term::{Op, Term};
use ptxopt_grammar::video::Sign;
use std::rc::Rc;
use std::sync::Arc;

/// The most terms of a function that is looked at: a product in a field, in eight steps, has a hundred.
const MOST_TERMS: usize = 300;

/// The most numbers that a function is compared with: what has more is no operation with one or two of them.
const MOST_NUMBERS: usize = 128;

/// What lanes are made of: a function of words whose lanes are these.
#[derive(Clone, Debug)]
pub(super) struct Made {
    pub(super) function: Key,
    pub(super) operands: Vec<Term>,
}

/// What a function of the lanes of a cut is, whichever lanes these are.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub(super) function: Key,
    pub(super) operands: Vec<Argument>,
}

/// An operand of a function of lanes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Argument {
    /// The lane with this number of the cut.
    Leaf(usize),
    /// A number.
    Number(u32),
    /// The only lane of the cut, and a number added to it.
    Moved(u32),
    /// Some bits of the only lane of the cut, the others being zero.
    Kept(u32),
    /// The only lane of the cut, but neither less than the first nor greater than the second.
    Clamped(u32, u32),
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
    /// A comparison, with the highest bit in the place of 1.
    Highest(Operation),
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
    /// Sums of bits of one.
    Linear(Linear),
    /// A multiple of one, divided.
    Quotient(Quotient),
    /// Whether the first lies between the two others, or does not.
    Between(Between),
}

impl Key {
    /// How soon it is tried: what is computed of whole words first, in ways in which that is asked for, and multiples
    /// last where it is not, since one operation on lanes is less.
    pub(super) const fn urgency(self, of_words: bool) -> u8 {
        if matches!(self, Self::Quotient(_)) {
            return if of_words { 3 } else { 0 };
        }
        if matches!(self, Self::Linear(_) | Self::Between(_)) { 2 } else { 1 }
    }

    /// Whether it is computed for whole words, and to be merged with what other lanes are: SIMD instructions have masks,
    /// and moves choose lanes. Logic is merged only by later rounds, which have more to share by then: a step of AES that
    /// mixes columns would take 42 machine instructions on sm_90 instead of 36.
    pub(super) const fn is_of_all_lanes(self) -> bool {
        !matches!(self, Self::Simd(_) | Self::Same | Self::Masked | Self::Logic(_))
    }

    /// Whether it is how far two lanes are apart.
    pub(super) fn is_distance(self) -> bool {
        matches!(self, Self::Simd(operation) if operation.is_distance())
    }

    /// Whether it is the mean of two lanes, rounded up or down.
    pub(super) const fn is_mean(self) -> bool {
        match self {
            Self::Simd(operation) => operation.is_mean(),
            Self::Floor(sign) => matches!(sign, Sign::Unsigned),
            Self::Same
            | Self::Mask(_)
            | Self::Highest(_)
            | Self::Choice
            | Self::Biased(_)
            | Self::Clamp(_)
            | Self::Logic(_)
            | Self::Masked
            | Self::Shifted(_)
            | Self::Field(_)
            | Self::Linear(_)
            | Self::Quotient(_)
            | Self::Between(_) => false,
        }
    }
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
        all.extend(self.chosen(lane));
        all.extend(self.of_conditions(lane));
        if let Some(apart) = self.pieces.bounded_apart(lane).filter(|&apart| apart != lane) {
            all.extend(self.alternatives(apart).iter().cloned());
        }
        let all: Rc<[Made]> = all.into();
        self.made.insert(lane, Rc::clone(&all));
        all
    }

    /// A lane that is one of two others, or ones or zeros, by a condition: as it is, and with what words decide of it.
    fn chosen(&mut self, lane: Term) -> Vec<Made> {
        let bits = self.lanes.bits();
        let Some([condition, then, otherwise]) = self.pieces.choice(lane) else { return Vec::new() };
        let terms = &mut self.pieces.terms;
        let choice = |mask| Made { function: Key::Choice, operands: vec![mask, then, otherwise] };
        let mut all = Vec::new();
        if matches!(terms.op(lane), Op::Choose(..)) {
            all.push(choice(terms.sign_extend(condition, bits)));
        }
        let mask = self.mask_of_words(condition);
        let terms = &mut self.pieces.terms;
        let ones = u128::MAX >> (u128::BITS - bits);
        let alone = |mask| Made { function: Key::Same, operands: vec![mask] };
        all.extend(mask.map(|mask| match [then, otherwise].map(|of| terms.value(of)) {
            [Some(value), Some(0)] if value == ones => alone(mask),
            [Some(0), Some(value)] if value == ones => alone(terms.not(mask)),
            _ => choice(mask),
        }));
        all
    }

    /// Some bits of a lane, of which some are inverted then.
    pub(super) fn masked(&mut self, lane: Term, kept: u128, inverted: u128) -> Made {
        let (terms, bits) = (&mut self.pieces.terms, self.lanes.bits());
        let operands = vec![lane, terms.constant(kept, bits), terms.constant(inverted, bits)];
        Made { function: Key::Masked, operands }
    }

    /// Lanes as they are, as lanes of which all bits are kept.
    pub(super) fn unmasked(&mut self, lanes: &[Option<Term>]) -> Vec<Option<Made>> {
        let ones = u128::MAX >> (u128::BITS - self.lanes.bits());
        lanes.iter().map(|&lane| Some(self.masked(lane?, ones, 0))).collect()
    }

    /// What a lane is as a function of the lanes of a cut.
    fn functions(&mut self, lane: Term, cut: &Cut, leaves: &[Term]) -> Vec<Made> {
        let function = self.pieces.function(lane, cut);
        let asked = (function, leaves.len());
        let known = self.pieces.functions.shapes.get(&asked).map(Arc::clone);
        let shapes = known.unwrap_or_else(|| {
            let shapes: Arc<[Shape]> = self.shapes(function, leaves.len()).into();
            self.pieces.functions.shapes.insert(asked, Arc::clone(&shapes));
            shapes
        });
        let made = |shape: &Shape| Made {
            function: shape.function,
            operands: shape.operands.iter().map(|&operand| self.argument(operand, leaves)).collect(),
        };
        shapes.iter().map(made).collect()
    }

    /// The lane that an operand of a function is.
    pub(super) fn argument(&mut self, operand: Argument, leaves: &[Term]) -> Term {
        match operand {
            Argument::Leaf(number) => leaves[number],
            Argument::Number(number) => self.pieces.terms.constant(number.into(), self.lanes.bits()),
            Argument::Moved(number) => {
                let number = self.pieces.terms.constant(number.into(), self.lanes.bits());
                self.pieces.terms.add(leaves[0], number)
            }
            Argument::Clamped(least, most) => self.clamped_lane(leaves[0], [least, most]),
            Argument::Kept(mask) => {
                let mask = self.pieces.terms.constant(mask.into(), self.lanes.bits());
                self.pieces.terms.and(leaves[0], mask)
            }
        }
    }

    /// A lane that is neither less than one number nor greater than another.
    fn clamped_lane(&mut self, lane: Term, [least, most]: [u32; 2]) -> Term {
        let (terms, bits) = (&mut self.pieces.terms, self.lanes.bits());
        let [least, most] = [least, most].map(|end| terms.constant(end.into(), bits));
        let is_less = terms.unsigned_less(lane, least);
        let raised = terms.choose(is_less, least, lane);
        let is_greater = terms.unsigned_less(most, lane);
        terms.choose(is_greater, most, raised)
    }

    /// What computes a function of so many lanes.
    fn shapes(&self, function: Term, leaves: usize) -> Vec<Shape> {
        let table = Table::of(self.lanes);
        if !self.pieces.functions.terms.has_at_most(&[function], MOST_TERMS) {
            return Vec::new();
        }
        let Some(evaluated) = Evaluated::of(&self.pieces.functions.terms, function) else {
            return Vec::new();
        };
        let run = |pairs: &[[u32; 2]]| evaluated.results(pairs).expect("a lane has few bits");
        let behaviour: Behaviour = run(&table.samples).try_into().expect("there is a result for each sample");
        match leaves {
            1 => self.shapes_of_one(function, &behaviour, &run),
            2 => table.function(&behaviour).map(|function| of_two(table, function)).unwrap_or_default(),
            _ => Vec::new(),
        }
    }

    /// What computes a function of one lane.
    fn shapes_of_one(
        &self,
        function: Term,
        behaviour: &Behaviour,
        run: &dyn Fn(&[[u32; 2]]) -> Vec<u32>,
    ) -> Vec<Shape> {
        let (table, bits) = (Table::of(self.lanes), self.lanes.bits());
        let is = |of: &dyn Fn(u32) -> u32| {
            let mut all = behaviour.iter().zip(&table.samples);
            all.all(|(&result, &[lane, _])| result == of(lane))
        };
        let alone = |function| vec![Shape { function, operands: vec![Argument::Leaf(0)] }];
        if let Some(shift) = Shift::all(bits).find(|shift| is(&|lane| shift.of(lane, bits))) {
            return alone(Key::Shifted(shift));
        }
        let mut found = Vec::new();
        let numbers = self.numbers(function);
        if numbers.len() <= MOST_NUMBERS {
            let lanes: Vec<[u32; 2]> = numbers.into_iter().map(|number| [number, 0]).collect();
            let results = lanes.iter().zip(run(&lanes)).map(|(&[number, _], result)| [number, result]);
            found = table.with_number(behaviour, &results.collect::<Vec<_>>());
        }
        if !found.is_empty() {
            return found.into_iter().map(|(with, numbers)| with_number(with, numbers)).collect();
        }
        let told = if bits == 8 { of_set(table, behaviour, run) } else { Vec::new() };
        if !told.is_empty() {
            return told;
        }
        let field = Field::of(bits, |lane| run(&[[lane, 0]])[0]);
        if let Some(field) = field.filter(|field| is(&|lane| field.at(lane))) {
            return alone(Key::Field(field));
        }
        let linear = Linear::of(bits, |lane| run(&[[lane, 0]])[0]);
        let linear = linear.filter(|linear| is(&|lane| linear.at(lane)));
        if let Some(linear) = linear {
            return alone(Key::Linear(linear));
        }
        let results = |lanes: &[u32]| run(&lanes.iter().map(|&lane| [lane, 0]).collect::<Vec<_>>());
        let clamped = if bits == 8 { Clamped::of(results) } else { None };
        let shape = |Clamped { quotient, ends: [least, most] }: Clamped| Shape {
            function: Key::Quotient(quotient),
            operands: vec![Argument::Clamped(least, most)],
        };
        clamped.into_iter().map(shape).collect()
    }

    /// The numbers that a lane could be computed with: those of its function and their neighbours. A lane that was left
    /// where it is in its word is compared with a number that lies there too.
    pub(super) fn numbers(&self, function: Term) -> Vec<u32> {
        let terms = &self.pieces.functions.terms;
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

/// What computes a function of two lanes: an operation that commutes, and logic, in both orders.
fn of_two(table: &Table, function: Function) -> Vec<Shape> {
    let [x, y] = [0, 1].map(Argument::Leaf);
    let ordered = |swapped| if swapped { vec![y, x] } else { vec![x, y] };
    let one = |function, operands| vec![Shape { function, operands }];
    match function {
        Function::Simd(operation, swapped) => {
            let orders = if table.commutes(operation) { vec![swapped, !swapped] } else { vec![swapped] };
            let shape = |swapped| Shape { function: Key::Simd(operation), operands: ordered(swapped) };
            orders.into_iter().map(shape).collect()
        }
        Function::Mask(operation, swapped) => one(Key::Mask(operation), ordered(swapped)),
        Function::Floor(sign) => one(Key::Floor(sign), vec![x, y]),
        Function::Biased(operation, swapped) => one(Key::Biased(operation), ordered(swapped)),
        Function::Logic(0b1100) => one(Key::Same, vec![x]),
        Function::Logic(0b1010) => one(Key::Same, vec![y]),
        Function::Logic(table) => {
            // The table of the other order has the results for different bits exchanged.
            let exchanged = table & 0b1001 | table >> 1 & 0b0010 | table << 1 & 0b0100;
            let orders = [(table, false), (exchanged, true)];
            let shape = |(table, swapped)| Shape { function: Key::Logic(table), operands: ordered(swapped) };
            orders.into_iter().map(shape).collect()
        }
    }
}

/// A function of one lane and a number, or two.
pub(super) fn with_number(with: WithNumber, [first, second]: [u32; 2]) -> Shape {
    let lane = Argument::Leaf(0);
    let [first, second] = [first, second].map(Argument::Number);
    let ordered = |number_first| if number_first { vec![first, lane] } else { vec![lane, first] };
    let (function, operands) = match with {
        WithNumber::Logic => (Key::Masked, vec![lane, first, second]),
        WithNumber::Clamp(sign) => (Key::Clamp(sign), vec![lane, first, second]),
        WithNumber::Simd(operation, number_first) => (Key::Simd(operation), ordered(number_first)),
        WithNumber::Mask(operation, number_first) => (Key::Mask(operation), ordered(number_first)),
    };
    Shape { function, operands }
}
