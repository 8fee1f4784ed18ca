//! Small kernels, each about one thing that a GPU does or that a program must not do.
//!
//! Lane operations are compared with the meanings of the instruction table, which are written independently of them.

use super::decode::Prefer;
use super::{Argument, End, FaultKind, Launch, Machine, Outcome};
use ptxopt_grammar::video::{Form, Lanes, Routing, Simd};

mod faults;
mod launches;
mod races;
mod shadows;

const HEAD: &str = ".version 8.0\n.target sm_90\n.address_size 64\n";

/// Registers for a body: `%r` words, `%d` longs, `%f` and `%g` floats, `%h` halves, `%p` predicates; `%d0` is the
/// argument, `%d1` the place of the thread's own word in it, `%r0` the thread.
const DECLARATIONS: &str = ".reg .b32 %r<20>; .reg .b64 %d<10>; .reg .f32 %f<10>; .reg .f64 %g<10>; \
    .reg .b16 %h<10>; .reg .pred %p<10>;\nld.param.u64 %d0, [out]; mov.u32 %r0, %tid.x; \
    mad.wide.u32 %d1, %r0, 4, %d0;\n";

fn kernel(body: &str) -> String {
    format!("{HEAD}.entry k(.param .u64 out) {{\n{DECLARATIONS}{body}\nret;\n}}\n")
}

/// Runs `text` on a block of `threads` and a buffer of 4096 words that count from 0.
fn run_text(text: &str, threads: u32, prefer: Prefer) -> (Outcome, Vec<u32>) {
    let module = ptxopt_grammar::parse(text.as_bytes()).expect("the kernel is legal");
    let machine = Machine::decoded(&module, prefer);
    let mut memory = machine.memory();
    let buffer = memory.allocate((0..4096_u32).flat_map(u32::to_le_bytes).collect());
    let launch = Launch { block: [threads, 1, 1], budget: 1_000_000, ..Launch::of("k") };
    let outcome = machine.launch(&launch, &[Argument::Buffer(buffer)], &mut memory);
    let words =
        memory.bytes(buffer).chunks(4).map(|word| u32::from_le_bytes(word.try_into().expect("4 bytes")));
    (outcome, words.collect())
}

fn run(body: &str, threads: u32) -> (Outcome, Vec<u32>) {
    run_text(&kernel(body), threads, Prefer::Lanes)
}

#[track_caller]
fn finishes(body: &str, threads: u32) -> Vec<u32> {
    let (outcome, words) = run(body, threads);
    assert_eq!(outcome.end, End::Finished, "{}", outcome.end);
    words
}

#[track_caller]
fn faults(body: &str, threads: u32) -> FaultKind {
    match run(body, threads).0.end {
        End::Fault(fault) => fault.kind,
        other => panic!("no fault: {other}"),
    }
}

#[test]
fn lanes_that_diverge_in_a_loop_meet_again() {
    let words = finishes(
        "mov.u32 %r1, 0; mov.u32 %r2, 0;\nL: setp.ge.u32 %p1, %r1, %r0; @%p1 bra E;\n\
         add.u32 %r2, %r2, %r1; add.u32 %r1, %r1, 1; bra L;\nE: activemask.b32 %r3; st.global.u32 [%d1], %r2;\n\
         st.global.u32 [%d1+400], %r3;",
        40,
    );
    for thread in 0..40_u32 {
        assert_eq!(words[thread as usize], (0..thread).sum::<u32>());
        assert_eq!(words[thread as usize + 100], if thread < 32 { u32::MAX } else { 0xff });
    }
}

#[test]
fn a_vector_is_all_its_components() {
    let words = finishes(
        ".reg .v4 .b32 %v; .reg .v2 .b32 %w; ld.global.v4.b32 %v, [%d0+16]; mov.b32 %v.g, 50;\n\
         ld.global.v2.b32 %w, [%d0+40]; st.global.v4.b32 [%d0+64], %v; st.global.v2.u8 [%d0+80], %w;\n\
         st.global.v4.b32 [%d0+96], {%v.w, %v.b, %v.y, %w.g};",
        1,
    );
    assert_eq!(words[16..21], [4, 50, 6, 7, 0x0b0a]);
    assert_eq!(words[24..28], [7, 6, 50, 11]);
}

