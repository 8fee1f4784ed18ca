//! Whole functions: whether two do the same, block by block, by induction over the steps of an execution.
//!
//! **What is proved.** Started alike, the new function executes the same accesses, barriers, calls and other events
//! as the old one, in the same order, with the same operands, takes the same branches, and returns the same values;
//! of plain loads, which other threads cannot observe, it may leave some out. So whatever can be observed of it could
//! be observed of the old one.
//!
//! **How.** Blocks of both functions to which the same edges lead are walked through in pairs (`product`), the old
//! one first (`walk`). What a register holds is a term. Where several paths join, a register that was written on
//! one of them holds an input of its own, and the induction assumes there
//!
//! - that both sides hold the same in some of its bits, at first in all;
//! - that it was written, or was written on both sides or on none;
//! - that it lies in some range and that some of its bits are known (`invariants`), if the proof needs that.
//!
//! Everywhere else a register holds the term of the last write, which dominates the place: static single assignment.
//! Every event and condition is proved equal under these assumptions, then the assumptions themselves on every edge
//! that leads there, the one from the caller included (`relation`, `edges`). What cannot be shown is assumed no
//! more, and everything begins anew: the greatest relation that implies itself over every step is left in the end.
//! Only what the proofs used must be shown.
//!
//! **What is assumed** besides: that calls, atomics, barriers and all instructions without a meaning do the same for
//! the same operands when the same happened before, on every thread; that memory is equal where events are; and that
//! special registers have values that the manual lets them have. A function that is called is judged on its own line.
//!
//! Nothing here uses the optimiser, its graph or its facts, so a mistake there cannot hide here.

mod cut;
mod edges;
mod events;
mod fold;
mod in_flight;
mod invariants;
mod neighbours;
pub mod packed;
mod product;
mod questions;
mod registers;
mod relation;
pub mod representation;
mod shape;
mod terms;
mod walk;
mod words;

use super::Proof;
use super::fragment::{Disputed, line, what};
use crate::around::InModule;
use cut::Cut;
use packed::Packed;
use product::Product;
use ptxopt_grammar::function::Function;
use ptxopt_grammar::meaning::disputed::{Semantics, disputed_at};
use ptxopt_grammar::tree::{Module, StmtId};
pub use questions::Effort;
use registers::Names;
use relation::Relation;
use walk::Walk;

/// What stopped a proof.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Stop {
    side: Option<usize>,
    stmt: Option<StmtId>,
    /// The statement of the first file beside that of the second.
    beside: Option<StmtId>,
    block: Option<String>,
    why: String,
}

impl Stop {
    fn plain(why: &str) -> Self {
        Self { side: None, stmt: None, beside: None, block: None, why: why.to_owned() }
    }

    /// About a statement of the current side, the new one unless said otherwise.
    fn at(stmt: StmtId, why: &str) -> Self {
        Self { stmt: Some(stmt), ..Self::plain(why) }
    }

    fn in_first(self) -> Self {
        Self { side: Some(0), ..self }
    }

    fn on(self, side: usize) -> Self {
        Self { side: self.side.or(Some(side)), ..self }
    }

    fn beside(self, stmt: StmtId) -> Self {
        Self { beside: Some(stmt), ..self }
    }

    fn within(self, block: Option<String>) -> Self {
        Self { block: self.block.or(block), ..self }
    }

    fn text(&self, modules: [&Module<'_>; 2]) -> String {
        let Some(stmt) = self.stmt else { return self.why.clone() };
        let side = self.side.unwrap_or(1);
        let file = ["first", "second"][side];
        let module = modules[side];
        let block = self.block.as_ref().map(|block| format!(", block `{block}`")).unwrap_or_default();
        let beside = self.beside.filter(|_| side == 1);
        let beside = beside.map(|stmt| format!(" (line {} of the first)", line(modules[0], stmt)));
        let (what, line, beside) = (what(module, stmt), line(module, stmt), beside.unwrap_or_default());
        format!("`{what}` in line {line} of the {file} file{beside}{block}: {}", self.why)
    }
}

/// What became of a comparison.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The second function does what the first does.
    Proved(Proof),
    /// An instruction has two meanings, none was chosen, and what is true of both did not do.
    Disputed {
        /// `first` or `second`, as files are called.
        file: &'static str,
        /// The instruction.
        disputed: Disputed,
    },
    /// What stopped the proof: a sentence that names the file, the line, the statement and the block.
    Stopped(String),
}

