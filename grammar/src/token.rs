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
    #[regex(b"[A-Za-z_$%]", word)]
    Word,
    /// A word with suffixes: an opcode with its modifiers, `%tid.x`, `V.x`, `%r1.b3210`.
    Dotted,
    /// `call` with its modifiers: the one opcode whose operands have a shape of their own.
    Call,
    /// The integer constant `WARP_SZ`.
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
    Version,
    /// `.target`
    Target,
    /// `.address_size`
    AddressSize,
    /// `.extern`, `.visible`, `.weak`, `.common`
    Linkage,
    /// `.entry`
    Entry,
    /// `.func`
    Func,
    /// `.reg`
    Reg,
    /// A state space that variables live in.
    Space,
    /// `.align`
    Align,
    /// `.attribute`
    Attribute,
    /// `.ptr`
    Ptr,
    /// `.file`
    File,
    /// `.loc`, `.loc_intermediate`
    Loc,
    /// `.section`
    Section,
    /// `.pragma`
    Pragma,
    /// `.alias`
    Alias,
    /// `.branchtargets`
    BranchTargets,
    /// `.calltargets`
    CallTargets,
    /// `.callprototype`
    CallPrototype,
    /// Any other word that begins with a dot: a type, a performance directive, an unknown directive.
    #[regex(b"\\.[A-Za-z_$]", directive)]
    Directive,
    /// Source text between `.source_begin` and `.source_end`, both included.
    SourceText,
    /// `# 1 "file"` or `#line 1 "file"`: a preprocessor's note on where the text came from. It may stand inside a
    /// statement.
    #[regex(b"#[ \t]*(line)?[ \t]*[0-9]+[ \t]+\"[^\"]*\"[^\n]*", allow_greedy = true)]
    LineMarker,
    /// A line that begins with `@@DWARF`: debug data in the form of PTX before 2.0.
    #[regex(b"@@DWARF[^\n]*", allow_greedy = true)]
    DwarfLine,

    /// A malformed number: a word that begins with a digit and is no literal.
    /// The assembler ends a hexadecimal number where a dot follows: `0x11.b8` are two words.
    #[regex(b"0[xX][A-Za-z0-9_$]*", priority = 2)]
    #[regex(b"([1-9]|0[0-9A-WYZa-wyz_$.])[A-Za-z0-9_$.]*", priority = 2)]
    BadNumber,
    /// A `/*` without its `*/`: reaches to the end of the input.
    #[token(b"/*", block_comment)]
    UnclosedComment,
    /// A `.source_begin` without its `.source_end`: reaches to the end of the input.
    UnclosedSource,
    /// A string without its closing quote: reaches to the end of the input.
    UnclosedString,
    /// A byte that can begin no token.
    Junk,
    /// A token of a statement of unknown form, which is kept verbatim.
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

/// The rest of a word, and its kind. Two thirds of all bytes belong to words, so they are scanned by a loop of their
/// own.
fn word(lex: &mut Lexer<'_, Tok>) -> Tok {
    let rest = lex.remainder();
    let base = word_length(rest);
    let length = base + suffixes_length(&rest[base..]);
    let first = lex.slice()[0];
    lex.bump(length);
    match lex.slice() {
        b"%" => Tok::Operator,
        b"$" => Tok::Junk,
        b"WARP_SZ" => Tok::WarpSize,
        _ if first == b'c' && rest[..base] == *b"all" => Tok::Call,
        _ if length > base => Tok::Dotted,
        _ => Tok::Word,
    }
}

/// How many of the first bytes continue a word.
fn word_length(text: &[u8]) -> usize {
    const CONTINUES: [bool; 256] = {
        let mut table = [false; 256];
        let mut byte = u8::MIN;
        loop {
            table[byte as usize] = matches!(byte, b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'_' | b'$');
            if byte == u8::MAX {
                break;
            }
            byte += 1;
        }
        table
    };
    text.iter().position(|&byte| !CONTINUES[usize::from(byte)]).unwrap_or(text.len())
}

