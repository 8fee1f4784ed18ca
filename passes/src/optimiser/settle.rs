//! From spellings to edits: selection over the whole function, a proof for each spelling that it chose, the new text.
//!
//! A chosen spelling that is not proved, or that must not be written, is struck out, and selection begins again without
//! it; so what is written in the end was chosen together and proved one by one. A step that several spellings share is
//! written where the first of them stands, in the same block, and its register keeps the result for the others; each
//! proof is about all steps of a spelling, wherever they stand.

use super::function::Work;
use super::gather::{Offer, Spelled};
use super::lemmas::Lemmas;
use super::raise::Reach;
use super::record::{How, Kind, Record, Why, one_line};
use super::spell::Target;
use super::splice;
use super::spliced::Spliced;
use super::stays::Stays;
use crate::cost::{Cost, Costs};
use crate::graph::ValueId;
use crate::recipe::Text;
use crate::select::{Candidate, Gain, Near, Nodes, Place, Price, Search, StepId, Uses};
use hashbrown::{HashMap, HashSet};
use ptxopt_grammar::edit::Edits;
use ptxopt_grammar::table::instruction::Instruction;
use ptxopt_grammar::tree::StmtId;
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

/// How often spellings are chosen, those that are struck out in between left out.
const ATTEMPTS: usize = 24;

/// After so many times, a statement loses all its spellings with the one that is struck out. What others save may
/// depend on a choice that is taken back, so they must be chosen once more without it.
const PATIENCE: usize = 8;

/// Spellings, as they are chosen and written.
pub(super) struct Settling<'s> {
    pub(super) spelled: &'s BTreeMap<StmtId, Spelled>,
    pub(super) nodes: Nodes,
    pub(super) places: Vec<Place>,
    /// The registers that hold the results of nodes: their widths and numbers.
    pub(super) names: HashMap<StepId, (u32, u32)>,
    /// The spellings that were tried: how each was proved and how long that took, if it was.
    pub(super) tried: HashMap<(StmtId, usize), Option<(How, Duration)>>,
    /// What was proved so far.
    pub(super) lemmas: Lemmas,
    /// The records of each statement.
    pub(super) told: BTreeMap<StmtId, Vec<Record>>,
}

/// Whether all that is left to do is to move a register to itself.
pub(super) fn is_idle(lines: &[String]) -> bool {
    let [line] = lines else { return false };
    let Some((words, operands)) = line.strip_suffix(';').and_then(|line| line.split_once(' ')) else {
        return false;
    };
    Instruction::parse(words.as_bytes()).is_some_and(Instruction::is_move)
        && operands.split_once(", ").is_some_and(|(to, from)| to == from)
}

/// These in order, each once.
fn once_each<T: Ord>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut all: Vec<T> = all.collect();
    all.sort_unstable();
    all.dedup();
    all
}

impl<'s> Settling<'s> {
    /// The spellings that are `open`, with their costs on a target.
    pub(super) fn of(
        spelled: &'s BTreeMap<StmtId, Spelled>,
        work: &Work<'_, '_, '_>,
        uses: &Uses<'_, '_, '_>,
        target: &Target,
        open: &dyn Fn(&Offer) -> bool,
    ) -> Self {
        let mut settling = Self {
            spelled,
            nodes: Nodes::default(),
            places: Vec::new(),
            names: HashMap::new(),
            tried: HashMap::new(),
            lemmas: Lemmas::default(),
            told: BTreeMap::new(),
        };
        for (&stmt, spelled) in spelled {
            let used = spelled.own.is_some_and(|value| uses.is_used(value));
            if used && work.wanted.takes(work.module, stmt) {
                let numbers = (0..spelled.offers.len()).filter(|&number| open(&spelled.offers[number]));
                let candidates = numbers
                    .filter_map(|number| settling.candidate(work, stmt, number, target).map(Rc::new))
                    .collect();
                settling.places.push(Place { stmt, candidates });
            }
        }
        settling
    }

