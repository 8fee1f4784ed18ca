//! The compact code that a module is decoded to once: operands are slots, constants lie in slots too.
//!
//! One instruction of PTX becomes one micro-operation, a few become several; the first of each carries the count.
//! The lane operations are listed once, in `lane_operations!`: the list makes the enum and the code that runs it,
//! so that no operation can be decoded that cannot be executed.

use super::lanes::Lane;
use super::memory::{LOCAL_WINDOW, PARAMETER_WINDOW, SHARED_WINDOW};
use ptxopt_grammar::names::Type;
use ptxopt_grammar::tree::StmtId;

/// A micro-operation: 40 bytes, in the order of the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inst {
    pub(super) op: Op,
    /// 1 for the first micro-operation of an instruction, else 0.
    pub(super) counts: u32,
    pub(super) guard: Guard,
    pub(super) d: u32,
    pub(super) a: u32,
    pub(super) b: u32,
    pub(super) c: u32,
    /// A fourth operand, a constant, an index into a side table or a target.
    pub(super) x: u32,
    pub(super) stmt: StmtId,
}

/// The predicate that an instruction is under: twice the slot, plus one if negated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Guard(pub(super) u32);

impl Guard {
    pub(super) const NONE: Self = Self(u32::MAX);

    pub(super) fn new(slot: u32, negated: bool) -> Self {
        Self(slot * 2 + u32::from(negated))
    }
}

/// What a micro-operation does. `d`, `a`, `b`, `c` are slots of the class that the operation implies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Op {
    /// The same on every lane.
    Lane(Lane),
    /// A compiled meaning; `x` is its number.
    Meant,
    /// A SIMD video instruction; `x` is its number.
    Video,
    /// 32-bit `d = c ? a : b`.
    Select32,
    /// 64-bit `d = c ? a : b`.
    Select64,
    /// Predicate `d` by the truth table `x` of `a`, `b`, `c`, one bit per combination.
    Logic,
    /// 32-bit or 64-bit `d` = special register `x`.
    Special32,
    /// The same, 64 bits wide.
    Special64,
    /// 32-bit `d` = the frame's part of local memory + `x`.
    LocalAddress32,
    /// The same, 64 bits wide.
    LocalAddress64,
    /// A load or a store; `x` is its number.
    Access,
    /// An atomic operation; `x` is its number.
    Atomic,
    /// A jump to `x`.
    Jump,
    /// A jump to the target of table `x` that 32-bit `a` selects.
    JumpTable,
    /// A call; `x` is its number.
    Call,
    /// Back to the caller.
    Return,
    /// The end of the thread.
    Exit,
    /// The end of the grid.
    Trap,
    /// A barrier of the block; `x` is its number.
    Barrier,
    /// A barrier of the warp; 32-bit `a` is the mask.
    WarpBarrier,
    /// A fence: memory is in order here already.
    Fence,
    /// Nothing at all.
    Nothing,
    /// An exchange between lanes; `x` is its number.
    Exchange,
    /// Something that cannot be evaluated; `x` says what.
    Unknown,
    /// In a replay, what is not evaluated there; `x` is its number.
    MadeUp,
    /// A register is shown to the watcher; `x` is its number.
    Watch,
}

/// Which array of slots a register lies in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Class {
    /// One bit per lane.
    Predicate,
    /// Up to 32 bits, zero-extended.
    Word,
    /// 64 bits.
    Long,
    /// 128 bits: two long slots, the low half first.
    Quad,
}

/// A register as an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Slot {
    pub(super) class: Class,
    pub(super) index: u32,
    /// The width that its declaration gives it; 1 for a predicate.
    pub(super) bits: u32,
}

/// A state space that memory is accessed in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Space {
    Generic,
    Global,
    Constant,
    Shared,
    Local,
    /// The parameters of an entry.
    Parameter,
}

