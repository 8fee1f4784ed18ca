//! A form and its operands as text.
//!
//! Combinations that cannot be written are refused, so every assembler accepts the text, and it decodes to a form that
//! means the same.

use super::form::{Form, Mad, Scalar, Simd, Sum, Then};
use super::routing::{Part, Routing, Selector};
use crate::names::is_of_name;
use std::fmt::Write;

impl Form {
    /// The text of an instruction, without guard and without `;`. Default selectors and full masks are left out.
    ///
    /// `None` if these operands cannot have this form: a constant in a SIMD instruction, under a selector or under
    /// a sign; a missing `c`; and the selector `.b1024`, which new assemblers read as a type. That one is avoided
    /// by writing `b` before `a`, with `.b5460` for the same bytes, so the written instruction decodes to
    /// [`Form::exchanged`]; it is refused only where the other selector is `.b5460`.
    #[must_use]
    pub fn encode(self, d: &str, a: &str, b: &str, c: Option<&str>) -> Option<String> {
        let c = if self.reads_c() { Some(c?) } else { None };
        match self {
            Self::Scalar(scalar) => scalar.encode(d, a, b, c),
            Self::Mad(mad) => mad.encode(d, a, b, c?),
            Self::Simd(simd) => simd.encode(d, a, b, c?),
        }
    }

    /// The form that does the same once `a` and `b` have changed places; the form itself for scalar ones, whose
    /// operands cannot change places.
    #[must_use]
    pub const fn exchanged(self) -> Self {
        match self {
            Self::Simd(simd) => Self::Simd(Simd { routing: simd.routing.exchanged(), ..simd }),
            Self::Scalar(_) | Self::Mad(_) => self,
        }
    }
}

impl Scalar {
    fn encode(self, d: &str, a: &str, b: &str, c: Option<&str>) -> Option<String> {
        let mut text = String::with_capacity(64);
        let merged = match self.then {
            Then::Merge(part) => part.word(),
            Then::Store | Then::Add | Then::Min | Then::Max => "",
        };
        write!(text, "{} {d}{merged}, ", Form::Scalar(self)).ok()?;
        source(&mut text, a, self.a)?;
        text.push_str(", ");
        source(&mut text, b, self.b)?;
        if let Some(c) = c {
            write!(text, ", {c}").ok()?;
        }
        Some(text)
    }
}

impl Mad {
    fn encode(self, d: &str, a: &str, b: &str, c: &str) -> Option<String> {
        let (sign_a, sign_b, sign_c) = match self.sum {
            Sum::Plain | Sum::PlusOne => ("", "", ""),
            Sum::NegatedProduct if is_name(a) => ("-", "", ""),
            Sum::NegatedProduct if is_name(b) => ("", "-", ""),
            Sum::NegatedAddend if is_name(c) => ("", "", "-"),
            Sum::NegatedProduct | Sum::NegatedAddend => return None,
        };
        let mut text = String::with_capacity(64);
        write!(text, "{} {d}, {sign_a}", Form::Mad(self)).ok()?;
        source(&mut text, a, self.a)?;
        write!(text, ", {sign_b}").ok()?;
        source(&mut text, b, self.b)?;
        write!(text, ", {sign_c}{c}").ok()?;
        Some(text)
    }
}

impl Simd {
    fn encode(self, d: &str, a: &str, b: &str, c: &str) -> Option<String> {
        let written = |routing: Routing| !routing.a().is_unwritable() && !routing.b().is_unwritable();
        let (routing, a, b) = match self.routing {
            routing if written(routing) => (routing, a, b),
            routing if written(routing.exchanged()) => (routing.exchanged(), b, a),
            _ => return None,
        };
        if ![d, a, b, c].into_iter().all(is_whole_register) {
            return None;
        }
        let lanes = routing.lanes();
        let mut text = String::with_capacity(64);
        write!(text, "{} {d}", Form::Simd(self)).ok()?;
        if routing.mask() != lanes.full_mask() {
            write!(text, ".{}", lanes.letter()).ok()?;
            for lane in (0..lanes.count()).rev().filter(|lane| routing.mask() >> lane & 1 == 1) {
                write!(text, "{lane}").ok()?;
            }
        }
        let whole = [Selector::whole_a(lanes), Selector::whole_b(lanes)];
        for ((name, selector), whole) in [(a, routing.a()), (b, routing.b())].into_iter().zip(whole) {
            write!(text, ", {name}").ok()?;
            if selector != whole {
                selector.write(lanes, &mut text).ok()?;
            }
        }
        write!(text, ", {c}").ok()?;
        Some(text)
    }
}

fn source(text: &mut String, operand: &str, part: Option<Part>) -> Option<()> {
    text.push_str(operand);
    if let Some(part) = part {
        if !is_whole_register(operand) {
            return None;
        }
        text.push_str(part.word());
    }
    Some(())
}

/// Whether an operand is a name: `WARP_SZ` is the only constant that begins with a letter.
fn is_name(operand: &str) -> bool {
    let word = operand.bytes().take_while(|&byte| is_of_name(byte)).count();
    word > 0 && !operand.as_bytes()[0].is_ascii_digit() && operand[..word] != *"WARP_SZ"
}

/// Whether an operand may have a selector: it is no constant and no element of a vector.
fn is_whole_register(operand: &str) -> bool {
    is_name(operand) && !operand.contains('.')
}
