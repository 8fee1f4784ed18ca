//! The prover: whether two pieces of code compute the same, for all inputs.
//!
//! Both sides become one graph of gates. If their results are the same literals, they are equal: the graph only
//! merges what is equal. If they differ on one of 512 vectors, they are not. Else the graph is made again, each
//! gate that behaves like an older one being proved equal to it by a solver and merged, and what still differs is
//! asked of the solver. Where words are multiplied, three things are tried before: sums of products taken apart, bits
//! that depend on few inputs computed for all of these, and sums of products as inputs. The verdict depends on the
//! question alone, on no clock or address; but if the same was asked before with more effort, that answer is the better
//! one. Whatever was not proved is not claimed: out of budget means [`Verdict::Unproved`].

mod above;
mod abstracted;
mod aig;
mod apart;
pub mod around;
pub mod blocks;
mod bounds;
mod canonical;
mod compared;
mod counterexample;
mod cut;
mod decide;
mod distance;
mod extracted;
mod extremes;
pub mod fragment;
mod integer;
mod intermediate;
mod lanewise;
mod linear;
mod merged;
mod numbers;
mod ordered;
mod parity;
mod possible;
mod query;
mod remade;
mod renamed;
mod sat;
mod sliced;
mod special;
pub mod straight;
mod support;
mod sweep;
#[cfg(test)]
mod tests;
mod tried;
mod undefined;
mod vectors;
mod words;

pub use counterexample::{Counterexample, InputValue, Uniqueness};
pub use intermediate::parting;
pub use query::{Assumption, Budget, Query};
pub use undefined::Reads;

use canonical::Cone;
use hashbrown::HashMap;

/// How a proof was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Proof {
    /// Both sides are the same circuit.
    Structural,
    /// Both sides are sums or words whose parts depend on few inputs each, and each part was tried with all of these.
    Parts,
    /// The solver found no difference.
    Sat {
        /// How many conflicts it took.
        conflicts: u64,
    },
}

impl Proof {
    /// How something is proved that follows from two proofs.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let conflicts = |proof| match proof {
            Self::Structural | Self::Parts => 0,
            Self::Sat { conflicts } => conflicts,
        };
        match (self, other) {
            (Self::Structural, Self::Structural) => Self::Structural,
            (Self::Structural | Self::Parts, Self::Structural | Self::Parts) => Self::Parts,
            (_, _) => Self::Sat { conflicts: conflicts(self) + conflicts(other) },
        }
    }
}

impl std::fmt::Display for Proof {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Structural => f.write_str("structural"),
            Self::Parts => f.write_str("by parts"),
            Self::Sat { conflicts } => write!(f, "sat, {conflicts} conflicts"),
        }
    }
}

/// The answer to a [`Query`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Equal for all inputs that are as assumed.
    Proved(Proof),
    /// Different for these inputs.
    Refuted(Counterexample),
    /// Not decided within the budget.
    Unproved,
}

/// An answer without an example: making an example small takes longer than finding one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Brief {
    /// Equal for all inputs that are as assumed.
    Proved(Proof),
    /// The bits of each result that differ for some inputs.
    Differs(Vec<u128>),
    /// Not decided within the budget.
    Unproved,
}

/// Decides questions, and remembers the answers.
#[derive(Default)]
pub struct Prover {
    known: HashMap<Question, Remembered<Verdict>>,
    known_briefly: HashMap<Question, Remembered<Brief>>,
    answered: u64,
}

/// All that an answer depends on but the effort.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Question {
    cone: Cone,
    demanded: Vec<u128>,
}

/// An answer, and the effort with which it was looked for.
struct Remembered<A> {
    answer: A,
    budget: Budget,
}

impl<A: Clone + PartialEq> Remembered<A> {
    /// The answer, if it stands whatever the effort is, or was looked for with as much.
    fn answer(&self, budget: Budget, unproved: &A) -> Option<A> {
        let as_much = self.budget.step >= budget.step && self.budget.total >= budget.total;
        (as_much || self.answer != *unproved).then(|| self.answer.clone())
    }
}

impl Prover {
    /// Nothing is remembered yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many questions were answered from memory.
    #[must_use]
    pub fn remembered(&self) -> u64 {
        self.answered
    }

    /// The proof that a question had before, if it had one and was decided briefly.
    ///
    /// # Panics
    ///
    /// The same as [`Self::decide`].
    pub fn recall(&mut self, query: &Query<'_>) -> Option<Proof> {
        let (question, _) = question(query);
        let Brief::Proved(proof) = self.known_briefly.get(&question)?.answer else { return None };
        self.answered += 1;
        Some(proof)
    }

    /// Decides a question.
    ///
    /// # Panics
    ///
    /// If the two sides do not have the same number of results with the same widths.
    pub fn decide(&mut self, query: &Query<'_>) -> Verdict {
        let (question, numbers) = question(query);
        let budget = query.budget;
        let known = self.known.get(&question).and_then(|known| known.answer(budget, &Verdict::Unproved));
        let verdict = if let Some(known) = known {
            self.answered += 1;
            known
        } else {
            let answer = decide::decide(&question, budget);
            self.known.insert(question, Remembered { answer: answer.clone(), budget });
            answer
        };
        renamed(verdict, &numbers)
    }

    /// Decides a question, and gives no example of a difference.
    ///
    /// # Panics
    ///
    /// The same as [`Self::decide`].
    pub fn decide_briefly(&mut self, query: &Query<'_>) -> Brief {
        let (question, _) = question(query);
        let budget = query.budget;
        let known = self.known_briefly.get(&question);
        if let Some(known) = known.and_then(|known| known.answer(budget, &Brief::Unproved)) {
            self.answered += 1;
            return known;
        }
        let answer = decide::decide_briefly(&question, budget);
        self.known_briefly.insert(question, Remembered { answer: answer.clone(), budget });
        answer
    }
}

/// Decides one question.
///
/// # Panics
///
/// If the two sides do not have the same number of results with the same widths.
#[must_use]
pub fn prove(query: &Query<'_>) -> Verdict {
    let (question, numbers) = question(query);
    renamed(decide::decide(&question, query.budget), &numbers)
}

fn question(query: &Query<'_>) -> (Question, Vec<u32>) {
    assert_eq!(query.before.len(), query.after.len(), "both sides have as many results");
    for (&before, &after) in query.before.iter().zip(&query.after) {
        assert_eq!(query.terms.width(before), query.terms.width(after), "results come in pairs of one width");
    }
    let assumption = |number| query.assumptions.get(&number).copied().unwrap_or(Assumption::NONE);
    let undefined = |number| query.undefined.contains(&number);
    let (cone, numbers) = canonical::cone(query.terms, &query.before, &query.after, assumption, undefined);
    let demanded = (0..query.before.len()).map(|result| query.demanded(result)).collect();
    (Question { cone, demanded }, numbers)
}

/// The verdict with the caller's numbers of the inputs.
fn renamed(verdict: Verdict, numbers: &[u32]) -> Verdict {
    match verdict {
        Verdict::Refuted(mut counterexample) => {
            for input in &mut counterexample.inputs {
                input.number = numbers[input.number as usize];
            }
            Verdict::Refuted(counterexample)
        }
        Verdict::Proved(_) | Verdict::Unproved => verdict,
    }
}
