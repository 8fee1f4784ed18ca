//! Disputed forms: those that mean one thing by the manual and another by the code of NVIDIA's assembler.
//!
//! A program may have been tested with either meaning, so such a form must be left unchanged. The classes were found by
//! comparing the machine code of every form with the manual's pseudocode. A form belongs to a class unless the ranges
//! of its operands show that both meanings give the same result for every input.

use crate::constant;
use crate::table::instruction::op;
use crate::table::{Control, Effects, Row, modifiers};
use crate::tree::{Module, StmtId, StmtKind};
use crate::video::{
    Arithmetic, Direction, Form, Mad, Part, Scalar, ScalarOp, Scale, ShiftMode, Sign, Sum, Then, decode,
};

/// Which meaning disputed forms have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Semantics {
    /// None: nothing is known of their results, and they stay as they are.
    #[default]
    Undisputed,
    /// The manual's.
    Manual,
}

impl Semantics {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Undisputed, Self::Manual];

    /// What users call it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Undisputed => "undisputed",
            Self::Manual => "manual",
        }
    }
}

/// A class of forms with two meanings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dispute {
    /// What messages call it.
    pub name: &'static str,
    /// Which forms belong to it.
    pub forms: &'static str,
    /// What the manual says.
    pub manual: &'static str,
    /// What the assembler's code does.
    pub assembler: &'static str,
    /// How that is known.
    pub evidence: &'static str,
    /// The assemblers that deviate, as far as they were tried: the first and the last.
    pub assemblers: (&'static str, &'static str),
}

const COMPARED: &str = "the machine code of ptxas 13.5 for sm_75 and sm_90, run on reference vectors";

/// All classes.
pub static DISPUTES: [Dispute; 9] = [
    Dispute {
        name: "merge-h1",
        forms: "scalar instructions with the destination `d.h1`",
        manual: "the upper half of `d` is the low half of the result",
        assembler: "it is the upper half of the result",
        evidence: "the machine code of ptxas 12.9 and earlier; that of 13.5 does what the manual says",
        assemblers: ("11.8", "12.9"),
    },
    Dispute {
        name: "sat-u32-high",
        forms: "`vadd`, `vsub`, `vabsdiff` with `.sat` and destination type `.u32`, where the result can be 2^32 or more",
        manual: "the result is clamped at 0xffffffff",
        assembler: "it wraps; only results below zero are clamped",
        evidence: COMPARED,
        assemblers: ("12.9", "13.5"),
    },
    Dispute {
        name: "sat-subword",
        forms: "`vadd`, `vsub`, `vmin`, `vmax` with `.sat` and a destination selector, where the result can be negative",
        manual: "a result below the range becomes the lowest value",
        assembler: "a negative result becomes the highest value",
        evidence: COMPARED,
        assemblers: ("12.9", "13.5"),
    },
    Dispute {
        name: "shift-sat-subword",
        forms: "`vshl`, `vshr` with `.sat` and a destination selector",
        manual: "the result is clamped to the range of the selected part",
        assembler: "it is clamped to 32 bits and then cut",
        evidence: COMPARED,
        assemblers: ("12.9", "13.5"),
    },
    Dispute {
        name: "shift-34",
        forms: "`vshl` with `.sat`",
        manual: "the exact result is clamped",
        assembler: "its lowest 34 bits are clamped, as a signed number",
        evidence: COMPARED,
        assemblers: ("12.9", "13.5"),
    },
    Dispute {
        name: "secop-tmp",
        forms: "scalar instructions with `.min` or `.max` whose result before it may not fit in 31 bits (`.u32`) \
                or 32 bits (`.s32`); `vset` with `.min` or `.max` and a signed `a`",
        manual: "the exact result is compared with `c`, which has the type of `d` and for `vset` no sign",
        assembler: "64 bits are compared, unsigned for `.u32`; sums and differences are cut to 32 bits and sign-extended \
                    before; `c` of `vset` has the sign of `a`",
        evidence: COMPARED,
        assemblers: ("12.9", "13.5"),
    },
    Dispute {
        name: "vmad-s32",
        forms: "`vmad` with `.sat`, `.shr7` or `.shr15`, where an operand, `c` included, is an unsigned word, or where \
                `.sat` with the type of `d` is another clamp than with the sign of the result",
        manual: "unsigned words have no sign, and `.sat` clamps by the sign of the result",
        assembler: "words multiply as signed ones and `c` is sign-extended",
        evidence: COMPARED,
        assemblers: ("12.9", "13.5"),
    },
    Dispute {
        name: "field-64",
        forms: "`bfe.u64`, `bfe.s64`, `bfi.b64`, where the position or the length is not a constant below 256",
        manual: "the lowest eight bits of position and length count",
        assembler: "all their bits count, so that from 64 on no bit is in the field, or all are",
        evidence: "the machine code of ptxas 11.8 for sm_80, 12.9 and 13.5 for sm_90, and what the latter two fold",
        assemblers: ("11.8", "13.5"),
    },
    Dispute {
        name: "mixed-carry",
        forms: "`addc` and `madc` after `sub.cc` or `subc.cc`, and `subc` after `add.cc`, `addc.cc`, `mad.cc` or \
                `madc.cc`; also where a label, a call or many instructions stand between",
        manual: "the flag of a difference is its borrow",
        assembler: "it is the inverted borrow, which `subc` inverts back",
        evidence: "the machine code of ptxas 11.8 for sm_75, 12.9 and 13.5 for sm_90",
        assemblers: ("11.8", "13.5"),
    },
];

