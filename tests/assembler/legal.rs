//! Instructions that nearly are: each legal instance with one type, one operand or the number of operands changed.
//!
//! What the assembler takes must be taken; how many of those that it refuses are refused is printed, and must not be
//! few. One module has many instructions, and the assembler names the lines that it refuses.

use crate::forms::GROUPS;
use crate::jobs::each;
use crate::ptxas::Assemblers;
use ptxopt_grammar::table::types::TypeWord;
use std::collections::BTreeSet;
use std::fmt::Write;

const DECLARATIONS: &str = "
.reg .b8 %b<10>; .reg .b16 %h<10>; .reg .b32 %r<10>; .reg .b64 %d<10>; .reg .b128 %q<10>; .reg .pred %p<10>;
.reg .u8 %xub<2>; .reg .u16 %xuh<2>; .reg .u32 %xu<2>; .reg .u64 %xud<2>; .reg .s32 %xs<2>; .reg .f16 %xh<2>;
.reg .f16x2 %xhh<2>; .reg .f32 %xf<2>; .reg .f64 %xfd<2>; .reg .v2 .b32 %xv<2>;
";

/// What is put in the place of an operand.
const OPERANDS: [&str; 21] = [
    "%b9",
    "%h9",
    "%r9",
    "%d9",
    "%q9",
    "%p9",
    "%xub1",
    "%xuh1",
    "%xu1",
    "%xud1",
    "%xs1",
    "%xh1",
    "%xhh1",
    "%xf1",
    "%xfd1",
    "7",
    "1.5",
    "%tid.x",
    "%r9.b0",
    "[%d9]",
    "{%r8, %r9}",
];

/// Legal instances besides those of integers: floats, memory and control.
const MORE: &[&str] = &[
    "<add/sub/mul/min/max/div.rn>.f32 %xf0, %xf1, %xf1",
    "<add/sub/mul/min/max/div.rn>.f64 %xfd0, %xfd1, %xfd1",
    "<add/sub/mul/min/max>.<f16/f16x2/bf16/bf16x2> %h0, %h1, %h2",
    "fma.rn.<f32/f64/f16/bf16x2> %r0, %r1, %r2, %r3",
    "mad.rn.<f32/f64> %r0, %r1, %r2, %r3",
    "<abs/neg>.<f32/f64/f16/bf16> %r0, %r1",
    "<rcp.rn/sqrt.rn/sin.approx/cos.approx/lg2.approx/ex2.approx/rsqrt.approx/tanh.approx>.f32 %xf0, %xf1",
    "copysign.f32 %r0, %r1, %r2",
    "testp.<finite/number>.<f32/f64> %p0, %xf1",
    "cvt.rn.<f32/f64/f16/bf16>.<u8/s32/u64> %r0, %r1",
    "cvt.rni.<u8/s32/u64>.<f32/f64/f16> %r0, %r1",
    "cvt.rn.<f16x2/bf16x2>.f32 %r0, %r1, %r2",
    "cvt.rn.<f16/bf16>.f32 %h0, %r1",
    "cvt.<f32/f64>.<f16/bf16/f32> %r0, %h1",
    "cvt.rna.tf32.f32 %r0, %r1",
    "cvt.rn.satfinite.<e4m3x2/e5m2x2>.f32 %h0, %r1, %r2",
    "setp.<lt/gtu/num>.<f32/f64/f16/bf16> %p0, %r1, %r2",
    "set.<lt/gt>.<f32/u32/f16>.<f32/f16> %r0, %r1, %r2",
    "<ld.global/ldu.global/ld.shared/ld>.<u8/b16/u32/f32/f64/b64> %r0, [%d1]",
    "ld.global.v2.<u8/f32/b64> {%r0, %r1}, [%d1]",
    "<st.global/st.shared/st>.<u8/b16/u32/f32/f64/b64> [%d1], %r0",
    "st.global.v2.<u8/f32/b64> [%d1], {%r0, %r1}",
    "cvta.global.u64 %d0, %d1",
    "isspacep.global %p0, %d1",
    "<ret/exit/trap/brkpt>",
    "activemask.b32 %r0",
    "vote.sync.<any/all/uni>.pred %p0, %p1, 3",
    "vote.sync.ballot.b32 %r0, %p1, %r2",
    "shfl.sync.<bfly/idx>.b32 %r0</|%p0>, %r1, %r2, 31, -1",
    "redux.sync.add.<u32/s32> %r0, %r1, %r2",
    "nanosleep.u32 %r1",
];

/// Versions and targets of modules, each with the group of its forms: older assemblers take what newer ones do not.
const HEADS: [(&str, &str, usize); 5] = [
    ("8.3", "sm_90a", 0),
    ("9.2", "sm_120f", 1),
    ("9.4", "sm_107f", 2),
    ("8.3", "sm_60", 0),
    ("7.8", "sm_35", 0),
];

/// One changed instance, with the head of its module.
struct Changed {
    head: usize,
    line: String,
}

