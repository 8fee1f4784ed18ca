//! Booleans that are kept as numbers, as predicates.
//!
//! Code that keeps booleans as bytes makes a number of a predicate, extends it, joins it with others by the smaller or
//! the larger, compares the result with zero, and makes a number of that again. What such a test finds is a function of
//! the predicates at the bottom, whichever way it is spelled. The value of a site is taken as a term over predicates
//! and words that hold one bit; its small cuts are enumerated, the function of each is evaluated for all inputs, and
//! written as logic of predicates, which the assembler makes part of the comparisons.

use crate::graph::{Graph, Origin, ValueId, inputs_of};
use crate::recipe::{Recipe, Source, Step};
use crate::rules::{Pass, Rule};
use crate::site::Site;
use hashbrown::{HashMap, HashSet};
use ptxopt_grammar::meaning::concrete::Program;
use ptxopt_grammar::meaning::term::{Op, Term, Terms};
use ptxopt_grammar::table::instruction::{Instruction, op};

/// The most values that are looked through.
const MOST_VALUES: usize = 16;

/// The most cuts of a term that are kept, the first found.
const MOST_CUTS: usize = 8;

/// The most bits of a cut.
const MOST_BITS: usize = 2;

/// The rules.
pub(super) const RULES: &[Rule] = &[Rule {
    name: "booleans",
    pass: Pass::Fuse,
    law: "what is found out about booleans that are kept as numbers is logic of predicates",
    examples: &[
        "setp.gt.s32 %p0, %a, %b; setp.ne.u32 %p1, %c, 0; selp.b16 %h0, 1, 0, %p0; selp.b16 %h1, 1, 0, %p1; \
         cvt.s16.s8 %h2, %h0; cvt.s16.s8 %h3, %h1; min.s16 %h2, %h2, %h3; setp.ne.s16 %p2, %h2, 0; \
         selp.b32 %d, %a, %b, %p2;",
        "setp.gt.s32 %p0, %a, %b; setp.ne.u32 %p1, %c, 0; selp.b32 %r0, -1, 0, %p0; selp.b32 %r1, -1, 0, %p1; \
         selp.b32 %r2, %r0, %r1, %p0; and.b32 %r3, %r2, 1; setp.eq.b32 %p2, %r3, 1; selp.b32 %d, %a, %b, %p2;",
        "setp.gt.s32 %p0, %a, %b; selp.b32 %r0, 1, 0, %p0; setp.lt.s32 %p1, %r0, 1; selp.b32 %d, %a, %b, %p1;",
        "setp.gt.s32 %p0, %a, %b; selp.b32 %r0, 1, 0, %p0; and.b32 %r1, %c, 1; max.u32 %r2, %r0, %r1; \
         setp.ne.u32 %p2, %r2, 0; selp.b32 %d, %a, %b, %p2;",
        "setp.gt.s32 %p0, %a, %b; setp.ne.u32 %p1, %c, 0; selp.b32 %r0, 1, 0, %p0; selp.b32 %r1, 1, 0, %p1; \
         max.s32 %d, %r0, %r1;",
    ],
    propose: booleans,
}];

/// Whether a comparison with a number suggests that booleans are kept as numbers: it is how compilers spell the test of
/// the lowest bit of a word.
pub(super) fn is_seed(instruction: Instruction, number: Option<u64>) -> bool {
    number == Some(1)
        && [op::SETP.with(&[op::EQ, op::B16]), op::SETP.with(&[op::EQ, op::B32])].contains(&instruction)
}

fn booleans(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    if !asks(site) {
        return;
    }
    let Some(mut bits) = Bits::of(site) else { return };
    for cut in bits.cuts() {
        if let Some(recipe) = bits.spelled(&cut)
            && !out.contains(&recipe)
        {
            out.push(recipe);
        }
    }
}

/// Whether a site makes a bit of a word, or one of two words of others.
fn asks(site: &Site<'_, '_, '_>) -> bool {
    let Some(instruction) = site.instruction() else { return false };
    let row = instruction.row();
    let words =
        site.step.sources.iter().filter(|&&source| width(site.graph, source).is_some_and(|width| width > 1));
    match site.step.width {
        1 => row.is(op::SETP) && words.count() > 0,
        16 | 32 => (row.is(op::SELP) || row.is(op::MIN) || row.is(op::MAX)) && words.count() > 0,
        _ => false,
    }
}

