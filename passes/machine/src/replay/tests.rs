//! What a replay tells apart and what it does not: pairs of small functions, each broken in one place.
//!
//! The texts of a pair differ in one place only, so a replay that tells them apart does so because of that place.

use super::{Changed, Shown, replay};
use ptxopt_grammar::tree::{Module, StmtKind};

const HEAD: &str = ".version 8.0\n.target sm_90\n.address_size 64\n.global .b32 g[64];\n\
                    .func (.reg .b32 d) callee(.reg .b32 a);\n\
                    .func (.param .b32 d) by_memory(.param .b32 a);\n";
const DECLARATIONS: &str = ".reg .b32 %r<20>;\n.reg .b16 %h<4>;\n.reg .pred %p<4>;\n.reg .b64 %rd<8>;\n\
                            .reg .f32 %f<4>;\n.local .b8 stack[64];\n";

fn entry(body: &str) -> String {
    format!("{HEAD}.entry f(.param .u64 out, .param .u32 n)\n{{\n{DECLARATIONS}{body}\n}}\n")
}

fn function(body: &str) -> String {
    format!("{HEAD}.func (.reg .b32 %d) f(.reg .b32 %a, .reg .b32 %n)\n{{\n{DECLARATIONS}{body}\n}}\n")
}

fn parsed(text: &str) -> Module<'_> {
    ptxopt_grammar::parse(text.as_bytes()).unwrap_or_else(|all| panic!("{text}: {all:?}"))
}

/// What a replay shows of `f`, all of whose instructions count as changed.
fn shown(before: &str, after: &str) -> Shown {
    let (before, after) = (parsed(before), parsed(after));
    let instructions = before.stmts().filter(|&stmt| before.kind(stmt) == StmtKind::Instruction);
    let changed = Changed { function: "f".to_owned(), stmts: instructions.collect() };
    replay(&before, &after, &[changed]).pop().expect("one was asked for").expect("both have it")
}

fn same(before: &str, after: &str) {
    let shown = shown(&entry(before), &entry(after));
    assert_eq!(shown.difference, None, "{before}\n{after}");
}

/// What the second does differently.
fn different(before: &str, after: &str) -> String {
    let shown = shown(&entry(before), &entry(after));
    shown.difference.unwrap_or_else(|| panic!("no difference: {before}\n{after}")).to_string()
}

const LOAD: &str = "ld.param.u64 %rd1, [out]; ld.global.u32 %r1, [%rd1]; ld.global.u32 %r2, [%rd1+4];";

fn stored(compute: &str) -> String {
    format!("{LOAD} {compute} st.global.u32 [%rd1+8], %r3; ret;")
}

#[test]
fn equal_computations_are_the_same_and_others_are_told() {
    same(&stored("bfe.u32 %r3, %r1, 8, 8;"), &stored("prmt.b32 %r3, %r1, 0, 0x4441;"));
    let told = different(&stored("bfe.u32 %r3, %r1, 8, 8;"), &stored("prmt.b32 %r3, %r1, 0, 0x4442;"));
    assert!(told.starts_with("`st.global.u32 [%rd1+8], %r3;` writes 0x"), "{told}");
}

#[test]
fn a_difference_at_one_corner_is_found() {
    let wrapped = "vadd4.s32.s32.s32 %r3, %r1, %r2, %r1;";
    different(&stored("vadd4.s32.s32.s32.sat %r3, %r1, %r2, %r1;"), &stored(wrapped));
}

#[test]
fn the_order_of_stores_between_events_is_not_seen_but_the_last_one_on_a_byte_is() {
    let one = "st.global.u32 [%rd1+8], %r1;";
    let two = "st.global.u32 [%rd1+16], %r2;";
    let over = "st.global.u8 [%rd1+9], %r2;";
    same(&format!("{LOAD} {one} {two} ret;"), &format!("{LOAD} {two} {one} ret;"));
    different(&format!("{LOAD} {one} {over} ret;"), &format!("{LOAD} {over} {one} ret;"));
    different(
        &format!("{LOAD} {one} bar.sync 0; {two} ret;"),
        &format!("{LOAD} {one} {two} bar.sync 0; ret;"),
    );
}

#[test]
fn a_word_is_as_good_as_its_bytes_and_a_byte_more_is_not() {
    let bytes: String = (0..4)
        .map(|at| format!("shr.u32 %r3, %r1, {}; st.global.u8 [%rd1+{}], %r3;", 8 * at, 8 + at))
        .collect();
    same(&format!("{LOAD} {bytes} ret;"), &format!("{LOAD} st.global.u32 [%rd1+8], %r1; ret;"));
    let told = different(
        &format!("{LOAD} st.global.u8 [%rd1+8], %r1; ret;"),
        &format!("{LOAD} st.global.u16 [%rd1+8], %r1; ret;"),
    );
    assert!(told.contains("which was not written before"), "{told}");
    let told = different(
        &format!("{LOAD} st.global.u16 [%rd1+8], %r1; ret;"),
        &format!("{LOAD} st.global.u8 [%rd1+8], %r1; ret;"),
    );
    assert!(told.contains("does not write the byte"), "{told}");
}

