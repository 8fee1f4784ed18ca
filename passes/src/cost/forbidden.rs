//! Forms that are legal and cheap, and that must not be written all the same.
//!
//! NVIDIA's assembler gets them wrong. They are data, so that a fault of a form is one line here and nowhere else. A fault
//! of several statements together is in `optimiser/faults.rs`.

use ptxopt_grammar::video::{Form, Lanes, Routing, Sign, Simd, SimdArithmetic, SimdOp, SimdThen};

/// Why `form` must not be written, under a guard or without one; `None` if it may be.
///
/// ptxas 12.9 and 13.5 drop the guard of `vadd4.u32.u32.u32.add` and `vsub4.u32.u32.u32.add` with all lanes in
/// order, at every level of optimisation, on `sm_61` and later: the destination is always written. Behind a
/// branch, or with any other type, selector or mask, the same instruction is right.
#[must_use]
pub fn forbidden(form: Form, guarded: bool) -> Option<&'static str> {
    let Form::Simd(Simd { op, atype: Sign::Unsigned, btype: Sign::Unsigned, routing }) = form else {
        return None;
    };
    let SimdOp::Arithmetic { op, dtype: Sign::Unsigned, then: SimdThen::Add } = op else { return None };
    let dropped =
        matches!(op, SimdArithmetic::Add | SimdArithmetic::Sub) && routing == Routing::plain(Lanes::Four);
    (guarded && dropped).then_some("the assembler drops the guard of this form")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(op: SimdArithmetic, dtype: Sign, routing: Routing) -> Form {
        let op = SimdOp::Arithmetic { op, dtype, then: SimdThen::Add };
        Form::Simd(Simd { op, atype: Sign::Unsigned, btype: Sign::Unsigned, routing })
    }

    #[test]
    fn only_the_guarded_accumulating_sum_and_difference_are_forbidden() {
        let plain = Routing::plain(Lanes::Four);
        for op in [SimdArithmetic::Add, SimdArithmetic::Sub] {
            assert!(forbidden(form(op, Sign::Unsigned, plain), true).is_some());
            assert_eq!(forbidden(form(op, Sign::Unsigned, plain), false), None);
            assert_eq!(forbidden(form(op, Sign::Signed, plain), true), None);
            assert_eq!(forbidden(form(op, Sign::Unsigned, Routing::plain(Lanes::Two)), true), None);
            let masked = plain.masked(7).expect("three lanes");
            assert_eq!(forbidden(form(op, Sign::Unsigned, masked), true), None);
        }
        assert_eq!(forbidden(form(SimdArithmetic::AbsDiff, Sign::Unsigned, plain), true), None);
    }
}
