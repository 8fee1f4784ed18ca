//! The words that stand among the modifiers of a video instruction.
//!
//! A word means the same in every instruction; which instructions take it is decided in [`super::modifiers`].

use crate::names::Type;
use crate::table::instruction::op;
use crate::table::words::Modifier;

/// How a 32-bit type extends what it reads and clamps what it writes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Sign {
    /// `.u32`
    Unsigned,
    /// `.s32`
    Signed,
}

impl Sign {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Unsigned, Self::Signed];

    /// How it is written.
    #[must_use]
    pub const fn modifier(self) -> Modifier {
        match self {
            Self::Unsigned => op::U32,
            Self::Signed => op::S32,
        }
    }
}

/// A comparison.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Compare {
    /// `.eq`
    Eq,
    /// `.ne`
    Ne,
    /// `.lt`
    Lt,
    /// `.le`
    Le,
    /// `.gt`
    Gt,
    /// `.ge`
    Ge,
}

impl Compare {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Eq, Self::Ne, Self::Lt, Self::Le, Self::Gt, Self::Ge];

    /// How it is written.
    #[must_use]
    pub const fn modifier(self) -> Modifier {
        match self {
            Self::Eq => op::EQ,
            Self::Ne => op::NE,
            Self::Lt => op::LT,
            Self::Le => op::LE,
            Self::Gt => op::GT,
            Self::Ge => op::GE,
        }
    }
}

/// What becomes of a shift amount above 31.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ShiftMode {
    /// `.clamp`: it counts as at most 32.
    Clamp,
    /// `.wrap`: it counts modulo 32.
    Wrap,
}

impl ShiftMode {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Clamp, Self::Wrap];

    /// How it is written.
    #[must_use]
    pub const fn modifier(self) -> Modifier {
        match self {
            Self::Clamp => op::CLAMP,
            Self::Wrap => op::WRAP,
        }
    }
}

/// How far `vmad` shifts its sum to the right.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Scale {
    /// Not at all.
    None,
    /// `.shr7`
    Shr7,
    /// `.shr15`
    Shr15,
}

impl Scale {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::None, Self::Shr7, Self::Shr15];

    /// How it is written; `None` for none.
    #[must_use]
    pub const fn modifier(self) -> Option<Modifier> {
        match self {
            Self::None => None,
            Self::Shr7 => Some(op::SHR7),
            Self::Shr15 => Some(op::SHR15),
        }
    }

    /// By how many bits.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Self::None => 0,
            Self::Shr7 => 7,
            Self::Shr15 => 15,
        }
    }
}

/// A secondary operation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Second {
    Add,
    Min,
    Max,
}

/// What a modifier is, whatever the instruction.
pub(super) enum Word {
    Type(Sign),
    /// A type that video instructions do not have.
    OtherType,
    Saturate,
    Second(Second),
    Mode(ShiftMode),
    Scale(Scale),
    PlusOne,
    Compare(Compare),
    /// A comparison of other instructions.
    OtherCompare,
    Unknown,
}

/// What `word`, without its dot, is.
pub(super) fn classify(word: &[u8]) -> Word {
    match word {
        b"u32" => Word::Type(Sign::Unsigned),
        b"s32" => Word::Type(Sign::Signed),
        b"sat" => Word::Saturate,
        b"add" => Word::Second(Second::Add),
        b"min" => Word::Second(Second::Min),
        b"max" => Word::Second(Second::Max),
        b"clamp" => Word::Mode(ShiftMode::Clamp),
        b"wrap" => Word::Mode(ShiftMode::Wrap),
        b"shr7" => Word::Scale(Scale::Shr7),
        b"shr15" => Word::Scale(Scale::Shr15),
        b"po" => Word::PlusOne,
        b"eq" => Word::Compare(Compare::Eq),
        b"ne" => Word::Compare(Compare::Ne),
        b"lt" => Word::Compare(Compare::Lt),
        b"le" => Word::Compare(Compare::Le),
        b"gt" => Word::Compare(Compare::Gt),
        b"ge" => Word::Compare(Compare::Ge),
        b"lo" | b"ls" | b"hi" | b"hs" | b"equ" | b"neu" | b"ltu" | b"leu" | b"gtu" | b"geu" | b"num"
        | b"nan" => Word::OtherCompare,
        other if Type::parse(&[b".", other].concat()).is_known() => Word::OtherType,
        _ => Word::Unknown,
    }
}
