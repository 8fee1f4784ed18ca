//! Plain instructions: what byte code leaves over once masks and constants are known.
//!
//! NVIDIA's assembler does general algebra itself. Here is what it cannot know, the facts and the demanded bits, and
//! what other rules need to see through: one mask instead of two, one byte move instead of a field.

use crate::recipe::{Recipe, Source, Step};
use crate::rules::build::{Building, Wanted};
use crate::rules::operands::{Operand, SIGNED_WORD, WORD, within};
use crate::rules::{Pass, Rule};
use crate::site::Site;
use ptxopt_grammar::video::Sign;

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "plain-neutral",
        pass: Pass::Simplify,
        law: "x+0 = x-0 = x*1 = x<<0 = x; a*0+c = |x-x|+c = c",
        examples: &[
            "mov.b32 %e, 0; add.u32 %d, %e, %a;",
            "mov.b32 %e, 0; sub.s32 %d, %a, %e;",
            "mul.lo.u32 %d, %a, 1;",
            "shr.s32 %d, %a, 0;",
            "mad.lo.s32 %d, %a, 0, %c;",
            "mad.lo.s32 %d, %a, 1, %c;",
            "mad.lo.u32 %d, %a, %b, 0;",
            "dp4a.u32.s32 %d, %a, 0, %c;",
            "sad.u32 %d, %a, %a, %c;",
            "sad.u32 %d, %a, 0, %c;",
            "bfi.b32 %d, %a, %c, 4, 0;",
            "bfi.b32 %d, %a, %c, 0, 32;",
            "bfe.u32 %d, %a, 0, 32;",
        ],
        propose: neutral,
    },
    Rule {
        name: "plain-equal",
        pass: Pass::Simplify,
        law: "x&x = x|x = min(x,x) = max(x,x) = x; x^x = x-x = 0",
        examples: &[
            "and.b32 %d, %a, %a;",
            "xor.b32 %d, %a, %a;",
            "sub.u32 %d, %a, %a;",
            "mov.b32 %e, %a; max.s32 %d, %e, %a;",
        ],
        propose: equal,
    },
    Rule {
        name: "idle-mask",
        pass: Pass::Simplify,
        law: "x&y = x if no bit that matters is set in x and clear in y; x|y = x^y = x if none is set in y",
        examples: &[
            "and.b32 %e, %a, 0xff; st.global.b32 [%in+16], %e; and.b32 %d, %e, 0xffff;",
            "and.b32 %e, %a, 0xffff; and.b32 %d, %e, 0xff; and.b32 %d, %d, 0xff;",
            "or.b32 %e, %a, 0xff000000; shl.b32 %d, %e, 8;",
            "xor.b32 %e, %a, 0xff000000; vadd.u32.u32.u32 %d, %e.h0, %b.h0;",
            "and.b32 %e, %a, 0x00ffffff; vadd4.u32.u32.u32 %d.b210, %e, %b, %c;",
        ],
        propose: idle_mask,
    },
    Rule {
        name: "plain-ordered",
        pass: Pass::Fold,
        law: "min(x,y) = x and max(x,y) = y where x <= y always",
        examples: &[
            "and.b32 %e, %a, 0xff; min.u32 %d, %e, 255;",
            "and.b32 %e, %a, 0xff; max.s32 %d, 0, %e;",
            "max.u32 %d, %a, 0;",
            "and.b32 %e, %a, 0xff; or.b32 %f, %b, 0x80000000; min.s32 %d, %e, %f;",
        ],
        propose: ordered,
    },
    Rule {
        name: "plain-power",
        pass: Pass::Simplify,
        law: "x*2^n = x<<n",
        examples: &["mul.lo.u32 %d, %a, 8;", "mul.lo.s32 %d, 16, %a;", "mad.lo.s32 %d, %a, 4, 0;"],
        propose: power,
    },
    Rule {
        name: "nested-constants",
        pass: Pass::Simplify,
        law: "(x&k)&m = x&(k&m), likewise for or, exclusive or, sums and shifts; (x>>n)<<n and (x<<n)>>n are masks",
        examples: &[
            "and.b32 %e, %a, 0xff0f; and.b32 %d, 0xfff, %e;",
            "xor.b32 %e, %a, 0xff0f; xor.b32 %d, %e, 0xfff;",
            "shl.b32 %e, %a, 20; shl.b32 %d, %e, 13;",
            "shr.s32 %e, %a, 20; shr.s32 %d, %e, 13;",
            "shr.u32 %e, %a, 8; shl.b32 %d, %e, 8;",
            "shl.b32 %e, %a, 8; shr.u32 %d, %e, 8;",
            "add.u32 %e, %a, 8; add.s32 %d, %e, -3;",
        ],
        propose: nested,
    },
    Rule {
        name: "lop3-fewer",
        pass: Pass::Simplify,
        law: "a function of three words that shows fewer of them is one of fewer",
        examples: &[
            "lop3.b32 %d, %a, %b, %c, 0xf0;",
            "lop3.b32 %d, %a, %b, %c, 0xc0;",
            "lop3.b32 %d, %a, %b, %c, 0x5a;",
            "lop3.b32 %d, %a, %b, %a, 0xe8;",
            "lop3.b32 %d, %a, -1, %c, 0x80;",
            "lop3.b32 %d, %a, %b, %c, 0x33;",
        ],
        propose: lop3,
    },
    Rule {
        name: "whole-byte-field",
        pass: Pass::Simplify,
        law: "a field of whole bytes is a byte move",
        examples: &[
            "bfe.u32 %d, %a, 8, 8;",
            "bfe.s32 %d, %a, 24, 8;",
            "bfe.s32 %d, %a, 0, 16;",
            "bfi.b32 %d, %a, %b, 8, 16;",
        ],
        propose: field,
    },
];

