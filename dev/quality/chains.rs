//! Chains of SIMD operations of one kind of lanes: what is said of them is more than of their parts.

use crate::best;
use crate::draw;
use crate::measured::{Bench, Entry};
use crate::simd_forms::simd_forms;
use ptxopt_grammar::video::{Compare, Form, Lanes, Routing, Sign, Simd, SimdOp, SimdThen};

/// How many chains are drawn of each length.
const OF_A_LENGTH: usize = 24;
const LENGTHS: std::ops::RangeInclusive<usize> = 2..=6;

/// Chains as programs have them: `d` is the result, `t` and a number what is computed on the way.
const NAMED: [(&str, &[&str]); 8] = [
    (
        "sum and maximum",
        &["vadd4.u32.u32.u32.sat %t0, %r1, %r2, %r3", "vmax4.u32.u32.u32 %r0, %t0, %r4, %r3"],
    ),
    ("two sums", &["vadd4.u32.u32.u32.sat %t0, %r1, %r2, %r3", "vadd4.u32.u32.u32.sat %r0, %t0, %r4, %r3"]),
    (
        "cell of Smith and Waterman, bytes",
        &[
            "vadd4.u32.u32.u32.sat %t0, %r1, %r2, %r3",
            "vmax4.u32.u32.u32 %t1, %r4, %r5, %r3",
            "vmax4.u32.u32.u32 %r0, %t0, %t1, %r3",
        ],
    ),
    (
        "cell of Smith and Waterman, halves",
        &[
            "vadd2.s32.s32.s32 %t0, %r1, %r2, %r3",
            "vmax2.s32.s32.s32 %t1, %r4, %r5, %r3",
            "vmax2.s32.s32.s32 %r0, %t0, %t1, %r3",
        ],
    ),
    (
        "sum and maximum, halves",
        &["vadd2.s32.s32.s32 %t0, %r1, %r2, %r3", "vmax2.s32.s32.s32 %r0, %t0, %r4, %r3"],
    ),
    (
        "maximum of three halves",
        &["vmax2.s32.s32.s32 %t0, %r1, %r2, %r3", "vmax2.s32.s32.s32 %r0, %t0, %r4, %r3"],
    ),
    (
        "both extrema, bytes",
        &[
            "vmin4.u32.u32.u32 %t0, %r1, %r2, %r3",
            "st.volatile.global.u32 [%d9+128], %t0",
            "vmax4.u32.u32.u32 %r0, %r1, %r2, %r3",
        ],
    ),
    (
        "both extrema, halves",
        &[
            "vmin2.u32.u32.u32 %t0, %r1, %r2, %r3",
            "st.volatile.global.u32 [%d9+128], %t0",
            "vmax2.u32.u32.u32 %r0, %r1, %r2, %r3",
        ],
    ),
];

/// The named chains and drawn ones.
pub(crate) fn chains(bench: &Bench, seed: u64) -> Vec<Entry> {
    let mut below = draw(seed);
    let mut entries: Vec<Entry> = NAMED.iter().map(|(name, lines)| named(bench, name, lines)).collect();
    for lanes in Lanes::ALL {
        let forms = usual(lanes);
        for length in LENGTHS {
            entries.extend((0..OF_A_LENGTH).map(|_| drawn(bench, &forms, length, &mut below)));
        }
    }
    entries
}

fn named(bench: &Bench, name: &str, lines: &[&str]) -> Entry {
    let (stores, parts): (Vec<&str>, Vec<&str>) = lines.iter().partition(|line| line.starts_with("st."));
    let part = |line: &&str| {
        let words = line.split(' ').next().expect("an instruction has an opcode");
        best::count(&format!("{words} d, a, b, c"), &bench.gpu)
    };
    let stores = u32::try_from(stores.len()).expect("there are few");
    Entry::chain(name.to_owned(), lines.join("; "), stores, parts.iter().map(part).sum())
}

/// All lanes, one type, nothing accumulated: what chains are made of.
fn usual(lanes: Lanes) -> Vec<Simd> {
    let usual = |form| match form {
        Form::Simd(simd) if simd.routing == Routing::plain(lanes) && simd.atype == simd.btype => {
            let fits = match simd.op {
                SimdOp::Arithmetic { dtype, then, .. } => dtype == simd.atype && then != SimdThen::Add,
                SimdOp::Set { compare, accumulate } => compare == Compare::Lt && !accumulate,
            };
            fits.then_some(simd)
        }
        Form::Simd(_) | Form::Scalar(_) | Form::Mad(_) => None,
    };
    simd_forms().into_iter().filter_map(usual).collect()
}

/// A chain of one sign: each operation reads the one before it, as `a` or as `b`, and another register.
fn drawn(bench: &Bench, forms: &[Simd], length: usize, below: &mut impl FnMut(usize) -> usize) -> Entry {
    let sign = Sign::ALL[below(2)];
    let forms: Vec<&Simd> = forms.iter().filter(|form| form.atype == sign).collect();
    let (mut names, mut lines, mut best) = (Vec::new(), Vec::new(), Some(0));
    for at in 0..length {
        let form = Form::Simd(*forms[below(forms.len())]);
        let before = if at == 0 { "%r1".to_owned() } else { format!("%t{}", at - 1) };
        let to = if at + 1 == length { "%r0".to_owned() } else { format!("%t{at}") };
        let other = format!("%r{}", at + 2);
        let second = below(4) == 0;
        let (a, b) = if second { (&other, &before) } else { (&before, &other) };
        lines.push(form.encode(&to, a, b, Some("%r3")).expect("every form takes registers"));
        let name = form.encode("d", "a", "b", Some("c")).expect("every form takes registers");
        best = best.zip(best::count(&name, &bench.gpu)).map(|(sum, count)| sum + count);
        names.push(format!("{form}{}", if second { " (b)" } else { "" }));
    }
    Entry::chain(names.join(", "), lines.join("; "), 0, best)
}
