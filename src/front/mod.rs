//! `ptxopt-ptxas`: stands for NVIDIA's assembler in a build, and optimises what it is given.
//!
//! The command line is the assembler's own, and so are its exit status, its messages and its output: it is always the
//! real assembler that writes them. Where nothing changed, this process becomes the assembler, with the very arguments
//! that it got. Whatever goes wrong before that is a line on standard error, and the module is assembled as it is.
//!
//! What changed is assembled both ways, and functions that got worse go back (`measured.rs`). The optimiser runs as a
//! child process (`child.rs`). A front that is killed leaves neither processes nor files (`helper.rs`, `keeper.rs`).

mod child;
mod command_line;
mod ended;
mod helper;
mod keeper;
mod measured;
mod messages;
mod options;
mod real;
mod settings;
mod version;

pub(crate) use helper::{Helper, helper};

use command_line::{Asked, Assembly, Source, Untouched};
use ended::{as_it, how};
use keeper::Folder;
use measured::Kept;
use messages::{Instead, replay};
use real::Real;
use settings::Settings;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus};

/// The names under which this program stands for the assembler.
const NAMES: [&str; 2] = ["ptxopt-ptxas", "ptxas"];

/// The highest exit status of `ptxopt`; Rust's own for a panic is higher.
const MOST_STATUS: i32 = 8;

/// The exit status where the assembler cannot be run; its own for a failure is 255.
const NO_ASSEMBLER: u8 = 127;

/// Whether a program of this name stands for the assembler.
pub(crate) fn is_called(program: &OsStr) -> bool {
    Path::new(program).file_stem().and_then(OsStr::to_str).is_some_and(|name| NAMES.contains(&name))
}

/// Runs the assembler with its own arguments, after optimising what they name.
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    let variable = |name: &str| std::env::var_os(name);
    let found = Real::find(&variable, std::env::current_exe().ok().as_deref());
    let status = found.and_then(|real| {
        if real.is_nested { real.become_it(arguments, None) } else { optimised(real, arguments) }
    });
    status.map_or_else(
        |why| {
            tell(&why);
            ExitCode::from(NO_ASSEMBLER)
        },
        as_it,
    )
}

fn optimised(real: Real, arguments: &[OsString]) -> Result<ExitStatus, String> {
    let variable = |name: &str| std::env::var_os(name);
    let settings = Settings::read(&variable).unwrap_or_else(|why| {
        tell(&format!("{why}; nothing is optimised"));
        Settings::disabled(&variable, why)
    });
    Front { real, settings }.run(arguments)
}

/// The assembler, and what the user wants.
struct Front {
    real: Real,
    settings: Settings,
}

/// What a command line asks for, with the files of options that it names.
fn understood(arguments: &[OsString]) -> Asked {
    // What is read from a pipe is lost for the assembler.
    let read = |file: &str| {
        let is_regular = fs::metadata(file).is_ok_and(|metadata| metadata.is_file());
        is_regular.then(|| fs::read_to_string(file).ok())?
    };
    command_line::understand(arguments, &read)
}

/// Why there is no temporary file.
fn unwritten(error: &io::Error) -> String {
    format!("temporary files cannot be written: {error}")
}

/// The inputs of an assembly, in a folder for files that are deleted at the end.
struct Inputs<'a> {
    assembly: &'a Assembly,
    /// Standard input, if it is one of them.
    stdin: Option<Vec<u8>>,
    folder: Folder,
}

impl Front {
    fn run(&self, arguments: &[OsString]) -> Result<ExitStatus, String> {
        if let Some(why) = &self.settings.disabled {
            // Only the log has to know what came.
            if self.settings.log.is_some()
                && let Some(of) = understood(arguments).of()
            {
                self.log(&of, &format!("not optimised: {why}"));
            }
            return self.unchanged(arguments, None);
        }
        match understood(arguments) {
            Asked::Version => self.version(arguments),
            Asked::Answer => self.unchanged(arguments, None),
            Asked::Untouched(Untouched { of, why, is_odd }) => {
                if is_odd {
                    tell(&format!("assembled as it is: {why}"));
                }
                self.log(&of, &format!("not optimised: {why}"));
                self.unchanged(arguments, None)
            }
            Asked::Assembly(assembly) => self.assemble(arguments, &assembly),
        }
    }

