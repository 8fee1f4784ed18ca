//! The optimiser: rounds over a module until nothing changes.
//!
//! A round looks at every function, makes the edits that are verified, and splices them into the text once. The next
//! round parses that text again, so it can use what the edits made possible, and no fact that it uses is older than
//! the text. Every edit lowers the cost of its function by at least one machine instruction, or has a number in the
//! place of a video instruction, so there is a last round; reaching the limit of rounds is a bug. What the rounds
//! leave is replayed, function by function, against the original, and where that shows a difference, or any other
//! bug, the function goes back to what it was.

mod again;
mod applied;
mod batches;
mod beginning;
mod carried;
mod chains;
mod elements;
mod everywhere;
mod faults;
mod function;
mod gather;
mod guard;
mod halves;
mod lemmas;
mod lowered;
mod memo;
mod profit;
mod proved;
mod raise;
mod record;
mod repeats;
mod rounds;
mod runs;
mod settle;
mod settled;
mod spell;
mod splice;
mod spliced;
mod stays;
mod stored;
mod together;
mod unused;
mod variants;
mod visible;
mod wanted;
mod words;

pub use guard::Replayed;
pub use raise::Raise;
pub use record::{Apart, Bound, How, Kind, Record, Why};

use crate::Selection;
use crate::cost::{Cost, Costs, Gpu};
use crate::fuse::is_seed;
use crate::rules::{Pass, is_interesting};
use crate::verify::Check;
use ptxopt_grammar::function::{Function, functions};
use ptxopt_grammar::meaning::disputed::Semantics;
use ptxopt_grammar::tree::{Module, StmtKind};
use raise::Potential;
use std::collections::BTreeMap;
use std::iter::Sum;
use std::time::Duration;
use wanted::Wanted;

/// What to do, and for which GPU.
#[derive(Clone, Debug)]
pub struct Options {
    /// The passes that run.
    pub passes: Vec<Pass>,
    /// The GPUs whose costs count; none: the module's target. Rewrites are worse on none of several.
    pub gpus: Vec<Gpu>,
    /// What of the module's head may be raised.
    pub raise: Raise,
    /// Whether rewrites must be proved.
    pub check: Check,
    /// What disputed forms mean.
    pub semantics: Semantics,
    /// How many rewrites to make at most.
    pub limit: Option<u64>,
    /// Whether statements and declarations that were unused in the text as it came are deleted too.
    pub dce_all: bool,
    /// Whether the reasons why statements stay as they are get recorded. The text is the same either way; without them,
    /// what cannot change is not analysed.
    pub explain: bool,
    /// How many functions are worked on at the same time, at most; the result does not depend on it.
    pub threads: usize,
    /// The functions that are left alone, and why.
    pub leave: BTreeMap<String, String>,
    /// Rules that propose nothing for plain code: to measure what each of them is worth there.
    pub without: Vec<&'static str>,
}

impl Default for Options {
    /// Everything, proved, for the module's own target.
    fn default() -> Self {
        Self {
            passes: Selection::all().passes(),
            gpus: Vec::new(),
            raise: Raise::default(),
            check: Check::default(),
            semantics: Semantics::default(),
            limit: None,
            dce_all: false,
            explain: true,
            threads: 1,
            leave: BTreeMap::new(),
            without: Vec::new(),
        }
    }
}

impl Options {
    /// The GPUs whose costs count for a module; none if they are not known.
    pub(crate) fn gpus_of(&self, module: &Module<'_>) -> Vec<Gpu> {
        if self.gpus.is_empty() { Gpu::of(module).into_iter().collect() } else { self.gpus.clone() }
    }
}

/// A clock: the time since some moment.
pub type Clock<'c> = &'c (dyn Fn() -> Duration + Sync);

/// Is shown the number and the text of every round that changed something.
pub type Watch<'w> = &'w mut dyn FnMut(u32, &[u8]);

