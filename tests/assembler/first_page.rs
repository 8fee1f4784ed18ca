//! The table of the first page says what the assembler counts.

use crate::accuracy::is_near;
use crate::ptxas::Assemblers;
use crate::results::{KINDS, Row, measure};

/// The counts in the line of the page about a kind of code.
fn told(title: &str) -> Option<Row> {
    let page = include_str!("../../README.md");
    let line = page.lines().find_map(|line| line.strip_prefix(&format!("| {title} | ")))?;
    let mut numbers = line.split(['|', '→']).map(|number| number.trim().parse().ok());
    let mut next = || numbers.next().flatten();
    let (functions, shorter, longer) = (next()?, next()?, next()?);
    Some(Row { functions, shorter, longer, before: next()?, after: next()?, ..Row::default() })
}

#[test]
fn the_first_page_says_what_the_assembler_counts() {
    let Some(assemblers) = Assemblers::find() else { return };
    for kind in KINDS.iter().filter(|kind| kind.is_quick) {
        let counted = measure(assemblers.measuring(), kind);
        let told =
            told(kind.title).unwrap_or_else(|| panic!("the first page has no line about {}", kind.title));
        assert!(
            told.functions == counted.functions
                && told.longer == counted.longer
                && told.before == counted.before
                && is_near(told.shorter, counted.shorter)
                && is_near(told.after, counted.after),
            "told {told:?}, counted {counted:?}: `cargo run --release --example gains -- --write` writes the table again"
        );
    }
}
