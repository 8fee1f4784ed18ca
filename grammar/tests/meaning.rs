//! Meaning: corner cases, every form of every video instruction, and a comparison of all evaluators of terms.

#[path = "../../tests/support/fragments.rs"]
mod fragments;
#[path = "../../tests/support/numbers.rs"]
mod numbers;

use fragments::{WIDTHS, fragment, inputs};
use numbers::Numbers;
use ptxopt_grammar::meaning::concrete::{Program, evaluate};
use ptxopt_grammar::meaning::term::{Term, Terms, ones};
use ptxopt_grammar::meaning::{meaning, video, wide};
use ptxopt_grammar::video::{Form, Lanes, Mad, Part, Routing, Scalar, Simd};

/// A module of one instruction, and whether it is refused: `%a…` have 32 bits, `%d…` 64, `%h…` 16, `%p…` one.
fn module(instruction: &str) -> (String, bool) {
    let text = format!(
        ".version 8.0\n.target sm_90\n.func f() {{ .reg .b32 %a<6>; .reg .b64 %d<6>; .reg .b16 %h<6>; \
         .reg .pred %p<6>; {instruction}; }}\n"
    );
    let refused = ptxopt_grammar::parse(text.as_bytes()).is_err();
    (text, refused)
}

/// What an instruction writes, in order; `cc` is the carry.
fn run(instruction: &str, inputs: &[(&str, u128)]) -> Option<Vec<u128>> {
    let (text, _) = module(instruction);
    let module =
        ptxopt_grammar::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{instruction}: {error:?}"));
    let stmt = module.stmts().find(|&stmt| module.opcode(stmt).is_some()).expect("there is an instruction");
    let mut terms = Terms::new();
    let written = meaning(&module, stmt, &mut terms, &mut |terms, place, width| {
        let name = place.text(&module);
        let value = inputs.iter().find(|(known, _)| known.as_bytes() == name);
        Some(terms.constant(value.unwrap_or_else(|| panic!("{instruction} reads {name:?}")).1, width))
    })?;
    let outputs: Vec<Term> = written.iter().map(|write| write.value).collect();
    Some(evaluate(&terms, &outputs, &[]))
}

fn words(instruction: &str, inputs: &[u128]) -> u128 {
    let names = ["%a1", "%a2", "%a3", "%a4"];
    let inputs: Vec<_> = names.into_iter().zip(inputs.iter().copied()).collect();
    run(instruction, &inputs).unwrap_or_else(|| panic!("{instruction} has no meaning"))[0]
}

#[test]
fn shifts_and_fields() {
    assert_eq!(words("shl.b32 %a0, %a1, %a2", &[1, 32]), 0);
    assert_eq!(words("shr.s32 %a0, %a1, %a2", &[0x8000_0000, 0xffff_ffff]), 0xffff_ffff);
    assert_eq!(words("shr.u32 %a0, %a1, %a2", &[0x8000_0000, 31]), 1);
    assert_eq!(words("shf.l.wrap.b32 %a0, %a1, %a2, %a3", &[0x8000_0000, 1, 33]), 3);
    assert_eq!(words("shf.r.clamp.b32 %a0, %a1, %a2, %a3", &[5, 7, 99]), 7);
    assert_eq!(words("bfe.u32 %a0, %a1, 4, 8", &[0xabcd]), 0xbc);
    assert_eq!(words("bfe.s32 %a0, %a1, 28, 12", &[0x8000_0000]), 0xffff_fff8);
    assert_eq!(words("bfe.s32 %a0, %a1, 40, 3", &[0x8000_0000]), 0xffff_ffff);
    assert_eq!(words("bfe.s32 %a0, %a1, 40, 0", &[0x8000_0000]), 0);
    assert_eq!(words("bfi.b32 %a0, %a1, %a2, 28, 12", &[0xfff, 0]), 0xf000_0000);
    assert_eq!(words("bfi.b32 %a0, %a1, %a2, 32, 4", &[0xf, 0x1234]), 0x1234);
    assert_eq!(words("bfi.b32 %a0, %a1, %a2, 0, 255", &[0xf, 0x1234]), 0xf);
    assert_eq!(words("szext.clamp.s32 %a0, %a1, 8", &[0x80]), 0xffff_ff80);
    assert_eq!(words("szext.wrap.u32 %a0, %a1, 32", &[0xff]), 0);
    assert_eq!(words("bmsk.clamp.b32 %a0, 4, 8", &[]), 0xff0);
    assert_eq!(words("bmsk.clamp.b32 %a0, 31, 8", &[]), 0x8000_0000);
    assert_eq!(words("bmsk.wrap.b32 %a0, 4, 32", &[]), 0);
}

