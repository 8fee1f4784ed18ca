//! Reads cubins: the machine instructions of the functions of a module.
//!
//! A cubin is an ELF file with one section `.text.NAME` for each function. Padding up to a function's alignment
//! (`NOP`s, and the branch to itself after the end) is not counted, because it does not depend on what the function
//! computes. Every `NOP` counts as padding, wherever it is.

use object::{Object, ObjectSection};

/// The machine code of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CubinFunction {
    /// Its name, as in PTX.
    pub name: String,
    /// The machine instructions, without padding; up to sm_62 they have 64 bits.
    pub instructions: Vec<u128>,
}

/// The functions of a cubin that was assembled for the GPU of this number (90 of `sm_90a`), in the order of the file.
///
/// # Errors
///
/// If the file is not a complete cubin; the message says what is wrong with it.
pub fn functions(cubin: &[u8], gpu: u32) -> Result<Vec<CubinFunction>, String> {
    let file = object::File::parse(cubin).map_err(|error| format!("the cubin cannot be read: {error}"))?;
    let mut all = Vec::new();
    for section in file.sections() {
        let Some(name) = section.name().ok().and_then(|name| name.strip_prefix(".text.")) else { continue };
        let code = section.data().map_err(|error| format!("the code of `{name}` cannot be read: {error}"))?;
        all.push(CubinFunction { name: name.to_owned(), instructions: instructions(code, gpu) });
    }
    Ok(all)
}

/// How the instructions of a generation are stored, and which of them are padding.
struct Encoding {
    /// The number of 64-bit words of an instruction.
    words: usize,
    /// The size in words of a group whose first word is scheduling information and not an instruction; 0 if there are
    /// none.
    group: usize,
    /// The bits of the opcode, and what they are in a `NOP`.
    nop: (u64, u64),
    /// The unconditional branch to itself. There are two encodings, because the branch may also go to the scheduling
    /// information before it.
    endless: [u64; 2],
}

const fn encoding(gpu: u32) -> Encoding {
    const TOP: u64 = 0xffff << 48;
    match gpu {
        ..50 => Encoding {
            words: 1,
            group: 8,
            nop: (TOP, 0x8580 << 48),
            endless: [0x1200_7fff_fc1c_003c, 0x1200_7fff_f81c_003c],
        },
        50..70 => Encoding {
            words: 1,
            group: 4,
            nop: (TOP, 0x50b0 << 48),
            endless: [0xe240_0fff_ff87_000f, 0xe240_0fff_ff07_000f],
        },
        // The distance of a branch is in one field up to sm_89, and in two fields since then.
        70.. => Encoding {
            words: 2,
            group: 0,
            nop: (0xfff, 0x918),
            endless: [0xffff_fff0_0000_7947, 0xffff_fffc_00fc_7947],
        },
    }
}

fn instructions(code: &[u8], gpu: u32) -> Vec<u128> {
    let Encoding { words, group, nop, endless } = encoding(gpu);
    let mut found: Vec<u128> = code
        .chunks_exact(8 * words)
        .enumerate()
        .filter(|(i, _)| group == 0 || i % group != 0)
        .map(|(_, bytes)| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u128::from(byte)))
        .filter(|&word| opcode(word) & nop.0 != nop.1)
        .collect();
    if found.last().is_some_and(|&last| endless.contains(&opcode(last))) {
        found.pop();
    }
    found
}

/// The half of an instruction with its opcode.
fn opcode(instruction: u128) -> u64 {
    u64::try_from(instruction & u128::from(u64::MAX)).expect("it was cut to 64 bits")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(words: &[u64], gpu: u32) -> usize {
        let code: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        instructions(&code, gpu).len()
    }

    /// What NVIDIA's assembler made of the square of a number and a return.
    #[test]
    fn what_only_fills_is_not_counted() {
        let kepler = [
            0x0800_0000_000b_bc10,
            0xe1c0_1800_021c_1012,
            0x1900_0000_001c_003c,
            0x1200_7fff_fc1c_003c,
            0x8580_0000_001c_3c02,
            0x8580_0000_001c_3c02,
            0x8580_0000_001c_3c02,
            0x8580_0000_001c_3c02,
        ];
        assert_eq!(counted(&kepler, 35), 2);
        let maxwell = [
            0x001f_c040_fec6_07f1,
            0x5b00_7f80_0047_0403,
            0x5b00_7fa8_0047_0405,
            0x5b30_0198_0057_0404,
            0x001f_8000_ffe0_07ff,
            0xe320_0000_0007_000f,
            0xe240_0fff_ff87_000f,
            0x50b0_0000_0007_0f00,
        ];
        assert_eq!(counted(&maxwell, 50), 4);
        let turing =
            [0x0000_0004_0404_7224, 0, 0x0000_0000_1400_7950, 0, 0xffff_fff0_0000_7947, 0, 0x7918, 0];
        assert_eq!(counted(&turing, 75), 2);
        let hopper =
            [0x0000_0004_0404_7224, 0, 0x0000_0000_1400_7950, 0, 0xffff_fffc_00fc_7947, 0, 0x7918, 0];
        assert_eq!(counted(&hopper, 90), 2);
    }

    #[test]
    fn an_endless_loop_of_the_module_is_counted() {
        // It is not the last.
        assert_eq!(counted(&[0xffff_fff0_0000_7947, 0, 0x794d, 0, 0xffff_fff0_0000_7947, 0], 75), 2);
    }

    #[test]
    fn what_is_no_cubin_is_refused() {
        let error = functions(b"no cubin", 90).expect_err("it is none");
        assert!(error.starts_with("the cubin cannot be read: "), "{error}");
    }
}
