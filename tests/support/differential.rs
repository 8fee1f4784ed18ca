//! Before and after: runs kernels with the evaluator, and compares what they leave in memory.
//!
//! A register that was never written may hold anything. So a watcher fills such registers: by their names, so that both
//! sides see the same value and must agree on every byte; and with a new value at each read, where they must agree on
//! every byte that does not depend on it.

use ptxopt_grammar::function::functions;
use ptxopt_grammar::meaning::disputed::Semantics;
use ptxopt_grammar::meaning::term::ones;
use ptxopt_grammar::tree::{Module, NodeId, StmtId};
use ptxopt_machine::{Argument, Buffer, End, Entry, Launch, Machine, RaceCheck, Sight, Watcher};
use ptxopt_passes::facts::Fact;
use ptxopt_passes::graph::{Graph, Origin};
use ptxopt_passes::site::Knowledge;
use std::collections::HashMap;

/// Words that look random, by their seed.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491_4f6c_dd1d)
    }

    pub(crate) fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    }

    /// Bytes, many of them at the ends of their range.
    pub(crate) fn bytes(&mut self, count: usize) -> Vec<u8> {
        const EDGES: [u8; 8] = [0x00, 0x7f, 0x80, 0xff, 0x01, 0xfe, 0x81, 0x40];
        (0..count)
            .map(|_| {
                let [choice, edge, byte, ..] = self.word().to_le_bytes();
                if choice & 3 == 0 { EDGES[usize::from(edge & 7)] } else { byte }
            })
            .collect()
    }
}

/// What the analysis says of a register at a name.
#[derive(Debug)]
struct Claim {
    fact: Fact,
    demanded: u128,
    /// Whether it was not written on any path, so that each read may see another value.
    unwritten: bool,
}

/// What the analysis claims of a module's registers, by statement, name and whether it is written.
#[derive(Debug, Default)]
pub(crate) struct Claims {
    list: HashMap<(StmtId, NodeId, bool), Claim>,
}

impl Claims {
    pub(crate) fn of(module: &Module<'_>) -> Self {
        let mut claims = Self::default();
        for function in functions(module) {
            let body = function.body.clone();
            let Ok(graph) = Graph::new(module, function, Semantics::Undisputed) else { continue };
            let knowledge = Knowledge::of(&graph);
            for stmt in body.filter_map(StmtId::new) {
                claims.of_stmt(&graph, &knowledge, stmt);
            }
        }
        claims
    }

    fn shown(&self, module: &Module<'_>, stmt: StmtId, node: NodeId, written: bool) -> String {
        let text = String::from_utf8_lossy(module.stmt_text(stmt)).into_owned();
        let name = String::from_utf8_lossy(module.node_text(node)).into_owned();
        let when = if written { "written by" } else { "read by" };
        format!("`{name}` {when} `{text}`: {:?}", self.list.get(&(stmt, node, written)))
    }

    fn of_stmt(&mut self, graph: &Graph<'_, '_>, knowledge: &Knowledge, stmt: StmtId) {
        if !graph.flow().reachable(graph.flow().block(stmt)) {
            return;
        }
        let named: Vec<_> = graph
            .accesses(stmt)
            .filter_map(|(access, value)| Some((access.node?, access.write, value)))
            .collect();
        for &(node, written, value) in &named {
            let same = named.iter().filter(|(other, write, _)| (*other, *write) == (node, written)).count();
            if same > 1 {
                continue; // all components of a vector by one name
            }
            let (own, unwritten) = match graph.value(value).origin {
                Origin::Read(of) => (true, graph.value(of).origin == Origin::Undefined),
                Origin::Undefined | Origin::Opaque | Origin::Result(_) | Origin::Phi(_) | Origin::Sink(_) => {
                    (false, false)
                }
            };
            let fact = knowledge.facts.get(value.index());
            // What one read of a register ignores, the next one may need.
            let demanded = if own { u128::MAX } else { knowledge.demanded[value.index()] };
            self.list.insert((stmt, node, written), Claim { fact, demanded, unwritten });
        }
    }
}

/// What a watcher does besides giving undefined registers a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Watch {
    /// Nothing.
    Nothing,
    /// It checks every claimed bit and range against the value of the register.
    Facts,
    /// It changes the bits that are claimed to be unused: everywhere, or at one name.
    Flips(Option<(StmtId, NodeId, bool)>),
}

/// The values of registers that were never written.
#[derive(Clone, Debug)]
pub(crate) enum Fill {
    /// A word that depends on the name.
    ByName,
    /// Something else at each read.
    Anew(Random),
}

impl Fill {
    fn word(&mut self, name: &[u8]) -> u128 {
        match self {
            Self::ByName => {
                let seed = name.iter().fold(5, |seed: u64, &byte| seed.wrapping_mul(257) + u64::from(byte));
                let mut random = Random::new(seed);
                u128::from(random.word()) << 64 | u128::from(random.word())
            }
            Self::Anew(random) => u128::from(random.word()) << 64 | u128::from(random.word()),
        }
    }
}

