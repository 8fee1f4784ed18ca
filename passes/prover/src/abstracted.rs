//! A question in which parts of sums of products are inputs: what is left of it has no products.
//!
//! Both sides often compute the same lanes of products in their own way, and then something of these lanes. That the
//! lanes are the same shows in their gates, where products are taken apart. What is made of them is a question of its
//! own: the lanes are inputs of which nothing is known, the same for the same gates. Whatever values the lanes can have,
//! these inputs can have too, and others besides. So what is equal for all of these is equal for the lanes, and a
//! difference that is found may be one that the lanes never show.

use super::Question;
use super::aig::{Lit, Watch};
use super::canonical::{Cone, Kind};
use super::remade::remade;
use super::words::Circuit;
use hashbrown::HashMap;
use ptxopt_grammar::meaning::term::{Term, Terms};

impl Question {
    /// The question in which parts of sums of products are inputs, given a circuit in which these are taken apart; `None`
    /// if that leaves as many products.
    pub(super) fn abstracted<W: Watch>(&self, circuit: &mut Circuit<'_, W>) -> Option<Self> {
        let cone = &self.cone;
        let mut abstracting = Abstracting {
            circuit,
            terms: Terms::new(),
            made: Vec::with_capacity(cone.words.len()),
            known: HashMap::new(),
            inputs: u32::try_from(cone.inputs.len()).ok()?,
        };
        let sums = sums_of_products(cone);
        for (word, at) in cone.words.iter().zip(0..) {
            let [a, b, _] = word.operands;
            let sum = if word.kind == Kind::Extract {
                Some(a)
            } else if word.kind == Kind::And {
                cone.with_constant(a, b).map(|(other, _)| other)
            } else {
                None
            };
            let is_part = sum.is_some_and(|sum| sums[sum as usize]);
            let Abstracting { ref mut terms, ref made, .. } = abstracting;
            let term = match is_part {
                true => abstracting.part(at),
                false => remade(terms, word, |operand| made[operand as usize]),
            };
            abstracting.made.push(term);
        }
        let Abstracting { terms, made, .. } = abstracting;
        Some(self.remade(&terms, &made)).filter(|less| less.cone.products() < cone.products())
    }
}

/// The words of a cone that are sums of products, or the lowest bits of some.
fn sums_of_products(cone: &Cone) -> Vec<bool> {
    let mut sums: Vec<bool> = Vec::with_capacity(cone.words.len());
    for word in &cone.words {
        let [a, b, _] = word.operands.map(|at| sums.get(at as usize) == Some(&true));
        let extends = matches!(word.kind, Kind::Not | Kind::ZeroExtend | Kind::SignExtend);
        let is_lowest = word.kind == Kind::Extract && word.value == 0;
        let is_sum = word.kind == Kind::Add && (a || b) || (extends || is_lowest) && a;
        sums.push(word.kind == Kind::Mul || is_sum);
    }
    sums
}

struct Abstracting<'a, 'c, W> {
    circuit: &'a mut Circuit<'c, W>,
    terms: Terms,
    /// The terms of the words so far.
    made: Vec<Term>,
    /// The inputs that stand for bits.
    known: HashMap<Vec<Lit>, Term>,
    /// How many inputs there are.
    inputs: u32,
}

impl<W: Watch> Abstracting<'_, '_, W> {
    /// A word as inputs that stand for its bits, but for those that are constant.
    fn part(&mut self, at: u32) -> Term {
        let bits = self.circuit.bits(at).to_vec();
        let runs = bits.chunk_by(|a, b| a.is_constant() == b.is_constant());
        let parts: Vec<Term> =
            runs.map(|run| if run[0].is_constant() { self.constant(run) } else { self.input(run) }).collect();
        self.terms.side_by_side(parts).expect("a word has a bit")
    }

    fn constant(&mut self, bits: &[Lit]) -> Term {
        let value = bits.iter().rev().fold(0, |value, &bit| value << 1 | u128::from(bit == Lit::TRUE));
        self.terms.constant(value, width(bits))
    }

    fn input(&mut self, bits: &[Lit]) -> Term {
        let Self { terms, known, inputs, .. } = self;
        *known.entry(bits.to_vec()).or_insert_with(|| {
            *inputs += 1;
            terms.input(*inputs - 1, width(bits))
        })
    }
}

fn width(bits: &[Lit]) -> u32 {
    u32::try_from(bits.len()).expect("a word has at most 128 bits")
}
