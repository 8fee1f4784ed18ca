//! The kinds of statements and nodes.
//!
//! A kind is a shape of text. All instructions have one kind; the table distinguishes them.

/// What a statement is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
#[repr(u8)]
pub enum StmtKind {
    /// `.version 8.0`
    Version,
    /// `.target sm_90, debug`
    Target,
    /// `.address_size 64`
    AddressSize,
    /// `# 1 "file.cu"`, `#line 1 "file.cu"`
    LineMarker,
    /// `@@DWARF …`
    DwarfLine,
    /// `.file 1 "file.cu"`
    File,
    /// `.section .debug_info { … }`
    Section,
    /// `.pragma "nounroll";`
    Pragma,
    /// `.alias a, b;`
    Alias,
    /// Declaration of variables or parameters, with or without initialisers.
    Variable,
    /// `.reg .b32 %r<5>;`
    Register,
    /// `.entry` up to its body or its `;`.
    Entry,
    /// `.func` up to its body or its `;`.
    Function,
    /// `{` of a body or of a scope.
    Open,
    /// `}` of a body or of a scope.
    Close,
    /// `L:`
    Label,
    /// An instruction, with its guard.
    Instruction,
    /// `.loc` or `.loc_intermediate`
    Loc,
    /// `.branchtargets a, b;`
    BranchTargets,
    /// `.calltargets f, g;`
    CallTargets,
    /// `.callprototype (…) _ (…);`
    CallPrototype,
    /// An unknown directive, or an unknown instruction whose operands do not parse; kept verbatim.
    Unknown,
}

/// What a node is. Composite nodes follow their children and reach from their first token to their last.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
#[repr(u8)]
pub enum NodeKind {
    /// A use of a name: register, symbol, label, special register, with suffix if it has one; or the sink `_`.
    Name,
    /// The point where a name is declared.
    Declared,
    /// A name that is neither declared nor used: a prototype's dummy, a target's option, a field.
    Word,
    /// An integer literal.
    Int,
    /// A floating-point literal.
    Float,
    /// A string.
    Str,
    /// A word that begins with a dot.
    Directive,
    /// A constant expression of more than one token; no children.
    Constant,
    /// `-x`, one child.
    Negated,
    /// `!x`, one child.
    Complement,
    /// `p|q`, two children.
    Pair,
    /// A name and a suffix with a blank between them, `%tid .x`; two children.
    Suffixed,
    /// `x+constant`, two children.
    Offset,
    /// `x[constant]`, two children.
    Element,
    /// `{a, b}`, any number of children.
    Vector,
    /// `[a, b]` with its suffix, any number of children.
    Address,
    /// `(a, b)` of a call, any number of children.
    List,
    /// `@p`, one child.
    Guard,
    /// `@!p`, one child.
    GuardNot,
    /// The size of a family `<n>`, one child.
    Family,
    /// An array dimension `[n]` or `[]`, a child or none.
    Dimension,
    /// An initialiser, with its names as children.
    Initialiser,
    /// `.align n`, one child.
    Align,
    /// `.attribute(…)`, no children.
    Attribute,
}

impl NodeKind {
    /// All kinds, in the order of their numbers.
    pub(crate) const ALL: [Self; 24] = [
        Self::Name,
        Self::Declared,
        Self::Word,
        Self::Int,
        Self::Float,
        Self::Str,
        Self::Directive,
        Self::Constant,
        Self::Negated,
        Self::Complement,
        Self::Pair,
        Self::Suffixed,
        Self::Offset,
        Self::Element,
        Self::Vector,
        Self::Address,
        Self::List,
        Self::Guard,
        Self::GuardNot,
        Self::Family,
        Self::Dimension,
        Self::Initialiser,
        Self::Align,
        Self::Attribute,
    ];

    /// Whether the node is the guard of an instruction.
    #[must_use]
    pub fn is_guard(self) -> bool {
        matches!(self, Self::Guard | Self::GuardNot)
    }

    /// Whether the node is one token and has no children.
    #[must_use]
    pub fn is_leaf(self) -> bool {
        match self {
            Self::Name
            | Self::Declared
            | Self::Word
            | Self::Int
            | Self::Float
            | Self::Str
            | Self::Directive => true,
            Self::Constant
            | Self::Negated
            | Self::Complement
            | Self::Pair
            | Self::Suffixed
            | Self::Offset
            | Self::Element
            | Self::Vector
            | Self::Address
            | Self::List
            | Self::Guard
            | Self::GuardNot
            | Self::Family
            | Self::Dimension
            | Self::Initialiser
            | Self::Align
            | Self::Attribute => false,
        }
    }
}

impl StmtKind {
    /// The name that reports use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Version => "version",
            Self::Target => "target",
            Self::AddressSize => "address-size",
            Self::LineMarker => "line-marker",
            Self::DwarfLine => "dwarf-line",
            Self::File => "file",
            Self::Section => "section",
            Self::Pragma => "pragma",
            Self::Alias => "alias",
            Self::Variable => "variable",
            Self::Register => "register",
            Self::Entry => "entry",
            Self::Function => "function",
            Self::Open => "open",
            Self::Close => "close",
            Self::Label => "label",
            Self::Instruction => "instruction",
            Self::Loc => "loc",
            Self::BranchTargets => "branch-targets",
            Self::CallTargets => "call-targets",
            Self::CallPrototype => "call-prototype",
            Self::Unknown => "unknown",
        }
    }
}
