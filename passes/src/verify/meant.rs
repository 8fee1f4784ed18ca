//! Proofs in two steps: what was recognised is proved to be what the statement computes, and then what is written to be the
//! same as that.
//!
//! A text that spells SIMD instructions by others hides what they mean, and the more of them there are, the harder it is
//! to prove. What was recognised says it plainly, and what each instruction is spelled by is short.
//!
//! The first step proves what every proof does: whatever undemanded bits the values have that are read, the demanded bits
//! of the result are those of the original. The second one is about any values at all, so it holds of these. Where a value
//! may be undefined, each read of it could be another number, and both texts may read it more or less often; that is left
//! to the proof in one step.

use super::region::{New, Region, Snippet};
use super::{Check, Judgement, Rewrite, Verifier};
use crate::graph::Graph;
use crate::site::Knowledge;
use ptxopt_prover::{Brief, Proof};

impl Verifier {
    /// The judgement about a rewrite of which it is known what it spells; `None` if that does not decide it.
    pub(super) fn by_meaning(
        &mut self,
        graph: &Graph<'_, '_>,
        knowledge: &Knowledge,
        rewrite: &Rewrite<'_>,
    ) -> Option<Judgement> {
        let (recipe, text) = rewrite.meant.filter(|_| self.check == Check::Proved)?;
        if !recipe.values().chain(rewrite.recipe.values()).all(|value| graph.is_defined(value)) {
            return None;
        }
        let meant = Rewrite { recipe, text, meant: None, ..*rewrite };
        let first = match self.in_regions(graph, knowledge, &meant) {
            Judgement::Proved(first) => first,
            // What is written is the same as that, or wrong.
            Judgement::Unfounded if rewrite.guessed => return Some(Judgement::Unfounded),
            Judgement::Sampled
            | Judgement::Unproved
            | Judgement::Unfounded
            | Judgement::Unclear
            | Judgement::Wrong(_) => return None,
        };
        let second = self.spells(graph, knowledge, [&meant, rewrite])?;
        Some(Judgement::Proved(first.and(second)))
    }

    /// How two texts are proved to compute the same of any values, if they are.
    fn spells(
        &mut self,
        graph: &Graph<'_, '_>,
        knowledge: &Knowledge,
        both: [&Rewrite<'_>; 2],
    ) -> Option<Proof> {
        let [one, other] = both.map(|rewrite| Snippet::of(graph, rewrite));
        let (one, other) = (one?, other?);
        let [first, second] = [&one, &other].map(|snippet| ptxopt_grammar::parse(snippet.text.as_bytes()));
        let (first, second) = (first.ok()?, second.ok()?);
        let first = New { held: &one.held, module: &first };
        let second = New { held: &other.held, module: &second };
        let region = Region::of_texts(graph, knowledge, [(both[0], &first), (both[1], &second)])?;
        match self.decide(&region) {
            Brief::Proved(proof) => Some(proof),
            Brief::Unproved | Brief::Differs(_) => None,
        }
    }
}
