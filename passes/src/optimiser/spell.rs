//! The spellings of one statement: its own, those that rules make of it, and what they cost.
//!
//! Rules are applied to the original, and again to every one-step recipe of a lower rank than what it was made of:
//! cheaper, or as cheap and simpler. So the search goes downhill only and ends. The limit is far above what the rules
//! can make of one instruction, and reaching it is a bug in a rule.

use super::applied::Applied;
use super::lowered::Lowered;
use super::profit::is_fused;
use super::raise::{Heads, Reach};
use crate::cost::{Cost, Costs, forbidden};
use crate::facts::Fact;
use crate::graph::{Graph, ValueId};
use crate::lower::Available;
use crate::recipe::{Code, Packing, Recipe, Source, Step};
use crate::rules::{Pass, Rule};
use crate::site::{Knowledge, Site};
use hashbrown::HashSet;
use ptxopt_grammar::table::instruction::{Instruction, op};
use ptxopt_grammar::video::{Form, Routing};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::Arc;

/// The most spellings of one instruction that are looked at.
const MOST_SPELLINGS: usize = 4000;

/// The rules that led to a spelling, the first one first.
pub(super) type Trail = Arc<[&'static Rule]>;

/// A spelling and the rules that led to it.
#[derive(Clone, Debug)]
pub(super) struct Spelling {
    pub(super) recipe: Applied,
    pub(super) trail: Trail,
    /// What it was before its SIMD instructions were spelled by others, if it was found to be that before.
    pub(super) meant: Option<Applied>,
    /// What each step costs where it stands in the recipe.
    pub(super) costs: Arc<[Cost]>,
    /// An instruction of the recipe that the module must not contain.
    pub(super) lacks: Option<Instruction>,
    /// How far the module's head must be raised for it, whether that is allowed or not; `None` if it cannot have it.
    pub(super) reach: Option<Reach>,
}

impl Spelling {
    pub(super) fn of(recipe: Recipe, trail: Trail, target: &Target) -> Self {
        let reach = target.heads.reach(&recipe);
        Self::reaching(reach, recipe, trail, target)
    }

    /// The same, where it is known how far the module's head must be raised for the recipe.
    pub(super) fn reaching(reach: Option<Reach>, recipe: Recipe, trail: Trail, target: &Target) -> Self {
        let has = reach.is_some_and(|reach| reach <= target.heads.limit());
        let lacks = if has { None } else { target.lacks(&recipe) };
        let (costs, recipe) = (target.costs(&recipe).into(), recipe.into());
        Self { recipe, trail, meant: None, costs, lacks, reach }
    }

    /// The same over other values; `None` if one of them has none.
    pub(super) fn over(&self, over: impl Fn(&Applied) -> Option<Applied>) -> Option<Self> {
        let meant = match &self.meant {
            Some(meant) => Some(over(meant)?),
            None => None,
        };
        Some(Self { recipe: over(&self.recipe)?, meant, ..self.clone() })
    }

    /// The same, where its steps that are like the statement's own instruction cost what that costs at least: however
    /// much it is, the statement costs it as well.
    fn beside(mut self, graph: &Graph<'_, '_>, own: &Step, target: &Target) -> Self {
        let is_like = |step: &Step| graph.are_alike(step, own);
        if self.recipe.steps().any(|step| is_like(&step)) {
            let least = target.costs.step(own).least;
            let like = Cost { least, most: least };
            let costs = self.recipe.steps().zip(&*self.costs);
            self.costs = costs.map(|(step, &cost)| if is_like(&step) { like } else { cost }).collect();
        }
        self
    }

    /// What all of it costs.
    pub(super) fn cost(&self) -> Cost {
        self.costs.iter().copied().sum()
    }
}

/// What was found for a step.
pub(super) struct Found {
    /// All spellings but its own.
    pub(super) spellings: Vec<Spelling>,
    /// Whether there were more.
    pub(super) too_many: bool,
    /// The values whose definitions rules asked for.
    pub(super) asked: Vec<ValueId>,
}

/// What rules propose for a statement's own instruction.
pub(super) struct Proposed {
    /// By rule, in the order of the rules; those that propose nothing are left out.
    by_rule: Vec<(&'static Rule, Vec<Recipe>)>,
    /// The values whose definitions they asked for.
    asked: RefCell<Vec<ValueId>>,
    /// What the result can be.
    result: Fact,
}

impl Proposed {
    pub(super) fn of(
        graph: &Graph<'_, '_>,
        knowledge: &Knowledge,
        step: &Step,
        value: ValueId,
        rules: &[&'static Rule],
    ) -> Self {
        let asked = RefCell::default();
        let demanded = knowledge.demanded[value.index()];
        let result: Fact = knowledge.core_fact(graph, value);
        let site = Site { graph, knowledge, value, step, demanded, result: &result, asked: &asked };
        let by_rule = proposed(&site, rules).collect();
        Self { by_rule, asked, result }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_rule.is_empty()
    }
}

/// What rules propose for a site; those that propose nothing are left out.
fn proposed<'s>(
    site: &Site<'s, '_, '_>,
    rules: &[&'static Rule],
) -> impl Iterator<Item = (&'static Rule, Vec<Recipe>)> {
    rules.iter().filter(|rule| rule.pass != Pass::Lower).filter_map(move |&rule| {
        let mut made = Vec::new();
        (rule.propose)(site, &mut made);
        (!made.is_empty()).then_some((rule, made))
    })
}

/// All spellings of a step but its own, given what rules propose for it.
pub(super) fn spellings(
    graph: &Graph<'_, '_>,
    knowledge: &Knowledge,
    (step, value): (Step, ValueId),
    first: Proposed,
    rules: &[&'static Rule],
    target: &Target,
    lowered: &mut Lowered,
) -> Found {
    let Proposed { by_rule, asked, result } = first;
    let mut first = Some(by_rule);
    let demanded = knowledge.demanded[value.index()];
    let own = step;
    let is_simd = matches!(step.code, Code::Video(Form::Simd(_)));
    let mut seen: HashSet<Recipe> = HashSet::new();
    seen.insert(Recipe::one(own));
    let mut all = vec![Spelling::of(Recipe::one(own), Trail::default(), target)];
    let mut work = VecDeque::from([0]);
    let lowers = rules.iter().any(|rule| rule.pass == Pass::Lower);
    while let Some(at) = work.pop_front() {
        let Some(step) = &all[at].recipe.single() else { continue };
        let rank = target.rank(step);
        let site = Site { graph, knowledge, value, step, demanded, result: &result, asked: &asked };
        let made = first.take().unwrap_or_else(|| proposed(&site, rules).collect());
        for (rule, made) in made {
            for recipe in made.into_iter().map(Recipe::shared) {
                if all.len() == MOST_SPELLINGS {
                    let asked = asked.take();
                    return Found { spellings: all.split_off(1), too_many: true, asked };
                }
                let trail = all[at].trail.iter().copied().chain([rule]).collect();
                if !seen.insert(recipe.clone()) {
                    // What says what code without SIMD instructions means may take its place, so that is told.
                    let fuses = !is_simd && rule.pass == Pass::Fuse;
                    let same = all.iter_mut().find(|known| fuses && known.recipe.is(&recipe));
                    if let Some(known) = same.filter(|known| !is_fused(known)) {
                        known.trail = trail;
                    }
                } else {
                    if let [step] = recipe.steps.as_slice()
                        && target.rank(step) < rank
                    {
                        work.push_back(all.len());
                    }
                    all.push(Spelling::of(recipe, trail, target).beside(graph, &own, target));
                }
            }
        }
    }
    let lowered = if lowers { lowered.spellings(&all, target, knowledge) } else { Vec::new() };
    let mut spellings = all.split_off(1);
    let is_known = |spelling: &Spelling| seen.iter().any(|known| spelling.recipe.is(known));
    spellings.extend(lowered.into_iter().filter(|spelling| !is_known(spelling)));
    Found { spellings, too_many: false, asked: asked.into_inner() }
}

/// Keeps so many, those that come first, those that are marked, and the first of each that puts halves together at its
/// end: that can be continued by the statements that read it, however dear it is.
pub(super) fn keep<T>(made: &mut Vec<T>, most: usize, recipe: impl Fn(&T) -> &Applied, marked: &[bool]) {
    let first = |packing: Packing| made.iter().position(|one| recipe(one).packing() == packing);
    let packed = [first(Packing::Halves), first(Packing::Biased)];
    let mut at = 0;
    made.retain(|_| {
        at += 1;
        at <= most || marked.get(at - 1) == Some(&true) || packed.contains(&Some(at - 1))
    });
}

/// The rules of the passes that run.
pub(super) fn enabled(passes: &[Pass]) -> Vec<&'static Rule> {
    crate::rules::rules().filter(|rule| passes.contains(&rule.pass)).collect()
}

/// Where a recipe is to run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    /// What it costs there.
    pub(super) costs: Costs,
    /// What the module may be assembled for, and with which version of PTX.
    pub(super) heads: Heads,
}

impl Target {
    /// What makes one instruction simpler than another: its cost, then fewer signed types, selectors, sources, lanes.
    fn rank(&self, step: &Step) -> (u32, u32, usize, bool, usize, u32) {
        let cost = self.costs.step(step);
        let distinct: HashSet<Source> = step.sources.iter().copied().collect();
        let (signs, routed, lanes) = match &step.code {
            Code::Video(form) => {
                let signs = form.instruction().modifiers().filter(|&modifier| modifier == op::S32).count();
                let (routed, lanes) = match form {
                    Form::Simd(simd) => {
                        let plain = Routing::plain(simd.routing.lanes()).masked(simd.routing.mask());
                        (plain != Some(simd.routing), simd.routing.mask().count_ones())
                    }
                    Form::Scalar(_) | Form::Mad(_) => (false, 0),
                };
                (signs, routed, lanes)
            }
            Code::Plain(_) | Code::Pack | Code::Half(_) => (0, false, 0),
        };
        (cost.most, cost.least, signs, routed, distinct.len(), lanes)
    }

    /// What a recipe costs.
    pub(super) fn cost(&self, recipe: &Recipe) -> Cost {
        self.costs.sequence(&recipe.steps)
    }

    /// What spellings may be made of: with `lop3` if the module may have it; both ways if only a later head would allow
    /// it, so that the head is raised only for what is cheaper.
    pub(super) fn available(&self) -> &'static [Available] {
        match self.heads.reach(&Recipe::one(Step::plain(op::LOP3_B32, &[]))) {
            Some(Reach::Own) => &[Available { lop3: true }],
            Some(Reach::Version | Reach::Target | Reach::Family) => {
                &[Available { lop3: false }, Available { lop3: true }]
            }
            None => &[Available { lop3: false }],
        }
    }

    /// What each of its steps costs where it stands.
    pub(super) fn costs(&self, recipe: &Recipe) -> Vec<Cost> {
        self.costs.shares(&recipe.steps)
    }

    /// The first instruction of a recipe that the module must not contain.
    pub(super) fn lacks(&self, recipe: &Recipe) -> Option<Instruction> {
        let head = self.heads.allowed();
        let mut all = recipe.steps.iter().map(Step::spelled);
        all.find(|&instruction| !head.is_some_and(|head| head.has(instruction)))
    }
}

/// Why the last instruction of a recipe must not be written under a guard, or at all.
pub(super) fn faulty(recipe: &Recipe, guarded: bool) -> Option<&'static str> {
    let last = recipe.steps.len().saturating_sub(1);
    recipe.steps.iter().enumerate().find_map(|(at, step)| match step.code {
        Code::Video(form) => forbidden(form, guarded && at == last),
        Code::Plain(_) | Code::Pack | Code::Half(_) => None,
    })
}
