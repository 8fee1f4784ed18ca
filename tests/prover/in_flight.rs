//! Registers in flight: what is done to them before they have been waited for is not proved, whatever it computes.

use super::blocks::stopped_texts;

/// A function with its statements.
fn function(target: &str, body: &str) -> String {
    format!(
        ".version 8.7\n.target {target}\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 a)\n{{\n\
         .reg .b32 %m<4>, %n<4>, %r<4>;\n.reg .b64 %d<3>;\n.reg .pred %p, %q;\nld.param.u64 %d1, [out];\n\
         ld.param.u64 %d2, [a];\nmov.b32 %r0, 0;\nmov.b32 %m0, 0;\nmov.b32 %m1, 0;\nmov.b32 %m2, 0;\n\
         mov.b32 %m3, 0;\nmov.b32 %n0, 0;\nmov.b32 %n1, 0;\nmov.b32 %n2, 0;\nmov.b32 %n3, 0;\n{body}\nret;\n}}\n"
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
fn a_register_of_another_scope_is_another_register() {
    let store = format!("{ALL}st.global.b32 [%d1], %m0;\n");
    let set = "ld.global.b32 %r2, [%d2];\nsetp.ne.u32 %p, %r2, 0;\n";
    let scope =
        format!("{{\n.reg .b32 %m0;\nmov.b32 %m0, 0;\n{FENCE}{PRODUCT}wgmma.wait_group.sync.aligned 1;\n");
    // What is written stands where it is read; what is read is read no more.
    for (write, rest) in [
        (format!("mov.b32 %m0, 5;\n{store}"), ""),
        ("mov.b32 %r1, %m0;\n".to_owned(), &*store),
        ("@%p mov.b32 %r1, %m0;\n".to_owned(), &*store),
    ] {
        let text = |within: bool| {
            let [inner, outer] = if within { [&*write, ""] } else { ["", &*write] };
            format!("{set}{FENCE}{PRODUCT}{scope}{inner}}}\n{outer}{rest}")
        };
        for (what, old, new, equal) in [
            ("the outer one", false, false, true),
            ("the inner one", true, true, true),
            ("the inner one for the outer one", false, true, false),
        ] {
            let [old, new] = [old, new].map(|within| function("sm_90a", &text(within)));
            let why = stopped_texts(&old, &new);
            assert_eq!(why.is_none(), equal, "{what}, {write}: {why:?}");
        }
    }
}

#[test]
fn registers_that_are_named_in_flight_belong_to_the_same_products() {
    let other = PRODUCT.replace("%m", "%n");
    let text = |first: &str, second: &str, register: &str| {
        format!(
            "{FENCE}{first}{second}wgmma.wait_group.sync.aligned 1;\nmov.b32 {register}, 5;\n{ALL}st.global.b32 [%d1], {register};"
        )
    };
    let old = text(PRODUCT, &other, "%m0");
    for (what, new, equal) in
        [("the same", text(PRODUCT, &other, "%m0"), true), ("the later", text(&other, PRODUCT, "%m0"), false)]
    {
        let why = stopped_texts(&function("sm_90a", &old), &function("sm_90a", &new));
        assert_eq!(why.is_none(), equal, "{what}: {why:?}");
    }
}

/// What is read of one product while a later one may be left in flight, and whether that is proved.
fn pipelined() -> Vec<(&'static str, String, String, bool)> {
    let second = PRODUCT.replace("%m", "%n");
    let (some, sum) = ("wgmma.wait_group.sync.aligned 1;\n", "add.u32 %r1, %m0, 1;\n");
    let stored = format!("{STORE}\nst.global.b32 [%d1+16], %r1;");
    let text = |between: &str| format!("{FENCE}{PRODUCT}{second}{between}{ALL}{stored}");
    let after = text(&format!("{some}{sum}"));
    let other = text(&format!("mov.b32 %r2, 5;\n{some}{sum}"));
    let in_loop = |step: &str| {
        format!(
            "{FENCE}{PRODUCT}step:\n{FENCE}{second}{step}add.u32 %r0, %r0, 1;\nsetp.lt.u32 %p, %r0, 9;\n\
             @%p bra step;\n{ALL}{stored}"
        )
    };
    vec![
        ("as in the old text", after.clone(), after.clone(), true),
        ("after something else", after.clone(), other, true),
        ("before the wait for some", after.clone(), text(&format!("{sum}{some}")), false),
        (
            "before the later product",
            after,
            format!("{FENCE}{PRODUCT}{sum}{second}{some}{ALL}{stored}"),
            false,
        ),
        ("in a loop", in_loop(&format!("{some}{sum}")), in_loop(&format!("{some}{sum}")), true),
        ("earlier in a loop", in_loop(&format!("{some}{sum}")), in_loop(&format!("{sum}{some}")), false),
    ]
}

#[test]
fn registers_of_products_are_named_after_the_same_waits() {
    for (what, old, new, equal) in pipelined() {
        let why = stopped_texts(&function("sm_90a", &old), &function("sm_90a", &new));
        assert_eq!(why.is_none(), equal, "{what}: {why:?}");
    }
}

#[test]
fn registers_are_named_after_the_same_waits_where_not_all_ways_wait() {
    let load = "tcgen05.ld.sync.aligned.16x64b.x1.b32 {%m0}, [%r0];\n";
    let wait = "tcgen05.wait::ld.sync.aligned;\n";
    let sum = "add.u32 %r1, %m0, 1;\n";
    let guarded = |text: &str| format!("@%p {text}");
    let branched = |label: &str, text: &str| format!("@!%p bra {label};\n{text}{label}:\n");
    let text = |body: &[&str]| {
        let body: String = body.iter().copied().collect();
        format!(
            "mov.b32 %r1, 0;\nld.global.b32 %r2, [%d2];\nsetp.ne.u32 %p, %r2, 0;\n{body}\
             @%p st.global.b32 [%d1], %r1;"
        )
    };
    let [loads, waits, sums] = [load, wait, sum].map(guarded);
    let under_guards = text(&[&loads, &waits, &sums]);
    let [loaded, waited, summed] =
        [("load", load), ("wait", wait), ("sum", sum)].map(|(at, text)| branched(at, text));
    let on_branches = text(&[&loaded, &waited, &summed]);
    let together = text(&[load, &branched("wait", &format!("{wait}{sum}"))]);
    for (what, old, new, equal) in [
        ("under guards", &under_guards, under_guards.clone(), true),
        ("before a guarded wait", &under_guards, text(&[&loads, &sums, &waits]), false),
        ("on branches", &on_branches, on_branches.clone(), true),
        (
            "in the block of the load",
            &on_branches,
            text(&[&branched("load", &format!("{load}{sum}")), &waited, &branched("sum", "")]),
            false,
        ),
        ("behind a wait on a branch", &together, together.clone(), true),
        ("on a way that does not wait", &together, text(&[load, &branched("wait", wait), sum]), false),
    ] {
        let why = stopped_texts(&function("sm_100a", old), &function("sm_100a", &new));
        assert_eq!(why.is_none(), equal, "{what}: {why:?}");
    }
}

#[test]
fn registers_are_named_under_the_same_guard() {
    let (load, wait) =
        ("tcgen05.ld.sync.aligned.16x64b.x1.b32 {%m0}, [%r0];\n", "tcgen05.wait::ld.sync.aligned;\n");
    // The sum is what the register held, so the guard shows nowhere in what is stored.
    let text = |compared: &str, after: &str| {
        let sum = "@%q add.u32 %m0, %m0, 0;\n";
        format!("ld.global.b32 %r2, [%d2];\n{compared}{load}{sum}{wait}{after}st.global.b32 [%d1], %m0;")
    };
    let is_odd = "and.b32 %r3, %r2, 1;\nsetp.ne.u32 %q, %r3, 0;\n";
    let is_one = "and.b32 %r3, %r2, 1;\nsetp.eq.u32 %q, %r3, 1;\n";
    let is_zero = "and.b32 %r3, %r2, 1;\nsetp.eq.u32 %q, %r3, 0;\n";
    let old = text(is_odd, "");
    for (what, new, equal) in [
        ("the same guard", text(is_one, ""), true),
        ("another guard", text(is_zero, ""), false),
        ("the same guard, another one later", text(is_one, "not.pred %q, %q;\n"), true),
    ] {
        let why = stopped_texts(&function("sm_100a", &old), &function("sm_100a", &new));
        assert_eq!(why.is_none(), equal, "{what}: {why:?}");
        assert!(equal || why.is_some_and(|why| why.contains("under a guard")), "{what}");
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
