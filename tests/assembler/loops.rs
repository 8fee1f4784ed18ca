//! What a step of a loop over bytes takes when the words that it carries stay halves, counted in machine code.

use crate::ptxas::Assemblers;
use ptxopt_passes::optimiser::{Options, optimise};
use std::time::Duration;

/// A row of Smith and Waterman: a sum of bytes that is clamped, and a maximum.
fn row(target: &str, ty: &str) -> String {
    let types = format!("{ty}.{ty}.{ty}");
    format!(
        ".version 8.8\n.target {target}\n.address_size 64\n\
         .visible .entry row(.param .u64 in, .param .u64 out, .param .u32 n)\n{{\n\
         .reg .b32 %h, %s, %c, %i, %n; .reg .b64 %in, %out; .reg .pred %p;\n\
         ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; ld.param.u32 %n, [n];\n\
         ld.global.u32 %c, [%out+4]; mov.u32 %h, 0; mov.u32 %i, 0;\nstep:\n\
         ld.global.u32 %s, [%in];\n\
         vadd4.{types}.sat %h, %h, %s, %s;\nvmax4.{types} %h, %h, %c, %c;\n\
         add.u64 %in, %in, 4; add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %n; @%p bra step;\n\
         st.global.u32 [%out], %h; ret;\n}}\n"
    )
}

/// The opcodes between the first label that a later instruction branches back to and that branch.
fn innermost(listing: &str) -> Vec<String> {
    let lines: Vec<&str> = listing.lines().map(str::trim).collect();
    for (end, line) in lines.iter().enumerate() {
        let Some((_, to)) = line.split_once("`(").filter(|(code, _)| code.contains("BRA")) else { continue };
        let label = format!("{}:", to.split(')').next().unwrap_or_default());
        let Some(begin) = lines[..end].iter().position(|line| *line == label) else { continue };
        let code = lines[begin..end].iter().filter_map(|line| line.strip_prefix("/*")?.split_once("*/"));
        let opcode = |(_, code): (&str, &str)| {
            let words = code.split_whitespace().find(|word| !word.starts_with('@'));
            words.unwrap_or_default().to_owned()
        };
        return code.map(opcode).collect();
    }
    Vec::new()
}

/// The machine instructions a step of the row as it is written and as it is optimised, beside loads and control.
fn steps(assemblers: &Assemblers, target: &str, ty: &str) -> (f64, f64) {
    let text = row(target, ty);
    let of = |text: &[u8]| {
        let listing = assemblers.disassembled("13.5", text, target).expect("it is legal");
        let all = innermost(&listing);
        let control = ["LDG", "BRA", "ISETP", "IADD3", "IMAD.X", "UIADD3"];
        let is_control = |opcode: &&String| {
            control.iter().any(|start| opcode.starts_with(start)) || opcode.as_str() == "VIADD"
        };
        let loads = all.iter().filter(|opcode| opcode.starts_with("LDG")).count();
        let work = all.len() - all.iter().filter(is_control).count();
        assert!(loads > 0, "no loop was found:\n{listing}");
        let count = |count: usize| f64::from(u32::try_from(count).expect("a loop is short"));
        count(work) / count(loads)
    };
    let module = ptxopt_grammar::parse(text.as_bytes()).expect("it is legal");
    let optimised = optimise(&module, &Options::default(), &|| Duration::ZERO).text.expect("it changes");
    (of(text.as_bytes()), of(&optimised))
}

#[test]
fn a_row_with_a_carried_word_takes_six_instructions_a_step() {
    let Some(assemblers) = Assemblers::find() else { return };
    for (target, ty) in [("sm_90", "u32"), ("sm_100", "u32"), ("sm_90", "s32")] {
        let (before, after) = steps(&assemblers, target, ty);
        println!("{target}, {ty}: {before:.1} -> {after:.1} instructions a step");
        assert!(after <= 6.0 && before > 24.0, "{target}, {ty}: {before} -> {after}");
    }
}
