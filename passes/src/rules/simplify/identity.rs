//! Lanes that need not be computed: neutral operands, equal operands, and operands whose order is known.
//!
//! Each lane of a SIMD instruction is looked at by itself: it may be a number or one of its operands, by the laws
//! of whole numbers. What then remains is a byte move, or fewer lanes that are added.

use crate::recipe::{Recipe, Step};
use crate::rules::build::{Building, WantedByte, word};
use crate::rules::operands::{Lane, Operand, decided, holds, lanes, result, within};
use crate::rules::{Pass, Rule};
use crate::site::Site;
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::video::{Form, Sign, Simd, SimdArithmetic, SimdOp, SimdThen};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "neutral-operand",
        pass: Pass::Simplify,
        law: "x+0 = x; x-0 = x; |x-0| = x if x >= 0",
        examples: &[
            "mov.b32 %e, 0; vadd4.u32.u32.u32 %d, %a, %e, %c;",
            "mov.b32 %e, 0; vsub2.s32.s32.s32.sat %d, %a, %e, %c;",
            "mov.b32 %e, 0; vadd4.u32.u32.u32 %d.b20, %a.b3012, %e, %c;",
            "and.b32 %e, %a, 0x00ff00ff; and.b32 %f, %b, 0xff00ff00; vadd4.u32.u32.u32 %d, %e, %f, %f;",
            "mov.b32 %e, 0; vabsdiff4.u32.u32.u32 %d, %e, %b, %c;",
        ],
        propose: |site, out| without_lanes(site, out, neutral),
    },
    Rule {
        name: "equal-operands",
        pass: Pass::Simplify,
        law: "x-x = |x-x| = 0; min(x,x) = max(x,x) = mean(x,x) = x",
        examples: &[
            "vsub4.s32.s32.s32.sat %d, %a, %a, %c;",
            "vavrg4.s32.s32.s32 %d, %a, %a, %c;",
            "vmin2.u32.u32.u32 %d.h0, %a.h11, %a.h11, %c;",
            "prmt.b32 %e, %a, 0, 0x0123; vmax4.u32.u32.u32 %d, %e.b0123, %a, %c;",
            "vabsdiff4.u32.u32.u32.add %d, %a, %a, %c;",
        ],
        propose: |site, out| without_lanes(site, out, equal),
    },
    Rule {
        name: "ordered-operands",
        pass: Pass::Fold,
        law: "min(x,y) = x and max(x,y) = y where x <= y always",
        examples: &[
            "mov.b32 %e, 0; vmax4.u32.u32.u32 %d, %a, %e, %c;",
            "mov.b32 %e, 0x80808080; vmin4.s32.s32.s32 %d, %a, %e, %c;",
            "and.b32 %e, %a, 0x0f0f0f0f; or.b32 %f, %b, 0x10101010; vmin4.u32.u32.u32 %d, %e, %f, %f;",
            "mov.b32 %e, -1; vmin4.u32.u32.u32.add %d.b2, %a, %e, %c;",
        ],
        propose: |site, out| without_lanes(site, out, ordered),
    },
    Rule {
        name: "decided-comparison",
        pass: Pass::Fold,
        law: "a comparison that holds always, or never, is 1 or 0",
        examples: &[
            "vset4.u32.u32.eq %d, %a, %a, %c;",
            "mov.b32 %e, 0; vset4.u32.u32.ge %d.b31, %a, %e, %c;",
            "mov.b32 %e, 0; vset4.u32.u32.lt.add %d, %a, %e, %c;",
            "and.b32 %e, %a, 0x7f7f7f7f; and.b32 %f, %b, 0x7f7f7f7f; or.b32 %f, %f, 0x00800080; \
             vset4.u32.u32.lt.add %d, %e, %f, %c;",
        ],
        propose: |site, out| without_lanes(site, out, comparison),
    },
];

/// What a lane is without computing it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Identity {
    /// This number.
    Number(i128),
    /// Its first operand.
    First,
    /// Its second operand.
    Second,
}

