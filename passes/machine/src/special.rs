//! Special registers: where a thread is, and the few clocks.
//!
//! Those that the launch fixes have that value. Clocks, and registers that depend on where the hardware runs a
//! thread, have some value, and a launch that reads one is not called exact.

use super::execute::Context;
use super::warp::Warp;

/// The special registers that can be read. The place in the list is the number.
pub(super) const REGISTERS: &[&str] = &[
    "%tid.x",
    "%tid.y",
    "%tid.z",
    "%ntid.x",
    "%ntid.y",
    "%ntid.z",
    "%ctaid.x",
    "%ctaid.y",
    "%ctaid.z",
    "%nctaid.x",
    "%nctaid.y",
    "%nctaid.z",
    "%laneid",
    "%warpid",
    "%nwarpid",
    "%lanemask_eq",
    "%lanemask_le",
    "%lanemask_lt",
    "%lanemask_ge",
    "%lanemask_gt",
    "%clock",
    "%clock_hi",
    "%clock64",
    "%globaltimer",
    "%globaltimer_lo",
    "%globaltimer_hi",
    "%smid",
    "%nsmid",
    "%gridid",
    "%dynamic_smem_size",
    "%total_smem_size",
];

/// The number of the special register that is written `text`.
pub(super) fn find(text: &[u8]) -> Option<u32> {
    let at = REGISTERS.iter().position(|name| name.as_bytes() == text)?;
    u32::try_from(at).ok()
}

/// The name of the special register with the number.
pub(super) fn name(number: u32) -> &'static str {
    REGISTERS[number as usize]
}

/// The thread of a block with the number.
pub(super) fn thread([x, y, _]: [u32; 3], number: u32) -> [u32; 3] {
    [number % x, number / x % y, number / x / y]
}

pub(super) fn value<const W: usize>(cx: &mut Context<'_>, warp: &Warp<W>, number: u32, lane: usize) -> u64 {
    let tid = |axis: usize| u64::from(thread(cx.block, warp.number * 32 + lane as u32)[axis]);
    let bit = 1_u64 << lane;
    match name(number) {
        "%tid.x" => tid(0),
        "%tid.y" => tid(1),
        "%tid.z" => tid(2),
        "%ntid.x" => cx.block[0].into(),
        "%ntid.y" => cx.block[1].into(),
        "%ntid.z" => cx.block[2].into(),
        "%ctaid.x" => cx.at[0].into(),
        "%ctaid.y" => cx.at[1].into(),
        "%ctaid.z" => cx.at[2].into(),
        "%nctaid.x" => cx.grid[0].into(),
        "%nctaid.y" => cx.grid[1].into(),
        "%nctaid.z" => cx.grid[2].into(),
        "%laneid" => lane as u64,
        "%lanemask_eq" => bit,
        "%lanemask_le" => (bit << 1) - 1,
        "%lanemask_lt" => bit - 1,
        "%lanemask_ge" => u64::from(u32::MAX) & !(bit - 1),
        "%lanemask_gt" => u64::from(u32::MAX) & !((bit << 1) - 1),
        "%dynamic_smem_size" => cx.dynamic_shared.into(),
        "%total_smem_size" => cx.shared.bytes.len() as u64,
        changing => {
            cx.inexact.insert("the value of a clock, or of a register that depends on where a thread runs");
            match changing {
                "%warpid" => warp.number.into(),
                "%nwarpid" => cx.block.iter().product::<u32>().div_ceil(32).into(),
                "%clock" | "%clock64" | "%globaltimer" | "%globaltimer_lo" => cx.steps,
                "%clock_hi" | "%globaltimer_hi" => cx.steps >> 32,
                "%nsmid" => 1,
                _ => 0,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::REGISTERS;
    use ptxopt_grammar::special::special;

    #[test]
    fn all_are_special_registers() {
        for name in REGISTERS {
            assert!(special(name.as_bytes()).is_some(), "{name}");
        }
    }
}
