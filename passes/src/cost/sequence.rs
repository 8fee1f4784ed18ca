//! What a few instructions cost together: the sum of their costs, less what the assembler fuses.
//!
//! Upper bounds count only groups that do not overlap, each of which was measured as it is; lower bounds assume that
//! all pairs are fused at the same time. So the interval also holds for longer sequences, which were not measured.

use super::fused::{Leaves, heads_tree, is_logic};
use super::repeated::Repeated;
use super::{Cost, Costs, OperandKind};
use crate::recipe::{Code, Half, Source, Step};
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::video::{Form, Routing};
use tinyvec::ArrayVec;

/// The most instructions of a tree that are looked at together.
const MOST_OF_A_TREE: usize = 5;

impl Costs {
    /// The cost of a step by itself.
    #[must_use]
    pub fn step(&self, step: &Step) -> Cost {
        self.each().map(|costs| costs.step_on_one(step)).sum()
    }

    fn step_on_one(self, step: &Step) -> Cost {
        let kinds =
            || step.sources.iter().map(|&source| kind(source, step.width)).collect::<ArrayVec<[_; 4]>>();
        match step.code {
            Code::Video(form) => {
                let mut constants = [false; 3];
                for (constant, source) in constants.iter_mut().zip(&step.sources) {
                    *constant = matches!(source, Source::Constant(_));
                }
                // The native ones are measured with constants too.
                let found = match form {
                    Form::Simd(simd)
                        if constants != [false; 3]
                            && simd.routing == Routing::plain(simd.routing.lanes()) =>
                    {
                        self.plain(form.instruction(), &kinds())
                    }
                    Form::Simd(_) | Form::Scalar(_) | Form::Mad(_) => Cost::UNKNOWN,
                };
                if found == Cost::UNKNOWN { self.video(form, constants) } else { found }
            }
            Code::Plain(instruction) => self.plain(instruction, &kinds()),
            Code::Pack | Code::Half(_) => Cost::UNKNOWN,
        }
    }

    /// The cost of `outer` together with those steps of `inner`, one for each of its sources in order, that nothing
    /// else reads; `None` if that is the sum of their costs.
    #[must_use]
    pub fn fused(&self, outer: &Step, inner: &[Option<&Step>]) -> Option<Cost> {
        let mut group: Vec<Step> = inner.iter().copied().flatten().copied().collect();
        let first = group.len();
        let mut outer = *outer;
        let mut number = 0;
        // The numbers that sources have elsewhere must not be mistaken for those of the group.
        for step in group.iter_mut().chain([&mut outer]) {
            for source in &mut step.sources {
                if let Source::Step(at) = source {
                    *at += first + 1;
                }
            }
        }
        for (source, _) in outer.sources.iter_mut().zip(inner).filter(|(_, step)| step.is_some()) {
            *source = Source::Step(number);
            number += 1;
        }
        group.push(outer);
        let sum: Cost = group.iter().map(|step| self.step(step)).sum();
        Some(self.sequence(&group)).filter(|&cost| cost != sum)
    }

    /// The cost of steps of which each reads earlier ones, and all but the last are read only here: what the
    /// assembler fuses is counted once.
    #[must_use]
    pub fn sequence(&self, steps: &[Step]) -> Cost {
        let cost = |costs: Costs| Sequence::new(&costs, &Repeated::cheapest(&costs, steps).steps).cost();
        self.each().map(cost).sum()
    }

    /// The same step by step. A step that is fused with its only user costs nothing by itself, since another user
    /// would compute it again: so what is counted for a sequence that shares a step with others is never too little.
    #[must_use]
    pub fn shares(&self, steps: &[Step]) -> Vec<Cost> {
        let all = self.each().map(|costs| {
            let Repeated { steps: written, origin } = Repeated::cheapest(&costs, steps);
            let mut shares = vec![Cost::NOTHING; steps.len()];
            for (of, share) in origin.into_iter().zip(Sequence::new(&costs, &written).shares()) {
                shares[of] = shares[of] + share;
            }
            shares
        });
        let both =
            |one: Vec<Cost>, other: Vec<Cost>| one.into_iter().zip(other).map(|(a, b)| a + b).collect();
        all.reduce(both).unwrap_or_default()
    }
}

