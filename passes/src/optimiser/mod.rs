//! The optimiser: rounds over a module until nothing changes.
//!
//! A round looks at every function, makes the edits that pass the door, and splices them into the text once. The next
//! round reads that text afresh, so it sees what the edits made possible, and nothing it believes is older than the
//! text. Every edit lowers the cost of its function by at least one machine instruction, so there is a last round;
//! reaching the limit of rounds is a bug.

mod choose;
mod function;
mod live;
mod memo;
mod record;
mod unused;
mod weave;
mod worth;

pub use record::{Bound, How, Kind, Record, Why};

use crate::Selection;
use crate::cost::{Costs, Gpu};
use crate::door::{Check, Door};
use crate::graph::{Function, Semantics, functions};
use crate::rules::{Pass, is_interesting};
use choose::Target;
use function::Shared;
use memo::Memo;
use ptxopt_grammar::edit::Edits;
use ptxopt_grammar::tree::{Module, StmtId, StmtKind};
use std::time::Duration;
use unused::Place;
use weave::Fresh;

/// What to do, and for which GPU.
#[derive(Clone, Debug)]
pub struct Options {
    /// The passes that run.
    pub passes: Vec<Pass>,
    /// The GPU whose costs count; `None`: the module's target.
    pub gpu: Option<Gpu>,
    /// How sure to be.
    pub check: Check,
    /// What disputed forms mean.
    pub semantics: Semantics,
    /// How many rewrites to make at most.
    pub limit: Option<u64>,
    /// Whether what nobody read in the first place goes too.
    pub dce_all: bool,
}

impl Default for Options {
    /// Everything, proved, for the module's own target.
    fn default() -> Self {
        Self {
            passes: Selection::all().groups(),
            gpu: None,
            check: Check::default(),
            semantics: Semantics::default(),
            limit: None,
            dce_all: false,
        }
    }
}

/// A clock: the time since some moment.
pub type Clock<'c> = &'c dyn Fn() -> Duration;

/// What became of a module.
#[derive(Debug)]
pub struct Outcome {
    /// The new text; `None` if nothing changed.
    pub text: Option<Vec<u8>>,
    /// What was done and what was not, in the order of the text, round by round.
    pub records: Vec<Record>,
    /// How many rounds there were.
    pub rounds: u32,
    /// The GPU whose costs counted, if it is known.
    pub gpu: Option<Gpu>,
    /// How many questions to the prover were answered from memory.
    pub remembered: u64,
}

/// How far a run has come.
#[derive(Debug)]
struct Progress {
    /// How many rewrites may still be made.
    left: Option<u64>,
    /// Whether one was not made because of that.
    held_back: bool,
}

impl Progress {
    /// Whether what could be done now must not be.
    fn is_over(&mut self) -> bool {
        self.held_back |= self.left == Some(0);
        self.left == Some(0)
    }

    fn count(&mut self) {
        self.left = self.left.map(|left| left - 1);
    }
}

/// More rounds than any chain of rewrites needs.
const MOST_ROUNDS: u32 = 100;

/// Makes a module cheaper.
///
/// # Panics
///
/// If an edited text is not legal, which would be a bug: every edit was parsed on its own.
#[must_use]
pub fn optimise(module: &Module<'_>, options: &Options, clock: Clock<'_>) -> Outcome {
    optimise_watched(module, options, clock, &mut |_round, _text| ())
}

/// The same, and `watch` is shown the number and the text of every round that changed something.
///
/// # Panics
///
/// As [`optimise`].
#[must_use]
pub fn optimise_watched(
    module: &Module<'_>,
    options: &Options,
    clock: Clock<'_>,
    watch: &mut dyn FnMut(u32, &[u8]),
) -> Outcome {
    optimise_within(MOST_ROUNDS, module, options, clock, watch)
}

