//! Addresses as sums: a number and multiples of values. Sums that differ in their numbers alone are a known distance
//! apart, and the lowest bits of a sum are zero where they are in all that is added.
//!
//! Sound because all of it is arithmetic modulo a power of two, of which sums, differences, products with numbers and
//! truncations to fewer bits are exact. A word that is extended is the sum only where nothing carries out of it; so
//! what is taken out of an extension is no more than what lies below the lowest bit that the rest of the word can
//! have. Bounds on work leave values that are not taken apart, and so sums that are not seen to be equal.

use crate::graph::{Graph, Origin, ValueId};
use hashbrown::{HashMap, HashSet};
use ptxopt_grammar::alignment::Extents;
use ptxopt_grammar::meaning::term::{Op, Term, ones};
use ptxopt_grammar::tree::DeclId;
use std::collections::BTreeSet;

/// How many values deep a sum is followed.
const DEPTH: u32 = 64;
/// How many different values are added at most.
const MOST_PARTS: usize = 8;
/// How many phis are looked at for the lowest bits of one, and how many times.
const MOST_PHIS: usize = 256;
const MOST_PASSES: usize = 128;

/// Something that is added up and not taken apart.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Atom {
    /// The address of a variable or parameter.
    Symbol(DeclId),
    Value(ValueId),
    Term(Term),
    /// A sum of fewer bits, by its number, with zeros or its sign above it.
    Extended(usize, bool),
}

/// A number, and multiples of values, of so many bits; what does not fit is cut off.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Sum {
    /// No factor is zero.
    parts: Vec<(Atom, u64)>,
    number: u64,
    width: u32,
}

impl Sum {
    fn constant(number: u64, width: u32) -> Self {
        Self { parts: Vec::new(), number: number & mask(width), width }
    }

    fn atom(atom: Atom, width: u32) -> Self {
        Self { parts: vec![(atom, 1)], number: 0, width }
    }

    /// What it is without its number, and the number.
    pub(crate) fn split(self) -> (Self, u64) {
        let number = self.number;
        (Self { number: 0, ..self }, number)
    }

    /// The variable or parameter whose address it is, but for the number.
    pub(crate) fn symbol(&self) -> Option<DeclId> {
        match self.parts[..] {
            [(Atom::Symbol(symbol), 1)] => Some(symbol),
            _ => None,
        }
    }

    /// The sum of two, each as often as it says, cut to a width.
    fn plus(&self, times: u64, other: &Self, other_times: u64, width: u32) -> Self {
        let mut parts: Vec<(Atom, u64)> = Vec::new();
        let scaled = |sum: &Self, times: u64| -> Vec<(Atom, u64)> {
            sum.parts.iter().map(|&(atom, factor)| (atom, factor.wrapping_mul(times))).collect()
        };
        for (atom, factor) in scaled(self, times).into_iter().chain(scaled(other, other_times)) {
            match parts.binary_search_by_key(&atom, |&(atom, _)| atom) {
                Ok(at) => parts[at].1 = parts[at].1.wrapping_add(factor),
                Err(at) => parts.insert(at, (atom, factor)),
            }
        }
        let number = self.number.wrapping_mul(times).wrapping_add(other.number.wrapping_mul(other_times));
        for (_, factor) in &mut parts {
            *factor &= mask(width);
        }
        parts.retain(|&(_, factor)| factor != 0);
        Self { parts, number: number & mask(width), width }
    }

    fn times(&self, factor: u64, width: u32) -> Self {
        self.plus(factor, &Self::constant(0, width), 0, width)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "sums have 64 bits at most")]
const fn mask(width: u32) -> u64 {
    ones(width) as u64
}