/// Steps, and which of them another one is the only user of.
pub(super) struct Sequence<'a> {
    costs: &'a Costs,
    steps: &'a [Step],
    /// How often each is read.
    uses: Vec<u32>,
    /// What each costs by itself.
    alone: Vec<Cost>,
    /// The most that each costs with all that only it needs.
    most: Vec<u64>,
}

impl<'a> Sequence<'a> {
    pub(super) fn new(costs: &'a Costs, steps: &'a [Step]) -> Self {
        let mut uses = vec![0; steps.len()];
        for source in steps.iter().flat_map(|step| &step.sources) {
            if let Source::Step(at) = source
                && let Some(count) = uses.get_mut(*at)
            {
                *count += 1;
            }
        }
        let alone = steps.iter().map(|step| costs.step(step)).collect();
        let mut sequence = Self { costs, steps, uses, alone, most: Vec::with_capacity(steps.len()) };
        for sum in 0..steps.len() {
            for part in sequence.negated_operand(sum) {
                sequence.alone[part] = Cost::NOTHING;
            }
        }
        sequence
    }

    /// The steps that negate both halves of an operand of a packed sum: they are a sign in the machine instruction of
    /// the sum, if that has another word in a register for its other operand.
    fn negated_operand(&self, sum: usize) -> Vec<usize> {
        let step = |source: Source| match source {
            Source::Step(at) => self.steps.get(at).map(|step| (at, step)),
            Source::Value(_) | Source::Constant(_) => None,
        };
        let is_pack = |source: Source| step(source).filter(|(_, step)| step.code == Code::Pack);
        let is_register = |source: Source| match step(source) {
            Some((_, step)) => {
                step.code != Code::Pack && !matches!(step.copied(), Some(Source::Constant(1..)))
            }
            None => matches!(source, Source::Value(_) | Source::Step(_)),
        };
        let of = |[packed, other]: [Source; 2]| {
            let (pack, packing) = is_pack(packed).filter(|_| is_register(other))?;
            let mut steps = vec![pack];
            for (half, &source) in [Half::Low, Half::High].into_iter().zip(&packing.sources) {
                let (negation, step_of) = step(source).filter(|(_, step)| step.is(op::NEG_S16))?;
                let (part, _) = step(step_of.sources[0]).filter(|(_, step)| step.code == Code::Half(half))?;
                steps.extend([negation, part]);
            }
            let [_, _, low, _, high] = steps[..] else { return None };
            let is_one = self.steps[low].sources == self.steps[high].sources;
            // Zero is a register.
            let zero = step(other).filter(|(_, step)| step.copied() == Some(Source::Constant(0)));
            steps.extend(zero.map(|(at, _)| at));
            is_one.then_some(steps)
        };
        match self.steps[sum].sources[..] {
            [x, y] if self.steps[sum].is(op::ADD_S16X2) => {
                of([x, y]).or_else(|| of([y, x])).unwrap_or_default()
            }
            _ => Vec::new(),
        }
    }

