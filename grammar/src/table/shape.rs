//! Shapes: which types and operands an instruction takes, as text in a row of the table, and parsed for checks.
//!
//! A shape is `TYPES: OPERANDS`. It is the one source of what an instruction takes: input is checked against it, and
//! so is every line that the optimiser writes.
//!
//! `TYPES` has a word for each type of the opcode: alternatives with `/` between them, or the name of a set (`INT`,
//! `BITS`, …, below). `..` stands for any number of further types. Before them, `+wide` and `-wide` say that the shape
//! is that of opcodes with or without the modifier, `+and/or` with one of them. `OPERANDS` has a word for each operand:
//!
//! | word | what it is |
//! | --- | --- |
//! | `0`, `1` | a value of that type of the opcode |
//! | `d0` | a value of twice the bits of that type |
//! | `w0` | an operand of a conversion: a value of that type in a register that may be wider |
//! | `m0` | an operand of a move: a value of that type, a vector or a special register |
//! | `v0` | a value that is loaded or stored, in a register that may be wider, or a vector |
//! | `u32` | a value of that type |
//! | `p` | a predicate |
//! | `#` | a whole number |
//! | `@` | an address |
//! | `*` | anything |
//!
//! `=` before a word says that it is written, `|p` after it that a predicate may be joined, `?` that the last operand
//! may be left out, and `*..` stands for any number of operands.

use super::types::{Registers, TypeWord};
use super::{Row, modifiers};

/// The names of sets of types.
const SETS: &[(&str, &str)] = &[
    ("INT", "u16/s16/u32/s32/u64/s64"),
    ("WORDS", "u32/s32/u64/s64"),
    ("BITS", "b16/b32/b64"),
    ("FLT", "f32/f64"),
    ("HALF", "f16/f16x2/bf16/bf16x2"),
    ("PACKED", "u8x4/s8x4/u16x2/s16x2"),
    ("CVT", "u8/s8/u16/s16/u32/s32/u64/s64/f16/bf16/f32/f64"),
    (
        "NARROW",
        "tf32/e4m3/e5m2/e4m3x2/e5m2x2/e4m3x4/e5m2x4/e2m1/e2m3/e3m2/e2m1x2/e2m3x2/e3m2x2/e2m1x4/e2m3x4/e3m2x4/\
         ue8m0/ue8m0x2/ue8m0x4/ue4m3/ue5m3x2/s2f6x2/f16x2/bf16x2/b16/b32",
    ),
];

/// The kind of an operand that is present, as far as checks need it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Given {
    /// A register of this type.
    Register(crate::names::Type),
    /// A part of a scalar register: `%r1.b0`.
    Selected,
    /// A special register.
    Special,
    /// A whole number.
    Whole,
    /// A number with a fraction, or one given by its bits.
    Fraction,
    /// `{a, b}`.
    Vector,
    /// `[a]`.
    Address,
    /// `p|q`.
    Pair,
    /// `!p` of a register of this type.
    Complement(crate::names::Type),
    /// Anything else: a variable, a label, a sum, the sink `_`.
    Other,
}

/// The kinds of operands that a shape allows in one place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Operand {
    registers: Registers,
    /// Whether nothing is checked.
    any: bool,
    whole: bool,
    fraction: bool,
    special: bool,
    vector: bool,
    address: bool,
    pair: bool,
    complement: bool,
}

impl Operand {
    const NOTHING: Self = Self {
        registers: Registers::NONE,
        any: false,
        whole: false,
        fraction: false,
        special: false,
        vector: false,
        address: false,
        pair: false,
        complement: false,
    };

