//! What a build script tells Cargo: lines on standard output.

use super::VARIABLES;
use crate::printable::shown;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// When to run the script again.
pub(super) fn depends(
    cargo: &mut dyn Write,
    files: &[PathBuf],
    out_dir: &Path,
    assembler: Option<&Path>,
) -> io::Result<()> {
    // What the script makes itself is newer than its beginning: Cargo would run it every time.
    for file in files.iter().filter(|file| !file.starts_with(out_dir)) {
        writeln!(cargo, "cargo::rerun-if-changed={}", file.display())?;
    }
    if let Some(program) = assembler.filter(|program| can_name(program)) {
        writeln!(cargo, "cargo::rerun-if-changed={}", program.display())?;
    }
    VARIABLES.iter().try_for_each(|variable| writeln!(cargo, "cargo::rerun-if-env-changed={variable}"))
}

/// Whether Cargo, which reads text in lines, can be told of a file.
pub(super) fn can_name(file: &Path) -> bool {
    file.to_str().is_some_and(|name| !name.contains(['\n', '\r']))
}

/// A warning, on one line.
pub(super) fn warning(cargo: &mut dyn Write, message: &str) -> io::Result<()> {
    writeln!(cargo, "cargo::warning={}", shown(message))
}
