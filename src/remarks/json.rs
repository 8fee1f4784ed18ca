//! Remarks as JSON: one object per line.

use super::{Place, Remark};
use ptxopt_passes::cost::Cost;
use ptxopt_passes::optimiser::{How, Kind};
use ptxopt_prover::Proof;
use serde_json::{Value, json};

/// The bounds of a cost; `most` is null where there is no upper bound.
fn bounds(cost: Cost) -> Value {
    json!({ "least": cost.least, "most": Some(cost.most).filter(|&most| most != u32::MAX) })
}

fn place(place: &Place) -> Value {
    json!({ "file": place.file, "line": place.line, "column": place.column })
}

/// The object and a line feed.
pub(super) fn remark(remark: &Remark<'_>) -> String {
    let record = remark.record;
    let verdict = match &record.kind {
        Kind::Passed(how) => how.to_string(),
        Kind::Missed(why) => why.name().to_owned(),
        Kind::Wrong(_) => "wrong".to_owned(),
        Kind::Diverged(_) => "diverged".to_owned(),
        Kind::Misplaced(_) => "misplaced".to_owned(),
        Kind::Illegal(_) => "illegal".to_owned(),
        Kind::Unending(_) => "unending".to_owned(),
    };
    let conflicts = match &record.kind {
        Kind::Passed(How::Proved(Proof::Sat { conflicts })) => Some(*conflicts),
        Kind::Passed(_)
        | Kind::Missed(_)
        | Kind::Wrong(_)
        | Kind::Diverged(_)
        | Kind::Misplaced(_)
        | Kind::Illegal(_)
        | Kind::Unending(_) => None,
    };
    let why = match &record.kind {
        Kind::Passed(_) => None,
        Kind::Missed(_)
        | Kind::Wrong(_)
        | Kind::Diverged(_)
        | Kind::Misplaced(_)
        | Kind::Illegal(_)
        | Kind::Unending(_) => Some(remark.verdict()),
    };
    let mut object = json!({
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
        "freed": record.freed,
        "gpu": Some(remark.gpu).filter(|gpu| !gpu.is_empty()),
        "estimated_before": record.cost.map(|(before, _)| bounds(before)),
        "estimated_after": record.cost.map(|(_, after)| bounds(after)),
        "verdict": verdict,
        "conflicts": conflicts,
        "why": why,
    });
    if let Some(time) = remark.time {
        object["seconds"] = json!(time.as_secs_f64());
    }
    format!("{object}\n")
}