    fn read(word: &str, types: &[TypeWord]) -> Self {
        let (written, word) = word.strip_prefix('=').map_or((false, word), |word| (true, word));
        let (word, pair) = word.strip_suffix("|p").map_or((word, false), |word| (word, true));
        let nothing = Self { pair, ..Self::NOTHING };
        let at = |digit: &str| digit.parse::<usize>().ok().and_then(|at| types.get(at).copied());
        let value = |ty: TypeWord, registers: Registers| Self {
            registers,
            whole: !written && ty.takes_whole_numbers(),
            fraction: !written && ty.takes_fractions(),
            complement: !written && ty.is_predicate(),
            ..nothing
        };
        match word {
            "*" => Self { any: true, ..nothing },
            "@" => Self { address: true, ..nothing },
            "#" => Self { whole: true, ..nothing },
            "p" => {
                let predicate = TypeWord::parse(b"pred").expect("it is a type");
                value(predicate, predicate.registers())
            }
            _ => {
                let (letter, digit) = word.split_at(word.len().min(1));
                match (letter, at(digit), at(word)) {
                    (_, _, Some(ty)) => value(ty, ty.registers()),
                    ("d", Some(ty), _) => value(ty, ty.double_registers()),
                    ("w", Some(ty), _) => Self { special: true, ..value(ty, ty.wider_registers()) },
                    ("v", Some(ty), _) => Self { vector: true, ..value(ty, ty.wider_registers()) },
                    ("m", Some(ty), _) => Self { vector: true, special: true, ..value(ty, ty.registers()) },
                    _ => {
                        let ty = TypeWord::parse(word.as_bytes()).expect("a shape names types");
                        value(ty, ty.registers())
                    }
                }
            }
        }
    }

    /// Whether an operand of this kind is allowed here.
    pub(crate) fn fits(self, given: Given) -> bool {
        self.any
            || match given {
                Given::Register(ty) => self.registers.has(ty),
                Given::Complement(ty) => self.complement && self.registers.has(ty),
                Given::Special => self.special,
                Given::Whole => self.whole,
                Given::Fraction => self.fraction,
                Given::Vector => self.vector,
                Given::Address => self.address,
                Given::Pair => self.pair,
                Given::Selected => false,
                Given::Other => true,
            }
    }

    /// What a message says is expected.
    pub(crate) fn expected(self) -> String {
        let words: Vec<&str> = self.registers.words().collect();
        let mut kinds: Vec<String> = Vec::new();
        match words.as_slice() {
            [] => {}
            [first @ .., last] if !first.is_empty() => {
                let first = first.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
                kinds.push(format!("a register of type {first} or `{last}`"));
            }
            [one] => kinds.push(format!("a register of type `{one}`")),
            [..] => {}
        }
        let more = [
            (self.vector, "a vector"),
            (self.whole, "a whole number"),
            (self.fraction && !self.whole, "a number with a fraction"),
            (self.address, "an address in brackets"),
        ];
        kinds.extend(more.into_iter().filter(|(there, _)| *there).map(|(_, kind)| kind.to_owned()));
        format!("expected {}", kinds.join(" or "))
    }
}

/// A shape for one spelling of an opcode.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Shape {
    /// The least number of operands.
    least: usize,
    operands: Vec<Operand>,
    /// Whether any further operands may follow.
    open: bool,
}

impl Shape {
    fn read(operands: &str, types: &[TypeWord]) -> Self {
        let mut shape = Self { least: 0, operands: Vec::new(), open: false };
        for word in operands.split_whitespace() {
            if word == "*.." {
                shape.open = true;
                continue;
            }
            let (word, optional) = word.strip_suffix('?').map_or((word, false), |word| (word, true));
            shape.operands.push(Operand::read(word, types));
            shape.least += usize::from(!optional);
        }
        shape
    }

    /// Whether it allows this number of operands.
    pub(crate) fn has_places(&self, count: usize) -> bool {
        self.least <= count && (self.open || count <= self.operands.len())
    }

    /// The first operand that does not fit, and what is expected there.
    pub(crate) fn misfit(&self, given: &[Given]) -> Option<(usize, Operand)> {
        let pairs = given.iter().zip(&self.operands).enumerate();
        pairs.into_iter().find_map(|(at, (&given, operand))| (!operand.fits(given)).then_some((at, *operand)))
    }

    /// The least and the most operands that it takes.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.least, self.operands.len())
    }
}

