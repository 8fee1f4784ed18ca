//! Logic that several trees read: the assembler computes it again in each, where the tree still has three leaves at most.
//!
//! `t = a ^ b` that is read by `t & m` and by `(t & n) ^ a` is a part of two `LOP3` and costs nothing by itself. So a
//! sequence costs what it does with such a step written once for each of its readers, where that is less. What the
//! assembler makes of drawn sequences of this kind is compared by `cargo run --release --example costs -- --sample`.

use super::Costs;
use super::fused::is_logic;
use super::sequence::Sequence;
use crate::recipe::{Source, Step};
use std::borrow::Cow;

/// The most steps that a sequence is written with.
const MOST_STEPS: usize = 24;

/// A sequence, some of its steps repeated.
pub(super) struct Repeated<'s> {
    pub(super) steps: Cow<'s, [Step]>,
    /// By step: which of the original it is.
    pub(super) origin: Vec<usize>,
}

impl<'s> Repeated<'s> {
    /// Steps as they cost least on one GPU.
    pub(super) fn cheapest(costs: &Costs, steps: &'s [Step]) -> Self {
        let mut best = Self { steps: Cow::Borrowed(steps), origin: (0..steps.len()).collect() };
        // One step is repeated for two readers at least.
        let fits = steps.len() + 2 <= MOST_STEPS;
        if !fits || steps.iter().filter(|step| is_logic(step)).count() < 3 {
            return best;
        }
        let mut least = None;
        // A step whose readers are repeated gets more readers, so readers come first.
        for at in (0..steps.len()).rev() {
            let Some(next) = best.repeating(at) else { continue };
            let cost = |repeated: &Self| Sequence::new(costs, &repeated.steps).cost().most;
            let before = *least.get_or_insert_with(|| cost(&best));
            let after = cost(&next);
            if after < before {
                (best, least) = (next, Some(after));
            }
        }
        best
    }

    /// The same with one step of the original once for each that reads it, if these are several, and all of it is logic.
    fn repeating(&self, of: usize) -> Option<Repeated<'static>> {
        let mut places = self.origin.iter().enumerate().filter(|&(_, &origin)| origin == of);
        let (at, _) = places.next()?;
        let reads = |step: &Step| step.sources.contains(&Source::Step(at));
        let readers = self.steps.iter().filter(|step| reads(step)).count();
        let fits = readers > 1
            && self.steps.len() + readers <= MOST_STEPS
            && is_logic(&self.steps[at])
            && places.next().is_none()
            && self.is_read_apart(at);
        if !fits {
            return None;
        }
        let (mut steps, mut origin) = (Vec::new(), Vec::new());
        // Where each step is now; the repeated one where it was written last.
        let mut now = Vec::with_capacity(self.steps.len());
        for (number, step) in self.steps.iter().enumerate() {
            if number == at {
                now.push(usize::MAX);
                continue;
            }
            let moved = |now: &[usize], source: &Source| match *source {
                Source::Step(from) => Source::Step(now.get(from).copied().unwrap_or(from + MOST_STEPS)),
                Source::Value(_) | Source::Constant(_) => *source,
            };
            if reads(step) {
                now[at] = steps.len();
                steps.push(self.steps[at].over(|source| moved(&now, source)));
                origin.push(of);
            }
            steps.push(step.over(|source| moved(&now, source)));
            origin.push(self.origin[number]);
            now.push(steps.len() - 1);
        }
        Some(Repeated { steps: Cow::Owned(steps), origin })
    }

    /// Whether all that reads a step is logic, and nothing of that is made of what else reads it by logic alone: what is
    /// read twice in one tree is not repeated.
    fn is_read_apart(&self, at: usize) -> bool {
        let mut above = vec![false; self.steps.len()];
        for (number, step) in self.steps.iter().enumerate().skip(at + 1) {
            let reads = step.sources.contains(&Source::Step(at));
            let is_above =
                |source: &Source| matches!(*source, Source::Step(from) if above.get(from) == Some(&true));
            let tree = step.sources.iter().any(is_above);
            if reads && (tree || !is_logic(step)) {
                return false;
            }
            above[number] = is_logic(step) && (reads || tree);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use crate::cost::{Costs, Gpu};
    use crate::recipe::Source::{self, Constant, Step as Of};
    use crate::recipe::Step;
    use ptxopt_grammar::table::instruction::{Instruction, op};

    /// Registers: steps of elsewhere.
    const A: Source = Of(100);
    const B: Source = Of(101);

    /// What steps cost at most where `LOP3` is, as a sequence and one by one.
    fn most(steps: &[Step]) -> u32 {
        let costs = Costs::of(&Gpu::parse("sm_90").expect("it is a target"));
        let most = costs.sequence(steps).most;
        assert_eq!(costs.shares(steps).iter().map(|cost| cost.most).sum::<u32>(), most, "{steps:?}");
        most
    }

    /// `t = a ^ b`, the smaller of `t & m` and a number, and what `last` makes of that and `t`.
    fn read_twice(last: Instruction) -> [Step; 4] {
        [
            Step::plain(op::XOR_B32, &[A, B]),
            Step::plain(op::AND_B32, &[Of(0), Constant(0xfefe_fefe)]),
            Step::plain(op::MIN_U32, &[Of(1), Constant(9)]),
            Step::plain(last, &[Of(2), Of(0)]),
        ]
    }

    #[test]
    fn what_two_trees_read_costs_nothing_by_itself() {
        assert_eq!(most(&read_twice(op::AND_B32)), 3);
    }

    #[test]
    fn what_arithmetic_reads_too_is_computed_once() {
        assert_eq!(most(&read_twice(op::SHL_B32)), 4);
    }

    #[test]
    fn what_one_tree_reads_twice_is_computed_once() {
        let steps = [
            Step::plain(op::XOR_B32, &[A, Constant(255)]),
            Step::plain(op::OR_B32, &[Of(0), B]),
            Step::plain(op::XOR_B32, &[Of(1), Of(0)]),
        ];
        assert_eq!(most(&steps), 2);
    }

    #[test]
    fn what_has_too_many_leaves_in_one_of_the_trees_is_computed_once() {
        let [word, mask, smaller, _] = read_twice(op::AND_B32);
        let last = [Step::plain(op::AND_B32, &[Of(0), Of(102)]), Step::plain(op::XOR_B32, &[Of(3), Of(2)])];
        assert_eq!(most(&[&[word, mask, smaller], &last[..]].concat()), 4);
    }
}
