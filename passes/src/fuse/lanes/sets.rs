//! Functions of a byte that tell whether it is one of a set, as comparisons with one number.
//!
//! A byte that lies between two numbers is moved down by the first of them, and then it is below another; or both are
//! added to its low bits, and the carries tell. One whose bits are given but for some is compared without these:
//! `x & 0xfb` is 67 for 67 and 71.

use super::conditions::Told;
use super::function::{Argument, Key, Shape, with_number};
use super::operation::{Behaviour, SAMPLES, Table};
use super::words::Words;
use crate::recipe::{Source, Step};
use ptxopt_grammar::table::instruction::op;

/// Whether bytes lie between two numbers, the first of them included and the second not, told by carries.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Between {
    /// Whether these numbers have the highest bit.
    highest: [bool; 2],
    /// Whether it is told that they do not.
    inverted: bool,
    told: Told,
}

impl Between {
    /// The same, told by the highest bit.
    pub(super) fn told_by_highest(self) -> Self {
        Self { told: Told::Highest, ..self }
    }
}

/// The bytes for which a function is not zero, and what it is for these.
struct Set {
    is_in: [bool; 256],
    inside: u32,
}

impl Set {
    /// What a function tells, if it tells a set.
    fn of(behaviour: &Behaviour, run: &dyn Fn(&[[u32; 2]]) -> Vec<u32>) -> Option<Self> {
        let &inside = behaviour.iter().find(|&&result| result != 0)?;
        let is_either = |&result: &u32| result == 0 || result == inside;
        if !behaviour.iter().all(is_either) {
            return None;
        }
        let every: Vec<[u32; 2]> = (0..256).map(|byte| [byte, 0]).collect();
        let results = run(&every);
        let all: [u32; 256] = results.try_into().expect("each byte has a result");
        all.iter().all(is_either).then(|| Self { is_in: all.map(|result| result != 0), inside })
    }

    fn bytes(&self, inside: bool) -> impl Iterator<Item = u32> + Clone + '_ {
        (0..256).zip(&self.is_in).filter(move |&(_, &is_in)| is_in == inside).map(|(byte, _)| byte)
    }

    /// A comparison of what an operand is with one of some numbers.
    fn compared(
        &self,
        table: &Table,
        operand: Argument,
        near: [u32; 3],
        is_in: impl Fn(u32) -> bool,
    ) -> Vec<Shape> {
        let result = |byte: u32| if is_in(byte & 0xff) { self.inside } else { 0 };
        let mut behaviour: Behaviour = [0; SAMPLES];
        for (of, &[byte, _]) in behaviour.iter_mut().zip(&table.samples) {
            *of = result(byte);
        }
        let numbers = near.map(|number| [number & 0xff, result(number)]);
        let shape = |(with, numbers)| {
            let mut shape = with_number(with, numbers);
            for own in &mut shape.operands {
                if matches!(own, Argument::Leaf(_)) {
                    *own = operand;
                }
            }
            shape
        };
        table.with_number(&behaviour, &numbers).into_iter().map(shape).collect()
    }

    /// As the bytes between two numbers.
    fn between(&self, table: &Table) -> Vec<Shape> {
        let is_in = |byte: u32| self.is_in[(byte & 0xff) as usize];
        let mut firsts = self.bytes(true).filter(|&byte| !is_in(byte.wrapping_sub(1)));
        let (Some(first), None) = (firsts.next(), firsts.next()) else { return Vec::new() };
        let count = u32::try_from(self.bytes(true).count()).expect("there are 256 bytes");
        let operand = Argument::Moved(first.wrapping_neg() & 0xff);
        let near = [count - 1, count, count + 1];
        let mut shapes = self.compared(table, operand, near, |byte| is_in(byte.wrapping_add(first)));
        shapes.extend(self.carried(first, (first + count) & 0xff));
        shapes
    }

    /// As the bytes from one number to another, the second not included; or from there around to the first, as all but
    /// those in between.
    fn carried(&self, first: u32, end: u32) -> Option<Shape> {
        let told = match self.inside {
            1 => Told::Lowest,
            0x80 => Told::Highest,
            0xff => Told::All,
            _ => return None,
        };
        let inverted = first > end;
        let bounds = if inverted { [end, first] } else { [first, end] };
        let function =
            Key::Between(Between { highest: bounds.map(|bound| bound & 0x80 != 0), inverted, told });
        let numbers = bounds.map(Argument::Number);
        Some(Shape { function, operands: vec![Argument::Leaf(0), numbers[0], numbers[1]] })
    }

    /// As the bytes that have some bits in common, or all others.
    fn alike(&self, table: &Table) -> Vec<Shape> {
        let cube = |inside: bool| {
            let bytes = self.bytes(inside);
            let (all, any) = bytes.clone().fold((0xff, 0), |(all, any), byte| (all & byte, any | byte));
            let open: u32 = all ^ any;
            (bytes.count() == 1 << open.count_ones()).then_some((inside, 0xff & !open, all))
        };
        let Some((inside, mask, value)) = cube(true).or_else(|| cube(false)) else { return Vec::new() };
        let near = [value, value.wrapping_sub(1), value + 1];
        self.compared(table, Argument::Kept(mask), near, |byte| (byte == value) == inside)
    }
}