#[test]
fn a_predicate_and_its_opposite_are_two_registers() {
    let words = finishes("setp.lt.u32 %p1|%p2, %r0, 1; @%p2 ret; st.global.u32 [%d1], 9;", 3);
    assert_eq!(words[..3], [9, 1, 2]);
    let (outcome, _) = run("setp.lt.u32 %p1|%p1, %r0, 1;", 1);
    assert!(matches!(outcome.end, End::CannotEvaluate { .. }), "{}", outcome.end);
}

#[test]
fn a_guard_is_read_before_its_statement_writes_it() {
    let words = finishes(
        "setp.ne.u32 %p1, %r0, %r0; setp.ne.u32 %p2, %r0, %r0;\n@!%p1 setp.eq.or.u32 %p1|%p2, %r0, 0, !%p1;\n\
         selp.u32 %r1, 1, 0, %p1; selp.u32 %r2, 2, 0, %p2; add.u32 %r1, %r1, %r2; st.global.u32 [%d1], %r1;",
        2,
    );
    assert_eq!(words[..2], [3, 3]);
}

#[test]
fn one_thread_runs_like_many() {
    let body = "mov.u32 %r1, 7; mul.lo.u32 %r1, %r1, 6; st.global.u32 [%d1], %r1;";
    assert_eq!(finishes(body, 1)[0], 42);
    assert_eq!(finishes(body, 64)[..64], [42; 64]);
}

#[test]
fn a_barrier_orders_shared_memory() {
    let body = |barrier: &str| {
        format!(
            ".shared .u32 s[64]; .reg .u32 %a; mov.u32 %a, s; mad.lo.u32 %r1, %r0, 4, %a; st.shared.u32 [%r1], %r0; {barrier}\n\
             xor.b32 %r2, %r0, 63; mad.lo.u32 %r2, %r2, 4, %a; ld.shared.u32 %r3, [%r2]; st.global.u32 [%d1], %r3;"
        )
    };
    let words = finishes(&body("bar.sync 0;"), 64);
    assert!((0..64).all(|thread| words[thread] == 63 - thread as u32));
    assert!(matches!(faults(&body(""), 64), FaultKind::Race(..) | FaultKind::Undefined(_)));
}

#[test]
fn a_race_of_a_read_and_a_later_write_is_found() {
    let body = ".shared .u32 s; mov.u32 %r1, 5; setp.eq.u32 %p1, %r0, 0; @%p1 st.shared.u32 [s], %r1; bar.sync 0;\n\
         ld.shared.u32 %r2, [s]; add.u32 %r2, %r2, %r0; st.shared.u32 [s], %r2;";
    assert!(matches!(faults(body, 32), FaultKind::Race(..)));
}

#[test]
fn atomics_do_not_race() {
    let body = ".shared .u32 s; mov.u32 %r1, 0; setp.eq.u32 %p1, %r0, 0; @%p1 st.shared.u32 [s], %r1; bar.sync 0;\n\
         red.shared.add.u32 [s], %r0; bar.sync 0; ld.shared.u32 %r2, [s]; st.global.u32 [%d1], %r2;";
    assert_eq!(finishes(body, 64)[..64], [(0..64).sum::<u32>(); 64]);
}

#[test]
fn a_barrier_in_divergent_code_is_an_error() {
    let body = "setp.lt.u32 %p1, %r0, 5; @%p1 bar.sync 0;";
    assert_eq!(faults(body, 32), FaultKind::DivergentBarrier);
}

#[test]
fn a_barrier_that_not_all_warps_reach_is_a_deadlock() {
    let body = "setp.lt.u32 %p1, %r0, 32; @%p1 bra L; bar.sync 1; bra E;\nL: bar.sync 0;\nE:";
    assert!(matches!(faults(body, 64), FaultKind::Deadlock(_)));
}

