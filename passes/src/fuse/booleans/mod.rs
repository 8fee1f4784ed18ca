//! Booleans that are kept as numbers, as predicates.
//!
//! Code that keeps booleans as bytes makes a number of a predicate, extends it, joins it with others by the smaller or
//! the larger, compares the result with zero, and makes a number of that again. What such a test finds is a function of
//! the predicates at the bottom, whichever way it is spelled. The value of a site is taken as a term over predicates
//! and words that hold one bit; its small cuts are enumerated, the function of each is evaluated for all inputs, and
//! written as logic of predicates, which the assembler makes part of the comparisons.

mod logic;

use crate::graph::{Graph, Origin, ValueId, inputs_of};
use crate::recipe::{Recipe, Source, Step};
use crate::rules::{Pass, Rule};
use crate::site::Site;
use hashbrown::{HashMap, HashSet};
use logic::{Home, Logic, Word};
use ptxopt_grammar::meaning::concrete::Program;
use ptxopt_grammar::meaning::term::{Op, Term, Terms};
use ptxopt_grammar::table::instruction::{Instruction, op};

/// The most values that are looked through.
const MOST_VALUES: usize = 16;

/// How many steps are looked at of what predicates are made of.
const DEEPEST_BELOW: usize = 3;

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
    for cut in bits.cuts(bits.root) {
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
        16 | 32 => {
            [op::SELP, op::MIN, op::MAX, op::AND].into_iter().any(|of| row.is(of)) && words.count() > 0
        }
        _ => false,
    }
}

fn width(graph: &Graph<'_, '_>, source: Source) -> Option<u32> {
    match source {
        Source::Value(value) => Some(graph.value(value).width),
        Source::Step(_) | Source::Constant(_) => None,
    }
}

/// Where terms of one bit can be read, and where what they are not.
type Homes = HashMap<Term, [Option<Home>; 2]>;

/// A cut: terms of one bit, in order.
type Cut = Vec<Term>;

/// The results of a function of the bits of a cut, for each of their combinations; the first bit is the lowest.
type Results = [u64; 1 << MOST_BITS];

/// The value of a site over bits.
struct Bits {
    terms: Terms,
    root: Term,
    width: u32,
    /// Where terms can be read, and where what they are not.
    homes: Homes,
    /// The cuts of terms, themselves included if they can be read.
    cuts: HashMap<Term, Vec<Cut>>,
}

impl Bits {
    /// `None` if it is made of anything but bits, or of too much.
    fn of(site: &Site<'_, '_, '_>) -> Option<Self> {
        let graph = site.graph;
        let value = graph.value(site.value);
        let core = value.core?;
        let inner = inner(site, core)?;
        let mut all = Self {
            terms: Terms::new(),
            root: core,
            width: value.width,
            homes: HashMap::new(),
            cuts: HashMap::new(),
        };
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
        let width = entry.width;
        let readable = entry.register.is_some() && !matches!(entry.origin, Origin::Read(_));
        let input = &mut |number| built[&ValueId::of_input(number)];
        let mut term = match def {
            Some(def) => self.terms.import(graph.terms(), def, input),
            None => self.terms.input(value.number(), width),
        };
        if is_bit(site, value) && self.cuts(term).is_empty() {
            let bit = self.terms.input(value.number(), 1);
            self.settle_word(site, bit, (value, 0, 1));
            return self.terms.zero_extend(bit, width);
        }
        if width == 1 {
            if let Some(bit) = self.same_bit(term) {
                term = bit;
            }
            if readable {
                self.settle(term, Home::Predicate(value));
            }
        } else if let Some([least, most]) = self.two_values(term) {
            // The word as one of two numbers, so that it is a function of one bit.
            let [zero, one] = [least, most].map(|number| self.terms.constant(number.into(), width));
            let bit = self.terms.equal(term, one);
            self.settle_word(site, bit, (value, least, most));
            term = self.terms.choose(bit, one, zero);
        }
        term
    }

    /// Notes that a bit can be read from a word of two numbers.
    fn settle_word(&mut self, site: &Site<'_, '_, '_>, bit: Term, (value, unset, set): (ValueId, u64, u64)) {
        let entry = site.graph.value(value);
        let width = entry.width;
        let all = u64::MAX >> (64 - width.clamp(1, 64));
        let demanded = u64::try_from(site.knowledge.demanded[value.index()] & u128::from(all))
            .expect("it was cut to 64 bits");
        let mask = demanded & (unset ^ set);
        let readable = entry.register.is_some() && !matches!(entry.origin, Origin::Read(_));
        if readable && matches!(width, 16 | 32) && mask != 0 {
            let mask = (demanded != all).then_some(mask);
            self.settle(bit, Home::Word(Word { value, width, unset, mask }));
        }
    }

    /// Notes where a bit can be read.
    fn settle(&mut self, term: Term, home: Home) {
        self.cuts.remove(&term);
        let (term, inverted) =
            if let Op::Not(inner) = self.terms.op(term) { (inner, true) } else { (term, false) };
        // It had none of one bit before.
        self.cuts.remove(&term);
        if self.terms.value(term).is_none() {
            self.homes.entry(term).or_default()[usize::from(inverted)].get_or_insert(home);
        }
    }

    /// The bit that a bit is the same as, or the opposite of, however it is computed of that.
    fn same_bit(&mut self, term: Term) -> Option<Term> {
        let cuts = self.cuts(term);
        let (bit, results) = cuts.iter().find_map(|cut| match cut[..] {
            [bit] if bit != term => Some((bit, self.results(term, cut)?)),
            _ => None,
        })?;
        match results {
            [0, 1, ..] => Some(bit),
            [1, 0, ..] => Some(self.terms.not(bit)),
            _ => None,
        }
    }

