//! Words of a cone as terms again, and the question that is made of these.

use super::Question;
use super::canonical::{self, Kind, Word};
use super::query::Assumption;
use ptxopt_grammar::meaning::term::{Term, Terms};

impl Question {
    /// The question in which each word is what it became. Inputs that the question does not have may be anything.
    pub(super) fn remade(&self, terms: &Terms, became: &[Term]) -> Self {
        let cone = &self.cone;
        let of = |words: &[u32]| words.iter().map(|&at| became[at as usize]).collect::<Vec<_>>();
        let assumption =
            |number: u32| cone.inputs.get(number as usize).map_or(Assumption::NONE, |input| input.assumption);
        let (cone, _) = canonical::cone(terms, &of(&cone.before), &of(&cone.after), assumption, |_| false);
        Self { cone, demanded: self.demanded.clone() }
    }
}

/// The operation of a word on what its operands became, by their places.
pub(super) fn remade(terms: &mut Terms, word: &Word, became: impl Fn(u32) -> Term) -> Term {
    let of = |at: usize| became(word.operands[at]);
    let number = |value: u128| u32::try_from(value).expect("it is small");
    match word.kind {
        Kind::Input => terms.input(number(word.value), word.width),
        Kind::Constant => terms.constant(word.value, word.width),
        Kind::Not => terms.not(of(0)),
        Kind::Extract => terms.extract(of(0), number(word.value), word.width),
        Kind::ZeroExtend => terms.zero_extend(of(0), word.width),
        Kind::SignExtend => terms.sign_extend(of(0), word.width),
        Kind::And => terms.and(of(0), of(1)),
        Kind::Or => terms.or(of(0), of(1)),
        Kind::Xor => terms.xor(of(0), of(1)),
        Kind::Add => terms.add(of(0), of(1)),
        Kind::Mul => terms.mul(of(0), of(1)),
        Kind::UnsignedDivide => terms.unsigned_divide(of(0), of(1)),
        Kind::UnsignedRemainder => terms.unsigned_remainder(of(0), of(1)),
        Kind::Shl => terms.shl(of(0), of(1)),
        Kind::Lshr => terms.lshr(of(0), of(1)),
        Kind::Ashr => terms.ashr(of(0), of(1)),
        Kind::Concat => terms.concat(of(0), of(1)),
        Kind::Equal => terms.equal(of(0), of(1)),
        Kind::UnsignedLess => terms.unsigned_less(of(0), of(1)),
        Kind::SignedLess => terms.signed_less(of(0), of(1)),
        Kind::Choose => terms.choose(of(0), of(1), of(2)),
    }
}
