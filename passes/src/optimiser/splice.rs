//! Putting new text into old: indentation, guards, line endings, declarations of new registers.
//!
//! Only what is replaced or deleted changes. A replacement stands where its statement stood, one line each, with the
//! statement's indentation and the file's line ending; the guard goes to the last line, since the lines before it
//! only compute. A deleted statement takes its line with it if nothing else is on it.

use ptxopt_grammar::edit::Edits;
use ptxopt_grammar::function::Function;
use ptxopt_grammar::names::DeclKind;
use ptxopt_grammar::token::Tok;
use ptxopt_grammar::tree::{Module, NodeKind, StmtId, StmtKind, TokenId};
use std::collections::BTreeMap;
use std::fmt::Write;

/// What the names of new registers begin with.
const STEM: &str = "%opt";

/// The names of new registers: a prefix that the text has nowhere.
#[derive(Clone, Debug)]
pub(super) struct Fresh {
    stem: String,
}

impl Fresh {
    /// A prefix that `text` does not contain.
    pub(super) fn new(text: &[u8]) -> Self {
        let mut stem = STEM.to_owned();
        while memchr::memmem::find(text, stem.as_bytes()).is_some() {
            stem.push('_');
        }
        Self { stem }
    }

    /// The prefix of registers of this width.
    fn prefix(&self, width: u32) -> String {
        let class = match width {
            1 => "p",
            16 => "h",
            64 => "d",
            _ => "",
        };
        format!("{}{class}", self.stem)
    }

    /// Whether this is such a prefix: the text had none that begins like it.
    pub(super) fn is_prefix(&self, name: &[u8]) -> bool {
        name.starts_with(self.stem.as_bytes())
    }

    /// The prefix of registers that keep halves of a word.
    pub(super) fn halves(&self) -> String {
        format!("{}s", self.stem)
    }

    /// The name of a register that keeps halves of a word.
    pub(super) fn half(&self, number: u32) -> String {
        format!("{}{number}", self.halves())
    }

    /// Whether a declaration is that of the registers that keep halves.
    pub(super) fn declares_halves(&self, name: &[u8]) -> bool {
        name == self.halves().as_bytes()
    }

    /// The prefix of registers that have to do with words that are carried.
    pub(super) fn carriers(&self) -> String {
        format!("{}c", self.stem)
    }

    /// The name of such a register.
    pub(super) fn carried(&self, number: u32) -> String {
        format!("{}{number}", self.carriers())
    }

    pub(super) fn name(&self, width: u32, number: u32) -> String {
        format!("{}{number}", self.prefix(width))
    }
}

/// Whether nothing but blanks lies between the tokens of a statement, and no pragma is about it.
pub(super) fn is_plain(module: &Module<'_>, stmt: StmtId) -> bool {
    if module.has_own_pragma(stmt) {
        return false;
    }
    let span = module.stmt_span(stmt);
    let mut at = span.start;
    for token in module.stmt_tokens(stmt).filter_map(|token| TokenId::new(token as usize)) {
        let token_span = module.tokens().span(token);
        if token_span.start >= span.end {
            break;
        }
        let blank = module.text()[at..token_span.start].iter().all(u8::is_ascii_whitespace);
        if !blank || module.tokens().kind(token) == Tok::LineMarker {
            return false;
        }
        at = token_span.end;
    }
    true
}

/// Puts lines in the place of a statement, the last of them under its guard.
pub(super) fn replace(module: &Module<'_>, stmt: StmtId, lines: &[String], edits: &mut Edits) {
    guarded(module, stmt, lines, &guard(module, stmt), edits);
}

/// Puts lines in the place of a statement, none of them under its guard.
pub(super) fn replace_bare(module: &Module<'_>, stmt: StmtId, lines: &[String], edits: &mut Edits) {
    guarded(module, stmt, lines, "", edits);
}

fn guarded(module: &Module<'_>, stmt: StmtId, lines: &[String], guard: &str, edits: &mut Edits) {
    let span = module.stmt_span(stmt);
    let text = module.text();
    let indent = indentation(text, span.start);
    let ending = line_ending(text);
    let mut new = String::new();
    for (at, line) in lines.iter().enumerate() {
        if at > 0 {
            match indent {
                Some(indent) => write!(new, "{ending}{}", String::from_utf8_lossy(indent)),
                None => write!(new, " "),
            }
            .expect("strings can be written to");
        }
        if at + 1 == lines.len() {
            new.push_str(guard);
        }
        new.push_str(line);
    }
    edits.replace(span, new);
}

