//! Instructions by value: a row of the table and modifiers, without operands.
//!
//! What a program spells and what a rewriter writes are the same small number, so that instructions are compared,
//! hashed and copied without their text. Opcodes and modifiers outside the tables cannot be represented: the names in
//! [`op`] are looked up when this crate is compiled, and the tests check that each instruction named there is legal.

use super::types::TypeWord;
use super::words::Modifier;
use super::{ALL, Needs, Row, lookup, modifiers};
use hashbrown::HashMap;
use std::fmt;
use std::sync::LazyLock;

/// A row of the table, by its number: the opcode without modifiers but those that make it an instruction of its own.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Mnemonic(u16);

impl Mnemonic {
    /// The bits that its number has in an [`Instruction`].
    const BITS: u32 = 10;

    /// The row with this name; for constants, which do not compile if there is none.
    const fn named(name: &str) -> Self {
        let mut at = 0;
        while at < ALL.len() {
            if super::same(ALL[at].name, name) {
                return Self::numbered(at);
            }
            at += 1;
        }
        panic!("the table has no such row")
    }

    /// All rows, in the order of the table.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..ALL.len()).map(Self::numbered)
    }

    /// That of a video instruction.
    #[must_use]
    pub fn of_video(opcode: crate::video::Opcode) -> Self {
        static BY_OPCODE: LazyLock<HashMap<crate::video::Opcode, Mnemonic>> = LazyLock::new(|| {
            let numbered = |(at, row): (usize, &&Row)| Some((row.video?, Mnemonic::numbered(at)));
            ALL.iter().enumerate().filter_map(numbered).collect()
        });
        BY_OPCODE[&opcode]
    }

    const fn numbered(at: usize) -> Self {
        assert!(at < 1 << Self::BITS, "a number of a row has so many bits");
        #[expect(clippy::cast_possible_truncation, reason = "it was just compared")]
        Self(at as u16)
    }

    /// Its row of the table.
    #[must_use]
    pub const fn row(self) -> &'static Row {
        ALL[self.0 as usize]
    }

    /// The instruction with one modifier, mostly its type.
    #[must_use]
    pub const fn of(self, modifier: Modifier) -> Instruction {
        self.with(&[modifier])
    }

    /// The instruction with these modifiers, in the order of the text.
    ///
    /// # Panics
    ///
    /// If there are more than any instruction with a meaning has.
    #[must_use]
    pub const fn with(self, modifiers: &[Modifier]) -> Instruction {
        assert!(modifiers.len() <= Instruction::MOST_MODIFIERS, "no instruction has so many modifiers");
        let mut bits = self.0 as u64;
        let mut at = 0;
        while at < modifiers.len() {
            bits |= (modifiers[at].number() as u64) << Instruction::shift(at);
            at += 1;
        }
        Instruction(bits)
    }
}

impl fmt::Debug for Mnemonic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.row().name)
    }
}

/// An opcode with all its modifiers: the number of the row in the lowest bits, then those of the modifiers in the order
/// of the text. No modifier is number 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Instruction(u64);

impl Instruction {
    /// The most modifiers that one has. Instructions with a meaning have at most five.
    const MOST_MODIFIERS: usize = 6;

    const fn shift(at: usize) -> usize {
        Mnemonic::BITS as usize + at * Modifier::BITS as usize
    }

    /// An opcode with modifiers as it is written: `cvt.pack.sat.u8.s32.b32`. `None` if the table has no such row, if a
    /// modifier is in no list, or if there are more than any instruction with a meaning has.
    #[must_use]
    pub fn parse(words: &[u8]) -> Option<Self> {
        let row = lookup(words)?;
        let mut all = [Modifier::ANY; Self::MOST_MODIFIERS];
        let mut count = 0;
        for word in modifiers(words) {
            *all.get_mut(count)? = Modifier::parse(word)?;
            count += 1;
        }
        let at = ALL.iter().position(|known| std::ptr::eq(*known, row))?;
        Some(Mnemonic::numbered(at).with(&all[..count]))
    }

    /// The same with one more modifier behind the others.
    ///
    /// # Panics
    ///
    /// If there are more than any instruction with a meaning has.
    #[must_use]
    pub fn and(self, modifier: Modifier) -> Self {
        let count = self.modifiers().count();
        assert!(count < Self::MOST_MODIFIERS, "no instruction has so many modifiers");
        Self(self.0 | u64::from(modifier.number()) << Self::shift(count))
    }

