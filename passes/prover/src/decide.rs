//! The steps of a decision: the same circuit, a vector that tells the sides apart, sweeping, the last search.
//!
//! Equality is claimed only if both sides are the same gates or the solver found no difference, a difference only
//! with inputs on which the sides were evaluated. The cheap steps come first, and decide most questions.

use super::aig::{Aig, Gate, Lit, Unwatched, Watch};
use super::apart::Difference;
use super::canonical::{Cone, ConeInput};
use super::counterexample::minimised;
use super::numbers::{Numbers, name_ranges};
use super::parity;
use super::query::{Assumption, Budget};
use super::renamed::Renamed;
use super::sweep::{Search, Sweep, evaluate};
use super::tried;
use super::vectors::{GROUPS, Lane, seed, vectors};
use super::words::{Circuit, Sums};
use super::{Brief, Proof, Question, Verdict};
use hashbrown::HashMap;
use ptxopt_grammar::meaning::term::ones;

pub(super) fn decide(question: &Question, budget: Budget) -> Verdict {
    match search(question, budget) {
        Searched::Proved(proof) => Verdict::Proved(proof),
        Searched::Found(mut plain, values) => Verdict::Refuted(minimised(question, &mut plain, values)),
        Searched::Unknown => Verdict::Unproved,
    }
}

/// The same, but of a difference only the bits are given.
pub(super) fn decide_briefly(question: &Question, budget: Budget) -> Brief {
    match search(question, budget) {
        Searched::Proved(proof) => Brief::Proved(proof),
        Searched::Found(plain, values) => Brief::Differs(plain.differing(question, &values)),
        Searched::Unknown => Brief::Unproved,
    }
}

/// How the steps ended.
enum Searched {
    Proved(Proof),
    /// Inputs on which the sides differ.
    Found(Box<Plain>, Vec<u128>),
    Unknown,
}

fn search(question: &Question, budget: Budget) -> Searched {
    steps(question, budget, Lanes::Compared)
}

/// Whether words that are extremes lane by lane are looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lanes {
    Compared,
    AsTheyAre,
}

