//! Finds NVIDIA's assembler and runs it.
//!
//! What is found must not be ptxopt itself, under whatever name, or one would start the other for ever. A link is
//! recognised by the file that it leads to. A copy, or a script that starts ptxopt, looks like any program: so the
//! assembler is started with the programs that were tried so far in a variable of the environment. A front that finds
//! them there was started in place of the assembler, and becomes the next program that was not tried. Each is tried
//! once, so this ends. Only a script that empties the environment can prevent that; it has to name the assembler itself.

use super::helper::Role;
use crate::measure::{STARTED, VARIABLE, installed, is_bare, programs};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};

/// The names under which ptxopt is installed.
const OWN_NAMES: [&str; 2] = ["ptxopt", "ptxopt-ptxas"];

/// NVIDIA's assembler.
#[derive(Clone, Debug)]
pub(super) struct Real {
    program: PathBuf,
    /// What [`STARTED`] is for it.
    started: OsString,
    /// Whether this process was itself started as the assembler by another front.
    pub(super) is_nested: bool,
}

impl Real {
    /// The program that `PTXOPT_PTXAS` names, else the first in `PATH` that is not ptxopt, else that of `CUDA_HOME`. A
    /// name without a slash is one in `PATH` too, as in a shell: the first that is not ptxopt.
    pub(super) fn find(
        variable: &dyn Fn(&str) -> Option<OsString>,
        own: Option<&Path>,
    ) -> Result<Self, String> {
        let given = |name: &str| variable(name).filter(|value| !value.is_empty());
        let tried = Tried::new(given(STARTED));
        let found = |program: PathBuf| {
            let program = absolute(program);
            Self { started: tried.and(own, &program), is_nested: tried.all.is_some(), program }
        };
        let path = given("PATH").unwrap_or_default();
        let is_other = |program: &PathBuf| !is_own(program, own) && !tried.has(program);
        let again = if tried.all.is_some() { ", only programs that start ptxopt again" } else { "" };
        match given(VARIABLE).map(PathBuf::from) {
            Some(name) if is_bare(&name) => {
                programs(&path, name.as_os_str()).find(is_other).map(found).ok_or_else(|| {
                    let shown = name.display();
                    format!("there is no assembler `{shown}`, which `{VARIABLE}` names, in `PATH`{again}")
                })
            }
            Some(named) => at(named, own, &tried).map(found),
            None => installed(&path, &given).find(is_other).map(found).ok_or_else(|| {
                format!(
                    "there is no `ptxas` of NVIDIA in `PATH` and none in `CUDA_HOME`{again}; the environment \
                         variable `{VARIABLE}` says where it is"
                )
            }),
        }
    }

    fn command(&self, arguments: &[OsString]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).env(STARTED, &self.started);
        command
    }

    /// The same for a process that ends with this one.
    fn child(&self, arguments: &[OsString]) -> Command {
        if !cfg!(target_os = "linux") {
            return self.command(arguments);
        }
        // A file that was replaced since this process began is not found: then the assembler runs on its own.
        let Ok(mut command) = Role::Assemble.command() else { return self.command(arguments) };
        command.arg(&self.program).args(arguments).env(STARTED, &self.started);
        command
    }

    /// Becomes the assembler: it replaces this process where that is possible, and is waited for elsewhere. Returns only
    /// its status or why it does not run.
    pub(super) fn become_it(
        &self,
        arguments: &[OsString],
        stdin: Option<&[u8]>,
    ) -> Result<ExitStatus, String> {
        let status = match stdin {
            Some(text) => fed(self.child(arguments).stdin(Stdio::piped()), text, |mut child| child.wait()),
            None => replaced(&mut self.command(arguments)),
        };
        status.map_err(|error| self.not_run(&error))
    }

    /// Runs it, and keeps what it prints.
    pub(super) fn run(&self, arguments: &[OsString], stdin: Option<&[u8]>) -> Result<Output, String> {
        let mut command = self.child(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let output = match stdin {
            Some(text) => fed(command.stdin(Stdio::piped()), text, std::process::Child::wait_with_output),
            None => command.stdin(Stdio::null()).output(),
        };
        output.map_err(|error| self.not_run(&error))
    }

    fn not_run(&self, error: &io::Error) -> String {
        format!("`{}` does not run: {error}", self.program.display())
    }
}