/// An opcode with one type and no other modifier: `add.u32`.
fn opcode<'w>(site: &'w Site<'_, '_, '_>) -> Option<(&'w str, &'w str)> {
    let words = site.words()?;
    let (name, ty) = words.rsplit_once('.')?;
    (!name.contains('.') || matches!(name, "mul.lo" | "mad.lo")).then_some((name, ty))
}

/// What the source can be told to be, as a number of the width of the result.
fn constant(site: &Site<'_, '_, '_>, source: Source) -> Option<u64> {
    let width = site.step.width;
    let value = site.constant(source)?;
    Some(if width < 64 { value & ((1 << width) - 1) } else { value })
}

fn copy(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>, source: Source) {
    out.push(Recipe::copy(source, site.step.width));
}

fn neutral(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let sources = &site.step.sources[..];
    let is = |source: Source, number| constant(site, source) == Some(number);
    if site.words().is_some_and(|words| words.starts_with("dp4a.") || words.starts_with("dp2a.")) {
        match sources {
            &[a, b, c] if is(a, 0) || is(b, 0) => copy(site, out, c),
            _other => {}
        }
        return;
    }
    let Some((name, ty)) = opcode(site) else { return };
    match (name, sources) {
        ("add", &[a, b]) if is(a, 0) => copy(site, out, b),
        ("add" | "sub", &[a, b]) if is(b, 0) => copy(site, out, a),
        // The distance has 32 bits, however wide the result is.
        ("shl" | "shr", &[a, b]) if site.constant(b).is_some_and(|far| far.trailing_zeros() >= 32) => {
            copy(site, out, a);
        }
        ("mul.lo", &[a, b]) if is(b, 1) => copy(site, out, a),
        ("mul.lo", &[a, b]) if is(a, 1) => copy(site, out, b),
        ("mad.lo", &[a, b, c]) if is(a, 0) || is(b, 0) => copy(site, out, c),
        ("mad.lo", &[a, b, c]) => {
            let (add, mul) = (format!("add.{ty}"), format!("mul.lo.{ty}"));
            if is(b, 1) {
                out.push(Recipe::one(Step::wide(&add, &[a, c], site.step.width)));
            } else if is(a, 1) {
                out.push(Recipe::one(Step::wide(&add, &[b, c], site.step.width)));
            } else if is(c, 0) {
                out.push(Recipe::one(Step::wide(&mul, &[a, b], site.step.width)));
            }
        }
        ("sad", &[a, b, c]) if a == b => copy(site, out, c),
        ("sad", &[a, b, c]) if ty == "u32" && is(b, 0) => {
            out.push(Recipe::one(Step::plain("add.u32", &[a, c])));
        }
        ("bfi", &[_, b, _, length]) if is(length, 0) => copy(site, out, b),
        ("bfi", &[a, _, from, length]) if ty == "b32" && is(from, 0) && is(length, 32) => copy(site, out, a),
        ("bfe", &[a, from, length]) if matches!(ty, "u32" | "s32") && is(from, 0) && is(length, 32) => {
            copy(site, out, a);
        }
        _other => {}
    }
}

