//! Shadow memory: for each byte of an allocation, which threads wrote and read it last.
//!
//! It is made page by page when memory is touched. A line of 128 bytes whose bytes were each touched by one lane of
//! one warp, those of one lane after those of the other, is one row of 12 bytes: that is how most kernels access
//! memory, and as each byte has one thread, there is nothing to compare. Any other line has a cell for each of its
//! words, and one for each of its bytes as soon as one of them is accessed alone.

use super::code::AtomicOp;
use super::races::{How, Order, Races, Rival, Stamp, Strength, Who};
use std::ops::Range;

/// Bytes of a line.
const LINE: usize = 128;
/// Lines of a page.
const LINES: usize = 32;

/// The shadow of an allocation.
#[derive(Debug, Default)]
pub(super) struct Shadow {
    pages: Vec<Option<Box<[Line; LINES]>>>,
}

/// The shadow of 128 bytes.
#[derive(Debug, Default)]
enum Line {
    #[default]
    Untouched,
    Row(Row),
    Words(Box<[Cell; LINE / 4]>),
    Bytes(Box<[Cell; LINE]>),
}

/// Bytes that a warp accessed in a row, and the moments when it last did: 0 for never.
#[derive(Clone, Copy, Debug)]
struct Row {
    part: Part,
    read: u32,
    write: u32,
}

/// The bytes of a line that lanes access in a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Part {
    start: u8,
    end: u8,
    /// How many bytes each lane has.
    each: u8,
    /// The lane of the first.
    lane: u8,
}

impl Part {
    fn lane_of(self, at: usize) -> u32 {
        u32::from(self.lane) + (at as u32 - u32::from(self.start)) / u32::from(self.each)
    }

    fn range(self) -> Range<usize> {
        usize::from(self.start)..usize::from(self.end)
    }
}

/// A word or a byte: which thread wrote it, and which threads read it since.
#[derive(Clone, Copy, Debug)]
struct Cell {
    writer: Stamp,
    reader: Stamp,
    written: Strength,
    /// Whether the newest read was strong.
    strong: bool,
    /// Whether any read of the group was strong.
    some_strong: bool,
}

impl Default for Cell {
    fn default() -> Self {
        Self {
            writer: Stamp::NOBODY,
            reader: Stamp::NOBODY,
            written: Strength::Weak,
            strong: true,
            some_strong: false,
        }
    }
}

/// What an access is found to do.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Found {
    /// A race: at which byte of the allocation, of which lane, with which thread.
    pub(super) race: Option<(usize, u32, Rival)>,
    /// Why the result may depend on the order of threads though there is no race.
    pub(super) unsure: Option<&'static str>,
}

/// Lanes of a warp that access memory in a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// Where the first of them begins, and how many bytes there are.
    pub(super) start: usize,
    pub(super) length: usize,
    /// How many bytes each has; a power of two, to which the start is aligned.
    pub(super) each: usize,
    pub(super) first: usize,
}

impl Run {
    /// The lines that it covers, and which part of each.
    fn parts(self) -> impl Iterator<Item = (usize, Part)> {
        let end = self.start + self.length;
        (self.start / LINE..end.div_ceil(LINE)).map(move |line| {
            let start = self.start.max(line * LINE);
            let part = Part {
                start: (start - line * LINE) as u8,
                end: (end - line * LINE).min(LINE) as u8,
                each: self.each as u8,
                lane: (self.first + ((start - self.start) >> self.each.trailing_zeros())) as u8,
            };
            (line, part)
        })
    }
}

/// What a store changes: the bytes as they were and as they will be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change<'a> {
    pub(super) old: &'a [u8],
    pub(super) new: &'a [u8],
}

/// Whether a store leaves the bytes of `range` as they are.
fn is_silent(change: Option<Change<'_>>, range: Range<usize>) -> bool {
    change.is_some_and(|Change { old, new }| old[range.clone()] == new[range])
}

const UNORDERED: &str =
    "whether fences, or barriers for some threads only, order the accesses of threads to the same bytes";
const STRONG: &str = "the order in which threads reach volatile, relaxed, acquire or release accesses";
const LOADED: &str = "the order in which threads reach atomic operations and loads of the same bytes";
const ATOMIC: &str = "the order in which threads reach atomic operations that do not commute";

impl Shadow {
    /// The shadow of `size` bytes.
    pub(super) fn new(size: usize) -> Self {
        let mut pages = Vec::new();
        pages.resize_with(size.div_ceil(LINE * LINES), || None);
        Self { pages }
    }

    #[inline]
    fn line(&mut self, line: usize) -> &mut Line {
        let page = self.pages[line / LINES].get_or_insert_with(Box::default);
        &mut page[line % LINES]
    }