/// The program at the path that `PTXOPT_PTXAS` names, or in that folder.
fn at(named: PathBuf, own: Option<&Path>, tried: &Tried) -> Result<PathBuf, String> {
    let program = if named.is_dir() { named.join("ptxas") } else { named };
    let shown = program.display();
    if !program.is_file() {
        return Err(format!("there is no assembler `{shown}`, which `{VARIABLE}` names"));
    }
    if is_own(&program, own) {
        return Err(format!(
            "`{VARIABLE}` names `{shown}`, which is ptxopt itself and not NVIDIA's assembler"
        ));
    }
    if tried.has(&program) {
        return Err(format!(
            "`{VARIABLE}` names `{shown}`, which starts ptxopt again and not NVIDIA's assembler"
        ));
    }
    Ok(program)
}

/// The programs that were started in place of the assembler so far.
struct Tried {
    /// As in the environment.
    all: Option<OsString>,
    each: Vec<PathBuf>,
}

impl Tried {
    fn new(all: Option<OsString>) -> Self {
        let each = all.iter().flat_map(std::env::split_paths).collect();
        Self { all, each }
    }

    fn has(&self, program: &Path) -> bool {
        let program = leads_to(program);
        // One with a colon in its name stands alone.
        self.each.contains(&program) || self.all.as_deref() == Some(program.as_os_str())
    }

    /// These and two more.
    fn and(&self, own: Option<&Path>, program: &Path) -> OsString {
        let program = leads_to(program);
        let all = self.each.iter().cloned().chain(own.map(leads_to)).chain([program.clone()]);
        std::env::join_paths(all).unwrap_or_else(|_| program.into_os_string())
    }
}

/// Becomes another program, where that is possible; elsewhere, runs it.
#[cfg(unix)]
pub(super) fn replaced(command: &mut Command) -> io::Result<ExitStatus> {
    use std::os::unix::process::CommandExt;
    Err(command.exec())
}

#[cfg(not(unix))]
pub(super) fn replaced(command: &mut Command) -> io::Result<ExitStatus> {
    command.status()
}

/// Starts a program, and gives it a text as standard input while `wait` waits for it.
fn fed<T>(
    command: &mut Command,
    text: &[u8],
    wait: impl FnOnce(std::process::Child) -> io::Result<T>,
) -> io::Result<T> {
    let mut child = command.spawn()?;
    let mut stdin = child.stdin.take();
    std::thread::scope(|scope| {
        let feeder = std::thread::Builder::new().spawn_scoped(scope, move || {
            // A program that does not read to the end closes the pipe; what that means is its own affair.
            stdin.as_mut().map(|stdin| stdin.write_all(text))
        });
        if let Err(error) = feeder {
            // It would wait for a text that does not come.
            let _ended = child.kill();
            let _status = child.wait();
            return Err(error);
        }
        wait(child)
    })
}

/// A path that is not looked up in `PATH` once more.
fn absolute(program: PathBuf) -> PathBuf {
    std::path::absolute(&program).unwrap_or(program)
}

/// The file behind links.
fn leads_to(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Whether a file is ptxopt, as far as files can tell.
fn is_own(program: &Path, own: Option<&Path>) -> bool {
    let program = leads_to(program);
    program.file_stem().and_then(OsStr::to_str).is_some_and(|name| OWN_NAMES.contains(&name))
        || own.is_some_and(|own| program == leads_to(own) || is_same_file(&program, own))
}

#[cfg(unix)]
fn is_same_file(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |path: &Path| fs::metadata(path).map(|metadata| (metadata.dev(), metadata.ino())).ok();
    identity(one).is_some_and(|one| identity(other) == Some(one))
}

#[cfg(not(unix))]
fn is_same_file(_one: &Path, _other: &Path) -> bool {
    false
}
