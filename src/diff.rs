//! Unified diffs of lines.

use crate::printable::harmless;
use crate::render::Colour;
use crate::render::style::{BOLD, CYAN, GREEN, PLAIN, RED};
use imara_diff::sources::byte_lines;
use imara_diff::{Algorithm, Diff, Hunk, InternedInput};
use std::ops::Range;

/// How many unchanged lines stand around changed ones.
const CONTEXT: u32 = 3;

/// A line with its sign: `-`, `+` or a blank.
type Line<'t> = (u8, &'t [u8]);

/// Two texts, line by line, and what changed between them.
struct Lines<'t> {
    input: InternedInput<&'t [u8]>,
    changes: Vec<Hunk>,
}

impl<'t> Lines<'t> {
    fn new(old: &'t [u8], new: &'t [u8]) -> Self {
        let input = InternedInput::new(byte_lines(old), byte_lines(new));
        let mut diff = Diff::compute(Algorithm::Myers, &input);
        diff.postprocess_lines(&input);
        let changes = diff.hunks().collect();
        Self { input, changes }
    }

    fn before(&self, lines: Range<u32>) -> impl Iterator<Item = Line<'t>> {
        let tokens = &self.input.before[lines.start as usize..lines.end as usize];
        tokens.iter().map(|&token| (b'-', self.input.interner[token]))
    }

    fn after(&self, lines: Range<u32>) -> impl Iterator<Item = Line<'t>> {
        let tokens = &self.input.after[lines.start as usize..lines.end as usize];
        tokens.iter().map(|&token| (b'+', self.input.interner[token]))
    }

    /// Groups of changes whose context lines overlap or touch.
    fn groups(&self) -> impl Iterator<Item = &[Hunk]> {
        self.changes.chunk_by(|one, next| next.before.start - one.before.end <= 2 * CONTEXT)
    }

    /// The lines around and within a group of changes, each with its sign, and their line numbers before and after.
    fn shown(&self, group: &[Hunk]) -> (Range<u32>, Range<u32>, Vec<Line<'t>>) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else {
            return (0..0, 0..0, Vec::new());
        };
        let lead = first.before.start.min(CONTEXT);
        let count = u32::try_from(self.input.before.len()).expect("lines are numbered in 32 bits");
        let trail = (count - last.before.end).min(CONTEXT);
        let mut lines = Vec::new();
        let mut at = first.before.start - lead;
        for change in group {
            lines.extend(self.before(at..change.before.start).map(|(_, line)| (b' ', line)));
            lines.extend(self.before(change.before.clone()));
            lines.extend(self.after(change.after.clone()));
            at = change.before.end;
        }
        lines.extend(self.before(at..at + trail).map(|(_, line)| (b' ', line)));
        let old = first.before.start - lead..last.before.end + trail;
        let new = first.after.start - lead..last.after.end + trail;
        (old, new, lines)
    }
}

/// Where the lines of a text come from that was made of another one.
pub(crate) struct Origins(Vec<Hunk>);

impl Origins {
    pub(crate) fn new(old: &[u8], new: &[u8]) -> Self {
        Self(Lines::new(old, new).changes)
    }

    /// The number from 1 of the old line that a new line was; for one that was changed, of the first of those that were
    /// changed together, and for one that was added, of the line before.
    pub(crate) fn of(&self, line: u32) -> u32 {
        let at = line.saturating_sub(1);
        let count = self.0.partition_point(|change| change.after.start <= at);
        let Some(change) = count.checked_sub(1).map(|last| &self.0[last]) else { return line };
        if at >= change.after.end {
            return change.before.end + (at - change.after.end) + 1;
        }
        if change.before.is_empty() { change.before.start.max(1) } else { change.before.start + 1 }
    }
}

