//! Races in global and in shared memory: what is one, what is none, and what cannot be told.
//!
//! Whether a kernel has a race follows from the manual's memory model, whatever the order in which its threads run.

use super::{DECLARATIONS, HEAD, kernel};
use crate::{Argument, End, FaultKind, Launch, Machine, Other, Outcome, Owner, RaceCheck};

/// Runs a body on blocks of so many threads, over a buffer of 4096 words that count from 0. `%r1` is the block.
fn launched(body: &str, (blocks, threads): (u32, u32), race_check: RaceCheck) -> Outcome {
    let text = kernel(&format!("mov.u32 %r1, %ctaid.x;\n{body}"));
    launched_text(&text, (blocks, threads), race_check)
}

fn launched_text(text: &str, (blocks, threads): (u32, u32), race_check: RaceCheck) -> Outcome {
    let module = ptxopt_grammar::parse(text.as_bytes()).expect("the kernel is legal");
    let machine = Machine::new(&module);
    let mut memory = machine.memory();
    let buffer = memory.allocate((0..4096_u32).flat_map(u32::to_le_bytes).collect());
    let launch = Launch {
        grid: [blocks, 1, 1],
        block: [threads, 1, 1],
        budget: 1_000_000,
        race_check,
        ..Launch::of("k")
    };
    machine.launch(&launch, &[Argument::Buffer(buffer)], &mut memory)
}

#[track_caller]
fn is_exact(body: &str, shape: (u32, u32)) {
    let outcome = launched(body, shape, RaceCheck::All);
    assert!(outcome.is_exact(), "{} {:?}", outcome.end, outcome.inexact);
}

/// The other side of the race that a body has.
#[track_caller]
fn races(body: &str, shape: (u32, u32)) -> Other {
    let outcome = launched(body, shape, RaceCheck::All);
    match outcome.end {
        End::Fault(fault) => match fault.kind {
            FaultKind::Race(other) => other,
            kind => panic!("no race: {kind}"),
        },
        other => panic!("no race: {other} {:?}", outcome.inexact),
    }
}

/// That a body has no race that is certain, and what its result depends on.
#[track_caller]
fn is_open(body: &str, shape: (u32, u32), reason: &str) {
    let outcome = launched(body, shape, RaceCheck::All);
    assert_eq!(outcome.end, End::Finished, "{}", outcome.end);
    let all = outcome.inexact.join("; ");
    assert!(all.contains(reason), "{all}");
}

const COUNT: &str = "ld.global.u32 %r2, [%d0]; add.u32 %r2, %r2, 1; st.global.u32 [%d0], %r2;";

#[test]
fn threads_that_count_in_one_word_race() {
    assert_eq!(races(COUNT, (1, 256)), Other::OfWarp);
    let blocks = races(COUNT, (2, 1));
    assert_eq!(blocks, Other::Thread([0, 0, 0], [0, 0, 0]));
    is_exact(COUNT, (1, 1));
}

#[test]
fn a_launch_whose_global_memory_is_not_looked_at_is_not_exact() {
    let outcome = launched(COUNT, (1, 256), RaceCheck::Shared);
    assert_eq!(outcome.end, End::Finished);
    assert!(!outcome.is_exact());
    assert!(launched(COUNT, (1, 1), RaceCheck::Shared).is_exact());
}

#[test]
fn a_race_names_the_argument() {
    let outcome = launched("st.global.u32 [%d0+64], %r0;", (1, 64), RaceCheck::All);
    let spot = outcome.faults[0].spot.clone().expect("it is in a buffer");
    assert_eq!((spot.owner, spot.offset), (Owner::Argument(0, "out".to_owned()), 64));
    let text = outcome.end.to_string();
    let want =
        "race at offset 64 of argument 0 (`out`, 16384 bytes) with thread (0, 0, 0) of block (0, 0, 0); ";
    assert!(text.starts_with(want), "{text}");
}

