//! The rounds of a run: the text that each works on, when declarations are swept, and when the run is over.
//!
//! Sweeps come where rewrites have come to an end, and compare the declarations of the text with those of the text
//! that the last sweep left: rewrites take none away, so they correspond one to one.

use super::again::Earlier;
use super::batches::Batch;
use super::beginning::Beginning;
use super::faults;
use super::function::{self, Shared};
use super::raise::{Heads, Potential};
use super::record::{Bound, How, Kind, Record, Statements};
use super::splice::Fresh;
use super::unused::{self, Swept, Version};
use super::variants::Begun;
use super::visible::{Stems, declarations};
use super::wanted::Wanted;
use super::{Clock, Options, Outcome, Watch, spell};
use crate::cost::Costs;
use crate::rules::{Pass, is_interesting};
use crate::threads::on_threads;
use hashbrown::HashMap;
use ptxopt_grammar::edit::{Edited, Edits};
use ptxopt_grammar::function::{Function, functions};
use ptxopt_grammar::tree::{Module, StmtId, StmtKind};
use spell::Target;
use std::cell::LazyCell;
use std::collections::BTreeMap;

/// How far a run has come.
#[derive(Debug)]
pub(super) struct Progress {
    /// How many rewrites may still be made.
    left: Option<u64>,
    /// Whether one was not made because of that.
    held_back: bool,
    /// What raising the head of the module could save more, by the functions as they came; `None` in later rounds.
    pub(super) potential: Option<Potential>,
}

impl Progress {
    /// Whether what could be done now must not be.
    pub(super) fn is_over(&mut self) -> bool {
        self.held_back |= self.left == Some(0);
        self.left == Some(0)
    }

    pub(super) fn count(&mut self) {
        self.left = self.left.map(|left| left - 1);
    }
}

/// What is known of a function.
#[derive(Clone, Copy)]
struct State {
    /// Whether there may be something to do.
    open: bool,
    /// Whether it has changed.
    changed: bool,
    /// Whether it is left alone.
    left_alone: bool,
    /// The round that looked at it last, and the one before that.
    looked: [u32; 2],
}

/// A module as the rounds have changed it so far.
pub(super) struct Run<'r> {
    most_rounds: u32,
    options: &'r Options,
    clock: Clock<'r>,
    fresh: Fresh,
    progress: Progress,
    heads: Heads,
    batches: &'r mut [Batch],
    /// For each text, where its pieces came from.
    origins: Vec<Origins>,
    /// The state of each function.
    states: Vec<State>,
    /// The texts that functions had.
    earlier: Earlier,
    /// Whether the last edits were a sweep.
    sweeping: bool,
    /// The text that the last sweep left.
    swept: Option<Vec<u8>>,
    /// The records so far.
    told: Vec<Told>,
    /// The edits of the first round, if they are given.
    begun: Option<Edits>,
    /// Where to note what functions could begin with, which the first round finds, by their numbers.
    beginnings: Option<&'r mut BTreeMap<usize, Beginning>>,
    outcome: Outcome,
}

/// A record, with the round and the number of the function that it is from.
struct Told {
    round: u32,
    function: usize,
    record: Record,
}

fn has_interesting(module: &Module<'_>, function: &Function) -> bool {
    function.body.clone().filter_map(StmtId::new).any(|stmt| {
        module.kind(stmt) == StmtKind::Instruction && module.row(stmt).is_some_and(is_interesting)
    })
}

/// Where the pieces of an edited text came from.
struct Origins(Vec<(usize, usize)>);

impl Origins {
    fn of(edited: &Edited<'_>) -> Self {
        Self(edited.starts().collect())
    }

    /// The offset before the edit; what an edit wrote came from somewhere in what it replaced.
    fn old(&self, offset: usize) -> usize {
        let at = self.0.partition_point(|&(new, _)| new <= offset);
        let (new, old) = at.checked_sub(1).map_or((0, 0), |at| self.0[at]);
        let last = self.0.get(at).map_or(usize::MAX, |&(_, next)| old.max(next.saturating_sub(1)));
        (old + (offset - new)).min(last)
    }
}

