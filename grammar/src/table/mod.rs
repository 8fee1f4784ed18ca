//! The instruction table: one row per instruction, the only place where its properties are written down.
//!
//! A row says which operands are written and which are read, what else the instruction touches, and since which
//! PTX version and on which GPUs it exists. Rows are grouped in one file per family. An opcode without a row is
//! accepted, with a warning: it counts as reading and writing every operand and as having every effect.

mod asynchronous;
mod control;
mod float;
mod in_flight;
pub mod instruction;
mod integer;
mod memory;
pub(crate) mod shape;
mod tensor;
pub mod types;
mod video;
pub mod words;

use crate::meaning::Means;
use crate::video::Opcode;
pub use in_flight::{Flight, InFlight};
use instruction::Mnemonic;
use std::collections::HashMap;
use std::sync::LazyLock;
use words::Modifier;

/// The properties of an instruction, for all its modifiers.
#[derive(Debug)]
pub struct Row {
    /// The opcode, with the modifiers that make it an instruction of its own: `add`, `cvt.pack`.
    pub name: &'static str,
    /// Which operands it writes; all others it reads.
    pub writes: Writes,
    /// What it touches besides its operands.
    pub effects: Effects,
    /// Where control can go.
    pub control: Control,
    /// What it needs.
    pub needs: Needs,
    /// Since when forms without a modifier exist no more: the version of PTX, and the modifier.
    pub ends: Option<((u8, u8), &'static str)>,
    /// Forms that need more: for the first one whose modifiers are all present, its needs replace `needs`.
    pub forms: &'static [Form],
    /// The forms of its types and operands, as `shape.rs` reads them; empty if they are not checked.
    pub takes: &'static [&'static str],
    /// Which video instruction it is, if it is one.
    pub video: Option<Opcode>,
    /// What it computes; `None` if the table does not say.
    pub means: Option<Means>,
    /// Whether its first two sources may change places, whatever its modifiers are.
    pub commutes: bool,
    /// Which of its forms compute the same.
    pub alike: Option<Alike>,
    /// Whether it moves its source as it is: a register or a number, or a vector that it packs.
    pub moves: bool,
    /// Whether it computes each bit of the result from the same bit of its sources, by one of `and`, `or`, `xor`, `not`.
    pub bitwise: bool,
    /// Whether it shifts its first source by its second.
    pub shifts: bool,
    /// How many hexadecimal digits its last source has, if that is a pattern: a selector or a table.
    pub pattern: Option<u8>,
    /// Whether code on packed bytes is written with it, besides arithmetic, logic and shifts.
    pub on_bytes: bool,
    /// What it has to do with registers that are read or written until something has been waited for.
    pub in_flight: Option<InFlight>,
}

/// Forms of an instruction that compute the same.
#[derive(Debug)]
pub struct Alike {
    /// All modifiers before the type.
    pub before: &'static [Modifier],
    /// The types, and for each the one that stands for both.
    pub types: &'static [(Modifier, Modifier)],
}

/// A form of an instruction, recognised by its modifiers.
#[derive(Debug)]
pub struct Form {
    /// Modifiers, without dots, separated by blanks; all must be present.
    pub modifiers: &'static str,
    /// What the form needs.
    pub needs: Needs,
}

/// The PTX version and the GPUs that an instruction needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Needs {
    /// The first PTX version, major and minor.
    pub ptx: (u8, u8),
    /// Targets separated by blanks, one of which must fit: `90` is 90 and above, `30..62` from one to the
    /// other, `90a` that GPU alone, `100f` its family. Empty: any.
    pub targets: &'static str,
}

/// Which operands an instruction writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Writes {
    /// None.
    Nothing,
    /// This many, from the first on.
    Leading(u8),
    /// The first, which it reads too.
    Updates,
    /// The first, and the second where the first is a pair.
    Report,
    /// The list before the function's name.
    Results,
    /// Possibly every one: the instruction is unknown.
    Everything,
}

/// Where control can go after an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Control {
    /// To the next statement.
    Next,
    /// To a label.
    Branch,
    /// To one of a list of labels.
    IndirectBranch,
    /// Into a function and back.
    Call,
    /// To the caller.
    Return,
    /// Nowhere: the thread ends.
    Exit,
    /// Nowhere: the grid is aborted.
    Trap,
    /// Anywhere: the instruction is unknown.
    Unknown,
}

/// What an instruction touches besides its operands.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Effects(u8);

