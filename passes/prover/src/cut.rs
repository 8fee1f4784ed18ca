//! Whether two literals are equal as functions of a few gates below both: a truth table instead of a search.
//!
//! From both literals one goes down, replacing the youngest gate by its operands, as long as few gates are left.
//! If both are the same function of those, whatever they are, they are equal. If not, nothing is known: the gates
//! that are left may depend on each other.

use super::aig::{Gate, Lit};

/// How many gates a table is over: 256 rows.
const MOST_LEAVES: usize = 8;
/// How many gates there may be during the descent; their operands often coincide, so there may be fewer at the end.
const MOST_OPEN: usize = 12;
/// How many gates are replaced at most.
const MOST_STEPS: usize = 64;

type Table = [u64; MOST_LEAVES / 2];

/// The tables of the leaves.
const LEAVES: [Table; MOST_LEAVES] = [
    [0xaaaa_aaaa_aaaa_aaaa; 4],
    [0xcccc_cccc_cccc_cccc; 4],
    [0xf0f0_f0f0_f0f0_f0f0; 4],
    [0xff00_ff00_ff00_ff00; 4],
    [0xffff_0000_ffff_0000; 4],
    [0xffff_ffff_0000_0000; 4],
    [0, u64::MAX, 0, u64::MAX],
    [0, 0, u64::MAX, u64::MAX],
];

/// Room for the search, kept from one to the next.
#[derive(Default)]
pub(super) struct CutSearch {
    /// The gates that are left, in descending order.
    open: Vec<u32>,
    /// The gates that were replaced, in descending order.
    replaced: Vec<u32>,
    /// The tables of gates, by their numbers; only those of this search count.
    tables: Vec<Table>,
}

impl CutSearch {
    /// Whether the two are known to be equal by a table.
    pub(super) fn equal(&mut self, gates: &[Gate], a: Lit, b: Lit) -> bool {
        let Some(leaves) = self.descend(gates, a, b) else { return false };
        self.tables.resize(self.tables.len().max(gates.len()), [0; 4]);
        for (&leaf, table) in leaves.iter().zip(LEAVES) {
            self.tables[leaf as usize] = table;
        }
        self.tables[0] = [0; 4];
        for at in (0..self.replaced.len()).rev() {
            let node = self.replaced[at];
            let table = match gates[node as usize] {
                Gate::And(x, y) => pair(self.table(x), self.table(y), |x, y| x & y),
                Gate::Xor(x, y) => pair(self.table(x), self.table(y), |x, y| x ^ y),
                Gate::Input | Gate::False => unreachable!("only gates with operands are replaced"),
            };
            self.tables[node as usize] = table;
        }
        self.table(a) == self.table(b)
    }

    fn table(&self, lit: Lit) -> Table {
        let flip = if lit.inverted() { u64::MAX } else { 0 };
        self.tables[lit.node() as usize].map(|word| word ^ flip)
    }

    /// Goes down as far as there are few enough gates; the last that were few enough to be the leaves.
    fn descend(&mut self, gates: &[Gate], a: Lit, b: Lit) -> Option<Vec<u32>> {
        self.open.clear();
        self.replaced.clear();
        for lit in [a, b] {
            insert(&mut self.open, lit.node());
        }
        let mut best = None;
        while self.replaced.len() < MOST_STEPS && self.open.len() <= MOST_OPEN {
            let gate = |node: &u32| matches!(gates[*node as usize], Gate::And(..) | Gate::Xor(..));
            let Some(at) = self.open.iter().position(gate) else { break };
            let node = self.open.remove(at);
            if let Gate::And(x, y) | Gate::Xor(x, y) = gates[node as usize] {
                insert(&mut self.open, x.node());
                insert(&mut self.open, y.node());
            }
            self.replaced.push(node);
            if self.open.len() <= MOST_LEAVES {
                best = Some((self.open.clone(), self.replaced.len()));
            }
        }
        let (leaves, steps) = best?;
        self.replaced.truncate(steps);
        Some(leaves)
    }
}

/// Puts a number into a descending list, once; constants need no place.
fn insert(open: &mut Vec<u32>, node: u32) {
    let at = open.partition_point(|&other| other > node);
    if node != 0 && open.get(at) != Some(&node) {
        open.insert(at, node);
    }
}

fn pair(x: Table, y: Table, op: impl Fn(u64, u64) -> u64) -> Table {
    std::array::from_fn(|word| op(x[word], y[word]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aig::{Aig, Unwatched};

    #[test]
    fn a_table_tells_equal_gates_and_no_others() {
        let mut graph = Aig::new(Unwatched);
        let [a, b, c] = [(); 3].map(|()| graph.input());
        let (not_a, not_b) = (graph.and(!a, c), graph.and(!b, c));
        let neither = graph.and(not_a, not_b);
        let either = graph.or(a, b);
        let same = graph.and(!either, c);
        let other = graph.and(either, c);
        let mut cut = CutSearch::default();
        assert!(cut.equal(graph.gates(), neither, same));
        assert!(!cut.equal(graph.gates(), neither, other));
        assert!(!cut.equal(graph.gates(), neither, !same));
        assert!(cut.equal(graph.gates(), !neither, !same));
    }
}
