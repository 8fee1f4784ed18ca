//! The tree: statements and nodes as flat arrays of spans into the text.
//!
//! Nothing here owns text, all references are indices, and nothing recurses over nesting: scopes
//! are pairs of [`StmtKind::Open`] and [`StmtKind::Close`] statements, operands are nodes in post-order. The tree
//! is lossless by construction: the statements cut the list of tokens into consecutive ranges, every token lies
//! in exactly one of them, and what lies between tokens is blank or comment.

pub use crate::kind::{NodeKind, StmtKind};
use crate::names::{Decl, Scope};
use crate::spelling::Spellings;
use crate::table::instruction::Instruction;
use crate::token::{Tok, Tokens};
use std::ops::Range;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(pub(crate) u32);

        impl $name {
            /// The position in its array.
            #[must_use]
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// The id at position `index`; `None` past 32 bits.
            #[must_use]
            pub fn new(index: usize) -> Option<Self> {
                u32::try_from(index).ok().map(Self)
            }
        }
    )*};
}

ids! {
    /// A token of a module.
    TokenId
    /// A statement of a module.
    StmtId
    /// A node of a module: an operand, a name, a literal.
    NodeId
    /// A declaration of a module.
    DeclId
    /// A scope of a module; scope 0 is the module itself.
    ScopeId
    /// A distinct spelling of an opcode with its modifiers.
    SpellingId
}

impl ScopeId {
    /// The module itself.
    pub const MODULE: Self = Self(0);
}

/// An offset or an index as the tree holds it.
///
/// [`crate::parse()`] refuses a text of 4 GiB, and a text has fewer tokens, nodes, statements and names than bytes.
pub(crate) fn index32(index: usize) -> u32 {
    u32::try_from(index).expect("a text below 4 GiB has fewer parts than bytes")
}

/// A statement: 16 bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stmt {
    pub(crate) first: u32,
    pub(crate) nodes_end: u32,
    /// The spelling of an instruction's opcode, the scope of an `Open` or `Close`, else 0.
    pub(crate) payload: u32,
    pub(crate) kind: StmtKind,
}

/// A node: 12 bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub(crate) first: u32,
    /// The last token of a composite node; the [`DeclId`] of a name, or [`Node::UNRESOLVED`].
    pub(crate) link: u32,
    /// The kind in the high 8 bits, the number of nodes below in the low 24.
    shape: u32,
}

impl Node {
    pub(crate) const UNRESOLVED: u32 = u32::MAX;
    /// The most nodes that one node may have below it.
    pub(crate) const MOST_BELOW: u32 = (1 << 24) - 1;

    pub(crate) fn new(kind: NodeKind, first: u32, link: u32, below: u32) -> Self {
        debug_assert!(below <= Self::MOST_BELOW, "the builder refuses larger nodes");
        Self { first, link, shape: u32::from(kind as u8) << 24 | below }
    }

    pub(crate) fn kind(self) -> NodeKind {
        NodeKind::ALL[(self.shape >> 24) as usize]
    }

    pub(crate) fn below(self) -> u32 {
        self.shape & Self::MOST_BELOW
    }
}

/// A parsed module: its text, and the tree of the text.
#[derive(Debug)]
pub struct Module<'t> {
    pub(crate) text: &'t [u8],
    pub(crate) tokens: Tokens,
    pub(crate) stmts: Vec<Stmt>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) decls: Vec<Decl>,
    pub(crate) scopes: Vec<Scope>,
    pub(crate) spellings: Spellings,
}

/// A range of bytes of the text.
pub type Span = Range<usize>;