fn equal(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let (Some((name, ty)), &[a, b]) = (opcode(site), &site.step.sources[..]) else { return };
    if ty == "pred" || ty.starts_with('f') || ty.starts_with('b') && ty.starts_with("bf") {
        return;
    }
    let same = a == b || site.bytes(a).is_some_and(|bytes| site.bytes(b) == Some(bytes));
    match name {
        "and" | "or" | "min" | "max" if same => copy(site, out, a),
        "xor" | "sub" if same => copy(site, out, Source::Constant(0)),
        _other => {}
    }
}

fn idle_mask(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let (Some((name, _)), &[a, b]) = (opcode(site), &site.step.sources[..]) else { return };
    for (kept, mask) in [(a, b), (b, a)] {
        let (kept_fact, mask) = (site.fact(kept), site.fact(mask));
        let idle = match name {
            "and" => site.demanded & !(mask.ones() | kept_fact.zeros()) == 0,
            "or" => site.demanded & !(mask.zeros() | kept_fact.ones()) == 0,
            "xor" => site.demanded & !mask.zeros() == 0,
            _other => false,
        };
        // Bits that nobody demands of the kept one may become anything, and the mask is what cuts them off.
        if idle && promised(site, kept) {
            copy(site, out, kept);
        }
    }
}

/// Whether the bits that matter here are demanded of the source itself.
fn promised(site: &Site<'_, '_, '_>, source: Source) -> bool {
    match source {
        Source::Value(value) => site.demanded & !site.knowledge.demanded[value.index()] == 0,
        Source::Constant(_) | Source::Step(_) => true,
    }
}

fn ordered(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let (Some((name, ty)), &[a, b]) = (opcode(site), &site.step.sources[..]) else { return };
    let sign = match ty {
        "u32" => Sign::Unsigned,
        "s32" => Sign::Signed,
        _other => return,
    };
    let (x, y) = (Operand::part(site, a, None, sign), Operand::part(site, b, None, sign));
    if name != "min" && name != "max" {
        return;
    }
    if x.range.1 <= y.range.0 {
        copy(site, out, if name == "min" { a } else { b });
    } else if y.range.1 <= x.range.0 {
        copy(site, out, if name == "min" { b } else { a });
    } else if sign == Sign::Signed && [x, y].iter().all(|operand| within(operand.range, (0, WORD.1))) {
        out.push(Recipe::one(Step::plain(&format!("{name}.u32"), &[a, b])));
    } else if sign == Sign::Unsigned && [x, y].iter().all(|operand| within(operand.range, SIGNED_WORD)) {
        out.push(Recipe::one(Step::plain(&format!("{name}.s32"), &[a, b])));
    }
}

fn power(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let Some((name @ ("mul.lo" | "mad.lo"), "u32" | "s32")) = opcode(site) else { return };
    let (a, b) = (site.step.sources[0], site.step.sources[1]);
    if name == "mad.lo" && constant(site, site.step.sources[2]) != Some(0) {
        return;
    }
    for (kept, factor) in [(a, b), (b, a)] {
        let factor = constant(site, factor).filter(|factor| factor.is_power_of_two());
        if let Some(factor) = factor {
            let amount = Source::Constant(factor.trailing_zeros().into());
            out.push(Recipe::one(Step::plain("shl.b32", &[kept, amount])));
        }
    }
}

/// A commutative or shifting step of one register and one number: opcode, register, number.
fn with_number(site: &Site<'_, '_, '_>, step: &Step) -> Option<(String, Source, u64)> {
    let crate::recipe::Code::Plain(words) = &step.code else { return None };
    let &[a, b] = &step.sources[..] else { return None };
    let (name, ty) = words.split_once('.')?;
    let name = match (name, ty) {
        ("and" | "or" | "xor" | "shl", "b32") | ("shr", "u32" | "s32") => words.clone(),
        ("add", "u32" | "s32") => "add.u32".to_owned(),
        _other => return None,
    };
    let number = |source| Some(site.constant(source)? & u64::from(u32::MAX));
    match (number(a), number(b)) {
        (_, Some(number)) => Some((name, a, number)),
        (Some(number), None) if !name.starts_with("sh") => Some((name, b, number)),
        (Some(_) | None, None) => None,
    }
}