/// Where something stood in the text as it came.
fn original(origins: &[Origins], offset: usize) -> usize {
    origins.iter().rev().fold(offset, |offset, origins| origins.old(offset))
}

impl<'r> Run<'r> {
    pub(super) fn new(
        most_rounds: u32,
        module: &Module<'_>,
        options: &'r Options,
        clock: Clock<'r>,
        batches: &'r mut [Batch],
        outcome: Outcome,
    ) -> Self {
        let state = |function| {
            let open = options.dce_all
                || Wanted::of(module, function, &options.passes) != Wanted::Nothing
                || options.explain && has_interesting(module, function);
            State { open, changed: false, left_alone: false, looked: [0; 2] }
        };
        let functions = functions(module);
        Self {
            most_rounds,
            options,
            clock,
            fresh: Fresh::new(module.text()),
            progress: Progress {
                left: options.limit,
                held_back: options.limit == Some(0),
                potential: Some(Potential::default()),
            },
            heads: Heads::of(module, options).0,
            batches,
            origins: Vec::new(),
            states: functions.iter().map(state).collect(),
            earlier: Earlier::default(),
            sweeping: false,
            swept: None,
            told: Vec::new(),
            begun: None,
            beginnings: None,
            outcome,
        }
    }

    /// The same for one function, by its name.
    pub(super) fn only(mut self, module: &Module<'_>, name: &str) -> Self {
        for (function, state) in functions(module).iter().zip(&mut self.states) {
            state.open &= function.name == name;
        }
        self
    }

    /// The same, and what functions could begin with is noted, by their numbers: for those that are looked at as a
    /// whole.
    pub(super) fn seeking(mut self, beginnings: &'r mut BTreeMap<usize, Beginning>) -> Self {
        self.beginnings = Some(beginnings);
        self
    }

    /// The same for some functions, which begin with edits.
    pub(super) fn begun(mut self, begun: Begun) -> Self {
        self.outcome.rounds += 1;
        for (number, state) in self.states.iter_mut().enumerate() {
            let changed = begun.records.contains_key(&number);
            (state.open, state.changed) = (changed, changed);
        }
        for (function, records) in begun.records {
            self.told.extend(records.into_iter().map(|record| Told { round: 1, function, record }));
        }
        self.begun = Some(begun.edits);
        self
    }

    /// Runs until nothing changes; `watch` is shown the number and the text of every round that changed something.
    pub(super) fn finish(mut self, module: &Module<'_>, mut watch: Option<Watch<'_>>) -> Outcome {
        let mut edits = match self.begun.take() {
            Some(edits) => edits,
            None => self.next(module, module),
        };
        while !edits.is_empty() {
            let before = self.outcome.text.take();
            let edited = edits.apply(before.as_deref().unwrap_or(module.text()));
            let edited = edited.expect("edits are of statements, which do not overlap");
            let text = edited.to_vec();
            self.origins.push(Origins::of(&edited));
            if let Some(watch) = &mut watch {
                watch(self.outcome.rounds, &text);
            }
            let new = parsed(&text);
            edits = self.next(module, &new);
            if edits.is_empty() {
                edits = self.mend(&new);
            }
            self.outcome.text = Some(text);
        }
        self.outcome.records = last_words(self.told, &self.states, module);
        self.outcome
    }

    /// What to do to a text: rewrites, or, where there are none, a sweep.
    fn next(&mut self, first: &Module<'_>, module: &Module<'_>) -> Edits {
        if self.sweeping {
            self.swept = Some(module.text().to_vec());
        }
        let told = self.told.len();
        let edits = self.round(module);
        self.sweeping = edits.is_empty();
        if self.sweeping {
            let swept = self.swept.take();
            let edits = self.sweep(swept.as_deref().map(parsed).as_ref().unwrap_or(first), module);
            self.swept = swept;
            return edits;
        }
        if self.outcome.rounds > self.most_rounds {
            self.give_up(told);
            return Edits::new();
        }
        edits
    }

