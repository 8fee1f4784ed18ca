//! Completions and manual pages, in real shells and by the real formatter.

use crate::{done, printed, ptxopt, run, skipped};
use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

/// Whether a shell is there; a line that says so where it is not.
fn is_there(shell: &str) -> bool {
    let is_there = Command::new(shell).arg("--version").output().is_ok();
    if !is_there {
        skipped(&format!("there is no `{shell}`, as in Debian's package of that name"));
    }
    is_there
}

/// Beginnings of command lines, and what a shell completes the last word of each to.
const LINES: [(&[&str], &[&str]); 12] = [
    (&["ptxopt", "in.ptx", "--gpu", "sm_9"], &["sm_90", "sm_90a"]),
    (&["ptxopt", "--gpu", "sm_9"], &["sm_90", "sm_90a"]),
    (&["ptxopt", "explain", "--gpu", "sm_9"], &["sm_90", "sm_90a"]),
    (&["ptxopt", "graph", "--gpu", "sm_9"], &["sm_90", "sm_90a"]),
    (&["ptxopt", "in.ptx", "--passes", "lo"], &["lower"]),
    (&["ptxopt", "explain", "dispu"], &["disputed"]),
    (&["ptxopt", "explain", "lowe"], &["lower", "lowest-bits"]),
    (&["ptxopt", "man", "pro"], &["prove"]),
    (&["ptxopt", "pro"], &["prove"]),
    (&["ptxopt", "in.ptx", "--check-o"], &["--check-output"]),
    (&["ptxopt", "prove", "--check-o"], &[]),
    (&["ptxopt", "in.ptx", "--gpu", "sm_nonsense"], &[]),
];

/// Compares what a shell completes these lines to.
fn completes(complete: impl Fn(&[&str]) -> BTreeSet<String>) {
    for (words, expected) in LINES {
        assert_eq!(complete(words), expected.iter().map(|&word| word.to_owned()).collect(), "{words:?}");
    }
}

/// Beginnings of lists, and what the last value of each is completed to.
const LISTS: [(&[&str], &[&str]); 3] = [
    (&["ptxopt", "in.ptx", "--gpu", "sm_75,sm_9"], &["sm_90", "sm_90a"]),
    (&["ptxopt", "in.ptx", "--passes", "fold,simplify,lo"], &["lower"]),
    (&["ptxopt", "--raise", "target,v"], &["version"]),
];

/// Compares what a shell completes lists to: it gives the whole list, or the last value alone.
fn completes_lists(whole: bool, complete: impl Fn(&[&str]) -> BTreeSet<String>) {
    for (words, expected) in LISTS {
        let (before, _) = words.last().and_then(|list| list.rsplit_once(',')).expect("it is a list");
        let value = |value: &&str| if whole { format!("{before},{value}") } else { (*value).to_owned() };
        assert_eq!(complete(words), expected.iter().map(value).collect(), "{words:?}");
    }
}

fn lines(said: &str) -> BTreeSet<String> {
    said.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[test]
fn bash_completes_gpus_passes_and_rules() {
    if !is_there("bash") {
        return;
    }
    let script = r#"
        source <("$PTXOPT" completions bash) || exit 1
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _ptxopt ptxopt "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        printf '%s\n' "${COMPREPLY[@]}"
    "#;
    let complete = |words: &[&str]| {
        let mut bash = Command::new("bash");
        lines(&done(bash.args(["--norc", "-c", script, "bash"]).args(words).env("PTXOPT", ptxopt())))
    };
    completes(complete);
    completes_lists(true, complete);
    assert_eq!(complete(&["ptxopt", "explain", "--gpu", "sm_75,sm_9"]), BTreeSet::new(), "it takes one GPU");
}

#[test]
fn fish_completes_gpus_passes_and_rules() {
    if !is_there("fish") {
        return;
    }
    let script = r#"
        "$PTXOPT" completions fish | source
        # A word, a tab, and what it is.
        complete -C "$argv" | string replace -r "\t.*" "" || true
    "#;
    let complete = |words: &[&str]| {
        let mut fish = Command::new("fish");
        lines(&done(fish.args(["--no-config", "-c", script]).args(words).env("PTXOPT", ptxopt())))
    };
    completes(complete);
    completes_lists(true, complete);
}

/// zsh completes only at a terminal: it gets one, and what would be offered goes to a file.
const ZSH: &str = r#"
    zmodload zsh/zpty && zpty shell zsh -f -i || exit 1
    zpty -w shell 'source ./inner'
    repeat 3000; do [[ -e ready ]] && break; zpty -r -t shell ignored; sleep 0.01; done
    zpty -w -n shell "$*"$'\t'
    repeat 3000; do [[ -e done ]] && break; zpty -r -t shell ignored; sleep 0.01; done
    zpty -d shell
    [[ -e done ]]
"#;

const ZSH_INNER: &str = r#"
    PROMPT=
    autoload -Uz compinit && compinit -D -u
    source <("$PTXOPT" completions zsh)
    compadd() {
        local -a found
        case " $* " in
        *" -O "*|*" -A "*|*" -D "*) builtin compadd "$@"; return ;;
        esac
        builtin compadd -A found "$@"
        (( $#found )) && print -rl -- $found >>found
        return 1
    }
    finished() { : >done }
    complete-and-finish() { comppostfuncs=(finished); _main_complete }
    zle -C complete-and-finish complete-word complete-and-finish
    bindkey '^I' complete-and-finish
    : >ready
"#;

#[test]
fn zsh_completes_gpus_passes_rules_and_inputs() {
    if !is_there("zsh") {
        return;
    }
    let complete = |words: &[&str]| {
        let folder = tempfile::tempdir().expect("a folder can be made");
        for (name, text) in [("inner", ZSH_INNER), ("input.ptx", ""), ("input-2.ptx", ""), ("found", "")] {
            fs::write(folder.path().join(name), text).expect("a file can be written");
        }
        let mut zsh = Command::new("zsh");
        zsh.args(["-f", "-c", ZSH, "zsh"]).args(words).current_dir(folder.path()).env("PTXOPT", ptxopt());
        done(&mut zsh);
        lines(&fs::read_to_string(folder.path().join("found")).expect("it is there"))
    };
    completes(complete);
    completes_lists(false, complete);
    let inputs: BTreeSet<String> = ["input.ptx", "input-2.ptx"].map(str::to_owned).into();
    for words in [&["ptxopt", "inp"][..], &["ptxopt", "a.ptx", "inp"], &["ptxopt", "dump", "inp"]] {
        assert_eq!(complete(words), inputs, "{words:?}");
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
        let title = format!(".TH {name} 1 \" \" \"ptxopt {}\" \"User Commands\"", env!("CARGO_PKG_VERSION"));
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
    let fields: Vec<&str> = title.split("  ").map(str::trim).filter(|field| !field.is_empty()).collect();
    assert_eq!(fields, ["ptxopt-run(1)", "User Commands", "ptxopt-run(1)"], "{said}");
    let foot = said.trim_end().lines().next_back().expect("it has a foot");
    assert!(foot.starts_with(concat!("ptxopt ", env!("CARGO_PKG_VERSION"))), "{said}");
    assert!(said.contains("Run a kernel over a grid, without a GPU"), "{said}");
}