#[test]
fn threads_that_have_a_word_each_do_not_race() {
    let own = "ld.global.u32 %r2, [%d1]; add.u32 %r2, %r2, 1; st.global.u32 [%d1], %r2;";
    is_exact(own, (1, 256));
    assert!(matches!(races(own, (2, 256)), Other::Thread([0, 0, 0], _)));
    let bytes = "cvt.u64.u32 %d2, %r0; add.u64 %d2, %d0, %d2; ld.global.u8 %r2, [%d2]; add.u32 %r2, %r2, 1; \
         st.global.u8 [%d2], %r2;";
    is_exact(bytes, (1, 256));
    let apart = format!("mad.wide.u32 %d1, %r1, 1024, %d1; {own}");
    is_exact(&apart, (4, 256));
}

#[test]
fn neighbours_in_a_word_are_apart_and_those_who_overlap_race() {
    // Each thread has two bytes; then each reads the four that begin at its own.
    let body = |load: &str| {
        format!(
            "mad.wide.u32 %d2, %r0, 4, %d0; add.u32 %r2, %r0, 5; st.global.u16 [%d2], %r2; st.global.u16 [%d2+2], %r2;\n\
             {load} st.global.u32 [%d1+8192], %r3;"
        )
    };
    is_exact(&body("ld.global.u32 %r3, [%d2];"), (1, 96));
    races(&body("ld.global.u16 %r3, [%d2+4];"), (1, 96));
}

#[test]
fn threads_that_store_the_same_do_not_race() {
    is_exact("mov.u32 %r2, 7; st.global.u32 [%d0], %r2;", (3, 64));
    races("add.u32 %r2, %r1, 7; st.global.u32 [%d0], %r2;", (3, 1));
    // What was there already may be stored and read, but not changed.
    is_exact("mov.u32 %r2, 5; st.global.u32 [%d0+20], %r2; ld.global.u32 %r3, [%d0+20];", (2, 64));
    races("setp.eq.u32 %p1, %r1, 1; selp.u32 %r2, 6, 5, %p1; st.global.u32 [%d0+20], %r2;", (2, 1));
}

#[test]
fn an_atomic_operation_and_a_store_of_what_is_there_race() {
    let body = "setp.eq.u32 %p1, %r1, 0; mov.u32 %r2, 5; @%p1 red.global.add.u32 [%d0], 5; @!%p1 st.global.u32 [%d0], %r2;";
    races(body, (2, 1));
}

#[test]
fn threads_that_only_load_do_not_race() {
    let body = "ld.global.u32 %r2, [%d0]; ld.global.u32 %r3, [%d1]; ld.global.u32 %r4, [%d1+4]; ld.global.u8 %r5, [%d1+1];";
    is_exact(body, (3, 96));
    races(&format!("{body} setp.eq.u32 %p1, %r1, 2; @%p1 st.global.u32 [%d1], %r1;"), (3, 96));
}

/// Each thread stores a word and then loads that of another.
fn exchanged(store: &str, between: &str, load: &str) -> String {
    format!(
        "{store}.u32 [%d1], 77; {between} xor.b32 %r2, %r0, 33; mad.wide.u32 %d2, %r2, 4, %d0; {load}.u32 %r3, [%d2];"
    )
}

#[test]
fn a_barrier_orders_the_threads_of_a_block() {
    is_exact(&exchanged("st.global", "bar.sync 0;", "ld.global"), (1, 64));
    races(&exchanged("st.global", "", "ld.global"), (1, 64));
    races(&exchanged("st.global", "bar.warp.sync -1;", "ld.global"), (1, 64));
    // The same words in both blocks.
    let body = exchanged("mov.u32 %r4, %r1; st.global", "bar.sync 0;", "ld.global").replace("77", "%r1");
    races(&body, (2, 64));
}

#[test]
fn a_barrier_of_a_warp_orders_its_lanes() {
    let body = |between: &str| exchanged("st.global", between, "ld.global").replace("33", "1");
    is_exact(&body("bar.warp.sync -1;"), (1, 64));
    races(&body(""), (1, 64));
}

