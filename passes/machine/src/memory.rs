//! Memory that outlives a launch: global buffers and the module's own variables, each an allocation of its own.
//!
//! The upper half of an address is the number of an allocation, the lower half the offset in it. So between any two
//! allocations lie gigabytes of nothing, and an access that leaves one is found, on either side. The first
//! few numbers are windows: the addresses that shared, local and parameter memory have as generic addresses.

use super::races::Epochs;
use super::shadow::Shadow;

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
pub struct Buffer(pub(super) usize);

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

    /// The sizes of all allocations.
    pub(super) fn sizes(&self) -> impl Iterator<Item = usize> {
        self.allocations.iter().map(Vec::len)
    }

    /// The number of the allocation that an address lies in or near, and the offset from its beginning, which is
    /// negative before it.
    pub(super) fn near(&self, address: u64) -> Option<(usize, i64)> {
        let gap = 1_u64 << self.shift;
        let offset = address & (gap - 1);
        let number = (address >> self.shift).checked_sub(FIRST - 1)?;
        let number = usize::try_from(number).ok()?;
        let behind =
            number.checked_sub(1).and_then(|number| Some((number, self.allocations.get(number)?.len())));
        let after = behind.map(|(number, length)| (number, offset, offset.saturating_sub(length as u64)));
        let before = (number < self.allocations.len()).then_some((number, gap - offset));
        match (after, before) {
            (Some((number, offset, far)), Some((_, near))) if far <= near => {
                Some((number, offset.cast_signed()))
            }
            (Some((number, offset, _)), None) => Some((number, offset.cast_signed())),
            (_, Some((number, near))) if near < gap / 2 => Some((number, -near.cast_signed())),
            (_, _) => None,
        }
    }

    /// The number of the allocation that an address lies in, and the offset in it.
    #[inline]
    pub(super) fn locate(&self, address: u64) -> (usize, usize) {
        let number = (address >> self.shift).wrapping_sub(FIRST);
        (number as usize, (address & ((1 << self.shift) - 1)) as usize)
    }

    /// Whether there are `size` bytes at `address`, and it is aligned to their size.
    #[inline]
    pub(super) fn check(&self, address: u64, size: u32) -> Result<(), Refusal> {
        self.range(address, size as usize, 1).ok_or(Refusal::OutOfBounds)?;
        if address & u64::from(size - 1) == 0 { Ok(()) } else { Err(Refusal::Misaligned) }
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

/// Shared memory of a block: bytes, which of them are defined, and which threads accessed them last.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) bytes: Vec<u8>,
    defined: Vec<bool>,
    pub(super) shadow: Shadow,
    pub(super) epochs: Epochs,
}

impl Shared {
    pub(super) fn new(size: usize) -> Self {
        let (bytes, defined, shadow) = (vec![0; size], vec![false; size], Shadow::new(size));
        Self { bytes, defined, shadow, epochs: Epochs::default() }
    }

    /// Stores bytes, which are defined from now on.
    pub(super) fn write(&mut self, at: usize, bytes: &[u8]) {
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
        self.defined[at..at + bytes.len()].fill(true);
    }

    pub(super) fn defined(&self, at: usize, size: u32) -> bool {
        self.defined[at..at + size as usize].iter().all(|&defined| defined)
    }
}