    /// Assembles what came.
    fn unchanged(&self, arguments: &[OsString], stdin: Option<&[u8]>) -> Result<ExitStatus, String> {
        self.real.become_it(arguments, stdin)
    }

    /// The assembler's version, and ptxopt's: who keeps what was compiled under that text must not mix the two, nor
    /// what different builds of ptxopt made.
    fn version(&self, arguments: &[OsString]) -> Result<ExitStatus, String> {
        let said = self.real.run(arguments, None)?;
        replay(&said, &[]);
        if said.status.success() {
            // A closed standard output is nothing to report.
            let _unheard = io::stdout().write_all(version::line(self.settings.keep_always).as_bytes());
        }
        Ok(said.status)
    }

    fn assemble(&self, arguments: &[OsString], assembly: &Assembly) -> Result<ExitStatus, String> {
        let mut stdin = None;
        if assembly.inputs.contains(&Source::Stdin) {
            let mut text = Vec::new();
            if let Err(error) = io::stdin().lock().read_to_end(&mut text) {
                self.log(&assembly.of(), &format!("not optimised: standard input cannot be read: {error}"));
                return self.unchanged(arguments, None);
            }
            stdin = Some(text);
        }
        let folder = match Folder::new() {
            Ok(folder) => folder,
            Err(error) => {
                let news = format!("assembled as it is: temporary files cannot be made: {error}");
                tell(&news);
                self.log(&assembly.of(), &news);
                return self.unchanged(arguments, stdin.as_deref());
            }
        };
        let inputs = Inputs { assembly, stdin, folder };
        let (mut files, failed) = self.optimise(&inputs);
        let mut told = if failed.is_empty() { "nothing to change".to_owned() } else { failed.join("; ") };
        if files.iter().any(Option::is_some) {
            let kept = if self.settings.keep_always {
                self.kept_always(&inputs, &files)
            } else {
                measured::better(self, &inputs, &mut files)
            };
            match kept {
                Ok(Kept::Written { said, news }) => {
                    self.log(&assembly.of(), &news);
                    replay(&said, &inputs.instead(&files));
                    return Ok(said.status);
                }
                Ok(Kept::Came { news }) => told = news,
                Ok(Kept::Failed { why }) => return self.after_failure(arguments, &inputs, &why),
                Err(why) => {
                    tell(&format!("assembled as it is: {why}"));
                    told = format!("assembled as it is: {why}");
                }
            }
        }
        self.log(&assembly.of(), &told);
        let Inputs { stdin, folder, .. } = inputs;
        // The process that becomes the assembler does not come back to delete it.
        drop(folder);
        self.unchanged(arguments, stdin.as_deref())
    }

    /// Assembles what came, after the assembler has failed: what it says is for the build, and only if it now succeeds
    /// is there something to tell.
    fn after_failure(
        &self,
        arguments: &[OsString],
        inputs: &Inputs<'_>,
        why: &str,
    ) -> Result<ExitStatus, String> {
        let said = self.real.run(arguments, inputs.stdin.as_deref())?;
        let news = if said.status.success() {
            let news = format!("assembled as it is: {why}");
            tell(&news);
            news
        } else {
            format!("the assembler fails at it as it came: {}", how(&said))
        };
        self.log(&inputs.assembly.of(), &news);
        replay(&said, &[]);
        Ok(said.status)
    }

    /// Optimises every input; the files of those that changed, and what failed.
    fn optimise(&self, inputs: &Inputs<'_>) -> (Vec<Option<PathBuf>>, Vec<String>) {
        let mut failed = Vec::new();
        let mut files = Vec::new();
        for (number, source) in inputs.assembly.inputs.iter().enumerate() {
            files.push(self.optimise_one(inputs, number, &BTreeMap::new()).unwrap_or_else(|why| {
                let why = format!("`{source}` is assembled as it is: {why}");
                tell(&why);
                failed.push(why);
                None
            }));
        }
        (files, failed)
    }

