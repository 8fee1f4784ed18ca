//! The door: nothing is written that has not been proved here.
//!
//! Asked is whether new text may stand in the place of a statement. The text is parsed and given its meaning by the
//! same table as everything else, so what is proved is what is written. Both sides are terms over the values of the
//! function; the values that they read are replaced by what they are made of, a little at first and then more, until
//! a proof succeeds.
//!
//! **Demanded bits.** The original program demands some bits of every value. Any edit may change the others, and many
//! edits are made at once. So a proof may not rely on them: what the new text reads agrees with the original's value
//! on its demanded bits alone, and has arbitrary other bits, in all operands at the same time. By induction over an
//! execution, every value of the edited program then agrees with the original's on the bits that anybody demands.
//!
//! **Undefined registers.** A read of a register that may be undefined is a value of its own. The new text may read
//! it once; a second read is another unknown.
//!
//! **Facts.** What is known of phis is assumed, since a phi is made of nothing; no other fact is: the statements that
//! make it known are in the region, or it does not help.

use crate::graph::{Graph, Origin, Semantics, ValueId};
use crate::prover::{Counterexample, Proof, Prover, Query, Verdict};
use crate::recipe::{Recipe, Text};
use crate::site::Knowledge;
use ptxopt_grammar::meaning::concrete::evaluate;
use ptxopt_grammar::meaning::disputed::disputed;
use ptxopt_grammar::meaning::term::{Op, Term, Terms, ones};
use ptxopt_grammar::meaning::{Place, Write, meaning};
use ptxopt_grammar::names::Type;
use ptxopt_grammar::roles::Role;
use ptxopt_grammar::tree::{Module, NodeId, StmtId, StmtKind};
use ptxopt_grammar::video;
use std::collections::{BTreeMap, BTreeSet};

/// How sure to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Check {
    /// Evaluated on corner cases and seeded inputs.
    Sampled,
    /// That, and proved for all inputs.
    #[default]
    Proved,
}

/// What the door says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Judgement {
    /// Equal for all inputs.
    Proved(Proof),
    /// Equal on all inputs that were tried, and no more was asked for.
    Sampled,
    /// Not decided within the budget.
    Unproved,
    /// Not equal here: it relies on bits that nobody promised, or on what lies too far away.
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

/// How far a region reaches.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// So many values, those nearest to what either text reads.
    Around(usize),
    /// So many values, between what the old text reads and what the new text reads: nothing that both read is taken
    /// apart, which would only hide that it is the same.
    Between(usize),
}

/// The regions that are tried, step by step.
const REGIONS: [Extent; 6] = [
    Extent::Around(0),
    Extent::Between(8),
    Extent::Around(2),
    Extent::Around(6),
    Extent::Around(16),
    Extent::Around(48),
];

/// How many inputs the evaluator tries.
const SAMPLES: u64 = 24;

/// The door, with what it remembers.
#[derive(Default)]
pub struct Door {
    prover: Prover,
    check: Check,
}

impl std::fmt::Debug for Door {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Door").field("check", &self.check).finish_non_exhaustive()
    }
}

/// A question: whether a recipe's text may stand for the value that a statement writes.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'c> {
    /// The statement, which has one result.
    pub stmt: StmtId,
    /// Its result.
    pub value: ValueId,
    /// What the text was made of: the values that its registers hold.
    pub recipe: &'c Recipe,
    /// The text.
    pub text: &'c Text,
}

/// Whether undemanded bits are what they were.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rest {
    Arbitrary,
    Kept,
}

impl Door {
    /// A door that has seen nothing yet.
    #[must_use]
    pub fn new(check: Check) -> Self {
        Self { prover: Prover::new(), check }
    }

    /// How many questions were answered from memory.
    #[must_use]
    pub fn remembered(&self) -> u64 {
        self.prover.remembered()
    }

