//! Runs of accesses to neighbouring bytes and halves as accesses to the words that these make up.
//!
//! Four loads of bytes become a load of their word, where the first of them stands, and moves of the bytes, where each
//! of them stands; four stores become a store of the word, where the last of them stands.
//!
//! It is sound because a run is no more than that:
//!
//! - Its bytes fill a word, none twice: the same bytes are read or written, and no others.
//! - The word is aligned. That follows from how variables and parameters are declared, from numbers, and from the lowest
//!   bits of what is added to them, which are known to be zero ([`crate::address`]). Of a pointer that the caller gives
//!   nothing is known.
//! - Accesses are weak, without a guard, in one block. That other threads access the bytes between the accesses is a
//!   data race, and a program that has one means nothing
//!   ([memory consistency](https://docs.nvidia.com/cuda/parallel-thread-execution/#memory-consistency-model)).
//! - Nothing between them may overlap or order: between loads, nothing writes to their state space, or to what may be any;
//!   between stores, nothing else writes memory at all, and nothing reads their state space; nor does any barrier,
//!   call, atomic operation, or other instruction with an effect come between.
//! - The address of the word is that of the access in whose place it is accessed, less a number, so its register holds
//!   it there. What is stored is read where it was read, unless its register still holds it at the end.
//!
//! All of that but the last part of the third is proved once more, by the block prover, before anything is written.

use super::record::Apart;
use super::splice;
use super::words::{Part, Place, element, is_weak};
use crate::address::{Addresses, Sum};
use crate::graph::{BlockId, Graph};
use hashbrown::HashMap;
use ptxopt_grammar::constant;
use ptxopt_grammar::function::Function;
use ptxopt_grammar::names::DeclKind;
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::table::words::Modifier;
use ptxopt_grammar::table::{Control, Effects};
use ptxopt_grammar::tree::{Module, NodeId, NodeKind, SpellingId, StmtId, StmtKind};
use std::collections::{BTreeMap, BTreeSet};

/// How many bits a word has, and how many bytes.
const WORD: u32 = 32;
const BYTES: u64 = WORD as u64 / 8;

/// A run of accesses that are one to a word.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Run {
    /// In the order of the text.
    pieces: Vec<Piece>,
    way: Way,
    /// The operand that is the address of the word, in the first place for loads, in the last for stores.
    address: String,
}

/// How memory is accessed, besides the size.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Way {
    is_load: bool,
    /// The opcode without the vector and the type.
    opcode: String,
    space: Option<Modifier>,
}

/// An access to a part of a word.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Piece {
    stmt: StmtId,
    /// Each register, and where its element lies in the word.
    parts: Vec<(Part, Place)>,
    /// Whether what is stored must be read where the access stands.
    is_copied: bool,
}

impl Run {
    /// The statements that stand for each access; `fresh` makes the names of new registers of 32 bits.
    pub(super) fn lines(&self, fresh: &mut dyn FnMut() -> String) -> Vec<(StmtId, Vec<String>)> {
        let (word, opcode, address) = (fresh(), &self.way.opcode, &self.address);
        if self.way.is_load {
            let mut load = vec![format!("{opcode}.b32 {word}, {address};")];
            let moves = |piece: &Piece| {
                let mut lines = std::mem::take(&mut load);
                for (part, place) in &piece.parts {
                    lines.extend(part.taken_from(&word, *place, fresh));
                }
                (piece.stmt, lines)
            };
            return self.pieces.iter().map(moves).collect();
        }
        let mut stored: BTreeMap<usize, (u32, Part)> = BTreeMap::new();
        let mut all = Vec::new();
        for piece in &self.pieces {
            let mut lines = Vec::new();
            for (part, place) in &piece.parts {
                let part = if piece.is_copied { part.widened(fresh, &mut lines) } else { part.clone() };
                stored.insert(place.first, (place.bits, part));
            }
            all.push((piece.stmt, lines));
        }
        let (_, lines) = all.last_mut().expect("a run has at least two accesses");
        put_together(&word, stored.into_values().collect(), fresh, lines);
        lines.push(format!("{opcode}.b32 {address}, {word};"));
        all
    }
}

