//! Programs that tests put into a folder.
//!
//! A file that is open for writing cannot be executed, and what another test starts inherits open files until it
//! executes a program of its own. So it is a process of its own that writes the file.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Writes a script that can be executed.
pub(crate) fn write_executable(path: &Path, script: &str) {
    let mut shell = Command::new("sh")
        .args(["-c", "cat >\"$0\" && chmod 755 \"$0\""])
        .arg(path)
        .stdin(Stdio::piped())
        .spawn()
        .expect("there is a shell");
    let mut input = shell.stdin.take().expect("it is piped");
    input.write_all(script.as_bytes()).expect("the shell reads all of it");
    drop(input);
    assert!(shell.wait().expect("it was started").success(), "{}", path.display());
}
