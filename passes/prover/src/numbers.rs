//! Numbers: words of at most 16 bits of which nothing counts but how great they can be.
//!
//! What is computed of a sum of products, such as its quotient by 255, is easily compared where it is taken as a function
//! of that sum, and not of all that was multiplied. So a sum may be named: from there on its bits are inputs of their
//! own, of which only the greatest value is known that the sum can have. What is equal for all of these values is equal
//! for those that the sum really has, whatever the inputs are. Each gate that is made of the bits of one number gets a
//! table, with a row for each value of the number; gates with the same table are one gate. Inputs of which it is known
//! how great they can be are numbers from the start.

use super::aig::{Aig, Gate, Lit, Watch, last};
use super::canonical::{Cone, ConeInput, Kind};
use super::vectors::counting;
use hashbrown::HashMap;
use ptxopt_grammar::meaning::term::ones;
use std::rc::Rc;

/// The most words that all tables have: 32 MiB.
const MOST_WORDS: usize = 1 << 22;

/// One bit for each value of a number, in words.
type Table = Rc<[u64]>;

/// A sum that was named, or an input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Number {
    /// The bits of the sum, of which the lowest comes first.
    pub(super) of: Vec<Lit>,
    /// The inputs that stand for them.
    pub(super) bits: Vec<Lit>,
    /// The greatest value that the sum can have.
    pub(super) most: u64,
}

impl Number {
    /// The least and the greatest sum of its bits with other weights than theirs, which are given by the gate.
    pub(super) fn ends(&self, weight: impl Fn(u32) -> i128) -> (i128, i128) {
        let weights: Vec<i128> = self.bits.iter().map(|bit| weight(bit.node())).collect();
        let negated: Vec<i128> = weights.iter().map(|weight| -weight).collect();
        (-self.greatest(&negated), self.greatest(&weights))
    }

    /// The greatest weighted sum of the bits of the values that the number can have.
    fn greatest(&self, weights: &[i128]) -> i128 {
        // Those values are the greatest one, and for each of its ones what has a zero there and anything below it.
        let (mut above, mut found) = (0, None);
        for (at, weight) in weights.iter().enumerate().rev() {
            if self.most >> at & 1 == 1 {
                let below: i128 = weights[..at].iter().map(|&weight| weight.max(0)).sum();
                found = found.max(Some(above + below));
                above += weight;
            }
        }
        found.max(Some(above)).unwrap_or(above)
    }
}

/// Merges the gates that are the same function of one number.
#[derive(Default)]
pub(super) struct Numbers {
    all: Vec<Number>,
    /// How many words all tables have.
    words: usize,
    /// The number that a gate is a function of, and the function.
    tables: HashMap<u32, (usize, Table)>,
    /// The first gate with a table whose first row is not set.
    known: HashMap<(usize, Table), Lit>,
}

impl Numbers {
    /// The table of a literal that is a function of a number.
    fn table(&self, lit: Lit) -> Option<(usize, Table)> {
        let (number, table) = self.tables.get(&lit.node())?;
        Some((*number, if lit.inverted() { self.inverted(*number, table) } else { Rc::clone(table) }))
    }

    /// How many words a table has.
    fn words(&self, number: usize) -> usize {
        usize::try_from(self.all[number].most / 64 + 1).expect("a number has 16 bits")
    }

    /// The rows of all values of a number, made word by word.
    fn made_of(&self, number: usize, word: impl Fn(usize) -> u64) -> Table {
        let rows = self.all[number].most % 64 + 1;
        let mut table: Vec<u64> = (0..self.words(number)).map(word).collect();
        if let Some(last) = table.last_mut() {
            *last &= u64::MAX >> (64 - rows);
        }
        table.into()
    }

    fn inverted(&self, number: usize, table: &Table) -> Table {
        self.made_of(number, |at| !table[at])
    }

