//! The cuts of a lane: small sets of other lanes that it is a function of.
//!
//! A cut of a term is a set of terms below it such that every way down passes one of them. Cuts are enumerated from
//! below, as technology mapping does it: those of a term are the unions of cuts of its operands, and the term itself
//! if it can be a lane of its own, because it has as many bits, or fits into as many.

use super::pieces::Pieces;
use hashbrown::HashMap;
use ptxopt_grammar::meaning::term::{Op, Term};
use ptxopt_grammar::video::Sign;
use std::collections::BinaryHeap;
use std::ops::RangeInclusive;
use std::rc::Rc;

/// The most lanes of a cut.
const MOST_LANES: usize = 2;

/// The most terms that they may be read from.
const MOST_LEAVES: usize = 6;

/// The most cuts of a term that are kept, the first found.
const MOST_CUTS: usize = 12;

/// How many bits what is less than a lane must have to be one when it is extended: those of numbers, not of comparisons.
const FIELD: RangeInclusive<u32> = 2..=8;

/// How many terms lie between a term and its leaves, at most, one below the other.
const MOST_DEPTH: u8 = 120;

/// A set of terms, in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Cut {
    leaves: Vec<Leaf>,
    /// How many terms lie between, one below the other.
    depth: u8,
}

/// The cuts of a term.
#[derive(Debug)]
pub(super) struct Cuts {
    /// Those of other terms, those of the most first, and last that of the nearest lanes.
    below: Rc<[Cut]>,
    /// How many of these make cuts of terms that are made of this one.
    passed_on: usize,
    /// That of the nearest lanes below.
    nearest: Option<Cut>,
    /// That of the term itself, if it is a lane.
    own: Option<Cut>,
}

impl Cuts {
    fn all(&self) -> impl Iterator<Item = &Cut> {
        self.below[..self.passed_on].iter().chain(&self.own)
    }

    /// The term itself, or the nearest lanes below.
    fn nearest(&self) -> Option<&Cut> {
        self.own.as_ref().or(self.nearest.as_ref())
    }
}

/// A term of a cut, and how it is made of a lane. Several may be made of the same lane.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Leaf {
    lane: Term,
    term: Term,
    signed: bool,
}

/// The lanes of a cut, each once, in order.
fn lanes(leaves: &[Leaf]) -> Vec<Term> {
    let mut lanes: Vec<Term> = leaves.iter().map(|leaf| leaf.lane).collect();
    lanes.dedup();
    lanes
}

impl Pieces {
    /// The cuts of a term but itself, those of the most terms first.
    pub(super) fn cuts(&mut self, root: Term) -> Rc<[Cut]> {
        let mut stack = vec![root];
        while let Some(&term) = stack.last() {
            let below = stack.len();
            if !self.cuts.contains_key(&term) {
                stack.extend(self.terms.children(term).filter(|child| !self.cuts.contains_key(child)));
            }
            if stack.len() == below {
                stack.pop();
                if !self.cuts.contains_key(&term) {
                    let cuts = self.cuts_of(term);
                    self.cuts.insert(term, cuts);
                }
            }
        }
        Rc::clone(&self.cuts[&root].below)
    }

