//! The summary of a run: how much was saved, by which rules, and which rewrites were nearly possible. At most one
//! screen.

use crate::measure::accuracy;
use crate::remarks::{Remark, shown};
use ptxopt_passes::optimiser::{Estimate, How, Kind, Outcome, Replayed, Seen, Why};
use ptxopt_passes::rules::rules;
use ptxopt_passes::stage_of;
use ptxopt_prover::Proof;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::time::Duration;

/// How many rules, and how many reasons, are listed.
const MOST_ROWS: usize = 8;
/// How many characters of a statement are shown.
const MOST_OF_STATEMENT: usize = 60;

/// Numbers of one run or of several together.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    files: u64,
    changed: u64,
    statements: u64,
    rounds: u64,
    /// Machine instructions saved, estimated from the cost tables.
    estimate: Estimate,
    /// Machine instructions before and after, where they were counted.
    counted: Option<(u64, u64)>,
    gpus: BTreeMap<String, u64>,
    /// How often each rule of each pass was applied.
    rules: BTreeMap<(&'static str, &'static str), u64>,
    /// For each reason, how often it prevented a rewrite, and the first place.
    missed: BTreeMap<String, (u64, String)>,
    /// For each reason to leave an instruction unchanged, how often it applied.
    stays: BTreeMap<String, u64>,
    seen: Seen,
    structural: u64,
    parts: u64,
    sat: u64,
    conflicts: u64,
    sampled: u64,
    raised: BTreeMap<(String, String), u64>,
    /// By options: how many more machine instructions it would save, estimated, and in how many files.
    raise: BTreeMap<String, (u64, u64)>,
    priced_like: BTreeSet<String>,
    dead: u64,
    unnamed: u64,
    wrong: u64,
    unending: u64,
    remembered: u64,
    replayed: Replayed,
    /// How long all proofs took, those that failed included.
    pub proofs: Duration,
}

