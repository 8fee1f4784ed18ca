//! What optimising costs: `cargo bench --bench optimise`.
//!
//! Prints, next to the time of parsing the same text in the same session, that of a whole run over large modules in which
//! nothing changes, and how many edits a second are found, proved and written: on shapes that repeat, where
//! the answers are remembered, and on shapes of which no two are alike.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measures")]

#[path = "../tests/support/large.rs"]
mod large;
#[path = "../tests/support/modules.rs"]
mod modules;

use ptxopt_grammar::table::Row;
use ptxopt_grammar::tree::StmtKind;
use ptxopt_passes::optimiser::{Kind, Options, Outcome, optimise};
use ptxopt_passes::rules::is_interesting;
use std::fmt::Write;
use std::time::{Duration, Instant};

fn main() {
    overhead();
    let repeated: Vec<String> = (0..4000).map(|_| "vadd4.s32.s32.s32 %d, %a, %b, %c;".to_owned()).collect();
    edits("repeated shapes", &repeated);
    edits("distinct shapes", &distinct(4000));
    let average = |at: usize| format!("vavrg4.u32.u32.u32 %d, %a.b{}, %b, %c;", selector(at));
    edits("averages", &(0..200).map(average).collect::<Vec<_>>());
}

fn run(text: &[u8]) -> Outcome {
    let module = ptxopt_grammar::parse(text).expect("the text is legal");
    optimise(&module, &Options::default(), &|| Duration::ZERO)
}

/// The best of a few runs.
fn best<T>(mut work: impl FnMut() -> T) -> Duration {
    let time = |()| {
        let start = Instant::now();
        std::hint::black_box(work());
        start.elapsed()
    };
    [(); 3].map(time).into_iter().min().expect("there are runs")
}

/// A whole run over large modules in which nothing changes, next to parsing alone: without byte code, with byte moves
/// that stay, and with the reasons why all that stays does.
fn overhead() {
    let large = large::large_module(50_000_000);
    let none = without(&large, is_interesting);
    ratio("without video or byte code", &none, false);
    let plain = without(&large, |row| row.video.is_some());
    let settled = run(&plain).text.unwrap_or(plain);
    ratio("with byte moves that stay", &settled, false);
    ratio("the same, and why it stays", &settled, true);
}

fn ratio(what: &str, text: &[u8], explain: bool) {
    let parsing = best(|| ptxopt_grammar::parse(text).expect("the text is legal").stmts().len());
    let options = Options { explain, ..Options::default() };
    let whole = best(|| {
        let module = ptxopt_grammar::parse(text).expect("the text is legal");
        let outcome = optimise(&module, &options, &|| Duration::ZERO);
        assert!(outcome.text.is_none(), "nothing is to change");
    });
    println!(
        "{} MB {what}: parsing {parsing:.0?}, all passes {whole:.0?}, ratio {:.2}",
        text.len() / 1_000_000,
        whole.as_secs_f64() / parsing.as_secs_f64(),
    );
}

/// The text with blanks in the place of some instructions.
fn without(text: &[u8], goes: impl Fn(&Row) -> bool) -> Vec<u8> {
    let module = ptxopt_grammar::parse(text).expect("the text is legal");
    let mut out = text.to_vec();
    for stmt in module.stmts().filter(|&stmt| module.kind(stmt) == StmtKind::Instruction) {
        if module.row(stmt).is_some_and(&goes) {
            let span = module.stmt_span(stmt);
            out[span].fill(b' ');
        }
    }
    out
}

/// A module with one block per statement, each with registers of its own.
fn module(stmts: &[String]) -> String {
    let mut text = String::from(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry f(.param .u64 p)\n{\n.reg .b64 %in;\n\
         ld.param.u64 %in, [p];\n",
    );
    for stmt in stmts {
        write!(
            text,
            "{{\n.reg .b32 %a, %b, %c, %d;\nld.global.b32 %a, [%in];\nld.global.b32 %b, [%in+4];\n\
             ld.global.b32 %c, [%in+8];\n{stmt}\nst.global.b32 [%in+12], %d;\n}}\n"
        )
        .expect("strings can be written to");
    }
    text + "ret;\n}\n"
}

fn edits(what: &str, stmts: &[String]) {
    let text = module(stmts);
    let start = Instant::now();
    let outcome = run(text.as_bytes());
    let time = start.elapsed();
    let made = outcome.records.iter().filter(|record| matches!(record.kind, Kind::Passed(_))).count();
    println!("{what}: {made} edits in {time:.0?}, {:.0} a second", made as f64 / time.as_secs_f64());
}

fn selector(at: usize) -> String {
    let digit = |place: u32| at / 8_usize.pow(place) % 8;
    (0..4).map(|place| digit(place).to_string()).collect()
}

/// Sums, differences, extrema, comparisons, selectors and constants, no two alike.
fn distinct(count: usize) -> Vec<String> {
    let ops = ["vadd4", "vsub4", "vmin4", "vmax4"];
    (0..count)
        .map(|at| match at % 6 {
            kind @ 0..4 => format!("{}.s32.s32.s32 %d, %a.b{}, %b, %c;", ops[kind], selector(at)),
            4 => format!("vset4.u32.u32.lt %d, %a, %b.b{}, %c;", selector(at)),
            _ => format!("mov.b32 %c, {at}; vadd4.u32.u32.u32 %d, %a, %c.b{}, %c;", selector(at)),
        })
        .collect()
}
