//! Whole functions, block by block: what must be proved, and mutants of it that must not be.
//!
//! Mutants are one token away from a kernel: another constant, register, opcode, label or guard, a statement less, two
//! statements in the other order. Which ones are wrong is found out by running them; some that no run can tell are
//! wrong by construction.

use ptxopt_grammar::function::functions;
use ptxopt_grammar::meaning::disputed::Semantics;
use ptxopt_grammar::tree::{Module, NodeKind, StmtId, StmtKind};
use ptxopt_machine::{Argument, Launch, Machine};
use ptxopt_prover::around;
use ptxopt_prover::blocks::{Outcome, compare};

const HEAD: &str = ".version 8.0\n.target sm_90\n.address_size 64\n";

/// A kernel: its name, and a body with `OLD` statements that may become `NEW`.
struct Case {
    name: &'static str,
    text: &'static str,
    old: &'static str,
    new: &'static str,
}

/// What is around each body: parameters, and registers that hold the thread, its place in memory and its input.
pub(crate) fn kernel(body: &str) -> String {
    format!(
        "{HEAD}.visible .entry k(.param .u64 out, .param .u32 n)\n{{\n\
         .reg .b32 %r<16>;\n.reg .b64 %d<4>;\n.reg .pred %p<4>;\n.shared .align 4 .b8 tile[512];\n\
         ld.param.u64 %d1, [out];\nld.param.u32 %r1, [n];\nmov.u32 %r2, %tid.x;\n\
         mad.wide.u32 %d2, %r2, 4, %d1;\nld.global.u32 %r3, [%d2];\n{body}\nret;\n}}\n"
    )
}

