//! Verification: whether a rewrite may be written. Every rewrite is verified here, and none is written without proof.
//!
//! The question is whether new text may stand in the place of a statement. The text is parsed and given its meaning
//! by the same table as everything else, so what is proved is what is written. Both sides are terms over the values
//! of the function; the values that they read are replaced by what they are made of, a little at first and then more,
//! until a proof succeeds.
//!
//! **Demanded bits.** The original program demands some bits of every value. Any edit may change the others, and many
//! edits are made at once. So a proof may not rely on them: what the new text reads agrees with the original's value
//! on its demanded bits alone, and has arbitrary other bits, in all operands at the same time. By induction over an
//! execution, every value of the edited program then agrees with the original's on its demanded bits.
//!
//! **Undefined registers.** A read of a register that may be undefined is a value of its own. The new text may read
//! it once; a second read is another unknown.
//!
//! **Facts.** Facts about phis are assumed, since a region does not look behind a phi. No other fact is: it follows
//! from statements in the region, or is proved by itself, or the proof does without it.

mod meant;
mod range;
mod reach;
mod region;
mod sampled;

use crate::graph::{Graph, ValueId};
use crate::recipe::{Recipe, Text};
use crate::site::Knowledge;
use hashbrown::HashMap;
use ptxopt_grammar::tree::StmtId;
use ptxopt_prover::{Brief, Budget, Counterexample, Proof, Prover, Verdict};
use reach::{Extent, Reach};
use region::{Most, New, Region, Rest, Snippet};
use sampled::sampled;
use std::collections::BTreeMap;
use std::time::Duration;

/// How a rewrite is checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Check {
    /// Evaluated on corner cases and seeded inputs.
    Sampled,
    /// Evaluated like that, and proved for all inputs.
    #[default]
    Proved,
}

/// What verification finds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Judgement {
    /// Equal for all inputs.
    Proved(Proof),
    /// Equal on all inputs that were tried, and no more was asked for.
    Sampled,
    /// Not decided within the budget.
    Unproved,
    /// Not equal in any region that was tried: it relies on undemanded bits, or on values outside the region.
    Unfounded,
    /// Not understood, so not proved.
    Unclear,
    /// Not equal: a bug.
    Wrong(Box<Wrong>),
}

/// A wrong rewrite.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wrong {
    /// Inputs on which the sides differ.
    pub counterexample: Counterexample,
    /// The registers that the inputs stand for, by number of the input.
    pub names: BTreeMap<u32, String>,
}

/// The regions that are tried, step by step. What is fused lies between what both texts read, and may be a hundred
/// statements; those of a few values come first, since a large one takes longer to build than all of them to refute.
const REGIONS: [Extent; 9] = [
    Extent::Around(0),
    Extent::Between(8),
    Extent::Around(2),
    Extent::Around(6),
    Extent::Around(16),
    Extent::Between(640),
    Extent::Founded(640),
    Extent::Around(48),
    Extent::Around(96),
];

/// The effort for a question of a function.
struct Effort {
    /// From how many questions on that ended without an answer.
    unanswered: u32,
    budget: Budget,
    /// The most terms of both sides: what is proved has some hundred, and a circuit of thousands takes as long to make as
    /// many proofs.
    terms: usize,
}

/// The efforts: what is too hard costs more time than all proofs of a function, and there is often more of its kind.
const EFFORTS: [Effort; 5] = [
    Effort { unanswered: 0, budget: Budget { step: 300, total: 24_000 }, terms: 2048 },
    Effort { unanswered: 1, budget: Budget { step: 300, total: 6000 }, terms: 2048 },
    Effort { unanswered: 2, budget: Budget { step: 300, total: 3000 }, terms: 1024 },
    Effort { unanswered: 4, budget: Budget { step: 100, total: 1000 }, terms: 1024 },
    Effort { unanswered: PATIENCE, budget: Budget { step: 100, total: 1000 }, terms: 512 },
];

/// How many questions may end without an answer before no more is tried than what is near a statement.
const PATIENCE: u32 = 8;

/// Verifies rewrites, and remembers what was proved.
#[derive(Default)]
pub struct Verifier {
    prover: Prover,
    check: Check,
    /// By function: how many questions ended without an answer, in all of its rounds.
    unanswered: HashMap<String, u32>,
    /// The function at hand.
    function: String,
    /// How long all verdicts took, as far as the caller says.
    spent: Duration,
}

impl std::fmt::Debug for Verifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Verifier").field("check", &self.check).finish_non_exhaustive()
    }
}

/// A rewrite in question: whether a recipe's text may stand for the value that a statement writes.
#[derive(Clone, Copy, Debug)]
pub struct Rewrite<'c> {
    /// The statement, which has one result.
    pub stmt: StmtId,
    /// Its result.
    pub value: ValueId,
    /// What the text was made of: the values that its registers hold.
    pub recipe: &'c Recipe,
    /// The text.
    pub text: &'c Text,
    /// What the text spells by other instructions, if that is known: what it was made of, and its text.
    pub meant: Option<(&'c Recipe, &'c Text)>,
    /// Whether a recogniser guessed it from samples. That such a rewrite is wrong is no bug, so no example is looked
    /// for, which takes longer than to find that there is one.
    pub guessed: bool,
}

impl Verifier {
    /// Nothing is remembered yet.
    #[must_use]
    pub fn new(check: Check) -> Self {
        Self { check, ..Self::default() }
    }