    /// Whether the text may stand in the place of the statement.
    pub fn judge(
        &mut self,
        graph: &Graph<'_, '_>,
        knowledge: &Knowledge,
        candidate: &Candidate<'_>,
    ) -> Judgement {
        let mut last = Judgement::Unclear;
        for (step, &extent) in REGIONS.iter().enumerate() {
            let Some(region) = Region::new(graph, knowledge, candidate, extent, Rest::Arbitrary) else {
                return Judgement::Unclear;
            };
            let whole = region.whole;
            match self.decide(region) {
                Verdict::Proved(_) if self.check == Check::Sampled => return Judgement::Sampled,
                Verdict::Proved(proof) => return Judgement::Proved(proof),
                Verdict::Unproved => last = Judgement::Unproved,
                Verdict::Refuted(_) => last = Judgement::Unfounded,
            }
            if whole || step + 1 == REGIONS.len() {
                break;
            }
        }
        if last == Judgement::Unfounded {
            return self.blame(graph, knowledge, candidate).unwrap_or(last);
        }
        last
    }

    /// Whether the text is wrong even if every bit that it reads is the original's.
    fn blame(
        &mut self,
        graph: &Graph<'_, '_>,
        knowledge: &Knowledge,
        candidate: &Candidate<'_>,
    ) -> Option<Judgement> {
        let most = *REGIONS.last().expect("there are regions");
        let region = Region::new(graph, knowledge, candidate, most, Rest::Kept)?;
        if !region.whole {
            return None;
        }
        let names = region.names.clone();
        match self.decide(region) {
            Verdict::Refuted(counterexample) => {
                Some(Judgement::Wrong(Box::new(Wrong { counterexample, names })))
            }
            Verdict::Proved(_) | Verdict::Unproved => None,
        }
    }

    fn decide(&mut self, region: Region) -> Verdict {
        let Region { terms, before, after, demanded, assumptions, inputs, .. } = region;
        let mut query = Query::new(&terms, vec![before], vec![after]);
        query.demanded = vec![demanded];
        query.assumptions = assumptions;
        if self.check == Check::Sampled || before != after {
            if let Some(difference) = sampled(&query, &inputs) {
                // The prover finds its own inputs, small ones that can be shown.
                debug_assert!(difference != 0, "a difference is a bit");
                return self.prover.decide(&query);
            }
            if self.check == Check::Sampled {
                return Verdict::Proved(Proof::Structural);
            }
        }
        self.prover.decide(&query)
    }
}

/// The bits in which both sides differ on one of the inputs that are tried.
fn sampled(query: &Query<'_>, inputs: &[u32]) -> Option<u128> {
    const CORNERS: [u128; 8] = [
        0,
        u128::MAX,
        0x8080_8080_8080_8080,
        0x7f7f_7f7f_7f7f_7f7f,
        0x0101_0101_0101_0101,
        0x8000_0000_8000_0000,
        0x7fff_ffff_7fff_ffff,
        0xff00_ff00_ff00_ff00,
    ];
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state ^ state >> 29
    };
    let demanded = query.demanded.first().copied().unwrap_or(u128::MAX);
    for sample in 0..SAMPLES {
        let value = |&width: &u32| {
            let random = u128::from(next()) << 64 | u128::from(next());
            let pick = usize::try_from(random >> 80 & 7).expect("three bits");
            let value = if sample % 3 == 0 { CORNERS[pick] } else { random };
            value & ones(width)
        };
        let values: Vec<u128> = inputs.iter().map(value).collect();
        let admitted = query.assumptions.iter().all(|(&number, assumption)| {
            let at = number as usize;
            assumption.admits(values[at], inputs[at])
        });
        if !admitted {
            continue;
        }
        let results = evaluate(query.terms, &[query.before[0], query.after[0]], &values);
        let difference = (results[0] ^ results[1]) & demanded;
        if difference != 0 {
            return Some(difference);
        }
    }
    None
}

