// Rust without its core library, which has no build for this target here.
#![feature(no_core, lang_items, abi_ptx, intrinsics, rustc_attrs, auto_traits, link_llvm_intrinsics)]
#![no_core]
#![no_std]
#![allow(internal_features)]

#[lang = "pointee_sized"]
pub trait PointeeSized {}
#[lang = "meta_sized"]
pub trait MetaSized: PointeeSized {}
#[lang = "sized"]
pub trait Sized: MetaSized {}
#[lang = "copy"]
pub trait Copy {}
impl Copy for u8 {}
impl Copy for u32 {}
impl Copy for i32 {}
impl Copy for u64 {}
impl Copy for isize {}
impl<T: PointeeSized> Copy for *const T {}
impl<T: PointeeSized> Copy for *mut T {}
#[lang = "freeze"]
unsafe auto trait Freeze {}

#[lang = "sync"]
pub unsafe trait Sync {}
unsafe impl Sync for [u32; 5] {}

#[lang = "drop_in_place"]
unsafe fn drop_in_place<T: PointeeSized>(_: *mut T) {}

#[rustc_intrinsic]
pub unsafe fn offset<P, D>(p: P, by: D) -> P;
#[rustc_intrinsic]
pub const fn saturating_add<T: Copy>(a: T, b: T) -> T;
#[rustc_intrinsic]
pub const fn bswap<T: Copy>(x: T) -> T;
#[rustc_intrinsic]
pub const fn wrapping_mul<T: Copy>(a: T, b: T) -> T;
#[rustc_intrinsic]
pub const fn wrapping_add<T: Copy>(a: T, b: T) -> T;
#[rustc_intrinsic]
pub const fn wrapping_sub<T: Copy>(a: T, b: T) -> T;

extern "C" {
    #[link_name = "llvm.nvvm.read.ptx.sreg.tid.x"]
    fn thread() -> i32;
}

#[no_mangle]
pub unsafe extern "ptx-kernel" fn saturate(a: *const u8, b: *const u8, d: *mut u8) {
    let i = thread() as isize;
    *offset(d, i) = saturating_add(*offset(a, i), *offset(b, i));
}

#[inline(never)]
fn choose(op: u32, x: u32, y: u32) -> u32 {
    match op {
        0 => bswap(x),
        1 => wrapping_mul(x, y),
        2 => saturating_add(x, y),
        3 => wrapping_sub(x, y),
        4 => wrapping_add(y, bswap(x)),
        5 => wrapping_sub(1, saturating_add(y, y)),
        6 => wrapping_mul(x, wrapping_mul(x, y)),
        7 => bswap(wrapping_mul(y, x)),
        _ => 0x01020304,
    }
}

#[no_mangle]
pub unsafe extern "ptx-kernel" fn evaluate(ops: *const u32, d: *mut u32) {
    let i = thread() as isize;
    *offset(d, i) = choose(*offset(ops, i), *offset(ops as *const u32, 3isize), *offset(d as *const u32, i));
}

pub static TABLE: [u32; 5] = [1, 1, 2, 3, 5];
