//! Questions to the prover about terms of the arena, cut to a size that it can decide.
//!
//! A question is asked of an excerpt: the terms nearest to the two that are compared, in which what lies further away
//! is replaced by inputs of their own, the same one for the same term. What is equal whatever those inputs are is
//! equal, so an excerpt can only be too small to show it; then a larger one is tried. First of all, whatever both
//! sides are made of is replaced.
//!
//! A proof holds under the assumptions about the inputs that occur in its excerpt, and where both sides mean the same
//! by them; [`Questions::used`] says which those are, and the caller must show them.

use super::terms::Arena;
use crate::{Assumption, Brief, Budget, Proof, Prover, Query};
use hashbrown::{HashMap, HashSet};
use ptxopt_grammar::meaning::term::{Op, Term, Terms, ones};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// How many terms an excerpt has, step by step, and what the prover may do with it; the first is of what the sides do
/// not share.
const STEPS: [(usize, Budget); 4] = [
    (400, Budget { step: 200, total: 6000 }),
    (120, Budget { step: 200, total: 3000 }),
    (800, Budget { step: 200, total: 6000 }),
    (3000, Budget { step: 300, total: 20_000 }),
];
/// How many questions may end without an answer before less effort is made for the others.
const PATIENCE: u32 = 6;
/// What a question gets from then on.
const IMPATIENT: Budget = Budget { step: 50, total: 1000 };
/// How many questions of a pair of functions may end without an answer.
const MOST_UNANSWERED: u32 = 24;
/// How much work all questions about a pair of functions may be: some ten seconds, a minute at the worst.
const MOST_WORK: usize = 400_000;

/// The same for guesses: for most of them a proof is found soon or not at all.
const MOST_GUESSED: (u32, usize) = (2, 20_000);
/// The same where a person waits.
const MOST_OF_ALL: (u32, usize) = (100, 10_000_000);
/// What a question without an answer gets once more where a person waits for it, and how many questions do.
const PATIENT: Budget = Budget { step: 5000, total: 100_000 };
const MOST_PATIENT: u32 = 8;

/// How much is done for the proof of a pair of functions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effort {
    /// For guesses, of which there are many.
    Little,
    /// For a change that is likely to be right.
    Usual,
    /// For an answer that a person waits for.
    Most,
}

/// What the prover said.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Answer {
    /// Equal on the bits that were asked for.
    Equal,
    /// There are inputs for which these bits differ.
    Differs(u128),
    /// Not found out.
    Unknown,
}

/// Asks, and keeps count.
pub(super) struct Questions {
    prover: Prover,
    unanswered: u32,
    work: usize,
    pub(super) effort: Effort,
    /// How many conflicts all proofs took together.
    pub(super) conflicts: u64,
    /// Whether the solver was needed at all.
    pub(super) searched: bool,
    /// The inputs in the excerpts of all proofs of this round.
    pub(super) used: BTreeSet<u32>,
    known: HashMap<(Term, Term, u128), Answer>,
}

impl Questions {
    pub(super) fn new(effort: Effort) -> Self {
        Self {
            prover: Prover::new(),
            unanswered: 0,
            work: 0,
            effort,
            conflicts: 0,
            searched: false,
            used: BTreeSet::new(),
            known: HashMap::new(),
        }
    }

    /// Another round begins; the last one had so many terms.
    pub(super) fn begin(&mut self, terms: usize) {
        self.work += terms / 8;
        self.used.clear();
        self.known.clear();
    }

    /// Whether no more work is done.
    pub(super) fn is_spent(&self) -> bool {
        let (unanswered, work) = match self.effort {
            Effort::Little => MOST_GUESSED,
            Effort::Usual => (MOST_UNANSWERED, MOST_WORK),
            Effort::Most => MOST_OF_ALL,
        };
        self.unanswered > unanswered || self.work > work
    }

    /// Whether two terms are equal on some bits.
    pub(super) fn equal(&mut self, arena: &mut Arena, a: Term, b: Term, bits: u128) -> Answer {
        let width = arena.terms.width(a);
        let bits = bits & ones(width);
        if a == b || bits == 0 {
            return Answer::Equal;
        }
        let (before, after) = (arena.values(a), arena.values(b));
        let differ = before.iter().zip(&after).fold(0, |any, (x, y)| any | x ^ y) & bits;
        if differ != 0 {
            return Answer::Differs(differ);
        }
        if let Some(&known) = self.known.get(&(a, b, bits)) {
            return known;
        }
        let answer = self.decide(arena, a, b, bits);
        self.known.insert((a, b, bits), answer);
        answer
    }

