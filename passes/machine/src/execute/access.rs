//! Loads, stores and atomic operations.
//!
//! Bounds, alignment and whether operands are defined are checked before memory changes, and an access that fails
//! changes nothing. A race is noted, and the access is made.

use super::control::lanes;
use super::{Context, Stop, together};
use crate::code::{Access, Atomic, AtomicOp, Base, Class, Consistency, Inst, Slot, Space};
use crate::faults::Wrong;
use crate::memory::Refusal;
use crate::outcome::FaultKind;
use crate::races::{How, Strength, Who};
use crate::shadow::{Change, Found};
use crate::warp::{Warp, each};
use std::ops::Range;

/// The addresses of all lanes, and the lanes of `mask` that have one.
fn addresses<const W: usize>(
    cx: &mut Context<'_>,
    warp: &Warp<W>,
    i: &Inst,
    (base, offset): (Base, i64),
    mask: u32,
) -> Result<([u64; W], u32), Stop> {
    let (bases, defined) = match base {
        Base::Absolute => ([0; W], u32::MAX),
        Base::Frame => ([warp.frame.local as u64; W], u32::MAX),
        Base::Word(slot) => {
            let (words, defined) = warp.word(slot);
            (each(|lane| u64::from(words[lane])), defined)
        }
        Base::Long(slot) => warp.long(slot),
    };
    if mask & !defined != 0 {
        cx.faults.note(FaultKind::Undefined("the address"), warp, i, mask & !defined)?;
    }
    Ok((each(|lane| bases[lane].wrapping_add_signed(offset)), mask & defined))
}

pub(super) fn run<const W: usize>(
    cx: &mut Context<'_>,
    warp: &mut Warp<W>,
    i: &Inst,
    mask: u32,
) -> Result<(), Stop> {
    let code = cx.code;
    let access = &code.accesses[i.x as usize];
    let (addresses, valid) = addresses(cx, warp, i, (access.base, access.offset), mask)?;
    if access.consistency == Consistency::Ordering {
        cx.races.fence(&mut warp.clock);
    }
    match (access.stores, access.elements.len()) {
        (false, 1) => load::<W, 1>(cx, warp, i, access, &addresses, (mask, valid)),
        (false, 2) => load::<W, 2>(cx, warp, i, access, &addresses, (mask, valid)),
        (false, 4) => load::<W, 4>(cx, warp, i, access, &addresses, (mask, valid)),
        (false, _) => load::<W, 8>(cx, warp, i, access, &addresses, (mask, valid)),
        (true, 1) => store::<W, 1>(cx, warp, i, access, &addresses, valid),
        (true, 2) => store::<W, 2>(cx, warp, i, access, &addresses, valid),
        (true, 4) => store::<W, 4>(cx, warp, i, access, &addresses, valid),
        (true, _) => store::<W, 8>(cx, warp, i, access, &addresses, valid),
    }
}

/// How a load or a store accesses memory, for the search for races.
pub(super) fn how(access: &Access) -> How {
    let strength = match access.consistency {
        Consistency::Weak => Strength::Weak,
        Consistency::Relaxed | Consistency::Ordering => Strength::Strong,
    };
    How { writes: access.stores, strength }
}

/// Loads on the lanes of `mask`; those that are not `valid` or may not load get 0.
fn load<const W: usize, const N: usize>(
    cx: &mut Context<'_>,
    warp: &mut Warp<W>,
    i: &Inst,
    access: &Access,
    addresses: &[u64; W],
    (mask, valid): (u32, u32),
) -> Result<(), Stop> {
    let mut values = [[0_u64; W]; N];
    let mut defined = [u32::MAX; N];
    let size = access.size;
    let whole = size * N as u32;
    let done = together::load(cx, (warp, i), access, addresses, valid, &mut values)?;
    let rest = if done { 0 } else { valid };
    let who = (rest != 0).then(|| cx.who(warp));
    for (lane, who) in lanes(rest).filter_map(|lane| Some((lane, who?.on(lane)))) {
        let from = (access.space, addresses[lane], whole);
        let Some((bytes, known)) = bytes_at(cx, (warp, i), from, how(access), who)? else {
            continue;
        };
        for (element, value) in values.iter_mut().enumerate() {
            value[lane] = number(&bytes[element * size as usize..], size);
        }
        if let Some(known) = known {
            for (element, defined) in defined.iter_mut().enumerate() {
                let part = &known[element * size as usize..][..size as usize];
                if part.iter().any(|&known| !known) {
                    *defined &= !(1 << lane);
                }
            }
        }
    }
    for (element, slot) in access.elements.iter().enumerate() {
        let Some(slot) = slot else { continue };
        if access.signed {
            let shift = 64 - 8 * size;
            values[element].iter_mut().for_each(|value| *value = ((*value << shift) as i64 >> shift) as u64);
        }
        let kept = if slot.bits >= 32 { u32::MAX } else { (1 << slot.bits) - 1 };
        if slot.class == Class::Word {
            let words = each(|lane| values[element][lane] as u32 & kept);
            warp.set_word(slot.index, mask, &words, defined[element]);
        } else {
            warp.set_long(slot.index, mask, &values[element], defined[element]);
        }
    }
    Ok(())
}

