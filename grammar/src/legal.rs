//! Checks instructions against the table: their types, the number of their operands, and the types of registers.
//!
//! The rows of the table say what is legal (`takes`). The shapes are read once for each spelling of an opcode and then
//! compared with each statement. Only what is certainly wrong is refused: instructions without a row, rows without
//! shapes, and operands of a kind that no shape mentions are accepted. `tests/assembler/legal.rs` checks that nothing
//! is refused that the assembler takes.

use crate::diagnostic::Diagnostic;
use crate::names::Type;
use crate::special::is_special_register;
use crate::table::instruction::Instruction;
use crate::table::shape::{Mistyped, Operand, Shape, shapes};
use crate::table::types::TypeWord;
use crate::table::{self, Row, modifiers};
use crate::token::Tok;
use crate::tree::{Module, Node, NodeId, NodeKind, Span, SpellingId, StmtId, StmtKind, TokenId};

use hashbrown::HashMap;

pub use crate::table::shape::Given;

/// More operands than any row with shapes has.
const MOST_OPERANDS: usize = 8;

/// The types that are listed in a message.
const MOST_TYPES: usize = 14;

/// What is wrong with an instruction that is about to be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// PTX has no such instruction at all: the opcode, or its types.
    Form,
    /// The instruction does not take these operands.
    Operands,
}

/// Whether the opcode `words` takes these operands, in the order of the text.
///
/// # Errors
///
/// What is wrong. The operands of an opcode whose row has no shapes are not checked.
pub fn instruction(words: &[u8], given: &[Given]) -> Result<(), Fault> {
    let row = table::lookup(words).ok_or(Fault::Form)?;
    fits(&shapes(row, words).map_err(|_| Fault::Form)?, given)
}

fn fits(shapes: &[Shape], given: &[Given]) -> Result<(), Fault> {
    let fits = |shape: &Shape| shape.has_places(given.len()) && shape.misfit(given).is_none();
    if shapes.is_empty() || shapes.iter().any(fits) { Ok(()) } else { Err(Fault::Operands) }
}

/// The shapes of instructions that were asked for, remembered.
#[derive(Debug, Default)]
pub struct Known(HashMap<Instruction, Option<Vec<Shape>>>);

impl Known {
    /// The same as [`instruction`].
    ///
    /// # Errors
    ///
    /// The same.
    pub fn instruction(&mut self, instruction: Instruction, given: &[Given]) -> Result<(), Fault> {
        let read = || shapes(instruction.row(), instruction.to_string().as_bytes()).ok();
        let shapes = self.0.entry(instruction).or_insert_with(read).as_deref().ok_or(Fault::Form)?;
        fits(shapes, given)
    }
}

/// What is wrong with the instructions of a module. Operands are checked only if all names are `declared` correctly.
pub(crate) fn check(module: &Module<'_>, declared: bool) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    let spellings: Vec<Vec<Shape>> = module
        .spellings
        .iter()
        .map(|spelling| match forms(module, spelling) {
            Ok(shapes) => shapes,
            Err(diagnostic) => {
                diagnostics.push(*diagnostic);
                Vec::new()
            }
        })
        .collect();
    for stmt in module.stmts().filter(|&stmt| declared && module.kind(stmt) == StmtKind::Instruction) {
        if diagnostics.len() >= crate::parse::MOST_DIAGNOSTICS {
            break;
        }
        let shapes = &spellings[module.stmts[stmt.index()].payload as usize];
        if !shapes.is_empty() {
            diagnostics.extend(operands(module, stmt, shapes));
        }
        diagnostics.extend(guard(module, stmt));
    }
    diagnostics
}

/// The shapes of a spelling.
fn forms(module: &Module<'_>, spelling: SpellingId) -> Result<Vec<Shape>, Box<Diagnostic>> {
    let Some(row) = module.spellings.row(spelling) else { return Ok(Vec::new()) };
    let words = module.spellings.words(spelling, module.text);
    for (at, modifier) in modifiers(words).enumerate() {
        let shown = String::from_utf8_lossy(modifier);
        let span = || modifier_span(module, spelling, at);
        if TypeWord::is_like(modifier) && TypeWord::parse(modifier).is_none() {
            return Err(Box::new(unknown_type(span(), modifier, TypeWord::all().map(TypeWord::word))));
        }
        if !modifier.is_empty() && modifier.iter().all(u8::is_ascii_digit) {
            let found = Diagnostic::new(span(), format!("`.{shown}` is no modifier"));
            return Err(Box::new(found.label("expected a word after the dot")));
        }
    }
    shapes(row, words).map_err(|mistyped| Box::new(mistyped_opcode(module, spelling, row, mistyped)))
}

