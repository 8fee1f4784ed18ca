//! Real modules that are broken in one token: what the assembler refuses for its syntax is refused, and what it takes
//! is taken.
//!
//! A mutant is a legal module with one token replaced, removed, doubled, written in the other case, or with a character
//! put into it or taken out. Most are refused by both; one that the assembler takes must be taken, and of those that it
//! refuses for their syntax at least 199 in 200 must be refused or warned of. More of them, and others:
//!
//! ```sh
//! PTXOPT_MUTANTS=20000 PTXOPT_SEED=2 cargo test --test assembler mutants -- --nocapture
//! ```

use crate::jobs::each;
use crate::modules;
use crate::numbers::Numbers;
use crate::ptxas::{Assemblers, target};
use ptxopt_grammar::token::{Tok, Tokens};
use std::collections::BTreeMap;

/// What the parser says of a mutant.
enum Ours {
    Refused(String),
    Warned,
    Taken,
}

/// What the assembler and the parser said of the mutants.
#[derive(Default)]
struct Counts {
    taken: usize,
    /// Refused for its syntax, and of those taken by the parser.
    syntax: usize,
    syntax_taken: Vec<String>,
    /// Refused for something else, and of those taken by the parser.
    other: usize,
    other_taken: usize,
    /// Taken by the parser with a warning.
    syntax_warned: usize,
    other_warned: usize,
    /// Mutants that the assembler takes and the parser does not.
    refused: Vec<String>,
    /// How often the assembler said what about mutants that the parser took.
    messages: BTreeMap<String, usize>,
}

/// Modules of more bytes than this take the assembler too long.
const MOST_BYTES: usize = 20_000;

#[test]
fn what_the_assembler_refuses_for_its_syntax_is_refused() {
    let Some(assemblers) = Assemblers::find() else { return };
    let from =
        |name: &str, default: u64| std::env::var(name).ok().map_or(default, |n| n.parse().expect("a number"));
    let (count, seed) = (from("PTXOPT_MUTANTS", 400), from("PTXOPT_SEED", 1));
    let modules: Vec<_> =
        modules::modules_to_optimise().into_iter().filter(|module| module.text.len() <= MOST_BYTES).collect();
    let found = each(&(0..count).collect::<Vec<_>>(), |&number| {
        let mut numbers = Numbers::new(seed.wrapping_mul(0x1_0000_0001) ^ number << 20);
        let module = &modules[numbers.below(modules.len())];
        let (what, mutant) = mutant(&module.text, &mut numbers);
        if mutant == module.text {
            return None;
        }
        let theirs = assemblers.refusal(&mutant, &target(&module.text));
        let ours = match ptxopt_grammar::parse(&mutant) {
            Err(errors) => Ours::Refused(errors[0].message.clone()),
            Ok(module) if module.warnings().is_empty() => Ours::Taken,
            Ok(_) => Ours::Warned,
        };
        Some((format!("{}: {what}", module.name), ours, theirs))
    });
    let mut counts = Counts::default();
    for (what, ours, theirs) in found.into_iter().flatten() {
        counts.note(&what, ours, theirs);
    }
    counts.judge();
}

impl Counts {
    fn note(&mut self, what: &str, ours: Ours, theirs: Option<String>) {
        let Some(theirs) = theirs else {
            match ours {
                Ours::Refused(said) => self.refused.push(format!("{what}: {said}")),
                Ours::Warned | Ours::Taken => self.taken += 1,
            }
            return;
        };
        let syntax = is_syntax(&theirs);
        let message = theirs.lines().next().unwrap_or_default();
        let message = message.split_once(';').map_or(message, |(_, message)| message).trim();
        *(if syntax { &mut self.syntax } else { &mut self.other }) += 1;
        match ours {
            Ours::Refused(_) => {}
            Ours::Warned => *(if syntax { &mut self.syntax_warned } else { &mut self.other_warned }) += 1,
            Ours::Taken => {
                *self.messages.entry(quoted_out(message)).or_default() += 1;
                match syntax {
                    true => self.syntax_taken.push(format!("{what}: {message}")),
                    false => self.other_taken += 1,
                }
            }
        }
    }

    fn judge(&self) {
        let Self { taken, syntax, syntax_warned, other, other_taken, other_warned, .. } = self;
        let syntax_taken = self.syntax_taken.len();
        println!(
            "{taken} taken by both; of {syntax} refused for their syntax {syntax_taken} are taken and {syntax_warned} \
             warned of, of {other} refused for something else {other_taken} and {other_warned}"
        );
        for (message, count) in &self.messages {
            println!("{count:5} {message}");
        }
        for taken in &self.syntax_taken {
            println!("taken: {taken}");
        }
        assert!(self.refused.is_empty(), "the assembler takes:\n{}", self.refused.join("\n"));
        assert!(*syntax > 0 && syntax_taken * 200 <= *syntax, "too many mutants are taken");
    }
}

/// A message without what it quotes.
fn quoted_out(message: &str) -> String {
    message.split('\'').step_by(2).collect::<Vec<_>>().join("…")
}

/// Whether the assembler refuses a text for its syntax, rather than for what it means.
fn is_syntax(said: &str) -> bool {
    said.contains("Parsing error") || said.contains("syntax error")
}

/// A module with one token broken, and what was done.
fn mutant(text: &[u8], numbers: &mut Numbers) -> (String, Vec<u8>) {
    let tokens = Tokens::new(text);
    let pick = |numbers: &mut Numbers| {
        tokens.iter().nth(numbers.below(tokens.len())).expect("it is below the length")
    };
    let mut at = pick(numbers);
    while tokens.kind(at) == Tok::Str || tokens.kind(at) == Tok::LineMarker {
        at = pick(numbers);
    }
    let span = tokens.span(at);
    let old = &text[span.clone()];
    let mut new = old.to_vec();
    match numbers.below(6) {
        0 => new.clear(),
        1 => new = [old, b" ", old].concat(),
        2 => new = text[tokens.span(pick(numbers))].to_vec(),
        3 => {
            let at = numbers.below(new.len());
            new[at] = if new[at].is_ascii_lowercase() {
                new[at].to_ascii_uppercase()
            } else {
                new[at].to_ascii_lowercase()
            };
        }
        4 => {
            const CHARACTERS: &[u8] = b"0123456789abfstuxB._%$@!,;:<>[]{}()+-*/\\#\"'?=|~^& ";
            new.insert(numbers.below(old.len() + 1), CHARACTERS[numbers.below(CHARACTERS.len())]);
        }
        _ => {
            let at = numbers.below(new.len());
            new.remove(at);
        }
    }
    let before =
        &text[text[..span.start].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1)..span.start];
    let after = text[span.end..].split(|&byte| byte == b'\n').next().unwrap_or_default();
    let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let what = format!("`{}` -> `{}{}{}`", shown(old), shown(before), shown(&new), shown(after));
    (what, [&text[..span.start], &new, &text[span.end..]].concat())
}
