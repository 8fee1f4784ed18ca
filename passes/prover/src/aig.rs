//! A graph of two-input gates: conjunctions and exclusive ors, inversion being a bit of the edge.
//!
//! Equal gates are one gate: operands are ordered, constants and small patterns are simplified away, and chains of
//! exclusive or are flattened, sorted and cancelled, so many spellings of a function give the same literal. Every
//! simplification here is an identity of Boolean algebra, so a literal always stands for the function that was
//! asked for. A [`Watch`] may answer a new gate with an older literal that it has proved equal.

use super::numbers::Number;
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use std::hash::{Hash, Hasher};

/// A node of the graph or its complement.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Lit(u32);

impl Lit {
    pub(super) const FALSE: Self = Self(0);
    pub(super) const TRUE: Self = Self(1);

    pub(super) const fn new(node: u32, inverted: bool) -> Self {
        Self(node << 1 | inverted as u32)
    }

    pub(super) const fn constant(value: bool) -> Self {
        Self(value as u32)
    }

    pub(super) const fn node(self) -> u32 {
        self.0 >> 1
    }

    pub(super) const fn inverted(self) -> bool {
        self.0 & 1 == 1
    }

    pub(super) const fn is_constant(self) -> bool {
        self.0 < 2
    }

    /// The literal, inverted if `by` is.
    pub(super) const fn inverted_if(self, by: bool) -> Self {
        Self(self.0 ^ by as u32)
    }
}

impl std::ops::Not for Lit {
    type Output = Self;

    fn not(self) -> Self {
        Self(self.0 ^ 1)
    }
}

/// What a node computes. Operands have smaller numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Gate {
    /// Node 0.
    False,
    /// A bit of an input.
    Input,
    And(Lit, Lit),
    /// Its operands are never inverted.
    Xor(Lit, Lit),
}

impl Hash for Gate {
    /// As one word, which is most of the speed of looking a gate up.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let pair = |a: Lit, b: Lit| u64::from(a.0) << 32 | u64::from(b.0);
        state.write_u64(match *self {
            Self::False => 0,
            Self::Input => 1,
            Self::And(a, b) => pair(a, b),
            // Operands are ordered, so the other order is free for the other kind.
            Self::Xor(a, b) => pair(b, a),
        });
    }
}

/// Sees every new gate.
pub(super) trait Watch {
    /// The last of `gates` is new. Answers with it, or with an older literal that it is proved to equal.
    fn made(&mut self, gates: &[Gate]) -> Lit;

    /// The newest inputs stand for a sum from here on.
    fn name(&mut self, _number: Number) {}

    /// The numbers that were named.
    fn numbers(&self) -> &[Number] {
        &[]
    }
}

/// Takes every gate as it is.
pub(super) struct Unwatched;

impl Watch for Unwatched {
    fn made(&mut self, gates: &[Gate]) -> Lit {
        last(gates)
    }
}

/// The literal of the newest gate.
pub(super) fn last(gates: &[Gate]) -> Lit {
    Lit::new(u32::try_from(gates.len() - 1).expect("memory ends before the numbers of gates"), false)
}

/// How many operands a flattened exclusive or has at most.
const MOST_LEAVES: usize = 8;

pub(super) struct Aig<W> {
    gates: Vec<Gate>,
    known: HashMap<Gate, Lit>,
    pub(super) watch: W,
}

impl<W: Watch> Aig<W> {
    pub(super) fn new(watch: W) -> Self {
        /// Gates of a proof of four lanes: growing the table that far in steps would cost as much as filling it.
        const USUAL: usize = 512;
        let mut graph = Self { gates: vec![Gate::False], known: HashMap::with_capacity(USUAL), watch };
        graph.watch.made(&graph.gates);
        graph
    }

    pub(super) fn gates(&self) -> &[Gate] {
        &self.gates
    }

    /// By gate, whether some of `roots` are made of it, or are it.
    pub(super) fn reached(&self, roots: impl IntoIterator<Item = u32>) -> Vec<bool> {
        let mut reached = vec![false; self.gates.len()];
        roots.into_iter().for_each(|root| reached[root as usize] = true);
        // A gate comes after those that it is made of.
        for at in (0..self.gates.len()).rev() {
            if let (true, Gate::And(a, b) | Gate::Xor(a, b)) = (reached[at], self.gates[at]) {
                reached[a.node() as usize] = true;
                reached[b.node() as usize] = true;
            }
        }
        reached
    }

