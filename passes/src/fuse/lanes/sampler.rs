//! What whole registers and lanes are for inputs of which some are small, some large and some random.

use ptxopt_grammar::meaning::concrete::Program;
use ptxopt_grammar::meaning::term::{Term, Terms};
use ptxopt_grammar::video::Lanes;

/// The most terms that are evaluated.
const MOST_EVALUATED: usize = 2000;

/// How many samples there are.
const SAMPLES: u32 = 384;

/// Terms with their values for samples of their inputs.
pub(super) struct Sampler {
    program: Program<u64>,
    inputs: Vec<u64>,
    results: Vec<u64>,
    lanes: Lanes,
}

impl Sampler {
    /// Those of terms whose inputs are lanes; `None` if they are made of too many terms.
    pub(super) fn of(terms: &Terms, all: &[Term], lanes: Lanes) -> Option<Self> {
        // Each word is evaluated for each sample, and so is all that it is made of.
        if !terms.has_at_most(all, MOST_EVALUATED) {
            return None;
        }
        let program = Program::<u64>::compile(terms, all)?;
        let inputs = vec![0; program.inputs()];
        Some(Self { program, inputs, results: vec![0; all.len()], lanes })
    }

    /// Gives the values of all terms for each sample, the same ones each time, until no more are asked for.
    pub(super) fn each(&mut self, mut goes_on: impl FnMut(&[u64]) -> bool) {
        let count: u32 = self.lanes.count().into();
        let greatest = (1 << (self.lanes.bits() - 1)) - 1;
        let mut draw = 0x9e37_79b9_7f4a_7c15_u64;
        for sample in 0..SAMPLES {
            // A number is made of several inputs where it was taken apart, and its lowest may be any of them.
            let (kind, lowest) = (sample % 6, sample / 6 % count);
            for (at, input) in (0..).zip(&mut self.inputs) {
                draw = draw.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                let few = (draw >> 8) >> (24 + sample % 33);
                let signed = (draw >> 8).cast_signed() << 24 >> (24 + sample % 33);
                *input = match (kind, (at + lowest) % count) {
                    // Small numbers of either sign.
                    (0 | 1, 0) => few,
                    (0, _) => 0,
                    (1, _) => u64::MAX,
                    // The greatest there are.
                    (2, place) if place + 1 == count => greatest,
                    (2, _) => u64::MAX,
                    // Any, of few bits and of all, and zeros or ones more often than others.
                    (3, _) if draw >> 62 != 0 => 0,
                    (4, _) if draw >> 62 != 0 => u64::MAX,
                    _ => signed.cast_unsigned(),
                };
            }
            self.program.run(&self.inputs, &mut self.results);
            if !goes_on(&self.results) {
                break;
            }
        }
    }
}