#[test]
fn bytes() {
    assert_eq!(words("prmt.b32 %a0, %a1, %a2, 0x7b40", &[0x8322_1100, 0x7766_5544]), 0x77ff_4400);
    assert_eq!(words("prmt.b32.b4e %a0, %a1, %a2, 2", &[0x3322_1100, 0x7766_5544]), 0x7700_1122);
    assert_eq!(words("prmt.b32.ecl %a0, %a1, %a2, 2", &[0x3322_1100, 0]), 0x3322_2222);
    assert_eq!(words("lop3.b32 %a0, %a1, %a2, %a3, 0x96", &[0b1100, 0b1010, 0b1111]), 0b1001);
    assert_eq!(words("dp4a.s32.u32 %a0, %a1, %a2, %a3", &[0xff01_0080, 0x02ff_00ff, 1]), 0xffff_817e);
    assert_eq!(words("dp2a.hi.u32.u32 %a0, %a1, %a2, %a3", &[0x0002_ffff, 0x0301_0000, 1]), 0x0001_0006);
    assert_eq!(words("cvt.pack.sat.u8.s32.b32 %a0, %a1, %a2, %a3", &[300, 0xffff_ffff, 0x1234]), 0x1234_ff00);
    assert_eq!(words("cvt.pack.sat.s16.s32 %a0, %a1, %a2", &[0x10000, 0x8000_0000]), 0x7fff_8000);
    assert_eq!(words("add.sat.u8x4 %a0, %a1, %a2", &[0xff01_8010, 0x0102_8001]), 0xff03_ff11);
    assert_eq!(words("add.s16x2.sat %a0, %a1, %a2", &[0x8000_7fff, 0xffff_0001]), 0x8000_7fff);
    assert!(module("sub.s16x2.sat %a0, %a1, %a2").1);
    assert_eq!(words("neg.s8x4 %a0, %a1", &[0x8001_ff00]), 0x80ff_0100);
    assert_eq!(words("min.relu.s16x2 %a0, %a1, %a2", &[0xffff_0005, 3 << 16 | 4]), 4);
    assert_eq!(words("set.lt.s8x4 %a0, %a1, %a2", &[0xff00_0100, 0x0000_0001]), 0xff00_00ff);
}

#[test]
fn numbers() {
    assert_eq!(words("add.sat.s32 %a0, %a1, 1", &[0x7fff_ffff]), 0x7fff_ffff);
    assert_eq!(words("mul.hi.s32 %a0, %a1, %a2", &[0xffff_ffff, 2]), 0xffff_ffff);
    assert_eq!(words("mul.hi.u32 %a0, %a1, %a2", &[0xffff_ffff, 2]), 1);
    assert_eq!(words("mul.wide.s32 %d0, %a1, %a2", &[0xffff_ffff, 2]), ones(64) - 1);
    assert_eq!(words("mad.lo.u32 %a0, %a1, %a2, %a3", &[3, 5, 7]), 22);
    assert_eq!(words("mad.hi.sat.s32 %a0, %a1, %a2, %a3", &[0x4000_0000, 8, 0x7fff_fffe]), 0x7fff_ffff);
    assert_eq!(words("mul24.lo.s32 %a0, %a1, %a2", &[0xff_ffff, 5]), 0xffff_fffb);
    assert_eq!(words("mul24.hi.u32 %a0, %a1, %a2", &[0xff_ffff, 0xff_ffff]), 0xffff_fe00);
    assert_eq!(words("sad.s32 %a0, %a1, %a2, %a3", &[0xffff_ffff, 4, 10]), 15);
    assert_eq!(words("sad.u32 %a0, %a1, %a2, %a3", &[0xffff_ffff, 4, 10]), 5);
    assert_eq!(words("abs.s32 %a0, %a1", &[0x8000_0000]), 0x8000_0000);
    assert_eq!(words("max.relu.s32 %a0, %a1, %a2", &[0x8000_0000, 0xffff_ffff]), 0);
    assert_eq!(words("popc.b32 %a0, %a1", &[0xf00f]), 8);
    assert_eq!(words("clz.b32 %a0, %a1", &[0]), 32);
    assert_eq!(words("brev.b32 %a0, %a1", &[1]), 0x8000_0000);
    assert_eq!(words("bfind.s32 %a0, %a1", &[0xffff_ffff]), 0xffff_ffff);
    assert_eq!(words("bfind.shiftamt.u32 %a0, %a1", &[1]), 31);
    assert_eq!(words("bfind.shiftamt.s32 %a0, %a1", &[0xffff_fffe]), 31);
    assert_eq!(words("cnot.b32 %a0, %a1", &[0]), 1);
    assert_eq!(words("slct.u32.s32 %a0, %a1, %a2, %a3", &[1, 2, 0x8000_0000]), 2);
    assert_eq!(words("cvt.sat.u8.s32 %a0, %a1", &[0xffff_ff00]), 0);
    assert_eq!(words("cvt.s8.s32 %a0, %a1", &[0x80]), 0xffff_ff80);
    assert_eq!(words("cvt.u32.s8 %a0, %a1", &[0x180]), 0xffff_ff80);
    assert_eq!(words("cvt.sat.s32.u32 %a0, %a1", &[0x8000_0000]), 0x7fff_ffff);
}

