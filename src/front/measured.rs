//! Keeps what got better: what changed is assembled before and after, with the options of the build, and functions that
//! got longer or spill more go back to the text that came.
//!
//! A run with statistics is all that the build asked for if it asked for statistics itself; then what it wrote is the
//! result. If it did not, the assembler writes into its cubin that it was asked for them, so it is run once more.

use super::command_line::{Assembly, Source};
use super::ended::how;
use super::{Front, Inputs, unwritten};
use crate::measure::{Comparison, Leave, Measured, cubin, number, rolled};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Output;

/// What became of an assembly whose inputs changed, and what is told of it in the log.
pub(super) enum Kept {
    /// The assembler wrote the output; what it printed.
    Written { said: Output, news: String },
    /// It is to assemble what came, which is as good.
    Came { news: String },
    /// It failed, and may fail on what came too: why that is assembled, should it succeed.
    Failed { why: String },
}

/// A run of the assembler, whose output is in a temporary file.
struct Run {
    said: Output,
    output: PathBuf,
}

/// Assembles both ways, until nothing is worse; `files` are those that stand for the inputs.
pub(super) fn better(
    front: &Front,
    inputs: &Inputs<'_>,
    files: &mut [Option<PathBuf>],
) -> Result<Kept, String> {
    let came = vec![None; files.len()];
    let run = |files: &[Option<PathBuf>], name: &str| assembled(front, inputs, files, name);
    let (before, after) = std::thread::scope(|scope| {
        let before = std::thread::Builder::new().spawn_scoped(scope, || run(&came, "before"));
        let after = run(files, "after");
        let before = match before {
            Ok(before) => before.join().unwrap_or_else(|_| Err("a thread was lost".to_owned())),
            // One after the other, where there can be no more threads.
            Err(_) => run(&came, "before"),
        };
        (before, after)
    });
    let (before, mut after) = (before?, after?);
    if !before.said.status.success() {
        return Ok(Kept::Failed { why: format!("it cannot be measured: {}", how(&before.said)) });
    }
    let counted = before.measured(inputs.assembly)?;
    let mut leave = Leave::default();
    let comparison = loop {
        if !after.said.status.success() {
            // Where there is no room for another cubin, it is not the text that is refused.
            let room = fs::copy(&before.output, inputs.folder.path().join("room"));
            return Err(room.map_or_else(|error| unwritten(&error), |_bytes| refused(&after.said)));
        }
        let comparison = Comparison::new(&counted, &after.measured(inputs.assembly)?);
        if !leave.worse(std::slice::from_ref(&comparison), || as_written(front, inputs, files))? {
            break Some(comparison);
        }
        if leave.all.is_some() {
            break None;
        }
        optimise_again(front, inputs, files, &leave)?;
        if files.iter().all(Option::is_none) {
            break None;
        }
        after = run(files, "after")?;
    };
    let mut news = comparison.as_ref().map_or_else(|| "nothing got better".to_owned(), told);
    for note in leave.notes().filter(|_| comparison.is_some()) {
        news += &format!("; {note}");
    }
    for (function, why) in &leave.functions {
        news += &format!("; `{function}` stays: {why}");
    }
    let chosen = match comparison {
        Some(_) => after,
        None => {
            files.fill(None);
            before
        }
    };
    written(front, inputs, files, chosen, news)
}

/// Why a text is not kept at which the assembler failed, where it does not fail at the one that came.
pub(super) fn refused(said: &Output) -> String {
    if said.status.code().is_none() {
        return format!("the assembler was ended: {}", how(said));
    }
    format!(
        "the assembler takes it as it came and not as it would be written: a bug of ptxopt, please report it: {}",
        how(said)
    )
}

/// Both ways with loops as they are written; nothing if the assembler does not take that.
fn as_written(
    front: &Front,
    inputs: &Inputs<'_>,
    files: &[Option<PathBuf>],
) -> Result<Vec<Comparison>, String> {
    let count = |files: &[Option<PathBuf>]| -> Result<Option<Measured>, String> {
        let Some(rolled) = rolled_up(inputs, files)? else { return Ok(None) };
        let run = assembled(front, inputs, &rolled, "rolled")?;
        run.said.status.success().then(|| run.measured(inputs.assembly)).transpose()
    };
    let Some(before) = count(&vec![None; files.len()])? else { return Ok(Vec::new()) };
    Ok(count(files)?.map(|after| Comparison::new(&before, &after)).into_iter().collect())
}

/// Files with a word to the assembler to leave loops as they are, in the place of those of the last call; `None` if one
/// cannot be read as PTX.
fn rolled_up(inputs: &Inputs<'_>, files: &[Option<PathBuf>]) -> Result<Option<Vec<Option<PathBuf>>>, String> {
    let mut all = Vec::with_capacity(files.len());
    for (number, (file, source)) in files.iter().zip(&inputs.assembly.inputs).enumerate() {
        let text = match (file, source) {
            (Some(path), _) | (None, Source::File(path)) => {
                fs::read(path).map_err(|error| error.to_string())?
            }
            (None, Source::Stdin) => inputs.stdin.clone().unwrap_or_default(),
        };
        let Some(rolled) = rolled(&text) else { return Ok(None) };
        let path = inputs.folder.path().join(format!("rolled-{number}.ptx"));
        fs::write(&path, rolled).map_err(|error| unwritten(&error))?;
        all.push(Some(path));
    }
    Ok(Some(all))
}

