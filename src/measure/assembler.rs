//! Runs NVIDIA's assembler, `ptxas`, on a module.
//!
//! The assembler runs in a new folder for temporary files, so that its files replace no others, and is ended after a
//! time limit, so that a run always ends.

use super::{Measured, number};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The time limit for one module: the longest known kernels take minutes.
const LIMIT: Duration = Duration::from_secs(600);
/// The longest pause between two checks whether the program has ended.
const LONGEST_PAUSE: Duration = Duration::from_millis(20);
/// How many characters of a program's messages about an error are shown.
const MOST_SAID: usize = 4000;

/// The environment variable with the path of the assembler, or its name in `PATH`, used if no path is given.
pub const VARIABLE: &str = "PTXOPT_PTXAS";

/// Variables of the environment with the folder of CUDA.
pub(crate) const FOLDERS: [&str; 2] = ["CUDA_HOME", "CUDA_PATH"];

/// Set where an assembler runs, to the programs that were started in its place: if one of them is ptxopt again, which
/// stands for the assembler, it becomes the next one that there is.
pub(crate) const STARTED: &str = "PTXOPT_STARTED_PTXAS";

/// An assembler that has been found and runs.
#[derive(Clone, Debug)]
pub struct Assembler {
    program: PathBuf,
    /// Its release, such as `13.5`.
    release: String,
    limit: Duration,
}

/// Why nothing was measured.
#[derive(Debug)]
pub enum AssemblerFailure {
    /// There is no assembler where it was looked for.
    Missing(String),
    /// It could not be run, or did not end.
    Broken(String),
    /// It rejects the module; its messages.
    Refused(String),
}

impl fmt::Display for AssemblerFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(what) | Self::Broken(what) => f.write_str(what),
            Self::Refused(said) => write!(f, "the assembler rejects it:\n{}", shortened(said)),
        }
    }
}

impl Assembler {
    /// The assembler at `given`, or else the one that the environment variable [`VARIABLE`] names, or else the one in
    /// `PATH` or that of `CUDA_HOME`. A name without a slash is one in `PATH` too, as in a shell.
    ///
    /// # Errors
    ///
    /// [`AssemblerFailure::Missing`] if there is no such file, [`AssemblerFailure::Broken`] if the file is not NVIDIA's
    /// assembler.
    pub fn find(given: Option<&Path>) -> Result<Self, AssemblerFailure> {
        Self::search(given, &|name| std::env::var_os(name))
    }

    /// The same with the variables of an environment.
    pub(crate) fn search(
        given: Option<&Path>,
        variable: &dyn Fn(&str) -> Option<OsString>,
    ) -> Result<Self, AssemblerFailure> {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let path = set("PATH").unwrap_or_default();
        let found = match given.map(Path::to_owned).or_else(|| set(VARIABLE).map(PathBuf::from)) {
            Some(name) if is_bare(&name) => {
                programs(&path, name.as_os_str()).next().ok_or_else(|| {
                    AssemblerFailure::Missing(format!("there is no assembler `{}` in `PATH`", name.display()))
                })?
            }
            Some(path) if path.is_dir() => path.join("ptxas"),
            Some(path) => path,
            None => installed(&path, &set).next().ok_or_else(|| {
                AssemblerFailure::Missing(format!(
                    "there is no `ptxas` in `PATH` and none in `CUDA_HOME`; `--ptxas PATH` or the environment variable \
                     `{VARIABLE}` says where NVIDIA's assembler is"
                ))
            })?,
        };
        if !found.is_file() {
            return Err(AssemblerFailure::Missing(format!("there is no assembler `{}`", found.display())));
        }
        Self::at(found)
    }

    /// The assembler at a path.
    ///
    /// # Errors
    ///
    /// [`AssemblerFailure::Broken`] if it does not run or does not say which release it is.
    pub fn at(program: PathBuf) -> Result<Self, AssemblerFailure> {
        // It runs in another folder.
        let program = std::path::absolute(&program).unwrap_or(program);
        let mut assembler = Self { program, release: String::new(), limit: LIMIT };
        let folder = temporary()?;
        let (status, said) = assembler.run(folder.path(), &[OsStr::new("--version")])?;
        let release = said.split_once("release ").and_then(|(_, rest)| rest.split([',', '\n']).next());
        match release.filter(|_| status.success() && said.contains("Ptx")) {
            Some(release) => release.trim().clone_into(&mut assembler.release),
            None => {
                let program = assembler.program.display();
                return Err(AssemblerFailure::Broken(format!(
                    "`{program}` is not NVIDIA's assembler for PTX"
                )));
            }
        }
        Ok(assembler)
    }

