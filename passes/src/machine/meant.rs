//! Instructions that run what they mean: the terms of the instruction table, compiled once.

use super::code::Slot;
use super::warp::Warp;
use ptxopt_grammar::meaning::concrete::Program;
use ptxopt_grammar::meaning::term::{Term, Terms};

/// A meaning with the registers that it reads and writes.
#[derive(Clone, Debug)]
pub(super) struct Meant {
    inputs: Vec<Slot>,
    outputs: Vec<Slot>,
    program: Run,
}

/// Most meanings fit in 64-bit words.
#[derive(Clone, Debug)]
enum Run {
    Narrow(Program<u64>),
    Wide(Program<u128>),
}

impl Meant {
    pub(super) fn new(terms: &Terms, values: &[Term], inputs: Vec<Slot>, outputs: Vec<Slot>) -> Option<Self> {
        let narrow = inputs.iter().chain(&outputs).all(|slot| slot.bits <= 64);
        let program = narrow.then(|| Program::compile(terms, values)).flatten().map(Run::Narrow);
        let program = match program {
            Some(program) => program,
            None => Run::Wide(Program::compile(terms, values)?),
        };
        Some(Self { inputs, outputs, program })
    }
}

/// The most registers that an instruction reads or writes.
const MOST: usize = 16;

/// Runs a meaning on the lanes of `mask`. A result is defined where everything that it was computed from is.
pub(super) fn run<const W: usize>(meant: &mut Meant, warp: &mut Warp<W>, mask: u32) {
    let Meant { inputs, outputs, program } = meant;
    for lane in (0..W).filter(|lane| mask >> lane & 1 == 1) {
        let mut values = [0_u128; MOST];
        let mut defined = true;
        for (value, &slot) in values.iter_mut().zip(&*inputs) {
            let (bits, known) = warp.read(slot, lane);
            *value = bits;
            defined &= known;
        }
        let mut results = [0_u128; MOST];
        match program {
            Run::Narrow(program) => {
                let mut narrow = [0; MOST];
                program.run(&values.map(|value| value as u64), &mut narrow);
                results = narrow.map(u128::from);
            }
            Run::Wide(program) => program.run(&values, &mut results),
        }
        for (&result, &slot) in results.iter().zip(&*outputs) {
            warp.write(slot, lane, result, defined);
        }
    }
}