    /// Its row of the table.
    #[must_use]
    pub const fn row(self) -> &'static Row {
        self.mnemonic().row()
    }

    /// Its mnemonic.
    #[must_use]
    pub const fn mnemonic(self) -> Mnemonic {
        Mnemonic((self.0 & ((1 << Mnemonic::BITS) - 1)) as u16)
    }

    /// Its modifiers, in the order of the text; those of the name of its row are among them.
    pub fn modifiers(self) -> impl Iterator<Item = Modifier> {
        (0..Self::MOST_MODIFIERS).map_while(move |at| Modifier::numbered(self.0 >> Self::shift(at)))
    }

    /// The types among its modifiers.
    pub fn types(self) -> impl Iterator<Item = TypeWord> {
        self.modifiers().filter_map(Modifier::ty)
    }

    /// Its last modifier if that is a type, which is then the type of its sources.
    #[must_use]
    pub fn last_type(self) -> Option<Modifier> {
        self.modifiers().last().filter(|last| last.ty().is_some())
    }

    /// How many bits the type has that it ends with.
    #[must_use]
    pub fn last_bits(self) -> Option<u32> {
        self.last_type()?.ty()?.bits()
    }

    /// Whether it is of this row, with one type and, before that, no modifiers but these.
    #[must_use]
    pub fn is_typed(self, mnemonic: Mnemonic, before: &[Modifier]) -> bool {
        let count = self.modifiers().count();
        self.mnemonic() == mnemonic
            && self.last_type().is_some()
            && count == before.len() + 1
            && self.modifiers().zip(before).all(|(own, wanted)| own == *wanted)
    }

    /// The one of several instructions that compute the same which stands for all: that of unsigned numbers.
    #[must_use]
    pub fn representative(self) -> Self {
        let Some((alike, last)) = self.row().alike.as_ref().zip(self.last_type()) else { return self };
        let Some(&(_, same)) = alike.types.iter().find(|(ty, _)| *ty == last) else { return self };
        if !self.is_typed(self.mnemonic(), alike.before) {
            return self;
        }
        let place = Self::shift(alike.before.len());
        Self(self.0 & ((1 << place) - 1) | u64::from(same.number()) << place)
    }

    /// What it needs.
    #[must_use]
    pub fn needs(self) -> Needs {
        self.row().needs_with(|wanted| self.modifiers().any(|own| own.word() == wanted))
    }

    /// Whether version `ptx` has it no more.
    #[must_use]
    pub fn has_ended(self, ptx: (u8, u8)) -> bool {
        self.row().has_ended_with(ptx, |wanted| self.modifiers().any(|own| own.word() == wanted))
    }

    /// Whether it moves what it reads as it is, one source to one result.
    #[must_use]
    pub fn is_move(self) -> bool {
        self.row().moves || self == op::CVT_U8_U8
    }
}

/// Its text.
impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.row().name;
        f.write_str(name.split('.').next().unwrap_or(name))?;
        self.modifiers().try_for_each(|modifier| write!(f, ".{}", modifier.word()))
    }
}

impl fmt::Debug for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Opcodes, modifiers and whole instructions by name.
pub mod op {
    use super::{Instruction, Mnemonic, Modifier};