    /// A function begins: questions get the full effort again, unless it is one that had its questions before.
    pub fn begin(&mut self, function: &str) {
        function.clone_into(&mut self.function);
    }

    /// How many questions of the function at hand ended without an answer.
    fn unanswered(&self) -> u32 {
        self.unanswered.get(&self.function).copied().unwrap_or(0)
    }

    /// How many questions were answered from memory.
    #[must_use]
    pub fn remembered(&self) -> u64 {
        self.prover.remembered()
    }

    /// Notes how long a verdict took.
    pub fn spend(&mut self, time: Duration) {
        self.spent += time;
    }

    /// How long all verdicts took.
    #[must_use]
    pub const fn spent(&self) -> Duration {
        self.spent
    }

    /// Whether the text may stand in the place of the statement.
    pub fn verify(
        &mut self,
        graph: &Graph<'_, '_>,
        knowledge: &Knowledge,
        rewrite: &Rewrite<'_>,
    ) -> Judgement {
        let by_meaning = self.by_meaning(graph, knowledge, rewrite);
        by_meaning.unwrap_or_else(|| self.in_regions(graph, knowledge, rewrite))
    }

    /// The same, where both texts are compared as they are.
    fn in_regions(
        &mut self,
        graph: &Graph<'_, '_>,
        knowledge: &Knowledge,
        rewrite: &Rewrite<'_>,
    ) -> Judgement {
        let Some(source) = Snippet::of(graph, rewrite) else { return Judgement::Unclear };
        let Ok(module) = ptxopt_grammar::parse(source.text.as_bytes()) else { return Judgement::Unclear };
        let new = New { held: &source.held, module: &module };
        let mut last = Judgement::Unclear;
        let mut has_all_between = false;
        for (step, &extent) in REGIONS.iter().enumerate() {
            if has_all_between && matches!(extent, Extent::Between(_)) {
                continue;
            }
            let Some(reach) = Reach::of(graph, rewrite, extent) else { return Judgement::Unclear };
            has_all_between |= reach.has_all_between;
            // It would be refuted once it was built.
            if !reach.may_be_equal {
                last = Judgement::Unfounded;
                continue;
            }
            let whole = reach.whole;
            let most: &mut Most<'_> = &mut |value| range::most(&mut self.prover, graph, knowledge, value);
            let region = Region::new(graph, knowledge, rewrite, &new, reach, Rest::Arbitrary, most);
            let Some(region) = region else { return Judgement::Unclear };
            match self.decide(&region) {
                Brief::Proved(_) if self.check == Check::Sampled => return Judgement::Sampled,
                Brief::Proved(proof) => return Judgement::Proved(proof),
                Brief::Unproved => last = Judgement::Unproved,
                Brief::Differs(_) => last = Judgement::Unfounded,
            }
            // What is too hard does not get easier with more around it.
            let is_large = step + 2 >= REGIONS.len();
            let too_hard = last == Judgement::Unproved && (is_large || self.unanswered() >= PATIENCE);
            if whole || too_hard || step + 1 == REGIONS.len() {
                break;
            }
        }
        if last == Judgement::Unfounded && !rewrite.guessed {
            return self.blame(graph, knowledge, rewrite, &new).unwrap_or(last);
        }
        last
    }

    /// Whether the text is wrong even if every bit that it reads is the original's.
    fn blame(
        &mut self,
        graph: &Graph<'_, '_>,
        knowledge: &Knowledge,
        rewrite: &Rewrite<'_>,
        new: &New<'_, '_>,
    ) -> Option<Judgement> {
        let largest = *REGIONS.last().expect("there are regions");
        let most: &mut Most<'_> = &mut |_| None;
        let reach = Reach::of(graph, rewrite, largest).filter(|reach| reach.whole)?;
        let region = Region::new(graph, knowledge, rewrite, new, reach, Rest::Kept, most)?;
        let names = region.names.clone();
        // An example is small, so that it can be shown.
        match self.prover.decide(&region.query()) {
            Verdict::Refuted(counterexample) => {
                Some(Judgement::Wrong(Box::new(Wrong { counterexample, names })))
            }
            Verdict::Proved(_) | Verdict::Unproved => None,
        }
    }

    fn decide(&mut self, region: &Region) -> Brief {
        let unanswered = self.unanswered();
        let effort = EFFORTS.iter().rev().find(|effort| unanswered >= effort.unanswered);
        let effort = effort.expect("the first is for all questions");
        if !region.terms.has_at_most(&[region.before, region.after], effort.terms) {
            return Brief::Unproved;
        }
        let mut query = region.query();
        query.budget = effort.budget;
        if self.check == Check::Sampled || region.before != region.after {
            // What was proved before need not be tried.
            if self.check != Check::Sampled
                && let Some(proof) = self.prover.recall(&query)
            {
                return Brief::Proved(proof);
            }
            if let Some(difference) = sampled(&query, &region.inputs) {
                return Brief::Differs(vec![difference]);
            }
            if self.check == Check::Sampled {
                return Brief::Proved(Proof::Structural);
            }
        }
        let remembered = self.prover.remembered();
        let brief = self.prover.decide_briefly(&query);
        let is_new = self.prover.remembered() == remembered;
        if is_new && brief == Brief::Unproved {
            *self.unanswered.entry_ref(&self.function).or_default() += 1;
        }
        brief
    }
}