/// The sums of a function.
pub(crate) struct Addresses<'g, 'm, 't> {
    graph: &'g Graph<'m, 't>,
    extents: Extents,
    known: HashMap<ValueId, Sum>,
    /// The sums of terms.
    taken: HashMap<Term, Sum>,
    /// The sums that are extended somewhere, and their numbers.
    extended: Vec<Sum>,
    numbers: HashMap<Sum, usize>,
    /// How many of the lowest bits of a phi are zero.
    phis: HashMap<ValueId, u32>,
    /// By phi: the phis that its operands are made of.
    operand_phis: HashMap<ValueId, Vec<ValueId>>,
    /// How many of the lowest bits of other things are zero, as far as phis are known.
    zeros: HashMap<Atom, u32>,
    /// The values that are being taken apart.
    open: HashSet<ValueId>,
    /// How deep the work is.
    depth: u32,
    settling: Settling,
}

/// How far the work on phis is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Settling {
    Done,
    /// They are being looked for.
    Looking,
    /// What is assumed of them need not be so.
    Assumed,
}

impl<'g, 'm, 't> Addresses<'g, 'm, 't> {
    pub(crate) fn new(graph: &'g Graph<'m, 't>) -> Self {
        Self {
            graph,
            extents: Extents::default(),
            known: HashMap::new(),
            taken: HashMap::new(),
            extended: Vec::new(),
            numbers: HashMap::new(),
            phis: HashMap::new(),
            operand_phis: HashMap::new(),
            zeros: HashMap::new(),
            open: HashSet::new(),
            depth: 0,
            settling: Settling::Done,
        }
    }

    /// How many bytes a variable or parameter has, if that is declared.
    pub(crate) fn size_of(&mut self, symbol: DeclId) -> Option<u64> {
        self.extents.size(self.graph.module(), symbol)
    }

    /// The address of a symbol, and a number more.
    pub(crate) fn of_symbol(symbol: DeclId, number: u64) -> Sum {
        Sum { number, ..Sum::atom(Atom::Symbol(symbol), 64) }
    }

    /// A value, and a number more.
    pub(crate) fn of_value(&mut self, value: ValueId, number: u64) -> Sum {
        let sum = self.value(value);
        let width = sum.width;
        sum.plus(1, &Sum::constant(number, width), 1, width)
    }

    /// How many of the lowest bits of a sum are zero, its number left out.
    pub(crate) fn zero_bits(&mut self, sum: &Sum) -> u32 {
        if self.settling == Settling::Assumed {
            return 0;
        }
        self.settle(sum);
        self.zeros(sum)
    }

    fn value(&mut self, value: ValueId) -> Sum {
        if let Some(known) = self.known.get(&value) {
            return known.clone();
        }
        let entry = self.graph.value(value);
        let width = entry.width;
        let whole = Sum::atom(Atom::Value(value), width);
        let sum = match (self.graph.address_of(value), entry.def) {
            (Some(symbol), _) => Sum::atom(Atom::Symbol(symbol), width),
            (None, Some(_)) if self.depth >= DEPTH || self.open.contains(&value) => return whole,
            (None, Some(def)) if width <= 64 => {
                self.open.insert(value);
                self.depth += 1;
                let sum = self.term(def);
                self.depth -= 1;
                self.open.remove(&value);
                sum
            }
            (None, _) => whole,
        };
        self.known.insert(value, sum.clone());
        sum
    }