impl Space {
    /// The space and the offset in it that an address means; `shift` is how far the number of a window is shifted.
    #[inline]
    pub(super) fn resolve(self, address: u64, shift: u32) -> (Self, u64) {
        if self != Self::Generic {
            return (self, address);
        }
        let offset = address & ((1 << shift) - 1);
        match address >> shift {
            SHARED_WINDOW => (Self::Shared, offset),
            LOCAL_WINDOW => (Self::Local, offset),
            PARAMETER_WINDOW => (Self::Parameter, offset),
            _ => (Self::Global, address),
        }
    }
}

/// What an address begins with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Base {
    /// Nothing: the offset is the address.
    Absolute,
    /// The local memory of the frame.
    Frame,
    /// A 32-bit slot.
    Word(u32),
    /// A 64-bit slot.
    Long(u32),
}

/// The memory order that a load or a store demands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Consistency {
    /// Nothing.
    Weak,
    /// Its own order with other such accesses: it is volatile or relaxed.
    Relaxed,
    /// The order of other accesses as well: it is acquire or release.
    Ordering,
}

/// A load or a store.
#[derive(Clone, Debug)]
pub(super) struct Access {
    pub(super) space: Space,
    pub(super) base: Base,
    pub(super) offset: i64,
    /// The size of an element in bytes.
    pub(super) size: u32,
    /// Whether a narrower element is sign-extended into its register.
    pub(super) signed: bool,
    pub(super) stores: bool,
    pub(super) consistency: Consistency,
    /// One register per element; `None` for the sink.
    pub(super) elements: Box<[Option<Slot>]>,
}

/// What an atomic operation does with the old value `o` and the operands `b` and `c`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AtomicOp {
    Add,
    MinUnsigned,
    MaxUnsigned,
    MinSigned,
    MaxSigned,
    And,
    Or,
    Xor,
    Exchange,
    CompareAndSwap,
    Increment,
    Decrement,
    AddF32,
    AddF64,
}

/// An atomic operation.
#[derive(Clone, Debug)]
pub(super) struct Atomic {
    pub(super) space: Space,
    pub(super) base: Base,
    pub(super) offset: i64,
    pub(super) size: u32,
    pub(super) op: AtomicOp,
    /// Whether it orders other accesses: it has acquire or release semantics.
    pub(super) orders: bool,
    pub(super) d: Option<Slot>,
    pub(super) b: Slot,
    pub(super) c: Option<Slot>,
}

/// What lanes exchange.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ExchangeOp {
    ShuffleUp,
    ShuffleDown,
    ShuffleButterfly,
    ShuffleIndexed,
    VoteAll,
    VoteAny,
    VoteUniform,
    Ballot,
    ActiveMask,
    MatchAny,
    MatchAll,
    ReduceAdd,
    ReduceMinUnsigned,
    ReduceMaxUnsigned,
    ReduceMinSigned,
    ReduceMaxSigned,
    ReduceAnd,
    ReduceOr,
    ReduceXor,
    Elect,
}

/// An exchange between the lanes of a warp.
#[derive(Clone, Debug)]
pub(super) struct Exchange {
    pub(super) op: ExchangeOp,
    pub(super) d: Option<Slot>,
    pub(super) p: Option<u32>,
    /// The value; a predicate for votes.
    pub(super) a: Option<Slot>,
    pub(super) negate: bool,
    /// The lane, for shuffles.
    pub(super) b: u32,
    /// Clamp and segment mask, for shuffles.
    pub(super) c: u32,
    /// The slot of the mask of lanes that take part; `None` where all active lanes do.
    pub(super) members: Option<u32>,
}

/// What a barrier reduces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reduction {
    Count,
    And,
    Or,
}

/// A barrier of the block.
#[derive(Clone, Debug)]
pub(super) struct Barrier {
    /// The 32-bit slot with its number.
    pub(super) number: u32,
    /// The slot with the number of threads; `None` for all.
    pub(super) threads: Option<u32>,
    /// Whether it only arrives and does not wait.
    pub(super) arrives: bool,
    /// Whether all lanes of a warp must come together.
    pub(super) aligned: bool,
    /// What to reduce, into which slot, over which predicate, negated or not.
    pub(super) reduction: Option<(Reduction, Slot, u32, bool)>,
}