#[test]
fn accesses_are_checked() {
    assert!(matches!(faults("ld.global.u32 %r1, [%d0+16384];", 1), FaultKind::OutOfBounds(_, 4)));
    assert!(matches!(faults("ld.global.u32 %r1, [%d0+-4];", 1), FaultKind::OutOfBounds(_, 4)));
    assert!(matches!(faults("ld.global.u32 %r1, [%d0+2];", 1), FaultKind::Misaligned(_, 4)));
    assert!(matches!(
        faults("ld.global.v4.u8 {%h1, %h2, %h3, %h4}, [%d0+2];", 1),
        FaultKind::Misaligned(_, 4)
    ));
    assert!(matches!(faults("mov.u64 %d2, 0; st.global.u8 [%d2], %r0;", 1), FaultKind::OutOfBounds(0, 1)));
}

#[test]
fn undefined_registers_may_be_computed_with_but_not_used() {
    assert_eq!(
        faults("add.u32 %r2, %r1, 1; st.global.u32 [%d1], %r2;", 4),
        FaultKind::Undefined("the stored value")
    );
    assert_eq!(faults("setp.eq.u32 %p1, %r1, 1; @%p1 bra E;\nE:", 4), FaultKind::Undefined("the guard"));
    assert_eq!(
        faults("add.u64 %d2, %d3, %d0; ld.global.u32 %r1, [%d2];", 4),
        FaultKind::Undefined("the address")
    );
    assert_eq!(
        faults(".local .u32 l; ld.local.u32 %r1, [l]; st.global.u32 [%d1], %r1;", 4),
        FaultKind::Undefined("the stored value")
    );
    finishes(
        "add.u32 %r2, %r1, 1; setp.lt.u32 %p1, %r0, 2; @%p1 mov.u32 %r2, 3; @%p1 st.global.u32 [%d1], %r2;",
        4,
    );
}

#[test]
fn what_is_not_known_matters_only_where_control_flow_gets_there() {
    let body = "setp.gt.u32 %p1, %r0, 100; @!%p1 bra E; sin.approx.f32 %f1, %f1;\nE: mov.u32 %r1, 1;";
    let (outcome, _) = run(body, 4);
    assert!(outcome.is_exact());
    assert_eq!(outcome.unknown, [("sin.approx.f32".to_owned(), 7)]);
    let (outcome, _) = run("sin.approx.f32 %f1, 0f3F800000;", 4);
    assert!(
        outcome.end.to_string().starts_with("cannot evaluate `sin.approx.f32` at line 7: "),
        "{}",
        outcome.end
    );
}

#[test]
fn an_endless_loop_spends_the_budget() {
    assert!(matches!(run("L: bra L;", 4).0.end, End::BudgetSpent(_)));
}

#[test]
fn functions_are_called_with_registers_and_with_memory_and_may_recurse() {
    let text = format!(
        "{HEAD}.func (.reg .u32 %out) twice(.reg .u32 %in) {{ add.u32 %out, %in, %in; ret; }}\n\
         .func (.param .b32 r) sum(.param .b32 n) {{ .reg .u32 %a<4>; .reg .pred %q; ld.param.u32 %a1, [n];\n\
         setp.eq.u32 %q, %a1, 0; @%q bra Z; sub.u32 %a2, %a1, 1;\n\
         {{ .param .b32 x; .param .b32 y; st.param.b32 [x], %a2; call (y), sum, (x); ld.param.b32 %a3, [y]; }}\n\
         add.u32 %a1, %a1, %a3;\nZ: st.param.b32 [r], %a1; ret; }}\n\
         .entry k(.param .u64 out) {{\n{DECLARATIONS}\
         call (%r1), twice, (%r0);\n\
         {{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r0; call (y), sum, (x); ld.param.b32 %r2, [y]; }}\n\
         add.u32 %r3, %r1, %r2; st.global.u32 [%d1], %r3; ret; }}\n"
    );
    let (outcome, words) = run_text(&text, 40, Prefer::Lanes);
    assert_eq!(outcome.end, End::Finished, "{}", outcome.end);
    assert!((0..40_u32).all(|n| words[n as usize] == 2 * n + n * (n + 1) / 2), "{:?}", &words[..40]);
}

