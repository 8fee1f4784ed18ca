//! Straight-line functions that are not proved equal: inputs for which they differ are such as there can be.

use super::blocks::stopped_texts;
use ptxopt_grammar::function::functions;
use ptxopt_prover::straight;

/// A kernel with its statements.
fn kernel(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n, .param .u32 m)\n{{\n\
         .reg .b16 %h<4>;\n.reg .b32 %r<12>;\n.reg .b64 %d<6>;\n.reg .pred %p<4>;\n\
         .shared .align 4 .b32 tile[4];\n.local .align 4 .b32 own[4];\n\
         ld.param.u64 %d1, [a];\nld.param.u64 %d2, [b];\nld.param.u32 %r1, [n];\nld.param.u32 %r2, [m];\n\
         {body}\nret;\n}}\n"
    )
}

/// How two kernels with these statements differ, if that is found.
fn refuted(old: &str, new: &str) -> Option<String> {
    let [old, new] = [kernel(old), kernel(new)];
    let [old, new] = [&old, &new].map(|text| ptxopt_grammar::parse(text.as_bytes()).expect("it is legal"));
    let [first, second] = [&old, &new].map(|module| functions(module));
    straight::refuted((&old, &first[0]), (&new, &second[0]))
}

fn proved(old: &str, new: &str) -> bool {
    stopped_texts(&kernel(old), &kernel(new)).is_none()
}

/// The second text differs from the first; the third one, which is nearly the same, does not, though a prover that knows
/// less of the world would find inputs.
fn only_the_first_differs(what: &str, old: &str, different: &str, equal: &str) {
    assert!(refuted(old, different).is_some(), "{what}: it differs");
    assert!(!proved(old, different), "{what}: it differs");
    assert_eq!(refuted(old, equal), None, "{what}: it is the same");
}

fn stored(compute: &str, register: &str) -> String {
    format!("{compute}\nst.global.u32 [%d2], {register};")
}

#[test]
fn loads_of_a_byte_find_the_same() {
    let loads = "ld.global.u32 %r4, [%d1];\nld.global.u8 %r5, [%d1+1];";
    let bytes = |at: u32| stored(&format!("{loads}\nbfe.u32 %r6, %r4, {at}, 8;"), "%r6");
    only_the_first_differs("a byte of a word", &stored(loads, "%r5"), &bytes(16), &bytes(8));
    let loads = "ld.param.u32 %r4, [a];\ncvt.u32.u64 %r5, %d1;";
    let next = "ld.param.u32 %r4, [a];\nshr.u64 %d3, %d1, 32;\ncvt.u32.u64 %r5, %d3;";
    let differs = stored(next, "%r5");
    only_the_first_differs("a word of a parameter", &stored(loads, "%r4"), &differs, &stored(loads, "%r5"));
}

#[test]
fn inputs_that_do_not_go_together_are_replaced_by_some_that_do() {
    let loads = "ld.global.u32 %r4, [%d1];\nld.global.u8 %r5, [%d1];";
    let shown = refuted(&stored(loads, "%r5"), &stored(&format!("{loads}\nand.b32 %r5, %r4, 254;"), "%r5"));
    let shown = shown.expect("the lowest bit counts");
    let value = |name: &str| {
        let line = shown.lines().find(|line| line.contains(name)).expect("the load is shown");
        let digits = line.split("= 0x").nth(1).and_then(|rest| rest.split_whitespace().next());
        u64::from_str_radix(digits.expect("it has a value"), 16).expect("it is a number")
    };
    assert_eq!(value("global.b32") & 0xff, value("global.b8"), "{shown}");
    assert_eq!(value("global.b8") & 1, 1, "{shown}");
}

#[test]
fn what_was_stored_is_found_again() {
    let text = |register: &str| {
        stored(
            "st.shared.u32 [tile], %r1;\nst.shared.u32 [tile+4], %r2;\nld.shared.u32 %r4, [tile];",
            register,
        )
    };
    only_the_first_differs("a word of shared memory", &text("%r4"), &text("%r2"), &text("%r1"));
}