/// Puts lines before a statement, without its guard.
pub(super) fn insert_before(module: &Module<'_>, stmt: StmtId, lines: &[String], edits: &mut Edits) {
    let start = module.stmt_span(stmt).start;
    let separator = separator(module.text(), start);
    let new: String = lines.iter().flat_map(|line| [line, &separator]).map(String::as_str).collect();
    if !new.is_empty() {
        edits.replace(start..start, new);
    }
}

/// Puts lines after a statement, each under its guard.
pub(super) fn insert_after(module: &Module<'_>, stmt: StmtId, lines: &[String], edits: &mut Edits) {
    after(module, stmt, lines, &guard(module, stmt), edits);
}

/// Puts lines after a statement, without its guard.
pub(super) fn insert_after_bare(module: &Module<'_>, stmt: StmtId, lines: &[String], edits: &mut Edits) {
    after(module, stmt, lines, "", edits);
}

fn after(module: &Module<'_>, stmt: StmtId, lines: &[String], guard: &str, edits: &mut Edits) {
    let span = module.stmt_span(stmt);
    let separator = separator(module.text(), span.start);
    let new: String = lines.iter().flat_map(|line| [&separator, guard, line]).collect();
    if !new.is_empty() {
        edits.replace(span.end..span.end, new);
    }
}

/// How many comments stand on a line.
const COMMENTS: usize = 4;

/// What stands between two statements, the first of which begins here.
fn separator(text: &[u8], start: usize) -> String {
    match indentation(text, start) {
        Some(indent) => format!("{}{}", line_ending(text), String::from_utf8_lossy(indent)),
        None => " ".to_owned(),
    }
}

/// The guard of a statement with the blanks after it, as it is written; nothing if it has none.
pub(super) fn guard(module: &Module<'_>, stmt: StmtId) -> String {
    let (text, start) = (module.text(), module.stmt_span(stmt).start);
    let guard = module.opcode(stmt).map_or(&b""[..], |(_, token)| &text[start..module.tokens().start(token)]);
    String::from_utf8_lossy(guard).into_owned()
}

/// Takes a statement away, and its line if it is alone on it, else the blanks between it and its neighbour.
pub(super) fn delete(module: &Module<'_>, stmt: StmtId, edits: &mut Edits) {
    let text = module.text();
    let mut span = module.stmt_span(stmt);
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r');
    let rest = span.end + text[span.end..].iter().take_while(|byte| is_blank(byte)).count();
    // The blanks are an edit of their own: a neighbour that is taken away too takes the same ones.
    let blanks = match (indentation(text, span.start), text.get(rest)) {
        (Some(indent), Some(b'\n')) => {
            span = span.start - indent.len()..rest + 1;
            rest..rest
        }
        (None, Some(b'\n')) => {
            let before = text[..span.start].iter().rev().take_while(|byte| is_blank(byte)).count();
            span.start - before..span.start
        }
        (_, Some(_) | None) => span.end..rest,
    };
    edits.replace(span, "");
    if !blanks.is_empty() {
        edits.replace(blanks, "");
    }
}

/// The blanks before an offset, if nothing else is on the line before it.
fn indentation(text: &[u8], at: usize) -> Option<&[u8]> {
    // No further back than the blanks go: a line may be as long as the text.
    let blanks = text[..at].iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let (before, indent) = text[..at].split_at(at - blanks);
    before.last().is_none_or(|&byte| byte == b'\n').then_some(indent)
}

fn line_ending(text: &[u8]) -> &'static str {
    match text.iter().position(|&byte| byte == b'\n') {
        Some(at) if at > 0 && text[at - 1] == b'\r' => "\r\n",
        Some(_) | None => "\n",
    }
}

/// How many new registers of each width a function has already.
pub(super) fn declared(module: &Module<'_>, function: &Function, fresh: &Fresh) -> BTreeMap<u32, u32> {
    let mut counts = BTreeMap::new();
    for width in WIDTHS {
        if let Some((count, _)) = declaration(module, function, fresh, width) {
            counts.insert(width, count);
        }
    }
    counts
}

const WIDTHS: [u32; 4] = [1, 16, 32, 64];