impl Effects {
    /// Nothing.
    pub const NONE: Self = Self(0);
    /// It reads memory.
    pub const READS_MEMORY: Self = Self(1);
    /// It writes memory or does something else that can be observed from outside the thread.
    pub const ACTS: Self = Self(2);
    /// What it does depends on which threads of the warp, block or cluster execute it together.
    pub const CONVERGENT: Self = Self(4);
    /// It reads the carry flag.
    pub const READS_CARRY: Self = Self(8);
    /// It writes the carry flag.
    pub const WRITES_CARRY: Self = Self(16);
    /// Its order relative to other ordered instructions can be observed.
    pub const ORDERED: Self = Self(32);
    /// Executed twice, it may give two results.
    pub const IMPURE: Self = Self(64);
    /// Everything.
    pub const ALL: Self = Self(127);

    const NAMES: [(Self, &'static str); 7] = [
        (Self::READS_MEMORY, "reads-memory"),
        (Self::ACTS, "acts"),
        (Self::CONVERGENT, "convergent"),
        (Self::READS_CARRY, "reads-carry"),
        (Self::WRITES_CARRY, "writes-carry"),
        (Self::ORDERED, "ordered"),
        (Self::IMPURE, "impure"),
    ];

    /// The effects of both.
    #[must_use]
    pub const fn with(self, more: Self) -> Self {
        Self(self.0 | more.0)
    }

    /// Whether all of `some` are among them.
    #[must_use]
    pub const fn has(self, some: Self) -> bool {
        self.0 & some.0 == some.0
    }

    /// Whether there are no effects.
    #[must_use]
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// The names of the effects, in a fixed order.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Self::NAMES.into_iter().filter(move |&(effect, _)| self.has(effect)).map(|(_, name)| name)
    }
}

impl std::fmt::Debug for Effects {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

/// Begins a row: reads all its operands, has no effects, exists everywhere.
const fn row(name: &'static str) -> Row {
    Row {
        name,
        writes: Writes::Nothing,
        effects: Effects::NONE,
        control: Control::Next,
        needs: Needs { ptx: (1, 0), targets: "" },
        ends: None,
        forms: &[],
        takes: &[],
        video: None,
        means: None,
        commutes: false,
        alike: None,
        moves: false,
        bitwise: false,
        shifts: false,
        pattern: None,
        on_bytes: false,
        in_flight: None,
    }
}

/// A form with the modifiers, PTX version and targets.
const fn form(modifiers: &'static str, ptx: (u8, u8), targets: &'static str) -> Form {
    Form { modifiers, needs: Needs { ptx, targets } }
}

impl Row {
    const fn writes_leading(mut self, count: u8) -> Self {
        self.writes = Writes::Leading(count);
        self
    }

    const fn in_flight(mut self, in_flight: InFlight) -> Self {
        self.in_flight = Some(in_flight);
        self
    }

    const fn updates_first(mut self) -> Self {
        self.writes = Writes::Updates;
        self
    }

    const fn writes_report(mut self) -> Self {
        self.writes = Writes::Report;
        self
    }

    const fn writes_results(mut self) -> Self {
        self.writes = Writes::Results;
        self
    }

    const fn since(mut self, major: u8, minor: u8) -> Self {
        self.needs.ptx = (major, minor);
        self
    }

    /// Without `modifier` it exists only before this version.
    const fn ends_without(mut self, modifier: &'static str, major: u8, minor: u8) -> Self {
        self.ends = Some(((major, minor), modifier));
        self
    }

    const fn on(mut self, targets: &'static str) -> Self {
        self.needs.targets = targets;
        self
    }

    const fn video(mut self, opcode: Opcode) -> Self {
        self.video = Some(opcode);
        self
    }

    const fn means(mut self, means: Means) -> Self {
        self.means = Some(means);
        self
    }

    const fn commutes(mut self) -> Self {
        self.commutes = true;
        self
    }

    const fn alike(mut self, before: &'static [Modifier], types: &'static [(Modifier, Modifier)]) -> Self {
        self.alike = Some(Alike { before, types });
        self
    }

    const fn moves(mut self) -> Self {
        self.moves = true;
        self
    }

    const fn bitwise(mut self) -> Self {
        self.bitwise = true;
        self
    }

    const fn shifts(mut self) -> Self {
        self.shifts = true;
        self
    }

    const fn pattern(mut self, digits: u8) -> Self {
        self.pattern = Some(digits);
        self
    }

    const fn on_bytes(mut self) -> Self {
        self.on_bytes = true;
        self
    }

    const fn forms(mut self, forms: &'static [Form]) -> Self {
        self.forms = forms;
        self
    }

    const fn takes(mut self, takes: &'static [&'static str]) -> Self {
        self.takes = takes;
        self
    }

    const fn effect(mut self, effect: Effects) -> Self {
        self.effects = self.effects.with(effect);
        self
    }

    const fn reads_memory(self) -> Self {
        self.effect(Effects::READS_MEMORY)
    }

    const fn acts(self) -> Self {
        self.effect(Effects::ACTS)
    }

    const fn convergent(self) -> Self {
        self.effect(Effects::CONVERGENT)
    }

