//! Finds NVIDIA's assembler and runs it.
//!
//! What is found must not be ptxopt itself, under whatever name, or one would start the other for ever. A link or a copy
//! is recognised by the file that it leads to, and a script that starts ptxopt again by a variable of the environment
//! that the assembler is started with.

use crate::measure::VARIABLE;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};

/// Set where the assembler runs: whoever finds it set was started in place of the assembler.
const INSIDE: &str = "PTXOPT_STARTED_PTXAS";

/// Variables with the folder of CUDA.
const FOLDERS: [&str; 2] = ["CUDA_HOME", "CUDA_PATH"];

/// The names under which ptxopt is installed.
const OWN_NAMES: [&str; 2] = ["ptxopt", "ptxopt-ptxas"];

/// NVIDIA's assembler.
#[derive(Clone, Debug)]
pub(super) struct Real {
    program: PathBuf,
}

impl Real {
    /// The program that `PTXOPT_PTXAS` names, else the first in `PATH` that is not ptxopt, else that of `CUDA_HOME`.
    pub(super) fn find(
        variable: &dyn Fn(&str) -> Option<OsString>,
        own: Option<&Path>,
    ) -> Result<Self, String> {
        if let Some(program) = variable(INSIDE) {
            return Err(format!(
                "`{}`, found as NVIDIA's assembler, starts ptxopt again; the environment variable `{VARIABLE}` says \
                 where the assembler is",
                program.display()
            ));
        }
        let given = |name: &str| variable(name).filter(|value| !value.is_empty());
        if let Some(named) = given(VARIABLE).map(PathBuf::from) {
            let program = if named.is_dir() { named.join("ptxas") } else { named };
            if !program.is_file() {
                let program = program.display();
                return Err(format!("there is no assembler `{program}`, which `{VARIABLE}` names"));
            }
            if is_own(&program, own) {
                let program = program.display();
                return Err(format!(
                    "`{VARIABLE}` names `{program}`, which is ptxopt itself and not NVIDIA's assembler"
                ));
            }
            return Ok(Self { program: absolute(program) });
        }
        let path = given("PATH").unwrap_or_default();
        let folders = FOLDERS.into_iter().filter_map(given).map(|folder| Path::new(&folder).join("bin"));
        let places = std::env::split_paths(&path).chain(folders).map(|folder| folder.join("ptxas"));
        let found = places.into_iter().find(|program| is_program(program) && !is_own(program, own));
        found.map(|program| Self { program: absolute(program) }).ok_or_else(|| {
            format!(
                "there is no `ptxas` of NVIDIA in `PATH` and none in `CUDA_HOME`; the environment variable `{VARIABLE}` \
                 says where it is"
            )
        })
    }

    fn command(&self, arguments: &[OsString]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).env(INSIDE, &self.program);
        command
    }

    /// Becomes the assembler: it replaces this process where that is possible, and is waited for elsewhere. Returns only
    /// its status or why it does not run.
    pub(super) fn become_it(
        &self,
        arguments: &[OsString],
        stdin: Option<&[u8]>,
    ) -> Result<ExitStatus, String> {
        let mut command = self.command(arguments);
        let status = match stdin {
            Some(text) => fed(command.stdin(Stdio::piped()), text, |mut child| child.wait()),
            None => replaced(&mut command),
        };
        status.map_err(|error| self.not_run(&error))
    }

    /// Runs it, and keeps what it prints.
    pub(super) fn run(&self, arguments: &[OsString], stdin: Option<&[u8]>) -> Result<Output, String> {
        let mut command = self.command(arguments);
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

#[cfg(unix)]
fn replaced(command: &mut Command) -> io::Result<ExitStatus> {
    use std::os::unix::process::CommandExt;
    Err(command.exec())
}

#[cfg(not(unix))]
fn replaced(command: &mut Command) -> io::Result<ExitStatus> {
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

/// Whether a file is ptxopt, as far as files can tell.
fn is_own(program: &Path, own: Option<&Path>) -> bool {
    let leads_to = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
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

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}
