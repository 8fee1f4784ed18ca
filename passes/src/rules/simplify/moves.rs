//! Byte moves: where bytes lie does not matter, only which they are.
//!
//! Every law here compares contents: which byte of which value each byte is. Selectors, permutations, shifts by whole
//! bytes, masks, conversions, packing and unpacking are spellings of the same thing, so each can stand for the other,
//! and moves of moves are one move.

use crate::graph::ValueId;
use crate::lanes::Byte;
use crate::recipe::{Recipe, Source, Step};
use crate::rules::link::{Link, bytes, extended};
use crate::rules::reach::{MadeWord, Need, Reach, contents};
use crate::rules::route::{Fetch, Rest};
use crate::rules::{Pass, Rule};
use crate::site::Site;
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::video::{Form, Mad, Part, Scalar, ScalarOp, Sign, Simd};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "selectors-for-moves",
        pass: Pass::Simplify,
        law: "a lane may read a byte from any word that has it: vop4(prmt(a, b, s), c) = vop4(a.s, b.t)",
        examples: &[
            "prmt.b32 %e, %a, 0, 0x0123; vadd4.u32.u32.u32 %d, %e, %b, %c;",
            "prmt.b32 %e, %a, %b, 0x7531; prmt.b32 %f, %a, %b, 0x6420; vabsdiff4.u32.u32.u32.add %d, %e, %f, %c;",
            "shr.u32 %e, %a, 8; and.b32 %e, %e, 0x00ff00ff; vmax4.s32.s32.s32 %d.b20, %e, %b, %c;",
            "prmt.b32 %e, %a, %a, 0x1032; vsub2.s32.s32.s32.sat %d, %e, %b, %c;",
            "mov.b32 {%h0, %h1}, %a; mov.b32 %e, {%h1, %h0}; vset2.s32.u32.lt %d, %e, %b, %c;",
            "shl.b32 %e, %a, 16; vmin4.u32.s32.u32 %d.b32, %e, %e, %c;",
        ],
        propose: selectors_for_moves,
    },
    Rule {
        name: "moves-for-selectors",
        pass: Pass::Simplify,
        law: "selected lanes are lanes of a permuted word: vop4(a.s, b.t) = vop4(prmt(a, b, s), prmt(a, b, t))",
        examples: &[
            "vabsdiff4.u32.u32.u32.add %d, %a.b7531, %b.b6420, %c;",
            "vadd4.u32.u32.u32 %d, %a.b7654, %b.b3210, %c;",
            "vmin2.s32.s32.s32 %d.h1, %a.h01, %b, %c;",
            "vmax4.u32.u32.u32 %d, %a.b0000, %b.b0000, %c;",
        ],
        propose: moves_for_selectors,
    },
    Rule {
        name: "parts-for-moves",
        pass: Pass::Simplify,
        law: "an extended part is the same number wherever it is extended: vadd(bfe(a, 8, 8), b) = vadd(a.b1, b)",
        examples: &[
            "bfe.u32 %e, %a, 8, 8; vadd.u32.u32.u32 %d, %e, %b;",
            "bfe.s32 %e, %a, 16, 16; bfe.s32 %f, %b, 24, 8; vsub.s32.s32.s32 %d, %e, %f;",
            "shr.u32 %e, %a, 16; vmad.s32.s32.s32 %d, %e, %e, %c;",
            "and.b32 %e, %a, 0xff; vset.s32.s32.lt.add %d, %e, %b, %c;",
            "shr.s32 %e, %a, 24; vshr.s32.s32.u32.clamp %d, %e, %b.b0;",
        ],
        propose: parts_for_moves,
    },
    Rule {
        name: "one-move",
        pass: Pass::Simplify,
        law: "bytes moved by several instructions are bytes moved by one: prmt(prmt(a, b, s), c, t) = prmt(a, c, u)",
        examples: &[
            "prmt.b32 %e, %a, %b, 0x7531; prmt.b32 %d, %e, %a, 0x5410;",
            "prmt.b32 %e, %a, 0, 0x0123; prmt.b32 %d, %e, 0, 0x0123;",
            "mov.b32 {%h0, %h1}, %a; mov.b32 %d, {%h1, %h0};",
            "mov.b32 {%h0, %h1}, %a; mov.b32 %d, {%h0, %h1};",
            "mov.b64 %w0, {%a, %b}; shr.u64 %w1, %w0, 32; cvt.u32.u64 %d, %w1;",
            "ld.global.b64 %w0, [%in]; mov.b64 {%r0, %r1}, %w0; mov.b64 %w1, {%r0, %r1}; cvt.u32.u64 %d, %w1;",
            "mov.b64 %w0, {%a, %b}; mov.b64 {%r0, %r1}, %w0; mov.b64 %w1, {%r0, %r1}; shr.u64 %w1, %w1, 24; cvt.u32.u64 %d, %w1;",
            "shl.b32 %e, %a, 8; shr.u32 %d, %e, 16;",
            "and.b32 %e, %a, 0xff00; shl.b32 %e, %e, 8; or.b32 %d, %e, 0x12000000;",
            "bfe.s32 %d, %a, 24, 8;",
            "and.b32 %e, %a, 0x00ff00ff; and.b32 %f, %b, 0xff00ff00; or.b32 %d, %e, %f;",
            "bfe.u32 %e, %a, 8, 8; bfi.b32 %d, %e, %b, 16, 8;",
            "cvt.u8.u32 %e, %a; shl.b32 %f, %e, 8; or.b32 %d, %e, %f;",
            "prmt.b32 %e, %a, %b, 0x4321; prmt.b32 %d, %e, %e, 0xbbb3;",
            "mov.b32 {%h0, %h1}, %a; ld.global.u8 %h1, [%in]; mov.b32 %e, {%h0, %h1}; prmt.b32 %d, %e, %a, 0x7610;",
        ],
        propose: one_move,
    },
    Rule {
        name: "lanes-that-move",
        pass: Pass::Simplify,
        law: "a lane that computes nothing is a byte: x + 0 = x, |x - 0| = x, max(x, 0) = x, min(x, 0) = 0, max(x, x) = x",
        examples: &[
            "mov.b32 %e, 0; vadd4.u32.u32.u32 %d, %a.b0123, %e.b4567, %c;",
            "mov.b32 %e, 0; vmax4.u32.u32.u32 %d.b20, %a, %e, %c;",
            "and.b32 %e, %a, 0x7f7f7f7f; mov.b32 %f, 0x80808080; vmax4.u32.u32.u32 %d, %e, %f, %c;",
            "vmin2.s32.s32.s32.sat %d, %a.h01, %a.h01, %c;",
            "vsub4.u32.u32.u32 %d.b30, %a, %a.b3210, %c;",
            "mov.b32 %e, 0; vset4.u32.u32.ge %d.b3, %a, %e, %c;",
            "and.b32 %e, %a, 0x00ff00ff; vavrg4.s32.s32.s32 %d, %e, %e, %c;",
            "mov.b32 %e, 0x01020304; mov.b32 %f, 0xff000103; vabsdiff4.s32.s32.s32.add %d, %e, %f, %c;",
        ],
        propose: lanes_that_move,
    },
    Rule {
        name: "unread-source",
        pass: Pass::Simplify,
        law: "a source that no lane reads may be any register: vop4(a.b3210, b.b1032) = vop4(a.b3210, a.b1032)",
        examples: &[
            "vadd4.u32.u32.u32 %d, %a, %b.b0123, %c;",
            "vmin4.s32.s32.s32.add %d.b10, %a.b7676, %b, %c;",
            "vabsdiff2.u32.u32.u32 %d, %a, %b, %c;",
        ],
        propose: unread_source,
    },
];