#[test]
fn division() {
    assert_eq!(words("div.u32 %a0, %a1, %a2", &[0xffff_ffff, 10]), 0x1999_9999);
    assert_eq!(words("rem.u32 %a0, %a1, %a2", &[0xffff_ffff, 10]), 5);
    assert_eq!(words("div.s32 %a0, %a1, %a2", &[0xffff_fff9, 2]), 0xffff_fffd);
    assert_eq!(words("rem.s32 %a0, %a1, %a2", &[0xffff_fff9, 2]), 0xffff_ffff);
    assert_eq!(words("div.s32 %a0, %a1, %a2", &[7, 0xffff_fffe]), 0xffff_fffd);
    assert_eq!(words("rem.s32 %a0, %a1, %a2", &[7, 0xffff_fffe]), 1);
    assert_eq!(words("div.s32 %a0, %a1, %a2", &[0x8000_0000, 0xffff_ffff]), 0x8000_0000);
    assert_eq!(words("rem.s32 %a0, %a1, %a2", &[0x8000_0000, 0xffff_ffff]), 0);
    assert_eq!(words("div.s32 %a0, %a1, %a2", &[0xffff_fff9, 0]), 0xffff_ffff);
    assert_eq!(words("rem.s32 %a0, %a1, %a2", &[0xffff_fff9, 0]), 0xffff_fff9);
    assert_eq!(words("div.u32 %a0, %a1, 0", &[5]), 0xffff_ffff);
    assert_eq!(run("div.full.f32 %a0, %a1, %a2", &[]), None);
    let halves = [("%h1", 0xfff9), ("%h2", 2)];
    assert_eq!(run("div.s16 %h0, %h1, %h2", &halves), Some(vec![0xfffd]));
    assert_eq!(run("div.u16 %h0, %h1, %h2", &halves), Some(vec![0x7ffc]));
    let longs = [("%d1", 1 << 63), ("%d2", ones(64))];
    assert_eq!(run("div.s64 %d0, %d1, %d2", &longs), Some(vec![1 << 63]));
    assert_eq!(run("rem.u64 %d0, %d1, %d2", &longs), Some(vec![1 << 63]));
}

/// The manual's loop for `fns`.
fn nth_bit_set(mask: u32, base: u32, offset: i32) -> u32 {
    let set = |place: i64| mask >> place & 1 == 1;
    if offset == 0 {
        return if set(base.into()) { base } else { u32::MAX };
    }
    let (mut place, mut left) = (i64::from(base), offset.unsigned_abs() - 1);
    while (0..32).contains(&place) {
        match (set(place), left) {
            (true, 0) => return u32::try_from(place).expect("it is below 32"),
            (true, _) => left -= 1,
            (false, _) => {}
        }
        place += i64::from(offset.signum());
    }
    u32::MAX
}