struct Looker<'c, 'm, 't> {
    module: &'m Module<'t>,
    claims: &'c Claims,
    watch: Watch,
    fill: Fill,
    /// What bits change to.
    random: Random,
    /// How often something undefined was read.
    filled: u64,
    /// How often a claim was checked, or a value changed.
    checks: u64,
    wrong: Option<String>,
}

impl Watcher for Looker<'_, '_, '_> {
    fn see(&mut self, sight: Sight, value: u128, defined: bool) -> Option<u128> {
        let Sight { stmt, node, part, written } = sight;
        let claim = self.claims.list.get(&(stmt, node, written));
        if !written && (!defined || claim.is_some_and(|claim| claim.unwritten)) {
            self.filled += 1;
            let decl = self.module.decl_of(node).expect("what is read undefined is a register");
            let word = self.fill.word(self.module.register_name(decl, part).as_bytes());
            // A load of memory that was never written is undefined, but its value is no wider than the load.
            let (zero, one) = claim.map_or((0, 0), |claim| (claim.fact.zeros(), claim.fact.ones()));
            return Some(word & !zero | one);
        }
        let claim = claim.filter(|_| defined)?;
        match self.watch {
            Watch::Nothing => None,
            Watch::Facts => {
                self.checks += u64::from(!claim.fact.is_top());
                if !claim.fact.contains(value) && self.wrong.is_none() {
                    let shown = self.claims.shown(self.module, stmt, node, written);
                    self.wrong = Some(format!("{value:#x} is in {shown}"));
                }
                None
            }
            Watch::Flips(Some(only)) if only != (stmt, node, written) => None,
            Watch::Flips(_everywhere_or_here) => {
                let free = !claim.demanded & ones(claim.fact.width());
                self.checks += u64::from(free != 0);
                (free != 0).then(|| value ^ u128::from(self.random.word()) & free)
            }
        }
    }
}

/// What a launch left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Left {
    /// How it ended, without lines, which rewriting moves; `None` if it was not to end for a long time.
    pub(crate) end: Option<String>,
    pub(crate) memory: Vec<Vec<u8>>,
    /// How often a claim was checked.
    pub(crate) checks: u64,
    /// How often something undefined was read.
    pub(crate) filled: u64,
}

impl Left {
    fn finished(&self) -> bool {
        self.end.as_deref() == Some("finished")
    }
}

/// A launch of an entry: its shape, its buffers and what is in them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) threads: u32,
    pub(crate) buffer: usize,
    pub(crate) seed: u64,
    pub(crate) budget: u64,
}

/// Runs an entry with a buffer for every parameter that can hold an address, and small numbers for the others.
///
/// # Errors
///
/// What the watcher found wrong.
pub(crate) fn run(
    (module, claims): (&Module<'_>, &Claims),
    (machine, entry): (&Machine<'_, '_>, &Entry),
    case: Case,
    (watch, fill): (Watch, Fill),
) -> Result<Left, String> {
    let mut memory = machine.memory();
    let mut random = Random::new(case.seed);
    let mut buffers: Vec<Buffer> = Vec::new();
    let mut arguments = Vec::new();
    for (_, size) in &entry.parameters {
        arguments.push(match size {
            8 => {
                let buffer = memory.allocate(random.bytes(case.buffer));
                buffers.push(buffer);
                Argument::Buffer(buffer)
            }
            1 | 2 | 4 => Argument::Number(1 << (random.word() & 7)),
            size => Argument::Bytes(vec![0; *size as usize]),
        });
    }
    let launch = Launch {
        block: entry.block_of(case.threads),
        budget: case.budget,
        race_check: RaceCheck::Shared,
        ..Launch::of(&entry.name)
    };
    let mut looker =
        Looker { module, claims, watch, fill, random: Random::new(7), filled: 0, checks: 0, wrong: None };
    let outcome = machine.launch_watched(&launch, &arguments, &mut memory, &mut looker);
    if let Some(wrong) = looker.wrong {
        return Err(wrong);
    }
    let end = match outcome.end {
        End::Finished => Some("finished".to_owned()),
        End::BudgetSpent(_) => None,
        End::CannotEvaluate { opcode, .. } => Some(format!("cannot evaluate `{opcode}`")),
        End::Fault(fault) => Some(format!("{:?} {:?}", fault.kind, fault.thread)),
        End::BadLaunch(why) => Some(why),
    };
    let memory = buffers.iter().map(|&buffer| memory.bytes(buffer).to_vec()).collect();
    Ok(Left { end, memory, checks: looker.checks, filled: looker.filled })
}

/// How much was compared.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Compared {
    pub(crate) launches: u64,
    pub(crate) finished: u64,
    pub(crate) bytes: u64,
    pub(crate) checks: u64,
}

