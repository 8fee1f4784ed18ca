//! Remarks as JSON: one object per line.

use super::{Place, Remark};
use ptxopt_passes::cost::Cost;
use ptxopt_passes::optimiser::{How, Kind};
use ptxopt_passes::prover::Proof;
use serde_json::{Value, json};

/// What something costs; `most` is null where there is no upper bound.
fn bounds(cost: Cost) -> Value {
    json!({ "least": cost.least, "most": Some(cost.most).filter(|&most| most != u32::MAX) })
}

fn place(place: &Place) -> Value {
    json!({ "file": place.file, "line": place.line, "column": place.column })
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
        Kind::Illegal(_) => ("illegal", None),
        Kind::Unending(_) => ("unending", None),
    };
    let why = match &record.kind {
        Kind::Passed(_) => None,
        Kind::Missed(_) | Kind::Wrong(_) | Kind::Illegal(_) | Kind::Unending(_) => Some(remark.verdict()),
    };
    let object = json!({
        "kind": remark.kind(),
        "pass": remark.pass(),
        "rules": record.rules,
        "file": remark.file,
        "line": remark.position.line,
        "column": remark.position.column,
        "source": remark.source.as_ref().map(place),
        "function": record.function,
        "before": record.before,
        "after": record.after,
        "unread": record.freed,
        "gpu": remark.gpu.map(|gpu| gpu.to_string()),
        "cost_before": record.cost.map(|(before, _)| bounds(before)),
        "cost_after": record.cost.map(|(_, after)| bounds(after)),
        "verdict": verdict,
        "conflicts": conflicts,
        "why": why,
        "seconds": record.time.as_secs_f64(),
    });
    format!("{object}\n")
}
