//! Words whose lanes are numbers that are clamped to what a lane can be, as `cvt.pack` puts them side by side.
//!
//! The numbers are whole registers, which may be computed of anything, so they are no lanes of other words. Which number
//! a lane is made of is found by how both behave: of those below the lane, one that gives the lane, clamped, on all
//! samples. The proof tells what only the samples do not.

use super::words::Words;
use crate::recipe::{Source, Step};
use ptxopt_grammar::meaning::concrete::Program;
use ptxopt_grammar::meaning::term::{Op, Term};
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::video::{Lanes, Sign};

/// How many samples there are.
const SAMPLES: u32 = 192;

impl Words {
    /// A word of clamped numbers.
    pub(super) fn clamped(&mut self, lanes: &[Option<Term>]) -> Option<Source> {
        let lanes: Vec<Term> = lanes.iter().copied().collect::<Option<_>>()?;
        let chooses = |lane: &Term| matches!(self.pieces.terms.op(*lane), Op::Choose(..));
        if !lanes.iter().all(chooses) {
            return None;
        }
        Sign::ALL.into_iter().find_map(|sign| {
            let numbers = self.numbers_of(&lanes, sign)?;
            Some(self.packed(sign, &numbers))
        })
    }

    /// The numbers of 32 bits that lanes are, clamped to lanes of this sign.
    fn numbers_of(&self, lanes: &[Term], sign: Sign) -> Option<Vec<Source>> {
        let terms = &self.pieces.terms;
        let words = self.pieces.all_words();
        let all: Vec<Term> = words.iter().chain(lanes).copied().collect();
        let mut program = Program::<u64>::compile(terms, &all)?;
        let mut inputs = vec![0; program.inputs()];
        let mut results = vec![0; all.len()];
        // Those that each lane may still be.
        let mut left: Vec<Vec<usize>> = vec![(0..words.len()).collect(); lanes.len()];
        let mut draw = 0x9e37_79b9_7f4a_7c15_u64;
        for sample in 0..SAMPLES {
            for input in &mut inputs {
                draw = draw.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                // Numbers of few bits and of all, of either sign, also where a number is made of bytes that are inputs.
                let few = (draw >> 8).cast_signed() << 24 >> (24 + sample % 33);
                *input = match sample % 3 {
                    1 if draw >> 62 != 0 => 0,
                    2 if draw >> 62 != 0 => u64::MAX,
                    _ => few.cast_unsigned(),
                };
            }
            program.run(&inputs, &mut results);
            let (values, results) = results.split_at(words.len());
            for (left, &result) in left.iter_mut().zip(results) {
                left.retain(|&word| self.clamp(values[word], sign) == result);
            }
            if left.iter().any(Vec::is_empty) {
                return None;
            }
        }
        left.iter().map(|left| self.pieces.word(words[*left.first()?]).map(Source::Value)).collect()
    }

    /// The lane that is nearest to a number.
    fn clamp(&self, number: u64, sign: Sign) -> u64 {
        let bits = self.lanes.bits();
        let number = u32::try_from(number & u64::from(u32::MAX)).expect("it was cut to a word").cast_signed();
        let (least, most) = match sign {
            Sign::Unsigned => (0, (1 << bits) - 1),
            Sign::Signed => (-1 << (bits - 1), (1 << (bits - 1)) - 1),
        };
        let ones = u32::MAX >> (32 - bits);
        u64::from(number.clamp(least, most).cast_unsigned() & ones)
    }

    /// Numbers that are clamped side by side, two with each instruction.
    pub(super) fn packed(&mut self, sign: Sign, numbers: &[Source]) -> Source {
        let to = |unsigned, signed| if sign == Sign::Signed { signed } else { unsigned };
        let halves = op::CVT_PACK.with(&[op::PACK, op::SAT, to(op::U16, op::S16), op::S32]);
        let bytes = op::CVT_PACK.with(&[op::PACK, op::SAT, to(op::U8, op::S8), op::S32, op::B32]);
        let mut word = Source::Constant(0);
        for pair in numbers.rchunks(2) {
            let [low, high] = [pair[0], pair[pair.len() - 1]];
            word = self.push(match self.lanes {
                Lanes::Two => Step::plain(halves, &[high, low]),
                Lanes::Four => Step::plain(bytes, &[high, low, word]),
            });
        }
        word
    }
}
