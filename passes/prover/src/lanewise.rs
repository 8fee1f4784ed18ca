//! Words that are, lane by lane, the smaller or the greater of two others, spelled without a comparison of lanes.
//!
//! Where nothing compares lanes, such a word is chosen by a mask that a sum leaves in the highest bits of lanes, and its
//! gates show no order. So extremes of several of them cannot be taken in one order, as those of words are, and to prove
//! that they are the same is hard. But each of them alone is easily proved to be the extreme of its two words: a word that
//! behaves like one on some inputs is asked about by itself, its two words being inputs that may be anything. What is
//! proved takes its place, and the question is as it was, since both are equal whatever the two words are.

use super::Question;
use super::canonical::{self, Cone, ConeInput, Kind};
use super::query::Assumption;
use super::remade::remade;
use hashbrown::HashMap;
use ptxopt_grammar::meaning::concrete::Program;
use ptxopt_grammar::meaning::term::{Term, Terms, ones};

/// How many bits the words have.
const WORD: u32 = 32;

/// How many inputs are tried.
const SAMPLES: usize = 24;

/// Among how many words before one the two are looked for, and among how many inputs.
const MOST_BEFORE: usize = 48;
const MOST_INPUTS: usize = 8;

/// How many pairs of words are looked at for each, and how often a question may be asked in vain.
const MOST_PAIRS: usize = 12;
const MOST_REFUSED: usize = 4;

/// An extreme of the lanes of two words.
#[derive(Clone, Copy)]
struct Lanewise {
    words: [u32; 2],
    how: How,
}

/// Which extreme, and of which lanes.
#[derive(Clone, Copy)]
struct How {
    bits: u32,
    signed: bool,
    is_greater: bool,
}

impl How {
    fn all() -> impl Iterator<Item = Self> + Clone {
        let both = [false, true];
        let lanes = [8, 16].into_iter().flat_map(move |bits| both.map(|signed| (bits, signed)));
        lanes.flat_map(move |(bits, signed)| both.map(|is_greater| Self { bits, signed, is_greater }))
    }

    /// The extreme of two words of numbers.
    fn of(self, [a, b]: [u128; 2]) -> u128 {
        let lane = ones(self.bits);
        let sign = if self.signed { 1 << (self.bits - 1) } else { 0 };
        (0..WORD).step_by(self.bits as usize).fold(0, |all, low| {
            let [x, y] = [a, b].map(|word| word >> low & lane);
            // With the signs inverted, signed numbers are ordered as unsigned ones.
            let takes_first = (x ^ sign > y ^ sign) == self.is_greater;
            all | if takes_first { x } else { y } << low
        })
    }

    /// The same as a term.
    fn term(self, terms: &mut Terms, words: [Term; 2]) -> Term {
        let lanes: Vec<Term> = (0..WORD)
            .step_by(self.bits as usize)
            .map(|low| {
                let [x, y] = words.map(|word| terms.extract(word, low, self.bits));
                let is_less = if self.signed { terms.signed_less(x, y) } else { terms.unsigned_less(x, y) };
                if self.is_greater { terms.choose(is_less, y, x) } else { terms.choose(is_less, x, y) }
            })
            .collect();
        terms.side_by_side(lanes).expect("a word has a lane")
    }
}

impl Question {
    /// The question in which extremes of lanes are choices of lanes, where `is_proved` says of the question about one
    /// whether it is proved; `None` if there are none.
    pub(super) fn with_lanes_compared(&self, mut is_proved: impl FnMut(&Self) -> bool) -> Option<Self> {
        let cone = &self.cone;
        let behaviours = behaviours(cone);
        let mut refused = 0;
        let mut found: HashMap<u32, Lanewise> = HashMap::new();
        let is_result = |at: &u32| cone.before.contains(at) || cone.after.contains(at);
        for (place, (at, _)) in behaviours.iter().enumerate() {
            // Whether a result is one is what is asked already, if nothing below it is.
            let is_asked = is_result(at) && found.is_empty();
            if is_asked || !matches!(cone.words[*at as usize].kind, Kind::Or | Kind::Xor) {
                continue;
            }
            for lanewise in lanewise(cone, &behaviours, place) {
                let Some(question) = about(cone, *at, lanewise).filter(|_| refused < MOST_REFUSED) else {
                    continue;
                };
                if is_proved(&question) {
                    found.insert(*at, lanewise);
                    break;
                }
                refused += 1;
            }
        }
        if found.is_empty() {
            return None;
        }
        let mut terms = Terms::new();
        let mut made: Vec<Term> = Vec::with_capacity(cone.words.len());
        for (word, at) in cone.words.iter().zip(0..) {
            let term = match found.get(&at) {
                Some(Lanewise { words, how }) => how.term(&mut terms, words.map(|at| made[at as usize])),
                None => remade(&mut terms, word, |at| made[at as usize]),
            };
            made.push(term);
        }
        Some(self.remade(&terms, &made))
    }
}

