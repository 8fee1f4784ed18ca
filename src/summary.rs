//! What a run came to: how much was saved, by what, and what was nearly possible. At most one screen.

use crate::remarks::{Remark, shown};
use ptxopt_passes::optimiser::{How, Kind, Outcome, Why};
use ptxopt_passes::pass_of;
use ptxopt_passes::prover::Proof;
use ptxopt_passes::rules::rules;
use std::collections::BTreeMap;
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
    /// The fewest and the most machine instructions that were saved.
    saved: (u64, Option<u64>),
    gpus: BTreeMap<String, u64>,
    /// How often each rule of each pass was applied.
    rules: BTreeMap<(&'static str, &'static str), u64>,
    /// For each reason, how often it kept a rewrite from being made, and where first.
    missed: BTreeMap<String, (u64, String)>,
    structural: u64,
    sat: u64,
    conflicts: u64,
    sampled: u64,
    dead: u64,
    unnamed: u64,
    wrong: u64,
    unending: u64,
    remembered: u64,
    /// How long all proofs took.
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
            saved: (0, Some(0)),
            remembered: outcome.remembered,
            ..Self::default()
        };
        tally.gpus.extend(outcome.gpu.map(|gpu| (gpu.to_string(), 1)));
        for remark in remarks {
            tally.count(remark);
        }
        tally
    }

    fn count(&mut self, remark: &Remark<'_>) {
        let record = remark.record;
        self.proofs += record.time;
        match &record.kind {
            Kind::Passed(how) => {
                self.how(*how);
                for &rule in &record.rules {
                    *self.rules.entry((pass(rule, remark), rule)).or_default() += 1;
                }
                if let Some((before, after)) = record.cost {
                    let bounded = before.most != u32::MAX;
                    self.saved.0 += u64::from(before.least.saturating_sub(after.most));
                    self.saved.1 = self
                        .saved
                        .1
                        .filter(|_| bounded)
                        .map(|most| most + u64::from(before.most.saturating_sub(after.least)));
                }
            }
            Kind::Missed(why) => self.missed(why, remark),
            Kind::Wrong(_) | Kind::Illegal(_) => self.wrong += 1,
            Kind::Unending(_) => self.unending += 1,
        }
    }

    /// Statements that became others.
    const fn rewrites(&self) -> u64 {
        self.structural + self.sat + self.sampled
    }

    fn how(&mut self, how: How) {
        match how {
            How::Proved(Proof::Structural) => self.structural += 1,
            How::Proved(Proof::Sat { conflicts }) => {
                self.sat += 1;
                self.conflicts += conflicts;
            }
            How::Sampled => self.sampled += 1,
            How::Dead => self.dead += 1,
            How::Unnamed => self.unnamed += 1,
        }
    }

    fn missed(&mut self, why: &Why, remark: &Remark<'_>) {
        let mut statement: String = remark.before().chars().take(MOST_OF_STATEMENT).collect();
        if statement.len() < remark.before().len() {
            statement.push('…');
        }
        let place = format!("{}:{}: {statement}", shown(remark.file), remark.position.line);
        let reason = self.missed.entry(shown(&why.to_string())).or_insert((0, place));
        reason.0 += 1;
    }

    /// Adds the numbers of another run.
    pub fn add(&mut self, other: Self) {
        self.saved = match self.files {
            0 => other.saved,
            _some => {
                (self.saved.0 + other.saved.0, self.saved.1.zip(other.saved.1).map(|(one, two)| one + two))
            }
        };
        self.files += other.files;
        self.changed += other.changed;
        self.statements += other.statements;
        self.rounds += other.rounds;
        self.structural += other.structural;
        self.sat += other.sat;
        self.conflicts += other.conflicts;
        self.sampled += other.sampled;
        self.dead += other.dead;
        self.unnamed += other.unnamed;
        self.wrong += other.wrong;
        self.unending += other.unending;
        self.remembered += other.remembered;
        self.proofs += other.proofs;
        for (gpu, count) in other.gpus {
            *self.gpus.entry(gpu).or_default() += count;
        }
        for (rule, count) in other.rules {
            *self.rules.entry(rule).or_default() += count;
        }
        for (why, (count, place)) in other.missed {
            self.missed.entry(why).or_insert((0, place)).0 += count;
        }
    }

    /// How many modules there were.
    #[must_use]
    pub fn files(&self) -> u64 {
        self.files
    }

    /// The summary, a few lines.
    #[must_use]
    pub fn summary(&self) -> String {
        let mut out = String::new();
        let mut add = |line: String| writeln!(out, "{line}").expect("a string can be written to");
        if self.files > 1 {
            add(format!("{} of {} files changed", self.changed, self.files));
        }
        if self.rewrites() + self.dead + self.unnamed == 0 {
            add("nothing to change".to_owned());
        } else {
            add(format!("{}, {}", self.changes(), self.savings()));
        }
        let mut rules: Vec<_> = self.rules.iter().collect();
        rules.sort_by_key(|&(rule, count)| (std::cmp::Reverse(*count), rule));
        for ((pass, rule), count) in rules.iter().take(MOST_ROWS) {
            add(format!("  {count:>5} {pass:<8} {rule}"));
        }
        more(&mut add, rules.len(), "rules");
        if self.unending > 0 {
            add("work that did not end was given up: a bug of ptxopt".to_owned());
        }
        if self.wrong > 0 {
            add(format!(
                "{} would have been wrong and not made: a bug of ptxopt",
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
        out
    }

    fn changes(&self) -> String {
        match (self.rewrites(), self.dead) {
            (0, 0) => counted(self.unnamed, "declaration") + " emptied",
            (rewrites, 0) => counted(rewrites, "statement") + " rewritten",
            (0, dead) => counted(dead, "statement") + " deleted",
            (rewrites, dead) => format!("{} rewritten, {dead} deleted", counted(rewrites, "statement")),
        }
    }

    fn savings(&self) -> String {
        let gpus: Vec<&str> = self.gpus.keys().map(String::as_str).collect();
        let on = match gpus.as_slice() {
            [] => String::new(),
            [gpu] => format!(" on {gpu}"),
            several => format!(" on {} GPUs", several.len()),
        };
        let (least, most) = self.saved;
        match most {
            Some(most) if most == least => format!("{} fewer{on}", counted(least, "machine instruction")),
            Some(most) => format!("{least} to {most} machine instructions fewer{on}"),
            None => format!("at least {} fewer{on}", counted(least, "machine instruction")),
        }
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
        add(self.unnamed, "declarations emptied or shortened");
        add(self.structural, "proofs by structure");
        add(self.sat, "proofs by search");
        add(self.conflicts, "conflicts in them");
        add(self.sampled, "sampled, not proved");
        add(self.remembered, "questions answered from memory");
        add(self.wrong, "wrong rewrites, not made");
        add(self.unending, "times that work did not end");
        out
    }
}

/// The pass that a rule belongs to; what is no rule belongs to the pass of its remark.
fn pass(name: &str, remark: &Remark<'_>) -> &'static str {
    rules().find(|rule| rule.name == name).map_or_else(|| remark.pass(), |rule| pass_of(rule.pass).name)
}

fn more(add: &mut impl FnMut(String), count: usize, what: &str) {
    if count > MOST_ROWS {
        add(format!("        and {} more {what}", count - MOST_ROWS));
    }
}

fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