/// A line of either text beside what stands there in the other one, each with its number from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row<'t> {
    pub(crate) before: Option<(u32, &'t [u8])>,
    pub(crate) after: Option<(u32, &'t [u8])>,
    pub(crate) changed: bool,
}

/// Groups of changed lines side by side, with some lines of context; nothing if the texts are equal.
pub(crate) fn aligned<'t>(old: &'t [u8], new: &'t [u8]) -> Vec<Vec<Row<'t>>> {
    let diff = Lines::new(old, new);
    let line = |tokens: &[imara_diff::Token], at: u32| (at, diff.input.interner[tokens[at as usize]]);
    let before = |at: u32| line(&diff.input.before, at);
    let after = |at: u32| line(&diff.input.after, at);
    let same = |from: Range<u32>, to: u32| {
        let both = from.zip(to..);
        both.map(|(one, other)| Row { before: Some(before(one)), after: Some(after(other)), changed: false })
    };
    let rows = |group: &[Hunk]| {
        let (old, new, _) = diff.shown(group);
        let mut rows = Vec::new();
        let (mut one, mut other) = (old.start, new.start);
        for change in group {
            rows.extend(same(one..change.before.start, other));
            let height = change.before.len().max(change.after.len());
            let mut removed = change.before.clone().map(before);
            let mut added = change.after.clone().map(after);
            rows.extend((0..height).map(|_| Row {
                before: removed.next(),
                after: added.next(),
                changed: true,
            }));
            (one, other) = (change.before.end, change.after.end);
        }
        rows.extend(same(one..old.end, other));
        rows
    };
    diff.groups().map(rows).collect()
}

/// The diff of two texts with these names; nothing if they are equal.
///
/// With colours, control characters of the texts are made visible for a terminal; without, the diff is exact.
#[must_use]
pub fn unified((old_name, old): (&str, &[u8]), (new_name, new): (&str, &[u8]), colour: Colour) -> Vec<u8> {
    let mut out = Vec::new();
    if old == new {
        return out;
    }
    let diff = Lines::new(old, new);
    line(&mut out, BOLD, format!("--- {old_name}\n").as_bytes(), colour);
    line(&mut out, BOLD, format!("+++ {new_name}\n").as_bytes(), colour);
    for group in diff.groups() {
        let (old, new, lines) = diff.shown(group);
        let header = format!("@@ -{} +{} @@\n", numbers(&old), numbers(&new));
        line(&mut out, CYAN, header.as_bytes(), colour);
        for (sign, text) in lines {
            let style = match sign {
                b'-' => RED,
                b'+' => GREEN,
                _ => PLAIN,
            };
            let text = [&[sign], text].concat();
            line(&mut out, style, &text, colour);
            if !text.ends_with(b"\n") {
                out.extend(b"\n\\ No newline at end of file\n");
            }
        }
    }
    out
}

/// A range of lines in the form of `patch`: the number of the first line, or of the line before an empty range.
fn numbers(lines: &Range<u32>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        count => format!("{},{count}", lines.start + 1),
    }
}

/// The lines `shown` of `old` and their replacements, each with its sign.
#[must_use]
pub fn marked(old: &str, new: &str, shown: Range<u32>) -> Vec<String> {
    let diff = Lines::new(old.as_bytes(), new.as_bytes());
    let unchanged = |from: u32, to: u32| {
        let (from, to) = (from.max(shown.start), to.min(shown.end));
        diff.before(from..to.max(from)).map(|(_, line)| (b' ', line))
    };
    let (mut lines, mut at) = (Vec::new(), 0);
    for change in diff.changes.iter().filter(|change| change.before.start >= shown.start) {
        lines.extend(unchanged(at, change.before.start));
        lines.extend(diff.before(change.before.clone()));
        lines.extend(diff.after(change.after.clone()));
        at = change.before.end;
    }
    lines.extend(unchanged(at, shown.end));
    let text = |(sign, line): (u8, &[u8])| {
        format!("{} {}", char::from(sign), String::from_utf8_lossy(line).trim_end())
    };
    lines.into_iter().map(text).collect()
}

fn line(out: &mut Vec<u8>, style: &str, text: &[u8], colour: Colour) {
    match colour {
        Colour::None => out.extend(text),
        Colour::Terminal => {
            let (body, feed) = text.strip_suffix(b"\n").map_or((text, ""), |body| (body, "\n"));
            let shown = |c: char| if c == '\t' { c } else { harmless(c) };
            let body: String = String::from_utf8_lossy(body).chars().map(shown).collect();
            out.extend((colour.paint(style, &body) + feed).as_bytes());
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
    fn lines_stand_beside_those_that_take_their_place() {
        let groups = aligned(b"a\nb\nc\nd\n", b"a\nx\ny\nd\nz\n");
        let [rows] = &groups[..] else { panic!("{groups:?}") };
        let text = |side: Option<(u32, &[u8])>| {
            side.map(|(at, line)| format!("{at}{}", String::from_utf8_lossy(line).trim_end()))
                .unwrap_or_default()
        };
        let rows: Vec<String> = rows
            .iter()
            .map(|row| format!("{} {} {}", text(row.before), text(row.after), row.changed))
            .collect();
        assert_eq!(rows, ["0a 0a false", "1b 1x true", "2c 2y true", "3d 3d false", " 4z true"]);
    }

    #[test]
    fn each_line_comes_from_one_before() {
        let origins = Origins::new(b"a\nb\nc\nd\ne\nf\n", b"new\na\nx\ny\nz\nd\nf\nmore\n");
        let of: Vec<u32> = (1..=8).map(|line| origins.of(line)).collect();
        assert_eq!(of, [1, 1, 2, 2, 2, 4, 6, 6]);
        assert_eq!(Origins::new(b"a\n", b"a\n").of(1), 1);
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
