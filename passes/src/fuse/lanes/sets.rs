//! Functions of a byte that tell whether it is one of a set, as comparisons with one number.
//!
//! A byte that lies between two numbers is moved down by the first of them, and then it is below another. One whose bits
//! are given but for some is compared without these: `x & 0xfb` is 67 for 67 and 71.

use super::function::{Argument, Shape, with_number};
use super::operation::{Behaviour, SAMPLES, Table};

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
        self.compared(table, operand, [count - 1, count, count + 1], |byte| is_in(byte.wrapping_add(first)))
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