    /// Whether lanes accessed bytes in a row at this very moment before, so that there is nothing to note.
    #[inline]
    pub(super) fn is_known(&self, run: Run, moment: u32, writes: bool) -> bool {
        run.parts().all(|(line, part)| {
            let page = self.pages.get(line / LINES).and_then(Option::as_ref);
            page.is_some_and(|page| match &page[line % LINES] {
                Line::Row(row) => row.part == part && moment == if writes { row.write } else { row.read },
                Line::Untouched | Line::Words(_) | Line::Bytes(_) => false,
            })
        })
    }

    /// Notes accesses of lanes in a row: stores if there is a `change`, else loads.
    #[cold]
    pub(super) fn row(&mut self, races: &Races, run: Run, who: &Who, change: Option<Change<'_>>) -> Found {
        let mut found = Found::default();
        for (number, part) in run.parts() {
            let within = |range: Range<usize>| {
                let base = (number * LINE).wrapping_sub(run.start);
                base.wrapping_add(range.start)..base.wrapping_add(range.end)
            };
            let writes = change.is_some() && !is_silent(change, within(part.range()));
            let line = self.line(number);
            let known = match line {
                Line::Untouched => Some((0, 0)),
                Line::Row(row) if row.part == part && races.same_warp(row.read.max(row.write), who) => {
                    Some((row.read, row.write))
                }
                Line::Row(_) | Line::Words(_) | Line::Bytes(_) => None,
            };
            if let Some((read, write)) = known {
                let (now, kept) = (who.moment(), Row { part, read, write });
                *line =
                    Line::Row(if writes { Row { write: now, ..kept } } else { Row { read: now, ..kept } });
                continue;
            }
            let how = How { writes: change.is_some(), strength: Strength::Weak };
            line.cells(part.range(), part.each >= 4, &mut |cell, at, width| {
                let silent = is_silent(change, within(at..at + width));
                let who = who.on(part.lane_of(at) as usize);
                cell.touch(races, (&who, number * LINE + at), how, silent, &mut found);
            });
        }
        found
    }

    /// Notes an access to the bytes of `range`.
    pub(super) fn touch(
        &mut self,
        races: &Races,
        range: Range<usize>,
        who: &Who,
        how: How,
        change: Option<Change<'_>>,
    ) -> Found {
        let mut found = Found::default();
        for number in range.start / LINE..range.end.div_ceil(LINE) {
            let base = number * LINE;
            let part = range.start.max(base) - base..range.end.min(base + LINE) - base;
            self.line(number).cells(part, true, &mut |cell, at, width| {
                let within = (base + at).wrapping_sub(range.start);
                let silent = is_silent(change, within..within.wrapping_add(width));
                cell.touch(races, (who, base + at), how, silent, &mut found);
            });
        }
        found
    }
}

impl Line {
    /// Calls `f` with each cell of `range`, where in the line it lies, and how many bytes it has: four if no word of
    /// the range is accessed by several threads byte by byte, and none was.
    fn cells(&mut self, range: Range<usize>, words: bool, f: &mut dyn FnMut(&mut Cell, usize, usize)) {
        self.refine(words && range.start.is_multiple_of(4) && range.end.is_multiple_of(4));
        match self {
            Self::Words(cells) => {
                let words = range.start / 4..range.end / 4;
                words.for_each(|word| f(&mut cells[word], 4 * word, 4));
            }
            Self::Bytes(cells) => range.for_each(|byte| f(&mut cells[byte], byte, 1)),
            Self::Untouched | Self::Row(_) => debug_assert!(false, "it has cells now"),
        }
    }

    /// Sees to it that the line has cells, of bytes unless words are enough.
    #[inline]
    fn refine(&mut self, words: bool) {
        if !(matches!(self, Self::Bytes(_)) || words && matches!(self, Self::Words(_))) {
            self.make_cells(words);
        }
    }

    #[cold]
    fn make_cells(&mut self, words: bool) {
        let cell = |row: Row, at: usize| {
            let stamp = |moment: u32| match moment {
                0 => Stamp::NOBODY,
                moment => Stamp::thread(moment, row.part.lane_of(at)),
            };
            let (writer, reader) = (stamp(row.write), stamp(row.read));
            Cell { writer, reader, strong: row.read == 0, ..Cell::default() }
        };
        *self = match std::mem::take(self) {
            Self::Untouched if words => Self::Words(Box::new([Cell::default(); LINE / 4])),
            Self::Untouched => Self::Bytes(Box::new([Cell::default(); LINE])),
            Self::Row(row) if words && row.part.each >= 4 => {
                let mut cells = Box::new([Cell::default(); LINE / 4]);
                row.part.range().step_by(4).for_each(|at| cells[at / 4] = cell(row, at));
                Self::Words(cells)
            }
            Self::Row(row) => {
                let mut cells = Box::new([Cell::default(); LINE]);
                row.part.range().for_each(|at| cells[at] = cell(row, at));
                Self::Bytes(cells)
            }
            Self::Words(old) if !words => {
                let mut cells = Box::new([Cell::default(); LINE]);
                (0..LINE).for_each(|at| cells[at] = old[at / 4]);
                Self::Bytes(cells)
            }
            kept @ (Self::Words(_) | Self::Bytes(_)) => kept,
        };
    }
}

