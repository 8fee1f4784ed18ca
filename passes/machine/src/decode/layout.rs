//! Where everything lies: variables in memory, parameters in frames, bodies in the text.
//!
//! Places are laid out in the order of the declarations with the alignment that each has, and no two overlap, so an
//! access through one name cannot reach another unless it leaves its bounds.

use crate::code::{Demands, Function, Parameter, Transfer};
use ptxopt_grammar::alignment::{Extent, OPAQUE, extents};
use ptxopt_grammar::constant;
use ptxopt_grammar::names::DeclKind;
use ptxopt_grammar::tree::{DeclId, Module, NodeId, NodeKind, ScopeId, StmtId, StmtKind};
use std::collections::HashMap;
use std::ops::Range;

/// How many bytes all variables of a module in global and constant memory may have.
const MOST_BYTES: u32 = 1 << 30;

/// Where a variable or a parameter lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Location {
    /// Global or constant memory: the number of the allocation.
    Allocation(u64),
    Shared(u32),
    /// Dynamic shared memory, behind all static shared memory.
    SharedEnd,
    /// The local memory of the frame, with its size.
    Frame(u32, u32),
    /// The parameters of the entry.
    Parameter(u32),
}

/// What an allocation holds at first.
#[derive(Clone, Debug)]
pub(crate) struct Initial {
    /// The name of the variable.
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    /// Addresses in it: at which offset, in how many bytes, which allocation, plus what.
    pub(crate) addresses: Vec<(usize, usize, usize, u64)>,
}

/// A variable in static shared memory, and where it lies.
#[derive(Clone, Debug)]
pub(crate) struct SharedVariable {
    pub(crate) name: String,
    pub(crate) offset: u32,
    pub(crate) size: u32,
}

/// The head of a function or an entry.
#[derive(Clone, Debug)]
pub(super) struct Header {
    pub(super) shape: Function,
    pub(super) body: Range<usize>,
    pub(super) places: HashMap<DeclId, Location>,
    /// Results first, then parameters.
    pub(super) formals: Vec<DeclId>,
    pub(super) results: usize,
    pub(super) transfers: Vec<Option<Transfer>>,
}

pub(super) struct Layout {
    pub(super) places: HashMap<DeclId, Location>,
    pub(super) functions: Vec<Header>,
    pub(super) by_name: HashMap<Vec<u8>, usize>,
    pub(super) initial: Vec<Initial>,
    /// How many bytes these have.
    bytes: u32,
    /// Why the variables in global and constant memory are too large for a launch.
    pub(super) too_large: Option<String>,
    pub(super) shared: u32,
    pub(super) shared_variables: Vec<SharedVariable>,
    pub(super) address_bits: u32,
}

/// A declared variable or parameter.
struct Declared {
    decl: DeclId,
    space: String,
    size: u32,
    align: u32,
    array: bool,
    unsized_array: bool,
    initialiser: Option<NodeId>,
}

impl Declared {
    /// What is declared in a state space.
    fn of(extent: Extent, space: String) -> Self {
        let Extent { decl, align, element, dimensions } = extent;
        let known = dimensions.iter().flatten().filter_map(|&count| u32::try_from(count).ok());
        let unsized_array = known.clone().count() < dimensions.len();
        let size = known.fold(element.unwrap_or(OPAQUE), u32::saturating_mul);
        Self { decl, space, size, align, array: !dimensions.is_empty(), unsized_array, initialiser: None }
    }
}

impl Layout {
    /// How far the number of an allocation is shifted in an address.
    pub(super) fn shift(&self) -> u32 {
        if self.address_bits == 64 { 32 } else { 24 }
    }

    pub(super) fn new(module: &Module<'_>) -> Self {
        let mut layout = Self {
            places: HashMap::new(),
            functions: Vec::new(),
            by_name: HashMap::new(),
            initial: Vec::new(),
            bytes: 0,
            too_large: None,
            shared: 0,
            shared_variables: Vec::new(),
            address_bits: 32,
        };
        let mut stmts = module.stmts().peekable();
        while let Some(stmt) = stmts.next() {
            match module.kind(stmt) {
                StmtKind::AddressSize if module.stmt_text(stmt).ends_with(b"64") => layout.address_bits = 64,
                StmtKind::Variable => layout.variables(module, stmt, None),
                StmtKind::Entry | StmtKind::Function => {
                    let Some(body) = body(module, stmt) else { continue };
                    layout.function(module, stmt, body.clone());
                    while stmts.next_if(|next| next.index() < body.end).is_some() {}
                }
                _ => {}
            }
        }
        layout.shared = layout.shared.next_multiple_of(16);
        layout
    }