    fn shares(mut self) -> Vec<Cost> {
        let alone: Vec<Cost> = self.alone.clone();
        self.settle();
        let unknown = u64::from(u32::MAX);
        let inner = |at: usize| self.inner(at).map(|(_, inner)| inner);
        let own = |at: usize| {
            let below: u64 = inner(at).map(|inner| self.most[inner]).sum();
            i128::from(self.most[at]) - i128::from(below)
        };
        let owns: Vec<i128> = (0..alone.len()).map(own).collect();
        let mut shares = owns.clone();
        // What a step does not cost because it is fused is taken from the steps that it is fused with.
        for at in (0..shares.len()).rev() {
            for inner in inner(at) {
                let missing = i128::from(alone[at].most) - owns[at] - (shares[at] - owns[at]).max(0);
                let moved = missing.clamp(0, shares[inner].max(0));
                shares[at] += moved;
                shares[inner] -= moved;
            }
        }
        for at in self.constants_again() {
            shares[at] -= 1;
        }
        let cost = |(share, alone): (i128, Cost)| {
            if u64::from(alone.most) == unknown {
                return alone;
            }
            let most = u32::try_from(share.clamp(0, i128::from(unknown - 1))).expect("it was cut to 32 bits");
            Cost { least: alone.least.min(most), most }
        };
        shares.into_iter().zip(alone).map(cost).collect()
    }

    pub(super) fn cost(mut self) -> Cost {
        let saved = self.settle();
        let last = self.steps.len().saturating_sub(1);
        let roots = (0..self.steps.len()).filter(|&at| at == last || self.uses[at] != 1);
        let most = roots.map(|at| self.most[at]).sum::<u64>();
        let most = u32::try_from(most).unwrap_or(u32::MAX);
        let least: Cost = self.alone.iter().copied().sum();
        // Groups were measured with constants that differ, so this is saved besides.
        let shared = u32::try_from(self.constants_again().len()).expect("a sequence is short");
        let most = if most == u32::MAX { most } else { most.saturating_sub(shared) };
        Cost { least: least.least.saturating_sub(saved + shared).min(most), most }
    }

    /// Finds what each step costs at most with all that only it needs; the most that fusing saves of all.
    fn settle(&mut self) -> u32 {
        let mut saved = 0_u32;
        // By step: what all costs that only its sources need, and what they cost more because it reads them.
        let mut below: Vec<u64> = Vec::with_capacity(self.steps.len());
        for at in 0..self.steps.len() {
            let inner: ArrayVec<[(usize, Option<PairAndSum>); 4]> =
                self.inner(at).map(|(place, inner)| (inner, self.pair(at, place, inner))).collect();
            let needed = |&(inner, pair): &(usize, Option<PairAndSum>)| {
                self.most[inner] + pair.map_or(0, |(pair, sum)| dearer(pair, sum))
            };
            let all: u64 = inner.iter().map(needed).sum();
            let mut best = u64::from(self.alone[at].most) + all;
            for &(inner, pair) in &inner {
                let Some((pair, sum)) = pair else { continue };
                saved += sum.least.saturating_sub(pair.least);
                // The inner one no longer has what itself was fused with.
                let others = all - self.most[inner] - dearer(pair, sum);
                best = best.min(u64::from(pair.most) + others + below[inner]);
            }
            below.push(all);
            if heads_tree(&self.steps[at]) {
                best = best.min(self.tree(at));
            }
            self.most.push(best);
        }
        saved
    }

    /// The steps with a constant that has to be in a register and is there already, because an earlier step needed it.
    fn constants_again(&self) -> Vec<usize> {
        let constant = |at: usize| only_constant(&self.steps[at]).map(|(place, number)| (number, at, place));
        let mut all: Vec<(u64, usize, usize)> = (0..self.steps.len()).filter_map(constant).collect();
        all.sort_unstable();
        let mut again = Vec::new();
        for same in all.chunk_by(|one, other| one.0 == other.0).filter(|same| same.len() > 1) {
            let moves = same.iter().filter(|&&(_, at, place)| self.moves(at, place));
            again.extend(moves.skip(1).map(|&(_, at, _)| at));
        }
        again
    }

    /// Whether a step needs a constant in a register, and that costs one instruction.
    fn moves(&self, at: usize, place: usize) -> bool {
        let mut without = self.steps[at];
        without.sources[place] = Source::Step(usize::MAX);
        let (with, without) = (self.alone[at], self.costs.step(&without));
        let is_exact = |cost: Cost| cost.least == cost.most;
        is_exact(with) && is_exact(without) && with.most == without.most + 1
    }