#[test]
fn indirect_branches_go_where_the_index_says() {
    let body = "rem.u32 %r1, %r0, 3;\nT: .branchtargets A, B, C;\nbrx.idx %r1, T;\n\
         A: mov.u32 %r2, 10; bra E;\nB: mov.u32 %r2, 20; bra E;\nC: mov.u32 %r2, 30;\nE: st.global.u32 [%d1], %r2;";
    let words = finishes(body, 32);
    assert!((0..32).all(|thread| words[thread] == [10, 20, 30][thread % 3]));
}

#[test]
fn lanes_exchange_values() {
    let words = finishes(
        "shfl.sync.bfly.b32 %r1, %r0, 1, 31, -1; st.global.u32 [%d1], %r1;\n\
         shfl.sync.down.b32 %r2|%p1, %r0, 4, 31, -1; selp.u32 %r2, %r2, 99, %p1; st.global.u32 [%d1+400], %r2;\n\
         setp.lt.u32 %p2, %r0, 7; vote.sync.ballot.b32 %r3, %p2, -1; st.global.u32 [%d1+800], %r3;\n\
         redux.sync.add.s32 %r4, %r0, -1; st.global.u32 [%d1+1200], %r4;",
        32,
    );
    for thread in 0..32 {
        assert_eq!(words[thread], thread as u32 ^ 1);
        assert_eq!(words[100 + thread], if thread < 28 { thread as u32 + 4 } else { 99 });
        assert_eq!(words[200 + thread], 0x7f);
        assert_eq!(words[300 + thread], 496);
    }
}

#[test]
fn generic_addresses_find_shared_and_local_memory() {
    let words = finishes(
        ".shared .u32 s[32]; .local .u32 l[2]; mov.u64 %d2, s; cvta.shared.u64 %d2, %d2; mad.wide.u32 %d2, %r0, 4, %d2;\n\
         st.u32 [%d2], %r0; mov.u64 %d3, l; cvta.local.u64 %d3, %d3; st.u32 [%d3+4], %r0; ld.local.u32 %r1, [l+4];\n\
         mad.lo.u32 %r2, %r0, 4, 0; mov.u32 %r4, s; add.u32 %r2, %r2, %r4; ld.shared.u32 %r3, [%r2]; add.u32 %r1, %r1, %r3; st.u32 [%d1], %r1;",
        32,
    );
    assert!((0..32).all(|thread| words[thread] == 2 * thread as u32));
}

#[test]
fn an_access_without_a_space_is_to_that_of_the_variable_it_names() {
    let words = finishes(
        ".shared .u32 s[2]; .local .u32 l[2]; mov.u64 %d4, s;\n\
         st.u32 [s+4], 40; ld.shared.u32 %r1, [s+4]; st.local.u32 [l+4], 2; ld.u32 %r2, [l+4];\n\
         atom.add.u32 %r3, [s+4], 5; ld.shared.u32 %r4, [%d4+4];\n\
         add.u32 %r1, %r1, %r2; st.u32 [%d1], %r1; st.u32 [%d1+4], %r3; st.u32 [%d1+8], %r4; ld.u64 %d5, [out]; st.u32 [%d5+12], 7;",
        1,
    );
    assert_eq!(words[..4], [42, 40, 45, 7]);
}

#[test]
fn variables_have_their_initial_values() {
    let text = format!(
        "{HEAD}.const .align 4 .u8 table[8] = {{1, 2, 3, 0xff}};\n.global .u32 x = 5;\n.global .u64 p = generic(x);\n\
         .entry k(.param .u64 out) {{\n{DECLARATIONS}\
         ld.const.u32 %r1, [table]; ld.global.u64 %d2, [p]; ld.u32 %r2, [%d2]; add.u32 %r1, %r1, %r2;\n\
         st.global.u32 [%d1], %r1; ret; }}\n"
    );
    let (outcome, words) = run_text(&text, 1, Prefer::Lanes);
    assert_eq!(outcome.end, End::Finished, "{}", outcome.end);
    assert_eq!(words[0], 0xff03_0201_u32.wrapping_add(5));
}

