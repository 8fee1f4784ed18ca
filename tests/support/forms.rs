//! Every legal form of the integer and byte instructions: opcode, modifiers and kinds of operands.
//!
//! Written from the manual's page of each instruction, and nothing else; the assembler takes all of them
//! (`tests/assembler/folding.rs`), and all have a meaning (`grammar/tests/forms.rs`). Registers: `%b`, `%h`, `%r`,
//! `%d` and `%q` of 8 to 128 bits, and predicates `%p`. Numbers 1 to 4 are read; 0 and from 5 on are written.

/// Forms for one group of targets.
pub(crate) struct Group {
    pub(crate) version: &'static str,
    pub(crate) target: &'static str,
    /// `<a/b>` stands for `a` and for `b`.
    patterns: &'static [&'static str],
}

impl Group {
    pub(crate) fn forms(&self) -> Vec<String> {
        self.patterns.iter().flat_map(|pattern| expanded(pattern)).collect()
    }
}

/// All that a pattern stands for.
pub(crate) fn expanded(pattern: &str) -> Vec<String> {
    let mut done = vec![String::new()];
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once('<') {
        let (choices, after) = after.split_once('>').expect("what is opened is closed");
        let more = |start: String| {
            choices.split('/').map(move |choice| format!("{start}{before}{choice}")).collect::<Vec<_>>()
        };
        done = done.into_iter().flat_map(more).collect();
        rest = after;
    }
    done.into_iter().map(|start| start + rest).collect()
}

pub(crate) const GROUPS: [Group; 3] = [
    Group { version: "8.3", target: "sm_90", patterns: EVERYWHERE },
    Group { version: "9.2", target: "sm_120f", patterns: BYTES },
    Group { version: "9.4", target: "sm_107f", patterns: LANE_MASKS },
];

