//! Functions of three words, bit by bit: one instruction where there is `lop3`, a few where there is not.
//!
//! A function is given by its table: bit `4x+2y+z` is its value. Constants, equal operands and inversions go into the
//! table, so that a function of fewer words is spelled as one.

use super::build::{ALL, Build};
use crate::recipe::Source;
use ptxopt_grammar::table::instruction::op;
use std::sync::LazyLock;

/// The table of each operand.
const COLUMNS: [u8; 3] = [0xf0, 0xcc, 0xaa];

/// The table with an operand fixed.
const fn fixed(table: u8, operand: usize, value: bool) -> u8 {
    let (column, distance) = (COLUMNS[operand], 4 >> operand);
    if value {
        table & column | (table & column) >> distance
    } else {
        table & !column | (table & !column) << distance
    }
}

/// The table with an operand inverted.
const fn inverted(table: u8, operand: usize) -> u8 {
    let (column, distance) = (COLUMNS[operand], 4 >> operand);
    (table & column) >> distance | (table & !column) << distance
}

pub(super) const fn depends(table: u8, operand: usize) -> bool {
    fixed(table, operand, false) != fixed(table, operand, true)
}

/// The function of numbers.
fn value(table: u8, words: [u64; 3]) -> u64 {
    (0..8)
        .filter(|row| table >> row & 1 == 1)
        .map(|row| {
            let side = |at: usize| if row >> (2 - at) & 1 == 1 { words[at] } else { !words[at] };
            side(0) & side(1) & side(2)
        })
        .fold(0, |all, row| all | row)
        & ALL
}