impl Part {
    /// A new register of 32 bits that has its low bits.
    fn widened(&self, fresh: &mut dyn FnMut() -> String, lines: &mut Vec<String>) -> Self {
        let name = fresh();
        lines.push(match self.width {
            32 => format!("mov.b32 {name}, {};", self.name),
            width => format!("cvt.u32.u{width} {name}, {};", self.name),
        });
        Self { name, width: WORD, ..self.clone() }
    }
}

/// The low bits of registers to a word, the lowest first.
fn put_together(
    word: &str,
    parts: Vec<(u32, Part)>,
    fresh: &mut dyn FnMut() -> String,
    lines: &mut Vec<String>,
) {
    // Registers of 16 bits are moved together in pairs.
    let in_pairs = parts.len() != 3 && parts.iter().all(|(_, part)| part.width == 16);
    let mut sides: Vec<(u32, String)> = Vec::new();
    for (bits, part) in parts {
        let part = if in_pairs || part.width == WORD { part } else { part.widened(fresh, lines) };
        sides.push((bits, part.name));
    }
    let is_word = |sides: &[(u32, String)]| sides.len() == 2;
    let mut halves = Vec::new();
    let mut bytes = sides.into_iter().peekable();
    while let Some((bits, name)) = bytes.next() {
        match bytes.next_if(|_| bits == 8) {
            Some((_, high)) => {
                let half = fresh();
                lines.push(match in_pairs {
                    true => format!("mov.b32 {half}, {{{name}, {high}}};"),
                    false => format!("prmt.b32 {half}, {name}, {high}, 0x0040;"),
                });
                halves.push((8, half));
            }
            None => halves.push((16, name)),
        }
    }
    debug_assert!(is_word(&halves), "the parts of a word are two halves");
    let [(bits, low), (_, high)] = &halves[..] else { return };
    lines.push(match (in_pairs, bits) {
        (true, 8) => format!("prmt.b32 {word}, {low}, {high}, 0x6420;"),
        (true, _) => format!("mov.b32 {word}, {{{low}, {high}}};"),
        (false, _) => format!("prmt.b32 {word}, {low}, {high}, 0x5410;"),
    });
}

/// An access to less than a word, as its spelling says it.
struct Spelled {
    way: Way,
    /// How many elements it has, of how many bits, and whether registers get the sign.
    elements: u32,
    element: (u32, bool),
    /// Whether other threads may observe it as one.
    is_strong: bool,
}

impl Spelled {
    /// `None` for another instruction.
    fn of(module: &Module<'_>, spelling: SpellingId) -> Option<Self> {
        let instruction = module.spellings().instruction(spelling)?;
        let row = instruction.row();
        if !row.is(op::LD) && !row.is(op::ST) {
            return None;
        }
        let element = element(instruction.last_type()?.ty()?)?;
        let modifiers: Vec<Modifier> = instruction.modifiers().filter(|other| other.ty().is_none()).collect();
        let (kept, elements) = match modifiers.split_last() {
            Some((&last, kept)) if last == op::V2 => (kept, 2),
            Some((&last, _)) if last == op::V4 => return None,
            Some(_) | None => (&modifiers[..], 1),
        };
        let is_space = |&&modifier: &&Modifier| SPACES.contains(&modifier);
        let space = kept.iter().find(is_space).copied();
        let opcode = kept.iter().fold(row.name.to_owned(), |text, modifier| text + "." + modifier.word());
        let way = Way { is_load: row.is(op::LD), opcode, space };
        let is_strong = !kept.iter().all(|&modifier| is_weak(modifier) || modifier == op::PARAM);
        (elements * element.0 < WORD).then_some(Self { way, elements, element, is_strong })
    }

    fn bits(&self) -> u32 {
        self.elements * self.element.0
    }
}

/// The state spaces. What is in one of them is in no other.
const SPACES: [Modifier; 5] = [op::GLOBAL, op::SHARED, op::LOCAL, op::CONST, op::PARAM];

