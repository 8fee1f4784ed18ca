//! Regions: the old text and the new one as terms over the same values.
//!
//! A region takes values apart into what they are made of, up to an edge. Values at the edge are inputs, the same for
//! both sides; so what is proved of a region holds for all that its edge can be, and more.

use super::Rewrite;
use super::reach::{Inner, Reach};
use crate::graph::{Graph, Origin, ValueId, inputs_of};
use crate::site::Knowledge;
use hashbrown::{HashMap, HashSet};
use ptxopt_grammar::meaning::disputed::Semantics;
use ptxopt_grammar::meaning::disputed::disputed_at;
use ptxopt_grammar::meaning::term::{Op, Term, Terms, ones};
use ptxopt_grammar::meaning::{Place, Write, meaning};
use ptxopt_grammar::names::Type;
use ptxopt_grammar::roles::Role;
use ptxopt_grammar::tree::{Module, NodeId, StmtId, StmtKind};
use ptxopt_grammar::video;
use ptxopt_prover::{Assumption, Query};
use std::collections::{BTreeMap, BTreeSet};

/// Whether undemanded bits are what they were.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    Arbitrary,
    Kept,
}

/// Both sides as terms over the edge of a region.
pub(super) struct Region {
    pub(super) terms: Terms,
    pub(super) before: Term,
    pub(super) after: Term,
    pub(super) demanded: u128,
    pub(super) assumptions: BTreeMap<u32, Assumption>,
    /// The widths of the inputs, by number.
    pub(super) inputs: Vec<u32>,
    /// What the inputs are called.
    pub(super) names: BTreeMap<u32, String>,
}

/// How great a value can be, if that was proved.
pub(super) type Most<'m> = dyn FnMut(ValueId) -> Option<u128> + 'm;

/// One value as a term over those nearest to it that it is made of.
pub(super) struct Alone {
    pub(super) terms: Terms,
    pub(super) term: Term,
    pub(super) assumptions: BTreeMap<u32, Assumption>,
}

/// The text of a rewrite as a module of its own.
pub(super) struct Snippet {
    pub(super) text: String,
    /// The values that the registers hold which it reads.
    pub(super) held: BTreeMap<String, ValueId>,
}

/// The same parsed.
pub(super) struct New<'n, 't> {
    pub(super) held: &'n BTreeMap<String, ValueId>,
    pub(super) module: &'n Module<'t>,
}

impl Snippet {
    /// The text of a rewrite; `None` if a value has no register, or two have the same.
    pub(super) fn of(graph: &Graph<'_, '_>, rewrite: &Rewrite<'_>) -> Option<Self> {
        let mut held: BTreeMap<String, ValueId> = BTreeMap::new();
        for value in rewrite.recipe.values() {
            let register = graph.register_of(value)?;
            let text = graph.register_text(register)?;
            if *held.entry(text).or_insert(value) != value {
                return None;
            }
        }
        let text = Self::small_module(graph, rewrite, &held)?;
        Some(Self { text, held })
    }

    /// A module with the text in a function, the registers declared as they are.
    fn small_module(
        graph: &Graph<'_, '_>,
        rewrite: &Rewrite<'_>,
        held: &BTreeMap<String, ValueId>,
    ) -> Option<String> {
        let header = ".version 9.4\n.target sm_107f\n.address_size 64\n.func f()\n{\n";
        let mut text = String::from(header);
        let result = graph.register_of(rewrite.value)?;
        let result = (graph.register_text(result)?, rewrite.value);
        let mut declared = HashSet::new();
        let all = held.iter().map(|(name, &value)| (name.clone(), value)).chain([result]);
        for (name, value) in all {
            let register = graph.register_of(value)?;
            let decl = graph.module().decl(graph.declaration(register)?);
            let (name, vector) = match name.split_once('.') {
                Some((vector, _component)) => (vector.to_owned(), format!(".v{} ", decl.lanes)),
                None => (name, String::new()),
            };
            if declared.insert(name.clone()) {
                let ty = if decl.ty == Type::Pred { ".pred" } else { decl.ty.word() };
                text.push_str(&format!(".reg {vector}{ty} {name};\n"));
            }
        }
        for (name, width) in &rewrite.text.fresh {
            let ty = if *width == 1 { "pred".to_owned() } else { format!("b{width}") };
            text.push_str(&format!(".reg .{ty} {name};\n"));
        }
        for line in &rewrite.text.lines {
            text.push_str(line);
            text.push('\n');
        }
        text.push_str("}\n");
        Some(text)
    }
}