fn width(graph: &Graph<'_, '_>, source: Source) -> Option<u32> {
    match source {
        Source::Value(value) => Some(graph.value(value).width),
        Source::Step(_) | Source::Constant(_) => None,
    }
}

/// Where a bit can be read.
#[derive(Clone, Copy, Debug)]
enum Home {
    /// A predicate.
    Predicate(ValueId),
    /// A word of this many bits that has no other bit.
    Word(ValueId, u32),
}

/// A cut: terms of one bit, in order.
type Cut = Vec<Term>;

/// The value of a site over bits.
struct Bits {
    terms: Terms,
    root: Term,
    width: u32,
    /// Where terms can be read, and where what they are not.
    homes: HashMap<Term, [Option<Home>; 2]>,
}

impl Bits {
    /// `None` if it is made of anything but bits, or of too much.
    fn of(site: &Site<'_, '_, '_>) -> Option<Self> {
        let graph = site.graph;
        let value = graph.value(site.value);
        let core = value.core?;
        let inner = inner(site, core)?;
        let mut all = Self { terms: Terms::new(), root: core, width: value.width, homes: HashMap::new() };
        let mut built: HashMap<ValueId, Term> = HashMap::new();
        // Values are made of earlier values, so those below are built first.
        let mut stack: Vec<ValueId> = inputs_of(graph.terms(), core).into_iter().collect();
        while let Some(&top) = stack.last() {
            let def = graph.value(top).def.filter(|_| inner.contains(&top));
            let below = def.map(|def| inputs_of(graph.terms(), def)).unwrap_or_default();
            let before = stack.len();
            stack.extend(below.into_iter().filter(|below| !built.contains_key(below)));
            if stack.len() > before {
                continue;
            }
            stack.pop();
            if !built.contains_key(&top) {
                let term = all.build(site, top, def, &built);
                built.insert(top, term);
            }
        }
        all.root = all.terms.import(graph.terms(), core, &mut |number| built[&ValueId::of_input(number)]);
        Some(all)
    }

    fn build(
        &mut self,
        site: &Site<'_, '_, '_>,
        value: ValueId,
        def: Option<Term>,
        built: &HashMap<ValueId, Term>,
    ) -> Term {
        let graph = site.graph;
        let entry = graph.value(value);
        let readable = entry.register.is_some() && !matches!(entry.origin, Origin::Read(_));
        let number = value.number();
        if let Some(def) = def {
            let input = &mut |number| built[&ValueId::of_input(number)];
            let term = self.terms.import(graph.terms(), def, input);
            if entry.width == 1 && readable {
                self.settle(term, Home::Predicate(value));
            }
            return term;
        }
        if entry.width == 1 {
            let term = self.terms.input(number, 1);
            if readable {
                self.settle(term, Home::Predicate(value));
            }
            term
        } else if is_bit(site, value) {
            let bit = self.terms.input(number, 1);
            if readable {
                self.settle(bit, Home::Word(value, entry.width));
            }
            self.terms.zero_extend(bit, entry.width)
        } else {
            self.terms.input(number, entry.width)
        }
    }

    /// Notes where a bit can be read.
    fn settle(&mut self, term: Term, home: Home) {
        let (term, inverted) = self.stripped(term);
        if self.terms.value(term).is_none() {
            self.homes.entry(term).or_default()[usize::from(inverted)].get_or_insert(home);
        }
    }

    /// A bit without its negation, and whether it had one.
    fn stripped(&self, term: Term) -> (Term, bool) {
        match self.terms.op(term) {
            Op::Not(inner) => (inner, true),
            _ => (term, false),
        }
    }

    /// The cuts of the value.
    fn cuts(&self) -> Vec<Cut> {
        let mut all: HashMap<Term, Vec<Cut>> = HashMap::new();
        for term in self.terms.cone(self.root) {
            let mut cuts: Vec<Cut> = vec![Cut::new()];
            for child in self.terms.children(term) {
                let below = &all[&child];
                let both = |cut: &Cut| below.iter().filter_map(|other| union(cut, other)).collect::<Vec<_>>();
                cuts = cuts.iter().flat_map(both).collect();
                cuts.dedup();
                cuts.truncate(MOST_CUTS);
            }
            if matches!(self.terms.op(term), Op::Input(_)) {
                cuts.clear();
            }
            // The nearest first.
            if self.homes.contains_key(&term) {
                cuts.insert(0, vec![term]);
            }
            all.insert(term, cuts);
        }
        all.remove(&self.root).unwrap_or_default()
    }

