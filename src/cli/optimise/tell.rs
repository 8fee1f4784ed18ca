//! What a run prints: the messages about each input in the order of the command line, then the totals.

use super::job::{News, Report, Times};
use super::{Aside, Plan};
use crate::cli::progress::Progress;
use crate::cli::{Console, Failure, Status};
use crate::output::to_stdout;
use crate::report::{self, Chapter};
use crate::summary::Tally;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::mpsc;

/// Totals over the inputs.
#[derive(Default)]
struct Total {
    worst: Option<Status>,
    tally: Tally,
    times: Times,
    remarks: String,
    chapters: Vec<Chapter>,
}

/// Prints the reports in the order of the inputs, and returns the worst status.
pub(super) fn tell(
    reports: &mpsc::Receiver<(usize, Report)>,
    plan: &Plan,
    aside: Aside,
    console: &Console,
) -> Status {
    let mut progress = Progress::new(plan.jobs.len());
    let mut waiting = BTreeMap::new();
    let mut next = 0;
    let mut total = Total::default();
    for (index, report) in reports {
        progress.advance();
        waiting.insert(index, report);
        while let Some(report) = waiting.remove(&next) {
            progress.aside(|| total.one(report, plan, console));
            next += 1;
        }
    }
    drop(progress);
    total.end(plan, aside, console);
    total.worst.unwrap_or(Status::Done)
}

impl Total {
    fn worsen(&mut self, status: Status) {
        self.worst = self.worst.max(Some(status));
    }

    fn failed(&mut self, failure: &Failure, console: &Console) {
        console.say(&failure.message);
        self.worsen(failure.status);
    }

    fn one(&mut self, report: Report, plan: &Plan, console: &Console) {
        let News { read, written, statements, times, tally, told } = match report.result {
            Ok(news) => news,
            Err(failure) => return self.failed(&failure, console),
        };
        let Times { reading, parsing, passes, assembling, writing } = times;
        let (input, all) = (&report.input, reading + parsing + passes + assembling + writing);
        log::info!("`{input}`: {read} bytes, {statements} statements, {written} bytes written in {all:.1?}");
        log::debug!(
            "reading {reading:.1?}, parsing {parsing:.1?}, passes {passes:.1?}, assembling {assembling:.1?}, \
             writing {writing:.1?}"
        );
        console.say(&told.warnings);
        console.say_bytes(&told.rounds);
        if !told.bugs.is_empty() {
            console.say(&told.bugs);
            self.worsen(Status::Bug);
        }
        if plan.leaves_stdout() {
            let shown = to_stdout(|out| out.write_all(&told.diff));
            if let Err(error) = shown {
                self.failed(&Failure::writing(console, "<stdout>", &error), console);
            }
        } else {
            console.say_bytes(&told.diff);
        }
        if !told.differs.is_empty() {
            console.say(&told.differs);
            self.worsen(Status::Invalid);
        }
        console.say(&told.measured);
        match plan.show.remarks_output {
            None => console.say(&told.remarks),
            Some(_) => self.remarks.push_str(&told.remarks),
        }
        self.chapters.extend(told.chapter);
        self.times.add(times);
        self.tally.add(tally);
    }

    fn end(&mut self, plan: &Plan, Aside { remarks, report }: Aside, console: &Console) {
        if let (Some(output), Some(remarks)) = (&plan.show.remarks_output, remarks)
            && let Err(error) = remarks.write(std::iter::once(self.remarks.as_bytes()))
        {
            self.failed(&Failure::writing(console, output, &error), console);
        }
        // Of inputs that all failed there is nothing to show, and an earlier page stays.
        if let (Some(output), Some(report), false) = (&plan.show.report, report, self.chapters.is_empty())
            && let Err(error) = report.write(std::iter::once(report::page(&self.chapters).as_bytes()))
        {
            self.failed(&Failure::writing(console, output, &error), console);
        }
        if self.tally.files() == 0 {
            return;
        }
        if plan.show.stats {
            console.say(&self.tally.stats());
        }
        if plan.show.time {
            console.say(&self.times.text(&self.tally));
        }
        if console.summary {
            let release = plan.assembling.as_ref().map(|assembling| assembling.assembler.release());
            console.say(&self.tally.summary(release));
        }
    }
}

impl Times {
    fn add(&mut self, other: Self) {
        self.reading += other.reading;
        self.parsing += other.parsing;
        self.passes += other.passes;
        self.assembling += other.assembling;
        self.writing += other.writing;
    }

    /// One line per phase: the sum over all inputs, also if they were processed at the same time.
    fn text(&self, tally: &Tally) -> String {
        let mut out = String::new();
        let phases = [
            (self.reading, "reading"),
            (self.parsing, "parsing"),
            (self.passes, "passes"),
            (tally.proofs, "proofs, part of passes"),
            (tally.replays(), "replays, part of passes"),
            (self.assembling, "assembling"),
            (self.writing, "writing"),
        ];
        let asked = |phase: &str| phase != "assembling" || !self.assembling.is_zero();
        for (time, phase) in phases.into_iter().filter(|(_, phase)| asked(phase)) {
            let milliseconds = time.as_secs_f64() * 1e3;
            writeln!(out, "{milliseconds:>9.2} ms {phase}").expect("a string can be written to");
        }
        out
    }
}
