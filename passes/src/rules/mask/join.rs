//! Merges into merges, and sums onto sums: several instructions that are one.
//!
//! An instruction that merges into the result of another of its kind computes the same as one instruction with the
//! lanes of both, since lanes are independent of each other; and a sum of lanes does not depend on which lanes they
//! are. Scalar instructions that write one byte, or add to `c`, are links of such chains too.

use crate::recipe::{Recipe, Source};
use crate::rules::link::{Item, Link};
use crate::rules::reach::Reach;
use crate::rules::route::{Fetch, Rest};
use crate::rules::{Pass, Rule};
use crate::site::Site;
use ptxopt_grammar::video::{Sign, SimdOp, SimdThen};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "join-merges",
        pass: Pass::Mask,
        law: "lanes of one word may be computed together: vop4 d.b10, a, b, (vop4 e.b32, a, b, c) = vop4 d, a, b, c",
        examples: &[
            "vadd4.u32.u32.u32 %e.b32, %a, %b, %c; vadd4.u32.u32.u32 %d.b10, %a, %b, %e;",
            "vmax4.s32.s32.s32 %e.b3, %a.b0123, %b, %c; vmax4.s32.s32.s32 %d.b1, %a, %b.b4567, %e;",
            "vset2.u32.u32.lt %e.h0, %a, %b, %c; vset2.u32.u32.lt %d.h1, %a, %b, %e;",
            "vabsdiff4.u32.u32.u32 %e, %a, %b, %c; vabsdiff4.u32.u32.u32 %d.b2, %c, %b, %e;",
            "vadd.u32.u32.u32 %e.b0, %a.b0, %b.b0, %c; vadd.u32.u32.u32 %d.b1, %a.b1, %b.b1, %e;",
            "vabsdiff.u32.u32.u32 %r0.b0, %a.b0, %b.b0, %c; vabsdiff.u32.u32.u32 %r1.b1, %a.b1, %b.b1, %r0; \
             vabsdiff.u32.u32.u32 %r2.b2, %a.b2, %b.b2, %r1; vabsdiff.u32.u32.u32 %d.b3, %a.b3, %b.b3, %r2;",
            "vset.s32.s32.ge %r0.b0, %a.b3, %b.b0, %c; vset.s32.s32.ge %d.b2, %b.b1, %a.b1, %r0;",
            "vadd.u32.u32.u32.sat %e.b0, %a.b0, %b.b0, %c; vadd.u32.u32.u32.sat %d.b1, %a.b1, %b.b1, %e;",
            "bfe.u32 %e, %a, 8, 8; bfe.u32 %f, %b, 8, 8; vmax.u32.u32.u32 %r0.b0, %a.b0, %b.b0, %c; \
             vmax.u32.u32.u32 %d.b1, %e, %f, %r0;",
        ],
        propose: join_merges,
    },
    Rule {
        name: "join-sums",
        pass: Pass::Mask,
        law: "sums of lanes are one sum: vop4.add d.b0, a, b, (vop4.add e.b1, a, b, c) = vop4.add d.b10, a, b, c",
        examples: &[
            "vabsdiff4.u32.u32.u32.add %e.b10, %a, %b, %c; vabsdiff4.u32.u32.u32.add %d.b32, %a, %b, %e;",
            "vadd2.s32.s32.s32.add %e.h0, %a, %b, %c; vadd2.s32.s32.s32.add %d.h0, %a.h11, %b.h33, %e;",
            "vabsdiff.u32.u32.u32.add %r0, %a.b0, %b.b0, %c; vabsdiff.u32.u32.u32.add %r1, %a.b1, %b.b1, %r0; \
             vabsdiff.u32.u32.u32.add %r2, %a.b2, %b.b2, %r1; vabsdiff.u32.u32.u32.add %d, %a.b3, %b.b3, %r2;",
            "vset.u32.u32.lt.add %r0, %a.b0, %b.b0, %c; vset.u32.u32.lt.add %d, %a.b3, %b.b1, %r0;",
            "vsub.s32.s32.s32.add %r0, %a.h0, %b.h0, %c; vsub.s32.s32.s32.add %d, %a.h1, %b.h1, %r0;",
            "vset4.u32.u32.ne.add %r0.b210, %a, %b, %c; vset.u32.u32.ne.add %d, %a.b3, %b.b3, %r0;",
        ],
        propose: join_sums,
    },
];

fn join_merges(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let Some(mut link) = Link::of(site, site.step).filter(|link| !link.adds()) else { return };
    let demanded = link.demanded(site);
    if demanded & !link.mask() == 0 {
        // Nothing is read of what lies below.
        return;
    }
    let mut sources = site.step.sources.to_vec();
    let mut joined = Vec::new();
    while let Some((next, more)) = below(site, &link) {
        let covered = link.mask();
        link.items.extend(next.items.into_iter().filter(|item| covered >> item.lane & 1 == 0));
        link.c = next.c;
        sources.extend(more);
        let all = demanded & !link.mask() == 0;
        let mut now = link.clone();
        now.items.retain(|item| demanded >> item.lane & 1 == 1);
        if now.items.is_empty() {
            break;
        }
        joined.push((now, if all { Rest::Free } else { Rest::Kept }, sources.clone()));
        if all {
            break;
        }
    }
    propose(site, joined, out);
}

fn join_sums(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let Some(mut link) = Link::of(site, site.step).filter(Link::adds) else { return };
    let mut sources = site.step.sources.to_vec();
    let mut joined = Vec::new();
    while let Some((next, more)) = below(site, &link) {
        if link.items.len() + next.items.len() > usize::from(link.size.count()) {
            break;
        }
        for item in next.items {
            let free = (0..link.size.count()).filter(|lane| link.mask() >> lane & 1 == 0);
            let lane = [item.lane].into_iter().chain(free).find(|lane| link.mask() >> lane & 1 == 0);
            link.items.push(Item { lane: lane.expect("there are lanes for all"), ..item });
        }
        link.c = next.c;
        sources.extend(more);
        joined.push((link.clone(), Rest::Kept, sources.clone()));
    }
    propose(site, joined, out);
}

/// The longest chain first.
fn propose(site: &Site<'_, '_, '_>, joined: Vec<(Link, Rest, Vec<Source>)>, out: &mut Vec<Recipe>) {
    for (link, rest, sources) in joined.into_iter().rev() {
        let reach = Reach::of(site, &sources);
        link.route(site, &reach, rest, &[Fetch::Selectors, Fetch::Moves], out);
    }
}

/// The link that computes `c`, if it has the same operation and lane size, and what it reads.
fn below(site: &Site<'_, '_, '_>, link: &Link) -> Option<(Link, Vec<Source>)> {
    let step = site.definition(link.c)?;
    let next = Link::typed(site, &step, (link.atype, link.btype))?;
    let same = next.size == link.size && alike(next.op) == alike(link.op);
    same.then(|| (next, step.sources[..2].to_vec()))
}

/// The operation, without its result type where that type has no effect.
fn alike(op: SimdOp) -> SimdOp {
    match op {
        SimdOp::Arithmetic { op, then: then @ (SimdThen::Store | SimdThen::Add), .. } => {
            SimdOp::Arithmetic { op, dtype: Sign::Unsigned, then }
        }
        SimdOp::Arithmetic { then: SimdThen::Saturate, .. } | SimdOp::Set { .. } => op,
    }
}
