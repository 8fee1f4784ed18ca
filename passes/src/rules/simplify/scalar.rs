//! Scalar video instructions as plain ones.
//!
//! A scalar instruction extracts, computes, clamps and combines. Each step has a plain counterpart wherever the exact
//! number fits a word, which the ranges of the operands say; else only its low word is of use, and only sums,
//! differences, products and shifts to the left have that.

use super::identity::{Identity, comparison, equal, neutral, ordered};
use crate::recipe::{Recipe, Source, Step};
use crate::rules::build::{Building, word};
use crate::rules::operands::{
    Operand, Range, SIGNED_WORD, WORD, holds, like, result, scalar_operands, within,
};
use crate::rules::{Pass, Rule};
use crate::site::Site;
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::table::words::Modifier;
use ptxopt_grammar::video::{
    Arithmetic, Direction, Form, Mad, Scalar, ScalarOp, ShiftMode, Sign, SimdOp, SimdThen, Sum, Then,
};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "scalar-identity",
        pass: Pass::Simplify,
        law: "x+0 = x; x-x = 0; min(x,y) = x where x <= y; x shifted by 0 is x; a comparison that holds always is 1",
        examples: &[
            "mov.b32 %e, 0; vadd.s32.s32.s32 %d, %a.b1, %e;",
            "vsub.s32.s32.s32.add %d, %a.h1, %a.h1, %c;",
            "vmin.u32.u32.u32 %d, %a, 0xffffffff;",
            "vset.u32.u32.ge.add %d, %a, 0, %c;",
            "vmax.s32.s32.s32 %d.h0, %a.b3, 0x80000000, %c;",
            "vshr.s32.s32.u32.wrap %d, %a.b2, 32;",
        ],
        propose: identity,
    },
    Rule {
        name: "plain-arithmetic",
        pass: Pass::Simplify,
        law: "a scalar sum, difference, minimum or maximum is the plain one of the extended operands",
        examples: &[
            "vadd.u32.u32.u32 %d, %a, %b;",
            "vsub.s32.u32.s32.add %d, %a, %b, %c;",
            "vmin.s32.s32.s32 %d, %a, %b;",
            "vmax.u32.u32.u32 %d, %a.b1, %b.h1;",
            "vabsdiff.u32.u32.u32.add %d, %a, %b, %c;",
            "vabsdiff.s32.s32.s32 %d, %a, %b;",
            "vadd.s32.s32.s32.sat %d, %a, %b;",
            "vsub.u32.u32.u32.sat %d, %a, %b;",
            "vadd.u32.u32.u32.sat %d.b2, %a.b0, %b.b0, %c;",
            "vadd.s32.u32.u32.max %d, %a.b0, %b.b0, %c;",
            "vmax.s32.s32.u32 %d.h0, %a.b3, %b.b0, %c;",
        ],
        propose: arithmetic,
    },
    Rule {
        name: "plain-shift",
        pass: Pass::Simplify,
        law: "a scalar shift is the plain one of the extended operand; amounts wrap by `& 31`",
        examples: &[
            "vshl.u32.u32.u32.clamp %d, %a, %b;",
            "vshr.s32.s32.u32.clamp.add %d, %a, 5, %c;",
            "vshr.u32.u32.u32.wrap %d, %a, %b;",
            "vshl.s32.s32.u32.wrap %d.b1, %a.b1, %b.b0, %c;",
            "vshr.s32.s32.u32.wrap.max %d, %a.h1, 35, %c;",
        ],
        propose: shift,
    },
    Rule {
        name: "plain-comparison",
        pass: Pass::Simplify,
        law: "a scalar comparison is the plain one of the extended operands",
        examples: &[
            "vset.u32.u32.lt %d, %a, %b;",
            "vset.s32.s32.ge.add %d, %a.b0, %b.h1, %c;",
            "vset.u32.s32.eq %d.b3, %a.b0, %b.b0, %c;",
            "vset.u32.u32.lt.min %d, %a, 17, %c;",
        ],
        propose: compare,
    },
    Rule {
        name: "plain-mad",
        pass: Pass::Simplify,
        law: "the low word of a*b+c depends on the extended factors alone; where all of it fits a word, it shifts as one",
        examples: &[
            "vmad.u32.u32.u32 %d, %a, %b, %c;",
            "vmad.s32.s32.s32.po %d, %a.b0, %b.h1, %c;",
            "vmad.s32.s32.u32 %d, -%a.b1, %b.b0, %c;",
            "vmad.s32.s32.u32 %d, %a, %b, -%c;",
            "and.b32 %e, %c, 0xffff; vmad.s32.s32.u32.shr7 %d, %a.b0, %b.b3, %e;",
        ],
        propose: mad,
    },
];

