//! From text to graph: control flow, then values for names, then terms, then edges.
//!
//! Sound because nothing is modelled that is not understood: a statement without a meaning, or with one that does not
//! cover all that it writes, has opaque results and reads its sources whole, and a function in which control or
//! registers cannot be followed has no graph.

use super::flow::control;
use super::hammocks::{Decisions, Hammocks};
use super::lists::Lists;
use super::names::{self, Named};
use super::opaque;
use super::registers::{Accesses, Register, Registers};
use super::slice::Slice;
use super::{Flow, Function, Graph, Link, Origin, Unmodelled, Use, Value, ValueId};
use hashbrown::HashMap;
use ptxopt_grammar::meaning::disputed::{Semantics, disputed_at};
use ptxopt_grammar::meaning::term::{Op, Term, Terms};
use ptxopt_grammar::meaning::{Place, Write, meaning};
use ptxopt_grammar::table::{Control, Effects};
use ptxopt_grammar::tree::{DeclId, Module, NodeId, ScopeId, StmtId};
use ptxopt_grammar::video;
use std::collections::BTreeSet;

impl<'m, 't> Graph<'m, 't> {
    /// The graph of a function.
    ///
    /// # Errors
    ///
    /// The first statement that cannot be modelled.
    pub fn new(module: &'m Module<'t>, function: Function, semantics: Semantics) -> Result<Self, Unmodelled> {
        Self::about(module, function, semantics, None)
    }

    /// The graph of a function, with terms where they matter to the statements that are `wanted`: for what these are
    /// made of, and for all that is made of that.
    ///
    /// # Errors
    ///
    /// The first statement that cannot be modelled.
    pub(crate) fn about(
        module: &'m Module<'t>,
        function: Function,
        semantics: Semantics,
        wanted: Option<&dyn Fn(StmtId) -> bool>,
    ) -> Result<Self, Unmodelled> {
        let flow = Flow::new(module, &function.body)?;
        let mut registers = Registers::new();
        let accesses = registers.accesses(module, function.head, &function.body);
        let parameters = registers.returned(module, function.head);
        check(module, &function, &flow, &registers, &parameters)?;
        let named = names::name(&flow, &registers, &accesses, &parameters);
        let hammocks = Hammocks::of(module, &flow, &named);
        let slice = wanted.map(|wanted| Slice::of(module, &flow, &accesses, (&named, &hammocks), wanted));
        let mut builder = Builder {
            module,
            semantics,
            accesses: &accesses,
            undefined: maybe_undefined(&named, &accesses),
            named,
            terms: Terms::new(),
            fixed: HashMap::new(),
            reads: HashMap::new(),
        };
        for &block in flow.order() {
            let stmts = flow.stmts(block);
            for stmt in stmts.filter(|&stmt| slice.as_ref().is_none_or(|slice| slice.has(stmt))) {
                builder.stmt(stmt);
            }
        }
        builder.gate(&flow, &hammocks);
        let Builder { terms, named: Named { values, links, seen, old }, reads, fixed, .. } = builder;
        let decisions = Decisions::of(module, &flow, &hammocks, &values);
        let addresses = fixed.into_iter().filter_map(|((decl, ..), value)| Some((value, decl?))).collect();
        let by = |key: fn(&Link) -> ValueId, item: fn(&Link) -> ValueId| {
            Lists::of(values.len(), || links.iter().map(|link| (key(link).index(), (item(link), link.slot))))
        };
        let operands = by(|link| link.to, |link| link.from);
        let uses = by(|link| link.from, |link| link.to);
        let writers = writers(&registers, &accesses, &function);
        Ok(Self {
            module,
            function,
            flow,
            terms,
            values,
            operands,
            uses,
            registers,
            accesses,
            seen,
            old,
            reads,
            semantics,
            writers,
            addresses,
            decisions,
            slice,
        })
    }
}

/// By register: the statements that write it, in the order of the text.
fn writers(registers: &Registers, accesses: &Accesses, function: &Function) -> Lists<StmtId> {
    Lists::of(registers.len(), || {
        let stmts = function.body.clone().filter_map(StmtId::new);
        let all = stmts.flat_map(|stmt| accesses.range(stmt).map(move |at| (stmt, accesses.list[at])));
        let writes = all.filter(|(_, access)| access.write);
        writes.map(|(stmt, access)| (access.register.index(), stmt))
    })
}

/// Refuses what a graph of one function cannot show.
fn check(
    module: &Module<'_>,
    function: &Function,
    flow: &Flow,
    registers: &Registers,
    parameters: &[Register],
) -> Result<(), Unmodelled> {
    let shared = |register: &Register| {
        let decl = registers.named(*register).decl;
        decl.is_some_and(|decl| module.decl_scope(decl) == ScopeId::MODULE)
    };
    let refuse = |reason: &str| Err(Unmodelled { stmt: function.head, reason: reason.to_owned() });
    if (0..registers.len()).map(Register::numbered).any(|register| shared(&register)) {
        return refuse("it uses registers that other functions can use too");
    }
    if !parameters.is_empty() && flow.falls_out(module) {
        return refuse("it has registers as parameters and does not end with `ret`");
    }
    Ok(())
}