    /// Where it is: an absolute path.
    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    /// Its release, such as `13.5`, from its own output.
    #[must_use]
    pub fn release(&self) -> &str {
        &self.release
    }

    /// Assembles a module for a GPU such as `sm_90a`.
    ///
    /// A module that calls what another one defines is not linked; a few forms can only be assembled with linking, so
    /// that is tried second.
    ///
    /// # Errors
    ///
    /// [`AssemblerFailure::Refused`] if the assembler rejects the module, or the reason why it could not be run.
    pub fn assemble(&self, text: &[u8], gpu: &str) -> Result<Measured, AssemblerFailure> {
        match self.assemble_with(text, gpu, &["--compile-only"]) {
            Err(AssemblerFailure::Refused(_)) => self.assemble_with(text, gpu, &[]),
            other => other,
        }
    }

    fn assemble_with(&self, text: &[u8], gpu: &str, options: &[&str]) -> Result<Measured, AssemblerFailure> {
        let folder = temporary()?;
        let (input, output) = ("in.ptx", "out.cubin");
        fs::write(folder.path().join(input), text).map_err(|error| unwritable(&error))?;
        let architecture = format!("--gpu-name={gpu}");
        let mut arguments: Vec<&OsStr> = vec![OsStr::new("--verbose"), OsStr::new(&architecture)];
        arguments.extend(options.iter().map(OsStr::new));
        arguments.extend(["--output-file", output, input].map(OsStr::new));
        let (status, said) = self.run(folder.path(), &arguments)?;
        if !status.success() {
            let silent = || format!("it ended with {status} and without a message");
            return Err(AssemblerFailure::Refused(if said.trim().is_empty() { silent() } else { said }));
        }
        let broken = |what: String| {
            AssemblerFailure::Broken(format!("`{}` reported success, but {what}", self.program.display()))
        };
        let cubin = fs::read(folder.path().join(output))
            .map_err(|error| broken(format!("there is no cubin: {error}")))?;
        Measured::read(&cubin, number(gpu), &said).map_err(broken)
    }

    /// Runs the program in a folder until it ends, and returns its status and its messages.
    fn run(&self, folder: &Path, arguments: &[&OsStr]) -> Result<(ExitStatus, String), AssemblerFailure> {
        let program = self.program.display();
        // Its messages go to a file: a pipe that is not read while the program runs could fill up and block it.
        let path = folder.join("said");
        let said = File::create(&path).map_err(|error| unwritable(&error))?;
        let second = said.try_clone().map_err(|error| unwritable(&error))?;
        let mut child = Command::new(&self.program)
            .args(arguments)
            .current_dir(folder)
            .env(STARTED, fs::canonicalize(&self.program).unwrap_or_else(|_| self.program.clone()))
            .stdin(Stdio::null())
            .stdout(said)
            .stderr(second)
            .spawn()
            .map_err(|error| AssemblerFailure::Broken(format!("`{program}` does not run: {error}")))?;
        let began = Instant::now();
        let mut pause = Duration::from_millis(1);
        let status = loop {
            let lost = |error| AssemblerFailure::Broken(format!("`{program}` cannot be waited for: {error}"));
            if let Some(status) = child.try_wait().map_err(lost)? {
                break status;
            }
            if began.elapsed() >= self.limit {
                // If it has just ended by itself, there is nothing to end.
                let _ended = child.kill();
                let _status = child.wait();
                let limit = self.limit.as_secs_f64();
                return Err(AssemblerFailure::Broken(format!("`{program}` has not ended after {limit} s")));
            }
            thread::sleep(pause);
            pause = (pause * 2).min(LONGEST_PAUSE);
        };
        let said = fs::read(&path).map_err(|error| unwritable(&error))?;
        Ok((status, String::from_utf8_lossy(&said).into_owned()))
    }
}

/// Whether a program is named as one in `PATH`, and not by a path.
pub(crate) fn is_bare(program: &Path) -> bool {
    let name = program.as_os_str().as_encoded_bytes();
    program.file_name().is_some() && !name.iter().any(|&byte| std::path::is_separator(byte.into()))
}

/// The programs of this name in the folders of `PATH`, in their order.
pub(crate) fn programs(path: &OsStr, name: &OsStr) -> impl Iterator<Item = PathBuf> {
    std::env::split_paths(path).map(move |folder| folder.join(name)).filter(|program| is_program(program))
}

