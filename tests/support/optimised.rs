//! What must hold of the optimiser on any module: it changes what it says it changes, once, and nothing else.

use crate::differential::{self, Case, Compared};
use crate::programs::{self, INPUT_WORDS, OUTPUT_WORDS};
use arbitrary::Unstructured;
use ptxopt_grammar::tree::{Module, StmtKind};
use ptxopt_passes::cost::Gpu;
use ptxopt_passes::optimiser::{self, Kind, Options, Outcome, Record};
use ptxopt_passes::rules::{Pass, rules};
use std::collections::BTreeMap;
use std::time::Duration;

/// What was seen so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) modules: u64,
    pub(crate) changed: u64,
    /// Those in which code was understood as video instructions.
    pub(crate) fused: u64,
    /// How often each rule had a part in a rewrite that was made.
    pub(crate) rules: BTreeMap<&'static str, u64>,
    pub(crate) compared: Compared,
}

impl Tally {
    #[allow(dead_code, reason = "the fuzz target runs one kernel at a time")]
    pub(crate) fn add(&mut self, other: &Self) {
        self.modules += other.modules;
        self.changed += other.changed;
        self.fused += other.fused;
        self.compared += other.compared;
        for (&rule, &count) in &other.rules {
            *self.rules.entry(rule).or_default() += count;
        }
    }

    pub(crate) fn count(&mut self, outcome: &Outcome) {
        self.modules += 1;
        self.changed += u64::from(outcome.text.is_some());
        for record in outcome.records.iter().filter(|record| matches!(record.kind, Kind::Passed(_))) {
            for rule in &record.rules {
                *self.rules.entry(rule).or_default() += 1;
            }
        }
        let passed = outcome.records.iter().filter(|record| matches!(record.kind, Kind::Passed(_)));
        let fuses = |rule: &str| rules().any(|known| known.name == rule && known.pass == Pass::Fuse);
        self.fused += u64::from(passed.flat_map(|record| &record.rules).any(|rule| fuses(rule)));
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Compared { launches, finished, bytes, checks } = self.compared;
        writeln!(f, "{} modules, {} changed, {} of them by fusing", self.modules, self.changed, self.fused)?;
        writeln!(
            f,
            "{launches} launches, {finished} finished, {bytes} bytes compared, {checks} claims checked"
        )?;
        for (rule, count) in &self.rules {
            writeln!(f, "{count:>8} {rule}")?;
        }
        Ok(())
    }
}

/// Everything, proved, for a GPU or for the module's own.
pub(crate) fn options(gpu: Option<Gpu>) -> Options {
    Options { gpus: gpu.into_iter().collect(), ..Options::default() }
}

/// Optimises with the time standing still.
pub(crate) fn optimise(module: &Module<'_>, options: &Options) -> Outcome {
    optimiser::optimise(module, options, &|| Duration::ZERO)
}

/// Checks one run of the optimiser without running the kernel: the records are complete, a second run changes nothing.
///
/// # Errors
///
/// What does not hold.
pub(crate) fn is_consistent(module: &Module<'_>, outcome: &Outcome, options: &Options) -> Result<(), String> {
    for record in &outcome.records {
        if let Kind::Unending(bound) = &record.kind {
            return Err(format!("{bound}: `{}`", record.before));
        }
        if let Kind::Diverged(difference) = &record.kind {
            return Err(format!(
                "{difference}: {:?}: `{}` -> {:?}",
                record.rules, record.before, record.after
            ));
        }
        if let Kind::Misplaced(why) = &record.kind {
            return Err(format!("`{}`, `{}` {why}", record.before, record.after.join(" ")));
        }
        if let Kind::Illegal(words) = &record.kind {
            return Err(format!("PTX has no `{words}`: {:?}: `{}`", record.rules, record.before));
        }
        if let Kind::Wrong(wrong) = &record.kind {
            return Err(format!(
                "wrong: {:?}: `{}` -> {:?}: {wrong:?}",
                record.rules, record.before, record.after
            ));
        }
    }
    let Some(text) = &outcome.text else {
        let made = outcome.records.iter().any(|record| matches!(record.kind, Kind::Passed(_)));
        return if made { Err("a rewrite was recorded and not made".to_owned()) } else { Ok(()) };
    };
    let after = ptxopt_grammar::parse(text).map_err(|errors| format!("it is not legal: {errors:?}"))?;
    records_tell_all(module, &after, outcome)?;
    if options.limit.is_none() {
        let again = optimise(&after, options);
        if let Some(record) = again.records.iter().find(|record| matches!(record.kind, Kind::Passed(_))) {
            return Err(format!("a second run changes `{}` to {:?}", record.before, record.after));
        }
        if again.text.is_some() {
            return Err("a second run changes it".to_owned());
        }
    }
    Ok(())
}

/// Checks that what is written depends neither on whether reasons are recorded nor on the number of threads.
///
/// # Errors
///
/// What does.
pub(crate) fn is_the_same_quietly(
    module: &Module<'_>,
    outcome: &Outcome,
    options: &Options,
) -> Result<(), String> {
    let quiet = optimise(module, &Options { explain: false, threads: 3, ..options.clone() });
    if quiet.text != outcome.text {
        return Err(
            "the text depends on whether reasons are recorded, or on the number of threads".to_owned()
        );
    }
    if passed(&quiet) != passed(outcome) {
        return Err(
            "the rewrites depend on whether reasons are recorded, or on the number of threads".to_owned()
        );
    }
    Ok(())
}