/// The length of the suffixes at the start of `text`, such as `.one.two::three.sp::2:4`.
fn suffixes_length(text: &[u8]) -> usize {
    let mut length = 0;
    while text.get(length) == Some(&b'.') {
        let part = word_length(&text[length + 1..]);
        if part == 0 {
            break;
        }
        length += 1 + part;
        length += qualifiers_length(&text[length..]);
    }
    length
}

/// The length of qualifiers such as `::two::three`; a digit may be followed by a colon and another digit: `::2:4`.
fn qualifiers_length(text: &[u8]) -> usize {
    let mut length = 0;
    while text[length..].starts_with(b"::") {
        let part = word_length(&text[length + 2..]);
        if part == 0 {
            break;
        }
        length += 2 + part;
        if let [digit, b':', other, ..] = text[length - 1..]
            && part == 1
            && digit.is_ascii_digit()
            && other.is_ascii_digit()
        {
            length += 2;
        }
    }
    length
}

/// The rest of a word that begins with a dot, and its kind.
fn directive(lex: &mut Lexer<'_, Tok>) -> Tok {
    let rest = lex.remainder();
    let base = word_length(rest);
    lex.bump(base + qualifiers_length(&rest[base..]));
    // The words that change the shape of a statement.
    match lex.slice() {
        b".address_size" => Tok::AddressSize,
        b".alias" => Tok::Alias,
        b".align" => Tok::Align,
        b".attribute" => Tok::Attribute,
        b".branchtargets" => Tok::BranchTargets,
        b".callprototype" => Tok::CallPrototype,
        b".calltargets" => Tok::CallTargets,
        b".common" | b".extern" | b".visible" | b".weak" => Tok::Linkage,
        b".const" | b".global" | b".local" | b".param" | b".shared" | b".tex" => Tok::Space,
        b".entry" => Tok::Entry,
        b".file" => Tok::File,
        b".func" => Tok::Func,
        b".loc" | b".loc_intermediate" => Tok::Loc,
        b".pragma" => Tok::Pragma,
        b".ptr" => Tok::Ptr,
        b".reg" => Tok::Reg,
        b".section" => Tok::Section,
        b".source_begin" => source_text(lex),
        b".target" => Tok::Target,
        b".version" => version(lex),
        _ => Tok::Directive,
    }
}

fn version(lex: &mut Lexer<'_, Tok>) -> Tok {
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let rest = lex.remainder();
    let blanks = rest.iter().take_while(|&&byte| byte == b' ' || byte == b'\t').count();
    let major = digits(&rest[blanks..]);
    let number = &rest[blanks + major..];
    let minor = number.strip_prefix(b".").map_or(0, digits);
    if blanks == 0 || major == 0 || minor == 0 {
        return Tok::Directive;
    }
    lex.bump(blanks + major + 1 + minor);
    Tok::Version
}

fn source_text(lex: &mut Lexer<'_, Tok>) -> Tok {
    let rest = lex.remainder();
    let end = b".source_end";
    match memchr::memmem::find(rest, end) {
        Some(at) => {
            lex.bump(at + end.len());
            Tok::SourceText
        }
        None => {
            lex.bump(rest.len());
            Tok::UnclosedSource
        }
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
        // Kernels have about five bytes per token. A guess that is too low costs a copy.
        let guess = text.len() / 5;
        tokens.kinds.reserve(guess);
        tokens.starts.reserve(guess);
        tokens.lengths.reserve(guess);
        let mut lexer = Tok::lexer(text);
        while let Some(tok) = lexer.next() {
            let span = lexer.span();
            tokens.push(tok.unwrap_or(Tok::Junk), index32(span.start), index32(span.len()));
        }
        tokens.kinds.shrink_to_fit();
        tokens.starts.shrink_to_fit();
        tokens.lengths.shrink_to_fit();
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

    /// The number of tokens.
    #[must_use]
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether there are no tokens.
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
