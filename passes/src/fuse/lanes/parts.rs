//! Parts of terms: some bits of one, as a term of its own that is made of no more than these bits depend on.

use super::pieces::Pieces;
use crate::facts::Fact;
use ptxopt_grammar::meaning::term::{Op, Term, Terms, ones, signed};
use ptxopt_grammar::video::Lanes;

/// How many parts are made of each other, one below the other: parts that nobody has asked for yet, since words are taken
/// apart from below.
const DEEPEST: u32 = 200;

impl Pieces {
    pub(super) fn lanes_of(&mut self, word: Term) -> Vec<Term> {
        (0..32 / self.bits).map(|lane| self.part(word, lane * self.bits, self.bits)).collect()
    }

    /// Some bits of a term, without what they do not depend on: bits of logic are logic of bits, low bits of a sum are
    /// sums of low bits, and bits that are known are numbers.
    pub(super) fn part(&mut self, term: Term, low: u32, width: u32) -> Term {
        let cut = self.terms.extract(term, low, width);
        let op = self.terms.op(cut);
        // What is put together is made of simpler parts, if these are.
        if let Op::ZeroExtend(inner) = op {
            let inner = self.part(inner, 0, self.terms.width(inner));
            return self.terms.zero_extend(inner, width);
        }
        if let Op::Concat(high, low) = op {
            let [high, low] = [high, low].map(|of| self.part(of, 0, self.terms.width(of)));
            return self.terms.concat(high, low);
        }
        let Op::Extract(inner, low) = op else { return cut };
        if let Some(&known) = self.parts.get(&(inner, low, width)) {
            return known;
        }
        if self.depth == DEEPEST {
            return cut;
        }
        self.depth += 1;
        let part = self.part_of(inner, low, width).unwrap_or(cut);
        self.depth -= 1;
        self.parts.insert((inner, low, width), part);
        part
    }

    /// Some bits of a term that is no extract, if they are simpler than that.
    fn part_of(&mut self, term: Term, low: u32, width: u32) -> Option<Term> {
        let (known, value) = self.fact(term).known();
        let wanted = ones(width);
        if known >> low & wanted == wanted {
            return Some(self.terms.constant(value >> low & wanted, width));
        }
        Some(match self.terms.op(term) {
            Op::Not(a) => {
                let a = self.part(a, low, width);
                self.terms.not(a)
            }
            Op::And(a, b) => match self.under_mask([a, b], low, width) {
                Some(kept) => kept,
                None => self.both(a, b, low, width, Terms::and),
            },
            Op::Or(a, b) => self.both(a, b, low, width, Terms::or),
            Op::Xor(a, b) => {
                let bits = self.both(a, b, low, width, Terms::xor);
                self.bits_of_lane(term, low, bits)
            }
            Op::Add(a, b) if self.never_carries(a, b, low + width) => self.both(a, b, low, width, Terms::or),
            // Above what is left of the lane are zeros.
            Op::Add(..) if self.ends_within_lane(term, low, width) => {
                let inside = self.part(term, low, self.bits - low);
                self.terms.zero_extend(inside, width)
            }
            // Or copies of the lane's sign.
            Op::Add(..) if self.has_sign_of_lane(term, low, width) => {
                let inside = self.part(term, low, self.bits - low);
                self.terms.sign_extend(inside, width)
            }
            // What is done to bits of a sum that carries is done to the lane that it is.
            Op::Add(..) if width < self.bits && low + width <= self.bits => {
                self.cut_from_lane(term, low, width)
            }
            Op::Add(a, b) => match self.carry(a, b, low) {
                Some(carry) => {
                    let sum = self.both(a, b, low, width, Terms::add);
                    let carry = self.terms.constant(carry.into(), width);
                    self.terms.add(sum, carry)
                }
                None => self.of_moved(a, b, low, width)?,
            },
            Op::Mul(a, b) if low == 0 => self.both(a, b, low, width, Terms::mul),
            Op::Choose(condition, then, otherwise) => {
                let [then, otherwise] = [then, otherwise].map(|of| self.part(of, low, width));
                self.terms.choose(condition, then, otherwise)
            }
            Op::Input(_)
            | Op::Constant(_)
            | Op::Mul(..)
            | Op::UnsignedDivide(..)
            | Op::UnsignedRemainder(..)
            | Op::Shl(..)
            | Op::Lshr(..)
            | Op::Ashr(..)
            | Op::Extract(..)
            | Op::Concat(..)
            | Op::ZeroExtend(_)
            | Op::SignExtend(_)
            | Op::Equal(..)
            | Op::UnsignedLess(..)
            | Op::SignedLess(..) => return None,
        })
    }

    /// Bits of an exclusive or, as bits of the whole lane in which they lie, unless either operand is simpler in these
    /// bits: so what is done to the lane is seen, however few of its bits are read.
    fn bits_of_lane(&mut self, term: Term, low: u32, bits: Term) -> Term {
        let (width, place) = (self.terms.width(bits), low % self.bits);
        let Op::Xor(a, b) = self.terms.op(bits) else { return bits };
        let is_cut = |of| matches!(self.terms.op(of), Op::Extract(..));
        let is_part = width > 1 && width < self.bits && self.is_in_lane(low, width);
        if !is_part || !is_cut(a) || !is_cut(b) || low - place + self.bits > self.terms.width(term) {
            return bits;
        }
        self.cut_from_lane(term, low, width)
    }

