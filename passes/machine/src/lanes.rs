//! The operations that every lane does for itself, in one list.
//!
//! `lane_operations!` makes the enum [`Lane`], the code that runs an operation over all lanes of a warp, and the
//! shape that decoding and the tests ask for. A word holds up to 32 bits, zero-extended; operations on narrower
//! types widen what they read and cut what they write, so every operation may rely on the zeros above.
//!
//! An operation has a loop of its own, unless it is `rare`: those of a shape share a loop that calls them, since a
//! loop of vector instructions each would be much code that hardly ever runs.

use super::arithmetic as ar;
use super::code::Inst;
use super::controlled as by;
use super::warp::Warp;

/// Which registers an operation reads and writes: words (`W`), longs (`L`), predicates (`P`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shape {
    /// word = f(word)
    W1,
    /// word = f(word, word)
    W2,
    /// word = f(word, word, word), with the constant of the instruction
    W3,
    /// word = f(word, word, word), f made of the constant of the instruction
    K3,
    /// word = f(word, word, word, word)
    W4,
    /// long = f(long)
    L1,
    /// long = f(long), f made of the constant of the instruction
    KL1,
    /// long = f(long, long)
    L2,
    /// long = f(long, long, long)
    L3,
    /// long = f(long, word)
    LofLW,
    /// long = f(word)
    LofW,
    /// long = f(word, word)
    LofW2,
    /// long = f(word, word, long)
    LofW2L,
    /// word = f(long)
    WofL,
    /// predicate = f(word, word)
    PofW2,
    /// predicate = f(long, long)
    PofL2,
}

macro_rules! lane_operations {
    ($($shape:ident $run:ident { $($name:ident = $f:expr;)* })*) => {
        /// An operation that every lane does for itself.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u16)]
        pub(super) enum Lane { $($($name,)*)* }

        impl Lane {
            /// What it reads and writes.
            pub(super) fn shape(self) -> Shape {
                match self { $($(Self::$name => Shape::$shape,)*)* }
            }

        }

        /// Runs `lane` on the lanes of `mask`.
        #[inline]
        pub(super) fn run<const W: usize>(warp: &mut Warp<W>, lane: Lane, i: &Inst, mask: u32) {
            match lane { $($(Lane::$name => warp.$run(i, mask, $f),)*)* }
        }
    };
}

const H: u32 = 0xffff;

/// The low 16 bits as a signed number.
#[inline]
fn h(x: u32) -> i32 {
    i32::from(x as u16 as i16)
}

#[inline]
fn s(x: u32) -> i32 {
    x as i32
}

#[inline]
fn t(x: u64) -> i64 {
    x as i64
}

