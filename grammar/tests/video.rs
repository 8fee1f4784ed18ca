//! The video instructions: every legal form is decoded and written, and every rule has its message.
//!
//! `video_forms.txt` holds what NVIDIA's assembler says of some two thousand forms. All forms that the types allow are
//! written, read and compared; the list shows that these are the forms that the assembler takes.

use ptxopt_grammar::diagnostic::Diagnostic;
use ptxopt_grammar::tree::{Module, StmtId};
use ptxopt_grammar::video::{
    Compare, Form, Instance, Lanes, Mad, Part, Routing, Scalar, ScalarOp, Sign, Simd, SimdOp, Then, decode,
    register_text,
};
use ptxopt_grammar::{parse, table};

const HEAD: &str = ".version 8.0
.target sm_75
.global .u32 g;
.func f() { ret; }
.entry k(.param .u32 q) {
.reg .b32 %r<9>; .reg .u32 %u<9>; .reg .s32 %s<9>; .reg .f16x2 %x<9>; .reg .f32 %f<9>;
.reg .b16 %h<9>; .reg .b64 %d<9>; .reg .pred %p<9>; .reg .v2 .b32 %v;
";

fn module_text(forms: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let mut text = HEAD.to_owned();
    for form in forms {
        text.push_str(form.as_ref());
        text.push_str(";\n");
    }
    text.push_str("}\n");
    text
}

/// The video instructions of a module, which must all be legal.
fn instances<'m>(module: &'m Module<'_>) -> impl Iterator<Item = (StmtId, Instance)> + 'm {
    module.stmts().filter_map(|stmt| Some((stmt, decode(module, stmt)?.expect("`parse` checks them all"))))
}

fn list() -> impl Iterator<Item = (&'static str, Option<&'static str>)> {
    let lines = include_str!("video_forms.txt").lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| match line.split_once(" # ") {
        Some((form, message)) => (form, Some(message)),
        None => (line, None),
    })
}

#[test]
fn every_form_that_the_assembler_takes_is_decoded() {
    let accepted: Vec<&str> = list().filter(|(_, message)| message.is_none()).map(|(form, _)| form).collect();
    let text = module_text(&accepted);
    let module = parse(text.as_bytes()).unwrap_or_else(|found| panic!("{found:#?}"));
    assert_eq!(instances(&module).count(), accepted.len());
}

#[test]
fn every_form_that_the_assembler_rejects_is_rejected() {
    for (form, message) in list().filter_map(|(form, message)| Some((form, message?))) {
        let text = module_text([form]);
        assert!(parse(text.as_bytes()).is_err(), "{form}: {message}");
    }
}

#[test]
fn every_video_instruction_has_a_row() {
    assert_eq!(table::rows().filter(|row| row.video.is_some()).count(), 23);
    let named = |row: &&table::Row| row.video.is_none_or(|opcode| opcode.name() == row.name);
    assert!(table::rows().all(|row| named(&row)));
}

// ---- all legal forms --------------------------------------------------------------------------------------

fn parts() -> impl Iterator<Item = Option<Part>> + Clone {
    [None].into_iter().chain(Part::ALL.map(Some))
}

fn pairs<A: Clone, B: Clone>(
    a: impl IntoIterator<Item = A>,
    b: impl IntoIterator<Item = B, IntoIter: Clone>,
) -> Vec<(A, B)> {
    let b = b.into_iter();
    a.into_iter().flat_map(|a| b.clone().map(move |b| (a.clone(), b))).collect()
}

fn scalar_forms() -> Vec<Form> {
    let all = pairs(Scalar::all(), pairs(parts(), parts()));
    all.into_iter().map(|(form, (a, b))| Form::Scalar(Scalar { a, b, ..form })).collect()
}

fn mad_forms() -> Vec<Form> {
    let all = pairs(Mad::all(), pairs(parts(), parts()));
    all.into_iter().map(|(form, (a, b))| Form::Mad(Mad { a, b, ..form })).collect()
}