    /// The two numbers that a word may be, if so; not those of an extended bit.
    fn two_values(&mut self, term: Term) -> Option<[u64; 2]> {
        self.cuts(term).iter().find_map(|cut| {
            let results = self.results(term, cut)?;
            let both = two_of(&results)?;
            (cut.len() == MOST_BITS).then_some(both)
        })
    }

    /// The cuts of a term.
    fn cuts(&mut self, root: Term) -> Vec<Cut> {
        let mut stack = vec![root];
        while let Some(&term) = stack.last() {
            let before = stack.len();
            if !self.cuts.contains_key(&term) {
                stack.extend(self.terms.children(term).filter(|child| !self.cuts.contains_key(child)));
            }
            if stack.len() > before {
                continue;
            }
            stack.pop();
            if !self.cuts.contains_key(&term) {
                let cuts = self.cuts_of(term);
                self.cuts.insert(term, cuts);
            }
        }
        self.cuts[&root].clone()
    }

    /// The cuts of a term, given those of its operands, the nearest first.
    fn cuts_of(&self, term: Term) -> Vec<Cut> {
        let is_input = matches!(self.terms.op(term), Op::Input(_));
        let mut cuts: Vec<Cut> = if is_input { Vec::new() } else { vec![Cut::new()] };
        for child in self.terms.children(term) {
            let below = &self.cuts[&child];
            let both = |cut: &Cut| below.iter().filter_map(|other| union(cut, other)).collect::<Vec<_>>();
            cuts = cuts.iter().flat_map(both).collect();
            cuts.dedup();
            cuts.truncate(MOST_CUTS);
        }
        if self.homes.contains_key(&term) {
            cuts.insert(0, vec![term]);
        }
        cuts
    }

    /// A term as a function of the bits of a cut.
    fn results(&self, root: Term, cut: &Cut) -> Option<Results> {
        let mut terms = Terms::new();
        let mut made: HashMap<Term, Term> =
            cut.iter().zip(0..).map(|(&bit, number)| (bit, terms.input(number, 1))).collect();
        let mut stack = vec![root];
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
        let mut program = Program::<u64>::compile(&terms, &[made[&root]])?;
        let mut results = Results::default();
        for (result, number) in results.iter_mut().zip(0_u64..) {
            let mut found = [0];
            program.run(&[number & 1, number >> 1], &mut found);
            *result = found[0];
        }
        Some(results)
    }

    /// The value as logic of the bits of a cut.
    fn spelled(&self, cut: &Cut) -> Option<Recipe> {
        let results = self.results(self.root, cut)?;
        let [least, most] = two_of(&results)?;
        let truth =
            results.iter().zip(0..).fold(0_u8, |truth, (&result, at)| truth | u8::from(result == most) << at);
        let (bit, mut steps) = Logic::of(&self.homes, cut, truth)?;
        if self.width == 1 {
            if let Source::Value(_) = bit {
                steps.push(Step::copy(bit, 1));
            }
            return Some(Recipe::of(steps));
        }
        let (inverted, fewer) = Logic::of(&self.homes, cut, !truth & 0b1111)?;
        let numbers = [most, least].map(Source::Constant);
        let (both, bit, mut steps) = if fewer.len() < steps.len() {
            ([numbers[1], numbers[0]], inverted, fewer)
        } else {
            (numbers, bit, steps)
        };
        steps.push(Step::choice(both, bit, self.width));
        Some(Recipe::of(steps))
    }
}

/// The two numbers among results, the smaller first; `None` if there is one, or if there are more.
fn two_of(results: &Results) -> Option<[u64; 2]> {
    let [least, most] = [results.iter().min()?, results.iter().max()?];
    let two = least != most && results.iter().all(|result| result == least || result == most);
    two.then_some([*least, *most])
}

/// The values that are looked through: the words between the site and the nearest predicates, then a little of what
/// these are made of, to see which are opposite or made of each other. `None` if a word is made of anything but bits.
fn inner(site: &Site<'_, '_, '_>, core: Term) -> Option<HashSet<ValueId>> {
    let graph = site.graph;
    let mut inner: HashSet<ValueId> = HashSet::new();
    let mut asked: Vec<ValueId> = Vec::new();
    let mut predicates: Vec<ValueId> = Vec::new();
    let mut made_of_bits = true;
    // With each word whether it is only reached through words of one bit, which can be read themselves.
    let mut front: Vec<(ValueId, bool)> =
        inputs_of(graph.terms(), core).into_iter().map(|value| (value, false)).collect();
    while made_of_bits && !front.is_empty() {
        let mut next = Vec::new();
        for (value, hidden) in std::mem::take(&mut front) {
            let entry = graph.value(value);
            asked.push(value);
            let hidden = hidden || is_bit(site, value);
            match entry.def {
                _ if entry.width == 1 => predicates.push(value),
                Some(def) if inner.len() < MOST_VALUES => {
                    if inner.insert(value) {
                        next.extend(inputs_of(graph.terms(), def).into_iter().map(|value| (value, hidden)));
                    }
                }
                _ => made_of_bits &= hidden,
            }
        }
        front = next;
    }
    let has_predicates = !predicates.is_empty();
    for _ in 0..DEEPEST_BELOW {
        let mut next = Vec::new();
        for value in std::mem::take(&mut predicates) {
            let def = graph.value(value).def.filter(|_| made_of_bits && inner.len() < 2 * MOST_VALUES);
            asked.push(value);
            if let Some(def) = def
                && inner.insert(value)
            {
                next.extend(inputs_of(graph.terms(), def));
            }
        }
        predicates = next;
    }
    site.asked.borrow_mut().extend(asked);
    (made_of_bits && has_predicates).then_some(inner)
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