/// Whether a function may have runs: so many accesses to bytes come after each other in one block, and, where nothing but
/// a register says where they are, with the same register. Quick, since it is asked of every function.
pub(super) fn are_possible(module: &Module<'_>, function: &Function) -> bool {
    let mut spelled: HashMap<SpellingId, Option<Spelled>> = HashMap::new();
    let mut bits: HashMap<(bool, Option<Modifier>, &[u8]), u32> = HashMap::new();
    for stmt in function.body.clone().filter_map(StmtId::new) {
        let Some((spelling, _)) = module.opcode(stmt) else {
            if module.kind(stmt) == StmtKind::Label {
                bits.clear();
            }
            continue;
        };
        let found = spelled.entry(spelling).or_insert_with(|| Spelled::of(module, spelling));
        let Some(found) = found else {
            let leaves = !bits.is_empty()
                && module.row(stmt).is_none_or(|row| !matches!(row.control, Control::Next | Control::Call));
            if leaves {
                bits.clear();
            }
            continue;
        };
        let near = [Some(op::SHARED), Some(op::LOCAL), Some(op::PARAM)].contains(&found.way.space);
        let base = if near { None } else { address(module, stmt, found.way.is_load) };
        let base = base.map_or(&b""[..], |(base, _)| module.node_text(base));
        let bits = bits.entry((found.way.is_load, found.way.space, base)).or_default();
        *bits += found.bits();
        if *bits >= WORD {
            return true;
        }
    }
    false
}

/// What the address of an access is made of: a name, and a number.
fn address(module: &Module<'_>, stmt: StmtId, is_load: bool) -> Option<(NodeId, i64)> {
    let operands = module.operands(stmt);
    let &node = operands.get(usize::from(is_load))?;
    if operands.len() != 2 || module.node_kind(node) != NodeKind::Address {
        return None;
    }
    let [place] = module.children(node)[..] else { return None };
    let (base, number) = match (module.node_kind(place), &module.children(place)[..]) {
        (NodeKind::Name, _) => (place, 0),
        (NodeKind::Offset, &[base, number]) => (base, constant::value(module, number)?.cast_signed()),
        (_, _) => return None,
    };
    (module.node_kind(base) == NodeKind::Name).then_some((base, number))
}

/// What a statement does to memory.
enum Deed {
    Nothing,
    /// It reads a state space, or any memory.
    Reads(Option<Modifier>),
    /// It writes to one.
    Writes(Option<Modifier>),
    /// Anything may come of it.
    Any,
}

fn deed(module: &Module<'_>, stmt: StmtId) -> Deed {
    match module.kind(stmt) {
        StmtKind::Instruction => {}
        StmtKind::Label | StmtKind::Loc | StmtKind::LineMarker => return Deed::Nothing,
        StmtKind::Version
        | StmtKind::Target
        | StmtKind::AddressSize
        | StmtKind::DwarfLine
        | StmtKind::File
        | StmtKind::Section
        | StmtKind::Pragma
        | StmtKind::Alias
        | StmtKind::Variable
        | StmtKind::Register
        | StmtKind::Entry
        | StmtKind::Function
        | StmtKind::Open
        | StmtKind::Close
        | StmtKind::BranchTargets
        | StmtKind::CallTargets
        | StmtKind::CallPrototype
        | StmtKind::Unknown => return Deed::Any,
    }
    let Some(row) = module.row(stmt).filter(|row| row.control == Control::Next) else { return Deed::Any };
    let effects = module.effects(stmt);
    let has = |some: &[Effects]| some.iter().any(|&one| effects.has(one));
    if !has(&[Effects::ACTS, Effects::READS_MEMORY, Effects::CONVERGENT, Effects::ORDERED, Effects::IMPURE]) {
        return Deed::Nothing;
    }
    // A plain store is no more ordered than a plain load.
    let is_store = row.is(op::ST);
    if has(&[Effects::CONVERGENT, Effects::IMPURE]) || !is_store && has(&[Effects::ACTS, Effects::ORDERED]) {
        return Deed::Any;
    }
    let instruction = module.opcode(stmt).and_then(|(spelling, _)| module.spellings().instruction(spelling));
    let plain = |modifier: Modifier| {
        let shape =
            modifier == op::PARAM || modifier == op::V2 || modifier == op::V4 || modifier.ty().is_some();
        is_weak(modifier) || shape
    };
    let is_plain = instruction.as_ref().is_some_and(|instruction| instruction.modifiers().all(plain));
    let space = instruction.and_then(|all| all.modifiers().find(|modifier| SPACES.contains(modifier)));
    match (is_store, is_plain) {
        (true, true) => Deed::Writes(space),
        (true, false) => Deed::Any,
        (false, _) => Deed::Reads(space.filter(|_| is_plain && row.is(op::LD))),
    }
}

