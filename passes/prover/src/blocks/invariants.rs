//! Guesses at what is known of the values that meet: known bits and unsigned ranges, by abstract interpretation.
//!
//! A guess is used only as long as the prover shows it on every edge, so nothing here need be right: a wrong
//! guess costs a proof, and never makes one. Values begin as impossible and grow with what comes over the edges,
//! until nothing changes or it has taken too long; ranges that keep growing grow up to the next constant that
//! something is compared with.

use super::relation::{Incoming, Place};
use super::terms::{Arena, Input};
use crate::Assumption;
use ptxopt_grammar::meaning::term::{Op, Term, Terms, ones};
use std::collections::{BTreeMap, BTreeSet};

/// How often everything is gone through at most.
const MOST_PASSES: usize = 24;
/// From when on ranges grow in leaps, and from when on to the greatest value at once.
const LEAPS: usize = 3;
const ALL_THE_WAY: usize = 12;

/// What may be known of a word: bits that are certain, and the least and the greatest value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Fact {
    known: u128,
    value: u128,
    low: u128,
    high: u128,
}

impl Fact {
    fn any(width: u32) -> Self {
        Self { known: 0, value: 0, low: 0, high: ones(width) }
    }

    fn exact(value: u128, width: u32) -> Self {
        Self { known: ones(width), value, low: value, high: value }
    }

    /// What holds of both kinds of values.
    fn join(self, other: Self) -> Self {
        let known = self.known & other.known & !(self.value ^ other.value);
        let (low, high) = (self.low.min(other.low), self.high.max(other.high));
        Self { known, value: self.value & known, low, high }
    }

    /// The bits that a range makes certain, and the range that certain bits make.
    fn tightened(mut self, width: u32) -> Self {
        let free = ones(width) & !self.known;
        self.low = self.low.max(self.value);
        self.high = self.high.min(self.value | free);
        if self.low > self.high {
            return Self::any(width);
        }
        let below = u128::MAX.checked_shl(128 - (self.low ^ self.high).leading_zeros()).unwrap_or(0);
        let above = below & ones(width);
        Self { known: self.known | above, value: self.value & self.known | self.low & above, ..self }
    }

    fn assumption(self, width: u32) -> Assumption {
        let range = self.low > 0 || self.high < ones(width);
        let unsigned = range.then_some((self.low, self.high));
        Assumption { known: self.known, value: self.value, unsigned, signed: None }
    }
}

/// What may be known of each place; nothing of those that are not listed. `incoming` is looked at for the old side.
pub(super) fn guess(arena: &Arena, incoming: &BTreeMap<Place, Vec<Incoming>>) -> Vec<(Place, Assumption)> {
    let terms = &arena.terms;
    let marks = marks(terms);
    let mut known: BTreeMap<Place, Fact> = BTreeMap::new();
    for pass in 0..MOST_PASSES {
        let facts = facts(arena, &known);
        let mut changed = false;
        for (&place, edges) in incoming {
            let all = edges.iter().filter_map(|edge| comes(terms, &facts, edge));
            let Some(fact) = all.reduce(Fact::join) else { continue };
            let old = known.get(&place).copied();
            let mut new = old.map_or(fact, |old| old.join(fact));
            if let Some(old) = old.filter(|_| pass >= LEAPS) {
                if new.high > old.high {
                    let mark = marks.range(new.high..).next().copied().filter(|_| pass < ALL_THE_WAY);
                    new.high = mark.unwrap_or(u128::MAX);
                }
                if new.low < old.low {
                    new.low = 0;
                }
            }
            if old != Some(new) {
                known.insert(place, new);
                changed = true;
            }
        }
        if !changed {
            let width = |place| widths(incoming, terms, place);
            let all = known.into_iter().filter_map(|(place, fact)| {
                let width = width(place)?;
                let high = fact.high.min(ones(width));
                Some((place, Fact { high, ..fact }.assumption(width)))
            });
            // What is not written is taken for a value that is as assumed, so there must be one.
            let possible = |assumption: &Assumption| {
                let (low, high) = assumption.unsigned.unwrap_or((assumption.value, assumption.value));
                [low, high].iter().any(|&value| assumption.admits(value, 128))
            };
            let all = all.filter(|(_, assumption)| *assumption != Assumption::NONE && possible(assumption));
            return all.collect();
        }
    }
    Vec::new()
}

fn widths(incoming: &BTreeMap<Place, Vec<Incoming>>, terms: &Terms, place: Place) -> Option<u32> {
    incoming[&place].iter().find_map(|edge| Some(terms.width(edge.held[0]?.value)))
}

