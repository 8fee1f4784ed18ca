//! What changed, as a unified diff of lines.

use crate::render::{Colour, harmless};
use similar::{ChangeTag, TextDiff};

/// How many unchanged lines stand around changed ones.
const CONTEXT: usize = 3;

/// The diff of two texts that users know by these names; nothing if they are equal.
///
/// With colours it is for a terminal, and control characters of the texts are made visible; without, it is exact.
#[must_use]
pub fn unified((old_name, old): (&str, &[u8]), (new_name, new): (&str, &[u8]), colour: Colour) -> Vec<u8> {
    let mut out = Vec::new();
    if old == new {
        return out;
    }
    let diff = TextDiff::from_lines(old, new);
    line(&mut out, BOLD, format!("--- {old_name}\n").as_bytes(), colour);
    line(&mut out, BOLD, format!("+++ {new_name}\n").as_bytes(), colour);
    for hunk in diff.unified_diff().context_radius(CONTEXT).iter_hunks() {
        line(&mut out, CYAN, format!("{}\n", hunk.header()).as_bytes(), colour);
        for change in hunk.iter_changes() {
            let (sign, style) = match change.tag() {
                ChangeTag::Delete => (b'-', RED),
                ChangeTag::Insert => (b'+', GREEN),
                ChangeTag::Equal => (b' ', PLAIN),
            };
            let text = [&[sign], change.value()].concat();
            line(&mut out, style, &text, colour);
            if !text.ends_with(b"\n") {
                out.extend(b"\n\\ No newline at end of file\n");
            }
        }
    }
    out
}

/// The lines of `old` from `shown` on and up to its end, and all lines that changed, each with its sign.
#[must_use]
pub fn marked(old: &str, new: &str, shown: std::ops::Range<usize>) -> Vec<String> {
    let diff = TextDiff::from_lines(old, new);
    let lines = diff.iter_all_changes().filter_map(|change| {
        let sign = match change.tag() {
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
            ChangeTag::Equal if change.old_index().is_some_and(|at| shown.contains(&at)) => ' ',
            ChangeTag::Equal => return None,
        };
        Some(format!("{sign} {}", change.value().trim_end()))
    });
    lines.collect()
}

const PLAIN: &str = "";
const BOLD: &str = "\x1b[1m";
const RED: &str = "\x1b[31m";
const GREEN: &str = "\x1b[32m";
const CYAN: &str = "\x1b[36m";
const END: &str = "\x1b[0m";

fn line(out: &mut Vec<u8>, style: &str, text: &[u8], colour: Colour) {
    match colour {
        Colour::None => out.extend(text),
        Colour::Terminal => {
            let (body, feed) = text.strip_suffix(b"\n").map_or((text, ""), |body| (body, "\n"));
            let shown = |c: char| if c == '\t' { c } else { harmless(c) };
            let body: String = String::from_utf8_lossy(body).chars().map(shown).collect();
            let end = if style.is_empty() { "" } else { END };
            out.extend(format!("{style}{body}{end}{feed}").as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(old: &str, new: &str, colour: Colour) -> String {
        let out = unified(("a", old.as_bytes()), ("b", new.as_bytes()), colour);
        String::from_utf8(out).expect("the texts are UTF-8")
    }

    #[test]
    fn equal_texts_have_no_diff() {
        assert_eq!(diff("x\n", "x\n", Colour::Terminal), "");
    }

    #[test]
    fn a_line_is_replaced() {
        let expected = "--- a\n+++ b\n@@ -1,2 +1,2 @@\n x\n-y\n+z\n";
        assert_eq!(diff("x\ny\n", "x\nz\n", Colour::None), expected);
    }

    #[test]
    fn a_missing_line_feed_is_said() {
        let expected = "--- a\n+++ b\n@@ -1 +1 @@\n-y\n\\ No newline at end of file\n+y\n";
        assert_eq!(diff("y", "y\n", Colour::None), expected);
    }

    #[test]
    fn colours_and_harmless_control_characters() {
        let shown = diff("\x1b[2J\n", "\tz\n", Colour::Terminal);
        assert!(shown.contains("\x1b[31m-␛[2J\x1b[0m\n\x1b[32m+\tz\x1b[0m\n"), "{shown:?}");
    }
}
