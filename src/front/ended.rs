//! The end of the assembler, and of this process, which is the same.
//!
//! Who started the front may ask for more than a number: a shell, `make` and `ninja` tell a program that a signal ended
//! from one that failed, and so do those who read their logs. So where the assembler was waited for and a signal ended
//! it, the front sends itself the same signal. Nothing is left to do then: its files are gone.

use std::process::{ExitCode, ExitStatus, Output};

/// Ends this process as the assembler ended: by the signal, or else with the status that is returned.
pub(super) fn as_it(status: ExitStatus) -> ExitCode {
    #[cfg(unix)]
    let signal = std::os::unix::process::ExitStatusExt::signal(&status);
    #[cfg(not(unix))]
    let signal = None;
    if let Some(signal) = signal {
        by(signal);
    }
    // As a shell has it, where this process takes no notice of the signal, as of that of a closed pipe.
    let code = status.code().or(signal.map(|signal| signal + 128));
    code.and_then(|code| u8::try_from(code & 0xff).ok()).map_or(ExitCode::FAILURE, ExitCode::from)
}

#[cfg(unix)]
fn by(signal: i32) {
    use rustix::process::{Resource, Rlimit, Signal, getpid, getrlimit, kill_process, setrlimit};
    let Some(signal) = Signal::from_named_raw(signal) else { return };
    // What the assembler had in memory is in a file if that is wanted; what the front had would replace it.
    let maximum = getrlimit(Resource::Core).maximum;
    let _limited = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum });
    // Rust's own handler, which tells of stacks that are too deep, takes the first and stands back for the second.
    for _ in 0..2 {
        let _sent = kill_process(getpid(), signal);
    }
}

#[cfg(not(unix))]
fn by(_signal: i32) {}

/// How a run of the assembler ended, with the first line about an error, or else the first of all, that it said.
pub(super) fn how(said: &Output) -> String {
    let all = [&*said.stderr, b"\n", &*said.stdout].concat();
    let all = String::from_utf8_lossy(&all);
    let lines = || all.lines().map(str::trim).filter(|line| !line.is_empty());
    let is_error = |line: &&str| ["fatal", "error"].iter().any(|word| line.contains(word));
    let why = lines().find(is_error).or_else(|| lines().next());
    format!("{}{}", said.status, why.map_or_else(String::new, |why| format!(": {why}")))
}