/// All operations, types and masks; each with some pair of selectors, and one with every selector.
fn simd_forms(lanes: Lanes) -> Vec<Form> {
    let plain = Routing::plain(lanes);
    let picks = |mut number: u32| {
        let mut picks = Vec::new();
        for _ in 0..lanes.count() {
            let pick = number % (2 * u32::from(lanes.count()));
            picks.push(u8::try_from(pick).expect("at most 7"));
            number /= 2 * u32::from(lanes.count());
        }
        picks
    };
    let routing = |mask, a, b| plain.masked(mask)?.selected(&picks(a), &picks(b));
    let mut forms = Vec::new();
    let mut seed = 1_u32;
    for (form, mask) in pairs(Simd::all(lanes), 1..=lanes.full_mask()) {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let random = routing(mask, seed >> 8, seed >> 20).expect("picks are in range");
        let masked = plain.masked(mask).expect("the mask is in range");
        forms.extend([masked, random].map(|routing| Form::Simd(Simd { routing, ..form })));
    }
    let op = SimdOp::Set { compare: Compare::Lt, accumulate: false };
    for number in 0..(2 * u32::from(lanes.count())).pow(u32::from(lanes.count())) {
        let routings = [(number, 1), (1, number), (number, number * 7)];
        forms.extend(routings.into_iter().map(|(a, b)| {
            let routing = routing(lanes.full_mask(), a, b).expect("picks are in range");
            Form::Simd(Simd { op, atype: Sign::Unsigned, btype: Sign::Signed, routing })
        }));
    }
    forms
}

#[test]
#[expect(clippy::print_stdout, reason = "how many forms there are is worth knowing")]
fn written_and_read_every_form_is_itself() {
    let mut forms = scalar_forms();
    forms.extend(mad_forms());
    forms.extend(simd_forms(Lanes::Two));
    forms.extend(simd_forms(Lanes::Four));
    println!("{} forms", forms.len());
    let texts: Vec<String> = forms
        .iter()
        .map(|form| form.encode("%r0", "%r1", "%u2", Some("%s3")).expect("registers have every form"))
        .collect();
    assert!(texts.iter().all(|text| !text.contains("b1024")));
    let text = module_text(&texts);
    let module = parse(text.as_bytes()).unwrap_or_else(|found| panic!("{found:#?}"));
    let mut read = instances(&module);
    for (form, text) in forms.iter().zip(&texts) {
        let (_, found) = read.next().expect("as many instructions as forms");
        let exchanged = found.a.text(&module) == b"%u2";
        let expected = if exchanged { form.exchanged() } else { *form };
        assert_eq!(found.form, expected, "{text}");
        assert_eq!(register_text(&module, found.d), b"%r0", "{text}");
        assert_eq!(found.b.text(&module), if exchanged { b"%r1" } else { b"%u2" }, "{text}");
        let c = found.c.map(|c| c.text(&module));
        assert_eq!(c, form.reads_c().then_some(b"%s3".as_slice()), "{text}");
    }
    assert!(read.next().is_none());
}

#[test]
fn a_selector_that_reads_as_a_type_is_written_with_exchanged_sources() {
    let text = module_text(["vmin4.u32.s32.u32 %r0.b20, %r1.b1024, %r2, %r3"]);
    let module = parse(text.as_bytes()).expect("ptxas 11.8 takes it");
    let (_, found) = instances(&module).next().expect("one instruction");
    let written = found.form.encode("%r0", "%r1", "%r2", Some("%r3"));
    assert_eq!(written.as_deref(), Some("vmin4.u32.s32.u32 %r0.b20, %r2.b5460, %r1.b3210, %r3"));
}

