//! The instructions that compute a word of others by a function of lanes, all lanes at once.

use super::function::{Key, Shift};
use super::operation::{Operation, Table};
use super::words::Words;
use crate::recipe::{Source, Step};
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::video::{Form, Lanes, Routing, Sign, Simd, SimdArithmetic};

impl Words {
    /// The instruction that makes the lanes of a mask of those of other words, and takes the rest from another word.
    pub(super) fn make(
        &mut self,
        function: Key,
        mask: u8,
        words: &[Source],
        rest: Option<Source>,
    ) -> Option<Source> {
        if let (Key::Simd(Operation { op, atype, btype }), &[a, b]) = (function, words) {
            let routing = Routing::plain(self.lanes).masked(if rest.is_some() {
                mask
            } else {
                self.lanes.full_mask()
            })?;
            let form = Form::Simd(Simd { op, atype, btype, routing });
            let sources: Vec<Source> =
                [a, b].into_iter().chain(rest).map(|source| self.register(source)).collect();
            return Some(self.push(Step::video(form, &sources)));
        }
        if rest.is_some() {
            return None;
        }
        Some(match (function, words) {
            (Key::Same, &[word]) => word,
            (Key::Mask(operation), _) => {
                let bits = self.make(Key::Simd(operation), mask, words, None)?;
                let ones = Source::Constant((1 << self.lanes.bits()) - 1);
                self.push(Step::plain(op::MUL_LO_U32, &[bits, ones]))
            }
            (Key::Highest(operation), _) => {
                let bits = self.make(Key::Simd(operation), mask, words, None)?;
                let up = Source::Constant((self.lanes.bits() - 1).into());
                self.push(Step::plain(op::SHL_B32, &[bits, up]))
            }
            (Key::Floor(Sign::Unsigned), &[x, y]) => self.floor(x, y),
            (Key::Floor(Sign::Signed), &[x, y]) => {
                let [x, y] = [x, y].map(|word| self.biased(word));
                let floor = self.floor(x, y);
                self.biased(floor)
            }
            (Key::Clamp(sign), &[x, least, most]) => {
                let table = Table::of(self.lanes);
                let bounds = [(SimdArithmetic::Max, least), (SimdArithmetic::Min, most)];
                bounds.into_iter().try_fold(x, |word, (bound, number)| {
                    self.make(Key::Simd(table.extremum(bound, sign)?), mask, &[word, number], None)
                })?
            }
            (Key::Biased(operation), &[x, y]) => {
                let words = [x, y].map(|word| self.biased(word));
                let word = self.make(Key::Simd(operation), mask, &words, None)?;
                self.biased(word)
            }
            (Key::Choice, &[mask, then, Source::Constant(0)]) => {
                self.push(Step::plain(op::AND_B32, &[mask, then]))
            }
            (Key::Choice, &[mask, Source::Constant(0xffff_ffff), otherwise]) => {
                self.push(Step::plain(op::OR_B32, &[mask, otherwise]))
            }
            (Key::Choice, &[mask, then, otherwise]) => {
                let sources = [mask, then, otherwise, Source::Constant(0xca)];
                self.push(Step::plain(op::LOP3_B32, &sources))
            }
            (Key::Masked, &[word, Source::Constant(kept), Source::Constant(inverted)]) => {
                // Lanes that may be anything are kept as well.
                let ones = u64::MAX >> (u64::BITS - self.lanes.bits());
                let mut computed = (0..self.lanes.count().into()).filter(|at| mask >> at & 1 == 1);
                let word = match computed.all(|at| kept >> (at * self.lanes.bits()) & ones == ones) {
                    true => word,
                    false => self.push(Step::plain(op::AND_B32, &[word, Source::Constant(kept)])),
                };
                match inverted {
                    0 => word,
                    _ => self.push(Step::plain(op::XOR_B32, &[word, Source::Constant(inverted)])),
                }
            }
            (Key::Shifted(shift), &[word]) => self.shifted(shift, word),
            (Key::Field(field), &[word]) => self.field(field, word),
            (Key::Linear(function), &[word]) => self.linear(function, word),
            (Key::Quotient(quotient), &[word]) => self.quotient_of(quotient, word),
            (Key::Between(between), &[word, Source::Constant(first), Source::Constant(end)]) => {
                self.between(between, word, [first, end])
            }
            (Key::Logic(table), &[x, y]) => self.logic(table, [x, y]),
            _ => return None,
        })
    }

