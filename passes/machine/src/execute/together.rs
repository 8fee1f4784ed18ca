//! Loads and stores of all lanes at once, where their addresses follow each other or are the same.
//!
//! That is how most kernels access memory. Only what cannot fail is done here: if any byte is out of bounds,
//! misaligned or of memory that needs more care, nothing has happened and the lanes are to go one by one, so that a
//! fault names the first lane that meets it.

use super::access::{place, report};
use super::{Context, Stop};
use crate::code::{Access, Consistency, Inst, Space};
use crate::races::{How, Strength};
use crate::shadow::{Change, Run};
use crate::warp::Warp;

/// The values that lanes load or store, an array for each element.
pub(super) type Values<const W: usize, const N: usize> = [[u64; W]; N];

/// The lanes of a mask, if they are neighbours: the first, and how many.
#[inline]
fn neighbours(mask: u32) -> Option<(usize, usize)> {
    let (first, count) = (mask.trailing_zeros(), mask.count_ones());
    if count == 0 {
        return None;
    }
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

/// Whether races are looked for, and the access demands a memory order, which is only checked lane by lane.
#[inline]
fn is_special(cx: &Context<'_>, access: &Access) -> bool {
    access.consistency != Consistency::Weak && cx.global.is_some()
}

/// Loads for all lanes; whether it was done.
#[inline]
pub(super) fn load<const W: usize, const N: usize>(
    cx: &mut Context<'_>,
    (warp, i): (&mut Warp<W>, &Inst),
    access: &Access,
    addresses: &[u64; W],
    mask: u32,
    values: &mut Values<W, N>,
) -> Result<bool, Stop> {
    let Some((first, count)) = neighbours(mask).filter(|_| !is_special(cx, access)) else { return Ok(false) };
    let (space, at) = place(cx, access.space, addresses[first]);
    let each = access.size as usize * N;
    let same = follow(addresses, mask, 0);
    if !same && !follow(addresses, mask, each as u64) {
        return Ok(false);
    }
    let length = if same { each } else { each * count };
    let bytes = match space {
        Space::Global | Space::Constant => cx.memory.range(addresses[first], length, each as u64),
        Space::Parameter if at % each as u64 == 0 => {
            usize::try_from(at).ok().and_then(|at| cx.parameters.get(at..)?.get(..length))
        }
        Space::Parameter | Space::Generic | Space::Shared | Space::Local => None,
    };
    let Some(bytes) = bytes else { return Ok(false) };
    if same && count > 1 {
        let mut one = [[0; 1]; N];
        read(bytes, access.size, 0, &mut one);
        for (value, one) in values.iter_mut().zip(one) {
            *value = [one[0]; W];
        }
    } else {
        read(bytes, access.size, first, values);
    }
    if space == Space::Global && cx.global.is_some() {
        let lanes = if same { mask } else { 0 };
        note_load(cx, (warp, i), addresses[first], (length, each, first), lanes)?;
    }
    Ok(true)
}

/// Notes loads of lanes in a row, or of the same bytes on the lanes of `all`, where races are looked for.
#[inline]
fn note_load<const W: usize>(
    cx: &mut Context<'_>,
    (warp, i): (&mut Warp<W>, &Inst),
    address: u64,
    (length, each, first): (usize, usize, usize),
    all: u32,
) -> Result<(), Stop> {
    let moment = cx.now(warp);
    let (number, start) = cx.memory.locate(address);
    let run = Run { start, length, each, first };
    let several = all.count_ones() > 1;
    if !several && cx.global.as_ref().is_some_and(|global| global[number].is_known(run, moment, false)) {
        return Ok(());
    }
    let who = cx.who(warp);
    let Some(shadow) = cx.global.as_mut().and_then(|global| global.get_mut(number)) else { return Ok(()) };
    let found = if several {
        let how = How { writes: false, strength: Strength::Weak };
        shadow.touch(cx.races, start..start + length, &who.lanes(all), how, None)
    } else {
        shadow.row(cx.races, run, &who, None)
    };
    report(cx, (warp, i), &found, (Space::Global, address))
}

/// Notes stores of lanes in a row, where races are looked for.
#[inline]
fn note_store<const W: usize, const N: usize>(
    cx: &mut Context<'_>,
    (warp, i): (&mut Warp<W>, &Inst),
    address: u64,
    (length, size, first): (usize, usize, usize),
    values: &Values<W, N>,
) -> Result<(), Stop> {
    let moment = cx.now(warp);
    let (number, start) = cx.memory.locate(address);
    let run = Run { start, length, each: size * N, first };
    if cx.global.as_ref().is_some_and(|global| global[number].is_known(run, moment, true)) {
        return Ok(());
    }
    let who = cx.who(warp);
    let Some(shadow) = cx.global.as_mut().and_then(|global| global.get_mut(number)) else { return Ok(()) };
    let mut new = vec![0; length];
    write_any(&mut new, size, first, values);
    let change = cx.memory.range(address, length, 1).map(|old| Change { old, new: &new });
    let found = shadow.row(cx.races, run, &who, change);
    report(cx, (warp, i), &found, (Space::Global, address))
}

/// Stores for all lanes; whether it was done.
#[inline]
pub(super) fn store<const W: usize, const N: usize>(
    cx: &mut Context<'_>,
    (warp, i): (&mut Warp<W>, &Inst),
    access: &Access,
    addresses: &[u64; W],
    mask: u32,
    values: &Values<W, N>,
) -> Result<bool, Stop> {
    let Some((first, count)) = neighbours(mask).filter(|_| !is_special(cx, access)) else { return Ok(false) };
    let (space, _) = place(cx, access.space, addresses[first]);
    let each = access.size as usize * N;
    if !matches!(space, Space::Global | Space::Constant) || !follow(addresses, mask, each as u64) {
        return Ok(false);
    }
    let (address, length) = (addresses[first], each * count);
    if cx.memory.range(address, length, each as u64).is_none() {
        return Ok(false);
    }
    if space == Space::Global && cx.global.is_some() {
        note_store(cx, (warp, i), address, (length, access.size as usize, first), values)?;
    }
    if let Some(bytes) = cx.memory.range_mut(address, length, each as u64) {
        write_any(bytes, access.size as usize, first, values);
    }
    Ok(true)
}

#[inline]
fn write_any<const W: usize, const N: usize>(
    bytes: &mut [u8],
    size: usize,
    first: usize,
    values: &Values<W, N>,
) {
    match size {
        1 => write::<W, N, 1>(bytes, first, values),
        2 => write::<W, N, 2>(bytes, first, values),
        4 => write::<W, N, 4>(bytes, first, values),
        _ => write::<W, N, 8>(bytes, first, values),
    }
}

#[inline]
fn read<const W: usize, const N: usize>(bytes: &[u8], size: u32, first: usize, values: &mut Values<W, N>) {
    match size {
        1 => read_sized::<W, N, 1>(bytes, first, values),
        2 => read_sized::<W, N, 2>(bytes, first, values),
        4 => read_sized::<W, N, 4>(bytes, first, values),
        _ => read_sized::<W, N, 8>(bytes, first, values),
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
