//! Sweeping: every new gate that behaves like an older one on all vectors is proved equal to it, and dropped.
//!
//! Gates come bottom-up, so what a proof needs has been merged already and proofs stay small. A failed proof gives
//! inputs that tell the two apart; they, and inputs like them, join the vectors. Nothing is merged without proof,
//! and only under the assumptions of the question.

use super::aig::{Gate, Lit, Watch, last};
use super::canonical::mix;
use super::cut::CutSearch;
use super::parity;
use super::query::Budget;
use super::sat::{Literal, Solver, SolverAnswer, Var};
use super::vectors::{Draw, GROUPS, Lane};
use hashbrown::HashMap;

/// How many older gates a new one is compared with at most.
const MOST_CANDIDATES: usize = 4;

pub(super) struct Sweep {
    solver: Solver,
    variables: Vec<Option<Var>>,
    budget: Budget,
    /// What the inputs are on the vectors, in order; those that are not made yet.
    coming: std::vec::IntoIter<Lane>,
    inputs: Vec<u32>,
    lanes: Vec<Lane>,
    /// Groups of 64 vectors that were added, each with the value of every gate.
    more: Vec<Vec<u64>>,
    /// Where the assumptions hold: in the first vectors and in the added ones.
    valid: Lane,
    valid_more: Vec<u64>,
    constraint: Lit,
    /// The first and the last of the gates that behave alike, by a hash of their lanes.
    classes: HashMap<u64, (u32, u32)>,
    /// The next gate of the same class, by the number of a gate; 0 for none.
    following: Vec<u32>,
    draw: Draw,
    /// Room to compare gates in without a search.
    cut: CutSearch,
}

impl Sweep {
    pub(super) fn new(inputs: Vec<Lane>, budget: Budget, seed: u64) -> Self {
        Self {
            solver: Solver::new(),
            variables: Vec::new(),
            budget,
            coming: inputs.into_iter(),
            inputs: Vec::new(),
            lanes: Vec::new(),
            more: Vec::new(),
            valid: [u64::MAX; GROUPS],
            valid_more: Vec::new(),
            constraint: Lit::TRUE,
            classes: HashMap::new(),
            following: Vec::new(),
            draw: Draw::new(seed),
            cut: CutSearch::default(),
        }
    }

    /// From here on only inputs count for which this holds.
    pub(super) fn assume(&mut self, gates: &[Gate], constraint: Lit) {
        self.constraint = constraint;
        self.valid = std::array::from_fn(|group| self.bit(constraint, group));
        self.valid_more = (0..self.more.len()).map(|at| self.bit_more(constraint, at)).collect();
        let literal = self.literal(gates, constraint);
        self.solver.clause(&[literal]);
        self.classes.clear();
        for node in 0..gates.len() {
            let node = u32::try_from(node).expect("gates have such numbers");
            self.classify(self.key(node), node);
        }
    }

    /// How many conflicts the solver had.
    pub(super) fn conflicts(&self) -> u64 {
        self.solver.conflicts()
    }

    fn bit(&self, lit: Lit, group: usize) -> u64 {
        self.lanes[lit.node() as usize][group] ^ if lit.inverted() { u64::MAX } else { 0 }
    }

    fn bit_more(&self, lit: Lit, at: usize) -> u64 {
        self.more[at][lit.node() as usize] ^ if lit.inverted() { u64::MAX } else { 0 }
    }

    /// Whether two literals are equal on all vectors that count.
    fn agree(&self, a: Lit, b: Lit) -> bool {
        (0..GROUPS).all(|group| (self.bit(a, group) ^ self.bit(b, group)) & self.valid[group] == 0)
            && (0..self.more.len())
                .all(|at| (self.bit_more(a, at) ^ self.bit_more(b, at)) & self.valid_more[at] == 0)
    }

    /// Whether the gate is inverted on the first vector that counts: its complement is in its class then.
    fn flipped(&self, node: u32) -> bool {
        let group = self.valid.iter().position(|&valid| valid != 0).unwrap_or(0);
        self.lanes[node as usize][group] >> self.valid[group].trailing_zeros().min(63) & 1 == 1
    }

