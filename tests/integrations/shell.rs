//! Completions and manual pages, in a real shell and by the real formatter.

use crate::{done, printed, ptxopt, run, skipped};
use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

/// What bash completes the last of some words to.
fn completed(words: &[&str]) -> Option<BTreeSet<String>> {
    let script = r#"
        source <("$PTXOPT" completions bash) || exit 1
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _ptxopt ptxopt "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        printf '%s\n' "${COMPREPLY[@]}"
    "#;
    if Command::new("bash").arg("--version").output().is_err() {
        skipped("there is no `bash`");
        return None;
    }
    let mut command = Command::new("bash");
    let said = done(command.args(["--norc", "-c", script, "bash"]).args(words).env("PTXOPT", ptxopt()));
    Some(said.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect())
}

#[test]
fn bash_completes_gpus_passes_and_rules() {
    for (words, expected) in [
        (&["ptxopt", "in.ptx", "--gpu", "sm_9"][..], &["sm_90", "sm_90a"][..]),
        (&["ptxopt", "explain", "--gpu", "sm_9"], &["sm_90", "sm_90a"]),
        (&["ptxopt", "graph", "--gpu", "sm_9"], &["sm_90", "sm_90a"]),
        (&["ptxopt", "in.ptx", "--passes", "lo"], &["lower"]),
        (&["ptxopt", "explain", "dispu"], &["disputed"]),
        (&["ptxopt", "explain", "lowe"], &["lower", "lowest-bits"]),
        (&["ptxopt", "man", "pro"], &["prove"]),
        (&["ptxopt", "in.ptx", "--check-o"], &["--check-output"]),
        (&["ptxopt", "in.ptx", "--gpu", "sm_nonsense"], &[]),
    ] {
        let Some(found) = completed(words) else { return };
        assert_eq!(found, expected.iter().map(|&word| word.to_owned()).collect(), "{words:?}");
    }
}

#[test]
fn each_page_that_is_named_is_installed_under_its_name() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let pages = folder.path().join("share/man/man1");
    done(Command::new(ptxopt()).args(["man", "--out-dir"]).arg(&pages));
    let main = fs::read_to_string(pages.join("ptxopt.1")).expect("it is written").replace("\\-", "-");
    let named: BTreeSet<&str> = main.lines().filter_map(|line| line.strip_suffix("(1)")).collect();
    assert!(
        named.contains("ptxopt-run") && named.len() == fs::read_dir(&pages).into_iter().flatten().count() - 1
    );
    for name in named {
        let page = fs::read_to_string(pages.join(format!("{name}.1"))).unwrap_or_else(|_| panic!("{name}"));
        let title = format!(".TH {name} 1  \"ptxopt {}\" \"User Commands\"", env!("CARGO_PKG_VERSION"));
        assert!(page.contains(&title), "{page}");
    }
    let output = run(Command::new(ptxopt()).args(["man", "run", "--out-dir", "x"]));
    assert_eq!(output.status.code(), Some(2), "{}", printed(&output));
}

#[test]
fn man_finds_and_formats_a_page() {
    if Command::new("man").arg("--version").output().is_err() {
        return skipped("there is no `man`, as in Debian's package `man-db`");
    }
    let folder = tempfile::tempdir().expect("a folder can be made");
    done(Command::new(ptxopt()).args(["man", "--out-dir"]).arg(folder.path().join("man1")));
    let mut man = Command::new("man");
    man.args(["--warnings", "--pager=cat", "-M"]).arg(folder.path()).arg("ptxopt-run").env("MANWIDTH", "80");
    let said = done(&mut man);
    let title = said.lines().next().expect("it has a title");
    assert!(title.starts_with("ptxopt-run(1)") && title.ends_with("ptxopt-run(1)"), "{said}");
    assert!(said.contains("Run a kernel over a grid, without a GPU"), "{said}");
}
