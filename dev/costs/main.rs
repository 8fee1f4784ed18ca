//! Measures what instructions cost and writes the tables of `passes/src/cost`: `cargo run --release --example costs`.
//!
//! Names of tables and of GPUs restrict it to these and their columns, and the others stay as they are:
//! `cargo run --release --example costs -- plain.tsv sm_90`.
//! With `--new` only rows that a table does not have are measured. With `--check` nothing is written, and every line that would be written otherwise is shown; with `--sample` some
//! forms that the table does not have are measured instead, on all GPUs, and compared with what the optimiser takes
//! for their costs. NVIDIA's assemblers are expected in `target/nvidia`, where `sh .ci/tools` puts them.

mod assembler;
#[path = "../../tests/support/assemblers.rs"]
mod assemblers;
mod fused;
#[path = "../../tests/support/jobs.rs"]
mod jobs;
mod plain;
mod rows;
mod sample;

use fused::Drawn;
use ptxopt_passes::cost::table::{self, Cells, GENERATIONS};
use rows::Row;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let check = arguments.iter().any(|argument| argument == "--check");
    let gpus: Vec<&String> = arguments.iter().filter(|argument| argument.starts_with("sm_")).collect();
    let only_new = arguments.iter().any(|argument| argument == "--new");
    let wanted = |gpu: &str| gpus.is_empty() || gpus.iter().any(|wanted| *wanted == gpu);
    if arguments.iter().any(|argument| argument == "--sample") {
        let mut good = true;
        for generation in GENERATIONS.iter().filter(|generation| wanted(generation.gpu)) {
            let (wrong, counts) = sample::outside(generation);
            good &= wrong.is_empty();
            wrong.iter().chain(&counts).for_each(|line| say(line));
            for of in [Drawn::All, Drawn::Logic] {
                let (wrong, count) = sample::sequences(generation, of);
                // The assembler also does algebra, which no table of neighbours says.
                good &= wrong.len() <= sample::SEQUENCES / 50;
                wrong.iter().chain([&count]).for_each(|line| say(line));
            }
        }
        return if good { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let tables =
        [("plain.tsv", plain::rows()), ("video.tsv", rows::video_rows()), ("fused.tsv", fused::rows())];
    let mut different = 0;
    let named = |file: &str| arguments.iter().any(|argument| argument == file);
    let all = !tables.iter().any(|(file, _)| named(file));
    for (file, rows) in tables.into_iter().filter(|(file, _)| all || named(file)) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("passes/src/cost").join(file);
        let before = std::fs::read_to_string(&path).expect("the table is part of the repository");
        let mut columns: BTreeMap<String, Vec<Cells>> = table::rows(&before).collect();
        let measured: Vec<&Row> =
            rows.iter().filter(|row| !only_new || !columns.contains_key(&row.name)).collect();
        for row in &rows {
            columns.entry(row.name.clone()).or_insert_with(|| vec![None; GENERATIONS.len()]);
        }
        for (i, generation) in GENERATIONS.iter().enumerate().filter(|(_, generation)| wanted(generation.gpu))
        {
            let began = Instant::now();
            for (row, cells) in measured.iter().zip(rows::measure(&measured, generation)) {
                columns.get_mut(&row.name).expect("every row has columns")[i] = cells;
            }
            say(&format!("{file}: {} in {:.0} s", generation.gpu, began.elapsed().as_secs_f64()));
            if !check {
                std::fs::write(&path, text(&rows, &columns)).expect("the table can be written");
            }
        }
        if check {
            different += compare(&table::rows(&before).collect(), &columns);
        } else {
            std::fs::write(&path, text(&rows, &columns)).expect("the table can be written");
        }
    }
    if different == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Shows where two tables differ, and how often they do.
fn compare(before: &BTreeMap<String, Vec<Cells>>, after: &BTreeMap<String, Vec<Cells>>) -> usize {
    let shown = |cells: Option<&Cells>| {
        let cells = cells.and_then(Option::as_deref).unwrap_or_default();
        cells.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
    };
    let mut different = 0;
    for (name, columns) in after {
        for (i, generation) in GENERATIONS.iter().enumerate() {
            let old = before.get(name).map(|columns| &columns[i]);
            if old.unwrap_or(&None) != &columns[i] {
                let (gpu, old, new) = (generation.gpu, shown(old), shown(Some(&columns[i])));
                say(&format!("{name}: {gpu}: {old} in the table, {new} now"));
                different += 1;
            }
        }
    }
    different
}

/// The table; rows that no GPU has anything for are left out.
fn text(rows: &[Row], columns: &BTreeMap<String, Vec<Cells>>) -> String {
    let rows = rows.iter().map(|row| (row.name.as_str(), columns[&row.name].as_slice()));
    let rows: Vec<(&str, &[Cells])> =
        rows.filter(|(_, columns)| columns.iter().any(Option::is_some)).collect();
    table::text(&rows)
}

fn say(line: &str) {
    writeln!(std::io::stdout(), "{line}").expect("there is a reader");
}
