//! What the grammar's productions do: append to the flat arrays of a module.
//!
//! A production appends its nodes when it is reduced, so that the arrays are in the order of the text and a
//! composite node follows its children. Rules that the grammar cannot express (a variable needs one state space and a
//! type) are checked here, and violations become diagnostics; the resolver of names runs over the finished arrays.

use crate::diagnostic::Diagnostic;
use crate::legal::unknown_type;
use crate::names::{Decl, DeclKind, Scope, Type};
use crate::spelling::Spellings;
use crate::table::types::TypeWord;
use crate::token::{Tok, Tokens};
use crate::tree::{Node, NodeKind, ScopeId, Span, Stmt, StmtId, StmtKind, TokenId, index32};
use lalrpop_util::ErrorRecovery;

/// The grammar's error type carries nothing: positions and expectations come from the parser itself.
pub(crate) type Recovery = ErrorRecovery<u32, Tok, ()>;

/// A tree under construction.
pub(crate) struct Builder<'t> {
    pub(crate) text: &'t [u8],
    pub(crate) tokens: &'t Tokens,
    pub(crate) stmts: Vec<Stmt>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) decls: Vec<Decl>,
    pub(crate) scopes: Vec<Scope>,
    pub(crate) spellings: Spellings,
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) recoveries: Vec<Recovery>,
    open_scopes: Vec<u32>,
    /// The first declaration of the current statement, whose type is not known yet.
    undefined_from: usize,
}

impl<'t> Builder<'t> {
    pub(crate) fn new(text: &'t [u8], tokens: &'t Tokens) -> Self {
        Self {
            text,
            tokens,
            stmts: Vec::with_capacity(tokens.len() / 6),
            nodes: Vec::with_capacity(tokens.len() / 2),
            decls: Vec::new(),
            scopes: vec![Scope { parent: None, open: None }],
            spellings: Spellings::default(),
            diagnostics: Vec::new(),
            recoveries: Vec::new(),
            open_scopes: vec![0],
            undefined_from: 0,
        }
    }

