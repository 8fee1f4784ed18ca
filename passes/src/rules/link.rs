//! Video instructions lane by lane: what each lane computes, of which bytes, and what lies below.
//!
//! A SIMD instruction, a scalar one that writes a byte of its result and a scalar one that adds to `c` are the same
//! kind of thing: some lanes are computed, and the rest is `c`. Rules take such links apart and put them together
//! again. What is said here chooses what to propose; it is not relied upon.

use super::operands::{self, Range, decided, holds, within};
use super::reach::{Need, contents};
use crate::lanes::Byte;
use crate::recipe::{Code, Source, Step};
use crate::site::Site;
use ptxopt_grammar::meaning::term;
use ptxopt_grammar::video::{
    Form, Lanes, Part, Scalar, ScalarOp, Selector, Sign, Simd, SimdArithmetic, SimdOp, SimdThen, Then,
};

/// What a lane reads: one byte or two, and what is known of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct LaneOperand {
    /// The lowest first.
    pub(super) needs: Vec<Need>,
    zeros: i128,
    ones: i128,
}

/// One lane.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Item {
    pub(super) lane: u8,
    pub(super) x: LaneOperand,
    pub(super) y: LaneOperand,
}

/// Lanes that are computed alike, and what they are merged into or added to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Link {
    pub(super) op: SimdOp,
    pub(super) atype: Sign,
    pub(super) btype: Sign,
    pub(super) size: Lanes,
    pub(super) items: Vec<Item>,
    pub(super) c: Source,
}

/// What a lane computes, if it is no work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Trivial {
    Number(i128),
    First,
    Second,
}

/// How many bytes a lane has.
pub(super) const fn bytes(size: Lanes) -> usize {
    match size {
        Lanes::Two => 2,
        Lanes::Four => 1,
    }
}

impl LaneOperand {
    fn new(needs: Vec<Need>, fact: (u128, u128)) -> Self {
        let all = (1_i128 << (8 * needs.len())) - 1;
        let cut = |bits: u128| bits.cast_signed() & all;
        Self { needs, zeros: cut(fact.0), ones: cut(fact.1) }
    }

    /// A lane of a source.
    pub(super) fn of(site: &Site<'_, '_, '_>, source: Source, lane: u8, size: Lanes) -> Option<Self> {
        let contents = contents(site, source)?;
        let place = usize::from(lane) * bytes(size);
        let demanded = demanded(site, source).to_le_bytes();
        let need = |at: usize| Need { byte: contents[at], bits: demanded[at] };
        let (zeros, ones) = known(site, source);
        // Other edits may change undemanded bits, so facts about those are of no use.
        let told = self::demanded(site, source);
        let facts = ((zeros & told) >> (8 * place), (ones & told) >> (8 * place));
        Some(Self::new((place..place + bytes(size)).map(need).collect(), facts))
    }

    /// A number.
    pub(super) fn number(number: u8, size: Lanes) -> Self {
        let byte = |at: usize| Need::whole(Byte::Constant(if at == 0 { number } else { 0 }));
        Self::new((0..bytes(size)).map(byte).collect(), (!u128::from(number), number.into()))
    }

    /// The least and the greatest number that it can be.
    fn range(&self, sign: Sign) -> Range {
        let bits = 8 * self.needs.len();
        let (least, greatest) = (self.ones, !self.zeros & ((1 << bits) - 1));
        let top = 1_i128 << (bits - 1);
        match sign {
            Sign::Unsigned => (least, greatest),
            Sign::Signed => {
                let number = |value: i128| (value ^ top) - top;
                // Negative if it can be, and not if it can be otherwise.
                let low = if self.zeros & top == 0 { least | top } else { least };
                let high = if self.ones & top == 0 { greatest & !top } else { greatest };
                (number(low), number(high))
            }
        }
    }

    fn same(&self, other: &Self) -> bool {
        let same = |(one, other): (&Need, &Need)| match one.byte {
            Byte::Of(..) | Byte::SignOf(..) => one.byte == other.byte,
            Byte::Constant(_) => one == other && one.bits == 0xff,
        };
        self.needs.iter().zip(&other.needs).all(same)
    }

    fn contents(&self) -> Vec<Byte> {
        self.needs.iter().map(|need| need.byte).collect()
    }
}

impl Link {
    /// A step lane by lane; the types are those of the lanes, which for scalar instructions can be chosen.
    pub(super) fn typed(site: &Site<'_, '_, '_>, step: &Step, types: (Sign, Sign)) -> Option<Self> {
        let Code::Video(form) = &step.code else { return None };
        match form {
            Form::Simd(form) => {
                (types == (form.atype, form.btype)).then(|| simd(site, *form, &step.sources))?
            }
            Form::Scalar(form) => scalar(site, *form, &step.sources, types),
            Form::Mad(_) => None,
        }
    }

