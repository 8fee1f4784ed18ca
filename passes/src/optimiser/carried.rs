//! Bytes and halves that are carried in registers of their own, around loops and to where paths join, in one word.
//!
//! What recognises lanes looks through everything that is computed, down to what is joined: a loop that carries four
//! bytes in four registers has no word to compute with. Here such registers get a word that holds their lowest bits side
//! by side: they are put together where the last of them is written, and taken out of the word where the paths join.
//! What comes of it is for the rules that follow: they see words that are put together of lanes of other words, and
//! where they find an instruction for them, the moves go.
//!
//! Only statements are added, which write the word and the registers that it is made of. That the function does the
//! same with them is proved from the two texts before anything else is done (`variants`), by the prover that compares
//! functions: where paths join, the word holds the bits of the registers if it does on every incoming edge
//! ([`ptxopt_prover::blocks::compare_packed`]), and what a register had above them is zero or makes no difference. A
//! function of which that is not proved is left without the word. Whether it pays is found out: the caller optimises a
//! function with and without.

mod groups;
mod places;

use super::elements::{Holder, Place, WORD, put_together};
use super::halves::frequencies;
use super::record::{How, Kind, Record, one_line};
use super::splice::{self, Fresh};
use super::spliced::Spliced;
use super::visible::{Declarations, Scopes, is_integer};
use super::words::is_priced;
use crate::cost::Cost;
use crate::fuse::is_seed;
use crate::graph::{BlockId, Flow, Graph, Register, Use, ValueId};
use crate::rules::Pass;
use crate::site::Knowledge;
use groups::{Group, is_lane};
use hashbrown::{HashMap, HashSet};
use places::{Insertion, first, last};
use ptxopt_grammar::edit::Edits;
use ptxopt_grammar::function::Function;
use ptxopt_grammar::tree::{Module, StmtId};
use ptxopt_prover::blocks::packed::{Lane, Packed, comment};
use std::collections::{BTreeMap, BTreeSet};

/// The name by which remarks call such a change.
const NAME: &str = "carried";

/// The registers that a word is made of, by name.
pub(super) type Lanes = Vec<String>;

/// A statement that was added for a word.
#[derive(Clone)]
struct Move {
    lanes: Lanes,
    line: String,
    /// Whether it writes the word.
    packs: bool,
    /// How often it is executed, about.
    often: i64,
}

/// The words of a function: the statements that keep them.
#[derive(Clone)]
pub(super) struct Carried {
    spliced: Spliced,
    declarations: Edits,
    /// One for each statement before or after which others are added.
    records: Vec<Record>,
    moves: Vec<Move>,
    /// What the words are made of, for the proof.
    pub(super) packed: Vec<Packed>,
}

impl Carried {
    /// Those of a function, but for some; `None` if there are none, or if an earlier run decided about them.
    pub(super) fn of(
        graph: &Graph<'_, '_>,
        knowledge: &Knowledge,
        declarations: &Declarations,
        fresh: &Fresh,
        without: &BTreeSet<Lanes>,
    ) -> Option<Self> {
        let (module, function) = (graph.module(), graph.function());
        let mut stmts = function.body.clone().filter_map(StmtId::new);
        if splice::is_written(module, function) || !stmts.any(|stmt| is_seed(module, stmt)) {
            return None;
        }
        let joins = |&block: &BlockId| graph.flow().predecessors(block).len() > 1;
        if !graph.flow().order().iter().any(joins) {
            return None;
        }
        let name = |&register: &Register| graph.register_text(register);
        let mut groups = groups::find(graph, knowledge);
        groups.retain(|group| {
            let lanes: Option<Lanes> = group.registers.iter().map(name).collect();
            lanes.is_some_and(|lanes| !without.contains(&lanes))
        });
        let moves = Moves::of(graph, knowledge, &Scopes::of(module, function, declarations), fresh, groups);
        (!moves.groups.is_empty()).then(|| moves.inserted())
    }

    /// The words that gain nothing in the text that the function became: each added move that is left costs one, each
    /// place where the word is computed instead of put together gains its lanes, as often as they are executed.
    pub(super) fn idle(&self, module: &Module<'_>, function: &Function) -> BTreeSet<Lanes> {
        let Ok(flow) = Flow::new(module, &function.body) else { return BTreeSet::new() };
        let often = frequencies(&flow);
        // Lines that are alike are told apart by how often they are executed.
        let mut left: BTreeMap<(String, i64), usize> = BTreeMap::new();
        for stmt in function.body.clone().filter_map(StmtId::new) {
            let line = one_line(&String::from_utf8_lossy(module.stmt_text(stmt)));
            let often = often.get(&flow.block(stmt)).copied().unwrap_or(1);
            *left.entry((line, often)).or_default() += 1;
        }
        let mut gains: BTreeMap<&Lanes, i64> = BTreeMap::new();
        for one in &self.moves {
            let gain = gains.entry(&one.lanes).or_default();
            if let Some(left) = left.get_mut(&(one.line.clone(), one.often)).filter(|left| **left > 0) {
                *left -= 1;
                *gain -= one.often;
            } else if one.packs {
                *gain += one.often * i64::try_from(one.lanes.len()).expect("a word has a few lanes");
            }
        }
        gains.into_iter().filter(|&(_, gain)| gain <= 0).map(|(lanes, _)| lanes.clone()).collect()
    }

