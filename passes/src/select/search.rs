//! The search: one place after the other takes the spelling with which everything costs least, until nothing changes.
//!
//! A place alone may find no better spelling where several together would: what they share is paid for once. So for
//! each node that spellings of several places contain, these places are tried together. And what computes a value goes
//! only when nothing reads it any more, so for each value all its readers are tried together with spellings that do not
//! read it.

use super::{Near, Nodes, StepId, Uses, decided};
use crate::graph::ValueId;
use hashbrown::hash_map::Entry;
use hashbrown::{HashMap, HashSet};
use ptxopt_grammar::tree::StmtId;
use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::rc::Rc;

/// How often places are looked at, at most.
const SWEEPS: usize = 4;

/// How many places are tried together, at most.
pub(super) const TOGETHER: usize = 32;

/// Over how many moves a value is followed to what would have to do without it.
const MOVES: usize = 10;

/// A spelling of a place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Candidate {
    /// Its number among those of its place.
    pub(crate) number: usize,
    /// The nodes of its steps, in order, without the last step.
    pub(crate) nodes: Vec<StepId>,
    /// Those that cost something, each once.
    pub(crate) paid: Vec<StepId>,
    /// What the last step costs, which is never shared.
    pub(crate) last: u32,
    /// The least that all of it may cost alone: what costs are sure of are upper bounds, and of two that are equal the one
    /// that may be shorter is better.
    pub(crate) least: u32,
    /// The values that it reads.
    pub(crate) values: Vec<ValueId>,
    /// How far the module's head must be raised for it; of equal ones the least far counts.
    pub(crate) reach: u8,
}

/// A statement, and its spellings besides its own.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) stmt: StmtId,
    pub(crate) candidates: Vec<Rc<Candidate>>,
}

/// What a choice would gain.
pub(crate) struct Gain<'g> {
    pub(crate) stmt: StmtId,
    /// The number of the spelling.
    pub(crate) number: usize,
    /// What the statement's own instruction costs: alone, and beside the parts that other instructions need too.
    pub(crate) own: (u32, u32),
    /// How many machine instructions fewer there are.
    pub(crate) saved: i64,
    /// The statements that go.
    pub(crate) gone: &'g [StmtId],
    /// The statements and spellings that are chosen together, itself among them; empty if it is chosen alone.
    pub(crate) together: &'g [(StmtId, usize)],
}

/// All that is searched.
pub(crate) struct Search<'s> {
    pub(crate) nodes: &'s Nodes,
    /// In the order of the text.
    pub(crate) places: &'s [Place],
    /// Which places are near which, once that was asked.
    pub(crate) near: &'s OnceCell<Near>,
    /// Whether a gain is worth a change.
    pub(crate) pays: &'s dyn Fn(&Gain<'_>) -> bool,
}

