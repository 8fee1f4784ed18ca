//! Instructions that run the terms of their meaning in the instruction table, compiled once.
//!
//! Right by construction: the prover reasons about the same terms. The width that they run in holds every value.

use super::code::{Class, Slot};
use super::warp::{Warp, each};
use ptxopt_grammar::meaning::concrete::Program;
use ptxopt_grammar::meaning::term::{Term, Terms};

/// A meaning with the registers that it reads and writes.
#[derive(Clone, Debug)]
pub(super) struct Meant {
    inputs: Vec<Slot>,
    outputs: Vec<Slot>,
    program: Compiled,
}

/// The narrower the word that all values fit in, the faster.
#[derive(Clone, Debug)]
enum Compiled {
    Word(Program<u32>),
    Long(Program<u64>),
    Quad(Program<u128>),
}

impl Meant {
    pub(super) fn new(terms: &Terms, values: &[Term], inputs: Vec<Slot>, outputs: Vec<Slot>) -> Option<Self> {
        let widest = inputs.iter().chain(&outputs).map(|slot| slot.bits).max().unwrap_or(0);
        let word = || (widest <= 32).then(|| Program::compile(terms, values)).flatten().map(Compiled::Word);
        let long = || (widest <= 64).then(|| Program::compile(terms, values)).flatten().map(Compiled::Long);
        let quad = || Program::compile(terms, values).map(Compiled::Quad);
        let program = word().or_else(long).or_else(quad)?;
        Some(Self { inputs, outputs, program })
    }
}

/// Room to run meanings in.
#[derive(Debug)]
pub(super) struct Room<const W: usize> {
    words: Vec<[u32; W]>,
    longs: Vec<[u64; W]>,
    quads: Vec<[u128; 1]>,
}

impl<const W: usize> Default for Room<W> {
    fn default() -> Self {
        Self { words: Vec::new(), longs: Vec::new(), quads: Vec::new() }
    }
}

/// Runs a meaning on the lanes of `mask`. A result is defined where everything that it was computed from is.
pub(super) fn run<const W: usize>(meant: &Meant, warp: &mut Warp<W>, mask: u32) {
    let Meant { inputs, outputs, program } = meant;
    let defined = inputs.iter().fold(u32::MAX, |all, &slot| all & warp.defined(slot));
    // The room is taken out while the registers are read, and put back whatever its size has become.
    let mut room = std::mem::take(&mut warp.room);
    match program {
        Compiled::Word(program) => {
            program.run_lanes(&mut room.words, |number| warp.as_words(inputs[number as usize]));
            for (output, &slot) in outputs.iter().enumerate() {
                let value = *program.lanes(&room.words, output);
                warp.set_lanes(slot, mask, defined, |lane| u128::from(value[lane]));
            }
        }
        Compiled::Long(program) => {
            program.run_lanes(&mut room.longs, |number| warp.as_longs(inputs[number as usize]));
            for (output, &slot) in outputs.iter().enumerate() {
                let value = *program.lanes(&room.longs, output);
                warp.set_lanes(slot, mask, defined, |lane| u128::from(value[lane]));
            }
        }
        // Rare: lane by lane is enough.
        Compiled::Quad(program) => {
            for lane in (0..W).filter(|lane| mask >> lane & 1 == 1) {
                program.run_lanes(&mut room.quads, |number| [warp.read(inputs[number as usize], lane).0]);
                for (output, &slot) in outputs.iter().enumerate() {
                    let [value] = *program.lanes(&room.quads, output);
                    warp.write(slot, lane, value, defined >> lane & 1 == 1);
                }
            }
        }
    }
    warp.room = room;
}

/// Whole registers, for all lanes.
impl<const W: usize> Warp<W> {
    /// On which lanes a register is defined.
    fn defined(&self, slot: Slot) -> u32 {
        let at = |base: usize| base + slot.index as usize;
        match slot.class {
            Class::Predicate => self.predicates_defined[at(self.frame.predicates)],
            Class::Word => self.words_defined[at(self.frame.words)],
            Class::Long => self.longs_defined[at(self.frame.longs)],
            Class::Quad => {
                self.longs_defined[at(self.frame.longs)] & self.longs_defined[at(self.frame.longs) + 1]
            }
        }
    }

    fn as_words(&self, slot: Slot) -> [u32; W] {
        match slot.class {
            Class::Word => self.word(slot.index).0,
            Class::Predicate => {
                let bits = self.predicate(slot.index).0;
                each(|lane| bits >> lane & 1)
            }
            Class::Long | Class::Quad => unreachable!("no input of a narrow program is wide"),
        }
    }

    fn as_longs(&self, slot: Slot) -> [u64; W] {
        match slot.class {
            Class::Long => self.long(slot.index).0,
            Class::Word | Class::Predicate => {
                let words = self.as_words(slot);
                each(|lane| u64::from(words[lane]))
            }
            Class::Quad => unreachable!("no input of a narrow program is wide"),
        }
    }

    /// Writes a register on the lanes of `mask`, cut to its width.
    #[inline]
    fn set_lanes(&mut self, slot: Slot, mask: u32, defined: u32, value: impl Fn(usize) -> u128) {
        match slot.class {
            Class::Predicate => {
                let bits = (0..W).fold(0, |bits, lane| bits | (value(lane) as u32 & 1) << lane);
                self.set_predicate(slot.index, mask, bits, defined);
            }
            Class::Word => {
                let kept = if slot.bits >= 32 { u32::MAX } else { (1 << slot.bits) - 1 };
                let words = each(|lane| value(lane) as u32 & kept);
                self.set_word(slot.index, mask, &words, defined);
            }
            Class::Long => {
                let longs = each(|lane| value(lane) as u64);
                self.set_long(slot.index, mask, &longs, defined);
            }
            Class::Quad => {
                for half in 0..2 {
                    let longs = each(|lane| (value(lane) >> (64 * half)) as u64);
                    self.set_long(slot.index + half, mask, &longs, defined);
                }
            }
        }
    }
}
