//! The SIMD video instructions, lanes of a word in loops over the lanes of a warp.
//!
//! Selectors are byte permutations before, masks are a choice after. In between every lane is a signed number, wide
//! enough for all results, so there is one loop per operation and the signs, the clamp and the mask are constants
//! of it. That this is what the instructions mean, the tests show over all forms.

use super::code::Inst;
use super::controlled::permute;
use super::warp::{Warp, each};
use ptxopt_grammar::video::{Compare, Lanes, Selector, Sign, Simd, SimdArithmetic, SimdOp, SimdThen};

/// A form, ready to run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Video {
    how: Operation,
    lanes: Lanes,
    /// The byte permutations that select `a` and `b`, where they are not the words themselves.
    selectors: [Option<u32>; 2],
    /// The sign bits of the lanes of `a` and `b`, zero if unsigned.
    signs: [i32; 2],
    /// What results are clamped to.
    range: (i32, i32),
    /// Which lanes count.
    mask: u8,
    accumulate: bool,
}

/// What is computed of two lanes.
#[derive(Clone, Copy, Debug)]
enum Operation {
    Arithmetic(SimdArithmetic),
    Compare(Compare),
}

impl Video {
    pub(super) fn new(form: Simd) -> Self {
        let Simd { op, atype, btype, routing } = form;
        let lanes = routing.lanes();
        let sign_bit = |sign| match sign {
            Sign::Unsigned => 0,
            Sign::Signed => 1 << (lanes.bits() - 1),
        };
        let all = (i32::MIN, i32::MAX);
        let (how, range, accumulate) = match op {
            SimdOp::Arithmetic { op, dtype, then } => {
                let range = match (then, dtype) {
                    (SimdThen::Saturate, Sign::Unsigned) => (0, (1 << lanes.bits()) - 1),
                    (SimdThen::Saturate, Sign::Signed) => {
                        (-(1 << (lanes.bits() - 1)), (1 << (lanes.bits() - 1)) - 1)
                    }
                    (SimdThen::Store | SimdThen::Add, _) => all,
                };
                (Operation::Arithmetic(op), range, then == SimdThen::Add)
            }
            SimdOp::Set { compare, accumulate } => (Operation::Compare(compare), all, accumulate),
        };
        let plain = [Selector::whole_a(lanes), Selector::whole_b(lanes)];
        let picked = [routing.a(), routing.b()];
        let selectors =
            [0, 1].map(|source| (picked[source] != plain[source]).then(|| bytes(picked[source], lanes)));
        let signs = [sign_bit(atype), sign_bit(btype)];
        Self { how, lanes, selectors, signs, range, mask: routing.mask(), accumulate }
    }

    /// Computes `d` of `a`, `b` and `c`.
    fn compute<const W: usize>(&self, a: &[u32; W], b: &[u32; W], c: &[u32; W]) -> [u32; W] {
        match self.how {
            Operation::Arithmetic(SimdArithmetic::Add) => self.over(a, b, c, |x, y| x + y),
            Operation::Arithmetic(SimdArithmetic::Sub) => self.over(a, b, c, |x, y| x - y),
            // A half is rounded away from zero.
            Operation::Arithmetic(SimdArithmetic::Average) => {
                self.over(a, b, c, |x, y| (x + y + i32::from(x + y >= 0)) >> 1)
            }
            Operation::Arithmetic(SimdArithmetic::AbsDiff) => self.over(a, b, c, |x, y| x.max(y) - x.min(y)),
            Operation::Arithmetic(SimdArithmetic::Min) => self.over(a, b, c, i32::min),
            Operation::Arithmetic(SimdArithmetic::Max) => self.over(a, b, c, i32::max),
            Operation::Compare(Compare::Eq) => self.over(a, b, c, |x, y| i32::from(x == y)),
            Operation::Compare(Compare::Ne) => self.over(a, b, c, |x, y| i32::from(x != y)),
            Operation::Compare(Compare::Lt) => self.over(a, b, c, |x, y| i32::from(x < y)),
            Operation::Compare(Compare::Le) => self.over(a, b, c, |x, y| i32::from(x <= y)),
            Operation::Compare(Compare::Gt) => self.over(a, b, c, |x, y| i32::from(x > y)),
            Operation::Compare(Compare::Ge) => self.over(a, b, c, |x, y| i32::from(x >= y)),
        }
    }

    #[inline(always)]
    fn over<const W: usize>(
        &self,
        a: &[u32; W],
        b: &[u32; W],
        c: &[u32; W],
        f: impl Fn(i32, i32) -> i32,
    ) -> [u32; W] {
        match self.lanes {
            Lanes::Four => self.each::<W, 4, 8>(a, b, c, f),
            Lanes::Two => self.each::<W, 2, 16>(a, b, c, f),
        }
    }

    #[inline(always)]
    fn each<const W: usize, const LANES: usize, const BITS: u32>(
        &self,
        a: &[u32; W],
        b: &[u32; W],
        c: &[u32; W],
        f: impl Fn(i32, i32) -> i32,
    ) -> [u32; W] {
        let &Self { signs: [sign_a, sign_b], range: (low, high), mask, .. } = self;
        let ones = u32::MAX >> (32 - BITS);
        // Adding the sign bit and taking it away again copies it upwards.
        let number = |word: u32, place: u32, sign: i32| ((word >> place & ones) as i32 ^ sign) - sign;
        let kept: [u32; LANES] = each(|at| 0_u32.wrapping_sub(u32::from(mask >> at & 1)));
        let written = (0..LANES).fold(0, |word, at| word | (kept[at] & ones) << (at as u32 * BITS));
        let mut d = [0; W];
        if self.accumulate {
            for lane in 0..W {
                d[lane] = (0..LANES).fold(c[lane], |sum, at| {
                    let place = at as u32 * BITS;
                    let value = f(number(a[lane], place, sign_a), number(b[lane], place, sign_b));
                    sum.wrapping_add(value as u32 & kept[at])
                });
            }
        } else {
            for lane in 0..W {
                let word = (0..LANES).fold(0, |word, at| {
                    let place = at as u32 * BITS;
                    let value = f(number(a[lane], place, sign_a), number(b[lane], place, sign_b));
                    word | (value.max(low).min(high) as u32 & ones) << place
                });
                d[lane] = word & written | c[lane] & !written;
            }
        }
        d
    }
}

/// The byte permutation of a selector.
fn bytes(selector: Selector, lanes: Lanes) -> u32 {
    (0..lanes.count()).fold(0, |all, lane| {
        let pick = u32::from(selector.pick(lane));
        all | match lanes {
            Lanes::Four => pick << (4 * lane),
            // A half is two bytes, the second one place above the first.
            Lanes::Two => (0x22 * pick + 0x10) << (8 * lane),
        }
    })
}

/// Runs a form on the lanes of `mask`.
pub(super) fn run<const W: usize>(video: &Video, warp: &mut Warp<W>, i: &Inst, mask: u32) {
    let ((a, da), (b, db), (c, dc)) = (warp.word(i.a), warp.word(i.b), warp.word(i.c));
    let select = |selector: Option<u32>, word: [u32; W]| match selector {
        None => word,
        Some(selector) => {
            let permute = permute(selector);
            each(|lane| permute(a[lane], b[lane], 0))
        }
    };
    let (x, y) = (select(video.selectors[0], a), select(video.selectors[1], b));
    let d = video.compute(&x, &y, &c);
    warp.set_word(i.d, mask, &d, da & db & dc);
}
