//! How many machine instructions NVIDIA's assembler makes of an instruction.
//!
//! Each instruction is in a kernel of its own that loads what it reads and stores what it writes. All accesses are
//! volatile, so that the assembler removes none. The cost of the instruction is the number of instructions that its
//! kernel has more than a kernel that loads the same and stores a copy.

use crate::assemblers::Assemblers;
use crate::jobs::each;
use ptxopt::measure::{AssemblerFailure, Measured};
use std::collections::HashMap;
use std::fmt::Write;

/// An instruction, or a few that follow each other, and where the result is.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Sample {
    /// The statement without `;`, or several with `;` between them. Registers: `%h`, `%r`, `%d` of 16, 32 and 64 bits,
    /// and predicates `%p`. Number 0 is the result; sources are 1 to 3, of 32 bits 1 to 7, and of predicates 1 and 2.
    /// What is computed on the way is in `%t0` to `%t99`, of 32 bits.
    pub(crate) text: String,
    /// The letter of the result.
    pub(crate) result: char,
}

impl Sample {
    /// The letters of the registers that its kernel loads, those of the sources and of the result.
    fn loads(&self) -> String {
        let used = |letter| self.result == letter || self.text.contains(&format!("%{letter}"));
        let mut loads: String = "hrd".chars().filter(|&letter| used(letter)).collect();
        if loads.is_empty() {
            loads.push('r');
        }
        for predicate in ["%p1", "%p2"] {
            if self.text.contains(predicate) {
                loads.push('p');
            }
        }
        loads
    }

    /// How many registers of each width its kernel loads.
    fn sources(&self) -> usize {
        if (4..8).any(|number| self.text.contains(&format!("%r{number}"))) { 7 } else { 3 }
    }

    /// What does the same but for the instruction.
    fn baseline(&self) -> Kernel {
        let result = self.result;
        let text = if result == 'p' {
            String::new()
        } else {
            format!("mov.b{} %{result}0, %{result}1", bits(result))
        };
        Kernel { loads: self.loads(), sources: self.sources(), text, result }
    }
}

/// What makes a kernel.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Kernel {
    loads: String,
    sources: usize,
    text: String,
    result: char,
}

/// One assembler for one target.
pub(crate) struct SampleAssembler {
    program: ptxopt::measure::Assembler,
    target: String,
    version: &'static str,
    /// Whether instructions count that only wait for loads.
    waits: bool,
}

/// How many kernels one module has.
const KERNELS: usize = 250;

/// How many lines a module has before its kernels, and each kernel.
const HEAD_LINES: usize = 3;
const KERNEL_LINES: usize = 7;

impl SampleAssembler {
    /// The assembler of that version; the target may have a suffix.
    pub(crate) fn new(version: &str, target: &str) -> Self {
        let assemblers = Assemblers::installed();
        let assemblers = assemblers.expect("NVIDIA's assemblers are there; `sh .ci/tools` puts them there");
        let program = assemblers.version(version).clone();
        let version = match version {
            "11.8" => "7.8",
            "12.9" => "8.8",
            _ => "9.4",
        };
        Self { program, target: target.to_owned(), version, waits: false }
    }

    /// The same, but instructions that wait for loads count too: tables of others have them.
    #[allow(dead_code, reason = "not all that share this file compare with tables of others")]
    pub(crate) fn with_waits(self) -> Self {
        Self { waits: true, ..self }
    }

    /// The costs of the samples; `None` for one that is rejected.
    #[allow(dead_code, reason = "not all that share this file measure what may be rejected")]
    pub(crate) fn costs(&self, samples: &[Sample]) -> Vec<Option<u32>> {
        self.differences(samples, &|chunk| self.lengths_of_legal(chunk))
    }