#[test]
fn the_bit_of_a_number() {
    // The manual's examples.
    for (base, offset, place) in [(3, 1, 3), (3, ones(32), 3), (2, 1, 3), (2, ones(32), 1)] {
        assert_eq!(words("fns.b32 %a0, %a1, %a2, %a3", &[0xaaaa_aaaa, base, offset]), place);
    }
    let mut numbers = Numbers::new(23);
    let mut found = 0;
    for _vector in 0..2000 {
        let word = |value: u128| u32::try_from(value & ones(32)).expect("it is cut to a word");
        let (mask, base) = (word(numbers.value()), word(u128::from(numbers.next() % 32)));
        let offset = match numbers.below(8) {
            0 => word(numbers.value()),
            small => word(u128::from(numbers.next() % 9)).wrapping_sub(u32::try_from(small).expect("small")),
        };
        let place = nth_bit_set(mask, base, offset.cast_signed());
        found += usize::from(place != u32::MAX);
        let operands = [mask, base, offset].map(u128::from);
        assert_eq!(words("fns.b32 %a0, %a1, %a2, %a3", &operands), u128::from(place), "{operands:x?}");
    }
    assert!(found > 500, "too few bits were found: {found}");
    assert_eq!(words("fns.b32 %a0, %a1, %a2, %a3", &[ones(32), 32, 0]), ones(32));
    assert_eq!(words("fns.b32 %a0, %a1, %a2, %a3", &[ones(32), 32, ones(32)]), ones(32));
    assert!(module("fns.b64 %d0, %a1, %a2, %a3").1);
}

#[test]
fn comparisons_as_words() {
    let values = [("%a1", ones(32)), ("%a2", 5), ("%p1", 1)];
    assert_eq!(run("set.lt.s32.s32 %a0, %a1, %a2", &values), Some(vec![ones(32)]));
    assert_eq!(run("set.lt.f32.s32 %a0, %a1, %a2", &values), Some(vec![0x3f80_0000]));
    assert_eq!(run("set.lt.f32.u32 %a0, %a1, %a2", &values), Some(vec![0]));
    assert_eq!(run("set.lt.or.f32.u32 %a0, %a1, %a2, %p1", &values), Some(vec![0x3f80_0000]));
    assert_eq!(run("set.lt.xor.f32.s32 %a0, %a1, %a2, %p1", &values), Some(vec![0]));
    // A source that is a float, or a destination that cannot be, has no meaning.
    assert_eq!(run("set.lt.u32.f32 %a0, %a1, %a2", &values), None);
    assert_eq!(run("set.lt.f32.f32 %a0, %a1, %a2", &values), None);
    assert_eq!(run("set.lt.ftz.f32.s32 %a0, %a1, %a2", &values), None);
}

#[test]
fn selection_by_sign() {
    // Minus zero is not negative, NaN selects `b`, and `.ftz` makes small numbers zeros.
    for (c, plain, flushed) in [
        (0, 1, 1),
        (0x8000_0000, 1, 1),
        (0x8000_0001, 2, 1),
        (0x807f_ffff, 2, 1),
        (0x8080_0000, 2, 2),
        (0x7f80_0000, 1, 1),
        (0xff80_0000, 2, 2),
        (0x7f80_0001, 2, 2),
        (0xffff_ffff, 2, 2),
        (1, 1, 1),
    ] {
        assert_eq!(words("slct.u32.f32 %a0, %a1, %a2, %a3", &[1, 2, c]), plain, "{c:#x}");
        assert_eq!(words("slct.ftz.f32.f32 %a0, %a1, %a2, %a3", &[1, 2, c]), flushed, "{c:#x}");
        assert_eq!(words("slct.f32.s32 %a0, %a1, %a2, %a3", &[1, 2, c]), 1 + (c >> 31), "{c:#x}");
    }
    assert_eq!(run("slct.ftz.u32.s32 %a0, %a1, %a2, %a3", &[("%a1", 1), ("%a2", 2), ("%a3", 0)]), None);
}

#[test]
fn tables_with_a_predicate() {
    let inputs = |p| [("%a1", 0b1100), ("%a2", 0b1010), ("%a3", 0b0001), ("%p1", p)];
    let run = |text: &str, p| run(text, &inputs(p));
    assert_eq!(run("lop3.or.b32 %a0|%p0, %a1, %a2, %a3, 0x80, %p1", 0), Some(vec![0, 0]));
    assert_eq!(run("lop3.or.b32 %a0|%p0, %a1, %a2, %a3, 0x80, %p1", 1), Some(vec![0, 1]));
    assert_eq!(run("lop3.and.b32 %a0|%p0, %a1, %a2, %a3, 0xc0, %p1", 1), Some(vec![0b1000, 1]));
    assert_eq!(run("lop3.and.b32 %a0|%p0, %a1, %a2, %a3, 0xc0, %p1", 0), Some(vec![0b1000, 0]));
    assert_eq!(run("lop3.and.b32 _|%p0, %a1, %a2, %a3, 0xc0, %p1", 1), Some(vec![1]));
}

