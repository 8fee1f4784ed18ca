//! Types and saturation without effect.
//!
//! The bits that a type extends may be cut off again, and a clamp may never apply. Types that mean the same can cost
//! different amounts, so all of them are proposed.

use super::identity::signless;
use crate::recipe::{Recipe, Source, Step};
use crate::rules::operands::{Operand, holds, lanes, like, result, scalar_operands, within};
use crate::rules::{Pass, Rule};
use crate::site::Site;
use ptxopt_grammar::meaning::disputed::disputed;
use ptxopt_grammar::video::{
    Arithmetic, Compare, Form, Mad, Scalar, ScalarOp, Sign, Simd, SimdArithmetic, SimdOp, SimdThen, Then,
};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "dead-type",
        pass: Pass::Simplify,
        law: "the type of the result matters to `.sat`, `.min` and `.max` only",
        examples: &[
            "vabsdiff4.s32.s32.s32 %d, %a, %b, %c;",
            "vadd2.u32.u32.s32.add %d.h1, %a, %b, %c;",
            "vadd.s32.u32.u32 %d, %a.b0, %b.b1;",
            "vshr.s32.u32.u32.clamp.add %d, %a.h0, 3, %c;",
            "vmad.s32.u32.u32 %d, %a, %b, %c;",
        ],
        propose: dead_type,
    },
    Rule {
        name: "wrapped-sign",
        pass: Pass::Simplify,
        law: "the low n bits of x+y and x-y depend on the low n bits of x and y alone",
        examples: &[
            "vadd4.s32.s32.s32 %d, %a, %b, %c;",
            "vsub2.u32.s32.u32 %d.h0, %a, %b.h01, %c;",
            "vadd.s32.s32.u32 %d, %a, %b;",
            "vsub.s32.s32.s32 %d.b0, %a.b1, %b.b2, %c;",
        ],
        propose: wrapped_sign,
    },
    Rule {
        name: "signless-operand",
        pass: Pass::Simplify,
        law: "a number whose highest bit is 0 is the same signed and unsigned; equality of numbers of one sign is \
              equality of bits",
        examples: &[
            "and.b32 %e, %a, 0x7f7f7f7f; and.b32 %f, %b, 0x01010101; vmin4.s32.s32.s32 %d, %e, %f, %c;",
            "vset4.s32.s32.eq %d, %a, %b, %c;",
            "and.b32 %e, %a, 0x7fff; vmax.s32.s32.s32 %d, %e.h0, %b.b0;",
            "vset.s32.s32.ne.add %d, %a, %b, %c;",
        ],
        propose: signless_operand,
    },
    Rule {
        name: "idle-saturation",
        pass: Pass::Simplify,
        law: "`.sat` changes nothing where all results are in range",
        examples: &[
            "vabsdiff4.u32.u32.u32.sat %d, %a, %b, %c;",
            "vavrg4.s32.s32.s32.sat %d, %a, %b, %c;",
            "and.b32 %e, %a, 0x3f3f3f3f; and.b32 %f, %b, 0x3f3f3f3f; vadd4.s32.s32.s32.sat %d, %e, %f, %f;",
            "vadd.s32.s32.u32.sat %d, %a.b0, %b.h0;",
        ],
        propose: idle_saturation,
    },
    Rule {
        name: "commuted",
        pass: Pass::Simplify,
        law: "x+y = y+x, likewise min, max, mean and |x-y|; x<y if y>x",
        examples: &[
            "vadd4.u32.u32.s32 %d, %a, %b, %c;",
            "vmin4.u32.u32.u32 %d, %a.b7654, %b.b3210, %c;",
            "vset2.u32.s32.lt %d, %a, %b, %c;",
            "vabsdiff.u32.s32.u32 %d, %a, %b;",
            "vset.u32.s32.ge %d, %a.b0, %b;",
        ],
        propose: commuted,
    },
];

/// The types of a form: of `d`, `a` and `b`. A form without one of them has a fixed sign there.
fn types(form: Form) -> [Sign; 3] {
    match form {
        Form::Scalar(Scalar { op, atype, .. }) => [op.dtype(), atype, op.btype()],
        Form::Mad(Mad { dtype, atype, btype, .. }) => [dtype, atype, btype],
        Form::Simd(Simd { op: SimdOp::Arithmetic { dtype, .. }, atype, btype, .. }) => [dtype, atype, btype],
        Form::Simd(Simd { op: SimdOp::Set { .. }, atype, btype, .. }) => [Sign::Unsigned, atype, btype],
    }
}