/// Which values may be undefined: those of registers that some path from the entry does not write.
fn maybe_undefined(named: &Named, accesses: &Accesses) -> Vec<bool> {
    let count = named.values.len();
    let ids = (0..count).map(ValueId::numbered);
    let mut work: Vec<ValueId> =
        ids.filter(|value| named.values[value.index()].origin == Origin::Undefined).collect();
    if work.is_empty() {
        return Vec::new();
    }
    let phis = || named.links.iter().map(|link| (link.from.index(), link.to));
    let kept = || named.old.iter().map(|&(at, old)| (old.index(), named.seen[at as usize]));
    debug_assert!(named.old.iter().all(|&(at, _)| accesses.list[at as usize].write), "a write keeps a value");
    let next = Lists::of(count, || phis().chain(kept()));
    let mut undefined = vec![false; count];
    for value in &work {
        undefined[value.index()] = true;
    }
    while let Some(value) = work.pop() {
        for &next in next.get(value.index()) {
            if !std::mem::replace(&mut undefined[next.index()], true) {
                work.push(next);
            }
        }
    }
    undefined
}

pub(super) struct Builder<'b, 'm, 't> {
    pub(super) module: &'m Module<'t>,
    semantics: Semantics,
    pub(super) accesses: &'b Accesses,
    pub(super) named: Named,
    /// By value: whether it may be undefined; no value is if the list is empty.
    pub(super) undefined: Vec<bool>,
    pub(super) terms: Terms,
    /// Special registers and addresses: the same at each use.
    pub(super) fixed: HashMap<(Option<DeclId>, &'t [u8], u32), ValueId>,
    /// The values that stand for reads of what may be undefined.
    reads: HashMap<usize, ValueId>,
}

