//! Constants: an instruction whose result is known is a number.

use super::{Pass, Rule};
use crate::recipe::{Recipe, Source};
use crate::site::Site;

pub(super) static RULES: &[Rule] = &[Rule {
    name: "fold-constant",
    pass: Pass::Fold,
    law: "an instruction whose demanded bits are all known is that number",
    examples: &[
        "mov.b32 %e, 0x01020304; vadd4.u32.u32.u32 %d, %e, %e, %a;",
        "prmt.b32 %d, 0x1234, 0x5678, 0x1054;",
        "and.b32 %e, %a, 0; vmax4.s32.s32.s32.add %d, %e, %e, %e;",
    ],
    propose: fold_constant,
}];

fn fold_constant(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let known = site.result_fact().known();
    if site.demanded & !known.0 == 0 && site.step.width <= 64 && site.step.copied().is_none() {
        let value = u64::try_from(known.1 & site.demanded).expect("at most 64 bits were asked for");
        out.push(Recipe::copy(Source::Constant(value), site.step.width));
    }
}
