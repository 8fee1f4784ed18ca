//! What a lane can be computed by: the operations of SIMD video instructions, and logic, found by how they behave.
//!
//! A function of two lanes is looked up by what it gives for a fixed set of operands, one of a lane and a number by
//! trying numbers. Operations are computed on plain numbers here; the tests show that this is what the instructions
//! mean. It only chooses what to propose: functions that differ on other operands are told apart by the proof.

use hashbrown::HashMap;
use ptxopt_grammar::video::{Compare, Lanes, Sign, Simd, SimdArithmetic, SimdOp, SimdThen};
use std::sync::LazyLock;

/// How many pairs of operands there are.
pub(super) const SAMPLES: usize = 512;

/// What a function gives for each of them.
pub(super) type Behaviour = [u32; SAMPLES];

/// A SIMD instruction but its routing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Operation {
    pub(super) op: SimdOp,
    pub(super) atype: Sign,
    pub(super) btype: Sign,
}

/// How lanes are made of others.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Function {
    /// By an instruction, of two lanes in this order, or the other way round.
    Simd(Operation, bool),
    /// The same for a comparison, with ones in all bits in the place of 1.
    Mask(Operation, bool),
    /// Half the sum of lanes with this sign, rounded down.
    Floor(Sign),
    /// An instruction on lanes whose highest bits are inverted, and so are those of its result.
    Biased(Operation, bool),
    /// Bit by bit, of two: bit `2x + y` of the table is the result.
    Logic(u8),
}

/// The number that the other operand is, and on which side of the operation it stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum WithNumber {
    /// By an instruction; whether the number comes first.
    Simd(Operation, bool),
    /// The same for a comparison, with ones in all bits in the place of 1.
    Mask(Operation, bool),
    /// Bit by bit: some are kept, then some inverted.
    Logic,
    /// Not less than one number, nor greater than another.
    Clamp(Sign),
}

/// The samples of lanes with so many bits, and what the operations give for them.
pub(super) struct Table {
    bits: u32,
    pub(super) samples: Vec<[u32; 2]>,
    operations: Vec<Operation>,
    sums: Vec<Operation>,
    functions: HashMap<Box<Behaviour>, Function>,
}

static BYTES: LazyLock<Table> = LazyLock::new(|| Table::new(Lanes::Four));
static HALVES: LazyLock<Table> = LazyLock::new(|| Table::new(Lanes::Two));