const CASES: &[Case] = &[
    Case {
        name: "a loop",
        text: "mov.u32 %r4, 0;\nmov.u32 %r5, 1;\nloop:\nOLD\nadd.u32 %r5, %r5, %r6;\nadd.u32 %r4, %r4, 1;\n\
               setp.lt.u32 %p1, %r4, %r1;\n@%p1 bra loop;\nst.global.u32 [%d2], %r5;",
        old: "mul.lo.u32 %r6, %r5, 8;\nadd.u32 %r6, %r6, %r3;",
        new: "mad.lo.u32 %r6, %r5, 8, %r3;",
    },
    Case {
        name: "the values of a loop differ in bits that nothing reads",
        text: "mov.u32 %r4, 0;\nmov.u32 %r5, 1;\nloop:\nOLD\nadd.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, %r1;\n\
               @%p1 bra loop;\nst.global.u8 [%d2], %r5;",
        old: "add.u32 %r5, %r5, %r3;\nand.b32 %r5, %r5, 255;",
        new: "add.u32 %r5, %r5, %r3;",
    },
    Case {
        name: "two arms",
        text: "setp.gt.s32 %p1, %r3, 7;\n@%p1 bra big;\nOLD\nbra done;\nbig:\nsub.u32 %r5, %r3, %r1;\ndone:\n\
               st.global.u32 [%d2], %r5;",
        old: "add.u32 %r5, %r3, %r3;",
        new: "shl.b32 %r5, %r3, 1;",
    },
    Case {
        name: "a branch that chooses",
        text: "mov.u32 %r5, %r3;\nsetp.gt.s32 %p1, %r3, 7;\nOLD\nst.global.u32 [%d2], %r5;",
        old: "@%p1 bra big;\nadd.u32 %r5, %r3, %r1;\nbig:",
        new: "add.u32 %r6, %r3, %r1;\nselp.b32 %r5, %r5, %r6, %p1;",
    },
    Case {
        name: "branches that choose one of three in a loop",
        text: "mov.u32 %r4, 0;\nmov.u32 %r5, 1;\nloop:\nsetp.gt.s32 %p1, %r5, 7;\nsetp.eq.u32 %p2, %r4, 2;\nOLD\n\
               add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p3, %r4, %r1;\n@%p3 bra loop;\nst.global.u32 [%d2], %r5;",
        old: "@!%p1 bra small;\n@%p2 bra both;\nadd.u32 %r5, %r5, %r3;\nbra done;\nsmall:\nsub.u32 %r5, %r5, 3;\n\
              bra done;\nboth:\nshl.b32 %r6, %r5, 2;\nadd.u32 %r5, %r6, 1;\ndone:",
        new: "mad.lo.u32 %r6, %r5, 4, 1;\nadd.u32 %r7, %r5, %r3;\nselp.b32 %r6, %r6, %r7, %p2;\n\
              sub.u32 %r7, %r5, 3;\nselp.b32 %r5, %r6, %r7, %p1;",
    },
    Case {
        name: "one way on which two conditions hold",
        text: "mov.u32 %r5, %r3;\nsetp.gt.s32 %p1, %r3, 7;\nsetp.lt.u32 %p2, %r2, %r1;\nOLD\nst.global.u32 [%d2], %r5;",
        old: "@!%p1 bra done;\nadd.u32 %r6, %r3, 1;\n@!%p2 bra done;\nshl.b32 %r5, %r6, 1;\ndone:",
        new: "and.pred %p3, %p1, %p2;\nmad.lo.u32 %r6, %r3, 2, 2;\nselp.b32 %r5, %r6, %r5, %p3;",
    },
    Case {
        name: "what was computed before a branch",
        text: "and.b32 %r4, %r3, 255;\nshl.b32 %r5, %r4, 8;\nsetp.gt.u32 %p1, %r2, 7;\n@%p1 bra done;\nOLD\n\
               st.global.u32 [%d2], %r6;\ndone:",
        old: "shr.u32 %r6, %r5, 8;",
        new: "mov.b32 %r6, %r4;",
    },
    Case {
        name: "a counter stays small",
        text: "mov.u32 %r4, 0;\nmov.u32 %r5, %r3;\nloop:\nOLD\nadd.u32 %r5, %r5, %r6;\nadd.u32 %r4, %r4, 1;\n\
               setp.lt.u32 %p1, %r4, 16;\n@%p1 bra loop;\nst.global.u32 [%d2], %r5;",
        old: "and.b32 %r6, %r4, 255;",
        new: "mov.b32 %r6, %r4;",
    },
    Case {
        name: "a barrier",
        text: "shl.b32 %r4, %r2, 2;\nmov.u32 %r5, tile;\nadd.u32 %r5, %r5, %r4;\nOLD\nst.shared.u32 [%r5], %r6;\n\
               bar.sync 0;\nxor.b32 %r4, %r4, 4;\nmov.u32 %r7, tile;\nadd.u32 %r7, %r7, %r4;\n\
               ld.shared.u32 %r8, [%r7];\nst.global.u32 [%d2], %r8;",
        old: "add.u32 %r6, %r3, %r3;",
        new: "shl.b32 %r6, %r3, 1;",
    },
    Case {
        name: "early exits and guards",
        text: "setp.ge.u32 %p1, %r2, %r1;\n@%p1 ret;\nmov.u32 %r5, 0;\nsetp.gt.s32 %p2, %r3, 0;\nOLD\n\
               @!%p2 sub.u32 %r5, %r3, 5;\nst.global.u32 [%d2], %r5;\n@%p2 exit;\nst.global.u32 [%d2], %r1;",
        old: "@%p2 mul.lo.u32 %r5, %r3, 4;",
        new: "@%p2 shl.b32 %r5, %r3, 2;",
    },
    Case {
        name: "a table of labels",
        text: "ts: .branchtargets one, two, three;\nrem.u32 %r4, %r2, 3;\nmov.u32 %r5, 9;\nbrx.idx %r4, ts;\none:\n\
               OLD\nbra done;\ntwo:\nadd.u32 %r5, %r5, %r1;\nthree:\nadd.u32 %r5, %r5, 3;\ndone:\n\
               st.global.u32 [%d2], %r5;",
        old: "add.u32 %r5, %r3, %r3;",
        new: "shl.b32 %r5, %r3, 1;",
    },
    Case {
        name: "what reads memory and floating point",
        text: "mov.u32 %r4, 0;\nloop:\nOLD\ncvt.rn.f32.u32 %r6, %r5;\nmul.f32 %r6, %r6, %r6;\n\
               cvt.rzi.u32.f32 %r7, %r6;\nst.global.u32 [%d2], %r7;\nld.global.u32 %r3, [%d2];\n\
               add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, %r1;\n@%p1 bra loop;",
        old: "and.b32 %r5, %r3, 0xff;",
        new: "bfe.u32 %r5, %r3, 0, 8;",
    },
];

