//! Lanes each of whose bits is a sum, without carries, of bits of another lane: bits in another order, parities, products
//! with numbers of a field of 256 elements.
//!
//! Such a function is known by what it does to one bit at a time. All lanes of a word are computed at once by moving the
//! word and taking out the bits that did not come from another lane; often it is shorter to reverse the bits first, or to
//! add the lane to itself, moved by a few bits, as parities do. The shortest of such plans is searched for; as
//! everywhere, it is only proposed.

use super::words::Words;
use crate::recipe::{Source, Step};
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::video::Lanes;

/// How many bits a lane has.
const BITS: u32 = 8;

/// How often a lane is added to itself before its bits are moved, at most.
const MOST_MIXED: usize = 3;

/// What a function makes of each bit of a lane, and of none.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Linear {
    columns: [u8; BITS as usize],
    number: u8,
}

/// By how many places bits are moved: to the right, or to the left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Move {
    Right(u32),
    Left(u32),
}

/// The number of the highest bit.
const HIGHEST: u32 = BITS - 1;

/// A bit for which something is added where it is set, rather than that it is moved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Filled {
    bit: u32,
    /// Whether it stays at its place, too.
    stays: bool,
}

impl Filled {
    fn all(bits: impl Iterator<Item = u32>) -> impl Iterator<Item = Option<Self>> {
        let filled = bits.flat_map(|bit| [false, true].map(|stays| Some(Self { bit, stays })));
        [None].into_iter().chain(filled)
    }
}

/// How a function is computed of a word, one after the other.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// Whether the bits of each lane are reversed first.
    reverses: bool,
    /// By how many places the word is moved and added to itself.
    mixed: Vec<Move>,
    /// What then is added up: the word, moved, and which bits of it.
    moved: Vec<(Move, u8)>,
    /// What is added where a bit of a lane is set.
    filled: Option<(u32, u8)>,
    /// What is added in any case.
    number: u8,
}

impl Move {
    fn of(self, lane: u8) -> u8 {
        match self {
            Self::Right(by) => lane >> by,
            Self::Left(by) => lane << by,
        }
    }

    /// All that move a lane.
    fn all() -> impl Iterator<Item = Self> {
        (1..BITS).flat_map(|by| [Self::Right(by), Self::Left(by)])
    }

    /// The lane that becomes this one when it is added to itself, moved.
    fn unmixed(self, lane: u8) -> u8 {
        let mut before = lane;
        for _ in 0..BITS {
            before = lane ^ self.of(before);
        }
        before
    }
}

fn byte(number: u32) -> Option<u8> {
    u8::try_from(number).ok()
}

impl Linear {
    /// What a function of lanes of so many bits is, if it may be linear.
    pub(super) fn of(bits: u32, mut function: impl FnMut(u32) -> u32) -> Option<Self> {
        let number = byte(function(0)).filter(|_| bits == BITS)?;
        let mut columns = [0; BITS as usize];
        for (column, bit) in columns.iter_mut().zip(0..) {
            *column = byte(function(1 << bit))? ^ number;
        }
        Some(Self { columns, number })
    }

    /// That which makes these of the bits of a lane, the lowest first, and nothing of none.
    pub(super) fn adding(of_bits: impl Iterator<Item = u8>) -> Self {
        let mut columns = [0; BITS as usize];
        columns.iter_mut().zip(of_bits).for_each(|(column, of_bit)| *column = of_bit);
        Self { columns, number: 0 }
    }

    /// Whether nothing is made of any lane.
    pub(super) fn is_nothing(self) -> bool {
        self.columns == [0; BITS as usize]
    }

    /// Whether each lane stays what it is.
    pub(super) fn is_itself(self) -> bool {
        self.with_itself().is_nothing()
    }

    /// The lane added to what is made of it.
    pub(super) fn with_itself(self) -> Self {
        Self::adding(self.columns.into_iter().zip(0..).map(|(column, bit)| column ^ 1 << bit))
    }

    /// What it is of a lane.
    pub(super) fn at(self, lane: u32) -> u32 {
        byte(lane).map_or(u32::MAX, |lane| u32::from(self.sum(lane) ^ self.number))
    }

    /// What it makes of the bits of a lane.
    pub(super) fn sum(self, lane: u8) -> u8 {
        let set = self.columns.iter().zip(0..).filter(|&(_, bit)| lane >> bit & 1 == 1);
        set.fold(0, |sum, (column, _)| sum ^ column)
    }