#[inline]
fn number(bytes: &[u8], size: u32) -> u64 {
    match size {
        1 => u64::from(bytes[0]),
        2 => u64::from(u16::from_le_bytes([bytes[0], bytes[1]])),
        4 => u64::from(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])),
        _ => {
            let mut long = [0; 8];
            long.copy_from_slice(&bytes[..8]);
            u64::from_le_bytes(long)
        }
    }
}

type Bytes<'a> = (&'a [u8], Option<&'a [bool]>);

/// The bytes that a lane reads; for memory that may be undefined, which of them are not. `None` if it may not.
#[inline]
fn bytes_at<'a, const W: usize>(
    cx: &'a mut Context<'_>,
    (warp, i): (&'a Warp<W>, &Inst),
    (space, address, size): (Space, u64, u32),
    how: How,
    who: Who,
) -> Result<Option<Bytes<'a>>, Stop> {
    let lane = who.lane as usize;
    let (space, offset) = place(cx, space, address);
    let at = match check(cx, warp, (space, offset), size, lane) {
        Ok(at) => at,
        Err(refusal) => {
            return refuse(cx, (warp, i), refusal, (address, size), (space, offset), lane).map(|()| None);
        }
    };
    let range = at..at + size as usize;
    touch(cx, (warp, i), (space, offset), range.clone(), (&who, how), None)?;
    Ok(match space {
        Space::Global | Space::Constant | Space::Generic => {
            cx.memory.range(address, size as usize, 1).map(|bytes| (bytes, None))
        }
        Space::Shared => {
            let known = (!cx.shared.defined(at, size)).then_some(&UNKNOWN[..size as usize]);
            Some((&cx.shared.bytes[range], known))
        }
        Space::Local => Some((&warp.local[lane][range.clone()], Some(&warp.local_defined[lane][range]))),
        Space::Parameter => Some((&cx.parameters[range], None)),
    })
}

/// Where in its space, or in its allocation, an access of a lane begins, if it may be.
#[inline]
fn check<const W: usize>(
    cx: &Context<'_>,
    warp: &Warp<W>,
    (space, offset): (Space, u64),
    size: u32,
    lane: usize,
) -> Result<usize, Refusal> {
    let length = match space {
        Space::Global | Space::Constant | Space::Generic => {
            return cx.memory.check(offset, size).map(|()| cx.memory.locate(offset).1);
        }
        Space::Shared => cx.shared.bytes.len(),
        Space::Local => warp.local[lane].len(),
        Space::Parameter => cx.parameters.len(),
    };
    let end = offset.checked_add(u64::from(size)).filter(|&end| end <= length as u64);
    end.ok_or(Refusal::OutOfBounds)?;
    if offset & u64::from(size - 1) == 0 { Ok(offset as usize) } else { Err(Refusal::Misaligned) }
}

/// Notes an access to bytes that are there, and the race that it is, if it is one.
#[inline]
fn touch<const W: usize>(
    cx: &mut Context<'_>,
    (warp, i): (&Warp<W>, &Inst),
    (space, address): (Space, u64),
    range: Range<usize>,
    (who, how): (&Who, How),
    new: Option<&[u8]>,
) -> Result<(), Stop> {
    let found = match (space, &mut cx.global) {
        (Space::Shared, _) => {
            let old = &cx.shared.bytes[range.clone()];
            let known = cx.shared.defined(range.start, range.len() as u32);
            let change = new.filter(|_| known).map(|new| Change { old, new });
            cx.shared.shadow.touch(cx.races, range, who, how, change)
        }
        (Space::Global | Space::Generic, Some(global)) => {
            let old = cx.memory.range(address, range.len(), 1);
            let change = new.zip(old).map(|(new, old)| Change { old, new });
            global[cx.memory.locate(address).0].touch(cx.races, range, who, how, change)
        }
        (_, _) => return Ok(()),
    };
    report(cx, (warp, i), &found, (space, address))
}

