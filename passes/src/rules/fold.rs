//! Constants: an instruction whose result is known is a number.
//!
//! What is known comes from facts and chooses what to propose; `verify` proves the number by itself.

use super::{Pass, Rule};
use crate::recipe::{Recipe, Source};
use crate::site::Site;
use ptxopt_grammar::table::instruction::op;

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "fold-constant",
        pass: Pass::Fold,
        law: "an instruction whose demanded bits are all known is that number",
        examples: &[
            "mov.b32 %e, 0x01020304; vadd4.u32.u32.u32 %d, %e, %e, %a;",
            "prmt.b32 %d, 0x1234, 0x5678, 0x1054;",
            "and.b32 %e, %a, 0; vmax4.s32.s32.s32.add %d, %e, %e, %e;",
        ],
        propose: fold_constant,
    },
    Rule {
        name: "decided-choice",
        pass: Pass::Fold,
        law: "a choice between equal values, or by a known condition, is one of the two",
        examples: &[
            "setp.ne.u32 %p0, %a, 0; selp.b32 %d, %b, %b, %p0;",
            "setp.ge.u32 %p0, %a, 0; selp.b32 %d, %b, %c, %p0;",
            "and.b32 %e, %a, 7; setp.gt.s32 %p1, %e, 8; selp.u32 %d, %b, %c, %p1;",
        ],
        propose: decided_choice,
    },
];

fn fold_constant(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let known = site.result_fact().known();
    if site.demanded & !known.0 == 0 && site.step.width <= 64 && site.step.copied().is_none() {
        let value = u64::try_from(known.1 & site.demanded).expect("at most 64 bits were asked for");
        out.push(Recipe::copy(Source::Constant(value), site.step.width));
    }
}

fn decided_choice(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    if !site.instruction().is_some_and(|of| of.mnemonic() == op::SELP) {
        return;
    }
    let &[yes, no, condition] = &site.step.sources[..] else { return };
    let chosen = match site.fact(condition).constant() {
        Some(0) => no,
        Some(_) => yes,
        None if yes == no => yes,
        None => return,
    };
    out.push(Recipe::copy(chosen, site.step.width));
}
