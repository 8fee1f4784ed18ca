//! What statements cost together where they stand, and whether what takes their place costs less.
//!
//! Prices are of statements by themselves. Before code is taken for what it means, all of it is priced once more as a
//! sequence, in which the assembler fuses what it can, as the recipe in its place is.

use super::applied::Applied;
use super::profit::{Profit, is_conversion, is_fused};
use super::spell::Spelling;
use crate::cost::{Cost, Costs};
use crate::graph::{Origin, ValueId};
use crate::recipe::{Source, Step};
use crate::select::{Gain, reads};
use hashbrown::{HashMap, HashSet};
use ptxopt_grammar::table::Row;
use ptxopt_grammar::table::instruction::{Instruction, Mnemonic, op};
use ptxopt_grammar::tree::StmtId;

impl Profit<'_, '_, '_> {
    /// By how much the prices of the statements that go with one, itself included, are more than what these cost as a
    /// sequence, as what takes their place is priced: the assembler fuses some of them, and some have no price.
    pub(super) fn overpriced(&self, gain: &Gain<'_>) -> i64 {
        let stmts = going(gain);
        self.saved_together(&stmts) + stmts.iter().map(|&stmt| self.overpriced_product(stmt)).sum::<i64>()
    }

    /// What a product of two numbers of 16 bits is priced above one instruction: GPUs before sm_70 multiply so many bits at
    /// a time, and the tables are of whole words.
    fn overpriced_product(&self, stmt: StmtId) -> i64 {
        let is_short = |source: &Source| match *source {
            Source::Constant(number) => number <= u64::from(u16::MAX),
            Source::Value(value) => {
                let fact = self.knowledge.facts.get(value.index());
                let (least, most) = fact.signed();
                fact.unsigned().1 <= u128::from(u16::MAX)
                    || least >= i128::from(i16::MIN) && most <= i128::from(i16::MAX)
            }
            Source::Step(_) => false,
        };
        let is_product = |step: &Step| {
            let multiplies = |own: Instruction| own.row().is(op::MUL) || own.row().is(op::MAD);
            let is_of_words = |own: &Instruction| own.last_bits() == Some(32);
            step.width == 32
                && step.instruction().filter(is_of_words).is_some_and(multiplies)
                && step.sources.iter().take(2).all(is_short)
        };
        match self.step(stmt).filter(is_product) {
            Some(_) => i64::from(self.cost_of(stmt).least.saturating_sub(1)),
            None => 0,
        }
    }

    /// The same with the shifts that stay and were fused with sums that go, since nothing else reads them: they are then
    /// instructions of their own, but for those that are fused with what takes the place of their readers. `None` if
    /// there are no such shifts.
    pub(super) fn overpriced_with_what_stays(&self, gain: &Gain<'_>, spelling: &Spelling) -> Option<i64> {
        let mut stmts = going(gain);
        let read = spelling.recipe.values().filter_map(|value| self.shifted_for(value, &stmts));
        let stays: Vec<(ValueId, StmtId)> = read.collect();
        if stays.is_empty() {
            return None;
        }
        stmts.extend(stays.iter().map(|&(_, stmt)| stmt));
        Some(self.saved_together(&stmts) - self.fused_with(&stays, &spelling.recipe))
    }

    /// By how much statements cost less as a sequence than by themselves.
    fn saved_together(&self, stmts: &[StmtId]) -> i64 {
        let (alone, together) = self.together(self.target.costs, stmts);
        i64::from(alone) - i64::from(together)
    }

    /// The statement that shifts a value which only these statements read: the assembler adds and shifts at once.
    fn shifted_for(&self, value: ValueId, readers: &[StmtId]) -> Option<(ValueId, StmtId)> {
        let Origin::Result(writer) = self.graph.value(value).origin else { return None };
        let module = self.graph.module();
        let plain = module.guard(writer).is_none() && module.row(writer).is_some_and(is_shift);
        let is_reader = |(result, _): (ValueId, _)| match self.graph.value(result).origin {
            Origin::Result(stmt) => readers.contains(&stmt),
            Origin::Undefined | Origin::Read(_) | Origin::Opaque | Origin::Phi(_) | Origin::Sink(_) => false,
        };
        (plain && !readers.contains(&writer) && self.graph.uses(value).all(is_reader))
            .then_some((value, writer))
    }

    /// How many instructions the assembler fuses of those that compute the values that a recipe reads with those of the
    /// recipe.
    fn fused_with(&self, read: &[(ValueId, StmtId)], recipe: &Applied) -> i64 {
        let recipe = recipe.recipe();
        let known = read.iter().filter_map(|&(value, stmt)| Some((value, self.step(stmt)?)));
        let (values, mut steps): (Vec<ValueId>, Vec<Step>) = known.unzip();
        let costs = self.target.costs;
        let alone: Cost =
            steps.iter().map(|step| costs.step(step)).chain([costs.sequence(&recipe.steps)]).sum();
        let first = steps.len();
        steps.extend(recipe.steps.iter().map(|step| {
            step.over(|&source| match source {
                Source::Value(value) => {
                    values.iter().position(|&of| of == value).map_or(source, Source::Step)
                }
                Source::Step(before) => Source::Step(first + before),
                Source::Constant(_) => source,
            })
        }));
        i64::from(alone.most) - i64::from(costs.sequence(&steps).most)
    }

    /// Whether a spelling of a statement costs less than all that now computes its result from the words that the
    /// spelling reads, priced alike: so no spelling takes the place of one that is as good, and there is a last one.
    pub(super) fn is_cheaper_alone(&self, gain: &Gain<'_>, spelling: &Spelling) -> bool {
        self.is_cheaper(&[(gain.stmt, gain.number)], &|_| spelling)
    }

    /// The same of all statements that are changed together: what they share counts once, before and after.
    pub(super) fn are_cheaper_together<'s>(
        &self,
        gain: &Gain<'_>,
        spelling_of: &dyn Fn((StmtId, usize)) -> &'s Spelling,
    ) -> bool {
        gain.together.len() > 1
            && gain.together.iter().all(|&one| is_fused(spelling_of(one)))
            && self.is_cheaper(gain.together, spelling_of)
    }

    /// Whether these spellings of statements cost less, by their numbers, once that was found.
    fn is_cheaper<'s>(
        &self,
        all: &[(StmtId, usize)],
        spelling_of: &dyn Fn((StmtId, usize)) -> &'s Spelling,
    ) -> bool {
        let key = (all.to_vec(), self.target.costs);
        if let Some(&known) = self.compared.cheaper.borrow().get(&key) {
            return known;
        }
        let all: Vec<(StmtId, &Spelling)> = all.iter().map(|&one| (one.0, spelling_of(one))).collect();
        let is_cheaper = self.compare(&all);
        self.compared.cheaper.borrow_mut().insert(key, is_cheaper);
        is_cheaper
    }

    /// A statement as an instruction, which is asked of the same ones for many spellings.
    fn step(&self, stmt: StmtId) -> Option<Step> {
        *self.compared.steps.borrow_mut().entry(stmt).or_insert_with(|| self.graph.step(stmt))
    }

    /// Whether spellings cost less than what now computes the results of their statements.
    fn compare(&self, all: &[(StmtId, &Spelling)]) -> bool {
        let mut stmts: Vec<StmtId> = all.iter().map(|&(stmt, _)| stmt).collect();
        let mut known: HashSet<ValueId> =
            all.iter().flat_map(|(_, spelling)| spelling.recipe.values()).collect();
        let mut work: Vec<ValueId> = stmts.iter().flat_map(|&stmt| self.read_by(stmt)).collect();
        while let Some(value) = work.pop() {
            if stmts.len() >= MOST_COMPARED || known.contains(&value) {
                continue;
            }
            match self.graph.value(value).origin {
                Origin::Result(writer)
                    if self.graph.module().guard(writer).is_none() && self.graph.only_computes(writer) =>
                {
                    stmts.push(writer);
                    work.extend(self.read_by(writer));
                }
                // What a phi can be, and what decides between these.
                Origin::Phi(_) if self.graph.is_decided(value) => {
                    work.extend(self.graph.operands(value).map(|(operand, _)| operand));
                    work.extend_from_slice(self.graph.decisions(value));
                }
                Origin::Sink(branch) => {
                    stmts.push(branch);
                    work.extend(reads(self.graph, branch));
                }
                Origin::Result(_) | Origin::Phi(_) | Origin::Undefined | Origin::Read(_) | Origin::Opaque => {
                    continue;
                }
            }
            known.insert(value);
        }
        let mut steps = Vec::new();
        all.iter().for_each(|(_, spelling)| add_without_copies(&spelling.recipe.recipe().steps, &mut steps));
        // What is like a statement's own instruction costs the same on both sides, however much that is.
        let own: Vec<Step> = all.iter().filter_map(|&(stmt, _)| self.step(stmt)).collect();
        let unsure = |costs: Costs| -> u32 {
            let unsure = |step: &Step| {
                let like = own.iter().find(|own| self.graph.are_alike(step, own))?;
                Some(costs.step(step).most.saturating_sub(costs.step(like).least))
            };
            steps.iter().filter_map(unsure).fold(0, u32::saturating_add)
        };
        let most = |costs: Costs| costs.sequence(&steps).most.saturating_sub(unsure(costs));
        self.target.costs.each().all(|costs| most(costs) < self.together(costs, &stmts).1)
    }

    /// The values that an instruction reads.
    fn read_by(&self, stmt: StmtId) -> Vec<ValueId> {
        // What takes a word apart has several results, and is no step.
        let Some(step) = self.step(stmt) else { return reads(self.graph, stmt).collect() };
        let value = |source: &Source| match *source {
            Source::Value(value) => Some(value),
            Source::Step(_) | Source::Constant(_) => None,
        };
        step.sources.iter().filter_map(value).collect()
    }

    /// What statements cost by themselves, and as a sequence. Products in code that is fused are of lanes, so on GPUs
    /// that multiply words step by step they are one step, and no more is saved with them.
    fn together(&self, costs: Costs, stmts: &[StmtId]) -> (u32, u32) {
        let mut stmts = stmts.to_vec();
        stmts.sort_unstable();
        stmts.dedup();
        let gpus = u32::try_from(costs.each().count()).expect("there are not so many GPUs");
        let mut steps: Vec<Step> = Vec::with_capacity(stmts.len());
        let mut places: HashMap<ValueId, Source> = HashMap::new();
        let mut filled: Vec<Source> = Vec::new();
        let branch = |stmt| if self.graph.is_branch(stmt) { self.cost_of(stmt).least } else { 0 };
        let others = stmts.iter().map(|&stmt| self.halves_moved(stmt) + branch(stmt)).sum::<u32>();
        let (mut alone, mut packs, mut narrow) = (others, 0, 0);
        for (stmt, step) in stmts.iter().filter_map(|&stmt| Some((stmt, self.step(stmt)?))) {
            let step = step.over(|source| match *source {
                Source::Value(value) => places.get(&value).copied().unwrap_or(*source),
                Source::Step(_) | Source::Constant(_) => *source,
            });
            if self.is_taken_with_sign(stmt, &step) {
                continue;
            }
            let cost = costs.step(&step);
            alone += cost.least;
            if step.instruction().is_some_and(|instruction| is_product(instruction.row())) {
                narrow += cost.least.saturating_sub(gpus);
            }
            packs += u32::from(needs_mask(&step, &filled));
            let place = match step.copied().or_else(|| free_conversion(cost, &step)) {
                Some(source) => source,
                // Halves that are taken apart, negated and put together again are an operand of a packed sum, so
                // their negation counts as if it cost nothing; so does what was not measured.
                None if self.negates_operand(stmt) || cost.most == u32::MAX => {
                    packs += u32::from(self.is_pack(stmt));
                    continue;
                }
                None => {
                    filled.extend(fills_word(&step).then_some(Source::Step(steps.len())));
                    steps.push(on_words(step, &steps));
                    Source::Step(steps.len() - 1)
                }
            };
            places.extend(self.graph.results(stmt).map(|value| (value, place)));
        }
        (alone, ((costs.sequence(&steps).most + others).min(alone) + packs).saturating_sub(narrow))
    }
}