fn steps(question: &Question, budget: Budget, lanes_are: Lanes) -> Searched {
    if question.cone.before == question.cone.after {
        return Searched::Proved(Proof::Structural);
    }
    let mut plain = Box::new(Plain::new(question));
    if are_the_same(&plain.pairs) {
        return Searched::Proved(Proof::Structural);
    }
    let seed = seed(&question.cone);
    let (lanes, valid) = vectors(&question.cone.inputs, seed);
    if let Some(values) = plain.differ_on(&question.cone.inputs, &lanes, valid) {
        return Searched::Found(plain, values);
    }
    if plain.pairs.iter().all(|&(before, after)| parity::are_equal(plain.graph.gates(), before, after)) {
        return Searched::Proved(Proof::Structural);
    }
    if plain.vanishes() {
        return Searched::Proved(Proof::Parts);
    }
    let by_differences = if question.cone.compares() { by_differences(question) } else { None };
    if by_differences == Some(true) {
        return Searched::Proved(Proof::Structural);
    }
    let in_order = question.cone.has_several_extremes().then(|| are_the_same_in_order(question)).flatten();
    if in_order == Some(true) {
        return Searched::Proved(Proof::Structural);
    }
    if in_order.is_some()
        && lanes_are == Lanes::Compared
        && let Some(proof) = by_lanes(question, budget)
    {
        return Searched::Proved(proof);
    }
    if question.cone.products() > 0 {
        let (mut circuit, are_same) = taken_apart(question);
        if are_same {
            return Searched::Proved(Proof::Structural);
        }
        if tried::are_equal(&mut plain.graph, &question.cone.inputs, &plain.inputs, &plain.pairs) {
            return Searched::Proved(Proof::Parts);
        }
        if let Some(proof) = Renamed::of(question).and_then(|renamed| renamed.proved(question, budget, seed))
        {
            return Searched::Proved(proof);
        }
        if let Some(abstracted) = question.abstracted(&mut circuit) {
            match search(&abstracted, budget) {
                Searched::Proved(proof) => return Searched::Proved(proof),
                // The products would only be in the way.
                Searched::Unknown => return Searched::Unknown,
                Searched::Found(..) => {}
            }
        }
    }
    let ways: [(bool, Make<'_, Sweep>); 3] = [
        (true, Circuit::new),
        (by_differences.is_some(), Circuit::with_differences),
        (in_order.is_some(), Circuit::with_extremes),
    ];
    let mut end = Swept::Unknown;
    for (is_tried, make) in ways {
        if is_tried && let Swept::Unknown = end {
            end = swept(question, budget, lanes.clone(), seed, make);
        }
    }
    match end {
        Swept::Proved { conflicts } => Searched::Proved(Proof::Sat { conflicts }),
        Swept::Found(bits) => Searched::Found(plain, values_of(&question.cone, &bits)),
        Swept::Unknown => Searched::Unknown,
    }
}

/// By how much less is searched with words as extremes of lanes than without: where it is proved so, that is soon.
const LESS_FOR_LANES: u64 = 3;

/// How a question is proved with words that are extremes lane by lane as such, if it is.
fn by_lanes(question: &Question, budget: Budget) -> Option<Proof> {
    // What is left open is searched once more as it is.
    let budget = Budget { total: budget.total / LESS_FOR_LANES, ..budget };
    let mut of_lanes: HashMap<Question, Option<Proof>> = HashMap::new();
    let mut all = Proof::Structural;
    let compared = question.with_lanes_compared(|lanes| {
        let proof =
            of_lanes.entry(lanes.clone()).or_insert_with(|| match steps(lanes, budget, Lanes::AsTheyAre) {
                Searched::Proved(proof) => Some(proof),
                Searched::Found(..) | Searched::Unknown => None,
            });
        all = proof.map_or(all, |proof| all.and(proof));
        proof.is_some()
    })?;
    match steps(&compared, budget, Lanes::AsTheyAre) {
        Searched::Proved(proof) => Some(all.and(proof)),
        Searched::Found(..) | Searched::Unknown => None,
    }
}

/// Whether the two of each pair are the same gate.
pub(super) fn are_the_same(pairs: &[(Lit, Lit)]) -> bool {
    pairs.iter().all(|(before, after)| before == after)
}

/// The circuit of both sides in which products are taken apart, and whether the demanded bits are the same gates there.
fn taken_apart(question: &Question) -> (Circuit<'_, Numbers>, bool) {
    let mut graph = Aig::new(Numbers::default());
    let inputs = input_bits(&question.cone.inputs, &mut graph);
    name_ranges(&question.cone.inputs, &inputs, &mut graph);
    let mut circuit = Circuit::new(graph, &question.cone, &inputs, Sums::Apart);
    let [before, after] = sides(&question.cone, &mut circuit);
    let are_same = are_the_same(&pairs(question, &before, &after));
    (circuit, are_same)
}

/// Whether they are where sums are compared by their differences; `None` if there are none.
fn by_differences(question: &Question) -> Option<bool> {
    let (mut circuit, are_same) = made(question, Circuit::with_differences);
    circuit.has_differences().then_some(are_same)
}

/// Whether they are where extremes of extremes are taken in one order; `None` if there are too many.
fn are_the_same_in_order(question: &Question) -> Option<bool> {
    let (circuit, are_same) = made(question, Circuit::with_extremes);
    circuit.has_whole_extremes().then_some(are_same)
}

/// A circuit of both sides, and whether the demanded bits are the same gates there.
fn made<'q>(question: &'q Question, make: Make<'q, Unwatched>) -> (Circuit<'q, Unwatched>, bool) {
    let mut graph = Aig::new(Unwatched);
    let inputs = input_bits(&question.cone.inputs, &mut graph);
    let mut circuit = make(graph, &question.cone, &inputs, Sums::Late);
    let [before, after] = sides(&question.cone, &mut circuit);
    let are_same = are_the_same(&pairs(question, &before, &after));
    (circuit, are_same)
}

/// The bits of the results before and after.
pub(super) fn sides<W: Watch>(cone: &Cone, circuit: &mut Circuit<'_, W>) -> [Vec<Vec<Lit>>; 2] {
    [&cone.before, &cone.after].map(|words| words.iter().map(|&word| circuit.bits(word).to_vec()).collect())
}

/// Both sides as one graph in which only what has the same structure is merged.
pub(super) struct Plain {
    pub(super) graph: Aig<Unwatched>,
    /// The bits of each input.
    pub(super) inputs: Vec<Vec<Lit>>,
    /// The bits of the results.
    pub(super) before: Vec<Vec<Lit>>,
    pub(super) after: Vec<Vec<Lit>>,
    /// The demanded bits of both sides.
    pub(super) pairs: Vec<(Lit, Lit)>,
    /// The differences of the results; none if they are no sums.
    differences: Option<Vec<Difference>>,
}

impl Plain {
    fn new(question: &Question) -> Self {
        let mut graph = Aig::new(Unwatched);
        let inputs = input_bits(&question.cone.inputs, &mut graph);
        let mut circuit = Circuit::new(graph, &question.cone, &inputs, Sums::Late);
        let [before, after] = sides(&question.cone, &mut circuit);
        let pairs = pairs(question, &before, &after);
        let sides = question.cone.before.iter().zip(&question.cone.after);
        let differences =
            sides.map(|(&before, &after)| Difference::of(&mut circuit, before, after)).collect();
        Self { graph: circuit.graph, inputs, before, after, pairs, differences }
    }

