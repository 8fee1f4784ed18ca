//! Whether loops that carry bytes in a word are proved to do what they did with these bytes in registers, and wrong
//! ones are not.

use super::super::{Effort, Outcome, compare_packed};
use super::{Lane, Packed, comment, told};
use ptxopt_grammar::function::functions;
use ptxopt_grammar::meaning::disputed::Semantics;
use ptxopt_grammar::names::Part;

/// What puts the four registers together.
const PACK: &str =
    "prmt.b32 %lo, %m0, %m1, 0x0040;\nprmt.b32 %hi, %m2, %m3, 0x0040;\nprmt.b32 %w, %lo, %hi, 0x5410;\n";
/// What takes them apart again.
const UNPACK: &str = "prmt.b32 %m0, %w, 0, 0x4440;\nprmt.b32 %m1, %w, 0, 0x4441;\nprmt.b32 %m2, %w, 0, 0x4442;\n\
                      prmt.b32 %m3, %w, 0, 0x4443;\n";
/// The bytes that the loop begins with.
const BEGIN: &str =
    "ld.global.u8 %m0, [%at];\nmov.b32 %m1, 7;\nmov.b32 %m2, 255;\nld.global.u8 %m3, [%at+1];\n";
/// One step, which keeps them bytes.
const STEP: &str = "add.u32 %m0, %m0, %x;\nmin.u32 %m0, %m0, 255;\nmax.u32 %m1, %m1, %m2;\nxor.b32 %m2, %m2, %m3;\n\
                    not.b32 %m3, %m3;\nand.b32 %m3, %m3, 255;\n";

/// A function with a loop; what begins with `~` is in the new text only.
fn text(begin: &str, step: &str) -> String {
    format!(
        ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry f(.param .u64 to)\n{{\n~.reg .b32 %w, %lo, %hi;\n\
         .reg .b32 %m0, %m1, %m2, %m3, %x;\n.reg .b64 %at;\n.reg .pred %p, %q;\nld.param.u64 %at, [to];\n{begin}\
         step:\n{step}setp.lt.u32 %p, %x, 9;\n@%p bra step;\nst.global.v4.b32 [%at], {{%m0, %m1, %m2, %m3}};\nret;\n}}\n"
    )
}

/// Whether it is proved that the lines that begin with `~` change nothing, `%w` being made of these registers.
fn is_proved(begin: &str, step: &str, parts: &[&str]) -> bool {
    let marked = text(begin, step);
    let old: String = marked.split_inclusive('\n').filter(|line| !line.starts_with('~')).collect();
    let new = marked.replace('~', "");
    let [before, after] =
        [&old, &new].map(|text| ptxopt_grammar::parse(text.as_bytes()).expect("it is legal"));
    let declared = |name: &&str| {
        let decl = before.decls().find(|&decl| before.decl_name(decl) == name.as_bytes());
        Lane::lowest((decl.expect("it is declared"), Part::default()))
    };
    let packed = Packed { word: "%w".to_owned(), lanes: parts.iter().map(declared).collect() };
    let functions = [&before, &after].map(|module| functions(module));
    let [old, new] = [(&before, &functions[0][0]), (&after, &functions[1][0])];
    matches!(compare_packed(old, new, Semantics::Undisputed, &[packed], Effort::Little), Outcome::Proved(_))
}

fn added(lines: &str) -> String {
    lines.split_inclusive('\n').map(|line| format!("~{line}")).collect()
}

/// The loop with the word put together before it and at its end, and taken apart where it begins.
fn with_moves(begin: &str, step: &str) -> [String; 2] {
    let load = "ld.global.u32 %x, [%at];\nand.b32 %x, %x, 255;\n";
    [begin.to_owned() + &added(PACK), added(UNPACK) + load + step + &added(PACK)]
}

const PARTS: [&str; 4] = ["%m0", "%m1", "%m2", "%m3"];

#[test]
fn a_loop_may_carry_bytes_in_a_word() {
    let [begin, step] = with_moves(BEGIN, STEP);
    assert!(is_proved(&begin, &step, &PARTS));
}