/// The runs of a function, and why others are none, each at its first access.
pub(super) fn find(graph: &Graph<'_, '_>) -> (Vec<Run>, Vec<(StmtId, Apart)>) {
    let mut finder = Finder {
        graph,
        addresses: Addresses::new(graph),
        spelled: HashMap::new(),
        bases: Vec::new(),
        numbers: HashMap::new(),
        loads: BTreeMap::new(),
        store: None,
        closed: BTreeMap::new(),
        blocked: BTreeMap::new(),
        runs: Vec::new(),
        refused: Vec::new(),
    };
    for &block in graph.flow().order() {
        finder.block(block);
    }
    let Finder { mut runs, mut refused, .. } = finder;
    runs.sort_by_key(|run| run.pieces[0].stmt);
    refused.sort_unstable();
    (runs, refused)
}

/// A way of accessing memory and an address without its number, by its number.
type Base = usize;
/// A word: how it is accessed, its base and its number from there.
type Word = (Base, u64);

/// The accesses to parts of a word so far.
#[derive(Clone, Default)]
struct Open {
    pieces: Vec<Piece>,
    /// The bytes that they access.
    bytes: u32,
}

struct Finder<'g, 'm, 't> {
    graph: &'g Graph<'m, 't>,
    addresses: Addresses<'g, 'm, 't>,
    spelled: HashMap<SpellingId, Option<Spelled>>,
    bases: Vec<Way>,
    numbers: HashMap<(Way, Sum), Base>,
    /// The words that are being read in this block, and the one that is being written.
    loads: BTreeMap<Word, Open>,
    store: Option<(Word, Open)>,
    /// Those that were not read or written whole before something came that may overlap.
    closed: BTreeMap<Word, Vec<Open>>,
    /// The bytes of accesses that cannot be part of a run, by why not, how they are accessed and where.
    blocked: BTreeMap<(Apart, Base), BTreeMap<u64, StmtId>>,
    runs: Vec<Run>,
    refused: Vec<(StmtId, Apart)>,
}