/// A call.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) callee: usize,
    /// Copies into the callee's frame.
    pub(super) arguments: Box<[(Transfer, Transfer)]>,
    /// Copies back into the caller's frame.
    pub(super) results: Box<[(Transfer, Transfer)]>,
}

/// One end of a copy between frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Transfer {
    Register(Slot),
    /// Local memory of a frame: offset and size.
    Memory(u32, u32),
}

/// The effects of an instruction that a replay does not evaluate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Around {
    /// Nothing: its results depend on its operands alone.
    Nothing,
    /// It reads memory: its results depend on what happened before, too.
    Reads,
    /// It has an effect: other threads may observe what was written before it.
    Acts,
    /// It has an effect, and where control goes from there is unknown.
    Leaves,
}

/// An instruction that a replay does not evaluate: its results are made up from its operands.
#[derive(Clone, Debug)]
pub(super) struct MadeUp {
    /// A number that stands for all of its text but the registers.
    pub(super) key: u64,
    /// As many low bits of each register as its slot has.
    pub(super) inputs: Box<[Slot]>,
    pub(super) outputs: Box<[Transfer]>,
    /// Of a load: how many bits it loads, and whether they are extended by their sign.
    pub(super) loads: Option<(u32, bool)>,
    pub(super) around: Around,
}

/// A function or an entry, decoded.
#[derive(Clone, Debug, Default)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) is_entry: bool,
    pub(super) predicates: u32,
    pub(super) words: u32,
    pub(super) longs: u32,
    /// Constants: slot and value.
    pub(super) word_constants: Vec<(u32, u32)>,
    /// Word slots that hold fewer than 32 bits, and how many.
    pub(super) narrow: Vec<(u32, u32)>,
    pub(super) long_constants: Vec<(u32, u64)>,
    /// How many bytes of local memory a frame takes.
    pub(super) local: u32,
    /// Of an entry: offset and size of each parameter.
    pub(super) parameters: Vec<Parameter>,
    pub(super) demands: Demands,
    /// How many bytes all parameters take.
    pub(super) parameter_bytes: u32,
}

/// A parameter of an entry.
#[derive(Clone, Debug)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) offset: u32,
    pub(super) size: u32,
    pub(super) ty: Type,
    /// Whether it is an array.
    pub(super) array: bool,
}

/// What an entry demands of its launch.
#[derive(Clone, Debug, Default)]
pub(super) struct Demands {
    /// `.reqntid`: the shape of a block.
    pub(super) block: Option<[u32; 3]>,
    /// `.maxntid`: how many threads a block has at most, as a product.
    pub(super) most: Option<[u32; 3]>,
    /// `.reqnctapercluster`: what the grid is a multiple of.
    pub(super) cluster: Option<[u32; 3]>,
}

/// A whole module, decoded.
#[derive(Clone, Debug, Default)]
pub(super) struct Code {
    pub(super) insts: Vec<Inst>,
    pub(super) functions: Vec<Function>,
    pub(super) accesses: Vec<Access>,
    pub(super) atomics: Vec<Atomic>,
    pub(super) exchanges: Vec<Exchange>,
    pub(super) barriers: Vec<Barrier>,
    pub(super) calls: Vec<Call>,
    pub(super) made_up: Vec<MadeUp>,
    pub(super) tables: Vec<Box<[u32]>>,
    pub(super) meanings: Vec<super::meant::Meant>,
    pub(super) videos: Vec<super::video::Video>,
    /// Why something cannot be evaluated.
    pub(super) unknown: Vec<String>,
    /// What is shown to the watcher.
    pub(super) watched: Vec<super::watch::Watched>,
}
