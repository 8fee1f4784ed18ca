//! Costs that are known from reading machine code, and the rules that all costs obey.
//!
//! The expected numbers were counted by hand, independently of the tables, so a mistake in measuring or in reading
//! the tables shows here.

use super::*;
use ptxopt_grammar::parse;
use ptxopt_grammar::video::{Part, Routing, Scalar, ScalarOp, Simd, SimdOp, SimdThen, Then, decode};
use std::collections::BTreeSet;

fn costs(gpu: &str) -> Costs {
    Costs::of(&Gpu::parse(gpu).expect("it is a target"))
}

/// The form of a video instruction on `%r0` to `%r3`, and which of its sources are constants.
fn form(text: &str) -> (Form, [bool; 3]) {
    let text = format!(".version 8.0\n.target sm_90\n.entry k() {{ .reg .b32 %r<4>;\n{text};\n}}\n");
    let module = parse(text.as_bytes()).unwrap_or_else(|found| panic!("{text}: {found:?}"));
    let found = module.stmts().find_map(|stmt| decode(&module, stmt)).expect("it is a video instruction");
    let found = found.expect("it is legal");
    let constant = |source| matches!(source, ptxopt_grammar::video::OperandSource::Constant(_));
    (found.form, [constant(found.a), constant(found.b), found.c.is_some_and(constant)])
}

fn parsed(words: &str) -> Instruction {
    Instruction::parse(words.as_bytes()).unwrap_or_else(|| panic!("`{words}` is no instruction"))
}

fn video(gpu: &str, text: &str) -> Cost {
    let (form, constants) = form(text);
    costs(gpu).video(form, constants)
}

#[test]
fn costs_that_were_read_in_machine_code() {
    for (gpu, text, count) in [
        ("sm_90", "vabsdiff4.u32.u32.u32 %r0, %r1, %r2, %r3", 1),
        ("sm_90", "vabsdiff4.u32.u32.u32.add %r0, %r1, %r2, %r3", 1),
        ("sm_90", "vabsdiff4.u32.s32.s32 %r0, %r1, %r2, %r3", 1),
        ("sm_90", "vabsdiff4.s32.s32.s32 %r0, %r1, %r2, %r3", 34),
        ("sm_90", "vabsdiff4.u32.u32.u32 %r0.b210, %r1, %r2, %r3", 23),
        ("sm_90", "vadd4.u32.u32.u32 %r0, %r1, %r2, %r3", 5),
        ("sm_90", "vadd4.u32.u32.u32.sat %r0, %r1, %r2, %r3", 23),
        ("sm_90", "vadd4.u32.u32.u32.add %r0, %r1, %r2, %r3", 4),
        ("sm_90", "vadd4.s32.s32.s32 %r0, %r1, %r2, %r3", 31),
        ("sm_90", "vmin4.s32.s32.s32 %r0, %r1, %r2, %r3", 31),
        ("sm_90", "vavrg4.u32.u32.u32 %r0, %r1, %r2, %r3", 31),
        ("sm_90", "vset4.u32.u32.eq %r0, %r1, %r2, %r3", 27),
        ("sm_90", "vadd2.u32.u32.u32 %r0, %r1, %r2, %r3", 4),
        ("sm_90", "vadd.u32.u32.u32 %r0, %r1.b0, %r2.b1", 3),
        ("sm_75", "vadd4.u32.u32.u32 %r0, %r1, %r2, %r3", 5),
        ("sm_75", "vadd4.u32.u32.u32.add %r0, %r1, %r2, %r3", 3),
        ("sm_120", "vabsdiff4.u32.u32.u32 %r0, %r1, %r2, %r3", 3),
        ("sm_35", "vadd4.u32.u32.u32 %r0, %r1, %r2, %r3", 1),
        ("sm_35", "vmin4.s32.s32.s32 %r0, %r1, %r2, %r3", 1),
        ("sm_35", "vavrg4.s32.s32.s32.sat %r0, %r1, %r2, %r3", 1),
        ("sm_50", "vadd4.u32.u32.u32 %r0, %r1, %r2, %r3", 5),
        ("sm_50", "vadd.u32.u32.u32 %r0, %r1.b0, %r2.b1", 1),
    ] {
        assert_eq!(video(gpu, text), Cost::exactly(count), "{gpu}: {text}");
    }
}