/// A result before it is clamped and combined: a word that holds the low bits of an exact number.
struct Exact {
    word: Source,
    /// What the exact number can be.
    range: Range,
}

impl Exact {
    /// The number after a clamp to what `bits` bits of a sign hold; `None` if the word does not determine it.
    fn clamped(self, building: &mut Building, sign: Sign, bits: u32) -> Option<Self> {
        let (least, greatest) = holds(bits, sign);
        let Self { mut word, range } = self;
        let ty = if within(range, (least, greatest)) {
            return Some(Self { word, range });
        } else if within(range, WORD) {
            op::U32
        } else if within(range, SIGNED_WORD) {
            op::S32
        } else {
            return None;
        };
        if range.0 < least {
            word = building.plain(op::MAX.of(ty), &[word, number(least)]);
        }
        if range.1 > greatest {
            word = building.plain(op::MIN.of(ty), &[word, number(greatest)]);
        }
        Some(Self { word, range: (range.0.clamp(least, greatest), range.1.clamp(least, greatest)) })
    }

    /// The secondary operation or the merge; `None` if the word does not determine its result.
    fn combined(
        self,
        building: &mut Building,
        then: Then,
        dtype: Sign,
        c: Option<&Source>,
    ) -> Option<Source> {
        let (ty, fits) = match dtype {
            Sign::Unsigned => (op::U32, within(self.range, WORD)),
            Sign::Signed => (op::S32, within(self.range, SIGNED_WORD)),
        };
        Some(match then {
            Then::Store => self.word,
            Then::Add if self.range == (0, 0) => *c?,
            // Numbers last, as is usual.
            Then::Add if matches!(self.word, Source::Constant(_)) => {
                building.plain(op::ADD_U32, &[*c?, self.word])
            }
            Then::Add => building.plain(op::ADD_U32, &[self.word, *c?]),
            Then::Min if fits => building.plain(op::MIN.of(ty), &[self.word, *c?]),
            Then::Max if fits => building.plain(op::MAX.of(ty), &[self.word, *c?]),
            Then::Min | Then::Max => return None,
            Then::Merge(part) => building.merge(self.word, part, *c?),
        })
    }
}

fn number(number: i128) -> Source {
    word(number)
}

/// Clamps, combines and proposes.
fn finish(
    site: &Site<'_, '_, '_>,
    out: &mut Vec<Recipe>,
    mut building: Building,
    form: &Scalar,
    exact: Exact,
) {
    let bits = if let Then::Merge(part) = form.then { part.bits() } else { 32 };
    let dtype = form.op.dtype();
    let exact = if form.op.saturates() { exact.clamped(&mut building, dtype, bits) } else { Some(exact) };
    let Some(exact) = exact else { return };
    if let Some(result) = exact.combined(&mut building, form.then, dtype, site.step.sources.get(2)) {
        out.push(building.finish(result));
    }
}

fn scalar_form(site: &Site<'_, '_, '_>) -> Option<Scalar> {
    match site.form()? {
        Form::Scalar(form) => Some(form),
        Form::Mad(_) | Form::Simd(_) => None,
    }
}

fn identity(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let Some(form) = scalar_form(site) else { return };
    let (x, y) = scalar_operands(site, &form);
    let laws = [neutral, equal, ordered, comparison];
    let outcome = match form.op {
        ScalarOp::Arithmetic { op, dtype, .. } => {
            let op = SimdOp::Arithmetic { op: like(op), dtype, then: SimdThen::Store };
            laws.into_iter().find_map(|law| law(site, op, &x, &y))
        }
        ScalarOp::Set { compare, .. } => {
            let op = SimdOp::Set { compare, accumulate: false };
            laws.into_iter().find_map(|law| law(site, op, &x, &y))
        }
        ScalarOp::Shift { mode, .. } => {
            let none = y.constant().is_some_and(|amount| match mode {
                ShiftMode::Clamp => amount == 0,
                ShiftMode::Wrap => amount & 31 == 0,
            });
            if none {
                Some(Identity::First)
            } else {
                (x.constant() == Some(0)).then_some(Identity::Number(0))
            }
        }
    };
    let mut building = Building::default();
    let exact = match outcome {
        None => return,
        Some(Identity::Number(value)) => Exact { word: number(value), range: (value, value) },
        Some(Identity::First) => Exact { word: building.extract(&x), range: x.range },
        Some(Identity::Second) => Exact { word: building.extract(&y), range: y.range },
    };
    finish(site, out, building, &form, exact);
}

