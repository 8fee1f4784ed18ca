//! Whole kernels, evaluated: an entry is run over a grid with real memory, as a GPU would.
//!
//! A module is decoded once to compact code; a launch runs it block after block. Threads run in warps whose registers
//! are arrays over the lanes, the lanes that lag behind first. Integer instructions compute what the instruction
//! table means by them, floating-point ones what the manual fixes to the last bit; anything else is refused when
//! control flow gets there, so a result that is called exact is.
//!
//! ```
//! use ptxopt_machine::{Argument, End, Launch, Machine};
//!
//! let text = b".version 8.0\n.target sm_90\n.address_size 64\n
//!     .entry twice(.param .u64 out) {
//!         .reg .u64 %a; .reg .u32 %t;
//!         ld.param.u64 %a, [out]; mov.u32 %t, %tid.x; mad.wide.u32 %a, %t, 4, %a;
//!         add.u32 %t, %t, %t; st.global.u32 [%a], %t; ret;
//!     }";
//! let module = ptxopt_grammar::parse(text).expect("it is legal");
//! let machine = Machine::new(&module);
//! let mut memory = machine.memory();
//! let out = memory.allocate(vec![0; 16]);
//! let launch = Launch { block: [4, 1, 1], ..Launch::of("twice") };
//! let outcome = machine.launch(&launch, &[Argument::Buffer(out)], &mut memory);
//! assert_eq!(outcome.end, End::Finished);
//! assert_eq!(memory.bytes(out), [0, 0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0, 6, 0, 0, 0]);
//! ```
//!
//! # What is taken for granted
//!
//! Memory is sequentially consistent, blocks run one after the other, and the reconvergence of lanes is as early as
//! it can be. Where another order could give another result, the launch has a race, which is a fault, or it is not
//! called exact. Races are looked for in shared and in global memory, between the threads of a block and between
//! blocks. Two threads that store the same value in the same byte do not race, and nor do a load and a store of what
//! was there already. Fences, accesses with acquire or release semantics, and barriers for some of the threads may
//! order other accesses, which is not traced: where one of these may have ordered two accesses, there is no fault,
//! and the result is not called exact. Neither is it where the order of volatile or relaxed accesses is open, that of
//! atomic operations that do not commute, or that of a load and an atomic operation. Whether a register is defined is
//! known for the register as a whole.
//!
//! # After a fault
//!
//! A launch ends with its first fault unless it may have more (`Launch::faults`). Then a load that may not be gives
//! 0, a store or an atomic operation that may not be is dropped (that of an undefined value, too), a race is run in
//! the order in which the threads come, and a thread whose guard or branch is undefined ends. A trap, a deadlock, and
//! a fault in a barrier, a call or an exchange between lanes ends the launch.

#![expect(
    clippy::cast_possible_truncation,
    reason = "lanes hold the bits of registers; a cast cuts them to a width"
)]
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "what has no arm of its own cannot be evaluated, and that is the answer"
)]
#![expect(
    clippy::neg_cmp_op_on_partial_ord,
    reason = "unordered comparisons are the negations of ordered ones"
)]

mod arguments;
mod arithmetic;
mod code;
mod controlled;
mod decode;
mod execute;
mod faults;
mod lanes;
mod meant;
mod memory;
mod outcome;
mod races;
pub mod replay;
mod shadow;
mod shapes;
mod special;
mod video;
mod warp;
mod watch;

#[cfg(test)]
mod tests;

pub use memory::{Buffer, Memory};
pub use outcome::{End, Fault, FaultKind, Other, Outcome, Owner, Place, Spot};
pub use watch::{Sight, Watcher};

use code::{Code, Op};
use decode::{Initial, Prefer, SharedVariable, Watch};
use execute::{Block, Context, Stop};
use faults::{Faults, Noted, Owners};
use memory::Shared;
use ptxopt_grammar::constant;
use ptxopt_grammar::diagnostic::position;
use ptxopt_grammar::names::Type;
use ptxopt_grammar::tree::{Module, NodeKind, StmtId, StmtKind};
use races::Races;
use shadow::Shadow;
use std::collections::BTreeSet;

/// A module that can be run.
pub struct Machine<'m, 't> {
    module: &'m Module<'t>,
    code: Code,
    initial: Vec<Initial>,
    too_large: Option<String>,
    static_shared: u32,
    shared_variables: Vec<SharedVariable>,
    address_bits: u32,
}

impl std::fmt::Debug for Machine<'_, '_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Machine").field("instructions", &self.code.insts.len()).finish_non_exhaustive()
    }
}

