//! Loads and stores of all lanes at once, where their addresses follow each other or are the same.
//!
//! That is how most kernels access memory. Only what cannot fail is done here: if any byte is out of bounds,
//! misaligned or of memory that needs more care, nothing has happened and the lanes are to go one by one, so that a
//! fault names the first lane that meets it.

use super::Context;
use super::access::place;
use crate::machine::code::{Access, Space};

/// The values that lanes load or store, an array for each element.
pub(super) type Values<const W: usize, const N: usize> = [[u64; W]; N];

/// The lanes of a mask, if they are neighbours: the first, and how many.
#[inline]
fn neighbours(mask: u32) -> Option<(usize, usize)> {
    let (first, count) = (mask.trailing_zeros(), mask.count_ones());
    let run = if count == 32 { u32::MAX } else { (1 << count) - 1 };
    (mask == run << (first & 31)).then_some((first as usize, count as usize))
}

/// Whether each address of the lanes of `mask` is that of its predecessor and `step`.
#[inline]
fn follow<const W: usize>(addresses: &[u64; W], mask: u32, step: u64) -> bool {
    let base = addresses[mask.trailing_zeros() as usize % W];
    let first = u64::from(mask.trailing_zeros());
    let mut differ = 0;
    for (lane, address) in addresses.iter().enumerate() {
        let want = base.wrapping_add((lane as u64).wrapping_sub(first).wrapping_mul(step));
        let counts = 0_u64.wrapping_sub(u64::from(mask >> lane & 1));
        differ |= (address ^ want) & counts;
    }
    differ == 0
}

/// Loads for all lanes; whether it was done.
#[inline]
pub(super) fn load<const W: usize, const N: usize>(
    cx: &Context<'_>,
    access: &Access,
    addresses: &[u64; W],
    mask: u32,
    values: &mut Values<W, N>,
) -> bool {
    let Some((first, count)) = neighbours(mask) else { return false };
    let (space, at) = place(cx, access.space, addresses[first]);
    let each = access.size as usize * N;
    let same = follow(addresses, mask, 0);
    if !same && !follow(addresses, mask, each as u64) {
        return false;
    }
    let length = if same { each } else { each * count };
    let bytes = match space {
        Space::Global | Space::Constant => cx.memory.range(addresses[first], length, each as u64),
        Space::Parameter if at % each as u64 == 0 => {
            usize::try_from(at).ok().and_then(|at| cx.parameters.get(at..)?.get(..length))
        }
        Space::Parameter | Space::Generic | Space::Shared | Space::Local => None,
    };
    let Some(bytes) = bytes else { return false };
    if same && count > 1 {
        let mut one = [[0; 1]; N];
        read(bytes, access.size, 0, &mut one);
        for (value, one) in values.iter_mut().zip(one) {
            *value = [one[0]; W];
        }
    } else {
        read(bytes, access.size, first, values);
    }
    true
}

/// Stores for all lanes; whether it was done.
#[inline]
pub(super) fn store<const W: usize, const N: usize>(
    cx: &mut Context<'_>,
    access: &Access,
    addresses: &[u64; W],
    mask: u32,
    values: &Values<W, N>,
) -> bool {
    let Some((first, count)) = neighbours(mask) else { return false };
    let (space, _) = place(cx, access.space, addresses[first]);
    let each = access.size as usize * N;
    if !matches!(space, Space::Global | Space::Constant) || !follow(addresses, mask, each as u64) {
        return false;
    }
    let Some(bytes) = cx.memory.range_mut(addresses[first], each * count, each as u64) else { return false };
    match access.size {
        1 => write::<W, N, 1>(bytes, first, values),
        2 => write::<W, N, 2>(bytes, first, values),
        4 => write::<W, N, 4>(bytes, first, values),
        _eight => write::<W, N, 8>(bytes, first, values),
    }
    true
}

#[inline]
fn read<const W: usize, const N: usize>(bytes: &[u8], size: u32, first: usize, values: &mut Values<W, N>) {
    match size {
        1 => read_sized::<W, N, 1>(bytes, first, values),
        2 => read_sized::<W, N, 2>(bytes, first, values),
        4 => read_sized::<W, N, 4>(bytes, first, values),
        _eight => read_sized::<W, N, 8>(bytes, first, values),
    }
}

/// The elements of `S` bytes each, those of one lane after the other, from lane `first` on.
#[inline]
fn read_sized<const W: usize, const N: usize, const S: usize>(
    bytes: &[u8],
    first: usize,
    values: &mut Values<W, N>,
) {
    let (elements, _) = bytes.as_chunks::<S>();
    let (lanes, _) = elements.as_chunks::<N>();
    for (at, lane) in lanes.iter().enumerate() {
        for element in 0..N {
            let mut long = [0; 8];
            *long.first_chunk_mut().expect("an element has at most eight bytes") = lane[element];
            values[element][first + at] = u64::from_le_bytes(long);
        }
    }
}

#[inline]
fn write<const W: usize, const N: usize, const S: usize>(
    bytes: &mut [u8],
    first: usize,
    values: &Values<W, N>,
) {
    let (elements, _) = bytes.as_chunks_mut::<S>();
    let (lanes, _) = elements.as_chunks_mut::<N>();
    for (at, lane) in lanes.iter_mut().enumerate() {
        for element in 0..N {
            let long = values[element][first + at].to_le_bytes();
            lane[element] = *long.first_chunk().expect("an element has at most eight bytes");
        }
    }
}