#[test]
fn what_is_written_is_read_again() {
    let through =
        |offset: u32| stored(&format!("st.global.u32 [%rd1+32], %r1; ld.global.u8 %r3, [%rd1+{offset}];"));
    let direct = stored("st.global.u32 [%rd1+32], %r1; bfe.u32 %r3, %r1, 8, 8;");
    same(&through(33), &direct);
    different(&through(34), &direct);
}

#[test]
fn an_unknown_function_of_the_same_operands_is_the_same() {
    let ex2 = |of: &str| stored(&format!("mov.b32 %f1, {of}; ex2.approx.f32 %f2, %f1; mov.b32 %r3, %f2;"));
    same(&ex2("%r1"), &ex2("%r1"));
    different(&ex2("%r1"), &ex2("%r2"));
    // One whose result is unused may go, and so may one of two.
    let twice =
        stored("mov.b32 %f1, %r1; ex2.approx.f32 %f3, %f1; ex2.approx.f32 %f2, %f1; mov.b32 %r3, %f2;");
    same(&twice, &ex2("%r1"));
}

#[test]
fn operands_of_what_acts_are_seen() {
    let atomic = |value: &str| {
        format!("{LOAD} atom.global.add.u32 %r3, [%rd1+64], {value}; st.global.u32 [%rd1], %r3; ret;")
    };
    same(&atomic("%r1"), &atomic("%r1"));
    let told = different(&atomic("%r1"), &atomic("%r2"));
    assert!(told.starts_with("`atom.global.add.u32 %r3, [%rd1+64], %r2;` is given 0x"), "{told}");
    let shuffle = |value: &str| stored(&format!("shfl.sync.bfly.b32 %r3, {value}, 1, 31, -1;"));
    different(&shuffle("%r1"), &shuffle("%r2"));
    let volatile = |value: &str| format!("{LOAD} st.volatile.global.u32 [%rd1], {value}; ret;");
    different(&volatile("%r1"), &volatile("%r2"));
}

#[test]
fn strong_accesses_move_as_many_bits_as_their_type_has() {
    let store = |of: &str| format!("{LOAD} {of} st.volatile.global.u8 [%rd1], %r3; ret;");
    same(&store("mov.b32 %r3, %r1;"), &store("and.b32 %r3, %r1, 255;"));
    different(&store("mov.b32 %r3, %r1;"), &store("and.b32 %r3, %r1, 127;"));
    let load = |ty: &str, then: &str| stored(&format!("ld.relaxed.gpu.global.{ty} %r4, [%rd1+4]; {then}"));
    same(&load("u8", "mov.b32 %r3, %r4;"), &load("u8", "and.b32 %r3, %r4, 255;"));
    same(&load("s8", "mov.b32 %r3, %r4;"), &load("s8", "bfe.s32 %r3, %r4, 0, 8;"));
    different(&load("s8", "mov.b32 %r3, %r4;"), &load("s8", "and.b32 %r3, %r4, 255;"));
}

#[test]
fn an_event_more_or_fewer_is_told() {
    let once = format!("{LOAD} bar.sync 0; ret;");
    let twice = format!("{LOAD} bar.sync 0; bar.sync 0; ret;");
    different(&once, &twice);
    different(&twice, &once);
    different(&once, &format!("{LOAD} bar.sync 1; ret;"));
}

#[test]
fn calls_see_their_arguments_and_give_results() {
    let call =
        |argument: &str| format!("{LOAD} call (%r3), callee, ({argument}); st.global.u32 [%rd1], %r3; ret;");
    same(&call("%r1"), &call("%r1"));
    different(&call("%r1"), &call("%r2"));
    let by_memory = |argument: &str| {
        format!(
            "{LOAD} {{ .param .b32 x; .param .b32 y; st.param.b32 [x], {argument}; call (y), by_memory, (x); \
             ld.param.b32 %r3, [y]; }} st.global.u32 [%rd1], %r3; ret;"
        )
    };
    same(&by_memory("%r1"), &by_memory("%r1"));
    different(&by_memory("%r1"), &by_memory("%r2"));
}

#[test]
fn what_depends_on_an_unwritten_register_is_free_in_the_original_alone() {
    same(&stored("add.u32 %r3, %r9, 1;"), &stored("mov.b32 %r3, 7;"));
    different(&stored("add.u32 %r3, %r1, 1;"), &stored("add.u32 %r3, %r9, 1;"));
    // A branch on it may be taken or not, and nothing is claimed of what follows.
    let branch = |value: u32| format!("{LOAD} @%p1 bra L; st.global.u32 [%rd1], {value};\nL: ret;");
    same(&branch(1), &branch(2));
    // Reading it changes nothing where the result does not depend on it.
    same(
        &stored("selp.b32 %r3, %r1, %r9, 1 == 1;")
            .replace("1 == 1", "%p0")
            .replace(LOAD, &format!("{LOAD} setp.eq.u32 %p0, %r1, %r1;")),
        &stored("mov.b32 %r3, %r1;"),
    );
}

