//! Vector accesses to bytes and halves as accesses to the words that these make up, or to the half that two bytes are,
//! and accesses to 64 bits of which bytes are taken or put together as accesses to two words; runs of others, see
//! [`super::runs`].
//!
//! `ld.v4.u8` writes four registers and `st.v4.u8` reads four, so the word of memory between them is in no register,
//! and nothing can compute with it. Here the word is loaded and its bytes are moved to the registers, or the bytes are
//! put together and the word is stored. A half is loaded to the lower end of a word, with zeros above, and stored from
//! there. Two words that are loaded to one register are in none of their own either. The moves are for the rules that
//! follow: where they understand what happens to the bytes, the moves go. An access whose moves all stay has gained
//! nothing; the caller leaves it as it was.
//!
//! It is sound because the manual says so: a vector access is to consecutive elements, memory is little-endian, and a
//! vector is aligned to its whole size
//! ([vectors](https://docs.nvidia.com/cuda/parallel-thread-execution/#vectors),
//! [addresses as operands](https://docs.nvidia.com/cuda/parallel-thread-execution/#addresses-as-operands)), so the word
//! is aligned too, and the same bytes are read or written. Only weak accesses are taken: of others, the elements count
//! as accesses of their own. Elements are extended as
//! [registers wider than the type](https://docs.nvidia.com/cuda/parallel-thread-execution/#operand-size-exceeding-instruction-type-size)
//! are. The names of the elements stand in the same statement as before, so they mean the same registers. That a
//! function does the same with these accesses is proved too before it is written (`variants`).

use super::elements::{Holder, Place, WORD, element, put_together};
use super::record::{How, Kind, Record, Why};
use super::runs::{self, Run};
use super::splice::{self, Fresh};
use super::spliced::Spliced;
use super::stored::Stored;
use super::visible::is_integer_type;
use crate::cost::Cost;
use crate::graph::{Graph, ValueId};
use crate::recipe::{Source, Step};
use crate::rules::Pass;
use hashbrown::{HashMap, HashSet};
use ptxopt_grammar::edit::Edits;
use ptxopt_grammar::function::Function;
use ptxopt_grammar::names::{Component, is_of_name};
use ptxopt_grammar::table::Row;
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::table::words::Modifier;
use ptxopt_grammar::tree::{Module, NodeId, NodeKind, StmtId, StmtKind};
use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// How many bits the longest element has.
const LONG: u32 = 64;

/// How many bits two bytes have.
const HALF: u32 = 16;

/// The most words that one access has.
const MOST_WORDS: u32 = 4;

/// The name by which remarks call such a change.
const NAME: &str = "words";

/// An access to several elements, or to 64 bits, that can be one to words.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Access {
    stmt: StmtId,
    is_load: bool,
    /// The opcode without the vector and the type.
    opcode: String,
    /// How many bits an element has, and whether registers get its sign.
    element: (u32, bool),
    /// The registers.
    parts: Vec<Part>,
    /// The operands besides these, as they are written.
    others: Vec<String>,
}

/// A register that is stored or loaded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Part {
    pub(super) node: NodeId,
    pub(super) holder: Holder,
    /// Whether what is loaded is unused; then it is not moved.
    pub(super) is_unused: bool,
}

/// The accesses of a function that can be accesses to words: vectors and 64 bits, and runs of others; and those that store
/// what branches decide.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Words {
    vectors: Vec<Access>,
    runs: Vec<Run>,
    stored: Vec<Stored>,
}

impl Words {
    /// All of a function, if there are any, and records of the runs that cannot be accesses to words. Nothing if an
    /// earlier run decided which of them are better as they are.
    pub(super) fn of(graph: &Graph<'_, '_>) -> (Option<Self>, Vec<Record>) {
        let (module, function) = (graph.module(), graph.function());
        if splice::is_written(module, function) {
            return (None, Vec::new());
        }
        let stmts = function.body.clone().filter_map(StmtId::new);
        let mut vectors: Vec<Access> = stmts.filter_map(|stmt| Access::of(module, stmt)).collect();
        vectors.retain(|access| !access.is_long() || access.is_of_bytes(graph));
        vectors.iter_mut().for_each(|access| access.leave_unused(graph));
        let may_run = runs::are_possible(module, function);
        let (runs, refused) = if may_run { runs::find(graph) } else { (Vec::new(), Vec::new()) };
        // Two halves may be a word.
        let in_runs: HashSet<StmtId> = runs.iter().flat_map(Run::stmts).collect();
        vectors.retain(|access| !in_runs.contains(&access.stmt));
        let about = |(stmt, apart)| {
            let why = Kind::Missed(Why::Apart(apart));
            Record { pass: Pass::Fuse, ..Record::about(module, &function.name, stmt, why) }
        };
        let stmts = function.body.clone().filter_map(StmtId::new);
        let others = stmts.filter(|stmt| !in_runs.contains(stmt));
        let stored = others.filter_map(|stmt| Stored::of(graph, stmt)).collect();
        (Self { vectors, runs, stored }.any(), refused.into_iter().map(about).collect())
    }