/// The constants that words are compared with, one less, and the greatest values of some bits.
fn marks(terms: &Terms) -> BTreeSet<u128> {
    let mut marks: BTreeSet<u128> = (0..128).map(|bits| (1 << bits) - 1).collect();
    for term in terms.iter() {
        if let Op::UnsignedLess(a, b) | Op::SignedLess(a, b) | Op::Equal(a, b) = terms.op(term) {
            for value in [a, b].into_iter().filter_map(|side| terms.value(side)) {
                marks.extend([value, value.saturating_sub(1)]);
            }
        }
    }
    marks
}

/// What comes over an edge; `None` if nothing can yet.
fn comes(terms: &Terms, facts: &[Option<Fact>], edge: &Incoming) -> Option<Fact> {
    let held = edge.held[0]?;
    let fact = facts[held.value.index()]?;
    let width = terms.width(held.value);
    let Some(condition) = edge.condition else { return Some(fact) };
    let (less, holds) =
        if let Op::Not(inner) = terms.op(condition) { (inner, false) } else { (condition, true) };
    let (Op::UnsignedLess(a, b) | Op::SignedLess(a, b)) = terms.op(less) else { return Some(fact) };
    let positive = fact.high <= ones(width) >> 1;
    if matches!(terms.op(less), Op::SignedLess(..)) && !positive {
        return Some(fact);
    }
    let mut fact = fact;
    match (terms.value(a), terms.value(b)) {
        (None, Some(bound)) if a == held.value && holds => fact.high = fact.high.min(bound.checked_sub(1)?),
        (None, Some(bound)) if a == held.value => fact.low = fact.low.max(bound),
        (Some(bound), None) if b == held.value && holds => fact.low = fact.low.max(bound + 1),
        (Some(bound), None) if b == held.value => fact.high = fact.high.min(bound),
        (_, _) => {}
    }
    (fact.low <= fact.high).then(|| fact.tightened(width))
}

/// What is known of all terms, given what is known of the places; `None` for what cannot be yet.
#[expect(clippy::wildcard_enum_match_arm, reason = "all other terms are alike here")]
fn facts(arena: &Arena, known: &BTreeMap<Place, Fact>) -> Vec<Option<Fact>> {
    let terms = &arena.terms;
    let mut facts: Vec<Option<Fact>> = Vec::with_capacity(terms.len());
    for term in terms.iter() {
        let width = terms.width(term);
        let fact = match terms.op(term) {
            Op::Input(number) => match *arena.what(number) {
                Input::Meeting(pair, register) => known.get(&(pair, register)).copied(),
                _ => {
                    let Assumption { known, value, .. } = arena.assumption(number);
                    Some(Fact { known, value, ..Fact::any(width) })
                }
            },
            _ => {
                let of = |child: Term| facts[child.index()];
                let possible = terms.children(term).all(|child| of(child).is_some());
                let either = || match terms.op(term) {
                    Op::Choose(condition, then, otherwise) => {
                        of(condition).and_then(|_| of(then).or(of(otherwise)))
                    }
                    _ => None,
                };
                if possible {
                    let of = |child: Term| of(child).expect("all operands are possible");
                    Some(transfer(terms, term, of).tightened(width))
                } else {
                    either()
                }
            }
        };
        facts.push(fact);
    }
    facts
}

/// What is known of the two sides of a choice, each where it is chosen: of two numbers that are compared, the range
/// that this leaves, as for the lesser of them.
fn chosen(
    terms: &Terms,
    (condition, then, otherwise): (Term, Term, Term),
    of: &impl Fn(Term) -> Fact,
) -> [Fact; 2] {
    let sides = [of(then), of(otherwise)];
    let (compared, swapped) =
        if let Op::Not(inner) = terms.op(condition) { (inner, true) } else { (condition, false) };
    let (Op::UnsignedLess(a, b) | Op::SignedLess(a, b)) = terms.op(compared) else { return sides };
    let (less, greater) = (of(a), of(b));
    // Signed numbers are ordered as unsigned ones where none is negative.
    let signed = matches!(terms.op(compared), Op::SignedLess(..));
    if signed && less.high.max(greater.high) > ones(terms.width(a)) >> 1 {
        return sides;
    }
    let narrowed = |side: Term, mut fact: Fact, holds: bool| {
        match holds {
            true if side == a => fact.high = fact.high.min(greater.high.saturating_sub(1)),
            true if side == b => fact.low = fact.low.max(less.low.saturating_add(1)),
            false if side == a => fact.low = fact.low.max(greater.low),
            false if side == b => fact.high = fact.high.min(less.high),
            _ => {}
        }
        // Where nothing is left, this side is never chosen.
        if fact.low <= fact.high { fact } else { of(side) }
    };
    [narrowed(then, sides[0], !swapped), narrowed(otherwise, sides[1], swapped)]
}

