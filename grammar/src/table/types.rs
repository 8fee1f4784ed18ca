//! The types that instructions are spelled with, and which registers and constants fit each.
//!
//! The list is closed: a word that looks like a type and is none of these is an error. It has every word that the
//! assembler of CUDA 13.5 takes for a type in some instruction; the manual's tables name no others. Which registers fit
//! was tried with the assemblers too (`tests/assembler/legal.rs` repeats that): sizes must be equal, untyped bits take
//! any register of their size, signs do not matter, and floats take floats of their own type and untyped bits. Loads,
//! stores and conversions take wider registers as well.

use crate::names::Type;
use std::sync::LazyLock;

/// A type among the words of an opcode, as a position in the list of all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TypeWord(u8);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Integer,
    Bits,
    Float,
    /// Several numbers in one register, or numbers of few bits: held in untyped registers.
    Packed,
    Predicate,
    /// No register holds it.
    Opaque,
}

/// Each type, how many bits a register needs for it, and what kind it is.
const WORDS: [(&str, u32, Kind); 59] = {
    use Kind::{Bits, Float, Integer, Opaque, Packed, Predicate};
    [
        ("u8", 8, Integer),
        ("s8", 8, Integer),
        ("b8", 8, Bits),
        ("u16", 16, Integer),
        ("s16", 16, Integer),
        ("b16", 16, Bits),
        ("u32", 32, Integer),
        ("s32", 32, Integer),
        ("b32", 32, Bits),
        ("u64", 64, Integer),
        ("s64", 64, Integer),
        ("b64", 64, Bits),
        ("b128", 128, Bits),
        ("f16", 16, Float),
        ("f16x2", 32, Float),
        ("bf16", 16, Float),
        ("bf16x2", 32, Float),
        ("f32", 32, Float),
        ("f32x2", 64, Float),
        ("f64", 64, Float),
        ("pred", 1, Predicate),
        ("u8x4", 32, Packed),
        ("s8x4", 32, Packed),
        ("u16x2", 32, Packed),
        ("s16x2", 32, Packed),
        ("tf32", 0, Packed),
        ("b1", 0, Packed),
        ("b2", 0, Packed),
        ("b4", 0, Packed),
        ("u2", 0, Packed),
        ("s2", 0, Packed),
        ("u4", 0, Packed),
        ("s4", 0, Packed),
        ("e4m3", 0, Packed),
        ("e5m2", 0, Packed),
        ("e4m3x2", 0, Packed),
        ("e5m2x2", 0, Packed),
        ("e4m3x4", 0, Packed),
        ("e5m2x4", 0, Packed),
        ("e2m1", 0, Packed),
        ("e2m3", 0, Packed),
        ("e3m2", 0, Packed),
        ("e2m1x2", 0, Packed),
        ("e2m3x2", 0, Packed),
        ("e3m2x2", 0, Packed),
        ("e2m1x4", 0, Packed),
        ("e2m3x4", 0, Packed),
        ("e3m2x4", 0, Packed),
        ("ue8m0", 0, Packed),
        ("ue8m0x2", 0, Packed),
        ("ue8m0x4", 0, Packed),
        ("ue4m3", 0, Packed),
        ("ue5m3x2", 0, Packed),
        ("s2f6x2", 0, Packed),
        ("b8x16", 0, Packed),
        ("texref", 0, Opaque),
        ("samplerref", 0, Opaque),
        ("surfref", 0, Opaque),
        ("b1024", 0, Opaque),
    ]
};

impl TypeWord {
    /// How many there are.
    pub(super) const COUNT: usize = WORDS.len();

    /// The type with this number, from 0.
    pub(super) const fn numbered(place: usize) -> Option<Self> {
        #[expect(clippy::cast_possible_truncation, reason = "it was just compared")]
        if place < Self::COUNT { Some(Self(place as u8)) } else { None }
    }

    /// How many bits a number of this type has; `None` for predicates and packed numbers.
    #[must_use]
    pub const fn bits(self) -> Option<u32> {
        let (_, bits, kind) = WORDS[self.0 as usize];
        match kind {
            Kind::Integer | Kind::Bits | Kind::Float => Some(bits),
            Kind::Packed | Kind::Predicate | Kind::Opaque => None,
        }
    }

    /// The type that a modifier, without its dot, spells.
    #[must_use]
    pub fn parse(modifier: &[u8]) -> Option<Self> {
        (0_u8..).zip(WORDS).find(|(_, (word, ..))| word.as_bytes() == modifier).map(|(at, _)| Self(at))
    }