fn told(comparison: &Comparison) -> String {
    let (before, after) = comparison.instructions();
    format!("{before} machine instructions became {after}")
}

/// Optimises those that changed once more, without the functions that got worse.
fn optimise_again(
    front: &Front,
    inputs: &Inputs<'_>,
    files: &mut [Option<PathBuf>],
    leave: &Leave,
) -> Result<(), String> {
    for (number, file) in files.iter_mut().enumerate().filter(|(_, file)| file.is_some()) {
        *file = front.optimise_one(inputs, number, &leave.functions)?;
    }
    Ok(())
}

/// Assembles with statistics.
fn assembled(
    front: &Front,
    inputs: &Inputs<'_>,
    files: &[Option<PathBuf>],
    name: &str,
) -> Result<Run, String> {
    let output = inputs.folder.path().join(name);
    let mut arguments = inputs.assembly.arguments(files, Some(&output));
    if !inputs.assembly.verbose {
        arguments.push("--verbose".into());
    }
    Ok(Run { said: front.real.run(&arguments, inputs.stdin(files))?, output })
}

impl Run {
    fn measured(&self, assembly: &Assembly) -> Result<Measured, String> {
        let cubin =
            fs::read(&self.output).map_err(|error| format!("there is no cubin to measure: {error}"))?;
        let said = [&*self.said.stdout, &*self.said.stderr].concat();
        Measured::read(&cubin, number(&assembly.gpu), &String::from_utf8_lossy(&said))
    }
}

/// Writes the result of a run where the build wants it, or has the assembler write it.
fn written(
    front: &Front,
    inputs: &Inputs<'_>,
    files: &[Option<PathBuf>],
    run: Run,
    news: String,
) -> Result<Kept, String> {
    let assembly = inputs.assembly;
    if assembly.verbose && copied(&run.output, &assembly.output) {
        return Ok(Kept::Written { said: run.said, news });
    }
    if files.iter().all(Option::is_none) {
        return Ok(Kept::Came { news });
    }
    front.written(inputs, files, news, |said| format!("what was measured cannot be written: {}", how(said)))
}

impl Front {
    /// Has the assembler write the result; `why` tells of its failure.
    pub(super) fn written(
        &self,
        inputs: &Inputs<'_>,
        files: &[Option<PathBuf>],
        news: String,
        why: impl FnOnce(&Output) -> String,
    ) -> Result<Kept, String> {
        let assembly = inputs.assembly;
        // It does not notice that a device is full if all that it writes fits into its buffer. What came may be larger.
        let beside = is_special(&assembly.output).then(|| inputs.folder.path().join("beside"));
        // Whatever else is wrong with the output is for the assembler to find, and to say.
        let said = self.real.run(&assembly.arguments(files, beside.as_deref()), inputs.stdin(files))?;
        if !said.status.success() {
            return Ok(Kept::Failed { why: why(&said) });
        }
        let shown = assembly.output.display();
        // The same of a full disk.
        if !is_whole(beside.as_deref().unwrap_or(&assembly.output), &assembly.gpu) {
            return Err(format!("what the assembler wrote to `{shown}` is no cubin"));
        }
        if let Some(Err(error)) = beside.map(|beside| sent(&beside, &assembly.output)) {
            return Ok(Kept::Failed { why: format!("`{shown}` cannot be written: {error}") });
        }
        Ok(Kept::Written { said, news })
    }
}

/// Whether what a file has got is a cubin; what is no regular file cannot be asked.
fn is_whole(output: &Path, gpu: &str) -> bool {
    let is_file = fs::metadata(output).is_ok_and(|metadata| metadata.is_file());
    let is_cubin = |cubin: Vec<u8>| cubin::functions(&cubin, number(gpu)).is_ok();
    !is_file || fs::read(output).is_ok_and(is_cubin)
}

/// Whether an output is a device, a pipe or the like.
fn is_special(output: &Path) -> bool {
    fs::metadata(output).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

/// Writes a cubin to a special file, and notices if that cannot be done.
fn sent(from: &Path, to: &Path) -> io::Result<()> {
    let cubin = fs::read(from)?;
    OpenOptions::new().write(true).open(to)?.write_all(&cubin)
}

/// Copies a cubin to a new file or over a regular one.
fn copied(from: &Path, to: &Path) -> bool {
    let replaceable = fs::metadata(to).map_or(true, |metadata| metadata.is_file());
    replaceable && fs::read(from).and_then(|cubin| fs::write(to, cubin)).is_ok()
}
