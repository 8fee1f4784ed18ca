//! Evaluates terms on all lanes of a warp at once: the steps of [`super::concrete`], each over an array of numbers.
//!
//! Each step is matched once and then runs as a plain loop over an array of a fixed size, which the compiler turns into
//! vector instructions; the narrower the word, the more lanes fit in one. The slots belong to the caller and can be
//! used for several programs in turn.

use super::concrete::{Program, Slot, Step, Word, least, most};

impl<W: Word> Program<W> {
    /// Computes the outputs of `L` lanes; `input` gives the lanes of an input. They are then in `slots`, where
    /// [`Self::lanes`] finds them.
    pub fn run_lanes<const L: usize>(&self, slots: &mut Vec<[W; L]>, input: impl Fn(u32) -> [W; L]) {
        if slots.len() < self.slots().len() {
            slots.resize(self.slots().len(), [W::default(); L]);
        }
        for &(slot, value) in self.constants() {
            slots[slot as usize] = [value; L];
        }
        for &(slot, step) in self.steps() {
            // A step reads only slots before the one that it writes.
            let (earlier, rest) = slots.split_at_mut(slot as usize);
            step.run_lanes(earlier, &mut rest[0], &input);
        }
    }

    /// The lanes of an output after a run.
    #[must_use]
    pub fn lanes<'s, const L: usize>(&self, slots: &'s [[W; L]], output: usize) -> &'s [W; L] {
        &slots[self.outputs()[output] as usize]
    }
}

impl<W: Word> Step<W> {
    #[inline]
    pub(super) fn run_lanes<const L: usize>(
        self,
        slots: &[[W; L]],
        result: &mut [W; L],
        input: impl Fn(u32) -> [W; L],
    ) {
        match self {
            Self::Input { number, mask } => unary(result, &input(number), |a| a & mask),
            Self::Not(a, mask) => unary(result, at(slots, a), |a| !a & mask),
            Self::And(a, b) => binary(result, at(slots, a), at(slots, b), |a, b| a & b),
            Self::Or(a, b) => binary(result, at(slots, a), at(slots, b), |a, b| a | b),
            Self::Xor(a, b) => binary(result, at(slots, a), at(slots, b), |a, b| a ^ b),
            Self::Add(a, b, mask) => binary(result, at(slots, a), at(slots, b), |a, b| a.plus(b) & mask),
            Self::AddConstant(a, value, mask) => unary(result, at(slots, a), |a| a.plus(value) & mask),
            Self::Sub(a, b, mask) => binary(result, at(slots, a), at(slots, b), |a, b| a.minus(b) & mask),
            Self::Neg(a, mask) => unary(result, at(slots, a), |a| W::default().minus(a) & mask),
            Self::Mul(a, b, mask) => binary(result, at(slots, a), at(slots, b), |a, b| a.times(b) & mask),
            Self::Extract(a, low, mask) => unary(result, at(slots, a), |a| a >> low & mask),
            Self::Signed { value, up, down, mask } => {
                unary(result, at(slots, value), |a| a.signed_shifts(up, down) & mask);
            }
            Self::Concat { high, low, shift } => {
                binary(result, at(slots, high), at(slots, low), |high, low| high << shift | low);
            }
            Self::Equal(a, b) => binary(result, at(slots, a), at(slots, b), |a, b| truth(a == b)),
            Self::UnsignedLess(a, b) => binary(result, at(slots, a), at(slots, b), |a, b| truth(a < b)),
            Self::SignedLess { a, b, unused } => {
                binary(result, at(slots, a), at(slots, b), |a, b| {
                    truth((a << unused).signed_less(b << unused))
                });
            }
            Self::SignedLeast { a, b, unused } => {
                binary(result, at(slots, a), at(slots, b), |a, b| least(a, b, unused));
            }
            Self::SignedMost { a, b, unused } => {
                binary(result, at(slots, a), at(slots, b), |a, b| most(a, b, unused));
            }
            Self::Choose(condition, then, otherwise) => {
                let (condition, then, otherwise) =
                    (at(slots, condition), at(slots, then), at(slots, otherwise));
                for lane in 0..L {
                    // A condition is one bit: all ones or none without a branch.
                    let take = W::default().minus(condition[lane]);
                    result[lane] = (then[lane] ^ otherwise[lane]) & take ^ otherwise[lane];
                }
            }
            Self::Divide(..) | Self::Remainder(..) | Self::Shl(..) | Self::Lshr(..) | Self::Ashr { .. } => {
                self.run_pairs(slots, result);
            }
        }
    }

    /// Evaluates the remaining steps, divisions and shifts by variable amounts, lane by lane.
    fn run_pairs<const L: usize>(self, slots: &[[W; L]], result: &mut [W; L]) {
        for lane in 0..L {
            result[lane] = self.run(|slot| slots[slot as usize][lane], &[]);
        }
    }
}

fn at<W, const L: usize>(slots: &[[W; L]], slot: Slot) -> &[W; L] {
    &slots[slot as usize]
}

fn truth<W: Word>(holds: bool) -> W {
    if holds { W::ONE } else { W::default() }
}

#[inline(always)]
fn unary<W: Word, const L: usize>(result: &mut [W; L], a: &[W; L], op: impl Fn(W) -> W) {
    for lane in 0..L {
        result[lane] = op(a[lane]);
    }
}

#[inline(always)]
fn binary<W: Word, const L: usize>(result: &mut [W; L], a: &[W; L], b: &[W; L], op: impl Fn(W, W) -> W) {
    for lane in 0..L {
        result[lane] = op(a[lane], b[lane]);
    }
}