/// The class of an instruction with two meanings.
#[must_use]
pub fn disputed_at(module: &Module<'_>, stmt: StmtId) -> Option<&'static Dispute> {
    let row = module.row(stmt)?;
    if row.video.is_some() {
        return disputed(decode(module, stmt)?.ok()?.form);
    }
    if row.effects.has(Effects::READS_CARRY) {
        return is_flag_of_other_kind(module, stmt, row).then(|| class("mixed-carry"));
    }
    let fields = match row.name {
        "bfe" => 2..4,
        "bfi" => 3..5,
        _ => return None,
    };
    let (spelling, _token) = module.opcode(stmt)?;
    let words = module.spellings().words(spelling, module.text());
    let wide = modifiers(words).any(|word| matches!(word, b"u64" | b"s64" | b"b64"));
    let operands = module.operands(stmt);
    let small = |&node: &_| constant::value(module, node).is_some_and(|number| number < 256);
    let agreed = operands.get(fields).is_some_and(|fields| fields.iter().all(small));
    (wide && !agreed).then(|| class("field-64"))
}

/// How many statements before one that reads the carry flag are looked at.
const MOST_BETWEEN: usize = 256;

/// Whether the carry flag that a statement reads may be that of a difference where it is added, or that of a sum where it
/// is subtracted. A flag from before a label or a call may be anything, and so may one from far away: each reader looks
/// for it.
fn is_flag_of_other_kind(module: &Module<'_>, stmt: StmtId, reader: &Row) -> bool {
    let is_difference = |row: &Row| row.is(op::SUB) || row.is(op::SUBC);
    let before = (0..stmt.index()).rev().map(|at| StmtId::new(at).expect("it stands before a statement"));
    for before in before.take(MOST_BETWEEN) {
        let kind = module.kind(before);
        if matches!(kind, StmtKind::Label | StmtKind::Entry | StmtKind::Function | StmtKind::Unknown) {
            return true;
        }
        if kind != StmtKind::Instruction {
            continue;
        }
        let Some(row) =
            module.row(before).filter(|row| !matches!(row.control, Control::Call | Control::Unknown))
        else {
            return true;
        };
        if module.effects(before).has(Effects::WRITES_CARRY) {
            if is_difference(row) != is_difference(reader) {
                return true;
            }
            // One under a guard leaves the flag of an earlier one.
            if module.guard(before).is_none() {
                return false;
            }
        }
    }
    true
}

/// The class of a form with two meanings; the first if there are several.
#[must_use]
pub fn disputed(form: Form) -> Option<&'static Dispute> {
    let name = match form {
        Form::Scalar(form) => scalar(form),
        Form::Mad(form) => mad(form),
        Form::Simd(_) => None,
    }?;
    Some(class(name))
}

fn class(name: &str) -> &'static Dispute {
    DISPUTES.iter().find(|dispute| dispute.name == name).expect("every class is listed")
}