    fn key(&self, node: u32) -> u64 {
        let lit = Lit::new(node, self.flipped(node));
        (0..GROUPS).fold(0, |hash, group| mix(hash, self.bit(lit, group) & self.valid[group]))
    }

    /// The inputs in the assignment that the solver found.
    fn found(&self) -> Vec<bool> {
        let value = |&node: &u32| {
            let variable = self.variables[node as usize];
            variable.is_some_and(|variable| self.solver.value(variable))
        };
        self.inputs.iter().map(value).collect()
    }

    fn variable(&mut self, gates: &[Gate], root: u32) -> Var {
        self.variables.resize(gates.len(), None);
        let mut open = vec![root];
        while let Some(&node) = open.last() {
            if self.variables[node as usize].is_some() {
                open.pop();
                continue;
            }
            let gate = gates[node as usize];
            let waiting = match gate {
                Gate::And(a, b) | Gate::Xor(a, b) => {
                    [a, b].into_iter().find(|lit| self.variables[lit.node() as usize].is_none())
                }
                Gate::Input | Gate::False => None,
            };
            match waiting {
                Some(operand) => open.push(operand.node()),
                None => {
                    self.define(node, gate);
                    open.pop();
                }
            }
        }
        self.variables[root as usize].expect("it was just made")
    }

    fn define(&mut self, node: u32, gate: Gate) {
        let variable = self.solver.variable();
        self.variables[node as usize] = Some(variable);
        let this = Solver::literal(variable, false);
        let known = |lit: Lit| {
            let variable = self.variables[lit.node() as usize].expect("operands are made first");
            Solver::literal(variable, lit.inverted())
        };
        match gate {
            Gate::False => self.solver.clause(&[!this]),
            Gate::Input => {}
            Gate::And(a, b) => {
                let (a, b) = (known(a), known(b));
                self.solver.clause(&[!this, a]);
                self.solver.clause(&[!this, b]);
                self.solver.clause(&[this, !a, !b]);
            }
            Gate::Xor(a, b) => {
                let (a, b) = (known(a), known(b));
                self.solver.clause(&[!this, a, b]);
                self.solver.clause(&[!this, !a, !b]);
                self.solver.clause(&[this, !a, b]);
                self.solver.clause(&[this, a, !b]);
            }
        }
    }

    fn literal(&mut self, gates: &[Gate], lit: Lit) -> Literal {
        Solver::literal(self.variable(gates, lit.node()), lit.inverted())
    }

    /// Whether all of these can hold, with at most so much effort and what is left of all.
    pub(super) fn solve(&mut self, gates: &[Gate], lits: &[Lit], effort: u64) -> Search {
        let left = self.budget.total.saturating_sub(self.solver.effort());
        if left == 0 {
            return Search::Unknown;
        }
        let literals: Vec<Literal> = lits.iter().map(|&lit| self.literal(gates, lit)).collect();
        match self.solver.solve(&literals, effort.min(left)) {
            SolverAnswer::Satisfiable => Search::Found(self.found()),
            SolverAnswer::Unsatisfiable => Search::Never,
            SolverAnswer::Unknown => Search::Unknown,
        }
    }

    /// Inputs that differ in a result, if some vector does.
    pub(super) fn difference(&self, a: Lit, b: Lit) -> Option<Vec<bool>> {
        for group in 0..GROUPS {
            let differ = (self.bit(a, group) ^ self.bit(b, group)) & self.valid[group];
            if differ != 0 {
                let at = differ.trailing_zeros();
                let bit = |&node: &u32| self.lanes[node as usize][group] >> at & 1 == 1;
                return Some(self.inputs.iter().map(bit).collect());
            }
        }
        for group in 0..self.more.len() {
            let differ = (self.bit_more(a, group) ^ self.bit_more(b, group)) & self.valid_more[group];
            if differ != 0 {
                let at = differ.trailing_zeros();
                let bit = |&node: &u32| self.more[group][node as usize] >> at & 1 == 1;
                return Some(self.inputs.iter().map(bit).collect());
            }
        }
        None
    }