/// Both sides as terms over the edge of a region.
struct Region {
    terms: Terms,
    before: Term,
    after: Term,
    demanded: u128,
    assumptions: BTreeMap<u32, crate::prover::Assumption>,
    /// The widths of the inputs, by number.
    inputs: Vec<u32>,
    /// What the inputs are called.
    names: BTreeMap<u32, String>,
    /// Whether nothing that could be replaced by what it is made of was left.
    whole: bool,
}

struct Building<'b, 'm, 't> {
    graph: &'b Graph<'m, 't>,
    knowledge: &'b Knowledge,
    terms: Terms,
    inputs: Vec<u32>,
    names: BTreeMap<u32, String>,
    assumptions: BTreeMap<u32, crate::prover::Assumption>,
    /// The values that are replaced by what they are made of.
    inner: BTreeSet<ValueId>,
    built: BTreeMap<ValueId, Term>,
    /// The bits of a value that nobody demands, as the new text sees them wherever it reads the value.
    junk: BTreeMap<ValueId, Term>,
}

impl Region {
    fn new(
        graph: &Graph<'_, '_>,
        knowledge: &Knowledge,
        candidate: &Candidate<'_>,
        extent: Extent,
        rest: Rest,
    ) -> Option<Self> {
        let core = graph.value(candidate.value).core?;
        let mut roots: BTreeSet<ValueId> = inputs_of(graph.terms(), core);
        let read: BTreeSet<ValueId> = candidate.recipe.values().collect();
        let (inner, whole) = match extent {
            Extent::Around(size) => {
                roots.extend(read);
                inner(graph, roots, &BTreeSet::new(), size)
            }
            Extent::Between(size) => (inner(graph, roots, &read, size).0, false),
        };
        let mut building = Building {
            graph,
            knowledge,
            terms: Terms::new(),
            inputs: Vec::new(),
            names: BTreeMap::new(),
            assumptions: BTreeMap::new(),
            inner,
            built: BTreeMap::new(),
            junk: BTreeMap::new(),
        };
        let before = building.import(core);
        let after = building.after(candidate, rest)?;
        if building.terms.width(before) != building.terms.width(after) {
            return None;
        }
        let Building { terms, inputs, names, assumptions, .. } = building;
        let demanded = knowledge.demanded[candidate.value.index()];
        Some(Self { terms, before, after, demanded, assumptions, inputs, names, whole })
    }
}

/// The values of a region: those nearest to its roots that are not kept whole, and whether these are all.
fn inner(
    graph: &Graph<'_, '_>,
    roots: BTreeSet<ValueId>,
    kept: &BTreeSet<ValueId>,
    size: usize,
) -> (BTreeSet<ValueId>, bool) {
    let mut inner = BTreeSet::new();
    let mut front = roots;
    loop {
        let mut next = BTreeSet::new();
        for value in front {
            let open = !inner.contains(&value) && !kept.contains(&value);
            let Some(def) = graph.value(value).def.filter(|_| open) else { continue };
            if inner.len() == size {
                return (inner, false);
            }
            inner.insert(value);
            next.extend(inputs_of(graph.terms(), def));
        }
        if next.is_empty() {
            return (inner, true);
        }
        front = next;
    }
}

pub(crate) fn inputs_of(terms: &Terms, root: Term) -> BTreeSet<ValueId> {
    let (mut inputs, mut seen, mut stack) = (BTreeSet::new(), BTreeSet::new(), vec![root]);
    while let Some(term) = stack.pop() {
        if !seen.insert(term) {
            continue;
        }
        if let Op::Input(number) = terms.op(term) {
            inputs.insert(ValueId::of_input(number));
        }
        stack.extend(terms.children(term));
    }
    inputs
}

