//! What optimising real modules saves, counted by NVIDIA's assembler: `cargo run --release --example gains -- PATH...`.
//!
//! A path is a file of PTX, also compressed, or a folder of them. Each module is optimised for its own target and for
//! every `--gpu GPU`, and assembled before and after. All functions that got longer are listed, and what was counted
//! is compared with what was estimated.
//!
//! - `--ablate` repeats this without each rule that rewrote plain code, and prints the differences: a rule whose
//!   absence makes code shorter must be removed. `--ablate NAME,NAME` leaves out those rules together.
//! - `--write` measures `tests/corpus/modules` and writes `src/measure/accuracy.tsv`, which ptxopt quotes, and the table
//!   of `README.md`. Since that has times, nothing else should run then.
//!
//! NVIDIA's assemblers are expected in `target/nvidia`, where `sh .ci/tools` puts them.

#[path = "../../tests/support/assemblers.rs"]
mod assemblers;
#[path = "../../tests/support/gains.rs"]
mod gains;
#[path = "../../tests/support/jobs.rs"]
mod jobs;
#[path = "../../tests/support/modules.rs"]
mod modules;
#[path = "../../tests/support/results.rs"]
mod results;

use assemblers::Assemblers;
use gains::{Gains, Measurer};
use modules::TestModule;
use ptxopt::measure::accuracy;
use ptxopt_passes::cost::Gpu;
use ptxopt_passes::rules::rules;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What is asked for.
#[derive(Default)]
struct Arguments {
    paths: Vec<PathBuf>,
    gpus: Vec<Option<Gpu>>,
    ablate: bool,
    without: Vec<&'static str>,
    write: bool,
}

impl Arguments {
    fn read() -> Result<Self, String> {
        let mut all = Self { gpus: vec![None], ..Self::default() };
        let mut words = std::env::args().skip(1).peekable();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--gpu" => {
                    let name = words.next().ok_or("`--gpu` needs a name")?;
                    all.gpus.push(Some(Gpu::parse(&name).ok_or(format!("`{name}` is no GPU"))?));
                }
                "--ablate" => {
                    all.ablate = true;
                    let names = words.peek().filter(|next| next.split(',').all(|name| rule(name).is_some()));
                    if let Some(names) = names.cloned() {
                        all.without = names.split(',').filter_map(rule).collect();
                        words.next();
                    }
                }
                "--write" => all.write = true,
                option if option.starts_with('-') => return Err(format!("unknown option `{option}`")),
                path => all.paths.push(PathBuf::from(path)),
            }
        }
        Ok(all)
    }
}

fn rule(name: &str) -> Option<&'static str> {
    rules().find(|rule| rule.name == name).map(|rule| rule.name)
}

fn main() -> ExitCode {
    let arguments = match Arguments::read() {
        Ok(arguments) => arguments,
        Err(error) => {
            say(&format!("error: {error}"));
            return ExitCode::FAILURE;
        }
    };
    let Some(assemblers) = Assemblers::installed() else {
        say("error: NVIDIA's assemblers are not in `target/nvidia`; `sh .ci/tools` puts them there");
        return ExitCode::FAILURE;
    };
    let measurer = Measurer::new(&assemblers);
    if arguments.write {
        let rows = gains::rows(&measurer, &modules::corpus());
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        std::fs::write(root.join("src/measure/accuracy.tsv"), accuracy::text(&rows))
            .expect("the table can be written");
        write_results(&assemblers, &root.join("README.md"));
        return ExitCode::SUCCESS;
    }
    let modules: Vec<TestModule> = arguments.paths.iter().flat_map(|path| modules::below(path)).collect();
    let with = measurer.gains(&modules, &arguments.gpus, &[]);
    say(&with.to_string());
    if arguments.ablate {
        ablate(&measurer, &modules, &arguments, &with);
    }
    ExitCode::SUCCESS
}

/// Writes the table of the first page.
fn write_results(assemblers: &Assemblers, page: &Path) {
    let rows: Vec<_> = results::KINDS.iter().map(|kind| (kind, results::measure(assemblers, kind))).collect();
    for (kind, row) in &rows {
        row.refused.iter().for_each(|refused| say(&format!("{}: not counted: {refused}", kind.title)));
    }
    let text = std::fs::read_to_string(page).expect("the page is there");
    std::fs::write(page, results::inserted(&text, &rows)).expect("the page can be written");
}

/// What the absence of rules changes.
fn ablate(measurer: &Measurer<'_>, modules: &[TestModule], arguments: &Arguments, with: &Gains) {
    let each: BTreeSet<&'static str> = with.on_plain.keys().copied().collect();
    let groups: Vec<Vec<&'static str>> = match arguments.without.as_slice() {
        [] => each.into_iter().map(|rule| vec![rule]).collect(),
        together => vec![together.to_vec()],
    };
    for group in groups {
        let without = measurer.gains(modules, &arguments.gpus, &group);
        let (mut shorter, mut longer) = ((0, 0), (0, 0));
        let mut lines = Vec::new();
        for (function, &(_, after)) in &with.functions {
            let other =
                without.functions.get(function).map_or_else(|| with.functions[function].0, |pair| pair.1);
            let side = if other < after { &mut shorter } else { &mut longer };
            if other != after {
                *side = (side.0 + 1, side.1 + after.abs_diff(other));
                lines.push(format!("    {function}: {after} with, {other} without"));
            }
        }
        say(&format!(
            "without {}: {} functions shorter by {}, {} longer by {}; {} instead of {} grew",
            group.join(", "),
            shorter.0,
            shorter.1,
            longer.0,
            longer.1,
            without.longer().count(),
            with.longer().count(),
        ));
        lines.iter().for_each(|line| say(line));
    }
}

fn say(line: &str) {
    writeln!(std::io::stdout(), "{line}").expect("there is a reader");
}
