//! Words of bytes that are kept as two words of halves: between the instructions of a chain, and around a loop.
//!
//! GPUs with packed halves compute bytes as halves, two words for each. Between two instructions that means putting a
//! word together and taking it apart again; around a loop it means that in every step. Here a register is given two
//! others, which hold its even and its odd bytes: after every statement that writes the register its bytes are moved
//! there, and before every statement that reads it they are put together again. What then reads and writes halves is
//! for the rules, generators and proofs that follow; where nothing reads the word any more, it is not put together.
//!
//! It is sound because only statements are added that change nothing: wherever the register has been written, the two
//! others hold its bytes, so putting them together gives the register the value that it has. That is proved for each
//! function before anything else is done with the new text (`check`). It fails where what a statement writes is not
//! there for the next one, under the same guard; where what it reads may not be written just before it; where the name
//! of the register means another one; and where it may not have been written yet. Registers of which any of this is
//! so are not chosen, so a proof that fails is a bug. The two registers are new, so nothing else names them, and all
//! their bits are held to be demanded: what is proved may rely on the zeros beside the bytes.
//!
//! Whether it pays is found out: the caller optimises a function with and without.

mod check;

pub(super) use check::checked;

use super::record::{How, Kind, Record};
use super::splice::{self, Fresh};
use super::visible::{Declarations, Scopes, is_integer};
use crate::cost::{Cost, Costs};
use crate::graph::{BlockId, Flow, Graph, Origin, Register, ValueId};
use crate::recipe::{Code, Source, Step};
use crate::rules::{LOWER, Pass};
use hashbrown::{HashMap, HashSet};
use ptxopt_grammar::edit::Edits;
use ptxopt_grammar::function::Function;
use ptxopt_grammar::names::DeclKind;
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::table::{Control, Effects, Row};
use ptxopt_grammar::tree::{Module, StmtId, StmtKind};
use ptxopt_grammar::video::{self, Form, Lanes, Routing, Sign, Simd, SimdArithmetic, SimdOp, SimdThen};
use ptxopt_prover::blocks::packed::{Lane, comment};
use ptxopt_prover::blocks::representation::{Holds, Word};
use std::collections::{BTreeMap, BTreeSet};

/// How often a statement in a loop is executed for each time that one around it is, as a guess.
const STEPS: i64 = 8;

/// Loops in loops are counted up to this depth.
const DEEPEST: u32 = 3;

/// The most a packed instruction of halves may cost.
const MOST_PACKED: u32 = 1;

/// 128 in each byte: added, as `xor` does it.
const BIAS: u32 = 0x8080_8080;

/// How the bytes stand in the halves.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Style {
    /// Unsigned: with zeros above them.
    Zeros,
    /// Signed: with 128 added, and zeros above that.
    Biased,
}

impl Style {
    /// The style of an instruction that has halves as operands and as result; `None` for one that is better, or only,
    /// computed otherwise.
    fn of(form: &Simd) -> Option<Self> {
        let SimdOp::Arithmetic { op, dtype, then } = form.op else { return None };
        let signs = match then {
            SimdThen::Saturate => [form.atype, form.btype, dtype],
            SimdThen::Store | SimdThen::Add => [form.atype, form.btype, form.atype],
        };
        let clamps = match op {
            SimdArithmetic::Add | SimdArithmetic::Sub => then == SimdThen::Saturate,
            SimdArithmetic::Min | SimdArithmetic::Max => then != SimdThen::Add,
            SimdArithmetic::AbsDiff | SimdArithmetic::Average => false,
        };
        if !clamps || form.routing != Routing::plain(Lanes::Four) {
            return None;
        }
        match signs {
            [Sign::Unsigned, Sign::Unsigned, Sign::Unsigned] => Some(Self::Zeros),
            [Sign::Signed, Sign::Signed, Sign::Signed] => Some(Self::Biased),
            _ => None,
        }
    }

    /// The instructions that move the bytes of `word` to the even and the odd halves.
    fn split(self, word: &str, even: &str, odd: &str) -> Vec<String> {
        let bias = format!("xor.b32 {word}, {word}, {BIAS:#x};");
        let moves =
            [format!("prmt.b32 {even}, {word}, 0, 0x4240;"), format!("prmt.b32 {odd}, {word}, 0, 0x4341;")];
        let bias = (self == Self::Biased).then_some(bias);
        bias.into_iter().chain(moves).collect()
    }