    /// Bits of a term, cut out of the lane in which they lie, or out of all of it.
    fn cut_from_lane(&mut self, term: Term, low: u32, width: u32) -> Term {
        let place = low % self.bits;
        let lane = self.part(term, low - place, self.bits.min(self.terms.width(term)));
        self.terms.extract(lane, place, width)
    }

    /// Whether bits lie in one lane.
    fn is_in_lane(&self, low: u32, width: u32) -> bool {
        low % self.bits + width <= self.bits
    }

    /// Whether bits that begin in the lowest lane go on above it, where there are only zeros.
    fn ends_within_lane(&mut self, term: Term, low: u32, width: u32) -> bool {
        let end = low + width;
        let above = ones(end) & !ones(self.bits.min(end));
        low < self.bits && above != 0 && self.fact(term).zeros() & above == above
    }

    /// Whether bits that begin in the lowest byte go on above it, where there is only its sign. Sums of halves are left as
    /// they are: a mean of two may be computed by a difference.
    fn has_sign_of_lane(&mut self, term: Term, low: u32, width: u32) -> bool {
        let least = -1 << (self.bits - 1);
        let (lowest, highest) = self.fact(term).signed();
        let leaves = low < self.bits && low + width > self.bits;
        leaves && self.bits == Lanes::Four.bits() && lowest < 0 && lowest >= least && highest <= !least
    }

    /// Some bits of a term and a mask that is a number.
    fn under_mask(&mut self, [a, b]: [Term; 2], low: u32, width: u32) -> Option<Term> {
        let (mask, of) =
            [(a, b), (b, a)].into_iter().find_map(|(mask, of)| Some((self.terms.value(mask)?, of)))?;
        Some(self.kept(of, mask >> low & ones(width), low, width))
    }

    /// Some bits of a term of which a mask keeps some: where it keeps the lowest ones, or those that it does not keep are
    /// made of other lanes, made of what it keeps alone.
    pub(super) fn kept(&mut self, of: Term, mask: u128, low: u32, width: u32) -> Term {
        let (first, end) = (mask.trailing_zeros(), u128::BITS - mask.leading_zeros());
        if mask == 0 || end - first == width {
            return self.masked(of, mask, low, width);
        }
        let field = self.masked(of, mask >> first, low + first, end - first);
        let leaves_lane = !self.is_in_lane(low, width) && self.is_in_lane(low + first, end - first);
        if mask != ones(end) && !leaves_lane {
            let whole = self.masked(of, mask, low, width);
            if self.inputs_of(whole).len() <= self.inputs_of(field).len() {
                return whole;
            }
        }
        let field = match first {
            0 => field,
            _ => {
                let zeros = self.terms.constant(0, first);
                self.terms.concat(field, zeros)
            }
        };
        self.terms.zero_extend(field, width)
    }

    /// Some bits of a term under a mask.
    fn masked(&mut self, of: Term, mask: u128, low: u32, width: u32) -> Term {
        let part = self.part(of, low, width);
        let mask = self.terms.constant(mask, width);
        self.terms.and(part, mask)
    }

    /// What the lower bits of two terms carry over when they are added, if that is known.
    fn carry(&mut self, a: Term, b: Term, low: u32) -> Option<bool> {
        let [a, b] = [a, b].map(|of| self.fact(of));
        let range = |of: Fact| (of.ones() & ones(low), !of.zeros() & ones(low));
        let ((least, most), (other_least, other_most)) = (range(a), range(b));
        if most + other_most <= ones(low) {
            Some(false)
        } else {
            (least + other_least > ones(low)).then_some(true)
        }
    }

    /// Some bits of the sum of two terms that were both moved up, as bits of the sum of what was moved: compilers move a sum
    /// to its lane before they round it.
    fn of_moved(&mut self, a: Term, b: Term, low: u32, width: u32) -> Option<Term> {
        let zeros = [a, b].map(|of| self.fact(of).zeros().trailing_ones());
        let by = zeros[0].min(zeros[1]).min(low);
        if by == 0 {
            return None;
        }
        let (a, b) = (self.moved_down(a, by)?, self.moved_down(b, by)?);
        let sum = self.terms.add(a, b);
        Some(self.part(sum, low - by, width))
    }

    /// A term moved down by so many bits, which are zero, with anything in as many bits above. What was not moved up, as
    /// a multiple of a power of two, is no simpler then.
    fn moved_down(&mut self, term: Term, by: u32) -> Option<Term> {
        let width = self.terms.width(term);
        if let Some(value) = self.terms.value(term) {
            return Some(self.terms.constant((signed(value, width) >> by).cast_unsigned(), width));
        }
        let moved = self.terms.extract(term, by, width - by);
        if let Op::Extract(whole, from) = self.terms.op(moved) {
            if from == 0 && self.terms.width(whole) == width {
                return Some(whole);
            }
            if matches!(self.terms.op(whole), Op::Add(..) | Op::Mul(..)) {
                return None;
            }
        }
        Some(self.terms.zero_extend(moved, width))
    }

    /// Whether two terms have no low bit in common, so that their sum has the bits of both there.
    pub(super) fn never_carries(&mut self, a: Term, b: Term, bits: u32) -> bool {
        let [a, b] = [a, b].map(|of| self.fact(of).zeros());
        (a | b) & ones(bits) == ones(bits)
    }

    fn both(
        &mut self,
        a: Term,
        b: Term,
        low: u32,
        width: u32,
        combine: fn(&mut Terms, Term, Term) -> Term,
    ) -> Term {
        let [a, b] = [a, b].map(|of| self.part(of, low, width));
        combine(&mut self.terms, a, b)
    }
}
