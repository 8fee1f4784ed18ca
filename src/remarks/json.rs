//! Remarks as JSON: one object per line.

use super::{Place, Remark};
use ptxopt_passes::cost::Cost;
use ptxopt_passes::optimiser::{How, Kind};
use ptxopt_passes::prover::Proof;
use serde::Serialize;

#[derive(Serialize)]
struct Object<'r> {
    kind: &'static str,
    pass: &'static str,
    rules: &'r [&'static str],
    file: &'r str,
    line: usize,
    column: usize,
    source: &'r Option<Place>,
    function: &'r str,
    before: &'r str,
    after: &'r [String],
    unread: &'r [String],
    gpu: Option<String>,
    cost_before: Option<Bounds>,
    cost_after: Option<Bounds>,
    verdict: &'static str,
    conflicts: Option<u64>,
    why: Option<String>,
    seconds: f64,
}

/// What something costs; `most` is null where there is no upper bound.
#[derive(Serialize)]
struct Bounds {
    least: u32,
    most: Option<u32>,
}

impl From<Cost> for Bounds {
    fn from(cost: Cost) -> Self {
        Self { least: cost.least, most: Some(cost.most).filter(|&most| most != u32::MAX) }
    }
}

/// The object and a line feed.
pub(super) fn remark(remark: &Remark<'_>) -> String {
    let record = remark.record;
    let (verdict, conflicts) = match &record.kind {
        Kind::Passed(How::Proved(Proof::Structural)) => ("structural", None),
        Kind::Passed(How::Proved(Proof::Sat { conflicts })) => ("sat", Some(*conflicts)),
        Kind::Passed(How::Sampled) => ("sampled", None),
        Kind::Passed(How::Dead) => ("dead", None),
        Kind::Passed(How::Unnamed) => ("unnamed", None),
        Kind::Missed(why) => (why.name(), None),
        Kind::Wrong(_) => ("wrong", None),
        Kind::Unending(_) => ("unending", None),
    };
    let why = match &record.kind {
        Kind::Passed(_) => None,
        Kind::Missed(_) | Kind::Wrong(_) | Kind::Unending(_) => Some(remark.verdict()),
    };
    let object = Object {
        kind: remark.kind(),
        pass: remark.pass(),
        rules: &record.rules,
        file: remark.file,
        line: remark.position.line,
        column: remark.position.column,
        source: &remark.source,
        function: &record.function,
        before: &record.before,
        after: &record.after,
        unread: &record.freed,
        gpu: remark.gpu.map(|gpu| gpu.to_string()),
        cost_before: record.cost.map(|(before, _)| before.into()),
        cost_after: record.cost.map(|(_, after)| after.into()),
        verdict,
        conflicts,
        why,
        seconds: record.time.as_secs_f64(),
    };
    serde_json::to_string(&object).expect("strings and numbers can be written as JSON") + "\n"
}
