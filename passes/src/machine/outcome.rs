//! How a launch ended, and where: everything that a person needs to find the instruction.

/// How a launch ended.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Whether it finished, and if not, why.
    pub end: End,
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
    /// It raced with that thread of the block.
    Race(u64, [u32; 3]),
    /// Threads wait for each other forever.
    Deadlock(&'static str),
    /// A barrier that all lanes of a warp must reach together was reached by some.
    DivergentBarrier,
    /// Calls are nested too deeply.
    TooDeep,
    /// `trap`
    Trap,
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

fn list([x, y, z]: [u32; 3]) -> String {
    format!("({x}, {y}, {z})")
}

impl std::fmt::Display for FaultKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::OutOfBounds(address, size) => write!(f, "{size} bytes at {address:#x} are out of bounds"),
            Self::Misaligned(address, size) => write!(f, "{size} bytes at {address:#x} are misaligned"),
            Self::Undefined(what) => write!(f, "{what} is undefined"),
            Self::Race(address, other) => {
                write!(f, "race at shared address {address:#x} with thread {}", list(*other))
            }
            Self::Deadlock(what) => write!(f, "deadlock: {what}"),
            Self::DivergentBarrier => f.write_str("only some lanes of the warp reach this barrier"),
            Self::TooDeep => f.write_str("calls are nested too deeply"),
            Self::Trap => f.write_str("trap"),
        }
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
            Self::Fault(Fault { kind, place, thread: (block, thread) }) => {
                write!(f, "{kind}; block {}, thread {}, {place}", list(*block), list(*thread))
            }
            Self::BadLaunch(why) => f.write_str(why),
        }
    }
}