    /// Optimises an input without the functions that are left; its file, if it changed.
    fn optimise_one(
        &self,
        inputs: &Inputs<'_>,
        number: usize,
        leave: &BTreeMap<String, String>,
    ) -> Result<Option<PathBuf>, String> {
        let folder = inputs.folder.path().join(number.to_string());
        fs::create_dir_all(&folder).map_err(|error| unwritten(&error))?;
        let (input, name) = match &inputs.assembly.inputs[number] {
            Source::Stdin => {
                let input = folder.join("in");
                fs::write(&input, inputs.stdin.as_deref().unwrap_or_default())
                    .map_err(|error| unwritten(&error))?;
                (input, OsStr::new("stdin"))
            }
            Source::File(path) => {
                let is_regular = fs::metadata(path).map_err(|error| error.to_string())?.is_file();
                let name = path.file_name().filter(|_| is_regular).ok_or("it is not a regular file")?;
                (path.clone(), name)
            }
        };
        let output = folder.join("out").join(name);
        fs::create_dir_all(folder.join("out")).map_err(|error| unwritten(&error))?;
        let remarks = self.settings.remarks.as_ref().map(|_| folder.join("remarks"));
        let work = child::Work {
            input: &input,
            gpu: &inputs.assembly.gpu,
            output: &output,
            remarks: remarks.as_deref(),
            leave,
            time: self.settings.time,
        };
        let changed = work.run()?;
        if let (Some(remarks), Some(directory)) = (remarks, &self.settings.remarks)
            && let Err(error) = keep_remarks(&remarks, directory, name, &input, &inputs.assembly.gpu)
        {
            tell(&format!("remarks on `{}` are not written: {error}", name.display()));
        }
        Ok(changed.then_some(output))
    }

    /// Assembles what changed, unmeasured.
    fn kept_always(&self, inputs: &Inputs<'_>, files: &[Option<PathBuf>]) -> Result<Kept, String> {
        self.written(inputs, files, "changed, and not measured".to_owned(), measured::refused)
    }

    /// Adds a line to the log: of what, and what there is to tell.
    fn log(&self, of: &str, news: &str) {
        let Some(path) = &self.settings.log else { return };
        let line = format!("{}\n", crate::printable::shown(&format!("{of}: {news}")));
        let appended = OpenOptions::new().create(true).append(true).open(path);
        if let Err(error) = appended.and_then(|mut log| log.write_all(line.as_bytes())) {
            tell(&format!("the log `{}` cannot be written: {error}", path.display()));
        }
    }
}

impl Inputs<'_> {
    /// What the assembler reads as standard input, if that is not replaced by a file.
    fn stdin(&self, files: &[Option<PathBuf>]) -> Option<&[u8]> {
        let mut all = self.assembly.inputs.iter().zip(files);
        all.any(|(source, file)| *source == Source::Stdin && file.is_none()).then_some(self.stdin.as_deref()?)
    }

    /// The files that stand for inputs.
    fn instead<'i>(&'i self, files: &'i [Option<PathBuf>]) -> Vec<Instead<'i>> {
        let stdin = self.stdin.as_deref();
        let all = self.assembly.inputs.iter().zip(files);
        all.filter_map(|(source, file)| Some(Instead::new(file.as_ref()?, source, stdin))).collect()
    }
}

/// Copies remarks to where they are kept, under the name of the input, the GPU and what the text is: builds that run at
/// the same time do not replace each other's.
fn keep_remarks(remarks: &Path, directory: &Path, name: &OsStr, input: &Path, gpu: &str) -> io::Result<()> {
    let mut hasher = DefaultHasher::new();
    fs::read(input)?.hash(&mut hasher);
    let mut file = name.to_owned();
    file.push(format!(".{gpu}.{:016x}.json", hasher.finish()));
    fs::create_dir_all(directory)?;
    fs::copy(remarks, directory.join(file)).map(|_bytes| ())
}

/// A line on standard error.
fn tell(line: &str) {
    // If standard error cannot be written, this cannot be reported.
    let _unheard = io::stderr().write_all(format!("ptxopt: {}\n", crate::printable::shown(line)).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_by_the_name_of_the_assembler() {
        for (name, is) in [
            ("ptxopt-ptxas", true),
            ("/usr/bin/ptxas", true),
            ("ptxas.exe", true),
            ("ptxopt", false),
            ("", false),
        ] {
            assert_eq!(is_called(OsStr::new(name)), is, "{name}");
        }
    }
}