#[test]
fn floats_round_as_they_are_told() {
    let words = finishes(
        "mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f33000000; add.rn.f32 %f3, %f1, %f2; st.global.f32 [%d1], %f3;\n\
         add.rp.f32 %f3, %f1, %f2; st.global.f32 [%d1+4], %f3; mov.f32 %f4, 0f40400000; div.rn.f32 %f5, %f1, %f4;\n\
         st.global.f32 [%d1+8], %f5; mov.f32 %f6, 0f00000001; mul.ftz.f32 %f7, %f6, %f1; st.global.f32 [%d1+12], %f7;\n\
         cvt.rni.s32.f32 %r1, 0f40200000; st.global.u32 [%d1+16], %r1; min.f32 %f8, 0f7FC00000, %f1; st.global.f32 [%d1+20], %f8;",
        1,
    );
    assert_eq!(words[..6], [0x3f80_0000, 0x3f80_0001, 0x3eaa_aaab, 0, 2, 0x3f80_0000]);
}

#[test]
fn a_fault_names_the_line_of_the_source() {
    let text = format!(
        "{HEAD}.entry k(.param .u64 out) {{\n{DECLARATIONS}.loc 1 17 3\nld.global.u32 %r1, [%d0+2]; ret;\n}}\n.file 1 \"a/b.cu\"\n"
    );
    let (outcome, _) = run_text(&text, 1, Prefer::Lanes);
    let End::Fault(fault) = outcome.end else { panic!("it is misaligned") };
    assert_eq!(fault.place.source, Some(("a/b.cu".to_owned(), 17)));
}