    /// The costs of the samples, all of them legal, once `change` has rewritten the module that each is in.
    ///
    /// # Errors
    ///
    /// What `change` or the assembler says of a module.
    #[allow(dead_code, reason = "not all that share this file change modules")]
    pub(crate) fn costs_after(
        &self,
        samples: &[Sample],
        change: &(dyn Fn(Vec<u8>) -> Result<Vec<u8>, String> + Sync),
    ) -> Result<Vec<u32>, String> {
        let lengths = |chunk: &[Kernel]| -> Vec<Result<u32, String>> {
            let changed = change(self.module(chunk).into_bytes());
            let assembled = changed.and_then(|text| {
                self.program.assemble(&text, &self.target).map_err(|error| error.to_string())
            });
            let length = |i| match &assembled {
                Ok(measured) => Ok(self.length(measured, i)),
                Err(error) => Err(error.clone()),
            };
            (0..chunk.len()).map(length).collect()
        };
        self.differences(samples, &lengths).into_iter().collect()
    }

    /// The results of `lengths` for kernels with the samples, less the lengths of kernels that only copy.
    fn differences<T: Less + Send>(
        &self,
        samples: &[Sample],
        lengths: &(dyn Fn(&[Kernel]) -> Vec<T> + Sync),
    ) -> Vec<T> {
        let mut baselines = HashMap::new();
        for baseline in samples.iter().map(Sample::baseline) {
            baselines.entry(baseline).or_insert_with_key(|baseline| {
                self.lengths(std::slice::from_ref(baseline)).expect("every target can copy")[0]
            });
        }
        let kernel = |sample: &Sample| {
            let Sample { text, result } = sample.clone();
            Kernel { loads: sample.loads(), sources: sample.sources(), text, result }
        };
        let kernels: Vec<Kernel> = samples.iter().map(kernel).collect();
        let chunks: Vec<&[Kernel]> = kernels.chunks(KERNELS).collect();
        let lengths = each(&chunks, |chunk| lengths(chunk)).into_iter().flatten();
        lengths.zip(samples).map(|(length, sample)| length.less(baselines[&sample.baseline()])).collect()
    }

    /// The lengths of all that are not rejected; those that are, are named by the assembler and left out.
    #[allow(dead_code, reason = "it is what `costs` needs")]
    fn lengths_of_legal(&self, samples: &[Kernel]) -> Vec<Option<u32>> {
        let mut lengths = vec![None; samples.len()];
        let mut legal: Vec<usize> = (0..samples.len()).collect();
        while !legal.is_empty() {
            let module: Vec<Kernel> = legal.iter().map(|&i| samples[i].clone()).collect();
            match self.lengths(&module) {
                Ok(found) => {
                    for (&i, length) in legal.iter().zip(found) {
                        lengths[i] = Some(length);
                    }
                    break;
                }
                Err(rejected) => {
                    let mut place = 0..;
                    legal.retain(|_| !rejected.contains(&place.next().expect("there is no last number")));
                }
            }
        }
        lengths
    }

    /// How many instructions each kernel has; if the module is rejected, the places of the samples that are to blame.
    fn lengths(&self, samples: &[Kernel]) -> Result<Vec<u32>, Vec<usize>> {
        let measured = match self.program.assemble(self.module(samples).as_bytes(), &self.target) {
            Ok(measured) => measured,
            Err(AssemblerFailure::Refused(said)) => {
                let numbers =
                    said.split(", line ").skip(1).filter_map(|rest| rest.split(';').next()?.parse().ok());
                let kernel = |line: usize| Some(line.checked_sub(1 + HEAD_LINES)? / KERNEL_LINES);
                let rejected: Vec<usize> = numbers.filter_map(kernel).collect();
                assert!(!rejected.is_empty(), "{said}");
                return Err(rejected);
            }
            Err(failure) => panic!("{failure}"),
        };
        Ok((0..samples.len()).map(|i| self.length(&measured, i)).collect())
    }