/// The statements that go with one, and itself.
fn going(gain: &Gain<'_>) -> Vec<StmtId> {
    gain.gone.iter().copied().chain([gain.stmt]).collect()
}

/// How many statements are compared with what could take their place, at most.
const MOST_COMPARED: usize = 640;

/// Adds steps without those that only copy, and without those that are there.
fn add_without_copies(steps: &[Step], kept: &mut Vec<Step>) {
    let mut places: Vec<Source> = Vec::with_capacity(steps.len());
    for step in steps {
        let step = step.over(|source| match *source {
            Source::Step(before) => places[before],
            Source::Value(_) | Source::Constant(_) => *source,
        });
        places.push(step.copied().unwrap_or_else(|| {
            let known = kept.iter().position(|known| *known == step);
            Source::Step(known.unwrap_or_else(|| {
                kept.push(step);
                kept.len() - 1
            }))
        }));
    }
}

/// What a conversion reads that costs nothing: it is no instruction, so what reads its result may be one with what it
/// converts.
fn free_conversion(cost: Cost, step: &Step) -> Option<Source> {
    (is_conversion(step) && cost == Cost::NOTHING).then(|| step.sources[0])
}

/// A step on halves as the machine computes it, where it has such an instruction for words only: logic, and a sum of which
/// one operand is a shifted word. Steps are those before it.
fn on_words(step: Step, steps: &[Step]) -> Step {
    const LOGIC: [(Mnemonic, Instruction); 3] =
        [(op::AND, op::AND_B32), (op::OR, op::OR_B32), (op::XOR, op::XOR_B32)];
    let is_shift = |source: &Source| match *source {
        Source::Step(at) => {
            steps[at].width == 32 && steps[at].instruction().is_some_and(|own| is_shift(own.row()))
        }
        Source::Value(_) | Source::Constant(_) => false,
    };
    if is_sum_of_halves(&step) && step.sources.iter().any(is_shift) {
        return Step::plain(op::ADD_U32, &step.sources);
    }
    let own = step.instruction().filter(|_| step.width == 16);
    let on_words = own.and_then(|own| LOGIC.into_iter().find(|&(logic, _)| own.row().is(logic)));
    on_words.map_or(step, |(_, words)| Step::plain(words, &step.sources))
}

/// Whether a step adds numbers of 16 bits.
fn is_sum_of_halves(step: &Step) -> bool {
    step.instruction().is_some_and(|own| own.row().is(op::ADD)) && step.width == 16
}

/// Whether a step computes a half of which the machine has all 32 bits of the result.
fn fills_word(step: &Step) -> bool {
    let fills = |own: Instruction| [op::ADD, op::SUB, op::MUL].into_iter().any(|one| own.row().is(one));
    step.width == 16 && step.instruction().is_some_and(fills)
}

/// Whether a step widens such a half, or moves its upper bits down: that takes an instruction, which no table has.
fn needs_mask(step: &Step, filled: &[Source]) -> bool {
    let reads_above = |own: Instruction| {
        own == op::CVT_U32_U16 || own.row().is(op::SHR) && own.last_type() == Some(op::U16)
    };
    step.instruction().is_some_and(reads_above)
        && step.sources.first().is_some_and(|source| filled.contains(source))
}

/// Whether an instruction shifts a word.
fn is_shift(row: &Row) -> bool {
    row.is(op::SHL) || row.is(op::SHR)
}

/// Whether an instruction multiplies words.
fn is_product(row: &Row) -> bool {
    row.is(op::MUL) || row.is(op::MAD)
}
