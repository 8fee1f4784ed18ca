//! Backward: which bits of the inputs can change the bits of the result that are read.
//!
//! **What is promised.** Take any two runs whose inputs agree on their demanded bits, all at once; the other bits may
//! be anything, even what no fact about them allows. Then the results agree on the bits that are read. So bits can be
//! given up for all inputs together, and no operand excuses another.
//!
//! **Why it holds.** By induction over the cone each term has equal demanded bits in both runs: either the rule of
//! its operation makes them a function of demanded bits of the operands, or they are known *whatever the inputs are*.
//! Only that kind of knowledge is used here, which rests on constants of the code and on nothing that is assumed of
//! inputs.

use super::arithmetic::known_carries;
use super::cone::{Cone, Node};
use super::fact::Fact;
use ptxopt_grammar::meaning::term::{Op, Term, Terms, ones};

/// Calls `out` with the demanded bits of each input of `root`, by number, if `bits` of `root` are read.
///
/// That includes inputs of which no bit is demanded.
pub fn demanded(terms: &Terms, root: Term, bits: u128, out: &mut dyn FnMut(u32, u128)) {
    Cone::new(terms, &[root]).demanded(&[(root, bits)], out);
}

impl Cone {
    /// Calls `out` with the demanded bits of each input, by number, if these bits of these terms are read, all at
    /// once.
    ///
    /// That includes inputs of which no bit is demanded. For a number that is used with two widths it is called
    /// twice.
    ///
    /// # Panics
    ///
    /// If a term is not in the cone.
    pub fn demanded(&self, read: &[(Term, u128)], out: &mut dyn FnMut(u32, u128)) {
        let known = self.unconditional();
        let mut demand = vec![0; self.nodes.len()];
        for &(term, bits) in read {
            let place = self.place(term).expect("only terms of the cone are read");
            demand[place] |= bits & ones(self.nodes[place].width);
        }
        for (at, node) in self.nodes.iter().enumerate().rev() {
            // Bits that are the same whatever the inputs are depend on none.
            let bits = demand[at] & !known[at].known().0;
            if bits == 0 {
                continue;
            }
            for (place, bits) in node.operands.into_iter().zip(operands(node, bits, known)) {
                demand[place as usize] |= bits;
            }
        }
        for (node, &bits) in self.nodes.iter().zip(&demand) {
            if let Op::Input(number) = node.op {
                out(number, bits);
            }
        }
    }
}

/// The bits of the operands on which `bits` of a term, which are not none, depend.
fn operands(node: &Node, bits: u128, known: &[Fact]) -> [u128; 3] {
    let [a, b] = [0, 1].map(|number: usize| &known[node.operands[number] as usize]);
    let all = ones(node.width);
    let whole = [ones(a.width()), ones(b.width()), 0];
    match node.op {
        Op::Input(_) | Op::Constant(_) => [0; 3],
        Op::Not(_) => [bits, 0, 0],
        // Where one operand's bit decides, whatever the inputs are, the other's does not matter; were it the one
        // that decides as well, the result would be known.
        Op::And(..) => [bits & !b.zeros(), bits & !a.zeros(), 0],
        Op::Or(..) => [bits & !b.ones(), bits & !a.ones(), 0],
        Op::Xor(..) => [bits, bits, 0],
        Op::Add(..) => {
            let bits = carried(bits, known_carries(a, b), node.width);
            [bits, bits, 0]
        }
        Op::Mul(..) => {
            // The low zeros of the one lift the other.
            let bits = down(bits);
            [bits >> low_zeros(b).min(127), bits >> low_zeros(a).min(127), 0]
        }
        Op::UnsignedDivide(..) | Op::UnsignedRemainder(..) => whole,
        Op::Shl(..) => [down(bits), all, 0],
        Op::Lshr(..) | Op::Ashr(..) => [up(bits) & all, all, 0],
        Op::Extract(_, low) => [bits << low, 0, 0],
        Op::Concat(..) => [bits >> b.width(), bits & ones(b.width()), 0],
        Op::ZeroExtend(_) => [bits & ones(a.width()), 0, 0],
        Op::SignExtend(_) => {
            let above = bits >> (a.width() - 1) != 0;
            [bits & ones(a.width()) | u128::from(above) << (a.width() - 1), 0, 0]
        }
        Op::Equal(..) => whole,
        Op::UnsignedLess(..) | Op::SignedLess(..) => {
            let bits = compared(a, b);
            [bits, bits, 0]
        }
        Op::Choose(..) => [1, bits, bits],
    }
}

/// These bits and all below the highest.
fn down(bits: u128) -> u128 {
    bits.checked_ilog2().map_or(0, |highest| ones(highest + 1))
}

/// These bits and all above the lowest.
fn up(bits: u128) -> u128 {
    u128::MAX.checked_shl(bits.trailing_zeros()).unwrap_or(0)
}

fn low_zeros(fact: &Fact) -> u32 {
    fact.zeros().trailing_ones()
}

/// These bits of a sum, and those below from which a carry may reach them: a carry that is known comes from nowhere.
fn carried(mut bits: u128, known: u128, width: u32) -> u128 {
    let mut open = !(known >> 1);
    let mut step = 1;
    // After each round `open` says whether the carry passes `step` places, and `bits` has come that far.
    while step < width {
        bits |= bits >> step & open;
        open &= open >> step;
        step *= 2;
    }
    bits
}

/// The bits on which a comparison with a constant depends: all numbers that differ only in the low zeros of `c` are
/// less than `c`, or none; and `c` is less than a number if that is at least `c + 1`.
fn compared(a: &Fact, b: &Fact) -> u128 {
    let ignored = match (a.constant(), b.constant()) {
        (_, Some(bound)) => bound.trailing_zeros(),
        (Some(bound), None) => bound.trailing_ones(),
        (None, None) => 0,
    };
    // The sign matters in any case: it alone distinguishes negative numbers.
    ones(a.width()) & u128::MAX << ignored.min(a.width() - 1)
}
