//! What a function of one or two lanes gives, for many pairs of lanes at a time.
//!
//! Nearly all functions fit words of 32 bits, of which the processor computes several at once.

use ptxopt_grammar::meaning::concrete::{Program, Word};
use ptxopt_grammar::meaning::term::{Term, Terms};

/// How many pairs are computed at once.
const AT_ONCE: usize = 64;

/// A function of one or two lanes.
pub(super) enum Evaluated {
    Narrow(Program<u32>),
    Wide(Program<u64>),
}

impl Evaluated {
    /// That of a term over one or two inputs; `None` if something in it has more than 64 bits.
    pub(super) fn of(terms: &Terms, function: Term) -> Option<Self> {
        let narrow = Program::<u32>::compile(terms, &[function]).map(Self::Narrow);
        narrow.or_else(|| Program::<u64>::compile(terms, &[function]).map(Self::Wide))
    }

    /// What it gives for each pair of lanes; `None` if that is more than a word for one.
    pub(super) fn results(&self, pairs: &[[u32; 2]]) -> Option<Vec<u32>> {
        match self {
            Self::Narrow(program) => results(program, pairs, |lane| lane, Some),
            Self::Wide(program) => results(program, pairs, u64::from, |result| u32::try_from(result).ok()),
        }
    }
}

/// The results of a program, whose words are made of lanes by `of`; `word` makes words of 32 bits of its results.
fn results<W: Word>(
    program: &Program<W>,
    pairs: &[[u32; 2]],
    of: impl Fn(u32) -> W,
    word: impl Fn(W) -> Option<u32>,
) -> Option<Vec<u32>> {
    let mut all = Vec::with_capacity(pairs.len());
    let mut slots = Vec::new();
    for pairs in pairs.chunks(AT_ONCE) {
        let lanes = |input: u32| {
            let mut lanes = [W::default(); AT_ONCE];
            lanes.iter_mut().zip(pairs).for_each(|(lane, pair)| *lane = of(pair[input as usize]));
            lanes
        };
        program.run_lanes(&mut slots, lanes);
        for &result in &program.lanes(&slots, 0)[..pairs.len()] {
            all.push(word(result)?);
        }
    }
    Some(all)
}