impl Table {
    /// That of lanes of this size.
    pub(super) fn of(lanes: Lanes) -> &'static Self {
        match lanes {
            Lanes::Four => &BYTES,
            Lanes::Two => &HALVES,
        }
    }

    fn new(lanes: Lanes) -> Self {
        let bits = lanes.bits();
        let samples = samples(bits);
        let [first, second]: [Behaviour; 2] = [0, 1].map(|side| std::array::from_fn(|at| samples[at][side]));
        let sides = [[&first, &second], [&second, &first]];
        let mut operations: Vec<Operation> = Vec::new();
        let mut functions: HashMap<Box<Behaviour>, Function> = HashMap::new();
        for table in 1..15_u8 {
            let logic = behaviour(&samples, |x, y| logic_of(table, x, y, bits));
            functions.entry(Box::new(logic)).or_insert(Function::Logic(table));
        }
        // Of those that give the same, one that neither clamps nor mixes types is the simplest, and then the one with
        // the fewest signed types.
        let mut all: Vec<Operation> = Simd::all(lanes).filter_map(Operation::of).collect();
        all.sort_by_key(|operation| operation.complexity());
        let sums = all.iter().filter(|operation| !operation.clamps()).copied().collect();
        for operation in all.into_iter().filter(|operation| operation.op.is_canonical()) {
            for (swapped, [x, y]) in [false, true].into_iter().zip(sides) {
                let results = operation.all(x, y, bits);
                if operation.compares() {
                    let mask = every(&results, |bit| (bit << bits) - bit);
                    functions.entry(Box::new(mask)).or_insert(Function::Mask(operation, swapped));
                }
                let new = functions.try_insert(Box::new(results), Function::Simd(operation, swapped));
                if new.is_ok() && !swapped {
                    operations.push(operation);
                }
            }
        }
        let half = 1 << (bits - 1);
        let floor = |x, y| (x + y) >> 1;
        functions.entry(Box::new(behaviour(&samples, floor))).or_insert(Function::Floor(Sign::Unsigned));
        let signed = |x, y| floor(x ^ half, y ^ half) ^ half;
        functions.entry(Box::new(behaviour(&samples, signed))).or_insert(Function::Floor(Sign::Signed));
        // Sums that are clamped around half of what a lane can be, and signed means that are rounded up.
        let biased = operations.iter().filter(|operation| operation.clamps() || operation.is_mean());
        let [first, second] = [first, second].map(|side| every(&side, |lane| lane ^ half));
        let sides = [[&first, &second], [&second, &first]];
        for &operation in biased {
            for (swapped, [x, y]) in [false, true].into_iter().zip(sides) {
                let results = every(&operation.all(x, y, bits), |lane| lane ^ half);
                functions.entry(Box::new(results)).or_insert(Function::Biased(operation, swapped));
            }
        }
        Self { bits, samples, operations, sums, functions }
    }

    /// The operations whose results can be added up before they become lanes: those that do not clamp.
    pub(super) fn sums(&self) -> impl Iterator<Item = Operation> + '_ {
        self.sums.iter().copied()
    }

    /// The least or the greatest of lanes with this sign.
    pub(super) fn extremum(&self, wanted: SimdArithmetic, sign: Sign) -> Option<Operation> {
        let is_it = |operation: &&Operation| {
            let SimdOp::Arithmetic { op, dtype, then: SimdThen::Store } = operation.op else { return false };
            op == wanted && [dtype, operation.atype, operation.btype] == [sign; 3]
        };
        self.sums.iter().find(is_it).copied()
    }

    /// Whether the operands of an operation may change places.
    pub(super) fn commutes(&self, operation: Operation) -> bool {
        let both =
            |[x, y]: [u32; 2]| operation.compute(x, y, self.bits) == operation.compute(y, x, self.bits);
        self.samples.iter().all(|&pair| both(pair))
    }

    /// What computes a function of two lanes.
    pub(super) fn function(&self, behaviour: &Behaviour) -> Option<Function> {
        self.functions.get(behaviour).copied()
    }

    /// What computes a function of one lane and a number: the number, or the two of logic; one of `numbers`, each with
    /// what the function gives for it, where it cannot be told from what the function gives for the samples. Which of
    /// two neighbours a lane is compared with shows at these numbers only.
    pub(super) fn with_number(
        &self,
        behaviour: &Behaviour,
        numbers: &[[u32; 2]],
    ) -> Vec<(WithNumber, [u32; 2])> {
        let ones = u32::MAX >> (32 - self.bits);
        let mut found = Vec::new();
        let at = |wanted: u32| {
            self.samples.iter().position(|&[x, _]| x == wanted).expect("zero and ones are among the samples")
        };
        let (inverted, kept) = (behaviour[at(0)], behaviour[at(0)] ^ behaviour[at(ones)]);
        let is = |compute: &dyn Fn(u32) -> u32| {
            self.samples.iter().zip(behaviour).all(|(&[x, _], &result)| compute(x) == result)
                && numbers.iter().all(|&[x, result]| compute(x) == result)
        };
        if is(&|x| x & kept ^ inverted) {
            found.push((WithNumber::Logic, [kept, inverted]));
        }
        for sign in Sign::ALL {
            let half = if sign == Sign::Signed { 1 << (self.bits - 1) } else { 0 };
            let [least, most] = [half, ones ^ half].map(|bound| behaviour[at(bound)]);
            let inside = |x: u32| (x ^ half).clamp(least ^ half, most ^ half) ^ half;
            let bounds = least != half && most != ones ^ half && least ^ half < most ^ half;
            if bounds && is(&inside) {
                found.push((WithNumber::Clamp(sign), [least, most]));
            }
        }
        for &operation in &self.operations {
            for first in [false, true] {
                for &[number, _] in numbers {
                    let compute = |x| {
                        if first {
                            operation.compute(number, x, self.bits)
                        } else {
                            operation.compute(x, number, self.bits)
                        }
                    };
                    if is(&compute) {
                        found.push((WithNumber::Simd(operation, first), [number, 0]));
                    }
                    if operation.compares() && is(&|x| (compute(x) << self.bits) - compute(x)) {
                        found.push((WithNumber::Mask(operation, first), [number, 0]));
                    }
                }
            }
        }
        found
    }
}

