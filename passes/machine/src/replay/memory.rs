//! The memory of a replay: bytes at every address, made up until they are written.
//!
//! Made-up bytes are a function of the lane, the space and the address, so both texts read the same before they
//! write.

use super::inputs::{Inputs, PARAMETERS, Source};
use crate::code::{Parameter, Space};
use hashbrown::HashMap;

/// Eight bytes that were written in part.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    value: u64,
    /// Which bytes were written.
    written: u8,
    /// Which of them with what is not the program's.
    undefined: u8,
}

/// The memory of all lanes, each for itself.
#[derive(Debug)]
pub(super) struct LaneMemory<'i> {
    inputs: &'i Inputs,
    parameters: &'i [Parameter],
    cells: HashMap<(usize, u8, u64), Cell>,
}

/// The number of a space; generic addresses and constant memory lie in global memory.
pub(super) fn number(space: Space) -> u8 {
    match space {
        Space::Generic | Space::Global | Space::Constant => 0,
        Space::Shared => 1,
        Space::Local => 2,
        Space::Parameter => PARAMETERS,
    }
}

impl<'i> LaneMemory<'i> {
    pub(super) fn new(inputs: &'i Inputs, parameters: &'i [Parameter]) -> Self {
        Self { inputs, parameters, cells: HashMap::new() }
    }

    /// What lies in a cell before anything is written.
    fn initial(&self, lane: usize, space: u8, word: u64) -> u64 {
        let begins = |parameter: &&Parameter| u64::from(parameter.offset) == word * 8;
        let parameter = if space == PARAMETERS { self.parameters.iter().find(begins) } else { None };
        match parameter {
            Some(parameter) => self.inputs.parameter(lane, word, parameter.size),
            None => self.inputs.number(lane, Source::Memory(space, word)),
        }
    }

    /// Up to eight bytes, and whether all of them are the program's.
    pub(super) fn read(&self, lane: usize, space: u8, address: u64, size: u32) -> (u64, bool) {
        let (mut value, mut defined) = (0, true);
        for (word, from, count, to) in parts(address, size) {
            let cell = self.cells.get(&(lane, space, word)).copied().unwrap_or_default();
            let mut bytes = cell.value;
            if cell.written != u8::MAX {
                let kept = spread(cell.written);
                bytes = bytes & kept | self.initial(lane, space, word) & !kept;
            }
            defined &= cell.undefined & bits(from, count) == 0;
            let taken = bytes >> (8 * from) & u64::MAX >> (64 - 8 * count);
            value |= taken << (8 * to);
        }
        (value, defined)
    }

    /// Writes up to eight bytes.
    pub(super) fn write(
        &mut self,
        lane: usize,
        space: u8,
        address: u64,
        size: u32,
        (value, defined): (u64, bool),
    ) {
        for (word, from, count, to) in parts(address, size) {
            let cell = self.cells.entry((lane, space, word)).or_default();
            let touched = bits(from, count);
            let kept = spread(touched);
            cell.value = cell.value & !kept | value >> (8 * to) << (8 * from) & kept;
            cell.written |= touched;
            cell.undefined = if defined { cell.undefined & !touched } else { cell.undefined | touched };
        }
    }
}

/// The cells that an access touches: the number of the cell, the first byte in it, how many, and where they lie in
/// the value.
fn parts(address: u64, size: u32) -> impl Iterator<Item = (u64, u32, u32, u32)> {
    let from = (address & 7) as u32;
    let first = size.min(8 - from);
    let word = address >> 3;
    let rest = (size > first).then(|| (word.wrapping_add(1), 0, size - first, first));
    std::iter::once((word, from, first, 0)).chain(rest)
}

/// `count` bits from bit `from` on.
fn bits(from: u32, count: u32) -> u8 {
    (((1_u32 << count) - 1) << from) as u8
}

/// Eight bits as the bytes of a mask.
fn spread(bits: u8) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|byte| 0_u8.wrapping_sub(bits >> byte & 1)))
}