type Law = fn(&Site<'_, '_, '_>, SimdOp, &Operand, &Operand) -> Option<Identity>;

pub(super) fn neutral(_: &Site<'_, '_, '_>, op: SimdOp, x: &Operand, y: &Operand) -> Option<Identity> {
    let SimdOp::Arithmetic { op, .. } = op else { return None };
    let (no_x, no_y) = (x.constant() == Some(0), y.constant() == Some(0));
    match op {
        SimdArithmetic::Add if no_x => Some(Identity::Second),
        SimdArithmetic::Add | SimdArithmetic::Sub if no_y => Some(Identity::First),
        SimdArithmetic::AbsDiff if no_y && x.range.0 >= 0 => Some(Identity::First),
        SimdArithmetic::AbsDiff if no_x && y.range.0 >= 0 => Some(Identity::Second),
        SimdArithmetic::Add
        | SimdArithmetic::Sub
        | SimdArithmetic::AbsDiff
        | SimdArithmetic::Average
        | SimdArithmetic::Min
        | SimdArithmetic::Max => None,
    }
}

pub(super) fn equal(site: &Site<'_, '_, '_>, op: SimdOp, x: &Operand, y: &Operand) -> Option<Identity> {
    let SimdOp::Arithmetic { op, .. } = op else { return None };
    let outcome = match op {
        SimdArithmetic::Add => return None,
        SimdArithmetic::Sub | SimdArithmetic::AbsDiff => Identity::Number(0),
        SimdArithmetic::Average | SimdArithmetic::Min | SimdArithmetic::Max => Identity::First,
    };
    x.same(site, y).then_some(outcome)
}

pub(super) fn ordered(_: &Site<'_, '_, '_>, op: SimdOp, x: &Operand, y: &Operand) -> Option<Identity> {
    let SimdOp::Arithmetic { op, .. } = op else { return None };
    let (smaller, larger) = if x.range.1 <= y.range.0 {
        (Identity::First, Identity::Second)
    } else if y.range.1 <= x.range.0 {
        (Identity::Second, Identity::First)
    } else {
        return None;
    };
    match op {
        SimdArithmetic::Min => Some(smaller),
        SimdArithmetic::Max => Some(larger),
        SimdArithmetic::Add | SimdArithmetic::Sub | SimdArithmetic::Average | SimdArithmetic::AbsDiff => None,
    }
}

pub(super) fn comparison(site: &Site<'_, '_, '_>, op: SimdOp, x: &Operand, y: &Operand) -> Option<Identity> {
    let SimdOp::Set { compare, .. } = op else { return None };
    let holds = decided(compare, x.range, y.range, x.same(site, y))?;
    Some(Identity::Number(holds.into()))
}

/// What a lane of known operands is, for the lanes beside those that a law is about.
fn known(op: SimdOp, x: &Operand, y: &Operand) -> Option<Identity> {
    let (x, y) = (x.constant()?, y.constant()?);
    Some(Identity::Number(match op {
        SimdOp::Arithmetic { op, .. } => result(op, (x, x), (y, y)).0,
        SimdOp::Set { compare, .. } => decided(compare, (x, x), (y, y), false)?.into(),
    }))
}

fn without_lanes(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>, law: Law) {
    let Some(Form::Simd(form)) = site.form() else { return };
    let lanes = lanes(site, &form);
    let outcome =
        |lane: &Lane| law(site, form.op, &lane.x, &lane.y).or_else(|| known(form.op, &lane.x, &lane.y));
    let accumulates = match form.op {
        SimdOp::Arithmetic { then, .. } => then == SimdThen::Add,
        SimdOp::Set { accumulate, .. } => accumulate,
    };
    let wanted = |lane: &Lane| {
        let bits = form.routing.lanes().bits();
        accumulates || site.demanded_word() >> (u32::from(lane.lane) * bits) & ((1 << bits) - 1) != 0
    };
    let outcomes: Vec<(Lane, Option<Identity>)> =
        lanes.into_iter().filter(wanted).map(|lane| (lane, outcome(&lane))).collect();
    // A lane of numbers alone is for folding; the law must be of use in one.
    if !outcomes.iter().any(|(lane, _)| law(site, form.op, &lane.x, &lane.y).is_some()) {
        return;
    }
    if accumulates {
        added(site, out, &form, &outcomes);
    } else {
        moved(site, out, &form, &outcomes);
    }
}

/// The lanes put together, if none has to be computed.
fn moved(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>, form: &Simd, outcomes: &[(Lane, Option<Identity>)]) {
    let (count, bits) = (form.routing.lanes().count(), form.routing.lanes().bits());
    let per_lane = 4 / count;
    let mut bytes = [WantedByte::Any; 4];
    for byte in 0..4_u8 {
        if form.routing.mask() >> (byte / per_lane) & 1 == 0 && site.demanded_word() >> (8 * byte) & 0xff != 0
        {
            bytes[usize::from(byte)] = WantedByte::Of(site.step.sources[2], byte);
        }
    }
    for (lane, outcome) in outcomes {
        let Some(outcome) = outcome.and_then(|outcome| clamped(form, lane, outcome)) else { return };
        for at in 0..per_lane {
            let wanted = match outcome {
                Identity::Number(number) => {
                    let bytes = (number & ((1 << bits) - 1)).to_le_bytes();
                    WantedByte::Number(bytes[usize::from(at)])
                }
                Identity::First => byte_of(&lane.x, at),
                Identity::Second => byte_of(&lane.y, at),
            };
            bytes[usize::from(lane.lane * per_lane + at)] = wanted;
        }
    }
    let mut building = Building::default();
    let result = building.gather(bytes);
    out.push(building.finish(result));
}

fn byte_of(operand: &Operand, at: u8) -> WantedByte {
    WantedByte::Of(operand.source, u8::try_from(operand.low / 8).expect("a word has four bytes") + at)
}

/// An outcome after `.sat`; `None` if an operand would have to be clamped.
fn clamped(form: &Simd, lane: &Lane, outcome: Identity) -> Option<Identity> {
    let SimdOp::Arithmetic { dtype, then: SimdThen::Saturate, .. } = form.op else { return Some(outcome) };
    let (least, greatest) = holds(form.routing.lanes().bits(), dtype);
    match outcome {
        Identity::Number(number) => Some(Identity::Number(number.clamp(least, greatest))),
        Identity::First => within(lane.x.range, (least, greatest)).then_some(outcome),
        Identity::Second => within(lane.y.range, (least, greatest)).then_some(outcome),
    }
}

/// `c`, the numbers, and the lanes that remain.
fn added(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>, form: &Simd, outcomes: &[(Lane, Option<Identity>)]) {
    let (mut sum, mut mask) = (0, 0_u8);
    for (lane, outcome) in outcomes {
        match outcome {
            Some(Identity::Number(number)) => sum += number,
            Some(Identity::First | Identity::Second) | None => mask |= 1 << lane.lane,
        }
    }
    let mut building = Building::default();
    let c = site.step.sources[2];
    let left = form.routing.masked(mask);
    let rest = match left {
        None => c,
        Some(routing) if mask.count_ones() == 1 => match lone(outcomes, mask) {
            Some(operand) => {
                let value = building.extract(&operand);
                building.plain(op::ADD_U32, &[value, c])
            }
            None if routing != form.routing => building.push(smaller(site, form, routing)),
            None => return,
        },
        Some(routing) if routing != form.routing => building.push(smaller(site, form, routing)),
        Some(_) => return,
    };
    let all = if sum == 0 { rest } else { building.plain(op::ADD_U32, &[rest, word(sum)]) };
    out.push(building.finish(all));
}

/// The only lane that is left, if it is one of its operands.
fn lone(outcomes: &[(Lane, Option<Identity>)], mask: u8) -> Option<Operand> {
    let (lane, outcome) = outcomes.iter().find(|(lane, _)| mask >> lane.lane & 1 == 1)?;
    match (*outcome)? {
        Identity::First => Some(lane.x),
        Identity::Second => Some(lane.y),
        Identity::Number(_) => None,
    }
}

fn smaller(site: &Site<'_, '_, '_>, form: &Simd, routing: ptxopt_grammar::video::Routing) -> Step {
    Step::video(Form::Simd(Simd { routing, ..*form }), &site.step.sources)
}

/// Whether a sign makes no difference to an operand.
pub(super) fn signless(operand: &Operand) -> bool {
    match operand.sign {
        Sign::Signed => operand.range.0 >= 0,
        Sign::Unsigned => operand.range.1 < 1 << (operand.bits - 1),
    }
}