impl Operation {
    /// That of a form; `None` for one that adds its lanes up.
    fn of(form: Simd) -> Option<Self> {
        let adds = match form.op {
            SimdOp::Arithmetic { then, .. } => then == SimdThen::Add,
            SimdOp::Set { accumulate, .. } => accumulate,
        };
        (!adds).then_some(Self { op: form.op, atype: form.atype, btype: form.btype })
    }

    /// Whether it is the mean of unsigned lanes, rounded up.
    pub(super) const fn is_mean(self) -> bool {
        let mean = matches!(self.op, SimdOp::Arithmetic { op: SimdArithmetic::Average, .. });
        mean && matches!((self.atype, self.btype), (Sign::Unsigned, Sign::Unsigned))
    }

    /// Whether it is how far two lanes of one type are apart, which is less than a lane can be.
    pub(super) fn is_distance(self) -> bool {
        let unsigned = Sign::Unsigned;
        let absdiff = SimdArithmetic::AbsDiff;
        self.atype == self.btype
            && matches!(self.op, SimdOp::Arithmetic { op, dtype, .. } if op == absdiff && dtype == unsigned)
    }

    /// Whether it is a comparison, which gives 1 or 0.
    pub(super) const fn compares(self) -> bool {
        matches!(self.op, SimdOp::Set { .. })
    }

    /// Whether results that are too large or too small become the nearest lane.
    const fn clamps(self) -> bool {
        matches!(self.op, SimdOp::Arithmetic { then: SimdThen::Saturate, .. })
    }

    /// What makes one simpler than another.
    fn complexity(self) -> impl Ord {
        let result = match self.op {
            SimdOp::Arithmetic { dtype, .. } => dtype,
            SimdOp::Set { .. } => Sign::Unsigned,
        };
        let all = [result, self.atype, self.btype];
        let signed = all.into_iter().filter(|&sign| sign == Sign::Signed).count();
        (self.atype != self.btype || self.clamps(), signed, self.clamps())
    }

    /// The results for many pairs of lanes.
    fn all(self, x: &Behaviour, y: &Behaviour, bits: u32) -> Behaviour {
        let mut results = [0; SAMPLES];
        results.iter_mut().zip(x).zip(y).for_each(|((to, &x), &y)| *to = self.compute(x, y, bits));
        results
    }

    /// The result for two lanes.
    #[inline]
    fn compute(self, x: u32, y: u32, bits: u32) -> u32 {
        let ones = u32::MAX >> (32 - bits);
        let half = 1_i32 << (bits - 1);
        let [least, most] = match self.op {
            SimdOp::Arithmetic { dtype: Sign::Unsigned, then: SimdThen::Saturate, .. } => {
                [0, ones.cast_signed()]
            }
            SimdOp::Arithmetic { dtype: Sign::Signed, then: SimdThen::Saturate, .. } => [-half, half - 1],
            SimdOp::Arithmetic { .. } | SimdOp::Set { .. } => [i32::MIN, i32::MAX],
        };
        self.uncut(x, y, bits).clamp(least, most).cast_unsigned() & ones
    }

