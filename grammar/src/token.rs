//! Tokens: the leaves of the tree.
//!
//! The lexer runs over bytes, because the assembler takes any byte in a comment. Blanks and comments are not
//! tokens; every other byte of the input belongs to exactly one token, a malformed one included: an error is a
//! token too, so that lexing never stops early and one run can report several errors. Block comments and
//! strings are scanned with `memchr`, so that repeated unclosed openers cost linear time.

use crate::tree::{Span, TokenId, index32};
use logos::{Lexer, Logos};

/// The kind of a token: what the grammar distinguishes.
///
/// Opcodes are words, never keywords: an opcode with all its modifiers is one [`Tok::Dotted`]. Only directives
/// that change the *shape* of a statement have kinds of their own; all others are [`Tok::Directive`].
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[logos(utf8 = false)]
#[logos(skip(b"[ \t\r\n\x0c\x1a\\\\]+"))]
#[logos(skip(b"//[^\n]*", allow_greedy = true))]
#[repr(u8)]
pub enum Tok {
    /// An identifier without a dot: a register, a symbol, a label, a plain opcode, or the sink `_`.
    #[regex(b"[A-Za-z_$%][A-Za-z0-9_$]*", priority = 4)]
    Word,
    /// A word with suffixes: an opcode with its modifiers, `%tid.x`, `V.x`, `%r1.b3210`.
    #[regex(
        b"[A-Za-z_$%][A-Za-z0-9_$]*(\\.[A-Za-z0-9_$]+(::[A-Za-z0-9_$]+)*(::[0-9]:[0-9])?)+",
        priority = 4
    )]
    Dotted,
    /// `call` with its modifiers: the one opcode whose operands have a shape of their own.
    #[regex(b"call(\\.[A-Za-z0-9_$]+(::[A-Za-z0-9_$]+)*)*", priority = 20)]
    Call,
    /// The integer constant `WARP_SZ`.
    #[token(b"WARP_SZ", priority = 30)]
    WarpSize,
    /// An integer literal.
    #[regex(b"0[xX][0-9a-fA-F]+U?", priority = 10)]
    #[regex(b"0[bB][01]+U?", priority = 10)]
    #[regex(b"0[0-7]*U?", priority = 10)]
    #[regex(b"[1-9][0-9]*U?", priority = 10)]
    Int,
    /// A floating-point literal, decimal or by its bits (`0f…`, `0d…`).
    #[regex(b"[0-9]+\\.[0-9]*([eE][+-]?[0-9]+)?", priority = 10)]
    #[regex(b"\\.[0-9]+([eE][+-]?[0-9]+)?", priority = 10)]
    #[regex(b"[0-9]+[eE][+-]?[0-9]+", priority = 10)]
    #[regex(b"0[fF][0-9a-fA-F]{8}", priority = 10)]
    #[regex(b"0[dD][0-9a-fA-F]{16}", priority = 10)]
    Float,
    /// A string in double quotes.
    #[token(b"\"", string)]
    Str,

    /// `;`
    #[token(b";")]
    Semicolon,
    /// `,`
    #[token(b",")]
    Comma,
    /// `:`
    #[token(b":")]
    Colon,
    /// `{`
    #[token(b"{")]
    LBrace,
    /// `}`
    #[token(b"}")]
    RBrace,
    /// `[`
    #[token(b"[")]
    LBracket,
    /// `]`
    #[token(b"]")]
    RBracket,
    /// `(`
    #[token(b"(")]
    LParen,
    /// `)`
    #[token(b")")]
    RParen,
    /// `<`
    #[token(b"<")]
    Less,
    /// `>`
    #[token(b">")]
    Greater,
    /// `=`
    #[token(b"=")]
    Equals,
    /// `|`
    #[token(b"|")]
    Pipe,
    /// `!`
    #[token(b"!")]
    Bang,
    /// `~`
    #[token(b"~")]
    Tilde,
    /// `+`
    #[token(b"+")]
    Plus,
    /// `-`
    #[token(b"-")]
    Minus,
    /// `?`
    #[token(b"?")]
    Question,
    /// `@`
    #[token(b"@")]
    At,
    /// Any other binary operator of constant expressions.
    #[token(b"*")]
    #[token(b"/")]
    #[token(b"%", priority = 5)]
    #[token(b"&")]
    #[token(b"^")]
    #[token(b"<<")]
    #[token(b">>")]
    #[token(b"<=")]
    #[token(b">=")]
    #[token(b"==")]
    #[token(b"!=")]
    #[token(b"&&")]
    #[token(b"||")]
    Operator,

    /// `.version 8.0`: the number belongs to the word, and no newline may come between.
    #[regex(b"\\.version[ \t]+[0-9]+\\.[0-9]+", priority = 20)]
    Version,
    /// `.target`
    #[token(b".target", priority = 20)]
    Target,
    /// `.address_size`
    #[token(b".address_size", priority = 20)]
    AddressSize,
    /// `.extern`, `.visible`, `.weak`, `.common`
    #[token(b".extern", priority = 20)]
    #[token(b".visible", priority = 20)]
    #[token(b".weak", priority = 20)]
    #[token(b".common", priority = 20)]
    Linkage,
    /// `.entry`
    #[token(b".entry", priority = 20)]
    Entry,
    /// `.func`
    #[token(b".func", priority = 20)]
    Func,
    /// `.reg`
    #[token(b".reg", priority = 20)]
    Reg,
    /// A state space that variables live in.
    #[token(b".global", priority = 20)]
    #[token(b".const", priority = 20)]
    #[token(b".shared", priority = 20)]
    #[token(b".local", priority = 20)]
    #[token(b".param", priority = 20)]
    #[token(b".tex", priority = 20)]
    Space,
    /// `.align`
    #[token(b".align", priority = 20)]
    Align,
    /// `.attribute`
    #[token(b".attribute", priority = 20)]
    Attribute,
    /// `.ptr`
    #[token(b".ptr", priority = 20)]
    Ptr,
    /// `.file`
    #[token(b".file", priority = 20)]
    File,
    /// `.loc`, `.loc_intermediate`
    #[token(b".loc", priority = 20)]
    #[token(b".loc_intermediate", priority = 20)]
    Loc,
    /// `.section`
    #[token(b".section", priority = 20)]
    Section,
    /// `.pragma`
    #[token(b".pragma", priority = 20)]
    Pragma,
    /// `.alias`
    #[token(b".alias", priority = 20)]
    Alias,
    /// `.branchtargets`
    #[token(b".branchtargets", priority = 20)]
    BranchTargets,
    /// `.calltargets`
    #[token(b".calltargets", priority = 20)]
    CallTargets,
    /// `.callprototype`
    #[token(b".callprototype", priority = 20)]
    CallPrototype,
    /// Any other word that begins with a dot: a type, a performance directive, one nobody has heard of.
    #[regex(b"\\.[A-Za-z_$][A-Za-z0-9_$]*(::[A-Za-z0-9_$]+)*", priority = 4)]
    Directive,
    /// Source text between `.source_begin` and `.source_end`, both included.
    #[token(b".source_begin", source_text, priority = 20)]
    SourceText,
    /// `# 1 "file"`: where a preprocessor says the text came from. It may stand inside a statement.
    #[regex(b"#[ \t]*[0-9]+[ \t]+\"[^\"\n]*\"[^\n]*", allow_greedy = true)]
    LineMarker,
    /// A line that begins with `@@DWARF`: debug data in the form of PTX before 2.0.
    #[regex(b"@@DWARF[^\n]*", allow_greedy = true)]
    DwarfLine,

    /// Digits that are no literal.
    #[regex(b"[0-9][A-Za-z0-9_$.]*", priority = 2)]
    BadNumber,
    /// A `/*` without its `*/`: reaches to the end of the input.
    #[token(b"/*", block_comment)]
    UnclosedComment,
    /// A string without its closing quote: reaches to the end of the input.
    UnclosedString,
    /// A byte that can begin no token.
    Junk,
    /// A token of a statement that is kept verbatim because nobody has heard of its form.
    Opaque,
}