/// The type in which both operands are what they are.
fn common(x: &Operand, y: &Operand) -> Option<Modifier> {
    let both = |range| within(x.range, range) && within(y.range, range);
    if both(SIGNED_WORD) { Some(op::S32) } else { both(WORD).then_some(op::U32) }
}

fn arithmetic(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let Some(form) = scalar_form(site) else { return };
    let ScalarOp::Arithmetic { op, dtype, saturate, .. } = form.op else { return };
    let (x, y) = scalar_operands(site, &form);
    let mut building = Building::default();
    let (a, b) = (building.extract(&x), building.extract(&y));
    let range = result(like(op), x.range, y.range);
    let ty = common(&x, &y);
    let whole = !matches!(form.then, Then::Merge(_));
    let exact = match (op, ty) {
        // Clamped to a signed word, which one instruction does.
        (Arithmetic::Add | Arithmetic::Sub, Some(op::S32))
            if saturate && whole && dtype == Sign::Signed && !within(range, SIGNED_WORD) =>
        {
            let instruction = if op == Arithmetic::Add { op::ADD_SAT_S32 } else { op::SUB_SAT_S32 };
            let (least, greatest) = SIGNED_WORD;
            let range = (range.0.clamp(least, greatest), range.1.clamp(least, greatest));
            Exact { word: building.plain(instruction, &[a, b]), range }
        }
        // Clamped at zero: max(a,b)-b.
        (Arithmetic::Sub, Some(ty)) if saturate && dtype == Sign::Unsigned && range.0 < 0 => {
            let larger = building.plain(op::MAX.of(ty), &[a, b]);
            Exact { word: building.plain(op::SUB_U32, &[larger, b]), range: (0, range.1) }
        }
        (Arithmetic::Add, _) => Exact { word: building.plain(op::ADD_U32, &[a, b]), range },
        (Arithmetic::Sub, _) => Exact { word: building.plain(op::SUB_U32, &[a, b]), range },
        (Arithmetic::AbsDiff, Some(ty)) => {
            let fused = form.then == Then::Add && !saturate;
            let c = if fused { site.step.sources[2] } else { Source::Constant(0) };
            let word = building.plain(op::SAD.of(ty), &[a, b, c]);
            if fused {
                out.push(building.finish(word));
                return;
            }
            Exact { word, range }
        }
        (Arithmetic::Min, Some(ty)) => Exact { word: building.plain(op::MIN.of(ty), &[a, b]), range },
        (Arithmetic::Max, Some(ty)) => Exact { word: building.plain(op::MAX.of(ty), &[a, b]), range },
        (Arithmetic::AbsDiff | Arithmetic::Min | Arithmetic::Max, None) => return,
    };
    finish(site, out, building, &form, exact);
}

fn shift(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let Some(form) = scalar_form(site) else { return };
    let ScalarOp::Shift { direction, mode, .. } = form.op else { return };
    let (x, y) = scalar_operands(site, &form);
    let most = match mode {
        ShiftMode::Clamp => 32,
        ShiftMode::Wrap => 31,
    };
    let amount = y.constant().map(|amount| match mode {
        ShiftMode::Clamp => amount.min(most),
        ShiftMode::Wrap => amount & most,
    });
    let (fewest, most) = amount.map_or((0, most), |amount| (amount, amount));
    let range = match direction {
        Direction::Left => {
            ((x.range.0 << fewest).min(x.range.0 << most), (x.range.1 << fewest).max(x.range.1 << most))
        }
        Direction::Right => {
            ((x.range.0 >> fewest).min(x.range.0 >> most), (x.range.1 >> fewest).max(x.range.1 >> most))
        }
    };
    let mut building = Building::default();
    let a = building.extract(&x);
    let instruction = match direction {
        Direction::Left => op::SHL_B32,
        Direction::Right if x.range.0 < 0 => op::SHR_S32,
        Direction::Right => op::SHR_U32,
    };
    let b = match amount {
        Some(amount) => number(amount),
        None => building.extract(&y),
    };
    let wraps = amount.is_none() && mode == ShiftMode::Wrap && y.range.1 > 31;
    if wraps && instruction != op::SHR_S32 {
        let mut building = building.clone();
        let word = match direction {
            Direction::Left => building.plain(op::SHF_L_WRAP_B32, &[Source::Constant(0), a, b]),
            Direction::Right => building.plain(op::SHF_R_WRAP_B32, &[a, Source::Constant(0), b]),
        };
        finish(site, out, building, &form, Exact { word, range });
    }
    let b = if wraps { building.plain(op::AND_B32, &[b, Source::Constant(31)]) } else { b };
    let word = building.plain(instruction, &[a, b]);
    finish(site, out, building, &form, Exact { word, range });
}