#[test]
fn a_barrier_for_some_threads_leaves_it_open() {
    let body = "setp.lt.u32 %p1, %r0, 64; @!%p1 bra E; st.global.u32 [%d1], 77; bar.sync 1, 64; xor.b32 %r2, %r0, 33; \
         mad.wide.u32 %d2, %r2, 4, %d0; ld.global.u32 %r3, [%d2];\nE: mov.u32 %r5, 0;";
    is_open(body, (1, 96), "barriers for some threads");
    is_exact(body, (1, 64));
    races(&body.replace("bar.sync 1, 64;", ""), (1, 96));
}

#[test]
fn many_readers_are_all_remembered() {
    // All threads read the word; the last warp passes barriers of its own before it writes.
    let body = |write: &str| {
        format!(
            "ld.global.u32 %r2, [%d0]; setp.ge.u32 %p1, %r0, 64; @%p1 bra L; bra E;\n\
             L: bar.warp.sync -1; bar.warp.sync -1; setp.eq.u32 %p2, %r0, 64; {write}\nE: mov.u32 %r5, 0;"
        )
    };
    races(&body("@%p2 st.global.u32 [%d0], 9;"), (1, 96));
    is_exact(&body("@%p2 st.global.u32 [%d0], 0;"), (1, 96));
    is_exact(&body("@%p2 st.global.u32 [%d0], 9;").replace("setp.ge", "bar.sync 0; setp.ge"), (1, 96));
}

#[test]
fn atomic_operations_do_not_race_with_each_other() {
    is_exact("red.global.add.u32 [%d0], %r0;", (4, 64));
    is_open("red.global.add.u32 [%d0], %r0; ld.global.u32 %r2, [%d0];", (1, 64), "loads of the same bytes");
    is_open("ld.global.u32 %r2, [%d0]; red.global.add.u32 [%d0], %r0;", (1, 64), "loads of the same bytes");
    races("red.global.add.u32 [%d0], %r0; st.global.u32 [%d0], %r0;", (1, 64));
    is_open("atom.global.exch.b32 %r2, [%d0], %r0;", (1, 64), "do not commute");
    is_open(
        "setp.eq.u32 %p1, %r1, 0; @%p1 red.global.add.u32 [%d0], 1; @!%p1 red.global.max.u32 [%d0], 9;",
        (2, 1),
        "do not commute",
    );
    is_open("atom.global.add.u32 %r2, [%d0], 1; st.global.u32 [%d1+4096], %r2;", (1, 2), "old value");
    is_open(
        "mad.wide.u32 %d1, %r1, 4, %d1; atom.global.add.u32 %r2, [%d0], 1; st.global.u32 [%d1+4096], %r2;",
        (2, 1),
        "old value",
    );
}

#[test]
fn flags_and_fences_leave_it_open() {
    // Block 0 stores a word and raises a flag; block 1 waits for the flag and loads the word.
    let body = |store: &str, load: &str, fence: &str| {
        format!(
            "setp.eq.u32 %p1, %r1, 1; @%p1 bra W; st.global.u32 [%d0+4], 77; {fence} {store}.u32 [%d0], 1; bra E;\n\
             W: {load}.u32 %r2, [%d0]; setp.ne.u32 %p2, %r2, 1; @%p2 bra W; {fence} ld.global.u32 %r3, [%d0+4];\nE: mov.u32 %r5, 0;"
        )
    };
    let fences = "fences, or barriers for some threads only";
    is_open(&body("st.volatile.global", "ld.volatile.global", "membar.gl;"), (2, 1), fences);
    is_open(&body("st.release.gpu.global", "ld.acquire.gpu.global", ""), (2, 1), fences);
    races(&body("st.volatile.global", "ld.volatile.global", ""), (2, 1));
    races(&body("st.global", "ld.global", ""), (2, 1));
    let flag = "setp.eq.u32 %p1, %r1, 1; @%p1 bra W; st.volatile.global.u32 [%d0], 1; bra E;\n\
         W: ld.volatile.global.u32 %r2, [%d0]; setp.ne.u32 %p2, %r2, 1; @%p2 bra W;\nE: mov.u32 %r5, 0;";
    is_open(flag, (2, 1), "volatile");
}