impl Search<'_> {
    /// Chooses spellings for all places.
    pub(crate) fn everywhere(&self, uses: &mut Uses<'_, '_, '_>) {
        self.search(uses, &(0..self.places.len()).collect::<Vec<usize>>());
    }

    /// Chooses spellings again after those of some statements were struck out.
    pub(crate) fn around(&self, uses: &mut Uses<'_, '_, '_>, struck: &[StmtId]) {
        self.search(uses, &self.near(uses, struck));
    }

    /// Chooses spellings of these places, and of those near what changes.
    ///
    /// A place that is improved alone may read a value that would have gone, and a value that goes may be what others
    /// would have read. So both orders are tried, and the better one counts. Where the cheapest spellings of several places
    /// keep what lies between them, those that go further back may not.
    fn search(&self, uses: &mut Uses<'_, '_, '_>, active: &[usize]) {
        let mut readers = Readers::of(uses, self.places);
        let mut groups = sharing(self.nodes, self.places);
        groups.extend(decided::groups(uses, self.nodes, self.places));
        let before = self.chosen(uses);
        self.sweeps(uses, &mut readers, &groups, active.to_vec());
        let (alone, least) = (self.chosen(uses), uses.total());
        self.choose(uses, before);
        let mut retired = Vec::new();
        readers.forget();
        for &at in active {
            readers.retire(self, uses, &self.places[at], false, &mut retired);
        }
        if !retired.is_empty() {
            let all = self.near(uses, &retired).into_iter().chain(active.iter().copied());
            let all: BTreeSet<usize> = all.collect();
            self.sweeps(uses, &mut readers, &groups, all.into_iter().collect());
        }
        if retired.is_empty() || uses.total() >= least {
            self.choose(uses, alone);
        }
        let mut changed = Vec::new();
        readers.forget();
        for &at in active {
            readers.retire(self, uses, &self.places[at], true, &mut changed);
        }
        if !changed.is_empty() {
            self.sweeps(uses, &mut readers, &groups, self.near(uses, &changed));
        }
    }

    /// The choices for all places.
    fn chosen(&self, uses: &Uses<'_, '_, '_>) -> Vec<Option<Rc<Candidate>>> {
        self.places.iter().map(|place| uses.chosen(place.stmt).cloned()).collect()
    }

    fn choose(&self, uses: &mut Uses<'_, '_, '_>, choices: Vec<Option<Rc<Candidate>>>) {
        for (place, choice) in self.places.iter().zip(choices) {
            let same = match (uses.chosen(place.stmt), &choice) {
                (Some(last), Some(next)) => Rc::ptr_eq(last, next),
                (None, None) => true,
                (Some(_), None) | (None, Some(_)) => false,
            };
            if !same {
                uses.choose(self.nodes, place.stmt, choice);
            }
        }
    }

    /// The places near these statements, which have places themselves.
    fn near(&self, uses: &Uses<'_, '_, '_>, stmts: &[StmtId]) -> Vec<usize> {
        let at = |stmt: &StmtId| self.places.binary_search_by_key(stmt, |place| place.stmt);
        let at = |stmt| at(stmt).expect("places are in the order of the text, and this is one");
        let near = self.near.get_or_init(|| Near::of(uses, self.nodes, self.places));
        near.around(stmts.iter().map(at))
    }

    /// Improves places, and then those near what changed, until nothing changes.
    fn sweeps(
        &self,
        uses: &mut Uses<'_, '_, '_>,
        readers: &mut Readers<'_>,
        groups: &[Group<'_>],
        mut active: Vec<usize>,
    ) {
        for _ in 0..SWEEPS {
            let mut changed = Vec::new();
            for place in active.iter().map(|&at| &self.places[at]) {
                if improve(uses, self.nodes, place, self.pays) {
                    changed.push(place.stmt);
                }
            }
            let is_active =
                |place: &Place| active.binary_search_by_key(&place.stmt, |&at| self.places[at].stmt).is_ok();
            let open = groups.iter().filter(|group| group.sharers.iter().any(|(place, _)| is_active(place)));
            for group in open {
                let total = uses.total();
                if group.is_left(uses) && self.all_or_none(uses, &group.sharers, total) {
                    changed.extend(group.sharers.iter().map(|(place, _)| place.stmt));
                }
            }
            readers.forget();
            for &at in &active {
                readers.retire(self, uses, &self.places[at], false, &mut changed);
            }
            if changed.is_empty() {
                break;
            }
            active = self.near(uses, &changed);
        }
    }

    /// Chooses these spellings if everything gets cheaper with all of them, and costs less than this; whether it did.
    fn all_or_none(&self, uses: &mut Uses<'_, '_, '_>, sharers: &[Sharer<'_>], below: i64) -> bool {
        let total = uses.total();
        let mut undo = Vec::new();
        let mut gone = Vec::new();
        for &(place, candidate) in sharers {
            if !uses.is_present(place.stmt) {
                continue;
            }
            let own = uses.own_cost(place.stmt);
            let before = uses.choose(self.nodes, place.stmt, Some(Rc::clone(candidate)));
            gone.extend_from_slice(uses.gone());
            undo.push((place.stmt, candidate.number, own, before));
        }
        let saved = total - uses.total();
        let together: Vec<(StmtId, usize)> = undo.iter().map(|&(stmt, number, ..)| (stmt, number)).collect();
        let enough = |&(stmt, number, own, _): &(StmtId, usize, (u32, u32), Option<Rc<Candidate>>)| {
            (self.pays)(&Gain { stmt, number, own, saved, gone: &gone, together: &together })
        };
        if saved > 0 && uses.total() < below && undo.iter().all(enough) {
            return true;
        }
        for (stmt, .., before) in undo.into_iter().rev() {
            uses.choose(self.nodes, stmt, before);
        }
        false
    }

    /// Chooses these spellings, which do not need a place, if everything gets cheaper; whether it did. What they are worth
    /// is what they save beside the place as it stands in the text: that it was spelled otherwise before says nothing
    /// about how far estimates can be wrong.
    fn instead(&self, uses: &mut Uses<'_, '_, '_>, place: &Place, sharers: &[Sharer<'_>]) -> bool {
        let below = uses.total();
        let before = uses.chosen(place.stmt).cloned();
        if before.is_some() {
            uses.choose(self.nodes, place.stmt, None);
        }
        let chosen = self.all_or_none(uses, sharers, below);
        if !chosen && before.is_some() {
            uses.choose(self.nodes, place.stmt, before);
        }
        chosen
    }
}

