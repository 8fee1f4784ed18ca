//! `--measure` and `--keep-better` on the command line, with NVIDIA's assembler.

use crate::assemblers::folder;
use crate::ptxas::Assemblers;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The results of a run of the command.
struct Run {
    status: Option<i32>,
    said: String,
    /// What it wrote, if anything.
    written: Option<String>,
}

/// Runs the command on a file, with an assembler and into a folder for this run alone.
fn run(file: &Path, assembler: &Path, options: &[&str]) -> Run {
    let scratch = tempfile::tempdir().expect("a folder can be made");
    let output = scratch.path().join("out.ptx");
    let ran: Output = Command::new(env!("CARGO_BIN_EXE_ptxopt"))
        .args(options)
        .arg(file)
        .arg("-o")
        .arg(&output)
        .env("PTXOPT_PTXAS", assembler)
        .output()
        .expect("the command runs");
    Run {
        status: ran.status.code(),
        said: String::from_utf8_lossy(&ran.stderr).into_owned(),
        written: std::fs::read_to_string(&output).ok(),
    }
}

fn below_tests(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

fn version(version: &str) -> PathBuf {
    folder().join(version).join("ptxas")
}

/// The two numbers of `a -> b`.
fn change(text: &str) -> Option<(u32, u32)> {
    let (before, after) = text.split_once(" -> ")?;
    let last = |text: &str| text.split_whitespace().last()?.parse().ok();
    let first = |text: &str| text.split_whitespace().next()?.parse().ok();
    Some((last(before)?, first(after)?))
}

#[test]
fn a_function_is_counted_before_and_after() {
    let Some(assemblers) = Assemblers::find() else { return };
    let file = below_tests("cli/blend.ptx");
    let ran = run(&file, &version("13.5"), &["--measure", "-v"]);
    assert_eq!(ran.status, Some(0), "{}", ran.said);
    let row = ran.said.lines().find(|line| line.ends_with("  blend")).expect("there is a row");
    let told = change(row).expect("it changes");
    let count = |text: &str| {
        let measured = assemblers.measure(text.as_bytes(), "sm_75").expect("it is legal");
        measured.functions["blend"].instructions()
    };
    let before = std::fs::read_to_string(&file).expect("the file is part of the repository");
    assert_eq!(told, (count(&before), count(&ran.written.expect("it was written"))));
    assert!(told.1 < told.0, "{row}");
    let summary =
        format!("{} machine instructions became {} on sm_75 (counted by ptxas 13.5)", told.0, told.1);
    assert!(ran.said.contains(&summary), "{}", ran.said);
    assert!(!ran.said.contains("stimate"), "the numbers are counted, not estimated: {}", ran.said);
}

#[test]
fn a_report_has_what_was_counted_and_says_so() {
    if Assemblers::find().is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder can be made");
    let page = folder.path().join("page.html");
    let path = page.to_str().expect("temporary folders have plain names");
    let gpus = ["sm_75", "sm_90"];
    let options = ["--measure", "--gpu", &gpus.join(","), "--report", path];
    let ran = run(&below_tests("cli/blend.ptx"), &version("13.5"), &options);
    assert_eq!(ran.status, Some(0), "{}", ran.said);
    let page = std::fs::read_to_string(page).expect("a page is UTF-8");
    assert!(page.contains("<strong>Counted</strong> by NVIDIA's assembler, ptxas 13.5"), "{page}");
    let rows: Vec<&str> = ran.said.lines().filter(|line| line.ends_with("  blend")).collect();
    assert_eq!(rows.len(), gpus.len(), "{}", ran.said);
    for row in rows {
        let (before, after) = change(row).expect("it changes");
        // Of the module, and of its only function.
        assert_eq!(page.matches(&format!(">{before} → {after} <")).count(), 2, "{row}");
    }
}

/// It becomes longer.
const LONGER: &str = "support/longer.ptx";

/// Its loop becomes short enough to be unrolled, and the function longer.
const UNROLLED: &str = "corpus/modules/by-hand/sums.ptx";

#[test]
fn a_function_that_would_get_longer_stays_if_asked_to() {
    if Assemblers::find().is_none() {
        return;
    }
    let file = below_tests(LONGER);
    let before = std::fs::read_to_string(&file).expect("the file is part of the repository");
    let ran = run(&file, &version("12.9"), &["--measure"]);
    let row = ran.said.lines().find(|line| line.ends_with("  longer")).expect("there is a row");
    let (was, is) = change(row).expect("it changes");
    assert!(is > was, "{row}");
    assert_ne!(ran.written.as_deref(), Some(&*before), "without being asked to, it changes");
    let ran = run(&file, &version("12.9"), &["--keep-better", "--remarks", "text"]);
    assert_eq!(ran.status, Some(0), "{}", ran.said);
    assert_eq!(ran.written.as_deref(), Some(&*before));
    let why = format!("it would get worse: {was} machine instructions would become {is}");
    assert!(ran.said.contains(&why), "{}", ran.said);
}

#[test]
fn a_function_that_gets_longer_because_its_loop_is_unrolled_is_kept() {
    if Assemblers::find().is_none() {
        return;
    }
    let file = below_tests(UNROLLED);
    let free = run(&file, &version("12.9"), &["--measure"]);
    let row = free.said.lines().find(|line| line.ends_with("  sums")).expect("there is a row");
    let (was, is) = change(row).expect("it changes");
    assert!(is > was, "{row}");
    let better = run(&file, &version("12.9"), &["--keep-better"]);
    assert_eq!((better.status, better.written), (Some(0), free.written), "{}", better.said);
    let note = format!(
        "`sums` got longer since a loop became short enough to be unrolled: {was} machine instructions"
    );
    assert!(better.said.contains(&note), "{}", better.said);
    assert!(free.said.contains(&note), "{}", free.said);
}

#[test]
fn a_function_that_gets_shorter_is_kept() {
    if Assemblers::find().is_none() {
        return;
    }
    let file = below_tests("cli/blend.ptx");
    let (free, better) =
        (run(&file, &version("13.5"), &[]), run(&file, &version("13.5"), &["--keep-better"]));
    assert_eq!(better.written, free.written);
}

#[test]
fn what_the_assembler_refuses_is_told_in_its_words_and_nothing_is_written() {
    if Assemblers::find().is_none() {
        return;
    }
    // It is for sm_61, which that version does not know any more.
    let ran = run(&below_tests("corpus/modules/by-hand/sums.ptx"), &version("13.5"), &["--measure"]);
    assert_eq!((ran.status, ran.written), (Some(3), None), "{}", ran.said);
    assert!(
        ran.said.contains("cannot be measured: the assembler rejects it:\n  ptxas fatal"),
        "{}",
        ran.said
    );
}

#[test]
fn an_assembler_that_is_not_there_is_missed_before_anything_is_written() {
    let nowhere = Path::new("/nowhere/ptxas");
    for option in ["--measure", "--keep-better"] {
        let ran = run(&below_tests("cli/blend.ptx"), nowhere, &[option]);
        assert_eq!((ran.status, ran.written), (Some(3), None), "{}", ran.said);
        assert!(ran.said.contains("there is no assembler `/nowhere/ptxas`"), "{}", ran.said);
    }
}
