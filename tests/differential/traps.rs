//! Small kernels, each of which a rewrite gets wrong that overlooks one thing.

use crate::differential::{Case, claims_hold, same_memory};
use crate::optimised::{Tally, is_consistent, is_the_same_quietly, optimise, options};
use ptxopt_passes::cost::Gpu;

/// What is easily overlooked, and a body: `%a %b %c %d` hold words of memory, `%p` is one of many threads',
/// `%u` was never written.
const TRAPS: &[(&str, &str)] = &[
    (
        "a guard keeps the old value",
        "mov.u32 %x, %a; @%p mov.u32 %x, 0; vadd4.u32.u32.u32 %y, %x, %b, %a; st.global.u32 [%out], %y; \
         mov.u32 %x, 0; @%p mov.u32 %x, %a; vmax4.u32.u32.u32 %y, %x, %b, %a; st.global.u32 [%out+4], %y;",
    ),
    (
        "a guarded merge keeps all bytes where its guard fails",
        "vadd.u32.u32.u32 %x.b0, %a.b0, %b.b0, %c; @%p vadd.u32.u32.u32 %x.b1, %a.b1, %b.b1, %x; \
         vadd.u32.u32.u32 %x.b2, %a.b2, %b.b2, %x; vadd.u32.u32.u32 %x.b3, %a.b3, %b.b3, %x; \
         st.global.u32 [%out], %x;",
    ),
    (
        "a register is written again between definition and use",
        "mov.u32 %x, %a; mov.u32 %y, %x; mov.u32 %a, %b; prmt.b32 %z, %y, %c, 0x3210; \
         vadd4.u32.u32.u32 %z, %z, %c, %c; st.global.u32 [%out], %z; st.global.u32 [%out+4], %a;",
    ),
    (
        "a definition of the last time round the loop",
        "mov.u32 %n, 0; mov.u32 %z, %c; L: vmin4.u32.u32.u32 %y, %a, %z, %a; mov.u32 %x, %a; add.u32 %a, %a, %b; \
         prmt.b32 %z, %x, %y, 0x3210; vmax4.u32.u32.u32 %z, %z, %a, %a; add.u32 %n, %n, 1; \
         setp.lt.u32 %q, %n, 3; @%q bra L; st.global.u32 [%out], %z;",
    ),
    (
        "a counter that grows in a loop is no constant",
        "mov.u32 %n, 0; mov.u32 %z, 0; L: vadd.u32.u32.u32 %y, %n, %n; vshl.u32.u32.u32.clamp.add %z, %a, %n, %z; \
         vset.u32.u32.lt %x, %n, 1; add.u32 %z, %z, %x; add.u32 %n, %n, 1; setp.lt.u32 %q, %n, 4; @%q bra L; \
         st.global.u32 [%out], %z; st.global.u32 [%out+4], %y;",
    ),
    (
        "the same name is another register in a scope",
        "mov.u32 %x, %a; mov.u32 %y, %x; { .reg .b32 %a, %x; mov.u32 %a, 7; mov.u32 %x, 9; \
         prmt.b32 %z, %y, %b, 0x3210; vadd4.u32.u32.u32 %z, %z, %b, %b; } st.global.u32 [%out], %z;",
    ),
    (
        "two operands excuse each other",
        "vadd4.u32.u32.u32 %x, %a, %b, %c; vadd4.u32.u32.u32 %y, %a, %b, %d; xor.b32 %z, %x, %y; \
         vmin.u32.u32.u32 %z, %z.b0, 255; st.global.u32 [%out], %z; and.b32 %x, %a, 0xff00; and.b32 %y, %a, 0xffff; \
         vadd2.u32.u32.u32 %x, %x, %y, %y; and.b32 %x, %x, 0xff; st.global.u32 [%out+4], %x;",
    ),
    (
        "an undefined register is one value for one read",
        "vavrg4.u32.u32.u32 %x, %u, %a, %a; xor.b32 %y, %x, %x; st.global.u32 [%out], %y; \
         vadd4.u32.u32.u32 %x, %u, %u, %u; mov.u32 %y, %x; sub.u32 %z, %x, %y; st.global.u32 [%out+4], %z; \
         vmax4.s32.s32.s32 %x, %u, %a, %a; vmin4.s32.s32.s32 %y, %x, %x, %x; xor.b32 %z, %y, %x; \
         st.global.u32 [%out+8], %z;",
    ),
    (
        "a mask goes since bits are zero, and they are zero no more since the mask was there",
        "vadd.u32.u32.u32 %x, %a.b1, 0; and.b32 %y, %x, 255; st.global.u32 [%out], %y; \
         vadd.u32.u32.u32 %x, %a.b2, 0; vadd.u32.u32.u32 %y, %x.b0, 0; st.global.u32 [%out+4], %y; \
         bfe.u32 %x, %b, 8, 8; and.b32 %y, %x, 0xff; st.global.u32 [%out+8], %y; \
         prmt.b32 %x, %c, 0, 0x4441; prmt.b32 %y, %x, 0, 0x4440; st.global.u32 [%out+12], %y; \
         vadd4.u32.u32.u32 %x.b0, %a, %b, %a; and.b32 %y, %x, 0xff; st.global.u32 [%out+16], %y; \
         vadd.u32.u32.u32 %x, %b.h1, 0; vadd.u32.u32.u32 %y, %x.h0, 0; st.global.u32 [%out+20], %y; \
         mov.u32 %z, 0; vmax4.u32.u32.u32 %x.b10, %a, %b, %z; prmt.b32 %y, %x, 0, 0x4410; st.global.u32 [%out+24], %y; \
         vset4.u32.u32.lt %x, %a, %b, %z; and.b32 %y, %x, 0x0101; st.global.u32 [%out+28], %y;",
    ),
    (
        "the greater of an undefined register and another is no less than that",
        "vmax4.u32.u32.u32 %x, %u, %a, %a; vset4.u32.u32.ge %y, %x, %a, %a; st.global.u32 [%out], %y; \
         vmin4.s32.s32.s32 %x, %u, %b, %b; vset4.s32.s32.le %y, %x, %b, %b; st.global.u32 [%out+4], %y; \
         vabsdiff4.u32.u32.u32 %x, %u, %c, %c; vmax4.u32.u32.u32 %y, %u, %c, %c; \
         vset2.u32.u32.le %z, %x, %x, %c; st.global.u32 [%out+8], %z;",
    ),
    (
        "a mask of one byte beside another",
        "vadd4.u32.u32.u32 %x, %a, %b, %b; and.b32 %y, %x, 0x0000ff00; st.global.u32 [%out], %y; \
         vsub4.u32.u32.u32 %x.b1, %a, %b, %c; vsub4.u32.u32.u32 %x.b2, %a, %c, %x; and.b32 %y, %x, 0x00ff00ff; \
         st.global.u32 [%out+4], %y; vmax4.u32.u32.u32.add %x, %a, %b, %c; and.b32 %x, %x, 0xff00; \
         st.global.u32 [%out+8], %x;",
    ),
    (
        "a store between merges",
        "vadd.u32.u32.u32 %x.b0, %a.b0, %b.b0, %c; vadd.u32.u32.u32 %x.b1, %a.b1, %b.b1, %x; \
         st.global.u32 [%out], %x; vadd.u32.u32.u32 %x.b2, %a.b2, %b.b2, %x; st.global.u32 [%out+4], %x; \
         vadd.u32.u32.u32 %x.b3, %a.b3, %b.b3, %x; st.global.u32 [%out+8], %x;",
    ),
    (
        "bytes and halves with a sign",
        "ld.global.s8 %x, [%in]; vmax.s32.s32.s32 %y, %x, 0; st.global.u32 [%out], %y; cvt.s32.s8 %x, %b; \
         vmin.s32.s32.s32 %y, %x, 255; st.global.u32 [%out+4], %y; vadd.s32.s32.s32 %x, %a.b3, 0; \
         vset.s32.s32.lt %y, %x, 0; st.global.u32 [%out+8], %y; vadd.u32.s32.u32 %z, %a.h1, %b.b2; \
         shr.u32 %z, %z, 24; st.global.u32 [%out+12], %z; and.b32 %z, %x, 0xffffff00; \
         vadd4.u32.u32.u32 %z, %z, %c, %c; st.global.u32 [%out+16], %z;",
    ),
    (
        "the ends of ranges",
        "and.b32 %x, %a, 0x7f; vmin.u32.u32.u32 %y, %x, 126; st.global.u32 [%out], %y; vset.u32.u32.lt %y, %x, 127; \
         st.global.u32 [%out+4], %y; vadd4.u32.u32.u32.sat %y, %x, %x, %x; st.global.u32 [%out+8], %y; \
         and.b32 %x, %a, 0x80808080; vadd4.u32.u32.u32.sat %y, %x, %x, %x; st.global.u32 [%out+12], %y; \
         and.b32 %z, %b, 63; vshl.u32.u32.u32.clamp %y, %a, %z; st.global.u32 [%out+16], %y; \
         vmax.u32.u32.u32 %y, %z, 32; st.global.u32 [%out+20], %y; and.b32 %z, %b, 255; \
         vmax.u32.u32.u32 %y, %z, 128; st.global.u32 [%out+24], %y; vmin.u32.u32.u32 %y, %z, 254; \
         st.global.u32 [%out+28], %y;",
    ),
    (
        "a merge that is rewritten and then not needed has not two readers fewer",
        "vsub.u32.u32.u32 %x.b0, %a.b0, %b.b0, %y; add.u32 %z, %c, %d; vsub.u32.u32.u32 %x.b0, %a.b0, %b.b0, %z; \
         vsub.u32.u32.u32 %x.b1, %a.b1, %b.b1, %x; vsub.u32.u32.u32 %x.b2, %a.b1, %b.b2, %x; \
         vsub.u32.u32.u32 %x.b3, %a.b3, %b.b3, %x; st.global.u8 [%out], %x; st.global.u32 [%out+4], %z;",
    ),
];

