//! The lines of a function side by side, before and after.
//!
//! Each side is a table of its own, so that on a narrow screen one can stand below the other; rows that have no
//! counterpart get an empty one, so that side by side the lines stay aligned.

use super::changes::Changed;
use super::words::{MOST_OF_LINE, counted};
use crate::diff::Row;
use crate::picture::{clean, cut, decoded};
use maud::{Markup, html};
use std::collections::BTreeMap;

/// Which of the two texts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    After,
}

/// The groups of changed lines of a function. `numbers` says which change a line is part of, by its number from 1.
pub(super) fn sides(function: &Changed<'_>, id: &str, numbers: &BTreeMap<usize, usize>) -> Markup {
    let first = |group: &[Row<'_>]| group.iter().find_map(|row| row.before).map(|(at, _)| at);
    let last = |group: &[Row<'_>]| group.iter().rev().find_map(|row| row.before).map(|(at, _)| at + 1);
    // How many lines there are between each group and the one before it.
    let between = function.groups.windows(2).map(|two| Some(first(&two[1])?.saturating_sub(last(&two[0])?)));
    html! {
        @for (group, unchanged) in function.groups.iter().zip(std::iter::once(None).chain(between)) {
            @if let Some(unchanged) = unchanged {
                p class="fold" { (counted(unchanged, "unchanged line")) }
            }
            div class="hunk" {
                (side(group, Side::Before, id, numbers))
                (side(group, Side::After, id, numbers))
            }
        }
    }
}

fn side(group: &[Row<'_>], side: Side, id: &str, numbers: &BTreeMap<usize, usize>) -> Markup {
    let (title, class, sign, what) = match side {
        Side::Before => ("Before", "old", "−", "removed"),
        Side::After => ("After", "new", "+", "added"),
    };
    let line = |row: &Row<'_>| match side {
        Side::Before => row.before.map(|(at, text)| (at as usize + 1, code(text))),
        Side::After => row.after.map(|(at, text)| (at as usize + 1, code(text))),
    };
    let change = |row: &Row<'_>, line: usize| {
        numbers.get(&line).copied().filter(|_| row.changed && side == Side::Before)
    };
    html! {
        div class="side" tabindex="0" role="region" aria-label=(title) {
            table {
                caption { (title) }
                thead class="unseen" {
                    tr { th scope="col" { "Line" } th scope="col" { "Change" } th scope="col" { "Text" } }
                }
                tbody {
                    @for row in group {
                        @if let Some((number, text)) = line(row) {
                            tr class=[row.changed.then_some(class)] {
                                th scope="row" { (number) }
                                td class="sign" {
                                    @if row.changed { span role="img" aria-label=(what) { (sign) } }
                                }
                                td class="code" {
                                    (text)
                                    @if let Some(change) = change(row, number) {
                                        a class="number" href=(format!("#{id}-c{change}")) title="what was done here" {
                                            (change + 1)
                                        }
                                    }
                                }
                            }
                        } @else {
                            tr class="pad" aria-hidden="true" { td colspan="3" {} }
                        }
                    }
                }
            }
        }
    }
}

/// A line of the input; tabs stay.
fn code(line: &[u8]) -> String {
    let text = decoded(line.trim_ascii_end());
    let parts: Vec<String> = text.split('\t').map(clean).collect();
    cut(&parts.join("\t"), MOST_OF_LINE)
}