    /// How it is spelled, without a dot.
    #[must_use]
    pub const fn word(self) -> &'static str {
        WORDS[self.0 as usize].0
    }

    /// All types.
    pub fn all() -> impl Iterator<Item = Self> {
        (0_u8..).zip(WORDS).map(|(at, _)| Self(at))
    }

    /// Whether a modifier that is no type looks like one: `u6`, `f3`, `b128x2`, `e4m1`.
    #[must_use]
    pub fn is_like(modifier: &[u8]) -> bool {
        let digits = |text: &mut &[u8]| {
            let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
            *text = &text[count..];
            count > 0
        };
        let mut rest = modifier;
        let letters = rest.iter().take_while(|byte| byte.is_ascii_lowercase()).count();
        let stem = &rest[..letters];
        rest = &rest[letters..];
        let mut like =
            matches!(stem, b"u" | b"s" | b"b" | b"f" | b"bf" | b"tf" | b"e" | b"ue") && digits(&mut rest);
        if like && matches!(stem, b"e" | b"ue") {
            like = rest.split_off_first() == Some(&b'm') && digits(&mut rest);
        }
        match rest {
            [b'x', times @ ..] => like && !times.is_empty() && times.iter().all(u8::is_ascii_digit),
            [] => like,
            _ => false,
        }
    }

    /// Which registers hold it, the size of each exactly that of the type.
    #[must_use]
    pub(crate) fn registers(self) -> Registers {
        // Asked for every operand of every opcode of every text that is parsed.
        static ALL: LazyLock<Vec<Registers>> = LazyLock::new(|| {
            let own = |word: TypeWord| Registers::fitting(|ty| word.fits(ty, |bits, wanted| bits == wanted));
            TypeWord::all().map(own).collect()
        });
        ALL[usize::from(self.0)]
    }

    /// Which registers a load, a store or a conversion of it takes: wider ones too.
    #[must_use]
    pub(crate) fn wider_registers(self) -> Registers {
        Registers::fitting(|ty| self.fits(ty, |bits, wanted| bits >= wanted))
    }

    /// Which registers hold twice its bits.
    #[must_use]
    pub(crate) fn double_registers(self) -> Registers {
        Registers::fitting(|ty| self.fits(ty, |bits, wanted| bits == 2 * wanted))
    }

    fn fits(self, ty: Type, size: impl Fn(u32, u32) -> bool) -> bool {
        let (word, bits, kind) = WORDS[usize::from(self.0)];
        // A register of two halves is accepted nearly everywhere in place of 32 untyped bits, and even of a predicate.
        if matches!(ty, Type::F16x2 | Type::Bf16x2) && kind != Kind::Float {
            return kind == Kind::Predicate || size(32, bits);
        }
        let Some(own) = Self::parse(ty.word().get(1..).unwrap_or_default().as_bytes()) else { return true };
        let (_, own_bits, own_kind) = WORDS[usize::from(own.0)];
        match kind {
            Kind::Predicate => own_kind == Kind::Predicate,
            Kind::Opaque => false,
            _ if own_kind == Kind::Predicate => false,
            Kind::Bits => size(own_bits, bits),
            Kind::Integer => matches!(own_kind, Kind::Integer | Kind::Bits) && size(own_bits, bits),
            Kind::Float => word == own.word() || own_kind == Kind::Bits && size(own_bits, bits),
            Kind::Packed => bits == 0 || own_kind == Kind::Bits && size(own_bits, bits),
        }
    }

    /// Whether it is the type of predicates, which may be negated where they are read.
    pub(crate) fn is_predicate(self) -> bool {
        WORDS[usize::from(self.0)].2 == Kind::Predicate
    }

    /// Whether a whole number may be an operand of this type.
    pub(crate) fn takes_whole_numbers(self) -> bool {
        matches!(WORDS[usize::from(self.0)].2, Kind::Integer | Kind::Bits | Kind::Predicate)
            || self.word() == "f16"
    }

    /// Whether a number with a fraction may be an operand of this type.
    pub(crate) fn takes_fractions(self) -> bool {
        matches!(WORDS[usize::from(self.0)].2, Kind::Float | Kind::Bits)
    }
}

/// A set of types of registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Registers(u32);

impl Registers {
    pub(crate) const NONE: Self = Self(0);

    fn fitting(fits: impl Fn(Type) -> bool) -> Self {
        Self(Type::ALL.iter().filter(|&&ty| fits(ty)).fold(0, |set, &ty| set | 1 << ty as u8))
    }

    pub(crate) fn has(self, ty: Type) -> bool {
        self.0 >> (ty as u8) & 1 == 1
    }

    /// The types in it, as messages list them: without `.f16x2` where it is only accepted in place of untyped bits.
    pub(crate) fn words(self) -> impl Iterator<Item = &'static str> {
        let passing = self.has(Type::U32) || self.has(Type::Pred) || self.has(Type::F32);
        let told = move |ty: Type| ty.is_declared() && !(passing && ty == Type::F16x2);
        Type::ALL.iter().filter(move |&&ty| told(ty) && self.has(ty)).map(|ty| ty.word())
    }
}

#[cfg(test)]
mod tests {
    use super::TypeWord;

    #[test]
    fn what_looks_like_a_type_is_told_from_other_modifiers() {
        for ty in
            TypeWord::all().map(TypeWord::word).filter(|word| word.ends_with(|c: char| c.is_ascii_digit()))
        {
            assert!(TypeWord::is_like(ty.as_bytes()) || ty.contains('f') && ty.starts_with('s'), "{ty}");
        }
        for word in ["u6", "b128x2", "f3", "bf17", "e4m1", "ue8m0x3"] {
            assert!(TypeWord::is_like(word.as_bytes()), "{word}");
        }
        for word in
            ["f4e", "b4e", "shr7", "x4", "m8n8", "v2", "e", "sat", "2d", "b", "u", "f32x", "b8x16x2", ""]
        {
            assert!(!TypeWord::is_like(word.as_bytes()), "{word}");
        }
    }
}