#[test]
fn the_bits_of_a_narrow_register_are_its_own() {
    let narrow = |how: &str| format!("{LOAD} {how} st.global.u16 [%rd1], %h2; ret;");
    same(
        &narrow("cvt.u16.u32 %h1, %r1; add.u16 %h2, %h1, %h1;"),
        &narrow("cvt.u16.u32 %h1, %r1; shl.b16 %h2, %h1, 1;"),
    );
    different(
        &narrow("cvt.u16.u32 %h1, %r1; shr.u16 %h2, %h1, 1;"),
        &narrow("cvt.u16.u32 %h1, %r1; shr.s16 %h2, %h1, 1;"),
    );
}

#[test]
fn what_stands_behind_a_comparison_is_reached() {
    let behind = |constant: u32| {
        format!(
            "{LOAD} ld.param.u32 %r4, [n]; setp.ne.u32 %p0, %r4, 4711; @%p0 bra L; st.global.u32 [%rd1], {constant};\nL: ret;"
        )
    };
    let shown = shown(&entry(&behind(1)), &entry(&behind(1)));
    assert_eq!(shown.reached.0, shown.reached.1, "the constant is one of the inputs");
    different(&behind(1), &behind(2));
}

#[test]
fn what_is_out_of_reach_is_counted() {
    let never = format!(
        "{LOAD} and.b32 %r3, %r1, 1; setp.ne.u32 %p0, %r3, 2; @%p0 bra L; st.global.u32 [%rd1], %r1;\nL: ret;"
    );
    let Shown { reached: (reached, all), difference } = shown(&entry(&never), &entry(&never));
    assert_eq!((all - reached, difference), (1, None));
}

#[test]
fn loops_are_left_where_counts_are_small_and_cut_where_they_have_no_end() {
    let sum = |step: &str| {
        format!(
            "{LOAD} ld.param.u32 %r4, [n]; mov.b32 %r5, 0; mov.b32 %r6, 0;\nL: {step} add.u32 %r5, %r5, 1;\n\
             setp.lt.u32 %p0, %r5, %r4; @%p0 bra L; st.global.u32 [%rd1], %r6; ret;"
        )
    };
    same(&sum("add.u32 %r6, %r6, %r5;"), &sum("mad.lo.u32 %r6, %r5, 1, %r6;"));
    different(&sum("add.u32 %r6, %r6, %r5;"), &sum("add.u32 %r6, %r6, 1;"));
    let endless = |value: u32| format!("{LOAD}\nL: st.volatile.global.u32 [%rd1], {value}; bra L;");
    same(&endless(1), &endless(1));
    different(&endless(1), &endless(2));
    same(&format!("{LOAD}\nL: bra L;"), &format!("{LOAD}\nL: bra L;"));
    let padded = |end: &str| {
        let long = "add.u32 %r6, %r6, %r5; ".repeat(200);
        sum(&long).replace("setp.lt.u32 %p0, %r5, %r4;", &format!("setp.lt.u32 %p0, %r5, {end};"))
    };
    let told = different(&padded("3"), &padded("0x7fffffff"));
    assert!(told.contains("is never reached"), "a loop that has lost its end: {told}");
}

#[test]
fn the_first_turn_of_a_loop_that_begins_with_the_body_has_the_callers_values() {
    let body = |take: &str| {
        format!("L: {take} mov.b32 %a, 5; sub.u32 %n, %n, 1; setp.ne.u32 %p0, %n, 0; @%p0 bra L; ret;")
    };
    let (before, after) = (body("bfe.u32 %d, %a, 0, 8;"), body("mov.b32 %d, 5;"));
    let difference = shown(&function(&before), &function(&after)).difference.expect("a small count shows it");
    assert!(difference.what.starts_with("is given 0x5 instead of"), "{difference}");
    assert_eq!(shown(&function(&before), &function(&body("and.b32 %d, %a, 255;"))).difference, None);
    let (before, after) = (body("vadd4.u32.u32.u32 %d, %a, %a, %a;"), body("mov.b32 %d, 10;"));
    assert!(shown(&function(&before), &function(&after)).difference.is_some());
}

#[test]
fn an_indirect_branch_takes_the_same_way() {
    let body = |first: u32| {
        format!(
            "{LOAD}\nT: .branchtargets A, B;\nand.b32 %r3, %r1, 1; brx.idx %r3, T;\n\
             A: st.global.u32 [%rd1], {first}; ret;\nB: st.global.u32 [%rd1], 2; ret;"
        )
    };
    same(&body(1), &body(1));
    different(&body(1), &body(3));
}
