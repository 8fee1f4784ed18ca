//! Comparisons, and the smaller and the greater of two words.
//!
//! `min(x, y)` is `x < y ? x : y` and as well `y < x ? y : x`, and the one as good as the other where both are equal. So
//! that these are the same gates, the words are put in one order, that of their bits; and so that those of a byte are the
//! same as those of the byte in a wider word, the copies of the sign that both have are left out.

use super::aig::{Aig, Lit, Watch};
use super::canonical::{Kind, Word};

/// A choice between two words that its condition compares.
#[derive(Clone, Copy)]
pub(super) struct Extreme {
    /// The words, the smaller number first.
    pub(super) words: [u32; 2],
    pub(super) signed: bool,
    pub(super) is_greater: bool,
}

impl Extreme {
    /// What a choice chooses, if it is the smaller or the greater of the two words that its condition compares.
    pub(super) fn of(choice: &Word, words: &[Word]) -> Option<Self> {
        let [condition, then, otherwise] = choice.operands;
        let condition = words[condition as usize];
        let signed = condition.kind == Kind::SignedLess;
        let [first, second, _] = condition.operands;
        let compares = signed || condition.kind == Kind::UnsignedLess;
        let is_greater = (then, otherwise) == (second, first);
        if choice.kind != Kind::Choose || !compares || !(is_greater || (then, otherwise) == (first, second)) {
            return None;
        }
        Some(Self { words: [first.min(second), first.max(second)], signed, is_greater })
    }

    /// The bits of it, from those of the words.
    pub(super) fn bits<W: Watch>(self, words: [&[Lit]; 2], graph: &mut Aig<W>) -> Vec<Lit> {
        if let Some(greater) = never_less(words, self.signed) {
            return words[if self.is_greater { greater } else { 1 - greater }].to_vec();
        }
        let [first, second] = in_order(words);
        let less = less(graph, first, second, self.signed);
        let (then, otherwise) = if self.is_greater { (second, first) } else { (first, second) };
        then.iter().zip(otherwise).map(|(&then, &otherwise)| graph.choose(less, then, otherwise)).collect()
    }
}

/// The one of two words that is known to be no less than the other one: it is set wherever the other one may be.
fn never_less(words: [&[Lit]; 2], signed: bool) -> Option<usize> {
    if signed && words.iter().any(|bits| bits.last() != Some(&Lit::FALSE)) {
        return None;
    }
    (0..2).find(|&greater| {
        let mut pairs = words[greater].iter().zip(words[1 - greater]);
        pairs.all(|(&bit, &other)| bit == Lit::TRUE || other == Lit::FALSE || bit == other)
    })
}

/// Two words in the order of their bits.
pub(super) fn in_order([a, b]: [&[Lit]; 2]) -> [&[Lit]; 2] {
    if a <= b { [a, b] } else { [b, a] }
}

/// Whether the first of two words of one width is less.
pub(super) fn less<W: Watch>(graph: &mut Aig<W>, a: &[Lit], b: &[Lit], signed: bool) -> Lit {
    let mut width = a.len();
    // More copies of the signs than one say nothing more.
    let is_copy = |bits: &[Lit], at: usize| bits[at] == bits[at - 1];
    while signed && width > 1 && is_copy(a, width - 1) && is_copy(b, width - 1) {
        width -= 1;
    }
    // With the signs inverted, signed numbers are ordered as unsigned ones. The first is less if its difference from the
    // second borrows.
    let carry = (0..width).fold(Lit::TRUE, |carry, at| {
        let inverted = signed && at + 1 == width;
        graph.majority(a[at].inverted_if(inverted), !b[at].inverted_if(inverted), carry)
    });
    !carry
}
