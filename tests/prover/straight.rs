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
    refuted_texts(&kernel(old), &kernel(new))
}

fn refuted_texts(old: &str, new: &str) -> Option<String> {
    let [old, new] = [old, new].map(|text| ptxopt_grammar::parse(text.as_bytes()).expect("it is legal"));
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

#[test]
fn what_depends_on_an_unwritten_register_is_no_difference() {
    let text = |first: &str, next: &str| format!("{first}\n{next}\nst.global.u32 [%d2+8], %r9;");
    let (one, two) = ("st.global.u32 [%d2], 1;", "st.global.u32 [%d2+4], 2;");
    let three = "st.global.u32 [%d2], 3;";
    only_the_first_differs("another store", &text(one, two), &text(three, two), &text(two, one));
    let own = |at: u32| text(&format!("st.local.u32 [own+{at}], 1;"), "");
    assert_eq!(refuted(&own(0), &own(4)), None);
    let loaded = |first: &str, at: u32| {
        stored(&format!("{first}\nst.global.u32 [%d1], %r9;\nld.global.u32 %r4, [%d1+{at}];"), "%r4")
    };
    assert_eq!(refuted(&loaded(one, 0), &loaded("", 0)), None);
    let sum = |number: u32| stored(&format!("add.u32 %r4, %r9, {number};"), "%r4");
    assert_eq!(refuted(&sum(1), &sum(2)), None);
}

#[test]
fn arrays_whose_size_the_launch_says_are_one() {
    let refuted = |old: &str, new: &str| {
        let arrays = ".extern .shared .align 16 .b8 s1[];\n.extern .shared .align 16 .b8 s2[];\n.visible";
        let [old, new] = [old, new].map(|body| kernel(body).replace(".visible", arrays));
        refuted_texts(&old, &new)
    };
    let text = |second: &str, register: &str| {
        stored(&format!("st.shared.u32 [s1], %r1;\nld.shared.u32 %r4, [{second}];"), register)
    };
    assert_eq!(refuted(&text("s2", "%r4"), &text("s2", "%r1")), None);
    assert!(refuted(&text("s2", "%r4"), &text("s2", "%r2")).is_some());
    assert!(refuted(&text("tile", "%r4"), &text("tile", "%r1")).is_some());
    let distance = |second: &str| {
        stored(&format!("mov.u32 %r4, s1;\nmov.u32 %r5, {second};\nsub.u32 %r4, %r4, %r5;"), "%r4")
    };
    let nothing =
        |second: &str| stored(&format!("mov.u32 %r4, s1;\nmov.u32 %r5, {second};\nmov.u32 %r4, 0;"), "%r4");
    assert_eq!(refuted(&distance("s2"), &nothing("s2")), None);
    assert!(refuted(&distance("tile"), &nothing("tile")).is_some());
}

#[test]
fn where_there_is_no_memory_nothing_is_accessed() {
    let load = "ld.global.u32 %r4, [%d1];";
    let chosen = |access: &str, condition: &str| {
        stored(&format!("{access}\nsetp.{condition};\nselp.u32 %r5, 7, 0, %p1;"), "%r5")
    };
    let never = |access: &str| stored(access, "0");
    for condition in ["eq.u64 %p1, %d1, 0", "lt.s64 %p1, %d1, 0", "lt.u64 %p1, %d1, 16"] {
        assert_eq!(refuted(&chosen(load, condition), &never(load)), None, "{condition}");
        assert!(refuted(&chosen("", condition), &never("")).is_some(), "{condition}");
    }
    let aligned = "and.b64 %d3, %d1, 4;\nsetp.ne.u64 %p1, %d3, 0;\nselp.u32 %r5, 7, 0, %p1;";
    assert!(refuted(&stored(&format!("{load}\n{aligned}"), "%r5"), &never(load)).is_some());
    let text = |rest: &str| {
        format!("cvta.to.shared.u64 %d3, %d1;\ncvt.u32.u64 %r4, %d3;\n{rest}\nst.global.u64 [%d2], %d4;")
    };
    let rest = text("cvt.u64.u32 %d4, %r4;\nsub.u64 %d4, %d4, %d3;");
    assert_eq!(refuted(&rest, &text("mov.u64 %d4, 0;")), None);
}

#[test]
fn variables_of_a_function_are_gone_when_it_ends() {
    let text = |space: &str, value: &str, result: u32| {
        format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.visible .func (.reg .b32 %o) f(.reg .b32 %i)\n{{\n\
             .{space} .align 4 .b8 l[8];\nst.{space}.u32 [l], {value};\nmov.u32 %o, {result};\nret;\n}}\n"
        )
    };
    assert_eq!(refuted_texts(&text("local", "%i", 1), &text("local", "5", 1)), None);
    assert!(refuted_texts(&text("local", "%i", 1), &text("local", "%i", 2)).is_some());
    assert!(refuted_texts(&text("shared", "%i", 1), &text("shared", "5", 1)).is_some());
}

#[test]
fn special_registers_that_may_have_fewer_values_than_is_known_refute_nothing() {
    let text = |name: &str, rest: &str| stored(&format!("mov.u32 %r4, {name};\n{rest}"), "%r5");
    let compared = "setp.lt.u32 %p1, %r4, 500;\nselp.u32 %r5, 0, 1, %p1;";
    for (name, is_known) in [
        ("%tid.x", true),
        ("%cluster_nctarank", false),
        ("%cluster_ctaid.x", false),
        ("%nclusterid.y", false),
        ("%total_smem_size", false),
    ] {
        let shown = refuted(&text(name, compared), &text(name, "mov.u32 %r5, 0;"));
        assert_eq!(shown.is_some(), is_known, "{name}: {shown:?}");
    }
}

#[test]
fn parts_of_addresses_refute_nothing() {
    let whole = "mov.u32 %r4, tile;";
    let half = "mov.u16 %h1, tile;\ncvt.u32.u16 %r4, %h1;";
    assert_eq!(refuted(&stored(half, "%r4"), &stored(whole, "%r4")), None);
    assert!(
        refuted(&stored(whole, "%r4"), &stored("mov.u32 %r4, tile;\nadd.u32 %r4, %r4, 4;", "%r4")).is_some()
    );
}