    /// Replaces the records of a round that is not written, from number `told` on, by one for each function that was
    /// to change: that there were too many rounds.
    fn give_up(&mut self, told: usize) {
        let mut undone = self.told.split_off(told);
        undone.retain(|told| matches!(told.record.kind, Kind::Passed(_)));
        undone.dedup_by(|next, first| next.record.function == first.record.function);
        let unending = |told: Told| Told {
            record: Record { kind: Kind::Unending(Bound::Rounds), ..told.record },
            ..told
        };
        self.told.extend(undone.into_iter().map(unending));
        for state in &mut self.states {
            if state.looked[0] == self.outcome.rounds {
                state.looked[0] = state.looked[1];
            }
        }
    }

    fn round(&mut self, module: &Module<'_>) -> Edits {
        self.outcome.rounds += 1;
        let mut edits = Edits::new();
        let gpus = self.options.gpus_of(module);
        if gpus.is_empty() {
            return edits;
        }
        let target = Target { costs: Costs::on(&gpus), heads: self.heads };
        let rules = spell::enabled(&self.options.passes);
        let without = &self.options.without;
        let on_plain: Vec<_> = rules.iter().copied().filter(|rule| !without.contains(&rule.name)).collect();
        let Self { options, clock, ref fresh, .. } = *self;
        let declarations = declarations(module);
        let shared = Shared {
            options,
            target,
            rules: &rules,
            on_plain: &on_plain,
            fresh,
            clock,
            declarations: &declarations,
            seeks: self.beginnings.is_some(),
        };
        let functions = functions(module);
        for (number, (function, state)) in functions.iter().zip(&mut self.states).enumerate() {
            if state.open && self.earlier.have(self.outcome.rounds, number, module, function) {
                state.open = false;
            }
        }
        let all: Vec<Looked> = if options.limit.is_some() {
            // Which rewrites are within the limit depends on all before them.
            let progress = &mut self.progress;
            let look = |batch: &mut Batch| look(module, &functions, &self.states, &shared, batch, progress);
            self.batches.iter_mut().map(look).collect()
        } else {
            let potential = self.progress.potential;
            let look = |batch: &mut Batch| {
                let mut progress = Progress { left: None, held_back: false, potential };
                let looked = look(module, &functions, &self.states, &shared, batch, &mut progress);
                Looked { potential: progress.potential, ..looked }
            };
            let open = self.batches.iter_mut().filter(|batch| is_open(&self.states, batch)).collect();
            on_threads(options.threads, open, &look)
        };
        let round = self.outcome.rounds;
        let mut told = Vec::new();
        let mut sought = self.beginnings.take();
        for looked in all {
            if let Some(sought) = &mut sought {
                sought.extend(looked.beginnings);
            }
            edits.extend(looked.edits);
            if let (Some(all), Some(more)) = (&mut self.progress.potential, looked.potential) {
                all.include(more);
            }
            for (number, records) in looked.records {
                let state = &mut self.states[number];
                state.looked = [round, state.looked[0]];
                // What no edit touched will look the same in the next round.
                state.open = records.iter().any(|record| matches!(record.kind, Kind::Passed(_)));
                state.changed |= state.open;
                state.left_alone |= records
                    .iter()
                    .any(|record| matches!(&record.kind, Kind::Missed(why) if why.is_general()));
                told.extend(records.into_iter().map(|record| Told { round, function: number, record }));
            }
        }
        self.tell(told);
        self.outcome.potential = self.progress.potential.take().or(self.outcome.potential);
        edits
    }

    /// Notes records, with the places that they had in the text as it came.
    fn tell(&mut self, told: impl IntoIterator<Item = Told>) {
        for mut told in told {
            told.record.offset = original(&self.origins, told.record.offset);
            self.told.push(told);
        }
    }

    /// Writes in another way what the assembler fails at, in functions that changed.
    fn mend(&mut self, new: &Module<'_>) -> Edits {
        let (mut edits, mut told) = (Edits::new(), Vec::new());
        let round = self.outcome.rounds;
        for (number, function) in functions(new).iter().enumerate().filter(|&(at, _)| self.states[at].changed)
        {
            let records = faults::mend(new, function, self.options.semantics, &mut edits);
            told.extend(records.into_iter().map(|record| Told { round, function: number, record }));
        }
        self.tell(told);
        edits
    }

