//! The SIMD forms that are measured one by one.

use ptxopt_grammar::video::{Compare, Form, Lanes, Routing, Simd, SimdOp};

/// The SIMD forms that lowerings were measured for: all operations and types on whole registers, and the usual types
/// with some masks and selectors.
pub(crate) fn simd_forms() -> Vec<Form> {
    let simd = [Lanes::Four, Lanes::Two].into_iter().flat_map(Simd::all);
    simd.flat_map(|simd| routings(simd).into_iter().map(move |routing| Form::Simd(Simd { routing, ..simd })))
        .collect()
}

fn routings(simd: Simd) -> Vec<Routing> {
    let plain = simd.routing;
    let usual = simd.atype == simd.btype
        && match simd.op {
            SimdOp::Arithmetic { dtype, .. } => dtype == simd.atype,
            SimdOp::Set { compare, .. } => {
                matches!(compare, Compare::Lt | Compare::Eq)
            }
        };
    if !usual {
        return vec![plain];
    }
    let (masks, selectors): (&[u8], [[&[u8]; 2]; 3]) = if plain.lanes().count() == 4 {
        let own: &[u8] = &[0, 1, 2, 3];
        let others = [[own, &[7, 6, 5, 4]], [&[0, 0, 0, 0], &[4, 5, 6, 7]], [&[0, 4, 1, 5], &[2, 6, 3, 7]]];
        (&[1, 8, 3, 5, 7], others)
    } else {
        (&[1, 2], [[&[0, 1], &[3, 2]], [&[0, 0], &[2, 3]], [&[0, 2], &[1, 3]]])
    };
    let masked = masks.iter().filter_map(|&mask| plain.masked(mask));
    let selected = selectors.iter().filter_map(|[a, b]| plain.selected(a, b));
    [plain].into_iter().chain(masked).chain(selected).collect()
}
