//! Plain instructions: what video instructions leave over once masks and constants are known.
//!
//! NVIDIA's assembler does general algebra itself, so the program's own plain code is left to it (see
//! `optimiser/profit.rs`). What is here simplifies the plain spellings of video instructions before they are written.

use crate::recipe::{Recipe, Source, Step};
use crate::rules::operands::{Operand, SIGNED_WORD, WORD, within};
use crate::rules::{Pass, Rule, is_dot_product};
use crate::site::Site;
use ptxopt_grammar::table::instruction::{Instruction, Mnemonic, op};
use ptxopt_grammar::table::words::Modifier;
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
        name: "dot-product-onto",
        pass: Pass::Simplify,
        law: "dot(a,b,0) + c = dot(a,b,c)",
        examples: &[
            "dp4a.u32.s32 %r0, %a, %b, 0; add.u32 %d, %r0, %c;",
            "mov.b32 %e, 0; dp2a.hi.s32.s32 %r0, %a, %b, %e; add.s32 %d, %c, %r0;",
        ],
        propose: onto,
    },
    Rule {
        name: "lop3-fewer",
        pass: Pass::Simplify,
        law: "a function of three words that does not depend on all of them is a function of fewer",
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
];

/// An opcode with one type and no other modifier but `.lo`: `add.u32`, `mul.lo.u32`.
fn typed(site: &Site<'_, '_, '_>) -> Option<(Mnemonic, Modifier)> {
    let instruction = site.instruction()?;
    let (mnemonic, ty) = (instruction.mnemonic(), instruction.last_type()?);
    let low: &[Modifier] = if matches!(mnemonic, op::MUL | op::MAD) { &[op::LO] } else { &[] };
    instruction.is_typed(mnemonic, low).then_some((mnemonic, ty))
}

/// The number that the source is known to be, at the width of the result.
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
    if site.instruction().is_some_and(|of| is_dot_product(of.row())) {
        match sources {
            &[a, b, c] if is(a, 0) || is(b, 0) => copy(site, out, c),
            _ => {}
        }
        return;
    }
    let Some((mnemonic, ty)) = typed(site) else { return };
    match (mnemonic, sources) {
        (op::ADD, &[a, b]) if is(a, 0) => copy(site, out, b),
        (op::ADD | op::SUB, &[a, b]) if is(b, 0) => copy(site, out, a),
        // The distance has 32 bits, however wide the result is.
        (op::SHL | op::SHR, &[a, b]) if site.constant(b).is_some_and(|far| far.trailing_zeros() >= 32) => {
            copy(site, out, a);
        }
        (op::MUL, &[a, b]) if is(b, 1) => copy(site, out, a),
        (op::MUL, &[a, b]) if is(a, 1) => copy(site, out, b),
        (op::MAD, &[a, b, c]) if is(a, 0) || is(b, 0) => copy(site, out, c),
        (op::MAD, &[a, b, c]) => {
            let (add, mul) = (op::ADD.of(ty), op::MUL.with(&[op::LO, ty]));
            if is(b, 1) {
                out.push(Recipe::one(Step::wide(add, &[a, c], site.step.width)));
            } else if is(a, 1) {
                out.push(Recipe::one(Step::wide(add, &[b, c], site.step.width)));
            } else if is(c, 0) {
                out.push(Recipe::one(Step::wide(mul, &[a, b], site.step.width)));
            }
        }
        (op::SAD, &[a, b, c]) if a == b => copy(site, out, c),
        (op::SAD, &[a, b, c]) if ty == op::U32 && is(b, 0) => {
            out.push(Recipe::one(Step::plain(op::ADD_U32, &[a, c])));
        }
        (op::BFI, &[_, b, _, length]) if is(length, 0) => copy(site, out, b),
        (op::BFI, &[a, _, from, length]) if ty == op::B32 && is(from, 0) && is(length, 32) => {
            copy(site, out, a);
        }
        (op::BFE, &[a, from, length]) if matches!(ty, op::U32 | op::S32) && is(from, 0) && is(length, 32) => {
            copy(site, out, a);
        }
        _ => {}
    }
}

fn ordered(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let (Some((mnemonic, ty)), &[a, b]) = (typed(site), &site.step.sources[..]) else { return };
    let sign = match ty {
        op::U32 => Sign::Unsigned,
        op::S32 => Sign::Signed,
        _ => return,
    };
    let (x, y) = (Operand::part(site, a, None, sign), Operand::part(site, b, None, sign));
    if !matches!(mnemonic, op::MIN | op::MAX) {
        return;
    }
    if x.range.1 <= y.range.0 {
        copy(site, out, if mnemonic == op::MIN { a } else { b });
    } else if y.range.1 <= x.range.0 {
        copy(site, out, if mnemonic == op::MIN { b } else { a });
    } else if sign == Sign::Signed && [x, y].iter().all(|operand| within(operand.range, (0, WORD.1))) {
        out.push(Recipe::one(Step::plain(mnemonic.of(op::U32), &[a, b])));
    } else if sign == Sign::Unsigned && [x, y].iter().all(|operand| within(operand.range, SIGNED_WORD)) {
        out.push(Recipe::one(Step::plain(mnemonic.of(op::S32), &[a, b])));
    }
}

fn power(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let Some((mnemonic @ (op::MUL | op::MAD), op::U32 | op::S32)) = typed(site) else { return };
    let (a, b) = (site.step.sources[0], site.step.sources[1]);
    if mnemonic == op::MAD && constant(site, site.step.sources[2]) != Some(0) {
        return;
    }
    for (kept, factor) in [(a, b), (b, a)] {
        let factor = constant(site, factor).filter(|factor| factor.is_power_of_two());
        if let Some(factor) = factor {
            let amount = Source::Constant(factor.trailing_zeros().into());
            out.push(Recipe::one(Step::plain(op::SHL_B32, &[kept, amount])));
        }
    }
}

fn onto(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let Some([x, y]) = site.plain(op::ADD_U32).or_else(|| site.plain(op::ADD.of(op::S32))) else { return };
    for (product, sum) in [(x, y), (y, x)] {
        let Some(dot) = site.definition(product) else { continue };
        let is_dot = dot.instruction().is_some_and(|of| is_dot_product(of.row()));
        if let (true, &[a, b, none]) = (is_dot, &dot.sources[..])
            && constant(site, none) == Some(0)
        {
            out.push(Recipe::one(Step { sources: [a, b, sum].into_iter().collect(), ..dot }));
        }
    }
}

fn lop3(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let Some([a, b, c, table]) = site.plain::<4>(op::LOP3_B32) else { return };
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
            out.push(Recipe::one(Step::plain(op::NOT_B32, &[source])));
        }
    }
    type Function = fn(bool, bool) -> bool;
    let functions: [(Instruction, Function); 3] =
        [(op::AND_B32, |x, y| x && y), (op::OR_B32, |x, y| x || y), (op::XOR_B32, |x, y| x != y)];
    for (i, j) in [(0, 1), (0, 2), (1, 2)] {
        for (instruction, function) in functions {
            if is(&|index| function(bit(index, i) == 1, bit(index, j) == 1)) {
                out.push(Recipe::one(Step::plain(instruction, &[sources[i], sources[j]])));
            }
        }
    }
}
