//! What is assumed where control-flow paths join, shown on every incoming edge.
//!
//! An assumption that fails on an edge is weakened: the bits that may differ are not assumed equal, the bits that may
//! have another value not known, a range that may be left is given up. Only what the proofs of the round used is
//! shown: the inputs of their excerpts, and all that the compared events, conditions and results are made of, over
//! the operands of instructions without a meaning and over the edges of other meetings.
//!
//! On an edge that a condition guards, an assumption has to hold only where the condition does.

use super::questions::Answer;
use super::relation::{Incoming, Meeting, Place, Relation, WrittenOn};
use super::terms::Input;
use super::walk::{Held, Walk};
use crate::Assumption;
use hashbrown::HashSet;
use ptxopt_grammar::meaning::term::{Op, Term};
use std::collections::BTreeSet;

impl Relation<'_, '_, '_> {
    /// Shows what the proofs used; whether something had to be weakened.
    pub(super) fn shown(&mut self) -> bool {
        let mut weakened = false;
        let mut marked: HashSet<Term> = HashSet::new();
        let mut done: BTreeSet<Place> = BTreeSet::new();
        let mut work: Vec<Term> = self.walk.roots.clone();
        let mut words = self.joined_words();
        loop {
            let mut places: BTreeSet<Place> = words.drain(..).collect();
            let used = std::mem::take(&mut self.walk.questions.used);
            places.extend(used.into_iter().filter_map(|number| self.place(number)));
            while let Some(term) = work.pop() {
                if !marked.insert(term) {
                    continue;
                }
                work.extend(self.walk.arena.terms.children(term));
                work.extend(self.walk.operands.get(&term).into_iter().flatten());
                if let Op::Input(number) = self.walk.arena.terms.op(term) {
                    places.extend(self.place(number));
                }
            }
            places.retain(|place| done.insert(*place));
            if places.is_empty() {
                return weakened;
            }
            for place in places {
                for incoming in self.incoming.get(&place).cloned().unwrap_or_default() {
                    weakened |= self.comes(place, incoming);
                    let held = incoming.held.into_iter().flatten();
                    work.extend(held.flat_map(|held| [held.value, held.written]));
                    work.extend(incoming.condition);
                }
            }
        }
    }

    fn place(&self, number: u32) -> Option<Place> {
        match *self.walk.arena.what(number) {
            Input::Meeting(pair, register)
            | Input::Rest(pair, register)
            | Input::Written(pair, register, _) => Some((pair, register)),
            Input::Parameter(_) | Input::Named(_) | Input::Unknown(_) => None,
        }
    }

    /// Shows what is assumed of a place on an edge; whether it had to be weakened.
    fn comes(&mut self, place: Place, incoming: Incoming) -> bool {
        let width = self.walk.registers.width(place.1);
        let mut meeting: Meeting = self.assumed[&place];
        let terms = &mut self.walk.arena.terms;
        let nothing = Held { value: terms.constant(0, width), written: terms.bit(false) };
        let [old, new] = incoming.held.map(|held| held.unwrap_or(nothing));
        let always = terms.bit(true);
        let mut changed = false;
        let sure = [old.written, new.written]
            .map(|written| self.on_edge(incoming, written, always, 1) == Answer::Equal);
        let alike = self.on_edge(incoming, old.written, new.written, 1) == Answer::Equal;
        let written = match meeting.written {
            WrittenOn::Always if sure == [true; 2] => WrittenOn::Always,
            WrittenOn::Always | WrittenOn::Alike if alike => WrittenOn::Alike,
            WrittenOn::Always => WrittenOn::Apart(sure),
            WrittenOn::Alike => WrittenOn::Apart([false; 2]),
            WrittenOn::Apart(before) => WrittenOn::Apart([before[0] && sure[0], before[1] && sure[1]]),
        };
        if written != meeting.written {
            (meeting.written, changed) = (written, true);
        }
        if matches!(written, WrittenOn::Apart(_)) {
            meeting.bits = 0;
        }
        // What was not written means nothing.
        let mut values = [old, new].map(|held| held.value);
        if meeting.written != WrittenOn::Always {
            let terms = &mut self.walk.arena.terms;
            values = [old, new].map(|held| terms.choose(held.written, held.value, nothing.value));
        }
        while meeting.bits != 0 {
            match self.on_edge(incoming, values[0], values[1], meeting.bits) {
                Answer::Equal => break,
                Answer::Differs(bits) => meeting.bits &= !bytes(bits),
                Answer::Unknown => meeting.bits = 0,
            }
            changed = true;
        }
        changed |= self.is_known(incoming, old, &mut meeting.known, width);
        self.assumed.insert(place, meeting);
        changed
    }

    /// Shows what is known of the old side on an edge; whether it had to be weakened.
    fn is_known(&mut self, incoming: Incoming, old: Held, known: &mut Assumption, width: u32) -> bool {
        if *known == Assumption::NONE {
            return false;
        }
        let before = *known;
        let terms = &mut self.walk.arena.terms;
        let always = terms.bit(true);
        // What was not written can be taken for anything that is as assumed.
        let taken = match incoming.condition {
            Some(condition) => terms.and(condition, old.written),
            None => old.written,
        };
        let edge = Incoming { condition: (taken != always).then_some(taken), ..incoming };
        while known.known != 0 {
            let value = self.walk.arena.terms.constant(known.value, width);
            match self.on_edge(edge, old.value, value, known.known) {
                Answer::Equal => break,
                Answer::Differs(bits) => known.known &= !bits,
                Answer::Unknown => known.known = 0,
            }
        }
        known.value &= known.known;
        if let Some((low, high)) = known.unsigned {
            let inside = self.inside(old.value, [low, high], width, false);
            if self.on_edge(edge, inside, always, 1) != Answer::Equal {
                known.unsigned = None;
            }
        }
        if let Some((low, high)) = known.signed {
            let bounds = [low.cast_unsigned(), high.cast_unsigned()];
            let inside = self.inside(old.value, bounds, width, true);
            if self.on_edge(edge, inside, always, 1) != Answer::Equal {
                known.signed = None;
            }
        }
        *known != before
    }

    /// One bit: whether a value lies between two bounds.
    fn inside(&mut self, value: Term, bounds: [u128; 2], width: u32, signed: bool) -> Term {
        let terms = &mut self.walk.arena.terms;
        let [low, high] = bounds.map(|bound| terms.constant(bound, width));
        let (below, above) = if signed {
            (terms.signed_less(value, low), terms.signed_less(high, value))
        } else {
            (terms.unsigned_less(value, low), terms.unsigned_less(high, value))
        };
        let outside = terms.or(below, above);
        terms.not(outside)
    }

    /// Whether two terms are equal on some bits wherever control takes an edge.
    fn on_edge(&mut self, incoming: Incoming, a: Term, b: Term, bits: u128) -> Answer {
        let Walk { arena, questions, .. } = &mut self.walk;
        let answer = questions.equal(arena, a, b, bits);
        let Some(condition) = incoming.condition.filter(|_| answer != Answer::Equal) else { return answer };
        let nothing = arena.terms.constant(0, arena.terms.width(a));
        let [a, b] = [a, b].map(|value| arena.terms.choose(condition, value, nothing));
        questions.equal(arena, a, b, bits)
    }
}

/// All bits of the bytes that some bits are in.
fn bytes(bits: u128) -> u128 {
    (0..16)
        .map(|byte| 0xff_u128 << (8 * byte))
        .filter(|byte| bits & byte != 0)
        .fold(0, |all, byte| all | byte)
}
