//! ptxopt in the builds of others: by the example projects below this folder, each with the real build tool.
//!
//! Where a tool is absent a test says so and passes; `sh .ci/tools --integrations` installs those that are not from the
//! system.

#![cfg(unix)]

mod cargo;
mod cmake;
mod python;
mod readme;
mod refactoring;
mod shell;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;
use std::time::Duration;

/// The folder of this repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The command of this repository. The wheel is made first: Cargo replaces the command when it compiles for that.
pub(crate) fn ptxopt() -> &'static Path {
    python::made();
    Path::new(env!("CARGO_BIN_EXE_ptxopt"))
}

/// A program that `sh .ci/tools --integrations` installs, or that of the system; or a line that says what is missing.
pub(crate) fn find(name: &str) -> Result<PathBuf, String> {
    let installed = root().join("target/builders/bin").join(name);
    let runs = |program: &PathBuf| {
        Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
    };
    let found = [installed, PathBuf::from(name)].into_iter().find(runs);
    found.ok_or_else(|| format!("there is no `{name}`; `sh .ci/tools --integrations` installs it"))
}

/// The same for tests, which do nothing without it.
pub(crate) fn tool(name: &str) -> Option<PathBuf> {
    find(name).inspect_err(|why| skipped(why)).ok()
}

/// Says why a test did nothing. Not by a macro of the standard library: the test harness would keep that to itself.
pub(crate) fn skipped(why: &str) {
    std::io::stderr().write_all(format!("SKIPPED: {why}\n").as_bytes()).expect("stderr can be written");
}

/// Writes a script. Not from this process: another test may start a program at the same time, which has all open files
/// for a moment, and what is open for writing cannot be run.
pub(crate) fn program(path: &Path, script: &str) {
    let mut write = Command::new("sh");
    write.args(["-c", "printf %s \"$1\" >\"$2\" && chmod +x \"$2\"", "sh", script]).arg(path);
    done(&mut write);
}

/// Runs a command to its end.
pub(crate) fn run(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// What a command printed.
pub(crate) fn printed(output: &Output) -> String {
    [&output.stdout[..], &output.stderr].map(String::from_utf8_lossy).concat()
}

/// Runs a command that must succeed, and returns what it printed.
pub(crate) fn done(command: &mut Command) -> String {
    let output = run(command);
    assert!(output.status.success(), "{command:?}: {}", printed(&output));
    printed(&output)
}

/// An example of this folder, copied to where it may be changed.
pub(crate) fn copy_of(example: &str, to: &Path) -> PathBuf {
    let copy = to.join(example);
    copy_folder(&root().join("tests/integrations").join(example), &copy);
    copy
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder can be made");
    for entry in fs::read_dir(from).expect("it is a folder") {
        let entry = entry.expect("it can be listed");
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type().expect("it has one").is_dir() {
            copy_folder(&from, &to);
        } else {
            fs::copy(&from, &to).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
        }
    }
}

/// Waits until what is written is newer than what was: file systems count in steps of some milliseconds, and build tools
/// compare times.
pub(crate) fn later() {
    thread::sleep(Duration::from_millis(20));
}

/// Replaces the only place of `from` in a file.
pub(crate) fn change(path: &Path, from: &str, to: &str) {
    later();
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert_eq!(text.matches(from).count(), 1, "{from:?} in {}", path.display());
    fs::write(path, text.replace(from, to)).expect("a file can be written");
}

/// Cargo, for a copy of an example: offline, with the versions that this repository uses. What it builds is kept below
/// `target` for the next time.
pub(crate) fn cargo(package: &Path, arguments: &[&str]) -> Command {
    fs::copy(root().join("Cargo.lock"), package.join("Cargo.lock")).expect("it can be copied");
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(arguments).arg("--offline").current_dir(package);
    command.env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("cargo"));
    for variable in ["PTXOPT_DISABLE", "PTXOPT_KEEP", "PTXOPT_PTXAS"] {
        command.env_remove(variable);
    }
    command
}
