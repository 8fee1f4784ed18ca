//! Writing outputs: all of a file or nothing of it.
//!
//! A file is written beside its target under a name of its own and then renamed, so that nobody ever sees half of
//! it and a failure leaves the target as it was. An existing target keeps its permissions, a link its link: what
//! the link points at is replaced. What is no regular file (a pipe, `/dev/null`) cannot be renamed and is written
//! to directly, and so is what the process was given open, as `/dev/fd/3`: replacing its file would leave whoever
//! opened it with the old one.

use std::fs::{self, File, OpenOptions, Permissions};
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

/// What standard output is called.
const STDOUT: [&str; 4] = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];

impl From<PathBuf> for Output {
    fn from(path: PathBuf) -> Self {
        if STDOUT.iter().any(|name| path.as_os_str() == *name) { Self::Stdout } else { Self::File(path) }
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
        self.begin()?.write(slices)
    }

    /// Finds out whether it can be written, without touching what is there.
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write).
    pub fn begin(&self) -> io::Result<Begun> {
        match self {
            Self::Stdout => Ok(Begun(Target::Stdout)),
            Self::File(path) => begin(path).map(Begun),
        }
    }
}

/// An output that can be written. Nothing is left of it if it is not.
#[derive(Debug)]
pub struct Begun(Target);

#[derive(Debug)]
enum Target {
    Stdout,
    /// Something that is written to where it is.
    InPlace(PathBuf, OpenOptions),
    /// A file that replaces another, or none.
    Replaced {
        temporary: tempfile::NamedTempFile,
        path: PathBuf,
        permissions: Option<Permissions>,
    },
}

impl Begun {
    /// Writes `slices`, one after the other.
    ///
    /// # Errors
    ///
    /// What the operating system says.
    pub fn write<'a>(self, slices: impl Iterator<Item = &'a [u8]>) -> io::Result<()> {
        match self.0 {
            Target::Stdout => to_stdout(|out| write_slices(out, slices)),
            Target::InPlace(path, options) => {
                or_nobody_reads(options.open(path).and_then(|file| write_buffered(&file, slices)))
            }
            Target::Replaced { temporary, path, permissions } => {
                write_buffered(temporary.as_file(), slices)?;
                if let Some(permissions) = permissions {
                    temporary.as_file().set_permissions(permissions)?;
                }
                let _written: File = temporary.persist(path).map_err(|failure| failure.error)?;
                Ok(())
            }
        }
    }
}

/// That nobody reads a pipe any more is not a failure.
fn or_nobody_reads(written: io::Result<()>) -> io::Result<()> {
    written.or_else(|error| if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })
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

fn begin(path: &Path) -> io::Result<Target> {
    if is_descriptor(path) {
        // It was opened at some place of the file, and what was written before stays.
        let mut options = OpenOptions::new();
        options.append(true);
        return Ok(Target::InPlace(path.to_owned(), options));
    }
    let replaced = |path: &Path, permissions| {
        let path = follow_links(path)?;
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let temporary = temporary_file(directory.unwrap_or(Path::new(".")))?;
        Ok(Target::Replaced { temporary, path, permissions })
    };
    match fs::metadata(path) {
        Ok(existing) if existing.is_dir() => {
            Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory"))
        }
        Ok(existing) if existing.permissions().readonly() => {
            Err(io::Error::new(io::ErrorKind::PermissionDenied, "the file is read-only"))
        }
        Ok(existing) if !existing.is_file() => {
            let mut options = OpenOptions::new();
            options.write(true);
            Ok(Target::InPlace(path.to_owned(), options))
        }
        Ok(existing) => replaced(path, Some(existing.permissions())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => replaced(path, None),
        Err(error) => Err(error),
    }
}

/// Whether a path names something that the process has open: `/dev/fd/3`, `/dev/stderr`.
fn is_descriptor(path: &Path) -> bool {
    let folders = ["/dev/fd", "/proc/self/fd"].map(Path::new);
    path == Path::new("/dev/stderr") || path.parent().is_some_and(|parent| folders.contains(&parent))
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
