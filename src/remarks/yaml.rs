//! Remarks as LLVM's optimisation records, which opt-viewer shows beside the PTX.
//!
//! A viewer joins the values of `Args` to a sentence, so all of them are strings. Strings are in single quotes, as LLVM
//! writes them: LLVM's reader removes no other quotes. It also requires a function, so a remark on a whole module names
//! `<module>`.

use super::{Remark, shown};
use ptxopt_passes::optimiser::Kind;
use std::fmt::Write;

/// One document.
pub(super) fn remark(remark: &Remark<'_>) -> String {
    let record = remark.record;
    let tag = match remark.kind() {
        "passed" => "Passed",
        "analysis" => "Analysis",
        "missed" => "Missed",
        _ => "Failure",
    };
    let mut out = String::new();
    let function = if record.function.is_empty() { "<module>" } else { &record.function };
    let head = [
        format!("--- !{tag}"),
        format!("Pass:            {}", quoted(&format!("ptxopt-{}", remark.pass()))),
        format!("Name:            {}", quoted(remark.name())),
        format!(
            "DebugLoc:        {{ File: {}, Line: {}, Column: {} }}",
            quoted(remark.file),
            remark.position.line,
            remark.position.column
        ),
        format!("Function:        {}", quoted(function)),
        "Args:".to_owned(),
    ];
    for line in head {
        writeln!(out, "{line}").expect("a string can be written to");
    }
    for (key, value) in arguments(remark) {
        writeln!(out, "  - {:<16} {}", format!("{key}:"), quoted(&value))
            .expect("a string can be written to");
    }
    out + "...\n"
}

fn arguments(remark: &Remark<'_>) -> Vec<(&'static str, String)> {
    let record = remark.record;
    let mut all = vec![("Before", remark.before())];
    let mut say = |key, before: &str, value: String| {
        all.push(("String", before.to_owned()));
        all.push((key, value));
    };
    if !record.after.is_empty() {
        say("After", " -> ", remark.after());
    }
    let key = match &record.kind {
        Kind::Passed(_) => "Verdict",
        Kind::Missed(_)
        | Kind::Wrong(_)
        | Kind::Diverged(_)
        | Kind::Misplaced(_)
        | Kind::Illegal(_)
        | Kind::Unending(_) => "Why",
    };
    say(key, ": ", remark.verdict());
    if let Some((before, after)) = record.cost {
        say("EstimatedBefore", "; estimated cost ", before.to_string());
        say("EstimatedAfter", " -> ", after.to_string());
    }
    if !remark.gpu.is_empty() && record.cost.is_some() {
        say("GPU", " on ", remark.gpu.to_owned());
    }
    if !record.rules.is_empty() {
        say("Rules", "; by ", record.rules.join(", "));
    }
    if !record.freed.is_empty() {
        say("Freed", "; freed: ", shown(&record.freed.join(" ")));
    }
    if let Some(place) = &remark.source {
        say("Source", "; from ", place.to_string());
    }
    if let Some(time) = remark.time {
        say("Time", "; decided in ", format!("{time:.1?}"));
    }
    all
}

/// A string in single quotes, of characters that YAML allows there: a quote is written twice, nothing else is special.
fn quoted(text: &str) -> String {
    let allowed =
        |c: char| if matches!(c, '\u{fffe}' | '\u{ffff}') { char::REPLACEMENT_CHARACTER } else { c };
    let text: String = shown(text).chars().map(allowed).collect();
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_quoted_as_llvm_does_it() {
        for (text, written) in [
            ("", "''"),
            ("a: \"b\" # {c}", "'a: \"b\" # {c}'"),
            ("it's", "'it''s'"),
            ("back\\slash", "'back\\slash'"),
            ("caf\u{e9}", "'caf\u{e9}'"),
            ("a\nb\tc\u{7f}", "'a\u{240a}b\u{2409}c\u{2421}'"),
            ("\u{85}\u{fffe}", "'\u{fffd}\u{fffd}'"),
        ] {
            assert_eq!(quoted(text), written);
        }
    }
}