/// What tells whether a byte is one of a set.
pub(super) fn of_set(
    table: &Table,
    behaviour: &Behaviour,
    run: &dyn Fn(&[[u32; 2]]) -> Vec<u32>,
) -> Vec<Shape> {
    let Some(set) = Set::of(behaviour, run) else { return Vec::new() };
    let between = set.between(table);
    if between.is_empty() { set.alike(table) } else { between }
}

impl Words {
    /// Whether lanes of a word lie between numbers.
    pub(super) fn between(&mut self, between: Between, word: Source, bounds: [u64; 2]) -> Source {
        let lanes = self.lanes;
        let every = |lane: u32| u64::from(lanes.every(lane));
        let [low, high] = [0x7f, 0x80].map(every);
        let but_highest = self.push(Step::plain(op::AND_B32, &[word, Source::Constant(low)]));
        // The highest bit is set in lanes whose low bits are at least those of the number.
        let carries = bounds.map(|bound| {
            let number = Source::Constant(high - (bound & low));
            self.push(Step::plain(op::ADD_U32, &[but_highest, number]))
        });
        // The tables of the operands of `lop3`: the word and both carries.
        let [x, first, end] = [0xf0_u64, 0xcc, 0xaa];
        let is_least = |carry: u64, highest: bool| if highest { carry & x } else { carry | x };
        let [from, beyond] = [is_least(first, between.highest[0]), is_least(end, between.highest[1])];
        let table = from & !beyond & 0xff ^ if between.inverted { 0xff } else { 0 };
        let sources = [word, carries[0], carries[1], Source::Constant(table)];
        let told = self.push(Step::plain(op::LOP3_B32, &sources));
        match between.told {
            Told::All => self.signs(told),
            Told::Highest => self.push(Step::plain(op::AND_B32, &[told, Source::Constant(high)])),
            Told::Lowest => {
                let moved = self.push(Step::plain(op::SHR_U32, &[told, Source::Constant(7)]));
                self.push(Step::plain(op::AND_B32, &[moved, Source::Constant(every(1))]))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptxopt_grammar::video::Lanes;

    /// Whether and how carries tell a set of bytes.
    fn carried(is_in: impl Fn(u32) -> bool, inside: u32) -> Option<(Key, Vec<u32>)> {
        let set = Set { is_in: std::array::from_fn(|byte| is_in(u32::try_from(byte).unwrap_or(0))), inside };
        let shapes = set.between(Table::of(Lanes::Four));
        let shape = shapes.iter().find(|shape| matches!(shape.function, Key::Between(_)))?;
        let number = |operand: &Argument| match *operand {
            Argument::Number(number) => Some(number),
            Argument::Leaf(_) | Argument::Moved(_) | Argument::Kept(_) | Argument::Clamped(..) => None,
        };
        Some((shape.function, shape.operands.iter().filter_map(number).collect()))
    }

    fn between(highest: [bool; 2], inverted: bool, told: Told) -> Key {
        Key::Between(Between { highest, inverted, told })
    }

    #[test]
    fn a_range_is_told_by_its_ends() {
        let digits = carried(|byte| (48..58).contains(&byte), 1);
        assert_eq!(digits, Some((between([false, false], false, Told::Lowest), vec![48, 58])));
        let across = carried(|byte| (100..200).contains(&byte), 0xff);
        assert_eq!(across, Some((between([false, true], false, Told::All), vec![100, 200])));
    }

    #[test]
    fn what_lies_outside_a_range_is_told_by_the_same_ends() {
        let outside = carried(|byte| !(200..230).contains(&byte), 0x80);
        assert_eq!(outside, Some((between([true, true], true, Told::Highest), vec![200, 230])));
    }

    #[test]
    fn two_ranges_are_no_range() {
        assert_eq!(carried(|byte| (10..20).contains(&byte) || byte == 30, 1), None);
    }

    #[test]
    fn a_result_of_other_bits_is_not_told() {
        assert_eq!(carried(|byte| (10..20).contains(&byte), 0x20), None);
    }
}
