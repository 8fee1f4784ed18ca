//! What numbers seem to be by how they behave on samples. The proof tells what only the samples do not.

use super::super::words::Words;
use super::biased::Extremum;
use ptxopt_grammar::meaning::concrete::Program;
use ptxopt_grammar::meaning::term::{Op, Term};

/// How many samples there are.
const SAMPLES: u32 = 64;

impl Words {
    /// Whether a number is how far two bytes are apart.
    pub(super) fn is_distance(&mut self, number: Term) -> bool {
        if !matches!(self.pieces.terms.op(number), Op::Add(..)) {
            return false;
        }
        if let Some(&known) = self.wide.distances.get(&number) {
            return known;
        }
        let bits = self.lanes.bits();
        let lane = self.pieces.part(number, 0, bits);
        let made = self.alternatives(lane);
        let is_distance = made.iter().any(|made| made.function.is_distance())
            && self.samples([number]).is_some_and(|all| all.iter().all(|[value]| value >> bits == 0));
        self.wide.distances.insert(number, is_distance);
        is_distance
    }

    /// Whether a choice gives the lesser or the greater of two numbers.
    pub(super) fn which_extremum(
        &mut self,
        choice: Term,
        [condition, then, otherwise]: [Term; 3],
    ) -> Option<Extremum> {
        let compared = self.compared(condition);
        let is_compared =
            compared.is_some_and(|[a, b]| [a, b] == [then, otherwise] || [b, a] == [then, otherwise]);
        let all = self.samples([choice, then, otherwise])?;
        let differ = || all.iter().filter(|[_, then, otherwise]| then != otherwise);
        let chooses_both = differ().any(|[chosen, then, _]| chosen == then)
            && differ().any(|[chosen, _, otherwise]| chosen == otherwise);
        let is =
            |extremum: &Extremum| all.iter().all(|&[chosen, one, other]| chosen == extremum.of(one, other));
        let found = [Extremum::Least, Extremum::Greatest].into_iter().find(is);
        found.filter(|_| is_compared || chooses_both)
    }

    /// What some terms are for numbers that are often the least and the greatest there are.
    fn samples<const N: usize>(&self, terms: [Term; N]) -> Option<Vec<[i64; N]>> {
        let widths = terms.map(|term| self.pieces.terms.width(term));
        let mut program = Program::<u64>::compile(&self.pieces.terms, &terms)?;
        let mut inputs = vec![0; program.inputs()];
        let mut results = [0; N];
        let mut draw = 0x9e37_79b9_7f4a_7c15_u64;
        let sample = |sample| {
            for input in &mut inputs {
                draw = draw.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                *input = match (sample % 4, draw >> 62) {
                    (0 | 1, 0) => 0,
                    (0 | 1, 1) => 0xff,
                    (1, 2) => 0x7f,
                    _ => draw >> 40 & 0xff,
                };
            }
            program.run(&inputs, &mut results);
            std::array::from_fn(|at| {
                let above = u64::BITS - widths[at];
                (results[at] << above).cast_signed() >> above
            })
        };
        Some((0..SAMPLES).map(sample).collect())
    }
}
