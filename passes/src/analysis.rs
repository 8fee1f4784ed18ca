//! What is known of the values of a function: facts forward, demanded bits backward, both to a fixed point.
//!
//! Facts begin as "cannot happen" and grow: a phi joins the facts of its incoming edges, and a fact that keeps
//! growing is widened, so loops end. Demanded bits begin as none and grow likewise: a statement with an effect
//! demands every bit that it reads, and so does an instruction without a meaning once any of its own bits are
//! demanded. Both iterations end because a widened fact and a growing mask can each change at most a few hundred
//! times.
//!
//! Where only a part of the graph has terms, nothing is known of the values outside it, and all their bits are demanded.

use crate::facts::{Fact, Facts, Masks, Queue, demanded, forward};
use crate::fuse::{AllFunctions, AllPieces};
use crate::graph::{Graph, Origin, Use, ValueId};
use crate::recipe::Source;
use crate::site::Knowledge;
use hashbrown::HashMap;
use ptxopt_grammar::meaning::term::ones;
use std::cell::RefCell;

/// How often a fact may grow before its ranges are given up; only facts in loops grow that often.
const GROWTHS: u32 = 8;

impl Knowledge {
    /// What is known of the values of `graph`.
    #[must_use]
    pub fn of(graph: &Graph<'_, '_>) -> Self {
        Self::with_whole(graph, &|_| false)
    }

    /// The same where all bits of some values are demanded as soon as any are. That demands more than need be, which
    /// is sound: it leaves less to change, and more to rely on. The zeros above a number in a word are always demanded
    /// if one of them is.
    #[must_use]
    pub fn with_whole(graph: &Graph<'_, '_>, whole: &dyn Fn(ValueId) -> bool) -> Self {
        let facts = facts(graph);
        let demanded = demands(graph, &facts, whole);
        Self {
            facts,
            demanded,
            contents: RefCell::default(),
            signatures: RefCell::default(),
            pieces: AllPieces::default(),
        }
    }

    /// The same, with what is known of functions of lanes.
    pub(crate) fn knowing(self, functions: AllFunctions) -> Self {
        Self { pieces: self.pieces.knowing(functions), ..self }
    }

    /// The number that a source is known to be.
    #[must_use]
    pub fn constant(&self, source: Source) -> Option<u64> {
        match source {
            Source::Constant(value) => Some(value),
            Source::Value(value) => {
                self.facts.get(value.index()).constant().and_then(|value| u64::try_from(value).ok())
            }
            Source::Step(_) => None,
        }
    }

    /// What the instruction that writes `value` can compute, its guard aside.
    #[must_use]
    pub fn core_fact(&self, graph: &Graph<'_, '_>, value: ValueId) -> Fact {
        let entry = graph.value(value);
        let mut input = |number, _| self.facts.get(ValueId::of_input(number).index());
        entry
            .core
            .map_or_else(|| Fact::top(entry.width.max(1)), |core| forward(graph.terms(), core, &mut input))
    }
}

/// How many bits a word, a half and a byte have.
const WORD: u32 = 32;
const HALF: u32 = 16;
const BYTE: u32 = 8;

/// From how many incoming edges on a phi takes in only those whose facts have grown. Otherwise each of them would ask
/// for all of them again, which is quadratic.
const MANY: usize = 16;

fn facts(graph: &Graph<'_, '_>) -> Facts {
    let begin = |value| (graph.value(value).width.max(1), graph.is_known(value));
    let mut facts = Facts::of(graph.values().map(begin));
    let mut grown: HashMap<ValueId, u32> = HashMap::new();
    let mut joined: HashMap<ValueId, Fact> = HashMap::new();
    let mut work = Queue::new(graph.values().len());
    graph.values().filter(|&value| graph.is_known(value)).for_each(|value| work.insert(value.index()));
    while let Some(value) = work.pop_first().map(ValueId::numbered) {
        let old = facts.get(value.index());
        if old.is_top() {
            continue;
        }
        let found = if is_wide(graph, value) {
            joined.remove(&value).unwrap_or(Fact::bottom(old.width()))
        } else {
            one(graph, value, &facts)
        };
        let mut new = old.join(&found);
        if new == old {
            continue;
        }
        // The first growth is from "cannot happen".
        if !old.is_bottom() {
            let grown = grown.entry(value).or_insert(1);
            *grown += 1;
            if *grown > GROWTHS {
                new = Fact::widen(&old, &new);
                if new == old {
                    continue;
                }
            }
        }
        facts.set(value.index(), &new);
        for (user, _) in graph.uses(value).filter(|&(user, _)| graph.is_known(user)) {
            work.insert(user.index());
            if is_wide(graph, user) {
                let joined = joined.entry(user).or_insert(new);
                *joined = joined.join(&new);
            }
        }
    }
    facts
}

