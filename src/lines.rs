//! Lines and columns of offsets in a text, for many offsets of one text.

use ptxopt_grammar::diagnostic::Position;

/// Where the lines of a text begin.
#[derive(Clone, Debug)]
pub(crate) struct Lines {
    /// The offset after each line feed.
    starts: Vec<usize>,
}

impl Lines {
    /// The lines of `text`.
    #[must_use]
    pub(crate) fn of(text: &[u8]) -> Self {
        let feeds = text.iter().enumerate().filter(|&(_, &byte)| byte == b'\n');
        Self { starts: feeds.map(|(at, _)| at + 1).collect() }
    }

    /// The line and column of an offset.
    #[must_use]
    pub(crate) fn position(&self, offset: usize) -> Position {
        let before = self.starts.partition_point(|&start| start <= offset);
        let start = before.checked_sub(1).map_or(0, |last| self.starts[last]);
        Position { line: before + 1, column: offset - start + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = b"\n.version 8.0\r\n\n.target sm_75\n.func f() {}";

    #[test]
    fn positions_are_those_of_diagnostics() {
        let lines = Lines::of(TEXT);
        for offset in 0..TEXT.len() {
            let expected = ptxopt_grammar::diagnostic::position(TEXT, offset);
            assert_eq!(lines.position(offset), expected);
        }
    }
}
