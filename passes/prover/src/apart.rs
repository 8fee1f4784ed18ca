//! Sums of parts that have no input in common: each part is tried with all of its inputs.
//!
//! The difference of two sums is a sum of literals. Put those together that depend on a common input; what is left
//! are parts that vary independently, so the difference is zero for all inputs exactly if each part is constant and
//! the constants add up to zero. A part with few inputs is computed for all of their values. Four lanes of a word,
//! each the distance of two bytes, are four parts of 16 bits, where a search over all 64 bits together finds no end.
//!
//! Where all parts have a few inputs in common, as when one byte is compared with four others, these are given each of
//! their values in turn, and what is left are parts again.
//!
//! Half of a sum is a part of a sum as well: if the lowest bit of each of its parts is constant, then the half of the
//! sum is the sum of the halves, and a constant.

use super::aig::{Aig, Gate, Unwatched};
use super::canonical::Kind;
use super::decide::value;
use super::linear::Linear;
use super::sliced::SlicedSums;
use super::support::{Support, supports};
use super::sweep::evaluate;
use super::vectors::counting;
use super::words::Circuit;
use ptxopt_grammar::meaning::term::{ones, signed};

/// The most inputs of a part, with those that all parts have in common.
const MOST_INPUTS: u32 = 16;

/// The most inputs that all parts have in common.
const MOST_COMMON: u32 = 8;

/// The most sums that a result is taken apart into.
const MOST_TERMS: usize = 160;

/// A weighted sum, or half of one.
#[derive(Clone, Debug)]
struct Summand {
    weight: i128,
    constant: i128,
    literals: Vec<(u32, i128)>,
    halved: bool,
}

/// A difference of two results, as weighted sums modulo a power of two.
#[derive(Clone, Debug)]
pub(super) struct Difference {
    width: u32,
    constant: i128,
    terms: Vec<Summand>,
}

impl Difference {
    /// The difference of two words, if one of them is a sum.
    pub(super) fn of(circuit: &mut Circuit<'_, Unwatched>, before: u32, after: u32) -> Option<Self> {
        let word = circuit.word(before);
        let sums = [before, after].map(|at| circuit.word(at).kind == Kind::Add);
        if word.width > 64 || sums == [false, false] {
            return None;
        }
        let mut difference = Self { width: word.width, constant: 0, terms: Vec::new() };
        difference.collect(circuit, before, 1)?;
        difference.collect(circuit, after, -1)?;
        Some(difference)
    }

    /// Adds a word so many times.
    fn collect(&mut self, circuit: &mut Circuit<'_, Unwatched>, at: u32, weight: i128) -> Option<()> {
        let mut work = vec![(at, weight)];
        while let Some((at, weight)) = work.pop() {
            if self.terms.len() == MOST_TERMS || work.len() == MOST_TERMS {
                return None;
            }
            let word = circuit.word(at);
            let [a, b, _] = word.operands;
            if word.kind == Kind::Constant {
                let value = signed(word.value, word.width);
                self.constant = self.constant.wrapping_add(weight.wrapping_mul(value));
            } else if word.kind == Kind::Add {
                work.extend([(a, weight), (b, weight)]);
            } else if word.kind == Kind::Not {
                // The complement is one less than the negative.
                self.constant = self.constant.wrapping_sub(weight);
                work.push((a, weight.wrapping_neg()));
            } else {
                let term = half(circuit, at).map(|sum| (sum, true));
                let (sum, halved) = term.unwrap_or_else(|| (circuit.as_linear(at), false));
                let (constant, literals) = sum.integers();
                self.terms.push(Summand { weight, constant, literals, halved });
            }
        }
        Some(())
    }

    /// Whether the difference is zero whatever the inputs are. `false` if that was not found out.
    pub(super) fn vanishes(&self, graph: &Aig<Unwatched>) -> bool {
        let Some(mut parts) = self.parts(graph) else { return false };
        (0..1 << parts.common.count()).all(|value| {
            parts.value = value;
            self.vanishes_in(graph, &parts).unwrap_or(false)
        })
    }