    /// `None` if there are none.
    fn any(self) -> Option<Self> {
        (self != Self::default()).then_some(self)
    }

    /// Those for which something was gained: in the text that was made of it, not all of what was added is left. `None`
    /// if there are none.
    pub(super) fn useful(&self, fresh: &Fresh, new: &Module<'_>, function: &Function) -> Option<Self> {
        let stmts = function.body.clone().filter_map(StmtId::new);
        let left: HashSet<&[u8]> = stmts.map(|stmt| new.stmt_text(stmt)).collect();
        let is_left = |line: &String| left.contains(line.as_bytes());
        let mentions = LazyCell::new(|| mentions(&left));
        // What is loaded to words may be moved to one register of 64 bits all the same, for what is not of bytes.
        let is_read = |mut words: Range<u32>, own: &[String]| {
            let own: HashSet<&[u8]> = own.iter().filter(|line| is_left(line)).map(String::as_bytes).collect();
            words.any(|number| {
                let name = fresh.name(WORD, number);
                let here = own.iter().filter(|line| names_of(line).any(|other| other == name.as_bytes()));
                mentions.get(name.as_bytes()).is_some_and(|&all| all > here.count())
            })
        };
        let mut names = Names { fresh, counts: BTreeMap::new() };
        let mut useful = Self::default();
        for access in &self.vectors {
            let first = names.next_word();
            let lines = access.lines(&mut names);
            let words = first..names.next_word();
            let gains = !lines.iter().all(is_left) || access.is_long() && is_read(words, &lines);
            useful.vectors.extend(gains.then(|| access.clone()));
        }
        for run in &self.runs {
            let lines = run.lines(&mut || names.next(WORD));
            let costs = lines.iter().flat_map(|(_, lines)| lines).filter(|line| is_left(line) && costs(line));
            useful.runs.extend((costs.count() < lines.len()).then(|| run.clone()));
        }
        for stored in &self.stored {
            let lines = stored.lines(&mut |width| names.next(width));
            useful.stored.extend((!lines.iter().all(is_left)).then(|| stored.clone()));
        }
        useful.any()
    }

    /// All but the runs, and records of these, which were not proved; `None` if there is nothing else.
    pub(super) fn without_runs(
        self,
        module: &Module<'_>,
        function: &Function,
    ) -> (Option<Self>, Vec<Record>) {
        let unproved =
            |run: Run| Record::about(module, &function.name, run.first(), Kind::Missed(Why::Unproved));
        let records = self.runs.into_iter().map(unproved).collect();
        (Self { runs: Vec::new(), ..self }.any(), records)
    }

    /// Makes the accesses those to words; a record for each statement.
    pub(super) fn write(
        &self,
        module: &Module<'_>,
        function: &Function,
        fresh: &Fresh,
        (spliced, edits): (&mut Spliced, &mut Edits),
    ) -> Vec<Record> {
        let mut records = Vec::new();
        let mut names = Names { fresh, counts: BTreeMap::new() };
        for access in &self.vectors {
            let lines = access.lines(&mut names);
            spliced.replace(access.stmt, lines.clone());
            records.push(access.record(module, function, lines));
        }
        let runs = self.runs.iter().flat_map(|run| run.lines(&mut || names.next(WORD)));
        for (stmt, lines) in runs {
            spliced.replace(stmt, lines.clone());
            let count = lines.iter().filter(|line| is_priced(line)).count();
            let after = u32::try_from(count).expect("a word has at most four parts");
            records.push(record((module, function), How::Words, stmt, [1, after], lines));
        }
        for stored in &self.stored {
            let lines = stored.lines(&mut |width| names.next(width)).to_vec();
            spliced.replace(stored.stmt, lines.clone());
            records.push(record((module, function), How::Moved, stored.stmt, [0, 0], lines));
        }
        splice::declare(module, function, fresh, &names.counts, edits);
        records
    }
}