    /// The same function of what becomes of a lane, given which lane that was.
    fn after(self, before: impl Fn(u8) -> u8) -> Self {
        let mut columns = [0; BITS as usize];
        for (column, bit) in columns.iter_mut().zip(0..) {
            *column = self.sum(before(1 << bit));
        }
        Self { columns, ..self }
    }

    /// The shortest plan.
    fn plan(self) -> Plan {
        let mut best: Option<Plan> = None;
        for reverses in [false, true] {
            let function = if reverses { self.after(u8::reverse_bits) } else { self };
            function.search(&Plan { reverses, ..Plan::moving(function, None) }, &mut best);
        }
        best.expect("there is a plan without anything before the moves")
    }

    /// Tries plans that go on like this one, which is for all of this function but what is before its moves.
    fn search(self, plan: &Plan, best: &mut Option<Plan>) {
        // That of the highest bit is there sooner than those of others, which are looked at where nothing is added before.
        let bits = if plan.mixed.is_empty() { 0..BITS } else { HIGHEST..BITS };
        for fill in Filled::all(bits) {
            let Plan { moved, filled, .. } = Plan::moving(self, fill);
            let next = Plan { moved, filled, ..plan.clone() };
            if best.as_ref().is_none_or(|best| next.cost() < best.cost()) {
                *best = Some(next);
            }
        }
        let more = 2 * (usize::from(plan.reverses) + plan.mixed.len() + 1);
        if plan.mixed.len() == MOST_MIXED || best.as_ref().is_some_and(|best| best.cost() <= more) {
            return;
        }
        for mix in Move::all() {
            let mixed = plan.mixed.iter().copied().chain([mix]).collect();
            self.after(|lane| mix.unmixed(lane)).search(&Plan { mixed, ..plan.clone() }, best);
        }
    }
}

impl Plan {
    /// Bits that are only moved, but for one.
    fn moving(mut function: Linear, fill: Option<Filled>) -> Self {
        let filled = fill.map(|Filled { bit, stays }| {
            let column = &mut function.columns[bit as usize];
            let moved = u8::from(stays) << bit;
            (bit, std::mem::replace(column, moved) ^ moved)
        });
        let filled = filled.filter(|&(_, column)| column != 0);
        let sums = |bit: u32, from: u32| function.columns[from as usize] >> bit & 1 == 1;
        let bits = |moved: Move| {
            (0..BITS).fold(0, |all, bit| {
                let from = match moved {
                    Move::Right(by) => Some(bit + by).filter(|&from| from < BITS),
                    Move::Left(by) => bit.checked_sub(by),
                };
                all | u8::from(from.is_some_and(|from| sums(bit, from))) << bit
            })
        };
        let all = [Move::Right(0)].into_iter().chain(Move::all()).map(|moved| (moved, bits(moved)));
        let moved = all.filter(|&(_, bits)| bits != 0).collect();
        Self { reverses: false, mixed: Vec::new(), moved, filled, number: function.number }
    }

    /// How many instructions it takes.
    fn cost(&self) -> usize {
        let moves = self.moved.iter().map(|&moved| match moved {
            (Move::Right(0), u8::MAX) => 0,
            (Move::Right(0), _) => 1,
            _ => 2,
        });
        let filled = self.filled.map_or(0, |(bit, _)| if bit == HIGHEST { 2 } else { 3 });
        2 * (usize::from(self.reverses) + self.mixed.len())
            + moves.sum::<usize>()
            + filled
            + usize::from(self.number != 0)
    }
}

impl Words {
    fn planned(&mut self, function: Linear) -> &Plan {
        self.pieces.plans.entry(function).or_insert_with(|| function.plan())
    }

    /// How many instructions a linear function of all lanes of a word takes.
    pub(super) fn length(&mut self, function: Linear) -> usize {
        self.planned(function).cost()
    }