    pub(super) fn offer(&self, stmt: StmtId, number: usize) -> &'s Offer {
        &self.spelled[&stmt].offers[number]
    }

    /// The result of a statement that has spellings.
    pub(super) fn value(&self, stmt: StmtId) -> ValueId {
        self.spelled[&stmt].own.expect("a statement with spellings has a result")
    }

    /// A spelling as selection sees it; `None` if what it costs is unknown.
    fn candidate(
        &mut self,
        work: &Work<'_, '_, '_>,
        stmt: StmtId,
        number: usize,
        target: &Target,
    ) -> Option<Candidate> {
        let offer = self.offer(stmt, number);
        let anew;
        let costs: &[Cost] = if target.costs == work.profit.target.costs {
            &offer.spelling.costs
        } else {
            anew = target.costs(&offer.spelling.recipe.recipe());
            &anew
        };
        let (last, all) = (costs.last()?.most, costs.iter().copied().sum::<Cost>());
        if all.most == u32::MAX {
            return None;
        }
        let block = work.profit.graph.flow().block(stmt);
        let recipe = &offer.spelling.recipe;
        let nodes = self.nodes.of(block, recipe.steps(), costs);
        let paid = nodes.iter().zip(costs).filter(|(_, cost)| cost.most > 0).map(|(&node, _)| node);
        let (paid, values) = (once_each(paid), once_each(recipe.values()));
        let reach = offer.reach.unwrap_or(Reach::Own) as u8;
        Some(Candidate { number, nodes, paid, last, least: all.least, values, reach })
    }

    pub(super) fn search<'a>(
        &'a self,
        near: &'a OnceCell<Near>,
        pays: &'a dyn Fn(&Gain<'_>) -> bool,
    ) -> Search<'a> {
        Search { nodes: &self.nodes, places: &self.places, near, pays }
    }

    /// The records, in the order of the text.
    fn told(self) -> Vec<Record> {
        self.told.into_values().flatten().collect()
    }

    /// The chosen spellings of the statements that are there, in the order of the text.
    pub(super) fn chosen(&self, uses: &Uses<'_, '_, '_>) -> Vec<(StmtId, Rc<Candidate>)> {
        let chosen = |place: &Place| {
            let candidate = uses.chosen(place.stmt).filter(|_| uses.is_present(place.stmt))?;
            Some((place.stmt, Rc::clone(candidate)))
        };
        self.places.iter().filter_map(chosen).collect()
    }

    /// The same choices made once, in the order of the text, and none for statements that go by the others. What is
    /// used does not depend on the order, but for values that go around a loop and are used by themselves alone: a
    /// choice that is taken back may be what kept another one.
    fn again<'u, 'm, 't>(
        &self,
        uses: &Uses<'u, 'm, 't>,
        unchanged: &dyn Fn() -> Uses<'u, 'm, 't>,
    ) -> Uses<'u, 'm, 't> {
        let chosen = |place: &Place| Some((place.stmt, Rc::clone(uses.chosen(place.stmt)?)));
        let mut chosen: Vec<_> = self.places.iter().filter_map(chosen).collect();
        loop {
            let mut again = unchanged();
            for (stmt, candidate) in &chosen {
                again.choose(&self.nodes, *stmt, Some(Rc::clone(candidate)));
            }
            let before = chosen.len();
            chosen.retain(|&(stmt, _)| again.is_present(stmt));
            if chosen.len() == before {
                return again;
            }
        }
    }

    /// Takes spellings away from those that can be chosen, by number.
    fn strike(&mut self, stmt: StmtId, struck: impl Fn(usize) -> bool) {
        let place = self.places.binary_search_by_key(&stmt, |place| place.stmt);
        let place = place.expect("places are in the order of the text, and it was chosen for one");
        self.places[place].candidates.retain(|candidate| !struck(candidate.number));
    }
}