fn string(lex: &mut Lexer<'_, Tok>) -> Tok {
    let rest = lex.remainder();
    match memchr::memchr(b'"', rest) {
        Some(at) => {
            lex.bump(at + 1);
            Tok::Str
        }
        None => {
            lex.bump(rest.len());
            Tok::UnclosedString
        }
    }
}

fn block_comment(lex: &mut Lexer<'_, Tok>) -> logos::FilterResult<Tok, ()> {
    let rest = lex.remainder();
    match memchr::memmem::find(rest, b"*/") {
        Some(at) => {
            lex.bump(at + 2);
            logos::FilterResult::Skip
        }
        None => {
            lex.bump(rest.len());
            logos::FilterResult::Emit(Tok::UnclosedComment)
        }
    }
}

fn source_text(lex: &mut Lexer<'_, Tok>) -> Tok {
    let rest = lex.remainder();
    let end = b".source_end";
    match memchr::memmem::find(rest, end) {
        Some(at) => {
            lex.bump(at + end.len());
            Tok::SourceText
        }
        None => Tok::Directive,
    }
}

/// The tokens of a text, in order: six bytes each.
#[derive(Debug, Default)]
pub struct Tokens {
    kinds: Vec<Tok>,
    starts: Vec<u32>,
    /// The length in bytes, or [`LONG`] for one listed in `long`.
    lengths: Vec<u8>,
    /// Tokens of [`LONG`] bytes or more, in order.
    long: Vec<(u32, u32)>,
}