/// Notes what was found about an access at an address.
#[inline]
pub(super) fn report<const W: usize>(
    cx: &mut Context<'_>,
    (warp, i): (&Warp<W>, &Inst),
    found: &Found,
    (space, address): (Space, u64),
) -> Result<(), Stop> {
    if cx.races.full {
        return Ok(());
    }
    cx.inexact.extend(found.unsure);
    let Some((at, lane, rival)) = found.race else { return Ok(()) };
    let allocation = (space != Space::Shared).then(|| cx.memory.locate(address).0);
    cx.faults.note(Wrong::Race(space, allocation, at, rival), warp, i, 1 << lane)
}

/// Where bytes are undefined in shared memory, all of an access counts as undefined.
const UNKNOWN: [bool; 64] = [false; 64];

/// The space and the offset in it that an address means.
#[inline]
pub(super) fn place(cx: &Context<'_>, space: Space, address: u64) -> (Space, u64) {
    space.resolve(address, cx.memory.shift)
}

/// Notes that an access is refused.
#[cold]
fn refuse<const W: usize>(
    cx: &mut Context<'_>,
    (warp, i): (&Warp<W>, &Inst),
    refusal: Refusal,
    (address, size): (u64, u32),
    (space, offset): (Space, u64),
    lane: usize,
) -> Result<(), Stop> {
    let kind = match refusal {
        Refusal::OutOfBounds => FaultKind::OutOfBounds(address, size),
        Refusal::Misaligned => FaultKind::Misaligned(address, size),
    };
    cx.faults.note(Wrong::Access(kind, space, offset), warp, i, 1 << lane)
}

/// Stores on the lanes of `mask`; what may not be stored is dropped.
fn store<const W: usize, const N: usize>(
    cx: &mut Context<'_>,
    warp: &mut Warp<W>,
    i: &Inst,
    access: &Access,
    addresses: &[u64; W],
    mask: u32,
) -> Result<(), Stop> {
    let mut values = [[0_u64; W]; N];
    let mut defined = u32::MAX;
    for (value, slot) in values.iter_mut().zip(&access.elements) {
        let Some(slot) = slot else { continue };
        let known = if slot.class == Class::Word {
            let (words, known) = warp.word(slot.index);
            *value = each(|lane| u64::from(words[lane]));
            known
        } else {
            let (longs, known) = warp.long(slot.index);
            *value = longs;
            known
        };
        defined &= known;
    }
    if mask & !defined == 0 && together::store(cx, (warp, i), access, addresses, mask, &values)? {
        return Ok(());
    }
    let size = access.size as usize;
    let whole = access.size * N as u32;
    let who = cx.who(warp);
    for lane in lanes(mask) {
        let mut bytes = [0; 64];
        for (element, value) in values.iter().enumerate() {
            bytes[element * size..][..8].copy_from_slice(&value[lane].to_le_bytes());
        }
        let bytes = &bytes[..whole as usize];
        let known = defined >> lane & 1 == 1;
        write_bytes(
            cx,
            (warp, i),
            (access.space, addresses[lane]),
            (bytes, known),
            how(access),
            who.on(lane),
        )?;
    }
    Ok(())
}

#[inline]
fn write_bytes<const W: usize>(
    cx: &mut Context<'_>,
    (warp, i): (&mut Warp<W>, &Inst),
    (space, address): (Space, u64),
    (bytes, known): (&[u8], bool),
    how: How,
    who: Who,
) -> Result<(), Stop> {
    let (lane, size) = (who.lane as usize, bytes.len() as u32);
    let (space, offset) = place(cx, space, address);
    if !known && space != Space::Local {
        return cx.faults.note(FaultKind::Undefined("the stored value"), warp, i, 1 << lane);
    }
    let at = match check(cx, warp, (space, offset), size, lane) {
        Ok(_) if space == Space::Parameter => Err(Refusal::OutOfBounds),
        checked => checked,
    };
    let at = match at {
        Ok(at) => at,
        Err(refusal) => return refuse(cx, (warp, i), refusal, (address, size), (space, offset), lane),
    };
    let range = at..at + bytes.len();
    touch(cx, (warp, i), (space, offset), range.clone(), (&who, how), Some(bytes))?;
    match space {
        Space::Global | Space::Constant | Space::Generic => {
            if let Some(target) = cx.memory.range_mut(address, bytes.len(), 1) {
                target.copy_from_slice(bytes);
            }
        }
        Space::Shared => cx.shared.write(at, bytes),
        Space::Local => {
            warp.local[lane][range.clone()].copy_from_slice(bytes);
            warp.local_defined[lane][range].fill(known);
        }
        Space::Parameter => {}
    }
    Ok(())
}

