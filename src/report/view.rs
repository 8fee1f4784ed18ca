//! The page itself: what is written of each module, function and change.

use super::changes::{self, Budget, Change, Changed};
use super::{Chapter, Subject};
use crate::diff::Row;
use crate::library::RemarkKind;
use crate::measure::{Comparison, Function, accuracy};
use crate::picture::{self, STYLE, clean, cut, decoded, variables};
use crate::remarks::{Remark, demangled, reason};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use ptxopt_passes::optimiser::{Estimate, How, Kind, Replayed};
use ptxopt_passes::rules::{SWEEPS, rules};
use std::collections::BTreeMap;

/// How many characters of a line, and of a name, are shown.
const MOST_OF_LINE: usize = 240;
const MOST_OF_NAME: usize = 160;
/// How many reasons are listed, and how many places of each.
const MOST_REASONS: usize = 12;
const MOST_PLACES: usize = 3;

/// What the parts of a bar mean.
const KEY: &str = "After (solid), saved (hatched)";

const SHEET: &str = include_str!("report.css");

/// The whole page.
pub(super) fn page(chapters: &[Chapter]) -> String {
    let title = match chapters {
        [one] => format!("{} · ptxopt", name(&one.name)),
        several => format!("{} modules · ptxopt", several.len()),
    };
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="generator" content=(format!("ptxopt {}", env!("CARGO_PKG_VERSION")));
                title { (title) }
                style { (PreEscaped(variables())) (PreEscaped(SHEET)) (PreEscaped(STYLE)) }
            }
            body {
                @if chapters.len() > 1 {
                    header { h1 { "ptxopt: " (chapters.len()) " modules" } }
                    nav aria-label="Modules" {
                        ul {
                            @for (at, chapter) in chapters.iter().enumerate() {
                                li { a href=(format!("#m{at}")) { (name(&chapter.name)) } " " span class="soft" { (chapter.headline) } }
                            }
                        }
                    }
                }
                main {
                    @for (at, chapter) in chapters.iter().enumerate() {
                        article id=(format!("m{at}")) { (numbered(&chapter.body, at)) }
                    }
                }
                footer { p class="soft" { "Written by ptxopt " (env!("CARGO_PKG_VERSION")) ". " code { "ptxopt explain RULE" } " says more about a rule." } }
            }
        }
    };
    page.into_string() + "\n"
}

/// Names within a chapter begin with a mark that no text of the input contains, since control characters are replaced.
const MARK: &str = "\u{1}";

/// A chapter with the names in it made different from those of others.
fn numbered(body: &Markup, at: usize) -> Markup {
    PreEscaped(body.0.replace(MARK, &format!("m{at}-")))
}

/// The name of an input or of a function.
fn name(name: &str) -> String {
    cut(&clean(name), MOST_OF_NAME)
}

/// The part about one module.
pub(super) fn module(subject: &Subject<'_>, budget: Budget) -> Markup {
    let Subject { outcome, remarks, tally, .. } = subject;
    let release = subject.counted.map(|(_, release)| release);
    let new = outcome.text.as_deref().map(|text| {
        ptxopt_grammar::parse(text).expect("what is written was parsed when it was proved and replayed")
    });
    let (functions, left_out) = new.as_ref().map_or((Vec::new(), 0), |new| {
        changes::changed((subject.module, new), remarks, &outcome.gpus, budget)
    });
    let view = View { subject };
    html! {
        header {
            h1 { "ptxopt: " (name(subject.name)) }
            p class="headline" { (prose(&tally.headline(release))) }
            (view.facts())
        }
        (view.savings())
        @if new.is_none() {
            p class="nothing" {
                "The output is the input, byte for byte."
                @if remarks.iter().any(|remark| matches!(remark.record.kind, Kind::Missed(_))) {
                    " Below are the statements that were looked at, and why each stays as it was."
                }
            }
        }
        @if functions.len() + left_out > 1 { (view.contents(&functions, left_out)) }
        @let head = changes::outside(remarks);
        @if !head.is_empty() {
            section {
                h2 { "The head of the module" }
                ul class="steps" { @for remark in head { li { (step(remark)) } } }
            }
        }
        @for (at, function) in functions.iter().enumerate() { (view.function(function, at)) }
        @if left_out > 0 {
            p class="left-out" { (counted(left_out, "more changed function")) " not shown here: " code { "--diff" } " and " code { "--remarks" } " show everything." }
        }
        (view.bugs())
        (view.stays())
    }
}

