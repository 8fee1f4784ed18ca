//! What a replayed function is given: numbers that look like those that programs meet.
//!
//! Each lane is a run of its own with a seed of its own. Everything that comes from outside, memory included, is a
//! function of the seed and of where it comes from, so both texts are given the same whatever they ask for first.
//! Drawn are the edges of bytes, small numbers, and the constants of the original text with their neighbours: these
//! lead to the statements behind comparisons, and loops over small numbers end.

use crate::code::Function;
use crate::special;
use foldhash::quality::FixedState;
use std::hash::{BuildHasher, Hasher};

/// A hash that is the same in every run.
pub(crate) struct Mix(foldhash::quality::FoldHasher<'static>);

impl Mix {
    pub(crate) fn new() -> Self {
        Self(FixedState::with_seed(0x7074_786f_7074).build_hasher())
    }

    pub(crate) fn word(mut self, word: u64) -> Self {
        self.0.write_u64(word);
        self
    }

    pub(crate) fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.write(bytes);
        self.0.write_usize(bytes.len());
        self
    }

    pub(crate) fn finish(self) -> u64 {
        self.0.finish()
    }
}

/// Where something comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Source {
    /// Eight bytes of memory, by the number of the space and the address divided by eight.
    Memory(u8, u64),
    /// A register that was never written, or that the caller hands over, by class and slot.
    Register(u8, u32),
    /// A result that is made up: of a key, its operands and the number of the result.
    Result(u64, u32),
    Special(u32),
}

/// The edges of bytes.
const EDGES: [u8; 8] = [0x00, 0x01, 0x02, 0x7f, 0x80, 0x81, 0xfe, 0xff];
/// Floating-point numbers that are easily compared: 0, 1, -1, 0.5, 2, -0.
const FLOATS: [u32; 6] = [0, 0x3f80_0000, 0xbf80_0000, 0x3f00_0000, 0x4000_0000, 0x8000_0000];
/// The sizes of blocks that programs are launched with.
const BLOCKS: [u64; 6] = [1, 32, 64, 128, 256, 512];
/// How far the addresses that arguments are lie from each other.
const APART: u32 = 36;

/// Everything that comes from outside, for all lanes.
#[derive(Clone, Debug)]
pub(super) struct Inputs {
    seed: u64,
    /// The constants of the original text, and their neighbours.
    pool: Vec<u64>,
}

impl Inputs {
    /// Inputs for a function; another `pass` gives others.
    pub(super) fn new(function: &Function, pass: u64) -> Self {
        let words = function.word_constants.iter().map(|&(_, value)| u64::from(value));
        let longs = function.long_constants.iter().map(|&(_, value)| value);
        let mut pool: Vec<u64> = words
            .chain(longs)
            .flat_map(|value| [value, value.wrapping_add(1), value.wrapping_sub(1)])
            .collect();
        pool.sort_unstable();
        pool.dedup();
        Self { seed: pass, pool }
    }

    fn mix(&self, lane: usize, source: Source) -> u64 {
        let mix = Mix::new().word(self.seed).word(lane as u64);
        match source {
            Source::Memory(space, word) => mix.word(u64::from(space)).word(word),
            Source::Register(class, slot) => mix.word(0x100 | u64::from(class)).word(slot.into()),
            Source::Result(key, number) => mix.word(0x200).word(key).word(number.into()),
            Source::Special(number) => mix.word(0x300).word(number.into()),
        }
        .finish()
    }

    /// One of the constants of the original text, or a neighbour of one.
    fn known(&self, bits: u64) -> u64 {
        let at = bits.checked_rem(self.pool.len() as u64);
        at.map_or(0, |at| self.pool[at as usize])
    }

    /// Eight bytes from `source`, as the run of `lane` meets them.
    pub(super) fn number(&self, lane: usize, source: Source) -> u64 {
        let mixed = self.mix(lane, source);
        let (kind, rest) = (mixed & 15, mixed >> 4);
        // One run of four meets bytes of all kinds, one mostly small numbers, the others something of everything.
        match (lane & 3, kind) {
            (0, _) | (1 | 2, 0..=3) | (3, 0) => Mix::new().word(mixed).finish(),
            (1, 4..=11) | (2, 4 | 5) => {
                u64::from_le_bytes(std::array::from_fn(|byte| EDGES[(rest >> (3 * byte) & 7) as usize]))
            }
            (1 | 2, 12 | 13) | (3, 1..=3) => twice(self.known(rest & 0xff_ffff), self.known(rest >> 24)),
            (1 | 2, 14) | (3, 4) => {
                let drawn = |bits: u64| u64::from(FLOATS[(bits % FLOATS.len() as u64) as usize]);
                twice(drawn(rest & 0xffff), drawn(rest >> 16 & 0xffff))
            }
            (1 | 2, 15) | (3, 5 | 6) => 0,
            _ => twice(small(rest), small(rest >> 16)),
        }
    }

