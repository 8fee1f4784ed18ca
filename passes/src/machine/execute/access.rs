//! Loads, stores and atomic operations.

use super::control::lanes;
use super::{Context, Stop, fault, together};
use crate::machine::code::{Access, AtomicOp, Base, Class, Inst, Slot, Space};
use crate::machine::memory::{Refusal, Toucher, Touching};
use crate::machine::outcome::FaultKind;
use crate::machine::warp::{Warp, each};

/// The addresses of all lanes.
fn addresses<const W: usize>(
    warp: &Warp<W>,
    i: &Inst,
    (base, offset): (Base, i64),
    mask: u32,
) -> Result<[u64; W], Stop> {
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
        return Err(fault(FaultKind::Undefined("the address"), warp, i, mask & !defined));
    }
    Ok(each(|lane| bases[lane].wrapping_add_signed(offset)))
}

pub(super) fn run<const W: usize>(
    cx: &mut Context<'_>,
    warp: &mut Warp<W>,
    i: &Inst,
    mask: u32,
) -> Result<(), Stop> {
    let code = cx.code;
    let access = &code.accesses[i.x as usize];
    let addresses = addresses(warp, i, (access.base, access.offset), mask)?;
    match (access.stores, access.elements.len()) {
        (false, 1) => load::<W, 1>(cx, warp, i, access, &addresses, mask),
        (false, 2) => load::<W, 2>(cx, warp, i, access, &addresses, mask),
        (false, 4) => load::<W, 4>(cx, warp, i, access, &addresses, mask),
        (false, _) => load::<W, 8>(cx, warp, i, access, &addresses, mask),
        (true, 1) => store::<W, 1>(cx, warp, i, access, &addresses, mask),
        (true, 2) => store::<W, 2>(cx, warp, i, access, &addresses, mask),
        (true, 4) => store::<W, 4>(cx, warp, i, access, &addresses, mask),
        (true, _) => store::<W, 8>(cx, warp, i, access, &addresses, mask),
    }
}

fn load<const W: usize, const N: usize>(
    cx: &mut Context<'_>,
    warp: &mut Warp<W>,
    i: &Inst,
    access: &Access,
    addresses: &[u64; W],
    mask: u32,
) -> Result<(), Stop> {
    let mut values = [[0_u64; W]; N];
    let mut defined = [u32::MAX; N];
    let size = access.size;
    let whole = size * N as u32;
    let done = together::load(cx, access, addresses, mask, &mut values);
    for lane in lanes(if done { 0 } else { mask }) {
        let (bytes, known) = bytes_at(cx, warp, i, (access.space, addresses[lane], whole), lane)?;
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
        _eight => {
            let mut long = [0; 8];
            long.copy_from_slice(&bytes[..8]);
            u64::from_le_bytes(long)
        }
    }
}

type Bytes<'a> = (&'a [u8], Option<&'a [bool]>);

/// The bytes that a lane reads; for memory that may be undefined, which of them are not.
#[inline]
fn bytes_at<'a, const W: usize>(
    cx: &'a mut Context<'_>,
    warp: &'a Warp<W>,
    i: &Inst,
    (space, address, size): (Space, u64, u32),
    lane: usize,
) -> Result<Bytes<'a>, Stop> {
    let refused = |refusal| refuse(refusal, address, size, warp, i, lane);
    let (space, offset) = place(cx, space, address);
    match space {
        Space::Global | Space::Constant | Space::Generic => match cx.memory.at(address, size) {
            Ok(bytes) => Ok((bytes, None)),
            Err(refusal) => Err(refused(refusal)),
        },
        Space::Shared => {
            let at = cx.shared.check(offset, size).map_err(refused)?;
            let thread = warp.number * 32 + lane as u32;
            let who = Toucher { thread, warp_epoch: warp.epoch };
            if let Some(other) = cx.shared.touch(at, size, who, Touching::Read, &[]) {
                return Err(race(cx, offset, other, warp, i, lane));
            }
            let known = (!cx.shared.defined(at, size)).then_some(&UNKNOWN[..size as usize]);
            Ok((&cx.shared.bytes[at..at + size as usize], known))
        }
        Space::Local => {
            let at = check(offset, size, warp.local[lane].len()).map_err(refused)?;
            let range = at..at + size as usize;
            Ok((&warp.local[lane][range.clone()], Some(&warp.local_defined[lane][range])))
        }
        Space::Parameter => {
            let at = check(offset, size, cx.parameters.len()).map_err(refused)?;
            Ok((&cx.parameters[at..at + size as usize], None))
        }
    }
}

/// Where bytes are undefined in shared memory, all of an access counts as undefined.
const UNKNOWN: [bool; 64] = [false; 64];

/// The space and the offset in it that an address means.
#[inline]
pub(super) fn place(cx: &Context<'_>, space: Space, address: u64) -> (Space, u64) {
    space.resolve(address, cx.memory.shift)
}

fn check(offset: u64, size: u32, length: usize) -> Result<usize, Refusal> {
    let end = offset.checked_add(u64::from(size)).filter(|&end| end <= length as u64);
    end.ok_or(Refusal::OutOfBounds)?;
    if offset & u64::from(size - 1) == 0 { Ok(offset as usize) } else { Err(Refusal::Misaligned) }
}

#[cold]
fn refuse<const W: usize>(
    refusal: Refusal,
    address: u64,
    size: u32,
    warp: &Warp<W>,
    i: &Inst,
    lane: usize,
) -> Stop {
    let kind = match refusal {
        Refusal::OutOfBounds => FaultKind::OutOfBounds(address, size),
        Refusal::Misaligned => FaultKind::Misaligned(address, size),
    };
    fault(kind, warp, i, 1 << lane)
}

