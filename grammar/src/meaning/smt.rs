//! Terms as text in SMT-LIB 2, for solvers outside.
//!
//! The operations of terms are those of the theory of bit vectors, corner cases included: large shifts, division
//! by zero. A condition is a vector of one bit; input 3 of 32 bits is called `input3_32`.

use super::term::{Op, Term, Terms};
use std::fmt::Write;

/// A query that is unsatisfiable just if every pair is equal for all inputs.
///
/// # Panics
///
/// If the terms of a pair are not equally wide.
#[must_use]
pub fn equality(terms: &Terms, pairs: &[(Term, Term)]) -> String {
    let mut text = "(set-logic QF_BV)\n".to_owned();
    let needed = needed(terms, pairs);
    for term in terms.iter().take(needed.len()).filter(|term| needed[term.index()]) {
        define(terms, term, &mut text).expect("a string can be written to");
    }
    text += "(assert (or false";
    for (a, b) in pairs {
        assert_eq!(terms.width(*a), terms.width(*b), "only equally wide terms can be equal");
        write!(text, " (distinct t{} t{})", a.index(), b.index()).expect("a string can be written to");
    }
    text + "))\n(check-sat)\n"
}

fn needed(terms: &Terms, pairs: &[(Term, Term)]) -> Vec<bool> {
    let roots = || pairs.iter().flat_map(|&(a, b)| [a, b]);
    let mut needed = vec![false; roots().map(|term| term.index() + 1).max().unwrap_or(0)];
    roots().for_each(|term| needed[term.index()] = true);
    for term in terms.iter().take(needed.len()).rev() {
        if needed[term.index()] {
            terms.children(term).for_each(|child| needed[child.index()] = true);
        }
    }
    needed
}

/// One definition: a name for the term, by the names of its children.
fn define(terms: &Terms, term: Term, text: &mut String) -> std::fmt::Result {
    let (number, width) = (term.index(), terms.width(term));
    if let Op::Input(input) = terms.op(term) {
        writeln!(text, "(declare-const input{input}_{width} (_ BitVec {width}))")?;
    }
    write!(text, "(define-fun t{number} () (_ BitVec {width}) ")?;
    let mut plain = |name: &str, a: Term, b: Term| write!(text, "({name} t{} t{})", a.index(), b.index());
    match terms.op(term) {
        Op::And(a, b) => plain("bvand", a, b)?,
        Op::Or(a, b) => plain("bvor", a, b)?,
        Op::Xor(a, b) => plain("bvxor", a, b)?,
        Op::Add(a, b) => plain("bvadd", a, b)?,
        Op::Mul(a, b) => plain("bvmul", a, b)?,
        Op::UnsignedDivide(a, b) => plain("bvudiv", a, b)?,
        Op::UnsignedRemainder(a, b) => plain("bvurem", a, b)?,
        Op::Shl(a, b) => plain("bvshl", a, b)?,
        Op::Lshr(a, b) => plain("bvlshr", a, b)?,
        Op::Ashr(a, b) => plain("bvashr", a, b)?,
        Op::Concat(a, b) => plain("concat", a, b)?,
        Op::Input(input) => write!(text, "input{input}_{width}")?,
        Op::Constant(value) => write!(text, "(_ bv{value} {width})")?,
        Op::Not(a) => write!(text, "(bvnot t{})", a.index())?,
        Op::Extract(a, low) => write!(text, "((_ extract {} {low}) t{})", low + width - 1, a.index())?,
        Op::ZeroExtend(a) => write!(text, "((_ zero_extend {}) t{})", width - terms.width(a), a.index())?,
        Op::SignExtend(a) => write!(text, "((_ sign_extend {}) t{})", width - terms.width(a), a.index())?,
        Op::Equal(a, b) => write!(text, "(ite (= t{} t{}) #b1 #b0)", a.index(), b.index())?,
        Op::UnsignedLess(a, b) => write!(text, "(ite (bvult t{} t{}) #b1 #b0)", a.index(), b.index())?,
        Op::SignedLess(a, b) => write!(text, "(ite (bvslt t{} t{}) #b1 #b0)", a.index(), b.index())?,
        Op::Choose(condition, then, otherwise) => {
            let [condition, then, otherwise] = [condition, then, otherwise].map(Term::index);
            write!(text, "(ite (= t{condition} #b1) t{then} t{otherwise})")?;
        }
    }
    writeln!(text, ")")
}
