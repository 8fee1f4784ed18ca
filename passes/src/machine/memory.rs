//! Memory that outlives a launch: global buffers and the module's own variables, each an allocation of its own.
//!
//! The upper half of an address is the number of an allocation, the lower half the offset in it. So between any two
//! allocations lie gigabytes of nothing, and an access that leaves one is found whichever way it leaves. The first
//! few numbers are windows: the addresses that shared, local and parameter memory have as generic addresses.

/// The window of shared memory.
pub(super) const SHARED_WINDOW: u64 = 1;
/// The window of local memory.
pub(super) const LOCAL_WINDOW: u64 = 2;
/// The window of an entry's parameters.
pub(super) const PARAMETER_WINDOW: u64 = 3;
/// The first allocation.
const FIRST: u64 = 4;

/// Buffers in global memory, and the global and constant variables of a module.
#[derive(Clone, Debug)]
pub struct Memory {
    allocations: Vec<Vec<u8>>,
    /// How far the number of an allocation is shifted: 32 with 64-bit addresses, 24 with 32-bit ones.
    pub(super) shift: u32,
}

/// An allocation of a [`Memory`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Buffer(usize);

/// Why an access is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Refusal {
    OutOfBounds,
    Misaligned,
}

impl Memory {
    pub(super) fn new(shift: u32) -> Self {
        Self { allocations: Vec::new(), shift }
    }

    /// Adds a buffer that holds `bytes`.
    ///
    /// # Panics
    ///
    /// If it is larger than a gap between addresses: 4 GiB, or 16 MiB with 32-bit addresses.
    pub fn allocate(&mut self, bytes: Vec<u8>) -> Buffer {
        assert!(bytes.len() < 1 << self.shift, "a buffer fits between two addresses of buffers");
        self.allocations.push(bytes);
        Buffer(self.allocations.len() - 1)
    }

    /// The address of the first byte of `buffer`.
    #[must_use]
    pub fn address(&self, buffer: Buffer) -> u64 {
        (buffer.0 as u64 + FIRST) << self.shift
    }

    /// What `buffer` holds.
    #[must_use]
    pub fn bytes(&self, buffer: Buffer) -> &[u8] {
        &self.allocations[buffer.0]
    }

    /// What `buffer` holds, to be changed between launches.
    pub fn bytes_mut(&mut self, buffer: Buffer) -> &mut [u8] {
        &mut self.allocations[buffer.0]
    }

    /// The `size` bytes at `address`, aligned to their size.
    #[inline]
    pub(super) fn at(&mut self, address: u64, size: u32) -> Result<&mut [u8], Refusal> {
        let number = (address >> self.shift).wrapping_sub(FIRST);
        let offset = address & ((1 << self.shift) - 1);
        let allocation = usize::try_from(number).ok().and_then(|n| self.allocations.get_mut(n));
        let bytes = allocation.and_then(|a| a.get_mut(offset as usize..offset as usize + size as usize));
        let bytes = bytes.ok_or(Refusal::OutOfBounds)?;
        if offset & u64::from(size - 1) == 0 { Ok(bytes) } else { Err(Refusal::Misaligned) }
    }

    /// Where in an allocation some bytes lie, the first aligned to `align`.
    #[inline]
    fn find(&self, address: u64, size: usize, align: u64) -> Option<(usize, std::ops::Range<usize>)> {
        let number = usize::try_from((address >> self.shift).wrapping_sub(FIRST)).ok()?;
        let offset = address & ((1 << self.shift) - 1);
        let start = usize::try_from(offset).ok()?;
        (offset & (align - 1) == 0).then_some((number, start..start.checked_add(size)?))
    }

    /// `size` bytes from `address` on, which is aligned to `align`, a power of two; `None` if not all are there.
    #[inline]
    pub(super) fn range(&self, address: u64, size: usize, align: u64) -> Option<&[u8]> {
        let (number, range) = self.find(address, size, align)?;
        self.allocations.get(number)?.get(range)
    }

