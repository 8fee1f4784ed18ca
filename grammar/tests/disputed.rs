//! The disputed forms: the page that lists them, forms that are disputed and similar ones that are not.

use ptxopt_grammar::meaning::disputed::{DISPUTES, disputed, disputed_at};
use ptxopt_grammar::video::decode;
use std::fmt::Write;

fn class(instruction: &str) -> Option<&'static str> {
    let text = format!(".version 8.0\n.target sm_80\n.func f() {{ .reg .b32 %r<4>; {instruction}; }}\n");
    let module = ptxopt_grammar::parse(text.as_bytes()).expect("the module is legal");
    let found = module.stmts().find_map(|stmt| decode(&module, stmt));
    let form = found.expect("it is a video instruction").expect("it is legal").form;
    disputed(form).map(|dispute| dispute.name)
}

#[test]
fn both_sides_of_the_line() {
    assert_eq!(class("vadd.u32.u32.u32 %r0.h1, %r1, %r2, %r3"), Some("merge-h1"));
    assert_eq!(class("vadd.u32.u32.u32 %r0.h0, %r1, %r2, %r3"), None);
    assert_eq!(class("vadd.u32.u32.u32.sat %r0, %r1, %r2"), Some("sat-u32-high"));
    assert_eq!(class("vadd.u32.u32.u32.sat %r0, %r1.b0, %r2.h1"), None);
    assert_eq!(class("vsub.u32.u32.u32.sat %r0, %r1, %r2"), None);
    assert_eq!(class("vsub.s32.u32.u32.sat %r0.b1, %r1, %r2, %r3"), Some("sat-subword"));
    assert_eq!(class("vabsdiff.s32.s32.s32.sat %r0.b1, %r1, %r2, %r3"), None);
    assert_eq!(class("vshr.u32.u32.u32.sat.clamp %r0.b1, %r1, %r2, %r3"), Some("shift-sat-subword"));
    assert_eq!(class("vshr.u32.u32.u32.sat.clamp %r0, %r1, %r2"), None);
    assert_eq!(class("vshl.u32.u32.u32.sat.clamp %r0, %r1, %r2"), Some("shift-34"));
    assert_eq!(class("vmin.u32.u32.u32.max %r0, %r1, %r2, %r3"), Some("secop-tmp"));
    assert_eq!(class("vmin.s32.s32.s32.max %r0, %r1, %r2, %r3"), None);
    assert_eq!(class("vmad.u32.u32.u32.shr7 %r0, %r1, %r2, %r3"), Some("vmad-s32"));
    assert_eq!(class("vmad.u32.u32.u32 %r0, %r1, %r2, %r3"), None);
    assert_eq!(class("vadd4.u32.u32.u32.sat %r0, %r1, %r2, %r3"), None);
}

#[test]
fn fields_of_words_of_64_bits_are_agreed_on_only_at_small_places() {
    let class = |instruction: &str| {
        let text = format!(
            ".version 8.0\n.target sm_80\n.func f() {{ .reg .b64 %d<4>; .reg .b32 %r<4>; {instruction}; }}\n"
        );
        let module = ptxopt_grammar::parse(text.as_bytes()).expect("the module is legal");
        let stmt = module.stmts().find(|&stmt| module.opcode(stmt).is_some()).expect("there is one");
        disputed_at(&module, stmt).map(|dispute| dispute.name)
    };
    assert_eq!(class("bfe.u64 %d0, %d1, %r1, 8"), Some("field-64"));
    assert_eq!(class("bfe.s64 %d0, %d1, 8, %r1"), Some("field-64"));
    assert_eq!(class("bfi.b64 %d0, %d1, %d2, 256, 8"), Some("field-64"));
    assert_eq!(class("bfe.u64 %d0, %d1, 255, 8"), None);
    assert_eq!(class("bfi.b64 %d0, %d1, %d2, 0, 64"), None);
    assert_eq!(class("bfe.u32 %r0, %r1, %r2, %r3"), None);
    assert_eq!(class("vadd.u32.u32.u32.sat %r0, %r1, %r2"), Some("sat-u32-high"));
}