/// Compares two functions whose surroundings are the same. If no meaning is chosen of instructions that have two, they
/// are taken for functions of their operands of which no more is known.
#[must_use]
pub fn compare(
    before: (&Module<'_>, &Function),
    after: (&Module<'_>, &Function),
    semantics: Semantics,
) -> Outcome {
    compare_packed(before, after, semantics, &[], Effort::Usual)
}

/// The same where the new function may have words that hold lanes of registers of the old one; what cannot be shown of
/// them is not assumed.
#[must_use]
pub fn compare_packed(
    before: (&Module<'_>, &Function),
    after: (&Module<'_>, &Function),
    semantics: Semantics,
    packed: &[Packed],
    effort: Effort,
) -> Outcome {
    let stop = match compared(before, after, semantics, packed, effort) {
        Ok(proof) => return Outcome::Proved(proof),
        Err(stop) => stop,
    };
    if semantics == Semantics::Undisputed {
        for (file, (module, function)) in [("first", before), ("second", after)] {
            if let Some(disputed) = disputed(module, function) {
                return Outcome::Disputed { file, disputed };
            }
        }
    }
    Outcome::Stopped(stop.text([before.0, after.0]))
}

fn compared(
    before: InModule<'_, '_, '_>,
    after: InModule<'_, '_, '_>,
    semantics: Semantics,
    packed: &[Packed],
    effort: Effort,
) -> Result<Proof, Stop> {
    let carried = |(cuts, product): ([Cut; 2], Product)| {
        let guarded = in_flight::check([before, after], &cuts, &product)?;
        let names = [Names::new(before.0, before.1), Names::new(after.0, after.1)];
        let walk = Walk::new(names, guarded, semantics, effort);
        Relation::new(walk, &cuts, &product, packed)?.carried()
    };
    let as_it_is = paired(before, after, Shape::AsItIs);
    let plain = as_it_is
        .or_else(|stop| paired(before, after, Shape::WithoutJumps).map_err(|_| stop))
        .and_then(carried);
    // What stands against a proof is said of the texts as they are.
    plain.or_else(|stop| paired(before, after, Shape::Folded).and_then(carried).map_err(|_| stop))
}

/// How bodies are cut into blocks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    AsItIs,
    /// Without blocks that only jump.
    WithoutJumps,
    /// So too, and ways that part and meet again, with nothing but computations in between, are one block.
    Folded,
}

/// The first instruction with two meanings.
fn disputed(module: &Module<'_>, function: &Function) -> Option<Disputed> {
    function.body.clone().filter_map(StmtId::new).find_map(|stmt| {
        let dispute = disputed_at(module, stmt)?;
        Some(Disputed { line: line(module, stmt), what: what(module, stmt), dispute })
    })
}

fn paired(
    before: InModule<'_, '_, '_>,
    after: InModule<'_, '_, '_>,
    shape: Shape,
) -> Result<([Cut; 2], Product), Stop> {
    let leave_out = shape != Shape::AsItIs;
    let mut old = Cut::new(before.0, &before.1.body, leave_out).map_err(|stop| stop.on(0))?;
    let mut new = Cut::new(after.0, &after.1.body, leave_out).map_err(|stop| stop.on(1))?;
    if shape == Shape::Folded && [old.fold(before.0), new.fold(after.0)] == [false; 2] {
        return Err(Stop::plain("nothing is folded"));
    }
    let product = Product::new([before.0, after.0], [&old, &new])?;
    Ok(([old, new], product))
}
