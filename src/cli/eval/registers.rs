//! A module around one instruction: its registers are declared with the types that it needs.
//!
//! The types are found by trial: words first, then the first combination with which the meaning of the instruction is
//! known. This is fast, since there are few registers and few types.

use ptxopt_grammar::meaning::{meaning, term::Terms};
use ptxopt_grammar::names::NameParts;
use ptxopt_grammar::special::is_special_register;
use ptxopt_grammar::token::{Tok, Tokens};
use ptxopt_grammar::tree::{Module, StmtId};

/// The types that a register may have, the usual ones first.
const TYPES: [&str; 6] = [".b32", ".pred", ".b64", ".b16", ".b8", ".b128"];

/// The most assignments of types to registers that are tried.
const MOST_TRIED: usize = 10_000;

/// A module around one instruction.
pub(super) struct Wrapped {
    text: String,
}

impl Wrapped {
    pub(super) fn new(instruction: &str) -> Self {
        let names = names(instruction);
        let plain = Self::with_types(instruction, &names, 0);
        if plain.has_meaning() {
            return plain;
        }
        let all = TYPES.len().saturating_pow(u32::try_from(names.len()).unwrap_or(u32::MAX));
        let mut others = (1..all.min(MOST_TRIED)).map(|choice| Self::with_types(instruction, &names, choice));
        others.find(Self::has_meaning).unwrap_or(plain)
    }

    /// The digits of `choice` are the numbers of the registers' types.
    fn with_types(instruction: &str, names: &[&str], mut choice: usize) -> Self {
        let mut text = ".version 9.4\n.target sm_90\n.func eval()\n{\n".to_owned();
        for name in names {
            text += &format!("\t.reg {} {name};\n", TYPES[choice % TYPES.len()]);
            choice /= TYPES.len();
        }
        let end = if instruction.trim_end().ends_with(';') { "" } else { ";" };
        text += &format!("\t{instruction}{end}\n}}\n");
        Self { text }
    }

    pub(super) fn text(&self) -> &[u8] {
        self.text.as_bytes()
    }

    fn has_meaning(&self) -> bool {
        let Ok(module) = ptxopt_grammar::parse(self.text()) else { return false };
        let Ok(stmt) = Self::instruction(&module) else { return false };
        let mut read = |terms: &mut Terms, _, width| Some(terms.constant(0, width));
        meaning(&module, stmt, &mut Terms::new(), &mut read).is_some()
    }

    /// The only instruction.
    pub(super) fn instruction(module: &Module<'_>) -> Result<StmtId, String> {
        let mut found = module.stmts().filter(|&stmt| module.opcode(stmt).is_some());
        match (found.next(), found.next()) {
            (Some(stmt), None) if module.guard(stmt).is_none() => Ok(stmt),
            (Some(_), None) => Err("expected an instruction without a guard".to_owned()),
            (None, _) => Err("expected an instruction".to_owned()),
            (Some(_), Some(_)) => Err("expected one instruction only".to_owned()),
        }
    }
}

/// The registers that an instruction names, in the order of the text.
fn names(instruction: &str) -> Vec<&str> {
    let tokens = Tokens::new(instruction.as_bytes());
    let mut names = Vec::new();
    let words = tokens.iter().filter(|&token| matches!(tokens.kind(token), Tok::Word | Tok::Dotted));
    for token in words.skip(1) {
        let word = &instruction[tokens.span(token)];
        let name = word.split('.').next().unwrap_or(word);
        let parts = NameParts::new(name.as_bytes());
        if name != "_" && !is_special_register(parts.base) && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}