#[test]
fn a_carry_flag_of_the_other_kind_is_disputed() {
    let class = |body: &str| {
        let text =
            format!(".version 8.0\n.target sm_80\n.func f() {{ .reg .b32 %r<4>; .reg .pred %p; {body} }}\n");
        let module = ptxopt_grammar::parse(text.as_bytes()).expect("the module is legal");
        let last = module.stmts().rfind(|&stmt| module.opcode(stmt).is_some());
        disputed_at(&module, last.expect("there is one")).map(|dispute| dispute.name)
    };
    let mixed = Some("mixed-carry");
    assert_eq!(class("sub.cc.u32 %r0, %r1, %r2; addc.u32 %r3, 0, 0;"), mixed);
    assert_eq!(class("sub.cc.u32 %r0, %r1, %r2; madc.lo.u32 %r3, %r1, %r2, 0;"), mixed);
    assert_eq!(class("add.cc.u32 %r0, %r1, %r2; subc.u32 %r3, 0, 0;"), mixed);
    assert_eq!(class("mad.lo.cc.u32 %r0, %r1, %r2, %r2; subc.u32 %r3, 0, 0;"), mixed);
    assert_eq!(class("add.cc.u32 %r0, %r1, %r2; @%p sub.cc.u32 %r0, %r1, %r2; addc.u32 %r3, 0, 0;"), mixed);
    assert_eq!(class("add.cc.u32 %r0, %r1, %r2; L: addc.u32 %r3, 0, 0;"), mixed);
    assert_eq!(class("addc.u32 %r3, 0, 0;"), mixed);
    let far = "mov.b32 %r3, 0;".repeat(300);
    assert_eq!(class(&format!("add.cc.u32 %r0, %r1, %r2; {far} addc.u32 %r3, 0, %r3;")), mixed);
    assert_eq!(class("add.cc.u32 %r0, %r1, %r2; { mov.b32 %r3, 0; addc.u32 %r3, 0, %r3; }"), None);
    assert_eq!(class("mad.lo.cc.u32 %r0, %r1, %r2, %r2; addc.cc.u32 %r3, 0, 0; addc.u32 %r3, 0, 0;"), None);
    assert_eq!(class("sub.cc.u32 %r0, %r1, %r2; subc.cc.u32 %r3, %r1, 0; subc.u32 %r3, 0, 0;"), None);
    assert_eq!(class("sub.cc.u32 %r0, %r1, %r2; @%p sub.cc.u32 %r0, %r1, %r2; subc.u32 %r3, 0, 0;"), None);
}

/// `UPDATE=1` rewrites the page.
#[test]
fn the_page_lists_every_class() {
    let mut page = INTRODUCTION.to_owned();
    for dispute in &DISPUTES {
        let (first, last) = dispute.assemblers;
        write!(
            page,
            "\n## {}\n\n- Forms: {}.\n- Manual: {}.\n- Assembler: {}.\n- Assemblers: ptxas {first} to {last}.\n- Evidence: {}.\n",
            dispute.name, dispute.forms, dispute.manual, dispute.assembler, dispute.evidence,
        )
        .expect("a string can be written to");
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/disputed-forms.md");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, &page).expect("the page can be written");
    }
    let written = std::fs::read_to_string(path).expect("the page can be read");
    assert!(written == page, "run this test with UPDATE=1");
}

const INTRODUCTION: &str = "\
# Disputed forms

Some forms of scalar video instructions, bit fields of 64-bit words, and carry flags, mean one thing by the manual and
another by the code that NVIDIA's assembler makes of them. `ptxopt eval` computes what the manual says. The SIMD
instructions with two or four lanes have no such form.
";