#[test]
fn what_cannot_be_written_is_refused() {
    let plain = Form::Scalar(Scalar {
        op: ScalarOp::Set { compare: Compare::Eq, btype: Sign::Signed },
        atype: Sign::Signed,
        a: None,
        b: Some(Part::H1),
        then: Then::Min,
    });
    let written = |a, b, c| plain.encode("%r0", a, b, c);
    assert_eq!(written("5", "%r1", Some("7")).as_deref(), Some("vset.s32.s32.eq.min %r0, 5, %r1.h1, 7"));
    assert_eq!(written("%r1", "WARP_SZ", Some("7")), None);
    assert_eq!(written("%r1", "%r2", None), None);
    let op = SimdOp::Set { compare: Compare::Eq, accumulate: true };
    let simd = |routing| Form::Simd(Simd { op, atype: Sign::Signed, btype: Sign::Signed, routing });
    let whole = simd(Routing::plain(Lanes::Four));
    assert_eq!(whole.encode("%r0", "%r1", "%r2", Some("0")), None);
    let both = Routing::plain(Lanes::Four).selected(&[4, 2, 0, 1], &[0, 6, 4, 5]).expect("in range");
    assert_eq!(simd(both).encode("%r0", "%r1", "%r2", Some("%r3")), None);
}

// ---- what has no effect -----------------------------------------------------------------------------------

/// The form that `text` has, written anew.
fn canonical(text: &str) -> String {
    let text = module_text([text]);
    let module = parse(text.as_bytes()).unwrap_or_else(|found| panic!("{found:#?}"));
    let (_, found) = instances(&module).next().expect("one instruction");
    let word = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (a, b) = (word(found.a.text(&module)), word(found.b.text(&module)));
    let c = found.c.map(|c| word(c.text(&module)));
    found.form.encode("%r0", &a, &b, c.as_deref()).expect("it was read from text")
}

#[test]
fn what_the_assembler_ignores_is_dropped() {
    let cases = [
        ("vadd.u32.s32.u32 %r0, %r1, %r2, %r3", "vadd.u32.s32.u32 %r0, %r1, %r2"),
        ("vadd.sat.u32.add.s32.sat.u32 %r0, 5, %r2, 7", "vadd.u32.s32.u32.sat.add %r0, 5, %r2, 7"),
        ("vadd.u32.u32.u32 %r0.b01, %r1, %r2, %r3", "vadd.u32.u32.u32 %r0, %r1, %r2"),
        ("vsub4.u32.u32.u32 %r0.b3210, -%r1, -%r2, %r3", "vsub4.u32.u32.u32 %r0, %r1, %r2, %r3"),
        ("vmad.po.u32.u32.u32 %r0, -%r1, -%r2.b1, %r3", "vmad.u32.u32.u32.po %r0, %r1, %r2.b1, %r3"),
        ("vmad.u32.u32.u32 %r0, -%r1, -%r2, -%r3", "vmad.u32.u32.u32 %r0, %r1, %r2, -%r3"),
        ("vmad.u32.u32.u32 %r0, %r1, -%r2, %r3", "vmad.u32.u32.u32 %r0, -%r1, %r2, %r3"),
        ("vmad.u32.u32.u32 %r0, -1, -%r2, %r3", "vmad.u32.u32.u32 %r0, -1, -%r2, %r3"),
        ("vshl.wrap .u32 .u32 .u32 %r0 .b0, %r1 .h1, 3, %r3", "vshl.u32.u32.u32.wrap %r0.b0, %r1.h1, 3, %r3"),
        ("@!%p1 vset2.lt.u32.add.s32 %r0, %r1, %r2, %r3", "vset2.u32.s32.lt.add %r0, %r1, %r2, %r3"),
    ];
    for (read, written) in cases {
        assert_eq!(canonical(read), written);
    }
}

#[test]
fn what_no_manual_explains_is_left_alone() {
    for form in ["vadd.u32.u32.u32.add %r0, %r1, %r2, %r3+1", "vadd.u32.u32.u32 %r0, %r1, f"] {
        let text = module_text([form]);
        let module = parse(text.as_bytes()).unwrap_or_else(|found| panic!("{found:#?}"));
        assert_eq!(instances(&module).count(), 0, "{form}");
    }
}

#[test]
fn elements_of_vectors_are_sources() {
    assert_eq!(canonical("vadd.u32.u32.u32 %v.x, %v.y, %r2.h1"), "vadd.u32.u32.u32 %r0, %v.y, %r2.h1");
}