/// What to launch, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The name of the entry.
    pub entry: String,
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
    /// How many instructions may be executed, those of the lanes of a warp at once counted once.
    pub budget: u64,
    /// After how many different faults it ends; 1 for the first, and so is 0.
    pub faults: usize,
    /// Where races are looked for.
    pub race_check: RaceCheck,
}

/// Where races between threads are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RaceCheck {
    /// In shared memory. What several threads do to global memory then keeps a result from being called exact.
    Shared,
    /// In shared and in global memory.
    All,
}

impl Launch {
    /// One thread of `entry`, with a budget of a billion instructions, to the first fault.
    #[must_use]
    pub fn of(entry: &str) -> Self {
        Self {
            entry: entry.to_owned(),
            grid: [1; 3],
            block: [1; 3],
            dynamic_shared: 0,
            budget: 1_000_000_000,
            faults: 1,
            race_check: RaceCheck::All,
        }
    }
}

/// An argument of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// A number, which must fit the parameter, as a signed or as an unsigned one; what is not an integer, as its
    /// bits.
    Number(u64),
    /// The bits of a number of a type. The type of the parameter must have the same size, and both must be integers
    /// or floating-point numbers unless one of them is of untyped bits.
    Typed(Type, u64),
    /// The address of a buffer, for a parameter of that size.
    Buffer(Buffer),
    /// Exactly these bytes.
    Bytes(Vec<u8>),
}

/// An entry of a module, as a launch needs to know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// The names of its parameters and their sizes in bytes.
    pub parameters: Vec<(String, u32)>,
    /// The shape that its blocks must have (`.reqntid`).
    pub block: Option<[u32; 3]>,
    /// How many threads its blocks may have (`.maxntid`).
    pub most_threads: u64,
}

impl Entry {
    /// A shape of blocks that it takes: as it demands it, else a row of so many threads, or of as many as it takes.
    #[must_use]
    pub fn block_of(&self, threads: u32) -> [u32; 3] {
        let most = u32::try_from(self.most_threads).unwrap_or(u32::MAX);
        self.block.unwrap_or([threads.min(most).max(1), 1, 1])
    }
}

impl<'m, 't> Machine<'m, 't> {
    /// Decodes `module`.
    #[must_use]
    pub fn new(module: &'m Module<'t>) -> Self {
        Self::decoded(module, Prefer::Lanes)
    }

    /// Decodes `module` so that its launches can be watched; it runs more slowly.
    #[must_use]
    pub fn watched(module: &'m Module<'t>) -> Self {
        Self::of(module, Prefer::Lanes, Watch::Registers)
    }

    fn decoded(module: &'m Module<'t>, prefer: Prefer) -> Self {
        Self::of(module, prefer, Watch::No)
    }

    fn of(module: &'m Module<'t>, prefer: Prefer, watch: Watch) -> Self {
        let decoded = decode::decode(module, prefer, watch);
        let decode::Decoded { code, initial, too_large, static_shared, shared_variables, address_bits } =
            decoded;
        Self { module, code, initial, too_large, static_shared, shared_variables, address_bits }
    }

    /// The entries that have a body, in the order of the text.
    pub fn entries(&self) -> impl Iterator<Item = Entry> {
        self.code.functions.iter().filter(|function| function.is_entry).map(|function| Entry {
            name: function.name.clone(),
            parameters: function.parameters.iter().map(|p| (p.name.clone(), p.size)).collect(),
            block: function.demands.block,
            most_threads: function.demands.most.map_or(1024, arguments::product),
        })
    }

    /// Memory that holds the module's own variables, with their initial values, and nothing else yet. Where they have
    /// more than 1 GiB, or one has 16 MiB or more and addresses have 32 bits, every launch is refused.
    #[must_use]
    pub fn memory(&self) -> Memory {
        let mut memory = Memory::new(if self.address_bits == 64 { 32 } else { 24 });
        let buffers: Vec<_> =
            self.initial.iter().map(|initial| memory.allocate(initial.bytes.clone())).collect();
        for (initial, &buffer) in self.initial.iter().zip(&buffers) {
            for &(at, size, target, plus) in &initial.addresses {
                let address = memory.address(buffers[target]).wrapping_add(plus).to_le_bytes();
                if let Some(bytes) = memory.bytes_mut(buffer).get_mut(at..at + size) {
                    bytes.copy_from_slice(&address[..size]);
                }
            }
        }
        memory
    }

    /// Runs an entry over a grid. What it wrote to `memory` before it ended is there, however it ended.
    pub fn launch(&self, launch: &Launch, arguments: &[Argument], memory: &mut Memory) -> Outcome {
        self.start(launch, arguments, memory, None)
    }

