//! How a launch ended, and where: everything that a person needs to find the instruction.
//!
//! Plain data without references into the machine, so an outcome outlives the launch and can be compared and printed.

/// How a launch ended.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Whether it finished, and if not, why. If it went on after a fault and finished, the first fault.
    pub end: End,
    /// What the program did wrong, in the order in which it was found: each statement and kind of fault once, up to
    /// the limit of the launch. The first is the program's own; a later one may come of what was made up to go on.
    pub faults: Vec<Fault>,
    /// Why the result may differ from a GPU's, though the launch finished.
    pub inexact: Vec<String>,
    /// Opcodes of the code that the entry can reach that cannot be evaluated, with their lines; control flow did
    /// not get there unless `end` says so.
    pub unknown: Vec<(String, usize)>,
    /// Instructions executed, those of a group of lanes at once counted once.
    pub instructions: u64,
    /// Instructions executed, lane by lane.
    pub lane_instructions: u64,
}

impl Outcome {
    /// Whether the launch finished and its result is what every GPU must give.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        matches!(self.end, End::Finished) && self.inexact.is_empty()
    }
}

/// Whether a launch finished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// All threads ended.
    Finished,
    /// The budget of instructions was spent first.
    BudgetSpent(Place),
    /// Control flow came to something that cannot be evaluated.
    CannotEvaluate {
        /// The opcode with its modifiers.
        opcode: String,
        /// Why, if it is not just the opcode.
        reason: String,
        /// Where.
        place: Place,
    },
    /// The program did something wrong.
    Fault(Fault),
    /// The launch itself is wrong: no such entry, wrong arguments.
    BadLaunch(String),
}

/// Something that a program must not do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What it did.
    pub kind: FaultKind,
    /// Where.
    pub place: Place,
    /// The block and the thread in it.
    pub thread: ([u32; 3], [u32; 3]),
    /// The place in memory that it is about, if that is known.
    pub spot: Option<Spot>,
    /// How often it was found, thread by thread; what is above is the first time.
    pub count: u64,
}

/// A place in memory, by names of the program and not by addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// What it is in, or near.
    pub owner: Owner,
    /// How many bytes from the beginning; negative before it.
    pub offset: i64,
    /// How many bytes the owner has, where that is known.
    pub size: Option<u64>,
}

/// What memory belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The buffer of an argument: its number from 0, and the name of the parameter.
    Argument(usize, String),
    /// A buffer that is no argument, from 0 in the order of their allocation.
    Buffer(usize),
    /// A global or constant variable.
    Variable(String),
    /// A shared variable.
    Shared(String),
    /// Dynamic shared memory.
    DynamicShared,
    /// Shared memory between variables.
    AllShared,
    /// The local memory of the thread.
    Local,
    /// The parameters of the entry.
    Parameters,
}

impl std::fmt::Display for Spot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "offset {} of ", self.offset)?;
        let size = self.size.map(|size| format!("{size} bytes"));
        match (&self.owner, size) {
            (Owner::Argument(number, name), Some(size)) => {
                return write!(f, "argument {number} (`{name}`, {size})");
            }
            (Owner::Argument(number, name), None) => return write!(f, "argument {number} (`{name}`)"),
            (Owner::Buffer(number), _) => write!(f, "buffer {number}")?,
            (Owner::Variable(name), _) => write!(f, "variable `{name}`")?,
            (Owner::Shared(name), _) => write!(f, "shared variable `{name}`")?,
            (Owner::DynamicShared, _) => f.write_str("dynamic shared memory")?,
            (Owner::AllShared, _) => f.write_str("shared memory")?,
            (Owner::Local, _) => f.write_str("local memory")?,
            (Owner::Parameters, _) => f.write_str("the memory of parameters")?,
        }
        self.size.map_or(Ok(()), |size| write!(f, " ({size} bytes)"))
    }
}

/// What a program did wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// It accessed so many bytes at an address where there are none.
    OutOfBounds(u64, u32),
    /// It accessed so many bytes at an address that is not a multiple of that.
    Misaligned(u64, u32),
    /// Something undefined reached memory or control flow.
    Undefined(&'static str),
    /// It and another thread accessed the same bytes, nothing orders the two, and one of them changed the bytes.
    Race(Other),
    /// Threads wait for each other forever.
    Deadlock(&'static str),
    /// A barrier that all lanes of a warp must reach together was reached by some.
    DivergentBarrier,
    /// Calls are nested too deeply.
    TooDeep,
    /// `trap`
    Trap,
}

/// The other side of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Other {
    /// A thread: its block, and its place in it.
    Thread([u32; 3], [u32; 3]),
    /// Another thread of the same warp.
    OfWarp,
    /// Another thread of the same block.
    OfBlock,
    /// A thread of another block.
    OfGrid,
}

impl std::fmt::Display for Other {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Thread(block, thread) => write!(f, "thread {} of block {}", list(*thread), list(*block)),
            Self::OfWarp => f.write_str("another thread of the warp"),
            Self::OfBlock => f.write_str("another thread of the block"),
            Self::OfGrid => f.write_str("a thread of another block"),
        }
    }
}

/// Where an instruction stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The line in the PTX, from 1.
    pub line: usize,
    /// The instruction as it is written.
    pub text: String,
    /// The file and line that it was compiled from, where `.loc` tells.
    pub source: Option<(String, usize)>,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: `{}`", self.line, self.text)?;
        match &self.source {
            Some((file, line)) => write!(f, " ({file}:{line})"),
            None => Ok(()),
        }
    }
}

pub(super) fn list([x, y, z]: [u32; 3]) -> String {
    format!("({x}, {y}, {z})")
}

impl std::fmt::Display for FaultKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::OutOfBounds(address, size) => write!(f, "{size} bytes at {address:#x} are out of bounds"),
            Self::Misaligned(address, size) => write!(f, "{size} bytes at {address:#x} are misaligned"),
            Self::Undefined(what) => write!(f, "{what} is undefined"),
            Self::Race(other) => write!(f, "race with {other}"),
            Self::Deadlock(what) => write!(f, "deadlock: {what}"),
            Self::DivergentBarrier => f.write_str("only some lanes of the warp reach this barrier"),
            Self::TooDeep => f.write_str("calls are nested too deeply"),
            Self::Trap => f.write_str("trap"),
        }
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.kind, &self.spot) {
            (FaultKind::OutOfBounds(_, size), Some(spot)) => {
                write!(f, "{size} bytes at {spot} are out of bounds")?;
            }
            (FaultKind::Misaligned(_, size), Some(spot)) => {
                write!(f, "{size} bytes at {spot} are misaligned")?;
            }
            (FaultKind::Race(other), Some(spot)) => write!(f, "race at {spot} with {other}")?,
            (kind, _) => write!(f, "{kind}")?,
        }
        let (block, thread) = self.thread;
        write!(f, "; block {}, thread {}, {}", list(block), list(thread), self.place)?;
        if self.count > 1 { write!(f, "; {} times", self.count) } else { Ok(()) }
    }
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Finished => f.write_str("finished"),
            Self::BudgetSpent(place) => write!(f, "the budget of instructions is spent at {place}"),
            Self::CannotEvaluate { opcode, reason, place } if reason.is_empty() => {
                write!(f, "cannot evaluate `{opcode}` at {place}")
            }
            Self::CannotEvaluate { opcode, reason, place } => {
                write!(f, "cannot evaluate `{opcode}` ({reason}) at {place}")
            }
            Self::Fault(fault) => fault.fmt(f),
            Self::BadLaunch(why) => f.write_str(why),
        }
    }
}