    /// How many instructions the kernel with a number has.
    fn length(&self, measured: &Measured, number: usize) -> u32 {
        let code = &measured.functions[&format!("k{number}")].code;
        if self.waits {
            u32::try_from(code.len()).expect("a kernel is small")
        } else {
            instructions(code, &self.target)
        }
    }

    fn module(&self, kernels: &[Kernel]) -> String {
        let mut text = format!(".version {}\n.target {}\n.address_size 64\n", self.version, self.target);
        for (i, Kernel { loads, sources, text: sample, result }) in kernels.iter().enumerate() {
            let mut load = String::new();
            let mut offset = 0;
            for letter in loads.chars().rev().filter(|&letter| letter != 'p') {
                for number in 1..=*sources {
                    let bits = bits(letter);
                    load += &format!(" ld.volatile.global.u{bits} %{letter}{number}, [%d9+{offset}];");
                    offset += bits / 8;
                }
            }
            let mut predicate = String::new();
            let predicates = loads.chars().filter(|&letter| letter == 'p').count();
            for number in 1..=predicates {
                let letter =
                    if loads.contains('r') { 'r' } else { loads.chars().next().expect("a source is loaded") };
                // It is stored under itself as well, so that the baseline computes it too.
                predicate += &format!(
                    "setp.ne.s{0} %p{number}, %{letter}{1}, 77; \
                     @%p{number} st.volatile.global.u{0} [%d9+{2}], %{letter}{1};",
                    bits(letter),
                    4 - number,
                    64 * number
                );
            }
            let source = loads.chars().next().expect("a source is loaded");
            // Registers that are only declared change what the oldest assembler makes of others.
            let words = if *sources > 3 { "%r<8>" } else { "%r<4>" };
            let temporary = if sample.contains("%t") { ".reg .b32 %t<100>; " } else { "" };
            // The guarded store is not the last, for that would be branched around.
            let last = format!("st.volatile.global.u{} [%d9], %{source}1;", bits(source));
            let store = match result {
                'p' if sample.is_empty() => last.repeat(2),
                'p' => format!("@%p0 {last} {last}"),
                letter => format!("st.volatile.global.u{} [%d9], %{letter}0;", bits(*letter)),
            };
            writeln!(
                text,
                ".visible .entry k{i}(.param .u64 q) {{\n{temporary}.reg .b16 %h<4>; .reg .b32 {words}; .reg .b64 %d<10>; \
                 .reg .pred %p<{}>;\nld.param.u64 %d9, [q];{load}\n{predicate}\n{sample}{}\n{store}\nret; }}",
                predicates.max(1) + 1,
                if sample.is_empty() { "" } else { ";" }
            )
            .expect("writing to a string cannot fail");
        }
        text
    }
}

/// A length from which that of a kernel that only copies is taken away.
trait Less {
    fn less(self, baseline: u32) -> Self;
}

// The scheduler may avoid a copy that the baseline has, so a negative cost counts as 0.
impl Less for Option<u32> {
    fn less(self, baseline: u32) -> Self {
        self.map(|length| length.saturating_sub(baseline))
    }
}

impl Less for Result<u32, String> {
    fn less(self, baseline: u32) -> Self {
        self.map(|length| length.saturating_sub(baseline))
    }
}

const fn bits(letter: char) -> u32 {
    match letter {
        'h' => 16,
        'd' => 64,
        _ => 32,
    }
}

/// How many instructions a kernel has. Those of sm_50 to sm_62 cannot always say when others may begin, and a `DEPBAR`
/// waits for a load; it is not the instruction's.
fn instructions(code: &[u128], target: &str) -> u32 {
    let number: u32 = target[3..].trim_end_matches(char::is_alphabetic).parse().expect("`sm_` and a number");
    let waits = |&&word: &&u128| (50..70).contains(&number) && word >> 48 == 0xf0f0;
    let count = code.len() - code.iter().filter(waits).count();
    u32::try_from(count).expect("a kernel is small")
}