/// Every form with a lane operation of its own, as it is written; `W`, `L` and `H` stand for registers.
const FORMS: &[&str] = &[
    "add.u32 W W W",
    "add.s64 L L L",
    "add.u16 H H H",
    "add.sat.s32 W W W",
    "sub.s32 W W W",
    "sub.u64 L L L",
    "sub.s16 H H H",
    "sub.sat.s32 W W W",
    "mul.lo.u32 W W W",
    "mul.lo.s64 L L L",
    "mul.lo.u16 H H H",
    "mul.hi.u32 W W W",
    "mul.hi.s32 W W W",
    "mul.hi.u64 L L L",
    "mul.hi.s64 L L L",
    "mul.hi.u16 H H H",
    "mul.hi.s16 H H H",
    "mul.wide.u32 L W W",
    "mul.wide.s32 L W W",
    "mul.wide.u16 W H H",
    "mul.wide.s16 W H H",
    "mad.lo.u32 W W W W",
    "mad.lo.u64 L L L L",
    "mad.lo.s16 H H H H",
    "mad.hi.u32 W W W W",
    "mad.hi.s32 W W W W",
    "mad.wide.u32 L W W L",
    "mad.wide.s32 L W W L",
    "mad.wide.u16 W H H W",
    "mad.wide.s16 W H H W",
    "sad.u32 W W W W",
    "sad.s32 W W W W",
    "div.u32 W W W",
    "div.s32 W W W",
    "rem.u32 W W W",
    "rem.s32 W W W",
    "div.u64 L L L",
    "div.s64 L L L",
    "rem.u64 L L L",
    "rem.s64 L L L",
    "div.u16 H H H",
    "div.s16 H H H",
    "rem.u16 H H H",
    "rem.s16 H H H",
    "div.s32 W W 0",
    "rem.s32 W W 0",
    "div.s32 W W -1",
    "and.b32 W W W",
    "and.b64 L L L",
    "and.b16 H H H",
    "or.b32 W W W",
    "or.b64 L L L",
    "xor.b32 W W W",
    "xor.b64 L L L",
    "xor.b16 H H H",
    "not.b32 W W",
    "not.b64 L L",
    "not.b16 H H",
    "cnot.b32 W W",
    "cnot.b16 H H",
    "neg.s32 W W",
    "neg.s64 L L",
    "neg.s16 H H",
    "abs.s32 W W",
    "abs.s64 L L",
    "abs.s16 H H",
    "min.u32 W W W",
    "min.s32 W W W",
    "min.u16 H H H",
    "min.s16 H H H",
    "min.u64 L L L",
    "min.s64 L L L",
    "max.u32 W W W",
    "max.s32 W W W",
    "max.u16 H H H",
    "max.s16 H H H",
    "max.u64 L L L",
    "max.s64 L L L",
    "shl.b32 W W W",
    "shl.b64 L L W",
    "shl.b16 H H W",
    "shr.u32 W W W",
    "shr.s32 W W W",
    "shr.u64 L L W",
    "shr.s64 L L W",
    "shr.u16 H H W",
    "shr.s16 H H W",
    "shf.l.wrap.b32 W W W W",
    "shf.l.clamp.b32 W W W W",
    "shf.r.wrap.b32 W W W W",
    "shf.r.clamp.b32 W W W W",
    "popc.b32 W W",
    "popc.b64 W L",
    "clz.b32 W W",
    "clz.b64 W L",
    "brev.b32 W W",
    "brev.b64 L L",
    "bfind.u32 W W",
    "bfind.s32 W W",
    "bfind.u64 W L",
    "bfind.s64 W L",
    "bfe.u32 W W W W",
    "bfe.s32 W W W W",
    "bfi.b32 W W W W W",
    "prmt.b32 W W W W",
    "lop3.b32 W W W W 0x5a",
    "lop3.b32 W W W W 0xe8",
    "dp4a.u32.u32 W W W W",
    "dp4a.u32.s32 W W W W",
    "dp4a.s32.u32 W W W W",
    "dp4a.s32.s32 W W W W",
    "dp2a.lo.u32.s32 W W W W",
    "dp2a.hi.s32.u32 W W W W",
    "dp2a.lo.s32.s32 W W W W",
    "cvt.u32.u16 W H",
    "cvt.s32.s16 W H",
    "cvt.u32.u8 W W",
    "cvt.s32.s8 W W",
    "cvt.s16.s8 H H",
    "cvt.u16.u32 H W",
    "cvt.u64.u32 L W",
    "cvt.s64.s32 L W",
    "cvt.u32.u64 W L",
    "cvt.s64.s8 L W",
    "cvt.u8.u32 W W",
    "cvt.s8.s32 W W",
    "cvt.sat.u8.s32 W W",
    "cvt.sat.s8.s32 W W",
    "cvt.sat.u16.s32 H W",
    "cvt.sat.s16.s32 H W",
    "cvt.sat.s8.u32 W W",
    "cvt.sat.u32.s32 W W",
    "cvt.sat.s32.u32 W W",
    "cvt.sat.u8.s16 W H",
    "mov.b32 W W",
    "mov.b64 L L",
    "mov.b16 H H",
    "selp.b32 W W W P",
    "selp.b64 L L L P",
    "set.lt.u32.s32 W W W",
    "shl.b32 W W 0",
    "shr.u32 W W 0",
    "shr.s32 W W 0",
    "shl.b32 W W 3",
    "shr.u32 W W 3",
    "shr.s32 W W 3",
    "shl.b32 W W 31",
    "shr.u32 W W 31",
    "shr.s32 W W 31",
    "shl.b32 W W 32",
    "shr.u32 W W 32",
    "shr.s32 W W 32",
    "shl.b32 W W 33",
    "shr.u32 W W 33",
    "shr.s32 W W 33",
    "shl.b32 W W 255",
    "shr.u32 W W 255",
    "shr.s32 W W 255",
    "shl.b64 L L 0",
    "shr.u64 L L 0",
    "shr.s64 L L 0",
    "shl.b64 L L 5",
    "shr.u64 L L 5",
    "shr.s64 L L 5",
    "shl.b64 L L 32",
    "shr.u64 L L 32",
    "shr.s64 L L 32",
    "shl.b64 L L 63",
    "shr.u64 L L 63",
    "shr.s64 L L 63",
    "shl.b64 L L 64",
    "shr.u64 L L 64",
    "shr.s64 L L 64",
    "shl.b64 L L 200",
    "shr.u64 L L 200",
    "shr.s64 L L 200",
    "shf.l.wrap.b32 W W W 0",
    "shf.l.clamp.b32 W W W 0",
    "shf.r.wrap.b32 W W W 0",
    "shf.r.clamp.b32 W W W 0",
    "shf.l.wrap.b32 W W W 1",
    "shf.l.clamp.b32 W W W 1",
    "shf.r.wrap.b32 W W W 1",
    "shf.r.clamp.b32 W W W 1",
    "shf.l.wrap.b32 W W W 16",
    "shf.l.clamp.b32 W W W 16",
    "shf.r.wrap.b32 W W W 16",
    "shf.r.clamp.b32 W W W 16",
    "shf.l.wrap.b32 W W W 31",
    "shf.l.clamp.b32 W W W 31",
    "shf.r.wrap.b32 W W W 31",
    "shf.r.clamp.b32 W W W 31",
    "shf.l.wrap.b32 W W W 32",
    "shf.l.clamp.b32 W W W 32",
    "shf.r.wrap.b32 W W W 32",
    "shf.r.clamp.b32 W W W 32",
    "shf.l.wrap.b32 W W W 40",
    "shf.l.clamp.b32 W W W 40",
    "shf.r.wrap.b32 W W W 40",
    "shf.r.clamp.b32 W W W 40",
    "bfe.u32 W W 0 0",
    "bfe.s32 W W 0 0",
    "bfi.b32 W W W 0 0",
    "bfe.u32 W W 0 32",
    "bfe.s32 W W 0 32",
    "bfi.b32 W W W 0 32",
    "bfe.u32 W W 8 8",
    "bfe.s32 W W 8 8",
    "bfi.b32 W W W 8 8",
    "bfe.u32 W W 24 8",
    "bfe.s32 W W 24 8",
    "bfi.b32 W W W 24 8",
    "bfe.u32 W W 24 20",
    "bfe.s32 W W 24 20",
    "bfi.b32 W W W 24 20",
    "bfe.u32 W W 31 1",
    "bfe.s32 W W 31 1",
    "bfi.b32 W W W 31 1",
    "bfe.u32 W W 31 4",
    "bfe.s32 W W 31 4",
    "bfi.b32 W W W 31 4",
    "bfe.u32 W W 32 4",
    "bfe.s32 W W 32 4",
    "bfi.b32 W W W 32 4",
    "bfe.u32 W W 40 0",
    "bfe.s32 W W 40 0",
    "bfi.b32 W W W 40 0",
    "bfe.u32 W W 200 200",
    "bfe.s32 W W 200 200",
    "bfi.b32 W W W 200 200",
    "bfe.u32 W W 0 255",
    "bfe.s32 W W 0 255",
    "bfi.b32 W W W 0 255",
    "bfe.u32 W W 5 256",
    "bfe.s32 W W 5 256",
    "bfi.b32 W W W 5 256",
    "prmt.b32 W W W 0x3210",
    "prmt.b32 W W W 0x7654",
    "prmt.b32 W W W 0x5140",
    "prmt.b32 W W W 0x0000",
    "prmt.b32 W W W 0x7351",
    "prmt.b32 W W W 0x0123",
    "prmt.b32 W W W 0x6420",
    "prmt.b32 W W W 0xba98",
    "prmt.b32 W W W 0x3218",
    "lop3.b32 W W W W 0x00",
    "lop3.b32 W W W W 0xff",
    "lop3.b32 W W W W 0x96",
    "lop3.b32 W W W W 0xca",
    "lop3.b32 W W W W 0x80",
    "lop3.b32 W W W W 0xfe",
    "lop3.b32 W W W W 0x1b",
    "lop3.b32 W W W W 0x47",
];