    /// The value as a function of the bits of a cut: for each of their combinations, the first lowest.
    fn results(&self, cut: &Cut) -> Option<[u64; 1 << MOST_BITS]> {
        let mut terms = Terms::new();
        let mut made: HashMap<Term, Term> =
            cut.iter().zip(0..).map(|(&bit, number)| (bit, terms.input(number, 1))).collect();
        let mut stack = vec![self.root];
        while let Some(&term) = stack.last() {
            let before = stack.len();
            if !made.contains_key(&term) {
                stack.extend(self.terms.children(term).filter(|child| !made.contains_key(child)));
            }
            if stack.len() > before {
                continue;
            }
            stack.pop();
            if !made.contains_key(&term) {
                let new = terms.copy(&self.terms, term, &mut |child| made[&child]);
                made.insert(term, new);
            }
        }
        let mut program = Program::<u64>::compile(&terms, &[made[&self.root]])?;
        let mut results = [0; 1 << MOST_BITS];
        for (result, number) in results.iter_mut().zip(0_u64..) {
            let mut found = [0];
            program.run(&[number & 1, number >> 1], &mut found);
            *result = found[0];
        }
        Some(results)
    }

    /// The value as logic of the bits of a cut.
    fn spelled(&mut self, cut: &Cut) -> Option<Recipe> {
        let results = self.results(cut)?;
        let (one, other) = (results[0], results.iter().copied().find(|&result| result != results[0])?);
        if results.iter().any(|&result| result != one && result != other) {
            return None;
        }
        let (most, least) = (one.max(other), one.min(other));
        let truth =
            results.iter().zip(0..).fold(0_u8, |truth, (&result, at)| truth | u8::from(result == most) << at);
        let mut logic = Logic { homes: &self.homes, cut, steps: Vec::new() };
        if self.width == 1 {
            let bit = logic.function(truth)?;
            if let Source::Value(_) = bit {
                logic.steps.push(Step::copy(bit, 1));
            }
            return Some(Recipe::of(logic.steps));
        }
        let [plain, inverted] = [truth, !truth & 0b1111].map(|truth| {
            let mut logic = Logic { homes: &self.homes, cut, steps: Vec::new() };
            logic.function(truth).map(|bit| (bit, logic.steps))
        });
        let ((plain, mut steps), (inverted, swapped)) = (plain?, inverted?);
        let choose = op::SELP.of(if self.width == 16 { op::B16 } else { op::B32 });
        let (sources, fewer) = if swapped.len() < steps.len() {
            ([Source::Constant(least), Source::Constant(most), inverted], swapped)
        } else {
            ([Source::Constant(most), Source::Constant(least), plain], std::mem::take(&mut steps))
        };
        steps = fewer;
        steps.push(Step::wide(choose, &sources, self.width));
        Some(Recipe::of(steps))
    }
}

/// The values that are looked through; `None` if a word is neither looked through nor a bit. Of what a predicate is made
/// only other predicates are.
fn inner(site: &Site<'_, '_, '_>, core: Term) -> Option<HashSet<ValueId>> {
    let graph = site.graph;
    let mut inner: HashSet<ValueId> = HashSet::new();
    let mut front: Vec<(ValueId, bool)> =
        inputs_of(graph.terms(), core).into_iter().map(|value| (value, false)).collect();
    let mut asked = Vec::new();
    let mut has_predicate = false;
    while !front.is_empty() {
        let mut next = Vec::new();
        for (value, below) in front {
            let entry = graph.value(value);
            has_predicate |= entry.width == 1;
            if inner.contains(&value) || entry.width > 1 && below {
                continue;
            }
            asked.push(value);
            match entry.def {
                Some(def) if inner.len() < MOST_VALUES => {
                    inner.insert(value);
                    let below = below || entry.width == 1;
                    next.extend(inputs_of(graph.terms(), def).into_iter().map(|value| (value, below)));
                }
                _ if entry.width == 1 || is_bit(site, value) => {}
                _ => {
                    site.asked.borrow_mut().extend(asked);
                    return None;
                }
            }
        }
        front = next;
    }
    site.asked.borrow_mut().extend(asked);
    has_predicate.then_some(inner)
}