#[cold]
fn race<const W: usize>(
    cx: &Context<'_>,
    at: u64,
    other: u32,
    warp: &Warp<W>,
    i: &Inst,
    lane: usize,
) -> Stop {
    fault(FaultKind::Race(at, crate::machine::special::thread(cx.block, other)), warp, i, 1 << lane)
}

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
    if mask & !defined == 0 && together::store(cx, access, addresses, mask, &values) {
        return Ok(());
    }
    let size = access.size as usize;
    let whole = access.size * N as u32;
    for lane in lanes(mask) {
        let mut bytes = [0; 64];
        for (element, value) in values.iter().enumerate() {
            bytes[element * size..][..8].copy_from_slice(&value[lane].to_le_bytes());
        }
        let bytes = &bytes[..whole as usize];
        let known = defined >> lane & 1 == 1;
        write_bytes(cx, warp, i, (access.space, addresses[lane]), bytes, known, lane)?;
    }
    Ok(())
}

#[inline]
fn write_bytes<const W: usize>(
    cx: &mut Context<'_>,
    warp: &mut Warp<W>,
    i: &Inst,
    (space, address): (Space, u64),
    bytes: &[u8],
    known: bool,
    lane: usize,
) -> Result<(), Stop> {
    let size = bytes.len() as u32;
    let (space, offset) = place(cx, space, address);
    if !known && space != Space::Local {
        return Err(fault(FaultKind::Undefined("the stored value"), warp, i, 1 << lane));
    }
    match space {
        Space::Global | Space::Constant | Space::Generic => match cx.memory.at(address, size) {
            Ok(target) => target.copy_from_slice(bytes),
            Err(refusal) => return Err(refuse(refusal, address, size, warp, i, lane)),
        },
        Space::Shared => {
            let at = cx.shared.check(offset, size);
            let at = at.map_err(|refusal| refuse(refusal, address, size, warp, i, lane))?;
            let who = Toucher { thread: warp.number * 32 + lane as u32, warp_epoch: warp.epoch };
            if let Some(other) = cx.shared.touch(at, size, who, Touching::Write, bytes) {
                return Err(race(cx, offset, other, warp, i, lane));
            }
            cx.shared.bytes[at..at + bytes.len()].copy_from_slice(bytes);
        }
        Space::Local => {
            let at = check(offset, size, warp.local[lane].len());
            let at = at.map_err(|refusal| refuse(refusal, address, size, warp, i, lane))?;
            warp.local[lane][at..at + bytes.len()].copy_from_slice(bytes);
            warp.local_defined[lane][at..at + bytes.len()].fill(known);
        }
        Space::Parameter => return Err(refuse(Refusal::OutOfBounds, address, size, warp, i, lane)),
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
    let addresses = addresses(warp, i, (atomic.base, atomic.offset), mask)?;
    if atomic.d.is_some() && mask.count_ones() + cx.block.iter().product::<u32>() > 2 {
        cx.inexact.insert("the order in which threads reach an atomic operation whose old value is used");
    }
    if matches!(atomic.op, AtomicOp::AddF32 | AtomicOp::AddF64) {
        cx.inexact.insert("the order in which threads reach a floating-point atomic operation");
    }
    for lane in lanes(mask) {
        let operand = |slot: Slot| {
            let (value, defined) = warp.read(slot, lane);
            if defined { Ok(value) } else { Err(()) }
        };
        let operands = operand(atomic.b).and_then(|b| Ok((b, atomic.c.map_or(Ok(0), operand)?)));
        let Ok((b, c)) = operands else {
            return Err(fault(FaultKind::Undefined("the operand"), warp, i, 1 << lane));
        };
        let size = atomic.size;
        let (space, offset) = place(cx, atomic.space, addresses[lane]);
        let target = match space {
            Space::Shared => match cx.shared.check(offset, size) {
                Ok(at) => {
                    if !cx.shared.defined(at, size) {
                        return Err(fault(FaultKind::Undefined("the value in memory"), warp, i, 1 << lane));
                    }
                    let who = Toucher { thread: warp.number * 32 + lane as u32, warp_epoch: warp.epoch };
                    if let Some(other) = cx.shared.touch(at, size, who, Touching::Atomic, &[]) {
                        return Err(race(cx, offset, other, warp, i, lane));
                    }
                    Ok(&mut cx.shared.bytes[at..at + size as usize])
                }
                Err(refusal) => Err(refusal),
            },
            Space::Global | Space::Constant | Space::Generic => cx.memory.at(addresses[lane], size),
            Space::Local => check(offset, size, warp.local[lane].len())
                .map(|at| &mut warp.local[lane][at..at + size as usize]),
            Space::Parameter => Err(Refusal::OutOfBounds),
        };
        let target = match target {
            Ok(target) => target,
            Err(refusal) => return Err(refuse(refusal, addresses[lane], size, warp, i, lane)),
        };
        let mut old = [0; 16];
        old[..size as usize].copy_from_slice(target);
        let old = u128::from_le_bytes(old);
        let new = update(atomic.op, size * 8, old, b, c);
        target.copy_from_slice(&new.to_le_bytes()[..size as usize]);
        if let Some(d) = atomic.d {
            warp.write(d, lane, old, true);
        }
    }
    Ok(())
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
            u128::from(crate::machine::arithmetic::canonical32(sum))
        }
        AtomicOp::AddF64 => {
            let sum = f64::from_bits(old as u64) + f64::from_bits(b as u64);
            u128::from(crate::machine::arithmetic::canonical64(sum))
        }
    }
}