/// What is wrong with the types of an opcode.
fn mistyped_opcode(module: &Module<'_>, spelling: SpellingId, row: &Row, mistyped: Mistyped) -> Diagnostic {
    let words = module.spellings.words(spelling, module.text);
    let name = row.name;
    let (found, mut wanted, none) = match mistyped {
        Mistyped::Wrong(at, wanted) => {
            let modifier = String::from_utf8_lossy(modifiers(words).nth(at).unwrap_or_default()).into_owned();
            let message = format!("`{name}` takes no type `.{modifier}` here");
            (
                Diagnostic::new(modifier_span(module, spelling, at), message),
                wanted,
                "expected no further type",
            )
        }
        Mistyped::Missing(wanted) => {
            let message = format!("`{}` needs a type", String::from_utf8_lossy(words));
            (Diagnostic::new(module.spellings.span(spelling), message), wanted, "expected a type")
        }
    };
    let mut seen = std::collections::HashSet::new();
    wanted.retain(|word| seen.insert(*word));
    found.label(if wanted.is_empty() { none.to_owned() } else { one_of(&wanted) })
}

/// `expected one of …`
fn one_of(words: &[&str]) -> String {
    let shown: Vec<String> = words.iter().take(MOST_TYPES).map(|word| format!("`.{word}`")).collect();
    let more = if words.len() > MOST_TYPES { ", …" } else { "" };
    match shown.as_slice() {
        [one] => format!("expected {one}"),
        [first @ .., last] if more.is_empty() => format!("expected {} or {last}", first.join(", ")),
        all => format!("expected one of {}{more}", all.join(", ")),
    }
}

/// The error for a word in the place of a type that is not one; `word` has no dot.
pub(crate) fn unknown_type(span: Span, word: &[u8], known: impl Iterator<Item = &'static str>) -> Diagnostic {
    let shown = String::from_utf8_lossy(word);
    let nearest = crate::nearest::nearest(&shown, known);
    let found = Diagnostic::new(span, format!("unknown type `.{shown}`"));
    let found = match nearest {
        Some(nearest) => found.label(format!("expected a type; did you mean `.{nearest}`?")),
        None => found.label("expected a type such as `.b32`"),
    };
    found.help(format!(
        "types up to PTX {}.{} are known; is this of a newer version?",
        crate::header::NEWEST.0,
        crate::header::NEWEST.1
    ))
}

/// The span of a modifier at the first occurrence of a spelling; that of the whole opcode if it contains blanks.
pub(crate) fn modifier_span(module: &Module<'_>, spelling: SpellingId, at: usize) -> Span {
    let words = module.spellings.words(spelling, module.text);
    let span = module.spellings.span(spelling);
    if words.len() != span.len() {
        return span;
    }
    let before: usize = words.split(|&byte| byte == b'.').take(at + 1).map(|word| word.len() + 1).sum();
    let length = modifiers(words).nth(at).map_or(0, <[u8]>::len);
    let start = span.start + before - 1;
    start..start + length + 1
}

/// What is wrong with the operands of an instruction.
fn operands(module: &Module<'_>, stmt: StmtId, shapes: &[Shape]) -> Option<Diagnostic> {
    // Filled from the end, because the outermost nodes are found from the last to the first.
    let mut places = [Given::Other; MOST_OPERANDS];
    let range = module.node_range(stmt);
    let (mut end, mut count) = (range.end, 0);
    while end > range.start {
        let node = module.nodes[end as usize - 1];
        if node.kind().is_guard() {
            break;
        }
        if count < MOST_OPERANDS {
            places[MOST_OPERANDS - 1 - count] = given(module, NodeId(end - 1));
        }
        count += 1;
        end -= 1 + node.below();
    }
    let known = &places[MOST_OPERANDS - count.min(MOST_OPERANDS)..];
    let mut first = None;
    for shape in shapes.iter().filter(|shape| shape.has_places(count)) {
        match shape.misfit(known).filter(|_| count <= MOST_OPERANDS) {
            None => return None,
            Some(misfit) => first = first.or(Some(misfit)),
        }
    }
    let Some((at, operand)) = first else { return Some(wrong_number(module, stmt, shapes, count)) };
    Some(misfit(module, stmt, module.operands(stmt)[at], (at, operand)))
}

fn wrong_number(module: &Module<'_>, stmt: StmtId, shapes: &[Shape], count: usize) -> Diagnostic {
    let least = shapes.iter().map(|shape| shape.counts().0).min().unwrap_or(0);
    let most = shapes.iter().map(|shape| shape.counts().1).max().unwrap_or(0);
    let number = |count: usize| match count {
        0 => "no operands".to_owned(),
        1 => "one operand".to_owned(),
        many => format!("{many} operands"),
    };
    let wanted = if least == most { number(most) } else { format!("{least} to {}", number(most)) };
    let message = format!("`{}` takes {wanted}, not {count}", opcode(module, stmt));
    Diagnostic::new(module.stmt_span(stmt), message).label(format!("expected {wanted}"))
}

