//! Special registers as inputs: one for each, as wide as it is, however many bits of it are read.
//!
//! The bits above the greatest value that the table of special registers gives are zero.

use super::Assumption;
use ptxopt_grammar::meaning::term::ones;
use ptxopt_grammar::special::special;

/// An input of which the lowest bits are read.
pub(super) struct Read {
    pub(super) name: String,
    pub(super) bits: u32,
    pub(super) known: Assumption,
}

/// The input for a read of so many bits of the special register that a text names.
pub(super) fn read(text: &[u8], width: u32) -> Read {
    let name = String::from_utf8_lossy(text).replace(char::is_whitespace, "");
    match special(name.as_bytes()) {
        Some(special) if special.bits >= width => {
            let within = ones(128 - u128::from(special.most).leading_zeros());
            let known = Assumption { known: ones(special.bits) & !within, ..Assumption::NONE };
            Read { name, bits: special.bits, known }
        }
        // What a read of more bits than there are gives is not known.
        Some(_) | None => {
            Read { name: format!("{width} bits of {name}"), bits: width, known: Assumption::NONE }
        }
    }
}
