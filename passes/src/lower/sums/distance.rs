//! Sums of distances.
//!
//! The instruction that sums distances of bytes sums all four, so those that do not matter are made equal, or zero.
//! Of an unsigned `u` and a signed `v`, the distance is `|u - max(v, 0)| + max(-v, 0)`, and the sum of both parts is
//! that of two instructions. This is proved part by part, so it is proposed where lanes vary independently.

use super::total::{Total, distances, dot, total, weights};
use super::{apart, placed, zeroed};
use crate::lower::Work;
use crate::lower::absdiff;
use crate::lower::build::Build;
use crate::lower::lanes::{Clamp, Job, Operand, clamp, spread};
use crate::lower::min_max;
use crate::lower::route::Routes;
use crate::recipe::Source;

/// Both words with the lanes that do not matter equal.
fn equalled(build: &mut Build<'_>, job: Job) -> [Source; 2] {
    let [x, y] = job.words();
    if job.is_full() {
        return [x, y];
    }
    let selector = (0..4).map(|lane| {
        let from = if job.active >> lane & 1 == 1 { lane } else { lane + 4 };
        from << (4 * lane)
    });
    let selector = selector.sum();
    [build.prmt(x, y, selector), y]
}

/// `c` and the distances of all lanes.
pub(super) fn distance(build: &mut Build<'_>, work: Work, routes: &Routes, c: Source) -> Option<Source> {
    #[derive(Clone, Copy)]
    enum Method {
        Instruction,
        Total,
        Parts,
        PartsByDot,
    }
    let geometry = routes.geometry;
    let mixed = work.a_signed != work.b_signed;
    let methods: &[Method] = match (geometry.is_bytes(), mixed) {
        (true, false) => &[Method::Instruction, Method::Total],
        (true, true) if routes.are_independent() => &[Method::Instruction, Method::Parts, Method::PartsByDot],
        (true, true) => &[Method::Instruction],
        (false, _) => &[Method::Total],
    };
    match build.any(methods) {
        Method::Instruction => {
            let (job, _) = apart(build, work, routes)?;
            let [x, y] = if mixed { zeroed(build, job) } else { equalled(build, job) };
            Some(distances(build, x, y, [job.x.signed, job.y.signed], c))
        }
        Method::Total => {
            let (job, counts) = placed(build, work, routes)?;
            // Distances of mixed types do not fit their lanes.
            if mixed {
                return None;
            }
            let result = absdiff::distance(build, job)?;
            total(build, Total { geometry, lanes: result, signed: false, counts }, c)
        }
        // Of an unsigned u and a signed v: |u - max(v, 0)| + max(-v, 0).
        Method::Parts => {
            let (job, _) = apart(build, work, routes)?;
            let [x, y] = zeroed(build, job);
            let job = Job { x: Operand { source: x, ..job.x }, y: Operand { source: y, ..job.y }, ..job };
            let [unsigned, signed] = job.sorted();
            let positive = clamp(build, geometry, signed, Clamp::Negative);
            let near = distances(build, unsigned, positive, [false; 2], c);
            Some(distances(build, signed, positive, [true; 2], near))
        }
        Method::PartsByDot => {
            let (job, counts) = placed(build, work, routes)?;
            let [unsigned, signed] = job.sorted();
            let mask = spread(build, geometry, signed);
            let positive = build.logic2([signed, mask], |signed, mask| signed & !mask);
            let negative = build.and(signed, mask);
            let near = min_max::distance(build, unsigned, positive, [false; 2]);
            let acc = dot(build, geometry, near, false, weights(counts.map(u8::cast_signed)), c);
            let minus = counts.map(|count| -count.cast_signed());
            Some(dot(build, geometry, negative, true, weights(minus), acc))
        }
    }
}