    /// The same, and shows the registers of a machine that was decoded to be watched.
    pub fn launch_watched(
        &self,
        launch: &Launch,
        arguments: &[Argument],
        memory: &mut Memory,
        watcher: &mut dyn Watcher,
    ) -> Outcome {
        self.start(launch, arguments, memory, Some(watcher))
    }

    fn start(
        &self,
        launch: &Launch,
        arguments: &[Argument],
        memory: &mut Memory,
        watcher: Option<&mut dyn Watcher>,
    ) -> Outcome {
        let prepared = self.prepare(launch, arguments, memory);
        let (entry, parameters) = match prepared {
            Ok(prepared) => prepared,
            Err(why) => return bad(why),
        };
        if launch.block == [1; 3] {
            self.run::<1>(launch, (entry, &parameters, arguments), memory, watcher)
        } else {
            self.run::<32>(launch, (entry, &parameters, arguments), memory, watcher)
        }
    }

    fn prepare(
        &self,
        launch: &Launch,
        arguments: &[Argument],
        memory: &Memory,
    ) -> Result<(usize, Vec<u8>), String> {
        if let Some(why) = &self.too_large {
            return Err(why.clone());
        }
        let of_name = |function: &code::Function| function.is_entry && function.name == launch.entry;
        let entry = self.code.functions.iter().position(of_name);
        let entry = entry.ok_or_else(|| format!("there is no entry `{}` with a body", launch.entry))?;
        let function = &self.code.functions[entry];
        arguments::shapes(function, self.static_shared, launch)?;
        let bytes = arguments::parameters(function, arguments, memory)?;
        Ok((entry, bytes))
    }

    fn run<const W: usize>(
        &self,
        launch: &Launch,
        (entry, parameters, arguments): (usize, &[u8], &[Argument]),
        memory: &mut Memory,
        mut watcher: Option<&mut dyn Watcher>,
    ) -> Outcome {
        let mut inexact = BTreeSet::new();
        let mut faults = Faults::new(launch.faults);
        let mut races = Races::new();
        let several = launch.grid != [1; 3] || launch.block != [1; 3];
        let looked_for = several && launch.race_check == RaceCheck::All;
        let mut global: Vec<_> =
            if looked_for { memory.sizes().map(Shadow::new).collect() } else { Vec::new() };
        if several && !looked_for {
            inexact.insert("accesses of several threads to global memory, whose order was not looked at");
        }
        let (mut instructions, mut lane_instructions) = (0, 0);
        let mut stopped = None;
        let [x, y, z] = launch.grid;
        let blocks = (0..z).flat_map(|z| (0..y).flat_map(move |y| (0..x).map(move |x| [x, y, z])));
        for (number, at) in (0..).zip(blocks) {
            faults.block = at;
            let mut cx = Context {
                code: &self.code,
                memory,
                shared: Shared::new((self.static_shared + launch.dynamic_shared) as usize),
                parameters,
                grid: launch.grid,
                block: launch.block,
                at,
                number,
                steps: instructions,
                budget: launch.budget,
                lane_steps: lane_instructions,
                counted: instructions,
                inexact: &mut inexact,
                faults: &mut faults,
                races: &mut races,
                global: looked_for.then_some(&mut global),
                arrivals: [0; 16],
                dynamic_shared: launch.dynamic_shared,
                watcher: match &mut watcher {
                    Some(watcher) => Some(&mut **watcher),
                    None => None,
                },
            };
            let result = Block::<W>::new(&cx, entry).run(&mut cx);
            (instructions, lane_instructions) = (cx.steps, cx.lane_steps);
            if let Err(stop) = result {
                stopped = Some(stop);
                break;
            }
        }
        if races.full {
            inexact.insert("the order of accesses to memory, which was not looked at to the end");
        }
        let end = stopped.and_then(|stop| self.end(stop, &mut faults));
        let faults = self.faults(faults, launch, (entry, arguments), memory);
        let end = end.unwrap_or_else(|| faults.first().cloned().map_or(End::Finished, End::Fault));
        let inexact = inexact.into_iter().map(str::to_owned).collect();
        Outcome { end, faults, inexact, unknown: self.unknown(entry), instructions, lane_instructions }
    }

    /// How a launch ended that was stopped, unless it was by a fault, which is noted.
    fn end(&self, stop: Stop, faults: &mut Faults) -> Option<End> {
        match stop {
            Stop::BudgetSpent { stmt } => Some(End::BudgetSpent(self.place(stmt))),
            Stop::Unknown { stmt, reason } => Some(End::CannotEvaluate {
                opcode: self.opcode(stmt),
                reason: self.code.unknown[reason as usize].clone(),
                place: self.place(stmt),
            }),
            Stop::Fault { wrong, stmt, thread } => {
                // Whether there are enough faults now makes no difference: the launch has ended.
                let _enough = faults.add(wrong, stmt, thread, 1);
                None
            }
            Stop::EnoughFaults => None,
        }
    }