    /// The parts; `None` if there is one only, or one with too many inputs.
    fn parts(&self, graph: &Aig<Unwatched>) -> Option<Parts> {
        let remaining = self.remaining();
        let supports = supports(graph, remaining.iter().map(|&(node, _)| node))?;
        let of: Vec<Support> = remaining.iter().map(|&(node, _)| supports[node as usize]).collect();
        let wide = of.iter().copied().filter(|support| support.count() > MOST_COMMON);
        let common = wide.reduce(|common, support| common & support).unwrap_or_default();
        let candidates = [Support::NONE, common].into_iter().filter(|common| common.count() <= MOST_COMMON);
        let mut all = candidates.map(|common| (common, apart(&of, common)));
        let (common, own) = all.find(|(common, own)| {
            let most = MOST_INPUTS - common.count();
            own.len() > 1 && own.iter().all(|part| part.count() <= most)
        })?;
        Some(Parts { supports, own, common, value: 0 })
    }

    /// The literals that do not cancel, those of halved sums included.
    fn remaining(&self) -> Vec<(u32, i128)> {
        let whole = self.terms.iter().filter(|term| !term.halved);
        let mut all: Vec<(u32, i128)> = whole
            .flat_map(|term| term.literals.iter().map(|&(node, by)| (node, by.wrapping_mul(term.weight))))
            .collect();
        all.sort_unstable_by_key(|&(node, _)| node);
        all.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 = kept.1.wrapping_add(next.1);
            }
            same
        });
        all.retain(|&(_, weight)| weight.cast_unsigned() & ones(self.width) != 0);
        all.extend(self.terms.iter().filter(|term| term.halved).flat_map(|term| term.literals.clone()));
        all
    }

    fn vanishes_in(&self, graph: &Aig<Unwatched>, parts: &Parts) -> Option<bool> {
        let whole = Summand { weight: 1, constant: 0, literals: self.whole(), halved: false };
        let terms: Vec<&Summand> =
            std::iter::once(&whole).chain(self.terms.iter().filter(|term| term.halved)).collect();
        // What halved sums have besides their parts.
        let mut rests: Vec<i128> = terms.iter().map(|term| term.constant).collect();
        let mut total = self.constant;
        for term in self.terms.iter().filter(|term| !term.halved) {
            total = total.wrapping_add(term.weight.wrapping_mul(term.constant));
        }
        // What depends on common inputs alone is a part without inputs of its own.
        let shared = (!parts.common.is_empty()).then_some(Support::NONE);
        for part in parts.own.iter().copied().chain(shared) {
            let own: Vec<Summand> = terms.iter().map(|term| term.within(parts, part)).collect();
            let constant = constant(graph, parts, part, &own, &mut rests, self.width)?;
            total = total.wrapping_add(constant);
        }
        for (term, rest) in terms.iter().zip(rests).skip(1) {
            // The lowest bits of the parts and the constant, which were not halved with the parts.
            total = total.wrapping_add(term.weight.wrapping_mul(rest >> 1));
        }
        Some(total.cast_unsigned() & ones(self.width) == 0)
    }

    /// The literals of what is not halved that do not cancel.
    fn whole(&self) -> Vec<(u32, i128)> {
        let whole = Self { terms: self.terms.iter().filter(|term| !term.halved).cloned().collect(), ..*self };
        whole.remaining()
    }
}

/// What a difference falls into.
struct Parts {
    /// By gate: the inputs that it depends on.
    supports: Vec<Support>,
    /// The inputs of each part that are its own.
    own: Vec<Support>,
    /// The inputs that parts have in common.
    common: Support,
    /// Their values, the lowest bit for the first.
    value: u64,
}

/// Those that depend on a common input put together, but for the inputs that all may have in common.
fn apart(supports: &[Support], common: Support) -> Vec<Support> {
    let mut parts: Vec<Support> = Vec::new();
    let own = supports.iter().map(|&support| support & !common);
    for mut joined in own.filter(|own| !own.is_empty()) {
        parts.retain(|&part| {
            let meets = part.meets(joined);
            if meets {
                joined = joined | part;
            }
            !meets
        });
        parts.push(joined);
    }
    parts
}

