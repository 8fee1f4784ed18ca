//! The faults of a launch, as they come: the same fault of the same statement once, with a count.
//!
//! A launch goes on after a fault until it has found as many different ones as it may. What a faulty access would
//! have read is 0, what it would have written is not written, and a thread whose control flow is undefined ends. So
//! the first fault is the program's own, and a later one may come of such a value.

use super::code::{Function, Inst, Space};
use super::decode::{Initial, SharedVariable};
use super::execute::Stop;
use super::outcome::{FaultKind, Other, Owner, Spot};
use super::races::Rival;
use super::warp::Warp;
use super::{Argument, Launch, Memory, special};
use ptxopt_grammar::tree::StmtId;
use std::mem::discriminant;

/// What went wrong.
#[derive(Clone, Debug)]
pub(super) enum Wrong {
    /// What is not about a place in memory.
    Plain(FaultKind),
    /// An access with an address that the program gave, and what the address means.
    Access(FaultKind, Space, u64),
    /// A race at an offset of a space, or in an allocation, and the other thread.
    Race(Space, Option<usize>, usize, Rival),
}

impl From<FaultKind> for Wrong {
    fn from(kind: FaultKind) -> Self {
        Self::Plain(kind)
    }
}

impl Wrong {
    fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Plain(FaultKind::Undefined(a)), Self::Plain(FaultKind::Undefined(b))) => a == b,
            (Self::Plain(a), Self::Plain(b)) => discriminant(a) == discriminant(b),
            (Self::Access(a, space, _), Self::Access(b, other, _)) => {
                discriminant(a) == discriminant(b) && space == other
            }
            (Self::Race(a, m, ..), Self::Race(b, n, ..)) => (a, m) == (b, n),
            (Self::Plain(_) | Self::Access(..) | Self::Race(..), _) => false,
        }
    }
}

/// A fault and how often it was found.
#[derive(Clone, Debug)]
pub(super) struct Noted {
    pub(super) wrong: Wrong,
    pub(super) stmt: StmtId,
    pub(super) block: [u32; 3],
    pub(super) thread: u32,
    pub(super) count: u64,
}

/// All faults so far.
#[derive(Clone, Debug)]
pub(super) struct Faults {
    pub(super) list: Vec<Noted>,
    limit: usize,
    /// The block that runs.
    pub(super) block: [u32; 3],
}

impl Faults {
    pub(super) fn new(limit: usize) -> Self {
        Self { list: Vec::new(), limit: limit.max(1), block: [0; 3] }
    }

    /// Notes a fault of the lanes of a mask; the launch ends if there are enough.
    #[cold]
    pub(super) fn note<const W: usize>(
        &mut self,
        wrong: impl Into<Wrong>,
        warp: &Warp<W>,
        i: &Inst,
        lanes: u32,
    ) -> Result<(), Stop> {
        let thread = warp.number * 32 + lanes.trailing_zeros().min(31);
        self.add(wrong.into(), i.stmt, thread, lanes.count_ones().into())
    }

    pub(super) fn add(&mut self, wrong: Wrong, stmt: StmtId, thread: u32, count: u64) -> Result<(), Stop> {
        let same = self.list.iter_mut().find(|noted| noted.stmt == stmt && noted.wrong.is_like(&wrong));
        match same {
            Some(noted) => noted.count += count,
            None => self.list.push(Noted { wrong, stmt, block: self.block, thread, count }),
        }
        if self.list.len() < self.limit { Ok(()) } else { Err(Stop::EnoughFaults) }
    }
}

/// The owners of memory: the arguments of the launch and the variables of the module.
#[derive(Debug)]
pub(super) struct Owners<'a> {
    pub(super) memory: &'a Memory,
    /// The numbers and names of the parameters that got an allocation, by its number.
    pub(super) arguments: Vec<(usize, usize, String)>,
    pub(super) variables: &'a [Initial],
    pub(super) shared: &'a [SharedVariable],
    pub(super) static_shared: u32,
    pub(super) dynamic_shared: u32,
}