#[test]
fn every_video_form_has_a_cost_on_every_generation() {
    let rows: Vec<Form> = Form::all().collect();
    assert!(rows.len() > 1900);
    let lines = table::rows(include_str!("video.tsv")).count();
    assert_eq!(lines, rows.len(), "a row for each and no other");
    for generation in &table::GENERATIONS {
        let costs = costs(generation.gpu);
        for &row in &rows {
            for form in variants(row) {
                let cost = costs.video(form, [false; 3]);
                assert!(0 < cost.least && cost.least <= cost.most && cost.most < 100, "{form:?}: {cost}");
            }
        }
    }
}

/// All combinations of source parts, selectors and masks that a form allows; of selectors only a sample.
fn variants(row: Form) -> Vec<Form> {
    let parts = || [None].into_iter().chain(Part::ALL.map(Some));
    let both = || parts().flat_map(|a| parts().map(move |b| (a, b)));
    match row {
        Form::Scalar(scalar) => both().map(|(a, b)| Form::Scalar(Scalar { a, b, ..scalar })).collect(),
        Form::Mad(mad) => {
            both().map(|(a, b)| Form::Mad(ptxopt_grammar::video::Mad { a, b, ..mad })).collect()
        }
        Form::Simd(simd) => {
            let lanes = simd.routing.lanes();
            let plain = Routing::plain(lanes);
            let picks =
                |first: u8| (0..lanes.count()).map(|i| (first + i) % (2 * lanes.count())).collect::<Vec<_>>();
            let mut forms = Vec::new();
            for mask in 1..=lanes.full_mask() {
                for (a, b) in [(0, lanes.count()), (1, lanes.count()), (0, 1), (3, 2)] {
                    let routing = plain.selected(&picks(a), &picks(b)).expect("there are such lanes");
                    let routing = routing.masked(mask).expect("there are such lanes");
                    forms.push(Form::Simd(Simd { routing, ..simd }));
                }
            }
            forms
        }
    }
}

