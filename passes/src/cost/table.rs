//! The text in which costs are kept: one line per row, one column per generation of GPUs.
//!
//! The command that measures writes with the functions that the optimiser reads with, so the two cannot disagree. The
//! text is short because costs of neighbouring generations differ little: words like those above are `~`, cells that
//! repeat are counted, cells that many rows have in common are written once and numbered, a column like the one on
//! its left is `=`, and such columns at the end of a line are left out.

use super::Cost;
use hashbrown::HashMap;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Generations of GPUs for which the assembler makes the same numbers of instructions.
#[derive(Debug)]
pub struct Generation {
    /// The GPU that was measured.
    pub gpu: &'static str,
    /// Those that were found to be like it, on a part of the forms.
    pub like_it: &'static [u32],
    /// The version of the assembler.
    pub assembler: &'static str,
}

/// All generations, in the order of their columns.
pub const GENERATIONS: [Generation; 13] = [
    generation("sm_35", &[37], "11.8"),
    generation("sm_50", &[52, 53], "11.8"),
    generation("sm_60", &[], "12.9"),
    generation("sm_61", &[], "12.9"),
    generation("sm_62", &[], "12.9"),
    generation("sm_70", &[], "12.9"),
    generation("sm_72", &[], "12.9"),
    generation("sm_75", &[], "13.5"),
    generation("sm_80", &[86, 87, 88, 89], "13.5"),
    generation("sm_90", &[], "13.5"),
    generation("sm_100", &[103, 110], "13.5"),
    generation("sm_120", &[121], "13.5"),
    generation("sm_107", &[], "13.5"),
];

const fn generation(gpu: &'static str, like_it: &'static [u32], assembler: &'static str) -> Generation {
    Generation { gpu, like_it, assembler }
}

impl Generation {
    /// The number of the GPU that was measured.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.gpu[3..].parse().expect("every entry of the list is `sm_` and a number")
    }
}

/// What a table has for a form on a generation; `None` where the form does not exist.
pub type Cells = Option<Arc<[Cost]>>;

/// The text of a table: its head, and for each row a name and the cells of all generations.
#[must_use]
pub fn text(rows: &[(&str, &[Cells])]) -> String {
    let versions = GENERATIONS.map(|generation| format!("{} {}", generation.gpu, generation.assembler));
    let mut text = format!("# machine instructions by GPU and version of ptxas\t{}\n", versions.join("\t"));
    let patterns = patterns(rows);
    for (i, pattern) in patterns.iter().enumerate() {
        text.push_str(&format!("@{i}\t{pattern}\n"));
    }
    let numbers = patterns.iter().enumerate().map(|(i, pattern)| (pattern.as_str(), i)).collect();
    let mut above = "";
    for (name, columns) in rows {
        let (words, operands) = name.split_once(' ').expect("a name has words and operands");
        let words = if words == std::mem::replace(&mut above, words) { "~" } else { words };
        text.push_str(&line(&format!("{words} {operands}"), columns, &numbers));
    }
    text
}

/// Cells that are worth a number, those that occur most often first: they get the short ones.
fn patterns(rows: &[(&str, &[Cells])]) -> Vec<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for cells in rows.iter().flat_map(|(_, columns)| columns.iter().flatten()) {
        *counts.entry(written(cells)).or_default() += 1;
    }
    let mut patterns: Vec<_> =
        counts.into_iter().filter(|(cells, count)| cells.len() > 5 && *count > 1).collect();
    patterns.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    patterns.into_iter().map(|(cells, _)| cells).collect()
}

fn line(name: &str, columns: &[Cells], numbers: &HashMap<&str, usize>) -> String {
    let mut line = name.to_owned();
    let changes = (1..columns.len()).rev().find(|&i| columns[i] != columns[i - 1]).map_or(1, |last| last + 1);
    for (i, cells) in columns.iter().enumerate().take(changes) {
        line.push('\t');
        match cells {
            _ if i > 0 && *cells == columns[i - 1] => line.push('='),
            None => line.push('-'),
            Some(cells) => {
                let cells = written(cells);
                line.push_str(&numbers.get(cells.as_str()).map_or(cells, |number| format!("@{number}")));
            }
        }
    }
    line.push('\n');
    line
}