    /// The same, to be written.
    #[inline]
    pub(super) fn range_mut(&mut self, address: u64, size: usize, align: u64) -> Option<&mut [u8]> {
        let (number, range) = self.find(address, size, align)?;
        self.allocations.get_mut(number)?.get_mut(range)
    }
}

/// Shared memory of a block: bytes, which of them are defined, and who touched them last.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) bytes: Vec<u8>,
    traces: Vec<Trace>,
    /// Grows at every barrier of the block.
    pub(super) epoch: u32,
    /// Whether races can still be told: after a fence, threads may order their accesses themselves.
    pub(super) watches: bool,
}

/// Who touched a byte of shared memory.
#[derive(Clone, Copy, Debug, Default)]
struct Trace {
    defined: bool,
    /// Thread plus one, 0 for none; with the epochs of block and warp in which it was.
    writer: Touch,
    reader: Touch,
    /// Whether more than one thread read it in the epoch of `reader`.
    several: bool,
    /// Whether the last write was atomic.
    atomic: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Touch {
    thread: u32,
    block_epoch: u32,
    warp_epoch: u32,
}

/// How shared memory is touched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Touching {
    Read,
    Write,
    Atomic,
}

/// Who touches shared memory: a thread of the block, in an epoch of its warp.
#[derive(Clone, Copy, Debug)]
pub(super) struct Toucher {
    pub(super) thread: u32,
    pub(super) warp_epoch: u32,
}

impl Shared {
    pub(super) fn new(size: usize) -> Self {
        Self { bytes: vec![0; size], traces: vec![Trace::default(); size], epoch: 0, watches: true }
    }

    /// Checks that `offset` and `size` name aligned bytes.
    pub(super) fn check(&self, offset: u64, size: u32) -> Result<usize, Refusal> {
        let end = offset.checked_add(u64::from(size)).filter(|&end| end <= self.bytes.len() as u64);
        end.ok_or(Refusal::OutOfBounds)?;
        if offset & u64::from(size - 1) == 0 { Ok(offset as usize) } else { Err(Refusal::Misaligned) }
    }

    /// Notes an access; the thread that it races with, if any. `new` is what a write writes.
    pub(super) fn touch(
        &mut self,
        at: usize,
        size: u32,
        who: Toucher,
        how: Touching,
        new: &[u8],
    ) -> Option<u32> {
        let touch = Touch { thread: who.thread + 1, block_epoch: self.epoch, warp_epoch: who.warp_epoch };
        let mut race = None;
        for (index, trace) in self.traces[at..at + size as usize].iter_mut().enumerate() {
            let concurrent = |other: Touch| {
                let same_warp = other.thread.wrapping_sub(1) / 32 == who.thread / 32;
                other.thread != 0
                    && other.thread != touch.thread
                    && other.block_epoch == touch.block_epoch
                    && !(same_warp && other.warp_epoch != touch.warp_epoch)
            };
            // Two threads that write the same value leave it there, whoever is last.
            let same_value = how == Touching::Write && new.get(index) == Some(&self.bytes[at + index]);
            let both_atomic = how == Touching::Atomic && trace.atomic;
            if concurrent(trace.writer) && !same_value && !both_atomic {
                race = Some(trace.writer.thread - 1);
            }
            let read_since = trace.several
                && trace.reader.block_epoch == touch.block_epoch
                && trace.reader.warp_epoch == touch.warp_epoch;
            if how != Touching::Read && !same_value && (concurrent(trace.reader) || read_since) {
                race = Some(trace.reader.thread - 1);
            }
            match how {
                Touching::Read => {
                    trace.several = concurrent(trace.reader) || read_since;
                    trace.reader = touch;
                }
                Touching::Write | Touching::Atomic => {
                    trace.writer = touch;
                    trace.atomic = how == Touching::Atomic;
                    trace.defined = true;
                }
            }
        }
        race.filter(|_| self.watches)
    }

    pub(super) fn defined(&self, at: usize, size: u32) -> bool {
        self.traces[at..at + size as usize].iter().all(|trace| trace.defined)
    }
}
