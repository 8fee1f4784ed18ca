//! What the spelling of a statement says about memory: whether it accesses less than a word, how, and what else it does.
//!
//! Sound because what is not understood may do anything.

use super::super::elements::element;
use super::super::words::is_weak;
use super::WORD;
use hashbrown::HashMap;
use ptxopt_grammar::address;
use ptxopt_grammar::function::Function;
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::table::words::Modifier;
use ptxopt_grammar::table::{Control, Effects};
use ptxopt_grammar::tree::{Module, NodeId, SpellingId, StmtId, StmtKind};

/// How memory is accessed, besides the size.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Way {
    pub(super) is_load: bool,
    /// The opcode without the vector and the type.
    pub(super) opcode: String,
    pub(super) space: Option<Modifier>,
}

/// An access to less than a word, as its spelling says it.
pub(super) struct Spelled {
    pub(super) way: Way,
    /// How many elements it has, of how many bits, and whether registers get the sign.
    pub(super) elements: u32,
    pub(super) element: (u32, bool),
    /// Whether other threads may observe it as one.
    pub(super) is_strong: bool,
}

impl Spelled {
    /// `None` for another instruction.
    pub(super) fn of(module: &Module<'_>, spelling: SpellingId) -> Option<Self> {
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
pub(in crate::optimiser) fn are_possible(module: &Module<'_>, function: &Function) -> bool {
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
        // Of what never changes, two bytes may be enough.
        if *bits >= if never_changes(found.way.space) { WORD / 2 } else { WORD } {
            return true;
        }
    }
    false
}

/// Whether nothing writes to a state space, that of parameters being those of an entry.
pub(super) fn never_changes(space: Option<Modifier>) -> bool {
    [Some(op::PARAM), Some(op::CONST)].contains(&space)
}

/// What the address of an access is made of: a name, and a number.
pub(super) fn address(module: &Module<'_>, stmt: StmtId, is_load: bool) -> Option<(NodeId, i64)> {
    let operands = module.operands(stmt);
    let &node = operands.get(usize::from(is_load)).filter(|_| operands.len() == 2)?;
    let (base, number) = address::parts(module, node)?;
    Some((base, number.cast_signed()))
}

/// What a statement does to memory.
pub(super) enum Deed {
    Nothing,
    /// It reads a state space, or any memory.
    Reads(Option<Modifier>),
    /// It writes to one.
    Writes(Option<Modifier>),
    /// Anything may come of it.
    Any,
}

pub(super) fn deed(module: &Module<'_>, stmt: StmtId) -> Deed {
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
    let instruction = module.instruction(stmt);
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