fn nested(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let Some((outer, middle, m)) = with_number(site, site.step) else { return };
    let Some((inner, x, k)) = site.definition(middle).and_then(|step| with_number(site, &step)) else {
        return;
    };
    let mut push =
        |words: &str, number| out.push(Recipe::one(Step::plain(words, &[x, Source::Constant(number)])));
    let all = u64::from(u32::MAX);
    match (outer.as_str(), inner.as_str()) {
        ("and.b32", "and.b32") => push("and.b32", k & m),
        ("or.b32", "or.b32") => push("or.b32", k | m),
        ("xor.b32", "xor.b32") => push("xor.b32", k ^ m),
        ("add.u32", "add.u32") => push("add.u32", (k + m) & all),
        ("shl.b32", "shl.b32") | ("shr.u32", "shr.u32") if k < 32 && m < 32 => push(&outer, k + m),
        ("shr.s32", "shr.s32") if k < 32 && m < 32 => push(&outer, (k + m).min(31)),
        ("shl.b32", "shr.u32" | "shr.s32") if k == m && k < 32 => push("and.b32", all << k & all),
        ("shr.u32", "shl.b32") if k == m && k < 32 => push("and.b32", all >> k),
        _other => {}
    }
}

fn lop3(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let Some([a, b, c, table]) = site.plain::<4>("lop3.b32") else { return };
    let Some(table) = constant(site, table) else { return };
    let sources = [a, b, c];
    // What a bit of each source can be where it matters.
    let can_be = sources.map(|source| {
        let fact = site.fact(source);
        [site.demanded & !fact.ones() != 0, site.demanded & !fact.zeros() != 0]
    });
    let bit = |index: u32, at: usize| (index >> (2 - at) & 1) as usize;
    let possible: Vec<u32> = (0..8)
        .filter(|&index| (0..3).all(|at| can_be[at][bit(index, at)]))
        .filter(|&index| {
            let pairs = [(0, 1), (0, 2), (1, 2)];
            pairs.into_iter().all(|(i, j)| sources[i] != sources[j] || bit(index, i) == bit(index, j))
        })
        .collect();
    let is = |function: &dyn Fn(u32) -> bool| {
        possible.iter().all(|&index| (table >> index & 1 == 1) == function(index))
    };
    for (at, &source) in sources.iter().enumerate() {
        let set = |index| bit(index, at) == 1;
        if is(&|index| set(index)) {
            copy(site, out, source);
        } else if is(&|index| !set(index)) {
            out.push(Recipe::one(Step::plain("not.b32", &[source])));
        }
    }
    type Function = fn(bool, bool) -> bool;
    let functions: [(&str, Function); 3] =
        [("and.b32", |x, y| x && y), ("or.b32", |x, y| x || y), ("xor.b32", |x, y| x != y)];
    for (i, j) in [(0, 1), (0, 2), (1, 2)] {
        for (words, function) in functions {
            if is(&|index| function(bit(index, i) == 1, bit(index, j) == 1)) {
                out.push(Recipe::one(Step::plain(words, &[sources[i], sources[j]])));
            }
        }
    }
}

fn field(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let Some((name @ ("bfe" | "bfi"), ty @ ("u32" | "s32" | "b32"))) = opcode(site) else { return };
    let sources = &site.step.sources[..];
    let (Some(&length), Some(&from)) = (sources.last(), sources.iter().rev().nth(1)) else { return };
    let (Some(from), Some(length)) = (constant(site, from), constant(site, length)) else { return };
    if from % 8 != 0 || !matches!(length, 8 | 16) || from + length > 32 {
        return;
    }
    let mut building = Building::default();
    let (low, bits) = (u32::try_from(from).unwrap_or(0), u32::try_from(length).unwrap_or(8));
    let result = if name == "bfe" {
        let sign = if ty == "s32" { Sign::Signed } else { Sign::Unsigned };
        building.extract(&Operand::new(site, sources[0], low, bits, sign))
    } else {
        let byte = |byte: u8| {
            let at = u32::from(byte) * 8;
            if (low..low + bits).contains(&at) {
                Wanted::Of(sources[0], byte - u8::try_from(low / 8).unwrap_or(0))
            } else {
                Wanted::Of(sources[1], byte)
            }
        };
        building.gather([0, 1, 2, 3].map(byte))
    };
    out.push(building.finish(result));
}