    /// A step lane by lane.
    pub(super) fn of(site: &Site<'_, '_, '_>, step: &Step) -> Option<Self> {
        let types = Sign::ALL.into_iter().flat_map(|a| Sign::ALL.map(|b| (a, b)));
        types.into_iter().find_map(|types| Self::typed(site, step, types))
    }

    /// The site lane by lane, if it is a SIMD instruction, and its form.
    pub(super) fn simd(site: &Site<'_, '_, '_>) -> Option<(Simd, Self)> {
        let Some(Form::Simd(form)) = site.form() else { return None };
        Some((form, simd(site, form, &site.step.sources)?))
    }

    /// Whether lanes are added to `c`; else they are merged into it.
    pub(super) fn adds(&self) -> bool {
        match self.op {
            SimdOp::Arithmetic { then, .. } => then == SimdThen::Add,
            SimdOp::Set { accumulate, .. } => accumulate,
        }
    }

    /// The lanes that are computed.
    pub(super) fn mask(&self) -> u8 {
        self.items.iter().fold(0, |mask, item| mask | 1 << item.lane)
    }

    fn outcome(&self, item: &Item) -> Option<Trivial> {
        let (x, y) = (item.x.range(self.atype), item.y.range(self.btype));
        let same = item.x.same(&item.y) && self.atype == self.btype;
        match self.op {
            SimdOp::Arithmetic { op, dtype, then } => {
                let outcome = computed(op, x, y, same)?;
                match (then, outcome) {
                    (SimdThen::Store | SimdThen::Add, _) => Some(outcome),
                    (SimdThen::Saturate, Trivial::Number(number)) => {
                        let (least, greatest) = holds(self.size.bits(), dtype);
                        Some(Trivial::Number(number.clamp(least, greatest)))
                    }
                    (SimdThen::Saturate, Trivial::First) => {
                        within(x, holds(self.size.bits(), dtype)).then_some(outcome)
                    }
                    (SimdThen::Saturate, Trivial::Second) => {
                        within(y, holds(self.size.bits(), dtype)).then_some(outcome)
                    }
                }
            }
            SimdOp::Set { compare, .. } => {
                decided(compare, x, y, same).map(|holds| Trivial::Number(holds.into()))
            }
        }
    }

    /// The bytes that a lane of a merge gets, if nothing need be computed for them.
    pub(super) fn moved(&self, item: &Item) -> Option<Vec<Byte>> {
        let count = bytes(self.size);
        Some(match self.outcome(item)? {
            Trivial::Number(number) => {
                number.to_le_bytes()[..count].iter().copied().map(Byte::Constant).collect()
            }
            Trivial::First => item.x.contents(),
            Trivial::Second => item.y.contents(),
        })
    }

    /// What a lane of a sum adds, if that is a number.
    pub(super) fn added(&self, item: &Item) -> Option<i128> {
        match self.outcome(item)? {
            Trivial::Number(number) => Some(number),
            Trivial::First => single(item.x.range(self.atype)),
            Trivial::Second => single(item.y.range(self.btype)),
        }
    }
}

fn single((least, greatest): Range) -> Option<i128> {
    (least == greatest).then_some(least)
}

fn computed(op: SimdArithmetic, x: Range, y: Range, same: bool) -> Option<Trivial> {
    if let Some(number) = single(operands::result(op, x, y)) {
        return Some(Trivial::Number(number));
    }
    let (first, second) = match op {
        SimdArithmetic::Add => (y == (0, 0), x == (0, 0)),
        SimdArithmetic::Sub => (y == (0, 0), false),
        SimdArithmetic::Average => (same, false),
        SimdArithmetic::AbsDiff => (y == (0, 0) && x.0 >= 0, x == (0, 0) && y.0 >= 0),
        SimdArithmetic::Min => (same || x.1 <= y.0, y.1 <= x.0),
        SimdArithmetic::Max => (same || x.0 >= y.1, y.0 >= x.1),
    };
    match op {
        SimdArithmetic::Sub | SimdArithmetic::AbsDiff if same => Some(Trivial::Number(0)),
        SimdArithmetic::Add
        | SimdArithmetic::Sub
        | SimdArithmetic::Average
        | SimdArithmetic::AbsDiff
        | SimdArithmetic::Min
        | SimdArithmetic::Max => first.then_some(Trivial::First).or(second.then_some(Trivial::Second)),
    }
}

/// What is known of a source, bit by bit: zeros and ones.
fn known(site: &Site<'_, '_, '_>, source: Source) -> (u128, u128) {
    let fact = site.fact(source);
    (fact.zeros(), fact.ones())
}

/// The demanded bits of a source.
fn demanded(site: &Site<'_, '_, '_>, source: Source) -> u128 {
    match source {
        Source::Value(value) => site.knowledge.demanded[value.index()],
        Source::Step(_) | Source::Constant(_) => u32::MAX.into(),
    }
}

