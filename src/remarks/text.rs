//! Remarks as lines for people.

use super::{Remark, shown};
use std::fmt::Write;

/// A line with the place, then what changed.
pub(super) fn remark(remark: &Remark<'_>) -> String {
    let Remark { record, file, position, source, .. } = remark;
    let mut out = format!("{}:{}:{}: {}", shown(file), position.line, position.column, remark.kind());
    let mut add = |text: std::fmt::Arguments<'_>| out.write_fmt(text).expect("a string can be written to");
    if !record.function.is_empty() {
        add(format_args!(" in `{}`", shown(&record.function)));
    }
    if !record.rules.is_empty() {
        add(format_args!(": {}", record.rules.join(", ")));
    }
    add(format_args!(": {}", remark.verdict()));
    if let Some((before, after)) = record.cost {
        add(format_args!("; estimated cost {before} -> {after}"));
    }
    add(format_args!("\n"));
    add(format_args!("  - {}\n", remark.before()));
    for line in &record.after {
        add(format_args!("  + {}\n", shown(line)));
    }
    for line in &record.freed {
        add(format_args!("  unread then: {}\n", shown(line)));
    }
    if let Some(place) = source {
        add(format_args!("  from {}\n", shown(&place.to_string())));
    }
    out
}
