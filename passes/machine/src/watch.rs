//! Watching a run: what registers hold where statements name them, and changing it.
//!
//! A module that is decoded to be watched has an operation of its own before each instruction for every register
//! that it reads, and behind it for every one that it writes. Any other module has no such operations, so code
//! that is not watched does not run more slowly.

use super::code::{Inst, Slot};
use super::execute::Context;
use super::warp::Warp;
use ptxopt_grammar::names::Part;
use ptxopt_grammar::tree::{NodeId, StmtId};

/// A name of a register in a statement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sight {
    /// The statement.
    pub stmt: StmtId,
    /// The name.
    pub node: NodeId,
    /// Which register of its declaration it is: a name may mean all components of a vector.
    pub part: Part,
    /// Whether the statement was executed and has written it; else it is about to read it. Its guard may fail.
    pub written: bool,
}

/// An observer of a run, called for every register that an executed statement names.
pub trait Watcher {
    /// A register holds `value` on some lane, and whether that is `defined`; the answer is written to it, defined.
    fn see(&mut self, sight: Sight, value: u128, defined: bool) -> Option<u128>;
}

/// What is to be seen, and where it lies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Watched {
    pub(super) sight: Sight,
    pub(super) slot: Slot,
}

/// Shows the lanes of `mask` to the watcher.
#[cold]
pub(super) fn run<const W: usize>(cx: &mut Context<'_>, warp: &mut Warp<W>, i: &Inst, mask: u32) {
    let Watched { sight, slot } = cx.code.watched[i.x as usize];
    let Some(watcher) = &mut cx.watcher else { return };
    for lane in (0..W).filter(|lane| mask >> lane & 1 == 1) {
        let (value, defined) = warp.read(slot, lane);
        if let Some(value) = watcher.see(sight, value, defined) {
            warp.write(slot, lane, value, true);
        }
    }
}