/// The words of 32 bits, each with its value for each of some inputs.
fn behaviours(cone: &Cone) -> Vec<(u32, Vec<u128>)> {
    let mut terms = Terms::new();
    let mut made: Vec<Term> = Vec::with_capacity(cone.words.len());
    for word in &cone.words {
        let term = remade(&mut terms, word, |at| made[at as usize]);
        made.push(term);
    }
    let wide: Vec<u32> =
        (0..).zip(&cone.words).filter(|(_, word)| word.width == WORD).map(|(at, _)| at).collect();
    let outputs: Vec<Term> = wide.iter().map(|&at| made[at as usize]).collect();
    let mut all: Vec<(u32, Vec<u128>)> =
        wide.into_iter().map(|at| (at, Vec::with_capacity(SAMPLES))).collect();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |input: &ConeInput| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let Assumption { known, value, .. } = input.assumption;
        let bits = u128::from(state ^ state >> 29) & ones(input.width);
        bits & !known | value & known
    };
    let mut program = Program::<u128>::compile(&terms, &outputs).expect("no term is wider than 128 bits");
    let mut results = vec![0; outputs.len()];
    for _ in 0..SAMPLES {
        let values: Vec<u128> = cone.inputs.iter().map(&mut random).collect();
        program.run(&values, &mut results);
        for ((_, behaviour), &result) in all.iter_mut().zip(&results) {
            behaviour.push(result);
        }
    }
    all
}

/// The extremes of two earlier words that a word is on all inputs that were tried, those nearest to it first.
fn lanewise(cone: &Cone, behaviours: &[(u32, Vec<u128>)], place: usize) -> Vec<Lanewise> {
    let (at, own) = &behaviours[place];
    let is_input = |(at, _): &&(u32, Vec<u128>)| cone.words[*at as usize].kind == Kind::Input;
    let near = behaviours[..place].iter().rev().take(MOST_BEFORE);
    let inputs = behaviours[..place.saturating_sub(MOST_BEFORE)].iter().filter(is_input).take(MOST_INPUTS);
    let pool: Vec<&(u32, Vec<u128>)> = near.chain(inputs).filter(|(_, behaviour)| behaviour != own).collect();
    let is = |how: How, [a, b]: [&[u128]; 2]| {
        own.iter().zip(a.iter().zip(b)).all(|(&own, (&a, &b))| how.of([a, b]) == own)
    };
    // What a word is put together from under a mask is the greater one where the other is zero.
    let is_own = |word: &u32| cone.words[*at as usize].operands().contains(word);
    let pairs =
        pool.iter().enumerate().flat_map(|(at, one)| pool[..at].iter().map(move |other| (one, other)));
    let found = pairs.filter(|((one, _), (other, _))| !is_own(one) && !is_own(other));
    let found = found.filter_map(|((one, a), (other, b))| {
        let how = How::all().find(|&how| is(how, [a, b]))?;
        Some(Lanewise { words: [*one, *other], how })
    });
    found.take(MOST_PAIRS).collect()
}

/// The question whether a word is an extreme of two words, which are inputs; `None` if it is made of others too.
fn about(cone: &Cone, root: u32, Lanewise { words, how }: Lanewise) -> Option<Question> {
    let mut terms = Terms::new();
    let inputs = [0, 1].map(|number| terms.input(number, WORD));
    let mut made: HashMap<u32, Term> = words.into_iter().zip(inputs).collect();
    let mut stack = vec![root];
    while let Some(&at) = stack.last() {
        let word = &cone.words[at as usize];
        if word.kind == Kind::Input && !words.contains(&at) {
            return None;
        }
        let before = stack.len();
        if !made.contains_key(&at) {
            stack.extend(word.operands().iter().filter(|operand| !made.contains_key(*operand)));
        }
        if stack.len() == before {
            stack.pop();
            if !made.contains_key(&at) {
                let term = remade(&mut terms, word, |operand| made[&operand]);
                made.insert(at, term);
            }
        }
    }
    let extreme = how.term(&mut terms, inputs);
    let (cone, _) = canonical::cone(&terms, &[made[&root]], &[extreme], |_| Assumption::NONE, |_| false);
    Some(Question { cone, demanded: vec![ones(WORD)] })
}

