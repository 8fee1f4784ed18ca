//! Which statements suggest word-parallel code: those with a number that is the same in all bytes or halves.
//!
//! Such code keeps carries within lanes by masks like `0x7f7f7f7f` and `0x80808080`, or spreads the signs of lanes by
//! `prmt`. Other code hardly has such numbers, so that functions without them need not be analysed.

use ptxopt_grammar::constant;
use ptxopt_grammar::table::Row;
use ptxopt_grammar::table::instruction::{Mnemonic, op};
use ptxopt_grammar::tree::{Module, StmtId};

/// The instructions that word-parallel code has numbers in.
static WORDS: [Mnemonic; 8] = [op::AND, op::OR, op::XOR, op::ADD, op::SUB, op::LOP3, op::MOV, op::PRMT];

/// The selectors of `prmt` that spread the signs of the bytes or halves of its first word, or of its second.
const SIGNS: [u64; 4] = [0xba98, 0xbb99, 0xfedc, 0xffdd];

/// Whether a statement has such a number, or spreads signs.
pub(in crate::fuse) fn is_seed(module: &Module<'_>, stmt: StmtId) -> bool {
    let Some(row) = module.row(stmt) else { return false };
    if !of_words(row) {
        return false;
    }
    let moves_bytes = row.is(op::PRMT);
    let mut numbers = module.stmt_nodes(stmt).filter_map(|node| constant::value(module, node));
    numbers.any(|number| if moves_bytes { SIGNS.contains(&number) } else { is_periodic(number) })
}

fn of_words(row: &Row) -> bool {
    WORDS.iter().any(|&mnemonic| row.is(mnemonic))
}

/// Whether a number of 32 bits is the same in all bytes or in both halves, and no mere sign. What is the same in both
/// halves is also half of a pair of 16-bit floats: of those, only numbers that keep carries in a lane count.
fn is_periodic(number: u64) -> bool {
    let low = u32::try_from(number & u64::from(u32::MAX)).expect("it was cut to 32 bits");
    // A negative number is written with all its 64 bits.
    let is_word = number >> 32 == 0 || number >> 31 == u64::from(u32::MAX) << 1 | 1;
    let bytes = low == low.rotate_left(8);
    let halves =
        matches!(low, 0x0001_0001 | 0x7fff_7fff | 0x8000_8000 | 0xfffe_fffe | 0x00ff_00ff | 0xff00_ff00);
    is_word && low != 0 && low != u32::MAX && (bytes || halves)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptxopt_grammar::tree::StmtKind;

    fn seeds(line: &str) -> bool {
        let text = format!(
            ".version 8.0\n.target sm_75\n.func f()\n{{\n.reg .b32 %a, %b, %d;\n.reg .b64 %w;\n.reg .f32 %f;\n{line}\n}}\n"
        );
        let module = ptxopt_grammar::parse(text.as_bytes()).unwrap_or_else(|all| panic!("{text}\n{all:?}"));
        module.stmts().any(|stmt| module.kind(stmt) == StmtKind::Instruction && is_seed(&module, stmt))
    }

    #[test]
    fn masks_of_lanes_are_seeds() {
        for number in [
            "0x7f7f7f7f",
            "2139062143",
            "-2139062144",
            "-16843010",
            "65537",
            "-65538",
            "0x80008000",
            "16711935",
        ] {
            assert!(seeds(&format!("and.b32 %d, %a, {number};")), "{number}");
            assert!(seeds(&format!("mov.u32 %d, {number};")), "{number}");
        }
        assert!(seeds("prmt.b32 %d, %a, 0, 0xba98;"));
        assert!(seeds("prmt.b32 %d, %a, 0, 0xbb99;"));
    }

    #[test]
    fn other_numbers_are_not() {
        for number in ["0", "-1", "1", "255", "65535", "-65536", "65536", "0x7f7f7f7e", "0x3f803f80"] {
            assert!(!seeds(&format!("and.b32 %d, %a, {number};")), "{number}");
        }
        assert!(!seeds("prmt.b32 %d, %a, %b, 0x5410;"));
        assert!(!seeds("mov.f32 %f, 0f3F803F80;"));
        assert!(!seeds("and.b64 %w, %w, 0x100000001010101;"));
        assert!(!seeds("ld.global.u32 %d, [%w+16843009];"));
    }
}