struct View<'s> {
    subject: &'s Subject<'s>,
}

impl View<'_> {
    /// What the numbers on the page are about.
    fn facts(&self) -> Markup {
        let Subject { name: input, output, outcome, counted: counts, .. } = self.subject;
        let gpus: Vec<String> = outcome.gpus.iter().map(ToString::to_string).collect();
        let Replayed { functions, reached, changed, .. } = outcome.replayed;
        let proved =
            self.subject.remarks.iter().all(|remark| remark.record.kind != Kind::Passed(How::Sampled));
        html! {
            dl class="facts" {
                dt { "Input" } dd { code { (name(input)) } }
                dt { "Output" } dd { code { (name(output)) } }
                dt { "GPU" } dd { @if gpus.is_empty() { "unknown" } @else { (gpus.join(", ")) } }
                @if counts.is_some() || outcome.estimate().of > 0 {
                    dt { "Numbers" }
                    dd {
                    @match counts {
                        Some((_, release)) => {
                            strong { "Counted" } " by NVIDIA's assembler, ptxas " (release) ", function by function. "
                            "What a single change saves is an estimate."
                        }
                        None => {
                            strong { "Estimates" } ", from the cost of each instruction by itself. "
                            (accuracy::sentence()) " " code { "--measure" } " counts."
                        }
                    }
                    }
                }
                @if functions > 0 {
                    dt { "Replay" }
                    dd {
                        (counted(functions, "changed function")) " run before and after on the same inputs: the same bytes were "
                        "written. These runs came to " (reached) " of " (changed) " changed statements"
                        @if proved { "; the proofs hold for all inputs" } "."
                    }
                }
            }
        }
    }

    /// What all changes save, on each GPU.
    fn savings(&self) -> Markup {
        let Subject { outcome, counted: counts, .. } = self.subject;
        let Estimate { saved, of } = outcome.estimate();
        let rows: Vec<(String, Span)> = match counts {
            Some((comparisons, _)) => comparisons
                .iter()
                .map(|(gpu, all)| (gpu.clone(), Span::counted(all.instructions())))
                .collect(),
            None if of > 0 => vec![(self.gpus_together(), Span::estimated(Estimate { saved, of }))],
            None => Vec::new(),
        };
        html! {
            @if !rows.is_empty() {
                section {
                    h2 { "Machine instructions" }
                    (self.bars(&rows))
                }
            }
        }
    }

    fn bars(&self, rows: &[(String, Span)]) -> Markup {
        let what = if self.subject.counted.is_some() {
            "counted, all functions"
        } else {
            "estimate, changed statements"
        };
        html! {
            table class="bars" {
                thead { tr { th scope="col" { "GPU" } th scope="col" { (KEY) } th scope="col" { "Saved (" (what) ")" } } }
                tbody {
                    @for (gpu, span) in rows {
                        tr { th scope="row" { (gpu) } td { (bar(*span, span.before)) } td { (saved(*span)) } }
                    }
                }
            }
        }
    }

    fn gpus_together(&self) -> String {
        let gpus: Vec<String> = self.subject.outcome.gpus.iter().map(ToString::to_string).collect();
        let together = if gpus.len() > 1 { " together" } else { "" };
        gpus.join(" and ") + together
    }

    /// The functions, with what each saves of all.
    fn contents(&self, functions: &[Changed<'_>], left_out: usize) -> Markup {
        let all = self.subject.outcome.seen.functions;
        let total = self.total();
        html! {
            section {
                h2 { "Functions" }
                p { (functions.len() + left_out) " of " (counted(all, "function")) " changed. Bars are parts of the total." }
                table class="bars" {
                    thead { tr { th scope="col" { "Function" } th scope="col" { (KEY) } th scope="col" { "Saved" } } }
                    tbody {
                        @for (at, function) in functions.iter().enumerate() {
                            @let span = self.span_of(function);
                            tr {
                                th scope="row" { a href=(format!("#{MARK}f{at}")) { code { (shown_name(&function.name)) } } }
                                td { (bar(span, total)) }
                                td { (saved(span)) }
                            }
                        }
                    }
                }
            }
        }
    }

    /// How many machine instructions there were, of what the page counts.
    fn total(&self) -> u64 {
        match self.subject.counted {
            Some((comparisons, _)) => comparisons.iter().map(|(_, all)| all.instructions().0).sum(),
            None => self.subject.outcome.estimate().of,
        }
    }

    fn span_of(&self, function: &Changed<'_>) -> Span {
        let Some((comparisons, _)) = self.subject.counted else { return Span::estimated(function.estimate) };
        let of = |all: &Comparison| {
            all.functions
                .get(&function.name)
                .map(|(before, after)| (before.instructions(), after.instructions()))
        };
        let pairs = comparisons.iter().filter_map(|(_, all)| of(all));
        let sum =
            pairs.fold((0, 0), |sum, (before, after)| (sum.0 + u64::from(before), sum.1 + u64::from(after)));
        Span::counted(sum)
    }

    fn function(&self, function: &Changed<'_>, at: usize) -> Markup {
        let id = format!("{MARK}f{at}");
        let lines = |(at, change): (usize, &Change<'_>)| {
            change.freed.iter().copied().chain([change.line]).map(|line| (line, at)).collect::<Vec<_>>()
        };
        let numbers: BTreeMap<usize, usize> =
            function.changes.iter().enumerate().rev().flat_map(lines).collect();
        html! {
            section id=(id) {
                h2 { code { (shown_name(&function.name)) } " " span class="soft" { "line " (function.line) } }
                @if let Some((comparisons, _)) = self.subject.counted { (measured(&function.name, comparisons)) }
                @else if function.estimate.of > 0 && self.subject.outcome.seen.functions > 1 { (self.bars(&[(self.gpus_together(), Span::estimated(function.estimate))])) }
                h3 { "Side by side" }
                (sides(function, &id, &numbers))
                @if function.rows_left_out > 0 {
                    p class="left-out" { (counted(function.rows_left_out, "more changed line")) " not shown here: " code { "--diff" } " shows all." }
                }
                @if !function.changes.is_empty() { h3 { "Changes" } }
                @for (number, change) in function.changes.iter().enumerate() {
                    (self.change(change, number, &id, function.estimate.of))
                }
                @if function.changes_left_out > 0 {
                    p class="left-out" { (counted(function.changes_left_out, "more change")) " not shown here: " code { "--remarks" } " lists all." }
                }
            }
        }
    }

    fn change(&self, change: &Change<'_>, number: usize, function: &str, of: u64) -> Markup {
        let first = change.remarks[0];
        html! {
            details class="change" id=(format!("{function}-c{number}")) open[number == 0] {
                summary {
                    span class="number" { (number + 1) }
                    " line " (change.line) ": " code { (cut(&clean(&first.record.before), MOST_OF_NAME)) }
                    @if let Some(estimate) = change.estimate { " " span class="tag" { (short(Span::estimated(estimate))) } }
                }
                @if let Some(estimate) = change.estimate {
                    p class="cost" {
                        "Machine instructions on " (self.gpus_together()) ", estimated; the bar is a part of the function's total:"
                        (bar(Span::estimated(estimate), of))
                        (saved(Span::estimated(estimate)))
                    }
                }
                ol class="steps" { @for remark in &change.remarks { li { (step(remark)) } } }
                (pictures(change))
            }
        }
    }

    /// Rewrites that ptxopt's own checks refused.
    fn bugs(&self) -> Markup {
        let bugs: Vec<&Remark<'_>> =
            self.subject.remarks.iter().filter(|remark| remark.record.kind.is_bug()).collect();
        html! {
            @if !bugs.is_empty() {
                section {
                    h2 { "Bugs of ptxopt" }
                    p { "Its own checks refused these rewrites, and their functions stay as they were. Please report them." }
                    ul class="steps" { @for remark in bugs { li { (step(remark)) } } }
                }
            }
        }
    }

    /// Why nothing else was done.
    fn stays(&self) -> Markup {
        let mut near: BTreeMap<String, Vec<&Remark<'_>>> = BTreeMap::new();
        let mut others: BTreeMap<String, Vec<&Remark<'_>>> = BTreeMap::new();
        for remark in self.subject.remarks {
            if let Kind::Missed(why) = &remark.record.kind {
                let reasons = if why.is_near() { &mut near } else { &mut others };
                reasons.entry(clean(&why.to_string())).or_default().push(remark);
            }
        }
        html! {
            @for (title, reasons) in [("Nearly possible", near), ("What stays as it was, and why", others)] {
                @if !reasons.is_empty() { section { h2 { (title) } (reasons_table(reasons)) } }
            }
        }
    }
}

