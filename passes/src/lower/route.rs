//! Where lanes come from and go to: selectors, masks and merges.
//!
//! Lanes are computed in *slots*, the lanes of the words that an operation reads. Operands are brought to the slots
//! by a byte move each, unless they lie there already; lanes that are not computed hold whatever is cheapest. The
//! results are merged into `c` by one instruction, which can move them too. So the slots can be chosen where most
//! operands lie, and lanes that compute the same share one.

use super::Work;
use super::build::Build;
use super::lanes::{Geometry, Job, Operand};
use crate::recipe::Source;
use ptxopt_grammar::video::Routing;

/// The slot of each lane; meaningless for lanes that are not computed.
pub(super) type Slots = [u8; 4];

/// A lane of `a` or of `b`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Pick {
    pub(super) source: Source,
    pub(super) lane: u8,
}

/// What a lane computes of which operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Item {
    pub(super) lane: u8,
    pub(super) a: Pick,
    pub(super) b: Pick,
}

/// The lanes that are computed.
#[derive(Clone, Debug)]
pub(super) struct Routes {
    pub(super) geometry: Geometry,
    pub(super) mask: u8,
    pub(super) items: Vec<Item>,
}

/// The bytes of a lane as nibbles of a selector: of the first word, or of the second.
pub(super) fn nibbles(geometry: Geometry, from: u8, second: bool, to: u8) -> u64 {
    let bytes = geometry.bits() / 8;
    let offset = if second { 4 } else { 0 };
    (0..bytes)
        .map(|byte| {
            let from = u64::from(u32::from(from) * bytes + byte + offset);
            from << (4 * (u32::from(to) * bytes + byte))
        })
        .sum()
}

impl Routes {
    pub(super) fn of(routing: Routing, [a, b]: [Source; 2]) -> Self {
        let count = routing.lanes().count();
        let pick = |place: u8| {
            if place < count {
                Pick { source: a, lane: place }
            } else {
                Pick { source: b, lane: place - count }
            }
        };
        let item = |lane| Item { lane, a: pick(routing.a().pick(lane)), b: pick(routing.b().pick(lane)) };
        let mask = routing.mask();
        let items = (0..count).filter(|lane| mask >> lane & 1 == 1).map(item).collect();
        Self { geometry: Geometry { lanes: routing.lanes() }, mask, items }
    }

    pub(super) fn is_full(&self) -> bool {
        self.mask == self.geometry.lanes.full_mask()
    }

    /// The different pairs of operands.
    pub(super) fn pairs(&self) -> Vec<(Pick, Pick)> {
        let mut pairs: Vec<(Pick, Pick)> = Vec::new();
        for item in &self.items {
            if !pairs.contains(&(item.a, item.b)) {
                pairs.push((item.a, item.b));
            }
        }
        pairs
    }

    /// Whether no lane of a word is an operand of two different pairs: then the pairs vary independently, and what is
    /// said of their sum can be proved pair by pair.
    pub(super) fn are_independent(&self) -> bool {
        let mut seen: Vec<Pick> = Vec::new();
        for (a, b) in self.pairs() {
            let mut own = vec![a, b];
            own.retain(|pick| !matches!(pick.source, Source::Constant(_)));
            own.dedup();
            if own.iter().any(|pick| seen.contains(pick)) {
                return false;
            }
            seen.extend(own);
        }
        true
    }

    /// The slots that are worth trying: every lane in its own, each where its first or its second operand lies, and
    /// for a single pair the lowest and the highest.
    pub(super) fn slots(&self) -> Vec<Slots> {
        let fill = |slot: &dyn Fn(&Item) -> u8| {
            let mut slots = [0; 4];
            for item in &self.items {
                slots[usize::from(item.lane)] = slot(item);
            }
            slots
        };
        let own = fill(&|item| item.lane);
        let mut all = vec![own, fill(&|item| item.a.lane), fill(&|item| item.b.lane)];
        all.retain(|slots| self.moves(slots).is_some());
        let least = all.iter().filter_map(|slots| self.moves(slots)).min();
        all.retain(|slots| self.moves(slots) == least);
        if self.pairs().len() == 1 {
            let last = self.geometry.lanes.count() - 1;
            all.extend([fill(&|_| 0), fill(&|_| last)]);
        }
        let mut distinct: Vec<Slots> = Vec::new();
        for slots in all {
            if !distinct.contains(&slots) {
                distinct.push(slots);
            }
        }
        distinct
    }

    /// How many byte moves the slots take; `None` if two lanes that differ would share one.
    fn moves(&self, slots: &Slots) -> Option<usize> {
        let words = self.operands(slots)?;
        let moved = words.iter().filter(|wanted| in_place(wanted).is_none()).count();
        Some(moved + usize::from(!self.stays(slots) || !self.is_full()))
    }

    /// Whether every lane is computed in its own slot.
    fn stays(&self, slots: &Slots) -> bool {
        self.items.iter().all(|item| slots[usize::from(item.lane)] == item.lane)
    }

