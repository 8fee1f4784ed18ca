//! How good the optimiser's code is: `cargo run --release --example quality`.
//!
//! For each GPU, machine instructions as the assembler makes them of a video instruction, after optimising, and in the
//! best sequence known (`dev/quality/best.tsv`): of 956 SIMD forms, and without the last of the scalar forms. Then
//! kernels of compiled programs before and after. Loads, stores and what an empty kernel has are not counted. All
//! forms for which a better sequence is known are listed, and all that got longer.
//!
//! - `--gpu sm_90` restricts it to one GPU, and may be repeated.
//! - `--random N` measures N other SIMD forms, with mixed types, masks and selectors; `--seed S` draws others.
//! - `--chains` measures chains of 2 to 6 operations, next to the best sequences known of their parts.
//! - `--json FILE` writes all that was measured to a file.
//!
//! What the assembler makes of forms is measured once and then kept below `target/quality`. NVIDIA's assemblers are
//! expected in `target/nvidia`, where `sh .ci/tools` puts them.

#[path = "../costs/assembler.rs"]
mod assembler;
#[path = "../../tests/support/assemblers.rs"]
mod assemblers;
mod best;
mod chains;
#[path = "../../tests/support/jobs.rs"]
mod jobs;
mod kernels;
mod measured;
#[path = "../../tests/support/modules.rs"]
mod modules;
mod report;
#[path = "../../tests/support/simd_forms.rs"]
mod simd_forms;

use measured::{Bench, Entry};
use ptxopt_grammar::video::{Form, Lanes, Mad, Scalar, Simd};
use report::Section;
use serde_json::json;
use std::io::Write;
use std::process::ExitCode;
use std::str::FromStr;
use std::time::Instant;

/// What is asked for.
struct Arguments {
    gpus: Vec<String>,
    random: usize,
    seed: u64,
    chains: bool,
    json: Option<String>,
}

impl Arguments {
    fn read() -> Result<Self, String> {
        let mut all = Self { gpus: Vec::new(), random: 0, seed: 1, chains: false, json: None };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("`{word}` needs a value"));
            match word.as_str() {
                "--gpu" => all.gpus.push(value()?),
                "--random" => all.random = number(&value()?)?,
                "--seed" => all.seed = number(&value()?)?,
                "--chains" => all.chains = true,
                "--json" => all.json = Some(value()?),
                other => return Err(format!("unknown argument `{other}`")),
            }
        }
        let known = best::gpus();
        match all.gpus.iter().find(|gpu| !known.contains(&gpu.as_str())) {
            Some(gpu) => Err(format!("`{gpu}` is none of {}", known.join(", "))),
            None if all.gpus.is_empty() => {
                Ok(Self { gpus: known.into_iter().map(str::to_owned).collect(), ..all })
            }
            None => Ok(all),
        }
    }
}

fn number<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("`{text}` is no number"))
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let arguments = Arguments::read()?;
    let mut gpus = Vec::new();
    for gpu in &arguments.gpus {
        let began = Instant::now();
        let bench = Bench::new(gpu)?;
        let sections = sections(&bench, &arguments)?;
        say(&format!("{gpu}, {:.0} s", began.elapsed().as_secs_f64()));
        sections.iter().for_each(|section| say(&section.summary()));
        gpus.push((gpu.clone(), sections));
    }
    for line in report::worse(&gpus) {
        say(&line);
    }
    if let Some(path) = &arguments.json {
        let gpus = gpus.iter().map(|(gpu, sections)| {
            let sections: serde_json::Map<_, _> =
                sections.iter().map(|section| (section.name.to_owned(), section.json())).collect();
            (gpu.clone(), serde_json::Value::Object(sections))
        });
        let all = json!({ "gpus": gpus.collect::<serde_json::Map<_, _>>() });
        let text = serde_json::to_string_pretty(&all).expect("it has only strings and numbers");
        std::fs::write(path, text + "\n").map_err(|error| format!("`{path}` cannot be written: {error}"))?;
    }
    Ok(())
}

fn sections(bench: &Bench, arguments: &Arguments) -> Result<Vec<Section>, String> {
    let entries = |forms: Vec<Form>| forms.into_iter().map(|form| Entry::of(bench, form)).collect();
    let scalar = Scalar::all().map(Form::Scalar).chain(Mad::all().map(Form::Mad));
    let mut sections = vec![
        Section::new("simd forms", bench.measure(entries(simd_forms::simd_forms()))?),
        Section::new("scalar forms", bench.measure(entries(scalar.collect()))?),
    ];
    if arguments.random > 0 {
        let forms = random(arguments.random, arguments.seed);
        sections.push(Section::new("random simd forms", bench.measure(entries(forms))?));
    }
    if arguments.chains {
        sections.push(Section::new("chains", bench.measure(chains::chains(bench, arguments.seed))?));
    }
    sections.push(Section::new("kernels", kernels::measure(bench)?));
    Ok(sections)
}

/// SIMD forms with any types, masks and selectors.
fn random(count: usize, seed: u64) -> Vec<Form> {
    let rows: Vec<Form> = Lanes::ALL.into_iter().flat_map(Simd::all).map(Form::Simd).collect();
    let mut below = draw(seed);
    (0..count).map(|_| rows[below(rows.len())].drawn(&mut below)).collect()
}

/// A fixed sequence of numbers that look random, each below the bound that is asked for.
fn draw(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed;
    move |bound| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).expect("31 bits") % bound
    }
}

fn say(line: &str) {
    writeln!(std::io::stdout(), "{line}").expect("there is a reader");
}