    /// A linear function of all lanes of a word.
    pub(super) fn linear(&mut self, function: Linear, word: Source) -> Source {
        let plan = self.planned(function).clone();
        let mut word = self.register(word);
        if plan.reverses {
            // The whole word is reversed, and then the order of its bytes.
            word = self.push(Step::plain(op::BREV_B32, &[word]));
            let bytes = Source::Constant(0x0123);
            word = self.push(Step::plain(op::PRMT_B32, &[word, Source::Constant(0), bytes]));
        }
        for mix in plan.mixed {
            word = self.with_bits(word, mix, mix.of(u8::MAX), Some(word));
        }
        let mut sum = None;
        for (moved, bits) in plan.moved {
            sum = Some(self.with_bits(word, moved, bits, sum));
        }
        if let Some((bit, column)) = plan.filled {
            let highest = self.moved(word, Move::Left(HIGHEST - bit));
            let signs = self.signs(highest);
            sum = Some(self.with_bits(signs, Move::Right(0), column, sum));
        }
        let number = every(plan.number);
        match (sum, plan.number) {
            (None, _) => number,
            (Some(sum), 0) => sum,
            (Some(sum), _) => self.push(Step::plain(op::XOR_B32, &[sum, number])),
        }
    }

    /// A word, moved as a whole.
    fn moved(&mut self, word: Source, moved: Move) -> Source {
        let (instruction, by) = match moved {
            Move::Right(0) | Move::Left(0) => return word,
            Move::Right(by) => (op::SHR_U32, by),
            Move::Left(by) => (op::SHL_B32, by),
        };
        self.push(Step::plain(instruction, &[word, Source::Constant(by.into())]))
    }

    /// Bits of the lanes of a word, moved, added to those of another.
    fn with_bits(&mut self, word: Source, moved: Move, bits: u8, to: Option<Source>) -> Source {
        let word = self.moved(word, moved);
        match (to, bits) {
            (None, u8::MAX) => word,
            (None, _) => self.push(Step::plain(op::AND_B32, &[word, every(bits)])),
            (Some(to), u8::MAX) => self.push(Step::plain(op::XOR_B32, &[word, to])),
            // Where a bit is wanted, it is added.
            (Some(to), _) => {
                self.push(Step::plain(op::LOP3_B32, &[word, every(bits), to, Source::Constant(0x6a)]))
            }
        }
    }
}

/// A number in all lanes of a word.
fn every(lane: u8) -> Source {
    Source::Constant(Lanes::Four.every(lane.into()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(function: impl Fn(u8) -> u8) -> Option<Linear> {
        let function = |lane: u32| u32::from(function(byte(lane).expect("it is a lane")));
        let linear = Linear::of(BITS, function)?;
        (0..256).all(|lane| linear.at(lane) == function(lane)).then_some(linear)
    }

    /// What a plan makes of a lane.
    fn run(plan: &Plan, lane: u8) -> u8 {
        let mut lane = if plan.reverses { lane.reverse_bits() } else { lane };
        for mix in &plan.mixed {
            lane ^= mix.of(lane);
        }
        let moved = plan.moved.iter().fold(0, |sum, (moved, bits)| sum ^ moved.of(lane) & bits);
        let filled = plan.filled.map_or(0, |(bit, column)| (lane >> bit & 1) * column);
        moved ^ filled ^ plan.number
    }

    fn cost(function: impl Fn(u8) -> u8) -> usize {
        let plan = of(&function).expect("it is linear").plan();
        (0..=u8::MAX).for_each(|lane| assert_eq!(run(&plan, lane), function(lane), "{plan:?}"));
        plan.cost()
    }

    #[test]
    fn plans_are_short() {
        assert_eq!(cost(u8::reverse_bits), 2);
        assert_eq!(cost(|lane| u8::from(lane.count_ones() % 2 == 1)), 7);
        assert_eq!(cost(|lane| lane ^ lane >> 1), 2);
        assert_eq!(cost(|lane| lane << 1 ^ if lane > 127 { 0x1b } else { 0 }), 4);
        assert_eq!(cost(|lane| if lane > 127 { !lane } else { lane }), 2);
        assert_eq!(cost(|lane| (lane & 15 ^ 8).wrapping_sub(8)), 4);
        assert_eq!(cost(|lane| lane >> 1 & 0x55 | lane << 1 & 0xaa), 4);
        assert_eq!(cost(|lane| (lane & 0x38) << 2 | lane >> 3 & 0x10 | 1), 5);
    }

    #[test]
    fn sums_with_carries_are_not_linear() {
        assert_eq!(of(|lane| lane.wrapping_add(1)), None);
        assert_eq!(of(|lane| lane & lane >> 1), None);
        assert_eq!(of(|lane| lane.wrapping_mul(3)), None);
    }
}
