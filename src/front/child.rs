//! The optimiser as a process of its own, so that whatever happens to it, the build goes on.
//!
//! The child is this program with the command line of `ptxopt` (`helper.rs`). It limits its memory and its processor
//! time itself, and is ended when its time is over. It may run out of either, overflow its stack or be killed: then there
//! is a reason why a module is assembled as it is, and nothing else has happened.

use super::helper::Role;
use super::settings;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, ChildStderr, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// How much of a child's messages is read.
const MOST_SAID: u64 = 1 << 16;

/// The processor time of a child beyond its time on the clock, after which the system ends it, should nobody else.
const MORE_SECONDS: u64 = 10;

/// What a child is to do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work<'w> {
    /// The input.
    pub(super) input: &'w Path,
    /// The GPU.
    pub(super) gpu: &'w str,
    /// Where the new text goes.
    pub(super) output: &'w Path,
    /// Where remarks go, if they are asked for.
    pub(super) remarks: Option<&'w Path>,
    /// The functions that are left as they are, and why.
    pub(super) leave: &'w BTreeMap<String, String>,
    /// How long it may take.
    pub(super) time: Duration,
}

/// Limits this process, which is a child.
#[cfg(unix)]
pub(super) fn limit(seconds: u64) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let memory = settings::memory(&|name| std::env::var_os(name)).unwrap_or(u64::MAX);
    // A file with what the process had in memory, left in the folder of a build, is of no use to anyone.
    for (resource, most) in
        [(Resource::As, memory), (Resource::Cpu, seconds.saturating_add(MORE_SECONDS)), (Resource::Core, 0)]
    {
        let maximum = getrlimit(resource).maximum;
        let most = maximum.map_or(most, |maximum| maximum.min(most));
        // Without a limit, the system's own apply.
        let _limited = setrlimit(resource, Rlimit { current: Some(most), maximum });
    }
}

#[cfg(not(unix))]
pub(super) fn limit(_seconds: u64) {}

impl Work<'_> {
    /// Optimises; returns whether the text changed, or why nothing came of it.
    pub(super) fn run(&self) -> Result<bool, String> {
        let mut command =
            Role::Optimise.command().map_err(|error| format!("ptxopt does not find itself: {error}"))?;
        command.arg(self.time.as_secs().to_string());
        // Not by a path that could be the name of a subcommand.
        command.arg(std::path::absolute(self.input).unwrap_or_else(|_| self.input.to_owned()));
        command.args([OsStr::new("--output"), self.output.as_os_str()]);
        command.args(["--gpu", self.gpu, "--jobs", "1", "--color", "never"]);
        if let Some(remarks) = self.remarks {
            command.args(["--remarks", "json", "--remarks-output"]).arg(remarks);
        }
        for (function, why) in self.leave {
            command.arg(format!("--leave={function}={why}"));
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let child = command.spawn().map_err(|error| format!("the optimiser does not start: {error}"))?;
        let (status, said) = ended(child, self.time)?;
        if !status.success() {
            return Err(reason(status, &said));
        }
        let read = |path: &Path| fs::read(path).map_err(|error| format!("`{}`: {error}", path.display()));
        Ok(read(self.input)? != read(self.output)?)
    }
}

/// Waits for a child, for so long at most.
fn ended(mut child: Child, time: Duration) -> Result<(ExitStatus, String), String> {
    let stderr = child.stderr.take();
    let (sender, receiver) = mpsc::channel();
    // Its messages end when it does. The thread ends with them, at the latest when the child is killed.
    let reader = std::thread::Builder::new().spawn(move || {
        let said = stderr.map_or(Ok(String::new()), messages);
        let _heard = sender.send(());
        said.unwrap_or_default()
    });
    let reader = match reader {
        Ok(reader) => reader,
        Err(error) => {
            let _ended = child.kill();
            let _status = child.wait();
            return Err(format!("the optimiser cannot be watched: {error}"));
        }
    };
    let in_time = receiver.recv_timeout(time) != Err(mpsc::RecvTimeoutError::Timeout);
    if !in_time {
        // If it has just ended by itself, there is nothing to end.
        let _ended = child.kill();
    }
    let status = child.wait().map_err(|error| format!("the optimiser cannot be waited for: {error}"))?;
    let said = reader.join().unwrap_or_default();
    if in_time {
        Ok((status, said))
    } else {
        Err(format!("the optimiser has not ended after {} s", time.as_secs()))
    }
}

fn messages(mut from: ChildStderr) -> io::Result<String> {
    let mut said = Vec::new();
    from.by_ref().take(MOST_SAID).read_to_end(&mut said)?;
    io::copy(&mut from, &mut io::sink())?;
    Ok(String::from_utf8_lossy(&said).into_owned())
}

/// Why a child failed, on one line: how it ended, or its first message with the place.
fn reason(status: ExitStatus, said: &str) -> String {
    let mut lines = said.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    if status.code().is_none_or(|code| code > super::MOST_STATUS) {
        let ended = format!("the optimiser ended with {status}");
        return if first.is_empty() { ended } else { format!("{ended}: {first}") };
    }
    let first = first.strip_prefix("error: ").unwrap_or(first);
    let place = lines.next().and_then(|line| line.strip_prefix("--> ")).and_then(|place| {
        let (rest, column) = place.rsplit_once(':')?;
        let (_, line) = rest.rsplit_once(':')?;
        Some(format!("line {line}, column {column}: "))
    });
    format!("{}{first}", place.unwrap_or_default())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;

    #[test]
    fn the_reason_is_one_line_with_the_place() {
        let refused = ExitStatus::from_raw(1 << 8);
        let said = "error: unknown mask `.b00`\n --> /a:b/k.s:9:23\n  |\n9 | x\n\nerror: 1 error\n";
        assert_eq!(reason(refused, said), "line 9, column 23: unknown mask `.b00`");
        assert_eq!(reason(refused, "error: cannot read `k.s`: gone\n"), "cannot read `k.s`: gone");
        let killed = reason(ExitStatus::from_raw(9), "");
        assert!(killed.starts_with("the optimiser ended with signal: 9"), "{killed}");
        let overflow = reason(ExitStatus::from_raw(6), "\nthread 'main' has overflowed its stack\n");
        assert!(overflow.ends_with(": thread 'main' has overflowed its stack"), "{overflow}");
        assert!(
            reason(ExitStatus::from_raw(101 << 8), "thread 'main' panicked").contains("exit status: 101")
        );
    }
}