    /// Whether all results are sums whose differences are zero by parts.
    fn vanishes(&self) -> bool {
        let all = self.differences.as_ref();
        all.is_some_and(|all| all.iter().all(|difference| difference.vanishes(&self.graph)))
    }

    /// All gates on 64 vectors, given the values of the inputs that are gates, in their order.
    pub(super) fn run(&self, mut input: impl FnMut() -> u64) -> Vec<u64> {
        let mut words: Vec<u64> = Vec::with_capacity(self.graph.gates().len());
        for &gate in self.graph.gates() {
            let word = match gate {
                Gate::Input => input(),
                Gate::False | Gate::And(..) | Gate::Xor(..) => evaluate(gate, |lit| value(&words, lit)),
            };
            words.push(word);
        }
        words
    }

    /// The demanded bits of each result that differ for some values of the inputs.
    fn differing(&self, question: &Question, values: &[u128]) -> Vec<u128> {
        let bits =
            self.inputs.iter().zip(values).flat_map(|(bits, value)| {
                bits.iter().enumerate().map(move |(at, lit)| (lit, value >> at & 1))
            });
        let mut free = bits.filter(|(lit, _)| !lit.is_constant()).map(|(_, bit)| bit);
        let words = self.run(|| if free.next() == Some(1) { u64::MAX } else { 0 });
        let result = |bits: &Vec<Lit>| {
            bits.iter().rev().fold(0, |word, &lit| word << 1 | u128::from(value(&words, lit) & 1))
        };
        let sides = self.before.iter().zip(&self.after).zip(&question.demanded);
        sides.map(|((before, after), demanded)| (result(before) ^ result(after)) & demanded).collect()
    }

    /// In which of 64 vectors a demanded bit differs.
    pub(super) fn differences(&self, words: &[u64]) -> u64 {
        self.pairs.iter().fold(0, |any, &(before, after)| any | value(words, before) ^ value(words, after))
    }

    /// The inputs of a vector on which the sides differ.
    fn differ_on(&self, inputs: &[ConeInput], lanes: &[Vec<Lane>], valid: Lane) -> Option<Vec<u128>> {
        for group in 0..GROUPS {
            let free = self.inputs.iter().flatten().zip(lanes.iter().flatten());
            let mut free = free.filter(|(lit, _)| !lit.is_constant()).map(|(_, lane)| lane[group]);
            let words = self.run(|| free.next().expect("there is a lane for every free bit"));
            let differ = self.differences(&words) & valid[group];
            if differ != 0 {
                let at = differ.trailing_zeros();
                let bit = |lane: &Lane| u128::from(lane[group] >> at & 1);
                let value =
                    |lanes: &Vec<Lane>| lanes.iter().rev().fold(0, |value, lane| value << 1 | bit(lane));
                return Some(lanes.iter().take(inputs.len()).map(value).collect());
            }
        }
        None
    }
}

pub(super) fn value(words: &[u64], lit: Lit) -> u64 {
    words[lit.node() as usize] ^ if lit.inverted() { u64::MAX } else { 0 }
}

/// The bits of all inputs; those that are known are constants.
pub(super) fn input_bits<W: Watch>(inputs: &[ConeInput], graph: &mut Aig<W>) -> Vec<Vec<Lit>> {
    let mut bits = Vec::with_capacity(inputs.len());
    for input in inputs {
        let Assumption { known, value, .. } = input.assumption;
        let bit = |at| match known >> at & 1 {
            0 => graph.input(),
            _ => Lit::constant(value >> at & 1 == 1),
        };
        bits.push((0..input.width).map(bit).collect());
    }
    bits
}

/// The values of the inputs from the values of those of their bits that are not known.
fn values_of(cone: &Cone, free: &[bool]) -> Vec<u128> {
    let mut free = free.iter();
    let mut values = Vec::with_capacity(cone.inputs.len());
    for input in &cone.inputs {
        let known = input.assumption.known;
        let mut value = input.assumption.value & known & ones(input.width);
        for at in (0..input.width).filter(|at| known >> at & 1 == 0) {
            value |= u128::from(free.next().copied().unwrap_or_default()) << at;
        }
        values.push(value);
    }
    values
}

pub(super) fn pairs(question: &Question, before: &[Vec<Lit>], after: &[Vec<Lit>]) -> Vec<(Lit, Lit)> {
    let mut pairs = Vec::new();
    for ((before, after), demanded) in before.iter().zip(after).zip(&question.demanded) {
        let bits = before.iter().zip(after).enumerate();
        pairs.extend(bits.filter(|(at, _)| demanded >> at & 1 == 1).map(|(_, (&b, &a))| (b, a)));
    }
    pairs
}

