//! Remarks as text: a few lines for each rewrite, with the statements that became unused.

use super::names::demangled;
use super::{Remark, shown};
use crate::render::Colour;
use crate::render::style::{BOLD, CYAN, GREEN, RED, YELLOW};
use std::fmt::Write;

/// A line with the place, then what changed.
pub(super) fn remark(remark: &Remark<'_>, colour: Colour) -> String {
    let Remark { record, file, position, source, .. } = remark;
    let place = format!("{}:{}:{}:", shown(file), position.line, position.column);
    let style = match remark.kind() {
        "passed" => GREEN,
        "missed" => YELLOW,
        "analysis" => CYAN,
        _ => RED,
    };
    let mut out = format!("{} {}", colour.paint(BOLD, &place), colour.paint(style, remark.kind()));
    let mut add = |text: std::fmt::Arguments<'_>| out.write_fmt(text).expect("a string can be written to");
    if !record.function.is_empty() {
        let name = demangled(&record.function).unwrap_or_else(|| record.function.clone());
        add(format_args!(" in `{}`", shown(&name)));
    }
    if !record.rules.is_empty() {
        add(format_args!(": {}", record.rules.join(", ")));
    }
    add(format_args!(": {}", remark.verdict()));
    if let Some((before, after)) = record.cost {
        add(format_args!("; estimated cost {before} -> {after}"));
    }
    add(format_args!("\n"));
    add(format_args!("{}\n", colour.paint(RED, &format!("  - {}", remark.before()))));
    for line in &record.after {
        add(format_args!("{}\n", colour.paint(GREEN, &format!("  + {}", shown(line)))));
    }
    let freed = if remark.kind() == "passed" { "freed" } else { "would be freed" };
    for line in &record.freed {
        add(format_args!("  {freed}: {}\n", colour.paint(RED, &shown(line))));
    }
    if let Some(place) = source {
        add(format_args!("  from {}\n", shown(&place.to_string())));
    }
    out
}
