//! The folder for temporary files, which is deleted whatever becomes of the front.
//!
//! Normally the front deletes it. A front that is killed cannot, so a second process waits for the front to end and
//! deletes what is left. It knows of the end by a pipe from the front, which the system closes.

use super::helper::Role;
use std::fs;
use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// How the name of the folder begins; nothing else is deleted.
const PREFIX: &str = "ptxopt-";

/// How often it is tried to delete a folder into which a process may be writing that is being ended, and the pauses.
const TRIES: u32 = 200;
const PAUSE: Duration = Duration::from_millis(10);

/// A folder for temporary files.
pub(super) struct Folder {
    // In this order: the keeper is told that it is no longer needed when the folder is gone.
    folder: TempDir,
    _keeper: Option<Keeper>,
}

/// The process that waits.
struct Keeper(Child);

impl Folder {
    pub(super) fn new() -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir()?;
        // Without it, the folder is left if the front is killed.
        let keeper = Keeper::of(folder.path()).ok();
        Ok(Self { folder, _keeper: keeper })
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Keeper {
    fn of(folder: &Path) -> io::Result<Self> {
        let mut command = Role::Keep.command()?;
        command.arg(std::path::absolute(folder)?);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        alone(&mut command);
        command.spawn().map(Self)
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        // The front may become the assembler next, which knows nothing of this child.
        let _ended = self.0.wait();
    }
}

/// What ends the front from a terminal does not end the keeper.
#[cfg(unix)]
fn alone(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

#[cfg(not(unix))]
fn alone(_command: &mut Command) {}

/// Waits for the front to end, and deletes the folder if that is still there.
pub(super) fn keep(folder: &Path) {
    if !folder.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(PREFIX.as_bytes())) {
        return;
    }
    // The front writes nothing: this returns at its end.
    let _read = io::copy(&mut io::stdin().lock(), &mut io::sink());
    for _ in 0..TRIES {
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => std::thread::sleep(PAUSE),
            Ok(()) | Err(_) => return,
        }
    }
}
