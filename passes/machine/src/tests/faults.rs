//! Faults: what they name, how a launch goes on after one, and which end it.
//!
//! The faults of each text are known, so reports are compared word for word.

use super::{DECLARATIONS, HEAD, kernel};
use crate::{Argument, End, Fault, FaultKind, Launch, Machine, Outcome};

/// Runs a text with at most so many faults over two buffers of 64 bytes.
fn launched(text: &str, threads: u32, faults: usize) -> (Outcome, Vec<u8>) {
    let module = ptxopt_grammar::parse(text.as_bytes()).expect("the kernel is legal");
    let machine = Machine::new(&module);
    let mut memory = machine.memory();
    let arguments: Vec<_> = machine
        .entries()
        .flat_map(|entry| entry.parameters)
        .map(|_| memory.allocate(vec![0xff; 64]))
        .collect();
    let launch =
        Launch { block: [threads, 1, 1], budget: 100_000, faults, dynamic_shared: 32, ..Launch::of("k") };
    let all: Vec<_> = arguments.iter().copied().map(Argument::Buffer).collect();
    let outcome = machine.launch(&launch, &all, &mut memory);
    (outcome, memory.bytes(arguments[0]).to_vec())
}

#[track_caller]
fn first(body: &str) -> String {
    let (outcome, _) = launched(&kernel(body), 1, 1);
    outcome.faults.first().map_or_else(|| panic!("no fault: {}", outcome.end), ToString::to_string)
}

#[track_caller]
fn says(body: &str, what: &str) {
    let text = first(body);
    assert!(text.starts_with(&format!("{what}; block (0, 0, 0), thread (0, 0, 0), line ")), "{text}");
}

#[test]
fn a_fault_names_the_argument_and_the_offset() {
    says(
        "ld.global.u32 %r1, [%d0+64];",
        "4 bytes at offset 64 of argument 0 (`out`, 64 bytes) are out of bounds",
    );
    says(
        "ld.global.u32 %r1, [%d0+-4];",
        "4 bytes at offset -4 of argument 0 (`out`, 64 bytes) are out of bounds",
    );
    says("ld.u32 %r1, [%d0+62];", "4 bytes at offset 62 of argument 0 (`out`, 64 bytes) are out of bounds");
    says("ld.global.u32 %r1, [%d0+2];", "4 bytes at offset 2 of argument 0 (`out`, 64 bytes) are misaligned");
    says(
        "red.global.add.u32 [%d0+2], 1;",
        "4 bytes at offset 2 of argument 0 (`out`, 64 bytes) are misaligned",
    );
    says("mov.u64 %d2, 16; st.global.u8 [%d2], %r0;", "1 bytes at 0x10 are out of bounds");
}

#[test]
fn of_two_buffers_the_nearer_is_named() {
    let text = |offset: i64| {
        format!(
            "{HEAD}.entry k(.param .u64 a, .param .u64 b) {{ .reg .b64 %d<3>; .reg .b32 %r<3>;\n\
             ld.param.u64 %d1, [b]; ld.global.u32 %r1, [%d1+{offset}]; ret; }}\n"
        )
    };
    let spot = |offset| {
        let (outcome, _) = launched(&text(offset), 1, 1);
        outcome.faults[0].spot.clone().expect("a buffer is near").to_string()
    };
    assert_eq!(spot(400), "offset 400 of argument 1 (`b`, 64 bytes)");
    assert_eq!(spot(-400), "offset -400 of argument 1 (`b`, 64 bytes)");
    assert_eq!(spot(-0x1_0000_0000 + 100), "offset 100 of argument 0 (`a`, 64 bytes)");
}

#[test]
fn variables_are_named() {
    let text = |access: &str| {
        format!(
            "{HEAD}.global .u32 g[4];\n.extern .shared .b8 more[];\n.entry k(.param .u64 out) {{\n{DECLARATIONS}{access}\nret; }}\n"
        )
    };
    let spot = |access: &str| {
        let (outcome, _) = launched(&text(access), 1, 1);
        outcome.faults[0].spot.clone().expect("it has a place").to_string()
    };
    assert_eq!(spot("ld.global.u32 %r1, [g+16];"), "offset 16 of variable `g` (16 bytes)");
    assert_eq!(spot("ld.shared.u32 %r1, [more+32];"), "offset 32 of dynamic shared memory (32 bytes)");
    assert_eq!(
        spot(".shared .u32 s[2]; .shared .u32 t[2]; ld.shared.u32 %r1, [t+2];"),
        "offset 2 of shared variable `t` (8 bytes)"
    );
    assert_eq!(spot(".local .u32 l[2]; ld.local.u32 %r1, [l+16];"), "offset 16 of local memory");
    assert_eq!(spot("ld.param.u32 %r1, [out+8];"), "offset 8 of the memory of parameters");
}