/// Whether a line is more than a move or a conversion of a register to another width. A move of two registers to one is.
fn costs(line: &str) -> bool {
    is_priced(line) || line.starts_with("mov.") && line.contains('{')
}

/// Whether a line has a price in the tables, which have none for moves of several registers: what is not counted where it
/// is written is not counted where it goes.
pub(super) fn is_priced(line: &str) -> bool {
    !line.starts_with("cvt.") && !line.starts_with("mov.")
}

/// The names of new registers, and how many there are, by their bits.
struct Names<'f> {
    fresh: &'f Fresh,
    counts: BTreeMap<u32, u32>,
}

impl Names<'_> {
    /// The number of the next word.
    fn next_word(&self) -> u32 {
        self.counts.get(&WORD).copied().unwrap_or(0)
    }

    fn next(&mut self, width: u32) -> String {
        let count = self.counts.entry(width).or_default();
        *count += 1;
        self.fresh.name(width, *count - 1)
    }
}

/// The names in a statement, each once.
fn names_of(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let names: HashSet<&[u8]> = text.split(|&byte| !is_of_name(byte)).collect();
    names.into_iter()
}

/// In how many statements each name is.
fn mentions<'t>(stmts: &HashSet<&'t [u8]>) -> HashMap<&'t [u8], usize> {
    let mut mentions = HashMap::new();
    for name in stmts.iter().copied().flat_map(names_of) {
        *mentions.entry(name).or_default() += 1;
    }
    mentions
}

/// Whether an access with a modifier is weak, and what it does is known.
pub(super) fn is_weak(modifier: Modifier) -> bool {
    const WEAK: [Modifier; 10] =
        [op::GLOBAL, op::SHARED, op::LOCAL, op::CONST, op::WEAK, op::NC, op::CA, op::CG, op::CS, op::WT];
    WEAK.contains(&modifier)
}

impl Access {
    fn of(module: &Module<'_>, stmt: StmtId) -> Option<Self> {
        if module.kind(stmt) != StmtKind::Instruction || module.guard(stmt).is_some() {
            return None;
        }
        let row = module.row(stmt).filter(|row| row.is(op::LD) || row.is(op::ST))?;
        let instruction = module.instruction(stmt)?;
        let ty = instruction.last_type()?.ty()?;
        let mut kept: Vec<Modifier> = instruction.modifiers().filter(|other| other.ty().is_none()).collect();
        let is_vector = kept.pop_if(|last| *last == op::V2 || *last == op::V4).is_some();
        let long = [op::U64, op::B64, op::S64].into_iter().any(|long| long.ty() == Some(ty));
        let element = element(ty).filter(|_| is_vector).or(long.then_some((LONG, false)))?;
        if !kept.iter().all(|&modifier| is_weak(modifier)) {
            return None;
        }
        let is_load = row.is(op::LD);
        let mut operands = module.operands(stmt);
        let at = usize::from(!is_load);
        if operands.len() <= at || (module.node_kind(operands[at]) == NodeKind::Vector) != is_vector {
            return None;
        }
        let operand = operands.remove(at);
        let elements = if is_vector { module.children(operand) } else { vec![operand] };
        let parts: Vec<Part> =
            elements.into_iter().map(|node| Part::of(module, node)).collect::<Option<_>>()?;
        let opcode = kept.iter().fold(row.name.to_owned(), |text, modifier| text + "." + modifier.word());
        let text = |&node: &NodeId| String::from_utf8_lossy(module.node_text(node)).into_owned();
        let others = operands.iter().map(text).collect();
        let access = Self { stmt, is_load, opcode, element, parts, others };
        (access.is_possible() && splice::is_plain(module, stmt)).then_some(access)
    }

    /// Whether its elements have 64 bits.
    fn is_long(&self) -> bool {
        self.element.0 == LONG
    }

    /// Whether its elements are the two bytes of a half.
    fn is_half(&self) -> bool {
        self.bits() == HALF
    }

    /// How many bits its elements have together.
    fn bits(&self) -> u32 {
        let count = u32::try_from(self.parts.len()).expect("a vector has at most eight elements");
        count * self.element.0
    }