    fn text_of(&self, token: u32) -> &'t [u8] {
        &self.text[self.tokens.span(TokenId(token))]
    }

    fn span(&self, first: u32, end: u32) -> Span {
        let last = end.max(first + 1) - 1;
        self.tokens.span(TokenId(first)).start..self.tokens.span(TokenId(last)).end
    }

    // ---- statements ----------------------------------------------------------------------------------------

    pub(crate) fn stmt(&mut self, kind: StmtKind, first: u32) {
        self.push_stmt(kind, first, 0);
    }

    fn push_stmt(&mut self, kind: StmtKind, first: u32, payload: u32) {
        self.stmts.push(Stmt { first, nodes_end: index32(self.nodes.len()), payload, kind });
    }

    pub(crate) fn instruction(&mut self, first: u32, spelling: u32) {
        self.push_stmt(StmtKind::Instruction, first, spelling);
    }

    pub(crate) fn spelling(&mut self, token: u32) -> u32 {
        self.spellings.intern(self.text, self.tokens.span(TokenId(token))).0
    }

    /// The spelling of an opcode that has blanks before some of its modifiers.
    pub(crate) fn split_spelling(&mut self, first: u32, end: u32) -> u32 {
        let words = (first..end).filter(|&token| self.tokens.kind(TokenId(token)) != Tok::LineMarker);
        let words: Vec<u8> = words.flat_map(|token| self.text_of(token)).copied().collect();
        self.spellings.intern_split(self.text, &words, self.span(first, end)).0
    }

    pub(crate) fn open(&mut self, token: u32) {
        let scope = index32(self.scopes.len());
        let parent = self.open_scopes.last().map(|&s| ScopeId(s));
        self.scopes.push(Scope { parent, open: Some(StmtId(index32(self.stmts.len()))) });
        self.open_scopes.push(scope);
        self.push_stmt(StmtKind::Open, token, scope);
    }

    pub(crate) fn close(&mut self, token: u32) {
        let scope = self.open_scopes.pop().unwrap_or(0);
        self.push_stmt(StmtKind::Close, token, scope);
    }

    /// A statement that is a label, already declared.
    pub(crate) fn label(&mut self, first: u32) {
        self.define(DeclKind::Label, Type::None, 1);
        self.stmt(StmtKind::Label, first);
    }

    /// A list of targets or a prototype, whose label is already declared.
    pub(crate) fn table(&mut self, kind: StmtKind, first: u32) {
        self.define(DeclKind::Table, Type::None, 1);
        self.stmt(kind, first);
    }

    pub(crate) fn section_label(&mut self, token: u32) {
        self.declared(token);
        self.define(DeclKind::SectionLabel, Type::None, 1);
    }

    pub(crate) fn prototype_name(&mut self, token: u32) {
        self.leaf(NodeKind::Word, token);
        if self.text_of(token) != b"_" {
            let found = Diagnostic::new(self.span(token, token + 1), "a call prototype has no name");
            self.diagnostics.push(found.label("expected `_`"));
        }
    }

    pub(crate) fn unknown(&mut self, first: u32, end: u32) {
        // Whether a further line still belongs to an unknown directive cannot be decided, unless the line before it
        // ends in a comma or inside brackets.
        let types = |token| Type::parse(self.text_of(token)).is_known();
        // A type as first or second word: the directive is a declaration without a state space, or a misspelt one. The
        // assembler takes a type that stands alone, and declares nothing.
        let is_alone = self.tokens.kind(TokenId(first + 1)) == Tok::Semicolon;
        if !is_alone && types(first) || first + 1 < end && types(first + 1) {
            let found = Diagnostic::new(self.span(first, first + 1), "a declaration needs a state space");
            self.diagnostics.push(found.label("expected a state space such as `.reg` before the type"));
            return self.stmt(StmtKind::Unknown, first);
        }
        let mut depth = 0_u32;
        for token in first..end {
            let ends_open = token > first && self.tokens.kind(TokenId(token - 1)) == Tok::Comma;
            if token > first && depth == 0 && !ends_open && self.begins_line(token) {
                let span = self.tokens.span(TokenId(token));
                let word = String::from_utf8_lossy(self.text_of(first)).into_owned();
                self.diagnostics.push(
                    Diagnostic::new(span, format!("cannot tell where the unknown directive `{word}` ends"))
                        .label("expected `;` before this line")
                        .related(self.tokens.span(TokenId(first)), "the directive begins here"),
                );
                break;
            }
            let kind = self.tokens.kind(TokenId(token));
            if matches!(kind, Tok::LParen | Tok::LBracket) {
                depth += 1;
            } else if matches!(kind, Tok::RParen | Tok::RBracket) {
                depth = depth.saturating_sub(1);
            }
        }
        self.stmt(StmtKind::Unknown, first);
    }

    fn begins_line(&self, token: u32) -> bool {
        let before = self.tokens.span(TokenId(token - 1)).end;
        memchr::memchr(b'\n', &self.text[before..self.tokens.start(TokenId(token))]).is_some()
    }

    pub(crate) fn recovered(&mut self, recovery: Recovery) {
        self.recoveries.push(recovery);
    }

    // ---- nodes ---------------------------------------------------------------------------------------------

    pub(crate) fn leaf(&mut self, kind: NodeKind, token: u32) {
        self.nodes.push(Node::new(kind, token, Node::UNRESOLVED, 0));
    }

    pub(crate) fn leaf_counted(&mut self, kind: NodeKind, token: u32) -> u32 {
        self.leaf(kind, token);
        1
    }

    /// Appends a composite node over the last `below` nodes; `end` is the token after its last.
    pub(crate) fn node(&mut self, kind: NodeKind, first: u32, end: u32, below: u32) -> u32 {
        if below > Node::MOST_BELOW {
            let message = format!("more than {} elements in one list", Node::MOST_BELOW);
            self.diagnostics.push(Diagnostic::new(self.tokens.span(TokenId(first)), message));
        }
        self.nodes.push(Node::new(kind, first, end - 1, below.min(Node::MOST_BELOW)));
        below + 1
    }

    // ---- declarations --------------------------------------------------------------------------------------

    pub(crate) fn declared(&mut self, token: u32) -> u32 {
        let decl = index32(self.decls.len());
        self.decls.push(Decl {
            name: TokenId(token),
            stmt: StmtId(index32(self.stmts.len())),
            kind: DeclKind::Variable,
            ty: Type::None,
            lanes: 1,
            scope: ScopeId(self.open_scopes.last().copied().unwrap_or(0)),
            family: None,
        });
        self.nodes.push(Node::new(NodeKind::Declared, token, decl, 0));
        1
    }

    /// Gives the last declared name the family size that was just parsed.
    pub(crate) fn family(&mut self) {
        let [.., size, _family] = self.nodes[..] else { return };
        let digits = self.text_of(size.first);
        let value = crate::constant::literal(digits).and_then(|value| u32::try_from(value).ok());
        if value.is_none() {
            let span = self.tokens.span(TokenId(size.first));
            self.diagnostics.push(
                Diagnostic::new(span, "the size of a family of names must fit in 32 bits")
                    .label("expected a number below 4294967296"),
            );
        }
        if let Some(decl) = self.decls.last_mut() {
            decl.family = Some(value.unwrap_or(0));
        }
    }

    fn define(&mut self, kind: DeclKind, ty: Type, lanes: u8) {
        for decl in &mut self.decls[self.undefined_from..] {
            (decl.kind, decl.ty, decl.lanes) = (kind, ty, lanes);
        }
        self.undefined_from = self.decls.len();
    }

    pub(crate) fn function(&mut self, token: u32) {
        // Return parameters come before the name, and are complete by then.
        self.declared(token);
        self.define(DeclKind::Function, Type::None, 1);
    }

    /// A property of a function, with the number of its arguments.
    pub(crate) fn property(&mut self, word: u32, arguments: u32) {
        let Some((_, least, most)) = PROPERTIES.iter().find(|(name, ..)| *name == self.text_of(word)) else {
            return;
        };
        if !(*least..=*most).contains(&arguments) {
            let name = String::from_utf8_lossy(self.text_of(word)).into_owned();
            let label = match (least, most) {
                (0, 0) => "expected no argument".to_owned(),
                (1, 1) => "expected one argument".to_owned(),
                (least, most) => format!("expected {least} to {most} arguments"),
            };
            let message = format!("wrong number of arguments for `{name}`");
            self.diagnostics.push(Diagnostic::new(self.span(word, word + 1), message).label(label));
        }
    }

    /// A minus sign may not stand before a float that is given by its bits.
    pub(crate) fn minus(&mut self, token: u32) {
        if self.tokens.kind(TokenId(token + 1)) == Tok::Float && self.text_of(token + 1).len() > 1 {
            let text = self.text_of(token + 1);
            if text[0] == b'0' && matches!(text[1], b'f' | b'F' | b'd' | b'D') {
                let found = Diagnostic::new(
                    self.span(token, token + 2),
                    "a literal given by its bits cannot be negated",
                );
                self.diagnostics.push(found.label("expected the bits of the negative number"));
            }
        }
    }

    pub(crate) fn returns(&mut self) {
        self.undefined_from = self.decls.len();
    }

    /// A parameter of `heads` and `declarator` nodes.
    pub(crate) fn parameter(&mut self, first: u32, heads: u32, declarator: u32) {
        let end = self.nodes.len() - declarator as usize;
        let nodes = end - heads as usize..end;
        self.parameter_words(nodes.clone());
        let head = self.head(nodes);
        let space = head.spaces.first().copied();
        let kind = match space.map(|token| self.text_of(token)) {
            Some(b".param") => DeclKind::Parameter,
            Some(b".reg") => DeclKind::Register,
            Some(_) | None => {
                let span = self.tokens.span(TokenId(first));
                let found = Diagnostic::new(span, "a parameter needs a state space");
                self.diagnostics.push(found.label("expected `.param` or `.reg`"));
                DeclKind::Parameter
            }
        };
        if head.ty == Type::None {
            self.missing_type(first, "a parameter");
        }
        self.check_type(&head);
        self.define(kind, head.ty, head.lanes);
    }

    /// A parameter of a prototype: it declares nothing.
    pub(crate) fn prototype_parameter(&mut self, first: u32, heads: u32, declarator: u32) {
        let end = self.nodes.len() - declarator as usize;
        let nodes = end - heads as usize..end;
        self.parameter_words(nodes.clone());
        let head = self.head(nodes);
        if head.ty == Type::None {
            self.missing_type(first, "a parameter");
        }
        self.check_type(&head);
    }

    /// After the type of a parameter there may be `.ptr`, then a state space, and alignments; each of them once.
    fn parameter_words(&mut self, nodes: std::ops::Range<usize>) {
        let mut typed = false;
        let (mut pointer, mut space) = (false, false);
        for node in &self.nodes[nodes] {
            if node.kind() != NodeKind::Directive {
                continue;
            }
            let kind = self.tokens.kind(TokenId(node.first));
            let expected = if kind == Tok::Ptr && typed && !pointer && !space {
                pointer = true;
                continue;
            } else if kind == Tok::Space && pointer && !space {
                space = true;
                continue;
            } else if matches!(kind, Tok::Space | Tok::Reg) && !typed {
                continue;
            } else if kind == Tok::Directive && !typed {
                // `.v4` and its like come before the type.
                typed = !matches!(self.text_of(node.first), [b'.', b'v', ..]);
                continue;
            } else if kind == Tok::Ptr {
                if typed { "expected only one `.ptr`" } else { "expected the type before `.ptr`" }
            } else if kind == Tok::Directive {
                "expected only one type"
            } else {
                "expected the name of the parameter, or `.ptr` before a state space"
            };
            let word = String::from_utf8_lossy(self.text_of(node.first)).into_owned();
            let found =
                Diagnostic::new(self.tokens.span(TokenId(node.first)), format!("unexpected `{word}`"));
            self.diagnostics.push(found.label(expected));
        }
    }

    /// Checks that the type of a declaration is one that registers and variables may have.
    fn check_type(&mut self, head: &Head) {
        let Some(token) = head.type_token.filter(|_| !head.ty.is_declared()) else { return };
        let word = self.text_of(token).strip_prefix(b".").unwrap_or_default();
        let span = self.tokens.span(TokenId(token));
        let found = match TypeWord::parse(word) {
            Some(ty) => {
                Diagnostic::new(span, format!("no register or variable has the type `.{}`", ty.word()))
                    .label("expected an untyped one of the same size, such as `.b16` or `.b32`")
            }
            None => {
                let known = Type::ALL.iter().filter(|ty| ty.is_declared());
                unknown_type(span, word, known.map(|ty| ty.word().trim_start_matches('.')))
            }
        };
        self.diagnostics.push(found);
    }

    /// Checks the word after an address: only `.unified`, for a texture with its sampler, is legal.
    pub(crate) fn address_suffix(&mut self, token: u32) {
        self.one_of(token, &[".unified"], "`,`, `;` or `.unified`");
    }

    /// Checks what an attribute says of a variable or a function.
    pub(crate) fn attribute(&mut self, token: u32) {
        self.one_of(token, &[".managed", ".unified"], "`.managed` or `.unified`");
    }

    /// Complains of a word that the lexer only knows to begin with a dot, unless it is one of the `legal`.
    fn one_of(&mut self, token: u32, legal: &[&str], expected: &str) {
        let word = self.text_of(token);
        if !legal.iter().any(|legal| legal.as_bytes() == word) {
            let word = String::from_utf8_lossy(word).into_owned();
            let found = Diagnostic::new(self.span(token, token + 1), format!("unexpected `{word}`"));
            self.diagnostics.push(found.label(format!("expected {expected}")));
        }
    }

    /// A word that the syntax fixes.
    pub(crate) fn fixed_word(&mut self, token: u32, wanted: &str) {
        self.leaf(NodeKind::Word, token);
        if self.text_of(token) != wanted.as_bytes() {
            let word = String::from_utf8_lossy(self.text_of(token)).into_owned();
            let found = Diagnostic::new(self.span(token, token + 1), format!("unexpected `{word}`"));
            self.diagnostics.push(found.label(format!("expected `{wanted}`")));
        }
    }

    pub(crate) fn section_name(&mut self, token: u32) {
        self.leaf(NodeKind::Directive, token);
        if Type::parse(self.text_of(token)).is_known() {
            let found = Diagnostic::new(self.span(token, token + 1), "a type is no name of a section");
            self.diagnostics.push(found.label("expected a name such as `.debug_info`"));
        }
    }

    /// The type of numbers in a section.
    pub(crate) fn section_numbers(&mut self, token: u32) {
        self.section_type(
            token,
            &[b".b8", b".b16", b".b32", b".b64"],
            "expected `.b8`, `.b16`, `.b32` or `.b64`",
        );
    }

    /// The type of a place in a section: a label or another section.
    pub(crate) fn section_place(&mut self, token: u32) {
        self.section_type(token, &[b".b32", b".b64"], "expected `.b32` or `.b64`, since a place follows");
    }

    fn section_type(&mut self, token: u32, types: &[&[u8]], expected: &'static str) {
        if !types.contains(&self.text_of(token)) {
            let word = String::from_utf8_lossy(self.text_of(token)).into_owned();
            let found = Diagnostic::new(
                self.span(token, token + 1),
                format!("`{word}` is no type of data in a section"),
            );
            self.diagnostics.push(found.label(expected));
        }
    }

    /// The word before the name of a variable in parentheses, where a variable is initialised.
    pub(crate) fn address_of(&mut self, token: u32) {
        if self.text_of(token) != b"generic" {
            let word = String::from_utf8_lossy(self.text_of(token)).into_owned();
            let found = Diagnostic::new(self.span(token, token + 1), format!("`{word}` gives no address"));
            self.diagnostics.push(found.label("expected `generic`, the name of a variable or a mask"));
        }
    }

    /// A value in a section that is a directive: the name of a section.
    pub(crate) fn section_value(&mut self, token: u32) {
        if Type::parse(self.text_of(token)).is_known() {
            let found = Diagnostic::new(self.span(token, token + 1), "a type is no value");
            self.diagnostics.push(found.label("expected a number, a label or the name of a section"));
        }
    }

    fn missing_type(&mut self, first: u32, what: &str) {
        let span = self.tokens.span(TokenId(first));
        self.diagnostics.push(
            Diagnostic::new(span, format!("{what} needs a type")).label("expected a type such as `.b32`"),
        );
    }

    /// The end of a declaration of registers or variables.
    pub(crate) fn variables(&mut self, kind: StmtKind, first: u32) {
        let start = self.stmts.last().map_or(0, |stmt| stmt.nodes_end as usize);
        let length = self.nodes[start..].iter().take_while(|node| node.kind() != NodeKind::Declared).count();
        let head = self.head(start..start + length);
        let decl = if kind == StmtKind::Register { DeclKind::Register } else { DeclKind::Variable };
        if decl == DeclKind::Variable && head.spaces.is_empty() {
            let span = self.tokens.span(TokenId(first));
            let found = Diagnostic::new(span, "a variable needs a state space");
            self.diagnostics.push(found.label("expected a state space such as `.global`"));
        }
        if let Some(linkage) = head.linkage.filter(|_| self.open_scopes.len() > 1) {
            let found = Diagnostic::new(self.span(linkage, linkage + 1), "linkage inside a function");
            self.diagnostics.push(found.label("expected a declaration without linkage"));
        }
        if let Some(linkage) = head.linkage.filter(|_| head.linkage_twice) {
            self.second_linkage(linkage);
        }
        if let Some(second) = head.second_length {
            let found = Diagnostic::new(self.span(second, second + 1), "a second length of a vector");
            self.diagnostics.push(found.label("expected a type such as `.b32`"));
        }
        if let Some(late) = head.after_type {
            self.diagnostics.push(self.late(&head, late));
        } else {
            self.check_type(&head);
        }
        if head.ty == Type::None {
            self.missing_type(first, if decl == DeclKind::Register { "a register" } else { "a variable" });
        }
        self.define(decl, head.ty, head.lanes);
        self.stmt(kind, first);
    }

    /// The error for a word that stands after the type, or after a word in its place that is none.
    fn late(&self, head: &Head, late: u32) -> Diagnostic {
        let word = |token: u32| String::from_utf8_lossy(self.text_of(token)).into_owned();
        match head.type_token.filter(|_| head.ty == Type::Unknown) {
            Some(token) => {
                let message = format!("`{}` is no type, and no length of a vector", word(token));
                let found = Diagnostic::new(self.span(token, token + 1), message);
                found.label(format!("expected `.v2`, `.v4` or nothing before `{}`", word(late)))
            }
            None => Diagnostic::new(self.span(late, late + 1), "this must come before the type")
                .label("expected the declared name"),
        }
    }

    fn head(&self, nodes: std::ops::Range<usize>) -> Head {
        let mut head = Head {
            spaces: Vec::new(),
            linkage: None,
            linkage_twice: false,
            after_type: None,
            second_length: None,
            type_token: None,
            ty: Type::None,
            lanes: 1,
        };
        for node in &self.nodes[nodes] {
            if head.ty != Type::None && node.kind() != NodeKind::Int {
                head.after_type.get_or_insert(node.first);
            }
            if node.kind() != NodeKind::Directive {
                continue;
            }
            let word = self.text_of(node.first);
            let kind = self.tokens.kind(TokenId(node.first));
            if matches!(kind, Tok::Space | Tok::Reg) {
                head.spaces.push(node.first);
            } else if kind == Tok::Linkage {
                head.linkage_twice |= head.linkage.is_some();
                head.linkage = Some(node.first);
            } else if let [b'.', b'v', lanes @ (b'2' | b'4')] = word {
                head.second_length = head.second_length.or((head.lanes > 1).then_some(node.first));
                head.lanes = lanes - b'0';
            } else if kind == Tok::Directive && head.ty == Type::None {
                head.ty = Type::parse(word);
                head.type_token = Some(node.first);
            }
        }
        head
    }

    fn second_linkage(&mut self, token: u32) {
        let found = Diagnostic::new(self.span(token, token + 1), "a second linkage directive");
        self.diagnostics
            .push(found.label("expected at most one of `.extern`, `.visible`, `.weak`, `.common`"));
    }

    /// The end of a function's header: what stands before `.entry` or `.func` may only be linkage.
    pub(crate) fn header(&mut self, kind: StmtKind, first: u32) {
        let mut token = first;
        while !matches!(self.tokens.kind(TokenId(token)), Tok::Entry | Tok::Func) {
            let kind = self.tokens.kind(TokenId(token));
            if !matches!(kind, Tok::Linkage | Tok::LineMarker) {
                let found =
                    Diagnostic::new(self.span(token, token + 1), "this may not stand before a function");
                self.diagnostics.push(found.label("expected a linkage directive, `.entry` or `.func`"));
                break;
            }
            if token > first && kind == Tok::Linkage {
                self.second_linkage(token);
            }
            token += 1;
        }
        self.undefined_from = self.decls.len();
        self.stmt(kind, first);
    }
}