impl Building<'_, '_, '_> {
    fn fresh(&mut self, width: u32, name: String) -> Term {
        let number = u32::try_from(self.inputs.len()).expect("a region has few inputs");
        self.inputs.push(width);
        self.names.insert(number, name);
        self.terms.input(number, width)
    }

    /// A term of the graph in the arena of the region.
    fn import(&mut self, root: Term) -> Term {
        // Values are made of earlier values, so those below are built first.
        let mut needed: Vec<ValueId> = inputs_of(self.graph.terms(), root).into_iter().collect();
        while let Some(&value) = needed.last() {
            let waiting: Vec<ValueId> =
                match self.graph.value(value).def.filter(|_| self.inner.contains(&value)) {
                    _ if self.built.contains_key(&value) => Vec::new(),
                    Some(def) => inputs_of(self.graph.terms(), def)
                        .into_iter()
                        .filter(|below| !self.built.contains_key(below))
                        .collect(),
                    None => Vec::new(),
                };
            if waiting.is_empty() {
                needed.pop();
                self.build(value);
            } else {
                needed.extend(waiting);
            }
        }
        self.rebuild(root)
    }

    fn build(&mut self, value: ValueId) {
        if self.built.contains_key(&value) {
            return;
        }
        let entry = self.graph.value(value);
        let term = match entry.def.filter(|_| self.inner.contains(&value)) {
            Some(def) => self.rebuild(def),
            None => {
                let name = entry.register.and_then(|register| self.graph.register_text(register));
                let term =
                    self.fresh(entry.width, name.unwrap_or_else(|| format!("value {}", value.number())));
                if let (Origin::Phi(_), Op::Input(number)) = (entry.origin, self.terms.op(term)) {
                    let assumption = self.knowledge.facts[value.index()].assumption();
                    self.assumptions.extend(assumption.map(|assumption| (number, assumption)));
                }
                term
            }
        };
        self.built.insert(value, term);
    }

    /// A term of the graph over values that are built.
    fn rebuild(&mut self, root: Term) -> Term {
        let graph = self.graph;
        let built = &self.built;
        self.terms.import(graph.terms(), root, &mut |number| built[&ValueId::of_input(number)])
    }

    /// What the text computes.
    fn after(&mut self, candidate: &Candidate<'_>, rest: Rest) -> Option<Term> {
        let mut held: BTreeMap<String, ValueId> = BTreeMap::new();
        for value in candidate.recipe.values() {
            let register = self.graph.register_of(value)?;
            let text = self.graph.register_text(register)?;
            if *held.entry(text).or_insert(value) != value {
                return None;
            }
        }
        let source = self.small_module(candidate, &held)?;
        let module = ptxopt_grammar::parse(source.as_bytes()).ok()?;
        let mut values: BTreeMap<String, Term> = BTreeMap::new();
        let mut once: BTreeSet<ValueId> = BTreeSet::new();
        let mut result = None;
        for stmt in module.stmts().filter(|&stmt| module.kind(stmt) == StmtKind::Instruction) {
            self.acceptable(&module, stmt)?;
            let mut read: BTreeMap<NodeId, Term> = BTreeMap::new();
            for (node, role) in module.roles(stmt) {
                if role != Role::Write {
                    let name = register_name(&module, node);
                    let term = match (values.get(&name), held.get(&name)) {
                        (Some(&term), _) => term,
                        (None, Some(&value)) => self.read(candidate.stmt, value, rest, &mut once),
                        (None, None) => return None,
                    };
                    read.insert(node, term);
                }
            }
            let writes = meaning(&module, stmt, &mut self.terms, &mut |terms, place, width| {
                let Place::Register(node) = place else { return None };
                read.get(&node).copied().filter(|&term| terms.width(term) == width)
            })?;
            let [Write { place: Place::Register(node), value }] = writes[..] else { return None };
            result = Some(value);
            // The last instruction may write a register that it reads; nothing reads it afterwards.
            values.insert(register_name(&module, node), value);
        }
        result
    }

    /// A module with the text in a function, the registers declared as they are.
    fn small_module(&self, candidate: &Candidate<'_>, held: &BTreeMap<String, ValueId>) -> Option<String> {
        let header = ".version 9.4\n.target sm_107f\n.address_size 64\n.func f()\n{\n";
        let mut text = String::from(header);
        let result = self.graph.register_of(candidate.value)?;
        let result = (self.graph.register_text(result)?, candidate.value);
        let mut declared = BTreeSet::new();
        let all = held.iter().map(|(name, &value)| (name.clone(), value)).chain([result]);
        for (name, value) in all {
            let register = self.graph.register_of(value)?;
            let decl = self.graph.module().decl(self.graph.declaration(register)?);
            let (name, vector) = match name.split_once('.') {
                Some((vector, _component)) => (vector.to_owned(), format!(".v{} ", decl.lanes)),
                None => (name, String::new()),
            };
            if declared.insert(name.clone()) {
                let ty = if decl.ty == Type::Pred { ".pred" } else { decl.ty.word() };
                text.push_str(&format!(".reg {vector}{ty} {name};\n"));
            }
        }
        for (name, width) in &candidate.text.fresh {
            let ty = if *width == 1 { "pred".to_owned() } else { format!("b{width}") };
            text.push_str(&format!(".reg .{ty} {name};\n"));
        }
        for line in &candidate.text.lines {
            text.push_str(line);
            text.push('\n');
        }
        text.push_str("}\n");
        Some(text)
    }

    /// Refuses a form whose meaning is disputed.
    fn acceptable(&self, module: &Module<'_>, stmt: StmtId) -> Option<()> {
        if module.row(stmt)?.video.is_none() || self.graph.semantics() == Semantics::Manual {
            return Some(());
        }
        let instance = video::decode(module, stmt)?.ok()?;
        disputed(instance.form).is_none().then_some(())
    }

    /// What a read of a value in the new text sees.
    fn read(&mut self, stmt: StmtId, value: ValueId, rest: Rest, once: &mut BTreeSet<ValueId>) -> Term {
        let width = self.graph.value(value).width;
        if let Origin::Read(_) = self.graph.value(value).origin {
            let own = self.graph.accesses(stmt).any(|(access, read)| !access.write && read == value);
            let again = !own || !once.insert(value);
            // Whoever reads it twice relies on what nobody promised; that is no bug of a rule.
            if again && rest != Rest::Kept {
                return self.fresh(width, format!("another read of value {}", value.number()));
            }
        }
        if !self.built.contains_key(&value) {
            let term = self.import_value(value);
            self.built.insert(value, term);
        }
        let term = self.built[&value];
        let demanded = self.knowledge.demanded[value.index()] & ones(width);
        let editable = match self.graph.value(value).origin {
            Origin::Result(_) | Origin::Phi(_) | Origin::Read(_) => true,
            Origin::Undefined | Origin::Opaque | Origin::Sink(_) => false,
        };
        if rest == Rest::Kept || demanded == ones(width) || !editable {
            return term;
        }
        // The register is not written before the text ends, so all its reads see the same.
        let junk = match self.junk.get(&value) {
            Some(&junk) => junk,
            None => self.fresh(width, format!("undemanded bits of value {}", value.number())),
        };
        self.junk.insert(value, junk);
        let mask = self.terms.constant(demanded, width);
        let kept = self.terms.and(term, mask);
        let mask = self.terms.constant(!demanded, width);
        let junk = self.terms.and(junk, mask);
        self.terms.or(kept, junk)
    }

    fn import_value(&mut self, value: ValueId) -> Term {
        match self.graph.value(value).def.filter(|_| self.inner.contains(&value)) {
            Some(def) => self.import(def),
            None => {
                self.build(value);
                self.built[&value]
            }
        }
    }
}

fn register_name(module: &Module<'_>, node: NodeId) -> String {
    String::from_utf8_lossy(Place::Register(node).text(module)).into_owned()
}