    fn function(&mut self, module: &Module<'_>, stmt: StmtId, body: Range<usize>) {
        let is_entry = module.kind(stmt) == StmtKind::Entry;
        let name_at = module.stmt_nodes(stmt).find(|&node| {
            let decl = module.decl_of(node).filter(|_| module.node_kind(node) == NodeKind::Declared);
            decl.is_some_and(|decl| module.decl(decl).kind == DeclKind::Function)
        });
        let name = name_at.map(|node| module.node_text(node)).unwrap_or_default();
        let start = name_at.map_or(0, |node| module.node_span(node).start);
        let shape =
            Function { name: String::from_utf8_lossy(name).into_owned(), is_entry, ..Function::default() };
        let shape = Function { demands: demands(module, stmt), ..shape };
        let mut header = Header {
            shape,
            body: body.clone(),
            places: HashMap::new(),
            formals: Vec::new(),
            results: 0,
            transfers: Vec::new(),
        };
        for declared in declarations(module, stmt) {
            let before = module.tokens().start(module.decl(declared.decl).name) < start;
            if !is_entry {
                header.formals.push(declared.decl);
                header.results += usize::from(before);
            }
            if module.decl(declared.decl).kind == DeclKind::Register {
                continue;
            }
            if is_entry {
                let offset = header.shape.parameter_bytes.next_multiple_of(declared.align);
                header.shape.parameter_bytes = offset + declared.size;
                let (name, ty) = (text_of(module, declared.decl), module.decl(declared.decl).ty);
                let (size, array) = (declared.size, declared.array);
                header.shape.parameters.push(Parameter { name, offset, size, ty, array });
                header.places.insert(declared.decl, Location::Parameter(offset));
            } else {
                header.place_in_frame(&declared);
            }
        }
        for index in body {
            let inner = StmtId::new(index).expect("it is the number of a statement");
            if module.kind(inner) == StmtKind::Variable {
                self.variables(module, inner, Some(&mut header));
            }
        }
        header.shape.local = header.shape.local.next_multiple_of(16);
        self.by_name.insert(name.to_vec(), self.functions.len());
        self.functions.push(header);
    }

    fn variables(&mut self, module: &Module<'_>, stmt: StmtId, mut header: Option<&mut Header>) {
        for declared in declarations(module, stmt) {
            let place = match (declared.space.as_str(), &mut header) {
                (".shared", _) if declared.unsized_array => Location::SharedEnd,
                (".shared", _) => {
                    let offset = self.shared.next_multiple_of(declared.align);
                    self.shared = offset + declared.size;
                    let name = text_of(module, declared.decl);
                    self.shared_variables.push(SharedVariable { name, offset, size: declared.size });
                    Location::Shared(offset)
                }
                (".local" | ".param", Some(header)) => {
                    header.place_in_frame(&declared);
                    continue;
                }
                (".global" | ".const", _) => {
                    self.places.insert(declared.decl, Location::Allocation(self.initial.len() as u64));
                    let name = text_of(module, declared.decl);
                    let size = if self.fits(&name, declared.size) { declared.size } else { 0 };
                    let bytes = vec![0; size as usize];
                    self.initial.push(Initial { name, bytes, addresses: Vec::new() });
                    if let Some(node) = declared.initialiser {
                        self.initialise(module, declared.decl, node);
                    }
                    continue;
                }
                _ => continue,
            };
            self.places.insert(declared.decl, place);
        }
    }

    /// Whether one more variable fits into memory; if not, nothing can be launched.
    fn fits(&mut self, name: &str, size: u32) -> bool {
        let why = if u64::from(size) >= 1 << self.shift() {
            format!(
                "`{name}` has {size} bytes, but with 32-bit addresses a variable has less than 16 MiB here"
            )
        } else if size > MOST_BYTES - self.bytes {
            format!("the module's variables have more than 1 GiB with `{name}`, and no more can be run")
        } else {
            self.bytes += size;
            return true;
        };
        self.too_large.get_or_insert(why);
        false
    }

    /// Fills the last allocation. Nested braces fill rows in turn; rows that are not complete are filled with zero
    /// only at the end, which is what compilers write.
    fn initialise(&mut self, module: &Module<'_>, decl: DeclId, node: NodeId) {
        let element = module.decl(decl).ty.bits().unwrap_or(8) as usize / 8;
        let names: Vec<_> = module.children(node);
        let text = module.node_text(node);
        let base = module.node_span(node).start;
        let mut at = 0;
        for (offset, item) in items(text) {
            let range = base + offset..base + offset + item.len();
            let name = names.iter().find(|&&name| range.contains(&module.node_span(name).start));
            let last = self.initial.len() - 1;
            match name.and_then(|&name| module.decl_of(name)) {
                Some(target) => {
                    let plus = item.iter().rposition(|&byte| byte == b'+');
                    let plus =
                        plus.and_then(|plus| constant::literal(item[plus + 1..].trim_ascii())).unwrap_or(0);
                    if let Some(Location::Allocation(number)) = self.places.get(&target) {
                        let address = (at, element, *number as usize, plus);
                        self.initial[last].addresses.push(address);
                    }
                }
                None => {
                    let value = number(item, element).to_le_bytes();
                    let room = self.initial[last].bytes.get_mut(at..at + element);
                    if let Some(room) = room {
                        room.copy_from_slice(&value[..element]);
                    }
                }
            }
            at += element;
        }
    }
}