    /// Takes away the declarations of registers that `module` named and `new` does not.
    fn sweep(&mut self, module: &Module<'_>, new: &Module<'_>) -> Edits {
        let mut edits = Edits::new();
        let all = self.options.dce_all && !self.progress.held_back;
        if !self.options.passes.contains(&Pass::Dce) {
            return edits;
        }
        let (round, mut told) = (self.outcome.rounds, Vec::new());
        let stems = LazyCell::new(|| Stems::of(new));
        let pairs = functions(module).into_iter().zip(functions(new));
        for (number, ((old, function), state)) in pairs.zip(&mut self.states).enumerate() {
            if !state.left_alone && (all || state.changed) {
                let before = Version { module, function: &old };
                let after = Version { module: new, function: &function };
                let Swept { records, reveals } =
                    unused::sweep(before, after, (&self.fresh, &stems), all, &mut edits);
                state.changed |= !records.is_empty();
                state.open = reveals;
                told.extend(records.into_iter().map(|record| Told { round, function: number, record }));
            }
        }
        self.tell(told);
        edits
    }
}

/// What came of a batch in a round.
struct Looked {
    edits: Edits,
    /// By number of the function.
    records: Vec<(usize, Vec<Record>)>,
    /// What the functions could begin with, by their numbers.
    beginnings: Vec<(usize, Beginning)>,
    /// What raising the head could save more in these functions, if that is not told otherwise.
    potential: Option<Potential>,
}

fn is_open(states: &[State], batch: &Batch) -> bool {
    states[batch.functions.clone()].iter().any(|state| state.open)
}

/// Looks at the functions of a batch in which there may be something to do.
fn look(
    module: &Module<'_>,
    functions: &[Function],
    states: &[State],
    shared: &Shared<'_>,
    batch: &mut Batch,
    progress: &mut Progress,
) -> Looked {
    let (edits, records, beginnings) = (Edits::new(), Vec::new(), Vec::new());
    let mut looked = Looked { edits, records, beginnings, potential: None };
    for number in batch.functions.clone().filter(|&number| states[number].open) {
        let (verifier, memo, edits) = (&mut batch.verifier, &mut batch.memo, &mut looked.edits);
        let function = &functions[number];
        let found = function::run(module, function, shared, verifier, progress, memo, edits);
        looked.records.push((number, found.records));
        looked.beginnings.extend(found.beginning.map(|beginning| (number, beginning)));
    }
    looked
}

/// The reasons that still hold at the end. Every round that looks at a function records anew why its statements stay,
/// and the last of them counts. A reason why a rewrite is not a better one is recorded with the rewrite. Text that
/// rewrites wrote has no records of its own.
fn last_words(told: Vec<Told>, states: &[State], module: &Module<'_>) -> Vec<Record> {
    let stmts = Statements::of(module);
    let stmt = |record: &Record| stmts.at(record.offset);
    let mut rewritten: HashMap<Option<StmtId>, u32> = HashMap::new();
    for Told { round, record, .. } in &told {
        match record.kind {
            // The statement is deleted, so it has no reason to stay.
            Kind::Passed(How::Dead | How::Freed | How::Unnamed) => {
                rewritten.insert(stmt(record), u32::MAX);
            }
            Kind::Passed(
                How::Proved(_)
                | How::Sampled
                | How::Halved
                | How::Carried
                | How::Words
                | How::Moved
                | How::Raised { .. },
            ) => {
                rewritten.entry(stmt(record)).or_insert(*round);
            }
            Kind::Missed(_)
            | Kind::Wrong(_)
            | Kind::Diverged(_)
            | Kind::Misplaced(_)
            | Kind::Illegal(_)
            | Kind::Unending(_) => {}
        }
    }
    let counts = |told: &Told| rewritten.get(&stmt(&told.record)).unwrap_or(&states[told.function].looked[0]);
    let is_so = |told: &Told| !matches!(told.record.kind, Kind::Missed(_)) || told.round == *counts(told);
    told.into_iter().filter(is_so).map(|told| told.record).collect()
}

/// A text that edits made.
pub(super) fn parsed(text: &[u8]) -> Module<'_> {
    ptxopt_grammar::parse(text).expect("what was parsed in pieces is legal as a whole")
}
