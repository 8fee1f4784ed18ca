//! Pragmas that say which bytes of a load are used: they belong to the load behind them, and to no other.

use super::blocks::{kernel, stopped_texts};

const ONE: &str = ".pragma \"used_bytes_mask 0x1\";\n";
const TWO: &str = ".pragma \"used_bytes_mask 0x3\";\n";

/// Whether two bodies are proved equal.
fn proved(old: &str, new: &str) -> bool {
    stopped_texts(&kernel(old), &kernel(new)).is_none()
}

/// Two loads with something before each, a computation, and a store of both.
fn loads(first: &str, between: &str, second: &str, sum: &str) -> String {
    format!(
        "{first}ld.global.u32 %r4, [%d1];\n{between}{second}ld.global.u32 %r5, [%d1+4];\n{sum}\n\
         st.global.u32 [%d2], %r6;"
    )
}

#[test]
fn a_mask_stays_with_its_load() {
    let [sum, other] = ["add.u32 %r6, %r4, %r5;", "sub.u32 %r6, %r5, %r4;\nmad.lo.u32 %r6, %r4, 2, %r6;"];
    let old = loads(ONE, "", TWO, sum);
    assert!(proved(&old, &loads(ONE, "", TWO, other)), "the same masks");
    assert!(proved(&old, &loads(ONE, "mov.u32 %r7, 3;\n", TWO, other)), "something in between");
    for (what, first, second) in [
        ("another mask", TWO, TWO),
        ("no mask", "", TWO),
        ("the masks of each other", TWO, ONE),
        ("one more mask", &format!("{ONE}{TWO}"), TWO),
    ] {
        assert!(!proved(&old, &loads(first, "", second, other)), "{what}");
    }
    assert!(!proved(&loads("", "", "", sum), &loads("", "", ONE, other)), "a mask where there was none");
}

#[test]
fn a_mask_goes_with_a_load_that_nothing_reads() {
    let store = "st.global.u32 [%d2], %r3;";
    let old = format!("{ONE}ld.global.u32 %r4, [%d1];\n{store}");
    assert!(proved(&old, store));
    let next = "ld.global.u32 %r5, [%d1+4];\nst.global.u32 [%d2], %r5;";
    let old = format!("{ONE}ld.global.u32 %r4, [%d1];\n{next}");
    assert!(proved(&old, next));
    assert!(!proved(&old, &format!("{ONE}{next}")), "the mask alone stays, before the next load");
}

#[test]
fn a_mask_does_not_move_from_an_instruction_that_ignores_it() {
    let text =
        |mask: &str, add: &str| format!("{mask}{add}ld.global.u32 %r5, [%d1];\nst.global.u32 [%d2], %r5;");
    let add = "add.u32 %r4, %r1, %r2;\n";
    assert!(proved(&text("", add), &text("", "")));
    assert!(!proved(&text(ONE, add), &text(ONE, "")));
}

#[test]
fn a_masked_load_is_no_part_of_a_word() {
    let bytes = |mask: &str| {
        format!(
            "{mask}ld.global.v4.u8 {{%r4, %r5, %r6, %r7}}, [%d1];\nadd.u32 %r4, %r4, %r5;\n\
             add.u32 %r4, %r4, %r6;\nst.global.u32 [%d2], %r4;"
        )
    };
    let word = |mask: &str| {
        format!(
            "{mask}ld.global.u32 %r4, [%d1];\nbfe.u32 %r5, %r4, 8, 8;\nbfe.u32 %r6, %r4, 16, 8;\n\
             and.b32 %r4, %r4, 255;\nadd.u32 %r4, %r4, %r5;\nadd.u32 %r4, %r4, %r6;\nst.global.u32 [%d2], %r4;"
        )
    };
    assert!(proved(&bytes(""), &word("")));
    let mask = ".pragma \"used_bytes_mask 0x7\";\n";
    assert!(proved(&bytes(mask), &bytes(mask)));
    assert!(!proved(&bytes(mask), &word("")), "the mask is gone");
    assert!(!proved(&bytes(""), &word(mask)), "the mask came");
}

#[test]
fn a_mask_before_what_ends_a_block_stays() {
    let text = |mask: &str, jump: &str| {
        format!("setp.gt.s32 %p1, %r3, 7;\n{mask}{jump}st.global.u32 [%d2], %r3;\ndone:")
    };
    let (jump, same) = ("@%p1 bra done;\n", "@%p1 bra done;\nmov.u32 %r4, 1;\n");
    assert!(proved(&text(ONE, jump), &text(ONE, same)));
    assert!(!proved(&text(ONE, jump), &text("", same)));
}