#[cfg(test)]
mod tests {
    use crate::{Budget, Proof, Query, Verdict, prove};
    use ptxopt_grammar::meaning::term::{Term, Terms};

    /// A choice of bits by a mask.
    fn by_mask(terms: &mut Terms, mask: Term, [ones, zeros]: [Term; 2]) -> Term {
        let none = terms.not(mask);
        let [x, y] = [terms.and(ones, mask), terms.and(zeros, none)];
        terms.or(x, y)
    }

    /// The greater bytes of two words, or what a bit that falls into the next lane makes of it: the mean of `a` and the inverted `b` has
    /// its highest bit set in each lane where `a` is greater.
    fn greater(terms: &mut Terms, [a, b]: [Term; 2], is_right: bool) -> Term {
        let none = terms.not(b);
        let [both, one] = [terms.and(a, none), terms.xor(a, none)];
        let kept = terms.constant(if is_right { 0xfefe_fefe } else { 0xfeff_fefe }, 32);
        let by = terms.constant(1, 32);
        let kept = terms.and(one, kept);
        let half = terms.lshr(kept, by);
        let mean = terms.add(both, half);
        let lanes = [0, 8, 16, 24].map(|low| {
            let highest = terms.extract(mean, low + 7, 1);
            terms.sign_extend(highest, 8)
        });
        let mask = terms.side_by_side(lanes.to_vec()).expect("there are lanes");
        by_mask(terms, mask, [a, b])
    }

    /// The greatest of some numbers, one after the other.
    fn greatest(terms: &mut Terms, all: impl IntoIterator<Item = Term>) -> Term {
        let mut all = all.into_iter();
        let first = all.next().expect("there is one");
        all.fold(first, |greatest, next| {
            let is_less = terms.unsigned_less(greatest, next);
            terms.choose(is_less, next, greatest)
        })
    }

    fn bytes(terms: &mut Terms, words: &[Term]) -> Vec<Term> {
        let of = |&word: &Term| [0, 8, 16, 24].map(|low| (word, low));
        let all: Vec<(Term, u32)> = words.iter().flat_map(of).collect();
        all.into_iter().map(|(word, low)| terms.extract(word, low, 8)).collect()
    }

    /// What the first of the words that are made lane by lane is made of.
    #[derive(Clone, Copy, PartialEq, Eq)]
    enum First {
        Right,
        /// A bit falls into the next lane.
        Carries,
        /// For one value of a word, the lowest bit is another one.
        RightButOnce,
    }

    /// The greatest of sixteen bytes, one after the other, and of words that are made lane by lane.
    fn verdict(first: First) -> Verdict {
        let mut terms = Terms::new();
        let words = [0, 1, 2, 3].map(|number| terms.input(number, 32));
        let all = bytes(&mut terms, &words);
        let before = greatest(&mut terms, all);
        let [a, b, c, d] = words;
        let mut left = greater(&mut terms, [a, b], first != First::Carries);
        if first == First::RightButOnce {
            let once = terms.constant(0x1234_5678, 32);
            let is_once = terms.equal(a, once);
            let lowest = terms.zero_extend(is_once, 32);
            left = terms.xor(left, lowest);
        }
        let right = greater(&mut terms, [c, d], true);
        let both = greater(&mut terms, [left, right], true);
        let all = bytes(&mut terms, &[both]);
        let after = greatest(&mut terms, all);
        let mut query = Query::new(&terms, vec![before], vec![after]);
        query.budget = Budget { step: 300, total: 3000 };
        prove(&query)
    }

    #[test]
    fn extremes_of_lanes_are_taken_in_one_order() {
        assert!(matches!(verdict(First::Right), Verdict::Proved(Proof::Sat { .. } | Proof::Parts)));
    }

    #[test]
    fn what_only_looks_like_an_extreme_is_none() {
        assert!(!matches!(verdict(First::Carries), Verdict::Proved(_)));
    }

    /// No input that is tried shows it.
    #[test]
    fn what_behaves_like_an_extreme_is_proved_to_be_one() {
        assert!(!matches!(verdict(First::RightButOnce), Verdict::Proved(_)));
    }
}