    /// Whether bytes of what is loaded are used, or what is stored is put together.
    fn is_of_bytes(&self, graph: &Graph<'_, '_>) -> bool {
        let of_node =
            |part: &Part| graph.accesses(self.stmt).find(|(access, _)| access.node == Some(part.node));
        let mut values = self.parts.iter().filter_map(of_node).map(|(_, value)| value);
        values.any(
            |value| if self.is_load { is_taken_apart(graph, value) } else { is_put_together(graph, value) },
        )
    }

    /// Whether the elements fill words, and registers of these widths can be moved from and to words.
    fn is_possible(&self) -> bool {
        let bits = self.bits();
        let widths: BTreeSet<u32> = self.parts.iter().map(|part| part.holder.width).collect();
        let names: HashSet<&str> = self.parts.iter().map(|part| part.holder.name.as_str()).collect();
        let fits = |width| if self.is_long() { width == LONG } else { [16, 32].contains(&width) };
        (bits.is_multiple_of(WORD) || self.is_half())
            && bits / WORD <= MOST_WORDS
            && widths.len() == 1
            && widths.into_iter().all(fits)
            && (!self.is_load || names.len() == self.parts.len())
    }

    /// The statements that stand for it.
    fn lines(&self, names: &mut Names<'_>) -> Vec<String> {
        // The elements of a word, or the one that has several words.
        let (per_word, per_element) = (1.max(WORD / self.element.0), 1.max(self.element.0 / WORD));
        let count = (self.parts.len() * per_element as usize).div_ceil(per_word as usize);
        let words: Vec<String> = (0..count).map(|_| names.next(WORD)).collect();
        let (ty, operand) = match &words[..] {
            [half] if self.is_half() => (".u16".to_owned(), half.clone()),
            [word] => (".b32".to_owned(), word.clone()),
            words => (format!(".v{}.b32", words.len()), format!("{{{}}}", words.join(", "))),
        };
        let operands = if self.is_load {
            std::iter::once(&operand).chain(&self.others).cloned().collect::<Vec<_>>()
        } else {
            let (address, rest) = self.others.split_first().expect("a store has an address");
            [address, &operand].into_iter().chain(rest).cloned().collect()
        };
        let access = format!("{}{ty} {};", self.opcode, operands.join(", "));
        let parts = words.chunks(per_element as usize).zip(self.parts.chunks(per_word as usize));
        let moves = parts.flat_map(|(words, parts)| match self.is_load {
            true => self.taken_apart(words, parts, names),
            false => self.put_together(words, parts, names),
        });
        let moves: Vec<String> = moves.collect();
        if self.is_load {
            std::iter::once(access).chain(moves).collect()
        } else {
            moves.into_iter().chain([access]).collect()
        }
    }

    /// The elements of words to their registers.
    fn taken_apart(&self, words: &[String], parts: &[Part], names: &mut Names<'_>) -> Vec<String> {
        let (bits, signed) = self.element;
        let place = |at: usize| Place { first: at * bits as usize, bits, signed };
        match words {
            [word] => {
                let parts = parts.iter().enumerate();
                parts
                    .flat_map(|(at, part)| part.taken_from(word, place(at), &mut || names.next(WORD)))
                    .collect()
            }
            words => {
                let used = parts.iter().filter(|part| !part.is_unused);
                used.map(|part| format!("mov.b64 {}, {{{}}};", part.holder.name, words.join(", "))).collect()
            }
        }
    }

    /// The low bits of registers to words.
    fn put_together(&self, words: &[String], parts: &[Part], names: &mut Names<'_>) -> Vec<String> {
        let mut lines = Vec::new();
        match (words, parts) {
            ([low, high], [Part { holder, .. }]) => {
                let moved = names.next(LONG);
                lines.push(format!("cvt.u32.u64 {low}, {};", holder.name));
                lines.push(format!("shr.u64 {moved}, {}, {WORD};", holder.name));
                lines.push(format!("cvt.u32.u64 {high}, {moved};"));
            }
            (words, parts) => {
                let elements = parts.iter().map(|part| (self.element.0, part.holder.clone())).collect();
                let word = words.first().expect("there is a word for some parts");
                put_together(word, elements, &mut || names.next(WORD), &mut lines);
            }
        }
        lines
    }

    /// Notes which of the elements that are loaded are unused.
    fn leave_unused(&mut self, graph: &Graph<'_, '_>) {
        self.parts.iter_mut().filter(|_| self.is_load).for_each(|part| part.leave_unused(graph, self.stmt));
    }