/// The allocations that arguments are.
pub(super) fn owned(function: &Function, arguments: &[Argument]) -> Vec<(usize, usize, String)> {
    let parameters = function.parameters.iter().zip(arguments).enumerate();
    let owned = parameters.filter_map(|(number, (parameter, argument))| match argument {
        Argument::Buffer(buffer) => Some((buffer.0, number, parameter.name.clone())),
        Argument::Number(_) | Argument::Typed(..) | Argument::Bytes(_) => None,
    });
    owned.collect()
}

/// The other side of a race, by its place in the grid and not by numbers.
fn other(rival: Rival, launch: &Launch) -> Other {
    match rival {
        Rival::Thread(block, thread) => {
            Other::Thread(special::thread(launch.grid, block), special::thread(launch.block, thread))
        }
        Rival::OfWarp => Other::OfWarp,
        Rival::OfBlock => Other::OfBlock,
        Rival::OfGrid => Other::OfGrid,
    }
}

impl Owners<'_> {
    /// What went wrong, and where, by names of the program and not by addresses.
    pub(super) fn named(&self, wrong: Wrong, launch: &Launch) -> (FaultKind, Option<Spot>) {
        match wrong {
            Wrong::Plain(kind) => (kind, None),
            Wrong::Access(kind, space, address) => (kind, self.spot(space, address)),
            Wrong::Race(space, allocation, at, rival) => {
                let spot = match allocation {
                    Some(number) => self.in_allocation(number, at as i64),
                    None => self.spot(space, at as u64),
                };
                (FaultKind::Race(other(rival, launch)), spot)
            }
        }
    }

    /// The place that an address in a space means, if it is in or near something that has a name.
    fn spot(&self, space: Space, address: u64) -> Option<Spot> {
        match space {
            Space::Global | Space::Constant | Space::Generic => {
                let (number, offset) = self.memory.near(address)?;
                self.in_allocation(number, offset)
            }
            Space::Shared => Some(self.in_shared(address)),
            Space::Local => Some(Spot { owner: Owner::Local, offset: address.cast_signed(), size: None }),
            Space::Parameter => {
                Some(Spot { owner: Owner::Parameters, offset: address.cast_signed(), size: None })
            }
        }
    }

    fn in_allocation(&self, number: usize, offset: i64) -> Option<Spot> {
        let size = self.memory.sizes().nth(number)? as u64;
        let argument = self.arguments.iter().find(|(allocation, ..)| *allocation == number);
        let owner = match (argument, self.variables.get(number)) {
            (Some((_, number, name)), _) => Owner::Argument(*number, name.clone()),
            (None, Some(variable)) => Owner::Variable(variable.name.clone()),
            (None, None) => Owner::Buffer(number - self.variables.len()),
        };
        Some(Spot { owner, offset, size: Some(size) })
    }

    fn in_shared(&self, address: u64) -> Spot {
        let total = u64::from(self.static_shared) + u64::from(self.dynamic_shared);
        let within = |variable: &&SharedVariable| {
            let offset = address.checked_sub(variable.offset.into());
            offset.is_some_and(|offset| offset < u64::from(variable.size) || address >= total)
        };
        let dynamic = self.dynamic_shared > 0 && address >= u64::from(self.static_shared);
        let (owner, start, size) = match self.shared.iter().rev().find(within) {
            _ if dynamic => (Owner::DynamicShared, self.static_shared, self.dynamic_shared.into()),
            Some(SharedVariable { name, offset, size }) => {
                (Owner::Shared(name.clone()), *offset, (*size).into())
            }
            None => (Owner::AllShared, 0, total),
        };
        Spot { owner, offset: address.wrapping_sub(start.into()).cast_signed(), size: Some(size) }
    }
}