/// Reasons with how often each applied, the most frequent first.
fn reasons_table(reasons: BTreeMap<String, Vec<&Remark<'_>>>) -> Markup {
    let mut sorted: Vec<(String, Vec<&Remark<'_>>)> = reasons.into_iter().collect();
    sorted.sort_by_key(|(why, all)| (std::cmp::Reverse(all.len()), why.clone()));
    let more = sorted.len().saturating_sub(MOST_REASONS);
    html! {
        table class="reasons" {
            thead { tr { th scope="col" { "Times" } th scope="col" { "Reason" } th scope="col" { "Where" } } }
            tbody {
                @for (why, all) in sorted.iter().take(MOST_REASONS) {
                    tr {
                        td class="times" { (all.len()) }
                        td { (prose(why)) }
                        td {
                            @for remark in all.iter().take(MOST_PLACES) {
                                div { "line " (remark.position.line) ": " code { (cut(&clean(&remark.record.before), 80)) } }
                            }
                            @if all.len() > MOST_PLACES { div class="soft" { "and " (all.len() - MOST_PLACES) " more" } }
                        }
                    }
                }
            }
        }
        @if more > 0 { p class="left-out" { (counted(more, "more reason")) " not shown here: " code { "--remarks" } " lists all." } }
    }
}

/// One thing that was done, or was not because of a bug: by which rules, why it is right, and what it is.
fn step(remark: &Remark<'_>) -> Markup {
    let record = remark.record;
    html! {
        dl class="step" {
            @for rule in &record.rules {
                @if let Some(law) = law(rule) { dt { "Rule " code { (rule) } } dd { (prose(law)) } }
            }
            dt { "Verdict" }
            dd {
                strong { (prose(&clean(&remark.verdict()))) }
                @if let Kind::Passed(how) = record.kind { ": " (prose(reason(how))) "." }
            }
            @if let Some(place) = &remark.source { dt { "From" } dd { code { (clean(&place.to_string())) } } }
            dt { "Before" }
            dd { (lines('-', std::slice::from_ref(&record.before))) }
            dt { "After" }
            dd { @if record.after.is_empty() { "deleted" } @else { (lines('+', &record.after)) } }
            @if !record.freed.is_empty() {
                dt { @if RemarkKind::of(&record.kind) == RemarkKind::Passed { "Unused then" } @else { "Would be unused" } }
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
    let figure = |title: &str, picture: &picture::Picture| {
        let what =
            format!("{title}: the dataflow around the change, {}", counted(picture.nodes.len(), "node"));
        html! {
            figure {
                figcaption { (title) }
                div class="scroll" tabindex="0" role="region" aria-label=(what) { (picture::inline(picture, &what)) }
                (picture::legend(picture))
            }
        }
    };
    html! {
        h4 { "Dataflow around it" }
        div class="pictures" {
            (figure("Before", before))
            @match after {
                Some(after) => (figure("After", after)),
                None if !change.is_left => { p class="soft" { "Nothing is left in its place." } }
                None => {
                    p class="soft" { "What took its place was changed again, with statements around it: the lines above show the end." }
                }
            }
        }
    }
}

/// The lines of a function side by side.
fn sides(function: &Changed<'_>, id: &str, numbers: &BTreeMap<usize, usize>) -> Markup {
    let mut last = None;
    html! {
        @for group in &function.groups {
            @let first = group.first().and_then(|row| row.before).map(|(at, _)| at);
            @if let (Some(last), Some(first)) = (last, first) { p class="fold" { (counted(first.saturating_sub(last), "unchanged line")) } }
            @let _end = { last = group.iter().filter_map(|row| row.before).last().map(|(at, _)| at + 1).or(last); };
            div class="hunk" {
                (side(group, "Before", |row| row.before, id, numbers))
                (side(group, "After", |row| row.after, id, &BTreeMap::new()))
            }
        }
    }
}

fn side<'t>(
    group: &[Row<'t>],
    title: &str,
    of: impl Fn(&Row<'t>) -> Option<(u32, &'t [u8])>,
    id: &str,
    numbers: &BTreeMap<usize, usize>,
) -> Markup {
    let (class, sign) = if title == "Before" { ("old", "−") } else { ("new", "+") };
    let what = if title == "Before" { "removed" } else { "added" };
    html! {
        div class="side" tabindex="0" role="region" aria-label=(title) {
            table {
                caption { (title) }
                thead class="unseen" { tr { th scope="col" { "Line" } th scope="col" { "Change" } th scope="col" { "Text" } } }
                tbody {
                    @for row in group {
                        @match of(row) {
                            Some((at, text)) => {
                                tr class=[row.changed.then_some(class)] {
                                    th scope="row" { (at + 1) }
                                    td class="sign" { @if row.changed { span aria-label=(what) role="img" { (sign) } } }
                                    td class="code" {
                                        (code_of(text))
                                        @if let Some(number) = numbers.get(&(at as usize + 1)).filter(|_| row.changed) {
                                            a class="number" href=(format!("#{id}-c{number}")) title="what was done here" { (number + 1) }
                                        }
                                    }
                                }
                            }
                            None => tr class="pad" aria-hidden="true" { td colspan="3" {} },
                        }
                    }
                }
            }
        }
    }
}

/// A line of the input; tabs stay.
fn code_of(line: &[u8]) -> String {
    let text = decoded(line.trim_ascii_end());
    let parts: Vec<String> = text.split('\t').map(clean).collect();
    cut(&parts.join("\t"), MOST_OF_LINE)
}

/// What the assembler made of a function.
fn measured(function: &str, comparisons: &[(String, Comparison)]) -> Markup {
    let pair = |before: u32, after: u32| {
        if before == after { before.to_string() } else { format!("{before} → {after}") }
    };
    let registers = |before: &Function, after: &Function| match (before.registers, after.registers) {
        (Some(before), Some(after)) => pair(before, after),
        _ => "?".to_owned(),
    };
    html! {
        table class="bars" {
            thead {
                tr {
                    th scope="col" { "GPU" } th scope="col" { (KEY) } th scope="col" { "Saved (counted)" }
                    th scope="col" { "Registers" } th scope="col" { "Spilled bytes" }
                }
            }
            tbody {
                @for (gpu, all) in comparisons {
                    @match all.functions.get(function) {
                        Some((before, after)) => {
                            @let span = Span::counted((before.instructions().into(), after.instructions().into()));
                            tr {
                                th scope="row" { (gpu) }
                                td { (bar(span, span.before)) }
                                td { (saved(span)) }
                                td { (registers(before, after)) }
                                td { (pair(before.spills, after.spills)) }
                            }
                        }
                        None => tr { th scope="row" { (gpu) } td colspan="4" { "inlined wherever it is called" } },
                    }
                }
            }
        }
    }
}

/// Numbers of machine instructions.
#[derive(Clone, Copy)]
struct Span {
    before: u64,
    after: u64,
    estimated: bool,
}

impl Span {
    fn counted((before, after): (u64, u64)) -> Self {
        Self { before, after, estimated: false }
    }

    fn estimated(Estimate { saved, of }: Estimate) -> Self {
        Self { before: of, after: of.saturating_add_signed(saved.saturating_neg()), estimated: true }
    }
}

fn short(Span { before, after, estimated }: Span) -> String {
    format!("{}{before} → {after}", if estimated { "about " } else { "" })
}

/// What is saved, in words.
fn saved(span: Span) -> Markup {
    let Span { before, after, .. } = span;
    let (class, sign, difference) =
        if after <= before { ("gain", "−", before - after) } else { ("loss", "+", after - before) };
    let hundredths = (difference * 100 + before / 2).checked_div(before);
    html! {
        span class="figures" {
            (short(span)) " "
            @if difference == 0 { span class="soft" { "the same" } }
            @else {
                span class=(class) { (sign) (difference) @if let Some(percent) = hundredths { " (" (sign) (percent) " %)" } }
            }
        }
    }
}

/// What there was and what there is, as parts of a total.
fn bar(Span { before, after, .. }: Span, total: u64) -> Markup {
    let most = total.max(before).max(after).max(1);
    let width = |part: u64| format!("width:{}.{}%", part * 1000 / most / 10, part * 1000 / most % 10);
    html! {
        span class="bar" role="img" aria-label=(format!("{before} before, {after} after, of {total}")) {
            span class="before" style=(width(before)) {}
            span class=(if after > before { "after longer" } else { "after" }) style=(width(after)) {}
        }
    }
}

/// The name of a function as in the source, and as in the text where that is another.
fn shown_name(function: &str) -> String {
    match demangled(function) {
        Some(source) => name(&source),
        None => name(function),
    }
}

/// A sentence in which backticks stand around code.
fn prose(text: &str) -> Markup {
    html! {
        @for (at, part) in text.split('`').enumerate() {
            @if at % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

fn counted(count: impl Copy + std::fmt::Display + PartialEq + From<u8>, what: &str) -> String {
    format!("{count} {what}{}", if count == 1.into() { "" } else { "s" })
}