    const fn reads_carry(self) -> Self {
        self.effect(Effects::READS_CARRY)
    }

    const fn control(mut self, control: Control) -> Self {
        self.control = control;
        self
    }

    /// Whether it is this one.
    #[must_use]
    pub fn is(&self, mnemonic: Mnemonic) -> bool {
        std::ptr::eq(self, mnemonic.row())
    }

    /// Whether version `ptx` has the instruction with these modifiers no more.
    #[must_use]
    pub fn has_ended(&self, words: &[u8], ptx: (u8, u8)) -> bool {
        self.has_ended_with(ptx, |wanted| modifiers(words).any(|modifier| modifier == wanted.as_bytes()))
    }

    /// Whether version `ptx` has the instruction with the modifiers that it `has` no more.
    fn has_ended_with(&self, ptx: (u8, u8), has: impl Fn(&str) -> bool) -> bool {
        self.ends.is_some_and(|(end, unless)| ptx >= end && !has(unless))
    }

    /// What the instruction needs with these modifiers.
    #[must_use]
    pub fn needs(&self, words: &[u8]) -> Needs {
        self.needs_with(|wanted| modifiers(words).any(|modifier| modifier == wanted.as_bytes()))
    }

    /// What the instruction needs with the modifiers that it `has`.
    fn needs_with(&self, has: impl Fn(&str) -> bool) -> Needs {
        let form = self.forms.iter().find(|form| form.modifiers.split(' ').all(&has));
        form.map_or(self.needs, |form| form.needs)
    }
}

const FAMILIES: [&[Row]; 7] =
    [integer::ROWS, float::ROWS, video::ROWS, memory::ROWS, control::ROWS, asynchronous::ROWS, tensor::ROWS];

const COUNT: usize = {
    let (mut family, mut count) = (0, 0);
    while family < FAMILIES.len() {
        count += FAMILIES[family].len();
        family += 1;
    }
    count
};

/// All rows, family by family. The place of a row is its number.
static ALL: [&Row; COUNT] = {
    let mut all = [&FAMILIES[0][0]; COUNT];
    let (mut family, mut at) = (0, 0);
    while family < FAMILIES.len() {
        let mut row = 0;
        while row < FAMILIES[family].len() {
            all[at] = &FAMILIES[family][row];
            (row, at) = (row + 1, at + 1);
        }
        family += 1;
    }
    all
};

/// All rows, family by family.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    ALL.into_iter()
}

/// Whether two words are the same; `==` cannot be asked in constants.
const fn same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

/// The modifiers of an opcode: its words after the first dot.
pub fn modifiers(words: &[u8]) -> impl Iterator<Item = &[u8]> {
    words.split(|&byte| byte == b'.').skip(1)
}

/// The row of an opcode with its modifiers: of the rows with the same first word whose further words are all among the
/// modifiers, the one with the most words.
#[must_use]
pub fn lookup(words: &[u8]) -> Option<&'static Row> {
    static BY_FIRST: LazyLock<HashMap<&'static [u8], Vec<&'static Row>>> = LazyLock::new(|| {
        let mut by_first: HashMap<_, Vec<_>> = HashMap::new();
        for row in rows() {
            by_first.entry(first_word(row.name.as_bytes())).or_default().push(row);
        }
        by_first
    });
    let candidates = BY_FIRST.get(first_word(words))?;
    let stem = |modifier: &[u8], wanted: &[u8]| {
        modifier == wanted || modifier.strip_prefix(wanted).is_some_and(|rest| rest.starts_with(b"::"))
    };
    candidates
        .iter()
        .filter(|row| modifiers(row.name.as_bytes()).all(|wanted| modifiers(words).any(|m| stem(m, wanted))))
        .max_by_key(|row| modifiers(row.name.as_bytes()).count())
        .copied()
}

fn first_word(words: &[u8]) -> &[u8] {
    words.split(|&byte| byte == b'.').next().unwrap_or(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(words: &str) -> Option<&'static str> {
        lookup(words.as_bytes()).map(|row| row.name)
    }

    #[test]
    fn the_row_with_most_words_is_found() {
        assert_eq!(name("cvt.u32.u8"), Some("cvt"));
        assert_eq!(name("cvt.pack.sat.u8.s32.b32"), Some("cvt.pack"));
        assert_eq!(name("match.any.sync.b32"), Some("match.sync"));
        assert_eq!(
            name("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32"),
            Some("mma.sp")
        );
        assert_eq!(name("cp.async.bulk.prefetch.tensor.1d.L2.global"), Some("cp.async.bulk.prefetch.tensor"));
        assert_eq!(name("bar.sync"), Some("bar"));
        assert_eq!(name("frobnicate.u32"), None);
    }

    #[test]
    fn every_row_finds_itself() {
        for row in rows() {
            assert_eq!(name(row.name), Some(row.name));
        }
    }
}
