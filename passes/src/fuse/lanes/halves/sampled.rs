//! What numbers seem to be by how they behave on samples. The proof tells what only the samples do not.

use super::super::pieces::Pieces;
use super::super::words::Words;
use super::biased::Extremum;
use ptxopt_grammar::meaning::samples::Samples;
use ptxopt_grammar::meaning::term::{Op, Term};

/// How many samples there are.
const SAMPLES: usize = 64;

/// Of how many terms it is remembered what they are on the samples; each takes half a kilobyte.
const MOST_SAMPLED: usize = 1 << 18;

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
        // What is compared may be chosen without its lowest bits.
        let both = [then, otherwise];
        let whole = both.map(|of| self.shifted_of(of).map_or(of, |(whole, _)| whole));
        let is_compared =
            compared.is_some_and(|[a, b]| [both, whole].into_iter().any(|of| [a, b] == of || [b, a] == of));
        let all = self.samples([choice, then, otherwise])?;
        let differ = || all.iter().filter(|[_, then, otherwise]| then != otherwise);
        let chooses_both = differ().any(|[chosen, then, _]| chosen == then)
            && differ().any(|[chosen, _, otherwise]| chosen == otherwise);
        let is =
            |extremum: &Extremum| all.iter().all(|&[chosen, one, other]| chosen == extremum.of(one, other));
        let found = [Extremum::Least, Extremum::Greatest].into_iter().find(is);
        found.filter(|_| is_compared || chooses_both)
    }

    /// What some terms are on the samples; `None` if something in them is too wide.
    fn samples<const N: usize>(&mut self, of: [Term; N]) -> Option<Vec<[i64; N]>> {
        let Pieces { terms, sampled, .. } = &mut self.pieces;
        sampled.make_room();
        let mut all = vec![[0; N]; SAMPLES];
        for (at, term) in of.into_iter().enumerate() {
            let above = u64::BITS - terms.width(term);
            for (sample, &number) in all.iter_mut().zip(sampled.0.of(terms, term, input)?) {
                sample[at] = (number << above).cast_signed() >> above;
            }
        }
        Some(all)
    }
}

/// What terms are on the samples.
#[derive(Debug, Default)]
pub(in super::super) struct Sampled(Samples<u64, SAMPLES>);

impl Sampled {
    /// Forgets all if that is much.
    fn make_room(&mut self) {
        if self.0.count() > MOST_SAMPLED {
            self.0 = Samples::default();
        }
    }
}

/// What an input is on the samples: often the least and the greatest that a byte can be.
fn input(number: u32) -> [u64; SAMPLES] {
    let mut draw = u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    std::array::from_fn(|sample| {
        draw = draw.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        match (sample % 4, draw >> 62) {
            (0 | 1, 0) => 0,
            (0 | 1, 1) => 0xff,
            (1, 2) => 0x7f,
            _ => draw >> 40 & 0xff,
        }
    })
}