#[test]
fn stores_to_different_places_may_change_their_order() {
    let text = |stores: [&str; 2]| stores.join("\n");
    let (first, next) = ("st.global.u32 [%d1], %r1;", "st.global.u32 [%d1+4], %r2;");
    let other = "st.global.u32 [%d1], %r2;";
    assert_eq!(refuted(&text([first, next]), &text([next, first])), None);
    assert!(refuted(&text([first, other]), &text([other, first])).is_some());
    let half = "st.global.u16 [%d1+2], %r2;";
    assert_eq!(refuted(&text([first, half]), &text([first, half])), None);
    assert!(refuted(&text([first, half]), &text([first, "st.global.u16 [%d1], %r2;"])).is_some());
}

#[test]
fn local_memory_is_gone_when_a_kernel_ends() {
    let text = |variable: &str, register: &str| {
        let space = if variable == "own" { "local" } else { "shared" };
        format!("st.{space}.u32 [{variable}], {register};")
    };
    assert!(refuted(&text("tile", "%r1"), &text("tile", "%r2")).is_some());
    assert_eq!(refuted(&text("own", "%r1"), &text("own", "%r2")), None);
}

#[test]
fn special_registers_have_values_that_they_can_have() {
    for (name, mask) in
        [("%laneid", 31), ("%tid.x", 1023), ("%tid.z", 63), ("%ctaid.y", 0xffff), ("%tid.w", 0)]
    {
        let read = format!("mov.u32 %r4, {name};");
        let masked = |mask: u32| stored(&format!("{read}\nand.b32 %r4, %r4, {mask};"), "%r4");
        let old = stored(&read, "%r4");
        assert!(proved(&old, &masked(mask)), "{name} & {mask}");
        if mask > 0 {
            only_the_first_differs(name, &old, &masked(mask >> 1), &masked(mask));
        }
    }
}

#[test]
fn fewer_bits_of_a_special_register_are_its_lowest() {
    let text = |read: &str| stored(&format!("{read}\nmov.u32 %r6, %tid.x;\nadd.u32 %r5, %r5, %r6;"), "%r5");
    let old = text("mov.u16 %h1, %tid.x;\ncvt.u32.u16 %r5, %h1;");
    let masked = |mask: u32| text(&format!("mov.u32 %r5, %tid.x;\nand.b32 %r5, %r5, {mask};"));
    assert!(proved(&old, &masked(0xffff)));
    only_the_first_differs("half of a register", &old, &masked(0xff), &masked(0xffff));
}

#[test]
fn special_registers_go_together() {
    let mask = stored("mov.u32 %r4, %lanemask_eq;", "%r4");
    let shifted = |one: u32| {
        stored(&format!("mov.u32 %r5, %laneid;\nmov.u32 %r4, {one};\nshl.b32 %r4, %r4, %r5;"), "%r4")
    };
    assert_eq!(refuted(&mask, &shifted(1)), None);
    assert!(refuted(&mask, &shifted(2)).is_some());
    let below = |bound: &str| {
        stored(
            &format!(
                "mov.u32 %r4, %tid.y;\nmov.u32 %r5, {bound};\nsetp.lt.u32 %p1, %r4, %r5;\nselp.u32 %r4, 1, 0, %p1;"
            ),
            "%r4",
        )
    };
    let one = stored("mov.u32 %r4, %tid.y;\nmov.u32 %r4, %ntid.y;\nmov.u32 %r4, 1;", "%r4");
    assert_eq!(refuted(&below("%ntid.y"), &one), None);
    assert!(refuted(&below("5"), &one).is_some());
    assert!(refuted(&below("%ntid.x"), &one).is_some());
}

#[test]
fn a_generic_address_of_global_memory_is_the_same_number() {
    let text = |rest: &str| format!("cvta.to.global.u64 %d3, %d1;\n{rest}\nst.global.u64 [%d2], %d4;");
    let (same, next) = (text("mov.u64 %d4, %d1;"), text("add.u64 %d4, %d1, 8;"));
    only_the_first_differs("an address", &text("mov.u64 %d4, %d3;"), &next, &same);
}

#[test]
fn variables_of_one_name_are_not_taken_for_one() {
    let text = |first: &str, second: &str| {
        let store = |register: &str| format!("{{\n.shared .b32 v;\nst.shared.u32 [v], {register};\n}}\n");
        store(first) + &store(second)
    };
    assert_eq!(refuted(&text("%r1", "%r2"), &text("%r2", "%r1")), None);
}