impl Finder<'_, '_, '_> {
    fn block(&mut self, block: BlockId) {
        for stmt in self.graph.flow().stmts(block) {
            let deed = deed(self.graph.module(), stmt);
            let taken = self.piece(stmt);
            match (deed, taken) {
                (Deed::Nothing, _) => {}
                (Deed::Reads(space), taken) => {
                    let hit = self
                        .store
                        .as_ref()
                        .is_some_and(|&((base, _), _)| meet(self.bases[base].space, space));
                    if hit {
                        self.close_store();
                    }
                    if let Some((word, open)) = taken {
                        self.load(word, open);
                    }
                }
                (Deed::Writes(space), taken) => {
                    self.close_loads(space);
                    match taken {
                        Some((word, open)) => self.store(word, open),
                        None => self.close_store(),
                    }
                }
                (Deed::Any, _) => {
                    self.close_loads(None);
                    self.close_store();
                }
            }
        }
        self.end();
    }

    /// The part of a word that a statement accesses, if it may be in a run; if not, and it is an access, that is noted.
    fn piece(&mut self, stmt: StmtId) -> Option<(Word, Open)> {
        let module = self.graph.module();
        let (spelling, _) = module.opcode(stmt)?;
        let spelled =
            self.spelled.entry(spelling).or_insert_with(|| Spelled::of(module, spelling)).as_ref()?;
        let (way, (bits, signed)) = (spelled.way.clone(), spelled.element);
        let (elements, is_strong) = (spelled.elements, spelled.is_strong);
        let (base, number) = address(module, stmt, way.is_load)?;
        let sum = self.sum(stmt, base, number)?;
        let (sum, number) = sum.split();
        let zeros = self.addresses.zero_bits(&sum);
        let base = self.base(way, sum);
        let apart = if module.guard(stmt).is_some() {
            Some(Apart::Guarded)
        } else if is_strong {
            Some(Apart::Strong)
        } else if 1_u64.checked_shl(zeros).is_some_and(|aligned| aligned < BYTES) {
            Some(Apart::Unaligned)
        } else {
            None
        };
        let bytes = u64::from(elements * bits / 8);
        if let Some(apart) = apart {
            let blocked = self.blocked.entry((apart, base)).or_default();
            (number..number.saturating_add(bytes)).for_each(|byte| {
                blocked.entry(byte).or_insert(stmt);
            });
            return None;
        }
        let first = number % BYTES;
        if first + bytes > BYTES || !splice::is_plain(module, stmt) {
            return None;
        }
        let is_load = self.bases[base].is_load;
        let parts = self.parts(stmt, is_load)?;
        let place = |at: usize| Place {
            first: usize::try_from(first).expect("it is below 4") * 8 + at * bits as usize,
            bits,
            signed,
        };
        let parts: Vec<(Part, Place)> =
            parts.into_iter().enumerate().map(|(at, part)| (part, place(at))).collect();
        let bytes = ((1 << bytes) - 1) << first;
        let piece = Piece { stmt, parts, is_copied: false };
        Some(((base, number / BYTES), Open { pieces: vec![piece], bytes }))
    }

    /// The registers that an access loads or stores.
    fn parts(&self, stmt: StmtId, is_load: bool) -> Option<Vec<Part>> {
        let module = self.graph.module();
        let operand = module.operands(stmt)[usize::from(!is_load)];
        let nodes = match module.node_kind(operand) {
            NodeKind::Vector => module.children(operand),
            _ => vec![operand],
        };
        let mut parts: Vec<Part> = nodes.iter().map(|&node| Part::of(module, node)).collect::<Option<_>>()?;
        let names: BTreeSet<&str> = parts.iter().map(|part| part.name.as_str()).collect();
        let fits = parts.iter().all(|part| [16, 32, 64].contains(&part.width));
        if !fits || is_load && names.len() != parts.len() {
            return None;
        }
        if is_load {
            parts.iter_mut().for_each(|part| part.leave_unused(self.graph, stmt));
        }
        Some(parts)
    }

    /// Where an access is.
    fn sum(&mut self, stmt: StmtId, base: NodeId, number: i64) -> Option<Sum> {
        let module = self.graph.module();
        if let Some(value) = self.graph.read_at(stmt, base) {
            return Some(self.addresses.of_value(value, number.cast_unsigned()));
        }
        let symbol = module.decl_of(base)?;
        let declared = module.decl(symbol);
        let is_fixed = match declared.kind {
            DeclKind::Variable => {
                // The parameters of calls belong to the calls.
                module.stmt_text(declared.stmt).windows(6).all(|word| word != b".param")
            }
            DeclKind::Parameter => declared.stmt == self.graph.function().head,
            DeclKind::Register
            | DeclKind::Function
            | DeclKind::Label
            | DeclKind::Table
            | DeclKind::SectionLabel => false,
        };
        is_fixed.then(|| Addresses::of_symbol(symbol, number.cast_unsigned()))
    }

    fn base(&mut self, way: Way, sum: Sum) -> Base {
        let next = self.bases.len();
        let base = *self.numbers.entry((way.clone(), sum)).or_insert(next);
        if base == next {
            self.bases.push(way);
        }
        base
    }

    fn load(&mut self, word: Word, open: Open) {
        let known = self.loads.entry(word).or_default();
        // The same byte read once more stays.
        if known.bytes & open.bytes != 0 {
            return;
        }
        known.bytes |= open.bytes;
        known.pieces.extend(open.pieces);
        if known.bytes == FULL {
            let open = self.loads.remove(&word).expect("it was just there");
            self.finish(word, open);
        }
    }

    fn store(&mut self, word: Word, open: Open) {
        match &mut self.store {
            Some((known, all)) if *known == word && all.bytes & open.bytes == 0 => {
                all.bytes |= open.bytes;
                all.pieces.extend(open.pieces);
            }
            Some(_) => {
                self.close_store();
                self.store = Some((word, open));
            }
            None => self.store = Some((word, open)),
        }
        if let Some((word, open)) = self.store.take_if(|(_, open)| open.bytes == FULL) {
            self.finish(word, open);
        }
    }

    /// All bytes of a word are there.
    fn finish(&mut self, (base, _): Word, open: Open) {
        let (way, mut pieces) = (self.bases[base].clone(), open.pieces);
        let at = if way.is_load { 0 } else { pieces.len() - 1 };
        let (here, module) = (pieces[at].stmt, self.graph.module());
        let first = pieces[at].parts[0].1.first / 8;
        let Some((base, number)) = address(module, here, way.is_load) else { return };
        let name = String::from_utf8_lossy(module.node_text(base));
        let number = number.wrapping_sub(i64::try_from(first).expect("it is below 4"));
        let address = if number == 0 { format!("[{name}]") } else { format!("[{name}+{number}]") };
        for piece in pieces.iter_mut().filter(|piece| !way.is_load && piece.stmt != here) {
            let held = |part: &Part| {
                let value = self.graph.read_at(piece.stmt, part.node);
                value.is_some_and(|value| self.graph.holds(value, here))
            };
            piece.is_copied = !piece.parts.iter().all(|(part, _)| held(part));
        }
        self.runs.push(Run { pieces, way, address });
    }

    /// Something writes to a state space, or to what may be any.
    fn close_loads(&mut self, space: Option<Modifier>) {
        let bases = &self.bases;
        let gone: Vec<(Word, Open)> =
            self.loads.extract_if(.., |&(base, _), _| meet(bases[base].space, space)).collect();
        for (word, open) in gone {
            self.closed.entry(word).or_default().push(open);
        }
    }

    fn close_store(&mut self) {
        if let Some((word, open)) = self.store.take() {
            self.closed.entry(word).or_default().push(open);
        }
    }

    /// The end of a block: what is not a run has a reason.
    fn end(&mut self) {
        self.close_store();
        for (word, open) in std::mem::take(&mut self.loads) {
            self.closed.entry(word).or_default().push(open);
        }
        for opens in std::mem::take(&mut self.closed).into_values() {
            let all = opens.iter().fold(0, |all, open| all | open.bytes);
            let Some(first) = opens.iter().flat_map(|open| &open.pieces).map(|piece| piece.stmt).min() else {
                continue;
            };
            if all == FULL {
                self.refused.push((first, Apart::Interrupted));
            } else if opens.iter().any(|open| open.pieces.len() > 1) {
                self.refused.push((first, Apart::Incomplete));
            }
        }
        for ((apart, _), bytes) in std::mem::take(&mut self.blocked) {
            // As many words as follow each other from byte to byte.
            let mut run: Option<(u64, StmtId)> = None;
            for (&byte, &stmt) in &bytes {
                let (first, at) =
                    run.filter(|_| bytes.contains_key(&byte.wrapping_sub(1))).unwrap_or((byte, stmt));
                run = Some((first, at.min(stmt)));
                if byte - first == BYTES - 1 {
                    self.refused.push((at.min(stmt), apart));
                    run = None;
                }
            }
        }
    }
}

/// All bytes of a word.
const FULL: u32 = (1 << BYTES) - 1;

/// Whether two state spaces may have memory in common.
fn meet(one: Option<Modifier>, other: Option<Modifier>) -> bool {
    one.is_none() || other.is_none() || one == other
}