    /// The statements that are inserted, and what is to be said about them.
    pub(super) fn insert(&self, spliced: &mut Spliced, edits: &mut Edits) -> &[Record] {
        spliced.extend(self.spliced.clone());
        edits.extend(self.declarations.clone());
        &self.records
    }
}

/// What is added to keep the words of a function.
struct Moves<'g, 'm, 't> {
    graph: &'g Graph<'m, 't>,
    knowledge: &'g Knowledge,
    fresh: &'g Fresh,
    groups: Vec<Group>,
    /// The names of the words, by the registers that they are made of.
    words: BTreeMap<Vec<Register>, String>,
    /// The lines that are added.
    lines: BTreeMap<Insertion, Vec<String>>,
    moves: Vec<Move>,
    /// How often blocks are executed, about.
    often: HashMap<BlockId, i64>,
    /// How many registers are new.
    count: u32,
}

impl<'g, 'm, 't> Moves<'g, 'm, 't> {
    /// The groups of which all registers can be named where it is necessary.
    fn of(
        graph: &'g Graph<'m, 't>,
        knowledge: &'g Knowledge,
        scopes: &Scopes<'_>,
        fresh: &'g Fresh,
        groups: Vec<Group>,
    ) -> Self {
        let means = |group: &Group, stmt: StmtId| {
            let mut registers = group.registers.iter();
            registers.all(|&register| is_integer(graph, register) && scopes.means(graph, register, stmt))
        };
        let places = |group: &Group| -> Option<Vec<StmtId>> {
            let mut stmts = vec![first(graph, group.join)?];
            for edge in &group.incoming {
                stmts.push(last(graph, edge)?.stmt());
            }
            Some(stmts)
        };
        let groups = groups.into_iter().filter(|group| {
            places(group).is_some_and(|stmts| stmts.into_iter().all(|stmt| means(group, stmt)))
        });
        let groups: Vec<Group> = groups.collect();
        let mut moves = Self {
            graph,
            knowledge,
            fresh,
            groups,
            words: BTreeMap::new(),
            lines: BTreeMap::new(),
            moves: Vec::new(),
            often: frequencies(graph.flow()),
            count: 0,
        };
        for at in 0..moves.groups.len() {
            let registers = moves.groups[at].registers.clone();
            if !moves.words.contains_key(&registers) {
                let name = moves.name();
                moves.words.insert(registers, name);
            }
        }
        moves
    }

    /// The name of a new register.
    fn name(&mut self) -> String {
        self.count += 1;
        self.fresh.carried(self.count - 1)
    }

    fn inserted(mut self) -> Carried {
        let groups = std::mem::take(&mut self.groups);
        for Group { join, phis, registers, .. } in &groups {
            let stmt = first(self.graph, *join).expect("groups without such a statement were left out");
            let lines = self.taken_apart(&groups, registers, phis);
            self.count_moves(registers, &lines, None, Insertion::Before(stmt));
            self.lines.entry(Insertion::Before(stmt)).or_default().extend(lines);
        }
        // What comes from where these very values join is in the word already.
        let mut done: HashSet<(&[Register], &[ValueId])> =
            groups.iter().map(|group| (&group.registers[..], &group.phis[..])).collect();
        for Group { registers, incoming, .. } in &groups {
            for values in incoming {
                if done.insert((&registers[..], &values[..])) {
                    let place = last(self.graph, values).expect("groups without such a place were left out");
                    let mut lines = self.packed(registers, values);
                    let packs = lines.len() - 1;
                    lines.extend(self.taken_apart(&groups, registers, values));
                    self.count_moves(registers, &lines, Some(packs), place);
                    self.lines.entry(place).or_default().extend(lines);
                }
            }
        }
        self.written()
    }

    /// Takes note of statements that are added for a word, of which one writes it.
    fn count_moves(
        &mut self,
        registers: &[Register],
        lines: &[String],
        packs: Option<usize>,
        place: Insertion,
    ) {
        let often = self.often.get(&self.graph.flow().block(place.stmt())).copied().unwrap_or(1);
        let lanes: Lanes = registers.iter().map(|&register| self.text(register)).collect();
        let moves = lines.iter().enumerate().map(|(at, line)| Move {
            lanes: lanes.clone(),
            line: line.clone(),
            packs: packs == Some(at),
            often,
        });
        self.moves.extend(moves);
    }

