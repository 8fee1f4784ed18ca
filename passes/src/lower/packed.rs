//! Bytes as halves, and the scalar video instructions that add: GPUs before sm_70 execute these.

use super::build::Build;
use crate::recipe::Source;
use ptxopt_grammar::video::{Arithmetic, Part, Scalar, ScalarOp, Sign, Then};

/// The bytes at the upper end of each half.
pub(super) const UPPER_BYTES: Source = Source::Constant(0xff00_ff00);

const fn sign(signed: bool) -> Sign {
    if signed { Sign::Signed } else { Sign::Unsigned }
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