    /// The record of the change. The assembler moves the elements too, so it costs nothing and saves nothing.
    fn record(&self, module: &Module<'_>, function: &Function, lines: Vec<String>) -> Record {
        let moved = self.parts.iter().filter(|part| !part.is_unused).count();
        let moves = u32::try_from(moved).expect("a vector has at most eight elements");
        record((module, function), How::Words, self.stmt, [moves, moves], lines)
    }
}

/// The record of a change of a statement, with what it cost and costs now.
fn record(
    (module, function): (&Module<'_>, &Function),
    how: How,
    stmt: StmtId,
    costs: [u32; 2],
    lines: Vec<String>,
) -> Record {
    let [before, after] = costs.map(|cost| Cost { least: cost, most: cost });
    let mut record = Record::about(module, &function.name, stmt, Kind::Passed(how));
    record.pass = Pass::Fuse;
    record.rules = vec![NAME];
    record.cost = Some((before, after));
    record.after = lines;
    record
}

/// Whether bytes of a register of 64 bits are taken, and not only its two words: cut off, or kept by a mask, where they
/// stand or moved down.
fn is_taken_apart(graph: &Graph<'_, '_>, value: ValueId) -> bool {
    let users =
        |value: ValueId| graph.uses(value).filter_map(|(user, _)| Some((user, graph.definition(user)?)));
    let is = |step: &Step, row: fn(&Row) -> bool| step.instruction().is_some_and(|of| row(of.row()));
    let number = |step: &Step| match step.sources.get(1) {
        Some(&Source::Constant(number)) => Some(number),
        Some(Source::Value(_) | Source::Step(_)) | None => None,
    };
    let keeps = |step: &Step| is(step, |row| row.is(op::AND)) && number(step).is_some_and(keeps_bytes);
    let is_cut = |step: &Step| step.width < LONG && is(step, |row| row.is(op::CVT)) || keeps(step);
    users(value).any(|(user, step)| {
        let bytes = number(&step).is_some_and(|by| by.is_multiple_of(8) && !by.is_multiple_of(WORD.into()));
        let moved = is(&step, |row| row.is(op::SHR)) && bytes;
        step.width < WORD && is_cut(&step)
            || keeps(&step)
            || moved && users(user).any(|(_, step)| is_cut(&step))
    })
}

/// Whether a mask keeps bytes, or bits of one of them: not only words.
fn keeps_bytes(mask: u64) -> bool {
    let is_one = mask != 0 && mask.ilog2() / 8 == mask.trailing_zeros() / 8;
    let are_whole = mask.to_le_bytes().iter().all(|byte| matches!(byte, 0 | 0xff));
    let are_words =
        [mask >> WORD, mask & u64::from(u32::MAX)].iter().all(|&word| matches!(word, 0 | 0xffff_ffff));
    is_one || are_whole && !are_words
}

/// Whether a register of 64 bits is put together.
fn is_put_together(graph: &Graph<'_, '_>, value: ValueId) -> bool {
    graph.definition(value).and_then(|step| step.instruction()).is_some_and(|of| of.row().is(op::OR))
}

impl Part {
    /// `None` for what is no whole register of integers.
    pub(super) fn of(module: &Module<'_>, node: NodeId) -> Option<Self> {
        let (decl, part) = module.register_of(node)?;
        let declared = module.decl(decl);
        if part.component != Component::Whole || !is_integer_type(declared.ty) {
            return None;
        }
        let name = String::from_utf8_lossy(module.node_text(node)).into_owned();
        Some(Self { node, holder: Holder { name, width: declared.ty.bits()? }, is_unused: false })
    }

    /// Notes whether what a statement loads to it is unused.
    pub(super) fn leave_unused(&mut self, graph: &Graph<'_, '_>, stmt: StmtId) {
        let loaded = graph.accesses(stmt).find(|(access, _)| access.node == Some(self.node));
        self.is_unused = loaded.is_some_and(|(_, value)| graph.uses(value).next().is_none());
    }

    /// The statements that move an element of a word to it, if it is used.
    pub(super) fn taken_from(
        &self,
        word: &str,
        place: Place,
        fresh: &mut dyn FnMut() -> String,
    ) -> Vec<String> {
        if self.is_unused { Vec::new() } else { self.holder.taken_from(word, place, fresh) }
    }
}