    /// The result for two lanes, before it becomes a lane.
    #[inline]
    pub(super) fn uncut(self, x: u32, y: u32, bits: u32) -> i32 {
        let number = |lane: u32, sign: Sign| {
            let half = if sign == Sign::Signed { 1 << (bits - 1) } else { 0 };
            (lane ^ half).cast_signed() - half.cast_signed()
        };
        let (x, y) = (number(x, self.atype), number(y, self.btype));
        match self.op {
            SimdOp::Arithmetic { op, .. } => match op {
                SimdArithmetic::Add => x + y,
                SimdArithmetic::Sub => x - y,
                SimdArithmetic::AbsDiff => (x - y).abs(),
                SimdArithmetic::Min => x.min(y),
                SimdArithmetic::Max => x.max(y),
                SimdArithmetic::Average => (x + y + i32::from(x + y >= 0)) >> 1,
            },
            SimdOp::Set { compare, .. } => i32::from(match compare {
                Compare::Eq => x == y,
                Compare::Ne => x != y,
                Compare::Lt => x < y,
                Compare::Le => x <= y,
                Compare::Gt => x > y,
                Compare::Ge => x >= y,
            }),
        }
    }
}

/// What a function gives for each number. Unlike `map` of an array, this is compiled to a loop over several at a time.
fn every(numbers: &Behaviour, result: impl Fn(u32) -> u32) -> Behaviour {
    let mut results = [0; SAMPLES];
    results.iter_mut().zip(numbers).for_each(|(to, &number)| *to = result(number));
    results
}

/// The function of a table, bit by bit.
fn logic_of(table: u8, x: u32, y: u32, bits: u32) -> u32 {
    let given = |place: u8, both: u32| if table >> place & 1 == 1 { both } else { 0 };
    (given(3, x & y) | given(2, x & !y) | given(1, !x & y) | given(0, !x & !y)) & (u32::MAX >> (32 - bits))
}

fn behaviour(samples: &[[u32; 2]], compute: impl Fn(u32, u32) -> u32) -> Behaviour {
    std::array::from_fn(|at| {
        let [x, y] = samples[at];
        compute(x, y)
    })
}

/// What has no factor in common with the number of pairs of turns.
const STRIDE: usize = 89;