#[test]
fn predicates_and_carries() {
    let values = [("%a1", ones(32)), ("%a2", 5), ("%p2", 1)];
    assert_eq!(run("setp.lt.s32 %p0|%p1, %a1, %a2", &values), Some(vec![1, 0]));
    assert_eq!(run("setp.lt.or.u32 %p0|%p1, %a1, %a2, %p2", &values), Some(vec![1, 1]));
    assert_eq!(run("setp.lt.and.u32 %p0, %a1, %a2, !%p2", &values), Some(vec![0]));
    assert_eq!(run("setp.lo.s32 %p0, %a1, %a2", &values), None);
    assert_eq!(run("set.gt.u32.s32 %a0, %a1, %a2", &values), Some(vec![0]));
    assert_eq!(run("selp.b32 %a0, %a1, %a2, !%p2", &values), Some(vec![5]));
    assert_eq!(run("add.cc.u32 %a0, %a1, %a2", &values), Some(vec![1, 4]));
    assert_eq!(run("sub.cc.u32 %a0, %a2, %a1", &values), Some(vec![1, 6]));
    let carried = [("%a1", ones(32)), ("%a2", 5), ("cc", 1)];
    assert_eq!(run("addc.u32 %a0, %a1, %a2", &carried), Some(vec![5]));
    assert_eq!(run("subc.u32 %a0, %a2, %a1", &carried), Some(vec![5]));
    assert_eq!(run("madc.hi.u32 %a0, %a1, %a1, %a2", &carried), Some(vec![4]));
}

#[test]
fn vectors_of_elements() {
    let values = [("%h1", 0x1234), ("%h2", 0xabcd), ("%a1", 0x5566_7788)];
    assert_eq!(run("mov.b32 %a0, {%h1, %h2}", &values), Some(vec![0xabcd_1234]));
    assert_eq!(run("mov.b32 {%h3, %h4}, %a1", &values), Some(vec![0x7788, 0x5566]));
    assert_eq!(run("mov.b32 {%h3, _}, %a1", &values), Some(vec![0x7788]));
    assert_eq!(run("mov.b32 {%h3, %h3}, %a1", &values), None);
    assert_eq!(run("mov.b32 %a0, -1", &values), Some(vec![ones(32)]));
    assert!(module("mov.b64 %d0, %a1").1);
    // Both sources are read before either destination is written.
    assert_eq!(run("mov.v2.b16 {%h2, %h1}, {%h1, %h2}", &values), Some(vec![0x1234, 0xabcd]));
    assert_eq!(run("mov.v2.u16 {_, %h3}, {%h1, 7}", &values), Some(vec![7]));
    assert_eq!(run("mov.v4.b16 {%h3, %h4}, {%h1, %h2}", &values), None);
    assert_eq!(run("mov.v2.b32 %a0, {%h1, %h2}", &values), None);
}

/// Selectors: whole; then every part of `a` with the whole of `b`, and so on.
fn parts() -> Vec<(Option<Part>, Option<Part>)> {
    let all: Vec<Option<Part>> = [None].into_iter().chain(Part::ALL.map(Some)).collect();
    all.iter().flat_map(|&a| all.iter().map(move |&b| (a, b))).collect()
}

fn scalar_forms() -> Vec<Form> {
    let scalar = Scalar::all()
        .flat_map(|form| parts().into_iter().map(move |(a, b)| Form::Scalar(Scalar { a, b, ..form })));
    let mad =
        Mad::all().flat_map(|form| parts().into_iter().map(move |(a, b)| Form::Mad(Mad { a, b, ..form })));
    scalar.chain(mad).collect()
}

fn simd_forms() -> Vec<Form> {
    let selectors: [&[[&[u8]; 2]]; 2] = [
        &[[&[0, 1], &[2, 3]], [&[1, 0], &[2, 3]], [&[2, 0], &[1, 3]], [&[0, 0], &[3, 3]]],
        &[
            [&[0, 1, 2, 3], &[4, 5, 6, 7]],
            [&[3, 1, 0, 2], &[4, 5, 6, 7]],
            [&[4, 1, 6, 3], &[0, 5, 2, 7]],
            [&[2, 2, 2, 2], &[7, 7, 4, 4]],
        ],
    ];
    let mut forms = Vec::new();
    for (lanes, selectors) in Lanes::ALL.into_iter().zip(selectors) {
        for mask in 1..=lanes.full_mask() {
            for [a, b] in selectors {
                let routing = Routing::plain(lanes).masked(mask).and_then(|routing| routing.selected(a, b));
                let routing = routing.expect("the mask and the places exist");
                forms.extend(Simd::all(lanes).map(|form| Form::Simd(Simd { routing, ..form })));
            }
        }
    }
    forms
}

