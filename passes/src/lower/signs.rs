//! Masks of signs: what is computed of them bit by bit is computed of the words whose signs they are.
//!
//! A byte move that copies signs makes each bit of a lane its highest one, so a function of such masks, bit by bit, is the
//! mask of the function of the words: that is one byte move instead of several.

use super::build::Build;
use super::logic::depends;
use crate::recipe::Source;
use ptxopt_grammar::table::instruction::op;

/// What says of each byte that a selector picks whether it is a copy of a sign, and of which word; and signs of the first.
const SIGNS: u64 = 0xcccc;
const SIGNS_OF_FIRST: u64 = 0x8888;

impl Build<'_> {
    /// A function of words that are made of signs alone as the signs of the function of these.
    pub(super) fn function_of_signs(&mut self, words: [Source; 3], table: u8) -> Option<Source> {
        let (words, selector) = self.of_signs(words, table)?;
        let word = self.by_table(words, table);
        Some(self.prmt(word, Source::Constant(0), selector))
    }

    /// The words of whose signs alone the operands of a function are made, at least two and all with one selector: then the
    /// function of the words has the signs of which it is made.
    fn of_signs(&self, words: [Source; 3], table: u8) -> Option<([Source; 3], u64)> {
        let mut used = (0..3).filter(|&at| depends(table, at));
        let (first, second) = (used.next()?, used.next()?);
        let (_, selector) = self.signs(words[first])?;
        let all = [first, second].into_iter().chain(used);
        let mut inner = [Source::Constant(0); 3];
        for at in all {
            let (word, _) = self.signs(words[at]).filter(|&(_, own)| own == selector)?;
            inner[at] = word;
        }
        (words[first] != words[second]).then_some((inner, selector))
    }

    /// The word of which each byte of another one is a sign, copied, and the selector.
    pub(super) fn signs(&self, word: Source) -> Option<(Source, u64)> {
        let Source::Step(step) = word else { return None };
        let step = &self.steps[step];
        match step.sources[..] {
            [x, _, Source::Constant(selector)] if step.is(op::PRMT_B32) => {
                (selector & SIGNS == SIGNS_OF_FIRST).then_some((x, selector))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::choice::Choices;
    use super::super::{Available, halves};
    use super::*;
    use crate::graph::ValueId;
    use ptxopt_grammar::table::instruction::Instruction;

    /// The signs of all four bytes, and those of the first two halves.
    const OF_BYTES: u64 = 0xba98;
    const OF_HALVES: u64 = 0xbb99;

    /// The instructions of what is made of three words.
    fn made(make: fn(&mut Build<'_>, [Source; 3]) -> Source) -> Vec<Instruction> {
        let mut choices = Choices::default();
        let mut build = Build::after(&[], Available { lop3: true }, &|_| halves::ANY, &mut choices);
        let words = [0, 1, 2].map(|number| Source::Value(ValueId::of_input(number)));
        let result = make(&mut build, words);
        build.finish(result).steps.iter().filter_map(crate::recipe::Step::instruction).collect()
    }

    fn mask(build: &mut Build<'_>, word: Source, selector: u64) -> Source {
        build.prmt(word, Source::Constant(0), selector)
    }

    #[test]
    fn a_function_of_masks_is_one_mask() {
        let all = made(|build, words| {
            let masks = words.map(|word| mask(build, word, OF_BYTES));
            build.logic(masks, |x, y, z| x & y | z)
        });
        assert_eq!(all, [op::LOP3_B32, op::PRMT_B32]);
    }

    #[test]
    fn a_complement_of_a_mask_goes_into_the_table() {
        let all = made(|build, [x, y, z]| {
            let inverted = build.not(x);
            let mask = mask(build, inverted, OF_BYTES);
            build.select(mask, y, z)
        });
        assert_eq!(all, [op::PRMT_B32, op::LOP3_B32]);
    }

    #[test]
    fn masks_of_bytes_and_of_halves_stay_apart() {
        let all = made(|build, [x, y, _]| {
            let (x, y) = (mask(build, x, OF_BYTES), mask(build, y, OF_HALVES));
            build.and(x, y)
        });
        assert_eq!(all, [op::PRMT_B32, op::PRMT_B32, op::AND_B32]);
    }

    #[test]
    fn a_mask_and_a_word_stay_apart() {
        let all = made(|build, [x, y, _]| {
            let x = mask(build, x, OF_BYTES);
            build.and(x, y)
        });
        assert_eq!(all, [op::PRMT_B32, op::AND_B32]);
    }
}