/// Pairs of operands: the numbers where results turn against each other, and a sweep over all numbers of a byte and those
/// around powers of two against numbers without a pattern.
fn samples(bits: u32) -> Vec<[u32; 2]> {
    let ones = u32::MAX >> (32 - bits);
    let half = 1 << (bits - 1);
    let turns =
        [0, 1, 2, half / 2, half - 2, half - 1, half, half + 1, half + half / 2, ones - 2, ones - 1, ones];
    let pairs: Vec<[u32; 2]> = turns.iter().flat_map(|&x| turns.iter().map(move |&y| [x, y])).collect();
    // In an order in which the first few of them have all numbers already.
    let mut all: Vec<[u32; 2]> = (0..pairs.len()).map(|at| pairs[at * STRIDE % pairs.len()]).collect();
    let mut state = 0x9e37_79b9_u32;
    let mut next = || {
        // A linear congruence is random enough to tell arithmetic apart, and the same everywhere.
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> (32 - bits)
    };
    for at in 0.. {
        if all.len() == SAMPLES {
            break;
        }
        let x = match at {
            0..256 => at << (bits - 8) | at >> (16 - bits),
            // Around the powers of two, which the numbers of a byte are not near to in a half.
            256..=300 => (1 << ((at - 256) / 3)) + (at - 256) % 3 - 1,
            _ => next(),
        };
        all.push([x & ones, next()]);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptxopt_grammar::meaning::concrete::evaluate;
    use ptxopt_grammar::meaning::term::Terms;
    use ptxopt_grammar::meaning::video::result;
    use ptxopt_grammar::video::{Form, Routing};

    #[test]
    fn operations_compute_what_the_instructions_mean() {
        for lanes in Lanes::ALL {
            let table = Table::of(lanes);
            for operation in Simd::all(lanes).filter_map(Operation::of) {
                let Operation { op, atype, btype } = operation;
                let mut terms = Terms::new();
                let words = [0, 1, 2].map(|number| terms.input(number, 32));
                let form = Form::Simd(Simd { op, atype, btype, routing: Routing::plain(lanes) });
                let term = result(&mut terms, form, words);
                for &[x, y] in &table.samples {
                    let word = evaluate(&terms, &[term], &[x.into(), y.into(), 0])[0];
                    let lane =
                        u32::try_from(word & u128::from(u32::MAX >> (32 - lanes.bits()))).expect("a lane");
                    assert_eq!(operation.compute(x, y, lanes.bits()), lane, "{form} of {x:#x} and {y:#x}");
                }
            }
        }
    }

    #[test]
    fn logic_comes_first_then_one_type_and_fewest_signs() {
        let table = Table::of(Lanes::Four);
        let of = |compute: fn(u32, u32) -> u32| table.function(&behaviour(&table.samples, compute));
        assert_eq!(of(|x, y| x & y), Some(Function::Logic(0b1000)));
        let Some(Function::Simd(sum, false)) = of(|x, y| (x + y) & 0xff) else { panic!("it is a sum") };
        assert_eq!((sum.atype, sum.btype), (Sign::Unsigned, Sign::Unsigned));
        let numbers = [[0, 0]];
        let positive = |x, _| if x < 0x80 { x } else { 0 };
        let found = table.with_number(&behaviour(&table.samples, positive), &numbers);
        let Some((WithNumber::Simd(maximum, _), _)) = found.first() else { panic!("{found:?}") };
        assert_eq!((maximum.atype, maximum.btype, maximum.clamps()), (Sign::Signed, Sign::Signed, false));
        assert_eq!(of(|x, y| (x + y + 2) & 0xff), None);
    }

    #[test]
    fn numbers_are_found_on_both_sides() {
        let table = Table::of(Lanes::Four);
        let of = |compute: fn(u32) -> u32, numbers: &[u32]| {
            let numbers: Vec<[u32; 2]> = numbers.iter().map(|&number| [number, compute(number)]).collect();
            table.with_number(&behaviour(&table.samples, |x, _| compute(x)), &numbers)
        };
        assert_eq!(of(|x| x ^ 0xff, &[]), [(WithNumber::Logic, [0xff, 0xff])]);
        assert!(of(|x| x.max(7), &[7]).iter().any(|(_, numbers)| numbers[0] == 7));
        assert!(of(|x| x.max(7), &[8]).is_empty());
        assert_eq!(of(|x| x.clamp(7, 9), &[]), [(WithNumber::Clamp(Sign::Unsigned), [7, 9])]);
        let halves = Table::of(Lanes::Two);
        let above = |x: u32| u32::from(x > 1000);
        let near = [999, 1000, 1001].map(|x| [x, above(x)]);
        let found = halves.with_number(&behaviour(&halves.samples, |x, _| above(x)), &near);
        assert!(!found.is_empty(), "a comparison is found by its number");
        let holds = |(with, [number, _]): &(WithNumber, [u32; 2])| {
            let WithNumber::Simd(operation, first) = *with else { panic!("{with:?}") };
            near.map(|[x, is]| {
                let (a, b) = if first { (*number, x) } else { (x, *number) };
                operation.compute(a, b, 16) == is
            })
        };
        assert!(found.iter().all(|found| holds(found) == [true; 3]), "and by no neighbour: {found:?}");
        let sides: Vec<_> = of(|x| 9_u32.wrapping_sub(x) & 0xff, &[9]);
        assert!(sides.iter().any(|(with, _)| matches!(with, WithNumber::Simd(_, true))));
    }
}