impl Case {
    fn texts(&self) -> [String; 2] {
        [self.old, self.new].map(|part| kernel(&self.text.replace("OLD", part)))
    }
}

/// What stopped the proof; `None` if there is one.
fn stopped(old: &Module<'_>, new: &Module<'_>) -> Option<String> {
    let pair = (&functions(old)[0], &functions(new)[0]);
    if let Some(difference) = around::difference((old, pair.0), (new, pair.1)) {
        return Some(difference);
    }
    match compare((old, pair.0), (new, pair.1), Semantics::Undisputed) {
        Outcome::Proved(_) => None,
        Outcome::Disputed { .. } => Some("disputed".to_owned()),
        Outcome::Stopped(why) => Some(why),
    }
}

pub(crate) fn stopped_texts(old: &str, new: &str) -> Option<String> {
    let parse = |text: &'static str| ptxopt_grammar::parse(text.as_bytes()).expect("the text is legal");
    stopped(&parse(leaked(old)), &parse(leaked(new)))
}

fn leaked(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

#[test]
fn an_instruction_with_two_meanings_does_the_same_for_the_same_operands() {
    let text = |old: &str| {
        kernel(&format!(
            "{old}\nmov.u32 %r4, 0;\nloop:\nvadd.u32.u32.u32.sat %r4, %r4, %r5;\nsetp.lt.u32 %p1, %r4, %r1;\n\
             @%p1 bra loop;\nst.global.u32 [%d2], %r4;"
        ))
    };
    let old = text("and.b32 %r5, %r3, 0xff;");
    assert_eq!(stopped_texts(&old, &text("bfe.u32 %r5, %r3, 0, 8;")), None);
    assert_eq!(stopped_texts(&old, &text("bfe.u32 %r5, %r3, 0, 9;")).as_deref(), Some("disputed"));
}

#[test]
fn what_depends_on_one_of_two_meanings_is_not_proved() {
    let text =
        |operands: &str| kernel(&format!("vadd.u32.u32.u32.sat %r4, {operands};\nst.global.u32 [%d2], %r4;"));
    let stopped = |new: &str| stopped_texts(&text("%r3, %r1"), &text(new));
    assert_eq!(stopped("%r3, %r1"), None);
    for other in ["%r1, %r3", "%r3, %r2", "%r3.b0, %r1"] {
        assert_eq!(stopped(other).as_deref(), Some("disputed"), "{other}");
    }
    let agreed = text("%r3, %r1").replace(".sat", "");
    assert_eq!(stopped_texts(&text("%r3, %r1"), &agreed).as_deref(), Some("disputed"));
}

#[test]
fn blocks_that_are_equal_are_proved() {
    for case in CASES {
        let [old, new] = case.texts();
        assert_eq!(stopped_texts(&old, &new), None, "{}", case.name);
        assert_eq!(stopped_texts(&old, &old), None, "{}: the same", case.name);
    }
}

/// What a kernel leaves in memory for a few inputs; `None` where a run is not exact.
fn runs(module: &Module<'_>) -> Option<Vec<Vec<u8>>> {
    let machine = Machine::new(module);
    let mut left = Vec::new();
    for n in [0, 1, 2, 5, 17] {
        let mut memory = machine.memory();
        let words = (0..32_u32).map(|at| match at % 4 {
            0 => at,
            1 => at.wrapping_mul(0x9e37_79b9),
            2 => 0x8000_0000 | at << 8,
            _ => 0u32.wrapping_sub(at),
        });
        let out = memory.allocate(words.flat_map(u32::to_le_bytes).collect());
        let launch = Launch { block: [32, 1, 1], budget: 100_000, ..Launch::of("k") };
        let outcome = machine.launch(&launch, &[Argument::Buffer(out), Argument::Number(n)], &mut memory);
        if !outcome.is_exact() {
            return None;
        }
        left.push(memory.bytes(out).to_vec());
    }
    Some(left)
}

/// Texts that differ from one by a token, a statement, or the order of two.
fn mutants(text: &str) -> Vec<String> {
    let module = ptxopt_grammar::parse(text.as_bytes()).expect("the text is legal");
    let mut all = Vec::new();
    let mut replace = |span: std::ops::Range<usize>, with: &str| {
        all.push([&text[..span.start], with, &text[span.end..]].concat());
    };
    let body: Vec<StmtId> =
        module.stmts().filter(|&stmt| module.kind(stmt) == StmtKind::Instruction).collect();
    for (at, &stmt) in body.iter().enumerate() {
        replace(module.stmt_span(stmt), "");
        if let Some(&next) = body.get(at + 1) {
            let (this, other) = (module.stmt_span(stmt), module.stmt_span(next));
            if text[this.end..other.start].trim().is_empty() {
                let swapped = format!("{}\n{}", &text[other.clone()], &text[this.clone()]);
                replace(this.start..other.end, &swapped);
            }
        }
        for node in module.stmt_nodes(stmt) {
            let span = module.node_span(node);
            match (module.node_kind(node), &text[span.clone()]) {
                (NodeKind::Int, number) => {
                    let value: i64 = number.trim_start_matches("0x").parse().unwrap_or(0);
                    replace(span.clone(), &(value + 1).to_string());
                    replace(span, &(value ^ 4).to_string());
                }
                (NodeKind::Guard, guard) => replace(span.clone(), &guard.replace('@', "@!")),
                (NodeKind::GuardNot, guard) => replace(span.clone(), &guard.replace('!', "")),
                (NodeKind::Name, name) if name.starts_with("%r") => {
                    for other in ["%r1", "%r3", "%r4", "%r5", "%r6"] {
                        replace(span.clone(), other);
                    }
                }
                (NodeKind::Name, name) if ["one", "two", "three", "done", "loop", "big"].contains(&name) => {
                    for other in ["one", "two", "three", "done", "loop", "big"] {
                        replace(span.clone(), other);
                    }
                }
                (NodeKind::Name, "%p1") => replace(span, "%p2"),
                (NodeKind::Name, "%d2") => replace(span, "%d1"),
                _ => {}
            }
        }
        for (one, other) in
            [("lt.", "le."), ("gt.", "ge."), ("add.", "sub."), ("mul.lo", "add"), ("u32", "s32")]
        {
            let span = module.stmt_span(stmt);
            if text[span.clone()].contains(one) {
                replace(span.clone(), &text[span].replacen(one, other, 1));
            }
        }
    }
    all
}

#[test]
fn no_wrong_kernel_is_proved() {
    let (mut all, mut wrong, mut harmless) = (0, 0, 0);
    for case in CASES {
        let [old, new] = case.texts();
        let old = ptxopt_grammar::parse(old.as_bytes()).expect("the text is legal");
        let expected = runs(&old).expect("the kernel runs");
        for mutant in mutants(&new) {
            let Ok(module) = ptxopt_grammar::parse(mutant.as_bytes()) else { continue };
            if mutant == new {
                continue;
            }
            all += 1;
            let differs = runs(&module).is_none_or(|left| left != expected);
            let proved = stopped(&old, &module).is_none();
            // A run that is not exact shows nothing.
            let told = differs && runs(&module).is_some();
            wrong += usize::from(told);
            if proved {
                harmless += 1;
                let other = new.lines().zip(mutant.lines()).find(|(one, other)| one != other);
                println!("{}: proved: {other:?}", case.name);
            }
            assert!(!(told && proved), "{}: proved, and wrong:\n{mutant}", case.name);
        }
    }
    println!("{all} mutants, {wrong} of them wrong by a run; {harmless} proved");
    assert!(wrong > 300, "{wrong} of {all}");
    assert!(harmless > 0, "none is proved, the dead statements among them");
}

/// Pairs whose difference no run of one warp shows: the first replacement must be refused.
const CONSTRUCTED: [(&str, &str, &str, &str); 14] = [
    (
        "a register that may be unwritten is compared with itself",
        "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra join;\nmov.b32 %r4, 5;\njoin:",
        "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra join;\nmov.b32 %r4, 5;\njoin: setp.ne.u32 %p2, %r4, %r4;\n\
         @%p2 mov.b32 %r3, 99;",
        "st.global.u32 [%d2], %r3;",
    ),
    (
        "a register that may be unwritten is subtracted from itself",
        "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra join;\nmov.b32 %r4, 5;\njoin: mov.b32 %r5, 0;",
        "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra join;\nmov.b32 %r4, 5;\njoin: sub.u32 %r5, %r4, %r4;",
        "st.global.u32 [%d2], %r5;",
    ),
    (
        "a store over a barrier",
        "st.global.u32 [%d2], %r3;\nbar.sync 0;",
        "bar.sync 0;\nst.global.u32 [%d2], %r3;",
        "",
    ),
    (
        "a load over a barrier",
        "ld.global.u32 %r4, [%d2];\nbar.sync 0;",
        "bar.sync 0;\nld.global.u32 %r4, [%d2];",
        "st.global.u32 [%d2], %r4;",
    ),
    ("a barrier less", "bar.sync 0;", "", ""),
    ("a fence less", "membar.gl;", "", ""),
    ("a weaker fence", "membar.sys;", "membar.gl;", ""),
    (
        "a cache operator",
        "ld.global.u32 %r4, [%d2];",
        "ld.global.nc.u32 %r4, [%d2];",
        "st.global.u32 [%d2], %r4;",
    ),
    (
        "a volatile load",
        "ld.volatile.global.u32 %r4, [%d2];",
        "ld.global.u32 %r4, [%d2];",
        "st.global.u32 [%d2], %r4;",
    ),
    (
        "a scope",
        "atom.relaxed.gpu.global.add.u32 %r4, [%d2], 1;",
        "atom.relaxed.cta.global.add.u32 %r4, [%d2], 1;",
        "",
    ),
    (
        "a load more",
        "ld.global.u32 %r4, [%d2];\nmov.b32 %r5, %r4;",
        "ld.global.u32 %r4, [%d2];\nld.global.u32 %r5, [%d2];",
        "st.global.v2.u32 [%d1], {%r4, %r5};",
    ),
    (
        "a register that was not written, read twice",
        "mov.b32 %r5, %r9;\nmov.b32 %r6, %r5;",
        "mov.b32 %r5, %r9;\nmov.b32 %r6, %r9;",
        "sub.u32 %r7, %r5, %r6;\nst.global.u32 [%d2], %r7;",
    ),
    (
        "a register that was not written, minus itself",
        "sub.u32 %r5, %r9, %r9;",
        "mov.b32 %r5, 0;",
        "st.global.u32 [%d2], %r5;",
    ),
    (
        "written under a guard, read without",
        "setp.eq.u32 %p1, %r1, 3;\n@%p1 mov.u32 %r9, 5;",
        "setp.eq.u32 %p1, %r1, 3;\nmov.u32 %r9, 5;",
        "sub.u32 %r5, %r9, %r9;\nst.global.u32 [%d2], %r5;",
    ),
];

#[test]
fn what_no_run_can_tell_is_not_proved_either() {
    for (what, old, new, rest) in CONSTRUCTED {
        let [old, new] = [old, new].map(|part| kernel(&format!("{part}\n{rest}")));
        assert_eq!(stopped_texts(&old, &old), None, "{what}: the same");
        assert!(stopped_texts(&old, &new).is_some(), "{what}");
    }
}

/// Functions with registers as parameters, calls, and a body that begins with the head of a loop.
const FUNCTIONS: [(&str, &str, &str, bool); 8] = [
    (
        "the entry is the head of a loop",
        ".func (.reg .b32 %o) f(.reg .b32 %a, .reg .b32 %n)\n{\n.reg .b32 %t;\n.reg .pred %p;\n\
      loop: bfe.u32 %t, %a, 0, 8;\nadd.u32 %a, %t, 300;\nsub.u32 %n, %n, 1;\nsetp.ne.u32 %p, %n, 0;\n\
      @%p bra loop;\nmov.b32 %o, %a;\nret;\n}\n",
        ".func (.reg .b32 %o) f(.reg .b32 %a, .reg .b32 %n)\n{\n.reg .b32 %t;\n.reg .pred %p;\n\
      loop: and.b32 %t, %a, 255;\nadd.u32 %a, %t, 300;\nsub.u32 %n, %n, 1;\nsetp.ne.u32 %p, %n, 0;\n\
      @%p bra loop;\nmov.b32 %o, %a;\nret;\n}\n",
        true,
    ),
    (
        "what holds from the second time on does not hold the first time",
        ".func (.reg .b32 %o) f(.reg .b32 %a, .reg .b32 %n)\n{\n.reg .b32 %t;\n.reg .pred %p;\n\
      loop: bfe.u32 %t, %a, 0, 8;\nand.b32 %a, %t, 127;\nsub.u32 %n, %n, 1;\nsetp.ne.u32 %p, %n, 0;\n\
      @%p bra loop;\nmov.b32 %o, %t;\nret;\n}\n",
        ".func (.reg .b32 %o) f(.reg .b32 %a, .reg .b32 %n)\n{\n.reg .b32 %t;\n.reg .pred %p;\n\
      loop: mov.b32 %t, %a;\nand.b32 %a, %t, 127;\nsub.u32 %n, %n, 1;\nsetp.ne.u32 %p, %n, 0;\n\
      @%p bra loop;\nmov.b32 %o, %t;\nret;\n}\n",
        false,
    ),
    (
        "an argument of a call",
        ".func (.reg .b32 %o) g(.reg .b32 %i);\n.func (.reg .b32 %o) f(.reg .b32 %a)\n{\n.reg .b32 %t, %u;\n\
      add.u32 %t, %a, %a;\ncall (%u), g, (%t);\nadd.u32 %o, %u, 1;\nret;\n}\n",
        ".func (.reg .b32 %o) g(.reg .b32 %i);\n.func (.reg .b32 %o) f(.reg .b32 %a)\n{\n.reg .b32 %t, %u;\n\
      shl.b32 %t, %a, 1;\ncall (%u), g, (%t);\nadd.u32 %o, %u, 1;\nret;\n}\n",
        true,
    ),
    (
        "another argument of a call",
        ".func (.reg .b32 %o) g(.reg .b32 %i);\n.func (.reg .b32 %o) f(.reg .b32 %a)\n{\n.reg .b32 %t, %u;\n\
      add.u32 %t, %a, %a;\ncall (%u), g, (%t);\nadd.u32 %o, %u, 1;\nret;\n}\n",
        ".func (.reg .b32 %o) g(.reg .b32 %i);\n.func (.reg .b32 %o) f(.reg .b32 %a)\n{\n.reg .b32 %t, %u;\n\
      add.u32 %t, %a, 1;\ncall (%u), g, (%t);\nadd.u32 %o, %u, 1;\nret;\n}\n",
        false,
    ),
    (
        "a call less",
        ".func (.reg .b32 %o) g(.reg .b32 %i);\n.func (.reg .b32 %o) f(.reg .b32 %a)\n{\n.reg .b32 %t, %u;\n\
      call (%t), g, (%a);\ncall (%u), g, (%a);\nadd.u32 %o, %t, %u;\nret;\n}\n",
        ".func (.reg .b32 %o) g(.reg .b32 %i);\n.func (.reg .b32 %o) f(.reg .b32 %a)\n{\n.reg .b32 %t, %u;\n\
      call (%t), g, (%a);\nadd.u32 %o, %t, %t;\nret;\n}\n",
        false,
    ),
    (
        "over the end of the body",
        ".func (.reg .b32 %o) f(.reg .b32 %a)\n{\n.reg .pred %p;\nsetp.eq.u32 %p, %a, 0;\n\
      @%p bra end;\nadd.u32 %o, %a, %a;\nret;\nend: mov.b32 %o, 7;\n}\n",
        ".func (.reg .b32 %o) f(.reg .b32 %a)\n{\n.reg .pred %p;\nsetp.eq.u32 %p, %a, 0;\n\
      @%p bra end;\nshl.b32 %o, %a, 1;\nret;\nend: mov.b32 %o, 7;\n}\n",
        true,
    ),
    (
        "over the end of the body, with another result",
        ".func (.reg .b32 %o) f(.reg .b32 %a)\n{\n.reg .pred %p;\nsetp.eq.u32 %p, %a, 0;\n\
      @%p bra end;\nadd.u32 %o, %a, %a;\nret;\nend: mov.b32 %o, 7;\n}\n",
        ".func (.reg .b32 %o) f(.reg .b32 %a)\n{\n.reg .pred %p;\nsetp.eq.u32 %p, %a, 0;\n\
      @%p bra end;\nadd.u32 %o, %a, %a;\nret;\nend: mov.b32 %o, 8;\n}\n",
        false,
    ),
    (
        "an instruction that the table lacks, with another operand",
        ".func f(.reg .b32 %a)\n{\n.reg .b32 %t;\nadd.u32 %t, %a, %a;\nfrobnicate.u32 %t, %t;\n\
      st.global.u32 [%a], %t;\nret;\n}\n",
        ".func f(.reg .b32 %a)\n{\n.reg .b32 %t;\nadd.u32 %t, %a, 1;\nfrobnicate.u32 %t, %t;\n\
      st.global.u32 [%a], %t;\nret;\n}\n",
        false,
    ),
];

#[test]
fn functions_with_registers_as_parameters() {
    for (what, old, new, equal) in FUNCTIONS {
        let [old, new] = [old, new].map(|text| format!("{HEAD}{text}"));
        let why = stopped_texts(&old, &new);
        assert_eq!(why.is_none(), equal, "{what}: {why:?}");
    }
}

/// What surrounds two functions, one difference each, and what is said of it.
#[test]
fn surroundings_that_differ_are_said() {
    let text = |head: &str, linking: &str, launch: &str| {
        format!(
            "{head}.global .b32 w = 1;\n{linking} .entry k(.param .u64 p) {launch}\n{{\n.reg .b64 %d;\n\
             ld.param.u64 %d, [p];\nst.global.u32 [%d], 1;\nret;\n}}\n"
        )
    };
    let plain = text(HEAD, ".visible", ".reqntid 32");
    let other = HEAD.replace("sm_90", "sm_80");
    let older = HEAD.replace("8.0", "5.0");
    for (what, changed) in [
        ("`.target` differs", text(&other, ".visible", ".reqntid 32")),
        ("`.version` differs", text(&older, ".visible", ".reqntid 32")),
        ("what it is declared as differs", text(HEAD, ".weak", ".reqntid 32")),
        ("how it is launched differs", text(HEAD, ".visible", ".reqntid 64")),
        ("how it is launched differs", text(HEAD, ".visible", ".maxntid 32")),
        ("how it is launched differs", text(HEAD, ".visible", "")),
    ] {
        let why = stopped_texts(&plain, &changed).expect("it is not proved");
        assert!(why.contains(what), "{why}");
    }
    let newer = HEAD.replace("8.0", "8.5");
    assert_eq!(stopped_texts(&plain, &text(&newer, ".visible", ".reqntid 32")), None, "a newer version");
    let raised = text(&HEAD.replace("8.0", "8.7").replace("sm_90", "sm_120"), ".visible", ".reqntid 32");
    assert_eq!(stopped_texts(&plain, &raised), None, "a later target");
    let too_far = text(&HEAD.replace("sm_90", "sm_35"), ".visible", ".reqntid 32");
    let shuffled = |text: &str| {
        text.replacen("ret;", "shfl.up.b32 %x, %x, 1, 0;\nret;", 1).replacen(
            ".reg .b64 %d;",
            ".reg .b64 %d;\n.reg .b32 %x;",
            1,
        )
    };
    let why = stopped_texts(&shuffled(&too_far), &shuffled(&raised)).expect("it is not proved");
    assert!(why.contains("`.target` differs"), "{why}");
    assert_eq!(stopped_texts(&too_far, &raised), None, "the same without the shuffle");
}

/// Pairs whose functions have the same text, or nearly, in surroundings that make them differ.
const SURROUNDINGS: [(&str, &str, &str); 4] = [
    (
        "registers that are parameters change places",
        ".func (.reg .b32 r) f(.reg .b32 a, .reg .b32 b)\n{\nsub.u32 r, a, b;\nret;\n}\n",
        ".func (.reg .b32 r) f(.reg .b32 b, .reg .b32 a)\n{\nsub.u32 r, a, b;\nret;\n}\n",
    ),
    (
        "an alias is another function's",
        ".func (.param .b32 r) f();\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 x;\n.reg .b64 d;\n\
         ld.param.u64 d, [p];\n{ .param .b32 q; call (q), f; ld.param.b32 x, [q]; }\nst.global.u32 [d], x;\nret;\n}\n\
         .func (.param .b32 r) g()\n{\nst.param.b32 [r], 1;\nret;\n}\n\
         .func (.param .b32 r) h()\n{\nst.param.b32 [r], 2;\nret;\n}\n.alias f, g;\n",
        ".func (.param .b32 r) f();\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 x;\n.reg .b64 d;\n\
         ld.param.u64 d, [p];\n{ .param .b32 q; call (q), f; ld.param.b32 x, [q]; }\nst.global.u32 [d], x;\nret;\n}\n\
         .func (.param .b32 r) g()\n{\nst.param.b32 [r], 1;\nret;\n}\n\
         .func (.param .b32 r) h()\n{\nst.param.b32 [r], 2;\nret;\n}\n.alias f, h;\n",
    ),
    (
        "a variable of the module has the name of one of the function",
        ".global .align 4 .u32 x = 1;\n.global .align 8 .u64 y = x;\n.visible .entry k(.param .u64 p)\n{\n\
         .reg .b32 r;\n.reg .b64 d, a;\n.shared .align 4 .u32 x;\nld.param.u64 d, [p];\nst.shared.u32 [x], 7;\n\
         ld.global.u64 a, [y];\nld.global.u32 r, [a];\nst.global.u32 [d], r;\nret;\n}\n",
        ".global .align 4 .u32 x = 2;\n.global .align 8 .u64 y = x;\n.visible .entry k(.param .u64 p)\n{\n\
         .reg .b32 r;\n.reg .b64 d, a;\n.shared .align 4 .u32 x;\nld.param.u64 d, [p];\nst.shared.u32 [x], 7;\n\
         ld.global.u64 a, [y];\nld.global.u32 r, [a];\nst.global.u32 [d], r;\nret;\n}\n",
    ),
    (
        "the size of shared memory is read",
        ".shared .b8 pad[1024];\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 r;\n.reg .b64 d;\n\
         ld.param.u64 d, [p];\nmov.u32 r, %total_smem_size;\nst.global.u32 [d], r;\nret;\n}\n",
        ".shared .b8 pad[4096];\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 r;\n.reg .b64 d;\n\
         ld.param.u64 d, [p];\nmov.u32 r, %total_smem_size;\nst.global.u32 [d], r;\nret;\n}\n",
    ),
];

#[test]
fn the_same_text_in_other_surroundings_is_not_proved() {
    for (what, old, new) in SURROUNDINGS {
        let parse = |text: &str| ptxopt_grammar::parse(leaked(&format!("{HEAD}{text}")).as_bytes());
        let [old, new] = [old, new].map(|text| parse(text).unwrap_or_else(|all| panic!("{what}: {all:?}")));
        let proved = |old: &Module<'_>, new: &Module<'_>| {
            let pair = ((old, &functions(old)[0]), (new, &functions(new)[0]));
            around::difference(pair.0, pair.1).is_none() && around::same_text(pair.0, pair.1)
        };
        assert!(proved(&old, &old) && proved(&new, &new), "{what}: the same");
        assert!(!proved(&old, &new), "{what}");
    }
}
