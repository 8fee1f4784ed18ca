//! How long proofs take, next to what the fastest earlier prover took: `cargo bench --bench prover`.
//!
//! Each pair is decided afresh, nothing being remembered; the median of several runs is shown. With arguments, only
//! the pairs whose names contain one of them: `cargo bench --bench prover -- vmin4`.

#[path = "../tests/prover/pairs.rs"]
mod pairs;

use pairs::{Code, Expected, PAIRS};
use ptxopt_prover::{Proof, Query, Verdict, prove};
use std::io::Write;
use std::time::Instant;

fn main() {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{:<30} {:>10} {:>10}  verdict", "pair", "before ms", "now ms").expect("there is a reader");
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let chosen = |name: &str| wanted.is_empty() || wanted.iter().any(|word| name.contains(word));
    for pair in PAIRS.iter().filter(|pair| chosen(pair.name)) {
        let mut code = Code::new();
        let (before, after) = (pair.build)(&mut code);
        let query = Query::new(&code.terms, vec![before], vec![after]);
        let mut times = Vec::new();
        let mut verdict = Verdict::Unproved;
        let began = Instant::now();
        while times.len() < 3 || times.len() < 4001 && began.elapsed().as_millis() < 500 {
            let start = Instant::now();
            verdict = prove(&query);
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
        times.sort_by(f64::total_cmp);
        let right = match pair.expected {
            Expected::Equal => matches!(verdict, Verdict::Proved(_)),
            Expected::Different => matches!(verdict, Verdict::Refuted(_)),
        };
        let verdict = match verdict {
            Verdict::Proved(Proof::Structural) => "proved (structural)".to_owned(),
            Verdict::Proved(Proof::Parts) => "proved (by parts)".to_owned(),
            Verdict::Proved(Proof::Sat { conflicts }) => format!("proved (sat), {conflicts} conflicts"),
            Verdict::Refuted(_) => "refuted".to_owned(),
            Verdict::Unproved => "unproved".to_owned(),
        };
        let median = times[times.len() / 2];
        let remark = if right { "" } else { ", but it should not be" };
        writeln!(out, "{:<30} {:>10.3} {median:>10.3}  {verdict}{remark}", pair.name, pair.reference)
            .expect("there is a reader");
    }
}
