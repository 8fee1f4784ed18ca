//! The arithmetic behind the lane operations: corner cases as the manual has them, floats bit for bit.
//!
//! Rounding to nearest is what the host does too; every other rounding mode goes through a software
//! implementation. NaN results have the canonical payload, as NVIDIA's GPUs give it.

use rustc_apfloat::ieee::{Double, Single};
use rustc_apfloat::{Float, Round};

/// The one NaN that arithmetic on `f32` gives.
const NAN32: u32 = 0x7fff_ffff;
/// The one NaN that arithmetic on `f64` gives.
const NAN64: u64 = 0xfff8_0000_0000_0000;

#[inline]
pub(super) fn canonical32(x: f32) -> u32 {
    if x.is_nan() { NAN32 } else { x.to_bits() }
}

#[inline]
pub(super) fn canonical64(x: f64) -> u64 {
    if x.is_nan() { NAN64 } else { x.to_bits() }
}

/// A subnormal becomes zero of its sign: `.ftz`.
#[inline]
pub(super) fn flush(x: u32) -> u32 {
    if x & 0x7f80_0000 == 0 { x & 0x8000_0000 } else { x }
}

/// `.sat`: into 0 to 1, NaN to 0.
#[inline]
pub(super) fn saturate32(x: u32) -> u32 {
    let x = f32::from_bits(x);
    if x > 0.0 { x.min(1.0).to_bits() } else { 0 }
}

#[inline]
pub(super) fn saturate64(x: u64) -> u64 {
    let x = f64::from_bits(x);
    if x > 0.0 { x.min(1.0).to_bits() } else { 0 }
}

macro_rules! extremes {
    ($min:ident $max:ident $int:ty, $float:ty, $nan:expr) => {
        /// The lesser; of a number and NaN, the number; -0 is less than +0.
        #[inline]
        pub(super) fn $min(a: $int, b: $int) -> $int {
            let (x, y) = (<$float>::from_bits(a), <$float>::from_bits(b));
            match (x.is_nan(), y.is_nan()) {
                (true, true) => $nan,
                (true, false) => b,
                (false, true) => a,
                (false, false) if x == y => a | b,
                (false, false) => {
                    if x < y {
                        a
                    } else {
                        b
                    }
                }
            }
        }

        /// The greater; of a number and NaN, the number; +0 is greater than -0.
        #[inline]
        pub(super) fn $max(a: $int, b: $int) -> $int {
            let (x, y) = (<$float>::from_bits(a), <$float>::from_bits(b));
            match (x.is_nan(), y.is_nan()) {
                (true, true) => $nan,
                (true, false) => b,
                (false, true) => a,
                (false, false) if x == y => a & b,
                (false, false) => {
                    if x > y {
                        a
                    } else {
                        b
                    }
                }
            }
        }
    };
}

extremes!(min32 max32 u32, f32, NAN32);
extremes!(min64 max64 u64, f64, NAN64);

macro_rules! conversions {
    ($($name:ident $float:ty, $to:ty, $bits:ty;)*) => {$(
        /// A rounded float as an integer, clamped to its range; the manual makes NaN zero, as Rust does.
        #[inline]
        pub(super) fn $name(x: $float) -> $bits {
            x as $to as $bits
        }
    )*};
}

conversions! {
    f32_to_s32 f32, i32, u32;
    f32_to_u32 f32, u32, u32;
    f64_to_s32 f64, i32, u32;
    f64_to_u32 f64, u32, u32;
    f64_to_s64 f64, i64, u64;
    f64_to_u64 f64, u64, u64;
}

/// A half as an `f32`; exact.
#[inline]
pub(super) fn half_to_f32(x: u32) -> u32 {
    use rustc_apfloat::FloatConvert;
    let half = rustc_apfloat::ieee::Half::from_bits(u128::from(x & 0xffff));
    if half.is_nan() {
        return NAN32;
    }
    let wide: Single = half.convert(&mut false).value;
    wide.to_bits() as u32
}

/// An `f32` as a half, to the nearest, ties to even.
#[inline]
pub(super) fn f32_to_half(x: u32) -> u32 {
    use rustc_apfloat::FloatConvert;
    let wide = Single::from_bits(u128::from(x));
    if wide.is_nan() {
        return 0x7fff;
    }
    let half: rustc_apfloat::ieee::Half = wide.convert(&mut false).value;
    half.to_bits() as u32
}

/// What a software float operation does: the operation in the low 4 bits, the rounding mode above.
pub(super) mod soft {
    pub(crate) const ADD: u32 = 0;
    pub(crate) const SUB: u32 = 1;
    pub(crate) const MUL: u32 = 2;
    pub(crate) const DIV: u32 = 3;
    pub(crate) const FMA: u32 = 4;
    pub(crate) const ZERO: u32 = 0x10;
    pub(crate) const DOWN: u32 = 0x20;
    pub(crate) const UP: u32 = 0x30;
}