/// Whether a value is a phi with many incoming edges.
fn is_wide(graph: &Graph<'_, '_>, value: ValueId) -> bool {
    matches!(graph.value(value).origin, Origin::Phi(_)) && graph.operands(value).len() >= MANY
}

fn one(graph: &Graph<'_, '_>, value: ValueId, facts: &Facts) -> Fact {
    let entry = graph.value(value);
    let width = entry.width.max(1);
    match (entry.origin, entry.def) {
        (Origin::Phi(_), _) => {
            let incoming = graph.operands(value).map(|(operand, _)| facts.get(operand.index()));
            incoming.fold(Fact::bottom(width), |all, fact| all.join(&fact))
        }
        (_, Some(def)) => {
            forward(graph.terms(), def, &mut |number, _| facts.get(ValueId::of_input(number).index()))
        }
        (
            Origin::Undefined | Origin::Read(_) | Origin::Opaque | Origin::Result(_) | Origin::Sink(_),
            None,
        ) => Fact::top(width),
    }
}

fn demands(graph: &Graph<'_, '_>, facts: &Facts, whole: &dyn Fn(ValueId) -> bool) -> Masks {
    let mut bits = Masks::none(graph.values().len());
    let mut work = Queue::new(graph.values().len());
    for value in graph.values() {
        let width = graph.value(value).width;
        if let Origin::Sink(_) = graph.value(value).origin {
            work.insert(value.index());
        } else if width > 0 && !graph.is_followed(value) {
            bits.set(value.index(), ones(width));
            work.insert(value.index());
        }
    }
    let want = |bits: &mut Masks, work: &mut Queue, value: ValueId, more: u128| {
        let more = match more {
            0 => 0,
            _ if whole(value) => ones(graph.value(value).width),
            _ => more | zeros_above(&facts.get(value.index()), more),
        };
        let known = bits[value.index()];
        if known | more != known {
            bits.set(value.index(), known | more);
            work.insert(value.index());
        }
    };
    while let Some(value) = work.pop_last().map(ValueId::numbered) {
        let own = bits[value.index()];
        let entry = graph.value(value);
        let is_sink = matches!(entry.origin, Origin::Sink(_));
        for (operand, slot) in graph.operands(value) {
            match slot {
                Use::Whole if is_sink || own != 0 => {
                    want(&mut bits, &mut work, operand, ones(graph.value(operand).width));
                }
                Use::Low(bits_read) if is_sink => {
                    let read = ones(bits_read) & ones(graph.value(operand).width);
                    want(&mut bits, &mut work, operand, read);
                }
                Use::Phi(_) => want(&mut bits, &mut work, operand, own),
                Use::Whole | Use::Low(_) | Use::Term => {}
            }
        }
        if let Some(def) = entry.def.filter(|_| own != 0) {
            demanded(graph.terms(), def, own, &mut |number, more| {
                want(&mut bits, &mut work, ValueId::of_input(number), more);
            });
        }
    }
    bits
}

/// The zeros of a word above a number of a byte to a half, if some of them are among these bits.
///
/// What computes such a number has to make zeros above it in any case. If all of them are demanded, what is made of the
/// word may rely on them as well: a multiplication that does two at once, for example.
fn zeros_above(fact: &Fact, bits: u128) -> u128 {
    let has = u128::BITS - fact.unsigned().1.leading_zeros();
    let zeros = ones(WORD) & !ones(has.max(1));
    let is_number = fact.width() == WORD && (BYTE..=HALF).contains(&has);
    if is_number && bits & zeros != 0 { zeros } else { 0 }
}