    /// Names that the tables have; any other does not compile.
    macro_rules! names {
        ($of:ident: $($name:ident $text:literal,)*) => {
            $(#[doc = concat!("`", $text, "`")] pub const $name: $of = $of::named($text);)*
        };
    }

    names! { Mnemonic:
        ADD "add", AND "and", BFE "bfe", BFI "bfi", BREV "brev", CVT "cvt", CVT_PACK "cvt.pack", DP2A "dp2a", DP4A "dp4a", LD "ld", LDU "ldu",
        LOP3 "lop3", MAD "mad", MAX "max", MIN "min", MOV "mov", MUL "mul", NEG "neg", NOT "not", OR "or", POPC "popc",
        PRMT "prmt", SAD "sad", SELP "selp", SET "set", SETP "setp", SHF "shf", SHL "shl", SHR "shr", ST "st",
        SUB "sub", SUBC "subc", XOR "xor",
    }

    names! { Modifier:
        ADDED "add", B128 "b128", B16 "b16", B32 "b32", B64 "b64", B8 "b8", CA "ca", CG "cg", CLAMP "clamp",
        CONST "const", CS "cs", EQ "eq", GE "ge", GLOBAL "global", GT "gt", HI "hi", L "l", LE "le", LO "lo",
        LOCAL "local", LT "lt", MAXIMUM "max", MINIMUM "min", NC "nc", NE "ne", PACK "pack", PARAM "param", PO "po", PRED "pred",
        R "r", RELU "relu", S16 "s16", S16X2 "s16x2", S32 "s32", S4 "s4", S64 "s64", S8 "s8", S8X4 "s8x4", SAT "sat",
        SHARED "shared", SHR15 "shr15", SHR7 "shr7", U16 "u16", U16X2 "u16x2", U32 "u32", U4 "u4", U64 "u64", U8 "u8",
        U8X4 "u8x4", V2 "v2", V4 "v4", WEAK "weak", WRAP "wrap", WT "wt",
    }

    /// Instructions, and a list of them.
    macro_rules! instructions {
        ($($name:ident $opcode:ident $($modifier:ident)*,)*) => {
            $(
                #[doc = concat!("`", stringify!($opcode), $(".", stringify!($modifier),)* "`")]
                pub const $name: Instruction = $opcode.with(&[$($modifier),*]);
            )*
            #[cfg(test)]
            pub(super) const NAMED: &[Instruction] = &[$($name),*];
        };
    }

    instructions! {
        ADD_S16X2 ADD S16X2,
        ADD_SAT_S32 ADD SAT S32,
        ADD_U16X2 ADD U16X2,
        ADD_U32 ADD U32,
        ADD_U8X4 ADD U8X4,
        AND_B32 AND B32,
        BREV_B32 BREV B32,
        CVT_S32_S8 CVT S32 S8,
        CVT_U16_U32 CVT U16 U32,
        CVT_U32_U16 CVT U32 U16,
        CVT_U32_U64 CVT U32 U64,
        CVT_U8_U8 CVT U8 U8,
        DP2A_LO_S32_S32 DP2A LO S32 S32,
        DP2A_LO_U32_S32 DP2A LO U32 S32,
        DP4A_S32_S32 DP4A S32 S32,
        DP4A_U32_S32 DP4A U32 S32,
        LOP3_B32 LOP3 B32,
        MAD_LO_U32 MAD LO U32,
        MAX_RELU_S16X2 MAX RELU S16X2,
        MAX_S16X2 MAX S16X2,
        MAX_S32 MAX S32,
        MAX_S8X4 MAX S8X4,
        MAX_U16X2 MAX U16X2,
        MIN_RELU_S16X2 MIN RELU S16X2,
        MIN_S16X2 MIN S16X2,
        MIN_S32 MIN S32,
        MIN_U16X2 MIN U16X2,
        MIN_U32 MIN U32,
        MIN_U8X4 MIN U8X4,
        MOV_B128 MOV B128,
        MOV_B16 MOV B16,
        MOV_B32 MOV B32,
        MOV_B64 MOV B64,
        MOV_PRED MOV PRED,
        MUL_LO_U32 MUL LO U32,
        NEG_S16 NEG S16,
        NOT_B32 NOT B32,
        OR_B32 OR B32,
        POPC_B32 POPC B32,
        PRMT_B32 PRMT B32,
        SAD_S32 SAD S32,
        SAD_U32 SAD U32,
        SELP_B32 SELP B32,
        SETP_EQ_S32 SETP EQ S32,
        SETP_LE_S32 SETP LE S32,
        SETP_LT_S32 SETP LT S32,
        SETP_NE_S32 SETP NE S32,
        SHF_L_WRAP_B32 SHF L WRAP B32,
        SHF_R_WRAP_B32 SHF R WRAP B32,
        SHL_B32 SHL B32,
        SHR_S32 SHR S32,
        SHR_U32 SHR U32,
        SUB_SAT_S32 SUB SAT S32,
        SUB_SAT_S8X4 SUB SAT S8X4,
        SUB_SAT_U8X4 SUB SAT U8X4,
        SUB_U32 SUB U32,
        SUB_U8X4 SUB U8X4,
        XOR_B32 XOR B32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::rows;
    use crate::table::shape::shapes;

    #[test]
    fn named_instructions_are_legal() {
        for instruction in op::NAMED {
            let words = instruction.to_string();
            let shapes = shapes(instruction.row(), words.as_bytes());
            assert!(shapes.is_ok_and(|shapes| !shapes.is_empty()), "{words}");
            assert_eq!(Instruction::parse(words.as_bytes()), Some(*instruction), "{words}");
        }
    }

    #[test]
    fn what_is_read_is_written() {
        for words in [
            "cvt.pack.sat.u8.s32.b32",
            "set.lt.and.u32.s32",
            "prmt.b32.f4e",
            "mul.wide.u16",
            "setp.hs.u64",
            "set.ls.u32.u32",
            "bar.sync",
        ] {
            let read = Instruction::parse(words.as_bytes()).expect(words);
            assert_eq!(read.to_string(), words);
        }
    }

    #[test]
    fn what_is_in_no_table_is_no_instruction() {
        for words in ["frobnicate.u32", "add.frob", "add.u33", "add.u32.u32.u32.u32.u32.u32.u32"] {
            assert_eq!(Instruction::parse(words.as_bytes()), None, "{words}");
        }
    }

    #[test]
    fn all_modifiers_of_rows_with_a_meaning_are_in_the_lists() {
        for row in rows().filter(|row| row.means.is_some()) {
            let named = row.name.split('.').skip(1);
            let formed = row.forms.iter().flat_map(|form| form.modifiers.split(' '));
            for word in named.chain(formed) {
                assert!(Modifier::parse(word.as_bytes()).is_some(), "`{word}` of `{}`", row.name);
            }
        }
    }

    #[test]
    fn signs_that_do_not_matter_are_left_out() {
        let found =
            |words: &str| Instruction::parse(words.as_bytes()).expect(words).representative().to_string();
        for (signed, wanted) in [
            ("add.s32", "add.u32"),
            ("add.s16x2", "add.u16x2"),
            ("sub.s32", "sub.u32"),
            ("mul.lo.s32", "mul.lo.u32"),
            ("mad.lo.s32", "mad.lo.u32"),
            ("shr.b32", "shr.u32"),
            ("add.sat.s32", "add.sat.s32"),
            ("mul.hi.s32", "mul.hi.s32"),
            ("shr.s32", "shr.s32"),
            ("min.s32", "min.s32"),
        ] {
            assert_eq!(found(signed), wanted);
        }
    }
}
