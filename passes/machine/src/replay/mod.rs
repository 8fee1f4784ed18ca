//! Replay: a function before and after its rewrites, both run from their texts on the same inputs, and compared.
//!
//! A proof is about the graph of a function, so it holds no better than the graph does. A replay uses no graph, no
//! facts and no terms of the prover: it decodes both texts anew and runs them, and what others can observe of a run
//! must be the same: the bytes that were written, at each call, barrier, fence, atomic operation and at the end, and
//! what these are given.
//!
//! **Everything can be replayed.** Memory holds made-up bytes wherever an address leads, the same for both texts.
//! Instructions that act, work across lanes or cannot be evaluated give results that are a function of their text,
//! their operands and, unless they only compute, of what happened before. So a run needs no launch, no buffers, no
//! callee.
//!
//! **What is not claimed.** A replay proves nothing: it tries some inputs, and branches are never forced. Which of
//! the changed statements were reached is counted. What depends on a register that was never written may change; a
//! run ends where control flow or an address does. Bounds are turns around loops, which no rewrite changes, and all
//! work together.

pub(super) mod inputs;
mod memory;
mod run;
mod trace;

#[cfg(test)]
mod tests;

use super::code::{Code, Transfer};
use super::decode::{Replayed, decode_to_replay};
use super::on_one_line;
use inputs::Inputs;
use ptxopt_grammar::tree::{Module, StmtId};
use run::{Pass, Replayable, Text};
use std::collections::BTreeSet;
use trace::{Parting, RunEnd};

/// How many runs a pass makes.
const LANES: usize = 16;
/// How many passes there are; more of them only where these did not reach all that changed.
const PASSES: u64 = 2;
/// How many there are at most.
const MOST_PASSES: u64 = 5;
/// How often a run goes back in the text before it is cut off.
const MOST_TURNS: u32 = 48;
/// How many instructions a pass over the original executes at most, those of several lanes at once counted once: so
/// many for each instruction of the function, and some besides.
const STEPS_PER_INSTRUCTION: u64 = 48;
const STEPS_BESIDES: u64 = 2000;

/// A function that was changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Changed {
    /// Its name.
    pub function: String,
    /// The statements of the original that are others now, or gone.
    pub stmts: BTreeSet<StmtId>,
}

/// What a replay of a function showed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shown {
    /// How many of the changed statements some run came to, and how many there are.
    pub reached: (usize, usize),
    /// Where the texts diverge, if they do.
    pub difference: Option<Difference>,
}

/// Something that the new text does differently.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// The statement of the original that acts, if the new text lacks that.
    pub before: Option<String>,
    /// The statement of the new text that acts, if it does.
    pub after: Option<String>,
    /// What it does differently: a predicate to a statement.
    pub what: String,
    /// The pass and the lane that show it.
    pub run: (u64, usize),
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (pass, lane) = self.run;
        let at = self.after.as_deref().or(self.before.as_deref()).unwrap_or_default();
        write!(f, "`{at}` {} (run {lane} of pass {pass})", self.what)
    }
}

/// One of the two texts, decoded.
struct Side<'m, 't> {
    module: &'m Module<'t>,
    code: Code,
    shift: u32,
    functions: Vec<Option<Replayed>>,
}

impl<'m, 't> Side<'m, 't> {
    fn new(module: &'m Module<'t>, names: &[&str]) -> Self {
        let (code, shift, functions) = decode_to_replay(module, names);
        Self { module, code, shift, functions }
    }

    fn function(&self, at: usize) -> Option<(Replayable<'_>, &[Transfer])> {
        let Replayed { number, results, parameters } = self.functions.get(at)?.as_ref()?;
        let replayable = Replayable { code: &self.code, function: *number, results, shift: self.shift };
        Some((replayable, parameters))
    }
}

/// Two texts, decoded so that functions of the one can be replayed in the other.
pub struct Replay<'r, 'm, 't> {
    old: Side<'m, 't>,
    new: Side<'m, 't>,
    changed: &'r [Changed],
}

impl std::fmt::Debug for Replay<'_, '_, '_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Replay").field("changed", &self.changed).finish_non_exhaustive()
    }
}

impl<'r, 'm, 't> Replay<'r, 'm, 't> {
    /// The functions that were `changed`, in both texts.
    #[must_use]
    pub fn new(before: &'m Module<'t>, after: &'m Module<'t>, changed: &'r [Changed]) -> Self {
        let names: Vec<&str> = changed.iter().map(|changed| changed.function.as_str()).collect();
        Self { old: Side::new(before, &names), new: Side::new(after, &names), changed }
    }

    /// What a replay of one of them shows, by its place in the list; `None` for one that either text lacks.
    #[must_use]
    pub fn function(&self, at: usize) -> Option<Shown> {
        function(&self.old, &self.new, at, &self.changed[at].stmts)
    }
}

/// Replays functions of `before` in `after`, in order; `None` for one that either text lacks.
#[must_use]
pub fn replay(before: &Module<'_>, after: &Module<'_>, changed: &[Changed]) -> Vec<Option<Shown>> {
    let replay = Replay::new(before, after, changed);
    (0..changed.len()).map(|at| replay.function(at)).collect()
}

fn function(old: &Side<'_, '_>, new: &Side<'_, '_>, at: usize, changed: &BTreeSet<StmtId>) -> Option<Shown> {
    let ((before, given), (after, given_after)) = (old.function(at)?, new.function(at)?);
    let shape = &old.code.functions[before.function];
    let length = u64::from(shape.end - shape.start);
    let mut unreached = changed.clone();
    let mut difference = None;
    for number in 0..MOST_PASSES {
        let inputs = Inputs::new(shape, number);
        let work = length * STEPS_PER_INSTRUCTION + STEPS_BESIDES;
        let seen = Pass::new(before, &inputs, Text::Original).with_parameters(given).run(work);
        let again = Pass::new(after, &inputs, Text::New).with_parameters(given_after);
        let again = if seen.traces.iter().any(|trace| trace.end == RunEnd::Work) {
            again.run(2 * seen.steps + STEPS_BESIDES)
        } else {
            // Turns bound it: where a loop has lost its end, that is to be seen.
            again.run(u64::MAX)
        };
        let insts = &old.code.insts[shape.start as usize..shape.end as usize];
        for (inst, _) in insts.iter().zip(&seen.reached).filter(|(_, reached)| **reached) {
            unreached.remove(&inst.stmt);
        }
        let mut lanes = seen.traces.iter().zip(&again.traces).enumerate();
        let parting = lanes.find_map(|(lane, (one, other))| Some((lane, one.parting(other)?)));
        if let Some((lane, Parting { before, after, what })) = parting {
            let text = |side: &Side<'_, '_>, stmt: Option<StmtId>| Some(on_one_line(side.module, stmt?));
            let (before, after) = (text(old, before), text(new, after));
            difference = Some(Difference { before, after, what, run: (number, lane) });
        }
        if difference.is_some() || unreached.is_empty() && number + 1 >= PASSES {
            break;
        }
    }
    Some(Shown { reached: (changed.len() - unreached.len(), changed.len()), difference })
}