    /// The older literal with this table; or the new gate, which has it from now on.
    fn merged(&mut self, number: usize, table: Table, new: Lit) -> Lit {
        let flipped = table[0] & 1 == 1;
        let upright = if flipped { self.inverted(number, &table) } else { Rc::clone(&table) };
        if upright.iter().all(|&word| word == 0) {
            return Lit::constant(flipped);
        }
        let own = new.inverted_if(flipped);
        let known = *self.known.entry((number, upright)).or_insert(own);
        if known == own {
            self.words += table.len();
            self.tables.insert(new.node(), (number, table));
        }
        known.inverted_if(flipped)
    }
}

impl Watch for Numbers {
    fn made(&mut self, gates: &[Gate]) -> Lit {
        let new = last(gates);
        let Some(&(Gate::And(a, b) | Gate::Xor(a, b))) = gates.last() else { return new };
        let (Some((number, x)), Some((other, y))) = (self.table(a), self.table(b)) else { return new };
        if number != other || self.words >= MOST_WORDS {
            return new;
        }
        let is_and = matches!(gates.last(), Some(Gate::And(..)));
        let table = self.made_of(number, |at| if is_and { x[at] & y[at] } else { x[at] ^ y[at] });
        self.merged(number, table, new)
    }

    fn name(&mut self, number: Number) {
        let bits = number.bits.clone();
        self.all.push(number);
        let number = self.all.len() - 1;
        for (at, bit) in bits.into_iter().enumerate() {
            let table = self.made_of(number, |word| counting(at, word as u64));
            self.merged(number, table, bit);
        }
    }

    fn numbers(&self) -> &[Number] {
        &self.all
    }
}

/// Makes numbers of the inputs of which it is known how great they can be.
pub(super) fn name_ranges(inputs: &[ConeInput], bits: &[Vec<Lit>], graph: &mut Aig<Numbers>) {
    for (input, bits) in inputs.iter().zip(bits) {
        let most = input.assumption.unsigned.map(|(_, most)| most.min(ones(input.width)));
        let most = most.and_then(|most| u16::try_from(most).ok());
        let Some(most) = most.filter(|&most| most > 0) else { continue };
        let (own, above) = bits.split_at((u16::BITS - most.leading_zeros()) as usize);
        if above.iter().all(|&bit| bit == Lit::FALSE) && !own.iter().any(|bit| bit.is_constant()) {
            graph.watch.name(Number { of: own.to_vec(), bits: own.to_vec(), most: most.into() });
        }
    }
}

/// Used in parts.
const PARTS: u8 = 1;
/// Used as a whole.
const WHOLE: u8 = 2;

/// The words of a cone that are used both in parts and as a whole, or divided by a number, or multiplied by one.
pub(super) fn parted(cone: &Cone) -> Vec<bool> {
    let mut uses = vec![0; cone.words.len()];
    // What uses a word comes after it.
    for (at, word) in cone.words.iter().enumerate().rev() {
        let [a, b, _] = word.operands;
        let own = uses[at];
        let mut used = |at: u32, how: u8| uses[at as usize] |= how;
        let kind = word.kind;
        let is_moved = kind == Kind::Extract && word.value == 0;
        if is_moved || matches!(kind, Kind::ZeroExtend | Kind::SignExtend) {
            used(a, own);
        } else if kind == Kind::Concat {
            used(a, own);
            used(b, own);
        } else if kind == Kind::Extract {
            used(a, PARTS);
        } else if kind == Kind::Add {
            used(a, WHOLE);
            used(b, WHOLE);
        } else if kind == Kind::UnsignedDivide {
            used(a, PARTS | WHOLE);
        } else if matches!(kind, Kind::And | Kind::Mul)
            && let Some((other, value)) = cone.with_constant(a, b)
        {
            let is_shifted = value.is_power_of_two();
            let product = if is_shifted { own } else { PARTS | WHOLE };
            used(other, if kind == Kind::And { PARTS } else { product });
        }
    }
    uses.into_iter().map(|uses| uses == PARTS | WHOLE).collect()
}