#[test]
fn the_word_must_be_made_of_these_registers() {
    let [begin, step] = with_moves(BEGIN, STEP);
    assert!(!is_proved(&begin, &step, &["%m1", "%m0", "%m2", "%m3"]));
    assert!(!is_proved(&begin, &step, &["%m0", "%m1"]));
    assert!(!is_proved(&begin, &step, &["%m0", "%m1", "%m2"]));
}

#[test]
fn every_edge_must_put_it_together() {
    let [begin, step] = with_moves(BEGIN, STEP);
    assert!(!is_proved(&begin.replace(&added(PACK), ""), &step, &PARTS));
    assert!(!is_proved(&begin, &step.replace(&added(PACK), ""), &PARTS));
    let guarded = added(PACK).replace("~prmt.b32 %w", "~@%p prmt.b32 %w");
    assert!(!is_proved(&begin, &step.replace(&added(PACK), &guarded), &PARTS));
}

#[test]
fn what_is_taken_apart_must_be_what_was_put_together() {
    let [begin, step] = with_moves(BEGIN, STEP);
    for (from, to) in [("0x4443", "0x4442"), ("0x4440", "0x8880"), ("0x5410", "0x1054")] {
        assert!(!is_proved(&begin, &step.replace(from, to), &PARTS), "{to}");
    }
}

#[test]
fn what_lies_above_the_lanes_must_be_zeros_or_make_no_difference() {
    for (from, to) in [
        ("min.u32 %m0, %m0, 255", "min.u32 %m0, %m0, 511"),
        ("not.b32 %m3, %m3;\nand.b32 %m3, %m3, 255", "not.b32 %m3, %m3"),
    ] {
        let [begin, step] = with_moves(BEGIN, &STEP.replace(from, to));
        assert!(!is_proved(&begin, &step, &PARTS), "{to}");
    }
    // A sum has more bits, unless they are cut off.
    let cut = "and.b32 %m0, %m0, 255;\n";
    let [begin, step] = with_moves(BEGIN, &STEP.replace("min.u32 %m0, %m0, 255;\n", ""));
    assert!(!is_proved(&begin, &step, &PARTS));
    let [begin, step] = with_moves(BEGIN, &(STEP.replace("min.u32 %m0, %m0, 255;\n", "") + cut));
    assert!(is_proved(&begin, &step, &PARTS));
}

#[test]
fn all_registers_must_have_been_written() {
    let [begin, step] = with_moves(&BEGIN.replace("mov.b32 %m2, 255;\n", ""), STEP);
    assert!(!is_proved(&begin, &step, &PARTS));
    let guarded = BEGIN.replace("mov.b32 %m1, 7;", "setp.eq.u64 %q, %at, 0;\n@%q mov.b32 %m1, 7;");
    let [begin, step] = with_moves(&guarded, STEP);
    assert!(!is_proved(&begin, &step, &PARTS));
}

#[test]
fn a_word_of_the_old_function_is_refused() {
    let [begin, step] = with_moves(BEGIN, STEP);
    let [begin, step] = [begin, step].map(|text| text.replace('~', ""));
    let text = text(&begin, &step).replace('~', "");
    let module = ptxopt_grammar::parse(text.as_bytes()).expect("it is legal");
    let decl = module.decls().find(|&decl| module.decl_name(decl) == b"%w").expect("it is declared");
    let packed = Packed { word: "%w".to_owned(), lanes: vec![Lane::lowest((decl, Part::default())); 4] };
    let function = &functions(&module)[0];
    let side = (&module, function);
    assert!(matches!(
        compare_packed(side, side, Semantics::Undisputed, &[packed], Effort::Little),
        Outcome::Stopped(_)
    ));
    assert!(matches!(
        compare_packed(side, side, Semantics::Undisputed, &[], Effort::Little),
        Outcome::Proved(_)
    ));
}

/// What is told in comments behind `.reg .b32 %w, %lo, %hi;` is proved as if it had been given.
fn is_proved_as_told(old: &str, new: &str, effort: Effort) -> bool {
    let [before, after] = [old, new].map(|text| ptxopt_grammar::parse(text.as_bytes()).expect("it is legal"));
    let functions = [&before, &after].map(|module| functions(module));
    let [old, new] = [(&before, &functions[0][0]), (&after, &functions[1][0])];
    let outcome = compare_packed(old, new, Semantics::Undisputed, &told(old, new), effort);
    matches!(outcome, Outcome::Proved(_))
}

