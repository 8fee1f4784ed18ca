//! The page itself, and what is written of each module and function.

use super::bars::{self, KEY, Span};
use super::changes::{self, AllChanged, Budget, Change, Changed};
use super::words::{counted, function_name, name, priced, prose};
use super::{Chapter, Subject, sides, steps};
use crate::measure::accuracy;
use crate::picture::{STYLE, clean, cut, variables};
use crate::remarks::Remark;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use ptxopt_passes::optimiser::{Estimate, How, Kind, Replayed};
use std::collections::BTreeMap;

/// How many reasons are listed, how many places of each, and how many characters of a statement there.
const MOST_REASONS: usize = 12;
const MOST_PLACES: usize = 3;
const MOST_OF_PLACE: usize = 80;

const SHEET: &str = include_str!("report.css");

/// What the ids of a chapter begin with. No text of the input has this character: control characters are replaced.
const MARK: &str = "\u{1}";

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
                @if chapters.len() > 1 { (modules(chapters)) }
                main {
                    @for (at, chapter) in chapters.iter().enumerate() {
                        article id=(format!("m{at}")) { (numbered(&chapter.body, at)) }
                    }
                }
                footer {
                    p class="soft" {
                        "Written by ptxopt " (env!("CARGO_PKG_VERSION")) ". "
                        code { "ptxopt explain RULE" } " says more about a rule."
                    }
                }
            }
        }
    };
    page.into_string() + "\n"
}

fn modules(chapters: &[Chapter]) -> Markup {
    html! {
        header { h1 { "ptxopt: " (chapters.len()) " modules" } }
        nav aria-label="Modules" {
            ul {
                @for (at, chapter) in chapters.iter().enumerate() {
                    li {
                        a href=(format!("#m{at}")) { (name(&chapter.name)) }
                        " " span class="soft" { (chapter.headline) }
                    }
                }
            }
        }
    }
}

/// A chapter with the ids in it made different from those of others.
fn numbered(body: &Markup, at: usize) -> Markup {
    PreEscaped(body.0.replace(MARK, &format!("m{at}-")))
}

/// The part about one module.
pub(super) fn module(subject: &Subject<'_>, budget: Budget) -> Markup {
    let Subject { outcome, remarks, tally, .. } = subject;
    let release = subject.counted.map(|(_, release)| release);
    let new = outcome.text.as_deref().map(|text| {
        ptxopt_grammar::parse(text).expect("what is written was parsed when it was proved and replayed")
    });
    let changed = new.as_ref().map_or_else(AllChanged::default, |new| {
        changes::changed((subject.module, new), remarks, &outcome.gpus, budget)
    });
    let AllChanged { shown: functions, left_out, wholes } = changed;
    let view = View { subject, gpus: priced(&outcome.gpus), wholes };
    let head = changes::outside(remarks);
    html! {
        header {
            h1 { "ptxopt: " (name(subject.name)) }
            p class="headline" { (prose(&tally.headline(release))) }
            (view.facts())
        }
        (view.savings())
        @if new.is_none() { (view.nothing()) }
        @if functions.len() + left_out > 1 { (view.contents(&functions, left_out)) }
        @if !head.is_empty() {
            section {
                h2 { "The head of the module" }
                ul class="steps" { @for remark in head { li { (steps::step(remark)) } } }
            }
        }
        @for (at, function) in functions.iter().enumerate() { (view.function(function, at)) }
        @if left_out > 0 {
            p class="left-out" {
                (counted(left_out, "more changed function")) " not shown here: "
                code { "--diff" } " and " code { "--remarks" } " show everything."
            }
        }
        (view.bugs())
        (view.stays())
    }
}

struct View<'s> {
    subject: &'s Subject<'s>,
    /// The GPUs whose costs count, those that cost the same together.
    gpus: Vec<String>,
    /// What all functions that changed cost before, by estimate, on each of these.
    wholes: Vec<u64>,
}