fn misfit(module: &Module<'_>, stmt: StmtId, node: NodeId, (at, operand): (usize, Operand)) -> Diagnostic {
    let span = module.node_span(node);
    let name = opcode(module, stmt);
    let given = given(module, node);
    let found = if let Given::Register(ty) = given {
        format!("`{name}` takes no register of type `{}` as operand {}", ty.word(), at + 1)
    } else if given == Given::Special {
        format!("`{name}` takes no special register as operand {}", at + 1)
    } else {
        format!("`{name}` does not take this as operand {}", at + 1)
    };
    let found = Diagnostic::new(span, found).label(operand.expected());
    match module.decl_of(node) {
        Some(decl) => found.related(module.tokens.span(module.decl(decl).name), "declared here"),
        None => found,
    }
}

fn opcode(module: &Module<'_>, stmt: StmtId) -> String {
    let words = module.opcode(stmt).map(|(spelling, _)| module.spellings.words(spelling, module.text));
    String::from_utf8_lossy(words.unwrap_or_default()).into_owned()
}

/// The error for a guard that is not a predicate.
fn guard(module: &Module<'_>, stmt: StmtId) -> Option<Diagnostic> {
    let (name, _) = module.guard(stmt)?;
    let Given::Register(ty) = given(module, name) else { return None };
    if matches!(ty, Type::Pred | Type::F16x2 | Type::Unknown) {
        return None;
    }
    let message = format!("a register of type `{}` is no guard", ty.word());
    let found = Diagnostic::new(module.node_span(name), message).label("expected a predicate");
    let decl = module.decl_of(name)?;
    Some(found.related(module.tokens.span(module.decl(decl).name), "declared here"))
}

/// The kind of an operand.
fn given(module: &Module<'_>, node: NodeId) -> Given {
    let Node { first, link, .. } = module.nodes[node.index()];
    match module.nodes[node.index()].kind() {
        NodeKind::Name if link == Node::UNRESOLVED => {
            let text = &module.text[module.tokens.span(TokenId(first))];
            let base = text.split(|&byte| byte == b'.').next().unwrap_or(text);
            if is_special_register(base) { Given::Special } else { Given::Other }
        }
        NodeKind::Name => {
            let decl = &module.decls[link as usize];
            let dotted = module.tokens.kind(TokenId(first)) == Tok::Dotted;
            match (decl.kind, decl.lanes, dotted) {
                (crate::names::DeclKind::Register, 1, false) => Given::Register(decl.ty),
                (crate::names::DeclKind::Register, 1, true) => Given::Selected,
                (crate::names::DeclKind::Register, _, true) => Given::Register(decl.ty),
                (crate::names::DeclKind::Register, _, false) => Given::Vector,
                _ => Given::Other,
            }
        }
        NodeKind::Int => Given::Whole,
        NodeKind::Float => Given::Fraction,
        NodeKind::Vector => Given::Vector,
        NodeKind::Address => Given::Address,
        NodeKind::Pair => Given::Pair,
        NodeKind::Complement => {
            if let Given::Register(ty) = given(module, NodeId(node.0 - 1)) {
                Given::Complement(ty)
            } else {
                Given::Other
            }
        }
        NodeKind::Constant
        | NodeKind::Negated
        | NodeKind::Suffixed
        | NodeKind::Offset
        | NodeKind::Element
        | NodeKind::List
        | NodeKind::Declared
        | NodeKind::Word
        | NodeKind::Str
        | NodeKind::Directive
        | NodeKind::Guard
        | NodeKind::GuardNot
        | NodeKind::Family
        | NodeKind::Dimension
        | NodeKind::Initialiser
        | NodeKind::Align
        | NodeKind::Attribute => Given::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_about_to_be_written_is_held_against_the_table() {
        let [byte, word, float] = [Type::B8, Type::B32, Type::F32].map(Given::Register);
        assert_eq!(instruction(b"mov.b32", &[word, Given::Whole]), Ok(()));
        assert_eq!(instruction(b"mov.b8", &[byte, Given::Whole]), Err(Fault::Form));
        assert_eq!(instruction(b"cvt.u8.u8", &[byte, Given::Whole]), Ok(()));
        assert_eq!(instruction(b"vmxa4.u32.u32.u32", &[word; 4]), Err(Fault::Form));
        assert_eq!(instruction(b"add.u32", &[word, float, word]), Err(Fault::Operands));
        assert_eq!(instruction(b"add.u32", &[word, word]), Err(Fault::Operands));
    }
}