#[test]
fn a_comment_says_what_a_word_is_made_of() {
    let [begin, step] = with_moves(BEGIN, STEP);
    let marked = text(&begin, &step);
    let old: String = marked.split_inclusive('\n').filter(|line| !line.starts_with('~')).collect();
    let with = |comment: &str| marked.replace('~', "").replace("%hi;\n", &format!("%hi;{comment}\n"));
    let parts = PARTS.map(|part| Lane::lowest(part.to_owned()));
    for comment in [
        format!(" // {}", comment("%w", &parts)),
        "\n// words of four lanes: %w = { %m0,%m1 , %m2, %m3 } and nothing else".to_owned(),
        "/* %w = {%m0, %m1,\n%m2, %m3}, %lo = {%m0, %nothing} */".to_owned(),
    ] {
        assert!(is_proved_as_told(&old, &with(&comment), Effort::Little), "{comment}");
    }
    for comment in [
        "",
        " // %w = {%m1, %m0, %m2, %m3}",
        " // %w = {%m0, %m1, %m2}",
        " // %w = {%m0, %m1, %m2, %m3",
        " // %w = {%m0.b1, %m1, %m2, %m3}",
        " // %w = {%m0, %m1, %m2, %m3^1}",
        " // %w = {%m0.b4294967295, %m1, %m2, %m3}",
        " // %m0 = {%m0, %m1, %m2, %m3}, %w = {%w, %w}",
    ] {
        assert!(!is_proved_as_told(&old, &with(comment), Effort::Little), "{comment}");
    }
}

/// A loop with the greatest bytes of words, and the same with these in two words of halves.
fn of_halves(comments: &str, step: &str) -> [String; 2] {
    let head = ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry f(.param .u64 to)\n{\n";
    let begin = ".reg .b32 %w, %x, %i;\n.reg .b64 %at;\n.reg .pred %p;\nld.param.u64 %at, [to];\n";
    let end = "add.u32 %i, %i, 1;\nsetp.lt.u32 %p, %i, 9;\n@%p bra step;\n";
    let old = format!(
        "{head}{begin}mov.b32 %i, 0;\nmov.b32 %w, 0x80808080;\nstep:\nld.global.u32 %x, [%at];\n\
         vmax4.s32.s32.s32 %w, %w, %x, %w;\n{end}st.global.u32 [%at], %w;\nret;\n}}\n"
    );
    let new = format!(
        "{head}.reg .b32 %e, %o;{comments}\n.reg .b32 %f, %g;\n{begin}mov.b32 %i, 0;\nmov.b32 %e, 0;\nmov.b32 %o, 0;\nstep:\n\
         ld.global.u32 %x, [%at];\nxor.b32 %x, %x, 0x80808080;\nprmt.b32 %f, %x, 0, 0x4240;\nprmt.b32 %g, %x, 0, 0x4341;\n\
         {step}{end}prmt.b32 %w, %e, %o, 0x6240;\nxor.b32 %w, %w, 0x80808080;\nst.global.u32 [%at], %w;\nret;\n}}\n"
    );
    [old, new]
}

#[test]
fn halves_may_hold_bytes_of_a_register_with_128_added() {
    let told = " // %e = {%w.b0^128, %w.b2^128}, %o = {%w.b1^128, %w.b3^128}";
    let step = "max.u16x2 %e, %e, %f;\nmax.u16x2 %o, %o, %g;\n";
    let is_proved = |comments: &str, step: &str| {
        let [old, new] = of_halves(comments, step);
        is_proved_as_told(&old, &new, Effort::Most)
    };
    assert!(is_proved(told, step));
    assert!(!is_proved("", step));
    assert!(!is_proved(&told.replace("^128", ""), step));
    assert!(!is_proved(&told.replace("b2", "b1"), step));
    assert!(!is_proved(told, &step.replace("max.u16x2 %o", "min.u16x2 %o")));
    assert!(!is_proved(told, &step.replace("%o, %g", "%o, %f")));
}