/// Whether only the lowest bit of a word may be set.
fn is_bit(site: &Site<'_, '_, '_>, value: ValueId) -> bool {
    let width = site.graph.value(value).width;
    matches!(width, 16 | 32) && site.fact(Source::Value(value)).unsigned().1 <= 1
}

/// All bits of two cuts, unless they are too many.
fn union(one: &Cut, other: &Cut) -> Option<Cut> {
    let mut all = one.clone();
    all.extend(other);
    all.sort_unstable();
    all.dedup();
    (all.len() <= MOST_BITS).then_some(all)
}

/// Logic of the bits of a cut.
struct Logic<'b> {
    homes: &'b HashMap<Term, [Option<Home>; 2]>,
    cut: &'b Cut,
    steps: Vec<Step>,
}

impl Logic<'_> {
    fn push(&mut self, instruction: Instruction, sources: &[Source]) -> Source {
        self.steps.push(Step::wide(instruction, sources, 1));
        Source::Step(self.steps.len() - 1)
    }

    /// Whether a bit, or its negation, costs no step.
    fn is_there(&self, at: usize, wanted: bool) -> bool {
        matches!(self.homes[&self.cut[at]][usize::from(!wanted)], Some(Home::Predicate(_)))
    }

    /// A bit, or its negation.
    fn literal(&mut self, at: usize, wanted: bool) -> Source {
        let homes = self.homes[&self.cut[at]];
        let [same, opposite] = if wanted { homes } else { [homes[1], homes[0]] };
        if let Some(Home::Predicate(value)) = same {
            return Source::Value(value);
        }
        if let Some(Home::Predicate(value)) = opposite {
            return self.push(op::NOT.of(op::PRED), &[Source::Value(value)]);
        }
        let (word, width, is_set) = match (same, opposite) {
            (Some(Home::Word(word, width)), _) => (word, width, true),
            (_, Some(Home::Word(word, width))) => (word, width, false),
            _ => unreachable!("a bit of a cut can be read"),
        };
        let ty = if width == 16 { op::B16 } else { op::B32 };
        let compare = if is_set { op::NE } else { op::EQ };
        self.push(op::SETP.with(&[compare, ty]), &[Source::Value(word), Source::Constant(0)])
    }

    /// The function with this table of results, the first bit of the cut lowest; `None` for one without inputs.
    fn function(&mut self, truth: u8) -> Option<Source> {
        match truth {
            0b1010 => return Some(self.literal(0, true)),
            0b0101 => return Some(self.literal(0, false)),
            _ if self.cut.len() < MOST_BITS => return None,
            0b1100 => return Some(self.literal(1, true)),
            0b0011 => return Some(self.literal(1, false)),
            0b0110 | 0b1001 => {
                let sources = [self.literal(0, true), self.literal(1, truth == 0b0110)];
                return Some(self.push(op::XOR.of(op::PRED), &sources));
            }
            _ => {}
        }
        // What is left is true or false for one combination only.
        let only = match truth.count_ones() {
            1 => truth.trailing_zeros(),
            3 => (!truth).trailing_zeros(),
            _ => return None,
        };
        let is_and = truth.count_ones() == 1;
        let wanted = [0, 1].map(|at| (only >> at & 1 == 1) == is_and);
        let missing =
            |wanted: [bool; 2]| (0..).zip(wanted).filter(|&(at, wanted)| !self.is_there(at, wanted)).count();
        let opposite = wanted.map(|wanted| !wanted);
        let inverted = missing(opposite) + 1 < missing(wanted);
        let wanted = if inverted { opposite } else { wanted };
        let join = if is_and == inverted { op::OR } else { op::AND };
        let sources = [self.literal(0, wanted[0]), self.literal(1, wanted[1])];
        let joined = self.push(join.of(op::PRED), &sources);
        Some(if inverted { self.push(op::NOT.of(op::PRED), &[joined]) } else { joined })
    }
}
