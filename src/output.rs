//! Writing outputs: all of a file or nothing of it.
//!
//! A file is written beside its target under a name of its own and then renamed, so that nobody ever sees half of
//! it and a failure leaves the target as it was. An existing target keeps its permissions, a link its link: what
//! the link points at is replaced. What is no regular file (a pipe, `/dev/null`) cannot be renamed and is written
//! to directly.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Where an output goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Standard output, written `-`.
    Stdout,
    /// A file.
    File(PathBuf),
}

/// As many links as Linux follows.
const MOST_LINKS: usize = 40;

impl From<PathBuf> for Output {
    fn from(path: PathBuf) -> Self {
        if path.as_os_str() == "-" { Self::Stdout } else { Self::File(path) }
    }
}

impl std::fmt::Display for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Stdout => f.write_str("<stdout>"),
            Self::File(path) => path.display().fmt(f),
        }
    }
}

impl Output {
    /// Writes `slices`, one after the other.
    ///
    /// # Errors
    ///
    /// What the operating system says, and that a directory or a read-only file is no target.
    pub fn write<'a>(&self, slices: impl Iterator<Item = &'a [u8]>) -> io::Result<()> {
        match self {
            Self::Stdout => to_stdout(|out| write_slices(out, slices)),
            Self::File(path) => write_file(path, slices),
        }
    }
}

/// Runs `write` on buffered standard output. That nobody reads it any more, as in `ptxopt dump x.ptx | head`, is
/// not a failure.
///
/// # Errors
///
/// Any other failure to write.
pub fn to_stdout(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = buffered(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            // What is left in the buffer can go nowhere.
            let (_stdout, _buffered) = out.into_parts();
            Ok(())
        }
        result => result,
    }
}

fn write_slices<'a>(mut to: impl Write, mut slices: impl Iterator<Item = &'a [u8]>) -> io::Result<()> {
    slices.try_for_each(|slice| to.write_all(slice))
}

fn write_buffered<'a>(to: &File, slices: impl Iterator<Item = &'a [u8]>) -> io::Result<()> {
    let mut out = buffered(to);
    write_slices(&mut out, slices)?;
    out.flush()
}

/// Slices larger than the buffer go past it, uncopied.
fn buffered<W: Write>(to: W) -> BufWriter<W> {
    BufWriter::with_capacity(1 << 16, to)
}

fn write_file<'a>(path: &Path, slices: impl Iterator<Item = &'a [u8]>) -> io::Result<()> {
    let path = follow_links(path)?;
    match fs::metadata(&path) {
        Ok(existing) if existing.is_dir() => {
            Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory"))
        }
        Ok(existing) if !existing.is_file() => {
            write_buffered(&OpenOptions::new().write(true).open(&path)?, slices)
        }
        Ok(existing) if existing.permissions().readonly() => {
            Err(io::Error::new(io::ErrorKind::PermissionDenied, "the file is read-only"))
        }
        Ok(existing) => replace(&path, Some(&existing), slices),
        Err(error) if error.kind() == io::ErrorKind::NotFound => replace(&path, None, slices),
        Err(error) => Err(error),
    }
}

/// What `path` points at in the end, whether that exists or not.
fn follow_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        if !fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_symlink()) {
            return Ok(path);
        }
        let target = fs::read_link(&path)?;
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    Err(io::Error::other("too many links"))
}

fn replace<'a>(
    path: &Path,
    existing: Option<&Metadata>,
    slices: impl Iterator<Item = &'a [u8]>,
) -> io::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let temporary = temporary_file(directory.unwrap_or(Path::new(".")))?;
    write_buffered(temporary.as_file(), slices)?;
    if let Some(existing) = existing {
        temporary.as_file().set_permissions(existing.permissions())?;
    }
    let _written: File = temporary.persist(path).map_err(|failure| failure.error)?;
    Ok(())
}

fn temporary_file(directory: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".ptxopt-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As any new file, less what the user's mask takes away; the default would be for the owner alone.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    // The error names a file that nobody asked for.
    builder.tempfile_in(directory).map_err(|error| {
        let message = format!("cannot create a file in `{}`: {}", directory.display(), error.kind());
        io::Error::new(error.kind(), message)
    })
}