/// A literal that holds where all ranges do.
pub(super) fn in_ranges<W: Watch>(inputs: &[ConeInput], bits: &[Vec<Lit>], graph: &mut Aig<W>) -> Lit {
    let mut all = Lit::TRUE;
    for (input, bits) in inputs.iter().zip(bits) {
        let width = input.width;
        let mut between = |bits: &[Lit], low: u128, high: u128, graph: &mut Aig<W>| {
            let above = !less(graph, bits, low, Lit::FALSE);
            let below = less(graph, bits, high, Lit::TRUE);
            let inside = graph.and(above, below);
            all = graph.and(all, inside);
        };
        if let Some((low, high)) = input.assumption.unsigned {
            between(bits, low, high.min(ones(width)), graph);
        }
        if let Some((low, high)) = input.assumption.signed {
            // With the sign inverted, signed numbers are ordered as unsigned ones.
            let half = 1_i128 << (width - 1).min(126);
            let mut moved = bits.clone();
            moved[width as usize - 1] = !moved[width as usize - 1];
            let (low, high) = if width == 128 {
                let sign = 1_u128 << 127;
                (low.cast_unsigned() ^ sign, high.cast_unsigned() ^ sign)
            } else {
                let offset = |bound: i128| bound.clamp(-half, half - 1).wrapping_add(half).cast_unsigned();
                (offset(low), offset(high))
            };
            between(&moved, low, high, graph);
        }
    }
    all
}

/// Whether the word is less than a bound, or equal to it if `or_equal`.
fn less<W: Watch>(graph: &mut Aig<W>, bits: &[Lit], bound: u128, or_equal: Lit) -> Lit {
    let borrow =
        |borrow, (at, &bit): (usize, &Lit)| graph.majority(!bit, Lit::constant(bound >> at & 1 == 1), borrow);
    bits.iter().enumerate().fold(or_equal, borrow)
}

/// How the search for a difference ended.
pub(super) enum Swept {
    Proved { conflicts: u64 },
    Found(Vec<bool>),
    Unknown,
}

/// Makes a circuit of a cone, given the bits of its inputs.
type Make<'c, W> = fn(Aig<W>, &'c Cone, &[Vec<Lit>], Sums) -> Circuit<'c, W>;

fn swept<'q>(
    question: &'q Question,
    budget: Budget,
    lanes: Vec<Vec<Lane>>,
    seed: u64,
    make: Make<'q, Sweep>,
) -> Swept {
    let cone = &question.cone;
    let (graph, inputs) = sweep_of(&cone.inputs, lanes, budget, seed);
    let mut circuit = make(graph, cone, &inputs, Sums::AtOnce);
    let [before, after] = sides(cone, &mut circuit);
    ended(circuit.graph, pairs(question, &before, &after), budget)
}

/// A graph that is swept as it grows, where only inputs in their ranges count; and the bits of the inputs.
pub(super) fn sweep_of(
    inputs: &[ConeInput],
    lanes: Vec<Vec<Lane>>,
    budget: Budget,
    seed: u64,
) -> (Aig<Sweep>, Vec<Vec<Lit>>) {
    let free = |(input, lanes): (&ConeInput, Vec<Lane>)| {
        let known = input.assumption.known;
        let lanes = lanes.into_iter().enumerate();
        lanes.filter(move |(at, _)| known >> at & 1 == 0).map(|(_, lane)| lane).collect::<Vec<_>>()
    };
    let lanes: Vec<Lane> = inputs.iter().zip(lanes).flat_map(free).collect();
    let mut graph = Aig::new(Sweep::new(lanes, budget, seed));
    let bits = input_bits(inputs, &mut graph);
    let constraint = in_ranges(inputs, &bits, &mut graph);
    if constraint != Lit::TRUE {
        graph.assume(constraint);
    }
    (graph, bits)
}

/// Looks for inputs on which the two of a pair differ.
pub(super) fn ended(mut graph: Aig<Sweep>, pairs: Vec<(Lit, Lit)>, budget: Budget) -> Swept {
    let open: Vec<(Lit, Lit)> = pairs.into_iter().filter(|(before, after)| before != after).collect();
    if let Some(found) = open.iter().find_map(|&(before, after)| graph.watch.difference(before, after)) {
        return Swept::Found(found);
    }
    let mut unknown = false;
    for (before, after) in open {
        for [x, y] in [[before, !after], [!before, after]] {
            match graph.search(&[x, y], budget.total) {
                Search::Found(bits) => return Swept::Found(bits),
                Search::Never => {}
                Search::Unknown => unknown = true,
            }
        }
    }
    if unknown { Swept::Unknown } else { Swept::Proved { conflicts: graph.watch.conflicts() } }
}
