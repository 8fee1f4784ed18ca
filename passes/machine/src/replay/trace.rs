//! What other threads can observe of a run, and where two runs diverge.
//!
//! A store is observed at the next event at the latest: a call, a barrier, a fence, an atomic operation, the end.
//! Between two events other threads cannot observe in which order bytes were written, so the bytes count and not the
//! stores.

use ptxopt_grammar::tree::StmtId;
use std::collections::BTreeMap;
use std::ops::Range;

/// A store of up to eight bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Store {
    pub(super) stmt: StmtId,
    /// The number of the space, as [`super::memory::number`] gives it.
    pub(super) space: u8,
    pub(super) address: u64,
    pub(super) size: u32,
    pub(super) value: u64,
    /// Whether the value is the program's, and not that of a register that was never written.
    pub(super) defined: bool,
}

/// Something that other threads can observe.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) stmt: StmtId,
    /// What it is, registers aside.
    pub(super) key: u64,
    /// How many of all operands there are up to its last one.
    pub(super) operands: usize,
    /// How many of all stores came before it.
    pub(super) stores: usize,
}

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RunEnd {
    /// At its end, which is an event.
    Whole,
    /// Where it had gone round loops for long enough.
    Turns,
    /// Where the work of all lanes together was enough.
    Work,
    /// Where it depends on a register that was never written: from there on any behaviour is allowed.
    Free,
}

/// What a run did.
#[derive(Clone, Debug)]
pub(super) struct Trace {
    pub(super) stores: Vec<Store>,
    pub(super) events: Vec<Event>,
    /// What events are given, one after the other.
    operands: Vec<u128>,
    /// Whether each operand is the program's.
    defined: Vec<bool>,
    pub(super) end: RunEnd,
}

/// Where two runs part: the statements, and what they do differently.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Parting {
    pub(super) before: Option<StmtId>,
    pub(super) after: Option<StmtId>,
    pub(super) what: String,
}

impl Trace {
    pub(super) fn new() -> Self {
        let (stores, events) = (Vec::new(), Vec::new());
        Self { stores, events, operands: Vec::new(), defined: Vec::new(), end: RunEnd::Work }
    }

    /// Notes an event that is given these operands, of which each says whether it is the program's.
    pub(super) fn event(&mut self, stmt: StmtId, key: u64, operands: impl IntoIterator<Item = (u128, bool)>) {
        for (operand, defined) in operands {
            self.operands.push(operand);
            self.defined.push(defined);
        }
        let (operands, stores) = (self.operands.len(), self.stores.len());
        self.events.push(Event { stmt, key, operands, stores });
    }

    /// The places of what an event is given.
    fn operands_of(&self, event: usize) -> Range<usize> {
        let from = event.checked_sub(1).map_or(0, |before| self.events[before].operands);
        from..self.events[event].operands
    }

    fn stores_of(&self, event: usize) -> &[Store] {
        let from = event.checked_sub(1).map_or(0, |before| self.events[before].stores);
        let to = self.events.get(event).map_or(self.stores.len(), |event| event.stores);
        &self.stores[from..to]
    }

    /// Where `after` does what this run does not; `None` if it may stand in its place.
    pub(super) fn parting(&self, after: &Self) -> Option<Parting> {
        for (at, event) in self.events.iter().enumerate() {
            if after.events.len() <= at {
                let what = "is never reached".to_owned();
                return (after.end != RunEnd::Work).then_some(Parting {
                    before: Some(event.stmt),
                    after: None,
                    what,
                });
            }
            if let Some(parting) =
                stores(self.stores_of(at), after.stores_of(at)).or_else(|| events((self, after), at))
            {
                return Some(parting);
            }
        }
        // What a run that was cut off did after its last event is not visible to other threads yet.
        match (self.end, after.end) {
            (RunEnd::Whole, _) | (RunEnd::Turns, RunEnd::Turns | RunEnd::Whole) => {
                after.events.get(self.events.len()).map(|more| Parting {
                    before: None,
                    after: Some(more.stmt),
                    what: "is done once more".to_owned(),
                })
            }
            _ => None,
        }
    }
}

/// Whether an event of the one run may stand for that of the other.
fn events((before, after): (&Trace, &Trace), at: usize) -> Option<Parting> {
    let (one, other) = (&before.events[at], &after.events[at]);
    let part = |what: String| Some(Parting { before: Some(one.stmt), after: Some(other.stmt), what });
    let (given, given_after) = (before.operands_of(at), after.operands_of(at));
    if one.key != other.key || given.len() != given_after.len() {
        return part("comes in the place of something else".to_owned());
    }
    let operands = before.operands[given.clone()].iter().zip(&after.operands[given_after]);
    let mut operands = operands.zip(&before.defined[given]);
    let different = operands.find(|((value, new), defined)| **defined && value != new);
    different.and_then(|((value, new), _)| part(format!("is given {new:#x} instead of {value:#x}")))
}

/// Whether some stores leave the same bytes as others.
fn stores(before: &[Store], after: &[Store]) -> Option<Parting> {
    let same = |(one, other): (&Store, &Store)| {
        let place = |store: &Store| (store.space, store.address, store.size);
        place(one) == place(other) && one.value == other.value && one.defined
    };
    if before.len() == after.len() && before.iter().zip(after).all(same) {
        return None;
    }
    let (left, right) = (bytes(before), bytes(after));
    for (place, &(byte, defined, stmt)) in &left {
        let Some(&(new, _, by)) = right.get(place) else {
            let what = format!("does not write the byte at {:#x}", place.1);
            return Some(Parting { before: Some(stmt), after: None, what });
        };
        if defined && byte != new {
            let what = format!("writes {new:#04x} instead of {byte:#04x} to {:#x}", place.1);
            return Some(Parting { before: Some(stmt), after: Some(by), what });
        }
    }
    let more = right.iter().find(|(place, _)| !left.contains_key(place));
    more.map(|(place, &(.., by))| {
        let what = format!("writes the byte at {:#x}, which was not written before", place.1);
        Parting { before: None, after: Some(by), what }
    })
}

/// What stores leave: each byte, whether it is the program's, and the statement that wrote it last.
fn bytes(stores: &[Store]) -> BTreeMap<(u8, u64), (u8, bool, StmtId)> {
    let mut bytes = BTreeMap::new();
    for store in stores {
        let value = store.value.to_le_bytes();
        for (at, &byte) in (0_u64..).zip(&value[..store.size as usize]) {
            let place = (store.space, store.address.wrapping_add(at));
            bytes.insert(place, (byte, store.defined, store.stmt));
        }
    }
    bytes
}
