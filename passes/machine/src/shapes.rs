//! How an operation runs over the lanes of a warp, by what it reads and writes.
//!
//! Each shape is a loop over arrays of a fixed size, which is what becomes vector instructions; the result is
//! complete before it replaces anything, so an operation may write what it reads. What it reads is defined on a lane
//! only if all of it is.

use super::code::Inst;
use super::warp::Warp;

macro_rules! lane_shapes {
    ($($name:ident($($operand:ident: $array:ident, $known:ident),*) $write:ident -> $to:ty, $zero:expr;)*) => {
        /// How an operation runs over the lanes: the result is complete before it replaces anything.
        ///
        /// Plain loops over arrays of a fixed size are what becomes vector instructions.
        impl<const W: usize> Warp<W> {$(
            #[inline(always)]
            pub(super) fn $name(&mut self, i: &Inst, mask: u32, f: impl Fn($(lane_shapes!(@of $array),)*) -> $to) {
                let mut value = [$zero; W];
                let mut defined = u32::MAX;
                $(
                    let at = self.frame.$array + i.$operand as usize;
                    defined &= self.$known[at];
                    let $operand = &self.$array[at];
                )*
                for lane in 0..W {
                    value[lane] = f($($operand[lane],)*);
                }
                self.$write(i.d, mask, &value, defined);
            }
        )*}
    };
    (@of words) => { u32 };
    (@of longs) => { u64 };
}

lane_shapes! {
    w1(a: words, words_defined) set_word -> u32, 0_u32;
    w2(a: words, words_defined, b: words, words_defined) set_word -> u32, 0_u32;
    w4(a: words, words_defined, b: words, words_defined, c: words, words_defined, x: words, words_defined) set_word -> u32, 0_u32;
    l1(a: longs, longs_defined) set_long -> u64, 0_u64;
    l2(a: longs, longs_defined, b: longs, longs_defined) set_long -> u64, 0_u64;
    llw(a: longs, longs_defined, b: words, words_defined) set_long -> u64, 0_u64;
    lw(a: words, words_defined) set_long -> u64, 0_u64;
    lww(a: words, words_defined, b: words, words_defined) set_long -> u64, 0_u64;
    lwwl(a: words, words_defined, b: words, words_defined, c: longs, longs_defined) set_long -> u64, 0_u64;
    wl(a: longs, longs_defined) set_word -> u32, 0_u32;
}

macro_rules! special_shapes {
    ($array:ident $known:ident $of:ty, $three:ident $set:ident, $two:ident) => {
        /// The shapes that have something of their own: a constant, or a result of one bit.
        impl<const W: usize> Warp<W> {
            #[inline(always)]
            pub(super) fn $three(&mut self, i: &Inst, mask: u32, f: impl Fn($of, $of, $of, u32) -> $of) {
                let first = self.frame.$array;
                let (a, b, c) = (first + i.a as usize, first + i.b as usize, first + i.c as usize);
                let defined = self.$known[a] & self.$known[b] & self.$known[c];
                let (a, b, c) = (&self.$array[a], &self.$array[b], &self.$array[c]);
                let mut value = [0; W];
                for lane in 0..W {
                    value[lane] = f(a[lane], b[lane], c[lane], i.x);
                }
                self.$set(i.d, mask, &value, defined);
            }

            #[inline(always)]
            pub(super) fn $two(&mut self, i: &Inst, mask: u32, f: impl Fn($of, $of) -> bool) {
                let first = self.frame.$array;
                let (a, b) = (first + i.a as usize, first + i.b as usize);
                let defined = self.$known[a] & self.$known[b];
                let (a, b) = (&self.$array[a], &self.$array[b]);
                let mut value = 0;
                for lane in 0..W {
                    value |= u32::from(f(a[lane], b[lane])) << lane;
                }
                self.set_predicate(i.d, mask, value, defined);
            }
        }
    };
}

/// The shapes whose operation is made of the constant of the instruction, once for all lanes.
impl<const W: usize> Warp<W> {
    #[inline(always)]
    pub(super) fn k3<F: Fn(u32, u32, u32) -> u32>(&mut self, i: &Inst, mask: u32, f: impl Fn(u32) -> F) {
        let f = f(i.x);
        self.w3(i, mask, |a, b, c, _| f(a, b, c));
    }

    #[inline(always)]
    pub(super) fn kl1<F: Fn(u64) -> u64>(&mut self, i: &Inst, mask: u32, f: impl Fn(u32) -> F) {
        let f = f(i.x);
        self.l1(i, mask, f);
    }
}

macro_rules! rare_shapes {
    ($($name:ident = $shape:ident($($from:ty),*) -> $to:ty;)*) => {
        /// The shapes that all rare operations share.
        impl<const W: usize> Warp<W> {$(
            #[inline(never)]
            pub(super) fn $name(&mut self, i: &Inst, mask: u32, f: fn($($from),*) -> $to) {
                self.$shape(i, mask, f);
            }
        )*}
    };
}

rare_shapes! {
    rare_w1 = w1(u32) -> u32;
    rare_w2 = w2(u32, u32) -> u32;
    rare_w3 = w3(u32, u32, u32, u32) -> u32;
    rare_l1 = l1(u64) -> u64;
    rare_l2 = l2(u64, u64) -> u64;
    rare_wl = wl(u64) -> u32;
    rare_pw = pw(u32, u32) -> bool;
    rare_pl = pl(u64, u64) -> bool;
}

special_shapes!(words words_defined u32, w3 set_word, pw);
special_shapes!(longs longs_defined u64, l3 set_long, pl);
