//! Packed instructions for bytes on halves, and pairs of scalar video instructions for halves.
//!
//! Halves have packed minima and sums from sm_90 on, bytes only on a few GPUs; the scalar video instructions are
//! executed by GPUs before sm_70.

use super::build::Build;
use super::lanes::Job;
use crate::recipe::Source;
use ptxopt_grammar::video::{Arithmetic, Part, Scalar, ScalarOp, Sign, Then};

/// The bytes at the upper end of each half.
pub(super) const UPPER_BYTES: Source = Source::Constant(0xff00_ff00);

const fn sign(signed: bool) -> Sign {
    if signed { Sign::Signed } else { Sign::Unsigned }
}

/// Both halves, one by one, each into its place.
pub(super) fn scalar_halves(build: &mut Build<'_>, op: Arithmetic, job: Job) -> Source {
    let form = |part: Part| Scalar {
        op: ScalarOp::Arithmetic { op, dtype: Sign::Unsigned, btype: sign(job.y.signed), saturate: false },
        atype: sign(job.x.signed),
        a: Some(part),
        b: Some(part),
        then: Then::Merge(part),
    };
    let [x, y] = job.words();
    // What the other half is before it is computed does not matter: it is a source that is read anyway.
    let low = build.scalar(form(Part::H0), &[x, y, x]);
    build.scalar(form(Part::H1), &[x, y, low])
}

/// A half of `x` and one of `y`, combined and added to `acc`.
pub(super) fn scalar_sum(
    build: &mut Build<'_>,
    op: Arithmetic,
    [a, b]: [(Source, bool, Part); 2],
    acc: Source,
) -> Source {
    let form = Scalar {
        op: ScalarOp::Arithmetic { op, dtype: Sign::Signed, btype: sign(b.1), saturate: false },
        atype: sign(a.1),
        a: Some(a.2),
        b: Some(b.2),
        then: Then::Add,
    };
    build.scalar(form, &[a.0, b.0, acc])
}