impl<'t> Module<'t> {
    /// The text that was parsed, a trailing NUL included.
    #[must_use]
    pub fn text(&self) -> &'t [u8] {
        self.text
    }

    /// The tokens, in the order of the text.
    #[must_use]
    pub fn tokens(&self) -> &Tokens {
        &self.tokens
    }

    /// All statements, in the order of the text.
    pub fn stmts(&self) -> impl DoubleEndedIterator<Item = StmtId> + ExactSizeIterator + use<> {
        (0..index32(self.stmts.len())).map(StmtId)
    }

    /// What `stmt` is.
    #[must_use]
    pub fn kind(&self, stmt: StmtId) -> StmtKind {
        self.stmts[stmt.index()].kind
    }

    /// The tokens of `stmt`; the ranges of consecutive statements join without a gap.
    #[must_use]
    pub fn stmt_tokens(&self, stmt: StmtId) -> Range<u32> {
        let end = self.stmts.get(stmt.index() + 1).map_or(index32(self.tokens.len()), |next| next.first);
        self.stmts[stmt.index()].first..end
    }

    /// The bytes of `stmt`, from its first token to its last.
    #[must_use]
    pub fn stmt_span(&self, stmt: StmtId) -> Span {
        let tokens = self.stmt_tokens(stmt);
        if tokens.is_empty() {
            let at = self.tokens.start(TokenId(tokens.start));
            return at..at;
        }
        // Line markers after a statement are in its range of tokens, but not part of it.
        let mut last = tokens.end - 1;
        while last > tokens.start && self.tokens.kind(TokenId(last)) == Tok::LineMarker {
            last -= 1;
        }
        self.tokens.start(TokenId(tokens.start))..self.tokens.span(TokenId(last)).end
    }

    /// The text of `stmt`.
    #[must_use]
    pub fn stmt_text(&self, stmt: StmtId) -> &'t [u8] {
        &self.text[self.stmt_span(stmt)]
    }

    /// All nodes of `stmt`, in post-order.
    pub fn stmt_nodes(&self, stmt: StmtId) -> impl DoubleEndedIterator<Item = NodeId> + use<> {
        self.node_range(stmt).map(NodeId)
    }

    pub(crate) fn node_range(&self, stmt: StmtId) -> Range<u32> {
        let start = stmt.0.checked_sub(1).map_or(0, |before| self.stmts[before as usize].nodes_end);
        start..self.stmts[stmt.index()].nodes_end
    }

    /// The outermost nodes of `stmt`, in the order of the text, its guard left out.
    #[must_use]
    pub fn operands(&self, stmt: StmtId) -> Vec<NodeId> {
        let range = self.node_range(stmt);
        let mut roots = self.roots(range);
        if roots.first().is_some_and(|&first| self.node_kind(first).is_guard()) {
            roots.remove(0);
        }
        roots
    }

    /// The children of `node`, in the order of the text.
    #[must_use]
    pub fn children(&self, node: NodeId) -> Vec<NodeId> {
        let below = self.nodes[node.index()].below();
        self.roots(node.0 - below..node.0)
    }

    fn roots(&self, range: Range<u32>) -> Vec<NodeId> {
        let mut roots: Vec<NodeId> = self.roots_backwards(range).collect();
        roots.reverse();
        roots
    }

    /// The outermost nodes of a range, the last first.
    fn roots_backwards(&self, range: Range<u32>) -> impl Iterator<Item = NodeId> + '_ {
        let mut end = range.end;
        std::iter::from_fn(move || {
            let root = end.checked_sub(1).filter(|_| end > range.start)?;
            end = root - self.nodes[root as usize].below();
            Some(NodeId(root))
        })
    }

    /// The guard of `stmt`: its predicate's name, and whether it is negated.
    #[must_use]
    pub fn guard(&self, stmt: StmtId) -> Option<(NodeId, bool)> {
        let range = self.node_range(stmt);
        // A guard is one child and itself, and comes first.
        let node = self.nodes.get(range.start as usize + 1).filter(|_| range.len() >= 2)?;
        let guard = node.kind();
        (guard.is_guard()).then_some((NodeId(range.start), guard == NodeKind::GuardNot))
    }

    /// What `node` is.
    #[must_use]
    pub fn node_kind(&self, node: NodeId) -> NodeKind {
        self.nodes[node.index()].kind()
    }

    /// The tokens of `node`.
    #[must_use]
    pub fn node_tokens(&self, node: NodeId) -> Range<u32> {
        let Node { first, link, .. } = self.nodes[node.index()];
        if self.node_kind(node).is_leaf() { first..first + 1 } else { first..link + 1 }
    }

    /// The bytes of `node`.
    #[must_use]
    pub fn node_span(&self, node: NodeId) -> Span {
        let tokens = self.node_tokens(node);
        self.tokens.start(TokenId(tokens.start))..self.tokens.span(TokenId(tokens.end - 1)).end
    }

    /// The text of `node`.
    #[must_use]
    pub fn node_text(&self, node: NodeId) -> &'t [u8] {
        &self.text[self.node_span(node)]
    }

    /// The spelling of an instruction's opcode with its modifiers, and its token.
    #[must_use]
    pub fn opcode(&self, stmt: StmtId) -> Option<(SpellingId, TokenId)> {
        let Stmt { first, payload, kind, .. } = self.stmts[stmt.index()];
        if kind != StmtKind::Instruction {
            return None;
        }
        let mut token = self.guard(stmt).map_or(first, |(name, _)| self.nodes[name.index()].first + 1);
        while self.tokens.kind(TokenId(token)) == Tok::LineMarker {
            token += 1;
        }
        Some((SpellingId(payload), TokenId(token)))
    }

    /// The instruction that a statement is; `None` for another statement, and for an unknown opcode or modifier.
    #[must_use]
    pub fn instruction(&self, stmt: StmtId) -> Option<Instruction> {
        self.spellings().instruction(self.opcode(stmt)?.0)
    }

    /// The distinct spellings of opcodes.
    #[must_use]
    pub fn spellings(&self) -> &Spellings {
        &self.spellings
    }

    /// The scope that a [`StmtKind::Open`] or [`StmtKind::Close`] begins or ends.
    #[must_use]
    pub fn scope_of_brace(&self, stmt: StmtId) -> Option<ScopeId> {
        let Stmt { payload, kind, .. } = self.stmts[stmt.index()];
        matches!(kind, StmtKind::Open | StmtKind::Close).then_some(ScopeId(payload))
    }

    /// What a [`NodeKind::Name`] means, or what a [`NodeKind::Declared`] declares.
    #[must_use]
    pub fn decl_of(&self, node: NodeId) -> Option<DeclId> {
        let Node { link, .. } = self.nodes[node.index()];
        let named = matches!(self.node_kind(node), NodeKind::Name | NodeKind::Declared);
        (named && link != Node::UNRESOLVED).then_some(DeclId(link))
    }

    /// A declaration.
    #[must_use]
    pub fn decl(&self, decl: DeclId) -> &Decl {
        &self.decls[decl.index()]
    }

    /// The scope in which a declaration is in force; for parameters, the body of their function.
    #[must_use]
    pub fn decl_scope(&self, decl: DeclId) -> ScopeId {
        self.decls[decl.index()].scope
    }

    /// All declarations, in the order of the text.
    pub fn decls(&self) -> impl ExactSizeIterator<Item = DeclId> + use<> {
        (0..index32(self.decls.len())).map(DeclId)
    }

    /// A scope.
    #[must_use]
    pub fn scope(&self, scope: ScopeId) -> &Scope {
        &self.scopes[scope.index()]
    }

    /// The leaves of the tree: every token with the statement it belongs to, and the leaf node if it is one.
    ///
    /// Punctuation, opcodes and the words of directives belong to their statement directly.
    pub fn leaves(&self) -> impl Iterator<Item = Leaf> + '_ {
        self.stmts().flat_map(move |stmt| {
            let mut owners: Vec<(u32, NodeId)> = self
                .stmt_nodes(stmt)
                .filter(|&n| self.node_kind(n).is_leaf())
                .map(|n| (self.nodes[n.index()].first, n))
                .collect();
            owners.sort_unstable_by_key(|&(token, _)| token);
            let mut owners = owners.into_iter().peekable();
            self.stmt_tokens(stmt).map(move |token| {
                let node = owners.next_if(|&(t, _)| t == token).map(|(_, node)| node);
                Leaf { token: TokenId(token), stmt, node }
            })
        })
    }
}

/// A leaf of the tree.
#[derive(Clone, Copy, Debug)]
pub struct Leaf {
    /// The token that the leaf is.
    pub token: TokenId,
    /// The statement that it belongs to.
    pub stmt: StmtId,
    /// The leaf node that it is; `None` for what belongs to the statement or a composite node directly.
    pub node: Option<NodeId>,
}