fn optimise_within(
    most_rounds: u32,
    module: &Module<'_>,
    options: &Options,
    clock: Clock<'_>,
    watch: &mut dyn FnMut(u32, &[u8]),
) -> Outcome {
    let gpu = options.gpu.or_else(|| Gpu::of(module));
    let outcome = Outcome { text: None, records: Vec::new(), rounds: 0, gpu, remembered: 0 };
    let door = Door::new(options.check);
    let progress = Progress { left: options.limit, held_back: options.limit == Some(0) };
    if options.passes.is_empty() || !options.dce_all && !has_work(module) {
        return outcome;
    }
    if let Some(why) = refused(module, options) {
        return Outcome { records: vec![record::of_module(module, why)], ..outcome };
    }
    let functions = functions(module);
    let count = functions.len();
    let mut run = Run {
        options,
        clock,
        fresh: Fresh::new(module.text()),
        door,
        progress,
        memo: Memo::default(),
        origins: Vec::new(),
        open: functions.iter().map(|function| options.dce_all || has_interesting(module, function)).collect(),
        changed: vec![false; count],
        left_alone: vec![false; count],
        outcome,
    };
    let mut edits = run.round(module);
    // Declarations are compared with those of this text: the module's own, or the one that the last sweep left.
    let mut swept: Option<Vec<u8>> = None;
    let mut sweeps = edits.is_empty();
    if sweeps {
        edits = run.unused(module, module);
    }
    while !edits.is_empty() {
        let before = run.outcome.text.take();
        let edited = edits.apply(before.as_deref().unwrap_or(module.text()));
        let edited = edited.expect("edits are of statements, which do not overlap");
        let text = edited.to_vec();
        run.origins.push(Origins::of(&edited));
        let next = ptxopt_grammar::parse(&text).expect("what was parsed in pieces is legal as a whole");
        watch(run.outcome.rounds, &text);
        if sweeps {
            // Without a declaration, the name may mean a register outside it: there may be more to do.
            swept = Some(text.clone());
            run.open.clone_from(&run.changed);
        }
        let told = run.outcome.records.len();
        edits = run.round(&next);
        sweeps = edits.is_empty();
        if !edits.is_empty() && run.outcome.rounds > most_rounds {
            edits = Edits::new();
            run.give_up(told);
        } else if sweeps {
            let before =
                swept.as_deref().map(|text| ptxopt_grammar::parse(text).expect("it was parsed before"));
            edits = run.unused(before.as_ref().unwrap_or(module), &next);
        }
        drop(next);
        run.outcome.text = Some(text);
    }
    run.outcome.remembered = run.door.remembered();
    run.outcome
}

/// A module on its way through the rounds.
struct Run<'r> {
    options: &'r Options,
    clock: Clock<'r>,
    fresh: Fresh,
    door: Door,
    progress: Progress,
    memo: Memo,
    /// For each round, where the pieces of its text came from.
    origins: Vec<Origins>,
    /// For each function, whether there may be something to do.
    open: Vec<bool>,
    /// For each function, whether it has changed.
    changed: Vec<bool>,
    /// For each function, whether it is left alone.
    left_alone: Vec<bool>,
    outcome: Outcome,
}

fn has_interesting(module: &Module<'_>, function: &Function) -> bool {
    function.body.clone().filter_map(StmtId::new).any(|stmt| {
        module.kind(stmt) == StmtKind::Instruction && module.row(stmt).is_some_and(is_interesting)
    })
}

/// Where the pieces of an edited text came from.
struct Origins(Vec<(usize, usize)>);

