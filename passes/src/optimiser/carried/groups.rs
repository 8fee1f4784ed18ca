//! Which registers are carried side by side: the values that meet where paths join, and of which bytes they are made.
//!
//! Registers that are updated from the same places of the same words, lane by lane, could be lanes of a word: `m0` from
//! the lowest bytes of the words that a loop reads, `m1` from the bytes above them. So it is asked of each value that
//! joins others from which bytes of which words it comes, through everything that is computed and other joins, and those
//! that come from the four bytes, or both halves, of a word are a group. Where there are several for each byte, as in a
//! loop that keeps the least and the greatest, those that are computed alike are. Whether it is a good one shows at the
//! end, and whether it is right is proved; nothing here need be.

use crate::graph::{BlockId, Graph, Origin, Register, Use, ValueId, inputs_of};
use crate::lanes::{Byte, Contents};
use crate::optimiser::elements::element;
use crate::site::Knowledge;
use hashbrown::{HashMap, HashSet};
use ptxopt_grammar::meaning::term::ones;
use ptxopt_grammar::table::instruction::{Instruction, op};
use ptxopt_grammar::tree::{NodeKind, StmtId};
use std::collections::{BTreeMap, BTreeSet};

/// How many values are looked at for the bytes that one comes from.
const MOST_VALUES: usize = 512;

/// How many values are looked at for how one is computed.
const MOST_ALIKE: usize = 64;

/// How many values are looked at in a function.
const MOST_OF_FUNCTION: usize = 200_000;

/// A word that bytes are read from: four bytes of a register, or those that a load gives to several.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Word {
    Value(ValueId, u8),
    Loaded(StmtId, u8),
}

/// Registers that are carried as lanes of one word, the lowest first, from where values of all of them join.
pub(super) struct Group {
    pub(super) join: BlockId,
    /// The values there, and the registers that hold them.
    pub(super) phis: Vec<ValueId>,
    pub(super) registers: Vec<Register>,
    /// By edge: what comes over it.
    pub(super) incoming: Vec<Vec<ValueId>>,
}

/// The registers that are carried side by side.
pub(super) fn find(graph: &Graph<'_, '_>, knowledge: &Knowledge) -> Vec<Group> {
    let mut finder = Finder {
        graph,
        knowledge,
        contents: Contents::default(),
        lanes: HashMap::new(),
        left: MOST_OF_FUNCTION,
    };
    let mut joins: BTreeMap<BlockId, Vec<ValueId>> = BTreeMap::new();
    for value in graph.values() {
        if let Origin::Phi(block) = graph.value(value).origin
            && graph.value(value).register.is_some()
            && [16, 32].contains(&graph.value(value).width)
        {
            joins.entry(block).or_default().push(value);
        }
    }
    joins.into_iter().flat_map(|(join, phis)| finder.groups(join, &phis)).collect()
}

/// Whether nothing of a value but its lowest bits matters, or the others are zeros.
pub(super) fn is_lane(knowledge: &Knowledge, value: ValueId, width: u32, bits: u32) -> bool {
    let above = ones(width) & !ones(bits);
    let known = knowledge.facts.get(value.index()).zeros() & above == above;
    known || knowledge.demanded[value.index()] & above == 0
}

struct Finder<'g, 'm, 't> {
    graph: &'g Graph<'m, 't>,
    knowledge: &'g Knowledge,
    contents: Contents,
    /// The byte of a word that a value begins with, if it is read from one.
    lanes: HashMap<ValueId, Option<(Word, u8)>>,
    /// How many values may still be looked at.
    left: usize,
}

