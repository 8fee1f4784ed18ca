//! SIMD video instructions as sequences of others: what the generators of [`crate::lower`] make of them.
//!
//! The rule proposes what becomes of an instruction as it stands. The optimiser asks the generators itself, for every
//! spelling that has a SIMD instruction in it, and reports that under the name of this rule.

use super::{Pass, Rule};
use crate::lower::{Available, spellings};
use crate::recipe::Recipe;
use crate::site::Site;
use ptxopt_grammar::video::Form;

/// The rule.
pub static LOWER: Rule = Rule {
    name: "lower",
    pass: Pass::Lower,
    law: "a SIMD video instruction is a sequence of instructions on whole words",
    examples: &[
        "vadd4.u32.u32.u32 %d, %a, %b, %c;",
        "vsub2.s32.s32.s32.sat %d, %a, %b, %c;",
        "vmin4.u32.u32.s32 %d, %a, %b, %c;",
        "vabsdiff2.u32.s32.s32 %d, %a.h01, %b, %c;",
        "vavrg4.s32.s32.u32.sat %d, %a, %b, %c;",
        "vmax4.u32.u32.u32 %d.b20, %a, %b.b7654, %c;",
        "vset4.u32.u32.lt.add %d, %a, %b, %c;",
        "vadd2.s32.u32.s32.add %d, %a.h11, %b, %c;",
    ],
    propose: lower,
};

fn lower(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    if let Some(Form::Simd(form)) = site.form() {
        out.extend(spellings(&form, &site.step.sources, Available { lop3: true }));
    }
}