impl Cell {
    /// Notes an access. A store that changes nothing is like a load, but no race with stores of the same value.
    #[inline]
    fn touch(&mut self, races: &Races, (who, at): (&Who, usize), how: How, silent: bool, found: &mut Found) {
        let writes = how.writes && !silent;
        let weak = how.strength == Strength::Weak;
        if !(writes || self.strong && weak) {
            // What was compared at this moment need not be compared again.
            let known = self.reader == who.stamp() || self.reader.is_everybody();
            if known && (self.writer == Stamp::NOBODY || self.reader == who.stamp()) {
                return;
            }
        }
        if self.writer != Stamp::NOBODY {
            let by_value = silent && !matches!(self.written, Strength::Atomic(_));
            if !by_value {
                let order = races.order(self.writer, who);
                found.note(conflict(order, (self.written, true), (how.strength, how.writes)), || {
                    (at, who.lane, races.rival(self.writer, who))
                });
            }
        }
        if writes && self.reader != Stamp::NOBODY {
            // Where the newest read may be its own, it is not known which of the others were strong.
            let newest = races.is_newest(self.reader, who);
            let strong = if newest { self.strong } else { self.some_strong };
            let read = if strong { Strength::Strong } else { Strength::Weak };
            let order = races.order(self.reader, who);
            found.note(conflict(order, (read, false), (how.strength, true)), || {
                (at, who.lane, races.rival(self.reader, who))
            });
        }
        if writes {
            self.writer = races.join(self.writer, who);
            self.written = how.strength;
        } else {
            self.reader = races.join(self.reader, who);
            self.strong = !weak;
            self.some_strong = !weak || self.some_strong && self.reader != who.stamp();
        }
    }
}

/// What comes of two accesses to the same bytes.
#[derive(Clone, Copy)]
enum Conflict {
    None,
    Unsure(&'static str),
    Race,
}

/// What two accesses do to each other, by their strengths and whether they write.
fn conflict(order: Order, earlier: (Strength, bool), later: (Strength, bool)) -> Conflict {
    let load = (Strength::Weak, false);
    let is_atomic = |(strength, _): (Strength, bool)| matches!(strength, Strength::Atomic(_));
    let loads = earlier == load && is_atomic(later) || later == load && is_atomic(earlier);
    match (order, earlier.0, later.0) {
        (Order::After, ..) => Conflict::None,
        (_, Strength::Atomic(a), Strength::Atomic(b)) if a == b && commutes(a) => Conflict::None,
        (_, Strength::Atomic(_), Strength::Atomic(_)) => Conflict::Unsure(ATOMIC),
        (Order::Unsure, ..) => Conflict::Unsure(UNORDERED),
        // An atomic operation is never visible half done, so the load yields the old or the new value: which is open.
        (Order::Concurrent, ..) if loads => Conflict::Unsure(LOADED),
        (Order::Concurrent, Strength::Weak, _) | (Order::Concurrent, _, Strength::Weak) => Conflict::Race,
        (Order::Concurrent, ..) => Conflict::Unsure(STRONG),
    }
}

/// Whether the order of several such operations makes no difference in the end. Floating-point additions do not
/// commute; those are reported where they are executed.
fn commutes(op: AtomicOp) -> bool {
    match op {
        AtomicOp::Add
        | AtomicOp::MinUnsigned
        | AtomicOp::MaxUnsigned
        | AtomicOp::MinSigned
        | AtomicOp::MaxSigned
        | AtomicOp::And
        | AtomicOp::Or
        | AtomicOp::Xor
        | AtomicOp::AddF32
        | AtomicOp::AddF64 => true,
        AtomicOp::Exchange | AtomicOp::CompareAndSwap | AtomicOp::Increment | AtomicOp::Decrement => false,
    }
}

impl Found {
    fn note(&mut self, conflict: Conflict, race: impl FnOnce() -> (usize, u32, Rival)) {
        match conflict {
            Conflict::None => {}
            Conflict::Unsure(why) => self.unsure = Some(why),
            Conflict::Race => self.race = Some(self.race.unwrap_or_else(race)),
        }
    }
}