    /// A new input.
    pub(super) fn input(&mut self) -> Lit {
        self.gates.push(Gate::Input);
        self.watch.made(&self.gates)
    }

    /// Inputs in the place of the bits of a sum, which is never above `most`; the same ones for the same sum.
    pub(super) fn named(&mut self, sum: Vec<Lit>, most: u16) -> Vec<Lit> {
        let most = u64::from(most);
        let numbers = self.watch.numbers();
        if sum.is_empty() || numbers.iter().any(|number| number.bits == sum) {
            return sum;
        }
        if let Some(number) = numbers.iter().find(|number| number.most == most && number.of == sum) {
            return number.bits.clone();
        }
        let bits: Vec<Lit> = sum.iter().map(|_| self.input()).collect();
        self.watch.name(Number { of: sum, bits: bits.clone(), most });
        bits
    }

    fn gate(&self, lit: Lit) -> Gate {
        self.gates[lit.node() as usize]
    }

    fn make(&mut self, gate: Gate) -> Lit {
        match self.known.entry(gate) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(unknown) => {
                self.gates.push(gate);
                let lit = self.watch.made(&self.gates);
                if lit != last(&self.gates) {
                    self.gates.pop();
                }
                *unknown.insert(lit)
            }
        }
    }

    pub(super) fn and(&mut self, a: Lit, b: Lit) -> Lit {
        let (mut a, mut b) = (a, b);
        // Each turn of the loop replaces an operand by one of its own operands, which is older.
        loop {
            if a > b {
                (a, b) = (b, a);
            }
            if a == Lit::FALSE || a == !b {
                return Lit::FALSE;
            }
            if a == Lit::TRUE || a == b {
                return b;
            }
            match self.smaller(a, b).or_else(|| self.smaller(b, a)) {
                Some(Smaller::Is(lit)) => return lit,
                Some(Smaller::And(x, y)) => (a, b) = (x, y),
                None => return self.make_and(a, b),
            }
        }
    }

    fn make_and(&mut self, a: Lit, b: Lit) -> Lit {
        if let (Gate::And(p, q), Gate::And(r, s)) = (self.gate(a), self.gate(b)) {
            let pairs = [(p, r), (p, s), (q, r), (q, s)];
            let clash = pairs.iter().any(|&(x, y)| x == !y);
            match (a.inverted(), b.inverted()) {
                // Neither `x & y` nor `x & !y` is not `x`.
                (true, true) if clash => {
                    if let Some(&(x, _)) = pairs.iter().find(|(x, y)| x == y) {
                        return !x;
                    }
                    // Not both and not neither, as a table of `lop3` has it row by row.
                    if p == !r && q == !s || p == !s && q == !r {
                        return self.xor(p, q);
                    }
                }
                (false, false) if clash => return Lit::FALSE,
                (false, true) if clash => return a,
                (true, false) if clash => return b,
                (_, _) => {}
            }
        }
        self.make(Gate::And(a, b))
    }

    /// What `a & b` is, if that follows from the operands of `b`.
    fn smaller(&self, a: Lit, b: Lit) -> Option<Smaller> {
        match (self.gate(b), b.inverted()) {
            (Gate::And(p, q), false) if a == p || a == q => Some(Smaller::Is(b)),
            (Gate::And(p, q), false) if a == !p || a == !q => Some(Smaller::Is(Lit::FALSE)),
            (Gate::And(p, q), true) if a == !p || a == !q => Some(Smaller::Is(a)),
            (Gate::And(p, q), true) if a == p => Some(Smaller::And(a, !q)),
            (Gate::And(p, q), true) if a == q => Some(Smaller::And(a, !p)),
            (Gate::Xor(p, q), inverted) => {
                let (this, other) = match a {
                    _ if a.node() == p.node() => (p, q),
                    _ if a.node() == q.node() => (q, p),
                    _ => return None,
                };
                Some(Smaller::And(a, other.inverted_if((a == this) != inverted)))
            }
            (Gate::And(..) | Gate::False | Gate::Input, _) => None,
        }
    }

    pub(super) fn or(&mut self, a: Lit, b: Lit) -> Lit {
        !self.and(!a, !b)
    }

    pub(super) fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        let inverted = a.inverted() != b.inverted();
        let (a, b) = (Lit::new(a.node(), false), Lit::new(b.node(), false));
        if a == b {
            return Lit::constant(inverted);
        }
        let mut leaves = [Lit::FALSE; 2 * MOST_LEAVES];
        let some = self.leaves(a, &mut leaves);
        let all = some + self.leaves(b, &mut leaves[some..]);
        leaves[..all].sort_unstable();
        // What is there twice cancels itself; what stays moves to the front.
        let mut count = 0;
        for at in 0..all {
            let leaf = leaves[at];
            if count > 0 && leaves[count - 1] == leaf {
                count -= 1;
            } else if leaf != Lit::FALSE {
                leaves[count] = leaf;
                count += 1;
            }
        }
        if count > MOST_LEAVES {
            let (a, b) = if a < b { (a, b) } else { (b, a) };
            return if a == Lit::FALSE { b } else { self.make(Gate::Xor(a, b)) }.inverted_if(inverted);
        }
        let mut odd = leaves.into_iter().take(count);
        let Some(mut sum) = odd.next() else { return Lit::constant(inverted) };
        let mut inverted = inverted;
        for leaf in odd {
            sum = self.xor_of_two(sum, leaf);
            inverted ^= sum.inverted();
            sum = Lit::new(sum.node(), false);
        }
        sum.inverted_if(inverted)
    }

    /// An exclusive or of two literals without inversion that does not look inside them.
    fn xor_of_two(&mut self, a: Lit, b: Lit) -> Lit {
        match if a < b { (a, b) } else { (b, a) } {
            (Lit::FALSE, b) => b,
            (a, b) if a == b => Lit::FALSE,
            (a, b) => self.make(Gate::Xor(a, b)),
        }
    }

    /// Finds the operands of the chain of exclusive ors that ends here; how many there are.
    fn leaves(&self, lit: Lit, leaves: &mut [Lit]) -> usize {
        let mut count = 0;
        let mut open = [lit; MOST_LEAVES];
        let mut waiting = 1;
        while waiting > 0 {
            waiting -= 1;
            let lit = open[waiting];
            match self.gate(lit) {
                Gate::Xor(p, q) if count + waiting + 2 <= MOST_LEAVES => {
                    (open[waiting], open[waiting + 1]) = (p, q);
                    waiting += 2;
                }
                Gate::Xor(..) | Gate::And(..) | Gate::Input | Gate::False => {
                    leaves[count] = lit;
                    count += 1;
                }
            }
        }
        count
    }

    /// `then` where `condition`, else `otherwise`.
    pub(super) fn choose(&mut self, condition: Lit, then: Lit, otherwise: Lit) -> Lit {
        if then == otherwise {
            return then;
        }
        if then == !otherwise {
            return self.xor(condition, otherwise);
        }
        // The condition is put upright, so that a choice and the one with the branches exchanged meet.
        let (condition, then, otherwise) =
            if condition.inverted() { (!condition, otherwise, then) } else { (condition, then, otherwise) };
        let a = self.and(condition, then);
        let b = self.and(!condition, otherwise);
        self.or(a, b)
    }

    /// Whether at least two of three hold: the carry of an addition.
    pub(super) fn majority(&mut self, a: Lit, b: Lit, c: Lit) -> Lit {
        let mut operands = [a, b, c];
        operands.sort_unstable();
        let [a, b, c] = operands;
        match () {
            () if a == b => return a,
            () if b == c => return b,
            () if a == !b => return c,
            () if b == !c => return a,
            () if a == Lit::FALSE => return self.and(b, c),
            () if a == Lit::TRUE => return self.or(b, c),
            () => {}
        }
        // Majority is its own dual: inverted operands invert the result.
        let inverted = [a, b, c].iter().filter(|lit| lit.inverted()).count() > 1;
        let [a, b, c] = [a, b, c].map(|lit| lit.inverted_if(inverted));
        let both = self.and(a, b);
        let either = self.or(a, b);
        let with = self.and(c, either);
        self.or(both, with).inverted_if(inverted)
    }
}

/// What is left of a conjunction.
enum Smaller {
    Is(Lit),
    And(Lit, Lit),
}

impl Aig<super::sweep::Sweep> {
    /// From here on only inputs count for which this holds.
    pub(super) fn assume(&mut self, constraint: Lit) {
        self.watch.assume(&self.gates, constraint);
    }

    /// Whether all of these can hold.
    pub(super) fn search(&mut self, lits: &[Lit], conflicts: u64) -> super::sweep::Search {
        self.watch.solve(&self.gates, lits, conflicts)
    }
}