    /// What the even and the odd half hold of a word.
    fn halves(self) -> [Holds; 2] {
        match self {
            Self::Zeros => {
                [|terms, word| check::half(terms, word, 0, 0), |terms, word| check::half(terms, word, 0, 8)]
            }
            Self::Biased => [
                |terms, word| check::half(terms, word, BIAS, 0),
                |terms, word| check::half(terms, word, BIAS, 8),
            ],
        }
    }

    /// The same as a comment says it of the bytes from this one on.
    fn lanes(self, word: &str, first: u32) -> [Lane<String>; 2] {
        let inverted = if self == Self::Biased { BIAS & 0xff } else { 0 };
        [first, first + 2].map(|byte| Lane { register: word.to_owned(), byte: Some(byte), inverted })
    }

    /// The instructions that put them together again.
    fn join(self, word: &str, even: &str, odd: &str) -> Vec<String> {
        let bias = format!("xor.b32 {word}, {word}, {BIAS:#x};");
        let bias = (self == Self::Biased).then_some(bias);
        std::iter::once(format!("prmt.b32 {word}, {even}, {odd}, 0x6240;")).chain(bias).collect()
    }
}

/// What a statement does with a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    /// It computes bytes as halves of a style.
    Lanes(Style),
    /// It copies it from another register, or to it.
    Copy(Register),
    /// It writes a number to it.
    Number,
    /// Anything else.
    Other,
}

/// What is written and read of a register, with how often that happens.
#[derive(Default, Debug)]
struct Traffic {
    writes: Vec<(StmtId, Role, i64)>,
    reads: Vec<(StmtId, Role, i64)>,
}

/// Whether a function computes bytes that could be kept as halves.
pub(super) fn keeps(module: &Module<'_>, function: &Function) -> bool {
    let form = |stmt: StmtId| match video::decode(module, stmt)?.ok()?.form {
        Form::Simd(form) => Style::of(&form),
        Form::Scalar(_) | Form::Mad(_) => None,
    };
    let is_video = |stmt: &StmtId| module.row(*stmt).is_some_and(|row| row.video.is_some());
    function.body.clone().filter_map(StmtId::new).filter(is_video).any(|stmt| form(stmt).is_some())
}

/// The registers of a function that may be worth it, and how their bytes stand in the halves.
fn chosen(graph: &Graph<'_, '_>, costs: Costs, declarations: &Declarations) -> BTreeMap<Register, Style> {
    let word = Source::Value(ValueId::of_input(0));
    let least = |instruction| costs.step(&Step::plain(instruction, &[word; 2])).most;
    if [op::ADD_S16X2, op::MIN_U16X2].into_iter().any(|packed| least(packed) > MOST_PACKED) {
        return BTreeMap::new();
    }
    let scopes = Scopes::of(graph.module(), graph.function(), declarations);
    let traffic = traffic(graph, &scopes);
    let mut kept: BTreeMap<Register, Style> =
        traffic.iter().filter_map(|(&register, traffic)| Some((register, traffic.style()?))).collect();
    let mut work: BTreeSet<Register> = kept.keys().copied().collect();
    while let Some(register) = work.pop_first() {
        let Some(&style) = kept.get(&register) else { continue };
        if traffic[&register].gain(graph.flow(), style, &kept) <= 0 {
            kept.remove(&register);
            work.extend(traffic[&register].copies());
        }
    }
    kept
}

/// The registers of a function that are kept as halves: the statements that do it.
pub(super) struct Kept {
    edits: Edits,
    /// One for each statement that writes or reads a register that is kept.
    records: Vec<Record>,
    /// The registers, for the check.
    words: Vec<Word>,
}

impl Kept {
    /// Those that may be worth it; `None` if there are none.
    pub(super) fn of(
        graph: &Graph<'_, '_>,
        costs: Costs,
        declarations: &Declarations,
        fresh: &Fresh,
    ) -> Option<Self> {
        let chosen = chosen(graph, costs, declarations);
        (!chosen.is_empty()).then(|| Moves::of(graph, &chosen, fresh).inserted())
    }

