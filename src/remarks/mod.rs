//! Remarks: what the optimiser did at each place, and which rewrites were nearly possible.
//!
//! A record of the optimiser has an offset; a remark has the line and the column, and the line of CUDA that the
//! statement comes from, if the module names it. Remarks are written as text, as JSON, or as the optimisation records
//! of LLVM, which LLVM's viewer shows. Control characters of the input are made visible.

mod json;
mod names;
mod place;
mod reasons;
mod source;
mod text;
mod yaml;

pub(crate) use names::demangled;
pub(crate) use place::{Statements, in_its_place};
pub(crate) use reasons::reason;
pub use source::{Place, Sources};

use crate::library::{RemarkKind, verdict};
use crate::lines::Lines;
pub(crate) use crate::printable::shown;
use crate::render::Colour;
use ptxopt_grammar::diagnostic::Position;
use ptxopt_passes::optimiser::{How, Kind, Record};
use ptxopt_passes::stage_of;
use std::time::Duration;

/// The forms in which remarks are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Lines for people
    Text,
    /// One JSON object per line
    Json,
    /// LLVM's optimisation records, which opt-viewer shows
    Yaml,
}

/// A remark.
#[derive(Debug)]
pub struct Remark<'r> {
    /// The record of the optimiser.
    pub record: &'r Record,
    /// The input.
    pub file: &'r str,
    /// Where in it.
    pub position: Position,
    /// The line of CUDA that it comes from, if the module names it.
    pub source: Option<Place>,
    /// The GPUs whose costs were used, with commas between them.
    pub gpu: &'r str,
    /// How long the decision took, if that is shown.
    pub time: Option<Duration>,
}

/// How remarks are written.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// In which form.
    pub format: Format,
    /// Whether text is for a terminal.
    pub colour: Colour,
    /// Whether to show how long decisions took, which differs from run to run.
    pub times: bool,
}

/// The remarks on a module, in the order of its text.
#[must_use]
pub(crate) fn remarks<'r>(
    records: &'r [Record],
    file: &'r str,
    lines: &Lines,
    sources: &Sources,
    gpu: &'r str,
) -> Vec<Remark<'r>> {
    let mut sorted: Vec<&Record> = records.iter().collect();
    sorted.sort_by_key(|record| record.offset);
    let remark = |record: &'r Record| Remark {
        record,
        file,
        position: lines.position(record.offset),
        source: sources.at(record.offset),
        gpu,
        time: None,
    };
    sorted.into_iter().map(remark).collect()
}

/// Writes remarks. A statement that a rewrite left unused is part of the remark on that rewrite.
#[must_use]
pub fn write(remarks: &mut [Remark<'_>], view: View) -> String {
    let mut out = String::new();
    for remark in remarks.iter_mut().filter(|remark| remark.record.kind != Kind::Passed(How::Freed)) {
        remark.time = Some(remark.record.time).filter(|_| view.times);
        out.push_str(&match view.format {
            Format::Text => text::remark(remark, view.colour),
            Format::Json => json::remark(remark),
            Format::Yaml => yaml::remark(remark),
        });
    }
    out
}

impl Remark<'_> {
    /// Its kind, in one word.
    fn kind(&self) -> &'static str {
        RemarkKind::of(&self.record.kind).name()
    }

    /// The pass of the last rule.
    #[must_use]
    pub fn pass(&self) -> &'static str {
        stage_of(self.record.pass).name
    }

    /// The last rule, or why no rule was tried.
    fn name(&self) -> &'static str {
        match (&self.record.kind, self.record.rules.last()) {
            (_, Some(rule)) => rule,
            (Kind::Missed(why), None) => why.name(),
            (Kind::Unending(_), None) => "unending",
            (Kind::Passed(How::Raised { .. }), None) => "raise",
            (
                Kind::Passed(_) | Kind::Wrong(_) | Kind::Diverged(_) | Kind::Misplaced(_) | Kind::Illegal(_),
                None,
            ) => "rewrite",
        }
    }

    /// How it was checked, or why nothing was done.
    pub(crate) fn verdict(&self) -> String {
        verdict(&self.record.kind)
    }

    /// The statement before, on one line.
    #[must_use]
    pub fn before(&self) -> String {
        shown(&self.record.before)
    }

    /// Its replacement, on one line; empty if the statement was deleted.
    fn after(&self) -> String {
        shown(&self.record.after.join(" "))
    }
}
