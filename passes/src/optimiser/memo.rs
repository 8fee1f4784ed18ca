//! What rules made of an instruction, remembered: kernels repeat their shapes.
//!
//! Rules depend on an instruction, on what they can see of its sources, and on what is known of all that. Two sites for
//! which these are the same, up to the numbers of values in the same order, have the same spellings up to those
//! numbers. A site with a large cone is not remembered. Whether a spelling may be written is decided again at each
//! site.

use super::lowered::Lowered;
use super::settled::Settled;
use super::spell::Spelling;
use crate::facts::Fact;
use crate::fuse::AllFunctions;
use crate::graph::{Graph, Join, Origin, ValueId, inputs_of};
use crate::lanes::Byte;
use crate::recipe::{Code, Source, Step};
use crate::site::Knowledge;
use hashbrown::HashMap;
use ptxopt_grammar::legal::Known;
use ptxopt_grammar::meaning::term::{Term, Terms};
use ptxopt_grammar::video::{Form, SimdOp, SimdThen};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The most values that a remembered site is made of.
const MOST_VALUES: usize = 32;

/// What was found for which shape.
#[derive(Debug, Default)]
pub(super) struct Memo {
    /// The terms of all shapes, over numbers of values in their order.
    terms: Terms,
    known: HashMap<SiteShape, Vec<Spelling>>,
    /// What was made of SIMD instructions.
    pub(super) lowered: Lowered,
    /// Which operands instructions take.
    pub(super) legal: Known,
    /// The statements for which no rule had another spelling.
    pub(super) settled: Settled,
    /// What computes functions of lanes.
    pub(super) functions: AllFunctions,
}

/// All of a site that rules can depend on.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct SiteShape {
    step: Step,
    core: Term,
    demanded: u128,
    joined: Option<Join>,
    values: Vec<Member>,
}

/// All of a value that rules can depend on.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Member {
    origin: OriginKind,
    in_register: bool,
    guarded: bool,
    fact: Fact,
    demanded: u128,
    def: Option<Term>,
    code: Option<Step>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum OriginKind {
    Undefined,
    Read,
    Opaque,
    Result,
    Phi,
    Sink,
}

/// A site's values in order; their places are their numbers in a shape.
#[derive(Debug)]
pub(super) struct Numbers {
    values: Arc<[ValueId]>,
    /// Those of which the shape has what they are made of.
    open: Vec<ValueId>,
}

impl Numbers {
    /// Whether the shape has all that rules saw who asked for the definitions of these values.
    pub(super) fn show(&self, graph: &Graph<'_, '_>, asked: &[ValueId]) -> bool {
        let mut seen = asked.iter().flat_map(|&value| defining(graph, value).0);
        seen.all(|value| self.open.contains(&value))
    }

    fn place(&self, value: ValueId) -> Option<usize> {
        self.values.binary_search(&value).ok()
    }

    /// With the numbers of the shape in the place of values.
    fn shape(&self, step: &Step) -> Option<Step> {
        step.numbered(|value| self.place(value))
    }
}

impl Memo {
    /// The shape of a site; `None` for one that is too large.
    pub(super) fn shape(
        &mut self,
        graph: &Graph<'_, '_>,
        knowledge: &Knowledge,
        step: &Step,
        value: ValueId,
    ) -> Option<(SiteShape, Numbers)> {
        let core = graph.value(value).core?;
        // What a recogniser of word-parallel code sees lies deep below the site; it does not look at SIMD instructions.
        let simd = matches!(step.code, Code::Video(Form::Simd(_)));
        if !simd && knowledge.signatures.borrow_mut().is_seeded(graph, value) {
            return None;
        }
        let Context { values: cone, open } = Context::of(graph, knowledge, step, core)?;
        let numbers = Numbers { values: cone.into(), open };
        let mut values = Vec::with_capacity(numbers.values.len());
        for &member in &*numbers.values {
            let open = numbers.open.contains(&member);
            values.push(self.member(graph, knowledge, (member, open), &numbers)?);
        }
        let core = self.import(graph, core, &numbers)?;
        let shape = SiteShape {
            step: numbers.shape(step)?,
            core,
            demanded: knowledge.demanded[value.index()],
            joined: graph.joined(value),
            values,
        };
        Some((shape, numbers))
    }

    fn import(&mut self, graph: &Graph<'_, '_>, term: Term, numbers: &Numbers) -> Option<Term> {
        let inputs = inputs_of(graph.terms(), term);
        inputs.iter().all(|&input| numbers.place(input).is_some()).then_some(())?;
        // Inputs are made before what is made of them, so the arena's order is that of the shape.
        let made: Vec<Term> = inputs
            .iter()
            .map(|&input| {
                let place = ValueId::numbered(numbers.place(input).expect("it was just found"));
                self.terms.input(place.number(), graph.value(input).width)
            })
            .collect();
        let inputs: Vec<ValueId> = inputs.into_iter().collect();
        let mut stands_for = |number| {
            let at = inputs.binary_search(&ValueId::of_input(number));
            made[at.expect("these are all inputs of the term")]
        };
        Some(self.terms.import(graph.terms(), term, &mut stands_for))
    }

