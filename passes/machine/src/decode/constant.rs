//! Operations whose control is a constant become the operation that is made for it.
//!
//! The slots of constants are never written, so what they hold is known when the code is decoded.

use super::Decoder;
use crate::controlled::field;
use crate::lanes::Lane as L;

impl Decoder<'_, '_> {
    /// The operation and its operands, with constants for control where there are such.
    pub(super) fn controlled(&self, lane: L, operands: [u32; 5]) -> (L, [u32; 5]) {
        self.by_constant(lane, operands).unwrap_or((lane, operands))
    }

    fn by_constant(&self, lane: L, [d, a, b, c, x]: [u32; 5]) -> Option<(L, [u32; 5])> {
        let constant = |slot: u32| self.constants.get(&slot).copied();
        let (lane, b, control) = match lane {
            L::Shl32 => (L::Shl32By, a, constant(b)?),
            L::ShrU32 => (L::ShrU32By, a, constant(b)?),
            L::ShrS32 => (L::ShrS32By, a, constant(b)?),
            L::Shl64 => (L::Shl64By, a, constant(b)?),
            L::ShrU64 => (L::ShrU64By, a, constant(b)?),
            L::ShrS64 => (L::ShrS64By, a, constant(b)?),
            L::ShfLWrap => (L::ShfLBy, b, constant(c)? & 31),
            L::ShfLClamp => (L::ShfLBy, b, constant(c)?.min(32)),
            L::ShfRWrap => (L::ShfRBy, b, constant(c)? & 31),
            L::ShfRClamp => (L::ShfRBy, b, constant(c)?.min(32)),
            L::BfeU32 => (L::BfeU32By, a, field(constant(b)?, constant(c)?)),
            L::BfeS32 => (L::BfeS32By, a, field(constant(b)?, constant(c)?)),
            L::Bfi32 => (L::Bfi32By, b, field(constant(c)?, constant(x)?)),
            L::Prmt => {
                let selector = constant(c)?;
                (L::PrmtBy, b, (selector & 0x8888 == 0).then_some(selector)?)
            }
            _ => return None,
        };
        // The third operand is not read; it names a register that is.
        Some((lane, [d, a, b, a, control]))
    }
}
