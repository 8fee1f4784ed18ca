//! The reference vectors in the repository, and that `ptxopt eval` notices wrong ones.

#![expect(clippy::print_stdout, reason = "tests say how much they covered")]

use std::io::Write;
use std::process::{Command, Output};

fn eval(args: &[&str]) -> Output {
    let command = Command::new(env!("CARGO_BIN_EXE_ptxopt")).arg("eval").args(args).output();
    command.expect("the command runs")
}

fn vectors(text: &str) -> (Option<i32>, String) {
    let mut file = tempfile::NamedTempFile::new().expect("a file can be made");
    file.write_all(text.as_bytes()).expect("it can be written");
    let output = eval(&["--vectors", file.path().to_str().expect("its name is text")]);
    (output.status.code(), String::from_utf8(output.stdout).expect("the output is text"))
}

#[test]
fn the_sample_passes() {
    let output = eval(&["--vectors", concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/video.jsonl.gz")]);
    let text = String::from_utf8_lossy(&output.stdout);
    println!("{text}");
    assert!(output.status.success(), "{text}");
    assert!(text.trim_end().ends_with(" passed, 0 failed"), "{text}");
}

#[test]
fn what_is_wrong_is_counted() {
    let add = r#"{"ptx":"vadd.u32.u32.u32 %r0, %r1, %r2;","v":["00000001 00000002 00000000 00000003"]}"#;
    let (status, text) = vectors(add);
    assert_eq!((status, text.lines().last()), (Some(0), Some("1 passed, 0 failed")));
    let (status, text) = vectors(&add.replace("00000003", "00000004"));
    assert_eq!((status, text.lines().last()), (Some(1), Some("0 passed, 1 failed")));
    let (status, text) = vectors(r#"{"ptx":"vadd.u32.u32.u32 %r0, %r1, %r2;","error":"no"}"#);
    assert_eq!((status, text.lines().last()), (Some(1), Some("0 passed, 1 failed")));
    let (status, text) = vectors(r#"{"ptx":"vadd.u32.u32.u32 %r0, %r1;","ok":true}"#);
    assert_eq!((status, text.lines().last()), (Some(1), Some("0 passed, 1 failed")));
}

#[test]
fn a_file_of_anything_else_is_refused() {
    assert_eq!(vectors("no vectors\n").0, Some(1));
    assert_eq!(vectors("{\"about\":\"\"}\n{\"v\":[]}\n").0, Some(1));
}