fn soft_operation<F: Float>(a: F, b: F, c: F, mode: u32) -> F {
    let round = match mode & 0xf0 {
        soft::ZERO => Round::TowardZero,
        soft::DOWN => Round::TowardNegative,
        soft::UP => Round::TowardPositive,
        _ => Round::NearestTiesToEven,
    };
    match mode & 0xf {
        soft::ADD => a.add_r(b, round).value,
        soft::SUB => a.sub_r(b, round).value,
        soft::MUL => a.mul_r(b, round).value,
        soft::DIV => a.div_r(b, round).value,
        _ => a.mul_add_r(b, c, round).value,
    }
}

pub(super) fn soft32(a: u32, b: u32, c: u32, mode: u32) -> u32 {
    let [a, b, c] = [a, b, c].map(|x| Single::from_bits(u128::from(x)));
    let result = soft_operation(a, b, c, mode);
    if result.is_nan() { NAN32 } else { result.to_bits() as u32 }
}

pub(super) fn soft64(a: u64, b: u64, c: u64, mode: u32) -> u64 {
    let [a, b, c] = [a, b, c].map(|x| Double::from_bits(u128::from(x)));
    let result = soft_operation(a, b, c, mode);
    if result.is_nan() { NAN64 } else { result.to_bits() as u64 }
}

#[inline]
pub(super) fn join(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// The highest set bit, or all ones.
#[inline]
pub(super) fn bfind(x: u64) -> u32 {
    x.checked_ilog2().unwrap_or(u32::MAX)
}

/// Division by zero gives all ones, as NVIDIA's code does; the manual leaves it open.
#[inline]
pub(super) fn divide_s32(a: i32, b: i32) -> u32 {
    if b == 0 { u32::MAX } else { a.wrapping_div(b) as u32 }
}

#[inline]
pub(super) fn remainder_s32(a: i32, b: i32) -> u32 {
    if b == 0 { a as u32 } else { a.wrapping_rem(b) as u32 }
}

/// `prmt.b32` without a mode.
#[inline]
pub(super) fn permute(a: u32, b: u32, selector: u32) -> u32 {
    let pool = join(a, b);
    let mut result = 0;
    for lane in 0..4 {
        let nibble = selector >> (4 * lane);
        let byte = (pool >> (8 * (nibble & 7))) as u32 & 0xff;
        let sign = 0_u32.wrapping_sub(byte >> 7) & 0xff;
        let replicate = 0_u32.wrapping_sub(nibble >> 3 & 1);
        result |= (byte & !replicate | sign & replicate) << (8 * lane);
    }
    result
}

#[inline]
pub(super) fn extract_u32(a: u32, position: u32, length: u32) -> u32 {
    let (position, length) = (position & 255, length & 255);
    let shifted = a.checked_shr(position).unwrap_or(0);
    if length >= 32 { shifted } else { shifted & ((1 << length) - 1) }
}

#[inline]
pub(super) fn extract_s32(a: u32, position: u32, length: u32) -> u32 {
    let (position, length) = (position & 255, length & 255);
    if length == 0 {
        return 0;
    }
    let top = (position + length - 1).min(31);
    let fill = 0_u32.wrapping_sub(a >> top & 1);
    let low = extract_u32(a, position, length);
    // Of the field, `top - position + 1` bits are there; above them the sign fills.
    let there = (top + 1).saturating_sub(position);
    if there >= 32 { low } else { low & ((1 << there) - 1) | fill << there }
}

#[inline]
pub(super) fn insert_u32(a: u32, b: u32, position: u32, length: u32) -> u32 {
    let (position, length) = (position & 255, length & 255);
    if position >= 32 {
        return b;
    }
    let mask = (((1_u64 << length.min(32)) - 1) << position) as u32;
    a << position & mask | b & !mask
}

#[inline]
pub(super) fn dot(a: u32, b: u32, c: u32, a_signed: bool, b_signed: bool) -> u32 {
    let byte = |x: u32, lane: u32, signed: bool| {
        let x = (x >> (8 * lane)) as u8;
        if signed { i32::from(x as i8) } else { i32::from(x) }
    };
    (0..4).fold(c, |sum, lane| sum.wrapping_add((byte(a, lane, a_signed) * byte(b, lane, b_signed)) as u32))
}

/// `dp2a`: bit 0 of `mode` says that a is signed, bit 1 that b is, bit 2 that it takes the high bytes.
#[inline]
pub(super) fn dot_halves(a: u32, b: u32, c: u32, mode: u32) -> u32 {
    let bytes = if mode & 4 != 0 { b >> 16 } else { b };
    (0..2).fold(c, |sum, lane| {
        let x = (a >> (16 * lane)) as u16;
        let x = if mode & 1 != 0 { i32::from(x as i16) } else { i32::from(x) };
        let y = (bytes >> (8 * lane)) as u8;
        let y = if mode & 2 != 0 { i32::from(y as i8) } else { i32::from(y) };
        sum.wrapping_add((x * y) as u32)
    })
}
