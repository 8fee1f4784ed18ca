//! For build scripts: PTX of a package is optimised when Cargo builds it, with the feature `build`.
//!
//! ```toml
//! [build-dependencies]
//! ptxopt = { path = "../ptxopt", default-features = false, features = ["build"] }
//! ```
//!
//! The `main` of `build.rs` names the files, and the program has what was made of them:
//!
//! ```no_run
//! ptxopt::build::Ptx::new().file("kernels/k.ptx").gpu("sm_86").compile();
//! ```
//!
//! ```ignore
//! const KERNELS: &str = include_str!(concat!(env!("OUT_DIR"), "/k.ptx"));
//! ```
//!
//! A file that ptxopt does not understand is copied as it is, with a warning: what was built without ptxopt is built
//! with it. [`Options::strict`] makes it an error.
//!
//! Where NVIDIA's assembler is at hand (`PTXOPT_PTXAS` in the environment names it, or it is in `PATH` or in
//! `CUDA_HOME`), what changed is assembled before and after, and functions that got longer by its count, with loops as
//! they are written, or spill more are left as they were. With `PTXOPT_KEEP=always`, nothing is assembled.
//!
//! Cargo runs the script again when one of the files, the assembler or one of these variables changes. With
//! `PTXOPT_DISABLE=1` in the environment, the files are copied as they are, which shows whether ptxopt is to blame for
//! something.
//!
//! Cargo compiles build scripts without optimisation, also for `cargo build --release`, and then this takes about six
//! times as long: a third of a second for a small kernel. With many kernels it is worth saying otherwise in the
//! `Cargo.toml` of the workspace:
//!
//! ```toml
//! [profile.dev.build-override]
//! opt-level = 2
//!
//! [profile.release.build-override]
//! opt-level = 2
//! ```

mod better;
mod cargo;
#[cfg(test)]
mod tests;

use crate::input::Input;
use crate::library::{Diagnostics, Options, Outcome, Refusal, RemarkKind};
use crate::measure::{self, AssemblerFailure};
use crate::output::Output;
use crate::render::{Colour, Renderer};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process;

/// Nothing is optimised if it is set to anything but `0`, as in the front.
const DISABLE: &str = "PTXOPT_DISABLE";

/// What a result depends on beside the files.
const VARIABLES: [&str; 5] =
    [DISABLE, measure::KEEP, measure::VARIABLE, measure::FOLDERS[0], measure::FOLDERS[1]];

/// Files of PTX that are optimised when Cargo builds the package.
///
/// ```
/// # let folder = std::env::temp_dir().join(format!("ptxopt-build-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let kernels = folder.join("average.ptx");
/// # std::fs::write(&kernels, ".version 8.0\n.target sm_75\n.func (.reg .b32 %d) f(.reg .b32 %a, .reg .b32 %b)\n{\n\
/// #     vavrg4.u32.u32.u32 %d, %a, %b, %a;\n\tret;\n}\n")?;
/// use ptxopt::build::Ptx;
///
/// let mut ptx = Ptx::new();
/// ptx.file(&kernels).gpu("sm_86");
/// # ptx.out_dir(folder.join("out"));
/// # std::fs::create_dir_all(folder.join("out"))?;
/// let written = ptx.try_compile()?;
/// assert!(written[0].ends_with("average.ptx"));
/// assert!(!std::fs::read_to_string(&written[0])?.contains("vavrg4"));
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Ptx {
    files: Vec<PathBuf>,
    gpus: Vec<String>,
    options: Options,
    out_dir: Option<PathBuf>,
}

/// Why nothing was written: for a file that was refused, what is wrong with it, with the line, the column and the line
/// of the file. It prints as several lines and ends with a line break.
///
/// ```
/// let error = ptxopt::build::Ptx::new().file("missing.ptx").out_dir(std::env::temp_dir()).try_compile();
/// let error = error.expect_err("there is no such file");
/// assert!(error.to_string().contains("cannot read `missing.ptx`"), "{error}");
/// ```
#[derive(Clone, Debug)]
pub struct Error(String);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

impl Ptx {
    /// No file, for the `.target` of each.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file; relative paths begin at the folder of `Cargo.toml`, in which Cargo runs build scripts. The result
    /// has the same name. A file in `OUT_DIR`, which the script itself has made, is replaced.
    pub fn file(&mut self, path: impl AsRef<Path>) -> &mut Self {
        self.files.push(path.as_ref().to_owned());
        self
    }

