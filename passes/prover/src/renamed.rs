//! A question in which sums of products are numbers: what is left of it has no products.
//!
//! The numbers are inputs of their own, of which the ranges are known. Whatever values the sums can have, these inputs
//! can have too, and others besides. So what is equal for all of these is equal for the sums, and a difference that is
//! found may be one that the sums never show.

use super::Proof;
use super::Question;
use super::aig::{Aig, Gate, Lit, Watch};
use super::canonical::ConeInput;
use super::decide::{Swept, are_the_same, ended, input_bits, pairs, sides, sweep_of};
use super::numbers::{Numbers, name_ranges, parted};
use super::query::{Assumption, Budget};
use super::vectors::vectors;
use super::words::{Circuit, Sums};

pub(super) struct Renamed {
    graph: Aig<Numbers>,
    /// The bits of the inputs of the question, and then of the sums that are numbers.
    bits: Vec<Vec<Lit>>,
    /// How many of the numbers are inputs of the question.
    ranges: usize,
    /// The demanded bits of both sides.
    pairs: Vec<(Lit, Lit)>,
}

impl Renamed {
    /// The same question with numbers; `None` if no word may be one.
    pub(super) fn of(question: &Question) -> Option<Self> {
        if !parted(&question.cone).contains(&true) {
            return None;
        }
        let mut graph = Aig::new(Numbers::default());
        let mut bits = input_bits(&question.cone.inputs, &mut graph);
        name_ranges(&question.cone.inputs, &bits, &mut graph);
        let ranges = graph.watch.numbers().len();
        let mut circuit = Circuit::new(graph, &question.cone, &bits, Sums::Named);
        let [before, after] = sides(&question.cone, &mut circuit);
        let graph = circuit.graph;
        bits.extend(graph.watch.numbers()[ranges..].iter().map(|number| number.bits.clone()));
        Some(Self { graph, bits, ranges, pairs: pairs(question, &before, &after) })
    }

    /// How the two sides are equal, if they are that whatever the numbers are.
    pub(super) fn proved(&self, question: &Question, budget: Budget, seed: u64) -> Option<Proof> {
        if are_the_same(&self.pairs) {
            return Some(Proof::Structural);
        }
        let numbers = &self.graph.watch.numbers()[self.ranges..];
        if numbers.is_empty() {
            return None;
        }
        let mut inputs = question.cone.inputs.clone();
        inputs.extend(numbers.iter().map(|number| {
            let range = Some((0, number.most.into()));
            let width = u32::try_from(number.bits.len()).expect("a number has 16 bits");
            ConeInput { width, assumption: Assumption { unsigned: range, ..Assumption::NONE } }
        }));
        let (lanes, _) = vectors(&inputs, seed);
        let (mut graph, bits) = sweep_of(&inputs, lanes, budget, seed);
        let pairs = self.made_in(&mut graph, &bits);
        match ended(graph, pairs, budget) {
            Swept::Proved { conflicts } => Some(Proof::Sat { conflicts }),
            Swept::Found(_) | Swept::Unknown => None,
        }
    }

    /// The pairs in another graph, which has these bits of the inputs.
    fn made_in<W: Watch>(&self, graph: &mut Aig<W>, bits: &[Vec<Lit>]) -> Vec<(Lit, Lit)> {
        let gates = self.graph.gates();
        let mut made = vec![Lit::FALSE; gates.len()];
        // Known bits are constants in both.
        let bits = self.bits.iter().flatten().zip(bits.iter().flatten());
        for (&old, &new) in bits.filter(|(old, _)| !old.is_constant()) {
            made[old.node() as usize] = new;
        }
        let used = self.graph.reached(self.pairs.iter().flat_map(|pair| [pair.0.node(), pair.1.node()]));
        let of = |made: &[Lit], lit: Lit| made[lit.node() as usize].inverted_if(lit.inverted());
        for (at, gate) in gates.iter().enumerate().filter(|(at, _)| used[*at]) {
            match *gate {
                Gate::And(a, b) => made[at] = graph.and(of(&made, a), of(&made, b)),
                Gate::Xor(a, b) => made[at] = graph.xor(of(&made, a), of(&made, b)),
                Gate::False | Gate::Input => {}
            }
        }
        self.pairs.iter().map(|&(before, after)| (of(&made, before), of(&made, after))).collect()
    }
}