/// Checks that all evaluators agree on the terms: with words of 128 and 64 bits, in planes and lane by lane.
fn agree(terms: &Terms, outputs: &[Term], widths: &[u32], inputs: &[Vec<u128>]) {
    let mut exact = Program::<u128>::compile(terms, outputs).expect("nothing is wider");
    let mut narrow = Program::<u64>::compile(terms, outputs);
    let mut planes = wide::WideProgram::compile(terms, outputs);
    let columns = widths.iter().enumerate().map(|(number, &width)| {
        wide::planes(&inputs.iter().map(|input| input[number]).collect::<Vec<_>>(), width)
    });
    planes.run(&columns.collect::<Vec<_>>());
    let by_lanes = run_lanes(&exact, outputs.len(), inputs);
    for (vector, input) in inputs.iter().enumerate() {
        let mut results = vec![0; outputs.len()];
        exact.run(input, &mut results);
        for (number, &result) in results.iter().enumerate() {
            assert_eq!(wide::number(planes.output(number), vector), result, "{input:x?} of {terms:?}");
            assert_eq!(by_lanes[vector][number], result, "{input:x?} of {terms:?}");
        }
        if let Some(narrow) = &mut narrow {
            let mut words = vec![0; outputs.len()];
            let input: Vec<u64> = input.iter().map(|&value| u64::try_from(value).expect("it fits")).collect();
            narrow.run(&input, &mut words);
            assert!(words.iter().zip(&results).all(|(&word, &result)| u128::from(word) == result));
        }
    }
}

/// The results of each vector, eight of them computed at a time.
fn run_lanes(program: &Program<u128>, outputs: usize, inputs: &[Vec<u128>]) -> Vec<Vec<u128>> {
    let mut results = Vec::new();
    let mut slots: Vec<[u128; 8]> = Vec::new();
    for eight in inputs.chunks(8) {
        let value = |lane: usize, number: usize| eight.get(lane).map_or(0, |input| input[number]);
        program.run_lanes(&mut slots, |number| std::array::from_fn(|lane| value(lane, number as usize)));
        let of_lane = |lane: usize| (0..outputs).map(|output| program.lanes(&slots, output)[lane]).collect();
        results.extend((0..eight.len()).map(of_lane));
    }
    results
}

#[test]
#[expect(clippy::print_stdout, reason = "the counts are shown with `--nocapture`")]
fn every_video_form_evaluates() {
    let mut numbers = Numbers::new(1);
    let (scalar, simd) = (scalar_forms(), simd_forms());
    println!("{} scalar and {} SIMD forms", scalar.len(), simd.len());
    for (at, form) in scalar.into_iter().chain(simd).enumerate() {
        // Terms of constants are folded; for some of the forms all evaluators are compared with the folded result.
        let values = [0, 1, 2].map(|_| numbers.value() & ones(32));
        let mut terms = Terms::new();
        let constants = values.map(|value| terms.constant(value, 32));
        let folded = video::result(&mut terms, form, constants);
        assert_eq!(terms.width(folded), 32, "{form}");
        let folded = terms.value(folded).expect("the constants fold");
        if at % 101 == 0 {
            let sources = [0, 1, 2].map(|number| terms.input(number, 32));
            let result = video::result(&mut terms, form, sources);
            assert_eq!(evaluate(&terms, &[result], &values), [folded], "{form} of {values:x?}");
            let vectors = [(); 8].map(|()| (0..3).map(|_| numbers.value() & ones(32)).collect());
            agree(&terms, &[result], &[32; 3], &vectors);
        }
    }
}

#[test]
fn readers_agree_on_random_fragments() {
    let mut numbers = Numbers::new(7);
    for _fragment in 0..400 {
        let (terms, results) = fragment(&mut numbers);
        let vectors = (0..40).map(|_| inputs(&mut numbers)).collect::<Vec<_>>();
        agree(&terms, &results, &WIDTHS, &vectors);
    }
}