pub(super) fn atomic<const W: usize>(
    cx: &mut Context<'_>,
    warp: &mut Warp<W>,
    i: &Inst,
    mask: u32,
) -> Result<(), Stop> {
    let code = cx.code;
    let atomic = &code.atomics[i.x as usize];
    let (addresses, valid) = addresses(cx, warp, i, (atomic.base, atomic.offset), mask)?;
    if atomic.orders {
        cx.races.fence(&mut warp.clock);
    }
    if atomic.d.is_some() && cx.threads() > 1 {
        cx.inexact.insert("the order in which threads reach an atomic operation whose old value is used");
    }
    if matches!(atomic.op, AtomicOp::AddF32 | AtomicOp::AddF64) && cx.threads() > 1 {
        cx.inexact.insert("the order in which threads reach a floating-point atomic operation");
    }
    let who = cx.who(warp);
    for lane in lanes(mask) {
        let old = if valid >> lane & 1 == 1 {
            atomic_on(cx, (warp, i), atomic, addresses[lane], who.on(lane))?
        } else {
            0
        };
        if let Some(d) = atomic.d {
            warp.write(d, lane, old, true);
        }
    }
    Ok(())
}

/// The atomic operation of a lane; what was there before, or 0 if it may not be done.
fn atomic_on<const W: usize>(
    cx: &mut Context<'_>,
    (warp, i): (&mut Warp<W>, &Inst),
    atomic: &Atomic,
    address: u64,
    who: Who,
) -> Result<u128, Stop> {
    let (lane, size) = (who.lane as usize, atomic.size);
    let operand =
        |slot: Slot| Some(warp.read(slot, lane)).filter(|&(_, defined)| defined).map(|(value, _)| value);
    let (b, c) = (operand(atomic.b), atomic.c.map_or(Some(0), operand));
    let (Some(b), Some(c)) = (b, c) else {
        cx.faults.note(FaultKind::Undefined("the operand"), warp, i, 1 << lane)?;
        return Ok(0);
    };
    let (space, offset) = place(cx, atomic.space, address);
    let at = match check(cx, warp, (space, offset), size, lane) {
        Ok(_) if space == Space::Parameter => Err(Refusal::OutOfBounds),
        checked => checked,
    };
    let at = match at {
        Ok(at) => at,
        Err(refusal) => {
            return refuse(cx, (warp, i), refusal, (address, size), (space, offset), lane).map(|()| 0);
        }
    };
    if space == Space::Shared && !cx.shared.defined(at, size) {
        cx.faults.note(FaultKind::Undefined("the value in memory"), warp, i, 1 << lane)?;
        return Ok(0);
    }
    let range = at..at + size as usize;
    let how = How { writes: true, strength: Strength::Atomic(atomic.op) };
    touch(cx, (warp, i), (space, offset), range.clone(), (&who, how), None)?;
    let target = match space {
        Space::Shared => Some(&mut cx.shared.bytes[range]),
        Space::Global | Space::Constant | Space::Generic => cx.memory.range_mut(address, size as usize, 1),
        Space::Local => Some(&mut warp.local[lane][range]),
        Space::Parameter => None,
    };
    let Some(target) = target else { return Ok(0) };
    let mut old = [0; 16];
    old[..size as usize].copy_from_slice(target);
    let old = u128::from_le_bytes(old);
    let new = update(atomic.op, size * 8, old, b, c);
    target.copy_from_slice(&new.to_le_bytes()[..size as usize]);
    Ok(old)
}

/// What an atomic operation leaves in memory.
fn update(op: AtomicOp, bits: u32, old: u128, b: u128, c: u128) -> u128 {
    let shift = 128 - bits;
    let b = b << shift >> shift;
    let signed = |x: u128| (x << shift) as i128 >> shift;
    match op {
        AtomicOp::Add => old.wrapping_add(b),
        AtomicOp::MinUnsigned => old.min(b),
        AtomicOp::MaxUnsigned => old.max(b),
        AtomicOp::MinSigned => {
            if signed(b) < signed(old) {
                b
            } else {
                old
            }
        }
        AtomicOp::MaxSigned => {
            if signed(b) > signed(old) {
                b
            } else {
                old
            }
        }
        AtomicOp::And => old & b,
        AtomicOp::Or => old | b,
        AtomicOp::Xor => old ^ b,
        AtomicOp::Exchange => b,
        AtomicOp::CompareAndSwap => {
            if old == b {
                c
            } else {
                old
            }
        }
        AtomicOp::Increment => {
            if old >= b {
                0
            } else {
                old + 1
            }
        }
        AtomicOp::Decrement => {
            if old == 0 || old > b {
                b
            } else {
                old - 1
            }
        }
        AtomicOp::AddF32 => {
            let sum = f32::from_bits(old as u32) + f32::from_bits(b as u32);
            u128::from(crate::arithmetic::canonical32(sum))
        }
        AtomicOp::AddF64 => {
            let sum = f64::from_bits(old as u64) + f64::from_bits(b as u64);
            u128::from(crate::arithmetic::canonical64(sum))
        }
    }
}