    /// The statements that are inserted, and what is to be said about them.
    pub(super) fn insert(&self, edits: &mut Edits) -> &[Record] {
        edits.extend(self.edits.clone());
        &self.records
    }
}

/// The registers of a function that are to be kept as halves.
struct Moves<'g, 'm, 't> {
    graph: &'g Graph<'m, 't>,
    styles: &'g BTreeMap<Register, Style>,
    fresh: &'g Fresh,
    /// Of each register its name, and those of its even and its odd half.
    names: BTreeMap<Register, [String; 3]>,
}

impl<'g, 'm, 't> Moves<'g, 'm, 't> {
    fn of(graph: &'g Graph<'m, 't>, styles: &'g BTreeMap<Register, Style>, fresh: &'g Fresh) -> Self {
        let numbers = (0_u32..).step_by(2);
        let name = |(&register, number): (&Register, u32)| {
            let word = graph.register_text(register).expect("a register that is kept is declared");
            (register, [word, fresh.half(number), fresh.half(number + 1)])
        };
        Self { graph, styles, fresh, names: styles.keys().zip(numbers).map(name).collect() }
    }

    fn inserted(&self) -> Kept {
        let Self { graph, fresh, names, .. } = self;
        let module = graph.module();
        let (mut edits, mut records) = (Edits::new(), Vec::new());
        for &block in graph.flow().order() {
            // The registers that hold their words, put together in this block.
            let mut whole: HashSet<Register> = HashSet::new();
            for stmt in graph.flow().stmts(block).filter(|&stmt| module.kind(stmt) == StmtKind::Instruction) {
                let reads = self.accessed(stmt, false);
                let before: Vec<String> = reads
                    .into_iter()
                    .filter(|&(register, _)| whole.insert(register))
                    .flat_map(|(register, style)| {
                        let [word, even, odd] = &names[&register];
                        style.join(word, even, odd)
                    })
                    .collect();
                let mut after = Vec::new();
                for (register, style) in self.accessed(stmt, true) {
                    whole.remove(&register);
                    let [word, even, odd] = &names[&register];
                    after.extend(style.split(word, even, odd));
                }
                splice::insert_before(module, stmt, &before, &mut edits);
                splice::insert_after(module, stmt, &after, &mut edits);
                if !(before.is_empty() && after.is_empty()) {
                    records.push(added(graph, stmt, before, after));
                }
            }
        }
        let count = 2 * self.styles.len();
        let joined: HashSet<Register> = self.joined().collect();
        let joined = self.styles.iter().filter(|(register, _)| joined.contains(*register));
        let comments: Vec<String> =
            joined.flat_map(|(&register, &style)| self.told(register, style)).collect();
        let declared = (fresh.halves(), count);
        splice::declare_words(module, graph.function(), declared, &comments, &mut edits);
        Kept { edits, records, words: self.words() }
    }

    /// The registers whose values are joined where paths do.
    fn joined(&self) -> impl Iterator<Item = Register> {
        let values = self.graph.values().map(|value| self.graph.value(value));
        values.filter(|value| matches!(value.origin, Origin::Phi(_))).filter_map(|value| value.register)
    }

    /// What a comment says of the halves of a register.
    fn told(&self, register: Register, style: Style) -> [String; 2] {
        let [word, even, odd] = &self.names[&register];
        [comment(even, &style.lanes(word, 0)), comment(odd, &style.lanes(word, 1))]
    }

    /// What the check must know of the registers.
    fn words(&self) -> Vec<Word> {
        let word = |(register, &style): (&Register, &Style)| {
            let [_, even, odd] = self.names[register].clone();
            let register = self.graph.declared(*register).expect("a register that is kept is declared");
            Word { register, parts: [even, odd].into_iter().zip(style.halves()).collect() }
        };
        self.styles.iter().map(word).collect()
    }