impl Work<'_, '_, '_> {
    /// Chooses, proves and writes. The records of each statement, in the order of the text.
    pub(super) fn settle(&mut self, spelled: &BTreeMap<StmtId, Spelled>, edits: &mut Edits) -> Vec<Record> {
        let profit = self.profit;
        let prices: RefCell<HashMap<StmtId, Price>> = RefCell::default();
        let price = |stmt: StmtId| *prices.borrow_mut().entry(stmt).or_insert_with(|| profit.price(stmt));
        let emulated = || spelled.keys().copied().filter(|&stmt| profit.shares(stmt));
        let (dead, deletes) = (self.dead.clone(), self.deletes());
        let unchanged = || Uses::of(profit.graph, &dead, deletes, &price, emulated());
        let spelling = |(stmt, number): (StmtId, usize)| &spelled[&stmt].offers[number].spelling;
        let pays = |gain: &Gain<'_>| profit.pays(gain, &spelling);
        let mut uses = unchanged();
        let open = |offer: &Offer| offer.obstacle.is_none();
        let mut settling = Settling::of(spelled, self, &uses, &profit.target, &open);
        if !self.options.explain {
            settling.nodes.seal();
        }
        let near = OnceCell::new();
        let mut struck: Vec<StmtId> = Vec::new();
        for attempt in 0..ATTEMPTS {
            let search = settling.search(&near, &pays);
            if attempt == 0 {
                search.everywhere(&mut uses);
            } else {
                search.around(&mut uses, &struck);
            }
            struck.clear();
            if attempt == 0 && self.options.explain {
                self.note_potential(spelled, uses.total(), &unchanged, &pays);
            }
            let is_chosen = |place: &Place| uses.chosen(place.stmt).is_some();
            if !settling.places.iter().any(is_chosen) && self.dead.is_empty() && !self.options.explain {
                return settling.told();
            }
            uses = settling.again(&uses, &unchanged);
            for (stmt, number) in self.worse_somewhere(&settling, &uses) {
                struck.push(stmt);
                uses.choose(&settling.nodes, stmt, None);
                settling.strike(stmt, |other| other == number);
            }
            for (stmt, candidate) in settling.chosen(&uses) {
                if !self.verify(&mut settling, stmt, &candidate) {
                    struck.push(stmt);
                    uses.choose(&settling.nodes, stmt, None);
                    let all = attempt >= PATIENCE;
                    settling.strike(stmt, |number| all || number == candidate.number);
                }
            }
            if struck.is_empty() {
                break;
            }
        }
        self.cut_off(&mut settling, &mut uses);
        self.keep_good_everywhere(&settling, &mut uses);
        uses = settling.again(&uses, &unchanged);
        self.write(&mut settling, &uses, unchanged(), edits);
        if self.options.explain {
            self.explain(&mut settling, &mut uses, &pays);
        }
        settling.told()
    }

    /// Takes back the rewrites beyond the limit.
    fn cut_off(&mut self, settling: &mut Settling<'_>, uses: &mut Uses<'_, '_, '_>) {
        for (stmt, candidate) in settling.chosen(uses) {
            if !self.progress.is_over() {
                self.progress.count();
                continue;
            }
            uses.choose(&settling.nodes, stmt, None);
            let lines = self.text(settling, stmt, &candidate).map_or_else(Vec::new, |text| text.lines);
            let offer = settling.offer(stmt, candidate.number);
            let record = Record { kind: Kind::Missed(Why::Limit), ..self.rewritten(stmt, offer, &lines) };
            settling.told.entry(stmt).or_default().push(record);
        }
    }

    /// Writes what was chosen; `now` has use counts of the original, which follow the rewrites one by one.
    fn write(
        &mut self,
        settling: &mut Settling<'_>,
        uses: &Uses<'_, '_, '_>,
        mut now: Uses<'_, '_, '_>,
        edits: &mut Edits,
    ) {
        let mut freed: BTreeMap<StmtId, StmtId> = BTreeMap::new();
        let mut frees: BTreeMap<StmtId, Vec<StmtId>> = BTreeMap::new();
        let mut written: HashSet<StepId> = HashSet::new();
        let mut spliced = Spliced::default();
        let mut counts = splice::declared(self.module, self.profit.graph.function(), self.fresh);
        let chosen = settling.chosen(uses);
        for (stmt, candidate) in &chosen {
            now.choose(&settling.nodes, *stmt, Some(Rc::clone(candidate)));
            freed.extend(now.gone().iter().map(|&gone| (gone, *stmt)));
        }
        freed.retain(|&gone, _| !now.is_present(gone));
        for (&gone, &by) in &freed {
            frees.entry(by).or_default().push(gone);
        }
        for (stmt, candidate) in chosen {
            let Text { lines, .. } =
                self.text(settling, stmt, &candidate).expect("it was written to be proved");
            let offer = settling.offer(stmt, candidate.number);
            let mut cost = Cost::NOTHING;
            let on_each = self.on_each(stmt, offer);
            let mut each = vec![Cost::NOTHING; on_each.len()];
            let (mut new, mut copies) = (Vec::new(), Vec::new());
            for (at, (line, &step)) in lines.into_iter().zip(&*offer.spelling.costs).enumerate() {
                let node = candidate.nodes.get(at);
                if node.is_none_or(|&node| written.insert(node)) {
                    cost = cost + step;
                    for (sum, (_, steps)) in each.iter_mut().zip(&on_each) {
                        *sum = *sum + steps[at];
                    }
                    match offer.early.get(at) {
                        Some(&before) => {
                            copies.push(line.clone());
                            spliced.before(before, [line]);
                        }
                        None => new.push(line),
                    }
                }
            }
            for node in &candidate.nodes {
                let (width, number) = settling.names[node];
                let count = counts.entry(width).or_default();
                *count = (*count).max(number + 1);
            }
            if is_idle(&new) {
                spliced.delete(stmt);
            } else {
                spliced.replace(stmt, new.clone());
            }
            let (how, time) = settling.tried[&(stmt, candidate.number)].expect("what is chosen was proved");
            let mut record = Record { kind: Kind::Passed(how), time, ..self.rewritten(stmt, offer, &new) };
            record.after.splice(0..0, copies);
            let gone = frees.remove(&stmt).unwrap_or_default();
            let saved: Cost = gone.iter().map(|&gone| self.profit.cost_of(gone)).sum();
            record.cost = Some((self.profit.cost_of(stmt) + saved, cost));
            record.here = Some((self.profit.cost_of(stmt), cost));
            let before = |costs: &Costs| {
                let all = gone.iter().chain([&stmt]);
                all.map(|&stmt| match self.profit.graph.step(stmt) {
                    Some(step) => costs.step(&step),
                    None => self.profit.cost_of(stmt),
                })
                .sum()
            };
            record.each =
                on_each.iter().zip(each).map(|((costs, _), after)| (before(costs), after)).collect();
            let text = |&gone: &StmtId| one_line(&String::from_utf8_lossy(self.module.stmt_text(gone)));
            record.freed = gone.iter().map(text).collect();
            let told = settling.told.entry(stmt).or_default();
            told.push(record);
            for &gone in &gone {
                let here = Some((self.profit.cost_of(gone), Cost::NOTHING));
                told.push(Record { here, ..self.deleted(gone, How::Freed) });
            }
        }
        freed.keys().chain(&self.dead).for_each(|&gone| spliced.delete(gone));
        spliced.write(self.module, edits);
        splice::declare(self.module, self.profit.graph.function(), self.fresh, &counts, edits);
    }

    /// Records why statements stay.
    fn explain(
        &mut self,
        settling: &mut Settling<'_>,
        uses: &mut Uses<'_, '_, '_>,
        pays: &dyn Fn(&Gain<'_>) -> bool,
    ) {
        for (&stmt, spelled) in settling.spelled {
            let told = settling.told.get(&stmt).is_some_and(|told| !told.is_empty());
            if told || !uses.is_present(stmt) || uses.chosen(stmt).is_some() {
                continue;
            }
            let stays = match (&spelled.stays, &spelled.own) {
                (Some(stays), _) => Stays::clone(stays),
                (None, Some(value)) if uses.is_used(*value) => {
                    let obstacles = (0..spelled.offers.len())
                        .map(|number| self.obstacle(settling, uses, stmt, number, pays))
                        .collect();
                    Self::nearest(self.profit.cost_of(stmt), obstacles)
                }
                (None, _) => Why::Unused.into(),
            };
            let record = self.stays(stmt, stays);
            settling.told.entry(stmt).or_default().extend(record);
        }
    }

    /// What stands against a spelling, as things are.
    fn obstacle(
        &mut self,
        settling: &mut Settling<'_>,
        uses: &mut Uses<'_, '_, '_>,
        stmt: StmtId,
        number: usize,
        pays: &dyn Fn(&Gain<'_>) -> bool,
    ) -> Stays {
        let offer = settling.offer(stmt, number);
        let alone = self.profit.cost_of(stmt);
        let stays =
            |why, before| Stays::about(why, offer.spelling.trail.to_vec(), before, offer.spelling.cost());
        let target = self.profit.target;
        let Some(candidate) = settling.candidate(self, stmt, number, &target) else {
            return stays(self.lacks(&offer.spelling).unwrap_or(Why::Uncosted), alone);
        };
        let candidate = Rc::new(candidate);
        let baseline = uses.baseline(&settling.nodes, stmt);
        uses.choose(&settling.nodes, stmt, Some(Rc::clone(&candidate)));
        let gone = uses.gone().to_vec();
        let gain = Gain { gone: &gone, together: &[], ..uses.gain(stmt, baseline) };
        uses.choose(&settling.nodes, stmt, None);
        let before = alone + gain.gone.iter().map(|&gone| self.profit.cost_of(gone)).sum();
        if pays(&gain) {
            let why = offer.obstacle.as_deref().cloned().unwrap_or(Why::Unclear);
            let text = if why == Why::Comment { self.text(settling, stmt, &candidate) } else { None };
            return stays(why, before).with(text.map_or_else(Vec::new, |text| text.lines));
        }
        let may_pay =
            self.profit.is_video(stmt) && before.most != u32::MAX && offer.spelling.cost().most < before.most;
        let why = if gain.saved > 0 && self.profit.is_left_to_the_assembler(&gain, &offer.spelling) {
            Why::Plain
        } else if may_pay || gain.saved > 0 {
            Why::Noise
        } else {
            Why::Dearer
        };
        stays(why, before)
    }
}
