//! The accuracy of the estimates: the savings that were estimated, and those that NVIDIA's assembler counted, on the
//! modules of the repository.
//!
//! `cargo run --release --example gains -- --write` writes the table; a test assembles the modules again and compares.

use std::fmt::Write;

/// Where the modules are.
pub const MODULES: &str = "tests/corpus/modules";

/// The results for the modules of one compiler, each optimised for its own target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The compiler that made the modules.
    pub producer: String,
    /// The number of modules.
    pub modules: u64,
    /// Machine instructions saved, estimated.
    pub estimated: u64,
    /// Machine instructions saved, counted by the assembler.
    pub counted: i64,
}

/// The table that was checked in.
///
/// # Panics
///
/// If it is not what [`text`] writes; a test reads it.
#[must_use]
pub fn rows() -> Vec<Row> {
    let lines = include_str!("accuracy.tsv").lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| row(line).expect("the table is whole")).collect()
}

fn row(line: &str) -> Option<Row> {
    let mut cells = line.split('\t');
    Some(Row {
        producer: cells.next()?.to_owned(),
        modules: cells.next()?.parse().ok()?,
        estimated: cells.next()?.parse().ok()?,
        counted: cells.next()?.parse().ok()?,
    })
}

/// The text of a table.
#[must_use]
pub fn text(rows: &[Row]) -> String {
    let mut out = format!(
        "# Machine instructions saved on {MODULES}, estimated and counted; written by the example `gains`\n\
         # compiler\tmodules\testimated\tcounted\n"
    );
    for Row { producer, modules, estimated, counted } in rows {
        writeln!(out, "{producer}\t{modules}\t{estimated}\t{counted}").expect("a string can be written to");
    }
    out
}

/// The sentence about it for users.
#[must_use]
pub fn sentence() -> String {
    let rows = rows();
    let modules: u64 = rows.iter().map(|row| row.modules).sum();
    let estimated: u64 = rows.iter().map(|row| row.estimated).sum();
    let counted: i64 = rows.iter().map(|row| row.counted).sum();
    format!(
        "Estimates for the {modules} test modules of ptxopt add up to {estimated} machine instructions saved; \
         NVIDIA's assembler counted {counted}."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_what_is_written() {
        assert_eq!(text(&rows()), include_str!("accuracy.tsv"));
        assert!(
            rows().iter().map(|row| row.estimated).sum::<u64>() > 0,
            "it is of modules in which much is done"
        );
    }

    #[test]
    fn the_page_about_the_command_says_the_same() {
        let page: Vec<&str> = include_str!("../../docs/use.md").split_whitespace().collect();
        assert!(page.join(" ").contains(&sentence()), "{}", sentence());
    }
}