/// What became of a module.
#[derive(Debug)]
pub struct Outcome {
    /// The new text; `None` if nothing changed.
    pub text: Option<Vec<u8>>,
    /// What was done and what was not, in the order of the text, round by round.
    pub records: Vec<Record>,
    /// How many rounds there were.
    pub rounds: u32,
    /// The GPUs whose costs counted.
    pub gpus: Vec<Gpu>,
    /// How many questions to the prover were answered from memory.
    pub remembered: u64,
    /// How long proofs took, those that failed included, where there is a clock; of all threads together.
    pub proving: Duration,
    /// What replays of the changed functions have covered.
    pub replayed: Replayed,
    /// What there was to look at.
    pub seen: Seen,
    /// What raising the head of the module could save more, if that was estimated.
    potential: Option<Potential>,
}

impl Outcome {
    /// Nothing done yet.
    fn empty(gpus: Vec<Gpu>, seen: Seen) -> Self {
        Self {
            text: None,
            records: Vec::new(),
            rounds: 0,
            gpus,
            remembered: 0,
            proving: Duration::ZERO,
            replayed: Replayed::default(),
            seen,
            potential: None,
        }
    }
}

/// What there is in a module for rules to look at.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Seen {
    /// Functions with a body.
    pub functions: u64,
    /// Video instructions.
    pub video: u64,
    /// Instructions of byte-wise code, such as `prmt`.
    pub bytes: u64,
}

impl Seen {
    fn of(module: &Module<'_>) -> Self {
        let mut seen = Self { functions: functions(module).len() as u64, ..Self::default() };
        for stmt in module.stmts() {
            let Some(row) = module.row(stmt) else { continue };
            if row.video.is_some() {
                seen.video += 1;
            } else if is_interesting(row) || is_seed(module, stmt) {
                seen.bytes += 1;
            }
        }
        seen
    }
}

/// What rewrites save by the tables of costs; machine instructions.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Estimate {
    /// How many fewer.
    pub saved: i64,
    /// How many the statements cost that were changed or went.
    pub of: u64,
}

impl Estimate {
    /// Of what cost the first, and costs the second now.
    fn of((before, after): (Cost, Cost)) -> Self {
        // Of rewrites that share steps, one may pay for all.
        let saved = i64::from(before.least) - i64::from(after.most);
        Self { saved, of: u64::from(before.least) }
    }
}

impl Sum for Estimate {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, one| Self { saved: sum.saved + one.saved, of: sum.of + one.of })
    }
}