impl Build<'_> {
    /// A function of three words, given as one of three bits.
    pub(super) fn logic(&mut self, words: [Source; 3], function: impl Fn(u8, u8, u8) -> u8) -> Source {
        let [x, y, z] = COLUMNS;
        self.by_table(words, function(x, y, z))
    }

    /// A function of two words.
    pub(super) fn logic2(&mut self, [x, y]: [Source; 2], function: impl Fn(u8, u8) -> u8) -> Source {
        self.logic([x, y, Source::Constant(0)], |x, y, _| function(x, y))
    }

    /// `~x`
    pub(super) fn not(&mut self, x: Source) -> Source {
        self.logic2([x, Source::Constant(0)], |x, _| !x)
    }

    /// `x&y`
    pub(super) fn and(&mut self, x: Source, y: Source) -> Source {
        self.logic2([x, y], |x, y| x & y)
    }

    /// `x^y`
    pub(super) fn xor(&mut self, x: Source, y: Source) -> Source {
        self.logic2([x, y], |x, y| x ^ y)
    }

    /// The bits of `x` where `mask` has ones, those of `y` elsewhere.
    pub(super) fn select(&mut self, mask: Source, x: Source, y: Source) -> Source {
        self.logic([mask, x, y], |mask, x, y| mask & x | !mask & y)
    }

    pub(super) fn by_table(&mut self, mut words: [Source; 3], mut table: u8) -> Source {
        for (at, word) in words.iter_mut().enumerate() {
            if let Some(inner) = self.inverted_word(*word) {
                (*word, table) = (inner, inverted(table, at));
            }
            // Without a table, the inversion is an instruction of its own in either place.
            if self.with.lop3
                && let Some((inner, selector)) = self.signs(*word)
                && let Some(inner) = self.inverted_word(inner)
            {
                (*word, table) = (self.prmt(inner, Source::Constant(0), selector), inverted(table, at));
            }
            match *word {
                Source::Constant(0) => table = fixed(table, at, false),
                Source::Constant(ALL) => table = fixed(table, at, true),
                Source::Constant(_) | Source::Value(_) | Source::Step(_) => {}
            }
        }
        if let Some(word) = self.unmasked(words, table) {
            return word;
        }
        if let Some((words, table)) = self.composed(words, table) {
            return self.by_table(words, table);
        }
        if let Some(word) = self.function_of_signs(words, table) {
            return word;
        }
        for (first, second) in [(0, 1), (0, 2), (1, 2)] {
            if words[first] == words[second] {
                let column = COLUMNS[first];
                table = fixed(table, second, true) & column | fixed(table, second, false) & !column;
            }
        }
        let mut operands: Vec<usize> = (0..3).filter(|&at| depends(table, at)).collect();
        operands.sort_by_key(|&at| words[at]);
        let number = |at: usize| match words[at] {
            Source::Constant(value) => Some(value),
            Source::Value(_) | Source::Step(_) => None,
        };
        let unknown: Vec<usize> = operands.iter().copied().filter(|&at| number(at).is_none()).collect();
        let with = |unknown: u64| value(table, [0, 1, 2].map(|at| number(at).unwrap_or(unknown)));
        match (unknown.as_slice(), operands.len()) {
            ([], _) => Source::Constant(with(0)),
            (&[x], 1 | 3) => self.masked(words[x], with(0), with(ALL)),
            (&[x], _) => self.of_number(words[x], with(0), with(ALL), || {
                let other = if operands[0] == x { operands[1] } else { operands[0] };
                ([words[x], words[other], words[x]], reordered(table, [x, other, 3 - x - other]))
            }),
            (&[x, y], 2) => {
                let rest = 3 - x - y;
                self.of_two([words[x], words[y]], reordered(table, [x, y, rest]))
            }
            _ => {
                let order = [operands[0], operands[1], operands[2]];
                self.of_three(order.map(|at| words[at]), reordered(table, order))
            }
        }
    }

    /// What a word is under a mask that keeps all bits of it that may be ones.
    fn unmasked(&self, words: [Source; 3], table: u8) -> Option<Source> {
        let mut operands = (0..3).filter(|&at| depends(table, at));
        let (first, second, None) = (operands.next()?, operands.next()?, operands.next()) else {
            return None;
        };
        let is_and = table == COLUMNS[first] & COLUMNS[second];
        [(words[first], words[second]), (words[second], words[first])].into_iter().find_map(|(word, mask)| {
            let Source::Constant(mask) = mask else { return None };
            (is_and && self.has_no_bits_but(word, mask)).then_some(word)
        })
    }

    /// The same function with the words in place that operands were made of bit by bit, if there are at most three of them:
    /// it is one instruction still, and those operands may be needed no more. As many as can be are taken apart.
    fn composed(&self, words: [Source; 3], table: u8) -> Option<([Source; 3], u8)> {
        if !self.with.lop3 {
            return None;
        }
        let used: Vec<usize> = (0..3).filter(|&at| depends(table, at)).collect();
        let made = words.map(|word| self.bitwise(word));
        let can_be =
            |chosen: u8| (0..3).all(|at| chosen >> at & 1 == 0 || used.contains(&at) && made[at].is_some());
        (1..8_u8).rev().filter(|&chosen| can_be(chosen)).find_map(|chosen| {
            let itself = |at: usize| ([words[at]; 3], COLUMNS[0]);
            let operand =
                |at: usize| made[at].filter(|_| chosen >> at & 1 == 1).unwrap_or_else(|| itself(at));
            let mut leaves: Vec<Source> = Vec::new();
            for (of, inner) in used.iter().map(|&at| operand(at)) {
                leaves.extend(
                    of.into_iter().zip(0..).filter(|&(_, at)| depends(inner, at)).map(|(leaf, _)| leaf),
                );
            }
            leaves.sort();
            leaves.dedup();
            // An instruction has one number.
            let numbers = leaves.iter().filter(|leaf| matches!(leaf, Source::Constant(_))).count();
            if leaves.len() > 3 || numbers > 1 {
                return None;
            }
            // What a function does not depend on may be any column.
            let column = |word: Source| COLUMNS[leaves.iter().position(|&leaf| leaf == word).unwrap_or(0)];
            let columns = [0, 1, 2].map(|at| {
                let (of, inner) = operand(at);
                of_columns(inner, of.map(column))
            });
            let leaf = |at: usize| leaves.get(at).copied().unwrap_or(Source::Constant(0));
            Some(([0, 1, 2].map(leaf), of_columns(table, columns)))
        })
    }

    /// What a word is bit by bit, if it was made so.
    fn bitwise(&self, word: Source) -> Option<([Source; 3], u8)> {
        let Source::Step(step) = word else { return None };
        let [x, y, _] = COLUMNS;
        let table = match self.steps[step].instruction()? {
            op::NOT_B32 => !x,
            op::AND_B32 => x & y,
            op::OR_B32 => x | y,
            op::XOR_B32 => x ^ y,
            _ => return self.function(word),
        };
        let sources = &self.steps[step].sources;
        Some((std::array::from_fn(|at| sources.get(at).copied().unwrap_or(Source::Constant(0))), table))
    }

    /// What a word is the inverse of, if it was made so.
    fn inverted_word(&self, word: Source) -> Option<Source> {
        let Source::Step(step) = word else { return None };
        let step = &self.steps[step];
        step.is(op::NOT_B32).then(|| step.sources[0])
    }

    /// What a word is with bits inverted that a number has, if it was made so.
    fn flipped_word(&self, word: Source) -> Option<(Source, u64)> {
        let Source::Step(step) = word else { return None };
        let step = &self.steps[step];
        match step.sources[..] {
            [x, Source::Constant(number)] if step.is(op::XOR_B32) => Some((x, number)),
            _ => None,
        }
    }

    /// What a word is as a function of three, if it was made so.
    fn function(&self, word: Source) -> Option<([Source; 3], u8)> {
        let Source::Step(step) = word else { return None };
        let step = &self.steps[step];
        match step.sources[..] {
            [x, y, z, Source::Constant(table)] if step.is(op::LOP3_B32) => {
                Some(([x, y, z], u8::try_from(table).ok()?))
            }
            _ => None,
        }
    }

    /// A word whose bits are those of `zeros` where `x` has zeros, and those of `ones` where `x` has ones.
    fn masked(&mut self, x: Source, zeros: u64, ones: u64) -> Source {
        if let Some((inner, number)) = self.flipped_word(x) {
            let of = |bits: u64| zeros & !bits | ones & bits;
            return self.masked(inner, of(number), of(!number & ALL));
        }
        if (zeros, ones) == (ALL, 0)
            && let Some((words, table)) = self.function(x)
        {
            return self.of_three(words, !table);
        }
        let kept = match zeros ^ ones {
            // The other bits are zeros anyway.
            different if self.has_no_bits_but(x, different) => x,
            different => self.plain(op::AND_B32, &[x, Source::Constant(different)]),
        };
        match zeros {
            0 => kept,
            ALL => self.plain(op::NOT_B32, &[kept]),
            flipped => self.plain(op::XOR_B32, &[kept, Source::Constant(flipped)]),
        }
    }

    /// The bits of a word that a mask has, inverted or not. If the word was made of two others and a number that has the same
    /// bit wherever the mask has one, the mask takes the place of the number.
    pub(super) fn kept(&mut self, x: Source, inverted: bool, mask: u64) -> Source {
        let invert = if inverted { 0xff } else { 0 };
        let with_mask = || {
            let (mut words, table) = self.function(x)?;
            let mut numbers = (0..3).filter(|&at| matches!(words[at], Source::Constant(_)));
            let (Some(at), None) = (numbers.next(), numbers.next()) else { return None };
            let Source::Constant(number) = words[at] else { return None };
            let bit = match number & mask {
                0 => false,
                there if there == mask => true,
                _ => return None,
            };
            words[at] = Source::Constant(mask);
            Some((words, fixed(table ^ invert, at, bit) & COLUMNS[at]))
        };
        match with_mask() {
            Some((words, table)) => self.by_table(words, table),
            None => self.logic2([x, Source::Constant(mask)], |x, mask| (x ^ invert) & mask),
        }
    }

    /// A function of a word and a number.
    fn of_number(
        &mut self,
        x: Source,
        zeros: u64,
        ones: u64,
        table: impl Fn() -> ([Source; 3], u8),
    ) -> Source {
        if zeros == 0 || zeros == !ones & ALL {
            return self.masked(x, zeros, ones);
        }
        if ones == ALL {
            return self.plain(op::OR_B32, &[x, Source::Constant(zeros)]);
        }
        if self.with.lop3 {
            let ([x, y, z], table) = table();
            return self.plain(op::LOP3_B32, &[x, y, z, Source::Constant(table.into())]);
        }
        self.masked(x, zeros, ones)
    }

    /// A function of two words that are no numbers; the table does not depend on the third operand.
    fn of_two(&mut self, [x, y]: [Source; 2], table: u8) -> Source {
        let instruction = match table {
            0xc0 => op::AND_B32,
            0xfc => op::OR_B32,
            0x3c => op::XOR_B32,
            _ => return self.of_three([x, y, x], table),
        };
        self.plain(instruction, &[x, y])
    }

    fn of_three(&mut self, words: [Source; 3], table: u8) -> Source {
        if self.with.lop3 {
            let [x, y, z] = words;
            return self.plain(op::LOP3_B32, &[x, y, z, Source::Constant(table.into())]);
        }
        self.formula(words, table)
    }

    /// A function spelled with the operations that every GPU has.
    fn formula(&mut self, words: [Source; 3], table: u8) -> Source {
        let (word, x, y) = match FORMULAS[usize::from(table)] {
            Formula::Number(value) => return Source::Constant(if value { ALL } else { 0 }),
            Formula::Operand(at) => return words[at],
            Formula::Not(x) => {
                let x = self.formula(words, x);
                return match x {
                    Source::Constant(value) => Source::Constant(!value & ALL),
                    Source::Value(_) | Source::Step(_) => self.plain(op::NOT_B32, &[x]),
                };
            }
            Formula::And(x, y) => (op::AND_B32, x, y),
            Formula::Or(x, y) => (op::OR_B32, x, y),
            Formula::Xor(x, y) => (op::XOR_B32, x, y),
        };
        let (x, y) = (self.formula(words, x), self.formula(words, y));
        self.commutative(word, x, y)
    }
}