#[test]
fn errors_are_limited_in_number() {
    let text = module_text(vec!["vadd.u32.u32 %r0, %r1, %r2"; 100]);
    let found = parse(text.as_bytes()).expect_err("all are wrong");
    assert_eq!(found.len(), ptxopt_grammar::MOST_DIAGNOSTICS);
}

// ---- messages ---------------------------------------------------------------------------------------------

/// The only thing that is wrong with `form`.
fn error(form: &str) -> (Diagnostic, String) {
    let text = module_text([form]);
    let found = parse(text.as_bytes()).expect_err(form);
    let [only] = &found[..] else { panic!("{found:#?}") };
    (only.clone(), text[only.span.clone()].to_owned())
}

/// Each row is a test: the rule's name, a form that breaks it, the message, the text it is about, the label.
macro_rules! rules {
    ($($rule:ident: $form:literal => $message:literal at $span:literal, $label:literal;)*) => {$(
        #[test]
        fn $rule() {
            let (found, span) = error($form);
            assert_eq!((&*found.message, &*span, &*found.label), ($message, $span, $label));
        }
    )*};
}

rules! {
    modifiers_are_known: "vadd.u32.u32.u32 .foo %r0, %r1, %r2"
        => "`vadd` has no modifier `.foo`" at ".foo", "expected a type, `.sat`, `.add`, `.min` or `.max`";
    only_shifts_have_modes: "vmax.u32.clamp.u32.u32 %r0, %r1, %r2"
        => "`vmax` has no modifier `.clamp`" at ".clamp", "expected a type, `.sat`, `.add`, `.min` or `.max`";
    vset_does_not_saturate: "vset.u32.u32.lt.sat %r0, %r1, %r2"
        => "`vset` has no modifier `.sat`" at ".sat", "expected a type, a comparison, `.add`, `.min` or `.max`";
    vset4_does_not_saturate: "vset4.u32.u32.lt.sat %r0, %r1, %r2, %r3"
        => "`vset4` has no modifier `.sat`" at ".sat", "expected a type, a comparison or `.add`";
    vmad_has_no_secondary_operation: "vmad.u32.u32.u32.add %r0, %r1, %r2, %r3"
        => "`vmad` has no modifier `.add`" at ".add", "expected a type, `.sat`, `.po`, `.shr7` or `.shr15`";
    only_vmad_scales: "vadd4.u32.u32.u32.shr7 %r0, %r1, %r2, %r3"
        => "`vadd4` has no modifier `.shr7`" at ".shr7", "expected a type, `.sat` or `.add`";
    shifts_do_not_compare: "vshr.u32.u32.u32.wrap.lt %r0, %r1, %r2"
        => "`vshr` has no modifier `.lt`" at ".lt",
            "expected a type, `.clamp`, `.wrap`, `.sat`, `.add`, `.min` or `.max`";
    types_have_32_bits: "vadd.u32.u16.u32 %r0, %r1, %r2"
        => "video instructions have no type `.u16`" at ".u16", "expected `.u32` or `.s32`";
    types_are_not_missing: "@%p1 vadd4.u32 .u32 %r0, %r1, %r2, %r3"
        => "`vadd4` needs three types" at "vadd4.u32 .u32", "expected `.u32` or `.s32` for each of `d`, `a` and `b`";
    comparisons_need_two_types: "vset.u32.eq %r0, %r1, %r2"
        => "`vset` needs two types" at "vset.u32.eq", "expected `.u32` or `.s32` for each of `a` and `b`";
    types_are_not_too_many: "vsub.u32.u32.u32.s32 %r0, %r1, %r2"
        => "`vsub` takes three types" at ".s32", "expected no fourth";
    comparisons_have_no_destination_type: "vset4.u32.u32.s32.ne %r0, %r1, %r2, %r3"
        => "`vset4` takes two types" at ".s32", "expected those of `a` and `b` only: the result is always unsigned";
    shift_amounts_are_unsigned: "vshl.u32.u32.s32.clamp %r0, %r1, %r2"
        => "the amount of `vshl` is unsigned" at ".s32", "expected `.u32`";
    shifts_need_a_mode: "vshr.s32.u32.u32 %r0, %r1, %r2"
        => "`vshr` needs a shift mode" at "vshr.s32.u32.u32", "expected `.clamp` or `.wrap`";
    shift_modes_stand_once: "vshr.s32.u32.u32.wrap.wrap %r0, %r1, %r2"
        => "two shift modes" at ".wrap", "expected only one";
    comparisons_are_not_missing: "vset2.s32.u32 %r0, %r1, %r2, %r3"
        => "`vset2` needs a comparison" at "vset2.s32.u32", "expected `.eq`, `.ne`, `.lt`, `.le`, `.gt` or `.ge`";
    comparisons_are_signed_by_type: "vset.u32.u32.lo %r0, %r1, %r2"
        => "`vset` has no comparison `.lo`" at ".lo", "expected `.eq`, `.ne`, `.lt`, `.le`, `.gt` or `.ge`";
    comparisons_stand_once: "vset.u32.u32.lt.ge %r0, %r1, %r2"
        => "two comparisons" at ".ge", "expected only one";
    scales_stand_once: "vmad.u32.u32.u32.shr7.shr15 %r0, %r1, %r2, %r3"
        => "two scales" at ".shr15", "expected `.shr7` or `.shr15` once";
    plus_one_stands_once: "vmad.u32.u32.u32.po.po %r0, %r1, %r2, %r3"
        => "`.po` twice" at ".po", "expected it once";
    secondary_operations_stand_once: "vadd.u32.u32.u32.add.min %r0, %r1, %r2, %r3"
        => "two secondary operations" at ".min", "expected one of `.add`, `.min` and `.max`";
    simd_only_accumulates: "vset4.u32.u32.ne.max %r0, %r1, %r2, %r3"
        => "`vset4` has no secondary operation `.max`" at ".max", "expected `.add` or none";
    simd_does_not_saturate_and_accumulate: "vadd4.u32.u32.u32.sat.add %r0, %r1, %r2, %r3"
        => "`.sat` and `.add` exclude each other in `vadd4`" at ".add", "expected only one of them";
    sources_are_not_missing: "vadd.u32.u32.u32 %r0, %r1"
        => "`vadd` needs a destination and at least two sources" at "vadd.u32.u32.u32 %r0, %r1;", "found 2";
    operands_are_not_too_many: "vadd4.u32.u32.u32 %r0, %r1, %r2, %r3, %r4"
        => "more than four operands" at "%r4", "expected `;` before this one";
    simd_needs_c: "vadd4.u32.u32.u32 %r0, %r1, %r2"
        => "`vadd4` needs `c` as its third source" at "vadd4.u32.u32.u32 %r0, %r1, %r2;", "expected four operands";
    secondary_operations_need_c: "vadd.u32.u32.u32.max %r0, %r1, %r2"
        => "`vadd` needs `c` with `.max`" at "vadd.u32.u32.u32.max %r0, %r1, %r2;", "expected four operands";
    destination_selectors_need_c: "vadd.u32.u32.u32 %r0.b1, %r1, %r2"
        => "`vadd` needs `c` with a destination selector" at "vadd.u32.u32.u32 %r0.b1, %r1, %r2;",
            "expected four operands";
    results_are_not_discarded: "vadd.u32.u32.u32 _, %r1, %r2"
        => "the result of `vadd` cannot be discarded" at "_", "expected a register";
    destinations_are_registers: "vadd.u32.u32.u32 -%r0, %r1, %r2"
        => "destination `d` of `vadd` is not a register" at "-%r0", "expected a register";
    scalar_sources_are_registers_or_integers: "vadd.u32.u32.u32 %r0, [%r1], %r2"
        => "source `a` of `vadd` is not a register" at "[%r1]", "expected a register or an integer";
    variables_are_no_sources: "vadd.u32.u32.u32 %r0, %r1, g"
        => "source `b` of `vadd` is not a register" at "g", "expected a register or an integer";
    simd_sources_are_registers: "vadd4.u32.u32.u32 %r0, %r1, %r2, %r3+1"
        => "source `c` of `vadd4` is not a register" at "%r3+1", "expected a register";
    simd_takes_no_constants: "vadd4.u32.u32.u32 %r0, %r1, %r2, 0"
        => "`vadd4` takes no constants" at "0", "expected a register";
    constants_are_integers: "vadd.u32.u32.u32 %r0, 1.0, %r2"
        => "source `a` is a floating-point constant" at "1.0", "expected a register or an integer";
    special_registers_are_copied_first: "vadd.u32.u32.u32 %r0, %tid.x, %r2"
        => "`vadd` takes no special register" at "%tid.x", "expected an ordinary register";
    registers_have_32_bits: "vadd.u32.u32.u32 %r0, %r1, %f2"
        => "`%f2` has type `.f32`" at "%f2", "expected a 32-bit integer register";
    comparisons_store_no_halves: "vset4.u32.u32.lt %r0, %x1, %x2, %x3"
        => "`%x3` has type `.f16x2`" at "%x3", "expected a 32-bit integer register";
    vectors_are_no_sources: "vadd.u32.u32.u32 %r0, %r1, %v"
        => "`%v` is a vector" at "%v", "expected a scalar register";
    selectors_stand_once: "vadd.u32.u32.u32 %r0, %r1.b0 .b1, %r2"
        => "two selectors" at ".b1", "expected only one";
    scalar_selectors_are_bytes_or_halves: "vadd.u32.u32.u32 %r0, %r1, %r2 .b10"
        => "unknown selector `.b10`" at ".b10", "expected a byte, `.b0` to `.b3`, or a half, `.h0` or `.h1`";
    c_has_no_selector: "vadd.u32.u32.u32.add %r0, %r1, %r2, %r3.b0"
        => "source `c` has a selector" at ".b0", "expected the whole register";
    vmad_does_not_merge: "vmad.u32.u32.u32 %r0.b0, %r1, %r2, %r3"
        => "the destination of `vmad` has a selector" at ".b0", "expected the whole register";
    merging_excludes_secondary_operations: "vadd.u32.u32.u32.min %r0.h1, %r1, %r2, %r3"
        => "a destination selector and `.min` exclude each other" at ".h1", "expected the whole register";
    masks_name_each_lane_once: "vadd4.u32.u32.u32 %r0.b00, %r1, %r2, %r3"
        => "unknown mask `.b00`" at ".b00", "expected `.b` and some of the digits 3210 in this order";
    masks_descend: "vadd2.u32.u32.u32 %r0.h01, %r1, %r2, %r3"
        => "unknown mask `.h01`" at ".h01", "expected `.h0`, `.h1` or `.h10`";
    selectors_name_every_lane: "vadd4.u32.u32.u32 %r0, %r1.b321, %r2, %r3"
        => "unknown selector `.b321`" at ".b321", "expected `.b` and four digits from 0 to 7, such as `.b3210`";
    selectors_fit_the_lanes: "vadd2.u32.u32.u32 %r0, %r1, %r2.h45, %r3"
        => "unknown selector `.h45`" at ".h45", "expected `.h` and two digits from 0 to 3, such as `.h10`";
    only_vmad_negates: "vadd.u32.u32.u32 %r0, -%r1, %r2"
        => "`vadd` negates no source" at "-%r1", "expected a register without a sign";
    halves_have_no_sign: "vmin4.u32.u32.u32 %r0, -%r1, -%x2, %r3"
        => "a `.f16x2` register is negated" at "-%x2", "expected a register without a sign";
    plus_one_excludes_negation: "vmad.u32.u32.u32.po %r0, %r1, -%r2.b0, %r3"
        => "`.po` with a negated source" at "-%r2.b0", "expected no sign";
    vmad_negates_product_or_c: "vmad.u32.u32.u32 %r0, %r1, -%r2, -%r3"
        => "both the product and `c` are negated" at "-%r3", "expected only one of them";
}