lane_operations! {
    W1 w1 {
        Mov32 = |a| a;
        Not32 = |a| !a;
        Neg32 = u32::wrapping_neg;
        Abs32 = |a| s(a).wrapping_abs() as u32;
        Popc32 = u32::count_ones;
        Clz32 = u32::leading_zeros;
        BfindU32 = |a| ar::bfind(u64::from(a));
        Zext8 = |a| a & 0xff;
        Zext16 = |a| a & H;
        Sext8To32 = |a| i32::from(a as u8 as i8) as u32;
        Sext16To32 = |a| h(a) as u32;
        FNeg32 = |a| a ^ 0x8000_0000;
        FAbs32 = |a| a & 0x7fff_ffff;
        F32OfU32 = |a| (a as f32).to_bits();
        F32OfS32 = |a| (s(a) as f32).to_bits();
        SaturateS32ToU8 = |a| s(a).clamp(0, 255) as u32;
        SaturateU32ToU8 = |a| a.min(255);
        S32OfF32Zero = |a| ar::f32_to_s32(f32::from_bits(a).trunc());
        U32OfF32Zero = |a| ar::f32_to_u32(f32::from_bits(a).trunc());
    }
    W1 rare_w1 {
        Not16 = |a| !a & H;
        Neg16 = |a| a.wrapping_neg() & H;
        Abs16 = |a| h(a).wrapping_abs() as u32 & H;
        Cnot32 = |a| u32::from(a == 0);
        Brev32 = u32::reverse_bits;
        BfindS32 = |a| ar::bfind(u64::from((s(a) ^ (s(a) >> 31)) as u32));
        Sqrt32 = |a| ar::canonical32(f32::from_bits(a).sqrt());
        Flush32 = ar::flush;
        Saturate32 = ar::saturate32;
        RoundEven32 = |a| ar::canonical32(f32::from_bits(a).round_ties_even());
        RoundZero32 = |a| ar::canonical32(f32::from_bits(a).trunc());
        RoundDown32 = |a| ar::canonical32(f32::from_bits(a).floor());
        RoundUp32 = |a| ar::canonical32(f32::from_bits(a).ceil());
        F32OfF16 = ar::half_to_f32;
        F16OfF32 = ar::f32_to_half;
        SaturateS32To8 = |a| s(a).clamp(-128, 127) as u32 & 0xff;
        SaturateS32ToS16 = |a| s(a).clamp(-0x8000, 0x7fff) as u32 & H;
        SaturateS32ToU16 = |a| s(a).clamp(0, 0xffff) as u32;
        SaturateU32ToU16 = |a| a.min(H);
        SaturateU32ToS8 = |a| a.min(127);
        SaturateU32ToS16 = |a| a.min(0x7fff);
        SaturateU32ToS32 = |a| a.min(0x7fff_ffff);
        SaturateS32ToU32 = |a| s(a).max(0) as u32;
        S32OfF32Even = |a| ar::f32_to_s32(f32::from_bits(a).round_ties_even());
        S32OfF32Down = |a| ar::f32_to_s32(f32::from_bits(a).floor());
        S32OfF32Up = |a| ar::f32_to_s32(f32::from_bits(a).ceil());
        U32OfF32Even = |a| ar::f32_to_u32(f32::from_bits(a).round_ties_even());
        U32OfF32Down = |a| ar::f32_to_u32(f32::from_bits(a).floor());
        U32OfF32Up = |a| ar::f32_to_u32(f32::from_bits(a).ceil());
    }
    W2 w2 {
        Add32 = u32::wrapping_add;
        Sub32 = u32::wrapping_sub;
        Add16 = |a, b| a.wrapping_add(b) & H;
        Sub16 = |a, b| a.wrapping_sub(b) & H;
        AddSat32 = |a, b| s(a).saturating_add(s(b)) as u32;
        SubSat32 = |a, b| s(a).saturating_sub(s(b)) as u32;
        Mul32 = u32::wrapping_mul;
        Mul16 = |a, b| a.wrapping_mul(b) & H;
        MulHiU32 = |a, b| ((u64::from(a) * u64::from(b)) >> 32) as u32;
        MulHiS32 = |a, b| ((i64::from(s(a)) * i64::from(s(b))) >> 32) as u32;
        And32 = |a, b| a & b;
        Or32 = |a, b| a | b;
        Xor32 = |a, b| a ^ b;
        Shl32 = |a, b| a.checked_shl(b).unwrap_or(0);
        Shl16 = |a, b| a.checked_shl(b).unwrap_or(0) & H;
        ShrU32 = |a, b| a.checked_shr(b).unwrap_or(0);
        ShrS32 = |a, b| (s(a) >> b.min(31)) as u32;
        ShrS16 = |a, b| (h(a) >> b.min(31)) as u32 & H;
        MinU32 = std::cmp::Ord::min;
        MaxU32 = std::cmp::Ord::max;
        MinS32 = |a, b| s(a).min(s(b)) as u32;
        MaxS32 = |a, b| s(a).max(s(b)) as u32;
        MinS16 = |a, b| h(a).min(h(b)) as u32 & H;
        MaxS16 = |a, b| h(a).max(h(b)) as u32 & H;
        Pack16 = |a, b| a & H | b << 16;
        Pack8 = |a, b| a & 0xff | (b & 0xff) << 8;
        FAdd32 = |a, b| ar::canonical32(f32::from_bits(a) + f32::from_bits(b));
        FSub32 = |a, b| ar::canonical32(f32::from_bits(a) - f32::from_bits(b));
        FMul32 = |a, b| ar::canonical32(f32::from_bits(a) * f32::from_bits(b));
    }
    W2 rare_w2 {
        MulHiU16 = |a, b| (a & H).wrapping_mul(b & H) >> 16;
        MulHiS16 = |a, b| ((h(a) * h(b)) >> 16) as u32 & H;
        MulWideU16 = |a, b| (a & H).wrapping_mul(b & H);
        MulWideS16 = |a, b| (h(a) * h(b)) as u32;
        DivU32 = |a, b| a.checked_div(b).unwrap_or(u32::MAX);
        DivS32 = |a, b| ar::divide_s32(s(a), s(b));
        RemU32 = |a, b| a.checked_rem(b).unwrap_or(a);
        RemS32 = |a, b| ar::remainder_s32(s(a), s(b));
        DivS16 = |a, b| ar::divide_s32(h(a), h(b)) & H;
        RemS16 = |a, b| ar::remainder_s32(h(a), h(b)) & H;
        DivU16 = |a, b| a.checked_div(b).unwrap_or(H);
        FDiv32 = |a, b| ar::canonical32(f32::from_bits(a) / f32::from_bits(b));
        FMin32 = ar::min32;
        FMax32 = ar::max32;
        CopySign32 = |a, b| a & 0x8000_0000 | b & 0x7fff_ffff;
    }
    W3 w3 {
        Mad32 = |a, b, c, _| a.wrapping_mul(b).wrapping_add(c);
        SadU32 = |a, b, c, _| c.wrapping_add(a.abs_diff(b));
        SadS32 = |a, b, c, _| c.wrapping_add(s(a).abs_diff(s(b)));
        Prmt = |a, b, c, _| ar::permute(a, b, c);
        BfeU32 = |a, b, c, _| ar::extract_u32(a, b, c);
        BfeS32 = |a, b, c, _| ar::extract_s32(a, b, c);
        ShfLWrap = |a, b, c, _| (ar::join(a, b) << (c & 31) >> 32) as u32;
        ShfLClamp = |a, b, c, _| (ar::join(a, b) << c.min(32) >> 32) as u32;
        ShfRWrap = |a, b, c, _| (ar::join(a, b) >> (c & 31)) as u32;
        ShfRClamp = |a, b, c, _| (ar::join(a, b) >> c.min(32)) as u32;
        Dp4aUU = |a, b, c, _| ar::dot(a, b, c, false, false);
        Dp4aUS = |a, b, c, _| ar::dot(a, b, c, false, true);
        Dp4aSU = |a, b, c, _| ar::dot(a, b, c, true, false);
        Dp4aSS = |a, b, c, _| ar::dot(a, b, c, true, true);
        FFma32 = |a, b, c, _| ar::canonical32(f32::from_bits(a).mul_add(f32::from_bits(b), f32::from_bits(c)));
    }
    W3 rare_w3 {
        Mad16 = |a, b, c, _| a.wrapping_mul(b).wrapping_add(c) & H;
        MadHiU32 = |a, b, c, _| (((u64::from(a) * u64::from(b)) >> 32) as u32).wrapping_add(c);
        MadHiS32 = |a, b, c, _| (((i64::from(s(a)) * i64::from(s(b))) >> 32) as u32).wrapping_add(c);
        MadWideU16 = |a, b, c, _| (a & H).wrapping_mul(b & H).wrapping_add(c);
        MadWideS16 = |a, b, c, _| ((h(a) * h(b)) as u32).wrapping_add(c);
        Dp2a = ar::dot_halves;
        FSoft32 = ar::soft32;
    }
    K3 k3 {
        Lop3 = by::lop3;
        PrmtBy = by::permute;
        Shl32By = by::shl;
        ShrU32By = by::shr;
        ShrS32By = by::shr_signed;
        ShfLBy = by::funnel_left;
        ShfRBy = by::funnel_right;
        BfeU32By = by::extract;
        BfeS32By = by::extract_signed;
        Bfi32By = by::insert;
    }
    W4 w4 {
        Bfi32 = ar::insert_u32;
        Pack4 = |a, b, c, d| a & 0xff | (b & 0xff) << 8 | (c & 0xff) << 16 | d << 24;
    }
    L1 l1 {
        Mov64 = |a| a;
        Not64 = |a| !a;
        Neg64 = u64::wrapping_neg;
    }
    L1 rare_l1 {
        Abs64 = |a| t(a).wrapping_abs() as u64;
        Brev64 = u64::reverse_bits;
        FNeg64 = |a| a ^ 1 << 63;
        FAbs64 = |a| a & !(1 << 63);
        Sqrt64 = |a| ar::canonical64(f64::from_bits(a).sqrt());
        Saturate64 = ar::saturate64;
        F64OfU64 = |a| (a as f64).to_bits();
        F64OfS64 = |a| (t(a) as f64).to_bits();
        S64OfF64Zero = |a| ar::f64_to_s64(f64::from_bits(a).trunc());
        S64OfF64Even = |a| ar::f64_to_s64(f64::from_bits(a).round_ties_even());
        S64OfF64Down = |a| ar::f64_to_s64(f64::from_bits(a).floor());
        S64OfF64Up = |a| ar::f64_to_s64(f64::from_bits(a).ceil());
        U64OfF64Zero = |a| ar::f64_to_u64(f64::from_bits(a).trunc());
        U64OfF64Even = |a| ar::f64_to_u64(f64::from_bits(a).round_ties_even());
        U64OfF64Down = |a| ar::f64_to_u64(f64::from_bits(a).floor());
        U64OfF64Up = |a| ar::f64_to_u64(f64::from_bits(a).ceil());
        RoundEven64 = |a| ar::canonical64(f64::from_bits(a).round_ties_even());
        RoundZero64 = |a| ar::canonical64(f64::from_bits(a).trunc());
        RoundDown64 = |a| ar::canonical64(f64::from_bits(a).floor());
        RoundUp64 = |a| ar::canonical64(f64::from_bits(a).ceil());
    }
    KL1 kl1 {
        Shl64By = by::shl_long;
        ShrU64By = by::shr_long;
        ShrS64By = by::shr_long_signed;
    }
    L2 l2 {
        Add64 = u64::wrapping_add;
        Sub64 = u64::wrapping_sub;
        Mul64 = u64::wrapping_mul;
        And64 = |a, b| a & b;
        Or64 = |a, b| a | b;
        Xor64 = |a, b| a ^ b;
        MinU64 = std::cmp::Ord::min;
        MaxU64 = std::cmp::Ord::max;
        MinS64 = |a, b| t(a).min(t(b)) as u64;
        MaxS64 = |a, b| t(a).max(t(b)) as u64;
        FAdd64 = |a, b| ar::canonical64(f64::from_bits(a) + f64::from_bits(b));
        FSub64 = |a, b| ar::canonical64(f64::from_bits(a) - f64::from_bits(b));
        FMul64 = |a, b| ar::canonical64(f64::from_bits(a) * f64::from_bits(b));
    }
    L2 rare_l2 {
        MulHiU64 = |a, b| ((u128::from(a) * u128::from(b)) >> 64) as u64;
        MulHiS64 = |a, b| ((i128::from(t(a)) * i128::from(t(b))) >> 64) as u64;
        DivU64 = |a, b| a.checked_div(b).unwrap_or(u64::MAX);
        DivS64 = |a, b| if b == 0 { u64::MAX } else { t(a).wrapping_div(t(b)) as u64 };
        RemU64 = |a, b| a.checked_rem(b).unwrap_or(a);
        RemS64 = |a, b| if b == 0 { a } else { t(a).wrapping_rem(t(b)) as u64 };
        FDiv64 = |a, b| ar::canonical64(f64::from_bits(a) / f64::from_bits(b));
        FMin64 = ar::min64;
        FMax64 = ar::max64;
        CopySign64 = |a, b| a & 1 << 63 | b & !(1 << 63);
    }
    L3 l3 {
        Mad64 = |a, b, c, _| a.wrapping_mul(b).wrapping_add(c);
        FFma64 = |a, b, c, _| ar::canonical64(f64::from_bits(a).mul_add(f64::from_bits(b), f64::from_bits(c)));
        FSoft64 = ar::soft64;
    }
    LofLW llw {
        Shl64 = |a, b| a.checked_shl(b).unwrap_or(0);
        ShrU64 = |a, b| a.checked_shr(b).unwrap_or(0);
        ShrS64 = |a, b| (t(a) >> b.min(63)) as u64;
    }
    LofW lw {
        Zext32To64 = u64::from;
        Sext32To64 = |a| i64::from(s(a)) as u64;
        F64OfF32 = |a| ar::canonical64(f64::from(f32::from_bits(a)));
        F64OfS32 = |a| f64::from(s(a)).to_bits();
        F64OfU32 = |a| f64::from(a).to_bits();
    }
    LofW2 lww {
        MulWideU32 = |a, b| u64::from(a) * u64::from(b);
        MulWideS32 = |a, b| (i64::from(s(a)) * i64::from(s(b))) as u64;
        Pack32 = ar::join;
    }
    LofW2L lwwl {
        MadWideU32 = |a, b, c| (u64::from(a) * u64::from(b)).wrapping_add(c);
        MadWideS32 = |a, b, c| ((i64::from(s(a)) * i64::from(s(b))) as u64).wrapping_add(c);
    }
    WofL wl {
        Low32 = |a| a as u32;
        High32 = |a| (a >> 32) as u32;
    }
    WofL rare_wl {
        Popc64 = u64::count_ones;
        Clz64 = u64::leading_zeros;
        BfindU64 = ar::bfind;
        BfindS64 = |a| ar::bfind(a ^ (t(a) >> 63) as u64);
        F32OfF64 = |a| ar::canonical32(f64::from_bits(a) as f32);
        F32OfU64 = |a| (a as f32).to_bits();
        F32OfS64 = |a| (t(a) as f32).to_bits();
        S32OfF64Zero = |a| ar::f64_to_s32(f64::from_bits(a).trunc());
        S32OfF64Even = |a| ar::f64_to_s32(f64::from_bits(a).round_ties_even());
        S32OfF64Down = |a| ar::f64_to_s32(f64::from_bits(a).floor());
        S32OfF64Up = |a| ar::f64_to_s32(f64::from_bits(a).ceil());
        U32OfF64Zero = |a| ar::f64_to_u32(f64::from_bits(a).trunc());
        U32OfF64Even = |a| ar::f64_to_u32(f64::from_bits(a).round_ties_even());
        U32OfF64Down = |a| ar::f64_to_u32(f64::from_bits(a).floor());
        U32OfF64Up = |a| ar::f64_to_u32(f64::from_bits(a).ceil());
    }
    PofW2 pw {
        Eq32 = |a, b| a == b;
        Ne32 = |a, b| a != b;
        LtU32 = |a, b| a < b;
        LeU32 = |a, b| a <= b;
        LtS32 = |a, b| s(a) < s(b);
        LeS32 = |a, b| s(a) <= s(b);
        FEq32 = |a, b| f32::from_bits(a) == f32::from_bits(b);
        FLt32 = |a, b| f32::from_bits(a) < f32::from_bits(b);
        FLe32 = |a, b| f32::from_bits(a) <= f32::from_bits(b);
    }
    PofW2 rare_pw {
        LtS16 = |a, b| h(a) < h(b);
        LeS16 = |a, b| h(a) <= h(b);
        FNum32 = |a, b| !f32::from_bits(a).is_nan() && !f32::from_bits(b).is_nan();
        FLg32 = |a, b| f32::from_bits(a) < f32::from_bits(b) || f32::from_bits(a) > f32::from_bits(b);
        FNan32 = |a, b| f32::from_bits(a).is_nan() || f32::from_bits(b).is_nan();
        FEqu32 = |a, b| !(f32::from_bits(a) < f32::from_bits(b) || f32::from_bits(a) > f32::from_bits(b));
        FNeu32 = |a, b| f32::from_bits(a) != f32::from_bits(b);
        FLtu32 = |a, b| !(f32::from_bits(a) >= f32::from_bits(b));
        FLeu32 = |a, b| !(f32::from_bits(a) > f32::from_bits(b));
    }
    PofL2 pl {
        Eq64 = |a, b| a == b;
        Ne64 = |a, b| a != b;
        LtU64 = |a, b| a < b;
        LeU64 = |a, b| a <= b;
        LtS64 = |a, b| t(a) < t(b);
        LeS64 = |a, b| t(a) <= t(b);
    }
    PofL2 rare_pl {
        FEq64 = |a, b| f64::from_bits(a) == f64::from_bits(b);
        FLt64 = |a, b| f64::from_bits(a) < f64::from_bits(b);
        FLe64 = |a, b| f64::from_bits(a) <= f64::from_bits(b);
        FNum64 = |a, b| !f64::from_bits(a).is_nan() && !f64::from_bits(b).is_nan();
        FLg64 = |a, b| f64::from_bits(a) < f64::from_bits(b) || f64::from_bits(a) > f64::from_bits(b);
        FNan64 = |a, b| f64::from_bits(a).is_nan() || f64::from_bits(b).is_nan();
        FEqu64 = |a, b| !(f64::from_bits(a) < f64::from_bits(b) || f64::from_bits(a) > f64::from_bits(b));
        FNeu64 = |a, b| f64::from_bits(a) != f64::from_bits(b);
        FLtu64 = |a, b| !(f64::from_bits(a) >= f64::from_bits(b));
        FLeu64 = |a, b| !(f64::from_bits(a) > f64::from_bits(b));
    }
}