impl Origins {
    fn of(edited: &ptxopt_grammar::edit::Edited<'_>) -> Self {
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

/// Why a module is left alone as a whole.
fn refused(module: &Module<'_>, options: &Options) -> Option<Why> {
    let target = module.stmts().find(|&stmt| module.kind(stmt) == StmtKind::Target);
    let text = target.map_or(&b""[..], |target| module.stmt_text(target));
    let debug = text.split(|&byte| byte == b',' || byte.is_ascii_whitespace()).any(|word| word == b"debug");
    if debug {
        return Some(Why::Debug);
    }
    (options.gpu.is_none() && Gpu::of(module).is_none()).then_some(Why::NoCosts)
}

/// Whether any statement is one that rules look at.
fn has_work(module: &Module<'_>) -> bool {
    module.spellings().iter().any(|spelling| module.spellings().row(spelling).is_some_and(is_interesting))
}

impl Run<'_> {
    /// Makes of the records of a round that is not written, from number `told` on, one: that it was one too many.
    fn give_up(&mut self, told: usize) {
        let undone = self.outcome.records.split_off(told);
        let first = undone.into_iter().find(|record| matches!(record.kind, Kind::Passed(_)));
        let unending = |record| Record { kind: Kind::Unending(Bound::Rounds), ..record };
        self.outcome.records.extend(first.map(unending));
    }

    fn round(&mut self, module: &Module<'_>) -> Edits {
        self.outcome.rounds += 1;
        let mut edits = Edits::new();
        let own = Gpu::of(module);
        let Some(gpu) = self.options.gpu.or(own) else { return edits };
        let target = Target { costs: Costs::of(&gpu), gpu: own, ptx: version(module) };
        let rules = choose::enabled(&self.options.passes);
        let Self { options, clock, ref fresh, .. } = *self;
        let scopes = function::declarations(module);
        let shared = Shared { options, target, rules: &rules, fresh, clock, scopes: &scopes };
        let mut told = Vec::new();
        for (at, function) in functions(module).iter().enumerate() {
            if !self.open[at] {
                continue;
            }
            let (door, progress, memo) = (&mut self.door, &mut self.progress, &mut self.memo);
            let records = function::run(module, function, &shared, door, progress, memo, &mut edits);
            // What no edit touched will look the same in the next round.
            self.open[at] = records.iter().any(|record| matches!(record.kind, Kind::Passed(_)));
            self.changed[at] |= self.open[at];
            self.left_alone[at] |=
                records.iter().any(|record| matches!(&record.kind, Kind::Missed(why) if why.is_general()));
            let first = self.outcome.rounds == 1;
            told.extend(
                records.into_iter().filter(|record| first || !matches!(record.kind, Kind::Missed(_))),
            );
        }
        self.tell(told);
        edits
    }

    /// Notes records, with the places that they had in the text as it came.
    fn tell(&mut self, records: impl IntoIterator<Item = Record>) {
        for mut record in records {
            record.offset =
                self.origins.iter().rev().fold(record.offset, |offset, origins| origins.old(offset));
            self.outcome.records.push(record);
        }
    }

    /// Takes away the declarations of registers that `module` named and `new` does not, once nothing else is to do.
    fn unused(&mut self, module: &Module<'_>, new: &Module<'_>) -> Edits {
        let mut edits = Edits::new();
        let all = self.options.dce_all && !self.progress.held_back;
        if !self.options.passes.contains(&Pass::Dce) {
            return edits;
        }
        for (at, (old, function)) in functions(module).iter().zip(&functions(new)).enumerate() {
            if !self.left_alone[at] && (all || self.changed[at]) {
                let before = Place { module, function: old };
                let after = Place { module: new, function };
                let records = unused::sweep(before, after, &self.fresh, all, &mut edits);
                self.changed[at] |= !records.is_empty();
                self.tell(records);
            }
        }
        edits
    }
}

/// The version of PTX that a module is written in.
fn version(module: &Module<'_>) -> (u8, u8) {
    let stmt = module.stmts().find(|&stmt| module.kind(stmt) == StmtKind::Version);
    let text =
        stmt.map(|stmt| String::from_utf8_lossy(module.stmt_text(stmt)).into_owned()).unwrap_or_default();
    let number = text.split_whitespace().last().unwrap_or_default();
    let (major, minor) = number.split_once('.').unwrap_or((number, "0"));
    (major.parse().unwrap_or(1), minor.parse().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Its second round finds more to do.
    const TWO_ROUNDS: &[u8] = include_bytes!("../../../tests/cases/optimise/mask/merge-to-store.ptx");

    fn within(most_rounds: u32) -> Outcome {
        let module = ptxopt_grammar::parse(TWO_ROUNDS).expect("the case is legal");
        optimise_within(most_rounds, &module, &Options::default(), &|| Duration::ZERO, &mut |_, _| ())
    }

    #[test]
    fn too_many_rounds_are_told_and_the_last_one_is_not_made() {
        let (all, cut) = (within(MOST_ROUNDS), within(1));
        let unending = |record: &&Record| record.kind == Kind::Unending(Bound::Rounds);
        assert_eq!(cut.records.iter().filter(unending).count(), 1);
        assert_eq!(all.records.iter().filter(unending).count(), 0);
        let made = |outcome: &Outcome| {
            outcome.records.iter().filter(|record| matches!(record.kind, Kind::Passed(_))).count()
        };
        assert!(made(&cut) < made(&all), "the second round has rewrites of its own");
        assert!(cut.text.is_some(), "the first round was made");
        assert_ne!(cut.text, all.text, "the second one was not");
    }
}