const THREE: &str = "st.global.u32 [%d1+48], %r0; ld.global.u32 %r1, [%d0+2]; ld.global.u32 %r2, [%d0+400];\n\
     add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, 3; st.global.u32 [%d1], %r1;";

#[test]
fn a_launch_goes_on_after_faults() {
    let (outcome, bytes) = launched(&kernel(THREE), 8, 10);
    let all: Vec<_> =
        outcome.faults.iter().map(|fault| (fault.kind.clone(), fault.thread.1[0], fault.count)).collect();
    let [
        (FaultKind::OutOfBounds(_, 4), 4, 4),
        (FaultKind::Misaligned(_, 4), 0, 8),
        (FaultKind::OutOfBounds(_, 4), 0, 8),
    ] = all[..]
    else {
        panic!("{all:?}")
    };
    assert_eq!(outcome.end, End::Fault(outcome.faults[0].clone()));
    assert!(!outcome.is_exact());
    assert!(bytes[..32].chunks(4).all(|word| word == [3, 0, 0, 0]), "what cannot be loaded is 0: {bytes:?}");
}

#[test]
fn a_launch_ends_when_there_are_enough_faults() {
    for limit in 0..4 {
        let (outcome, bytes) = launched(&kernel(THREE), 8, limit);
        assert_eq!(outcome.faults.len(), limit.max(1));
        assert_eq!(bytes[0], 0xff, "the last store was not reached");
    }
}

#[track_caller]
fn faults(body: &str, threads: u32) -> Vec<(FaultKind, u64)> {
    let (outcome, _) = launched(&kernel(body), threads, 10);
    outcome.faults.into_iter().map(|Fault { kind, count, .. }| (kind, count)).collect()
}

#[test]
fn a_thread_whose_guard_is_undefined_ends_and_the_others_go_on() {
    let body = "setp.lt.u32 %p1, %r0, 2; @%p1 mov.u32 %r1, 5; setp.eq.u32 %p2, %r1, 5; @%p2 st.global.u32 [%d1], %r0;\n\
         bar.sync 0; add.u32 %r2, %r0, 16; st.global.u32 [%d1+32], %r2;";
    assert_eq!(faults(body, 4), [(FaultKind::Undefined("the guard"), 2)]);
    let (_, bytes) = launched(&kernel(body), 4, 10);
    assert_eq!((bytes[0], bytes[4], bytes[8], bytes[32], bytes[36], bytes[40]), (0, 1, 0xff, 16, 17, 0xff));
}

#[test]
fn what_is_undefined_is_not_stored() {
    let body = "st.global.u32 [%d1], %r5; red.global.add.u32 [%d1+16], %r5; st.global.u32 [%d5], %r0; st.global.u32 [%d1+32], 1;";
    let undefined = |what| (FaultKind::Undefined(what), 2);
    assert_eq!(
        faults(body, 2),
        [undefined("the stored value"), undefined("the operand"), undefined("the address")]
    );
    let (_, bytes) = launched(&kernel(body), 2, 10);
    assert_eq!((bytes[0], bytes[16], bytes[32]), (0xff, 0xff, 1));
}

#[test]
fn a_race_goes_on_in_the_order_of_the_threads() {
    let (outcome, bytes) = launched(&kernel("st.global.u32 [%d0], %r0; st.global.u32 [%d1+16], 4;"), 3, 10);
    let kinds: Vec<_> = outcome.faults.iter().map(|fault| (&fault.kind, fault.count)).collect();
    assert!(matches!(kinds[..], [(FaultKind::Race(_), 2)]), "{kinds:?}");
    assert_eq!((bytes[0], bytes[16]), (2, 4));
}

#[test]
fn a_trap_and_a_deadlock_end_the_launch() {
    let body = |last: &str| format!("ld.global.u32 %r1, [%d0+400]; {last} ld.global.u32 %r2, [%d0+800];");
    let kinds = |body: &str| faults(body, 64).into_iter().map(|(kind, _)| kind).collect::<Vec<_>>();
    assert!(matches!(kinds(&body("trap;"))[..], [FaultKind::OutOfBounds(..), FaultKind::Trap]));
    let deadlock = body("setp.lt.u32 %p1, %r0, 32; @%p1 bar.sync 0; @!%p1 bar.sync 1;");
    assert!(matches!(kinds(&deadlock)[..], [FaultKind::OutOfBounds(..), FaultKind::Deadlock(_)]));
}

#[test]
fn other_ends_keep_the_faults_before_them() {
    let (outcome, _) = launched(&kernel("ld.global.u32 %r1, [%d0+400];\nL: bra L;"), 1, 10);
    assert!(matches!(outcome.end, End::BudgetSpent(_)) && outcome.faults.len() == 1);
    let (outcome, _) =
        launched(&kernel("ld.global.u32 %r1, [%d0+400]; sin.approx.f32 %f1, 0f3F800000;"), 1, 10);
    assert!(matches!(outcome.end, End::CannotEvaluate { .. }) && outcome.faults.len() == 1);
}