    /// What each slot reads; `None` if two lanes that differ would share one.
    fn operands(&self, slots: &Slots) -> Option<[[Option<Pick>; 4]; 2]> {
        let mut words = [[None; 4]; 2];
        for item in &self.items {
            let slot = usize::from(slots[usize::from(item.lane)]);
            for (word, pick) in words.iter_mut().zip([item.a, item.b]) {
                if word[slot].is_some_and(|other| other != pick) {
                    return None;
                }
                word[slot] = Some(pick);
            }
        }
        Some(words)
    }

    /// The slots that are computed.
    pub(super) fn active(&self, slots: Slots) -> u8 {
        self.items.iter().fold(0, |mask, item| mask | 1 << slots[usize::from(item.lane)])
    }

    /// How many lanes each slot is for.
    pub(super) fn counts(&self, slots: Slots) -> [u8; 4] {
        let mut counts = [0; 4];
        for item in &self.items {
            counts[usize::from(slots[usize::from(item.lane)])] += 1;
        }
        counts
    }

    /// The operands in their slots.
    pub(super) fn job(&self, build: &mut Build<'_>, work: Work, slots: Slots) -> Option<Job> {
        let [a, b] = self.operands(&slots)?;
        let x = Operand { source: self.word(build, a)?, signed: work.a_signed };
        let y = Operand { source: self.word(build, b)?, signed: work.b_signed };
        let [x, y] = work.ordered(x, y);
        Some(Job { geometry: self.geometry, x, y, active: self.active(slots) })
    }

    /// A word of these lanes; the others are any.
    fn word(&self, build: &mut Build<'_>, wanted: [Option<Pick>; 4]) -> Option<Source> {
        if let Some(source) = in_place(&wanted) {
            return Some(source);
        }
        let mut sources: Vec<Source> = wanted.iter().flatten().map(|pick| pick.source).collect();
        sources.sort();
        sources.dedup();
        let (&x, y) = (sources.first()?, sources.get(1).copied().unwrap_or(Source::Constant(0)));
        let selector = (0..self.geometry.lanes.count()).map(|slot| {
            let pick = wanted[usize::from(slot)].unwrap_or(Pick { source: x, lane: slot });
            nibbles(self.geometry, pick.lane, pick.source != x, slot)
        });
        let selector = selector.sum();
        Some(build.prmt(x, y, selector))
    }

    /// The results in their lanes, and `c` in the others.
    pub(super) fn merge(
        &self,
        build: &mut Build<'_>,
        slots: Slots,
        result: Source,
        c: Source,
    ) -> Option<Source> {
        if self.stays(&slots) {
            if self.is_full() {
                return Some(result);
            }
            let constant = matches!(c, Source::Constant(_));
            if build.with.lop3 && !constant && !build.is_move(result) {
                return Some(build.select(self.geometry.whole(self.mask), result, c));
            }
        }
        let places = self.items.iter().map(|item| (item.lane, slots[usize::from(item.lane)]));
        Some(self.joined(build, result, &places.collect::<Vec<_>>(), c))
    }

    /// The lanes of a result, given as lane and slot, and `c` in the others.
    fn joined(&self, build: &mut Build<'_>, result: Source, places: &[(u8, u8)], c: Source) -> Source {
        let lane = |lane: u8| match places.iter().find(|place| place.0 == lane) {
            Some(&(_, slot)) => nibbles(self.geometry, slot, false, lane),
            None => nibbles(self.geometry, lane, true, lane),
        };
        let c = if self.is_full() { Source::Constant(0) } else { c };
        let selector = (0..self.geometry.lanes.count()).map(lane).sum();
        build.prmt(result, c, selector)
    }

    /// Lanes given as a word and the byte of it where each begins, and `c` in the others.
    pub(super) fn collect(&self, build: &mut Build<'_>, results: &[(Source, u8)], c: Source) -> Source {
        let bytes = u8::try_from(self.geometry.bits() / 8).expect("a lane has one byte or two");
        let mut word = None;
        let mut words: Vec<Source> = results.iter().map(|result| result.0).collect();
        words.dedup();
        for next in words {
            let selector = (0..4_u8).map(|byte| {
                let item = self.items.iter().position(|item| item.lane == byte / bytes);
                let own = item.map(|item| results[item]).filter(|result| result.0 == next);
                let from = match own {
                    Some((_, first)) => first + byte % bytes,
                    None => 4 + byte,
                };
                u64::from(from) << (4 * byte)
            });
            let selector = selector.sum();
            let rest = match word {
                Some(word) => word,
                None if self.is_full() => next,
                None => c,
            };
            word = Some(build.prmt(next, rest, selector));
        }
        word.unwrap_or(c)
    }
}

/// The word whose lanes are wanted, each in its own place.
fn in_place(wanted: &[Option<Pick>; 4]) -> Option<Source> {
    let mut source = None;
    for (slot, pick) in wanted.iter().enumerate().filter_map(|(slot, pick)| Some((slot, (*pick)?))) {
        if usize::from(pick.lane) != slot || source.is_some_and(|source| source != pick.source) {
            return None;
        }
        source = Some(pick.source);
    }
    source
}