/// Chooses the best spelling of a place as things are; whether it is another one than before.
fn improve(
    uses: &mut Uses<'_, '_, '_>,
    nodes: &Nodes,
    place: &Place,
    pays: &dyn Fn(&Gain<'_>) -> bool,
) -> bool {
    if !uses.is_present(place.stmt) || place.candidates.is_empty() {
        return false;
    }
    let before = uses.chosen(place.stmt).cloned();
    let baseline = uses.baseline(nodes, place.stmt);
    let mut best = None;
    for candidate in &place.candidates {
        if uses.chosen(place.stmt).is_some_and(|last| last.values == candidate.values) {
            uses.exchange(nodes, place.stmt, candidate);
        } else {
            uses.choose(nodes, place.stmt, None);
            uses.choose(nodes, place.stmt, Some(Rc::clone(candidate)));
        }
        let gain = uses.gain(place.stmt, baseline);
        // Equal ones by what they need, by the least that they may cost, by fewest lines, by most that goes, then in
        // the order in which they were found.
        let &Candidate { number, ref nodes, least, reach, .. } = &**candidate;
        let rank = (Reverse(gain.saved), reach, least, nodes.len(), Reverse(gain.gone.len()), number);
        if best.as_ref().is_none_or(|(least, _)| rank < *least) && pays(&gain) {
            best = Some((rank, Rc::clone(candidate)));
        }
    }
    uses.choose(nodes, place.stmt, None);
    let best = best.map(|(_, candidate)| candidate);
    let changed = best.as_ref().map(|best| best.number) != before.map(|before| before.number);
    uses.choose(nodes, place.stmt, best);
    changed
}

/// A place with one of its spellings.
type Sharer<'p> = (&'p Place, &'p Rc<Candidate>);

/// Places that share nodes, each with a spelling that contains them; or without nodes, places whose own text shares what
/// their spellings do without.
pub(super) struct Group<'p> {
    pub(super) nodes: Vec<StepId>,
    pub(super) sharers: Vec<Sharer<'p>>,
}

impl Group<'_> {
    /// Whether there is something to gain: not where all places pay for the nodes, or have these spellings.
    fn is_left(&self, uses: &Uses<'_, '_, '_>) -> bool {
        let Self { nodes, sharers } = self;
        let has = |&(place, to): &Sharer<'_>| uses.chosen(place.stmt) == Some(to);
        let unshared = |&node: &StepId| (uses.refs(node) as usize) < sharers.len();
        if nodes.is_empty() { !sharers.iter().all(has) } else { nodes.iter().any(unshared) }
    }
}

/// The nodes for which several places have a spelling that contains them, but not too many; of each place the spelling
/// that costs least if it shares nothing. Nodes that the same spellings share are one group.
fn sharing<'p>(nodes: &Nodes, places: &'p [Place]) -> Vec<Group<'p>> {
    // How many places contain a node, and the last of them.
    let mut counts: Vec<(usize, usize)> = vec![(0, usize::MAX); nodes.len()];
    for (at, place) in places.iter().enumerate() {
        for node in place.candidates.iter().flat_map(|candidate| &candidate.paid) {
            let (count, last) = &mut counts[node.index()];
            *count += usize::from(*last != at);
            *last = at;
        }
    }
    let mut groups: Vec<Group<'p>> = Vec::new();
    let of_node: Vec<Option<usize>> = nodes
        .all()
        .zip(counts)
        .map(|(node, (count, _))| {
            (2..=TOGETHER).contains(&count).then(|| {
                groups.push(Group { nodes: vec![node], sharers: Vec::with_capacity(count) });
                groups.len() - 1
            })
        })
        .collect();
    for place in places {
        for candidate in &place.candidates {
            let cost = alone(nodes, candidate);
            for group in candidate.paid.iter().filter_map(|node| of_node[node.index()]) {
                let sharers = &mut groups[group].sharers;
                match sharers.last_mut() {
                    Some((last, known)) if last.stmt == place.stmt => {
                        if cost < alone(nodes, known) {
                            *known = candidate;
                        }
                    }
                    _ => sharers.push((place, candidate)),
                }
            }
        }
    }
    once(groups)
}

/// Each group of spellings once, with all nodes that they share.
fn once(groups: Vec<Group<'_>>) -> Vec<Group<'_>> {
    let mut once: Vec<Group<'_>> = Vec::new();
    let mut known: HashMap<Vec<(StmtId, usize)>, usize> = HashMap::new();
    for group in groups {
        let spellings =
            group.sharers.iter().map(|(place, candidate)| (place.stmt, candidate.number)).collect();
        match known.entry(spellings) {
            Entry::Occupied(at) => once[*at.get()].nodes.extend(group.nodes),
            Entry::Vacant(new) => {
                new.insert(once.len());
                once.push(group);
            }
        }
    }
    once
}

/// The places that read a value, for the values that nothing else reads.
struct Readers<'p> {
    by_value: HashMap<ValueId, Vec<&'p Place>>,
    /// The spellings that were tried together for nothing since the last change: from each value on the way to them, one
    /// comes to the same.
    tried: HashSet<Vec<(StmtId, usize)>>,
}