    /// Adds files, as [`file`](Self::file) does.
    ///
    /// ```no_run
    /// ptxopt::build::Ptx::new().files(["kernels/blend.ptx", "kernels/average.ptx"]).compile();
    /// ```
    pub fn files<P: AsRef<Path>>(&mut self, paths: impl IntoIterator<Item = P>) -> &mut Self {
        for path in paths {
            self.file(path);
        }
        self
    }

    /// Optimises for a GPU such as `sm_86` instead of the `.target` of each file; of several, nothing is written that
    /// is worse on any of them.
    pub fn gpu(&mut self, name: impl Into<String>) -> &mut Self {
        self.gpus.push(name.into());
        self
    }

    /// What else to do; the GPUs of these options and those of [`gpu`](Self::gpu) are added up. With
    /// [`Options::strict`], files that ptxopt does not understand, in part or at all, are errors.
    ///
    /// ```
    /// # let folder = std::env::temp_dir().join(format!("ptxopt-options-{}", std::process::id()));
    /// # std::fs::create_dir_all(folder.join("out"))?;
    /// # let kernels = folder.join("odd.ptx");
    /// # std::fs::write(&kernels, ".version 8.0\n.target sm_75\n.func f()\n{\n    frobnicate.b32;\n}\n")?;
    /// let mut ptx = ptxopt::build::Ptx::new();
    /// ptx.files([&kernels]).options(ptxopt::Options::new().strict(true));
    /// # ptx.out_dir(folder.join("out"));
    /// assert!(ptx.try_compile().is_err(), "it has an unknown instruction");
    /// # std::fs::remove_dir_all(folder)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn options(&mut self, options: Options) -> &mut Self {
        self.options = options;
        self
    }

    /// Writes into this folder, which must exist, instead of `OUT_DIR`.
    pub fn out_dir(&mut self, folder: impl AsRef<Path>) -> &mut Self {
        self.out_dir = Some(folder.as_ref().to_owned());
        self
    }

    /// Optimises and writes the files, and returns the paths of what was written, in the order of the files. Each is
    /// written completely or not at all; if it fails, none is written.
    ///
    /// For Cargo, it prints when to run the script again, and a warning for every unknown part of a file. A file that
    /// cannot be read as PTX is copied as it is, and warnings say why. A bug of ptxopt that its own checks catch is a
    /// warning too, and the function or the file stays as it was.
    ///
    /// If it fails, it says so on standard error, with the lines in question, and ends the process with status 1, by
    /// which Cargo fails the build.
    #[expect(clippy::must_use_candidate, reason = "the path is known: it is in `OUT_DIR`")]
    pub fn compile(&self) -> Vec<PathBuf> {
        self.try_compile().unwrap_or_else(|error| {
            // If standard error cannot be written, this cannot be reported.
            let _unheard = write!(io::stderr(), "\n{error}\n");
            process::exit(1)
        })
    }

    /// As [`compile`](Self::compile), for scripts that go on without, or have more to say.
    ///
    /// # Errors
    ///
    /// If there is no such GPU, a file cannot be opened or does not run on the GPU, or a result cannot be written; with
    /// [`Options::strict`], also if a file is not PTX or has unknown parts.
    pub fn try_compile(&self) -> Result<Vec<PathBuf>, Error> {
        self.run(&|name| std::env::var_os(name), &mut io::stdout().lock())
    }

    /// With the variables of an environment, and where Cargo reads.
    fn run(
        &self,
        variable: &dyn Fn(&str) -> Option<OsString>,
        cargo: &mut dyn Write,
    ) -> Result<Vec<PathBuf>, Error> {
        let renderer = Renderer::new(Colour::None);
        let failure = |message: String| Error(renderer.failure(&message));
        let telling = |error: io::Error| failure(format!("cannot write `<stdout>`: {error}"));
        let out_dir = self.out_dir.clone().or_else(|| variable("OUT_DIR").map(PathBuf::from));
        let out_dir = out_dir.ok_or_else(|| {
            failure("`OUT_DIR` is not set: Cargo sets it for build scripts, and nothing else does".to_owned())
        })?;
        let options = self.all_options().map_err(&failure)?;
        let outputs = self.outputs(&out_dir).map_err(&failure)?;
        let disabled = variable(DISABLE).is_some_and(|value| !value.is_empty() && value != "0");
        let (assembling, missed) = if disabled { (None, None) } else { better::assembling(variable) };
        // Before anything can fail: what failed must run again when it is mended.
        let program = assembling.as_ref().map(|assembling| assembling.assembler.program());
        cargo::depends(cargo, &self.files, &out_dir, program).map_err(telling)?;
        if let Some(missed) = missed {
            cargo::warning(cargo, &format!("nothing is measured: {missed}")).map_err(telling)?;
        }
        let mut results = Vec::new();
        let mut failures = String::new();
        for path in &self.files {
            let input = Input::File(path.clone());
            match input.read() {
                Err(error) => failures += &renderer.failure(&format!("cannot read `{input}`: {error}")),
                Ok(text) if disabled => results.push(text),
                Ok(text) => match guarded(|| better::outcome(&text, &options, assembling.as_ref())) {
                    Ok(Ok((outcome, refused))) => {
                        warn(cargo, &input, &outcome, refused).map_err(telling)?;
                        results.push(outcome.text.unwrap_or(text));
                    }
                    // What does not run on the GPU is a mistake in the script, which names it.
                    Ok(Err(refusal)) if options.strict || matches!(refusal, Refusal::Older { .. }) => {
                        failures += &renderer.refused(&input.to_string(), &text, &refusal);
                    }
                    Ok(Err(refusal)) => {
                        warn_refused(cargo, &input, &Diagnostics::new(&text, refusal)).map_err(telling)?;
                        results.push(text);
                    }
                    Err(()) => {
                        let warning = format!("{input}: left as it is: a bug of ptxopt, please report it");
                        cargo::warning(cargo, &warning).map_err(telling)?;
                        results.push(text);
                    }
                },
            }
        }
        if !failures.is_empty() {
            return Err(Error(failures));
        }
        for (output, text) in outputs.iter().zip(&results) {
            let written = Output::File(output.clone()).write(std::iter::once(&text[..]));
            written.map_err(|error| failure(format!("cannot write `{}`: {error}", output.display())))?;
        }
        Ok(outputs)
    }

    fn all_options(&self) -> Result<Options, String> {
        let named =
            |options: Options, name: &String| options.gpu(name).map_err(|unknown| unknown.to_string());
        self.gpus.iter().try_fold(self.options.clone(), named)
    }

    /// Where each file goes.
    fn outputs(&self, out_dir: &Path) -> Result<Vec<PathBuf>, String> {
        let mut taken: BTreeMap<&OsStr, &Path> = BTreeMap::new();
        let output = |path: &PathBuf| out_dir.join(path.file_name().unwrap_or_default());
        for path in &self.files {
            let name = path.file_name().ok_or_else(|| format!("`{}` is not a file", path.display()))?;
            if !cargo::can_name(path) {
                return Err(format!("`{}`: Cargo cannot be told of a file with this name", path.display()));
            }
            if let Some(other) = taken.insert(name, path) {
                let (one, other) = (other.display(), path.display());
                return Err(format!("`{one}` and `{other}` would be written to the same file"));
            }
        }
        Ok(self.files.iter().map(output).collect())
    }
}