fn transfer(terms: &Terms, term: Term, of: impl Fn(Term) -> Fact) -> Fact {
    let width = terms.width(term);
    let any = Fact::any(width);
    let constant =
        |term: Term| terms.value(term).and_then(|by| u32::try_from(by).ok()).filter(|&by| by < width);
    let bits = |known: u128, value: u128| Fact { known: known & ones(width), value: value & known, ..any };
    match terms.op(term) {
        Op::Constant(value) => Fact::exact(value, width),
        Op::Not(a) => bits(of(a).known, !of(a).value & ones(width)),
        Op::And(a, b) => {
            let (a, b) = (of(a), of(b));
            let zeros = a.known & !a.value | b.known & !b.value;
            let fact = bits(zeros | a.known & b.known, a.value & b.value);
            Fact { high: a.high.min(b.high), ..fact }
        }
        Op::Or(a, b) => {
            let (a, b) = (of(a), of(b));
            let fact = bits(a.value | b.value | a.known & b.known, a.value | b.value);
            Fact { low: a.low.max(b.low), ..fact }
        }
        Op::Xor(a, b) => bits(of(a).known & of(b).known, of(a).value ^ of(b).value),
        Op::Add(a, b) => {
            let (a, b) = (of(a), of(b));
            let low_bits = (a.known & b.known).trailing_ones();
            let known = if low_bits >= 128 { u128::MAX } else { (1 << low_bits) - 1 };
            let fact = bits(known, a.value.wrapping_add(b.value));
            match a.high.checked_add(b.high) {
                Some(high) if high <= ones(width) => Fact { low: a.low + b.low, high, ..fact },
                _ => fact,
            }
        }
        Op::Shl(a, by) => constant(by).map_or(any, |by| {
            let a = of(a);
            bits((a.known << by) | (ones(by.max(1)) * u128::from(by > 0)), (a.value << by) & ones(width))
        }),
        Op::Lshr(a, by) => constant(by).map_or(any, |by| {
            let a = of(a);
            let fact = bits(a.known >> by | !(ones(width) >> by), a.value >> by);
            Fact { low: a.low >> by, high: a.high >> by, ..fact }
        }),
        Op::Extract(a, low) => {
            let a = of(a);
            let fact = bits(a.known >> low, a.value >> low & ones(width));
            if low == 0 && a.high <= ones(width) { Fact { low: a.low, high: a.high, ..fact } } else { fact }
        }
        Op::Concat(a, b) => {
            let (upper, lower, up) = (of(a), of(b), terms.width(b));
            bits(upper.known << up | lower.known, upper.value << up | lower.value)
        }
        Op::ZeroExtend(a) => {
            let fact = of(a);
            let above = ones(width) & !ones(terms.width(a));
            Fact { known: fact.known | above, ..fact }
        }
        Op::SignExtend(a) => match of(a) {
            fact if fact.high <= ones(terms.width(a)) >> 1 => {
                Fact { known: fact.known | ones(width) & !ones(terms.width(a)), ..fact }
            }
            _ => any,
        },
        Op::UnsignedRemainder(a, b) => match of(b).high {
            0 => any,
            high if of(b).low > 0 => Fact { high: (high - 1).min(of(a).high), ..any },
            _ => Fact { high: of(a).high, ..any },
        },
        Op::Choose(condition, then, otherwise) => match of(condition) {
            Fact { known: 1, value: 1, .. } => of(then),
            Fact { known: 1, .. } => of(otherwise),
            _ => {
                let [then, otherwise] = chosen(terms, (condition, then, otherwise), &of);
                then.join(otherwise)
            }
        },
        Op::UnsignedLess(a, b) | Op::SignedLess(a, b) => {
            let signed = matches!(terms.op(term), Op::SignedLess(..));
            let half = ones(terms.width(a)) >> 1;
            let (a, b) = (of(a), of(b));
            if signed && a.high.max(b.high) > half {
                any
            } else if a.high < b.low {
                Fact::exact(1, 1)
            } else if a.low >= b.high {
                Fact::exact(0, 1)
            } else {
                any
            }
        }
        Op::Input(_) | Op::Mul(..) | Op::UnsignedDivide(..) | Op::Ashr(..) | Op::Equal(..) => any,
    }
}