struct Building<'b, 'r, 'm, 't> {
    graph: &'b Graph<'m, 't>,
    knowledge: &'b Knowledge,
    terms: Terms,
    inputs: Vec<u32>,
    names: BTreeMap<u32, String>,
    assumptions: BTreeMap<u32, Assumption>,
    inner: Inner,
    /// How great a value can be that is kept whole, if that is asked.
    most: Option<&'r mut Most<'r>>,
    built: HashMap<ValueId, Term>,
    /// The undemanded bits of a value: arbitrary, but the same at all reads in the new text.
    junk: HashMap<ValueId, Term>,
}

impl Alone {
    pub(super) fn new(graph: &Graph<'_, '_>, knowledge: &Knowledge, value: ValueId, size: usize) -> Self {
        let Reach { inner, .. } = Reach::around(graph, BTreeSet::from([value]), size);
        let mut building = Building::new(graph, knowledge, inner, None);
        let term = building.import_value(value);
        let Building { terms, assumptions, .. } = building;
        Self { terms, term, assumptions }
    }
}

impl Region {
    /// Whether both sides are equal.
    pub(super) fn query(&self) -> Query<'_> {
        let mut query = Query::new(&self.terms, vec![self.before], vec![self.after]);
        query.demanded = vec![self.demanded];
        query.assumptions.clone_from(&self.assumptions);
        query
    }

    /// The region of a rewrite; `None` if the new text is not understood.
    pub(super) fn new(
        graph: &Graph<'_, '_>,
        knowledge: &Knowledge,
        rewrite: &Rewrite<'_>,
        new: &New<'_, '_>,
        reach: Reach,
        rest: Rest,
        most: &mut Most<'_>,
    ) -> Option<Self> {
        let core = graph.value(rewrite.value).core?;
        let Reach { inner, most: asked, .. } = reach;
        let mut building = Building::new(graph, knowledge, inner, asked.then_some(most));
        let before = building.import(core);
        let after = building.after(rewrite, new, rest)?;
        if building.terms.width(before) != building.terms.width(after) {
            return None;
        }
        let Building { terms, inputs, names, assumptions, .. } = building;
        let demanded = knowledge.demanded[rewrite.value.index()];
        Some(Self { terms, before, after, demanded, assumptions, inputs, names })
    }
}

impl Region {
    /// Two texts for the same statement as terms over the values that they read, which may be anything; `None` if either is
    /// not understood.
    pub(super) fn of_texts(
        graph: &Graph<'_, '_>,
        knowledge: &Knowledge,
        both: [(&Rewrite<'_>, &New<'_, '_>); 2],
    ) -> Option<Self> {
        let mut building = Building::new(graph, knowledge, Inner::new(), None);
        let mut term = |(rewrite, new)| building.after(rewrite, new, Rest::Kept);
        let [before, after] = [term(both[0])?, term(both[1])?];
        if building.terms.width(before) != building.terms.width(after) {
            return None;
        }
        let Building { terms, inputs, names, .. } = building;
        let demanded = knowledge.demanded[both[0].0.value.index()];
        Some(Self { terms, before, after, demanded, assumptions: BTreeMap::new(), inputs, names })
    }
}

impl<'b, 'r, 'm, 't> Building<'b, 'r, 'm, 't> {
    fn new(
        graph: &'b Graph<'m, 't>,
        knowledge: &'b Knowledge,
        inner: Inner,
        most: Option<&'r mut Most<'r>>,
    ) -> Self {
        Self {
            graph,
            knowledge,
            terms: Terms::new(),
            inputs: Vec::new(),
            names: BTreeMap::new(),
            assumptions: BTreeMap::new(),
            inner,
            most,
            built: HashMap::new(),
            junk: HashMap::new(),
        }
    }

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
            let before = needed.len();
            if !self.built.contains_key(&value) {
                let read = self.inner.get(&value).into_iter().flatten();
                needed.extend(read.filter(|below| !self.built.contains_key(*below)));
            }
            if needed.len() == before {
                needed.pop();
                self.build(value);
            }
        }
        self.rebuild(root)
    }

    fn build(&mut self, value: ValueId) {
        if self.built.contains_key(&value) {
            return;
        }
        let entry = self.graph.value(value);
        let term = match self.graph.made_of(value).filter(|_| self.inner.contains_key(&value)) {
            Some(def) => self.rebuild(def),
            None => {
                let name = entry.register.and_then(|register| self.graph.register_text(register));
                let term =
                    self.fresh(entry.width, name.unwrap_or_else(|| format!("value {}", value.number())));
                if let Op::Input(number) = self.terms.op(term) {
                    let assumption = self.assumption(value);
                    self.assumptions.extend(assumption.map(|assumption| (number, assumption)));
                }
                term
            }
        };
        self.built.insert(value, term);
    }