const EVERYWHERE: &[&str] = &[
    // Arithmetic.
    "<add/sub/min/max/mul.lo/mul.hi/div/rem>.<u16/s16> %h0, %h1, %h2",
    "<add/sub/min/max/mul.lo/mul.hi/div/rem>.<u32/s32> %r0, %r1, %r2",
    "<add/sub/min/max/mul.lo/mul.hi/div/rem>.<u64/s64> %d0, %d1, %d2",
    "<add/sub>.sat.s32 %r0, %r1, %r2",
    "<min/max>.relu.s32 %r0, %r1, %r2",
    "<add/min/max>.<u16x2/s16x2> %r0, %r1, %r2",
    "<min/max>.relu.s16x2 %r0, %r1, %r2",
    "mul.wide.<u16/s16> %r0, %h1, %h2",
    "mul.wide.<u32/s32> %d0, %r1, %r2",
    "<mad.lo/mad.hi/sad>.<u16/s16> %h0, %h1, %h2, %h3",
    "<mad.lo/mad.hi/sad>.<u32/s32> %r0, %r1, %r2, %r3",
    "<mad.lo/mad.hi/sad>.<u64/s64> %d0, %d1, %d2, %d3",
    "mad.hi.sat.s32 %r0, %r1, %r2, %r3",
    "mad.wide.<u16/s16> %r0, %h1, %h2, %r3",
    "mad.wide.<u32/s32> %d0, %r1, %r2, %d3",
    "mul24.<lo/hi>.<u32/s32> %r0, %r1, %r2",
    "mad24.<lo/hi>.<u32/s32> %r0, %r1, %r2, %r3",
    "mad24.hi.sat.s32 %r0, %r1, %r2, %r3",
    "<abs/neg>.s16 %h0, %h1",
    "<abs/neg>.s32 %r0, %r1",
    "<abs/neg>.s64 %d0, %d1",
    "dp4a.<u32/s32>.<u32/s32> %r0, %r1, %r2, %r3",
    "dp2a.<lo/hi>.<u32/s32>.<u32/s32> %r0, %r1, %r2, %r3",
    // With the carry flag.
    "<add.cc/addc/addc.cc/sub.cc/subc/subc.cc>.<u32/s32> %r0, %r1, %r2",
    "<add.cc/addc/addc.cc/sub.cc/subc/subc.cc>.<u64/s64> %d0, %d1, %d2",
    "<mad/madc>.<lo/hi>.cc.<u32/s32> %r0, %r1, %r2, %r3",
    "<mad/madc>.<lo/hi>.cc.<u64/s64> %d0, %d1, %d2, %d3",
    "madc.<lo/hi>.<u32/s32> %r0, %r1, %r2, %r3",
    "madc.<lo/hi>.<u64/s64> %d0, %d1, %d2, %d3",
    // Logic and shifts.
    "<and/or/xor>.pred %p0, %p1, %p2",
    "<and/or/xor>.b16 %h0, %h1, %h2",
    "<and/or/xor>.b32 %r0, %r1, %r2",
    "<and/or/xor>.b64 %d0, %d1, %d2",
    "not.pred %p0, %p1",
    "<not/cnot>.b16 %h0, %h1",
    "<not/cnot>.b32 %r0, %r1",
    "<not/cnot>.b64 %d0, %d1",
    "lop3.b32 %r0, %r1, %r2, %r3, <0/0x1b/0x96/0xe8/0xca/0xff>",
    "lop3.<or/and>.b32 <%r0/_>|%p0, %r1, %r2, %r3, 0x6a, %p1",
    "<shl.b16/shr.b16/shr.u16/shr.s16> %h0, %h1, %r2",
    "<shl.b32/shr.b32/shr.u32/shr.s32> %r0, %r1, %r2",
    "<shl.b64/shr.b64/shr.u64/shr.s64> %d0, %d1, %r2",
    "shf.<l/r>.<clamp/wrap>.b32 %r0, %r1, %r2, %r3",
    // Fields, bytes and counts.
    "bfe.<u32/s32> %r0, %r1, %r2, %r3",
    "bfe.<u64/s64> %d0, %d1, %r2, %r3",
    "bfi.b32 %r0, %r1, %r2, %r3, %r4",
    "bfi.b64 %d0, %d1, %d2, %r3, %r4",
    "prmt.b32</.f4e/.b4e/.rc8/.ecl/.ecr/.rc16> %r0, %r1, %r2, %r3",
    "<popc/clz>.b32 %r0, %r1",
    "<popc/clz>.b64 %r0, %d1",
    "brev.b32 %r0, %r1",
    "brev.b64 %d0, %d1",
    "bfind</.shiftamt>.<u32/s32> %r0, %r1",
    "bfind</.shiftamt>.<u64/s64> %r0, %d1",
    "szext.<clamp/wrap>.<u32/s32> %r0, %r1, %r2",
    "bmsk.<clamp/wrap>.b32 %r0, %r1, %r2",
    "fns.b32 %r0, %r1, %r2, %r3",
    // Comparisons and selection.
    "set.<eq/ne/lt/le/gt/ge/lo/ls/hi/hs>.<u32/s32/f32>.u16 %r0, %h1, %h2",
    "set.<eq/ne/lt/le/gt/ge>.<u32/s32/f32>.s16 %r0, %h1, %h2",
    "set.<eq/ne>.<u32/s32/f32>.b16 %r0, %h1, %h2",
    "set.<eq/ne/lt/le/gt/ge/lo/ls/hi/hs>.<u32/s32/f32>.u32 %r0, %r1, %r2",
    "set.<eq/ne/lt/le/gt/ge>.<u32/s32/f32>.s32 %r0, %r1, %r2",
    "set.<eq/ne>.<u32/s32/f32>.b32 %r0, %r1, %r2",
    "set.<eq/ne/lt/le/gt/ge/lo/ls/hi/hs>.<u32/s32/f32>.u64 %r0, %d1, %d2",
    "set.<eq/ne/lt/le/gt/ge>.<u32/s32/f32>.s64 %r0, %d1, %d2",
    "set.<eq/ne>.<u32/s32/f32>.b64 %r0, %d1, %d2",
    "set.<eq/ne/lt/le/gt/ge/lo/ls/hi/hs>.<and/or/xor>.<u32/s32/f32>.u16 %r0, %h1, %h2, </!>%p3",
    "set.<eq/ne/lt/le/gt/ge>.<and/or/xor>.<u32/s32/f32>.s16 %r0, %h1, %h2, </!>%p3",
    "set.<eq/ne>.<and/or/xor>.<u32/s32/f32>.b16 %r0, %h1, %h2, </!>%p3",
    "set.<eq/ne/lt/le/gt/ge/lo/ls/hi/hs>.<and/or/xor>.<u32/s32/f32>.u32 %r0, %r1, %r2, </!>%p3",
    "set.<eq/ne/lt/le/gt/ge>.<and/or/xor>.<u32/s32/f32>.s32 %r0, %r1, %r2, </!>%p3",
    "set.<eq/ne>.<and/or/xor>.<u32/s32/f32>.b32 %r0, %r1, %r2, </!>%p3",
    "set.<eq/ne/lt/le/gt/ge/lo/ls/hi/hs>.<and/or/xor>.<u32/s32/f32>.u64 %r0, %d1, %d2, </!>%p3",
    "set.<eq/ne/lt/le/gt/ge>.<and/or/xor>.<u32/s32/f32>.s64 %r0, %d1, %d2, </!>%p3",
    "set.<eq/ne>.<and/or/xor>.<u32/s32/f32>.b64 %r0, %d1, %d2, </!>%p3",
    "setp.<eq/ne/lt/le/gt/ge/lo/ls/hi/hs>.u16 %p0</|%p5>, %h1, %h2",
    "setp.<eq/ne/lt/le/gt/ge>.s16 %p0</|%p5>, %h1, %h2",
    "setp.<eq/ne>.b16 %p0</|%p5>, %h1, %h2",
    "setp.<eq/ne/lt/le/gt/ge/lo/ls/hi/hs>.u32 %p0</|%p5>, %r1, %r2",
    "setp.<eq/ne/lt/le/gt/ge>.s32 %p0</|%p5>, %r1, %r2",
    "setp.<eq/ne>.b32 %p0</|%p5>, %r1, %r2",
    "setp.<eq/ne/lt/le/gt/ge/lo/ls/hi/hs>.u64 %p0</|%p5>, %d1, %d2",
    "setp.<eq/ne/lt/le/gt/ge>.s64 %p0</|%p5>, %d1, %d2",
    "setp.<eq/ne>.b64 %p0</|%p5>, %d1, %d2",
    "setp.<eq/ne/lt/le/gt/ge/lo/ls/hi/hs>.<and/or/xor>.u16 %p0</|%p5>, %h1, %h2, </!>%p3",
    "setp.<eq/ne/lt/le/gt/ge>.<and/or/xor>.s16 %p0</|%p5>, %h1, %h2, </!>%p3",
    "setp.<eq/ne>.<and/or/xor>.b16 %p0</|%p5>, %h1, %h2, </!>%p3",
    "setp.<eq/ne/lt/le/gt/ge/lo/ls/hi/hs>.<and/or/xor>.u32 %p0</|%p5>, %r1, %r2, </!>%p3",
    "setp.<eq/ne/lt/le/gt/ge>.<and/or/xor>.s32 %p0</|%p5>, %r1, %r2, </!>%p3",
    "setp.<eq/ne>.<and/or/xor>.b32 %p0</|%p5>, %r1, %r2, </!>%p3",
    "setp.<eq/ne/lt/le/gt/ge/lo/ls/hi/hs>.<and/or/xor>.u64 %p0</|%p5>, %d1, %d2, </!>%p3",
    "setp.<eq/ne/lt/le/gt/ge>.<and/or/xor>.s64 %p0</|%p5>, %d1, %d2, </!>%p3",
    "setp.<eq/ne>.<and/or/xor>.b64 %p0</|%p5>, %d1, %d2, </!>%p3",
    "selp.<b16/u16/s16> %h0, %h1, %h2, </!>%p3",
    "selp.<b32/u32/s32/f32> %r0, %r1, %r2, </!>%p3",
    "selp.<b64/u64/s64/f64> %d0, %d1, %d2, </!>%p3",
    "slct.<b16/u16/s16>.<s32/f32> %h0, %h1, %h2, %r3",
    "slct.<b32/u32/s32/f32>.<s32/f32> %r0, %r1, %r2, %r3",
    "slct.<b64/u64/s64/f64>.<s32/f32> %d0, %d1, %d2, %r3",
    // Conversions; 8 bits are held in wider registers.
    "cvt.<u8/s8/u16/s16>.<u8/s8/u16/s16> %h0, %h1",
    "cvt.<u8/s8/u16/s16>.<u32/s32> %h0, %r1",
    "cvt.<u8/s8/u16/s16>.<u64/s64> %h0, %d1",
    "cvt.<u8/s8/u32/s32>.<u8/s8/u32/s32> %r0, %r1",
    "cvt.<u32/s32>.<u16/s16> %r0, %h1",
    "cvt.<u32/s32>.<u64/s64> %r0, %d1",
    "cvt.<u64/s64>.<u8/s8/u16/s16> %d0, %h1",
    "cvt.<u64/s64>.<u32/s32> %d0, %r1",
    "cvt.<u64/s64>.<u64/s64> %d0, %d1",
    "cvt.sat.u8.<s8/u16/s16> %h0, %h1",
    "cvt.sat.s8.<u8/u16/s16> %h0, %h1",
    "cvt.sat.<u8/s8/u16/s16>.<u32/s32> %h0, %r1",
    "cvt.sat.<u8/s8/u16/s16>.<u64/s64> %h0, %d1",
    "cvt.sat.u16.<s8/s16> %h0, %h1",
    "cvt.sat.s16.u16 %h0, %h1",
    "cvt.sat.u32.<s8/s16> %r0, %h1",
    "cvt.sat.u32.s32 %r0, %r1",
    "cvt.sat.s32.u32 %r0, %r1",
    "cvt.sat.<u32/s32>.<u64/s64> %r0, %d1",
    "cvt.sat.u64.<s8/s16> %d0, %h1",
    "cvt.sat.u64.s32 %d0, %r1",
    "cvt.sat.u64.s64 %d0, %d1",
    "cvt.sat.s64.u64 %d0, %d1",
    "cvt.pack.sat.<u16/s16>.s32 %r0, %r1, %r2",
    "cvt.pack.sat.<u8/s8/u4/s4/u2/s2>.s32.b32 %r0, %r1, %r2, %r3",
    // Moves.
    "mov.pred %p0, %p1",
    "mov.<b16/u16/s16> %h0, %h1",
    "mov.<b32/u32/s32/f32> %r0, %r1",
    "mov.<b64/u64/s64/f64> %d0, %d1",
    "mov.b128 %q0, %q1",
    "mov.b16 %h0, {%b1, %b2}",
    "mov.b32 %r0, {%h1, %h2}",
    "mov.b32 %r0, {%b1, %b2, %b3, %b4}",
    "mov.b64 %d0, {%r1, %r2}",
    "mov.b64 %d0, {%h1, %h2, %h3, %h4}",
    "mov.b128 %q0, {%d1, %d2}",
    "mov.b128 %q0, {%r1, %r2, %r3, %r4}",
    "mov.b16 {%b0, %b5}, %h1",
    "mov.b32 {%h0, %h5}, %r1",
    "mov.b32 {%b0, %b5, %b6, %b7}, %r1",
    "mov.b64 {<%r0/_>, %r5}, %d1",
    "mov.b64 {%h0, _, %h6, %h7}, %d1",
    "mov.b128 {%d0, %d5}, %q1",
    "mov.b128 {%r0, %r5, %r6, %r7}, %q1",
    "mov.v2.<b16/u16/s16> {%h0, %h5}, {%h1, %h2}",
    "mov.v2.<b32/u32/s32/f32> {%r0, %r5}, {%r1, %r2}",
    "mov.v2.<b64/u64/s64/f64> {%d0, %d5}, {%d1, %d2}",
    "mov.v4.<b16/u16/s16> {%h0, %h5, %h6, %h7}, {%h1, %h2, %h3, %h4}",
    "mov.v4.<b32/u32/s32/f32> {%r0, %r5, %r6, %r7}, {%r1, %r2, %r3, %r4}",
];

const BYTES: &[&str] = &[
    "<add/sub>.</sat.><u8x4/s8x4> %r0, %r1, %r2",
    "add.sat.<u16x2/s16x2/u32> %r0, %r1, %r2",
    "<min/max>.<u8x4/s8x4> %r0, %r1, %r2",
    "<min/max>.relu.s8x4 %r0, %r1, %r2",
    "neg.s8x4 %r0, %r1",
];

const LANE_MASKS: &[&str] = &["set.<eq/ne/lt/le/gt/ge>.<u8x4/s8x4/u16x2/s16x2> %r0, %r1, %r2"];
