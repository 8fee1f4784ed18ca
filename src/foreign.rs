//! Inputs that are often mistaken for PTX, recognised by their first bytes or by a line that does not occur in PTX.
//!
//! Used only for inputs that are not valid PTX, so that a wrong guess affects only the error message.

use ptxopt_grammar::diagnostic::Diagnostic;

/// What an input is, and what to do with it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Foreign {
    /// As in "`x.ptx` is …".
    pub(crate) what: &'static str,
    /// What to do.
    pub(crate) help: &'static str,
    /// The place in a text that shows it; `None` for binary files.
    pub(crate) place: Option<std::ops::Range<usize>>,
}

/// The number of NVIDIA's GPUs in the head of an ELF file.
const EM_CUDA: [u8; 2] = [190, 0];

const FATBIN: &str = "`cuobjdump -ptx FILE` prints the PTX in it, if there is any";
const LLVM: &str = "compile it first: `llc -march=nvptx64 -mcpu=sm_90 FILE -o -`";
const UTF_16: &str = "convert it first: `iconv -f UTF-16 -t UTF-8 FILE`";

/// Binary files by their first bytes.
const BINARY: [(&[u8], &str, &str); 6] = [
    (b"\x50\xed\x55\xba", "a fatbin, not PTX", FATBIN),
    (b"BC\xc0\xde", "LLVM bitcode, not PTX", LLVM),
    (b"\xde\xc0\x17\x0b", "LLVM bitcode, not PTX", LLVM),
    (b"\x7fELF", "an ELF file, not PTX", FATBIN),
    (b"\xff\xfe", "text in UTF-16, and PTX is ASCII", UTF_16),
    (b"\xfe\xff", "text in UTF-16, and PTX is ASCII", UTF_16),
];

/// Texts by the first word of one of their lines.
const TEXTS: [(&[&str], &str, &str); 2] = [
    (
        &["; ModuleID", "source_filename =", "target datalayout", "target triple", "define ", "declare "],
        "LLVM IR, not PTX",
        LLVM,
    ),
    (
        &["#include", "__global__", "__device__", "extern \"C\"", "template"],
        "CUDA C++, not PTX",
        "compile it first: `nvcc -ptx FILE -o -`",
    ),
];

/// What `text`, which is not valid PTX, is instead, if that is known.
#[must_use]
pub(crate) fn recognise(text: &[u8]) -> Option<Foreign> {
    let bytes = |what, help| Some(Foreign { what, help, place: None });
    if text.starts_with(b"\x7fELF") && text.get(18..20) == Some(&EM_CUDA) {
        return bytes("a cubin, machine code of a GPU, not PTX", FATBIN);
    }
    if let Some((_, what, help)) = BINARY.iter().find(|(head, ..)| text.starts_with(head)) {
        return bytes(what, help);
    }
    if is_utf_16(text) {
        return bytes("text in UTF-16, and PTX is ASCII", UTF_16);
    }
    if text.starts_with(b"\xef\xbb\xbf") {
        let help = "take it out: `tail -c +4 FILE`";
        return Some(Foreign {
            what: "PTX behind a byte order mark, which assemblers refuse",
            help,
            place: Some(0..3),
        });
    }
    // A text with `.version` is PTX, even if its comments quote other languages.
    let lines = || text.split_inclusive(|&byte| byte == b'\n').map(|line| (line, line.trim_ascii_start()));
    if lines().any(|(_, line)| line.starts_with(b".version")) {
        return None;
    }
    TEXTS.iter().find_map(|(heads, what, help)| {
        let mut start = 0;
        for (whole, line) in lines() {
            let at = start + whole.len() - line.len();
            start += whole.len();
            if let Some(head) = heads.iter().find(|head| line.starts_with(head.as_bytes())) {
                return Some(Foreign { what, help, place: Some(at..at + head.len()) });
            }
        }
        None
    })
}

/// Whether every other byte of the beginning is zero, as it is in ASCII that is written in 16 bits.
fn is_utf_16(text: &[u8]) -> bool {
    let head = &text[..text.len().min(64) & !1];
    let zero = |at: usize| head.chunks_exact(2).all(|pair| pair[at] == 0 && pair[1 - at] != 0);
    head.len() >= 8 && (zero(0) || zero(1))
}

impl Foreign {
    /// The message at the place in a text that shows it; `None` for binary files.
    #[must_use]
    pub(crate) fn diagnostic(&self) -> Option<Diagnostic> {
        let place = self.place.clone()?;
        Some(
            Diagnostic::new(place, format!("this is {}", self.what))
                .label("expected `.version`")
                .help(self.help),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn what(text: &[u8]) -> Option<&'static str> {
        recognise(text).map(|foreign| foreign.what)
    }

    #[test]
    fn files_of_bytes_are_named() {
        let mut elf = b"\x7fELF\x02\x01\x01".to_vec();
        elf.resize(64, 0);
        assert_eq!(what(&elf), Some("an ELF file, not PTX"));
        elf[18] = 190;
        assert_eq!(what(&elf), Some("a cubin, machine code of a GPU, not PTX"));
        assert_eq!(what(b"\x50\xed\x55\xba\x01\x00"), Some("a fatbin, not PTX"));
        assert_eq!(what(b"BC\xc0\xde5\x14"), Some("LLVM bitcode, not PTX"));
    }

    #[test]
    fn texts_are_named_where_they_show_it() {
        let found = recognise(b"; a comment\n  define void @k() {\n").expect("it is LLVM IR");
        assert_eq!((found.what, found.place), ("LLVM IR, not PTX", Some(14..21)));
        assert_eq!(what(b"// x\n#include <cuda.h>\n"), Some("CUDA C++, not PTX"));
        assert_eq!(what(b"__global__ void k() {}"), Some("CUDA C++, not PTX"));
    }

    #[test]
    fn other_encodings_are_named() {
        let ascii = ".version 8.0\n.target sm_90\n";
        let wide = |bytes: fn(u16) -> [u8; 2]| ascii.encode_utf16().flat_map(bytes).collect::<Vec<_>>();
        let expected = Some("text in UTF-16, and PTX is ASCII");
        assert_eq!(what(&wide(u16::to_le_bytes)), expected);
        assert_eq!(what(&wide(u16::to_be_bytes)), expected);
        assert_eq!(what(&[b"\xff\xfe", &wide(u16::to_le_bytes)[..]].concat()), expected);
        let marked = [b"\xef\xbb\xbf", ascii.as_bytes()].concat();
        assert_eq!(recognise(&marked).and_then(|foreign| foreign.place), Some(0..3));
    }

    #[test]
    fn broken_ptx_is_ptx() {
        for text in [
            &b""[..],
            b"\0\0\0\0\0\0\0\0",
            b".version 8.0\n// from:\n__global__ void k()\n",
            b"\n  .version 8.0\ndefine",
            b"mov.u32 %r1, 1;\n",
        ] {
            assert_eq!(recognise(text), None);
        }
    }
}
