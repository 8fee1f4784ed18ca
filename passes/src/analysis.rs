//! What is known of the values of a function: facts forward, demanded bits backward, both to a fixed point.
//!
//! Facts begin as "cannot happen" and grow: a phi joins the facts of its incoming edges, and a fact that keeps
//! growing is widened, so loops end. Demanded bits begin as none and grow likewise: a statement with an effect
//! demands every bit that it reads, and so does an instruction without a meaning once any of its own bits are
//! demanded. Both iterations end because a widened fact and a growing mask can each change at most a few hundred
//! times.

use crate::facts::{Fact, demanded, forward};
use crate::graph::{Graph, Origin, Use, ValueId};
use crate::lanes::Contents;
use crate::site::Knowledge;
use ptxopt_grammar::meaning::term::ones;
use std::cell::RefCell;
use std::collections::BTreeSet;

/// How often a fact may grow before its ranges are given up; only facts in loops grow that often.
const GROWTHS: u32 = 8;

impl Knowledge {
    /// What is known of the values of `graph`.
    #[must_use]
    pub fn of(graph: &Graph<'_, '_>) -> Self {
        Self::with_whole(graph, &|_| false)
    }

    /// The same where all bits of some values are demanded as soon as any are. That demands more than need be, which
    /// is sound: it leaves less to change, and more to rely on.
    #[must_use]
    pub fn with_whole(graph: &Graph<'_, '_>, whole: &dyn Fn(ValueId) -> bool) -> Self {
        let (facts, demanded) = (facts(graph), demands(graph, whole));
        Self { facts, demanded, contents: RefCell::new(Contents::default()) }
    }

    /// What the instruction that writes `value` can compute, its guard aside.
    #[must_use]
    pub fn core_fact(&self, graph: &Graph<'_, '_>, value: ValueId) -> Fact {
        let entry = graph.value(value);
        let mut input = |number, _| self.facts[ValueId::of_input(number).index()];
        entry
            .core
            .map_or_else(|| Fact::top(entry.width.max(1)), |core| forward(graph.terms(), core, &mut input))
    }
}

fn facts(graph: &Graph<'_, '_>) -> Vec<Fact> {
    let mut facts: Vec<Fact> =
        graph.values().map(|value| Fact::bottom(graph.value(value).width.max(1))).collect();
    let mut grown = vec![0_u32; facts.len()];
    let mut work: BTreeSet<ValueId> = graph.values().collect();
    while let Some(value) = work.pop_first() {
        let old = &facts[value.index()];
        let mut new = old.join(&one(graph, value, &facts));
        if new == *old {
            continue;
        }
        grown[value.index()] += 1;
        if grown[value.index()] > GROWTHS {
            new = Fact::widen(old, &new);
            if new == *old {
                continue;
            }
        }
        facts[value.index()] = new;
        work.extend(graph.uses(value).map(|(user, _)| user));
    }
    facts
}

fn one(graph: &Graph<'_, '_>, value: ValueId, facts: &[Fact]) -> Fact {
    let entry = graph.value(value);
    let width = entry.width.max(1);
    match (entry.origin, entry.def) {
        (Origin::Phi(_), _) => {
            let incoming = graph.operands(value).map(|(operand, _)| &facts[operand.index()]);
            incoming.fold(Fact::bottom(width), |all, fact| all.join(fact))
        }
        (_, Some(def)) => {
            forward(graph.terms(), def, &mut |number, _| facts[ValueId::of_input(number).index()])
        }
        (
            Origin::Undefined | Origin::Read(_) | Origin::Opaque | Origin::Result(_) | Origin::Sink(_),
            None,
        ) => Fact::top(width),
    }
}

fn demands(graph: &Graph<'_, '_>, whole: &dyn Fn(ValueId) -> bool) -> Vec<u128> {
    let mut bits = vec![0_u128; graph.values().len()];
    let mut work: BTreeSet<ValueId> = BTreeSet::new();
    for value in graph.values() {
        if let Origin::Sink(_) = graph.value(value).origin {
            work.insert(value);
        }
    }
    let want = |bits: &mut Vec<u128>, work: &mut BTreeSet<ValueId>, value: ValueId, more: u128| {
        let more = if more != 0 && whole(value) { ones(graph.value(value).width) } else { more };
        let known = &mut bits[value.index()];
        if *known | more != *known {
            *known |= more;
            work.insert(value);
        }
    };
    while let Some(value) = work.pop_last() {
        let own = bits[value.index()];
        let entry = graph.value(value);
        let is_sink = matches!(entry.origin, Origin::Sink(_));
        for (operand, slot) in graph.operands(value).collect::<Vec<_>>() {
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
