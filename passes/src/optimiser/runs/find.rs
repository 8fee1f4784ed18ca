//! The runs of a function: which accesses fill words, and what comes between them.

use super::super::elements::Place;
use super::super::record::Apart;
use super::super::splice;
use super::super::words::Part;
use super::spelled::{Deed, Spelled, Way, address, deed, never_changes};
use super::{BYTES, Piece, Run};
use crate::address::{Addresses, Sum};
use crate::graph::{BlockId, Graph};
use hashbrown::HashMap;
use ptxopt_grammar::names::DeclKind;
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::table::words::Modifier;
use ptxopt_grammar::tree::{DeclId, NodeId, NodeKind, SpellingId, StmtId, StmtKind};
use std::collections::{BTreeMap, BTreeSet};

/// The runs of a function, and why others are none, each at its first access.
pub(in crate::optimiser) fn find(graph: &Graph<'_, '_>) -> (Vec<Run>, Vec<(StmtId, Apart)>) {
    let mut finder = Finder {
        graph,
        is_entry: graph.module().kind(graph.function().head) == StmtKind::Entry,
        addresses: Addresses::new(graph),
        spelled: HashMap::new(),
        bases: Vec::new(),
        symbols: Vec::new(),
        numbers: HashMap::new(),
        loads: HashMap::new(),
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
    is_entry: bool,
    addresses: Addresses<'g, 'm, 't>,
    spelled: HashMap<SpellingId, Option<Spelled>>,
    bases: Vec<Way>,
    /// The variable or parameter that the address of a base is.
    symbols: Vec<Option<DeclId>>,
    numbers: HashMap<(Way, Sum), Base>,
    /// The words that are being read in this block, by state space, and the one that is being written.
    loads: HashMap<Option<Modifier>, BTreeMap<Word, Open>>,
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
            let deed = match deed(self.graph.module(), stmt) {
                Deed::Reads(space) => Deed::Reads(self.alone(space)),
                Deed::Writes(space) => Deed::Writes(self.alone(space)),
                other @ (Deed::Nothing | Deed::Any) => other,
            };
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

    /// A state space, if no other can have the same memory: the parameters of a function that is no entry may lie in
    /// local memory.
    fn alone(&self, space: Option<Modifier>) -> Option<Modifier> {
        space.filter(|&space| self.is_entry || space != op::PARAM)
    }

    /// The part of a word that a statement accesses, if it may be in a run; if not, and it is an access, that is noted.
    fn piece(&mut self, stmt: StmtId) -> Option<(Word, Open)> {
        let module = self.graph.module();
        let (spelling, _) = module.opcode(stmt)?;
        let spelled =
            self.spelled.entry(spelling).or_insert_with(|| Spelled::of(module, spelling)).as_ref()?;
        let (mut way, (bits, signed)) = (spelled.way.clone(), spelled.element);
        let (elements, is_strong) = (spelled.elements, spelled.is_strong);
        way.space = self.alone(way.space);
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
        let is_vector = module.node_kind(operand) == NodeKind::Vector;
        let nodes = if is_vector { module.children(operand) } else { vec![operand] };
        let mut parts: Vec<Part> = nodes.iter().map(|&node| Part::of(module, node)).collect::<Option<_>>()?;
        let names: BTreeSet<&str> = parts.iter().map(|part| part.holder.name.as_str()).collect();
        let fits = parts.iter().all(|part| [16, 32, 64].contains(&part.holder.width));
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
        let symbol = sum.symbol();
        let base = *self.numbers.entry((way.clone(), sum)).or_insert(next);
        if base == next {
            self.bases.push(way);
            self.symbols.push(symbol);
        }
        base
    }

    fn load(&mut self, word: Word, open: Open) {
        let loads = self.loads.entry(self.bases[word.0].space).or_default();
        let known = loads.entry(word).or_default();
        // The same byte read once more stays.
        if known.bytes & open.bytes != 0 {
            return;
        }
        known.bytes |= open.bytes;
        known.pieces.extend(open.pieces);
        if known.bytes == FULL {
            let open = loads.remove(&word).expect("it was just there");
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

    /// Whether all bytes of a word may be read, whichever of them are: they are those of a parameter of an entry or of a
    /// constant, which nothing writes to.
    fn is_all_there(&mut self, (base, word): Word) -> bool {
        let symbol = self.symbols[base].filter(|_| never_changes(self.bases[base].space));
        let size = symbol.and_then(|symbol| self.addresses.size_of(symbol));
        let end = word.checked_add(1).and_then(|words| words.checked_mul(BYTES));
        end.zip(size).is_some_and(|(end, size)| end <= size)
    }

    /// All bytes of a word that are to be accessed are.
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
        let gone: Vec<(Word, Open)> = self
            .loads
            .iter_mut()
            .filter(|(own, _)| meet(**own, space))
            .flat_map(|(_, open)| std::mem::take(open))
            .collect();
        for (word, open) in gone {
            if open.pieces.len() > 1 && self.is_all_there(word) {
                self.finish(word, open);
            } else {
                self.closed.entry(word).or_default().push(open);
            }
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
        self.close_loads(None);
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