/// What the words before a declared name say.
struct Head {
    spaces: Vec<u32>,
    linkage: Option<u32>,
    linkage_twice: bool,
    /// The first token that follows the type.
    after_type: Option<u32>,
    /// The second length of a vector, of which there may be one.
    second_length: Option<u32>,
    type_token: Option<u32>,
    ty: Type,
    lanes: u8,
}

/// The properties of functions with the least and the most arguments they take.
///
/// Source: <https://docs.nvidia.com/cuda/parallel-thread-execution/#performance-tuning-directives> and the pages
/// after it; counts as the assembler takes them.
pub(crate) const PROPERTIES: &[(&[u8], u32, u32)] = &[
    (b".abi_preserve", 1, 1),
    (b".abi_preserve_control", 1, 1),
    (b".blocksareclusters", 0, 0),
    (b".explicitcluster", 0, 0),
    (b".language", 1, 2),
    (b".maxclusterrank", 1, 1),
    (b".maxnctapersm", 1, 1),
    (b".maxnreg", 1, 1),
    (b".maxntid", 1, 3),
    (b".minnctapersm", 1, 1),
    (b".minperctamemory", 1, 1),
    (b".noreturn", 0, 0),
    (b".reqnctapercluster", 1, 3),
    (b".reqntid", 1, 3),
];