/// The form with other types, where it has them.
fn retyped(form: Form, [d, a, b]: [Sign; 3]) -> Form {
    match form {
        Form::Scalar(form) => {
            let op = match form.op {
                ScalarOp::Arithmetic { op, saturate, .. } => {
                    ScalarOp::Arithmetic { op, dtype: d, btype: b, saturate }
                }
                ScalarOp::Shift { direction, mode, saturate, .. } => {
                    ScalarOp::Shift { direction, mode, dtype: d, saturate }
                }
                ScalarOp::Set { compare, .. } => ScalarOp::Set { compare, btype: b },
            };
            Form::Scalar(Scalar { op, atype: a, ..form })
        }
        Form::Mad(form) => Form::Mad(Mad { dtype: d, atype: a, btype: b, ..form }),
        Form::Simd(form) => {
            let op = match form.op {
                SimdOp::Arithmetic { op, then, .. } => SimdOp::Arithmetic { op, dtype: d, then },
                SimdOp::Set { compare, accumulate } => SimdOp::Set { compare, accumulate },
            };
            Form::Simd(Simd { op, atype: a, btype: b, ..form })
        }
    }
}

fn propose(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>, form: Form, sources: &[Source]) {
    if site.form() != Some(form) && disputed(form).is_none() {
        out.push(Recipe::one(Step::video(form, sources)));
    }
}

fn other(sign: Sign) -> Sign {
    match sign {
        Sign::Unsigned => Sign::Signed,
        Sign::Signed => Sign::Unsigned,
    }
}

/// Whether the type of `d` has no effect.
fn is_dead(form: Form) -> bool {
    match form {
        Form::Scalar(Scalar { op, then, .. }) => {
            !op.saturates() && matches!(then, Then::Store | Then::Add | Then::Merge(_))
        }
        Form::Mad(_) => true,
        Form::Simd(Simd { op: SimdOp::Arithmetic { then, .. }, .. }) => then != SimdThen::Saturate,
        Form::Simd(Simd { op: SimdOp::Set { .. }, .. }) => false,
    }
}

fn dead_type(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let Some(form) = site.form().filter(|&form| is_dead(form)) else { return };
    let [d, a, b] = types(form);
    propose(site, out, retyped(form, [other(d), a, b]), &site.step.sources);
}

fn wrapped_sign(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let Some(form) = site.form() else { return };
    let (a, b) = match form {
        Form::Scalar(Scalar { op: ScalarOp::Arithmetic { op, saturate: false, .. }, a, b, then, .. }) => {
            let needed = match then {
                Then::Store | Then::Add => 32,
                Then::Merge(part) => part.bits(),
                Then::Min | Then::Max => return,
            };
            let wraps = matches!(op, Arithmetic::Add | Arithmetic::Sub);
            let free = |part: Option<ptxopt_grammar::video::Part>| {
                wraps && part.map_or(32, ptxopt_grammar::video::Part::bits) >= needed
            };
            (free(a), free(b))
        }
        Form::Simd(Simd { op: SimdOp::Arithmetic { op, then: SimdThen::Store, .. }, .. }) => {
            let wraps = matches!(op, SimdArithmetic::Add | SimdArithmetic::Sub);
            (wraps, wraps)
        }
        Form::Scalar(_) | Form::Mad(_) | Form::Simd(_) => return,
    };
    choices(site, out, form, a, b);
}

/// All types of the operands whose types are free.
fn choices(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>, form: Form, free_a: bool, free_b: bool) {
    let [d, a, b] = types(form);
    let signs = |free, sign| if free { vec![sign, other(sign)] } else { vec![sign] };
    for a in signs(free_a, a) {
        for b in signs(free_b, b) {
            propose(site, out, retyped(form, [d, a, b]), &site.step.sources);
        }
    }
}

