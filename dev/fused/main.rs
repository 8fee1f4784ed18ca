//! What of byte-wise code is fused, as a table: `cargo run --release --example fused`.
//!
//! For each GPU, counted by NVIDIA's assembler before and after: idioms in the spellings of several compilers and by
//! hand, and kernels modelled on real programs (`tests/corpus/idioms`), with the rules that fused them or why they are
//! not; the kernels of `tests/kernels` beside those fused by hand; and the SIMD intrinsics of CUDA beside what the
//! newest compiler makes of them. Modules for older GPUs are raised, as with `--raise target`.
//!
//! - `--gpu sm_90` restricts it to one GPU, and may be repeated.
//! - `--write` writes `docs/fused.md`.
//! - `--left N` lists the cells that have at least N instructions more than another spelling of the same idiom.
//!
//! It fails if a reason in `dev/fused/reasons.tsv` is about something that is fused by now, or about nothing.
//! NVIDIA's assemblers are expected in `target/nvidia`, where `sh .ci/tools` puts them.

#[path = "../../tests/support/assemblers.rs"]
mod assemblers;
mod by_hand;
mod idioms;
mod intrinsics;
#[path = "../../tests/support/jobs.rs"]
mod jobs;
mod kernels;
mod measured;
#[path = "../../tests/support/modules.rs"]
mod modules;
mod page;
mod reasons;

use assemblers::Assemblers;
use page::{Page, Section};
use ptxopt_passes::cost::Gpu;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

/// The GPUs of the page: idioms for the first, intrinsics for the first and the last, kernels for all but the last.
const GPUS: [&str; 4] = ["sm_90", "sm_75", "sm_120", "sm_120f"];
/// A module that takes longer than this to optimise is named, in seconds.
const SLOW: f64 = 5.0;

/// What is asked for.
#[derive(Default)]
struct Arguments {
    gpus: Vec<Gpu>,
    write: bool,
    left: Option<u32>,
}

impl Arguments {
    fn read() -> Result<Self, String> {
        let mut all = Self::default();
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("`{word}` needs a value"));
            match word.as_str() {
                "--gpu" => all.gpus.push(Gpu::named(&value()?)?),
                "--write" => all.write = true,
                "--left" => {
                    let number = value()?;
                    all.left = Some(number.parse().map_err(|_| format!("`{number}` is no number"))?);
                }
                other => return Err(format!("unknown argument `{other}`")),
            }
        }
        if all.write && !all.gpus.is_empty() {
            return Err("the page is about all GPUs: `--write` goes without `--gpu`".to_owned());
        }
        Ok(all)
    }
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
    let assemblers =
        Assemblers::installed().ok_or("NVIDIA's assemblers are missing; `sh .ci/tools` installs them")?;
    let reasons = reasons::reasons()?;
    let sections = if arguments.gpus.is_empty() {
        let [first, others @ .., last] = GPUS.map(|name| Gpu::parse(name).expect("it is a GPU"));
        let mut sections = vec![Section::all(&assemblers, first)?];
        for gpu in others {
            sections.push(Section::of(gpu).with_kernels(&assemblers)?);
        }
        sections.push(Section::of(last).with_intrinsics(&assemblers)?);
        sections
    } else {
        let all = arguments.gpus.iter().map(|&gpu| Section::all(&assemblers, gpu));
        all.collect::<Result<Vec<_>, _>>()?
    };
    let page = Page { sections, reasons };
    if arguments.write {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/fused.md");
        std::fs::write(&path, page.markdown())
            .map_err(|error| format!("`{}` cannot be written: {error}", path.display()))?;
    } else {
        say(&page.markdown());
    }
    page.concerns(SLOW).iter().for_each(|line| say(line));
    if let Some(least) = arguments.left {
        page.left(least).iter().for_each(|line| say(line));
    }
    // Reasons are about the GPU of the page.
    let outdated = if arguments.gpus.is_empty() { page.outdated() } else { Vec::new() };
    outdated.iter().for_each(|line| say(line));
    if outdated.is_empty() { Ok(()) } else { Err("`dev/fused/reasons.tsv` is out of date".to_owned()) }
}

/// The geometric mean of the second number of each pair divided by the first.
fn mean(pairs: impl Iterator<Item = (u32, u32)>) -> f64 {
    let (sum, count) = pairs.fold((0.0, 0.0), |(sum, count), (before, after)| {
        (sum + (f64::from(after.max(1)) / f64::from(before.max(1))).ln(), count + 1.0)
    });
    if count == 0.0 { 1.0 } else { (sum / count).exp() }
}

fn say(line: &str) {
    writeln!(std::io::stdout(), "{line}").expect("there is a reader");
}