impl Summand {
    /// The literals of a part; of none but common inputs if it has none of its own.
    fn within(&self, parts: &Parts, part: Support) -> Self {
        let own = |literal: &&(u32, i128)| {
            let own = parts.supports[literal.0 as usize] & !parts.common;
            if part.is_empty() { own.is_empty() } else { own.meets(part) }
        };
        Self { literals: self.literals.iter().filter(own).copied().collect(), ..*self }
    }
}

/// The sum that a word is half of, rounded down, if the sum is known exactly.
fn half(circuit: &mut Circuit<'_, Unwatched>, at: u32) -> Option<Linear> {
    let word = circuit.word(at);
    let extract = circuit.word(word.operands[0]);
    let of = extract.operands[0];
    let halves = extract.kind == Kind::Extract && extract.value == 1 && extract.width + 1 == word.width;
    let whole = halves && circuit.word(of).width == word.width;
    let sum = circuit.known_sum(of).filter(|_| whole)?;
    if word.kind == Kind::SignExtend {
        return sum.sign_extended(word.width + 32);
    }
    if word.kind == Kind::ZeroExtend { sum.zero_extended(word.width + 32) } else { None }
}

/// What a part of all terms together is, if it is the same for all inputs; the first term is whole, the others are
/// halved. The lowest bits of the halved ones, which must be constant, are added to `rests`.
fn constant(
    graph: &Aig<Unwatched>,
    parts: &Parts,
    part: Support,
    terms: &[Summand],
    rests: &mut [i128],
    width: u32,
) -> Option<i128> {
    let Parts { supports, common, value: given, .. } = parts;
    let outside = !(part | *common);
    let inside = |node: &usize| !supports[*node].is_empty() && !supports[*node].meets(outside);
    let own: Vec<usize> = (0..supports.len()).filter(inside).collect();
    let mut words = vec![0_u64; supports.len()];
    let inputs = part.count();
    let vectors = if inputs < 6 { (1 << (1 << inputs)) - 1 } else { u64::MAX };
    let literals: Vec<Vec<(u32, i128)>> = terms.iter().map(|term| ordered(term, width + 1)).collect();
    let mut whole = SlicedSums::new(width);
    let mut halved: Vec<SlicedSums> = terms.iter().skip(1).map(|_| SlicedSums::new(width + 1)).collect();
    let mut first: Option<u128> = None;
    let mut lowest: Vec<Option<bool>> = vec![None; halved.len()];
    for block in 0..1_u64 << inputs.saturating_sub(6) {
        let (mut input, mut shared) = (0, 0);
        for &node in &own {
            words[node] = match graph.gates()[node] {
                Gate::Input if supports[node].meets(*common) => {
                    shared += 1;
                    if given >> (shared - 1) & 1 == 1 { u64::MAX } else { 0 }
                }
                Gate::Input => {
                    input += 1;
                    counting(input - 1, block)
                }
                gate @ (Gate::False | Gate::And(..) | Gate::Xor(..)) => {
                    evaluate(gate, |lit| value(&words, lit))
                }
            };
        }
        let add_up = |sums: &mut SlicedSums, literals: &[(u32, i128)]| {
            sums.clear();
            literals.iter().for_each(|&(literal, weight)| sums.add(weight, words[literal as usize]));
        };
        let mut literals = literals.iter();
        add_up(&mut whole, literals.next().expect("the first term is the whole one"));
        let halves = terms.iter().skip(1).zip(literals).zip(&mut halved).zip(&mut lowest);
        for (((term, literals), sums), lowest) in halves {
            add_up(sums, literals);
            whole.add_halves(sums, signed(term.weight.cast_unsigned() & ones(width), width));
            let odd = sums.are_odd(vectors)?;
            if *lowest.get_or_insert(odd) != odd {
                return None;
            }
        }
        let sum = whole.same(vectors)?;
        if *first.get_or_insert(sum) != sum {
            return None;
        }
    }
    for (rest, lowest) in rests.iter_mut().skip(1).zip(lowest) {
        *rest += i128::from(lowest == Some(true));
    }
    first.map(u128::cast_signed)
}