    fn term(&mut self, term: Term) -> Sum {
        if let Some(taken) = self.taken.get(&term) {
            return taken.clone();
        }
        let sum = self.take_apart(term);
        self.taken.insert(term, sum.clone());
        sum
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "what is no sum is not taken apart")]
    fn take_apart(&mut self, term: Term) -> Sum {
        let terms = self.graph.terms();
        let width = terms.width(term);
        let whole = Sum::atom(Atom::Term(term), width);
        if width > 64 {
            return whole;
        }
        let number = |term: Term| terms.value(term).and_then(|value| u64::try_from(value).ok());
        let sum = match terms.op(term) {
            Op::Constant(value) => {
                Sum::constant(u64::try_from(value).expect("it has 64 bits at most"), width)
            }
            Op::Input(input) => self.value(ValueId::of_input(input)),
            Op::Not(a) => Sum::constant(u64::MAX, width).plus(1, &self.term(a), u64::MAX, width),
            Op::Add(a, b) => {
                let (a, b) = (self.term(a), self.term(b));
                a.plus(1, &b, 1, width)
            }
            Op::Mul(a, b) => match (number(a), number(b)) {
                (Some(factor), _) => self.term(b).times(factor, width),
                (_, Some(factor)) => self.term(a).times(factor, width),
                (None, None) => return whole,
            },
            // What the assembler would write as a sum without carries.
            Op::Or(a, b) => {
                let (a, b) = (self.term(a), self.term(b));
                let (sum, number) = match (a.parts.is_empty(), b.parts.is_empty()) {
                    (true, false) => (b, a.number),
                    (false, true) => (a, b.number),
                    (true, true) | (false, false) => return whole,
                };
                let zeros = self.zero_bits(&sum).min(sum.number.trailing_zeros());
                if u64::BITS - number.leading_zeros() > zeros {
                    return whole;
                }
                sum.plus(1, &Sum::constant(number, width), 1, width)
            }
            Op::Extract(a, 0) if terms.width(a) <= 64 => self.term(a).times(1, width),
            Op::Concat(high, low) => {
                let high = self.term(high).times(1 << terms.width(low), width);
                let low = self.extend(low, false, width);
                high.plus(1, &low, 1, width)
            }
            Op::ZeroExtend(a) => self.extend(a, false, width),
            Op::SignExtend(a) => self.extend(a, true, width),
            _ => return whole,
        };
        if sum.parts.len() <= MOST_PARTS { sum } else { whole }
    }

    /// A term with more bits above it. What does not carry into the rest of it is added to the extension of the rest.
    fn extend(&mut self, term: Term, signed: bool, width: u32) -> Sum {
        let mut sum = self.term(term);
        let inner = sum.width;
        if sum.parts.is_empty() {
            let sign = signed && sum.number >> (inner - 1) & 1 == 1;
            return Sum::constant(if sign { sum.number | !mask(inner) } else { sum.number }, width);
        }
        let below = mask(self.zero_bits(&sum).min(inner - 1));
        let number = sum.number & below;
        sum.number -= number;
        let next = self.extended.len();
        let at = *self.numbers.entry(sum.clone()).or_insert(next);
        if at == next {
            self.extended.push(sum);
        }
        Sum { number, ..Sum::atom(Atom::Extended(at, signed), width) }
    }

    /// How many of the lowest bits of all that is multiplied and added up are zero; of phis, as they are known.
    fn zeros(&mut self, sum: &Sum) -> u32 {
        let parts = sum.parts.iter().map(|&(atom, factor)| self.zeros_of(atom) + factor.trailing_zeros());
        parts.min().unwrap_or(sum.width).min(sum.width)
    }

    fn zeros_of(&mut self, atom: Atom) -> u32 {
        if let Some(&known) = self.zeros.get(&atom) {
            return known;
        }
        if self.depth >= DEPTH {
            return 0;
        }
        self.depth += 1;
        let zeros = match atom {
            Atom::Symbol(symbol) => self.extents.zero_bits(self.graph.module(), symbol),
            Atom::Value(value) => self.phis.get(&value).copied().unwrap_or(0),
            Atom::Term(term) => self.zeros_of_term(term),
            Atom::Extended(at, _) => {
                let sum = self.extended[at].clone();
                self.zeros_with_number(&sum)
            }
        };
        self.depth -= 1;
        if !matches!(atom, Atom::Value(_)) {
            self.zeros.insert(atom, zeros);
        }
        zeros
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "of other operations nothing is known")]
    fn zeros_of_term(&mut self, term: Term) -> u32 {
        match self.graph.terms().op(term) {
            Op::And(a, b) => self.zeros_below(a).max(self.zeros_below(b)),
            Op::Or(a, b) | Op::Xor(a, b) | Op::Choose(_, a, b) => {
                self.zeros_below(a).min(self.zeros_below(b))
            }
            Op::Mul(a, b) => self.zeros_below(a) + self.zeros_below(b),
            Op::Shl(a, _) => self.zeros_below(a),
            Op::Extract(a, low) => self.zeros_below(a).saturating_sub(low),
            _ => 0,
        }
    }

    /// How many of the lowest bits of a term are zero.
    fn zeros_below(&mut self, term: Term) -> u32 {
        let sum = self.term(term);
        self.zeros_with_number(&sum)
    }

    fn zeros_with_number(&mut self, sum: &Sum) -> u32 {
        let number = if sum.number == 0 { sum.width } else { sum.number.trailing_zeros() };
        self.zeros(sum).min(number)
    }

    /// Finds out how many of the lowest bits are zero in the phis that a sum is made of: all at first, then as many as in
    /// all that comes together there, until that holds for all of them.
    fn settle(&mut self, sum: &Sum) {
        if self.settling != Settling::Done {
            return;
        }
        self.settling = Settling::Looking;
        let found = self.all_phis(sum);
        if found.is_empty() {
            self.settling = Settling::Done;
            return;
        }
        let operands =
            |phi: ValueId| self.graph.operands(phi).map(|(operand, _)| operand).collect::<Vec<_>>();
        let operands: Vec<(ValueId, Vec<ValueId>)> = found.iter().map(|&phi| (phi, operands(phi))).collect();
        self.phis.extend(found.iter().map(|&phi| (phi, self.graph.value(phi).width)));
        self.settling = Settling::Assumed;
        let (mut changed, mut passes) = (true, 0);
        while std::mem::take(&mut changed) {
            passes += 1;
            if passes > MOST_PASSES {
                self.phis.extend(found.iter().map(|&phi| (phi, 0)));
            }
            self.zeros.clear();
            for (phi, operands) in &operands {
                let mut zeros = self.phis[phi];
                for &operand in operands {
                    let sum = self.value(operand);
                    zeros = zeros.min(self.zeros_with_number(&sum));
                }
                changed |= self.phis.insert(*phi, zeros) != Some(zeros);
            }
        }
        self.settling = Settling::Done;
    }

    /// The phis that a sum is made of, and those that these are made of. If they are too many, nothing is known of the
    /// first ones, now and later: else they would be looked for again at each sum that has them.
    fn all_phis(&mut self, sum: &Sum) -> BTreeSet<ValueId> {
        let mut found = BTreeSet::new();
        let first = self.phis_of(sum);
        let mut work = first.clone();
        while let Some(phi) = work.pop() {
            if self.phis.contains_key(&phi) || !found.insert(phi) {
                continue;
            }
            if found.len() > MOST_PHIS {
                self.phis.extend(first.into_iter().map(|phi| (phi, 0)));
                return BTreeSet::new();
            }
            work.extend_from_slice(self.phis_before(phi));
        }
        found
    }

    /// The phis that the operands of a phi are made of.
    fn phis_before(&mut self, phi: ValueId) -> &[ValueId] {
        if !self.operand_phis.contains_key(&phi) {
            let operands: Vec<ValueId> = self.graph.operands(phi).map(|(operand, _)| operand).collect();
            let sums: Vec<Sum> = operands.into_iter().map(|operand| self.value(operand)).collect();
            let before = sums.iter().flat_map(|sum| self.phis_of(sum)).collect();
            self.operand_phis.insert(phi, before);
        }
        &self.operand_phis[&phi]
    }

    /// The phis that a sum is made of.
    fn phis_of(&mut self, sum: &Sum) -> Vec<ValueId> {
        let mut phis = Vec::new();
        let mut work: Vec<Atom> = sum.parts.iter().map(|&(atom, _)| atom).collect();
        let mut seen: BTreeSet<Atom> = BTreeSet::new();
        while let Some(atom) = work.pop() {
            if !seen.insert(atom) || seen.len() > MOST_PHIS {
                continue;
            }
            match atom {
                Atom::Value(value) if matches!(self.graph.value(value).origin, Origin::Phi(_)) => {
                    phis.push(value);
                }
                Atom::Symbol(_) | Atom::Value(_) => {}
                Atom::Extended(at, _) => work.extend(self.extended[at].parts.iter().map(|&(atom, _)| atom)),
                Atom::Term(term) => {
                    for child in self.graph.terms().children(term) {
                        let sum = self.term(child);
                        work.extend(sum.parts.iter().map(|&(atom, _)| atom));
                    }
                }
            }
        }
        phis
    }
}