    /// The sources of a step that nothing else reads: their places, and the steps.
    fn inner(&self, at: usize) -> impl Iterator<Item = (usize, usize)> + use<'_, 'a> {
        self.steps[at].sources.iter().enumerate().filter_map(move |(place, source)| match *source {
            Source::Step(inner) if inner < at && self.uses[inner] == 1 => Some((place, inner)),
            Source::Step(_) | Source::Value(_) | Source::Constant(_) => None,
        })
    }

    /// The cost of a step and a source of it, if that is not the sum of their costs, which is the second.
    fn pair(&self, at: usize, place: usize, inner: usize) -> Option<PairAndSum> {
        let pair = self.costs.pair(&self.steps[at], place, &self.steps[inner])?;
        Some((pair, self.alone[at] + self.alone[inner]))
    }

    /// The cheapest tree of logic at a step, with what its leaves cost; `u64::MAX` if there is none.
    fn tree(&self, root: usize) -> u64 {
        let mut best = u64::MAX;
        let mut work = vec![vec![root]];
        while let Some(nodes) = work.pop() {
            let (mut leaves, mut fits, mut rest) = (Leaves::default(), true, 0);
            for &node in &nodes {
                for &source in &self.steps[node].sources {
                    fits &= matches!(source, Source::Step(at) if nodes.contains(&at)) || leaves.add(source);
                }
                for (_, at) in self.inner(node).filter(|(_, at)| !nodes.contains(at)) {
                    rest += self.most[at];
                    // Each tree is made once: its nodes are added in descending order.
                    let next = nodes.last().is_some_and(|&last| at < last);
                    if nodes.len() < MOST_OF_A_TREE && next && is_logic(&self.steps[at]) {
                        work.push(nodes.iter().copied().chain([at]).collect());
                    }
                }
            }
            if fits && let Some(cost) = self.costs.tree(&leaves) {
                best = best.min(rest + u64::from(cost.most));
            }
        }
        best
    }
}

/// The constant of a step that has one alone, and its place; selectors and tables aside.
fn only_constant(step: &Step) -> Option<(usize, u64)> {
    let pattern = step.has_pattern().then(|| step.sources.len() - 1);
    let constant = |(place, source): (usize, &Source)| match *source {
        Source::Constant(constant) if Some(place) != pattern => Some((place, constant)),
        Source::Constant(_) | Source::Value(_) | Source::Step(_) => None,
    };
    let mut constants = step.sources.iter().enumerate().filter_map(constant);
    let first = constants.next()?;
    constants.next().is_none().then_some(first)
}

/// What two steps cost together, and the sum of what they cost alone.
type PairAndSum = (Cost, Cost);

/// By how much a pair is dearer than the sum of its parts.
fn dearer(pair: Cost, sum: Cost) -> u64 {
    pair.most.saturating_sub(sum.most).into()
}