/// Threads that count in a word behind a lock: how they take it, what they do then, and how they give it back.
const LOCK: &str = "ld.global.u32 %r3, [%d0+4]; add.u32 %r3, %r3, 1; st.global.u32 [%d0+4], %r3;";

fn locked(take: &str, work: &str, free: &str) -> String {
    format!("L: {take} setp.ne.u32 %p1, %r2, 0; @%p1 bra L; {work} {free}")
}

const FENCES: &str = "fences, or barriers for some threads only";

#[test]
fn a_lock_taken_with_acquire_and_freed_with_release_leaves_it_open() {
    let body = |order: [&str; 2]| {
        let [acquire, release] = order;
        let take = format!("atom{acquire}.global.cas.b32 %r2, [%d0], 0, 1;");
        locked(&take, LOCK, &format!("atom{release}.global.exch.b32 %r4, [%d0], 0;"))
    };
    for blocks in 2..5 {
        is_open(&body([".acquire.gpu", ".release.gpu"]), (blocks, 1), FENCES);
        races(&body([".relaxed.gpu", ".relaxed.gpu"]), (blocks, 1));
    }
}

#[test]
fn a_lock_with_fences_leaves_it_open() {
    let take = |fence: &str| format!("atom.global.cas.b32 %r2, [%d0], 0, 1; {fence}");
    let free = |fence: &str| format!("{fence} atom.global.exch.b32 %r2, [%d0], 0;");
    for blocks in 2..5 {
        is_open(&locked(&take("membar.gl;"), LOCK, &free("membar.gl;")), (blocks, 1), FENCES);
        races(&locked(&take(""), LOCK, &free("")), (blocks, 1));
    }
    // One thread in each warp of a block.
    let warps = |fence: &str| {
        let body = locked(&take(fence), LOCK, &free(fence));
        format!("and.b32 %r5, %r0, 31; setp.ne.u32 %p2, %r5, 0; @%p2 bra E; {body}\nE: mov.u32 %r5, 0;")
    };
    is_open(&warps("membar.cta;"), (1, 96), FENCES);
    is_open(&warps("membar.gl;"), (3, 96), FENCES);
    races(&warps(""), (1, 96));
}

#[test]
fn a_lock_freed_by_a_store_leaves_it_open() {
    let body = |acquire: &str, free: &str| {
        let take = format!("atom{acquire}.global.cas.b32 %r2, [%d0], 0, 1;");
        locked(&take, LOCK, &format!("{free}.global.u32 [%d0], 0;"))
    };
    is_open(&body(".acquire.gpu", "st.release.gpu"), (4, 1), FENCES);
    races(&body(".relaxed.gpu", "st.relaxed.gpu"), (4, 1));
}

#[test]
fn whoever_holds_a_lock_may_store_and_load_again() {
    let work = format!("{LOCK} {LOCK} st.global.u32 [%d0+8], %r1; st.global.u32 [%d0+8], %r3; {LOCK}");
    let body = |fence: &str| {
        let take = format!("atom.global.cas.b32 %r2, [%d0], 0, 1; {fence}");
        locked(&take, &work, &format!("{fence} atom.global.exch.b32 %r2, [%d0], 0;"))
    };
    is_open(&body("fence.acq_rel.gpu;"), (4, 1), FENCES);
    races(&body(""), (4, 1));
}

#[test]
fn who_reads_after_a_barrier_for_some_threads_may_write() {
    // Warp 0 reads, and meets warp 1 at a barrier, which then reads and writes.
    let body = |barrier: &str| {
        format!(
            "setp.ge.u32 %p1, %r0, 32; setp.ge.u32 %p2, %r0, 64; @%p2 bra E; @%p1 bra W; ld.global.u32 %r2, [%d0];\n\
             W: {barrier} @!%p1 bra E; setp.ne.u32 %p1, %r0, 32; @%p1 bra E; ld.global.u32 %r2, [%d0]; \
             st.global.u32 [%d0], 9;\nE: mov.u32 %r5, 0;"
        )
    };
    is_open(&body("bar.sync 1, 64;"), (1, 96), FENCES);
    races(&body(""), (1, 96));
}