#[test]
fn generations_get_no_better_at_old_instructions() {
    // Only Kepler has them all; what came later emulates.
    let (old, new) = (costs("sm_35"), costs("sm_90"));
    let dearer = Form::all().filter(|&row| {
        matches!(row, Form::Simd(_)) && new.video(row, [false; 3]).beats(old.video(row, [false; 3]))
    });
    assert_eq!(dearer.map(video::name).collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn saturation_is_never_free_where_it_is_emulated() {
    for gpu in ["sm_75", "sm_90", "sm_120"] {
        for row in Form::all() {
            let Form::Simd(simd) = row else { continue };
            let SimdOp::Arithmetic { op, dtype, then: SimdThen::Saturate } = simd.op else { continue };
            // What cannot leave the range is not clamped.
            let plain = SimdOp::Arithmetic { op, dtype, then: SimdThen::Store };
            let [with, without] =
                [simd.op, plain].map(|op| costs(gpu).video(Form::Simd(Simd { op, ..simd }), [false; 3]));
            assert!(with.most + 8 >= without.least, "{gpu}: {}: {with}, {without}", video::name(row));
        }
    }
}

#[test]
fn constants_widen_what_is_not_measured() {
    let register = video("sm_90", "vadd.u32.u32.u32 %r0, %r1, %r2");
    let constant = video("sm_90", "vadd.u32.u32.u32 %r0, %r1, 5");
    assert!(constant.least <= register.least && register.most <= constant.most);
    let folded = video("sm_90", "vadd.u32.u32.u32 %r0, 4, 5");
    assert_eq!(folded.least, 0);
    assert!(!register.beats(folded) && !folded.beats(folded));
}

#[test]
fn selectors_cost_an_interval_and_masks_a_number() {
    let cost = |tail: &str| video("sm_90", &format!("vadd4.u32.u32.u32 %r0{tail}, %r3"));
    for mask in [".b0", ".b20", ".b321"] {
        let cost = cost(&format!("{mask}, %r1, %r2"));
        assert_eq!(cost.least, cost.most);
    }
    let (default, reversed) = (cost(", %r1, %r2"), cost(", %r1.b0123, %r2"));
    assert!(default.beats(reversed), "{default} and {reversed}");
}

#[test]
fn shifts_by_less_than_a_word_are_not_free() {
    for words in ["shl.b32", "shr.u32", "shr.s32", "shr.b32"] {
        for amount in 1..32 {
            let operands = [OperandKind::Register, OperandKind::Constant(amount)];
            assert_eq!(
                costs("sm_75").plain(parsed(words), &operands),
                Cost::exactly(1),
                "{words} by {amount}"
            );
        }
    }
}

#[test]
fn plain_instructions_cost_what_the_assembler_makes_of_them() {
    use OperandKind::{Constant, Register};
    for (gpu, words, operands, count) in [
        ("sm_90", "add.u32", &[Register, Register][..], 1),
        ("sm_90", "add.u32", &[Register, Constant(0)], 0),
        ("sm_90", "mov.b32", &[Register], 0),
        ("sm_90", "mov.b32", &[Constant(0x1234)], 0),
        ("sm_90", "prmt.b32", &[Register, Register, Constant(0x5410)], 1),
        ("sm_90", "lop3.b32", &[Register, Register, Register, Constant(0x96)], 1),
        ("sm_90", "bfe.u32", &[Register, Constant(8), Constant(8)], 1),
        ("sm_90", "dp4a.u32.u32", &[Register, Register, Register], 1),
        ("sm_90", "add.u16x2", &[Register, Register], 1),
        ("sm_120", "min.u8x4", &[Register, Register], 1),
        ("sm_90", "selp.b32", &[Register, Register, Register], 1),
        ("sm_90", "setp.lt.u32", &[Register, Register], 1),
        ("sm_90", "setp.lt.u32", &[Register, Constant(5)], 1),
    ] {
        assert_eq!(
            costs(gpu).plain(parsed(words), operands),
            Cost::exactly(count),
            "{gpu}: {words} {operands:?}"
        );
    }
}

#[test]
fn a_zero_costs_no_more_than_a_register_where_it_is_as_good() {
    let cost = |words: &str, operands: &[OperandKind]| costs("sm_90").plain(parsed(words), operands);
    let [register, zero, number] =
        [OperandKind::Register, OperandKind::Constant(0), OperandKind::Constant(0x0101_0101)];
    let with_register = cost("dp4a.u32.u32", &[register, number, register]);
    assert_eq!(cost("dp4a.u32.u32", &[register, number, zero]).most, with_register.most);
}

#[test]
fn what_is_unknown_makes_no_edit_pay() {
    use OperandKind::Register;
    let known = Cost::exactly(1000);
    for (gpu, words) in [("sm_90", "cnot.b64"), ("sm_35", "lop3.b32"), ("sm_80", "add.u16x2")] {
        let cost = costs(gpu).plain(parsed(words), &[Register, Register]);
        assert_eq!(cost, Cost::UNKNOWN, "{gpu}: {words}");
        assert!(!cost.beats(known) && !known.beats(cost));
        let sum: Cost = [cost, known, cost].into_iter().sum();
        assert!(!sum.beats(known) && sum.most == u32::MAX);
    }
}

#[test]
fn a_gpu_that_was_not_measured_costs_what_its_elders_do() {
    for (gpu, like) in [
        ("sm_20", "sm_35"),
        ("sm_53", "sm_50"),
        ("sm_86", "sm_80"),
        ("sm_103a", "sm_100"),
        ("sm_999", "sm_120"),
        ("sm_107f", "sm_107"),
        ("sm_110", "sm_100"),
    ] {
        assert_eq!(costs(gpu), costs(like), "{gpu}");
    }
}

#[test]
fn every_plain_row_is_of_an_instruction_that_there_is() {
    for (name, _) in table::rows(include_str!("plain.tsv")) {
        let words = name.split(' ').next().expect("a name has words");
        assert!(Instruction::parse(words.as_bytes()).is_some(), "{name}");
    }
}

#[test]
fn the_blocks_of_a_table_have_its_rows() {
    for text in [include_str!("fused.tsv"), include_str!("plain.tsv"), include_str!("video.tsv")] {
        let (numbered, rows) = table::parts(text);
        let blocks: Vec<_> = table::blocks(rows).collect();
        let apart = blocks.iter().flat_map(|(_, block)| table::rows_of(block, &numbered));
        assert!(apart.eq(table::rows(text)));
    }
    for text in [include_str!("fused.tsv"), include_str!("plain.tsv")] {
        let mut known = BTreeSet::new();
        let mut words = table::blocks(table::parts(text).1).map(|(words, _)| words);
        assert!(words.all(|words| known.insert(words)), "there is one block for each instruction");
    }
}

#[test]
fn merged_parts_are_found() {
    let merge = |part: Part| {
        Form::Scalar(Scalar {
            op: ScalarOp::Set {
                compare: ptxopt_grammar::video::Compare::Lt,
                btype: ptxopt_grammar::video::Sign::Signed,
            },
            atype: ptxopt_grammar::video::Sign::Signed,
            a: Some(part),
            b: Some(part),
            then: Then::Merge(part),
        })
    };
    for part in Part::ALL {
        let cost = costs("sm_90").video(merge(part), [false; 3]);
        assert_eq!(cost.least, cost.most, "{part:?}");
    }
}