/// The literals of a term, their weights as small numbers; those that are subtracted come last, so that sums stay small
/// and carries short.
fn ordered(term: &Summand, width: u32) -> Vec<(u32, i128)> {
    let small = |&(node, weight): &(u32, i128)| (node, signed(weight.cast_unsigned() & ones(width), width));
    let mut literals: Vec<(u32, i128)> = term.literals.iter().map(small).collect();
    literals.sort_by_key(|&(_, weight)| weight < 0);
    literals
}

#[cfg(test)]
mod tests {
    use crate::{Proof, Query, Verdict, prove};
    use ptxopt_grammar::meaning::term::{Term, Terms};

    /// The bytes of an input, as words of 32 bits.
    fn bytes(terms: &mut Terms, number: u32) -> Vec<Term> {
        let word = terms.input(number, 32);
        let byte = |terms: &mut Terms, at: u32| {
            let byte = terms.extract(word, 8 * at, 8);
            terms.zero_extend(byte, 32)
        };
        (0..4_u32).map(|at| byte(terms, at)).collect()
    }

    fn greater(terms: &mut Terms, x: Term, y: Term) -> Term {
        let less = terms.unsigned_less(x, y);
        terms.choose(less, y, x)
    }

    fn distance(terms: &mut Terms, x: Term, y: Term) -> Term {
        let (up, down) = (terms.sub(y, x), terms.sub(x, y));
        let less = terms.unsigned_less(x, y);
        terms.choose(less, up, down)
    }

    /// The sum of what a function makes of each lane.
    fn sum(terms: &mut Terms, of: fn(&mut Terms, Term, Term) -> Term) -> Term {
        let (x, y) = (bytes(terms, 0), bytes(terms, 1));
        let zero = terms.constant(0, 32);
        x.into_iter().zip(y).fold(zero, |sum, (x, y)| {
            let lane = of(terms, x, y);
            terms.add(sum, lane)
        })
    }

    /// Half of the sum of `x + y + |x-y|`, and a number, and `c`.
    fn half(terms: &mut Terms, more: u128) -> Term {
        let parts = [
            sum(terms, |_, x, _| x),
            sum(terms, |_, _, y| y),
            sum(terms, distance),
            terms.constant(more, 32),
        ];
        let twice = parts.into_iter().reduce(|sum, part| terms.add(sum, part)).expect("there are four");
        let one = terms.constant(1, 32);
        let half = terms.ashr(twice, one);
        let c = terms.input(2, 32);
        terms.add(half, c)
    }

    fn verdict(more: u128, added: u128) -> Verdict {
        let mut terms = Terms::new();
        let greatest = sum(&mut terms, greater);
        let c = terms.input(2, 32);
        let before = terms.add(greatest, c);
        let added = terms.constant(added, 32);
        let before = terms.add(before, added);
        let after = half(&mut terms, more);
        prove(&Query::new(&terms, vec![before], vec![after]))
    }

    #[test]
    fn a_sum_of_maxima_is_half_a_sum() {
        assert_eq!(verdict(0, 0), Verdict::Proved(Proof::Parts));
    }

    /// The same with one byte in the place of all four of the first word.
    fn of_one_byte(terms: &mut Terms, of: fn(&mut Terms, Term, Term) -> Term) -> Term {
        let (x, y) = (bytes(terms, 0)[0], bytes(terms, 1));
        let zero = terms.constant(0, 32);
        y.into_iter().fold(zero, |sum, y| {
            let lane = of(terms, x, y);
            terms.add(sum, lane)
        })
    }