fn module(body: &str, target: &str) -> String {
    format!(
        ".version 8.7\n.target {target}\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{{\n\
         .reg .b32 %a, %b, %c, %d, %x, %y, %z, %n, %u, %t;\n.reg .b64 %in, %out;\n.reg .pred %p, %q;\n\
         ld.param.u64 %in, [in];\nld.param.u64 %out, [out];\nmov.u32 %t, %tid.x;\nmad.wide.u32 %in, %t, 16, %in;\n\
         mad.wide.u32 %out, %t, 32, %out;\nld.global.v4.b32 {{%a, %b, %c, %d}}, [%in];\n\
         setp.lt.s32 %p, %a, %d;\n{}\nret;\n}}\n",
        body.replace("; ", ";\n")
    )
}

#[test]
fn nothing_is_overlooked() {
    let cases = [1, 2, 3].map(|seed| Case { threads: 64, buffer: 64 * 32, seed, budget: 100_000 });
    let mut tally = Tally::default();
    let mut wrong = Vec::new();
    for (trap, body) in TRAPS {
        for target in ["sm_35", "sm_75", "sm_90", "sm_120"] {
            let text = module(body, target);
            let before =
                ptxopt_grammar::parse(text.as_bytes()).unwrap_or_else(|all| panic!("{trap}: {all:?}"));
            let options = options(Gpu::parse(target));
            let outcome = optimise(&before, &options);
            tally.count(&outcome);
            let mut check = || -> Result<(), String> {
                is_consistent(&before, &outcome, &options)?;
                is_the_same_quietly(&before, &outcome, &options)?;
                tally.compared += claims_hold(&before, &cases)?;
                let Some(new) = &outcome.text else { return Ok(()) };
                let after = ptxopt_grammar::parse(new).expect("it was looked at");
                tally.compared += same_memory(&before, &after, &cases)?;
                tally.compared += claims_hold(&after, &cases)?;
                Ok(())
            };
            if let Err(problem) = check() {
                let new = String::from_utf8_lossy(outcome.text.as_deref().unwrap_or_default()).into_owned();
                wrong.push(format!("{trap}, {target}: {problem}\n{new}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(tally.changed > 20, "hardly anything was rewritten: {tally}");
    println!("{tally}");
}