fn signless_operand(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let Some(form) = site.form() else { return };
    let (a, b, compare) = match form {
        Form::Scalar(scalar) => {
            let (x, y) = scalar_operands(site, &scalar);
            match scalar.op {
                ScalarOp::Arithmetic { .. } => (signless(&x), signless(&y), None),
                ScalarOp::Shift { .. } => (signless(&x), false, None),
                // Equality of parts of different sizes is no equality of bits.
                ScalarOp::Set { compare, .. } => {
                    (signless(&x), signless(&y), Some(compare).filter(|_| x.bits == y.bits))
                }
            }
        }
        Form::Mad(mad) => {
            let [a, b] = [site.step.sources[0], site.step.sources[1]];
            let x = Operand::part(site, a, mad.a, mad.atype);
            let y = Operand::part(site, b, mad.b, mad.btype);
            // With a signed factor `c` is signed too, which only the low word does not show.
            let low = !mad.saturate && mad.scale.bits() == 0;
            (low && signless(&x), low && signless(&y), None)
        }
        Form::Simd(simd) => {
            let lanes = lanes(site, &simd);
            let compare = match simd.op {
                SimdOp::Set { compare, .. } => Some(compare),
                SimdOp::Arithmetic { .. } => None,
            };
            (lanes.iter().all(|lane| signless(&lane.x)), lanes.iter().all(|lane| signless(&lane.y)), compare)
        }
    };
    choices(site, out, form, a, b);
    let [d, atype, btype] = types(form);
    if matches!(compare, Some(Compare::Eq | Compare::Ne)) && atype == btype && !(a && b) {
        propose(site, out, retyped(form, [d, other(atype), other(btype)]), &site.step.sources);
    }
}

fn idle_saturation(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let Some(form) = site.form() else { return };
    let idle = match form {
        Form::Simd(simd) => {
            let SimdOp::Arithmetic { op, dtype, then: SimdThen::Saturate } = simd.op else { return };
            let limits = holds(simd.routing.lanes().bits(), dtype);
            let fits =
                lanes(site, &simd).iter().all(|lane| within(result(op, lane.x.range, lane.y.range), limits));
            let op = SimdOp::Arithmetic { op, dtype, then: SimdThen::Store };
            fits.then_some(Form::Simd(Simd { op, ..simd }))
        }
        Form::Scalar(scalar) => {
            let ScalarOp::Arithmetic { op, dtype, btype, saturate: true } = scalar.op else { return };
            let bits = if let Then::Merge(part) = scalar.then { part.bits() } else { 32 };
            let (x, y) = scalar_operands(site, &scalar);
            let fits = within(result(like(op), x.range, y.range), holds(bits, dtype));
            let op = ScalarOp::Arithmetic { op, dtype, btype, saturate: false };
            fits.then_some(Form::Scalar(Scalar { op, ..scalar }))
        }
        Form::Mad(_) => None,
    };
    if let Some(form) = idle {
        propose(site, out, form, &site.step.sources);
    }
}

/// The comparison of exchanged operands.
fn turned(compare: Compare) -> Compare {
    match compare {
        Compare::Eq | Compare::Ne => compare,
        Compare::Lt => Compare::Gt,
        Compare::Le => Compare::Ge,
        Compare::Gt => Compare::Lt,
        Compare::Ge => Compare::Le,
    }
}

fn commuted(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let Some(form) = site.form() else { return };
    let mut sources = site.step.sources;
    sources.swap(0, 1);
    match form {
        Form::Simd(form) => {
            let op = match form.op {
                SimdOp::Arithmetic { op: SimdArithmetic::Sub, .. } => return,
                SimdOp::Arithmetic { op, dtype, then } => SimdOp::Arithmetic { op, dtype, then },
                SimdOp::Set { compare, accumulate } => SimdOp::Set { compare: turned(compare), accumulate },
            };
            let (lanes, routing) = (form.routing.lanes(), form.routing);
            let picks = |selector: ptxopt_grammar::video::Selector| {
                (0..lanes.count()).map(|lane| selector.pick(lane)).collect::<Vec<u8>>()
            };
            let Some(swapped) = routing.selected(&picks(routing.b()), &picks(routing.a())) else { return };
            let new = Simd { op, atype: form.btype, btype: form.atype, routing: swapped };
            propose(site, out, Form::Simd(new), &site.step.sources);
            propose(site, out, Form::Simd(Simd { routing: swapped.exchanged(), ..new }), &sources);
        }
        Form::Scalar(form) => {
            let atype = form.op.btype();
            let op = match form.op {
                ScalarOp::Arithmetic { op: Arithmetic::Sub, .. } | ScalarOp::Shift { .. } => return,
                ScalarOp::Arithmetic { op, dtype, saturate, .. } => {
                    ScalarOp::Arithmetic { op, dtype, btype: form.atype, saturate }
                }
                ScalarOp::Set { compare, .. } => {
                    ScalarOp::Set { compare: turned(compare), btype: form.atype }
                }
            };
            propose(site, out, Form::Scalar(Scalar { op, atype, a: form.b, b: form.a, ..form }), &sources);
        }
        Form::Mad(form) => {
            let new = Mad { atype: form.btype, btype: form.atype, a: form.b, b: form.a, ..form };
            propose(site, out, Form::Mad(new), &sources);
        }
    }
}