/// The records of what was done.
fn passed(outcome: &Outcome) -> Vec<String> {
    let all = outcome.records.iter().filter(|record| matches!(record.kind, Kind::Passed(_)));
    all.map(|record| format!("{record:?}")).collect()
}

/// A text without blanks and guard, as records have it or not.
fn plain(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.strip_prefix('@').and_then(|rest| rest.split_once(' ')) {
        Some((_guard, rest)) => rest.to_owned(),
        None => words,
    }
}

/// How often each statement stands in a module.
fn statements(module: &Module<'_>) -> BTreeMap<String, i64> {
    let mut all = BTreeMap::new();
    for stmt in module.stmts() {
        let text = String::from_utf8_lossy(module.stmt_text(stmt)).into_owned();
        let ours = module.kind(stmt) == StmtKind::Register && text.contains("%opt");
        if !ours {
            *all.entry(plain(&text)).or_default() += 1;
        }
    }
    all
}

/// Takes what the records say was there, adds what they say is there now: that must be the new module.
fn records_tell_all(before: &Module<'_>, after: &Module<'_>, outcome: &Outcome) -> Result<(), String> {
    let mut expected = statements(before);
    for record in outcome.records.iter().filter(|record| matches!(record.kind, Kind::Passed(_))) {
        *expected.entry(plain(&record.before)).or_default() -= 1;
        for line in &record.after {
            *expected.entry(plain(line)).or_default() += 1;
        }
    }
    let found = statements(after);
    for text in expected.keys().chain(found.keys()) {
        let (told, there) = (expected.get(text).unwrap_or(&0), found.get(text).unwrap_or(&0));
        if told != there {
            let of_it = |record: &&Record| {
                let mut all = record.after.iter().chain([&record.before]);
                all.any(|line| plain(line) == *text)
            };
            let records: Vec<_> = outcome.records.iter().filter(of_it).collect();
            return Err(format!("`{text}` stands there {there} times, by the records {told}: {records:#?}"));
        }
    }
    Ok(())
}

/// Threads of a random kernel.
const THREADS: u32 = 5;

fn cases() -> [Case; 2] {
    let words = INPUT_WORDS.max(OUTPUT_WORDS);
    let case = |seed| Case { threads: THREADS, buffer: 4 * words * THREADS as usize, seed, budget: 200_000 };
    [case(11), case(12)]
}

/// A random kernel: optimised for some GPU, compared, compared again with fewer rewrites, its claims checked.
///
/// # Panics
///
/// If anything does not hold, with the kernel.
pub(crate) fn random(u: &mut Unstructured<'_>, tally: &mut Tally) -> arbitrary::Result<()> {
    let gpu = *u.choose(&[None, None, Some("sm_75"), Some("sm_90"), Some("sm_120"), Some("sm_35")])?;
    let part: u64 = u.arbitrary()?;
    let text = programs::program(u)?;
    if let Err(problem) = check(&text, gpu, part, tally) {
        panic!("--gpu {gpu:?}: {problem}\n{text}");
    }
    Ok(())
}

fn check(text: &str, gpu: Option<&str>, part: u64, tally: &mut Tally) -> Result<(), String> {
    let module = ptxopt_grammar::parse(text.as_bytes())
        .map_err(|errors| format!("the generator makes something illegal: {errors:?}"))?;
    let options = options(gpu.and_then(Gpu::parse));
    let outcome = optimise(&module, &options);
    tally.count(&outcome);
    is_consistent(&module, &outcome, &options)?;
    is_the_same_quietly(&module, &outcome, &options)?;
    tally.compared += differential::claims_hold(&module, &cases()[..1])?;
    let Some(new) = &outcome.text else { return Ok(()) };
    let shown = |problem: String, text: &[u8]| format!("{problem}\n{}", String::from_utf8_lossy(text));
    let after = ptxopt_grammar::parse(new).expect("it was looked at");
    tally.compared +=
        differential::same_memory(&module, &after, &cases()).map_err(|problem| shown(problem, new))?;
    tally.compared +=
        differential::claims_hold(&after, &cases()[1..]).map_err(|problem| shown(problem, new))?;
    let made = outcome.records.iter().filter(|record| matches!(record.kind, Kind::Passed(_))).count() as u64;
    let limited = Options { limit: Some(part % made.max(1)), ..options };
    let less = optimise(&module, &limited);
    is_consistent(&module, &less, &limited)?;
    is_the_same_quietly(&module, &less, &limited)?;
    if let Some(new) = &less.text {
        let after = ptxopt_grammar::parse(new).expect("it was looked at");
        let limit = limited.limit;
        tally.compared += differential::same_memory(&module, &after, &cases()[..1])
            .map_err(|problem| shown(format!("--limit {limit:?}: {problem}"), new))?;
    }
    Ok(())
}