/// NVIDIA's assembler in the folders of `PATH`, then in those of CUDA that the environment names.
pub(crate) fn installed<'a>(
    path: &'a OsStr,
    variable: &'a dyn Fn(&str) -> Option<OsString>,
) -> impl Iterator<Item = PathBuf> + 'a {
    let folders = FOLDERS.into_iter().filter_map(variable).map(|folder| Path::new(&folder).join("bin/ptxas"));
    programs(path, OsStr::new("ptxas")).chain(folders.filter(|program| is_program(program)))
}

#[cfg(unix)]
pub(crate) fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
pub(crate) fn is_program(path: &Path) -> bool {
    path.is_file()
}

fn temporary() -> Result<tempfile::TempDir, AssemblerFailure> {
    tempfile::tempdir().map_err(|error| unwritable(&error))
}

fn unwritable(error: &io::Error) -> AssemblerFailure {
    AssemblerFailure::Broken(format!("temporary files cannot be written or read: {error}"))
}

/// The messages about errors, cut to a readable length.
fn shortened(said: &str) -> String {
    let mut text = said.lines().filter(|line| !line.starts_with("ptxas info")).collect::<Vec<_>>().join("\n");
    if let Some((end, _)) = text.char_indices().nth(MOST_SAID) {
        text.truncate(end);
        text.push_str(" …");
    }
    text
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::executable::write_executable;

    /// A program that is a script, in a folder of its own.
    fn script(body: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let path = folder.path().join("ptxas");
        write_executable(&path, &format!("#!/bin/sh\n{body}\n"));
        (folder, path)
    }

    const VERSION: &str = "case $1 in --version) echo 'ptxas: NVIDIA (R) Ptx optimizing assembler'; \
                           echo 'Cuda compilation tools, release 13.5, V13.5.37'; exit 0;; esac";

    #[test]
    fn a_release_is_read() {
        let (_folder, path) = script(VERSION);
        assert_eq!(Assembler::at(path).expect("it says its release").release(), "13.5");
    }

    #[test]
    fn another_program_is_no_assembler() {
        let (_folder, path) = script("echo 'cat 9.1'");
        let error = Assembler::at(path).expect_err("it is none").to_string();
        assert!(error.ends_with("is not NVIDIA's assembler for PTX"), "{error}");
    }

    #[test]
    fn a_directory_is_looked_into() {
        let (folder, _path) = script(VERSION);
        assert!(Assembler::find(Some(folder.path())).is_ok());
        let empty = tempfile::tempdir().expect("a folder can be made");
        let error = Assembler::find(Some(empty.path())).expect_err("it is empty");
        assert!(matches!(error, AssemblerFailure::Missing(_)), "{error}");
    }

    #[test]
    fn a_name_without_a_slash_is_looked_up_in_path() {
        for (name, bare) in [
            ("ptxas", true),
            ("ptxas-blackwell", true),
            ("./ptxas", false),
            ("bin/ptxas", false),
            ("ptxas/", false),
            (".", false),
            ("..", false),
        ] {
            assert_eq!(is_bare(Path::new(name)), bare, "{name}");
        }
        let (folder, path) = script(VERSION);
        fs::write(folder.path().join("text"), "").expect("a file can be written");
        let folders =
            std::env::join_paths([Path::new("/nowhere"), folder.path()]).expect("there is no colon");
        assert_eq!(programs(&folders, OsStr::new("ptxas")).collect::<Vec<_>>(), [path]);
        assert_eq!(programs(&folders, OsStr::new("text")).count(), 0, "it cannot be executed");
    }

    #[test]
    fn what_does_not_end_is_ended() {
        let (_folder, path) = script(&format!("{VERSION}\nexec sleep 100"));
        let assembler =
            Assembler { limit: Duration::from_millis(50), ..Assembler::at(path).expect("it runs") };
        let began = Instant::now();
        let error = assembler.assemble(b"", "sm_90").expect_err("it does not end").to_string();
        assert!(error.ends_with("has not ended after 0.05 s"), "{error}");
        assert!(began.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn what_is_refused_is_told_in_its_words() {
        let (_folder, path) =
            script(&format!("{VERSION}\necho 'ptxas in.ptx, line 3; error : no' >&2\nexit 255"));
        let error = Assembler::at(path).expect("it runs").assemble(b"", "sm_90").expect_err("it refuses");
        assert_eq!(error.to_string(), "the assembler rejects it:\nptxas in.ptx, line 3; error : no");
    }

    #[test]
    fn a_cubin_that_is_not_there_is_missed() {
        let (_folder, path) = script(VERSION);
        let error =
            Assembler::at(path).expect("it runs").assemble(b"", "sm_90").expect_err("it writes nothing");
        assert!(matches!(error, AssemblerFailure::Broken(_)), "{error}");
    }
}
