//! A change: what was done to a statement, by which rules, why it is right, and the dataflow around it.

use super::bars::{self, Span};
use super::changes::Change;
use super::words::{MOST_OF_LINE, MOST_OF_NAME, counted, prose};
use crate::library::RemarkKind;
use crate::picture::{self, Picture, clean, cut};
use crate::remarks::{Remark, reason};
use maud::{Markup, html};
use ptxopt_passes::optimiser::Kind;
use ptxopt_passes::rules::{SWEEPS, rules};

/// A change that can be folded away. `rows` are its savings on each GPU, as parts of totals.
pub(super) fn change(change: &Change<'_>, number: usize, id: &str, rows: &[(String, Span, u64)]) -> Markup {
    let first = change.remarks[0];
    html! {
        details class="change" id=(format!("{id}-c{number}")) open[number == 0] {
            summary {
                span class="number" { (number + 1) }
                " line " (change.line) ": "
                code { (cut(&clean(&first.record.before), MOST_OF_NAME)) }
                @if let [(_, span, _)] = rows { " " span class="tag" { (span.short()) } }
            }
            @if !rows.is_empty() { (bars::table("estimate; bars are parts of the function's total", rows)) }
            ol class="steps" {
                @for remark in &change.remarks { li { (step(remark)) } }
            }
            (pictures(change))
        }
    }
}

/// One thing that was done, or was not because of a bug: by which rules, why it is right, and what it is.
pub(super) fn step(remark: &Remark<'_>) -> Markup {
    let record = remark.record;
    html! {
        dl class="step" {
            @for rule in &record.rules {
                @if let Some(law) = law(rule) {
                    dt { "Rule " code { (rule) } }
                    dd { (prose(law)) }
                }
            }
            dt { "Verdict" }
            dd {
                strong { (prose(&clean(&remark.verdict()))) }
                @if let Kind::Passed(how) = record.kind { ": " (prose(reason(how))) "." }
            }
            @if let Some(place) = &remark.source {
                dt { "From" }
                dd { code { (clean(&place.to_string())) } }
            }
            dt { "Before" }
            dd { (lines('-', std::slice::from_ref(&record.before))) }
            dt { "After" }
            dd { @if record.after.is_empty() { "deleted" } @else { (lines('+', &record.after)) } }
            @if !record.freed.is_empty() {
                dt {
                    @if RemarkKind::of(&record.kind) == RemarkKind::Passed { "Unused then" } @else { "Would be unused" }
                }
                dd { (lines('-', &record.freed)) }
            }
        }
    }
}

/// The law of a rule.
fn law(name: &str) -> Option<&'static str> {
    let rule = rules().find(|rule| rule.name == name).map(|rule| rule.law);
    rule.or_else(|| SWEEPS.iter().find(|sweep| sweep.name == name).map(|sweep| sweep.law))
}

/// Lines that went or came.
fn lines(sign: char, lines: &[String]) -> Markup {
    html! {
        pre class=(if sign == '+' { "new" } else { "old" }) {
            @for line in lines { (sign) " " (cut(&clean(line), MOST_OF_LINE)) "\n" }
        }
    }
}

fn pictures(change: &Change<'_>) -> Markup {
    let Some((before, after)) = &change.pictures else { return html! {} };
    html! {
        h4 { "Dataflow around it; costs are estimates, in machine instructions" }
        div class="pictures" {
            (figure("Before", before))
            @match after {
                Some(after) => (figure("After", after)),
                None if !change.is_left => p class="soft" { "Nothing is left in its place." },
                None => p class="soft" {
                    "What took its place was changed again, with statements around it: the lines above show the end."
                },
            }
        }
    }
}

fn figure(title: &str, picture: &Picture) -> Markup {
    let nodes = counted(picture.nodes.len(), "node");
    let what = format!("{title}: the dataflow around the change, {nodes}");
    html! {
        figure {
            figcaption {
                (title)
                @if picture.left_out > 0 { ", without " (counted(picture.left_out, "more statement")) " of the change" }
            }
            div class="scroll" tabindex="0" role="region" aria-label=(what) { (picture::inline(picture, &what)) }
            (picture::legend(picture))
        }
    }
}