impl Outcome {
    /// What all rewrites that were made save.
    #[must_use]
    pub fn estimate(&self) -> Estimate {
        self.records.iter().filter_map(Record::estimate).sum()
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
    optimise_watched(module, options, clock, None)
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
    watch: Option<Watch<'_>>,
) -> Outcome {
    optimise_within(MOST_ROUNDS, module, options, clock, watch)
}

fn optimise_within(
    most_rounds: u32,
    module: &Module<'_>,
    options: &Options,
    clock: Clock<'_>,
    watch: Option<Watch<'_>>,
) -> Outcome {
    let outcome = Outcome::empty(options.gpus_of(module), Seen::of(module));
    if options.passes.is_empty() || !options.dce_all && !has_work(module, options) {
        return outcome;
    }
    if let Some(record) = refused(module, options) {
        return Outcome { records: vec![record], ..outcome };
    }
    let mut outcome = variants::best(most_rounds, module, options, clock, &outcome, watch);
    guard::guard(module, &mut outcome, options, most_rounds, clock);
    raise::finish(module, &mut outcome, options);
    priced_like(module, &mut outcome);
    outcome
}

/// Why a module is left alone as a whole, said at its `.target`.
fn refused(module: &Module<'_>, options: &Options) -> Option<Record> {
    let target = module.stmts().find(|&stmt| module.kind(stmt) == StmtKind::Target)?;
    let mut words = module.stmt_text(target).split(|&byte| byte == b',' || byte.is_ascii_whitespace());
    let why = if words.any(|word| word == b"debug") {
        Why::Debug
    } else if options.gpus_of(module).is_empty() {
        Why::NoCosts
    } else {
        return None;
    };
    Some(Record::about(module, "", target, Kind::Missed(why)))
}

/// Records that the costs of a GPU are those of another one.
fn priced_like(module: &Module<'_>, outcome: &mut Outcome) {
    let Some(target) = module.stmts().find(|&stmt| module.kind(stmt) == StmtKind::Target) else { return };
    let newer = outcome.gpus.iter().filter(|&&gpu| Gpu::known().all(|known| known.number() < gpu.number()));
    let record = |gpu: &Gpu| {
        let like = Costs::on(&[*gpu]).names().next().expect("every GPU is priced like some generation");
        let why = Why::PricedLike { gpu: gpu.to_string(), like };
        Record::about(module, "", target, Kind::Missed(why))
    };
    let records: Vec<Record> = newer.map(record).collect();
    outcome.records.extend(records);
}

/// Whether there is anything that rules look at.
fn has_work(module: &Module<'_>, options: &Options) -> bool {
    let fuses = options.passes.contains(&Pass::Fuse);
    let is_wanted = |function: &Function| {
        Wanted::of(module, function, &options.passes) != Wanted::Nothing
            || fuses && runs::are_possible(module, function)
    };
    has_interesting(module) || functions(module).iter().any(is_wanted)
}

/// Whether any instruction of a module is one that rules always look at.
fn has_interesting(module: &Module<'_>) -> bool {
    module.spellings().iter().any(|spelling| module.spellings().row(spelling).is_some_and(is_interesting))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Its second round finds more to do.
    const TWO_ROUNDS: &[u8] = include_bytes!("../../../tests/cases/optimise/simplify/scalar-identity.ptx");

    fn within(most_rounds: u32) -> Outcome {
        let module = ptxopt_grammar::parse(TWO_ROUNDS).expect("the case is legal");
        optimise_within(most_rounds, &module, &Options::default(), &|| Duration::ZERO, None)
    }

    /// The lanes of two words, three of which are taken apart alike; the rounds come back to a text that they had.
    fn greater_of_smaller_lanes() -> String {
        let lane = |(at, extend): (u32, &str)| {
            format!(
                "bfe.{extend}32 %r0, %a, {at}, 8;\n\tbfe.s32 %r1, %b, {at}, 8;\n\tbfe.s32 %r2, %a, {at}, 8;\n\t\
                 max.s32 %s0, %r0, %r1;\n\tmin.s32 %s1, %r0, %r1;\n\tmin.s32 %s2, %s0, %r2;\n\t\
                 max.s32 %s2, %s2, %s1;\n\tbfi.b32 %d, %s2, %d, {at}, 8;\n"
            )
        };
        let lanes: String = [(8, "s"), (16, "s"), (24, "u")].map(lane).concat();
        format!(
            ".version 8.7\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p)\n{{\n\
             .reg .b32 %a, %b, %d, %r<4>, %s<4>;\n.reg .b64 %at;\nld.param.u64 %at, [p];\n\
             ld.global.u32 %a, [%at];\nld.global.u32 %b, [%at+4];\n{lanes}st.global.u32 [%at], %d;\n}}\n"
        )
    }

    #[test]
    fn rounds_that_come_back_to_a_text_end_there() {
        let text = greater_of_smaller_lanes();
        let module = ptxopt_grammar::parse(text.as_bytes()).expect("it is legal");
        let outcome = optimise(&module, &Options::default(), &|| Duration::ZERO);
        assert!(outcome.text.is_some());
        let unending = |record: &&Record| matches!(record.kind, Kind::Unending(_));
        assert_eq!(outcome.records.iter().filter(unending).count(), 0);
    }

    #[test]
    fn too_many_rounds_are_told_and_the_function_goes_back() {
        let (all, cut) = (within(MOST_ROUNDS), within(1));
        let unending = |record: &&Record| record.kind == Kind::Unending(Bound::Rounds);
        assert_eq!(all.records.iter().filter(unending).count(), 0);
        let cut_off: Vec<&Record> = cut.records.iter().filter(unending).collect();
        assert!(!cut_off.is_empty());
        let made = |outcome: &Outcome, function: &str| {
            let passed = |record: &&Record| matches!(record.kind, Kind::Passed(_));
            outcome.records.iter().filter(passed).filter(|record| record.function == function).count()
        };
        for record in cut_off {
            assert!(made(&all, &record.function) > 1 && made(&cut, &record.function) == 0);
        }
        assert!(all.text != cut.text);
    }
}