#[test]
fn a_weak_read_of_its_own_makes_the_reads_of_others_no_weaker() {
    let body = |first: &str| {
        format!(
            "setp.eq.u32 %p1, %r1, 1; @%p1 bra W; {first}.global.u32 %r2, [%d0]; bra E;\n\
             W: ld.global.u32 %r2, [%d0]; st.relaxed.gpu.global.u32 [%d0], 9;\nE: mov.u32 %r5, 0;"
        )
    };
    is_open(&body("ld.relaxed.gpu"), (2, 1), "volatile, relaxed");
    races(&body("ld"), (2, 1));
}

#[test]
fn a_fence_before_all_accesses_orders_nothing() {
    races(&format!("membar.gl; bar.sync 0; {COUNT}"), (1, 256));
    races(&format!("{COUNT} membar.gl;"), (2, 1));
}

#[test]
fn a_fence_orders_nothing_that_comes_before_it() {
    races(
        "setp.eq.u32 %p1, %r1, 1; @%p1 bra W; st.global.u32 [%d0], 9; membar.gl; bra E;\n\
         W: ld.global.u32 %r2, [%d0]; membar.gl;\nE: mov.u32 %r5, 0;",
        (2, 1),
    );
}

#[test]
fn a_fence_of_one_thread_counts_for_those_it_meets_at_a_barrier() {
    // The pattern of a grid that reduces: the last block, by a counter, reads what all have stored.
    let body = "mad.lo.u32 %r2, %r1, 64, %r0; mad.wide.u32 %d2, %r2, 4, %d0; st.global.u32 [%d2+1024], %r0; membar.gl;\n\
         .shared .u32 last; bar.sync 0; setp.eq.u32 %p1, %r0, 0; @!%p1 bra L; atom.global.add.u32 %r3, [%d0], 1;\n\
         st.shared.u32 [last], %r3; membar.gl;\nL: bar.sync 0; ld.shared.u32 %r4, [last]; setp.eq.u32 %p2, %r4, 1;\n\
         @!%p2 bra E; ld.global.u32 %r5, [%d1+1024]; ld.global.u32 %r6, [%d1+1280]; st.global.u32 [%d1+8192], %r6;\nE: mov.u32 %r7, 0;";
    is_open(body, (2, 64), "fences");
    races(&body.replace("membar.gl;", ""), (2, 64));
}

#[test]
fn shared_memory_is_looked_at_in_the_same_way() {
    // All store; those of the second half load what those of the first half stored.
    let body = |between: &str| {
        format!(
            ".shared .align 4 .b8 s[512]; mov.u32 %r2, s; mad.lo.u32 %r3, %r0, 4, %r2; st.shared.u32 [%r3], %r0; {between}\n\
             setp.lt.u32 %p1, %r0, 64; @%p1 bra E; ld.shared.u32 %r5, [%r3+-256];\nE: mov.u32 %r6, 0;"
        )
    };
    is_exact(&body("bar.sync 0;"), (2, 128));
    is_open(&body("membar.cta;"), (1, 128), "fences");
    let outcome = launched(&body("bar.warp.sync -1;"), (1, 128), RaceCheck::All);
    let fault = outcome.faults.into_iter().next().expect("it has a race");
    assert_eq!(fault.kind, FaultKind::Race(Other::Thread([0, 0, 0], [0, 0, 0])));
    assert_eq!(fault.spot.map(|spot| spot.owner), Some(Owner::Shared("s".to_owned())));
}

#[test]
fn the_variables_of_the_module_are_looked_at_too() {
    let text = |store: &str| {
        format!("{HEAD}.global .u32 g[4];\n.entry k(.param .u64 out) {{\n{DECLARATIONS}{store}\nret; }}\n")
    };
    let outcome = launched_text(&text("st.global.u32 [g+8], %r0;"), (1, 2), RaceCheck::All);
    assert!(
        outcome.end.to_string().starts_with("race at offset 8 of variable `g` (16 bytes) with "),
        "{}",
        outcome.end
    );
    assert!(launched_text(&text("st.global.u32 [g+8], 3;"), (1, 2), RaceCheck::All).is_exact());
}
