//! Registers in flight: what is done to them before they have been waited for is not proved, whatever it computes.

use super::blocks::stopped_texts;

/// A function with its statements.
fn function(target: &str, body: &str) -> String {
    format!(
        ".version 8.7\n.target {target}\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 a)\n{{\n\
         .reg .b32 %m<4>, %r<4>;\n.reg .b64 %d<3>;\n.reg .pred %p;\nld.param.u64 %d1, [out];\n\
         ld.param.u64 %d2, [a];\nmov.b32 %r0, 0;\nmov.b32 %m0, 0;\nmov.b32 %m1, 0;\nmov.b32 %m2, 0;\n\
         mov.b32 %m3, 0;\n{body}\nret;\n}}\n"
    )
}

const FENCE: &str = "wgmma.fence.sync.aligned;\n";
const PRODUCT: &str = "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%m0, %m1, %m2, %m3}, %d2, %d2, 1;\n\
     wgmma.commit_group.sync.aligned;\n";
const ALL: &str = "wgmma.wait_group.sync.aligned 0;\n";
const STORE: &str = "st.global.v4.b32 [%d1], {%m0, %m1, %m2, %m3};";

/// What is proved, and whether.
fn products() -> Vec<(&'static str, String, String, bool)> {
    let xor = "xor.b32 %m0, %m0, 5;\n";
    let twice = "not.b32 %m0, %m0;\nnot.b32 %m0, %m0;\n";
    let after = format!("{FENCE}{PRODUCT}{ALL}");
    let some = "wgmma.wait_group.sync.aligned 1;\n";
    let in_loop = |work: &str| {
        format!(
            "step:\n{FENCE}{PRODUCT}add.u32 %r0, %r0, 1;\n{work}setp.lt.u32 %p, %r0, 9;\n@%p bra step;\n{ALL}{STORE}"
        )
    };
    vec![
        ("after the wait", format!("{after}{STORE}"), format!("{after}{twice}{STORE}"), true),
        (
            "before the wait",
            format!("{after}{xor}{STORE}"),
            format!("{FENCE}{PRODUCT}{xor}{ALL}{STORE}"),
            false,
        ),
        (
            "after a wait for some",
            format!("{FENCE}{PRODUCT}{some}{ALL}{xor}{STORE}"),
            format!("{FENCE}{PRODUCT}{some}{xor}{ALL}{STORE}"),
            false,
        ),
        (
            "after the fence",
            format!("{xor}{after}{STORE}"),
            format!("{FENCE}{xor}{PRODUCT}{ALL}{STORE}"),
            false,
        ),
        ("other registers", in_loop("add.u32 %r1, %r0, %r0;\n"), in_loop("shl.b32 %r1, %r0, 1;\n"), true),
        ("in a loop that does not wait", in_loop(""), in_loop(twice), false),
        ("as in the old text", in_loop(xor), in_loop(xor), true),
    ]
}

#[test]
fn registers_of_products_are_left_alone_until_they_are_waited_for() {
    for (what, old, new, equal) in products() {
        let why = stopped_texts(&function("sm_90a", &old), &function("sm_90a", &new));
        assert_eq!(why.is_none(), equal, "{what}: {why:?}");
    }
}

#[test]
fn a_load_from_tensor_memory_is_waited_for_by_its_own_wait() {
    let load = "tcgen05.ld.sync.aligned.16x64b.x1.b32 {%m0}, [%r0];\n";
    let [waits, other] = ["ld", "st"].map(|of| format!("tcgen05.wait::{of}.sync.aligned;\n"));
    let (sum, store) = ("add.u32 %m1, %m0, %m0;\n", "st.global.b32 [%d1], %m1;");
    let shifted = "shl.b32 %m1, %m0, 1;\n";
    for (what, old, new, equal) in [
        ("after it", format!("{load}{waits}{sum}{store}"), format!("{load}{waits}{shifted}{store}"), true),
        ("before it", format!("{load}{waits}{sum}{store}"), format!("{load}{sum}{waits}{store}"), false),
        (
            "after that of stores",
            format!("{load}{other}{waits}{sum}{store}"),
            format!("{load}{other}{sum}{waits}{store}"),
            false,
        ),
    ] {
        let why = stopped_texts(&function("sm_100a", &old), &function("sm_100a", &new));
        assert_eq!(why.is_none(), equal, "{what}: {why:?}");
    }
}