/// Runs what may panic, which is a bug; the message goes to standard error as usual.
fn guarded<T>(run: impl FnOnce() -> T) -> Result<T, ()> {
    // Nothing that it could leave half done is used afterwards: text and options are only read.
    catch_unwind(AssertUnwindSafe(run)).map_err(drop)
}

/// What a user of the package should know about a file that was optimised.
fn warn(
    cargo: &mut dyn Write,
    input: &Input,
    outcome: &Outcome,
    refused: Option<AssemblerFailure>,
) -> io::Result<()> {
    for unknown in &outcome.warnings {
        cargo::warning(cargo, &format!("{input}:{unknown}"))?;
    }
    for bug in outcome.remarks.iter().filter(|remark| remark.kind == RemarkKind::Failure) {
        cargo::warning(cargo, &format!("{input}:{bug}"))?;
    }
    if let Some(failure) = refused {
        let bug = "a bug of ptxopt, please report it: its result was not written, since";
        cargo::warning(cargo, &format!("{input}: left as it is: {bug} {failure}"))?;
    }
    Ok(())
}

/// Why a file stays as it is.
fn warn_refused(cargo: &mut dyn Write, input: &Input, diagnostics: &Diagnostics) -> io::Result<()> {
    for diagnostic in diagnostics.iter() {
        cargo::warning(cargo, &format!("{input}:{diagnostic}"))?;
    }
    cargo::warning(cargo, &format!("{input}: left as it is: ptxopt cannot read it as PTX"))
}
