//! Which statements suggest word-parallel code: those with a number that is the same in all bytes or halves.
//!
//! Such code keeps carries within lanes by masks like `0x7f7f7f7f` and `0x80808080`, or spreads the signs of lanes by
//! `prmt`. Other code hardly has such numbers, so that functions without them need not be analysed.

use ptxopt_grammar::constant;
use ptxopt_grammar::table::instruction::{Mnemonic, op};
use ptxopt_grammar::tree::{Module, StmtId};

/// The instructions that word-parallel code has numbers in that are the same in all lanes.
static WORDS: [Mnemonic; 7] = [op::AND, op::OR, op::XOR, op::ADD, op::SUB, op::LOP3, op::MOV];

/// The selectors of `prmt` that spread the signs of the bytes or halves of its first word, or of its second.
const SIGNS: [u64; 4] = [0xba98, 0xbb99, 0xfedc, 0xffdd];

/// The mask of the upper half.
const UPPER: u64 = 0xffff_0000;

/// How far apart a word is taken into halves, or put together of them, and the halves are compared.
const NEAR: usize = 2;

/// The lowest bit of the upper half, into which the lower one carries.
const CARRY: u64 = 0x1_0000;

/// Whether a statement has such a number, spreads signs, or treats one half of a word alone.
pub(in crate::fuse) fn is_seed(module: &Module<'_>, stmt: StmtId) -> bool {
    let Some(row) = module.row(stmt) else { return false };
    let has = |wanted: &dyn Fn(u64) -> bool| {
        module.stmt_nodes(stmt).filter_map(|node| constant::value(module, node)).any(wanted)
    };
    if WORDS.iter().any(|&mnemonic| row.is(mnemonic)) {
        let saturates = || matches!(module.instruction(stmt), Some(op::ADD_SAT_S32 | op::SUB_SAT_S32));
        if has(&is_periodic)
            || row.is(op::AND) && has(&|number| number == CARRY)
            || (row.is(op::ADD) || row.is(op::SUB)) && saturates()
        {
            return true;
        }
    }
    if is_weak_seed(module, stmt) {
        return is_compared(module, stmt);
    }
    // A packed difference is a packed sum with negated halves.
    row.is(op::NEG) && module.instruction(stmt).is_some_and(|negates| negates.last_type() == Some(op::S16))
        || row.is(op::PRMT) && has(&|number| SIGNS.contains(&number))
}

/// Whether a statement treats the halves of a word apart. Other code does that too.
pub(super) fn is_weak_seed(module: &Module<'_>, stmt: StmtId) -> bool {
    let Some(row) = module.row(stmt) else { return false };
    let has = |wanted: &dyn Fn(u64) -> bool| {
        module.stmt_nodes(stmt).filter_map(|node| constant::value(module, node)).any(wanted)
    };
    row.is(op::AND) && has(&|number| number & u64::from(u32::MAX) == UPPER)
        || row.is(op::SHL) && has(&|number| number == 16)
}

/// Whether a statement near this one is a minimum or a maximum of numbers.
fn is_compared(module: &Module<'_>, stmt: StmtId) -> bool {
    let near = stmt.index().saturating_sub(NEAR)..=stmt.index() + NEAR;
    let near = *near.start()..(near.end() + 1).min(module.stmts().len());
    near.filter_map(StmtId::new).any(|near| {
        module.instruction(near).is_some_and(|near| {
            [op::MIN, op::MAX].contains(&near.mnemonic())
                && [Some(op::S32), Some(op::U32)].contains(&near.last_type())
        })
    })
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
    fn what_treats_one_half_alone_is_one() {
        for line in [
            "and.b32 %d, %a, 65536;",
            "add.sat.s32 %d, %a, %b;",
            "sub.sat.s32 %d, %a, %b;",
            "max.u32 %d, %a, %b; and.b32 %d, %d, -65536;",
            "max.s32 %a, %a, 0; shl.b32 %a, %a, 16;",
        ] {
            assert!(seeds(line), "{line}");
        }
        for line in [
            "or.b32 %d, %a, 65536;",
            "add.s32 %d, %a, 65536;",
            "min.s32 %d, %a, 255;",
            "max.s32 %d, %a, 0;",
            "shl.b32 %d, %a, 16;",
        ] {
            assert!(!seeds(line), "{line}");
        }
    }

    #[test]
    fn other_numbers_are_not() {
        for number in ["0", "-1", "1", "255", "65535", "-65536", "0x7f7f7f7e", "0x3f803f80"] {
            assert!(!seeds(&format!("and.b32 %d, %a, {number};")), "{number}");
        }
        assert!(!seeds("prmt.b32 %d, %a, %b, 0x5410;"));
        assert!(!seeds("mov.f32 %f, 0f3F803F80;"));
        assert!(!seeds("and.b64 %w, %w, 0x100000001010101;"));
        assert!(!seeds("ld.global.u32 %d, [%w+16843009];"));
    }
}