const LONG: u8 = u8::MAX;

impl Tokens {
    /// Cuts `text` into tokens.
    ///
    /// # Panics
    ///
    /// If the text is 4 GiB or longer, which [`crate::parse()`] reports as an error.
    #[must_use]
    pub fn new(text: &[u8]) -> Self {
        assert!(u32::try_from(text.len()).is_ok(), "offsets have 32 bits");
        let mut tokens = Self::default();
        // Kernels average some five bytes a token; too little costs a copy, too much only address space.
        let guess = text.len() / 5;
        tokens.kinds.reserve(guess);
        tokens.starts.reserve(guess);
        tokens.lengths.reserve(guess);
        let mut lexer = Tok::lexer(text);
        while let Some(tok) = lexer.next() {
            let span = lexer.span();
            tokens.push(tok.unwrap_or(Tok::Junk), index32(span.start), index32(span.len()));
        }
        tokens
    }

    fn push(&mut self, kind: Tok, start: u32, length: u32) {
        match u8::try_from(length) {
            Ok(short) if short < LONG => self.lengths.push(short),
            Ok(_) | Err(_) => {
                self.long.push((index32(self.kinds.len()), length));
                self.lengths.push(LONG);
            }
        }
        self.kinds.push(kind);
        self.starts.push(start);
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// The kind of `token`.
    #[must_use]
    pub fn kind(&self, token: TokenId) -> Tok {
        self.kinds[token.index()]
    }

    pub(crate) fn kinds(&self) -> &[Tok] {
        &self.kinds
    }

    pub(crate) fn set_kind(&mut self, token: TokenId, kind: Tok) {
        self.kinds[token.index()] = kind;
    }

    /// Where `token` begins; for the one past the last, where the last one ends.
    #[must_use]
    pub fn start(&self, token: TokenId) -> usize {
        match self.starts.get(token.index()) {
            Some(&start) => start as usize,
            None => self.len().checked_sub(1).map_or(0, |last| self.span(TokenId(index32(last))).end),
        }
    }

    /// The bytes of `token`.
    #[must_use]
    pub fn span(&self, token: TokenId) -> Span {
        let start = self.starts[token.index()] as usize;
        let length = match self.lengths[token.index()] {
            LONG => {
                let at = self.long.binary_search_by_key(&token.0, |&(id, _)| id);
                self.long[at.expect("every long token is listed when it is pushed")].1 as usize
            }
            short => usize::from(short),
        };
        start..start + length
    }

    /// All tokens, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = TokenId> + ExactSizeIterator + use<> {
        (0..index32(self.len())).map(TokenId)
    }
}