    /// The statements that put registers together to a word, which hold these values.
    fn packed(&mut self, registers: &[Register], values: &[ValueId]) -> Vec<String> {
        let word = self.words[registers].clone();
        let bits = WORD / lane_count(registers);
        let holder = |(&register, &value): (&Register, &ValueId)| {
            (bits, Holder { name: self.text(register), width: self.graph.value(value).width })
        };
        let holders = registers.iter().zip(values).map(holder).collect();
        let mut lines = Vec::new();
        put_together(&word, holders, &mut || self.name(), &mut lines);
        lines
    }

    /// The statements that move the lanes of a word to its registers, which hold these values: those that are read other
    /// than by way of the word, and of which nothing else matters. What made them may be gone after that.
    fn taken_apart(&mut self, groups: &[Group], registers: &[Register], values: &[ValueId]) -> Vec<String> {
        let is_carried = |(user, slot): (ValueId, Use)| {
            let Use::Phi(edge) = slot else { return false };
            groups.iter().any(|group| {
                group.registers == registers
                    && group.phis.contains(&user)
                    && group.incoming.get(edge as usize).is_some_and(|incoming| incoming == values)
            })
        };
        let word = self.words[registers].clone();
        let bits = WORD / lane_count(registers);
        let mut lines = Vec::new();
        for ((&register, &value), first) in registers.iter().zip(values).zip((0..).step_by(bits as usize)) {
            let place = Place { first, bits, signed: false };
            let (width, name) = (self.graph.value(value).width, self.text(register));
            let is_read = !self.graph.uses(value).all(is_carried);
            if !is_read || !is_lane(self.knowledge, value, width, bits) {
                continue;
            }
            if width == 32 {
                lines.push(place.taken(&name, &word));
            } else {
                let lane = self.name();
                lines.push(place.taken(&lane, &word));
                lines.push(format!("cvt.u16.u32 {name}, {lane};"));
            }
        }
        lines
    }

    /// What a register is called.
    fn text(&self, register: Register) -> String {
        self.graph.register_text(register).expect("a register that is carried is declared")
    }

    fn written(self) -> Carried {
        let Self { graph, fresh, lines, words, moves, count, .. } = self;
        let (mut spliced, mut records) = (Spliced::default(), Vec::new());
        for (place, lines) in lines.into_iter().filter(|(_, lines)| !lines.is_empty()) {
            match place {
                Insertion::Before(stmt) => spliced.before(stmt, lines.iter().cloned()),
                Insertion::After(stmt) => spliced.after(stmt, lines.iter().cloned()),
            }
            records.push(added(graph, place, lines));
        }
        let (mut packed, mut comments) = (Vec::new(), Vec::new());
        for (registers, word) in words {
            let known = "a register that is carried is declared";
            let name = |&register: &Register| Lane::lowest(graph.register_text(register).expect(known));
            let declared = |&register: &Register| Lane::lowest(graph.declared(register).expect(known));
            comments.push(comment(&word, &registers.iter().map(name).collect::<Vec<_>>()));
            packed.push(Packed { word, lanes: registers.iter().map(declared).collect() });
        }
        let declared = (fresh.carriers(), count as usize);
        let mut declarations = Edits::new();
        splice::declare_words(graph.module(), graph.function(), declared, &comments, &mut declarations);
        Carried { spliced, declarations, records, moves, packed }
    }
}

/// How many lanes a word has that is made of these.
fn lane_count(registers: &[Register]) -> u32 {
    u32::try_from(registers.len()).expect("a word has two or four lanes")
}

/// The record of lines that are added before or after a statement. Each is one machine instruction, but for conversions
/// and moves, which are not counted where they go either.
fn added(graph: &Graph<'_, '_>, place: Insertion, lines: Vec<String>) -> Record {
    let kind = Kind::Passed(How::Carried);
    let mut record = Record::about(graph.module(), &graph.function().name, place.stmt(), kind);
    let priced = lines.iter().filter(|line| is_priced(line)).count();
    let count = u32::try_from(priced).expect("there are a few for each word");
    record.pass = Pass::Fuse;
    record.rules = vec![NAME];
    record.cost = Some((Cost::NOTHING, Cost { least: count, most: count }));
    let own = [record.before.clone()];
    record.after = match place {
        Insertion::Before(_) => lines.into_iter().chain(own).collect(),
        Insertion::After(_) => own.into_iter().chain(lines).collect(),
    };
    record
}