    /// The registers that are kept of those that a statement reads or writes, each once.
    fn accessed(&self, stmt: StmtId, write: bool) -> BTreeMap<Register, Style> {
        let accesses = self.graph.accesses(stmt).filter(|(access, _)| access.write == write);
        let kept = accesses.filter_map(|(access, _)| self.styles.get_key_value(&access.register));
        kept.map(|(&register, &style)| (register, style)).collect()
    }
}

/// The record of lines that are added before and after a statement. Each is one machine instruction.
fn added(graph: &Graph<'_, '_>, stmt: StmtId, before: Vec<String>, after: Vec<String>) -> Record {
    let kind = Kind::Passed(How::Halved);
    let mut record = Record::about(graph.module(), &graph.function().name, stmt, kind);
    let count = u32::try_from(before.len() + after.len()).expect("there are a few for each operand");
    record.pass = Pass::Lower;
    record.rules = vec![LOWER.name];
    record.cost = Some((Cost::NOTHING, Cost { least: count, most: count }));
    record.after = before.into_iter().chain([record.before.clone()]).chain(after).collect();
    record
}

impl Traffic {
    /// The style in which its bytes are computed mostly.
    fn style(&self) -> Option<Style> {
        let count = |style: Style| -> i64 {
            let all = self.writes.iter().chain(&self.reads);
            all.filter(|(_, role, _)| *role == Role::Lanes(style)).map(|&(.., often)| often).sum()
        };
        let (zeros, biased) = (count(Style::Zeros), count(Style::Biased));
        match zeros.cmp(&biased) {
            std::cmp::Ordering::Greater => Some(Style::Zeros),
            std::cmp::Ordering::Less => Some(Style::Biased),
            std::cmp::Ordering::Equal => (zeros > 0).then_some(Style::Zeros),
        }
    }

    /// The registers that it is copied from or to.
    fn copies(&self) -> impl Iterator<Item = Register> + '_ {
        self.writes.iter().chain(&self.reads).filter_map(|(_, role, _)| match role {
            Role::Copy(other) => Some(*other),
            Role::Lanes(_) | Role::Number | Role::Other => None,
        })
    }

    /// How many moves of bytes there are fewer if it is kept.
    fn gain(&self, flow: &Flow, style: Style, kept: &BTreeMap<Register, Style>) -> i64 {
        let is_kept = |register: &Register| kept.get(register) == Some(&style);
        let writes = self.writes.iter().map(|(_, role, often)| match role {
            Role::Lanes(own) if *own == style => *often,
            Role::Copy(from) if is_kept(from) => 0,
            Role::Number => -often,
            Role::Lanes(_) | Role::Copy(_) | Role::Other => -2 * often,
        });
        // What is taken apart once in a block serves all that read it there.
        let mut apart: HashSet<BlockId> = HashSet::new();
        let reads = self.reads.iter().map(|(stmt, role, often)| match role {
            Role::Lanes(own) if *own == style && apart.insert(flow.block(*stmt)) => 2 * often,
            Role::Lanes(own) if *own == style => 0,
            Role::Copy(to) if is_kept(to) => 0,
            Role::Lanes(_) | Role::Copy(_) | Role::Number | Role::Other => -often,
        });
        writes.sum::<i64>() + reads.sum::<i64>()
    }
}

/// What is written and read of the registers that hold words.
fn traffic(graph: &Graph<'_, '_>, scopes: &Scopes<'_>) -> BTreeMap<Register, Traffic> {
    let module = graph.module();
    let flow = graph.flow();
    let often = frequencies(flow);
    let body = graph.function().body.clone();
    let is_word = |register: Register| {
        let inside = graph.declaration(register).is_some_and(|decl| {
            let declared = module.decl(decl);
            declared.kind == DeclKind::Register
                && declared.ty.bits() == Some(32)
                && body.contains(&declared.stmt.index())
        });
        inside && is_integer(graph, register) && !graph.is_component(register)
    };
    let mut all: BTreeMap<Register, Traffic> = BTreeMap::new();
    let mut left: HashSet<Register> = HashSet::new();
    for &block in flow.order() {
        for stmt in flow.stmts(block).filter(|&stmt| module.kind(stmt) == StmtKind::Instruction) {
            let step = graph.step(stmt).filter(|_| module.guard(stmt).is_none());
            let (read, written) = (may_be_written_before(module, stmt), is_there_after(graph, stmt));
            for (access, value) in graph.accesses(stmt).filter(|(access, _)| is_word(access.register)) {
                // Of what may be undefined, nothing is known of the halves either.
                let fits = if access.write { written } else { read };
                let named = scopes.means(graph, access.register, stmt);
                if matches!(graph.value(value).origin, Origin::Read(_)) || !(fits && named) {
                    left.insert(access.register);
                }
                let role = role(graph, stmt, step.as_ref(), access.write);
                let traffic = all.entry(access.register).or_default();
                let list = if access.write { &mut traffic.writes } else { &mut traffic.reads };
                if list.last().is_none_or(|&(last, ..)| last != stmt) {
                    list.push((stmt, role, often[&block]));
                }
            }
        }
    }
    all.retain(|register, _| !left.contains(register));
    all
}

