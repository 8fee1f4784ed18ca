//! What the assembler printed, as it is about the texts that the user has.
//!
//! Where another file stood for an input, its name is replaced by that of the input, and the numbers of its lines by
//! those of the lines that they come from. All else stays as it is, byte for byte.

use super::command_line::Source;
use crate::diff::Origins;
use std::cell::OnceCell;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::Output;

/// What stands between a name and a number in the assembler's messages.
const LINE: &[u8] = b", line ";

/// A file that stood for an input.
pub(super) struct Instead<'a> {
    file: &'a Path,
    source: &'a Source,
    /// The text that came on standard input.
    stdin: Option<&'a [u8]>,
    /// Computed for the first message with a line; `None` if one of the texts is gone.
    origins: OnceCell<Option<Origins>>,
}

impl<'a> Instead<'a> {
    pub(super) fn new(file: &'a Path, source: &'a Source, stdin: Option<&'a [u8]>) -> Self {
        Self { file, source, stdin, origins: OnceCell::new() }
    }

    /// The bytes of the name that the assembler was given.
    fn given(&self) -> &[u8] {
        self.file.as_os_str().as_encoded_bytes()
    }

    fn name(&self) -> &[u8] {
        match self.source {
            Source::Stdin => b"<stdin>",
            Source::File(path) => OsStr::as_encoded_bytes(path.as_os_str()),
        }
    }

    /// The line of the input that a line of the file comes from.
    fn origin(&self, line: u32) -> Option<u32> {
        let origins = self.origins.get_or_init(|| {
            let written = fs::read(self.file).ok()?;
            Some(match self.source {
                Source::Stdin => Origins::new(self.stdin?, &written),
                Source::File(path) => Origins::new(&fs::read(path).ok()?, &written),
            })
        });
        Some(origins.as_ref()?.of(line))
    }

    /// The number at the start of a text as that of a line of the input, and how many digits it has.
    fn number(&self, text: &[u8]) -> Option<(u32, usize)> {
        let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let line = std::str::from_utf8(&text[..digits]).ok()?.parse().ok()?;
        Some((self.origin(line)?, digits))
    }
}

/// Prints what the assembler printed.
pub(super) fn replay(said: &Output, instead: &[Instead<'_>]) {
    // Closed outputs are nothing to report.
    let _unheard =
        io::stdout().write_all(&translated(&said.stdout, instead)).and_then(|()| io::stdout().flush());
    let _unheard = io::stderr().write_all(&translated(&said.stderr, instead));
}

fn translated(text: &[u8], instead: &[Instead<'_>]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, next)) = rest.split_first() {
        let Some(one) = instead.iter().find(|one| rest.starts_with(one.given())) else {
            out.push(byte);
            rest = next;
            continue;
        };
        out.extend(one.name());
        rest = &rest[one.given().len()..];
        if let Some(number) = rest.strip_prefix(LINE)
            && let Some((line, digits)) = one.number(number)
        {
            out.extend(LINE);
            out.extend(line.to_string().as_bytes());
            rest = &number[digits..];
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_lines_are_those_of_what_came() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let file = folder.path().join("0");
        fs::write(&file, "a\nnew\nnew\nc\nd\n").expect("a file can be written");
        let instead = [Instead::new(&file, &Source::Stdin, Some(b"a\nold\nc\nd\n"))];
        let name = file.display();
        let said =
            format!("ptxas {name}, line 4; warning : {name}, line x\nptxas {name}, line 3; line 3\n{name}");
        let expected =
            "ptxas <stdin>, line 3; warning : <stdin>, line x\nptxas <stdin>, line 2; line 3\n<stdin>";
        assert_eq!(String::from_utf8_lossy(&translated(said.as_bytes(), &instead)), expected);
        assert_eq!(translated(b"ptxas k.ptx, line 4", &instead), b"ptxas k.ptx, line 4");
    }
}