/// The least and the greatest value.
type Range = (i128, i128);

const WORD: Range = (0, u32::MAX as i128);
const SIGNED: Range = (i32::MIN as i128, i32::MAX as i128);

fn within((least, greatest): Range, outer: Range) -> bool {
    outer.0 <= least && greatest <= outer.1
}

/// The range of values of a source.
fn source(sign: Sign, part: Option<Part>) -> Range {
    let bits = part.map_or(32, Part::bits);
    match sign {
        Sign::Unsigned => (0, (1 << bits) - 1),
        Sign::Signed => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
    }
}

/// The range of results of a scalar instruction, before clamping.
fn exact(form: Scalar) -> Range {
    let (a, b) = (source(form.atype, form.a), source(form.op.btype(), form.b));
    match form.op {
        ScalarOp::Arithmetic { op, .. } => match op {
            Arithmetic::Add => (a.0 + b.0, a.1 + b.1),
            Arithmetic::Sub => (a.0 - b.1, a.1 - b.0),
            Arithmetic::AbsDiff => (0, (a.1 - b.0).max(b.1 - a.0)),
            Arithmetic::Min => (a.0.min(b.0), a.1.min(b.1)),
            Arithmetic::Max => (a.0.max(b.0), a.1.max(b.1)),
        },
        ScalarOp::Shift { direction: Direction::Right, .. } => a,
        ScalarOp::Shift { direction: Direction::Left, mode, .. } => {
            let most = match mode {
                ShiftMode::Clamp => 32,
                ShiftMode::Wrap => 31,
            };
            (a.0 << most, a.1 << most)
        }
        ScalarOp::Set { .. } => (0, 1),
    }
}

fn scalar(form: Scalar) -> Option<&'static str> {
    let Scalar { op, atype, then, .. } = form;
    let exact = exact(form);
    if then == Then::Merge(Part::H1) {
        return Some("merge-h1");
    }
    let merges = matches!(then, Then::Merge(_));
    if op.saturates() {
        let class = match op {
            ScalarOp::Arithmetic { .. } if merges && exact.0 < 0 => Some("sat-subword"),
            ScalarOp::Arithmetic {
                op: Arithmetic::Add | Arithmetic::Sub | Arithmetic::AbsDiff,
                dtype,
                ..
            } if !merges && dtype == Sign::Unsigned && exact.1 > WORD.1 => Some("sat-u32-high"),
            ScalarOp::Shift { .. } if merges => Some("shift-sat-subword"),
            ScalarOp::Shift { direction: Direction::Left, .. } => Some("shift-34"),
            ScalarOp::Arithmetic { .. } | ScalarOp::Shift { .. } | ScalarOp::Set { .. } => None,
        };
        if class.is_some() {
            return class;
        }
    }
    let compares = matches!(then, Then::Min | Then::Max);
    (compares && compared(op, atype, exact)).then_some("secop-tmp")
}

/// Whether the two meanings of a comparison with `c` differ for some result in the range, which may have been clamped.
fn compared(op: ScalarOp, atype: Sign, exact: Range) -> bool {
    let clamp = |range: Range| {
        if op.saturates() {
            (exact.0.clamp(range.0, range.1), exact.1.clamp(range.0, range.1))
        } else {
            exact
        }
    };
    match (op, op.dtype()) {
        (ScalarOp::Set { .. }, _) => atype == Sign::Signed,
        (_, Sign::Signed) => !within(clamp(SIGNED), SIGNED),
        (_, Sign::Unsigned) => !within(clamp(WORD), (0, SIGNED.1)),
    }
}

fn mad(form: Mad) -> Option<&'static str> {
    let Mad { dtype, atype, btype, saturate, scale, sum, a, b } = form;
    let negated = matches!(sum, Sum::NegatedProduct | Sum::NegatedAddend);
    let signed = atype == Sign::Signed || btype == Sign::Signed || negated;
    let word = |sign, part: Option<Part>| sign == Sign::Unsigned && part.is_none();
    let unsigned = word(atype, a) || word(btype, b) || !signed;
    let clamps = saturate && (dtype == Sign::Signed) != signed;
    ((saturate || scale != Scale::None) && (unsigned || clamps)).then_some("vmad-s32")
}
