//! Numbers of machine instructions, before and after, as figures and as bars.
//!
//! A bar is a part of a total: what is left is solid, what was saved is hatched, so that it can be read without colours.

use crate::measure::{Comparison, Function};
use maud::{Markup, html};
use ptxopt_passes::optimiser::Estimate;

/// What the parts of a bar mean.
pub(super) const KEY: &str = "After (solid), saved (hatched)";

/// Numbers of machine instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) before: u64,
    after: u64,
    estimated: bool,
}

impl Span {
    /// As an assembler counted them.
    pub(super) const fn counted((before, after): (u64, u64)) -> Self {
        Self { before, after, estimated: false }
    }

    /// By the tables of costs.
    pub(super) fn estimated(Estimate { saved, of }: Estimate) -> Self {
        Self::estimated_of(of, saved)
    }

    /// By the tables of costs, of something of which a part changed.
    pub(super) fn estimated_of(whole: u64, saved: i64) -> Self {
        // A rewrite that pays for others costs more than what it replaces.
        Self { before: whole, after: whole.saturating_add_signed(saved.saturating_neg()), estimated: true }
    }

    /// Before and after.
    pub(super) fn short(self) -> String {
        let Self { before, after, estimated } = self;
        format!("{}{before} → {after}", if estimated { "about " } else { "" })
    }

    /// Before and after, and the difference.
    pub(super) fn figures(self) -> Markup {
        let Self { before, after, .. } = self;
        let better = after <= before;
        let (class, sign) = if better { ("gain", "−") } else { ("loss", "+") };
        let difference = before.abs_diff(after);
        let percent = (difference * 100 + before / 2).checked_div(before);
        html! {
            span class="figures" {
                (self.short()) " "
                @if difference == 0 {
                    span class="soft" { "the same" }
                } @else {
                    span class=(class) {
                        (sign) (difference)
                        @if let Some(percent) = percent { " (" (sign) (percent) " %)" }
                    }
                }
            }
        }
    }

    /// As parts of a total.
    pub(super) fn bar(self, total: u64) -> Markup {
        let Self { before, after, .. } = self;
        let most = total.max(before).max(after).max(1);
        let width = |part: u64| {
            let thousandths = part * 1000 / most;
            format!("width:{}.{}%", thousandths / 10, thousandths % 10)
        };
        html! {
            span class="bar" role="img" aria-label=(format!("{before} before, {after} after, of {total}")) {
                span class="before" style=(width(before)) {}
                span class=(if after > before { "after longer" } else { "after" }) style=(width(after)) {}
            }
        }
    }
}

/// One row for each GPU, as parts of the totals of each.
pub(super) fn table(what: &str, rows: &[(String, Span, u64)]) -> Markup {
    html! {
        table class="bars" {
            thead {
                tr {
                    th scope="col" { "GPU" }
                    th scope="col" { (KEY) }
                    th scope="col" { "Machine instructions (" (what) ")" }
                }
            }
            tbody {
                @for (gpu, span, total) in rows {
                    tr { th scope="row" { (gpu) } td { (span.bar(*total)) } td { (span.figures()) } }
                }
            }
        }
    }
}

/// What the assembler made of a function.
pub(super) fn measured(function: &str, comparisons: &[(String, Comparison)]) -> Markup {
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
                    th scope="col" { "GPU" }
                    th scope="col" { (KEY) }
                    th scope="col" { "Machine instructions (counted)" }
                    th scope="col" { "Registers" }
                    th scope="col" { "Spilled bytes" }
                }
            }
            tbody {
                @for (gpu, all) in comparisons {
                    tr {
                        th scope="row" { (gpu) }
                        @match all.functions.get(function) {
                            Some((before, after)) => {
                                @let span = Span::counted((before.instructions().into(), after.instructions().into()));
                                td { (span.bar(span.before)) }
                                td { (span.figures()) }
                                td { span class="label" { "registers " } (registers(before, after)) }
                                td { span class="label" { "spilled bytes " } (pair(before.spills, after.spills)) }
                            }
                            None => td colspan="4" { "inlined wherever it is called" },
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_saved_is_shown_in_figures_and_as_a_part_of_the_total() {
        let span = Span::counted((80, 20));
        let figures = span.figures().into_string();
        assert!(figures.contains("80 → 20") && figures.contains("−60 (−75 %)"), "{figures}");
        let bar = span.bar(160).into_string();
        assert!(bar.contains("width:50.0%") && bar.contains("width:12.5%"), "{bar}");
    }

    #[test]
    fn what_is_lost_is_not_shown_as_saved() {
        let span = Span::estimated(Estimate { saved: -3, of: 0 });
        assert_eq!(span.short(), "about 0 → 3");
        let (figures, bar) = (span.figures().into_string(), span.bar(2).into_string());
        assert!(figures.contains("class=\"loss\"") && figures.contains("+3<"), "{figures}");
        assert!(bar.contains("longer") && bar.contains("width:100.0%"), "{bar}");
    }
}