impl Header {
    fn place_in_frame(&mut self, declared: &Declared) {
        let offset = self.shape.local.next_multiple_of(declared.align);
        self.shape.local = offset + declared.size;
        self.places.insert(declared.decl, Location::Frame(offset, declared.size));
    }
}

/// The statements between the braces of a body.
fn body(module: &Module<'_>, stmt: StmtId) -> Option<Range<usize>> {
    let mut scope: Option<ScopeId> = None;
    for next in module.stmts().skip(stmt.index() + 1) {
        match (module.kind(next), scope) {
            (StmtKind::Open, None) => scope = module.scope_of_brace(next),
            (StmtKind::Close, Some(_)) if module.scope_of_brace(next) == scope => {
                return Some(stmt.index() + 1..next.index());
            }
            (StmtKind::Entry | StmtKind::Function | StmtKind::Variable, None) => return None,
            _ => {}
        }
    }
    None
}

/// What a statement declares, functions and labels aside.
fn declarations(module: &Module<'_>, stmt: StmtId) -> Vec<Declared> {
    let mut declared: Vec<Declared> = Vec::new();
    let (mut space, mut pointer) = (String::new(), false);
    let mut extents = extents(module, stmt).into_iter().peekable();
    for node in module.stmt_nodes(stmt) {
        match module.node_kind(node) {
            NodeKind::Directive => {
                let word = String::from_utf8_lossy(module.node_text(node)).into_owned();
                pointer |= word == ".ptr";
                if [".param", ".reg"].contains(&word.as_str()) {
                    pointer = false;
                }
                let spaces = [".global", ".const", ".shared", ".local", ".param", ".reg"];
                if !pointer && spaces.contains(&word.as_str()) {
                    space = word;
                }
            }
            NodeKind::Declared => {
                let extent = extents.next_if(|extent| Some(extent.decl) == module.decl_of(node));
                declared.extend(extent.map(|extent| Declared::of(extent, space.clone())));
            }
            NodeKind::Initialiser => {
                let Some(last) = declared.last_mut() else { continue };
                last.initialiser = Some(node);
                if last.unsized_array {
                    let count = items(module.node_text(node)).count();
                    last.size = last.size.saturating_mul(u32::try_from(count).unwrap_or(0));
                }
            }
            _ => {}
        }
    }
    for one in declared.iter_mut().filter(|one| one.unsized_array && one.initialiser.is_none()) {
        one.size = 0;
    }
    declared
}

fn text_of(module: &Module<'_>, decl: DeclId) -> String {
    String::from_utf8_lossy(module.decl_name(decl)).into_owned()
}

/// What the directives of an entry demand of its launch; sizes that are not given are 1.
fn demands(module: &Module<'_>, stmt: StmtId) -> Demands {
    let mut demands = Demands::default();
    let (mut shape, mut axis) = (None, 0);
    for node in module.stmt_nodes(stmt) {
        match (module.node_kind(node), &mut shape) {
            (NodeKind::Directive, _) => {
                axis = 0;
                shape = match module.node_text(node) {
                    b".reqntid" => Some(demands.block.insert([1; 3])),
                    b".maxntid" => Some(demands.most.insert([1; 3])),
                    b".reqnctapercluster" => Some(demands.cluster.insert([1; 3])),
                    _ => None,
                };
            }
            (NodeKind::Int, Some(shape)) => {
                let size =
                    constant::literal(module.node_text(node)).and_then(|size| u32::try_from(size).ok());
                if let (Some(place), Some(size)) = (shape.get_mut(axis), size) {
                    *place = size;
                }
                axis += 1;
            }
            (_, _) => {}
        }
    }
    demands
}

/// The items of an initialiser, braces left out, with their offsets.
fn items(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    text.split(|byte| b"{},".contains(byte))
        .map(move |item| (item.as_ptr() as usize - text.as_ptr() as usize, item))
        .map(|(offset, item)| (offset + (item.len() - item.trim_ascii_start().len()), item.trim_ascii()))
        .filter(|(_, item)| !item.is_empty())
}

/// The bits of a literal of an initialiser.
fn number(item: &[u8], element: usize) -> u64 {
    let (negative, digits) = match item.strip_prefix(b"-") {
        Some(rest) => (true, rest.trim_ascii()),
        None => (false, item),
    };
    if let Some(value) = constant::literal(digits) {
        return if negative { value.wrapping_neg() } else { value };
    }
    super::operand::float_bits(item, element == 4).unwrap_or(0)
}