    /// Whether the greater ones of a byte and four others are half of the sum of both and their distances, with a byte
    /// added so often.
    fn shared(times: u128) -> Verdict {
        let mut terms = Terms::new();
        let before = of_one_byte(&mut terms, greater);
        let x = bytes(&mut terms, 0)[0];
        let times = terms.constant(times, 32);
        let others = of_one_byte(&mut terms, |_, _, y| y);
        let parts = [terms.mul(x, times), others, of_one_byte(&mut terms, distance)];
        let twice = parts.into_iter().reduce(|sum, part| terms.add(sum, part)).expect("there are three");
        let one = terms.constant(1, 32);
        let after = terms.ashr(twice, one);
        prove(&Query::new(&terms, vec![before], vec![after]))
    }

    #[test]
    fn a_byte_that_all_parts_read_is_given_each_value() {
        assert_eq!(shared(4), Verdict::Proved(Proof::Parts));
    }

    #[test]
    fn a_byte_that_is_added_too_often_is_refuted() {
        assert!(matches!(shared(6), Verdict::Refuted(_)));
    }

    #[test]
    fn inputs_that_cancel_are_not_counted() {
        // Six words that both sides add, beside four parts of 16 bits.
        let mut terms = Terms::new();
        let (mut before, mut after) = (sum(&mut terms, greater), half(&mut terms, 0));
        let c = terms.input(2, 32);
        before = terms.add(before, c);
        for number in 3..9 {
            let word = terms.input(number, 32);
            (before, after) = (terms.add(before, word), terms.add(word, after));
        }
        let verdict = prove(&Query::new(&terms, vec![before], vec![after]));
        assert_eq!(verdict, Verdict::Proved(Proof::Parts));
    }

    /// Whether the squared differences of the bytes of so many pairs of words are those of their distances, with a number
    /// added.
    fn squares(pairs: u32, added: u128) -> Verdict {
        let mut terms = Terms::new();
        let zero = terms.constant(0, 32);
        let (mut before, mut after) = (zero, terms.constant(added, 32));
        for pair in 0..pairs {
            let (x, y) = (bytes(&mut terms, 2 * pair), bytes(&mut terms, 2 * pair + 1));
            for (x, y) in x.into_iter().zip(y) {
                let [difference, distance] = [terms.sub(x, y), distance(&mut terms, x, y)];
                let squares = [difference, distance].map(|root| terms.mul(root, root));
                (before, after) = (terms.add(before, squares[0]), terms.add(after, squares[1]));
            }
        }
        prove(&Query::new(&terms, vec![before], vec![after]))
    }

    #[test]
    fn a_block_of_squared_differences_is_proved_byte_by_byte() {
        assert_eq!(squares(1, 0), Verdict::Proved(Proof::Parts));
        assert_eq!(squares(8, 0), Verdict::Proved(Proof::Parts));
    }

    #[test]
    fn a_block_of_squares_that_differs_by_one_is_refuted() {
        assert!(matches!(squares(8, 1), Verdict::Refuted(_)));
    }

    #[test]
    fn a_half_is_rounded_down() {
        assert_eq!(verdict(1, 0), Verdict::Proved(Proof::Parts));
        assert_eq!(verdict(6, 3), Verdict::Proved(Proof::Parts));
    }

    #[test]
    fn a_sum_that_differs_by_one_is_refuted() {
        assert!(matches!(verdict(2, 0), Verdict::Refuted(_)));
        assert!(matches!(verdict(0, 1), Verdict::Refuted(_)));
    }

    #[test]
    fn parts_that_differ_in_a_rare_case_are_refuted_or_left() {
        let mut terms = Terms::new();
        let before = sum(&mut terms, distance);
        // As the distance, but for one pair of bytes.
        let after = sum(&mut terms, |terms, x, y| {
            let distance = distance(terms, x, y);
            let (p, q) = (terms.constant(0x5b, 32), terms.constant(0xc4, 32));
            let (p, q) = (terms.equal(x, p), terms.equal(y, q));
            let rare = terms.and(p, q);
            let zero = terms.constant(0, 32);
            terms.choose(rare, zero, distance)
        });
        let verdict = prove(&Query::new(&terms, vec![before], vec![after]));
        assert!(!matches!(verdict, Verdict::Proved(_)), "{verdict:?}");
    }
}
