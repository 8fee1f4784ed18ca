//! Weights that are proved to be small are kept whole, so that lanes which are multiplied by them are proved together.

use ptxopt_passes::optimiser::{Options, optimise};
use std::time::Duration;

/// A kernel that blends the bytes of two words by a weight, which it makes of `%q`, and by 256 less that.
fn blend(weight: &str) -> String {
    let lane = |at: u32| {
        let into =
            if at == 0 { "mov.b32 %d, %x;".to_owned() } else { format!("bfi.b32 %d, %x, %d, {at}, 8;") };
        format!(
            "bfe.u32 %x, %a, {at}, 8;\nmul.lo.u32 %x, %x, %w;\nbfe.u32 %y, %b, {at}, 8;\n\
             mad.lo.u32 %x, %y, %v, %x;\nshr.u32 %x, %x, 8;\n{into}\n"
        )
    };
    let lanes: String = [0, 8, 16, 24].map(lane).concat();
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 q)\n{{\n\
         .reg .b32 %a, %b, %d, %x, %y, %w, %v, %t, %q;\n.reg .b64 %at;\nld.param.u64 %at, [p];\n\
         ld.param.u32 %q, [q];\n{weight}\nld.global.u32 %a, [%at];\nld.global.u32 %b, [%at+4];\n\
         sub.u32 %v, 256, %w;\n{lanes}st.global.u32 [%at], %d;\nret;\n}}\n"
    )
}

/// The text after, and whether two bytes are multiplied at once in it.
fn multiplies_halves(weight: &str) -> bool {
    let text = blend(weight);
    let module = ptxopt_grammar::parse(text.as_bytes()).expect("it is legal");
    let outcome = optimise(&module, &Options::default(), &|| Duration::ZERO);
    let after = outcome.text.expect("lanes are fused one way or the other");
    let after = String::from_utf8(after).expect("it was text before");
    assert!(!after.contains("bfi"), "{after}");
    assert_ne!(after.contains("mul.lo.u32"), after.contains("dp2a"), "{after}");
    after.contains("mul.lo.u32")
}

#[test]
fn weights_up_to_256_multiply_two_bytes_at_once() {
    assert!(multiplies_halves("min.u32 %w, %q, 256;"));
    assert!(multiplies_halves("max.s32 %w, %q, 0;\nmin.s32 %w, %w, 256;"));
    assert!(multiplies_halves("and.b32 %w, %q, 255;\nshr.u32 %t, %w, 7;\nadd.u32 %w, %w, %t;"));
}

#[test]
fn a_weight_of_257_does_not() {
    assert!(!multiplies_halves("min.u32 %w, %q, 257;"));
}

#[test]
fn a_weight_that_is_at_least_256_does_not() {
    assert!(!multiplies_halves("max.u32 %w, %q, 256;"));
}

#[test]
fn a_weight_that_is_clamped_as_a_signed_number_on_one_side_does_not() {
    assert!(!multiplies_halves("min.s32 %w, %q, 256;"));
}