fn kind(source: Source, width: u32) -> OperandKind {
    match source {
        Source::Value(_) | Source::Step(_) => OperandKind::Register,
        Source::Constant(value) => {
            let unused = 64 - width.clamp(1, 64);
            OperandKind::Constant((value << unused).cast_signed() >> unused)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::Gpu;
    use Source::{Constant, Step as Of};
    use std::sync::LazyLock;

    /// Registers: steps of elsewhere.
    const A: Source = Of(100);
    const B: Source = Of(101);
    const C: Source = Of(102);

    fn on(gpu: &str) -> Costs {
        Costs::of(&Gpu::parse(gpu).expect("it is a target"))
    }

    static TURING: LazyLock<Costs> = LazyLock::new(|| on("sm_75"));

    fn exactly(costs: &Costs, steps: &[Step]) -> u32 {
        let cost = costs.sequence(steps);
        assert_eq!(cost.least, cost.most, "{steps:?}");
        cost.most
    }

    #[test]
    fn a_shift_into_a_sum_is_one_instruction() {
        let shift = Step::plain(op::SHR_U32, &[A, Constant(7)]);
        let both = [shift, Step::plain(op::ADD.of(op::S32), &[B, Of(0)])];
        assert_eq!(exactly(&TURING, &both), 1);
        // But not if something else reads the shifted word.
        let other = Step::plain(op::MIN_U32, &[Of(1), Of(0)]);
        assert_eq!(exactly(&TURING, &[&both[..], &[other]].concat()), 3);
        assert_eq!(exactly(&TURING, &[shift, Step::plain(op::MIN_U32, &[B, Of(0)])]), 2);
    }

    #[test]
    fn what_is_fused_costs_nothing_by_itself() {
        let most = |costs: &Costs, steps: &[Step]| -> Vec<u32> {
            costs.shares(steps).iter().map(|cost| cost.most).collect()
        };
        let shift = Step::plain(op::SHR_U32, &[A, Constant(7)]);
        let both = [shift, Step::plain(op::ADD.of(op::S32), &[B, Of(0)])];
        assert_eq!(most(&TURING, &both), [0, 1]);
        assert_eq!(most(&TURING, &[shift, Step::plain(op::MIN_U32, &[B, Of(0)])]), [1, 1]);
        let tree = [
            Step::plain(op::AND_B32, &[A, B]),
            Step::plain(op::AND_B32, &[A, C]),
            Step::plain(op::OR_B32, &[Of(0), Of(1)]),
        ];
        assert_eq!(most(&TURING, &tree), [0, 0, 1]);
    }

    #[test]
    fn groups_do_not_overlap() {
        let three = [
            Step::plain(op::SHR_U32, &[A, Constant(7)]),
            Step::plain(op::ADD_U32, &[B, Of(0)]),
            Step::plain(op::ADD_U32, &[C, Of(1)]),
        ];
        assert_eq!(TURING.sequence(&three), Cost { least: 1, most: 2 });
    }

    #[test]
    fn a_mean_of_bytes_is_three_instructions() {
        let steps = [
            Step::plain(op::LOP3_B32, &[A, B, Constant(0xfefe_fefe), Constant(0x28)]),
            Step::plain(op::LOP3_B32, &[A, B, B, Constant(0xc0)]),
            Step::plain(op::SHR_U32, &[Of(0), Constant(1)]),
            Step::plain(op::ADD_U32, &[Of(2), Of(1)]),
        ];
        assert_eq!(exactly(&TURING, &steps), 3);
    }

    #[test]
    fn sixteen_bit_lanes_run_on_the_instructions_of_dynamic_programming() {
        let cell = [Step::plain(op::ADD_S16X2, &[A, B]), Step::plain(op::MAX_S16X2, &[C, Of(0)])];
        assert_eq!(exactly(&on("sm_90"), &cell), 1);
        assert_eq!(exactly(&on("sm_100"), &cell), 1);
        assert_eq!(exactly(&on("sm_120"), &cell), 2);
    }

    #[test]
    fn a_difference_of_halves_is_one_instruction() {
        let difference = |from, word| {
            let half = |half, at| [Step::half(half, word), Step::wide(op::NEG_S16, &[Of(at)], 16)];
            let parts = [half(Half::Low, 0), half(Half::High, 2)].concat();
            let packed = [Step::pack([Of(1), Of(3)]), Step::plain(op::ADD_S16X2, &[from, Of(4)])];
            [&parts[..], &packed].concat()
        };
        for gpu in ["sm_90", "sm_100", "sm_120"] {
            assert_eq!(exactly(&on(gpu), &difference(A, B)), 1, "{gpu}");
        }
        let greater = Step::plain(op::MAX_S16X2, &[C, Of(5)]);
        let cell = [&difference(A, B)[..], &[greater]].concat();
        assert_eq!(exactly(&on("sm_90"), &cell), 1);
        assert_eq!(exactly(&on("sm_120"), &cell), 2);
        // A word that is negated for itself, and one that a number is added to, take instructions of unknown number.
        let is_unknown = |steps: &[Step]| on("sm_90").sequence(steps).most == u32::MAX;
        assert!(is_unknown(&difference(A, B)[..5]));
        assert!(is_unknown(&difference(Constant(7), B)));
    }

    #[test]
    fn trees_of_three_leaves_are_one_instruction() {
        let tree = [
            Step::plain(op::NOT_B32, &[A]),
            Step::plain(op::AND_B32, &[Of(0), B]),
            Step::plain(op::AND_B32, &[A, C]),
            Step::plain(op::OR_B32, &[Of(1), Of(2)]),
        ];
        assert_eq!(TURING.sequence(&tree).most, 1);
        assert!(on("sm_35").sequence(&tree).most > 1, "it has no `LOP3`");
        let four = [&tree[..], &[Step::plain(op::XOR_B32, &[Of(3), Of(103)])]].concat();
        assert_eq!(TURING.sequence(&four).most, 2);
        let inverted = [&tree[..], &[Step::plain(op::NOT_B32, &[Of(3)])]].concat();
        assert_eq!(TURING.sequence(&inverted).most, 2);
        // What is a `lop3` in the text stays one.
        let lop3 = Step::plain(op::LOP3_B32, &[A, B, C, Constant(0x96)]);
        assert_eq!(exactly(&TURING, &[lop3, Step::plain(op::AND_B32, &[Of(0), A])]), 2);
    }

    #[test]
    fn a_constant_is_moved_into_a_register_once() {
        let hopper = on("sm_90");
        let sum = |from, weights, to| {
            Step::plain(op::DP4A.with(&[op::U32, op::U32]), &[from, Constant(weights), to])
        };
        let same = [sum(A, 0x0101_0101, C), sum(B, 0x0101_0101, Of(0))];
        assert_eq!(exactly(&hopper, &same), 3);
        let different = [sum(A, 0x0101_0101, C), sum(B, 0x0101_0100, Of(0))];
        assert_eq!(exactly(&hopper, &different), 4);
        assert_eq!(exactly(&TURING, &different), 2, "the constant is a part of the instruction");
    }

    #[test]
    fn some_pairs_are_dearer_than_their_parts() {
        let parts =
            [Step::plain(op::MUL.with(&[op::HI, op::U32]), &[A, B]), Step::plain(op::SUB_U32, &[Of(0), C])];
        assert_eq!(exactly(&TURING, &parts[..1]), 1);
        assert_eq!(on("sm_90").sequence(&parts).most, 4);
    }

    #[test]
    fn a_step_is_fused_with_those_of_its_sources_that_nothing_else_reads() {
        let shift = Step::plain(op::SHL_B32, &[A, Constant(4)]);
        let sum = Step::plain(op::ADD_U32, &[Of(7), B]);
        assert_eq!(TURING.fused(&sum, &[Some(&shift), None]), Some(Cost::exactly(1)));
        assert_eq!(TURING.fused(&sum, &[None, None]), None);
        assert_eq!(TURING.fused(&Step::plain(op::MIN_U32, &[Of(7), B]), &[Some(&shift)]), None);
    }

    #[test]
    fn native_video_instructions_are_known_with_constants() {
        use ptxopt_grammar::video::{Lanes, Sign, Simd, SimdArithmetic, SimdOp, SimdThen};
        let form = |then| {
            let op = SimdOp::Arithmetic { op: SimdArithmetic::AbsDiff, dtype: Sign::Unsigned, then };
            let (atype, routing) = (Sign::Unsigned, Routing::plain(Lanes::Four));
            Form::Simd(Simd { op, atype, btype: atype, routing })
        };
        let with = |then, c| TURING.step(&Step::video(form(then), &[A, B, c]));
        assert_eq!(with(SimdThen::Add, C), Cost::exactly(1));
        assert_eq!(with(SimdThen::Add, Constant(0)), Cost::exactly(1));
    }
}
