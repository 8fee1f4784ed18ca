//! Lanes that leave a mask, and merges that become something simpler.
//!
//! Sound where the lane's bits are not demanded, are those of `c` already, or add zero: then the word with the lane
//! computed and the word with the lane of `c` agree on all demanded bits.

use crate::recipe::{Recipe, Source, Step};
use crate::rules::link::{Item, LaneOperand, Link, bytes};
use crate::rules::reach::{MadeWord, Reach};
use crate::rules::{Pass, Rule};
use crate::site::Site;
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::video::{Form, Scalar, Simd, SimdArithmetic, SimdOp, SimdThen, Then};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "undemanded-lanes",
        pass: Pass::Mask,
        law: "undemanded lanes need not be computed: vop4 d.b10, a, b, c = vop4 d.b0, a, b, c if d.b1 is unused",
        examples: &[
            "vmax4.s32.s32.s32 %e.b210, %a, %b, %c; and.b32 %d, %e, 0xff0000ff;",
            "vadd4.u32.u32.u32 %e, %a, %b, %c; and.b32 %d, %e, 0xff;",
            "vsub2.u32.u32.u32 %e, %a, %b, %c; shl.b32 %d, %e, 16;",
            "vset4.u32.u32.lt %e.b3, %a, %b, %c; and.b32 %d, %e, 0xffff;",
            "vadd.u32.u32.u32 %e.b2, %a.b0, %b.b1, %c; bfe.u32 %d, %e, 8, 8;",
            "setp.lt.u32 %p0, %a, %b; vadd4.u32.u32.u32 %e, %a, %b, %c; selp.b32 %f, %e, %a, %p0; and.b32 %d, %f, 0xff00;",
            "setp.lt.u32 %p0, %a, %b; mov.b32 %e, %c; @%p0 vmin4.s32.s32.s32 %e, %a, %b, %c; and.b32 %d, %e, 0xff;",
            "mov.b32 %e, 0; mov.b32 %r0, 0; L: vabsdiff4.u32.u32.u32 %e, %e, %b, %c; add.u32 %r0, %r0, 1; \
             setp.lt.u32 %p0, %r0, %a; @%p0 bra L; and.b32 %d, %e, 0xffff;",
        ],
        propose: undemanded_lanes,
    },
    Rule {
        name: "merge-to-store",
        pass: Pass::Mask,
        law: "a merge whose other bytes are undemanded is a shift: vop d.b1, a, b, c = vop(a, b) << 8 if only d.b1 matters",
        examples: &[
            "vadd.u32.u32.u32 %e.b0, %a.b1, %b.b2, %c; and.b32 %d, %e, 0xff;",
            "vabsdiff.s32.u32.s32 %e.b2, %a, %b.h1, %c; bfe.u32 %d, %e, 16, 8;",
            "vset.s32.s32.gt %e.h0, %a, %b, %c; cvt.u32.u16 %d, %e;",
            "vshl.u32.u32.u32.wrap %e.b3, %a, %b, %c; shr.u32 %d, %e, 24;",
        ],
        propose: merge_to_store,
    },
    Rule {
        name: "nothing-changes",
        pass: Pass::Mask,
        law: "lanes that are there already, or add zero, need not be computed: vabsdiff4.add(x, x, c) = c",
        examples: &[
            "vabsdiff4.u32.u32.u32.add %d, %a, %a, %c;",
            "mov.b32 %e, %b; vabsdiff4.u32.u32.u32.add %d.b10, %e, %b, %c;",
            "and.b32 %e, %a, 0x00ff00ff; mov.b32 %f, 0; vadd4.s32.s32.s32.add %d, %e, %f, %c;",
            "vset4.s32.s32.lt.add %d, %a, %a, %c;",
            "vmax4.u32.u32.u32 %d.b32, %c, %c, %c;",
            "prmt.b32 %e, %c, %a, 0x3254; mov.b32 %f, 0; vadd4.u32.u32.u32 %d, %e, %f, %c;",
            "vabsdiff.u32.u32.u32.add %d, %a.b3, %a.b3, %c;",
            "mov.b32 %e, 0; vadd.u32.u32.u32 %d.b1, %c.b1, %e, %c;",
        ],
        propose: nothing_changes,
    },
    Rule {
        name: "lowest-bits",
        pass: Pass::Mask,
        law: "nothing is carried into the lowest bit of a lane, nor into the lowest lane: vadd4(a, b) & 0x01010101 = (a ^ b) & 0x01010101",
        examples: &[
            "vadd4.u32.u32.u32 %e, %a, %b, %c; and.b32 %d, %e, 0x01010101;",
            "vsub4.s32.s32.s32 %e.b10, %a, %b.b7645, %c; and.b32 %d, %e, 0x00000101;",
            "vabsdiff2.u32.u32.u32 %e, %a, %b, %c; and.b32 %d, %e, 0x00010001;",
            "vadd4.u32.u32.u32 %e, %a, %b, %c; and.b32 %d, %e, 0xff;",
            "vsub2.u32.u32.u32 %e.h0, %a, %b.h23, %c; and.b32 %d, %e, 0xffff;",
        ],
        propose: lowest_bits,
    },
];

