//! The modifiers of a video instruction, in any order.
//!
//! ptxas takes them before, between and after the types, and `.sat` any number of times; any other modifier must not
//! be repeated or have a second value. A missing modifier is reported at the opcode, a wrong one at the modifier.

use super::form::{SimdThen, Then};
use super::opcode::Opcode;
use super::words::{Compare, Scale, Second, ShiftMode, Sign, Word, classify};
use crate::table;

/// The modifiers of an opcode; [`read`] has checked that the opcode takes them, and that none is missing.
#[derive(Clone, Copy)]
pub(super) struct Modifiers {
    types: [Sign; 3],
    count: usize,
    pub(super) saturate: bool,
    second: Option<Second>,
    pub(super) mode: Option<ShiftMode>,
    pub(super) scale: Option<Scale>,
    pub(super) plus_one: bool,
    pub(super) compare: Option<Compare>,
}

impl Modifiers {
    /// The type of `d`; unsigned where it is not written.
    pub(super) fn dtype(&self) -> Sign {
        if self.count == 3 { self.types[0] } else { Sign::Unsigned }
    }

    pub(super) fn atype(&self) -> Sign {
        self.types[self.count - 2]
    }

    pub(super) fn btype(&self) -> Sign {
        self.types[self.count - 1]
    }

    /// The secondary operation of a scalar instruction.
    pub(super) fn then(&self) -> Then {
        match self.second {
            None => Then::Store,
            Some(Second::Add) => Then::Add,
            Some(Second::Min) => Then::Min,
            Some(Second::Max) => Then::Max,
        }
    }

    /// What a SIMD instruction does with its lanes.
    pub(super) fn simd_then(&self) -> SimdThen {
        match (self.second, self.saturate) {
            (Some(_), _) => SimdThen::Add,
            (None, true) => SimdThen::Saturate,
            (None, false) => SimdThen::Store,
        }
    }
}

/// What is wrong with an opcode.
pub(super) struct Fault {
    /// The modifier that is wrong, counted from 0; `None`: something is missing.
    pub(super) modifier: Option<usize>,
    pub(super) message: String,
    pub(super) label: &'static str,
}

const TYPE: &str = "expected `.u32` or `.s32`";
const COMPARE: &str = "expected `.eq`, `.ne`, `.lt`, `.le`, `.gt` or `.ge`";
const MODE: &str = "expected `.clamp` or `.wrap`";

/// Which modifiers besides types an instruction takes.
struct Takes {
    saturate: bool,
    second: bool,
    mode: bool,
    scale: bool,
    compare: bool,
    words: &'static str,
}

const fn takes(opcode: Opcode) -> Takes {
    let none = Takes { saturate: false, second: false, mode: false, scale: false, compare: false, words: "" };
    match opcode {
        Opcode::Arithmetic(_) => Takes {
            saturate: true,
            second: true,
            words: "expected a type, `.sat`, `.add`, `.min` or `.max`",
            ..none
        },
        Opcode::Shift(_) => Takes {
            saturate: true,
            second: true,
            mode: true,
            words: "expected a type, `.clamp`, `.wrap`, `.sat`, `.add`, `.min` or `.max`",
            ..none
        },
        Opcode::Set => Takes {
            second: true,
            compare: true,
            words: "expected a type, a comparison, `.add`, `.min` or `.max`",
            ..none
        },
        Opcode::Mad => Takes {
            saturate: true,
            scale: true,
            words: "expected a type, `.sat`, `.po`, `.shr7` or `.shr15`",
            ..none
        },
        Opcode::Simd(..) => {
            Takes { saturate: true, second: true, words: "expected a type, `.sat` or `.add`", ..none }
        }
        Opcode::SimdSet(_) => {
            Takes { second: true, compare: true, words: "expected a type, a comparison or `.add`", ..none }
        }
    }
}

/// Reads the modifiers of `words`, an opcode without blanks.
pub(super) fn read(opcode: Opcode, words: &[u8]) -> Result<Modifiers, Fault> {
    let mut modifiers = Modifiers {
        types: [Sign::Unsigned; 3],
        count: 0,
        saturate: false,
        second: None,
        mode: None,
        scale: None,
        plus_one: false,
        compare: None,
    };
    for (index, word) in table::modifiers(words).enumerate() {
        if let Err((message, label)) = modifiers.take(opcode, word) {
            return Err(Fault { modifier: Some(index), message, label });
        }
    }
    match modifiers.missing(opcode) {
        None => Ok(modifiers),
        Some((message, label)) => Err(Fault { modifier: None, message, label }),
    }
}