fn simd(site: &Site<'_, '_, '_>, form: Simd, sources: &[Source]) -> Option<Link> {
    let &[a, b, c] = sources else { return None };
    let Simd { op, atype, btype, routing } = form;
    let size = routing.lanes();
    let operand = |selector: Selector, lane: u8| {
        let pick = selector.pick(lane);
        let source = if pick < size.count() { a } else { b };
        let mut operand = LaneOperand::of(site, source, pick % size.count(), size)?;
        // These bits are undemanded because of the lane that reads them; at another place they may be changed.
        for need in operand.needs.iter_mut().filter(|need| need.bits == 0) {
            need.bits = 0xff;
        }
        Some(operand)
    };
    let lanes = (0..size.count()).filter(|lane| routing.mask() >> lane & 1 == 1);
    let item = |lane| Some(Item { lane, x: operand(routing.a(), lane)?, y: operand(routing.b(), lane)? });
    Some(Link { op, atype, btype, size, items: lanes.map(item).collect::<Option<_>>()?, c })
}

/// What a scalar instruction reads, extended: the four bytes, and what fills all bits above.
pub(super) fn extended(bytes: [Byte; 4], part: Option<Part>, sign: Sign) -> [Byte; 5] {
    let (from, count) = match part {
        Some(part) => ((part.shift() / 8) as usize, (part.bits() / 8) as usize),
        None => (0, 4),
    };
    let fill = match (sign, bytes[from + count - 1]) {
        (Sign::Unsigned, _) => Byte::Constant(0),
        (Sign::Signed, Byte::Constant(byte)) => Byte::Constant(if byte >= 0x80 { 0xff } else { 0 }),
        (Sign::Signed, Byte::Of(value, at) | Byte::SignOf(value, at)) => Byte::SignOf(value, at),
    };
    std::array::from_fn(|at| if at < count { bytes[from + at] } else { fill })
}

/// A scalar instruction that writes a lane, or adds one to `c`.
fn scalar(site: &Site<'_, '_, '_>, form: Scalar, sources: &[Source], types: (Sign, Sign)) -> Option<Link> {
    let &[a, b, c] = sources else { return None };
    let adds = form.then == Then::Add;
    let op = match form.op {
        ScalarOp::Arithmetic { saturate: true, .. } if adds => return None,
        ScalarOp::Arithmetic { op, dtype, saturate, .. } => {
            let then = if adds {
                SimdThen::Add
            } else if saturate {
                SimdThen::Saturate
            } else {
                SimdThen::Store
            };
            SimdOp::Arithmetic { op: op.into(), dtype, then }
        }
        ScalarOp::Set { compare, .. } => SimdOp::Set { compare, accumulate: adds },
        ScalarOp::Shift { .. } => return None,
    };
    let sides = [(a, form.a, form.atype, types.0), (b, form.b, form.op.btype(), types.1)];
    let read = |size: Lanes| -> Option<[LaneOperand; 2]> {
        let [x, y] = sides.map(|(source, part, from, sign)| operand(site, source, part, (from, sign), size));
        Some([x?, y?])
    };
    let (size, lane, read) = match form.then {
        Then::Merge(part) => {
            let size = if part.bits() == 8 { Lanes::Four } else { Lanes::Two };
            (size, part.shift() / part.bits(), read(size)?)
        }
        Then::Add => {
            let bytes = read(Lanes::Four).map(|read| (Lanes::Four, read));
            let (size, read) = bytes.or_else(|| read(Lanes::Two).map(|read| (Lanes::Two, read)))?;
            let lane =
                form.a.filter(|part| part.bits() == size.bits()).map_or(0, |part| part.shift() / part.bits());
            (size, lane, read)
        }
        Then::Store | Then::Min | Then::Max => return None,
    };
    let [x, y] = read;
    let lane = u8::try_from(lane).expect("there are four lanes");
    Some(Link { op, atype: types.0, btype: types.1, size, items: vec![Item { lane, x, y }], c })
}

/// What a scalar instruction reads, if a lane of the sign holds the same number.
fn operand(
    site: &Site<'_, '_, '_>,
    source: Source,
    part: Option<Part>,
    (from, sign): (Sign, Sign),
    size: Lanes,
) -> Option<LaneOperand> {
    let read = extended(contents(site, source)?, part, from);
    let lane = match size {
        Lanes::Four => Part::B0,
        Lanes::Two => Part::H0,
    };
    let [b0, b1, b2, b3, _fill] = read;
    (extended([b0, b1, b2, b3], Some(lane), sign) == read).then_some(())?;
    let (place, bits) = part.map_or((0, 32), |part| (part.shift(), part.bits()));
    let (zeros, ones) = known(site, source);
    // Bits beside the part say nothing of what it is extended with.
    let inside = term::ones(bits);
    let above = if from == Sign::Unsigned { !inside } else { 0 };
    let needs = read[..bytes(size)].iter().copied().map(Need::whole).collect();
    Some(LaneOperand::new(needs, (zeros >> place & inside | above, ones >> place & inside)))
}