impl<'p> Readers<'p> {
    fn of(uses: &Uses<'_, '_, '_>, places: &'p [Place]) -> Self {
        let mut readers: HashMap<ValueId, Vec<&Place>> = HashMap::new();
        for place in places {
            for value in uses.sources(place.stmt) {
                readers.entry(value).or_default().push(place);
            }
        }
        readers.retain(|&value, readers| readers.len() == uses.reads_at_first(value));
        readers.values_mut().for_each(|readers| readers.dedup_by_key(|place| place.stmt));
        Self { by_value: readers, tried: HashSet::new() }
    }

    /// Tries to do without the result of a place, and without what is computed of it alone, by the cheapest spellings or
    /// by those that go furthest back; notes what changed.
    fn retire(
        &mut self,
        search: &Search<'_>,
        uses: &mut Uses<'_, '_, '_>,
        place: &Place,
        further: bool,
        changed: &mut Vec<StmtId>,
    ) {
        let mut values: Vec<ValueId> = uses.results(place.stmt).collect();
        for _ in 0..=MOVES {
            let Some(readers) = self.all(&values, uses) else { return };
            if let Some(others) = without(uses, search.nodes, &values, &readers, further)
                && others.iter().any(|(place, to)| uses.chosen(place.stmt) != Some(to))
                && self.is_new(uses, place, &others)
                && search.instead(uses, place, &others)
            {
                self.forget();
                changed.push(place.stmt);
                changed.extend(others.iter().map(|(place, _)| place.stmt));
                return;
            }
            // Those that cannot do without are to go themselves, with what they compute.
            let stays = |place: &&Place| !place.candidates.iter().any(|to| avoids(uses, &values, to));
            let (stuck, free): (Vec<&Place>, Vec<&Place>) = readers.into_iter().partition(stays);
            let next = if stuck.is_empty() { free } else { stuck };
            values.extend(next.iter().flat_map(|place| uses.results(place.stmt)));
        }
    }

    /// Forgets what was tried, since something changed.
    fn forget(&mut self) {
        self.tried.clear();
    }

    /// Whether these spellings were not tried as things are. Those of a place that has another spelling itself are tried
    /// beside its own text.
    fn is_new(&mut self, uses: &Uses<'_, '_, '_>, place: &Place, others: &[Sharer<'_>]) -> bool {
        let key = || others.iter().map(|(place, to)| (place.stmt, to.number)).collect();
        uses.chosen(place.stmt).is_some() || self.tried.insert(key())
    }

    /// The places that read any of these values and compute none of them; `None` if others read one too, if there
    /// are none, or many.
    fn all(&self, values: &[ValueId], uses: &Uses<'_, '_, '_>) -> Option<Vec<&'p Place>> {
        let mut all: Vec<&Place> = Vec::new();
        for value in values {
            for &place in self.by_value.get(value)? {
                let known = all.iter().any(|known| known.stmt == place.stmt);
                if !known && !uses.results(place.stmt).any(|result| values.contains(&result)) {
                    all.push(place);
                }
            }
        }
        (1..=TOGETHER).contains(&all.len()).then_some(all)
    }
}

/// For each of these places its cheapest spelling that reads none of these values, if all have one; or the dearest, which
/// goes further back.
fn without<'p>(
    uses: &Uses<'_, '_, '_>,
    nodes: &Nodes,
    values: &[ValueId],
    readers: &[&'p Place],
    further: bool,
) -> Option<Vec<(&'p Place, &'p Rc<Candidate>)>> {
    let spelled = |place: &&'p Place| {
        let without = place.candidates.iter().filter(|to| avoids(uses, values, to));
        let cost = |to: &&Rc<Candidate>| alone(nodes, to);
        Some((*place, if further { without.max_by_key(cost) } else { without.min_by_key(cost) }?))
    };
    readers.iter().map(spelled).collect()
}

/// Whether a spelling reads none of these values.
fn avoids(uses: &Uses<'_, '_, '_>, values: &[ValueId], to: &Candidate) -> bool {
    !uses.reads_of(to).any(|read| values.contains(&read))
}

/// What a spelling costs if it shares nothing.
pub(super) fn alone(nodes: &Nodes, candidate: &Candidate) -> u32 {
    candidate.last + candidate.paid.iter().map(|&node| nodes.cost(node)).sum::<u32>()
}
