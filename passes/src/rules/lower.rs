//! The name under which lowering is reported: SIMD video instructions spelled by instructions that the GPU executes.
//!
//! What is proposed is made by the generators in `lower/`, which the optimiser asks for every spelling that has a SIMD
//! instruction in it; so this rule proposes what they make of the instruction as it stands.

use super::{Pass, Rule};
use crate::lower::{Available, spellings};
use crate::recipe::Recipe;
use crate::site::Site;
use ptxopt_grammar::video::Form;

/// The rule.
pub static LOWER: Rule = Rule {
    name: "lower",
    pass: Pass::Lower,
    law: "a SIMD instruction computes what its lanes compute: plain and packed instructions do all lanes at once",
    examples: &[
        "vmin4.u32.u32.u32 %d, %a, %b, %c;",
        "vadd4.s32.s32.s32.sat %d.b10, %a.b3210, %b.b7654, %c;",
        "vset2.u32.s32.lt.add %d, %a, %b, %c;",
        "vavrg4.u32.u32.s32 %d, %a, %b, %c;",
    ],
    propose,
};

fn propose(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    if let Some(Form::Simd(form)) = site.form() {
        out.extend(spellings(&form, &site.step.sources, Available { lop3: true }));
    }
}
