//! This program as a process that the front starts: the optimiser, the assembler that ends with the front, or the keeper
//! of its temporary files.
//!
//! A front can be killed at any time, so what it leaves must end by itself. The system ends the optimiser and the
//! assembler with the process that started them. The assembler cannot ask for that, so this program asks for it and
//! then becomes the assembler. Files have no such rule: the keeper waits until the front is gone, however that happened,
//! and then deletes them. No signal is caught for any of this, so a front that is killed ends by that signal.

use super::{NO_ASSEMBLER, child, keeper, tell};
use std::ffi::{OsStr, OsString};
use std::io;
use std::process::{Command, ExitCode};

/// The first argument of a helper. Then follow its role, the process that started it, and what the role needs.
const HELPER: &str = "--ptxopt-child";

/// What a helper is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Optimises a file: the seconds that it may take, and the command line of `ptxopt`.
    Optimise,
    /// Becomes the assembler: the program and its arguments.
    Assemble,
    /// Deletes a folder when the front is gone.
    Keep,
}

/// What a process that was started as a helper has to do.
pub(crate) enum Helper {
    /// Run `ptxopt` with this command line.
    Optimiser(Vec<OsString>),
    /// End: its work is done.
    Ended(ExitCode),
}

impl Role {
    const ALL: [Self; 3] = [Self::Optimise, Self::Assemble, Self::Keep];

    fn name(self) -> &'static str {
        match self {
            Self::Optimise => "optimise",
            Self::Assemble => "assemble",
            Self::Keep => "keep",
        }
    }

    /// A command that starts this program in this role.
    pub(super) fn command(self) -> io::Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args([HELPER, self.name()]).arg(std::process::id().to_string());
        Ok(command)
    }
}

/// What this process is to do as a helper; `None` if it is none.
pub(crate) fn helper() -> Option<Helper> {
    let mut arguments = std::env::args_os();
    let program = arguments.next()?;
    if arguments.next()? != HELPER {
        return None;
    }
    let role = arguments.next()?;
    let role = Role::ALL.into_iter().find(|known| role == known.name())?;
    let front = arguments.next()?;
    if role != Role::Keep && !ends_with(&front) {
        return Some(Helper::Ended(ExitCode::FAILURE));
    }
    match role {
        Role::Optimise => {
            child::limit(arguments.next()?.to_str()?.parse().ok()?);
            Some(Helper::Optimiser(std::iter::once(program).chain(arguments).collect()))
        }
        Role::Assemble => {
            let assembler = arguments.next()?;
            let error = super::real::replaced(Command::new(&assembler).args(arguments)).err();
            let why = error.map_or_else(String::new, |error| format!(": {error}"));
            tell(&format!("`{}` does not run{why}", assembler.display()));
            Some(Helper::Ended(ExitCode::from(NO_ASSEMBLER)))
        }
        Role::Keep => {
            keeper::keep(arguments.next()?.as_ref());
            Some(Helper::Ended(ExitCode::SUCCESS))
        }
    }
}

/// Has the system end this process with the front; whether the front is still there.
#[cfg(target_os = "linux")]
fn ends_with(front: &OsStr) -> bool {
    use rustix::process::{Signal, getppid, set_parent_process_death_signal};
    // Where that cannot be had, this process only ends later.
    let _set = set_parent_process_death_signal(Some(Signal::KILL));
    // The front may have ended before.
    getppid().is_some_and(|parent| front == parent.to_string().as_str())
}

#[cfg(not(target_os = "linux"))]
fn ends_with(_front: &OsStr) -> bool {
    true
}