impl View<'_> {
    /// What the numbers on the page are about.
    fn facts(&self) -> Markup {
        let Subject { name: input, output, outcome, counted: counts, remarks, .. } = self.subject;
        let gpus: Vec<String> = outcome.gpus.iter().map(ToString::to_string).collect();
        let Replayed { functions, reached, changed, .. } = outcome.replayed;
        let proved = remarks.iter().all(|remark| remark.record.kind != Kind::Passed(How::Sampled));
        html! {
            dl class="facts" {
                dt { "Input" }
                dd { code { (name(input)) } }
                dt { "Output" }
                dd { code { (name(output)) } }
                dt { "GPU" }
                dd { @if gpus.is_empty() { "unknown" } @else { (gpus.join(", ")) } }
                @if let Some((_, release)) = counts {
                    dt { "Numbers" }
                    dd {
                        strong { "Counted" } " by NVIDIA's assembler, ptxas " (release) ", function by function. "
                        "What a single change saves is an estimate."
                    }
                } @else if outcome.estimate().of > 0 {
                    dt { "Numbers" }
                    dd {
                        strong { "Estimates" } ", from the cost of each instruction by itself. "
                        (accuracy::sentence()) " " code { "--measure" } " counts."
                    }
                }
                @if functions > 0 {
                    dt { "Replay" }
                    dd {
                        (counted(functions, "changed function")) " run before and after on the same inputs: the same "
                        "bytes were written. These runs came to " (reached) " of " (changed) " changed statements"
                        @if proved { "; the proofs hold for all inputs" } "."
                    }
                }
            }
        }
    }

    fn nothing(&self) -> Markup {
        let told = self.subject.remarks.iter().any(|remark| matches!(remark.record.kind, Kind::Missed(_)));
        html! {
            p class="nothing" {
                "The output is the input, byte for byte."
                @if told { " Below are the statements that were looked at, and why each stays as it was." }
            }
        }
    }

    /// What all changes save, on each GPU.
    fn savings(&self) -> Markup {
        let rows: Vec<(String, Span, u64)> = match self.subject.counted {
            Some((comparisons, _)) => {
                let spans = comparisons.iter().map(|(gpu, all)| (gpu, Span::counted(all.instructions())));
                spans.map(|(gpu, span)| (gpu.clone(), span, span.before)).collect()
            }
            None => self.whole_estimates(&self.all(), &self.wholes),
        };
        let what = if self.subject.counted.is_some() {
            "counted, all functions"
        } else {
            "estimate, changed functions"
        };
        html! {
            @if !rows.is_empty() {
                section {
                    h2 { "Savings" }
                    (bars::table(what, &rows))
                }
            }
        }
    }

    /// What all changes save by estimate, on each GPU.
    fn all(&self) -> Vec<Estimate> {
        let on =
            |place| self.subject.remarks.iter().filter_map(|remark| remark.record.estimate_on(place)).sum();
        (0..self.gpus.len()).map(on).collect()
    }

    /// Estimates for each GPU of a change, as parts of its function; none where nothing is estimated.
    fn estimates(&self, parts: &[Estimate], wholes: &[u64]) -> Vec<(String, Span, u64)> {
        self.rows(parts, wholes, |part, _| Span::estimated(part))
    }

    /// Estimates for each GPU of functions, changed and unchanged statements; none where nothing is estimated.
    fn whole_estimates(&self, parts: &[Estimate], wholes: &[u64]) -> Vec<(String, Span, u64)> {
        self.rows(parts, wholes, |part, whole| Span::estimated_of(whole, part.saved))
    }

    fn rows(
        &self,
        parts: &[Estimate],
        wholes: &[u64],
        span: impl Fn(Estimate, u64) -> Span,
    ) -> Vec<(String, Span, u64)> {
        if parts.iter().all(|part| *part == Estimate::default()) {
            return Vec::new();
        }
        let rows = self.gpus.iter().zip(parts).zip(wholes);
        rows.map(|((gpu, &part), &whole)| (gpu.clone(), span(part, whole), whole)).collect()
    }

    /// The functions, with what each saves of all.
    fn contents(&self, functions: &[Changed<'_>], left_out: usize) -> Markup {
        let all = self.subject.outcome.seen.functions;
        let several = if self.gpus.len() > 1 { "; of all GPUs together" } else { "" };
        let total = self.total();
        html! {
            section {
                h2 { "Functions" }
                p {
                    (functions.len() + left_out) " of " (counted(all, "function")) " changed. Bars are parts of the total"
                    (several) "."
                }
                table class="bars" {
                    thead {
                        tr {
                            th scope="col" { "Function" }
                            th scope="col" { (KEY) }
                            th scope="col" { "Machine instructions" }
                        }
                    }
                    tbody {
                        @for (at, function) in functions.iter().enumerate() {
                            @let span = self.span_of(function);
                            tr {
                                th class="name" scope="row" {
                                    a href=(format!("#{MARK}f{at}")) { code { (function_name(&function.name)) } }
                                }
                                td { (span.bar(total)) }
                                td { (span.figures()) }
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
            None => self.wholes.iter().sum(),
        }
    }

    /// What a function saves on all GPUs together.
    fn span_of(&self, function: &Changed<'_>) -> Span {
        let Some((comparisons, _)) = self.subject.counted else {
            let saved = function.estimates.iter().map(|estimate| estimate.saved).sum();
            return Span::estimated_of(function.wholes.iter().sum(), saved);
        };
        let pairs = comparisons.iter().filter_map(|(_, all)| all.functions.get(&function.name));
        let sum = pairs.fold((0, 0), |sum, (before, after)| {
            (sum.0 + u64::from(before.instructions()), sum.1 + u64::from(after.instructions()))
        });
        Span::counted(sum)
    }

    fn function(&self, function: &Changed<'_>, at: usize) -> Markup {
        let id = format!("{MARK}f{at}");
        let lines = |(at, change): (usize, &Change<'_>)| {
            change.freed.iter().copied().chain([change.line]).map(|line| (line, at)).collect::<Vec<_>>()
        };
        let numbers: BTreeMap<usize, usize> =
            function.changes.iter().enumerate().rev().flat_map(lines).collect();
        let estimates = self.whole_estimates(&function.estimates, &function.wholes);
        html! {
            section id=(id) {
                h2 { code { (function_name(&function.name)) } " " span class="soft" { "line " (function.line) } }
                @if let Some((comparisons, _)) = self.subject.counted {
                    (bars::measured(&function.name, comparisons))
                } @else if !estimates.is_empty() && self.subject.outcome.seen.functions > 1 {
                    (bars::table("estimate, the whole function", &estimates))
                }
                h3 { "Side by side" }
                (sides::sides(function, &id, &numbers))
                @if function.rows_left_out > 0 {
                    p class="left-out" {
                        (counted(function.rows_left_out, "more changed line")) " not shown here: "
                        code { "--diff" } " shows all."
                    }
                }
                @if !function.changes.is_empty() { h3 { "Changes" } }
                @for (number, change) in function.changes.iter().enumerate() {
                    (steps::change(change, number, &id, &self.estimates(&change.estimates, &function.wholes)))
                }
                @if function.changes_left_out > 0 {
                    p class="left-out" {
                        (counted(function.changes_left_out, "more change")) " not shown here: "
                        code { "--remarks" } " lists all."
                    }
                }
            }
        }
    }

    /// Rewrites that ptxopt's own checks refused.
    fn bugs(&self) -> Markup {
        let bugs = self.subject.remarks.iter().filter(|remark| remark.record.kind.is_bug());
        let bugs: Vec<&Remark<'_>> = bugs.collect();
        html! {
            @if !bugs.is_empty() {
                section {
                    h2 { "Bugs of ptxopt" }
                    p { "Its own checks refused these rewrites, and their functions stay as they were. Please report them." }
                    ul class="steps" { @for remark in bugs { li { (steps::step(remark)) } } }
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
                @if !reasons.is_empty() {
                    section {
                        h2 { (title) }
                        (reasons_table(reasons))
                    }
                }
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
                                div {
                                    "line " (remark.position.line) ": "
                                    code { (cut(&clean(&remark.record.before), MOST_OF_PLACE)) }
                                }
                            }
                            @if all.len() > MOST_PLACES {
                                div class="soft" { "and " (all.len() - MOST_PLACES) " more" }
                            }
                        }
                    }
                }
            }
        }
        @if more > 0 {
            p class="left-out" {
                (counted(more, "more reason")) " not shown here: " code { "--remarks" } " lists all."
            }
        }
    }
}