    /// Adds 64 vectors: these inputs, and others that differ from them in a few bits.
    fn learn(&mut self, gates: &[Gate], found: &[bool]) {
        let mut words = Vec::with_capacity(gates.len());
        let mut inputs = found.iter();
        for gate in gates {
            let word = match *gate {
                Gate::Input => {
                    let word = if inputs.next() == Some(&true) { u64::MAX } else { 0 };
                    let flips = self.draw.next() & self.draw.next() & self.draw.next() & self.draw.next();
                    word ^ flips & !1
                }
                Gate::False | Gate::And(..) | Gate::Xor(..) => evaluate(*gate, |lit| pick(&words, lit)),
            };
            words.push(word);
        }
        self.valid_more.push(pick(&words, self.constraint));
        self.more.push(words);
    }

    /// The older literal that a new gate equals, if it can be proved.
    fn merged(&mut self, gates: &[Gate], node: u32) -> Option<Lit> {
        let key = self.key(node);
        let this = Lit::new(node, self.flipped(node));
        let mut next = self.classes.get(&key).map(|&(first, _)| first);
        for _ in 0..MOST_CANDIDATES {
            let Some(older) = next else { break };
            next = Some(self.following[older as usize]).filter(|&node| node != 0);
            let older = Lit::new(older, self.flipped(older));
            let equal = |sweep: &mut Self| {
                sweep.cut.equal(gates, this, older)
                    || parity::are_equal(gates, this, older)
                    || sweep.proved_equal(gates, this, older)
            };
            if self.agree(this, older) && equal(self) {
                return Some(older.inverted_if(this.inverted()));
            }
        }
        self.classify(key, node);
        None
    }

    /// Puts a gate at the end of its class.
    fn classify(&mut self, key: u64, node: u32) {
        let end = self.following.len().max(node as usize + 1);
        self.following.resize(end, 0);
        self.following[node as usize] = 0;
        let (_, last) = self.classes.entry(key).or_insert((node, node));
        let before = std::mem::replace(last, node);
        if before != node {
            self.following[before as usize] = node;
        }
    }

    fn proved_equal(&mut self, gates: &[Gate], a: Lit, b: Lit) -> bool {
        for (x, y) in [(a, !b), (!a, b)] {
            match self.solve(gates, &[x, y], self.budget.step) {
                Search::Never => {}
                Search::Unknown => return false,
                Search::Found(inputs) => {
                    self.learn(gates, &inputs);
                    return false;
                }
            }
        }
        true
    }
}

/// What a search ended with.
pub(super) enum Search {
    /// These inputs.
    Found(Vec<bool>),
    /// There are no such inputs.
    Never,
    /// The budget ended first.
    Unknown,
}

impl Watch for Sweep {
    fn made(&mut self, gates: &[Gate]) -> Lit {
        let lit = last(gates);
        let gate = gates[lit.node() as usize];
        self.lanes.truncate(gates.len() - 1);
        self.variables.truncate(gates.len() - 1);
        let lane = match gate {
            Gate::Input => {
                self.inputs.push(lit.node());
                self.coming.next().expect("there are vectors for all inputs")
            }
            Gate::False | Gate::And(..) | Gate::Xor(..) => {
                std::array::from_fn(|group| evaluate(gate, |lit| self.bit(lit, group)))
            }
        };
        self.lanes.push(lane);
        for at in 0..self.more.len() {
            self.more[at].truncate(gates.len() - 1);
            let word = evaluate(gate, |lit| self.bit_more(lit, at));
            self.more[at].push(word);
        }
        match gate {
            Gate::False | Gate::Input => {
                self.classify(self.key(lit.node()), lit.node());
                lit
            }
            Gate::And(..) | Gate::Xor(..) => self.merged(gates, lit.node()).unwrap_or(lit),
        }
    }
}

fn pick(words: &[u64], lit: Lit) -> u64 {
    words[lit.node() as usize] ^ if lit.inverted() { u64::MAX } else { 0 }
}

/// A gate on 64 vectors. Inputs are made before any vector is added, so they never come here.
pub(super) fn evaluate(gate: Gate, value: impl Fn(Lit) -> u64) -> u64 {
    match gate {
        Gate::False | Gate::Input => 0,
        Gate::And(a, b) => value(a) & value(b),
        Gate::Xor(a, b) => value(a) ^ value(b),
    }
}