fn masked(site: &Site<'_, '_, '_>, form: Simd, mask: u8) -> Option<Recipe> {
    let routing = form.routing.masked(mask)?;
    Some(Recipe::one(Step::video(Form::Simd(Simd { routing, ..form }), &site.step.sources)))
}

fn undemanded_lanes(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let Some(&c) = site.step.sources.get(2) else { return };
    match site.form() {
        Some(Form::Scalar(Scalar { then: Then::Merge(part), .. })) => {
            if site.demanded_word() >> part.shift() & ((1 << part.bits()) - 1) == 0 {
                out.push(Recipe::copy(c, 32));
            }
        }
        Some(Form::Simd(form)) => {
            let Some((_, link)) = Link::simd(site).filter(|(_, link)| !link.adds()) else { return };
            let mask = link.mask() & link.demanded(site);
            if mask == 0 {
                out.push(Recipe::copy(c, 32));
            } else if mask != link.mask() {
                out.extend(masked(site, form, mask));
            }
        }
        Some(Form::Scalar(_) | Form::Mad(_)) | None => {}
    }
}

fn merge_to_store(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let Some(Form::Scalar(form @ Scalar { then: Then::Merge(part), .. })) = site.form() else { return };
    let others = !(((1_u64 << part.bits()) - 1) << part.shift());
    if form.op.saturates() || u64::from(site.demanded_word()) & others != 0 {
        return;
    }
    let form = Form::Scalar(Scalar { then: Then::Store, ..form });
    let mut steps = vec![Step::video(form, &site.step.sources[..2])];
    if part.shift() > 0 {
        let amount = Source::Constant(part.shift().into());
        steps.push(Step::plain(op::SHL_B32, &[Source::Step(0), amount]));
    }
    out.push(Recipe::of(steps));
}

fn nothing_changes(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let Some(link) = Link::of(site, site.step) else { return };
    let changes = |item: &&Item| {
        if link.adds() { link.added(item) != Some(0) } else { !is_there(site, &link, item) }
    };
    let mask = link.items.iter().filter(changes).fold(0, |mask, item| mask | 1 << item.lane);
    match site.form() {
        _ if mask == 0 => out.push(Recipe::copy(link.c, 32)),
        Some(Form::Simd(form)) if mask != link.mask() => out.extend(masked(site, form, mask)),
        Some(Form::Simd(_) | Form::Scalar(_) | Form::Mad(_)) | None => {}
    }
}

/// Whether the demanded bits of a lane become what they are in `c`.
fn is_there(site: &Site<'_, '_, '_>, link: &Link, item: &Item) -> bool {
    let Some(there) = LaneOperand::of(site, link.c, item.lane, link.size) else { return false };
    let demanded = site.demanded_word().to_le_bytes();
    let first = usize::from(item.lane) * bytes(link.size);
    let wanted = &demanded[first..first + bytes(link.size)];
    let promised = there.needs.iter().zip(wanted).all(|(need, &wanted)| wanted & !need.bits == 0);
    promised && link.moved(item).is_some_and(|moved| there.needs.iter().map(|need| need.byte).eq(moved))
}

fn lowest_bits(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let Some((_, mut link)) = Link::simd(site) else { return };
    let SimdOp::Arithmetic { op, then: SimdThen::Store, .. } = link.op else { return };
    let demanded = link.demanded(site);
    if demanded & !link.mask() != 0 {
        return;
    }
    link.items.retain(|item| demanded >> item.lane & 1 == 1);
    let lowest_bits =
        (0..link.size.count()).fold(0_u32, |bits, lane| bits | 1 << (u32::from(lane) * link.size.bits()));
    let mut opcodes = Vec::new();
    match op {
        SimdArithmetic::Add | SimdArithmetic::Sub | SimdArithmetic::AbsDiff
            if site.demanded_word() & !lowest_bits == 0 =>
        {
            opcodes.push(op::XOR_B32);
        }
        SimdArithmetic::Add if demanded == 1 => opcodes.push(op::ADD_U32),
        SimdArithmetic::Sub if demanded == 1 => opcodes.push(op::SUB_U32),
        SimdArithmetic::Add
        | SimdArithmetic::Sub
        | SimdArithmetic::AbsDiff
        | SimdArithmetic::Average
        | SimdArithmetic::Min
        | SimdArithmetic::Max => return,
    }
    let reach = Reach::of(site, &site.step.sources[..2]);
    for instruction in opcodes {
        let mut steps = Vec::new();
        let mut word =
            |needs| Some(MadeWord::into_register(reach.spell(&needs).into_iter().next()?, &mut steps));
        let (Some(x), Some(y)) = (word(link.needs(|item| &item.x)), word(link.needs(|item| &item.y))) else {
            return;
        };
        steps.push(Step::plain(instruction, &[x, y]));
        out.push(Recipe::of(steps));
    }
}
