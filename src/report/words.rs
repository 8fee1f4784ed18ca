//! How names, sentences and numbers are written on a page.

use crate::picture::{clean, cut};
use crate::remarks::demangled;
use maud::{Markup, html};
use ptxopt_passes::cost::{Costs, Gpu};

/// How many characters of a line, and of a name, are shown.
pub(super) const MOST_OF_LINE: usize = 240;
pub(super) const MOST_OF_NAME: usize = 160;

/// The name of an input.
pub(super) fn name(name: &str) -> String {
    cut(&clean(name), MOST_OF_NAME)
}

/// The name of a function, as in the source if that is known.
pub(super) fn function_name(function: &str) -> String {
    demangled(function).map_or_else(|| name(function), |source| name(&source))
}

/// A sentence in which backticks stand around code.
pub(super) fn prose(text: &str) -> Markup {
    html! {
        @for (at, part) in text.split('`').enumerate() {
            @if at % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

/// A number of things.
pub(super) fn counted(count: impl Copy + std::fmt::Display + PartialEq + From<u8>, what: &str) -> String {
    format!("{count} {what}{}", if count == 1.into() { "" } else { "s" })
}

/// The GPUs whose costs count, in the order of their costs; those that cost the same together.
pub(super) fn priced(gpus: &[Gpu]) -> Vec<String> {
    if gpus.is_empty() {
        return Vec::new();
    }
    let alike = |costs: Costs| {
        let names = gpus.iter().filter(|gpu| Costs::of(gpu) == costs).map(ToString::to_string);
        names.collect::<Vec<_>>().join(", ")
    };
    Costs::on(gpus).each().map(alike).collect()
}