    /// What is assumed of a value that is kept whole: what the facts say of a phi, and what is proved of others.
    fn assumption(&mut self, value: ValueId) -> Option<Assumption> {
        let entry = self.graph.value(value);
        if let Origin::Phi(_) = entry.origin {
            return self.knowledge.facts.get(value.index()).assumption();
        }
        let most = self.most.as_mut().and_then(|most| most(value))?;
        let known = ones(entry.width) & !ones(u128::BITS - most.leading_zeros());
        Some(Assumption { known, value: 0, unsigned: Some((0, most)), signed: None })
    }

    /// A term of the graph over values that are built.
    fn rebuild(&mut self, root: Term) -> Term {
        let graph = self.graph;
        let built = &self.built;
        self.terms.import(graph.terms(), root, &mut |number| built[&ValueId::of_input(number)])
    }

    /// What the text computes.
    fn after(&mut self, rewrite: &Rewrite<'_>, new: &New<'_, '_>, rest: Rest) -> Option<Term> {
        let New { held, module } = new;
        let mut values: HashMap<String, Term> = HashMap::new();
        let mut once: BTreeSet<ValueId> = BTreeSet::new();
        let mut result = None;
        for stmt in module.stmts().filter(|&stmt| module.kind(stmt) == StmtKind::Instruction) {
            self.acceptable(module, stmt)?;
            let mut read: HashMap<NodeId, Term> = HashMap::new();
            for (node, role) in module.roles(stmt) {
                if role != Role::Write {
                    let name = register_name(module, node);
                    let term = match (values.get(&name), held.get(&name)) {
                        (Some(&term), _) => term,
                        (None, Some(&value)) => self.read(rewrite.stmt, value, rest, &mut once),
                        (None, None) => return None,
                    };
                    read.insert(node, term);
                }
            }
            let writes = meaning(module, stmt, &mut self.terms, &mut |terms, place, width| {
                let Place::Register(node) = place else { return None };
                read.get(&node).copied().filter(|&term| terms.width(term) == width)
            })?;
            let [Write { place: Place::Register(node), value }] = writes[..] else { return None };
            result = Some(value);
            // The last instruction may write a register that it reads; nothing reads it afterwards.
            values.insert(register_name(module, node), value);
        }
        result
    }

    /// Refuses a form whose meaning is disputed.
    fn acceptable(&self, module: &Module<'_>, stmt: StmtId) -> Option<()> {
        if self.graph.semantics() == Semantics::Manual {
            return Some(());
        }
        if module.row(stmt)?.video.is_some() {
            video::decode(module, stmt)?.ok()?;
        }
        disputed_at(module, stmt).is_none().then_some(())
    }

    /// The term for a read of a value in the new text.
    fn read(&mut self, stmt: StmtId, value: ValueId, rest: Rest, once: &mut BTreeSet<ValueId>) -> Term {
        let width = self.graph.value(value).width;
        if let Origin::Read(_) = self.graph.value(value).origin {
            let own = self.graph.accesses(stmt).any(|(access, read)| !access.write && read == value);
            let again = !own || !once.insert(value);
            // Two reads of an undefined register may differ, so the second is another unknown. A rule need not know
            // that: text that reads it twice is not proved, and is not reported as a bug.
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
        // The register is not written before the text ends, so all its reads yield the same bits.
        let junk = match self.junk.get(&value) {
            Some(&junk) => junk,
            None => self.fresh(width, format!("undemanded bits of value {}", value.number())),
        };
        self.junk.insert(value, junk);
        self.by_mask(demanded, term, junk)
    }

    /// The bits of one word where a mask has ones, and of another elsewhere. They are put together run by run, so that a
    /// part that lies in one run is a part of that word.
    fn by_mask(&mut self, mask: u128, of_ones: Term, of_zeros: Term) -> Term {
        let width = self.terms.width(of_ones);
        let mut parts = Vec::new();
        let mut low = 0;
        while low < width {
            let rest = mask >> low;
            let (from, run) = if rest & 1 == 1 {
                (of_ones, rest.trailing_ones())
            } else {
                (of_zeros, rest.trailing_zeros())
            };
            let run = run.min(width - low);
            parts.push(self.terms.extract(from, low, run));
            low += run;
        }
        self.terms.side_by_side(parts).expect("a word has a bit")
    }

    fn import_value(&mut self, value: ValueId) -> Term {
        match self.graph.made_of(value).filter(|_| self.inner.contains_key(&value)) {
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
