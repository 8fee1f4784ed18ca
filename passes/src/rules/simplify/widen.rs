//! Masks made full: the instructions that compute all lanes are often the cheap ones.
//!
//! An undemanded lane may be computed; a lane that is not to be computed may be taken from `c` afterwards, or
//! computed of bytes that add nothing to a sum.

use crate::lanes::Byte;
use crate::recipe::{Recipe, Source, Step};
use crate::rules::link::{Item, LaneOperand, Link, bytes};
use crate::rules::reach::{Reach, contents};
use crate::rules::route::{Fetch, Rest};
use crate::rules::{Pass, Rule};
use crate::site::Site;
use ptxopt_grammar::table::instruction::op;

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "full-mask",
        pass: Pass::Simplify,
        law: "undemanded lanes may be computed: vop4 d.b1, a, b, c = vop4 d, a, b, a if only d.b1 matters",
        examples: &[
            "vadd4.u32.u32.u32 %e.b1, %a, %b, %c; bfe.u32 %d, %e, 8, 8;",
            "vabsdiff2.u32.u32.u32 %e.h1, %a, %b, %c; shr.u32 %d, %e, 16;",
            "vset4.s32.u32.lt %e.b310, %a, %b, %c; and.b32 %d, %e, 0xff00ffff;",
            "vmin4.s32.s32.s32.sat %e.b20, %a.b7531, %b, %c; and.b32 %d, %e, 0x00ff00ff;",
            "vadd4.u32.u32.u32 %d, %a, %b, %c;",
        ],
        propose: full_mask,
    },
    Rule {
        name: "merge-afterwards",
        pass: Pass::Simplify,
        law: "a merge may be a byte move afterwards: vop4 d.b20, a, b, c = prmt(vop4(a, b), c, 0x7250)",
        examples: &[
            "vadd4.u32.u32.u32 %d.b20, %a, %b, %c;",
            "vabsdiff4.u32.u32.u32 %d.b3, %a.b0123, %b, %c;",
            "vmax2.s32.u32.s32.sat %d.h1, %a, %b, %c;",
            "mov.b32 %e, 0; vset4.u32.u32.eq %d.b21, %a, %b, %e;",
        ],
        propose: merge_afterwards,
    },
    Rule {
        name: "sum-of-all-lanes",
        pass: Pass::Simplify,
        law: "lanes of zeros, or of equal bytes, add nothing: vabsdiff4.add d.b10, a, b, c = vabsdiff4.add(a, b', c)",
        examples: &[
            "vabsdiff4.u32.u32.u32.add %d.b10, %a, %b, %c;",
            "vadd4.u32.u32.u32.add %d.b3, %a, %b, %c;",
            "vset4.u32.u32.ge.add %d.b2, %a, %b, %c;",
            "vabsdiff2.s32.s32.s32.add %d.h0, %a, %b, %c;",
            "and.b32 %e, %a, 0xff; vavrg4.u32.u32.s32.add %d.b0, %e, %b, %c;",
        ],
        propose: sum_of_all_lanes,
    },
];

fn full_mask(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let Some((_, mut link)) = Link::simd(site) else { return };
    let demanded = link.demanded(site);
    if link.adds() || demanded & !link.mask() != 0 {
        return;
    }
    link.items.retain(|item| demanded >> item.lane & 1 == 1);
    let reach = Reach::of(site, &site.step.sources[..2]);
    link.route(site, &reach, Rest::Free, &[Fetch::Selectors, Fetch::Moves], out);
}

fn merge_afterwards(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let Some((_, link)) = Link::simd(site) else { return };
    let demanded = link.demanded(site);
    if link.adds() || demanded & !link.mask() == 0 {
        return;
    }
    let reach = Reach::of(site, &site.step.sources[..2]);
    let mut all = Vec::new();
    link.route(site, &reach, Rest::Free, &[Fetch::Selectors, Fetch::Moves], &mut all);
    for Recipe { mut steps } in all {
        let computed = Source::Step(steps.len() - 1);
        steps.push(merge(site, &link, computed));
        out.push(Recipe::of(steps));
    }
}

/// Lanes of the mask from `computed`, the others from `c`.
fn merge(site: &Site<'_, '_, '_>, link: &Link, computed: Source) -> Step {
    let count = bytes(link.size);
    let taken: [bool; 4] = std::array::from_fn(|at| link.mask() >> (at / count) & 1 == 1);
    let demanded = site.demanded_word().to_le_bytes();
    let below = contents(site, link.c);
    let zero = |at: usize| below.is_some_and(|bytes| bytes[at] == Byte::Constant(0));
    if (0..4).all(|at| taken[at] || zero(at) || demanded[at] == 0) {
        let mask = u32::from_le_bytes(taken.map(|taken| if taken { 0xff } else { 0 }));
        return Step::plain(op::AND_B32, &[computed, Source::Constant(mask.into())]);
    }
    let digits = (0_u64..).zip(taken).map(|(at, taken)| if taken { at } else { at + 4 } << (4 * at)).sum();
    Step::plain(op::PRMT_B32, &[computed, link.c, Source::Constant(digits)])
}

fn sum_of_all_lanes(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let Some((_, link)) = Link::simd(site) else { return };
    if !link.adds() || link.mask() == link.size.full_mask() {
        return;
    }
    let reach = Reach::of(site, &site.step.sources[..2]);
    for fill in FILLS {
        let mut full = link.clone();
        let others = (0..link.size.count()).filter(|lane| link.mask() >> lane & 1 == 0);
        for lane in others {
            let Some([x, y]) = fill(site, &link, lane) else { continue };
            full.items.push(Item { lane, x, y });
        }
        let nothing = full.items[link.items.len()..].iter().all(|item| full.added(item) == Some(0));
        if nothing && full.mask() == full.size.full_mask() {
            full.route(site, &reach, Rest::Kept, &[Fetch::Moves], out);
        }
    }
}

/// Operands for a lane that is to add nothing; whether they do so depends on the instruction.
type Fill = fn(&Site<'_, '_, '_>, &Link, u8) -> Option<[LaneOperand; 2]>;

/// The simplest first: one side stays as it is, or none does.
const FILLS: [Fill; 7] = [
    |site, link, lane| own(site, link, 0, lane).map(|own| [own.clone(), own]),
    |site, link, lane| own(site, link, 1, lane).map(|own| [own.clone(), own]),
    |site, link, lane| Some([own(site, link, 0, lane)?, LaneOperand::number(0, link.size)]),
    |site, link, lane| Some([LaneOperand::number(0, link.size), own(site, link, 1, lane)?]),
    |_, link, _| Some([0, 0].map(|number| LaneOperand::number(number, link.size))),
    |_, link, _| Some([0, 1].map(|number| LaneOperand::number(number, link.size))),
    |_, link, _| Some([1, 0].map(|number| LaneOperand::number(number, link.size))),
];

fn own(site: &Site<'_, '_, '_>, link: &Link, source: usize, lane: u8) -> Option<LaneOperand> {
    LaneOperand::of(site, site.step.sources[source], lane, link.size)
}