/// The demanded lanes of a SIMD instruction.
fn lanes(site: &Site<'_, '_, '_>) -> Option<(Link, Rest)> {
    let (form, mut link) = Link::simd(site)?;
    let all = form.routing.mask() == link.size.full_mask();
    let rest = if all && !link.adds() { Rest::Free } else { Rest::Kept };
    if rest == Rest::Free {
        let demanded = link.demanded(site);
        link.items.retain(|item| demanded >> item.lane & 1 == 1);
    }
    Some((link, rest))
}

fn selectors_for_moves(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let Some((link, rest)) = lanes(site) else { return };
    let reach = Reach::of(site, &site.step.sources[..2]);
    link.route(site, &reach, rest, &[Fetch::Selectors], out);
}

fn moves_for_selectors(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let Some((link, rest)) = lanes(site) else { return };
    let reach = Reach::of(site, &site.step.sources[..2]);
    link.route(site, &reach, rest, &[Fetch::Moves], out);
}

/// A source, its part and its type.
type Read = (Source, Option<Part>, Sign);

fn parts_for_moves(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let reads: [(Option<Part>, Sign); 2] = match site.form() {
        Some(Form::Scalar(form)) => [(form.a, form.atype), (form.b, form.op.btype())],
        Some(Form::Mad(form)) => [(form.a, form.atype), (form.b, form.btype)],
        Some(Form::Simd(_)) | None => return,
    };
    let old: [Read; 2] = std::array::from_fn(|at| (site.step.sources[at], reads[at].0, reads[at].1));
    let new = old.map(|read| elsewhere(site, read));
    for [a, b] in [[new[0], new[1]], [new[0], None], [None, new[1]]] {
        if a.is_none() && b.is_none() {
            continue;
        }
        let Some(step) = reading(site, a.unwrap_or(old[0]), b.unwrap_or(old[1])) else { continue };
        let recipe = Recipe::one(step);
        if !out.contains(&recipe) {
            out.push(recipe);
        }
    }
}

