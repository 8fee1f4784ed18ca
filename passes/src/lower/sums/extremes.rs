//! Sums of minima and maxima.
//!
//! `2 max = x + y + |x-y|` and `2 min = x + y - |x-y|` lane by lane, so the sum of the lanes is half a sum of sums, which
//! dot products and distances of bytes give at once. This is proved part by part, so it is proposed where lanes vary
//! independently.

use super::total::{Total, distances, dot, total, weights};
use super::{apart, placed, zeroed};
use crate::lower::Work;
use crate::lower::build::{ALL, Build};
use crate::lower::lanes::Job;
use crate::lower::min_max::{self, Extremum, extremum};
use crate::lower::route::Routes;
use crate::lower::single;
use crate::recipe::Source;

/// `c` and the lesser or the greater lanes.
pub(super) fn extremes(
    build: &mut Build<'_>,
    work: Work,
    which: Extremum,
    routes: &Routes,
    c: Source,
) -> Option<Source> {
    #[derive(Clone, Copy)]
    enum Method {
        Total,
        Distance,
        DistanceOnly,
    }
    let geometry = routes.geometry;
    let of_one_type = work.a_signed == work.b_signed;
    let methods: &[Method] = if geometry.is_bytes() && of_one_type && routes.are_independent() {
        &[Method::Total, Method::Distance, Method::DistanceOnly]
    } else {
        &[Method::Total]
    };
    match build.any(methods) {
        Method::Total => {
            let (job, counts) = placed(build, work, routes)?;
            let lanes = extremum(build, job, which);
            // Of a signed and an unsigned number, the lesser fits the signed type and the greater the unsigned one.
            let signed = job.signed().unwrap_or(which == Extremum::Min);
            total(build, Total { geometry, lanes, signed, counts }, c)
        }
        Method::Distance => {
            let (job, counts) = placed(build, work, routes)?;
            twice_by_dot(build, job, counts, which, c)
        }
        Method::DistanceOnly => {
            let (job, _) = apart(build, work, routes)?;
            Some(twice_by_distances(build, job, which, c))
        }
    }
}

/// `2 max = x + y + |x-y|`, and `-2 min = -x - y + |x-y|`
fn twice_by_dot(
    build: &mut Build<'_>,
    job: Job,
    counts: [u8; 4],
    which: Extremum,
    c: Source,
) -> Option<Source> {
    let geometry = job.geometry;
    let [x, y] = job.words();
    let signed = job.x.signed;
    let plus = weights(counts.map(u8::cast_signed));
    let of_each = match which {
        Extremum::Max => plus,
        Extremum::Min => weights(counts.map(|count| -count.cast_signed())),
    };
    let none = Source::Constant(0);
    let sum = if job.is_full() && counts == [1; 4] {
        distances(build, x, y, [signed; 2], none)
    } else {
        let distance = min_max::distance(build, x, y, [signed; 2]);
        dot(build, geometry, distance, false, plus, none)
    };
    let sum = dot(build, geometry, x, signed, of_each, sum);
    let sum = dot(build, geometry, y, signed, of_each, sum);
    let half = build.sar(sum, 1);
    Some(match which {
        Extremum::Max => build.add(half, c),
        Extremum::Min => build.sub(c, half),
    })
}

/// The same with the sums of `x` and `y` as distances to the least or the greatest number.
fn twice_by_distances(build: &mut Build<'_>, job: Job, which: Extremum, c: Source) -> Source {
    let geometry = job.geometry;
    let [x, y] = zeroed(build, job);
    let signed = job.x.signed;
    let (from, lifted) = match (which, signed) {
        (Extremum::Max, false) => (Source::Constant(0), 0),
        (Extremum::Max, true) => (geometry.high(), -4 * 128),
        (Extremum::Min, false) => (Source::Constant(ALL), 4 * 255),
        (Extremum::Min, true) => (geometry.low(), 4 * 127),
    };
    let sum = distances(build, x, y, [signed; 2], Source::Constant(0));
    let sum = distances(build, x, from, [signed; 2], sum);
    let sum = distances(build, y, from, [signed; 2], sum);
    let half = build.sar(sum, 1);
    let result = match which {
        Extremum::Max => build.add(half, c),
        Extremum::Min => build.sub(c, half),
    };
    build.add(result, single::word(lifted))
}