/// The table of a function of functions, which are given by their tables.
fn of_columns(table: u8, columns: [u8; 3]) -> u8 {
    let low = value(table, columns.map(u64::from)) & 0xff;
    u8::try_from(low).expect("it was cut to a byte")
}

/// The table for operands in another order: the first is what was `order[0]`.
fn reordered(table: u8, order: [usize; 3]) -> u8 {
    let mut columns = [0; 3];
    for (column, old) in COLUMNS.into_iter().zip(order) {
        columns[old] = column;
    }
    of_columns(table, columns)
}

/// How a function is made of others, by their tables.
#[derive(Clone, Copy, Debug)]
enum Formula {
    Number(bool),
    Operand(usize),
    Not(u8),
    And(u8, u8),
    Or(u8, u8),
    Xor(u8, u8),
}

/// The shortest formula of each table: found from the shortest upwards.
static FORMULAS: LazyLock<[Formula; 256]> = LazyLock::new(|| {
    let mut known: Vec<Option<(u32, Formula)>> = vec![None; 256];
    known[0x00] = Some((0, Formula::Number(false)));
    known[0xff] = Some((0, Formula::Number(true)));
    for (at, column) in COLUMNS.into_iter().enumerate() {
        known[usize::from(column)] = Some((0, Formula::Operand(at)));
    }
    for length in 1.. {
        let before = known.clone();
        let found = |table: u8, formula: Formula, known: &mut Vec<Option<(u32, Formula)>>| {
            known[usize::from(table)].get_or_insert((length, formula));
        };
        let tables = || (0..=255_u8).filter_map(|table| Some((table, before[usize::from(table)]?.0)));
        for (x, own) in tables() {
            if own + 1 == length {
                found(!x, Formula::Not(x), &mut known);
            }
            for (y, other) in tables().filter(|&(y, other)| y < x && own + other + 1 == length) {
                let _ = other;
                found(x & y, Formula::And(x, y), &mut known);
                found(x | y, Formula::Or(x, y), &mut known);
                found(x ^ y, Formula::Xor(x, y), &mut known);
            }
        }
        if known.iter().all(Option::is_some) {
            break;
        }
    }
    let formula = |table: usize| known[table].expect("the loop ends when all are known").1;
    std::array::from_fn(formula)
});