/// The same number as a part of another word.
fn elsewhere(site: &Site<'_, '_, '_>, (source, part, sign): Read) -> Option<Read> {
    let wanted = extended(contents(site, source)?, part, sign);
    let reach = Reach::of(site, &[source]);
    let words = reach.words.iter().filter(|word| word.source != source);
    for word in words {
        let bytes = contents(site, word.source)?;
        for part in std::iter::once(None).chain(Part::ALL.map(Some)).filter(|&part| word.promises(part)) {
            for sign in Sign::ALL {
                if extended(bytes, part, sign) == wanted {
                    return Some((word.source, part, sign));
                }
            }
        }
    }
    None
}

/// The instruction with other sources.
fn reading(site: &Site<'_, '_, '_>, a: Read, b: Read) -> Option<Step> {
    let form = match site.form()? {
        Form::Scalar(form) => {
            let op = match form.op {
                ScalarOp::Arithmetic { op, dtype, saturate, .. } => {
                    ScalarOp::Arithmetic { op, dtype, btype: b.2, saturate }
                }
                ScalarOp::Set { compare, .. } => ScalarOp::Set { compare, btype: b.2 },
                ScalarOp::Shift { .. } if b.2 == Sign::Signed => return None,
                shift @ ScalarOp::Shift { .. } => shift,
            };
            Form::Scalar(Scalar { op, atype: a.2, a: a.1, b: b.1, ..form })
        }
        Form::Mad(form) => {
            // The sum is signed if either factor is: that decides how it is shifted and clamped.
            let signed = |a, b| a == Sign::Signed || b == Sign::Signed;
            let exact = form.scale.bits() != 0 || form.saturate;
            if exact && signed(a.2, b.2) != signed(form.atype, form.btype) {
                return None;
            }
            Form::Mad(Mad { atype: a.2, btype: b.2, a: a.1, b: b.1, ..form })
        }
        Form::Simd(_) => return None,
    };
    let mut sources = site.step.sources;
    (sources[0], sources[1]) = (a.0, b.0);
    Some(Step::video(form, &sources))
}

