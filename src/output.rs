//! Writes outputs: a file completely or not at all.
//!
//! A file is written under a temporary name in the directory of its target and then renamed, so that no other program
//! sees an incomplete file and a failure leaves the target unchanged. An existing target keeps its permissions; of a
//! symbolic link, the file that it points to is replaced. Anything but a regular file (a pipe, `/dev/null`) is written
//! to directly, and so is a descriptor that the process inherited, such as `/dev/fd/3`: if its file were replaced, the
//! program that opened it would keep the old one.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Write};
use std::path::{Component, Path, PathBuf};

/// Where an output goes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Output {
    /// Standard output, written `-`.
    Stdout,
    /// A file.
    File(PathBuf),
}

/// As many links as Linux follows.
const MOST_LINKS: usize = 40;

/// The names of standard output.
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
    /// If the operating system reports an error, or the target is a directory or a read-only file.
    pub fn write<'a>(&self, slices: impl Iterator<Item = &'a [u8]>) -> io::Result<()> {
        self.begin()?.write(slices)
    }

    /// Checks that it can be written, without changing an existing file.
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

/// An output that can be written. If it is dropped without being written, nothing is left of it.
#[derive(Debug)]
pub struct Begun(Target);

#[derive(Debug)]
enum Target {
    Stdout,
    /// A pipe, a device or a descriptor, which is written to directly.
    InPlace(PathBuf, OpenOptions),
    /// A regular file, which is new or replaces another.
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
    /// If the operating system reports an error.
    pub fn write<'a>(self, slices: impl Iterator<Item = &'a [u8]>) -> io::Result<()> {
        match self.0 {
            Target::Stdout => to_stdout(|out| write_slices(out, slices)),
            Target::InPlace(path, options) => {
                unless_closed(options.open(path).and_then(|file| write_buffered(&file, slices)))
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

/// Ignores the error that the reading end of a pipe is closed.
fn unless_closed(written: io::Result<()>) -> io::Result<()> {
    written.or_else(|error| if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })
}

/// Runs `write` on buffered standard output. If its reading end is closed, as in `ptxopt dump x.ptx | head`, that is
/// not an error.
///
/// # Errors
///
/// Any other failure to write.
pub fn to_stdout(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = buffered(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            // The rest of the buffer cannot be written.
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

/// Slices larger than the buffer are written without copying them.
fn buffered<W: Write>(to: W) -> BufWriter<W> {
    BufWriter::with_capacity(1 << 16, to)
}

fn begin(path: &Path) -> io::Result<Target> {
    if is_descriptor(path) {
        // The descriptor may be in the middle of a file, whose earlier contents must be kept.
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

/// Whether a path names an open descriptor of the process, such as `/dev/fd/3` or `/dev/stderr`.
fn is_descriptor(path: &Path) -> bool {
    let folders = ["/dev/fd", "/proc/self/fd"].map(Path::new);
    path == Path::new("/dev/stderr") || path.parent().is_some_and(|parent| folders.contains(&parent))
}

/// The file that `path` finally leads to, the same for all paths that lead to it. Links are followed even if their
/// target does not exist yet. `None` for what several outputs may share, such as `/dev/null`.
#[must_use]
pub fn leads_to(path: &Path) -> Option<PathBuf> {
    if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        return None;
    }
    // Where links go in circles, the failure to write says so.
    real(path).or_else(|_| std::path::absolute(path)).ok()
}

/// As `canonicalize`, but the file and its directories may be missing.
fn real(path: &Path) -> io::Result<PathBuf> {
    match path.canonicalize() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        found => return found,
    }
    // Links in circles are another error, so this ends: the parent has less left to follow.
    let path = follow_links(path)?;
    let (Some(parent), Some(last)) = (path.parent(), path.components().next_back()) else {
        return Path::new(".").canonicalize();
    };
    let mut real = real(parent)?;
    if last == Component::ParentDir {
        // The parent is missing; once it is created, it is a directory and no link.
        let _below_root: bool = real.pop();
    } else {
        real.push(last);
    }
    Ok(real)
}

/// The path that the symbolic links at `path` lead to, whether it exists or not.
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
        // The permissions of any new file, reduced by the umask; the default of the crate is for the owner only.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    // The error of the crate names the temporary file, which means nothing to the user.
    builder.tempfile_in(directory).map_err(|error| {
        let (kind, directory) = (error.kind(), directory.display());
        let message = if kind == io::ErrorKind::NotFound {
            format!("there is no directory `{directory}`")
        } else {
            format!("cannot create a file in `{directory}`: {kind}")
        };
        io::Error::new(error.kind(), message)
    })
}
