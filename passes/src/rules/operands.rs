//! What a video instruction computes with: parts of its sources as numbers, and what they can be.
//!
//! Ranges come from facts about whole registers. They only choose what to propose, so one that is too narrow costs a
//! proof that fails, and nothing else.

use crate::facts::Fact;
use crate::recipe::Source;
use crate::site::Site;
use ptxopt_grammar::meaning::term::ones;
use ptxopt_grammar::video::{Arithmetic, Compare, Part, Scalar, Sign, Simd, SimdArithmetic};

/// The least and the greatest number.
pub(super) type Range = (i128, i128);

/// What a word holds.
pub(super) const WORD: Range = (0, u32::MAX as i128);
/// What a signed word holds.
pub(super) const SIGNED_WORD: Range = (i32::MIN as i128, i32::MAX as i128);

/// Whether all of a range lies in another.
pub(super) fn within((least, greatest): Range, outer: Range) -> bool {
    outer.0 <= least && greatest <= outer.1
}

/// What so many bits hold.
pub(super) fn holds(bits: u32, sign: Sign) -> Range {
    match sign {
        Sign::Unsigned => (0, (1 << bits) - 1),
        Sign::Signed => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
    }
}

/// A part of a source, read as a number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operand {
    pub(super) source: Source,
    /// Its lowest bit.
    pub(super) low: u32,
    /// How many bits it has.
    pub(super) bits: u32,
    /// How it is extended.
    pub(super) sign: Sign,
    /// What it can be.
    pub(super) range: Range,
}

impl Operand {
    /// Bits of a source.
    pub(super) fn new(site: &Site<'_, '_, '_>, source: Source, low: u32, bits: u32, sign: Sign) -> Self {
        Self { source, low, bits, sign, range: range(site, source, low, bits, sign) }
    }

    /// What a scalar instruction reads.
    pub(super) fn part(site: &Site<'_, '_, '_>, source: Source, part: Option<Part>, sign: Sign) -> Self {
        Self::new(site, source, part.map_or(0, Part::shift), part.map_or(32, Part::bits), sign)
    }

    /// The number, if it is known.
    pub(super) fn constant(&self) -> Option<i128> {
        (self.range.0 == self.range.1).then_some(self.range.0)
    }

    /// Whether two operands are the same number whatever the inputs are.
    pub(super) fn same(&self, site: &Site<'_, '_, '_>, other: &Self) -> bool {
        let sign =
            self.sign == other.sign || self.range.0 >= 0 && other.range.0 >= 0 && self.bits == other.bits;
        let bytes = |operand: &Self| {
            let bytes = site.bytes(operand.source)?;
            let from = (operand.low / 8) as usize;
            Some(bytes[from..from + (operand.bits / 8) as usize].to_vec())
        };
        sign && bytes(self).is_some_and(|own| Some(own) == bytes(other))
    }
}

fn range(site: &Site<'_, '_, '_>, source: Source, low: u32, bits: u32, sign: Sign) -> Range {
    let fact = match source {
        Source::Constant(value) => Fact::exact(u128::from(value), 32),
        Source::Value(_) | Source::Step(_) => site.fact(source),
    };
    // What is never computed may be anything.
    if fact.is_bottom() || low + bits > fact.width() {
        return holds(bits, sign);
    }
    let mut part = Fact::from_bits(fact.zeros() >> low & ones(bits), fact.ones() >> low & ones(bits), bits);
    let (least, greatest) = fact.unsigned();
    if low + bits == fact.width() || greatest >> low <= ones(bits) {
        part = part.meet(&Fact::from_unsigned(least >> low, greatest >> low, bits));
    }
    if low == 0 && bits == fact.width() {
        part = part.meet(&Fact::from_signed(fact.signed().0, fact.signed().1, bits));
    }
    match sign {
        Sign::Unsigned => (part.unsigned().0.cast_signed(), part.unsigned().1.cast_signed()),
        Sign::Signed => part.signed(),
    }
}

/// A lane that a SIMD instruction computes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lane {
    /// Which lane of the result.
    pub(super) lane: u8,
    pub(super) x: Operand,
    pub(super) y: Operand,
}

/// The lanes that a SIMD instruction computes.
pub(super) fn lanes(site: &Site<'_, '_, '_>, form: &Simd) -> Vec<Lane> {
    let (lanes, mask) = (form.routing.lanes(), form.routing.mask());
    let operand = |place: u8, sign| {
        let (source, place) = if place < lanes.count() { (0, place) } else { (1, place - lanes.count()) };
        Operand::new(site, site.step.sources[source], u32::from(place) * lanes.bits(), lanes.bits(), sign)
    };
    (0..lanes.count())
        .filter(|lane| mask >> lane & 1 == 1)
        .map(|lane| Lane {
            lane,
            x: operand(form.routing.a().pick(lane), form.atype),
            y: operand(form.routing.b().pick(lane), form.btype),
        })
        .collect()
}

/// The operands of a scalar instruction.
pub(super) fn scalar_operands(site: &Site<'_, '_, '_>, form: &Scalar) -> (Operand, Operand) {
    let [a, b] = [site.step.sources[0], site.step.sources[1]];
    (Operand::part(site, a, form.a, form.atype), Operand::part(site, b, form.b, form.op.btype()))
}

/// What an operation gives of numbers of two ranges.
pub(super) fn result(op: SimdArithmetic, a: Range, b: Range) -> Range {
    let mean = |sum: i128| (sum + i128::from(sum >= 0)) >> 1;
    match op {
        SimdArithmetic::Add => (a.0 + b.0, a.1 + b.1),
        SimdArithmetic::Sub => (a.0 - b.1, a.1 - b.0),
        SimdArithmetic::Average => (mean(a.0 + b.0), mean(a.1 + b.1)),
        SimdArithmetic::AbsDiff => {
            let (least, greatest) = (a.0 - b.1, a.1 - b.0);
            let near = if least > 0 { least } else { (-greatest).max(0) };
            (near, (-least).max(greatest))
        }
        SimdArithmetic::Min => (a.0.min(b.0), a.1.min(b.1)),
        SimdArithmetic::Max => (a.0.max(b.0), a.1.max(b.1)),
    }
}

/// Whether a comparison is decided, and how.
pub(super) fn decided(compare: Compare, a: Range, b: Range, same: bool) -> Option<bool> {
    let equal = same || a.0 == a.1 && a == b;
    let (below, above) = (a.1 < b.0, b.1 < a.0);
    let (at_most, at_least) = (equal || a.1 <= b.0, equal || b.1 <= a.0);
    let either = |yes: bool, no: bool| if yes { Some(true) } else { no.then_some(false) };
    match compare {
        Compare::Eq => either(equal, below || above),
        Compare::Ne => either(below || above, equal),
        Compare::Lt => either(below, at_least),
        Compare::Le => either(at_most, above),
        Compare::Gt => either(above, at_most),
        Compare::Ge => either(at_least, below),
    }
}

/// The operation on lanes that does what one on words does.
pub(super) fn like(op: Arithmetic) -> SimdArithmetic {
    op.into()
}