    /// The faults as a person needs to know them.
    fn faults(
        &self,
        faults: Faults,
        launch: &Launch,
        (entry, arguments): (usize, &[Argument]),
        memory: &Memory,
    ) -> Vec<Fault> {
        let owners = Owners {
            memory,
            arguments: faults::owned(&self.code.functions[entry], arguments),
            variables: &self.initial,
            shared: &self.shared_variables,
            static_shared: self.static_shared,
            dynamic_shared: launch.dynamic_shared,
        };
        let fault = |noted: Noted| {
            let (kind, spot) = owners.named(noted.wrong, launch);
            let thread = (noted.block, special::thread(launch.block, noted.thread));
            Fault { kind, place: self.place(noted.stmt), thread, spot, count: noted.count }
        };
        faults.list.into_iter().map(fault).collect()
    }

    fn opcode(&self, stmt: StmtId) -> String {
        let spelling = self.module.opcode(stmt).map(|(spelling, _)| spelling);
        let words = spelling.map_or(self.module.stmt_text(stmt), |spelling| {
            self.module.spellings().words(spelling, self.module.text())
        });
        String::from_utf8_lossy(words).into_owned()
    }

    /// What cannot be evaluated in the entry and in what it calls.
    fn unknown(&self, entry: usize) -> Vec<(String, usize)> {
        let mut seen = vec![false; self.code.functions.len()];
        let mut unseen = vec![entry];
        let mut found = BTreeSet::new();
        while let Some(function) = unseen.pop() {
            if std::mem::replace(&mut seen[function], true) {
                continue;
            }
            let code::Function { start, end, .. } = self.code.functions[function];
            for inst in &self.code.insts[start as usize..end as usize] {
                match inst.op {
                    Op::Unknown => drop(found.insert((self.line(inst.stmt), self.opcode(inst.stmt)))),
                    Op::Call => unseen.push(self.code.calls[inst.x as usize].callee),
                    _ => {}
                }
            }
        }
        found.into_iter().map(|(line, opcode)| (opcode, line)).collect()
    }

    fn line(&self, stmt: StmtId) -> usize {
        position(self.module.text(), self.module.stmt_span(stmt).start).line
    }

    /// Where a statement stands, with the `.loc` before it.
    fn place(&self, stmt: StmtId) -> Place {
        Place { line: self.line(stmt), text: on_one_line(self.module, stmt), source: self.source(stmt) }
    }

    fn source(&self, stmt: StmtId) -> Option<(String, usize)> {
        let before = self.module.stmts().take(stmt.index()).rev();
        let within = |&at: &StmtId| !matches!(self.module.kind(at), StmtKind::Entry | StmtKind::Function);
        let loc = before.take_while(within).find(|&at| self.module.kind(at) == StmtKind::Loc)?;
        let numbers: Vec<_> = self.integers(loc).collect();
        let (&file, &line) = (numbers.first()?, numbers.get(1)?);
        let named =
            |&at: &StmtId| self.module.kind(at) == StmtKind::File && self.integers(at).next() == Some(file);
        let name = self.module.stmts().find(named).and_then(|at| {
            let node =
                self.module.stmt_nodes(at).find(|&node| self.module.node_kind(node) == NodeKind::Str)?;
            let text = String::from_utf8_lossy(self.module.node_text(node)).into_owned();
            Some(text.trim_matches('"').to_owned())
        });
        Some((name.unwrap_or_else(|| format!("file {file}")), usize::try_from(line).ok()?))
    }

    fn integers(&self, stmt: StmtId) -> impl Iterator<Item = u64> {
        let nodes = self.module.stmt_nodes(stmt);
        let integers = nodes.filter(|&node| self.module.node_kind(node) == NodeKind::Int);
        integers.filter_map(|node| constant::literal(self.module.node_text(node)))
    }
}

fn bad(why: String) -> Outcome {
    Outcome {
        end: End::BadLaunch(why),
        faults: Vec::new(),
        inexact: Vec::new(),
        unknown: Vec::new(),
        instructions: 0,
        lane_instructions: 0,
    }
}

/// The text of a statement, with single blanks.
fn on_one_line(module: &Module<'_>, stmt: StmtId) -> String {
    let text = String::from_utf8_lossy(module.stmt_text(stmt));
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