/// Loads registers with what looks random.
const LOADED: &str = "\
    ld.global.u32 %r1, [%d1]; ld.global.u32 %r2, [%d1+256]; ld.global.u32 %r3, [%d1+512]; ld.global.u32 %r4, [%d1+768];\n\
    mul.lo.u32 %r1, %r1, 0x9e3779b1; mul.lo.u32 %r2, %r2, 0x85ebca77; mul.lo.u32 %r3, %r3, 0xc2b2ae3d; mul.lo.u32 %r4, %r4, 0x27d4eb2f;\n\
    and.b32 %r9, %r0, 3; setp.eq.u32 %p2, %r9, 1; @%p2 and.b32 %r3, %r3, 63; @%p2 and.b32 %r4, %r4, 63; @%p2 and.b32 %r2, %r2, 63;\n\
    setp.eq.u32 %p2, %r9, 2; @%p2 shr.s32 %r1, %r1, 31; @%p2 or.b32 %r1, %r1, 0x80000000;\n\
    setp.gt.u32 %p1, %r4, %r3; mov.b64 %d2, {%r1, %r2}; mov.b64 %d3, {%r3, %r4}; mov.b64 %d4, {%r2, %r4};\n\
    cvt.u16.u32 %h1, %r1; cvt.u16.u32 %h2, %r2; cvt.u16.u32 %h3, %r3;\n";

