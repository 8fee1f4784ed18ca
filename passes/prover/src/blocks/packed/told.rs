//! Words of which a text says what they are made of, in a comment behind their declaration.
//!
//! `.reg .b32 %w; // %w = {%a, %b, %c, %d}` says that `%w` holds the lowest bits of four registers of the text as it
//! was before, the first of them lowest, as `mov` puts elements together. `%w = {%a.b0, %a.b2}` says that its halves
//! hold bytes of one, with zeros above them; `%a.b0^128` is such a byte with its highest bit inverted. The optimiser
//! writes it, and so can who changes a loop by hand. It is a hint for the proof and no more: what is said wrongly
//! cannot be shown, and is not assumed then.

use super::{Lane, Packed};
use crate::around::InModule;
use ptxopt_grammar::names::Part;
use ptxopt_grammar::tree::{DeclId, StmtId, StmtKind};
use std::collections::BTreeMap;
use std::fmt;

/// The registers of a function by what they are called; nothing where several have one name.
type ByName = BTreeMap<String, Option<(DeclId, Part)>>;

/// What a comment says of a word: its name, and what it is made of.
#[must_use]
pub fn comment(word: &str, lanes: &[Lane<String>]) -> String {
    let lanes: Vec<String> = lanes.iter().map(ToString::to_string).collect();
    format!("{word} = {{{}}}", lanes.join(", "))
}

/// The words that the new function tells of, as far as they are made of registers of the old one.
#[must_use]
pub fn told(before: InModule<'_, '_, '_>, after: InModule<'_, '_, '_>) -> Vec<Packed> {
    let (module, function) = after;
    let mut said = Vec::new();
    for stmt in function.body.clone().filter_map(StmtId::new) {
        if module.kind(stmt) == StmtKind::Register {
            // The brace at the end is a statement too.
            let next = StmtId::new(stmt.index() + 1).map(|next| module.stmt_span(next).start);
            let end = module.stmt_span(stmt).end;
            said.extend(equations(&String::from_utf8_lossy(&module.text()[end..next.unwrap_or(end)])));
        }
    }
    if said.is_empty() {
        return Vec::new();
    }
    let registers = registers(before);
    let packed = said.into_iter().filter_map(|(word, lanes)| {
        let lanes: Option<Vec<_>> = lanes.iter().map(|lane| Lane::parse(lane, &registers)).collect();
        Some(Packed { lanes: lanes?, word })
    });
    packed.filter(|packed| !registers.contains_key(&packed.word)).collect()
}

/// What stands before and within the braces of each `name = {lane, lane}`.
fn equations(text: &str) -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices('{') {
        let word = text[..at].trim_end().strip_suffix('=').and_then(|left| left.split_whitespace().last());
        let inside = text[at + 1..].split_once('}').map(|(inside, _)| inside);
        if let Some((word, inside)) = word.zip(inside) {
            let lanes = inside.split(',').map(|lane| lane.trim().to_owned());
            found.push((word.to_owned(), lanes.collect()));
        }
    }
    found
}

fn registers((module, function): InModule<'_, '_, '_>) -> ByName {
    let mut registers = ByName::new();
    for stmt in function.body.clone().filter_map(StmtId::new) {
        for node in module.stmt_nodes(stmt) {
            for (decl, part) in module.registers_of(node) {
                let known = registers.entry(module.register_name(decl, part)).or_insert(Some((decl, part)));
                *known = known.filter(|&known| known == (decl, part));
            }
        }
    }
    registers
}

impl Lane<(DeclId, Part)> {
    /// What a text means, given the registers.
    fn parse(text: &str, registers: &ByName) -> Option<Self> {
        let (text, inverted) = match text.split_once('^') {
            Some((text, number)) => (text.trim(), number.trim().parse().ok()?),
            None => (text, 0),
        };
        if let Some(&register) = registers.get(text) {
            return Some(Self { inverted, ..Self::lowest(register?) });
        }
        let (text, byte) = text.rsplit_once(".b")?;
        let register = (*registers.get(text)?)?;
        Some(Self { register, byte: Some(byte.parse().ok()?), inverted })
    }
}

impl fmt::Display for Lane<String> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.register)?;
        if let Some(byte) = self.byte {
            write!(f, ".b{byte}")?;
        }
        if self.inverted != 0 {
            write!(f, "^{}", self.inverted)?;
        }
        Ok(())
    }
}
