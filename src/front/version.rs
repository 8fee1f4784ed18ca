//! The version that the front tells, by which others know what it made from what other builds of it made.
//!
//! A cache such as Triton's keeps what was compiled under the text that `--version` prints. The number of the version is
//! the same for all builds between two releases, so what the program is made of is told too.

use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::path::PathBuf;

/// The line that follows the assembler's own.
pub(super) fn line(keep_always: bool) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let build = build(std::env::current_exe().ok()).map_or_else(String::new, |build| format!(" ({build})"));
    let kept = if keep_always { "all that changed is kept" } else { "what got better is kept" };
    format!("Optimised by ptxopt {version}{build}, {kept}\n")
}

/// Sixteen digits that are those of a program and of copies of it; `None` if it is gone, as while it is replaced.
fn build(program: Option<PathBuf>) -> Option<String> {
    // Its keys are fixed. Another release of Rust may hash otherwise, but that makes another program too.
    let mut hasher = DefaultHasher::new();
    hasher.write(&fs::read(program?).ok()?);
    Some(format!("{:016x}", hasher.finish()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_its_file_there_is_the_version_alone() {
        assert_eq!(build(None), None);
        assert_eq!(build(Some("/nowhere/ptxopt-ptxas".into())), None);
        let line = line(true);
        assert!(line.starts_with(concat!("Optimised by ptxopt ", env!("CARGO_PKG_VERSION"), " (")), "{line}");
        assert!(line.ends_with("), all that changed is kept\n"), "{line}");
    }
}