    /// Logic of two words, bit by bit. Of two masks of signs it is the mask of the signs of the logic of these words.
    fn logic(&mut self, table: u8, [x, y]: [Source; 2]) -> Source {
        if let (Some(x), Some(y)) = (self.of_signs(x), self.of_signs(y)) {
            let word = self.logic(table, [x, y]);
            return self.signs(word);
        }
        // The table of three inputs that does not depend on the third.
        let wide = (0..8).fold(0_u64, |wide, at| wide | u64::from(table >> (at >> 1) & 1) << at);
        let sources = [x, y, Source::Constant(0), Source::Constant(wide)];
        let step = match table {
            0b1000 => Step::plain(op::AND_B32, &[x, y]),
            0b1110 => Step::plain(op::OR_B32, &[x, y]),
            0b0110 => Step::plain(op::XOR_B32, &[x, y]),
            _ => Step::plain(op::LOP3_B32, &sources),
        };
        self.push(step)
    }

    /// The word whose signs the lanes of another one are.
    fn of_signs(&self, word: Source) -> Option<Source> {
        let Source::Step(step) = word else { return None };
        let &of = self.steps[step].sources.first()?;
        (self.steps[step] == self.sign_of(of)).then_some(of)
    }

    /// All lanes shifted: the word is, without the bits that come from another lane.
    fn shifted(&mut self, shift: Shift, word: Source) -> Source {
        let (bits, word) = (self.lanes.bits(), self.register(word));
        let ones = u32::MAX >> (32 - bits);
        let every = |lane: u32| Source::Constant(self.lanes.every(lane & ones).into());
        let (left, right) = (|by: u32| (by, every(ones << by)), |by: u32| (by, every(ones >> by)));
        let (instruction, (by, kept)) = match shift {
            Shift::Left(by) => (op::SHL_B32, left(by)),
            Shift::Right(by) => (op::SHR_U32, right(by)),
            // Nothing is left but the sign.
            Shift::Signed(by) if by + 1 == bits => return self.signs(word),
            Shift::Signed(by) => {
                let (by, kept) = right(by);
                let signs = self.signs(word);
                let moved = self.push(Step::plain(op::SHR_U32, &[word, Source::Constant(by.into())]));
                return self.push(Step::plain(op::LOP3_B32, &[kept, moved, signs, Source::Constant(0xca)]));
            }
            Shift::Around(by) => {
                let ((by, kept), (back, _)) = (left(by), right(bits - by));
                let one = self.push(Step::plain(op::SHL_B32, &[word, Source::Constant(by.into())]));
                let other = self.push(Step::plain(op::SHR_U32, &[word, Source::Constant(back.into())]));
                return self.push(Step::plain(op::LOP3_B32, &[kept, one, other, Source::Constant(0xca)]));
            }
        };
        let moved = self.push(Step::plain(instruction, &[word, Source::Constant(by.into())]));
        self.push(Step::plain(op::AND_B32, &[moved, kept]))
    }

    /// The highest bit of every lane in all of its bits.
    pub(super) fn signs(&mut self, word: Source) -> Source {
        self.push(self.sign_of(word))
    }

    fn sign_of(&self, word: Source) -> Step {
        let selector = if self.lanes == Lanes::Four { 0xba98 } else { 0xbb99 };
        Step::plain(op::PRMT_B32, &[word, Source::Constant(0), Source::Constant(selector)])
    }

    /// Half the sum of unsigned lanes, rounded down: what both have, and half of what one of them has.
    fn floor(&mut self, x: Source, y: Source) -> Source {
        let but_lowest = Source::Constant((!self.lanes.every(1)).into());
        let both = self.push(Step::plain(op::AND_B32, &[x, y]));
        let one = self.push(Step::plain(op::XOR_B32, &[x, y]));
        let one = self.push(Step::plain(op::AND_B32, &[one, but_lowest]));
        let half = self.push(Step::plain(op::SHR_U32, &[one, Source::Constant(1)]));
        self.push(Step::plain(op::ADD_U32, &[both, half]))
    }

    /// A word with the highest bits of its lanes inverted.
    fn biased(&mut self, word: Source) -> Source {
        let high = u64::from(self.lanes.every(1 << (self.lanes.bits() - 1)));
        match word {
            Source::Constant(number) => Source::Constant(number ^ high),
            Source::Value(_) | Source::Step(_) => {
                self.push(Step::plain(op::XOR_B32, &[word, Source::Constant(high)]))
            }
        }
    }
}
