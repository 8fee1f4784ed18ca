//! The assembler makes one machine instruction of a difference of halves as it is written: the negation of an operand
//! is a sign in the packed sum.

use crate::ptxas::Assemblers;
use ptxopt_passes::optimiser::{Options, optimise};
use std::time::Duration;

/// A kernel around an instruction of `%a`, `%b` and `%c`, with its result in `%d`.
fn kernel(target: &str, code: &str) -> String {
    format!(
        ".version 8.8\n.target {target}\n.address_size 64\n.visible .entry f(.param .u64 p)\n{{\n\
         .reg .b32 %a, %b, %c, %d; .reg .b64 %in;\nld.param.u64 %in, [p];\n\
         ld.global.b32 %a, [%in]; ld.global.b32 %b, [%in+4]; ld.global.b32 %c, [%in+8];\n{code}\n\
         st.global.b32 [%in+12], %d;\nret;\n}}\n"
    )
}

/// How many machine instructions code takes more than one logical instruction of three words, optimised.
fn more_than_one(assemblers: &Assemblers, target: &str, code: &str) -> u32 {
    let of = |text: &[u8]| -> u32 {
        let found = assemblers.measure(text, target).expect("it is legal");
        found.functions.values().map(ptxopt::measure::Function::instructions).sum()
    };
    let text = kernel(target, code);
    let module = ptxopt_grammar::parse(text.as_bytes()).expect("it is legal");
    let optimised = optimise(&module, &Options::default(), &|| Duration::ZERO).text.expect("it changes");
    let one = kernel(target, "lop3.b32 %d, %a, %b, %c, 0x96;");
    of(&optimised) - of(one.as_bytes())
}

#[test]
fn a_difference_of_halves_is_one_instruction() {
    let Some(assemblers) = Assemblers::find() else { return };
    // The third word is loaded and used here too.
    let difference = "vsub2.u32.u32.u32 %d, %a, %b, %a; and.b32 %d, %d, %c;";
    let cell = "vsub2.s32.s32.s32 %d, %a, %b, %a; vmax2.s32.s32.s32 %d, %d, %c, %d;";
    for (target, of_difference, of_cell) in [("sm_90", 1, 0), ("sm_100", 1, 0), ("sm_120", 1, 1)] {
        assert_eq!(more_than_one(&assemblers, target, difference), of_difference, "{target}");
        assert_eq!(more_than_one(&assemblers, target, cell), of_cell, "{target}");
    }
}