impl Finder<'_, '_, '_> {
    /// The groups of the values that join others in a block, each value in one of them.
    fn groups(&mut self, join: BlockId, phis: &[ValueId]) -> Vec<Group> {
        let mut by_word: BTreeMap<(Word, u32), BTreeMap<u8, Vec<ValueId>>> = BTreeMap::new();
        for &phi in phis {
            let width = self.graph.value(phi).width;
            let Some(bits) = [8, 16].into_iter().find(|&bits| is_lane(self.knowledge, phi, width, bits))
            else {
                continue;
            };
            for (word, bytes) in self.sources(phi) {
                if let Some(&byte) = bytes.first().filter(|_| bytes.len() == 1) {
                    by_word.entry((word, bits)).or_default().entry(byte).or_default().push(phi);
                }
            }
        }
        let mut taken: HashSet<ValueId> = HashSet::new();
        let mut groups = Vec::new();
        for ((_, bits), mut lanes) in by_word {
            let step = usize::try_from(bits / 8).expect("a lane has few bits");
            lanes.values_mut().for_each(|lane| lane.retain(|phi| !taken.contains(phi)));
            let lanes: Vec<Vec<ValueId>> =
                (0..4).step_by(step).filter_map(|byte| lanes.remove(&byte)).collect();
            if lanes.len() * step != 4 {
                continue;
            }
            for phis in self.alike(lanes) {
                if let Some(group) = self.group(join, phis) {
                    taken.extend(&group.phis);
                    groups.push(group);
                }
            }
        }
        groups
    }

    /// One value of each lane, as often as there is one: those that are computed alike, where several words come from
    /// the same bytes.
    fn alike(&self, lanes: Vec<Vec<ValueId>>) -> Vec<Vec<ValueId>> {
        let is_one = lanes.iter().all(|lane| lane.len() == 1);
        let computed = |phi| if is_one { HashSet::new() } else { self.instructions(phi) };
        let mut lanes: Vec<Vec<(ValueId, HashSet<Instruction>)>> = lanes
            .into_iter()
            .map(|lane| lane.into_iter().map(|phi| (phi, computed(phi))).collect())
            .collect();
        let mut all = Vec::new();
        while lanes.iter().all(|lane| !lane.is_empty()) {
            let first = lanes[0][0].1.clone();
            let nearest = |lane: &mut Vec<(ValueId, HashSet<Instruction>)>| {
                let apart =
                    |(_, by): &(ValueId, HashSet<Instruction>)| first.symmetric_difference(by).count();
                let near = (0..lane.len()).min_by_key(|&at| apart(&lane[at]));
                lane.remove(near.expect("no lane is empty")).0
            };
            all.push(lanes.iter_mut().map(nearest).collect());
        }
        all
    }

    /// The instructions by which a value is computed.
    fn instructions(&self, phi: ValueId) -> HashSet<Instruction> {
        let mut found = HashSet::new();
        let mut values = vec![phi];
        let mut seen: HashSet<ValueId> = HashSet::from([phi]);
        let mut at = 0;
        while at < values.len().min(MOST_ALIKE) {
            let value = values[at];
            at += 1;
            if let Origin::Result(stmt) = self.graph.value(value).origin {
                found.extend(self.graph.module().instruction(stmt));
            }
            let operands = self.graph.operands(value).map(|(operand, _)| operand);
            values.extend(operands.filter(|&operand| seen.insert(operand)));
        }
        found
    }

    /// These values as a group; `None` if they may be undefined.
    fn group(&self, join: BlockId, phis: Vec<ValueId>) -> Option<Group> {
        let graph = self.graph;
        let registers: Vec<Register> =
            phis.iter().map(|&phi| graph.value(phi).register).collect::<Option<_>>()?;
        let mut edges: BTreeMap<u32, Vec<ValueId>> = BTreeMap::new();
        for &phi in &phis {
            for (value, edge) in graph.operands(phi) {
                let Use::Phi(edge) = edge else { return None };
                edges.entry(edge).or_default().push(value);
            }
        }
        let is_defined =
            |&value: &ValueId| matches!(graph.value(value).origin, Origin::Result(_) | Origin::Phi(_));
        let incoming: Vec<Vec<ValueId>> = edges.into_values().collect();
        let is_whole = |edge: &Vec<ValueId>| edge.len() == phis.len() && edge.iter().all(is_defined);
        incoming.iter().all(is_whole).then_some(Group { join, phis, registers, incoming })
    }

    /// The words that a value is made of, and which bytes of each.
    fn sources(&mut self, value: ValueId) -> BTreeMap<Word, BTreeSet<u8>> {
        let graph = self.graph;
        let mut found: BTreeMap<Word, BTreeSet<u8>> = BTreeMap::new();
        let mut seen: HashSet<ValueId> = HashSet::from([value]);
        let mut work = vec![value];
        while let Some(value) = work.pop() {
            if let Some((word, byte)) = self.lane(value) {
                found.entry(word).or_default().insert(byte);
                continue;
            }
            let entry = graph.value(value);
            let below: Vec<ValueId> = match (entry.origin, entry.def) {
                (Origin::Phi(_), _) => graph.operands(value).map(|(operand, _)| operand).collect(),
                (_, Some(def)) => inputs_of(graph.terms(), def).into_iter().collect(),
                (_, None) => Vec::new(),
            };
            for value in below {
                if seen.len() < MOST_VALUES && self.left > 0 && seen.insert(value) {
                    self.left -= 1;
                    work.push(value);
                }
            }
        }
        found
    }

    /// The byte of a word that a value begins with.
    fn lane(&mut self, value: ValueId) -> Option<(Word, u8)> {
        if let Some(&known) = self.lanes.get(&value) {
            return known;
        }
        let lane = self.loaded(value).or_else(|| match self.contents.of(self.graph, value).first() {
            Some(&Byte::Of(word, byte)) if word != value && self.is_word(word) => {
                Some((Word::Value(word, byte / 4), byte % 4))
            }
            Some(Byte::Of(..) | Byte::Constant(_) | Byte::SignOf(..)) | None => None,
        });
        self.lanes.insert(value, lane);
        lane
    }

    /// Whether a value may be more than one lane: it does not fit into fewer bits.
    fn is_word(&self, value: ValueId) -> bool {
        let fact = &self.knowledge.facts.get(value.index());
        let ((_, most), (least, greatest)) = (fact.unsigned(), fact.signed());
        let fits = most <= ones(16) || least >= i16::MIN.into() && greatest <= i16::MAX.into();
        self.graph.value(value).width >= 32 && !fits
    }

    /// The byte that a value begins with, of those that a load gives to several registers.
    fn loaded(&self, value: ValueId) -> Option<(Word, u8)> {
        let graph = self.graph;
        let Origin::Result(stmt) = graph.value(value).origin else { return None };
        let module = graph.module();
        let first = module.operands(stmt).first().copied()?;
        let is_vector = module.row(stmt)?.is(op::LD) && module.node_kind(first) == NodeKind::Vector;
        let (bits, _) = element(module.instruction(stmt)?.last_type()?.ty()?).filter(|_| is_vector)?;
        let at = graph.results(stmt).position(|result| result == value)?;
        let byte = u8::try_from(at * bits as usize / 8).ok()?;
        Some((Word::Loaded(stmt, byte / 4), byte % 4))
    }
}
