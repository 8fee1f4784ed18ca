//! The cone of a term: everything that it is made of, in the order of the arena.
//!
//! Children have smaller indices than the terms made of them. So a heap that gives the largest index first meets
//! every term after all that use it: a term's copies come out together, and the order needs no sorting. Operands are
//! looked up once and are places in the cone from then on.

use super::fact::Fact;
use ptxopt_grammar::meaning::term::{Op, Term, Terms};
use std::collections::BinaryHeap;
use std::sync::OnceLock;

/// A term of a cone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) term: Term,
    pub(super) op: Op,
    pub(super) width: u32,
    /// The places of its operands; the first one stands in for those that it has not.
    pub(super) operands: [u32; 3],
}

/// All terms that some terms are made of, ready to be evaluated again and again.
#[derive(Clone, Debug)]
pub struct Cone {
    pub(super) nodes: Vec<Node>,
    /// What is known of each term whatever the inputs are.
    unconditional: OnceLock<Vec<Fact>>,
}

/// Terms by place.
pub(super) trait ByPlace {
    /// The term at a place.
    fn node(&self, place: u32) -> Node;
}

impl ByPlace for [Node] {
    fn node(&self, place: u32) -> Node {
        self[place as usize]
    }
}

/// The terms of an arena are their own cone: places are their numbers.
impl ByPlace for Terms {
    fn node(&self, place: u32) -> Node {
        let term = self.since(place as usize).next().expect("the arena has the operands of its terms");
        Node::of(self, term)
    }
}

impl Node {
    /// A term of an arena in which places are the numbers of terms.
    pub(super) fn of(terms: &Terms, term: Term) -> Self {
        let place = |term: Term| u32::try_from(term.index()).expect("no more terms than their numbers allow");
        let mut operands = [0; 3];
        for (number, child) in terms.children(term).enumerate() {
            if number == 0 {
                operands = [place(child); 3];
            } else {
                operands[number] = place(child);
            }
        }
        Self { term, op: terms.op(term), width: terms.width(term), operands }
    }
}

impl Cone {
    /// The cone of these terms.
    #[must_use]
    pub fn new(terms: &Terms, roots: &[Term]) -> Self {
        let mut waiting: BinaryHeap<Term> = roots.iter().copied().collect();
        let mut found: Vec<Term> = Vec::with_capacity(32);
        while let Some(term) = waiting.pop() {
            if found.last() != Some(&term) {
                found.push(term);
                waiting.extend(terms.children(term));
            }
        }
        found.reverse();
        let mut nodes = Vec::with_capacity(found.len());
        for &term in &found {
            let mut operands = [0; 3];
            for (number, child) in terms.children(term).enumerate() {
                let place = found.binary_search(&child).expect("children are in the cone");
                let place = u32::try_from(place).expect("no more terms than their numbers allow");
                if number == 0 {
                    operands = [place; 3];
                } else {
                    operands[number] = place;
                }
            }
            nodes.push(Node { term, op: terms.op(term), width: terms.width(term), operands });
        }
        Self { nodes, unconditional: OnceLock::new() }
    }

    /// Its terms, children first.
    pub fn terms(&self) -> impl ExactSizeIterator<Item = Term> {
        self.nodes.iter().map(|node| node.term)
    }

    /// Where a term stands among [`Self::terms`].
    #[must_use]
    pub fn place(&self, term: Term) -> Option<usize> {
        self.nodes.binary_search_by_key(&term, |node| node.term).ok()
    }

    /// What is known of each term whatever the inputs are; found once.
    pub(super) fn unconditional(&self) -> &[Fact] {
        self.unconditional.get_or_init(|| self.forward(&mut |_number, width| Fact::top(width)))
    }
}