/// Whether what a statement writes is there for the next one, under the same guard: not if threads exchange it, which
/// may take until a later statement, or if the statement writes its guard too.
fn is_there_after(graph: &Graph<'_, '_>, stmt: StmtId) -> bool {
    let module = graph.module();
    let at_once = |row: &Row| !row.effects.has(Effects::CONVERGENT) && row.control == Control::Next;
    let guard = module.guard(stmt).map(|(node, _)| node);
    let by = graph.accesses(stmt).find(|(access, _)| guard.is_some() && access.node == guard);
    let writes = |by: Register| graph.accesses(stmt).any(|(access, _)| access.write && access.register == by);
    module.row(stmt).is_some_and(at_once) && !by.is_some_and(|(by, _)| writes(by.register))
}

/// Whether what a statement reads may be written just before it: not if it reads it until a later statement, as what
/// multiplies matrices does, nor if a pragma stands before it and is about it.
fn may_be_written_before(module: &Module<'_>, stmt: StmtId) -> bool {
    let lasts = |row: &Row| {
        row.effects.has(Effects::CONVERGENT)
            && (row.effects.has(Effects::ACTS) || row.effects.has(Effects::READS_MEMORY))
    };
    let before = stmt.index().checked_sub(1).and_then(StmtId::new);
    module.row(stmt).is_some_and(|row| !lasts(row))
        && before.is_none_or(|before| module.kind(before) != StmtKind::Pragma)
        && !module.has_own_pragma(stmt)
}

fn role(graph: &Graph<'_, '_>, stmt: StmtId, step: Option<&Step>, write: bool) -> Role {
    let Some(step) = step else { return Role::Other };
    match (&step.code, step.copied()) {
        (Code::Video(Form::Simd(form)), _) => Style::of(form).map_or(Role::Other, Role::Lanes),
        (_, Some(Source::Constant(_))) => Role::Number,
        (_, Some(Source::Value(from))) => {
            let other = if write {
                graph.register_of(from)
            } else {
                graph.results(stmt).next().and_then(|to| graph.register_of(to))
            };
            other.map_or(Role::Other, Role::Copy)
        }
        _ => Role::Other,
    }
}

/// By block: how often it is executed, as a guess from the loops around it. An outer loop comes before those in it, so
/// no block is looked at for more loops than are counted.
pub(super) fn frequencies(flow: &Flow) -> HashMap<BlockId, i64> {
    let mut depths: HashMap<BlockId, u32> = flow.order().iter().map(|&block| (block, 0)).collect();
    for &head in flow.order().iter().filter(|&&block| flow.is_loop_head(block)) {
        if depths[&head] >= DEEPEST {
            continue;
        }
        let back = flow.predecessors(head).iter().copied().filter(|&from| flow.dominates(head, from));
        let mut inside: HashSet<BlockId> = HashSet::from([head]);
        let mut work: Vec<BlockId> = back.collect();
        while let Some(block) = work.pop() {
            if inside.insert(block) {
                work.extend(flow.predecessors(block));
            }
        }
        for block in inside {
            *depths.entry(block).or_default() += 1;
        }
    }
    depths.into_iter().map(|(block, depth)| (block, STEPS.pow(depth.min(DEEPEST)))).collect()
}

#[cfg(test)]
mod tests;
