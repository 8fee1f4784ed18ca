//! Registers that represent a word: whether the statements that were inserted to keep them change nothing.
//!
//! A pass may give a word other registers that hold the same in another form, such as its even and its odd bytes:
//! after each write of the word it inserts statements that split it, and before each read others that join it again.
//! Here it is proved that the text with these statements does what it did without them.
//!
//! **How.** Without the inserted statements, the new text must be the old one: the same statements in the same order,
//! in which every name means the same declaration (`pairs`). So both are executed in step, and what is to be shown is
//! that each statement of the old text finds the same values in the new one. The inserted statements compute only, and
//! write nothing but one word and what represents it, so that is a matter of the words alone. Each block is walked
//! through once (`walk`), with what the registers of a word hold as terms over the word as the old text has it. The
//! induction is over the steps of an execution, with the representation invariant, that each of these registers holds
//! what it should of the word:
//!
//! - it is claimed where a block needs it, because it joins a word that it has not written before;
//! - every incoming edge of such a block must establish it, by a write and a split after it, or by a claim for the
//!   block that the edge comes from;
//! - a claim where the function is entered fails, since there nothing was written.
//!
//! A statement with a guard and the split after it under the same guard are both executed or both left out, since
//! neither may write the guard; the invariant must hold in either case.
//!
//! **What is assumed** besides: the meanings and roles of the table, and which instructions of it go on reading or
//! writing registers until a later one. Nothing here uses the optimiser, its graph or its facts.

mod pairs;
#[cfg(test)]
mod tests;
mod walk;

use super::Stop;
use super::cut::Cut;
use hashbrown::{HashMap, HashSet};
pub use pairs::Pairs;
use ptxopt_grammar::function::Function;
use ptxopt_grammar::meaning::term::{Term, Terms};
use ptxopt_grammar::names::Part;
use ptxopt_grammar::tree::{DeclId, StmtId};
use walk::{After, Block, Walk};

/// What a register that represents a word holds, in terms of the word; both have 32 bits.
pub type Holds = fn(&mut Terms, Term) -> Term;

/// A word of 32 bits that other registers represent.
#[derive(Clone, Debug)]
pub struct Word {
    /// The register, as the text before declares it.
    pub register: (DeclId, Part),
    /// The names of the registers that represent it, which the old text does not have, and what each holds.
    pub parts: Vec<(String, Holds)>,
}

/// What became of a proof about a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The inserted statements change nothing.
    Proved,
    /// Its control flow is not followed, with or without these statements.
    Unfollowed,
    /// That they change nothing is not shown.
    Failed(Failure),
}

/// Where and why it is not shown that inserted statements change nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The statement of the old text at which it stands, or the last one before it.
    pub near: StmtId,
    /// The statement of the new text, on one line.
    pub stmt: String,
    /// What about it.
    pub why: String,
}

/// Whether what was inserted into a function changes nothing; `old` and `new` are the function before and after.
///
/// The amount of work is linear in the function, but for claims: one for each word and each block that it is live in.
#[must_use]
pub fn check(pairs: &Pairs<'_, '_>, (old, new): (&Function, &Function), words: &[Word]) -> Outcome {
    if Cut::new(pairs.old, &old.body, false).is_err() {
        return Outcome::Unfollowed;
    }
    match checked(pairs, (old, new), words) {
        Ok(()) => Outcome::Proved,
        Err(stop) => Outcome::Failed(pairs.failure(new, &stop)),
    }
}

fn checked(pairs: &Pairs<'_, '_>, (old, new): (&Function, &Function), words: &[Word]) -> Result<(), Stop> {
    pairs.names(new)?;
    let cut = Cut::new(pairs.new, &new.body, false)?;
    let mut walk = Walk::new(pairs, (old, new), words)?;
    let reachable = cut.reachable();
    let mut blocks: Vec<Block> = cut.blocks.iter().map(|_| Block::default()).collect();
    let mut incoming: Vec<Vec<usize>> = vec![Vec::new(); cut.blocks.len()];
    for &at in &reachable {
        let block = &cut.blocks[at];
        let stmts: Vec<StmtId> =
            block.steps.iter().filter_map(|step| Some(step.stmt()?.0)).chain(block.end.stmt()).collect();
        blocks[at] = walk.block(&stmts)?;
        for to in block.end.targets() {
            incoming[to].push(at);
        }
    }
    let needs = reachable
        .iter()
        .flat_map(|&at| blocks[at].needs.iter().map(move |(&word, &stmt)| (at, (word, stmt))));
    carried(&blocks, &incoming, needs.collect())
}

/// Shows the claims: that where a block is entered, what represents a word holds what it should.
fn carried(
    blocks: &[Block],
    incoming: &[Vec<usize>],
    mut work: Vec<(usize, (usize, StmtId))>,
) -> Result<(), Stop> {
    let mut claimed: HashSet<(usize, usize)> = HashSet::new();
    while let Some((at, (word, stmt))) = work.pop() {
        if !claimed.insert((at, word)) {
            continue;
        }
        if at == 0 {
            return Err(Stop::at(stmt, "joins a word that may not have been written before"));
        }
        for &from in &incoming[at] {
            match blocks[from].after.get(&word) {
                None | Some(After::AsBefore) => work.push((from, (word, stmt))),
                Some(After::Holds) => {}
                Some(After::Lost(writer)) => {
                    let why = "writes a word, or what represents it, so that they do not agree where a later block \
                               relies on it";
                    return Err(Stop::at(*writer, why));
                }
            }
        }
    }
    Ok(())
}

/// What can be said of a word after a block, by the number of the word; nothing of those that the block leaves alone.
type Afters = HashMap<usize, After>;