    /// Eight bytes of what the caller hands over, of a parameter of `size` bytes that begins there.
    pub(super) fn parameter(&self, lane: usize, word: u64, size: u32) -> u64 {
        let source = Source::Memory(PARAMETERS, word);
        let mixed = self.mix(lane, source);
        if size == 8 && mixed & 7 != 0 {
            // Two arguments are the same address now and then.
            let number = if mixed & 0xf8 == 0 { 0 } else { word };
            return (number + 1) << APART;
        }
        let rest = mixed >> 10;
        match (lane & 7, mixed >> 8 & 3) {
            // The first turn of a loop is the last one now and then, for all counts at once.
            (2, _) => twice(1, 1),
            (5, _) => twice(rest & 3, rest >> 2 & 3),
            (_, 0) => self.number(lane, source),
            (_, 1) => twice(self.known(rest & 0xff_ffff), self.known(rest >> 24)),
            _ => twice(small(rest), small(rest >> 16)),
        }
    }

    /// A special register, within what the manual allows.
    pub(super) fn special(&self, lane: usize, number: u32) -> u64 {
        let of = |source: Source| self.mix(lane, source);
        let block = BLOCKS[(self.mix(lane, Source::Special(u32::MAX)) % BLOCKS.len() as u64) as usize];
        let thread = if lane & 1 == 0 { lane as u64 } else { of(Source::Special(u32::MAX - 1)) } % block;
        let bit = 1_u64 << (thread % 32);
        let all = u64::from(u32::MAX);
        match special::name(number) {
            "%ntid.x" => block,
            "%tid.x" => thread,
            "%laneid" => thread % 32,
            "%warpid" => thread / 32,
            "%nwarpid" => block.div_ceil(32),
            "%tid.y" | "%tid.z" => 0,
            "%ntid.y" | "%ntid.z" => 1,
            "%ctaid.x" | "%ctaid.y" | "%ctaid.z" => of(Source::Special(number)) % 4,
            "%nctaid.x" | "%nctaid.y" | "%nctaid.z" => 4,
            "%lanemask_eq" => bit,
            "%lanemask_le" => (bit << 1) - 1,
            "%lanemask_lt" => bit - 1,
            "%lanemask_ge" => all & !(bit - 1),
            "%lanemask_gt" => all & !((bit << 1) - 1),
            "%smid" => of(Source::Special(number)) % 8,
            "%nsmid" => 8,
            "%dynamic_smem_size" | "%total_smem_size" => 1 << 14,
            _ => of(Source::Special(number)),
        }
    }
}

/// Two words as eight bytes.
fn twice(low: u64, high: u64) -> u64 {
    low & u64::from(u32::MAX) | high << 32
}

/// A number of things: 1 and 2 most often, 31 at most.
fn small(bits: u64) -> u64 {
    let drawn = bits >> 2;
    match bits & 3 {
        0 => 1 + (drawn & 1),
        1 => drawn & 7,
        _ => drawn & 31,
    }
}

/// The number of the space of an entry's parameters.
pub(super) const PARAMETERS: u8 = 3;

#[cfg(test)]
mod tests {
    use super::Inputs;
    use crate::special::REGISTERS;
    use ptxopt_grammar::special::special;

    #[test]
    fn special_registers_have_values_that_they_can_have() {
        for (number, name) in (0..).zip(REGISTERS) {
            let known = special(name.as_bytes()).expect("it is one");
            for (seed, lane) in (0..4).flat_map(|seed| (0..64).map(move |lane| (seed, lane))) {
                let inputs = Inputs { seed, pool: Vec::new() };
                let value = inputs.special(lane, number) & u64::MAX >> (64 - known.bits);
                assert!((known.least..=known.most).contains(&value), "{name}: {value:#x}");
            }
        }
    }
}