impl Builder<'_, '_, '_> {
    fn stmt(&mut self, stmt: StmtId) {
        if control(self.module, stmt).is_none() {
            return;
        }
        let pure = only_computes(self.module, stmt);
        if pure && !self.is_disputed(stmt) && self.meant(stmt).is_some() {
            return;
        }
        self.opaque(stmt, pure);
    }

    fn is_disputed(&self, stmt: StmtId) -> bool {
        let video = self.module.row(stmt).is_some_and(|row| row.video.is_some());
        let unknown = video && video::decode(self.module, stmt).is_none_or(|decoded| decoded.is_err());
        self.semantics == Semantics::Undisputed && (unknown || disputed_at(self.module, stmt).is_some())
    }

    fn add(&mut self, width: u32, origin: Origin) -> ValueId {
        let value = Value { width, origin, register: None, def: None, core: None, gated: None };
        let id = ValueId::numbered(self.named.values.len());
        self.named.values.push(value);
        id
    }

    fn link(&mut self, from: ValueId, to: ValueId, slot: Use) {
        self.named.links.push(Link { from, to, slot });
    }

    /// The value that an access reads; one of its own if it may be undefined.
    fn read(&mut self, at: usize) -> ValueId {
        let value = self.named.seen[at];
        self.shield(at, value)
    }

    fn shield(&mut self, at: usize, value: ValueId) -> ValueId {
        if !self.undefined.get(value.index()).is_some_and(|&undefined| undefined) {
            return value;
        }
        if let Some(&read) = self.reads.get(&at) {
            return read;
        }
        let read = self.add(self.named.values[value.index()].width, Origin::Read(value));
        self.link(value, read, Use::Phi(0));
        self.reads.insert(at, read);
        read
    }

    pub(super) fn input(&mut self, value: ValueId) -> Term {
        let width = self.named.values[value.index()].width;
        self.terms.input(value.number(), width)
    }

    /// The access of `stmt` by which `node` is read or written, if it is exactly one.
    pub(super) fn access(&self, stmt: StmtId, node: Option<NodeId>, write: bool) -> Option<usize> {
        let fits = |&at: &usize| {
            let access = self.accesses.list[at];
            access.node == node
                && access.write == write
                && (node.is_some() || access.register == Register::CARRY)
        };
        let mut found = self.accesses.range(stmt).filter(fits);
        let first = found.next()?;
        found.next().is_none().then_some(first)
    }

    /// A special register or an address: equal wherever it is read.
    fn fixed(&mut self, node: NodeId, width: u32) -> ValueId {
        // In different scopes one name may be two variables.
        let decl = self.module.decl_of(node);
        let key = (decl, self.module.node_text(node), width);
        if let Some(&value) = self.fixed.get(&key) {
            return value;
        }
        let value = self.add(width, Origin::Opaque);
        self.fixed.insert(key, value);
        value
    }

    /// Gives the results of `stmt` their terms, if it has a meaning.
    fn meant(&mut self, stmt: StmtId) -> Option<()> {
        let module = self.module;
        let mut terms = std::mem::take(&mut self.terms);
        let writes = meaning(module, stmt, &mut terms, &mut |terms, place, width| {
            let value = match place {
                Place::Register(node) => self.access(stmt, Some(node), false).map(|at| self.read(at))?,
                Place::Carry => self.access(stmt, None, false).map(|at| self.read(at))?,
                Place::Special(node) | Place::Address(node) => self.fixed(node, width),
            };
            let fits = self.named.values[value.index()].width == width;
            fits.then(|| terms.input(value.number(), width))
        });
        self.terms = terms;
        let writes = writes?;
        let mut places = Vec::with_capacity(writes.len());
        for Write { place, value } in writes {
            let at = match place {
                Place::Register(node) => self.access(stmt, Some(node), true)?,
                Place::Carry => self.access(stmt, None, true)?,
                Place::Special(_) | Place::Address(_) => return None,
            };
            (self.named.values[self.named.seen[at].index()].width == self.terms.width(value)).then_some(())?;
            places.push((at, value));
        }
        // Whatever the statement writes must have a meaning, or none of it has.
        let written = self.accesses.range(stmt).filter(|&at| self.accesses.list[at].write).count();
        (written == places.len()).then_some(())?;
        for (at, core) in places {
            self.define(stmt, at, core);
        }
        Some(())
    }

    /// The guard of a statement, one bit.
    fn guard(&mut self, stmt: StmtId) -> Option<Term> {
        let (node, negated) = self.module.guard(stmt)?;
        let at = self.access(stmt, Some(node), false)?;
        let value = self.read(at);
        let guard = self.input(value);
        Some(if negated { self.terms.not(guard) } else { guard })
    }

    /// Says what an access writes.
    fn define(&mut self, stmt: StmtId, at: usize, core: Term) {
        let def = match (self.guard(stmt), self.named.old(at)) {
            (Some(guard), Some(old)) => {
                let old = self.shield(at, old);
                let old = self.input(old);
                self.terms.choose(guard, core, old)
            }
            (None | Some(_), _) => core,
        };
        let value = self.named.seen[at];
        let node = &mut self.named.values[value.index()];
        (node.def, node.core) = (Some(def), Some(core));
        for input in inputs_of(&self.terms, def) {
            self.link(input, value, Use::Term);
        }
    }

    /// A statement without a meaning: its results are opaque, its sources are read whole.
    fn opaque(&mut self, stmt: StmtId, pure: bool) {
        let range = self.accesses.range(stmt);
        let mut readers = Vec::new();
        for at in range.clone().filter(|&at| self.accesses.list[at].write) {
            let width = self.named.values[self.named.seen[at].index()].width;
            let bits = opaque::loaded_bits(self.module, stmt).unwrap_or(width).min(width);
            let raw = self.add(bits, Origin::Opaque);
            let raw_term = self.input(raw);
            let core = if opaque::is_signed(self.module, stmt) {
                self.terms.sign_extend(raw_term, width)
            } else {
                self.terms.zero_extend(raw_term, width)
            };
            self.define(stmt, at, core);
            readers.push(self.named.seen[at]);
        }
        if !pure || readers.is_empty() {
            readers.push(self.add(0, Origin::Sink(stmt)));
        }
        let stored = opaque::stored(self.module, stmt);
        for at in range.filter(|&at| !self.accesses.list[at].write) {
            let value = self.read(at);
            let node = self.accesses.list[at].node;
            let slot = match &stored {
                Some((nodes, bits)) if node.is_some_and(|node| nodes.contains(&node)) => Use::Low(*bits),
                Some(_) | None => Use::Whole,
            };
            for &reader in &readers {
                self.link(value, reader, slot);
            }
        }
    }
}

/// Whether all that a statement does is to compute.
pub(super) fn only_computes(module: &Module<'_>, stmt: StmtId) -> bool {
    let effects = module.effects(stmt);
    let impure =
        [Effects::READS_MEMORY, Effects::ACTS, Effects::CONVERGENT, Effects::ORDERED, Effects::IMPURE];
    control(module, stmt) == Some(Control::Next) && !impure.into_iter().any(|effect| effects.has(effect))
}

/// The values whose inputs a term is made of, each once.
pub(crate) fn inputs_of(terms: &Terms, root: Term) -> BTreeSet<ValueId> {
    let input =
        |term| if let Op::Input(number) = terms.op(term) { Some(ValueId::of_input(number)) } else { None };
    terms.cone(root).into_iter().filter_map(input).collect()
}