fn written(cells: &[Cost]) -> String {
    let runs = cells.chunk_by(PartialEq::eq).map(|run| {
        let count = if run.len() > 1 { format!("*{}", run.len()) } else { String::new() };
        format!("{}{count}", run[0])
    });
    runs.collect::<Vec<_>>().join(",")
}

/// The rows of a table: names, and the cells of all generations.
pub fn rows(text: &str) -> impl Iterator<Item = (String, Vec<Cells>)> {
    let (numbered, rows) = parts(text);
    rows_of(rows, numbered)
}

/// The cells that are numbered, in the order of their numbers, and the rows as text.
pub(super) fn parts(text: &str) -> (Vec<&str>, &str) {
    let (_, mut rest) = text.split_once('\n').expect("a table has a head");
    let mut numbered = Vec::new();
    while rest.starts_with('@') {
        let (line, after) = rest.split_once('\n').expect("lines end");
        numbered.push(line.split_once('\t').expect("a numbered line has cells").1);
        rest = after;
    }
    (numbered, rest)
}

/// Rows, given the cells that are numbered.
pub(super) fn rows_of<'t>(
    text: &'t str,
    numbered: impl AsRef<[&'t str]>,
) -> impl Iterator<Item = (String, Vec<Cells>)> {
    let mut above = "";
    text.lines().map(move |line| {
        let mut fields = line.split('\t');
        let name = fields.next().expect("a line has at least one field");
        let mut columns: Vec<Cells> = Vec::with_capacity(GENERATIONS.len());
        for field in fields {
            let cells = match (field, field.strip_prefix('@')) {
                ("=", _) => columns.last().expect("the first column is written out").clone(),
                ("-", _) => None,
                (_, Some(number)) => {
                    let number = number.parse::<usize>().expect("`@` and a number");
                    Some(read(numbered.as_ref()[number]).into())
                }
                (cells, None) => Some(read(cells).into()),
            };
            columns.push(cells);
        }
        let last = columns.last().expect("the first column is written out").clone();
        columns.resize(GENERATIONS.len(), last);
        let (words, operands) = name.split_once(' ').expect("a name has words and operands");
        above = if words == "~" { above } else { words };
        (format!("{above} {operands}"), columns)
    })
}

/// Rows by the words that they begin with: these, and as text the rows that have them.
pub(super) fn blocks(rows: &str) -> impl Iterator<Item = (&str, &str)> {
    let begins = |at: usize| !matches!(rows.as_bytes().get(at), Some(b'~') | None);
    let lines = std::iter::once(0).chain(rows.match_indices('\n').map(|(at, _)| at + 1));
    let mut starts = lines.filter(move |&at| begins(at)).peekable();
    std::iter::from_fn(move || {
        let start = starts.next()?;
        let block = &rows[start..starts.peek().copied().unwrap_or(rows.len())];
        Some((block.split(' ').next()?, block))
    })
}

fn read(text: &str) -> Vec<Cost> {
    let number = |text: &str| text.parse::<u32>().expect("cells are numbers");
    let mut cells = Vec::new();
    for run in text.split(',') {
        let (cell, count) = run.split_once('*').map_or((run, 1), |(cell, count)| (cell, number(count)));
        let (least, most) = cell.split_once('-').unwrap_or((cell, cell));
        cells.extend((0..count).map(|_| Cost { least: number(least), most: number(most) }));
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let cost = |least, most| Cost { least, most };
        let mut columns =
            vec![None, None, Some(vec![cost(1, 1); 3].into()), Some(vec![cost(1, 1); 3].into())];
        columns.resize(GENERATIONS.len(), Some(vec![cost(2, 2), cost(3, 17), cost(3, 17)].into()));
        let rows_written: [(&str, &[Cells]); 2] = [("vadd d, a", &columns), ("vadd d, b", &columns)];
        let text = text(&rows_written);
        let tail = "@0\t2,3-17*2\nvadd d, a\t-\t=\t1*3\t=\t@0\n~ d, b\t-\t=\t1*3\t=\t@0\n";
        assert!(text.ends_with(tail), "{text}");
        assert_eq!(
            rows(&text).collect::<Vec<_>>(),
            [("vadd d, a".to_owned(), columns.clone()), ("vadd d, b".to_owned(), columns)]
        );
    }
}