type Wrong = (String, &'static str);

impl Modifiers {
    fn take(&mut self, opcode: Opcode, word: &[u8]) -> Result<(), Wrong> {
        let takes = takes(opcode);
        let foreign = || Err(foreign(opcode, word, takes.words));
        match classify(word) {
            Word::Type(sign) => self.take_type(opcode, sign),
            Word::OtherType => Err((format!("video instructions have no type `.{}`", lossy(word)), TYPE)),
            Word::Saturate if takes.saturate => {
                self.saturate = true;
                self.exclusive(opcode)
            }
            Word::Second(second) if takes.second => self.take_second(opcode, second, word),
            Word::Mode(mode) if takes.mode => {
                once(&mut self.mode, mode, || ("two shift modes".into(), "expected only one"))
            }
            Word::Scale(scale) if takes.scale => {
                once(&mut self.scale, scale, || ("two scales".into(), "expected `.shr7` or `.shr15` once"))
            }
            Word::PlusOne if takes.scale => {
                let twice = std::mem::replace(&mut self.plus_one, true);
                if twice { Err(("`.po` twice".into(), "expected it once")) } else { Ok(()) }
            }
            Word::Compare(compare) if takes.compare => {
                once(&mut self.compare, compare, || ("two comparisons".into(), "expected only one"))
            }
            Word::OtherCompare if takes.compare => {
                Err((format!("`{}` has no comparison `.{}`", opcode.name(), lossy(word)), COMPARE))
            }
            Word::Saturate
            | Word::Second(_)
            | Word::Mode(_)
            | Word::Scale(_)
            | Word::PlusOne
            | Word::Compare(_)
            | Word::OtherCompare
            | Word::Unknown => foreign(),
        }
    }

    fn take_type(&mut self, opcode: Opcode, sign: Sign) -> Result<(), Wrong> {
        if self.count == opcode.types() {
            let name = opcode.name();
            return Err(match opcode.types() {
                2 => (
                    format!("`{name}` takes two types"),
                    "expected those of `a` and `b` only: the result is always unsigned",
                ),
                _ => (format!("`{name}` takes three types"), "expected no fourth"),
            });
        }
        if matches!(opcode, Opcode::Shift(_)) && self.count == 2 && sign == Sign::Signed {
            return Err((format!("the amount of `{}` is unsigned", opcode.name()), "expected `.u32`"));
        }
        self.types[self.count] = sign;
        self.count += 1;
        Ok(())
    }

    fn take_second(&mut self, opcode: Opcode, second: Second, word: &[u8]) -> Result<(), Wrong> {
        if opcode.lanes().is_some() && second != Second::Add {
            let message = format!("`{}` has no secondary operation `.{}`", opcode.name(), lossy(word));
            return Err((message, "expected `.add` or none"));
        }
        once(&mut self.second, second, || {
            ("two secondary operations".into(), "expected one of `.add`, `.min` and `.max`")
        })?;
        self.exclusive(opcode)
    }

    /// A SIMD instruction saturates or accumulates; a scalar one may do both.
    fn exclusive(&self, opcode: Opcode) -> Result<(), Wrong> {
        if opcode.lanes().is_some() && self.saturate && self.second.is_some() {
            let message = format!("`.sat` and `.add` exclude each other in `{}`", opcode.name());
            return Err((message, "expected only one of them"));
        }
        Ok(())
    }

    fn missing(&self, opcode: Opcode) -> Option<Wrong> {
        let name = opcode.name();
        let takes = takes(opcode);
        if self.count < opcode.types() {
            return Some(match opcode.types() {
                2 => {
                    (format!("`{name}` needs two types"), "expected `.u32` or `.s32` for each of `a` and `b`")
                }
                _ => (
                    format!("`{name}` needs three types"),
                    "expected `.u32` or `.s32` for each of `d`, `a` and `b`",
                ),
            });
        }
        if takes.mode && self.mode.is_none() {
            return Some((format!("`{name}` needs a shift mode"), MODE));
        }
        if takes.compare && self.compare.is_none() {
            return Some((format!("`{name}` needs a comparison"), COMPARE));
        }
        None
    }
}

fn once<T>(slot: &mut Option<T>, value: T, wrong: impl FnOnce() -> Wrong) -> Result<(), Wrong> {
    if slot.is_some() {
        return Err(wrong());
    }
    *slot = Some(value);
    Ok(())
}

fn foreign(opcode: Opcode, word: &[u8], expected: &'static str) -> Wrong {
    (format!("`{}` has no modifier `.{}`", opcode.name(), lossy(word)), expected)
}

fn lossy(word: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(word)
}
