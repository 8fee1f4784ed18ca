//! How fast whole kernels run, one lane wide and many: `cargo bench --bench machine`.
//!
//! Counted are instructions of PTX, in the second row lane by lane. The kernels are loops of the integer and byte
//! work that this tool is about; `memory` is a kernel that mostly loads and stores.

use ptxopt_machine::{Argument, End, Launch, Machine};
use std::fmt::Write as _;
use std::io::Write;
use std::time::Instant;

/// A loop around `body`, 100,000 times round or as often as the argument says.
fn kernel(body: &str) -> String {
    let mut text = String::from(
        ".version 8.0\n.target sm_90\n.address_size 64\n.entry k(.param .u64 out, .param .u32 rounds) {\n\
         .reg .u32 %r<16>; .reg .u64 %d<8>; .reg .pred %p<4>;\n\
         ld.param.u64 %d1, [out]; ld.param.u32 %r1, [rounds]; mov.u32 %r2, %tid.x; mov.u32 %r3, 1;\n\
         mov.u32 %r4, 0x01020304; mov.u32 %r5, 0; mov.u32 %r6, 0; mov.u32 %r7, 0; mov.u32 %r8, 0;\n\
         mad.wide.u32 %d2, %r2, 4, %d1;\nL:\n",
    );
    for _ in 0..4 {
        writeln!(text, "{body}").expect("a string takes everything");
    }
    text.push_str(
        "add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, %r1; @%p1 bra L;\nst.global.u32 [%d2], %r4; ret; }\n",
    );
    text
}

const ARITHMETIC: &str = "add.u32 %r3, %r3, %r4; xor.b32 %r4, %r4, %r3; shl.b32 %r6, %r4, 3; add.u32 %r4, %r4, %r6; \
    shr.u32 %r7, %r3, 5; and.b32 %r7, %r7, 0x7f7f7f7f; sub.u32 %r3, %r3, %r7; or.b32 %r4, %r4, %r2;";
const BYTES: &str = "prmt.b32 %r6, %r3, %r4, 0x5140; lop3.b32 %r7, %r6, %r3, %r4, 0x96; add.u32 %r3, %r7, %r6; \
    bfe.u32 %r8, %r3, 8, 8; min.u32 %r8, %r8, 200; mad.lo.u32 %r4, %r8, %r3, %r4;";
const WIDE: &str = "mad.wide.u32 %d3, %r3, %r4, %d2; shr.u64 %d4, %d3, 7; xor.b64 %d3, %d3, %d4; cvt.u32.u64 %r3, %d3; \
    add.u64 %d3, %d3, 12345; cvt.u32.u64 %r4, %d3;";
const MEMORY: &str =
    "ld.global.u32 %r6, [%d2]; add.u32 %r6, %r6, %r4; st.global.u32 [%d2], %r6; add.u32 %r4, %r6, 1;";
const VIDEO: &str = "vadd4.u32.u32.u32.sat %r4, %r3, %r4, %r2; add.u32 %r3, %r3, %r4;";

fn main() {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{:<12}{:>8}{:>26}{:>26}", "kernel", "threads", "million instructions/s", "lane by lane")
        .expect("there is a reader");
    let kernels =
        [("arithmetic", ARITHMETIC), ("bytes", BYTES), ("wide", WIDE), ("memory", MEMORY), ("video", VIDEO)];
    for (name, body) in kernels {
        let text = kernel(body);
        let module = ptxopt_grammar::parse(text.as_bytes()).expect("the kernel is legal");
        let machine = Machine::new(&module);
        for threads in [1, 32, 256, 1024] {
            let (plain, lanes) = measure(&machine, threads);
            writeln!(out, "{name:<12}{threads:>8}{plain:>26.0}{lanes:>26.0}").expect("there is a reader");
        }
    }
}

/// The best of five runs, in million instructions a second: groups of lanes counted once, and lane by lane.
fn measure(machine: &Machine<'_, '_>, threads: u32) -> (f64, f64) {
    let rounds = if threads == 1 { 200_000 } else { 1 << 20 >> threads.ilog2() };
    let launch = Launch { block: [threads, 1, 1], ..Launch::of("k") };
    let mut best = (0.0, 0.0);
    for _ in 0..5 {
        let mut memory = machine.memory();
        let buffer = memory.allocate(vec![0; 4096]);
        let begin = Instant::now();
        let outcome =
            machine.launch(&launch, &[Argument::Buffer(buffer), Argument::Number(rounds)], &mut memory);
        let micros = begin.elapsed().as_secs_f64() * 1e6;
        assert_eq!(outcome.end, End::Finished, "{}", outcome.end);
        let speed = (outcome.instructions as f64 / micros, outcome.lane_instructions as f64 / micros);
        if speed.1 > best.1 {
            best = speed;
        }
    }
    best
}
