//! Operations on words that are controlled by a constant: the constant is prepared once, the loop over the lanes is
//! plain.
//!
//! A truth table, a selector or a distance that is the same for all lanes becomes masks and distances that do not
//! change in the loop, so the loop becomes vector instructions. What they compute is what the operations with a
//! register in that place compute; the tests compare both with the meanings.

use super::warp::each;

/// A bit in every place, or none.
#[inline]
fn all(set: bool) -> u32 {
    0_u32.wrapping_sub(u32::from(set))
}

/// `lop3` by its table.
///
/// Any function of three bits is an exclusive or of some of `1, c, b, bc, a, ac, ab, abc`; which, the table tells:
/// a coefficient is the exclusive or of the rows whose ones are among its own.
#[inline]
pub(super) fn lop3(table: u32) -> impl Fn(u32, u32, u32) -> u32 {
    let mut form = table;
    form ^= (form & 0x55) << 1;
    form ^= (form & 0x33) << 2;
    form ^= (form & 0x0f) << 4;
    let k: [u32; 8] = each(|at| all(form >> at & 1 == 1));
    move |a, b, c| {
        let without_a = k[0] ^ k[1] & c ^ (k[2] ^ k[3] & c) & b;
        let with_a = k[4] ^ k[5] & c ^ (k[6] ^ k[7] & c) & b;
        without_a ^ with_a & a
    }
}

/// `prmt` by a selector that copies no signs: bytes that move equally far move together.
#[inline]
pub(super) fn permute(selector: u32) -> impl Fn(u32, u32, u32) -> u32 {
    let (mut from_a, mut from_b) = ([0_u32; 4], [0_u32; 4]);
    for lane in 0..4_u32 {
        let pick = selector >> (4 * lane) & 7;
        let (place, from) = (pick & 3, if pick < 4 { &mut from_a } else { &mut from_b });
        from[(lane.wrapping_sub(place) & 3) as usize] |= 0xff << (8 * place);
    }
    move |a, b, _| {
        let moved = |by: usize| a & from_a[by] | b & from_b[by];
        moved(0) | moved(1).rotate_left(8) | moved(2).rotate_left(16) | moved(3).rotate_left(24)
    }
}

/// A shift to the left; from 32 on, nothing is left.
#[inline]
pub(super) fn shl(by: u32) -> impl Fn(u32, u32, u32) -> u32 {
    let kept = all(by < 32);
    move |a, _, _| a << (by & 31) & kept
}

/// A shift to the right, filled with zeros.
#[inline]
pub(super) fn shr(by: u32) -> impl Fn(u32, u32, u32) -> u32 {
    let kept = all(by < 32);
    move |a, _, _| a >> (by & 31) & kept
}

/// A shift to the right, filled with the sign.
#[inline]
pub(super) fn shr_signed(by: u32) -> impl Fn(u32, u32, u32) -> u32 {
    let by = by.min(31);
    move |a, _, _| (a as i32 >> by) as u32
}

/// The upper half of `b:a` shifted to the left by 0 to 32.
#[inline]
pub(super) fn funnel_left(by: u32) -> impl Fn(u32, u32, u32) -> u32 {
    let (high, low) = (all(by < 32), all(by > 0));
    let rest = 32_u32.wrapping_sub(by);
    move |a, b, _| b << (by & 31) & high | a >> (rest & 31) & low
}

/// The lower half of `b:a` shifted to the right by 0 to 32.
#[inline]
pub(super) fn funnel_right(by: u32) -> impl Fn(u32, u32, u32) -> u32 {
    let (low, high) = (all(by < 32), all(by > 0));
    let rest = 32_u32.wrapping_sub(by);
    move |a, b, _| a >> (by & 31) & low | b << (rest & 31) & high
}

/// The place and the length of a field, as one constant.
#[inline]
pub(super) fn field(place: u32, length: u32) -> u32 {
    place & 0xff | (length & 0xff) << 8
}

/// `length` ones.
#[inline]
fn ones(length: u32) -> u32 {
    1_u32.checked_shl(length).map_or(u32::MAX, |bit| bit - 1)
}

/// `bfe.u32` of a field.
#[inline]
pub(super) fn extract(field: u32) -> impl Fn(u32, u32, u32) -> u32 {
    let (place, length) = (field & 0xff, field >> 8);
    let kept = ones(length) & all(place < 32);
    move |a, _, _| a >> (place & 31) & kept
}

/// `bfe.s32` of a field: above its highest bit, or bit 31 if it ends there, are copies of that bit.
#[inline]
pub(super) fn extract_signed(field: u32) -> impl Fn(u32, u32, u32) -> u32 {
    let (place, length) = (field & 0xff, field >> 8);
    let top = (place + length).saturating_sub(1).min(31);
    let (up, down) = (31 - top, (31 - top + place).min(31));
    let kept = all(length > 0);
    move |a, _, _| ((a << up) as i32 >> down) as u32 & kept
}

/// `bfi` of a field.
#[inline]
pub(super) fn insert(field: u32) -> impl Fn(u32, u32, u32) -> u32 {
    let (place, length) = (field & 0xff, field >> 8);
    let kept = ones(length) << (place & 31) & all(place < 32);
    move |a, b, _| a << (place & 31) & kept | b & !kept
}

/// A shift of a long to the left.
#[inline]
pub(super) fn shl_long(by: u32) -> impl Fn(u64) -> u64 {
    let kept = if by < 64 { u64::MAX } else { 0 };
    move |a| a << (by & 63) & kept
}

/// A shift of a long to the right, filled with zeros.
#[inline]
pub(super) fn shr_long(by: u32) -> impl Fn(u64) -> u64 {
    let kept = if by < 64 { u64::MAX } else { 0 };
    move |a| a >> (by & 63) & kept
}

/// A shift of a long to the right, filled with the sign.
#[inline]
pub(super) fn shr_long_signed(by: u32) -> impl Fn(u64) -> u64 {
    let by = by.min(63);
    move |a| (a as i64 >> by) as u64
}