#[test]
fn instructions_that_the_assembler_takes_are_taken() {
    let Some(assemblers) = Assemblers::find() else { return };
    let step: usize = std::env::var("PTXOPT_EVERY").ok().map_or(23, |n| n.parse().expect("a number"));
    let all = changed();
    let some: Vec<&Changed> = all.iter().step_by(step).collect();
    let chunks: Vec<&[&Changed]> =
        some.chunk_by(|a, b| a.head == b.head).flat_map(|all| all.chunks(400)).collect();
    let (mut wrong, mut missed, mut counts) = (Vec::new(), Vec::new(), [[0; 2]; 2]);
    for (chunk, verdicts) in chunks.iter().zip(each(&chunks, |chunk| verdicts(&assemblers, chunk))) {
        for (line, refused) in verdicts {
            let ours = ptxopt_grammar::parse(&module(chunk[0].head, &[line])).err();
            counts[usize::from(refused)][usize::from(ours.is_some())] += 1;
            if refused && ours.is_none() {
                missed.push(line.to_owned());
            }
            if let Some(errors) = ours.filter(|_| !refused) {
                wrong.push(format!("{line} {}", errors[0].message));
            }
        }
    }
    let [[taken, _], [missed_count, caught]] = counts;
    println!(
        "{taken} taken by both; of {} that the assembler refuses {caught} are refused",
        caught + missed_count
    );
    if std::env::var_os("PTXOPT_SHOW").is_some() {
        for line in missed {
            println!("MISSED {line}");
        }
    }
    let wrong = wrong;
    assert!(wrong.is_empty(), "the assembler takes {}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(caught > 3 * missed_count, "most of what the assembler refuses is taken");
}

/// For each line whether the assembler refuses it; lines after one that ends its reading are left out.
fn verdicts<'c>(assemblers: &Assemblers, chunk: &[&'c Changed]) -> Vec<(&'c str, bool)> {
    let mut lines: Vec<&str> = chunk.iter().map(|changed| changed.line.as_str()).collect();
    let mut done = Vec::new();
    // An error of syntax ends the reading: it is counted, and the rest asked again.
    while !lines.is_empty() {
        let text = module(chunk[0].head, &lines);
        let head = String::from_utf8_lossy(&module(chunk[0].head, &[])).lines().count() - 1;
        let said = assemblers.refusal(&text, HEADS[chunk[0].head].1);
        let said = said.unwrap_or_default();
        let at = |line: &str| {
            let (_, rest) = line.split_once(", line ")?;
            rest.split(';').next()?.parse::<usize>().ok()?.checked_sub(head)
        };
        let refused: BTreeSet<usize> =
            said.lines().filter(|line| !line.contains("; warning")).filter_map(at).collect();
        let end = said.lines().find(|line| line.contains("Parsing error")).and_then(at);
        match end {
            Some(end) => {
                let at = end.saturating_sub(1).min(lines.len() - 1);
                done.push((lines.remove(at), true));
            }
            None => {
                done.extend(
                    lines.drain(..).enumerate().map(|(at, line)| (line, refused.contains(&(at + 1)))),
                );
            }
        }
    }
    done
}

fn module(head: usize, lines: &[&str]) -> Vec<u8> {
    let (version, target, _) = HEADS[head];
    let mut text = format!(".version {version}\n.target {target}\n.address_size 64\n");
    write!(text, ".visible .entry k()\n{{{DECLARATIONS}").expect("a string can grow");
    for line in lines {
        writeln!(text, "{line}").expect("a string can grow");
    }
    text.push_str("}\n");
    text.into_bytes()
}

fn changed() -> Vec<Changed> {
    let mut all = Vec::new();
    let more = || MORE.iter().flat_map(|pattern| crate::forms::expanded(pattern));
    let forms = HEADS.iter().enumerate().flat_map(|(head, (.., group))| {
        let plain = (*group == 0).then(more).into_iter().flatten();
        GROUPS[*group].forms().into_iter().chain(plain).map(move |form| (head, form))
    });
    for (head, form) in forms {
        let (opcode, operands) = form.split_once(' ').unwrap_or((&form, ""));
        let operands = pieces(operands);
        let line = |opcode: &str, operands: &[&str]| format!("{opcode} {};", operands.join(", "));
        let mut lines = vec![line(opcode, &operands)];
        for at in 0..operands.len() {
            for new in OPERANDS {
                let mut changed = operands.clone();
                changed[at] = new;
                lines.push(line(opcode, &changed));
            }
        }
        lines.push(line(opcode, &[&operands[..], &["%r9"]].concat()));
        lines.extend(operands.split_last().map(|(_, rest)| line(opcode, rest)));
        let words: Vec<&str> = opcode.split('.').collect();
        for at in 1..words.len() {
            if TypeWord::parse(words[at].as_bytes()).is_some() {
                for ty in TypeWord::all() {
                    let mut changed = words.clone();
                    changed[at] = ty.word();
                    lines.push(line(&changed.join("."), &operands));
                }
                let mut changed = words.clone();
                changed.remove(at);
                lines.push(line(&changed.join("."), &operands));
            }
        }
        all.extend(lines.into_iter().map(|line| Changed { head, line }));
    }
    all.sort_by_key(|changed| changed.head);
    all
}

/// Operands without the commas between them; those inside braces belong to their operand.
fn pieces(operands: &str) -> Vec<&str> {
    let mut depth = 0;
    let commas = operands.split(|c| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        c == ',' && depth == 0
    });
    commas.map(str::trim).filter(|piece| !piece.is_empty()).collect()
}