/// What is wrong with the types of an opcode.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Mistyped {
    /// This type, by its position among the modifiers, is one that the instruction does not have there.
    Wrong(usize, Vec<&'static str>),
    /// There are too few types; these could come next.
    Missing(Vec<&'static str>),
}

/// The shapes of an opcode with these modifiers; empty if its row has none.
///
/// # Errors
///
/// What is wrong with its types, if no shape has them.
pub(crate) fn shapes(row: &Row, words: &[u8]) -> Result<Vec<Shape>, Mistyped> {
    let typed = || modifiers(words).enumerate().filter_map(|(at, word)| Some((at, TypeWord::parse(word)?)));
    let types: Vec<TypeWord> = typed().map(|(_, ty)| ty).collect();
    let mut found = Vec::new();
    // For the message: how many types the best shape matches, and which types it would allow next. A shape that allows
    // any types is not considered.
    let (mut fitting, mut wanted) = (0, Vec::new());
    let mut considered = false;
    for text in row.takes {
        let (head, operands) = text.split_once(':').expect("a shape has a colon");
        let (conditions, sets): (Vec<&str>, Vec<&str>) =
            head.split_whitespace().partition(|word| word.starts_with(['+', '-']));
        let has =
            |names: &str| modifiers(words).any(|word| names.split('/').any(|name| word == name.as_bytes()));
        if !conditions.iter().all(|condition| has(&condition[1..]) == condition.starts_with('+')) {
            continue;
        }
        considered = true;
        let open = sets.last() == Some(&"..");
        let sets = &sets[..sets.len() - usize::from(open)];
        let good =
            types.iter().zip(sets).take_while(|(ty, set)| members(set).any(|word| word == ty.word())).count();
        if good == sets.len() && (open || good == types.len()) {
            found.push(Shape::read(operands, &types));
        } else if good >= fitting && !sets.contains(&"ANY") {
            if good > fitting {
                wanted.clear();
            }
            fitting = good;
            wanted.extend(sets.get(good).into_iter().flat_map(|set| members(set)));
        }
    }
    if !found.is_empty() || !considered {
        return Ok(found);
    }
    match typed().nth(fitting) {
        Some((at, _)) => Err(Mistyped::Wrong(at, wanted)),
        None => Err(Mistyped::Missing(wanted)),
    }
}

/// The types of a set, or of alternatives that may be sets.
fn members(set: &'static str) -> Box<dyn Iterator<Item = &'static str>> {
    if set == "ANY" {
        return Box::new(TypeWord::all().map(TypeWord::word));
    }
    Box::new(set.split('/').flat_map(|name| {
        let named = SETS.iter().find(|(known, _)| *known == name);
        named.map_or(name, |(_, members)| *members).split('/')
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::Type;
    use crate::table::{lookup, rows};

    fn of(words: &str) -> Result<Vec<Shape>, Mistyped> {
        shapes(lookup(words.as_bytes()).expect("the instruction is known"), words.as_bytes())
    }

    #[test]
    fn every_shape_can_be_read() {
        let any: Vec<TypeWord> = vec![TypeWord::parse(b"b32").expect("it is a type"); 4];
        for row in rows() {
            for text in row.takes {
                let (head, operands) = text.split_once(':').expect("a shape has a colon");
                for set in head.split_whitespace().filter(|word| !word.starts_with(['+', '-', '.'])) {
                    for word in members(set) {
                        assert!(TypeWord::parse(word.as_bytes()).is_some(), "{}: {word}", row.name);
                    }
                }
                Shape::read(operands, &any);
            }
        }
    }

    #[test]
    fn sizes_and_kinds_of_registers_count() {
        let add = of("add.u32").expect("it is legal");
        let misfit = |given: &[Given]| add[0].misfit(given).map(|(at, _)| at);
        let register = |ty| Given::Register(ty);
        assert_eq!(misfit(&[register(Type::U32), register(Type::B32), Given::Whole]), None);
        assert_eq!(misfit(&[register(Type::U32), register(Type::U64), Given::Whole]), Some(1));
        assert_eq!(misfit(&[register(Type::U32), register(Type::F32), Given::Whole]), Some(1));
        assert_eq!(misfit(&[register(Type::U32), Given::Whole, Given::Fraction]), Some(2));
        assert_eq!(misfit(&[Given::Whole, Given::Whole, Given::Whole]), Some(0));
    }

    #[test]
    fn types_that_an_instruction_lacks_are_told() {
        assert!(matches!(of("mov.b8"), Err(Mistyped::Wrong(0, _))));
        assert!(matches!(of("cvt.rn.f32.pred"), Err(Mistyped::Wrong(2, _))));
        assert!(matches!(of("mul.lo"), Err(Mistyped::Missing(_))));
        assert!(matches!(of("mov.u32.u32"), Err(Mistyped::Wrong(1, _))));
        assert!(of("mul.wide.u16").is_ok_and(|shapes| shapes.len() == 1));
    }
}
