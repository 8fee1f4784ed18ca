//! Measures the machine code of a module with NVIDIA's assembler: instructions, registers and spills of each function.
//!
//! The optimiser estimates costs from tables in which each instruction was measured alone; this module counts the real
//! machine code.

pub mod accuracy;
mod assembler;
mod assembling;
mod compare;
pub mod cubin;
mod leave;
mod rolled;

pub use assembler::{Assembler, AssemblerFailure, VARIABLE};
pub(crate) use assembler::{FOLDERS, STARTED, installed, is_bare, programs};
pub(crate) use assembling::{Assembling, Count};
pub use compare::{Comparison, Worse, table};
pub(crate) use leave::{KEEP, Leave};
pub use rolled::rolled;

use ptxopt_passes::cost::Gpu;
use std::collections::BTreeMap;

/// The oldest target that CUDA 11 can assemble for.
const OLDEST: u32 = 35;

/// The machine code of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Function {
    /// The machine instructions, without padding.
    pub code: Vec<u128>,
    /// The number of registers that it needs; the assembler reports it only for kernels.
    pub registers: Option<u32>,
    /// How many bytes are stored to and loaded from the stack because there are no registers left for them.
    pub spills: u32,
}

impl Function {
    /// How many machine instructions it has.
    #[must_use]
    pub fn instructions(&self) -> u32 {
        u32::try_from(self.code.len()).expect("a cubin is smaller than that")
    }
}

/// The machine code of a module: its functions by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    /// The functions; those that the assembler inlined everywhere are not there.
    pub functions: BTreeMap<String, Function>,
}

impl Measured {
    /// From a cubin for a GPU of this number (90 of `sm_90a`) and the messages of `ptxas --verbose`, which made it.
    ///
    /// # Errors
    ///
    /// What is wrong with the cubin.
    pub(crate) fn read(cubin: &[u8], gpu: u32, said: &str) -> Result<Self, String> {
        Ok(Self::new(cubin::functions(cubin, gpu)?, said))
    }

    /// From the functions of a cubin and the messages of the assembler that made it.
    fn new(functions: Vec<cubin::CubinFunction>, said: &str) -> Self {
        let function = |cubin::CubinFunction { name, instructions }| {
            (name, Function { code: instructions, ..Function::default() })
        };
        let mut measured = Self { functions: functions.into_iter().map(function).collect() };
        measured.hear(said);
        measured
    }

    /// Reads the messages of `ptxas --verbose`: the name of a function, then its spills, then, of a kernel, its
    /// registers.
    fn hear(&mut self, said: &str) {
        let mut name = None;
        for line in said.lines() {
            if let Some((_, rest)) = line.split_once("Function properties for ") {
                name = Some(rest.trim().trim_matches('\''));
            }
            let Some(function) = name.and_then(|name| self.functions.get_mut(name)) else { continue };
            if line.contains("bytes spill stores") {
                let before = |what| number_before(line, what).unwrap_or(0);
                function.spills = before(" bytes spill stores") + before(" bytes spill loads");
            }
            if let Some((_, rest)) = line.split_once("Used ") {
                function.registers = rest.split(' ').next().and_then(|number| number.parse().ok());
            }
        }
    }

    /// How many machine instructions all functions have.
    #[must_use]
    pub fn instructions(&self) -> u64 {
        self.functions.values().map(|function| u64::from(function.instructions())).sum()
    }
}

/// The GPU to assemble for: the one asked for, or the module's own target.
///
/// A module for `sm_90a` can be assembled only for that; so of two names with the same number, the one with a suffix is
/// used.
/// For targets older than the oldest of CUDA 11, that oldest is used.
#[must_use]
pub fn architecture(own: Gpu, asked: Option<Gpu>) -> String {
    let gpu = asked.map_or(own, |asked| if asked.number() == own.number() { own.max(asked) } else { asked });
    if gpu.number() < OLDEST { format!("sm_{OLDEST}") } else { gpu.to_string() }
}

/// The number of a GPU: 90 of `sm_90a`.
pub(crate) fn number(gpu: &str) -> u32 {
    let digits: String = gpu.chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(u32::MAX)
}

fn number_before(line: &str, what: &str) -> Option<u32> {
    let (before, _) = line.split_once(what)?;
    before.rsplit(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_is_assembled_for_what_was_asked_under_a_name_that_fits() {
        let gpu = |name: &str| Gpu::parse(name).expect("it is one");
        let for_which = |own: &str, asked: Option<&str>| architecture(gpu(own), asked.map(gpu));
        assert_eq!(for_which("sm_80", None), "sm_80");
        assert_eq!(for_which("sm_80", Some("sm_90")), "sm_90");
        assert_eq!(for_which("sm_90a", Some("sm_90")), "sm_90a");
        assert_eq!(for_which("sm_120", Some("sm_120f")), "sm_120f");
        assert_eq!(for_which("sm_20", None), "sm_35");
    }

    #[test]
    fn what_the_assembler_says_is_understood() {
        let functions =
            ["k", "f"].map(|name| cubin::CubinFunction { name: name.to_owned(), instructions: vec![1, 2] });
        let said = "ptxas info    : 0 bytes gmem\n\
                    ptxas info    : Compiling entry function 'k' for 'sm_90'\n\
                    ptxas info    : Function properties for k\n    \
                    16 bytes stack frame, 12 bytes spill stores, 8 bytes spill loads\n\
                    ptxas info    : Used 10 registers, used 0 barriers\n\
                    ptxas info    : Compile time = 6.519 ms\n\
                    ptxas info    : Function properties for f\n    \
                    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n";
        let measured = Measured::new(functions.to_vec(), said);
        let shown = |name: &str| {
            let function = &measured.functions[name];
            (function.instructions(), function.registers, function.spills)
        };
        assert_eq!(shown("k"), (2, Some(10), 20));
        assert_eq!(shown("f"), (2, None, 0));
        assert_eq!(measured.instructions(), 4);
    }
}