    /// The cuts of a term, given those of its operands. Of many only the first are kept, which go far down; what is made
    /// of the nearest lanes is found in any case.
    fn cuts_of(&mut self, term: Term) -> Cuts {
        let mut cuts = vec![Cut { leaves: Vec::new(), depth: 0 }];
        let mut nearest = cuts.first().cloned();
        for child in self.terms.children(term) {
            let below = &self.cuts[&child];
            nearest = nearest.zip(below.nearest()).and_then(|(cut, other)| cut.with(other));
            cuts = cuts.iter().flat_map(|cut| below.all().filter_map(|other| cut.with(other))).collect();
            cuts.dedup();
            cuts.truncate(MOST_CUTS);
        }
        if let Op::Input(_) = self.terms.op(term) {
            cuts.clear();
            nearest = None;
        }
        for cut in cuts.iter_mut().chain(&mut nearest) {
            cut.depth += 1;
        }
        let own = self.leaf(term).map(|leaf| Cut { leaves: vec![leaf], depth: 0 });
        let is_own = |cut: &Cut| own.as_ref().is_some_and(|own| own.leaves == cut.leaves);
        let is_below = |cut: &Cut| cut.depth < MOST_DEPTH && !is_own(cut);
        cuts.retain(is_below);
        nearest = nearest.filter(is_below);
        let passed_on = cuts.len();
        let is_new = |cut: &&Cut| cuts.iter().all(|other| other.leaves != cut.leaves);
        let last = nearest.as_ref().filter(is_new).cloned();
        Cuts { below: cuts.into_iter().chain(last).collect(), passed_on, nearest, own }
    }

    /// A term as a lane, if it is one.
    fn leaf(&mut self, term: Term) -> Option<Leaf> {
        let width = self.terms.width(term);
        // What is extended is the lane, not what extends it, unless it is less than a lane.
        let op = self.terms.op(term);
        let extends = if let Op::ZeroExtend(inner) | Op::SignExtend(inner) = op {
            !FIELD.contains(&self.terms.width(inner)) || self.terms.width(inner) >= self.bits
        } else {
            matches!(op, Op::Concat(..))
        };
        if matches!(op, Op::Constant(_)) || extends && width > self.bits {
            return None;
        }
        if width < self.bits {
            return None;
        }
        let signed = width != self.bits && self.sign_of_lane(term)? == Sign::Signed;
        Some(Leaf { lane: self.part(term, 0, self.bits), term, signed })
    }

    /// The lanes of a cut, each once: in the order of the words in which they lie, which is the same for all lanes that
    /// are computed alike, then those that have a register of their own, and those that lie in none.
    pub(super) fn operands(&self, cut: &Cut) -> Vec<Term> {
        let mut lanes = lanes(&cut.leaves);
        lanes.sort_by_key(|&lane| {
            let word = self.homes(lane).map(|(word, _)| (self.is_single(word), word)).min();
            (word.is_none(), word)
        });
        lanes
    }

    /// A term as a function of the lanes of a cut, which are its inputs in the order of [`Self::operands`].
    pub(super) fn function(&mut self, root: Term, cut: &Cut) -> Term {
        let mut made: HashMap<Term, Term> = HashMap::new();
        let lanes = self.operands(cut);
        let terms = &mut self.functions.terms;
        for leaf in &cut.leaves {
            let number =
                lanes.iter().zip(0..).find(|(lane, _)| **lane == leaf.lane).map(|(_, number)| number);
            let lane = terms.input(number.expect("it is a lane of the cut"), self.bits);
            let width = self.terms.width(leaf.term);
            let term =
                if leaf.signed { terms.sign_extend(lane, width) } else { terms.zero_extend(lane, width) };
            made.insert(leaf.term, term);
        }
        let mut waiting = BinaryHeap::from([root]);
        let mut cone: Vec<Term> = Vec::new();
        while let Some(term) = waiting.pop() {
            if cone.last() != Some(&term) && !made.contains_key(&term) {
                cone.push(term);
                waiting.extend(self.terms.children(term));
            }
        }
        for term in cone.into_iter().rev() {
            let new = terms.copy(&self.terms, term, &mut |child| made[&child]);
            made.insert(term, new);
        }
        made[&root]
    }
}

impl Cut {
    /// All leaves of two cuts, unless they are too many.
    fn with(&self, other: &Self) -> Option<Self> {
        let mut leaves = self.leaves.clone();
        leaves.extend(&other.leaves);
        leaves.sort_unstable();
        leaves.dedup();
        let fits = leaves.len() <= MOST_LEAVES && lanes(&leaves).len() <= MOST_LANES;
        fits.then(|| Self { leaves, depth: self.depth.max(other.depth) })
    }
}