    fn decide(&mut self, arena: &Arena, a: Term, b: Term, bits: u128) -> Answer {
        for (step, &(size, budget)) in STEPS.iter().enumerate() {
            if self.is_spent() {
                return Answer::Unknown;
            }
            let excerpt = Excerpt::new(arena, [a, b], size, step == 0);
            self.work += excerpt.size;
            let mut query = Query::new(&excerpt.terms, vec![excerpt.roots[0]], vec![excerpt.roots[1]]);
            query.demanded = vec![bits];
            query.assumptions = excerpt.assumptions;
            query.budget = if self.unanswered < PATIENCE { budget } else { IMPATIENT };
            match self.ask(&mut query, excerpt.size) {
                Brief::Proved(proof) => {
                    if let Proof::Sat { conflicts } = proof {
                        self.conflicts += conflicts;
                        self.searched = true;
                    }
                    self.used.extend(excerpt.inputs);
                    return Answer::Equal;
                }
                Brief::Differs(found) if excerpt.whole && found[0] != 0 => return Answer::Differs(found[0]),
                Brief::Differs(_) => {}
                Brief::Unproved => {
                    if excerpt.whole || self.unanswered >= PATIENCE {
                        return Answer::Unknown;
                    }
                }
            }
        }
        Answer::Unknown
    }

    /// Asks once, and where a person waits once more if there is no answer.
    fn ask(&mut self, query: &mut Query<'_>, size: usize) -> Brief {
        let remembered = self.prover.remembered();
        let brief = self.prover.decide_briefly(query);
        if self.prover.remembered() == remembered {
            // What sweeping takes grows faster than what is swept.
            self.work += size * size / 400;
        }
        if brief != Brief::Unproved {
            return brief;
        }
        self.unanswered += 1;
        if self.effort != Effort::Most || self.unanswered > MOST_PATIENT {
            return brief;
        }
        query.budget = PATIENT;
        self.prover.decide_briefly(query)
    }
}

/// Terms near to two roots, in an arena of their own.
struct Excerpt {
    terms: Terms,
    roots: [Term; 2],
    assumptions: BTreeMap<u32, Assumption>,
    /// The inputs of the arena that occur in it.
    inputs: Vec<u32>,
    size: usize,
    /// Whether nothing was replaced.
    whole: bool,
}

impl Excerpt {
    #[expect(clippy::wildcard_enum_match_arm, reason = "all operations are copied alike")]
    fn new(arena: &Arena, roots: [Term; 2], size: usize, apart: bool) -> Self {
        let shared = if apart { shared(&arena.terms, roots, size) } else { HashSet::new() };
        let (inner, whole) = nearest(&arena.terms, &roots, size, &shared);
        let mut excerpt = Self {
            terms: Terms::new(),
            roots,
            assumptions: BTreeMap::new(),
            inputs: Vec::new(),
            size: inner.len(),
            whole,
        };
        let mut made: HashMap<Term, Term> = HashMap::with_capacity(inner.len());
        let mut numbers = 0;
        for &term in &inner {
            let parts: Vec<Term> = arena.terms.children(term).collect();
            for part in parts.into_iter().chain([term]) {
                if made.contains_key(&part) || part != term && inner.binary_search(&part).is_ok() {
                    continue;
                }
                let new = match arena.terms.op(part) {
                    Op::Constant(value) => excerpt.terms.constant(value, arena.terms.width(part)),
                    Op::Input(number) => {
                        let new = excerpt.terms.input(numbers, arena.terms.width(part));
                        excerpt.inputs.push(number);
                        let assumption = arena.assumption(number);
                        if assumption != Assumption::NONE {
                            excerpt.assumptions.insert(numbers, assumption);
                        }
                        numbers += 1;
                        new
                    }
                    _ if part == term => excerpt.terms.copy(&arena.terms, term, &mut |child| made[&child]),
                    _ => {
                        numbers += 1;
                        excerpt.terms.input(numbers - 1, arena.terms.width(part))
                    }
                };
                made.insert(part, new);
            }
        }
        excerpt.roots = roots.map(|root| made[&root]);
        excerpt
    }
}

/// What both terms are made of, as far as it is near enough.
fn shared(terms: &Terms, [a, b]: [Term; 2], size: usize) -> HashSet<Term> {
    let nothing = HashSet::new();
    let (of_a, _) = nearest(terms, &[a], 4 * size, &nothing);
    let (of_b, _) = nearest(terms, &[b], 4 * size, &nothing);
    let leaves = |inner: &[Term]| -> HashSet<Term> {
        inner.iter().flat_map(|&term| terms.children(term)).chain(inner.iter().copied()).collect()
    };
    let (of_a, of_b) = (leaves(&of_a), leaves(&of_b));
    of_a.intersection(&of_b).copied().collect()
}

/// So many terms, those nearest to the roots, children first, and whether these are all; terms that are kept whole
/// are not gone into. The roots are always among them.
fn nearest(terms: &Terms, roots: &[Term], size: usize, kept: &HashSet<Term>) -> (Vec<Term>, bool) {
    let mut seen: HashSet<Term> = roots.iter().copied().collect();
    let mut queue: VecDeque<Term> = roots.iter().copied().collect();
    let (mut inner, mut whole) = (Vec::new(), true);
    while let Some(term) = queue.pop_front() {
        let leaf = matches!(terms.op(term), Op::Input(_) | Op::Constant(_));
        let root = roots.contains(&term);
        if !leaf && !root && (kept.contains(&term) || inner.len() >= size) {
            whole = false;
            continue;
        }
        if leaf && !root {
            continue;
        }
        inner.push(term);
        queue.extend(terms.children(term).filter(|&child| seen.insert(child)));
    }
    inner.sort_unstable();
    (inner, whole)
}
