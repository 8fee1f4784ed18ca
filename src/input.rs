//! Reads inputs: a file or standard input, as bytes.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Where an input comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// Standard input, written `-`.
    Stdin,
    /// A file.
    File(PathBuf),
}

/// One byte more than the parser accepts: an input without end is read up to here, then rejected.
const MOST_BYTES: u64 = 1 << 32;

impl From<PathBuf> for Input {
    fn from(path: PathBuf) -> Self {
        if path.as_os_str() == "-" { Self::Stdin } else { Self::File(path) }
    }
}

impl std::fmt::Display for Input {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Stdin => f.write_str("<stdin>"),
            Self::File(path) => path.display().fmt(f),
        }
    }
}

impl Input {
    /// Reads all of it.
    ///
    /// # Errors
    ///
    /// If the operating system reports an error, or the path is a directory.
    pub fn read(&self) -> io::Result<Vec<u8>> {
        match self {
            Self::Stdin => read_all(io::stdin().lock(), 0),
            Self::File(path) => read_file(path),
        }
    }
}

fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory; name the files in it"));
    }
    read_all(file, metadata.len())
}

fn read_all(from: impl Read, expected: u64) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    // One byte more than the file, so that its end is found without growing the buffer.
    let capacity = usize::try_from(expected.min(MOST_BYTES) + 1).unwrap_or(usize::MAX);
    text.try_reserve_exact(capacity)?;
    from.take(MOST_BYTES).read_to_end(&mut text)?;
    Ok(text)
}