    fn member(
        &mut self,
        graph: &Graph<'_, '_>,
        knowledge: &Knowledge,
        (member, open): (ValueId, bool),
        numbers: &Numbers,
    ) -> Option<Member> {
        let value = graph.value(member);
        let (origin, stmt) = match value.origin {
            Origin::Undefined => (OriginKind::Undefined, None),
            Origin::Read(_) => (OriginKind::Read, None),
            Origin::Opaque => (OriginKind::Opaque, None),
            Origin::Result(stmt) => (OriginKind::Result, Some(stmt)),
            Origin::Phi(_) => (OriginKind::Phi, None),
            Origin::Sink(_) => (OriginKind::Sink, None),
        };
        let def = match value.def.filter(|_| open) {
            Some(def) => Some(self.import(graph, def, numbers)?),
            None => None,
        };
        let code = match stmt.filter(|_| open).and_then(|stmt| graph.step(stmt)) {
            Some(step) => Some(numbers.shape(&step)?),
            None => None,
        };
        Some(Member {
            origin,
            in_register: graph.register_of(member).is_some(),
            guarded: stmt.is_some_and(|stmt| graph.module().guard(stmt).is_some()),
            fact: knowledge.facts.get(member.index()),
            demanded: knowledge.demanded[member.index()],
            def,
            code,
        })
    }

    /// What was found for a shape, about the values of this site.
    pub(super) fn get(&self, shape: &SiteShape, numbers: &Numbers) -> Option<Vec<Spelling>> {
        let spellings = self.known.get(shape)?;
        let here = |spelling: &Spelling| spelling.over(|recipe| Some(recipe.over(&numbers.values)));
        spellings.iter().map(here).collect()
    }

    /// Remembers what was found, unless it is about other values too.
    pub(super) fn put(&mut self, shape: SiteShape, numbers: &Numbers, spellings: &[Spelling]) {
        let shaped =
            |spelling: &Spelling| spelling.over(|recipe| recipe.numbered(|value| numbers.place(value)));
        if let Some(spellings) = spellings.iter().map(shaped).collect::<Option<_>>() {
            self.known.insert(shape, spellings);
        }
    }
}

/// The values that rules can look at.
struct Context {
    /// All of them, in order.
    values: Vec<ValueId>,
    /// Those of which rules can see what they are made of.
    open: Vec<ValueId>,
}

impl Context {
    /// What rules can look at of an instruction; `None` if that is too much.
    ///
    /// Rules look through moves, since they ask where bytes come from ([`Site::contents`]), and at the instructions that
    /// compute a `c` into which lanes are merged or to which they are added ([`Site::definition`]). Of all other values
    /// they see what these can be, and which bits are demanded. Definitions of other values are noticed when rules ask
    /// for them ([`Numbers::show`]).
    ///
    /// [`Site::contents`]: crate::site::Site::contents
    /// [`Site::definition`]: crate::site::Site::definition
    fn of(graph: &Graph<'_, '_>, knowledge: &Knowledge, step: &Step, core: Term) -> Option<Self> {
        let mut seen: BTreeSet<ValueId> = inputs_of(graph.terms(), core);
        seen.extend(step.sources.iter().filter_map(|source| match *source {
            Source::Value(value) => Some(value),
            Source::Step(_) | Source::Constant(_) => None,
        }));
        let below = below(graph, step);
        let mut work: Vec<ValueId> = seen.iter().copied().collect();
        let mut open = Vec::new();
        while let Some(value) = work.pop() {
            if seen.len() > MOST_VALUES {
                return None;
            }
            let own = |byte: &Byte| matches!(*byte, Byte::Of(of, _) if of == value);
            let moves = || !knowledge.contents.borrow_mut().of(graph, value).iter().all(own);
            if !below.contains(&value) && !moves() {
                continue;
            }
            open.push(value);
            let mut more = match graph.value(value).def {
                Some(def) => inputs_of(graph.terms(), def),
                None => BTreeSet::new(),
            };
            if let Origin::Result(stmt) = graph.value(value).origin {
                // Sources that its meaning does not read are seen all the same.
                let read = graph.accesses(stmt).filter(|(access, _)| !access.write);
                more.extend(read.map(|(_, value)| value));
            }
            work.extend(more.into_iter().filter(|&value| seen.insert(value)));
        }
        Some(Self { values: seen.into_iter().collect(), open })
    }
}

/// The values on the path to the instruction that computes a value, as [`Graph::definition`] goes, and the instruction.
fn defining(graph: &Graph<'_, '_>, mut value: ValueId) -> (Vec<ValueId>, Option<Step>) {
    let mut path = vec![value];
    loop {
        let Origin::Result(stmt) = graph.value(value).origin else { return (path, None) };
        if graph.module().guard(stmt).is_some() {
            return (path, None);
        }
        let Some(step) = graph.step(stmt) else { return (path, None) };
        match step.copied() {
            Some(Source::Value(source)) => {
                value = source;
                path.push(value);
            }
            Some(Source::Step(_) | Source::Constant(_)) | None => return (path, Some(step)),
        }
    }
}

/// The values that a `c` which an instruction reads is computed by, one link after the other.
fn below(graph: &Graph<'_, '_>, step: &Step) -> Vec<ValueId> {
    let mut all: Vec<ValueId> = Vec::new();
    let mut next = Some(*step);
    while let Some(step) = next.filter(|step| reads_c(step) && all.len() <= MOST_VALUES) {
        let Some(&Source::Value(c)) = step.sources.get(2) else { break };
        let (path, defined) = defining(graph, c);
        all.extend(path);
        next = defined;
    }
    all
}

/// Whether the result of an instruction depends on `c`.
fn reads_c(step: &Step) -> bool {
    match step.code {
        Code::Video(Form::Simd(form)) => {
            let adds = match form.op {
                SimdOp::Arithmetic { then, .. } => then == SimdThen::Add,
                SimdOp::Set { accumulate, .. } => accumulate,
            };
            adds || form.routing.mask() != form.routing.lanes().full_mask()
        }
        Code::Video(form @ (Form::Scalar(_) | Form::Mad(_))) => form.reads_c(),
        Code::Plain(_) | Code::Pack | Code::Half(_) => false,
    }
}