/// A kernel that applies `form` to loaded registers and stores the result.
fn form_kernel(form: &str) -> String {
    let mut words = form.split(' ');
    let opcode = words.next().expect("a form has an opcode");
    let mut body = LOADED.to_owned();
    let mut operands = Vec::new();
    for (at, kind) in words.enumerate() {
        operands.push(match (at, kind) {
            (0, "W") => "%r5".to_owned(),
            (0, "L") => "%d5".to_owned(),
            (0, "H") => "%h5".to_owned(),
            (at, "W") => format!("%r{at}"),
            (at, "L") => format!("%d{}", at + 1),
            (at, "H") => format!("%h{at}"),
            (_, "P") => "%p1".to_owned(),
            (_, constant) => constant.to_owned(),
        });
    }
    body += &format!("{opcode} {};\n", operands.join(", "));
    body += match operands[0].as_bytes()[1] {
        b'r' => "st.global.u32 [%d1+8192], %r5;",
        b'h' => "st.global.u16 [%d1+8192], %h5;",
        _ => "mad.wide.u32 %d6, %r0, 8, %d0; st.global.u64 [%d6+8192], %d5;",
    };
    kernel(&body)
}

#[test]
fn lane_operations_equal_the_meanings() {
    let mut compared = 0;
    for form in FORMS {
        let text = form_kernel(form);
        let (fast, got) = run_text(&text, 256, Prefer::Lanes);
        let (slow, want) = run_text(&text, 256, Prefer::Meaning);
        let known = slow.unknown.is_empty();
        compared += usize::from(known && fast.unknown.is_empty());
        if known && fast.unknown.is_empty() {
            assert_eq!(fast.end, End::Finished, "{form}: {}", fast.end);
            assert_eq!(got, want, "{form}");
        }
    }
    assert!(compared * 10 >= FORMS.len() * 9, "only {compared} of {} forms were compared", FORMS.len());
}

/// SIMD forms: every operation with every choice of signs, and routings of all kinds.
fn simd_forms() -> Vec<Form> {
    let mut forms = Vec::new();
    for lanes in Lanes::ALL {
        let plain = Routing::plain(lanes);
        let mixed = match lanes {
            Lanes::Two => plain.selected(&[3, 0], &[1, 1]),
            Lanes::Four => plain.selected(&[7, 0, 2, 5], &[1, 1, 6, 3]),
        };
        let mixed = mixed.expect("the selectors are legal");
        let routings = [Some(plain), plain.masked(0b10), Some(mixed), mixed.masked(0b01)];
        for routing in routings.into_iter().flatten() {
            forms.extend(Simd::all(lanes).map(|form| Form::Simd(Simd { routing, ..form })));
        }
    }
    forms
}

#[test]
fn simd_instructions_equal_their_meanings() {
    let mut compared = 0;
    for forms in simd_forms().chunks(16) {
        let mut body = LOADED.to_owned();
        for form in forms {
            if let Some(text) = form.encode("%r5", "%r1", "%r2", Some("%r3")) {
                body += &text;
                body += ";\nst.global.u32 [%d1], %r5; add.u64 %d1, %d1, 512;\n";
                compared += 1;
            }
        }
        let text = kernel(&body);
        let (fast, got) = run_text(&text, 64, Prefer::Lanes);
        let (slow, want) = run_text(&text, 64, Prefer::Meaning);
        assert_eq!((fast.end, slow.end), (End::Finished, End::Finished), "{text}");
        for (at, form) in forms.iter().enumerate() {
            let result = |words: &[u32]| words[128 * at..128 * at + 64].to_vec();
            assert_eq!(result(&got), result(&want), "{form:?}");
        }
    }
    assert!(compared > 1_000, "only {compared} forms");
}