impl Tally {
    /// The numbers of one module.
    #[must_use]
    pub fn of(outcome: &Outcome, remarks: &[Remark<'_>], statements: usize) -> Self {
        let mut tally = Self {
            files: 1,
            changed: u64::from(outcome.text.is_some()),
            statements: statements as u64,
            rounds: u64::from(outcome.rounds),
            estimate: outcome.estimate(),
            remembered: outcome.remembered,
            proofs: outcome.proving,
            replayed: outcome.replayed,
            seen: outcome.seen,
            ..Self::default()
        };
        let gpus: Vec<String> = outcome.gpus.iter().map(ToString::to_string).collect();
        let together = if gpus.len() > 1 { " together" } else { "" };
        tally.gpus.extend((!gpus.is_empty()).then(|| (gpus.join(" and ") + together, 1)));
        for remark in remarks {
            tally.count(remark);
        }
        tally
    }

    fn count(&mut self, remark: &Remark<'_>) {
        let record = remark.record;
        match &record.kind {
            Kind::Passed(how @ How::Raised { .. }) => {
                let after = remark.record.after.join(" ");
                let after = format!("`{}`: {how}", shown(&after));
                *self.raised.entry((shown(&record.before), after)).or_default() += 1;
            }
            Kind::Missed(Why::Raise { options, saved }) => {
                let (all, files) = self.raise.entry(options.clone()).or_default();
                *all += saved;
                *files += 1;
            }
            Kind::Missed(why @ Why::PricedLike { .. }) => {
                self.priced_like.insert(why.to_string());
            }
            Kind::Passed(how) => {
                self.how(*how);
                for &rule in &record.rules {
                    *self.rules.entry((pass(rule, remark), rule)).or_default() += 1;
                }
            }
            Kind::Missed(why) => self.missed(why, remark),
            Kind::Wrong(_) | Kind::Diverged(_) | Kind::Misplaced(_) | Kind::Illegal(_) => self.wrong += 1,
            Kind::Unending(_) => self.unending += 1,
        }
    }

    /// The number of statements that were replaced.
    const fn rewrites(&self) -> u64 {
        self.structural + self.parts + self.sat + self.sampled
    }

    fn how(&mut self, how: How) {
        match how {
            How::Proved(Proof::Structural) => self.structural += 1,
            How::Proved(Proof::Parts) => self.parts += 1,
            How::Proved(Proof::Sat { conflicts }) => {
                self.sat += 1;
                self.conflicts += conflicts;
            }
            How::Sampled => self.sampled += 1,
            How::Dead | How::Freed => self.dead += 1,
            How::Unnamed => self.unnamed += 1,
            How::Halved | How::Carried | How::Words | How::Moved | How::Raised { .. } => {}
        }
    }

    fn missed(&mut self, why: &Why, remark: &Remark<'_>) {
        if !why.is_near() {
            *self.stays.entry(shown(&why.to_string())).or_default() += 1;
            return;
        }
        let mut statement: String = remark.before().chars().take(MOST_OF_STATEMENT).collect();
        if statement.len() < remark.before().len() {
            statement.push('…');
        }
        let place = format!("{}:{}: {statement}", shown(remark.file), remark.position.line);
        let reason = self.missed.entry(shown(&why.to_string())).or_insert((0, place));
        reason.0 += 1;
    }

    /// Adds the numbers of machine instructions before and after, as one assembler counted them.
    pub fn measured(&mut self, instructions: (u64, u64)) {
        let (before, after) = self.counted.unwrap_or_default();
        self.counted = Some((before + instructions.0, after + instructions.1));
    }

    /// Adds the numbers of another run.
    pub fn add(&mut self, other: Self) {
        self.estimate.saved += other.estimate.saved;
        self.estimate.of += other.estimate.of;
        self.counted = match (self.counted, other.counted) {
            (Some(one), Some(two)) => Some((one.0 + two.0, one.1 + two.1)),
            (one, two) => one.or(two),
        };
        self.files += other.files;
        self.changed += other.changed;
        self.statements += other.statements;
        self.rounds += other.rounds;
        self.structural += other.structural;
        self.parts += other.parts;
        self.sat += other.sat;
        self.conflicts += other.conflicts;
        self.sampled += other.sampled;
        self.dead += other.dead;
        self.unnamed += other.unnamed;
        self.wrong += other.wrong;
        self.unending += other.unending;
        self.remembered += other.remembered;
        self.replayed.functions += other.replayed.functions;
        self.replayed.reached += other.replayed.reached;
        self.replayed.changed += other.replayed.changed;
        self.replayed.time += other.replayed.time;
        self.proofs += other.proofs;
        for (head, count) in other.raised {
            *self.raised.entry(head).or_default() += count;
        }
        for (options, (saved, files)) in other.raise {
            let (all, known) = self.raise.entry(options).or_default();
            *all += saved;
            *known += files;
        }
        self.priced_like.extend(other.priced_like);
        for (gpu, count) in other.gpus {
            *self.gpus.entry(gpu).or_default() += count;
        }
        for (rule, count) in other.rules {
            *self.rules.entry(rule).or_default() += count;
        }
        for (why, (count, place)) in other.missed {
            self.missed.entry(why).or_insert((0, place)).0 += count;
        }
        for (why, count) in other.stays {
            *self.stays.entry(why).or_default() += count;
        }
        self.seen.functions += other.seen.functions;
        self.seen.video += other.seen.video;
        self.seen.bytes += other.seen.bytes;
    }

    /// How long replays took.
    #[must_use]
    pub fn replays(&self) -> Duration {
        self.replayed.time
    }

    /// How many modules there were.
    #[must_use]
    pub fn files(&self) -> u64 {
        self.files
    }

    /// The summary, a few lines; `assembler` is the release of the assembler that counted, if one did.
    #[must_use]
    pub fn summary(&self, assembler: Option<&str>) -> String {
        let mut out = String::new();
        let mut add = |line: String| writeln!(out, "{line}").expect("a string can be written to");
        if self.files > 1 {
            add(format!("{} of {} files changed", self.changed, self.files));
        }
        add(self.headline(assembler));
        let mut rules: Vec<_> = self.rules.iter().collect();
        rules.sort_by_key(|&(rule, count)| (std::cmp::Reverse(*count), rule));
        for ((pass, rule), count) in rules.iter().take(MOST_ROWS) {
            add(format!("  {count:>5} {pass:<8} {rule}"));
        }
        more(&mut add, rules.len(), "rules");
        for ((before, after), count) in self.raised.iter().take(MOST_ROWS) {
            let files =
                if self.files > 1 { format!(" in {}", counted(*count, "file")) } else { String::new() };
            add(format!("raised{files}: `{before}` became {after}"));
        }
        more(&mut add, self.raised.len(), "heads");
        for (options, (saved, files)) in &self.raise {
            let files =
                if self.files > 1 { format!(" in {}", counted(*files, "file")) } else { String::new() };
            add(format!(
                "with `{options}`, about {saved} more machine instructions would be saved{files} (estimate)"
            ));
        }
        for why in self.priced_like.iter().take(MOST_ROWS) {
            add(why.clone());
        }
        if self.unending > 0 {
            add("rewriting did not terminate and was stopped: a bug of ptxopt".to_owned());
        }
        if self.wrong > 0 {
            add(format!(
                "{} found to be wrong and not made: a bug of ptxopt",
                counted(self.wrong, "rewrite")
            ));
        }
        let mut missed: Vec<_> = self.missed.iter().collect();
        missed.sort_by_key(|&(why, (count, _))| (std::cmp::Reverse(*count), why));
        if !missed.is_empty() {
            add("nearly possible:".to_owned());
        }
        for (why, (count, place)) in missed.iter().take(MOST_ROWS) {
            add(format!("  {count:>5} {why}"));
            add(format!("        {place}"));
        }
        more(&mut add, missed.len(), "reasons");
        if !self.stays.is_empty() {
            add("left unchanged:".to_owned());
        }
        for (why, count) in &self.stays {
            add(format!("  {count:>5} {why}"));
        }
        if self.counted.is_none() && self.estimate.of > 0 {
            add(accuracy::sentence());
        }
        out
    }

    /// The most important line: what changed and what that saves, or why nothing did.
    #[must_use]
    pub fn headline(&self, assembler: Option<&str>) -> String {
        if self.rewrites() + self.dead + self.unnamed == 0 {
            self.nothing()
        } else {
            format!("{}: {}", self.changes(), self.savings(assembler))
        }
    }

    /// The line for a run that changed nothing, with the reason, unless single statements have reasons of their own.
    fn nothing(&self) -> String {
        let Seen { functions, video, bytes } = self.seen;
        let within = format!("in {}", counted(functions, "function"));
        let seen = [(video, "video instruction"), (bytes, "byte-wise instruction")];
        let seen: Vec<String> =
            seen.iter().filter(|(count, _)| *count > 0).map(|&(count, what)| counted(count, what)).collect();
        match (seen.join(" and "), self.rounds, self.missed.is_empty()) {
            (none, ..) if none.is_empty() => {
                format!("nothing to change: no video instructions and no byte-wise code {within}")
            }
            (_, 0, true) => "nothing changed: no pass was run".to_owned(),
            (seen, _, true) => format!("nothing to change: nothing cheaper is known for {seen} {within}"),
            (seen, _, false) => format!("nothing changed among {seen} {within}"),
        }
    }

    fn changes(&self) -> String {
        match (self.rewrites(), self.dead) {
            (0, 0) => counted(self.unnamed, "declaration") + " emptied",
            (rewrites, 0) => counted(rewrites, "statement") + " rewritten",
            (0, dead) => counted(dead, "statement") + " deleted",
            (rewrites, dead) => format!("{} rewritten, {dead} deleted", counted(rewrites, "statement")),
        }
    }

    fn savings(&self, assembler: Option<&str>) -> String {
        let gpus: Vec<&str> = self.gpus.keys().map(String::as_str).collect();
        let on = match gpus.as_slice() {
            [] => String::new(),
            [gpu] => format!(" on {gpu}"),
            several => format!(" on {} GPUs", several.len()),
        };
        if let (Some((before, after)), Some(release)) = (self.counted, assembler) {
            return format!("{before} machine instructions became {after}{on} (counted by ptxas {release})");
        }
        let Estimate { saved, of } = self.estimate;
        format!("about {saved} of their {of} machine instructions saved{on} (estimate)")
    }

    /// All numbers, for `--stats`.
    #[must_use]
    pub fn stats(&self) -> String {
        let mut out = String::new();
        let mut add = |count: u64, what: &str| {
            writeln!(out, "{count:>8} {what}").expect("a string can be written to");
        };
        add(self.files, "files");
        add(self.statements, "statements");
        add(self.rounds, "rounds");
        add(self.rewrites(), "rewrites");
        for ((pass, rule), &count) in &self.rules {
            add(count, &format!("by {pass}/{rule}"));
        }
        for (why, (count, _)) in &self.missed {
            add(*count, &format!("missed: {why}"));
        }
        for (why, &count) in &self.stays {
            add(count, &format!("left: {why}"));
        }
        add(self.unnamed, "declarations emptied or shortened");
        add(self.structural, "proved (structural)");
        add(self.parts, "proved (by parts)");
        add(self.sat, "proved (sat)");
        add(self.conflicts, "conflicts in proofs (sat)");
        add(self.sampled, "sampled, not proved");
        add(self.remembered, "proofs reused");
        add(self.replayed.functions, "functions replayed");
        add(self.replayed.changed, "changed statements in replayed functions");
        add(self.replayed.reached, "of these executed by a replay");
        add(self.wrong, "wrong rewrites, not made");
        add(self.unending, "times that rewriting did not terminate");
        out
    }
}

/// The pass of a rule; for a name that is not a rule, the pass of its remark.
fn pass(name: &str, remark: &Remark<'_>) -> &'static str {
    rules().find(|rule| rule.name == name).map_or_else(|| remark.pass(), |rule| stage_of(rule.pass).name)
}

fn more(add: &mut impl FnMut(String), count: usize, what: &str) {
    if count > MOST_ROWS {
        add(format!("        and {} more {what}", count - MOST_ROWS));
    }
}

fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
