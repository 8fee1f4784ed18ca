//! Lanes that do not affect each other: without carries and borrows between them, a word is added as it is.

use crate::recipe::{Recipe, Step};
use crate::rules::operands::{lanes, result, within};
use crate::rules::{Pass, Rule};
use crate::site::Site;
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::video::{Form, Routing, Sign, SimdArithmetic, SimdOp, SimdThen};

pub(super) static RULES: &[Rule] = &[Rule {
    name: "no-carry",
    pass: Pass::Simplify,
    law: "lanes whose sums or differences stay in range are added or subtracted as one word",
    examples: &[
        "and.b32 %e, %a, 0x7f7f7f7f; and.b32 %f, %b, 0x7f7f7f7f; vadd4.u32.u32.u32 %d, %e, %f, %c;",
        "or.b32 %e, %a, 0xf0f0f0f0; and.b32 %f, %b, 0x0f0f0f0f; vsub4.u32.u32.u32 %d, %e, %f, %c;",
        "and.b32 %e, %a, 0x7fff00ff; and.b32 %f, %b, 0x01; vadd2.u32.u32.u32.sat %d, %e, %f, %c;",
    ],
    propose: no_carry,
}];

fn no_carry(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let Some(Form::Simd(form)) = site.form() else { return };
    let SimdOp::Arithmetic { op, dtype, then: SimdThen::Store | SimdThen::Saturate } = form.op else {
        return;
    };
    let instruction = match op {
        SimdArithmetic::Add => op::ADD_U32,
        SimdArithmetic::Sub => op::SUB_U32,
        SimdArithmetic::Average | SimdArithmetic::AbsDiff | SimdArithmetic::Min | SimdArithmetic::Max => {
            return;
        }
    };
    if form.routing != Routing::plain(form.routing.lanes()) {
        return;
    }
    let saturates = matches!(form.op, SimdOp::Arithmetic { then: SimdThen::Saturate, .. });
    let bits = form.routing.lanes().bits();
    // Lanes as the bits they are, whatever their types.
    let fits = |lane: &crate::rules::operands::Lane| {
        let plain = lane.x.range.0 >= 0 && lane.y.range.0 >= 0;
        let range = result(op, lane.x.range, lane.y.range);
        let greatest = if saturates && dtype == Sign::Signed { bits - 1 } else { bits };
        plain && within(range, (0, (1 << greatest) - 1))
    };
    if lanes(site, &form).iter().all(fits) {
        out.push(Recipe::one(Step::plain(instruction, &site.step.sources[..2])));
    }
}