fn one_move(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    // A predicate has no bytes, so all are alike in them.
    if site.step.copied().is_some() || site.step.width < 8 {
        return;
    }
    let bytes: Option<Vec<Byte>> = site
        .result_bytes()
        .into_iter()
        .enumerate()
        .map(|(at, byte)| {
            // An undemanded byte may be anything, so it need not be a moved one.
            let ignored = site.demanded >> (8 * at) & 0xff == 0;
            byte.or(ignored.then_some(Byte::Constant(0)))
        })
        .collect();
    let Some(bytes) = bytes else { return };
    if site.step.width == 32 {
        spell(site, &bytes, &site.step.sources, out);
    } else {
        whole(site, &bytes, out);
    }
}

/// All of a value of another width.
fn whole(site: &Site<'_, '_, '_>, bytes: &[Byte], out: &mut Vec<Recipe>) {
    let reach = Reach::of(site, &site.step.sources);
    let ignored = |at: usize| site.demanded >> (8 * at) & 0xff == 0;
    let same = |value: &&ValueId| {
        let there = site.contents(**value);
        site.graph.register_of(**value).is_some()
            && there.len() == bytes.len()
            && there.iter().zip(bytes).enumerate().all(|(at, (there, byte))| there == byte || ignored(at))
    };
    let copies = reach.values.iter().filter(same);
    out.extend(copies.map(|&value| Recipe::copy(Source::Value(value), site.step.width)));
}

/// Proposes moves that make a word of bytes; undemanded bytes are left open.
fn spell(site: &Site<'_, '_, '_>, bytes: &[Byte], sources: &[Source], out: &mut Vec<Recipe>) {
    let demanded = site.demanded_word().to_le_bytes();
    let need = |at: usize| Need { byte: bytes[at], bits: demanded[at] };
    let needs = std::array::from_fn(|at| Some(need(at)).filter(|need| need.bits != 0));
    let reach = Reach::of(site, sources);
    for reach in [&reach, &reach.reversed()] {
        for spelled in reach.spell(&needs) {
            let step = match spelled {
                MadeWord::Source(source) => Step::copy(source, 32),
                MadeWord::Step(step) => step,
            };
            let recipe = Recipe::one(step);
            if recipe.steps[0] != *site.step && !out.contains(&recipe) {
                out.push(recipe);
            }
        }
    }
    let Some((extended, reach)) = reach.with_half(site, &needs) else { return };
    for spelled in reach.spell(&needs) {
        if let MadeWord::Step(step) = spelled {
            out.push(Recipe::of(vec![extended, step]));
        }
    }
}

fn lanes_that_move(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let Some(link) = Link::of(site, site.step) else { return };
    if link.adds() {
        let total: Option<i128> = link.items.iter().map(|item| link.added(item)).sum();
        if let Some(total) = total {
            let total =
                Source::Constant(u64::from(i32::try_from(total).expect("lanes are small").cast_unsigned()));
            out.push(Recipe::one(Step::plain(op::ADD_U32, &[link.c, total])));
        }
        return;
    }
    let Some(mut result) = contents(site, link.c) else { return };
    let demanded = link.demanded(site);
    for item in &link.items {
        let count = bytes(link.size);
        let place = usize::from(item.lane) * count;
        match link.moved(item) {
            Some(moved) => result[place..place + count].copy_from_slice(&moved),
            None if demanded >> item.lane & 1 == 0 => {}
            None => return,
        }
    }
    spell(site, &result, &site.step.sources, out);
}

fn unread_source(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let Some((form, link)) = Link::simd(site) else { return };
    let &[a, b, c] = site.step.sources.as_slice() else { return };
    let Simd { routing, .. } = form;
    let count = routing.lanes().count();
    let picks = || {
        let lanes = link.items.iter().map(|item| item.lane);
        lanes.flat_map(|lane| [routing.a().pick(lane), routing.b().pick(lane)])
    };
    let reads_c = link.adds() || routing.mask() != link.size.full_mask();
    let (reads_a, reads_b) = (picks().any(|pick| pick < count), picks().any(|pick| pick >= count));
    let read = if reads_a { a } else { b };
    let sources =
        [if reads_a { a } else { read }, if reads_b { b } else { read }, if reads_c { c } else { read }];
    if sources != [a, b, c] {
        out.push(Recipe::one(Step::video(Form::Simd(form), &sources)));
    }
}