fn compare(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let Some(form) = scalar_form(site) else { return };
    let ScalarOp::Set { compare, .. } = form.op else { return };
    let (x, y) = scalar_operands(site, &form);
    let Some(ty) = common(&x, &y) else { return };
    let mut building = Building::default();
    let (a, b) = (building.extract(&x), building.extract(&y));
    let how = compare.modifier();
    let range = (0, 1);
    // As a predicate.
    let mut chosen = building.clone();
    let holds = chosen.push(Step::wide(op::SETP.with(&[how, ty]), &[a, b], 1));
    let word = chosen.plain(op::SELP_B32, &[Source::Constant(1), Source::Constant(0), holds]);
    finish(site, out, chosen, &form, Exact { word, range });
    // As -1 or 0.
    let ones = building.plain(op::SET.with(&[how, op::U32, ty]), &[a, b]);
    if let (Then::Add, Some(&c)) = (form.then, site.step.sources.get(2)) {
        let sum = building.plain(op::SUB_U32, &[c, ones]);
        out.push(building.finish(sum));
    } else {
        let word = building.plain(op::AND_B32, &[ones, Source::Constant(1)]);
        finish(site, out, building, &form, Exact { word, range });
    }
}

fn mad(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let Some(Form::Mad(form)) = site.form() else { return };
    let [a, b, c] = site.step.sources[..] else { return };
    let (x, y) = (Operand::part(site, a, form.a, form.atype), Operand::part(site, b, form.b, form.btype));
    let negated = matches!(form.sum, Sum::NegatedProduct | Sum::NegatedAddend);
    let signed = form.atype == Sign::Signed || form.btype == Sign::Signed || negated;
    let sign = if signed { Sign::Signed } else { Sign::Unsigned };
    let addend = Operand::part(site, c, None, sign);
    let range = total(&form, x.range, y.range, addend.range);
    let mut building = Building::default();
    let (a, b) = (building.extract(&x), building.extract(&y));
    let sum = match form.sum {
        Sum::Plain => building.plain(op::MAD_LO_U32, &[a, b, c]),
        Sum::PlusOne => {
            let sum = building.plain(op::MAD_LO_U32, &[a, b, c]);
            building.plain(op::ADD_U32, &[sum, Source::Constant(1)])
        }
        Sum::NegatedProduct => {
            let product = building.plain(op::MUL_LO_U32, &[a, b]);
            building.plain(op::SUB_U32, &[c, product])
        }
        Sum::NegatedAddend => {
            let product = building.plain(op::MUL_LO_U32, &[a, b]);
            building.plain(op::SUB_U32, &[product, c])
        }
    };
    let bits = form.scale.bits();
    let exact = if bits == 0 {
        Exact { word: sum, range }
    } else {
        let instruction = if within(range, WORD) {
            op::SHR_U32
        } else if within(range, SIGNED_WORD) {
            op::SHR_S32
        } else {
            return;
        };
        let word = building.plain(instruction, &[sum, Source::Constant(bits.into())]);
        Exact { word, range: (range.0 >> bits, range.1 >> bits) }
    };
    let exact = if form.saturate { exact.clamped(&mut building, sign, 32) } else { Some(exact) };
    if let Some(exact) = exact {
        out.push(building.finish(exact.word));
    }
}

/// What `vmad` can sum up to.
fn total(form: &Mad, x: Range, y: Range, c: Range) -> Range {
    let products = [x.0 * y.0, x.0 * y.1, x.1 * y.0, x.1 * y.1];
    let product = products.iter().fold((i128::MAX, i128::MIN), |(least, greatest), &product| {
        (least.min(product), greatest.max(product))
    });
    match form.sum {
        Sum::Plain => (product.0 + c.0, product.1 + c.1),
        Sum::PlusOne => (product.0 + c.0 + 1, product.1 + c.1 + 1),
        Sum::NegatedProduct => (c.0 - product.1, c.1 - product.0),
        Sum::NegatedAddend => (product.0 - c.1, product.1 - c.0),
    }
}