impl std::ops::AddAssign for Compared {
    fn add_assign(&mut self, other: Self) {
        self.launches += other.launches;
        self.finished += other.finished;
        self.bytes += other.bytes;
        self.checks += other.checks;
    }
}

/// Checks the claims about `module` in its launches, by comparing values and by changing bits that are claimed unused.
pub(crate) fn claims_hold(module: &Module<'_>, cases: &[Case]) -> Result<Compared, String> {
    let claims = Claims::of(module);
    let machine = Machine::watched(module);
    let mut compared = Compared::default();
    for entry in machine.entries() {
        for &case in cases {
            let run = |watch| run((module, &claims), (&machine, &entry), case, (watch, Fill::ByName));
            let looked = run(Watch::Facts).map_err(|wrong| format!("{}: {wrong}", entry.name))?;
            let flipped = run(Watch::Flips(None))?;
            compared.checks += looked.checks + flipped.checks;
            compared += same(&looked, &flipped).map_err(|wrong| {
                let alone = |&(stmt, node, written): &(StmtId, NodeId, bool)| {
                    let flipped = run(Watch::Flips(Some((stmt, node, written))));
                    flipped.is_ok_and(|flipped| same(&looked, &flipped).is_err())
                };
                let guilty = claims.list.keys().copied().filter(alone).min();
                let guilty = guilty.map(|(stmt, node, written)| claims.shown(module, stmt, node, written));
                format!("{}: an undemanded bit matters: {wrong}; {guilty:?}", entry.name)
            })?;
        }
    }
    Ok(compared)
}

/// How often a byte that differs is looked at again before it is taken for one that undefined registers do not reach.
const MOST_RUNS: u64 = 4000;

/// Compares the launches of all entries before and after.
pub(crate) fn same_memory(
    before: &Module<'_>,
    after: &Module<'_>,
    cases: &[Case],
) -> Result<Compared, String> {
    let (claims, claims_after) = (Claims::of(before), Claims::of(after));
    let (machine, machine_after) = (Machine::watched(before), Machine::watched(after));
    let mut compared = Compared::default();
    for entry in machine.entries() {
        for &case in cases {
            let old = |fill| run((before, &claims), (&machine, &entry), case, (Watch::Nothing, fill));
            let new =
                |fill| run((after, &claims_after), (&machine_after, &entry), case, (Watch::Nothing, fill));
            let was = old(Fill::ByName)?;
            compared +=
                same(&was, &new(Fill::ByName)?).map_err(|wrong| format!("{}: {wrong}", entry.name))?;
            if was.filled > 0 {
                let is = new(Fill::Anew(Random::new(0)))?;
                compared += same_whatever_is_undefined(&old, &is)
                    .map_err(|wrong| format!("{}: reading undefined registers: {wrong}", entry.name))?;
            }
        }
    }
    Ok(compared)
}

/// The same for a program that reads undefined registers: a byte may differ only if what they hold can change it.
fn same_whatever_is_undefined(
    old: &dyn Fn(Fill) -> Result<Left, String>,
    is: &Left,
) -> Result<Compared, String> {
    let first = old(Fill::Anew(Random::new(1)))?;
    let Err(wrong) = same(&first, is) else { return same(&first, is) };
    let differs =
        |a: &Left, b: &Left, (buffer, at): (usize, usize)| a.memory[buffer][at] != b.memory[buffer][at];
    let sizes = is.memory.iter().enumerate();
    let mut open: Vec<(usize, usize)> =
        sizes.flat_map(|(buffer, bytes)| (0..bytes.len()).map(move |at| (buffer, at))).collect();
    open.retain(|&place| differs(&first, is, place));
    for seed in 2..MOST_RUNS {
        let other = old(Fill::Anew(Random::new(seed)))?;
        open.retain(|&place| !differs(&first, &other, place));
        if other.end != first.end || open.is_empty() && first.end == is.end {
            let finished = u64::from(first.finished() && other.finished());
            return Ok(Compared { launches: 1, finished, ..Compared::default() });
        }
    }
    Err(wrong)
}

/// Whether two launches ended in the same way with the same memory.
fn same(old: &Left, new: &Left) -> Result<Compared, String> {
    let mut compared = Compared { launches: 1, ..Compared::default() };
    if old.end.is_none() || new.end.is_none() {
        return Ok(compared);
    }
    if old.end != new.end {
        return Err(format!("it ended with {:?}, and ends with {:?}", old.end, new.end));
    }
    compared.finished += u64::from(old.finished());
    for (number, (was, is)) in old.memory.iter().zip(&new.memory).enumerate() {
        compared.bytes += was.len() as u64;
        if let Some(at) = (0..was.len()).find(|&at| was[at] != is[at]) {
            return Err(format!("buffer {number}, byte {at}: was {:#04x}, is {:#04x}", was[at], is[at]));
        }
    }
    Ok(compared)
}