/// The declaration of new registers that an earlier round made: how many, and where the number stands.
fn declaration(
    module: &Module<'_>,
    function: &Function,
    fresh: &Fresh,
    width: u32,
) -> Option<(u32, std::ops::Range<usize>)> {
    declaration_of(module, function, &fresh.prefix(width))
}

/// Whether a function has registers that keep halves of words.
pub(super) fn keeps_halves(module: &Module<'_>, function: &Function, fresh: &Fresh) -> bool {
    declaration_of(module, function, &fresh.halves()).is_some()
}

/// Whether an earlier run wrote a function: it declares registers with such names.
pub(super) fn is_written(module: &Module<'_>, function: &Function) -> bool {
    let ours = |node| {
        let decl = module.decl_of(node).filter(|_| module.node_kind(node) == NodeKind::Declared);
        decl.is_some_and(|decl| module.decl_name(decl).starts_with(STEM.as_bytes()))
    };
    let stmts = function.body.clone().filter_map(StmtId::new);
    stmts
        .filter(|&stmt| module.kind(stmt) == StmtKind::Register)
        .any(|stmt| module.stmt_nodes(stmt).any(ours))
}

/// The declaration of registers with this prefix among the first statements: how many, and where the number stands.
fn declaration_of(
    module: &Module<'_>,
    function: &Function,
    prefix: &str,
) -> Option<(u32, std::ops::Range<usize>)> {
    let first = StmtId::new(function.body.start)?;
    let is_ours = |&node: &ptxopt_grammar::tree::NodeId| {
        let declared = module.node_kind(node) == NodeKind::Declared;
        declared
            && module.decl_of(node).is_some_and(|decl| {
                module.decl(decl).kind == DeclKind::Register && module.decl_name(decl) == prefix.as_bytes()
            })
    };
    // Before it there may be those of the other widths, and that of the registers that keep halves.
    let stmts = (first.index()..function.body.end).take(WIDTHS.len() + 1).filter_map(StmtId::new);
    for stmt in stmts {
        if let Some(node) = module.stmt_nodes(stmt).find(is_ours) {
            let decl = module.decl_of(node)?;
            let number = module.stmt_nodes(stmt).find(|&node| module.node_kind(node) == NodeKind::Int)?;
            return Some((module.decl(decl).family?, module.node_span(number)));
        }
    }
    None
}

/// Declares the new registers of a function, or more of them.
pub(super) fn declare(
    module: &Module<'_>,
    function: &Function,
    fresh: &Fresh,
    counts: &BTreeMap<u32, u32>,
    edits: &mut Edits,
) {
    let text = module.text();
    let Some(first) = StmtId::new(function.body.start) else { return };
    let open = StmtId::new(function.body.start - 1).expect("a body begins with its brace");
    let after = module.stmt_span(open).end;
    let mut new = String::new();
    for (&width, &count) in counts {
        if let Some((before, number)) = declaration(module, function, fresh, width) {
            if before != count {
                edits.replace(number, count.to_string());
            }
            continue;
        }
        let ty = if width == 1 { "pred".to_owned() } else { format!("b{width}") };
        let separator = separator(text, module.stmt_span(first).start);
        write!(new, "{separator}.reg .{ty} {}<{count}>;", fresh.prefix(width))
            .expect("strings can be written to");
    }
    if !new.is_empty() {
        edits.replace(after..after, new);
    }
}

/// Declares so many registers of 32 bits whose names begin with a prefix, with comments behind.
pub(super) fn declare_words(
    module: &Module<'_>,
    function: &Function,
    (prefix, count): (String, usize),
    comments: &[String],
    edits: &mut Edits,
) {
    let Some(first) = StmtId::new(function.body.start) else { return };
    let open = StmtId::new(function.body.start - 1).expect("a body begins with its brace");
    let after = module.stmt_span(open).end;
    let separator = separator(module.text(), module.stmt_span(first).start);
    // A comment to the end of the line would hide what follows on it.
    let mut rest = module.text()[after..].iter().take_while(|&&byte| byte != b'\n');
    let is_last = separator.contains('\n') && rest.all(u8::is_ascii_whitespace);
    let comment = match comments {
        [] => String::new(),
        _ if !is_last => format!(" /* {} */", comments.join(", ")),
        [_] | [_, _] => format!(" // {}", comments.join(", ")),
        _ => comments.chunks(COMMENTS).map(|some| format!("{separator}// {}", some.join(", "))).collect(),
    };
    edits.replace(after..after, format!("{separator}.reg .b32 {prefix}<{count}>;{comment}"));
}
